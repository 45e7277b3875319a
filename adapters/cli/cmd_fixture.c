/* cmd_fixture.c - cpubind fixture: its commands, and of them list and show
 * SPDX-License-Identifier: MIT
 *
 * list and show read a corpus and change nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "../model/facts.h"
#include "fixture.h"
#include "output.h"

#define SHAPE_ARENA ((size_t)4 << 20)

enum { DIGEST = 12 }; /* characters of an SHA-256 in a text; --json has all */

int cli_fixture(int argc, char **argv)
{
    static const struct {
        const char *word;
        int (*run)(int argc, char **argv);
    } commands[] = {{"list", cli_list},     {"show", cli_show},     {"import", cli_import},
                    {"export", cli_export}, {"replay", cli_replay}, {"accept", cli_accept},
                    {"remove", cli_remove}, {"rename", cli_rename}, {"groups", cli_groups}};
    const char *word = argc > 1 ? argv[1] : "";
    api_hint hint = {.word = word};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(word, commands[i].word) == 0)
            return commands[i].run(argc - 1, argv + 1);
        api_hint_try(&hint, commands[i].word);
    }
    if (strncmp(word, "--help", strlen("--help")) == 0 || strcmp(word, "-h") == 0 ||
        strcmp(word, "help") == 0) {
        cli_print_fixture_help(stdout);
        return API_DONE;
    }
    if (argc > 1)
        return cli_refuse_command(argc, argv, "fixture ", &hint);
    cli_print_fixture_help(stderr);
    return API_USAGE;
}

/* == Summary of a host ====================================================== */

typedef struct summary {
    cpubind_corpus_about about;
    int32_t cpus, nodes, npus; /* online CPUs, nodes that have some, NPUs; -1: not known */
    int32_t n_input, n_plan, n_refusal; /* an unreadable expectation counts as neither */
} summary;

/* Counts what a plan would be of, also where none is possible. */
static void count_host(const cpubind_source *source, cpubind_arena *arena, summary *out)
{
    const cpubind_request any = {.type = CPUBIND_TYPE_AUTO, .is_auto_strategy = 1};
    cpubind_facts f;
    cpubind_problem problem;
    const cpubind_problem_code code = cpubind_facts_read(source, &any, arena, &f, &problem);
    const int is_counted = code == CPUBIND_PROBLEM_NONE ||
                           code == CPUBIND_PROBLEM_NO_RUNNING_DEVICE || f.n_listed > 0;
    out->cpus = f.n_online > 0 ? f.n_online : -1;
    out->nodes = f.n_online == 0 || f.warnings & CPUBIND_WARNS(NO_NODES) ? -1 : f.n_node;
    out->npus = is_counted ? f.n_listed : -1;
}

static summary summarize(cpubind_corpus_host *host, cpubind_arena *arena)
{
    const cpubind_source source = cpubind_corpus_source(host);
    summary s = {.about = host->about, .n_input = host->n_input};
    arena->used = 0;
    count_host(&source, arena, &s);
    for (int32_t i = 0; i < host->n_expectation; i++) {
        cpubind_corpus_expectation e = host->expectation[i];
        api_text why = {"", 0};
        words_value *read = cli_read_expectation(e.body, (size_t)e.len, &why);
        s.n_plan += words_get(read, "plan") != NULL;
        s.n_refusal += words_get(read, "error") != NULL;
        words_free(read);
    }
    return s;
}

static words_value *summary_json(const summary *s)
{
    return words_make("name:s product:s cpus:v nodes:v npus:v origin:s npu_smi:s notes:s "
                      "inputs:i plans:i refusals:i",
                      s->about.name, s->about.product, words_id(s->cpus), words_id(s->nodes),
                      words_id(s->npus), s->about.origin, s->about.npu_smi, s->about.notes,
                      (int)s->n_input, (int)s->n_plan, (int)s->n_refusal);
}

/* == list =================================================================== */

static const words_view list_text[] = {
    {WORDS_TABLE, "hosts", "name cpus=CPUs nodes npus=NPUs origin plans refusals product"},
    {0}};

/* The output of list. */
typedef struct listing {
    const api_options *options;
    cli_corpus corpus;
    cpubind_arena arena;
    int status;
    api_text why;
    words_value *array;
} listing;

/* Adds a host to the list; a cpubind_corpus_visit. */
static int add_host(void *ctx, const cpubind_corpus_about *about)
{
    listing *l = (listing *)ctx;
    cpubind_corpus_host *host = NULL;
    l->status = cli_open_fixture(&l->corpus, about->name, &host, &l->why);
    if (l->status == API_DONE) {
        summary s = summarize(host, &l->arena);
        words_add(l->array, summary_json(&s));
    }
    cpubind_corpus_close_host(host);
    return l->status != API_DONE;
}

static void list_hosts(listing *l)
{
    l->arena = (cpubind_arena){(char *)malloc(SHAPE_ARENA), SHAPE_ARENA, 0};
    l->status = l->arena.base
                    ? cli_open_corpus(l->options, CLI_CORPUS_READ, &l->corpus, &l->why)
                    : api_no_room(&l->why);
    if (l->status == API_DONE) {
        const cpubind_corpus_fault fault = cpubind_corpus_each(l->corpus.corpus, add_host, l);
        if (fault.status)
            l->status = cli_corpus_failed(&fault, &l->corpus, NULL, &l->why);
    }
    cli_close_corpus(&l->corpus);
    free(l->arena.base);
}

int cli_list(int argc, char **argv)
{
    static api_options options;
    static listing l;
    int status = cli_start(argc, argv, API_LIST, &options);
    if (status >= 0)
        return status;
    l.options = &options;
    l.array = words_array();
    list_hosts(&l);
    if (l.status == API_DONE)
        return cli_print_report(&options, list_text,
                                words_make("cpubind:s hosts:v", CPUBIND_VERSION, l.array));
    words_free(l.array);
    return cli_fail(&options, l.status, l.why.text);
}

/* == show =================================================================== */

static const words_view show_text[] = {
    {WORDS_BLOCK, "",
     "name product origin npu_smi=npu-smi cpus=CPUs nodes npus=NPUs notes kernel "
     "system driver captured"},
    {WORDS_TABLE, "inputs", "name=input bytes exit timeout digest=SHA-256"},
    {WORDS_TABLE, "expectations", "name=case answer=expected arguments"},
    {0}};

/* The first line of an input, or its line that starts with `key`, without the key and
 * quotes. */
static cpubind_piece line_of(cpubind_input input, const char *key)
{
    const size_t n = strlen(key);
    cpubind_piece line = {0, 0};
    for (int32_t at = 0; at < input.len; at += line.len + 1) {
        const char *end = (const char *)memchr(input.data + at, '\n', (size_t)(input.len - at));
        line = (cpubind_piece){at, (end ? (int32_t)(end - input.data) : input.len) - at};
        if ((size_t)line.len < n || strncmp(input.data + at, key, n) != 0)
            continue;
        line.at += (int32_t)n;
        line.len -= (int32_t)n;
        if (line.len >= 2 && input.data[line.at] == '"') {
            line.at++;
            line.len -= 2;
        }
        return line;
    }
    return (cpubind_piece){0, 0};
}

/* Adds the versions of kernel, system and driver, and the date, where the host has them. */
static void add_versions(words_value *report, cpubind_corpus_host *host)
{
    static const struct {
        const char *head, *name, *key;
    } rows[] = {{"kernel", "proc/sys/kernel/osrelease", ""},
                {"system", "etc/os-release", "PRETTY_NAME="},
                {"driver", "usr/local/Ascend/driver/version.info", "Version="},
                {"captured", "date", ""}};
    const cpubind_source source = cpubind_corpus_source(host);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cpubind_input input = source.read(source.ctx, rows[i].name);
        const cpubind_piece line = input.state == CPUBIND_INPUT_PRESENT
                                       ? line_of(input, rows[i].key)
                                       : (cpubind_piece){0, 0};
        if (line.len > 0)
            words_set(report, rows[i].head,
                      words_text_of(input.data + line.at, (size_t)line.len));
    }
}

/* Adds to a case what is expected, in a word, and its arguments as on a command line; `why` is
 * that it cannot be read. */
static void add_answer(words_value *row, const char *why)
{
    const words_value *read = words_get(row, "expected");
    const words_value *plan = words_get(read, "plan"), *args = words_get(read, "args");
    const char *word = words_string(plan ? words_get(plan, "strategy")
                                         : words_get(words_get(read, "error"), "code"));
    api_text answer = {"", 0}, line = {"", 0};
    api_add(&answer, "%s%s", *why ? why : plan ? "plan: " : "refusal: ", word ? word : "");
    for (int32_t i = 0; i < words_count(args); i++)
        api_add(&line, "%s%s", i ? " " : "", words_string(words_at(args, i)));
    words_set(row, "answer", words_text(answer.text));
    words_set(row, "arguments", words_text(line.text));
}

static words_value *input_json(cpubind_corpus_entry e)
{
    return words_make("name:s bytes:i exit:v timeout:b sha256:s", e.name, (int)e.input.len,
                      e.input.state == CPUBIND_INPUT_PRESENT ? words_number(e.input.exit_code)
                                                             : words_null(),
                      e.input.state == CPUBIND_INPUT_TIMEOUT, e.sha256);
}

static int show(const api_options *options, cpubind_corpus_host *host, const summary *s)
{
    words_value *inputs = words_array(), *cases = words_array(), *about = summary_json(s);
    for (int32_t i = 0; i < host->n_input; i++) {
        words_value *row = input_json(host->input[i]);
        if (!options->json)
            words_set(row, "digest", words_text_of(host->input[i].sha256, DIGEST));
        words_add(inputs, row);
    }
    for (int32_t i = 0; i < host->n_expectation; i++) {
        const cpubind_corpus_expectation e = host->expectation[i];
        api_text why = {"", 0};
        words_value *read = cli_read_expectation(e.body, (size_t)e.len, &why);
        words_value *row = words_make("name:s expected:v", e.name, read ? read : words_null());
        if (!options->json)
            add_answer(row, why.text);
        words_add(cases, row);
    }
    words_set(about, "inputs", inputs);
    words_set(about, "expectations", cases);
    words_set(about, "cpubind", words_text(CPUBIND_VERSION));
    if (!options->json)
        add_versions(about, host);
    return cli_print_report(options, show_text, about);
}

static int show_input(const api_options *options, cpubind_corpus_host *host, api_text *why)
{
    const cpubind_source source = cpubind_corpus_source(host);
    const cpubind_input input = source.read(source.ctx, options->word[1]);
    if (input.state == CPUBIND_INPUT_PRESENT) {
        fwrite(input.data ? input.data : "", 1, (size_t)input.len, stdout);
        return API_DONE;
    }
    return words_fail(
        API_UNREADABLE, why,
        "the fixture \"%s\" has no bytes of an input \"%s\"; cpubind fixture show %s "
        "lists them",
        options->word[0], options->word[1], options->word[0]);
}

static int show_host(const api_options *options, cpubind_corpus_host *host, api_text *why)
{
    cpubind_arena arena = {(char *)malloc(SHAPE_ARENA), SHAPE_ARENA, 0};
    int status;
    if (!arena.base)
        return api_no_room(why);
    const summary s = summarize(host, &arena);
    status = show(options, host, &s);
    free(arena.base);
    return status;
}

int cli_show(int argc, char **argv)
{
    static api_options options;
    static api_text why;
    static cli_corpus corpus;
    cpubind_corpus_host *host = NULL;
    int status = cli_start(argc, argv, API_SHOW, &options);
    if (status >= 0)
        return status;
    status = cli_take_fixture(&options, options.word[0], &corpus, &host, &why);
    if (status == API_DONE)
        status = options.n_word > 1 ? show_input(&options, host, &why)
                                    : show_host(&options, host, &why);
    if (why.len > 0)
        status = cli_fail(&options, status, why.text);
    cpubind_corpus_close_host(host);
    return status;
}
