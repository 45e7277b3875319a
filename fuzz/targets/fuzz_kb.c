/* fuzz_kb.c - fuzz target: find a value in kB of a node's meminfo or of /proc/<pid>/status
 * SPDX-License-Identifier: MIT
 *
 * The first line of the input is the name of the value; the rest is the content of the file.
 * Compares adapters/text/numa_maps.c with a plain reader of each line. The format is in
 * numa_maps.h.
 */
#include "../fuzz.h"

#include "../../adapters/text/numa_maps.h"

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The first byte after the word that starts at or after `at`. */
static int32_t word_end(const char *text, int32_t at, int32_t end, int32_t *start)
{
    while (at < end && is_blank(text[at]))
        at++;
    *start = at;
    while (at < end && !is_blank(text[at]))
        at++;
    return at;
}

/* The first byte of the line after its key, if this is `name` with a colon; else -1. */
static int32_t after_key(const char *text, int32_t at, int32_t end, const char *name)
{
    const int32_t n = (int32_t)strlen(name);
    int32_t start, stop = word_end(text, at, end, &start);
    if (stop - start == 4 && memcmp(text + start, "Node", 4) == 0) {
        stop = word_end(text, stop, end, &start);
        stop = word_end(text, stop, end, &start);
    }
    return stop - start == n + 1 && memcmp(text + start, name, (size_t)n) == 0 &&
                   text[stop - 1] == ':'
               ? stop
               : -1;
}

static void check_kb(const char *text, int32_t len, const char *name)
{
    cpubind_text_fault fault = {-7, NULL};
    int64_t value = -7;
    int32_t found = -1, start;
    const cpubind_text_status status = cpubind_kb_find(text, len, name, &value, &fault);
    CHECK(status != CPUBIND_TEXT_ERR_SPACE && status != CPUBIND_TEXT_ERR_ORDER);
    CHECK(cpubind_kb_find(text, len, name, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
    if (name[0] == '\0') {
        CHECK(status == CPUBIND_TEXT_ERR_ARG && value == -7);
        return;
    }
    for (int32_t at = 0, end; found < 0 && at < len; at = end + 1) {
        for (end = at; end < len && text[end] != '\n'; end++)
            continue;
        found = after_key(text, at, end, name);
    }
    CHECK((status == CPUBIND_TEXT_ERR_MISSING) == (found < 0));
    if (status == CPUBIND_TEXT_OK) {
        char digits[32];
        const int n = snprintf(digits, sizeof digits, "%lld", (long long)value);
        const int32_t end = word_end(text, found, len, &start);
        CHECK(fault.offset == -7 && !fault.what && value >= 0);
        CHECK(end - start >= n && memcmp(text + start, digits, (size_t)n) == 0);
    } else {
        CHECK(value == -7);
        fuzz_check_fault(&fault, len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_named_input(data, size, check_kb);
}
