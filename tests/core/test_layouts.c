/* test_layouts.c - NEAR against the rule of the reference on the layouts of tests/quality
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "../quality/layouts.h"
#include "../quality/rules.h"
#include "../support/test.h"

static const cpubind_role_spec roles = {{2, 1, 1, 1}};
static site host;

static rules_figures figures_of(const layout *row, int is_near)
{
    const cpubind_policy policy = {.strategy = is_near            ? CPUBIND_NEAR
                                               : row->rule == 's' ? CPUBIND_GLOBAL_SLICE
                                                                  : CPUBIND_TOPO_AFFINITY,
                                   .roles = roles};
    rules_pools pools;
    rules_figures figures;
    layout_build(row, &host);
    pools = rules_make(&host.host, &host.devices, &policy);
    figures = rules_measure(&host.host, &host.devices, &roles, &pools);
    rules_free(&pools);
    return figures;
}

TEST(near_is_never_worse_than_the_reference)
{
    for (int32_t i = 0; i < n_layouts; i++) {
        const rules_figures reference = figures_of(&layouts[i], 0);
        const rules_figures near = figures_of(&layouts[i], 1);
        const char *worse = rules_worse(&near, &reference);
        if (worse)
            print_error("%s: %s\n", layouts[i].name, worse);
        assert_null(worse);
    }
}

/* A host with enough CPUs for all. */
TEST(near_refuses_nobody_while_there_are_cpus)
{
    for (int32_t i = 0; i < n_layouts; i++) {
        const rules_figures near = figures_of(&layouts[i], 1);
        const int32_t room = host.host.n_cpu / 5;
        const int32_t n = host.devices.affinity.n;
        if (near.refused != (n > room ? n - room : 0))
            print_error("%s: %d refused\n", layouts[i].name, (int)near.refused);
        assert_int_equal(near.refused, n > room ? n - room : 0);
    }
}

TEST(names_of_layouts_differ)
{
    assert_true(n_layouts >= 60);
    for (int32_t i = 0; i < n_layouts; i++)
        for (int32_t k = 0; k < i; k++)
            assert_string_not_equal(layouts[i].name, layouts[k].name);
}

TEST_FILE(NULL, NULL)
