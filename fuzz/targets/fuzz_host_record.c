/* fuzz_host_record.c - fuzz target: parse the text of the record of the host, and format it
 * SPDX-License-Identifier: MIT
 *
 * Parses the input as it is, and then with the right checksum if its last line begins with
 * "sum ": a fuzzer does not find a checksum. A refused text gives an empty record and the
 * number of a line. An accepted text keeps the promises of adapters/linux/bind/host_record.h,
 * and is formatted to the same bytes but for the version. A failing allocation fails the call.
 */
#include "../fuzz.h"

#include <errno.h>

#include "../../adapters/linux/bind/host_record.h"
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

static void check_entry(const cpubind_shared_entry *entry, const cpubind_cpu_sets *sets)
{
    const int has_set = entry->kind != CPUBIND_ITEM_IRQBALANCE;
    CHECK(entry->n_user > 0);
    CHECK(has_set ? entry->before >= 0 && entry->before < sets->n
                  : entry->before == CPUBIND_CPUSET_NONE);
    if (entry->kind == CPUBIND_ITEM_IRQ)
        CHECK(entry->number >= 0 && cpubind_irq_is_id(&entry->id));
    else if (entry->kind == CPUBIND_ITEM_WORKQUEUE)
        CHECK(*entry->id.name && !strchr(entry->id.name, '/'));
    else
        CHECK(entry->number > 0);
    for (int32_t i = 0; i < entry->n_user; i++) {
        const cpubind_shared_user *user = &entry->user[i];
        CHECK(user->pid > 0);
        CHECK(has_set ? user->set >= 0 && user->set < sets->n
                      : user->set == CPUBIND_CPUSET_NONE);
        CHECK(user->action <= CPUBIND_IRQBALANCE_STOP);
    }
}

/* The text that is written has another version at most: the first line is left out. */
static void check_round(const cpubind_shared_record *host, const cpubind_cpu_sets *sets,
                        const char *text, int32_t len)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    const char *a = memchr(text, '\n', (size_t)len), *b, *sum;
    CHECK(!cpubind_shared_format(host, sets, &table, &bytes).error);
    b = memchr(bytes.data, '\n', (size_t)bytes.len);
    CHECK(a && b && text + len - a == bytes.data + bytes.len - b);
    sum = text + len - strlen("sum 00000000\n");
    CHECK(memcmp(a, b, (size_t)(sum - a)) == 0); /* the sum covers the version */
    cpubind_bytes_free(&bytes);
}

/* Reads a text; *host must be freed when it is well. */
static cpubind_linux_fault read_text(const char *text, int32_t len, cpubind_cpu_sets *sets,
                                     cpubind_shared_record *host)
{
    cpubind_linux_fault why;
    memset(host, FUZZ_FILL, sizeof *host);
    memset(sets, 0, sizeof *sets);
    n_call = 0;
    why = cpubind_shared_parse(text, len, &table, sets, host);
    if (!why.error)
        return why;
    CHECK(fuzz_holds_only(host, sizeof *host, 0));
    CHECK(why.what && why.what[0]);
    CHECK(why.error == ENOMEM || (why.error == EILSEQ && why.line >= 1 && why.line <= len + 1));
    cpubind_cpu_sets_free(sets);
    return why;
}

/* Fails one allocation, which depends on the input: failing each one takes too long. */
static void check_without_memory(const char *text, int32_t len, int calls)
{
    cpubind_shared_record host;
    cpubind_cpu_sets sets;
    unsigned sum = 0;
    for (int32_t i = 0; i < len; i++)
        sum = sum * 31 + (unsigned char)text[i];
    if (calls == 0)
        return;
    fail_at = 1 + (int)(sum % (unsigned)calls);
    CHECK(read_text(text, len, &sets, &host).error == ENOMEM);
    fail_at = 0;
}

static void check_text(const char *text, int32_t len)
{
    cpubind_shared_record host;
    cpubind_cpu_sets sets;
    const cpubind_linux_fault why = read_text(text, len, &sets, &host);
    const int calls = n_call;
    CHECK(why.error != ENOMEM);
    if (!why.error) {
        for (int32_t i = 0; i < host.n_entry; i++) {
            check_entry(&host.entry[i], &sets);
            CHECK(i == 0 || cpubind_shared_compare(&host.entry[i - 1], &host.entry[i]) < 0);
            CHECK(cpubind_shared_find(&host, &host.entry[i]) == i);
        }
        check_round(&host, &sets, text, len);
        cpubind_shared_free(&host);
        cpubind_cpu_sets_free(&sets);
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
