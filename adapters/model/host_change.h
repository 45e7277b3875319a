/* host_change.h - one change of a setting of a host, a mask or irqbalance
 * SPDX-License-Identifier: MIT
 *
 * Declarations only. adapters/doctor says which changes are safe, adapters/linux/bind/mend.h
 * makes them and puts them back.
 */
#ifndef CPUBIND_MODEL_HOST_CHANGE_H
#define CPUBIND_MODEL_HOST_CHANGE_H

#include "driver_names.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cpubind_change_kind {
    CPUBIND_CHANGE_FILE,   /* `file` shall hold `value` */
    CPUBIND_CHANGE_THREAD, /* thread `tid` of process `pid` shall have the CPUs `value` */
    CPUBIND_CHANGE_BAN     /* irqbalance shall leave interrupt `irq` alone */
} cpubind_change_kind;

/* Texts end in NUL. What a kind does not need is NULL or 0. */
typedef struct cpubind_change {
    cpubind_change_kind kind;
    const char *file;  /* below "/": proc/sys/kernel/numa_balancing,
                          sys/devices/system/cpu/cpu<N>/cpufreq/scaling_governor or
                          proc/irq/<N>/smp_affinity_list */
    const char *value; /* without a line feed; a list of CPUs as the kernel prints it */
    const cpubind_irq_id *irq_id; /* `file` is of an interrupt that bindings use: which one */
    int32_t pid, tid, irq;
    int32_t group; /* changes of one group are made all or none; they follow each other */
} cpubind_change;

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_MODEL_HOST_CHANGE_H */
