/* measure_result.h - the result of a measurement: as JSON, and as text
 * SPDX-License-Identifier: MIT
 *
 * All is made from the JSON, so that the last result says what the command has said.
 * MEASURE.md has the words, JSON.md the keys.
 */
#ifndef CPUBIND_CLI_MEASURE_RESULT_H
#define CPUBIND_CLI_MEASURE_RESULT_H

#include "../words/value.h"

#include "../measure/judge.h"
#include "cli.h"

/* A measurement, judged. */
typedef struct cli_measured {
    const char *side[2]; /* "now", "near" */
    const cpubind_schedule *schedule;
    const cpubind_judgement *figure;
    int32_t n_figure, n_block; /* blocks that were run */
    /* Time that this process has computed, in percent of one CPU: to count, and all else, which
     * is to move the workers. */
    double cost_percent, moving_percent;
    words_value *workers;  /* an array, which the result takes over */
    words_value *warnings; /* the same: texts */
} cli_measured;

/* The result; NULL without memory. */
words_value *cli_measure_json(const cli_measured *m);

/* Appends the line for people: the word of the verdict, and the figure that says most. */
void cli_add_measure(const words_value *result, api_text *to);

/* Prints that line, the table, the blocks of the figure that says most, and how it was
 * measured. Returns 0 without memory. */
int cli_print_measure(const words_value *result);

/* The last measurement of this host in short, for status and doctor: an object; null where
 * there is none, it cannot be read, or the options are about another host. */
words_value *cli_last_measure_json(const api_options *options);

/* Adds it as one line; nothing where there is none. */
void cli_note_last_measure(words_value *notes, const api_options *options);

#endif /* CPUBIND_CLI_MEASURE_RESULT_H */
