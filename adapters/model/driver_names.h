/* driver_names.h - the threads and the interrupts of a device, by the names that they have
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. Which names there are is said by the row of each vendor (vendor.h).
 */
#ifndef CPUBIND_MODEL_DRIVER_NAMES_H
#define CPUBIND_MODEL_DRIVER_NAMES_H

#include "../text/interrupts.h"
#include "../text/procfs.h"
#include "pools.h"

#ifdef __cplusplus
extern "C" {
#endif

/* == Threads ================================================================ */

/* Which rows count: (name, word of threads). */
#define CPUBIND_THREADS_LIST(X)                                                                \
    X(REFERENCE, "reference") /* those of vllm-ascend */                                       \
    X(PRODUCT, "product")     /* all */

typedef enum cpubind_threads {
#define CPUBIND_X(name, word) CPUBIND_THREADS_##name,
    CPUBIND_THREADS_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_threads;

/* What has the names of a row: (name, word). */
#define CPUBIND_NAMED_LIST(X)                                                                  \
    X(THREAD, "thread")       /* threads of the worker */                                      \
    X(KERNEL, "kernel")       /* a kernel thread of the driver, which all workers share */     \
    X(QUEUE, "workqueue")     /* a work queue of the driver, the same */                       \
    X(INTERRUPT, "interrupt") /* an interrupt of the device */

typedef enum cpubind_named {
#define CPUBIND_X(name, word) CPUBIND_NAMED_##name,
    CPUBIND_NAMED_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_named;

/* The number of the device in the name of a kernel thread, a work queue or a mailbox. */
#define CPUBIND_DEVICE_MARK "<N>"

typedef struct cpubind_thread_role {
    const char *pattern; /* with CPUBIND_DEVICE_MARK for the number of the device */
    cpubind_named named;
    cpubind_role role;
    int32_t cpu; /* of an interrupt: which CPU of the role; the last one, if it has fewer */
    int32_t is_reference;
    const char *giver; /* "torch_npu" */
    const char *why;   /* a sentence without its subject and its full stop */
} cpubind_thread_role;

/* The rows in their order, those of each vendor, then those of threads that move data, which
 * any vendor's device may have; these alone. NULL: there are no more. Static storage. */
const cpubind_thread_role *cpubind_thread_role_at(int32_t place);
const cpubind_thread_role *cpubind_thread_mover_at(int32_t place);

/* Of a thread of a library whose start changes the mask of the thread that calls it, which
 * those that this one starts inherit: who it is of, and what the start does. NULL: none. */
const char *cpubind_mask_changer_of(const char *name, int32_t len);

/* The row of a thread of a worker by its name, which ends with NUL; NULL: a main thread. */
const cpubind_thread_role *cpubind_thread_role_of(const char *name, cpubind_threads threads);

/* Writes the pattern of a row for one device: "dev3_sq_task".
 *   out     out[size], ended by NUL, cut to fit */
void cpubind_thread_role_name(const cpubind_thread_role *role, int32_t device, char *out,
                              int32_t size);

/* "product"; "kernel". Static storage. */
const char *cpubind_threads_word(cpubind_threads threads);
const char *cpubind_named_word(cpubind_named named);

/* == Interrupts ============================================================= */

/* (name, word, whether a goal has such ones only when it is asked for them). */
#define CPUBIND_IRQ_KIND_LIST(X)                                                               \
    X(SQ, "sq", 0)                                                                             \
    X(CQ, "cq", 0)                                                                             \
    X(MAILBOX, "mailbox", 1)                                                                   \
    X(NIC, "nic", 1) /* of a network card of the device */

typedef enum cpubind_irq_kind {
#define CPUBIND_X(name, word, is_extra) CPUBIND_IRQ_##name,
    CPUBIND_IRQ_KIND_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_IRQ_KINDS
} cpubind_irq_kind;

/* Its word, "" for a number that is none, in static storage; and the kind of a word, which need
 * not end with NUL: CPUBIND_IRQ_KINDS without one. */
const char *cpubind_irq_kind_word(cpubind_irq_kind kind);
cpubind_irq_kind cpubind_irq_kind_of(const char *word, int32_t len);

/* Which interrupt of the host: its number goes to another one when a driver is loaded again. */
#define CPUBIND_IRQ_FUNCTION_SIZE 20
#define CPUBIND_IRQ_NAME_SIZE     32
typedef struct cpubind_irq_id {
    char function[CPUBIND_IRQ_FUNCTION_SIZE]; /* its PCI function as /sys names it,
                                                 "0000:c1:00.0"; NUL-terminated */
    char name[CPUBIND_IRQ_NAME_SIZE];         /* of its action, NUL-terminated */
    int32_t index; /* among the interrupts of the function with this name, by number, from 0 */
} cpubind_irq_id;

/* An interrupt of a device, and its CPU. */
typedef struct cpubind_irq_goal {
    int32_t irq;
    cpubind_irq_kind kind;
    int32_t cpu;
    cpubind_irq_id id;
} cpubind_irq_goal;

/* Why there is no interrupt to bind: (name, word, sentence without a full stop). */
#define CPUBIND_NO_IRQ_LIST(X)                                                                 \
    X(NOT_ON_RECORD, "not_on_record", "none is on record")                                     \
    X(NO_ROLE, "no_role", "this product has no CPUs set apart for interrupts")                 \
    X(NO_ADDRESS, "no_address", "the PCI address of the NPU is not known")                     \
    X(NO_MSI, "no_msi", "the kernel lists no interrupts of its PCI function")                  \
    X(UNREAD, "unread", "the interrupts of its PCI function cannot be listed")                 \
    X(NO_INTERRUPTS, "no_interrupts", "/proc/interrupts cannot be read")                       \
    X(NO_SQ, "no_sq", "no interrupt of its PCI function is named sq_send_trigger_irq")         \
    X(AMBIGUOUS, "ambiguous",                                                                  \
      "several NPUs share its PCI function and none is named as it is")                        \
    X(NIC_UNREAD, "nic_unread", "those of its network cards cannot be listed")

typedef enum cpubind_no_irq {
    CPUBIND_IRQ_FOUND = 0,
#define CPUBIND_X(name, word, text) CPUBIND_IRQ_##name,
    CPUBIND_NO_IRQ_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_no_irq;

/* Whether such interrupts go back when the next goal of the same device has none: where it is
 * known that it has none. */
int cpubind_irq_goes(cpubind_irq_kind kind, cpubind_no_irq why);

/* Its word in JSON, and one English sentence without a full stop. Static storage. */
const char *cpubind_no_irq_word(cpubind_no_irq why);
const char *cpubind_no_irq_text(cpubind_no_irq why);

/* The interrupts of one PCI function, and the device whose interrupts are wanted. */
typedef struct cpubind_irq_search {
    const char *text;             /* of /proc/interrupts */
    const cpubind_interrupt *all; /* of cpubind_interrupts_parse for this text */
    int32_t n_all;
    const int32_t *msi; /* the numbers in msi_irqs, ascending */
    int32_t n_msi;
    int32_t device; /* the number in the name of its mailbox, "trs-mbox-<device>-<n>", or -1 */
    int32_t wants_mailbox; /* 1: the mailboxes, too */
} cpubind_irq_search;

/* Finds the interrupts of one device among those of its PCI function.
 *   out     out[0 .. *out_n - 1] with cpu -1 and an id without a function; needs room for n_msi
 *   returns FOUND, NO_SQ, AMBIGUOUS */
typedef cpubind_no_irq cpubind_irqs_find(const cpubind_irq_search *search,
                                         cpubind_irq_goal *out, int32_t *out_n);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_MODEL_DRIVER_NAMES_H */
