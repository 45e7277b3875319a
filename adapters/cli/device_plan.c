/* device_plan.c - plan on a host without Ascend NPUs: the accelerators of any vendor
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing. Decides nothing about CPUs: ../pci/pci_plan.h does.
 */
#include "device_plan.h"

#include <stdlib.h>
#include <string.h>

#include "../text/procfs.h"
#include "output.h"

int cli_asks_for_devices(const api_options *options)
{
    return options->topo.n_named > 0 || options->topo.class_digits > 0;
}

const char *cli_npu_option(const api_options *options)
{
    const cpubind_request *q = &options->request;
    const struct {
        int is_given;
        const char *name;
    } given[] = {{q->n_npu > 0, "--npus"},
                 {options->one_npu >= 0, "--npu"},
                 {q->only_running, "--running"},
                 {q->visible != NULL, "--visible"},
                 {q->total > 0, "--total"},
                 {q->type != CPUBIND_TYPE_AUTO, "--device-type"},
                 {q->origin != CPUBIND_ORIGIN_AUTO, "--facts"},
                 {q->scope != CPUBIND_SCOPE_AUTO, "--scope"},
                 {q->keep_each > 0 || q->keep, "--keep"},
                 {q->n_process > 0, "--processes"},
                 {!q->is_auto_strategy && q->strategy != CPUBIND_TOPO_AFFINITY, "--strategy"},
                 {options->compare, "--compare"},
                 {options->distances, "--distances"},
                 {options->svg != NULL, "--svg"},
                 {options->explain != NULL, "--explain"}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].is_given)
            return given[i].name;
    return NULL;
}

/* == Making ================================================================= */

/* Whether the environment of the host has CPUBIND_RULES=near. */
static int wants_near(const cpubind_source *source, const api_options *options)
{
    const cpubind_input env = source->read(source->ctx, "env");
    const char *const near_word = cpubind_rules_word(CPUBIND_RULES_NEAR);
    cpubind_slice word;
    if (options->request.has_rules)
        return options->request.rules == CPUBIND_RULES_NEAR;
    return env.state == CPUBIND_INPUT_PRESENT &&
           cpubind_env_find(env.data, env.len, "CPUBIND_RULES", &word) == CPUBIND_TEXT_OK &&
           word.len == (int32_t)strlen(near_word) &&
           memcmp(env.data + word.at, near_word, (size_t)word.len) == 0;
}

static const char *status_text(cpubind_status status)
{
    return status == CPUBIND_ERR_EMPTY ? "the CPUs near it are not known, or none is allowed"
                                       : cpubind_status_text(status);
}

static int make_plan(const cpubind_pci_asked *asked, cli_device_plan *out, api_text *why)
{
    cpubind_status status = CPUBIND_ERR_SPACE;
    cpubind_fault fault;
    for (size_t size = (size_t)1 << 20; size <= (size_t)1 << 28; size *= 4) {
        free(out->arena.base);
        out->arena = (cpubind_arena){(char *)malloc(size), size, 0};
        if (!out->arena.base)
            return api_no_room(why);
        status =
            cpubind_pci_make_plan(&out->topo.facts, asked, &out->arena, &out->plan, &fault);
        if (status != CPUBIND_ERR_SPACE)
            break;
    }
    if (status == CPUBIND_OK)
        return API_DONE;
    api_add(why, "there is no plan for these devices: %s", cpubind_status_text(status));
    if (fault.cpu >= 0)
        api_add(why, " (CPU %d)", (int)fault.cpu);
    return API_REFUSED;
}

/* Makes one device the only one that the process sees. Returns whether the host has it among
 * the devices that were read. */
static int see_only(cpubind_pci_facts *f, const cpubind_pci_address *only)
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
                         const cpubind_pci_address *only, cli_topo *out)
{
    cpubind_pci_request asked = options->topo;
    asked.wants_cores = 1;
    asked.named = asked.n_named > 0 ? options->pci : NULL;
    if (only) {
        asked.n_named = 0;
        asked.named = NULL;
    }
    cli_topo_ask(source, &asked, out);
    if (!only || out->status != CPUBIND_PCI_OK || see_only(&out->facts, only))
        return;
    asked.named = only;
    asked.n_named = 1;
    cli_topo_free(out);
    cli_topo_ask(source, &asked, out);
    if (out->status == CPUBIND_PCI_OK)
        (void)see_only(&out->facts, only);
}

int cli_make_devices(const cpubind_source *source, const api_options *options,
                     const cpubind_pci_address *only, cli_device_plan *out, api_text *why)
{
    const cpubind_request *q = &options->request;
    cpubind_pci_asked asked = {.overlap = q->overlap,
                               .roles = {{0, 1, 0, 0}},
                               .limits = {q->allowed, q->n_allowed, q->exclude, q->n_exclude}};
    int status;
    if (options->has_roles)
        asked.roles = options->roles;
    read_devices(source, options, only, &out->topo);
    status = cli_topo_judge(&out->topo, options, why);
    if (status != API_DONE)
        return status;
    asked.strategy = wants_near(source, options) ? CPUBIND_NEAR : CPUBIND_TOPO_AFFINITY;
    return make_plan(&asked, out, why);
}

void cli_free_devices(cli_device_plan *devices)
{
    cli_topo_free(&devices->topo);
    free(devices->arena.base);
    memset(devices, 0, sizeof *devices);
}

int32_t cli_rank_of_devices(const cli_device_plan *d, const api_options *options)
{
    const int32_t rank = options->request.rank;
    if (d->plan.n_pool == 1)
        return 0;
    return rank < d->plan.n_pool ? rank : -1;
}

void cli_explain_device(const cli_device_plan *d, const cpubind_pci_pool *pool, api_text *to)
{
    api_add_pci(to, &d->topo.facts.device[pool->device].pci);
    api_add(to, " has no pool: %s", status_text(pool->why));
    if (pool->why == CPUBIND_ERR_TOO_FEW)
        api_add(to, ": its roles need %d CPUs, it would have %d", (int)pool->fault.need,
                (int)pool->fault.have);
    if (d->topo.facts.device[pool->device].origin == CPUBIND_NODE_ORIGIN_UNKNOWN)
        api_add(to, "; no file of the kernel tells its node");
}

/* == Printing =============================================================== */

static const int32_t *role_of(const cpubind_pci_pool *pool, int role, int32_t *n)
{
    *n = pool->n_cpu > 0 ? pool->roles.span[role].count : 0;
    return *n > 0 ? pool->role_cpu + pool->roles.span[role].first : NULL;
}

static void add_row(api_table *table, const cli_device_plan *d, int32_t rank)
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
        api_cell(table, "%s", cpubind_family_word(device->accelerator.family));
    api_cell_number(table, device->node);
    api_cell_number(table, pool->n_cpu);
    for (int role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        int32_t n;
        const int32_t *cpu = role_of(pool, role, &n);
        api_cell_list(table, cpu, n);
    }
    api_cell_number(table, pool->memory_node);
}

int cli_print_device_table(FILE *out, const cli_device_plan *d, int32_t rank)
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
    return cli_print_table(out, &table);
}

static int print_text(FILE *out, const cli_device_plan *d, const api_options *options)
{
    if (!cli_print_device_table(out, d, -1))
        return 0;
    for (int32_t i = 0; i < d->plan.n_pool; i++) {
        api_text text = {"", 0};
        if (d->plan.pool[i].n_cpu > 0)
            continue;
        cli_explain_device(d, &d->plan.pool[i], &text);
        fprintf(out, "%s\n", text.text);
    }
    if (options->quiet)
        return 1;
    fprintf(out, "\nstrategy %s, overlap: %s, CPUs in no pool: %d",
            d->plan.strategy == CPUBIND_NEAR ? "near" : api_strategy_word(d->plan.strategy),
            api_finding_word(d->plan.overlap), (int)d->plan.quality.idle);
    if (d->plan.n_hidden > 0)
        fprintf(out, ", devices that this process does not see: %d", (int)d->plan.n_hidden);
    fputs("\n", out);
    return 1;
}

static json_t *roles_json(const cpubind_pci_pool *pool)
{
    json_t *json = json_object();
    for (int role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        int32_t n;
        const int32_t *cpu = role_of(pool, role, &n);
        (void)json_object_set_new(json, cpubind_role_word((cpubind_role)role),
                                  cli_list_json(cpu, n));
    }
    return json;
}

static json_t *pool_json(const cli_device_plan *d, int32_t rank)
{
    const cpubind_pci_pool *pool = &d->plan.pool[rank];
    const cpubind_pci_function *device = &d->topo.facts.device[pool->device];
    api_text pci = {"", 0}, why = {"", 0};
    api_add_pci(&pci, &device->pci);
    if (pool->n_cpu == 0)
        cli_explain_device(d, pool, &why);
    return json_pack("{s:i, s:s, s:s, s:s?, s:o, s:o, s:o, s:o, s:s?}", "rank", (int)rank,
                     "pci", pci.text, "family", cpubind_family_word(device->accelerator.family),
                     "product", device->accelerator.product, "node",
                     device->node < 0 ? json_null() : json_integer(device->node), "cpus",
                     cli_list_json(pool->cpu, pool->n_cpu), "roles", roles_json(pool),
                     "memory_node",
                     pool->memory_node < 0 ? json_null() : json_integer(pool->memory_node),
                     "error", pool->n_cpu == 0 ? why.text : NULL);
}

static json_t *plan_json(const cli_device_plan *d)
{
    const cpubind_quality *q = &d->plan.quality;
    json_t *devices = json_array();
    for (int32_t i = 0; devices && i < d->plan.n_pool; i++)
        devices = cli_json_append(devices, pool_json(d, i));
    return json_pack("{s:s, s:s, s:s, s:o, s:i, s:o, s:{s:i, s:i, s:i, s:i, s:i}}", "cpubind",
                     CPUBIND_VERSION, "strategy",
                     d->plan.strategy == CPUBIND_NEAR ? "near"
                                                      : api_strategy_word(d->plan.strategy),
                     "overlap", api_finding_word(d->plan.overlap), "allowed",
                     cli_list_json(d->plan.host.cpu, d->plan.host.n_cpu), "hidden",
                     (int)d->plan.n_hidden, "devices", devices, "quality", "near_cpus",
                     (int)q->near_cpu, "split_cores", (int)q->split_cores, "idle", (int)q->idle,
                     "smallest", (int)q->smallest, "largest", (int)q->largest);
}

/* Prints the ranks for a launcher. */
static int print_launch(FILE *out, cpubind_launch_format format, const cli_device_plan *d,
                        const api_options *options)
{
    const int is_one = options->request.has_rank;
    const int32_t first = is_one ? cli_rank_of_devices(d, options) : 0;
    cpubind_launch launch = {NULL, is_one ? 1 : d->plan.n_pool};
    cpubind_launch_rank *rank =
        (cpubind_launch_rank *)calloc((size_t)launch.n_rank + 1, sizeof *rank);
    api_text why = {"", 0};
    int status = API_DONE;
    if (!rank)
        return cli_no_memory();
    launch.rank = rank;
    for (int32_t i = 0; i < launch.n_rank && status == API_DONE; i++) {
        const cpubind_pci_pool *pool = &d->plan.pool[first + i];
        rank[i] = (cpubind_launch_rank){pool->cpu, pool->n_cpu, NULL, 0, pool->memory_node};
        rank[i].thread = role_of(pool, CPUBIND_ROLE_MAIN, &rank[i].n_thread);
        if (pool->n_cpu > 0)
            continue;
        api_add(&why, "--format %s has a place for each rank, and one rank has no pool: ",
                options->format->word);
        cli_explain_device(d, pool, &why);
        status = cli_fail(options, API_REFUSED, why.text);
    }
    if (status == API_DONE && format == CPUBIND_LAUNCH_SLURM_LDOM)
        for (int32_t i = 0; i < launch.n_rank && status == API_DONE; i++)
            if (rank[i].node < 0)
                status = cli_fail(options, API_REFUSED,
                                  "--format slurm-ldom names a NUMA node for each rank, and "
                                  "this host shows none; use --format slurm");
    if (status == API_DONE) {
        api_out text = {0};
        api_put_ranks(&text, format, &launch);
        if (!cli_print_out(out, &text))
            status = cli_no_memory();
    }
    free(rank);
    return status;
}

int cli_print_devices(FILE *out, const cli_device_plan *d, const api_options *options)
{
    api_text why = {"", 0};
    if (options->request.has_rank && cli_rank_of_devices(d, options) < 0) {
        api_add(&why, "--rank %d is none of the %d devices that this process sees",
                (int)options->request.rank, (int)d->plan.n_pool);
        return cli_fail(options, API_REFUSED, why.text);
    }
    for (int i = 0; i < CPUBIND_LAUNCH_COUNT; i++)
        if (strcmp(options->format->word, cpubind_launch_word((cpubind_launch_format)i)) == 0)
            return print_launch(out, (cpubind_launch_format)i, d, options);
    if (options->json)
        return cli_print_json(out, plan_json(d)) ? API_DONE : cli_no_memory();
    if (strcmp(options->format->word, "text") != 0)
        return cli_fail(options, API_USAGE, "--format map is for NPUs; leave it out");
    return print_text(out, d, options) ? API_DONE : cli_no_memory();
}

int cli_plan_devices(const cpubind_source *source, api_options *options)
{
    cli_device_plan devices = {0};
    api_text why = {"", 0};
    int status = cli_make_devices(source, options, NULL, &devices, &why);
    if (status == API_DONE)
        status = cli_print_devices(stdout, &devices, options);
    else
        status = cli_fail(options, status, why.text);
    cli_free_devices(&devices);
    return status;
}
