/* fault_table.h - a table of system calls in which one call of a run fails
 * SPDX-License-Identifier: MIT
 *
 * Made from CPUBIND_SYS_LIST. Each function of `fault_table` counts its uses and fails where
 * `fault` says so; else it calls the function of its name in *fault_next: the real one, or the
 * one that a test needs in a whole run (a short write, an fsync that does not sync). close and
 * closedir close and then fail, as on Linux. Rules: the manual pages. Calls of one name must
 * not come from two threads at once.
 */
#ifndef CPUBIND_TESTS_LINUX_FAULT_TABLE_H
#define CPUBIND_TESTS_LINUX_FAULT_TABLE_H

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../../adapters/linux/sys.h"
#include "../support/test.h"

#define X(result, name, parameters, arguments, failure, real) CALL_##name,
typedef enum call { CALL_NONE, CPUBIND_SYS_LIST(X) N_CALLS } call;
#undef X

#define X(result, name, parameters, arguments, failure, real) #name,
static const char *const call_name[N_CALLS] = {"no call", CPUBIND_SYS_LIST(X)};
#undef X

/* The fault of this run: the nth use of `which` fails with `error`. */
static struct {
    call which;
    int nth, error;
    int forever;            /* the uses after the nth fail as well */
    int is_done;            /* the call does its work before it fails */
    void (*on_fault)(void); /* called at each use that fails, if not NULL */
    int n_met;              /* uses that failed */
    int count[N_CALLS];     /* uses of each call */
} fault;

static const cpubind_sys *fault_next = &cpubind_sys_real;

/* Begins a run, in which the nth use of `which`, from 1, fails with `error`. */
static inline void fault_set(call which, int nth, int error)
{
    memset(&fault, 0, sizeof fault);
    fault.which = which;
    fault.nth = nth;
    fault.error = error;
    fault.is_done = which == CALL_close || which == CALL_closedir;
}

static inline void fault_clear(void)
{
    fault_set(CALL_NONE, 0, 0);
}

/* An on_fault: as if the process were killed there. */
static inline void fault_ends_process(void)
{
    _exit(0);
}

/* Counts a use of `which`. Whether it fails. */
static inline int fault_is_now(call which)
{
    const int n = ++fault.count[which];
    if (fault.which != which || n < fault.nth || (n > fault.nth && !fault.forever))
        return 0;
    fault.n_met++;
    if (fault.on_fault)
        fault.on_fault();
    return 1;
}

#define X(result, name, parameters, arguments, failure, real)                                  \
    static result fault_##name parameters                                                      \
    {                                                                                          \
        if (!fault_is_now(CALL_##name))                                                        \
            return fault_next->name arguments;                                                 \
        if (fault.is_done)                                                                     \
            (void)fault_next->name arguments;                                                  \
        errno = fault.error;                                                                   \
        return failure;                                                                        \
    }
CPUBIND_SYS_LIST(X)
#undef X

#define X(result, name, parameters, arguments, failure, real) .name = fault_##name,
static const cpubind_sys fault_table = {CPUBIND_SYS_LIST(X)};
#undef X

/* A list of errors, or of calls, and its length: two arguments. */
#define LIST_OF(type, ...) (type[]){__VA_ARGS__}, sizeof(type[]){__VA_ARGS__} / sizeof(type)
#define ERRORS(...)        LIST_OF(const int, __VA_ARGS__)
#define CALLS(...)         LIST_OF(const call, __VA_ARGS__)

/* Fails the test when this run made a call that the list does not name. */
static inline void fault_assert_only(const call *calls, size_t n)
{
    for (int which = 1; which < N_CALLS; which++) {
        int is_listed = 0;
        for (size_t i = 0; i < n; i++)
            is_listed |= calls[i] == (call)which;
        if (!is_listed && fault.count[which])
            fail_msg("%s is called", call_name[which]);
    }
}

/* The errors of the manual page of each call, but for EINTR, and for ENOENT and ESRCH where
 * they say that a file or a process does not exist: tests name these three. */
#define OF_open                                                                                \
    EACCES, EBADF, EBUSY, EDQUOT, EFAULT, EFBIG, EINVAL, EISDIR, ELOOP, EMFILE, ENAMETOOLONG,  \
        ENFILE, ENODEV, ENOMEM, ENOSPC, ENOTDIR, ENXIO, EOPNOTSUPP, EOVERFLOW, EPERM, EROFS,   \
        ETXTBSY, EWOULDBLOCK
#define OF_openat    OF_open
#define OF_create    OF_open
#define OF_accessat  EACCES, EIO, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM, ENOTDIR
#define OF_fstat     EACCES, EBADF, EFAULT, ELOOP, ENAMETOOLONG, ENOMEM, ENOTDIR, EOVERFLOW
#define OF_read      EAGAIN, EBADF, EFAULT, EINVAL, EIO, EISDIR
#define OF_close     EBADF, EINTR, EIO, ENOSPC, EDQUOT
#define OF_fdopendir EACCES, EBADF, EMFILE, ENFILE, ENOMEM, ENOTDIR
#define OF_readdir   EBADF
#define OF_closedir  EBADF
#define OF_mkdirat                                                                             \
    EACCES, EBADF, EDQUOT, EFAULT, EINVAL, ELOOP, EMLINK, ENAMETOOLONG, ENOMEM, ENOSPC,        \
        ENOTDIR, EPERM, EROFS
#define OF_write                                                                               \
    EAGAIN, EBADF, EDESTADDRREQ, EDQUOT, EFAULT, EFBIG, EINVAL, EIO, ENOSPC, EPERM, EPIPE
#define OF_fsync EBADF, EIO, ENOSPC, EROFS, EDQUOT
#define OF_rename                                                                              \
    EACCES, EBADF, EBUSY, EDQUOT, EFAULT, EINVAL, EISDIR, ELOOP, EMLINK, ENAMETOOLONG, ENOENT, \
        ENOMEM, ENOSPC, ENOTDIR, EEXIST, ENOTEMPTY, EPERM, EROFS, EXDEV
#define OF_unlinkat                                                                            \
    EACCES, EBADF, EBUSY, EFAULT, EINVAL, EIO, EISDIR, ELOOP, ENAMETOOLONG, ENOMEM, ENOTDIR,   \
        EPERM, EROFS
#define OF_poll              EFAULT, EINVAL, ENOMEM
#define OF_getaffinity       EFAULT, EINVAL, EPERM
#define OF_setaffinity       OF_getaffinity
#define OF_set_mempolicy     EFAULT, EINVAL, ENOMEM
#define OF_pidfd_open        EINVAL, EMFILE, ENFILE, ENODEV, ENOMEM
#define OF_pidfd_send_signal EBADF, EINVAL, EPERM
#define OF_flock             EBADF, EINVAL, ENOLCK
#define OF_lock_range        EACCES, EAGAIN, EBADF, EINVAL, ENOLCK, EDEADLK

#define OF_socket EAFNOSUPPORT, EPROTONOSUPPORT, EACCES, EINVAL, EMFILE, ENFILE, ENOBUFS, ENOMEM

#define OF_connect                                                                             \
    EACCES, EBADF, EFAULT, EINVAL, ENOMEM, ENOTSOCK, EPERM, EADDRINUSE, EADDRNOTAVAIL,         \
        EAFNOSUPPORT, EALREADY, EINPROGRESS, EISCONN, ENETUNREACH, EPROTOTYPE, ETIMEDOUT
#define OF_getsockopt EBADF, EFAULT, EINVAL, ENOPROTOOPT, ENOTSOCK
#define OF_sendmsg                                                                             \
    EACCES, EBADF, EFAULT, EINVAL, ENOMEM, ENOTSOCK, EALREADY, ECONNRESET, EDESTADDRREQ,       \
        EISCONN, EMSGSIZE, ENOBUFS, ENOTCONN, EOPNOTSUPP, EPIPE
#define OF_exec                                                                                \
    E2BIG, EACCES, EAGAIN, EFAULT, EINVAL, EIO, EISDIR, ELIBBAD, ELOOP, EMFILE, ENAMETOOLONG,  \
        ENFILE, ENOENT, ENOEXEC, ENOMEM, ENOTDIR, EPERM, ETXTBSY
#define OF_malloc  ENOMEM
#define OF_realloc ENOMEM

#endif /* CPUBIND_TESTS_LINUX_FAULT_TABLE_H */
