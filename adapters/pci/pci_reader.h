/* pci_reader.h - private to this folder: the state of one reading of the PCI bus
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc.
 */
#ifndef CPUBIND_PCI_READER_H
#define CPUBIND_PCI_READER_H

#include "../model/facts_reader.h"

#define INPUT_NVIDIA "proc/driver/nvidia/gpus"

typedef struct pci_reading {
    const cpubind_pci_request *request;
    cpubind_input driven; /* the listing of the NVIDIA driver; ABSENT: no such driver */
    int32_t has_classes;  /* some function has the file `class` */
    int32_t n_node[CPUBIND_FAMILY_COUNT]; /* device files that this process may open */
} pci_reading;

/* pci_near.c: the bridges above a function, its node, and the CPUs near it. */
cpubind_problem_code cpubind_priv_pci_read_near(facts_reader *r,
                                                cpubind_pci_function *function);
/* pci_sight.c: what this process sees of each device. */
cpubind_problem_code cpubind_priv_pci_read_sight(facts_reader *r);

#endif /* CPUBIND_PCI_READER_H */
