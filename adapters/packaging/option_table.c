/* option_table.c - prints the options of every command, for the completion of shells
 * SPDX-License-Identifier: MIT
 *
 * A program of the build; it is not installed. A line is "COMMAND --NAME KIND WORD...": KIND is
 * switch, value, or maybe for a value that can be missing; the words are the values that the
 * option knows, none where it takes numbers, lists, names or files. Opens nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/cli.h"

static void print_words(const api_option *row)
{
    api_text words = {"", 0};
    (void)api_add_option_words(row, &words);
    for (const char *at = words.text; *at; at++)
        if (*at != ',')
            putchar(*at);
}

static void print_options(const cli_help *help)
{
    for (const api_option *row = api_option_rows; row->dashed; row++) {
        if (!row->text || !(row->commands & (int)help->command))
            continue;
        printf("%s %s %s ", help->words, row->dashed,
               api_takes_value(row) ? "value"
               : row->value         ? "maybe"
                                    : "switch");
        print_words(row);
        putchar('\n');
        if (row->letter)
            printf("%s -%c %s\n", help->words, row->letter, row->value ? "value" : "switch");
    }
}

int main(void)
{
    for (int bit = 0; bit < 31; bit++) {
        const enum api_command command = (enum api_command)(1 << bit);
        const cli_help *help = cli_help_of(command);
        if (help->command == command)
            print_options(help);
    }
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
