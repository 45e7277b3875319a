/* host_source.h - the two hosts that Linux can show: this one, and a snapshot folder
 * SPDX-License-Identifier: MIT
 *
 * Both answer through the seam of ../source.h; what an input is called stands there. Neither
 * writes a file, prints, or changes a signal handler, the environment or the working folder of
 * the caller. One thread at a time may use a host; several hosts are independent.
 *
 * ANSWERS  The first answer of an input is kept, failures too, and repeated until the host is
 *          closed. (The one exception: an answer that there was no memory to remember.)
 *          A file is read to its end whatever its size is said to be; over 64 MiB: TOO_LONG.
 *          A listing over 65,536 names or 4 MiB: TOO_LONG.
 *          A missing file, or one below something that is no folder: ABSENT.
 *          A folder, FIFO, socket or device instead of a file: FAILED, and never a hang.
 *          A name that breaks the rules of the seam: FAILED, EINVAL, "name".
 */
#ifndef CPUBIND_LINUX_HOST_SOURCE_H
#define CPUBIND_LINUX_HOST_SOURCE_H

#include <stdint.h>

#include "../../source.h"
#include "../linux.h"
#include "../sys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The time that a command of the live host is given, unless the caller knows better; and the
 * longest that may be asked for, one hour. */
#define CPUBIND_LIVE_LIMIT_MS     20000
#define CPUBIND_LIVE_LIMIT_MAX_MS 3600000

/* A host that is open. */
typedef struct cpubind_linux_host cpubind_linux_host;

/* Opens a snapshot: a folder with the files of a host below it.
 *
 * The folder may come from a stranger. No symbolic link leads out of it: one that does, or that
 * is absolute, makes its input FAILED with EXDEV. (DIR itself may be a link.) The exit code of
 * cmd/NAME.txt is the one decimal number in cmd/NAME.exit, 0 .. 255 and at most one line feed;
 * 0 without that file. The word "timeout" there, in place of the number: the command did not
 * end in time, the input is TIMEOUT, and what cmd/NAME.txt holds is not handed out. Anything
 * else makes the input FAILED, EINVAL, "exit code".
 *   in      sys: the system calls to use, kept until the host is closed; NULL for the real ones
 *   out     *out, to be closed with cpubind_linux_close; NULL on failure
 *   errors  ERR_ARG; ERR_OPEN with fault->error (ENOENT, ENOTDIR, EACCES, ...); ERR_MEMORY
 *   cost    one system call; five for each file that is read */
cpubind_linux_status cpubind_linux_open_folder(const char *dir, const cpubind_sys *sys,
                                               cpubind_linux_host **out,
                                               cpubind_linux_fault *fault);

/* Opens the host that this process runs on, as process `pid` sees it; 0 for this process.
 *
 * Nothing is read and no command runs before an input is asked for.
 *   files     below "/"; symbolic links lead where they lead
 *   commands  those of CPUBIND_COMMAND_LIST, found on PATH, without a shell, with LC_ALL=C,
 *             LANG=C and no LANGUAGE, stdin and stderr /dev/null, in a process group of their
 *             own, signals as at the start of a program. Only stdout is an answer (npu-smi
 *             prints its errors there). Not on PATH: ABSENT. Not executable: FAILED, "exec".
 *             Still running after limit_ms, whether or not it has closed its stdout: the group
 *             is killed, TIMEOUT. Over 16 MiB: killed, TOO_LONG. A process that a command left
 *             behind is neither waited for nor killed.
 *   together  when the first npu-smi command is asked for, all npu-smi commands are started at
 *             once and waited for: three calls that take a second each take a second. Other
 *             commands (lscpu is a fallback) run alone, when asked for.
 *   status    proc/self/status is that of the process
 *   env       the variables of CPUBIND_ENV_LIST that are set; FAILED, EILSEQ, when a value
 *             holds a line feed. Of another process: those that it was started with
 *   uname     the machine, as `uname -m` prints it
 *
 * Every child is reaped, with waitpid on its own number. One that is beyond SIGKILL (hung in a
 * driver) is left after a second, its answer being TIMEOUT, and looked at again on close. A
 * caller who ignores SIGCHLD or reaps all children takes away the exit codes: FAILED, ECHILD.
 *   in      pid >= 0; 1 <= limit_ms <= CPUBIND_LIVE_LIMIT_MAX_MS, for each command; sys as
 *           above
 *   out     *out, to be closed with cpubind_linux_close; NULL on failure
 *   errors  ERR_ARG; ERR_OPEN with fault->error; ERR_MEMORY
 *   cost    one system call */
cpubind_linux_status cpubind_linux_open_live(int32_t pid, int32_t limit_ms,
                                             const cpubind_sys *sys, cpubind_linux_host **out,
                                             cpubind_linux_fault *fault);

/* The seam of an open host; valid until the host is closed. */
cpubind_source cpubind_linux_source(cpubind_linux_host *host);

/* Closes a host and frees every answer that it gave. NULL is allowed. */
void cpubind_linux_close(cpubind_linux_host *host);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_LINUX_HOST_SOURCE_H */
