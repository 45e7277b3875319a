/* facts.c - from the inputs of a host to its facts
 * SPDX-License-Identifier: MIT
 *
 * Asks the source for inputs, hands their bytes to the parsers, and joins what they say by id.
 * Pure but for the source: no I/O of its own, no malloc.
 */
#include "facts_reader.h"

/* == Problems =============================================================== */

const char *cpubind_problem_word(cpubind_problem_code code)
{
    switch (code) {
    case CPUBIND_PROBLEM_NONE:
        break;
#define CPUBIND_X(name, word, exit)                                                            \
    case CPUBIND_PROBLEM_##name:                                                               \
        return word;
        CPUBIND_PROBLEM_LIST(CPUBIND_X)
#undef CPUBIND_X
    }
    return "none";
}

int32_t cpubind_problem_exit(cpubind_problem_code code)
{
    switch (code) {
    case CPUBIND_PROBLEM_NONE:
        break;
#define CPUBIND_X(name, word, exit)                                                            \
    case CPUBIND_PROBLEM_##name:                                                               \
        return exit;
        CPUBIND_PROBLEM_LIST(CPUBIND_X)
#undef CPUBIND_X
    }
    return 0;
}

const char *cpubind_warning_word(cpubind_warning warning)
{
    switch (warning) {
#define CPUBIND_X(name, word)                                                                  \
    case CPUBIND_WARNING_##name:                                                               \
        return word;
        CPUBIND_WARNING_LIST(CPUBIND_X)
#undef CPUBIND_X
    case CPUBIND_WARNING_COUNT:
        break;
    }
    return "?";
}

void cpubind_problem_clear(cpubind_problem *problem)
{
    memset(problem, 0, sizeof *problem);
    problem->offset = -1;
    problem->npu = -1;
    problem->other = -1;
    problem->cpu = -1;
}

static void choose_strategy(reader *r)
{
    cpubind_facts *f = r->facts;
    f->strategy = r->request->strategy;
    if (!r->request->is_auto_strategy)
        return;
    f->strategy = cpubind_product_of(f->type)->strategy;
}

/* What the strategy asks for beyond CPUs and ids. A slice needs the census, a cluster the
 * threads, all but a slice the affinity; so does a host of which nothing else is known. */
static cpubind_problem_code read_for_strategy(reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    if (f->strategy != CPUBIND_GLOBAL_SLICE || f->n_npu == 0)
        code = cpubind_priv_read_topo(r);
    if (code == CPUBIND_PROBLEM_NONE && f->strategy != CPUBIND_GLOBAL_SLICE)
        code = cpubind_priv_read_near(r);
    if (code == CPUBIND_PROBLEM_NONE && f->strategy == CPUBIND_CLUSTER)
        code = cpubind_priv_read_threads(r);
    if (code == CPUBIND_PROBLEM_NONE && f->n_census == 0 && f->strategy != CPUBIND_CLUSTER &&
        (f->strategy == CPUBIND_GLOBAL_SLICE || !f->has_affinity))
        code = cpubind_priv_read_census(r);
    return code;
}

cpubind_problem_code cpubind_facts_read(const cpubind_source *source,
                                        const cpubind_request *request, cpubind_arena *arena,
                                        cpubind_facts *out, cpubind_problem *problem)
{
    reader r;
    cpubind_problem_code code;
    memset(&r, 0, sizeof r);
    r.source = source;
    r.request = request;
    r.arena = arena;
    r.facts = out;
    r.problem = problem;
    memset(out, 0, sizeof *out);
    cpubind_problem_clear(problem);
    code = cpubind_priv_read_npus(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_read_cpus(&r);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    choose_strategy(&r);
    code = read_for_strategy(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_read_running(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_read_wanted(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_read_visible(&r);
    return code;
}
