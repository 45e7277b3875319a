/* host_status.c - every device of a host: who runs on it, where threads, memory and interrupts
 *     are
 * SPDX-License-Identifier: MIT
 *
 * Compares through adapters/linux/bind, which reads alone here; moves nothing. Rules: bind.h.
 */
#define _GNU_SOURCE
#include "host_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../linux/bind/record.h"
#include "../linux/kernel/memory.h"
#include "../text/cpulist.h"
#include "../text/procfs.h"
#include "host_rows.h"

/* One look at a host. */
typedef struct look {
    const cpubind_host_bind *h;
    int32_t has_no_memory;
    cpubind_arena *arena;
    cpubind_host_status *out;
    cpubind_root root;
    int32_t *list; /* CPUBIND_MAX_CPUS elements */
    int is_short;  /* the arena is full */
} look;

const char *cpubind_place_word(cpubind_place_kind place)
{
    static const char *const words[] = {
#define CPUBIND_X(name, word) word,
        CPUBIND_PLACE_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    return words[place];
}

static const char *keep_text(look *l, const char *text, int32_t len)
{
    char *copy = (char *)cpubind_arena_take(l->arena, len + 1, 1);
    l->is_short |= !copy;
    if (!copy)
        return NULL;
    memcpy(copy, text, (size_t)len);
    copy[len] = '\0';
    return copy;
}

static cpubind_place_kind worse(cpubind_place_kind a, cpubind_place_kind b)
{
    return a > b ? a : b;
}

/* == Threads ================================================================ */

/* The role of a thread; where pools have no CPUs for transfer, such a thread is a main one. */
static cpubind_role role_of(const look *l, const char *name)
{
    const cpubind_host_options *options = &l->h->options;
    const cpubind_thread_role *role = cpubind_thread_role_of(name, options->threads);
    const int is_main =
        !role || (role->role == CPUBIND_ROLE_TRANSFER && options->request.transfer == 0);
    return is_main ? CPUBIND_ROLE_MAIN : role->role;
}

/* Whether a list of CPUs as text has all of these. */
static int has_all(look *l, const char *text, cpubind_cpus cpus)
{
    cpubind_int_list list = {l->list, CPUBIND_MAX_CPUS, 0};
    return cpubind_cpulist_parse(text, (int32_t)strlen(text), CPUBIND_MAX_CPUS, &list, NULL) ==
               CPUBIND_TEXT_OK &&
           cpus.n > 0 && cpubind_list_common(cpus.cpu, cpus.n, list.out, list.n) == cpus.n;
}

static cpubind_place_kind place_of(look *l, const cpubind_item *item, cpubind_cpus allowed)
{
    switch (item->result) {
    case CPUBIND_ITEM_RIGHT:
    case CPUBIND_ITEM_PART:
    case CPUBIND_ITEM_LEFT:
        return CPUBIND_PLACE_RIGHT;
    case CPUBIND_ITEM_WRONG:
        return item->was && has_all(l, item->was, allowed) ? CPUBIND_PLACE_UNBOUND
                                                           : CPUBIND_PLACE_ELSEWHERE;
    default:
        return CPUBIND_PLACE_UNKNOWN;
    }
}

static void count_threads(look *l, const cpubind_outcomes *report, cpubind_status_worker *out)
{
    for (int32_t i = 0; i < report->n; i++) {
        const cpubind_item *item = &report->item[i];
        cpubind_place_kind place;
        if (item->kind != CPUBIND_ITEM_THREAD)
            continue;
        place = place_of(l, item, out->worker->allowed);
        out->thread[role_of(l, item->name)][place]++;
        out->n_thread++;
        out->place = worse(out->place, place);
    }
}

/* == Interrupts ============================================================= */

/* Those of a record, which may be of another plan than that of today. */
static void take_irqs(look *l, const cpubind_outcomes *report, cpubind_status_device *device)
{
    int32_t n = 0;
    cpubind_status_irq *irq;
    for (int32_t i = 0; i < report->n; i++)
        n += report->item[i].kind == CPUBIND_ITEM_IRQ;
    if (n == 0 || device->n_irq > 0)
        return;
    irq = (cpubind_status_irq *)cpubind_arena_take(l->arena, n, sizeof *irq);
    l->is_short |= !irq;
    for (int32_t i = 0; irq && i < report->n; i++) {
        const cpubind_item *item = &report->item[i];
        cpubind_int_list list = {l->list, CPUBIND_MAX_CPUS, 0};
        if (item->kind != CPUBIND_ITEM_IRQ)
            continue;
        if (!item->should ||
            cpubind_cpulist_parse(item->should, (int32_t)strlen(item->should), CPUBIND_MAX_CPUS,
                                  &list, NULL) != CPUBIND_TEXT_OK)
            list.n = 0;
        irq[device->n_irq++] = (cpubind_status_irq){
            .irq = item->id,
            .kind = cpubind_irq_kind_word(
                cpubind_irq_kind_of(item->name, (int32_t)strlen(item->name))),
            .cpu = list.n > 0 ? list.out[0] : -1,
            .cpus = item->was ? keep_text(l, item->was, (int32_t)strlen(item->was)) : NULL,
            .place = place_of(l, item, (cpubind_cpus){NULL, 0})};
    }
    device->irq = irq;
}

static void read_irqs(look *l, const cpubind_goal *goal, cpubind_status_device *device)
{
    const cpubind_source own = cpubind_linux_source(l->h->facts_host);
    const cpubind_source *source = l->h->options.source ? l->h->options.source : &own;
    cpubind_status_irq *irq =
        (cpubind_status_irq *)cpubind_arena_take(l->arena, goal->n_irq, sizeof *irq);
    l->is_short |= !irq;
    for (int32_t i = 0; irq && i < goal->n_irq; i++) {
        const cpubind_irq_goal *g = &goal->irq[i];
        cpubind_int_list list = {l->list, CPUBIND_MAX_CPUS, 0};
        char name[64];
        cpubind_input answer;
        (void)snprintf(name, sizeof name, "proc/irq/%d/smp_affinity_list", (int)g->irq);
        answer = source->read(source->ctx, name);
        irq[i] = (cpubind_status_irq){.irq = g->irq,
                                      .kind = cpubind_irq_kind_word(g->kind),
                                      .cpu = g->cpu,
                                      .place = CPUBIND_PLACE_UNKNOWN};
        if (answer.state != CPUBIND_INPUT_PRESENT ||
            cpubind_cpulist_parse(answer.data, answer.len, CPUBIND_MAX_CPUS, &list, NULL) !=
                CPUBIND_TEXT_OK)
            continue;
        while (answer.len > 0 && answer.data[answer.len - 1] == '\n')
            answer.len--;
        irq[i].cpus = keep_text(l, answer.data, answer.len);
        irq[i].place = list.n == 1 && list.out[0] == g->cpu ? CPUBIND_PLACE_RIGHT
                                                            : CPUBIND_PLACE_ELSEWHERE;
    }
    device->irq = irq;
    device->n_irq = irq ? goal->n_irq : 0;
    device->no_irq = goal->no_irq;
}

/* == Memory ================================================================= */

static void read_memory(look *l, cpubind_status_worker *out)
{
    cpubind_memory *memory = (cpubind_memory *)cpubind_arena_take(l->arena, 1, sizeof *memory);
    cpubind_status_node *node;
    cpubind_mappings maps = {.node = out->memory_node};
    cpubind_linux_fault fault;
    int32_t n = 0;
    l->is_short |= !memory;
    if (!memory)
        return;
    fault = cpubind_memory_read(&l->root, out->worker->pid, memory, &maps);
    for (int32_t i = 0; !fault.error && i < maps.n; i++)
        if (!maps.item[i].is_shared && !maps.item[i].is_huge)
            out->own_away += maps.item[i].away;
    out->own_near = maps.own_total - out->own_away;
    free(maps.item);
    out->memory_error = fault.error;
    out->has_memory = !fault.error;
    for (int32_t i = 0; !fault.error && i < CPUBIND_MAX_NODES; i++)
        n += memory->bytes[i] > 0;
    node = (cpubind_status_node *)cpubind_arena_take(l->arena, n, sizeof *node);
    l->is_short |= !node;
    for (int32_t i = 0; node && out->n_node < n && i < CPUBIND_MAX_NODES; i++)
        if (memory->bytes[i] > 0)
            node[out->n_node++] = (cpubind_status_node){i, memory->bytes[i]};
    out->node = node;
}

int cpubind_status_memory_is_away(const cpubind_status_worker *worker)
{
    return worker->has_memory && worker->memory_node >= 0 &&
           worker->own_away > (worker->own_near + worker->own_away) / 10;
}

/* == A worker =============================================================== */

/* Makes the goal of a worker of a device, or that of the whole device. Returns whether it has
 * one. */
static int make_goal(look *l, const cpubind_status_device *device, const cpubind_worker *w,
                     cpubind_goal *goal)
{
    const host_entry *e = w ? cpubind_host_find(l->h, w->pid) : NULL;
    cpubind_problem problem;
    const cpubind_problem_code code =
        cpubind_host_make_part_goal(l->h, device->device, e, l->arena, goal, &problem);
    l->is_short |= code == CPUBIND_PROBLEM_NO_MEMORY;
    return code == CPUBIND_PROBLEM_NONE;
}

/* Whether a worker that is bound is on record for another device. */
static int is_on_other(const cpubind_status_device *device, const cpubind_worker *w,
                       const cpubind_binding *b)
{
    char pci[CPUBIND_PCI_ADDRESS_MAX];
    if (!w->is_bound)
        return 0;
    if (cpubind_is_listed(device->found))
        return w->bound_number >= 0 && w->bound_number != device->found->logic;
    (void)cpubind_pci_format(pci, &device->found->pci);
    return b && *cpubind_bind_pci(b) && strcmp(cpubind_bind_pci(b), pci) != 0;
}

/* Compares a worker with its record, else with the plan. */
static void compare(look *l, cpubind_status_device *device, cpubind_status_worker *out)
{
    const cpubind_worker *w = out->worker;
    const cpubind_bind_options options = {
        .pid = w->pid, .is_reading = 1, .memory = CPUBIND_MEMORY_NONE};
    cpubind_linux_fault fault = {.what = ""};
    cpubind_binding *b = NULL;
    cpubind_goal goal;
    const int has_goal = !w->is_bound && device->pool.n > 0 && make_goal(l, device, w, &goal);
    cpubind_linux_status status = cpubind_bind_open(&options, l->h->sys, &b, &fault);
    if (status == CPUBIND_LINUX_OK && (w->is_bound || has_goal))
        status = cpubind_bind_verify(b, w->is_bound ? NULL : &goal, &fault);
    out->status = status;
    out->is_on_other = is_on_other(device, w, b);
    if (status != CPUBIND_LINUX_OK)
        out->fault = fault;
    else if (!cpubind_bind_report(b)->has_goal)
        out->fault = (cpubind_linux_fault){ENOENT, "plan", 0};
    if (out->fault.error) {
        out->place = CPUBIND_PLACE_UNKNOWN;
    } else {
        count_threads(l, cpubind_bind_report(b), out);
        if (w->is_bound)
            take_irqs(l, cpubind_bind_report(b), device);
    }
    cpubind_bind_close(b);
}

/* The node of the memory of a device's workers; -1 also where memory has no choice, as when
 * memory is moved. */
static int32_t memory_node_of(look *l, const cpubind_status_device *device)
{
    const int32_t node = device->memory_node;
    int is_there;
    if (node >= 0 && !cpubind_memory_find_node(&l->root, node, &is_there).error && !is_there)
        return -1;
    return node;
}

static void look_at_worker(look *l, cpubind_status_device *device, cpubind_status_worker *out)
{
    const cpubind_worker *w = out->worker;
    out->memory_node = memory_node_of(l, device);
    out->fault = w->fault;
    out->place = CPUBIND_PLACE_UNKNOWN;
    if (w->fault.error)
        return;
    out->place = CPUBIND_PLACE_RIGHT;
    compare(l, device, out);
    if (!l->has_no_memory)
        read_memory(l, out);
    if (out->is_on_other ||
        (out->place == CPUBIND_PLACE_RIGHT && cpubind_status_memory_is_away(out)))
        out->place = CPUBIND_PLACE_ELSEWHERE;
    l->out->is_hidden_from_user |= out->memory_error == EACCES || out->memory_error == EPERM ||
                                   w->environ_error == EACCES || w->environ_error == EPERM;
}

/* == The host =============================================================== */

static void look_at_device(look *l, cpubind_status_device *device)
{
    cpubind_host_status *out = l->out;
    cpubind_goal goal;
    for (int32_t i = 0; i < device->n_worker; i++) {
        cpubind_status_worker *w = &out->worker[device->first_worker + i];
        look_at_worker(l, device, w);
        out->count[w->place]++;
    }
    if (device->n_irq == 0 && cpubind_is_listed(device->found) && device->pool.n > 0 &&
        make_goal(l, device, NULL, &goal))
        read_irqs(l, &goal, device);
    for (int32_t i = 0; i < device->n_irq; i++) {
        device->irq_place = worse(device->irq_place, device->irq[i].place);
        out->n_irq_elsewhere +=
            device->n_worker > 0 && device->irq[i].place == CPUBIND_PLACE_ELSEWHERE;
    }
    out->n_idle += device->n_worker == 0;
}

/* What a device is, and its pool in the plan. */
static cpubind_status_device describe(const cpubind_host_bind *h, int32_t i)
{
    const cpubind_host_device *found = h->facts.facts.device[i];
    cpubind_status_device device = {.device = i,
                                    .found = found,
                                    .memory_node = -1,
                                    .no_irq = cpubind_is_listed(found) ? CPUBIND_IRQ_FOUND
                                                                       : CPUBIND_IRQ_NO_ROLE};
    device.pool = cpubind_host_pool(h, i, &device.memory_node);
    return device;
}

/* Lists the workers of a device, by start and pid. */
static void list_workers(const cpubind_host_bind *h, cpubind_status_device *device,
                         cpubind_status_worker *out)
{
    for (int32_t i = 0; i < h->n; i++) {
        const cpubind_worker *w = &h->entry[i]->row;
        int32_t at = device->n_worker;
        if (!w->devices || !cpubind_list_common(w->devices, w->n_device, &device->device, 1))
            continue;
        for (; at > 0 &&
               (out[at - 1].worker->start > w->start ||
                (out[at - 1].worker->start == w->start && out[at - 1].worker->pid > w->pid));
             at--)
            out[at] = out[at - 1];
        out[at] = (cpubind_status_worker){.worker = w};
        device->n_worker++;
    }
}

/* Looks at the devices that are asked for, and at their workers. */
static void look_at_devices(look *l)
{
    const cpubind_host_bind *h = l->h;
    cpubind_host_status *out = l->out;
    cpubind_status_device *all = (cpubind_status_device *)cpubind_arena_take(
        l->arena, h->facts.facts.n_device, sizeof *all);
    l->is_short |= !all;
    out->device = all;
    for (int32_t i = 0; i < h->facts.facts.n_device && !l->is_short; i++) {
        cpubind_status_device *device = &all[out->n_device];
        if (!cpubind_host_is_asked(h, i))
            continue;
        *device = describe(h, i);
        device->first_worker = out->n_worker;
        list_workers(h, device, out->worker + out->n_worker);
        out->n_worker += device->n_worker;
        out->n_device++;
        look_at_device(l, device);
    }
}

cpubind_problem_code cpubind_host_status_read(cpubind_host_bind *host, int32_t has_no_memory,
                                              cpubind_arena *arena, cpubind_host_status *out)
{
    int32_t n_worker = 0;
    look l = {.h = host,
              .has_no_memory = has_no_memory,
              .arena = arena,
              .out = out,
              .root = host->root};
    *out = (cpubind_host_status){.n_hidden = host->n_hidden,
                                 .n_elsewhere = host->n_elsewhere,
                                 .n_unseen = host->n_unseen,
                                 .is_other_namespace = host->is_other_namespace};
    for (int32_t i = 0; i < host->n; i++)
        n_worker += host->entry[i]->row.n_device;
    l.list = cpubind_arena_ints(arena, CPUBIND_MAX_CPUS);
    out->worker =
        (cpubind_status_worker *)cpubind_arena_take(arena, n_worker, sizeof *out->worker);
    if (!l.list || !out->worker)
        return CPUBIND_PROBLEM_NO_MEMORY;
    look_at_devices(&l);
    return l.is_short ? CPUBIND_PROBLEM_NO_MEMORY : CPUBIND_PROBLEM_NONE;
}

int cpubind_host_status_is_right(const cpubind_host_status *status)
{
    return status->count[CPUBIND_PLACE_ELSEWHERE] == 0 &&
           status->count[CPUBIND_PLACE_UNBOUND] == 0 && status->n_irq_elsewhere == 0;
}
