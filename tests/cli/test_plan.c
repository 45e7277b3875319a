/* test_plan.c - run cpubind plan and check its output, messages and exit status
 * SPDX-License-Identifier: MIT
 */
#include "../../adapters/ascend/thread_roles.h"
#include "../linux/temp_dir.h"
#include "../support/test.h"
#include "answer.h"

#define HOSTS    "fixtures/hosts/"
#define A2_NAME  "a2-192cpu-8npu"
#define A2       HOSTS A2_NAME ".host"
#define MAX_PATH 4096

/* == Snapshots with one change ============================================== */

static scratch temp;

/* Writes a host as the temporary folder, where file `name` holds `text`; NULL: it has none. */
static void change(const char *host, const char *name, const char *text, size_t len)
{
    char path[MAX_PATH];
    scratch_empty(&temp);
    command_unpack(host, temp.dir);
    snprintf(path, sizeof path, "%s/%s", temp.dir, name);
    if (text)
        scratch_bytes(&temp, name, text, len);
    else
        assert_int_equal(unlink(path), 0);
}

static void change_text(const char *host, const char *name, const char *text)
{
    change(host, name, text, text ? strlen(text) : 0);
}

/* An input of a host, which the caller frees. */
static char *load(const char *host, const char *name, size_t *len)
{
    command_result r = RUN("fixture", "show", host, name);
    char *text = strdup(r.out);
    assert_int_equal(r.status, 0);
    assert_non_null(text);
    command_free(&r);
    *len = strlen(text);
    return text;
}

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

/* == Help and usage ========================================================= */

/* The lines that people see first: of a list of commands all, else up to the first group. */
static int count_first_lines(const char *help)
{
    const char *options = strstr(help, "Commands:") ? NULL : strstr(help, "\n\n");
    const char *end = options ? strstr(options + 2, "\n\n") : NULL;
    int n = 0;
    for (const char *at = help; *at && (!end || at < end); at++)
        n += *at == '\n';
    return n;
}

TEST(help_fits_a_screen)
{
    const char *const helps[][4] = {{"--help", NULL},
                                    {"help", NULL},
                                    {"help", "environment", NULL},
                                    {"plan", "--help", NULL},
                                    {"apply", "--help", NULL},
                                    {"run", "--help", NULL},
                                    {"verify", "--help", NULL},
                                    {"restore", "-h", NULL},
                                    {"status", "--help", NULL},
                                    {"doctor", "--help", NULL},
                                    {"service", "--help", NULL},
                                    {"topo", "--help", NULL},
                                    {"capture", "--help", NULL},
                                    {"fixture", "--help", NULL},
                                    {"fixture", "list", "--help", NULL},
                                    {"fixture", "show", "-h", NULL},
                                    {"fixture", "import", "--help", NULL},
                                    {"fixture", "export", "--help", NULL},
                                    {"fixture", "replay", "--help", NULL},
                                    {"fixture", "accept", "--help", NULL},
                                    {"fixture", "remove", "--help", NULL},
                                    {"fixture", "rename", "--help", NULL},
                                    {"fixture", "groups", "--help", NULL},
                                    {"help", "plan", NULL},
                                    {"help", "fixture", NULL},
                                    {"help", "fixture", "import", NULL}};
    for (size_t i = 0; i < sizeof helps / sizeof *helps; i++) {
        command_result r = run(helps[i]);
        assert_int_equal(r.status, 0);
        for (const char *line = r.out; *line; line += strcspn(line, "\n") + 1)
            if (strcspn(line, "\n") > 80)
                fail_msg("%s: longer than 80: %.90s", helps[i][0], line);
        if (count_first_lines(r.out) < 3 || count_first_lines(r.out) > 24)
            fail_msg("%s: %d lines come first", helps[i][0], count_first_lines(r.out));
        command_free(&r);
    }
    expect_output(RUN("help", "environment"), "ASCEND_RT_VISIBLE_DEVICES");
    expect_output(RUN("help", "apply"), "Usage: cpubind apply");
}

TEST(version_is_one_line)
{
    static const char version[] =
        "cpubind " CPUBIND_VERSION ", records of form 5 (reads 1, 3, 4 and 5)\n";
    expect_output(RUN("version"), version);
    expect_output(RUN("--version"), version);
    expect_output(RUN("plan", "--version"), version);
}

TEST(wrong_arguments_exit_with_2)
{
    expect_refusal(RUN("plans"), 2, "plans");
    expect_refusal(RUN("plan", "--roots", A2), 2, "--roots");
    expect_refusal(RUN("plan", "extra"), 2, "extra");
    expect_refusal(RUN("plan", "--root"), 2, "requires an argument");
    expect_refusal(RUN("plan", "--root", A2, "--fixture", "x"), 2, "give one");
    expect_refusal(RUN("plan", "--device-type", "a4"), 2, "a2, a3, 300i, 950");
    expect_refusal(RUN("plan", "--strategy", "best"), 2, "topo_affinity");
    expect_refusal(RUN("plan", "--overlap", "allow"), 2, "resolve, keep, refuse");
    expect_refusal(RUN("plan", "--rank", "-1"), 2, "--rank");
    expect_refusal(RUN("plan", "--rank", "4294967296"), 2, "--rank");
    expect_refusal(RUN("plan", "--rank", "0x1"), 2, "--rank");
    expect_refusal(RUN("plan", "--rank", ""), 2, "--rank");
    expect_refusal(RUN("plan", "--npus", ""), 2, "--npus");
    expect_refusal(RUN("plan", "--npus", "3-1"), 2, "character 3");
    expect_refusal(RUN("plan", "--npus", "0,"), 2, "character 3");
    expect_refusal(RUN("plan", "--npus", "4294967297"), 2, "character 1");
    expect_refusal(RUN("plan", "--allowed", ""), 2, "--allowed names no CPU");
    expect_refusal(RUN("plan", "--allowed", "0,65536"), 2, "character 3");
    expect_refusal(RUN("plan", "--exclude", ""), 2, "--exclude names no CPU");
    expect_refusal(RUN("plan", "--exclude", "3;2"), 2, "--exclude \"3;2\", character 2");
    expect_refusal(RUN("plan", "--npus", "0-3:0"), 2, "a stride is at least 1");
    expect_refusal(RUN("plan", "--allowed", "0-3 5"), 2, "character 5");
    expect_refusal(RUN("plan", "--allowed", ",1"), 2, "character 1: a number");
    expect_refusal(RUN("plan", "--scope", "mine"), 2, "auto, cpuset, host, own");
    expect_refusal(RUN("plan", "--facts", "sysfs"), 2, "auto, driver, npu-smi");
    expect_refusal(RUN("plan", "--total", "0"), 2, "--total");
    expect_refusal(RUN("plan", "--total", "4097"), 2, "--total");
    expect_refusal(RUN("plan", "--rules", "best"), 2, "\"best\"; it knows near, reference");
    expect_refusal(RUN("plan", "--keep", "x"), 2, "from 0 to 65536, nor a list of CPUs");
    expect_output(RUN("plan", "--root", HOSTS "a2-192cpu-8npu.host", "--keep", "0"),
                  "CPUs in no pool                     0\n");
    expect_refusal(RUN("plan", "--keep", "x"), 2, "--keep \"x\" is neither");
    expect_refusal(RUN("plan", "--keep", ""), 2, "--keep \"\" is neither");
    expect_refusal(RUN("plan", "--keep", "65537"), 2, "--keep \"65537\" is neither");
    expect_refusal(RUN("plan", "--keep", "3-1"), 2, "--keep \"3-1\", character 3");
    expect_refusal(RUN("plan", "--keep", ","), 2, "--keep \",\", character 1");
    expect_refusal(RUN("plan", "--processes", "0"), 2, "from 1 to 1024: \"0\"");
    expect_refusal(RUN("plan", "--processes", "1025"), 2, "from 1 to 1024: \"1025\"");
    expect_refusal(RUN("plan", "--index", "0"), 2, "--processes N");
    expect_refusal(RUN("plan", "--processes", "2", "--index", "-1"), 2, "\"-1\"");
    expect_refusal(RUN("plan", "--processes", "2", "--index", "2"), 2,
                   "--index 2 is none of --processes 2, which are 0 to 1");
    expect_refusal(RUN("apply", "--npu", "0", "--processes", "2"), 2, "--index I");
    expect_refusal(RUN("plan", "--compare", "--rules", "near"), 2, "leave out --rules");
    expect_refusal(RUN("plan", "--compare", "--format", "map"), 2, "leave out --format");
    expect_refusal(RUN("plan", "--running=yes"), 2, "takes no value");
    expect_refusal(RUN("fixture", "replay", "--exclude", "3"), 2, "no such option");
    expect_refusal(RUN("plan", "--redact"), 2, "no such option: \"--redact\"");
    expect_refusal(RUN("fixture", "replays"), 2, "fixture replays");
    expect_refusal(RUN("fixture"), 2, "Usage: cpubind fixture COMMAND");
    expect_refusal(RUN("fixture", "list", "a2"), 2, "cpubind fixture list --help");
    expect_refusal(RUN("fixture", "replay", "--jobs", "0"), 2, "from 1 to 1024");
    expect_refusal(RUN("fixture", "replay", "--format", "xml"), 2, "text, tap, junit");
    expect_refusal(RUN("fixture", "export", "a2"), 2, "name a host and a folder: NAME DIR");
    expect_refusal(RUN("fixture", "import"), 2, "the folders of hosts");
}

/* One word does for both: commands that bind take one NPU, the others take a list. */
TEST(npu_and_npus_are_one_option)
{
    static const char row[] = "\n3    3     0     -";
    expect_output(RUN("plan", "--root", HOSTS "a2-192cpu-8npu.host", "--npu", "3"), row);
    expect_output(RUN("plan", "--root", HOSTS "a2-192cpu-8npu.host", "--npus", "3"), row);
    expect_output(RUN("plan", "--root", HOSTS "a2-192cpu-8npu.host", "--npu=2-3"), row);
    expect_refusal(RUN("apply", "--npus", "2-3", "--pid", "1"), 2,
                   "--npu names several devices");
    expect_refusal(RUN("apply", "--npus", "3", "--rank", "1"), 2,
                   "--device and --npu name the device");
}

/* A drop-in has one section: of several the last would count. */
TEST(a_drop_in_of_systemd_is_that_of_one_rank)
{
    static const char *const hosts[] = {HOSTS "a2-192cpu-8npu.host",
                                        HOSTS "gpu-switches-4a100.host"};
    for (size_t i = 0; i < 2; i++) {
        expect_refusal(RUN("plan", "--root", hosts[i], "--format", "systemd"), 1,
                       "say which with --rank N");
        expect_output(RUN("plan", "--root", hosts[i], "--format", "systemd", "--rank", "1"),
                      "[Service]\nAllowedCPUs=");
    }
    expect_output(RUN("plan", "--root", hosts[0], "--format", "systemd", "--npus", "3"),
                  "[Service]\nAllowedCPUs=");
    expect_refusal(RUN("plan", "--root", HOSTS "gpu-none.host", "--cpu-workers", "2",
                       "--format", "systemd"),
                   1, "and this plan has 2: say which with --rank N");
}

/* An abbreviation would become another option with the next version. */
TEST(an_option_is_written_in_full)
{
    expect_refusal(RUN("plan", "--np", "3"), 2, "written in full: --npus");
    expect_refusal(RUN("plan", "--all", "0"), 2, "no such option: \"--all\"");
    expect_refusal(RUN("plan", "--js"), 2, "written in full: --json");
    expect_refusal(RUN("doctor", "--all"), 2, "no such option: \"--all\"");
    expect_refusal(RUN("verify", "--al"), 2, "written in full: --all, --allowed");
    expect_refusal(RUN("restore", "--a"), 2, "written in full: --all");
}

/* The usual value of a launcher that has no rank, and that of a variable that is not set. */
TEST(a_rank_that_is_not_set_is_a_usage_error)
{
    static const char *const ranks[] = {"-1", "", "$SLURM_LOCALID", "1x"};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        expect_refusal(RUN("plan", "--rank", ranks[i]), 2, "the launcher has not set the rank");
        expect_refusal(RUN("run", "--rank", ranks[i], "--", "true"), 125, "with --device");
    }
}

TEST(with_json_a_usage_error_is_an_object)
{
    static const char *const lines[][6] = {{"plan", "--npus", "x", "--json", NULL},
                                           {"plan", "--json", "--bogus", NULL},
                                           {"plan", "--bogus", "--format", "json", NULL},
                                           {"plan", "word", "--format=json", NULL},
                                           {"plans", "--json", NULL},
                                           {"apply", "--json", NULL},
                                           {"run", "--json", "--npu", "0", NULL},
                                           {"capture", "--json", NULL}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        command_result r = run(lines[i]);
        json_t *error;
        assert_int_equal(r.status, strcmp(lines[i][0], "run") == 0 ? 125 : 2);
        assert_string_equal(r.err, "");
        error = json_of(r);
        assert_string_equal(text_at(json_object_get(error, "error"), "code"), "usage");
        json_decref(error);
    }
    expect_refusal(RUN("run", "--", "true", "--json"), 125, "say which device");
    {
        command_result r = RUN("fixture", "replay", "--format", "tap", "--json");
        assert_int_equal(r.status, 2);
        assert_non_null(strstr(r.out, "give one"));
        command_free(&r);
    }
}

/* == Words and lists that people write ====================================== */

TEST(a_device_type_is_a_product_or_a_chip_in_any_letters)
{
    static const char *const types[][2] = {{"A2", "a2"},
                                           {"910B", "a2"},
                                           {"Ascend910B3", "a2"},
                                           {"ascend 910b4", "a2"},
                                           {"A3", "a3"},
                                           {"910C", "a3"},
                                           {"Ascend910_9392", "a3"},
                                           {"300I", "300i"},
                                           {"310P", "300i"},
                                           {"Ascend310P3", "300i"},
                                           {"Ascend950PR", "950"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        json_t *plan =
            json_of(RUN("plan", "--rules", "reference", "--root", A2, "--device-type",
                        types[i][0], "--strategy", "global_slice", "--json"));
        assert_string_equal(text_at(plan, "device_type"), types[i][1]);
        json_decref(plan);
    }
    expect_refusal(RUN("plan", "--rules", "reference", "--device-type", "910"), 2,
                   "a chip of a2 and of a3");
    expect_refusal(RUN("plan", "--rules", "reference", "--device-type", "Ascend"), 2,
                   "it knows auto, a2");
    expect_refusal(RUN("plan", "--rules", "reference", "--device-type", ""), 2,
                   "it knows auto, a2");
    expect_refusal(RUN("plan", "--rules", "reference", "--device-type", "H100"), 2,
                   "it knows auto, a2");
}

TEST(lists_are_read_as_taskset_reads_them)
{
    static const char *const same[][2] = {
        {"3,1,1", "1,3"},   {" 0, 1 ,2", "0-2"}, {"0-7:2", "0,2,4,6"}, {"5,0-3", "0-3,5"},
        {"0-3,2-5", "0-5"}, {"007", "7"},        {"all", "0-7"},       {"ALL", "0-7"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        command_result a = RUN("plan", "--root", A2, "--npus", same[i][0]);
        command_result b = RUN("plan", "--root", A2, "--npus", same[i][1]);
        assert_int_equal(a.status, 0);
        if (strcasecmp(same[i][0], "all") != 0)
            assert_string_equal(a.out, b.out);
        command_free(&a);
        command_free(&b);
    }
    expect_output(RUN("plan", "--root", A2, "--allowed", "144-191, 0-143:2"),
                  "allowed CPUs 0,2,4,6");
    expect_output(RUN("plan", "--root", A2, "--exclude", "100,3,2-4"), "excluded CPUs 2-4,100");
}

TEST(the_table_of_threads_is_that_in_effect)
{
    static const struct {
        const char *pattern;
        int is_reference;
    } rows_of_table[] = {
#define CPUBIND_X(pattern, named, role, cpu, is_reference, giver, why) {pattern, is_reference},
        CPUBIND_THREAD_ROLE_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    command_result all = RUN("plan", "--explain", "threads", "--thread", "kv_*=keep");
    command_result few = RUN("plan", "--explain", "threads", "--threads", "reference");
    json_t *json, *rows;
    assert_int_equal(all.status, 0);
    assert_true(strncmp(strstr(all.out, "\n") + 1, "kv_* ", 5) == 0);
    for (size_t i = 0; i < sizeof rows_of_table / sizeof *rows_of_table; i++) {
        char line[80];
        snprintf(line, sizeof line, "\n%s ", rows_of_table[i].pattern);
        assert_non_null(strstr(all.out, line));
        assert_true((strstr(few.out, line) != NULL) == rows_of_table[i].is_reference);
    }
    command_free(&all);
    command_free(&few);
    json = json_of(RUN("plan", "--explain", "threads", "--thread", "a=1-3", "--json"));
    assert_string_equal(text_at(json_object_get(json, "explain"), "threads"), "product");
    rows = json_object_get(json_object_get(json, "explain"), "rows");
    assert_string_equal(text_at(json_array_get(rows, 0), "place"), "1-3");
    assert_string_equal(text_at(json_array_get(rows, 1), "name"), "acl_thread");
    json_decref(json);
}

TEST(no_command_prints_help_and_exits_with_2)
{
    const char *words[] = {command_path(), NULL};
    expect_refusal(command_run(words), 2, "Usage: cpubind COMMAND");
}

/* == Output ================================================================= */

TEST(text_keeps_the_lines_of_the_logs)
{
    expect_output(RUN("plan", "--rules", "reference", "--root",
                      HOSTS "a2-192cpu-8npu-cpuset.host", "--quiet", "--running"),
                  "[cpu_bind_mode] mode=topo_affinity rank=0 visible_npus=[0]\n"
                  "The CPU allocation plan is as follows:\n"
                  "NPU0: main=[146 147 148 149 150 151 152 153 154 155 156 157 158 159 160 161 "
                  "162 163 164 165]  acl=[166]  release=[[167]]\n");
    expect_output(RUN("plan", "--rules", "reference", "--root",
                      HOSTS "a2-192cpu-8npu-cpuset.host", "--quiet"),
                  "rank=0 visible_npus=[0, 1, 2, 3, 4, 5, 6, 7]\n");
    expect_output(RUN("plan", "--rules", "reference", "--root", HOSTS "950-smt1-256cpu.host"),
                  "Ascend 950 NPU0: worker=[64 65 66 67 68 69 70 71]\n");
}

TEST(equal_hosts_give_equal_bytes)
{
    command_result a = RUN("plan", "--root", A2);
    command_result b = RUN("plan", "--root", A2);
    assert_string_equal(a.out, b.out);
    command_free(&a);
    command_free(&b);
}

TEST(json_has_the_keys_in_their_order)
{
    static const char *const keys[] = {
        "cpubind", "format",  "device_type", "strategy",    "rules",   "scope",
        "facts",   "overlap", "rank",        "rank_device", "allowed", "total",
        "hidden",  "idle",    "devices",     "quality",     "warnings"};
    static const char *const npu_keys[] = {
        "name", "number", "rank",    "vendor",  "product",     "pci",     "npu",
        "card", "chip",   "phy",     "running", "node",        "pool",    "irq",
        "main", "acl",    "release", "nodes",   "memory_node", "quality", "error"};
    command_result r = RUN("plan", "--root", A2, "--json");
    json_t *plan = json_loads(r.out, 0, NULL);
    const char *key;
    json_t *value;
    size_t n = 0;
    assert_non_null(plan);
    json_object_foreach(plan, key, value)
    {
        assert_string_equal(key, keys[n++]);
    }
    assert_int_equal(n, sizeof keys / sizeof *keys);
    n = 0;
    json_object_foreach(npu_at(plan, 0), key, value)
    {
        assert_string_equal(key, npu_keys[n++]);
    }
    assert_int_equal(n, sizeof npu_keys / sizeof *npu_keys);
    json_decref(plan);
    command_free(&r);
}

/* The rows of the map are no wider than the screen; a file gets no colours. */
static void check_width(const char *host, const char *columns)
{
    command_result r;
    int rows = 0;
    setenv("COLUMNS", columns, 1);
    r = RUN("plan", "--root", host);
    unsetenv("COLUMNS");
    assert_int_equal(r.status, 0);
    assert_null(strchr(r.out, '\033'));
    for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "node ", 5) != 0)
            continue;
        assert_true(strlen(line) <= strtoul(columns, NULL, 10));
        rows++;
    }
    assert_true(rows >= 4);
    command_free(&r);
}

TEST(the_map_is_no_wider_than_the_screen)
{
    check_width(A2, "80");
    check_width(A2, "40");
    check_width(A2, "20");
    check_width(A2, "300");
    check_width(HOSTS "a3-640cpu-16npu.host", "80");
    check_width(HOSTS "a3-640cpu-16npu.host", "60");
    check_width(HOSTS "a2-192cpu-4node-8npu.host", "80");
}

TEST(the_map_shows_each_cpu)
{
    expect_output(RUN("plan", "--rules", "reference", "--root",
                      HOSTS "a2-192cpu-8npu-cpuset.host", "--running"),
                  "node 5 |------------------------| 120-143\n"
                  "node 6 |ii00000000000000000000ar| 144-167  NPU 0,2\n"
                  "node 7 |oooooooooooooooooooooooo| 168-191\n");
    expect_output(
        RUN("plan", "--rules", "reference", "--root", HOSTS "a2-192cpu-8npu-cpuset.host"),
        "node 5 |------------------------| 120-143\n"
        "node 6 |ii00000000000000000000ar| 144-167  NPU 0,2\n"
        "node 7 |ii22222222222222222222ar| 168-191\n");
    expect_output(RUN("plan", "--rules", "reference", "--root",
                      HOSTS "a2-192cpu-4node-8npu.host", "--overlap", "keep"),
                  "node 0 |xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx| 0-47  NPU 4-5\n");
}

TEST(the_map_is_coloured_on_a_terminal_only)
{
    const char *words[] = {command_path(), "plan", "--root", A2, NULL};
    command_result r;
    char *line;
    if (!command_has_terminals())
        skip();
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    r = command_run_on_terminal(words, 40);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "\033["));
    line = strstr(r.out, "node 0 |");
    assert_non_null(line);
    command_free(&r);
    setenv("NO_COLOR", "1", 1);
    r = command_run_on_terminal(words, 40);
    unsetenv("NO_COLOR");
    assert_int_equal(r.status, 0);
    assert_null(strchr(r.out, '\033'));
    for (line = strtok(r.out, "\r\n"); line; line = strtok(NULL, "\r\n"))
        assert_true(strncmp(line, "node ", 5) != 0 || strlen(line) <= 40);
    command_free(&r);
    setenv("TERM", "dumb", 1);
    r = command_run_on_terminal(words, 80);
    assert_null(strchr(r.out, '\033'));
    command_free(&r);
}

/* == This host ============================================================== */

/* Makes an npu-smi in the temporary folder that prints `text` and exits with `code`. */
static void make_npu_smi(const char *text, int code)
{
    char body[MAX_PATH];
    scratch_empty(&temp);
    const int n = snprintf(body, sizeof body, "cat <<'END'\n%sEND\nexit %d", text, code);
    assert_in_range(n, 1, sizeof body - 1);
    scratch_script(&temp, "npu-smi", body);
}

static command_result plan_live(const char *last)
{
    char path[MAX_PATH * 2];
    const char *old = getenv("PATH");
    command_result r;
    snprintf(path, sizeof path, "PATH=%s:%s", temp.dir, old ? old : "/usr/bin:/bin");
    {
        const char *words[] = {"env", path, command_path(), "plan", last, NULL};
        r = command_run(words);
    }
    return r;
}

TEST(the_output_of_npu_smi_on_this_host_is_quoted)
{
    command_result r;
    make_npu_smi("dcmi module initialize failed. ret is -8005\n", 187);
    r = plan_live("--quiet");
    assert_non_null(strstr(r.err, "ret is -8005"));
    expect_refusal(r, 3, "it exited with 187");
    make_npu_smi("There is no NPU card on this server.\n", 0);
    expect_refusal(plan_live("--quiet"), 1, "finds no NPU");
}

/* An A3 of one NPU gets all that this process may use, or is refused for having too few. */
TEST(the_cpus_of_this_host_are_those_of_the_process)
{
    command_result r;
    make_npu_smi("\tNPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
                 "\t0        0         0               0             Ascend910\n",
                 0);
    setenv("CPUBIND_RULES", "reference", 1); /* near needs its home, too */
    r = plan_live("--npus=0");
    unsetenv("CPUBIND_RULES");
    if (sysconf(_SC_NPROCESSORS_ONLN) < 5)
        assert_int_equal(r.status, 1);
    else
        assert_true(r.status == 0 || r.status == 1);
    assert_non_null(strstr(r.status == 0 ? r.out : r.err, "allowed"));
    command_free(&r);
}

/* == The host =============================================================== */

TEST(without_npu_smi_the_message_names_other_hosts)
{
    const char *live[] = {"env", "PATH=/nowhere", command_path(), "plan", NULL};
    command_result r = command_run(live);
    assert_non_null(strstr(r.err, "--root"));
    assert_non_null(strstr(r.err, "--fixture"));
    expect_refusal(r, 3, "npu-smi is not on this machine");
    r = RUN("plan", "--root", HOSTS "npu-missing.host");
    assert_null(strstr(r.err, "--root"));
    expect_refusal(r, 3,
                   "npu-smi is not on this host; name the NPUs with --npus LIST and their "
                   "type with --device-type TYPE");
}

TEST(without_a_running_npu_the_message_names_an_option)
{
    expect_refusal(RUN("plan", "--root", HOSTS "idle-a2.host", "--running"), 1,
                   "leave out --running to plan before the workers run");
}

TEST(a_missing_folder_or_fixture_exits_with_3)
{
    expect_refusal(RUN("plan", "--root", "/nowhere/at/all"), 3, "No such file");
    expect_refusal(RUN("plan", "--root", "Makefile"), 3, "Not a directory");
    expect_refusal(RUN("plan", "--fixture", "no-such-host"), 3, "no-such-host");
    expect_refusal(RUN("plan", "--fixture", "../hosts/idle-a2"), 3, "no host of this name");
}

TEST(with_json_an_error_is_an_object)
{
    command_result r = RUN("plan", "--json", "--root", "/nowhere/at/all");
    json_t *error = json_loads(r.out, 0, NULL);
    assert_int_equal(r.status, 3);
    assert_string_equal(r.err, "");
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(error, "error"), "code")),
        "unreadable");
    json_decref(error);
    command_free(&r);
}

/* Quoted text may come from another user, and need not be UTF-8. */
TEST(quotes_hold_no_control_characters)
{
    command_result r = RUN("plan", "--root", A2, "--visible", "\033[31m9");
    json_t *error;
    assert_null(strchr(r.err, '\033'));
    expect_refusal(r, 1, "\"?[31m9\"");
    r = RUN("plan", "--root", A2, "--npus", "\033[31m9");
    assert_null(strchr(r.err, '\033'));
    expect_refusal(r, 2, "\"?[31m9\"");
    change_text(A2_NAME, "env", "ASCEND_RT_VISIBLE_DEVICES=1,\033[31m\xff\n");
    r = RUN("plan", "--root", temp.dir);
    assert_null(strchr(r.err, '\033'));
    expect_output(r, "visible_npus=[1]");
    r = RUN("plan", "--root", "/no\xffwhere", "--json");
    error = json_loads(r.out, 0, NULL);
    assert_int_equal(r.status, 3);
    assert_non_null(
        strstr(json_string_value(json_object_get(json_object_get(error, "error"), "text")),
               "/no?where"));
    json_decref(error);
    command_free(&r);
}

TEST(a_fixture_is_found_in_the_installed_corpus)
{
    expect_output(RUN("plan", "--fixture", "a3-640cpu-16npu"), "mode=global_slice");
    /* The word of vllm-ascend for a 950, whose pools are clusters. */
    expect_output(RUN("plan", "--fixture", "950-smt1-256cpu"), "mode=topo_affinity");
}

TEST(a_plan_names_the_npus_that_were_checked_for_overlap)
{
    expect_output(
        RUN("plan", "--rules", "reference", "--root", HOSTS "a2-192cpu-8npu-cpuset.host"),
        "overlap: none, checked over NPUs 0,2\n");
    expect_output(
        RUN("plan", "--rules", "reference", "--root", HOSTS "a2-192cpu-4node-8npu.host"),
        "overlap: resolved, checked over NPUs 0-7\n");
    expect_output(
        RUN("plan", "--rules", "reference", "--root", HOSTS "a3-container-renumbered.host"),
        "overlap: none, checked over all 16 NPUs that slices are cut for\n");
}

/* A folder and a host of a corpus give the same bytes. */
TEST(a_host_in_a_corpus_gets_the_plan_of_its_folder)
{
    static const char *const hosts[] = {"a2-192cpu-4node-8npu", "a3-container-renumbered",
                                        "950-smt2-640cpu", "driver-broken", "a2-cut-output"};
    char db[MAX_PATH];
    scratch_empty(&temp);
    snprintf(db, sizeof db, "%s/corpus.db", temp.dir);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        char folder[MAX_PATH];
        snprintf(folder, sizeof folder, HOSTS "%s.host", hosts[i]);
        expect_output(RUN("fixture", "import", folder, "--db", db), "1 host added");
        command_result from_folder = RUN("plan", "--root", folder, "--json");
        command_result from_row = RUN("plan", "--fixture", hosts[i], "--db", db, "--json");
        assert_int_equal(from_row.status, from_folder.status);
        assert_string_equal(from_row.out, from_folder.out);
        command_free(&from_folder);
        command_free(&from_row);
    }
    expect_refusal(RUN("plan", "--fixture", "nobody", "--db", db), 3, "no host of this name");
    expect_refusal(RUN("plan", "--fixture", "nobody", "--db", "Makefile"), 3, "no SQLite");
    expect_refusal(RUN("plan", "--fixture", "nobody", "--db", "tests"), 3, "Is a directory");
    expect_refusal(RUN("plan", "--fixture", "nobody", "--db", "/nowhere"), 3, "No such file");
    expect_refusal(RUN("plan", "--db", db), 2, "--fixture NAME");
}

TEST(a_rank_drives_its_visible_device)
{
    expect_output(RUN("plan", "--root", A2, "--rank", "5"), "rank 5 drives NPU 5\n");
    expect_output(RUN("plan", "--root", A2, "--visible", "2,4,6", "--rank", "1"),
                  "rank 1 drives NPU 4\n");
    expect_refusal(RUN("plan", "--root", A2, "--rank", "8"), 1, "rank 8");
    expect_output(RUN("plan", "--root", A2, "--rank", "7"), "rank=7");
    expect_output(RUN("plan", "--root", A2, "--visible", "5", "--rank", "7"), "NPU5: main");
    expect_refusal(
        RUN("plan", "--root", A2, "--visible", "5,3"), 1,
        "(visible devices: \"5,3\"); the Ascend runtime reads ascending ids with commas "
        "between them: 3,5");
    expect_refusal(RUN("plan", "--root", A2, "--visible", "0-3"), 1, "them: 0,1,2,3");
    expect_output(RUN("plan", "--root", A2, "--visible", "0,1,2,3"),
                  "visible_npus=[0, 1, 2, 3]");
    expect_refusal(RUN("plan", "--root", A2, "--visible", ""), 1, "visible");
    expect_refusal(RUN("plan", "--root", A2, "--visible", "9"), 1, "\"9\"");
}

/* == Whose CPUs, which NPUs ================================================= */

/* Each scope that the warning names ends it. */
TEST(a_part_of_the_cpus_asks_for_the_scope)
{
    static const char *const scopes[] = {"cpuset", "host", "own"};
    const char *host = HOSTS "a2-cpuset-half-nodes.host";
    json_t *plan = json_of(RUN("plan", "--rules", "reference", "--root", host, "--json"));
    command_result r = RUN("plan", "--rules", "reference", "--root", host);
    assert_string_equal(text_at(plan, "scope"), "cpuset");
    assert_true(has_code(json_object_get(plan, "warnings"), "partial_cpuset"));
    json_decref(plan);
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        char words[64];
        snprintf(words, sizeof words, "--scope %s, ", scopes[i]);
        assert_non_null(strstr(r.err, words));
        plan = json_of(RUN("plan", "--rules", "reference", "--root", host, "--json", "--scope",
                           scopes[i]));
        assert_string_equal(text_at(plan, "scope"), scopes[i]);
        assert_false(has_code(json_object_get(plan, "warnings"), "partial_cpuset"));
        json_decref(plan);
    }
    command_free(&r);
}

/* 12 CPUs are too few for a slice of each of 8 NPUs; one NPU alone can have them. */
TEST(a_refusal_for_want_of_cpus_names_the_scope_that_would_do)
{
    const char *const words[] = {"plan",         "--rules", "reference", "--root", A2,
                                 "--allowed",    "0-11",    "--visible", "5",      "--strategy",
                                 "global_slice", "--json",  NULL};
    json_t *answer = json_of(run(words));
    const json_t *error = json_object_get(answer, "error");
    assert_string_equal(text_at(error, "code"), "too_few_cpus");
    assert_string_equal(text_at(error, "would_do"), "own");
    assert_non_null(strstr(text_at(error, "text"), "--scope own would do: "));
    json_decref(answer);
    answer = json_of(RUN("plan", "--rules", "reference", "--root", A2, "--allowed", "0-11",
                         "--visible", "5", "--strategy", "global_slice", "--scope", "own",
                         "--json"));
    assert_string_equal(text_at(npu_at(answer, 0), "pool"), "0-11");
    assert_string_equal(text_at(answer, "scope"), "own");
    json_decref(answer);
}

/* An NPU that cannot have a pool and does not run is shown with its reason. */
TEST(an_npu_without_a_pool_is_shown_with_its_reason)
{
    const char *host = HOSTS "a2-192cpu-8npu-cpuset.host";
    json_t *plan = json_of(RUN("plan", "--rules", "reference", "--root", host, "--json"));
    const json_t *error = json_object_get(npu_at(plan, 1), "error");
    command_result r = RUN("plan", "--rules", "reference", "--root", host);
    assert_int_equal(json_array_size(json_object_get(plan, "devices")), 8);
    assert_true(json_is_null(json_object_get(npu_at(plan, 0), "error")));
    assert_string_equal(text_at(npu_at(plan, 0), "pool"), "144-167");
    assert_true(json_is_null(json_object_get(npu_at(plan, 1), "pool")));
    assert_string_equal(text_at(error, "code"), "no_local_cpus");
    assert_non_null(strstr(text_at(error, "text"), "NPU 1: none of the CPUs near it"));
    json_decref(plan);
    assert_non_null(strstr(r.out, "no pool: NPU 1: none of the CPUs near it is allowed"));
    expect_output(r, "visible_npus=[0, 1, 2, 3, 4, 5, 6, 7]");
    expect_refusal(RUN("plan", "--rules", "reference", "--root", host, "--npus", "1"), 1,
                   "NPU 1: none of the CPUs");
    expect_refusal(RUN("plan", "--rules", "reference", "--root", host, "--rank", "1"), 1,
                   "NPU 1: none of the CPUs");
}

TEST(a_plan_says_which_npus_run_and_running_limits_it)
{
    const char *host = HOSTS "a2-192cpu-8npu-cpuset.host"; /* NPU 0 alone runs */
    json_t *plan = json_of(RUN("plan", "--root", host, "--json"));
    assert_true(json_is_true(json_object_get(npu_at(plan, 0), "running")));
    assert_true(json_is_false(json_object_get(npu_at(plan, 1), "running")));
    json_decref(plan);
    plan = json_of(RUN("plan", "--root", host, "--json", "--running"));
    assert_int_equal(json_array_size(json_object_get(plan, "devices")), 1);
    json_decref(plan);
    plan = json_of(RUN("plan", "--root", HOSTS "910a-no-process-table.host", "--json"));
    assert_true(json_is_null(json_object_get(npu_at(plan, 0), "running")));
    assert_true(has_code(json_object_get(plan, "warnings"), "no_processes"));
    json_decref(plan);
}

/* Before any worker runs, each rank has an NPU of its own. */
TEST(ranks_of_an_idle_host_drive_different_npus)
{
    for (int rank = 0; rank < 8; rank++) {
        char text[16], name[16];
        json_t *plan;
        snprintf(text, sizeof text, "%d", rank);
        snprintf(name, sizeof name, "npu%d", rank);
        plan = json_of(RUN("plan", "--root", HOSTS "idle-a2.host", "--rank", text, "--json"));
        assert_int_equal(json_integer_value(json_object_get(plan, "rank")), rank);
        assert_string_equal(text_at(plan, "rank_device"), name);
        json_decref(plan);
    }
}

TEST(hidden_npus_and_idle_cpus_are_counted)
{
    const char *host = HOSTS "a2-container-cards-4-6.host"; /* 2 of 8 NPUs */
    json_t *plan = json_of(RUN("plan", "--root", host, "--json"));
    assert_int_equal(json_integer_value(json_object_get(plan, "hidden")), 6);
    assert_int_equal(json_integer_value(json_object_get(plan, "idle")), 96);
    assert_string_equal(text_at(plan, "facts"), "npu-smi");
    json_decref(plan);
    expect_output(RUN("plan", "--root", host),
                  "NPUs 0-1, not over 6 hidden: which CPUs are near them is not known\n");
    expect_output(RUN("plan", "--root", HOSTS "a2-container-boards.host"),
                  "NPUs 0-1 and 1 hidden\n");
    plan = json_of(RUN("plan", "--root", host, "--scope", "own", "--json"));
    assert_int_equal(json_integer_value(json_object_get(plan, "hidden")), 0);
    json_decref(plan);
}

TEST(the_number_of_npus_is_asked_for_where_no_input_tells)
{
    json_t *plan;
    expect_refusal(
        RUN("plan", "--root", HOSTS "npu-missing.host", "--npus", "0-1", "--device-type", "a3"),
        1, "--total");
    plan = json_of(RUN("plan", "--root", HOSTS "npu-missing.host", "--npus", "0-1",
                       "--device-type", "a3", "--total", "4", "--json"));
    assert_int_equal(json_integer_value(json_object_get(plan, "total")), 4);
    assert_string_equal(text_at(npu_at(plan, 0), "pool"), "0-15");
    json_decref(plan);
}

/* The map has lost card 7, which the topology and npu-smi info still have. */
TEST(inputs_that_differ_are_named_with_the_npu)
{
    size_t len;
    char *text = load(A2_NAME, "cmd/npu-smi-info-m.txt", &len);
    char *last = strstr(text, "\n\t7 ");
    command_result r;
    assert_non_null(last);
    change(A2_NAME, "cmd/npu-smi-info-m.txt", text, (size_t)(last + 1 - text));
    r = RUN("plan", "--root", temp.dir);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.err, "npu-smi info -t topo names an NPU with card 7 that npu-smi "
                                  "info -m lacks"));
    assert_non_null(strstr(r.err, "PCI address 0000:06:00.0 that npu-smi info -m lacks"));
    expect_output(r, " and 1 hidden\n");
    free(text);
}

TEST(text_that_no_reader_knows_is_quoted_with_its_place)
{
    size_t len;
    char *text = load(A2_NAME, "cmd/npu-smi-info-m.txt", &len);
    char *more = (char *)malloc(len + 64);
    command_result r;
    assert_non_null(more);
    snprintf(more, len + 64, "Mood of the driver : fine\n%s", text);
    change_text(A2_NAME, "cmd/npu-smi-info-m.txt", more);
    r = RUN("plan", "--root", temp.dir);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.err,
                           "npu-smi info -m, line 1, column 1: cpubind does not know this "
                           "text and passes over it: \"Mood of the driver : fine\""));
    command_free(&r);
    free(more);
    free(text);
}

/* == --allowed and --exclude ================================================ */

/* Node 6 is near NPUs 0 and 2, which share it and node 7; 46 of their CPUs are left. */
TEST(excluded_cpus_are_in_no_pool_and_are_printed)
{
    json_t *plan = json_of(RUN("plan", "--rules", "reference", "--root", A2, "--exclude",
                               "0-143,150,191", "--npus", "0,2", "--json"));
    const json_t *npus = json_object_get(plan, "devices");
    assert_string_equal(text_at(plan, "allowed"), "144-149,151-190");
    assert_string_equal(text_at(plan, "excluded"), "0-143,150,191");
    assert_string_equal(text_at(json_array_get(npus, 0), "pool"), "144-149,151-167");
    assert_string_equal(text_at(json_array_get(npus, 1), "pool"), "168-190");
    json_decref(plan);
    expect_output(
        RUN("plan", "--rules", "reference", "--root", A2, "--exclude", "150", "--npus", "0"),
        "allowed CPUs 0-149,151-191, excluded CPUs 150\n");
    plan = json_of(RUN("plan", "--rules", "reference", "--root", A2, "--json"));
    assert_null(json_object_get(plan, "excluded"));
    json_decref(plan);
}

TEST(allowed_cpus_of_the_option_replace_those_of_the_process)
{
    json_t *plan;
    change_text(A2_NAME, "proc/self/status", "Cpus_allowed_list:\t0-47\n");
    expect_refusal(RUN("plan", "--rules", "reference", "--root", temp.dir, "--npus", "0"), 1,
                   "none of the CPUs near");
    plan = json_of(RUN("plan", "--rules", "reference", "--root", temp.dir, "--npus", "0",
                       "--json", "--allowed", "144-155,168-179"));
    assert_string_equal(text_at(plan, "allowed"), "144-155,168-179");
    assert_null(json_object_get(plan, "excluded"));
    assert_string_equal(text_at(npu_at(plan, 0), "pool"), "144-155");
    json_decref(plan);
}

TEST(excluding_too_many_cpus_names_those_that_are_left)
{
    expect_refusal(RUN("plan", "--rules", "reference", "--root", A2, "--exclude", "0-191"), 1,
                   "every allowed CPU that is online is excluded (allowed none, excluded CPUs "
                   "0-191)");
    expect_refusal(RUN("plan", "--rules", "reference", "--root", A2, "--exclude", "144-191"), 1,
                   "allowed 0-143, excluded CPUs 144-191");
    expect_refusal(RUN("plan", "--rules", "reference", "--root", A2, "--exclude",
                       "0-143,148-191", "--npus", "0"),
                   1,
                   "it needs 5 CPUs and has 2 (allowed 144-147, excluded CPUs 0-143,148-191); "
                   "give the process more CPUs (cpuset, taskset), exclude fewer");
}

/* The expectation of a capture has the options that the host was captured with. */
TEST(a_capture_keeps_the_cpus_of_its_options)
{
    char folder[sizeof temp.dir + 32], file[sizeof folder + 32];
    json_t *expected;
    snprintf(folder, sizeof folder, "%s/captured", temp.dir);
    snprintf(file, sizeof file, "%s/expect/default.json", folder);
    expect_output(RUN("capture", "--root", A2, "--exclude", "0-3", "--allowed", "0-100", "-o",
                      folder, "--npus", "5"),
                  "gives the same");
    expected = json_load_file(file, 0, NULL);
    assert_non_null(expected);
    assert_string_equal(text_at(json_object_get(expected, "plan"), "excluded"), "0-3");
    assert_string_equal(text_at(json_object_get(expected, "plan"), "allowed"), "4-100");
    assert_int_equal(json_array_size(json_object_get(expected, "args")), 6);
    json_decref(expected);
}

/* == Bad input ============================================================== */

TEST(a_bad_list_of_allowed_cpus_names_the_place)
{
    static const char *const lists[][2] = {{"5-2", "column 22"},   {"010", "column 20"},
                                           {"+1", "column 20"},    {"4294967297", "column 20"},
                                           {"0,", "column 22"},    {"0-3,2", "column 24"},
                                           {"0-3 5", "column 23"}, {"0-6:2", "column 23"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char text[128];
        snprintf(text, sizeof text, "Name:\tpython\nCpus_allowed_list:\t%s\n", lists[i][0]);
        change_text(A2_NAME, "proc/self/status", text);
        expect_refusal(RUN("plan", "--root", temp.dir), 3, lists[i][1]);
        expect_refusal(RUN("plan", "--root", temp.dir), 3, "proc/self/status, line 2");
    }
}

TEST(an_empty_list_of_allowed_cpus_is_refused)
{
    change_text(A2_NAME, "proc/self/status", "Name:\tpython\nCpus_allowed_list:\t\n");
    expect_refusal(RUN("plan", "--root", temp.dir), 1, "no allowed CPU");
    change_text(A2_NAME, "proc/self/status", "Name:\tpython\n");
    expect_refusal(RUN("plan", "--root", temp.dir), 3, "proc/self/status");
}

TEST(allowed_cpus_without_a_node_are_left_out)
{
    change_text(A2_NAME, "proc/self/status", "Cpus_allowed_list:\t0-191,60000\n");
    expect_output(RUN("plan", "--root", temp.dir, "--json"), "\"allowed\": \"0-191\"");
    expect_output(RUN("plan", "--root", temp.dir, "--json"), "\"code\": \"offline\"");
}

static const char *const captures[] = {"cmd/npu-smi-info-m.txt", "cmd/npu-smi-info.txt",
                                       "cmd/npu-smi-info-t-topo.txt"};

/* A host and an option with which a plan needs the capture. Without the option the boards have
 * the addresses of npu-smi info; on other hosts the kernel has the CPUs of the topology. */
static const char *const needy[] = {A2_NAME, A2_NAME, "a2-cut-output"};
static const char *const needing[] = {NULL, "--running", NULL};

TEST(warnings_of_affinity_name_their_npus)
{
    static const char *const cases[][2] = {
        {HOSTS "300i-pro-x86-96cpu.host",
         "no CPU affinity for NPU 0-3: it is taken from the kernel"},
        {HOSTS "a2-affinity-differs.host",
         "disagree about the CPUs near NPU 3: the CPUs of the kernel are used"},
        {HOSTS "a2-no-numa-node.host", "the kernel has no node for NPU 2 (numa_node -1)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        command_result r = RUN("plan", "--root", cases[i][0]);
        assert_int_equal(r.status, 0);
        if (!strstr(r.err, cases[i][1]))
            fail_msg("\"%s\" holds no \"%s\"", r.err, cases[i][1]);
        command_free(&r);
    }
}

/* The message names the command that printed the input, the place, and an option that is not
 * in use already. */
TEST(an_input_that_only_gives_affinity_can_be_left_out)
{
    change_text("a2-container-boards", "cmd/npu-smi-info-t-board-i4-c0.txt",
                "\tNPU ID : 4\n\tPCIe Bus Info : 0000:E8\n");
    expect_refusal(RUN("plan", "--root", temp.dir, "--npus", "0,1"), 3,
                   "npu-smi info -t board -i 4 -c 0, line 2, column ");
    expect_refusal(
        RUN("plan", "--root", temp.dir, "--npus", "0,1"), 3,
        "plan all workers of the host without it: --rules reference --strategy global_slice");
    expect_output(RUN("plan", "--root", temp.dir, "--npus", "0,1", "--rules", "reference",
                      "--strategy", "global_slice"),
                  "mode=global_slice");
    expect_refusal(
        RUN("plan", "--root", temp.dir), 3,
        "plan all workers of the host without it: --rules reference --strategy global_slice");
}

/* A worker that cannot read npu-smi info has the pools of the others, which can. */
TEST(a_damaged_table_that_a_plan_does_not_need_leaves_the_pools_as_they_are)
{
    json_t *whole = json_of(RUN("plan", "--root", HOSTS "a2-container-boards.host", "--json"));
    json_t *plan;
    change_text("a2-container-boards", "cmd/npu-smi-info.txt",
                "| NPU     Chip | Process id | Process");
    plan = json_of(RUN("plan", "--root", temp.dir, "--json"));
    assert_true(has_code(json_object_get(plan, "warnings"), "no_processes"));
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(text_at(npu_at(plan, i), "pool"),
                            text_at(npu_at(whole, i), "pool"));
        assert_string_equal(text_at(npu_at(plan, i), "pci"), text_at(npu_at(whole, i), "pci"));
    }
    json_decref(plan);
    json_decref(whole);
    expect_refusal(RUN("plan", "--root", temp.dir, "--running"), 3, "or leave out --running");
}

TEST(an_empty_capture_is_an_error_with_its_place)
{
    for (size_t i = 0; i < 3; i++) {
        change_text(needy[i], captures[i], "");
        expect_refusal(RUN("plan", "--root", temp.dir, needing[i]), 3, "line 1, column 1");
    }
}

TEST(stderr_of_a_failed_command_is_quoted)
{
    static const char name[] = "cmd/npu-smi-info-m.txt.err";
    static const struct {
        const char *text, *quoted;
    } cases[] = {
        {"npu-smi: invalid option -- 'm'\nUsage\n", "\"npu-smi: invalid option -- 'm'\";"},
        {"\n  \t\r\nsecond line\r\n", "\"second line\";"},
        {"\xe6\x9c\xaa\xe6\x89\xbe\xe5\x88\xb0", "\"\xe6\x9c\xaa\xe6\x89\xbe\xe5\x88\xb0\";"},
        {"a\x1b[2J\xff\xc2\x9b\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80", "\"a?[2J????"
                                                                     "????"
                                                                     "????\";"},
        {"\xf0\x9f\x98\x80 \x7f\xe6\x9c", "\"\xf0\x9f\x98\x80 ???\";"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        change_text("npu-smi-no-library", name, cases[i].text);
        expect_refusal(RUN("plan", "--root", temp.dir), 3, cases[i].quoted);
        command_result r = RUN("plan", "--root", temp.dir, "--json");
        assert_int_equal(r.status, 3);
        if (i == 2)
            assert_non_null(strstr(r.out, "\xe6\x9c\xaa\xe6\x89\xbe\xe5\x88\xb0"));
        command_free(&r);
    }
    change_text("npu-smi-no-library", name, "\n \n");
    command_result r = RUN("plan", "--root", temp.dir);
    assert_null(strstr(r.err, "stderr"));
    command_free(&r);
}

/* A character is quoted as a whole or not at all. */
TEST(a_long_line_of_stderr_is_cut_between_characters)
{
    char text[CPUBIND_INPUT_ERR_MAX];
    for (size_t before = 0; before < 4; before++) {
        memset(text, 'x', sizeof text);
        for (size_t i = before; i + 3 <= 900; i += 3)
            memcpy(text + i, "\xe6\x9c\xaa", 3);
        text[900] = '\0';
        change_text("npu-smi-no-library", "cmd/npu-smi-info-m.txt.err", text);
        expect_refusal(RUN("plan", "--root", temp.dir), 3, "\xe6\x9c\xaa...\";");
    }
}

TEST(a_text_in_chinese_is_quoted_as_it_is)
{
    static const char words[] = "\"bash: npu-smi: \xe6\x9c\xaa\xe6\x89\xbe\xe5\x88\xb0"
                                "\xe5\x91\xbd\xe4\xbb\xa4\"";
    expect_refusal(RUN("plan", "--root", "fixtures/hosts/zh-npu-missing.host"), 3, words);
    command_result r = RUN("plan", "--root", "fixtures/hosts/zh-npu-missing.host", "--json");
    assert_non_null(strstr(r.out, "\xe6\x9c\xaa\xe6\x89\xbe\xe5\x88\xb0"));
    command_free(&r);
}

TEST(megabytes_of_noise_are_an_error)
{
    size_t len = (size_t)4 << 20;
    char *noise = (char *)malloc(len);
    uint32_t x = 1;
    assert_non_null(noise);
    for (size_t i = 0; i < len; i++) {
        x = x * 1664525u + 1013904223u;
        noise[i] = (char)(x >> 24);
    }
    for (size_t i = 0; i < 3; i++) {
        change(needy[i], captures[i], noise, len);
        expect_refusal(RUN("plan", "--root", temp.dir, needing[i]), 3, "npu-smi info");
    }
    free(noise);
}

TEST(swapped_captures_are_errors)
{
    size_t len;
    for (size_t i = 0; i < 3; i++) {
        char *text = load(A2_NAME, captures[(i + 1) % 3], &len);
        change(needy[i], captures[i], text, len);
        expect_refusal(RUN("plan", "--root", temp.dir, needing[i]), 3, "npu-smi info");
        free(text);
    }
}

/* The kernel names the same CPUs. */
TEST(a_damaged_topology_gives_way_to_the_kernel)
{
    command_result whole = RUN("plan", "--root", A2, "--json");
    const char *npus = strstr(whole.out, "\"devices\"");
    const char *end = strstr(whole.out, "\"warnings\"");
    static const char *const texts[] = {"", "NPU0 NPU1 CPU Affinity\nNPU0 X SYS 0-", NULL};
    assert_non_null(npus);
    assert_non_null(end);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        command_result r;
        const char *same;
        change_text(A2_NAME, captures[2], texts[i]);
        r = RUN("plan", "--root", temp.dir, "--json");
        assert_int_equal(r.status, 0);
        assert_non_null(strstr(r.out, "\"code\": \"pci_affinity\""));
        same = strstr(r.out, "\"devices\"");
        assert_non_null(same);
        assert_memory_equal(npus, same, (size_t)(end - npus));
        command_free(&r);
    }
    command_free(&whole);
}

/* Rows come before their header. */
TEST(a_capture_with_reversed_lines_is_an_error)
{
    size_t len;
    char *text = load(A2_NAME, "cmd/npu-smi-info-m.txt", &len);
    char *turned = (char *)malloc(len + 1);
    size_t end = len;
    size_t n = 0;
    assert_non_null(turned);
    while (end > 0) {
        size_t start = end - 1;
        while (start > 0 && text[start - 1] != '\n')
            start--;
        memcpy(turned + n, text + start, end - start);
        n += end - start;
        end = start;
    }
    change(A2_NAME, "cmd/npu-smi-info-m.txt", turned, n);
    expect_refusal(RUN("plan", "--root", temp.dir), 3, "npu-smi info -m, line ");
    free(text);
    free(turned);
}

/* A truncated capture is an error, or the plan of a smaller host: then every
 * NPU of it is whole. It is never a crash, and never on stdout when it is an error. */
TEST(a_truncated_capture_is_an_error_or_a_smaller_host)
{
    for (size_t i = 0; i < 3; i++) {
        size_t len;
        char *text = load("a2-192cpu-8npu-cpuset", captures[i], &len);
        for (size_t cut = 0; cut < len; cut += len / 12 + 1) {
            command_result r;
            change("a2-192cpu-8npu-cpuset", captures[i], text, cut);
            r = RUN("plan", "--root", temp.dir, "--npus", "0");
            if (r.status != 0)
                assert_string_equal(r.out, "");
            assert_true(r.status == 0 || r.status == 1 || r.status == 3);
            command_free(&r);
        }
        free(text);
    }
}

TEST(the_chips_of_a_map_name_the_product)
{
    size_t len;
    char *text = load("a3-640cpu-16npu", "cmd/npu-smi-info-m.txt", &len);
    change(A2_NAME, "cmd/npu-smi-info-m.txt", text, len);
    expect_output(RUN("plan", "--root", temp.dir, "--npus", "0", "--total", "16", "--json"),
                  "\"device_type\": \"a3\"");
    free(text);
}

TEST(an_unknown_chip_asks_for_the_device_type)
{
    change_text("a2-192cpu-8npu-cpuset", "cmd/npu-smi-info-m.txt",
                "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
                "\t0        0         0               Fantasy 1\n");
    {
        command_result r = RUN("plan", "--root", temp.dir, "--npus", "0");
        if (r.status == 3)
            assert_non_null(strstr(r.err, "--device-type a2, a3, 300i"));
        else
            assert_int_equal(r.status, 0); /* told by the PCI ids of the host */
        command_free(&r);
    }
    expect_output(
        RUN("plan", "--root", temp.dir, "--npus", "0", "--device-type", "a2", "--json"),
        "\"total\": 1");
}

TEST(ids_out_of_range_are_errors)
{
    change_text(A2_NAME, "cmd/npu-smi-info-m.txt",
                "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
                "\t0        0         4294967296      Ascend 910B3\n");
    expect_refusal(RUN("plan", "--root", temp.dir), 3, "line 2");
    change_text(A2_NAME, "cmd/npu-smi-info-m.txt",
                "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
                "\t0        0         0               Ascend 910B3\n"
                "\t1        0         0               Ascend 910B3\n");
    expect_refusal(RUN("plan", "--root", temp.dir), 3, "a logic id occurs twice");
    change_text(A2_NAME, "sys/devices/system/node/node3/cpulist", "72-95,70000\n");
    expect_refusal(RUN("plan", "--root", temp.dir), 3, "node3/cpulist, line 1, column 7");
    expect_refusal(RUN("plan", "--root", A2, "--npus", "8"), 1, "NPU 8");
}

TEST(a_full_disk_is_an_error)
{
    const char *words[] = {"sh", "-c", "\"$0\" plan --root " A2 " >/dev/full", command_path(),
                           NULL};
    expect_refusal(command_run(words), 4, "could not be written");
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_fits_a_screen),
        cmocka_unit_test(version_is_one_line),
        cmocka_unit_test(wrong_arguments_exit_with_2),
        cmocka_unit_test(npu_and_npus_are_one_option),
        cmocka_unit_test(a_drop_in_of_systemd_is_that_of_one_rank),
        cmocka_unit_test(an_option_is_written_in_full),
        cmocka_unit_test(a_rank_that_is_not_set_is_a_usage_error),
        cmocka_unit_test(with_json_a_usage_error_is_an_object),
        cmocka_unit_test(a_device_type_is_a_product_or_a_chip_in_any_letters),
        cmocka_unit_test(lists_are_read_as_taskset_reads_them),
        cmocka_unit_test(the_table_of_threads_is_that_in_effect),
        cmocka_unit_test(no_command_prints_help_and_exits_with_2),
        cmocka_unit_test(text_keeps_the_lines_of_the_logs),
        cmocka_unit_test(equal_hosts_give_equal_bytes),
        cmocka_unit_test(json_has_the_keys_in_their_order),
        cmocka_unit_test(the_map_is_no_wider_than_the_screen),
        cmocka_unit_test(the_map_shows_each_cpu),
        cmocka_unit_test(the_map_is_coloured_on_a_terminal_only),
        cmocka_unit_test(the_output_of_npu_smi_on_this_host_is_quoted),
        cmocka_unit_test(the_cpus_of_this_host_are_those_of_the_process),
        cmocka_unit_test(without_npu_smi_the_message_names_other_hosts),
        cmocka_unit_test(without_a_running_npu_the_message_names_an_option),
        cmocka_unit_test(a_missing_folder_or_fixture_exits_with_3),
        cmocka_unit_test(with_json_an_error_is_an_object),
        cmocka_unit_test(quotes_hold_no_control_characters),
        cmocka_unit_test(a_fixture_is_found_in_the_installed_corpus),
        cmocka_unit_test(a_plan_names_the_npus_that_were_checked_for_overlap),
        cmocka_unit_test(a_host_in_a_corpus_gets_the_plan_of_its_folder),
        cmocka_unit_test(a_rank_drives_its_visible_device),
        cmocka_unit_test(a_part_of_the_cpus_asks_for_the_scope),
        cmocka_unit_test(a_refusal_for_want_of_cpus_names_the_scope_that_would_do),
        cmocka_unit_test(an_npu_without_a_pool_is_shown_with_its_reason),
        cmocka_unit_test(a_plan_says_which_npus_run_and_running_limits_it),
        cmocka_unit_test(ranks_of_an_idle_host_drive_different_npus),
        cmocka_unit_test(hidden_npus_and_idle_cpus_are_counted),
        cmocka_unit_test(the_number_of_npus_is_asked_for_where_no_input_tells),
        cmocka_unit_test(inputs_that_differ_are_named_with_the_npu),
        cmocka_unit_test(text_that_no_reader_knows_is_quoted_with_its_place),
        cmocka_unit_test(excluded_cpus_are_in_no_pool_and_are_printed),
        cmocka_unit_test(allowed_cpus_of_the_option_replace_those_of_the_process),
        cmocka_unit_test(excluding_too_many_cpus_names_those_that_are_left),
        cmocka_unit_test(a_capture_keeps_the_cpus_of_its_options),
        cmocka_unit_test(a_bad_list_of_allowed_cpus_names_the_place),
        cmocka_unit_test(an_empty_list_of_allowed_cpus_is_refused),
        cmocka_unit_test(allowed_cpus_without_a_node_are_left_out),
        cmocka_unit_test(warnings_of_affinity_name_their_npus),
        cmocka_unit_test(an_input_that_only_gives_affinity_can_be_left_out),
        cmocka_unit_test(
            a_damaged_table_that_a_plan_does_not_need_leaves_the_pools_as_they_are),
        cmocka_unit_test(an_empty_capture_is_an_error_with_its_place),
        cmocka_unit_test(stderr_of_a_failed_command_is_quoted),
        cmocka_unit_test(a_long_line_of_stderr_is_cut_between_characters),
        cmocka_unit_test(a_text_in_chinese_is_quoted_as_it_is),
        cmocka_unit_test(megabytes_of_noise_are_an_error),
        cmocka_unit_test(swapped_captures_are_errors),
        cmocka_unit_test(a_damaged_topology_gives_way_to_the_kernel),
        cmocka_unit_test(a_capture_with_reversed_lines_is_an_error),
        cmocka_unit_test(a_truncated_capture_is_an_error_or_a_smaller_host),
        cmocka_unit_test(the_chips_of_a_map_name_the_product),
        cmocka_unit_test(an_unknown_chip_asks_for_the_device_type),
        cmocka_unit_test(ids_out_of_range_are_errors),
        cmocka_unit_test(a_full_disk_is_an_error),
    };
    return cmocka_run_group_tests_name("plan", tests, make_temp, remove_temp);
}

TEST_PROGRAM(run_all)
