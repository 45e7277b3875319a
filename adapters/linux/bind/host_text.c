/* host_text.c - the record of the host as the text of its file: writing it, reading it
 * SPDX-License-Identifier: MIT
 *
 * Pure: works on (pointer, length), opens no file. What a line is: lines.h. The lines come in
 * this order:
 *
 *     cpubind-host 3 VERSION                 the form's number; the cpubind that wrote it
 *     boot NAME                              /proc/sys/kernel/random/boot_id
 *     thread PID TID START LIST [SPACE]      a thread of a worker, its CPUs before
 *     irq N FUNCTION NAME INDEX LIST         an interrupt, its last number, its CPUs before
 *     uvb-thread PID TID START LIST [SPACE]  a thread of another process, its CPUs before
 *     kernel-thread PID START NAME LIST [SPACE]
 *                                            a kernel thread of the driver, its CPUs before
 *     workqueue NAME LIST                    a work queue of the driver, its CPUs before
 *     file NAME N =VALUE                     a setting of the host (knob.c), its value before
 *     ban PID START IRQ =ban|- [SPACE]       irqbalance leaves an interrupt alone: whether it
 *                                            did so before
 *     user PID START LIST|=VALUE [SPACE]     of the line before: a process, what it gave
 *     doctor LIST|=VALUE                     the same: what cpubind doctor gave
 *     sum HEX                                CRC-32 (IEEE 802.3) of all lines above
 *
 * boot is there at most once; thread by TID, START, irq by FUNCTION, NAME, INDEX, uvb-thread by
 * TID, START, kernel-thread by PID, START, workqueue by NAME, file by NAME, N and ban by PID,
 * START, IRQ any number of times; at least one user or doctor follows each of these, the last
 * one last. Those of a setting or a ban have a VALUE, the others a LIST. SPACE is two numbers:
 * the inodes of the pid and the time namespace that PID, TID and START are of, 0 for the first
 * one of the host; without it both are.
 */
#include "binding.h"
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../kernel/workqueue.h"

#define HEAD "cpubind-host"

/* == Fields of each line ==================================================== */

static int boot(cpubind_lines *l, void *of)
{
    cpubind_shared_record *host = (cpubind_shared_record *)of;
    return cpubind_line_name(l, host->boot, sizeof host->boot);
}

static int space(cpubind_lines *l, cpubind_namespaces *of)
{
    const int is_first = l->out ? of->pid == 0 && of->time == 0 : l->at == l->end;
    return is_first || (cpubind_line_big(l, &of->pid, 0) && cpubind_line_big(l, &of->time, 0));
}

static int thread(cpubind_lines *l, void *of)
{
    cpubind_shared_entry *e = (cpubind_shared_entry *)of;
    return cpubind_line_id(l, &e->pid, 1) && cpubind_line_id(l, &e->number, 1) &&
           cpubind_line_big(l, &e->start, 0) && cpubind_line_set(l, &e->before, 0) &&
           space(l, &e->space);
}

static int irq(cpubind_lines *l, void *of)
{
    cpubind_shared_entry *e = (cpubind_shared_entry *)of;
    return cpubind_line_id(l, &e->number, 0) && cpubind_line_irq(l, &e->id) &&
           cpubind_line_set(l, &e->before, 0);
}

static int workqueue(cpubind_lines *l, void *of)
{
    cpubind_shared_entry *e = (cpubind_shared_entry *)of;
    return cpubind_line_name(l, e->id.name, sizeof e->id.name) &&
           cpubind_workqueue_is_name(e->id.name) && cpubind_line_set(l, &e->before, 0);
}

static int kernel_thread(cpubind_lines *l, void *of)
{
    cpubind_shared_entry *e = (cpubind_shared_entry *)of;
    if (!cpubind_line_id(l, &e->number, 1) || !cpubind_line_big(l, &e->start, 0))
        return 0;
    if (!l->out)
        e->pid = e->number;
    return e->pid == e->number && workqueue(l, of) && space(l, &e->space);
}

static int file(cpubind_lines *l, void *of)
{
    cpubind_shared_entry *e = (cpubind_shared_entry *)of;
    char path[CPUBIND_SETTING_SIZE];
    return cpubind_line_name(l, e->id.name, sizeof e->id.name) &&
           cpubind_line_id(l, &e->id.index, 0) && cpubind_setting_file(&e->id, path) &&
           cpubind_line_set(l, &e->before, 0);
}

static int ban(cpubind_lines *l, void *of)
{
    cpubind_shared_entry *e = (cpubind_shared_entry *)of;
    return cpubind_line_id(l, &e->number, 1) && cpubind_line_big(l, &e->start, 0) &&
           cpubind_line_id(l, &e->id.index, 0) && cpubind_line_set(l, &e->before, 1) &&
           space(l, &e->space);
}

/* The text, and the entry that a user is of. */
typedef struct entry_lines {
    cpubind_lines l;
    cpubind_shared_entry *entry; /* NULL: there is none yet */
} entry_lines;

/* Whether entries of a kind have values that are no lists of CPUs. */
static int has_values(cpubind_item_kind kind)
{
    return kind == CPUBIND_ITEM_FILE || kind == CPUBIND_ITEM_BAN;
}

/* Whether what a user gave is a value of its entry. */
static int is_of_entry(cpubind_lines *l, int32_t set)
{
    const cpubind_item_kind kind = ((const entry_lines *)l)->entry->kind;
    return set >= 0 && cpubind_cpu_sets_is_value(l->sets, set) == has_values(kind);
}

static int user(cpubind_lines *l, void *of)
{
    cpubind_shared_user *u = (cpubind_shared_user *)of;
    return cpubind_line_id(l, &u->pid, 1) && cpubind_line_big(l, &u->start, 0) &&
           cpubind_line_set(l, &u->set, 0) && is_of_entry(l, u->set) && space(l, &u->space);
}

static int doctor(cpubind_lines *l, void *of)
{
    cpubind_shared_user *u = (cpubind_shared_user *)of;
    u->pid = CPUBIND_DOCTOR;
    return cpubind_line_set(l, &u->set, 0) && is_of_entry(l, u->set);
}

/* The row of an entry is at its kind. */
enum { BOOT = CPUBIND_ITEM_BAN + 1, USER, DOCTOR };
static const cpubind_line rows[] = {
    [CPUBIND_ITEM_THREAD] = {"thread", thread, 0, 0, 0, 0, 0},
    [CPUBIND_ITEM_IRQ] = {"irq", irq, 0, 0, 0, 0, 0},
    [CPUBIND_ITEM_POLLING] = {"uvb-thread", thread, 0, 0, 0, 0, 0},
    [CPUBIND_ITEM_KERNEL] = {"kernel-thread", kernel_thread, 0, 0, 0, 0, 0},
    [CPUBIND_ITEM_WORKQUEUE] = {"workqueue", workqueue, 0, 0, 0, 0, 0},
    [CPUBIND_ITEM_FILE] = {"file", file, 0, 0, 0, 0, 0},
    [CPUBIND_ITEM_BAN] = {"ban", ban, 0, 0, 0, 0, 0},
    [BOOT] = {"boot", boot, 0, 0, 0, 0, 0},
    [USER] = {"user", user, 0, 0, 0, 0, 0},
    [DOCTOR] = {"doctor", doctor, 0, 0, 0, 0, 0},
    {NULL, NULL, 0, 0, 0, 0, 0},
};

/* == Writing and reading ==================================================== */

/* Whether an entry comes after the one before it in the array. */
static int is_in_order(const cpubind_shared_record *host, const cpubind_shared_entry *e)
{
    return e == host->entry || cpubind_shared_compare(e - 1, e) < 0;
}

cpubind_linux_fault cpubind_shared_format(const cpubind_shared_record *host,
                                          const cpubind_cpu_sets *sets, const cpubind_sys *sys,
                                          cpubind_bytes *out)
{
    cpubind_cpu_sets of = *sets; /* none is added */
    entry_lines e = {.l = {.sys = sys, .sets = &of, .out = out}};
    cpubind_lines *l = &e.l;
    cpubind_shared_record copy = *host; /* lines are written from what they are read into */
    cpubind_lines_begin(l, HEAD, CPUBIND_HOST_FORM);
    cpubind_lines_put(l, &rows[BOOT], &copy, 1);
    for (int32_t i = 0; i < host->n_entry && !l->why.error; i++) {
        e.entry = &host->entry[i];
        if (e.entry->n_user == 0 || !is_in_order(host, e.entry))
            l->why = cpubind_fault_of(EINVAL, "argument");
        else
            cpubind_lines_put(l, &rows[e.entry->kind], e.entry, 0);
        for (int32_t k = 0; k < e.entry->n_user && !l->why.error; k++) {
            cpubind_shared_user *u = &e.entry->user[k];
            cpubind_lines_put(l, &rows[u->pid == CPUBIND_DOCTOR ? DOCTOR : USER], u, 0);
        }
    }
    cpubind_lines_end(l);
    return l->why;
}

static int take_line(cpubind_lines *l, const cpubind_line *row, const char **what)
{
    cpubind_shared_record *host = (cpubind_shared_record *)l->of;
    cpubind_shared_entry *last = host->n_entry > 0 ? &host->entry[host->n_entry - 1] : NULL;
    const int is_whole = !last || last->n_user > 0;
    cpubind_shared_entry *e;
    *what = row->word ? row->word : "sum";
    ((entry_lines *)l)->entry = last;
    if (!row->word)
        return is_whole;
    if (row == &rows[BOOT])
        return l->line == 2 && cpubind_lines_fill(l, row, host);
    if (row > &rows[BOOT])
        return last &&
               cpubind_lines_fill(l, row,
                                  cpubind_line_add(l, &last->user, &last->n_user,
                                                   &last->cap_user, sizeof *last->user));
    e = (cpubind_shared_entry *)cpubind_line_add(l, &host->entry, &host->n_entry,
                                                 &host->cap_entry, sizeof *e);
    if (e)
        e->kind = (cpubind_item_kind)(row - rows);
    return is_whole && cpubind_lines_fill(l, row, e) && is_in_order(host, e) &&
           (e->before < 0 ||
            cpubind_cpu_sets_is_value(l->sets, e->before) == has_values(e->kind));
}

cpubind_linux_fault cpubind_shared_parse(const char *text, int32_t len, const cpubind_sys *sys,
                                         cpubind_cpu_sets *sets, cpubind_shared_record *out)
{
    entry_lines e = {.l = {.sys = sys, .sets = sets, .of = out}};
    cpubind_linux_fault why;
    memset(out, 0, sizeof *out);
    why = cpubind_lines_read(&e.l, len > 0 ? text : "", len, HEAD, CPUBIND_HOST_FORM, rows,
                             take_line);
    if (why.error)
        cpubind_shared_free(out);
    return why;
}
