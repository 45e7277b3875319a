/* capture_doctor.c - the inputs that cpubind doctor reads, for a capture
 * SPDX-License-Identifier: MIT
 *
 * Examines the host and notes what is read, so that a capture has what each check needs. Of all
 * processes of a host it keeps those that use a device, those above them, and those in a
 * finding. Writes nothing.
 */
#include "capture_doctor.h"

#include <stdlib.h>
#include <string.h>

#include "../api/device_plan.h"
#include "../ascend/doctor_inputs.h"
#include "../linux/source/snapshot_sys.h"
#include "find_device.h"
#include "host_call.h"

/* == Noting ================================================================= */

/* The inputs that were read of a source. */
typedef struct notes {
    const cpubind_source *source;
    cli_captures read;
} notes;

static int add(void *ctx, const char *name, cpubind_input input)
{
    cli_captures *to = (cli_captures *)ctx;
    cli_captured *row =
        (cli_captured *)cpubind_grow(&cpubind_sys_real, to->row, to->n, &to->cap, sizeof *row);
    if (row) {
        to->row = row;
        row[to->n] = (cli_captured){.name = strdup(name), .input = input};
    }
    if (row && row[to->n].name)
        to->n++;
    else
        to->is_short = 1;
    return 0;
}

/* Reads an input, and adds it unless it is not there. */
static void add_read(const cpubind_source *source, const char *name, cli_captures *to)
{
    const cpubind_input input = source->read(source->ctx, name);
    if (input.state != CPUBIND_INPUT_ABSENT)
        (void)add(to, name, input);
}

static cpubind_input read_noted(void *ctx, const char *name)
{
    notes *t = (notes *)ctx;
    const cpubind_input input = t->source->read(t->source->ctx, name);
    if (strncmp(name, "cmd/", 4) == 0 || cpubind_doctor_input_has(name))
        (void)add(&t->read, name, input);
    return input;
}

/* The next name of a listing, with these texts before and after it; "" at the end. */
static api_text next_name(cpubind_input listing, int32_t *at, const char *folder,
                          const char *leaf)
{
    api_text name = {"", 0};
    int32_t end = *at;
    while (end < listing.len && listing.data[end] != '\n')
        end++;
    if (end > *at)
        api_add(&name, "%s/%.*s%s", folder, (int)(end - *at), listing.data + *at, leaf);
    *at = end + 1;
    return name;
}

/* A folder of a network card is known by a file in it. */
static cpubind_input list_noted(void *ctx, const char *folder)
{
    notes *t = (notes *)ctx;
    const cpubind_input listing = t->source->list(t->source->ctx, folder);
    const char *leaf = strcmp(folder, "sys/class/net") == 0 ? "/mtu" : "";
    if (strncmp(folder, "sys/class/net", 13) == 0)
        for (int32_t at = 0; at < listing.len;)
            (void)read_noted(t, next_name(listing, &at, folder, leaf).text);
    return listing;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const cli_captured *)a)->name, ((const cli_captured *)b)->name);
}

/* Sorts inputs by name, and drops repeats. */
static void sort(cli_captures *c)
{
    int32_t n = 0;
    if (c->n > 0)
        qsort(c->row, (size_t)c->n, sizeof *c->row, by_name);
    for (int32_t i = 0; i < c->n; i++) {
        if (n > 0 && strcmp(c->row[i].name, c->row[n - 1].name) == 0)
            free(c->row[i].name);
        else
            c->row[n++] = c->row[i];
    }
    c->n = n;
}

void cli_free_captures(cli_captures *captures)
{
    for (int32_t i = 0; i < captures->n; i++) {
        free(captures->row[i].name);
        free(captures->row[i].copy);
        free(captures->row[i].err);
    }
    free(captures->row);
}

/* == Examining ============================================================== */

static cpubind_problem_code examine(void *ctx, cpubind_arena *arena)
{
    cli_examination *e = (cli_examination *)ctx;
    return cpubind_doctor_examine(&e->request, arena, &e->report);
}

int cli_examine(cli_examination *e, cpubind_arena *arena)
{
    return cpubind_with_arena(NULL, arena, examine, e) == CPUBIND_PROBLEM_NONE;
}

/* The address of the device of a unit. */
static const cpubind_pci_address *address_of(const api_planned *planned, int32_t unit)
{
    return &planned->facts.device[planned->plan.unit[unit].device]->pci;
}

/* Plans the devices of the bus, and reads who uses them: where that is known, or where there is
 * nothing else. */
static void read_bus(const cpubind_source *source, const api_options *options, cli_examined *e)
{
    const int has_users = (!options->root && !options->fixture) || cpubind_snapshot_sys(source);
    const cpubind_device_plan *plan = &e->bus.plan;
    api_text why = {"", 0};
    int status = API_DONE;
    if (!e->is_alone && has_users)
        status = api_plan_bus(source, options, &e->bus, &why);
    e->is_there = status == API_DONE && cli_has_opened(&e->bus);
    e->is_alone &= e->is_there;
    if (!e->is_there)
        return;
    for (int32_t i = 0; i < plan->n_unit; i++)
        e->n_poolless += plan->unit[i].n_cpu == 0 &&
                         (i == 0 || cpubind_pci_compare(address_of(&e->bus, i),
                                                        address_of(&e->bus, i - 1)) != 0);
    e->part.facts = &e->bus.facts;
    e->part.plan = plan->n_want > 0 ? plan : NULL;
    if (!has_users)
        return;
    status = cli_read_opened(options, source, &e->bus, &e->users, &why);
    if (status == API_DONE)
        e->part.users = &e->users;
    else
        (void)cli_fail(options, status, why.text);
}

int cli_plan_examined(const cpubind_source *source, const api_options *options,
                      cli_examined *out, cpubind_doctor_request *request, api_text *why)
{
    const int status = api_plan(source, options, &out->planned, why);
    if (why->len > 0 && api_npu_option(options))
        return status;
    out->is_alone = status == API_DONE && api_is_of_bus(&out->planned, options);
    if (out->is_alone) {
        out->bus = out->planned;
        out->planned = (api_planned){.code = CPUBIND_PROBLEM_NO_NPU_SMI};
    }
    read_bus(source, options, out);
    request->moves_nics = options->moves_nics;
    if (out->is_there)
        request->bus = &out->part;
    if (out->planned.has_facts)
        request->facts = &out->planned.facts;
    if (out->planned.code == CPUBIND_PROBLEM_NONE)
        request->plan = &out->planned.plan;
    return status;
}

void cli_free_examined(cli_examined *examined)
{
    free(examined->users.row);
    api_free_planned(&examined->bus);
    api_free_planned(&examined->planned);
}

/* == Processes ============================================================== */

/* The process of a name; 0: it is of none. */
static int32_t pid_of(const char *name)
{
    return strncmp(name, "proc/", 5) == 0 ? (int32_t)strtol(name + 5, NULL, 10) : 0;
}

static int has(const cli_captures *c, int32_t pid, const char *file)
{
    api_text name = {"", 0};
    const cli_captured key = {.name = name.text};
    api_add(&name, "proc/%d/%s", (int)pid, file);
    return c->n > 0 && bsearch(&key, c->row, (size_t)c->n, sizeof *c->row, by_name) != NULL;
}

/* Whether the files of a process are kept: those of a worker and of each process above it have
 * their command line read, and so has an irqbalance that is at fault. */
static int is_kept(const cli_captures *read, const cpubind_doctor_report *report, int32_t pid)
{
    if (pid == 0 || has(read, pid, "cmdline") || has(read, pid, "environ"))
        return 1;
    for (int32_t i = 0; i < report->n_finding; i++)
        if (report->finding[i].pid == pid)
            return 1;
    return 0;
}

/* Adds the files of a process and of its threads that tell who it is and where it runs. */
static void add_process(const cpubind_source *source, int32_t pid, cli_captures *to)
{
    static const char *const leaf[] = {"fd", "comm", "stat", "status", "cgroup", "environ"};
    static const char *const of_thread[] = {"/comm", "/stat", "/status"};
    api_text folder = {"", 0}, cgroup = {"", 0};
    cpubind_input tasks;
    for (size_t i = 0; i < sizeof leaf / sizeof *leaf; i++) {
        api_text name = {"", 0};
        api_add(&name, "proc/%d/%s", (int)pid, leaf[i]);
        add_read(source, name.text, to);
    }
    api_add(&cgroup, "proc/%d/cgroup", (int)pid);
    (void)cpubind_input_list_cgroups(source, cgroup.text, add, to);
    api_add(&folder, "proc/%d/task", (int)pid);
    tasks = source->list(source->ctx, folder.text);
    for (size_t i = 0; i < sizeof of_thread / sizeof *of_thread; i++)
        for (int32_t at = 0; at < tasks.len;)
            add_read(source, next_name(tasks, &at, folder.text, of_thread[i]).text, to);
}

/* == All inputs ============================================================= */

/* Leaves out of an input of doctor what no check reads. */
static void distill(cli_captured *in, int *is_short)
{
    if (in->input.len <= 0 || !cpubind_doctor_input_has(in->name))
        return;
    in->copy = (char *)malloc((size_t)in->input.len);
    *is_short |= !in->copy;
    if (!in->copy)
        return;
    memcpy(in->copy, in->input.data, (size_t)in->input.len);
    in->input.data = in->copy;
    in->input.len = cpubind_doctor_input_distill(in->name, in->copy, in->input.len);
}

/* Examines the host, and adds what the examination and planning have read. */
static void add_examined(notes *t, const api_options *options, cli_captures *out)
{
    static cli_examined examined; /* a thread may have 64 KiB of stack */
    static api_options how;
    const cpubind_source noted = {t, read_noted, list_noted};
    cpubind_arena arena = {NULL, 0, 0};
    cli_examination e = {
        .request = {.source = &noted, .request = &how.request, .npu_smi_ms = -1}};
    api_text why = {"", 0};
    int32_t last = 0;
    how = *options;
    how.request.wants_pci = 1;
    (void)cli_plan_examined(&noted, &how, &examined, &e.request, &why);
    out->is_short |= !cli_examine(&e, &arena);
    sort(&t->read);
    for (int32_t i = 0; i < t->read.n && !out->is_short; i++) {
        const int32_t pid = pid_of(t->read.row[i].name);
        if (!is_kept(&t->read, &e.report, pid))
            continue;
        add_read(t->source, t->read.row[i].name, out);
        if (pid != last && pid > 0)
            add_process(t->source, pid, out);
        last = pid;
    }
    add_read(t->source, "proc/self/fd", out);
    cli_free_examined(&examined);
    free(arena.base);
}

/* Plans twice: first with topo_affinity, so that its inputs are captured too, then as
 * requested. The second plan is the result. */
void cli_capture_inputs(const cpubind_source *source, const api_options *options,
                        api_planned *planned, cli_captures *out)
{
    notes t = {.source = source};
    const cpubind_source noted = {&t, read_noted, list_noted};
    cpubind_request by_affinity = options->request;
    by_affinity.is_auto_strategy = 0;
    by_affinity.strategy = CPUBIND_TOPO_AFFINITY;
    api_make(&noted, &by_affinity, planned);
    api_make(&noted, &options->request, planned);
    (void)cpubind_input_list_each(source, add, out);
    add_examined(&t, options, out);
    sort(out);
    for (int32_t i = 0; i < out->n; i++)
        distill(&out->row[i], &out->is_short);
    out->is_short |= t.read.is_short;
    cli_free_captures(&t.read);
}
