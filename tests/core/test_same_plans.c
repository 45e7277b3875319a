/* test_same_plans.c - plans of random hosts, by every rule, never change
 * SPDX-License-Identifier: MIT
 *
 * Each process plans the host for itself, so that ties must break the same way always, on every
 * machine and in every version: a hash of all answers is kept. Also when they are refusals.
 * CPUBIND_TEST_HOSTS sets the number of hosts.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../support/test.h"
#include "model.h"
#include "near_model.h"
#include "run.h"

enum { HOSTS = 10000, CPUS = NEAR_CPUS, DEVICES = NEAR_DEVICES };

static uint64_t hash;

static int32_t below(uint64_t *state, int32_t n)
{
    return (int32_t)model_random(state, (uint32_t)n);
}

static void add(int32_t number)
{
    hash = (hash ^ (uint32_t)number) * 1099511628211u;
}

static void add_list(const int32_t *list, int32_t n)
{
    add(n);
    for (int32_t i = 0; i < n; i++)
        add(list[i]);
}

static void add_fault(cpubind_status status, const cpubind_fault *fault)
{
    const int32_t fields[] = {fault->index, fault->device, fault->other,
                              fault->cpu,   fault->need,   fault->have};
    add((int32_t)status);
    if (status == CPUBIND_OK)
        return;
    for (const char *c = fault->argument; c && *c; c++)
        add(*c);
    add_list(fields, 6);
}

/* == Hosts ================================================================== */

/* A random host; `h` is read through the host, the devices and the policy of this struct. */
typedef struct subject {
    near_host h;
    int32_t allowed[CPUS * DEVICES], allowed_row[DEVICES + 2];
    int32_t n_allowed; /* elements of the lists */
    cpubind_host host;
    cpubind_devices devices;
    cpubind_policy policy;
} subject;

/* Affinity lists that overlap: CPUs at random, runs that slide, lists inside one another. */
static void overlap_homes(uint64_t *state, near_host *h)
{
    const int32_t kind = below(state, 4);
    const int32_t most = 1 + below(state, 5);
    int32_t n = 0;
    for (int32_t d = 0; d < h->devices.affinity.n; d++) {
        for (int32_t i = 0; i < h->host.n_cpu; i++)
            if (kind == 0   ? below(state, most) == 0
                : kind == 1 ? i >= d * most && i < d * most + h->host.n_cpu / 2
                : kind == 2 ? i < (d + 1) * most
                            : i % (2 + d % 7) == d % 2)
                h->affinity[n++] = h->cpu[i];
        h->row[d + 1] = n;
    }
}

static void make_lists(uint64_t *state, subject *s)
{
    const int32_t kind = 1 + below(state, 10);
    const int32_t parts = 1 + below(state, 3);
    int32_t n = 0;
    s->allowed_row[0] = 0;
    for (int32_t d = 0; d < s->devices.affinity.n; d++) {
        for (int32_t i = 0; i < s->host.n_cpu; i++)
            if (near_may_have(state, &s->h, kind, parts, d, i))
                s->allowed[n++] = s->h.cpu[i];
        s->allowed_row[d + 1] = n;
    }
    s->n_allowed = n;
    s->devices.allowed = (cpubind_lists){s->allowed, s->allowed_row, s->devices.affinity.n};
}

static void make_subject(uint64_t *state, subject *s)
{
    static const near_limits limits[] = {{3, 4, 6}, {4, 8, 12}, {16, 10, 32}};
    near_random(state, limits[below(state, 3)], &s->h);
    if (below(state, 3) == 0)
        overlap_homes(state, &s->h);
    s->host = s->h.host;
    s->devices = s->h.devices;
    s->policy = s->h.policy;
    s->policy.cluster = 1 + below(state, 4);
    s->policy.has_spare_node = below(state, 2);
    s->policy.spare_node = s->h.node_id[below(state, s->host.n_node)];
    if (below(state, 4) == 0)
        s->policy.roles = (cpubind_role_spec){{0, 0, 0, 0}};
    s->n_allowed = 0;
    if (below(state, 2))
        make_lists(state, s);
}

/* One thing wrong: an array without order, a number out of range, an array that is missing. */
static void spoil(uint64_t *state, subject *s)
{
    const int32_t n_cpu = s->host.n_cpu;
    const int32_t n_device = s->devices.affinity.n;
    const int32_t bad[] = {-1, -2, 0, 1, CPUBIND_MAX_CPUS, INT32_MAX};
    const int32_t value = bad[below(state, 6)];
    int32_t *const list[] = {s->h.cpu,  s->h.node,      s->h.core,     s->h.affinity,
                             s->h.row,  s->allowed_row, s->allowed,    s->h.device_node,
                             s->h.slot, s->h.node_id,   s->h.distance, s->policy.roles.count};
    const int32_t n_list = s->devices.allowed.n; /* the last offset sizes the buffers */
    const int32_t n[] = {n_cpu,
                         n_cpu,
                         n_cpu,
                         s->h.row[n_device],
                         n_device,
                         n_list,
                         s->n_allowed,
                         n_device,
                         n_device,
                         s->host.n_node,
                         s->host.n_node * s->host.n_node,
                         4};
    const int32_t kind = below(state, 20);
    const int32_t is_row = list[kind % 12] == s->h.row || list[kind % 12] == s->allowed_row;
    if (kind < 12 && n[kind] > 0)
        list[kind][below(state, n[kind])] =
            is_row && value == CPUBIND_MAX_CPUS ? INT32_MAX : value;
    if (kind == 12)
        s->host.node = NULL;
    if (kind == 13)
        s->devices.affinity.cpu = NULL;
    if (kind == 14)
        s->devices.total = value;
    if (kind == 15)
        s->policy.strategy = (cpubind_strategy)4;
    if (kind == 16)
        s->policy.overlap = (cpubind_overlap)3;
    if (kind == 17)
        s->host.n_node = 0;
    if (kind == 18)
        s->devices.allowed.n = n_device + 1;
    if (kind == 19)
        s->policy.cluster = 0;
}

/* == Answers ================================================================ */

/* The roles of each row, for processes of the device; and the figures. */
static void add_places(const subject *s, const cpubind_plan *plan, const int32_t *want,
                       int32_t n_row)
{
    static int32_t out[CPUS], work[CPUBIND_PLACE_WORK(CPUS, NEAR_NODES)];
    static int32_t meter[CPUBIND_MEASURE_WORK(CPUS, NEAR_NODES)];
    static cpubind_quality each[DEVICES];
    cpubind_quality total;
    cpubind_fault fault;
    for (int32_t row = 0; row < n_row; row++) {
        cpubind_placing p;
        cpubind_status status;
        memset(&p, 0, sizeof p);
        p.cpu = plan->cpu + plan->row[row];
        p.n_cpu = plan->row[row + 1] - plan->row[row];
        p.device = want ? want[row] : row;
        p.is_near = row % 3 > 0;
        p.roles = s->policy.roles;
        p.n_process = row % 4;
        p.process = p.n_process / 2;
        p.out_cpu = out;
        p.work = work;
        p.cap_work = CPUBIND_PLACE_WORK(CPUS, NEAR_NODES);
        status = cpubind_place_roles(&s->host, &s->devices, &p, &fault);
        add_fault(status, &fault);
        if (status != CPUBIND_OK)
            continue;
        add_list(out, p.n_out);
        for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++)
            add(p.out_roles.span[role].count);
    }
    if (want)
        return;
    if (cpubind_measure(&s->host, &s->devices, (cpubind_lists){plan->cpu, plan->row, n_row}, 2,
                        meter, &total, each, NULL) != CPUBIND_OK)
        return;
    add_list((const int32_t *)(const void *)&total, (int32_t)(sizeof total / 4));
    add_list((const int32_t *)(const void *)each, n_row * (int32_t)(sizeof total / 4));
}

static void add_trace(const cpubind_trace *trace, int32_t n_cpu)
{
    add_list(trace->owner, n_cpu);
    add_list(trace->step, n_cpu);
    add_list(trace->group, n_cpu);
    add_list(trace->row, trace->n_group + 1);
    add_list(trace->device, trace->row[trace->n_group]);
}

/* Plans for n_want devices, or for all, with room for cap_cpu CPUs; -1: for as many as there
 * may be. Returns how many the plan has, or 0. */
static int32_t add_plan(const subject *s, const int32_t *want, int32_t n_want, int32_t cap_cpu)
{
    const int32_t n_row = want ? n_want : s->devices.affinity.n;
    run r = run_make_into(&s->host, &s->devices, &s->policy, want, n_want, cap_cpu);
    int32_t n_planned = 0;
    add_fault(r.status, &r.fault);
    if (r.status == CPUBIND_ERR_SPACE && s->devices.allowed.n == 0)
        add(r.plan.n_cpu);
    if (r.status == CPUBIND_OK) {
        n_planned = r.plan.n_cpu;
        add_list(r.plan.row, n_row + 1);
        add_list(r.plan.cpu, n_planned);
        add((int32_t)r.plan.strategy);
        add((int32_t)r.plan.overlap);
        add(r.plan.n_checked);
        if (r.plan.overlap != CPUBIND_FOUND_NONE)
            add_list(&r.plan.shared.device, 3);
        if (r.plan.strategy == CPUBIND_CLUSTER)
            add(r.plan.spare_taken);
        add_trace(&r.trace, s->host.n_cpu);
        add_places(s, &r.plan, want, n_row);
    }
    run_end(&r);
    return n_planned;
}

static void add_host(uint64_t seed)
{
    static subject s;
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    int32_t want[DEVICES];
    int32_t n_want = 0;
    make_subject(&state, &s);
    if (below(&state, 6) == 0)
        spoil(&state, &s);
    for (int32_t d = 0; d < s.h.devices.affinity.n; d++)
        if (below(&state, 2))
            want[n_want++] = d;
    for (int32_t rule = 0; rule < 6; rule++) {
        const int32_t spoiled = s.policy.strategy > 3 || s.policy.overlap > 2;
        int32_t n;
        const int32_t alone = below(&state, s.h.devices.affinity.n);
        if (!spoiled) {
            s.policy.strategy = (cpubind_strategy)(rule < 4 ? rule : CPUBIND_TOPO_AFFINITY);
            s.policy.overlap = (cpubind_overlap)(rule < 4 ? 0 : rule - 3);
        }
        if (rule == (int32_t)CPUBIND_CLUSTER && !spoiled)
            s.policy.overlap = (cpubind_overlap)below(&state, 3);
        n = add_plan(&s, NULL, 0, -1);
        if (n > 0)
            (void)add_plan(&s, NULL, 0, n - 1);
        (void)add_plan(&s, &alone, 1, -1);
        if (n_want > 0)
            (void)add_plan(&s, want, n_want, -1);
    }
}

static int32_t number_of_hosts(void)
{
    const char *text = getenv("CPUBIND_TEST_HOSTS");
    return text ? (int32_t)strtol(text, NULL, 10) : (int32_t)rounds(HOSTS);
}

TEST(plans_of_random_hosts_never_change)
{
    const int32_t n = number_of_hosts();
    hash = UINT64_C(14695981039346656037);
    for (int32_t i = 0; i < n; i++) {
        add_host((uint64_t)i);
        if (i + 1 == HOSTS / 10)
            assert_int_equal(hash, UINT64_C(0x141df8bed6f6b1c4));
        if (i + 1 == HOSTS)
            assert_int_equal(hash, UINT64_C(0xe0f24adaf4b40ed7));
    }
    print_message("%d hosts: 0x%016" PRIx64 "\n", (int)n, hash);
}

TEST_FILE(NULL, NULL)
