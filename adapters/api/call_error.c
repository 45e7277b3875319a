/* call_error.c - errors as objects, and options as texts
 * SPDX-License-Identifier: MIT
 *
 * The sentences are those of the command, but for how they write options: a call has no "-o"
 * and no dashes.
 */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "settings.h"

static char no_memory_text[] = "there is no memory left";
char call_no_memory_json[] = "{\"cpubind\": \"" CPUBIND_VERSION "\", \"error\": {\"code\": "
                             "\"no_memory\", \"text\": \"there is no memory left\"}}";
static cpb_error no_memory = {
    .text = no_memory_text,
    .json = call_no_memory_json,
    .code = "no_memory",
    .problem = {.device = -1, .other = -1, .cpu = -1},
    .status = API_UNREADABLE,
};

void *call_no_memory(cpb_error **error)
{
    if (error)
        *error = &no_memory;
    return NULL;
}

/* Whether an option of the command, without its dashes, is one of a call. */
static int is_of_call(const char *name, size_t n)
{
    for (const api_option *row = api_option_rows; row->dashed; row++)
        if (row->commands & (API_PLAN_CALL | API_BIND_CALL | API_CASE) &&
            strncmp(row->dashed + 2, name, n) == 0 && row->dashed[2 + n] == '\0')
            return 1;
    return 0;
}

/* Whether a word is a value: "LIST", "16-31", "npuN". */
static int is_value(const char *word)
{
    const size_t n = strcspn(word, " ,;:)");
    return strcspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") < n;
}

/* The bytes of an option of the command, and what it is in a call; 0: none is there. */
static size_t read_told(const char *at, api_text *to)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
    if (strncmp(at, "cpubind ", 8) == 0) { /* a command stays as it is */
        const size_t n = strcspn(at, ",;:)");
        api_add(to, "%.*s", (int)n, at);
        return n;
    }
    if (strncmp(at, "-o ", 3) == 0)
        return api_find_key(at + 3, (int32_t)strcspn(at + 3, "=")) >= 0 ? 3 : 0;
    if (strncmp(at, "--", 2) == 0) {
        const size_t n = strspn(at + 2, letters);
        const int is_given = at[2 + n] == ' ' && is_value(at + 2 + n + 1);
        if (!is_of_call(at + 2, n))
            return 0;
        api_add(to, "%.*s%s", (int)n, at + 2, is_given ? "=" : "");
        return 2 + n + (size_t)is_given;
    }
    return 0;
}

void call_tell(const char *text, api_text *to)
{
    for (const char *at = text; *at;) {
        const size_t gap = strcspn(at, "-c");
        size_t n = 0;
        api_add(to, "%.*s", (int)gap, at);
        at += gap;
        if (at == text || at[-1] == ' ' || at[-1] == '(')
            n = read_told(at, to);
        if (n == 0 && *at)
            api_add(to, "%c", *at);
        at += n > 0 ? n : *at != '\0';
    }
}

/* The same of the text of an object, if it has one. */
static void tell(words_value *of)
{
    const char *text = words_string(words_get(of, "text"));
    api_text told = {"", 0};
    if (!text)
        return;
    call_tell(text, &told);
    words_set(of, "text", words_text(told.text));
}

void call_tell_report(words_value *report)
{
    const words_value *warnings = words_get(report, "warnings");
    const words_value *devices = words_get(report, "devices");
    for (int32_t i = 0; i < words_count(warnings); i++)
        tell(words_at(warnings, i));
    for (int32_t i = 0; i < words_count(devices); i++)
        tell(words_get(words_at(devices, i), "error"));
}

/* Takes over the value and copies the text. */
static void *finish(cpb_error **error, cpb_error *made, words_value *value, const char *text)
{
    api_out json = {0};
    words_put(&json, value, WORDS_LINE);
    words_free(value);
    made->text = strdup(text);
    made->json = json.text;
    *error = made;
    if (made->text && !json.is_short)
        return NULL;
    cpb_error_free(made);
    return call_no_memory(error);
}

static cpb_error *new_error(const char *code, int status)
{
    cpb_error *made = (cpb_error *)calloc(1, sizeof *made);
    if (!made)
        return NULL;
    cpubind_problem_clear(&made->problem);
    made->code = code;
    made->status = status;
    return made;
}

void *call_fail(cpb_error **error, const char *code, int status, int32_t number,
                const char *text)
{
    cpb_error *made = error ? new_error(code, status) : NULL;
    api_text told = {"", 0};
    if (!made)
        return call_no_memory(error);
    made->number = number;
    call_tell(text, &told);
    return finish(error, made, api_error_json(code, told.text), told.text);
}

void *call_refuse(cpb_error **error, const api_planned *planned, const api_options *options)
{
    const cpubind_problem *p = &planned->problem;
    api_text text = {"", 0}, told = {"", 0};
    cpb_error *made = error ? new_error(cpubind_problem_word(p->code),
                                        (int)cpubind_problem_exit(planned->code))
                            : NULL;
    if (!made || planned->code == CPUBIND_PROBLEM_NO_MEMORY) {
        free(made);
        return call_no_memory(error);
    }
    made->problem = *p;
    made->place = api_place(p);
    made->number = p->answer.state == CPUBIND_INPUT_FAILED ? p->answer.error : 0;
    api_explain(planned, options, &text);
    call_tell(text.text, &told);
    return finish(error, made, api_problem_json(planned, told.text), told.text);
}

const char *cpb_error_code(const cpb_error *error)
{
    return error ? error->code : "";
}

const char *cpb_error_text(const cpb_error *error)
{
    return error ? error->text : "";
}

const char *cpb_error_json(const cpb_error *error)
{
    return error ? error->json : "";
}

int32_t cpb_error_number(const cpb_error *error, const char *name)
{
    const cpubind_problem *p = error ? &error->problem : NULL;
    if (!error || !name)
        return -1;
    const int has_counts = p->need > 0, has_place = error->place.line > 0;
    const struct {
        const char *name;
        int32_t number;
    } rows[] = {{"device", p->device},
                {"other_device", p->other},
                {"npu", p->device},
                {"other_npu", p->other},
                {"cpu", p->cpu},
                {"need", has_counts ? p->need : -1},
                {"have", has_counts ? p->have : -1},
                {"uncut", p->uncut > 0 ? p->uncut : -1},
                {"line", has_place ? error->place.line : -1},
                {"column", has_place ? error->place.column : -1},
                {"errno", error->number > 0 ? error->number : -1},
                {"exit", error->status}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].number;
    return -1;
}

void cpb_error_free(cpb_error *error)
{
    if (!error || error == &no_memory)
        return;
    free(error->text);
    free(error->json);
    free(error);
}

void cpb_text_free(char *text)
{
    free(text);
}

int32_t cpb_abi(void)
{
    return CPB_ABI;
}

const char *cpb_version(void)
{
    return CPUBIND_VERSION;
}

/* == Options ================================================================ */

/* Reads one option, "key=value", which may be written. */
static int read_one(api_options *options, int commands, char *text, api_text *why)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        api_add(why, "\"%s\" is no option: one is written key=value", text);
        return 0;
    }
    *equals = '\0';
    return api_read_setting(options, commands, text, equals + 1, why);
}

int call_read_options(const char *const *texts, enum api_command command, int commands,
                      call_options *out, cpb_error **error)
{
    size_t size = 1;
    char *at;
    api_text why = {"", 0};
    int good = 1;
    api_set_usual(&out->options, command);
    out->options.is_call = 1;
    for (int i = 0; texts && texts[i]; i++)
        size += strlen(texts[i]) + 1;
    out->text = at = (char *)malloc(size);
    if (!at) {
        (void)call_no_memory(error);
        return 0;
    }
    for (int i = 0; good && texts && texts[i]; i++) {
        const size_t n = strlen(texts[i]) + 1;
        memcpy(at, texts[i], n);
        good = read_one(&out->options, commands, at, &why);
        at += n;
    }
    good = good && api_check_index(&out->options, NULL, &why);
    if (!good)
        (void)call_fail(error, "usage", API_USAGE, 0, why.text);
    return good;
}

void call_free_options(call_options *options)
{
    api_free_options(&options->options);
    free(options->text);
    memset(options, 0, sizeof *options);
}

/* == A pool of accelerators and CPU workers ================================= */

/* A ratio of 0 is 8: as many times faster is an accelerator, where nobody has measured it. The
 * rule is that of NVIDIA Dynamo's router, mode device-aware-weighted: a request ends on a CPU
 * worker about as soon as on an accelerator. */
int32_t cpb_cpu_budget(int32_t device_load, int32_t n_device, int32_t n_cpu_worker,
                       int32_t ratio)
{
    const int64_t times = ratio == 0 ? 8 : ratio < 1 ? 1 : ratio;
    const int64_t load = device_load < 0 ? 0 : device_load;
    if (n_cpu_worker <= 0)
        return 0;
    if (n_device <= 0 || load * n_cpu_worker / (times * n_device) > INT32_MAX)
        return INT32_MAX;
    return (int32_t)(load * n_cpu_worker / (times * n_device));
}

const char *cpb_next_pool(int32_t device_load, int32_t cpu_load, int32_t n_device,
                          int32_t n_cpu_worker, int32_t ratio)
{
    const int32_t budget = cpb_cpu_budget(device_load, n_device, n_cpu_worker, ratio);
    if (n_device <= 0)
        return n_cpu_worker <= 0 ? "nobody" : "cpu";
    return (cpu_load < 0 ? 0 : cpu_load) < budget ? "cpu" : "device";
}
