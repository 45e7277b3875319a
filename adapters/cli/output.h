/* output.h - JSON of the commands that build it as a tree
 * SPDX-License-Identifier: MIT
 *
 * Plans, problems and reports are those of adapters/api. JSON.md documents the keys of the JSON; a key that it documents is never renamed.
 */
#ifndef CPUBIND_CLI_OUTPUT_H
#define CPUBIND_CLI_OUTPUT_H

#include "../words/show.h"

#include "cli.h"

/* Prints a value as one line and frees it. Returns 0 when it is NULL or cannot be written. */
int cli_print_json(FILE *out, words_value *value);

/* Prints a report as the text of a view, or if asked for as JSON, and frees it. Returns 0 as
 * cli_print_json. */
int cli_print_text(const words_view *view, words_value *report);
int cli_print_report(const api_options *options, const words_view *view, words_value *report);

#endif /* CPUBIND_CLI_OUTPUT_H */
