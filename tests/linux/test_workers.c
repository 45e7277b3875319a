/* test_workers.c - a function runs in several threads
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "../../adapters/linux/workers.h"
#include "../support/test.h"
#include "temp_dir.h"

/* == division of work == */

#define N_ITEMS 100000

typedef struct share {
    atomic_int next, n_worker;
    int32_t times[N_ITEMS]; /* not atomic: each item has one worker */
} share;

static void take_items(void *ctx)
{
    share *s = ctx;
    atomic_fetch_add(&s->n_worker, 1);
    for (int i; (i = atomic_fetch_add(&s->next, 1)) < N_ITEMS;)
        s->times[i]++;
}

/* Runs with n; returns the number of workers. Each item must have been done once. */
static int run_share(int32_t n, const cpubind_sys *sys)
{
    share *s = calloc(1, sizeof *s);
    scratch_need(s != NULL, "calloc");
    cpubind_linux_run_with(n, take_items, s, sys);
    for (int i = 0; i < N_ITEMS; i++)
        assert_int_equal(s->times[i], 1);
    int n_worker = atomic_load(&s->n_worker);
    free(s);
    return n_worker;
}

TEST(every_item_is_done_once_whatever_the_number_of_threads)
{
    static const int32_t counts[] = {1, 2, 3, 16, 200};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        assert_int_equal(run_share(counts[i], &cpubind_sys_real), counts[i]);
}

static void count_worker(void *ctx)
{
    atomic_fetch_add((atomic_int *)ctx, 1);
}

TEST(the_number_of_threads_is_kept_within_its_range)
{
    static const struct {
        int32_t given, run;
    } cases[] = {{0, 1},       {-1, 1},      {INT32_MIN, 1},
                 {1024, 1024}, {1025, 1024}, {INT32_MAX, 1024}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        atomic_int n = 0;
        cpubind_linux_run(cases[i].given, count_worker, &n);
        assert_int_equal(atomic_load(&n), cases[i].run);
    }
}

/* == threads == */

typedef struct meeting {
    pthread_barrier_t barrier;
    pthread_t caller;
    atomic_int n_caller;
} meeting;

static void meet(void *ctx)
{
    meeting *m = ctx;
    pthread_barrier_wait(&m->barrier); /* ends only when all are there at once */
    if (pthread_equal(pthread_self(), m->caller))
        atomic_fetch_add(&m->n_caller, 1);
}

TEST(the_workers_run_in_parallel_and_the_caller_is_one_of_them)
{
    meeting m = {.caller = pthread_self()};
    scratch_need(pthread_barrier_init(&m.barrier, NULL, 8) == 0, "pthread_barrier_init");
    cpubind_linux_run(8, meet, &m);
    assert_int_equal(atomic_load(&m.n_caller), 1);
    pthread_barrier_destroy(&m.barrier);
}

static int threads_of_this_process(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/task");
    scratch_need(folder != NULL, "/proc/self/task");
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        n += entry->d_name[0] != '.';
    closedir(folder);
    return n;
}

TEST(no_thread_remains)
{
    int before = threads_of_this_process(); /* a sanitizer may have one of its own */
    atomic_int n = 0;
    for (int i = 0; i < 50; i++)
        cpubind_linux_run(8, count_worker, &n);
    assert_int_equal(atomic_load(&n), 400);
    /* A thread that was joined may still be in /proc for a moment. */
    for (int64_t end = clock_ms() + 10000; threads_of_this_process() > before;) {
        assert_true(clock_ms() < end);
        sched_yield();
    }
}

static int granted; /* threads that thread_start still grants */

static int thread_start(pthread_t *out, void *(*run)(void *ctx), void *ctx)
{
    if (granted == 0)
        return EAGAIN;
    granted--;
    return cpubind_sys_real.thread_start(out, run, ctx);
}

TEST(fewer_threads_than_asked_for_do_all_the_work)
{
    cpubind_sys sys = cpubind_sys_real;
    sys.thread_start = thread_start;
    for (int n = 0; n < 4; n++) {
        granted = n;
        assert_int_equal(run_share(16, &sys), n + 1);
        assert_int_equal(granted, 0);
    }
}

/* == signals == */

static pthread_t caller;
static atomic_int n_handled, n_elsewhere;

static void on_signal(int signal)
{
    (void)signal;
    atomic_fetch_add(&n_handled, 1);
    if (!pthread_equal(pthread_self(), caller))
        atomic_fetch_add(&n_elsewhere, 1);
}

#define N_SIGNALS 200

/* The other threads send signals, the caller waits for them. */
static void send_signals(void *ctx)
{
    atomic_int *n_sent = ctx;
    while (pthread_equal(pthread_self(), caller) && atomic_load(&n_sent[1]) < 3)
        sched_yield();
    if (pthread_equal(pthread_self(), caller))
        return;
    for (int before; (before = atomic_fetch_add(n_sent, 1)) < N_SIGNALS;)
        kill(getpid(), SIGUSR1);
    atomic_fetch_add(&n_sent[1], 1);
}

TEST(signals_reach_the_calling_thread_alone)
{
    struct sigaction action = {.sa_handler = on_signal}, old;
    atomic_int n_sent[2] = {0, 0};
    caller = pthread_self();
    sigemptyset(&action.sa_mask);
    scratch_need(sigaction(SIGUSR1, &action, &old) == 0, "sigaction");
    cpubind_linux_run(4, send_signals, n_sent);
    scratch_need(sigaction(SIGUSR1, &old, NULL) == 0, "sigaction");
    assert_true(atomic_load(&n_handled) > 0);
    assert_int_equal(atomic_load(&n_elsewhere), 0);
}

static void look_at_mask(void *ctx)
{
    sigset_t set;
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    if (pthread_equal(pthread_self(), caller))
        return;
    if (!sigismember(&set, SIGINT) || !sigismember(&set, SIGTERM) ||
        !sigismember(&set, SIGCHLD) || sigismember(&set, SIGSEGV) || sigismember(&set, SIGBUS))
        atomic_fetch_add((atomic_int *)ctx, 1);
}

TEST(other_threads_block_all_signals_but_those_of_a_fault)
{
    atomic_int n_wrong = 0;
    caller = pthread_self();
    cpubind_linux_run(8, look_at_mask, &n_wrong);
    assert_int_equal(atomic_load(&n_wrong), 0);
}

TEST(the_mask_of_the_caller_is_unchanged)
{
    sigset_t before, after, old;
    atomic_int n = 0;
    sigemptyset(&before);
    sigaddset(&before, SIGUSR2);
    scratch_need(pthread_sigmask(SIG_SETMASK, &before, &old) == 0, "pthread_sigmask");
    cpubind_linux_run(4, count_worker, &n);
    scratch_need(pthread_sigmask(SIG_SETMASK, &old, &after) == 0, "pthread_sigmask");
    for (int i = 1; i < 32; i++)
        assert_int_equal(sigismember(&after, i), i == SIGUSR2);
}

/* == processors == */

TEST(the_processors_are_those_that_this_process_may_run_on)
{
    cpu_set_t all, one;
    scratch_need(sched_getaffinity(0, sizeof all, &all) == 0, "sched_getaffinity");
    assert_int_equal(cpubind_linux_processors(), CPU_COUNT(&all));
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    scratch_need(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
    int32_t n = cpubind_linux_processors();
    scratch_need(sched_setaffinity(0, sizeof all, &all) == 0, "sched_setaffinity");
    assert_int_equal(n, 1);
}

/* As on a host of 1,152 CPUs: a mask of 1,024 bits would be EINVAL there. */
static int large_mask(pid_t pid, size_t size_bytes, unsigned long *mask)
{
    assert_int_equal(pid, 0);
    assert_true(size_bytes >= 1152 / 8);
    for (int i = 0; i < 1152; i += 2)
        mask[i / 64] |= 1ul << (i % 64);
    return 144;
}

static int no_mask(pid_t pid, size_t size_bytes, unsigned long *mask)
{
    (void)pid, (void)size_bytes, (void)mask;
    errno = ENOSYS;
    return -1;
}

TEST(a_large_host_is_counted_and_an_unknown_one_has_one_processor)
{
    cpubind_sys sys = cpubind_sys_real;
    sys.getaffinity = large_mask;
    assert_int_equal(cpubind_linux_processors_of(&sys), 576);
    sys.getaffinity = no_mask;
    assert_int_equal(cpubind_linux_processors_of(&sys), 1);
}

TEST_FILE(NULL, NULL)
