/* fuzz_record.c - fuzz target: parse the text of a record, and format it again
 * SPDX-License-Identifier: MIT
 *
 * Parses the input as it is, and then with the right checksum if its last line begins with
 * "sum ": a fuzzer does not find a checksum. A refused text gives an empty record and the
 * number of a line. An accepted text keeps the promises of adapters/linux/bind/record.h, and is
 * formatted to the same bytes, but for the JSON of form 1. A failing allocation fails the whole
 * call.
 */
#include "../fuzz.h"

#include <errno.h>

#include "../../adapters/linux/bind/host_record.h"
#include "../../adapters/linux/bind/record.h"
#include "../../adapters/linux/kernel/irq.h"
#include "../../cpubind.h"

static int n_call, fail_at; /* number of the allocation that fails; 0: none */

static void *t_malloc(size_t size)
{
    return ++n_call == fail_at ? NULL : malloc(size);
}

static void *t_realloc(void *old, size_t size)
{
    return ++n_call == fail_at ? NULL : realloc(old, size);
}

static const cpubind_sys table = {.malloc = t_malloc, .realloc = t_realloc};

/* == The record ========================================================== */

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
        CHECK(cpubind_record_find_thread(state->thread, state->n_thread, thread->tid) ==
              thread);
    }
}

static void check_irqs(const cpubind_record *state)
{
    for (int32_t i = 0; i < state->n_irq; i++) {
        const cpubind_record_irq *irq = &state->irq[i];
        CHECK(irq->irq >= 0 && cpubind_irq_is_id(&irq->id) == !state->host);
        CHECK(state->host || i == 0 || cpubind_irq_compare(&irq[-1].id, &irq->id) < 0);
        CHECK(irq->kind <= CPUBIND_IRQ_MAILBOX);
        CHECK(irq->cpu >= 0 && irq->cpu < CPUBIND_MAX_CPUS);
    }
}

static void check_state(const cpubind_record *state)
{
    CHECK(state->pid > 0 && state->device >= -1 && state->memory_node >= -1);
    CHECK(memchr(state->boot, '\0', sizeof state->boot) != NULL);
    check_sets(state);
    check_set(state, state->before);
    check_set(state, state->main);
    check_set_or_none(state, state->polling);
    for (int32_t i = 0; i < state->n_rule; i++) {
        CHECK(state->rule[i].name[0]);
        CHECK(memchr(state->rule[i].name, '\0', sizeof state->rule[i].name) != NULL);
        check_set_or_none(state, state->rule[i].set);
    }
    check_threads(state);
    check_irqs(state);
    for (int32_t i = 0; state->host && i < state->host->n_entry; i++) {
        const cpubind_shared_entry *entry = &state->host->entry[i];
        CHECK(entry->number >= 0 && entry->n_user == 1 && entry->user[0].pid == state->pid);
        check_set_or_none(state, entry->before);
        check_set_or_none(state, entry->user[0].set);
    }
}

/* == Formatting ============================================================= */

static char *written(const cpubind_record *state, int32_t *len)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    char *text;
    CHECK(!cpubind_record_format(state, &table, &bytes).error);
    *len = bytes.len;
    text = fuzz_text(bytes.data, (size_t)bytes.len);
    cpubind_bytes_free(&bytes);
    return text;
}

/* A record has one text only: two records are equal if their texts are. */
static void check_round(const cpubind_record *state, const char *text, int32_t len)
{
    int32_t len_again;
    char *again = written(state, &len_again);
    const char *version = memchr(text, '\n', (size_t)len);
    const char *own = memchr(again, '\n', (size_t)len_again);
    const int32_t n = len - (int32_t)(version - text) - (int32_t)strlen("sum 00000000\n");
    CHECK(len_again - (int32_t)(own - again) == len - (int32_t)(version - text));
    CHECK(fuzz_same(version, own, (size_t)n)); /* the sum covers the version */
    free(again);
}

/* == Reading ================================================================ */

static cpubind_linux_status read_state(const char *text, int32_t len, cpubind_record *state)
{
    cpubind_linux_fault fault;
    cpubind_linux_status status;
    memset(state, FUZZ_FILL, sizeof *state);
    n_call = 0;
    fault = cpubind_record_parse(text, len, &table, state);
    status = cpubind_record_status(fault);
    if (status == CPUBIND_LINUX_OK)
        return status;
    CHECK(fuzz_holds_only(state, sizeof *state, 0));
    CHECK(fault.what && fault.what[0]);
    CHECK(status == CPUBIND_LINUX_ERR_DAMAGED
              ? fault.error == EILSEQ && fault.line >= 1 && fault.line <= len + 1
              : status == CPUBIND_LINUX_ERR_MEMORY && fault.error == ENOMEM);
    return status;
}

/* Fails one allocation, which depends on the input: failing each one takes too long. */
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

static void check_text(const char *text, int32_t len)
{
    cpubind_record state;
    const cpubind_linux_status status = read_state(text, len, &state);
    const int calls = n_call;
    CHECK(status != CPUBIND_LINUX_ERR_MEMORY);
    if (status == CPUBIND_LINUX_OK) {
        check_state(&state);
        if (!state.host) /* form 1 is not written any more */
            check_round(&state, text, len);
        cpubind_record_free(&state);
    }
    check_without_memory(text, len, calls);
}

static uint32_t crc32_of(const char *text, int32_t len)
{
    uint32_t crc = 0xffffffffu;
    for (int32_t i = 0; i < len; i++) {
        crc ^= (unsigned char)text[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

static void check(const char *text, int32_t len)
{
    int32_t start = len > 0 ? len - 1 : 0;
    char *sealed;
    check_text(text, len);
    while (start > 0 && text[start - 1] != '\n')
        start--;
    if (len - start < 4 || memcmp(text + start, "sum ", 4) != 0)
        return;
    sealed = (char *)fuzz_filled((size_t)start + 14, 0);
    memcpy(sealed, text, (size_t)start);
    (void)snprintf(sealed + start, 14, "sum %08lx\n", (unsigned long)crc32_of(text, start));
    text = fuzz_text(sealed, (size_t)start + 13);
    check_text(text, start + 13);
    free(sealed);
    free((void *)text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check);
}
