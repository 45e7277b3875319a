/* test_host_lock.c - the lock that all ranks of a host share: in turn, in time, or without it
 * SPDX-License-Identifier: MIT
 *
 * Real processes and locks; interrupts and the folder of records are those of a scratch folder
 * (fake_host.h). Nothing here waits for a time to pass but the short limit of a lock that its
 * holder keeps.
 */
#define _GNU_SOURCE
#include <sys/file.h>

#include "../../adapters/linux/bind/record.h"
#include "../../adapters/linux/kernel/lock_queue.h"
#include "../../adapters/linux/kernel/process.h"
#include "../support/test.h"
#include "fake_host.h"

#define IRQ_SQ 301
#define IRQ_CQ 302

static struct {
    cpubind_sys sys;
    worker w;
    pid_t holder;
    cpubind_bind_options how;
    cpubind_binding *b;
    cpubind_linux_fault why;
    stage_goal goal;
    char before[STAGE_TEXT];
} f;

#include "bound.h"

static void snapshot(char text[STAGE_TEXT])
{
    (void)masks_of(f.w.pid, text, STAGE_TEXT);
    stage_irqs(text, STAGE_TEXT, IRQ_SQ, IRQ_CQ);
    stage_records(text, STAGE_TEXT);
}

static void assert_irqs(const char *sq, const char *cq)
{
    char list[64];
    assert_string_equal(stage_irq_text(IRQ_SQ, list, sizeof list), sq);
    assert_string_equal(stage_irq_text(IRQ_CQ, list, sizeof list), cq);
}

/* The items of interrupts of the last report that have this result. */
static int count_irqs(cpubind_item_result result)
{
    const cpubind_report *r = cpubind_bind_report(f.b);
    int n = 0;
    for (int32_t i = 0; i < r->n; i++)
        n += r->item[i].kind == CPUBIND_ITEM_IRQ && r->item[i].result == result;
    return n;
}

SETUP(set_up)
{
    char list[80];
    memset(&f, 0, sizeof f);
    if (!stage_make())
        return -1;
    f.sys = stage_table();
    worker_start(&f.w, "worker");
    stage_list(f.w.pid);
    snprintf(list, sizeof list, "%s\n", on_stage.before);
    stage_irq(IRQ_SQ, list);
    stage_irq(IRQ_CQ, list);
    goal_make(&f.goal, on_stage.cpu[0], on_stage.cpu[1]);
    goal_add_irq(&f.goal, IRQ_SQ, CPUBIND_IRQ_SQ, on_stage.cpu[0]);
    goal_add_irq(&f.goal, IRQ_CQ, CPUBIND_IRQ_CQ, on_stage.cpu[1]);
    f.how = (cpubind_bind_options){
        .pid = (int32_t)f.w.pid, .memory = CPUBIND_MEMORY_NONE, .host_wait_ms = 30};
    snapshot(f.before);
    return 0;
}

static void end_holder(void)
{
    if (f.holder > 0) {
        kill(f.holder, SIGKILL);
        scratch_need(waitpid(f.holder, NULL, 0) == f.holder, "waitpid");
    }
    f.holder = 0;
}

SETUP(tear_down)
{
    cpubind_bind_close(f.b);
    end_holder();
    worker_end(&f.w);
    stage_remove();
    return 0;
}

/* Starts a process that takes the lock as a cpubind does, and stops. */
static void start_holder(void)
{
    int status;
    f.holder = fork();
    scratch_need(f.holder >= 0, "fork");
    if (f.holder == 0) {
        cpubind_root root = {&f.sys, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
                             CPUBIND_REACH_ANYWHERE};
        cpubind_record_wait wait = {.limit_ms = 1000};
        cpubind_proc_stat stat = {.start = 0};
        cpubind_record_file *file;
        if (cpubind_record_open_in_turn(&root, CPUBIND_RECORD_HOST, CPUBIND_RECORD_MAKE, &wait,
                                        &file)
                .error ||
            cpubind_proc_stat_read(&root, (int32_t)getpid(), 0, &stat).error)
            _exit(1);
        const cpubind_record_holder self = {(int32_t)getpid(), stat.start, 0, 0};
        cpubind_record_sign(file, &self);
        (void)raise(SIGSTOP);
        _exit(0);
    }
    scratch_need(waitpid(f.holder, &status, WUNTRACED) == f.holder && WIFSTOPPED(status),
                 "the holder");
}

/* Applies while the lock is held: threads are bound, interrupts are named. */
static void apply_without_lock(void)
{
    start_holder();
    open_binding();
    apply(&f.goal);
    const cpubind_report *r = cpubind_bind_report(f.b);
    assert_true(is_on((int32_t)f.w.pid, on_stage.cpu[0]));
    assert_irqs(on_stage.before, on_stage.before);
    assert_int_equal(count_irqs(CPUBIND_ITEM_SKIPPED), 2);
    assert_int_equal(count_irqs(CPUBIND_ITEM_MOVED), 0);
    for (int32_t i = 0; i < r->n; i++)
        if (r->item[i].kind == CPUBIND_ITEM_IRQ)
            assert_string_equal(r->item[i].what, CPUBIND_HOST_LOCK);
    assert_true(r->is_host_busy);
    assert_int_equal(r->host_holder, f.holder);
    assert_int_equal(r->host_holder_state, 'T');
}

static void check_all_is_done(void)
{
    char sq[16], cq[16], text[STAGE_TEXT];
    snprintf(sq, sizeof sq, "%d", (int)on_stage.cpu[0]);
    snprintf(cq, sizeof cq, "%d", (int)on_stage.cpu[1]);
    assert_int_equal(count_irqs(CPUBIND_ITEM_MOVED), 2);
    assert_irqs(sq, cq);
    assert_ok(cpubind_bind_verify(f.b, NULL, &f.why));
    assert_int_equal(count_irqs(CPUBIND_ITEM_RIGHT), 2);
    restore_and_close();
    snapshot(text);
    assert_string_equal(text, f.before);
}

/* Review, P1 1a: the rank was refused, and its threads undone. */
TEST(a_watch_binds_the_interrupts_when_the_lock_is_free)
{
    apply_without_lock();
    assert_ok(cpubind_bind_verify(f.b, NULL, &f.why));
    assert_int_equal(count_irqs(CPUBIND_ITEM_WRONG), 2); /* it is known that they are missing */
    for (int i = 0; i < 3; i++) {
        (void)again();
        assert_int_equal(cpubind_bind_report(f.b)->n, 0); /* apply has said so */
    }
    end_holder();
    (void)again();
    check_all_is_done();
}

TEST(the_next_apply_binds_the_interrupts_when_the_lock_is_free)
{
    apply_without_lock();
    cpubind_bind_close(f.b);
    end_holder();
    open_binding();
    apply(&f.goal);
    check_all_is_done();
}

TEST(strictly_it_is_a_failure_of_all)
{
    char text[STAGE_TEXT];
    f.how.is_strict = 1;
    start_holder();
    open_binding();
    assert_int_equal(cpubind_bind_apply(f.b, &f.goal.goal, &f.why), CPUBIND_LINUX_ERR_REFUSED);
    assert_string_equal(f.why.what, CPUBIND_HOST_LOCK);
    close_binding();
    end_holder();
    /* The holder has left its lock file: the next cpubind removes it. */
    assert_ok(cpubind_bind_open_host(&f.sys, &f.b, &f.why));
    assert_ok(cpubind_bind_restore(f.b, &f.why));
    snapshot(text);
    assert_string_equal(text, f.before);
}

static int n_heard;
static int32_t heard_holder;

static void hear(void *ctx, int32_t holder, int64_t waited_ms)
{
    (void)ctx;
    assert_true(waited_ms >= 0);
    heard_holder = holder;
    n_heard++;
    end_holder();
}

/* The wait goes on until the holder has ended, which here is when the wait is said. */
TEST(a_long_wait_is_said_and_goes_on)
{
    f.how.host_wait_ms = 0;
    f.how.host_wait = hear;
    n_heard = 0;
    start_holder();
    const pid_t holder = f.holder;
    open_binding();
    apply(&f.goal);
    assert_int_equal(n_heard, 1);
    assert_int_equal(heard_holder, holder);
    assert_false(cpubind_bind_report(f.b)->is_host_busy);
    check_all_is_done();
}

static int stop(void *ctx)
{
    (void)ctx;
    return 1;
}

TEST(a_signal_ends_the_wait)
{
    f.how.host_wait_ms = 0;
    f.how.stop = stop;
    apply_without_lock();
}

/* == The queue ============================================================== */

/* Each open of a file has locks of its own, as each process would. */
static int open_again(void)
{
    char path[STAGE_PATH];
    snprintf(path, sizeof path, "%s/queue", on_stage.s.dir);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    scratch_need(fd >= 0, path);
    return fd;
}

TEST(who_comes_first_is_first)
{
    enum { N = 64 };
    int fd[N];
    for (int i = 0; i < N; i++) {
        fd[i] = open_again();
        assert_int_equal(cpubind_queue_join(&f.sys, fd[i]), i + 1);
    }
    for (int i = 0; i < N; i++) {
        for (int k = i; k < N; k++) {
            assert_int_equal(cpubind_queue_is_first(&f.sys, fd[k], k + 1), k == i);
            assert_int_equal(cpubind_queue_has_next(&f.sys, fd[k], k + 1), k < N - 1);
        }
        close(fd[i]);
    }
    fd[0] = open_again();
    assert_int_equal(cpubind_queue_join(&f.sys, fd[0]), 1); /* the queue was empty */
    close(fd[0]);
}

TEST(who_gives_up_lets_the_others_pass_and_who_is_late_comes_last)
{
    int fd[4];
    for (int i = 0; i < 3; i++) {
        fd[i] = open_again();
        (void)cpubind_queue_join(&f.sys, fd[i]);
    }
    close(fd[1]);
    fd[3] = open_again();
    assert_int_equal(cpubind_queue_join(&f.sys, fd[3]), 4);
    assert_false(cpubind_queue_is_first(&f.sys, fd[2], 3));
    close(fd[0]);
    assert_true(cpubind_queue_is_first(&f.sys, fd[2], 3));
    assert_false(cpubind_queue_is_first(&f.sys, fd[3], 4));
    close(fd[2]);
    assert_true(cpubind_queue_is_first(&f.sys, fd[3], 4));
    assert_false(cpubind_queue_has_next(&f.sys, fd[3], 4));
    close(fd[3]);
}

static int no_locks(int fd, int command, struct flock *range)
{
    (void)fd, (void)command, (void)range;
    errno = EINVAL;
    return -1;
}

/* On a kernel without such locks flock(2) decides alone. */
TEST(without_a_queue_the_lock_still_keeps_others_out)
{
    f.sys.lock_range = no_locks;
    assert_int_equal(cpubind_queue_join(&f.sys, 0), 0);
    assert_true(cpubind_queue_is_first(&f.sys, 0, 0));
    assert_false(cpubind_queue_has_next(&f.sys, 0, 0));
    apply_without_lock();
    end_holder();
    (void)again();
    check_all_is_done();
}

TEST_FILE(set_up, tear_down)
