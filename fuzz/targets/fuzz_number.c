/* fuzz_number.c - fuzz target: parse a file of /sys that holds one number
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in adapters/text/procfs.h, at cpubind_number_parse.
 */
#include "../fuzz.h"

#include "../../adapters/text/procfs.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    (void)limit;
    return cpubind_number_parse(text, len, &r->extra[0], fault);
}

/* strtoll gives the same number, and the number as text is parsed to the same number. */
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
