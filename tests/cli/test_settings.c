/* test_settings.c - cpubind service --check: each fault of a file with its place
 * SPDX-License-Identifier: MIT
 */
#include "../linux/temp_dir.h"
#include "../support/test.h"
#include "run_command.h"

#define LENGTH(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

static scratch s;

SETUP(set_up)
{
    scratch_make(&s);
    return 0;
}

SETUP(tear_down)
{
    scratch_remove(&s);
    return 0;
}

/* Checks a file of this text. */
static command_result check(const char *text, const char *option)
{
    char path[SCRATCH_PATH * 2];
    scratch_file(&s, "conf", text);
    scratch_path(&s, "conf", path);
    scratch_need(chmod(path, 0644) == 0, path);
    return command_run(
        (const char *const[]){command_path(), "service", "--check", path, option, NULL});
}

TEST(each_fault_is_named_with_its_place)
{
    static const struct {
        const char *text, *place, *said;
    } cases[] = {
        {"rule = near\n", "line 1, column 1",
         "there is no key \"rule\"; did you mean \"rules\"?"},
        {"\nmemmory-time = 3\n", "line 2, column 1", "did you mean \"memory-time\"?"},
        {"pid = 3\n", "line 1, column 1", "there is no key \"pid\""},
        {"rules = nearest\n", "line 1, column 9", "it knows near, reference"},
        {"  keep =  0-\n", "line 1, column 11", "keep \"0-\", character 3"},
        {"exclude = x\n", "line 1, column 11", "exclude \"x\", character 1"},
        {"overlap = no\n", "line 1, column 11", "resolve, keep, refuse"},
        {"strategy = x\n", "line 1, column 12", "strategy does not know"},
        {"device-type = x\n", "line 1, column 15", "device-type does not know"},
        {"facts = x\n", "line 1, column 9", "facts does not know"},
        {"memory = x\n", "line 1, column 10", "memory does not know"},
        {"memory = prefer\n", "line 1, column 1", "a process sets its own memory policy only"},
        {"memory-limit = 1X\n", "line 1, column 16", "not a number of bytes, such as 200G"},
        {"memory-time = 0\n", "line 1, column 15", "seconds from 1 to 86400"},
        {"memory = none\nmemory-time = 3\n", "line 2, column 1", "memory is none"},
        {"irqbalance = x\n", "line 1, column 14", "irqbalance does not know"},
        {"thread = x\n", "line 1, column 10", "thread wants NAME="},
        {"strict = true\n", "line 1, column 10", "takes yes or no: \"true\""},
        {"any-arch = 1\n", "line 1, column 12", "takes yes or no"},
        {"restore-at-end = on\n", "line 1, column 18", "takes yes or no"},
        {"watch = 0\n", "line 1, column 9", "seconds from 1 to 3600"},
        {"watch = often\n", "line 1, column 9", "not a number of seconds"},
        {"textfile = a.prom\n", "line 1, column 12", "absolute path that ends in .prom"},
        {"socket = run\n", "line 1, column 10", "neither none nor an absolute path"},
        {"watch = 1\nwatch = 2\n", "line 2, column 1", "there twice, first in line 1"},
        {"watch 1\n", "line 1, column 7", "\"=\" is expected after the key"},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        command_result r = check(cases[i].text, "--quiet");
        const char *at = strstr(r.err, cases[i].place);
        if (r.status != 2 || !at || !strstr(at, cases[i].said))
            fail_msg("%s: status %d, %s", cases[i].text, r.status, r.err);
        assert_string_equal(r.out, "");
        command_free(&r);
    }
}

TEST(all_faults_of_a_file_are_said_at_once)
{
    command_result r = check("rule = near\nwatch = 0\nstrict\n", NULL);
    assert_int_equal(r.status, 2);
    assert_non_null(strstr(r.err, "line 1, column 1"));
    assert_non_null(strstr(r.err, "line 2, column 9"));
    assert_non_null(strstr(r.err, "line 3, column 7"));
    command_free(&r);
    r = check("rule = near\nwatch = 0\nstrict\n", "--json");
    assert_int_equal(r.status, 2);
    assert_non_null(strstr(r.out, "\"faults\": [{\"line\": 1, \"column\": 1"));
    assert_non_null(strstr(r.out, "{\"line\": 3, \"column\": 7"));
    assert_string_equal(r.err, "");
    command_free(&r);
}

TEST(the_printed_settings_are_a_file_of_the_same_settings)
{
    command_result first = check("rules = near\nthread = \"a #1=0-3\"\nthread = b=acl\n"
                                 "only = VLLM*\nsocket = none\nkeep = 0,\n",
                                 NULL);
    command_result again = check(first.out, NULL);
    assert_int_equal(first.status, 0);
    assert_non_null(strstr(first.out, "\nthread = \"a #1=0-3\"\nthread = b=acl\n"));
    assert_non_null(strstr(first.out, "\nkeep = 0,\n"));
    assert_non_null(strstr(first.out, "\nwatch = 1\n")); /* a usual value */
    assert_int_equal(again.status, 0);
    assert_string_equal(again.out, first.out);
    command_free(&first);
    command_free(&again);
    first = check("only = a\nonly = b\n", "--json");
    assert_int_equal(first.status, 0);
    assert_non_null(strstr(first.out, "\"only\": [\"a\", \"b\"]"));
    assert_non_null(strstr(first.out, "\"keep\": null"));
    command_free(&first);
}

TEST(a_file_that_is_asked_for_must_be_there)
{
    command_result r = command_run((const char *const[]){command_path(), "service", "--check",
                                                         "--config", "/nowhere/conf", NULL});
    assert_int_equal(r.status, 3);
    assert_non_null(strstr(r.err, "/nowhere/conf could not be read: No such file"));
    command_free(&r);
    r = command_run((const char *const[]){command_path(), "service", "--check", "--config",
                                          "/a", "/b", NULL});
    assert_int_equal(r.status, 2);
    command_free(&r);
}

TEST(a_fault_names_what_helps_and_an_empty_file_is_one)
{
    static const char *const empty[] = {"", "\n", " \n\t\n"};
    command_result r = check("strict = maybe\n", "--quiet");
    assert_int_equal(r.status, 2);
    assert_non_null(strstr(r.err, "cpubind.conf(5)"));
    assert_null(strstr(r.err, "--help"));
    command_free(&r);
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        r = check(empty[i], "--quiet");
        assert_int_equal(r.status, 2);
        assert_non_null(strstr(r.err, "is empty; for the usual settings write a line"));
        command_free(&r);
    }
    r = check("# usual\n", "--quiet");
    assert_int_equal(r.status, 0);
    command_free(&r);
}

TEST(a_file_that_others_may_write_to_is_refused)
{
    char path[SCRATCH_PATH * 2];
    command_result r;
    scratch_file(&s, "open", "rules = near\n");
    scratch_path(&s, "open", path);
    scratch_need(chmod(path, 0666) == 0, path);
    r = command_run((const char *const[]){command_path(), "service", "--check", path, NULL});
    assert_int_equal(r.status, 2);
    assert_non_null(strstr(r.err, "try: chmod go-w "));
    command_free(&r);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        EACH(each_fault_is_named_with_its_place),
        EACH(all_faults_of_a_file_are_said_at_once),
        EACH(the_printed_settings_are_a_file_of_the_same_settings),
        EACH(a_file_that_is_asked_for_must_be_there),
        EACH(a_fault_names_what_helps_and_an_empty_file_is_one),
        EACH(a_file_that_others_may_write_to_is_refused),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}

TEST_PROGRAM(run_all)
