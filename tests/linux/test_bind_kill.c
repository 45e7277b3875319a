/* test_bind_kill.c - a binding is killed at random moments, and put back by another one
 * SPDX-License-Identifier: MIT
 *
 * A process that applies, applies another goal or restores is ended by SIGKILL after a random
 * part of the time that it takes. Whatever it has done by then, a restore afterwards leaves
 * every mask, every interrupt, irqbalance and the folder of records as they were at the start.
 * CPUBIND_TEST_SEED repeats a run as far as the scheduler lets it.
 */
#define _GNU_SOURCE
#include "../../adapters/ascend/thread_roles.h"
#include "../support/test.h"
#include "fake_host.h"
#include "irqbalance_double.h"
#include "two_cpus.h"

#define N_THREADS 16
#define IRQ_FIRST 301
#define N_IRQS    4

typedef enum job { JOB_APPLY, JOB_APPLY_SECOND, JOB_RESTORE } job;

static struct {
    cpubind_sys sys;
    worker w, polling;
    irqbalance_double daemon;
    stage_goal first, second;
    char before[STAGE_TEXT], now[STAGE_TEXT];
    uint64_t random;
    int64_t shortest_us;
    int n_early, n_amid, n_late; /* killed before the first change, in between, not at all */
} f;

static uint64_t next_random(void)
{
    f.random ^= f.random << 13;
    f.random ^= f.random >> 7;
    f.random ^= f.random << 17;
    return f.random;
}

static int64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void snapshot(char text[STAGE_TEXT])
{
    size_t at;
    (void)masks_of(f.w.pid, text, STAGE_TEXT);
    at = strlen(text);
    (void)masks_of(f.polling.pid, text + at, STAGE_TEXT - at);
    stage_irqs(text, STAGE_TEXT, IRQ_FIRST, IRQ_FIRST + N_IRQS - 1);
    at = strlen(text);
    snprintf(text + at, STAGE_TEXT - at, "irqbalance %s\n",
             is_stopped(f.daemon.pid) ? "stopped" : "runs");
    stage_records(text, STAGE_TEXT);
}

static cpubind_linux_status do_job_of(pid_t pid, job what)
{
    cpubind_binding *b = NULL;
    cpubind_linux_fault why = {0};
    const cpubind_bind_options options = {.pid = (int32_t)pid,
                                          .irqbalance = CPUBIND_IRQBALANCE_STOP,
                                          .memory = CPUBIND_MEMORY_NONE};
    cpubind_linux_status status = cpubind_bind_open(&options, &f.sys, &b, &why);
    if (status == CPUBIND_LINUX_OK && what == JOB_RESTORE)
        status = cpubind_bind_restore(b, &why);
    else if (status == CPUBIND_LINUX_OK)
        status =
            cpubind_bind_apply(b, what == JOB_APPLY ? &f.first.goal : &f.second.goal, &why);
    if (status != CPUBIND_LINUX_OK)
        print_message("%s: %s, %s\n", cpubind_linux_status_name(status), why.what,
                      strerror(why.error));
    cpubind_bind_close(b);
    return status;
}

static cpubind_linux_status do_job(job what)
{
    return do_job_of(f.w.pid, what);
}

/* A child that does the job when a byte comes; `go` is the pipe for that byte. */
static pid_t start_job(job what, int *go)
{
    int line[2];
    char byte;
    scratch_need(pipe2(line, O_CLOEXEC) == 0, "pipe");
    pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid == 0) {
        close(line[1]);
        if (read(line[0], &byte, 1) != 1)
            _exit(2);
        _exit(do_job(what) == CPUBIND_LINUX_OK ? 0 : 1);
    }
    close(line[0]);
    *go = line[1];
    return pid;
}

/* Does the job in a child, which is killed after so long; -1: never. */
static void do_and_kill(job what, int64_t after_us)
{
    int go, status;
    pid_t pid = start_job(what, &go);
    int64_t start_us = clock_us();
    scratch_need(write(go, "", 1) == 1, "go");
    close(go);
    if (after_us >= 0) {
        const struct timespec rest = {0, (long)(after_us * 1000)};
        (void)nanosleep(&rest, NULL);
        kill(pid, SIGKILL);
    }
    scratch_need(waitpid(pid, &status, 0) == pid, "waitpid");
    if (after_us < 0) {
        assert_int_equal(status, 0);
        int64_t took_us = clock_us() - start_us;
        if (took_us < f.shortest_us)
            f.shortest_us = took_us;
    }
    f.n_late += after_us >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
}

/* A process that is sent SIGSTOP stops a moment later, and one that is let go on goes on at
 * once: what was stopped by a killed one is waited for. */
static void settle(void)
{
    usleep(300);
    snapshot(f.now);
}

static void restore_all(void)
{
    assert_int_equal(do_job(JOB_RESTORE), CPUBIND_LINUX_OK);
    for (int i = 0; i < 50; i++) {
        snapshot(f.now);
        if (strcmp(f.now, f.before) == 0)
            return;
        usleep(1000);
    }
    print_message("is\n%sand was\n%s", f.now, f.before);
    assert_string_equal(f.now, f.before);
}

/* How long a job takes when nothing is in its way, of a few. `first` comes before it. */
static void measure(job what, int has_first)
{
    f.shortest_us = INT64_MAX;
    for (int i = 0; i < 9; i++) {
        if (has_first)
            assert_int_equal(do_job(JOB_APPLY), CPUBIND_LINUX_OK);
        do_and_kill(what, -1);
        restore_all();
    }
}

static void kill_again_and_again(job what, int has_first, int n)
{
    measure(what, has_first);
    f.n_early = f.n_amid = f.n_late = 0;
    for (int i = 0; i < n; i++) {
        char from[STAGE_TEXT];
        if (has_first)
            assert_int_equal(do_job(JOB_APPLY), CPUBIND_LINUX_OK);
        int n_late = f.n_late;
        snapshot(from);
        do_and_kill(what, (int64_t)(next_random() % (uint64_t)f.shortest_us));
        settle();
        if (f.n_late == n_late)
            *(strcmp(f.now, from) == 0 ? &f.n_early : &f.n_amid) += 1;
        restore_all();
    }
    print_message("%d killed within %d us: %d before a change, %d amid, %d had ended\n", n,
                  (int)f.shortest_us, f.n_early, f.n_amid, f.n_late);
    assert_true(f.n_amid > 0); /* else nothing was tried */
}

TEST(a_killed_apply_is_restored)
{
    kill_again_and_again(JOB_APPLY, 0, 200);
}

TEST(a_killed_second_apply_is_restored)
{
    kill_again_and_again(JOB_APPLY_SECOND, 1, 100);
}

TEST(a_killed_restore_is_repeated)
{
    kill_again_and_again(JOB_RESTORE, 1, 100);
}

/* What is shared stays with the process that lives, whenever the other one is killed, and goes
 * back to where it was at first when that one is restored too. */
TEST(a_killed_one_of_two_users_leaves_the_other_bound)
{
    char at_first[STAGE_TEXT];
    worker peer;
    memcpy(at_first, f.before, sizeof at_first);
    worker_start(&peer, "peer");
    stage_list(peer.pid);
    assert_int_equal(do_job_of(peer.pid, JOB_APPLY_SECOND), CPUBIND_LINUX_OK);
    settle();
    memcpy(f.before, f.now, sizeof f.before);
    assert_string_not_equal(f.before, at_first);
    kill_again_and_again(JOB_APPLY, 0, 100);
    kill_again_and_again(JOB_RESTORE, 1, 50);
    assert_int_equal(do_job_of(peer.pid, JOB_RESTORE), CPUBIND_LINUX_OK);
    settle();
    assert_string_equal(f.now, at_first);
    worker_end(&peer);
}

/* == The stage ============================================================== */

static void make_goals(void)
{
    goal_make(&f.first, on_stage.cpu[0], on_stage.cpu[1]);
    goal_make(&f.second, on_stage.cpu[1], on_stage.cpu[0]);
    for (int i = 0; i < N_IRQS; i++) {
        char list[80];
        snprintf(list, sizeof list, "%s\n", on_stage.before);
        stage_irq(IRQ_FIRST + i, list);
        goal_add_irq(&f.first, IRQ_FIRST + i, i ? CPUBIND_IRQ_CQ : CPUBIND_IRQ_SQ,
                     on_stage.cpu[i > 0]);
    }
    goal_add_irq(&f.second, IRQ_FIRST + 1, CPUBIND_IRQ_SQ, on_stage.cpu[0]);
    f.second.goal.device = 4;
    f.first.goal.polling = (cpubind_cpus){&on_stage.cpu[1], 1};
    f.first.goal.polling_name = CPUBIND_UVB_THREAD;
    f.second.goal.polling = f.first.goal.polling;
    f.second.goal.polling_name = CPUBIND_UVB_THREAD;
}

SETUP(set_up)
{
    static const char *const name[] = {"acl_thread", "release_thread", "other"};
    const char *seed = getenv("CPUBIND_TEST_SEED");
    char socket_name[64];
    memset(&f, 0, sizeof f);
    if (!stage_make())
        return -1;
    f.random = seed ? strtoull(seed, NULL, 10) : (uint64_t)clock_us() + (uint64_t)getpid();
    f.random |= f.random == 0;
    print_message("CPUBIND_TEST_SEED=%llu\n", (unsigned long long)f.random);
    f.sys = stage_table();
    worker_start(&f.w, "worker");
    for (int i = 0; i < N_THREADS; i++)
        (void)worker_thread_add(&f.w, name[i % 3]);
    worker_start(&f.polling, "poller");
    (void)worker_thread_add(&f.polling, CPUBIND_UVB_THREAD);
    scratch_need(double_start(&f.daemon, on_stage.s.dir, DOUBLE_WITHOUT_SOCKET), "irqbalance");
    stage_list(f.w.pid);
    stage_list(f.polling.pid);
    stage_list(f.daemon.pid);
    snprintf(socket_name, sizeof socket_name, "run/irqbalance/irqbalance%d.sock",
             (int)f.daemon.pid);
    scratch_file(&on_stage.s, socket_name, "");
    make_goals();
    snapshot(f.before);
    return 0;
}

SETUP(tear_down)
{
    worker_end(&f.w);
    worker_end(&f.polling);
    double_end(&f.daemon);
    stage_remove();
    return has_child() ? -1 : 0;
}

static int run_all(void)
{
    return run_on_two_cpus("bind kill", set_up, tear_down);
}

TEST_PROGRAM(run_all)
