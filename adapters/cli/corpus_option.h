/* corpus_option.h - the corpus that the options name, and what to say when it fails
 * SPDX-License-Identifier: MIT
 *
 * Each function returns the exit status, and on failure why in *why.
 */
#ifndef CPUBIND_CLI_CORPUS_OPTION_H
#define CPUBIND_CLI_CORPUS_OPTION_H

#include "../sqlite/store.h"
#include "cli.h"

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

#endif /* CPUBIND_CLI_CORPUS_OPTION_H */
