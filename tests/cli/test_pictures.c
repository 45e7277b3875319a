/* test_pictures.c - the map and the picture of every fixture host
 * SPDX-License-Identifier: MIT
 *
 * Each fixtures/hosts/<host>/expect/<case>.json is planned with its arguments.
 */
#include <glob.h>
#include <jansson.h>

#include "../linux/temp_dir.h"
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
               "node 1 |ii77777777777777777777ar| 24-47  at 12: NPU 7\n");
}

TEST(a_map_makes_one_column_of_many_that_are_alike)
{
    expect_map(HOSTS "a3-superpod-640cpu-16npu", "80", "node 0 |ii0<36>arii1<36>ar| 0-79");
    expect_map(HOSTS "a3-superpod-640cpu-16npu", "100",
               "node 0 |ii000000000000000000000000000000000000ar"
               "ii111111111111111111111111111111111111ar| 0-79");
    expect_map(HOSTS "a2-192cpu-8npu", "20", "node 0 |ii5<20>ar|\n         0-23  NPU");
}

/* == The picture ============================================================ */

/* Bytes of the name of an element or an attribute at `text`. */
static size_t name_at(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
}

/* Passes over an element's attributes; returns where they end. */
static const char *pass_attributes(const char *at)
{
    while (*at == ' ') {
        at += 1 + name_at(at + 1);
        assert_true(at[0] == '=' && at[1] == '"');
        at += 2 + strcspn(at + 2, "\"<");
        assert_true(*at == '"');
        at++;
    }
    return at;
}

/* Passes over text; an ampersand starts one of the entities that XML knows. */
static const char *pass_text(const char *at)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (; *at && *at != '<'; at++) {
        int is_known = *at != '&';
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            is_known |= strncmp(at, entities[i], strlen(entities[i])) == 0;
        assert_true(is_known);
        assert_true((unsigned char)*at >= ' ' || *at == '\n');
    }
    return at;
}

/* The document is one element whose elements are nested properly: well-formed XML. */
static void check_xml(const char *text)
{
    const char *open[16];
    size_t depth = 0, n_root = 0;
    static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    assert_int_equal(strncmp(text, head, strlen(head)), 0);
    for (const char *at = text + strlen(head); *at; at = pass_text(at)) {
        const int is_end = at[1] == '/';
        const char *name = at + 1 + is_end;
        at = name + name_at(name);
        if (is_end) {
            assert_true(depth > 0 && strncmp(open[--depth], name, (size_t)(at - name)) == 0);
        } else {
            n_root += depth == 0;
            at = pass_attributes(at);
            assert_true(depth < sizeof open / sizeof *open);
            if (*at == '/')
                at++;
            else
                open[depth++] = name;
        }
        assert_true(*at == '>');
        at++;
    }
    assert_int_equal(depth, 0);
    assert_int_equal(n_root, 1);
}

static int count(const char *text, const char *part)
{
    int n = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        n++;
    return n;
}

static int is_kind(const char *text, int32_t cpu, const char *what)
{
    char part[128];
    snprintf(part, sizeof part, "<title>CPU %d: %s", (int)cpu, what);
    return strstr(text, part) != NULL;
}

/* Every CPU of a role is drawn as such, and every NPU of the plan. */
static void check_roles(const char *svg, const json_t *plan)
{
    static const char *const roles[] = {"irq", "main", "acl", "release"};
    const json_t *npus = json_object_get(plan, "npus");
    for (size_t i = 0; i < json_array_size(npus); i++) {
        const json_t *npu = json_array_get(npus, i);
        const int id = (int)json_integer_value(json_object_get(npu, "npu"));
        char part[64];
        snprintf(part, sizeof part, "<title>NPU %d, ", id);
        assert_non_null(strstr(svg, part));
        for (size_t k = 0; k < sizeof roles / sizeof *roles; k++) {
            const char *list = json_string_value(json_object_get(npu, roles[k]));
            snprintf(part, sizeof part, "NPU %d, %s<", id, roles[k]);
            if (list && !is_kind(svg, atoi(list), part) &&
                !is_kind(svg, atoi(list), "in two pools"))
                fail_msg("CPU %s is no %s", list, part);
        }
        if (json_is_string(json_object_get(npu, "pci")))
            assert_non_null(strstr(svg, json_string_value(json_object_get(npu, "pci"))));
    }
}

static void check_picture(const char *root, const json_t *expect)
{
    command_result r = PLAN(root, json_object_get(expect, "args"), "--svg", "-");
    assert_int_equal(r.status, json_integer_value(json_object_get(expect, "exit")));
    if (r.status == 0) {
        command_result j = PLAN(root, json_object_get(expect, "args"), "--json");
        json_t *plan = json_loads(j.out, 0, NULL);
        check_xml(r.out);
        assert_null(strstr(r.out, "<script"));
        assert_null(strstr(r.out, "href"));
        assert_null(strstr(r.out, "@import"));
        assert_int_equal(count(r.out, "url("), 1);
        assert_int_equal(count(r.out, "<title id=\"title\">"), 1);
        assert_int_equal(count(r.out, "<desc id=\"desc\">"), 1);
        check_roles(r.out, plan);
        json_decref(plan);
        command_free(&j);
    } else {
        assert_string_equal(r.out, "");
    }
    command_free(&r);
}

TEST(every_plan_has_a_picture)
{
    each_case(check_picture);
}

static scratch temp;

SETUP(make_temp)
{
    scratch_make(&temp);
    return 0;
}

SETUP(remove_temp)
{
    scratch_remove(&temp);
    return 0;
}

static char *slurp(const char *path)
{
    FILE *file = fopen(path, "r");
    return file ? command_slurp(file) : NULL;
}

TEST(a_picture_is_written_whole_or_not_at_all)
{
    char path[MAX_PATH], missing[MAX_PATH];
    command_result r = PLAN(A2, NULL, "--svg", "-"), w;
    snprintf(path, sizeof path, "%s/plan.svg", temp.dir);
    snprintf(missing, sizeof missing, "%s/no/plan.svg", temp.dir);
    scratch_bytes(&temp, "plan.svg", "old", 3);
    w = PLAN(HOSTS "too-few", NULL, "--svg", path);
    assert_int_equal(w.status, 1);
    command_free(&w);
    char *text = slurp(path);
    assert_string_equal(text, "old");
    free(text);
    w = PLAN(A2, NULL, "--svg", path);
    assert_int_equal(w.status, 0);
    assert_ptr_equal(strstr(w.out, "[cpu_bind_mode] "), w.out);
    command_free(&w);
    text = slurp(path);
    assert_string_equal(text, r.out);
    free(text);
    command_free(&r);
    const struct {
        const char *path, *reason;
    } wrong[] = {{temp.dir, "target: Is a directory"},
                 {missing, "open: No such file or directory"},
                 {"/dev/null", "target: Invalid argument"},
                 {"", "target: No such file or directory"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        w = PLAN(A2, NULL, "--svg", wrong[i].path);
        assert_int_equal(w.status, 4);
        assert_string_equal(w.out, "");
        if (!strstr(w.err, wrong[i].reason))
            fail_msg("%s: %s", wrong[i].path, w.err);
        command_free(&w);
    }
    w = PLAN(A2, NULL, "--svg", missing, "--json");
    assert_int_equal(w.status, 4);
    assert_non_null(strstr(w.out, "\"unwritten\""));
    command_free(&w);
}

TEST(a_picture_on_stdout_is_alone)
{
    command_result r = PLAN(A2, NULL, "--svg=-", "--json");
    assert_int_equal(r.status, 2);
    command_free(&r);
    r = PLAN(A2, NULL, "--svg=-", "--format", "map");
    assert_int_equal(r.status, 2);
    command_free(&r);
}

TEST(text_of_a_picture_is_escaped)
{
    char path[MAX_PATH], source[MAX_PATH];
    snprintf(path, sizeof path, "%s/a<b>&\"c", temp.dir);
    snprintf(source, sizeof source, "%s/" A2, getcwd(path + strlen(path) + 1, 2048));
    assert_int_equal(symlink(source, path), 0);
    command_result r = PLAN(path, NULL, "--svg=-");
    assert_int_equal(r.status, 0);
    check_xml(r.out);
    assert_non_null(strstr(r.out, "a&lt;b&gt;&amp;&quot;c"));
    command_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_map_is_wider_than_the_screen),
        cmocka_unit_test(a_map_names_the_npus_at_their_homes),
        cmocka_unit_test(a_map_makes_one_column_of_many_that_are_alike),
        cmocka_unit_test(every_plan_has_a_picture),
        cmocka_unit_test_setup_teardown(a_picture_is_written_whole_or_not_at_all, make_temp,
                                        remove_temp),
        cmocka_unit_test(a_picture_on_stdout_is_alone),
        cmocka_unit_test_setup_teardown(text_of_a_picture_is_escaped, make_temp, remove_temp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
