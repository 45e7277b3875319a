/* watch.c - looks again at a process that is bound, and remembers what cannot be done now
 * SPDX-License-Identifier: MIT
 *
 * A watch ends when the process ends, and for nothing else: whatever fails is a row of the
 * table of troubles, reported once, and tried again after a pause that doubles.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

/* How long a call waits for the record of the host: the next one tries again. */
#define HOST_WAIT_MS 100

/* == Events ================================================================= */

/* With events, how often all threads are listed and all names are read again, in case the
 * kernel has lost an event without saying so. */
#define LOOK_MS 10000

static cpubind_look choose_look(cpubind_binding *b)
{
    const int64_t now_ms = cpubind_now_ms();
    const int has_many_ended = cpubind_has_many_ended(b->n_watched, b->n_listed) ||
                               cpubind_has_many_ended(b->record.n_thread, b->n_listed);
    if (!b->news.is_all && !has_many_ended && now_ms < b->next_look_ms) {
        if (cpubind_has_events(b))
            return b->is_early ? CPUBIND_LOOK_NEWS : CPUBIND_LOOK_MASKS;
    }
    b->news.is_all = 0;
    b->next_look_ms = now_ms + LOOK_MS;
    return CPUBIND_LOOK_ALL;
}

/* == Looking again ========================================================== */

cpubind_linux_status cpubind_bind_again(cpubind_binding *binding, cpubind_linux_fault *fault)
{
    cpubind_binding *b = binding;
    cpubind_linux_fault why;
    if (!b || b->options.is_reading)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    why = cpubind_begin_call(b);
    if (why.error)
        return cpubind_linux_end(cpubind_record_status(why), why, fault);
    b->host_wait_ms = HOST_WAIT_MS;
    if (!cpubind_is_recorded(b))
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    if (!cpubind_process_is_alive(b))
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_GONE, ESRCH, "process", fault);
    /* Pauses are counted in periods. */
    if (!b->is_early) {
        b->n_again++;
        cpubind_drop_old_troubles(b);
    }
    cpubind_read_events(b);
    why = cpubind_watch_threads(b, choose_look(b));
    if (why.error)
        return cpubind_linux_end(CPUBIND_LINUX_ERR_GONE, why, fault);
    if (!b->is_early && (!b->owed || cpubind_watch_owed(b))) {
        cpubind_note_step(b, CPUBIND_STEP_IRQS, cpubind_watch_irqs(b));
        cpubind_note_step(b, CPUBIND_STEP_DRIVER, cpubind_watch_driver(b));
    }
    b->is_early = 0;
    return CPUBIND_LINUX_OK;
}
