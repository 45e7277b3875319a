/* record_read.c - the state of a text
 * SPDX-License-Identifier: MIT
 *
 * The members of each object stand in a table. Each of them must be there, once, in any order;
 * others are skipped. The tables nest three deep, and so do the calls, whatever the text says.
 */
#include <stdlib.h>
#include <string.h>

#include "../common.h"
#include "jsonread.h"
#include "record_text.h"

typedef struct reader {
    cpubind_json json;
    const cpubind_sys *sys;
    cpubind_record *state;
    const char *what;   /* the last member that was looked at */
    int is_memory_gone; /* why a read failed; else the text is wrong */
} reader;

/* Reads a value into *into. 1, or 0. */
typedef int read_value(reader *r, void *into);

typedef struct member {
    const char *name;
    read_value *read;
    size_t offset; /* of its value in what is read */
} member;

static int no_memory(reader *r)
{
    r->is_memory_gone = 1;
    return 0;
}

/* == Objects and arrays ===================================================== */

static int find_member(const member *members, int n, cpubind_json_string key)
{
    for (int i = 0; i < n; i++)
        if (strlen(members[i].name) == (size_t)key.len &&
            memcmp(members[i].name, key.at, (size_t)key.len) == 0)
            return i;
    return -1;
}

static int read_member(reader *r, const member *members, int n, void *into, unsigned *seen)
{
    cpubind_json_string key;
    int i;
    if (!cpubind_json_string_next(&r->json, &key) || !cpubind_json_take(&r->json, ':'))
        return 0;
    i = find_member(members, n, key);
    if (i < 0)
        return cpubind_json_skip(&r->json);
    r->what = members[i].name;
    if (*seen >> i & 1u)
        return 0;
    *seen |= 1u << i;
    return members[i].read(r, (char *)into + members[i].offset);
}

/* An object with all of these members, of which there are fewer than 32. */
static int read_object(reader *r, const member *members, int n, void *into)
{
    const char *what = r->what;
    unsigned seen = 0;
    if (!cpubind_json_take(&r->json, '{'))
        return 0;
    if (!cpubind_json_take(&r->json, '}')) {
        do
            if (!read_member(r, members, n, into, &seen))
                return 0;
        while (cpubind_json_take(&r->json, ','));
        r->what = what;
        if (!cpubind_json_take(&r->json, '}'))
            return 0;
    }
    for (int i = 0; i < n; i++) {
        if (seen >> i & 1u)
            continue;
        r->what = members[i].name;
        return 0;
    }
    return 1;
}

#define READ_OBJECT(r, members, into)                                                          \
    read_object((r), (members), (int)(sizeof(members) / sizeof *(members)), (into))

static int read_array(reader *r, read_value *read, void *into)
{
    const char *what = r->what;
    if (!cpubind_json_take(&r->json, '['))
        return 0;
    if (cpubind_json_take(&r->json, ']'))
        return 1;
    do
        if (!read(r, into))
            return 0;
    while (cpubind_json_take(&r->json, ','));
    r->what = what;
    return cpubind_json_take(&r->json, ']');
}

/* == Values ================================================================= */

static int read_int32(reader *r, int32_t least, int32_t most, int32_t *out)
{
    uint64_t value;
    if (!cpubind_json_number(&r->json, (uint64_t)most, &value) || (int32_t)value < least)
        return 0;
    *out = (int32_t)value;
    return 1;
}

static int read_start(reader *r, void *into)
{
    return cpubind_json_number(&r->json, UINT64_MAX, (uint64_t *)into);
}

static int read_pid(reader *r, void *into)
{
    return read_int32(r, 1, INT32_MAX, (int32_t *)into);
}

static int read_irq_number(reader *r, void *into)
{
    return read_int32(r, 0, INT32_MAX, (int32_t *)into);
}

static int read_cpu(reader *r, void *into)
{
    return read_int32(r, 0, CPUBIND_MAX_CPUS - 1, (int32_t *)into);
}

static int read_flag(reader *r, void *into)
{
    return read_int32(r, 0, 1, (int32_t *)into);
}

static int read_id_or_null(reader *r, void *into)
{
    if (!cpubind_json_take_null(&r->json))
        return read_int32(r, 0, INT32_MAX, (int32_t *)into);
    *(int32_t *)into = -1;
    return 1;
}

static int read_format(reader *r, void *into)
{
    int32_t format;
    (void)into;
    return read_int32(r, CPUBIND_RECORD_FORMAT, CPUBIND_RECORD_FORMAT, &format);
}

/* A list with an escape is not one that was written here, and no list. */
static int read_set(reader *r, void *into)
{
    cpubind_json_string list;
    int32_t set;
    if (!cpubind_json_string_next(&r->json, &list))
        return 0;
    set = cpubind_cpu_sets_of_text(&r->state->sets, r->sys, list.at, list.len);
    if (set == CPUBIND_CPUSET_NO_MEMORY)
        return no_memory(r);
    *(int32_t *)into = set;
    return set >= 0;
}

static int read_set_or_null(reader *r, void *into)
{
    if (!cpubind_json_take_null(&r->json))
        return read_set(r, into);
    *(int32_t *)into = CPUBIND_CPUSET_NONE;
    return 1;
}

static int read_text(reader *r, char *out, size_t size)
{
    cpubind_json_string text;
    return cpubind_json_string_next(&r->json, &text) &&
           cpubind_json_decode(text, out, (int32_t)size);
}

static int read_boot(reader *r, void *into)
{
    return read_text(r, (char *)into, sizeof r->state->boot);
}

static int read_name(reader *r, void *into)
{
    return read_text(r, (char *)into, sizeof r->state->rule->name) && *(char *)into;
}

static int read_version(reader *r, void *into)
{
    cpubind_json_string version;
    (void)into;
    return cpubind_json_string_next(&r->json, &version);
}

static int read_kind(reader *r, void *into)
{
    char word[4];
    if (!read_text(r, word, sizeof word))
        return 0;
    *(cpubind_irq_kind *)into = strcmp(word, "sq") == 0 ? CPUBIND_IRQ_SQ : CPUBIND_IRQ_CQ;
    return strcmp(word, "sq") == 0 || strcmp(word, "cq") == 0;
}

static int read_how(reader *r, void *into)
{
    char word[8];
    if (!read_text(r, word, sizeof word))
        return 0;
    *(cpubind_irqbalance_how *)into =
        strcmp(word, "ban") == 0 ? CPUBIND_IRQBALANCE_BAN : CPUBIND_IRQBALANCE_STOP;
    return strcmp(word, "ban") == 0 || strcmp(word, "stop") == 0;
}

/* == Elements =============================================================== */

#define MEMBER(type, field, name, read)                                                        \
    {                                                                                          \
        (name), (read), offsetof(type, field)                                                  \
    }

static int read_rule(reader *r, void *into)
{
    static const member members[] = {
        MEMBER(cpubind_record_rule, name, "name", read_name),
        MEMBER(cpubind_record_rule, set, "cpus", read_set),
    };
    cpubind_record_rule rule = {"", 0};
    (void)into;
    if (!READ_OBJECT(r, members, &rule))
        return 0;
    return cpubind_record_add_rule(r->state, r->sys, rule.name, rule.set) == 0 || no_memory(r);
}

/* Elements are put at the end here, and brought in order when all are there. */
static int read_tid(reader *r, void *into)
{
    cpubind_record *state = r->state;
    cpubind_record_thread *thread;
    int32_t tid;
    (void)into;
    if (!read_pid(r, &tid))
        return 0;
    thread = (cpubind_record_thread *)cpubind_grow(r->sys, state->thread, state->n_thread,
                                                   &state->cap_thread, sizeof *thread);
    if (!thread)
        return no_memory(r);
    state->thread = thread;
    thread[state->n_thread++] = (cpubind_record_thread){tid, CPUBIND_CPUSET_NONE};
    return 1;
}

static int read_tids(reader *r, void *into)
{
    return read_array(r, read_tid, into);
}

static int read_group(reader *r, void *into)
{
    static const member members[] = {{"before", read_set, 0}, {"tids", read_tids, 0}};
    const int32_t first = r->state->n_thread;
    int32_t before = CPUBIND_CPUSET_NONE;
    (void)into;
    if (!READ_OBJECT(r, members, &before))
        return 0;
    for (int32_t i = first; i < r->state->n_thread; i++)
        r->state->thread[i].before = before;
    return 1;
}

static int read_other(reader *r, void *into)
{
    static const member members[] = {
        MEMBER(cpubind_record_other, pid, "pid", read_pid),
        MEMBER(cpubind_record_other, tid, "tid", read_pid),
        MEMBER(cpubind_record_other, start, "start", read_start),
        MEMBER(cpubind_record_other, before, "before", read_set),
        MEMBER(cpubind_record_other, set, "set", read_set),
    };
    cpubind_record *state = r->state;
    cpubind_record_other other = {0}, *array;
    (void)into;
    if (!READ_OBJECT(r, members, &other))
        return 0;
    array = (cpubind_record_other *)cpubind_grow(r->sys, state->other, state->n_other,
                                                 &state->cap_other, sizeof *array);
    if (!array)
        return no_memory(r);
    state->other = array;
    array[state->n_other++] = other;
    return 1;
}

static int read_irq(reader *r, void *into)
{
    static const member members[] = {
        MEMBER(cpubind_record_irq, irq, "irq", read_irq_number),
        MEMBER(cpubind_record_irq, kind, "kind", read_kind),
        MEMBER(cpubind_record_irq, cpu, "cpu", read_cpu),
        MEMBER(cpubind_record_irq, before, "before", read_set_or_null),
        MEMBER(cpubind_record_irq, is_banned, "banned", read_flag),
    };
    cpubind_record *state = r->state;
    cpubind_record_irq irq = {0}, *array;
    (void)into;
    if (!READ_OBJECT(r, members, &irq))
        return 0;
    array = (cpubind_record_irq *)cpubind_grow(r->sys, state->irq, state->n_irq,
                                               &state->cap_irq, sizeof *array);
    if (!array)
        return no_memory(r);
    state->irq = array;
    array[state->n_irq++] = irq;
    return 1;
}

/* == The state ============================================================== */

static int read_rules(reader *r, void *into)
{
    return read_array(r, read_rule, into);
}

static int read_our_set(reader *r, void *into)
{
    int32_t set = CPUBIND_CPUSET_NONE;
    (void)into;
    return read_set(r, &set) &&
           (cpubind_record_add_ours(r->state, r->sys, set) == 0 || no_memory(r));
}

static int read_ours(reader *r, void *into)
{
    return read_array(r, read_our_set, into);
}

static int read_threads(reader *r, void *into)
{
    return read_array(r, read_group, into);
}

static int read_others(reader *r, void *into)
{
    return read_array(r, read_other, into);
}

static int read_irqs(reader *r, void *into)
{
    return read_array(r, read_irq, into);
}

static int read_goal(reader *r, void *into)
{
    static const member members[] = {
        MEMBER(cpubind_record, main, "main", read_set),
        MEMBER(cpubind_record, memory_node, "memory_node", read_id_or_null),
        MEMBER(cpubind_record, uvb, "uvb", read_set_or_null),
        {"rules", read_rules, 0},
    };
    return READ_OBJECT(r, members, into);
}

static int read_irqbalance(reader *r, void *into)
{
    static const member members[] = {
        MEMBER(cpubind_record, irqbalance_pid, "pid", read_pid),
        MEMBER(cpubind_record, irqbalance_start, "start", read_start),
        MEMBER(cpubind_record, how, "how", read_how),
    };
    return cpubind_json_take_null(&r->json) || READ_OBJECT(r, members, into);
}

static int read_state(reader *r)
{
    static const member members[] = {
        {"cpubind", read_version, 0},
        {"format", read_format, 0},
        MEMBER(cpubind_record, boot, "boot", read_boot),
        MEMBER(cpubind_record, pid, "pid", read_pid),
        MEMBER(cpubind_record, start, "start", read_start),
        MEMBER(cpubind_record, npu, "npu", read_id_or_null),
        MEMBER(cpubind_record, before, "before", read_set),
        {"goal", read_goal, 0},
        {"ours", read_ours, 0},
        {"threads", read_threads, 0},
        {"others", read_others, 0},
        {"irqs", read_irqs, 0},
        {"irqbalance", read_irqbalance, 0},
    };
    if (!READ_OBJECT(r, members, r->state))
        return 0;
    r->what = "end";
    return cpubind_json_is_end(&r->json);
}

/* == Order ================================================================== */

static int compare_threads(const void *a, const void *b)
{
    return cpubind_priv_record_thread_order((const cpubind_record_thread *)a,
                                            (const cpubind_record_thread *)b);
}

static int compare_others(const void *a, const void *b)
{
    return cpubind_priv_record_other_order((const cpubind_record_other *)a,
                                           (const cpubind_record_other *)b);
}

static int compare_irqs(const void *a, const void *b)
{
    return cpubind_priv_record_irq_order((const cpubind_record_irq *)a,
                                         (const cpubind_record_irq *)b);
}

/* Whether no element is there twice, once they are in order. */
static int put_in_order(reader *r, const char *what, void *array, int32_t n, size_t size,
                        int (*compare)(const void *a, const void *b))
{
    const char *element = (const char *)array;
    int is_ordered = 1;
    r->what = what;
    for (int32_t i = 1; is_ordered && i < n; i++)
        is_ordered = compare(element + (size_t)(i - 1) * size, element + (size_t)i * size) < 0;
    if (is_ordered)
        return 1;
    qsort(array, (size_t)n, size, compare);
    for (int32_t i = 1; i < n; i++)
        if (compare(element + (size_t)(i - 1) * size, element + (size_t)i * size) == 0)
            return 0;
    return 1;
}

static int put_all_in_order(reader *r)
{
    cpubind_record *state = r->state;
    return put_in_order(r, "threads", state->thread, state->n_thread, sizeof *state->thread,
                        compare_threads) &&
           put_in_order(r, "others", state->other, state->n_other, sizeof *state->other,
                        compare_others) &&
           put_in_order(r, "irqs", state->irq, state->n_irq, sizeof *state->irq, compare_irqs);
}

cpubind_linux_status cpubind_priv_record_parse(const char *text, int32_t len,
                                               const cpubind_sys *sys, cpubind_record *out,
                                               cpubind_linux_fault *fault)
{
    reader r = {{text, len, 0}, sys, out, "state", 0};
    memset(out, 0, sizeof *out);
    if (read_state(&r) && put_all_in_order(&r))
        return CPUBIND_LINUX_OK;
    cpubind_record_free(out);
    if (r.is_memory_gone)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_DAMAGED, EILSEQ, r.what, fault);
}
