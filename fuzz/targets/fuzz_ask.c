/* fuzz_ask.c - fuzz target: read a request to the service
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in adapters/service/ask_text.c. A request that is read is written as the same
 * bytes; its beginnings are cut; what is cut becomes no error before its end.
 */
#include "../fuzz.h"

#include "../../adapters/service/ask.h"

/* Every beginning of a request is cut. */
static void check_beginnings(const char *text, int32_t len)
{
    for (int32_t n = 0; n < len; n++) {
        cpubind_asked asked = {.ask = CPUBIND_ASK_COUNT};
        CHECK(cpubind_ask_parse(text, n, &asked, NULL) == CPUBIND_TEXT_ERR_CUT);
        CHECK(asked.ask == CPUBIND_ASK_COUNT);
    }
}

static void check_text(const char *text, int32_t len)
{
    cpubind_asked asked = {.ask = (cpubind_ask)FUZZ_FILL, .pid = FUZZ_FILL, .start = FUZZ_FILL};
    cpubind_text_fault fault = {-7, NULL};
    char line[CPUBIND_ASK_MAX];
    const cpubind_text_status status = cpubind_ask_parse(text, len, &asked, &fault);
    if (status == CPUBIND_TEXT_OK) {
        CHECK(asked.ask >= 0 && asked.ask < CPUBIND_ASK_COUNT && asked.pid >= 0);
        CHECK(cpubind_ask_format(&asked, line) == len && len < CPUBIND_ASK_MAX);
        CHECK(fuzz_same(line, text, (size_t)len));
        check_beginnings(text, len);
        return;
    }
    CHECK(status == CPUBIND_TEXT_ERR_CUT || status == CPUBIND_TEXT_ERR_SYNTAX);
    fuzz_check_fault(&fault, len);
    CHECK(status != CPUBIND_TEXT_ERR_CUT || (fault.offset == len && len < CPUBIND_ASK_MAX));
    CHECK(asked.ask == (cpubind_ask)FUZZ_FILL && asked.pid == FUZZ_FILL);
    CHECK(asked.start == FUZZ_FILL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
