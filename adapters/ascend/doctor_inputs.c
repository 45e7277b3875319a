/* doctor_inputs.c - what a capture keeps of the inputs that cpubind doctor alone reads
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. It must not keep a byte of a command line or an environment that no
 * check reads.
 */
#include "doctor_inputs.h"

#include <string.h>

#include "../model/engine.h"
#include "../model/vendor.h"
#include "../text/cursor.h"
#include "input_list.h"

/* Whether a string sets a variable. */
static int sets(cursor string, const char *name)
{
    return cursor_takes(&string, name) && cursor_starts(&string, "=");
}

/* Whether somebody who looks at a process asks for the variable that a string sets. */
static int is_asked(cursor string)
{
    static const char *const names[] = {"OMP_PROC_BIND",
                                        "GOMP_CPU_AFFINITY",
                                        "KMP_AFFINITY",
                                        "SGLANG_SET_CPU_AFFINITY",
                                        "NCCL_IB_HCA",
                                        "RANK_ID",
#define CPUBIND_X(name) name,
                                        CPUBIND_ENV_LIST(CPUBIND_X)
#undef CPUBIND_X
#define CPUBIND_X(launcher, local, job) local, job,
                                            CPUBIND_RANK_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    int is_found = cursor_starts(&string, CPUBIND_ENV_PREFIX);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is_found |= sets(string, names[i]);
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++) {
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)i);
        for (int k = 0; k < CPUBIND_VENDOR_VARIABLES; k++)
            is_found |= (v->variable[k] && sets(string, v->variable[k])) ||
                        (v->setting[k] && sets(string, v->setting[k]));
    }
    return is_found;
}

/* Moves a string to what is kept of a text. Returns how long that is then. */
static int32_t keep(char *text, int32_t kept, cursor string)
{
    if (cursor_len(&string) > 0)
        memmove(text + kept, text + string.at, (size_t)cursor_len(&string));
    return kept + cursor_len(&string);
}

static int32_t distill_environ(char *text, cursor all)
{
    int32_t kept = 0;
    while (cursor_left(&all)) {
        const cursor variable = cursor_cut(&all, '\0');
        if (!is_asked(variable))
            continue;
        kept = keep(text, kept, variable);
        if (kept < all.end) /* the last variable may be cut, and has no NUL then */
            text[kept++] = '\0';
    }
    return kept;
}

/* The part of a word of a command line that stays; empty: none. */
static cursor part_of(cursor word)
{
    static const char *const whole[] = {"--numa-bind", "--no-numa-bind", "serve", "-m",  "-i",
                                        "false",       "true",           "False", "True"};
    static const char *const starts[] = {"--banirq=", "VLLM::", "vllm.", "sglang::", "sglang."};
    static const char *const programs[] = {"vllm", "sglang", "irqbalance"};
    const int32_t n_option = cpubind_engine_option(word.text + word.at, cursor_len(&word));
    int is_program = 0;
    cursor last = word;
    if (n_option > 0) {
        word.end = word.at + n_option;
        return word;
    }
    for (cursor c = word; cursor_left(&c); c.at++)
        if (cursor_starts(&c, "enable_cpu_binding")) { /* and its value, of all in JSON */
            word = c;
            while (cursor_left(&c) && c.text[c.at] != ',' && c.text[c.at] != '}')
                c.at++;
            word.end = c.at;
            return word;
        }
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (cursor_is(word, whole[i]))
            return word;
    (void)cursor_span(&last, cursor_is_digit);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (cursor_starts(&word, starts[i]))
            return word;
    if (!cursor_left(&last))
        return word;
    for (cursor c = last = word; cursor_left(&c);)
        if (c.text[c.at++] == '/')
            last = c;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        is_program |= cursor_is(last, programs[i]);
    if (!is_program)
        last.end = last.at;
    return last;
}

static int32_t distill_cmdline(char *text, cursor all)
{
    int32_t kept = 0;
    while (cursor_left(&all)) {
        const cursor word = cursor_cut(&all, '\0'), part = part_of(word);
        const int has_end = word.end < all.end; /* of the bytes that were there */
        kept = keep(text, kept, part);
        if (cursor_len(&part) == 0 && cursor_len(&word) > 0)
            text[kept++] = 'x';
        if (has_end)
            text[kept++] = '\0';
    }
    return kept;
}

/* The fifth word of a line of mountinfo is where it is mounted. */
static int is_mount_of_proc(cursor line)
{
    for (int word = 1; word < 5; word++)
        (void)cursor_cut(&line, ' ');
    return cursor_starts(&line, "/proc ") || cursor_starts(&line, "/proc/");
}

/* Of a record: whose it is, of which device, and by which rules. */
static int is_of_record(cursor line)
{
    return cursor_starts(&line, "process ") || cursor_starts(&line, "rules ") ||
           cursor_starts(&line, "npu ") || cursor_starts(&line, "pci ");
}

static int32_t distill_lines(char *text, cursor all, int (*is_line_kept)(cursor line))
{
    int32_t kept = 0;
    while (cursor_left(&all)) {
        cursor line = cursor_cut(&all, '\n');
        line.end = all.at; /* with its feed */
        if (is_line_kept(line))
            kept = keep(text, kept, line);
    }
    return kept;
}

int32_t cpubind_doctor_input_distill(const char *name, char *text, int32_t len)
{
    cursor_text of;
    const cursor all = cursor_open(&of, text, len, NULL, 1);
    switch (cpubind_input_secret_of(name)) {
    case CPUBIND_SECRET_ALL:
        return 0;
    case CPUBIND_SECRET_ENVIRON:
        return distill_environ(text, all);
    case CPUBIND_SECRET_CMDLINE:
        return distill_cmdline(text, all);
    case CPUBIND_SECRET_MOUNTS:
        return distill_lines(text, all, is_mount_of_proc);
    case CPUBIND_SECRET_RECORD:
        return distill_lines(text, all, is_of_record);
    default:
        return len;
    }
}
