/* worker_figures.h - where the workers of a host are now, as figures
 * SPDX-License-Identifier: MIT
 *
 * Reads masks, interrupts and memory of each worker, as verify does; changes nothing.
 */
#ifndef CPUBIND_SERVICE_WORKER_FIGURES_H
#define CPUBIND_SERVICE_WORKER_FIGURES_H

#include "../host/host_bind.h"
#include "metrics.h"

/* What was found of one worker. Valid until the visit returns. */
typedef void cpubind_figures_visit(void *ctx, const cpubind_worker *row);

/* Compares each process of a host with its record. The rows are those of the host, with the
 * state RIGHT, DRIFTED or UNBOUND and the report of now; a process that cannot be read keeps
 * its row.
 *   in      has_memory: where memory is, too, which takes longer than all the rest
 *   cost    two system calls a thread */
void cpubind_figures_each(const cpubind_host_bind *host, int has_memory,
                          cpubind_figures_visit *visit, void *ctx);

/* Compares each process on record that lives and is no row of the host with its record.
 *   in      as above, with memory */
void cpubind_figures_recorded(const cpubind_host_bind *host, const cpubind_sys *sys,
                              cpubind_figures_visit *visit, void *ctx);

/* Fills the figures of the devices. Those of memory are
 * kept from an earlier call unless has_memory.
 *   in      counts->device: of an earlier call, or NULL; freed by the caller
 *   errors  ENOMEM, "memory": the figures are as they were */
cpubind_linux_fault cpubind_figures_count(const cpubind_host_bind *host, const cpubind_sys *sys,
                                          int has_memory, cpubind_service_counts *counts);

/* Waits until a descriptor can be read or the time is over. */
void cpubind_figures_pause(const cpubind_sys *sys, int fd, int32_t ms);

#endif /* CPUBIND_SERVICE_WORKER_FIGURES_H */
