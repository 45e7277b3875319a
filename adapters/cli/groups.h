/* groups.h - the hosts of a fleet by their shapes, and how each group differs from another
 * SPDX-License-Identifier: MIT
 *
 * Hosts of equal properties are one group. Groups are ordered by size, equal ones by the name
 * of their first host. Nothing here depends on the order in which hosts are added.
 */
#ifndef CPUBIND_CLI_GROUPS_H
#define CPUBIND_CLI_GROUPS_H

#include "shape.h"

/* Most checks of doctor. */
enum { CLI_MAX_CHECKS = 64 };

typedef struct cli_fleet_host {
    const char *name;
    const char *property[CLI_SHAPES]; /* as JSON; equal texts are one pointer */
    uint64_t found, unknown;          /* checks of doctor, by their place in its table */
    const char *why;                  /* there is no plan; or "" */
    int is_old; /* its shape was read by another version than this, and cannot be read again */
} cli_fleet_host;

typedef struct cli_fleet_group {
    const cli_fleet_host *host; /* `n` of them, by name */
    int32_t n;
    int32_t base;     /* the group that it is compared with; -1: the biggest of its products */
    int32_t n_alike;  /* hosts of its products */
    uint32_t differs; /* properties that differ from the base */
} cli_fleet_group;

/* All zero is empty. */
typedef struct cli_fleet {
    cli_fleet_host *host;
    int32_t n_host, cap_host;
    cli_fleet_group *group;
    int32_t n_group;
    char **text; /* a table of all texts, by hash */
    size_t n_text, cap_text;
} cli_fleet;

/* Adds a host with its shape, as the table shapes has it; what is not of that form is not
 * known. Returns 0 without memory. */
int cli_fleet_add(cli_fleet *fleet, const char *name, const words_value *shape, int is_old);

/* Makes the groups, once all hosts are there. Returns 0 without memory.
 *   cost    O(hosts x log hosts + groups^2) */
int cli_fleet_group_all(cli_fleet *fleet);

void cli_free_fleet(cli_fleet *fleet);

/* Appends names of hosts of a group that a check was found on, or of all with a check of -1:
 * "node3, node7 and 10 more"; returns their number. */
int32_t cli_fleet_names(const cli_fleet_group *group, int32_t check, api_text *to);

/* Prints the fleet as text, or as JSON; 0 without memory. */
int cli_print_fleet(const cli_fleet *fleet);
int cli_print_fleet_json(const cli_fleet *fleet);

#endif /* CPUBIND_CLI_GROUPS_H */
