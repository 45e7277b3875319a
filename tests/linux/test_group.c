/* test_group.c - several bindings with one stream of events
 * SPDX-License-Identifier: MIT
 *
 * Real processes on a fake host (fake_host.h). The tests with events of the kernel are skipped
 * where this process may not get them. No test waits for the end of a period of seconds.
 */
#define _GNU_SOURCE
#include "../../adapters/linux/bind/binding.h"
#include "../support/test.h"
#include "fake_host.h"
#include "fault_table.h"
#include "two_cpus.h"

#define LONG_MS  60000 /* a period that no test waits for */
#define N        3
#define MAIN_CPU (on_stage.cpu[0])
#define ACL_CPU  (on_stage.cpu[1])

static struct {
    cpubind_sys calls; /* of the fake host */
    worker w[N];
    stage_goal goal;
    cpubind_binding *b[N];
    cpubind_group *group;
    int descriptors;
} f;

static void open_one(int i)
{
    const cpubind_bind_options how = {.pid = (int32_t)f.w[i].pid,
                                      .memory = CPUBIND_MEMORY_NONE};
    cpubind_linux_fault why = {0};
    assert_int_equal(cpubind_bind_open(&how, &fault_table, &f.b[i], &why), CPUBIND_LINUX_OK);
    cpubind_group_join(f.group, f.b[i]);
    assert_int_equal(cpubind_bind_apply(f.b[i], &f.goal.goal, &why), CPUBIND_LINUX_OK);
}

SETUP(set_up)
{
    memset(&f, 0, sizeof f);
    if (!stage_make())
        return -1;
    f.calls = stage_table();
    fault_next = &f.calls;
    fault_clear();
    goal_make(&f.goal, MAIN_CPU, ACL_CPU);
    f.descriptors = open_descriptors();
    assert_int_equal(cpubind_group_open(&fault_table, &f.group, NULL), CPUBIND_LINUX_OK);
    for (int i = 0; i < N; i++) { /* a child keeps the locks that are open when it starts */
        worker_start(&f.w[i], "worker");
        stage_list(f.w[i].pid);
    }
    for (int i = 0; i < N; i++)
        open_one(i);
    return 0;
}

SETUP(tear_down)
{
    fault_clear();
    for (int i = 0; i < N; i++) {
        cpubind_bind_close(f.b[i]);
        worker_end(&f.w[i]);
    }
    cpubind_group_close(f.group);
    const int good = open_descriptors() == f.descriptors;
    stage_remove();
    return good && !has_child() ? 0 : -1;
}

/* One pass: calls cpubind_bind_again where there is something to do; a bit for each. */
static unsigned pass(int32_t timeout_ms, cpubind_group_news *news)
{
    unsigned done = 0;
    *news = cpubind_group_wait(f.group, timeout_ms, -1);
    for (int i = 0; i < N; i++) {
        if (!f.b[i] || !cpubind_group_is_due(f.b[i]))
            continue;
        (void)cpubind_bind_again(f.b[i], NULL);
        done |= 1u << i;
    }
    return done;
}

static void watch_or_skip(void)
{
    cpubind_linux_fault why = {0};
    cpubind_group_news news;
    if (cpubind_group_watch(f.group, &why) != CPUBIND_LINUX_OK) {
        print_message("no events here: %s: %s\n", why.what, strerror(why.error));
        skip();
    }
    cpubind_group_end_period(f.group);
    assert_int_equal(pass(LONG_MS, &news), 7);
    assert_true(news.is_period);
}

TEST(an_event_wakes_the_binding_that_it_is_about_and_no_other)
{
    watch_or_skip();
    const int32_t born = worker_thread_add(&f.w[1], "acl_thread");
    for (int i = 0; i < 10 && !is_on(born, ACL_CPU); i++) {
        cpubind_group_news news;
        assert_int_equal(pass(LONG_MS, &news) & ~2u, 0);
        assert_false(news.is_period);
    }
    assert_true(is_on(born, ACL_CPU));
}

TEST(a_process_of_no_binding_is_said_and_its_names_wake_nobody)
{
    worker other;
    cpubind_group_news news = {.is_period = 0};
    watch_or_skip();
    worker_start(&other, "other");
    for (int i = 0; i < 10 && !news.has_other; i++)
        assert_int_equal(pass(LONG_MS, &news), 0);
    assert_true(news.has_other);
    /* When another process of this machine starts meanwhile, that is said, too. */
    for (int i = 0; i < 1000 && news.has_other; i++) {
        while (cpubind_group_wait(f.group, LONG_MS, 0).has_other) {
        }
        (void)worker_tell(&other, 'r', "renamed", (int32_t)other.pid);
        cpubind_group_end_period(f.group);
        news = cpubind_group_wait(f.group, LONG_MS, -1);
    }
    assert_false(news.has_other);
    worker_end(&other);
}

TEST(a_process_that_ends_ends_the_wait)
{
    cpubind_group_news news = {.is_period = 0};
    worker_end(&f.w[2]);
    for (int i = 0; i < 10 && !news.has_ended; i++)
        (void)pass(LONG_MS, &news);
    assert_true(news.has_ended);
    assert_int_equal(cpubind_bind_again(f.b[2], NULL), CPUBIND_LINUX_ERR_GONE);
}

TEST(a_binding_that_is_closed_leaves_its_group)
{
    cpubind_group_news news;
    watch_or_skip();
    cpubind_bind_close(f.b[0]);
    f.b[0] = NULL;
    const int32_t born = worker_thread_add(&f.w[2], "acl_thread");
    (void)worker_thread_add(&f.w[0], "acl_thread");
    for (int i = 0; i < 10 && !is_on(born, ACL_CPU); i++)
        (void)pass(LONG_MS, &news);
    assert_true(is_on(born, ACL_CPU));
}

TEST(events_that_fail_are_said_once_and_periods_go_on)
{
    cpubind_group_news news;
    watch_or_skip();
    const int32_t born = worker_thread_add(&f.w[0], "acl_thread");
    fault_set(CALL_recvfrom, 1, EIO);
    (void)pass(LONG_MS, &news);
    assert_int_equal(news.why.error, EIO);
    assert_false(cpubind_group_has_events(f.group));
    fault_clear();
    cpubind_group_end_period(f.group);
    assert_int_equal(pass(1, &news), 7);
    assert_int_equal(news.why.error, 0);
    assert_true(is_on(born, ACL_CPU));
}

TEST(lost_events_make_all_bindings_look_at_all_threads)
{
    cpubind_group_news news;
    watch_or_skip();
    (void)worker_thread_add(&f.w[0], "acl_thread");
    fault_set(CALL_recvfrom, 1, ENOBUFS);
    assert_int_equal(pass(LONG_MS, &news), 7);
    assert_true(news.has_other);
}

TEST(without_memory_or_descriptors_a_group_works_by_periods)
{
    static const struct {
        call which;
        int error;
    } cases[] = {{CALL_pidfd_open, EMFILE}, {CALL_realloc, ENOMEM}, {CALL_poll, ENOMEM}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cpubind_group_news news;
        cpubind_bind_close(f.b[0]);
        fault_set(cases[i].which, 1, cases[i].error);
        f.b[0] = NULL;
        news = cpubind_group_wait(f.group, 1, -1);
        fault_clear();
        open_one(0);
        fault_set(cases[i].which, 1, cases[i].error);
        const int32_t born = worker_thread_add(&f.w[0], "acl_thread");
        for (int k = 0; k < 3; k++)
            (void)pass(1, &news);
        fault_clear();
        for (int k = 0; k < 3; k++)
            (void)pass(1, &news);
        assert_true(is_on(born, ACL_CPU));
    }
}

static int run_all(void)
{
    return run_on_two_cpus("group", set_up, tear_down);
}

TEST_PROGRAM(run_all)
