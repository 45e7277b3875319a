/* views.c - an NPU has the same CPUs in a container as on its host; two NPUs share none
 * SPDX-License-Identifier: MIT
 *
 * A new pair of fixtures, a host and a container, is a row of a table here.
 */
#include "fixtures.h"

typedef struct npu_of_view {
    const char *host, *option;
    int32_t npu; /* logic id in this view */
} npu_of_view;

/* The two views of each row name one NPU. */
static const npu_of_view pairs[][2] = {
    {{"a2-cards-host", NULL, 0}, {"a2-cards-container-a", NULL, 0}},
    {{"a2-cards-host", NULL, 1}, {"a2-cards-container-b", NULL, 0}},
    {{"a2-starting-host", "rank=2", 2}, {"a2-starting-container-a", "rank=0", 0}},
    {{"a2-starting-host", "rank=3", 3}, {"a2-starting-container-a", "rank=1", 1}},
    {{"a2-idle-host", NULL, 3}, {"a2-idle-container-a", NULL, 0}},
    {{"a2-cards-host", NULL, 0}, {"a2-idle-host", NULL, 0}},
    {{"a2-lost-host", NULL, 2}, {"a2-lost-container-a", NULL, 0}},
    {{"a2-cards-host", NULL, 2}, {"a2-lost-host", NULL, 2}},
    {{"a2-column-host", NULL, 1}, {"a2-column-container-a", NULL, 0}},
    {{"a2-cards-host", NULL, 0}, {"a2-board-container-a", NULL, 0}},
    {{"a2-driver-host", NULL, 1}, {"a2-driver-container-a", NULL, 0}},
    {{"a2-driver-host", NULL, 0}, {"a2-driver-container-b", NULL, 0}},
    {{"a2-driver-host", NULL, 3}, {"a2-driver-container-b", NULL, 1}},
    {{"a2-driver-smi-host", "facts=npu-smi", 3}, {"a2-driver-smi-host", "facts=driver", 3}},
    {{"a2-driver-host", NULL, 3}, {"a2-driver-smi-host", "facts=npu-smi", 3}},
    {{"a3-pod-host", "npus=4-7", 4}, {"a3-pod-container-a", "scope=own", 0}},
    {{"a3-pod-host", "npus=4-7", 7}, {"a3-pod-container-a", "scope=own", 3}},
};

/* The two views of each row name different NPUs, whose pools have no CPU in common. */
static const npu_of_view strangers[][2] = {
    {{"a2-cards-container-a", NULL, 0}, {"a2-cards-container-b", NULL, 0}},
    {{"a2-virtual-npu-a", NULL, 0}, {"a2-virtual-npu-b", NULL, 0}},
    {{"a2-vm-one-node-a", NULL, 0}, {"a2-vm-one-node-b", NULL, 0}},
    {{"a2-crossed-container-a", "scope=host", 0}, {"a2-crossed-container-b", "scope=host", 0}},
    {{"a2-crossed-container-a", "scope=host", 1}, {"a2-crossed-container-b", "scope=host", 1}},
    {{"a3-pod-container-a", "scope=own", 3}, {"a3-pod-container-b", "scope=own", 0}},
    {{"a3-pod-container-a", "scope=own", 3}, {"a3-pod-container-c", NULL, 0}},
    {{"a3-no-start-host", "npus=0", 0}, {"a3-no-start-host", "npus=15", 15}},
};

static cpb_plan *plan_of(const npu_of_view *view)
{
    const int is_a3 = strcmp(view->host, "a3-no-start-host") == 0;
    const char *const options[] = {view->option ? view->option
                                   : is_a3      ? "device-type=a3"
                                                : NULL,
                                   is_a3 ? "device-type=a3" : NULL, NULL};
    cpb_error *error = NULL;
    cpb_host *host = open_fixture(view->host);
    cpb_plan *plan = cpb_plan_make(host, options, &error);
    if (!plan)
        fail_msg("%s: %s", view->host, cpb_error_text(error));
    cpb_host_close(host);
    return plan;
}

TEST(an_npu_has_the_same_cpus_in_every_view)
{
    static const char *const lists[] = {"pool", "irq", "main", "acl", "release"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const npu_of_view *a = &pairs[i][0], *b = &pairs[i][1];
        cpb_plan *plan_a = plan_of(a), *plan_b = plan_of(b);
        const int32_t *cpu_a, *cpu_b;
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
            const int32_t n = cpb_plan_cpus(plan_a, a->npu, lists[k], &cpu_a);
            if (n < 1 || cpb_plan_cpus(plan_b, b->npu, lists[k], &cpu_b) != n ||
                memcmp(cpu_a, cpu_b, (size_t)n * sizeof *cpu_a) != 0)
                fail_msg("%s and %s: \"%s\" differs", a->host, b->host, lists[k]);
        }
        assert_int_equal(cpb_plan_memory_node(plan_a, a->npu),
                         cpb_plan_memory_node(plan_b, b->npu));
        cpb_plan_free(plan_a);
        cpb_plan_free(plan_b);
    }
}

TEST(two_npus_have_no_cpu_in_common)
{
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        unsigned char is_used[1024] = {0};
        for (size_t k = 0; k < 2; k++) {
            const npu_of_view *view = &strangers[i][k];
            const int32_t *cpu;
            cpb_plan *plan = plan_of(view);
            const int32_t n = cpb_plan_cpus(plan, view->npu, "pool", &cpu);
            assert_true(n > 0);
            for (int32_t at = 0; at < n; at++)
                if (is_used[cpu[at]]++)
                    fail_msg("%s: CPU %d is in two plans", view->host, (int)cpu[at]);
            cpb_plan_free(plan);
        }
    }
}

/* Without scope host the same two containers share CPUs, and both plans say so. */
TEST(plans_that_share_cpus_carry_a_warning)
{
    static const npu_of_view both[] = {{"a2-crossed-container-a", NULL, 0},
                                       {"a2-crossed-container-b", NULL, 0}};
    for (size_t i = 0; i < 2; i++) {
        cpb_plan *plan = plan_of(&both[i]);
        assert_non_null(strstr(cpb_plan_json(plan), "\"partial_cpuset\""));
        cpb_plan_free(plan);
    }
}

TEST_FILE(NULL, NULL)
