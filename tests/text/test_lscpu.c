/* test_lscpu.c - `lscpu -e=CPU,NODE` and `lscpu`
 * SPDX-License-Identifier: MIT
 */
#include "text_test.h"

#include "../../adapters/text/lscpu.h"

/* Reads into arrays of exactly out->cap rows, which are copied to those of `out`. */
static cpubind_text_status parse_nodes(const char *text, int32_t len, cpubind_lscpu_nodes *out,
                                       cpubind_text_fault *fault)
{
    const size_t size = (size_t)out->cap * sizeof *out->cpu;
    int32_t *const core = out->core ? edge_ints(out->cap) : NULL;
    int32_t *const socket = out->socket ? edge_ints(out->cap) : NULL;
    char *edge = edge_text(text, len);
    cpubind_lscpu_nodes exact = {.cpu = edge_ints(out->cap),
                                 .node = edge_ints(out->cap),
                                 .cap = out->cap,
                                 .core = core,
                                 .socket = socket};
    cpubind_text_status status;

    memset(&exact.n, EDGE_FILL, sizeof exact.n);
    *fault = no_fault;
    status = cpubind_lscpu_parse_nodes(edge, len, &exact, fault);
    if (status != CPUBIND_TEXT_OK) {
        assert_untouched(exact.cpu, size);
        assert_untouched(exact.node, size);
        assert_fault(fault, len);
        if (status != CPUBIND_TEXT_ERR_SPACE)
            assert_untouched(&exact.n, sizeof exact.n);
    } else {
        memcpy(out->cpu, exact.cpu, (size_t)exact.n * sizeof *exact.cpu);
        memcpy(out->node, exact.node, (size_t)exact.n * sizeof *exact.node);
        if (core)
            memcpy(out->core, core, (size_t)exact.n * sizeof *core);
        if (socket)
            memcpy(out->socket, socket, (size_t)exact.n * sizeof *socket);
    }
    out->n = exact.n;
    free(socket);
    free(core);
    free(exact.node);
    free(exact.cpu);
    free(edge);
    return status;
}

TEST(rows_give_the_node_of_each_cpu)
{
    static const char text[] = "CPU NODE\n  0    0\n  1    0\n  8    -\n 24    1\n191    7";
    const int32_t cpus[] = {0, 1, 8, 24, 191}, nodes[] = {0, 0, -1, 1, 7};
    int32_t cpu[5], node[5];
    cpubind_lscpu_nodes rows = {.cpu = cpu, .node = node, .cap = 5};
    cpubind_text_fault fault;

    assert_int_equal(parse_nodes(text, (int32_t)strlen(text), &rows, &fault), CPUBIND_TEXT_OK);
    assert_int_equal(rows.n, 5);
    assert_memory_equal(cpu, cpus, sizeof cpus);
    assert_memory_equal(node, nodes, sizeof nodes);
    rows.cap = 4;
    assert_int_equal(parse_nodes(text, (int32_t)strlen(text), &rows, &fault),
                     CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(rows.n, 5);
}

TEST(carriage_returns_are_blanks)
{
    static const char text[] = "CPU NODE\r\n0 0\r\n1 3\r\n";
    int32_t cpu[2], node[2];
    cpubind_lscpu_nodes rows = {.cpu = cpu, .node = node, .cap = 2};
    cpubind_text_fault fault;

    assert_int_equal(parse_nodes(text, (int32_t)strlen(text), &rows, &fault), CPUBIND_TEXT_OK);
    assert_int_equal(node[1], 3);
}

TEST(columns_are_found_by_their_names)
{
    static const struct {
        const char *text;
        int32_t node[2], core[2], socket[2];
    } cases[] = {
        {"CPU NODE\n0 0\n1 3\n", {0, 3}, {-1, -1}, {-1, -1}},
        {"CPU NODE CORE SOCKET\n0 0 7 1\n1 3 7 1\n", {0, 3}, {7, 7}, {1, 1}},
        {"CPU SOCKET CORE NODE\n0 0 7 1\n1 - - -\n", {1, -1}, {7, -1}, {0, -1}},
        {"CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE    MAXMHZ\n"
         "  0    0      2    5 0:0:0:0          yes 2600.0000\n"
         "  1    1      -    - -                 no         -\n",
         {0, 1},
         {5, -1},
         {2, -1}},
    };

    for (int32_t i = 0; i < LENGTH(cases); i++)
        for (int wanted = 0; wanted < 4; wanted++) {
            int32_t cpu[2], node[2], core[2], socket[2];
            cpubind_lscpu_nodes rows = {.cpu = cpu,
                                        .node = node,
                                        .cap = 2,
                                        .core = wanted & 1 ? core : NULL,
                                        .socket = wanted & 2 ? socket : NULL};
            cpubind_text_fault fault;

            assert_int_equal(
                parse_nodes(cases[i].text, (int32_t)strlen(cases[i].text), &rows, &fault),
                CPUBIND_TEXT_OK);
            assert_int_equal(rows.n, 2);
            assert_memory_equal(node, cases[i].node, sizeof node);
            if (wanted & 1)
                assert_memory_equal(core, cases[i].core, sizeof core);
            if (wanted & 2)
                assert_memory_equal(socket, cases[i].socket, sizeof socket);
        }
}

static cpubind_text_status read_nodes(const char *text, int32_t len, cpubind_text_fault *fault)
{
    int32_t cpu[4], node[4];
    cpubind_lscpu_nodes rows = {.cpu = cpu, .node = node, .cap = 4};

    return parse_nodes(text, len, &rows, fault);
}

TEST(other_tables_are_refused_where_they_go_wrong)
{
    static const verdict cases[] = {
        {"", CPUBIND_TEXT_ERR_MISSING, 0},
        {"0 0\n", CPUBIND_TEXT_ERR_MISSING, 0},
        {"CPU SOCKET\n0 0\n", CPUBIND_TEXT_ERR_MISSING, 0},
        {"CPU NODES\n0 0\n", CPUBIND_TEXT_ERR_MISSING, 0},
        {"NODE CPU\n0 0\n", CPUBIND_TEXT_ERR_MISSING, 0},
        {"CPU NODE\n", CPUBIND_TEXT_ERR_MISSING, 9},
        {"CPU NODE\n0 0\n1", CPUBIND_TEXT_ERR_CUT, 14},
        {"CPU NODE\n0\n", CPUBIND_TEXT_ERR_SYNTAX, 10},
        {"CPU NODE\n0 0 0\n", CPUBIND_TEXT_ERR_SYNTAX, 13},
        {"CPU NODE\n0 x\n", CPUBIND_TEXT_ERR_SYNTAX, 11},
        {"CPU NODE\n- 0\n", CPUBIND_TEXT_ERR_SYNTAX, 9},
        {"CPU NODE\n00 0\n", CPUBIND_TEXT_ERR_SYNTAX, 9},
        {"CPU NODE\n0 1x\n", CPUBIND_TEXT_ERR_SYNTAX, 12},
        {"CPU NODE\n0 0\n\n1 0\n", CPUBIND_TEXT_ERR_SYNTAX, 13},
        {"CPU NODE\n1 0\n0 0\n", CPUBIND_TEXT_ERR_ORDER, 13},
        {"CPU NODE\n1 0\n1 0\n", CPUBIND_TEXT_ERR_ORDER, 13},
        {"CPU NODE\n65536 0\n", CPUBIND_TEXT_ERR_RANGE, 9},
        {"CPU NODE\n0 65536\n", CPUBIND_TEXT_ERR_RANGE, 11},
        {"CPU NODE CORE\n0 0\n", CPUBIND_TEXT_ERR_SYNTAX, 17},
        {"CPU NODE CORE\n0 0", CPUBIND_TEXT_ERR_CUT, 17},
        {"CPU NODE CORE\n0 0 0 0\n", CPUBIND_TEXT_ERR_SYNTAX, 20},
        {"CPU NODE CORE\n0 0 x\n", CPUBIND_TEXT_ERR_SYNTAX, 18},
        {"CPU NODE CORE\n0 0 65536\n", CPUBIND_TEXT_ERR_RANGE, 18},
        {"CPU NODE SOCKET\n0 0 -1\n", CPUBIND_TEXT_ERR_SYNTAX, 20},
    };

    expect_verdicts(read_nodes, cases, LENGTH(cases));
}

TEST(every_prefix_is_a_shorter_table_or_a_fault)
{
    static const char text[] = "CPU NODE\n  0    0\n  1    0\n 24    1\n191    -\n";
    int32_t cpu[8], node[8];
    cpubind_lscpu_nodes rows = {.cpu = cpu, .node = node, .cap = 8};
    cpubind_text_fault fault;

    for (int32_t len = 0; len <= (int32_t)strlen(text); len++)
        if (parse_nodes(text, len, &rows, &fault) == CPUBIND_TEXT_OK) {
            assert_in_range(rows.n, 1, 4);
            assert_int_equal(cpu[0], 0);
            assert_int_equal(node[0], 0);
        }
}

TEST(threads_of_a_core_are_read_from_their_line)
{
    static const struct {
        const char *text;
        cpubind_text_status status;
        int32_t value; /* or the offset of the fault */
    } cases[] = {
        {"CPU(s):              192\nThread(s) per core:  1\nSocket(s): 4\n", CPUBIND_TEXT_OK,
         1},
        {"  Thread(s) per core:  2\n", CPUBIND_TEXT_OK, 2},
        {"Thread(s) per core: 2\r\n", CPUBIND_TEXT_OK, 2},
        {"Thread(s) per core:\t4", CPUBIND_TEXT_OK, 4},
        {"Thread(s) per core: 2\nThread(s) per core: 2\n", CPUBIND_TEXT_OK, 2},
        {"Thread(s) per core: 1\nThread(s) per core: 2\n", CPUBIND_TEXT_ERR_SYNTAX, 42},
        {"Thread(s) per core: -\n", CPUBIND_TEXT_ERR_SYNTAX, 20},
        {"Thread(s) per core:\n", CPUBIND_TEXT_ERR_SYNTAX, 19},
        {"Thread(s) per core: 0\n", CPUBIND_TEXT_ERR_SYNTAX, 20},
        {"Thread(s) per core: 1 2\n", CPUBIND_TEXT_ERR_SYNTAX, 21},
        {"Thread(s) per core: 65537\n", CPUBIND_TEXT_ERR_RANGE, 20},
        {"Thread(s) per cores: 1\n", CPUBIND_TEXT_ERR_MISSING, 23},
        {"Core(s) per socket: 48\n", CPUBIND_TEXT_ERR_MISSING, 23},
        {"", CPUBIND_TEXT_ERR_MISSING, 0},
    };

    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const int32_t len = (int32_t)strlen(cases[i].text);
        char *edge = edge_text(cases[i].text, len);
        int32_t threads = -1;
        cpubind_text_fault fault = no_fault;
        const cpubind_text_status status =
            cpubind_lscpu_parse_threads(edge, len, &threads, &fault);

        assert_int_equal(status, cases[i].status);
        assert_int_equal(status == CPUBIND_TEXT_OK ? threads : fault.offset, cases[i].value);
        if (status != CPUBIND_TEXT_OK) {
            assert_fault(&fault, len);
            assert_int_equal(threads, -1);
        }
        free(edge);
    }
}

TEST(bad_arguments_are_refused)
{
    int32_t cpu[2], node[2];
    cpubind_lscpu_nodes rows = {.cpu = cpu, .node = node, .cap = 2, .n = 7};
    cpubind_lscpu_nodes bad[] = {{.node = node, .cap = 2, .n = 7},
                                 {.cpu = cpu, .cap = 2, .n = 7}};

    assert_int_equal(cpubind_lscpu_parse_nodes(NULL, 1, &rows, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(rows.n, 7);
    for (int32_t i = 0; i < LENGTH(bad); i++) {
        assert_int_equal(cpubind_lscpu_parse_nodes("", 0, &bad[i], NULL), CPUBIND_TEXT_ERR_ARG);
        assert_int_equal(bad[i].n, 7);
    }
    assert_int_equal(cpubind_lscpu_parse_nodes("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_lscpu_parse_threads("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
}

TEST_FILE(NULL, NULL)
