/* launch_text.c - the CPUs of the ranks of a plan, in the words of the programs that start them
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The formats and their sources are in launch_text.h.
 */
#include "launch_text.h"

#include <string.h>

#include "../text/cpulist.h"

/* A text that grows to any length; bytes past `cap` are counted alone. */
typedef struct writer {
    char *text;
    int32_t cap, len;
} writer;

static void put(writer *w, const char *bytes, int32_t n)
{
    if (n > 0 && n <= w->cap - w->len)
        memcpy(w->text + w->len, bytes, (size_t)n);
    else if (n > 0)
        w->cap = w->len; /* nothing more is stored */
    w->len += n;
}

static void put_word(writer *w, const char *word)
{
    put(w, word, (int32_t)strlen(word));
}

static void put_number(writer *w, int32_t number)
{
    char digits[12], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    put(w, at, (int32_t)(digits + sizeof digits - at));
}

/* Writes a list with ranges, as the kernel does: "0-3,8". */
static void put_list(writer *w, const int32_t *list, int32_t n)
{
    int32_t len = 0;
    const int32_t room = w->cap > w->len ? w->cap - w->len : 0;
    if (cpubind_cpulist_format(list, n, room ? w->text + w->len : NULL, room, &len) !=
        CPUBIND_TEXT_OK)
        w->cap = w->len;
    w->len += len;
}

/* Writes one place for each CPU: "{0}:4,{8}"; "{0}:4" is {0},{1},{2},{3}. */
static void put_places(writer *w, const int32_t *cpu, int32_t n)
{
    for (int32_t i = 0, last; i < n; i = last + 1) {
        for (last = i; last + 1 < n && cpu[last + 1] == cpu[last] + 1;)
            last++;
        put_word(w, i > 0 ? ",{" : "{");
        put_number(w, cpu[i]);
        put_word(w, "}");
        if (last > i) {
            put_word(w, ":");
            put_number(w, last - i + 1);
        }
    }
}

/* Writes a mask as one number: "0xff00". */
static void put_mask(writer *w, const int32_t *cpu, int32_t n)
{
    int32_t at = n - 1;
    put_word(w, "0x");
    for (int32_t digit = cpu[n - 1] / 4; digit >= 0; digit--) {
        int32_t value = 0;
        for (; at >= 0 && cpu[at] / 4 == digit; at--)
            value |= 1 << cpu[at] % 4;
        put(w, &"0123456789abcdef"[value], 1);
    }
}

/* == Formats ================================================================ */

/* For which ranks a part of a format is there. */
typedef enum part_for { ALL, ALL_WITH_NODES, ONE } part_for;

/* A part of a format: a text, and one for each rank, with others between them. In the text of a
 * rank %c are its CPUs, %t those of its compute threads, %p these as places, %x a mask of its
 * CPUs, %m the number of its threads, and %n the node of its memory: from a "~" on it is left
 * out without one. */
typedef struct format_part {
    const char *before, *rank, *between;
    part_for who;
} format_part;

enum { PARTS = 3 };

static const format_part formats[CPUBIND_LAUNCH_COUNT][PARTS] = {
    [CPUBIND_LAUNCH_TASKSET] = {{"", "-c %c", "\n", ALL}},
    [CPUBIND_LAUNCH_NUMACTL] = {{"", "--physcpubind=%c~ --membind=%n", "\n", ALL}},
    [CPUBIND_LAUNCH_CPUSET] = {{"", "%c", "\n", ALL}},
    [CPUBIND_LAUNCH_OMP_PLACES] = {{"", "%p", "\n", ALL}},
    [CPUBIND_LAUNCH_GOMP] = {{"", "%t", "\n", ALL}},
    [CPUBIND_LAUNCH_KMP] = {{"", "granularity=fine,explicit,proclist=[%t]", "\n", ALL}},
    [CPUBIND_LAUNCH_VLLM_OMP] = {{"", "%t", "|", ALL}},
    [CPUBIND_LAUNCH_SGLANG_OMP] = {{"", "%t", "|", ALL}},
    [CPUBIND_LAUNCH_SYSTEMD] = {{"", "[Service]\nAllowedCPUs=%c~\nNUMAPolicy=bind\nNUMAMask=%n",
                                 "\n", ALL}},
    [CPUBIND_LAUNCH_SLURM] = {{"--cpu-bind=mask_cpu:", "%x", ",", ALL},
                              {" --mem-bind=map_mem:", "%n", ",", ALL_WITH_NODES}},
    [CPUBIND_LAUNCH_SLURM_LDOM] = {{"--cpu-bind=map_ldom:", "%n", ",", ALL_WITH_NODES}},
    [CPUBIND_LAUNCH_ENV] = {{"VLLM_CPU_OMP_THREADS_BIND=", "%t", "|", ALL},
                            {"\nSGLANG_CPU_OMP_THREADS_BIND=", "%t", "|", ALL},
                            {"\nOMP_NUM_THREADS=", "%m\nOMP_PROC_BIND=close\nOMP_PLACES=%p", "",
                             ONE}},
};

static void put_rank(writer *w, const char *format, const cpubind_launch_rank *rank)
{
    for (const char *c = format; *c && (*c != '~' || rank->node >= 0); c++) {
        if (*c != '%') {
            put(w, c, *c != '~');
            continue;
        }
        switch (*++c) {
        case 'c':
            put_list(w, rank->cpu, rank->n_cpu);
            break;
        case 't':
            put_list(w, rank->thread, rank->n_thread);
            break;
        case 'p':
            put_places(w, rank->thread, rank->n_thread);
            break;
        case 'x':
            put_mask(w, rank->cpu, rank->n_cpu);
            break;
        case 'm':
            put_number(w, rank->most > 0 ? rank->most : rank->n_thread);
            break;
        default:
            put_number(w, rank->node);
        }
    }
}

cpubind_text_status cpubind_launch_write(cpubind_launch_format format,
                                         const cpubind_launch *launch, char *text, int32_t cap,
                                         int32_t *out_len)
{
    writer w = {text, cap, 0};
    int has_nodes = 1;
    for (int32_t i = 0; i < launch->n_rank; i++)
        has_nodes &= launch->rank[i].node >= 0;
    if (format == CPUBIND_LAUNCH_SLURM_LDOM && !has_nodes)
        return CPUBIND_TEXT_ERR_MISSING;
    for (const format_part *part = formats[format]; part < formats[format] + PARTS; part++) {
        if (!part->rank || (part->who == ALL_WITH_NODES && !has_nodes) ||
            (part->who == ONE && launch->n_rank != 1))
            continue;
        put_word(&w, part->before);
        for (int32_t i = 0; i < launch->n_rank; i++) {
            put_word(&w, i > 0 ? part->between : "");
            put_rank(&w, part->rank, &launch->rank[i]);
        }
    }
    put_word(&w, "\n");
    *out_len = w.len;
    return w.len <= cap ? CPUBIND_TEXT_OK : CPUBIND_TEXT_ERR_SPACE;
}

const char *cpubind_launch_word(cpubind_launch_format format)
{
#define CPUBIND_X(name, word, what) word,
    static const char *const words[] = {CPUBIND_LAUNCH_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return (uint32_t)format < CPUBIND_LAUNCH_COUNT ? words[format] : "?";
}
