/* fuzz_cpulist.c - fuzz target: parse and format CPU lists
 * SPDX-License-Identifier: MIT
 *
 * Compares the parser with cpulist_naive.h, and parses what the formatter writes. The grammar
 * is in adapters/text/cpulist.h.
 */
#include "../fuzz.h"

#include "../../adapters/text/cpulist.h"
#include "../cpulist_naive.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_int_list list = fuzz_list_of(r);
    const cpubind_text_status status = cpubind_cpulist_parse(text, len, limit, &list, fault);
    r->array[0].n = list.n;
    return status;
}

/* A formatted list can be parsed to the same list, and fits a buffer of its exact length. */
static void check_format(const int32_t *cpu, int32_t n)
{
    int32_t need = -1, len = -1;
    const cpubind_text_status asked = cpubind_cpulist_format(cpu, n, NULL, 0, &need);
    int32_t *back = (int32_t *)fuzz_filled((size_t)n * sizeof *back, FUZZ_FILL);
    cpubind_int_list list = {back, n, -1};
    char *text;
    CHECK(asked == (n > 0 ? CPUBIND_TEXT_ERR_SPACE : CPUBIND_TEXT_OK));
    CHECK(need >= 0 && need <= 6 * n);
    text = (char *)fuzz_filled((size_t)need, FUZZ_FILL);
    if (n > 0) {
        CHECK(cpubind_cpulist_format(cpu, n, text, need - 1, &len) == CPUBIND_TEXT_ERR_SPACE);
        CHECK(len == need && fuzz_holds_only(text, (size_t)need, FUZZ_FILL));
    }
    CHECK(cpubind_cpulist_format(cpu, n, text, need, &len) == CPUBIND_TEXT_OK && len == need);
    CHECK(cpubind_cpulist_parse(text, need, CPUBIND_MAX_CPUS, &list, NULL) == CPUBIND_TEXT_OK);
    CHECK(list.n == n && fuzz_same(cpu, back, (size_t)n * sizeof *back));
    free(back);
    free(text);
}

/* The formatter accepts ascending numbers inside the limits, and refuses any others. */
static void check_numbers(const uint8_t *data, size_t size)
{
    int32_t cpu[64] = {0};
    int32_t n = 0, len = -1, ascends = 1;
    cpubind_text_status status;
    for (; (size_t)n * 3 + 3 <= size && n < 64; n++) {
        const uint8_t *byte = data + (size_t)n * 3;
        cpu[n] = (int32_t)((uint32_t)byte[0] | (uint32_t)byte[1] << 8 |
                           (uint32_t)(byte[2] & 1) << 16) -
                 (byte[2] == 0xff);
        ascends &= n == 0 || cpu[n - 1] < cpu[n];
    }
    status = cpubind_cpulist_format(cpu, n, NULL, 0, &len);
    if (!ascends)
        CHECK(status == CPUBIND_TEXT_ERR_ORDER);
    else if (n > 0 && (cpu[0] < 0 || cpu[n - 1] >= CPUBIND_MAX_CPUS))
        CHECK(status == CPUBIND_TEXT_ERR_ARG);
    else
        check_format(cpu, n);
    CHECK(cpubind_cpulist_format(cpu, n, NULL, 0, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpulist_format(cpu, -1, NULL, 0, &len) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpulist_format(NULL, 1, NULL, 0, &len) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpulist_format(cpu, n, NULL, 1, &len) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpulist_format(cpu, CPUBIND_MAX_CPUS + 1, NULL, 0, &len) ==
          CPUBIND_TEXT_ERR_ARG);
}

static void check_limit(const char *text, int32_t len, int32_t limit)
{
    const fuzz_reader reader = {read, limit, 1, {sizeof(int32_t), 0}};
    int32_t *naive = (int32_t *)malloc((size_t)limit * sizeof *naive);
    int32_t naive_n;
    fuzz_reading r;
    if (!naive)
        abort();
    naive_n = cpulist_naive(text, (size_t)len, limit, naive);
    if (fuzz_read(&reader, text, len, &r)) {
        fuzz_check_list((const int32_t *)r.array[0].at, r.array[0].n, limit);
        CHECK(r.array[0].n == naive_n);
        CHECK(fuzz_same(r.array[0].at, naive, (size_t)naive_n * sizeof *naive));
        check_format((const int32_t *)r.array[0].at, r.array[0].n);
        fuzz_end(&r);
    } else {
        CHECK(naive_n == -1);
    }
    free(naive);
}

static void check_text(const char *text, int32_t len)
{
    cpubind_int_list list = {NULL, 0, 0};
    check_limit(text, len, CPUBIND_MAX_CPUS);
    check_limit(text, len, 64);
    check_limit(text, len, 1);
    check_numbers((const uint8_t *)text, (size_t)len);
    CHECK(cpubind_cpulist_parse(text, len, 0, &list, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpulist_parse(text, len, CPUBIND_MAX_CPUS + 1, &list, NULL) ==
          CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpulist_parse(text, len, 1, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
