/* linux.h - the status codes and the fault that all of adapters/linux shares
 * SPDX-License-Identifier: MIT
 *
 * adapters/linux is the only folder with system calls. Nothing in it prints or exits, and
 * nothing in it changes a signal handler, the environment or the working folder of the caller.
 */
#ifndef CPUBIND_LINUX_H
#define CPUBIND_LINUX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The one list of codes: (name, number, text). Numbers never change; new ones go at the end. */
#define CPUBIND_LINUX_STATUS_LIST(X)                                                           \
    X(OK, 0, "success")                                                                        \
    X(ERR_ARG, -200, "an argument is outside its documented range")                            \
    X(ERR_OPEN, -201, "the folder could not be opened")                                        \
    X(ERR_MEMORY, -202, "there is no memory left")                                             \
    X(ERR_EXISTS, -203, "the target exists and may not be replaced")                           \
    X(ERR_WRITE, -204, "the folder could not be written")                                      \
    X(ERR_GONE, -205, "there is no such process")                                              \
    X(ERR_REFUSED, -206, "the kernel refused a system call")                                   \
    X(ERR_BUSY, -207, "another cpubind is working on this process")                            \
    X(ERR_STATE, -208, "the record could not be read or written")                              \
    X(ERR_DAMAGED, -209, "the record is damaged, or another program wrote it")                 \
    X(ERR_UNDONE, -210, "the kernel refused, and not everything could be restored")            \
    X(ERR_NOT_FORCED, -211, "such a process is bound only if that is forced")                  \
    X(ERR_BIRTHS, -212, "threads are born faster than they are looked at")

typedef enum cpubind_linux_status {
#define CPUBIND_X(name, value, text) CPUBIND_LINUX_##name = value,
    CPUBIND_LINUX_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_linux_status;

/* Why a call failed. A function of the public headers returns a status and takes a pointer to
 * a fault, which may be NULL: it is filled when the status is not OK, and left alone else. The
 * functions inside adapters/linux return a fault by value, whose error is 0 when all is
 * well. */
typedef struct cpubind_linux_fault {
    int32_t error;    /* an errno; 0: no failure */
    const char *what; /* the step that failed ("open"), static text; NULL without a failure */
    int32_t line;     /* of a damaged record, from 1: `what` was expected there; else 0 */
} cpubind_linux_fault;

/* One English sentence without a full stop; "?" for a number that is no code. Static. */
const char *cpubind_linux_status_text(cpubind_linux_status status);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_LINUX_H */
