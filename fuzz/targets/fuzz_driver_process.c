/* fuzz_driver_process.c - fuzz target: read the name of a folder of /proc/trs_core/proc
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in adapters/ascend/driver_files.c.
 */
#include "../fuzz.h"

#include "../../adapters/ascend/driver_files.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_driver_process process;
    memset(&process, FUZZ_FILL, sizeof process);
    const cpubind_text_status status = cpubind_driver_parse_process(text, len, &process, fault);
    (void)limit;
    if (status != CPUBIND_TEXT_OK) {
        CHECK(fuzz_holds_only(&process, sizeof process, FUZZ_FILL));
        return status;
    }
    r->extra[0] = process.pid;
    r->extra[1] = process.udevid;
    return status;
}

/* The name starts with the process and ends with the device, and has a task between them. */
static void check_name(const char *text, int32_t len, int32_t pid, int32_t udevid)
{
    char start[32], end[32];
    const int32_t n = (int32_t)snprintf(start, sizeof start, "%d-", pid);
    const int32_t m = (int32_t)snprintf(end, sizeof end, "-dev-%d", udevid);
    CHECK(pid >= 0 && udevid >= 0 && len > n + m);
    CHECK(memcmp(text, start, (size_t)n) == 0);
    CHECK(memcmp(text + len - m, end, (size_t)m) == 0);
    for (int32_t i = n + (text[n] == '-'); i < len - m; i++)
        CHECK(text[i] >= '0' && text[i] <= '9');
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 0, {0, 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        check_name(text, len, r.extra[0], r.extra[1]);
        fuzz_end(&r);
    }
    CHECK(cpubind_driver_parse_process(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
