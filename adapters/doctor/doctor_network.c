/* doctor_network.c - the check of network cards: where they are, and which a worker may use
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source.
 */
#include "../plan/network.h"
#include "../text/cursor.h"
#include "doctor_parts.h"

/* Which cards are meant, if not those of a row of the bus. */
enum { ALL = -1, IDLE = -2 };

static int is_meant(const cpubind_given *nics, int32_t row, int32_t card)
{
    if (row >= 0)
        return cpubind_network_has(nics, row, card);
    return row == ALL ? nics->n_device[card] >= 0 : nics->n_device[card] == 0;
}

/* The names of RDMA devices, with commas between them; "": none has one. */
static const char *names_of(doctor *d, const cpubind_given *nics, int32_t row)
{
    doctor_text to = {.of = d};
    for (int32_t k = 0; k < nics->cards.n; k++) {
        const cpubind_source_name name = nics->cards.at[k].rdma;
        if (!name.at || !is_meant(nics, row, k))
            continue;
        doctor_add(&to, "%s", to.len > 0 ? "," : "");
        doctor_add_bytes(&to, name.at, name.len);
    }
    return doctor_keep_text(d, &to);
}

/* The command after which NCCL may use all cards. */
static const char *export_all(doctor *d, const cpubind_given *nics)
{
    doctor_text to = {.of = d};
    doctor_add(&to, "export NCCL_IB_HCA==%s", names_of(d, nics, ALL));
    return doctor_keep_text(d, &to);
}

static int is_far(const cpubind_given *nics, int32_t row)
{
    return nics->near[row] == CPUBIND_TOGETHER_HOST;
}

static int is_sharing(const cpubind_given *nics, int32_t row)
{
    int is_shared = 0;
    for (int32_t k = 0; k < nics->cards.n; k++)
        is_shared |= cpubind_network_has(nics, row, k) && nics->n_device[k] > 1;
    return is_shared;
}

/* A finding about the devices that are so, unless none is. */
static void check_devices(doctor *d, const cpubind_network *n,
                          int (*is_so)(const cpubind_given *, int32_t), const char *what,
                          const char *cards, const char *command)
{
    doctor_text evidence = {.of = d};
    cpubind_doctor_finding *f;
    for (int32_t i = 0; i < d->facts->n_device; i++) {
        const doctor_worker of = {.npu = i, .facts = d->facts};
        const int32_t row = cpubind_network_row(n, d->facts->device[i]);
        if (row >= 0 && is_so(&n->given[CPUBIND_NIC], row))
            doctor_add(&evidence, "%s%s", evidence.len > 0 ? ", " : "", doctor_name(d, &of));
    }
    if (evidence.len == 0)
        return;
    doctor_add(&evidence, "%s%s", what, cards);
    f = doctor_find(d);
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = command;
}

/* Whether NCCL uses a card by the value of NCCL_IB_HCA: names, each with or without a port,
 * with commas between them; = before them says that they are whole, ^ that all others are meant
 * (NCCL 5067397c, src/transport/net_ib/init.cc and src/misc/utils.cc). */
static int uses(const char *text, cpubind_piece value, cpubind_source_name name)
{
    cursor_text of;
    cursor list = cursor_open(&of, text + value.at, value.len, NULL, 1);
    const int is_not = cursor_takes(&list, "^"), is_whole = cursor_takes(&list, "=");
    int is_named = !cursor_left(&list);
    while (cursor_left(&list)) {
        cursor entry = cursor_cut(&list, ',');
        const cursor one = cursor_cut(&entry, ':');
        const int32_t n = cursor_len(&one);
        is_named |= n > 0 && n <= name.len && (!is_whole || n == name.len) &&
                    memcmp(one.text + one.at, name.at, (size_t)n) == 0;
    }
    return is_named != is_not;
}

/* A worker that NCCL is told to keep off the cards of its device. */
static void check_worker(doctor *d, const cpubind_network *n, const doctor_worker *w)
{
    const cpubind_given *nics = &n->given[CPUBIND_NIC];
    const int32_t row = cpubind_network_row(n, w->facts->device[w->npu]);
    doctor_text name = {.len = 0}, set = {.of = d}, evidence = {.of = d}, command = {.of = d};
    cpubind_doctor_finding *f;
    cpubind_input environ;
    cpubind_piece value;
    int is_kept_off = 0;
    doctor_add(&name, "proc/%d/environ", (int)w->pid);
    if (row < 0 || !doctor_read(d, name.text, &environ))
        return;
    value = cpubind_environ_find(environ.data, environ.len, "NCCL_IB_HCA");
    if (value.len < 0)
        return;
    for (int32_t k = 0; k < nics->cards.n; k++)
        if (cpubind_network_has(nics, row, k) && nics->cards.at[k].rdma.at) {
            if (uses(environ.data, value, nics->cards.at[k].rdma))
                return;
            is_kept_off = 1;
        }
    if (!is_kept_off)
        return;
    doctor_add(&set, "NCCL_IB_HCA=");
    doctor_add_bytes(&set, environ.data + value.at, value.len);
    doctor_add(&evidence, "process %d, which drives %s, was started with %s; near it is %s",
               (int)w->pid, doctor_name(d, w), doctor_keep_text(d, &set),
               names_of(d, nics, row));
    doctor_add(&command, "%s", export_all(d, nics));
    f = doctor_find_of(d, w, &evidence, &command);
    f->input = doctor_keep(d, name.text);
    f->value = doctor_keep_text(d, &set);
}

void doctor_check_network(doctor *d)
{
    cpubind_network network;
    const cpubind_given *nics = &network.given[CPUBIND_NIC];
    cpubind_problem problem;
    const char *idle;
    const cpubind_problem_code code =
        doctor_has_plan(d)
            ? cpubind_network_read(d->source, d->facts, d->arena, &network, &problem)
            : CPUBIND_PROBLEM_SKIPPED;
    d->is_short |= code == CPUBIND_PROBLEM_NO_MEMORY;
    if (code == CPUBIND_PROBLEM_UNREADABLE)
        doctor_gap(d, problem.input, problem.answer);
    if (code != CPUBIND_PROBLEM_NONE || !nics->is_rdma)
        return;
    check_devices(d, &network, is_far, " have their network cards on another socket", "",
                  "cpubind topo --nics");
    idle = names_of(d, nics, IDLE);
    if (*idle)
        check_devices(d, &network, is_sharing, " share network cards, and no device has ", idle,
                      export_all(d, nics));
    for (int32_t i = 0; doctor_has_workers(d) && i < d->n_worker; i++)
        check_worker(d, &network, &d->worker[i]);
}
