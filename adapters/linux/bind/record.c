/* record.c - a record in memory: adding facts, finding them
 * SPDX-License-Identifier: MIT
 *
 * Pure but for memory: no system call, no file.
 */
#include "record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../kernel/irq.h"
#include "host_record.h"

const char *cpubind_memory_stay_word(cpubind_memory_stay stay)
{
#define CPUBIND_X(name, word) word,
    static const char *const words[] = {CPUBIND_MEMORY_STAY_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return stay < CPUBIND_STAY_COUNT ? words[stay] : "?";
}

/* Where one of the two is not known, the start time of the process has to do. */
int cpubind_is_same_boot(const char *a, const char *b)
{
    return !*a || !*b || strcmp(a, b) == 0;
}

void cpubind_record_free(cpubind_record *record)
{
    cpubind_cpu_sets_free(&record->sets);
    free(record->rule);
    free(record->placed);
    free(record->thread);
    free(record->irq);
    memset(record, 0, sizeof *record);
}

cpubind_linux_fault cpubind_record_add_rule(cpubind_record *record, const cpubind_sys *sys,
                                            const char *name, int32_t set)
{
    cpubind_record_rule rule = {.set = set};
    if (!cpubind_pattern_make(name, rule.name))
        return cpubind_fault_of(EINVAL, "argument");
    return CPUBIND_APPEND(sys, record->rule, record->n_rule, record->cap_rule, &rule);
}

int cpubind_record_is_placed(const cpubind_record *record, int32_t set)
{
    for (int32_t i = 0; i < record->n_placed; i++)
        if (record->placed[i] == set)
            return 1;
    return 0;
}

cpubind_linux_fault cpubind_record_add_placed(cpubind_record *record, const cpubind_sys *sys,
                                              int32_t set)
{
    return cpubind_record_is_placed(record, set)
               ? cpubind_no_fault
               : CPUBIND_APPEND(sys, record->placed, record->n_placed, record->cap_placed,
                                &set);
}

cpubind_linux_fault cpubind_record_add_thread(cpubind_record *record, const cpubind_sys *sys,
                                              int32_t tid, int32_t before)
{
    const cpubind_record_thread thread = {.tid = tid, .before = before};
    const int32_t at = cpubind_record_thread_place(record->thread, record->n_thread, tid);
    if (at < record->n_thread && record->thread[at].tid == tid)
        return cpubind_no_fault;
    return CPUBIND_INSERT(sys, record->thread, record->n_thread, record->cap_thread, at,
                          &thread);
}

static int order_of_irqs(const void *a, const void *b)
{
    return cpubind_irq_compare(&((const cpubind_record_irq *)a)->id,
                               &((const cpubind_record_irq *)b)->id);
}

cpubind_linux_fault cpubind_record_add_irq(cpubind_record *record, const cpubind_sys *sys,
                                           const cpubind_record_irq *irq)
{
    const int32_t n = record->n_irq;
    const int32_t at = cpubind_place_in(record->irq, n, sizeof *irq, irq, order_of_irqs);
    if (at == n || order_of_irqs(&record->irq[at], irq) != 0)
        return CPUBIND_INSERT(sys, record->irq, record->n_irq, record->cap_irq, at, irq);
    record->irq[at] = *irq;
    return cpubind_no_fault;
}

int32_t cpubind_record_thread_place(const cpubind_record_thread *list, int32_t n, int32_t tid)
{
    return cpubind_place_in(list, n, sizeof *list, &tid, cpubind_order_of_ids);
}

cpubind_linux_status cpubind_record_status(cpubind_linux_fault why)
{
    if (!why.error)
        return CPUBIND_LINUX_OK;
    if (why.line > 0 || strcmp(why.what, "length") == 0)
        return CPUBIND_LINUX_ERR_DAMAGED;
    if (strcmp(why.what, "memory") == 0) /* a system call may fail with ENOMEM, too */
        return CPUBIND_LINUX_ERR_MEMORY;
    if (strcmp(why.what, "argument") == 0)
        return CPUBIND_LINUX_ERR_ARG;
    return strcmp(why.what, "lock") == 0 && why.error == EWOULDBLOCK ? CPUBIND_LINUX_ERR_BUSY
                                                                     : CPUBIND_LINUX_ERR_STATE;
}

const cpubind_record_thread *cpubind_record_find_thread(const cpubind_record_thread *list,
                                                        int32_t n, int32_t tid)
{
    const int32_t at = cpubind_record_thread_place(list, n, tid);
    return at < n && list[at].tid == tid ? &list[at] : NULL;
}
