/* doctor_inputs.c - the inputs of a host that cpubind doctor reads besides those of a plan
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. A file that a check reads is one more pattern. It must not keep a
 * byte of a command line or an environment that no check reads.
 */
#include "doctor_inputs.h"

#include <string.h>

#include "../model/vendor.h"
#include "../text/input_name.h"

/* As cpubind_input_fits has them. */
static const char *const patterns[] = {
    "proc/self/mountinfo",
    "proc/self/fd",
    "proc/#/fd",
    "proc/#/comm",
    "proc/#/stat",
    "proc/#/status",
    "proc/#/cmdline",
    "proc/#/environ",
    "proc/#/cgroup",
    "proc/#/numa_maps",
    "proc/#/task/#/comm",
    "proc/#/task/#/stat",
    "proc/#/task/#/status",
    "run/cpubind/#.record",
    "run/user/#/cpubind/#.record",
    "proc/irq/#/smp_affinity_list",
    "proc/irq/#/effective_affinity_list",
    "sys/class/net/*/mtu",
    "sys/class/net/*/device/msi_irqs/#",
};

static int fits(const char *name, const char *pattern)
{
    return cpubind_input_fits(name, pattern, (int32_t)strlen(pattern));
}

int cpubind_doctor_input_has(const char *name)
{
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fits(name, patterns[i]))
            return 1;
    return 0;
}

/* == Distilling ============================================================= */

static int starts(const char *text, int32_t len, const char *start)
{
    const int32_t n = (int32_t)strlen(start);
    return len >= n && memcmp(text, start, (size_t)n) == 0;
}

/* The place of a text in bytes; -1: it is not there. */
static int32_t find(const char *text, int32_t len, const char *part)
{
    const int32_t n = (int32_t)strlen(part);
    for (int32_t i = 0; i + n <= len; i++)
        if (memcmp(text + i, part, (size_t)n) == 0)
            return i;
    return -1;
}

/* Where the next piece ends: at `end`, a byte, or at the end of the text. */
static int32_t piece_end(const char *text, int32_t at, int32_t len, char end)
{
    while (at < len && text[at] != end)
        at++;
    return at;
}

/* Whether a string sets a variable. */
static int sets(const char *text, int32_t len, const char *name)
{
    const int32_t n = (int32_t)strlen(name);
    return len > n && text[n] == '=' && starts(text, len, name);
}

/* Whether somebody who looks at a process asks for the variable that a string sets. */
static int is_asked(const char *text, int32_t len)
{
    static const char *const names[] = {"OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY",
                                        "RANK_ID",
#define CPUBIND_X(name) name,
                                        CPUBIND_ENV_LIST(CPUBIND_X)
#undef CPUBIND_X
#define CPUBIND_X(launcher, local, job) local, job,
                                            CPUBIND_RANK_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    int is_found = starts(text, len, CPUBIND_ENV_PREFIX);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is_found |= sets(text, len, names[i]);
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++) {
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)i);
        for (int k = 0; k < CPUBIND_VENDOR_VARIABLES; k++)
            is_found |= (v->variable[k] && sets(text, len, v->variable[k])) ||
                        (v->setting[k] && sets(text, len, v->setting[k]));
    }
    return is_found;
}

static int32_t distill_environ(char *text, int32_t len)
{
    int32_t kept = 0;
    for (int32_t at = 0, end; at < len; at = end + 1) {
        end = piece_end(text, at, len, '\0');
        if (!is_asked(text + at, end - at))
            continue;
        memmove(text + kept, text + at, (size_t)(end - at));
        kept += end - at;
        if (kept < len) /* the last variable may be cut, and has no NUL then */
            text[kept++] = '\0';
    }
    return kept;
}

/* Narrows a word of a command line to the part that stays. */
static void keep_word(const char *text, int32_t *at, int32_t *n)
{
    static const char *const whole[] = {"--numa-bind", "--no-numa-bind", "serve", "-m",  "-i",
                                        "false",       "true",           "False", "True"};
    static const char option[] = "enable_cpu_binding";
    const char *word = text + *at;
    const int32_t place = find(word, *n, option);
    int32_t end = *n, digits = 0;
    if (place >= 0) { /* and its value, of all that JSON may hold */
        int32_t k = place + (int32_t)sizeof option - 1;
        while (k < *n && word[k] != ',' && word[k] != '}')
            k++;
        *at += place;
        *n = k - place;
        return;
    }
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (*n == (int32_t)strlen(whole[i]) && starts(word, *n, whole[i]))
            return;
    while (digits < *n && word[digits] >= '0' && word[digits] <= '9')
        digits++;
    if (starts(word, *n, "--banirq=") || starts(word, *n, "VLLM::") ||
        starts(word, *n, "vllm.") || digits == *n)
        return;
    while (end > 0 && word[end - 1] != '/')
        end--;
    if ((*n - end == 4 && starts(word + end, 4, "vllm")) ||
        (*n - end == 10 && starts(word + end, 10, "irqbalance"))) {
        *at += end;
        *n -= end;
        return;
    }
    *n = 0;
}

static int32_t distill_cmdline(char *text, int32_t len)
{
    int32_t kept = 0;
    for (int32_t at = 0, end; at < len; at = end + 1) {
        int32_t place = at, n;
        end = piece_end(text, at, len, '\0');
        n = end - at;
        keep_word(text, &place, &n);
        if (n > 0)
            memmove(text + kept, text + place, (size_t)n);
        else if (end > at)
            text[kept] = 'x';
        kept += n > 0 ? n : end > at;
        if (end < len)
            text[kept++] = '\0';
    }
    return kept;
}

/* The fifth word of a line of mountinfo is where it is mounted. */
static int is_mount_of_proc(const char *line, int32_t len)
{
    int32_t at = 0;
    for (int word = 1; word < 5 && at < len; at++)
        word += line[at] == ' ';
    return starts(line + at, len - at, "/proc ") || starts(line + at, len - at, "/proc/");
}

/* Of a record: whose it is, of which device, and by which rules. */
static int is_of_record(const char *line, int32_t len)
{
    return starts(line, len, "process ") || starts(line, len, "rules ") ||
           starts(line, len, "npu ") || starts(line, len, "pci ");
}

static int32_t distill_lines(char *text, int32_t len,
                             int (*is_line_kept)(const char *line, int32_t len))
{
    int32_t kept = 0;
    for (int32_t at = 0, end; at < len; at = end) {
        end = piece_end(text, at, len, '\n');
        end += end < len;
        if (!is_line_kept(text + at, end - at))
            continue;
        memmove(text + kept, text + at, (size_t)(end - at));
        kept += end - at;
    }
    return kept;
}

int32_t cpubind_doctor_input_distill(const char *name, char *text, int32_t len)
{
    if (fits(name, "proc/self/fd"))
        return 0;
    if (fits(name, "proc/#/environ"))
        return distill_environ(text, len);
    if (fits(name, "proc/#/cmdline"))
        return distill_cmdline(text, len);
    if (fits(name, "proc/self/mountinfo"))
        return distill_lines(text, len, is_mount_of_proc);
    if (fits(name, "run/cpubind/#.record") || fits(name, "run/user/#/cpubind/#.record"))
        return distill_lines(text, len, is_of_record);
    return len;
}
