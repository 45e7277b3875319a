/* host_source.h - the two sources that Linux has: this host, and a snapshot folder
 * SPDX-License-Identifier: MIT
 *
 * Both answer through the seam of ../source.h, which names the inputs. Neither prints, writes a
 * file (but for the shared outputs of tools, below), or changes a signal handler, the
 * environment or the working folder of the caller. One thread at a time may use a host; several
 * hosts are independent.
 *
 * ANSWERS  The first answer of an input is kept, failures too, and repeated until the host is
 *          closed. (The one exception: there was no memory to keep it.)
 *          A file is read to its end, whatever size it reports; over 64 MiB: TOO_LONG.
 *          A listing over 65,536 names or 4 MiB: TOO_LONG.
 *          A missing file, or one below something that is no folder: ABSENT. A missing folder:
 *          ABSENT. A folder that is there and cannot be listed, or a file in its place: FAILED.
 *          A folder, FIFO, socket or device instead of a file: FAILED, and never a hang. (A
 *          folder instead of "physfn": PRESENT, without bytes.)
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

/* The usual and the longest time limit of a command of the live host. */
#define CPUBIND_LIVE_LIMIT_MS     20000
#define CPUBIND_LIVE_LIMIT_MAX_MS 3600000

/* An open host. */
typedef struct cpubind_linux_host cpubind_linux_host;

/* Opens a snapshot: a folder with the files of a host below it.
 *
 * The folder may come from a stranger. No symbolic link leads out of it: one that does, or that
 * is absolute, makes its input FAILED with EXDEV. (DIR itself may be a link.) The exit code of
 * cmd/NAME.txt is the one decimal number in cmd/NAME.exit, 0 .. 255 and at most one line feed;
 * 0 without that file. The word "timeout" in place of the number says that the command did not
 * end in time: the input is TIMEOUT, without the content of cmd/NAME.txt. Anything else makes
 * the input FAILED, EINVAL, "exit code". The err of cmd/NAME.txt is the first
 * CPUBIND_INPUT_ERR_MAX bytes of cmd/NAME.txt.err; a missing or unreadable one is no err. An
 * empty file below proc/ can be listed, as an empty folder.
 *   in      sys: the system calls to use, kept until the host is closed; NULL for the real ones
 *   out     *out, to be closed with cpubind_linux_close; NULL on failure
 *   errors  ERR_ARG; ERR_OPEN with fault->error (ENOENT, ENOTDIR, EACCES, ...); ERR_MEMORY
 *   cost    one system call; five for each file that is read, of which a command has three */
cpubind_linux_status cpubind_linux_open_folder(const char *dir, const cpubind_sys *sys,
                                               cpubind_linux_host **out,
                                               cpubind_linux_fault *fault);

/* How the live host is opened. */
typedef struct cpubind_linux_live {
    int32_t pid;      /* the process; 0: this one */
    int32_t limit_ms; /* of each command; usually CPUBIND_LIVE_LIMIT_MS */
    int is_alone;     /* run tools here, and touch nothing below /run */
    const cpubind_sys
        *sys; /* the system calls to use, kept until the host is closed; NULL for the
                               real ones */
} cpubind_linux_live;

/* Opens the host that this process runs on, as a process sees it.
 *
 * Nothing is read and no command runs before an input is asked for.
 *   files     below "/"; symbolic links lead where they lead
 *   commands  those of CPUBIND_COMMAND_LIST, found in an absolute folder of PATH (never in the
 *             current folder), without a shell, with LC_ALL=C, LANG=C and no LANGUAGE, stdin
 *             /dev/null, in a process group of their own, signals as at the start of a program.
 *             Only stdout is an answer (some tools print errors there); the start of stderr
 *             is the err of the answer. Not on PATH: ABSENT. Not executable: FAILED, "exec".
 *             Still running after limit_ms, whether or not it has closed its stdout: the group
 *             is killed, TIMEOUT. Over 16 MiB: killed, TOO_LONG. Processes that a command
 *             leaves running are neither waited for nor killed.
 *   together  when the first command of a vendor's tool is asked for, all of it are started in
 *             parallel and waited for: three calls of a second each take one second. Other
 *             commands (lscpu is a fallback) run alone, when asked for.
 *   shared    unless is_alone is set, outputs of a tool that another process of this user has
 *             read less than five seconds ago are taken, and own ones are kept for others, in a
 *             file below /run/cpubind (of another user than root /run/user/UID/cpubind): see
 *             shared_run.h. Where that is not possible it runs here, without a word.
 *   process   proc/self/status and proc/self/cgroup are those of the process; where its main
 *             thread has ended, those of a thread of it that lives
 *   env       the variables of CPUBIND_ENV_LIST that are set, and those of CPUBIND_ENV_PREFIX,
 *             sorted; FAILED, EILSEQ, when one holds a line feed. Of another process: those
 *             that it was started with
 *   dev       the nodes of /dev that a vendor has as its own (model/vendor.h) and this
 *             process may open, by stat(2) and
 *             access(2): nothing below /dev is opened. Without such a node: ABSENT. dev/nvidia,
 *             dev/dri and dev/accel: the same of nodes in the /dev of the process, which may be
 *             another one (/proc/PID/root); of a process of Slurm in other cgroups ABSENT,
 *             since access(2) asks the device cgroup of this process
 *   uname     the machine, as `uname -m` prints it
 *   date      the date and time of the first answer, in UTC
 *
 * Every child is reaped, with waitpid on its own pid. A child that SIGKILL does not end (hung
 * in a driver) is TIMEOUT after a second; close calls waitpid again. When the caller ignores
 * SIGCHLD or reaps all children, the exit codes are lost: FAILED, ECHILD.
 *   in      live: pid >= 0, 1 <= limit_ms <= CPUBIND_LIVE_LIMIT_MAX_MS; NULL: this process, the
 *           usual limit
 *   out     *out, to be closed with cpubind_linux_close; NULL on failure
 *   errors  ERR_ARG; ERR_OPEN with fault->error; ERR_MEMORY
 *   cost    one system call */
cpubind_linux_status cpubind_linux_open_live(const cpubind_linux_live *live,
                                             cpubind_linux_host **out,
                                             cpubind_linux_fault *fault);

/* The seam of an open host; valid until the host is closed. */
cpubind_source cpubind_linux_source(cpubind_linux_host *host);

/* Closes a host and frees all its answers. NULL is allowed. */
void cpubind_linux_close(cpubind_linux_host *host);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_LINUX_HOST_SOURCE_H */
