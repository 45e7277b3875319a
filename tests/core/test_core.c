/* test_core.c - what is refused and how it is said; words, version, limits, plain structs
 * SPDX-License-Identifier: MIT
 */

#include "../../cpubind.h"

#include "../support/exact_buffer.h"
#include "../support/test.h"

enum { CPUS = 8, DEVICES = 3 };

/* A good call, of which each row of the table makes one bad. */
static int32_t cpu[CPUS], node[CPUS], core[CPUS], cache[CPUS], distance[4], near_cpu[CPUS];
static int32_t *owner, *work;
static cpubind_host host;
static cpubind_device device[DEVICES];
static int32_t n_device;
static cpubind_policy policy;
static cpubind_roles roles;
static int32_t *role, *the_role, *the_work, which;
static const cpubind_host *the_host;
static const cpubind_device *the_devices;
static const cpubind_policy *the_policy;
static const cpubind_roles *the_roles;
static const int32_t *the_owner;

static int set_up(void **state)
{
    (void)state;
    memset(&policy, 0, sizeof policy);
    memset(&roles, 0, sizeof roles);
    memset(device, 0, sizeof device);
    for (int32_t i = 0; i < CPUS; i++) {
        cpu[i] = near_cpu[i] = 2 * i;
        core[i] = i / 2 * 2;
        node[i] = cache[i] = i / 4;
        cache[i] *= 4;
    }
    for (int32_t i = 0; i < 4; i++)
        distance[i] = i % 3 ? 21 : 10;
    host = (cpubind_host){cpu, node, core, cache, distance, NULL, CPUS, 2};
    for (int32_t d = 0; d < DEVICES; d++)
        device[d].home = (cpubind_list){near_cpu + d, 2};
    n_device = DEVICES;
    roles.count[CPUBIND_ROLE_MAIN] = 1;
    the_host = &host;
    the_devices = device;
    the_policy = &policy;
    the_roles = &roles;
    which = 0;
    owner = edge_ints(CPUS);
    role = edge_ints(CPUS);
    work = edge_ints(CPUBIND_WORK(CPUS, 2, DEVICES));
    the_owner = owner;
    the_role = role;
    the_work = work;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(owner);
    free(role);
    free(work);
    return 0;
}

/* == Faults ================================================================= */

/* A number of a good call that is another one. */
typedef struct change {
    int32_t *at, value;
} change;

/* What makes a good call wrong, and what must be said of it. */
typedef struct fault_row {
    void *null; /* a pointer that is NULL, or NULL: none is */
    change set[3];
    const int32_t *allowed; /* the list of the CPUs that device 2 may have; NULL: none */
    cpubind_status status;
    const char *argument;
    int32_t index, device, cpu;
} fault_row;

static const int32_t too_high[1] = {CPUBIND_MAX_CPUS};

#define SAYS(code, name, at, whose, id)                                                        \
    .status = code, .argument = name, .index = at, .device = whose, .cpu = id

static void break_call(const fault_row *row)
{
    if (row->null)
        memset(row->null, 0, sizeof(void *));
    for (int i = 0; i < 3 && row->set[i].at; i++)
        *row->set[i].at = row->set[i].value;
    if (row->allowed)
        device[2].allowed.cpu = row->allowed;
}

static const fault_row of_plan[] = {
    {.null = &the_host, SAYS(CPUBIND_ERR_ARG, "host", -1, -1, -1)},
    {.null = &the_devices, SAYS(CPUBIND_ERR_ARG, "device", -1, -1, -1)},
    {.null = &the_policy, SAYS(CPUBIND_ERR_ARG, "policy", -1, -1, -1)},
    {.set = {{&n_device, 0}}, SAYS(CPUBIND_ERR_ARG, "n_device", -1, -1, -1)},
    {.set = {{&n_device, CPUBIND_MAX_DEVICES + 1}},
     SAYS(CPUBIND_ERR_ARG, "n_device", -1, -1, -1)},
    {.set = {{&policy.rule, -1}}, SAYS(CPUBIND_ERR_ARG, "policy.rule", -1, -1, -1)},
    {.set = {{&policy.rule, 4}}, SAYS(CPUBIND_ERR_ARG, "policy.rule", -1, -1, -1)},
    {.set = {{&policy.reach, -1}}, SAYS(CPUBIND_ERR_ARG, "policy.reach", -1, -1, -1)},
    {.set = {{&policy.reach, 3}}, SAYS(CPUBIND_ERR_ARG, "policy.reach", -1, -1, -1)},
    {.set = {{&policy.overlap, -1}}, SAYS(CPUBIND_ERR_ARG, "policy.overlap", -1, -1, -1)},
    {.set = {{&policy.overlap, 3}}, SAYS(CPUBIND_ERR_ARG, "policy.overlap", -1, -1, -1)},
    {.set = {{&policy.rule, CPUBIND_RULE_CLUSTER}},
     SAYS(CPUBIND_ERR_ARG, "policy.cluster", -1, -1, -1)},
    {.set = {{&policy.rule, CPUBIND_RULE_CLUSTER},
             {&policy.cluster, CPUBIND_MAX_CPUS + 1},
             {&policy.n_spare, 0}},
     SAYS(CPUBIND_ERR_ARG, "policy.cluster", -1, -1, -1)},
    {.set = {{&policy.rule, CPUBIND_RULE_CLUSTER}, {&policy.cluster, 1}, {&policy.n_spare, -1}},
     SAYS(CPUBIND_ERR_ARG, "policy.n_spare", -1, -1, -1)},
    {.null = &host.cpu, SAYS(CPUBIND_ERR_ARG, "host.cpu", -1, -1, -1)},
    {.set = {{&host.n_cpu, -1}}, SAYS(CPUBIND_ERR_ARG, "host.cpu", -1, -1, -1)},
    {.set = {{&host.n_cpu, CPUBIND_MAX_CPUS + 1}},
     SAYS(CPUBIND_ERR_ARG, "host.cpu", -1, -1, -1)},
    {.set = {{&cpu[3], 4}}, SAYS(CPUBIND_ERR_ORDER, "host.cpu", 3, -1, 4)},
    {.set = {{&cpu[0], -1}}, SAYS(CPUBIND_ERR_ARG, "host.cpu", 0, -1, -1)},
    {.set = {{&cpu[7], CPUBIND_MAX_CPUS}},
     SAYS(CPUBIND_ERR_ARG, "host.cpu", 7, -1, CPUBIND_MAX_CPUS)},
    {.set = {{&host.n_node, 0}}, SAYS(CPUBIND_ERR_ARG, "host.n_node", -1, -1, -1)},
    {.set = {{&host.n_node, CPUBIND_MAX_NODES + 1}},
     SAYS(CPUBIND_ERR_ARG, "host.n_node", -1, -1, -1)},
    {.null = &host.node, SAYS(CPUBIND_ERR_ARG, "host.node", -1, -1, -1)},
    {.set = {{&node[5], 2}}, SAYS(CPUBIND_ERR_ARG, "host.node", 5, -1, -1)},
    {.set = {{&node[5], -1}}, SAYS(CPUBIND_ERR_ARG, "host.node", 5, -1, -1)},
    {.set = {{&core[2], 3}}, SAYS(CPUBIND_ERR_ARG, "host.core", 2, -1, -1)},
    {.set = {{&core[0], -1}}, SAYS(CPUBIND_ERR_ARG, "host.core", 0, -1, -1)},
    {.set = {{&cache[6], 7}}, SAYS(CPUBIND_ERR_ARG, "host.cache", 6, -1, -1)},
    {.set = {{&distance[3], 0}}, SAYS(CPUBIND_ERR_ARG, "host.distance", 3, -1, -1)},
    {.set = {{&distance[1], CPUBIND_MAX_DISTANCE + 1}},
     SAYS(CPUBIND_ERR_ARG, "host.distance", 1, -1, -1)},
    {.set = {{&device[1].minimum, -1}}, SAYS(CPUBIND_ERR_ARG, "device.minimum", -1, 1, -1)},
    {.set = {{&device[1].minimum, CPUBIND_MAX_CPUS + 1}},
     SAYS(CPUBIND_ERR_ARG, "device.minimum", -1, 1, -1)},
    {.set = {{&device[2].most, -1}}, SAYS(CPUBIND_ERR_ARG, "device.most", -1, 2, -1)},
    {.set = {{&device[2].most, CPUBIND_MAX_CPUS + 1}},
     SAYS(CPUBIND_ERR_ARG, "device.most", -1, 2, -1)},
    {.set = {{&device[0].weight, -1}}, SAYS(CPUBIND_ERR_ARG, "device.weight", -1, 0, -1)},
    {.set = {{&device[0].weight, CPUBIND_MAX_WEIGHT + 1}},
     SAYS(CPUBIND_ERR_ARG, "device.weight", -1, 0, -1)},
    {.null = &device[1].home.cpu, SAYS(CPUBIND_ERR_ARG, "device.home", -1, 1, -1)},
    {.set = {{&device[1].home.n, -1}}, SAYS(CPUBIND_ERR_ARG, "device.home", -1, 1, -1)},
    {.set = {{&near_cpu[3], 4}}, SAYS(CPUBIND_ERR_ORDER, "device.home", 1, 2, 4)},
    {.set = {{&device[2].allowed.n, -1}},
     .allowed = near_cpu,
     SAYS(CPUBIND_ERR_ARG, "device.allowed", -1, 2, -1)},
    {.set = {{&near_cpu[0], -2}, {&device[2].allowed.n, 2}, {&device[0].home.n, 0}},
     .allowed = near_cpu,
     SAYS(CPUBIND_ERR_ARG, "device.allowed", 0, 2, -2)},
    {.set = {{&policy.rule, CPUBIND_RULE_SLICE}, {&device[2].allowed.n, 1}},
     .allowed = too_high,
     SAYS(CPUBIND_ERR_ARG, "device.allowed", 0, 2, CPUBIND_MAX_CPUS)},
    {.null = &device[1].home.cpu,
     .set = {{&device[1].home.n, 1}},
     SAYS(CPUBIND_ERR_ARG, "device.home", -1, 1, -1)},
    {.null = &host.node,
     .set = {{&host.n_cpu, 1}},
     SAYS(CPUBIND_ERR_ARG, "host.node", -1, -1, -1)},
};

static void check_fault(int number, cpubind_status status, const cpubind_report *r)
{
    const fault_row *row = &of_plan[number];
    if (status != row->status || r->argument == NULL ||
        strcmp(r->argument, row->argument) != 0 || r->index != row->index ||
        r->device != row->device || r->cpu != row->cpu)
        fail_msg("row %d: %d, %s at %d of %d, cpu %d", number, (int)status,
                 r->argument ? r->argument : "-", (int)r->index, (int)r->device, (int)r->cpu);
}

TEST(a_plan_says_what_is_wrong)
{
    const int n = (int)(sizeof of_plan / sizeof *of_plan);
    for (int i = 0; i < n; i++) {
        cpubind_report r;
        memset(&r, EDGE_FILL, sizeof r);
        (void)tear_down(NULL);
        (void)set_up(NULL);
        break_call(&of_plan[i]);
        check_fault(
            i, cpubind_plan(the_host, the_devices, n_device, the_policy, owner, work, &r), &r);
        for (int32_t k = 0; k < CPUS; k++)
            assert_true(edge_untouched(owner, k));
        assert_int_equal(
            cpubind_plan(the_host, the_devices, n_device, the_policy, owner, work, NULL),
            of_plan[i].status);
    }
}

TEST(a_plan_needs_an_answer_and_scratch)
{
    cpubind_report r;
    assert_int_equal(cpubind_plan(&host, device, n_device, &policy, NULL, work, &r),
                     CPUBIND_ERR_ARG);
    assert_string_equal(r.argument, "owner");
    assert_int_equal(cpubind_plan(&host, device, n_device, &policy, owner, NULL, &r),
                     CPUBIND_ERR_ARG);
    assert_string_equal(r.argument, "work");
}

/* Each is ERR_ARG of the device. */
static const fault_row of_place[] = {
    {.null = &the_host, .argument = "host"},
    {.null = &the_devices, .argument = "device"},
    {.null = &the_owner, .argument = "owner"},
    {.set = {{&which, -1}}, .argument = "d"},
    {.set = {{&which, DEVICES}}, .argument = "d"},
    {.null = &the_role, .argument = "role"},
    {.null = &the_work, .argument = "work"},
    {.null = &the_roles, .argument = "roles"},
    {.set = {{&roles.count[CPUBIND_ROLE_ACL], -1}}, .argument = "roles.count"},
    {.set = {{&roles.count[CPUBIND_ROLE_IRQ], CPUBIND_MAX_CPUS + 1}},
     .argument = "roles.count"},
    {.set = {{&roles.n_process, -1}}, .argument = "roles.n_process"},
    {.set = {{&roles.n_process, CPUBIND_MAX_DEVICES + 1}}, .argument = "roles.n_process"},
    {.set = {{&roles.process, -1}}, .argument = "roles.process"},
    {.set = {{&roles.process, 1}}, .argument = "roles.process"},
};

TEST(placing_says_what_is_wrong)
{
    for (int i = 0; i < (int)(sizeof of_place / sizeof *of_place); i++) {
        cpubind_report r;
        cpubind_status s;
        (void)tear_down(NULL);
        (void)set_up(NULL);
        assert_int_equal(cpubind_plan(&host, device, n_device, &policy, owner, work, &r),
                         CPUBIND_OK);
        break_call(&of_place[i]);
        s = cpubind_place(the_host, the_devices, n_device, the_owner, which, the_roles,
                          the_role, the_work, &r);
        assert_int_equal(s, CPUBIND_ERR_ARG);
        assert_string_equal(r.argument, of_place[i].argument);
        assert_int_equal(r.device, which);
        for (int32_t k = 0; k < CPUS; k++)
            assert_true(edge_untouched(role, k));
    }
}

TEST(a_pool_that_is_too_small_says_what_it_needs)
{
    cpubind_report r;
    int32_t n = 0;
    assert_int_equal(cpubind_plan(&host, device, n_device, &policy, owner, work, NULL),
                     CPUBIND_OK);
    for (int32_t i = 0; i < CPUS; i++)
        n += owner[i] == 1;
    roles.count[CPUBIND_ROLE_IRQ] = 1;
    roles.count[CPUBIND_ROLE_MAIN] = n;
    assert_int_equal(cpubind_place(&host, device, n_device, owner, 1, &roles, role, work, &r),
                     CPUBIND_ERR_TOO_FEW);
    assert_int_equal(r.need, n + 1);
    assert_int_equal(r.have, n);
    assert_int_equal(r.device, 1);
    roles.count[CPUBIND_ROLE_IRQ] = n + 1;
    assert_int_equal(cpubind_place(&host, device, n_device, owner, 1, &roles, role, work, NULL),
                     CPUBIND_ERR_TOO_FEW);
    assert_int_equal(cpubind_place(&host, device, n_device, owner, 1, &roles, role, work, &r),
                     CPUBIND_ERR_TOO_FEW);
    assert_int_equal(r.have, n);
    assert_int_equal(r.need, 2 * n + 1);
}

/* == What is not ============================================================ */

TEST(a_host_without_cpus_has_a_plan)
{
    const cpubind_host none = {.n_node = 1};
    cpubind_quality q;
    assert_int_equal(cpubind_plan(&none, device, n_device, &policy, owner, work, NULL),
                     CPUBIND_OK);
    cpubind_measure(&none, device, n_device, owner, NULL, &q, NULL, work);
    assert_int_equal(q.pools + q.cpus + q.idle + q.smallest + q.largest, 0);
}

TEST(structs_of_zeros_are_plain_defaults)
{
    static const cpubind_policy plain;
    static const cpubind_device alone;
    const cpubind_host bare = {.cpu = cpu, .node = node, .n_cpu = CPUS, .n_node = 2};
    assert_int_equal(cpubind_plan(&bare, &alone, 1, &plain, owner, work, NULL), CPUBIND_OK);
    for (int32_t i = 0; i < CPUS; i++)
        assert_int_equal(owner[i], 0);
}

TEST(figures_count_irq_cpus_off_the_home)
{
    cpubind_quality q, each[DEVICES];
    for (int32_t i = 0; i < CPUS; i++) {
        owner[i] = i < 6 ? 0 : CPUBIND_NONE;
        role[i] = i >= 4 || i == 0 ? CPUBIND_ROLE_IRQ : CPUBIND_ROLE_MAIN;
    }
    cpubind_measure(&host, device, n_device, owner, role, &q, each, work);
    assert_int_equal(q.irq_off, 2);
    assert_int_equal(q.near_cpus, 4);
    assert_int_equal(q.far_cpus, 2);
    assert_int_equal(q.idle, 2);
    assert_int_equal(each[0].nodes, 2);
    assert_int_equal(each[1].pools, 0);
}

TEST(figures_count_cores_and_caches_that_are_cut)
{
    cpubind_quality q;
    for (int32_t i = 0; i < CPUS; i++)
        owner[i] = i == 0 ? 0 : i < 3 ? 1 : 2; /* the first two cores, and the first cache */
    cpubind_measure(&host, device, n_device, owner, NULL, &q, NULL, work);
    assert_int_equal(q.split_cores, 2);
    assert_int_equal(q.split_caches, 1);
    assert_int_equal(q.smallest, 1);
    assert_int_equal(q.largest, CPUS - 3);
    owner[3] = CPUBIND_NONE;
    cpubind_measure(&host, device, n_device, owner, NULL, &q, NULL, work);
    assert_int_equal(q.split_cores, 1);
}

/* == Limits ================================================================= */

TEST(the_limits_are_planned)
{
    enum { MANY = CPUBIND_MAX_CPUS };
    int32_t *all = edge_ints(MANY), *at_node = edge_ints(MANY), *out = edge_ints(MANY);
    cpubind_device *many = (cpubind_device *)calloc(CPUBIND_MAX_DEVICES, sizeof *many);
    int32_t *room = edge_ints(CPUBIND_WORK(MANY, 64, CPUBIND_MAX_DEVICES));
    const cpubind_host large = {.cpu = all, .node = at_node, .n_cpu = MANY, .n_node = 64};
    int32_t size[CPUBIND_MAX_DEVICES] = {0};
    assert_non_null(many);
    for (int32_t i = 0; i < MANY; i++) {
        all[i] = i;
        at_node[i] = i / (MANY / 64);
    }
    for (int32_t d = 0; d < CPUBIND_MAX_DEVICES; d++)
        many[d] = (cpubind_device){.home = {all + d % 64 * (MANY / 64), MANY / 64},
                                   .minimum = 1,
                                   .most = CPUBIND_MAX_CPUS,
                                   .weight = CPUBIND_MAX_WEIGHT};
    assert_int_equal(cpubind_plan(&large, many, CPUBIND_MAX_DEVICES, &policy, out, room, NULL),
                     CPUBIND_OK);
    for (int32_t i = 0; i < MANY; i++)
        size[out[i]]++;
    for (int32_t d = 0; d < CPUBIND_MAX_DEVICES; d++)
        assert_int_equal(size[d], MANY / CPUBIND_MAX_DEVICES);
    free(all);
    free(at_node);
    free(out);
    free(many);
    free(room);
}

TEST(the_smallest_and_the_largest_numbers_are_in_range)
{
    cpubind_report r;
    int32_t *room = edge_ints(CPUBIND_WORK(CPUS, CPUBIND_MAX_NODES, DEVICES));
    distance[1] = 1;
    distance[2] = CPUBIND_MAX_DISTANCE;
    device[0].minimum = CPUBIND_MAX_CPUS;
    assert_int_equal(cpubind_plan(&host, device, n_device, &policy, owner, work, NULL),
                     CPUBIND_OK);
    roles.n_process = CPUBIND_MAX_DEVICES;
    roles.count[CPUBIND_ROLE_ACL] = CPUBIND_MAX_CPUS;
    assert_int_equal(cpubind_place(&host, device, n_device, owner, 0, &roles, role, work, &r),
                     CPUBIND_ERR_TOO_FEW);
    host.n_node = CPUBIND_MAX_NODES;
    host.distance = NULL;
    policy.rule = CPUBIND_RULE_CLUSTER;
    policy.cluster = CPUBIND_MAX_CPUS;
    assert_int_equal(cpubind_plan(&host, device, n_device, &policy, owner, room, NULL),
                     CPUBIND_OK);
    free(room);
}

TEST(the_scratch_of_a_large_host_is_below_128_kib)
{
    assert_in_range(CPUBIND_WORK(640, 8, 16) * (int)sizeof(int32_t), 1, 128 * 1024);
}

/* == Words ================================================================== */

TEST(every_number_has_a_word)
{
#define CPUBIND_X(name, value, text)                                                           \
    assert_int_equal(CPUBIND_##name, value);                                                   \
    assert_string_equal(cpubind_status_text(value), text);
    CPUBIND_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
#define CPUBIND_X(name, word) assert_string_equal(cpubind_role_word(CPUBIND_ROLE_##name), word);
    CPUBIND_ROLE_LIST(CPUBIND_X)
#undef CPUBIND_X
    assert_string_equal(cpubind_status_text(1), "not a status code");
    assert_string_equal(cpubind_status_text(-5), "not a status code");
    assert_string_equal(cpubind_role_word(-1), "?");
    assert_string_equal(cpubind_role_word(CPUBIND_ROLE_COUNT), "?");
}

TEST(the_version_is_one_in_code_macros_and_title_line)
{
    FILE *file = fopen("cpubind.h", "r");
    int a = -1, b = -1, c = -1;
    char text[32];
    if (!file)
        SKIP("cpubind.h is not here");
    assert_int_equal(fscanf(file, "/* cpubind.h - v%d.%d.%d - ", &a, &b, &c), 3);
    (void)fclose(file);
    (void)snprintf(text, sizeof text, "%d.%d.%d", a, b, c);
    assert_string_equal(CPUBIND_VERSION, text);
    assert_int_equal(CPUBIND_VERSION_HEX, a << 16 | b << 8 | c);
    assert_int_equal(cpubind_version(), CPUBIND_VERSION_HEX);
}

TEST_FILE(set_up, tear_down)
