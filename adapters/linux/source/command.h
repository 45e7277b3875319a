/* command.h - running commands side by side, with a time limit and a capped output
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. No shell. Changes no signal setting of the caller and waits for no
 * child but its own.
 *
 * A command that does not end in time is killed with its whole process group. What it started
 * and left behind when it ended by itself is left alone, and not waited for: the output is what
 * was printed up to CPUBIND_COMMAND_DRAIN_MS after its end.
 */
#ifndef CPUBIND_LINUX_COMMAND_H
#define CPUBIND_LINUX_COMMAND_H

#include <stdint.h>
#include <sys/types.h>

#include "../../source.h"
#include "../kernel/bytes.h"
#include "../sys.h"

/* Longest output. */
#define CPUBIND_COMMAND_OUTPUT_MAX (16 << 20)

/* How long a grandchild that holds the pipe is listened to after the command has ended. */
#define CPUBIND_COMMAND_DRAIN_MS 100

/* How long a command that was killed may take to go. One that hangs inside the kernel, as on a
 * card that is wedged, does not go at all: it must not take us with it. */
#define CPUBIND_COMMAND_KILL_MS 1000

typedef enum cpubind_command_phase {
    CPUBIND_PHASE_RUNNING = 0,  /* until its end or its limit */
    CPUBIND_PHASE_DYING = 1,    /* killed; `input` is decided */
    CPUBIND_PHASE_DRAINING = 2, /* ended, and somebody still holds the pipe */
    CPUBIND_PHASE_DONE = 3
} cpubind_command_phase;

typedef struct cpubind_command {
    const char *const *argv; /* in: its words, ended by NULL; argv[0] is looked up on PATH */
    cpubind_input input;     /* out: the answer, without its data */
    cpubind_bytes bytes;     /* out: what it printed; the caller frees it */
    pid_t pid;               /* out: 0, or a child that is still to be reaped */
    /* The rest is for cpubind_commands_run alone. */
    cpubind_command_phase phase;
    int fd;         /* where its output comes from; -1 past its end */
    int status;     /* of waitpid(2) */
    int64_t end_ms; /* when this phase ends at the latest */
} cpubind_command;

/* Runs `n` commands side by side and waits for all of them.
 *   in      command[0 .. n - 1] with argv set and all else zero; limit_ms for each
 *   out     command[i].input: PRESENT with its exit code; ABSENT: no such command; FAILED;
 *           TIMEOUT; TOO_LONG
 *   cost    the time of the slowest, at most limit_ms + CPUBIND_COMMAND_KILL_MS */
void cpubind_commands_run(cpubind_command *command, int32_t n, int32_t limit_ms,
                          const cpubind_sys *sys);

/* Reaps `pid` when it has ended meanwhile; never waits. */
void cpubind_command_reap(pid_t pid, const cpubind_sys *sys);

#endif /* CPUBIND_LINUX_COMMAND_H */
