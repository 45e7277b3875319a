/* fuzz_maps.c - fuzz target: lines of /proc/<pid>/maps and smaps, entries of pagemap
 * SPDX-License-Identifier: MIT
 *
 * Compares adapters/text/maps.c with a second, obvious reading. The format is in maps.c. The
 * input is read as lines, and as entries too.
 */
#include "../fuzz.h"

#include "../../adapters/text/maps.h"

/* An address as maps prints it is found again at the start of the line. */
static void check_range(const char *text, const cpubind_maps_line *line)
{
    char *end;
    const unsigned long long start = strtoull(text, &end, 16);
    CHECK(line->start < line->end && start == line->start && *end == '-');
    CHECK(strtoull(end + 1, &end, 16) == line->end && *end == ' ');
}

/* Whether the words after the key are two letters each, and one of them is "lo". */
static void check_flags(const char *text, const cpubind_maps_line *line)
{
    int is_locked = 0;
    CHECK(memcmp(text, "VmFlags:", 8) == 0);
    for (int32_t at = 8; at + 2 < line->len; at++)
        is_locked |= memcmp(text + at, " lo", 3) == 0;
    CHECK(line->is_locked == is_locked);
}

static void check_lines(const char *text, int32_t len)
{
    for (int32_t at = 0; at < len;) {
        cpubind_text_fault fault = {-7, NULL};
        cpubind_maps_line line = {CPUBIND_MAPS_OTHER, 7, 7, 7, 7};
        const cpubind_text_status status =
            cpubind_maps_line_parse(text + at, len - at, &line, &fault);
        CHECK(status != CPUBIND_TEXT_ERR_ARG && status != CPUBIND_TEXT_ERR_SPACE);
        CHECK(cpubind_maps_line_parse(text + at, len - at, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
        if (status != CPUBIND_TEXT_OK) {
            CHECK(line.start == 7 && line.end == 7 && line.is_locked == 7 && line.len == 7);
            fuzz_check_fault(&fault, len - at);
            return;
        }
        CHECK(fault.offset == -7 && !fault.what);
        CHECK(line.len > 0 && line.len <= len - at && text[at + line.len - 1] == '\n');
        CHECK(!memchr(text + at, '\n', (size_t)line.len - 1));
        if (line.kind == CPUBIND_MAPS_RANGE)
            check_range(text + at, &line);
        else if (line.kind == CPUBIND_MAPS_FLAGS)
            check_flags(text + at, &line);
        at += line.len;
    }
}

static void check_entries(const char *data, int32_t len)
{
    const int32_t n = len / CPUBIND_PAGEMAP_ENTRY;
    int32_t n_there = 0;
    uint64_t first = 0;
    for (int32_t i = 0; i < n; i++) {
        const cpubind_page page = cpubind_pagemap_entry(data, i);
        CHECK(page.is_present == 0 || page.is_present == 1);
        CHECK(page.is_present || (!page.is_own && !page.frame));
        if (i == 0)
            first = page.frame;
        n_there += page.is_present && page.frame == (first ? first + (uint64_t)i : 0);
    }
    if (n > 0)
        CHECK(cpubind_pagemap_may_be_huge(data, 0, n) ==
              (n_there == n && first % (uint64_t)n == 0));
}

static void check_text(const char *text, int32_t len)
{
    check_lines(text, len);
    check_entries(text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
