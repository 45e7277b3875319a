/* plan.c - cpubind plan: open a host, read it, plan, print
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../linux/source.h"
#include "../linux/terminal.h"
#include "../sqlite/corpus.h"
#include "cli.h"

#define MAX_PATH    4096
#define FIRST_ARENA ((size_t)4 << 20)
#define LAST_ARENA  ((size_t)1 << 30)

/* Everything that one run holds. */
typedef struct run {
    cli_options options;
    cpubind_linux_host *host; /* one of the two is open */
    cpubind_corpus_host *fixture;
    cpubind_source source;
    cpubind_arena arena;
    cpubind_facts facts;
    cpubind_problem problem;
    cpubind_ascend_plan plan;
} run;

/* The message of a problem: as JSON on stdout, or as a line on stderr. */
static int report(const run *r, const char *text)
{
    if (!r->options.json)
        fprintf(stderr, "cpubind: %s\n", text);
    else if (!cli_print_json_error(stdout, &r->problem, text))
        fputs("cpubind: there is no memory left\n", stderr);
    return (int)cpubind_problem_exit(r->problem.code);
}

static int report_unreadable(run *r, const cli_text *text)
{
    cpubind_problem_clear(&r->problem);
    r->problem.code = CPUBIND_PROBLEM_UNREADABLE;
    return report(r, text->text);
}

static int fail_to_open(run *r, const char *what, const char *name, int error)
{
    cli_text text = {"", 0};
    cli_add(&text, "%s \"%s\" cannot be opened: %s", what, name, strerror(error));
    return report_unreadable(r, &text);
}

static int fail_in_corpus(run *r, cpubind_corpus_status status,
                          const cpubind_corpus_fault *fault)
{
    cli_text text = {"", 0};
    cli_add(&text, "the fixture \"%s\" in \"%s\": %s: %s", r->options.fixture, r->options.db,
            cpubind_corpus_status_text(status), fault->what);
    if (fault->message[0])
        cli_add(&text, " (%s)", fault->message);
    if (fault->error)
        cli_add(&text, ": %s", strerror(fault->error));
    return report_unreadable(r, &text);
}

static int open_in_corpus(run *r)
{
    cpubind_corpus_fault fault = {0, 0, "", ""};
    cpubind_corpus *corpus = NULL;
    cpubind_corpus_status status = CPUBIND_CORPUS_OK;
    if (!cpubind_linux_is_file(r->options.db))
        return fail_to_open(r, "the corpus", r->options.db, errno);
    status = cpubind_corpus_open(r->options.db, &corpus, &fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_corpus_open_host(corpus, r->options.fixture, &r->fixture, &fault);
    cpubind_corpus_close(corpus);
    if (status != CPUBIND_CORPUS_OK)
        return fail_in_corpus(r, status, &fault);
    r->source = cpubind_corpus_source(r->fixture);
    return CLI_DONE;
}

/* What an open of adapters/linux came to. */
static int take_host(run *r, const char *what, const char *name, cpubind_linux_status status,
                     const cpubind_linux_fault *fault)
{
    if (status != CPUBIND_LINUX_OK)
        return fail_to_open(r, what, name, fault->error);
    r->source = cpubind_linux_source(r->host);
    return CLI_DONE;
}

static int open_folder(const char *what, const char *name, const char *path, run *r)
{
    cpubind_linux_fault fault = {0, ""};
    cpubind_linux_status status = cpubind_linux_open_folder(path, NULL, &r->host, &fault);
    return take_host(r, what, name, status, &fault);
}

static int open_fixture(const char *name, run *r)
{
    char path[MAX_PATH];
    int error = cpubind_linux_find_fixture(name, path, sizeof path);
    if (error == 0)
        return open_folder("the fixture", name, path, r);
    return fail_to_open(r, "the fixture", name, error);
}

static int open_host(run *r)
{
    cpubind_linux_fault fault = {0, ""};
    cpubind_linux_status status;
    if (r->options.db)
        return open_in_corpus(r);
    if (r->options.fixture)
        return open_fixture(r->options.fixture, r);
    if (r->options.root)
        return open_folder("the folder", r->options.root, r->options.root, r);
    status = cpubind_linux_open_live(CPUBIND_LIVE_LIMIT_MS, NULL, &r->host, &fault);
    return take_host(r, "the folder", "/", status, &fault);
}

/* npu-smi can take seconds: say so on a terminal, and take it back. */
static void show_progress(const run *r, const char *text)
{
    if (!r->options.root && !r->options.fixture && !r->options.quiet &&
        cpubind_linux_is_terminal(fileno(stderr)))
        fputs(text, stderr);
}

static cpubind_problem_code make(run *r)
{
    cpubind_problem_code code = cpubind_snapshot_read(&r->source, &r->options.request,
                                                      &r->arena, &r->facts, &r->problem);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_ascend_make_plan(&r->facts, &r->options.request, &r->arena, &r->plan,
                                        &r->problem);
    return code;
}

/* A larger arena until the host fits. */
static cpubind_problem_code make_in_arena(run *r)
{
    cpubind_problem_code code = CPUBIND_PROBLEM_NO_MEMORY;
    for (size_t size = FIRST_ARENA; size <= LAST_ARENA; size *= 4) {
        free(r->arena.base);
        r->arena.base = (char *)malloc(size);
        r->arena.size = r->arena.base ? size : 0;
        r->arena.used = 0;
        code = make(r);
        if (code != CPUBIND_PROBLEM_NO_MEMORY || !r->arena.base)
            break;
    }
    return code;
}

static void print_warnings(const run *r)
{
    for (int i = 0; i < CPUBIND_WARNING_COUNT; i++) {
        cli_text text = {"", 0};
        if (!(r->plan.warnings & (1u << i)))
            continue;
        cli_explain_warning((cpubind_warning)i, &r->facts, &r->plan, &text);
        fprintf(stderr, "cpubind: warning: %s\n", text.text);
    }
}

static int print_problem(const run *r)
{
    cli_text text = {"", 0};
    cli_explain(&r->problem, &r->facts, &r->options, &text);
    return report(r, text.text);
}

static int print_plan(const run *r)
{
    if (r->options.json) {
        if (cli_print_json(stdout, &r->facts, &r->options, &r->plan))
            return CLI_DONE;
        fputs("cpubind: there is no memory left\n", stderr);
        return CLI_UNREADABLE;
    }
    cli_print_text(stdout, &r->facts, &r->options, &r->plan);
    if (!r->options.quiet)
        print_warnings(r);
    return CLI_DONE;
}

int cli_plan(int argc, char **argv)
{
    static run r; /* 20 KiB of options and faults: not for the stack */
    cpubind_problem_code code;
    int status = cli_read_options(argc, argv, &r.options);
    if (status >= 0)
        return status;
    status = open_host(&r);
    if (status != CLI_DONE)
        return status;
    show_progress(&r, "cpubind: asking npu-smi ...");
    code = make_in_arena(&r);
    show_progress(&r, "\r\033[K");
    status = code == CPUBIND_PROBLEM_NONE ? print_plan(&r) : print_problem(&r);
    cpubind_linux_close(r.host);
    cpubind_corpus_close_host(r.fixture);
    free(r.arena.base);
    return status;
}
