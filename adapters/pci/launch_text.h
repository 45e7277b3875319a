/* launch_text.h - the CPUs of the ranks of a plan, in the words of the programs that start them
 * SPDX-License-Identifier: MIT
 *
 * Pure: see ../text/text.h. One row for each format; a new one is one more row in
 * launch_text.c. It must not know where a plan comes from: an NPU, a GPU and a worker without
 * a device are ranks alike.
 *
 * WHICH CPUS  A format that limits a process (taskset, a cpuset) has all CPUs of the rank; a
 * format that places the threads of OpenMP has those of its compute threads.
 * SOURCES  taskset(1), numactl(8); OpenMP 5.2, 21.1.6 (OMP_PLACES); the manual of libgomp
 * (GOMP_CPU_AFFINITY); the reference of LLVM/OpenMP (KMP_AFFINITY); vLLM and SGLang
 * (VLLM_CPU_OMP_THREADS_BIND, SGLANG_CPU_OMP_THREADS_BIND: "|" between ranks); systemd.exec(5),
 * systemd.resource-control(5); srun(1), gres.conf(5).
 */
#ifndef CPUBIND_PCI_LAUNCH_TEXT_H
#define CPUBIND_PCI_LAUNCH_TEXT_H

#include "../text/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* (name, word, what it prints). */
#define CPUBIND_LAUNCH_LIST(X)                                                                 \
    X(TASKSET, "taskset", "a line for each rank: -c and its CPUs")                             \
    X(NUMACTL, "numactl", "--physcpubind and --membind")                                       \
    X(CPUSET, "cpuset", "the list alone: docker --cpuset-cpus")                                \
    X(OMP_PLACES, "omp-places", "OMP_PLACES, a place for each CPU")                            \
    X(GOMP, "gomp", "GOMP_CPU_AFFINITY of GCC")                                                \
    X(KMP, "kmp", "KMP_AFFINITY of LLVM and Intel")                                            \
    X(VLLM_OMP, "vllm-omp", "VLLM_CPU_OMP_THREADS_BIND of vLLM")                               \
    X(SGLANG_OMP, "sglang-omp", "SGLANG_CPU_OMP_THREADS_BIND of SGLang")                       \
    X(SYSTEMD, "systemd", "a drop-in: AllowedCPUs= and NUMAMask=")                             \
    X(SLURM, "slurm", "srun: --cpu-bind=mask_cpu:, --mem-bind")                                \
    X(SLURM_LDOM, "slurm-ldom", "srun: --cpu-bind=map_ldom")                                   \
    X(ENV, "env", "variables of vLLM, SGLang, OpenMP and RDMA")

typedef enum cpubind_launch_format {
#define CPUBIND_X(name, word, what) CPUBIND_LAUNCH_##name,
    CPUBIND_LAUNCH_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_LAUNCH_COUNT /* the number of formats; not a format */
} cpubind_launch_format;

typedef struct cpubind_launch_rank {
    const int32_t *cpu; /* all CPUs of the rank, ascending */
    int32_t n_cpu;
    const int32_t *thread; /* those of its compute threads, ascending */
    int32_t n_thread;
    int32_t most; /* threads that there is CPU time for; 0: all */
    int32_t node; /* of its memory, or -1 */
} cpubind_launch_rank;

typedef struct cpubind_launch {
    const cpubind_launch_rank *rank;
    int32_t n_rank;
} cpubind_launch;

/* "omp-places". Static storage. */
const char *cpubind_launch_word(cpubind_launch_format format);

/* Writes the ranks in a format, each line with a line feed, without a NUL.
 *   in      every rank has at least one CPU and one compute thread, each below
 *           CPUBIND_MAX_CPUS
 *   out     text[0 .. *out_len - 1]
 *   errors  ERR_MISSING: the format names a node for each rank, and a rank has none;
 *           ERR_SPACE with *out_len, `text` holds anything then
 *   cost    O(length of the text) */
cpubind_text_status cpubind_launch_write(cpubind_launch_format format,
                                         const cpubind_launch *launch, char *text, int32_t cap,
                                         int32_t *out_len);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PCI_LAUNCH_TEXT_H */
