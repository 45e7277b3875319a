/* fuzz_driver_mailbox.c - fuzz target: read the name of the handler of a mailbox interrupt
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in adapters/ascend/driver_files.c.
 */
#include "../fuzz.h"

#include "../../adapters/ascend/driver_files.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    int32_t udevid = FUZZ_FILL;
    const cpubind_text_status status = cpubind_driver_parse_mailbox(text, len, &udevid, fault);
    (void)limit;
    if (status == CPUBIND_TEXT_OK)
        r->extra[0] = udevid;
    else
        CHECK(udevid == FUZZ_FILL);
    return status;
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 0, {0, 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        char start[32];
        const int32_t n = (int32_t)snprintf(start, sizeof start, "trs-mbox-%d-", r.extra[0]);
        CHECK(r.extra[0] >= 0 && len >= n && memcmp(text, start, (size_t)n) == 0);
        fuzz_end(&r);
    }
    CHECK(cpubind_driver_parse_mailbox(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
