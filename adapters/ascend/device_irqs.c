/* device_irqs.c - the interrupts of an NPU among those of its PCI function
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The names of the mailboxes are read in driver_files.c.
 */
#include <string.h>

#include "driver_files.h"
#include "thread_roles.h"

/* The actions that the driver registers, by kind. */
static const char *const action_names[] = {
    [CPUBIND_IRQ_SQ] = "sq_send_trigger_irq",
    [CPUBIND_IRQ_CQ] = "cq_update_irq",
};

/* The kind of an interrupt, by the names of its handlers. */
typedef struct handlers {
    int32_t is_mailbox, is_sq, is_cq;
    int32_t device;        /* the number in the name of the mailbox */
    cpubind_piece mailbox; /* its name */
} handlers;

static int32_t is_action(const char *name, int32_t len, cpubind_irq_kind kind)
{
    return (size_t)len == strlen(action_names[kind]) &&
           memcmp(name, action_names[kind], (size_t)len) == 0;
}

static handlers read_handlers(const char *text, const cpubind_interrupt *irq)
{
    handlers found = {0, 0, 0, -1, {0, 0}};
    cpubind_piece slice;
    int32_t at = 0;
    while (cpubind_interrupts_next_name(text, irq->names, &at, &slice)) {
        const char *name = text + slice.at;
        if (cpubind_driver_parse_mailbox(name, slice.len, &found.device, NULL) ==
            CPUBIND_TEXT_OK) {
            found.is_mailbox = 1;
            found.mailbox = slice;
        }
        found.is_sq |= is_action(name, slice.len, CPUBIND_IRQ_SQ);
        found.is_cq |= is_action(name, slice.len, CPUBIND_IRQ_CQ);
    }
    return found;
}

/* A walk over two ascending lists at once: all interrupts, and those of the function. */
typedef struct walk {
    const cpubind_irq_search *search;
    int32_t i, k; /* the next element of `all` and of `msi` */
} walk;

/* The next number that is in both lists, or -1. */
static int32_t next_irq(walk *w, handlers *out)
{
    const cpubind_irq_search *s = w->search;
    while (w->i < s->n_all && w->k < s->n_msi) {
        const cpubind_interrupt *irq = &s->all[w->i];
        if (irq->irq < s->msi[w->k]) {
            w->i++;
        } else if (irq->irq > s->msi[w->k]) {
            w->k++;
        } else {
            *out = read_handlers(s->text, irq);
            w->i++;
            w->k++;
            return irq->irq;
        }
    }
    return -1;
}

/* How many interrupts of each kind the function has, of all of its devices. */
static void count_irqs(const cpubind_irq_search *search, int32_t *n_sq, int32_t *n_mailbox)
{
    walk w = {search, 0, 0};
    handlers found;
    *n_sq = *n_mailbox = 0;
    while (next_irq(&w, &found) >= 0) {
        *n_sq += found.is_sq;
        *n_mailbox += found.is_mailbox;
    }
}

/* The interrupts that are taken, and what they are numbered by. */
typedef struct taking {
    const cpubind_irq_search *search;
    cpubind_irq_goal *out;
    int32_t n;
} taking;

/* Adds an interrupt. The number of those of the function that have its name and come before it
 * is `index`; -1: those that were taken are counted. */
static void take_irq(taking *t, int32_t irq, cpubind_irq_kind kind, const char *name,
                     int32_t len, int32_t index)
{
    cpubind_irq_goal *goal = &t->out[t->n];
    memset(goal, 0, sizeof *goal);
    goal->irq = irq;
    goal->kind = kind;
    goal->cpu = -1;
    memcpy(goal->id.name, name, (size_t)len);
    goal->id.index = index;
    for (int32_t i = 0; index < 0 && i < t->n; i++)
        goal->id.index += t->out[i].kind == kind &&
                          memcmp(t->out[i].id.name, goal->id.name, sizeof goal->id.name) == 0;
    goal->id.index += index < 0;
    t->n++;
}

/* Takes the interrupts of the device, or of all devices of the function. Returns how many of
 * them are SQs.
 *   in      is_all: all devices; is_any_mailbox: the mailbox is the device's, whatever its
 *           number is */
static int32_t take_irqs(taking *t, int32_t is_all, int32_t is_any_mailbox)
{
    const cpubind_irq_search *search = t->search;
    walk w = {search, 0, 0};
    handlers found;
    int32_t irq, n_sq = 0, is_its = is_all;
    int32_t n_named[] = {[CPUBIND_IRQ_SQ] = 0, [CPUBIND_IRQ_CQ] = 0}; /* of all devices */
    while ((irq = next_irq(&w, &found)) >= 0) {
        const cpubind_irq_kind kind = found.is_sq ? CPUBIND_IRQ_SQ : CPUBIND_IRQ_CQ;
        const int32_t is_device = is_any_mailbox || found.device == search->device;
        if (found.is_mailbox)
            is_its = is_all || found.device == search->device;
        n_sq += is_its && found.is_sq;
        if (is_its && (found.is_sq || found.is_cq))
            take_irq(t, irq, kind, action_names[kind], (int32_t)strlen(action_names[kind]),
                     n_named[kind]);
        else if (found.is_mailbox && is_device && search->wants_mailbox &&
                 found.mailbox.len < CPUBIND_IRQ_NAME_SIZE)
            take_irq(t, irq, CPUBIND_IRQ_MAILBOX, search->text + found.mailbox.at,
                     found.mailbox.len, -1);
        n_named[CPUBIND_IRQ_SQ] += found.is_sq;
        n_named[CPUBIND_IRQ_CQ] += found.is_cq;
    }
    return n_sq;
}

cpubind_no_irq cpubind_ascend_irqs(const cpubind_irq_search *search, cpubind_irq_goal *out,
                                   int32_t *out_n)
{
    taking t = {search, out, 0};
    int32_t n_sq, n_mailbox, n_taken;
    count_irqs(search, &n_sq, &n_mailbox);
    *out_n = 0;
    if (n_sq == 0)
        return CPUBIND_IRQ_NO_SQ;
    if (n_sq > 1 && search->device < 0)
        return CPUBIND_IRQ_AMBIGUOUS;
    n_taken = take_irqs(&t, n_sq == 1, n_sq == 1 && n_mailbox == 1);
    if (n_taken != 1) /* a device has one SQ: with none or two, the mailboxes are misleading */
        return CPUBIND_IRQ_AMBIGUOUS;
    *out_n = t.n;
    return CPUBIND_IRQ_FOUND;
}
