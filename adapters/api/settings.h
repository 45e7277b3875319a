/* settings.h - what all workers of a host share: the keys of /etc/cpubind.conf
 * SPDX-License-Identifier: MIT
 *
 * Each key is the long name of a row of options.c, and its value is read by the function of
 * that row. Commands read the keys that they need; -o KEY=VALUE says one for one run. An option
 * that is given takes the place of its key, and so does CPUBIND_RULES that of the file. A
 * captured host brings its own file, and never has that of this host.
 */
#ifndef CPUBIND_API_SETTINGS_H
#define CPUBIND_API_SETTINGS_H

#include "../linux/kernel/bytes.h"
#include "api.h"

#define API_CONF_PATH   "/etc/cpubind.conf"
#define API_SOCKET_PATH "/run/cpubind/service.sock"

/* One key. */
typedef struct api_key {
    const char *name;
    const char *usual; /* the value without the key; "" where there is none */
    int repeats;       /* the key may be there several times */
    const char *what;  /* it decides, for the help and COMMANDS.md; NULL: an option says it */
    int commands;      /* that read it, and calls; of the service all are */
} api_key;

/* Every key, in the order of the example file; a row without a name ends the list. */
extern const api_key api_keys[];

/* The row of a key, or -1. */
int32_t api_find_key(const char *key, int32_t len);

/* The options of a file, as apply --all has them, with its text and values. */
typedef struct api_settings {
    api_options options;
    cpubind_position place[API_MAX_KEYS]; /* of the last value of a key, by its row */
} api_settings;

/* Called for each fault of a file, with the place of the key or of the value. */
typedef void api_settings_say(void *ctx, cpubind_position place, const char *text);

/* Reads the text of a configuration file; an empty text gives the usual settings.
 *   in      say may be NULL
 *   out     *out, whose options are to be freed also when there are faults
 *   returns the number of faults; -1 without memory */
int32_t api_settings_parse(const char *text, int32_t len, api_settings *out,
                           api_settings_say *say, void *ctx);

/* Reads a file of settings.
 *   in      asked: its path; NULL: the usual one, which may be missing
 *   out     *out, whose options are to be freed also on failure; *path: the file that was read,
 *           NULL: none
 *   returns the exit status: USAGE when the text has faults, which `say` was called for; else
 *           the reason is in *why */
int api_settings_load(const char *asked, api_settings *out, const char **path,
                      api_settings_say *say, void *ctx, api_text *why);

/* Whether commands read any key. */
int api_takes_settings(int commands);

/* Whether an option, or the key that -o says, is an argument of an expectation: it says what is
 * planned. */
int api_is_planned(const api_option *row, const char *value);

/* Keeps a word of -o, "key=value", for api_take_settings, which the options borrow. Returns 0,
 * with the reason in *why, where the key or the value is unknown, or the command reads no such
 * key. */
int api_add_setting(api_options *options, char *word, api_text *why);

/* Whether -o has said a key that there is. */
int api_says(const api_options *options, const char *key);

/* Appends that an option of commands is a key, or (is_whole 0) begins one, and how it is said.
 * Returns 0 where it is none. */
int api_add_key(int commands, const char *part, int is_whole, api_text *why);

/* Takes the keys that options have not said: those of api_add_setting, else of the file.
 *   in      source: of a captured host; NULL: the file of this host, which may be missing
 *           commands: whose keys count
 *   out     options->counted
 *   returns the exit status, with the reason and its place in *why */
int api_take_settings(const cpubind_source *source, int commands, api_options *options,
                      api_text *why);

/* Called with a value of a key. */
typedef void api_visit_value(void *ctx, const char *key, const char *value);

/* Calls visit for each value of a key that repeats. */
void api_each_value(const api_options *options, const char *key, api_visit_value *visit,
                    void *ctx);

/* Calls visit for each value of the keys that counted in a plan by `rules`, which an
 * environment may have said. */
void api_each_setting(const api_options *options, cpubind_rules rules, api_visit_value *visit,
                      void *ctx);

#endif /* CPUBIND_API_SETTINGS_H */
