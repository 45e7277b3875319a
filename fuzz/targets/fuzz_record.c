/* fuzz_record.c - the file of what was changed on a host, as whoever wrote to its folder left
 *   it
 * SPDX-License-Identifier: MIT
 *
 * A text that is refused leaves nothing behind and says which member is wrong; one that is read
 * keeps the promises of record.h, and is read equal from what is written of it. Without memory
 * neither is done half.
 */
#include "../fuzz.h"

#include <errno.h>

#include "../../adapters/linux/bind/record_text.h"
#include "../../cpubind.h"

static int n_call, fail_at; /* which allocation fails; 0: none */

static void *t_malloc(size_t size)
{
    return ++n_call == fail_at ? NULL : malloc(size);
}

static void *t_realloc(void *old, size_t size)
{
    return ++n_call == fail_at ? NULL : realloc(old, size);
}

static const cpubind_sys table = {.malloc = t_malloc, .realloc = t_realloc};

/* == What was read ========================================================== */

static void check_set(const cpubind_record *state, int32_t set)
{
    CHECK(set >= 0 && set < state->sets.n);
}

static void check_set_or_none(const cpubind_record *state, int32_t set)
{
    CHECK(set == CPUBIND_CPUSET_NONE || (set >= 0 && set < state->sets.n));
}

static void check_sets(const cpubind_record *state)
{
    for (int32_t i = 0; i < state->sets.n; i++) {
        const cpubind_cpu_set *set = &state->sets.set[i];
        CHECK(set->n >= 1 && set->word[set->n_word - 1] != 0);
        fuzz_check_list(set->cpu, set->n, CPUBIND_MAX_CPUS);
        for (int32_t other = 0; other < i; other++)
            CHECK(strcmp(state->sets.set[other].text, set->text) != 0);
    }
}

static void check_threads(const cpubind_record *state)
{
    for (int32_t i = 0; i < state->n_thread; i++) {
        const cpubind_record_thread *thread = &state->thread[i];
        CHECK(thread->tid > (i ? thread[-1].tid : 0));
        check_set(state, thread->before);
        CHECK(cpubind_record_thread_find(state->thread, state->n_thread, thread->tid) ==
              thread);
    }
}

static void check_others(const cpubind_record *state)
{
    for (int32_t i = 0; i < state->n_other; i++) {
        const cpubind_record_other *other = &state->other[i];
        CHECK(other->pid > 0 && other->tid > 0);
        CHECK(i == 0 || other[-1].tid < other->tid ||
              (other[-1].tid == other->tid && other[-1].start < other->start));
        check_set(state, other->before);
        check_set(state, other->set);
    }
}

static void check_irqs(const cpubind_record *state)
{
    for (int32_t i = 0; i < state->n_irq; i++) {
        const cpubind_record_irq *irq = &state->irq[i];
        CHECK(irq->irq > (i ? irq[-1].irq : -1));
        CHECK(irq->kind == CPUBIND_IRQ_SQ || irq->kind == CPUBIND_IRQ_CQ);
        CHECK(irq->cpu >= 0 && irq->cpu < CPUBIND_MAX_CPUS);
        check_set_or_none(state, irq->before);
    }
}

static void check_state(const cpubind_record *state)
{
    CHECK(state->pid > 0 && state->npu >= -1 && state->memory_node >= -1);
    CHECK(memchr(state->boot, '\0', sizeof state->boot) != NULL);
    check_sets(state);
    check_set(state, state->before);
    check_set(state, state->main);
    check_set_or_none(state, state->uvb);
    for (int32_t i = 0; i < state->n_rule; i++) {
        CHECK(state->rule[i].name[0]);
        CHECK(memchr(state->rule[i].name, '\0', sizeof state->rule[i].name) != NULL);
        check_set(state, state->rule[i].set);
    }
    check_threads(state);
    check_others(state);
    check_irqs(state);
    CHECK(state->how == CPUBIND_IRQBALANCE_LEAVE
              ? state->irqbalance_pid == 0 && state->irqbalance_start == 0
              : state->irqbalance_pid > 0 && state->how <= CPUBIND_IRQBALANCE_STOP);
}

/* == There and back ========================================================= */

static char *written(const cpubind_record *state, int32_t *len)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    char *text;
    CHECK(cpubind_priv_record_format(state, &table, &bytes, NULL) == CPUBIND_LINUX_OK);
    *len = bytes.len;
    text = fuzz_text(bytes.data, (size_t)bytes.len);
    cpubind_bytes_free(&bytes);
    return text;
}

static int is_same_set(const cpubind_record *a, int32_t in_a, const cpubind_record *b,
                       int32_t in_b)
{
    return strcmp(cpubind_cpu_sets_text(&a->sets, in_a),
                  cpubind_cpu_sets_text(&b->sets, in_b)) == 0;
}

static void check_same(const cpubind_record *a, const cpubind_record *b)
{
    CHECK(a->pid == b->pid && a->start == b->start && strcmp(a->boot, b->boot) == 0);
    CHECK(a->npu == b->npu && a->memory_node == b->memory_node && a->how == b->how);
    CHECK(is_same_set(a, a->before, b, b->before) && is_same_set(a, a->main, b, b->main));
    CHECK(is_same_set(a, a->uvb, b, b->uvb));
    CHECK(a->n_rule == b->n_rule && a->n_thread == b->n_thread);
    CHECK(a->n_other == b->n_other && a->n_irq == b->n_irq);
    for (int32_t i = 0; i < a->n_rule; i++)
        CHECK(strcmp(a->rule[i].name, b->rule[i].name) == 0 &&
              is_same_set(a, a->rule[i].set, b, b->rule[i].set));
    for (int32_t i = 0; i < a->n_thread; i++)
        CHECK(a->thread[i].tid == b->thread[i].tid &&
              is_same_set(a, a->thread[i].before, b, b->thread[i].before));
    for (int32_t i = 0; i < a->n_irq; i++)
        CHECK(a->irq[i].irq == b->irq[i].irq && a->irq[i].cpu == b->irq[i].cpu &&
              a->irq[i].kind == b->irq[i].kind &&
              is_same_set(a, a->irq[i].before, b, b->irq[i].before));
    for (int32_t i = 0; i < a->n_other; i++)
        CHECK(a->other[i].tid == b->other[i].tid && a->other[i].start == b->other[i].start &&
              is_same_set(a, a->other[i].set, b, b->other[i].set));
}

static void check_round(const cpubind_record *state)
{
    cpubind_record back;
    int32_t len;
    char *text = written(state, &len);
    CHECK(cpubind_priv_record_parse(text, len, &table, &back, NULL) == CPUBIND_LINUX_OK);
    check_same(state, &back);
    cpubind_record_free(&back);
    free(text);
}

/* == Reading ================================================================ */

static cpubind_linux_status read_state(const char *text, int32_t len, cpubind_record *state)
{
    cpubind_linux_fault fault = {0, NULL};
    cpubind_linux_status status;
    memset(state, FUZZ_FILL, sizeof *state);
    n_call = 0;
    status = cpubind_priv_record_parse(text, len, &table, state, &fault);
    if (status == CPUBIND_LINUX_OK)
        return status;
    CHECK(fuzz_holds_only(state, sizeof *state, 0));
    CHECK(fault.what && fault.what[0]);
    CHECK(status == CPUBIND_LINUX_ERR_DAMAGED
              ? fault.error == EILSEQ
              : status == CPUBIND_LINUX_ERR_MEMORY && fault.error == ENOMEM);
    return status;
}

/* One of the allocations, chosen by the input; all of them would cost as many readings. */
static void check_without_memory(const char *text, int32_t len, int calls)
{
    cpubind_record state;
    unsigned sum = 0;
    for (int32_t i = 0; i < len; i++)
        sum = sum * 31 + (unsigned char)text[i];
    if (calls == 0)
        return;
    fail_at = 1 + (int)(sum % (unsigned)calls);
    CHECK(read_state(text, len, &state) == CPUBIND_LINUX_ERR_MEMORY);
    fail_at = 0;
}

static void check(const char *text, int32_t len)
{
    cpubind_record state;
    const cpubind_linux_status status = read_state(text, len, &state);
    const int calls = n_call;
    CHECK(status != CPUBIND_LINUX_ERR_MEMORY);
    if (status == CPUBIND_LINUX_OK) {
        check_state(&state);
        check_round(&state);
        cpubind_record_free(&state);
    }
    check_without_memory(text, len, calls);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check);
}
