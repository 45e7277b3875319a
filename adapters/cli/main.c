/* main.c - the cpubind command: which command was meant
 * SPDX-License-Identifier: MIT
 *
 * Chooses the command and returns its exit status; reads no option and opens nothing: cmd_*.c
 * do. README.md documents the commands and the exit statuses.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "hint.h"

static int is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* Every command. */
static const struct {
    const char *word;
    int (*run)(int argc, char **argv);
} commands[] = {{"plan", cli_plan},       {"apply", cli_apply},     {"run", cli_run},
                {"verify", cli_verify},   {"restore", cli_restore}, {"doctor", cli_doctor},
                {"capture", cli_capture}, {"fixture", cli_fixture}};

/* Refuses a command that does not exist; as JSON where that is asked for. */
static int refuse(int argc, char **argv)
{
    cli_hint hint = {.word = argv[1]};
    static cli_options options;
    cli_text why = {"", 0};
    for (int i = 2; i < argc; i++)
        options.json |= strcmp(argv[i], "--json") == 0;
    cli_add(&why, "there is no command \"%s\"; try: cpubind --help", argv[1]);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        cli_hint_try(&hint, commands[i].word);
    cli_hint_add(&hint, &why);
    return cli_fail(&options, CLI_USAGE, why.text);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    cli_reset_signals();
    if (is_one_of(word, "--help", "-h") || strcmp(word, "help") == 0) {
        cli_print_help(stdout);
        return cli_finish(CLI_DONE);
    }
    if (is_one_of(word, "--version", "-V")) {
        puts("cpubind " CPUBIND_VERSION);
        return cli_finish(CLI_DONE);
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(word, commands[i].word) == 0)
            return cli_finish(commands[i].run(argc - 1, argv + 1));
    if (word[0] != '\0')
        return cli_finish(refuse(argc, argv));
    cli_print_help(stderr);
    return CLI_USAGE;
}
