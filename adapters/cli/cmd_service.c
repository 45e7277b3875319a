/* cmd_service.c - cpubind service: keep all workers of a host bound, by a file of settings
 * SPDX-License-Identifier: MIT
 *
 * Reads the options and the file, and prints; adapters/service has the loop.
 */
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "service_ask.h"
#include "service_engine.h"

/* The faults of a file, as lines and as JSON. */
typedef struct fault_list {
    const char *path;
    api_text first;     /* of the first fault */
    words_value *array; /* NULL: print lines on stderr */
} fault_list;

static void say(void *ctx, cpubind_position place, const char *text)
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
        words_add(f->array, words_make("line:i column:i text:s", (int)place.line,
                                       (int)place.column, text));
}

/* The value of a key as JSON: null without one, a list where it may repeat. */
static words_value *value_json(const api_settings *s, int32_t row)
{
    const api_key *key = &api_keys[row];
    const char *value = s->options.conf_value[row] ? s->options.conf_value[row] : key->usual;
    return key->repeats || !*value ? words_null() : words_text(value);
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
    words_add((words_value *)ctx, words_text(value));
}

static int print_settings(const api_settings *s, const char *path)
{
    printf(path ? "# %s is right; the settings are\n" : "# no %s; the settings are\n",
           path ? path : API_CONF_PATH);
    for (int32_t i = 0; api_keys[i].name; i++) {
        const char *value =
            s->options.conf_value[i] ? s->options.conf_value[i] : api_keys[i].usual;
        if (api_keys[i].repeats && s->options.conf_value[i])
            api_each_value(&s->options, api_keys[i].name, print_value, NULL);
        else if (*value)
            print_value(NULL, api_keys[i].name, value);
        else
            printf("# %s =\n", api_keys[i].name);
    }
    return API_DONE;
}

static int print_settings_json(const api_settings *s, const char *path)
{
    words_value *values = words_object();
    for (int32_t i = 0; api_keys[i].name; i++) {
        words_value *value = api_keys[i].repeats ? words_array() : value_json(s, i);
        if (api_keys[i].repeats && value)
            api_each_value(&s->options, api_keys[i].name, append_value, value);
        words_set(values, api_keys[i].name, value);
    }
    return cli_print_json(stdout, words_make("cpubind:s config:s settings:v", CPUBIND_VERSION,
                                             path, values))
               ? API_DONE
               : cli_no_memory();
}

/* cpubind service --check */
static int check(const api_options *o, api_settings *settings)
{
    fault_list faults = {.path = o->config ? o->config : API_CONF_PATH,
                         .array = o->json ? words_array() : NULL};
    api_text why = {"", 0};
    int status;
    if (o->json && !faults.array)
        return cli_no_memory();
    status = api_settings_load(o->config, settings, &faults.path, say, &faults, &why);
    if (why.len > 0)
        status = cli_fail(o, status, why.text);
    else if (status == API_DONE && o->json)
        status = print_settings_json(settings, faults.path);
    else if (status == API_DONE && !o->quiet)
        status = print_settings(settings, faults.path);
    else if (status != API_DONE && o->json)
        status = cli_print_json(stdout, words_make("cpubind:s error:{code:s text:s faults:V}",
                                                   CPUBIND_VERSION, "usage", faults.first.text,
                                                   faults.array))
                     ? status
                     : cli_no_memory();
    words_free(faults.array);
    return status;
}

/* cpubind service --ask: for a probe, which has a second. A service may work for as
 * long as one that answers may, and wait for a period. */
static int probe(const api_options *o, api_settings *settings)
{
    const char *path;
    api_text text = {"", 0};
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_asking asking = {.asked = {.ask = CPUBIND_ASK_ALIVE}, .path = API_SOCKET_PATH};
    cpubind_linux_fault why;
    words_value *json = NULL;
    int64_t idle_ms, limit_ms = CPUBIND_ANSWER_LIMIT_MS;
    int is_good;
    if (api_settings_load(o->config, settings, &path, NULL, NULL, &text) == API_DONE) {
        asking.path = settings->options.socket;
        limit_ms += settings->options.watch_ms;
    }
    if (!asking.path)
        return cli_fail(o, API_REFUSED, "the settings have socket = none: nobody can ask");
    why = cpubind_service_ask(&cpubind_sys_real, &asking, &bytes);
    if (!why.error)
        json = words_read(bytes.data, (size_t)bytes.len, NULL);
    cpubind_bytes_free(&bytes);
    if (!json)
        return cli_fail(o, API_REFUSED, cli_explain_silence(why, &asking));
    idle_ms = words_integer_of(json, "idle_ms");
    is_good = idle_ms <= limit_ms && words_is(words_get(json, "idle_ms"), WORDS_NUMBER);
    text = (api_text){"", 0};
    api_add(&text, "the service (process %d) %s: its last turn was %lld.%lld s ago",
            (int)asking.pid, is_good ? "goes on" : "hangs", (long long)(idle_ms / 1000),
            (long long)(idle_ms % 1000 / 100));
    if (o->ask == API_ASK_READY && is_good && !words_is_true(words_get(json, "ready"))) {
        is_good = 0;
        api_add(&text, "; it has not looked at the workers of this host yet");
    } else if (o->ask == API_ASK_READY && words_is_true(words_get(json, "all_left"))) {
        api_add(&text, "; " CLI_ALL_LEFT);
    }
    words_free(json);
    if (!is_good)
        return cli_fail(o, API_REFUSED, text.text);
    if (!o->quiet)
        printf("%s\n", text.text);
    return API_DONE;
}

int cli_service(int argc, char **argv)
{
    static api_options options;
    static api_settings settings;
    int status = cli_start(argc, argv, API_SERVICE, &options);
    if (status >= 0)
        return status;
    options.config = options.word[0];
    if (options.ask)
        status = probe(&options, &settings);
    else
        status = options.is_check ? check(&options, &settings) : cli_run_service(&options);
    api_free_options(&settings.options);
    api_free_options(&options);
    return status;
}
