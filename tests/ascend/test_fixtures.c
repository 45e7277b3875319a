/* test_fixtures.c - what holds for every host of fixtures/, and for those of an archive
 * SPDX-License-Identifier: MIT
 *
 * Also here: the words of problems, and names of inputs that are too long.
 */
#define _XOPEN_SOURCE 700

#include <unistd.h>

#include "fixtures.h"
#include "folder_host.h"
#include "plan_text.h"

#include "../../adapters/ascend/input_list.h"
#include "../../adapters/text/input_name.h"

/* == Plans ================================================================== */

enum { MEBIBYTE = 1 << 20 };

/* Plans a fixture in an arena of 1 MiB by both rules. What near refuses, the reference
 * refuses as well, unless near cannot read which CPUs share a core; by near no more cores are
 * split, and no more IRQ CPUs are off their node. */
static void plan_by_both(fixture_host *h, const char *name)
{
    static _Alignas(16) char block[MEBIBYTE];
    const cpubind_source source = source_of_fixture(h);
    cpubind_problem_code code[CPUBIND_RULES_COUNT];
    cpubind_quality quality[CPUBIND_RULES_COUNT];
    int32_t n_want[CPUBIND_RULES_COUNT] = {0};
    for (int rules = 0; rules < CPUBIND_RULES_COUNT; rules++) {
        cpubind_request request = ask_nothing();
        cpubind_arena arena = {block, sizeof block, 0};
        cpubind_facts facts;
        cpubind_device_plan plan;
        cpubind_problem problem;
        request.rules = (cpubind_rules)rules;
        request.has_rules = 1;
        code[rules] = cpubind_facts_read(&source, &request, &arena, &facts, &problem);
        if (code[rules] == CPUBIND_PROBLEM_NONE)
            code[rules] = cpubind_plan_make(&facts, &request, &arena, &plan, &problem);
        if (code[rules] == CPUBIND_PROBLEM_NO_MEMORY)
            fail_msg("%s: 1 MiB is too small", name);
        if (code[rules] != CPUBIND_PROBLEM_NONE)
            continue;
        n_want[rules] = plan.n_want;
        quality[rules] = plan.quality;
    }
    if (code[CPUBIND_RULES_REFERENCE] != CPUBIND_PROBLEM_NONE ||
        (code[CPUBIND_RULES_NEAR] == CPUBIND_PROBLEM_UNREADABLE && strstr(name, "damaged")))
        return;
    if (code[CPUBIND_RULES_NEAR] != CPUBIND_PROBLEM_NONE)
        fail_msg("%s: refused by near alone: %s", name,
                 cpubind_problem_word(code[CPUBIND_RULES_NEAR]));
    if (n_want[CPUBIND_RULES_NEAR] < n_want[CPUBIND_RULES_REFERENCE])
        fail_msg("%s: near has fewer pools", name);
    if (quality[CPUBIND_RULES_NEAR].n_pool == quality[CPUBIND_RULES_REFERENCE].n_pool &&
        (quality[CPUBIND_RULES_NEAR].irq_off_node >
             quality[CPUBIND_RULES_REFERENCE].irq_off_node ||
         quality[CPUBIND_RULES_NEAR].split_cores >
             quality[CPUBIND_RULES_REFERENCE].split_cores))
        fail_msg("%s: near has %d cores split and %d IRQ CPUs off their node, not %d and %d",
                 name, quality[CPUBIND_RULES_NEAR].split_cores,
                 quality[CPUBIND_RULES_NEAR].irq_off_node,
                 quality[CPUBIND_RULES_REFERENCE].split_cores,
                 quality[CPUBIND_RULES_REFERENCE].irq_off_node);
}

TEST(every_fixture_is_planned_by_near_at_least_as_well_as_by_the_reference)
{
    assert_true(each_fixture(plan_by_both) > 100);
}

/* == Counts ================================================================= */

#define MIB ((size_t)1 << 20)

static cpubind_host_counts shape_in(const cpubind_source *source, size_t size)
{
    cpubind_arena arena = {(char *)malloc(size ? size : 1), size, 0};
    cpubind_host_counts shape;
    assert_non_null(arena.base);
    memset(&shape, EDGE_FILL, sizeof shape);
    shape = cpubind_host_counts_read(source, &arena);
    assert_int_equal(arena.used, 0);
    free(arena.base);
    return shape;
}

/* In an arena of any size a count is true or unknown; in a large arena it is true. */
TEST(a_full_arena_makes_counts_unknown_and_never_wrong)
{
    const cpubind_source source = {&host, read_input, list_inputs};
    int32_t n_known = 0, n_unknown = 0;
    set(&host, "sys/devices/system/cpu/online", "0-8191\n"); /* most on no node */
    set(&host, "sys/devices/system/node/", "node0\nnode2\n");
    set(&host, "sys/devices/system/node/node0/cpulist", "0-5\n");
    set(&host, "sys/devices/system/node/node2/cpulist", "6-9\n");
    set(&host, "cmd/npu-smi-info-m.txt",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
        "\t0        0         0               Ascend 910B4\n"
        "\t1        0         1               Ascend 910B4\n");
    for (size_t size = 0; size < MIB; size += size < 2048 ? 16 : 4096) {
        cpubind_host_counts shape;
        host.seen[0] = '\0';
        shape = shape_in(&source, size);
        assert_true(shape.cpus == 8192 || shape.cpus == -1);
        assert_true(shape.nodes == 2 || shape.nodes == -1);
        assert_true(shape.npus == 2 || shape.npus == -1);
        n_known += shape.cpus > 0 && shape.nodes > 0 && shape.npus > 0;
        n_unknown += shape.cpus < 0 && shape.nodes < 0 && shape.npus < 0;
    }
    assert_true(n_known > 0 && n_unknown > 0);
    host.seen[0] = '\0';
    assert_int_equal(shape_in(&source, 2048).npus, 2);
    host.seen[0] = '\0';
    assert_int_equal(shape_in(&source, 0).npus, -1);
}

/* As fixtures/README.md has them, nodes without CPUs left out; -1 where the host has no
 * input for it. */
static const struct {
    const char *name;
    cpubind_host_counts shape;
} counted[] = {
    {"a2-192cpu-8npu", {192, 8, 8}},
    {"a2-192cpu-8npu-cpuset", {192, 8, 8}},
    {"a2-192cpu-4node-8npu", {192, 4, 8}},
    {"a2-96cpu-wrap", {96, 4, 2}},
    {"a2-holes", {93, 4, 4}},
    {"a2-lscpu-only", {93, 4, 4}},
    {"a2-affinity-differs", {96, 4, 4}},
    {"a2-no-numa-node", {96, 4, 4}},
    {"a2-no-affinity", {192, 8, 8}},
    {"a2-container-cards-4-6", {192, 8, 2}},
    {"a2-container-boards", {192, 8, 2}},
    {"a2-visible-tail", {192, 8, 8}},
    {"a2-no-status", {192, 8, 8}},
    {"a3-640cpu-16npu", {640, 8, 16}},
    {"a3-320cpu-16npu", {320, 4, 16}},
    {"a3-container-renumbered", {640, 8, 4}},
    {"a3-container-no-census", {640, 8, 4}},
    {"a3-arm-no-column", {320, 8, 16}},
    {"300i-duo-192cpu", {192, 8, 8}},
    {"300i-pro-128cpu", {128, 4, 6}},
    {"300i-pro-x86-96cpu", {96, 4, 4}},
    {"950-smt1-256cpu", {256, 8, 4}},
    {"950-smt2-640cpu", {640, 8, 8}},
    {"950-smt2-x86-128cpu", {128, 2, 4}},
    {"950-node0-256cpu", {256, 8, 4}},
    {"950-few-clusters", {256, 8, 4}},
    {"950-ub-8npu", {256, 8, 8}},
    {"a3-too-few", {320, 4, 16}},
    {"too-few", {192, 8, 8}},
    {"affinity-outside", {192, 8, 8}},
    {"idle-a2", {192, 8, 8}},
    {"no-npu", {64, 4, 0}},
    {"npu-missing", {64, 4, -1}},
    {"driver-broken", {192, 8, -1}},
    {"a2-cut-output", {192, 8, 8}},
    {"a2-cut-processes", {192, 8, 8}},
};

static int32_t n_checked;

static void check_counts(fixture_host *h, const char *name)
{
    const cpubind_source source = source_of_fixture(h);
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        const cpubind_host_counts want = counted[i].shape;
        cpubind_host_counts is;
        if (strcmp(counted[i].name, name) != 0)
            continue;
        is = shape_in(&source, MIB);
        if (is.cpus != want.cpus || is.nodes != want.nodes || is.npus != want.npus)
            fail_msg("%s: %d CPUs, %d nodes, %d NPUs", name, is.cpus, is.nodes, is.npus);
        n_checked++;
    }
}

TEST(a_fixture_has_the_counts_of_its_table)
{
    (void)each_fixture(check_counts);
    assert_int_equal(n_checked, sizeof counted / sizeof *counted);
}

/* == Inputs ================================================================= */

/* A name of the longest length is known, one of a byte more is not. */
TEST(a_known_name_is_no_longer_than_a_name)
{
    static const char head[] = "sys/bus/pci/devices/", end[] = "/vendor";
    for (size_t len = CPUBIND_INPUT_NAME_MAX; len <= CPUBIND_INPUT_NAME_MAX + 1; len++) {
        char *name = (char *)malloc(len + 1);
        assert_non_null(name);
        memset(name, 'a', len);
        memcpy(name, head, sizeof head - 1);
        memcpy(name + len - (sizeof end - 1), end, sizeof end);
        assert_int_equal(cpubind_input_list_has(name), len == CPUBIND_INPUT_NAME_MAX);
        free(name);
    }
}

/* A source whose one listing holds a name of some length, and which has every file. */
static char *long_listing;

static cpubind_input list_long(void *ctx, const char *name)
{
    cpubind_input input;
    (void)ctx;
    memset(&input, 0, sizeof input);
    if (strcmp(name, "sys/bus/pci/devices") != 0)
        return input;
    input.state = CPUBIND_INPUT_PRESENT;
    input.data = long_listing;
    input.len = (int32_t)strlen(long_listing);
    return input;
}

static cpubind_input read_long(void *ctx, const char *name)
{
    cpubind_input input;
    (void)ctx;
    memset(&input, 0, sizeof input);
    input.state =
        strncmp(name, "sys/bus", 7) == 0 ? CPUBIND_INPUT_FAILED : CPUBIND_INPUT_ABSENT;
    return input;
}

static int count_visits(void *ctx, const char *name, cpubind_input answer)
{
    (void)answer;
    assert_true(cpubind_input_is_name(name) && cpubind_input_list_has(name));
    ++*(int32_t *)ctx;
    return 0;
}

/* class has 5 bytes, vendor, device, physfn and dev_id have 6, numa_node 9, sriov_numvfs 12,
 * local_cpulist 13, davinci_dev_num 15, secondary_bus_number 20, devdrv_sysfs_bdf_to_devid
 * 25. */
TEST(a_name_that_becomes_too_long_is_skipped)
{
    static const struct {
        int32_t leaf;   /* the longest that fits after the folder */
        int32_t visits; /* of the eleven */
    } cases[] = {{25, 11}, {24, 10}, {20, 10}, {19, 9}, {15, 9}, {14, 8}, {13, 8}, {12, 7},
                 {11, 6},  {9, 6},   {8, 5},   {6, 5},  {5, 1},  {0, 0},  {-1, 0}, {-2, 0}};
    const cpubind_source source = {NULL, read_long, list_long};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int32_t folder = (int32_t)strlen("sys/bus/pci/devices/");
        const int32_t len = CPUBIND_INPUT_NAME_MAX - folder - 1 - cases[i].leaf;
        int32_t n = 0;
        long_listing = (char *)malloc((size_t)len + 1);
        assert_non_null(long_listing);
        memset(long_listing, 'f', (size_t)len);
        long_listing[len] = '\0';
        assert_int_equal(cpubind_input_list_each(&source, count_visits, &n), 0);
        assert_int_equal(n, cases[i].visits);
        free(long_listing);
    }
}

typedef struct found {
    char *names[MAX_FILES];
    int32_t n;
} found;

static int note(void *ctx, const char *name, cpubind_input answer)
{
    found *f = (found *)ctx;
    assert_int_equal(answer.state, CPUBIND_INPUT_PRESENT);
    assert_true(cpubind_input_list_has(name));
    assert_true(f->n < MAX_FILES);
    f->names[f->n++] = strdup(name);
    return 0;
}

static int by_order(const void *a, const void *b)
{
    return cpubind_host_file_order(*(char *const *)a, *(char *const *)b);
}

static int ends_with(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

/* Of a fixture everything is visited but exit codes and stderr. */
static void check_visits(fixture_host *h, const char *name)
{
    const cpubind_source source = source_of_fixture(h);
    static found visits;
    int32_t n = 0;
    visits.n = 0;
    assert_int_equal(cpubind_input_list_each(&source, note, &visits), 0);
    qsort(visits.names, (size_t)visits.n, sizeof *visits.names, by_order);
    for (int32_t i = 0; i < h->n; i++) {
        const char *file = fixture_name(h, i);
        if (strcmp(file, "host.txt") == 0 || strncmp(file, "expect/", 7) == 0 ||
            ends_with(file, ".exit") || ends_with(file, ".err"))
            continue;
        if (n >= visits.n || strcmp(visits.names[n], file) != 0)
            fail_msg("%s: %s is not visited", name, file);
        n++;
    }
    assert_int_equal(n, visits.n);
    for (int32_t i = 0; i < visits.n; i++)
        free(visits.names[i]);
}

TEST(every_input_of_a_fixture_is_visited)
{
    assert_true(each_fixture(check_visits) >= 30);
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

TEST(real_hosts)
{
    static const struct {
        const char *archive, *cores;
    } hosts[] = {
        {"128arm-2pa2n8cluster4co", "> cores; alone 0-127\n"
                                    "> sockets 36 36 8442 8442\n"
                                    "> distances 10 16 32 33 16 10 25 32 32 25 10 16 33 32 16 "
                                    "10\n"},
        {"48amd64-4pa2n6c-sparse",
         "> cores; alone 0-47\n"
         "> sockets 0 0 1 1 2 2 3 3\n"
         "> distances 10 16 16 22 16 22 16 22 16 10 22 16 16 22 22 16 16 22 10 16 16 16 16 16 "
         "22 16 16 10 16 16 22 22 16 16 16 16 10 16 16 22 22 22 16 16 16 10 22 16 "
         "16 22 16 22 16 22 10 16 22 16 16 22 22 16 16 10\n"},
        {"bare-metal_worker2.internal",
         "> cores; alone 0-31\n> sockets 0 1\n> distances 10 21 21 10\n"},
        {"16em64t-4s2c2t-offlines", "> sockets 0\n> distances 10\n"},
        {"fakememinitiators-1np2c+1npp+gi",
         "> sockets 0 1 0 1\n> distances 10 21 13 21 21 10 21 13 13 21 10 21 21 13 21 10\n"},
        {"nvidiagpunumanodes", "> cores 0-3 4-7 8-11 12-15 88-91 92-95 96-99 100-103\n"
                               "> sockets 0 8\n> distances 10 40 40 10\n"},
    };
    static const int32_t zero = 0;
    cpubind_request request = ask_nothing();
    int32_t n = 0;
    request.device = &zero;
    request.n_device = request.total = 1;
    request.type = CPUBIND_TYPE_A3;
    request.origin = CPUBIND_ORIGIN_NPU_SMI;
    request.scope = CPUBIND_SCOPE_OWN; /* no part of the PCI bus */
    for (int32_t i = 0; i < LENGTH(hosts); i++) {
        static folder_host h;
        static said s;
        cpubind_source source;
        attempt a;
        if (!unpack(hosts[i].archive, &h))
            continue;
        source = source_of(&h);
        a = read_from(&source, &request, (size_t)4 << 20);
        s.len = 0;
        say_topology(&s, &a);
        if (strcmp(s.text, hosts[i].cores) != 0)
            fail_msg("%s: %s", hosts[i].archive, s.text);
        drop(&a);
        remove_host(&h);
        n++;
    }
    if (n == 0)
        skip();
    assert_int_equal(n, LENGTH(hosts));
}

/* == Words ================================================================== */

TEST(every_code_has_a_word)
{
    assert_string_equal(cpubind_problem_word(CPUBIND_PROBLEM_NONE), "none");
    for (int i = 0; i < CPUBIND_WARNING_COUNT; i++)
        assert_true(strlen(cpubind_warning_word((cpubind_warning)i)) > 3);
    assert_string_equal(cpubind_problem_word(CPUBIND_PROBLEM_TOO_FEW_CPUS), "too_few_cpus");
    assert_int_equal(cpubind_problem_exit(CPUBIND_PROBLEM_TOO_FEW_CPUS), 1);
    assert_int_equal(cpubind_problem_exit(CPUBIND_PROBLEM_UNREADABLE), 3);
    assert_int_equal(cpubind_problem_exit(CPUBIND_PROBLEM_NONE), 0);
    assert_string_equal(cpubind_type_word(CPUBIND_TYPE_300I), "300i");
}

TEST_FILE(NULL, NULL)
