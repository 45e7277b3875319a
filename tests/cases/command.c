/* command.c - command lines, and plans by the C ABI: what they say
 * SPDX-License-Identifier: MIT
 *
 * The cases are tests/cases/command_*.txt. Each has a new folder, its working place: "hosts" in
 * it leads to the fixtures and "bin/cpubind" to the command. Of the environment a command has
 * PATH, which begins with bin, and what `env` says.
 *   file NAME [= LINE]         the data are a file of the folder
 *   env NAME=VALUE             for the commands that follow
 *   $ ARGUMENTS [| SHOWN]      runs the command; data are its stdin. Words as in the shell
 *   sh LINE                    runs a line of the shell; data are its stdin
 *   ? ARGUMENTS                a mistake: runs the command as it is, and with --json, which
 *                              must say the same in an object
 *   try ARGUMENTS              runs what the last message names as right, and these arguments:
 *                              it must work
 *   on HOST                    opens a fixture by the C ABI; "./NAME": a host of the folder
 *   plan KEY=VALUE ... [| SHOWN]     plans that host; without SHOWN only a refusal is said
 *   topo KEY=VALUE ... [| SHOWN]     lists its devices
 *   as FORMAT [| SHOWN]              prints the last plan in a format
 *   explain TARGET [| SHOWN]         and an explanation, a line for each sentence
 * What comes of it: "exits N" unless it is 0, the lines of stdout, and behind "!" those of
 * stderr, or "CODE: TEXT" of an error of the ABI. Paths of the folder are said as HERE, those
 * of the folder of the command as BUILD.
 *
 * SHOWN, parts between " | ": ".KEY[N].KEY", values of a JSON object, a line for each path,
 * where [] is each element and {} at the end the keys; else words: of the output only lines
 * that have one of these are shown.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wordexp.h>

#include "../../adapters/api/cpubind_api.h"
#include "../support/cases.h"
#include "../support/run_command.h"

enum { MAX_WORDS = COMMAND_WORDS, MAX_ENV = 32 };

static char here[] = "/tmp/cpubind-command-XXXXXX";
static char build[PATH_MAX], top[PATH_MAX];
static char *env[MAX_ENV];
static int n_env;
static char *last_message; /* of the last command that failed */
static char last_command[32];
static cpb_host *host;
static cpb_plan *plan;
static said got;

/* == The folder of a case =================================================== */

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static void add_env(const char *text)
{
    const size_t name = strcspn(text, "=") + 1;
    int i = 0;
    while (i < n_env && strncmp(env[i], text, name) != 0)
        i++;
    assert_in_range(i, 0, MAX_ENV - 2);
    if (i < n_env)
        free(env[i]);
    else
        n_env++;
    env[i] = strdup(text);
    env[n_env] = NULL;
}

/* Ends a case: nothing is left of it. */
static void leave(void)
{
    while (n_env > 0)
        free(env[--n_env]);
    cpb_plan_free(plan);
    cpb_host_close(host);
    free(last_message);
    plan = NULL;
    host = NULL;
    last_message = NULL;
    (void)nftw(here, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void in_folder(const char *name, char path[PATH_MAX])
{
    assert_in_range(snprintf(path, PATH_MAX, "%s/%s", here, name), 1, PATH_MAX - 1);
}

static void make_link(const char *to, const char *name)
{
    char path[PATH_MAX];
    in_folder(name, path);
    assert_int_equal(symlink(to, path), 0);
}

static void begin(void)
{
    static const char *const kept[] = {"ASAN_OPTIONS", "LLVM_PROFILE_FILE"};
    char text[PATH_MAX + 32];
    leave();
    memset(here + strlen(here) - 6, 'X', 6);
    assert_non_null(mkdtemp(here));
    assert_int_equal(chmod(here, 0755), 0);
    in_folder("bin", text);
    assert_int_equal(mkdir(text, 0755), 0);
    make_link(command_path(), "bin/cpubind");
    (void)snprintf(text, sizeof text, "%s/fixtures/hosts", top);
    make_link(text, "hosts");
    (void)snprintf(text, sizeof text, "PATH=%s/bin:/usr/sbin:/usr/bin:/sbin:/bin", here);
    add_env(text);
    add_env("LC_ALL=C");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (getenv(kept[i])) {
            (void)snprintf(text, sizeof text, "%s=%s", kept[i], getenv(kept[i]));
            add_env(text);
        }
}

static void set_env(step *now)
{
    add_env(now->rest);
}

static void put_file(step *now)
{
    char path[PATH_MAX];
    split_file(now);
    in_folder(now->rest, path);
    for (char *c = path + strlen(here) + 1; (c = strchr(c, '/')) != NULL; *c++ = '/') {
        *c = '\0';
        assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
    }
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(now->data ? now->data : "", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* == What is said =========================================================== */

/* Says a text in one line: a control character is written as in a file of cases, and a path of
 * the case as a word. */
static void say_text(const char *text, size_t n)
{
    const struct {
        const char *path, *word;
    } paths[] = {{here, "HERE"}, {build, "BUILD"}};
    for (const char *end = text + n; text < end; text++) {
        size_t i = 0;
        while (i < 2 && (strncmp(text, paths[i].path, strlen(paths[i].path)) != 0 ||
                         text + strlen(paths[i].path) > end))
            i++;
        if (i < 2) {
            say(&got, "%s", paths[i].word);
            text += strlen(paths[i].path) - 1;
        } else if ((unsigned char)*text < ' ' || *text == 0x7f) {
            say(&got, "\\x%02x", (unsigned)*text);
        } else {
            say(&got, "%c", *text);
        }
    }
}

static void say_lines(const char *text, const char *sign, char *const *words)
{
    for (const char *line = text; *line;
         line += strcspn(line, "\n") + (strchr(line, '\n') != 0)) {
        const size_t n = strcspn(line, "\n");
        int is_shown = !*words;
        for (char *const *word = words; *word; word++)
            is_shown |= memmem(line, n, *word, strlen(*word)) != NULL;
        if (!is_shown)
            continue;
        say(&got, ">%s%s", n || *sign ? " " : "", sign);
        say_text(line, n);
        say(&got, "\n");
    }
}

/* Texts of a list have a line each. */
static void say_value(const json_t *value)
{
    char *text;
    if (json_is_string(value)) {
        say_text(json_string_value(value), json_string_length(value));
        return;
    }
    if (json_is_string(json_array_get(value, 0))) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            say(&got, i ? "\n> " : "");
            say_value(json_array_get(value, i));
        }
        return;
    }
    text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : strdup("-");
    assert_non_null(text);
    say_text(text, strlen(text));
    free(text);
}

/* Says what is at the path of a value. */
static void say_path(const json_t *value, const char *path)
{
    size_t n = strcspn(path + (*path == '.'), ".[{"), i;
    char key[64], *end;
    const char *name;
    json_t *one;
    if (*path == '\0' || strcmp(path, ".") == 0) {
        say_value(value);
    } else if (strcmp(path, "{}") == 0) {
        i = 0;
        json_object_foreach((json_t *)(uintptr_t)value, name, one)
            say(&got, "%s%s", i++ ? " " : "", name);
    } else if (strncmp(path, "[]", 2) == 0) {
        for (i = 0; i < json_array_size(value); i++) {
            say(&got, i ? "; " : "");
            say_path(json_array_get(value, i), path + 2);
        }
    } else if (*path == '[') {
        i = strtoul(path + 1, &end, 10);
        say_path(json_array_get(value, i), end + 1);
    } else {
        (void)snprintf(key, sizeof key, "%.*s", (int)n, path + 1);
        say_path(n ? json_object_get(value, key) : value, path + 1 + n);
    }
}

/* Cuts " | SHOWN" off, into its parts. */
static void take_shown(char *rest, char *parts[MAX_WORDS])
{
    int n = 0;
    char *at = strncmp(rest, "| ", 2) == 0 ? rest : strstr(rest, " | ");
    for (; at; at = strstr(at, " | ")) {
        const int size = *at == '|' ? 2 : 3;
        *at = '\0';
        at += size;
        assert_in_range(n, 0, MAX_WORDS - 2);
        parts[n++] = at;
    }
    parts[n] = NULL;
}

static void say_shown(const char *text, char *const *parts)
{
    if (!*parts || **parts != '.') {
        say_lines(text, "", parts);
        return;
    }
    json_error_t fault;
    json_t *value = json_loads(text, 0, &fault);
    if (!value)
        fail_msg("this is no JSON: %s\n%.2000s", fault.text, text);
    for (; *parts; parts++) {
        say(&got, "> ");
        say_path(value, *parts);
        say(&got, "\n");
    }
    json_decref(value);
}

/* == Commands =============================================================== */

static command_result run(const char *const *words, const char *data)
{
    const command_call call = {words, here, env, data};
    command_result r = command_call_run(&call);
    free(last_message);
    last_message = strdup(r.err);
    return r;
}

static void say_outcome(const command_result *o, char *const *parts)
{
    static char *const all[] = {NULL};
    if (o->status != 0)
        say(&got, "> exits %d\n", o->status);
    say_shown(o->out, parts);
    say_lines(o->err, "! ", *parts && **parts != '.' ? parts : all);
}

/* Runs the command with a line of arguments. */
static command_result run_line(const step *now, const char *line)
{
    const char *words[MAX_WORDS] = {command_path()};
    wordexp_t w = {.we_wordc = 0};
    command_result o;
    if (wordexp(line, &w, WRDE_NOCMD | WRDE_UNDEF) != 0 || w.we_wordc > MAX_WORDS - 2)
        fail_msg("%s:%d: words cannot be made of: %s", now->script->path, now->line, line);
    memcpy(words + 1, w.we_wordv, w.we_wordc * sizeof *words);
    (void)snprintf(last_command, sizeof last_command, "%s", w.we_wordc ? w.we_wordv[0] : "");
    o = run(words, now->data);
    wordfree(&w);
    return o;
}

static void run_command(step *now)
{
    char *parts[MAX_WORDS];
    command_result o;
    take_shown(now->rest, parts);
    o = run_line(now, now->rest);
    got.len = 0;
    say(&got, "%s", "");
    say_outcome(&o, parts);
    command_free(&o);
    expect(now, &got);
}

static void run_shell(step *now)
{
    static char *const all[] = {NULL};
    const char *const words[] = {"/bin/sh", "-c", now->rest, NULL};
    command_result o = run(words, now->data);
    got.len = 0;
    say(&got, "%s", "");
    say_outcome(&o, all);
    command_free(&o);
    expect(now, &got);
}

/* The line with --json behind the words of the command. */
static void with_json(const char *line, char *out, size_t size)
{
    size_t n = *line == '-' ? 0 : strcspn(line, " ");
    if (strncmp(line, "fixture ", 8) == 0)
        n += 1 + strcspn(line + n + 1, " ");
    assert_in_range(
        snprintf(out, size, "%.*s%s--json %s", (int)n, line, n ? " " : "", line + n), 1,
        (int)size - 1);
}

/* Says the status and the message, which is one line on stderr, or the text of one object on
 * stdout. */
static void make_mistake(step *now)
{
    char line[2048];
    command_result o = run_line(now, now->rest), j;
    const size_t n = strcspn(o.err, "\n");
    const char *text;
    json_t *object;
    if (o.status == 0 || *o.out || strncmp(o.err, "cpubind: ", 9) != 0 || o.err[n] != '\n' ||
        o.err[n + 1])
        fail_msg("%s:%d: no message of one line: status %d, \"%s\", \"%s\"", now->script->path,
                 now->line, o.status, o.out, o.err);
    o.err[n] = '\0';
    with_json(now->rest, line, sizeof line);
    j = run_line(now, line);
    object = json_loads(j.out, 0, NULL);
    text = json_string_value(json_object_get(json_object_get(object, "error"), "text"));
    if (j.status != o.status || *j.err || !text || strcmp(text, o.err + 9) != 0)
        fail_msg("%s:%d: with --json it is not the same: status %d, \"%s\", \"%s\"",
                 now->script->path, now->line, j.status, j.out, j.err);
    got.len = 0;
    say(&got, "> exits %d: ", o.status);
    say_text(text, strlen(text));
    say(&got, "\n");
    json_decref(object);
    free(last_message);
    last_message = strdup(o.err);
    command_free(&o);
    command_free(&j);
    expect(now, &got);
}

/* What a message names as right: "that is: cpubind LINE", or ", such as --OPTION VALUE". */
static void try_advice(step *now)
{
    static const char line_is[] = "that is: cpubind ", option_is[] = ", such as ";
    const char *right = strstr(last_message, line_is);
    const char *option = strstr(last_message, option_is);
    char line[2048];
    command_result o;
    if (!right && !option)
        fail_msg("%s:%d: no advice in: %s", now->script->path, now->line, last_message);
    right = right ? right + strlen(line_is) : option + strlen(option_is);
    assert_in_range(snprintf(line, sizeof line, "%s%s%.*s %s", option ? last_command : "",
                             option ? " " : "", (int)strcspn(right, "(,;\n"), right, now->rest),
                    1, (int)sizeof line - 1);
    o = run_line(now, line);
    if (o.status > 1 || !*o.out)
        fail_msg("%s:%d: %s: status %d, %s", now->script->path, now->line, line, o.status,
                 o.err);
    got.len = 0;
    say(&got, "> %s\n", line);
    command_free(&o);
    expect(now, &got);
}

/* == The C ABI ============================================================== */

static void say_error(cpb_error *error)
{
    say(&got, "> %s: ", cpb_error_code(error));
    say_text(cpb_error_text(error), strlen(cpb_error_text(error)));
    say(&got, "\n");
    cpb_error_free(error);
}

static void open_host(step *now)
{
    char path[PATH_MAX];
    cpb_error *error = NULL;
    cpb_host_close(host);
    if (strncmp(now->rest, "./", 2) == 0)
        in_folder(now->rest + 2, path);
    else
        (void)snprintf(path, sizeof path, "fixtures/hosts/%s.host", now->rest);
    host = cpb_host_folder(path, &error);
    got.len = 0;
    say(&got, "%s", "");
    if (error)
        say_error(error);
    expect(now, &got);
}

/* Says an answer of the ABI, or the error; frees both. */
static void say_answer(step *now, char *text, cpb_error *error, char *const *parts)
{
    got.len = 0;
    say(&got, "%s", "");
    if (error)
        say_error(error);
    else if (text)
        say_shown(text, parts);
    cpb_text_free(text);
    expect(now, &got);
}

static void ask_host(step *now)
{
    char *parts[MAX_WORDS];
    cpb_error *error = NULL;
    wordexp_t w = {.we_wordc = 0};
    take_shown(now->rest, parts);
    assert_int_equal(wordexp(now->rest, &w, WRDE_NOCMD), 0);
    const char *const *options = (const char *const *)w.we_wordv;
    char *text = NULL;
    if (strcmp(now->verb, "topo") == 0) {
        text = cpb_host_topo(host, options, &error);
    } else {
        cpb_plan_free(plan);
        plan = cpb_plan_make(host, options, &error);
        if (plan && *parts)
            text = cpb_plan_format(plan, **parts == '.' ? "json" : "text", &error);
    }
    wordfree(&w);
    say_answer(now, text, error, parts);
}

static void print_plan(step *now)
{
    char *parts[MAX_WORDS];
    cpb_error *error = NULL;
    take_shown(now->rest, parts);
    const int is_format = strcmp(now->verb, "as") == 0;
    char *text = is_format ? cpb_plan_format(plan, now->rest, &error)
                           : cpb_plan_explain(plan, now->rest, &error);
    for (char *at = is_format ? NULL : text; at && (at = strstr(at, "\n    ")) != NULL;
         *at = ' ')
        memmove(at + 1, at + 5, strlen(at + 5) + 1);
    say_answer(now, text, error, parts);
}

/* == All cases ============================================================== */

static int find_places(void **unused)
{
    const char *path = command_path();
    (void)unused;
    (void)snprintf(build, sizeof build, "%.*s", (int)(strrchr(path, '/') - path), path);
    return getcwd(top, sizeof top) ? 0 : -1;
}

static int leave_all(void **unused)
{
    (void)unused;
    leave();
    return 0;
}

static CMFixtureFunction before_all = find_places, after_all = leave_all;

static const verb of_driver[] = {
    {"file", put_file},  {"env", set_env},    {"$", run_command},      {"sh", run_shell},
    {"?", make_mistake}, {"try", try_advice}, {"on", open_host},       {"plan", ask_host},
    {"topo", ask_host},  {"as", print_plan},  {"explain", print_plan}, {NULL, NULL}};

TEST_CASES("command_*", of_driver, begin)
