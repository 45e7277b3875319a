/* call_plan.c - hosts and plans of cpubind_api.h
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing about CPUs. A plan is complete when it is made, and never changes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../linux/source/host_files.h"
#include "../linux/source/host_source.h"
#include "../text/cpulist.h"
#include "../text/slurm_step.h"
#include "call.h"
#include "device_plan.h"
#include "nics.h"
#include "settings.h"

/* == Hosts ================================================================== */

static call_source *new_source(const api_host *host, const char *name, cpb_error **error)
{
    call_source *source = (call_source *)calloc(1, sizeof *source);
    if (source)
        source->mutex = cpubind_mutex_new();
    if (source && name)
        source->name = strdup(name);
    if (!source || !source->mutex || (name && !source->name)) {
        if (source)
            cpubind_mutex_free(source->mutex);
        free(source);
        return (call_source *)call_no_memory(error);
    }
    source->host = *host;
    source->n_user = 1;
    return source;
}

/* The caller holds the mutex of the source, or is its last user. */
static void drop_facts(call_facts *facts)
{
    if (!facts || --facts->n_user > 0)
        return;
    free(facts->arena.base);
    call_free_options(&facts->options);
    free(facts);
}

void call_drop_source(call_source *source)
{
    int32_t n;
    if (!source)
        return;
    cpubind_mutex_lock(source->mutex);
    n = --source->n_user;
    cpubind_mutex_unlock(source->mutex);
    if (n > 0)
        return;
    for (int32_t i = 0; i < CALL_N_FACTS; i++)
        drop_facts(source->facts[i]);
    api_close_host(&source->host);
    while (source->env) {
        call_env *next = source->env->next;
        free(source->env);
        source->env = next;
    }
    cpubind_mutex_free(source->mutex);
    free(source->name);
    free(source);
}

static cpb_host *new_host(cpb_error **error)
{
    cpb_host *host = (cpb_host *)calloc(1, sizeof *host);
    if (host)
        host->mutex = cpubind_mutex_new();
    if (host && host->mutex)
        return host;
    free(host);
    return (cpb_host *)call_no_memory(error);
}

/* The host of something that is open; closes it without memory. */
static cpb_host *host_of(api_host *open, const char *name, cpb_error **error)
{
    cpb_host *host = new_host(error);
    if (host)
        host->source = new_source(open, name, error);
    if (host && host->source)
        return host;
    api_close_host(open);
    cpb_host_close(host);
    return NULL;
}

cpb_host *cpb_host_live(int32_t pid, cpb_error **error)
{
    api_host open = {0};
    api_text why = {"", 0};
    int status;
    if (pid < 0)
        return (cpb_host *)call_fail(error, "usage", API_USAGE, 0,
                                     "the number of a process is not negative");
    status = api_open_live(pid, 0, &open, &why);
    if (status != API_DONE)
        return (cpb_host *)call_fail(error, api_status_word(status), status, 0, why.text);
    return host_of(&open, NULL, error);
}

/* Opens the text of a host, which belongs to the host from then on. */
static int open_text(const char *name, char *text, int32_t len, api_host *out,
                     cpb_error **error)
{
    cpubind_text_fault fault = {-1, ""};
    cpubind_bytes again = {0};
    api_text why = {"", 0};
    const cpubind_linux_status status =
        cpubind_linux_open_text(text, len, NULL, &out->host, &fault);
    if (status == CPUBIND_LINUX_OK) {
        out->source = cpubind_linux_source(out->host);
        return 1;
    }
    if (status == CPUBIND_LINUX_ERR_MEMORY) {
        (void)call_no_memory(error);
        return 0;
    }
    api_add(&why, "\"%s\"", name);
    if (fault.offset >= 0 && !cpubind_linux_read_file(name, NULL, &again).error) {
        /* Decoding has overwritten the text. */
        const cpubind_position place = cpubind_text_place(again.data, again.len, fault.offset);
        api_add(&why, ", line %d, column %d", (int)place.line, (int)place.column);
    }
    free(again.data);
    api_add(&why, ": %s", fault.what);
    (void)call_fail(error, "unreadable", API_UNREADABLE, 0, why.text);
    return 0;
}

cpb_host *cpb_host_folder(const char *path, cpb_error **error)
{
    api_host open = {0};
    cpubind_linux_fault fault = {.what = ""};
    cpubind_bytes bytes = {0};
    api_text why = {"", 0};
    if (!path)
        return (cpb_host *)call_fail(error, "usage", API_USAGE, 0, "name a folder");
    if (cpubind_linux_open_folder(path, NULL, &open.host, &fault) == CPUBIND_LINUX_OK) {
        open.source = cpubind_linux_source(open.host);
        return host_of(&open, path, error);
    }
    if (fault.error == ENOTDIR) {
        fault = cpubind_linux_read_file(path, NULL, &bytes);
        if (fault.error == 0)
            return open_text(path, bytes.data, bytes.len, &open, error)
                       ? host_of(&open, path, error)
                       : NULL;
        free(bytes.data);
    }
    api_add(&why, "\"%s\" cannot be opened: %s", path, strerror(fault.error));
    return (cpb_host *)call_fail(error, "unreadable", API_UNREADABLE, fault.error, why.text);
}

cpb_host *cpb_host_empty(cpb_error **error)
{
    cpb_host *host = new_host(error);
    if (host)
        host->is_of_bytes = 1;
    return host;
}

/* The place of the file of this name in the list, or where it would be. */
static call_file **place_of(cpb_host *host, const char *name)
{
    call_file **link = &host->file;
    while (*link && cpubind_host_file_order((*link)->name, name) < 0)
        link = &(*link)->next;
    return link;
}

/* Takes the file at a place out, if it has this name. */
static void take_out(call_file **link, const char *name)
{
    call_file *old = *link;
    if (!old || strcmp(old->name, name) != 0)
        return;
    *link = old->next;
    free(old);
}

/* Adds a file, or replaces it. Returns it; NULL without memory: then nothing has changed. */
static call_file *put_file(cpb_host *host, const char *name, const void *bytes, size_t len)
{
    const size_t name_size = strlen(name) + 1;
    call_file **link = place_of(host, name);
    call_file *file = (call_file *)malloc(sizeof *file + name_size + len);
    if (!file)
        return NULL;
    take_out(link, name);
    *file = (call_file){.next = *link, .len = (int32_t)len};
    memcpy(file->name, name, name_size);
    if (len > 0)
        memcpy(file->name + name_size, bytes, len);
    *link = file;
    return file;
}

/* Writes "cmd/NAME.exit" for "cmd/NAME.txt". */
static void add_exit_name(const char *name, api_text *to)
{
    const size_t n = strlen(name);
    const int is_text = n > 4 && strcmp(name + n - 4, ".txt") == 0;
    api_add(to, "%.*s.exit", (int)(is_text ? n - 4 : n), name);
}

/* Puts cmd/NAME.exit for an exit code that is not 0; else takes out one that was made so. */
static int put_exit(cpb_host *host, const char *name, int32_t exit_code)
{
    api_text number = {"", 0};
    call_file **link = place_of(host, name);
    call_file *file;
    if (exit_code == 0) {
        if (*link && (*link)->is_made)
            take_out(link, name);
        return 1;
    }
    api_add(&number, "%d\n", (int)exit_code);
    file = put_file(host, name, number.text, number.len);
    if (file)
        file->is_made = 1;
    return file != NULL;
}

static cpubind_input read_over(void *ctx, const char *name)
{
    const call_source *source = (const call_source *)ctx;
    if (strcmp(name, "env") != 0)
        return source->below.read(source->below.ctx, name);
    return (cpubind_input){
        .state = CPUBIND_INPUT_PRESENT, .data = source->env->text, .len = source->env->len};
}

static cpubind_input list_over(void *ctx, const char *name)
{
    const call_source *source = (const call_source *)ctx;
    return source->below.list(source->below.ctx, name);
}

/* Puts an environment over that of an open host. Returns 0 without memory. */
static int put_env(call_source *source, const void *bytes, size_t len)
{
    call_env *env = (call_env *)malloc(sizeof *env + len);
    if (!env)
        return 0;
    env->len = (int32_t)len;
    if (len > 0)
        memcpy(env->text, bytes, len);
    cpubind_mutex_lock(source->mutex);
    env->next = source->env;
    if (!source->env) {
        source->below = source->host.source;
        source->host.source = (cpubind_source){source, read_over, list_over};
    }
    source->env = env;
    for (int32_t i = 0; i < CALL_N_FACTS; i++) {
        drop_facts(source->facts[i]);
        source->facts[i] = NULL;
    }
    cpubind_mutex_unlock(source->mutex);
    return 1;
}

/* Puts a file into a host of bytes. Returns 0 without memory. */
static int put_bytes(cpb_host *host, const char *name, const void *bytes, size_t len,
                     int32_t exit_code)
{
    api_text exit_name = {"", 0};
    int is_put;
    add_exit_name(name, &exit_name);
    is_put =
        put_file(host, name, bytes, len) != NULL && put_exit(host, exit_name.text, exit_code);
    call_drop_source(host->source);
    host->source = NULL;
    return is_put;
}

int32_t cpb_host_put(cpb_host *host, const char *name, const void *bytes, size_t len,
                     int32_t exit_code, cpb_error **error)
{
    int is_put;
    if (!host || !cpubind_input_is_name(name) || (!bytes && len > 0) ||
        len > CPUBIND_TEXT_MAX || exit_code < 0 || exit_code > 255 ||
        (!host->is_of_bytes && (strcmp(name, "env") != 0 || exit_code != 0))) {
        (void)call_fail(error, "usage", API_USAGE, 0,
                        "a host of cpb_host_empty takes a file by its path without the first "
                        "slash, its bytes, and an exit code from 0 to 255; another host takes "
                        "env alone");
        return -1;
    }
    cpubind_mutex_lock(host->mutex);
    is_put = host->is_of_bytes ? put_bytes(host, name, bytes, len, exit_code)
                               : put_env(host->source, bytes, len);
    cpubind_mutex_unlock(host->mutex);
    if (!is_put)
        (void)call_no_memory(error);
    return is_put ? 0 : -1;
}

/* Writes the files that were put as the text of a host, which the caller frees. Returns NULL
 * without memory, or when it would be longer than CPUBIND_TEXT_MAX. */
static char *write_put(const cpb_host *host, int32_t *len)
{
    int32_t n = 0;
    for (const call_file *file = host->file; file; file = file->next)
        n++;
    cpubind_host_part *part = (cpubind_host_part *)malloc(((size_t)n + 1) * sizeof *part);
    char *text = NULL;
    if (!part)
        return NULL;
    n = 0;
    for (const call_file *file = host->file; file; file = file->next)
        part[n++] =
            (cpubind_host_part){file->name, file->name + strlen(file->name) + 1, file->len};
    const int64_t size = cpubind_host_file_write(part, n, NULL);
    if (size <= CPUBIND_TEXT_MAX)
        text = (char *)malloc((size_t)size);
    if (text)
        *len = (int32_t)cpubind_host_file_write(part, n, text);
    free(part);
    return text;
}

/* Opens the files that were put. */
static call_source *open_put(const cpb_host *host, cpb_error **error)
{
    static const char name[] = "the host in memory";
    api_host open = {0};
    call_source *source;
    int32_t len = 0;
    char *text = write_put(host, &len);
    if (!text)
        return (call_source *)call_no_memory(error);
    if (!open_text(name, text, len, &open, error))
        return NULL;
    source = new_source(&open, name, error);
    if (!source)
        api_close_host(&open);
    return source;
}

call_source *call_take_source(cpb_host *host, cpb_error **error)
{
    call_source *source;
    cpubind_mutex_lock(host->mutex);
    if (!host->source && host->is_of_bytes)
        host->source = open_put(host, error);
    source = host->source;
    if (source) {
        cpubind_mutex_lock(source->mutex);
        source->n_user++;
        cpubind_mutex_unlock(source->mutex);
    }
    cpubind_mutex_unlock(host->mutex);
    return source;
}

void cpb_host_close(cpb_host *host)
{
    if (!host)
        return;
    call_drop_source(host->source);
    cpubind_mutex_free(host->mutex);
    while (host->file) {
        call_file *next = host->file->next;
        free(host->file);
        host->file = next;
    }
    free(host);
}

/* == Slurm ================================================================== */

int32_t cpb_slurm_rank(const char *env, int32_t local, const char *own, int32_t *n_process,
                       int32_t *process, cpb_error **error)
{
    cpubind_text_fault fault = {0, "there is no environment"};
    cpubind_slurm_task task;
    api_text why = {"", 0};
    const size_t len = env ? strlen(env) : 0;
    if (env && n_process && process && len <= CPUBIND_TEXT_MAX &&
        cpubind_slurm_find_task(env, (int32_t)len, local, own, &task, &fault) ==
            CPUBIND_TEXT_OK) {
        *n_process = task.n_process;
        *process = task.process;
        return task.place;
    }
    api_add(&why, "the device of task %d of this node is not known: %s", (int)local,
            fault.what);
    (void)call_fail(error, "refused", API_REFUSED, 0, why.text);
    return -1;
}

/* == Plans ================================================================== */

/* The tables: of the roles, of pools, of the CPUs near each device, and of its home. */
enum { POOL = CPUBIND_ALL_ROLES, NEAR, HOME, N_TABLE };

/* What is made at the first call that shows it, under the mutex of the source. */
struct shown {
    api_out json;
    api_network *network;
};

struct cpb_plan {
    call_source *source; /* whose inputs the facts quote */
    call_facts *facts;   /* of the source, whose arrays `planned` borrows; NULL: its own */
    call_options options;
    api_planned planned;
    int32_t n; /* devices with a pool */
    struct shown *shown;
    int32_t *device, *unit; /* by row: the id, and the index in planned.plan.unit */
    int32_t *row[N_TABLE], *cpu[N_TABLE];
};

static int32_t table_of(const char *word)
{
    static const char *const words[] = {"pool", "near", "home"};
    for (int32_t i = 0; word && i < CPUBIND_ALL_ROLES; i++)
        if (strcmp(cpubind_role_name((cpubind_role)i), word) == 0)
            return i;
    for (int32_t i = 0; word && i < N_TABLE - POOL; i++)
        if (strcmp(words[i], word) == 0)
            return POOL + i;
    return -1;
}

/* The CPUs of row `i` in a table. */
static const int32_t *list_of(const cpb_plan *plan, int32_t table, int32_t i, int32_t *n)
{
    const cpubind_unit *unit = &plan->planned.plan.unit[plan->unit[i]];
    const cpubind_host_device *device = plan->planned.facts.device[unit->device];
    if (table == POOL) {
        *n = unit->n_cpu;
        return unit->cpu;
    }
    if (table >= NEAR) {
        *n = device->n_cpu;
        return device->cpu;
    }
    *n = unit->roles.span[table].count;
    return unit->role_cpu + unit->roles.span[table].first;
}

/* Keeps of the n CPUs of a list those that pools are cut from. Returns how many. */
static int32_t keep_planned(const cpb_plan *plan, int32_t *cpu, int32_t n)
{
    const cpubind_topology *host = &plan->planned.plan.host;
    int32_t kept = 0, at = 0;
    for (int32_t i = 0; i < n; i++)
        if (cpubind_list_has(host->cpu, host->n_cpu, cpu[i], &at))
            cpu[kept++] = cpu[i];
    return kept;
}

/* Lists the devices with a pool. Returns 0 without memory. */
static int list_devices(cpb_plan *plan)
{
    const cpubind_device_plan *p = &plan->planned.plan;
    plan->device = (int32_t *)malloc(((size_t)p->n_unit + 1) * sizeof *plan->device);
    plan->unit = (int32_t *)malloc(((size_t)p->n_unit + 1) * sizeof *plan->unit);
    for (int32_t i = 0; plan->device && plan->unit && i < p->n_unit; i++)
        if (p->unit[i].row >= 0) {
            plan->unit[plan->n] = i;
            plan->device[plan->n++] = p->unit[i].id;
        }
    return plan->device && plan->unit;
}

/* Fills the tables: for each, one array of offsets and one of CPUs. Returns 0 without
 * memory. */
static int fill_tables(cpb_plan *plan)
{
    const size_t n_row = (size_t)plan->n + 1;
    for (int32_t t = 0; t < N_TABLE; t++) {
        int32_t n, n_all = 0;
        for (int32_t i = 0; i < plan->n; i++) {
            (void)list_of(plan, t, i, &n);
            n_all += n;
        }
        plan->row[t] = (int32_t *)malloc(n_row * sizeof **plan->row);
        plan->cpu[t] = (int32_t *)malloc((size_t)n_all * sizeof **plan->cpu + 1);
        if (!plan->row[t] || !plan->cpu[t])
            return 0;
        n_all = 0;
        for (int32_t i = 0; i < plan->n; i++) {
            const int32_t *list = list_of(plan, t, i, &n);
            plan->row[t][i] = n_all;
            if (n > 0)
                memcpy(plan->cpu[t] + n_all, list, (size_t)n * sizeof *list);
            n_all += t == HOME ? keep_planned(plan, plan->cpu[t] + n_all, n) : n;
        }
        plan->row[t][plan->n] = n_all;
    }
    return 1;
}

/* The arguments of read_facts. */
typedef struct reading {
    const cpubind_source *source;
    call_facts *to;
} reading;

static cpubind_problem_code read_facts(void *ctx, cpubind_arena *arena)
{
    const reading *r = (const reading *)ctx;
    cpubind_problem problem;
    return cpubind_facts_read(r->source, &r->to->options.options.request, arena, &r->to->facts,
                              &problem);
}

int call_take_settings(const call_source *source, int commands, call_options *options,
                       api_text *why)
{
    return api_take_settings(source && source->name ? &source->host.source : NULL, commands,
                             &options->options, why);
}

/* The facts for a request, kept or read now; NULL: they cannot be read, and the plan of the
 * request says why. The caller holds the mutex of the source, and drops them. `texts` are those
 * of the request. */
static call_facts *take_facts(call_source *source, const cpubind_request *request,
                              const char *const *texts)
{
    call_facts *facts;
    api_text why = {"", 0};
    reading r = {&source->host.source, NULL};
    for (int32_t i = 0; i < CALL_N_FACTS && source->facts[i]; i++) {
        facts = source->facts[i];
        const cpubind_request *read = &facts->options.options.request;
        if (!cpubind_facts_serve(read, request) ||
            (facts->facts.job_variable && read->rank != request->rank))
            continue;
        facts->n_user++;
        return facts;
    }
    r.to = facts = (call_facts *)calloc(1, sizeof *facts);
    if (!facts)
        return NULL;
    facts->n_user = 1;
    if (!call_read_options(texts, API_PLAN, API_CASE | API_PLAN_CALL, &facts->options, NULL) ||
        call_take_settings(source, API_CASE | API_PLAN_CALL, &facts->options, &why) !=
            API_DONE ||
        api_find_devices(r.source, &facts->options.options, &why) != API_DONE ||
        cpubind_with_arena(NULL, &facts->arena, read_facts, &r) != CPUBIND_PROBLEM_NONE) {
        drop_facts(facts);
        return NULL;
    }
    drop_facts(source->facts[source->next]);
    source->facts[source->next] = facts;
    source->next = (source->next + 1) % CALL_N_FACTS;
    facts->n_user++;
    return facts;
}

/* Plans the NPUs. The facts are read if need be. */
static void make_npus(cpb_plan *plan, const char *const *texts)
{
    const cpubind_request *request = &plan->options.options.request;
    cpubind_mutex_lock(plan->source->mutex);
    plan->facts = take_facts(plan->source, request, texts);
    if (!plan->facts)
        api_make(&plan->source->host.source, request, &plan->planned);
    cpubind_mutex_unlock(plan->source->mutex);
    if (plan->facts)
        api_make_from(&plan->facts->facts, request, &plan->planned);
}

/* Finds the devices that are named, and plans. Returns the status; the reason is in *why, or
 * where that is empty in the plan. */
static int make_plan(cpb_plan *plan, const char *const *texts, api_text *why)
{
    const cpubind_source *source = &plan->source->host.source;
    api_options *options = &plan->options.options;
    int status;
    cpubind_mutex_lock(plan->source->mutex);
    status = call_take_settings(plan->source, API_CASE | API_PLAN_CALL, &plan->options, why);
    if (status == API_DONE)
        status = api_find_devices(source, options, why);
    if (status == API_DONE && api_device_conflict(options)) {
        api_add(why, "%s", api_device_conflict(options));
        status = API_USAGE;
    }
    cpubind_mutex_unlock(plan->source->mutex);
    if (status == API_DONE && !api_asks_for_devices(options))
        make_npus(plan, texts);
    if (status == API_DONE &&
        (api_asks_for_devices(options) || plan->planned.code != CPUBIND_PROBLEM_NONE)) {
        cpubind_mutex_lock(plan->source->mutex);
        status = api_plan_others(source, options, &plan->planned, why);
        cpubind_mutex_unlock(plan->source->mutex);
    }
    if (status == API_DONE)
        status = api_check_rank(&plan->planned, options, why);
    return status == API_DONE ? api_check_pools(&plan->planned, options, why) : status;
}

/* Returns 0, with *error, when there is no plan. */
static int make(cpb_plan *plan, const char *const *texts, cpb_error **error)
{
    api_text why = {"", 0};
    const int status = make_plan(plan, texts, &why);
    if (status != API_DONE) {
        (void)(why.len > 0 ? call_fail(error, api_status_word(status), status, 0, why.text)
                           : call_refuse(error, &plan->planned, &plan->options.options));
        return 0;
    }
    if (list_devices(plan) && fill_tables(plan))
        return 1;
    (void)call_no_memory(error);
    return 0;
}

cpb_plan *cpb_plan_make(cpb_host *host, const char *const *options, cpb_error **error)
{
    cpb_plan *plan;
    if (!host)
        return (cpb_plan *)call_fail(error, "usage", API_USAGE, 0, "name a host");
    plan = (cpb_plan *)calloc(1, sizeof *plan);
    if (plan)
        plan->shown = (struct shown *)calloc(1, sizeof *plan->shown);
    if (!plan || !plan->shown) {
        free(plan);
        return (cpb_plan *)call_no_memory(error);
    }
    if (call_read_options(options, API_PLAN, API_CASE | API_PLAN_CALL, &plan->options, error)) {
        plan->source = call_take_source(host, error);
        if (plan->source)
            plan->options.options.root = plan->source->name;
        if (plan->source && make(plan, options, error))
            return plan;
    }
    cpb_plan_free(plan);
    return NULL;
}

void cpb_plan_free(cpb_plan *plan)
{
    if (!plan)
        return;
    for (int32_t t = 0; t < N_TABLE; t++) {
        free(plan->row[t]);
        free(plan->cpu[t]);
    }
    free(plan->device);
    free(plan->unit);
    if (plan->shown) {
        free(plan->shown->json.text);
        api_free_network(plan->shown->network);
    }
    free(plan->shown);
    api_free_planned(&plan->planned);
    call_free_options(&plan->options);
    if (plan->facts) {
        cpubind_mutex_lock(plan->source->mutex);
        drop_facts(plan->facts);
        cpubind_mutex_unlock(plan->source->mutex);
    }
    call_drop_source(plan->source);
    free(plan);
}

static int32_t row_of(const cpb_plan *plan, int32_t device)
{
    for (int32_t i = 0; i < plan->n; i++)
        if (plan->device[i] == device)
            return i;
    return -1;
}

int32_t cpb_plan_devices(const cpb_plan *plan, const int32_t **devices)
{
    *devices = plan->device;
    return plan->n;
}

int32_t cpb_plan_rank_device(const cpb_plan *plan)
{
    const api_options *options = &plan->options.options;
    const int32_t row = api_rank_row(&plan->planned, options);
    return row < 0 ? -1 : plan->planned.plan.unit[row].id;
}

int32_t cpb_plan_cpus(const cpb_plan *plan, int32_t device, const char *role,
                      const int32_t **cpus)
{
    const int32_t table = table_of(role), row = row_of(plan, device);
    *cpus = NULL;
    if (table < 0 || row < 0)
        return -1;
    *cpus = plan->cpu[table] + plan->row[table][row];
    return plan->row[table][row + 1] - plan->row[table][row];
}

int32_t cpb_plan_table(const cpb_plan *plan, const char *role, const int32_t **row,
                       const int32_t **cpus)
{
    const int32_t table = table_of(role);
    *row = *cpus = NULL;
    if (table < 0)
        return -1;
    *row = plan->row[table];
    *cpus = plan->cpu[table];
    return plan->n;
}

int32_t cpb_plan_mask(const cpb_plan *plan, int32_t device, const char *role, void *bits,
                      size_t size)
{
    enum { WORD = sizeof(unsigned long), BITS = 8 * WORD };
    unsigned long *word = NULL;
    const int32_t *cpu;
    const int32_t n = cpb_plan_cpus(plan, device, role, &cpu);
    const int32_t n_word = n > 0 ? cpu[n - 1] / BITS + 1 : 0;
    const size_t need = (size_t)n_word * WORD;
    if (n < 0)
        return -1;
    if (size == 0 || !bits)
        return (int32_t)need;
    memset(bits, 0, size);
    word = (unsigned long *)calloc((size_t)n_word + 1, WORD);
    if (!word)
        return -1;
    for (int32_t i = 0; i < n; i++)
        word[cpu[i] / BITS] |= 1ul << (cpu[i] % BITS);
    memcpy(bits, word, need < size ? need : size);
    free(word);
    return (int32_t)need;
}

int32_t cpb_plan_memory_node(const cpb_plan *plan, int32_t device)
{
    const int32_t row = row_of(plan, device);
    if (row < 0)
        return -1;
    return plan->planned.plan.unit[plan->unit[row]].memory_node;
}

int32_t cpb_plan_quality(const cpb_plan *plan, int32_t device, const char *figure)
{
    const int32_t row = device < 0 ? -1 : row_of(plan, device);
    const api_planned *p = &plan->planned;
    if (!figure || (device >= 0 && row < 0))
        return -1;
    return api_figure(device < 0 ? api_figures_of(&p->plan)
                                 : api_shown(&p->facts, &p->plan, plan->unit[row]).figures,
                      figure);
}

/* The plan as it is shown: with the network cards of its host. The mutex is held. Returns 0
 * without memory. */
static int show_plan(const cpb_plan *plan, api_planned *out)
{
    const int good = api_read_network(&plan->source->host.source, &plan->planned.facts,
                                      &plan->shown->network);
    *out = plan->planned;
    out->network = plan->shown->network;
    return good;
}

const char *cpb_plan_json(const cpb_plan *plan)
{
    api_out *json = &plan->shown->json;
    api_planned shown;
    cpubind_mutex_lock(plan->source->mutex);
    json->is_short |= !show_plan(plan, &shown);
    if (shown.network && (!json->text || json->is_short)) {
        words_value *value = api_plan_json(&shown, &plan->options.options);
        call_tell_report(value);
        json->len = 0;
        json->is_short = 0;
        words_put(json, value, WORDS_LINE);
        words_free(value);
    }
    cpubind_mutex_unlock(plan->source->mutex);
    return json->is_short ? call_no_memory_json : json->text;
}

/* The text, or NULL with *error; frees it then. */
static char *text_of(api_out *text, cpb_error **error)
{
    if (!text->is_short && text->text)
        return text->text;
    free(text->text);
    return (char *)call_no_memory(error);
}

/* The accelerators that the options ask for, as JSON. */
static char *topo_of(call_source *source, api_options *options, cpb_error **error)
{
    api_planned read = {0};
    words_value *report = NULL;
    api_out json = {0};
    api_text why = {"", 0};
    int status;
    cpubind_mutex_lock(source->mutex);
    status = api_find_devices(&source->host.source, options, &why);
    if (status == API_DONE) {
        api_read_devices(&source->host.source, options, &read);
        status = api_judge_devices(&read, options, &why);
    }
    if (status == API_DONE)
        report = api_topo(&read.facts, options);
    if (report && options->n_choose > 0)
        status = api_add_choices(report, &read.facts, options->n_choose, &why);
    if (report)
        words_put(&json, report, WORDS_LINE);
    words_free(report);
    cpubind_mutex_unlock(source->mutex);
    api_free_planned(&read);
    if (status == API_DONE)
        return text_of(&json, error);
    free(json.text);
    return (char *)call_fail(error, api_status_word(status), status, 0, why.text);
}

char *cpb_host_topo(cpb_host *host, const char *const *options, cpb_error **error)
{
    call_options read = {0};
    call_source *source = NULL;
    char *text = NULL;
    if (!host)
        return (char *)call_fail(error, "usage", API_USAGE, 0, "name a host");
    if (call_read_options(options, API_TOPO, API_TOPO_CALL, &read, error))
        source = call_take_source(host, error);
    if (source)
        text = topo_of(source, &read.options, error);
    call_drop_source(source);
    call_free_options(&read);
    return text;
}

/* The place of a device of a host. Returns 0, with *error, where it is not known. */
static int place_of_device(cpb_host *host, const char *device, api_near *out, cpb_error **error)
{
    call_source *source = host ? call_take_source(host, error) : NULL;
    api_text why = {"", 0};
    int status;
    if (!source) {
        if (!host)
            (void)call_fail(error, "usage", API_USAGE, 0, "name a host");
        return 0;
    }
    cpubind_mutex_lock(source->mutex);
    status = api_find_near(&source->host.source, device, out, &why);
    cpubind_mutex_unlock(source->mutex);
    call_drop_source(source);
    if (status != API_DONE)
        (void)call_fail(error, api_status_word(status), status, 0, why.text);
    return status == API_DONE;
}

int32_t cpb_near_cpus(cpb_host *host, const char *device, int32_t *cpus, int32_t room,
                      cpb_error **error)
{
    api_near near;
    if (!place_of_device(host, device, &near, error))
        return -1;
    for (int32_t i = 0; cpus && i < near.n && i < room; i++)
        cpus[i] = near.cpu[i];
    free(near.cpu);
    return near.n;
}

int32_t cpb_home_node(cpb_host *host, const char *device, cpb_error **error)
{
    api_text why = {"", 0};
    api_near near;
    if (!place_of_device(host, device, &near, error))
        return -1;
    free(near.cpu);
    if (near.node < 0) {
        api_add(&why,
                "the node of %s is not known: neither the kernel nor the tool of its "
                "driver tells it",
                device);
        (void)call_fail(error, "refused", API_REFUSED, 0, why.text);
    }
    return near.node;
}

/* The same for a call that does not hold the mutex; 0 with *error. */
static int show_locked(const cpb_plan *plan, api_planned *out, cpb_error **error)
{
    int good;
    cpubind_mutex_lock(plan->source->mutex);
    good = show_plan(plan, out);
    cpubind_mutex_unlock(plan->source->mutex);
    if (!good)
        (void)call_no_memory(error);
    return good;
}

char *cpb_plan_format(const cpb_plan *plan, const char *format, cpb_error **error)
{
    api_options options = plan->options.options;
    api_planned shown;
    const api_format *row = api_formats;
    api_out text = {0};
    api_text why = {"", 0};
    while (format && row->word && strcmp(row->word, format) != 0)
        row++;
    options.format_word = format;
    if (!show_locked(plan, &shown, error))
        return NULL;
    if (format && row->word && row->check && !row->check(&shown, &options, &why))
        return (char *)call_fail(error, "refused", API_REFUSED, 0, why.text);
    if (format && row->word) {
        row->put(&text, &shown, &options);
        return text_of(&text, error);
    }
    api_add(&why, "there is no format \"%s\"; there are", format ? format : "");
    for (row = api_formats; row->word; row++)
        api_add(&why, "%s %s", row > api_formats ? "," : "", row->word);
    return (char *)call_fail(error, "usage", API_USAGE, 0, why.text);
}

char *cpb_plan_explain(const cpb_plan *plan, const char *target, cpb_error **error)
{
    api_options options = plan->options.options;
    words_value *explanation;
    api_planned shown;
    api_out text = {0};
    api_text why = {"", 0};
    const char *fault = api_check_explain(target ? target : "");
    if (fault || strcmp(target, "threads") == 0)
        return (char *)call_fail(error, "usage", API_USAGE, 0,
                                 fault ? fault : "threads are of a binding, not of a plan");
    options.explain = target;
    if (!show_locked(plan, &shown, error))
        return NULL;
    if (api_explain_json(&shown, &options, &explanation, &why)) {
        api_put_explanation(&text, &options, explanation);
        return text_of(&text, error);
    }
    return (char *)call_fail(error, "refused", API_REFUSED, 0, why.text);
}

int32_t cpb_bind_thread(const cpb_plan *plan, int32_t device, const char *role,
                        cpb_error **error)
{
    unsigned long mask[CPUBIND_MAX_CPUS / (8 * sizeof(unsigned long))];
    const int32_t size = cpb_plan_mask(plan, device, role, mask, sizeof mask);
    api_text why = {"", 0};
    if (size < 0) {
        api_add(&why, "the plan has no device %d with a pool, or there is no role \"%s\"",
                (int)device, role ? role : "");
        (void)call_fail(error, "usage", API_USAGE, 0, why.text);
        return -1;
    }
    if (size > 0 && cpubind_sys_real.setaffinity(0, (size_t)size, mask) == 0)
        return 0;
    api_add(&why, "this thread cannot be put on the CPUs of %s: %s", role,
            size == 0 ? "this product has none" : strerror(errno));
    (void)call_fail(error, "unwritten", API_UNWRITTEN, size == 0 ? 0 : errno, why.text);
    return -1;
}
