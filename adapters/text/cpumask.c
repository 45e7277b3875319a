/* cpumask.c - CPU masks as the kernel prints them, both ways
 * SPDX-License-Identifier: MIT
 *
 * Hexadecimal groups of 32 CPUs to a sorted array and back. Pure: no I/O, no malloc, no errno,
 * no locale. It must not accept a mask whose groups are short, except the first one.
 */
#include "cpumask.h"

#include "scan.h"

enum { GROUP_DIGITS = 8, GROUP_CPUS = 32, DIGIT_CPUS = 4 };

/*   mask  = group *( "," group )
 *   group = 1*8HEXDIG        every group but the first has exactly 8 digits
 * *stop is the first byte after the mask. */
static cpubind_text_status check_groups(const scan_text *in, int32_t *stop)
{
    int32_t at = 0, digits = 0, groups = 0;

    for (;; at++) {
        const int32_t is_digit = at < in->len && scan_hex_value(in->text[at]) >= 0;
        if (is_digit && ++digits <= GROUP_DIGITS)
            continue;
        if (digits > GROUP_DIGITS)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at, "a group has more than 8 digits");
        if (digits == 0)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at, "a group of digits is missing");
        if (groups > 0 && digits < GROUP_DIGITS)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at,
                             "a group after the first has fewer than 8 digits");
        if (at == in->len || in->text[at] != ',')
            break;
        groups++;
        digits = 0;
    }
    *stop = at;
    return CPUBIND_TEXT_OK;
}

/* Reads the CPUs of a mask that check_groups accepted, from its last digit back to its first,
 * so that they ascend. With `out` NULL they are only counted. */
static cpubind_text_status read_digits(const scan_text *in, int32_t stop, int32_t limit,
                                       int32_t *out, int32_t *out_n)
{
    int32_t cpu = 0, n = 0;

    for (int32_t at = stop - 1; at >= 0; at--) {
        if (in->text[at] == ',')
            continue;
        for (int32_t bits = scan_hex_value(in->text[at]), i = 0; bits; bits >>= 1, i++) {
            if (!(bits & 1))
                continue;
            if (cpu + i >= limit)
                return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, at, "a CPU is past the limit");
            if (out)
                out[n] = cpu + i;
            n++;
        }
        cpu += DIGIT_CPUS;
    }
    *out_n = n;
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_cpumask_parse(const char *text, int32_t len, int32_t limit,
                                          cpubind_int_list *list, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    int32_t stop = 0, n = 0;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !list || !scan_is_array(list->out, list->cap) ||
        limit < 1 || limit > CPUBIND_MAX_CPUS)
        return scan_fail_arg(fault);
    status = check_groups(&in, &stop);
    if (status == CPUBIND_TEXT_OK)
        status = scan_tail(&in, stop);
    if (status == CPUBIND_TEXT_OK)
        status = read_digits(&in, stop, limit, NULL, &n);
    if (status != CPUBIND_TEXT_OK)
        return status;
    list->n = n;
    if (n > list->cap)
        return scan_fail_space(&in);
    return n ? read_digits(&in, stop, limit, list->out, &n) : status;
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

    if (!scan_is_array(cpu, n) || !scan_is_array(text, cap) || !out_len || width < 1 ||
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
