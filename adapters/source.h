/* source.h - the seam: where the bytes of a host come from
 * SPDX-License-Identifier: MIT
 *
 * A source answers "the bytes of input X". Three implementations: the live host and a snapshot
 * folder (adapters/linux), a row of the corpus (adapters/sqlite). All code past this seam is
 * the same for the three. Declarations only: no code, no state.
 *
 * NAMES  An input is named by its path inside a snapshot, without a leading slash:
 *          proc/self/status            a file of the host below /proc or /sys
 *          cmd/npu-smi-info-m.txt      the output of a command (CPUBIND_COMMAND_LIST)
 *          cmd/npu-smi-info-t-board-i0-c1.txt      of `npu-smi info -t board -i 0 -c 1`, for
 *                                      any numbers; -i0.txt without a chip (text/input_name.h)
 *          env                         lines NAME=value; CPUBIND_ENV_LIST names what is kept
 *          uname                       one line: the machine, as `uname -m` prints it
 *        Names hold no "..", no empty part and no byte below a blank (text/input_name.h).
 */
#ifndef CPUBIND_SOURCE_H
#define CPUBIND_SOURCE_H

#include <stdint.h>

/* Every command whose output is an input: (file below cmd/, argument words). A word list ends
 * with NULL. Run with LC_ALL=C and without a shell. */
#define CPUBIND_COMMAND_LIST(X)                                                                \
    X("cmd/npu-smi-info-m.txt", "npu-smi", "info", "-m", NULL)                                 \
    X("cmd/npu-smi-info.txt", "npu-smi", "info", NULL)                                         \
    X("cmd/npu-smi-info-t-topo.txt", "npu-smi", "info", "-t", "topo", NULL)                    \
    X("cmd/lscpu-e.txt", "lscpu", "-e=CPU,NODE", NULL)                                         \
    X("cmd/lscpu.txt", "lscpu", NULL)

/* Every environment variable that is part of a snapshot. */
#define CPUBIND_ENV_LIST(X) X("ASCEND_RT_VISIBLE_DEVICES")

/* How an input was answered. */
typedef enum cpubind_input_state {
    CPUBIND_INPUT_ABSENT = 0,  /* there is no such file, folder or command on this host */
    CPUBIND_INPUT_PRESENT = 1, /* data, len and exit_code hold the answer */
    CPUBIND_INPUT_FAILED = 2,  /* it is there and could not be read: `error`, `why` */
    CPUBIND_INPUT_TIMEOUT = 3, /* the command did not end in time and was killed */
    CPUBIND_INPUT_TOO_LONG = 4 /* longer than the source's cap: nothing is handed out */
} cpubind_input_state;

/* An answer. The bytes belong to the source and live until it is closed. */
typedef struct cpubind_input {
    cpubind_input_state state;
    const char *data;  /* bytes, not NUL-terminated; NULL when len is 0 */
    int32_t len;       /* bytes */
    int32_t exit_code; /* of a command: 0 .. 255, 128 + n when signal n ended it; else 0 */
    int32_t error;     /* errno when FAILED, else 0 */
    const char *why;   /* the step that failed ("open", "read", ...), static text; else NULL */
} cpubind_input;

/* One host. Neither function keeps its arguments; both may be called in any order and repeat
 * their first answer when asked again. */
typedef struct cpubind_source {
    void *ctx;
    /* The bytes of input `name`. */
    cpubind_input (*read)(void *ctx, const char *name);
    /* The names in folder `name` ("sys/devices/system/node"), one a line, each ended by LF, in
     * ascending byte order, without "." and "..". */
    cpubind_input (*list)(void *ctx, const char *name);
} cpubind_source;

#endif /* CPUBIND_SOURCE_H */
