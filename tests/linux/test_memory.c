/* test_memory.c - where the memory of a process is, and moving it
 * SPDX-License-Identifier: MIT
 *
 * Most tests run on a model of a host with several nodes: a scratch folder holds its files, and
 * a replacement of move_pages moves pages of the model. Like the kernel, it ends at the first
 * run of pages of which some could not be moved, and moves a huge page as a whole.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>

#include "../../adapters/linux/kernel/memory.h"
#include "fault_table.h"
#include "temp_dir.h"

#define KB        INT64_C(1024)
#define MIB       (INT64_C(1) << 20)
#define WORD_BITS (8 * (int)sizeof(unsigned long))
#define PID       4711
#define FOLDER    "proc/4711/"
#define MAPS      FOLDER "numa_maps"
#define HAS       "sys/devices/system/node/has_memory"

enum {
    PAGE_KB = 4,
    BLOCK = 512,
    MAX_MAPS = 8,
    MAX_PAGES = 131072,
    SHARED = 1,
    PINNED = 2,
    HIDDEN = 4
};

/* == the model == */

/* A mapping; its pages are page[first] and the following ones. */
typedef struct mapping {
    unsigned long start, end;
    int first, n;
    long offset; /* pages from its start to its first page in memory */
    int is_shared, is_huge, is_locked, is_thp;
} mapping;

static struct {
    scratch s;
    cpubind_sys sys;
    cpubind_root root;
    int descriptors;
    mapping map[MAX_MAPS];
    int n_map, n_page;
    signed char node[MAX_PAGES], kind[MAX_PAGES]; /* SHARED, PINNED */
    int n_move, n_ask, n_pread;                   /* calls */
    int flags;                                    /* of the last move */
    int64_t n_tried;                              /* pages passed to be moved */
    int fail_nth, fail_error;                     /* the nth move fails, from 1 */
    int free_nth;                                 /* in this move pinned pages are released */
    int end_nth;                                  /* the process ends in the nth move */
    int end_as_zombie;                            /* it is still in /proc then */
    int64_t room_kb;                              /* free on the target, 0: no meminfo */
    int64_t arrived_kb;
    int hidden_error; /* minus an errno: what is said of a hidden page */
    int all_error;    /* of MPOL_MF_MOVE_ALL */
    int sleep_ms;     /* in each move */
    int stop_after;
    int n_thread;
    int can_scan;
} m;

static void write_meminfo(int32_t node)
{
    char name[64], text[256];
    if (!m.room_kb)
        return;
    snprintf(name, sizeof name, "sys/devices/system/node/node%d/meminfo", (int)node);
    snprintf(text, sizeof text,
             "Node %d MemTotal:       131072 kB\nNode %d MemFree:  %lld kB\n"
             "Node %d Active(file):        0 kB\nNode %d Inactive(file):    0 kB\n",
             (int)node, (int)node, (long long)(m.room_kb - m.arrived_kb), (int)node, (int)node);
    scratch_file(&m.s, name, text);
}

static void write_maps(void)
{
    char path[SCRATCH_PATH * 2];
    scratch_path(&m.s, MAPS, path);
    FILE *file = fopen(path, "we");
    scratch_need(file != NULL, path);
    fprintf(file, "00400000 default file=/opt/a\\040b mapped=9\n");
    for (int i = 0; i < m.n_map; i++) {
        const mapping *a = &m.map[i];
        int on[64] = {0};
        for (int k = 0; k < a->n; k++)
            on[m.node[a->first + k]]++;
        fprintf(file, "%lx default %sanon=%d", a->start, a->is_huge ? "huge " : "", a->n);
        if (a->is_shared)
            fprintf(file, " mapmax=3");
        for (int n = 0; n < 64; n++)
            if (on[n])
                fprintf(file, " N%d=%d", n, on[n]);
        fprintf(file, " kernelpagesize_kB=%d\n", a->is_huge ? 2048 : PAGE_KB);
    }
    scratch_need(fclose(file) == 0, path);
}

/* maps, smaps, status and pagemap, which do not change. */
static void write_facts(void)
{
    static const char *const names[] = {FOLDER "maps", FOLDER "smaps"};
    char path[SCRATCH_PATH * 2];
    int locked_kb = 0;
    for (int with_flags = 0; with_flags < 2; with_flags++) {
        scratch_path(&m.s, names[with_flags], path);
        FILE *file = fopen(path, "we");
        scratch_need(file != NULL, path);
        fprintf(file, "00400000-00500000 r-xp 00000000 08:01 77   /opt/a b\n");
        for (int i = 0; i < m.n_map; i++) {
            fprintf(file, "%lx-%lx rw-p 00000000 00:00 0 \n", m.map[i].start, m.map[i].end);
            if (with_flags)
                fprintf(file, "Size:    4 kB\nVmFlags: rd wr %sac \n",
                        m.map[i].is_locked ? "lo " : "");
            locked_kb += m.map[i].is_locked ? m.map[i].n * PAGE_KB : 0;
        }
        scratch_need(fclose(file) == 0, path);
    }
    snprintf(path, sizeof path, "Name:\tVmLck:\nVmLck:\t%8d kB\n", locked_kb / 2);
    scratch_file(&m.s, FOLDER "status", path);
    scratch_path(&m.s, FOLDER "pagemap", path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    scratch_need(fd >= 0, path);
    for (int i = 0; i < m.n_map; i++)
        for (int k = 0; !m.map[i].is_huge && k < m.map[i].n; k++) {
            uint64_t entry = UINT64_C(1) << 63;
            const off_t at =
                (off_t)(m.map[i].start / 4096 + (unsigned long)(m.map[i].offset + k)) * 8;
            if (!(m.kind[m.map[i].first + k] & SHARED))
                entry |= UINT64_C(1) << 56;
            if (m.map[i].is_thp)
                entry |= 1024 + (uint64_t)k;
            else
                entry |= 5 * (uint64_t)k + 3;
            scratch_need(pwrite(fd, &entry, 8, at) == 8, path);
        }
    scratch_need(close(fd) == 0, path);
}

/* Adds a mapping of n pages on a node. Returns it. */
static mapping *add_map(int32_t node, int64_t n)
{
    mapping *a = &m.map[m.n_map];
    assert_true(m.n_map < MAX_MAPS && m.n_page + n <= MAX_PAGES);
    *a = (mapping){.start = 0x10000000ul + 0x10000000ul * (unsigned long)m.n_map,
                   .first = m.n_page,
                   .n = (int)n};
    a->end = a->start + 4096ul * (unsigned long)n;
    memset(m.node + m.n_page, node, (size_t)n);
    memset(m.kind + m.n_page, 0, (size_t)n);
    m.n_page += (int)n;
    m.n_map++;
    return a;
}

static void add_shared(int32_t node, int64_t n)
{
    mapping *a = add_map(node, n);
    a->is_shared = 1;
    memset(m.kind + a->first, SHARED, (size_t)n);
}

/* The page at an address, or -1. */
static int find_page(const void *address)
{
    const unsigned long at = (unsigned long)(uintptr_t)address;
    for (int i = 0; i < m.n_map; i++) {
        const unsigned long size = m.map[i].is_huge ? 2ul << 20 : 4096;
        const unsigned long start = m.map[i].start + size * (unsigned long)m.map[i].offset;
        if (at >= start && at < start + size * (unsigned long)m.map[i].n)
            return m.map[i].first + (int)((at - start) / size);
    }
    return -1;
}

static const mapping *map_of(int page)
{
    int i = 0;
    while (page >= m.map[i].first + m.map[i].n)
        i++;
    return &m.map[i];
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

static void arrive(int page, int node)
{
    const mapping *a = map_of(page);
    const int first = a->is_thp ? page - (page - a->first) % BLOCK : page;
    for (int k = first; k < first + (a->is_thp ? BLOCK : 1); k++) {
        m.arrived_kb += m.node[k] != node ? PAGE_KB : 0;
        m.node[k] = (signed char)node;
    }
}

/* Moves the pages of a run. Returns how many were not moved. */
static int move_run(void **pages, const int *nodes, int *status, int from, int to)
{
    int n_bad = 0;
    for (int i = from; i < to; i++)
        if (status[i] == INT32_MAX && m.kind[find_page(pages[i])] & PINNED)
            n_bad++;
        else if (status[i] == INT32_MAX)
            arrive(find_page(pages[i]), nodes[i]);
    for (int i = from; i < to; i++)
        if (status[i] == INT32_MAX)
            status[i] = n_bad ? INT32_MIN : nodes[i];
    return n_bad;
}

static long move_model(int n, void **pages, const int *nodes, int *status, int flags)
{
    int from = 0;
    for (int i = 0; i < n; i++) {
        const int page = find_page(pages[i]);
        const int is_queued = i > from && status[i - 1] == INT32_MAX && page >= 0 &&
                              map_of(page)->is_thp && (page - map_of(page)->first) % BLOCK;
        int error;
        if (page < 0)
            error = -ENOENT;
        else if (m.kind[page] & SHARED && flags != 4)
            error = -EACCES;
        else if (m.node[page] == nodes[i])
            error = nodes[i];
        else if (is_queued)
            error = -EBUSY;
        else {
            status[i] = INT32_MAX; /* queued */
            continue;
        }
        const int n_bad = move_run(pages, nodes, status, from, i);
        status[i] = error;
        if (n_bad)
            return n_bad + n - i - 1;
        from = i + 1;
    }
    return move_run(pages, nodes, status, from, n);
}

static long t_move_pages(pid_t pid, unsigned long n, void **pages, const int *nodes,
                         int *status, int flags)
{
    assert_int_equal(pid, PID);
    assert_true(n > 0 && n <= 8192);
    if (!nodes) {
        m.n_ask++;
        for (unsigned long i = 0; i < n; i++) {
            const int page = find_page(pages[i]);
            status[i] = page < 0                ? -ENOENT
                        : m.kind[page] & HIDDEN ? m.hidden_error
                                                : m.node[page];
        }
        return 0;
    }
    m.n_move++;
    m.flags = flags;
    m.n_tried += (int64_t)n;
    if (m.sleep_ms)
        scratch_need(poll(NULL, 0, m.sleep_ms) == 0, "poll");
    if (m.n_move == m.end_nth)
        end_process();
    if (m.n_move == m.fail_nth || (flags == 4 && m.all_error)) {
        errno = m.n_move == m.fail_nth ? m.fail_error : m.all_error;
        return -1;
    }
    for (int i = 0; m.n_move == m.free_nth && i < m.n_page; i++)
        m.kind[i] &= ~PINNED;
    const long result = move_model((int)n, pages, nodes, status, flags);
    if (m.n_move != m.end_nth)
        write_maps();
    write_meminfo(nodes[0]);
    return result;
}

static ssize_t t_pread(int fd, void *data, size_t cap, off_t at)
{
    m.n_pread++;
    return cpubind_sys_real.pread(fd, data, cap, at);
}

/* Like a kernel from 6.7 on if can_scan, else like one before. */
static int t_pagemap_scan(int fd, uint64_t from, uint64_t to, uint64_t *found)
{
    int n = 0;
    (void)fd;
    if (!m.can_scan) {
        errno = ENOTTY;
        return -1;
    }
    for (int i = 0; i < m.n_map; i++)
        for (int k = 0; k < m.map[i].n; k++) {
            const uint64_t at = m.map[i].start + 4096 * (uint64_t)(m.map[i].offset + k);
            if (at >= from && at < to && (!n || at < *found)) {
                *found = at;
                n = 1;
            }
        }
    return n;
}

static int t_thread_start(pthread_t *out, void *(*run)(void *ctx), void *ctx)
{
    m.n_thread++;
    return cpubind_sys_real.thread_start(out, run, ctx);
}

static void begin_model(const char *nodes)
{
    m.n_map = m.n_page = 0;
    m.n_move = m.n_ask = m.n_pread = 0;
    m.n_tried = m.arrived_kb = 0;
    m.flags = 0;
    scratch_file(&m.s, HAS, nodes);
}

static void end_model(void)
{
    write_maps();
    write_facts();
}

/* Makes a host with these nodes, and a process with so many kB on node 0, 1, ... */
static void model(const char *nodes, int32_t n, const int64_t *kb)
{
    begin_model(nodes);
    for (int32_t i = 0; i < n; i++)
        if (kb[i])
            add_map(i, kb[i] / PAGE_KB);
    end_model();
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
    m.sys = cpubind_sys_real;
    m.sys.move_pages = t_move_pages;
    m.sys.pread = t_pread;
    m.sys.pagemap_scan = t_pagemap_scan;
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
} told;

static void progress(void *ctx, int64_t done, int64_t total)
{
    assert_ptr_equal(ctx, &told);
    assert_true(total > 0 && done >= 0 && done <= total);
    assert_true(told.n < 256);
    assert_true(told.n == 0 || total == told.total);
    told.done[told.n++] = done;
    told.total = total;
}

static int stop_moving(void *ctx)
{
    assert_ptr_equal(ctx, &m);
    return m.n_move >= m.stop_after;
}

static cpubind_memory_move moved;

static int64_t stays(void)
{
    int64_t sum = 0;
    for (int i = 0; i < CPUBIND_STAY_COUNT; i++)
        sum += moved.stay[i];
    return sum;
}

/* Fills the fields under "in"; the "out" fields hold garbage before. */
static void ask_for(int32_t node, int64_t limit)
{
    memset(&moved, 0x5a, sizeof moved);
    memset(&told, 0, sizeof told);
    moved.pid = PID;
    moved.node = node;
    moved.limit = limit;
    moved.time_ms = -1;
    moved.is_all = 0;
    moved.progress = NULL;
    moved.ctx = &told;
    moved.stop = NULL;
    moved.stop_ctx = &m;
}

static cpubind_memory_result run_move(void)
{
    cpubind_memory_migrate(&m.root, &moved);
    assert_true((moved.error != 0) == (moved.what != NULL));
    assert_true((moved.result == CPUBIND_MEMORY_REFUSED) == (moved.error != 0));
    assert_int_equal(open_descriptors(), m.descriptors);
    assert_int_equal(m.n_thread, 0);
    if (!moved.error) /* each byte that is left has a reason */
        assert_int_equal(moved.left, stays());
    return moved.result;
}

/* Moves all to a node. */
static cpubind_memory_result move_to(int32_t node, int64_t limit, int with_progress)
{
    ask_for(node, limit);
    moved.progress = with_progress ? progress : NULL;
    return run_move();
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

/* == moving == */

TEST(memory_is_moved_from_all_other_nodes)
{
    static const int64_t kb[] = {400, 80, 16, 1200};
    for (int with = 0; with < 2; with++)
        for (int32_t node = 0; node < 4; node++) {
            int64_t expected[4] = {0};
            four_nodes();
            expected[node] = 400 + 80 + 16 + 1200;
            assert_int_equal(move_to(node, -1, with), CPUBIND_MEMORY_MOVED);
            ASSERT_SUMS(moved.before, 400, 80, 16, 1200);
            assert_sums(&moved.after, 4, expected);
            assert_int_equal(moved.left, 0);
            assert_int_equal(moved.own, 1696 * KB);
            assert_int_equal(moved.own_left, 0);
            assert_int_equal(moved.moved, (1696 - kb[node]) * KB);
            assert_int_equal(m.n_move, 1);
            assert_int_equal(m.flags, 2); /* MPOL_MF_MOVE */
        }
}

TEST(many_pages_are_moved_in_batches)
{
    begin_model("0-1\n");
    add_map(0, 20000);
    add_map(1, 20000);
    add_map(0, 3);
    end_model();
    assert_int_equal(move_to(1, -1, 0), CPUBIND_MEMORY_MOVED);
    assert_int_equal(moved.moved, 20003 * 4 * KB);
    assert_in_range(m.n_move, 3, 4);
    assert_int_equal(m.n_tried, 20003);
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
        assert_int_equal(m.n_move + m.n_ask + m.n_pread + told.n, 0);
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
    assert_int_equal(m.n_move + m.n_ask + told.n, 0);
    assert_int_equal(moved.left, 0);
}

/* A mapping of 4 TB with three pages at its start is not read to its end. */
TEST(a_sparse_mapping_costs_no_more_than_its_pages)
{
    begin_model("0-1\n");
    add_map(0, 3)->end += 4ul << 40;
    end_model();
    assert_int_equal(move_to(1, -1, 0), CPUBIND_MEMORY_MOVED);
    assert_int_equal(moved.moved, 12 * KB);
    assert_in_range(m.n_pread, 1, 4);
}

/* The same with its pages at its end: the kernel tells where the hole ends. */
TEST(a_hole_of_terabytes_is_skipped)
{
    begin_model("0-1\n");
    mapping *a = add_map(0, 3);
    a->start = 0x1000000000;
    a->offset = 1l << 28;
    a->end = a->start + (1ul << 40) + 3 * 4096;
    end_model();
    m.can_scan = 1;
    assert_int_equal(move_to(1, -1, 0), CPUBIND_MEMORY_MOVED);
    assert_int_equal(moved.moved, 12 * KB);
    assert_in_range(m.n_pread, 1, 4);
}

/* An older kernel does not: dense mappings come first. */
TEST(a_sparse_mapping_comes_last)
{
    begin_model("0-1\n");
    mapping *a = add_map(0, 3);
    a->offset = 30000;
    a->end += 30000ul * 4096;
    add_map(0, 8192);
    end_model();
    m.stop_after = 1;
    ask_for(1, -1);
    moved.stop = stop_moving;
    assert_int_equal(run_move(), CPUBIND_MEMORY_STOPPED);
    assert_int_equal(moved.moved, 32 * MIB);
    assert_int_equal(move_to(1, -1, 0), CPUBIND_MEMORY_MOVED);
    assert_int_equal(moved.moved, 12 * KB);
}

/* == limits == */

/* Review of live hosts, P3: with a limit of 10 MiB nothing of three times 40 MiB was moved. */
TEST(the_limit_is_kept_to_within_a_tenth)
{
    static const int64_t limits[] = {4 * KB,   100 * KB, 999 * KB, MIB,      2 * MIB,  3 * MIB,
                                     10 * MIB, 11 * MIB, 12 * MIB, 57 * MIB, 117 * MIB};
    for (int thp = 0; thp < 2; thp++)
        for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
            const int64_t limit = limits[i];
            begin_model("0-3\n");
            for (int32_t node = 0; node < 3; node++)
                add_map(node, 40 * MIB / 4096)->is_thp = thp;
            end_model();
            assert_int_equal(move_to(3, limit, (int)i % 2), CPUBIND_MEMORY_LIMIT);
            assert_true(moved.moved <= limit + limit / 10);
            assert_int_equal(moved.after.bytes[3], moved.moved);
            assert_int_equal(moved.stay[CPUBIND_STAY_LIMIT], 120 * MIB - moved.moved);
            assert_int_equal(moved.own_left, 120 * MIB - moved.moved);
            if (!thp)
                assert_int_equal(moved.moved, limit / 4096 * 4096);
            else if (limit >= 10 * MIB) /* huge pages are moved as a whole */
                assert_true(moved.moved >= limit - limit / 10);
        }
}

TEST(a_limit_that_is_not_reached_changes_nothing)
{
    static const int64_t limits[] = {1680 * KB, INT64_MAX, -1};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        four_nodes();
        assert_int_equal(move_to(2, limits[i], 0), CPUBIND_MEMORY_MOVED);
        assert_int_equal(moved.left, 0);
    }
    four_nodes();
    assert_int_equal(move_to(2, 0, 1), CPUBIND_MEMORY_LIMIT);
    assert_int_equal(m.n_move, 0);
    assert_int_equal(moved.left, 1680 * KB);
}

TEST(a_move_ends_at_its_limit_of_time)
{
    begin_model("0-1\n");
    add_map(0, 10 * 8192);
    end_model();
    m.sleep_ms = 20;
    ask_for(1, -1);
    moved.time_ms = 50;
    assert_int_equal(run_move(), CPUBIND_MEMORY_TIME);
    assert_in_range(m.n_move, 1, 4);
    assert_true(moved.moved > 0 && moved.elapsed_ms >= 50);
    assert_int_equal(moved.stay[CPUBIND_STAY_TIME], 10 * 32 * MIB - moved.moved);
    assert_int_equal(moved.own_left, moved.left);
    ask_for(1, -1);
    moved.time_ms = 0;
    assert_int_equal(run_move(), CPUBIND_MEMORY_TIME);
    assert_int_equal(moved.moved, 0);
}

/* Review of live hosts, P3: an interrupt while memory is moved. */
TEST(a_move_is_stopped_between_two_batches)
{
    for (int after = 0; after < 3; after++) {
        begin_model("0-1\n");
        add_map(0, 4 * 8192);
        end_model();
        m.stop_after = after;
        ask_for(1, -1);
        moved.stop = stop_moving;
        assert_int_equal(run_move(), CPUBIND_MEMORY_STOPPED);
        assert_int_equal(moved.moved, after * 32 * MIB);
        assert_int_equal(moved.after.bytes[1], moved.moved);
        assert_int_equal(moved.stay[CPUBIND_STAY_STOPPED], (4 - after) * 32 * MIB);
    }
}

/* Review of live hosts, P3: a move left 16 MiB of the node free. Here the node has 128 MiB, so
 * its reserve is 32 MiB. */
TEST(a_node_keeps_its_reserve)
{
    for (int thp = 0; thp < 2; thp++) {
        begin_model("0-1\n");
        add_map(0, 100 * 256)->is_thp = thp;
        end_model();
        m.room_kb = 93 * 1024;
        write_meminfo(1);
        assert_int_equal(move_to(1, -1, 0), CPUBIND_MEMORY_NO_ROOM);
        assert_int_equal(moved.reserve, 32 * MIB);
        assert_int_equal(moved.moved, (61 - thp) * MIB);
        assert_int_equal(moved.stay[CPUBIND_STAY_NO_ROOM], (39 + thp) * MIB);
        assert_int_equal(moved.room, (m.room_kb - m.arrived_kb) * KB);
        assert_int_equal(moved.is_node_out, 0);
    }
    m.room_kb = 0;
}

TEST(a_node_that_the_kernel_finds_full_ends_the_move)
{
    begin_model("0-1\n");
    add_map(0, 3 * 8192);
    end_model();
    m.fail_nth = 2;
    m.fail_error = ENOMEM;
    assert_int_equal(move_to(1, -1, 0), CPUBIND_MEMORY_NO_ROOM);
    assert_int_equal(moved.stay[CPUBIND_STAY_NO_ROOM], 64 * MIB);
    assert_int_equal(moved.is_node_out, 1);
    assert_int_equal(moved.room, -1); /* no meminfo */
    assert_int_equal(m.n_move, 2);
}

/* == pages that stay == */

/* Four workers map 64 MiB of weights and have 16 MiB of their own: review of live hosts, P1
 * 6. */
static void add_worker(int32_t weights, int32_t own)
{
    mapping *mixed;
    begin_model("0-3\n");
    add_shared(weights, 64 * 256);
    add_map(own, 15 * 256);
    mixed = add_map(own, 512); /* a heap after fork: the second half is shared */
    mixed->is_shared = 1;
    memset(m.kind + mixed->first + 256, SHARED, 256);
    end_model();
}

TEST(pages_that_other_processes_map_stay_where_they_are)
{
    add_worker(0, 2);
    assert_int_equal(move_to(1, -1, 0), CPUBIND_MEMORY_MOVED);
    assert_int_equal(moved.moved, 16 * MIB);
    assert_int_equal(moved.after.bytes[0], 64 * MIB);
    assert_int_equal(moved.stay[CPUBIND_STAY_SHARED], 65 * MIB);
    assert_int_equal(moved.own_left, 0);
    assert_int_equal(m.n_tried, 16 * 256); /* the kernel is not even asked */
}

TEST(own_pages_alone_count_for_verify)
{
    for (int32_t node = 0; node < 4; node++) {
        add_worker(0, node);
        ask_for(node, -1);
        cpubind_memory_look(&m.root, &moved);
        assert_int_equal(moved.result, CPUBIND_MEMORY_MOVED);
        assert_int_equal(moved.own, 16 * MIB);
        assert_int_equal(moved.own_left, 0);
        assert_int_equal(moved.left, node ? 64 * MIB : 0);
        assert_int_equal(moved.stay[CPUBIND_STAY_SHARED], node ? 64 * MIB : 0);
    }
    add_worker(0, 2);
    ask_for(1, -1);
    cpubind_memory_look(&m.root, &moved);
    assert_int_equal(moved.own, 16 * MIB);
    assert_int_equal(moved.own_left, 16 * MIB);
    assert_int_equal(moved.stay[CPUBIND_STAY_SHARED], 65 * MIB);
    ask_for(1, -1);
    moved.is_all = 1;
    cpubind_memory_look(&m.root, &moved);
    assert_int_equal(moved.own_left, 81 * MIB);
    assert_int_equal(m.n_move, 0);
}

static void add_one_of_each(void)
{
    begin_model("0-1\n");
    add_map(0, 100);
    add_map(0, 200)->is_locked = 1;
    mapping *huge = add_map(0, 4);
    huge->is_huge = 1;
    huge->end = huge->start + (8ul << 20);
    add_shared(0, 300);
    end_model();
}

TEST(locked_and_huge_pages_stay_and_are_counted)
{
    add_one_of_each();
    assert_int_equal(move_to(1, -1, 0), CPUBIND_MEMORY_MOVED);
    assert_int_equal(moved.moved, 400 * KB);
    assert_int_equal(moved.stay[CPUBIND_STAY_LOCKED], 800 * KB);
    assert_int_equal(moved.stay[CPUBIND_STAY_HUGE], 8 * MIB);
    assert_int_equal(moved.stay[CPUBIND_STAY_SHARED], 1200 * KB);
    assert_int_equal(moved.own_left, 0);
}

TEST(all_pages_are_moved_on_request)
{
    add_one_of_each();
    ask_for(1, -1);
    moved.is_all = 1;
    assert_int_equal(run_move(), CPUBIND_MEMORY_MOVED);
    assert_int_equal(m.flags, 4); /* MPOL_MF_MOVE_ALL */
    assert_int_equal(moved.left, 0);
    assert_int_equal(moved.moved, 2400 * KB + 8 * MIB);
}

TEST(without_the_right_to_move_all_own_pages_are_moved)
{
    add_one_of_each();
    m.all_error = EPERM;
    ask_for(1, -1);
    moved.is_all = 1;
    assert_int_equal(run_move(), CPUBIND_MEMORY_MOVED);
    assert_int_equal(m.flags, 2);
    assert_int_equal(moved.stay[CPUBIND_STAY_SHARED], 1200 * KB);
    assert_int_equal(moved.left, 1200 * KB);
}

/* Pages that a driver has pinned, at the start, in the middle and at the end of batches. */
TEST(pinned_pages_stay_and_are_counted)
{
    static const int pinned[] = {0, 1, 777, 8191, 8192, 8193, 19999};
    begin_model("0-1\n");
    add_map(0, 20000);
    for (size_t i = 0; i < sizeof pinned / sizeof pinned[0]; i++)
        m.kind[pinned[i]] = PINNED;
    end_model();
    assert_int_equal(move_to(1, -1, 0), CPUBIND_MEMORY_PART);
    assert_int_equal(moved.stay[CPUBIND_STAY_BUSY], 7 * 4 * KB);
    assert_int_equal(moved.own_left, 7 * 4 * KB);
    assert_int_equal(moved.moved, (20000 - 7) * 4 * KB);
    assert_true(m.n_move < 12);
}

/* The kernel ends a call at the first run with a page that it cannot move: here runs end at
 * pages that became shared after pagemap was read. */
TEST(a_call_that_ends_early_is_continued)
{
    begin_model("0-1\n");
    add_map(0, 1000);
    end_model();
    for (int i = 10; i < 1000; i += 10)
        m.kind[i] = SHARED;
    m.kind[5] = PINNED;
    m.kind[15] = PINNED;
    assert_int_equal(move_to(1, -1, 0), CPUBIND_MEMORY_PART);
    assert_int_equal(moved.stay[CPUBIND_STAY_SHARED], 99 * 4 * KB);
    assert_int_equal(moved.stay[CPUBIND_STAY_BUSY], 2 * 4 * KB);
    assert_int_equal(moved.moved, 899 * 4 * KB);
}

/* Linux 6.1 to 6.4 with automatic NUMA balancing: seen in a virtual machine. */
TEST(pages_that_the_kernel_does_not_find_count_as_hidden)
{
    for (int n_pinned = 0; n_pinned < 3; n_pinned++) {
        four_nodes();
        m.hidden_error = n_pinned ? -ENOENT : -EFAULT; /* a huge page is EFAULT */
        memset(m.kind + 20, HIDDEN, 60);
        memset(m.kind, PINNED, (size_t)n_pinned);
        assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_PART);
        assert_int_equal(moved.stay[CPUBIND_STAY_HIDDEN], 60 * 4 * KB);
        assert_int_equal(moved.stay[CPUBIND_STAY_BUSY], n_pinned * 4 * KB);
        assert_int_equal(moved.own_left, (60 + n_pinned) * 4 * KB);
        assert_int_equal(moved.moved, 1680 * KB - (60 + n_pinned) * 4 * KB);
    }
}

/* Pages of a move that was ended may be anywhere: those that were not found, too. */
TEST(pages_that_are_not_found_are_part_of_the_rest_of_a_move_that_ended)
{
    four_nodes();
    m.hidden_error = -ENOENT;
    memset(m.kind + 20, HIDDEN, 60);
    assert_int_equal(move_to(2, 400 * KB, 0), CPUBIND_MEMORY_LIMIT);
    assert_int_equal(moved.stay[CPUBIND_STAY_HIDDEN], 0);
    assert_int_equal(moved.stay[CPUBIND_STAY_LIMIT], 1680 * KB - moved.moved);
    assert_int_equal(moved.own_left, 1680 * KB - moved.moved);
}

TEST(pages_that_were_busy_are_moved_in_a_later_round)
{
    four_nodes();
    m.kind[3] = m.kind[40] = PINNED;
    m.free_nth = 2;
    assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_MOVED);
    assert_int_equal(moved.left, 0);
    assert_int_equal(m.n_move, 2);
}

/* == refusals == */

static const int errors[] = {EPERM, EINVAL, EFAULT, EACCES, ENOSYS, ENODEV, ESRCH, EIO};

TEST(a_refusal_of_any_call_ends_the_move_and_is_reported)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        for (int nth = 1; nth <= 3; nth++) {
            begin_model("0-1\n");
            add_map(0, 3 * 8192);
            end_model();
            m.fail_nth = nth;
            m.fail_error = errors[i];
            assert_int_equal(move_to(1, 200 * MIB, nth % 2), CPUBIND_MEMORY_REFUSED);
            assert_int_equal(moved.error, errors[i]);
            assert_string_equal(moved.what, "move_pages");
            assert_int_equal(m.n_move, nth);
            assert_int_equal(moved.moved, (nth - 1) * 32 * MIB);
            assert_int_equal(moved.after.bytes[1], moved.moved);
            assert_int_equal(moved.left, 96 * MIB - moved.moved);
            assert_int_equal(moved.own_left, 96 * MIB - moved.moved);
        }
}

TEST(an_interrupted_call_is_repeated)
{
    four_nodes();
    m.fail_nth = 1;
    m.fail_error = EINTR;
    assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_MOVED);
    assert_int_equal(m.n_move, 2);
    assert_int_equal(moved.left, 0);
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
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        four_nodes();
        m.end_nth = m.fail_nth = 1;
        m.end_as_zombie = cases[i].as_zombie;
        m.fail_error = cases[i].error;
        assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_REFUSED);
        assert_int_equal(moved.error, ESRCH);
        assert_string_equal(moved.what, "move_pages");
        assert_int_equal(m.n_move, 1);
        assert_int_equal(moved.left, cases[i].left_kb * KB);
    }
    four_nodes(); /* after the last page was moved */
    m.fail_nth = 0;
    m.end_nth = 1;
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
    assert_int_equal(m.n_move + m.n_ask, 0);
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
    assert_int_equal(m.n_move, 0);
    scratch_file(&m.s, "sys/devices/system/node/has_normal_memory", "0,2\n");
    assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_MOVED);
    assert_int_equal(moved.left, 0);
}

/* Without pagemap every page of the mappings is asked for; the kernel keeps shared pages. */
TEST(a_hidden_pagemap_is_named_and_own_pages_are_moved)
{
    char path[SCRATCH_PATH * 2];
    add_worker(0, 2);
    scratch_path(&m.s, FOLDER "pagemap", path);
    scratch_need(unlink(path) == 0, path);
    assert_int_equal(move_to(1, -1, 0), CPUBIND_MEMORY_MOVED);
    assert_int_equal(moved.pagemap_error, ENOENT);
    assert_int_equal(moved.moved, 16 * MIB);
    assert_int_equal(moved.stay[CPUBIND_STAY_SHARED], 65 * MIB);
    ask_for(3, -1);
    cpubind_memory_look(&m.root, &moved);
    assert_int_equal(moved.pagemap_error, ENOENT);
    assert_int_equal(moved.own_left, 15 * MIB); /* the heap counts as shared */
    assert_int_equal(moved.stay[CPUBIND_STAY_SHARED], 66 * MIB);
}

TEST(numa_balancing_is_reported)
{
    four_nodes();
    assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_MOVED);
    assert_false(moved.is_balancing);
    scratch_file(&m.s, "proc/sys/kernel/numa_balancing", "1\n");
    assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_MOVED);
    assert_true(moved.is_balancing);
    scratch_file(&m.s, "proc/sys/kernel/numa_balancing", "0\n");
    assert_int_equal(move_to(2, -1, 0), CPUBIND_MEMORY_MOVED);
    assert_false(moved.is_balancing);
}

/* == progress == */

TEST(progress_is_reported_at_the_start_and_after_each_batch)
{
    begin_model("0-1\n");
    add_map(0, 3 * 8192);
    end_model();
    assert_int_equal(move_to(1, -1, 1), CPUBIND_MEMORY_MOVED);
    assert_int_equal(told.total, 96 * MIB);
    assert_int_equal(told.n, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(told.done[i], i * 32 * MIB);
}

TEST(a_move_of_nothing_reports_no_progress)
{
    model("0-3\n", 4, (const int64_t[]){0, 64, 0, 0});
    assert_int_equal(move_to(1, -1, 1), CPUBIND_MEMORY_MOVED);
    assert_int_equal(told.n, 0);
    assert_int_equal(m.n_move, 0);
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
        assert_int_equal(m.n_move + m.n_ask, 0);
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
        write_meminfo(2);
        fault_set(which, nth, error);
        const cpubind_memory_result result = move_to(2, -1, 0);
        if (fault.n_met == 0)
            break;
        assert_true(nth < 100);
        assert_true(result == CPUBIND_MEMORY_REFUSED || result == CPUBIND_MEMORY_MOVED);
        if (result == CPUBIND_MEMORY_REFUSED) {
            assert_int_equal(moved.error, error);
            n_refused++;
        }
        /* Nothing is moved before all could be read; a failure later is that of `after`. */
        assert_int_equal(moved.moved, m.n_move ? 1680 * KB : 0);
        assert_true(m.n_move || result == CPUBIND_MEMORY_REFUSED);
        if (result == CPUBIND_MEMORY_MOVED)
            assert_int_equal(moved.left, 0);
    }
    assert_true(nth > 1); /* the call is made */
    return n_refused;
}

TEST(every_fault_is_reported_or_harms_nothing)
{
    const cpubind_sys next = m.sys;
    fault_next = &next;
    m.sys = fault_table;
    m.room_kb = 100000;
    /* The nodes, and numa_maps and maps twice. Without status, numa_balancing, pagemap or
     * meminfo the move goes on. */
    assert_int_equal(fail_each_use(CALL_openat, EMFILE), 4);
    assert_int_equal(fail_each_use(CALL_openat, EACCES), 4);
    assert_int_equal(fail_each_use(CALL_fstat, EIO), 1); /* of the nodes */
    assert_int_equal(fail_each_use(CALL_read, EIO), 8);  /* each once more for its end */
    assert_int_equal(fail_each_use(CALL_pread, EIO), 0);
    assert_int_equal(fail_each_use(CALL_pagemap_scan, ENOTTY), 0);
    assert_int_equal(fail_each_use(CALL_move_pages, EIO), 2); /* ask, and move */
    assert_int_equal(fail_each_use(CALL_malloc, ENOMEM), 1);
    assert_int_equal(fail_each_use(CALL_openat, EINTR), 0);
    assert_int_equal(fail_each_use(CALL_read, EINTR), 0);
    assert_int_equal(fail_each_use(CALL_pread, EINTR), 0);
    assert_int_equal(fail_each_use(CALL_move_pages, EINTR), 0);
    assert_int_equal(fail_each_use(CALL_close, EIO), 0);
    assert_true(fail_each_use(CALL_realloc, ENOMEM) > 0);
    fault_next = &cpubind_sys_real;
}

/* == the policy == */

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

TEST_WITH(the_memory_of_this_process_is_about_its_resident_size, open_live, close_live)
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

TEST_WITH(a_missing_process_is_reported, open_live, close_live)
{
    cpubind_memory memory;
    assert_int_equal(cpubind_memory_read(&live, 0, &memory).error, ENOENT);
    assert_int_equal(cpubind_memory_read(&live, -1, &memory).error, ENOENT);
    assert_int_equal(cpubind_memory_read(&live, INT32_MAX, &memory).error, ENOENT);
}

TEST_WITH(on_one_node_there_is_nothing_to_move, open_live, close_live)
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

/* The pages of this process that were to be moved, of a range. */
static struct {
    const char *from, *to;
    int n;
} wanted;

/* Asks the kernel where pages are, and notes those that are to be moved in place of moving
 * them. */
static long note_pages(pid_t pid, unsigned long n, void **pages, const int *nodes, int *status,
                       int flags)
{
    for (unsigned long i = 0; nodes && i < n; i++) {
        const char *at = pages[i];
        status[i] = nodes[i];
        if (at >= wanted.from && at < wanted.to)
            wanted.n++;
    }
    return nodes ? 0 : cpubind_sys_real.move_pages(pid, n, pages, nodes, status, flags);
}

/* A scratch root with two nodes of memory and the real /proc: 64 GB of which the first, one in
 * the middle and the last page are in memory, and half of them shared with a child. */
TEST_WITH(pages_of_this_process_are_found, open_live, close_live)
{
    const size_t size = 64ul << 30, page = (size_t)sysconf(_SC_PAGESIZE);
    cpubind_sys sys = cpubind_sys_real;
    scratch s;
    int fds[2];
    char byte;
    if (!has_maps())
        skip();
    char *data = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    scratch_need(data != MAP_FAILED && madvise(data, size, MADV_NOHUGEPAGE) == 0, "mmap");
    data[0] = data[size / 2] = data[size - page] = data[page] = 1;
    scratch_need(pipe(fds) == 0, "pipe");
    const pid_t child = fork(); /* it shares all pages until one is written */
    scratch_need(child >= 0, "fork");
    if (child == 0) {
        close(fds[1]);
        _exit(read(fds[0], &byte, 1) != 0);
    }
    data[0] = data[size / 2] = data[size - page] = 2;
    scratch_make(&s);
    scratch_file(&s, HAS, "0-1\n");
    scratch_link(&s, "proc", "/proc");
    sys.move_pages = note_pages;
    cpubind_root root = scratch_tree(&sys, s.dir);
    memset(&moved, 0, sizeof moved);
    memset(&wanted, 0, sizeof wanted);
    wanted.from = data;
    wanted.to = data + size;
    moved.pid = getpid();
    moved.node = 1;
    moved.limit = -1;
    moved.time_ms = 2500;
    cpubind_memory_migrate(&root, &moved);
    if (moved.result == CPUBIND_MEMORY_MOVED)
        assert_int_equal(wanted.n, 3);
    else /* no right to ask, or a kernel that cannot skip holes */
        assert_true(moved.result == CPUBIND_MEMORY_REFUSED ||
                    moved.result == CPUBIND_MEMORY_TIME);
    close(root.fd);
    scratch_remove(&s);
    close(fds[0]);
    close(fds[1]);
    scratch_need(waitpid(child, NULL, 0) == child, "waitpid");
    munmap(data, size);
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

TEST_WITH(the_kernel_keeps_the_policy_until_it_is_undone, open_live, close_live)
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

TEST_FILE(set_up, tear_down)
