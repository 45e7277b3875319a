/* background.h - a call that takes minutes, and word of it meanwhile
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux.
 */
#ifndef CPUBIND_LINUX_BACKGROUND_H
#define CPUBIND_LINUX_BACKGROUND_H

#include <stdint.h>

#include "../sys.h"

/* Calls work(work_ctx) in a thread of its own and waits for it; meanwhile tick(tick_ctx) is
 * called here, each `period_ms`. When no thread is granted, or `tick` is NULL, the work is done
 * here. What the work wrote is seen when this returns.
 *   signals  are taken by the calling thread alone: the other one blocks all. The mask of the
 *            caller is as it was when this returns. */
void cpubind_linux_run_beside(const cpubind_sys *sys, void (*work)(void *ctx), void *work_ctx,
                              int32_t period_ms, void (*tick)(void *ctx), void *tick_ctx);

#endif /* CPUBIND_LINUX_BACKGROUND_H */
