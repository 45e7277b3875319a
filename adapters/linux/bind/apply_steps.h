/* apply_steps.h - one call of apply: its steps beside threads
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. A step looks first, and puts on record what it is going to change;
 * then it moves. What it hands back says why it failed; what is only missing is an item of the
 * report.
 */
#ifndef CPUBIND_LINUX_APPLY_STEPS_H
#define CPUBIND_LINUX_APPLY_STEPS_H

#include "binding.h"

/* One call of apply: what has been moved beside threads, and where it was. */
typedef struct cpubind_attempt {
    cpubind_binding *b;
    cpubind_record_irq *irq; /* those that are to be moved; `before`: where they are now */
    int32_t n_irq, n_irq_moved;
    cpubind_record_other *other;
    int32_t n_other, cap_other, n_other_moved;
    cpubind_irqbalance daemon;
    cpubind_irqbalance_how was_told; /* what is on record of this daemon already */
    int is_to_tell, is_told;
    int32_t was_npu, was_main; /* of the goal before, or -1, NONE */
} cpubind_attempt;

/* Adds an item that could not be done. */
cpubind_linux_fault cpubind_skip(cpubind_binding *b, cpubind_item_kind kind, int32_t id,
                                 const char *name, int32_t was, int32_t should,
                                 cpubind_linux_fault why);

/* Whether an error says that something is missing, a right or a file, or that the kernel keeps
 * this interrupt or thread to itself: named, and passed over. */
int cpubind_is_missing(int error);

/* == Interrupts (apply_irq.c) =============================================== */

cpubind_linux_fault cpubind_look_at_irqs(cpubind_attempt *a, const cpubind_goal *goal);
cpubind_linux_fault cpubind_move_irqs(cpubind_attempt *a);

/* Interrupts of another NPU, that the process drove before, go back: at the end, when nothing
 * can fail any more. One that cannot go back stays on record. */
void cpubind_leave_other_npu(cpubind_attempt *a, const cpubind_goal *goal);

/* Moves interrupts that were moved since. One that cannot be read or moved was named at
 * first. */
cpubind_linux_fault cpubind_watch_irqs(cpubind_binding *b);

/* == irqbalance (apply_irqbalance.c) ======================================== */

cpubind_linux_fault cpubind_look_at_irqbalance(cpubind_attempt *a);

/* Tells it, as asked, before the interrupts are moved: it would move them again. */
cpubind_linux_fault cpubind_tell_irqbalance(cpubind_attempt *a);

/* Takes back what this call has told it, and no more. */
void cpubind_untell_irqbalance(cpubind_attempt *a, const cpubind_record *previous);

/* == UVB polling threads (apply_uvb.c) ====================================== */

cpubind_linux_fault cpubind_look_at_others(cpubind_attempt *a);
cpubind_linux_fault cpubind_move_others(cpubind_attempt *a);

#endif /* CPUBIND_LINUX_APPLY_STEPS_H */
