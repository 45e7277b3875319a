/* shared_run.h - one run of a tool serves all processes of a host
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. Sixteen ranks that start at once would run a tool sixteen times,
 * each for a second and more. The first one runs it and keeps the outputs in a file; the others
 * wait for its lock, and read them.
 *
 *   FILE      <folder of run_folder.h>/<tool>.<mount namespace>[.<board>], of this user and
 *             written by nobody else, replaced as a whole. It holds a checksum, the time when
 *             the commands had ended, and a host with the key, and output, stderr and exit
 *             code of each command.
 *   KEY       boot id, mount namespace, device, inode and time of the tool on PATH,
 *             LD_LIBRARY_PATH, and the device nodes that this process may open. An output with
 *             another key is another view of the host, and is not used.
 *   AGE       at most CPUBIND_SHARED_AGE_MS after the commands had ended.
 *   KEPT      only when every command has ended by itself, in time and within the limits: a
 *             failure of one process is not handed to others.
 *   LOCK      flock(2) on <tool>.<mount namespace>.lock: the kernel frees it when its holder
 *             dies. It is waited for as long as one command may take, and no longer.
 *   FAILURE   Where anything of this is not possible or looks wrong, the commands run in this
 *             process alone, without a word. It must never make an answer wrong, or fail one.
 */
#ifndef CPUBIND_LINUX_SHARED_RUN_H
#define CPUBIND_LINUX_SHARED_RUN_H

#include <stdint.h>

#include "../kernel/files.h"
#include "command.h"

/* How old an output may be: of ranks that start together, not of two runs of a job. */
#define CPUBIND_SHARED_AGE_MS 5000

/* Longest file; longer outputs are not shared. */
#define CPUBIND_SHARED_MAX (4 << 20)

typedef struct cpubind_shared {
    cpubind_root *root;  /* of the live host */
    const char *tool;    /* the command that is run */
    const char *tag;     /* "" or the last part of the name of the file: ".i4-c0" */
    cpubind_input nodes; /* the list of "dev" */
    int32_t limit_ms;    /* of each command */
} cpubind_shared;

/* Runs commands as cpubind_commands_run does, or fills them with outputs of another process.
 *   in      command[0 .. n - 1], as there; name[i]: the input that command i answers */
void cpubind_shared_run(const cpubind_shared *shared, cpubind_command *command,
                        const char *const *name, int32_t n);

#endif /* CPUBIND_LINUX_SHARED_RUN_H */
