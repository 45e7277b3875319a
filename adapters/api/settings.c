/* settings.c - /etc/cpubind.conf: which keys there are, where a fault is, what counts
 * SPDX-License-Identifier: MIT
 *
 * Prints nothing. The grammar is in adapters/text/conf.c; the values are those of the
 * options in options.c.
 */
#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../linux/source/conf_file.h"
#include "../text/conf_reader.h"

/* A file that is being read. */
typedef struct reading_file {
    const char *text;
    int32_t len;
    api_settings *out;
    api_settings_say *say;
    void *ctx;
    int32_t n_fault;
} reading_file;

static void say_fault(reading_file *f, int32_t offset, const api_text *why)
{
    f->n_fault++;
    if (f->say)
        f->say(f->ctx, cpubind_text_place(f->text, f->len, offset), why->text);
}

/* Appends that there is no such key, and which are like it. */
static void refuse_key(const char *key, int32_t len, api_text *why)
{
    char word[API_MAX_QUOTE] = "";
    api_hint hint = {.word = word};
    memcpy(word, key, (size_t)len < sizeof word ? (size_t)len : sizeof word - 1);
    api_add(why, "there is no key \"%s\"", word);
    for (int32_t i = 0; api_keys[i].name; i++)
        api_hint_try(&hint, api_keys[i].name);
    api_hint_add(&hint, why);
}

static void take_row(reading_file *f, const cpubind_conf_row *row)
{
    const int32_t i = api_find_key(f->text + row->key.at, row->key.len);
    char *value = f->out->options.conf_text + row->value.at;
    api_text why = {"", 0};
    if (i < 0) {
        refuse_key(f->text + row->key.at, row->key.len, &why);
        say_fault(f, row->key.at, &why);
        return;
    }
    if (f->out->options.conf_value[i] && !api_keys[i].repeats) {
        api_add(&why, "the key \"%s\" is there twice, first in line %d", api_keys[i].name,
                (int)f->out->place[i].line);
        say_fault(f, row->key.at, &why);
        return;
    }
    value[row->value.len] = '\0';
    f->out->options.conf_value[i] = value;
    f->out->place[i] = cpubind_text_place(f->text, f->len, row->key.at);
    if (!api_read_setting(&f->out->options, 0, api_keys[i].name, value, &why))
        say_fault(f, row->value.at, &why);
}

/* Checks the keys against each other. */
static void check_together(reading_file *f)
{
    const cpubind_request *q = &f->out->options.request;
    const int32_t others = api_find_key("others", (int32_t)strlen("others"));
    static const struct {
        const char *key;
        cpubind_memory_action memory;
        const char *what;
    } rules[] = {
        {"memory", CPUBIND_MEMORY_PREFER,
         "memory = prefer is for run: a process sets its own memory policy only"},
        {"memory-limit", CPUBIND_MEMORY_NONE, "it limits memory = migrate, and memory is none"},
        {"memory-time", CPUBIND_MEMORY_NONE, "it limits memory = migrate, and memory is none"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const int32_t row = api_find_key(rules[i].key, (int32_t)strlen(rules[i].key));
        if (!f->out->options.conf_value[row] || f->out->options.memory != rules[i].memory)
            continue;
        f->n_fault++;
        if (f->say)
            f->say(f->ctx, f->out->place[row], rules[i].what);
    }
    if (!f->out->options.keeps_others || q->keep_each > 0 || q->keep)
        return;
    f->n_fault++;
    if (f->say)
        f->say(f->ctx, f->out->place[others],
               "others = keep needs the key keep, such as keep = 2");
}

int32_t api_settings_parse(const char *text, int32_t len, api_settings *out,
                           api_settings_say *say, void *ctx)
{
    reading_file f = {text, len, out, say, ctx, 0};
    cpubind_conf_row row = {{0, 0}, {0, 0}};
    cpubind_text_fault fault = {0, ""};
    cpubind_conf_step step;
    api_options *o = &out->options;
    int32_t at = 0;
    memset(out, 0, sizeof *out);
    api_set_usual(o, API_APPLY);
    o->watch_ms = 1000;
    o->socket = API_SOCKET_PATH;
    o->conf_text = (char *)malloc((size_t)len + 1);
    if (!o->conf_text)
        return -1;
    if (len > 0)
        memcpy(o->conf_text, text, (size_t)len);
    o->conf_text[len] = '\0';
    while ((step = cpubind_conf_next(text, len, &at, &row, &fault)) != CPUBIND_CONF_END) {
        api_text why = {"", 0};
        if (step == CPUBIND_CONF_ROW) {
            take_row(&f, &row);
            continue;
        }
        api_add(&why, "%s", fault.what);
        say_fault(&f, fault.offset, &why);
    }
    check_together(&f);
    return f.n_fault;
}

/* Appends why a file could not be read, and what helps. */
static void explain_file(const char *path, cpubind_linux_fault why, api_text *text)
{
    api_add(text, "%s: ", path);
    words_add_why(text, WORDS_SETTINGS, why.what, why.error);
}

static int is_empty(const cpubind_bytes *bytes)
{
    int32_t at = 0;
    while (at < bytes->len && (unsigned char)bytes->data[at] <= ' ')
        at++;
    return at == bytes->len;
}

int api_settings_load(const char *asked, api_settings *out, const char **path,
                      api_settings_say *say_one, void *ctx, api_text *why)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_linux_fault fault;
    int32_t n;
    *path = asked ? asked : API_CONF_PATH;
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
    n = api_settings_parse(bytes.data, bytes.len, out, say_one, ctx);
    cpubind_bytes_free(&bytes);
    if (n < 0)
        api_add(why, "there is no memory left");
    return n < 0 ? API_UNREADABLE : n > 0 ? API_USAGE : API_DONE;
}

/* == What counts in a command =============================================== */

#define INPUT_CONF "etc/cpubind.conf"

/* The first fault of a file. */
typedef struct first_fault {
    const char *path;
    api_text *why;
} first_fault;

static void keep_first(void *ctx, cpubind_position place, const char *text)
{
    const first_fault *fault = (const first_fault *)ctx;
    if (fault->why->len == 0)
        api_add(fault->why, "%s, line %d, column %d: %s", fault->path, (int)place.line,
                (int)place.column, text);
}

static int read_captured(const cpubind_source *source, api_settings *out, api_text *why)
{
    first_fault fault = {INPUT_CONF, why};
    const cpubind_input input = source->read(source->ctx, INPUT_CONF);
    int32_t n;
    if (input.state == CPUBIND_INPUT_ABSENT)
        return API_DONE;
    if (input.state == CPUBIND_INPUT_FAILED) {
        api_add(why, "%s could not be read: %s", INPUT_CONF, strerror(input.error));
        return API_UNREADABLE;
    }
    n = api_settings_parse(input.data, input.len, out, keep_first, &fault);
    return n < 0 ? api_no_room(why) : n > 0 ? API_USAGE : API_DONE;
}

int api_takes_settings(int commands)
{
    for (int32_t i = 0; api_keys[i].name; i++)
        if (api_keys[i].commands & commands)
            return 1;
    return 0;
}

int api_add_key(int commands, const char *part, int is_whole, api_text *why)
{
    const char *last = NULL;
    int n = 0;
    for (const api_key *key = api_keys; key->name; key++) {
        if (!(key->commands & commands) ||
            (is_whole ? strcmp(key->name, part) : strncmp(key->name, part, strlen(part))) != 0)
            continue;
        last = key->name;
        api_add(why, "%s -o %s=VALUE", n++ > 0 ? ", or" : "; it is a setting:", last);
    }
    if (n == 1)
        api_add(why, ", or %s = VALUE in %s for all commands", last, API_CONF_PATH);
    return n > 0;
}

/* The key of "key=value", or -1. */
static int32_t key_of(const char *word)
{
    return api_find_key(word, (int32_t)strcspn(word, "="));
}

int api_is_planned(const api_option *row, const char *value)
{
    const int32_t key = row->letter == 'o' ? key_of(value) : -1;
    return ((key >= 0 ? api_keys[key].commands : row->commands) & API_CASE) != 0;
}

int api_add_setting(api_options *o, char *word, api_text *why)
{
    static api_options scratch; /* large */
    const int32_t i = key_of(word);
    const int is_kept = i >= 0 && api_keys[i].repeats; /* its texts are read once */
    api_add(why, "-o %s: ", word);
    if (i < 0) {
        refuse_key(word, (int32_t)strcspn(word, "="), why);
        return 0;
    }
    if (!(api_keys[i].commands & (int)o->command)) {
        api_add(why, "this command does not read the key \"%s\"", api_keys[i].name);
        return 0;
    }
    o->said |= (uint64_t)1 << i;
    o->conf_value[i] = strchr(word, '=') + 1;
    if (!api_read_setting(is_kept ? o : &scratch, 0, api_keys[i].name, o->conf_value[i], why))
        return 0;
    o->given &= ~(is_kept ? (uint64_t)1 << i : 0);
    *why = (api_text){"", 0};
    return 1;
}

int api_says(const api_options *o, const char *key)
{
    return (int)(o->said >> api_find_key(key, (int32_t)strlen(key)) & 1);
}

/* Memory is moved by what binds a process that runs; none is said to all. */
static int is_of_memory(int32_t key, int commands, const char *value, const api_options *o)
{
    const int is_way = strcmp(api_keys[key].name, "memory") == 0;
    if (is_way && strcmp(value, "none") == 0)
        return commands != API_MEASURE;
    if (commands & (API_APPLY | API_BIND_CALL))
        return is_way || o->memory != CPUBIND_MEMORY_NONE;
    return is_way && commands == API_RUN && o->tree;
}

/* Whether a key that the file has says something for options that have not said it. */
static int is_open(int32_t key, int commands, const char *value, const api_options *o)
{
    const char *name = api_keys[key].name;
    if (o->given >> key & 1 || !(api_keys[key].commands & commands))
        return 0;
    if (strcmp(name, "others") == 0 || strcmp(name, "respect-masks") == 0)
        return o->all;
    if (strcmp(name, "cpu-nodes") == 0 || strncmp(name, "reserve", strlen("reserve")) == 0)
        return o->request.workers.is_asked;
    return strncmp(name, "memory", strlen("memory")) != 0 ||
           is_of_memory(key, commands, value, o);
}

/* Takes what is open of -o, and of a file that was read, with the text that it quotes. The
 * order is that of most programs: an option, a variable of the environment, the file. */
static int take_keys(api_options *file, int commands, api_options *o, api_text *why)
{
    const int32_t rules = api_find_key("rules", (int32_t)strlen("rules"));
    /* The file is of all hosts: it does not make NPUs of other accelerators. */
    const api_option *npu_option = o->npu_option;
    o->conf_text = file->conf_text;
    o->socket = file->socket;
    file->conf_text = NULL;
    for (int32_t i = 0; api_keys[i].name; i++) {
        const int is_said = o->said >> i & 1;
        char *value = o->conf_value[i] = is_said ? o->conf_value[i] : file->conf_value[i];
        if (!value || !is_open(i, commands, value, o))
            continue;
        if (api_keys[i].repeats && !is_said) {
            memcpy(o->wish, file->wish, sizeof o->wish);
            o->n_wish = file->n_wish;
            file->n_wish = 0;
        } else if (!api_keys[i].repeats &&
                   !api_read_setting(o, 0, api_keys[i].name, value, why)) {
            return API_USAGE;
        }
        o->counted |= (uint64_t)1 << i;
        if (is_said)
            npu_option = o->npu_option;
        o->npu_option = npu_option;
    }
    if ((o->counted & ~o->said) >> rules & 1)
        o->request.has_rules = 0;
    return API_DONE;
}

/* Whether counts would be passed over. */
static int is_engine_said_twice(const cpubind_engine_request *q)
{
    return q->engine == CPUBIND_ENGINE_AUTO && (q->tp > 0 || q->dp > 0 || q->n_api > 0);
}

int api_take_settings(const cpubind_source *source, int commands, api_options *options,
                      api_text *why)
{
    api_settings *settings = (api_settings *)calloc(1, sizeof *settings); /* large */
    first_fault fault = {API_CONF_PATH, why};
    const char *path;
    int status;
    if (!settings)
        return api_no_room(why);
    status = source ? read_captured(source, settings, why)
                    : api_settings_load(NULL, settings, &path, keep_first, &fault, why);
    if (status == API_DONE)
        status = take_keys(&settings->options, commands, options, why);
    api_free_options(&settings->options);
    free(settings);
    if (status == API_DONE && is_engine_said_twice(&options->request.engine))
        status = words_fail(API_USAGE, why,
                            "engine=auto finds tp, dp and api-servers in the command lines of "
                            "the workers: leave these settings out, or name the engine");
    return status;
}

void api_each_value(const api_options *o, const char *key, api_visit_value *visit, void *ctx)
{
    for (int32_t i = 0; !strcmp(key, "only") && i < o->n_only; i++)
        visit(ctx, key, o->only[i]);
    for (int32_t i = 0; !strcmp(key, "except") && i < o->n_except; i++)
        visit(ctx, key, o->except[i]);
    for (int32_t i = 0; !strcmp(key, "thread") && i < o->n_wish; i++) {
        api_text text = {"", 0};
        api_add(&text, "%s=", o->wish[i].name);
        api_add_wish(&o->wish[i], &text);
        visit(ctx, key, text.text);
    }
}

void api_each_setting(const api_options *o, cpubind_rules rules, api_visit_value *visit,
                      void *ctx)
{
    for (int32_t i = 0; api_keys[i].name; i++) {
        if (!(o->counted >> i & 1) ||
            (strcmp(api_keys[i].name, "rules") == 0 && o->request.rules != rules))
            continue;
        if (api_keys[i].repeats)
            api_each_value(o, api_keys[i].name, visit, ctx);
        else
            visit(ctx, api_keys[i].name, o->conf_value[i]);
    }
}
