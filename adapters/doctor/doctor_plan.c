/* doctor_plan.c - checks of the plan itself: places of pools, split cores, other accelerators
 * SPDX-License-Identifier: MIT
 *
 * Pure. The plan is that of the options: with the rules near, nothing better is offered.
 */
#include "doctor_parts.h"

#define USE_NEAR "export CPUBIND_RULES=near"

void doctor_check_locality(doctor *d)
{
    const cpubind_device_plan *plan = d->plan;
    doctor_text evidence = {.of = d};
    cpubind_doctor_finding *f;
    if (!doctor_has_plan(d) || !(plan->warnings >> CPUBIND_WARNING_POOR_LOCALITY & 1u))
        return;
    doctor_add(&evidence, "%d of %d pools have no CPU near their %s by the rules reference:",
               (int)plan->n_poor, (int)plan->n_want, d->facts->noun);
    for (int32_t i = 0; i < plan->n_poor; i++) {
        const doctor_worker of = {.npu = plan->poor[i], .facts = d->facts};
        doctor_add(&evidence, "%s%s", i ? ", " : " ", doctor_name(d, &of));
    }
    f = doctor_find(d);
    doctor_set_device(d, &(doctor_worker){.npu = plan->poor[0], .facts = d->facts}, f);
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = USE_NEAR;
    f->number[0] = (cpubind_doctor_number){"pools", plan->n_poor};
    f->number[1] = (cpubind_doctor_number){"of", plan->n_want};
}

void doctor_check_split(doctor *d)
{
    doctor_text evidence = {.of = d};
    cpubind_doctor_finding *f;
    if (!doctor_has_plan(d) || !doctor_has_cores(d))
        return;
    if (d->plan->rules == CPUBIND_RULES_NEAR || d->plan->quality.split_cores == 0)
        return;
    doctor_add(&evidence, "cores split between %ss by the rules reference: %d", d->facts->noun,
               (int)d->plan->quality.split_cores);
    f = doctor_find(d);
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = USE_NEAR;
    f->number[0] = (cpubind_doctor_number){"cores", d->plan->quality.split_cores};
}

void doctor_check_others(doctor *d)
{
    const cpubind_device_plan *plan = d->plan;
    doctor_text evidence = {.of = d}, command = {.of = d};
    cpubind_doctor_finding *f;
    char pci[CPUBIND_PCI_ADDRESS_MAX];
    if (!doctor_has_plan(d) || !(plan->warnings >> CPUBIND_WARNING_OTHER_ACCELERATORS & 1u))
        return;
    if (d->is_bus) { /* the NPUs are not among these facts: they could not be read */
        doctor_lack(d, NULL, (cpubind_input){.state = CPUBIND_INPUT_FAILED});
        return;
    }
    (void)cpubind_pci_format(pci, &d->facts->bus[cpubind_facts_next_other(d->facts, 0)].pci);
    doctor_add(&evidence,
               "the NPUs share all CPUs, and the host has %d other accelerator%s: %s",
               (int)d->facts->n_other, d->facts->n_other == 1 ? "" : "s", pci);
    if (d->facts->n_other > 1)
        doctor_add(&evidence, " is the first");
    f = doctor_find(d);
    f->is_look = plan->n_for_others == 0;
    doctor_add(&command, f->is_look ? "cpubind topo" : "cpubind apply --all --exclude ");
    if (!f->is_look)
        doctor_add_cpus(&command, plan->for_others, plan->n_for_others);
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = doctor_keep_text(d, &command);
    f->cpu = doctor_keep_cpus(d, plan->for_others, plan->n_for_others);
    f->n_cpu = plan->n_for_others;
    f->number[0] = (cpubind_doctor_number){"accelerators", d->facts->n_other};
}

void doctor_check_quota(doctor *d)
{
    doctor_text evidence = {.of = d}, command = {.of = d};
    cpubind_doctor_finding *f;
    int32_t n, n_name;
    if (!doctor_has_cgroup(d) || !doctor_has_plan(d) ||
        !(d->plan->warnings & CPUBIND_WARNS(CPU_QUOTA)) || !d->facts->quota_input)
        return;
    n = d->plan->core.row[d->plan->n_want];
    doctor_add(&evidence,
               "the cgroup of this process has the time of %d.%d CPUs, and the pools have %d",
               (int)d->facts->quota / 1000, (int)d->facts->quota % 1000 / 100, (int)n);
    n_name = (int32_t)strlen(d->facts->quota_input);
    doctor_add(&command, "echo %s >/%s",
               d->facts->quota_input[n_name - 1] == 'x' ? "max" : "-1", d->facts->quota_input);
    f = doctor_find(d);
    f->input = d->facts->quota_input;
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = doctor_keep_text(d, &command);
    f->number[0] = (cpubind_doctor_number){"thousandths", d->facts->quota};
    f->number[1] = (cpubind_doctor_number){"cpus", n};
}
