/* watch.c - looks again at a process that is bound, and remembers what cannot be done now
 * SPDX-License-Identifier: MIT
 *
 * A watch ends when the process ends, and for nothing else: whatever fails is a row of the
 * table of troubles, reported once, and tried again after a pause that doubles.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

/* How long a call waits for the record of the host: the next one tries again. */
#define HOST_WAIT_MS 100

/* == Events ================================================================= */

/* With events, how often all threads are listed and all names are read again, in case the
 * kernel has lost an event without saying so. */
#define LOOK_MS 10000

/* Events that come within this time are handled together. */
#define GATHER_MS 2

/* Reads the events that have come. Without events the watch goes on by periods alone. */
static void read_events(cpubind_binding *b)
{
    cpubind_linux_fault why;
    if (b->events_fd < 0)
        return;
    why = cpubind_proc_events_read(b->sys, b->events_fd, b->options.pid, &b->news);
    if (why.error) {
        cpubind_stop_events(b);
        cpubind_note_step(b, CPUBIND_STEP_EVENTS, why);
    }
}

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

/* == Waiting ================================================================ */

static int has_ended(cpubind_binding *b)
{
    cpubind_proc_stat stat = {.start = 0};
    int error = cpubind_proc_stat_read(&b->root, b->options.pid, 0, &stat).error;
    if (error)
        return error == ENOENT || error == ESRCH;
    return stat.start != b->start || (stat.state == 'Z' && stat.n_threads < 2) ||
           stat.state == 'X';
}

/* Waits for the end of the process, for events, and for the end of the period. */
static void wait_for_any(cpubind_binding *b, int pidfd, int32_t timeout_ms)
{
    /* poll ignores a descriptor of -1 */
    struct pollfd wait[] = {{pidfd, POLLIN, 0}, {b->events_fd, POLLIN, 0}};
    const int64_t now_ms = cpubind_now_ms();
    int64_t left_ms = timeout_ms;
    /* A process that renames threads all the time does not put off the end of the period. */
    if (b->period_end_ms == 0)
        b->period_end_ms = now_ms + timeout_ms;
    if (left_ms > b->period_end_ms - now_ms)
        left_ms = b->period_end_ms > now_ms ? b->period_end_ms - now_ms : 0;
    b->is_early = b->sys->poll(wait, 2, (int)left_ms) > 0 && wait[1].revents != 0 &&
                  cpubind_now_ms() < b->period_end_ms;
    if (b->is_early)
        (void)b->sys->poll(wait, 1, GATHER_MS);
    else
        b->period_end_ms = 0;
}

int cpubind_bind_wait(cpubind_binding *binding, int32_t timeout_ms)
{
    const cpubind_sys *sys = binding->sys;
    const int fd = sys->pidfd_open((pid_t)binding->options.pid, 0);
    /* Checked after pidfd_open: another process may have had the pid before. */
    int is_over = has_ended(binding);
    if (!is_over) {
        wait_for_any(binding, fd, timeout_ms);
        is_over = has_ended(binding);
    }
    if (fd >= 0)
        sys->close(fd);
    return is_over;
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
    read_events(b);
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
