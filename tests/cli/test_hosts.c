/* test_hosts.c - plan every fixture host and compare with its expectations
 * SPDX-License-Identifier: MIT
 *
 * Each expect/<case>.json of a host in fixtures/hosts is a test: `args` are given to the
 * command, `exit` is its status, and `plan` or `error` what it must print. fixtures/README.md
 * has the format.
 */
#include "expectations.h"

/* Whether arguments are those of topo, of which they are the first word. */
static int is_of_topo(const json_t *args)
{
    const char *word = json_string_value(json_array_get(args, 0));
    return word && strcmp(word, "topo") == 0;
}

static command_result plan(const char *root, const json_t *args, const char *last)
{
    const size_t is_topo = (size_t)is_of_topo(args);
    const char *words[COMMAND_WORDS] = {command_path(), is_topo ? "topo" : "plan", "--root",
                                        root};
    size_t n = 4;
    for (size_t i = is_topo; i < json_array_size(args) && n < COMMAND_WORDS - 2; i++)
        words[n++] = json_string_value(json_array_get(args, i));
    words[n++] = last;
    words[n] = NULL;
    return command_run(words);
}

static int has_code(const json_t *warnings, const char *code)
{
    for (size_t i = 0; i < json_array_size(warnings); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(warnings, i), "code")),
                   code) == 0)
            return 1;
    return 0;
}

/* The expected codes, each with a text, and no others. */
static void check_warnings(const json_t *got, const json_t *expected)
{
    assert_int_equal(json_array_size(got), json_array_size(expected));
    for (size_t i = 0; i < json_array_size(expected); i++)
        assert_true(has_code(got, json_string_value(json_array_get(expected, i))));
    for (size_t i = 0; i < json_array_size(got); i++)
        assert_true(json_string_length(json_object_get(json_array_get(got, i), "text")) > 0);
}

static void check_keys(json_t *got, json_t *expected);

/* Equal; an object, also in a list, may have keys that are not expected. */
static void check_equal(const char *key, json_t *got, json_t *expected)
{
    char *a, *b;
    if (json_equal(got, expected))
        return;
    if (json_is_object(got) && json_is_object(expected)) {
        check_keys(got, expected);
        return;
    }
    if (json_is_object(json_array_get(expected, 0)) &&
        json_array_size(got) == json_array_size(expected)) {
        for (size_t i = 0; i < json_array_size(got); i++)
            check_equal(key, json_array_get(got, i), json_array_get(expected, i));
        return;
    }
    a = json_dumps(got, JSON_ENCODE_ANY);
    b = json_dumps(expected, JSON_ENCODE_ANY);
    print_error("%s: got %s, expected %s\n", key, a ? a : "nothing", b);
    free(a);
    free(b);
    fail();
}

/* Every expected key but the warnings. */
static void check_keys(json_t *got, json_t *expected)
{
    const char *key;
    json_t *value;
    json_object_foreach(expected, key, value)
    {
        if (strcmp(key, "warnings") != 0)
            check_equal(key, json_object_get(got, key), value);
    }
}

static void check_plan(json_t *got, json_t *expected)
{
    assert_non_null(json_object_get(got, "cpubind"));
    check_warnings(json_object_get(got, "warnings"), json_object_get(expected, "warnings"));
    check_keys(got, expected);
}

static void check_error(json_t *got, json_t *expected)
{
    json_t *error = json_object_get(got, "error");
    assert_int_equal(json_object_size(got), 2);
    assert_true(json_string_length(json_object_get(error, "text")) > 20);
    check_keys(error, expected);
}

static void check_json(const char *root, json_t *expect)
{
    json_error_t fault;
    command_result r = plan(root, json_object_get(expect, "args"), "--json");
    json_t *got = json_loads(r.out, 0, &fault);
    if (!got)
        fail_msg("stdout is no JSON: %s\n%s", r.out, r.err);
    if (r.status != json_integer_value(json_object_get(expect, "exit")))
        fail_msg("exit status %d: %s%s", r.status, r.out, r.err);
    assert_string_equal(r.err, "");
    if (json_object_get(expect, "plan"))
        check_plan(got, json_object_get(expect, "plan"));
    else
        check_error(got, json_object_get(expect, "error"));
    json_decref(got);
    command_free(&r);
}

/* As text: a plan of NPUs or of other devices on stdout, or the tables of topo in 80 columns,
 * or nothing there and one line on stderr. */
static void check_text(const char *root, const json_t *expect)
{
    const json_t *args = json_object_get(expect, "args");
    command_result r = plan(root, args, "--quiet");
    assert_int_equal(r.status, json_integer_value(json_object_get(expect, "exit")));
    if (is_of_topo(args) && json_object_get(expect, "plan")) {
        assert_ptr_equal(strstr(r.out, "PCI "), r.out);
        assert_string_equal(r.err, "");
        for (const char *line = r.out; *line; line += strcspn(line, "\n") + 1)
            assert_true(strcspn(line, "\n") <= 80);
    } else if (json_object_get(expect, "plan")) {
        const json_t *type = json_object_get(json_object_get(expect, "plan"), "device_type");
        const char *begin =
            json_is_string(type) ? "[cpu_bind_mode] mode=" : "device  name  product";
        assert_ptr_equal(strstr(r.out, begin), r.out);
        assert_string_equal(r.err, "");
    } else {
        assert_string_equal(r.out, "");
        assert_ptr_equal(strstr(r.err, "cpubind: "), r.err);
        assert_ptr_equal(strchr(r.err, '\n'), r.err + strlen(r.err) - 1);
    }
    command_free(&r);
}

static void a_host_gets_its_plan(void **state)
{
    const expectation *e = (const expectation *)*state;
    check_json(e->root, e->body);
    check_text(e->root, e->body);
}

static int run_all(void)
{
    expectations all = read_expectations();
    struct CMUnitTest *tests = (struct CMUnitTest *)calloc(all.n, sizeof *tests);
    int status;
    if (!tests)
        return 1;
    for (size_t i = 0; i < all.n; i++) {
        tests[i].name = all.row[i].label;
        tests[i].test_func = a_host_gets_its_plan;
        tests[i].initial_state = &all.row[i];
    }
    status = _cmocka_run_group_tests("hosts", tests, all.n, NULL, NULL);
    free(tests);
    free_expectations(&all);
    return status;
}

TEST_PROGRAM(run_all)
