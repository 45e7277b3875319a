/* two_cpus.h - tests that need two CPUs, to move threads from one to the other
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_LINUX_TWO_CPUS_H
#define CPUBIND_TESTS_LINUX_TWO_CPUS_H

#include "../support/test.h"
#include "test_process.h"

/* run_registered, or a word that this process may use one CPU alone. */
#define run_on_two_cpus(name, set_up, tear_down)                                               \
    (has_two_cpus() ? run_registered(name, set_up, tear_down) : 0)

static inline int has_two_cpus(void)
{
    int32_t cpu[2];
    if (two_cpus(cpu))
        return 1;
    print_message("1..0 # SKIP with one CPU there is nothing to move\n");
    return 0;
}

#endif /* CPUBIND_TESTS_LINUX_TWO_CPUS_H */
