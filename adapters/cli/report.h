/* report.h - what a replay came to, as text, TAP, JUnit or JSON
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_REPORT_H
#define CPUBIND_CLI_REPORT_H

#include "corpus_option.h"
#include "expect.h"
#include "json.h"

/* One expectation, held. Texts are NULL where there was no memory for them. */
typedef struct cli_replayed_case {
    char *name;
    int n_difference; /* 0: it holds */
    char *text;       /* a line for each difference */
} cli_replayed_case;

/* One host. */
typedef struct cli_replayed {
    char *name;
    int status; /* CLI_DONE, or it could not be opened: why */
    char *why;
    cli_replayed_case *trial;
    int32_t n_trial;
    double seconds;
} cli_replayed;

/* Prints to stdout as the options ask; returns the exit status of the replay. */
int cli_print_replayed(const cli_options *options, const cli_replayed *host, int32_t n_host,
                       double seconds);

#endif /* CPUBIND_CLI_REPORT_H */
