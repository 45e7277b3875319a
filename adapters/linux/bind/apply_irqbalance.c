/* apply_irqbalance.c - irqbalance is told what it may not move
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>

#include "apply_steps.h"

static int was_banned(const cpubind_record *state, int32_t irq)
{
    for (int32_t i = 0; i < state->n_irq; i++)
        if (state->irq[i].irq == irq)
            return state->irq[i].is_banned;
    return 0;
}

/* Whether what is on record was told to this daemon, and not to one that has ended. */
static int is_on_record(const cpubind_binding *b, const cpubind_irqbalance *daemon)
{
    return b->state.how != CPUBIND_IRQBALANCE_LEAVE && b->state.irqbalance_pid == daemon->pid &&
           b->state.irqbalance_start == daemon->start;
}

static cpubind_linux_fault skip_irqbalance(cpubind_attempt *a, int error, const char *what)
{
    a->b->report.irqbalance_runs = 1;
    return cpubind_skip(a->b, CPUBIND_ITEM_IRQBALANCE, a->daemon.pid, "irqbalance",
                        CPUBIND_CPUSET_NONE, CPUBIND_CPUSET_NONE,
                        cpubind_fault_of(error, what));
}

/* Whether there is something to tell. One that is stopped does not listen; one that somebody
 * else has stopped is not ours to let go on. */
static int is_to_be_told(cpubind_attempt *a)
{
    if (!a->daemon.is_stopped)
        return 1;
    return a->b->how.irqbalance == CPUBIND_IRQBALANCE_STOP && !a->was_told &&
           cpubind_is_stopped_for_another(a->b, &a->daemon);
}

/* That it cannot be told is named, and is on record no more. */
static cpubind_linux_fault give_up_irqbalance(cpubind_attempt *a, int error, const char *what)
{
    if (error == ENOMEM)
        return cpubind_fault_of(ENOMEM, "memory");
    a->is_to_tell = 0;
    a->b->state.how = a->was_told;
    a->b->is_dirty = 1;
    return skip_irqbalance(a, error, what);
}

/* Notes which interrupts are ours to ban: what it leaves alone already is not ours to take
 * back. */
static cpubind_linux_fault choose_banned(cpubind_attempt *a)
{
    cpubind_record *s = &a->b->state;
    int32_t *numbers = (int32_t *)a->b->sys->malloc((size_t)s->n_irq * 2 * sizeof *numbers);
    int error;
    if (!numbers)
        return cpubind_fault_of(ENOMEM, "memory");
    for (int32_t i = 0; i < s->n_irq; i++)
        numbers[i] = s->irq[i].irq;
    error = cpubind_irqbalance_banned(&a->b->root, &a->daemon, numbers, s->n_irq,
                                      numbers + s->n_irq)
                .error;
    for (int32_t i = 0; !error && i < s->n_irq; i++)
        s->irq[i].is_banned |= !numbers[s->n_irq + i];
    free(numbers);
    return error ? give_up_irqbalance(a, error, "ban") : cpubind_no_fault;
}

cpubind_linux_fault cpubind_look_at_irqbalance(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    const cpubind_irqbalance_how how = b->how.irqbalance;
    int error;
    if (b->state.n_irq == 0)
        return cpubind_no_fault;
    error = cpubind_irqbalance_find(&b->root, &a->daemon).error;
    if (error == ENOMEM)
        return cpubind_fault_of(ENOMEM, "memory");
    if (error && how != CPUBIND_IRQBALANCE_LEAVE)
        return skip_irqbalance(a, error, "find");
    if (error || a->daemon.pid == 0)
        return cpubind_no_fault;
    a->was_told = is_on_record(b, &a->daemon) ? b->state.how : CPUBIND_IRQBALANCE_LEAVE;
    b->report.irqbalance_runs = how == CPUBIND_IRQBALANCE_LEAVE && !a->daemon.is_stopped &&
                                a->was_told == CPUBIND_IRQBALANCE_LEAVE;
    if (how == CPUBIND_IRQBALANCE_LEAVE || !is_to_be_told(a))
        return cpubind_no_fault;
    a->is_to_tell = 1;
    b->state.how = how;
    b->state.irqbalance_pid = a->daemon.pid;
    b->state.irqbalance_start = a->daemon.start;
    b->is_dirty = 1;
    return how == CPUBIND_IRQBALANCE_BAN ? choose_banned(a) : cpubind_no_fault;
}

cpubind_linux_fault cpubind_tell_irqbalance(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    const int is_stop = b->state.how == CPUBIND_IRQBALANCE_STOP;
    int error;
    if (!a->is_to_tell)
        return cpubind_no_fault;
    error = is_stop ? cpubind_irqbalance_stop(&b->root, &a->daemon).error
                    : cpubind_tell_banned(b, &a->daemon, cpubind_irqbalance_ban).error;
    if (error)
        return give_up_irqbalance(a, error, is_stop ? "stop" : "ban");
    a->is_told = 1;
    if (!cpubind_report_add(b, CPUBIND_ITEM_IRQBALANCE, CPUBIND_ITEM_MOVED, a->daemon.pid,
                            "irqbalance", CPUBIND_CPUSET_NONE, CPUBIND_CPUSET_NONE))
        return cpubind_fault_of(ENOMEM, "memory");
    return cpubind_no_fault;
}

void cpubind_untell_irqbalance(cpubind_attempt *a, const cpubind_record *previous)
{
    cpubind_record *s = &a->b->state;
    if (!a->is_told || a->was_told == CPUBIND_IRQBALANCE_STOP)
        return;
    for (int32_t i = 0; i < s->n_irq; i++)
        s->irq[i].is_banned &= !was_banned(previous, s->irq[i].irq);
    cpubind_put_irqbalance(a->b);
}
