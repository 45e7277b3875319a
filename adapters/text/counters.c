/* counters.c - what the kernel counts of a thread and of each CPU
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The grammar is in counters.h.
 */
#include "counters.h"

#include "scan.h"

cpubind_text_status cpubind_schedstat_parse(const char *text, int32_t len,
                                            cpubind_schedstat *out, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    uint64_t number[3] = {0, 0, 0};
    int32_t at = 0;

    if (!scan_is_text(text, len) || !out)
        return scan_fail_arg(fault);
    for (int i = 0; i < 3; i++) {
        const cpubind_text_status status = scan_wide(&in, &at, UINT64_MAX, &number[i]);

        if (status != CPUBIND_TEXT_OK)
            return status;
        if (text[at] != (i < 2 ? ' ' : '\n'))
            return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, at, "there are three numbers");
        at += i < 2;
    }
    if (at + 1 != len)
        return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, at + 1, "a second line follows");
    out->run_ns = number[0];
    out->wait_ns = number[1];
    out->slices = number[2];
    return CPUBIND_TEXT_OK;
}

/* Whether the arguments name CPUs, in order. */
static int are_cpus(const int32_t *cpu, int32_t n_cpu)
{
    if (!scan_is_array(cpu, n_cpu) || n_cpu < 1)
        return 0;
    for (int32_t i = 0; i < n_cpu; i++)
        if (cpu[i] < 0 || cpu[i] >= CPUBIND_MAX_CPUS || (i > 0 && cpu[i] <= cpu[i - 1]))
            return 0;
    return 1;
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
static int32_t cpu_of(const scan_text *in, scan_run word)
{
    const scan_text quiet = {in->text, in->len, NULL};
    scan_run digits = {word.at + 3, word.end};
    int32_t number = -1;
    if (word.end - word.at < 4 || !scan_starts_with_letters(in->text + word.at, 3, "cpu") ||
        scan_whole_number(&quiet, digits, CPUBIND_MAX_CPUS - 1, &number) != CPUBIND_TEXT_OK)
        return -1;
    return number;
}

static cpubind_text_status fail_missing(const scan_text *in)
{
    return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len, "a CPU is not there");
}

/* == /proc/stat ============================================================= */

/* Adds user nice system idle iowait irq softirq steal. The times of guests, which come after
 * them, are part of user and nice. */
static cpubind_text_status add_times(const scan_text *in, scan_run rest, cpubind_cpu_times *out)
{
    enum { IRQ = 5, SOFTIRQ = 6, STEAL = 7, N_TIME = 8 };
    int32_t at = rest.at;
    for (int i = 0; i < N_TIME; i++) {
        uint64_t ticks = 0;
        cpubind_text_status status;
        at = scan_skip_blanks(in, at, rest.end);
        status = scan_wide(in, &at, INT64_MAX / 65536 / N_TIME, &ticks);
        if (status != CPUBIND_TEXT_OK)
            return status;
        out->all += ticks;
        out->irq += i == IRQ ? ticks : 0;
        out->softirq += i == SOFTIRQ ? ticks : 0;
        out->steal += i == STEAL ? ticks : 0;
    }
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_cpu_times_parse(const char *text, int32_t len, const int32_t *cpu,
                                            int32_t n_cpu, cpubind_cpu_times *out,
                                            cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_cpu_times times = {0, 0, 0, 0};
    scan_line line = {{0, 0}, 0, 0};
    int32_t n_found = 0;

    if (!scan_is_text(text, len) || !are_cpus(cpu, n_cpu) || !out)
        return scan_fail_arg(fault);
    while (n_found < n_cpu && scan_next_line(&in, &line)) {
        const scan_run word = scan_word(&in, line.run.at, line.run.end);
        const int32_t number = cpu_of(&in, word);
        const scan_run rest = {word.end, line.run.end};
        cpubind_text_status status;

        if (number < 0 || !is_of(number, cpu, n_cpu))
            continue;
        if (!line.ended)
            return scan_fail_cut(&in);
        status = add_times(&in, rest, &times);
        if (status != CPUBIND_TEXT_OK)
            return status;
        n_found++;
    }
    if (n_found < n_cpu)
        return fail_missing(&in);
    *out = times;
    return CPUBIND_TEXT_OK;
}

/* == /proc/interrupts, /proc/softirqs ======================================= */

/* Which columns of a table count. */
typedef struct columns {
    uint64_t is_wanted[CPUBIND_MAX_CPUS / 64];
    int32_t n;
} columns;

static cpubind_text_status read_header(const scan_text *in, scan_run run, const int32_t *cpu,
                                       int32_t n_cpu, columns *out)
{
    scan_run word = scan_word(in, run.at, run.end);
    int32_t n_found = 0, last = -1, number;
    memset(out, 0, sizeof *out);
    for (; (number = cpu_of(in, word)) > last; out->n++, last = number) {
        if (is_of(number, cpu, n_cpu)) {
            out->is_wanted[out->n / 64] |= UINT64_C(1) << out->n % 64;
            n_found++;
        }
        word = scan_word(in, word.end, run.end);
    }
    return n_found == n_cpu ? CPUBIND_TEXT_OK : fail_missing(in);
}

/* Adds the counts of a row, unless it has too few. */
static cpubind_text_status add_row(const scan_text *in, scan_run rest, const columns *c,
                                   uint64_t *out)
{
    uint64_t sum = 0, count = 0;
    int32_t at = rest.at;
    for (int32_t i = 0; i < c->n; i++) {
        at = scan_skip_blanks(in, at, rest.end);
        if (at == rest.end || !scan_is_digit(in->text[at]))
            return CPUBIND_TEXT_OK;
        if (scan_wide(in, &at, UINT32_MAX, &count) != CPUBIND_TEXT_OK)
            return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, at, "a count is too large");
        if (c->is_wanted[i / 64] >> i % 64 & 1)
            sum += count;
    }
    *out += sum;
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_cpu_events_parse(const char *text, int32_t len, const int32_t *cpu,
                                             int32_t n_cpu, cpubind_cpu_events *out,
                                             cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_cpu_events events = {0, 0};
    scan_line line = {{0, 0}, 0, 0};
    columns c;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !are_cpus(cpu, n_cpu) || !out)
        return scan_fail_arg(fault);
    if (!scan_next_line(&in, &line))
        return fail_missing(&in);
    if (!line.ended)
        return scan_fail_cut(&in);
    status = read_header(&in, line.run, cpu, n_cpu, &c);
    while (status == CPUBIND_TEXT_OK && scan_next_line(&in, &line)) {
        const scan_run name = scan_word(&in, line.run.at, line.run.end);
        const scan_run rest = {name.end, line.run.end};

        if (!line.ended)
            return scan_fail_cut(&in);
        if (scan_is_empty(name) || text[name.end - 1] != ':')
            return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, name.at, "a row has no name");
        status = add_row(&in, rest, &c,
                         scan_starts_with_digit(&in, name) ? &events.numbered : &events.named);
    }
    if (status == CPUBIND_TEXT_OK)
        *out = events;
    return status;
}
