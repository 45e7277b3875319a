/* record_samples.h - records to save, and whether two are equal
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_LINUX_RECORD_SAMPLES_H
#define CPUBIND_TESTS_LINUX_RECORD_SAMPLES_H

#include "../../adapters/linux/bind/record.h"
#include "../../adapters/linux/kernel/irq.h"
#include "../../cpubind.h"
#include "temp_dir.h"

#define SAMPLE_PID 4711

/* The status of a fault, as the functions of bind.h return it; fills *out, if not NULL. */
static inline cpubind_linux_status sample_status(cpubind_linux_fault why,
                                                 cpubind_linux_fault *out)
{
    return cpubind_linux_end(cpubind_record_status(why), why, out);
}

static inline int32_t sample_set(cpubind_record *record, const char *text)
{
    int32_t set;
    scratch_need(!cpubind_cpu_sets_of_text(&record->sets, &cpubind_sys_real, text,
                                           (int32_t)strlen(text), &set)
                      .error,
                 text);
    return set;
}

/* A process of one thread, nothing changed. */
static inline void sample_begin(cpubind_record *record)
{
    memset(record, 0, sizeof *record);
    record->pid = SAMPLE_PID;
    record->start = 12345;
    snprintf(record->boot, sizeof record->boot, "%s", "11111111-2222-3333-4444-555555555555");
    record->device = -1;
    record->memory_node = -1;
    record->polling = CPUBIND_CPUSET_NONE;
    record->widest = CPUBIND_CPUSET_NONE;
    record->before = sample_set(record, "0-191");
    record->main = sample_set(record, "74-93");
}

static inline void sample_need(cpubind_linux_fault why)
{
    scratch_need(why.error == 0, why.what);
}

/* A record with facts of each kind. */
static inline void sample_make(cpubind_record *record)
{
    const cpubind_sys *sys = &cpubind_sys_real;
    cpubind_record_irq irq = {
        301, {"0000:c1:00.0", "sq_send_trigger_irq", 0}, CPUBIND_IRQ_SQ, 72};
    sample_begin(record);
    record->device = 3;
    record->memory_node = 3;
    record->memory_left = 4096;
    record->left_why = CPUBIND_STAY_TIME;
    record->polling = sample_set(record, "1-23");
    record->widest = record->before;
    snprintf(record->cgroup, sizeof record->cgroup, "/system.slice/a service");
    record->cpuset = sample_set(record, "74-95");
    sample_need(cpubind_record_add_rule(record, sys, "acl_thread", sample_set(record, "94")));
    sample_need(
        cpubind_record_add_rule(record, sys, "release_thread", sample_set(record, "95")));
    sample_need(cpubind_record_add_placed(record, sys, record->main));
    sample_need(cpubind_record_add_placed(record, sys, sample_set(record, "50-69")));
    for (int32_t tid = SAMPLE_PID; tid < SAMPLE_PID + 20; tid++)
        sample_need(cpubind_record_add_thread(record, sys, tid,
                                              tid % 7 ? 0 : sample_set(record, "5,9")));
    sample_need(cpubind_record_add_irq(record, sys, &irq));
    irq = (cpubind_record_irq){302, {"0000:c1:00.0", "cq_update_irq", 0}, CPUBIND_IRQ_CQ, 73};
    sample_need(cpubind_record_add_irq(record, sys, &irq));
}

/* Whether a set of the one is that set of the other, whatever their numbers. */
static inline int sample_same_set(const cpubind_record *a, int32_t set_a,
                                  const cpubind_record *b, int32_t set_b)
{
    return strcmp(cpubind_cpu_sets_text(&a->sets, set_a),
                  cpubind_cpu_sets_text(&b->sets, set_b)) == 0;
}

static inline int sample_same_arrays(const cpubind_record *a, const cpubind_record *b)
{
    if (a->n_rule != b->n_rule || a->n_thread != b->n_thread || a->n_irq != b->n_irq ||
        a->n_placed != b->n_placed)
        return 0;
    for (int32_t i = 0; i < a->n_placed; i++)
        if (!sample_same_set(a, a->placed[i], b, b->placed[i]))
            return 0;
    for (int32_t i = 0; i < a->n_rule; i++)
        if (strcmp(a->rule[i].name, b->rule[i].name) != 0 ||
            !sample_same_set(a, a->rule[i].set, b, b->rule[i].set))
            return 0;
    for (int32_t i = 0; i < a->n_thread; i++)
        if (a->thread[i].tid != b->thread[i].tid ||
            !sample_same_set(a, a->thread[i].before, b, b->thread[i].before))
            return 0;
    for (int32_t i = 0; i < a->n_irq; i++)
        if (a->irq[i].irq != b->irq[i].irq || a->irq[i].kind != b->irq[i].kind ||
            a->irq[i].cpu != b->irq[i].cpu ||
            cpubind_irq_compare(&a->irq[i].id, &b->irq[i].id) != 0)
            return 0;
    return 1;
}

static inline int sample_same(const cpubind_record *a, const cpubind_record *b)
{
    return a->pid == b->pid && a->start == b->start && strcmp(a->boot, b->boot) == 0 &&
           a->device == b->device && strcmp(a->pci, b->pci) == 0 &&
           a->memory_node == b->memory_node && a->memory_left == b->memory_left &&
           a->left_why == b->left_why && sample_same_set(a, a->before, b, b->before) &&
           sample_same_set(a, a->widest, b, b->widest) && strcmp(a->cgroup, b->cgroup) == 0 &&
           (!*a->cgroup || (sample_same_set(a, a->cpuset, b, b->cpuset) &&
                            a->is_cpuset_kept == b->is_cpuset_kept)) &&
           sample_same_set(a, a->main, b, b->main) &&
           sample_same_set(a, a->polling, b, b->polling) && sample_same_arrays(a, b);
}

/* Whether a record is all zero, as after a load that failed. */
static inline int sample_is_zero(const cpubind_record *record)
{
    const unsigned char *byte = (const unsigned char *)record;
    for (size_t i = 0; i < sizeof *record; i++)
        if (byte[i])
            return 0;
    return 1;
}

/* Puts the right sum where the last line begins. Returns the length of the text. */
static inline size_t sample_seal(char *text, size_t size)
{
    char *sum = strstr(text, "\nsum ");
    uint32_t crc = 0xffffffffu;
    scratch_need(sum != NULL, text);
    sum++;
    for (const char *at = text; at < sum; at++) {
        crc ^= (unsigned char)*at;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    snprintf(sum, size - (size_t)(sum - text), "sum %08lx\n", (unsigned long)~crc);
    return strlen(text);
}

/* A record with one text replaced, and the right sum. */
static inline size_t sample_edit(const char *good, char *text, size_t size, const char *from,
                                 const char *to)
{
    const char *at = strstr(good, from);
    scratch_need(at != NULL, from);
    snprintf(text, size, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
    return sample_seal(text, size);
}

#endif /* CPUBIND_TESTS_LINUX_RECORD_SAMPLES_H */
