/* settings.h - the settings of the service: the keys of /etc/cpubind.conf and their values
 * SPDX-License-Identifier: MIT
 *
 * Each key is the long name of an option, and its value is read by the function of that option.
 */
#ifndef CPUBIND_CLI_SETTINGS_H
#define CPUBIND_CLI_SETTINGS_H

#include "../linux/kernel/bytes.h"
#include "cli.h"

#define CLI_CONF_PATH   "/etc/cpubind.conf"
#define CLI_SOCKET_PATH "/run/cpubind/service.sock"
#define CLI_MAX_KEYS    40

/* One key. */
typedef struct cli_key {
    const char *name;
    const char *usual; /* the value without the key; "" where there is none */
    int repeats;       /* the key may be there several times */
    const char *what;  /* one line that says what the key decides */
} cli_key;

/* Every key, in the order of the example file; a row without a name ends the list. */
extern const cli_key cli_keys[];

typedef struct cli_settings {
    api_options options; /* as apply --all has them */
    char *text;          /* the values, each ended by NUL */
    /* By the row of cli_keys: the last value that was given, and its place; NULL: none. */
    const char *value[CLI_MAX_KEYS];
    cpubind_position place[CLI_MAX_KEYS];
} cli_settings;

/* Called for each fault of a file, with the place of the key or of the value. */
typedef void cli_settings_say(void *ctx, cpubind_position place, const char *text);

/* Reads the text of a configuration file; an empty text gives the usual settings.
 *   in      say may be NULL
 *   out     *out, to be freed with cli_settings_free also when there are faults
 *   returns the number of faults; -1 without memory */
int32_t cli_settings_parse(const char *text, int32_t len, cli_settings *out,
                           cli_settings_say *say, void *ctx);
void cli_settings_free(cli_settings *settings);

/* Reads a file of settings.
 *   in      asked: its path; NULL: the usual one, which may be missing
 *   out     *out, to be freed also on failure; *path: the file that was read, NULL: none
 *   returns the exit status: USAGE when the text has faults, which `say` was called for; else
 *           the reason is in *why */
int cli_settings_load(const char *asked, cli_settings *out, const char **path,
                      cli_settings_say *say, void *ctx, api_text *why);

/* The options without the keys that are for NPUs alone: such a key does not make NPUs of other
 * accelerators. Borrows from `options`. */
api_options cli_settings_of_any_device(const api_options *options);

/* Whether a process is wanted: its program or the name of its main thread is one of `only`
 * (none: every name), and neither is one of `except`. In a pattern * is any number of
 * characters and ? is one. */
int cli_settings_wants(const api_options *options, const char *program, const char *name);

#endif /* CPUBIND_CLI_SETTINGS_H */
