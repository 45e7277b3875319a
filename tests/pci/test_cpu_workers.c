/* test_cpu_workers.c - workers that drive no device: nodes, cores, what is left free
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/plan/cpu_workers.h"
#include "../../adapters/text/cpulist.h"
#include "../support/test.h"

enum { MAX_CPUS = 192, ARENA = 1 << 20 };

typedef struct made {
    int32_t cpu[MAX_CPUS], node[MAX_CPUS], core[MAX_CPUS];
    uint8_t is_free[MAX_CPUS];
    cpubind_host host;
    cpubind_workers workers;
    cpubind_arena arena;
} made;

static const int32_t node_ids[] = {0, 1, 2, 3};

/* 192 CPUs on four nodes: even and odd CPUs of each half of the cores; the siblings of a core
 * are 96 apart. */
static made *make(void)
{
    made *m = (made *)calloc(1, sizeof *m);
    assert_non_null(m);
    for (int32_t i = 0; i < MAX_CPUS; i++) {
        m->cpu[i] = i;
        m->core[i] = i % 96;
        m->node[i] = i % 96 / 48 * 2 + i % 2;
        m->is_free[i] = 1;
    }
    m->host = (cpubind_host){.cpu = m->cpu,
                             .node = m->node,
                             .node_id = node_ids,
                             .n_cpu = MAX_CPUS,
                             .n_node = 4,
                             .core = m->core};
    m->arena = (cpubind_arena){(char *)malloc(ARENA), ARENA, 0};
    assert_non_null(m->arena.base);
    return m;
}

static void drop(made *m)
{
    free(m->arena.base);
    free(m);
}

static cpubind_workers_status share(made *m, cpubind_workers_asked asked)
{
    m->arena.used = 0;
    return cpubind_cpu_workers(&m->host, m->is_free, &asked, &m->arena, &m->workers);
}

static void expect(const made *m, int32_t worker, const char *wanted)
{
    char text[1024];
    int32_t len = 0;
    assert_in_range(worker, 0, m->workers.n_worker - 1);
    assert_int_equal(cpubind_cpulist_format(m->workers.worker[worker].cpu,
                                            m->workers.worker[worker].n_cpu, text,
                                            (int32_t)sizeof text - 1, &len),
                     CPUBIND_TEXT_OK);
    text[len] = '\0';
    assert_string_equal(text, wanted);
}

TEST(one_worker_a_node_has_the_list_of_its_node)
{
    made *m = make();
    assert_int_equal(share(m, (cpubind_workers_asked){0}), CPUBIND_WORKERS_OK);
    assert_int_equal(m->workers.n_worker, 4);
    expect(m, 0,
           "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46,"
           "96,98,100,102,104,106,108,110,112,114,116,118,120,122,124,126,128,130,132,134,136,"
           "138,140,142");
    expect(m, 1,
           "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41,43,45,47,"
           "97,99,101,103,105,107,109,111,113,115,117,119,121,123,125,127,129,131,133,135,137,"
           "139,141,143");
    expect(m, 2,
           "48,50,52,54,56,58,60,62,64,66,68,70,72,74,76,78,80,82,84,86,88,90,92,94,"
           "144,146,148,150,152,154,156,158,160,162,164,166,168,170,172,174,176,178,180,182,"
           "184,186,188,190");
    expect(m, 3,
           "49,51,53,55,57,59,61,63,65,67,69,71,73,75,77,79,81,83,85,87,89,91,93,95,"
           "145,147,149,151,153,155,157,159,161,163,165,167,169,171,173,175,177,179,181,183,"
           "185,187,189,191");
    assert_int_equal(m->workers.worker[3].n_node, 1);
    assert_int_equal(m->workers.worker[3].node[0], 3);
    drop(m);
}

TEST(four_workers_are_one_a_node)
{
    made *m = make();
    assert_int_equal(share(m, (cpubind_workers_asked){.n_worker = 4}), CPUBIND_WORKERS_OK);
    assert_int_equal(m->workers.worker[1].n_cpu, 48);
    assert_int_equal(m->workers.worker[1].cpu[0], 1);
    drop(m);
}

TEST(fewer_workers_than_nodes_have_several)
{
    made *m = make();
    assert_int_equal(share(m, (cpubind_workers_asked){.n_worker = 2}), CPUBIND_WORKERS_OK);
    expect(m, 0, "0-47,96-143");
    expect(m, 1, "48-95,144-191");
    assert_int_equal(m->workers.worker[1].n_node, 2);
    assert_int_equal(m->workers.worker[1].node[0], 2);
    drop(m);
}

/* Every worker count: no CPU twice, cores stay whole, every free CPU is in a worker. */
TEST(no_core_is_given_twice)
{
    made *m = make();
    for (int32_t n = 1; n <= 96; n++) {
        int32_t owner[96], n_cpu = 0;
        assert_int_equal(share(m, (cpubind_workers_asked){.n_worker = n}), CPUBIND_WORKERS_OK);
        assert_int_equal(m->workers.n_worker, n);
        memset(owner, -1, sizeof owner);
        for (int32_t w = 0; w < n; w++)
            for (int32_t i = 0; i < m->workers.worker[w].n_cpu; i++) {
                const int32_t core = m->workers.worker[w].cpu[i] % 96;
                assert_true(owner[core] == -1 || owner[core] == w);
                owner[core] = w;
                n_cpu++;
            }
        assert_int_equal(n_cpu, MAX_CPUS);
        for (int32_t w = 0; n >= 4 && w < n; w++)
            assert_int_equal(m->workers.worker[w].n_node, 1);
    }
    assert_int_equal(share(m, (cpubind_workers_asked){.n_worker = 97}),
                     CPUBIND_WORKERS_TOO_MANY);
    assert_int_equal(m->workers.n_core, 96);
    drop(m);
}

TEST(a_core_with_a_cpu_of_another_is_not_taken)
{
    made *m = make();
    memset(m->is_free, 0, sizeof m->is_free);
    m->is_free[0] = m->is_free[96] = m->is_free[2] = 1;
    assert_int_equal(share(m, (cpubind_workers_asked){0}), CPUBIND_WORKERS_OK);
    assert_int_equal(m->workers.n_worker, 1);
    expect(m, 0, "0,96");
    m->is_free[96] = 0;
    assert_int_equal(share(m, (cpubind_workers_asked){0}), CPUBIND_WORKERS_NO_CPUS);
    drop(m);
}

TEST(nodes_can_be_named)
{
    static const int32_t two[] = {1, 3}, five[] = {5};
    made *m = make();
    assert_int_equal(share(m, (cpubind_workers_asked){.node = two, .n_node = 2}),
                     CPUBIND_WORKERS_OK);
    assert_int_equal(m->workers.n_worker, 2);
    assert_int_equal(m->workers.worker[1].cpu[0], 49);
    assert_int_equal(share(m, (cpubind_workers_asked){.node = five, .n_node = 1}),
                     CPUBIND_WORKERS_NO_NODE);
    assert_int_equal(m->workers.n_worker, 5);
    drop(m);
}

TEST(the_last_cores_are_left_free)
{
    made *m = make();
    assert_int_equal(share(m, (cpubind_workers_asked){.n_worker = 96, .reserve = 1}),
                     CPUBIND_WORKERS_RESERVED);
    assert_int_equal(share(m, (cpubind_workers_asked){.n_worker = 2, .reserve = 3}),
                     CPUBIND_WORKERS_OK);
    assert_int_equal(m->workers.worker[0].n_cpu, 92);
    assert_int_equal(m->workers.worker[1].n_cpu, 92);
    assert_int_equal(share(m, (cpubind_workers_asked){.n_worker = 2, .reserve_host = 4}),
                     CPUBIND_WORKERS_OK);
    assert_int_equal(m->workers.worker[0].n_cpu, 96);
    assert_int_equal(m->workers.worker[1].n_cpu, 92);
    drop(m);
}

TEST_FILE(NULL, NULL)
