/* fuzz_host_file.c - fuzz target: decode a host, write it and decode it again
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in adapters/text/host_file.h. An input that lacks the first line gets it.
 */
#include "../fuzz.h"

#include "../../adapters/text/host_file.h"

enum { MAX_FILES = 4096 };

static const char head[] = "cpubind host 1\n";

/* Decodes a text in place; returns its files, or -1. */
static int32_t decode(char *text, int32_t len, cpubind_host_part *part)
{
    cpubind_host_entry entry = {{0, 0}, {0, 0}};
    cpubind_text_fault fault = {-7, NULL};
    for (int32_t at = 0, n = 0;; n++) {
        const int32_t before = at;
        const cpubind_text_status status =
            cpubind_host_file_next(text, len, &at, &entry, &fault);
        if (status != CPUBIND_TEXT_OK) {
            fuzz_check_fault(&fault, len);
            CHECK(at == before && fault.offset >= before);
            return -1;
        }
        CHECK(fault.offset == -7 && at > before && at <= len);
        if (entry.name.len == 0) {
            CHECK(at == len);
            return n;
        }
        CHECK(entry.data.at >= 0 && entry.data.len >= 0 &&
              entry.data.at <= at - entry.data.len);
        CHECK(text[entry.name.at + entry.name.len] == '\0');
        if (n == MAX_FILES)
            return -1;
        part[n] =
            (cpubind_host_part){text + entry.name.at, text + entry.data.at, entry.data.len};
        CHECK(cpubind_input_is_name(part[n].name) && part[n].name[0] != '/');
        CHECK(n == 0 || cpubind_host_file_order(part[n - 1].name, part[n].name) < 0);
    }
}

/* What was decoded is written, and decodes to the same. */
static void check_again(const cpubind_host_part *part, int32_t n)
{
    static cpubind_host_part again[MAX_FILES];
    const int32_t len = (int32_t)cpubind_host_file_write(part, n, NULL);
    char *text = (char *)fuzz_filled((size_t)len, FUZZ_FILL);
    CHECK(cpubind_host_file_write(part, n, text) == len);
    for (int32_t i = 0; i < len; i++)
        CHECK((unsigned char)text[i] >= ' ' || text[i] == '\n' || text[i] == '\t');
    CHECK(decode(text, len, again) == n);
    for (int32_t i = 0; i < n; i++)
        CHECK(strcmp(part[i].name, again[i].name) == 0 && part[i].len == again[i].len &&
              memcmp(part[i].data, again[i].data, (size_t)part[i].len) == 0);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static cpubind_host_part part[MAX_FILES];
    const size_t n_head = size > 0 && memcmp(data, head, 1) == 0 ? 0 : sizeof head - 1;
    char *text;
    int32_t n;
    if (size > FUZZ_MAX_TEXT)
        return 0;
    text = (char *)fuzz_filled(n_head + size, FUZZ_FILL);
    memcpy(text, head, n_head);
    if (size > 0)
        memcpy(text + n_head, data, size);
    n = decode(text, (int32_t)(n_head + size), part);
    if (n >= 0)
        check_again(part, n);
    free(text);
    return 0;
}
