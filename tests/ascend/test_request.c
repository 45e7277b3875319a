/* test_request.c - the options of a request: CPUs to use and to exclude, addresses
 * SPDX-License-Identifier: MIT
 */
#include "planned.h"

#define LENGTH(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

#define STATUS     "proc/self/status"
#define MAP        "cmd/npu-smi-info-m.txt"
#define TOPO       "cmd/npu-smi-info-t-topo.txt"
#define INFO       "cmd/npu-smi-info.txt"
#define BOARD_4_C0 "cmd/npu-smi-info-t-board-i4-c0.txt"
#define BOARD_4    "cmd/npu-smi-info-t-board-i4.txt"
#define BOARD_6_C0 "cmd/npu-smi-info-t-board-i6-c0.txt"
#define BOARD_6    "cmd/npu-smi-info-t-board-i6.txt"

#define DEVICE_HEAD                                                                            \
    "| NPU   Name                | Health        | Power(W)    Temp(C)              |\n"       \
    "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)     |\n"
#define DEVICE(card, bus)                                                                      \
    "| " card                                                                                  \
    "     910B1               | OK            | 91.0        41                   |\n"          \
    "| 0                         | " bus "  | 0           0    / 0             |\n"
#define PROCESS_HEAD                                                                           \
    "| NPU     Chip              | Process id    | Process name   | Process memory(MB) |\n"
#define PROCESS(card)                                                                          \
    "| " card                                                                                  \
    "       0                 | 501           | server         | 90                 |\n"
#define BOARD_OF(card, bus)                                                                    \
    "\tNPU ID                         : " card "\n"                                            \
    "\tChip ID                        : 0\n"                                                   \
    "\tPCIe Bus Info                  : " bus "\n"

static const int32_t both[] = {0, 1};

/* Three nodes of 10 CPUs, all allowed; cards 4 and 6, on nodes 1 and 0, are named. */
static memory_host host_a2(cpubind_request *request)
{
    memory_host h;
    memset(&h, 0, sizeof h);
    set(&h, STATUS, "Name:\tserver\nCpus_allowed_list:\t0-29\n");
    set(&h, "sys/devices/system/cpu/online", "0-29\n");
    set(&h, "sys/devices/system/node/", "node0\nnode1\nnode2\n");
    set(&h, "sys/devices/system/node/node0/cpulist", "0-9\n");
    set(&h, "sys/devices/system/node/node1/cpulist", "10-19\n");
    set(&h, "sys/devices/system/node/node2/cpulist", "20-29\n");
    set(&h, "sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n");
    set(&h, MAP,
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
        "\t4        0         0               Ascend 910B1\n"
        "\t6        0         1               Ascend 910B1\n");
    set(&h, TOPO,
        "\t   NPU4       NPU6       CPU Affinity\n"
        "NPU4       X          HCCS       10-19\n"
        "NPU6       HCCS       X          0-9\n");
    *request = ask_nothing();
    request->npu = both;
    request->n_npu = 2;
    return h;
}

/* The same, planned by slices: only the request needs an address. */
static memory_host sliced_a2(cpubind_request *request)
{
    memory_host h = host_a2(request);
    request->rules = CPUBIND_RULES_REFERENCE;
    request->has_rules = 1;
    request->is_auto_strategy = 0;
    request->strategy = CPUBIND_GLOBAL_SLICE;
    request->wants_pci = 1;
    return h;
}

static void expect_cpus(const attempt *a, const int32_t *cpu, int32_t n)
{
    assert_int_equal(a->facts.n_cpu, n);
    assert_memory_equal(a->facts.cpu, cpu, (size_t)n * sizeof *cpu);
}

/* The buses of both NPUs; -1: the address is not known. */
static void expect_buses(const attempt *a, int32_t first, int32_t second)
{
    const int32_t bus[] = {first, second};
    assert_int_equal(a->code, CPUBIND_PROBLEM_NONE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(a->facts.npu[i].pci.domain, bus[i] < 0 ? -1 : 0);
        if (bus[i] >= 0)
            assert_int_equal(a->facts.npu[i].pci.bus, bus[i]);
    }
}

/* == Allowed CPUs =========================================================== */

TEST(the_cpus_asked_for_count_instead_of_the_status)
{
    static const int32_t asked[] = {3, 4, 5, 6, 7, 11, 12, 13, 14, 15, 16};
    host = host_a2(&ask);
    ask.allowed = asked;
    ask.n_allowed = LENGTH(asked);
    put(STATUS, "Cpus_allowed_list:\tdamaged\n");
    plan();
    expect_cpus(&got, asked, LENGTH(asked));
    expect_unseen(STATUS);
    expect_no_warning(CPUBIND_WARNING_NO_STATUS);
    expect_pools("11-16 3-7");
    lose(STATUS);
    plan();
    expect_no_warning(CPUBIND_WARNING_NO_STATUS);
    expect_run(&got, 1, 3, 7);
}

TEST(requested_cpus_that_are_offline_are_left_out_with_a_warning)
{
    static const int32_t asked[] = {0, 1, 2, 3, 4, 5, 30, 65535}, there[] = {0, 1, 2, 3, 4, 5};
    static const int32_t one[] = {1};
    host = host_a2(&ask);
    ask_npus(one, 1);
    ask.allowed = asked;
    ask.n_allowed = LENGTH(asked);
    plan();
    expect_cpus(&got, there, LENGTH(there));
    expect_warning(CPUBIND_WARNING_OFFLINE);
    ask.allowed = asked + 6;
    ask.n_allowed = 2;
    refuse(CPUBIND_PROBLEM_TOO_FEW_CPUS);
    assert_string_equal(got.problem.what, "no allowed CPU is online");
    assert_null(got.problem.input); /* from the caller, not from an input */
    ask.n_allowed = 0;
    refuse(CPUBIND_PROBLEM_TOO_FEW_CPUS);
}

/* Every CPU that is asked for counts as one of node 0, as those of a status would. */
TEST(without_nodes_the_cpus_asked_for_are_one_node)
{
    static const int32_t asked[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    host = host_a2(&ask);
    lose("sys/devices/system/node/");
    ask.allowed = asked;
    ask.n_allowed = LENGTH(asked);
    plan();
    expect_warning(CPUBIND_WARNING_NO_NODES);
    expect_cpus(&got, asked, LENGTH(asked));
}

TEST(lists_that_do_not_ascend_are_refused)
{
    static const int32_t lists[][3] = {
        {2, 1, 3}, {1, 1, 2}, {-1, 0, 1}, {0, 1, -1}, {1, 2, 65536}};
    for (int32_t i = 0; i < 2 * LENGTH(lists); i++) {
        host = host_a2(&ask);
        if (i % 2) {
            ask.allowed = lists[i / 2];
            ask.n_allowed = 3;
        } else {
            ask.exclude = lists[i / 2];
            ask.n_exclude = 3;
        }
        refuse(CPUBIND_PROBLEM_BAD_REQUEST);
        assert_null(got.problem.input);
        assert_non_null(strstr(got.problem.what, i % 2 ? "allowed" : "excluded"));
    }
}

/* == Excluded CPUs ========================================================== */

/* The home of the first NPU is extended by node 2, which is the home of no NPU. */
TEST(no_pool_has_an_excluded_cpu)
{
    static const int32_t exclude[] = {0, 1, 11, 19, 20, 21, 22, 23, 24, 25, 27, 28, 29};
    static const int32_t first[] = {10, 12, 13, 14, 15, 16, 17, 18, 26};
    host = host_a2(&ask);
    ask.exclude = exclude;
    ask.n_exclude = LENGTH(exclude);
    plan();
    assert_int_equal(got.facts.n_cpu, 17);
    assert_int_equal(got.plan.core.row[1], 9);
    assert_memory_equal(got.plan.core.cpu, first, sizeof first);
    expect_run(&got, 1, 2, 9);
    assert_int_equal(got.facts.npu[1].affinity_count, 10); /* its affinity does not change */
    assert_int_equal(got.facts.node_of[0], 0);
}

/* Slices are cut from what is left: 14 CPUs for two NPUs. */
TEST(slices_are_cut_without_the_excluded_cpus)
{
    static const int32_t exclude[] = {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
    static const int32_t first[] = {0, 1, 2, 3, 20, 21, 22};
    host = sliced_a2(&ask);
    ask.exclude = exclude;
    ask.n_exclude = LENGTH(exclude);
    plan();
    assert_int_equal(got.plan.core.row[1], 7);
    assert_memory_equal(got.plan.core.cpu, first, sizeof first);
    expect_run(&got, 1, 23, 29);
}

static void make_950(memory_host *h)
{
    set(h, MAP,
        "\tNPU ID   Slot ID   Chip ID   Chip Phy-ID   Chip Name\n"
        "\t0        1         0         0             Ascend950PR\n"
        "\t1        2         0         1             Ascend950PR\n");
    set(h, TOPO,
        "\t   NPU0       NPU1       CPU Affinity\n"
        "NPU0       X          UB         10-19\n"
        "NPU1       UB         X          20-29\n");
}

/* A node of 10 CPUs has one cluster of 8 as long as two are excluded at most. */
TEST(clusters_and_spare_cpus_are_cut_without_the_excluded_ones)
{
    static const int32_t exclude[] = {1, 12, 13, 14};
    static const int32_t first[] = {10, 11, 14, 15, 16, 17, 18, 19};
    host = host_a2(&ask);
    make_950(&host);
    ask.exclude = exclude;
    ask.n_exclude = 3;
    plan();
    assert_int_equal(got.plan.core.row[1], 8);
    assert_memory_equal(got.plan.core.cpu, first, sizeof first);
    expect_run(&got, 1, 20, 27);
    assert_int_equal(got.plan.n_spare, 8); /* node 0 without CPUs 0 and 1 */
    assert_int_equal(got.plan.spare[0], 2);
    ask.n_exclude = 4;
    refuse(CPUBIND_PROBLEM_SKIPPED);
}

TEST(clusters_need_one_or_two_threads_a_core)
{
    static const char siblings[] = "sys/devices/system/cpu/cpu0/topology/thread_siblings_list";
    host = host_a2(&ask);
    make_950(&host);
    put(siblings, "0-3\n");
    refuse(CPUBIND_PROBLEM_SKIPPED);
    assert_string_equal(got.problem.what, "clusters are known for 1 or 2 threads a core only");
    host.seen[0] = '\0';
    lose(siblings);
    refuse(CPUBIND_PROBLEM_SKIPPED);
    assert_string_equal(got.problem.what, "the number of threads a core is not known");
}

TEST(an_excluded_cpu_that_does_not_exist_changes_nothing)
{
    static const int32_t exclude[] = {30, 31, 65535};
    host = host_a2(&ask);
    ask.rules = CPUBIND_RULES_REFERENCE;
    ask.has_rules = 1;
    ask.exclude = exclude;
    ask.n_exclude = LENGTH(exclude);
    plan();
    assert_int_equal(got.facts.n_cpu, 30);
    expect_pools("10-29 0-9");
}

/* An excluded CPU that is offline gives no warning. */
TEST(an_excluded_cpu_that_is_offline_is_not_warned_of)
{
    static const int32_t exclude[] = {29};
    host = host_a2(&ask);
    put("sys/devices/system/cpu/online", "0-28\n");
    put("sys/devices/system/cpu/cpu29/online", "0\n");
    plan();
    expect_warning(CPUBIND_WARNING_OFFLINE);
    ask.exclude = exclude;
    ask.n_exclude = 1;
    plan();
    assert_int_equal(got.facts.n_cpu, 29);
    expect_no_warning(CPUBIND_WARNING_OFFLINE);
}

TEST(the_refusal_without_cpus_names_the_exclusion)
{
    static const int32_t pair[] = {5, 6};
    host = host_a2(&ask);
    ask.exclude = pair;
    ask.n_exclude = 2;
    put(STATUS, "Cpus_allowed_list:\t5-6\n");
    refuse(CPUBIND_PROBLEM_TOO_FEW_CPUS);
    assert_string_equal(got.problem.what, "every allowed CPU that is online is excluded");
    assert_null(got.problem.input);
    assert_int_equal(got.facts.n_cpu, 0);
    put(STATUS, "Cpus_allowed_list:\t5-6,40\n"); /* 40 is offline */
    try_plan();
    assert_string_equal(got.problem.what, "every allowed CPU that is online is excluded");
    ask.allowed = pair;
    ask.n_allowed = 2;
    try_plan();
    assert_string_equal(got.problem.what, "every allowed CPU that is online is excluded");
    put("sys/devices/system/cpu/online", "0-4\n"); /* and not because of the exclusion */
    put("sys/devices/system/cpu/cpu5/online", "0\n");
    put("sys/devices/system/cpu/cpu6/online", "0\n");
    refuse(CPUBIND_PROBLEM_TOO_FEW_CPUS);
    assert_string_equal(got.problem.what, "no allowed CPU is online");
}

static void expect_same_plan(const attempt *a, const attempt *b)
{
    const cpubind_plan *x = &a->plan.core, *y = &b->plan.core;
    assert_int_equal(a->code, b->code);
    if (a->code != CPUBIND_PROBLEM_NONE)
        return;
    assert_int_equal(a->facts.n_cpu, b->facts.n_cpu);
    assert_memory_equal(a->facts.cpu, b->facts.cpu, (size_t)a->facts.n_cpu * sizeof(int32_t));
    assert_int_equal(a->plan.warnings | 1u << CPUBIND_WARNING_PARTIAL_CPUSET,
                     b->plan.warnings | 1u << CPUBIND_WARNING_PARTIAL_CPUSET);
    assert_int_equal(a->plan.n_want, b->plan.n_want);
    assert_int_equal(x->n_cpu, y->n_cpu);
    assert_memory_equal(x->row, y->row, (size_t)(a->plan.n_want + 1) * sizeof(int32_t));
    assert_memory_equal(x->cpu, y->cpu, (size_t)x->n_cpu * sizeof(int32_t));
    assert_int_equal(a->plan.n_spare, b->plan.n_spare);
}

/* With any exclusion the plan is that of a process that may not use those CPUs. */
TEST(excluding_is_the_same_as_not_allowing)
{
    uint32_t seed = 20;
    int32_t n_planned = 0;
    for (int i = 0; i < 600; i++) {
        int32_t exclude[30], rest[30], n_exclude = 0, n_rest = 0;
        const uint32_t share = 1 + (uint32_t)i / 3 % 9;
        cpubind_request request, narrow;
        memory_host h = host_a2(&request);
        attempt a, b;
        for (int32_t cpu = 0; cpu < 30; cpu++) {
            seed = seed * 1664525u + 1013904223u;
            if ((seed >> 16) % 10 < share)
                exclude[n_exclude++] = cpu;
            else
                rest[n_rest++] = cpu;
        }
        if (i % 3 == 2)
            make_950(&h);
        request.is_auto_strategy = i % 3 != 1;
        request.strategy = CPUBIND_GLOBAL_SLICE;
        narrow = request;
        request.exclude = exclude;
        request.n_exclude = n_exclude;
        narrow.allowed = rest;
        narrow.n_allowed = n_rest;
        a = try(&h, &request);
        h.seen[0] = '\0';
        b = try(&h, &narrow);
        expect_same_plan(&a, &b);
        n_planned += a.code == CPUBIND_PROBLEM_NONE;
        drop(&a);
        drop(&b);
    }
    assert_in_range((uintmax_t)n_planned, 100, 500);
}

/* == Addresses ============================================================== */

TEST(wanted_addresses_are_those_of_npu_smi_info)
{
    host = sliced_a2(&ask);
    put(INFO, DEVICE_HEAD DEVICE("4", "0000:C1:00.0") DEVICE("6", "0000:82:00.0"));
    plan();
    expect_buses(&got, 0xc1, 0x82);
    expect_run(&got, 0, 0, 14); /* the slices are the same */
    expect_run(&got, 1, 15, 29);
    expect_unseen("board");
    expect_unseen("sys/bus/pci/devices/0");
    ask.wants_pci = 0;
    host.seen[0] = '\0';
    plan();
    expect_buses(&got, -1, -1);
    expect_unseen(INFO);
}

TEST(wanted_addresses_are_asked_of_the_boards_of_visible_npus)
{
    host = sliced_a2(&ask);
    put(BOARD_4_C0, BOARD_OF("4", "0000:C1:00.0"));
    put(BOARD_6_C0, BOARD_OF("6", "0000:82:00.0"));
    plan();
    expect_buses(&got, 0xc1, 0x82);
    put(INFO, DEVICE_HEAD DEVICE("4", "0000:C1:00.0") DEVICE("6", "NA          "));
    host.seen[0] = '\0';
    plan();
    expect_buses(&got, 0xc1, 0x82);
    expect_unseen("board-i4");
    expect_seen(BOARD_6_C0);
    put(INFO, PROCESS_HEAD PROCESS("4"));
    put("env", "ASCEND_RT_VISIBLE_DEVICES=0\n"); /* the other one is not visible */
    ask.npu = NULL;
    host.seen[0] = '\0';
    plan();
    expect_buses(&got, 0xc1, -1);
    expect_unseen("board-i6");
}

/* With the affinity of npu-smi the plan needs no address. */
TEST(addresses_are_found_for_every_strategy)
{
    static const cpubind_strategy strategies[] = {CPUBIND_GLOBAL_SLICE, CPUBIND_TOPO_AFFINITY,
                                                  CPUBIND_CLUSTER};
    for (int32_t i = 0; i < LENGTH(strategies); i++) {
        host = sliced_a2(&ask);
        ask.strategy = strategies[i];
        put(BOARD_4_C0, BOARD_OF("4", "0000:C1:00.0"));
        put(BOARD_6, BOARD_OF("6", "0000:82:00.0"));
        plan();
        expect_buses(&got, 0xc1, 0x82);
    }
}

/* An address by which the affinity was found is kept when the table lacks it. */
TEST(an_address_from_a_board_is_kept)
{
    host = sliced_a2(&ask);
    ask.is_auto_strategy = 1;
    put(TOPO, "This device does not support querying topo.\n");
    put(INFO, DEVICE_HEAD DEVICE("4", "NA          ") DEVICE("6", "0000:82:00.0"));
    put(BOARD_4_C0, BOARD_OF("4", "0000:C1:00.0"));
    plan();
    expect_buses(&got, 0xc1, 0x82);
}

/* Slices need no npu-smi info: the plan is the same with a damaged one. */
TEST(an_info_without_addresses_is_no_problem)
{
    static const struct {
        const char *text;
        cpubind_input_state state;
        int asks_boards;
    } cases[] = {{"", CPUBIND_INPUT_PRESENT, 1},
                 {"Some words.\n", CPUBIND_INPUT_PRESENT, 1},
                 {DEVICE_HEAD DEVICE("4", "0000:C1:00.0") DEVICE("6", "0000:8X:00.0"),
                  CPUBIND_INPUT_PRESENT, 1},
                 {"", CPUBIND_INPUT_FAILED, 1},
                 {"", CPUBIND_INPUT_TOO_LONG, 1},
                 {"", CPUBIND_INPUT_TIMEOUT, 0}, /* it would hang again, for each board */
                 {"dcmi module initialize failed. ret is -8005\n", CPUBIND_INPUT_PRESENT, 0}};
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        host = sliced_a2(&ask);
        put(INFO, cases[i].text);
        fail_input(cases[i].state == CPUBIND_INPUT_PRESENT ? NULL : INFO, cases[i].state);
        plan();
        expect_buses(&got, -1, -1);
        assert_int_equal(got.problem.code, CPUBIND_PROBLEM_NONE);
        assert_null(got.problem.input);
        expect_pools("0-14");
        assert_int_equal(strstr(host.seen, "board") != NULL, cases[i].asks_boards);
    }
}

TEST(a_board_without_an_address_is_no_problem)
{
    static const char *const texts[] = {
        "Invalid card id.\n",
        "",
        "\tNPU ID                         : 4\n\tChip ID           ",
        BOARD_OF("4", "NA"),
        BOARD_OF("4", "0000:8X:00.0"),
        BOARD_OF("5", "0000:C1:00.0")};
    for (int32_t i = 0; i < LENGTH(texts); i++) {
        host = sliced_a2(&ask);
        put(BOARD_4_C0, texts[i]);
        put(BOARD_6_C0, BOARD_OF("6", "0000:82:00.0"));
        plan();
        expect_buses(&got, -1, 0x82);
        assert_int_equal(got.problem.code, CPUBIND_PROBLEM_NONE);
        assert_null(got.problem.input);
    }
}

TEST(after_a_board_that_hangs_none_is_asked_for)
{
    host = sliced_a2(&ask);
    fail_input(BOARD_4_C0, CPUBIND_INPUT_TIMEOUT);
    put(BOARD_6_C0, BOARD_OF("6", "0000:82:00.0"));
    plan();
    expect_buses(&got, -1, -1);
    expect_seen(BOARD_4_C0);
    expect_unseen(BOARD_4 " ");
    expect_unseen("board-i6");
}

/* A 950 has no interrupts to bind, and each board costs a run of npu-smi. */
TEST(the_boards_of_a_950_are_not_asked)
{
    host = host_a2(&ask);
    make_950(&host);
    ask.wants_pci = 1;
    plan();
    expect_buses(&got, -1, -1);
    expect_unseen("board");
}

TEST(npus_without_a_card_have_no_board)
{
    host = sliced_a2(&ask);
    lose(MAP);
    lose(TOPO);
    ask.type = CPUBIND_TYPE_A2;
    ask.total = 2;
    plan();
    expect_buses(&got, -1, -1);
    expect_unseen("board");
}

/* Every arena that is too small gives NO_MEMORY; the first that is large enough, the plan. */
TEST(an_arena_that_is_too_small_is_reported)
{
    static const int32_t asked[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
    host = sliced_a2(&ask);
    size_t used;
    ask.allowed = asked;
    ask.n_allowed = LENGTH(asked);
    ask.exclude = asked + 2;
    ask.n_exclude = 2;
    put(INFO, DEVICE_HEAD DEVICE("4", "0000:C1:00.0") DEVICE("6", "NA          "));
    put(BOARD_6, BOARD_OF("6", "0000:82:00.0"));
    plan();
    expect_buses(&got, 0xc1, 0x82);
    used = got.arena.used;
    for (size_t size = 0; size < used; size += size + 4096 < used ? 4096 : 16) {
        drop(&got);
        got = try_in(&host, &ask, size);
        assert_int_equal(got.code, CPUBIND_PROBLEM_NO_MEMORY);
        assert_int_equal(got.problem.code, CPUBIND_PROBLEM_NO_MEMORY);
    }
}

SETUP(set_up)
{
    host = host_a2(&ask);
    return 0;
}

int main(void)
{
    return run_registered("request", set_up, drop_plan);
}
