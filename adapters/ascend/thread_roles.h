/* thread_roles.h - where the threads and interrupts of Ascend's products belong, by their names
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. One row for each pattern of names. vllm-ascend binds those that are marked
 * as the reference; the others are threads that the same products start beside them. Each row
 * says who gives the name, and where that was read.
 */
#ifndef CPUBIND_ASCEND_THREAD_ROLES_H
#define CPUBIND_ASCEND_THREAD_ROLES_H

#include "../model/driver_names.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The rows: (pattern, what has the name, role, number of the CPU in the role for an interrupt,
 * whether vllm-ascend binds it, who gives the name, why it belongs there). The first row that
 * fits a name counts. A thread that fits none is a main thread. */
/* clang-format off */
#define CPUBIND_THREAD_ROLE_LIST(X)                                                            \
    /* torch_npu NPUQueue.cpp; vllm-ascend cpu_binding.py */                                   \
    X("acl_thread", THREAD, ACL, 0, 1, "torch_npu",                                            \
      "hands each task to the NPU; it needs a CPU of its own")                                 \
    X("release_thread", THREAD, RELEASE, 0, 1, "torch_npu",                                    \
      "frees the resources of finished tasks, off the path of new tasks")                      \
    /* torch_npu NPUAffinityController.cpp, which separates it from other threads, too */      \
    X("hccl_watchdog*", THREAD, RELEASE, 0, 0, "torch_npu",                                    \
      "wakes now and then to look for communication that hangs; it must not interrupt a "      \
      "main thread, and the release thread can wait")                                          \
    /* the same file before 2025 */                                                            \
    X("hcclComm_watchd", THREAD, RELEASE, 0, 0, "torch_npu",                                   \
      "is hccl_watchdog in older versions")                                           \
    /* hicann/runtime; the affinity tool of openEuler keeps it from main threads, too */       \
    X("RT_RECYCLE*", THREAD, RELEASE, 0, 0, "CANN",                                            \
      "frees the resources of finished tasks in the runtime, as release_thread does")          \
    /* hicann/driver trs_hw_sqcq.c, with both work queues; the affinity tools of openEuler     \
     * and msprof bind the first two */                                                        \
    X("dev" CPUBIND_DEVICE_MARK "_sq_task", KERNEL, IRQ, 0, 0, "driver",                       \
      "sends tasks to the NPU when the SQ interrupt wakes it; its data is in the caches of "   \
      "the CPUs of that interrupt")                                                            \
    X("dev" CPUBIND_DEVICE_MARK "_sq_send_wq", QUEUE, IRQ, 0, 0, "driver",                     \
      "does what the SQ interrupt leaves for later")                                           \
    X("dev" CPUBIND_DEVICE_MARK "_sq_fair_wq", QUEUE, IRQ, 0, 0, "driver",                     \
      "sends the tasks that the thread has left, so that no queue waits for another")          \
    /* hicann/driver pbl_soc_res.h, trs_host_hard_mbox.c; vllm-ascend cpu_binding.py */        \
    X("sq_send_trigger_irq", INTERRUPT, IRQ, 0, 1, "driver",                                   \
      "asks for more tasks; each delay is a pause of the NPU")                                 \
    X("cq_update_irq", INTERRUPT, IRQ, 1, 1, "driver",                                         \
      "says that tasks are finished; apart from the SQ interrupt")                             \
    X("trs-mbox-" CPUBIND_DEVICE_MARK "-*", INTERRUPT, IRQ, 1, 0, "driver",                    \
      "answers requests for streams and queues, which are rare; with the CQ interrupts it "    \
      "interrupts no thread")
/* clang-format on */

/* The name of the threads that poll UVB on a host whose CPUs are planned in clusters. */
#define CPUBIND_UVB_THREAD "uvb_poll_window_thread"

/* The SQ, the CQs and perhaps the mailboxes of one device: a cpubind_irqs_find.
 *   rule    the interrupts of a function belong to a device from its mailbox to the next
 *           mailbox; a function with one SQ is the device's, whatever its mailbox is called */
cpubind_no_irq cpubind_ascend_irqs(const cpubind_irq_search *search, cpubind_irq_goal *out,
                                   int32_t *out_n);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_THREAD_ROLES_H */
