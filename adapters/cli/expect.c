/* expect.c - read, make, compare and write expectations of a fixture host
 * SPDX-License-Identifier: MIT
 *
 * An expectation holds arguments of plan or topo, and the plan, the devices or the refusal that
 * they must give.
 * fixtures/README.md has the form. Nothing is compared that an expectation does not name.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "../api/device_plan.h"
#include "../api/settings.h"
#include "output.h"

/* Length of "devices[3].main", cut where a key is longer. */
#define MAX_PLACE 256

/* == Reading ================================================================ */

/* Says why an object has not the form of an expectation; NULL when it has. */
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

json_t *cli_read_expectation(const char *body, size_t len, api_text *why)
{
    json_error_t fault;
    json_t *root = json_loadb(len ? body : "", len, JSON_REJECT_DUPLICATES, &fault);
    const char *what = root ? form_fault(root) : NULL;
    if (!root)
        api_add(why, "the expectation, line %d, column %d: %s", fault.line, fault.column,
                fault.text);
    else if (what)
        api_add(why, "the expectation: %s", what);
    if (!root || !what)
        return root;
    json_decref(root);
    return NULL;
}

/* Whether arguments are those of topo: the word comes first. */
static int is_of_topo(const json_t *args)
{
    const char *word = json_string_value(json_array_get(args, 0));
    return word && strcmp(word, "topo") == 0;
}

/* Reads the arguments of an expectation as options. Returns 0 when they are wrong. */
static int read_arguments(const json_t *args, api_options *out, api_text *why)
{
    char *argv[API_MAX_ARGS + 2] = {(char *)"plan"};
    int argc = is_of_topo(args) ? 0 : 1;
    int good;
    memset(out, 0, sizeof *out);
    if (json_array_size(args) > API_MAX_ARGS) {
        api_add(why, "the arguments are too many");
        return 0;
    }
    for (size_t i = 0; i < json_array_size(args); i++)
        argv[argc++] = (char *)json_string_value(json_array_get(args, i));
    good = cli_parse(argc, argv, is_of_topo(args) ? API_TOPO : API_CASE, NULL, out, why);
    if (good && (out->root || out->fixture || out->db)) {
        api_add(why, "the host is that of the expectation; leave out --root, --fixture, --db");
        return 0;
    }
    if (!good || out->n_word == 0)
        return good;
    api_add(why, "the argument \"%s\" is no option", out->word[0]);
    return 0;
}

/* == Making ================================================================= */

/* Changes a printed plan into an expected one: without the version, the number of its form and
 * the texts of errors, and with the codes of the warnings alone. */
static json_t *expected_plan(json_t *plan)
{
    json_t *codes = plan ? json_array() : NULL;
    const json_t *warnings = json_object_get(plan, "warnings");
    const json_t *devices = json_object_get(plan, "devices");
    for (size_t i = 0; i < json_array_size(devices); i++)
        (void)json_object_del(json_object_get(json_array_get(devices, i), "error"), "text");
    for (size_t i = 0; codes && i < json_array_size(warnings); i++)
        codes = cli_json_append(
            codes, json_incref(json_object_get(json_array_get(warnings, i), "code")));
    if (!codes || json_object_set_new(plan, "warnings", codes) != 0 ||
        json_object_del(plan, "cpubind") != 0) {
        json_decref(plan);
        return NULL;
    }
    (void)json_object_del(plan, "format");
    return plan;
}

/* The expectation of a refusal that has no problem of its own. */
static json_t *refusal(const json_t *args, int status, const api_text *why)
{
    return json_pack("{s:O, s:i, s:{s:s, s:s}}", "args", args, "exit", status, "error", "code",
                     status == API_REFUSED ? "refused" : "unreadable", "text", why->text);
}

json_t *cli_make_expectation(const json_t *args, const cpubind_source *source,
                             api_planned *planned, const api_options *options, api_text *why)
{
    json_t *problem;
    json_t *error;
    int status = api_plan_others(source, options, planned, why);
    if (status == API_DONE)
        status = api_check_rank(planned, options, why);
    if (status == API_DONE)
        status = api_check_pools(planned, options, why);
    if (status == API_DONE)
        return json_pack("{s:O, s:i, s:o}", "args", args, "exit", API_DONE, "plan",
                         expected_plan(cli_plan_json(planned, options)));
    if (why->len > 0)
        return refusal(args, status, why);
    api_explain(planned, options, why);
    problem = cli_problem_json(&planned->problem, why->text);
    error = json_incref(json_object_get(problem, "error"));
    json_decref(problem);
    return json_pack("{s:O, s:i, s:o}", "args", args, "exit", status, "error", error);
}

/* The expectation that the devices of a host, or the reason for none, meet.
 *   in      why: empty */
static json_t *topo_expectation(const json_t *args, const cpubind_source *source,
                                const api_options *options, api_text *why)
{
    api_planned read = {0};
    api_out text = {0};
    json_t *made = NULL, *devices;
    int status;
    api_read_devices(source, options, &read);
    status = api_judge_devices(&read, options, why);
    if (status != API_DONE) {
        made = refusal(args, status, why);
    } else {
        api_json_topo(&text, &read.facts, options);
        devices = cli_value_of(&text);
        (void)json_object_del(devices, "cpubind");
        made = json_pack("{s:O, s:i, s:o}", "args", args, "exit", API_DONE, "plan", devices);
    }
    api_free_planned(&read);
    return made;
}

json_t *cli_answer(const cpubind_source *source, const json_t *question, api_planned *planned,
                   api_text *why)
{
    const json_t *args = json_object_get(question, "args");
    api_options *options = (api_options *)malloc(sizeof *options); /* large, for a stack */
    json_t *answer = NULL;
    const int is_read = options && read_arguments(args, options, why) &&
                        api_take_settings(source, API_CASE, options, why) == API_DONE &&
                        api_find_devices(source, options, why) == API_DONE;
    if (is_read && is_of_topo(args)) {
        answer = topo_expectation(args, source, options, why);
    } else if (is_read) {
        api_make(source, &options->request, planned);
        answer = cli_make_expectation(args, source, planned, options, why);
    }
    if (options)
        api_free_options(options);
    free(options);
    if (answer || is_read || !options)
        *why = (api_text){"", 0}; /* what a refusal says is in the answer */
    if (!answer && (is_read || !options))
        (void)api_no_room(why);
    return answer;
}

/* == Comparing ============================================================== */

static void print_value(FILE *out, const json_t *value)
{
    if (!value)
        fputs("nothing", out);
    else
        (void)json_dumpf(value, out, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
}

/* One comparison: where its lines go, and how many differences there are. */
typedef struct comparison {
    FILE *out;
    int is_whole; /* keys that are not expected are differences too */
    int n;
} comparison;

/* Writes one line; a value that is missing is NULL. */
static void add_difference(comparison *c, const char *place, const json_t *expected,
                           const json_t *got)
{
    fprintf(c->out, "%s: expected ", place);
    print_value(c->out, expected);
    fputs(", got ", c->out);
    print_value(c->out, got);
    fputs("\n", c->out);
    c->n++;
}

static int is_list_of_objects(const json_t *value)
{
    return json_is_array(value) && json_is_object(json_array_get(value, 0));
}

static int has_value(const json_t *array, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (json_equal(json_array_get(array, i), value))
            return 1;
    return 0;
}

/* Warnings are a set of codes: their order makes no difference. */
static void compare_warnings(comparison *c, const json_t *expected, const json_t *got)
{
    for (size_t i = 0; i < json_array_size(expected); i++)
        if (!has_value(got, json_array_get(expected, i)))
            add_difference(c, "warnings", json_array_get(expected, i), NULL);
    for (size_t i = 0; i < json_array_size(got); i++)
        if (!has_value(expected, json_array_get(got, i)))
            add_difference(c, "warnings", NULL, json_array_get(got, i));
}

static void compare_keys(comparison *c, const char *place, json_t *expected, json_t *got);

/* Compares two values. Objects are compared key by key, lists of objects element by element. */
static void compare(comparison *c, const char *place, json_t *expected, json_t *got)
{
    if (json_is_object(expected) && json_is_object(got)) {
        compare_keys(c, place, expected, got);
    } else if (!is_list_of_objects(expected) || !is_list_of_objects(got)) {
        if (!got || !json_equal(expected, got))
            add_difference(c, place, expected, got);
    } else if (json_array_size(expected) != json_array_size(got)) {
        fprintf(c->out, "%s: expected %zu, got %zu\n", place, json_array_size(expected),
                json_array_size(got));
        c->n++;
    } else {
        for (size_t i = 0; i < json_array_size(expected); i++) {
            char element[MAX_PLACE];
            snprintf(element, sizeof element, "%s[%zu]", place, i);
            compare(c, element, json_array_get(expected, i), json_array_get(got, i));
        }
    }
}

static void compare_keys(comparison *c, const char *place, json_t *expected, json_t *got)
{
    const char *key;
    json_t *value;
    char name[MAX_PLACE];
    json_object_foreach(expected, key, value)
    {
        snprintf(name, sizeof name, "%s%s%s", place, *place ? "." : "", key);
        if (strcmp(name, "warnings") == 0)
            compare_warnings(c, value, json_object_get(got, key));
        else
            compare(c, name, value, json_object_get(got, key));
    }
    if (!c->is_whole)
        return;
    json_object_foreach(got, key, value)
    {
        snprintf(name, sizeof name, "%s%s%s", place, *place ? "." : "", key);
        if (!json_object_get(expected, key))
            add_difference(c, name, NULL, value);
    }
}

int cli_compare(FILE *out, const json_t *expected, const json_t *got, int is_whole)
{
    static const char *const keys[] = {"args", "exit"};
    comparison c = {out, is_whole, 0};
    json_t *plan = json_object_get(got, "plan"), *error = json_object_get(got, "error");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        compare(&c, keys[i], json_object_get(expected, keys[i]), json_object_get(got, keys[i]));
    if (json_object_get(expected, "error") && error) {
        c.is_whole = 0; /* the text of an error is never stored */
        compare_keys(&c, "", json_object_get(expected, "error"), error);
        return c.n;
    }
    if (json_object_get(expected, "plan") && plan) {
        compare_keys(&c, "", json_object_get(expected, "plan"), plan);
        return c.n;
    }
    if (error) {
        fprintf(out, "expected a plan, got %s: %s\n",
                json_string_value(json_object_get(error, "code")),
                json_string_value(json_object_get(error, "text")));
    } else {
        fputs("expected the refusal ", out);
        print_value(out, json_object_get(json_object_get(expected, "error"), "code"));
        fputs(", got a plan\n", out);
    }
    return c.n + 1;
}

/* Removes the keys that `expected` does not name. A list may have grown: an element that
 * `expected` does not have keeps the keys of the last element that it has. */
static void keep_named(json_t *expected, json_t *got)
{
    const size_t n = json_array_size(expected);
    const char *key;
    json_t *value;
    void *next;
    for (size_t i = 0; n > 0 && i < json_array_size(got); i++)
        keep_named(json_array_get(expected, i < n ? i : n - 1), json_array_get(got, i));
    if (!json_is_object(expected) || !json_is_object(got))
        return;
    json_object_foreach_safe(got, next, key, value)
    {
        json_t *same = json_object_get(expected, key);
        if (same)
            keep_named(same, value);
        else
            (void)json_object_del(got, key);
    }
}

void cli_keep_named(json_t *expected, json_t *got)
{
    json_t *before = json_object_get(expected, "error");
    json_t *after = json_object_get(got, "error");
    if (before && json_equal(json_object_get(before, "code"), json_object_get(after, "code")))
        keep_named(before, after);
    before = json_object_get(expected, "plan");
    after = json_object_get(got, "plan");
    if (before && after && cli_lacks_quality(expected))
        (void)json_object_set_new(before, "quality", json_null());
    if (before && after)
        keep_named(before, after);
}

int cli_lacks_quality(const json_t *expectation)
{
    const json_t *plan = json_object_get(expectation, "plan");
    return plan && !json_object_get(plan, "quality") && !json_object_get(plan, "nodes");
}

/* Plans the host with the arguments of the expectation and compares. Arguments that are wrong
 * are a difference too. */
static void run_trial(FILE *out, const cpubind_source *source, api_planned *planned,
                      cli_trial *trial, api_text *why)
{
    trial->got = cli_answer(source, trial->expected, planned, why);
    if (trial->got)
        trial->n_difference = cli_compare(out, trial->expected, trial->got, 0);
    if (trial->n_difference > 0 && planned->facts.unread_cgroup.code != CPUBIND_PROBLEM_NONE) {
        api_explain_warning(CPUBIND_WARNING_CPU_QUOTA, &planned->facts, &planned->plan, why);
        fprintf(out, "%s\n", why->text);
    }
    if (!trial->got)
        fprintf(out, "the arguments of the expectation: %s\n", why->text);
}

void cli_try(const cpubind_source *source, const char *body, size_t len, api_planned *planned,
             cli_trial *out)
{
    size_t size = 0;
    api_text why = {"", 0};
    FILE *text;
    memset(out, 0, sizeof *out);
    out->n_difference = 1;
    text = open_memstream(&out->text, &size);
    if (text) {
        out->expected = cli_read_expectation(body, len, &why);
        if (out->expected)
            run_trial(text, source, planned, out, &why);
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
        for (size_t i = 0; i < n;) {
            const size_t step = (size_t)cpubind_character(lines + i, n - i);
            fwrite(step ? lines + i : "?", 1, step ? step : 1, out);
            i += step ? step : 1;
        }
        fputc('\n', out);
        lines += n + (lines[n] == '\n');
    }
}

static void format_value(FILE *out, const char *key, const json_t *value)
{
    fprintf(out, "\"%s\": ", key);
    (void)json_dumpf(value, out, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
}

/* An array of objects, with a line for each. */
static void format_rows(FILE *out, const char *key, const json_t *npus)
{
    fprintf(out, "\"%s\": [", key);
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
        if (is_list_of_objects(value))
            format_rows(out, key, value);
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
