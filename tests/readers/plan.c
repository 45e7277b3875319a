/* plan.c - the row of the planner: cpubind.h on a host that the text describes
 * SPDX-License-Identifier: MIT
 *
 * The text is a sequence of numbers, a byte each: '0' is 0, '9' is 9, ':' is 10, 'o' is 63.
 * Blanks and line feeds are skipped; after the end every number is 0. In order:
 *   strategy overlap  irq main acl release  cluster spare+1 flags
 *   nodes-1           then for each node: its id less the id of the node before, less 1
 *   runs of CPUs      then for each: gap, length, index of its node (n_node: unknown)
 *   devices           then for each: runs of its affinity, and for each: gap, length
 *   slots and total   if the flags ask for them; then for each device: 1 if it is wanted
 * What the functions refuse, and their smaller promises, are in tests/core.
 */
#include "../core/run.h"
#include "readers.h"

enum { MAX_NODES = 8, MAX_CPUS = 16 * 63, MAX_DEVICES = 16, MAX_AFFINITY = 16 * 4 * 63 };

enum {
    FLAG_SLOTS = 1,
    FLAG_TOTAL = 2,
    FLAG_ALL = 4,       /* want is NULL */
    FLAG_NO_ROWS = 8,   /* no affinity is known */
    FLAG_SHUFFLED = 16, /* the first and the last CPU are swapped */
    FLAG_NEAR = 32      /* the strategy NEAR, with two threads a core */
};

typedef struct plan_host {
    int32_t cpu[MAX_CPUS], node[MAX_CPUS], core[MAX_CPUS], node_id[MAX_NODES];
    int32_t affinity[MAX_AFFINITY], row[MAX_DEVICES + 1], slot[MAX_DEVICES];
    int32_t want[MAX_DEVICES], n_want;
    int32_t flags;
    cpubind_host host;
    cpubind_devices devices;
    cpubind_policy policy;
} plan_host;

typedef struct numbers {
    const char *at, *end;
} numbers;

static int32_t take(numbers *in, int32_t below)
{
    while (in->at < in->end && (unsigned char)*in->at <= ' ')
        in->at++;
    return in->at < in->end ? (((unsigned char)*in->at++ - '0') & 63) % below : 0;
}

static void take_policy(numbers *in, plan_host *h)
{
    h->policy.strategy = (cpubind_strategy)take(in, 3);
    h->policy.overlap = (cpubind_overlap)take(in, 3);
    for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++)
        h->policy.roles.count[role] = take(in, 64);
    h->policy.cluster = take(in, 64);
    h->policy.spare_node = take(in, 64) - 1;
    h->policy.has_spare_node = h->policy.spare_node >= 0;
    h->flags = take(in, 64);
    if (h->flags & FLAG_NEAR)
        h->policy.strategy = CPUBIND_NEAR;
}

static void take_host(numbers *in, plan_host *h)
{
    const int32_t n_node = 1 + take(in, MAX_NODES);
    int32_t id = -1, n = 0, runs;
    for (int32_t i = 0; i < n_node; i++)
        h->node_id[i] = id += 1 + take(in, 64);
    runs = take(in, 17);
    id = 0;
    for (int32_t i = 0; i < runs; i++) {
        int32_t count, node;
        id += take(in, 64);
        count = take(in, 64);
        node = take(in, n_node + 1);
        for (int32_t k = 0; k < count; k++) {
            h->core[n] = n - k % 2;
            h->cpu[n] = id++;
            h->node[n++] = node < n_node ? h->node_id[node] : 9999;
        }
    }
    if (n > 1 && (h->flags & FLAG_SHUFFLED)) {
        const int32_t first = h->cpu[0];
        h->cpu[0] = h->cpu[n - 1];
        h->cpu[n - 1] = first;
    }
    h->host.cpu = h->cpu;
    h->host.node = h->node;
    h->host.node_id = h->node_id;
    h->host.core = h->flags & FLAG_NEAR ? h->core : NULL;
    h->host.n_cpu = n;
    h->host.n_node = n_node;
}

static void take_devices(numbers *in, plan_host *h)
{
    const int32_t n_device = take(in, MAX_DEVICES + 1);
    int32_t n = 0;
    for (int32_t d = 0; d < n_device; d++) {
        int32_t runs = take(in, 5);
        for (int32_t id = 0; runs > 0; runs--) {
            int32_t count;
            id += take(in, 64) * 4;
            count = take(in, 64);
            while (count-- > 0)
                h->affinity[n++] = id++;
        }
        h->row[d + 1] = n;
    }
    for (int32_t d = 0; d < n_device && (h->flags & FLAG_SLOTS); d++)
        h->slot[d] = take(in, 64);
    h->devices.affinity.cpu = h->affinity;
    h->devices.affinity.row = h->flags & FLAG_NO_ROWS ? NULL : h->row;
    h->devices.affinity.n = n_device;
    h->devices.slot = h->flags & FLAG_SLOTS ? h->slot : NULL;
    h->devices.total = h->flags & FLAG_TOTAL ? take(in, 64) : 0;
    for (int32_t d = 0; d < n_device; d++)
        if ((h->flags & FLAG_ALL) || take(in, 2))
            h->want[h->n_want++] = d;
}

/* == Laws =================================================================== */

/* Pools are ascending subsets of the allowed CPUs, disjoint where the policy promises it, and
 * each has its roles. */
static void check_pools(const plan_host *h, const run *r)
{
    const cpubind_policy *policy = &h->policy;
    const int32_t *row = r->plan.row;
    cpubind_roles roles;
    CHECK(row[0] == 0 && row[h->n_want] == r->plan.n_cpu && r->plan.n_cpu <= r->plan.cap_cpu);
    for (int32_t i = 0; i < h->n_want; i++) {
        const int32_t n = row[i + 1] - row[i];
        CHECK(count_common(r->plan.cpu + row[i], n, h->host.cpu, h->host.n_cpu) == n);
        CHECK(cpubind_split_roles(n, &policy->roles, &roles, NULL) == CPUBIND_OK);
    }
    CHECK(r->plan.n_checked >= h->n_want);
    CHECK(r->plan.n_checked <= h->devices.affinity.n || r->plan.n_checked == h->devices.total);
    CHECK(policy->overlap == CPUBIND_OVERLAP_KEEP || r->plan.overlap != CPUBIND_FOUND_PRESENT);
    CHECK(policy->overlap != CPUBIND_OVERLAP_REFUSE || r->plan.overlap == CPUBIND_FOUND_NONE);
    CHECK(r->plan.overlap == CPUBIND_FOUND_PRESENT ||
          are_disjoint(r->plan.cpu, row, h->n_want));
}

/* A plan for one device has the same row as the plan for all. */
static void check_alone(const plan_host *h, const run *all)
{
    for (int32_t i = 0; i < h->n_want; i++) {
        run r = run_make(&h->host, &h->devices, &h->policy, &h->want[i], 1);
        const int32_t *pool = all->plan.cpu + all->plan.row[i];
        CHECK(r.status == CPUBIND_OK && r.plan.overlap == all->plan.overlap);
        CHECK(r.plan.n_cpu == all->plan.row[i + 1] - all->plan.row[i]);
        CHECK(is_same(r.plan.cpu, pool, (size_t)r.plan.n_cpu * sizeof *pool));
        run_end(&r);
    }
}

/* Room for the CPUs of a plan is enough, and for one less is too little. */
static void check_space(const plan_host *h, const int32_t *want, const run *good)
{
    const int32_t n = good->plan.n_cpu;
    for (int32_t less = 0; less < 2 && less <= n; less++) {
        run r = run_make_into(&h->host, &h->devices, &h->policy, want, h->n_want, n - less);
        CHECK(r.status == (less ? CPUBIND_ERR_SPACE : CPUBIND_OK));
        run_end(&r);
    }
}

static void tell_run(reading *r, const run *made, int32_t n_want)
{
    const cpubind_plan *p = &made->plan;
    const cpubind_fault *f = &made->fault;
    tell(r, "%s", cpubind_status_name(made->status));
    if (made->status != CPUBIND_OK) {
        tell(r, " %s device %d other %d cpu %d need %d have %d\n",
             f->argument ? f->argument : "-", f->device, f->other, f->cpu, f->need, f->have);
        return;
    }
    tell(r, " strategy %d overlap %d checked %d work %d", (int)p->strategy, (int)p->overlap,
         p->n_checked, p->n_work);
    tell(r, p->strategy == CPUBIND_CLUSTER ? " spare %d\n" : "\n", p->spare_taken);
    for (int32_t i = 0; i < n_want; i++) {
        tell_list(r, p->cpu + p->row[i], p->row[i + 1] - p->row[i], CPUBIND_MAX_CPUS);
        tell(r, "\n");
    }
}

static void read_plan(reading *r)
{
    static plan_host h;
    numbers in = {r->text, r->text + r->len};
    const int32_t *want;
    run made;
    memset(&h, 0, sizeof h);
    take_policy(&in, &h);
    take_host(&in, &h);
    take_devices(&in, &h);
    want = h.flags & FLAG_ALL ? NULL : h.want;
    made = run_make(&h.host, &h.devices, &h.policy, want, h.n_want);
    CHECK(made.status != CPUBIND_ERR_SPACE);
    tell_run(r, &made, h.n_want);
    if (made.status == CPUBIND_OK) {
        check_pools(&h, &made);
        check_space(&h, want, &made);
        if (h.policy.overlap == CPUBIND_OVERLAP_RESOLVE)
            check_alone(&h, &made);
    }
    run_end(&made);
}

static const reader rows[] = {
    {"plan", read_plan, "", NULL, "plan", 512},
};

READERS(rows)
