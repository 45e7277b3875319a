/* test_cores.c - which CPUs share a core, the sockets of the nodes, and their distances
 * SPDX-License-Identifier: MIT
 *
 * A case is a host of two nodes of four CPUs with some files more, and the facts that they
 * give, written as numbers with blanks between; "-" stands for facts that are not known.
 */
#define _XOPEN_SOURCE 700

#include <unistd.h>

#include "folder_host.h"
#include "memory_source.h"

#define CPUS       "sys/devices/system/cpu"
#define NODES      "sys/devices/system/node"
#define ONLINE     CPUS "/online"
#define SMT        CPUS "/smt/active"
#define LIST(n)    CPUS "/cpu" #n "/topology/thread_siblings_list"
#define PACKAGE(n) CPUS "/cpu" #n "/topology/physical_package_id"
#define CPULIST(n) NODES "/node" #n "/cpulist"
#define ROW(n)     NODES "/node" #n "/distance"
#define LSCPU_E    "cmd/lscpu-e.txt"
#define LSCPU      "cmd/lscpu.txt"

#define NEIGHBOURS                                                                             \
    {LIST(0), "0-1\n"}, {LIST(2), "2-3\n"}, {LIST(4), "4-5\n"},                                \
    {                                                                                          \
        LIST(6), "6-7\n"                                                                       \
    }
#define SPLIT                                                                                  \
    {LIST(0), "0,2\n"}, {LIST(1), "1,3\n"}, {LIST(4), "4,6\n"},                                \
    {                                                                                          \
        LIST(5), "5,7\n"                                                                       \
    }
#define ALONE                                                                                  \
    {LIST(0), "0\n"}, {LIST(1), "1\n"}, {LIST(2), "2\n"}, {LIST(3), "3\n"}, {LIST(4), "4\n"},  \
        {LIST(5), "5\n"}, {LIST(6), "6\n"},                                                    \
    {                                                                                          \
        LIST(7), "7\n"                                                                         \
    }

/* == Hosts ================================================================== */

static memory_host make_host(const entry *more, int32_t n)
{
    memory_host h;
    memset(&h, 0, sizeof h);
    set(&h, "proc/self/status", "Cpus_allowed_list:\t0-7\n");
    set(&h, ONLINE, "0-7\n");
    set(&h, NODES "/", "node0\nnode1\nonline\n");
    set(&h, CPULIST(0), "0-3\n");
    set(&h, CPULIST(1), "4-7\n");
    for (int32_t i = 0; i < n && more[i].name; i++)
        set(&h, more[i].name, more[i].text);
    return h;
}

/* The request of a plan that needs CPUs alone. */
static cpubind_request ask_for_slices(void)
{
    static const int32_t zero = 0;
    cpubind_request request = ask_nothing();
    request.npu = &zero;
    request.n_npu = request.total = 1;
    request.type = CPUBIND_TYPE_A3;
    request.origin = CPUBIND_ORIGIN_NPU_SMI;
    request.scope = CPUBIND_SCOPE_OWN; /* no part of the PCI bus */
    return request;
}

static attempt read_facts(const cpubind_source *source, size_t size)
{
    const cpubind_request request = ask_for_slices();
    attempt a;
    memset(&a, 0, sizeof a);
    a.arena.base = (char *)malloc(size ? size : 1);
    a.arena.size = size;
    a.code = cpubind_facts_read(source, &request, &a.arena, &a.facts, &a.problem);
    return a;
}

static attempt facts_of(memory_host *h)
{
    const cpubind_source source = {h, read_input, list_inputs};
    attempt a = read_facts(&source, (size_t)4 << 20);
    if (a.code != CPUBIND_PROBLEM_NONE)
        fail_msg("%s", a.problem.what);
    return a;
}

/* == Words ================================================================== */

enum { MAX_WORDS = 4096 };

static void write_numbers(char *out, const int32_t *number, int32_t n)
{
    strcpy(out, number ? "" : "-");
    for (int32_t i = 0; number && i < n; i++)
        (void)snprintf(out + strlen(out), MAX_WORDS - strlen(out), i ? " %d" : "%d", number[i]);
}

static void expect_numbers(const char *name, const char *word, const char *expected,
                           const int32_t *number, int32_t n)
{
    char text[MAX_WORDS];
    write_numbers(text, number, n);
    if (strcmp(text, expected ? expected : "-") != 0)
        fail_msg("%s: the %s are %s, not %s", name, word, text, expected ? expected : "-");
}

static void expect_facts(const char *name, const attempt *a, const char *cores,
                         const char *sockets, const char *distances)
{
    const cpubind_facts *f = &a->facts;
    expect_numbers(name, "cores", cores, f->core_of, f->n_cpu_id);
    expect_numbers(name, "sockets", sockets, f->socket, f->n_node);
    expect_numbers(name, "distances", distances, f->distance, f->n_node * f->n_node);
}

/* == What is read =========================================================== */

typedef struct facts_case {
    const char *name;
    const char *facts; /* "cores 0 0; sockets 0; distances 10", those that are known */
    entry more[14];
} facts_case;

static const facts_case cases[] = {
    {"a host without the files", "", {{NULL, NULL}}},

    {"siblings are neighbours", "cores 0 0 2 2 4 4 6 6", {NEIGHBOURS}},
    {"siblings are half a node apart", "cores 0 1 0 1 4 5 4 5", {SPLIT}},
    {"one thread a core", "cores 0 1 2 3 4 5 6 7", {ALONE}},
    {"four threads a core", "cores 0 0 0 0 4 4 4 4", {{LIST(0), "0-3\n"}, {LIST(4), "4-7\n"}}},
    {"cores of one and of two threads",
     "cores 0 1 2 1 4 4 6 6",
     {{LIST(0), "0\n"},
      {LIST(1), "1,3\n"},
      {LIST(2), "2\n"},
      {LIST(4), "4-5\n"},
      {LIST(6), "6-7\n"}}},
    {"the list of one CPU", "", {{LIST(0), "0-1\n"}}},
    {"the lists of some CPUs", "", {{LIST(0), "0\n"}, {LIST(1), "1\n"}}},
    {"the lists of the allowed CPUs alone",
     "cores 0 1 2 3 4 4 6 6",
     {{LIST(4), "4-5\n"},
      {LIST(6), "6-7\n"},
      {"proc/self/status", "Cpus_allowed_list:\t4-7\n"}}},
    {"a core of which the second CPU alone is allowed",
     "cores 0 0 2 3 4 5 6 7",
     {{LIST(1), "0-1\n"}, {"proc/self/status", "Cpus_allowed_list:\t1\n"}}},
    {"lists of other CPUs than the allowed ones",
     "",
     {{LIST(0), "0-1\n"}, {"proc/self/status", "Cpus_allowed_list:\t4-7\n"}}},
    {"an offline CPU has no list",
     "cores 0 0 2 -1 4 4 6 6",
     {NEIGHBOURS, {LIST(2), "2\n"}, {ONLINE, "0-2,4-7\n"}, {CPULIST(0), "0-2\n"}}},
    {"an offline CPU has an empty list, its node names it",
     "cores 0 0 2 -1 4 4 6 6",
     {NEIGHBOURS,
      {LIST(2), "2\n"},
      {LIST(3), "\n"},
      {CPUS "/cpu3/online", "0\n"},
      {ONLINE, "0-2,4-7\n"}}},
    {"a list names an offline CPU",
     "cores -1 1 2 2 4 4 6 6",
     {NEIGHBOURS, {LIST(1), "0-1\n"}, {ONLINE, "1-7\n"}, {CPULIST(0), "1-3\n"}}},
    {"a cpuset of one thread of a core",
     "cores 0 0 2 2 4 4 6 6",
     {NEIGHBOURS, {"proc/self/status", "Cpus_allowed_list:\t1,6\n"}}},
    {"no core has two CPUs", "cores 0 1 2 3 4 5 6 7", {{SMT, "0\n"}}},
    {"no core has two CPUs, and the first list agrees",
     "cores 0 1 2 3 4 5 6 7",
     {{SMT, "0\n"}, {LIST(0), "0\n"}}},
    {"a kernel that does not schedule by cores",
     "cores 0 0 2 2 4 4 6 6",
     {NEIGHBOURS, {SMT, "0\n"}}},
    {"some core has two CPUs", "cores 0 0 2 2 4 4 6 6", {NEIGHBOURS, {SMT, "1\n"}}},
    {"some core has two CPUs, without lists", "", {{SMT, "1\n"}}},

    {"cores and sockets of lscpu -e",
     "cores 0 1 0 1 4 4 6 6; sockets 0 1",
     {{"cmd/", "lscpu-e.txt\n"},
      {LSCPU_E, "CPU NODE SOCKET CORE\n0 0 0 0\n1 0 0 1\n2 0 0 0\n3 0 0 1\n4 1 1 2\n5 1 1 2\n"
                "6 1 1 3\n7 1 1 3\n"}}},
    {"the kernel's files come before lscpu -e",
     "cores 0 0 2 2 4 4 6 6; sockets 36 8442",
     {NEIGHBOURS,
      {PACKAGE(0), "36\n"},
      {PACKAGE(4), "8442\n"},
      {"cmd/", "lscpu-e.txt\n"},
      {LSCPU_E, "damaged"}}},
    {"lscpu -e without cores",
     "sockets 5 5",
     {{"cmd/", "lscpu-e.txt\n"},
      {LSCPU_E, "CPU NODE SOCKET\n0 0 5\n1 0 5\n2 0 5\n3 0 5\n4 1 5\n5 1 5\n6 1 5\n7 1 5\n"}}},
    {"lscpu -e that lacks a CPU",
     "",
     {{"cmd/", "lscpu-e.txt\n"},
      {LSCPU_E, "CPU NODE CORE\n0 0 0\n1 0 0\n2 0 1\n3 0 1\n4 1 2\n5 1 2\n6 1 3\n"}}},
    {"lscpu -e that does not know the core and the socket of a CPU",
     "",
     {{"cmd/", "lscpu-e.txt\n"},
      {LSCPU_E, "CPU NODE CORE SOCKET\n0 0 0 0\n1 0 0 0\n2 0 1 0\n3 0 1 0\n4 1 - -\n5 1 2 1\n"
                "6 1 3 1\n7 1 3 1\n"}}},
    {"lscpu -e with an offline CPU",
     "cores 0 0 2 2 4 4 6; sockets 0 1",
     {{"cmd/", "lscpu-e.txt\n"},
      {ONLINE, "0-6\n"},
      {CPULIST(1), "4-6\n"},
      {LSCPU_E, "CPU NODE CORE SOCKET\n0 0 0 0\n1 0 0 0\n2 0 1 0\n3 0 1 0\n4 1 2 1\n5 1 2 1\n"
                "6 1 3 1\n7 - - -\n"}}},
    {"lscpu with one thread a core",
     "cores 0 1 2 3 4 5 6 7",
     {{"cmd/", "lscpu.txt\n"}, {LSCPU, "Thread(s) per core:  1\n"}}},
    {"lscpu with two threads a core",
     "",
     {{"cmd/", "lscpu.txt\n"}, {LSCPU, "Thread(s) per core:  2\n"}}},
    {"lscpu after lscpu -e without cores",
     "cores 0 1 2 3 4 5 6 7",
     {{"cmd/", "lscpu-e.txt\nlscpu.txt\n"},
      {LSCPU, "Thread(s) per core:  1\n"},
      {LSCPU_E, "CPU NODE\n0 0\n1 0\n2 0\n3 0\n4 1\n5 1\n6 1\n7 1\n"}}},
    {"a live host is not asked for lscpu",
     "",
     {{LSCPU, "Thread(s) per core:  1\n"}, {LSCPU_E, "damaged"}}},

    {"two sockets", "sockets 0 1", {{PACKAGE(0), "0\n"}, {PACKAGE(4), "1\n"}}},
    {"two nodes of one socket", "sockets 3 3", {{PACKAGE(0), "3\n"}, {PACKAGE(4), "3\n"}}},
    {"the socket of one node alone", "", {{PACKAGE(0), "0\n"}}},
    {"a socket that the kernel does not know",
     "",
     {{PACKAGE(0), "-1\n"}, {PACKAGE(4), "-1\n"}}},
    {"the first CPU of a node is offline",
     "sockets 0 1",
     {{ONLINE, "0-3,5-7\n"}, {CPULIST(1), "5-7\n"}, {PACKAGE(0), "0\n"}, {PACKAGE(5), "1\n"}}},

    {"two nodes", "distances 10 20 21 10", {{ROW(0), "10 20\n"}, {ROW(1), "21 10\n"}}},
    {"a row that starts with a blank, as that of a host without node 0",
     "distances 10 20 20 10",
     {{ROW(0), " 10 20\n"}, {ROW(1), " 20 10\n"}}},
    {"a node of memory between",
     "distances 10 20 20 10",
     {{NODES "/", "node0\nnode1\nnode2\nonline\n"},
      {CPULIST(2), "\n"},
      {CPULIST(1), "\n"},
      {CPULIST(2), "4-7\n"},
      {ROW(0), "10 17 20\n"},
      {ROW(1), "17 10 28\n"},
      {ROW(2), "20 28 10\n"},
      {NODES "/online", "0-2\n"}}},
    {"a node of memory that has no folder here",
     "distances 10 20 20 10",
     {{ROW(0), "10 20 17\n"}, {ROW(1), "20 10 28\n"}, {NODES "/online", "0-1,7\n"}}},
    {"nodes of memory by their folders alone",
     "distances 10 20 20 10",
     {{NODES "/", "node0\nnode1\nnode10\nnode2\n"},
      {CPULIST(2), "\n"},
      {CPULIST(10), "\n"},
      {ROW(0), "10 20 30 40\n"},
      {ROW(1), "20 10 30 40\n"}}},
    {"holes in the numbers of nodes",
     "distances 10 22 22 10",
     {{NODES "/", "node0\nnode33\n"},
      {CPULIST(33), "4-7\n"},
      {NODES "/online", "0,2,33-34\n"},
      {ROW(0), "10 16 22 11\n"},
      {ROW(33), "22 16 10 11\n"}}},
    {"a node that is farther in one direction",
     "distances 10 20 30 10",
     {{ROW(0), "10 20\n"}, {ROW(1), "30 10\n"}}},
    {"nodes that are as near as one, as the kernel makes them of one (numa=fake)",
     "distances 10 10 10 10",
     {{ROW(0), "10 10\n"}, {ROW(1), "10 10\n"}}},
};

static void add_fact(char *text, const char *word, const int32_t *number, int32_t n)
{
    if (number)
        (void)snprintf(text + strlen(text), MAX_WORDS - strlen(text), "%s%s", *text ? "; " : "",
                       word);
    for (int32_t i = 0; number && i < n; i++)
        (void)snprintf(text + strlen(text), MAX_WORDS - strlen(text), " %d", number[i]);
}

static void facts_text(const cpubind_facts *f, char text[MAX_WORDS])
{
    text[0] = '\0';
    add_fact(text, "cores", f->core_of, f->n_cpu_id);
    add_fact(text, "sockets", f->socket, f->n_node);
    add_fact(text, "distances", f->distance, f->n_node * f->n_node);
}

TEST(cores_sockets_and_distances_are_read)
{
    static char text[MAX_WORDS];
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        memory_host h = make_host(cases[i].more, LENGTH(cases[i].more));
        attempt a = facts_of(&h);
        if (a.facts.topology.code != CPUBIND_PROBLEM_NONE)
            fail_msg("%s: %s", cases[i].name, a.facts.topology.what);
        facts_text(&a.facts, text);
        if (strcmp(text, cases[i].facts) != 0)
            fail_msg("%s: %s, not %s", cases[i].name, text, cases[i].facts);
        drop(&a);
    }
}

/* == What cannot be read ==================================================== */

typedef struct fault_case {
    entry more[8];
    const char *input;
    int32_t offset;
    int32_t cpu;
    const char *what; /* a part of it */
} fault_case;

#define TWO_ROWS                                                                               \
    {ROW(0), "10 20\n"},                                                                       \
    {                                                                                          \
        ROW(1), "20 10\n"                                                                      \
    }
#define ROWS_OF(text)                                                                          \
    {"cmd/", "lscpu-e.txt\nlscpu.txt\n"},                                                      \
    {                                                                                          \
        LSCPU_E, text                                                                          \
    }

static const fault_case faults[] = {
    {{{LIST(0), "1\n"}}, LIST(0), 0, 0, "lacks the CPU"},
    {{{LIST(0), "\n"}}, LIST(0), 0, 0, "lacks the CPU"},
    {{NEIGHBOURS, {LIST(2), "3\n"}}, LIST(2), 0, 2, "lacks the CPU"},
    {{NEIGHBOURS, {LIST(2), "1-2\n"}}, LIST(2), 0, 1, "another core"},
    {{{LIST(0), "0,4\n"}}, LIST(0), 0, 4, "on two nodes"},
    {{NEIGHBOURS, {LIST(4), "4-\n"}}, LIST(4), 2, -1, ""},
    {{NEIGHBOURS, {LIST(4), "4-5"}}, LIST(4), 3, -1, "it is cut"},
    {{NEIGHBOURS, {LIST(4), ""}}, LIST(4), 0, -1, ""},
    {{NEIGHBOURS, {LIST(6), "6,x\n"}}, LIST(6), 2, -1, ""},
    {{NEIGHBOURS, {SMT, "2\n"}}, SMT, 0, -1, "neither 0 nor 1"},
    {{NEIGHBOURS, {SMT, "on\n"}}, SMT, 0, -1, ""},
    {{NEIGHBOURS, {SMT, ""}}, SMT, 0, -1, ""},
    {{NEIGHBOURS, {SMT, "0"}}, SMT, 1, -1, "it is cut"},

    {{ROWS_OF("CPU NODE CORE\n0 0 0\n1 0")}, LSCPU_E, 23, -1, "fewer cells"},
    {{ROWS_OF("CPU NODE CORE\n0 0 0\n4 1 0\n")}, LSCPU_E, 0, 4, "on two nodes"},
    {{ROWS_OF("no table\n")}, LSCPU_E, 0, -1, "no header"},
    {{{"cmd/", "lscpu.txt\n"}, {LSCPU, "Thread(s) per core:  x\n"}}, LSCPU, 21, -1, ""},

    {{{PACKAGE(0), "x\n"}}, PACKAGE(0), 0, -1, ""},
    {{{PACKAGE(0), ""}}, PACKAGE(0), 0, -1, ""},
    {{{PACKAGE(0), "0\n"}, {PACKAGE(4), "1"}}, PACKAGE(4), 1, -1, "it is cut"},
    {{{PACKAGE(0), "99999999999\n"}}, PACKAGE(0), 0, -1, "too large"},

    {{TWO_ROWS, {ROW(1), "20\n"}}, ROW(1), 2, -1, "fewer distances"},
    {{TWO_ROWS, {ROW(1), "\n"}}, ROW(1), 0, -1, "fewer distances"},
    {{TWO_ROWS, {ROW(1), ""}}, ROW(1), 0, -1, "fewer distances"},
    {{TWO_ROWS, {ROW(1), "20 10 20\n"}}, ROW(1), 5, -1, "more distances"},
    {{TWO_ROWS, {ROW(0), "0 20\n"}}, ROW(0), 0, -1, "a distance is 0"},
    {{TWO_ROWS, {ROW(1), "9 10\n"}}, ROW(1), 0, -1, "nearer than itself"},
    {{TWO_ROWS, {ROW(1), "20 20\n"}}, ROW(1), -1, -1, "to itself"},
    {{{ROW(0), "10 20\n"}}, ROW(1), -1, -1, "other nodes have"},
    {{{ROW(1), "20 10\n"}}, ROW(0), -1, -1, "other nodes have"},
    {{TWO_ROWS, {ROW(0), "10 -20\n"}}, ROW(0), 3, -1, "a number is missing"},
    {{TWO_ROWS, {ROW(0), "10 2x\n"}}, ROW(0), 4, -1, "does not belong"},
    {{TWO_ROWS, {ROW(0), "10 99999\n"}}, ROW(0), 3, -1, "too large"},
    {{TWO_ROWS, {ROW(0), "10 2"}}, ROW(0), 4, -1, "it is cut"},
    {{TWO_ROWS, {ROW(0), "10 20\n10 20\n"}}, ROW(0), 6, -1, "does not belong"},
    {{TWO_ROWS, {NODES "/online", "0-2\n"}}, ROW(0), 5, -1, "fewer distances"},
    {{TWO_ROWS, {NODES "/online", "0\n"}}, ROW(0), 2, -1, "more distances"},
    {{TWO_ROWS, {NODES "/online", "0,2\n"}}, NODES "/online", 0, -1, "lacks a node"},
    {{TWO_ROWS, {NODES "/online", "0-"}}, NODES "/online", 2, -1, ""},
    {{TWO_ROWS, {NODES "/online", ""}}, NODES "/online", 0, -1, ""},
};

static void expect_fault(const attempt *a, const fault_case *c)
{
    const cpubind_problem *p = &a->facts.topology;
    if (p->code != CPUBIND_PROBLEM_UNREADABLE || strcmp(p->input, c->input) != 0 ||
        p->offset != c->offset || p->cpu != c->cpu || !strstr(p->what, c->what))
        fail_msg("%s \"%s\": %s at %d of %s, CPU %d", c->input, c->more[0].text,
                 p->what ? p->what : "no problem", (int)p->offset, p->input ? p->input : "-",
                 (int)p->cpu);
}

/* The problem names the input and the place, other facts are read all the same, and a plan that
 * needs no cores has no problem. */
TEST(damage_is_told_with_its_place)
{
    for (int32_t i = 0; i < LENGTH(faults); i++) {
        memory_host h = make_host(faults[i].more, LENGTH(faults[i].more));
        attempt a = facts_of(&h);
        const int is_row = strstr(faults[i].input, "node/") != NULL;
        const int is_package = strstr(faults[i].input, "package") != NULL;
        expect_fault(&a, &faults[i]);
        assert_int_equal(a.problem.code, CPUBIND_PROBLEM_NONE);
        if (is_row)
            assert_null(a.facts.distance);
        else if (is_package)
            assert_null(a.facts.socket);
        else
            assert_null(a.facts.core_of);
        drop(&a);
    }
}

/* Plans a host with an NPU near node 0; a plan that fails must fail at the list of CPU 0. */
static cpubind_problem_code plan_by(memory_host *h, cpubind_rules rules, int32_t keep_each)
{
    cpubind_request request = ask_nothing();
    attempt a;
    request.rules = rules;
    request.has_rules = 1;
    request.keep_each = keep_each;
    set(h, "cmd/npu-smi-info-m.txt",
        "\tNPU ID                         Chip ID                        Chip Logic ID        "
        "          Chip Name                     \n"
        "\t0                              0                              0                    "
        "          Ascend 910B4\n");
    set(h, "cmd/npu-smi-info-t-topo.txt",
        "\t   NPU0       CPU Affinity\nNPU0       X      0-3\n");
    a = try(h, &request);
    if (a.code != CPUBIND_PROBLEM_NONE)
        assert_string_equal(a.problem.input, LIST(0));
    drop(&a);
    return a.code;
}

/* A plan by near fails with what cannot be read; so does one that keeps whole cores. */
TEST(damage_stops_a_plan_that_needs_the_topology)
{
    static const entry damaged[] = {{LIST(0), "0-\n"}};
    memory_host h = make_host(damaged, LENGTH(damaged));
    assert_int_equal(plan_by(&h, CPUBIND_RULES_REFERENCE, 0), CPUBIND_PROBLEM_NONE);
    assert_int_equal(plan_by(&h, CPUBIND_RULES_NEAR, 0), CPUBIND_PROBLEM_UNREADABLE);
    assert_int_equal(plan_by(&h, CPUBIND_RULES_REFERENCE, 1), CPUBIND_PROBLEM_UNREADABLE);
    set(&h, LIST(0), "0-3\n");
    assert_int_equal(plan_by(&h, CPUBIND_RULES_NEAR, 0), CPUBIND_PROBLEM_NONE);
}

TEST(an_input_that_fails_is_not_absent)
{
    static const entry more[] = {NEIGHBOURS,          {SMT, "1\n"}, {PACKAGE(0), "0\n"},
                                 {PACKAGE(4), "1\n"}, TWO_ROWS,     {NODES "/online", "0-1\n"}};
    static const struct {
        const char *name;
        int kind; /* what is not known: cores, sockets or distances */
    } inputs[] = {{SMT, 0},    {LIST(0), 0},    {LIST(6), 0}, {PACKAGE(0), 1},
                  {ROW(0), 2}, {PACKAGE(4), 1}, {ROW(1), 2},  {NODES "/online", 2}};
    for (int32_t i = 0; i < LENGTH(inputs); i++) {
        memory_host h = make_host(more, LENGTH(more));
        attempt a;
        h.failing = inputs[i].name;
        h.state = CPUBIND_INPUT_FAILED;
        a = facts_of(&h);
        assert_int_equal(a.facts.topology.code, CPUBIND_PROBLEM_UNREADABLE);
        assert_string_equal(a.facts.topology.input, inputs[i].name);
        expect_facts(inputs[i].name, &a, inputs[i].kind == 0 ? NULL : "0 0 2 2 4 4 6 6",
                     inputs[i].kind == 1 ? NULL : "0 1",
                     inputs[i].kind == 2 ? NULL : "10 20 20 10");
        drop(&a);
    }
}

/* Of several problems the first is kept: that of the cores. */
TEST(the_first_problem_is_kept)
{
    static const entry more[] = {{LIST(0), "x\n"}, {PACKAGE(0), "x\n"}, {ROW(0), "x\n"}};
    memory_host h = make_host(more, LENGTH(more));
    attempt a = facts_of(&h);
    assert_string_equal(a.facts.topology.input, LIST(0));
    expect_facts("three problems", &a, NULL, NULL, NULL);
    drop(&a);
}

TEST(a_file_is_read_only_where_it_tells_more)
{
    static const entry many[] = {NEIGHBOURS, {PACKAGE(0), "0\n"}, {PACKAGE(4), "1\n"}};
    static const entry one[] = {ALONE, {SMT, "0\n"}};
    memory_host h = make_host(many, LENGTH(many));
    attempt a = facts_of(&h);
    assert_non_null(strstr(h.seen, LIST(6)));
    assert_null(strstr(h.seen, LIST(1)));
    assert_null(strstr(h.seen, LIST(7)));
    assert_null(strstr(h.seen, PACKAGE(1)));
    drop(&a);
    h = make_host(one, LENGTH(one));
    a = facts_of(&h);
    assert_non_null(strstr(h.seen, LIST(0)));
    assert_null(strstr(h.seen, LIST(1)));
    drop(&a);
}

/* A source with a NUL after each file of the kernel. */
static cpubind_input read_with_nul(void *ctx, const char *name)
{
    cpubind_input input = read_input(ctx, name);
    input.len += input.len > 0 && strncmp(name, "sys/", 4) == 0;
    return input;
}

TEST(files_of_some_kernels_end_in_a_nul)
{
    static const entry more[] = {NEIGHBOURS,
                                 {PACKAGE(0), "0\n"},
                                 {PACKAGE(4), "1\n"},
                                 TWO_ROWS,
                                 {NODES "/online", "0-1\n"}};
    memory_host h = make_host(more, LENGTH(more));
    const cpubind_source source = {&h, read_with_nul, list_inputs};
    attempt a = read_facts(&source, (size_t)4 << 20);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    assert_int_equal(a.facts.topology.code, CPUBIND_PROBLEM_NONE);
    expect_facts("NUL", &a, "0 0 2 2 4 4 6 6", "0 1", "10 20 20 10");
    drop(&a);
}

TEST(a_small_arena_is_a_problem_and_no_other)
{
    static const entry more[] = {{LIST(0), "0-1\n"},
                                 {PACKAGE(0), "0\n"},
                                 {PACKAGE(4), "1\n"},
                                 TWO_ROWS,
                                 {"cmd/", "lscpu-e.txt\nlscpu.txt\n"},
                                 {LSCPU_E, "CPU NODE CORE\n0 0 0\n1 0 1\n2 0 2\n3 0 3\n4 1 4\n"
                                           "5 1 5\n6 1 6\n7 1 7\n"}};
    memory_host h = make_host(more, LENGTH(more));
    const cpubind_source source = {&h, read_input, list_inputs};
    cpubind_problem_code code = CPUBIND_PROBLEM_NO_MEMORY;
    for (size_t size = 300000; code != CPUBIND_PROBLEM_NONE; size += 16) {
        attempt a;
        h.seen[0] = '\0';
        a = read_facts(&source, size);
        code = a.code;
        if (code == CPUBIND_PROBLEM_NONE)
            expect_facts("enough", &a, "0 1 2 3 4 5 6 7", "0 1", "10 20 20 10");
        else
            assert_int_equal(code, CPUBIND_PROBLEM_NO_MEMORY);
        assert_int_equal(a.facts.topology.code, CPUBIND_PROBLEM_NONE);
        assert_true(size < (size_t)1 << 20);
        drop(&a);
    }
}

/* == Real hosts ============================================================= */

/* Unpacks an archive of real hosts below a new folder; returns 0 when there is none. */
static int unpack(const char *archive, folder_host *h)
{
    char path[512], folder[] = "/tmp/cpubind-dump-XXXXXX", command[2048];
    char name[256];
    (void)snprintf(name, sizeof name, "dumps/%s.tar.gz", archive);
    path_below(path, sizeof path, "CPUBIND_SHARED", "../shared", name);
    if (access(path, R_OK) != 0 || !mkdtemp(folder))
        return 0;
    (void)snprintf(h->root, sizeof h->root, "%s", folder);
    (void)snprintf(command, sizeof command, "tar xzf '%s' -C '%s'", path, folder);
    return system(command) == 0;
}

static void remove_host(folder_host *h)
{
    char command[2048];
    drop_folder(h);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", h->root);
    assert_int_equal(system(command), 0);
}

/* Numbers from..to in steps, `times` times each. */
static const char *repeat(char *out, int32_t from, int32_t to, int32_t step, int32_t times)
{
    *out = '\0';
    for (int32_t i = from; i <= to; i += step)
        for (int32_t k = 0; k < times; k++)
            (void)snprintf(out + strlen(out), MAX_WORDS - strlen(out), *out ? " %d" : "%d", i);
    return out;
}

TEST(real_hosts)
{
    static const struct {
        const char *archive;
        int32_t n_core; /* cores 0 .. n_core - 1; 0: not known, or by `cores` */
        const char *sockets, *distances;
    } hosts[] = {
        {"128arm-2pa2n8cluster4co", 128, "36 36 8442 8442",
         "10 16 32 33 16 10 25 32 32 25 10 16 33 32 16 10"},
        {"48amd64-4pa2n6c-sparse", 48, "0 0 1 1 2 2 3 3",
         "10 16 16 22 16 22 16 22 16 10 22 16 16 22 22 16 16 22 10 16 16 16 16 16 "
         "22 16 16 10 16 16 22 22 16 16 16 16 10 16 16 22 22 22 16 16 16 10 22 16 "
         "16 22 16 22 16 22 10 16 22 16 16 22 22 16 16 10"},
        {"bare-metal_worker2.internal", 32, "0 1", "10 21 21 10"},
        {"16em64t-4s2c2t-offlines", 0, "0", "10"},
        {"fakememinitiators-1np2c+1npp+gi", 0, "0 1 0 1",
         "10 21 13 21 21 10 21 13 13 21 10 21 21 13 21 10"},
        {"nvidiagpunumanodes", -4, "0 8", "10 40 40 10"},
    };
    int32_t n = 0;
    for (int32_t i = 0; i < LENGTH(hosts); i++) {
        static folder_host h;
        char cores[MAX_WORDS];
        cpubind_source source;
        attempt a;
        if (!unpack(hosts[i].archive, &h))
            continue;
        source = source_of(&h);
        a = read_facts(&source, (size_t)4 << 20);
        if (a.code != CPUBIND_PROBLEM_NONE || a.facts.topology.code != CPUBIND_PROBLEM_NONE)
            fail_msg("%s: %s, %s", hosts[i].archive, a.problem.what, a.facts.topology.what);
        if (hosts[i].n_core < 0) {
            repeat(cores, 0, 12, 4, 4);
            strcat(cores, " ");
            repeat(cores + strlen(cores), -1, -1, 1, 72);
            strcat(cores, " ");
            repeat(cores + strlen(cores), 88, 100, 4, 4);
        } else {
            repeat(cores, 0, hosts[i].n_core - 1, 1, 1);
        }
        expect_facts(hosts[i].archive, &a, *cores ? cores : NULL, hosts[i].sockets,
                     hosts[i].distances);
        drop(&a);
        remove_host(&h);
        n++;
    }
    if (n == 0)
        skip();
    assert_int_equal(n, LENGTH(hosts));
}

int main(void)
{
    return run_registered("cores", NULL, NULL);
}
