/* help.h - what each command is for, on one screen
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_HELP_H
#define CPUBIND_CLI_HELP_H

#include "cli.h"

typedef struct cli_help {
    enum cli_command command;
    const char *words; /* "fixture replay" */
    const char *text;
} cli_help;

/* That of plan for CLI_CASE. */
const cli_help *cli_help_of(enum cli_command command);

#endif /* CPUBIND_CLI_HELP_H */
