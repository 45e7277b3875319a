/* fixture.h - fixture hosts: read from a corpus, compared with expectations, written
 * SPDX-License-Identifier: MIT
 *
 * Unless it says otherwise, a function returns the exit status, with the reason of a failure in
 * *why. fixtures/README.md has the form of hosts and of expectations:
 *   {"args": [...], "exit": n, "plan": {...}}    or "error" in place of "plan"
 */
#ifndef CPUBIND_CLI_FIXTURE_H
#define CPUBIND_CLI_FIXTURE_H

#include "../words/value.h"

#include "../archive/archive.h"
#include "../linux/source/file_writer.h"
#include "../sqlite/corpus.h"
#include "cli.h"

/* == The corpus that the options name (corpus_option.c) ===================== */

#define CLI_PATH_MAX 4096

/* A corpus that is open. */
typedef struct cli_corpus {
    cpubind_corpus *corpus;
    cpubind_linux_whole file; /* as it was read */
    char path[CLI_PATH_MAX];
} cli_corpus;

/* What it is opened for: to be read; changed; changed, and made if it is missing. */
typedef enum cli_corpus_use {
    CLI_CORPUS_READ,
    CLI_CORPUS_CHANGE,
    CLI_CORPUS_MAKE
} cli_corpus_use;

/* Opens the corpus: --db, else the one that was installed with cpubind. The caller closes it,
 * also after a failure. */
int cli_open_corpus(const api_options *options, cli_corpus_use use, cli_corpus *out,
                    api_text *why);
void cli_close_corpus(cli_corpus *corpus);

/* Puts the changed corpus in the place of the file. */
int cli_write_corpus(cli_corpus *corpus, api_text *why);

int cli_open_fixture(const cli_corpus *corpus, const char *name, cpubind_corpus_host **out,
                     api_text *why);

/* Opens the corpus and one host of it, and closes the corpus; its path stays in *corpus. */
int cli_take_fixture(const api_options *options, const char *name, cli_corpus *corpus,
                     cpubind_corpus_host **out, api_text *why);

/* Explains a fault of adapters/sqlite and returns its exit status; `host` may be NULL. */
int cli_corpus_failed(const cpubind_corpus_fault *fault, const cli_corpus *corpus,
                      const char *host, api_text *why);

/* == Expectations (expect.c) ================================================ */

/* Reads an expectation. Returns NULL when it has not that form. */
words_value *cli_read_expectation(const char *body, size_t len, api_text *why);

/* Asks a host the question of an expectation, its "args", and makes the expectation that the
 * answer meets: a plan, the devices of topo, or a refusal. Returns NULL, with the reason in
 * *why, when the arguments are wrong. Several threads may call it at once, each with its
 * `planned`. */
words_value *cli_answer(const cpubind_source *source, const words_value *question,
                        api_planned *planned, api_text *why);

/* Makes the expectation that a plan, or its problem, meets. An error has its "text" too.
 * Returns NULL without memory.
 *   in      planned: of api_make; on a host of other accelerators alone it becomes their plan
 *           why: room for the text of an error, empty */
words_value *cli_make_expectation(const words_value *args, const cpubind_source *source,
                                  api_planned *planned, const api_options *options,
                                  api_text *why);

/* Writes a line for each difference, and returns their number. A key that `expected` does not
 * name, in a plan, in an NPU or in an error, is no difference, so that a new key of the output
 * fails no expectation; with is_whole it is one, except in an error. The order of warnings is
 * never a difference. */
int cli_compare(FILE *out, const words_value *expected, const words_value *got, int is_whole);

/* Removes from `got` the keys that `expected` does not name, when both are plans, or refusals
 * with one code. The quality of a plan stays; `expected` names it afterwards. */
void cli_keep_named(words_value *expected, words_value *got);

/* Whether a plan is expected without its quality. */
int cli_lacks_quality(const words_value *expectation);

/* Prints the lines of a text, with `before` in front of each. The text may come from a file of
 * another user: control characters and bytes that are not ASCII become "?". NULL stands for
 * memory that ran out. */
void cli_print_lines(FILE *out, const char *before, const char *lines);

/* The text of expect/CASE.json: a plan has one line for each NPU, an error has no text. The
 * caller frees it; NULL without memory. */
char *cli_format_expectation(const words_value *expectation);

/* An expectation that was compared with the plan of a host. */
typedef struct cli_trial {
    words_value *expected; /* NULL: the text is not an expectation */
    words_value *got;      /* NULL: its arguments are wrong */
    int n_difference;      /* 0: it holds */
    char *text;            /* a line for each difference; NULL: memory ran out */
} cli_trial;

/* Plans a host with the arguments of an expectation, and compares. */
void cli_try(const cpubind_source *source, const char *body, size_t len, api_planned *planned,
             cli_trial *out);
void cli_free_trial(cli_trial *trial);

/* == Changes (fixture_change.c) ============================================= */

/* Prints what a command did: a line, which --quiet leaves out, or with --json an object. The
 * pairs of `more`, which is freed, are added to the object; `more` may be NULL. */
__attribute__((format(printf, 4, 5))) int cli_say_change(const api_options *options,
                                                         const char *path, words_value *more,
                                                         const char *format, ...);

/* == A folder or a corpus to write to (sink.c) ============================== */

/* A folder, a corpus or a file. Nothing that was written is visible to others before
 * cli_commit_sink; without it, all of it is removed. */
typedef struct cli_sink {
    cli_corpus corpus;       /* or the folder or the file: */
    cpubind_host_part *part; /* each name an allocation, with the data behind it */
    int32_t n_part;
    int is_file, is_packed;
    char path[CLI_PATH_MAX]; /* of the folder or of the file */
    const char *host;        /* the name of the host that is being written */
    int is_replacing;
} cli_sink;

/* Opens a new folder `path`, or a file, NAME.host or NAME.host.gz; or the corpus of the
 * options. With options->replace a file, or a host of the corpus, is replaced. The caller
 * closes the sink, also after a failure. */
int cli_open_path_sink(const api_options *options, const char *path, cli_sink *out,
                       api_text *why);
int cli_open_corpus_sink(const api_options *options, cli_sink *out, api_text *why);

/* The bytes of the ending of a path that names such a file; 0: it names none. */
size_t cli_host_ending(const char *path);

/* Starts a host. Its name is kept as a pointer until the next host. A folder or a file holds
 * one host. */
int cli_put_host(cli_sink *sink, const cpubind_corpus_about *about, api_text *why);

/* Add to the host that was started last. An input is PRESENT or TIMEOUT. */
int cli_put_input(cli_sink *sink, const char *name, const cpubind_input *input, api_text *why);
int cli_put_expectation(cli_sink *sink, const char *name, const char *body, size_t len,
                        api_text *why);

int cli_commit_sink(cli_sink *sink, api_text *why);
void cli_close_sink(cli_sink *sink);

#endif /* CPUBIND_CLI_FIXTURE_H */
