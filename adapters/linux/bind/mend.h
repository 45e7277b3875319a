/* mend.h - make changes of host_change.h on this host, on record, and put them back
 * SPDX-License-Identifier: MIT
 *
 * ORDER   Everything is read, and written to the record, before the first change. A change that
 *         is refused undoes those of its group; the other groups are made. The record then has
 *         what is in effect. Whenever the process is killed, restore puts back what is left.
 * RECORD  That of the host (host_record.h): cpubind doctor is a user of its entries as a
 *         process is, and each keeps its first "before". So in which order doctor and bindings
 *         are put back makes no difference: what a binding has is left to it, and its restore
 *         puts it back to what it was before either came.
 * OTHERS  Restore leaves alone what somebody else has changed since, and says so; it is off
 *         record then. A thread or an irqbalance that has ended needs nothing.
 */
#ifndef CPUBIND_LINUX_MEND_H
#define CPUBIND_LINUX_MEND_H

#include "../../model/host_change.h"
#include "../linux.h"
#include "../sys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* (name, word): what became of a change. */
#define CPUBIND_MEND_LIST(X)                                                                   \
    X(MADE, "made")                                                                            \
    X(RIGHT, "right")     /* it was so before: nothing was written */                          \
    X(REFUSED, "refused") /* it could not be made; `fault` says why */                         \
    X(UNDONE, "undone")   /* it was made, and undone since another one of its group failed */  \
    X(STUCK, "stuck")     /* it could not be undone or put back; it is on record */            \
    X(LEFT, "left")       /* not tried, since another one of its group failed */               \
    X(BACK, "back")       /* put back by restore */                                            \
    X(OTHER, "other")     /* somebody has changed it since: restore leaves it; see `now` */    \
    X(BOUND, "bound")     /* a binding has it: restore leaves it to that; see `now` */         \
    X(GONE, "gone")       /* the thread, the interrupt or irqbalance has ended */

typedef enum cpubind_mend_result {
#define CPUBIND_X(name, word) CPUBIND_MEND_##name,
    CPUBIND_MEND_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_mend_result;

/* "made"; "?" for another number. Static storage. */
const char *cpubind_mend_word(cpubind_mend_result result);

/* A change, and what became of it. Texts live until close; those of a change that the caller
 * gave are the caller's. */
typedef struct cpubind_mend_item {
    cpubind_change change;
    cpubind_mend_result result;
    const char *before; /* the value before; NULL: not known, or a ban */
    const char *now;    /* OTHER, BOUND: what it is; else NULL */
    cpubind_linux_fault fault;
} cpubind_mend_item;

typedef struct cpubind_mend cpubind_mend;

/* Opens the record of the host and takes its lock.
 *   in      sys: NULL for the calls of this kernel
 *   out     *out, to be closed; NULL on failure
 *   errors  ERR_BUSY: another cpubind has had it for seconds; ERR_STATE; ERR_DAMAGED;
 *           ERR_MEMORY */
cpubind_linux_status cpubind_mend_open(const cpubind_sys *sys, cpubind_mend **out,
                                       cpubind_linux_fault *fault);

/* Makes changes. Called once.
 *   out     the items, one for each change, in their order
 *   errors  ERR_STATE, ERR_MEMORY: nothing was changed; ERR_REFUSED: the items say what was
 *           refused, undone or left; ERR_ARG: a file that no change may name, a bad value */
cpubind_linux_status cpubind_mend_apply(cpubind_mend *m, const cpubind_change *change,
                                        int32_t n, cpubind_linux_fault *fault);

/* Puts back all that doctor has on record. Called once.
 *   out     the items, one for each entry
 *   errors  ERR_REFUSED: some items are STUCK; ERR_STATE: all is put back, but the record could
 *           not be removed; ERR_MEMORY */
cpubind_linux_status cpubind_mend_restore(cpubind_mend *m, cpubind_linux_fault *fault);

/* The items of the last call; *n of them. */
const cpubind_mend_item *cpubind_mend_items(const cpubind_mend *m, int32_t *n);

/* The path of the record; valid until close. */
const char *cpubind_mend_path(const cpubind_mend *m);

/* NULL is allowed. */
void cpubind_mend_close(cpubind_mend *m);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_LINUX_MEND_H */
