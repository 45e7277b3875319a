/* planned.c - a live host, and a plan in memory that grows until it fits
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing: the facts and the plan are made in adapters/ascend.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../linux/bind/bind.h"
#include "../linux/source/host_source.h"
#include "../plan/plan.h"
#include "../text/cpulist.h"
#include "api.h"

/* Without the facts: enough for 640 CPUs and 16 NPUs, whose plan is made once then. */
#define FIRST_ARENA_OF_PLAN ((size_t)256 << 10)

/* == The host as the process sees it ======================================== */

#define INPUT_STATUS "proc/self/status"

static cpubind_input read_view(void *ctx, const char *name)
{
    const api_process_view *m = (const api_process_view *)ctx;
    const int is_status = strcmp(name, INPUT_STATUS) == 0;
    const int is_env = strcmp(name, "env") == 0;
    const cpubind_source *source = (is_status || is_env) && m->process ? m->process : m->host;
    if (is_env && !m->process)
        return (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
    if (is_status && m->status)
        return (cpubind_input){
            .state = CPUBIND_INPUT_PRESENT, .data = m->status, .len = m->status_len};
    return source->read(source->ctx, name);
}

static cpubind_input list_view(void *ctx, const char *name)
{
    const api_process_view *m = (const api_process_view *)ctx;
    if (strncmp(name, "dev/", 4) == 0 && !m->process)
        return (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
    return m->host->list(m->host->ctx, name);
}

cpubind_source api_process_source(api_process_view *view)
{
    return (cpubind_source){view, read_view, list_view};
}

/* Sets the allowed CPUs. Returns 0 without memory. */
static int allow(api_process_view *m, const int32_t *cpu, int32_t n)
{
    static const char key[] = "Cpus_allowed_list:\t";
    const int32_t room = n * 6 + 1; /* "65535," at most */
    int32_t len = 0;
    free(m->status);
    m->status = (char *)malloc(sizeof key + (size_t)room);
    if (!m->status)
        return 0;
    memcpy(m->status, key, sizeof key - 1);
    (void)cpubind_cpulist_format(cpu, n, m->status + sizeof key - 1, room, &len);
    m->status_len = (int32_t)sizeof key - 1 + len;
    m->status[m->status_len++] = '\n';
    return 1;
}

/* == This host =============================================================== */

/* A live host whose process is inside of a binding: its own status says other CPUs. Or one
 * whose environment may not be read: it counts as empty, and is not known. */
struct api_outer {
    cpubind_outer found;
    int32_t pid;       /* of env_error */
    int32_t env_error; /* why its environment cannot be read; 0: it can */
    cpubind_source live;
    api_process_view view;
};

static void free_outer(struct api_outer *o)
{
    if (o) {
        free(o->found.cpu);
        free(o->view.status);
    }
    free(o);
}

/* Why the environment of another process may not be read; 0: it may, or something else is
 * wrong, which whoever reads it says. */
static int32_t hides_environment(int32_t pid, const cpubind_source *live)
{
    cpubind_input env;
    if (pid == 0)
        return 0;
    env = live->read(live->ctx, "env");
    return env.state == CPUBIND_INPUT_FAILED && (env.error == EACCES || env.error == EPERM)
               ? env.error
               : 0;
}

/* Lets a live host show the CPUs that its process had before the bindings around it, and an
 * environment that is not known as an empty one.
 *   errors  ENOMEM; those of the search for bindings, but for that of a process that has ended,
 *           which is for others to say */
static cpubind_linux_fault step_outside(int32_t pid, api_host *host)
{
    struct api_outer *o = (struct api_outer *)calloc(1, sizeof *o);
    const cpubind_linux_fault none = {.what = ""};
    cpubind_linux_fault why = {ENOMEM, "memory", 0};
    const int32_t env_error = hides_environment(pid, &host->source);
    if (o)
        why = cpubind_bind_find_outer(pid > 0 ? pid : (int32_t)getpid(), NULL, &o->found);
    if (!why.error && o->found.n_cpu > 0 && !allow(&o->view, o->found.cpu, o->found.n_cpu))
        why.error = ENOMEM;
    if (why.error || (o->found.n_cpu == 0 && o->found.unread_pid == 0 && !env_error)) {
        free_outer(o);
        return why.error == ESRCH ? none : why;
    }
    host->outer = o;
    o->pid = pid;
    o->env_error = env_error;
    o->live = host->source;
    o->view.host = &o->live;
    o->view.process = env_error ? NULL : &o->live;
    if (o->found.n_cpu > 0 || env_error)
        host->source = api_process_source(&o->view);
    return none;
}

static void warn_environment(const struct api_outer *o, api_hear *hear, void *ctx)
{
    api_text text = {"", 0};
    if (!o->env_error)
        return;
    api_add(&text,
            "the environment of process %d may not be read (%s): whether it has CPUBIND_RULES, "
            "or variables that hide devices, is not known; say them with -o rules=RULES and "
            "--visible LIST, "
            "or run this as root",
            (int)o->pid, strerror(o->env_error));
    hear(ctx, "environment", text.text);
}

void api_settle_environment(struct api_outer *outer, const api_options *options)
{
    const cpubind_request *q = &options->request;
    if (outer && q->has_rules &&
        (options->one_npu >= 0 || q->visible || options->topo.n_named > 0))
        outer->env_error = 0;
}

void api_warn_outer(const struct api_outer *outer, api_hear *hear, void *ctx)
{
    const cpubind_outer *o = outer ? &outer->found : NULL;
    char device[CPUBIND_DEVICE_NAME_SIZE];
    api_text text = {"", 0};
    if (outer)
        warn_environment(outer, hear, ctx);
    if (!o || (o->pid == 0 && o->unread_pid == 0))
        return;
    if (o->pid > 0) {
        api_add(&text, "this is inside of the binding of process %d", (int)o->pid);
        cpubind_device_name(cpubind_vendor_listed(), o->device, NULL, device);
        if (*device || *o->pci)
            api_add(&text, " (%s)", *device ? device : o->pci);
        api_add(&text, ": the plan is for the CPUs before it, ");
        api_add_list(&text, o->cpu, o->n_cpu);
        api_add(&text, ", and a process that is bound by it leaves that binding");
    } else {
        api_add(&text,
                "process %d, above this one, is bound by a record that cannot be read: the "
                "plan is for the CPUs that are left; name those before it with --allowed LIST, "
                "or run it as the user that has bound that process",
                (int)o->unread_pid);
    }
    hear(ctx, "nested", text.text);
}

int api_open_live(int32_t pid, int is_alone, api_host *out, api_text *why)
{
    const cpubind_linux_live live = {
        .pid = pid, .limit_ms = CPUBIND_LIVE_LIMIT_MS, .is_alone = is_alone};
    cpubind_linux_fault fault = {.what = ""};
    if (cpubind_linux_open_live(&live, &out->host, &fault) != CPUBIND_LINUX_OK)
        return words_fail(API_UNREADABLE, why, "the folder \"/\" cannot be opened: %s",
                          strerror(fault.error));
    out->source = cpubind_linux_source(out->host);
    if (!is_alone)
        fault = step_outside(pid, out);
    if (fault.error)
        api_close_host(out);
    if (fault.error == ENOMEM)
        return api_no_room(why);
    if (fault.error)
        api_add(why, "which bindings the process is inside of is not known: %s: %s", fault.what,
                strerror(fault.error));
    return fault.error ? API_UNREADABLE : API_DONE;
}

void api_close_host(api_host *host)
{
    cpubind_linux_close(host->host);
    free_outer(host->outer);
    if (host->close_other)
        host->close_other(host->other);
    memset(host, 0, sizeof *host);
}

/* == A plan ================================================================== */

/* The arguments of make_plan. */
typedef struct making {
    const cpubind_source *source; /* NULL: the facts are there */
    const cpubind_request *request;
    api_planned *planned;
    int is_reading; /* the facts alone */
} making;

static cpubind_problem_code make_plan(void *ctx, cpubind_arena *arena)
{
    const making *m = (const making *)ctx;
    api_planned *p = m->planned;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    cpubind_problem_clear(&p->problem);
    if (m->source)
        code = cpubind_facts_read(m->source, m->request, arena, &p->facts, &p->problem);
    p->has_facts = code == CPUBIND_PROBLEM_NONE;
    if (!p->has_facts || m->is_reading || (m->request->bus && p->facts.n_bus == 0))
        return code;
    return m->request->bus
               ? cpubind_plan_devices(&p->facts, m->request, arena, &p->plan, &p->problem)
               : cpubind_plan_make(&p->facts, m->request, arena, &p->plan, &p->problem);
}

void api_make(const cpubind_source *source, const cpubind_request *request, api_planned *out)
{
    making m = {source, request, out, 0};
    api_free_network(out->network); /* of the host before */
    out->network = NULL;
    out->code = cpubind_with_arena(NULL, &out->arena, make_plan, &m);
}

void api_read(const cpubind_source *source, const cpubind_request *request, api_planned *out)
{
    making m = {source, request, out, 1};
    out->code = cpubind_with_arena(NULL, &out->arena, make_plan, &m);
}

void api_make_from(const cpubind_facts *facts, const cpubind_request *request, api_planned *out)
{
    making m = {NULL, request, out, 0};
    out->facts = *facts;
    if (!out->arena.size)
        out->arena.size = FIRST_ARENA_OF_PLAN;
    out->code = cpubind_with_arena(NULL, &out->arena, make_plan, &m);
}

void api_free_network(api_network *network)
{
    if (network)
        free(network->arena.base);
    free(network);
}

void api_free_planned(api_planned *planned)
{
    api_free_network(planned->network);
    free(planned->arena.base);
    memset(planned, 0, sizeof *planned);
}

const char *api_status_word(int status)
{
    switch (status) {
    case API_USAGE:
        return "usage";
    case API_UNREADABLE:
        return "unreadable";
    case API_UNWRITTEN:
        return "unwritten";
    default:
        return "refused";
    }
}
