/* main.c - the cpubind command: which command was meant
 * SPDX-License-Identifier: MIT
 *
 * Chooses the command and returns its exit status; reads no option and opens nothing: cmd_*.c
 * do. COMMANDS.md has the commands, MESSAGES.md the exit statuses.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static int is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* Every command. */
static const struct {
    const char *word;
    int (*run)(int argc, char **argv);
} commands[] = {{"plan", cli_plan},       {"apply", cli_apply},     {"run", cli_run},
                {"verify", cli_verify},   {"restore", cli_restore}, {"status", cli_show_status},
                {"doctor", cli_doctor},   {"service", cli_service}, {"topo", cli_topology},
                {"measure", cli_measure}, {"capture", cli_capture}, {"fixture", cli_fixture}};

/* Whether one of the words is that of a command. */
static int has_command(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        for (size_t k = 0; k < sizeof commands / sizeof *commands; k++)
            if (strcmp(argv[i], commands[k].word) == 0)
                return 1;
    return 0;
}

/* Makes "help WORD..." the words "WORD... --help": argv then begins at argv[2]. */
static void move_help(int argc, char **argv)
{
    static char help[] = "--help";
    for (int i = 1; i < argc - 1; i++)
        argv[i] = argv[i + 1];
    argv[argc - 1] = help;
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    api_hint hint = {0};
    cli_reset_signals();
    if (strcmp(word, "help") == 0 && has_command(argc - 2, argv + 2)) {
        move_help(argc, argv);
        word = argv[1];
    }
    if (strcmp(word, "help") == 0 && argc > 2 && strcmp(argv[2], "environment") == 0) {
        cli_print_environment_help(stdout);
        return cli_finish(API_DONE);
    }
    if (is_one_of(word, "--help", "-h") || strcmp(word, "help") == 0) {
        cli_print_help(stdout);
        return cli_finish(API_DONE);
    }
    if (is_one_of(word, "--version", "-V") || strcmp(word, "version") == 0) {
        cli_print_version();
        return cli_finish(API_DONE);
    }
    hint.word = word;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(word, commands[i].word) == 0)
            return cli_finish(commands[i].run(argc - 1, argv + 1));
        api_hint_try(&hint, commands[i].word);
    }
    if (argc > 1)
        return cli_finish(cli_refuse_command(argc, argv, "", &hint));
    cli_print_help(stderr);
    return API_USAGE;
}
