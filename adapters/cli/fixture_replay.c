/* fixture_replay.c - cpubind fixture replay: plan every host again and compare
 * SPDX-License-Identifier: MIT
 *
 * Results are printed in the order of the hosts, in one of the formats of the table below.
 * Changes nothing.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixture.h"
#include "output.h"

/* The result of one expectation. Texts are NULL where memory ran out. */
typedef struct replayed_case {
    char *name;
    int n_difference; /* 0: it holds */
    char *text;       /* a line for each difference */
} replayed_case;

/* The results of one host. */
typedef struct replayed {
    char *name;
    int status; /* API_DONE; else the host could not be opened, with the reason in why */
    char *why;
    replayed_case *trial;
    int32_t n_trial;
    double seconds;
} replayed;

/* Counts of results. */
typedef struct tally {
    int32_t n_case, n_held, n_unread;
} tally;

/* All that a format prints. */
typedef struct cli_replay_result {
    const replayed *host;
    int32_t n_host;
    tally tally;
    double seconds;
} cli_replay_result;

static tally count(const replayed *host, int32_t n_host)
{
    tally t = {0, 0, 0};
    for (int32_t i = 0; i < n_host; i++) {
        t.n_unread += host[i].status != API_DONE;
        t.n_case += host[i].n_trial;
        for (int32_t k = 0; k < host[i].n_trial; k++)
            t.n_held += host[i].trial[k].n_difference == 0;
    }
    return t;
}

static int exit_of(tally t)
{
    if (t.n_unread > 0)
        return API_UNREADABLE;
    return t.n_held < t.n_case || t.n_case == 0 ? API_REFUSED : API_DONE;
}

static const char *or_none(const char *text)
{
    return text ? text : "there is no memory left\n";
}

/* == Text =================================================================== */

static void print_host_text(const replayed *host)
{
    if (host->status != API_DONE)
        cli_print_lines(stdout, "", host->why);
    for (int32_t k = 0; k < host->n_trial; k++) {
        const replayed_case *c = &host->trial[k];
        api_text head = {"", 0};
        if (c->n_difference == 0)
            continue;
        api_add(&head, "%s %s: %d %s", host->name, or_none(c->name), c->n_difference,
                c->n_difference == 1 ? "difference" : "differences");
        puts(head.text);
        cli_print_lines(stdout, "    ", c->text);
    }
}

static int print_text(const cli_replay_result *result, const api_options *options)
{
    const replayed *host = result->host;
    const int32_t n_host = result->n_host;
    const tally t = result->tally;
    for (int32_t i = 0; i < n_host; i++)
        print_host_text(&host[i]);
    if (t.n_case == 0 && t.n_unread == 0)
        puts("there is no expectation to hold");
    else if (!options->quiet)
        printf("%d of %d expectations of %d hosts hold (%.2f s, %.0f a second)\n",
               (int)t.n_held, (int)t.n_case, (int)n_host, result->seconds,
               result->seconds > 0 ? t.n_case / result->seconds : 0.0);
    return 1;
}

/* == TAP ==================================================================== */

/* Prints one test; "#" is replaced, since it starts a directive. */
static void print_tap_line(int is_ok, int number, const char *host, const char *name)
{
    api_text text = {"", 0};
    api_add(&text, "%s %d - %s%s%s", is_ok ? "ok" : "not ok", number, host, *name ? " " : "",
            name);
    for (char *at = text.text; *at; at++)
        if (*at == '#')
            *at = '?';
    puts(text.text);
}

static int print_tap(const cli_replay_result *result, const api_options *options)
{
    const replayed *host = result->host;
    const int32_t n_host = result->n_host;
    const tally t = result->tally;
    int number = 0;
    (void)options;

    puts("TAP version 13");
    printf("1..%d\n", (int)(t.n_case + t.n_unread));
    for (int32_t i = 0; i < n_host; i++) {
        if (host[i].status != API_DONE) {
            print_tap_line(0, ++number, host[i].name, "");
            cli_print_lines(stdout, "# ", host[i].why);
        }
        for (int32_t k = 0; k < host[i].n_trial; k++) {
            const replayed_case *c = &host[i].trial[k];
            print_tap_line(c->n_difference == 0, ++number, host[i].name, or_none(c->name));
            if (c->n_difference)
                cli_print_lines(stdout, "# ", c->text);
        }
    }
    return 1;
}

/* == JUnit ================================================================== */

/* Prints text of an element or an attribute of XML: UTF-8, line feeds kept. */
static void print_xml(const char *text)
{
    for (size_t step; *text; text += step) {
        const size_t n = (size_t)cpubind_character(text, strlen(text));
        step = n ? n : 1;
        if (*text == '&')
            fputs("&amp;", stdout);
        else if (*text == '<')
            fputs("&lt;", stdout);
        else if (*text == '>')
            fputs("&gt;", stdout);
        else if (*text == '"')
            fputs("&quot;", stdout);
        else
            fwrite(n || *text == '\n' ? text : "?", 1, step, stdout);
    }
}

static void print_attribute(const char *name, const char *value)
{
    printf(" %s=\"", name);
    print_xml(value);
    putchar('"');
}

/* Prints a test case; it holds when `why` is NULL. */
static void print_junit_case(const char *host, const char *name, const char *element,
                             const char *why)
{
    fputs("    <testcase", stdout);
    print_attribute("classname", host);
    print_attribute("name", name);
    if (!why) {
        puts("/>");
        return;
    }
    printf("><%s message=\"%s\">", element,
           strcmp(element, "error") == 0 ? "the host cannot be opened" : "the plan differs");
    print_xml(why);
    printf("</%s></testcase>\n", element);
}

static void print_junit_host(const replayed *host)
{
    const tally t = count(host, 1);
    fputs("  <testsuite", stdout);
    print_attribute("name", host->name);
    printf(" tests=\"%d\" failures=\"%d\" errors=\"%d\" time=\"%.6f\">\n",
           (int)(t.n_case + t.n_unread), (int)(t.n_case - t.n_held), (int)t.n_unread,
           host->seconds);
    if (host->status != API_DONE)
        print_junit_case(host->name, "open", "error", or_none(host->why));
    for (int32_t k = 0; k < host->n_trial; k++) {
        const replayed_case *c = &host->trial[k];
        print_junit_case(host->name, or_none(c->name), "failure",
                         c->n_difference ? or_none(c->text) : NULL);
    }
    puts("  </testsuite>");
}

static int print_junit(const cli_replay_result *result, const api_options *options)
{
    const replayed *host = result->host;
    const int32_t n_host = result->n_host;
    const tally t = result->tally;
    (void)options;
    puts("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    printf("<testsuites name=\"cpubind fixture replay\" tests=\"%d\" failures=\"%d\" "
           "errors=\"%d\" time=\"%.6f\">\n",
           (int)(t.n_case + t.n_unread), (int)(t.n_case - t.n_held), (int)t.n_unread,
           result->seconds);
    for (int32_t i = 0; i < n_host; i++)
        print_junit_host(&host[i]);
    puts("</testsuites>");
    return 1;
}

/* == JSON =================================================================== */

static words_value *failure_json(const char *host, const char *name, const char *text)
{
    return words_make("host:s case:s text:s", host, name, text);
}

static int print_json(const cli_replay_result *result, const api_options *options)
{
    const replayed *host = result->host;
    const int32_t n_host = result->n_host;
    const tally t = result->tally;
    words_value *failures = words_array();
    (void)options;
    for (int32_t i = 0; failures && i < n_host; i++) {
        if (host[i].status != API_DONE)
            words_add(failures, failure_json(host[i].name, NULL, or_none(host[i].why)));
        for (int32_t k = 0; failures && k < host[i].n_trial; k++)
            if (host[i].trial[k].n_difference)
                words_add(failures, failure_json(host[i].name, or_none(host[i].trial[k].name),
                                                 or_none(host[i].trial[k].text)));
    }
    return cli_print_json(
        stdout, words_make("cpubind:s hosts:i expectations:i held:i seconds:f failures:v",
                           CPUBIND_VERSION, (int)n_host, (int)t.n_case, (int)t.n_held,
                           result->seconds, failures));
}

/* Prints what was found, in the format of that word. Returns 0 without memory. */
static int print(const cli_replay_result *result, const api_options *options)
{
    static const struct {
        const char *word;
        int (*print)(const cli_replay_result *result, const api_options *options);
    } format[] = {{"tap", print_tap}, {"junit", print_junit}, {"json", print_json}};
    for (size_t i = 0; i < sizeof format / sizeof *format; i++)
        if (strcmp(options->format->word, format[i].word) == 0)
            return format[i].print(result, options);
    return print_text(result, options);
}

/* == The replay ============================================================= */

/* One run of replay. */
typedef struct replay {
    const api_options *options;
    cli_corpus corpus;
    replayed *host;
    int32_t n_host;
} replay;

static double seconds_now(void)
{
    struct timespec now;
    (void)timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void replay_cases(const cpubind_corpus_host *host, const cpubind_source *source,
                         api_planned *planned, replayed *out)
{
    int32_t n = host->n_expectation;
    out->trial = (replayed_case *)calloc((size_t)n + 1, sizeof *out->trial);
    if (!out->trial)
        out->status = API_UNREADABLE;
    for (; out->trial && out->n_trial < n; out->n_trial++) {
        cpubind_corpus_expectation e = host->expectation[out->n_trial];
        replayed_case *to = &out->trial[out->n_trial];
        cli_trial trial;
        cli_try(source, e.body, (size_t)e.len, planned, &trial);
        to->name = strdup(e.name);
        to->n_difference = trial.n_difference;
        to->text = trial.text;
        trial.text = NULL;
        cli_free_trial(&trial);
    }
}

static void replay_host(const cli_corpus *corpus, api_planned *planned, replayed *out,
                        api_text *why)
{
    double start = seconds_now();
    cpubind_corpus_host *host = NULL;
    out->status = cli_open_fixture(corpus, out->name, &host, why);
    if (out->status == API_DONE) {
        cpubind_source source = cpubind_corpus_source(host);
        replay_cases(host, &source, planned, out);
    } else {
        out->why = strdup(why->text);
        *why = (api_text){"", 0};
    }
    cpubind_corpus_close_host(host);
    out->seconds = seconds_now() - start;
}

static void replay_all(replay *r)
{
    api_text why = {"", 0};
    api_planned planned = {0};
    char progress[64];
    for (int32_t i = 0; i < r->n_host; i++) {
        (void)snprintf(progress, sizeof progress, "cpubind: %d of %d hosts ...", (int)i + 1,
                       (int)r->n_host);
        cli_progress(r->options, progress);
        replay_host(&r->corpus, &planned, &r->host[i], &why);
    }
    cli_progress(r->options, NULL);
    api_free_planned(&planned);
}

/* Adds a host to those that are replayed. */
static int add_host(replay *r, const char *name, api_text *why)
{
    replayed *grown = (replayed *)realloc(r->host, ((size_t)r->n_host + 1) * sizeof *grown);
    if (!grown)
        return api_no_room(why);
    r->host = grown;
    grown[r->n_host] = (replayed){.name = strdup(name)};
    if (!grown[r->n_host].name)
        return api_no_room(why);
    r->n_host++;
    return API_DONE;
}

/* Adds hosts whose names have a pattern. */
typedef struct matching {
    replay *replay;
    const char *pattern;
    int32_t n;
    int status;
    api_text *why;
} matching;

/* A cpubind_corpus_visit. */
static int add_matching(void *ctx, const cpubind_corpus_about *about)
{
    matching *m = (matching *)ctx;
    if (fnmatch(m->pattern, about->name, 0) != 0)
        return 0;
    m->n++;
    m->status = add_host(m->replay, about->name, m->why);
    return m->status != API_DONE;
}

/* Finds the hosts to replay: those that are named, by a pattern such as a2-* too; else all. */
static int find_hosts(replay *r, api_text *why)
{
    char all[] = "*", *words[] = {all};
    char **word = r->options->n_word ? r->options->word : words;
    const int n_word = r->options->n_word ? r->options->n_word : 1;
    int status = API_DONE;
    for (int i = 0; status == API_DONE && i < n_word; i++) {
        matching m = {r, word[i], 0, API_DONE, why};
        cpubind_corpus_fault fault = {0};
        if (strpbrk(word[i], "*?["))
            fault = cpubind_corpus_each(r->corpus.corpus, add_matching, &m);
        if (fault.status)
            return cli_corpus_failed(&fault, &r->corpus, NULL, why);
        status = m.status;
        if (status == API_DONE && m.n == 0 && word[i] != all)
            status = add_host(r, word[i], why); /* an unknown name is a failure of the replay */
    }
    return status;
}

static void free_hosts(replay *r)
{
    for (int32_t i = 0; i < r->n_host; i++) {
        replayed *host = &r->host[i];
        for (int32_t k = 0; k < host->n_trial; k++) {
            free(host->trial[k].name);
            free(host->trial[k].text);
        }
        free(host->trial);
        free(host->name);
        free(host->why);
    }
    free(r->host);
}

static int run(replay *r)
{
    cli_replay_result result;
    double start = seconds_now();
    replay_all(r);
    result = (cli_replay_result){r->host, r->n_host, count(r->host, r->n_host),
                                 seconds_now() - start};
    return print(&result, r->options) ? exit_of(result.tally) : cli_no_memory();
}

int cli_replay(int argc, char **argv)
{
    static api_options options;
    static replay r;
    api_text why = {"", 0};
    int status = cli_start(argc, argv, API_REPLAY, &options);
    if (status >= 0)
        return status;
    r.options = &options;
    status = cli_open_corpus(&options, CLI_CORPUS_READ, &r.corpus, &why);
    if (status == API_DONE)
        status = find_hosts(&r, &why);
    status = status == API_DONE ? run(&r) : cli_fail(&options, status, why.text);
    cli_close_corpus(&r.corpus);
    free_hosts(&r);
    return status;
}
