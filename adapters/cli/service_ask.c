/* service_ask.c - ask the service, and show its state
 * SPDX-License-Identifier: MIT
 *
 * The socket is that of the settings.
 */
#include "service_ask.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../api/settings.h"
#include "../service/rights.h"
#include "output.h"

/* == Asking ================================================================= */

static void show_work(void *ctx)
{
    cli_progress((const api_options *)ctx, "cpubind: the service is at work ...");
}

/* Says why a service that seems to be there was not asked. */
static void explain(cpubind_linux_fault why, int32_t pid, const char *path, api_text *text)
{
    api_add(text, "the service");
    if (pid > 0)
        api_add(text, " (process %d)", (int)pid);
    api_add(text, " ");
    words_add_why(text, WORDS_SERVICE, why.what, why.error);
    api_add(text, " (%s)", path);
}

const char *cli_explain_silence(cpubind_linux_fault why, const cpubind_asking *asking)
{
    static api_text text;
    text = (api_text){"", 0};
    if (why.error == ENOENT || why.error == EACCES)
        api_add(&text, "no service can be asked at %s: %s", asking->path, strerror(why.error));
    else
        explain(why, asking->pid, asking->path, &text);
    return text.text;
}

/* Takes the answer over: what was refused has an error. */
static void take_answer(cpubind_bytes *bytes, cli_service_reply *out)
{
    words_value *json = words_read(bytes->data, (size_t)bytes->len, NULL);
    const words_value *error = words_get(json, "error");
    const char *text = words_string(words_get(error, "text"));
    out->state = CLI_SERVICE_DONE;
    out->answer = json;
    if (!text)
        return;
    out->state = CLI_SERVICE_REFUSED;
    out->status = (int)words_integer_of(error, "status");
    (void)snprintf(out->why, sizeof out->why, "%s", text);
}

/* Asks, unless the request could not even be made. */
static void ask_at(const api_options *options, cpubind_asking *asking, cpubind_linux_fault why,
                   cli_service_reply *out)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    if (!why.error)
        why = cpubind_service_ask(&cpubind_sys_real, asking, &bytes);
    out->pid = asking->pid;
    cli_progress(options, NULL);
    if (!why.error && bytes.len == 0) {
        out->state = CLI_SERVICE_DONE;
    } else if (!why.error) {
        take_answer(&bytes, out);
    } else if (why.error != ENOENT && why.error != EACCES) {
        /* EACCES: the socket of an older service is for root alone */
        api_text text = {"", 0};
        explain(why, asking->pid, asking->path, &text);
        api_add(&text, "; this command works by itself");
        out->state = CLI_SERVICE_SILENT;
        (void)snprintf(out->why, sizeof out->why, "%.*s", (int)sizeof out->why - 1, text.text);
        fprintf(stderr, "cpubind: warning: %s\n", out->why);
    }
    cpubind_bytes_free(&bytes);
}

static void ask(const api_options *options, cpubind_asking *asking, cli_service_reply *out)
{
    static api_settings settings;
    const char *path;
    api_text why = {"", 0};
    cpubind_linux_fault fault = {.what = ""};
    *out = (cli_service_reply){.state = CLI_SERVICE_NONE};
    if (asking->asked.pid)
        fault =
            cpubind_rights_start(&cpubind_sys_real, asking->asked.pid, &asking->asked.start);
    else if (options->root || options->fixture)
        return;
    if (asking->asked.ask == CPUBIND_ASK_LEND) {
        asking->asked.owner = (int32_t)getpid();
        fault = cpubind_rights_start(&cpubind_sys_real, asking->asked.owner,
                                     &asking->asked.owner_start);
    }
    if (fault.error == ESRCH) /* the command says so */
        return;
    if (options->conf_text && !options->root && !options->fixture)
        settings.options.socket = options->socket; /* the command has read the file */
    else if (api_settings_load(NULL, &settings, &path, NULL, NULL, &why) != API_DONE)
        settings.options.socket = API_SOCKET_PATH;
    asking->path = settings.options.socket;
    if (asking->path)
        ask_at(options, asking, fault, out);
    api_free_options(&settings.options);
}

void cli_ask_service(const api_options *options, cpubind_ask what, int32_t pid,
                     cli_service_reply *out)
{
    cpubind_asking asking = {
        .asked = {.ask = what, .pid = pid}, .at_work = show_work, .ctx = (void *)options};
    ask(options, &asking, out);
}

void cli_tell_service(const api_options *options, cpubind_ask what, int32_t pid,
                      cli_service_reply *out)
{
    cpubind_asking asking = {.asked = {.ask = what, .pid = pid}, .is_enough = 1};
    ask(options, &asking, out);
}

void cli_free_service(cli_service_reply *service)
{
    words_free(service->answer);
    service->answer = NULL;
}

int cli_let_service_go(const api_options *options, cpubind_ask ask, api_bound *bound,
                       int *is_put_back)
{
    cli_service_reply service;
    int status = API_DONE;
    cli_ask_service(options, ask, bound->pid, &service);
    bound->service = service.pid;
    *is_put_back = words_is_true(words_get(service.answer, "put_back"));
    if (service.state == CLI_SERVICE_DONE &&
        words_is(words_get(service.answer, "is_kept"), WORDS_BOOL) &&
        !words_is_true(words_get(service.answer, "is_kept")))
        fputs("cpubind: warning: the service could not write down that it lets go: it binds "
              "again when it starts again\n",
              stderr);
    if (service.state == CLI_SERVICE_SILENT)
        bound->service_said =
            "the service was not asked: it is stopped, hangs, has ended or is "
            "of an older version; this command worked by itself";
    if (service.state == CLI_SERVICE_REFUSED)
        status = cli_fail(options, service.status, service.why);
    cli_free_service(&service);
    return status;
}

/* == Its state ============================================================== */

words_value *cli_service_json(const api_options *options, words_value *warnings)
{
    cli_service_reply service;
    words_value *state;
    cli_ask_service(options, CPUBIND_ASK_STATUS, 0, &service);
    state = words_get(service.answer, "service");
    state = words_is(state, WORDS_OBJECT) ? words_share(state) : words_null();
    if (service.state == CLI_SERVICE_SILENT && warnings)
        words_add(warnings, words_make("code:s text:s", "service", service.why));
    cli_free_service(&service);
    return state;
}

/* Appends which processes were let go. */
static void add_left(const words_value *service, api_text *text)
{
    const words_value *left = words_get(service, "left");
    if (words_is_true(words_get(service, "all_left")))
        api_add(text, "; " CLI_ALL_LEFT);
    else if (words_count(left) > 0)
        api_add(text, "; let go:");
    for (int32_t i = 0; i < words_count(left); i++)
        api_add(text, "%s %d", i > 0 ? "," : "", (int)words_integer(words_at(left, i)));
}

void cli_note_service(words_value *notes, const api_options *options)
{
    words_value *service = cli_service_json(options, NULL);
    const long long look = words_integer_of(service, "last_look");
    const char *problem = words_string(words_get(service, "problem"));
    api_text text = {"", 0};
    api_add(&text, "the service (process %d) looked %lld s ago; %lld moved, %lld faults%s%s",
            (int)words_integer_of(service, "pid"), (long long)time(NULL) - look,
            (long long)words_integer_of(service, "moves"),
            (long long)words_integer_of(service, "errors"), problem ? "; " : "",
            problem ? problem : "");
    add_left(service, &text);
    if (words_is(service, WORDS_OBJECT))
        words_add(notes, words_text(text.text));
    words_free(service);
}
