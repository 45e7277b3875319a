/* host_counts.c - how many CPUs, nodes and NPUs a host has, also when a plan is not possible
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. Runs steps of facts_*.c several times,
 * with a part of the source hidden each time, so that a damaged input costs its own count only.
 */
#include "ascend_reader.h"

/* The inputs that a reading does not get. */
enum { HIDE_STATUS = 1, HIDE_ONLINE = 2, HIDE_NODES = 4 };

typedef struct veil {
    const cpubind_source *source;
    uint32_t hidden;
} veil;

static const struct {
    const char *name;
    uint32_t hidden;
} veiled[] = {
    {"proc/self/status", HIDE_STATUS},       {"sys/devices/system/cpu/online", HIDE_ONLINE},
    {"sys/devices/system/cpu", HIDE_ONLINE}, {"sys/devices/system/node", HIDE_NODES},
    {"cmd/lscpu-e.txt", HIDE_NODES},
};

static int is_hidden(const veil *v, const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof veiled / sizeof veiled[0]; i++)
        if (v->hidden & veiled[i].hidden && strlen(veiled[i].name) == n &&
            memcmp(veiled[i].name, name, n) == 0)
            return 1;
    return 0;
}

static const cpubind_input absent = {.state = CPUBIND_INPUT_ABSENT};

static cpubind_input read_veiled(void *ctx, const char *name)
{
    const veil *v = (const veil *)ctx;
    return is_hidden(v, name) ? absent : v->source->read(v->source->ctx, name);
}

static cpubind_input list_veiled(void *ctx, const char *name)
{
    const veil *v = (const veil *)ctx;
    return is_hidden(v, name) ? absent : v->source->list(v->source->ctx, name);
}

/* Runs one step in a new reading; its facts are in *facts. */
static cpubind_problem_code take_step(const cpubind_source *source, cpubind_arena *arena,
                                      uint32_t hidden,
                                      cpubind_problem_code (*step)(facts_reader *),
                                      cpubind_facts *facts)
{
    veil v = {source, hidden};
    const cpubind_source shown = {&v, read_veiled, list_veiled};
    const size_t used = arena->used;
    cpubind_request request;
    cpubind_problem problem;
    cpubind_problem_code code;
    ascend_reading ascend;
    facts_reader r;
    memset(&ascend, 0, sizeof ascend);
    memset(&request, 0, sizeof request);
    memset(&r, 0, sizeof r);
    memset(facts, 0, sizeof *facts);
    cpubind_problem_clear(&problem);
    r.ascend = &ascend;
    r.source = &shown;
    r.request = &request;
    r.arena = arena;
    r.facts = facts;
    r.problem = &problem;
    code = step(&r);
    arena->used = used;
    return code;
}

static cpubind_problem_code read_cpus(facts_reader *r)
{
    const cpubind_problem_code code = cpubind_priv_read_cpus(r);
    return code == CPUBIND_PROBLEM_NONE ? cpubind_priv_require_cpus(r) : code;
}

/* Takes the counts of CPUs and nodes that are still unknown from one reading. */
static cpubind_problem_code take_cpus(const cpubind_source *source, cpubind_arena *arena,
                                      uint32_t hidden, cpubind_host_counts *counts)
{
    cpubind_facts facts;
    const cpubind_problem_code code = take_step(source, arena, hidden, read_cpus, &facts);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (counts->cpus < 0)
        counts->cpus = facts.n_cpu;
    if (counts->nodes < 0 && !(facts.warnings & CPUBIND_WARNS(NO_NODES)))
        counts->nodes = facts.n_node;
    return code;
}

cpubind_host_counts cpubind_host_counts_read(const cpubind_source *source, cpubind_arena *arena)
{
    cpubind_host_counts counts = {-1, -1, -1};
    cpubind_facts facts;
    cpubind_problem_code code;
    code = take_cpus(source, arena, HIDE_STATUS | HIDE_NODES, &counts);
    if (code != CPUBIND_PROBLEM_NO_MEMORY) /* without memory no other reading helps */
        code = take_cpus(source, arena, HIDE_STATUS, &counts);
    if (code != CPUBIND_PROBLEM_NONE && code != CPUBIND_PROBLEM_NO_MEMORY)
        (void)take_cpus(source, arena, HIDE_STATUS | HIDE_ONLINE, &counts);
    code = take_step(source, arena, 0, cpubind_priv_read_npus, &facts);
    if (code == CPUBIND_PROBLEM_NONE)
        counts.npus = facts.n_device;
    else if (code == CPUBIND_PROBLEM_NO_RUNNING_DEVICE)
        counts.npus = 0;
    return counts;
}
