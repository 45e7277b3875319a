/* host_place.c - where a process that is to start belongs, by the devices that it is given
 * SPDX-License-Identifier: MIT
 *
 * The plan is made once, and kept by host_plan.c.
 */
#include "host_place.h"

#include <string.h>

#include "../text/cpulist.h"
#include "../text/cursor.h"
#include "host_rows.h"

/* The search for a place. */
typedef struct placing {
    cpubind_host_bind *h;
    const cpubind_host_grant *grant;
    cpubind_source now; /* for the numbers of device files */
    cpubind_device_nodes nodes;
    uint8_t *is_given;  /* by device of the facts */
    uint8_t *is_wanted; /* by CPU: it is of a pool of one that is given */
    uint8_t *may_have;  /* by CPU: the process may have it */
    cpubind_host_place *out;
    cpubind_problem *problem;
} placing;

static cpubind_problem_code refuse(const placing *p, cpubind_problem_code code,
                                   const char *what)
{
    p->problem->code = code;
    p->problem->what = what;
    return code;
}

/* == The devices that are given ============================================= */

static int is_number(cursor word, int32_t *out)
{
    return cursor_is_number(word, INT32_MAX, out);
}

/* The two sides of a byte. Returns 0 without one. */
static int split(cursor word, char c, cursor *left, cursor *right)
{
    *right = word;
    *left = cursor_cut(right, c);
    return left->end < word.end;
}

/* Gives the device of the bus. Returns whether the plan has it. */
static int give_of_bus(const placing *p, int32_t bus)
{
    const int32_t device = cpubind_facts_device(&p->h->whole.facts, bus);
    if (device >= 0)
        p->is_given[device] = 1;
    return device >= 0;
}

/* Gives the device with a number of the host: by its driver, else by its place on the bus. */
static int give_number(const placing *p, cpubind_vendor_id vendor, int32_t number)
{
    const cpubind_facts *f = &p->h->whole.facts;
    int32_t place = 0;
    for (int32_t i = 0; i < f->n_listed; i++) {
        const cpubind_host_device *d = f->device[i];
        if (d->accelerator.vendor == vendor && (d->phy >= 0 ? d->phy : d->logic) == number) {
            p->is_given[i] = 1;
            return 1;
        }
    }
    for (int32_t i = 0; i < f->n_bus; i++)
        if (f->bus[i].accelerator.vendor == vendor && place++ == number)
            return give_of_bus(p, i);
    return 0;
}

/* Gives the device of a file; one that is no device of the plan is passed over. */
static void give_file(const placing *p, int32_t major, int32_t minor)
{
    (void)give_of_bus(p, cpubind_device_of_number(&p->nodes, major, minor));
    for (int k = 0; k < CPUBIND_VENDOR_COUNT; k++)
        if (p->nodes.numbered_major[k] == major)
            (void)give_number(p, (cpubind_vendor_id)k, minor);
}

static int give_uuid(const placing *p, cpubind_vendor_id vendor, cursor uuid)
{
    const cpubind_facts *f = &p->h->whole.facts;
    for (int32_t i = 0; i < f->n_bus; i++)
        if (f->bus[i].accelerator.vendor == vendor && f->bus[i].uuid &&
            f->bus[i].uuid_len == cursor_len(&uuid) &&
            memcmp(f->bus[i].uuid, uuid.text + uuid.at, (size_t)cursor_len(&uuid)) == 0)
            return give_of_bus(p, i);
    return 0;
}

/* Gives what a name of a vendor means. */
static int give_name(const placing *p, cpubind_vendor_id vendor, cursor name)
{
    cursor left, right;
    int32_t first, last;
    if (is_number(name, &first))
        return give_number(p, vendor, first);
    if (!split(name, '-', &left, &right) || !is_number(right, &last))
        return give_uuid(p, vendor, name);
    if (!is_number(left, &first)) /* a model */
        first = last;
    for (int32_t i = first; i <= last; i++)
        if (!give_number(p, vendor, i))
            return 0;
    return first <= last;
}

static int give(const placing *p, cursor device)
{
    cursor left, right;
    int32_t major, minor;
    if (split(device, '=', &left, &right)) {
        for (int k = 0; k < CPUBIND_VENDOR_COUNT; k++)
            if (cursor_is(left, cpubind_vendor_of((cpubind_vendor_id)k)->word))
                return give_name(p, (cpubind_vendor_id)k, right);
        return 0;
    }
    if (!split(device, ':', &left, &right) || !is_number(left, &major) ||
        !is_number(right, &minor))
        return 0;
    give_file(p, major, minor);
    return 1;
}

static cpubind_problem_code give_all(const placing *p)
{
    cursor_text of;
    cursor all = cursor_open(&of, p->grant->devices, p->grant->devices_len, NULL, 1);
    while (cursor_left(&all)) {
        const cursor device = cursor_cut(&all, ',');
        if (give(p, device))
            continue;
        p->out->about = cursor_piece(device);
        return refuse(p, CPUBIND_PROBLEM_UNKNOWN_DEVICE, NULL);
    }
    for (int32_t i = 0; i < p->h->whole.facts.n_device; i++)
        p->out->n_device += p->is_given[i];
    return CPUBIND_PROBLEM_NONE;
}

/* == The CPUs =============================================================== */

/* Marks the CPUs that the process may have. */
static cpubind_problem_code mark_grant(const placing *p, cpubind_arena *arena)
{
    cpubind_int_list list = {cpubind_arena_ints(arena, CPUBIND_MAX_CPUS), CPUBIND_MAX_CPUS, 0};
    if (!list.out)
        return CPUBIND_PROBLEM_NO_MEMORY;
    memset(p->may_have, p->grant->cpus_len == 0, CPUBIND_MAX_CPUS);
    if (cpubind_cpulist_parse(p->grant->cpus, p->grant->cpus_len, CPUBIND_MAX_CPUS, &list,
                              NULL) != CPUBIND_TEXT_OK)
        return refuse(p, CPUBIND_PROBLEM_BAD_REQUEST, "the CPUs are no list");
    for (int32_t i = 0; i < list.n; i++)
        p->may_have[list.out[i]] = 1;
    return CPUBIND_PROBLEM_NONE;
}

/* Why a device has no row. */
static cpubind_problem_code refuse_poolless(const placing *p, int32_t device)
{
    const cpubind_device_plan *plan = &p->h->whole.plan;
    for (int32_t i = 0; i < plan->n_poolless; i++)
        if (plan->poolless[i].device == device) {
            *p->problem = plan->poolless[i].problem;
            return p->problem->code;
        }
    return refuse(p, CPUBIND_PROBLEM_BAD_REQUEST, "the plan has no CPUs for the device");
}

/* Marks the CPUs of a row that the process may have. */
static cpubind_problem_code take_row(const placing *p, int32_t row)
{
    const cpubind_device_plan *plan = &p->h->whole.plan;
    const int32_t device = plan->want[row];
    const int is_listed = device < p->h->whole.facts.n_listed;
    const cpubind_role_spec *spec = is_listed ? &plan->roles : &plan->other_roles;
    int32_t need = 0, have = 0, n_main;
    for (int32_t i = plan->core.row[row]; i < plan->core.row[row + 1]; i++) {
        const int32_t cpu = plan->core.cpu[i];
        have += p->may_have[cpu];
        p->is_wanted[cpu] |= p->may_have[cpu];
    }
    n_main = have;
    for (int k = 0; k < CPUBIND_ALL_ROLES; k++) {
        need += spec->count[k];
        if (k != CPUBIND_ROLE_MAIN)
            n_main -= plan->role_span[row].span[k].count;
    }
    if (have < need) {
        p->problem->device = p->h->whole.facts.device[device]->logic;
        p->problem->need = need;
        p->problem->have = have;
        return refuse(p, CPUBIND_PROBLEM_TOO_FEW_CPUS, NULL);
    }
    if (n_main < 1)
        n_main = 1;
    if (p->out->n_main == 0 || n_main < p->out->n_main)
        p->out->n_main = n_main;
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code take_pools(const placing *p)
{
    const cpubind_device_plan *plan = &p->h->whole.plan;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    for (int32_t i = 0; i < p->h->whole.facts.n_device && code == CPUBIND_PROBLEM_NONE; i++) {
        int32_t row = 0;
        if (!p->is_given[i])
            continue;
        while (row < plan->n_want && plan->want[row] != i)
            row++;
        code = row < plan->n_want ? take_row(p, row) : refuse_poolless(p, i);
    }
    return code;
}

/* == The memory nodes ======================================================= */

/* Whether a node is near CPUs that were taken, or that of the memory of a device. */
static int is_near(const placing *p, int32_t node)
{
    const cpubind_facts *f = &p->h->whole.facts;
    const cpubind_device_plan *plan = &p->h->whole.plan;
    for (int32_t cpu = 0; cpu < f->n_cpu_id; cpu++)
        if (p->is_wanted[cpu] && f->node_of[cpu] == node)
            return 1;
    for (int32_t row = 0; row < plan->n_want; row++)
        if (p->is_given[plan->want[row]] && cpubind_plan_memory_node(f, plan, row) == node)
            return 1;
    return 0;
}

static cpubind_problem_code take_nodes(const placing *p, cpubind_arena *arena)
{
    cpubind_int_list list = {cpubind_arena_ints(arena, CPUBIND_MAX_CPUS), CPUBIND_MAX_CPUS, 0};
    int32_t n = 0;
    if (!list.out)
        return CPUBIND_PROBLEM_NO_MEMORY;
    if (cpubind_cpulist_parse(p->grant->mems, p->grant->mems_len, CPUBIND_MAX_CPUS, &list,
                              NULL) != CPUBIND_TEXT_OK)
        return refuse(p, CPUBIND_PROBLEM_BAD_REQUEST, "the memory nodes are no list");
    for (int32_t i = 0; i < list.n; i++)
        if (is_near(p, list.out[i]))
            list.out[n++] = list.out[i];
    p->out->node = list.out;
    p->out->n_node = n;
    return CPUBIND_PROBLEM_NONE;
}

/* == The whole ============================================================== */

static cpubind_problem_code find(void *ctx, cpubind_arena *arena)
{
    placing *p = (placing *)ctx;
    const cpubind_facts *f = &p->h->whole.facts;
    cpubind_problem_code code;
    const cpubind_device_plan *plan = &p->h->whole.plan;
    int32_t *cpu = cpubind_arena_ints(arena, plan->core.row[plan->n_want]);
    p->is_given = (uint8_t *)cpubind_arena_take(arena, f->n_device, 1);
    p->is_wanted = (uint8_t *)cpubind_arena_take(arena, CPUBIND_MAX_CPUS, 1);
    p->may_have = (uint8_t *)cpubind_arena_take(arena, CPUBIND_MAX_CPUS, 1);
    if (!cpu || !p->is_given || !p->is_wanted || !p->may_have ||
        !cpubind_device_nodes_read(&p->now, f, arena, &p->nodes))
        return CPUBIND_PROBLEM_NO_MEMORY;
    memset(p->is_given, 0, (size_t)f->n_device);
    memset(p->is_wanted, 0, CPUBIND_MAX_CPUS);
    *p->out = (cpubind_host_place){.plan = &p->h->whole, .cpu = cpu};
    if (!cpubind_device_numbers_read(&p->now, f, &p->nodes))
        return refuse(p, CPUBIND_PROBLEM_UNREADABLE,
                      "the numbers of device files could not be read");
    code = give_all(p);
    if (code != CPUBIND_PROBLEM_NONE || p->out->n_device == 0)
        return code;
    code = mark_grant(p, arena);
    if (code == CPUBIND_PROBLEM_NONE)
        code = take_pools(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = take_nodes(p, arena);
    for (int32_t i = 0; i < CPUBIND_MAX_CPUS && code == CPUBIND_PROBLEM_NONE; i++)
        if (p->is_wanted[i])
            cpu[p->out->n_cpu++] = i;
    return code;
}

cpubind_problem_code cpubind_host_find_place(cpubind_host_bind *h,
                                             const cpubind_host_grant *grant,
                                             cpubind_host_place *out, cpubind_problem *problem)
{
    placing p = {.h = h, .grant = grant, .out = out, .problem = problem};
    cpubind_linux_host *opened;
    const cpubind_problem_code code = cpubind_host_plan_whole(h);
    *out = (cpubind_host_place){.plan = &h->whole};
    *problem = h->whole.problem;
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    cpubind_problem_clear(problem);
    opened = cpubind_host_open_now(h, &p.now);
    problem->code = cpubind_with_arena(h->sys, &h->goal_arena, find, &p);
    cpubind_linux_close(opened);
    return problem->code;
}
