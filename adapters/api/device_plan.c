/* device_plan.c - the plan of the accelerators of a host, of any vendor: made, and as text
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing. Decides nothing about CPUs: ../plan/pci_plan.h does.
 */
#include "device_plan.h"

#include <stdlib.h>
#include <string.h>

#include "../text/procfs.h"

int api_asks_for_devices(const api_options *options)
{
    return options->topo.n_named > 0 || options->topo.class_digits > 0;
}

const char *api_npu_option(const api_options *options)
{
    const cpubind_request *q = &options->request;
    const struct {
        int is_given;
        const char *name;
    } given[] = {{options->one_npu >= 0, "--npu"},
                 {q->n_npu > 0, "--npus"},
                 {q->only_running, "--running"},
                 {q->visible != NULL, "--visible"},
                 {q->total > 0, "--total"},
                 {q->type != CPUBIND_TYPE_AUTO, "--device-type"},
                 {q->origin != CPUBIND_ORIGIN_AUTO, "--facts"},
                 {q->n_process > 0, "--processes"},
                 {!q->is_auto_strategy && q->strategy != CPUBIND_TOPO_AFFINITY, "--strategy"},
                 {options->compare, "--compare"}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].is_given)
            return given[i].name;
    return NULL;
}

const char *api_device_conflict(const api_options *options)
{
    if (!api_asks_for_devices(options) || !api_npu_option(options))
        return NULL;
    return "--pci and --class are about devices of any vendor: leave out the options that are "
           "about NPUs";
}

/* Counts the accelerators that the PCI bus shows, by family. Returns whether there are some,
 * and no NPU among them; *is_read says whether the bus could be read. */
static int count_devices(const cpubind_source *source, const api_options *options,
                         int32_t n[CPUBIND_VENDOR_COUNT], int *is_read)
{
    api_topo topo = {0};
    int has_some;
    api_topo_read(source, options, &topo);
    *is_read = topo.status == CPUBIND_PROBLEM_NONE;
    has_some = *is_read && topo.facts.n_device > 0;
    for (int32_t i = 0; has_some && i < topo.facts.n_device; i++)
        n[topo.facts.device[i].accelerator.vendor]++;
    api_topo_free(&topo);
    return has_some && n[CPUBIND_VENDOR_ASCEND] == 0;
}

int api_has_devices_alone(const cpubind_source *source, const api_options *options,
                          const api_planned *planned)
{
    int32_t n[CPUBIND_VENDOR_COUNT] = {0};
    int is_read;
    return planned->code == CPUBIND_PROBLEM_NO_NPU_SMI && !api_npu_option(options) &&
           (count_devices(source, options, n, &is_read) || !is_read);
}

int api_lacks_npus(const cpubind_source *source, const api_options *options, api_text *why)
{
    const cpubind_request plain = {.is_auto_strategy = 1};
    const char *const option = api_npu_option(options);
    const int has_rank = options->command != API_STATUS && !options->all && !options->tree;
    const char *before = " (";
    int32_t n[CPUBIND_VENDOR_COUNT] = {0};
    api_planned planned = {0};
    int is_read;
    int lacks = count_devices(source, options, n, &is_read);
    if (lacks) { /* a container may not see its NPUs on the bus */
        api_make(source, &plain, &planned);
        lacks = planned.code == CPUBIND_PROBLEM_NO_NPU_SMI;
        api_free_planned(&planned);
    }
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
    if (option)
        api_add(why, ", and %s is about NPUs alone: leave it out", option);
    if (options->command != API_DOCTOR)
        api_add(why, "; --pci ADDRESS and --class CLASS name other devices%s",
                has_rank ? ", --rank N is one of those that the process sees" : "");
    return 1;
}

/* == Making ================================================================= */

cpubind_rules api_device_rules(const api_device_plan *d)
{
    return d->plan.all.rules;
}

static const char *status_text(cpubind_status status)
{
    return status == CPUBIND_ERR_EMPTY ? "the CPUs near it are not known, or none is allowed"
                                       : cpubind_status_text(status);
}

typedef struct making {
    const cpubind_pci_asked *asked;
    api_device_plan *out;
    cpubind_problem problem;
} making;

static cpubind_problem_code make(void *ctx, cpubind_arena *arena)
{
    making *m = (making *)ctx;
    return cpubind_pci_make_plan(&m->out->topo.facts, m->asked, arena, &m->out->plan,
                                 &m->problem);
}

static int make_plan(const cpubind_pci_asked *asked, api_device_plan *out, api_text *why)
{
    making m = {.asked = asked, .out = out};
    const cpubind_problem_code code = api_with_arena(&out->arena, make, &m);
    if (code == CPUBIND_PROBLEM_NONE)
        return API_DONE;
    if (code == CPUBIND_PROBLEM_NO_MEMORY)
        return api_no_room(why);
    api_add(why, "there is no plan for these devices: %s", m.problem.what);
    api_add_fault(&m.problem, why);
    return cpubind_problem_exit(code);
}

/* Makes one device the only one that the process sees. Returns whether the host has it among
 * the devices that were read. */
static int see_only(cpubind_facts *f, const cpubind_pci_address *only)
{
    int has = 0;
    for (int32_t i = 0; i < f->n_device; i++) {
        const int is_it = cpubind_pci_compare(&f->device[i].pci, only) == 0;
        f->device[i].sight = is_it ? CPUBIND_SIGHT_VISIBLE : CPUBIND_SIGHT_HIDDEN;
        f->device[i].n_number = 0;
        has |= is_it;
    }
    return has;
}

/* Reads the devices: with `only` all accelerators of the host, or that function where it is no
 * accelerator that cpubind knows. */
static void read_devices(const cpubind_source *source, const api_options *options,
                         const cpubind_pci_address *only, api_topo *out)
{
    cpubind_pci_request asked = options->topo;
    asked.wants_cores = 1;
    asked.host = &options->request;
    asked.named = asked.n_named > 0 ? options->pci : NULL;
    if (only) {
        asked.n_named = 0;
        asked.named = NULL;
    }
    api_topo_ask(source, &asked, out);
    if (!only || out->status != CPUBIND_PROBLEM_NONE || see_only(&out->facts, only))
        return;
    asked.named = only;
    asked.n_named = 1;
    api_topo_free(out);
    api_topo_ask(source, &asked, out);
    if (out->status == CPUBIND_PROBLEM_NONE)
        (void)see_only(&out->facts, only);
}

int api_device_ask(const cpubind_source *source, const api_options *options,
                   cpubind_pci_asked *out, api_text *why)
{
    const cpubind_request *q = &options->request;
    const cpubind_rules rules = cpubind_rules_asked(source, q);
    cpubind_pci_asked asked = {.overlap = q->overlap,
                               .roles = {{0, 1, 0, 0}},
                               .limits = {q->allowed, q->n_allowed, q->exclude, q->n_exclude}};
    asked.keep_each = q->keep_each;
    asked.keep = q->keep;
    asked.n_keep = q->n_keep;
    if (options->has_roles)
        asked.roles = options->roles;
    asked.is_reference = rules == CPUBIND_RULES_REFERENCE;
    *out = asked;
    if (rules != CPUBIND_RULES_COUNT)
        return API_DONE;
    api_add(why, "CPUBIND_RULES is neither reference nor near; mend the variable, or say it "
                 "with --rules reference or --rules near");
    return API_UNREADABLE;
}

/* Whether a function is an NPU that the options do not part from the other devices: --exclude
 * has no CPU near it. */
static int is_unparted_npu(const cpubind_pci_function *f, const cpubind_request *request)
{
    if (f->accelerator.vendor != CPUBIND_VENDOR_ASCEND)
        return 0;
    for (int32_t i = 0; i < f->n_cpu; i++)
        for (int32_t k = 0; k < request->n_exclude; k++)
            if (request->exclude[k] == f->cpu[i])
                return 0;
    return f->n_cpu > 0 || request->n_exclude == 0;
}

/* Whether the bus has such NPUs; where the facts are of a part of it, the rest is read. */
static int has_npus(const cpubind_source *source, const api_options *options,
                    const cpubind_facts *f)
{
    api_options all = *options;
    api_topo topo = {0};
    int has = 0;
    for (int32_t i = 0; i < f->n_device && !has; i++)
        has = is_unparted_npu(&f->device[i], &options->request);
    if (has || !f->is_part)
        return has;
    memset(&all.topo, 0, sizeof all.topo);
    api_topo_read(source, &all, &topo);
    has = topo.status == CPUBIND_PROBLEM_NONE && has_npus(source, &all, &topo.facts);
    api_topo_free(&topo);
    return has;
}

int api_make_devices(const cpubind_source *source, const api_options *options,
                     const cpubind_pci_address *only, api_device_plan *out, api_text *why)
{
    cpubind_pci_asked asked;
    int status;
    read_devices(source, options, only, &out->topo);
    status = api_topo_judge(&out->topo, options, why);
    if (status != API_DONE)
        return status;
    status = api_device_ask(source, options, &asked, why);
    return status == API_DONE ? make_plan(&asked, out, why) : status;
}

void api_find_npus(const cpubind_source *source, const api_options *options,
                   api_device_plan *devices)
{
    if (has_npus(source, options, &devices->topo.facts)) {
        api_make(source, &options->request, &devices->npus);
        api_keep_warning(CPUBIND_WARNING_OTHER_ACCELERATORS, &devices->npus);
        if (devices->npus.code != CPUBIND_PROBLEM_NONE)
            api_free_planned(&devices->npus);
    }
}

void api_free_devices(api_device_plan *devices)
{
    api_topo_free(&devices->topo);
    free(devices->arena.base);
    api_free_planned(&devices->npus);
    memset(devices, 0, sizeof *devices);
}

/* Whether ranks of the first device are tiles of it. */
static int has_tiles(const cpubind_facts *facts)
{
    const cpubind_pci_function *device = &facts->device[0];
    return facts->n_device > 0 && device->accelerator.n_tile > 1 && device->n_number > 0 &&
           device->tile[0] >= 0;
}

int api_drives_only_device(const cpubind_facts *facts, const api_options *options)
{
    return facts->n_device > 1 || has_tiles(facts) || options->topo.n_named == 1;
}

void api_add_only_device(const cpubind_facts *facts, api_text *why)
{
    if (facts->n_device != 1 || has_tiles(facts))
        return;
    api_add(why, ": this is the only one of the host, and its ranks would have the same CPUs; "
                 "cpubind apply --all gives each process a part of them, and --pci ");
    api_add_pci(why, &facts->device[0].pci);
    api_add(why, " for each rank lets them share");
}

const char *api_rank_doubt(const cpubind_facts *f, const api_options *options)
{
    const char *why = NULL;
    int32_t n_shown = 0;
    for (int32_t i = 0; i < f->n_device; i++) {
        if (f->device[i].sight == CPUBIND_SIGHT_UNKNOWN && !why)
            why = f->runtime[f->device[i].accelerator.vendor].why;
        n_shown += f->device[i].sight != CPUBIND_SIGHT_HIDDEN;
    }
    return n_shown > 1 && options->topo.n_named == 0 ? why : NULL;
}

int api_check_rank_doubt(const cpubind_facts *facts, const api_options *options, api_text *why)
{
    const char *doubt = options->request.has_rank ? api_rank_doubt(facts, options) : NULL;
    if (!doubt)
        return API_DONE;
    api_add(why,
            "which device rank %d drives is not known: %s; name the device with --pci ADDRESS",
            (int)options->request.rank, doubt);
    return API_REFUSED;
}

int32_t api_rank_of_devices(const api_device_plan *d, const api_options *options)
{
    const int32_t rank = options->request.rank;
    if (rank < d->plan.n_pool)
        return rank;
    return d->plan.n_pool == 1 && api_drives_only_device(&d->topo.facts, options) ? 0 : -1;
}

int api_check_device_rank(const api_device_plan *d, const api_options *options, api_text *why)
{
    if (api_check_rank_doubt(&d->topo.facts, options, why) != API_DONE)
        return API_REFUSED;
    if (!options->request.has_rank || api_rank_of_devices(d, options) >= 0)
        return API_DONE;
    api_add(why, "--rank %d is none of the %d devices that this process sees",
            (int)options->request.rank, (int)d->plan.n_pool);
    api_add_only_device(&d->topo.facts, why);
    return API_REFUSED;
}

void api_explain_device(const api_device_plan *d, const cpubind_pci_pool *pool, api_text *to)
{
    api_add_pci(to, &d->topo.facts.device[pool->device].pci);
    if (pool->tile >= 0)
        api_add(to, ", tile %d,", (int)pool->tile);
    api_add(to, " has no pool: %s", status_text(pool->why));
    if (pool->why == CPUBIND_ERR_TOO_FEW)
        api_add(to, ": its roles need %d CPUs, it would have %d", (int)pool->fault.need,
                (int)pool->fault.have);
    if (d->topo.facts.device[pool->device].origin == CPUBIND_NODE_ORIGIN_UNKNOWN)
        api_add(to, "; no file of the kernel tells its node");
}

int api_check_device_pools(const api_device_plan *d, const api_options *options, api_text *why)
{
    const int has_rank = options->request.has_rank, is_named = api_asks_for_devices(options);
    const int32_t rank = has_rank ? api_rank_of_devices(d, options) : 0;
    const int32_t end = has_rank ? rank + 1 : d->plan.n_pool;
    int32_t first = -1, n = 0;
    for (int32_t i = end - 1; i >= rank; i--)
        if (d->plan.pool[i].n_cpu == 0) {
            first = i;
            n++;
        }
    if (n == 0 || (!is_named && n < end - rank))
        return API_DONE;
    api_explain_device(d, &d->plan.pool[first], why);
    if (n > 1)
        api_add(why, ", and %d other%s none either", (int)n - 1, n > 2 ? "s have" : " has");
    if (d->plan.pool[first].why == CPUBIND_ERR_EMPTY &&
        api_device_rules(d) == CPUBIND_RULES_REFERENCE)
        api_add(why, "; --rules near, for all workers of the host, gives it others");
    else
        api_add(why, "; allow more CPUs");
    return API_REFUSED;
}

/* == Text =================================================================== */

const int32_t *api_device_role(const cpubind_pci_pool *pool, cpubind_role role, int32_t *n)
{
    *n = pool->n_cpu > 0 ? pool->roles.span[role].count : 0;
    return *n > 0 ? pool->role_cpu + pool->roles.span[role].first : NULL;
}

static void add_row(api_table *table, const api_device_plan *d, int32_t rank)
{
    const cpubind_pci_pool *pool = &d->plan.pool[rank];
    const cpubind_pci_function *device = &d->topo.facts.device[pool->device];
    api_text pci = {"", 0};
    api_add_pci(&pci, &device->pci);
    api_cell_number(table, rank);
    api_cell(table, "%s", pci.text);
    if (device->accelerator.product)
        api_cell(table, "%s", device->accelerator.product);
    else
        api_cell(table, "%s", cpubind_vendor_word(device->accelerator.vendor));
    api_cell_number(table, device->node);
    api_cell_number(table, pool->n_cpu);
    for (int role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        int32_t n;
        const int32_t *cpu = api_device_role(pool, (cpubind_role)role, &n);
        api_cell_list(table, cpu, n);
    }
    api_cell_number(table, pool->memory_node);
}

void api_put_device_table(api_out *to, const api_device_plan *d, int32_t rank)
{
#define CPUBIND_X(name, word, letter) word,
    static const char *const heads[] = {
        "rank", "PCI", "device", "node", "CPUs", CPUBIND_ROLE_LIST(CPUBIND_X) "memory node"};
#undef CPUBIND_X
    api_table table = {.n_column = sizeof heads / sizeof *heads};
    for (int32_t i = 0; i < table.n_column; i++)
        api_cell(&table, "%s", heads[i]);
    for (int32_t i = 0; i < d->plan.n_pool; i++)
        if (rank < 0 || i == rank)
            add_row(&table, d, i);
    api_put_table(to, &table);
}

static const char *strategy_word(const api_device_plan *d)
{
    return d->plan.all.core.strategy == CPUBIND_NEAR
               ? "near"
               : api_strategy_word(d->plan.all.core.strategy);
}

/* Says that the process sees no device, with the variables that count. */
static void put_blind(api_out *to, const api_device_plan *d)
{
    const char *before = ": ";
    api_put(to, "this process sees none of the %d devices", (int)d->topo.facts.n_device);
    for (int family = 0; family < CPUBIND_VENDOR_COUNT; family++)
        for (int i = 0; i < 2; i++) {
            const cpubind_runtime_view *view = &d->topo.facts.runtime[family];
            if (!view->variable[i])
                continue;
            api_put(to, "%s%s=%.*s", before, view->variable[i],
                    view->value_len[i] < 200 ? (int)view->value_len[i] : 200, view->value[i]);
            before = ", ";
        }
    api_put_text(to, "\n");
}

static void put_text(api_out *to, const api_device_plan *d, const api_options *options)
{
    api_planned view = {0};
    api_figures figures;
    if (!options->quiet)
        api_put_rules(to, api_device_rules(d));
    api_put_device_table(to, d, -1);
    if (d->plan.n_pool == 0)
        put_blind(to, d);
    for (int32_t i = 0; i < d->plan.n_pool; i++) {
        api_text text = {"", 0};
        if (d->plan.pool[i].n_cpu > 0)
            continue;
        api_explain_device(d, &d->plan.pool[i], &text);
        api_put(to, "%s\n", text.text);
    }
    if (options->quiet)
        return;
    api_put(to, "\nstrategy %s, overlap: %s", strategy_word(d),
            api_finding_word(d->plan.all.core.overlap));
    if (d->plan.all.n_kept > 0) {
        api_text kept = {"", 0};
        api_add_list(&kept, d->plan.all.kept, d->plan.all.n_kept);
        api_put(to, ", kept for the host: CPUs %s", kept.text);
    }
    if (d->plan.n_hidden > 0)
        api_put(to, ", devices that this process does not see: %d", (int)d->plan.n_hidden);
    api_put_text(to, "\n");
    if (api_rank_doubt(&d->topo.facts, options))
        api_put(to, "the ranks are by address: %s\n", api_rank_doubt(&d->topo.facts, options));
    api_view_devices(d, &view);
    figures = api_figures_of(&view.plan);
    api_put_text(to, "\n");
    api_put_quality(to, view.facts.noun, (const char *const[]){""}, &figures, 1);
    api_put_text(to, "\n");
    api_put_map(to, &view, options);
}

/* == JSON =================================================================== */

static void json_pool(api_out *to, const api_device_plan *d, int32_t rank)
{
    const cpubind_pci_pool *pool = &d->plan.pool[rank];
    const cpubind_pci_function *device = &d->topo.facts.device[pool->device];
    api_text pci = {"", 0}, why = {"", 0};
    api_add_pci(&pci, &device->pci);
    if (pool->n_cpu == 0)
        api_explain_device(d, pool, &why);
    api_json_open(to, NULL, '{');
    api_json_number(to, "rank", rank);
    api_json_text(to, "pci", pci.text);
    api_json_text(to, "family", cpubind_vendor_word(device->accelerator.vendor));
    api_json_text(to, "product", device->accelerator.product);
    if (pool->tile >= 0)
        api_json_number(to, "tile", pool->tile);
    api_json_id(to, "node", device->node);
    api_json_list(to, "cpus", pool->cpu, pool->n_cpu);
    api_json_open(to, "roles", '{');
    for (int role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        int32_t n;
        const int32_t *cpu = api_device_role(pool, (cpubind_role)role, &n);
        api_json_list(to, cpubind_role_word((cpubind_role)role), cpu, n);
    }
    api_json_close(to, '}');
    api_json_id(to, "memory_node", pool->memory_node);
    api_json_text(to, "error", pool->n_cpu == 0 ? why.text : NULL);
    api_json_close(to, '}');
}

void api_json_devices(api_out *to, const char *key, const api_device_plan *d)
{
    api_json_open(to, key, '{');
    api_json_text(to, "cpubind", CPUBIND_VERSION);
    api_json_text(to, "rules", cpubind_rules_word(api_device_rules(d)));
    api_json_text(to, "strategy", strategy_word(d));
    api_json_text(to, "overlap", api_finding_word(d->plan.all.core.overlap));
    api_json_list(to, "allowed", d->plan.facts.cpu, d->plan.facts.n_cpu);
    if (d->plan.all.n_kept > 0)
        api_json_list(to, "kept", d->plan.all.kept, d->plan.all.n_kept);
    api_json_number(to, "hidden", d->plan.n_hidden);
    api_json_open(to, "warnings", '[');
    api_warn_devices(d, api_add_warning, to);
    api_json_close(to, ']');
    api_json_open(to, "devices", '[');
    for (int32_t i = 0; i < d->plan.n_pool; i++)
        json_pool(to, d, i);
    api_json_close(to, ']');
    api_json_quality(to, "quality", api_figures_of(&d->plan.all), 0);
    api_json_close(to, '}');
}

/* == Formats ================================================================ */

/* Appends the ranks for a launcher. */
static int put_launch(api_out *to, cpubind_launch_format format, const api_device_plan *d,
                      const api_options *options, api_text *why)
{
    const int is_one = options->request.has_rank;
    const int32_t first = is_one ? api_rank_of_devices(d, options) : 0;
    cpubind_launch launch = {NULL, is_one ? 1 : d->plan.n_pool};
    cpubind_launch_rank *rank =
        (cpubind_launch_rank *)calloc((size_t)launch.n_rank + 1, sizeof *rank);
    if (!rank)
        return api_no_room(why);
    launch.rank = rank;
    (void)api_is_for_ranks(cpubind_launch_word(format), launch.n_rank, why);
    if (launch.n_rank == 0)
        api_add(why, "--format %s has a place for each rank, and this process sees no device",
                cpubind_launch_word(format));
    for (int32_t i = 0; i < launch.n_rank && why->len == 0; i++) {
        const cpubind_pci_pool *pool = &d->plan.pool[first + i];
        rank[i] = (cpubind_launch_rank){pool->cpu, pool->n_cpu, NULL, 0, pool->memory_node};
        rank[i].thread = api_device_role(pool, CPUBIND_ROLE_MAIN, &rank[i].n_thread);
        if (pool->n_cpu == 0) {
            api_add(why, "--format %s has a place for each rank, and one rank has no pool: ",
                    cpubind_launch_word(format));
            api_explain_device(d, pool, why);
        } else if (format == CPUBIND_LAUNCH_SLURM_LDOM && pool->memory_node < 0) {
            api_add(why, "--format slurm-ldom names a NUMA node for each rank, and this host "
                         "shows none; use --format slurm");
        }
    }
    if (why->len == 0)
        api_put_ranks(to, format, &launch);
    free(rank);
    return why->len == 0 ? API_DONE : API_REFUSED;
}

int api_put_devices(api_out *to, const char *format, const api_device_plan *d,
                    const api_options *options, api_text *why)
{
    api_planned view = {0};
    if (api_check_device_rank(d, options, why) != API_DONE ||
        api_check_device_pools(d, options, why) != API_DONE)
        return API_REFUSED;
    for (int i = 0; i < CPUBIND_LAUNCH_COUNT; i++)
        if (strcmp(format, cpubind_launch_word((cpubind_launch_format)i)) == 0)
            return put_launch(to, (cpubind_launch_format)i, d, options, why);
    if (strcmp(format, "json") == 0) {
        api_json_devices(to, NULL, d);
    } else if (strcmp(format, "text") == 0) {
        put_text(to, d, options);
    } else if (strcmp(format, "map") == 0) {
        api_view_devices(d, &view);
        api_put_map(to, &view, options);
    } else {
        api_add(why, "--format %s is for NPUs; leave it out", format);
        return API_USAGE;
    }
    return API_DONE;
}

void api_warn_devices(const api_device_plan *d, api_hear *hear, void *ctx)
{
    api_planned view = {0};
    api_view_devices(d, &view);
    api_warn_plan(&view, hear, ctx);
    api_warn_plan(&d->npus, hear, ctx);
}

/* == The plan as one of NPUs ================================================ */

void api_view_devices(const api_device_plan *devices, api_planned *out)
{
    out->code = CPUBIND_PROBLEM_NONE;
    out->has_facts = 1;
    out->facts = devices->plan.facts;
    out->plan = devices->plan.all;
}
