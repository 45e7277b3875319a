/* fixture.h - hosts of a corpus, what is expected of them, and where they are written to
 * SPDX-License-Identifier: MIT
 *
 * Each function that may fail returns the exit status, and on failure why in *why. fixtures/README.md has
 * the form of an expectation:
 *   {"args": [...], "exit": n, "plan": {...}}    or "error" in the place of "plan"
 */
#ifndef CPUBIND_CLI_FIXTURE_H
#define CPUBIND_CLI_FIXTURE_H

#include <jansson.h>

#include "../sqlite/store.h"
#include "cli.h"

/* == The corpus that the options name (corpus_option.c) ===================== */

#define CLI_PATH_MAX 4096

/* A corpus that is open for reading, and its path. */
typedef struct cli_corpus {
    cpubind_corpus *corpus;
    char path[CLI_PATH_MAX];
} cli_corpus;

/* Opens the corpus, --db or else the one beside the program, for reading; to be closed with
 * cpubind_corpus_close, also after a failure. */
int cli_open_corpus(const cli_options *options, cli_corpus *out, cli_text *why);

int cli_open_fixture(const cli_corpus *corpus, const char *name, cpubind_corpus_host **out,
                     cli_text *why);

/* Both, for one host alone: the corpus is closed again, and its path stays. */
int cli_take_fixture(const cli_options *options, const char *name, cli_corpus *corpus,
                     cpubind_corpus_host **out, cli_text *why);

/* Opens the corpus for one change; path says which it is. */
int cli_open_store(const cli_options *options, char path[CLI_PATH_MAX], cpubind_store **out,
                   cli_text *why);

/* What a status of adapters/sqlite is for the user. `host` may be NULL. */
int cli_corpus_failed(cpubind_corpus_status status, const cpubind_corpus_fault *fault,
                      const char *path, const char *host, cli_text *why);

/* == Expectations (expect.c) ================================================ */

/* Reads an expectation. NULL, and why in *why, when it has not that form. */
json_t *cli_read_expectation(const char *body, size_t len, cli_text *why);

/* The options that its arguments are. Returns 0, and why in *why, when they are wrong. Threads
 * may call it side by side. */
int cli_read_arguments(const json_t *expectation, cli_options *out, cli_text *why);

/* What planning with `args` came to, as an expectation; "text" of an error is there as well.
 * NULL without memory. */
json_t *cli_make_expectation(const json_t *args, const cli_planned *planned,
                             const cli_options *options);

/* Writes a line for each difference, and returns their number. A key that `expected` does not
 * name, in a plan, in an NPU or in an error, is no difference, so that a new key of the output
 * fails no expectation; with is_whole it is one, except in an error. The order of warnings is
 * never a difference. */
int cli_compare(FILE *out, const json_t *expected, const json_t *got, int is_whole);

/* Removes from `got` the keys that `expected` does not name, when both are plans, or refusals
 * with one code. */
void cli_keep_named(const json_t *expected, json_t *got);

/* Prints the lines of a text that may be a stranger's, with `before` in front of each: what a
 * terminal would obey does not pass. NULL: there was no memory for it. */
void cli_print_lines(FILE *out, const char *before, const char *lines);

/* The text of an expectation as it stands in expect/CASE.json, a plan with one line for each
 * NPU, an error without its text. To be freed; NULL without memory. */
char *cli_format_expectation(const json_t *expectation);

/* An expectation held against a host. */
typedef struct cli_trial {
    json_t *expected; /* NULL: the text is no expectation */
    json_t *got;      /* NULL: its arguments are wrong */
    int n_difference; /* 0: it holds */
    char *text;       /* a line for each difference; NULL: there was no memory */
} cli_trial;

/* Plans a host as an expectation asks, and compares. */
void cli_try(const cpubind_source *source, const char *body, size_t len, cli_planned *planned,
             cli_trial *out);
void cli_free_trial(cli_trial *trial);

/* == A folder or a corpus to write to (sink.c) ============================== */

/* All or nothing: what was put is there after a commit, and gone without one. */
typedef struct cli_sink {
    cpubind_store *store; /* one of the two */
    struct cpubind_linux_writer *writer;
    char path[CLI_PATH_MAX]; /* of the folder or the corpus */
    const char *host;        /* the name of the host that is being written */
    int is_replacing;
} cli_sink;

/* A new folder `dir`, or the corpus of the options; to be closed, also after a failure. With
 * options->replace in the place of what is there. */
int cli_open_folder_sink(const cli_options *options, const char *dir, cli_sink *out,
                         cli_text *why);
int cli_open_corpus_sink(const cli_options *options, cli_sink *out, cli_text *why);

/* Starts a host, whose name must live until the next one or the end; a folder holds one. */
int cli_put_host(cli_sink *sink, const cpubind_corpus_about *about, cli_text *why);

/* Adds to it. An input is PRESENT or TIMEOUT. */
int cli_put_input(cli_sink *sink, const char *name, const cpubind_input *input, cli_text *why);
int cli_put_expectation(cli_sink *sink, const char *name, const char *body, size_t len,
                        cli_text *why);

int cli_commit_sink(cli_sink *sink, cli_text *why);
void cli_close_sink(cli_sink *sink);

#endif /* CPUBIND_CLI_FIXTURE_H */
