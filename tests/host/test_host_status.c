/* test_host_status.c - where threads and memory of the workers of a host of files are; faults
 * SPDX-License-Identifier: MIT
 *
 * The NPUs are those of the fixture host a2-192cpu-8npu, the processes files of a temporary
 * folder. NPU 0 has the CPUs 144-167: irq 144-145, main 146-165, acl 166, release 167; node 6.
 */
#define _GNU_SOURCE
#include "../linux/fault_table.h"
#include "../support/fixture_host.h"
#include "host_tree.h"

#include "../../adapters/host/host_status.h"

#define WORD_BITS (8 * sizeof(unsigned long))

static cpubind_sys sys;
static cpubind_linux_host *host;
static cpubind_source source;
static cpubind_source source_of_test;
static cpubind_host_bind *survey;
static char memory[32 << 20];

/* The CPUs of the threads, by number; others have ended. */
static const struct {
    int32_t tid, first, last;
} masks[] = {{100, 0, 191},   {101, 166, 166}, {102, 1, 1},
             {103, 146, 165}, {200, 146, 165}, {201, 167, 167}};

static int fake_getaffinity(pid_t tid, size_t size_bytes, unsigned long *mask)
{
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        if (masks[i].tid != tid)
            continue;
        assert_true(size_bytes >= 24);
        memset(mask, 0, 24);
        for (int32_t cpu = masks[i].first; cpu <= masks[i].last; cpu++)
            mask[(size_t)cpu / WORD_BITS] |= 1ul << (size_t)cpu % WORD_BITS;
        return 24;
    }
    errno = ESRCH;
    return -1;
}

static void add_thread(int32_t pid, int32_t tid, const char *name)
{
    char leaf[64];
    snprintf(leaf, sizeof leaf, "task/%d/comm", (int)tid);
    tree_file(pid, leaf, name, strlen(name));
}

/* The process table of the fixture with the processes of the test: 100 has NPU 0 and 1, 200 has
 * NPU 0; the others have ended. */
static cpubind_input read_host(void *ctx, const char *name)
{
    static const char *const pids[][2] = {
        {"73120", "100  "}, {"73201", "200  "}, {"73204", "100  "}};
    static char text[1 << 16];
    cpubind_input answer = source.read(source.ctx, name);
    (void)ctx;
    if (strcmp(name, "cmd/npu-smi-info.txt") != 0)
        return answer;
    assert_true(answer.len < (int32_t)sizeof text);
    memcpy(text, answer.data, (size_t)answer.len);
    text[answer.len] = '\0';
    for (size_t i = 0; i < sizeof pids / sizeof *pids; i++) {
        char *at = strstr(text, pids[i][0]);
        assert_non_null(at);
        memcpy(at, pids[i][1], 5);
    }
    answer.data = text;
    return answer;
}

static cpubind_input list_host(void *ctx, const char *name)
{
    (void)ctx;
    return source.list(source.ctx, name);
}

static int set_up(void **state)
{
    static const char maps[] = "00400000-00800000 rw-p 00000000 00:00 0 \n"
                               "00900000-00a00000 rw-s 00000000 00:05 12 /dev/shm/x\n";
    static const char numa_maps[] =
        "00400000 default anon=1000 dirty=1000 N0=900 N6=100 kernelpagesize_kB=4\n"
        "00900000 default file=/dev/shm/x mapmax=2 mapped=50 N0=50 kernelpagesize_kB=4\n";
    const tree_process one = {100, 5, "python3", "0-191", "0::/\n", "RANK=0", 0};
    const tree_process two = {200, 6, "python3", "0-191", "0::/\n", "RANK=1", 0};
    cpubind_host_options options = {.has_listed = 1,
                                    .source = &source_of_test,
                                    .threads = CPUBIND_THREADS_PRODUCT,
                                    .sys = &fault_table};
    (void)state;
    tree_make();
    sys = tree_table();
    sys.getaffinity = fake_getaffinity;
    tree_add(&one);
    tree_add(&two);
    add_thread(100, 101, "acl_thread\n");
    add_thread(100, 102, "python3\n");
    add_thread(100, 103, "python3\n");
    add_thread(100, 104, "ended\n");
    add_thread(200, 201, "release_thread\n");
    tree_file(100, "numa_maps", numa_maps, strlen(numa_maps));
    tree_file(100, "maps", maps, strlen(maps));
    host = fixture_host("fixtures/hosts/a2-192cpu-8npu.host");
    source = cpubind_linux_source(host);
    source_of_test = (cpubind_source){NULL, read_host, list_host};
    options.request.is_auto_strategy = 1;
    options.request.rules = CPUBIND_RULES_REFERENCE;
    options.request.has_rules = 1;
    fault_next = &sys;
    fault_clear();
    assert_int_equal(cpubind_host_bind_open(&options, &survey, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_host_bind_survey(survey), CPUBIND_PROBLEM_NONE);
    assert_int_equal(cpubind_host_bind_unlisted(survey)->code, CPUBIND_PROBLEM_NONE);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fault_clear();
    cpubind_host_bind_close(survey);
    cpubind_linux_close(host);
    tree_remove();
    return 0;
}

static cpubind_problem_code look(size_t size, cpubind_host_status *out)
{
    cpubind_arena arena = {memory, size, 0};
    return cpubind_host_status_read(survey, 0, &arena, out);
}

/* The two processes of NPU 0 each have a part of its pool: main 146-155 and 156-165. */
TEST(test_places)
{
    cpubind_host_status s;
    assert_int_equal(look(sizeof memory, &s), CPUBIND_PROBLEM_NONE);
    assert_int_equal(s.n_device, 8);
    assert_int_equal(s.n_worker, 3);
    assert_int_equal(s.n_idle, 6);
    assert_int_equal(s.device[0].n_worker, 2);
    assert_int_equal(s.device[1].first_worker, 2);
    const cpubind_status_worker *w = &s.worker[0];
    assert_int_equal(w->worker->pid, 100);
    assert_int_equal(w->fault.error, 0);
    assert_int_equal(w->n_thread, 4); /* 104 has ended */
    assert_int_equal(w->thread[CPUBIND_ROLE_MAIN][CPUBIND_PLACE_UNBOUND], 1);
    assert_int_equal(w->thread[CPUBIND_ROLE_MAIN][CPUBIND_PLACE_ELSEWHERE], 2);
    assert_int_equal(w->place, CPUBIND_PLACE_ELSEWHERE);
    assert_int_equal(w->memory_node, 6);
    assert_true(w->has_memory);
    assert_int_equal(w->own_near, 100 * 4096);
    assert_int_equal(w->own_away, 900 * 4096);
    assert_int_equal(w->n_node, 2);
    assert_int_equal(w->node[0].bytes, 950 * 4096); /* with the shared pages */
    assert_int_equal(w->node[1].node, 6);
    assert_true(cpubind_status_memory_is_away(w));
    assert_int_equal(s.worker[1].worker->pid, 200);
    assert_false(s.worker[1].has_memory);
    assert_int_equal(s.worker[1].memory_error, ENOENT);
    assert_false(cpubind_status_memory_is_away(&s.worker[1]));
    assert_int_equal(s.worker[1].thread[CPUBIND_ROLE_RELEASE][CPUBIND_PLACE_RIGHT], 1);
    assert_false(cpubind_host_status_is_right(&s));
    assert_string_equal(cpubind_place_word(CPUBIND_PLACE_ELSEWHERE), "elsewhere");
}

/* The place of memory is judged where the wanted node has memory, and another one, too. */
TEST(test_nodes_with_memory)
{
    static const struct {
        const char *nodes;
        int32_t node;
        int is_away;
    } table[] = {
        {"0-7\n", 6, 1}, {"0,6\n", 6, 1}, {"0-5,7\n", -1, 0}, {"6\n", -1, 0}, {"x\n", 6, 1}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        cpubind_host_status s;
        scratch_file(&tree.s, "sys/devices/system/node/has_memory", table[i].nodes);
        assert_int_equal(look(sizeof memory, &s), CPUBIND_PROBLEM_NONE);
        assert_int_equal(s.worker[0].memory_node, table[i].node);
        assert_int_equal(cpubind_status_memory_is_away(&s.worker[0]), table[i].is_away);
    }
}

/* Any arena is enough, or named. */
TEST(test_small_arenas)
{
    cpubind_host_status s;
    for (size_t size = 0; size < 400000; size += 9973)
        assert_true(look(size, &s) == CPUBIND_PROBLEM_NO_MEMORY || s.n_worker == 3);
}

/* Each use of each call fails once: all devices and workers are there, no descriptor stays
 * open, and without a fault of its own a worker has the threads that it has without any. */
TEST(test_every_call_fails)
{
    const int before = open_descriptors();
    for (int which = 1; which < N_CALLS; which++) {
        for (int nth = 1;; nth++) {
            cpubind_host_status s;
            fault_set((call)which, nth,
                      which == CALL_malloc || which == CALL_realloc ? ENOMEM : EIO);
            assert_int_equal(look(sizeof memory, &s), CPUBIND_PROBLEM_NONE);
            assert_int_equal(open_descriptors(), before);
            assert_int_equal(s.n_device, 8);
            assert_int_equal(s.n_worker, 3);
            for (int32_t i = 0; i < 3; i++) {
                assert_int_equal(s.worker[i].place == CPUBIND_PLACE_UNKNOWN,
                                 s.worker[i].fault.error != 0);
                if (!fault.n_met)
                    assert_int_equal(s.worker[i].n_thread, i == 1 ? 2 : 4);
            }
            if (!fault.n_met)
                break;
        }
    }
}

TEST_FILE(set_up, tear_down)
