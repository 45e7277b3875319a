/* fuzz_plan.c - fuzz target: the planner on a host that the input describes
 * SPDX-License-Identifier: MIT
 *
 * Checks the promises of cpubind.h. The input is a sequence of numbers, a byte each: '0' is 0,
 * '9' is 9, ':' is 10, 'o' is 63. Blanks and line feeds are skipped; after the end every number
 * is 0. In order:
 *   strategy overlap  irq main acl release  cluster spare+1 flags
 *   nodes-1           then for each node: its id less the id of the node before, less 1
 *   runs of CPUs      then for each: gap, length, index of its node (n_node: unknown)
 *   devices           then for each: runs of its affinity, and for each: gap, length
 *   slots and total   if the flags ask for them; then for each device: 1 if it is wanted
 */
#include "../fuzz.h"

#include "../../cpubind.h"

enum { MAX_NODES = 8, MAX_CPUS = 16 * 63, MAX_DEVICES = 16, MAX_AFFINITY = 16 * 4 * 63 };

enum {
    FLAG_SLOTS = 1,
    FLAG_TOTAL = 2,
    FLAG_ALL = 4,       /* want is NULL */
    FLAG_NO_ROWS = 8,   /* no affinity is known */
    FLAG_SHUFFLED = 16, /* the first and the last CPU are swapped */
    FLAG_NEAR = 32      /* the strategy NEAR, with two threads a core */
};

typedef struct fuzz_host {
    int32_t cpu[MAX_CPUS], node[MAX_CPUS], core[MAX_CPUS], node_id[MAX_NODES];
    int32_t affinity[MAX_AFFINITY], row[MAX_DEVICES + 1], slot[MAX_DEVICES];
    int32_t want[MAX_DEVICES], n_want;
    int32_t flags;
    cpubind_host host;
    cpubind_devices devices;
    cpubind_policy policy;
} fuzz_host;

typedef struct numbers {
    const uint8_t *at, *end;
} numbers;

static int32_t take(numbers *in, int32_t below)
{
    while (in->at < in->end && *in->at <= ' ')
        in->at++;
    return in->at < in->end ? ((*in->at++ - '0') & 63) % below : 0;
}

static void take_policy(numbers *in, fuzz_host *h)
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

static void take_host(numbers *in, fuzz_host *h)
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

static void take_devices(numbers *in, fuzz_host *h)
{
    const int32_t n_device = take(in, MAX_DEVICES + 1);
    int32_t n = 0;
    h->row[0] = 0;
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

/* == One plan on buffers of the exact size ================================== */

typedef struct run {
    cpubind_plan plan;
    cpubind_fault fault;
    cpubind_status status;
} run;

static void check_failure(const run *r, int fill, int32_t n_device)
{
    cpubind_plan untouched;
    memset(&untouched, fill, sizeof untouched);
    CHECK(r->plan.strategy == untouched.strategy && r->plan.overlap == untouched.overlap);
    CHECK(r->plan.n_checked == untouched.n_checked);
    CHECK(r->plan.spare_taken == untouched.spare_taken);
    CHECK(fuzz_holds_only(&r->plan.shared, sizeof r->plan.shared, fill));
    if (r->status == CPUBIND_ERR_ARG || r->status == CPUBIND_ERR_ORDER)
        CHECK(r->fault.argument != NULL);
    CHECK(r->fault.device >= -1 && r->fault.device < n_device);
    CHECK(r->fault.other >= -1 && r->fault.other < n_device);
    if (r->status == CPUBIND_ERR_TOO_FEW || r->status == CPUBIND_ERR_CLUSTERS)
        CHECK(r->fault.have < r->fault.need);
    if (r->status == CPUBIND_ERR_OVERLAP)
        CHECK(r->fault.device != r->fault.other && r->fault.device >= 0 && r->fault.other >= 0);
}

/* A plan for the n_want devices of `want`; NULL: for all, of which there are n_want. */
static run start(const int32_t *want, int32_t n_want, int32_t cap_cpu, int32_t cap_work,
                 int fill)
{
    run r;
    memset(&r, fill, sizeof r);
    r.plan.trace = NULL;
    r.plan.want = want;
    r.plan.n_want = want ? n_want : 0;
    r.plan.cap_work = cap_work;
    r.plan.cap_cpu = cap_cpu;
    r.plan.work = (int32_t *)fuzz_filled((size_t)cap_work * sizeof(int32_t), fill);
    r.plan.cpu = (int32_t *)fuzz_filled((size_t)cap_cpu * sizeof(int32_t), fill);
    r.plan.row = (int32_t *)fuzz_filled((size_t)(n_want + 1) * sizeof(int32_t), fill);
    return r;
}

static int32_t work_of(const fuzz_host *h)
{
    const int32_t n = h->devices.affinity.n;
    const int32_t n_affinity = h->devices.affinity.row ? h->devices.affinity.row[n] : 0;
    if (h->flags & FLAG_NEAR)
        return CPUBIND_PLAN_WORK_NEAR(h->host.n_cpu, h->host.n_node, n, n_affinity);
    return CPUBIND_PLAN_WORK(h->host.n_cpu, h->host.n_node, n, n_affinity);
}

static run make(const fuzz_host *h, const cpubind_policy *policy, const int32_t *want,
                int32_t n_want, int fill)
{
    const int32_t cap = policy->overlap == CPUBIND_OVERLAP_KEEP
                            ? CPUBIND_PLAN_CPUS_KEEP(h->host.n_cpu, n_want)
                            : CPUBIND_PLAN_CPUS(h->host.n_cpu);
    run r = start(want, n_want, cap, work_of(h), fill);
    r.status = cpubind_make_plan(&h->host, &h->devices, policy, &r.plan, &r.fault);
    CHECK(r.status != CPUBIND_ERR_SPACE);
    CHECK(strcmp(cpubind_status_name(r.status), "?") != 0);
    CHECK(cpubind_status_text(r.status)[0] != '\0');
    if (r.status != CPUBIND_OK)
        check_failure(&r, fill, h->devices.affinity.n);
    return r;
}

static void end(run *r)
{
    free(r->plan.work);
    free(r->plan.cpu);
    free(r->plan.row);
}

/* == Laws =================================================================== */

static void check_roles(int32_t count, const cpubind_role_spec *spec)
{
    cpubind_roles roles;
    int32_t first = 0;
    CHECK(cpubind_split_roles(count, spec, &roles, NULL) == CPUBIND_OK);
    for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        CHECK(roles.span[role].first == first);
        if (role == CPUBIND_ROLE_MAIN)
            CHECK(roles.span[role].count >= spec->count[role]);
        else
            CHECK(roles.span[role].count == spec->count[role]);
        first += roles.span[role].count;
    }
    CHECK(first == count);
}

/* Pools are ascending subsets of the allowed CPUs, disjoint where the policy promises it. */
static void check_pools(const fuzz_host *h, const cpubind_policy *policy, const run *r,
                        int32_t n_want)
{
    const int32_t *row = r->plan.row;
    CHECK(row[0] == 0 && row[n_want] == r->plan.n_cpu && r->plan.n_cpu <= r->plan.cap_cpu);
    for (int32_t i = 0; i < n_want; i++) {
        const int32_t n = row[i + 1] - row[i];
        CHECK(n >= 0);
        CHECK(fuzz_count_both(r->plan.cpu + row[i], n, h->host.cpu, h->host.n_cpu) == n);
        check_roles(n, &policy->roles);
    }
    CHECK(r->plan.n_work <= r->plan.cap_work);
    CHECK(r->plan.n_checked >= n_want);
    CHECK(r->plan.n_checked <= h->devices.affinity.n || r->plan.n_checked == h->devices.total);
    if (policy->overlap != CPUBIND_OVERLAP_KEEP)
        CHECK(r->plan.overlap != CPUBIND_FOUND_PRESENT);
    if (policy->overlap == CPUBIND_OVERLAP_REFUSE)
        CHECK(r->plan.overlap == CPUBIND_FOUND_NONE);
    if (r->plan.overlap != CPUBIND_FOUND_PRESENT)
        CHECK(fuzz_are_disjoint(r->plan.cpu, row, n_want));
}

static void check_same(const run *a, const run *b, int32_t n_want)
{
    CHECK(a->status == b->status);
    if (a->status != CPUBIND_OK) {
        CHECK(fuzz_same(&a->fault, &b->fault, sizeof a->fault));
        return;
    }
    CHECK(a->plan.n_cpu == b->plan.n_cpu && a->plan.n_work == b->plan.n_work);
    CHECK(a->plan.strategy == b->plan.strategy && a->plan.overlap == b->plan.overlap);
    CHECK(a->plan.n_checked == b->plan.n_checked);
    CHECK(a->plan.spare_taken == b->plan.spare_taken || a->plan.strategy != CPUBIND_CLUSTER);
    CHECK(fuzz_same(a->plan.row, b->plan.row, (size_t)(n_want + 1) * sizeof(int32_t)));
    CHECK(fuzz_same(a->plan.cpu, b->plan.cpu, (size_t)a->plan.n_cpu * sizeof(int32_t)));
}

/* Row `i` of `few` and row `k` of `all` hold the same CPUs. */
static void check_same_row(const run *few, int32_t i, const run *all, int32_t k)
{
    const int32_t n = few->plan.row[i + 1] - few->plan.row[i];
    CHECK(n == all->plan.row[k + 1] - all->plan.row[k]);
    CHECK(fuzz_same(few->plan.cpu + few->plan.row[i], all->plan.cpu + all->plan.row[k],
                    (size_t)n * sizeof(int32_t)));
}

/* A plan for one device has the same row as a plan for all. */
static void check_alone(const fuzz_host *h, const run *all)
{
    for (int32_t i = 0; i < h->n_want; i++) {
        run r = make(h, &h->policy, &h->want[i], 1, FUZZ_OTHER);
        CHECK(r.status == CPUBIND_OK && r.plan.overlap == all->plan.overlap);
        check_same_row(&r, 0, all, i);
        end(&r);
    }
}

static int32_t has_home(const fuzz_host *h, int32_t device)
{
    if (h->policy.strategy == CPUBIND_GLOBAL_SLICE || h->devices.affinity.row == NULL ||
        h->row[h->devices.affinity.n] == 0)
        return 1;
    return fuzz_count_both(h->affinity + h->row[device], h->row[device + 1] - h->row[device],
                           h->host.cpu, h->host.n_cpu) > 0;
}

/* The plan of all devices with a home, wanted or not; *n is their number. Leaves out a device
 * whose home is on several nodes: such a device has no cluster, which only fails a plan that
 * wants the device. */
static run make_all(const fuzz_host *h, const cpubind_policy *policy, int32_t *want, int32_t *n)
{
    run r;
    *n = 0;
    for (int32_t d = 0; d < h->devices.affinity.n; d++)
        if (has_home(h, d))
            want[(*n)++] = d;
    for (;;) {
        int32_t kept = 0;
        r = make(h, policy, want, *n, FUZZ_FILL);
        if (r.status != CPUBIND_ERR_SPREAD)
            return r;
        for (int32_t i = 0; i < *n; i++)
            if (want[i] != r.fault.device)
                want[kept++] = want[i];
        CHECK(kept == *n - 1 && kept > 0);
        *n = kept;
        end(&r);
    }
}

/* The plan of all devices has disjoint pools and the same rows. The roles need no CPUs, so that
 * a pool that is too small does not stop the check of the other pools. */
static void check_all_devices(const fuzz_host *h, const run *few)
{
    cpubind_policy policy = h->policy;
    int32_t want[MAX_DEVICES] = {0};
    int32_t n;
    run r;
    memset(&policy.roles, 0, sizeof policy.roles);
    r = make_all(h, &policy, want, &n);
    if (r.status == CPUBIND_OK) {
        check_pools(h, &policy, &r, n);
        for (int32_t i = 0, k = 0; i < h->n_want; i++) {
            while (want[k] < h->want[i])
                k++;
            check_same_row(few, i, &r, k);
        }
    } else { /* devices that are not wanted have equal slots, or a slot past the total */
        CHECK(r.status == CPUBIND_ERR_OVERLAP || r.status == CPUBIND_ERR_UNKNOWN);
    }
    end(&r);
}

/* Buffers of the sizes that a plan reports are large enough; one element less is too small. */
static void check_space(const fuzz_host *h, const int32_t *want, const run *good)
{
    const int32_t n_cpu = good->plan.n_cpu, n_work = good->plan.n_work;
    run r = start(want, h->n_want, n_cpu, n_work, FUZZ_FILL);
    r.status = cpubind_make_plan(&h->host, &h->devices, &h->policy, &r.plan, &r.fault);
    check_same(good, &r, h->n_want);
    end(&r);
    if (n_cpu > 0) {
        r = start(want, h->n_want, n_cpu - 1, n_work, FUZZ_FILL);
        CHECK(cpubind_make_plan(&h->host, &h->devices, &h->policy, &r.plan, NULL) ==
              CPUBIND_ERR_SPACE);
        CHECK(r.plan.n_cpu == 0 || r.plan.n_cpu >= n_cpu);
        end(&r);
    }
    if (n_work > 0) {
        r = start(want, h->n_want, n_cpu, n_work - 1, FUZZ_FILL);
        CHECK(cpubind_make_plan(&h->host, &h->devices, &h->policy, &r.plan, NULL) ==
              CPUBIND_ERR_SPACE);
        CHECK(r.plan.n_work == n_work);
        end(&r);
    }
}

static void check_refused(const fuzz_host *h, const cpubind_policy *policy,
                          const cpubind_devices *devices, cpubind_plan *plan)
{
    CHECK(cpubind_make_plan(&h->host, devices, policy, plan, NULL) == CPUBIND_ERR_ARG);
}

/* Policies and buffers that the planner refuses on every host. */
static void check_policy_args(const fuzz_host *h, cpubind_plan *plan)
{
    const size_t offset[] = {
        offsetof(cpubind_policy, roles.count[0]), offsetof(cpubind_policy, roles.count[1]),
        offsetof(cpubind_policy, roles.count[2]), offsetof(cpubind_policy, roles.count[3]),
        offsetof(cpubind_policy, strategy),       offsetof(cpubind_policy, overlap),
        offsetof(cpubind_policy, roles.count[3]),
    };
    cpubind_policy odd;
    for (size_t i = 0; i < sizeof offset / sizeof offset[0]; i++) {
        const int32_t value = i == 6 ? CPUBIND_MAX_CPUS + 1 : i >= 4 ? 4 : -1;
        odd = h->policy;
        memcpy((char *)&odd + offset[i], &value, sizeof value);
        check_refused(h, &odd, &h->devices, plan);
    }
    odd = h->policy;
    odd.strategy = CPUBIND_CLUSTER;
    odd.cluster = CPUBIND_MAX_CPUS + 1;
    check_refused(h, &odd, &h->devices, plan);
    plan->cap_cpu = -1;
    check_refused(h, &h->policy, &h->devices, plan);
    plan->cap_cpu = 1;
    check_refused(h, &h->policy, &h->devices, plan);
    plan->cap_cpu = 0;
    plan->cap_work = -1;
    check_refused(h, &h->policy, &h->devices, plan);
    plan->cap_work = 1;
    check_refused(h, &h->policy, &h->devices, plan);
    plan->cap_work = 0;
}

/* Devices and lists of wanted devices that the planner refuses for every policy. */
static void check_device_args(const fuzz_host *h, cpubind_plan *plan)
{
    static const int32_t rows[][3] = {{1, 1, 1}, {0, 1, 0}, {0, 1, 1}};
    static const int32_t past[] = {1 << 13};
    cpubind_policy policy = h->policy;
    cpubind_devices odd = h->devices;
    policy.cluster = 1;
    policy.strategy = CPUBIND_TOPO_AFFINITY;
    plan->n_want = odd.affinity.n + 1;
    check_refused(h, &policy, &odd, plan); /* plan.want is NULL */
    plan->want = past;
    plan->n_want = 1;
    check_refused(h, &policy, &odd, plan);
    plan->want = NULL;
    plan->n_want = 0;
    odd.total = -1;
    check_refused(h, &policy, &odd, plan);
    odd.total = CPUBIND_MAX_DEVICES + 1;
    check_refused(h, &policy, &odd, plan);
    odd.total = 0;
    odd.affinity.n = -1;
    check_refused(h, &policy, &odd, plan);
    odd.affinity.n = CPUBIND_MAX_DEVICES + 1;
    check_refused(h, &policy, &odd, plan);
    odd.affinity.n = 2;
    odd.affinity.cpu = NULL;
    for (int i = 0; i < 3; i++) {
        cpubind_status status;
        odd.affinity.row = rows[i];
        status = cpubind_make_plan(&h->host, &odd, &policy, plan, NULL);
        CHECK(status == CPUBIND_ERR_ARG || status == CPUBIND_ERR_ORDER);
    }
}

static void check_args(const fuzz_host *h)
{
    int32_t row[MAX_DEVICES + 2];
    cpubind_plan plan;
    cpubind_fault fault;
    memset(&plan, 0, sizeof plan);
    check_refused(h, &h->policy, &h->devices, &plan); /* plan.row is NULL */
    plan.row = row;
    CHECK(cpubind_make_plan(&h->host, &h->devices, NULL, &plan, &fault) == CPUBIND_ERR_ARG);
    check_refused(h, &h->policy, NULL, &plan);
    check_refused(h, &h->policy, &h->devices, NULL);
    plan.n_want = -1;
    check_refused(h, &h->policy, &h->devices, &plan);
    plan.want = h->want;
    plan.n_want = 1;
    check_policy_args(h, &plan);
    plan.want = NULL;
    plan.n_want = 0;
    check_device_args(h, &plan);
}

/* Arguments that the other functions refuse. */
static void check_small_args(void)
{
    static const cpubind_role_spec none = {{0, 0, 0, 0}};
    static const cpubind_role_spec odd = {{-1, 0, 0, 0}};
    cpubind_roles roles;
    int32_t n = 0, high = CPUBIND_MAX_CPUS, low = -1, one = 1;
    CHECK(cpubind_split_roles(-1, &none, &roles, NULL) == CPUBIND_ERR_ARG);
    CHECK(cpubind_split_roles(0, NULL, &roles, NULL) == CPUBIND_ERR_ARG);
    CHECK(cpubind_split_roles(0, &none, NULL, NULL) == CPUBIND_ERR_ARG);
    CHECK(cpubind_split_roles(0, &odd, &roles, NULL) == CPUBIND_ERR_ARG);
    CHECK(cpubind_sort_unique(NULL, &one, NULL) == CPUBIND_ERR_ARG);
    CHECK(cpubind_sort_unique(&n, &low, NULL) == CPUBIND_ERR_ARG);
    CHECK(cpubind_sort_unique(&high, &one, NULL) == CPUBIND_ERR_ARG);
}

/* == Sets =================================================================== */

/* Compares cpubind_sort_unique with a table of marks; sorting a second time changes nothing. */
static void check_sort(const uint8_t *data, size_t size)
{
    uint8_t has[256] = {0};
    int32_t n = size < 300 ? (int32_t)size : 300;
    int32_t *list = (int32_t *)fuzz_filled((size_t)n * sizeof *list, FUZZ_FILL);
    int32_t at = 0, again;
    for (int32_t i = 0; i < n; i++)
        has[list[i] = data[i]] = 1;
    CHECK(cpubind_sort_unique(list, &n, NULL) == CPUBIND_OK);
    for (int32_t id = 0; id < 256; id++)
        if (has[id])
            CHECK(at < n && list[at++] == id);
    again = n;
    CHECK(at == n && cpubind_sort_unique(list, &again, NULL) == CPUBIND_OK && again == n);
    if (n > 0) {
        list[0] = -1;
        CHECK(cpubind_sort_unique(list, &n, NULL) == CPUBIND_ERR_ARG);
    }
    CHECK(cpubind_sort_unique(list, NULL, NULL) == CPUBIND_ERR_ARG);
    free(list);
}

/* The pool of a device that is alone holds all of its home, and nothing that is not allowed. */
static void check_alone_on_host(const fuzz_host *h)
{
    fuzz_host one = *h;
    int32_t row[2] = {0, 0};
    one.policy.strategy = CPUBIND_TOPO_AFFINITY;
    memset(&one.policy.roles, 0, sizeof one.policy.roles);
    one.devices.slot = NULL;
    one.devices.total = 0;
    one.devices.affinity.row = row;
    one.devices.affinity.n = 1;
    for (int32_t d = 0; d < h->devices.affinity.n; d++) {
        const int32_t *near_cpu = h->affinity + h->row[d];
        const int32_t n_near = h->row[d + 1] - h->row[d];
        run r;
        one.devices.affinity.cpu = near_cpu;
        row[1] = n_near;
        r = make(&one, &one.policy, NULL, 1, FUZZ_FILL);
        if (r.status == CPUBIND_OK && n_near > 0)
            CHECK(fuzz_count_both(r.plan.cpu, r.plan.n_cpu, near_cpu, n_near) ==
                  fuzz_count_both(h->host.cpu, h->host.n_cpu, near_cpu, n_near));
        if (r.status == CPUBIND_OK)
            CHECK(fuzz_count_both(r.plan.cpu, r.plan.n_cpu, h->host.cpu, h->host.n_cpu) ==
                  r.plan.n_cpu);
        end(&r);
    }
}

static void check_plan(const fuzz_host *h)
{
    const int32_t *want = h->flags & FLAG_ALL ? NULL : h->want;
    run r = make(h, &h->policy, want, h->n_want, FUZZ_FILL);
    run again = make(h, &h->policy, want, h->n_want, FUZZ_OTHER);
    check_same(&r, &again, h->n_want);
    if (r.status == CPUBIND_OK) {
        check_pools(h, &h->policy, &r, h->n_want);
        check_space(h, want, &r);
        if (h->policy.overlap == CPUBIND_OVERLAP_RESOLVE) {
            check_alone(h, &r);
            if (h->policy.strategy != CPUBIND_NEAR) /* its pools depend on the minimum */
                check_all_devices(h, &r);
        }
    }
    end(&r);
    end(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_host h;
    numbers in = {data, data + size};
    memset(&h, 0, sizeof h);
    take_policy(&in, &h);
    take_host(&in, &h);
    take_devices(&in, &h);
    check_plan(&h);
    check_args(&h);
    check_small_args();
    check_alone_on_host(&h);
    check_sort(data, size);
    return 0;
}
