/* test_host_pairs.c - an NPU has the same CPUs in a container as on its host
 * SPDX-License-Identifier: MIT
 *
 * Compares expectations of fixtures/hosts/, which test_hosts.c holds against the command. A new
 * pair of a host and a container is a row of a table here.
 */
#include "expectations.h"

typedef struct npu_of_view {
    const char *host, *expected; /* the host, name of its expectation */
    int npu;                     /* logic id in this view */
} npu_of_view;

/* The two views of each row name one NPU. */
static const npu_of_view pairs[][2] = {
    {{"a2-cards-host", "default", 0}, {"a2-cards-container-a", "default", 0}},
    {{"a2-cards-host", "default", 1}, {"a2-cards-container-b", "default", 0}},
    {{"a2-starting-host", "rank-2", 2}, {"a2-starting-container-a", "rank-0", 0}},
    {{"a2-starting-host", "rank-3", 3}, {"a2-starting-container-a", "rank-1", 1}},
    {{"a2-idle-host", "default", 3}, {"a2-idle-container-a", "default", 0}},
    {{"a2-cards-host", "default", 0}, {"a2-idle-host", "default", 0}},
    {{"a2-lost-host", "default", 2}, {"a2-lost-container-a", "default", 0}},
    {{"a2-cards-host", "default", 2}, {"a2-lost-host", "default", 2}},
    {{"a2-column-host", "default", 1}, {"a2-column-container-a", "default", 0}},
    {{"a2-cards-host", "default", 0}, {"a2-board-container-a", "default", 0}},
    {{"a2-driver-host", "default", 1}, {"a2-driver-container-a", "default", 0}},
    {{"a2-driver-host", "default", 0}, {"a2-driver-container-b", "default", 0}},
    {{"a2-driver-host", "default", 3}, {"a2-driver-container-b", "default", 1}},
    {{"a2-driver-smi-host", "npu-smi", 3}, {"a2-driver-smi-host", "driver", 3}},
    {{"a2-driver-host", "default", 3}, {"a2-driver-smi-host", "npu-smi", 3}},
    {{"a3-pod-host", "npus-4-7", 4}, {"a3-pod-container-a", "own", 0}},
    {{"a3-pod-host", "npus-4-7", 7}, {"a3-pod-container-a", "own", 3}},
};

/* The two views of each row name different NPUs, whose pools have no CPU in common. */
static const npu_of_view strangers[][2] = {
    {{"a2-cards-container-a", "default", 0}, {"a2-cards-container-b", "default", 0}},
    {{"a2-crossed-container-a", "host", 0}, {"a2-crossed-container-b", "host", 0}},
    {{"a2-crossed-container-a", "host", 1}, {"a2-crossed-container-b", "host", 1}},
    {{"a3-pod-container-a", "own", 3}, {"a3-pod-container-b", "own", 0}},
    {{"a3-pod-container-a", "own", 3}, {"a3-pod-container-c", "default", 0}},
    {{"a3-no-start-host", "npu-0", 0}, {"a3-no-start-host", "npus-15", 15}},
};

static expectations all;

SETUP(read_all)
{
    all = read_expectations();
    return 0;
}

SETUP(free_all)
{
    free_expectations(&all);
    return 0;
}

/* The plan that is expected. */
static const json_t *plan_of(const npu_of_view *view)
{
    char label[256];
    snprintf(label, sizeof label, "%s, %s", view->host, view->expected);
    for (size_t i = 0; i < all.n; i++)
        if (strcmp(all.row[i].label, label) == 0)
            return json_object_get(all.row[i].body, "plan");
    fail_msg("%s is not there", label);
    return NULL;
}

static const json_t *npu_of(const npu_of_view *view)
{
    const json_t *npus = json_object_get(plan_of(view), "devices");
    for (size_t i = 0; i < json_array_size(npus); i++)
        if (json_integer_value(json_object_get(json_array_get(npus, i), "npu")) == view->npu)
            return json_array_get(npus, i);
    fail_msg("%s, %s has no NPU %d", view->host, view->expected, view->npu);
    return NULL;
}

TEST(an_npu_has_the_same_cpus_in_every_view)
{
    static const char *const keys[] = {"pool",    "irq",   "main",       "acl",
                                       "release", "nodes", "memory_node"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const json_t *npu[] = {npu_of(&pairs[i][0]), npu_of(&pairs[i][1])};
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (!json_object_get(npu[0], keys[k]) ||
                !json_equal(json_object_get(npu[0], keys[k]), json_object_get(npu[1], keys[k])))
                fail_msg("%s and %s: \"%s\" differs", pairs[i][0].host, pairs[i][1].host,
                         keys[k]);
    }
}

/* Marks the CPUs of a list; fails when one is marked already. */
static void mark(const char *list, unsigned char *is_used, const npu_of_view *view)
{
    int first, last, n;
    while (sscanf(list, "%d%n", &first, &n) == 1) {
        list += n;
        last = first;
        if (sscanf(list, "-%d%n", &last, &n) == 1)
            list += n;
        for (int cpu = first; cpu <= last; cpu++)
            if (is_used[cpu]++)
                fail_msg("%s: CPU %d is in two plans", view->host, cpu);
        list += *list == ',';
    }
    assert_string_equal(list, "");
}

TEST(two_npus_have_no_cpu_in_common)
{
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        unsigned char is_used[1024] = {0};
        for (size_t k = 0; k < 2; k++) {
            const json_t *npu = npu_of(&strangers[i][k]);
            mark(json_string_value(json_object_get(npu, "pool")), is_used, &strangers[i][k]);
        }
    }
}

/* Without scope host the same two containers share CPUs, and both plans say so. */
TEST(plans_that_share_cpus_carry_a_warning)
{
    static const npu_of_view both[] = {{"a2-crossed-container-a", "default", 0},
                                       {"a2-crossed-container-b", "default", 0}};
    for (size_t i = 0; i < 2; i++) {
        const json_t *warnings = json_object_get(plan_of(&both[i]), "warnings");
        int n = 0;
        for (size_t k = 0; k < json_array_size(warnings); k++)
            n += strcmp(json_string_value(json_array_get(warnings, k)), "partial_cpuset") == 0;
        assert_int_equal(n, 1);
    }
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_npu_has_the_same_cpus_in_every_view),
        cmocka_unit_test(two_npus_have_no_cpu_in_common),
        cmocka_unit_test(plans_that_share_cpus_carry_a_warning),
    };
    return cmocka_run_group_tests_name("host pairs", tests, read_all, free_all);
}

TEST_PROGRAM(run_all)
