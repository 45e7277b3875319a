/* fuzz_ask.c - fuzz target: read a request to the service
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in adapters/service/ask_text.c. A request is exactly one of the words and a
 * line feed; a beginning of one is cut, and nothing else is.
 */
#include "../fuzz.h"

#include "../../adapters/service/ask.h"

static void check_text(const char *text, int32_t len)
{
    cpubind_ask ask = (cpubind_ask)FUZZ_FILL;
    cpubind_text_fault fault = {-7, NULL};
    const cpubind_text_status status = cpubind_ask_parse(text, len, &ask, &fault);
    int is_request = 0, is_beginning = 0;
    for (int32_t i = 0; i < CPUBIND_ASK_COUNT; i++) {
        char line[CPUBIND_ASK_MAX];
        const int32_t n = snprintf(line, sizeof line, "%s\n", cpubind_ask_word((cpubind_ask)i));
        CHECK(n > 1 && n < CPUBIND_ASK_MAX);
        if (len == n && memcmp(text, line, (size_t)n) == 0) {
            is_request = 1;
            CHECK(status == CPUBIND_TEXT_OK && ask == (cpubind_ask)i);
        }
        is_beginning |= len < n && fuzz_same(text, line, (size_t)len);
    }
    CHECK((status == CPUBIND_TEXT_OK) == is_request);
    CHECK((status == CPUBIND_TEXT_ERR_CUT) == is_beginning);
    if (status == CPUBIND_TEXT_OK)
        return;
    fuzz_check_fault(&fault, len);
    CHECK(ask == (cpubind_ask)FUZZ_FILL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
