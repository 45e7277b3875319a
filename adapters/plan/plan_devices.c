/* plan_devices.c - the plan of all devices of a host, where each may be without a pool
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. Cuts no pool: plan.c does, of the devices that are joined here.
 */
#include "plan_parts.h"

/* Whether a problem is that no device has CPUs, which each of them says. */
static int is_without_pools(const cpubind_problem *problem)
{
    return problem->code == CPUBIND_PROBLEM_TOO_FEW_CPUS ||
           problem->code == CPUBIND_PROBLEM_NO_LOCAL_CPUS ||
           problem->code == CPUBIND_PROBLEM_NO_RUNNING_DEVICE;
}

/* Whether a plan of NPUs alone may give CPUs of these devices to NPUs. */
static int has_other_plan(const cpubind_facts *f, const cpubind_request *q)
{
    const int32_t n_exclude = q->exclude ? q->n_exclude : 0;
    int n_listed = 0, n_other = 0;
    for (int32_t i = 0; i < f->n_bus && !f->has_listed; i++)
        if (!cpubind_vendor_of(f->bus[i].accelerator.vendor)->users)
            n_other++;
        else if (cpubind_facts_has_share(f, i) &&
                 !plan_is_parted(q->exclude, n_exclude, f->bus[i].cpu, f->bus[i].n_cpu))
            n_listed++;
    return n_listed > 0 && n_other > 0;
}

cpubind_problem_code cpubind_plan_devices(cpubind_facts *f, const cpubind_request *request,
                                          cpubind_arena *arena, cpubind_device_plan *out,
                                          cpubind_problem *problem)
{
    cpubind_request asked = *request;
    const int is_blind = cpubind_facts_is_blind(f);
    cpubind_problem_code code;
    int32_t n_hidden = 0;
    cpubind_problem_clear(problem);
    asked.has_rank = asked.only_running = asked.total = 0; /* of NPUs alone */
    asked.device = NULL;
    asked.process = request->n_process > 0 ? request->process : 0;
    for (int32_t i = 0; i < f->n_bus; i++)
        n_hidden += f->bus[i].sight == CPUBIND_SIGHT_HIDDEN && cpubind_facts_has_share(f, i);
    if (!f->has_listed) /* else the devices of the job are NPUs */
        cpubind_priv_take_job(f);
    code = cpubind_plan_make(f, &asked, arena, out, problem);
    if (code != CPUBIND_PROBLEM_NONE && !is_without_pools(problem))
        return code;
    if (code != CPUBIND_PROBLEM_NONE || is_blind)
        out->n_want = out->n_poolless = 0;
    if (is_blind)
        f->n_device = 0;
    if (!f->has_listed)
        out->n_hidden = n_hidden;
    if (has_other_plan(f, request))
        out->warnings |= CPUBIND_WARNS(OTHER_ACCELERATORS);
    return code == CPUBIND_PROBLEM_NONE || cpubind_plan_units(f, &asked, problem, arena, out)
               ? CPUBIND_PROBLEM_NONE
               : CPUBIND_PROBLEM_NO_MEMORY;
}
