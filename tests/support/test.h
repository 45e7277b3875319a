/* test.h - how a test in C is written: cmocka, in words, in files that register themselves
 * SPDX-License-Identifier: MIT
 *
 *   TEST(name) { ... }              a test
 *   TEST_FILE(set_up, tear_down)    the last line of a file, once: its tests are a group, which
 *                                   has the name of the file: tests/core/test_near.c is
 *                                   core/near. The two are called around each test that has
 *                                   none of its own
 *   TEST_SOURCE(list, run)          groups that files of data make
 *   SKIP(why)                       ends a test: what it needs is not here
 *   rounds(n), one_in(n)            of n random trials, as many as this run has time for; of a
 *                                   list one in n, or all
 *
 * All files are linked into one program (program.c). What is compared is said in words: what
 * came, and what was wanted.
 */
#ifndef CPUBIND_TESTS_SUPPORT_TEST_H
#define CPUBIND_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAX_TESTS = 256 };

/* The tests of a file, in its order. */
typedef struct test_group {
    const char *path;     /* of the file; NULL until TEST_FILE */
    int (*program)(void); /* in place of the tests, where a file has a main of its own */
    struct CMUnitTest test[MAX_TESTS];
    size_t n;
    struct test_group *next;
} test_group;

/* Groups that are found when the program runs. */
typedef struct test_source {
    void (*list)(void (*found)(const char *group));
    int (*run)(const char *group); /* prints TAP: how many tests have failed */
    struct test_source *next;
} test_source;

void test_add_group(test_group *group);
void test_add_source(test_source *source);

static inline void test_add(test_group *group, const char *name, CMUnitTestFunction test,
                            CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    const struct CMUnitTest added = {name, test, set_up, tear_down, NULL};

    if (group->n == MAX_TESTS) {
        fprintf(stderr, "%s: there is no room for one more test\n", name);
        abort();
    }
    group->test[group->n++] = added;
}

/* The functions come before and after each test that has none of its own. */
static inline void test_set_around(test_group *group, CMFixtureFunction set_up,
                                   CMFixtureFunction tear_down)
{
    for (size_t i = 0; i < group->n; i++) {
        struct CMUnitTest *test = &group->test[i];

        if (test->setup_func || test->teardown_func)
            continue;
        test->setup_func = set_up;
        test->teardown_func = tear_down;
    }
}

static inline void test_end_file(test_group *group, const char *path, CMFixtureFunction set_up,
                                 CMFixtureFunction tear_down)
{
    test_set_around(group, set_up, tear_down);
    group->path = path;
    test_add_group(group);
}

static inline int test_run_group(const test_group *group, CMFixtureFunction set_up,
                                 CMFixtureFunction tear_down)
{
    test_group run = *group;

    test_set_around(&run, set_up, tear_down);
    return _cmocka_run_group_tests(group->path, run.test, run.n, NULL, NULL);
}

static __attribute__((unused)) test_group tests_of_file;

/* A test with functions of its own before and after it. */
#define TEST_WITH(name, set_up, tear_down)                                                     \
    static void name(void **);                                                                 \
    static __attribute__((constructor)) void register_##name(void)                             \
    {                                                                                          \
        test_add(&tests_of_file, #name, name, set_up, tear_down);                              \
    }                                                                                          \
    static void name(__attribute__((unused)) void **test_state)

#define TEST(name)  TEST_WITH(name, NULL, NULL)
#define SETUP(name) static int name(__attribute__((unused)) void **test_state)

#define TEST_FILE(set_up, tear_down)                                                           \
    static __attribute__((constructor)) void register_file(void)                               \
    {                                                                                          \
        test_end_file(&tests_of_file, __FILE__, set_up, tear_down);                            \
    }

/* The last line of a file that runs its tests itself: a function as main(void). */
#define TEST_PROGRAM(run_all)                                                                  \
    static __attribute__((constructor)) void register_file(void)                               \
    {                                                                                          \
        tests_of_file.program = run_all;                                                       \
        test_end_file(&tests_of_file, __FILE__, NULL, NULL);                                   \
    }

/* Runs the tests of this file. */
#define run_registered(name, set_up, tear_down)                                                \
    test_run_group(&tests_of_file, set_up, tear_down)

#define TEST_SOURCE(list, run)                                                                 \
    static __attribute__((constructor)) void register_source(void)                             \
    {                                                                                          \
        static test_source source = {list, run, NULL};                                         \
        test_add_source(&source);                                                              \
    }

/* The program shows the reason beside the test (program.c). */
#define SKIP(why)                                                                              \
    do {                                                                                       \
        print_message("# because: %s\n", why);                                                 \
        skip();                                                                                \
    } while (0)

/* How many of n random trials are made: CPUBIND_ROUNDS is their percentage, which tests/run
 * sets for `check`. At least one. */
static inline uint64_t rounds(uint64_t n)
{
    const char *text = getenv("CPUBIND_ROUNDS");
    const uint64_t part = text ? n * strtoull(text, NULL, 10) / 100 : n;

    return part ? part : 1;
}

/* The step through what is tried one after the other: n where there is no time for all. */
static inline int one_in(int n)
{
    return rounds(100) < 100 ? n : 1;
}

/* cmocka shows numbers in hex, and without the words that they came from. */
static inline void test_same_number(intmax_t came, intmax_t wanted, const char *what,
                                    const char *file, int line)
{
    if (came != wanted) {
        print_error("%s:%d: %s is %jd, not %jd\n", file, line, what, came, wanted);
        _fail(file, line);
    }
}

#undef assert_int_equal
#define assert_int_equal(came, wanted)                                                         \
    test_same_number((intmax_t)(came), (intmax_t)(wanted), #came, __FILE__, __LINE__)

#endif
