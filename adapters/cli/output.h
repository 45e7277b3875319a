/* output.h - JSON of the commands that build it as a tree
 * SPDX-License-Identifier: MIT
 *
 * Plans, problems and reports are those of adapters/api. JSON.md documents the keys of the
 * JSON; a key that it documents is never renamed.
 */
#ifndef CPUBIND_CLI_OUTPUT_H
#define CPUBIND_CLI_OUTPUT_H

#include "../words/show.h"

#include "cli.h"

/* Prints a value as one line and frees it. Returns 0 when it is NULL or cannot be written. */
int cli_print_json(FILE *out, words_value *value);

/* Prints a report as the text of a view, as words_show does, and frees it. Returns 0 as
 * cli_print_json. */
int cli_print_text(const words_view *view, words_value *report, const char *columns);

/* The same as JSON or with the columns that are asked for. Returns the exit status. */
int cli_print_report(const api_options *options, const words_view *view, words_value *report);

/* Refuses columns that a view has not. Returns the exit status. */
int cli_check_columns(const api_options *options, const words_view *view);

#endif /* CPUBIND_CLI_OUTPUT_H */
