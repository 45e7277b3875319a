/* run_command.h - run the cpubind command, or another, and keep what it says, for tests
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_SUPPORT_RUN_COMMAND_H
#define CPUBIND_TESTS_SUPPORT_RUN_COMMAND_H

enum { COMMAND_WORDS = 64, COMMAND_SECONDS = 240 };

typedef struct command_call {
    const char *const *words; /* ended by NULL, the first being the program */
    const char *folder;       /* where it runs; NULL: here */
    char *const *env;         /* NULL: as here */
    const char *data;         /* its stdin; NULL: empty */
} command_call;

typedef struct command_result {
    int status; /* exit status; 128 + n when signal n ended it, as one does that hangs */
    char *out;  /* stdout, NUL-terminated */
    char *err;  /* stderr, NUL-terminated */
} command_result;

/* CPUBIND, or the command of the build that this program is of. */
const char *command_path(void);

/* Runs a command to its end, for COMMAND_SECONDS at most. The cpubind command is not started
 * each time, but copied from one that waits (tests/faults/served.c), where it can be. */
command_result command_call_run(const command_call *call);
command_result command_run(const char *const *words);

void command_free(command_result *r);

/* Writes a fixture host as a folder, which does not exist or is empty. */
void command_unpack(const char *name, const char *folder);

#endif
