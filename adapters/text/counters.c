/* counters.c - what the kernel counts of a thread and of each CPU
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The grammar is in counters.h.
 */
#include "counters.h"

#include "cursor.h"

cpubind_text_status cpubind_schedstat_parse(const char *text, int32_t len,
                                            cpubind_schedstat *out, cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, out != NULL), line = cursor_only_line(&c);
    uint64_t number[3];
    for (int i = 0; i < 3; i++) {
        if (i > 0)
            cursor_need(&line, " ", "there are three numbers");
        number[i] = cursor_number(&line, UINT64_MAX);
    }
    cursor_end(&line, "there are three numbers");
    if (cursor_ok(&c))
        *out = (cpubind_schedstat){number[0], number[1], number[2]};
    return of.status;
}

static int is_of(int32_t number, const int32_t *cpu, int32_t n_cpu)
{
    int32_t low = 0, high = n_cpu;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (cpu[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n_cpu && cpu[low] == number;
}

/* The number of "cpu3" or "CPU3"; -1: the word is none. */
static int32_t cpu_of(cursor word)
{
    int32_t number;
    if (!cursor_starts_as(&word, "cpu"))
        return -1;
    word.at += 3;
    return cursor_is_number(word, CPUBIND_MAX_CPUS - 1, &number) ? number : -1;
}

static void fail_missing(const cursor *c)
{
    (void)cursor_fail(c, CPUBIND_TEXT_ERR_MISSING, c->of->len, "a CPU is not there");
}

/* == /proc/stat ============================================================= */

/* The times of guests, which come after these, are part of user and nice. */
cpubind_text_status cpubind_cpu_times_parse(const char *text, int32_t len, const int32_t *cpu,
                                            int32_t n_cpu, cpubind_cpu_times *out,
                                            cpubind_text_fault *fault)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, N_TIME };
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, cpu && n_cpu > 0 && out), line;
    uint64_t sum[N_TIME] = {0}, all = 0;
    int32_t n_found = 0;
    while (n_found < n_cpu && cursor_line(&c, &line)) {
        if (!is_of(cpu_of(cursor_word(&line)), cpu, n_cpu))
            continue;
        if (cursor_is_cut(&c, &line))
            (void)cursor_fail_cut(&c);
        for (int i = 0; i < N_TIME; i++) {
            cursor_skip_blanks(&line);
            const uint64_t ticks = cursor_number(&line, INT64_MAX / CPUBIND_MAX_CPUS / N_TIME);
            sum[i] += ticks;
            all += ticks;
        }
        n_found++;
    }
    if (n_found < n_cpu)
        fail_missing(&c);
    if (cursor_ok(&c))
        *out = (cpubind_cpu_times){all, sum[IRQ], sum[SOFTIRQ], sum[STEAL]};
    return of.status;
}

/* == /proc/interrupts, /proc/softirqs ======================================= */

/* Which columns of a table count. */
typedef struct columns {
    uint8_t is_wanted[CPUBIND_MAX_CPUS];
    int32_t n;
} columns;

static void read_header(cursor line, const int32_t *cpu, int32_t n_cpu, columns *out)
{
    int32_t n_found = 0, last = -1, number;
    for (out->n = 0; (number = cpu_of(cursor_word(&line))) > last; last = number) {
        out->is_wanted[out->n] = (uint8_t)is_of(number, cpu, n_cpu);
        n_found += out->is_wanted[out->n++];
    }
    if (n_found != n_cpu)
        fail_missing(&line);
}

/* The sum of the counts of a row; 0 where it has too few. */
static uint64_t sum_row(cursor row, const columns *of)
{
    uint64_t sum = 0;
    for (int32_t i = 0; i < of->n; i++) {
        cursor_skip_blanks(&row);
        if (row.at == row.end || !cursor_is_digit(row.text[row.at]))
            return 0;
        const uint64_t count = cursor_number(&row, UINT32_MAX);
        sum += of->is_wanted[i] ? count : 0;
    }
    return sum;
}

cpubind_text_status cpubind_cpu_events_parse(const char *text, int32_t len, const int32_t *cpu,
                                             int32_t n_cpu, cpubind_cpu_events *out,
                                             cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, cpu && n_cpu > 0 && out), line;
    cpubind_cpu_events events = {0, 0};
    columns wanted;
    if (cursor_whole_line(&c, &line))
        read_header(line, cpu, n_cpu, &wanted);
    else
        fail_missing(&c);
    while (cursor_whole_line(&c, &line)) {
        const cursor name = cursor_word(&line);
        if (name.at == name.end || text[name.end - 1] != ':')
            (void)cursor_bad(&name, "a row has no name");
        else if (cursor_is_digit(text[name.at]))
            events.numbered += sum_row(line, &wanted);
        else
            events.named += sum_row(line, &wanted);
    }
    if (cursor_ok(&c))
        *out = events;
    return of.status;
}
