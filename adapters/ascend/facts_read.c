/* facts_read.c - from the inputs of a host to its facts
 * SPDX-License-Identifier: MIT
 *
 * Asks the source for inputs, gives their bytes to the parsers, and joins the results by id.
 * Pure but for the source: no I/O of its own, no malloc. It must not ask for an input that the
 * request does not need; facts.h has these rules.
 */
#include "facts_reader.h"

/* == The strategy =========================================================== */

/* The strategy of the plan: as asked, else that of the product. Slices replace topo_affinity
 * where the CPUs near the NPUs are not known, since every NPU can have a slice; nothing
 * replaces clusters. No other function decides the strategy. */
static cpubind_strategy decide_strategy(const facts_reader *r, int is_affinity_known)
{
    const cpubind_request *q = r->request;
    const cpubind_strategy strategy =
        q->is_auto_strategy ? cpubind_product_of(r->facts->type)->strategy : q->strategy;
    return strategy == CPUBIND_TOPO_AFFINITY && !is_affinity_known ? CPUBIND_GLOBAL_SLICE
                                                                   : strategy;
}

static int needs_affinity(cpubind_strategy strategy)
{
    return strategy != CPUBIND_GLOBAL_SLICE;
}

static int needs_threads(cpubind_strategy strategy)
{
    return strategy == CPUBIND_CLUSTER;
}

static int needs_census(cpubind_strategy strategy)
{
    return strategy == CPUBIND_GLOBAL_SLICE;
}

/* Whether enough affinity was read for topo_affinity: npu-smi names the CPUs near some NPU, or
 * the kernel names those near every NPU. When only the kernel names CPUs, and not for every
 * NPU, the other NPUs could not be planned. */
static int is_affinity_known(const facts_reader *r)
{
    int32_t n = 0;
    for (int32_t i = 0; i < r->facts->n_npu; i++)
        n += r->near[i].n > 0;
    return r->facts->has_affinity || (n > 0 && n == r->facts->n_npu);
}

/* == Reading ================================================================ */

static cpubind_problem_code read_type(facts_reader *r)
{
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    if (r->facts->type == CPUBIND_TYPE_AUTO)
        code = cpubind_priv_read_census(r);
    if (code == CPUBIND_PROBLEM_NONE && r->facts->type == CPUBIND_TYPE_AUTO)
        code = facts_fail(r, CPUBIND_PROBLEM_UNKNOWN_TYPE,
                          "neither a chip name nor a PCI id tells the device type");
    return code;
}

/* Reads the CPUs near each NPU and decides the strategy. A question that npu-smi did not answer
 * is a problem only when the kernel does not answer it either. */
static cpubind_problem_code read_affinity(facts_reader *r, const cpubind_problem *unanswered)
{
    cpubind_facts *f = r->facts;
    cpubind_problem_code code = cpubind_priv_read_near(r);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    f->strategy = decide_strategy(r, is_affinity_known(r));
    if (needs_affinity(f->strategy))
        code = cpubind_priv_take_near(r);
    if (code == CPUBIND_PROBLEM_NONE && unanswered->code != CPUBIND_PROBLEM_NONE &&
        (f->n_npu == 0 || !facts_all_have_affinity(f))) {
        *r->problem = *unanswered;
        code = unanswered->code;
    }
    return code;
}

/* Reads the inputs that this plan needs besides CPUs and ids. Other inputs are not read: some
 * cost a run of npu-smi, and a damaged one would stop a plan that does not need it. Without
 * npu-smi info -m the topology is read in any case, for its ids. */
static cpubind_problem_code read_for_plan(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_request *q = r->request;
    const cpubind_strategy wanted = decide_strategy(r, 1);
    cpubind_problem unanswered;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    f->strategy = wanted;
    cpubind_problem_clear(&unanswered);
    if (needs_affinity(wanted) || f->n_npu == 0)
        code = cpubind_priv_read_topo(r, &unanswered);
    if (code == CPUBIND_PROBLEM_NONE &&
        (!q->npu || q->wants_pci || (needs_affinity(wanted) && f->n_npu > 0)))
        code = cpubind_priv_read_info(r);
    if (code == CPUBIND_PROBLEM_NONE && needs_affinity(wanted))
        code = read_affinity(r, &unanswered);
    if (code == CPUBIND_PROBLEM_NONE && needs_threads(wanted))
        code = cpubind_priv_read_threads(r);
    if (code == CPUBIND_PROBLEM_NONE && needs_census(f->strategy) && f->n_census == 0)
        code = cpubind_priv_read_census(r);
    if (code == CPUBIND_PROBLEM_NONE && f->strategy != wanted)
        facts_warn(r, CPUBIND_WARNING_NO_AFFINITY);
    return code;
}

cpubind_problem_code cpubind_facts_read(const cpubind_source *source,
                                        const cpubind_request *request, cpubind_arena *arena,
                                        cpubind_facts *out, cpubind_problem *problem)
{
    facts_reader r;
    cpubind_problem_code code;
    memset(&r, 0, sizeof r);
    r.source = source;
    r.request = request;
    r.arena = arena;
    r.facts = out;
    r.problem = problem;
    r.info_status = CPUBIND_TEXT_ERR_MISSING;
    memset(out, 0, sizeof *out);
    cpubind_problem_clear(problem);
    code = cpubind_priv_read_npus(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = read_type(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_read_cpus(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = read_for_plan(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_read_running(&r);
    if (code == CPUBIND_PROBLEM_NONE && request->wants_pci && out->n_npu > 0)
        code = cpubind_priv_read_wanted(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_read_visible(&r);
    return code;
}
