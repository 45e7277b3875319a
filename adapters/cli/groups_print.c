/* groups_print.c - a fleet as text and as JSON
 * SPDX-License-Identifier: MIT
 *
 * FLEET.md documents the keys of the JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "../doctor/doctor.h"
#include "groups.h"
#include "output.h"

enum { MAX_SHOWN = 40 };

static const char *property(const cli_fleet_group *group, int32_t which)
{
    return group->host->property[which];
}

/* Appends the devices of a group: "8 a2"; "-" where none is known. */
static void add_devices(const cli_fleet_group *group, api_text *to)
{
    const int32_t n = cli_shape_items(property(group, CLI_SHAPE_devices));
    if (n == 0)
        api_add(to, "-");
    else
        api_add(to, "%d %s", (int)n, property(group, CLI_SHAPE_products));
}

/* Appends a figure of the plan; "-" where it is not known. */
static void add_figure(const cli_fleet_group *group, const char *key, const char *unit,
                       api_text *to)
{
    int32_t len = 0;
    const char *value = cli_shape_item(property(group, CLI_SHAPE_quality), key, &len);
    if (!value || *value == '-')
        api_add(to, "-");
    else
        api_add(to, "%.*s%s", (int)len, value, unit);
}

static const char *or_dash(const char *text)
{
    return *text ? text : "-";
}

static int32_t shown(const cli_fleet *fleet)
{
    return fleet->n_group < MAX_SHOWN ? fleet->n_group : MAX_SHOWN;
}

/* == Text =================================================================== */

static void put_groups(api_out *out, const cli_fleet *fleet)
{
    static const char *const heads[] = {"group",  "hosts", "devices", "CPUs",  "nodes", "SMT",
                                        "kernel", "near",  "far",     "split", "idle",  "plan"};
    static const struct {
        const char *key, *unit;
    } figures[] = {{"near_percent", " %"}, {"far", ""}, {"split_cores", ""}, {"idle", ""}};
    api_table table = {.n_column = sizeof heads / sizeof *heads};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        api_cell(&table, "%s", heads[i]);
    for (int32_t i = 0; i < shown(fleet); i++) {
        const cli_fleet_group *g = &fleet->group[i];
        const char *kernel = property(g, CLI_SHAPE_kernel);
        api_text devices = {"", 0};
        add_devices(g, &devices);
        api_cell_number(&table, i + 1);
        api_cell_number(&table, g->n);
        api_cell(&table, "%.24s", devices.text);
        api_cell(&table, "%s", or_dash(property(g, CLI_SHAPE_cpus)));
        api_cell_number(&table, cli_shape_items(property(g, CLI_SHAPE_nodes)));
        api_cell(&table, "%s", or_dash(property(g, CLI_SHAPE_smt)));
        api_cell(&table, "%.*s", *kernel ? (int)strcspn(kernel, " ") : 1, or_dash(kernel));
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
            api_text figure = {"", 0};
            add_figure(g, figures[k].key, figures[k].unit, &figure);
            api_cell(&table, "%s", figure.text);
        }
        const char *error = property(g, CLI_SHAPE_error);
        api_cell(&table, "%.*s", *error ? (int)strcspn(error, ":") : (int)strlen("reference"),
                 *error ? error : or_dash(property(g, CLI_SHAPE_rules)));
    }
    api_put_table(out, &table);
    if (shown(fleet) < fleet->n_group)
        api_put(out, "and %d more groups, which --json has\n",
                (int)(fleet->n_group - shown(fleet)));
}

/* The hosts of each group, with the properties in which they differ from those of another. */
static void put_hosts(api_out *out, const cli_fleet *fleet)
{
    api_table table = {.n_column = 4};
    api_cell(&table, "group");
    api_cell(&table, "like");
    api_cell(&table, "but for");
    api_cell(&table, "hosts");
    for (int32_t i = 0; i < shown(fleet); i++) {
        const cli_fleet_group *g = &fleet->group[i];
        api_text differs = {"", 0}, names = {"", 0};
        for (int32_t k = 0; g->base >= 0 && k < CLI_SHAPES; k++)
            if (g->differs >> k & 1)
                api_add(&differs, "%s%s", differs.len ? ", " : "", cli_shape_name(k));
        (void)cli_fleet_names(g, -1, &names);
        api_cell_number(&table, i + 1);
        if (g->base < 0)
            api_cell(&table, "-");
        else
            api_cell_number(&table, g->base + 1);
        api_cell(&table, "%s", or_dash(differs.text));
        api_cell(&table, "%s", names.text);
    }
    api_put_text(out, "\n");
    api_put_table(out, &table);
}

/* What doctor finds, by its checks and the groups that have it. */
static void put_findings(api_out *out, const cli_fleet *fleet)
{
    api_table table = {.n_column = 4};
    int n = 0;
    api_cell(&table, "finding");
    api_cell(&table, "severity");
    api_cell(&table, "group");
    api_cell(&table, "hosts");
    for (int32_t i = 0; i < cpubind_doctor_checks() && i < CLI_MAX_CHECKS; i++)
        for (int32_t k = 0; k < shown(fleet); k++) {
            const cpubind_doctor_check *row = cpubind_doctor_check_at(i);
            api_text names = {"", 0};
            if (cli_fleet_names(&fleet->group[k], i, &names) == 0)
                continue;
            api_cell(&table, "%s", row->word);
            api_cell(&table, "%s", cpubind_severity_word(row->severity));
            api_cell_number(&table, k + 1);
            api_cell(&table, "%s", names.text);
            n++;
        }
    if (n == 0)
        return;
    api_put_text(out, "\n");
    api_put_table(out, &table);
}

int cli_print_fleet(const cli_fleet *fleet)
{
    api_out out = {0};
    api_put(&out, "%d %s in %d %s\n", (int)fleet->n_host, fleet->n_host == 1 ? "host" : "hosts",
            (int)fleet->n_group, fleet->n_group == 1 ? "group" : "groups");
    if (fleet->n_group > 0) {
        put_groups(&out, fleet);
        put_hosts(&out, fleet);
        put_findings(&out, fleet);
    }
    return cli_print_out(stdout, &out);
}

/* == JSON =================================================================== */

/* The names of the hosts of a group on which a check was found, or with -1 all. */
static words_value *names_json(const cli_fleet_group *group, int32_t check)
{
    words_value *names = words_array();
    for (int32_t i = 0; i < group->n; i++)
        if (check < 0 || (group->host[i].found >> check & 1) != 0)
            words_add(names, words_text(group->host[i].name));
    return names;
}

/* {"autonuma": ["node3"]}: the checks that have found something. */
static words_value *found_json(const cli_fleet_group *group)
{
    words_value *checks = words_object();
    for (int32_t i = 0; i < cpubind_doctor_checks() && i < CLI_MAX_CHECKS; i++) {
        words_value *names = names_json(group, i);
        if (words_count(names) > 0)
            words_set(checks, cpubind_doctor_check_at(i)->word, names);
        else
            words_free(names);
    }
    return checks;
}

/* {"seccomp": 12}: the checks that could not be made, and on how many hosts. */
static words_value *unknown_json(const cli_fleet_group *group)
{
    words_value *checks = words_object();
    for (int32_t i = 0; i < cpubind_doctor_checks() && i < CLI_MAX_CHECKS; i++) {
        int n = 0;
        for (int32_t k = 0; k < group->n; k++)
            n += (group->host[k].unknown >> i & 1) != 0;
        if (n > 0)
            words_set(checks, cpubind_doctor_check_at(i)->word, words_number(n));
    }
    return checks;
}

static words_value *properties_json(const cli_fleet_group *group)
{
    words_value *object = words_object();
    for (int32_t i = 0; i < CLI_SHAPES; i++)
        words_set(object, cli_shape_name(i), cli_shape_json(i, property(group, i)));
    return object;
}

static words_value *differs_json(const cli_fleet_group *group)
{
    words_value *names = words_array();
    for (int32_t i = 0; group->base >= 0 && i < CLI_SHAPES; i++)
        if (group->differs >> i & 1)
            words_add(names, words_text(cli_shape_name(i)));
    return names;
}

static words_value *group_json(const cli_fleet *fleet, int32_t i)
{
    const cli_fleet_group *g = &fleet->group[i];
    return words_make(
        "group:i count:i of:i base:v differs:v properties:v why:w found:v unknown:v hosts:v",
        (int)i + 1, (int)g->n, (int)g->n_alike,
        g->base < 0 ? words_null() : words_number(g->base + 1), differs_json(g),
        properties_json(g), g->host->why, found_json(g), unknown_json(g), names_json(g, -1));
}

int cli_print_fleet_json(const cli_fleet *fleet)
{
    words_value *groups = words_array(), *old = words_array();
    for (int32_t i = 0; i < fleet->n_group; i++)
        words_add(groups, group_json(fleet, i));
    for (int32_t i = 0; i < fleet->n_group; i++)
        for (int32_t k = 0; k < fleet->group[i].n; k++)
            if (fleet->group[i].host[k].is_old)
                words_add(old, words_text(fleet->group[i].host[k].name));
    return cli_print_json(stdout, words_make("cpubind:s hosts:i groups:v old:v",
                                             CPUBIND_VERSION, (int)fleet->n_host, groups, old));
}
