/* fuzz_driver_number.c - fuzz target: read the major and minor number of a device node
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in adapters/ascend/driver_files.c.
 */
#include "../fuzz.h"

#include "../../adapters/ascend/driver_files.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_driver_number number;
    memset(&number, FUZZ_FILL, sizeof number);
    const cpubind_text_status status = cpubind_driver_parse_number(text, len, &number, fault);
    (void)limit;
    if (status != CPUBIND_TEXT_OK) {
        CHECK(fuzz_holds_only(&number, sizeof number, FUZZ_FILL));
        return status;
    }
    r->extra[0] = number.major;
    r->extra[1] = number.minor;
    return status;
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 0, {0, 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        char start[32];
        int32_t n = (int32_t)snprintf(start, sizeof start, "%d:%d", r.extra[0], r.extra[1]);
        CHECK(r.extra[0] >= 0 && r.extra[1] >= 0);
        CHECK(len >= n && memcmp(text, start, (size_t)n) == 0);
        n += n < len && text[n] == '\n';
        for (; n < len; n++)
            CHECK(text[n] == '\0');
        fuzz_end(&r);
    }
    CHECK(cpubind_driver_parse_number(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
