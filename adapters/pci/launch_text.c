/* launch_text.c - the CPUs of the ranks of a plan, in the words of the programs that start them
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The formats and their sources are in launch_text.h.
 */
#include "launch_text.h"

#include <string.h>

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

/* The end of the run of consecutive numbers that starts at list[i]. */
static int32_t run_end(const int32_t *list, int32_t n, int32_t i)
{
    while (i + 1 < n && list[i + 1] == list[i] + 1)
        i++;
    return i;
}

/* Writes a list with ranges, as the kernel does: "0-3,8". */
static void put_list(writer *w, const int32_t *list, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t last = run_end(list, n, i);
        put_word(w, i > 0 ? "," : "");
        put_number(w, list[i]);
        if (last > i) {
            put_word(w, "-");
            put_number(w, list[last]);
        }
        i = last;
    }
}

/* Writes one place for each CPU: "{0}:4,{8}"; "{0}:4" is {0},{1},{2},{3}. */
static void put_places(writer *w, const int32_t *cpu, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t last = run_end(cpu, n, i);
        put_word(w, i > 0 ? ",{" : "{");
        put_number(w, cpu[i]);
        put_word(w, "}");
        if (last > i) {
            put_word(w, ":");
            put_number(w, last - i + 1);
        }
        i = last;
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

typedef void rank_writer(writer *w, const cpubind_launch_rank *rank);
typedef void all_writer(writer *w, const cpubind_launch *launch);

static void taskset_of(writer *w, const cpubind_launch_rank *rank)
{
    put_word(w, "-c ");
    put_list(w, rank->cpu, rank->n_cpu);
}

static void numactl_of(writer *w, const cpubind_launch_rank *rank)
{
    put_word(w, "--physcpubind=");
    put_list(w, rank->cpu, rank->n_cpu);
    if (rank->node >= 0) {
        put_word(w, " --membind=");
        put_number(w, rank->node);
    }
}

static void cpuset_of(writer *w, const cpubind_launch_rank *rank)
{
    put_list(w, rank->cpu, rank->n_cpu);
}

static void places_of(writer *w, const cpubind_launch_rank *rank)
{
    put_places(w, rank->thread, rank->n_thread);
}

static void gomp_of(writer *w, const cpubind_launch_rank *rank)
{
    put_list(w, rank->thread, rank->n_thread);
}

static void kmp_of(writer *w, const cpubind_launch_rank *rank)
{
    put_word(w, "granularity=fine,explicit,proclist=[");
    put_list(w, rank->thread, rank->n_thread);
    put_word(w, "]");
}

static void systemd_of(writer *w, const cpubind_launch_rank *rank)
{
    put_word(w, "[Service]\nAllowedCPUs=");
    put_list(w, rank->cpu, rank->n_cpu);
    if (rank->node >= 0) {
        put_word(w, "\nNUMAPolicy=bind\nNUMAMask=");
        put_number(w, rank->node);
    }
}

static void put_ranks(writer *w, const cpubind_launch *launch)
{
    for (int32_t i = 0; i < launch->n_rank; i++) {
        put_word(w, i > 0 ? "|" : "");
        put_list(w, launch->rank[i].thread, launch->rank[i].n_thread);
    }
}

static void omp_of(writer *w, const cpubind_launch *launch)
{
    put_ranks(w, launch);
    put_word(w, "\n");
}

static void put_nodes(writer *w, const cpubind_launch *launch)
{
    for (int32_t i = 0; i < launch->n_rank; i++) {
        put_word(w, i > 0 ? "," : "");
        put_number(w, launch->rank[i].node);
    }
}

static int has_nodes(const cpubind_launch *launch)
{
    for (int32_t i = 0; i < launch->n_rank; i++)
        if (launch->rank[i].node < 0)
            return 0;
    return 1;
}

static void slurm_of(writer *w, const cpubind_launch *launch)
{
    put_word(w, "--cpu-bind=mask_cpu:");
    for (int32_t i = 0; i < launch->n_rank; i++) {
        put_word(w, i > 0 ? "," : "");
        put_mask(w, launch->rank[i].cpu, launch->rank[i].n_cpu);
    }
    if (has_nodes(launch)) {
        put_word(w, " --mem-bind=map_mem:");
        put_nodes(w, launch);
    }
    put_word(w, "\n");
}

static void ldom_of(writer *w, const cpubind_launch *launch)
{
    put_word(w, "--cpu-bind=map_ldom:");
    put_nodes(w, launch);
    put_word(w, "\n");
}

static void env_of(writer *w, const cpubind_launch *launch)
{
    put_word(w, "VLLM_CPU_OMP_THREADS_BIND=");
    put_ranks(w, launch);
    put_word(w, "\nSGLANG_CPU_OMP_THREADS_BIND=");
    put_ranks(w, launch);
    if (launch->n_rank == 1) {
        put_word(w, "\nOMP_NUM_THREADS=");
        put_number(w,
                   launch->rank[0].most > 0 ? launch->rank[0].most : launch->rank[0].n_thread);
        put_word(w, "\nOMP_PROC_BIND=close\nOMP_PLACES=");
        places_of(w, &launch->rank[0]);
    }
    put_word(w, "\n");
}

/* By format: how it writes a rank, as a line of its own, or all of them. */
static const struct {
    rank_writer *one;
    all_writer *all;
    int needs_nodes;
} rows[CPUBIND_LAUNCH_COUNT] = {
    [CPUBIND_LAUNCH_TASKSET] = {taskset_of, NULL, 0},
    [CPUBIND_LAUNCH_NUMACTL] = {numactl_of, NULL, 0},
    [CPUBIND_LAUNCH_CPUSET] = {cpuset_of, NULL, 0},
    [CPUBIND_LAUNCH_OMP_PLACES] = {places_of, NULL, 0},
    [CPUBIND_LAUNCH_GOMP] = {gomp_of, NULL, 0},
    [CPUBIND_LAUNCH_KMP] = {kmp_of, NULL, 0},
    [CPUBIND_LAUNCH_VLLM_OMP] = {NULL, omp_of, 0},
    [CPUBIND_LAUNCH_SGLANG_OMP] = {NULL, omp_of, 0},
    [CPUBIND_LAUNCH_SYSTEMD] = {systemd_of, NULL, 0},
    [CPUBIND_LAUNCH_SLURM] = {NULL, slurm_of, 0},
    [CPUBIND_LAUNCH_SLURM_LDOM] = {NULL, ldom_of, 1},
    [CPUBIND_LAUNCH_ENV] = {NULL, env_of, 0},
};

static int is_launch(const cpubind_launch *launch)
{
    for (int32_t i = 0; i < launch->n_rank; i++) {
        const cpubind_launch_rank *rank = &launch->rank[i];
        if (rank->n_cpu < 1 || rank->n_thread < 1 || rank->cpu[rank->n_cpu - 1] < 0 ||
            rank->cpu[rank->n_cpu - 1] >= CPUBIND_MAX_CPUS)
            return 0;
    }
    return launch->n_rank > 0;
}

static cpubind_text_status finish(const writer *w, int32_t cap, int32_t *out_len)
{
    *out_len = w->len;
    return w->len <= cap ? CPUBIND_TEXT_OK : CPUBIND_TEXT_ERR_SPACE;
}

cpubind_text_status cpubind_launch_write(cpubind_launch_format format,
                                         const cpubind_launch *launch, char *text, int32_t cap,
                                         int32_t *out_len)
{
    writer w = {text, cap, 0};
    if ((uint32_t)format >= CPUBIND_LAUNCH_COUNT || cap < 0 || !is_launch(launch))
        return CPUBIND_TEXT_ERR_ARG;
    if (rows[format].needs_nodes && !has_nodes(launch))
        return CPUBIND_TEXT_ERR_MISSING;
    if (rows[format].all)
        rows[format].all(&w, launch);
    for (int32_t i = 0; rows[format].one && i < launch->n_rank; i++) {
        rows[format].one(&w, &launch->rank[i]);
        put_word(&w, "\n");
    }
    return finish(&w, cap, out_len);
}

cpubind_text_status cpubind_gres_write(const char *name, const cpubind_gres *gres, char *text,
                                       int32_t cap, int32_t *out_len)
{
    writer w = {text, cap, 0};
    if (!name || !gres->file || cap < 0)
        return CPUBIND_TEXT_ERR_ARG;
    put_word(&w, "Name=");
    put_word(&w, name);
    if (gres->type) {
        put_word(&w, " Type=");
        put(&w, gres->type, gres->type_len);
    }
    put_word(&w, " File=");
    put_word(&w, gres->file);
    if (gres->n_core > 0) {
        put_word(&w, " Cores=");
        put_list(&w, gres->core, gres->n_core);
    }
    put_word(&w, "\n");
    return finish(&w, cap, out_len);
}

/* == Words ================================================================== */

const char *cpubind_launch_word(cpubind_launch_format format)
{
#define CPUBIND_X(name, word, what) word,
    static const char *const words[] = {CPUBIND_LAUNCH_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return (uint32_t)format < CPUBIND_LAUNCH_COUNT ? words[format] : "?";
}
