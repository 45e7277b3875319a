/* test_pictures.c - the map, the picture and the explanations of every fixture
 * SPDX-License-Identifier: MIT
 *
 * Each expect/<case>.json of a host in fixtures/hosts is planned with its arguments.
 */
#include "../linux/temp_dir.h"
#include "expectations.h"

#define HOSTS    "fixtures/hosts/"
#define A2       HOSTS "a2-192cpu-8npu.host"
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

/* Whether a case is planned otherwise than the host's first one. */
static int is_special(const char *name)
{
    static const char *const words[] = {"reference", "near", "keep", "host", "own"};
    int is_one = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is_one |= strstr(name, words[i]) != NULL;
    return is_one;
}

/* Whether an expectation is one of topo, which plans nothing, or of other devices than NPUs,
 * whose plans have no pictures. */
static int is_of_devices(const json_t *expect)
{
    const json_t *args = json_object_get(expect, "args");
    const char *word = json_string_value(json_array_get(args, 0));
    return (word && strcmp(word, "topo") == 0) ||
           json_object_get(json_object_get(expect, "plan"), "devices");
}

/* Calls check(root, expectation) for the first expectation of every host and for those with
 * other rules, overlap or scope. */
static void each_case(void (*check)(const char *root, const json_t *expect))
{
    expectations all = read_expectations();
    for (size_t i = 0; i < all.n; i++) {
        const expectation *e = &all.row[i];
        const int is_first = i == 0 || strcmp(e->root, e[-1].root) != 0;
        if ((is_first || is_special(e->name)) && !is_of_devices(e->body))
            check(e->root, e->body);
    }
    free_expectations(&all);
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
    static unsigned turn;
    const char *width = widths[turn++ % 2];
    setenv("COLUMNS", width, 1);
    command_result r =
        PLAN(root, json_object_get(expect, "args"), "--distances", "--format=map");
    unsetenv("COLUMNS");
    assert_int_equal(r.status, json_integer_value(json_object_get(expect, "exit")));
    check_width(r.out, strtoul(width, NULL, 10));
    assert_true(r.status != 0 || strncmp(r.out, "node ", 5) == 0 ||
                strncmp(r.out, "socket ", 7) == 0);
    command_free(&r);
}

TEST(no_map_is_wider_than_the_screen)
{
    each_case(check_map);
}

static void expect_map(const char *host, const char *columns, const char *part)
{
    setenv("COLUMNS", columns, 1);
    command_result r = PLAN(host, NULL, "--rules=reference", "--format=map", "--distances");
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
    expect_map(HOSTS "a3-superpod-640cpu-16npu.host", "80", "node 0 |ii0<36>arii1<36>ar| 0-79");
    expect_map(HOSTS "a3-superpod-640cpu-16npu.host", "100",
               "node 0 |ii000000000000000000000000000000000000ar"
               "ii111111111111111111111111111111111111ar| 0-79");
    expect_map(HOSTS "a2-192cpu-8npu.host", "20", "node 0 |ii5<20>ar|\n         0-23  NPU");
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
    const json_t *npus = json_object_get(plan, "devices");
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

static void check_picture(const char *svg, const json_t *plan)
{
    check_xml(svg);
    assert_null(strstr(svg, "<script"));
    assert_null(strstr(svg, "href"));
    assert_null(strstr(svg, "@import"));
    assert_int_equal(count(svg, "url("), 1);
    assert_int_equal(count(svg, "<title id=\"title\">"), 1);
    assert_int_equal(count(svg, "<desc id=\"desc\">"), 1);
    check_roles(svg, plan);
}

TEST(a_picture_is_written_whole_or_not_at_all)
{
    char path[MAX_PATH], missing[MAX_PATH];
    command_result r = PLAN(A2, NULL, "--svg", "-"), w;
    snprintf(path, sizeof path, "%s/plan.svg", temp.dir);
    snprintf(missing, sizeof missing, "%s/no/plan.svg", temp.dir);
    scratch_bytes(&temp, "plan.svg", "old", 3);
    w = PLAN(HOSTS "too-few.host", NULL, "--svg", path);
    assert_int_equal(w.status, 1);
    command_free(&w);
    char *text = slurp(path);
    assert_string_equal(text, "old");
    free(text);
    w = PLAN(A2, NULL, "--svg", path);
    assert_int_equal(w.status, 0);
    assert_ptr_equal(strstr(w.out, "rules near: "), w.out);
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

/* == Explanations =========================================================== */

/* The sentences of one explanation: the first has `name`, none is empty. */
static void check_sentences(const json_t *explained, const char *name)
{
    const json_t *text = json_object_get(explained, "text");
    assert_true(json_array_size(text) > 0);
    for (size_t i = 0; i < json_array_size(text); i++) {
        const char *sentence = json_string_value(json_array_get(text, i));
        assert_true(strlen(sentence) > 8);
        if (strstr(sentence, "  ") || strstr(sentence, ",,") || strstr(sentence, "?") ||
            strstr(sentence, " ."))
            if (!strstr(sentence, "There is no plan") && !strstr(sentence, "has no pool"))
                fail_msg("%s", sentence);
    }
    if (!strstr(json_string_value(json_array_get(text, 0)), name))
        fail_msg("no %s: %s", name, json_string_value(json_array_get(text, 0)));
}

static const json_t *find(const json_t *array, const char *key, json_int_t value)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (json_is_integer(json_object_get(json_array_get(array, i), key)) &&
            json_integer_value(json_object_get(json_array_get(array, i), key)) == value)
            return json_array_get(array, i);
    return NULL;
}

/* Whether a CPU is in a list as the kernel prints it. */
static int is_in(const char *list, long cpu)
{
    while (list && *list) {
        char *end;
        const long first = strtol(list, &end, 10);
        const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        if (cpu >= first && cpu <= last)
            return 1;
        list = *end ? end + 1 : end;
    }
    return 0;
}

static long cpus_in(const char *list)
{
    long n = 0;
    while (list && *list) {
        char *end;
        const long first = strtol(list, &end, 10);
        n += (*end == '-' ? strtol(end + 1, &end, 10) : first) - first + 1;
        list = *end ? end + 1 : end;
    }
    return n;
}

/* The explanation of an NPU agrees with the plan; its steps tile its pool. */
static void check_npu(const json_t *npu, const json_t *explained)
{
    const char *key;
    json_t *value, *steps = json_object_get(explained, "steps");
    const char *pool = json_string_value(json_object_get(npu, "pool"));
    long n = 0;
    assert_non_null(explained);
    assert_true(json_equal(json_object_get(npu, "pool"), json_object_get(explained, "pool")));
    json_object_foreach(steps, key, value)
    {
        n += cpus_in(json_string_value(value));
    }
    assert_true(!pool || n >= cpus_in(pool)); /* scope host: fewer are allowed */
}

/* The explanation of a CPU agrees with the plan. */
static void check_cpu(const json_t *explained, const json_t *plan)
{
    static const char *const roles[] = {"irq", "main", "acl", "release"};
    const json_t *npus = json_object_get(plan, "devices");
    const json_t *pools = json_object_get(explained, "pools");
    const char *state = json_string_value(json_object_get(explained, "state"));
    const long cpu = (long)json_integer_value(json_object_get(explained, "cpu"));
    const char *second =
        json_string_value(json_array_get(json_object_get(explained, "text"), 1));
    const json_t *pci = NULL;
    size_t n = 0, n_device = 0;
    char name[32];
    snprintf(name, sizeof name, "CPU %ld ", cpu);
    check_sentences(explained, name);
    for (size_t i = 0; i < json_array_size(npus); i++) {
        const json_t *npu = json_array_get(npus, i);
        if (!is_in(json_string_value(json_object_get(npu, "pool")), cpu))
            continue;
        char id[16];
        snprintf(id, sizeof id, "%d", (int)json_integer_value(json_object_get(npu, "npu")));
        const char *role = json_string_value(json_object_get(pools, id));
        assert_non_null(role);
        for (size_t k = 0; k < sizeof roles / sizeof *roles; k++)
            if (is_in(json_string_value(json_object_get(npu, roles[k])), cpu))
                assert_string_equal(role, roles[k]);
        n_device += n == 0 || !json_equal(json_object_get(npu, "pci"), pci);
        pci = json_object_get(npu, "pci");
        n++;
    }
    assert_int_equal(json_object_size(pools), n);
    if (second && strstr(second, "It is left for another tile of ")) {
        assert_int_equal(n, 0);
        assert_string_equal(state, "role");
        return;
    }
    n = n_device; /* tiles of a device share its CPUs for interrupts */
    assert_true(n < 2 || strcmp(state, "twice") == 0);
    assert_true((n == 1) == (strcmp(state, "role") == 0 || strcmp(state, "process") == 0));
    if (n == 0 && strcmp(state, "idle") == 0)
        assert_true(is_in(json_string_value(json_object_get(plan, "allowed")), cpu));
}

static void check_explanations(const char *root, const json_t *args, const json_t *made)
{
    const json_t *npus = json_object_get(made, "devices");
    command_result r = PLAN(root, args, "--explain=all", "--json");
    json_t *got = json_loads(r.out, 0, NULL);
    const json_t *all = json_object_get(got, "explain");
    assert_int_equal(r.status, 0);
    for (size_t i = 0; i < json_array_size(npus); i++) {
        const json_t *npu = json_array_get(npus, i);
        check_npu(npu, find(all, "device", json_integer_value(json_object_get(npu, "npu"))));
    }
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *explained = json_array_get(all, i);
        if (json_object_get(explained, "cpu"))
            check_cpu(explained, made);
        else
            check_sentences(explained, "NPU ");
    }
    assert_non_null(find(all, "cpu", 0));
    json_decref(got);
    command_free(&r);
}

/* One run of the command for the plan and its picture, one for all explanations. */
static void check_case(const char *root, const json_t *expect)
{
    const json_t *args = json_object_get(expect, "args");
    char path[MAX_PATH];
    snprintf(path, sizeof path, "%s/plan.svg", temp.dir);
    command_result r = PLAN(root, args, "--svg", path, "--json");
    char *svg = slurp(path);
    assert_int_equal(r.status, json_integer_value(json_object_get(expect, "exit")));
    assert_int_equal(svg != NULL, r.status == 0);
    if (svg) {
        json_t *plan = json_loads(r.out, 0, NULL);
        check_picture(svg, plan);
        check_explanations(root, args, plan);
        assert_int_equal(unlink(path), 0);
        json_decref(plan);
        free(svg);
    }
    command_free(&r);
}

TEST(every_plan_has_a_picture_and_every_npu_cpu_and_role_an_explanation)
{
    each_case(check_case);
}

TEST(lines_of_an_explanation_have_at_most_80_columns)
{
    static const char *const hosts[] = {A2, HOSTS "a3-640cpu-16npu.host", HOSTS "too-few.host",
                                        HOSTS "a2-cpuset-second-cpus.host",
                                        HOSTS "gpu-2socket-8h100.host"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        command_result r = PLAN(hosts[i], NULL, "--explain=all");
        assert_true(strlen(r.out) > 1000);
        check_width(r.out, 80);
        command_free(&r);
    }
}

TEST(what_is_explained_has_a_grammar)
{
    static const char *const good[] = {"npu3", "NPU3",     "3",     "cpu17", "CPU17", "acl",
                                       "main", "npu3.acl", "3.irq", "all",   "cpu900"};
    static const char *const wrong[] = {
        "",      "npu",      "cpu",     "gpu",          "fpga1",
        "npu3.", "npu3.foo", ".acl",    "cpu3.acl",     "npu-1",
        "npu3 ", "cpu65536", "npu4096", "npu3.acl.acl", "npu99999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        command_result r = PLAN(A2, NULL, "--explain", good[i]);
        assert_int_equal(r.status, 0);
        assert_true(strlen(r.out) > 40);
        command_free(&r);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        command_result r = PLAN(A2, NULL, "--explain", wrong[i]);
        assert_int_equal(r.status, 2);
        assert_string_equal(r.out, "");
        command_free(&r);
    }
    command_result r = PLAN(A2, NULL, "--explain", "npu77");
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "sees NPUs 0-7"));
    command_free(&r);
    r = PLAN(A2, NULL, "--explain", "npu1", "--format", "map");
    assert_int_equal(r.status, 2);
    command_free(&r);
}

/* Runs plan --explain on a host, and looks for parts of its sentences, lines joined. */
static void expect_why(int status, const char *host, const char *args, const char *what,
                       const char *const *parts)
{
    json_t *list = json_loads(args, 0, NULL);
    command_result r = PLAN(host, list, "--explain", what);
    assert_int_equal(r.status, status);
    for (char *at = r.out; (at = strstr(at, "\n    ")) != NULL;)
        memmove(at + 1, at + 5, strlen(at + 5) + 1), *at = ' ';
    for (; *parts; parts++)
        if (!strstr(r.out, *parts))
            fail_msg("%s of %s: no \"%s\" in\n%s", what, host, *parts, r.out);
    json_decref(list);
    command_free(&r);
}

#define BY_REFERENCE "[\"--rules\", \"reference\"]"
#define WHY(host, args, what, ...)                                                             \
    expect_why(0, HOSTS host ".host", args, what, (const char *const[]){__VA_ARGS__, NULL})
#define WHY_NOT(host, args, what, ...)                                                         \
    expect_why(1, HOSTS host ".host", args, what, (const char *const[]){__VA_ARGS__, NULL})

TEST(explanations_follow_the_steps_of_the_rule)
{
    WHY("a2-192cpu-8npu", "[]", "npu3", "NPU 3 gets 24 CPUs: 108-119,132-143.",
        "The rule is near");
    WHY("a2-192cpu-8npu", BY_REFERENCE, "npu3", "NPU 3 gets 24 CPUs: 120-143.",
        "CPUs 96-119 are near it, by the kernel; they are on node 4",
        "also in the home of NPU 1.", "The rule is topo_affinity",
        "The 48 CPUs 96-143 may go to 2 NPUs, NPU 1,3; NPU 3 gets 24 of them: 120-143, part 2 "
        "of 2 in the order of the NPUs; NPU 1 gets 24.",
        "24 of its CPUs, 120-143, at distance 12, are on the next node",
        "168 are in pools of other NPUs");
    WHY("a2-192cpu-8npu", BY_REFERENCE, "cpu17", "CPU 17 is on node 0",
        "the pool of NPU 5 (main)",
        "It is in the home of this NPU. Its node is at distance 10 from that home.",
        "It is near NPU 5,7.");
    WHY("a2-192cpu-4node-8npu", BY_REFERENCE, "npu1",
        "which would give CPUs twice: first, CPU 48",
        "the smallest pool is as large as it can be");
    WHY("a2-192cpu-4node-8npu", "[\"--rules\", \"reference\", \"--overlap\", \"keep\"]",
        "cpu50", "It is in the pool of NPU 5 (main) and of NPU 6 (main).",
        "kept so (--overlap keep)");
    WHY("a3-640cpu-16npu", BY_REFERENCE, "npu9",
        "640 CPUs are cut into 16 slices, and it has slice 9, "
        "by its phy id.",
        "40 of its CPUs, 360-399, are its slice.");
    WHY("950-smt2-640cpu", BY_REFERENCE, "npu1", "The rule is cluster",
        "16 of its CPUs, 96-111, at distance 10, are a whole cluster of the node of its home.",
        "stay idle: an NPU gets one whole cluster");
    WHY("950-smt2-640cpu", BY_REFERENCE, "cpu5", "UVB polling threads of the host run on it");
    WHY("300i-duo-192cpu", BY_REFERENCE, "cpu60", "No NPU gets it.", "It is near no NPU.",
        "no home is extended onto their nodes");
    WHY("a2-192cpu-8npu-cpuset", BY_REFERENCE, "cpu1", "This process may not use it",
        "144-191");
    WHY("a2-192cpu-8npu-cpuset", BY_REFERENCE, "npu5", "NPU 5 has no pool",
        "Pools are cut from none of them");
    WHY("a2-192cpu-8npu", "[\"--exclude\", \"0-3\"]", "cpu1", "It is excluded");
    WHY("a2-192cpu-8npu", "[\"--rules\", \"near\", \"--keep\", \"2\"]", "cpu1",
        "It is kept for the host");
    WHY("a2-192cpu-8npu", "[\"--rules\", \"near\", \"--keep\", \"2\"]", "npu3",
        "The rule is near", "Its home is those that pools are cut from: 98-119",
        "11 of its CPUs, 133-143, at distance 12, are in nobody's home",
        "11 of its 22 CPUs are near it", "16 are kept for the host");
    WHY("a2-192cpu-8npu", "[\"--rules\", \"reference\", \"--visible\", \"0\"]", "cpu30",
        "It is left for NPU 7, which is "
        "not in this plan.");
}

/* The keys of a plan of other devices, as one of NPUs has them. */
static json_t *as_npus(const json_t *made)
{
    const json_t *devices = json_object_get(made, "devices");
    json_t *npus = json_array();
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *device = json_array_get(devices, i);
        json_t *npu = json_copy(json_array_get(devices, i));
        json_object_set(npu, "npu", json_object_get(device, "rank"));
        json_array_append_new(npus, npu);
    }
    return npus;
}

/* Whether an explanation says which tile of its device a rank is, with the CPUs of the plan. */
static int says_tile(const json_t *explained, const json_t *npu)
{
    const json_t *text = json_object_get(explained, "text");
    const char *sentence = json_string_value(json_array_get(text, 1));
    const char *pool = json_string_value(json_object_get(npu, "pool"));
    char rank[32];
    snprintf(rank, sizeof rank, "rank %d is tile ",
             (int)json_integer_value(json_object_get(npu, "npu")));
    const char *said = sentence ? strstr(sentence, rank) : NULL;
    const char *cpus = said ? strstr(said, "with CPUs ") : NULL;
    return cpus && strncmp(cpus + strlen("with CPUs "), pool, strlen(pool)) == 0;
}

/* Explains all of a plan of other devices, and compares with the plan. */
static void check_device_explanations(const char *host, const char *const *option)
{
    json_t *args = json_array(), *shown;
    for (; *option; option++)
        json_array_append_new(args, json_string(*option));
    command_result r = PLAN(host, args, "--json");
    assert_int_equal(r.status, 0);
    json_t *made = json_loads(r.out, 0, NULL);
    command_free(&r);
    r = PLAN(host, args, "--explain=all", "--json");
    assert_int_equal(r.status, 0);
    json_t *got = json_loads(r.out, 0, NULL);
    const json_t *all = json_object_get(got, "explain");
    shown = json_pack("{s:o, s:O}", "devices", as_npus(made), "allowed",
                      json_object_get(made, "allowed"));
    const json_t *npus = json_object_get(shown, "devices");
    for (size_t i = json_array_size(npus); i-- > 0;) {
        const json_t *npu = json_array_get(npus, i), *pci = json_object_get(npu, "pci");
        const json_t *one =
            find(all, "device", json_integer_value(json_object_get(npu, "npu")));
        if (!one) { /* another tile of the device before it */
            const json_t *before = json_array_get(npus, i - 1);
            assert_true(i > 0 && json_equal(pci, json_object_get(before, "pci")));
            one = find(all, "device", json_integer_value(json_object_get(before, "npu")));
            assert_true(says_tile(one, npu));
        }
        assert_true(json_equal(pci, json_object_get(one, "pci")));
        if (!says_tile(one, npu))
            check_npu(npu, one);
    }
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *explained = json_array_get(all, i);
        if (json_object_get(explained, "cpu"))
            check_cpu(explained, shown);
        else
            check_sentences(explained, "Device ");
    }
    assert_non_null(find(all, "cpu", 0));
    assert_null(strstr(r.out, "NPU"));
    json_decref(got);
    json_decref(made);
    json_decref(shown);
    json_decref(args);
    command_free(&r);
}

#define NO_OPTIONS   ((const char *const[]){NULL})
#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST(every_device_of_other_vendors_and_each_of_its_cpus_has_an_explanation)
{
    static const char *const hosts[] = {
        "gpu-2socket-8h100",     "gpu-snc-8nodes-4mi300x", "gpu-switches-4a100",
        "gpu-grace-2gh200",      "gpu-cpuset-half-4l40s",  "gpu-vm-2l4",
        "gpu-4max1550",          "gpu-container-2of4",     "gpu-cpuset-far-2l20",
        "gpu-interleaved-4h20",  "gpu-mixed-vendors",      "gpu-smt-apart-2a30",
        "gpu-smt-adjacent-2a30", "gpu-flex170-virtual",    "gpu-two-nodes-each-2mi210"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        char host[MAX_PATH];
        snprintf(host, sizeof host, HOSTS "%s.host", hosts[i]);
        check_device_explanations(host, NO_OPTIONS);
        if (strcmp(hosts[i], "gpu-cpuset-far-2l20") != 0) { /* which the reference refuses */
            check_device_explanations(host, OPTIONS("--rules", "reference"));
            check_device_explanations(host,
                                      OPTIONS("--rules", "reference", "--overlap", "keep"));
        }
        check_device_explanations(host, OPTIONS("--rules", "near", "--keep", "1"));
        check_device_explanations(host, OPTIONS("--rules", "near", "--roles", "1,1,1,1"));
        check_device_explanations(host, OPTIONS("--roles", "2,1,1,1", "--exclude", "0"));
    }
}

TEST(explanations_of_other_devices_are_those_of_npus)
{
    WHY("gpu-2socket-8h100", BY_REFERENCE, "device1", "Device 1 (gpu1) gets 24 CPUs: 24-47.",
        "CPUs 0-47,96-143 are near it, by its numa_node; they are on node 0; its PCI "
        "address is 0000:19:00.0.",
        "part 2 of 8 in the order of the devices; the hidden device 0000:18:00.0 gets 24");
    WHY("gpu-4max1550", BY_REFERENCE, "1", "Device 0 gets 13 CPUs: 13-25.",
        "Each tile has a part, with roles of its own: rank 0 is tile 0, with CPUs 13-19, rank "
        "1 "
        "is tile 1, with CPUs 20-25.",
        "Device 1, main: CPUs 20-25");
    WHY("gpu-4max1550", BY_REFERENCE, "cpu22", "It is in the pool of device 1 (main).");
    WHY("gpu-4max1550", BY_REFERENCE, "cpu39", "It is left for another tile of device 2.");
    WHY("gpu-snc-8nodes-4mi300x", "[\"--rules\", \"near\"]", "0",
        "The rule is near: whole cores; CPUs in a home go to the devices",
        "12 of its CPUs, 0-5,24-29, at distance 12, are in nobody's home",
        "may go to 2 devices, device 0 and 1 hidden device; device 0 gets 6 of them: 0-5");
    WHY("gpu-switches-4a100", BY_REFERENCE, "device1.main",
        "Device 1, main: CPUs 16-31; the CPUs between the other roles",
        "near it, by the bridge 0000:80:01.0 above it, since its numa_node is -1; they are on "
        "node 1",
        "at distance 21, are on the next node", "in the home of devices 0,2-3.",
        "Device 1, acl: no CPUs, since all are main unless --roles is given.");
    WHY("gpu-grace-2gh200", BY_REFERENCE, "0", "no other device has a part of it in its own",
        "72 of its CPUs, 72-143, at distance 10, are in its home");
    WHY("gpu-cpuset-half-4l40s", BY_REFERENCE, "1",
        "Its home is those that pools are cut from: 4-11", "16 are not allowed");
    WHY("gpu-cpuset-half-4l40s", BY_REFERENCE, "cpu0",
        "This process may not use it, so it is in no pool here; allowed are 4-11,20-27.");
    WHY("gpu-vm-2l4", BY_REFERENCE, "0",
        "by default: the host shows no nodes; they are on node 0");
    WHY("gpu-two-nodes-each-2mi210", "[\"--rules\", \"near\", \"--keep\", \"1\"]", "0",
        "by its local_cpulist, since its numa_node is -1; they are on nodes 0-1",
        "4 are kept for the host");
    WHY("gpu-two-nodes-each-2mi210", "[\"--keep\", \"1\"]", "cpu0", "It is kept for the host");
    WHY("gpu-two-nodes-each-2mi210", "[\"--roles\", \"1,1,1,1\", \"--rules\", \"near\"]", "acl",
        "one of the last CPUs near the device runs the ACL thread");
    WHY("gpu-4max1550", BY_REFERENCE, "1", "Device 0 gets 13 CPUs: 13-25.");
    WHY_NOT("gpu-cpuset-far-2l20", BY_REFERENCE, "1", "Device 1: 0000:31:00.0 has no pool: ",
            "Pools are cut from none of them, so it has no home.");
    WHY_NOT("gpu-cpuset-far-2l20", BY_REFERENCE, "main",
            "Device 0: 0000:17:00.0 has no pool: ");
    command_result r = PLAN(HOSTS "gpu-vm-2l4.host", NULL, "--explain", "npu0");
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "sees no such device; it sees devices 0-1"));
    command_free(&r);
}

TEST(a_refused_plan_is_explained_as_far_as_its_facts_go)
{
    command_result r = PLAN(HOSTS "too-few.host", NULL, "--explain", "npu1");
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.out, "CPUs 96-119 are near it"));
    assert_non_null(strstr(r.out, "There is no plan: NPU 3"));
    command_free(&r);
    r = PLAN(HOSTS "no-npu.host", NULL, "--explain", "npu1");
    assert_int_equal(r.status, 1);
    assert_string_equal(r.out, "");
    assert_non_null(strstr(r.err, "finds no NPU"));
    command_free(&r);
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_map_is_wider_than_the_screen),
        cmocka_unit_test(a_map_names_the_npus_at_their_homes),
        cmocka_unit_test(a_map_makes_one_column_of_many_that_are_alike),
        cmocka_unit_test_setup_teardown(
            every_plan_has_a_picture_and_every_npu_cpu_and_role_an_explanation, make_temp,
            remove_temp),
        cmocka_unit_test_setup_teardown(a_picture_is_written_whole_or_not_at_all, make_temp,
                                        remove_temp),
        cmocka_unit_test(a_picture_on_stdout_is_alone),
        cmocka_unit_test_setup_teardown(text_of_a_picture_is_escaped, make_temp, remove_temp),
        cmocka_unit_test(lines_of_an_explanation_have_at_most_80_columns),
        cmocka_unit_test(what_is_explained_has_a_grammar),
        cmocka_unit_test(explanations_follow_the_steps_of_the_rule),
        cmocka_unit_test(every_device_of_other_vendors_and_each_of_its_cpus_has_an_explanation),
        cmocka_unit_test(explanations_of_other_devices_are_those_of_npus),
        cmocka_unit_test(a_refused_plan_is_explained_as_far_as_its_facts_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

TEST_PROGRAM(run_all)
