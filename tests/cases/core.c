/* core.c - hosts and their plans by the core
 * SPDX-License-Identifier: MIT
 *
 * The cases are tests/cases/core_*.txt. Lists are separated by blanks; "-" is an empty one.
 *   cpus LIST             the allowed CPUs; all that the other verbs say is forgotten
 *   nodes ID:LIST ...     the CPUs of each node, by ascending id
 *   near LIST ...         a device each, and the CPUs near it
 *   devices N             so many devices, and no array of CPUs near them
 *   slots LIST, total N   of the devices; nodes_of LIST: the node of each, -1 as "?"
 *   cores LIST            the core of each allowed CPU, in their order, "0,0,1,1"
 *   sockets LIST, distances LIST   by node, and row by row
 *   by STRATEGY OVERLAP   near, topo_affinity, ...; resolve, keep, refuse
 *   roles IRQ,MAIN,ACL,RELEASE
 *   cluster N, spare ID   of clusters
 *   want LIST             plans for these devices; "all": for all
 *   plan                  plans. In buffers that are too small it says how large they must be
 *   place DEVICE POOL NEAR PROCESSES PROCESS   the roles of a process in a pool
 */
#include "../support/cases.h"
#include "../support/lists.h"

#include "../core/run.h"

enum { LISTED = 1 << 17, DEVICES = 64 };

static int32_t cpu[CPUBIND_MAX_CPUS], node[CPUBIND_MAX_CPUS], core[CPUBIND_MAX_CPUS];
static int32_t node_id[CPUBIND_MAX_NODES], socket_of[CPUBIND_MAX_NODES];
static int32_t distance[CPUBIND_MAX_NODES * CPUBIND_MAX_NODES];
static int32_t near_cpu[LISTED], near_row[DEVICES + 1];
static int32_t slot[DEVICES], node_of[DEVICES], want[DEVICES], n_want;
static cpubind_host host;
static cpubind_devices devices;
static cpubind_policy policy;
static said got;

static const char *const strategies[] = {"global_slice", "topo_affinity", "cluster", "near"};
static const char *const overlaps[] = {"resolve", "keep", "refuse"};

/* == What is given ========================================================== */

static void start(void)
{
    const cpubind_host no_host = {.n_cpu = 0};
    const cpubind_devices no_devices = {.total = 0};
    const cpubind_policy usual = {
        .strategy = CPUBIND_TOPO_AFFINITY, .roles = {{2, 1, 1, 1}}, .cluster = 8};
    host = no_host;
    devices = no_devices;
    policy = usual;
    n_want = -1;
}

/* The numbers of a list in the order in which they stand, "0,0,1,1"; "?" is -1. */
static int32_t read_numbers(const char *at, int32_t *out)
{
    int32_t n = 0;
    for (; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
        out[n++] = *at == '?' ? -1 : (int32_t)strtol(at, NULL, 10);
    return n;
}

static void set_cpus(step *now)
{
    const char *at = now->rest;
    start();
    host.n_cpu = lists_read(&at, cpu);
    host.cpu = cpu;
    host.node = node;
    host.node_id = node_id;
    for (int32_t i = 0; i < host.n_cpu; i++)
        node[i] = -1;
}

static void set_nodes(step *now)
{
    static int32_t list[CPUBIND_MAX_CPUS];
    for (const char *at = now->rest; *at; at += *at == ' ') {
        char *end;
        node_id[host.n_node] = (int32_t)strtol(at, &end, 10);
        at = end + 1;
        const int32_t n = lists_read(&at, list);
        for (int32_t i = 0; i < host.n_cpu; i++)
            for (int32_t k = 0; k < n; k++)
                if (cpu[i] == list[k])
                    node[i] = node_id[host.n_node];
        host.n_node++;
    }
}

static void set_near(step *now)
{
    int32_t n = 0;
    for (const char *at = now->rest; *at; at += *at == ' ') {
        near_row[n + 1] = near_row[n] + lists_read(&at, near_cpu + near_row[n]);
        n++;
    }
    devices.affinity = (cpubind_lists){near_cpu, near_row, n};
}

static void set_devices(step *now)
{
    devices.affinity = (cpubind_lists){NULL, NULL, (int32_t)strtol(now->rest, NULL, 10)};
}

static int32_t place_of(const char *const *words, const char *word)
{
    for (int32_t i = 0; i < 4; i++)
        if (words[i] && strncmp(words[i], word, strcspn(word, " ")) == 0)
            return i;
    fail_msg("%s?", word);
    return 0;
}

static void set_policy(step *now)
{
    const char *second = strchr(now->rest, ' ');
    policy.strategy = (cpubind_strategy)place_of(strategies, now->rest);
    policy.overlap = (cpubind_overlap)(second ? place_of(overlaps, second + 1) : 0);
}

/* Verbs with one list or one number, and what each sets. */
static void set_other(step *now)
{
    const int32_t number = (int32_t)strtol(now->rest, NULL, 10);
    const char *at = now->rest;
    if (strcmp(now->verb, "slots") == 0) {
        (void)read_numbers(at, slot);
        devices.slot = slot;
    } else if (strcmp(now->verb, "nodes_of") == 0) {
        (void)read_numbers(at, node_of);
        devices.node = node_of;
    } else if (strcmp(now->verb, "cores") == 0) {
        (void)read_numbers(at, core);
        host.core = core;
    } else if (strcmp(now->verb, "sockets") == 0) {
        (void)read_numbers(at, socket_of);
        host.socket = socket_of;
    } else if (strcmp(now->verb, "distances") == 0) {
        host.distance = read_numbers(at, distance) > 0 ? distance : NULL;
    } else if (strcmp(now->verb, "roles") == 0) {
        (void)read_numbers(at, policy.roles.count);
    } else if (strcmp(now->verb, "total") == 0) {
        devices.total = number;
    } else if (strcmp(now->verb, "cluster") == 0) {
        policy.cluster = number;
    } else if (strcmp(now->verb, "spare") == 0) {
        policy.has_spare_node = *at != '-';
        policy.spare_node = number;
    } else {
        n_want = strcmp(at, "all") == 0 ? -1 : lists_read(&at, want);
    }
}

/* == What comes of it ======================================================= */

static run make(int32_t cap_cpu)
{
    return run_make_into(&host, &devices, &policy, n_want < 0 ? NULL : want, n_want, cap_cpu);
}

static void say_fault(cpubind_status status, const cpubind_fault *f)
{
    say(&got, "> %s", cpubind_status_name(status));
    if (f->argument)
        say(&got, "; %s", f->argument);
    if (f->index >= 0)
        say(&got, " at %d", f->index);
    if (f->device >= 0)
        say(&got, "; device %d", f->device);
    if (f->other >= 0)
        say(&got, " and %d", f->other);
    if (f->cpu >= 0)
        say(&got, "; cpu %d", f->cpu);
    if (f->need || f->have)
        say(&got, "; %d of %d", f->have, f->need);
    say(&got, "\n");
}

/* The CPUs in no pool, and by which step each CPU came where it is, a letter each. */
static void say_steps(const run *r)
{
    static int32_t idle[CPUBIND_MAX_CPUS];
    int32_t n = 0;
    for (int32_t i = 0; i < host.n_cpu; i++)
        if (r->trace.owner[i] < 0)
            idle[n++] = cpu[i];
    say(&got, "> idle ");
    say_list(&got, idle, n);
    say(&got, "; steps ");
    for (int32_t i = 0; i < host.n_cpu; i++)
        say(&got, "%c",
            r->trace.step[i] == CPUBIND_STEP_NEAREST
                ? 'n'
                : *cpubind_step_word((cpubind_step)r->trace.step[i]));
    say(&got, "\n");
}

static void say_plan(const run *r, int32_t n_row)
{
    static const char *const found[] = {"", ", resolved", ", overlapping"};
    const cpubind_plan *p = &r->plan;
    say(&got, "> %s of %d%s:", strategies[p->strategy], p->n_checked,
        p->overlap == CPUBIND_FOUND_NONE       ? found[0]
        : p->overlap == CPUBIND_FOUND_RESOLVED ? found[1]
                                               : found[2]);
    assert_int_equal(p->row[0], 0);
    assert_int_equal(p->row[n_row], p->n_cpu);
    for (int32_t i = 0; i < n_row; i++) {
        say(&got, " ");
        say_list(&got, p->cpu + p->row[i], p->row[i + 1] - p->row[i]);
    }
    if (p->overlap != CPUBIND_FOUND_NONE)
        say(&got, "; cpu %d of %d and %d", p->shared.cpu, p->shared.device, p->shared.other);
    if (p->strategy == CPUBIND_CLUSTER && p->spare_taken)
        say(&got, "; %d spare ones taken", p->spare_taken);
    say(&got, "\n");
    if (policy.strategy == CPUBIND_NEAR)
        say_steps(r);
}

/* The out fields of a plan that failed are as they were. */
static void expect_no_answer(const run *r)
{
    const int32_t fields[] = {
        (int32_t)r->plan.strategy, (int32_t)r->plan.overlap, r->plan.n_checked,
        r->plan.shared.device,     r->plan.shared.other,     r->plan.shared.cpu,
        r->plan.shared.need,       r->plan.shared.have,      r->plan.spare_taken};
    for (int32_t i = 0; i < (int32_t)(sizeof fields / sizeof *fields); i++)
        assert_true(edge_untouched(fields, i));
}

/* A buffer of the CPUs of the plan is enough; with one less, and with none, the answer has
 * their number. */
static void expect_space(const run *whole, int32_t n_row)
{
    const int32_t n = whole->plan.n_cpu;
    for (int32_t i = 0; i < 3 && n > 0; i++) {
        const int32_t cap = i == 0 ? n : i == 1 ? n - 1 : 0;
        run r = make(cap);
        assert_int_equal(r.status, i == 0 ? CPUBIND_OK : CPUBIND_ERR_SPACE);
        assert_int_equal(r.plan.n_cpu, n);
        if (i == 0) {
            assert_memory_equal(r.plan.cpu, whole->plan.cpu, (size_t)n * sizeof(int32_t));
            assert_memory_equal(r.plan.row, whole->plan.row,
                                (size_t)(n_row + 1) * sizeof(int32_t));
        } else {
            assert_string_equal(r.fault.argument, "plan.cpu");
            expect_no_answer(&r);
        }
        run_end(&r);
    }
}

static void make_plan(step *now)
{
    const int32_t n_row = n_want < 0 ? devices.affinity.n : n_want;
    run r = make(-1);
    got.len = 0;
    if (r.status == CPUBIND_OK) {
        say_plan(&r, n_row);
        expect_space(&r, n_row);
    } else {
        say_fault(r.status, &r.fault);
        expect_no_answer(&r);
    }
    run_end(&r);
    expect(now, &got);
}

static void place(step *now)
{
    static int32_t pool[CPUBIND_MAX_CPUS];
    char list[1024];
    const char *at = list;
    cpubind_placing p = {.cpu = pool};
    cpubind_fault fault;
    assert_int_equal(sscanf(now->rest, "%d %1023s %d %d %d", &p.device, list, &p.is_near,
                            &p.n_process, &p.process),
                     5);
    p.n_cpu = lists_read(&at, pool);
    p.roles = policy.roles;
    p.out_cpu = edge_ints(p.n_cpu);
    p.cap_work = CPUBIND_PLACE_WORK(p.n_cpu, host.n_node);
    p.work = edge_ints(p.cap_work);
    got.len = 0;
    const cpubind_status status = cpubind_place_roles(&host, &devices, &p, &fault);
    if (status != CPUBIND_OK) {
        assert_int_equal(p.n_out, 0);
        say_fault(status, &fault);
    }
    for (int role = 0; status == CPUBIND_OK && role < CPUBIND_ROLE_COUNT; role++) {
        say(&got, role ? " " : "> ");
        say_list(&got, p.out_cpu + p.out_roles.span[role].first, p.out_roles.span[role].count);
    }
    say(&got, status == CPUBIND_OK ? "\n" : "");
    free(p.out_cpu);
    free(p.work);
    expect(now, &got);
}

static const verb of_driver[] = {
    {"cpus", set_cpus},       {"nodes", set_nodes}, {"near", set_near},
    {"devices", set_devices}, {"slots", set_other}, {"total", set_other},
    {"nodes_of", set_other},  {"cores", set_other}, {"sockets", set_other},
    {"distances", set_other}, {"by", set_policy},   {"roles", set_other},
    {"cluster", set_other},   {"spare", set_other}, {"want", set_other},
    {"plan", make_plan},      {"place", place},     {NULL, NULL},
};

TEST_CASES("core_*", of_driver, start)
