/* test_bind_roles.c - threads with the names of the table, patterns, and threads that are left
 * SPDX-License-Identifier: MIT
 *
 * Real threads on real CPUs, with the folder of records in a scratch folder (fake_host.h).
 */
#define _GNU_SOURCE
#include "../support/test.h"
#include "fake_host.h"
#include "two_cpus.h"

enum { MOST = 32 };

static struct {
    cpubind_sys sys;
    worker w;
    cpubind_bind_options how;
    cpubind_binding *b;
    cpubind_linux_fault why;
    cpubind_thread_rule rule[MOST];
    stage_goal stage;
    cpubind_goal *goal;
    char before[STAGE_TEXT];
} f;

#include "bound.h"

static int32_t add_thread(const char *name)
{
    const int32_t tid = worker_thread_add(&f.w, name);
    put_on_both(tid);
    return tid;
}

static void add_rule(const char *pattern, int32_t cpu)
{
    cpubind_thread_rule *rule = &f.rule[f.goal->n_rule++];
    assert_true(f.goal->n_rule <= MOST);
    *rule = (cpubind_thread_rule){
        pattern, {cpu == MAIN_CPU ? &f.stage.cpu[0] : &f.stage.cpu[1], 1}, 0};
    rule->is_left = cpu < 0;
    if (rule->is_left)
        rule->cpus = (cpubind_cpus){NULL, 0};
}

SETUP(set_up)
{
    memset(&f, 0, sizeof f);
    if (!stage_make())
        return -1;
    f.sys = stage_table();
    worker_start(&f.w, "worker");
    put_on_both((int32_t)f.w.pid);
    stage_list(f.w.pid);
    f.how = (cpubind_bind_options){.pid = (int32_t)f.w.pid, .memory = CPUBIND_MEMORY_NONE};
    goal_make(&f.stage, MAIN_CPU, OTHER_CPU);
    f.goal = &f.stage.goal;
    f.goal->rule = f.rule;
    f.goal->n_rule = 0;
    return 0;
}

SETUP(tear_down)
{
    cpubind_bind_close(f.b);
    worker_end(&f.w);
    stage_remove();
    return has_child() ? -1 : 0;
}

static void open_and_apply(void)
{
    snapshot_threads(f.before);
    open_binding();
    assert_ok(cpubind_bind_apply(f.b, f.goal, &f.why));
}

/* Restores from the record alone, as another process would. */
static void restore_afresh(void)
{
    char after[STAGE_TEXT];
    cpubind_bind_close(f.b);
    open_binding();
    restore_and_close();
    snapshot_threads(after);
    assert_string_equal(after, f.before);
}

/* A name that a row of the table fits: 7 in place of the star. */
static void name_of(const cpubind_thread_role *row, char name[64])
{
    char *star;
    cpubind_thread_role_name(row, 0, name, 64);
    star = strchr(name, '*');
    if (star)
        *star = '7';
}

TEST(each_row_of_the_table_is_applied_verified_and_restored)
{
    const cpubind_thread_role *row;
    int32_t tid[MOST], n = 0;
    char name[64];
    for (int32_t i = 0; (row = cpubind_thread_role_at(i)) != NULL; i++)
        if (row->named == CPUBIND_NAMED_THREAD)
            add_rule(row->pattern, row->role == CPUBIND_ROLE_MAIN ? MAIN_CPU : OTHER_CPU);
    for (int32_t i = 0; (row = cpubind_thread_role_at(i)) != NULL; i++)
        if (row->named == CPUBIND_NAMED_THREAD) {
            name_of(row, name);
            tid[n++] = add_thread(name);
        }
    tid[n] = add_thread("python3.11");
    open_and_apply();
    for (int32_t i = 0; i < n; i++)
        if (!is_on(tid[i], f.rule[i].cpus.cpu[0]))
            fail_msg("%s", f.rule[i].name);
    assert_true(is_on(tid[n], MAIN_CPU));
    verify();
    assert_int_equal(count_items(CPUBIND_ITEM_WRONG), 0);
    assert_int_equal(count_items(CPUBIND_ITEM_RIGHT), n + 3); /* "worker", "control" too */
    put_on(tid[0], MAIN_CPU);
    verify();
    assert_int_equal(count_items(CPUBIND_ITEM_WRONG), 1);
    restore_afresh();
}

TEST(the_first_pattern_that_fits_counts)
{
    const int32_t exact = add_thread("kv_send_0"), other = add_thread("kv_send_1");
    const int32_t cut = add_thread("a_name_of_many_characters");
    add_rule("kv_send_0", MAIN_CPU);
    add_rule("kv_*", OTHER_CPU);
    add_rule("kv_send_1", MAIN_CPU);
    add_rule("a_name_of_many_letters*", OTHER_CPU);
    open_and_apply();
    assert_true(is_on(exact, MAIN_CPU));
    assert_true(is_on(other, OTHER_CPU));
    assert_true(is_on(cut, OTHER_CPU)); /* both are "a_name_of_many_" */
    restore_afresh();
}

TEST(threads_that_are_left_are_reported_and_not_moved)
{
    const int32_t left = add_thread("hccl_watchdog_t"), plain = add_thread("plain");
    put_on(left, OTHER_CPU);
    add_rule("hccl_*", -1);
    open_and_apply();
    (void)assert_result(left, CPUBIND_ITEM_LEFT);
    assert_int_equal(count_items(CPUBIND_ITEM_LEFT), 1);
    assert_true(is_on(left, OTHER_CPU));
    assert_true(is_on(plain, MAIN_CPU));
    verify();
    (void)assert_result(left, CPUBIND_ITEM_LEFT);
    assert_int_equal(count_items(CPUBIND_ITEM_WRONG), 0);
    assert_int_equal(again(), 0);
    restore_afresh();
}

/* What a thread that is left does to itself is its own affair. */
TEST(restore_leaves_a_thread_that_was_left)
{
    const int32_t left = add_thread("own");
    add_rule("own", -1);
    open_and_apply();
    put_on(left, MAIN_CPU);
    cpubind_bind_close(f.b);
    open_binding();
    assert_ok(cpubind_bind_restore(f.b, &f.why));
    assert_true(is_on_both((int32_t)f.w.pid));
}

TEST(all_threads_may_be_left)
{
    char after[STAGE_TEXT];
    add_rule("*", -1);
    f.how.is_strict = 1;
    snapshot_threads(f.before);
    open_binding();
    assert_ok(cpubind_bind_apply(f.b, f.goal, &f.why));
    (void)masks_of(f.w.pid, after, STAGE_TEXT);
    assert_memory_equal(after, f.before, strlen(after));
    assert_int_equal(count_items(CPUBIND_ITEM_LEFT), 2);
    restore_afresh();
}

/* A watch with and without open names looks at new names. */
TEST(a_thread_that_is_renamed_later_moves)
{
    const int32_t tid = add_thread("python3.11"), left = add_thread("own_1");
    add_rule("hccl_watchdog*", OTHER_CPU);
    add_rule("own_*", -1);
    open_and_apply();
    assert_true(is_on(tid, MAIN_CPU));
    for (int i = 0; i < 3; i++) {
        (void)worker_tell(&f.w, 'r', "hccl_watchdog_t", tid);
        (void)again();
        assert_true(is_on(tid, OTHER_CPU));
        (void)worker_tell(&f.w, 'r', "own_2", tid); /* it stays where it is */
        (void)again();
        assert_true(is_on(tid, OTHER_CPU));
        (void)worker_tell(&f.w, 'r', "other", tid);
        (void)again();
        assert_true(is_on(tid, MAIN_CPU));
    }
    /* A thread that was left has a rule now: it is recorded before it is moved. */
    (void)worker_tell(&f.w, 'r', "other", left);
    (void)again();
    assert_true(is_on(left, MAIN_CPU));
    restore_afresh();
}

TEST(a_rule_that_fits_no_name_is_refused)
{
    add_rule("*1234567890123456", OTHER_CPU);
    snapshot_threads(f.before);
    open_binding();
    assert_int_equal(cpubind_bind_apply(f.b, f.goal, &f.why), CPUBIND_LINUX_ERR_ARG);
    assert_string_equal(f.why.what, "goal");
    f.goal->rule[0].name = "";
    assert_int_equal(cpubind_bind_apply(f.b, f.goal, &f.why), CPUBIND_LINUX_ERR_ARG);
}

static int run_all(void)
{
    return run_on_two_cpus("bind_roles", set_up, tear_down);
}

TEST_PROGRAM(run_all)
