/* test_counters.c - schedstat, times of CPUs, tables of interrupts: texts of kernels, cut texts
 * SPDX-License-Identifier: MIT
 */
#include "../../adapters/text/counters.h"
#include "text_test.h"

static const char times[] = "cpu  4142 20 18 35 86 0 26 94 0 0\n"
                            "cpu0 2048 10 8 19 17 3 4 46 9 0\n"
                            "cpu2 2093 10 9 16 68 2 21 48 0 0\n"
                            "intr 4711 0 9\n";

static const char interrupts[] = "           CPU0       CPU2       CPU3       \n"
                                 "  0:         44          1          2   IO-APIC   2-edge\n"
                                 "  8:          0          5          6   IO-APIC  rtc0\n"
                                 "LOC:    2322348    2328917          7   Local timer\n"
                                 "ERR:          0\n"
                                 "MIS:          9\n";

/* Reads at the exact length, and at each shorter one: then it fails and writes nothing, but
 * where the cut text is a whole one again. */
typedef cpubind_text_status reading(const char *text, int32_t len, void *out,
                                    cpubind_text_fault *fault);

static cpubind_text_status read_at(reading *read, const char *text, int32_t len, void *out,
                                   size_t size)
{
    char *edge = edge_text(text, len);
    cpubind_text_fault fault = no_fault;
    cpubind_text_status status;
    memset(out, EDGE_FILL, size);
    status = read(edge, len, out, &fault);
    if (status != CPUBIND_TEXT_OK) {
        assert_untouched(out, size);
        assert_in_range(fault.offset, 0, len);
        assert_non_null(fault.what);
    }
    free(edge);
    return status;
}

static cpubind_text_status schedstat(const char *text, int32_t len, void *out,
                                     cpubind_text_fault *fault)
{
    return cpubind_schedstat_parse(text, len, (cpubind_schedstat *)out, fault);
}

static const int32_t two[] = {0, 2}, missing[] = {1}, disordered[] = {2, 0};

static cpubind_text_status times_of_two(const char *text, int32_t len, void *out,
                                        cpubind_text_fault *fault)
{
    return cpubind_cpu_times_parse(text, len, two, 2, (cpubind_cpu_times *)out, fault);
}

static cpubind_text_status events_of_two(const char *text, int32_t len, void *out,
                                         cpubind_text_fault *fault)
{
    return cpubind_cpu_events_parse(text, len, two, 2, (cpubind_cpu_events *)out, fault);
}

TEST(a_schedstat_has_three_numbers)
{
    static const char text[] = "227191285 50828769 18446744073709551615\n";
    static const char *const bad[] = {"1 2\n",    "1 2 3 4\n", "1 2 3\n4",
                                      "1  2 3\n", "-1 2 3\n",  "1 2 18446744073709551616\n",
                                      "01 2 3\n"};
    cpubind_schedstat out;
    const int32_t len = (int32_t)strlen(text);
    assert_int_equal(read_at(schedstat, text, len, &out, sizeof out), CPUBIND_TEXT_OK);
    assert_true(out.run_ns == 227191285 && out.wait_ns == 50828769 && out.slices == UINT64_MAX);
    for (int32_t i = 0; i < len; i++)
        assert_int_equal(read_at(schedstat, text, i, &out, sizeof out), CPUBIND_TEXT_ERR_CUT);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_not_equal(
            read_at(schedstat, bad[i], (int32_t)strlen(bad[i]), &out, sizeof out),
            CPUBIND_TEXT_OK);
}

TEST(times_are_those_of_the_cpus_that_are_named)
{
    cpubind_cpu_times out;
    const int32_t len = (int32_t)strlen(times);
    assert_int_equal(read_at(times_of_two, times, len, &out, sizeof out), CPUBIND_TEXT_OK);
    assert_int_equal(out.all, 2048 + 10 + 8 + 19 + 17 + 3 + 4 + 46 + 2093 + 10 + 9 + 16 + 68 +
                                  2 + 21 + 48);
    assert_int_equal(out.irq, 5);
    assert_int_equal(out.softirq, 25);
    assert_int_equal(out.steal, 94);
    for (int32_t i = 0; i < (int32_t)(strstr(times, "intr") - times); i++)
        assert_int_not_equal(read_at(times_of_two, times, i, &out, sizeof out),
                             CPUBIND_TEXT_OK);
    assert_int_equal(cpubind_cpu_times_parse(times, len, missing, 1, &out, NULL),
                     CPUBIND_TEXT_ERR_MISSING);
    assert_int_equal(cpubind_cpu_times_parse(times, len, disordered, 2, &out, NULL),
                     CPUBIND_TEXT_ERR_ARG);
}

TEST(events_are_those_of_the_cpus_that_are_named)
{
    static const int32_t first[] = {0}, last[] = {3};
    static const char *const bad[] = {"",
                                      "\n",
                                      "CPU0 CPU1\n",
                                      "CPU0 CPU2\n 0 1 2\n",
                                      "CPU0 CPU2\nHI: 4294967296 1\n",
                                      "CPU0 CPU2\nHI: 1 2"};
    cpubind_cpu_events out;
    const int32_t len = (int32_t)strlen(interrupts);
    assert_int_equal(read_at(events_of_two, interrupts, len, &out, sizeof out),
                     CPUBIND_TEXT_OK);
    assert_int_equal(out.numbered, 44 + 1 + 0 + 5);
    assert_int_equal(out.named, 2322348 + 2328917);
    assert_int_equal(cpubind_cpu_events_parse(interrupts, len, last, 1, &out, NULL),
                     CPUBIND_TEXT_OK);
    assert_int_equal(out.numbered, 8);
    assert_int_equal(out.named, 7);
    assert_int_equal(cpubind_cpu_events_parse(interrupts, len, first, 1, &out, NULL),
                     CPUBIND_TEXT_OK);
    assert_int_equal(out.named, 2322348);
    assert_int_equal(cpubind_cpu_events_parse(interrupts, len, missing, 1, &out, NULL),
                     CPUBIND_TEXT_ERR_MISSING);
    for (int32_t i = 0; i < len; i++)
        assert_true((read_at(events_of_two, interrupts, i, &out, sizeof out) ==
                     CPUBIND_TEXT_OK) == (i > 0 && interrupts[i - 1] == '\n'));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_not_equal(
            read_at(events_of_two, bad[i], (int32_t)strlen(bad[i]), &out, sizeof out),
            CPUBIND_TEXT_OK);
}

TEST(bad_arguments_are_refused)
{
    cpubind_schedstat schedstat;
    cpubind_cpu_times cpu_times;
    cpubind_cpu_events events;
    assert_int_equal(cpubind_schedstat_parse(NULL, 1, &schedstat, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_schedstat_parse("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpu_times_parse("", 0, NULL, 1, &cpu_times, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpu_times_parse("", 0, two, 0, &cpu_times, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpu_events_parse("", -1, two, 2, &events, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpu_events_parse("", 0, two, 2, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
}

TEST_FILE(NULL, NULL)
