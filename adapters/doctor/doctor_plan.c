/* doctor_plan.c - checks of the plan itself: places of pools, split cores
 * SPDX-License-Identifier: MIT
 *
 * Pure. The plan is that of the options: with the rules near, nothing better is offered.
 */
#include "doctor_parts.h"

#define USE_NEAR "export CPUBIND_RULES=near"

void doctor_check_locality(doctor *d)
{
    const cpubind_ascend_plan *plan = d->plan;
    doctor_text evidence = {"", 0};
    cpubind_doctor_finding *f;
    if (!doctor_has_plan(d) || !(plan->warnings >> CPUBIND_WARNING_POOR_LOCALITY & 1u))
        return;
    doctor_add(&evidence,
               "%d of %d pools have no CPU near their NPU by the rules reference: NPU",
               (int)plan->n_poor, (int)plan->n_want);
    for (int32_t i = 0; i < plan->n_poor; i++)
        doctor_add(&evidence, "%s%d", i ? "," : " ", (int)d->facts->npu[plan->poor[i]].logic);
    f = doctor_find(d);
    f->npu = d->facts->npu[plan->poor[0]].logic;
    f->evidence = doctor_keep(d, evidence.text);
    f->command = USE_NEAR;
    f->number[0] = (cpubind_doctor_number){"pools", plan->n_poor};
    f->number[1] = (cpubind_doctor_number){"of", plan->n_want};
}

void doctor_check_split(doctor *d)
{
    doctor_text evidence = {"", 0};
    cpubind_doctor_finding *f;
    if (!doctor_has_plan(d) || !doctor_has_cores(d))
        return;
    if (d->plan->rules == CPUBIND_RULES_NEAR || d->plan->quality.split_cores == 0)
        return;
    doctor_add(&evidence, "cores split between NPUs by the rules reference: %d",
               (int)d->plan->quality.split_cores);
    f = doctor_find(d);
    f->evidence = doctor_keep(d, evidence.text);
    f->command = USE_NEAR;
    f->number[0] = (cpubind_doctor_number){"cores", d->plan->quality.split_cores};
}
