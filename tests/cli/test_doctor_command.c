/* test_doctor_command.c - how cpubind doctor prints: width, JSON, exit statuses, unknowns
 * SPDX-License-Identifier: MIT
 *
 * The checks themselves are tested in tests/doctor.
 */
#include "answer.h"

#define HOSTS "fixtures/hosts/"

/* A host whose plan has poor locality. */
#define POOR HOSTS "a2-driver-smi-host.host"

static void expect_width(const char *text, const char *host)
{
    while (*text) {
        const size_t n = strcspn(text, "\n");
        if (n > 80)
            fail_msg("%s: %zu columns: %.*s", host, n, (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static void fits_80_columns(void **state)
{
    static const char *const names[] = {POOR, HOSTS "a2-192cpu-4node-8npu.host",
                                        HOSTS "950-ub-8npu.host", HOSTS "a3-640cpu-16npu.host",
                                        HOSTS "a2-nothing-online.host"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        command_result r = RUN("doctor", "--root", names[i]);
        expect_width(r.out, names[i]);
        assert_non_null(strstr(r.out, " checks: "));
        command_free(&r);
    }
}

static void prints_evidence_cost_and_command(void **state)
{
    command_result r = RUN("doctor", "--rules", "reference", "--root", POOR);
    (void)state;
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.out, "poor_locality: severe\n"
                                  "  found   2 of 4 pools have no CPU near their NPU"));
    assert_non_null(strstr(r.out, "\n  costs   each launch"));
    assert_non_null(strstr(r.out, "\n  mend    export CPUBIND_RULES=near\n"
                                  "  then    start the workers again"));
    assert_string_equal(r.err, "");
    command_free(&r);
}

/* No command mends a driver that does not answer: the command shows more, and says so. */
static void names_a_command_that_only_shows_more(void **state)
{
    command_result r = RUN("doctor", "--root", HOSTS "a2-info-hangs.host");
    json_t *report = json_of(RUN("doctor", "--root", HOSTS "a2-info-hangs.host", "--json"));
    const json_t *findings = json_object_get(report, "findings");
    int n = 0;
    (void)state;
    assert_non_null(strstr(r.out, "npu_smi_slow: minor\n"));
    assert_non_null(strstr(r.out, "\n  inspect npu-smi info -l; dmesg | grep -i -e devdrv"));
    assert_null(strstr(r.out, "\n  mend    npu-smi"));
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *one = json_array_get(findings, i);
        if (strcmp(text_at(one, "check"), "npu_smi_slow") != 0)
            continue;
        assert_true(json_is_false(json_object_get(one, "mends")));
        n++;
    }
    assert_int_equal(n, 1);
    json_decref(report);
    command_free(&r);
}

/* The advice followed: with the rules near nothing is left. */
static void judges_the_plan_of_its_options(void **state)
{
    (void)state;
    expect_output(RUN("doctor", "--root", POOR, "--rules", "near"), "; 0 to mend\n");
}

static void never_takes_unknown_for_right(void **state)
{
    json_t *report = json_of(RUN("doctor", "--root", POOR, "--json"));
    const json_t *unknown = json_object_get(report, "unknown");
    const json_t *right = json_object_get(report, "right");
    int n = 0;
    (void)state;
    for (size_t i = 0; i < json_array_size(unknown); i++) {
        const json_t *u = json_array_get(unknown, i);
        n += strcmp(text_at(u, "check"), "autonuma") == 0 &&
             strcmp(text_at(u, "input"), "proc/sys/kernel/numa_balancing") == 0 &&
             strstr(text_at(u, "why"), "is not there") != NULL;
        for (size_t k = 0; k < json_array_size(right); k++)
            assert_string_not_equal(json_string_value(json_array_get(right, k)),
                                    text_at(u, "check"));
    }
    assert_int_equal(n, 1);
    json_decref(report);
}

static void says_why_there_is_no_plan(void **state)
{
    command_result r = RUN("doctor", "--root", HOSTS "a2-cut-map.host", "--facts", "npu-smi");
    json_t *report;
    (void)state;
    assert_int_equal(r.status, 3);
    assert_non_null(strstr(r.err, "cpubind: there is no plan: "));
    command_free(&r);
    report = json_of(RUN("doctor", "--root", HOSTS "too-few.host", "--json"));
    assert_string_equal(text_at(json_object_get(report, "no_plan"), "code"), "too_few_cpus");
    json_decref(report);
    r = RUN("doctor", "--root", HOSTS "too-few.host");
    assert_int_equal(r.status, 1);
    command_free(&r);
}

/* Without an NPU the plan of the other devices is judged; who uses them a snapshot does not
 * say. */
static void judges_a_host_of_other_accelerators(void **state)
{
    static const char script[] =
        "d=$(mktemp -d) && \"$1\" fixture export gpu-2socket-8h100 \"$d/h\" --quiet && "
        "mkdir -p \"$d/h/proc/sys/kernel\" && echo 1 >\"$d/h/proc/sys/kernel/numa_balancing\" "
        "&& \"$1\" doctor --root \"$d/h\"; s=$?; rm -r \"$d\"; exit $s";
    const char *const words[] = {"sh", "-c", script, "sh", command_path(), NULL};
    command_result r = RUN("doctor", "--root", HOSTS "gpu-2socket-8h100.host");
    json_t *report = json_of(RUN("doctor", "--root", HOSTS "gpu-2socket-8h100.host", "--json"));
    (void)state;
    assert_int_equal(r.status, 0);
    assert_string_equal(r.err, "");
    assert_non_null(strstr(r.out, " 2 checks of NPUs: this host has no NPU\n"));
    assert_non_null(strstr(r.out, " checks of workers: a snapshot does not say who has files"));
    assert_null(strstr(r.out, "there is no plan"));
    expect_width(r.out, "gpu-2socket-8h100");
    assert_true(json_is_null(json_object_get(report, "no_plan")));
    json_decref(report);
    command_free(&r);
    r = command_run(words);
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.out, "autonuma: moderate\n"));
    assert_non_null(strstr(r.out, "; 1 to mend\n"));
    command_free(&r);
    r = RUN("doctor", "--rules", "reference", "--root", HOSTS "gpu-cpuset-far-2l20.host");
    assert_non_null(strstr(r.err, "near 2 of the 2 devices this process may use no CPU"));
    command_free(&r);
}

/* A finding alone exits with 1. */
static void a_full_disk_is_worse_than_a_finding(void **state)
{
    static const char script[] =
        "\"$0\" doctor --rules reference --root " HOSTS "a2-256cpu-8npu.host >/dev/full";
    const char *const words[] = {"sh", "-c", script, command_path(), NULL};
    command_result r =
        RUN("doctor", "--rules", "reference", "--root", HOSTS "a2-256cpu-8npu.host");
    (void)state;
    assert_int_equal(r.status, 1);
    command_free(&r);
    r = command_run(words);
    assert_int_equal(r.status, 4);
    assert_non_null(strstr(r.err, "the output could not be written"));
    command_free(&r);
}

static void refuses_what_it_does_not_know(void **state)
{
    (void)state;
    /* A live --fix would change this machine. */
    expect_refusal(RUN("doctor", "--mend"), 2, "--mend");
    expect_refusal(RUN("doctor", "--fix", "--root", POOR), 2, "--dry-run");
    expect_refusal(RUN("doctor", "--restore", "--root", POOR), 2, "--root");
    expect_refusal(RUN("doctor", "--fix", "--restore"), 2, "exclude each other");
    expect_refusal(RUN("doctor", "--dry-run"), 2, "--dry-run needs --fix");
    expect_refusal(RUN("doctor", "npu0"), 2,
                   "is no option, and this command takes no other words");
    expect_refusal(RUN("doctor", "--root", "/nonexistent"), 3, "cannot be opened");
    expect_output(RUN("doctor", "--help"), "Usage: cpubind doctor");
}

/* A command that is longer than a line can be pasted as it is printed. */
static void breaks_a_command_so_that_it_can_be_pasted(void **state)
{
    static const char script[] =
        "d=$(mktemp -d) && \"$1\" fixture export a2-driver-smi-host \"$d/h\" --quiet && "
        "cd \"$d/h\" && "
        "for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "
        "mkdir -p sys/devices/system/cpu/cpu$i/cpufreq && "
        "echo powersave >sys/devices/system/cpu/cpu$i/cpufreq/scaling_governor; done; "
        "\"$1\" doctor --quiet --root . | sed -n '/^governor/,/^$/{s/^  mend//;/^  "
        "*for/,/done$/p}' | "
        "sed 's|/sys|sys|' >c; [ $(wc -l <c) -gt 1 ] && sh c && "
        "cat sys/devices/system/cpu/cpu*/cpufreq/scaling_governor | sort -u; rm -r \"$d\"";
    char path[4096];
    (void)state;
    assert_non_null(realpath(command_path(), path));
    const char *const words[] = {"sh", "-c", script, "sh", path, NULL};
    expect_output(command_run(words), "performance\n");
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_80_columns),
        cmocka_unit_test(names_a_command_that_only_shows_more),
        cmocka_unit_test(prints_evidence_cost_and_command),
        cmocka_unit_test(judges_the_plan_of_its_options),
        cmocka_unit_test(never_takes_unknown_for_right),
        cmocka_unit_test(says_why_there_is_no_plan),
        cmocka_unit_test(judges_a_host_of_other_accelerators),
        cmocka_unit_test(breaks_a_command_so_that_it_can_be_pasted),
        cmocka_unit_test(a_full_disk_is_worse_than_a_finding),
        cmocka_unit_test(refuses_what_it_does_not_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

TEST_PROGRAM(run_all)
