/* test_npu_processes.c - who uses which NPU: the driver's list, the table of npu-smi, faults
 * SPDX-License-Identifier: MIT
 */
#include "memory_source.h"

#include "../../adapters/ascend/npu_processes.h"

#define TRS  "proc/trs_core/proc"
#define INFO "cmd/npu-smi-info.txt"

/* Two cards with two chips each; the logic ids are those of the facts, 0 to 3. */
static cpubind_device npus[] = {
    {.logic = 0, .card = 0, .chip = 0, .phy = 4},
    {.logic = 1, .card = 0, .chip = 1, .phy = 5},
    {.logic = 2, .card = 1, .chip = 0, .phy = 6},
    {.logic = 3, .card = 1, .chip = 1, .phy = 105},
};

static cpubind_facts facts_of(cpubind_origin origin, int has_phy)
{
    cpubind_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.device = npus;
    facts.n_device = facts.n_listed = 4;
    facts.origin = origin;
    facts.has_phy = has_phy;
    return facts;
}

/* Reads a host into `out`; memory is the caller's. */
static cpubind_problem_code read_host(memory_host *host, const cpubind_facts *facts,
                                      char *memory, size_t size, cpubind_users *out,
                                      cpubind_problem *problem)
{
    const cpubind_source source = {host, read_input, list_inputs};
    cpubind_arena arena = {memory, size, 0};
    memset(out, 0x5a, sizeof *out);
    return cpubind_npu_processes_read(&source, facts, &arena, out, problem);
}

static char memory[1 << 16];

TEST(pairs_are_in_order_and_there_once)
{
    static const int32_t expected[][2] = {{7, 0}, {100, 0}, {100, 2}, {9, 3}};
    const cpubind_facts facts = facts_of(CPUBIND_ORIGIN_DRIVER, 1);
    static memory_host host;
    cpubind_users out;
    cpubind_problem problem;
    /* Process 100 has two contexts on NPU 0; 8 uses an NPU that is not in view; a virtual NPU
     * of the facts, 105, and one that is a part of NPU 0: (4 * 16 + 3 + 100). */
    set(&host, TRS "/",
        "100-1-dev-4\n100-2-dev-4\n100-3-dev-6\n7-1-dev-167\n8-1-dev-9\n"
        "9-1-dev-105\nreadme\n0-1-dev-4\n");
    assert_int_equal(read_host(&host, &facts, memory, sizeof memory, &out, &problem),
                     CPUBIND_PROBLEM_NONE);
    assert_int_equal(out.n, 4);
    for (int32_t i = 0; i < 4; i++) {
        assert_int_equal(out.row[i].pid, expected[i][0]);
        assert_int_equal(out.row[i].device, expected[i][1]);
    }
    assert_int_equal(out.n_elsewhere, 1);
    assert_int_equal(out.n_hidden, 1);
    assert_string_equal(out.input, TRS);
    assert_null(strstr(host.seen, INFO));
}

TEST(an_empty_list_is_no_process)
{
    const cpubind_facts facts = facts_of(CPUBIND_ORIGIN_NPU_SMI, 1);
    static memory_host host;
    cpubind_users out;
    set(&host, TRS "/", "");
    assert_int_equal(read_host(&host, &facts, memory, sizeof memory, &out, NULL),
                     CPUBIND_PROBLEM_NONE);
    assert_int_equal(out.n, 0);
}

/* A container of other accelerators sees no NPU; an old driver has no list. */
TEST(without_an_npu_in_view_an_absent_list_is_no_process)
{
    cpubind_facts facts = facts_of(CPUBIND_ORIGIN_DRIVER, 1);
    static memory_host host;
    cpubind_users out;
    facts.has_listed = 1;
    facts.n_device = facts.n_listed = 0;
    assert_int_equal(read_host(&host, &facts, memory, sizeof memory, &out, NULL),
                     CPUBIND_PROBLEM_NONE);
    assert_int_equal(out.n, 0);
    host.failing = TRS;
    host.state = CPUBIND_INPUT_FAILED;
    assert_int_equal(read_host(&host, &facts, memory, sizeof memory, &out, NULL),
                     CPUBIND_PROBLEM_UNREADABLE);
}

/* A list that failed or is not there, without npu-smi, is an error; so is a damaged name. */
TEST(failed_is_not_absent)
{
    static const struct {
        const char *list; /* NULL: not there */
        cpubind_input_state state;
        cpubind_origin origin;
        int has_phy;
        const char *input, *what;
    } cases[] = {
        {"", CPUBIND_INPUT_FAILED, CPUBIND_ORIGIN_DRIVER, 1, TRS, "it could not be read"},
        {"", CPUBIND_INPUT_TOO_LONG, CPUBIND_ORIGIN_DRIVER, 1, TRS, "it is too long"},
        {NULL, CPUBIND_INPUT_PRESENT, CPUBIND_ORIGIN_DRIVER, 1, TRS, "it is not there"},
        {"1-1-dev-4\n", CPUBIND_INPUT_PRESENT, CPUBIND_ORIGIN_DRIVER, 0, TRS,
         "the physical ids of the NPUs are not known"},
        {"", CPUBIND_INPUT_FAILED, CPUBIND_ORIGIN_NPU_SMI, 1, INFO, "it is not there"},
        {"99999999999-1-dev-4\n", CPUBIND_INPUT_PRESENT, CPUBIND_ORIGIN_DRIVER, 1, TRS, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cpubind_facts facts = facts_of(cases[i].origin, cases[i].has_phy);
        static memory_host host;
        cpubind_users out;
        cpubind_problem problem;
        memset(&host, 0, sizeof host);
        if (cases[i].list)
            set(&host, TRS "/", cases[i].list);
        if (cases[i].state != CPUBIND_INPUT_PRESENT) {
            host.failing = TRS;
            host.state = cases[i].state;
        }
        assert_int_equal(read_host(&host, &facts, memory, sizeof memory, &out, &problem),
                         CPUBIND_PROBLEM_UNREADABLE);
        assert_string_equal(problem.input, cases[i].input);
        if (cases[i].what)
            assert_string_equal(problem.what, cases[i].what);
        assert_non_null(problem.what);
        assert_int_equal(out.n, 0x5a5a5a5a); /* nothing was written */
    }
}

/* A table with the processes of two chips. */
static const char table[] = "+-----------------------------------------------------------------"
                            "-------------------------+\n"
                            "| npu-smi 24.1.rc3                 Version: 24.1.rc3              "
                            "                         |\n"
                            "+---------------------------+---------------+---------------------"
                            "-------------------------+\n"
                            "| NPU     Chip              | Process id    | Process name        "
                            "     | Process memory(MB) |\n"
                            "+===========================+===============+====================="
                            "=========================+\n"
                            "| 1       0                 | 4711          | python3             "
                            "     | 123                |\n"
                            "+===========================+===============+====================="
                            "=========================+\n"
                            "| 0       1                 | 4712          | a | b               "
                            "     | 123                |\n"
                            "+===========================+===============+====================="
                            "=========================+\n";

TEST(the_table_of_npu_smi_tells_where_there_is_no_list)
{
    const cpubind_facts facts = facts_of(CPUBIND_ORIGIN_NPU_SMI, 0);
    static memory_host host;
    cpubind_users out;
    cpubind_problem problem;
    set(&host, INFO, table);
    assert_int_equal(read_host(&host, &facts, memory, sizeof memory, &out, &problem),
                     CPUBIND_PROBLEM_NONE);
    assert_int_equal(out.n, 2);
    assert_int_equal(out.row[0].pid, 4712);
    assert_int_equal(out.row[0].device, 1);
    assert_int_equal(out.row[1].pid, 4711);
    assert_int_equal(out.row[1].device, 2);
    assert_string_equal(out.input, INFO);
    host.failing = INFO;
    host.state = CPUBIND_INPUT_TIMEOUT;
    assert_int_equal(read_host(&host, &facts, memory, sizeof memory, &out, &problem),
                     CPUBIND_PROBLEM_UNREADABLE);
    assert_string_equal(problem.what, "the command did not end in time");
    host.failing = NULL;
    set(&host, INFO, "junk\n");
    assert_int_equal(read_host(&host, &facts, memory, sizeof memory, &out, &problem),
                     CPUBIND_PROBLEM_UNREADABLE);
    assert_non_null(problem.what);
}

TEST(a_small_arena_is_named)
{
    const cpubind_facts facts = facts_of(CPUBIND_ORIGIN_NPU_SMI, 1);
    static memory_host host;
    cpubind_users out;
    cpubind_problem problem;
    int n_short = 0;
    set(&host, INFO, table);
    for (size_t size = 0; size < 4096; size += 16) {
        const cpubind_problem_code code =
            read_host(&host, &facts, memory, size, &out, &problem);
        assert_true(code == CPUBIND_PROBLEM_NONE || code == CPUBIND_PROBLEM_NO_MEMORY);
        n_short += code == CPUBIND_PROBLEM_NO_MEMORY;
    }
    assert_true(n_short > 2);
    set(&host, TRS "/", "1-1-dev-4\n");
    assert_int_equal(read_host(&host, &facts, memory, 0, &out, &problem),
                     CPUBIND_PROBLEM_NO_MEMORY);
}

TEST_FILE(NULL, NULL)
