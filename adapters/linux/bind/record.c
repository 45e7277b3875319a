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

static const cpubind_linux_fault no_memory = {ENOMEM, "memory", 0};

const char *cpubind_irq_kind_word(cpubind_irq_kind kind)
{
    static const char *const words[] = {
        [CPUBIND_IRQ_SQ] = "sq", [CPUBIND_IRQ_CQ] = "cq", [CPUBIND_IRQ_MAILBOX] = "mailbox"};
    return words[kind];
}

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
    if (record->host)
        cpubind_shared_free(record->host);
    free(record->host);
    memset(record, 0, sizeof *record);
}

cpubind_linux_fault cpubind_record_add_rule(cpubind_record *record, const cpubind_sys *sys,
                                            const char *name, int32_t set)
{
    char pattern[CPUBIND_PATTERN_SIZE];
    cpubind_record_rule *rule;
    if (!cpubind_pattern_make(name, pattern))
        return cpubind_fault_of(EINVAL, "argument");
    rule = (cpubind_record_rule *)cpubind_grow(sys, record->rule, record->n_rule,
                                               &record->cap_rule, sizeof *rule);
    if (!rule)
        return no_memory;
    record->rule = rule;
    rule += record->n_rule++;
    memset(rule, 0, sizeof *rule);
    memcpy(rule->name, pattern, strlen(pattern));
    rule->set = set;
    return cpubind_no_fault;
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
    int32_t *placed;
    if (cpubind_record_is_placed(record, set))
        return cpubind_no_fault;
    placed = (int32_t *)cpubind_grow(sys, record->placed, record->n_placed, &record->cap_placed,
                                     sizeof *placed);
    if (!placed)
        return no_memory;
    record->placed = placed;
    placed[record->n_placed++] = set;
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_record_add_thread(cpubind_record *record, const cpubind_sys *sys,
                                              int32_t tid, int32_t before)
{
    const int32_t at = cpubind_record_thread_place(record->thread, record->n_thread, tid);
    cpubind_record_thread *thread;
    if (at < record->n_thread && record->thread[at].tid == tid)
        return cpubind_no_fault;
    thread = (cpubind_record_thread *)cpubind_grow(sys, record->thread, record->n_thread,
                                                   &record->cap_thread, sizeof *thread);
    if (!thread)
        return no_memory;
    record->thread = thread;
    memmove(thread + at + 1, thread + at, (size_t)(record->n_thread - at) * sizeof *thread);
    thread[at] = (cpubind_record_thread){.tid = tid, .before = before};
    record->n_thread++;
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_record_add_irq(cpubind_record *record, const cpubind_sys *sys,
                                           const cpubind_record_irq *irq)
{
    cpubind_record_irq *all;
    int32_t n = record->n_irq, at = n;
    while (at > 0 && cpubind_irq_compare(&record->irq[at - 1].id, &irq->id) >= 0)
        at--;
    if (at < n && cpubind_irq_compare(&record->irq[at].id, &irq->id) == 0) {
        record->irq[at] = *irq;
        return cpubind_no_fault;
    }
    all =
        (cpubind_record_irq *)cpubind_grow(sys, record->irq, n, &record->cap_irq, sizeof *all);
    if (!all)
        return no_memory;
    record->irq = all;
    memmove(all + at + 1, all + at, (size_t)(n - at) * sizeof *all);
    all[at] = *irq;
    record->n_irq++;
    return cpubind_no_fault;
}

/* Threads mostly come in order: the end is tried first. */
int32_t cpubind_record_thread_place(const cpubind_record_thread *list, int32_t n, int32_t tid)
{
    int32_t low = 0, high = n;
    if (n > 0 && list[n - 1].tid < tid)
        return n;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (list[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
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
