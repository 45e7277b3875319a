/* fixtures.c - what holds of the plan of every host of fixtures/, by the C ABI
 * SPDX-License-Identifier: MIT
 */
#include <glob.h>
#include <string.h>

#include "../../adapters/api/cpubind_api.h"
#include "../support/test.h"

/* The plan of a host by some rules, or NULL and why. */
static cpb_plan *plan_by(cpb_host *host, const char *rules, cpb_error **error)
{
    const char *const options[] = {rules, NULL};
    *error = NULL;
    return cpb_plan_make(host, options, error);
}

/* The sum of a figure over the devices that the process sees; how many of them have a pool. */
static int32_t sum_of(const cpb_plan *plan, const char *figure, int32_t *n_pool)
{
    const int32_t *device, *cpus;
    int32_t sum = 0;
    const int32_t n = cpb_plan_devices(plan, &device);
    *n_pool = 0;
    for (int32_t i = 0; i < n; i++) {
        *n_pool += cpb_plan_cpus(plan, device[i], "pool", &cpus) > 0;
        sum += cpb_plan_quality(plan, device[i], figure);
    }
    return sum;
}

static void expect_no_worse(const char *name, const cpb_plan *near, const cpb_plan *reference)
{
    static const char *const figures[] = {"irq_off_node", "split_cores"};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        int32_t n_pool, n_other;
        const int32_t is = sum_of(near, figures[i], &n_pool);
        const int32_t other = sum_of(reference, figures[i], &n_other);
        if (n_pool < n_other)
            fail_msg("%s: near has %d pools, the reference %d", name, n_pool, n_other);
        if (n_pool == n_other && other >= 0 && is > other) /* below 0: it is not known */
            fail_msg("%s: %s is %d by near, %d by the reference", name, figures[i], is, other);
    }
}

/* What near refuses, the reference refuses as well, unless near cannot read which CPUs share a
 * core; by near no more cores are split, and no more IRQ CPUs are off their node. */
TEST(near_plans_every_fixture_at_least_as_well_as_the_reference)
{
    glob_t found;
    int32_t n_both = 0;
    assert_int_equal(glob("fixtures/hosts/*.host", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = found.gl_pathv[i];
        cpb_error *error = NULL, *other = NULL;
        cpb_host *host = cpb_host_folder(name, &error);
        assert_non_null(host);
        cpb_plan *near = plan_by(host, "rules=near", &error);
        cpb_plan *reference = plan_by(host, "rules=reference", &other);
        if (near && reference)
            expect_no_worse(name, near, reference);
        else if (reference && !strstr(name, "damaged"))
            fail_msg("%s: refused by near alone: %s", name, cpb_error_text(error));
        n_both += near && reference;
        cpb_plan_free(near);
        cpb_plan_free(reference);
        cpb_error_free(error);
        cpb_error_free(other);
        cpb_host_close(host);
    }
    assert_in_range(n_both, 100, found.gl_pathc);
    globfree(&found);
}

TEST_FILE(NULL, NULL)
