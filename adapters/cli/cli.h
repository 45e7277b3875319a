/* cli.h - the command: exit statuses, the command line, hosts, and what is printed
 * SPDX-License-Identifier: MIT
 *
 * adapters/cli is the only folder that prints and exits. It decides nothing about CPUs: that
 * is done in cpubind.h and adapters/ascend; words and JSON of plans are made in adapters/api.
 * COMMANDS.md has the options, MESSAGES.md the statuses.
 */
#ifndef CPUBIND_CLI_H
#define CPUBIND_CLI_H

#include <stdio.h>

#include "../api/api.h"
#include "../sqlite/corpus.h"

/* Exit statuses of run; the others are those of enum api_status. */
enum cli_exit {
    CLI_RUN_FAILED = 125,     /* cpubind failed with one of the others */
    CLI_NOT_EXECUTABLE = 126, /* as a shell and env(1) exit */
    CLI_NOT_FOUND = 127
};

/* == The command line ======================================================= */

/* Reads the options of one command. Returns 0, with the reason in *why, when one is wrong.
 * api_free_options may be called in both cases.
 *   in      argv[argc] may be written; words that are no options move to argv[1] and on */
int cli_parse(int argc, char **argv, enum api_command command, api_options *out, api_text *why);

/* Reads and checks the options of a command, and prints help, the version or an error. Returns
 * -1 to go on, else the exit status. */
int cli_start(int argc, char **argv, enum api_command command, api_options *out);

/* Whether the words of a command that does not exist have --json or --format json. */
int cli_has_json(int argc, char **argv);

/* Refuses argv[1], which is no command; `before` is "" or "fixture ". Returns the exit
 * status. */
int cli_refuse_command(int argc, char **argv, const char *before, api_hint *hint);

/* Called once before anything else: an ignored SIGCHLD is inherited, and the exit codes of
 * npu-smi would be lost. run restores the handler before exec. */
void cli_reset_signals(void);

/* The words of a command, such as "fixture replay", what its help has before the options and
 * after them (or NULL), and two lines of examples. */
typedef struct cli_help {
    enum api_command command;
    const char *words;
    const char *text, *more, *examples;
} cli_help;

/* The help of a command; for API_CASE the help of plan. */
const cli_help *cli_help_of(enum api_command command);

/* Prints the help of a command: its first options and examples, on one screen; or these and
 * the rest in groups, the formats. */
void cli_print_screen_of(FILE *out, enum api_command command);
void cli_print_help_of(FILE *out, enum api_command command);

/* Prints the list of commands, the exit statuses and variables, the list of `fixture`. */
void cli_print_help(FILE *out);
void cli_print_environment_help(FILE *out);
void cli_print_fixture_help(FILE *out);

/* Prints the version, and the forms of records that it writes and reads. */
void cli_print_version(void);

/* The commands; argv[0] is the word of the command. Each returns the exit status. */
int cli_plan(int argc, char **argv);
int cli_apply(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_verify(int argc, char **argv);
int cli_restore(int argc, char **argv);
int cli_show_status(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_service(int argc, char **argv);
int cli_measure(int argc, char **argv);
int cli_topology(int argc, char **argv);
int cli_capture(int argc, char **argv);
int cli_fixture(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_show(int argc, char **argv);
int cli_import(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_replay(int argc, char **argv);
int cli_accept(int argc, char **argv);
int cli_remove(int argc, char **argv);
int cli_rename(int argc, char **argv);
int cli_groups(int argc, char **argv);

/* == A host ================================================================= */

/* Opens the host that the options name. Returns the exit status, with the reason in *why. */
int cli_open_host(const api_options *options, api_host *out, api_text *why);

/* Keeps an open host for the next cli_open_host, which is of the same options. */
void cli_keep_host(const api_host *host);

/* Opens a snapshot: a folder, or a .host or .host.gz file. The caller closes *out. */
int cli_open_snapshot(const char *path, struct cpubind_linux_host **out, api_text *why);

/* Reads the text of a .host or .host.gz file, which the caller frees. */
int cli_read_host_text(const char *path, cpubind_bytes *out, api_text *why);

/* Opens such a text, which is *text no longer, also after a failure. The caller closes *out.
 *   in      path: of the file, for messages */
int cli_open_host_text(const char *path, cpubind_bytes *text, struct cpubind_linux_host **out,
                       api_text *why);

/* Shows on a terminal what the command is waiting for; NULL erases that line. */
void cli_progress(const api_options *options, const char *text);

/* == Output ================================================================= */

/* Whether the help of a command describes --NAME. */
int cli_has_option(enum api_command command, const char *name);

/* The formats of a command; NULL: it has none. */
const api_format *cli_formats_of(enum api_command command);

/* A text for a stream: with the columns and the colours of its terminal. */
api_out cli_out_for(FILE *out);

/* Prints a text and frees it. Returns 0 when memory had run out for a part of it. */
int cli_print_out(FILE *out, api_out *text);

/* Prints the warnings of a plan on stderr; nothing when there is no plan. */
void cli_print_warnings(const api_planned *planned);

/* Prints a warning on stderr; an api_hear. */
void cli_hear_warning(void *ctx, const char *code, const char *text);

/* Prints why there is no plan, as JSON on stdout or as a line on stderr. Returns the exit
 * status. */
int cli_refuse(const api_options *options, const api_planned *planned);

/* Prints any other error in the same way. Its code is "refused", "usage", "unreadable" or
 * "unwritten", by the status, which is returned. */
int cli_fail(const api_options *options, int status, const char *text);

/* Keeps the sentence that says what has been done, for an output that cannot be written. */
void cli_note_done(const api_text *text);

/* Flushes stdout, and says so if the output could not be written: a full disk or a closed pipe
 * is an error only then, and worse than any finding. Returns the exit status. */
int cli_finish(int status);

/* Prints on stderr that memory ran out; returns the exit status. */
int cli_no_memory(void);

/* Prints the table of the names of threads, which --explain threads asks for (thread_table.c).
 * Returns the exit status. */
int cli_print_threads(const api_options *options);

#endif /* CPUBIND_CLI_H */
