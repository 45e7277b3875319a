/* test_pictures.c - the map of every fixture host
 * SPDX-License-Identifier: MIT
 *
 * Each fixtures/hosts/<host>/expect/<case>.json is planned with its arguments.
 */
#include <glob.h>
#include <jansson.h>

#include "../support/cmocka_test.h"
#include "run_command.h"

#define HOSTS    "fixtures/hosts/"
#define A2       HOSTS "a2-192cpu-8npu"
#define MAX_PATH 4096

/* Runs plan on a folder with the arguments of an expectation, then with `more`. */
static command_result plan(const char *root, const json_t *args, const char *const *more)
{
    const char *words[COMMAND_WORDS] = {command_path(), "plan", "--root", root};
    size_t n = 4;
    for (size_t i = 0; i < json_array_size(args) && n < COMMAND_WORDS - 8; i++)
        words[n++] = json_string_value(json_array_get(args, i));
    while (*more)
        words[n++] = *more++;
    words[n] = NULL;
    return command_run(words);
}

#define PLAN(root, args, ...) plan(root, args, (const char *const[]){__VA_ARGS__, NULL})

/* Calls check(root, expectation) for every expectation of every host. */
static void each_case(void (*check)(const char *root, const json_t *expect))
{
    glob_t found;
    assert_int_equal(glob(HOSTS "*/expect/*.json", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char root[MAX_PATH];
        json_t *expect = json_load_file(found.gl_pathv[i], 0, NULL);
        assert_non_null(expect);
        snprintf(root, sizeof root, "%.*s",
                 (int)(strstr(found.gl_pathv[i], "/expect/") - found.gl_pathv[i]),
                 found.gl_pathv[i]);
        check(root, expect);
        json_decref(expect);
    }
    globfree(&found);
}

/* == The map ================================================================ */

/* No line is longer than `columns`. */
static void check_width(const char *text, size_t columns)
{
    while (*text) {
        const size_t n = strcspn(text, "\n");
        if (n > columns)
            fail_msg("%zu columns: %.*s", n, (int)n, text);
        text += n + (text[n] != '\0');
    }
}

static void check_map(const char *root, const json_t *expect)
{
    static const char *const widths[] = {"80", "33"};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        setenv("COLUMNS", widths[i], 1);
        command_result r =
            PLAN(root, json_object_get(expect, "args"), "--distances", "--format=map");
        unsetenv("COLUMNS");
        assert_int_equal(r.status, json_integer_value(json_object_get(expect, "exit")));
        check_width(r.out, strtoul(widths[i], NULL, 10));
        assert_true(r.status != 0 || strncmp(r.out, "node ", 5) == 0 ||
                    strncmp(r.out, "socket ", 7) == 0);
        command_free(&r);
    }
}

TEST(no_map_is_wider_than_the_screen)
{
    each_case(check_map);
}

static void expect_map(const char *host, const char *columns, const char *part)
{
    setenv("COLUMNS", columns, 1);
    command_result r = PLAN(host, NULL, "--format=map", "--distances");
    unsetenv("COLUMNS");
    if (r.status != 0 || !strstr(r.out, part))
        fail_msg("status %d, stderr \"%s\", stdout \"%s\"; no \"%s\"", r.status, r.err, r.out,
                 part);
    command_free(&r);
}

TEST(a_map_names_the_npus_at_their_homes)
{
    expect_map(A2, "80",
               "node 0 |ii55555555555555555555ar| 0-23  NPU 5,7\n"
               "node 1 |ii77777777777777777777ar| 24-47  home elsewhere: NPU 7\n");
}

TEST(a_map_makes_one_column_of_many_that_are_alike)
{
    expect_map(HOSTS "a3-640cpu-16npu", "80", "node 0 |ii0<36>arii1<36>ar| 0-79");
    expect_map(HOSTS "a3-640cpu-16npu", "100",
               "node 0 |ii000000000000000000000000000000000000ar"
               "ii111111111111111111111111111111111111ar| 0-79");
    expect_map(HOSTS "a2-192cpu-8npu", "20", "node 0 |ii5<20>ar|\n         0-23  NPU");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_map_is_wider_than_the_screen),
        cmocka_unit_test(a_map_names_the_npus_at_their_homes),
        cmocka_unit_test(a_map_makes_one_column_of_many_that_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
