/* fuzz_numa_maps.c - fuzz target: add up the bytes of each node in /proc/<pid>/numa_maps
 * SPDX-License-Identifier: MIT
 *
 * Compares adapters/text/numa_maps.c with a second, obvious sum. The format is in numa_maps.h.
 */
#include "../fuzz.h"

#include "../../adapters/text/numa_maps.h"

enum { N_NODE = 9 };

/* An array of sums, of the exact size, each with the value `start`. */
static int64_t *sums_of(int64_t start)
{
    int64_t *sums = (int64_t *)fuzz_filled(N_NODE * sizeof *sums, FUZZ_FILL);
    for (int i = 0; i < N_NODE; i++)
        sums[i] = start;
    return sums;
}

/* The number in the word "KEYnumber" of a line, or -1 without such a word. The reader accepted
 * the line, so the rest of the word is digits. */
static int64_t value_of(const char *line, int32_t len, const char *key)
{
    const int32_t n = (int32_t)strlen(key);
    for (int32_t at = 1; at + n < len; at++) {
        int64_t value = 0;
        if (line[at - 1] != ' ' || memcmp(line + at, key, (size_t)n) != 0)
            continue;
        for (int32_t i = at + n; i < len && line[i] != ' '; i++)
            value = value * 10 + (line[i] - '0');
        return value;
    }
    return -1;
}

static int has_word(const char *line, int32_t len, const char *word)
{
    const int32_t n = (int32_t)strlen(word);
    for (int32_t at = 1; at + n <= len; at++)
        if (line[at - 1] == ' ' && memcmp(line + at, word, (size_t)n) == 0 &&
            (at + n == len || line[at + n] == ' '))
            return 1;
    return 0;
}

/* The same sums, line by line and node by node, in double for its range. */
static void check_sums(const char *text, int32_t len, int32_t page_kb, const int64_t *sums)
{
    double expected[N_NODE] = {0};
    for (int32_t at = 0, end; at < len; at = end + 1) {
        for (end = at; text[end] != '\n'; end++)
            continue;
        const int32_t n = end - at;
        const int64_t said = value_of(text + at, n, "kernelpagesize_kB=");
        double kb = said < 0 ? page_kb : (double)said;
        if (said < 0 && has_word(text + at, n, "huge"))
            kb = (double)page_kb * page_kb * 128;
        for (int node = 0; node < N_NODE; node++) {
            const char key[] = {'N', (char)('0' + node), '=', '\0'};
            const int64_t pages = value_of(text + at, n, key);
            expected[node] += pages < 0 ? 0 : (double)pages * kb * 1024;
        }
    }
    for (int node = 0; node < N_NODE; node++) {
        const double off = (double)sums[node] - expected[node];
        if (expected[node] > 9e18)
            CHECK(sums[node] > (int64_t)8e18);
        else if (expected[node] > 9e15)
            CHECK(off < expected[node] / 1e6 && -off < expected[node] / 1e6);
        else
            CHECK(off == 0);
    }
}

/* A text that is read in two blocks, split after any line, gives the same sums. */
static void check_blocks(const char *text, int32_t len, int32_t page_kb, const int64_t *sums)
{
    for (int32_t at = 0, n = 0; at < len && n < 8; at++) {
        int64_t *again;
        char *first, *rest;
        if (text[at] != '\n')
            continue;
        n++;
        again = sums_of(0);
        first = fuzz_text(text, (size_t)at + 1);
        rest = fuzz_text(text + at + 1, (size_t)(len - at - 1));
        CHECK(cpubind_numa_maps_add(first, at + 1, page_kb, again, N_NODE, NULL) ==
              CPUBIND_TEXT_OK);
        CHECK(cpubind_numa_maps_add(rest, len - at - 1, page_kb, again, N_NODE, NULL) ==
              CPUBIND_TEXT_OK);
        CHECK(fuzz_same(sums, again, N_NODE * sizeof *sums));
        free(first);
        free(rest);
        free(again);
    }
}

/* The lines, one by one, give the same sums. */
static void check_each_line(const char *text, int32_t len, int32_t page_kb, const int64_t *sums)
{
    double home = 0, total = 0, expected = 0;
    for (int32_t at = 0; at < len;) {
        cpubind_numa_line line;
        CHECK(cpubind_numa_maps_line_parse(text + at, len - at, page_kb, 1, &line, NULL) ==
              CPUBIND_TEXT_OK);
        CHECK(line.len > 0 && text[at + line.len - 1] == '\n' && line.mapmax >= 0);
        CHECK(line.home >= 0 && line.home <= line.total && line.page_bytes > 0);
        CHECK(line.is_huge == has_word(text + at, line.len - 1, "huge"));
        CHECK(line.start == strtoull(text + at, NULL, 16));
        home += (double)line.home;
        total += (double)line.total;
        at += line.len;
    }
    for (int node = 0; node < N_NODE; node++)
        expected += (double)sums[node];
    if (home < 9e15)
        CHECK((double)sums[1] == home);
    if (total < 9e15)
        CHECK(total == expected);
}

static void check_size(const char *text, int32_t len, int32_t page_kb)
{
    int64_t *sums = sums_of(0), *full = sums_of(INT64_MAX);
    cpubind_text_fault fault = {-7, NULL};
    const cpubind_text_status status =
        cpubind_numa_maps_add(text, len, page_kb, sums, N_NODE, &fault);
    CHECK(status != CPUBIND_TEXT_ERR_ARG && status != CPUBIND_TEXT_ERR_SPACE);
    CHECK(cpubind_numa_maps_add(text, len, page_kb, full, N_NODE, NULL) == status);
    for (int node = 0; node < N_NODE; node++) {
        CHECK(full[node] == INT64_MAX);
        CHECK(status == CPUBIND_TEXT_OK ? sums[node] >= 0 : sums[node] == 0);
    }
    if (status == CPUBIND_TEXT_OK) {
        CHECK(fault.offset == -7 && !fault.what);
        CHECK(len == 0 || text[len - 1] == '\n');
        check_sums(text, len, page_kb, sums);
        check_blocks(text, len, page_kb, sums);
        check_each_line(text, len, page_kb, sums);
    } else {
        fuzz_check_fault(&fault, len);
    }
    free(sums);
    free(full);
}

static void check_text(const char *text, int32_t len)
{
    int64_t *sums = sums_of(0);
    check_size(text, len, 4);
    check_size(text, len, 64);
    CHECK(cpubind_numa_maps_add(text, len, 0, sums, N_NODE, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_numa_maps_add(text, len, 4, sums, 0, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_numa_maps_add(text, len, 4, NULL, N_NODE, NULL) == CPUBIND_TEXT_ERR_ARG);
    free(sums);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
