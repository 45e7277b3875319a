/* files.h - files and folders: open, read, list, create, write; and the faults of these steps
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. Every step returns its fault by value: error 0 when all is well,
 * else the errno and the name of the step. A step that a signal interrupts is tried again here.
 *
 * A cpubind_root is a folder that all names are looked up in: "/" of the live host, or a
 * snapshot. A snapshot may come from a stranger. Whatever its symbolic links say, no file
 * outside of the folder is opened:
 *   kernel 5.6 on   openat2(2) with RESOLVE_BENEATH: the kernel refuses a link that leaves.
 *   older kernels, and containers whose filter forbids openat2: cpubind resolves the links as
 *                   text, with readlinkat(2), and opens the resulting path part by part with
 *                   O_NOFOLLOW. A link that appears in between is refused.
 * Both ways follow relative links that stay inside (sys/bus/pci/devices of a real dump is made
 * of them) and refuse absolute links and those that leave with EXDEV.
 *
 * Anything but a regular file is refused after it was opened, with O_NONBLOCK and O_NOCTTY: a
 * FIFO or a terminal cannot hang a reader. (A device node is opened then, but never read; only
 * root can have unpacked one. Looking before opening would double the cost.)
 */
#ifndef CPUBIND_LINUX_FILES_H
#define CPUBIND_LINUX_FILES_H

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "../../source.h"
#include "../linux.h"
#include "../sys.h"
#include "bytes.h"

/* == Faults, repeats, time ================================================== */

static const cpubind_linux_fault cpubind_no_fault = {0};

/* The fault of a step that ended with an errno, 0 for success. */
static inline cpubind_linux_fault cpubind_fault_of(int error, const char *what)
{
    return error ? (cpubind_linux_fault){error, what, 0} : cpubind_no_fault;
}

/* The fault of a system call that failed: its errno, or EIO if it has set none. */
static inline cpubind_linux_fault cpubind_fault_errno(const char *what)
{
    return (cpubind_linux_fault){errno ? errno : EIO, what, 0};
}

/* How a public function ends: fills *out, which may be NULL, unless the status is OK. */
static inline cpubind_linux_status cpubind_linux_end(cpubind_linux_status status,
                                                     cpubind_linux_fault why,
                                                     cpubind_linux_fault *out)
{
    if (out && status != CPUBIND_LINUX_OK)
        *out = why;
    return status;
}

static inline cpubind_linux_status cpubind_linux_fail(cpubind_linux_status status, int error,
                                                      const char *what,
                                                      cpubind_linux_fault *out)
{
    return cpubind_linux_end(status, (cpubind_linux_fault){error ? error : EIO, what, 0}, out);
}

/* Whether an error says that a process or a thread has ended, or is hidden from this user. */
static inline int cpubind_is_unseen(int error)
{
    return error == ESRCH || error == ENOENT || error == EACCES || error == EPERM;
}

/* Assigns the result of a system call that is repeated while a signal interrupts it. */
#define CPUBIND_RETRY(result, call)                                                            \
    do                                                                                         \
        (result) = (call);                                                                     \
    while ((result) < 0 && errno == EINTR)

/* The monotonic clock in milliseconds. */
int64_t cpubind_now_ms(void);

/* Waits until a descriptor can be read or written, up to a time of cpubind_now_ms.
 *   in      events of poll(2); what: the step that is waited for
 *   errors  ETIMEDOUT, `what`; "poll" */
cpubind_linux_fault cpubind_wait_for(const cpubind_sys *sys, int fd, short events,
                                     int64_t until_ms, const char *what);

struct sockaddr_un;

/* Connects a Unix socket that does not block. A full queue of connections is waited for, until
 * a time of cpubind_now_ms: who listens is busy, or hangs.
 *   errors  "connect"; of a full queue ETIMEDOUT */
cpubind_linux_fault cpubind_connect(const cpubind_sys *sys, int fd,
                                    const struct sockaddr_un *to, int64_t until_ms);

/* == Files and folders by descriptor ======================================== */

/* Whether a file, a folder or a socket is this user's, and nobody else may write to it. */
static inline int cpubind_is_mine(const cpubind_sys *sys, const struct stat *st)
{
    return st->st_uid == sys->geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Reads a regular file that is this user's alone, at most `max` bytes. A link is none.
 *   errors  "open"; "file": EPERM: it is not; EISDIR, EINVAL: it is no file; those of
 *           cpubind_read_all */
cpubind_linux_fault cpubind_read_mine(const cpubind_sys *sys, int dir, const char *name,
                                      int32_t max, cpubind_bytes *bytes);

/* open(2) for reading, relative to the folder `dir` or, with AT_FDCWD, to the working folder.
 *   out     *fd: a descriptor; -1 on failure */
cpubind_linux_fault cpubind_open(const cpubind_sys *sys, int dir, const char *path, int flags,
                                 int *fd);

/* Opens a regular file, which may be a FIFO by then: no open waits.
 *   in      flags: more of open(2)
 *   out     *st: what fstat(2) says of it; *fd: a descriptor, closed after a failure
 *   errors  "open"; `what`: EISDIR, EINVAL: it is none; those of fstat(2) */
cpubind_linux_fault cpubind_open_file(const cpubind_sys *sys, int dir, const char *path,
                                      int flags, const char *what, struct stat *st, int *fd);

/* Reads from here to the end of the file into `bytes`, after its content. The size that
 * fstat(2) reports is not used: it is 0 in /proc and 4096 in /sys.
 *   errors  EFBIG, "length": more than `max` bytes; ENOMEM, "memory"; "read" */
cpubind_linux_fault cpubind_read_all(const cpubind_sys *sys, int fd, int32_t max,
                                     cpubind_bytes *bytes);

/* Opens a file, reads it to its end or until the buffer is full, and closes it.
 *   in      size >= 2
 *   out     text[0 .. *len - 1], and a NUL after it; the file may be longer when
 *           *len == size - 1 */
cpubind_linux_fault cpubind_read_text(const cpubind_sys *sys, int dir, const char *path,
                                      char *text, size_t size, int32_t *len);

/* Calls visit(ctx, name) for each name in a folder but "." and "..", in the order of the
 * kernel, until a call returns a fault. Closes `fd` in any case.
 *   returns the fault of the visit, or of the listing: "list" */
typedef cpubind_linux_fault cpubind_name_visit(void *ctx, const char *name);
cpubind_linux_fault cpubind_each_name(const cpubind_sys *sys, int fd, cpubind_name_visit *visit,
                                      void *ctx);

/* Takes the lock of an open file, flock(2), until that is closed.
 *   errors  EWOULDBLOCK, "lock": another process has it; "lock" */
cpubind_linux_fault cpubind_lock(const cpubind_sys *sys, int fd);

/* == Writing ================================================================ */

/* Writes a text and a line feed to a file of the kernel with one write(2): it takes each write
 * as a value of its own.
 *   errors  `what`, with the errno of open(2) or write(2); EIO: a part of it was written */
cpubind_linux_fault cpubind_write_value(const cpubind_sys *sys, int dir, const char *path,
                                        const char *text, const char *what);

/* Creates a file for writing. EEXIST when the name is taken, by a link too.
 *   out     *fd: a descriptor; -1 on failure */
cpubind_linux_fault cpubind_create(const cpubind_sys *sys, int dir, const char *name,
                                   mode_t mode, int *fd);

/* Writes all of the data to a new file, syncs and closes it. Closes `fd` in any case.
 *   errors  "write", "sync", "close" */
cpubind_linux_fault cpubind_write_synced(const cpubind_sys *sys, int fd, const char *data,
                                         int32_t len);

/* fsync(2). A file system that does not know it for this kind of file has done what it can. */
cpubind_linux_fault cpubind_sync(const cpubind_sys *sys, int fd);

/* Bytes of a base that a temporary name keeps: the whole must not be longer than NAME_MAX. */
#define CPUBIND_TEMP_BASE_MAX 220

/* Makes a file or a folder under a temporary name, ".<base>.<pid>.<n>.tmp", with the first n
 * from 0 whose name is free. The pid is that of this process: only leftovers of a killed
 * process of the same pid, and other threads of this one, use up names.
 *   in      make(ctx, name) makes it; EEXIST when the name is taken
 *   out     name, "" on failure
 *   returns the fault of the last call */
cpubind_linux_fault cpubind_make_temp(const char *base, cpubind_name_visit *make, void *ctx,
                                      char name[NAME_MAX + 1]);

/* Makes a file appear whole or not at all: writes a temporary file in the folder, syncs it, and
 * gives it the name, which may be taken. On failure a file of this name stays as it was.
 *   errors  "create", "write", "sync", "close", "rename" */
cpubind_linux_fault cpubind_replace(const cpubind_sys *sys, int dir, const char *base,
                                    mode_t mode, const char *data, int32_t len);

/* Removes the temporary files of a base that killed processes have left in a folder. The caller
 * sees to it that nobody writes one now. What cannot be removed stays. */
void cpubind_remove_temps(const cpubind_sys *sys, int dir, const char *base);

/* == A root ================================================================= */

/* Longest file: /proc/interrupts of 1,152 CPUs is 13 MB. */
#define CPUBIND_FILE_MAX (64 << 20)

/* Longest listing. A folder of /sys has some hundreds of names, of /proc some ten thousand. */
#define CPUBIND_LIST_MAX_NAMES 65536
#define CPUBIND_LIST_MAX_BYTES (4 << 20)

typedef enum cpubind_path_reach {
    CPUBIND_REACH_ANYWHERE = 0, /* links lead where they lead: the live host */
    CPUBIND_REACH_BENEATH = 1,  /* not outside the folder, openat2 */
    CPUBIND_REACH_WALK = 2      /* not outside the folder, part by part */
} cpubind_path_reach;

typedef struct cpubind_root {
    const cpubind_sys *sys;
    int fd;                   /* the folder, O_PATH */
    cpubind_path_reach reach; /* BENEATH becomes WALK when the kernel has no openat2 */
} cpubind_root;

/* Opens "/" of the live host.
 *   in      sys: NULL for the real calls
 *   out     *root; its fd is to be closed, -1 after a failure */
cpubind_linux_fault cpubind_root_live(cpubind_root *root, const cpubind_sys *sys);

/* Opens `name` below the folder, for reading, close-on-exec.
 *   in      a valid name; `flags` are added to the open flags
 *   out     *fd: a descriptor; -1 on failure
 *   errors  "open"; EXDEV: a link leads outside */
cpubind_linux_fault cpubind_root_open(cpubind_root *root, const char *name, int flags, int *fd);

/* The content of a regular file.
 *   in      a valid name; `bytes` is empty
 *   out     PRESENT with the content in `bytes`, or another state; ABSENT also when /dev/null
 *           is mounted over the file
 *   cost    five system calls for a small file */
cpubind_input cpubind_root_read(cpubind_root *root, const char *name, cpubind_bytes *bytes);

/* The names in a folder, as cpubind_source.list has them.
 *   in      a valid name; `bytes` is empty
 *   out     PRESENT with the lines in `bytes`, or another state; FAILED with EILSEQ when a name
 *           holds a byte below a blank, which a list of lines could not show, and with ENOTDIR
 *           when the name, or a part of it, is there and is no folder
 *   cost    O(names log names) */
cpubind_input cpubind_root_list(cpubind_root *root, const char *name, cpubind_bytes *bytes);

/* == Inputs without data ==================================================== */

/* PRESENT, ABSENT, TIMEOUT or TOO_LONG. */
cpubind_input cpubind_input_of(cpubind_input_state state);

/* FAILED; `why` is static text. An error of 0, which no call should leave, becomes EIO. */
cpubind_input cpubind_input_failed(int error, const char *why);

/* ABSENT when the error says that nothing is there (ENOENT, ENOTDIR), else FAILED. */
cpubind_input cpubind_input_missing(int error, const char *why);

/* The fault of an answer: none when it is PRESENT, ENOENT when it is ABSENT, EFBIG when it is
 * TOO_LONG, else why it failed. */
cpubind_linux_fault cpubind_input_fault(cpubind_input input);

#endif /* CPUBIND_LINUX_FILES_H */
