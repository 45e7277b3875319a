/* call_bind.c - bindings of cpubind_api.h
 * SPDX-License-Identifier: MIT
 *
 * Changes processes only through adapters/linux/bind, as the command does.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "device_plan.h"

struct cpb_binding {
    call_options options;
    call_source *source; /* of another host, whose inputs the facts quote; or NULL */
    api_bound bound;
    api_out json;
};

/* Sets *error to why a call of adapters/linux/bind has failed, in the sentence of the command;
 * its code is more precise than the word of the exit status. */
static void explain(const cpb_binding *b, cpubind_linux_status status,
                    const cpubind_linux_fault *fault, cpb_error **error)
{
    static const struct {
        cpubind_linux_status status;
        const char *code;
    } codes[] = {
        {CPUBIND_LINUX_ERR_GONE, "gone"},     {CPUBIND_LINUX_ERR_BUSY, "busy"},
        {CPUBIND_LINUX_ERR_EXISTS, "bound"},  {CPUBIND_LINUX_ERR_NOT_FORCED, "not_forced"},
        {CPUBIND_LINUX_ERR_STATE, "state"},   {CPUBIND_LINUX_ERR_DAMAGED, "damaged"},
        {CPUBIND_LINUX_ERR_UNDONE, "undone"}, {CPUBIND_LINUX_ERR_MEMORY, "no_memory"},
        {CPUBIND_LINUX_ERR_BIRTHS, "births"}};
    api_text why = {"", 0};
    const int exit_status =
        api_explain_bind(&b->options.options, &b->bound, status, fault, &why);
    const char *code = api_status_word(exit_status);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].status == status)
            code = codes[i].code;
    (void)call_fail(error, code, exit_status, fault->error, why.text);
}

/* Opens the process. Returns 0, with *error, when that fails. */
static int open_process(cpb_binding *b, int32_t pid, int is_reading, cpb_error **error)
{
    const cpubind_bind_options how =
        api_bind_options(&b->options.options, pid ? pid : (int32_t)getpid(), is_reading);
    cpubind_linux_fault fault = {.what = ""};
    const cpubind_linux_status status = api_open_bound(&how, &b->bound, &fault);
    if (status == CPUBIND_LINUX_OK)
        return 1;
    explain(b, status, &fault, error);
    return 0;
}

/* Whether the binding is open: a restore that failed may have closed it. */
static int is_open(const cpb_binding *b, cpb_error **error)
{
    if (b && b->bound.binding)
        return 1;
    (void)call_fail(error, "usage", API_USAGE, 0, "this binding is not open");
    return 0;
}

/* Makes the JSON of the report. Returns 0 without memory. */
static int note_report(cpb_binding *b, cpb_error **error)
{
    words_value *report = api_report_json(&b->bound, cpubind_bind_report(b->bound.binding));
    call_tell_report(report);
    b->json.len = 0;
    words_put(&b->json, report, WORDS_LINE);
    words_free(report);
    if (!b->json.is_short)
        return 1;
    b->json.is_short = 0;
    (void)call_no_memory(error);
    return 0;
}

static int32_t count(const cpb_binding *b, cpubind_item_result result)
{
    const cpubind_outcomes *report = cpubind_bind_report(b->bound.binding);
    int32_t n = 0;
    for (int32_t i = 0; i < report->n; i++)
        n += report->item[i].result == result;
    return n;
}

static cpb_binding *new_binding(const char *const *options, enum api_command command,
                                cpb_error **error)
{
    cpb_binding *b = (cpb_binding *)calloc(1, sizeof *b);
    if (!b)
        return (cpb_binding *)call_no_memory(error);
    if (call_read_options(options, command, API_BIND_CALL, &b->options, error))
        return b;
    cpb_binding_close(b);
    return NULL;
}

/* Says which options contradict each other; NULL when none do. */
static const char *conflict(const api_options *o, int is_self)
{
    if (api_device_conflict(o))
        return api_device_conflict(o);
    if (api_asks_for_devices(o) && !o->request.has_rank && o->topo.n_named != 1)
        return "say which device: device=NAME, or rank=N among those that the process sees";
    if (!api_asks_for_devices(o) && !api_names_device(o) && !o->request.has_rank)
        return "say which device: device=NAME, such as npu3 or gpu0, or rank=N among the "
               "visible ones";
    if (api_names_device(o) && (o->request.has_rank || o->request.visible))
        return "device and npu name the device; rank and visible find it: give one";
    if (o->request.n_process > 1 && !o->has_index)
        return "say which of the processes this one is: index=I, from 0 on";
    return o->memory == CPUBIND_MEMORY_PREFER && !is_self
               ? "memory=prefer is for the calling process: a process sets its own memory "
                 "policy only"
               : NULL;
}

/* Plans for the process. Returns the status; the reason is in *why, or where that is empty in
 * the plan. An environment that was put is that of a launcher, else that of the process counts,
 * whichever host the files are of. */
static int plan_process(cpb_binding *b, api_text *why)
{
    api_options *o = &b->options.options;
    const int has_env = b->source && b->source->env;
    api_process_view view = {.process = &b->bound.live.source};
    cpubind_source source;
    int status = api_prepare_bound(o, &b->bound, b->source && !has_env, why);
    int32_t unit;
    if (status != API_DONE)
        return status;
    view.host = b->source ? &b->source->host.source : &b->bound.live.source;
    source = has_env ? *view.host : api_process_source(&view);
    if (b->source)
        cpubind_mutex_lock(b->source->mutex);
    status = api_plan_bound(o, &b->bound, &source, why);
    unit = status == API_DONE ? api_unit_of(&b->bound.planned, o) : -1;
    if (unit >= 0) {
        status = api_aim_bound(o, &b->bound, unit, why);
    } else if (status == API_DONE) {
        api_add(why, "the process sees %d devices: say which one it drives with device=NAME",
                (int)b->bound.planned.plan.n_unit);
        status = API_REFUSED;
    }
    if (b->source)
        cpubind_mutex_unlock(b->source->mutex);
    return status;
}

/* Takes the settings of the host, else of this one, and finds the device that is named. Returns
 * the status, with the reason in *why. */
static int find_devices(cpb_binding *b, api_text *why)
{
    api_options *o = &b->options.options;
    int status;
    if (!b->source) {
        status = call_take_settings(NULL, API_BIND_CALL, &b->options, why);
        return status == API_DONE ? api_find_devices(NULL, o, why) : status;
    }
    cpubind_mutex_lock(b->source->mutex);
    status = call_take_settings(b->source, API_BIND_CALL, &b->options, why);
    if (status == API_DONE)
        status = api_find_devices(&b->source->host.source, o, why);
    cpubind_mutex_unlock(b->source->mutex);
    return status;
}

/* Plans for the process and binds it. Returns 0, with *error, when that fails. */
static int bind_process(cpb_binding *b, cpb_host *host, cpb_error **error)
{
    api_options *o = &b->options.options;
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status result;
    api_text why = {"", 0};
    int status;
    if (host && (b->source = call_take_source(host, error)) == NULL)
        return 0;
    /* Of a live host the process itself says what it sees. */
    if (b->source && !b->source->name && !b->source->env) {
        call_drop_source(b->source);
        b->source = NULL;
    }
    if (b->source)
        o->root = b->source->name;
    status = find_devices(b, &why);
    if (status == API_DONE)
        status = plan_process(b, &why);
    if (status != API_DONE) {
        (void)(why.len > 0 ? call_fail(error, api_status_word(status), status, 0, why.text)
                           : call_refuse(error, &b->bound.planned, o));
        return 0;
    }
    api_find_other_rules(&b->bound);
    result = cpubind_bind_apply(b->bound.binding, &b->bound.goal, &fault);
    if (result != CPUBIND_LINUX_OK) {
        explain(b, result, &fault, error);
        return 0;
    }
    cpubind_bind_sweep(NULL);
    return 1;
}

cpb_binding *cpb_bind(cpb_host *host, int32_t pid, const char *const *options,
                      cpb_error **error)
{
    cpb_binding *b = new_binding(options, API_APPLY, error);
    const char *fault;
    if (!b)
        return NULL;
    fault = pid < 0 ? "the number of a process is not negative"
                    : conflict(&b->options.options, pid == 0 || pid == (int32_t)getpid());
    if (fault)
        (void)call_fail(error, "usage", API_USAGE, 0, fault);
    else if (open_process(b, pid, 0, error) && bind_process(b, host, error) &&
             note_report(b, error))
        return b;
    cpb_binding_close(b);
    return NULL;
}

cpb_binding *cpb_binding_open(int32_t pid, const char *const *options, cpb_error **error)
{
    cpb_binding *b = new_binding(options, API_VERIFY, error);
    if (b && open_process(b, pid, 1, error) && note_report(b, error))
        return b;
    cpb_binding_close(b);
    return NULL;
}

int32_t cpb_binding_verify(cpb_binding *b, cpb_error **error)
{
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status status;
    if (!is_open(b, error))
        return -1;
    status = cpubind_bind_verify(b->bound.binding, NULL, &fault);
    if (status != CPUBIND_LINUX_OK)
        explain(b, status, &fault, error);
    return status == CPUBIND_LINUX_OK && note_report(b, error) ? count(b, CPUBIND_ITEM_WRONG)
                                                               : -1;
}

int32_t cpb_binding_again(cpb_binding *b, cpb_error **error)
{
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status status;
    if (!is_open(b, error))
        return -1;
    if (b->bound.is_reading) {
        (void)call_fail(error, "usage", API_USAGE, 0,
                        "this binding was opened by its record: bind the process again");
        return -1;
    }
    status = cpubind_bind_again(b->bound.binding, &fault);
    if (status != CPUBIND_LINUX_OK)
        explain(b, status, &fault, error);
    return status == CPUBIND_LINUX_OK && note_report(b, error) ? count(b, CPUBIND_ITEM_MOVED)
                                                               : -1;
}

int32_t cpb_binding_restore(cpb_binding *b, cpb_error **error)
{
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status status;
    int32_t pid;
    if (!is_open(b, error))
        return -1;
    pid = b->bound.pid;
    if (b->bound.is_reading) { /* to write, the process is opened with its lock */
        api_close_bound(&b->bound);
        b->bound.is_restoring = 1;
        if (!open_process(b, pid, 0, error))
            return -1;
    }
    status = cpubind_bind_restore(b->bound.binding, &fault);
    if (status != CPUBIND_LINUX_OK)
        explain(b, status, &fault, error);
    return status == CPUBIND_LINUX_OK && note_report(b, error) ? count(b, CPUBIND_ITEM_MOVED)
                                                               : -1;
}

const char *cpb_binding_json(const cpb_binding *binding)
{
    return binding->json.text;
}

void cpb_binding_close(cpb_binding *binding)
{
    if (!binding)
        return;
    api_close_bound(&binding->bound);
    call_drop_source(binding->source);
    call_free_options(&binding->options);
    free(binding->json.text);
    free(binding);
}
