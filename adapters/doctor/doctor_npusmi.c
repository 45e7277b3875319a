/* doctor_npusmi.c - checks of npu-smi: slow answers, answers that contradict the kernel
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source. With facts=driver npu-smi is not asked, and both are not known.
 */
#include "doctor_parts.h"

enum { SLOW_MS = 5000 };

/* Writes the command of a finding: plans without npu-smi mend both, where the driver's files
 * are enough. */
static void go_without_npusmi(const doctor *d, cpubind_doctor_finding *f)
{
    f->is_look = !d->request->facts || d->request->facts->origin != CPUBIND_ORIGIN_DRIVER;
    f->command = f->is_look ? "npu-smi info -l; dmesg | grep -i -e devdrv -e davinci"
                            : "export CPUBIND_FACTS=driver";
}

static int is_asked(doctor *d)
{
    if (cpubind_origin_asked(d->source, d->request->request) != CPUBIND_ORIGIN_DRIVER)
        return 1;
    doctor_gap(d, INPUT_NPUSMI_MAP, (cpubind_input){.state = CPUBIND_INPUT_ABSENT});
    return 0;
}

void doctor_check_npusmi_slow(doctor *d)
{
    static const char *const inputs[] = {INPUT_NPUSMI_MAP, INPUT_NPUSMI,
                                         "cmd/npu-smi-info-t-topo.txt"};
    const int32_t ms = d->request->npu_smi_ms;
    doctor_text evidence = {.of = d};
    cpubind_doctor_finding *f;
    const char *slow = NULL;
    if (!is_asked(d))
        return;
    for (size_t i = 0; !slow && i < sizeof inputs / sizeof *inputs; i++) {
        const cpubind_input answer = d->source->read(d->source->ctx, inputs[i]);
        if (answer.state == CPUBIND_INPUT_TIMEOUT)
            slow = inputs[i];
        else if (answer.state != CPUBIND_INPUT_PRESENT)
            doctor_lack(d, inputs[i], answer);
    }
    if (slow)
        doctor_add(&evidence, "npu-smi did not end in time");
    else if (ms >= SLOW_MS)
        doctor_add(&evidence, "npu-smi took %d ms to answer", (int)ms);
    if (evidence.len == 0)
        return;
    f = doctor_find(d);
    f->input = slow ? slow : INPUT_NPUSMI_MAP;
    f->value = slow ? "timeout" : NULL;
    f->evidence = doctor_keep_text(d, &evidence);
    go_without_npusmi(d, f);
    if (!slow)
        f->number[0] = (cpubind_doctor_number){"ms", ms};
}

/* Appends what the facts of npu-smi contradict; nothing when they contradict nothing. */
static void add_contradiction(const doctor *d, const cpubind_facts *npusmi, doctor_text *to)
{
    const cpubind_facts *own = d->request->facts;
    if (npusmi->n_difference > 0) {
        const cpubind_difference *x = &npusmi->difference[0];
        doctor_add(to, "%s names an NPU that %s lacks", x->has, x->lacks);
        if (x->card >= 0)
            doctor_add(to, ": card %d", (int)x->card);
        if (x->phy >= 0)
            doctor_add(to, ": phy id %d", (int)x->phy);
    } else if (npusmi->contradicting) {
        doctor_add(to, "%s contradicts %s", npusmi->contradicting, npusmi->contradiction);
    } else if (npusmi->warnings >> CPUBIND_WARNING_AFFINITY_DIFFERS & 1u) {
        doctor_add(to, "npu-smi and the kernel name different CPUs near an NPU");
    } else if (own && own->n_listed != npusmi->n_listed) {
        doctor_add(to, "npu-smi names %d NPUs, and the driver %d", (int)npusmi->n_listed,
                   (int)own->n_listed);
    }
}

void doctor_check_inputs_differ(doctor *d)
{
    cpubind_request request = *d->request->request;
    doctor_text evidence = {.of = d};
    cpubind_doctor_finding *f;
    cpubind_problem problem;
    cpubind_problem_code code;
    cpubind_facts npusmi;
    if (!is_asked(d))
        return;
    cpubind_problem_clear(&problem);
    request.origin = CPUBIND_ORIGIN_NPU_SMI;
    code = cpubind_facts_read(d->source, &request, d->arena, &npusmi, &problem);
    d->is_short |= code == CPUBIND_PROBLEM_NO_MEMORY;
    if (code == CPUBIND_PROBLEM_NO_NPU_SMI) {
        doctor_lack(d, INPUT_NPUSMI_MAP, (cpubind_input){.state = CPUBIND_INPUT_ABSENT});
        return;
    }
    if (code != CPUBIND_PROBLEM_NONE) {
        doctor_gap(d, problem.input, problem.answer);
        return;
    }
    add_contradiction(d, &npusmi, &evidence);
    if (evidence.len == 0)
        return;
    f = doctor_find(d);
    f->input = npusmi.n_difference > 0 ? npusmi.difference[0].lacks : INPUT_NPUSMI_MAP;
    f->evidence = doctor_keep_text(d, &evidence);
    go_without_npusmi(d, f);
}
