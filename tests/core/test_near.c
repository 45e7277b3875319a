/* test_near.c - NEAR, the roles by home and the figures of a plan, by worked examples
 * SPDX-License-Identifier: MIT
 *
 * A host is text, as in test_core.c: lists of CPUs separated by blanks, "-" is an empty one.
 * The laws over random hosts are in test_near_laws.c.
 */
#include <stdio.h>

#include "../../cpubind.h"
#include "../support/cmocka_test.h"
#include "../support/exact_buffer.h"
#include "../support/lists.h"

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

/* CPU c is on core c % n_core: the threads of a core are n_core apart, as on x86. */
static void number_cores(int32_t n_core)
{
    for (int32_t i = 0; i < r.host.n_cpu; i++)
        r.core[i] = r.cpu[i] % n_core;
    r.host.core = r.core;
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

/* Appends "0-3,8" and a blank; "- " without CPUs. */
static void write_list(const int32_t *cpu, int32_t n, char *text, size_t size)
{
    size_t len = strlen(text);
    if (n == 0)
        snprintf(text + len, size - len, "-");
    for (int32_t i = 0; i < n; i++) {
        int32_t first = cpu[i];
        while (i + 1 < n && cpu[i + 1] == cpu[i] + 1)
            i++;
        len = strlen(text);
        if (first == cpu[i])
            snprintf(text + len, size - len, "%d%s", first, i + 1 < n ? "," : "");
        else
            snprintf(text + len, size - len, "%d-%d%s", first, cpu[i], i + 1 < n ? "," : "");
    }
    len = strlen(text);
    snprintf(text + len, size - len, " ");
}

/* The pools of all devices in order, and then the idle CPUs. */
static void assert_pools(const char *expect)
{
    char text[4096] = "";
    int32_t idle[CPUS];
    int32_t n = 0;
    plan();
    assert_int_equal(r.status, CPUBIND_OK);
    for (int32_t d = 0; d < r.devices.affinity.n; d++)
        write_list(r.pool + r.pool_row[d], r.pool_row[d + 1] - r.pool_row[d], text,
                   sizeof text);
    for (int32_t i = 0; i < r.host.n_cpu; i++)
        if (r.owner[i] < 0)
            idle[n++] = r.cpu[i];
    write_list(idle, n, text, sizeof text);
    text[strlen(text) - 1] = '\0';
    assert_string_equal(text, expect);
}

/* The steps of the CPUs in order, a letter each: the first one of the word. */
static void assert_steps(const char *expect)
{
    char text[CPUS + 1] = "";
    for (int32_t i = 0; i < r.host.n_cpu; i++)
        text[i] = r.step[i] == CPUBIND_STEP_NEAREST
                      ? 'n'
                      : cpubind_step_word((cpubind_step)r.step[i])[0];
    assert_string_equal(text, expect);
}

/* == Hosts of the field ===================================================== */

/* Four sockets of two nodes: 10 on the node, 12 on the socket, more to other sockets. */
static const int32_t A2_DISTANCE[] = {
    10, 12, 20, 22, 24, 24, 24, 24, 12, 10, 22, 24, 24, 24, 24, 24, 20, 22, 10, 12, 22, 24,
    24, 24, 22, 24, 12, 10, 24, 22, 24, 24, 24, 24, 22, 24, 10, 12, 20, 22, 24, 24, 24, 22,
    12, 10, 22, 24, 24, 24, 24, 24, 20, 22, 10, 12, 24, 24, 24, 24, 22, 24, 12, 10};

/* Two NPUs near every second node, as published: they share it, and the other node of its
 * socket. Every NPU has twelve near CPUs; the reference gives some NPUs none. */
TEST(two_npus_of_an_a2_share_their_node_and_its_neighbour)
{
    open_host("0-23 24-47 48-71 72-95 96-119 120-143 144-167 168-191",
              "144-167 144-167 48-71 48-71 0-23 0-23 96-119 96-119");
    r.host.distance = A2_DISTANCE;
    assert_pools("144-155,168-179 156-167,180-191 48-59,72-83 60-71,84-95 0-11,24-35 "
                 "12-23,36-47 96-107,120-131 108-119,132-143 -");
}

/* The far node stays idle while the home is enough for all: memory would be far from it. */
TEST(eight_npus_on_one_node_leave_the_other_socket_alone)
{
    static const int32_t distance[] = {10, 20, 20, 10};
    open_host("0-47 48-95", "48-95 48-95 48-95 48-95 48-95 48-95 48-95 48-95");
    r.host.distance = distance;
    assert_pools("48-53 54-59 60-65 66-71 72-77 78-83 84-89 90-95 0-47");
    r.host.distance = NULL; /* then all nodes count as one socket */
    assert_pools("0-5,48-53 6-11,54-59 12-17,60-65 18-23,66-71 24-29,72-77 30-35,78-83 "
                 "36-41,84-89 42-47,90-95 -");
}

/* CPU c and c + 16 are one core. The runs of ids that the reference cuts split every core. */
TEST(threads_of_a_core_stay_together_whatever_their_numbers)
{
    static const int32_t socket[] = {0, 1};
    open_host("0-7,16-23 8-15,24-31", "0-7,16-23 0-7,16-23 8-15,24-31");
    number_cores(16);
    r.host.socket = socket;
    assert_pools("0-3,16-19 4-7,20-23 8-15,24-31 -");
    open_host("0-15 16-31", "0-15 0-15 0-15");
    pair_cores(2);
    r.host.socket = socket;
    assert_pools("0-5 6-11 12-17 18-31"); /* 16-17: four CPUs would be too few (N5) */
}

/* Sub-NUMA clustering: four nodes, two sockets. Each NPU has the other node of its socket. */
TEST(with_sub_numa_clustering_the_node_beside_the_home_is_near)
{
    static const int32_t distance[] = {10, 12, 21, 21, 12, 10, 21, 21,
                                       21, 21, 10, 12, 21, 21, 12, 10};
    open_host("0-7 8-15 16-23 24-31", "0-7 24-31");
    r.host.distance = distance;
    assert_pools("0-15 16-31 -");
    assert_steps("hhhhhhhhnnnnnnnnnnnnnnnnhhhhhhhh");
    open_host("0-7 8-15 16-23 24-31", "0-3 12-15 24-31"); /* homes are halves of a node */
    r.host.distance = distance;
    assert_pools("0-7 8-15 16-31 -");
}

/* An NPU whose affinity is not known, only its node (N3), and one of which nothing is known. */
TEST(a_device_with_a_node_alone_gets_that_node)
{
    static const int32_t node[] = {1, -1, 7};
    static const int32_t socket[] = {0, 0, 1};
    open_host("0-7 8-15 16-23", "- 0-7 -");
    r.devices.node = node;
    r.host.socket = socket;
    assert_pools("8-15 0-7 16-23 -"); /* no place is on the socket of node 2 */
    assert_steps("hhhhhhhhnnnnnnnnffffffff");
}

TEST(a_home_of_part_of_a_core_is_the_whole_core)
{
    open_host("0-7", "0,2 4-7");
    pair_cores(2);
    r.policy.roles = THREE;
    assert_pools("0-3 4-7 -");
}

TEST(overlapping_homes_even_out)
{
    open_host("0-11", "0-11 0-3");
    r.policy.roles = THREE;
    assert_pools("4-11 0-3 -"); /* 0-3 may go to both: all of them to the poorer one */
    open_host("0-11", "0-11 0-7");
    r.policy.roles = THREE;
    plan();
    assert_int_equal(r.pool_row[1], 6);
    assert_int_equal(r.pool_row[2], 12);
}

/* == Free cores ============================================================= */

/* Takes the allowed CPUs outside of [first, last] away. */
static void allow(int32_t first, int32_t last)
{
    int32_t n = 0;
    for (int32_t i = 0; i < r.host.n_cpu; i++) {
        if (r.cpu[i] < first || r.cpu[i] > last)
            continue;
        r.node[n] = r.node[i];
        r.core[n] = r.core[i];
        r.cpu[n++] = r.cpu[i];
    }
    r.host.n_cpu = n;
}

/* The NPUs of nodes 0 and 1 have no allowed CPU on their socket: they share what nobody claims,
 * evenly, the nearest node first, and the NPUs of the other socket keep theirs. */
TEST(displaced_devices_share_what_nobody_claims)
{
    static const int32_t node[] = {0, 1, 4, 7};
    open_host("0-23 24-47 48-71 72-95 96-119 120-143 144-167 168-191",
              "0-23 24-47 96-119 168-191");
    r.host.distance = A2_DISTANCE;
    r.devices.node = node;
    allow(48, 191);
    assert_pools("48-71 72-95 96-143 144-191 -");
    assert_int_equal(r.step[0], CPUBIND_STEP_FREE);
    allow(60, 191); /* twelve of the 36 free CPUs are on node 2, which is nearer to both */
    assert_pools("60-77 78-95 96-143 144-191 -");
    open_host("0-31 32-63 64-95 96-127 128-159 160-191 192-223 224-255", "0-31");
    r.host.distance = A2_DISTANCE;
    r.devices.node = node;
    allow(60, 148); /* of its socket CPUs 60-63 alone: half of an even share is beyond them */
    assert_pools("60-71 72-148");
    allow(64, 148);
    assert_pools("64-148 -");
}

/* Eight NPUs at two nodes of 12 CPUs: an even share is 12, and half of it is 6. */
TEST(a_pool_below_the_floor_takes_free_cores)
{
    open_host("0-11 12-23 24-35 36-47 48-59 60-71 72-83 84-95",
              "0-11 0-11 0-11 12-23 12-23 72-83 72-83 84-95");
    r.host.distance = A2_DISTANCE;
    assert_pools("0-3,24-25 4-7,26-27 8-11,28-29 12-17 18-23 72-77 78-83 84-95 30-71");
    r.policy.roles =
        THREE; /* the floor is 6, not 10: it is never above half of an even share */
    assert_pools("0-3,24-25 4-7,26-27 8-11,28-29 12-17 18-23 72-77 78-83 84-95 30-71");
}

/* Cores 0-5 have two allowed CPUs, cores 6-11 one: five of two are 10 CPUs, the others 8. By
 * numbers of cores alone it would be 12 and 6. */
TEST(cores_of_two_sizes_even_out)
{
    open_host("0-23", "0-23 0-23");
    number_cores(12);
    allow(0, 17);
    r.policy.roles = THREE;
    assert_pools("0-4,12-16 5-11,17 -");
}

/* == Tight hosts ============================================================ */

/* N5: socket 1 is idle and far; a pool takes from it what it lacks, and no more. */
TEST(a_pool_below_its_minimum_takes_idle_cores_of_the_nearest_node)
{
    static const int32_t distance[] = {10, 40, 30, 40, 10, 20, 30, 20, 10};
    open_host("0-3 4-7 8-11", "0-3 0-3");
    r.host.distance = distance;
    r.policy.roles = THREE;
    assert_pools("0-1,8 2-3,9 4-7,10-11");
    assert_steps("hhhhiiiimmii");
    r.policy.roles = FIVE;
    assert_pools("0-1,8-10 2-5,11 6-7");
}

/* N7: NPU 1 can spare cores. Those in nobody's home go first, then those of its home. */
TEST(a_pool_below_its_minimum_is_lent_cores)
{
    static const int32_t socket[] = {0, 1};
    open_host("0 1-8", "0 1-4");
    r.host.socket = socket;
    r.policy.roles = THREE;
    plan();
    assert_int_equal(r.status, CPUBIND_OK);
    assert_int_equal(r.pool_row[1], 3);
    assert_steps("hhhhhnnll");
    open_host("0 1-8", "0 1-8");
    r.host.socket = socket;
    r.policy.roles = THREE;
    assert_pools("0,7-8 1-6 -");
    assert_steps("hhhhhhhll");
}

/* N8: two NPUs share three cores of four threads. Neither can give a core away. */
TEST(a_core_is_split_where_a_pool_would_be_too_small_else)
{
    open_host("0-11", "0-11 0-11");
    pair_cores(4);
    assert_pools("0-6 7-11 -");
    assert_steps("hhhhhhhlhhhh");
    r.policy.roles = THREE;
    assert_pools("0-7 8-11 -");
}

TEST(devices_are_refused_only_when_the_cpus_do_not_suffice_for_all)
{
    open_host("0-8", "0-8 0-8");
    plan();
    assert_int_equal(r.status, CPUBIND_ERR_TOO_FEW);
    assert_int_equal(r.fault.device, 1);
    assert_int_equal(r.fault.need, 5);
    assert_int_equal(r.fault.have, 4);
    r.plan.want = r.cpu; /* device 0 alone */
    r.plan.n_want = 1;
    plan();
    assert_int_equal(r.status, CPUBIND_OK);
    assert_int_equal(r.plan.n_cpu, 5);
}

/* == Slices ================================================================= */

TEST(without_any_place_cores_are_cut_into_slices_by_slot)
{
    static const int32_t slot[] = {2, 0};
    open_host("0-5,8-13 6-7,14-15", "- -");
    number_cores(8);
    r.policy.roles = THREE;
    assert_pools("0-3,8-11 4-7,12-15 -");
    assert_int_equal(r.plan.strategy, CPUBIND_GLOBAL_SLICE);
    r.devices.slot = slot;
    r.devices.total = 3;
    assert_pools("6-7,14-15 0-2,8-10 3-5,11-13"); /* 8 cores: slices of 3, 3 and 2 */
    assert_int_equal(r.step[3], CPUBIND_STEP_SLICE);
    r.policy.roles = FIVE; /* four CPUs are too few: all CPUs are cut */
    assert_pools("11-15 0-5 6-10");
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

/* The roles of a process: "irq main acl release". */
static void assert_roles(const char *pool, int32_t device, int32_t is_near, int32_t n_process,
                         int32_t process, const char *expect)
{
    int32_t cpu[CPUS], out[CPUS], work[CPUBIND_PLACE_WORK(CPUS)];
    const char *at = pool;
    char text[1024] = "";
    cpubind_placing p = {.cpu = cpu, .device = device, .is_near = is_near};
    p.n_cpu = lists_read(&at, cpu);
    p.roles = r.policy.roles;
    p.n_process = n_process;
    p.process = process;
    p.out_cpu = out;
    p.work = work;
    p.cap_work = CPUBIND_PLACE_WORK(p.n_cpu);
    assert_int_equal(cpubind_place_roles(&r.host, &r.devices, &p, &r.fault), CPUBIND_OK);
    for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++)
        write_list(out + p.out_roles.span[role].first, p.out_roles.span[role].count, text,
                   sizeof text);
    text[strlen(text) - 1] = '\0';
    assert_string_equal(text, expect);
}

TEST(irq_on_one_core_and_acl_and_release_on_two)
{
    open_host("0-7,16-23 8-15,24-31", "0-7,16-23 8-15,24-31");
    number_cores(16);
    assert_roles("0-3,16-19", 0, 1, 1, 0, "0,16 1-3,17 18 19");
    assert_roles("0-3,16-19", 0, 0, 1, 0, "0-1 2-3,16-17 18 19");
    assert_roles("0-5,16-21", 0, 1, 1, 0, "0,16 1-5,17-19 20 21");
    pair_cores(2);
    assert_roles("0-7", 0, 1, 1, 0, "0-1 2-4,6 5 7");
    assert_roles("4-8", 0, 1, 0, 0, "4-5 6 8 7"); /* 8 is far, and not on the core of 7 */
}

TEST(acl_and_release_have_cores_to_themselves_while_main_keeps_eight)
{
    open_host("0-15 16-31", "0-15 16-31");
    pair_cores(2);
    assert_roles("0-13", 0, 1, 1, 0, "0-1 2-9 10-11 12-13");     /* main keeps 8 */
    assert_roles("0-12", 0, 1, 1, 0, "0-1 2-9 10-11 12");        /* 12 is alone on its core */
    assert_roles("0-11", 0, 1, 1, 0, "0-1 2-8,10 9 11");         /* it would keep 7 */
    assert_roles("0-11,16", 0, 1, 1, 0, "0-1 2-7,10,16 8-9 11"); /* ACL before release */
    assert_roles("0-15,16-31", 0, 1, 2, 0, "0-1 2-5,24-31 6-7 8-9");
    assert_roles("0-13", 0, 0, 1, 0, "0-1 2-11 12 13"); /* by id: as the reference */
}

/* The CPUs near the NPU have higher ids here: they come first all the same. */
TEST(roles_are_near_the_npu_whatever_the_ids)
{
    open_host("0-7 8-15", "8-15 -");
    assert_roles("0-3,8-13", 0, 1, 1, 0, "8-9 0-3,10-11 12 13");
    assert_roles("0-3,8-10", 0, 1, 1, 0, "8-9 0-2 3 10"); /* ACL: a core of its own */
    assert_roles("0-4,8", 0, 1, 1, 0, "0,8 1-2 3 4");
    assert_roles("0-3,8-13", 0, 0, 1, 0, "0-1 2-3,8-11 12 13");
    assert_roles("0-3,8-13", 1, 1, 1, 0, "0-1 2-3,8-11 12 13"); /* no place */
}

TEST(processes_of_an_npu_share_its_irq_cpus_and_nothing_else)
{
    open_host("0-15 16-31", "0-15 16-31");
    pair_cores(2);
    assert_roles("0-13", 0, 1, 2, 0, "0-1 2-4,6 5 7");
    assert_roles("0-13", 0, 1, 2, 1, "0-1 8-10,12 11 13");
    assert_roles("0-13", 0, 1, 3, 0, "0-1 2,4 3 5");
    assert_roles("0-13", 0, 1, 3, 1, "0-1 6,8 7 9");
    assert_roles("0-13", 0, 1, 3, 2, "0-1 10,12 11 13");
    /* of each part half is far; ACL has a far core rather than the one of RELEASE */
    assert_roles("0-5,16-19", 0, 1, 2, 0, "0-1 2,18 19 3");
    assert_roles("0-13", 0, 0, 2, 1, "0-1 8-11 12 13");
}

TEST(a_pool_too_small_for_its_processes_is_refused)
{
    int32_t cpu[] = {0, 1, 2, 3, 4, 5, 6, 9};
    int32_t out[8], work[CPUBIND_PLACE_WORK(8)];
    cpubind_placing p = {.cpu = cpu,
                         .n_cpu = 7,
                         .is_near = 1,
                         .roles = FIVE,
                         .n_process = 2,
                         .out_cpu = out,
                         .work = work,
                         .cap_work = CPUBIND_PLACE_WORK(7)};
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
    int32_t out[8], work[CPUBIND_PLACE_WORK(8)];
    const cpubind_placing good = {.cpu = cpu,
                                  .n_cpu = 8,
                                  .is_near = 1,
                                  .roles = FIVE,
                                  .n_process = 2,
                                  .process = 1,
                                  .out_cpu = out,
                                  .work = work,
                                  .cap_work = CPUBIND_PLACE_WORK(8)};
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

TEST(a_slot_past_the_total_is_unknown_and_two_on_one_slot_are_refused)
{
    static const int32_t slot[] = {1, 1, 2};
    static const int32_t second = 1;
    open_host("0-11", "- - -");
    pair_cores(2);
    r.policy.roles = THREE;
    r.devices.slot = slot;
    plan();
    assert_int_equal(r.status, CPUBIND_ERR_OVERLAP);
    assert_int_equal(r.fault.device, 1);
    assert_int_equal(r.fault.other, 0);
    assert_int_equal(r.fault.cpu, -1);
    r.plan.want = &second; /* alone it has the slice */
    r.plan.n_want = 1;
    assert_int_equal(cpubind_make_plan(&r.host, &r.devices, &r.policy, &r.plan, NULL),
                     CPUBIND_OK);
    assert_int_equal(r.plan.n_cpu, 4);
    assert_int_equal(r.pool[0], 4);
    assert_int_equal(r.plan.n_checked, 3);
    r.devices.total = 2;
    r.plan.want = NULL;
    r.plan.n_want = 0;
    plan();
    assert_int_equal(r.status, CPUBIND_ERR_UNKNOWN);
    assert_int_equal(r.fault.device, 2);
    assert_int_equal(r.fault.need, 0);
    assert_int_equal(r.fault.have, 0);
}

int main(void)
{
    return run_registered("near", NULL, NULL);
}
