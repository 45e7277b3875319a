/* fuzz_cpumask.c - fuzz target: parse and format CPU masks
 * SPDX-License-Identifier: MIT
 *
 * Checks the grammar of adapters/text/cpumask.h with code that shares nothing with cpumask.c.
 */
#include "../fuzz.h"

#include "../../adapters/text/cpumask.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_int_list list = fuzz_list_of(r);
    const cpubind_text_status status = cpubind_cpumask_parse(text, len, limit, &list, fault);
    r->array[0].n = list.n;
    return status;
}

/* A formatted mask can be parsed to the same list, and fits a buffer of its exact length. */
static void check_format(const int32_t *cpu, int32_t n, int32_t width)
{
    const int32_t need = (width + 31) / 32 * 9 - 1;
    int32_t *back = (int32_t *)fuzz_filled((size_t)n * sizeof *back, FUZZ_FILL);
    cpubind_int_list list = {back, n, -1};
    char *text = (char *)fuzz_filled((size_t)need, FUZZ_FILL);
    int32_t len = -1;
    CHECK(cpubind_cpumask_format(cpu, n, width, text, need - 1, &len) ==
          CPUBIND_TEXT_ERR_SPACE);
    CHECK(len == need && fuzz_holds_only(text, (size_t)need, FUZZ_FILL));
    CHECK(cpubind_cpumask_format(cpu, n, width, text, need, &len) == CPUBIND_TEXT_OK);
    CHECK(len == need);
    CHECK(cpubind_cpumask_parse(text, need, CPUBIND_MAX_CPUS, &list, NULL) == CPUBIND_TEXT_OK);
    CHECK(list.n == n && fuzz_same(cpu, back, (size_t)n * sizeof *back));
    if (n > 0 && cpu[n - 1] > 0)
        CHECK(cpubind_cpumask_format(cpu, n, cpu[n - 1], text, need, &len) ==
              CPUBIND_TEXT_ERR_RANGE);
    free(back);
    free(text);
}

/* The formatter accepts ascending numbers less than the width, and refuses any others. */
static void check_numbers(const uint8_t *data, size_t size)
{
    int32_t cpu[64] = {0};
    int32_t n = 0, len = -1, good = 1;
    cpubind_text_status status;
    char text[5000];
    for (; (size_t)n < size && n < 64; n++) {
        cpu[n] = (int32_t)data[n] - 16;
        good &= cpu[n] >= 0 && cpu[n] < 200 && (n == 0 || cpu[n - 1] < cpu[n]);
    }
    status = cpubind_cpumask_format(cpu, n, 200, text, (int32_t)sizeof text, &len);
    CHECK((status == CPUBIND_TEXT_OK) == good);
    CHECK(cpubind_cpumask_format(cpu, n, 0, NULL, 0, &len) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpumask_format(cpu, n, CPUBIND_MAX_CPUS + 1, NULL, 0, &len) ==
          CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpumask_format(cpu, n, 8, NULL, 0, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpumask_format(cpu, n, 8, NULL, 1, &len) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpumask_format(NULL, 1, 8, NULL, 0, &len) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpumask_format(cpu, -1, 8, NULL, 0, &len) == CPUBIND_TEXT_ERR_ARG);
}

/* The number of bits in the digits, counted one by one. */
static int32_t count_bits(const char *text, int32_t len)
{
    int32_t n = 0;
    for (int32_t i = 0; i < len && text[i] != '\n' && text[i] != '\0'; i++) {
        const char digit[2] = {text[i], '\0'};
        for (long bits = strtol(digit, NULL, 16); bits; bits >>= 1)
            n += (int32_t)(bits & 1);
    }
    return n;
}

static int is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Is the text a mask by the grammar of cpumask.h? Reads group by group. */
static int is_mask(const char *text, int32_t len)
{
    int32_t at = 0;
    for (int32_t group = 0;; group++) {
        const int32_t start = at;
        while (at < len && is_hex(text[at]))
            at++;
        if (at == start || at - start > 8 || (group > 0 && at - start != 8))
            return 0;
        if (at == len || text[at] != ',')
            break;
        at++;
    }
    if (at < len && text[at] == '\n')
        at++;
    while (at < len && text[at] == '\0')
        at++;
    return at == len;
}

static void check_limit(const char *text, int32_t len, int32_t limit)
{
    const fuzz_reader reader = {read, limit, 1, {sizeof(int32_t), 0}};
    fuzz_reading r;
    if (!fuzz_read(&reader, text, len, &r)) {
        CHECK(limit < CPUBIND_MAX_CPUS || len > CPUBIND_MAX_CPUS / 4 || !is_mask(text, len));
        return;
    }
    CHECK(is_mask(text, len));
    fuzz_check_list((const int32_t *)r.array[0].at, r.array[0].n, limit);
    CHECK(r.array[0].n == count_bits(text, len));
    check_format((const int32_t *)r.array[0].at, r.array[0].n, limit);
    fuzz_end(&r);
}

static void check_text(const char *text, int32_t len)
{
    cpubind_int_list list = {NULL, 0, 0};
    check_limit(text, len, CPUBIND_MAX_CPUS);
    check_limit(text, len, 100);
    check_numbers((const uint8_t *)text, (size_t)len);
    CHECK(cpubind_cpumask_parse(text, len, 0, &list, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpumask_parse(text, len, CPUBIND_MAX_CPUS + 1, &list, NULL) ==
          CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpumask_parse(text, len, 1, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
