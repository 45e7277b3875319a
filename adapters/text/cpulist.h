/* cpulist.h - lists of numbers as the kernel prints them, both ways: "0-3,8"
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. Used for CPUs, for nodes, and for device ids on the command line.
 *
 * GRAMMAR  (what the kernel's %*pbl prints, and nothing else)
 *   list   = [ range *( "," range ) ] [ LF ] *NUL
 *   range  = number [ "-" number ]          the second greater than the first
 *   number = "0" / ( "1".."9" *DIGIT )      below `limit`
 *   Ranges ascend and share no number. One line feed may end the list; NUL bytes may follow,
 *   as in some files of sysfs. No blanks, no signs, no strides.
 * The vectors are tests/cases/read_cpulist.txt.
 */
#ifndef CPUBIND_CPULIST_H
#define CPUBIND_CPULIST_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the numbers of a list, ascending.
 *   in      1 <= limit <= CPUBIND_MAX_CPUS: every number is below it
 *   out     list->out[0 .. list->n - 1]; an empty text is the empty list
 *   errors  ERR_ARG, ERR_SYNTAX, ERR_RANGE, ERR_ORDER; ERR_SPACE with list->n
 *   cost    O(len + numbers) */
cpubind_text_status cpubind_cpulist_parse(const char *text, int32_t len, int32_t limit,
                                          cpubind_int_list *list, cpubind_text_fault *fault);

/* Writes a list as text, without a NUL or a line feed.
 *   in      cpu[0 .. n - 1] strictly ascending, each in 0 .. CPUBIND_MAX_CPUS - 1
 *   out     text[0 .. *out_len - 1]; two consecutive numbers are a range too ("4-5")
 *   errors  ERR_ARG, ERR_ORDER; ERR_SPACE with *out_len, `text` untouched
 *   cost    O(n) */
cpubind_text_status cpubind_cpulist_format(const int32_t *cpu, int32_t n, char *text,
                                           int32_t cap, int32_t *out_len);

/* Sorts numbers, and drops those that are there twice. Returns 0, with nothing changed, where
 * one is not in 0 .. CPUBIND_MAX_CPUS - 1. O(n + the largest). */
int cpubind_list_sort(int32_t *list, int32_t *n);

/* Whether an ascending list holds a number. *at moves up to it: the next call must not ask for
 * a smaller one. */
static inline int cpubind_list_has(const int32_t *list, int32_t n, int32_t number, int32_t *at)
{
    while (*at < n && list[*at] < number)
        ++*at;
    return *at < n && list[*at] == number;
}

/* How many numbers two ascending lists have in common. */
static inline int32_t cpubind_list_common(const int32_t *a, int32_t n_a, const int32_t *b,
                                          int32_t n_b)
{
    int32_t n = 0, at = 0;
    for (int32_t i = 0; i < n_a; i++)
        n += cpubind_list_has(b, n_b, a[i], &at);
    return n;
}

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_CPULIST_H */
