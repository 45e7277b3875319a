/* host_allowed.c - the request for one plan of all workers of a host
 * SPDX-License-Identifier: MIT
 *
 * Reads and moves nothing. See host_allowed.h for the rule.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_allowed.h"

/* What is known of the users of the devices. */
typedef struct joining {
    const cpubind_facts *facts;
    const cpubind_host_user *user;
    int32_t n_user;
    uint8_t *mark; /* by CPU: bit 0: in the list that is made; bit 1: in any list */
    cpubind_host_allowed *out;
} joining;

static int has_user(const joining *j, int32_t device)
{
    for (int32_t i = 0; i < j->n_user; i++)
        if (j->user[i].device == device)
            return 1;
    return 0;
}

/* Writes the CPUs that have a mark, ascending. Returns their number. */
static int32_t list_marked(const uint8_t *mark, int bit, int32_t *cpu)
{
    int32_t n = 0;
    for (int32_t id = 0; id < CPUBIND_MAX_CPUS; id++)
        if (mark[id] & bit)
            cpu[n++] = id;
    return n;
}

/* Writes the CPUs that any user of a device may have. Returns their number; 0: not known. */
static int32_t join_users(const joining *j, int32_t device, int32_t *cpu)
{
    for (int32_t id = 0; id < CPUBIND_MAX_CPUS; id++)
        j->mark[id] &= 2;
    for (int32_t i = 0; i < j->n_user; i++)
        for (int32_t k = 0; j->user[i].device == device && k < j->user[i].allowed.n; k++)
            j->mark[j->user[i].allowed.cpu[k]] = 3;
    return list_marked(j->mark, 1, cpu);
}

/* The CPUs that all lists together have at most, and the list of the CPUs of all users. */
static size_t count_room(const joining *j)
{
    size_t n = CPUBIND_MAX_CPUS;
    for (int32_t i = 0; i < j->n_user; i++)
        n += (size_t)j->user[i].allowed.n;
    return n;
}

/* Makes the row of each device: n is 0 where it has no users, and -1 where theirs are not
 * known. Returns the end of the lists. */
static int32_t *join_all(const joining *j)
{
    int32_t *next = j->out->cpu;
    for (int32_t i = 0; i < j->facts->n_device; i++) {
        cpubind_device_allowed *row = &j->out->row[i];
        *row = (cpubind_device_allowed){j->facts->device[i]->logic, next, 0};
        if (!has_user(j, i))
            continue;
        row->n = join_users(j, i, next);
        next += row->n;
        if (row->n == 0)
            row->n = -1;
    }
    return next;
}

/* Whether the users of two devices may have different CPUs; *first is the first row with a
 * user. */
static int do_differ(const joining *j, const cpubind_device_allowed **first)
{
    *first = NULL;
    for (int32_t i = 0; i < j->facts->n_device; i++) {
        const cpubind_device_allowed *row = &j->out->row[i];
        if (row->n == 0)
            continue;
        if (!*first)
            *first = row;
        if (row->n != (*first)->n ||
            (row->n > 0 &&
             memcmp(row->cpu, (*first)->cpu, (size_t)row->n * sizeof(int32_t)) != 0))
            return 1;
    }
    return 0;
}

/* Whether the CPUs of all users are their own. */
static int are_own(const joining *j)
{
    int32_t n = 0;
    while (n < j->n_user && j->user[n].is_own && j->user[n].allowed.n > 0)
        n++;
    return n > 0 && n == j->n_user;
}

/* Gives the CPUs of all lists to the devices whose own are not known, and, if those of one are
 * all of these, to devices without users. */
static void fill_rows(const joining *j, int32_t *next)
{
    const int32_t n = list_marked(j->mark, 2, next);
    int is_one_all = 0;
    for (int32_t i = 0; i < j->facts->n_device; i++)
        is_one_all |= j->out->row[i].n == n || j->out->row[i].n < 0;
    for (int32_t i = 0; i < j->facts->n_device; i++) {
        cpubind_device_allowed *row = &j->out->row[i];
        if (row->n < 0 || (row->n == 0 && is_one_all))
            *row = (cpubind_device_allowed){row->logic, next, n};
    }
}

/* Lists the devices of users, or all, as numbers; as text the listed ones, or all of these. */
static void list_devices(const joining *j, int is_all, cpubind_request *request)
{
    int32_t n_named = 0;
    size_t len = 0;
    request->n_device = 0;
    *j->out->visible = '\0';
    for (int32_t i = 0; i < j->facts->n_device; i++)
        if (is_all || has_user(j, i)) {
            n_named += i < j->facts->n_listed;
            j->out->device[request->n_device++] = j->facts->device[i]->logic;
        }
    for (int32_t i = 0; i < j->facts->n_listed; i++)
        if (is_all || n_named == 0 || has_user(j, i))
            len += (size_t)snprintf(j->out->visible + len, 13, "%s%d", len ? "," : "",
                                    (int)j->facts->device[i]->logic);
    request->device = j->out->device;
    request->visible = j->out->visible;
    request->visible_len = (int32_t)len;
}

int cpubind_host_allow(const cpubind_sys *sys, const cpubind_facts *facts,
                       const cpubind_host_user *user, int32_t n_user, int names_idle,
                       cpubind_host_allowed *out, cpubind_request *request)
{
    const size_t n_row = (size_t)facts->n_device + 1;
    joining j = {.facts = facts,
                 .user = user,
                 .n_user = n_user,
                 .mark = (uint8_t *)sys->malloc(CPUBIND_MAX_CPUS),
                 .out = out};
    const cpubind_device_allowed *first = NULL;
    int is_other = 0;
    out->device = (int32_t *)sys->malloc(n_row * sizeof *out->device);
    out->visible = (char *)sys->malloc(n_row * 13);
    out->cpu = (int32_t *)sys->malloc(count_room(&j) * sizeof *out->cpu);
    out->row = (cpubind_device_allowed *)sys->malloc(n_row * sizeof *out->row);
    if (!j.mark || !out->device || !out->visible || !out->cpu || !out->row) {
        free(j.mark);
        return 0;
    }
    if (!request->allowed) {
        const int is_own = are_own(&j);
        int32_t *next;
        memset(j.mark, 0, CPUBIND_MAX_CPUS);
        next = join_all(&j);
        is_other = do_differ(&j, &first);
        if (is_other && !is_own)
            fill_rows(&j, next);
        is_other |= is_own;
    }
    if (is_other) {
        request->device_allowed = out->row;
        request->n_device_allowed = facts->n_device;
    } else if (first && first->n > 0) {
        request->allowed = first->cpu;
        request->n_allowed = first->n;
    }
    list_devices(&j, names_idle && !is_other, request);
    free(j.mark);
    return 1;
}

void cpubind_host_free_allowed(cpubind_host_allowed *allowed)
{
    free(allowed->device);
    free(allowed->visible);
    free(allowed->cpu);
    free(allowed->row);
    memset(allowed, 0, sizeof *allowed);
}
