/* plan_text.c - a plan as text: log lines, a table and its figures
 * SPDX-License-Identifier: MIT
 *
 * Operators search their logs for the log lines: no character of them may change.
 */
#include "../model/vendor.h"
#include "device_plan.h"
#include "nics.h"
#include "settings.h"

/* Prints the CPUs of a role, as in "146 147 148". */
static void put_role(api_out *to, const api_row *row, cpubind_role role)
{
    int32_t n;
    const int32_t *cpu = api_role_of(row, role, &n);
    for (int32_t i = 0; i < n; i++)
        api_put(to, "%s%d", i ? " " : "", (int)cpu[i]);
}

/* The mode as vllm-ascend logs it: that of the product, also where the plan is of clusters, or
 * of slices because no affinity is known. */
static const char *logged_mode(const cpubind_facts *facts, const api_options *options,
                               const cpubind_device_plan *plan)
{
    const int is_instead = plan->core.strategy == CPUBIND_GLOBAL_SLICE &&
                           options->request.is_auto_strategy &&
                           cpubind_product_of(facts->type)->strategy == CPUBIND_TOPO_AFFINITY;
    return api_strategy_word(is_instead || plan->core.strategy == CPUBIND_CLUSTER
                                 ? CPUBIND_TOPO_AFFINITY
                                 : plan->core.strategy);
}

/* Prints the lines that operators search their logs for. */
static void put_log_lines(api_out *to, const cpubind_facts *facts, const api_options *options,
                          const cpubind_device_plan *plan)
{
    const cpubind_product *product = cpubind_product_of(facts->type);
    api_put(to, "[cpu_bind_mode] mode=%s rank=%d visible_npus=[",
            logged_mode(facts, options, plan), (int)options->request.rank);
    for (int32_t i = 0; i < plan->n_unit && plan->unit[i].rank < 0; i++)
        api_put(to, "%s%d", i ? ", " : "", (int)plan->unit[i].id);
    api_put_text(to, "]\n");
    api_put_text(to, "The CPU allocation plan is as follows:\n");
    for (int32_t i = 0; i < plan->n_unit && plan->unit[i].rank < 0; i++) {
        const api_row row = api_shown(facts, plan, i);
        if (row.problem)
            continue;
        api_put(to, "%sNPU%d: %s=[", product->log_name, (int)row.device->logic,
                product->log_main);
        put_role(to, &row, CPUBIND_ROLE_MAIN);
        for (int role = CPUBIND_ROLE_MAIN + 1; role < CPUBIND_ALL_ROLES; role++) {
            if (product->roles.count[role] == 0 && row.roles.span[role].count == 0)
                continue;
            /* The log of vllm-ascend has a printed list there: release=[[167]]. */
            const int is_list = role == CPUBIND_ROLE_RELEASE;
            api_put(to, "]  %s=[%s", cpubind_role_name((cpubind_role)role), is_list ? "[" : "");
            put_role(to, &row, (cpubind_role)role);
            api_put_text(to, is_list ? "]" : "");
        }
        api_put_text(to, "]\n");
    }
}

/* That the process sees no device, with the variables that count. */
static words_value *blind_note(const cpubind_facts *facts)
{
    const char *before = ": ";
    api_text text = {"", 0};
    api_add(&text, "this process sees none of the %d devices", (int)facts->n_bus);
    for (int vendor = 0; vendor < CPUBIND_VENDOR_COUNT; vendor++)
        for (int i = 0; i < 2; i++) {
            const cpubind_runtime_view *view = &facts->runtime[vendor];
            if (!view->variable[i])
                continue;
            api_add(&text, "%s%s=%.*s", before, view->variable[i],
                    view->value_len[i] < 200 ? (int)view->value_len[i] : 200, view->value[i]);
            before = ", ";
        }
    return words_text(text.text);
}

/* Why there are rows without a pool, or no rows. */
static words_value *notes_of(const api_planned *p, const api_options *options)
{
    words_value *notes = words_array();
    if (p->plan.n_unit == 0)
        words_add(notes, blind_note(&p->facts));
    for (int32_t i = 0; i < p->plan.n_unit; i++) {
        const api_row row = api_shown(&p->facts, &p->plan, i);
        api_text text = {"", 0};
        if (!row.problem)
            continue;
        api_add(&text, "%s", cpubind_is_listed(row.device) ? "no pool: " : "");
        api_explain_row(p, options, &row, &text);
        words_add(notes, words_text(text.text));
    }
    return notes;
}

/* Adds a line of a list of CPUs, if there are any. */
static void add_list(words_value *lines, const char *before, const int32_t *cpu, int32_t n)
{
    api_text text = {"", 0};
    api_add(&text, "%s", before);
    api_add_list(&text, cpu, n);
    if (n > 0)
        words_add(lines, words_text(text.text));
}

/* For whom the plan is, what is in no pool, and last the figures. */
static words_value *summary_of(const api_planned *p, const api_options *options)
{
    const cpubind_facts *facts = &p->facts;
    const cpubind_device_plan *plan = &p->plan;
    const int32_t ranked = api_rank_row(p, options);
    const char *doubt = api_rank_doubt(facts, options);
    words_value *lines = words_array();
    api_text text = {"", 0}, process = {"", 0}, ranks = {"", 0}, figures = {"", 0};
    if (facts->has_listed)
        api_add(&text, "device type %s, ", cpubind_type_word(facts->type));
    api_add(&text, "allowed CPUs ");
    api_add_allowed(&text, facts, options);
    if (ranked >= 0) {
        const api_row row = api_shown(facts, plan, ranked);
        api_add(&text, ", rank %d drives ", (int)options->request.rank);
        api_add_row(&text, facts, &row);
    }
    words_add(lines, words_text(text.text));
    add_list(lines, "kept for the host: CPUs ", plan->kept, plan->n_kept);
    api_add(&process,
            "process %d of %d of each %s, from 0 on: its own main, acl%s; irq is shared",
            (int)options->request.process, (int)options->request.n_process, facts->noun,
            options->request.transfer > 0 ? ", release and transfer" : " and release");
    if (options->request.n_process > 1)
        words_add(lines, words_text(process.text));
    add_list(lines, "UVB polling threads of the host: CPUs ", plan->spare, plan->n_spare);
    api_add(&ranks, "the ranks are by address: %s", doubt ? doubt : "");
    if (doubt)
        words_add(lines, words_text(ranks.text));
    if (plan->core.overlap == CPUBIND_FOUND_SHARED)
        words_add(lines,
                  words_text("pools are shared: all workers of the host need share=yes"));
    api_add_figures(&figures, facts->noun, plan);
    words_add(lines, words_text(figures.text));
    return lines;
}

const words_view api_plan_view[] = {
    {WORDS_TABLE, "devices",
     "device name product +rank +card +chip +phy pci=PCI +node +running size=CPUs irq% main% "
     "acl% release% transfer% nodes memory_node=memory network"},
    {WORDS_TABLE, "beside", "process devices +cores size=CPUs cpus=list nodes"},
    {WORDS_BLOCK, "notes", ""},
    {WORDS_BLOCK, "summary", ""},
    {0}};

/* The plan with what its text has beside the keys of JSON. A host of NPUs alone needs no name
 * of them and of their product. */
static words_value *text_value(const api_planned *p, const api_options *options)
{
    words_value *value = api_plan_json(p, options);
    int has_others = 0;
    for (int32_t i = 0; i < p->plan.n_unit; i++)
        has_others |= !cpubind_is_listed(api_shown(&p->facts, &p->plan, i).device);
    for (int32_t i = 0; i < p->plan.n_unit; i++) {
        const api_row row = api_shown(&p->facts, &p->plan, i);
        words_value *device = words_at(words_get(value, "devices"), i);
        words_set(device, "device", words_number(row.id));
        words_value *network = api_nic_names(p, row.device);
        words_set(device, "size", words_number(row.n));
        if (network)
            words_set(device, "network", network);
        if (has_others && !row.device->accelerator.product)
            words_set(device, "product",
                      words_text(cpubind_vendor_word(row.device->accelerator.vendor)));
        if (!has_others && !options->columns) {
            words_remove(device, "name");
            words_remove(device, "product");
        }
    }
    for (int32_t i = 0; i < p->plan.n_beside; i++)
        words_set(words_at(words_get(value, "beside"), i), "size",
                  words_number(p->plan.beside[i].n_cpu));
    words_set(value, "notes", notes_of(p, options));
    if (!options->quiet)
        words_set(value, "summary", summary_of(p, options));
    return value;
}

static void put_setting(void *ctx, const char *key, const char *value)
{
    api_out *to = (api_out *)ctx;
    const int is_first = to->text[to->len - 1] == ':';
    api_put(to, "%s %s = %s", is_first ? "" : ",", key, value);
}

/* The settings of the host that counted, and the rules. */
static void put_head(api_out *to, const api_options *options, cpubind_rules rules)
{
    if (options->counted) {
        api_put(to, "settings of %s:", options->said ? "-o and " API_CONF_PATH : API_CONF_PATH);
        api_each_setting(options, rules, put_setting, to);
        api_put_text(to, "\n");
    }
    api_put(to, "rules %s: %s\n\n", cpubind_rules_word(rules),
            rules == CPUBIND_RULES_NEAR ? "devices take whole cores in turns"
                                        : "as vllm-ascend binds");
}

/* Appends the table, and what belongs to it. */
static void put_table(api_out *to, const api_planned *planned, const api_options *options)
{
    words_value *value = text_value(planned, options);
    words_show(to, api_plan_view, value, options->columns);
    words_free(value);
}

void api_put_what_if(api_out *to, const api_planned *now, const api_planned *then,
                     const api_options *options)
{
    static const struct {
        const char *words, *key;
    } rows[] = {{"CPUs near their device, %", "near_percent"},
                {"CPUs on another socket", "far"},
                {"IRQ CPUs off the node", "irq_off_node"},
                {"smallest pool", "smallest"},
                {"largest pool", "largest"},
                {"nodes of the widest pool", "nodes"},
                {"cores cut", "split_cores"},
                {"caches cut", "split_caches"},
                {"CPUs in no pool", "idle"}};
    api_text keys = {"", 0}, assumed = {"", 0};
    const words_view view[] = {
        {WORDS_TABLE, "figures", keys.text}, {WORDS_BLOCK, "assumed", ""}, {0}};
    words_value *before = api_quality_json(api_figures_of(&now->plan), 0);
    words_value *after = api_quality_json(api_figures_of(&then->plan), 0);
    words_value *figures = words_array(), *value = words_make("figures:v", figures);
    words_add(figures, words_make("figure:s now:i then:i", "CPUs that are online",
                                  (int)now->facts.n_online, (int)then->facts.n_online));
    words_add(figures, words_make("figure:s now:i then:i", "nodes with CPUs",
                                  (int)now->facts.n_node, (int)then->facts.n_node));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        words_add(figures, words_make("figure:s now:v then:v", rows[i].words,
                                      words_share(words_get(before, rows[i].key)),
                                      words_share(words_get(after, rows[i].key))));
    api_add(&keys, "figure now then=with_%s", options->what_if_word);
    api_add(&assumed, "assumed: %s", api_assumed(options));
    words_set(value, "assumed", words_array());
    words_add(words_get(value, "assumed"), words_text(assumed.text));
    words_show(to, view, value, NULL);
    words_free(before);
    words_free(after);
    words_free(value);
}

static int has_npu(const cpubind_device_plan *plan)
{
    return plan->n_unit > 0 && plan->unit[0].rank < 0;
}

void api_put_log(api_out *to, const api_planned *planned, const api_options *options)
{
    api_options quiet = *options;
    quiet.quiet = 1;
    if (has_npu(&planned->plan))
        put_log_lines(to, &planned->facts, options, &planned->plan);
    else
        put_table(to, planned, &quiet);
}

void api_put_plan(api_out *to, const api_planned *planned, const api_options *options)
{
    if (options->columns) {
        put_table(to, planned, options);
        return;
    }
    if (options->quiet) {
        api_put_log(to, planned, options);
        return;
    }
    put_head(to, options, planned->plan.rules);
    if (options->command == API_APPLY && has_npu(&planned->plan)) {
        put_log_lines(to, &planned->facts, options, &planned->plan);
        api_put_text(to, "\n");
    }
    api_put_map(to, planned, options);
    put_table(to, planned, options);
}
