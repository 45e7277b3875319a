/* test_memory.c - where the memory of a process is, and moving it
 * SPDX-License-Identifier: MIT
 *
 * Most tests run on a model of a host with several nodes: a scratch folder holds its files, and
 * a replacement of migrate_pages moves pages of the model. Like the kernel, it ignores the last
 * bit of `maxnode`.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "../../adapters/linux/kernel/memory.h"
#include "fault_table.h"
#include "temp_dir.h"

#define KB        INT64_C(1024)
#define WORD_BITS (8 * (int)sizeof(unsigned long))
#define PID       4711
#define MAPS      "proc/4711/numa_maps"
#define HAS       "sys/devices/system/node/has_memory"
#define MAX_CALLS 16

/* == the model == */

typedef struct migration {
    int32_t pid, from, to; /* nodes */
    unsigned long n_bit;
    pthread_t thread;
    int blocks; /* SIGINT, SIGTERM, SIGUSR1 */
} migration;

static struct {
    scratch s;
    cpubind_sys sys;
    cpubind_root root;
    int descriptors;
    int64_t kb[CPUBIND_MAX_NODES];
    int32_t n_node; /* lines of numa_maps are written up to this one */
    migration log[MAX_CALLS];
    int n_call, fail_nth, fail_error; /* the nth call fails, from 1 */
    int stuck_nth;
    int64_t stuck_kb;  /* left behind by the nth call of each round, and reported by it */
    int is_passing;    /* stuck_kb holds for the first round alone */
    int64_t shared_kb; /* on node 0, never moved */
    int end_nth;       /* the process ends in the nth call */
    int end_as_zombie; /* it is still in /proc then */
    int n_thread, refuse_threads;
    int wait_ticks; /* the first call returns after so many reports of progress */
    atomic_int n_progress;
} m;

static void write_maps(void)
{
    char path[SCRATCH_PATH * 2];
    scratch_path(&m.s, MAPS, path);
    FILE *file = fopen(path, "we");
    scratch_need(file != NULL, path);
    fprintf(file, "00400000 default file=/opt/a\\040b mapped=9\n");
    for (int32_t n = 0; n < m.n_node; n++)
        if (m.kb[n])
            fprintf(file, "7f%04x0000 default anon=%d N%d=%lld kernelpagesize_kB=4\n",
                    (unsigned)n, 1, (int)n, (long long)m.kb[n] / 4);
    if (m.shared_kb)
        fprintf(file, "7fff0000 default file=/lib/c mapped=1 N0=%lld kernelpagesize_kB=4\n",
                (long long)m.shared_kb / 4);
    scratch_need(fclose(file) == 0, path);
}

/* The one bit of a mask, of which the kernel reads n_bit - 1 bits. */
static int32_t node_of(const unsigned long *mask, unsigned long n_bit)
{
    int32_t node = -1;
    for (int32_t n = 0; n < (int32_t)n_bit - 1; n++)
        if (mask[n / WORD_BITS] >> (n % WORD_BITS) & 1ul) {
            assert_int_equal(node, -1);
            node = n;
        }
    return node;
}

static int blocks_signals(void)
{
    sigset_t set;
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    return sigismember(&set, SIGINT) && sigismember(&set, SIGTERM) &&
           sigismember(&set, SIGUSR1);
}

static void end_process(void)
{
    char path[SCRATCH_PATH * 2];
    scratch_path(&m.s, MAPS, path);
    if (m.end_as_zombie)
        scratch_file(&m.s, MAPS, "");
    else
        scratch_need(unlink(path) == 0, path);
}

static long t_migrate_pages(pid_t pid, unsigned long n_bit, const unsigned long *from,
                            const unsigned long *to)
{
    migration *c = &m.log[m.n_call++];
    assert_true(m.n_call <= MAX_CALLS);
    *c = (migration){pid,   node_of(from, n_bit), node_of(to, n_bit),
                     n_bit, pthread_self(),       blocks_signals()};
    while (m.n_call == 1 && atomic_load(&m.n_progress) < m.wait_ticks)
        sched_yield();
    if (m.n_call == m.end_nth)
        end_process();
    if (m.n_call == m.fail_nth) {
        errno = m.fail_error;
        return -1;
    }
    assert_true(c->from >= 0 && c->to >= 0);
    const int nth = m.is_passing ? m.n_call : c->from < c->to ? c->from + 1 : c->from;
    const int64_t stay = nth == m.stuck_nth ? m.stuck_kb : 0;
    m.kb[c->to] += m.kb[c->from] - stay;
    m.kb[c->from] = stay;
    if (m.n_call != m.end_nth)
        write_maps();
    return (long)stay / 4;
}

static int t_thread_start(pthread_t *out, void *(*run)(void *ctx), void *ctx)
{
    m.n_thread++;
    if (m.refuse_threads)
        return EAGAIN;
    return cpubind_sys_real.thread_start(out, run, ctx);
}

/* Makes a host with these nodes, and a process with so many kB on node 0, 1, ... */
static void model(const char *nodes, int32_t n, const int64_t *kb)
{
    memset(m.kb, 0, sizeof m.kb);
    memcpy(m.kb, kb, (size_t)n * sizeof *kb);
    m.n_node = n;
    m.n_call = 0;
    m.n_thread = 0;
    atomic_store(&m.n_progress, 0);
    scratch_file(&m.s, HAS, nodes);
    write_maps();
}

static void four_nodes(void)
{
    model("0-3\n", 4, (const int64_t[]){400, 80, 16, 1200});
}

SETUP(set_up)
{
    memset(&m, 0, sizeof m);
    scratch_make(&m.s);
    scratch_file(&m.s, "proc/self/numa_maps", "00400000 default\n");
    scratch_file(&m.s, "proc/vmstat", "nr_free_pages 5\npgmigrate_success 100\n");
    m.sys = cpubind_sys_real;
    m.sys.migrate_pages = t_migrate_pages;
    m.sys.thread_start = t_thread_start;
    m.root = scratch_tree(&m.sys, m.s.dir);
    m.descriptors = open_descriptors();
    return 0;
}

SETUP(tear_down)
{
    const int same = open_descriptors() == m.descriptors;
    close(m.root.fd);
    scratch_remove(&m.s);
    return same ? 0 : -1;
}

/* The reports of progress. */
static struct {
    int64_t done[256], total;
    int n;
    pthread_t thread;
} told;

static void progress(void *ctx, int64_t done, int64_t total)
{
    assert_ptr_equal(ctx, &told);
    assert_true(total > 0 && done >= 0 && done <= total);
    assert_true(told.n < 256);
    assert_true(told.n == 0 || total == told.total);
    told.done[told.n++] = done;
    told.total = total;
    told.thread = pthread_self();
    atomic_fetch_add(&m.n_progress, 1);
}

static cpubind_memory_move moved;

/* Moves all to a node; the "out" fields hold garbage before. */
static cpubind_memory_result move_to(int32_t node, int64_t limit, int with_progress)
{
    memset(&moved, 0x5a, sizeof moved);
    memset(&told, 0, sizeof told);
    moved.pid = PID;
    moved.node = node;
    moved.limit = limit;
    moved.progress = with_progress ? progress : NULL;
    moved.ctx = &told;
    cpubind_memory_migrate(&m.root, &moved);
    assert_true((moved.error != 0) == (moved.what != NULL));
    assert_true((moved.result == CPUBIND_MEMORY_REFUSED) == (moved.error != 0));
    assert_int_equal(open_descriptors(), m.descriptors);
    return moved.result;
}

static void assert_sums(const cpubind_memory *memory, int32_t n, const int64_t *kb)
{
    int64_t total = 0;
    for (int32_t i = 0; i < CPUBIND_MAX_NODES; i++) {
        const int64_t expected = i < n ? kb[i] : 0;
        if (memory->bytes[i] != expected * KB)
            fail_msg("node %d has %lld bytes", (int)i, (long long)memory->bytes[i]);
        total += expected;
    }
    assert_int_equal(memory->total, total * KB);
}

#define ASSERT_SUMS(memory, ...)                                                               \
    assert_sums(&(memory), (int32_t)(sizeof((const int64_t[]){__VA_ARGS__}) / 8),              \
                (const int64_t[]){__VA_ARGS__})

/* Checks the source nodes of all calls. */
static void assert_sources(int n, const int32_t *from, int32_t to)
{
    assert_int_equal(m.n_call, n);
    for (int i = 0; i < n; i++) {
        assert_int_equal(m.log[i].pid, PID);
        assert_int_equal(m.log[i].from, from[i]);
        assert_int_equal(m.log[i].to, to);
    }
}

#define ASSERT_SOURCES(to, n, ...) assert_sources((n), (const int32_t[]){__VA_ARGS__, -1}, (to))

/* == moving == */

TEST(memory_is_moved_from_all_other_nodes_in_ascending_order)
{
    for (int with = 0; with < 2; with++)
        for (int32_t node = 0; node < 4; node++) {
            int64_t expected[4] = {0};
            four_nodes();
            expected[node] = 400 + 80 + 16 + 1200;
            assert_int_equal(move_to(node, -1, with), CPUBIND_MEMORY_MOVED);
            ASSERT_SUMS(moved.before, 400, 80, 16, 1200);
            assert_sums(&moved.after, 4, expected);
            assert_int_equal(moved.left, 0);
            assert_int_equal(m.n_call, 3);
            for (int i = 0, from = 0; i < 3; i++, from++) {
                from += from == node;
                assert_int_equal(m.log[i].from, from);
                assert_int_equal(m.log[i].to, node);
            }
        }
}

/* A bit past the kernel's last node is EINVAL. The kernel ignores the last bit of `maxnode`, so
 * a mask that is too narrow loses its last node. */
TEST(a_mask_is_one_bit_wider_than_its_nodes)
{
    static const struct {
        const char *nodes;
        int32_t to, n;
        int32_t from[3];
        unsigned long n_bit[3];
    } cases[] = {
        {"0-1\n", 0, 1, {1}, {3}},
        {"0-1\n", 1, 1, {0}, {3}},
        {"0,3,17\n", 3, 2, {0, 17}, {5, 19}},
        {"0,3,17\n", 17, 2, {0, 3}, {19, 19}},
        {"2,63-64\n", 2, 2, {63, 64}, {65, 66}},
        {"0,1023\n", 1023, 1, {0}, {1025}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t kb[CPUBIND_MAX_NODES] = {0};
        kb[cases[i].from[0]] = 40;
        model(cases[i].nodes, CPUBIND_MAX_NODES, kb);
        assert_int_equal(move_to(cases[i].to, -1, 0), CPUBIND_MEMORY_MOVED);
        assert_int_equal(m.kb[cases[i].to], 40);
        assert_sources(cases[i].n, cases[i].from, cases[i].to);
        for (int32_t k = 0; k < cases[i].n; k++)
            assert_int_equal(m.log[k].n_bit, cases[i].n_bit[k]);
    }
}

/* The process may allocate memory there meanwhile. */
TEST(a_node_without_memory_of_the_process_is_included)
{
    model("0-3\n", 4, (const int64_t[]){0, 0, 8, 0});
    assert_int_equal(move_to(1, -1, 0), CPUBIND_MEMORY_MOVED);
    ASSERT_SOURCES(1, 3, 0, 2, 3);
}

TEST(a_node_without_memory_is_skipped)
{
    model("0,3\n", 4, (const int64_t[]){40, 0, 0, 80});
    assert_int_equal(move_to(0, -1, 0), CPUBIND_MEMORY_MOVED);
    ASSERT_SOURCES(0, 1, 3);
}

/* Nor is the memory measured: that may take seconds. */
TEST(without_the_wanted_node_nothing_is_called)
{
    static const struct {
        const char *nodes;
        int32_t to;
    } cases[] = {
        {"0\n", 0},      {"0-1\n", 2},         {"0-1\n", -1}, {"0-1\n", 9},
        {"0-1\n", 1024}, {"0-1\n", INT32_MIN}, {"\n", 0},     {"0,2-3\n", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        model(cases[i].nodes, 2, (const int64_t[]){40, 80});
        assert_int_equal(move_to(cases[i].to, -1, 1), CPUBIND_MEMORY_NO_NODE);
        assert_int_equal(m.n_call + m.n_thread + told.n, 0);
        ASSERT_SUMS(moved.before, 0, 0);
        ASSERT_SUMS(moved.after, 0, 0);
        assert_int_equal(moved.left, 0);
    }
}

TEST(a_process_without_memory_has_nothing_to_move)
{
    four_nodes();
    scratch_file(&m.s, MAPS, "");
    assert_int_equal(move_to(1, -1, 1), CPUBIND_MEMORY_MOVED);
    assert_int_equal(m.n_call + m.n_thread + told.n, 0);
    assert_int_equal(moved.left, 0);
}

/* == limits == */

TEST(a_node_that_exceeds_the_limit_is_skipped)
{
    static const struct {
        int64_t limit;
        cpubind_memory_result result;
        int32_t n, from[3];
        int64_t left_kb;
    } cases[] = {
        /* nodes 0, 1, 3 hold 400, 80, 1200 kB */
        {0, CPUBIND_MEMORY_LIMIT, 0, {0}, 1680},
        {80 * KB - 1, CPUBIND_MEMORY_LIMIT, 0, {0}, 1680},
        {80 * KB, CPUBIND_MEMORY_LIMIT, 1, {1}, 1600},
        {400 * KB, CPUBIND_MEMORY_LIMIT, 1, {0}, 1280},
        {480 * KB - 1, CPUBIND_MEMORY_LIMIT, 1, {0}, 1280},
        {480 * KB, CPUBIND_MEMORY_LIMIT, 2, {0, 1}, 1200},
        {1680 * KB - 1, CPUBIND_MEMORY_LIMIT, 2, {0, 1}, 1200},
        {1680 * KB, CPUBIND_MEMORY_MOVED, 3, {0, 1, 3}, 0},
        {INT64_MAX, CPUBIND_MEMORY_MOVED, 3, {0, 1, 3}, 0},
        {-1, CPUBIND_MEMORY_MOVED, 3, {0, 1, 3}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int with = 0; with < 2; with++) {
            four_nodes();
            assert_int_equal(move_to(2, cases[i].limit, with), cases[i].result);
            assert_sources(cases[i].n, cases[i].from, 2);
            assert_int_equal(moved.left, cases[i].left_kb * KB);
            ASSERT_SUMS(moved.before, 400, 80, 16, 1200);
            assert_int_equal(moved.after.bytes[2], (1696 - cases[i].left_kb) * KB);
            if (with && cases[i].n) {
                assert_int_equal(told.total, (1680 - cases[i].left_kb) * KB);
                assert_int_equal(told.done[told.n - 1], told.total);
            }
        }
}

/* Memory allocated there meanwhile would not count against the limit. */
TEST(with_a_limit_an_empty_node_is_skipped)
{
    model("0-3\n", 4, (const int64_t[]){0, 0, 8, 0});
    assert_int_equal(move_to(1, 8 * KB, 0), CPUBIND_MEMORY_MOVED);
    ASSERT_SOURCES(1, 1, 2);
}

/* == pages that stay == */

TEST(pages_that_cannot_be_moved_are_reported)
{
    for (int nth = 1; nth <= 2; nth++) {
        four_nodes();
        m.stuck_nth = nth;
        m.stuck_kb = 12;
        assert_int_equal(move_to(2, -1, nth == 2), CPUBIND_MEMORY_PART);
        assert_int_equal(moved.left, 12 * KB);
        assert_int_equal(moved.after.bytes[nth - 1], 12 * KB);
        assert_int_equal(m.n_call, 6); /* the second round moves nothing */
    }
    four_nodes(); /* LIMIT has precedence over PART */
    assert_int_equal(move_to(2, 480 * KB, 0), CPUBIND_MEMORY_LIMIT);
    assert_int_equal(moved.left, 1212 * KB);
}

/* The kernel may have been using them. */
TEST(pages_that_were_busy_are_moved_in_a_later_round)
{
    for (int nth = 1; nth <= 3; nth++) {
        four_nodes();
        m.stuck_nth = nth;
        m.stuck_kb = 12;
        m.is_passing = 1;
        assert_int_equal(move_to(2, -1, nth == 2), CPUBIND_MEMORY_MOVED);
        assert_int_equal(moved.left, 0);
        assert_int_equal(m.n_call, 6);
    }
}

/* Without CAP_SYS_NICE shared pages are not moved, and migrate_pages does not count them. */
TEST(the_rest_is_measured_whatever_migrate_pages_returns)
{
    m.shared_kb = 24;
    four_nodes();
    assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_MOVED);
    ASSERT_SUMS(moved.before, 424, 80, 16, 1200);
    ASSERT_SUMS(moved.after, 24, 0, 1696);
    assert_int_equal(moved.left, 24 * KB);
}

/* == refusals == */

static const int errors[] = {EPERM, EINVAL, EFAULT, ENOMEM, ENOSYS, EBUSY, ESRCH, EIO};

TEST(a_refusal_of_any_call_ends_the_move_and_is_reported)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        for (int nth = 1; nth <= 3; nth++)
            for (int with = 0; with < 2; with++) {
                static const int64_t on_node[] = {16, 416, 496};
                four_nodes();
                m.fail_nth = nth;
                m.fail_error = errors[i];
                assert_int_equal(move_to(2, -1, with), CPUBIND_MEMORY_REFUSED);
                assert_int_equal(moved.error, errors[i]);
                assert_string_equal(moved.what, "migrate_pages");
                assert_int_equal(m.n_call, nth);
                ASSERT_SUMS(moved.before, 400, 80, 16, 1200);
                assert_int_equal(moved.after.bytes[2], on_node[nth - 1] * KB);
                assert_int_equal(moved.left, (1696 - on_node[nth - 1]) * KB);
            }
    four_nodes(); /* REFUSED has precedence over LIMIT and PART */
    m.fail_nth = 2;
    m.stuck_nth = 1;
    m.stuck_kb = 4;
    assert_int_equal(move_to(2, 480 * KB, 0), CPUBIND_MEMORY_REFUSED);
}

TEST(an_interrupted_call_is_repeated)
{
    for (int nth = 1; nth <= 3; nth++) {
        four_nodes();
        m.fail_nth = nth;
        m.fail_error = EINTR;
        assert_int_equal(move_to(2, -1, nth == 2), CPUBIND_MEMORY_MOVED);
        assert_int_equal(m.n_call, 4);
        assert_int_equal(m.log[nth].from, m.log[nth - 1].from);
        assert_int_equal(moved.left, 0);
    }
}

TEST(a_process_that_ends_meanwhile_is_reported_as_ended)
{
    static const struct {
        int as_zombie, error;
        int64_t left_kb;
    } cases[] = {
        {0, ESRCH, 1680}, /* not measured: as before */
        {1, EINVAL, 0},
        {1, ESRCH, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int nth = 1; nth <= 3; nth++) {
            four_nodes();
            m.end_nth = m.fail_nth = nth;
            m.end_as_zombie = cases[i].as_zombie;
            m.fail_error = cases[i].error;
            assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_REFUSED);
            assert_int_equal(moved.error, ESRCH);
            assert_string_equal(moved.what, "migrate_pages");
            assert_int_equal(m.n_call, nth);
            assert_int_equal(moved.left, cases[i].left_kb * KB);
        }
    four_nodes(); /* after the last page was moved */
    m.fail_nth = 0;
    m.end_nth = 3;
    m.end_as_zombie = 0;
    assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_REFUSED);
    assert_int_equal(moved.error, ESRCH);
    assert_string_equal(moved.what, "numa_maps");
}

TEST(a_missing_process_and_a_kernel_without_numa_differ)
{
    char path[SCRATCH_PATH * 2];
    four_nodes();
    end_process();
    assert_int_equal(move_to(2, -1, 1), CPUBIND_MEMORY_REFUSED);
    assert_int_equal(moved.error, ESRCH);
    assert_string_equal(moved.what, "numa_maps");
    assert_int_equal(moved.left + moved.before.total + moved.after.total, 0);
    scratch_path(&m.s, "proc/self/numa_maps", path);
    scratch_need(unlink(path) == 0, path);
    assert_int_equal(move_to(2, -1, 1), CPUBIND_MEMORY_NO_NODE);
    assert_int_equal(m.n_call, 0);
}

/* has_memory came with 4.14; older kernels have another file. */
TEST(the_nodes_come_from_one_of_two_files_or_the_move_is_refused)
{
    char path[SCRATCH_PATH * 2];
    static const char *const bad[] = {"0-1024\n", "1-0\n", "x", "0 1\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        four_nodes();
        scratch_file(&m.s, HAS, bad[i]);
        assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_REFUSED);
        assert_int_equal(moved.error, EILSEQ);
        assert_string_equal(moved.what, "has_memory");
    }
    scratch_path(&m.s, HAS, path);
    scratch_need(unlink(path) == 0, path);
    assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_REFUSED);
    assert_int_equal(moved.error, ENOENT);
    assert_string_equal(moved.what, "has_memory");
    ASSERT_SUMS(moved.after, 400, 80, 16, 1200);
    assert_int_equal(moved.left, 1680 * KB);
    assert_int_equal(m.n_call, 0);
    scratch_file(&m.s, "sys/devices/system/node/has_normal_memory", "0,2\n");
    assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_MOVED);
    ASSERT_SOURCES(2, 1, 0);
}

/* == progress and the helper thread == */

TEST(without_a_progress_no_thread_is_started)
{
    four_nodes();
    assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_MOVED);
    assert_int_equal(m.n_thread, 0);
    for (int i = 0; i < 3; i++)
        assert_true(pthread_equal(m.log[i].thread, pthread_self()));
}

TEST(progress_is_reported_at_the_start_and_after_each_node)
{
    static const int64_t done_kb[] = {0, 400, 480, 1680};
    for (int refuse = 0; refuse < 2; refuse++) {
        int n = 0;
        four_nodes();
        m.refuse_threads = refuse;
        assert_int_equal(move_to(2, -1, 1), CPUBIND_MEMORY_MOVED);
        assert_int_equal(told.total, 1680 * KB);
        assert_true(m.n_thread > 0);
        assert_true(pthread_equal(told.thread, pthread_self()));
        for (int i = 0; i < told.n && n < 4; i++) /* on a busy machine there are more reports */
            n += told.done[i] == done_kb[n] * KB;
        assert_int_equal(n, 4);
        assert_int_equal(told.done[told.n - 1], told.total);
        for (int i = 0; i < 3; i++)
            assert_true(!pthread_equal(m.log[i].thread, pthread_self()) == !refuse);
    }
}

TEST(a_move_of_nothing_reports_no_progress)
{
    model("0-3\n", 4, (const int64_t[]){0, 64, 0, 0});
    assert_int_equal(move_to(1, -1, 1), CPUBIND_MEMORY_MOVED);
    assert_int_equal(told.n, 0);
    assert_int_equal(m.n_call, 3);
}

TEST(the_helper_thread_takes_no_signal_and_the_mask_is_unchanged)
{
    sigset_t before, after, old;
    four_nodes();
    sigemptyset(&before);
    sigaddset(&before, SIGUSR2);
    scratch_need(pthread_sigmask(SIG_SETMASK, &before, &old) == 0, "pthread_sigmask");
    assert_int_equal(move_to(2, -1, 1), CPUBIND_MEMORY_MOVED);
    scratch_need(pthread_sigmask(SIG_SETMASK, &old, &after) == 0, "pthread_sigmask");
    for (int i = 1; i < 32; i++)
        assert_int_equal(sigismember(&after, i), i == SIGUSR2);
    for (int i = 0; i < 3; i++)
        assert_true(m.log[i].blocks);
}

/* vmstat shows one page more at each read. */
static int64_t vmstat_pages, vmstat_step;
static int n_vmstat;

static int t_openat(int dir, const char *path, int flags)
{
    if (strcmp(path, "proc/vmstat") == 0) {
        char text[128];
        snprintf(text, sizeof text, "nr_free_pages 5\npgmigrate_success %lld\n",
                 (long long)vmstat_pages);
        scratch_file(&m.s, "proc/vmstat", text);
        vmstat_pages += vmstat_step;
        n_vmstat++;
    }
    return cpubind_sys_real.openat(dir, path, flags);
}

/* Two pages in each half second; the first call takes two of these. */
TEST(a_long_call_reports_progress_every_half_second)
{
    const int64_t page = sysconf(_SC_PAGESIZE);
    four_nodes();
    m.sys.openat = t_openat;
    vmstat_pages = 1000;
    vmstat_step = 2;
    m.wait_ticks = 3; /* the start, and two periods */
    const int64_t begun = clock_ms();
    assert_int_equal(move_to(2, -1, 1), CPUBIND_MEMORY_MOVED);
    assert_true(clock_ms() - begun >= 1000);
    assert_int_equal(told.done[0], 0);
    assert_int_equal(told.done[1], 2 * page);
    assert_int_equal(told.done[2], 4 * page);
    assert_true(pthread_equal(told.thread, pthread_self()));
    assert_int_equal(told.done[told.n - 1], told.total);
}

/* Other processes move pages as well: never more than the node holds. */
TEST(moves_of_other_processes_count_up_to_the_size_of_the_node)
{
    static const int64_t steps[] = {INT64_MAX / 16, 0, -100};
    static const int64_t expected_kb[] = {400, 0, 0};
    for (size_t i = 0; i < 3; i++) {
        four_nodes();
        m.sys.openat = t_openat;
        vmstat_pages = 1000;
        vmstat_step = steps[i];
        m.wait_ticks = 2;
        assert_int_equal(move_to(2, -1, 1), CPUBIND_MEMORY_MOVED);
        assert_int_equal(told.done[1], expected_kb[i] * KB);
    }
}

TEST(without_vmstat_progress_is_reported_after_each_node_only)
{
    char path[SCRATCH_PATH * 2];
    scratch_path(&m.s, "proc/vmstat", path);
    scratch_need(unlink(path) == 0, path);
    four_nodes();
    m.wait_ticks = 2;
    assert_int_equal(move_to(2, -1, 1), CPUBIND_MEMORY_MOVED);
    assert_int_equal(told.done[0], 0);
    assert_int_equal(told.done[1], 0);
    assert_int_equal(told.done[told.n - 1], 1680 * KB);
}

/* == reading == */

static int read_maps(const char *text, cpubind_memory *out)
{
    scratch_file(&m.s, MAPS, text);
    memset(out, 0x5a, sizeof *out);
    const int error = cpubind_memory_read(&m.root, PID, out).error;
    if (error) {
        cpubind_memory untouched;
        memset(&untouched, 0x5a, sizeof untouched);
        assert_memory_equal(out, &untouched, sizeof untouched);
    }
    assert_int_equal(open_descriptors(), m.descriptors);
    return error;
}

TEST(pages_of_every_size_are_counted_in_bytes)
{
    cpubind_memory memory;
    assert_int_equal(read_maps("", &memory), 0);
    ASSERT_SUMS(memory, 0);
    assert_int_equal(read_maps("00400000 default file=/a mapped=3 N0=3 kernelpagesize_kB=4\n"
                               "7f00 prefer (many):0-1 huge N1=2 N2=1 kernelpagesize_kB=2048\n"
                               "7f01 default huge anon=1 N2=1 kernelpagesize_kB=1048576\n",
                               &memory),
                     0);
    ASSERT_SUMS(memory, 12, 4096, 2048 + 1048576);
}

TEST(a_damaged_file_is_an_error_and_nothing_is_written)
{
    static const char *const texts[] = {
        "x\n",
        "00400000 default N0=3 kernelpagesize_kB=4",
        "00400000 default N0=3 kernelpagesize_kB=4\n0050",
        "00400000 default N1024=3 kernelpagesize_kB=4\n",
        "\n",
    };
    cpubind_memory memory;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(read_maps(texts[i], &memory), EILSEQ);
        four_nodes();
        scratch_file(&m.s, MAPS, texts[i]);
        assert_int_equal(move_to(1, -1, 0), CPUBIND_MEMORY_REFUSED);
        assert_int_equal(moved.error, EILSEQ);
        assert_string_equal(moved.what, "numa_maps");
        assert_int_equal(m.n_call, 0);
    }
}

static size_t largest_buffer;

static void *t_realloc(void *old, size_t size_bytes)
{
    if (size_bytes > largest_buffer)
        largest_buffer = size_bytes;
    return cpubind_sys_real.realloc(old, size_bytes);
}

static size_t read_max;

static ssize_t t_read(int fd, void *data, size_t cap)
{
    return cpubind_sys_real.read(fd, data, cap < read_max ? cap : read_max);
}

/* 300,000 lines, 20 MB: line i has i % 5 + 1 pages on node i % 3. */
TEST(a_large_file_is_read_in_blocks_and_not_kept)
{
    static const size_t sizes[] = {4096, SIZE_MAX};
    char path[SCRATCH_PATH * 2];
    int64_t kb[3] = {0};
    cpubind_memory memory;
    scratch_path(&m.s, MAPS, path);
    FILE *file = fopen(path, "we");
    scratch_need(file != NULL, path);
    for (int i = 0; i < 300000; i++) {
        fprintf(file, "7f%08x000 default file=/usr/lib/lib%d.so N%d=%d kernelpagesize_kB=4\n",
                (unsigned)i, i, i % 3, i % 5 + 1);
        kb[i % 3] += (i % 5 + 1) * 4;
    }
    scratch_need(fclose(file) == 0, path);
    m.sys.read = t_read;
    m.sys.realloc = t_realloc;
    for (size_t i = 0; i < 2; i++) {
        read_max = sizes[i];
        assert_int_equal(cpubind_memory_read(&m.root, PID, &memory).error, 0);
        assert_sums(&memory, 3, kb);
    }
    assert_true(largest_buffer > 0 && largest_buffer <= 1 << 18);
}

TEST(short_reads_change_nothing)
{
    static const size_t sizes[] = {1, 7, 61, 4096};
    m.sys.read = t_read;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        read_max = sizes[i];
        four_nodes();
        assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_MOVED);
        ASSERT_SUMS(moved.before, 400, 80, 16, 1200);
        ASSERT_SUMS(moved.after, 0, 0, 1696);
    }
}

/* A line of 600 kB is read, an endless one is refused. */
TEST(a_line_may_be_long_but_not_endless)
{
    static const int32_t lengths[] = {600000, 2000000};
    static const char end[] = " N1=1 kernelpagesize_kB=4\n";
    for (int i = 0; i < 2; i++) {
        cpubind_memory memory;
        char *text = calloc(1, (size_t)lengths[i] + sizeof end);
        scratch_need(text != NULL, "calloc");
        memset(text, 'x', (size_t)lengths[i]);
        memcpy(text, "7f00 default file=/", 19);
        memcpy(text + lengths[i], end, sizeof end);
        assert_int_equal(read_maps(text, &memory), i ? EILSEQ : 0);
        if (!i)
            ASSERT_SUMS(memory, 0, 4);
        free(text);
    }
}

/* == every call of the table == */

/* Moves with each use of `which` failing. Returns how many moves were refused. */
static int fail_each_use(call which, int error)
{
    int n_refused = 0, nth = 1;
    for (;; nth++) {
        four_nodes();
        fault_set(which, nth, error);
        const cpubind_memory_result result = move_to(2, -1, 0);
        if (fault.n_met == 0)
            break;
        assert_true(nth < 100);
        if (result == CPUBIND_MEMORY_REFUSED) {
            assert_int_equal(moved.error, error);
            assert_true(strcmp(moved.what, "numa_maps") == 0 ||
                        strcmp(moved.what, "has_memory") == 0);
            n_refused++;
        } else {
            assert_int_equal(result, CPUBIND_MEMORY_MOVED);
        }
        /* Nothing is moved unless both can be read; a failure later is that of `after`. */
        const int is_late = result == CPUBIND_MEMORY_MOVED ||
                            (moved.before.total && strcmp(moved.what, "numa_maps") == 0);
        assert_int_equal(m.n_call, is_late ? 3 : 0);
        assert_int_equal(m.kb[2], is_late ? 1696 : 16);
        assert_int_equal(moved.left,
                         result == CPUBIND_MEMORY_MOVED || !moved.before.total ? 0 : 1680 * KB);
    }
    assert_true(nth > 1); /* the call is made */
    return n_refused;
}

TEST(every_fault_is_reported_or_harms_nothing)
{
    const cpubind_sys next = m.sys;
    fault_next = &next;
    m.sys = fault_table;
    /* numa_maps, the nodes, and numa_maps again: one opening each */
    assert_int_equal(fail_each_use(CALL_openat, EMFILE), 3);
    assert_int_equal(fail_each_use(CALL_openat, EACCES), 3);
    assert_int_equal(fail_each_use(CALL_fstat, EIO), 1); /* of the nodes */
    assert_int_equal(fail_each_use(CALL_read, EIO), 6);  /* each once more for its end */
    assert_int_equal(fail_each_use(CALL_realloc, ENOMEM), 3);
    assert_int_equal(fail_each_use(CALL_openat, EINTR), 0);
    assert_int_equal(fail_each_use(CALL_read, EINTR), 0);
    assert_int_equal(fail_each_use(CALL_close, EIO), 0);
    fault_next = &cpubind_sys_real;
}

/* == the policy == */

static struct {
    int n, mode, n_eintr, error, has_mask;
    unsigned long n_bit;
    int32_t node;
} policy;

static int t_set_mempolicy(int mode, const unsigned long *nodes, unsigned long n_bit)
{
    policy.n++;
    if (policy.n <= policy.n_eintr) {
        errno = EINTR;
        return -1;
    }
    policy.mode = mode;
    policy.has_mask = nodes != NULL;
    policy.n_bit = n_bit;
    policy.node = nodes ? node_of(nodes, n_bit) : -1;
    errno = policy.error;
    return policy.error ? -1 : 0;
}

TEST(a_preferred_node_is_passed_in_the_narrowest_mask)
{
    static const int32_t nodes[] = {0, 1, 7, 15, 31, 32, 62, 63, 64, 1023};
    m.sys.set_mempolicy = t_set_mempolicy;
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        memset(&policy, 0, sizeof policy);
        assert_int_equal(cpubind_memory_prefer(&m.root, nodes[i]).error, 0);
        assert_int_equal(policy.mode, 1); /* MPOL_PREFERRED */
        assert_int_equal(policy.node, nodes[i]);
        assert_int_equal(policy.n_bit, nodes[i] + 2);
    }
    assert_int_equal(cpubind_memory_prefer_none(&m.root).error, 0);
    assert_int_equal(policy.mode, 0); /* MPOL_DEFAULT */
    assert_false(policy.has_mask);
}

TEST(a_node_number_out_of_range_is_refused)
{
    m.sys.set_mempolicy = t_set_mempolicy;
    memset(&policy, 0, sizeof policy);
    assert_int_equal(cpubind_memory_prefer(&m.root, -1).error, EINVAL);
    assert_int_equal(cpubind_memory_prefer(&m.root, 1024).error, EINVAL);
    assert_int_equal(cpubind_memory_prefer(&m.root, INT32_MIN).error, EINVAL);
    assert_int_equal(policy.n, 0);
}

TEST(a_refused_policy_is_reported)
{
    m.sys.set_mempolicy = t_set_mempolicy;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        memset(&policy, 0, sizeof policy);
        policy.error = errors[i];
        policy.n_eintr = 2;
        assert_int_equal(cpubind_memory_prefer(&m.root, 1).error, errors[i]);
        assert_int_equal(policy.n, 3);
        assert_int_equal(cpubind_memory_prefer_none(&m.root).error, errors[i]);
    }
}

/* == this machine == */

static cpubind_root live = {&cpubind_sys_real, -1, CPUBIND_REACH_ANYWHERE};

SETUP(open_live)
{
    live = scratch_tree(&cpubind_sys_real, "/");
    return 0;
}

SETUP(close_live)
{
    return close(live.fd);
}

static int64_t own_rss(void)
{
    char line[256];
    long long kb = -1;
    FILE *file = fopen("/proc/self/status", "re");
    scratch_need(file != NULL, "/proc/self/status");
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %lld kB", &kb) == 1)
            break;
    fclose(file);
    scratch_need(kb >= 0, "VmRSS");
    return kb * KB;
}

/* Whether this kernel has NUMA; without it reading must report that. */
static int has_maps(void)
{
    cpubind_memory memory;
    if (access("/proc/self/numa_maps", R_OK) == 0)
        return 1;
    assert_int_equal(cpubind_memory_read(&live, getpid(), &memory).error, ENOENT);
    return 0;
}

TEST(the_memory_of_this_process_is_about_its_resident_size)
{
    const size_t size = 64 << 20;
    cpubind_memory before, after;
    if (!has_maps())
        skip();
    const int64_t rss_before = own_rss();
    assert_int_equal(cpubind_memory_read(&live, getpid(), &before).error, 0);
    char *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    scratch_need(data != MAP_FAILED, "mmap");
    memset(data, 1, size);
    assert_int_equal(cpubind_memory_read(&live, getpid(), &after).error, 0);
    const int64_t rss = own_rss(), grown = after.total - before.total;
    munmap(data, size);
    assert_true(grown >= (int64_t)size); /* a sanitizer takes memory of its own */
    assert_in_range(grown, rss - rss_before - (4 << 20), rss - rss_before + (4 << 20));
    assert_in_range(after.total, rss - rss / 10 - (4 << 20), rss + rss / 10 + (4 << 20));
}

TEST(a_missing_process_is_reported)
{
    cpubind_memory memory;
    assert_int_equal(cpubind_memory_read(&live, 0, &memory).error, ENOENT);
    assert_int_equal(cpubind_memory_read(&live, -1, &memory).error, ENOENT);
    assert_int_equal(cpubind_memory_read(&live, INT32_MAX, &memory).error, ENOENT);
}

TEST(on_one_node_there_is_nothing_to_move)
{
    char nodes[256] = "";
    FILE *file = fopen("/sys/devices/system/node/has_memory", "re");
    if (file && fgets(nodes, sizeof nodes, file) && strcmp(nodes, "0\n") != 0) {
        fclose(file);
        skip(); /* another test covers machines with several nodes */
    }
    if (file)
        fclose(file);
    memset(&moved, 0, sizeof moved);
    moved.pid = getpid();
    moved.limit = -1;
    cpubind_memory_migrate(&live, &moved);
    assert_int_equal(moved.result,
                     nodes[0] || !has_maps() ? CPUBIND_MEMORY_NO_NODE : CPUBIND_MEMORY_REFUSED);
    assert_int_equal(moved.left, 0);
    assert_true(moved.after.total == moved.before.total);
}

/* Lines of numa_maps whose policy starts like this. */
static int count_policy(const char *start)
{
    char line[8192];
    int n = 0;
    FILE *file = fopen("/proc/self/numa_maps", "re");
    scratch_need(file != NULL, "/proc/self/numa_maps");
    while (fgets(line, sizeof line, file)) {
        const char *word = strchr(line, ' ');
        n += word && strncmp(word + 1, start, strlen(start)) == 0;
    }
    fclose(file);
    return n;
}

TEST(the_kernel_keeps_the_policy_until_it_is_undone)
{
    unsigned long node_0 = 1;
    if (!has_maps())
        skip();
    /* A container may forbid the call. */
    const int error = syscall(SYS_set_mempolicy, 1, &node_0, 2ul) < 0 ? errno : 0;
    assert_int_equal(cpubind_memory_prefer(&live, 0).error, error);
    if (error)
        return;
    assert_true(count_policy("prefer:0 ") > 0);
    assert_int_equal(cpubind_memory_prefer_none(&live).error, 0);
    assert_int_equal(count_policy("prefer"), 0);
    assert_true(count_policy("default") > 0);
    assert_int_equal(cpubind_memory_prefer(&live, 1023).error, EINVAL);
    assert_int_equal(count_policy("prefer"), 0);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define LIVE(test) cmocka_unit_test_setup_teardown(test, open_live, close_live)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH(memory_is_moved_from_all_other_nodes_in_ascending_order),
        EACH(a_mask_is_one_bit_wider_than_its_nodes),
        EACH(a_node_without_memory_of_the_process_is_included),
        EACH(a_node_without_memory_is_skipped),
        EACH(without_the_wanted_node_nothing_is_called),
        EACH(a_process_without_memory_has_nothing_to_move),
        EACH(a_node_that_exceeds_the_limit_is_skipped),
        EACH(with_a_limit_an_empty_node_is_skipped),
        EACH(pages_that_cannot_be_moved_are_reported),
        EACH(pages_that_were_busy_are_moved_in_a_later_round),
        EACH(the_rest_is_measured_whatever_migrate_pages_returns),
        EACH(a_refusal_of_any_call_ends_the_move_and_is_reported),
        EACH(an_interrupted_call_is_repeated),
        EACH(a_process_that_ends_meanwhile_is_reported_as_ended),
        EACH(a_missing_process_and_a_kernel_without_numa_differ),
        EACH(the_nodes_come_from_one_of_two_files_or_the_move_is_refused),
        EACH(without_a_progress_no_thread_is_started),
        EACH(progress_is_reported_at_the_start_and_after_each_node),
        EACH(a_move_of_nothing_reports_no_progress),
        EACH(the_helper_thread_takes_no_signal_and_the_mask_is_unchanged),
        EACH(a_long_call_reports_progress_every_half_second),
        EACH(moves_of_other_processes_count_up_to_the_size_of_the_node),
        EACH(without_vmstat_progress_is_reported_after_each_node_only),
        EACH(pages_of_every_size_are_counted_in_bytes),
        EACH(a_damaged_file_is_an_error_and_nothing_is_written),
        EACH(a_large_file_is_read_in_blocks_and_not_kept),
        EACH(short_reads_change_nothing),
        EACH(a_line_may_be_long_but_not_endless),
        EACH(every_fault_is_reported_or_harms_nothing),
        EACH(a_preferred_node_is_passed_in_the_narrowest_mask),
        EACH(a_node_number_out_of_range_is_refused),
        EACH(a_refused_policy_is_reported),
        LIVE(the_memory_of_this_process_is_about_its_resident_size),
        LIVE(a_missing_process_is_reported),
        LIVE(on_one_node_there_is_nothing_to_move),
        LIVE(the_kernel_keeps_the_policy_until_it_is_undone),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
