/* options.h - every option of every command
 * SPDX-License-Identifier: MIT
 *
 * Private to options.c and options_bind.c.
 */
#ifndef CPUBIND_CLI_OPTIONS_H
#define CPUBIND_CLI_OPTIONS_H

#include <getopt.h>

#include "../text/cpulist.h"
#include "help.h"

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof *(array)))

#define LIVE  (CLI_APPLY | CLI_RUN | CLI_VERIFY)
#define HOST  (CLI_PLAN | CLI_CAPTURE | LIVE)
#define CASE  (HOST | CLI_CASE)
#define STORE (CLI_LIST | CLI_SHOW | CLI_IMPORT | CLI_EXPORT | CLI_REPLAY | CLI_ACCEPT)
#define EVERY (HOST | STORE | CLI_RESTORE)

/* Every option: (id, word, whether it has a value, the commands that have it). */
#define OPTION_LIST(X)                                                                         \
    X(ROOT, "root", required_argument, HOST)                                                   \
    X(FIXTURE, "fixture", required_argument, CLI_PLAN | LIVE)                                  \
    X(DB, "db", required_argument, HOST | STORE)                                               \
    X(TYPE, "device-type", required_argument, CASE)                                            \
    X(NPUS, "npus", required_argument, CLI_PLAN | CLI_CAPTURE | CLI_CASE)                      \
    X(VISIBLE, "visible", required_argument, CASE)                                             \
    X(RANK, "rank", required_argument, CASE)                                                   \
    X(ALLOWED, "allowed", required_argument, CASE)                                             \
    X(EXCLUDE, "exclude", required_argument, CASE)                                             \
    X(STRATEGY, "strategy", required_argument, CASE)                                           \
    X(OVERLAP, "overlap", required_argument, CASE)                                             \
    X(OUTPUT, "output", required_argument, CLI_CAPTURE)                                        \
    X(NAME, "name", required_argument, CLI_CAPTURE)                                            \
    X(PRODUCT, "product", required_argument, CLI_CAPTURE)                                      \
    X(NOTES, "notes", required_argument, CLI_CAPTURE)                                          \
    X(REDACT, "redact", no_argument, CLI_CAPTURE)                                              \
    X(REPLACE, "replace", no_argument, CLI_CAPTURE | CLI_IMPORT | CLI_EXPORT)                  \
    X(JOBS, "jobs", required_argument, CLI_REPLAY)                                             \
    X(FORMAT, "format", required_argument, CLI_REPLAY)                                         \
    X(PID, "pid", required_argument, CLI_APPLY | CLI_VERIFY | CLI_RESTORE)                     \
    X(NPU, "npu", required_argument, LIVE)                                                     \
    X(THREAD, "thread", required_argument, LIVE)                                               \
    X(MEMORY, "memory", required_argument, LIVE)                                               \
    X(MEMORY_LIMIT, "memory-limit", required_argument, CLI_APPLY)                              \
    X(IRQBALANCE, "irqbalance", required_argument, CLI_APPLY | CLI_RUN)                        \
    X(ANY_ARCH, "any-arch", no_argument, CLI_APPLY | CLI_RUN)                                  \
    X(WATCH, "watch", no_argument, CLI_APPLY)                                                  \
    X(ENV, "env", required_argument, CLI_RUN)                                                  \
    X(STATE, "state", required_argument, LIVE | CLI_RESTORE)                                   \
    X(ALL, "all", no_argument, CLI_RESTORE)                                                    \
    X(JSON, "json", no_argument, HOST | CLI_RESTORE | CLI_LIST | CLI_SHOW | CLI_REPLAY)        \
    X(QUIET, "quiet", no_argument,                                                             \
      HOST | CLI_RESTORE | CLI_IMPORT | CLI_EXPORT | CLI_REPLAY | CLI_ACCEPT)                  \
    X(HELP, "help", no_argument, EVERY)                                                        \
    X(VERSION, "version", no_argument, EVERY)

enum option_id {
    OPTION_NONE = 255,
#define CLI_X(id, word, has_value, commands) OPTION_##id,
    OPTION_LIST(CLI_X)
#undef CLI_X
};

/* A word of a closed set. */
typedef struct cli_choice {
    const char *word;
    int32_t value;
} cli_choice;

/* What is being read. The functions below return 0, and why in *why, when it is wrong. */
typedef struct cli_reading {
    const cli_help *help;
    cli_options *options;
    cli_text *why;
} cli_reading;

int cli_wrong(const cli_reading *r, const char *what, const char *value);
int cli_choose(const cli_reading *r, const cli_choice *choices, int32_t n, const char *option,
               const char *word, int32_t *out);

/* A number without a sign or a blank: whether it is one. */
int cli_read_number(const char *text, int32_t *out);

/* A list of numbers below `limit`, in the place of what *out held. ERR_SPACE: there is no
 * memory for it. */
cpubind_text_status cli_parse_list(const char *text, int32_t limit, cli_numbers *out,
                                   cpubind_text_fault *fault);

/* Length of an argument; one past all limits counts as too long to be anything. */
int32_t cli_length(const char *text);

/* == options_bind.c ========================================================= */

/* The options of apply, run and verify alone. */
int cli_take_binding(const cli_reading *r, int id);

/* Sets optarg to the word behind an option if it is a number, else to NULL. Returns how many
 * words that took. */
int cli_take_number_word(int argc, char **argv);

/* What is wrong with options that are good each for itself, or NULL. */
const char *cli_binding_conflict(const cli_options *o, enum cli_command command);

#endif /* CPUBIND_CLI_OPTIONS_H */
