/* text.c - the names of the status codes, and line and column of a byte
 * SPDX-License-Identifier: MIT
 *
 * What all users of the text adapter share. Pure: no I/O, no malloc, no errno, no locale.
 */
#include "text.h"

#include <string.h>

cpubind_place cpubind_text_place(const char *text, int32_t len, int32_t offset)
{
    cpubind_place place = {1, 1};
    int32_t at = 0;

    if (!text || len <= 0 || offset <= 0)
        return place;
    if (offset > len)
        offset = len;
    while (at < offset) {
        const char *feed = (const char *)memchr(text + at, '\n', (size_t)(offset - at));
        if (!feed)
            break;
        at = (int32_t)(feed - text) + 1;
        place.line++;
    }
    place.column = offset - at + 1;
    return place;
}

const char *cpubind_text_status_name(cpubind_text_status status)
{
    switch (status) {
#define CPUBIND_X(name, value, text)                                                           \
    case CPUBIND_TEXT_##name:                                                                  \
        return #name;
        CPUBIND_TEXT_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
    default:
        return "?";
    }
}

const char *cpubind_text_status_text(cpubind_text_status status)
{
    switch (status) {
#define CPUBIND_X(name, value, text)                                                           \
    case CPUBIND_TEXT_##name:                                                                  \
        return text;
        CPUBIND_TEXT_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
    default:
        return "?";
    }
}
