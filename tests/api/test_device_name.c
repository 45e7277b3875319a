/* test_device_name.c - each name of a device is that of one device of a host, or is refused
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/api/device_plan.h"
#include "../../adapters/linux/source/host_files.h"
#include "../../adapters/linux/source/host_source.h"
#include "../support/test.h"

#define NPUS   "a2-192cpu-8npu"
#define GPUS   "gpu-2socket-8h100" /* of which two are visible */
#define TILES  "gpu-4max1550"
#define MIXED  "gpu-beside-npu"
#define OTHERS "gpu-mixed-vendors"

/* What a list names: NPUs, or functions of the bus, each with its tile behind a "/". */
static const struct {
    const char *host;
    enum api_command command;
    const char *text, *named;
} rows[] = {
    {NPUS, API_PLAN, "npu3", "npus 3"},
    {NPUS, API_PLAN, "NPU3", "npus 3"},
    {NPUS, API_PLAN, "3", "npus 3"},
    {NPUS, API_PLAN, "device3", "npus 3"},
    {NPUS, API_PLAN, "npu0-2,5", "npus 0-2,5"},
    {NPUS, API_PLAN, " 5 , npu0-6:2, 5", "npus 0,2,4-6"},
    {NPUS, API_PLAN, "0000:86:00.0", "npus 3"},
    {NPUS, API_PLAN, "86:00.0,npu0", "npus 0,3"},
    {NPUS, API_TOPO, "npu3", "0000:86:00.0"},
    {NPUS, API_RUN, "3", "npu 3"},
    {NPUS, API_RUN, "86:00.0", "npu 3"},
    {NPUS, API_PLAN, "gpu0", "there is no gpu0 here; this process sees npu0-7"},
    {NPUS, API_TOPO, "npu9", "there is no npu9 here; this process sees npu0-7"},
    {GPUS, API_PLAN, "gpu0", "0000:9a:00.0"},
    {GPUS, API_PLAN, "1,gpu0", "0000:19:00.0 0000:9a:00.0"},
    {GPUS, API_PLAN, "0-1", "0000:9a:00.0 0000:19:00.0"},
    {GPUS, API_RUN, "gpu7", "0000:bb:00.0"},         /* as this process sees them */
    {GPUS, API_RUN, "0000:01:00.0", "0000:01:00.0"}, /* any function */
    {GPUS, API_PLAN, "gpu2", "there is no gpu2 here; this process sees gpu0-1"},
    {GPUS, API_PLAN, "2", "there is no device 2 here; this process sees gpu0-1"},
    {TILES, API_PLAN, "gpu0", "0000:3a:00.0/0"},
    {TILES, API_STATUS, "1", "0000:3a:00.0/1"},
    {TILES, API_RUN, "1", "0000:29:00.0/1"} /* as this process sees them */,
    {TILES, API_PLAN, "3a:00.0", "0000:3a:00.0"},
    {MIXED, API_PLAN, "npu0-1", "npus 0-1"},
    {MIXED, API_PLAN, "gpu0", "0000:61:00.0"},
    {MIXED, API_PLAN, "npu1,gpu0", "0000:43:00.0 0000:61:00.0"},
    {MIXED, API_RUN, "0000:43:00.0", "npu 1"},
    {MIXED, API_STATUS, "npu1,gpu0", "0000:43:00.0 0000:61:00.0"},
    {MIXED, API_DOCTOR, "npu1,gpu0",
     "NPUs and other devices are named: name those of one kind"},
    {MIXED, API_PLAN, "0",
     "device 0 may be npu0, gpu0 (0000:61:00.0): name it in full, or by its address"},
    {MIXED, API_PLAN, "1", "device 1 may be npu1: name it in full, or by its address"},
    {MIXED, API_PLAN, "7", "there is no device 7 here; this process sees npu0-1, gpu0"},
    {OTHERS, API_PLAN, "gpu0",
     "gpu0 may be gpu0 (0000:65:00.0), gpu0 (0000:98:00.0): name it in full, or by its "
     "address"},
    {OTHERS, API_PLAN, "0000:b3:00.0", "0000:b3:00.0"},
};

static void open_host(const char *name, api_host *out)
{
    cpubind_bytes bytes = {0};
    cpubind_text_fault fault;
    char path[128];
    snprintf(path, sizeof path, "fixtures/hosts/%s.host", name);
    assert_int_equal(cpubind_linux_read_file(path, NULL, &bytes).error, 0);
    assert_int_equal(cpubind_linux_open_text(bytes.data, bytes.len, NULL, &out->host, &fault),
                     CPUBIND_LINUX_OK);
    out->source = cpubind_linux_source(out->host);
}

static void add_named(const api_options *o, api_text *to)
{
    if (o->one_npu >= 0)
        api_add(to, "npu %d", (int)o->one_npu);
    if (o->request.n_device > 0) {
        api_add(to, "npus ");
        api_add_list(to, o->request.device, o->request.n_device);
    }
    for (int32_t i = 0; i < o->topo.n_named; i++) {
        api_add(to, "%s", i ? " " : "");
        api_add_pci(to, &o->pci[i]);
        if (o->tile[i] >= 0)
            api_add(to, "/%d", (int)o->tile[i]);
    }
}

TEST(each_name_is_that_of_a_device)
{
    static api_options options;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char value[64];
        api_host host = {0};
        api_text named = {"", 0};
        snprintf(value, sizeof value, "%s", rows[i].text);
        open_host(rows[i].host, &host);
        api_set_usual(&options, rows[i].command);
        if (api_read_setting(&options, rows[i].command, "device", value, &named) &&
            api_find_devices(&host.source, &options, &named) == API_DONE)
            add_named(&options, &named);
        if (strcmp(named.text, rows[i].named) != 0)
            fail_msg("%s, \"%s\": %s", rows[i].host, rows[i].text, named.text);
        api_free_options(&options);
        api_close_host(&host);
    }
}

TEST(what_is_no_name_is_refused_where_it_ends)
{
    static const struct {
        const char *text, *only;
        int32_t at;
    } wrong[] = {{"a", NULL, 0},       {"npu", NULL, 3},   {"npu0,", NULL, 5},
                 {"npu0,,1", NULL, 5}, {"npu0-", NULL, 5}, {"npu3-1", NULL, 5},
                 {"0, tpu1", NULL, 3}, {"npu0x", NULL, 4}, {"0000:61:00", NULL, 4},
                 {"gpu0", "npu", 0},   {"-1", "npu", 0},   {"npu99999999", NULL, 3}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        api_names names;
        int32_t at;
        if (!api_read_names(wrong[i].text, wrong[i].only, &names, &at) || at != wrong[i].at)
            fail_msg("\"%s\": %d", wrong[i].text, (int)at);
        free(names.item);
    }
}

/* The pools of a host with other options than names: those of its visible devices. */
static void expect_pools(const char *name, const char *key, const char *text,
                         const char *expected)
{
    static api_options options;
    api_planned planned = {0};
    api_host host = {0};
    api_text found = {"", 0};
    char value[16];
    snprintf(value, sizeof value, "%s", text);
    open_host(name, &host);
    api_set_usual(&options, API_PLAN);
    options.request.process = strcmp(key, "processes") == 0;
    assert_true(api_read_setting(&options, API_PLAN, key, value, &found));
    assert_int_equal(api_plan(&host.source, &options, &planned, &found), API_DONE);
    for (int32_t i = 0; i < planned.plan.n_unit; i++) {
        const cpubind_unit *pool = &planned.plan.unit[i];
        api_add(&found, "%s", i ? "; " : "");
        api_add_list(&found, pool->role_cpu, pool->roles.span[CPUBIND_ROLE_MAIN].count);
    }
    assert_string_equal(found.text, expected);
    api_free_planned(&planned);
    api_free_options(&options);
    api_close_host(&host);
}

TEST(other_devices_have_what_only_npus_had)
{
    expect_pools(GPUS, "visible", "0,3,5", "0-23; 120-143; 72-95");
    expect_pools(GPUS, "visible", "3,0", "120-143; 0-23");
    expect_pools(GPUS, "processes", "2", "60-71; 36-47");
    expect_pools(TILES, "processes", "2", "17-19; 23-25; 49-51");
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_is_that_of_a_device),
        cmocka_unit_test(what_is_no_name_is_refused_where_it_ends),
        cmocka_unit_test(other_devices_have_what_only_npus_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

TEST_PROGRAM(run_all)
