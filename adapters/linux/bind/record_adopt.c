/* record_adopt.c - takes a record of form 1 over into the present form
 * SPDX-License-Identifier: MIT
 *
 * Form 1 had what is of the host in the record of each process, and interrupts by their numbers
 * alone. Here they get their ids, and go to the record of the host. Moves nothing. The files
 * are written in this order: that of the host, that of the process; then the old one is
 * removed. A cpubind that is killed in between leaves a record that is taken over again, to the
 * same end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

/* The ids of the interrupts of the goal. One that is gone is dropped: it has no CPUs to go back
 * to. Failing to look is no absence. */
static cpubind_linux_fault identify_goal(cpubind_binding *b)
{
    cpubind_record *r = &b->record;
    cpubind_record_irq *const old = r->irq;
    const int32_t n = r->n_irq;
    cpubind_linux_fault why = cpubind_no_fault;
    r->irq = NULL;
    r->n_irq = r->cap_irq = 0;
    for (int32_t i = 0; !why.error && i < n; i++) {
        why = cpubind_irq_identify(&b->root, old[i].irq, &old[i].id);
        if (!why.error)
            why = cpubind_record_add_irq(r, b->sys, &old[i]);
        else if (strcmp(why.what, "gone") == 0)
            why = cpubind_no_fault;
    }
    free(old);
    return why;
}

/* The same for what was changed. */
static void identify_host(cpubind_record *r)
{
    for (int32_t i = r->host->n_entry; i-- > 0;) {
        cpubind_shared_entry *entry = &r->host->entry[i];
        int32_t k = 0;
        if (entry->kind != CPUBIND_ITEM_IRQ)
            continue;
        while (k < r->n_irq && r->irq[k].irq != entry->number)
            k++;
        if (k < r->n_irq)
            entry->id = r->irq[k].id;
        else
            cpubind_shared_drop(r->host, i);
    }
}

static cpubind_linux_fault write_all(cpubind_binding *b)
{
    cpubind_record *r = &b->record;
    cpubind_linux_fault why = cpubind_no_fault;
    b->host_wait_ms =
        b->options.host_wait_ms > 0 ? b->options.host_wait_ms : CPUBIND_HOST_WAIT_MS;
    if (r->host->n_entry > 0)
        why = cpubind_shared_open(b, CPUBIND_RECORD_MAKE);
    if (!why.error && b->shared.file)
        why = cpubind_shared_write(b);
    cpubind_shared_close(b);
    if (!why.error)
        why = cpubind_record_save(b->file, r);
    if (why.error)
        return why;
    cpubind_shared_free(r->host);
    free(r->host);
    r->host = NULL;
    return why;
}

cpubind_linux_fault cpubind_adopt_record(cpubind_binding *b)
{
    cpubind_record_file *old = NULL;
    cpubind_linux_fault why = cpubind_no_fault;
    const int is_usual = !b->options.record_path;
    if (!b->options.is_reading && is_usual)
        why = cpubind_record_open_form1(&b->root, b->options.pid, &old);
    if (old) { /* locked now: it may have been written since */
        cpubind_record_free(&b->record);
        why = cpubind_record_load(b->file, &b->record);
    }
    if (!why.error && b->record.host) {
        b->record.pid_namespace = b->pid_namespace; /* which form 1 did not say */
        why = identify_goal(b);
    }
    if (!why.error && b->record.host)
        identify_host(&b->record);
    if (!why.error && b->record.host && !b->options.is_reading)
        why = write_all(b);
    if (!why.error && old)
        why = cpubind_record_remove(old);
    cpubind_record_close(old);
    return why;
}
