/* hint.h - the words that one who mistyped may have meant
 * SPDX-License-Identifier: MIT
 *
 * Compares words alone, so that a message can name the few that are like the one given.
 */
#ifndef CPUBIND_CLI_HINT_H
#define CPUBIND_CLI_HINT_H

#include "cli.h"

#define CLI_HINTS 3

/* The words that are most like one, the best first. Begins as {.word = ...}. */
typedef struct cli_hint {
    const char *word;            /* as it was given */
    const char *like[CLI_HINTS]; /* borrowed */
    int32_t far[CLI_HINTS];      /* how far each is from the word: 0 is equal but for case */
    int32_t n;
} cli_hint;

/* Keeps a known word if it is like the given one: it begins with it, in either case, or a few
 * letters differ: one of four, at most three. O(length of the one x length of the other). */
void cli_hint_try(cli_hint *hint, const char *known);

/* Appends "; did you mean "a" or "b"?"; nothing where no word is like it. */
void cli_hint_add(const cli_hint *hint, cli_text *why);

/* Refuses argv[1], which is no command; `before` is "" or "fixture ". Returns the exit
 * status. */
int cli_refuse_command(int argc, char **argv, const char *before, cli_hint *hint);

#endif /* CPUBIND_CLI_HINT_H */
