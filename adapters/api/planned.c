/* planned.c - a live host, and a plan in memory that grows until it fits
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing: the facts and the plan are made in adapters/ascend.
 */
#include <stdlib.h>
#include <string.h>

#include "../linux/source/host_source.h"
#include "api.h"

#define FIRST_ARENA ((size_t)4 << 20)
/* Without the facts: enough for 640 CPUs and 16 NPUs, whose plan is made once then. */
#define FIRST_ARENA_OF_PLAN ((size_t)256 << 10)
#define LAST_ARENA          ((size_t)1 << 30)

int api_open_live(int32_t pid, int is_alone, api_host *out, api_text *why)
{
    const cpubind_linux_live live = {
        .pid = pid, .limit_ms = CPUBIND_LIVE_LIMIT_MS, .is_alone = is_alone};
    cpubind_linux_fault fault = {.what = ""};
    if (cpubind_linux_open_live(&live, &out->host, &fault) != CPUBIND_LINUX_OK) {
        api_add(why, "the folder \"/\" cannot be opened: %s", strerror(fault.error));
        return API_UNREADABLE;
    }
    out->source = cpubind_linux_source(out->host);
    return API_DONE;
}

void api_close_host(api_host *host)
{
    cpubind_linux_close(host->host);
    if (host->close_other)
        host->close_other(host->other);
    memset(host, 0, sizeof *host);
}

cpubind_problem_code api_with_arena(cpubind_arena *arena, api_maker *make, void *ctx)
{
    size_t size = arena->size ? arena->size : FIRST_ARENA;
    for (;; size *= 4) {
        cpubind_problem_code code;
        if (!arena->base)
            arena->base = (char *)malloc(size);
        arena->size = arena->base ? size : 0;
        arena->used = 0;
        code = make(ctx, arena);
        if (code != CPUBIND_PROBLEM_NO_MEMORY || !arena->base || size >= LAST_ARENA)
            return code;
        free(arena->base);
        arena->base = NULL;
    }
}

/* The arguments of make_plan. */
typedef struct making {
    const cpubind_source *source;
    const cpubind_request *request;
    api_planned *planned;
} making;

static cpubind_problem_code make_plan(void *ctx, cpubind_arena *arena)
{
    const making *m = (const making *)ctx;
    api_planned *p = m->planned;
    cpubind_problem_code code =
        cpubind_facts_read(m->source, m->request, arena, &p->facts, &p->problem);
    p->has_facts = code == CPUBIND_PROBLEM_NONE;
    if (p->has_facts)
        code = cpubind_ascend_make_plan(&p->facts, m->request, arena, &p->plan, &p->problem);
    return code;
}

void api_make(const cpubind_source *source, const cpubind_request *request, api_planned *out)
{
    making m = {source, request, out};
    out->code = api_with_arena(&out->arena, make_plan, &m);
}

static cpubind_problem_code make_from_facts(void *ctx, cpubind_arena *arena)
{
    const making *m = (const making *)ctx;
    cpubind_problem_clear(&m->planned->problem);
    return cpubind_ascend_make_plan(&m->planned->facts, m->request, arena, &m->planned->plan,
                                    &m->planned->problem);
}

void api_make_from(const cpubind_facts *facts, const cpubind_request *request, api_planned *out)
{
    making m = {NULL, request, out};
    out->facts = *facts;
    out->has_facts = 1;
    if (!out->arena.size)
        out->arena.size = FIRST_ARENA_OF_PLAN;
    out->code = api_with_arena(&out->arena, make_from_facts, &m);
}

void api_free_planned(api_planned *planned)
{
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
