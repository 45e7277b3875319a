/* source.h - the interface through which the bytes of a host are read
 * SPDX-License-Identifier: MIT
 *
 * A source returns the bytes of an input. It has three implementations: the live host and a
 * snapshot folder (adapters/linux), and a row of the corpus (adapters/sqlite). The readers do
 * not know which of them they read. Declarations only: no code, no state.
 *
 * NAMES  An input is named by its path inside a snapshot, without a leading slash:
 *          proc/self/status            a file of the host below /proc or /sys
 *          cmd/npu-smi-info-m.txt      the output of a command (CPUBIND_COMMAND_LIST)
 *          cmd/npu-smi-info-t-board-i0-c1.txt      of `npu-smi info -t board -i 0 -c 1`, for
 *                                      any numbers; -i0.txt without a chip: ascend/input_list.h
 *          env                         lines NAME=value; CPUBIND_ENV_LIST and model/vendor.h
 *                                      name the variables, and all that start with
 *                                      CPUBIND_ENV_PREFIX, sorted
 *          dev, dev/davinci3           the device nodes davinci<N> that this process may open
 *                                      for reading and writing: a node's text is "major:minor"
 *                                      and a line feed. No node is ever opened: to open one is
 *                                      to claim the device
 *          dev/nvidia, dev/nvidia/nvidia0, dev/dri/renderD128, dev/accel/accel0
 *                                      the same of other accelerators: nodes nvidia<N> of
 *                                      /dev, renderD<N> of /dev/dri, accel<N> of /dev/accel;
 *                                      where a source is of another process, that process has
 *                                      these in its /dev
 *          sys/.../drm, sys/.../accel  folders of a PCI function, for the names in them
 *          sys/.../physfn              empty, on a virtual PCI function alone
 *          uname                       one line: the machine, as `uname -m` prints it
          date                        one line: when the host was captured, 2026-11-23T01:02:03Z
 *          proc/4711/fd                a line a device that a process has open, "17 195:0": the
 *                                      numbers of the descriptor and of the device; none for
 *                                      /dev/null
 *          proc/self/fd                empty; a snapshot with it has the processes that use
 *                                      devices
          etc/os-release, usr/local/Ascend/driver/version.info
                                      files that say which system and driver it has
 *        cmd/NAME.txt.err, the stderr of the command, is a part of cmd/NAME.txt (`err` below),
 *        and no input of its own.
 *        Names hold no "..", no empty part and no byte below a blank (text/input_name.h).
 */
#ifndef CPUBIND_SOURCE_H
#define CPUBIND_SOURCE_H

#include <stdint.h>

/* The commands whose output is an input: (file below cmd/, argument words, NULL). They run with
 * LC_ALL=C and without a shell. */
#define CPUBIND_COMMAND_LIST(X)                                                                \
    X("cmd/npu-smi-info-m.txt", "npu-smi", "info", "-m", NULL)                                 \
    X("cmd/npu-smi-info.txt", "npu-smi", "info", NULL)                                         \
    X("cmd/npu-smi-info-t-topo.txt", "npu-smi", "info", "-t", "topo", NULL)                    \
    X("cmd/lscpu-e.txt", "lscpu", "-e=CPU,NODE", NULL)                                         \
    X("cmd/lscpu.txt", "lscpu", NULL)

/* The environment variables that are part of a snapshot, besides those of the vendors
 * (model/vendor.h: variable, setting). */
#define CPUBIND_ENV_LIST(X)                                                                    \
    X("ASCEND_RUNTIME_OPTIONS")                                                                \
    X("ASCEND_VISIBLE_DEVICES")                                                                \
    X("CPUBIND_FACTS")                                                                         \
    X("CPUBIND_RULES")                                                                         \
    X("SLURM_CPUS_ON_NODE")                                                                    \
    X("SLURM_GPUS_ON_NODE")                                                                    \
    X("SLURM_JOB_CPUS_PER_NODE")                                                               \
    X("SLURM_JOB_GPUS")                                                                        \
    X("SLURM_JOB_NUM_NODES")                                                                   \
    X("SLURM_NODEID")                                                                          \
    X("SLURM_STEP_GPUS")                                                                       \
    X("SLURM_STEP_NUM_NODES")
#define CPUBIND_ENV_PREFIX "DRA_CPUSET_"

/* (launcher, rank on this host, rank in the job): what each sets. The first of them that is
 * set counts: a launcher that is started by another one comes before that (mpirun in a job of
 * Slurm, whose tasks all have SLURM_LOCALID=0). */
#define CPUBIND_RANK_LIST(X)                                                                   \
    X("torchrun", "LOCAL_RANK", "RANK")                                                        \
    X("Open MPI", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_RANK")                        \
    X("MVAPICH", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_RANK")                           \
    X("MPICH, Intel MPI", "MPI_LOCALRANKID", "PMI_RANK")                                       \
    X("PALS", "PALS_LOCAL_RANKID", "PALS_RANKID")                                              \
    X("Cray PMI", "PMI_LOCAL_RANK", "PMI_RANK")                                                \
    X("Flux", "FLUX_TASK_LOCAL_ID", "FLUX_TASK_RANK")                                          \
    X("srun", "SLURM_LOCALID", "SLURM_PROCID")

/* The outcome of reading an input. */
typedef enum cpubind_input_state {
    CPUBIND_INPUT_ABSENT = 0,  /* there is no such file, folder or command on this host */
    CPUBIND_INPUT_PRESENT = 1, /* data, len and exit_code hold the answer */
    CPUBIND_INPUT_FAILED = 2,  /* it could not be read: see `error` and `why` */
    CPUBIND_INPUT_TIMEOUT = 3, /* the command did not end in time and was killed */
    CPUBIND_INPUT_TOO_LONG = 4 /* longer than the source accepts: no bytes */
} cpubind_input_state;

/* How many bytes of stderr an answer holds at most. */
#define CPUBIND_INPUT_ERR_MAX 4096

/* An answer. The bytes belong to the source and live until it is closed. */
typedef struct cpubind_input {
    cpubind_input_state state;
    const char *data;  /* bytes, not NUL-terminated; NULL when len is 0 */
    int32_t len;       /* bytes */
    int32_t exit_code; /* of a command: 0 .. 255, 128 + n when signal n ended it; else 0 */
    int32_t error;     /* errno when FAILED, else 0 */
    const char *why;   /* the step that failed ("open", "read", ...), static text; else NULL */
    const char *err;   /* the first bytes that a command printed on stderr, not NUL-terminated,
                          in any state; NULL when err_len is 0. It is text for messages: no plan
                          depends on it */
    int32_t err_len;   /* 0 .. CPUBIND_INPUT_ERR_MAX */
} cpubind_input;

/* One host. Neither function keeps its arguments. They may be called in any order, and return
 * the same answer each time. */
typedef struct cpubind_source {
    void *ctx;
    /* The bytes of input `name`. */
    cpubind_input (*read)(void *ctx, const char *name);
    /* The names in folder `name` ("sys/devices/system/node"), one a line, each ended by LF, in
     * ascending byte order, without "." and "..". In a snapshot an empty file below
     * proc/ stands for an empty folder. */
    cpubind_input (*list)(void *ctx, const char *name);
} cpubind_source;

#endif /* CPUBIND_SOURCE_H */
