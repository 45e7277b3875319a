/* record_write.c - the text of a state
 * SPDX-License-Identifier: MIT
 *
 * A line for each member, and for each element of its arrays. Threads stand together by the set
 * that they were on, which most of them share.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../cpubind.h"
#include "../common.h"
#include "record_text.h"

/* The text that grows, up to the length that can be read. The first error stays. */
typedef struct writer {
    const cpubind_record *state;
    const cpubind_sys *sys;
    cpubind_bytes *bytes;
    int error; /* ENOMEM, EFBIG, EINVAL */
} writer;

static void refuse(writer *w, int error)
{
    if (!w->error)
        w->error = error;
}

static void put_bytes(writer *w, const char *data, int32_t len)
{
    if (w->error)
        return;
    if (len > CPUBIND_FILE_MAX - w->bytes->len)
        refuse(w, EFBIG);
    else if (cpubind_bytes_reserve(w->bytes, w->sys, len))
        refuse(w, ENOMEM);
    else {
        memcpy(w->bytes->data + w->bytes->len, data, (size_t)len);
        w->bytes->len += len;
    }
}

static void put(writer *w, const char *text)
{
    put_bytes(w, text, (int32_t)strlen(text));
}

static void put_number(writer *w, uint64_t value)
{
    char digit[20];
    int32_t at = (int32_t)sizeof digit;
    do
        digit[--at] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    put_bytes(w, digit + at, (int32_t)sizeof digit - at);
}

/* A number that is not below `least`. */
static void put_id(writer *w, int32_t id, int32_t least)
{
    if (id < least)
        refuse(w, EINVAL);
    put_number(w, (uint64_t)(id < 0 ? 0 : id));
}

static void put_id_or_null(writer *w, int32_t id)
{
    if (id < 0)
        put(w, "null");
    else
        put_id(w, id, 0);
}

static void put_set(writer *w, int32_t set)
{
    if (set < 0 || set >= w->state->sets.n) {
        refuse(w, EINVAL);
        return;
    }
    put(w, "\"");
    put(w, w->state->sets.set[set].text);
    put(w, "\"");
}

static void put_set_or_null(writer *w, int32_t set)
{
    if (set == CPUBIND_CPUSET_NONE)
        put(w, "null");
    else
        put_set(w, set);
}

static void put_name(writer *w, const char *name)
{
    static const char hex[] = "0123456789abcdef";
    put(w, "\"");
    for (; *name; name++) {
        const unsigned char c = (unsigned char)*name;
        const char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        if (c < ' ' || c > '~' || c == '"' || c == '\\')
            put_bytes(w, escape, (int32_t)sizeof escape);
        else
            put_bytes(w, name, 1);
    }
    put(w, "\"");
}

/* What stands before element i of an array. */
static void put_element(writer *w, int32_t i)
{
    put(w, i ? ",\n  " : "\n  ");
}

/* == Members ================================================================ */

static void put_rules(writer *w)
{
    put(w, "[");
    for (int32_t i = 0; i < w->state->n_rule; i++) {
        const cpubind_record_rule *rule = &w->state->rule[i];
        if (!rule->name[0])
            refuse(w, EINVAL);
        put_element(w, i);
        put(w, "{\"name\": ");
        put_name(w, rule->name);
        put(w, ", \"cpus\": ");
        put_set(w, rule->set);
        put(w, "}");
    }
    put(w, "]");
}

static void put_goal(writer *w)
{
    put(w, "{\"main\": ");
    put_set(w, w->state->main);
    put(w, ", \"memory_node\": ");
    put_id_or_null(w, w->state->memory_node);
    put(w, ", \"uvb\": ");
    put_set_or_null(w, w->state->uvb);
    put(w, ", \"rules\": ");
    put_rules(w);
    put(w, "}");
}

static void put_ours(writer *w)
{
    put(w, "[");
    for (int32_t i = 0; i < w->state->n_ours; i++) {
        if (i > 0)
            put(w, ", ");
        put_set(w, w->state->ours[i]);
    }
    put(w, "]");
}

/* For each set the threads that were on it: first[set], then next[thread], -1 at the end. */
static int chain(const writer *w, int32_t *first, int32_t *next)
{
    const cpubind_record *state = w->state;
    for (int32_t set = 0; set < state->sets.n; set++)
        first[set] = -1;
    for (int32_t i = state->n_thread - 1; i >= 0; i--) {
        const int32_t set = state->thread[i].before;
        if (set < 0 || set >= state->sets.n)
            return 0;
        if (i > 0 &&
            cpubind_priv_record_thread_order(&state->thread[i - 1], &state->thread[i]) >= 0)
            return 0;
        next[i] = first[set];
        first[set] = i;
    }
    return 1;
}

static void put_group(writer *w, int32_t set, int32_t first, const int32_t *next)
{
    put(w, "{\"before\": ");
    put_set(w, set);
    put(w, ", \"tids\": [");
    for (int32_t i = first; i >= 0; i = next[i]) {
        if (i != first)
            put(w, ", ");
        put_id(w, w->state->thread[i].tid, 1);
    }
    put(w, "]}");
}

static void put_threads(writer *w)
{
    const cpubind_record *state = w->state;
    const size_t n = (size_t)state->sets.n + (size_t)state->n_thread;
    int32_t *first = (int32_t *)w->sys->malloc((n ? n : 1) * sizeof *first);
    int32_t *next = first ? first + state->sets.n : NULL, n_group = 0;
    if (!first) {
        refuse(w, ENOMEM);
        return;
    }
    if (!chain(w, first, next))
        refuse(w, EINVAL);
    put(w, "[");
    for (int32_t set = 0; !w->error && set < state->sets.n; set++) {
        if (first[set] < 0)
            continue;
        put_element(w, n_group++);
        put_group(w, set, first[set], next);
    }
    put(w, "]");
    free(first);
}

static void put_others(writer *w)
{
    put(w, "[");
    for (int32_t i = 0; i < w->state->n_other; i++) {
        const cpubind_record_other *other = &w->state->other[i];
        if (i > 0 && cpubind_priv_record_other_order(other - 1, other) >= 0)
            refuse(w, EINVAL);
        put_element(w, i);
        put(w, "{\"pid\": ");
        put_id(w, other->pid, 1);
        put(w, ", \"tid\": ");
        put_id(w, other->tid, 1);
        put(w, ", \"start\": ");
        put_number(w, other->start);
        put(w, ", \"before\": ");
        put_set(w, other->before);
        put(w, ", \"set\": ");
        put_set(w, other->set);
        put(w, "}");
    }
    put(w, "]");
}

static void put_irqs(writer *w)
{
    put(w, "[");
    for (int32_t i = 0; i < w->state->n_irq; i++) {
        const cpubind_record_irq *irq = &w->state->irq[i];
        if (irq->cpu >= CPUBIND_MAX_CPUS ||
            (i > 0 && cpubind_priv_record_irq_order(irq - 1, irq) >= 0))
            refuse(w, EINVAL);
        put_element(w, i);
        put(w, "{\"irq\": ");
        put_id(w, irq->irq, 0);
        put(w, irq->kind == CPUBIND_IRQ_SQ ? ", \"kind\": \"sq\"" : ", \"kind\": \"cq\"");
        put(w, ", \"cpu\": ");
        put_id(w, irq->cpu, 0);
        put(w, ", \"before\": ");
        put_set_or_null(w, irq->before);
        put(w, irq->is_banned ? ", \"banned\": 1}" : ", \"banned\": 0}");
    }
    put(w, "]");
}

static void put_irqbalance(writer *w)
{
    if (w->state->how == CPUBIND_IRQBALANCE_LEAVE) {
        put(w, "null");
        return;
    }
    put(w, "{\"pid\": ");
    put_id(w, w->state->irqbalance_pid, 1);
    put(w, ", \"start\": ");
    put_number(w, w->state->irqbalance_start);
    put(w, w->state->how == CPUBIND_IRQBALANCE_BAN ? ", \"how\": \"ban\"}"
                                                   : ", \"how\": \"stop\"}");
}

static void put_process(writer *w)
{
    put(w, "{\"cpubind\": ");
    put_name(w, CPUBIND_VERSION);
    put(w, ", \"format\": ");
    put_number(w, CPUBIND_RECORD_FORMAT);
    put(w, ",\n \"boot\": ");
    put_name(w, w->state->boot);
    put(w, ", \"pid\": ");
    put_id(w, w->state->pid, 1);
    put(w, ", \"start\": ");
    put_number(w, w->state->start);
    put(w, ",\n \"npu\": ");
    put_id_or_null(w, w->state->npu);
    put(w, ", \"before\": ");
    put_set(w, w->state->before);
}

cpubind_linux_status cpubind_priv_record_format(const cpubind_record *state,
                                                const cpubind_sys *sys, cpubind_bytes *out,
                                                cpubind_linux_fault *fault)
{
    writer w = {state, sys, out, 0};
    put_process(&w);
    put(&w, ",\n \"goal\": ");
    put_goal(&w);
    put(&w, ",\n \"ours\": ");
    put_ours(&w);
    put(&w, ",\n \"threads\": ");
    put_threads(&w);
    put(&w, ",\n \"others\": ");
    put_others(&w);
    put(&w, ",\n \"irqs\": ");
    put_irqs(&w);
    put(&w, ",\n \"irqbalance\": ");
    put_irqbalance(&w);
    put(&w, "}\n");
    if (w.error == ENOMEM)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
    if (w.error == EINVAL)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "argument", fault);
    if (w.error)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_STATE, w.error, "write", fault);
    return CPUBIND_LINUX_OK;
}
