/* test_rules.c - run cpubind plan with --rules, --keep, --processes, --compare, --no-lists
 * SPDX-License-Identifier: MIT
 */
#include "../linux/temp_dir.h"
#include "answer.h"

#define HOSTS   "fixtures/hosts/"
#define A2      HOSTS "a2-192cpu-8npu.host" /* two NPUs on every second of 8 nodes of 24 CPUs */
#define SMT     HOSTS "a3-320cpu-8npu-smt.host"
#define MAX_CPU 1024

/* == CPUs of JSON =========================================================== */

/* Adds one to the count of each CPU of a list of the kernel. Returns their number. */
static int count_cpus(const char *list, int count[MAX_CPU])
{
    int n = 0;
    while (*list) {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        assert_true(end > list && first <= last && last < MAX_CPU);
        for (long cpu = first; cpu <= last; cpu++, n++)
            count[cpu]++;
        list = end + (*end == ',');
    }
    return n;
}

static int number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        fail_msg("\"%s\" is no number", key);
    return (int)json_integer_value(value);
}

static int quality_at(const json_t *object, const char *key)
{
    return number_at(json_object_get(object, "quality"), key);
}

/* Writes the host as a new folder. */
static void copy_host(scratch *temp)
{
    scratch_make(temp);
    command_unpack("a2-192cpu-8npu", temp->dir);
}

/* == Rules ================================================================== */

/* In the JSON, and in the first line of the text. */
TEST(rules_are_printed_and_near_is_the_default)
{
    static const struct {
        const char *option, *value, *rules, *line;
    } rows[] = {
        {NULL, NULL, "near", "rules near: whole cores, homes first\n"},
        {"--rules", "near", "near", "rules near: whole cores, homes first\n"},
        {"--rules", "reference", "reference", "rules reference: as vllm-ascend binds\n"},
    };
    static const char *const hosts[] = {A2, HOSTS "gpu-2socket-8h100.host"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof hosts / sizeof *hosts; k++) {
            json_t *plan = json_of(
                RUN("plan", "--root", hosts[k], "--json", rows[i].option, rows[i].value));
            command_result r = RUN("plan", "--root", hosts[k], rows[i].option, rows[i].value);
            assert_string_equal(text_at(plan, "rules"), rows[i].rules);
            assert_ptr_equal(strstr(r.out, rows[i].line), r.out);
            json_decref(plan);
            command_free(&r);
        }
}

/* The variable counts where no option is given. A word that is no rule is refused. */
TEST(rules_come_from_the_environment_too)
{
    scratch temp;
    json_t *plan;
    command_result r;
    copy_host(&temp);
    scratch_bytes(&temp, "env", "CPUBIND_RULES=reference\n", 24);
    plan = json_of(RUN("plan", "--root", temp.dir, "--json"));
    assert_string_equal(text_at(plan, "rules"), "reference");
    json_decref(plan);
    plan = json_of(RUN("plan", "--root", temp.dir, "--json", "--rules", "near"));
    assert_string_equal(text_at(plan, "rules"), "near");
    json_decref(plan);
    expect_output(RUN("plan", "--root", temp.dir, "--compare"), "reference");
    scratch_bytes(&temp, "env", "CPUBIND_RULES=best\n", 19);
    r = RUN("plan", "--root", temp.dir);
    assert_true(r.status == 2 || r.status == 3);
    assert_non_null(strstr(r.err, "CPUBIND_RULES"));
    command_free(&r);
    scratch_remove(&temp);
}

/* The roles of an NPU tile its pool. */
static void check_roles(const json_t *npu)
{
    static const char *const parts[] = {"irq", "main", "acl", "release", "pool"};
    int count[MAX_CPU] = {0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        count_cpus(text_at(npu, parts[i]), count);
    for (int cpu = 0; cpu < MAX_CPU; cpu++)
        assert_true(count[cpu] == 0 || count[cpu] == 2);
}

/* The reference gives every second NPU of this host no CPU of its home. */
TEST(near_puts_interrupts_on_the_home)
{
    json_t *reference = json_of(RUN("plan", "--root", A2, "--json", "--rules", "reference"));
    json_t *plan = json_of(RUN("plan", "--root", A2, "--json"));
    assert_int_equal(quality_at(reference, "irq_off_node"), 8);
    assert_int_equal(quality_at(reference, "near_percent"), 50);
    assert_int_equal(quality_at(plan, "irq_off_node"), 0);
    assert_int_equal(quality_at(plan, "split_cores"), 0);
    assert_int_equal(quality_at(plan, "idle"), 0);
    for (size_t i = 0; i < 8; i++) {
        const json_t *npu = npu_at(plan, i);
        check_roles(npu);
        check_roles(npu_at(reference, i));
        assert_int_equal(quality_at(npu, "irq_off_node"), 0);
        assert_true(quality_at(npu, "near_percent") > 0);
    }
    json_decref(plan);
    json_decref(reference);
}

/* == CPUs that are kept ===================================================== */

/* No pool has a CPU of `list`. */
static void check_kept(const json_t *plan, const char *list)
{
    int count[MAX_CPU] = {0};
    int n_kept;
    assert_string_equal(text_at(plan, "kept"), list);
    n_kept = count_cpus(list, count);
    for (size_t i = 0; i < json_array_size(json_object_get(plan, "devices")); i++)
        n_kept += count_cpus(text_at(npu_at(plan, i), "pool"), count);
    for (int cpu = 0; cpu < MAX_CPU; cpu++)
        assert_true(count[cpu] <= 1);
    assert_int_equal(n_kept, 192);
    assert_int_equal(quality_at(plan, "idle"), 0);
}

TEST(kept_cpus_are_in_no_pool_and_are_printed)
{
    static const char *const rules[] = {"reference", "near"};
    static const char *const cases[][2] = {
        {"2", "0-1,24-25,48-49,72-73,96-97,120-121,144-145,168-169"},
        {"0-3,100", "0-3,100"},
        {"7,", "7"}};
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            json_t *plan = json_of(RUN("plan", "--root", A2, "--json", "--rules", rules[i],
                                       "--keep", cases[k][0]));
            check_kept(plan, cases[k][1]);
            json_decref(plan);
        }
    }
    expect_output(RUN("plan", "--root", A2, "--keep", "0-3"),
                  "\nkept for the host: CPUs 0-3\n");
    {
        json_t *plan = json_of(RUN("plan", "--root", A2, "--json"));
        assert_null(json_object_get(plan, "kept"));
        json_decref(plan);
    }
    expect_refusal(RUN("plan", "--root", A2, "--keep", "23", "--running"), 1,
                   "keep fewer for the host (--keep, alike for all workers)");
}

/* Two threads a core: the cores of these CPUs are kept whole. */
TEST(whole_cores_are_kept)
{
    static const char *const cases[][2] = {
        {"1,", "0-1"},
        {"3", "0-3,24-27,48-51,72-75,96-99,120-123,144-147,168-171"},
        {"30-31,33,", "30-33"}};
    scratch temp;
    copy_host(&temp);
    for (int cpu = 0; cpu < 192; cpu++) {
        char name[96], text[32];
        snprintf(name, sizeof name,
                 "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        snprintf(text, sizeof text, "%d-%d\n", cpu / 2 * 2, cpu / 2 * 2 + 1);
        scratch_bytes(&temp, name, text, strlen(text));
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *plan =
            json_of(RUN("plan", "--root", temp.dir, "--json", "--keep", cases[i][0]));
        check_kept(plan, cases[i][1]);
        json_decref(plan);
    }
    scratch_remove(&temp);
}

/* == Several processes an NPU =============================================== */

TEST(processes_of_an_npu_share_its_interrupts_alone)
{
    static const char *const rules[] = {"reference", "near"};
    for (size_t i = 0; i < 2; i++) {
        json_t *plan[2];
        for (int p = 0; p < 2; p++) {
            plan[p] = json_of(RUN("plan", "--root", A2, "--json", "--rules", rules[i],
                                  "--processes", "2", "--index", p ? "1" : "0"));
            assert_int_equal(number_at(plan[p], "processes"), 2);
            assert_int_equal(number_at(plan[p], "process"), p);
        }
        for (size_t k = 0; k < 8; k++) {
            static const char *const parts[] = {"main", "acl", "release"};
            const json_t *a = npu_at(plan[0], k), *b = npu_at(plan[1], k);
            int count[MAX_CPU] = {0};
            int n = count_cpus(text_at(a, "irq"), count);
            assert_string_equal(text_at(a, "irq"), text_at(b, "irq"));
            assert_string_equal(text_at(a, "pool"), text_at(b, "pool"));
            for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
                n += count_cpus(text_at(a, parts[part]), count);
                n += count_cpus(text_at(b, parts[part]), count);
            }
            for (int cpu = 0; cpu < MAX_CPU; cpu++)
                assert_true(count[cpu] <= 1);
            assert_int_equal(count_cpus(text_at(a, "pool"), count), n);
        }
        json_decref(plan[0]);
        json_decref(plan[1]);
    }
    expect_output(RUN("plan", "--root", A2, "--processes", "2", "--index", "1"),
                  "\nprocess 1 of 2 of each NPU, from 0 on: its own main, acl and release; irq "
                  "is shared\n");
    expect_output(RUN("plan", "--root", A2, "--processes", "2", "--json"), "\"process\": 0");
    {
        json_t *plan = json_of(RUN("plan", "--root", A2, "--json", "--processes", "1"));
        assert_null(json_object_get(plan, "processes"));
        json_decref(plan);
    }
    expect_refusal(RUN("plan", "--root", A2, "--processes", "8"), 1,
                   "let fewer processes drive an NPU (--processes)");
}

/* == Quality ================================================================ */

TEST(text_has_the_quality_in_80_columns)
{
    command_result r = RUN("plan", "--root", A2);
    char *block = strstr(r.out, "\nquality\n");
    int n = 0;
    assert_int_equal(r.status, 0);
    assert_non_null(block);
    assert_non_null(strstr(block, "\nCPUs near their NPU                 50 %\n"));
    assert_non_null(strstr(block, "\nIRQ CPUs off the node of their NPU  0\n"));
    for (const char *line = block + 1; *line != '\n'; n++) {
        const size_t len = strcspn(line, "\n");
        assert_true(len <= 80);
        line += len + 1;
    }
    assert_int_equal(n, 8);
    command_free(&r);
    r = RUN("plan", "--root", A2, "--quiet");
    assert_null(strstr(r.out, "quality"));
    command_free(&r);
}

TEST(no_lists_leaves_the_long_lists_out)
{
    command_result r = RUN("plan", "--root", A2, "--no-lists");
    assert_null(strstr(r.out, "The CPU allocation plan"));
    assert_null(strstr(r.out, "main=["));
    assert_non_null(strstr(r.out, "[cpu_bind_mode] mode=near rank=0 visible_npus=[0"));
    assert_non_null(strstr(r.out, "\nNPU  card"));
    assert_non_null(strstr(r.out, "\nnode 0 |"));
    expect_output(r, "\nquality\n");
    r = RUN("plan", "--root", A2, "--no-lists", "--compare");
    assert_null(strstr(r.out, "144-167"));
    expect_output(r, "\nNPU  rules ");
}

/* == Both rules side by side ================================================ */

TEST(compare_prints_both_rules)
{
    command_result r = RUN("plan", "--root", A2, "--compare");
    assert_non_null(strstr(r.out, "quality                             reference  near\n"
                                  "CPUs near their NPU                 50 %"));
    assert_non_null(strstr(r.out, "\nNPU  rules      CPUs  near"));
    assert_non_null(strstr(r.out, "\n2    reference  24    0 %"));
    assert_non_null(strstr(r.out, "\n     near       24    "));
    assert_null(strstr(r.out, "[cpu_bind_mode]"));
    expect_output(r, "168-191\n");
}

TEST(compare_says_where_both_rules_agree)
{
    command_result r = RUN("plan", "--root", HOSTS "950-smt1-256cpu.host", "--compare");
    assert_null(strstr(r.out, "\n0    reference"));
    expect_output(r, "\n0    same   8     100 %");
}

TEST(compare_as_json_has_the_objects_of_both_plans)
{
    json_t *both = json_of(RUN("plan", "--root", A2, "--compare", "--json"));
    json_t *reference = json_of(RUN("plan", "--root", A2, "--json", "--rules", "reference"));
    json_t *by_near = json_of(RUN("plan", "--root", A2, "--json"));
    assert_int_equal(json_object_size(both), 2);
    assert_true(json_equal(json_object_get(both, "reference"), reference));
    assert_true(json_equal(json_object_get(both, "near"), by_near));
    json_decref(both);
    json_decref(reference);
    json_decref(by_near);
}

/* The reference cuts the pools of NPU 0 and 2 from nodes 6 and 7, which have 4 CPUs left. */
TEST(compare_says_which_rule_refuses)
{
    static const char *const cpus = "0-47,164-167";
    command_result r =
        RUN("plan", "--root", A2, "--compare", "--npus", "0,2", "--allowed", cpus);
    json_t *both = json_of(
        RUN("plan", "--root", A2, "--compare", "--npus", "0,2", "--allowed", cpus, "--json"));
    expect_refusal(
        RUN("plan", "--root", A2, "--npus", "0,2", "--allowed", cpus, "--rules", "reference"),
        1, "has 2");
    assert_string_equal(
        text_at(json_object_get(json_object_get(both, "reference"), "error"), "code"),
        "too_few_cpus");
    assert_string_equal(text_at(json_object_get(both, "near"), "rules"), "near");
    json_decref(both);
    assert_non_null(strstr(r.out, "\n0    near   "));
    expect_output(r, "\nreference, no plan: NPU 0: its pool is too small");
}

/* Without an affinity no figure says how near the CPUs are. */
TEST(near_is_not_known_without_places)
{
    json_t *plan = json_of(RUN("plan", "--root", HOSTS "a3-640cpu-16npu.host", "--json"));
    const json_t *quality = json_object_get(plan, "quality");
    assert_true(json_is_null(json_object_get(quality, "near_percent")));
    assert_true(json_is_null(json_object_get(quality, "irq_off_node")));
    assert_int_equal(number_at(quality, "smallest"), 40);
    json_decref(plan);
    expect_output(RUN("plan", "--root", HOSTS "a3-640cpu-16npu.host"),
                  "\nCPUs near their NPU                 -\n");
}

TEST(compare_refuses_where_both_rules_do)
{
    json_t *error;
    expect_refusal(RUN("plan", "--root", HOSTS "no-npu.host", "--compare"), 1, "finds no NPU");
    error = json_of(RUN("plan", "--root", HOSTS "no-npu.host", "--compare", "--json"));
    assert_true(json_object_get(error, "error") != NULL);
    json_decref(error);
}

/* The warning of the reference names the option that ends it. */
TEST(poor_locality_is_ended_by_the_option_that_the_warning_names)
{
    json_t *plan = json_of(RUN("plan", "--root", A2, "--json", "--rules", "reference"));
    command_result r = RUN("plan", "--root", A2, "--rules", "reference");
    assert_true(has_code(json_object_get(plan, "warnings"), "poor_locality"));
    assert_non_null(strstr(r.err, "--rules near"));
    json_decref(plan);
    command_free(&r);
    plan = json_of(RUN("plan", "--root", A2, "--json", "--rules", "near"));
    assert_false(has_code(json_object_get(plan, "warnings"), "poor_locality"));
    json_decref(plan);
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_printed_and_near_is_the_default),
        cmocka_unit_test(rules_come_from_the_environment_too),
        cmocka_unit_test(near_puts_interrupts_on_the_home),
        cmocka_unit_test(kept_cpus_are_in_no_pool_and_are_printed),
        cmocka_unit_test(whole_cores_are_kept),
        cmocka_unit_test(processes_of_an_npu_share_its_interrupts_alone),
        cmocka_unit_test(text_has_the_quality_in_80_columns),
        cmocka_unit_test(no_lists_leaves_the_long_lists_out),
        cmocka_unit_test(compare_prints_both_rules),
        cmocka_unit_test(compare_says_where_both_rules_agree),
        cmocka_unit_test(compare_as_json_has_the_objects_of_both_plans),
        cmocka_unit_test(compare_says_which_rule_refuses),
        cmocka_unit_test(near_is_not_known_without_places),
        cmocka_unit_test(compare_refuses_where_both_rules_do),
        cmocka_unit_test(poor_locality_is_ended_by_the_option_that_the_warning_names),
    };
    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}

TEST_PROGRAM(run_all)
