/* test_thread_roles.c - the table of the names of threads, work queues and interrupts
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "../../adapters/ascend/thread_roles.h"
#include "../support/test.h"

static int32_t count_rows(void)
{
    int32_t n = 0;
    while (cpubind_thread_role_at(n))
        n++;
    return n;
}

TEST(each_row_is_whole)
{
    for (int32_t i = 0; i < count_rows(); i++) {
        const cpubind_thread_role *row = cpubind_thread_role_at(i);
        const int is_numbered = strstr(row->pattern, CPUBIND_DEVICE_MARK) != NULL;
        char pattern[CPUBIND_PATTERN_SIZE];
        assert_true(*row->giver && *row->why && row->why[strlen(row->why) - 1] != '.');
        assert_true((uint32_t)row->role < CPUBIND_ROLE_COUNT);
        assert_true(row->named != CPUBIND_NAMED_THREAD || !is_numbered);
        if (row->named == CPUBIND_NAMED_THREAD) {
            assert_true(cpubind_pattern_make(row->pattern, pattern));
            assert_string_equal(pattern, row->pattern); /* matched without a copy */
        } else {
            assert_int_equal(row->role, CPUBIND_ROLE_IRQ);
        }
    }
    assert_null(cpubind_thread_role_at(-1));
    assert_null(cpubind_thread_role_at(count_rows()));
}

/* A name that the row fits: what its author calls a thread. */
static void name_of(const cpubind_thread_role *row, char name[64])
{
    size_t n;
    cpubind_thread_role_name(row, 11, name, 64);
    n = strlen(name);
    if (name[n - 1] == '*')
        memcpy(name + n - 1, "7", 2);
}

TEST(no_row_hides_a_later_one)
{
    for (int32_t i = 0; i < count_rows(); i++) {
        const cpubind_thread_role *row = cpubind_thread_role_at(i);
        char name[64];
        name_of(row, name);
        if (row->named == CPUBIND_NAMED_THREAD)
            assert_ptr_equal(cpubind_thread_role_of(name, CPUBIND_THREADS_PRODUCT), row);
        else
            assert_null(cpubind_thread_role_of(name, CPUBIND_THREADS_PRODUCT));
        if (row->named == CPUBIND_NAMED_THREAD && !row->is_reference)
            assert_null(cpubind_thread_role_of(name, CPUBIND_THREADS_REFERENCE));
    }
}

TEST(names_of_the_field_have_the_role_that_is_documented)
{
    static const struct {
        const char *name;
        int role;      /* -1: no row */
        int reference; /* the same with the rows of vllm-ascend alone */
    } cases[] = {
        {"acl_thread", CPUBIND_ROLE_ACL, CPUBIND_ROLE_ACL},
        {"release_thread", CPUBIND_ROLE_RELEASE, CPUBIND_ROLE_RELEASE},
        {"hccl_watchdog_t", CPUBIND_ROLE_RELEASE, -1},
        {"hcclComm_watchd", CPUBIND_ROLE_RELEASE, -1},
        {"RT_RECYCLE", CPUBIND_ROLE_RELEASE, -1},
        {"RT_RECYCLE_0", CPUBIND_ROLE_RELEASE, -1},
        {"KVCacheStoreSen", CPUBIND_ROLE_MAIN, -1},
        {"KVTransferParam", CPUBIND_ROLE_MAIN, -1},
        {"mooncake_transf", CPUBIND_ROLE_MAIN, -1},
        {"MooncakeLookupC", CPUBIND_ROLE_MAIN, -1},
        {"lmcache-grpc-st", CPUBIND_ROLE_MAIN, -1},
        {"acl_thread2", -1, -1},
        {"my_acl_thread", -1, -1},
        {"python3.11", -1, -1},
        {"RT_SEND", -1, -1},
        {"dev3_sq_task", -1, -1},
        {"", -1, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cpubind_thread_role *all =
            cpubind_thread_role_of(cases[i].name, CPUBIND_THREADS_PRODUCT);
        const cpubind_thread_role *few =
            cpubind_thread_role_of(cases[i].name, CPUBIND_THREADS_REFERENCE);
        if ((all ? (int)all->role : -1) != cases[i].role ||
            (few ? (int)few->role : -1) != cases[i].reference)
            fail_msg("%s", cases[i].name);
    }
}

TEST(the_number_of_the_device_is_written_and_cut_to_fit)
{
    static const cpubind_thread_role row = {"dev" CPUBIND_DEVICE_MARK "_sq_task",
                                            CPUBIND_NAMED_KERNEL,
                                            CPUBIND_ROLE_IRQ,
                                            0,
                                            0,
                                            "",
                                            ""};
    static const cpubind_thread_role plain = {
        "plain", CPUBIND_NAMED_THREAD, CPUBIND_ROLE_MAIN, 0, 0, "", ""};
    char name[32];
    cpubind_thread_role_name(&row, 0, name, sizeof name);
    assert_string_equal(name, "dev0_sq_task");
    cpubind_thread_role_name(&row, 2147483647, name, sizeof name);
    assert_string_equal(name, "dev2147483647_sq_task");
    cpubind_thread_role_name(&row, 10, name, 6);
    assert_string_equal(name, "dev10");
    cpubind_thread_role_name(&plain, 3, name, sizeof name);
    assert_string_equal(name, "plain");
}

TEST(words_are_those_of_the_option)
{
    assert_string_equal(cpubind_threads_word(CPUBIND_THREADS_REFERENCE), "reference");
    assert_string_equal(cpubind_threads_word(CPUBIND_THREADS_PRODUCT), "product");
    assert_string_equal(cpubind_named_word(CPUBIND_NAMED_QUEUE), "workqueue");
    assert_string_equal(cpubind_named_word((cpubind_named)99), "thread");
}

TEST_FILE(NULL, NULL)
