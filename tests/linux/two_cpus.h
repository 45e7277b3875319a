/* two_cpus.h - tests that need two CPUs, to move threads from one to the other
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_LINUX_TWO_CPUS_H
#define CPUBIND_TESTS_LINUX_TWO_CPUS_H

#include "../support/cmocka_test.h"
#include "test_process.h"

/* run_registered, or a word that this process may use one CPU alone. */
static inline int run_on_two_cpus(const char *program, CMFixtureFunction set_up,
                                  CMFixtureFunction tear_down)
{
    int32_t cpu[2];
    if (two_cpus(cpu))
        return run_registered(program, set_up, tear_down);
    print_message("1..0 # SKIP with one CPU there is nothing to move\n");
    return 0;
}

#endif /* CPUBIND_TESTS_LINUX_TWO_CPUS_H */
