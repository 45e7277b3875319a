/* device_plan.c - which devices of a host are planned, and what a plan of them lacks
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing. Decides nothing about CPUs: ../plan does.
 */
#include "device_plan.h"

#include "../plan/what_if.h"

/* == Which devices ========================================================== */

/* Counts the accelerators that the PCI bus shows, by vendor. Returns whether there are some,
 * and no NPU among them. */
static int count_devices(const cpubind_facts *f, int32_t n[CPUBIND_VENDOR_COUNT])
{
    for (int32_t i = 0; i < f->n_bus; i++)
        n[f->bus[i].accelerator.vendor]++;
    return f->n_bus > 0 && n[CPUBIND_VENDOR_ASCEND] == 0;
}

/* Whether the host of a plan that was refused is one of other accelerators than NPUs: it has no
 * npu-smi, no option is about NPUs, and the PCI bus has devices that cpubind knows, or cannot
 * be read: then api_plan_bus says which file of it. */
static int has_others_alone(const api_options *options, const api_planned *planned)
{
    const cpubind_facts *f = &planned->facts;
    int32_t n[CPUBIND_VENDOR_COUNT] = {0};
    return planned->code == CPUBIND_PROBLEM_NO_NPU_SMI && !api_npu_option(options) &&
           (count_devices(f, n) || f->has_bus < 0 ||
            f->unread_other.code != CPUBIND_PROBLEM_NONE);
}

int api_lacks_npus(const cpubind_source *source, const api_options *options, api_text *why)
{
    const cpubind_request plain = {.is_auto_strategy = 1, .wants_others = 1};
    const char *const option = api_npu_option(options);
    const int32_t npu = options->one_npu >= 0           ? options->one_npu
                        : options->request.n_device > 0 ? options->request.device[0]
                                                        : -1;
    const int has_rank = options->command != API_STATUS && !options->all && !options->tree;
    const char *before = " (";
    int32_t n[CPUBIND_VENDOR_COUNT] = {0};
    api_planned planned = {0};
    int lacks; /* a container may not see its NPUs on the bus */
    api_make(source, &plain, &planned);
    lacks = planned.code == CPUBIND_PROBLEM_NO_NPU_SMI &&
            planned.facts.unread_other.code == CPUBIND_PROBLEM_NONE &&
            count_devices(&planned.facts, n);
    api_free_planned(&planned);
    if (!lacks)
        return 0;
    api_add(why, "this host has no NPU, but accelerators of other vendors");
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++) {
        if (n[i] == 0)
            continue;
        api_add(why, "%s%d %s", before, (int)n[i], cpubind_vendor_word((cpubind_vendor_id)i));
        before = ", ";
    }
    api_add(why, ")");
    if (npu >= 0)
        api_add(why, ": there is no npu%d", (int)npu);
    else if (option)
        api_add(why, ", and %s is about NPUs alone: leave it out", option);
    api_add(why, "; --device names ");
    api_add_devices(source, options, why);
    if (has_rank)
        api_add(why, ", --rank N is one of those that the process sees");
    return 1;
}

int api_plan(const cpubind_source *source, const api_options *options, api_planned *out,
             api_text *why)
{
    if (!api_asks_for_devices(options))
        api_make(source, &options->request, out);
    return api_plan_others(source, options, out, why);
}

int api_plan_others(const cpubind_source *source, const api_options *options, api_planned *out,
                    api_text *why)
{
    if (api_asks_for_devices(options) || has_others_alone(options, out))
        return api_plan_bus(source, options, out, why);
    if (out->code != CPUBIND_PROBLEM_NONE && out->code != CPUBIND_PROBLEM_UNREADABLE &&
        out->code != CPUBIND_PROBLEM_NO_MEMORY && api_lacks_npus(source, options, why))
        return API_REFUSED;
    return (int)cpubind_problem_exit(out->code);
}

/* == Checks ================================================================= */

int api_check_rank_doubt(const cpubind_facts *facts, const api_options *options, api_text *why)
{
    const char *doubt = options->request.has_rank ? api_rank_doubt(facts, options) : NULL;
    if (!doubt)
        return API_DONE;
    api_add(
        why,
        "which device rank %d drives is not known: %s; name the device with --device ADDRESS",
        (int)options->request.rank, doubt);
    return API_REFUSED;
}

int api_check_rank(const api_planned *p, const api_options *options, api_text *why)
{
    if (!api_is_of_bus(p, options))
        return API_DONE;
    if (api_check_rank_doubt(&p->facts, options, why) != API_DONE)
        return API_REFUSED;
    if (!options->request.has_rank || api_rank_row(p, options) >= 0)
        return API_DONE;
    api_add(why, "rank %d is none of the %d devices that the process sees",
            (int)options->request.rank, (int)p->plan.n_unit);
    api_add_only_device(&p->facts, why);
    return API_REFUSED;
}

int api_check_pools(const api_planned *p, const api_options *options, api_text *why)
{
    const int has_rank = options->request.has_rank, is_named = api_asks_for_devices(options);
    const int32_t rank = has_rank ? api_rank_row(p, options) : 0;
    const int32_t end = has_rank ? rank + 1 : p->plan.n_unit;
    const cpubind_unit *unit = p->plan.unit;
    int32_t first = -1, n = 0;
    api_row row;
    if (!api_is_of_bus(p, options))
        return API_DONE;
    for (int32_t i = end - 1; i >= rank; i--)
        if (unit[i].n_cpu == 0) {
            first = i;
            n++;
        }
    if (n == 0 || (!is_named && n < end - rank))
        return API_DONE;
    row = api_shown(&p->facts, &p->plan, first);
    api_explain_row(p, options, &row, why);
    if (n > 1)
        api_add(why, "; %d more like it", (int)n - 1);
    if ((unit[first].problem.code != CPUBIND_PROBLEM_TOO_FEW_CPUS ||
         unit[first].problem.need == 0) &&
        p->plan.rules == CPUBIND_RULES_REFERENCE) {
        api_add(why, "; -o rules=near, for all workers of the host, gives it others");
    } else {
        api_add(why, "; allow more CPUs%s",
                options->request.transfer > 0 ? ", or give fewer to transfer" : "");
        api_add_reach(&options->request, why);
    }
    return API_REFUSED;
}

/* == Another setting of the firmware ======================================== */

/* The arguments of make_supposed. */
typedef struct supposing {
    const api_planned *now;
    const api_options *options;
    api_planned *out;
} supposing;

static cpubind_problem_code make_supposed(void *ctx, cpubind_arena *arena)
{
    const supposing *s = (const supposing *)ctx;
    const int is_of_bus = api_is_of_bus(s->now, s->options);
    const cpubind_request *request = &s->options->request;
    api_planned *out = s->out;
    const cpubind_problem_code code =
        cpubind_what_if(&s->now->facts, s->options->what_if, arena, &out->facts, &out->problem);
    out->has_facts = code == CPUBIND_PROBLEM_NONE;
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    return is_of_bus
               ? cpubind_plan_devices(&out->facts, request, arena, &out->plan, &out->problem)
               : cpubind_plan_make(&out->facts, request, arena, &out->plan, &out->problem);
}

int api_plan_what_if(const api_planned *now, const api_options *options, api_planned *out,
                     api_text *why)
{
    supposing s = {now, options, out};
    api_text reason = {"", 0};
    cpubind_problem_clear(&out->problem);
    out->code = cpubind_with_arena(NULL, &out->arena, make_supposed, &s);
    if (out->code == CPUBIND_PROBLEM_NONE && api_check_pools(out, options, &reason) == API_DONE)
        return API_DONE;
    if (out->code == CPUBIND_PROBLEM_NO_MEMORY)
        return api_no_room(why);
    if (!out->has_facts)
        return words_fail(API_REFUSED, why, "this host has no plan with %s: %s",
                          options->what_if_word, out->problem.what);
    if (out->code != CPUBIND_PROBLEM_NONE)
        api_explain(out, options, &reason);
    return words_fail(API_REFUSED, why, "with %s there is no plan: %s", options->what_if_word,
                      reason.text);
}
