/* cpumask.c - CPU masks as the kernel prints them, both ways
 * SPDX-License-Identifier: MIT
 *
 * Hexadecimal groups of 32 CPUs to a sorted array and back. Pure: no I/O, no malloc, no errno,
 * no locale. It must not accept a mask whose groups are short, except the first one.
 */
#include "cpumask.h"

#include "cursor.h"

enum { GROUP_DIGITS = 8, GROUP_CPUS = 32, DIGIT_CPUS = 4 };

/*   mask  = group *( "," group )
 *   group = 1*8HEXDIG        every group but the first has exactly 8 digits */
static cursor read_groups(cursor *c)
{
    cursor mask = *c;
    int is_first = 1;
    do {
        const cursor group = cursor_span(c, cursor_is_hex);
        const int32_t n = cursor_len(&group);
        if (n > GROUP_DIGITS)
            (void)cursor_fail(c, CPUBIND_TEXT_ERR_SYNTAX, group.at + GROUP_DIGITS,
                              "a group has more than 8 digits");
        else if (n == 0)
            (void)cursor_bad(c, "a group of digits is missing");
        else if (!is_first && n < GROUP_DIGITS)
            (void)cursor_bad(c, "a group after the first has fewer than 8 digits");
        is_first = 0;
    } while (cursor_takes(c, ","));
    mask.end = c->at;
    return mask;
}

cpubind_text_status cpubind_cpumask_parse(const char *text, int32_t len, int32_t limit,
                                          cpubind_int_list *list, cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault,
                           list && cursor_is_array(list->out, list->cap) && limit >= 1 &&
                               limit <= CPUBIND_MAX_CPUS);
    const cursor mask = read_groups(&c);
    int32_t cpu = 0, n = 0;
    cursor_tail(&c);
    /* from its last digit back to its first, so that the CPUs ascend */
    for (int32_t at = mask.end - 1; cursor_ok(&c) && at >= mask.at; at--) {
        const int32_t bits = cursor_hex_value(mask.text[at]);
        for (int32_t i = 0; i < DIGIT_CPUS && bits >= 0; i++, cpu++) {
            if (!(bits >> i & 1))
                continue;
            if (cpu >= limit)
                (void)cursor_fail(&c, CPUBIND_TEXT_ERR_RANGE, at, "a CPU is past the limit");
            if (n < list->cap)
                list->out[n] = cpu;
            n++;
        }
    }
    if (!cursor_ok(&c))
        return of.status;
    list->n = n;
    return cursor_room(&c, n, list->cap);
}

/* == array to text ========================================================== */

static cpubind_text_status check_cpus(const int32_t *cpu, int32_t n, int32_t width)
{
    for (int32_t i = 0; i < n; i++) {
        if (cpu[i] < 0)
            return CPUBIND_TEXT_ERR_ARG;
        if (cpu[i] >= width)
            return CPUBIND_TEXT_ERR_RANGE;
        if (i > 0 && cpu[i] <= cpu[i - 1])
            return CPUBIND_TEXT_ERR_ORDER;
    }
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_cpumask_format(const int32_t *cpu, int32_t n, int32_t width,
                                           char *text, int32_t cap, int32_t *out_len)
{
    static const char digit[] = "0123456789abcdef";
    cpubind_text_status status;
    int32_t groups, len, i = n;

    if (!cursor_is_array(cpu, n) || !cursor_is_array(text, cap) || !out_len || width < 1 ||
        width > CPUBIND_MAX_CPUS)
        return CPUBIND_TEXT_ERR_ARG;
    status = check_cpus(cpu, n, width);
    if (status != CPUBIND_TEXT_OK)
        return status;
    groups = (width + GROUP_CPUS - 1) / GROUP_CPUS;
    len = groups * (GROUP_DIGITS + 1) - 1; /* a comma after every group but the last */
    *out_len = len;
    if (len > cap)
        return CPUBIND_TEXT_ERR_SPACE;
    for (int32_t group = groups - 1; group >= 0; group--) {
        uint32_t bits = 0;
        for (; i > 0 && cpu[i - 1] / GROUP_CPUS == group; i--)
            bits |= (uint32_t)1 << (cpu[i - 1] % GROUP_CPUS);
        for (int32_t k = GROUP_DIGITS - 1; k >= 0; k--)
            *text++ = digit[bits >> (k * DIGIT_CPUS) & 15];
        if (group > 0)
            *text++ = ',';
    }
    return CPUBIND_TEXT_OK;
}
