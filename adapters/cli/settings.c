/* settings.c - read the settings of the service: which keys there are, and where a fault is
 * SPDX-License-Identifier: MIT
 *
 * Prints nothing. The grammar is in adapters/service/conf.c; the values are those of the
 * options in options.c.
 */
#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../service/conf.h"
#include "../service/conf_file.h"

const cli_key cli_keys[] = {
    {"rules", "near", 0, "near: devices take whole cores in turns; reference: as vllm-ascend"},
    {"keep", "", 0, "CPUs for the host: N of each node, or a list such as 0-3"},
    {"allowed", "", 0, "CPUs for all workers, in place of those that each one may have"},
    {"exclude", "", 0, "CPUs that are left out of every pool"},
    {"reach", "socket", 0, "how far from its device a pool may be: socket, home or host"},
    {"overlap", "resolve", 0, "resolve, keep or refuse CPUs that two NPUs would share"},
    {"strategy", "auto", 0, "auto, global_slice, topo_affinity or cluster"},
    {"device-type", "auto", 0, "a type, or a chip, such as 910B; auto: from the host"},
    {"facts", "auto", 0, "which inputs name the NPUs"},
    {"memory", "migrate", 0, "migrate (own pages), all, or none"},
    {"memory-limit", "", 0, "bytes that are moved at most for a process, such as 200G"},
    {"memory-time", "5", 0, "seconds that the move of the memory of a process may take"},
    {"irqbalance", "leave", 0, "leave it alone, or ban these interrupts"},
    {"thread", "", 1, "NAME=WHERE: where threads of this name are bound"},
    {"threads", "product", 0, "which threads are placed: product, reference"},
    {"respect-masks", "no", 0, "yes: leave processes alone that have masks of their own"},
    {"others", "leave", 0, "keep: the engine's other processes go to the CPUs of keep"},
    {"strict", "no", 0, "yes: undo a binding if any part of it cannot be bound"},
    {"any-arch", "no", 0, "yes: bind by rules = reference on a machine that is not ARM"},
    {"watch", "1", 0, "seconds between two looks where the kernel sends no events"},
    {"only", "", 1, "the names of the processes that are bound, such as VLLM*"},
    {"except", "", 1, "the names of processes that are left alone"},
    {"restore-at-end", "no", 0, "yes: undo all bindings when the service ends"},
    {"textfile", "", 0, "the file for the Prometheus node exporter, ending in .prom"},
    {"socket", CLI_SOCKET_PATH, 0, "where other commands ask the service; none: nowhere"},
    {NULL, NULL, 0, NULL},
};

/* A file that is being read. */
typedef struct reading_file {
    const char *text;
    int32_t len;
    cli_settings *out;
    cli_settings_say *say;
    void *ctx;
    int32_t n_fault;
} reading_file;

static void say_fault(reading_file *f, int32_t offset, const api_text *why)
{
    f->n_fault++;
    if (f->say)
        f->say(f->ctx, cpubind_text_place(f->text, f->len, offset), why->text);
}

static int32_t row_of_key(const char *key, int32_t len)
{
    for (int32_t i = 0; cli_keys[i].name; i++)
        if (strlen(cli_keys[i].name) == (size_t)len &&
            !strncmp(cli_keys[i].name, key, (size_t)len))
            return i;
    return -1;
}

static void refuse_key(reading_file *f, cpubind_piece key)
{
    char word[API_MAX_QUOTE] = "";
    api_hint hint = {.word = word};
    api_text why = {"", 0};
    memcpy(word, f->text + key.at,
           (size_t)key.len < sizeof word ? (size_t)key.len : sizeof word - 1);
    api_add(&why, "there is no key \"%s\"", word);
    for (int32_t i = 0; cli_keys[i].name; i++)
        api_hint_try(&hint, cli_keys[i].name);
    api_hint_add(&hint, &why);
    say_fault(f, key.at, &why);
}

static void take_row(reading_file *f, const cpubind_conf_row *row)
{
    const int32_t i = row_of_key(f->text + row->key.at, row->key.len);
    char *value = f->out->text + row->value.at;
    api_text why = {"", 0}, plain = {"", 0};
    if (i < 0) {
        refuse_key(f, row->key);
        return;
    }
    if (f->out->value[i] && !cli_keys[i].repeats) {
        api_add(&why, "the key \"%s\" is there twice, first in line %d", cli_keys[i].name,
                (int)f->out->place[i].line);
        say_fault(f, row->key.at, &why);
        return;
    }
    value[row->value.len] = '\0';
    f->out->value[i] = value;
    f->out->place[i] = cpubind_text_place(f->text, f->len, row->key.at);
    if (api_read_setting(&f->out->options, 0, cli_keys[i].name, value, &why))
        return;
    /* The options begin with dashes, the keys do not. */
    api_add(&plain, "%s", why.text + (strncmp(why.text, "--", 2) == 0 ? 2 : 0));
    say_fault(f, row->value.at, &plain);
}

/* Checks the keys against each other. */
static void check_together(reading_file *f)
{
    const cpubind_request *q = &f->out->options.request;
    const int32_t others = row_of_key("others", (int32_t)strlen("others"));
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
        const int32_t row = row_of_key(rules[i].key, (int32_t)strlen(rules[i].key));
        if (!f->out->value[row] || f->out->options.memory != rules[i].memory)
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

int32_t cli_settings_parse(const char *text, int32_t len, cli_settings *out,
                           cli_settings_say *say, void *ctx)
{
    reading_file f = {text, len, out, say, ctx, 0};
    cpubind_conf_row row = {{0, 0}, {0, 0}};
    cpubind_text_fault fault = {0, ""};
    cpubind_conf_step step;
    int32_t at = 0;
    memset(out, 0, sizeof *out);
    api_set_usual(&out->options, API_APPLY);
    out->options.watch_ms = 1000;
    out->options.socket = CLI_SOCKET_PATH;
    out->text = (char *)malloc((size_t)len + 1);
    if (!out->text)
        return -1;
    if (len > 0)
        memcpy(out->text, text, (size_t)len);
    out->text[len] = '\0';
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

void cli_settings_free(cli_settings *settings)
{
    api_options *o = &settings->options;
    api_free_options(o);
    free(settings->text);
    memset(settings, 0, sizeof *settings);
}

api_options cli_settings_of_any_device(const api_options *options)
{
    api_options any = *options;
    any.request.type = CPUBIND_TYPE_AUTO;
    any.request.origin = CPUBIND_ORIGIN_AUTO;
    any.request.is_auto_strategy = 1;
    any.npu_option = NULL;
    return any;
}

/* Whether a name is of a pattern; * and ? stand for characters. */
static int is_like(const char *pattern, const char *name)
{
    const char *star = NULL, *again = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            again = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++again;
        } else {
            return 0;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

int cli_settings_wants(const api_options *options, const char *program, const char *name)
{
    int is_wanted = options->n_only == 0;
    for (int32_t i = 0; i < options->n_only; i++)
        is_wanted |= is_like(options->only[i], program) || is_like(options->only[i], name);
    for (int32_t i = 0; i < options->n_except; i++)
        is_wanted &=
            !is_like(options->except[i], program) && !is_like(options->except[i], name);
    return is_wanted;
}
