/* process_goal.h - what one process should have: which CPUs for its threads, memory and
 *   interrupts
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source. The plan says which CPUs an NPU has in which role; the goal says
 * what that means for the process that drives it, on this host, by name and by number.
 */
#ifndef CPUBIND_ASCEND_PROCESS_GOAL_H
#define CPUBIND_ASCEND_PROCESS_GOAL_H

#include "../text/interrupts.h"
#include "ascend_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* CPUs, ascending. Borrowed. */
typedef struct cpubind_cpus {
    const int32_t *cpu;
    int32_t n;
} cpubind_cpus;

/* Which CPUs a thread wish names. */
typedef enum cpubind_wish_kind {
    CPUBIND_WISH_ROLE = 0, /* those of `role`; a role that the pool does not have: main */
    CPUBIND_WISH_POOL,     /* the whole pool */
    CPUBIND_WISH_LIST      /* `cpus` */
} cpubind_wish_kind;

/* Threads of this name go there: --thread NAME=ROLE|LIST. */
typedef struct cpubind_thread_wish {
    const char *name; /* NUL-terminated; the kernel keeps its first 15 bytes */
    cpubind_wish_kind kind;
    cpubind_role role;
    cpubind_cpus cpus;
} cpubind_thread_wish;

/* Threads of this name belong on these CPUs. */
typedef struct cpubind_thread_rule {
    const char *name; /* as wished; compare with cpubind_comm_is */
    cpubind_cpus cpus;
} cpubind_thread_rule;

typedef enum cpubind_irq_kind { CPUBIND_IRQ_SQ, CPUBIND_IRQ_CQ } cpubind_irq_kind;

/* An interrupt of the NPU, and the CPU that it belongs on. */
typedef struct cpubind_irq_goal {
    int32_t irq;
    cpubind_irq_kind kind;
    int32_t cpu;
} cpubind_irq_goal;

/* Why there is no interrupt to bind: (name, word, sentence without a full stop). */
#define CPUBIND_NO_IRQ_LIST(X)                                                                 \
    X(NOT_ON_RECORD, "not_on_record", "none is on record")                                     \
    X(NO_ROLE, "no_role", "this product has no CPUs set apart for interrupts")                 \
    X(NO_ADDRESS, "no_address", "the PCI address of the NPU is not known")                     \
    X(NO_MSI, "no_msi", "the kernel lists no interrupts of its PCI function")                  \
    X(NO_INTERRUPTS, "no_interrupts", "/proc/interrupts cannot be read")                       \
    X(NO_SQ, "no_sq", "no interrupt of its PCI function is named sq_send_trigger_irq")         \
    X(AMBIGUOUS, "ambiguous", "several NPUs share its PCI function and none is named as it is")

typedef enum cpubind_no_irq {
    CPUBIND_IRQ_FOUND = 0,
#define CPUBIND_X(name, word, text) CPUBIND_IRQ_##name,
    CPUBIND_NO_IRQ_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_no_irq;

/* Its word in JSON, and one English sentence without a full stop. Static storage. */
const char *cpubind_no_irq_word(cpubind_no_irq why);
const char *cpubind_no_irq_text(cpubind_no_irq why);

typedef struct cpubind_goal {
    int32_t npu;               /* logic id, or -1 */
    cpubind_cpus main;         /* the process, and every thread that no rule names */
    cpubind_thread_rule *rule; /* the first one that names a thread counts */
    int32_t n_rule;
    int32_t memory_node;   /* where the memory of the process belongs, or -1 */
    cpubind_irq_goal *irq; /* by ascending number; the SQ and all CQs */
    int32_t n_irq;
    cpubind_no_irq no_irq; /* why n_irq is 0 */
    cpubind_cpus uvb;      /* 950: where the host's UVB polling threads belong; n 0: nowhere */
} cpubind_goal;

/* The thread name that a 950 host's UVB polling threads have. */
#define CPUBIND_UVB_THREAD "uvb_poll_window_thread"

/* The goal of the NPU of row `row` of a plan.
 *   in      facts and plan of the same request, which asked for addresses (wants_pci) if
 *           interrupts are to be found; wish[0 .. n_wish - 1] come before the built-in rules
 *           acl_thread -> acl and release_thread -> release, which stand only when the pool has
 *           those roles
 *   out     *out, in the arena; lists may point into the plan
 *   errors  NO_MEMORY; UNREADABLE with the place when /proc/interrupts is damaged */
cpubind_problem_code cpubind_goal_make(const cpubind_source *source, const cpubind_facts *facts,
                                       const cpubind_ascend_plan *plan, int32_t row,
                                       const cpubind_thread_wish *wish, int32_t n_wish,
                                       cpubind_arena *arena, cpubind_goal *out,
                                       cpubind_problem *problem);

/* The SQ and CQ interrupts of one device among those of its PCI function.
 *   in      all[0 .. n_all - 1] of cpubind_interrupts_parse, with the text they point into;
 *           msi[0 .. n_msi - 1] the numbers in msi_irqs, ascending; device: the number in the
 *           name of its mailbox, "trs-mbox-<device>-<n>", or -1
 *   out     out[0 .. *out_n - 1] with cpu -1; needs room for n_msi
 *   returns FOUND, NO_SQ, AMBIGUOUS
 *   rule    vectors of a function belong to a device from its mailbox to the next mailbox; a
 *           function with one SQ is the device's whatever its mailbox is called */
cpubind_no_irq cpubind_goal_irqs(const char *text, const cpubind_interrupt *all, int32_t n_all,
                                 const int32_t *msi, int32_t n_msi, int32_t device,
                                 cpubind_irq_goal *out, int32_t *out_n);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_PROCESS_GOAL_H */
