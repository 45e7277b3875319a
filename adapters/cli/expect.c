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
#include "../api/nics.h"
#include "../api/settings.h"
#include "output.h"

/* Length of "devices[3].main", cut where a key is longer. */
#define MAX_PLACE 256

/* == Reading ================================================================ */

/* Says why an object has not the form of an expectation; NULL when it has. */
static const char *form_fault(const words_value *root)
{
    const words_value *args = words_get(root, "args");
    const int has_plan = words_is(words_get(root, "plan"), WORDS_OBJECT);
    const int has_error = words_is(words_get(root, "error"), WORDS_OBJECT);
    if (!words_is(args, WORDS_ARRAY))
        return "\"args\" is not an array";
    for (int32_t i = 0; i < words_count(args); i++)
        if (!words_is(words_at(args, i), WORDS_TEXT))
            return "\"args\" does not hold texts alone";
    if (!words_is(words_get(root, "exit"), WORDS_NUMBER))
        return "\"exit\" is not a number";
    if (has_plan + has_error != 1)
        return "there must be either \"plan\" or \"error\", an object";
    return words_count(root) == 3 ? NULL : "it holds more than args, exit, plan or error";
}

/* Gives an error of an expectation of format 2, if it is there, the words of format 3.
 *   name  of the device whose error it is, or NULL */
static void renew_error(words_value *error, const char *name)
{
    static const char *const keys[][2] = {{"npu", "device"}, {"other_npu", "other_device"}};
    const char *code = words_string_of(error, "code"), *end = strstr(code, "_npu");
    if (end && !end[4]) { /* no_running_npu, unknown_npu */
        api_text word = {"", 0};
        api_add(&word, "%.*s_device", (int)(end - code), code);
        words_set(error, "code", words_text(word.text));
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        api_text npu = {"", 0};
        if (!words_get(error, keys[i][0]))
            continue;
        api_add(&npu, "npu%d", (int)words_integer_of(error, keys[i][0]));
        words_set(error, keys[i][1], words_text(i == 0 && name ? name : npu.text));
        words_remove(error, keys[i][0]);
    }
}

/* Whether a word is the option of an earlier version that is a key of the settings now. */
static int is_key_now(const char *word)
{
    api_text unused = {"", 0};
    return strncmp(word, "--", 2) == 0 && !cli_has_option(API_CASE, word + 2) &&
           api_add_key(API_CASE, word + 2, 1, &unused);
}

/* Gives the arguments of an expectation of an earlier version the options of this one. */
static void renew_arguments(words_value *root)
{
    static const char *const options[][3] = {
        {"--npu", "--device", "npu"}, {"--npus", "--devices", ""}, {"--pci", "--device", ""}};
    const words_value *args = words_get(root, "args");
    words_value *now = words_array();
    for (int32_t i = 0; i < words_count(args); i++) {
        const char *word = words_string(words_at(args, i));
        const char *value = words_string(words_at(args, i + 1));
        const char *option = value && is_key_now(word) ? "-o" : NULL;
        api_text text = {"", 0};
        if (option)
            api_add(&text, "%s=%s", word + 2, value);
        for (size_t k = 0; value && !option && k < sizeof options / sizeof *options; k++) {
            if (strcmp(word, options[k][0]) != 0)
                continue;
            option = options[k][1];
            api_add(&text, "%s%s", options[k][2], value);
        }
        words_add(now, words_text(option ? option : word));
        if (option)
            words_add(now, words_text(text.text));
        i += option != NULL;
    }
    words_set(root, "args", now);
}

static void renew(words_value *root)
{
    const words_value *devices = words_get(words_get(root, "plan"), "devices");
    renew_arguments(root);
    renew_error(words_get(root, "error"), NULL);
    for (int32_t i = 0; i < words_count(devices); i++)
        renew_error(words_get(words_at(devices, i), "error"),
                    words_string(words_get(words_at(devices, i), "name")));
}

words_value *cli_read_expectation(const char *body, size_t len, api_text *why)
{
    words_fault fault;
    words_value *root = words_read(len ? body : "", len, &fault);
    const char *what = root ? form_fault(root) : NULL;
    if (!root) {
        const cpubind_position place =
            cpubind_text_place(body, (int32_t)len, (int32_t)fault.at);
        api_add(why, "the expectation, line %d, column %d: %s", (int)place.line,
                (int)place.column, fault.what);
    } else if (what) {
        api_add(why, "the expectation: %s", what);
    }
    if (root && !what)
        renew(root);
    if (!root || !what)
        return root;
    words_free(root);
    return NULL;
}

/* Whether arguments are those of topo: the word comes first. */
static int is_of_topo(const words_value *args)
{
    const char *word = words_string(words_at(args, 0));
    return word && strcmp(word, "topo") == 0;
}

/* Reads the arguments of an expectation as options. Returns 0 when they are wrong. */
static int read_arguments(const words_value *args, api_options *out, api_text *why)
{
    char *argv[API_MAX_ARGS + 2] = {(char *)"plan"};
    int argc = is_of_topo(args) ? 0 : 1;
    int good;
    memset(out, 0, sizeof *out);
    if (words_count(args) > API_MAX_ARGS) {
        api_add(why, "the arguments are too many");
        return 0;
    }
    for (int32_t i = 0; i < words_count(args); i++)
        argv[argc++] = (char *)words_string(words_at(args, i));
    good = cli_parse(argc, argv, is_of_topo(args) ? API_TOPO : API_CASE, out, why);
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
 * the texts of errors, and of the warnings with their own words alone, or their codes. */
static words_value *expected_plan(words_value *plan)
{
    words_value *codes = words_array();
    const words_value *warnings = words_get(plan, "warnings");
    const words_value *devices = words_get(plan, "devices");
    for (int32_t i = 0; i < words_count(devices); i++)
        words_remove(words_get(words_at(devices, i), "error"), "text");
    for (int32_t i = 0; i < words_count(warnings); i++) {
        words_value *detail = words_get(words_at(warnings, i), "detail");
        words_add(codes,
                  words_share(detail ? detail : words_get(words_at(warnings, i), "code")));
    }
    words_set(plan, "warnings", codes);
    words_remove(plan, "cpubind");
    words_remove(plan, "format");
    return plan;
}

/* The expectation of a refusal that has no problem of its own. */
static words_value *refusal(const words_value *args, int status, const api_text *why)
{
    return words_make("args:V exit:i error:{code:s text:s}", args, status,
                      status == API_REFUSED ? "refused" : "unreadable", why->text);
}

words_value *cli_make_expectation(const words_value *args, const cpubind_source *source,
                                  api_planned *planned, const api_options *options,
                                  api_text *why)
{
    words_value *problem;
    words_value *error;
    int status = api_plan_others(source, options, planned, why);
    if (status == API_DONE)
        status = api_check_rank(planned, options, why);
    if (status == API_DONE)
        status = api_check_pools(planned, options, why);
    if (status == API_DONE && !api_read_network(source, &planned->facts, &planned->network))
        status = api_no_room(why);
    if (status == API_DONE)
        return words_make("args:V exit:i plan:v", args, API_DONE,
                          expected_plan(api_plan_json(planned, options)));
    if (why->len > 0)
        return refusal(args, status, why);
    api_explain(planned, options, why);
    problem = api_problem_json(planned, why->text);
    error = words_share(words_get(problem, "error"));
    words_free(problem);
    return words_make("args:V exit:i error:v", args, status, error);
}

/* The expectation that the devices of a host, or the reason for none, meet.
 *   in      why: empty */
static words_value *topo_expectation(const words_value *args, const cpubind_source *source,
                                     const api_options *options, api_text *why)
{
    api_planned read = {0};
    words_value *made = NULL, *devices;
    int status;
    api_read_devices(source, options, &read);
    status = api_judge_devices(&read, options, why);
    if (status != API_DONE) {
        made = refusal(args, status, why);
    } else {
        devices = api_topo(&read.facts, options);
        words_remove(devices, "cpubind");
        made = words_make("args:V exit:i plan:v", args, API_DONE, devices);
    }
    api_free_planned(&read);
    return made;
}

words_value *cli_answer(const cpubind_source *source, const words_value *question,
                        api_planned *planned, api_text *why)
{
    const words_value *args = words_get(question, "args");
    api_options *options = (api_options *)malloc(sizeof *options); /* large, for a stack */
    words_value *answer = NULL;
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

static void print_value(FILE *out, const words_value *value)
{
    api_out text = {0};
    if (value)
        words_put(&text, value, WORDS_LINE);
    else
        api_put_text(&text, "nothing");
    (void)cli_print_out(out, &text);
}

/* One comparison: where its lines go, and how many differences there are. */
typedef struct comparison {
    FILE *out;
    int is_whole; /* keys that are not expected are differences too */
    int n;
} comparison;

/* Writes one line; a value that is missing is NULL. */
static void add_difference(comparison *c, const char *place, const words_value *expected,
                           const words_value *got)
{
    fprintf(c->out, "%s: expected ", place);
    print_value(c->out, expected);
    fputs(", got ", c->out);
    print_value(c->out, got);
    fputs("\n", c->out);
    c->n++;
}

static int is_list_of_objects(const words_value *value)
{
    return words_is(value, WORDS_ARRAY) && words_is(words_at(value, 0), WORDS_OBJECT);
}

static int has_value(const words_value *array, const words_value *value)
{
    for (int32_t i = 0; i < words_count(array); i++)
        if (words_equal(words_at(array, i), value))
            return 1;
    return 0;
}

/* Warnings are a set of codes: their order makes no difference. */
static void compare_warnings(comparison *c, const words_value *expected, const words_value *got)
{
    for (int32_t i = 0; i < words_count(expected); i++)
        if (!has_value(got, words_at(expected, i)))
            add_difference(c, "warnings", words_at(expected, i), NULL);
    for (int32_t i = 0; i < words_count(got); i++)
        if (!has_value(expected, words_at(got, i)))
            add_difference(c, "warnings", NULL, words_at(got, i));
}

static void compare_keys(comparison *c, const char *place, words_value *expected,
                         words_value *got);

/* Compares two values. Objects are compared key by key, lists of objects element by element. */
static void compare(comparison *c, const char *place, words_value *expected, words_value *got)
{
    if (words_is(expected, WORDS_OBJECT) && words_is(got, WORDS_OBJECT)) {
        compare_keys(c, place, expected, got);
    } else if (!is_list_of_objects(expected) || !is_list_of_objects(got)) {
        if (!got || !words_equal(expected, got))
            add_difference(c, place, expected, got);
    } else if (words_count(expected) != words_count(got)) {
        fprintf(c->out, "%s: expected %d, got %d\n", place, words_count(expected),
                words_count(got));
        c->n++;
    } else {
        for (int32_t i = 0; i < words_count(expected); i++) {
            char element[MAX_PLACE];
            snprintf(element, sizeof element, "%s[%d]", place, (int)i);
            compare(c, element, words_at(expected, i), words_at(got, i));
        }
    }
}

static void compare_keys(comparison *c, const char *place, words_value *expected,
                         words_value *got)
{
    char name[MAX_PLACE];
    for (int32_t i = 0; i < words_count(expected); i++) {
        const char *key = words_key(expected, i);
        words_value *value = words_at(expected, i);
        snprintf(name, sizeof name, "%s%s%s", place, *place ? "." : "", key);
        if (strcmp(name, "warnings") == 0)
            compare_warnings(c, value, words_get(got, key));
        else
            compare(c, name, value, words_get(got, key));
    }
    if (!c->is_whole)
        return;
    for (int32_t i = 0; i < words_count(got); i++) {
        const char *key = words_key(got, i);
        words_value *value = words_at(got, i);
        snprintf(name, sizeof name, "%s%s%s", place, *place ? "." : "", key);
        if (!words_get(expected, key))
            add_difference(c, name, NULL, value);
    }
}

int cli_compare(FILE *out, const words_value *expected, const words_value *got, int is_whole)
{
    static const char *const keys[] = {"args", "exit"};
    comparison c = {out, is_whole, 0};
    words_value *plan = words_get(got, "plan"), *error = words_get(got, "error");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        compare(&c, keys[i], words_get(expected, keys[i]), words_get(got, keys[i]));
    if (words_get(expected, "error") && error) {
        c.is_whole = 0; /* the text of an error is never stored */
        compare_keys(&c, "", words_get(expected, "error"), error);
        return c.n;
    }
    if (words_get(expected, "plan") && plan) {
        compare_keys(&c, "", words_get(expected, "plan"), plan);
        return c.n;
    }
    if (error) {
        fprintf(out, "expected a plan, got %s: %s\n", words_string(words_get(error, "code")),
                words_string(words_get(error, "text")));
    } else {
        fputs("expected the refusal ", out);
        print_value(out, words_get(words_get(expected, "error"), "code"));
        fputs(", got a plan\n", out);
    }
    return c.n + 1;
}

/* Removes the keys that `expected` does not name. A list may have grown: an element that
 * `expected` does not have keeps the keys of the last element that it has. */
static void keep_named(words_value *expected, words_value *got)
{
    const int32_t n = words_count(expected);
    for (int32_t i = 0; n > 0 && i < words_count(got); i++)
        keep_named(words_at(expected, i < n ? i : n - 1), words_at(got, i));
    if (!words_is(expected, WORDS_OBJECT) || !words_is(got, WORDS_OBJECT))
        return;
    for (int32_t i = words_count(got); i-- > 0;) {
        words_value *same = words_get(expected, words_key(got, i));
        if (same)
            keep_named(same, words_at(got, i));
        else
            words_remove(got, words_key(got, i));
    }
}

void cli_keep_named(words_value *expected, words_value *got)
{
    words_value *before = words_get(expected, "error");
    words_value *after = words_get(got, "error");
    if (before && words_equal(words_get(before, "code"), words_get(after, "code")))
        keep_named(before, after);
    before = words_get(expected, "plan");
    after = words_get(got, "plan");
    if (before && after && cli_lacks_quality(expected))
        words_set(before, "quality", words_null());
    if (before && after)
        keep_named(before, after);
}

int cli_lacks_quality(const words_value *expectation)
{
    const words_value *plan = words_get(expectation, "plan");
    return plan && !words_get(plan, "quality") && !words_get(plan, "nodes");
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
    words_free(trial->expected);
    words_free(trial->got);
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

static void format_value(FILE *out, const char *key, const words_value *value)
{
    fprintf(out, "\"%s\": ", key);
    print_value(out, value);
}

/* An array of objects, with a line for each. */
static void format_rows(FILE *out, const char *key, const words_value *npus)
{
    fprintf(out, "\"%s\": [", key);
    for (int32_t i = 0; i < words_count(npus); i++) {
        fputs(i ? ",\n   " : "\n   ", out);
        print_value(out, words_at(npus, i));
    }
    fputs("\n  ]", out);
}

static void format_plan(FILE *out, words_value *plan)
{
    const char *between = "\n  ";
    fputs("\"plan\": {", out);
    for (int32_t i = 0; i < words_count(plan); i++) {
        const char *key = words_key(plan, i);
        words_value *value = words_at(plan, i);
        fputs(between, out);
        between = ",\n  ";
        if (is_list_of_objects(value))
            format_rows(out, key, value);
        else
            format_value(out, key, value);
    }
    fputs("}", out);
}

static void format_error(FILE *out, words_value *error)
{
    words_value *short_error = words_copy(error);
    words_remove(short_error, "text");
    format_value(out, "error", short_error);
    words_free(short_error);
}

char *cli_format_expectation(const words_value *expectation)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    words_value *plan = words_get(expectation, "plan");
    if (!out)
        return NULL;
    fputs("{", out);
    format_value(out, "args", words_get(expectation, "args"));
    fputs(",\n ", out);
    format_value(out, "exit", words_get(expectation, "exit"));
    fputs(",\n ", out);
    if (plan)
        format_plan(out, plan);
    else
        format_error(out, words_get(expectation, "error"));
    fputs("}\n", out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
