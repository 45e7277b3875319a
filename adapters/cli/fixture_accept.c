/* fixture_accept.c - cpubind fixture accept: store the plans of today as expectations
 * SPDX-License-Identifier: MIT
 *
 * Shows each difference first. The corpus is opened for writing only when something differs.
 */
#include <stdlib.h>
#include <string.h>

#include "../text/host_txt.h"
#include "fixture.h"
#include "output.h"

/* One run of accept. */
typedef struct acceptance {
    const api_options *options;
    cpubind_corpus_host *host;
    cpubind_source source;
    api_planned planned;
    cli_sink sink;
    api_text why;
    int n_changed;
    words_value *differences; /* of --json */
} acceptance;

/* The words after NAME are cases up to the first word with a dash, or the word topo after a
 * case; then arguments. */
static int n_cases(const api_options *options)
{
    int n = 1;
    while (n < options->n_word && options->word[n][0] != '-' &&
           (n == 1 || strcmp(options->word[n], "topo") != 0))
        n++;
    return n - 1;
}

/* Finds a case; len is -1 when the host does not have it. */
static cpubind_corpus_expectation find_case(const acceptance *a, const char *name)
{
    cpubind_corpus_expectation none = {name, NULL, -1};
    for (int32_t i = 0; i < a->host->n_expectation; i++) {
        cpubind_corpus_expectation e = a->host->expectation[i];
        if (strcmp(e.name, name) == 0)
            return e;
    }
    return none;
}

/* Stores one expectation; opens the corpus for writing before the first. */
static int store(acceptance *a, const char *name, const words_value *expectation)
{
    char *body = a->options->is_dry ? NULL : cli_format_expectation(expectation);
    int status = API_DONE;
    if (a->options->is_dry) {
        a->n_changed++;
        return API_DONE;
    }
    if (!body)
        return api_no_room(&a->why);
    if (!a->sink.corpus.corpus)
        status = cli_open_corpus_sink(a->options, &a->sink, &a->why);
    a->sink.host = a->options->word[0];
    if (status == API_DONE)
        status = cli_put_expectation(&a->sink, name, body, strlen(body), &a->why);
    free(body);
    a->n_changed++;
    return status;
}

static void show_difference(acceptance *a, const char *name, const char *lines)
{
    api_text text = {"", 0};
    if (a->options->json) {
        words_add(a->differences, words_make("case:s text:s", name, lines));
        return;
    }
    if (a->options->quiet)
        return;
    api_add(&text, "%s %s:", a->options->word[0], name);
    puts(text.text);
    cli_print_lines(stdout, "    ", lines);
}

static int accept_case(acceptance *a, cpubind_corpus_expectation e)
{
    cli_trial trial;
    int status = API_DONE;
    int is_old;
    cli_try(&a->source, e.body, (size_t)e.len, &a->planned, &trial);
    is_old = trial.n_difference == 0 && cli_lacks_quality(trial.expected);
    if (trial.n_difference > 0)
        show_difference(a, e.name, trial.text);
    if (is_old)
        show_difference(a, e.name, "the quality of the plan is new\n");
    if ((is_old || trial.n_difference > 0) && trial.got) {
        cli_keep_named(trial.expected, trial.got);
        status = store(a, e.name, trial.got);
    } else if (trial.n_difference > 0) {
        api_add(&a->why,
                "the expectation \"%s\" cannot be read; give its arguments: cpubind fixture "
                "accept NAME CASE -- ARGUMENT...",
                e.name);
        status = API_UNREADABLE;
    }
    cli_free_trial(&trial);
    return status;
}

static int accept_cases(acceptance *a)
{
    const int n = n_cases(a->options);
    int status = API_DONE;
    for (int32_t i = 0; n == 0 && status == API_DONE && i < a->host->n_expectation; i++)
        status = accept_case(a, a->host->expectation[i]);
    for (int i = 0; status == API_DONE && i < n; i++) {
        cpubind_corpus_expectation e = find_case(a, a->options->word[1 + i]);
        if (e.len < 0)
            return words_fail(
                API_UNREADABLE, &a->why,
                "the fixture has no expectation \"%s\"; a new one is made with: cpubind "
                "fixture accept NAME CASE -- ARGUMENT...",
                e.name);
        status = accept_case(a, e);
    }
    return status;
}

/* Makes an expectation that has arguments only. */
static words_value *ask_with(char **word, int n)
{
    words_value *args = words_array();
    for (int i = 0; args && i < n; i++)
        words_add(args, words_text(word[i]));
    return words_make("args:v", args);
}

/* Prints how an answer differs from the stored expectation, all keys included. */
static void show_change(acceptance *a, const char *name, const words_value *answer)
{
    cpubind_corpus_expectation old = find_case(a, name);
    api_text why = {"", 0};
    char *text = NULL;
    size_t size = 0;
    words_value *expected =
        old.len < 0 ? NULL : cli_read_expectation(old.body, (size_t)old.len, &why);
    FILE *out = expected ? open_memstream(&text, &size) : NULL;
    if (out) {
        if (cli_compare(out, expected, answer, 1) == 0)
            fputs("nothing differs\n", out);
        fclose(out);
        show_difference(a, name, text);
    } else {
        show_difference(a, name, old.len < 0 ? "new" : "the old expectation cannot be read");
    }
    free(text);
    words_free(expected);
}

/* Stores a case with the arguments after "--": a new case, or new arguments for an old one. */
static int accept_arguments(acceptance *a)
{
    const char *name = a->options->word[1];
    words_value *question = ask_with(a->options->word + 2, a->options->n_word - 2);
    words_value *answer;
    int status;
    if (!question)
        return api_no_room(&a->why);
    answer = cli_answer(&a->source, question, &a->planned, &a->why);
    if (answer)
        show_change(a, name, answer);
    status = answer ? store(a, name, answer) : API_USAGE;
    words_free(answer);
    words_free(question);
    return status;
}

static int accept_all(acceptance *a)
{
    const int has_arguments = a->options->n_word > n_cases(a->options) + 1;
    int status = has_arguments ? accept_arguments(a) : accept_cases(a);
    if (status == API_DONE && a->sink.corpus.corpus)
        status = cli_commit_sink(&a->sink, &a->why);
    cli_close_sink(&a->sink);
    return status;
}

/* Checks the words that can be checked without the corpus. */
static int check_words(const api_options *options)
{
    const int n = n_cases(options);
    api_text why = {"", 0};
    if (options->n_word > n + 1 && n != 1)
        api_add(&why, "arguments can be given for one case only: cpubind fixture accept NAME "
                      "CASE -- ARGUMENT...");
    for (int i = 1; i <= n && why.len == 0; i++)
        if (!cpubind_host_txt_is_name(options->word[i]))
            api_add(&why,
                    "the name of a case consists of letters, digits, \".\", \"_\" and "
                    "\"-\": \"%s\"",
                    options->word[i]);
    return why.len > 0 ? cli_fail(options, API_USAGE, why.text) : API_DONE;
}

int cli_accept(int argc, char **argv)
{
    static api_options options;
    static acceptance a;
    cli_corpus corpus;
    int status = cli_start(argc, argv, API_ACCEPT, &options);
    if (status >= 0)
        return status;
    if (check_words(&options) != API_DONE)
        return API_USAGE;
    a.options = &options;
    a.differences = words_array();
    status = cli_take_fixture(&options, options.word[0], &corpus, &a.host, &a.why);
    if (status == API_DONE) {
        a.source = cpubind_corpus_source(a.host);
        status = accept_all(&a);
    }
    cpubind_corpus_close_host(a.host);
    api_free_planned(&a.planned);
    if (status != API_DONE) {
        words_free(a.differences);
        return cli_fail(&options, status, a.why.text);
    }
    return cli_say_change(&options, corpus.path, words_make("differences:v", a.differences),
                          "%d %s %s", a.n_changed,
                          a.n_changed == 1 ? "expectation" : "expectations",
                          options.is_dry ? "would be accepted" : "accepted");
}
