/* proc_connector.h - reader of the messages in which the kernel reports threads and names
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. The bytes are those of one datagram of a netlink socket; whether the kernel
 * sent it is for the caller to check.
 *
 * GRAMMAR  (netlink(7), linux/netlink.h, linux/connector.h, linux/cn_proc.h; numbers are in the
 * byte order of the machine, u32 has four bytes)
 *   datagram  = 1*( message pad )          pad: up to a multiple of 4; may be cut at the end
 *   message   = length type flags seq port body       length: u32, of message; type, flags: u16
 *   body      = connector / other          connector: type 3 (DONE); other types are skipped,
 *                                          but type 4 (OVERRUN) says that messages were lost
 *   connector = idx val seq ack size flags event      size: u16, bytes of event; idx 1 and
 *                                          val 1: processes; others are skipped
 *   event     = what cpu time data         what, cpu: u32; time: u64
 *   data      = error                      what 0: the answer to a request
 *             / ptid ppid tid pid          what 1: a thread was created, by thread ptid
 *             / tid pid [ more ]           what 2: exec, 0x200: a new name, 1 << 31: an end
 *             / [ more ]                   others (user, group, session, trace, core): skipped
 *   ptid, ppid, tid, pid, error = u32      tid: a thread, pid: its process. Events of the idle
 *                                          threads, whose number is 0, are skipped
 */
#ifndef CPUBIND_TEXT_PROC_CONNECTOR_H
#define CPUBIND_TEXT_PROC_CONNECTOR_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cpubind_proc_event_kind {
    CPUBIND_PROC_EVENT_ANSWER, /* to a request: ack, error */
    CPUBIND_PROC_EVENT_LOST,   /* the kernel has dropped messages */
    CPUBIND_PROC_EVENT_BIRTH,  /* the thread was created; with tid == pid a process was */
    CPUBIND_PROC_EVENT_EXEC,   /* the process runs another program: it has this one thread */
    CPUBIND_PROC_EVENT_NAME,   /* the thread has another name */
    CPUBIND_PROC_EVENT_END     /* the thread ends */
} cpubind_proc_event_kind;

typedef struct cpubind_proc_event {
    cpubind_proc_event_kind kind;
    int32_t pid, tid; /* >= 1; of ANSWER and LOST: 0 */
    int32_t ack;      /* of ANSWER: that of the request + 1; else 0 */
    int32_t error;    /* of ANSWER: an errno, or 0; else 0 */
} cpubind_proc_event;

typedef struct cpubind_proc_event_list {
    cpubind_proc_event *out; /* in: the array */
    int32_t cap;             /* in: elements of the array */
    int32_t n;               /* out: events; after ERR_SPACE as many as the array needs */
} cpubind_proc_event_list;

/* Reads the events of one datagram.
 *   out     list->out[0 .. list->n - 1], in the order of the messages
 *   errors  ERR_ARG; ERR_CUT: a length goes beyond the datagram, or is too short for what it
 *           counts; ERR_RANGE: the number of a thread or a process is negative; ERR_SPACE with
 *           list->n
 *   cost    O(len) */
cpubind_text_status cpubind_proc_connector_parse(const char *text, int32_t len,
                                                 cpubind_proc_event_list *list,
                                                 cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_TEXT_PROC_CONNECTOR_H */
