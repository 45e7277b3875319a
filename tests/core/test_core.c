/* test_core.c - every public function of cpubind.h, contract by contract
 * SPDX-License-Identifier: MIT
 *
 * Hosts are written as text: lists are separated by blanks, "-" is an empty one, so that
 * "0-23 24-47 -" are three. Every array that the core sees is an allocation of its own of the
 * exact size. CPUBIND_TESTS is the folder tests/ (default "tests"). What comes of hosts is in
 * tests/core/cases.
 */
#include <stdio.h>

#include "../../adapters/cpubind_old.h"
#include "../support/exact_buffer.h"
#include "../support/lists.h"
#include "../support/said.h"
#include "../support/test.h"

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

static const cpubind_role_spec FIVE = {{[CPUBIND_ROLE_IRQ] = 2,
                                        [CPUBIND_ROLE_MAIN] = 1,
                                        [CPUBIND_ROLE_ACL] = 1,
                                        [CPUBIND_ROLE_RELEASE] = 1}};
static const cpubind_role_spec ONE = {{[CPUBIND_ROLE_MAIN] = 1}};
static const cpubind_role_spec NONE = {{0}};

/* How a call must fail. */
typedef struct refusal {
    cpubind_status status;
    const char *argument; /* as in cpubind_fault */
    int32_t index;
} refusal;

static void assert_refusal(cpubind_status status, const cpubind_fault *fault, refusal expect)
{
    assert_int_equal(status, expect.status);
    assert_non_null(fault->argument);
    assert_string_equal(fault->argument, expect.argument);
    assert_int_equal(fault->index, expect.index);
    assert_int_equal(fault->other, -1);
    assert_int_equal(fault->need, 0);
    assert_int_equal(fault->have, 0);
}

/* == Lists as text ========================================================== */

/* One list in a buffer of its exact size. */
static int32_t *new_list(const char *text, int32_t *out_n)
{
    const char *at = text;
    int32_t *list = edge_ints(*out_n = lists_read(&at, NULL));
    at = text;
    (void)lists_read(&at, list);
    return list;
}

/* All lists of a text, in two buffers of their exact size. */
typedef struct lists {
    int32_t *cpu, *row, n;
} lists;

static lists new_lists(const char *text)
{
    lists l = {NULL, NULL, 0};
    const char *at = text;
    int32_t total = 0;
    for (; *at; at += *at == ' ', l.n++)
        total += lists_read(&at, NULL);
    l.cpu = edge_ints(total);
    l.row = edge_ints(l.n + 1);
    l.row[0] = 0;
    at = text;
    for (int32_t i = 0; i < l.n; i++, at += *at == ' ')
        l.row[i + 1] = l.row[i] + lists_read(&at, l.cpu + l.row[i]);
    return l;
}

static void free_lists(lists *l)
{
    free(l->cpu);
    free(l->row);
}

static void assert_list(const int32_t *cpu, int32_t n, const char *expect)
{
    static said text;
    text.len = 0;
    say_list(&text, cpu, n);
    assert_string_equal(text.text, expect);
}

/* "0-47 48-95 ...": n lists of `size` numbers. */
static const char *blocks(int32_t n, int32_t size)
{
    static char text[4096];
    text[0] = '\0';
    for (int32_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d-%d", i ? " " : "",
                 i * size, (i + 1) * size - 1);
    return text;
}

/* == Spans ================================================================== */

static void assert_span(cpubind_span span, int32_t first, int32_t count)
{
    assert_int_equal(span.first, first);
    assert_int_equal(span.count, count);
}

static void assert_roles(const cpubind_roles *r, int32_t irq, int32_t rest, int32_t acl,
                         int32_t release)
{
    assert_span(r->span[CPUBIND_ROLE_IRQ], 0, irq);
    assert_span(r->span[CPUBIND_ROLE_MAIN], irq, rest);
    assert_span(r->span[CPUBIND_ROLE_ACL], irq + rest, acl);
    assert_span(r->span[CPUBIND_ROLE_RELEASE], irq + rest + acl, release);
}

TEST(roles_tile_the_pool_and_main_takes_what_is_left)
{
    static const cpubind_role_spec no_irq = {{0, 1, 1, 1}};
    static const cpubind_role_spec uneven = {{3, 0, 2, 4}};
    static const cpubind_role_spec whole = {{CPUBIND_MAX_CPUS, 0, 0, 0}};
    cpubind_roles r;
    assert_int_equal(cpubind_split_roles(40, &FIVE, &r, NULL), CPUBIND_OK);
    assert_roles(&r, 2, 36, 1, 1);
    assert_int_equal(cpubind_split_roles(40, &no_irq, &r, NULL), CPUBIND_OK);
    assert_roles(&r, 0, 38, 1, 1);
    assert_int_equal(cpubind_split_roles(8, &ONE, &r, NULL), CPUBIND_OK);
    assert_roles(&r, 0, 8, 0, 0);
    assert_int_equal(cpubind_split_roles(12, &uneven, &r, NULL), CPUBIND_OK);
    assert_roles(&r, 3, 3, 2, 4);
    assert_int_equal(cpubind_split_roles(0, &NONE, &r, NULL), CPUBIND_OK);
    assert_roles(&r, 0, 0, 0, 0);
    assert_int_equal(cpubind_split_roles(CPUBIND_MAX_CPUS, &whole, &r, NULL), CPUBIND_OK);
    assert_roles(&r, CPUBIND_MAX_CPUS, 0, 0, 0);
}

TEST(a_pool_of_the_least_size_is_enough_and_one_less_is_not)
{
    static const cpubind_role_spec huge = {
        {CPUBIND_MAX_CPUS, CPUBIND_MAX_CPUS, CPUBIND_MAX_CPUS, CPUBIND_MAX_CPUS}};
    int32_t *r = edge_ints(8);
    cpubind_roles *roles = (cpubind_roles *)(void *)r;
    assert_int_equal(cpubind_split_roles(4, &FIVE, roles, NULL), CPUBIND_ERR_TOO_FEW);
    assert_int_equal(cpubind_split_roles(0, &ONE, roles, NULL), CPUBIND_ERR_TOO_FEW);
    assert_int_equal(cpubind_split_roles(CPUBIND_MAX_CPUS, &huge, roles, NULL),
                     CPUBIND_ERR_TOO_FEW);
    for (int32_t i = 0; i < 8; i++)
        assert_true(edge_untouched(r, i));
    assert_int_equal(cpubind_split_roles(5, &FIVE, roles, NULL), CPUBIND_OK);
    assert_roles(roles, 2, 1, 1, 1);
    free(r);
}

TEST(role_arguments_out_of_range_are_refused_and_nothing_is_written)
{
    static const struct {
        cpubind_role_spec spec;
        int32_t role;
    } bad[] = {
        {{{-1, 1, 1, 1}}, 0},
        {{{2, -1, 1, 1}}, 1},
        {{{2, 1, -1, 1}}, 2},
        {{{2, 1, 1, -1}}, 3},
        {{{CPUBIND_MAX_CPUS + 1, 0, 0, 0}}, 0},
        {{{0, INT32_MAX, 0, 0}}, 1},
        {{{0, 0, INT32_MAX, 1}}, 2},
        {{{0, 0, 1, INT32_MAX}}, 3},
    };
    const refusal bad_count = {CPUBIND_ERR_ARG, "count", -1};
    int32_t *r = edge_ints(8);
    cpubind_roles *roles = (cpubind_roles *)(void *)r;
    cpubind_fault fault;
    cpubind_status status;
    for (int32_t i = 0; i < COUNT(bad); i++) {
        status = cpubind_split_roles(40, &bad[i].spec, roles, &fault);
        assert_refusal(status, &fault, (refusal){CPUBIND_ERR_ARG, "spec.count", bad[i].role});
        assert_int_equal(cpubind_split_roles(40, &bad[i].spec, roles, NULL), CPUBIND_ERR_ARG);
    }
    assert_refusal(cpubind_split_roles(-1, &FIVE, roles, &fault), &fault, bad_count);
    assert_refusal(cpubind_split_roles(CPUBIND_MAX_CPUS + 1, &FIVE, roles, &fault), &fault,
                   bad_count);
    status = cpubind_split_roles(40, NULL, roles, &fault);
    assert_refusal(status, &fault, (refusal){CPUBIND_ERR_ARG, "spec", -1});
    status = cpubind_split_roles(40, &FIVE, NULL, &fault);
    assert_refusal(status, &fault, (refusal){CPUBIND_ERR_ARG, "out_roles", -1});
    status = cpubind_split_roles(4, &FIVE, roles, &fault);
    assert_int_equal(status, CPUBIND_ERR_TOO_FEW);
    assert_null(fault.argument);
    assert_int_equal(fault.need, 5);
    assert_int_equal(fault.have, 4);
    for (int32_t i = 0; i < 8; i++)
        assert_true(edge_untouched(r, i));
    free(r);
}

/* == sort_unique ============================================================ */

static void check_sorted(const char *text, const char *expect)
{
    int32_t n;
    int32_t *cpu = new_list(text, &n);
    assert_int_equal(cpubind_sort_unique(cpu, &n, NULL), CPUBIND_OK);
    assert_list(cpu, n, expect);
    free(cpu);
}

TEST(sort_unique_sorts_and_drops_repeats)
{
    check_sorted("-", "-");
    check_sorted("7", "7");
    check_sorted("7,7", "7");
    check_sorted("0-9", "0-9");
    check_sorted("9,8,7,6,5,4,3,2,1,0", "0-9");
    check_sorted("5,1,5,1,5,1", "1,5");
    check_sorted("0,0,1", "0-1");
    check_sorted("65535,0,65535", "0,65535");
    check_sorted("40-79,0-39,20-59", "0-79");
}

TEST(sort_unique_takes_65536_elements)
{
    const int32_t most = CPUBIND_MAX_CPUS;
    int32_t *cpu = edge_ints(most);
    int32_t n = most;
    for (int32_t i = 0; i < most; i++)
        cpu[i] = (int32_t)((uint32_t)i * 40503u % 65536u); /* odd factor: each number once */
    assert_int_equal(cpubind_sort_unique(cpu, &n, NULL), CPUBIND_OK);
    assert_int_equal(n, most);
    for (int32_t i = 0; i < most; i++)
        assert_int_equal(cpu[i], i);
    for (int32_t i = 0; i < most; i++)
        cpu[i] = (most - 1 - i) / 4;
    assert_int_equal(cpubind_sort_unique(cpu, &n, NULL), CPUBIND_OK);
    assert_int_equal(n, most / 4);
    for (int32_t i = 0; i < n; i++)
        assert_int_equal(cpu[i], i);
    free(cpu);
}

TEST(sort_unique_refuses_what_is_out_of_range_and_changes_nothing)
{
    static const int32_t outside[] = {-1, CPUBIND_MAX_CPUS, INT32_MIN, INT32_MAX};
    static const int32_t lengths[] = {-1, CPUBIND_MAX_CPUS + 1, INT32_MIN};
    const refusal bad_n = {CPUBIND_ERR_ARG, "n", -1};
    cpubind_fault fault;
    int32_t n = 0;
    for (int32_t i = 0; i < COUNT(outside); i++) {
        int32_t *cpu = new_list("9,3,3,0", &n);
        cpu[3] = outside[i];
        assert_refusal(cpubind_sort_unique(cpu, &n, &fault), &fault,
                       (refusal){CPUBIND_ERR_ARG, "cpu", 3});
        assert_int_equal(n, 4);
        assert_list(cpu, 3, "9,3,3");
        assert_int_equal(cpu[3], outside[i]);
        free(cpu);
    }
    for (int32_t i = 0; i < COUNT(lengths); i++) {
        int32_t cpu = 7;
        n = lengths[i];
        assert_refusal(cpubind_sort_unique(&cpu, &n, &fault), &fault, bad_n);
        assert_int_equal(n, lengths[i]);
    }
    n = 1;
    assert_refusal(cpubind_sort_unique(NULL, &n, &fault), &fault,
                   (refusal){CPUBIND_ERR_ARG, "cpu", -1});
    assert_refusal(cpubind_sort_unique(&n, NULL, &fault), &fault, bad_n);
    assert_int_equal(cpubind_sort_unique(&n, NULL, NULL), CPUBIND_ERR_ARG);
    n = 0;
    assert_int_equal(cpubind_sort_unique(NULL, &n, NULL), CPUBIND_OK);
    assert_int_equal(n, 0);
}

/* == A host, its devices and a plan, from text ============================== */

typedef struct rig {
    cpubind_host host;
    cpubind_devices devices;
    cpubind_policy policy;
    cpubind_plan plan;
    cpubind_fault fault;
    cpubind_status status;
    int32_t *cpu, *node, *node_id;
    lists affinity;
} rig;

/* That of the test, if it has one. */
static rig r;

static void rig_drop_plan(void)
{
    free(r.plan.cpu);
    free(r.plan.row);
    free(r.plan.work);
    memset(&r.plan, 0, sizeof r.plan);
}

SETUP(rig_close)
{
    rig_drop_plan();
    free(r.cpu);
    free(r.node);
    free(r.node_id);
    free_lists(&r.affinity);
    memset(&r, 0, sizeof r);
    return 0;
}

/* node_cpu: one list for each number of node_id. affinity: one list a device, or "". A CPU in
 * no list is on node -1. */
static void rig_open(const char *allowed, const char *node_id, const char *node_cpu,
                     const char *affinity)
{
    lists nodes = new_lists(node_cpu);
    (void)rig_close(NULL);
    r.cpu = new_list(allowed, &r.host.n_cpu);
    r.node = edge_ints(r.host.n_cpu);
    r.node_id = new_list(node_id, &r.host.n_node);
    assert_int_equal(nodes.n, r.host.n_node);
    for (int32_t i = 0; i < r.host.n_cpu; i++) {
        r.node[i] = -1;
        for (int32_t k = 0; k < nodes.n; k++)
            for (int32_t j = nodes.row[k]; j < nodes.row[k + 1]; j++)
                if (nodes.cpu[j] == r.cpu[i])
                    r.node[i] = r.node_id[k];
    }
    free_lists(&nodes);
    r.affinity = new_lists(affinity);
    r.host.cpu = r.cpu;
    r.host.node = r.node;
    r.host.node_id = r.node_id;
    r.devices.affinity.cpu = r.affinity.cpu;
    r.devices.affinity.row = r.affinity.row;
    r.devices.affinity.n = r.affinity.n;
    r.policy.strategy = CPUBIND_TOPO_AFFINITY;
    r.policy.overlap = CPUBIND_OVERLAP_RESOLVE;
    r.policy.roles = FIVE;
    r.policy.cluster = 8;
}

/* Plan for the devices in `want` (NULL: all) with buffers of exactly these sizes. */
static void rig_plan_into(const char *want, int32_t cap_cpu, int32_t cap_work)
{
    int32_t n_want = 0;
    int32_t *list = want ? new_list(want, &n_want) : NULL;
    rig_drop_plan();
    memset(&r.plan, EDGE_FILL, sizeof r.plan);
    memset(&r.fault, EDGE_FILL, sizeof r.fault);
    r.plan.trace = NULL;
    r.plan.cap_cpu = cap_cpu;
    r.plan.cap_work = cap_work;
    r.plan.cpu = edge_ints(cap_cpu);
    r.plan.row = edge_ints((want ? n_want : r.devices.affinity.n) + 1);
    r.plan.want = list;
    r.plan.n_want = n_want;
    r.plan.work = edge_ints(cap_work);
    r.status = cpubind_make_plan(&r.host, &r.devices, &r.policy, &r.plan, &r.fault);
    free(list);
    r.plan.want = NULL;
    r.plan.n_want = 0;
}

static int32_t rig_work(void)
{
    return CPUBIND_PLAN_WORK(r.host.n_cpu, r.host.n_node, r.devices.affinity.n,
                             r.devices.affinity.row ? r.affinity.row[r.affinity.n] : 0);
}

/* The same with buffers of the sizes that the macros of the header give. */
static void rig_plan(const char *want)
{
    int32_t n = r.host.n_cpu;
    if (r.policy.overlap == CPUBIND_OVERLAP_KEEP)
        n = CPUBIND_PLAN_CPUS_KEEP(n, r.devices.affinity.n);
    rig_plan_into(want, n, rig_work());
}

/* The rows of the plan are these lists. */
static void assert_pools(const char *expect)
{
    static said text;
    int32_t n = 1;
    for (const char *at = expect; *at; at++)
        n += *at == ' ';
    assert_int_equal(r.status, CPUBIND_OK);
    assert_int_equal(r.plan.row[0], 0);
    assert_int_equal(r.plan.row[n], r.plan.n_cpu);
    text.len = 0;
    for (int32_t i = 0; i < n; i++) {
        say(&text, i ? " " : "");
        say_list(&text, r.plan.cpu + r.plan.row[i], r.plan.row[i + 1] - r.plan.row[i]);
    }
    assert_string_equal(text.text, expect);
}

static void assert_fault(cpubind_status status, int32_t device, int32_t need, int32_t have)
{
    assert_int_equal(r.status, status);
    assert_int_equal(r.fault.device, device);
    assert_int_equal(r.fault.need, need);
    assert_int_equal(r.fault.have, have);
}

static void expect_plan(const char *want, const char *pools)
{
    rig_plan(want);
    assert_pools(pools);
}

static void expect_fault(const char *want, cpubind_status status, int32_t device, int32_t need,
                         int32_t have)
{
    rig_plan(want);
    assert_fault(status, device, need, have);
}

/* The out fields of a plan that failed are as they were. */
static void assert_no_answer(void)
{
    int32_t strategy = (int32_t)r.plan.strategy;
    int32_t overlap = (int32_t)r.plan.overlap;
    assert_true(edge_untouched(&strategy, 0));
    assert_true(edge_untouched(&overlap, 0));
    assert_true(edge_untouched(&r.plan.n_checked, 0));
    assert_true(edge_untouched(&r.plan.shared.device, 0));
    assert_true(edge_untouched(&r.plan.shared.other, 0));
    assert_true(edge_untouched(&r.plan.shared.cpu, 0));
    assert_true(edge_untouched(&r.plan.shared.need, 0));
    assert_true(edge_untouched(&r.plan.shared.have, 0));
    assert_true(edge_untouched(&r.plan.spare_taken, 0));
}

/* Lists with one thing wrong, each with the answer that they must get. */
typedef struct bad_lists {
    cpubind_lists lists;
    refusal expect;
} bad_lists;

static const int32_t THREE[] = {0, 1, 2};
static const int32_t FALLING[] = {1, 0, 2};
static const int32_t EQUAL[] = {0, 1, 1};
static const int32_t NEGATIVE[] = {-1, 0, 2};
static const int32_t HIGH[] = {0, 1, CPUBIND_MAX_CPUS};
static const int32_t HIGH_ALONE[] = {CPUBIND_MAX_CPUS};
static const int32_t ROWS_ONE[] = {0, 1};
static const int32_t ROWS[] = {0, 3};
static const int32_t ROWS_SECOND[] = {0, 1, 3};
static const int32_t ROWS_LATE[] = {1, 3};
static const int32_t ROWS_BACK[] = {0, 3, 2};
static const int32_t ROWS_HUGE[] = {0, CPUBIND_MAX_CPUS + 1};

#define NEAR_CPU "devices.affinity.cpu"
#define NEAR_ROW "devices.affinity.row"
#define NEAR_N   "devices.affinity.n"

static const bad_lists BAD_LISTS[] = {
    {{THREE, ROWS, -1}, {CPUBIND_ERR_ARG, NEAR_N, -1}},
    {{THREE, ROWS, CPUBIND_MAX_DEVICES + 1}, {CPUBIND_ERR_ARG, NEAR_N, -1}},
    {{NULL, NULL, CPUBIND_MAX_DEVICES + 1}, {CPUBIND_ERR_ARG, NEAR_N, -1}},
    {{NULL, ROWS, 1}, {CPUBIND_ERR_ARG, NEAR_CPU, -1}},
    {{THREE, ROWS_LATE, 1}, {CPUBIND_ERR_ARG, NEAR_ROW, 0}},
    {{THREE, ROWS_BACK, 2}, {CPUBIND_ERR_ARG, NEAR_ROW, 2}},
    {{THREE, ROWS_HUGE, 1}, {CPUBIND_ERR_ARG, NEAR_CPU, -1}},
    {{NEGATIVE, ROWS, 1}, {CPUBIND_ERR_ARG, NEAR_CPU, 0}},
    {{HIGH, ROWS, 1}, {CPUBIND_ERR_ARG, NEAR_CPU, 2}},
    {{HIGH_ALONE, ROWS_ONE, 1}, {CPUBIND_ERR_ARG, NEAR_CPU, 0}},
    {{FALLING, ROWS, 1}, {CPUBIND_ERR_ORDER, NEAR_CPU, 1}},
    {{EQUAL, ROWS, 1}, {CPUBIND_ERR_ORDER, NEAR_CPU, 2}},
    {{EQUAL, ROWS_SECOND, 2}, {CPUBIND_ERR_ORDER, NEAR_CPU, 2}},
    {{HIGH, ROWS_SECOND, 2}, {CPUBIND_ERR_ARG, NEAR_CPU, 2}},
};

/* == make_plan: global_slice ================================================ */

TEST(slices_need_no_workspace_and_no_affinity_array)
{
    rig_open("0-10", "0", "0-10", "- -");
    r.policy.strategy = CPUBIND_GLOBAL_SLICE;
    rig_plan_into(NULL, 11, 0);
    assert_pools("0-5 6-10");
    assert_int_equal(r.plan.n_work, 0);
}

/* == make_plan: topo_affinity =============================================== */

TEST(a_node_that_is_not_listed_is_unknown)
{
    static const int32_t unknown[] = {3, -1, 5, INT32_MIN};
    static const int32_t cpus[] = {0, 8, 15};
    for (int32_t i = 0; i < COUNT(unknown); i++) {
        for (int32_t k = 0; k < COUNT(cpus); k++) {
            rig_open("0-15", "0,4", "0-7 8-15", "0-7");
            r.node[cpus[k]] = unknown[i];
            expect_fault(NULL, CPUBIND_ERR_UNKNOWN, -1, 0, 0);
            assert_string_equal(r.fault.argument, "host.node");
            assert_int_equal(r.fault.index, cpus[k]);
            assert_int_equal(r.fault.cpu, cpus[k]);
            assert_no_answer();
            r.policy.strategy = CPUBIND_CLUSTER;
            expect_fault(NULL, CPUBIND_ERR_UNKNOWN, -1, 0, 0);
        }
    }
}

/* Four nodes of 48 with two devices each: each pool is extended onto the next home. */
static void open_four_nodes(cpubind_overlap overlap)
{
    rig_open("0-191", "0-3", blocks(4, 48),
             "0-47 0-47 48-95 48-95 96-143 96-143 144-191 144-191");
    r.policy.overlap = overlap;
}

/* A host whose CPUs alternate between two nodes: a home of two neighbours lies on both nodes
 * and is not extended. */
static void open_unextended(const char *allowed, const char *affinity)
{
    rig_open(allowed, "0-1", "- -", affinity);
    for (int32_t i = 0; i < r.host.n_cpu; i++)
        r.node[i] = r.cpu[i] % 2;
    r.policy.roles = NONE;
}

TEST(the_content_of_the_work_space_does_not_matter)
{
    open_unextended("0-17", "0-13 12-15 14-17 16-17");
    rig_plan(NULL);
    for (int32_t value = -1; value < 8; value++) {
        for (int32_t i = 0; i < r.plan.cap_work; i++)
            r.plan.work[i] = value;
        r.status = cpubind_make_plan(&r.host, &r.devices, &r.policy, &r.plan, &r.fault);
        assert_pools("0-11 12-13 14-15 16-17");
    }
}

/* == make_plan: buffers and arguments ======================================= */

TEST(a_workspace_one_too_small_is_answered_with_its_size)
{
    open_four_nodes(CPUBIND_OVERLAP_RESOLVE);
    int32_t need = rig_work();
    for (int32_t strategy = CPUBIND_TOPO_AFFINITY; strategy <= CPUBIND_CLUSTER; strategy++) {
        r.policy.strategy = (cpubind_strategy)strategy;
        rig_plan_into(NULL, 192, need - 1);
        assert_refusal(r.status, &r.fault, (refusal){CPUBIND_ERR_SPACE, "plan.work", -1});
        assert_fault(CPUBIND_ERR_SPACE, -1, 0, 0);
        assert_int_equal(r.plan.n_work, need);
        assert_int_equal(r.plan.n_cpu, 192); /* enough for the next call */
        assert_no_answer();
        rig_plan_into(NULL, 192, 0);
        assert_int_equal(r.status, CPUBIND_ERR_SPACE);
        assert_int_equal(r.plan.n_work, need);
        rig_plan_into(NULL, 192, need);
        assert_int_equal(r.status, CPUBIND_OK);
        assert_int_equal(r.plan.n_work, need);
    }
}

TEST(a_plan_may_be_made_without_a_fault)
{
    rig_open("0-7", "0", "0-7", "0-7 9");
    rig_plan("0");
    assert_int_equal(cpubind_make_plan(&r.host, &r.devices, &r.policy, &r.plan, NULL),
                     CPUBIND_ERR_EMPTY);
    r.policy.strategy = CPUBIND_GLOBAL_SLICE;
    assert_int_equal(cpubind_make_plan(&r.host, &r.devices, &r.policy, &r.plan, NULL),
                     CPUBIND_ERR_TOO_FEW);
}

TEST(a_fault_is_filled_on_failure_only)
{
    rig_open("0-7", "0", "0-7", "0-7");
    rig_plan(NULL);
    assert_int_equal(r.status, CPUBIND_OK);
    assert_true(edge_untouched(&r.fault.index, 0));
    assert_true(edge_untouched(&r.fault.device, 0));
    assert_true(edge_untouched(&r.fault.other, 0));
    assert_true(edge_untouched(&r.fault.cpu, 0));
    assert_true(edge_untouched(&r.fault.need, 0));
    assert_true(edge_untouched(&r.fault.have, 0));
}

/* Calls with one argument spoilt: the plan and its buffers must stay as they were. Returns the
 * device of the fault. */
static int32_t check_refused(const cpubind_policy *policy, const int32_t *want, int32_t n_want,
                             refusal expect)
{
    int32_t cpu[3], row[4], work[1024];
    cpubind_plan plan, before;
    cpubind_fault fault;
    cpubind_status status;
    memset(cpu, EDGE_FILL, sizeof cpu);
    memset(row, EDGE_FILL, sizeof row);
    memset(work, EDGE_FILL, sizeof work);
    memset(&plan, EDGE_FILL, sizeof plan);
    plan.trace = NULL;
    plan.cpu = cpu;
    plan.row = row;
    plan.work = work;
    plan.want = want;
    plan.n_want = n_want;
    plan.cap_cpu = COUNT(cpu);
    plan.cap_work = COUNT(work);
    memcpy(&before, &plan, sizeof plan);
    assert_int_equal(cpubind_make_plan(&r.host, &r.devices, policy, &plan, NULL),
                     expect.status);
    status = cpubind_make_plan(&r.host, &r.devices, policy, &plan, &fault);
    assert_refusal(status, &fault, expect);
    assert_memory_equal(&plan, &before, sizeof plan);
    assert_int_equal(fault.cpu, -1);
    for (int32_t i = 0; i < COUNT(cpu); i++)
        assert_true(edge_untouched(cpu, i) && edge_untouched(row, i));
    for (int32_t i = 0; i < COUNT(work); i++)
        assert_true(edge_untouched(work, i));
    return fault.device;
}

TEST(slices_read_no_nodes)
{
    rig_open("0-2", "0-2", "0 1 2", "0 1 2");
    r.policy.strategy = CPUBIND_GLOBAL_SLICE;
    memset(&r.policy.roles, 0, sizeof r.policy.roles);
    r.host.node = NULL;
    r.host.node_id = NULL;
    r.host.n_node = 0;
    expect_plan(NULL, "0 1 2");
    r.host.cpu = EQUAL;
    check_refused(&r.policy, NULL, 0, (refusal){CPUBIND_ERR_ORDER, "host.cpu", 2});
    r.host.n_cpu = -1;
    check_refused(&r.policy, NULL, 0, (refusal){CPUBIND_ERR_ARG, "host.cpu", -1});
    r.host.n_cpu = 0;
}

TEST(a_plan_refuses_bad_hosts)
{
    rig_open("0-2", "0-2", "0 1 2", "0 1 2");
    const cpubind_host good = r.host;
    const int32_t most = CPUBIND_MAX_CPUS;
    const struct {
        cpubind_host host;
        refusal expect;
    } bad[] = {
        {{NULL, good.node, good.node_id, 3, 3, NULL, NULL, NULL},
         {CPUBIND_ERR_ARG, "host.cpu", -1}},
        {{good.cpu, NULL, good.node_id, 3, 3, NULL, NULL, NULL},
         {CPUBIND_ERR_ARG, "host.node", -1}},
        {{good.cpu, good.node, NULL, 3, 3, NULL, NULL, NULL},
         {CPUBIND_ERR_ARG, "host.node_id", -1}},
        {{good.cpu, good.node, good.node_id, -1, 3, NULL, NULL, NULL},
         {CPUBIND_ERR_ARG, "host.cpu", -1}},
        {{good.cpu, good.node, good.node_id, most + 1, 3, NULL, NULL, NULL},
         {CPUBIND_ERR_ARG, "host.cpu", -1}},
        {{good.cpu, good.node, good.node_id, 3, 0, NULL, NULL, NULL},
         {CPUBIND_ERR_ARG, "host.node_id", -1}},
        {{good.cpu, good.node, good.node_id, 3, -1, NULL, NULL, NULL},
         {CPUBIND_ERR_ARG, "host.node_id", -1}},
        {{good.cpu, good.node, good.node_id, 3, most + 1, NULL, NULL, NULL},
         {CPUBIND_ERR_ARG, "host.node_id", -1}},
        {{EQUAL, good.node, good.node_id, 3, 3, NULL, NULL, NULL},
         {CPUBIND_ERR_ORDER, "host.cpu", 2}},
        {{NEGATIVE, good.node, good.node_id, 3, 3, NULL, NULL, NULL},
         {CPUBIND_ERR_ARG, "host.cpu", 0}},
        {{HIGH, good.node, good.node_id, 3, 3, NULL, NULL, NULL},
         {CPUBIND_ERR_ARG, "host.cpu", 2}},
        {{good.cpu, good.node, EQUAL, 3, 3, NULL, NULL, NULL},
         {CPUBIND_ERR_ORDER, "host.node_id", 2}},
        {{good.cpu, good.node, NEGATIVE, 3, 3, NULL, NULL, NULL},
         {CPUBIND_ERR_ARG, "host.node_id", 0}},
        {{good.cpu, good.node, HIGH, 3, 3, NULL, NULL, NULL},
         {CPUBIND_ERR_ARG, "host.node_id", 2}},
    };
    for (int32_t i = 0; i < COUNT(bad); i++) {
        r.host = bad[i].host;
        for (int32_t k = CPUBIND_TOPO_AFFINITY; k <= CPUBIND_CLUSTER; k++) {
            cpubind_policy policy = r.policy;
            policy.strategy = (cpubind_strategy)k;
            assert_int_equal(check_refused(&policy, NULL, 0, bad[i].expect), -1);
        }
    }
}

TEST(a_list_of_many_cpus_is_refused_at_the_first_that_does_not_ascend)
{
    rig_open("0-99", "0", "0-99", "0-99");
    for (int32_t at = 1; at < 100; at++) {
        int32_t good = r.cpu[at];
        r.cpu[at] = r.cpu[at - 1];
        check_refused(&r.policy, NULL, 0, (refusal){CPUBIND_ERR_ORDER, "host.cpu", at});
        r.cpu[at] = good;
    }
}

TEST(a_plan_refuses_bad_affinities_and_totals)
{
    const refusal bad_total = {CPUBIND_ERR_ARG, "devices.total", -1};
    rig_open("0-2", "0", "0-2", "0-2");
    for (int32_t i = 0; i < COUNT(BAD_LISTS); i++) {
        const bad_lists *bad = &BAD_LISTS[i];
        int32_t device;
        r.devices.affinity = bad->lists;
        device = check_refused(&r.policy, NULL, 0, bad->expect);
        if (bad->lists.cpu == NULL)
            assert_int_equal(device, -1);
        if (bad->expect.index > 0 && strcmp(bad->expect.argument, NEAR_CPU) == 0)
            assert_int_equal(device, bad->lists.n - 1);
    }
    r.devices.affinity.cpu = r.affinity.cpu;
    r.devices.affinity.row = r.affinity.row;
    r.devices.affinity.n = 1;
    r.devices.total = -1;
    check_refused(&r.policy, NULL, 0, bad_total);
    r.devices.total = CPUBIND_MAX_DEVICES + 1;
    check_refused(&r.policy, NULL, 0, bad_total);
}

TEST(a_plan_refuses_bad_policies)
{
    static const struct {
        size_t offset; /* of the field in cpubind_policy */
        int32_t value;
        cpubind_strategy strategy;
        const char *argument;
        int32_t index;
    } bad[] = {
        {offsetof(cpubind_policy, strategy), 4, CPUBIND_TOPO_AFFINITY, "policy.strategy", -1},
        {offsetof(cpubind_policy, strategy), -1, CPUBIND_TOPO_AFFINITY, "policy.strategy", -1},
        {offsetof(cpubind_policy, overlap), 3, CPUBIND_TOPO_AFFINITY, "policy.overlap", -1},
        {offsetof(cpubind_policy, overlap), -1, CPUBIND_TOPO_AFFINITY, "policy.overlap", -1},
        {offsetof(cpubind_policy, roles.count[0]), -1, CPUBIND_TOPO_AFFINITY,
         "policy.roles.count", 0},
        {offsetof(cpubind_policy, roles.count[1]), CPUBIND_MAX_CPUS + 1, CPUBIND_TOPO_AFFINITY,
         "policy.roles.count", 1},
        {offsetof(cpubind_policy, roles.count[2]), INT32_MIN, CPUBIND_TOPO_AFFINITY,
         "policy.roles.count", 2},
        {offsetof(cpubind_policy, roles.count[3]), INT32_MAX, CPUBIND_TOPO_AFFINITY,
         "policy.roles.count", 3},
        {offsetof(cpubind_policy, cluster), 0, CPUBIND_CLUSTER, "policy.cluster", -1},
        {offsetof(cpubind_policy, cluster), -1, CPUBIND_CLUSTER, "policy.cluster", -1},
        {offsetof(cpubind_policy, cluster), CPUBIND_MAX_CPUS + 1, CPUBIND_CLUSTER,
         "policy.cluster", -1},
    };
    rig_open("0-2", "0", "0-2", "0-2");
    for (int32_t i = 0; i < COUNT(bad); i++) {
        cpubind_policy policy = r.policy;
        policy.strategy = bad[i].strategy;
        memcpy((char *)&policy + bad[i].offset, &bad[i].value, sizeof bad[i].value);
        check_refused(&policy, NULL, 0,
                      (refusal){CPUBIND_ERR_ARG, bad[i].argument, bad[i].index});
    }
    check_refused(NULL, NULL, 0, (refusal){CPUBIND_ERR_ARG, "policy", -1});
}

TEST(a_plan_refuses_bad_lists_of_wanted_devices)
{
    static const int32_t twice[] = {1, 1};
    static const int32_t back[] = {1, 0};
    static const int32_t below[] = {-1, 0};
    static const int32_t past[] = {0, 3};
    static const int32_t many[] = {0, 1, 2, 3};
    const refusal bad_n = {CPUBIND_ERR_ARG, "plan.want", -1};
    rig_open("0-2", "0", "0-2", "0 1 2");
    for (int32_t n = -1; n <= 4; n++) /* 0: all three devices */
        if (n != 0)
            check_refused(&r.policy, NULL, n, bad_n);
    check_refused(&r.policy, many, 0, bad_n);
    check_refused(&r.policy, many, -1, bad_n);
    check_refused(&r.policy, many, 4, bad_n);
    check_refused(&r.policy, twice, 2, (refusal){CPUBIND_ERR_ORDER, "plan.want", 1});
    check_refused(&r.policy, back, 2, (refusal){CPUBIND_ERR_ORDER, "plan.want", 1});
    check_refused(&r.policy, below, 2, (refusal){CPUBIND_ERR_ARG, "plan.want", 0});
    check_refused(&r.policy, past, 2, (refusal){CPUBIND_ERR_ARG, "plan.want", 1});
    r.devices.affinity.n = 0;
    check_refused(&r.policy, NULL, 0, (refusal){CPUBIND_ERR_ARG, NEAR_N, -1});
}

TEST(a_plan_refuses_missing_buffers_and_arguments)
{
    rig_open("0-2", "0", "0-2", "0-2");
    cpubind_plan good, bad[5];
    const char *const argument[] = {"plan.row", "plan.cpu", "plan.work", "plan.cpu",
                                    "plan.work"};
    cpubind_fault fault;
    cpubind_status status;
    r.policy.roles = ONE;
    expect_plan(NULL, "0-2");
    good = r.plan;
    for (int32_t i = 0; i < COUNT(bad); i++)
        bad[i] = good;
    bad[0].row = NULL;
    bad[1].cpu = NULL;
    bad[2].work = NULL;
    bad[3].cap_cpu = -1;
    bad[4].cap_work = -1;
    for (int32_t i = 0; i < COUNT(bad); i++) {
        status = cpubind_make_plan(&r.host, &r.devices, &r.policy, &bad[i], &fault);
        assert_refusal(status, &fault, (refusal){CPUBIND_ERR_ARG, argument[i], -1});
    }
    status = cpubind_make_plan(&r.host, &r.devices, &r.policy, NULL, &fault);
    assert_refusal(status, &fault, (refusal){CPUBIND_ERR_ARG, "plan", -1});
    status = cpubind_make_plan(&r.host, NULL, &r.policy, &good, &fault);
    assert_refusal(status, &fault, (refusal){CPUBIND_ERR_ARG, "devices", -1});
    status = cpubind_make_plan(NULL, &r.devices, &r.policy, &good, &fault);
    assert_refusal(status, &fault, (refusal){CPUBIND_ERR_ARG, "host", -1});
}

/* Places every buffer at every distance to every array that is read and to every other buffer,
 * from just before it to just after it: refused exactly where the two share an element. */
TEST(buffers_that_overlap_an_input_or_each_other_are_refused)
{
    enum { N = 2, ROOM = 1024, INPUTS = 7, BUFFERS = 3 };
    static const char *const name[] = {"plan.cpu", "plan.row", "plan.work"};
    static int32_t pile[3 * ROOM], apart[INPUTS + BUFFERS][ROOM];
    const int32_t work = CPUBIND_PLAN_WORK(N, 1, N, N);
    const int32_t size[INPUTS + BUFFERS] = {N, N, 1, N, N + 1, N, N, N, N + 1, work};
    assert_true(work < ROOM);
    for (int32_t slice = 0; slice < 2; slice++)
        for (int32_t b = INPUTS; b < INPUTS + BUFFERS; b++)
            for (int32_t a = 0; a < b; a++)
                for (int32_t shift = -size[b]; shift <= size[a]; shift++) {
                    int32_t *at[INPUTS + BUFFERS];
                    int32_t is_read = !slice || (a != 1 && a != 2);
                    int32_t overlaps = is_read && shift > -size[b] && shift < size[a];
                    cpubind_host host = {NULL, NULL, NULL, N, 1, NULL, NULL, NULL};
                    cpubind_devices devices = {{NULL, NULL, N}, NULL, N, NULL,
                                               {NULL, NULL, 0}, NULL};
                    cpubind_policy policy = {.strategy = slice ? CPUBIND_GLOBAL_SLICE
                                                               : CPUBIND_TOPO_AFFINITY};
                    cpubind_plan plan = {.cap_cpu = N, .cap_work = work};
                    cpubind_fault fault;
                    cpubind_status status;
                    for (int32_t i = 0; i < INPUTS + BUFFERS; i++)
                        at[i] = apart[i];
                    at[a] = pile + ROOM;
                    at[b] = pile + ROOM + shift;
                    memset(pile, 0, sizeof pile);
                    memset(apart, 0, sizeof apart);
                    for (int32_t i = 0; i < N; i++)
                        at[0][i] = at[3][i] = at[5][i] = at[6][i] = i;
                    for (int32_t i = 0; i <= N; i++)
                        at[4][i] = i;
                    host.cpu = at[0];
                    host.node = at[1];
                    host.node_id = at[2];
                    devices.affinity.cpu = at[3];
                    devices.affinity.row = at[4];
                    devices.slot = at[5];
                    plan.want = at[6];
                    plan.n_want = N;
                    plan.cpu = at[7];
                    plan.row = at[8];
                    plan.work = at[9];
                    status = cpubind_make_plan(&host, &devices, &policy, &plan, &fault);
                    if (overlaps)
                        assert_refusal(status, &fault,
                                       (refusal){CPUBIND_ERR_ARG, name[b - INPUTS], -1});
                    else
                        assert_int_equal(status, CPUBIND_OK);
                }
}

/* 640 CPUs, 16 devices, 4 nodes: all that the caller allocates. */
TEST(buffers_of_a_large_host_take_128_kib)
{
    assert_true((CPUBIND_PLAN_WORK(640, 4, 16, 2560) + CPUBIND_PLAN_CPUS(640) + 17) *
                    (int32_t)sizeof(int32_t) <=
                128 * 1024);
}

/* No zero names a CPU, a node or a device. */
TEST(structs_of_zeros_are_plain_defaults)
{
    static const cpubind_policy zeros;
    rig_open("0-3", "0-1", "0-1 2-3", "0 1");
    r.policy = zeros; /* global_slice, RESOLVE, no roles */
    expect_plan(NULL, "0-1 2-3");
    r.policy.strategy = CPUBIND_CLUSTER;
    check_refused(&r.policy, NULL, 0, (refusal){CPUBIND_ERR_ARG, "policy.cluster", -1});
    r.policy.cluster = 1;
    r.policy.overlap = CPUBIND_OVERLAP_KEEP; /* node 0 is not the spare node */
    expect_plan(NULL, "0 1");
    assert_int_equal(r.plan.spare_taken, 0);
}

/* Three devices on one CPU: the first two get nothing, and need no room. */
TEST(an_empty_pool_needs_no_cpu_buffer)
{
    rig_open("0", "0", "0", "0 0 0");
    static const int32_t first = 0;
    r.policy.roles = NONE;
    expect_plan(NULL, "- - 0");
    free(r.plan.cpu);
    r.plan.want = &first;
    r.plan.n_want = 1;
    r.plan.cpu = NULL;
    r.plan.cap_cpu = 0;
    assert_int_equal(cpubind_make_plan(&r.host, &r.devices, &r.policy, &r.plan, NULL),
                     CPUBIND_OK);
    assert_int_equal(r.plan.n_cpu, 0);
    assert_int_equal(r.plan.row[1], 0);
}

TEST(a_plan_does_not_depend_on_what_the_buffers_held)
{
    open_four_nodes(CPUBIND_OVERLAP_RESOLVE);
    rig_plan(NULL);
    for (int32_t fill = 0; fill < 256; fill += 51) {
        memset(r.plan.cpu, fill, (size_t)r.plan.cap_cpu * sizeof(int32_t));
        memset(r.plan.row, fill, 9 * sizeof(int32_t));
        memset(r.plan.work, fill, (size_t)r.plan.cap_work * sizeof(int32_t));
        r.status = cpubind_make_plan(&r.host, &r.devices, &r.policy, &r.plan, NULL);
        assert_pools(blocks(8, 24));
    }
}

/* == Text and version ======================================================= */

TEST(every_status_has_its_name_number_and_text)
{
    static const struct {
        cpubind_status status;
        int32_t number;
        const char *name;
    } codes[] = {
        {CPUBIND_OK, 0, "OK"},
        {CPUBIND_ERR_ARG, -1, "ERR_ARG"},
        {CPUBIND_ERR_ORDER, -2, "ERR_ORDER"},
        {CPUBIND_ERR_SPACE, -3, "ERR_SPACE"},
        {CPUBIND_ERR_EMPTY, -4, "ERR_EMPTY"},
        {CPUBIND_ERR_TOO_FEW, -5, "ERR_TOO_FEW"},
        {CPUBIND_ERR_UNKNOWN, -6, "ERR_UNKNOWN"},
        {CPUBIND_ERR_OVERLAP, -7, "ERR_OVERLAP"},
        {CPUBIND_ERR_SPREAD, -8, "ERR_SPREAD"},
        {CPUBIND_ERR_CLUSTERS, -9, "ERR_CLUSTERS"},
    };
#define CPUBIND_X(name, value, text) +1
    const int32_t n = 0 CPUBIND_STATUS_LIST(CPUBIND_X);
#undef CPUBIND_X
    assert_int_equal(n, COUNT(codes));
    for (int32_t i = 0; i < COUNT(codes); i++) {
        const char *text = cpubind_status_text(codes[i].status);
        assert_int_equal(codes[i].status, codes[i].number);
        assert_string_equal(cpubind_status_name(codes[i].status), codes[i].name);
        assert_true(strlen(text) > 0 && text[strlen(text) - 1] != '.');
        assert_string_not_equal(text, cpubind_status_text((cpubind_status)1));
        for (int32_t k = 0; k < i; k++)
            assert_string_not_equal(text, cpubind_status_text(codes[k].status));
    }
}

TEST(a_number_that_is_no_status_is_a_question_mark)
{
    static const int32_t numbers[] = {1, -10, -100, INT32_MIN, INT32_MAX};
    for (int32_t i = 0; i < COUNT(numbers); i++) {
        assert_string_equal(cpubind_status_name((cpubind_status)numbers[i]), "?");
        assert_true(strlen(cpubind_status_text((cpubind_status)numbers[i])) > 0);
    }
}

TEST(every_role_has_a_word_and_a_letter)
{
    static const struct {
        cpubind_role role;
        int32_t number;
        const char *word;
        char letter;
    } roles[] = {
        {CPUBIND_ROLE_IRQ, 0, "irq", 'i'},
        {CPUBIND_ROLE_MAIN, 1, "main", 'm'},
        {CPUBIND_ROLE_ACL, 2, "acl", 'a'},
        {CPUBIND_ROLE_RELEASE, 3, "release", 'r'},
        {(cpubind_role)CPUBIND_ROLE_COUNT, 4, "?", '?'},
        {(cpubind_role)-1, -1, "?", '?'},
        {(cpubind_role)5, 5, "?", '?'},
    };
    for (int32_t i = 0; i < COUNT(roles); i++) {
        assert_int_equal((int32_t)roles[i].role, roles[i].number);
        assert_string_equal(cpubind_role_word(roles[i].role), roles[i].word);
        assert_int_equal(cpubind_role_letter(roles[i].role), roles[i].letter);
    }
}

TEST(the_version_is_one_in_code_macros_and_title_line)
{
    const char *tests = getenv("CPUBIND_TESTS");
    char path[2048], line[256], expect[64];
    FILE *file;
    assert_int_equal(cpubind_version(), CPUBIND_VERSION_HEX);
    assert_int_equal(CPUBIND_VERSION_HEX, CPUBIND_VERSION_MAJOR << 16 |
                                              CPUBIND_VERSION_MINOR << 8 |
                                              CPUBIND_VERSION_PATCH);
    snprintf(expect, sizeof expect, "%d.%d.%d", CPUBIND_VERSION_MAJOR, CPUBIND_VERSION_MINOR,
             CPUBIND_VERSION_PATCH);
    assert_string_equal(CPUBIND_VERSION, expect);
    snprintf(path, sizeof path, "%.2000s/../cpubind.h", tests ? tests : "tests");
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    snprintf(expect, sizeof expect, "/* cpubind.h - v%s - ", CPUBIND_VERSION);
    assert_memory_equal(line, expect, strlen(expect));
}

TEST_FILE(NULL, rig_close)
