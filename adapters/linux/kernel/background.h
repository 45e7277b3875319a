/* background.h - run a slow call on a helper thread and report progress
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux.
 */
#ifndef CPUBIND_LINUX_BACKGROUND_H
#define CPUBIND_LINUX_BACKGROUND_H

#include <stdint.h>

#include "../sys.h"

/* Calls work(work_ctx) in a helper thread and waits for it; meanwhile this thread calls
 * tick(tick_ctx) every `period_ms`. Without a helper thread, or when `tick` is NULL, this
 * thread does the work. All writes of the work are visible when this returns.
 *   signals  only the calling thread takes them: the helper blocks all. The caller's mask is
 *            unchanged when this returns. */
void cpubind_linux_run_beside(const cpubind_sys *sys, void (*work)(void *ctx), void *work_ctx,
                              int32_t period_ms, void (*tick)(void *ctx), void *tick_ctx);

#endif /* CPUBIND_LINUX_BACKGROUND_H */
