/* test_plan_rules.c - the rules near, kept CPUs, several processes an NPU, roles and quality
 * SPDX-License-Identifier: MIT
 *
 * The pools themselves are those of the core, which tests/core checks. Here: what the core is
 * given for a host, and what the plan says of its answer.
 */
#include "fixtures.h"
#include "planned.h"

#define PCI     "sys/bus/pci/devices/0000:"
#define NODE    "sys/devices/system/node/node"
#define MAP     "cmd/npu-smi-info-m.txt"
#define TOPO    "cmd/npu-smi-info-t-topo.txt"
#define INFO    "cmd/npu-smi-info.txt"
#define STATUS  "proc/self/status"
#define MAX_ROW 64

static const int32_t all_roles[] = {2, 1, 1, 1};

/* Two sockets, each of two nodes of 8 CPUs. NPU 0 and NPU 1 are near node 2, and no NPU is near
 * another node. */
static memory_host two_on_one_node(void)
{
    memory_host h;
    memset(&h, 0, sizeof h);
    set(&h, STATUS, "Cpus_allowed_list:\t0-31\n");
    set(&h, "sys/devices/system/cpu/online", "0-31\n");
    set(&h, "sys/devices/system/node/", "node0\nnode1\nnode2\nnode3\n");
    set(&h, NODE "0/cpulist", "0-7\n");
    set(&h, NODE "1/cpulist", "8-15\n");
    set(&h, NODE "2/cpulist", "16-23\n");
    set(&h, NODE "3/cpulist", "24-31\n");
    set(&h, MAP,
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
        "\t1        0         0               Ascend 910B4\n"
        "\t2        0         1               Ascend 910B4\n");
    set(&h, TOPO,
        "\t   NPU1       NPU2       CPU Affinity\n"
        "NPU1       X          HCCS       16-23\n"
        "NPU2       HCCS       X          16-23\n");
    set(&h, INFO,
        "| NPU   Name                | Health        | Power(W)    Temp(C)                |\n"
        "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)       |\n"
        "| 1     910B4               | OK            | 90.5        44                     |\n"
        "| 0                         | 0000:01:00.0  | 0           0    / 0               |\n"
        "| 2     910B4               | OK            | 90.5        44                     |\n"
        "| 0                         | 0000:02:00.0  | 0           0    / 0               |\n");
    set(&h, "sys/bus/pci/devices/", "0000:01:00.0\n0000:02:00.0\n");
    set(&h, PCI "01:00.0/vendor", "0x19e5\n");
    set(&h, PCI "01:00.0/device", "0xd802\n");
    set(&h, PCI "01:00.0/numa_node", "2\n");
    set(&h, PCI "01:00.0/local_cpulist", "16-23\n");
    set(&h, PCI "02:00.0/vendor", "0x19e5\n");
    set(&h, PCI "02:00.0/device", "0xd802\n");
    set(&h, PCI "02:00.0/numa_node", "2\n");
    set(&h, PCI "02:00.0/local_cpulist", "16-23\n");
    return h;
}

static cpubind_request ask_near(void)
{
    cpubind_request request = ask_nothing();
    request.rules = CPUBIND_RULES_NEAR;
    request.has_rules = 1;
    return request;
}

/* Moves the home of NPU 0. */
static void move_home(memory_host *h, const char *node, const char *list, const char *topo)
{
    set(h, PCI "01:00.0/numa_node", node);
    set(h, PCI "01:00.0/local_cpulist", list);
    set(h, TOPO, topo);
}

static attempt planned(memory_host *h, const cpubind_request *request)
{
    attempt a;
    h->seen[0] = '\0';
    a = try(h, request);
    if (a.code != CPUBIND_PROBLEM_NONE)
        fail_msg("%s: %s", cpubind_problem_word(a.code), a.problem.what);
    return a;
}

static int32_t pool_size(const attempt *a, int32_t row)
{
    return a->plan.core.row[row + 1] - a->plan.core.row[row];
}

static int has_cpu(const int32_t *cpu, int32_t n, int32_t id)
{
    for (int32_t i = 0; i < n; i++)
        if (cpu[i] == id)
            return 1;
    return 0;
}

static int pool_has(const attempt *a, int32_t row, int32_t id)
{
    return has_cpu(a->plan.core.cpu + a->plan.core.row[row], pool_size(a, row), id);
}

/* The CPUs of a role of a row. */
static const int32_t *role_of(const attempt *a, int32_t row, cpubind_role role, int32_t *n)
{
    const cpubind_span span = a->plan.role_span[row].span[role];
    *n = span.count;
    return a->plan.role_cpu + a->plan.role_row[row] + span.first;
}

/* The roles tile the part of the row, and its CPUs are those of the pool. */
static void expect_roles(const attempt *a, int32_t row)
{
    const int32_t n = a->plan.role_row[row + 1] - a->plan.role_row[row];
    int32_t end = 0;
    for (int role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        const cpubind_span span = a->plan.role_span[row].span[role];
        assert_int_equal(span.first, end);
        assert_true(span.count >= all_roles[role]);
        end += span.count;
    }
    assert_int_equal(end, n);
    for (int32_t i = 0; i < n; i++)
        assert_true(pool_has(a, row, a->plan.role_cpu[a->plan.role_row[row] + i]));
}

/* == Which rules ============================================================ */

TEST(the_rules_are_those_of_the_request_then_of_the_environment)
{
    static const struct {
        const char *env;
        int32_t has_rules;
        cpubind_rules asked, rules;
    } cases[] = {
        {NULL, 0, CPUBIND_RULES_NEAR, CPUBIND_RULES_NEAR},
        {NULL, 0, CPUBIND_RULES_REFERENCE, CPUBIND_RULES_NEAR},
        {NULL, 1, CPUBIND_RULES_NEAR, CPUBIND_RULES_NEAR},
        {NULL, 1, CPUBIND_RULES_REFERENCE, CPUBIND_RULES_REFERENCE},
        {"A=b\nCPUBIND_RULES=near\n", 0, CPUBIND_RULES_REFERENCE, CPUBIND_RULES_NEAR},
        {"CPUBIND_RULES=reference\n", 0, CPUBIND_RULES_NEAR, CPUBIND_RULES_REFERENCE},
        {"CPUBIND_RULES=\n", 0, CPUBIND_RULES_REFERENCE, CPUBIND_RULES_NEAR},
        {"CPUBIND_RULES=near\n", 1, CPUBIND_RULES_REFERENCE, CPUBIND_RULES_REFERENCE},
        {"CPUBIND_RULES=damaged\n", 1, CPUBIND_RULES_NEAR, CPUBIND_RULES_NEAR},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        host = two_on_one_node();
        ask = ask_nothing();
        if (cases[i].env)
            put("env", cases[i].env);
        ask.has_rules = cases[i].has_rules;
        ask.rules = cases[i].asked;
        plan();
        assert_int_equal(got.facts.rules, cases[i].rules);
        assert_int_equal(got.plan.rules, cases[i].rules);
        assert_int_equal(got.plan.core.strategy, cases[i].rules == CPUBIND_RULES_NEAR
                                                     ? CPUBIND_NEAR
                                                     : CPUBIND_TOPO_AFFINITY);
    }
}

TEST(a_word_that_is_no_rule_is_refused_with_its_place)
{
    static const char *const words[] = {"nearest", "NEAR", " near", "near ", "0"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        host = two_on_one_node();
        ask = ask_nothing();
        char env[64];
        (void)snprintf(env, sizeof env, "A=b\nCPUBIND_RULES=%s\n", words[i]);
        put("env", env);
        refuse_input(CPUBIND_PROBLEM_UNREADABLE, "env");
        assert_int_equal(got.problem.offset, strlen("A=b\nCPUBIND_RULES="));
        assert_string_equal(got.problem.what, "CPUBIND_RULES is neither reference nor near");
    }
}

TEST(an_environment_that_cannot_be_read_is_a_problem)
{
    ask = ask_nothing();
    ask.scope = CPUBIND_SCOPE_CPUSET;
    ask.visible = "0";
    ask.visible_len = 1;
    fail_input("env", CPUBIND_INPUT_FAILED);
    refuse(CPUBIND_PROBLEM_UNREADABLE);
    ask.has_rules = 1;
    plan();
}

TEST(near_goes_with_no_strategy_but_that_of_homes)
{
    ask_strategy(CPUBIND_TOPO_AFFINITY);
    plan();
    assert_int_equal(got.plan.core.strategy, CPUBIND_NEAR);
    ask.strategy = CPUBIND_GLOBAL_SLICE;
    refuse(CPUBIND_PROBLEM_BAD_REQUEST);
    ask.strategy = CPUBIND_CLUSTER;
    refuse(CPUBIND_PROBLEM_BAD_REQUEST);
    ask.has_rules = 0;
    refuse(CPUBIND_PROBLEM_BAD_REQUEST);
    put("env", "CPUBIND_RULES=reference\n");
    refuse(CPUBIND_PROBLEM_SKIPPED);
}

/* Failed is not absent: other processes of the host may know the distances. */
TEST(near_is_refused_when_cores_or_distances_cannot_be_read)
{
    static const char *const inputs[] = {
        NODE "0/distance", "sys/devices/system/cpu/cpu0/topology/thread_siblings_list"};
    static const int32_t kept[] = {3};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        host = two_on_one_node();
        ask = ask_near();
        fail_input(inputs[i], CPUBIND_INPUT_FAILED);
        refuse(CPUBIND_PROBLEM_UNREADABLE);
        ask.rules = CPUBIND_RULES_REFERENCE;
        plan();
        ask.keep = kept;
        ask.n_keep = 1;
        refuse(CPUBIND_PROBLEM_UNREADABLE);
    }
}

/* == Near on each product =================================================== */

/* Both pools are in the socket of the home, and each has a half of it. */
TEST(an_a2_is_planned_by_home)
{
    put(NODE "0/distance", "10 12 32 32\n");
    put(NODE "1/distance", "12 10 32 32\n");
    put(NODE "2/distance", "32 32 10 12\n");
    put(NODE "3/distance", "32 32 12 10\n");
    plan();
    assert_int_equal(got.facts.strategy, CPUBIND_NEAR);
    assert_int_equal(got.plan.quality.n_pool, 2);
    for (int32_t row = 0; row < 2; row++) {
        expect_roles(&got, row);
        assert_int_equal(got.plan.memory_node[row], 2);
        assert_int_equal(got.plan.row_quality[row].near_cpu, 4);
        assert_int_equal(got.plan.row_quality[row].irq_off_node, 0);
    }
    assert_int_equal(got.plan.quality.near_cpu, 8);
    assert_int_equal(got.plan.devices.node[0], 2);
}

#define A3_MAP                                                                                 \
    "\tNPU ID   Chip ID   Chip Phy-ID   Chip Logic ID   Chip Name\n"                           \
    "\t1        0         0             0               Ascend910\n"                           \
    "\t2        0         1             1               Ascend910\n"

/* An A3 is cut by slots; by the rules near it is planned by home where homes are known. */
TEST(an_a3_is_planned_by_home_when_the_kernel_knows_it)
{
    ask = ask_reference();
    ask.type = CPUBIND_TYPE_A3;
    put(MAP, A3_MAP);
    put(PCI "01:00.0/device", "0xd803\n");
    put(PCI "02:00.0/device", "0xd803\n");
    move_home(&host, "3\n", "24-31\n", "This device does not support querying topo.\n");
    plan();
    assert_int_equal(got.plan.core.strategy, CPUBIND_GLOBAL_SLICE);
    expect_pools("0-15");
    assert_int_equal(got.plan.row_quality[0].near_cpu, 0);
    assert_int_equal(got.plan.row_quality[1].near_cpu, 8);
    expect_warning(CPUBIND_WARNING_POOR_LOCALITY);
    assert_int_equal(got.plan.n_poor, 1);
    assert_int_equal(got.plan.poor[0], 0);
    host.failing = PCI "01:00.0/numa_node"; /* slices are cut without it */
    host.state = CPUBIND_INPUT_FAILED;
    plan_pools("0-15");
    assert_int_equal(got.plan.devices.node[0], -1);
    expect_no_warning(CPUBIND_WARNING_POOR_LOCALITY);
    host.failing = NULL;
    ask.rules = CPUBIND_RULES_NEAR;
    ask.has_rules = 1;
    plan();
    assert_int_equal(got.plan.core.strategy, CPUBIND_NEAR);
    assert_true(pool_has(&got, 0, 24) && pool_has(&got, 0, 31));
    assert_true(pool_has(&got, 1, 16) && pool_has(&got, 1, 23));
    assert_int_equal(got.plan.memory_node[0], 3);
    assert_int_equal(got.plan.memory_node[1], 2);
    expect_no_warning(CPUBIND_WARNING_NO_AFFINITY);
    host.failing = PCI "01:00.0/numa_node"; /* failed is not absent */
    host.state = CPUBIND_INPUT_FAILED;
    refuse(CPUBIND_PROBLEM_UNREADABLE);
}

/* Without homes the rules near cut whole cores by slot. */
TEST(an_a3_without_homes_is_cut_by_phy_id)
{
    ask.type = CPUBIND_TYPE_A3;
    put(MAP, A3_MAP);
    put(TOPO, "This device does not support querying topo.\n");
    for (int i = 0; i < 2; i++) {
        lose(i ? PCI "01:00.0/numa_node" : PCI "02:00.0/numa_node");
        lose(i ? PCI "01:00.0/local_cpulist" : PCI "02:00.0/local_cpulist");
        put(i ? PCI "01:00.0/device" : PCI "02:00.0/device", "0xd803\n");
    }
    plan();
    assert_int_equal(got.facts.strategy, CPUBIND_GLOBAL_SLICE);
    assert_int_equal(got.plan.rules, CPUBIND_RULES_NEAR);
    expect_warning(CPUBIND_WARNING_NO_AFFINITY);
    expect_pools("0-15 16-31");
    expect_roles(&got, 0);
    assert_int_equal(got.plan.memory_node[1], 2); /* of two nodes with as many CPUs the first */
}

TEST(a_950_is_cut_in_clusters_by_either_rules)
{
    ask.type = CPUBIND_TYPE_950;
    put("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n");
    put(PCI "01:00.0/device", "0xd806\n");
    put(PCI "02:00.0/device", "0xd806\n");
    move_home(&host, "3\n", "24-31\n",
              "\t   NPU1       NPU2       CPU Affinity\n"
              "NPU1       X          HCCS       24-31\n"
              "NPU2       HCCS       X          16-23\n");
    for (int i = 0; i < 2; i++) {
        plan();
        assert_int_equal(got.plan.core.strategy, CPUBIND_CLUSTER);
        expect_pools("24-31 16-23");
        assert_int_equal(got.plan.quality.near_cpu, 16);
        assert_int_equal(got.plan.quality.irq_off_node, 0);
        ask.rules = CPUBIND_RULES_REFERENCE;
    }
}

/* == Scope ================================================================== */

TEST(near_uses_cpus_of_other_nodes_where_no_near_cpu_is_allowed)
{
    ask = ask_reference();
    put(STATUS, "Cpus_allowed_list:\t0-11\n");
    refuse(CPUBIND_PROBLEM_NO_LOCAL_CPUS);
    ask = ask_near();
    plan();
    assert_int_equal(got.plan.devices.node[0], 2); /* where its CPUs would be */
    assert_int_equal(pool_size(&got, 0) + pool_size(&got, 1), 12);
    assert_int_equal(got.plan.row_quality[0].near_cpu, 0);
}

TEST(a_refusal_by_near_has_both_numbers)
{
    static const int32_t both[] = {0, 1};
    put(STATUS, "Cpus_allowed_list:\t16-24\n");
    plan(); /* an idle NPU without CPUs is no reason to refuse */
    assert_int_equal(got.plan.n_want, 1);
    assert_int_equal(got.plan.n_poolless, 1);
    assert_int_equal(got.plan.quality.n_pool, 1);
    ask_npus(both, 2);
    refuse(CPUBIND_PROBLEM_TOO_FEW_CPUS);
    assert_int_equal(got.problem.need, 5);
    assert_int_equal(got.problem.have, 4);
}

TEST(near_with_scope_host_cuts_pools_of_the_host)
{
    memory_host h = two_on_one_node();
    cpubind_request request = ask_near();
    attempt whole = planned(&h, &request), a;
    request.scope = CPUBIND_SCOPE_HOST;
    set(&h, STATUS, "Cpus_allowed_list:\t4-29\n");
    a = planned(&h, &request);
    for (int32_t row = 0; row < 2; row++) {
        for (int32_t cpu = 0; cpu < 32; cpu++)
            assert_int_equal(pool_has(&a, row, cpu),
                             pool_has(&whole, row, cpu) && cpu >= 4 && cpu <= 29);
        expect_roles(&a, row);
    }
    drop(&a);
    drop(&whole);
    h.seen[0] = '\0';
    set(&h, STATUS, "Cpus_allowed_list:\t0-3\n");
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_TOO_FEW_CPUS);
    assert_true(a.problem.uncut > a.problem.have && a.problem.have < a.problem.need);
    drop(&a);
}

/* == Kept CPUs ============================================================== */

static void expect_kept(memory_host *h, const cpubind_request *request, const int32_t *cpu,
                        int32_t n)
{
    for (int rules = 0; rules < CPUBIND_RULES_COUNT; rules++)
        for (int scope = 0; scope < CPUBIND_SCOPE_COUNT; scope++) {
            cpubind_request asked = *request;
            attempt a;
            asked.has_rules = 1;
            asked.rules = (cpubind_rules)rules;
            asked.scope = (cpubind_scope)scope;
            a = planned(h, &asked);
            assert_int_equal(a.plan.n_kept, n);
            assert_memory_equal(a.plan.kept, cpu, (size_t)n * sizeof *cpu);
            for (int32_t row = 0; row < a.plan.n_want; row++)
                for (int32_t i = 0; i < n; i++)
                    assert_false(pool_has(&a, row, cpu[i]));
            drop(&a);
        }
}

TEST(kept_cpus_are_the_lowest_of_each_node)
{
    static const int32_t kept[] = {0, 1, 8, 9, 16, 17, 24, 25};
    ask = ask_reference();
    ask.keep_each = 2;
    expect_kept(&host, &ask, kept, 8);
    put(STATUS, "Cpus_allowed_list:\t1-31\n"); /* the same in every cpuset */
    expect_kept(&host, &ask, kept, 8);
    plan();
    assert_int_equal(got.plan.n_idle, 12); /* 2-7 and 10-15; 1, 8 and 9 are kept */
    ask.keep_each = 8;
    refuse(CPUBIND_PROBLEM_TOO_FEW_CPUS);
}

TEST(kept_cpus_of_a_list_need_not_be_allowed_or_online)
{
    static const int32_t asked[] = {3, 16, 31, 32, 65535}, kept[] = {3, 16, 31};
    ask = ask_nothing();
    ask.keep = asked;
    ask.n_keep = 5;
    expect_kept(&host, &ask, kept, 3);
    put(STATUS, "Cpus_allowed_list:\t4-31\n");
    expect_kept(&host, &ask, kept, 3);
}

/* Facts with cores of two CPUs, whose numbers are next to each other or half the host apart. */
TEST(kept_cpus_are_whole_cores)
{
    static const struct {
        int32_t distance, keep_each, asked, n;
        int32_t kept[16];
    } cases[] = {
        {1, 1, -1, 8, {0, 1, 8, 9, 16, 17, 24, 25}},
        {1, 3, -1, 16, {0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27}},
        {4, 1, -1, 8, {0, 4, 8, 12, 16, 20, 24, 28}},
        {4, 0, 7, 2, {3, 7}},
        {1, 0, 7, 2, {6, 7}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        host = two_on_one_node();
        ask = ask_near();
        cpubind_source source = {&host, read_input, list_inputs};
        int32_t core_of[32];
        (void)drop_plan(NULL);
        got.arena.size = (size_t)1 << 20;
        got.arena.base = (char *)malloc(got.arena.size);
        assert_non_null(got.arena.base);
        for (int32_t cpu = 0; cpu < 32; cpu++)
            core_of[cpu] = cases[i].distance == 1 ? cpu & ~1 : cpu & ~4;
        ask.keep_each = cases[i].keep_each;
        ask.keep = cases[i].asked < 0 ? NULL : &cases[i].asked;
        ask.n_keep = cases[i].asked >= 0;
        got.code = cpubind_facts_read(&source, &ask, &got.arena, &got.facts, &got.problem);
        assert_int_equal(got.code, CPUBIND_PROBLEM_NONE);
        got.facts.core_of = core_of;
        got.code =
            cpubind_ascend_make_plan(&got.facts, &ask, &got.arena, &got.plan, &got.problem);
        assert_int_equal(got.code, CPUBIND_PROBLEM_NONE);
        assert_int_equal(got.plan.n_kept, cases[i].n);
        assert_memory_equal(got.plan.kept, cases[i].kept,
                            (size_t)cases[i].n * sizeof *cases[i].kept);
        assert_int_equal(got.plan.quality.split_cores, 0);
        for (int32_t k = 0; k < got.plan.host.n_cpu; k++)
            assert_int_equal(got.plan.host.core[k], core_of[got.plan.host.cpu[k]]);
    }
}

TEST(every_cpu_may_be_kept)
{
    static const int32_t asked[] = {16, 17, 18, 19, 20, 21, 22, 23};
    put(STATUS, "Cpus_allowed_list:\t16-23\n");
    ask.scope = CPUBIND_SCOPE_OWN;
    ask.keep = asked;
    ask.n_keep = 8;
    refuse(CPUBIND_PROBLEM_TOO_FEW_CPUS);
    assert_string_equal(got.problem.what, "every allowed CPU is kept for the host");
}

/* == Several processes ====================================================== */

/* The processes of an NPU share its interrupts, and no other CPU. */
TEST(processes_of_one_npu_share_interrupts_alone)
{
    for (int rules = 0; rules < CPUBIND_RULES_COUNT; rules++) {
        memory_host h = two_on_one_node();
        cpubind_request request = ask_near();
        attempt a[2], one;
        request.rules = (cpubind_rules)rules;
        one = planned(&h, &request);
        request.n_process = 2;
        for (request.process = 0; request.process < 2; request.process++)
            a[request.process] = planned(&h, &request);
        for (int32_t row = 0; row < 2; row++) {
            int32_t count[32] = {0}, n_irq, n_part = 0;
            assert_int_equal(pool_size(&a[0], row), pool_size(&one, row));
            for (int32_t i = 0; i < 2; i++) {
                const int32_t n = a[i].plan.role_row[row + 1] - a[i].plan.role_row[row];
                expect_roles(&a[i], row);
                n_part += n;
                for (int32_t k = 0; k < n; k++)
                    count[a[i].plan.role_cpu[a[i].plan.role_row[row] + k]]++;
            }
            (void)role_of(&a[0], row, CPUBIND_ROLE_IRQ, &n_irq);
            assert_int_equal(n_irq, 2);
            assert_int_equal(n_part, pool_size(&one, row) + n_irq);
            for (int32_t cpu = 0; cpu < 32; cpu++) {
                const int32_t *irq = role_of(&a[0], row, CPUBIND_ROLE_IRQ, &n_irq);
                const int is_irq = has_cpu(irq, n_irq, cpu);
                assert_int_equal(count[cpu], !pool_has(&one, row, cpu) ? 0 : is_irq ? 2 : 1);
            }
        }
        for (int32_t i = 0; i < 2; i++)
            drop(&a[i]);
        drop(&one);
    }
}

TEST(a_pool_must_hold_the_roles_of_every_process)
{
    ask.n_process = 11; /* 2 for interrupts, 3 for each */
    refuse(CPUBIND_PROBLEM_TOO_FEW_CPUS);
    assert_int_equal(got.problem.need, 35);
    assert_int_equal(got.problem.have, 16);
    ask.n_process = 5; /* 17 each: of 32 CPUs only one NPU can have them */
    plan();
    assert_int_equal(got.plan.n_want, 1);
    assert_int_equal(got.plan.n_poolless, 1);
    assert_int_equal(got.plan.poolless[0].problem.need, 17);
    assert_int_equal(got.plan.poolless[0].problem.have, 15);
    ask.n_process = 4;
    plan();
    expect_roles(&got, 0);
}

/* == Roles, memory, quality ================================================= */

TEST(the_reference_gives_memory_to_the_node_of_the_first_cpu)
{
    ask = ask_reference();
    move_home(&host, "3\n", "24-31\n",
              "\t   NPU1       NPU2       CPU Affinity\n"
              "NPU1       X          HCCS       24-31\n"
              "NPU2       HCCS       X          16-23\n");
    plan();
    assert_int_equal(got.plan.memory_node[0], got.facts.node_of[got.plan.core.cpu[0]]);
    assert_int_equal(got.plan.memory_node[0], 0); /* the next node of the last is the first */
    assert_memory_equal(got.plan.role_cpu, got.plan.core.cpu,
                        (size_t)got.plan.core.n_cpu * sizeof *got.plan.role_cpu);
    expect_roles(&got, 0);
    expect_roles(&got, 1);
    assert_int_equal(got.plan.row_quality[0].n_pool_off_node, 1);
    assert_int_equal(got.plan.row_quality[0].irq_off_node, 2);
    assert_int_equal(got.plan.row_quality[0].near_cpu, 8);
    ask = ask_near();
    plan();
    assert_int_equal(got.plan.memory_node[0], 3);
    assert_int_equal(got.plan.quality.irq_off_node, 0);
}

/* NPU 1 is hidden from this process, and its pool counts. */
TEST(the_quality_is_that_of_the_pools_of_hidden_npus_too)
{
    for (int rules = 0; rules < CPUBIND_RULES_COUNT; rules++) {
        memory_host h = two_on_one_node();
        cpubind_request request = ask_near();
        attempt a, both;
        request.rules = (cpubind_rules)rules;
        both = planned(&h, &request);
        set(&h, MAP,
            "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
            "\t1        0         0               Ascend 910B4\n");
        set(&h, TOPO, "\t   NPU1       CPU Affinity\nNPU1       X          16-23\n");
        set(&h, INFO,
            "| NPU   Name                | Health        | Power(W)    Temp(C)             |\n"
            "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)    |\n"
            "| 1     910B4               | OK            | 90.5        44                  |\n"
            "| 0                         | 0000:01:00.0  | 0           0    / 0            "
            "|\n");
        h.seen[0] = '\0';
        a = planned(&h, &request);
        assert_int_equal(a.plan.n_want, 1);
        assert_int_equal(a.plan.n_hidden, 1);
        assert_memory_equal(&a.plan.quality, &both.plan.quality, sizeof a.plan.quality);
        assert_memory_equal(a.plan.row_quality, both.plan.row_quality,
                            sizeof *a.plan.row_quality);
        drop(&a);
        drop(&both);
    }
}

/* With KEEP a CPU may be in several pools: the rows of this plan alone are measured. */
TEST(the_quality_of_overlapping_pools_is_that_of_the_rows)
{
    static const int32_t first[] = {0};
    ask = ask_nothing();
    ask.overlap = CPUBIND_OVERLAP_KEEP;
    ask_npus(first, 1);
    plan();
    assert_int_equal(got.plan.quality.n_pool, 1);
    assert_int_equal(got.plan.quality.n_cpu, pool_size(&got, 0));
}

/* == Warnings =============================================================== */

/* The two NPUs share the node of their home and the next: the second has no near CPU. */
TEST(a_pool_without_near_cpus_is_a_warning_where_near_has_some)
{
    ask = ask_reference();
    plan();
    expect_run(&got, 1, 24, 31);
    expect_warning(CPUBIND_WARNING_POOR_LOCALITY);
    assert_int_equal(got.plan.n_poor, 1);
    assert_int_equal(got.plan.poor[0], 1);
    ask = ask_near();
    plan();
    expect_no_warning(CPUBIND_WARNING_POOR_LOCALITY);
    assert_int_equal(got.plan.n_poor, 0);
    ask = ask_reference();
    ask.scope = CPUBIND_SCOPE_HOST;
    put(STATUS, "Cpus_allowed_list:\t24-31\n"); /* nothing near is allowed: no warning */
    ask.visible = "1";
    ask.visible_len = 1;
    plan();
    expect_no_warning(CPUBIND_WARNING_POOR_LOCALITY);
}

/* NPU 0 is alone on node 2; NPU 1 has no CPU of its own, for its node is not allowed. */
TEST(cpus_that_one_npu_takes_from_the_home_of_another_are_a_warning)
{
    move_home(&host, "0\n", "0-7\n",
              "\t   NPU1       NPU2       CPU Affinity\n"
              "NPU1       X          HCCS       0-7\n"
              "NPU2       HCCS       X          16-23\n");
    put(STATUS, "Cpus_allowed_list:\t16-27\n");
    plan();
    assert_int_equal(pool_size(&got, 0) + pool_size(&got, 1), 12);
    assert_true(pool_size(&got, 0) > 4);
    expect_warning(CPUBIND_WARNING_LENT);
    assert_true(got.plan.n_lent > 0);
    for (int32_t i = 0; i < got.plan.n_lent; i++)
        assert_true(pool_has(&got, 0, got.plan.lent[i]) && got.plan.lent[i] < 24);
}

/* == Fixtures =============================================================== */

enum { MEBIBYTE = 1 << 20 };

/* Plans a fixture in an arena of 1 MiB by both rules. What near refuses, the reference
 * refuses as well, unless near cannot read which CPUs share a core; by near no more cores are
 * split, and no more IRQ CPUs are off their node. */
static void plan_by_both(fixture_host *h, const char *name)
{
    static _Alignas(16) char block[MEBIBYTE];
    const cpubind_source source = source_of_fixture(h);
    cpubind_problem_code code[CPUBIND_RULES_COUNT];
    cpubind_quality quality[CPUBIND_RULES_COUNT];
    int32_t n_want[CPUBIND_RULES_COUNT] = {0};
    for (int rules = 0; rules < CPUBIND_RULES_COUNT; rules++) {
        cpubind_request request = ask_near();
        cpubind_arena arena = {block, sizeof block, 0};
        cpubind_facts facts;
        cpubind_ascend_plan plan;
        cpubind_problem problem;
        request.rules = (cpubind_rules)rules;
        code[rules] = cpubind_facts_read(&source, &request, &arena, &facts, &problem);
        if (code[rules] == CPUBIND_PROBLEM_NONE)
            code[rules] = cpubind_ascend_make_plan(&facts, &request, &arena, &plan, &problem);
        if (code[rules] == CPUBIND_PROBLEM_NO_MEMORY)
            fail_msg("%s: 1 MiB is too small", name);
        if (code[rules] != CPUBIND_PROBLEM_NONE)
            continue;
        n_want[rules] = plan.n_want;
        quality[rules] = plan.quality;
    }
    if (code[CPUBIND_RULES_REFERENCE] != CPUBIND_PROBLEM_NONE ||
        (code[CPUBIND_RULES_NEAR] == CPUBIND_PROBLEM_UNREADABLE && strstr(name, "damaged")))
        return;
    if (code[CPUBIND_RULES_NEAR] != CPUBIND_PROBLEM_NONE)
        fail_msg("%s: refused by near alone: %s", name,
                 cpubind_problem_word(code[CPUBIND_RULES_NEAR]));
    if (n_want[CPUBIND_RULES_NEAR] < n_want[CPUBIND_RULES_REFERENCE])
        fail_msg("%s: near has fewer pools", name);
    if (quality[CPUBIND_RULES_NEAR].n_pool == quality[CPUBIND_RULES_REFERENCE].n_pool &&
        (quality[CPUBIND_RULES_NEAR].irq_off_node >
             quality[CPUBIND_RULES_REFERENCE].irq_off_node ||
         quality[CPUBIND_RULES_NEAR].split_cores >
             quality[CPUBIND_RULES_REFERENCE].split_cores))
        fail_msg("%s: near has %d cores split and %d IRQ CPUs off their node, not %d and %d",
                 name, quality[CPUBIND_RULES_NEAR].split_cores,
                 quality[CPUBIND_RULES_NEAR].irq_off_node,
                 quality[CPUBIND_RULES_REFERENCE].split_cores,
                 quality[CPUBIND_RULES_REFERENCE].irq_off_node);
}

TEST(every_fixture_is_planned_by_near_at_least_as_well_as_by_the_reference)
{
    assert_true(each_fixture(plan_by_both) > 100);
}

/* == Requests =============================================================== */

TEST(every_new_field_of_a_request_is_checked)
{
    static const int32_t twice[] = {1, 1};
    cpubind_request bad[16];
    size_t n = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        bad[i] = ask_near();
    bad[n++].rules = CPUBIND_RULES_COUNT;
    bad[n++].rules = (cpubind_rules)-1;
    bad[n++].keep_each = -1;
    bad[n++].keep_each = CPUBIND_MAX_CPUS + 1;
    bad[n].keep = twice;
    bad[n++].n_keep = 2;
    bad[n].keep = twice;
    bad[n++].n_keep = -1;
    bad[n++].n_process = -1;
    bad[n++].n_process = CPUBIND_MAX_DEVICES + 1;
    bad[n++].process = -1;
    bad[n++].process = 1;
    bad[n].n_process = 2;
    bad[n++].process = 2;
    for (size_t i = 0; i < n; i++) {
        ask = bad[i];
        refuse(CPUBIND_PROBLEM_BAD_REQUEST);
        assert_non_null(got.problem.what);
    }
}

SETUP(set_up)
{
    return start(two_on_one_node(), ask_near());
}

int main(void)
{
    return run_registered("plan_rules", set_up, drop_plan);
}
