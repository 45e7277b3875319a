/* test_host_place.c - where a process that is to start belongs, by the devices that it is given
 * SPDX-License-Identifier: MIT
 *
 * The hosts are fixture hosts, on which nobody uses a device; the numbers of device files are
 * those of this test.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "../../adapters/host/host_place.h"
#include "../../adapters/text/cpulist.h"
#include "../support/fixture_host.h"
#include "../support/test.h"

static struct {
    cpubind_sys calls;
    int mallocs_left; /* below 0: as many as are asked for */
    const char *drivers;
    cpubind_linux_host *fixture;
    cpubind_source inner, source;
    cpubind_pci_request devices;
    cpubind_host_bind *h;
} f;

static void *few_mallocs(size_t size)
{
    return f.mallocs_left == 0 || f.mallocs_left-- == 0 ? NULL : malloc(size);
}

static cpubind_input read_input(void *ctx, const char *name)
{
    (void)ctx;
    if (strcmp(name, "proc/devices") != 0)
        return f.inner.read(f.inner.ctx, name);
    if (!f.drivers)
        return (cpubind_input){.state = CPUBIND_INPUT_FAILED, .error = EIO};
    return (cpubind_input){
        .state = CPUBIND_INPUT_PRESENT, .data = f.drivers, .len = (int32_t)strlen(f.drivers)};
}

static cpubind_input list_input(void *ctx, const char *name)
{
    (void)ctx;
    return f.inner.list(f.inner.ctx, name);
}

static void close_host(void)
{
    cpubind_host_bind_close(f.h);
    cpubind_linux_close(f.fixture);
    f.h = NULL;
    f.fixture = NULL;
}

static void open_host(const char *name, int has_listed)
{
    char path[512];
    const char *tests = getenv("CPUBIND_TESTS");
    cpubind_host_options options = {.has_listed = has_listed, .sys = &f.calls};
    close_host();
    (void)snprintf(path, sizeof path, "%s/../fixtures/hosts/%s.host", tests ? tests : "tests",
                   name);
    f.fixture = fixture_host(path);
    f.inner = cpubind_linux_source(f.fixture);
    f.source = (cpubind_source){NULL, read_input, list_input};
    f.devices = (cpubind_pci_request){.class_code = 0};
    options.source = &f.source;
    options.devices = has_listed ? NULL : &f.devices;
    options.request.is_auto_strategy = 1;
    assert_int_equal(cpubind_host_bind_open(&options, &f.h, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_host_bind_prepare(f.h), CPUBIND_PROBLEM_NONE);
}

SETUP(set_up)
{
    memset(&f, 0, sizeof f);
    f.calls = cpubind_sys_real;
    f.calls.malloc = few_mallocs;
    f.mallocs_left = -1;
    f.drivers = "Character devices:\n  1 mem\n195 nvidia\n236 devdrv-cdev\n\n";
    return 0;
}

SETUP(tear_down)
{
    close_host();
    return 0;
}

static cpubind_problem_code find(const char *cpus, const char *mems, const char *devices,
                                 cpubind_host_place *out, cpubind_problem *problem)
{
    const cpubind_host_grant grant = {cpus,
                                      mems,
                                      (int32_t)strlen(cpus),
                                      (int32_t)strlen(mems),
                                      devices,
                                      (int32_t)strlen(devices)};
    return cpubind_host_find_place(f.h, &grant, out, problem);
}

static const char *list(const int32_t *id, int32_t n)
{
    static char text[2][512];
    static int turn;
    int32_t len = 0;
    turn = !turn;
    assert_int_equal(cpubind_cpulist_format(id, n, text[turn], sizeof text[0] - 1, &len),
                     CPUBIND_TEXT_OK);
    text[turn][len] = '\0';
    return text[turn];
}

/* One place: what is asked, and what comes. */
typedef struct place_case {
    const char *cpus, *mems, *devices;
    cpubind_problem_code code;
    const char *at, *nodes; /* of the place */
    int32_t n_device, n_main;
} place_case;

static void check_all(const place_case *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const place_case *row = &rows[i];
        cpubind_host_place place;
        cpubind_problem problem;
        const cpubind_problem_code code =
            find(row->cpus, row->mems, row->devices, &place, &problem);
        if (code != row->code || problem.code != row->code)
            fail_msg("%s: %s", row->devices, cpubind_problem_word(code));
        if (code != CPUBIND_PROBLEM_NONE)
            continue;
        if (strcmp(list(place.cpu, place.n_cpu), row->at) != 0 ||
            strcmp(list(place.node, place.n_node), row->nodes) != 0)
            fail_msg("%s: CPUs %s, nodes %s", row->devices, list(place.cpu, place.n_cpu),
                     list(place.node, place.n_node));
        assert_int_equal(place.n_device, row->n_device);
        assert_int_equal(place.n_main, row->n_main);
    }
}

#define CHECK_ALL(rows) check_all(rows, sizeof(rows) / sizeof *(rows))

#define NONE CPUBIND_PROBLEM_NONE

/* == Places ================================================================= */

TEST(devices_whose_driver_lists_their_users)
{
    static const place_case rows[] = {
        {"", "", "236:0", NONE, "18-20,24-29,42-44", "", 1, 8},
        {"0-47", "0-3", "236:0", NONE, "18-20,24-29,42-44", "1-3", 1, 8},
        {"0-47", "0-3", "ascend=0", NONE, "18-20,24-29,42-44", "1-3", 1, 8},
        {"0-47", "0,2", "ascend=Ascend910-0", NONE, "18-20,24-29,42-44", "2", 1, 8},
        {"0-47", "0", "ascend=0", NONE, "18-20,24-29,42-44", "", 1, 8},
        {"24-47", "", "ascend=0", NONE, "24-29,42-44", "", 1, 5},
        {"0-47", "", "ascend=2-3", NONE, "0-17,36-41", "", 2, 8},
        {"0-47", "", "ascend=3,ascend=2,236:2", NONE, "0-17,36-41", "", 2, 8},
        {"0-40", "", "ascend=2-3", NONE, "0-17,36-40", "", 2, 7},
        {"24-28", "", "236:0", NONE, "24-28", "", 1, 1},
        /* Files of other drivers, and of devices that the plan has not. */
        {"0-47", "0-3", "1:3,10:229,236:99", NONE, "", "", 0, 0},
        {"0-47", "0-3", "1:3,236:0", NONE, "18-20,24-29,42-44", "1-3", 1, 8},
        {"0-47", "0-3", "", NONE, "", "", 0, 0},
        {"24-27", "", "236:0", CPUBIND_PROBLEM_TOO_FEW_CPUS, NULL, NULL, 0, 0},
        {"0-47", "", "ascend=4", CPUBIND_PROBLEM_UNKNOWN_DEVICE, NULL, NULL, 0, 0},
        {"0-47", "", "ascend=3-4", CPUBIND_PROBLEM_UNKNOWN_DEVICE, NULL, NULL, 0, 0},
        {"0-47", "", "ascend=3-2", CPUBIND_PROBLEM_UNKNOWN_DEVICE, NULL, NULL, 0, 0},
        {"0-47", "", "ascend=", CPUBIND_PROBLEM_UNKNOWN_DEVICE, NULL, NULL, 0, 0},
        {"0-47", "", "nvidia=0", CPUBIND_PROBLEM_UNKNOWN_DEVICE, NULL, NULL, 0, 0},
        {"0-47", "", "huawei=0", CPUBIND_PROBLEM_UNKNOWN_DEVICE, NULL, NULL, 0, 0},
        {"0-47", "", "236", CPUBIND_PROBLEM_UNKNOWN_DEVICE, NULL, NULL, 0, 0},
        {"0-47", "", "236:0,", NONE, "18-20,24-29,42-44", "", 1, 8},
        {"0-47", "", ",236:0", CPUBIND_PROBLEM_UNKNOWN_DEVICE, NULL, NULL, 0, 0},
        {"0-", "", "236:0", CPUBIND_PROBLEM_BAD_REQUEST, NULL, NULL, 0, 0},
        {"0-47", "a", "236:0", CPUBIND_PROBLEM_BAD_REQUEST, NULL, NULL, 0, 0},
    };
    open_host("a2-driver-host", 1);
    CHECK_ALL(rows);
}

TEST(devices_of_the_bus)
{
    static const place_case rows[] = {
        {"", "0-1", "nvidia=0", NONE, "0-71", "0", 1, 72},
        {"", "0-1", "195:1", NONE, "72-143", "1", 1, 72},
        {"", "0-3", "nvidia=GPU-1a2b3c41-0000-4000-8000-000000000001", NONE, "72-143", "1", 1,
         72},
        {"70-80", "0-1", "nvidia=0-1", NONE, "70-80", "0-1", 2, 2},
        {"", "", "195:255,195:0", NONE, "0-71", "", 1, 72},
        {"", "", "nvidia=GPU-1a2b3c41", CPUBIND_PROBLEM_UNKNOWN_DEVICE, NULL, NULL, 0, 0},
        {"", "", "nvidia=MIG-1a2b3c41-0000-4000-8000-000000000001",
         CPUBIND_PROBLEM_UNKNOWN_DEVICE, NULL, NULL, 0, 0},
        {"", "", "nvidia=2", CPUBIND_PROBLEM_UNKNOWN_DEVICE, NULL, NULL, 0, 0},
        {"0-71", "", "nvidia=1", CPUBIND_PROBLEM_TOO_FEW_CPUS, NULL, NULL, 0, 0},
    };
    open_host("gpu-grace-2gh200", 0);
    CHECK_ALL(rows);
}

TEST(a_refusal_names_what_it_is_about)
{
    cpubind_host_place place;
    cpubind_problem problem;
    open_host("a2-driver-host", 1);
    assert_int_equal(find("0-2", "", "236:2", &place, &problem), CPUBIND_PROBLEM_TOO_FEW_CPUS);
    assert_int_equal(problem.device, 2);
    assert_int_equal(problem.have, 3);
    assert_int_equal(problem.need, 5);
    assert_int_equal(find("", "", "236:2,ascend=7,236:1", &place, &problem),
                     CPUBIND_PROBLEM_UNKNOWN_DEVICE);
    assert_int_equal(place.about.at, 6);
    assert_int_equal(place.about.len, 8);
}

/* What could not be read is not taken for a device that is not there. */
TEST(numbers_that_cannot_be_read_are_no_absent_device)
{
    cpubind_host_place place;
    cpubind_problem problem;
    open_host("a2-driver-host", 1);
    f.drivers = NULL;
    assert_int_equal(find("", "", "236:2", &place, &problem), CPUBIND_PROBLEM_UNREADABLE);
    f.drivers = "";
    assert_int_equal(find("", "", "236:2", &place, &problem), NONE);
    assert_int_equal(place.n_device, 0);
}

TEST(the_settings_choose_the_cpus)
{
    static int32_t allowed[24];
    cpubind_host_place place;
    cpubind_problem problem;
    cpubind_host_options options = {.has_listed = 1, .sys = &f.calls, .source = &f.source};
    open_host("a2-driver-host", 1);
    cpubind_host_bind_close(f.h);
    for (int32_t i = 0; i < 24; i++)
        allowed[i] = i;
    options.request.is_auto_strategy = 1;
    options.request.allowed = allowed;
    options.request.n_allowed = 24;
    assert_int_equal(cpubind_host_bind_open(&options, &f.h, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_host_bind_prepare(f.h), CPUBIND_PROBLEM_NONE);
    assert_int_equal(find("", "", "ascend=0-3", &place, &problem), NONE);
    assert_string_equal(list(place.cpu, place.n_cpu), "0-23");
    assert_int_equal(find("", "", "236:2", &place, &problem), NONE);
    assert_int_equal(place.n_cpu, 6);
}

TEST(without_memory_it_is_said)
{
    cpubind_host_place place;
    cpubind_problem problem;
    cpubind_problem_code code = CPUBIND_PROBLEM_NO_MEMORY;
    for (int n = 0; code == CPUBIND_PROBLEM_NO_MEMORY && n < 100; n++) {
        open_host("a2-driver-host", 1);
        f.mallocs_left = n;
        code = find("0-47", "0-3", "236:0", &place, &problem);
        f.mallocs_left = -1;
        assert_true(n > 0 || code == CPUBIND_PROBLEM_NO_MEMORY);
    }
    assert_int_equal(code, NONE);
    assert_string_equal(list(place.cpu, place.n_cpu), "18-20,24-29,42-44");
}

TEST_FILE(set_up, tear_down)
