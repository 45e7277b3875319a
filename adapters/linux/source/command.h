/* command.h - run commands in parallel, with a time limit and a limit of the output
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. Uses no shell, changes no signal setting of the caller, and waits
 * for its own children alone.
 *
 * A command that does not end in time is killed with its whole process group. Processes that a
 * command leaves running when it ends by itself are neither killed nor waited for: output up to
 * CPUBIND_COMMAND_DRAIN_MS after its end counts. Both pipes are read as long as a command runs,
 * whichever fills first: no command ever blocks on a full pipe. Of stderr the first bytes are
 * kept, and the rest is read and dropped.
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

/* How long output of a grandchild is read after the command has ended. */
#define CPUBIND_COMMAND_DRAIN_MS 100

/* How long the end of a killed command is waited for. A command that hangs inside the kernel,
 * on a wedged card for example, never ends. */
#define CPUBIND_COMMAND_KILL_MS 1000

typedef enum cpubind_command_phase {
    CPUBIND_PHASE_RUNNING = 0,  /* until its end or its limit */
    CPUBIND_PHASE_DYING = 1,    /* killed; `input` is set */
    CPUBIND_PHASE_DRAINING = 2, /* ended; another process still holds a pipe */
    CPUBIND_PHASE_DONE = 3
} cpubind_command_phase;

typedef struct cpubind_command {
    const char *const *argv; /* in: its words, ended by NULL; argv[0] as spawn of sys.h */
    cpubind_input input;     /* out: the answer, without its data; input.err is `err` below */
    cpubind_bytes bytes;     /* out: its output; the caller frees it */
    pid_t pid;               /* out: 0, or a child that is still to be reaped */
    /* The rest is for cpubind_commands_run alone. */
    cpubind_command_phase phase;
    int fd, err_fd; /* the pipes of stdout and stderr; -1 when closed */
    int32_t err_len;
    char err[CPUBIND_INPUT_ERR_MAX];
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

/* Reaps `pid` if it has ended; never waits. */
void cpubind_command_reap(pid_t pid, const cpubind_sys *sys);

#endif /* CPUBIND_LINUX_COMMAND_H */
