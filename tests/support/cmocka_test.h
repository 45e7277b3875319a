/* cmocka_test.h - cmocka with the headers that it needs, and tests that register themselves
 * SPDX-License-Identifier: MIT
 *
 * A TEST registers itself before main, so that a test that is written is a test that runs; the
 * order is that of the file. main is run_registered.
 */
#ifndef CPUBIND_TESTS_SUPPORT_CMOCKA_TEST_H
#define CPUBIND_TESTS_SUPPORT_CMOCKA_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* The tests of this program so far. */
typedef struct registered_tests {
    struct CMUnitTest test[256];
    size_t n;
} registered_tests;

static registered_tests registered;

static inline void register_test(const char *name, CMUnitTestFunction test,
                                 CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    const struct CMUnitTest registering = {name, test, set_up, tear_down, NULL};

    if (registered.n == sizeof registered.test / sizeof *registered.test) {
        fprintf(stderr, "%s: there is no room for one more test\n", name);
        abort();
    }
    registered.test[registered.n++] = registering;
}

/* Runs all of them. The functions come before and after each test that has none of its own. */
static inline int run_registered(const char *program, CMFixtureFunction set_up,
                                 CMFixtureFunction tear_down)
{
    registered_tests run = registered;

    for (size_t i = 0; i < run.n; i++) {
        struct CMUnitTest *test = &run.test[i];

        if (test->setup_func || test->teardown_func)
            continue;
        test->setup_func = set_up;
        test->teardown_func = tear_down;
    }
    print_message("# %s\n", program);
    return _cmocka_run_group_tests(program, run.test, run.n, NULL, NULL);
}

/* A test with functions of its own before and after it. */
#define TEST_WITH(name, set_up, tear_down)                                                     \
    static void name(void **);                                                                 \
    static __attribute__((constructor)) void register_##name(void)                             \
    {                                                                                          \
        register_test(#name, name, set_up, tear_down);                                         \
    }                                                                                          \
    static void name(__attribute__((unused)) void **test_state)

/* A test, and a function that cmocka calls before or after one. */
#define TEST(name)  TEST_WITH(name, NULL, NULL)
#define SETUP(name) static int name(__attribute__((unused)) void **test_state)

#endif
