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
    (void)limit;
    return cpubind_status_parse(text, len, (int32_t *)r->array[0].at, r->array[0].cap,
                                &r->array[0].n, fault);
}

/* The list reader reads the same CPUs from the rest of the one line, found byte by byte. */
static void check_line(const char *text, int32_t len, const int32_t *cpu, int32_t n)
{
    static const char key[] = "Cpus_allowed_list:\t";
    const int32_t key_len = (int32_t)(sizeof key - 1);
    int32_t *again = (int32_t *)fuzz_filled((size_t)n * sizeof *again, FUZZ_FILL);
    int32_t found = 0, again_n = -1;
    for (int32_t at = 0; at + key_len <= len; at++) {
        int32_t end = at + key_len;
        if ((at > 0 && text[at - 1] != '\n') || memcmp(text + at, key, (size_t)key_len) != 0)
            continue;
        found++;
        while (end < len && text[end] != '\n')
            end++;
        CHECK(end < len);
        CHECK(cpubind_cpulist_parse(text + at + key_len, end - at - key_len, CPUBIND_MAX_CPUS,
                                    again, n, &again_n, NULL) == CPUBIND_TEXT_OK);
    }
    CHECK(found == 1 && again_n == n && fuzz_same(cpu, again, (size_t)n * sizeof *again));
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
    CHECK(cpubind_status_parse(text, len, NULL, 0, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
