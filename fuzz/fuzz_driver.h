/* fuzz_driver.h - laws of the tables of the Ascend driver
 * SPDX-License-Identifier: MIT
 *
 * A row of a reader must be a line of the text that has its ids as words.
 */
#ifndef CPUBIND_FUZZ_DRIVER_H
#define CPUBIND_FUZZ_DRIVER_H

#include "fuzz.h"

/* Whether a line holds this number as a word. */
static inline int fuzz_has_word(const char *line, int32_t len, int32_t number)
{
    char word[16];
    const int32_t n = (int32_t)snprintf(word, sizeof word, "%d", number);
    for (int32_t at = 0; at + n <= len; at++)
        if (memcmp(line + at, word, (size_t)n) == 0 &&
            (at == 0 || fuzz_is_blank(line[at - 1])) &&
            (at + n == len || fuzz_is_blank(line[at + n])))
            return 1;
    return 0;
}

/* The next line at *at or later that holds both numbers; *at moves after it. */
static inline int fuzz_find_row(const char *text, int32_t len, int32_t *at, int32_t a,
                                int32_t b)
{
    while (*at < len) {
        const char *line = text + *at;
        const char *feed = (const char *)memchr(line, '\n', (size_t)(len - *at));
        const int32_t n = feed ? (int32_t)(feed - line) : len - *at;
        *at += n + 1;
        if (fuzz_has_word(line, n, a) && fuzz_has_word(line, n, b))
            return 1;
    }
    return 0;
}

#endif /* CPUBIND_FUZZ_DRIVER_H */
