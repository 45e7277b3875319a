/* cpulist.c - lists of numbers as the kernel prints them, both ways
 * SPDX-License-Identifier: MIT
 *
 * Bytes to a sorted array and back. Pure: no I/O, no malloc, no errno, no locale. It must not
 * accept more than the kernel prints: no blanks, signs, strides, leading zeros, no "5-2".
 */
#include "cpulist.h"

#include "cursor.h"

/* Writes the numbers [first, end). Blocks of a fixed size become vector stores without -O3. */
static inline void fill_range(int32_t *out, int32_t first, int32_t end)
{
    enum { BLOCK = 8 };
    for (; end - first >= BLOCK; first += BLOCK, out += BLOCK)
        for (int32_t k = 0; k < BLOCK; k++)
            out[k] = first + k;
    while (first < end)
        *out++ = first++;
}

/* Reads [ "-" number ] after the number `first`; returns one past the range. */
static inline int32_t read_range_end(cursor *c, int32_t limit, int32_t first)
{
    int32_t start, last;
    if (cursor_next(c) != '-')
        return first + 1;
    start = ++c->at;
    last = (int32_t)cursor_number(c, (uint64_t)limit - 1);
    if (last <= first)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_ORDER, start,
                          last < first ? "a range runs backwards"
                                       : "a range holds one number only");
    return last + 1;
}

/*   list   = [ range *( "," range ) ]
 *   range  = number [ "-" number ]          the second greater than the first
 *   number = "0" / ( "1".."9" *DIGIT )      below `limit`
 * Returns how many numbers there are. */
static int32_t read_ranges(cursor *c, int32_t limit, const cpubind_int_list *list)
{
    int32_t n = 0, end = 0;
    do {
        const int32_t start = c->at, floor = end;
        const int32_t first = (int32_t)cursor_number(c, (uint64_t)limit - 1);
        if (first < floor)
            (void)cursor_fail(c, CPUBIND_TEXT_ERR_ORDER, start, "the numbers do not ascend");
        end = read_range_end(c, limit, first);
        if (cursor_ok(c) && end - first <= list->cap - n)
            fill_range(list->out + n, first, end);
        n += end - first;
    } while (cursor_next(c) == ',' && ++c->at);
    return n;
}

cpubind_text_status cpubind_cpulist_parse(const char *text, int32_t len, int32_t limit,
                                          cpubind_int_list *list, cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault,
                           list && cursor_is_array(list->out, list->cap) && limit >= 1 &&
                               limit <= CPUBIND_MAX_CPUS);
    int next = cursor_next(&c);
    const int32_t n = next > 0 && next != '\n' ? read_ranges(&c, limit, list) : 0;
    next = cursor_next(&c);
    if (next > 0 && next != '\n')
        (void)cursor_bad(&c, "a byte does not belong to a list of numbers");
    cursor_tail(&c);
    if (!cursor_ok(&c))
        return of.status;
    list->n = n;
    return cursor_room(&c, n, list->cap);
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
