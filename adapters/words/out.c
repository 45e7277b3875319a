/* out.c - a text of any length
 * SPDX-License-Identifier: MIT
 */
#include "out.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE ((size_t)4096)

/* Makes room for `n` more bytes and a NUL. Returns 0 without memory. */
static int make_room(api_out *to, size_t n)
{
    size_t size = to->size ? to->size : FIRST_SIZE;
    char *text;
    if (to->size - to->len > n)
        return 1;
    while (size - to->len <= n)
        size *= 2;
    text = (char *)realloc(to->text, size);
    if (!text) {
        to->is_short = 1;
        return 0;
    }
    to->text = text;
    to->size = size;
    return 1;
}

void api_put_bytes(api_out *to, const char *bytes, size_t n)
{
    if (!make_room(to, n))
        return;
    memcpy(to->text + to->len, bytes, n);
    to->len += n;
    to->text[to->len] = '\0';
}

void api_put_text(api_out *to, const char *text)
{
    api_put_bytes(to, text, strlen(text));
}

void api_put(api_out *to, const char *format, ...)
{
    va_list arguments, again;
    int n;
    va_start(arguments, format);
    va_copy(again, arguments);
    n = vsnprintf(NULL, 0, format, arguments);
    if (n >= 0 && make_room(to, (size_t)n)) {
        (void)vsnprintf(to->text + to->len, (size_t)n + 1, format, again);
        to->len += (size_t)n;
    }
    va_end(again);
    va_end(arguments);
}

void api_put_wrapped(api_out *to, const char *text, int32_t at, int32_t indent, int32_t columns)
{
    const int32_t least = indent + 8;
    columns = columns < least ? least : columns;
    while (*text) {
        const size_t room = at < columns ? (size_t)(columns - at) : 0;
        size_t n = strlen(text), next;
        if (n > room) {
            n = room;
            while (n > 0 && text[n] != ' ' && text[n - 1] != ',')
                n--;
            if (n == 0 && at <= indent) /* a word that is longer than a line */
                n = room;
        }
        next = n + strspn(text + n, " ");
        api_put_bytes(to, text, n);
        text += next;
        at = indent;
        if (*text)
            api_put(to, "\n%*s", (int)indent, "");
    }
    api_put_bytes(to, "\n", 1);
}
