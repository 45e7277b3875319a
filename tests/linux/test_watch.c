/* test_watch.c - what a watch does about threads that cannot be moved now
 * SPDX-License-Identifier: MIT
 *
 * Real threads on a fake host (fake_host.h), and a model of the masks of a kernel with 8 CPUs:
 * CPUs go offline, a cpuset changes, threads refuse to move. The model is that of the manual
 * pages and of kernel/sched/core.c and kernel/cgroup/cpuset.c before and since 6.2. No test
 * waits: a period is a call of cpubind_bind_again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "../../adapters/linux/bind/binding.h"
#include "../support/test.h"
#include "fake_host.h"
#include "two_cpus.h"

/* == The table of troubles ================================================== */

static int note(cpubind_binding *b, int32_t id, int error)
{
    return cpubind_note_outcome(b, CPUBIND_ITEM_THREAD, 1, id, cpubind_fault_of(error, "step"));
}

TEST(a_trouble_is_news_once_and_tried_again_with_growing_pauses)
{
    static cpubind_binding b;
    int64_t pause = 0;
    b = (cpubind_binding){.sys = &cpubind_sys_real};
    assert_true(cpubind_is_due(&b, CPUBIND_ITEM_THREAD, 1, 7));
    for (int tries = 0; tries < 10; tries++) {
        pause = pause == 0 ? 1 : pause < 64 ? 2 * pause : 64;
        assert_int_equal(note(&b, 7, EBUSY), tries == 0);
        for (int64_t i = 0; i < pause; i++) {
            assert_false(cpubind_is_due(&b, CPUBIND_ITEM_THREAD, 1, 7));
            assert_true(cpubind_is_due(&b, CPUBIND_ITEM_IRQ, 1, 7));
            assert_true(cpubind_is_due(&b, CPUBIND_ITEM_THREAD, 2, 7));
            b.n_again++;
        }
        assert_true(cpubind_is_due(&b, CPUBIND_ITEM_THREAD, 1, 7));
    }
    assert_int_equal(note(&b, 7, EPERM), 1); /* for another reason */
    assert_int_equal(note(&b, 8, EPERM), 1);
    assert_int_equal(note(&b, 7, 0), 1);
    assert_int_equal(note(&b, 7, 0), 0);
    assert_int_equal(note(&b, 8, EPERM), 0);
    assert_int_equal(b.n_trouble, 1);
    free(b.trouble);
}

/* == A kernel with 8 CPUs =================================================== */

#define ALL       0xfful
#define MAX_MODEL 64

typedef struct model_thread {
    pid_t tid;
    unsigned long mask; /* as asked for; before 6.2 cut to what was possible then */
    int refusal;        /* errno of sched_setaffinity(2), or 0 */
} model_thread;

static struct {
    unsigned long online, cpuset;
    int is_old; /* before 6.2 */
    model_thread thread[MAX_MODEL];
    int n;
    int n_moves;             /* calls of sched_setaffinity(2) */
    pid_t ends;              /* this thread ends, and a stranger gets its number ... */
    int n_reads;             /* ... after so many calls of sched_getaffinity(2) */
    unsigned long strangers; /* the mask of the stranger */
    pid_t stranger;
    int is_full;   /* no file can be created */
    int is_kernel; /* the threads are those of the kernel */
} k;

static struct {
    cpubind_sys sys;
    worker w;
    int32_t pid, acl, plain, control;
    cpubind_bind_options how;
    cpubind_binding *b;
    cpubind_linux_fault why;
    cpubind_goal goal;
    cpubind_thread_rule rule;
    int32_t main_cpu[2], acl_cpu;
} f;

#include "bound.h"

static model_thread *model_of(pid_t tid)
{
    for (int i = 0; i < k.n; i++)
        if (k.thread[i].tid == tid)
            return &k.thread[i];
    scratch_need(k.n < MAX_MODEL, "threads");
    k.thread[k.n] = (model_thread){tid, k.is_old ? k.cpuset : ALL, 0};
    return &k.thread[k.n++];
}

static unsigned long possible(const model_thread *t)
{
    return t->tid == k.stranger ? ALL : k.cpuset;
}

/* The mask as sched_getaffinity(2) has it. */
static unsigned long mask_of(pid_t tid)
{
    const model_thread *t = model_of(tid);
    return t->mask & possible(t) & k.online;
}

static int model_getaffinity(pid_t tid, size_t size_bytes, unsigned long *mask)
{
    unsigned long ignored[1024];
    (void)size_bytes;
    if (tid == k.ends && k.n_reads-- == 0) {
        k.ends = 0;
        worker_thread_end(&f.w, (int32_t)tid);
        k.stranger = tid;
        model_of(tid)->mask = k.strangers;
    }
    if (tid != k.stranger && cpubind_sys_real.getaffinity(tid, sizeof ignored, ignored) < 0)
        return -1;
    *mask = mask_of(tid);
    return (int)sizeof *mask;
}

static int model_setaffinity(pid_t tid, size_t size_bytes, const unsigned long *mask)
{
    model_thread *t = model_of(tid);
    unsigned long ignored[1024];
    if (tid != k.stranger && cpubind_sys_real.getaffinity(tid, sizeof ignored, ignored) < 0)
        return -1;
    k.n_moves++;
    errno = t->refusal;
    if (errno == 0 && (size_bytes == 0 || !(*mask & possible(t) & k.online)))
        errno = EINVAL;
    if (errno)
        return -1;
    t->mask = k.is_old ? *mask & possible(t) & k.online : *mask;
    return 0;
}

static int model_openat(int dir, const char *path, int flags)
{
    if (strcmp(path, "sys/devices/system/cpu/online") == 0)
        return openat(on_stage.dir, "online", flags);
    return stage_openat(dir, path, flags);
}

/* A kernel thread has no executable file. */
static ssize_t model_readlinkat(int dir, const char *path, char *text, size_t cap)
{
    if (!k.is_kernel || !strstr(path, "/exe"))
        return cpubind_sys_real.readlinkat(dir, path, text, cap);
    errno = ENOENT;
    return -1;
}

static int model_create(int dir, const char *path, mode_t mode)
{
    if (!k.is_full)
        return cpubind_sys_real.create(dir, path, mode);
    errno = ENOSPC;
    return -1;
}

static void set_online(unsigned long online)
{
    char text[64] = "";
    k.online = online;
    for (int cpu = 0; cpu < 8; cpu++)
        if (online >> cpu & 1)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", *text ? "," : "",
                     cpu);
    strcat(text, "\n");
    scratch_file(&on_stage.s, "online", text);
}

/* Before 6.2 a write to a cpuset gives all of it to every thread. */
static void write_cpuset(unsigned long cpuset)
{
    k.cpuset = cpuset;
    for (int i = 0; k.is_old && i < k.n; i++)
        k.thread[i].mask = cpuset;
}

SETUP(set_up)
{
    memset(&f, 0, sizeof f);
    memset(&k, 0, sizeof k);
    if (!stage_make())
        return -1;
    f.sys = stage_table();
    f.sys.openat = model_openat;
    f.sys.create = model_create;
    f.sys.readlinkat = model_readlinkat;
    f.sys.getaffinity = model_getaffinity;
    f.sys.setaffinity = model_setaffinity;
    k.cpuset = ALL;
    set_online(ALL);
    worker_start(&f.w, "worker");
    f.pid = (int32_t)f.w.pid;
    f.acl = worker_thread_add(&f.w, "acl_thread");
    f.plain = worker_thread_add(&f.w, "plain");
    stage_list(f.w.pid);
    f.how = (cpubind_bind_options){.pid = f.pid, .memory = CPUBIND_MEMORY_NONE};
    f.main_cpu[0] = 2;
    f.main_cpu[1] = 3;
    f.acl_cpu = 4;
    f.rule = (cpubind_thread_rule){"acl_thread", {&f.acl_cpu, 1}, 0};
    f.goal = (cpubind_goal){.device = 3,
                            .main = {f.main_cpu, 2},
                            .rule = &f.rule,
                            .n_rule = 1,
                            .memory_node = -1,
                            .no_irq = CPUBIND_IRQ_NO_ROLE};
    return 0;
}

SETUP(tear_down)
{
    cpubind_bind_close(f.b);
    worker_end(&f.w);
    stage_remove();
    return has_child() ? -1 : 0;
}

#define TO_MAIN 0x0cul
#define TO_ACL  0x10ul

static void bind_goal(void)
{
    open_binding();
    assert_ok(cpubind_bind_apply(f.b, &f.goal, &f.why));
}

static void restore(void)
{
    assert_int_equal(cpubind_bind_restore(f.b, &f.why), CPUBIND_LINUX_OK);
}

static void assert_item(int32_t id, cpubind_item_result result, int32_t error, const char *what)
{
    const cpubind_item *item = assert_result(id, result);
    assert_int_equal(item->error, error);
    assert_string_equal(item->what ? item->what : "-", what ? what : "-");
}

static void assert_masks(unsigned long main_mask, unsigned long acl_mask)
{
    assert_int_equal(mask_of((pid_t)f.pid), main_mask);
    assert_int_equal(mask_of((pid_t)f.plain), main_mask);
    assert_int_equal(mask_of((pid_t)f.acl), acl_mask);
}

/* == Offline CPUs =========================================================== */

/* Review of live hosts, P1 3 and 4. */
TEST_WITH(a_cpu_that_goes_offline_and_comes_back_is_never_lost, set_up, tear_down)
{
    for (k.is_old = 0; k.is_old < 2; k.is_old++) {
        bind_goal();
        assert_masks(TO_MAIN, TO_ACL);
        k.n_moves = 0;
        set_online(ALL & ~8ul); /* CPU 3 of main */
        assert_int_equal(again(), 4 - 1);
        assert_item(f.plain, CPUBIND_ITEM_PART, 0, "offline");
        assert_int_equal(again(), 0); /* said once */
        assert_int_equal(k.n_moves, 0);
        verify();
        assert_item(f.plain, CPUBIND_ITEM_PART, 0, "offline");
        assert_item(f.acl, CPUBIND_ITEM_RIGHT, 0, NULL);
        set_online(ALL);
        assert_masks(TO_MAIN, TO_ACL);
        assert_int_equal(again(), 3);
        assert_item(f.plain, CPUBIND_ITEM_RIGHT, 0, NULL);
        restore();
        assert_masks(ALL, ALL);
        cpubind_bind_close(f.b);
        f.b = NULL;
    }
    k.is_old = 0;
}

TEST_WITH(a_thread_whose_only_cpu_is_offline_shares_main_until_the_cpu_is_back, set_up,
          tear_down)
{
    for (k.is_old = 0; k.is_old < 2; k.is_old++) {
        bind_goal();
        set_online(ALL & ~TO_ACL);
        assert_int_equal(mask_of((pid_t)f.acl), 0);
        verify();
        assert_item(f.acl, CPUBIND_ITEM_PART, 0, "offline");
        assert_int_equal(again(), 1);
        assert_item(f.acl, CPUBIND_ITEM_PART, 0, "offline");
        assert_masks(TO_MAIN, TO_MAIN);
        assert_int_equal(again(), 0);
        verify();
        assert_item(f.acl, CPUBIND_ITEM_PART, 0, "offline");
        set_online(ALL);
        assert_int_equal(again(), 1);
        assert_item(f.acl, CPUBIND_ITEM_MOVED, 0, NULL);
        assert_masks(TO_MAIN, TO_ACL);
        restore();
        cpubind_bind_close(f.b);
        f.b = NULL;
    }
    k.is_old = 0;
}

/* Apply and restore too (P1 4), with the acl thread without a CPU in between. */
TEST_WITH(apply_and_restore_work_while_cpus_are_offline, set_up, tear_down)
{
    set_online(ALL & ~(TO_ACL | 8ul));
    bind_goal();
    assert_item(f.acl, CPUBIND_ITEM_PART, 0, "offline");
    assert_item(f.plain, CPUBIND_ITEM_PART, 0, "offline");
    assert_masks(4, 4);
    restore();
    set_online(ALL);
    assert_masks(ALL, ALL);
    assert_int_equal(cpubind_bind_apply(f.b, &f.goal, &f.why), CPUBIND_LINUX_OK);
    set_online(ALL & ~(TO_ACL | TO_MAIN));
    verify();
    assert_item(f.plain, CPUBIND_ITEM_PART, 0, "offline");
    restore();
    set_online(ALL);
    assert_masks(ALL, ALL);
}

/* lxcfs gives a container a file of its own, with other numbers. */
TEST_WITH(online_cpus_that_are_not_those_of_the_kernel_are_not_believed, set_up, tear_down)
{
    scratch_file(&on_stage.s, "online", "0-2\n");
    bind_goal();
    assert_item(f.plain, CPUBIND_ITEM_MOVED, 0, NULL);
    assert_masks(TO_MAIN, TO_ACL);
    assert_int_equal(again(), 0);
    verify();
    assert_item(f.plain, CPUBIND_ITEM_RIGHT, 0, NULL);
    assert_item(f.acl, CPUBIND_ITEM_RIGHT, 0, NULL);
    restore();
    assert_masks(ALL, ALL);
}

/* == Cpusets ================================================================ */

TEST_WITH(a_cpuset_that_narrows_and_widens_is_followed, set_up, tear_down)
{
    for (k.is_old = 0; k.is_old < 2; k.is_old++) {
        bind_goal();
        for (int i = 0; i < 3; i++) {
            write_cpuset(ALL & ~(TO_ACL | 8ul));
            (void)again();
            assert_masks(4, 4);
            assert_item(f.acl, CPUBIND_ITEM_PART, 0, "cpuset");
            assert_int_equal(again(), 0);
            verify();
            assert_item(f.plain, CPUBIND_ITEM_WRONG, 0, NULL);
            write_cpuset(ALL);
            (void)again();
            assert_masks(TO_MAIN, TO_ACL);
            assert_int_equal(again(), 0);
        }
        write_cpuset(0x60); /* nothing of the goal */
        (void)again();
        assert_int_equal(mask_of((pid_t)f.plain), k.is_old ? 0x60 : 0);
        assert_item(f.plain, CPUBIND_ITEM_SKIPPED, EINVAL, "sched_setaffinity");
        write_cpuset(ALL);
        (void)again();
        assert_masks(TO_MAIN, TO_ACL);
        restore();
        assert_masks(ALL, ALL);
        cpubind_bind_close(f.b);
        f.b = NULL;
    }
    k.is_old = 0;
}

/* == restore ================================================================ */

/* P2 8: a CPU that was offline at apply, and a container that grows. */
TEST_WITH(restore_gives_the_widest_mask_to_those_that_had_it, set_up, tear_down)
{
    set_online(ALL & ~0x80ul);
    bind_goal();
    restore();
    set_online(ALL);
    assert_masks(ALL, ALL);
    write_cpuset(0x3f);
    model_of((pid_t)f.plain)->mask = 0x03; /* its own */
    assert_int_equal(cpubind_bind_apply(f.b, &f.goal, &f.why), CPUBIND_LINUX_OK);
    assert_masks(TO_MAIN, TO_ACL);
    write_cpuset(ALL);
    restore();
    assert_int_equal(mask_of((pid_t)f.pid), ALL);
    assert_int_equal(mask_of((pid_t)f.acl), ALL);
    assert_int_equal(mask_of((pid_t)f.plain), 0x03);
    model_of((pid_t)f.pid)->mask = 0x0f; /* the mask of the process is its own, too */
    assert_int_equal(cpubind_bind_apply(f.b, &f.goal, &f.why), CPUBIND_LINUX_OK);
    restore();
    assert_int_equal(model_of((pid_t)f.pid)->mask, 0x0f);
}

/* P2 11. */
TEST_WITH(restore_leaves_and_names_a_thread_that_somebody_else_has_moved, set_up, tear_down)
{
    const cpubind_item *item;
    bind_goal();
    model_of((pid_t)f.plain)->mask = 0xc0;
    restore();
    assert_item(f.plain, CPUBIND_ITEM_KEPT, 0, NULL);
    item = item_of(f.plain);
    assert_string_equal(item->was, "6-7");
    assert_string_equal(item->should, "0-7");
    assert_int_equal(mask_of((pid_t)f.plain), 0xc0);
    assert_int_equal(mask_of((pid_t)f.acl), ALL);
    assert_int_equal(cpubind_bind_report(f.b)->n, 4);
}

/* == Threads that cannot be moved =========================================== */

/* P2 14: EBUSY is a thread of SCHED_DEADLINE. */
TEST_WITH(a_thread_that_cannot_be_moved_is_named_and_the_rest_is_done, set_up, tear_down)
{
    static const int errors[] = {EBUSY, EPERM, EACCES};
    const char *const words[] = {"sched_setaffinity",
                                 prctl(PR_GET_SECCOMP) > 0 ? CPUBIND_REFUSED_BY_FILTER
                                                           : CPUBIND_REFUSED_BY_MODULE,
                                 CPUBIND_REFUSED_BY_MODULE};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        model_of((pid_t)f.plain)->refusal = errors[i];
        bind_goal();
        assert_item(f.plain, CPUBIND_ITEM_SKIPPED, errors[i], words[i]);
        assert_item(f.acl, CPUBIND_ITEM_MOVED, 0, NULL);
        assert_int_equal(mask_of((pid_t)f.plain), ALL);
        assert_int_equal(again(), 1);
        for (int tick = 0; tick < 20; tick++)
            assert_int_equal(again(), 0);
        model_of((pid_t)f.plain)->refusal = 0;
        for (int tick = 0; tick < 16 && mask_of((pid_t)f.plain) != TO_MAIN; tick++)
            (void)again();
        assert_masks(TO_MAIN, TO_ACL);
        assert_item(f.plain, CPUBIND_ITEM_MOVED, 0, NULL);
        restore();
        assert_masks(ALL, ALL);
        cpubind_bind_close(f.b);
        f.how.is_strict = 1;
        model_of((pid_t)f.plain)->refusal = errors[i];
        open_binding();
        assert_int_equal(cpubind_bind_apply(f.b, &f.goal, &f.why), CPUBIND_LINUX_ERR_REFUSED);
        assert_int_equal(f.why.error, errors[i]);
        assert_masks(ALL, ALL);
        cpubind_bind_close(f.b);
        f.b = NULL;
        f.how.is_strict = 0;
    }
}

/* P3: EINVAL is not always a cpuset. */
TEST_WITH(a_kernel_thread_that_nobody_can_move_is_not_blamed_on_its_cpuset, set_up, tear_down)
{
    for (k.is_kernel = 0; k.is_kernel < 2; k.is_kernel++) {
        model_of((pid_t)f.plain)->refusal = EINVAL;
        bind_goal();
        assert_item(f.plain, CPUBIND_ITEM_SKIPPED, EINVAL,
                    k.is_kernel ? "kernel thread" : "sched_setaffinity");
        restore();
        cpubind_bind_close(f.b);
        f.b = NULL;
    }
}

TEST_WITH(apply_fails_when_no_thread_can_be_moved, set_up, tear_down)
{
    open_binding();
    (void)cpubind_bind_verify(f.b, &f.goal, &f.why);
    for (int i = 0; i < k.n; i++)
        k.thread[i].refusal = EBUSY;
    assert_int_equal(cpubind_bind_apply(f.b, &f.goal, &f.why), CPUBIND_LINUX_ERR_REFUSED);
    assert_int_equal(f.why.error, EBUSY);
    assert_masks(ALL, ALL);
    assert_int_equal(cpubind_bind_allowed(f.b).n, 0); /* no record is left */
}

/* P1 3: /run is full when a thread is born. One on its own CPUs could not be put back. */
TEST_WITH(a_thread_is_moved_only_when_restore_could_put_it_back, set_up, tear_down)
{
    int32_t born, own;
    bind_goal();
    k.is_full = 1;
    born = worker_thread_add(&f.w, "acl_thread");
    own = worker_thread_add(&f.w, "own");
    model_of((pid_t)born)->mask = TO_MAIN;
    model_of((pid_t)own)->mask = 0x81;
    assert_int_equal(again(), 2);
    assert_item(0, CPUBIND_ITEM_SKIPPED, ENOSPC, "write the record of");
    assert_item(born, CPUBIND_ITEM_MOVED, 0, NULL);
    assert_int_equal(mask_of((pid_t)own), 0x81);
    assert_int_equal(again(), 0);
    k.is_full = 0;
    assert_int_equal(again(), 1);
    assert_int_equal(mask_of((pid_t)own), TO_MAIN);
    restore();
    assert_int_equal(mask_of((pid_t)own), 0x81);
    assert_int_equal(mask_of((pid_t)born), ALL);
}

/* P3: a thread ends, and another process gets its number before the move. */
TEST_WITH(a_number_that_another_process_got_is_noticed_and_undone, set_up, tear_down)
{
    for (int i = 0; i < 3; i++) {
        const int32_t tid = worker_thread_add(&f.w, "acl_thread");
        k.strangers = 0xa5;
        k.stranger = 0;
        k.n_reads = i == 2 ? 0 : 1;
        k.ends = i == 0 ? (pid_t)tid : 0;
        bind_goal();
        k.ends = i == 0 ? 0 : (pid_t)tid;
        if (i == 1) { /* in a watch */
            model_of((pid_t)tid)->mask = 1;
            (void)again();
        }
        if (i == 2)
            restore();
        assert_int_equal(k.stranger, tid);
        assert_int_equal(mask_of((pid_t)tid), 0xa5);
        assert_null(item_of(tid));
        restore();
        assert_masks(ALL, ALL);
        cpubind_bind_close(f.b);
        f.b = NULL;
    }
}

static int run_all(void)
{
    return run_on_two_cpus("watch", NULL, NULL);
}

TEST_PROGRAM(run_all)
