/* test_near.c - NEAR, the roles by home and the figures of a plan: buffers and arguments
 * SPDX-License-Identifier: MIT
 *
 * A host is text, as in test_core.c: lists of CPUs separated by blanks, "-" is an empty one.
 * What comes of hosts is in tests/core/cases; the laws over random hosts are in
 * test_near_laws.c.
 */
#include <stdio.h>

#include "../../adapters/cpubind_old.h"
#include "../support/exact_buffer.h"
#include "../support/lists.h"
#include "../support/test.h"

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

enum { CPUS = 256, NODES = 16, DEVICES = 16 };

static const cpubind_role_spec FIVE = {{2, 1, 1, 1}};
static const cpubind_role_spec THREE = {{0, 1, 1, 1}};

/* A host, its devices, and a plan of all devices. */
typedef struct rig {
    int32_t cpu[CPUS], node[CPUS], core[CPUS], node_id[NODES];
    int32_t near[CPUS * DEVICES], row[DEVICES + 1];
    cpubind_host host;
    cpubind_devices devices;
    cpubind_policy policy;
    cpubind_plan plan;
    cpubind_trace trace;
    int32_t owner[CPUS], step[CPUS], group[CPUS], group_row[CPUS], group_device[CPUS * NODES];
    int32_t pool[CPUS], pool_row[DEVICES + 1], work[32768];
    cpubind_fault fault;
    cpubind_status status;
} rig;

static rig r;

/* Nodes 0, 1, ... with these CPUs, all of them allowed; each device is near one list. */
static void open_host(const char *nodes, const char *near)
{
    uint8_t of[CPUS] = {0};
    const char *at = nodes;
    memset(&r, 0, sizeof r);
    for (; *at; at += *at == ' ') {
        int32_t list[CPUS];
        int32_t n = lists_read(&at, list);
        for (int32_t i = 0; i < n; i++)
            of[list[i]] = (uint8_t)(r.host.n_node + 1);
        r.node_id[r.host.n_node] = r.host.n_node;
        r.host.n_node++;
    }
    for (int32_t cpu = 0; cpu < CPUS; cpu++)
        if (of[cpu]) {
            r.node[r.host.n_cpu] = of[cpu] - 1;
            r.cpu[r.host.n_cpu++] = cpu;
        }
    for (at = near; *at; at += *at == ' ') {
        int32_t d = r.devices.affinity.n++;
        r.row[d + 1] = r.row[d] + lists_read(&at, r.near + r.row[d]);
    }
    r.host.cpu = r.cpu;
    r.host.node = r.node;
    r.host.node_id = r.node_id;
    r.devices.affinity.cpu = r.near;
    r.devices.affinity.row = r.row;
    r.policy.strategy = CPUBIND_NEAR;
    r.policy.roles = FIVE;
}

/* The threads of a core are neighbours, as on ARM. */
static void pair_cores(int32_t n_thread)
{
    for (int32_t i = 0; i < r.host.n_cpu; i++)
        r.core[i] = r.cpu[i] / n_thread;
    r.host.core = r.core;
}

static void plan(void)
{
    int32_t n = r.devices.affinity.n;
    r.plan.cpu = r.pool;
    r.plan.row = r.pool_row;
    r.plan.work = r.work;
    r.plan.cap_cpu = CPUS;
    r.plan.cap_work = CPUBIND_PLAN_WORK_NEAR(r.host.n_cpu, r.host.n_node, n, r.row[n]);
    assert_true(r.plan.cap_work <= COUNT(r.work));
    r.trace = (cpubind_trace){r.owner,        r.step, r.group,      r.group_row,
                              r.group_device, CPUS,   CPUS * NODES, 0};
    r.plan.trace = &r.trace;
    memset(&r.fault, EDGE_FILL, sizeof r.fault);
    r.status = cpubind_make_plan(&r.host, &r.devices, &r.policy, &r.plan, &r.fault);
}

/* == Buffers and arguments ================================================== */

TEST(a_core_on_two_nodes_and_numbers_out_of_range_are_refused)
{
    static const int32_t distance[] = {10, 20, 0, 10};
    int32_t *const core = r.core;
    open_host("0-3 4-7", "0-3 4-7");
    pair_cores(2);
    for (int32_t i = 0; i < 8; i++)
        for (int32_t k = 0; k < 3; k++) {
            static const int32_t bad[] = {-1, CPUBIND_MAX_CPUS, 3};
            int32_t good = core[i];
            core[i] = k == 2 ? 3 - good / 2 * 3 : bad[k]; /* a core of the other node */
            plan();
            assert_int_equal(r.status, CPUBIND_ERR_ARG);
            assert_string_equal(r.fault.argument, "host.core");
            assert_true(k == 2 || r.fault.index == i);
            core[i] = good;
        }
    r.host.distance = distance;
    plan();
    assert_int_equal(r.status, CPUBIND_ERR_ARG);
    assert_string_equal(r.fault.argument, "host.distance");
    assert_int_equal(r.fault.index, 2);
    r.host.distance = NULL;
    core[7] = CPUBIND_MAX_CPUS - 1;
    r.policy.roles = THREE;
    plan();
    assert_int_equal(r.status, CPUBIND_OK);
    r.host.core = NULL;
    r.node[3] = 9;
    plan();
    assert_int_equal(r.status, CPUBIND_ERR_UNKNOWN);
    assert_int_equal(r.fault.cpu, 3);
}

TEST(more_nodes_than_the_limit_are_refused)
{
    static int32_t node_id[CPUBIND_MAX_NODES + 1];
    int32_t *work;
    int32_t most = CPUBIND_MAX_NODES;
    for (int32_t i = 0; i <= most; i++)
        node_id[i] = i;
    open_host("0-7", "0-7");
    r.host.node_id = node_id;
    r.plan = (cpubind_plan){.cpu = r.pool, .row = r.pool_row, .cap_cpu = 8};
    r.plan.cap_work = CPUBIND_PLAN_WORK_NEAR(8, most, 1, 8);
    r.plan.work = work = edge_ints(r.plan.cap_work);
    r.host.n_node = most + 1;
    r.status = cpubind_make_plan(&r.host, &r.devices, &r.policy, &r.plan, &r.fault);
    assert_int_equal(r.status, CPUBIND_ERR_ARG);
    assert_string_equal(r.fault.argument, "host.node_id");
    r.host.n_node = most;
    assert_int_equal(cpubind_make_plan(&r.host, &r.devices, &r.policy, &r.plan, &r.fault),
                     CPUBIND_OK);
    assert_int_equal(r.plan.n_cpu, 8);
    free(work);
}

TEST(a_buffer_too_small_is_answered_with_enough)
{
    int32_t work;
    open_host("0-7 8-15", "0-7 8-15 -");
    pair_cores(2);
    r.policy.roles = THREE;
    plan();
    assert_int_equal(r.status, CPUBIND_OK);
    work = r.plan.n_work;
    assert_true(work <= r.plan.cap_work);
    for (int32_t i = 0; i < 5; i++) {
        static const char *const argument[] = {"plan.work", "plan.work", "plan.cpu",
                                               "plan.trace", "plan.trace"};
        cpubind_plan small = r.plan;
        cpubind_trace trace = r.trace;
        small.trace = &trace;
        if (i < 2)
            small.cap_work = i == 0 ? work - 1 : 0;
        if (i == 2)
            small.cap_cpu = 15;
        if (i == 3)
            trace.cap_row = r.trace.n_group;
        if (i == 4)
            trace.cap_device = r.trace.row[r.trace.n_group] - 1;
        r.status = cpubind_make_plan(&r.host, &r.devices, &r.policy, &small, &r.fault);
        assert_int_equal(r.status, CPUBIND_ERR_SPACE);
        assert_string_equal(r.fault.argument, argument[i]);
        assert_true(small.n_work == work || i >= 2);
        small.cap_work = work;
        small.cap_cpu = 16;
        small.trace = &r.trace;
        assert_int_equal(cpubind_make_plan(&r.host, &r.devices, &r.policy, &small, NULL),
                         CPUBIND_OK);
    }
}

/* Each buffer of the plan and the trace lies over each other one and over each input. */
TEST(buffers_that_overlap_are_refused)
{
    static const char *const name[] = {"plan.cpu",   "plan.row",   "plan.work",  "plan.trace",
                                       "plan.trace", "plan.trace", "plan.trace", "plan.trace"};
    static int32_t distance[1], socket[1], node[1];
    open_host("0-3", "0-3");
    pair_cores(2);
    distance[0] = 10;
    node[0] = -1;
    r.host.distance = distance;
    r.host.socket = socket;
    r.devices.node = node;
    r.policy.roles = THREE;
    plan();
    assert_int_equal(r.status, CPUBIND_OK);
    for (int32_t b = 0; b < 8; b++)
        for (int32_t a = 0; a < 16; a++) {
            cpubind_plan p = r.plan;
            cpubind_trace t = r.trace;
            int32_t **const buffer[] = {&p.cpu,  &p.row,   &p.work, &t.owner,
                                        &t.step, &t.group, &t.row,  &t.device};
            int32_t *const other[] = {p.cpu,  p.row,    p.work,   t.owner, t.step, t.group,
                                      t.row,  t.device, r.cpu,    r.node,  r.core, r.node_id,
                                      r.near, r.row,    distance, socket};
            int32_t *own = *buffer[b];
            p.trace = &t;
            if (a == b)
                continue;
            *buffer[b] = other[a];
            r.status = cpubind_make_plan(&r.host, &r.devices, &r.policy, &p, &r.fault);
            assert_int_equal(r.status, CPUBIND_ERR_ARG);
            assert_true(strcmp(r.fault.argument, name[b]) == 0 ||
                        (a < 8 && strcmp(r.fault.argument, name[a]) == 0));
            *buffer[b] = own;
        }
    r.plan.work = node;
    assert_int_equal(cpubind_make_plan(&r.host, &r.devices, &r.policy, &r.plan, &r.fault),
                     CPUBIND_ERR_ARG);
}

/* == Roles ================================================================== */

TEST(a_pool_too_small_for_its_processes_is_refused)
{
    int32_t cpu[] = {0, 1, 2, 3, 4, 5, 6, 9};
    int32_t out[8], work[CPUBIND_PLACE_WORK(8, 1)];
    cpubind_placing p = {.cpu = cpu,
                         .n_cpu = 7,
                         .is_near = 1,
                         .roles = FIVE,
                         .n_process = 2,
                         .out_cpu = out,
                         .work = work,
                         .cap_work = CPUBIND_PLACE_WORK(7, 1)};
    open_host("0-7", "0-7");
    assert_int_equal(cpubind_place_roles(&r.host, &r.devices, &p, &r.fault),
                     CPUBIND_ERR_TOO_FEW);
    assert_int_equal(r.fault.device, 0);
    assert_int_equal(r.fault.need, 5);
    assert_int_equal(r.fault.have, 4);
    assert_int_equal(p.n_out, 0);
    p.n_process = 1;
    assert_int_equal(cpubind_place_roles(&r.host, &r.devices, &p, &r.fault), CPUBIND_OK);
    assert_int_equal(p.n_out, 7);
}

TEST(placing_refuses_bad_arguments)
{
    int32_t cpu[] = {0, 1, 2, 3, 4, 5, 6, 7};
    int32_t falling[] = {0, 1, 2, 2, 4, 5, 6, 7};
    int32_t unknown[] = {0, 1, 2, 3, 4, 5, 6, 9};
    int32_t out[8], work[CPUBIND_PLACE_WORK(8, 1)];
    const cpubind_placing good = {.cpu = cpu,
                                  .n_cpu = 8,
                                  .is_near = 1,
                                  .roles = FIVE,
                                  .n_process = 2,
                                  .process = 1,
                                  .out_cpu = out,
                                  .work = work,
                                  .cap_work = CPUBIND_PLACE_WORK(8, 1)};
    cpubind_placing bad[12];
    static const struct {
        const char *argument;
        cpubind_status status;
        int32_t index;
    } expect[] = {
        {"placing.cpu", CPUBIND_ERR_ARG, -1},
        {"placing.cpu", CPUBIND_ERR_ARG, -1},
        {"placing.cpu", CPUBIND_ERR_ORDER, 3},
        {"placing.cpu", CPUBIND_ERR_UNKNOWN, 7},
        {"placing.device", CPUBIND_ERR_ARG, -1},
        {"placing.device", CPUBIND_ERR_ARG, -1},
        {"placing.n_process", CPUBIND_ERR_ARG, -1},
        {"placing.process", CPUBIND_ERR_ARG, -1},
        {"placing.process", CPUBIND_ERR_ARG, -1},
        {"placing.out_cpu", CPUBIND_ERR_ARG, -1},
        {"placing.work", CPUBIND_ERR_SPACE, -1},
        {"placing.roles.count", CPUBIND_ERR_ARG, -1},
    };
    open_host("0-7", "0-7");
    for (int32_t i = 0; i < COUNT(bad); i++)
        bad[i] = good;
    bad[0].cpu = NULL;
    bad[1].n_cpu = -1;
    bad[2].cpu = falling;
    bad[3].cpu = unknown;
    bad[4].device = -1;
    bad[5].device = 1;
    bad[6].n_process = -1;
    bad[7].process = 2;
    bad[8].process = -1;
    bad[9].out_cpu = NULL;
    bad[10].cap_work--;
    bad[11].roles.count[2] = -1;
    for (int32_t i = 0; i < COUNT(bad); i++) {
        r.status = cpubind_place_roles(&r.host, &r.devices, &bad[i], &r.fault);
        assert_int_equal(r.status, expect[i].status);
        assert_string_equal(r.fault.argument, expect[i].argument);
        assert_true(i == 11 || r.fault.index == expect[i].index);
        assert_int_equal(bad[i].n_out, 0);
        assert_int_equal(cpubind_place_roles(&r.host, &r.devices, &bad[i], NULL),
                         expect[i].status);
    }
    assert_int_equal(cpubind_place_roles(&r.host, &r.devices, NULL, &r.fault), CPUBIND_ERR_ARG);
    bad[0] = good;
    assert_int_equal(cpubind_place_roles(&r.host, &r.devices, &bad[0], &r.fault), CPUBIND_OK);
}

/* == Figures ================================================================ */

TEST(the_figures_of_a_plan)
{
    /* node 0 and 1 are a socket; NPU 0 is at home on node 0, NPU 1 on node 2 */
    static const int32_t socket[] = {0, 0, 1};
    static int32_t cpu[] = {4, 0, 1, 8, 10, 11, 5, 2};
    static int32_t row[] = {0, 4, 8, 8};
    const cpubind_lists pools = {cpu, row, 3};
    int32_t work[CPUBIND_MEASURE_WORK(12, 3)];
    cpubind_quality total, each[3];
    open_host("0-3 4-7 8-11", "0-3 8-11 -");
    pair_cores(2);
    r.host.socket = socket;
    assert_int_equal(
        cpubind_measure(&r.host, &r.devices, pools, 2, work, &total, each, &r.fault),
        CPUBIND_OK);
    assert_int_equal(total.n_pool, 2);
    assert_int_equal(total.n_cpu, 8);
    assert_int_equal(total.near_cpu, 4);        /* 0, 1; 10, 11 */
    assert_int_equal(total.far_cpu, 3);         /* 8; 5, 2 */
    assert_int_equal(total.irq_off_node, 1);    /* 4 */
    assert_int_equal(total.n_pool_off_node, 1); /* of NPU 0 */
    assert_int_equal(total.split_cores, 1);     /* 4, 5 */
    assert_int_equal(total.idle, 4);            /* 3, 6, 7, 9 */
    assert_int_equal(total.smallest, 4);
    assert_int_equal(total.largest, 4);
    assert_int_equal(each[0].irq_off_node, 1);
    assert_int_equal(each[1].far_cpu, 2);
    assert_int_equal(each[1].split_cores, 1);
    assert_int_equal(each[1].idle, 0);
    assert_int_equal(each[2].n_pool, 0);
    assert_int_equal(each[2].largest, 0);
    assert_int_equal(
        cpubind_measure(&r.host, &r.devices, pools, 0, work, &total, NULL, &r.fault),
        CPUBIND_OK);
    assert_int_equal(total.irq_off_node, 0);
}

TEST(measuring_refuses_bad_arguments)
{
    int32_t cpu[] = {0, 1, 2, 9};
    int32_t row[] = {0, 2, 4};
    int32_t work[CPUBIND_MEASURE_WORK(8, 1)];
    cpubind_lists pools = {cpu, row, 2};
    cpubind_quality total;
    open_host("0-7", "0-7 0-7");
    assert_int_equal(
        cpubind_measure(&r.host, &r.devices, pools, 0, work, &total, NULL, &r.fault),
        CPUBIND_ERR_UNKNOWN);
    assert_int_equal(r.fault.device, 1);
    assert_int_equal(r.fault.cpu, 9);
    assert_string_equal(r.fault.argument, "pools.cpu");
    assert_int_equal(r.fault.index, 3);
    cpu[3] = 3;
    r.node[2] = 5;
    assert_int_equal(
        cpubind_measure(&r.host, &r.devices, pools, 0, work, &total, NULL, &r.fault),
        CPUBIND_ERR_UNKNOWN);
    assert_string_equal(r.fault.argument, "host.node");
    assert_int_equal(r.fault.index, 2);
    r.node[2] = 0;
    assert_int_equal(
        cpubind_measure(&r.host, &r.devices, pools, -1, work, &total, NULL, &r.fault),
        CPUBIND_ERR_ARG);
    assert_string_equal(r.fault.argument, "n_irq");
    assert_int_equal(
        cpubind_measure(&r.host, &r.devices, pools, 0, NULL, &total, NULL, &r.fault),
        CPUBIND_ERR_ARG);
    assert_string_equal(r.fault.argument, "work");
    assert_int_equal(cpubind_measure(&r.host, &r.devices, pools, 0, work, NULL, NULL, &r.fault),
                     CPUBIND_ERR_ARG);
    assert_string_equal(r.fault.argument, "out_total");
    row[1] = 5;
    assert_int_equal(
        cpubind_measure(&r.host, &r.devices, pools, 0, work, &total, NULL, &r.fault),
        CPUBIND_ERR_ARG);
    assert_string_equal(r.fault.argument, "pools.row");
    assert_int_equal(r.fault.index, 2);
    row[0] = row[1] = 1;
    assert_int_equal(
        cpubind_measure(&r.host, &r.devices, pools, 0, work, &total, NULL, &r.fault),
        CPUBIND_ERR_ARG);
    assert_int_equal(r.fault.index, 0);
    row[0] = 0;
    pools.cpu = NULL;
    assert_int_equal(
        cpubind_measure(&r.host, &r.devices, pools, 0, work, &total, NULL, &r.fault),
        CPUBIND_ERR_ARG);
    assert_string_equal(r.fault.argument, "pools.cpu");
    pools.n = 1;
    assert_int_equal(
        cpubind_measure(&r.host, &r.devices, pools, 0, work, &total, NULL, &r.fault),
        CPUBIND_ERR_ARG);
    assert_string_equal(r.fault.argument, "pools");
}

TEST_FILE(NULL, NULL)
