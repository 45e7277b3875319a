/* expect.c - expectations: arguments, and the plan or the refusal that must come of them
 * SPDX-License-Identifier: MIT
 */
#include "expect.h"

#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "json.h"

/* == Reading ================================================================ */

/* Why an object is no expectation, or NULL. */
static const char *form_fault(const json_t *root)
{
    const json_t *args = json_object_get(root, "args");
    const int has_plan = json_is_object(json_object_get(root, "plan"));
    const int has_error = json_is_object(json_object_get(root, "error"));
    if (!json_is_array(args))
        return "\"args\" is not an array";
    for (size_t i = 0; i < json_array_size(args); i++)
        if (!json_is_string(json_array_get(args, i)))
            return "\"args\" does not hold texts alone";
    if (!json_is_integer(json_object_get(root, "exit")))
        return "\"exit\" is not a number";
    if (has_plan + has_error != 1)
        return "there must be either \"plan\" or \"error\", an object";
    return json_object_size(root) == 3 ? NULL : "it holds more than args, exit, plan or error";
}

json_t *cli_read_expectation(const char *body, size_t len, cli_text *why)
{
    json_error_t fault;
    json_t *root = json_loadb(len ? body : "", len, JSON_REJECT_DUPLICATES, &fault);
    const char *what = root ? form_fault(root) : NULL;
    if (!root)
        cli_add(why, "the expectation, line %d, column %d: %s", fault.line, fault.column,
                fault.text);
    else if (what)
        cli_add(why, "the expectation: %s", what);
    if (!root || !what)
        return root;
    json_decref(root);
    return NULL;
}

/* getopt_long() keeps its place in globals. */
static mtx_t parsing;
static once_flag parsing_once = ONCE_FLAG_INIT;

static void make_parsing(void)
{
    (void)mtx_init(&parsing, mtx_plain);
}

int cli_read_arguments(const json_t *expectation, cli_options *out, cli_text *why)
{
    const json_t *args = json_object_get(expectation, "args");
    char *argv[CLI_MAX_ARGS + 2] = {(char *)"plan"};
    int argc = 1;
    int good;
    memset(out, 0, sizeof *out);
    if (json_array_size(args) > CLI_MAX_ARGS) {
        cli_add(why, "the arguments are too many");
        return 0;
    }
    for (size_t i = 0; i < json_array_size(args); i++)
        argv[argc++] = (char *)json_string_value(json_array_get(args, i));
    call_once(&parsing_once, make_parsing);
    mtx_lock(&parsing);
    good = cli_parse(argc, argv, CLI_CASE, out, why);
    mtx_unlock(&parsing);
    if (!good || out->n_word == 0)
        return good;
    cli_add(why, "the argument \"%s\" is no option", out->word[0]);
    return 0;
}

/* == Making ================================================================= */

/* A plan as it is expected: without the version, and with the codes of the warnings alone. */
static json_t *expected_plan(json_t *plan)
{
    json_t *codes = plan ? json_array() : NULL;
    const json_t *warnings = json_object_get(plan, "warnings");
    for (size_t i = 0; codes && i < json_array_size(warnings); i++)
        codes = cli_json_append(
            codes, json_incref(json_object_get(json_array_get(warnings, i), "code")));
    if (!codes || json_object_set_new(plan, "warnings", codes) != 0 ||
        json_object_del(plan, "cpubind") != 0) {
        json_decref(plan);
        return NULL;
    }
    return plan;
}

json_t *cli_make_expectation(const json_t *args, const cli_planned *planned,
                             const cli_options *options)
{
    cli_text text = {"", 0};
    json_t *problem;
    json_t *error;
    if (planned->code == CPUBIND_PROBLEM_NONE)
        return json_pack("{s:O, s:i, s:o}", "args", args, "exit", CLI_DONE, "plan",
                         expected_plan(cli_plan_json(planned, options)));
    cli_explain(planned, options, &text);
    problem = cli_problem_json(&planned->problem, text.text);
    error = json_incref(json_object_get(problem, "error"));
    json_decref(problem);
    return json_pack("{s:O, s:i, s:o}", "args", args, "exit",
                     (int)cpubind_problem_exit(planned->code), "error", error);
}

/* == Comparing ============================================================== */

static void print_value(FILE *out, const json_t *value)
{
    if (!value)
        fputs("nothing", out);
    else
        (void)json_dumpf(value, out, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
}

/* A line when the two are not equal; either may be NULL: not there. */
static int compare_values(FILE *out, const char *place, const char *key, const json_t *expected,
                          const json_t *got)
{
    if (expected == got || (expected && got && json_equal(expected, got)))
        return 0;
    fprintf(out, "%s%s: expected ", place, key);
    print_value(out, expected);
    fputs(", got ", out);
    print_value(out, got);
    fputs("\n", out);
    return 1;
}

static int compare_keys(FILE *out, const char *place, json_t *expected, json_t *got,
                        int is_whole)
{
    int n = 0;
    for (void *at = json_object_iter(expected); at; at = json_object_iter_next(expected, at)) {
        const char *key = json_object_iter_key(at);
        n += compare_values(out, place, key, json_object_iter_value(at),
                            json_object_get(got, key));
    }
    for (void *at = is_whole ? json_object_iter(got) : NULL; at;
         at = json_object_iter_next(got, at)) {
        const char *key = json_object_iter_key(at);
        if (!json_object_get(expected, key))
            n += compare_values(out, place, key, NULL, json_object_iter_value(at));
    }
    return n;
}

/* NPU by NPU, each by its place in the list. */
static int compare_npus(FILE *out, const json_t *expected, const json_t *got)
{
    int n = 0;
    if (json_array_size(expected) != json_array_size(got)) {
        fprintf(out, "npus: expected %zu, got %zu\n", json_array_size(expected),
                json_array_size(got));
        return 1;
    }
    for (size_t i = 0; i < json_array_size(got); i++) {
        char place[32];
        snprintf(place, sizeof place, "npus[%zu].", i);
        n += compare_keys(out, place, json_array_get(expected, i), json_array_get(got, i), 1);
    }
    return n;
}

static int has_code(const json_t *codes, const json_t *code)
{
    for (size_t i = 0; i < json_array_size(codes); i++)
        if (json_equal(json_array_get(codes, i), code))
            return 1;
    return 0;
}

static int compare_warnings(FILE *out, const json_t *expected, const json_t *got)
{
    int n = 0;
    for (size_t i = 0; i < json_array_size(expected); i++)
        if (!has_code(got, json_array_get(expected, i)))
            n += compare_values(out, "warnings", "", json_array_get(expected, i), NULL);
    for (size_t i = 0; i < json_array_size(got); i++)
        if (!has_code(expected, json_array_get(got, i)))
            n += compare_values(out, "warnings", "", NULL, json_array_get(got, i));
    return n;
}

static int compare_plans(FILE *out, json_t *expected, json_t *got)
{
    static const char *const lists[] = {"npus", "warnings"};
    json_t *left = json_copy(expected), *right = json_copy(got);
    int n = left && right ? 0 : 1; /* without memory nothing holds */
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        (void)json_object_del(left, lists[i]);
        (void)json_object_del(right, lists[i]);
    }
    n += compare_keys(out, "", left, right, 1);
    n += compare_npus(out, json_object_get(expected, "npus"), json_object_get(got, "npus"));
    n += compare_warnings(out, json_object_get(expected, "warnings"),
                          json_object_get(got, "warnings"));
    json_decref(left);
    json_decref(right);
    return n;
}

int cli_compare(FILE *out, const json_t *expected, const json_t *got)
{
    static const char *const keys[] = {"args", "exit"};
    json_t *error = json_object_get(got, "error");
    int n = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        n += compare_values(out, "", keys[i], json_object_get(expected, keys[i]),
                            json_object_get(got, keys[i]));
    if (json_object_get(expected, "error") && error)
        return n + compare_keys(out, "", json_object_get(expected, "error"), error, 0);
    if (json_object_get(expected, "plan") && json_object_get(got, "plan"))
        return n + compare_plans(out, json_object_get(expected, "plan"),
                                 json_object_get(got, "plan"));
    if (error) {
        fprintf(out, "expected a plan, got %s: %s\n",
                json_string_value(json_object_get(error, "code")),
                json_string_value(json_object_get(error, "text")));
    } else {
        fputs("expected the refusal ", out);
        print_value(out, json_object_get(json_object_get(expected, "error"), "code"));
        fputs(", got a plan\n", out);
    }
    return n + 1;
}

/* Its arguments are read, the host is planned, and what comes of it compared; a line says what
 * is wrong with the expectation itself. */
static void run_trial(FILE *out, const cpubind_source *source, cli_planned *planned,
                      cli_trial *trial)
{
    cli_text why = {"", 0};
    cli_options options;
    trial->n_difference = 1;
    if (!cli_read_arguments(trial->expected, &options, &why)) {
        fprintf(out, "the arguments of the expectation: %s\n", why.text);
        cli_free_options(&options);
        return;
    }
    cli_make(source, &options.request, planned);
    trial->got =
        cli_make_expectation(json_object_get(trial->expected, "args"), planned, &options);
    cli_free_options(&options);
    if (trial->got)
        trial->n_difference = cli_compare(out, trial->expected, trial->got);
    else
        fputs("there is no memory left\n", out);
}

void cli_try(const cpubind_source *source, const char *body, size_t len, cli_planned *planned,
             cli_trial *out)
{
    size_t size = 0;
    cli_text why = {"", 0};
    FILE *text;
    memset(out, 0, sizeof *out);
    out->n_difference = 1;
    text = open_memstream(&out->text, &size);
    if (text) {
        out->expected = cli_read_expectation(body, len, &why);
        if (out->expected)
            run_trial(text, source, planned, out);
        else
            fprintf(text, "%s\n", why.text);
        fclose(text);
    }
}

void cli_free_trial(cli_trial *trial)
{
    json_decref(trial->expected);
    json_decref(trial->got);
    free(trial->text);
    memset(trial, 0, sizeof *trial);
}

/* == Writing ================================================================ */

void cli_print_lines(FILE *out, const char *before, const char *lines)
{
    if (!lines)
        lines = "there is no memory left\n";
    while (*lines) {
        size_t n = strcspn(lines, "\n");
        fputs(before, out);
        for (size_t i = 0; i < n; i++)
            fputc(lines[i] >= ' ' && lines[i] <= '~' ? lines[i] : '?', out);
        fputc('\n', out);
        lines += n + (lines[n] == '\n');
    }
}

static void format_value(FILE *out, const char *key, const json_t *value)
{
    fprintf(out, "\"%s\": ", key);
    (void)json_dumpf(value, out, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
}

static void format_npus(FILE *out, const json_t *npus)
{
    fputs("\"npus\": [", out);
    for (size_t i = 0; i < json_array_size(npus); i++) {
        fputs(i ? ",\n   " : "\n   ", out);
        (void)json_dumpf(json_array_get(npus, i), out, JSON_ENSURE_ASCII);
    }
    fputs("\n  ]", out);
}

static void format_plan(FILE *out, json_t *plan)
{
    const char *key, *between = "\n  ";
    json_t *value;
    fputs("\"plan\": {", out);
    json_object_foreach(plan, key, value)
    {
        fputs(between, out);
        between = ",\n  ";
        if (strcmp(key, "npus") == 0)
            format_npus(out, value);
        else
            format_value(out, key, value);
    }
    fputs("}", out);
}

static void format_error(FILE *out, json_t *error)
{
    json_t *short_error = json_copy(error);
    (void)json_object_del(short_error, "text");
    format_value(out, "error", short_error);
    json_decref(short_error);
}

char *cli_format_expectation(const json_t *expectation)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    json_t *plan = json_object_get(expectation, "plan");
    if (!out)
        return NULL;
    fputs("{", out);
    format_value(out, "args", json_object_get(expectation, "args"));
    fputs(",\n ", out);
    format_value(out, "exit", json_object_get(expectation, "exit"));
    fputs(",\n ", out);
    if (plan)
        format_plan(out, plan);
    else
        format_error(out, json_object_get(expectation, "error"));
    fputs("}\n", out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
