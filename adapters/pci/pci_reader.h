/* pci_reader.h - private to this folder: the state of one reading of the PCI bus
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc.
 */
#ifndef CPUBIND_PCI_READER_H
#define CPUBIND_PCI_READER_H

#include "../model/facts_reader.h"
#include "visible_devices.h"

typedef struct pci_reading {
    const cpubind_pci_request *request;
    int32_t n_node[CPUBIND_VENDOR_COUNT]; /* device files that this process may open */
} pci_reading;

/* pci_sight.c: what this process sees of each device. */
cpubind_problem_code cpubind_priv_pci_read_sight(facts_reader *r);

/* == For the function `see` of a vendor: pci_sight.c ======================== */

/* The devices of one runtime: which functions they are, and the lists for its rule. */
typedef struct sight_group {
    cpubind_runtime_devices devices;
    int32_t *index; /* in facts->bus */
    int32_t *n_tile;
    const char **uuid;
    int32_t *uuid_len;
    cpubind_seen seen;
    const char *why; /* which of the host's devices the runtime numbers is not known; or NULL */
} sight_group;

/* Lists the devices of a vendor. */
cpubind_problem_code cpubind_priv_sight_open(facts_reader *r, cpubind_vendor_id id,
                                             cpubind_input env, sight_group *g);
/* Whether a variable has this value. */
int cpubind_priv_sight_is(cpubind_input env, const char *name, const char *wanted);
/* Takes a variable as one that hides devices: place 0 or 1 of the view. */
void cpubind_priv_sight_set(cpubind_runtime_view *view, int32_t slot, cpubind_input env,
                            const char *name);
/* Applies the rule of a variable that is set; all devices are seen when it is not. *view says
 * why nothing is known when the text does not tell. Returns 0 then. */
int cpubind_priv_sight_apply(cpubind_runtime_view *view, int32_t slot,
                             cpubind_visible_rule *rule, sight_group *g);
/* Writes what was found to the facts. */
void cpubind_priv_sight_write(cpubind_facts *f, cpubind_vendor_id id, const sight_group *g,
                              int32_t has_order);

#endif /* CPUBIND_PCI_READER_H */
