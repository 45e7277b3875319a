/* test_memory_words.c - of memory that stays on other nodes only what was found out is said
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "../../adapters/api/api.h"
#include "../support/test.h"

#define MIB (INT64_C(1) << 20)

static char heard[4096];

static void hear(void *ctx, const char *code, const char *text)
{
    (void)ctx;
    assert_string_equal(code, "memory");
    assert_string_equal(heard, "");
    snprintf(heard, sizeof heard, "%s", text);
}

static cpubind_report report_of(cpubind_memory_result result)
{
    cpubind_report report = {.device = 0, .no_irq = CPUBIND_IRQ_FOUND, .has_memory = 1};
    report.memory.pid = 4711;
    report.memory.node = 2;
    report.memory.result = result;
    report.memory.time_ms = 5000;
    report.memory.room = -1;
    return report;
}

/* What stays for one reason: the result of the move, and the sentence. */
static const struct {
    const char *name;
    cpubind_memory_result result;
    cpubind_memory_stay stay;
    int64_t room;
    int is_node_out;
    const char *text;
} cases[] = {
    {"busy", CPUBIND_MEMORY_PART, CPUBIND_STAY_BUSY, -1, 0,
     "7 MiB of memory stay on other nodes: a driver has pinned them, or the kernel uses them"},
    {"hidden", CPUBIND_MEMORY_PART, CPUBIND_STAY_HIDDEN, -1, 0,
     "7 MiB of memory stay on other nodes: the kernel does not find them: Linux 6.1 to 6.4 "
     "hide "
     "pages that NUMA balancing has marked, and pages without access; sysctl "
     "kernel.numa_balancing=0, and apply again "
     "when "
     "the process has used them"},
    {"the limit of bytes", CPUBIND_MEMORY_LIMIT, CPUBIND_STAY_LIMIT, 100 * MIB, 0,
     "7 MiB of memory stay on other nodes: moving them would exceed --memory-limit"},
    {"the limit of time", CPUBIND_MEMORY_TIME, CPUBIND_STAY_TIME, 100 * MIB, 0,
     "7 MiB of memory stay on other nodes: moving them takes longer than --memory-time allows "
     "(5 s)"},
    {"the reserve", CPUBIND_MEMORY_NO_ROOM, CPUBIND_STAY_NO_ROOM, 26 * MIB, 0,
     "7 MiB of memory stay on other nodes: node 2 is full but for its reserve of 25 MiB (26 "
     "MiB "
     "are free there)"},
    {"no page, where some are free", CPUBIND_MEMORY_NO_ROOM, CPUBIND_STAY_NO_ROOM, 3 * MIB, 1,
     "7 MiB of memory stay on other nodes: the kernel finds no free page on node 2 (3 MiB are "
     "free there)"},
    {"no page, and what is free is not known", CPUBIND_MEMORY_NO_ROOM, CPUBIND_STAY_NO_ROOM, -1,
     1, "7 MiB of memory stay on other nodes: the kernel finds no free page on node 2"},
    {"a signal", CPUBIND_MEMORY_STOPPED, CPUBIND_STAY_STOPPED, -1, 0,
     "7 MiB of memory stay on other nodes: the move was interrupted; process 4711 is bound"},
};

TEST(each_reason_is_said)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cpubind_report report = report_of(cases[i].result);
        report.memory.own = 16 * MIB;
        report.memory.own_left = report.memory.stay[cases[i].stay] = 7 * MIB - 1;
        report.memory.room = cases[i].room;
        report.memory.reserve = 25 * MIB;
        report.memory.is_node_out = cases[i].is_node_out;
        *heard = '\0';
        api_warn_rest(&report, hear, NULL);
        if (strcmp(heard, cases[i].text) != 0)
            fail_msg("%s: %s", cases[i].name, heard);
    }
}

TEST(of_two_reasons_each_has_its_part)
{
    cpubind_report report = report_of(CPUBIND_MEMORY_TIME);
    report.memory.own_left = 9 * MIB;
    report.memory.stay[CPUBIND_STAY_SHARED] = 40 * MIB;
    report.memory.stay[CPUBIND_STAY_BUSY] = 2 * MIB;
    report.memory.stay[CPUBIND_STAY_TIME] = 7 * MIB;
    *heard = '\0';
    api_warn_rest(&report, hear, NULL);
    assert_string_equal(heard,
                        "9 MiB of memory stay on other nodes: 2 MiB: a driver has pinned them, "
                        "or the kernel uses them; 7 MiB: moving them takes longer than "
                        "--memory-time allows (5 s)");
}

TEST(nothing_is_said_when_nothing_of_its_own_stays)
{
    for (int result = CPUBIND_MEMORY_MOVED; result <= CPUBIND_MEMORY_STOPPED; result++) {
        cpubind_report report = report_of((cpubind_memory_result)result);
        report.memory.stay[CPUBIND_STAY_SHARED] = 40 * MIB;
        *heard = '\0';
        api_warn_rest(&report, hear, NULL);
        assert_string_equal(heard, "");
    }
}

/* What verify says, and whether it calls it a drift, of own memory of 100 MiB. */
static const struct {
    const char *name;
    int64_t away_mib, left_mib;
    int is_wrong;
    const char *text;
} verified[] = {
    {"all is there", 0, 0, 0, ""},
    {"apply has left some, and it has come since", 0, 40, 0, ""},
    {"a tenth is elsewhere", 10, 0, 0, ""},
    {"more is elsewhere", 11, 0, 1, ""},
    {"apply has left it", 40, 40, 0,
     "40 MiB of memory are where apply has left them, on other nodes (time): apply again"},
    {"apply has left more", 30, 40, 0,
     "30 MiB of memory are where apply has left them, on other nodes (time): apply again"},
    {"apply has left it, and a tenth is elsewhere", 50, 40, 0,
     "40 MiB of memory are where apply has left them, on other nodes (time): apply again"},
    {"apply has left it, and more is elsewhere", 51, 40, 1,
     "40 MiB of memory are where apply has left them, on other nodes (time): apply again"},
};

TEST(verify_tells_what_was_left_from_drift)
{
    static const api_bound bound = {.is_reading = 1};
    for (size_t i = 0; i < sizeof verified / sizeof *verified; i++) {
        cpubind_report report = report_of(CPUBIND_MEMORY_MOVED);
        report.memory.own = 100 * MIB;
        report.memory.own_left = verified[i].away_mib * MIB;
        report.memory_left = verified[i].left_mib * MIB;
        report.left_why = CPUBIND_STAY_TIME;
        *heard = '\0';
        api_warn_outcome(&bound, &report, hear, NULL);
        if (strcmp(heard, verified[i].text) != 0 ||
            cpubind_bind_memory_is_wrong(&report) != verified[i].is_wrong)
            fail_msg("%s: %s", verified[i].name, heard);
    }
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reason_is_said),
        cmocka_unit_test(of_two_reasons_each_has_its_part),
        cmocka_unit_test(nothing_is_said_when_nothing_of_its_own_stays),
        cmocka_unit_test(verify_tells_what_was_left_from_drift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

TEST_PROGRAM(run_all)
