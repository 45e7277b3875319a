/* text.c - the names of the status codes, and line and column of a byte
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc, no errno, no locale. It must not know any format.
 */
#include "text.h"

#include <string.h>

cpubind_position cpubind_text_place(const char *text, int32_t len, int32_t offset)
{
    cpubind_position place = {1, 1};
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

static const struct status {
    cpubind_text_status code;
    const char *name, *text;
} statuses[] = {
#define CPUBIND_X(name, value, text) {CPUBIND_TEXT_##name, #name, text},
    CPUBIND_TEXT_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
};

/* The row of a code; a row of "?" for a number that is no code. */
static const struct status *find_status(cpubind_text_status code)
{
    static const struct status none = {CPUBIND_TEXT_OK, "?", "?"};

    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (statuses[i].code == code)
            return &statuses[i];
    return &none;
}

const char *cpubind_text_status_name(cpubind_text_status status)
{
    return find_status(status)->name;
}

const char *cpubind_text_status_text(cpubind_text_status status)
{
    return find_status(status)->text;
}
