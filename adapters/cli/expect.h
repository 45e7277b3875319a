/* expect.h - expectations: arguments, and the plan or the refusal that must come of them
 * SPDX-License-Identifier: MIT
 *
 * As JSON, in the form of fixtures/README.md:
 *   {"args": [...], "exit": n, "plan": {...}}    or "error" in the place of "plan"
 */
#ifndef CPUBIND_CLI_EXPECT_H
#define CPUBIND_CLI_EXPECT_H

#include <jansson.h>

#include "cli.h"

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

#endif /* CPUBIND_CLI_EXPECT_H */
