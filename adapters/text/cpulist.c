/* cpulist.c - lists of numbers as the kernel prints them, both ways
 * SPDX-License-Identifier: MIT
 *
 * Bytes to a sorted array and back. Pure: no I/O, no malloc, no errno, no locale. It must not
 * accept more than the kernel prints: no blanks, signs, strides, leading zeros, no "5-2".
 */
#include "cpulist.h"

#include "scan.h"

/* Writes the numbers [range.at, range.end); returns the end of the output. Blocks of a fixed
 * size become vector stores without -O3. */
static inline int32_t *fill_range(int32_t *out, scan_run range)
{
    enum { BLOCK = 8 };
    int32_t i = range.at;

    for (; range.end - i >= BLOCK; i += BLOCK, out += BLOCK)
        for (int32_t k = 0; k < BLOCK; k++)
            out[k] = i + k;
    for (; i < range.end; i++)
        *out++ = i;
    return out;
}

/* Reads [ "-" number ] at *at, after the number `first`; *end is one past the range. */
static inline cpubind_text_status read_range_end(const scan_text *in, int32_t *at, scan_run run,
                                                 int32_t limit, int32_t first, int32_t *end)
{
    int32_t last = first;

    if (*at < run.end && in->text[*at] == '-') {
        const int32_t start = ++*at;
        const cpubind_text_status status = scan_number(in, at, run.end, limit - 1, &last);

        if (status != CPUBIND_TEXT_OK)
            return status;
        if (last <= first)
            return scan_fail(in, CPUBIND_TEXT_ERR_ORDER, start,
                             last < first ? "a range runs backwards"
                                          : "a range holds one number only");
    }
    *end = last + 1;
    return CPUBIND_TEXT_OK;
}

/*   list   = [ range *( "," range ) ]
 *   range  = number [ "-" number ]          the second greater than the first
 *   number = "0" / ( "1".."9" *DIGIT )      below `limit`
 * *stop is the first byte that cannot belong to it. */
static cpubind_text_status read_ranges(const scan_text *in, int32_t limit,
                                       const cpubind_int_list *list, int32_t *out_n,
                                       int32_t *stop)
{
    const scan_run whole = {0, in->len};
    int32_t at = 0, n = 0, end = 0;

    if (in->len == 0 || in->text[0] == '\n' || in->text[0] == '\0')
        return CPUBIND_TEXT_OK;
    for (;; at++) {
        const int32_t start = at, floor = end;
        int32_t first = 0;
        cpubind_text_status status = scan_number(in, &at, in->len, limit - 1, &first);

        if (status == CPUBIND_TEXT_OK && first < floor)
            status = scan_fail(in, CPUBIND_TEXT_ERR_ORDER, start, "the numbers do not ascend");
        if (status == CPUBIND_TEXT_OK)
            status = read_range_end(in, &at, whole, limit, first, &end);
        if (status != CPUBIND_TEXT_OK)
            return status;
        if (end - first <= list->cap - n)
            (void)fill_range(list->out + n, (scan_run){first, end});
        n += end - first;
        if (at == in->len || in->text[at] != ',')
            break;
    }
    *out_n = n;
    *stop = at;
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_cpulist_parse(const char *text, int32_t len, int32_t limit,
                                          cpubind_int_list *list, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    int32_t n = 0, stop = 0;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !list || !cursor_is_array(list->out, list->cap) ||
        limit < 1 || limit > CPUBIND_MAX_CPUS)
        return scan_fail_arg(fault);
    status = read_ranges(&in, limit, list, &n, &stop);
    if (status == CPUBIND_TEXT_OK && stop < len && text[stop] != '\n' && text[stop] != '\0')
        status = scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, stop,
                           "a byte does not belong to a list of numbers");
    if (status == CPUBIND_TEXT_OK)
        status = scan_tail(&in, stop);
    if (status != CPUBIND_TEXT_OK)
        return status;
    list->n = n;
    return n <= list->cap ? status : scan_fail_space(&in);
}

/* == array to text ========================================================== */

enum { MAX_ITEM = 6 }; /* bytes a number needs at most: "65535," */

static cpubind_text_status check_cpus(const int32_t *cpu, int32_t n)
{
    for (int32_t i = 1; i < n; i++)
        if (cpu[i] <= cpu[i - 1])
            return CPUBIND_TEXT_ERR_ORDER;
    if (n > 0 && (cpu[0] < 0 || cpu[n - 1] >= CPUBIND_MAX_CPUS))
        return CPUBIND_TEXT_ERR_ARG;
    return CPUBIND_TEXT_OK;
}

static int32_t count_digits(int32_t v)
{
    return 1 + (v >= 10) + (v >= 100) + (v >= 1000) + (v >= 10000);
}

static char *put_number(char *p, int32_t v)
{
    const int32_t digits = count_digits(v);
    uint32_t rest = (uint32_t)v;

    for (int32_t i = digits - 1; i > 0; i--) {
        p[i] = (char)('0' + rest % 10);
        rest /= 10;
    }
    p[0] = (char)('0' + rest);
    return p + digits;
}

/* The end of the run of consecutive numbers that starts at index i. */
static int32_t end_of_run(const int32_t *cpu, int32_t n, int32_t i)
{
    for (i++; i < n && cpu[i] == cpu[i - 1] + 1;)
        i++;
    return i;
}

static int32_t measure(const int32_t *cpu, int32_t n)
{
    int32_t len = 0;

    for (int32_t i = 0, end; i < n; i = end) {
        end = end_of_run(cpu, n, i);
        len += count_digits(cpu[i]) + 1; /* and a comma */
        if (end - i > 1)
            len += count_digits(cpu[end - 1]) + 1;
    }
    return len > 0 ? len - 1 : 0;
}

static int32_t write_list(const int32_t *cpu, int32_t n, char *text)
{
    char *p = text;

    for (int32_t i = 0, end; i < n; i = end) {
        end = end_of_run(cpu, n, i);
        if (i > 0)
            *p++ = ',';
        p = put_number(p, cpu[i]);
        if (end - i > 1) {
            *p++ = '-';
            p = put_number(p, cpu[end - 1]);
        }
    }
    return (int32_t)(p - text);
}

cpubind_text_status cpubind_cpulist_format(const int32_t *cpu, int32_t n, char *text,
                                           int32_t cap, int32_t *out_len)
{
    cpubind_text_status status;

    if (!cursor_is_array(cpu, n) || !cursor_is_array(text, cap) || !out_len ||
        n > CPUBIND_MAX_CPUS)
        return CPUBIND_TEXT_ERR_ARG;
    status = check_cpus(cpu, n);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (cap < n * MAX_ITEM) { /* otherwise there is room for any numbers */
        const int32_t len = measure(cpu, n);

        if (len > cap) {
            *out_len = len;
            return CPUBIND_TEXT_ERR_SPACE;
        }
    }
    *out_len = n > 0 ? write_list(cpu, n, text) : 0;
    return CPUBIND_TEXT_OK;
}

int cpubind_list_sort(int32_t *list, int32_t *n)
{
    uint8_t is_there[CPUBIND_MAX_CPUS / 8] = {0};
    int32_t most = -1;
    for (int32_t i = 0; i < *n; i++) {
        if (list[i] < 0 || list[i] >= CPUBIND_MAX_CPUS)
            return 0;
        is_there[list[i] / 8] |= (uint8_t)(1 << list[i] % 8);
        most = list[i] > most ? list[i] : most;
    }
    *n = 0;
    for (int32_t i = 0; i <= most; i++)
        if (is_there[i / 8] >> i % 8 & 1)
            list[(*n)++] = i;
    return 1;
}
