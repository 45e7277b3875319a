/* sink.h - where a host is written to: a folder, or a corpus
 * SPDX-License-Identifier: MIT
 *
 * All or nothing: what was put is there after a commit, and gone without one. Each function
 * returns the exit status, and on failure why in *why.
 */
#ifndef CPUBIND_CLI_SINK_H
#define CPUBIND_CLI_SINK_H

#include "corpus_option.h"

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

#endif /* CPUBIND_CLI_SINK_H */
