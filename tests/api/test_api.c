/* test_api.c - the C ABI: the same answers as the command, from any thread, in any order
 * SPDX-License-Identifier: MIT
 *
 * Hosts are the fixtures and one host of this machine's own CPUs, in memory. A process that is
 * bound is a child of the test. Options, messages, formats and explanations are in
 * tests/cases/command_*.txt, by the same functions.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../cpubind.h"
#include "../laws/fixtures.h"

#define A2 "fixtures/hosts/a2-192cpu-8npu.host"

static const char *const none[] = {NULL};

/* What the command prints with these arguments, without the last line feed; the caller frees
 * it. *status: how it exits. */
static char *command_says(int *status, const char *format, const char *name)
{
    const char *folder = getenv("BUILD"), *path = getenv("CPUBIND");
    char line[1024], arguments[512];
    char *text = (char *)calloc(1, 1 << 20);
    assert_non_null(text);
    (void)snprintf(arguments, sizeof arguments, format, name);
    (void)snprintf(line, sizeof line, "'%s%s' %s 2>/dev/null",
                   path     ? path
                   : folder ? folder
                            : "build",
                   path ? "" : "/cpubind", arguments);
    FILE *pipe = popen(line, "re");
    assert_non_null(pipe);
    const size_t n = fread(text, 1, (1 << 20) - 1, pipe);
    *status = WEXITSTATUS(pclose(pipe));
    if (n > 0 && text[n - 1] == '\n')
        text[n - 1] = '\0';
    return text;
}

/* The error has this code, and these words in its text; frees it. */
static void expect_error(cpb_error **error, const char *code, const char *words)
{
    assert_non_null(*error);
    assert_string_equal(cpb_error_code(*error), code);
    if (!strstr(cpb_error_text(*error), words))
        fail_msg("%s: no \"%s\"", cpb_error_text(*error), words);
    cpb_error_free(*error);
    *error = NULL;
}

/* == Plans ================================================================== */

/* Takes from a text what tells options of the command from those of a library: "-o ", dashes,
 * and the blank before a value. Freed by the caller. */
static char *without_dashes(const char *text)
{
    char *made = (char *)calloc(1, strlen(text) + 1), *to = made;
    while (made && *text)
        if (strncmp(text, "-o ", 3) == 0 || strncmp(text, "--", 2) == 0)
            text += text[1] == 'o' ? 3 : 2;
        else
            *to++ = (char)(*text == '=' ? ' ' : *text), text++;
    return made;
}

/* A host without accelerators has the advice of whom it is for. */
static void compare(const char *name, const char *own, const char *printed)
{
    char *its = without_dashes(own), *theirs = without_dashes(printed);
    const int has_none = strstr(own, "\"no_npu_smi\"") || strstr(own, "has no accelerator");
    const char *advice = has_none ? strstr(its, "; ") : NULL;
    if (strncmp(its, theirs, advice ? (size_t)(advice - its) : strlen(its) + 1) != 0)
        fail_msg("%s\nlibrary: %s\ncommand: %s", name, own, printed);
    free(its);
    free(theirs);
}

static void compare_with_command(cpb_host *host, const char *name)
{
    static const char *const nics[] = {"nics=yes", NULL};
    const int is_topo = strncmp(name, "gpu", 3) == 0;
    cpb_error *error = NULL;
    cpb_plan *plan = cpb_plan_make(host, none, &error);
    int status;
    char *printed = command_says(&status, "plan --root fixtures/hosts/%s.host --json", name);
    compare(name, plan ? cpb_plan_json(plan) : cpb_error_json(error), printed);
    assert_int_equal(plan ? 0 : cpb_error_number(error, "exit"), status);
    free(printed);
    cpb_plan_free(plan);
    cpb_error_free(error);
    error = NULL;
    if (!is_topo)
        return;
    char *topo = cpb_host_topo(host, nics, &error);
    printed = command_says(&status, "topo --root fixtures/hosts/%s.host --nics --json", name);
    compare(name, topo ? topo : cpb_error_json(error), printed);
    assert_int_equal(topo ? 0 : cpb_error_number(error, "exit"), status);
    free(printed);
    cpb_text_free(topo);
    cpb_error_free(error);
}

TEST(every_fixture_has_the_answer_of_the_command)
{
    assert_true(each_fixture(compare_with_command) > 100);
}

static void check_arrays(cpb_host *host, const char *name)
{
    static const char *const words[] = {"pool", "irq", "main", "acl", "release"};
    cpb_plan *plan = cpb_plan_make(host, none, NULL);
    const int32_t *device, *row, *all, *cpu;
    (void)name;
    for (int32_t n = plan ? cpb_plan_devices(plan, &device) : 0, t = 0; n > 0 && t < 5; t++) {
        assert_int_equal(cpb_plan_table(plan, words[t], &row, &all), n);
        for (int32_t i = 0; i < n; i++) {
            unsigned long mask[CPUBIND_MAX_CPUS / (8 * sizeof(long))];
            const int32_t n_cpu = cpb_plan_cpus(plan, device[i], words[t], &cpu);
            const int32_t size = cpb_plan_mask(plan, device[i], words[t], mask, sizeof mask);
            assert_int_equal(n_cpu, row[i + 1] - row[i]);
            assert_ptr_equal(cpu, all + row[i]);
            assert_int_equal(size % (int32_t)sizeof(long), 0);
            assert_int_equal(CPU_COUNT_S(sizeof mask, (cpu_set_t *)mask), n_cpu);
            for (int32_t k = 0; k < n_cpu; k++)
                assert_true(CPU_ISSET_S((size_t)cpu[k], (size_t)size, (cpu_set_t *)mask));
            assert_true(t > 0 || n_cpu > 0);
        }
    }
    cpb_plan_free(plan);
}

TEST(arrays_tables_and_masks_agree)
{
    (void)each_fixture(check_arrays);
}

/* Whether a list of CPUs, ascending, has all of another one. */
static int has_all(const int32_t *list, int32_t n, const int32_t *of, int32_t n_of)
{
    int32_t at = 0;
    for (int32_t i = 0; i < n_of; i++) {
        while (at < n && list[at] < of[i])
            at++;
        if (at == n || list[at] != of[i])
            return 0;
    }
    return 1;
}

/* The home of a device is those CPUs near it that the plan has CPUs of, and a pool that is near
 * alone is of the home. */
static void check_home(cpb_host *host, const char *name)
{
    cpb_plan *plan = cpb_plan_make(host, none, NULL);
    const int32_t *device, *near, *home, *pool;
    const int32_t n = plan ? cpb_plan_devices(plan, &device) : 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t n_near = cpb_plan_cpus(plan, device[i], "near", &near);
        const int32_t n_home = cpb_plan_cpus(plan, device[i], "home", &home);
        const int32_t n_pool = cpb_plan_cpus(plan, device[i], "pool", &pool);
        if (n_near < n_home || !has_all(near, n_near, home, n_home))
            fail_msg("%s: the home of device %d is not near it", name, (int)device[i]);
        if (has_all(near, n_near, pool, n_pool) && !has_all(home, n_home, pool, n_pool))
            fail_msg("%s: the pool of device %d is near it, and not in its home", name,
                     (int)device[i]);
    }
    cpb_plan_free(plan);
}

TEST(the_home_of_a_device_is_of_the_cpus_near_it)
{
    (void)each_fixture(check_home);
}

/* Writes CPUs, ascending, as the reports do: "0-23,96". */
static void write_list(const int32_t *cpu, int32_t n, char *out, size_t size)
{
    size_t len = 0;
    *out = '\0';
    for (int32_t i = 0, k; i < n; i = k + 1) {
        for (k = i; k + 1 < n && cpu[k + 1] == cpu[k] + 1;)
            k++;
        len += (size_t)snprintf(out + len, size - len, "%s%d", len ? "," : "", (int)cpu[i]);
        if (k > i)
            len += (size_t)snprintf(out + len, size - len, "-%d", (int)cpu[k]);
        assert_true(len < size);
    }
}

/* Holds the answers about one device against its row of topo. */
static void check_place(cpb_host *host, const char *name, const json_t *row)
{
    const char *pci = json_string_value(json_object_get(row, "pci"));
    const char *cpus = json_string_value(json_object_get(row, "cpus"));
    const json_t *node = json_object_get(row, "node");
    int32_t cpu[CPUBIND_MAX_CPUS];
    char list[16384];
    cpb_error *error = NULL;
    const int32_t n = cpb_near_cpus(host, pci, cpu, CPUBIND_MAX_CPUS, NULL);
    assert_int_equal(cpb_near_cpus(host, pci, NULL, 0, NULL), n);
    write_list(cpu, n, list, sizeof list);
    if (strcmp(list, cpus ? cpus : "") != 0)
        fail_msg("%s: %s are near %s, topo has %s", name, list, pci, cpus);
    if (json_is_null(node)) {
        assert_int_equal(cpb_home_node(host, pci, &error), -1);
        expect_error(&error, "refused", "the node of 0000:");
    } else {
        assert_int_equal(cpb_home_node(host, pci, NULL), json_integer_value(node));
    }
}

static void check_places(cpb_host *host, const char *name)
{
    char *topo = cpb_host_topo(host, none, NULL);
    json_t *report = topo ? json_loads(topo, 0, NULL) : NULL;
    const json_t *devices = json_object_get(report, "devices"), *row;
    size_t i;
    json_array_foreach(devices, i, row) check_place(host, name, row);
    json_decref(report);
    cpb_text_free(topo);
}

TEST(a_device_is_where_topo_shows_it)
{
    (void)each_fixture(check_places);
}

TEST(a_place_is_of_a_device_that_is_there)
{
    static const struct {
        const char *host, *device, *code, *words;
    } cases[] = {
        {"gpu-2socket-8h100", "gpu9", "refused", "there is no gpu9 here"},
        {"gpu-2socket-8h100", "0000:01:00.0", "refused", "there is no 0000:01:00.0 here"},
        {"gpu-2socket-8h100", "npu0", "refused", "there is no npu0 here"},
        {"gpu-2socket-8h100", "x", "usage", "name a device, such as npu3"},
        {"gpu-2socket-8h100", NULL, "usage", "name a device, such as npu3"},
        {"gpu-none", "gpu0", "refused", "there is no gpu0 here"},
        {"gpu-damaged-node", "gpu0", "unreadable", "numa_node"},
    };
    cpb_error *error = NULL;
    int32_t few[2] = {-1, -1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cpb_host *host = open_fixture(cases[i].host);
        assert_int_equal(cpb_near_cpus(host, cases[i].device, few, 2, &error), -1);
        expect_error(&error, cases[i].code, cases[i].words);
        assert_int_equal(cpb_home_node(host, cases[i].device, &error), -1);
        expect_error(&error, cases[i].code, cases[i].words);
        cpb_host_close(host);
    }
    assert_int_equal(cpb_near_cpus(NULL, "gpu0", few, 2, &error), -1);
    expect_error(&error, "usage", "name a host");
    cpb_host *host = open_fixture("gpu-2socket-8h100");
    assert_int_equal(few[0], -1);
    assert_int_equal(cpb_near_cpus(host, "gpu0", few, 1, &error), 96);
    assert_int_equal(few[0], 48);
    assert_int_equal(few[1], -1);
    assert_int_equal(cpb_home_node(host, "gpu0", &error), 1);
    cpb_host_close(host);
}

TEST(getters_answer_what_is_not_there)
{
    static const char *const rank[] = {"rank=2", "visible=1,5,6", NULL};
    cpb_host *host = open_fixture("a2-192cpu-8npu");
    cpb_plan *plan = cpb_plan_make(host, rank, NULL);
    const int32_t *cpu;
    cpb_host_close(host); /* the plan does not need it */
    assert_non_null(plan);
    assert_int_equal(cpb_plan_rank_device(plan), 6);
    assert_int_equal(cpb_plan_cpus(plan, 0, "pool", &cpu), -1);
    assert_int_equal(cpb_plan_cpus(plan, 1, "pools", &cpu), -1);
    assert_int_equal(cpb_plan_cpus(plan, 1, NULL, &cpu), -1);
    assert_int_equal(cpb_plan_table(plan, "x", &cpu, &cpu), -1);
    assert_int_equal(cpb_plan_mask(plan, 0, "pool", NULL, 0), -1);
    assert_true(cpb_plan_mask(plan, 1, "pool", NULL, 0) > 0);
    assert_int_equal(cpb_plan_memory_node(plan, 0), -1);
    assert_int_equal(cpb_plan_memory_node(plan, 1), 4);
    assert_int_equal(cpb_plan_quality(plan, -1, "idle"), 0);
    assert_int_equal(cpb_plan_quality(plan, 1, "near_percent"), 50);
    assert_int_equal(cpb_plan_quality(plan, 0, "near_percent"), -1);
    assert_int_equal(cpb_plan_quality(plan, -1, "colour"), -1);
    cpb_plan_free(plan);
}

/* A device of a plan of accelerators is a rank. */
TEST(accelerators_of_any_vendor_are_planned)
{
    static const char *const options[] = {"pci=0000:00:05.0", "pci=0000:00:06.0",
                                          "roles=1,1,0,0", "rank=1", NULL};
    static const char *const npus[] = {"class=0302", "npus=0", NULL};
    cpb_error *error = NULL;
    cpb_host *host = open_fixture("gpu-vm-2l4");
    cpb_plan *plan = cpb_plan_make(host, options, &error);
    const int32_t *device, *cpu;
    assert_non_null(plan);
    assert_int_equal(cpb_plan_devices(plan, &device), 2);
    assert_int_equal(device[0], 0);
    assert_int_equal(device[1], 1);
    assert_int_equal(cpb_plan_rank_device(plan), 1);
    assert_int_equal(cpb_plan_cpus(plan, 1, "pool", &cpu), 4);
    assert_int_equal(cpu[0], 4);
    assert_int_equal(cpb_plan_cpus(plan, 1, "irq", &cpu), 1);
    assert_int_equal(cpb_plan_cpus(plan, 1, "acl", &cpu), 0);
    assert_int_equal(cpb_plan_cpus(plan, 2, "pool", &cpu), -1);
    assert_int_equal(cpb_plan_memory_node(plan, 1), -1);
    assert_int_equal(cpb_plan_quality(plan, -1, "idle"), 0);
    assert_int_equal(cpb_plan_quality(plan, 2, "idle"), -1);
    cpb_plan_free(plan);
    assert_null(cpb_plan_make(host, npus, &error));
    expect_error(&error, "usage", "leave out the options that are about NPUs");
    assert_null(cpb_host_topo(NULL, none, &error));
    expect_error(&error, "usage", "name a host");
    cpb_host_close(host);
}

TEST(formats_and_reasons_are_those_of_the_command)
{
    static const char *const formats[] = {"text", "map", "log", "svg", "slurm"};
    cpb_host *host = open_fixture("a2-192cpu-8npu");
    cpb_plan *plan = cpb_plan_make(host, none, NULL);
    int status;
    for (size_t i = 0; i <= sizeof formats / sizeof *formats; i++) {
        const int is_format = i < sizeof formats / sizeof *formats;
        char *text = is_format ? cpb_plan_format(plan, formats[i], NULL)
                               : cpb_plan_explain(plan, "all", NULL);
        char *printed =
            is_format ? command_says(&status, "plan --root " A2 " --format %s", formats[i])
                      : command_says(&status, "plan --root " A2 " --explain %s", "all");
        text[strlen(text) - 1] = '\0'; /* the last line feed */
        compare(is_format ? formats[i] : "--explain", text, printed);
        cpb_text_free(text);
        free(printed);
    }
    cpb_plan_free(plan);
    cpb_host_close(host);
}

/* == Errors ================================================================= */

TEST(an_error_has_the_numbers_of_its_problem)
{
    const char *const options[] = {"allowed=0-15", "rules=reference", "strategy=global_slice",
                                   NULL};
    const char *const absent[] = {"devices=npu9", NULL};
    cpb_error *error = NULL;
    cpb_host *host = cpb_host_folder(A2, &error);
    assert_null(cpb_plan_make(host, options, &error));
    assert_string_equal(cpb_error_code(error), "too_few_cpus");
    assert_int_equal(cpb_error_number(error, "device"), -1);
    assert_int_equal(cpb_error_number(error, "need"), 5);
    assert_int_equal(cpb_error_number(error, "have"), 2);
    assert_int_equal(cpb_error_number(error, "cpu"), -1);
    assert_int_equal(cpb_error_number(error, "exit"), 1);
    assert_int_equal(cpb_error_number(error, "colour"), -1);
    assert_int_equal(cpb_error_number(NULL, "npu"), -1);
    cpb_error_free(error);
    error = NULL;
    assert_null(cpb_plan_make(host, absent, &error));
    assert_string_equal(cpb_error_code(error), "unknown_device");
    assert_int_equal(cpb_error_number(error, "device"), 9);
    assert_int_equal(cpb_error_number(error, "npu"), 9);
    assert_non_null(strstr(cpb_error_json(error), "\"device\": \"npu9\""));
    cpb_error_free(error);
    cpb_host_close(host);
    assert_null(cpb_host_folder("fixtures/none", &error));
    assert_string_equal(cpb_error_code(error), "unreadable");
    assert_int_equal(cpb_error_number(error, "errno"), ENOENT);
    cpb_error_free(error);
    assert_null(cpb_host_folder("cpubind.h", &error));
    assert_string_equal(cpb_error_code(error), "unreadable");
    cpb_error_free(error);
    assert_null(cpb_host_folder(NULL, &error));
    assert_string_equal(cpb_error_code(error), "usage");
    cpb_error_free(error);
    assert_null(cpb_plan_make(NULL, none, &error));
    cpb_error_free(error);
    cpb_error_free(NULL);
    cpb_plan_free(NULL);
    cpb_host_close(NULL);
    cpb_binding_close(NULL);
    cpb_text_free(NULL);
}

TEST(advice_is_in_the_words_of_a_call)
{
    const char *const half[] = {"allowed=0-95", NULL}, *const few[] = {"allowed=0-3", NULL};
    cpb_error *error = NULL;
    cpb_host *host = open_fixture("a2-192cpu-8npu");
    cpb_plan *plan = cpb_plan_make(host, half, NULL);
    assert_non_null(strstr(cpb_plan_json(plan), "say whose they are: scope=own, of this"));
    assert_null(cpb_plan_make(host, few, &error));
    expect_error(&error, "too_few_cpus", "whose the CPUs are: scope=own, they are for");
    cpb_plan_free(plan);
    cpb_host_close(host);
}

/* == Hosts in memory ======================================================== */

/* Puts the files of a fixture, in which no byte is written otherwise (host_file.h). */
static void put_fixture(cpb_host *host, const char *path)
{
    FILE *file = fopen(path, "re");
    char line[1 << 16], name[256] = "";
    char *text = (char *)calloc(1, 1 << 20);
    size_t n = 0;
    assert_true(file && text);
    while (fgets(line, sizeof line, file)) {
        if (*line == ' ') {
            assert_null(strchr(line, '\\'));
            n += (size_t)snprintf(text + n, (1 << 20) - n, "%s", line + 1);
            continue;
        }
        if (*name)
            assert_int_equal(cpb_host_put(host, name, text, n, 0, NULL), 0);
        name[0] = text[0] = '\0';
        n = 0;
        (void)sscanf(line, "file %255s", name);
    }
    (void)fclose(file);
    free(text);
}

TEST(a_host_in_memory_has_the_plan_of_its_file)
{
    cpb_host *memory = cpb_host_empty(NULL), *host = open_fixture("a2-192cpu-8npu");
    put_fixture(memory, A2);
    cpb_plan *plan = cpb_plan_make(memory, none, NULL),
             *expected = cpb_plan_make(host, none, NULL);
    assert_non_null(plan);
    assert_string_equal(cpb_plan_json(plan), cpb_plan_json(expected));
    cpb_plan_free(plan);
    cpb_plan_free(expected);
    cpb_host_close(memory);
    cpb_host_close(host);
}

TEST(what_is_no_input_is_refused)
{
    cpb_error *error = NULL;
    cpb_host *host = cpb_host_empty(&error), *folder = cpb_host_folder(A2, &error);
    assert_int_equal(cpb_host_put(host, "/proc/self/status", "", 0, 0, &error), -1);
    cpb_error_free(error);
    assert_int_equal(cpb_host_put(host, "../etc/passwd", "", 0, 0, &error), -1);
    cpb_error_free(error);
    assert_int_equal(cpb_host_put(host, NULL, "", 0, 0, &error), -1);
    cpb_error_free(error);
    assert_int_equal(cpb_host_put(host, "a", NULL, 1, 0, &error), -1);
    cpb_error_free(error);
    assert_int_equal(cpb_host_put(host, "a", "", 0, 256, &error), -1);
    cpb_error_free(error);
    assert_int_equal(cpb_host_put(folder, "a", "", 0, 0, &error), -1);
    assert_string_equal(cpb_error_code(error), "usage");
    cpb_error_free(error);
    assert_null(cpb_plan_make(host, none, &error)); /* nothing is known of it */
    cpb_error_free(error);
    cpb_host_close(folder);
    cpb_host_close(host);
}

/* == Threads ================================================================ */

enum { N_THREAD = 16, N_ROUND = 8 };

static char *expected_json;

static void *plan_often(void *host)
{
    for (int i = 0; i < N_ROUND; i++) {
        cpb_plan *plan = cpb_plan_make((cpb_host *)host, none, NULL);
        char *map = plan ? cpb_plan_format(plan, "map", NULL) : NULL;
        if (!plan || !map || strcmp(cpb_plan_json(plan), expected_json) != 0)
            return host;
        cpb_text_free(map);
        cpb_plan_free(plan);
    }
    return NULL;
}

/* The environment of a launcher stands for that of the host, for plans that are made later. */
TEST(a_step_of_slurm_is_planned_by_its_environment)
{
    static const char step[] = "SLURM_CPUS_ON_NODE=192\nSLURM_GPUS_ON_NODE=2\n"
                               "SLURM_STEP_GPUS=3,5\nSLURMD_TRES_BIND=gpu:per_task:1\n";
    cpb_error *error = NULL;
    cpb_host *host = cpb_host_folder(A2, &error);
    cpb_plan *before = cpb_plan_make(host, NULL, &error), *plan;
    const int32_t *devices;
    int32_t n_process, process;
    assert_int_equal(cpb_host_put(host, "env", step, strlen(step), 0, &error), 0);
    plan = cpb_plan_make(host, NULL, &error);
    assert_non_null(plan);
    assert_int_equal(cpb_plan_devices(before, &devices), 8);
    assert_int_equal(cpb_plan_devices(plan, &devices), 2);
    assert_int_equal(devices[0], 3);
    assert_int_equal(devices[1], 5);
    assert_non_null(strstr(cpb_plan_json(plan), "\"scope\": \"own\""));
    assert_int_equal(cpb_slurm_rank(step, 1, "5", &n_process, &process, &error), 1);
    assert_int_equal(n_process, 1);
    assert_int_equal(process, 0);
    assert_int_equal(cpb_slurm_rank(step, 1, "7", &n_process, &process, &error), -1);
    expect_error(&error, "refused", "has other devices than that of the step");
    assert_int_equal(cpb_host_put(host, "uname", "x\n", 2, 0, &error), -1);
    expect_error(&error, "usage", "another host takes env alone");
    cpb_plan_free(before);
    cpb_plan_free(plan);
    cpb_host_close(host);
}

TEST(threads_plan_from_one_host)
{
    pthread_t thread[N_THREAD];
    cpb_host *host = cpb_host_folder(A2, NULL);
    cpb_plan *plan = cpb_plan_make(host, none, NULL);
    expected_json = strdup(cpb_plan_json(plan));
    cpb_plan_free(plan);
    for (int i = 0; i < N_THREAD; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, plan_often, host), 0);
    for (int i = 0; i < N_THREAD; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    free(expected_json);
    cpb_host_close(host);
}

/* == Binding ================================================================ */

/* A host of one 950 with the CPUs of this process, two of them. */
static cpb_host *own_host(int32_t cpu[2])
{
    cpb_host *host = cpb_host_empty(NULL);
    char list[32], status[64];
    cpu_set_t set;
    int n = 0;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    for (size_t i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET(i, &set))
            cpu[n++] = (int32_t)i;
    if (n < 2)
        skip();
    snprintf(list, sizeof list, "%d,%d\n", (int)cpu[0], (int)cpu[1]);
    snprintf(status, sizeof status, "Cpus_allowed_list:\t%s", list);
    cpb_host_put(host, "sys/devices/system/cpu/online", list, strlen(list), 0, NULL);
    cpb_host_put(host, "sys/devices/system/node/online", "0\n", 2, 0, NULL);
    cpb_host_put(host, "sys/devices/system/node/node0/cpulist", list, strlen(list), 0, NULL);
    cpb_host_put(host, "proc/self/status", status, strlen(status), 0, NULL);
    return host;
}

static int32_t cpus_of(pid_t pid)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(pid, sizeof set, &set), 0);
    return CPU_COUNT(&set);
}

static void put_on(pid_t pid, int32_t cpu, int32_t other)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    CPU_SET((size_t)other, &set);
    assert_int_equal(sched_setaffinity(pid, sizeof set, &set), 0);
}

static pid_t start_child(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails does not end it */
        for (;;)
            pause();
    }
    return pid;
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

TEST(a_process_is_bound_verified_bound_again_and_restored)
{
    int32_t cpu[2];
    char allowed[32];
    cpb_error *error = NULL;
    cpb_host *host = own_host(cpu);
    const pid_t child = start_child();
    const char *const options[] = {"npu=0",
                                   "total=1",
                                   "device-type=950",
                                   "rules=reference",
                                   "strategy=global_slice",
                                   allowed,
                                   "memory=none",
                                   "any-arch=yes",
                                   NULL};
    cpb_binding *b, *later;
    snprintf(allowed, sizeof allowed, "allowed=%d", (int)cpu[1]);
    put_on(child, cpu[0], cpu[1]);
    b = cpb_bind(host, child, options, &error);
    if (!b)
        fail_msg("%s", cpb_error_text(error));
    cpb_host_close(host);
    assert_int_equal(cpus_of(child), 1);
    assert_int_equal(cpb_binding_verify(b, &error), 0);
    assert_null(cpb_bind(NULL, child, options, &error)); /* one binding at a time */
    assert_string_equal(cpb_error_code(error), "busy");
    cpb_error_free(error);
    error = NULL;
    put_on(child, cpu[0], cpu[1]);
    later = cpb_binding_open(child, NULL, &error);
    assert_non_null(later);
    assert_int_equal(cpb_binding_verify(later, &error), 1);
    assert_non_null(strstr(cpb_binding_json(later), "\"wrong\""));
    assert_int_equal(cpb_binding_again(later, &error), -1);
    assert_string_equal(cpb_error_code(error), "usage");
    cpb_error_free(error);
    error = NULL;
    assert_int_equal(cpb_binding_again(b, &error), 1);
    assert_int_equal(cpus_of(child), 1);
    cpb_binding_close(b);
    assert_int_equal(cpus_of(child), 1); /* closing changes nothing */
    assert_int_equal(cpb_binding_restore(later, &error), 1);
    assert_int_equal(cpus_of(child), 2);
    assert_int_equal(cpb_binding_restore(later, &error), 0);
    cpb_binding_close(later);
    end_child(child);
    assert_null(cpb_binding_open(child, NULL, &error));
    assert_string_equal(cpb_error_code(error), "gone");
    cpb_error_free(error);
}

static void put_gpu(cpb_host *host, int address, int cpu)
{
    char name[96], list[32];
    const struct {
        const char *name, *text;
    } files[] = {{"vendor", "0x10de\n"}, {"device", "0x2330\n"}, {"class", "0x030200\n"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(name, sizeof name, "sys/bus/pci/devices/0000:%02d:00.0/%s", address,
                 files[i].name);
        assert_int_equal(
            cpb_host_put(host, name, files[i].text, strlen(files[i].text), 0, NULL), 0);
    }
    snprintf(name, sizeof name, "sys/bus/pci/devices/0000:%02d:00.0/numa_node", address);
    snprintf(list, sizeof list, "%d\n", address - 1);
    assert_int_equal(cpb_host_put(host, name, list, strlen(list), 0, NULL), 0);
    snprintf(name, sizeof name, "sys/devices/system/node/node%d/cpulist", address - 1);
    snprintf(list, sizeof list, "%d\n", cpu);
    assert_int_equal(cpb_host_put(host, name, list, strlen(list), 0, NULL), 0);
}

/* A host of two GPUs, each on a node of one CPU of this process. */
static cpb_host *own_gpus(int32_t cpu[2])
{
    cpb_host *host = own_host(cpu);
    put_gpu(host, 1, (int)cpu[0]);
    put_gpu(host, 2, (int)cpu[1]);
    return host;
}

TEST(a_process_is_bound_to_an_accelerator)
{
    int32_t cpu[2];
    cpb_error *error = NULL;
    cpb_host *host = own_gpus(cpu);
    const pid_t child = start_child();
    const char *const by_address[] = {"device=gpu1", "memory=none", NULL};
    const char *const by_rank[] = {"class=0302", "rank=0", "memory=none", NULL};
    cpu_set_t set;
    cpb_binding *b;
    put_on(child, cpu[0], cpu[1]);
    for (int i = 0; i < 2; i++) {
        b = cpb_bind(host, child, i == 0 ? by_address : by_rank, &error);
        if (!b)
            fail_msg("%s", cpb_error_text(error));
        assert_int_equal(sched_getaffinity(child, sizeof set, &set), 0);
        assert_int_equal(CPU_COUNT(&set), 1);
        assert_true(CPU_ISSET((size_t)cpu[1 - i], &set));
        assert_non_null(strstr(cpb_binding_json(b), i == 0 ? "\"pci\": \"0000:02:00.0\""
                                                           : "\"pci\": \"0000:01:00.0\""));
        assert_int_equal(cpb_binding_verify(b, &error), 0);
        put_on(child, cpu[0], cpu[1]);
        assert_int_equal(cpb_binding_verify(b, &error), 1);
        assert_int_equal(cpb_binding_again(b, &error), 1);
        assert_int_equal(cpus_of(child), 1);
        cpb_binding_close(b);
        b = cpb_binding_open(child, NULL, &error);
        assert_non_null(b);
        assert_int_equal(cpb_binding_verify(b, &error), 0);
        assert_int_equal(cpb_binding_restore(b, &error), 1);
        assert_int_equal(cpus_of(child), 2);
        cpb_binding_close(b);
    }
    cpb_host_close(host);
    end_child(child);
}

TEST(an_accelerator_that_is_not_there_is_refused)
{
    static const struct {
        const char *option[2], *code, *words;
    } rows[] = {
        {{"class=0302", NULL}, "usage", "say which device"},
        {{"pci=0000:02:00.0", "npu=0"}, "usage", "about NPUs"},
        {{"pci=0000:07:00.0", NULL}, "refused", "there is no PCI function 0000:07:00.0"},
        {{"npu=1", NULL}, "refused", "(2 nvidia): there is no npu1; device names gpu0-1"},
        {{"device=gpu2", NULL}, "refused", "there is no gpu2 here; this process sees gpu0-1"},
        {{"device=1", "rank=0"}, "usage", "name the device"},
        {{"rank=2", NULL}, "refused", "rank 2 is none of the 2 devices"},
        {{"class=0302", "rank=2"}, "refused", "rank 2 is none of the 2 devices"}};
    int32_t cpu[2];
    cpb_host *host = own_gpus(cpu);
    const pid_t child = start_child();
    const int32_t before = cpus_of(child);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const options[] = {rows[i].option[0], rows[i].option[1], NULL};
        cpb_error *error = NULL;
        assert_null(cpb_bind(host, child, options, &error));
        expect_error(&error, rows[i].code, rows[i].words);
        assert_int_equal(cpus_of(child), before);
    }
    cpb_host_close(host);
    end_child(child);
}

TEST(what_cannot_be_bound_is_refused_before_anything_changes)
{
    static const struct {
        const char *option, *code, *words;
    } rows[] = {{"scope=own", "usage", "say which device: device=NAME"},
                {"npu=x", "usage", "npu \"x\", character 1"},
                {"npu=0", "not_arm", "use rules=near"},
                {"watch=1", "usage", "there is no option \"watch\""},
                {"state=/tmp/x", "usage", "is found without it now: in $XDG_RUNTIME_DIR"}};
    int32_t cpu[2];
    cpb_host *host = own_host(cpu);
    const pid_t child = start_child();
    const int32_t before = cpus_of(child);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const options[] = {rows[i].option, "rules=reference", "total=1",
                                       "device-type=950", NULL};
        cpb_error *error = NULL;
#if defined(__arm__) || defined(__aarch64__)
        if (strcmp(rows[i].code, "not_arm") == 0)
            continue;
#endif
        assert_null(cpb_bind(host, child, options, &error));
        assert_string_equal(cpb_error_code(error), rows[i].code);
        assert_non_null(strstr(cpb_error_text(error), rows[i].words));
        cpb_error_free(error);
        assert_int_equal(cpus_of(child), before);
    }
    end_child(child);
    cpb_host_close(host);
}

static void *bind_this_thread(void *plan)
{
    cpb_error *error = NULL;
    const int32_t bad = cpb_bind_thread((cpb_plan *)plan, 7, "main", &error);
    const int is_usage = bad == -1 && strcmp(cpb_error_code(error), "usage") == 0;
    cpb_error_free(error);
    return is_usage && cpb_bind_thread((cpb_plan *)plan, 0, "main", NULL) == 0 &&
                   cpus_of(0) == 1
               ? NULL
               : plan;
}

TEST(a_thread_binds_itself_alone)
{
    int32_t cpu[2];
    char allowed[32];
    const char *const options[] = {
        "npus=0", "total=1", "device-type=950", "rules=reference", "strategy=global_slice",
        allowed,  NULL};
    cpb_host *host = own_host(cpu);
    const int32_t before = cpus_of(0);
    pthread_t thread;
    cpb_plan *plan;
    void *failed;
    snprintf(allowed, sizeof allowed, "allowed=%d", (int)cpu[1]);
    plan = cpb_plan_make(host, options, NULL);
    assert_non_null(plan);
    assert_int_equal(pthread_create(&thread, NULL, bind_this_thread, plan), 0);
    pthread_join(thread, &failed);
    assert_null(failed);
    assert_int_equal(cpus_of(0), before);
    cpb_plan_free(plan);
    cpb_host_close(host);
}

/* == Mixed pools ============================================================ */

TEST(the_budget_is_that_of_the_core)
{
    assert_int_equal(cpb_cpu_budget(64, 8, 4, 8), 4);
    assert_int_equal(cpb_cpu_budget(64, 8, 4, 0), 4); /* 0 is the usual ratio */
    assert_int_equal(cpb_cpu_budget(64, 0, 4, 8), INT32_MAX);
    assert_int_equal(cpb_cpu_budget(64, 8, 0, 8), 0);
    assert_string_equal(cpb_next_pool(64, 3, 8, 4, 8), "cpu");
    assert_string_equal(cpb_next_pool(64, 4, 8, 4, 8), "device");
    assert_string_equal(cpb_next_pool(64, 4, 0, 0, 8), "nobody");
    assert_int_equal(cpb_abi(), CPB_ABI);
    assert_string_equal(cpb_version(), CPUBIND_VERSION);
}

TEST_FILE(NULL, NULL)
