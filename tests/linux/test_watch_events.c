/* test_watch_events.c - a watch that the kernel tells of births and names, and its cost
 * SPDX-License-Identifier: MIT
 *
 * Real threads on a fake host (fake_host.h). The tests with events of the kernel are skipped
 * where this process may not get them. No test waits for the end of a period of seconds: what
 * is placed meanwhile is placed because of an event. (Review of live hosts, "Effort of
 * --watch".)
 */
#define _GNU_SOURCE
#include "../../adapters/linux/bind/binding.h"
#include "../support/test.h"
#include "fake_host.h"
#include "fault_table.h"
#include "two_cpus.h"

#define LONG_MS  60000 /* a period that no test waits for */
#define MAIN_CPU (on_stage.cpu[0])
#define ACL_CPU  (on_stage.cpu[1])

static struct {
    cpubind_sys calls; /* of the fake host */
    worker w;
    int32_t acl;
    stage_goal goal;
    cpubind_binding *b;
    int descriptors;
} f;

static void open_and_apply(pid_t pid)
{
    const cpubind_bind_options how = {.pid = (int32_t)pid, .memory = CPUBIND_MEMORY_NONE};
    cpubind_linux_fault why = {0};
    assert_int_equal(cpubind_bind_open(&how, &fault_table, &f.b, &why), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_bind_apply(f.b, &f.goal.goal, &why), CPUBIND_LINUX_OK);
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
    worker_start(&f.w, "worker");
    f.acl = worker_thread_add(&f.w, "acl_thread");
    stage_list(f.w.pid);
    open_and_apply(f.w.pid);
    return 0;
}

SETUP(tear_down)
{
    fault_clear();
    cpubind_bind_close(f.b);
    worker_end(&f.w);
    const int good = open_descriptors() == f.descriptors;
    stage_remove();
    return good && !has_child() ? 0 : -1;
}

static void again(void)
{
    cpubind_linux_fault why = {0};
    assert_int_equal(cpubind_bind_again(f.b, &why), CPUBIND_LINUX_OK);
}

/* One pass of a watch, which waits for events or for the end of a period. */
static void pass(int32_t timeout_ms)
{
    assert_int_equal(cpubind_bind_wait(f.b, timeout_ms), 0);
    again();
}

/* Begins a watch with events of the kernel, and looks at all threads once. */
static void watch_or_skip(void)
{
    cpubind_linux_fault why = {0};
    if (cpubind_bind_watch(f.b, &why) != CPUBIND_LINUX_OK) {
        print_message("no events here: %s: %s\n", why.what, strerror(why.error));
        skip();
    }
    again();
}

/* Whether the thread is placed by passes that events begin. */
static int is_placed_at_once(int32_t tid, int cpu)
{
    for (int i = 0; i < 10 && !is_on(tid, cpu); i++)
        pass(LONG_MS);
    return is_on(tid, cpu);
}

/* == With events ============================================================ */

TEST(a_birth_and_a_name_are_acted_on_at_once)
{
    watch_or_skip();
    const int32_t born = worker_thread_add(&f.w, "acl_thread");
    fault_clear();
    assert_true(is_placed_at_once(born, ACL_CPU));
    /* restore needs no record of it; the end of the period writes one */
    assert_int_equal(fault.count[CALL_rename], 0);
    assert_int_equal(cpubind_bind_report(f.b)->n, 1);
    assert_int_equal(cpubind_bind_report(f.b)->item[0].result, CPUBIND_ITEM_MOVED);
    assert_int_equal(cpubind_bind_report(f.b)->item[0].id, born);
    (void)worker_tell(&f.w, 'r', "other", born);
    assert_true(is_placed_at_once(born, MAIN_CPU));
    assert_true(is_on((int32_t)f.w.pid, MAIN_CPU));
}

enum { N_SHORT = 100, AT_ONCE = 10 };

static void *live_50_ms(void *is_placed)
{
    prctl(PR_SET_NAME, "acl_thread");
    usleep(50000);
    *(char *)is_placed = (char)is_on((int32_t)syscall(SYS_gettid), ACL_CPU);
    return NULL;
}

/* A child with 100 threads that live for 50 ms, ten at a time; its answer is how many were on
 * the CPU of acl at their end. */
static pid_t start_short(int go, int answer)
{
    const pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid > 0)
        return pid;
    static char is_placed[N_SHORT];
    char byte;
    unsigned char n = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    scratch_need(read(go, &byte, 1) == 1, "go");
    for (int i = 0; i < N_SHORT; i += AT_ONCE) {
        pthread_t thread[AT_ONCE];
        for (int k = 0; k < AT_ONCE; k++)
            scratch_need(!pthread_create(&thread[k], NULL, live_50_ms, &is_placed[i + k]),
                         "thread");
        for (int k = 0; k < AT_ONCE; k++)
            pthread_join(thread[k], NULL);
    }
    for (int i = 0; i < N_SHORT; i++)
        n = (unsigned char)(n + is_placed[i]);
    scratch_need(write(answer, &n, 1) == 1, "answer");
    _exit(0);
}

TEST(of_100_threads_that_live_for_50_ms_95_are_placed)
{
    int go[2], answer[2];
    unsigned char n = 0;
    cpubind_bind_close(f.b);
    f.b = NULL;
    scratch_need(pipe(go) == 0 && pipe(answer) == 0, "pipe");
    const pid_t pid = start_short(go[0], answer[1]);
    stage_list(pid);
    open_and_apply(pid);
    watch_or_skip();
    scratch_need(write(go[1], "", 1) == 1, "go");
    while (!cpubind_bind_wait(f.b, LONG_MS)) {
        cpubind_linux_fault why = {0};
        if (cpubind_bind_again(f.b, &why) == CPUBIND_LINUX_ERR_GONE)
            break;
    }
    assert_int_equal(read(answer[0], &n, 1), 1);
    print_message("%d of %d placed\n", n, N_SHORT);
    assert_true(n >= 95);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    for (int i = 0; i < 2; i++) {
        close(go[i]);
        close(answer[i]);
    }
}

/* A mask that somebody changes makes no event: the end of the period finds it, without reading
 * a name. */
TEST(a_period_with_events_looks_at_masks_alone)
{
    watch_or_skip();
    put_on(f.acl, MAIN_CPU);
    fault_clear();
    pass(1);
    assert_true(is_on(f.acl, ACL_CPU));
    fault_clear();
    again();
    assert_int_equal(cpubind_bind_report(f.b)->n, 0);
    assert_int_equal(fault.count[CALL_openat] + fault.count[CALL_pread], 0);
    assert_int_equal(fault.count[CALL_readdir], 0);
    assert_int_equal(fault.count[CALL_getaffinity], 3); /* "control" too */
}

static int is_dropping;

/* Drops the events without a word. */
static ssize_t drop_events(int fd, void *data, size_t cap, int flags, struct sockaddr *from,
                           socklen_t *len)
{
    while (is_dropping && recvfrom(fd, data, cap, flags, from, len) >= 0) {
    }
    return recvfrom(fd, data, cap, flags, from, len);
}

TEST(an_event_that_is_lost_is_made_up_for_by_the_next_look_at_all_threads)
{
    f.calls.recvfrom = drop_events;
    watch_or_skip();
    is_dropping = 1;
    const int32_t born = worker_thread_add(&f.w, "acl_thread");
    pass(1);
    pass(1);
    assert_true(is_on(born, MAIN_CPU));   /* nobody knows of it */
    f.b->next_look_ms = cpubind_now_ms(); /* 10 s later */
    pass(1);
    assert_true(is_on(born, ACL_CPU));
    is_dropping = 0;
}

TEST(an_overflow_makes_the_watch_look_at_all_threads)
{
    watch_or_skip();
    const int32_t born = worker_thread_add(&f.w, "acl_thread");
    is_dropping = 1;
    f.calls.recvfrom = drop_events;
    fault_set(CALL_recvfrom, 1, ENOBUFS);
    pass(LONG_MS);
    assert_int_equal(fault.n_met, 1);
    assert_true(is_on(born, ACL_CPU));
    is_dropping = 0;
}

/* Threads are renamed all the time, and a period ends all the same. */
TEST(a_storm_of_events_does_not_put_off_the_end_of_a_period)
{
    int64_t begin_ms;
    watch_or_skip();
    (void)worker_tell(&f.w, 'c', "", 0);
    const int64_t n_again = f.b->n_again;
    begin_ms = cpubind_now_ms();
    while (f.b->n_again < n_again + 5 && cpubind_now_ms() < begin_ms + 2000)
        pass(10);
    (void)worker_tell(&f.w, 'q', "", 0);
    assert_true(f.b->n_again >= n_again + 5);
}

TEST(another_program_in_the_process_is_looked_at_whole)
{
    watch_or_skip();
    cpubind_proc_news *news = &f.b->news;
    news->is_all = 1; /* as after an event of exec: test_proc_events */
    fault_clear();
    again();
    assert_true(fault.count[CALL_readdir] > 0);
    assert_int_equal(news->is_all, 0);
}

/* Threads that end make no event. */
TEST(a_watch_of_many_ended_threads_looks_at_all_threads)
{
    watch_or_skip();
    fault_clear();
    again();
    assert_int_equal(fault.count[CALL_readdir], 0);
    f.b->n_listed = -200;
    again();
    assert_true(fault.count[CALL_readdir] > 0);
    assert_int_equal(f.b->n_listed, 3);
}

/* == Without events ========================================================= */

TEST(a_watch_without_events_goes_on_by_periods)
{
    static const call calls[] = {CALL_socket, CALL_bind, CALL_sendmsg, CALL_recvfrom};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        cpubind_linux_fault why = {0};
        cpubind_bind_close(f.b);
        open_and_apply(f.w.pid);
        fault_set(calls[i], 1, EPERM);
        assert_int_equal(cpubind_bind_watch(f.b, &why), CPUBIND_LINUX_ERR_REFUSED);
        assert_true(why.error != 0);
        assert_int_equal(cpubind_bind_report(f.b)->no_events.error, why.error);
        fault_clear();
        const int32_t born = worker_thread_add(&f.w, "acl_thread");
        pass(1);
        assert_true(is_on(born, ACL_CPU));
    }
}

TEST(events_that_fail_later_are_news_once_and_the_watch_goes_on)
{
    watch_or_skip();
    const int32_t born = worker_thread_add(&f.w, "acl_thread");
    fault_set(CALL_recvfrom, 1, EIO);
    pass(LONG_MS);
    const cpubind_report *r = cpubind_bind_report(f.b);
    assert_int_equal(r->n, 2);
    assert_string_equal(r->item[0].what, "receive events about");
    assert_int_equal(r->item[0].error, EIO);
    assert_true(is_on(born, ACL_CPU));
    fault_clear();
    pass(1);
    assert_int_equal(cpubind_bind_report(f.b)->n, 0);
    put_on(f.acl, MAIN_CPU);
    pass(1);
    assert_true(is_on(f.acl, ACL_CPU));
}

/* Each use of each call fails once, in four passes in which threads are born and moved; two
 * passes and one look at all threads later everything is where it belongs. */
TEST(a_watch_with_events_survives_every_fault)
{
    static const struct {
        call which;
        int error;
    } cases[] = {
        {CALL_recvfrom, EIO},      {CALL_recvfrom, ENOBUFS}, {CALL_recvfrom, EINTR},
        {CALL_poll, EINTR},        {CALL_poll, ENOMEM},      {CALL_pidfd_open, ENOSYS},
        {CALL_openat, EMFILE},     {CALL_read, EIO},         {CALL_getaffinity, ENOMEM},
        {CALL_setaffinity, EBUSY}, {CALL_realloc, ENOMEM},   {CALL_sendmsg, EIO},
        {CALL_write, ENOSPC},      {CALL_readdir, EIO},      {CALL_malloc, ENOMEM},
    };
    watch_or_skip();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int nth = 1; nth < 100; nth++) {
            int32_t born[2];
            fault_set(cases[i].which, nth, cases[i].error);
            for (int k = 0; k < 2; k++) {
                put_on(f.acl, MAIN_CPU);
                born[k] = worker_thread_add(&f.w, "acl_thread");
                pass(1);
                pass(1);
            }
            const int n_met = fault.n_met;
            fault_clear();
            (void)cpubind_bind_watch(f.b, NULL); /* the events may have ended */
            for (int k = 0; k < 4; k++)
                again();
            assert_true(is_on(f.acl, ACL_CPU));
            for (int k = 0; k < 2; k++) {
                assert_true(is_on(born[k], ACL_CPU));
                worker_thread_end(&f.w, born[k]);
            }
            if (!n_met)
                break;
        }
        worker_end(&f.w); /* a worker counts all threads that it had */
        cpubind_bind_close(f.b);
        worker_start(&f.w, "worker");
        f.acl = worker_thread_add(&f.w, "acl_thread");
        stage_list(f.w.pid);
        open_and_apply(f.w.pid);
        watch_or_skip();
    }
}

/* == Names without events =================================================== */

TEST(files_of_names_stay_open_between_periods)
{
    again();
    again(); /* opens them */
    fault_clear();
    again();
    assert_int_equal(fault.count[CALL_pread], 3); /* "control" too */
    assert_int_equal(fault.count[CALL_getaffinity], 3);
    assert_int_equal(fault.count[CALL_openat], 0); /* the kernel counts 3 threads: no listing */
    assert_int_equal(f.b->n_name_fd, 3);
    const int32_t born = worker_thread_add(&f.w, "acl_thread");
    again();
    assert_true(is_on(born, ACL_CPU));
    again();
    assert_int_equal(f.b->n_name_fd, 4);
    worker_thread_end(&f.w, born);
    again();
    assert_int_equal(f.b->n_name_fd, 3);
}

/* The number of threads is the same as before. */
TEST(a_thread_that_is_born_when_another_one_ends_is_placed)
{
    for (int i = 0; i < 3; i++)
        again();
    worker_thread_end(&f.w, f.acl);
    f.acl = worker_thread_add(&f.w, "acl_thread");
    again();
    assert_true(is_on(f.acl, ACL_CPU));
}

TEST(a_name_that_changes_is_read_through_an_open_file)
{
    again();
    again();
    (void)worker_tell(&f.w, 'r', "other", f.acl);
    again();
    assert_true(is_on(f.acl, MAIN_CPU));
}

static int few_files(void)
{
    return 4;
}

static int no_files(void)
{
    errno = EPERM;
    return -1;
}

TEST(a_watch_opens_at_most_half_of_the_files_that_the_process_may)
{
    static const struct {
        int (*max_files)(void);
        int32_t n;
    } cases[] = {{few_files, 2}, {no_files, 0}};
    for (int i = 0; i < 2; i++) {
        f.calls.max_files = cases[i].max_files;
        f.b->max_name_fd = -1;
        for (int32_t k = 0; k < f.b->n_watched; k++)
            assert_int_equal(f.b->watched[k].name_fd, -1);
        again();
        again();
        assert_int_equal(f.b->n_name_fd, cases[i].n);
        put_on(f.acl, MAIN_CPU);
        again();
        assert_true(is_on(f.acl, ACL_CPU));
        cpubind_watched_free(f.b);
    }
}

static int run_all(void)
{
    return run_on_two_cpus("watch events", set_up, tear_down);
}

TEST_PROGRAM(run_all)
