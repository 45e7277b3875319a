/* fuzz_number.c - the one number of a small file of /sys
 * SPDX-License-Identifier: MIT
 */
#include "../fuzz.h"

#include "../../adapters/text/procfs.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    (void)limit;
    return cpubind_number_parse(text, len, &r->extra[0], fault);
}

/* The number by the C library, and as text again. */
static void check_value(const char *text, int32_t len, int32_t value)
{
    char copy[64], printed[16];
    int32_t again = -2, digits = 0;
    while (digits < len && digits < 63 && text[digits] != '\n' && text[digits] != '\0')
        digits++;
    memcpy(copy, text, (size_t)digits);
    copy[digits] = '\0';
    CHECK(value >= -1 && digits < 63);
    CHECK(strtoll(copy, NULL, copy[0] == '0' ? 16 : 10) == value);
    (void)snprintf(printed, sizeof printed, "%d\n", (int)value);
    CHECK(cpubind_number_parse(printed, (int32_t)strlen(printed), &again, NULL) ==
          CPUBIND_TEXT_OK);
    CHECK(again == value);
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 0, {0, 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        check_value(text, len, r.extra[0]);
        fuzz_end(&r);
    }
    CHECK(cpubind_number_parse(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
