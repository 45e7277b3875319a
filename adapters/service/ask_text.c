/* ask_text.c - read a request to the service
 * SPDX-License-Identifier: MIT
 *
 * Pure: works on (pointer, length).
 *
 *     request = ( "status" / "verify" / "reload" ) LF
 */
#include "../text/scan.h"
#include "ask.h"

static const char *const words[] = {
#define CPUBIND_X(name, word) word,
    CPUBIND_ASK_LIST(CPUBIND_X)
#undef CPUBIND_X
};

const char *cpubind_ask_word(cpubind_ask ask)
{
    return ask >= 0 && ask < CPUBIND_ASK_COUNT ? words[ask] : "?";
}

cpubind_text_status cpubind_ask_parse(const char *text, int32_t len, cpubind_ask *ask,
                                      cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    if (!scan_is_text(text, len) || !ask)
        return scan_fail_arg(fault);
    for (int32_t i = 0; i < CPUBIND_ASK_COUNT; i++) {
        const int32_t n = (int32_t)strlen(words[i]);
        if (len <= n && (len == 0 || memcmp(text, words[i], (size_t)len) == 0))
            return scan_fail(&in, CPUBIND_TEXT_ERR_CUT, len, "the request has no end");
        if (len <= n || memcmp(text, words[i], (size_t)n) != 0)
            continue;
        if (text[n] != '\n' || len != n + 1)
            return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, n + (text[n] == '\n'),
                             "a request is one word and a line feed");
        *ask = (cpubind_ask)i;
        return CPUBIND_TEXT_OK;
    }
    return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, 0, "there is no such request");
}
