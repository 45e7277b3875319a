/* fuzz_status.c - fuzz target: read the allowed CPUs from /proc/<pid>/status
 * SPDX-License-Identifier: MIT
 *
 * The format is in adapters/text/procfs.h and in proc_pid_status(5).
 */
#include "../fuzz.h"

#include "../../adapters/text/cpulist.h"
#include "../../adapters/text/procfs.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_int_list list = fuzz_list_of(r);
    const cpubind_text_status status = cpubind_status_parse(text, len, &list, fault);
    (void)limit;
    r->array[0].n = list.n;
    return status;
}

/* The list reader reads the same CPUs from the rest of the one line, found byte by byte. */
static void check_line(const char *text, int32_t len, const int32_t *cpu, int32_t n)
{
    static const char key[] = "Cpus_allowed_list:\t";
    const int32_t key_len = (int32_t)(sizeof key - 1);
    int32_t *again = (int32_t *)fuzz_filled((size_t)n * sizeof *again, FUZZ_FILL);
    cpubind_int_list list = {again, n, -1};
    int32_t found = 0;
    for (int32_t at = 0; at + key_len <= len; at++) {
        int32_t end = at + key_len;
        if ((at > 0 && text[at - 1] != '\n') || memcmp(text + at, key, (size_t)key_len) != 0)
            continue;
        found++;
        while (end < len && text[end] != '\n')
            end++;
        CHECK(end < len);
        CHECK(cpubind_cpulist_parse(text + at + key_len, end - at - key_len, CPUBIND_MAX_CPUS,
                                    &list, NULL) == CPUBIND_TEXT_OK);
    }
    CHECK(found == 1 && list.n == n && fuzz_same(cpu, again, (size_t)n * sizeof *again));
    free(again);
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 1, {sizeof(int32_t), 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        fuzz_check_list((const int32_t *)r.array[0].at, r.array[0].n, CPUBIND_MAX_CPUS);
        check_line(text, len, (const int32_t *)r.array[0].at, r.array[0].n);
        fuzz_end(&r);
    }
    CHECK(cpubind_status_parse(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
