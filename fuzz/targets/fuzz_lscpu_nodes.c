/* fuzz_lscpu_nodes.c - fuzz target: parse `lscpu -e`
 * SPDX-License-Identifier: MIT
 *
 * The format is in adapters/text/lscpu.h.
 */
#include "../fuzz.h"

#include "../../adapters/text/lscpu.h"

/* The reader has four arrays of one length; array[0] holds them one after the other. */
static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    int32_t *cpu = (int32_t *)r->array[0].at;
    const int32_t cap = r->array[0].cap;
    const int32_t step = cpu && cap > 0 ? cap : 0;
    cpubind_lscpu_nodes rows = {.cpu = cpu, .cap = cap, .n = r->array[0].n};
    rows.node = cpu ? cpu + step : NULL;
    rows.core = cpu ? cpu + 2 * step : NULL;
    rows.socket = cpu ? cpu + 3 * step : NULL;
    const cpubind_text_status status = cpubind_lscpu_parse_nodes(text, len, &rows, fault);
    (void)limit;
    r->array[0].n = rows.n;
    return status;
}

static int32_t count_lines(const char *text, int32_t len)
{
    int32_t n = len > 0 && text[len - 1] != '\n';
    for (int32_t i = 0; i < len; i++)
        n += text[i] == '\n';
    return n;
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 1, {4 * sizeof(int32_t), 0}};
    int32_t one = 0;
    cpubind_lscpu_nodes no_node = {.cpu = &one, .cap = 1};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        const int32_t *cpu = (const int32_t *)r.array[0].at;
        const int32_t n = r.array[0].n;
        fuzz_check_list(cpu, n, CPUBIND_MAX_CPUS);
        CHECK(n >= 1 && n == count_lines(text, len) - 1);
        for (int32_t i = 0; i < 3 * n; i++)
            CHECK(cpu[n + i] >= -1 && cpu[n + i] < CPUBIND_MAX_CPUS);
        fuzz_end(&r);
    }
    CHECK(cpubind_lscpu_parse_nodes(text, len, &no_node, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_lscpu_parse_nodes(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
