/* said.h - a text that grows, for tests that compare what was made as a whole
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_SUPPORT_SAID_H
#define CPUBIND_TESTS_SUPPORT_SAID_H

#include <stdint.h>
#include <string.h>

#include "test.h"

enum { SAID_SIZE = 1 << 17 };

/* All zero: an empty text. */
typedef struct said {
    int32_t len;
    char text[SAID_SIZE];
} said;

static inline void say(said *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline void say(said *s, const char *format, ...)
{
    va_list arguments;
    int n;
    va_start(arguments, format);
    n = vsnprintf(s->text + s->len, (size_t)(SAID_SIZE - s->len), format, arguments);
    va_end(arguments);
    assert_in_range(n, 0, SAID_SIZE - s->len - 1);
    s->len += n;
}

/* "0-3,7"; "-" for none. */
static inline void say_list(said *s, const int32_t *number, int32_t n)
{
    if (n == 0)
        say(s, "-");
    for (int32_t i = 0; i < n; i++) {
        const int32_t first = number[i];
        say(s, "%s%d", i ? "," : "", first);
        while (i + 1 < n && number[i + 1] == number[i] + 1)
            i++;
        if (number[i] != first)
            say(s, "-%d", number[i]);
    }
}

#endif
