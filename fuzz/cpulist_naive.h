/* cpulist_naive.h - a second, obvious parser of CPU lists, to compare the real one with
 * SPDX-License-Identifier: MIT
 *
 * One function for each rule of the grammar in adapters/text/cpulist.h, and written from that
 * grammar alone. It need not be fast, and must not share code with cpulist.c.
 */
#ifndef CPUBIND_FUZZ_CPULIST_NAIVE_H
#define CPUBIND_FUZZ_CPULIST_NAIVE_H

#include <stddef.h>
#include <stdint.h>

typedef struct naive_text {
    const char *next, *end;
    int32_t limit;
    int32_t *out, n;
} naive_text;

static inline int naive_take(naive_text *t, char c)
{
    if (t->next == t->end || *t->next != c)
        return 0;
    t->next++;
    return 1;
}

/* number = "0" / ( "1".."9" *DIGIT )      less than `limit` */
static inline int naive_number(naive_text *t, int32_t *out)
{
    double value = 0; /* counts up to infinity and never wraps */
    const char *start = t->next;
    while (t->next != t->end && *t->next >= '0' && *t->next <= '9')
        value = value * 10 + (*t->next++ - '0');
    if (t->next == start || value >= t->limit)
        return 0;
    if (*start == '0' && t->next - start > 1)
        return 0;
    *out = (int32_t)value;
    return 1;
}

/* range  = number [ "-" number ]          the second greater than the first */
static inline int naive_range(naive_text *t)
{
    int32_t first, last;
    if (!naive_number(t, &first))
        return 0;
    last = first;
    if (naive_take(t, '-') && (!naive_number(t, &last) || last <= first))
        return 0;
    if (t->n > 0 && t->out[t->n - 1] >= first)
        return 0;
    while (first <= last)
        t->out[t->n++] = first++;
    return 1;
}

/* list   = [ range *( "," range ) ] [ LF ] *NUL
 * Returns how many numbers there are, or -1. `out` has room for `limit` numbers. */
static inline int32_t cpulist_naive(const char *text, size_t len, int32_t limit, int32_t *out)
{
    naive_text t = {text, text + len, limit, out, 0};
    if (t.next != t.end && *t.next != '\n' && *t.next != '\0') {
        if (!naive_range(&t))
            return -1;
        while (naive_take(&t, ','))
            if (!naive_range(&t))
                return -1;
    }
    (void)naive_take(&t, '\n');
    while (naive_take(&t, '\0'))
        continue;
    return t.next == t.end ? t.n : -1;
}

#endif /* CPUBIND_FUZZ_CPULIST_NAIVE_H */
