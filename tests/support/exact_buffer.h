/* exact_buffer.h - buffers of an exact size, for tests
 * SPDX-License-Identifier: MIT
 *
 * Each buffer is an allocation of the exact size, filled with a pattern: AddressSanitizer finds
 * an access past its end, and a test finds an element that was written by mistake.
 */
#ifndef CPUBIND_TESTS_SUPPORT_EXACT_BUFFER_H
#define CPUBIND_TESTS_SUPPORT_EXACT_BUFFER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EDGE_FILL 0x5a

/* `n` elements filled with the pattern; never NULL, also for n == 0. */
static inline int32_t *edge_ints(int32_t n)
{
    size_t bytes = (size_t)n * sizeof(int32_t);
    int32_t *p = (int32_t *)malloc(bytes ? bytes : 1);
    if (!p)
        abort();
    memset(p, EDGE_FILL, bytes);
    return p;
}

/* A copy of `len` bytes without a NUL after it. */
static inline char *edge_text(const char *text, int32_t len)
{
    char *p = (char *)malloc(len ? (size_t)len : 1);
    if (!p)
        abort();
    memcpy(p, text, (size_t)len);
    return p;
}

/* Whether element i still holds the pattern. */
static inline int edge_untouched(const int32_t *p, int32_t i)
{
    return p[i] == (int32_t)0x5a5a5a5a;
}

#endif
