/* option_table.c - prints the options of every command, for the completion of shells
 * SPDX-License-Identifier: MIT
 *
 * A program of the build; it is not installed. A line is "COMMAND|--NAME|KIND|WORD ...": KIND
 * is switch; maybe, for a value that can be missing; words, one of those that follow; or what a
 * value is: a folder, a file, a host of a corpus, a pid, or other. Opens nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../api/settings.h"
#include "../cli/cli.h"

/* What a value is that has no list of words, by its name in the help or by its option. */
static const char *kind_of(const api_option *row)
{
    static const char *const kinds[][2] = {
        {"DIR", "folder"}, {"FILE", "file"}, {"--fixture", "host"}, {"--pid", "pid"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(row->value, kinds[i][0]) == 0 || strcmp(row->dashed, kinds[i][0]) == 0)
            return kinds[i][1];
    return "other";
}

/* Appends the words of a value, with blanks between them. */
static void add_words(const api_option *row, enum api_command command, api_text *to)
{
    const api_format *format = cli_formats_of(command);
    api_text words = {"", 0};
    if (strcmp(row->dashed, "--format") == 0)
        for (; format && format->word; format++)
            api_add(to, " %s", format->word);
    for (const api_key *key = api_keys; strstr(row->text, "KEY=") && key->name; key++)
        if (key->commands & (int)command)
            api_add(to, " %s=", key->name);
    api_add_option_words(row, &words);
    for (const char *at = words.text; *at; at++)
        if (*at != ',')
            api_add(to, "%c", *at);
}

static void print_option(const cli_help *help, const api_option *row)
{
    api_text words = {"", 0};
    const char *kind = "switch", *known;
    if (row->value) {
        add_words(row, help->command, &words);
        kind = !api_takes_value(row) ? "maybe" : words.len > 0 ? "words" : kind_of(row);
    }
    known = words.text + strspn(words.text, " ");
    printf("%s|%s|%s|%s\n", help->words, row->dashed, kind, known);
    if (row->letter)
        printf("%s|-%c|%s|%s\n", help->words, row->letter, kind, known);
}

int main(void)
{
    for (int bit = 0; bit < 31; bit++) {
        const enum api_command command = (enum api_command)(1 << bit);
        const cli_help *help = cli_help_of(command);
        for (const api_option *row = api_option_rows; row->dashed; row++)
            if (help->command == command && row->text && row->commands & (int)command)
                print_option(help, row);
    }
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
