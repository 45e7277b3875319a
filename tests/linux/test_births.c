/* test_births.c - threads that are born while a process is bound, or put back, do not escape
 * SPDX-License-Identifier: MIT
 *
 * A child has chains: each thread of a chain notes its CPUs, starts the next one and ends. A
 * listing shows such a thread too late, or not at all. CPUBIND_TEST_CHAINS=500 processes are
 * tried; each is right, or it is said that births do not end.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "../../adapters/linux/bind/bind.h"
#include "../support/test.h"
#include "test_process.h"

#define MAX_CHAINS 3
#define STACK      (size_t)65536 /* of a thread */

/* What a child and the test share. */
typedef struct notes {
    volatile uint32_t n_link[MAX_CHAINS]; /* threads of a chain so far */
    volatile unsigned long mask[MAX_CHAINS];
    volatile int is_ready;
} notes;

static struct {
    int32_t cpu[2];
    notes *notes;
    pid_t pid;
    int n_chain;
    cpubind_sys sys; /* the real calls, until a test replaces some */
} f;

/* == The child ============================================================== */

static void *wait_for_ever(void *none)
{
    for (;;)
        pause();
    return none;
}

static pthread_attr_t detached;

static void *link_of_chain(void *ctx)
{
    const uintptr_t chain = (uintptr_t)ctx;
    unsigned long mask = 0;
    pthread_t next;
    if (syscall(SYS_sched_getaffinity, 0, sizeof mask, &mask) > 0)
        f.notes->mask[chain] = mask;
    f.notes->n_link[chain]++;
    /* It fails while more threads end than the kernel can put away. */
    while (pthread_create(&next, &detached, link_of_chain, ctx) != 0)
        continue;
    return NULL;
}

static void run_child(int n_still)
{
    pthread_t thread;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&detached, STACK);
    for (int i = 0; i < n_still; i++)
        scratch_need(pthread_create(&thread, &detached, wait_for_ever, NULL) == 0, "thread");
    for (uintptr_t i = 0; i < (uintptr_t)f.n_chain; i++)
        scratch_need(pthread_create(&thread, &detached, link_of_chain, (void *)i) == 0,
                     "chain");
    f.notes->is_ready = 1;
    (void)wait_for_ever(NULL);
}

static void start_child(int n_chain, int n_still)
{
    memset((void *)f.notes, 0, sizeof *f.notes);
    f.n_chain = n_chain;
    f.pid = fork();
    scratch_need(f.pid >= 0, "fork");
    if (f.pid == 0) {
        run_child(n_still);
        _exit(1);
    }
    while (!f.notes->is_ready)
        usleep(100);
}

static void end_child(void)
{
    kill(f.pid, SIGKILL);
    scratch_need(waitpid(f.pid, NULL, 0) == f.pid, "waitpid");
}

/* == What a child does ======================================================= */

/* Chains whose next threads have other CPUs. */
static int count_elsewhere(unsigned long mask)
{
    int n = 0;
    for (int i = 0; i < f.n_chain; i++) {
        const uint32_t n_link = f.notes->n_link[i];
        while (f.notes->n_link[i] < n_link + 3) /* those that were born since */
            usleep(20);
        n += f.notes->mask[i] != mask;
    }
    return n;
}

/* == Tests ================================================================== */

static cpubind_binding *open_binding(void)
{
    const cpubind_bind_options how = {.pid = f.pid, .memory = CPUBIND_MEMORY_NONE};
    cpubind_binding *b = NULL;
    cpubind_linux_fault why = {.what = ""};
    const cpubind_linux_status status = cpubind_bind_open(&how, &f.sys, &b, &why);
    if (status != CPUBIND_LINUX_OK)
        print_message("%s: %s\n", cpubind_linux_status_name(status), why.what);
    assert_int_equal(status, CPUBIND_LINUX_OK);
    return b;
}

static cpubind_linux_status apply(cpubind_binding *b)
{
    const cpubind_goal goal = {
        .device = -1, .memory_node = -1, .no_irq = CPUBIND_IRQ_NO_ROLE, .main = {&f.cpu[1], 1}};
    return cpubind_bind_apply(b, &goal, NULL);
}

/* Removes the record of a child that has ended. */
static void forget(cpubind_binding *b)
{
    end_child();
    assert_int_equal(cpubind_bind_restore(b, NULL), CPUBIND_LINUX_OK);
    cpubind_bind_close(b);
}

TEST(no_chain_escapes_unless_it_is_said)
{
    const char *asked = getenv("CPUBIND_TEST_CHAINS");
    const int n = asked ? atoi(asked) : 24;
    const unsigned long narrow = 1ul << f.cpu[1], wide = narrow | 1ul << f.cpu[0];
    int n_said[2] = {0, 0};
    int64_t longest_ms = 0;
    for (int i = 0; i < n; i++) {
        cpubind_binding *b;
        int64_t since_ms = cpubind_now_ms();
        cpubind_linux_status status;
        start_child(1 + i % MAX_CHAINS, i % 5 * 40);
        b = open_binding();
        assert_int_equal(apply(b), CPUBIND_LINUX_OK);
        n_said[0] += cpubind_bind_report(b)->is_outrun;
        if (!cpubind_bind_report(b)->is_outrun)
            assert_int_equal(count_elsewhere(narrow), 0);
        status = cpubind_bind_restore(b, NULL);
        n_said[1] += status == CPUBIND_LINUX_ERR_BIRTHS;
        if (status != CPUBIND_LINUX_ERR_BIRTHS) {
            assert_int_equal(status, CPUBIND_LINUX_OK);
            assert_int_equal(count_elsewhere(wide), 0);
        }
        since_ms = cpubind_now_ms() - since_ms;
        longest_ms = since_ms > longest_ms ? since_ms : longest_ms;
        forget(b);
    }
    print_message("%d processes: births did not end in %d apply and %d restore; at most %d "
                  "ms\n",
                  n, n_said[0], n_said[1], (int)longest_ms);
}

/* == Births that do not end ================================================== */

/* A look that comes too late each time. */
static int getaffinity_of_ended(pid_t tid, size_t size, unsigned long *mask)
{
    if (tid != f.pid) {
        errno = ESRCH;
        return -1;
    }
    return cpubind_sys_real.getaffinity(tid, size, mask);
}

TEST(births_that_do_not_end_are_said_and_the_record_stays)
{
    cpubind_binding *b;
    const cpubind_report *report;
    struct stat st;
    cpubind_linux_fault why = {.what = ""};
    start_child(1, 0);
    b = open_binding();
    report = cpubind_bind_report(b);
    f.sys.getaffinity = getaffinity_of_ended;
    assert_int_equal(apply(b), CPUBIND_LINUX_OK);
    assert_true(report->is_outrun);
    assert_string_equal(report->item[report->n - 1].what, CPUBIND_BIRTHS);
    assert_int_equal(report->item[report->n - 1].id, 0);
    assert_int_equal(report->item[report->n - 1].result, CPUBIND_ITEM_SKIPPED);
    assert_int_equal(cpubind_bind_restore(b, &why), CPUBIND_LINUX_ERR_BIRTHS);
    assert_string_equal(why.what, CPUBIND_BIRTHS);
    assert_int_equal(stat(cpubind_bind_record_path(b), &st), 0);
    f.sys.getaffinity = cpubind_sys_real.getaffinity;
    forget(b);
}

SETUP(set_up)
{
    f.sys = cpubind_sys_real;
    return 0;
}

static int run_all(void)
{
    if (!two_cpus(f.cpu) || f.cpu[1] >= (int32_t)(8 * sizeof(long))) {
        print_message("skipped: with one CPU there is nothing to move\n");
        return 0;
    }
    f.notes = (notes *)mmap(NULL, sizeof *f.notes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    scratch_need(f.notes != MAP_FAILED, "mmap");
    return run_registered("births", set_up, NULL);
}

TEST_PROGRAM(run_all)
