/* cmd_service.c - cpubind service: keep all workers of a host bound, by a file of settings
 * SPDX-License-Identifier: MIT
 *
 * Reads the options and the file, and prints; adapters/service has the loop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../service/conf_file.h"
#include "output.h"
#include "service_engine.h"

/* The faults of a file, as lines and as JSON. */
typedef struct fault_list {
    const char *path;
    api_text first; /* of the first fault */
    json_t *array;  /* NULL: print lines on stderr */
} fault_list;

static void say(void *ctx, cpubind_place place, const char *text)
{
    fault_list *f = (fault_list *)ctx;
    api_text line = {"", 0};
    api_add(&line, "%s, line %d, column %d: %s", f->path, (int)place.line, (int)place.column,
            text);
    if (f->first.len == 0)
        f->first = line;
    if (!f->array)
        fprintf(stderr, "cpubind: %s\n", line.text);
    else
        (void)json_array_append_new(
            f->array, json_pack("{s:i, s:i, s:o}", "line", (int)place.line, "column",
                                (int)place.column, "text", cli_json_text(text)));
}

/* Appends why a file could not be read, and what helps. */
static void explain_file(const char *path, cpubind_linux_fault why, api_text *text)
{
    if (strcmp(why.what, "owner") == 0)
        api_add(text, "%s belongs to another user than root; try: chown root %s", path, path);
    else if (strcmp(why.what, "mode") == 0)
        api_add(text, "others than its owner may write to %s; try: chmod go-w %s", path, path);
    else if (strcmp(why.what, "length") == 0)
        api_add(text, "%s has more than %d bytes", path, CPUBIND_CONF_MAX);
    else if (strcmp(why.what, "kind") == 0)
        api_add(text, "%s is no regular file", path);
    else if (strcmp(why.what, "writer") == 0)
        api_add(text, "%s is being written to; try again when it is complete", path);
    else if (strcmp(why.what, "empty") == 0)
        api_add(text,
                "%s is empty; for the usual settings write a line \"# usual\", or remove it",
                path);
    else
        api_add(text, "%s could not be read: %s", path, strerror(why.error));
}

static int is_empty(const cpubind_bytes *bytes)
{
    int32_t at = 0;
    while (at < bytes->len && (unsigned char)bytes->data[at] <= ' ')
        at++;
    return at == bytes->len;
}

int cli_settings_load(const char *asked, cli_settings *out, const char **path,
                      cli_settings_say *say_one, void *ctx, api_text *why)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_linux_fault fault;
    int32_t n;
    *path = asked ? asked : CLI_CONF_PATH;
    memset(out, 0, sizeof *out);
    fault = cpubind_conf_read_file(&cpubind_sys_real, *path, &bytes);
    if (fault.error == ENOENT && !asked) {
        fault.error = 0;
        *path = NULL;
    } else if (!fault.error && is_empty(&bytes)) { /* a full disk leaves such a file */
        fault = (cpubind_linux_fault){EPERM, "empty", 0};
    }
    if (fault.error) {
        explain_file(*path, fault, why);
        cpubind_bytes_free(&bytes);
        return fault.error == EPERM ? API_USAGE : API_UNREADABLE;
    }
    n = cli_settings_parse(bytes.data, bytes.len, out, say_one, ctx);
    cpubind_bytes_free(&bytes);
    if (n < 0)
        api_add(why, "there is no memory left");
    return n < 0 ? API_UNREADABLE : n > 0 ? API_USAGE : API_DONE;
}

/* The value of a key as JSON: null without one, a list where it may repeat. */
static json_t *value_json(const cli_settings *s, int32_t row)
{
    const cli_key *key = &cli_keys[row];
    const char *value = s->value[row] ? s->value[row] : key->usual;
    return key->repeats || !*value ? json_null() : cli_json_text(value);
}

/* Calls visit for each value of a key that repeats. The settings keep the last one alone; the
 * options keep all. */
static void each_value(const cli_settings *s, const char *key,
                       void (*visit)(void *ctx, const char *key, const char *value), void *ctx)
{
    const api_options *o = &s->options;
    api_text text;
    for (int32_t i = 0; !strcmp(key, "only") && i < o->n_only; i++)
        visit(ctx, key, o->only[i]);
    for (int32_t i = 0; !strcmp(key, "except") && i < o->n_except; i++)
        visit(ctx, key, o->except[i]);
    for (int32_t i = 0; !strcmp(key, "thread") && i < o->n_wish; i++) {
        const cpubind_thread_wish *wish = &o->wish[i];
        text = (api_text){"", 0};
        api_add(&text, "%s=", wish->name);
        if (wish->kind == CPUBIND_WISH_LIST)
            api_add_list(&text, wish->cpus.cpu, wish->cpus.n);
        else
            api_add(&text, "%s",
                    wish->kind == CPUBIND_WISH_POOL    ? "pool"
                    : wish->kind == CPUBIND_WISH_KEEP  ? "keep"
                    : wish->kind == CPUBIND_WISH_LEAVE ? "leave"
                                                       : cpubind_role_word(wish->role));
        visit(ctx, key, text.text);
    }
}

static void print_value(void *ctx, const char *key, const char *value)
{
    const int is_quoted = strpbrk(value, "#") || value[strcspn(value, " ")] != '\0';
    (void)ctx;
    printf("%s = %s%s%s\n", key, is_quoted ? "\"" : "", value, is_quoted ? "\"" : "");
}

static void append_value(void *ctx, const char *key, const char *value)
{
    (void)key;
    (void)json_array_append_new((json_t *)ctx, cli_json_text(value));
}

static int print_settings(const cli_settings *s, const char *path)
{
    printf(path ? "# %s is right; the settings are\n" : "# no %s; the settings are\n",
           path ? path : CLI_CONF_PATH);
    for (int32_t i = 0; cli_keys[i].name; i++) {
        const char *value = s->value[i] ? s->value[i] : cli_keys[i].usual;
        if (cli_keys[i].repeats && s->value[i])
            each_value(s, cli_keys[i].name, print_value, NULL);
        else if (*value)
            print_value(NULL, cli_keys[i].name, value);
        else
            printf("# %s =\n", cli_keys[i].name);
    }
    return API_DONE;
}

static int print_settings_json(const cli_settings *s, const char *path)
{
    json_t *values = json_object();
    for (int32_t i = 0; values && cli_keys[i].name; i++) {
        json_t *value = cli_keys[i].repeats ? json_array() : value_json(s, i);
        if (cli_keys[i].repeats && value)
            each_value(s, cli_keys[i].name, append_value, value);
        if (json_object_set_new(values, cli_keys[i].name, value) != 0) {
            json_decref(values);
            values = NULL;
        }
    }
    return cli_print_json(stdout, json_pack("{s:s, s:o, s:o}", "cpubind", CPUBIND_VERSION,
                                            "config", path ? cli_json_text(path) : json_null(),
                                            "settings", values))
               ? API_DONE
               : cli_no_memory();
}

/* cpubind service --check */
static int check(const api_options *o, cli_settings *settings)
{
    const char *asked = o->n_word > 0 ? o->word[0] : o->config;
    fault_list faults = {.path = asked ? asked : CLI_CONF_PATH,
                         .array = o->json ? json_array() : NULL};
    api_text why = {"", 0};
    int status;
    if (o->json && !faults.array)
        return cli_no_memory();
    status = cli_settings_load(asked, settings, &faults.path, say, &faults, &why);
    if (why.len > 0)
        status = cli_fail(o, status, why.text);
    else if (status == API_DONE && o->json)
        status = print_settings_json(settings, faults.path);
    else if (status == API_DONE && !o->quiet)
        status = print_settings(settings, faults.path);
    else if (status != API_DONE && o->json)
        status = cli_print_json(stdout, json_pack("{s:s, s:{s:s, s:o, s:O}}", "cpubind",
                                                  CPUBIND_VERSION, "error", "code", "usage",
                                                  "text", cli_json_text(faults.first.text),
                                                  "faults", faults.array))
                     ? status
                     : cli_no_memory();
    json_decref(faults.array);
    return status;
}

int cli_service(int argc, char **argv)
{
    static api_options options;
    static cli_settings settings;
    int status = cli_start(argc, argv, API_SERVICE, NULL, &options);
    if (status >= 0)
        return status;
    status = options.is_check ? check(&options, &settings) : cli_run_service(&options);
    cli_settings_free(&settings);
    api_free_options(&options);
    return status;
}
