/* capture_doctor.c - the inputs that cpubind doctor reads, for a capture
 * SPDX-License-Identifier: MIT
 *
 * Examines the host and notes what is read, so that a capture has what each check needs. Of all
 * processes of a host it keeps those that drive an NPU, those above them, and those in a
 * finding. Writes nothing.
 */
#include "capture_doctor.h"

#include <stdlib.h>
#include <string.h>

#include "../ascend/doctor_inputs.h"

/* The names that an examination has read. */
typedef struct notes {
    const cpubind_source *source;
    char **name;
    int32_t n, cap;
    int is_short;
    cli_examination e;
} notes;

static void note(notes *t, const char *name)
{
    if (!cpubind_doctor_input_has(name))
        return;
    if (t->n == t->cap) {
        const int32_t cap = t->cap ? t->cap * 2 : 1024;
        char **grown = (char **)realloc(t->name, (size_t)cap * sizeof *grown);
        if (!grown) {
            t->is_short = 1;
            return;
        }
        t->name = grown;
        t->cap = cap;
    }
    t->name[t->n] = strdup(name);
    t->is_short |= !t->name[t->n];
    t->n += t->name[t->n] != NULL;
}

static cpubind_input read_noted(void *ctx, const char *name)
{
    notes *t = (notes *)ctx;
    note(t, name);
    return t->source->read(t->source->ctx, name);
}

/* A folder of a network card is known by a file in it. */
static cpubind_input list_noted(void *ctx, const char *folder)
{
    notes *t = (notes *)ctx;
    const cpubind_input listing = t->source->list(t->source->ctx, folder);
    const int is_nets = strcmp(folder, "sys/class/net") == 0;
    for (int32_t at = 0, end; strncmp(folder, "sys/class/net", 13) == 0 && at < listing.len;
         at = end + 1) {
        api_text name = {"", 0};
        for (end = at; end < listing.len && listing.data[end] != '\n';)
            end++;
        api_add(&name, "%s/%.*s%s", folder, (int)(end - at), listing.data + at,
                is_nets ? "/mtu" : "");
        note(t, name.text);
    }
    return listing;
}

static cpubind_problem_code examine(void *ctx, cpubind_arena *arena)
{
    cli_examination *e = (cli_examination *)ctx;
    return cpubind_doctor_examine(&e->request, arena, &e->report);
}

int cli_examine(cli_examination *e, cpubind_arena *arena)
{
    return cpubind_with_arena(NULL, arena, examine, e) == CPUBIND_PROBLEM_NONE;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The process of a name; 0: it is of none. */
static int32_t pid_of(const char *name)
{
    return strncmp(name, "proc/", 5) == 0 ? (int32_t)strtol(name + 5, NULL, 10) : 0;
}

static int has(const notes *t, int32_t pid, const char *file)
{
    api_text name = {"", 0};
    const char *key = name.text;
    api_add(&name, "proc/%d/%s", (int)pid, file);
    return bsearch(&key, t->name, (size_t)t->n, sizeof *t->name, by_name) != NULL;
}

/* Whether the files of a process are kept: those of a worker and of each process above it have
 * their command line read, and so has an irqbalance that is at fault. */
static int is_kept(const notes *t, int32_t pid)
{
    if (pid == 0 || has(t, pid, "cmdline") || has(t, pid, "environ"))
        return 1;
    for (int32_t i = 0; i < t->e.report.n_finding; i++)
        if (t->e.report.finding[i].pid == pid)
            return 1;
    return 0;
}

int cli_capture_doctor(const cpubind_source *source, const api_planned *planned,
                       const api_options *options, cpubind_input_visit *visit, void *ctx)
{
    notes t = {.source = source};
    const cpubind_source noted = {&t, read_noted, list_noted};
    cpubind_arena arena = {NULL, 0, 0};
    cpubind_request request = options->request;
    request.wants_pci = 1;
    t.e.request = (cpubind_doctor_request){.source = &noted,
                                           .request = &request,
                                           .facts = planned->has_facts ? &planned->facts : NULL,
                                           .npu_smi_ms = -1};
    if (planned->code == CPUBIND_PROBLEM_NONE)
        t.e.request.plan = &planned->plan;
    t.is_short |= !cli_examine(&t.e, &arena);
    if (t.n > 0)
        qsort(t.name, (size_t)t.n, sizeof *t.name, by_name);
    for (int32_t i = 0; !t.is_short && i < t.n; i++) {
        const char *name = t.name[i];
        cpubind_input input;
        if ((i > 0 && strcmp(name, t.name[i - 1]) == 0) || !is_kept(&t, pid_of(name)))
            continue;
        input = source->read(source->ctx, name);
        if (input.state != CPUBIND_INPUT_ABSENT)
            (void)visit(ctx, name, input);
    }
    for (int32_t i = 0; i < t.n; i++)
        free(t.name[i]);
    free(t.name);
    free(arena.base);
    return !t.is_short;
}
