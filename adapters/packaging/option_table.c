/* option_table.c - prints the options of every command, for the completion of shells; with the
 * argument "page" as the tables of COMMANDS.md
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

static void print_options(void)
{
    for (int bit = 0; bit < 31; bit++) {
        const enum api_command command = (enum api_command)(1 << bit);
        const cli_help *help = cli_help_of(command);
        for (const api_option *row = api_option_rows; row->dashed; row++)
            if (help->command == command && row->text && row->commands & (int)command)
                print_option(help, row);
    }
}

/* == The page =============================================================== */

/* The words of the commands whose bit is set, or is not set, with commas between them; returns
 * how many there are. */
static int list_commands(int bits, int is_set, int is_printed)
{
    int n = 0;
    for (int bit = 0; bit < 31; bit++) {
        const enum api_command command = (enum api_command)(1 << bit);
        const cli_help *help = cli_help_of(command);
        if (help->command != command || ((bits & (int)command) != 0) != is_set)
            continue;
        if (is_printed)
            printf("%s%s", n > 0 ? ", " : "", help->words);
        n++;
    }
    return n;
}

/* The commands of an option: all, all but a few, or those that have it. */
static void print_commands(int bits)
{
    const int n_without = list_commands(bits, 0, 0);
    if (n_without <= 3)
        printf(n_without > 0 ? "all but " : "all");
    list_commands(bits, n_without > 3, 1);
}

static void print_group(api_group group)
{
    printf("\n## %s\n\n",
           group == API_GROUP_COMMAND ? "Options of one command" : api_group_titles[group]);
    for (const api_option *row = api_option_rows; row->dashed; row++) {
        if (!row->text || row->group != group)
            continue;
        printf(row->letter ? "- `-%c, " : "- `", row->letter);
        printf("%s%s%s` (", row->dashed, row->value ? " " : "", row->value ? row->value : "");
        print_commands(row->commands);
        printf("): %s\n", row->text);
    }
}

static void print_formats(void)
{
    for (int bit = 0; bit < 31; bit++) {
        const enum api_command command = (enum api_command)(1 << bit);
        const cli_help *help = cli_help_of(command);
        const api_format *format = help->command == command ? cli_formats_of(command) : NULL;
        if (format)
            printf("\n## Formats of %s\n\n", help->words);
        for (; format && format->word; format++)
            printf("- `%s`: %s\n", format->word, format->what);
    }
}

/* The keys of the settings: first those that are options, too. */
static void print_keys(void)
{
    const char *before = "";
    printf(
        "\n## Settings\n\nOf `/etc/cpubind.conf`, or for one run `-o KEY=VALUE`: "
        "[how they count](../service/SERVICE.md#settings). In\nparentheses is the value of a "
        "key that is not there. As their options:\n");
    for (const api_key *key = api_keys; key->name; key++)
        if (!key->what) {
            printf("%s`%s`", before, key->name);
            before = ", ";
        }
    printf(".\n\n");
    for (const api_key *key = api_keys; key->name; key++)
        if (key->what)
            printf(*key->usual ? "- `%s` (%s): %s\n" : "- `%s`%s: %s\n", key->name, key->usual,
                   key->what);
}

static void print_page(void)
{
    printf("# Options and settings\n\nPrinted by `make pages` from the tables that the help is "
           "made of; in parentheses are the commands that have an option.\n`cpubind help` and "
           "the manual pages say what each command does.\n");
    for (int group = 0; group < API_GROUP_COUNT; group++)
        print_group((api_group)group);
    print_formats();
    print_keys();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "page") == 0)
        print_page();
    else
        print_options();
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
