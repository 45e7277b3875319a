/* lists.h - lists of CPUs for the tests: read from text, compared with each other
 * SPDX-License-Identifier: MIT
 *
 * Independent of the core and of the readers. The text is that of the tests: anything else than
 * numbers and ranges ends a list, and nothing is refused, so that lists that the core must
 * refuse can be written.
 */
#ifndef CPUBIND_TESTS_SUPPORT_LISTS_H
#define CPUBIND_TESTS_SUPPORT_LISTS_H

#include <stdint.h>
#include <stdlib.h>

/* list = "-" / range *( "," range )       range = number [ "-" number ]
 * Reads the list at *at and moves *at past it. Returns how many numbers it has; writes them to
 * `out`, or only counts them when `out` is NULL. */
static inline int32_t lists_read(const char **at, int32_t *out)
{
    int32_t n = 0;
    if (**at == '-')
        ++*at;
    while (**at >= '0' && **at <= '9') {
        char *end;
        long first = strtol(*at, &end, 10);
        long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        for (long i = first; i <= last; i++, n++)
            if (out)
                out[n] = (int32_t)i;
        *at = *end == ',' ? end + 1 : end;
    }
    return n;
}

/* Whether no number is in two of the lists cpu[row[i]] .. cpu[row[i + 1] - 1], i < n. */
static inline int lists_are_disjoint(const int32_t *cpu, const int32_t *row, int32_t n)
{
    for (int32_t i = 0; i < row[n]; i++)
        for (int32_t k = 0; k < i; k++)
            if (cpu[i] == cpu[k])
                return 0;
    return 1;
}

#endif /* CPUBIND_TESTS_SUPPORT_LISTS_H */
