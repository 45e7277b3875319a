/* metrics.h - the figures of the service, in the text format of Prometheus
 * SPDX-License-Identifier: MIT
 *
 * Rules: the exposition format 0.0.4, and the textfile collector of the node exporter, which
 * reads files that end in .prom and must find them whole.
 */
#ifndef CPUBIND_SERVICE_METRICS_H
#define CPUBIND_SERVICE_METRICS_H

#include "../linux/kernel/bytes.h"
#include "../text/pci_address.h"

/* Room for labels of a pod, with a NUL. */
#define CPUBIND_POD_LABELS_SIZE 512

/* The figures of one device, by the workers of one container of a pod, or by all that are in
 * none. A number below 0 is not known and left out. */
typedef struct cpubind_service_device {
    int32_t number;                    /* its logic id; -1: it has none */
    char pci[CPUBIND_PCI_ADDRESS_MAX]; /* its address; "": of workers of several devices */
    /* pod="vllm-0",namespace="prod",container="worker",pod_uid="...",qos="burstable": the first
     * three where they are known. "": of workers that are in no pod */
    char pod[CPUBIND_POD_LABELS_SIZE];
    int32_t processes;                 /* workers that use it */
    int64_t right, elsewhere, unbound; /* threads: where the plan has them; not; not bound */
    int64_t near_bytes, far_bytes;     /* memory of the workers: on its node, on others */
    int64_t irqs_right, irqs_elsewhere;
} cpubind_service_device;

typedef struct cpubind_service_counts {
    cpubind_service_device
        *device; /* by logic id, then those without one by address, then pod */
    int32_t n_device;
    int64_t moves, errors; /* threads and interrupts moved, faults met, since the start */
    int64_t reloads;       /* of the settings, since the start */
    int64_t last_look;     /* seconds since 1970; 0: there was none */
    int32_t workers;       /* processes that use a device */
    int is_all_left;       /* all were let go: workers to come are left alone, too */
    int64_t measured_at;   /* the last measurement of the host, since 1970; 0: there is none */
    const char *measured;  /* the word of its verdict; static text */
    int has_numbered, has_others; /* which the host has: with a logic id, and without */
} cpubind_service_counts;

/* Appends all figures as text.
 *   errors  ENOMEM, "memory" */
cpubind_linux_fault cpubind_metrics_format(const cpubind_service_counts *counts,
                                           const cpubind_sys *sys, cpubind_bytes *out);

/* Writes the figures to a file, which appears whole under its name. On failure a file of this
 * name stays as it was.
 *   in      an absolute path
 *   errors  "folder"; those of cpubind_replace; ENOMEM, "memory" */
cpubind_linux_fault cpubind_metrics_write(const cpubind_service_counts *counts,
                                          const cpubind_sys *sys, const char *path);

#endif /* CPUBIND_SERVICE_METRICS_H */
