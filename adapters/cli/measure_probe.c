/* measure_probe.c - measure --probe: made workers on the devices of a plan
 * SPDX-License-Identifier: MIT
 */
#include "measure_probe.h"

#include <stdlib.h>
#include <string.h>

#include "../api/device_plan.h"
#include "output.h"

/* For copying, and for loads, of each pair of nodes. */
#define CELL_MS 50

/* == Workers ================================================================ */

/* Takes CPUs into the memory of the probe. */
static cpubind_cpus take(cli_probe *p, const int32_t *cpu, int32_t n)
{
    const cpubind_cpus taken = {p->cpu + p->n_cpu, n};
    if (n > 0)
        memcpy(p->cpu + p->n_cpu, cpu, (size_t)n * sizeof *cpu);
    p->n_cpu += n;
    return taken;
}

/* The CPUs of a role; those of main where the pool lacks it. */
static cpubind_cpus role_of(cli_probe *p, const api_row *row, cpubind_role role)
{
    int32_t n;
    const int32_t *cpu = api_role_of(row, role, &n);
    if (n == 0)
        cpu = api_role_of(row, CPUBIND_ROLE_MAIN, &n);
    return take(p, cpu, n);
}

static void add_row(cli_probe *p, int32_t side, const api_row *row)
{
    if (row->n == 0 || p->n_worker == CPUBIND_PROBE_WORKERS)
        return;
    p->worker[side][p->n_worker++] =
        (cpubind_probe_worker){.main = role_of(p, row, CPUBIND_ROLE_MAIN),
                               .acl = role_of(p, row, CPUBIND_ROLE_ACL),
                               .release = role_of(p, row, CPUBIND_ROLE_RELEASE),
                               .timer = role_of(p, row, CPUBIND_ROLE_IRQ),
                               .node = p->n_node > 1 ? row->memory_node : -1};
}

/* Adds a worker for each device of a plan by rules. Returns 0 when there is no plan. */
static int add_devices(cli_probe *p, const cpubind_source *source, int32_t side,
                       cpubind_rules rules)
{
    static api_options options;
    static api_planned planned; /* a thread may have 64 KiB of stack */
    static api_text why;
    int has_plan;
    options = *p->options;
    options.request.rules = rules;
    options.request.has_rules = 1;
    p->n_worker = 0;
    has_plan = api_plan(source, &options, &planned, &why) == API_DONE;
    for (int32_t i = 0; has_plan && i < planned.plan.n_unit; i++) {
        const api_row row = api_shown(&planned.facts, &planned.plan, i);
        add_row(p, side, &row);
    }
    api_free_planned(&planned);
    return p->n_worker > 0;
}

/* A worker for each node: main on all of its CPUs but the last one, which the other roles
 * have. */
static void add_nodes(cli_probe *p, int32_t side)
{
    p->n_worker = 0;
    for (int32_t i = 0; i < p->n_node; i++) {
        const cpubind_cpus all = p->node[i].cpus;
        const cpubind_cpus last = {all.cpu + all.n - 1, 1};
        p->worker[side][p->n_worker++] =
            (cpubind_probe_worker){.main = {all.cpu, all.n > 1 ? all.n - 1 : 1},
                                   .acl = last,
                                   .release = last,
                                   .timer = {all.cpu, 1},
                                   .node = p->n_node > 1 ? p->node[i].node : -1};
    }
}

/* Workers that may use all CPUs, as many as on the other side. */
static void unbind(cli_probe *p, int32_t side)
{
    for (int32_t i = 0; i < p->n_worker; i++)
        p->worker[side][i] = (cpubind_probe_worker){.node = -1};
}

/* == Opening ================================================================ */

static void warn(json_t *warnings, const api_options *options, const char *text)
{
    (void)json_array_append_new(warnings, cli_json_text(text));
    if (!options->json && !options->quiet)
        fprintf(stderr, "cpubind: warning: %s\n", text);
}

/* Takes the nodes, and how much noise there is: half as many threads of each kind as CPUs. */
static void take_nodes(cli_probe *p, const cpubind_facts *facts)
{
    const int32_t n = facts->n_cpu > 1 ? facts->n_cpu / 2 : 1;
    const uint32_t noise = p->options->noise;
    for (int32_t i = 0; i < facts->n_node && p->n_node < CLI_PROBE_NODES; i++) {
        const int32_t first = p->n_cpu;
        for (int32_t k = 0; k < facts->n_cpu; k++)
            if (facts->node[k] == facts->node_id[i])
                (void)take(p, &facts->cpu[k], 1);
        if (p->n_cpu > first)
            p->node[p->n_node++] =
                (cpubind_probe_node){facts->node_id[i], {p->cpu + first, p->n_cpu - first}};
    }
    p->noise = (cpubind_probe_noise){.n_cpu = noise & API_NOISE_CPU ? n : 0,
                                     .n_memory = noise & API_NOISE_MEMORY ? p->n_node : 0,
                                     .n_irq = noise & API_NOISE_IRQ ? 1 : 0};
}

/* Makes the workers of both sides. Returns 0, with the reason in *why, when a side has none. */
static int make_sides(cli_probe *p, const cpubind_source *source, const api_side side[2],
                      json_t *warnings, api_text *why)
{
    int is_bound[2] = {0, 0}, has_devices = 1;
    for (int32_t i = 0; i < 2; i++) {
        if (side[i] < API_SIDE_NEAR)
            continue;
        is_bound[i] = 1;
        if (add_devices(p, source, i,
                        side[i] == API_SIDE_NEAR ? CPUBIND_RULES_NEAR
                                                 : CPUBIND_RULES_REFERENCE))
            continue;
        if (side[i] == API_SIDE_REFERENCE) {
            api_add(why, "there is no plan by the rules reference for this host; leave it out "
                         "of --between");
            return 0;
        }
        add_nodes(p, i);
        has_devices = 0;
    }
    if (!is_bound[0] && !is_bound[1]) {
        add_nodes(p, 0);
        has_devices = 0;
    }
    for (int32_t i = 0; i < 2; i++)
        if (!is_bound[i])
            unbind(p, i);
    if (!has_devices)
        warn(warnings, p->options,
             "there is no plan of devices here: a made worker for each node has its CPUs, and "
             "the last of them for its ACL and release threads");
    return 1;
}

int cli_probe_open(const api_options *options, const api_side side[2], cli_probe *out,
                   json_t *warnings)
{
    enum { LISTS = 10 }; /* of CPUs: those of nodes, and of four roles on two sides */
    api_host host = {0};
    api_planned read = {0};
    api_text why = {"", 0};
    const char *text;
    int status = cli_open_host(options, &host, &why);
    *out = (cli_probe){.options = options};
    if (status == API_DONE) {
        api_read_devices(&host.source, options, &read);
        if (read.code != CPUBIND_PROBLEM_NONE || read.facts.n_cpu == 0) {
            api_add(&why, "the CPUs and nodes of this host could not be read");
            status = API_UNREADABLE;
        }
    }
    if (status == API_DONE) {
        out->cpu =
            malloc((size_t)read.facts.n_cpu * LISTS * CPUBIND_PROBE_WORKERS * sizeof *out->cpu);
        if (!out->cpu)
            status = api_no_room(&why);
    }
    if (status == API_DONE) {
        take_nodes(out, &read.facts);
        if (!make_sides(out, &host.source, side, warnings, &why))
            status = API_REFUSED;
    }
    for (int32_t i = 0;
         status == API_DONE &&
         (text = cpubind_probe_cannot(read.facts.n_cpu, out->n_node, out->n_worker, i));
         i++)
        warn(warnings, options, text);
    api_free_planned(&read);
    api_close_host(&host);
    return status == API_DONE ? API_DONE : cli_fail(options, status, why.text);
}

/* == Measuring ============================================================== */

int cli_probe_block(void *ctx, int32_t side, const cpubind_schedule *schedule,
                    cpubind_figures *out)
{
    cli_probe *p = ctx;
    char text[80];
    const cpubind_probe_block block = {.worker = p->worker[side],
                                       .n_worker = p->n_worker,
                                       .noise = p->noise,
                                       .warm_ms = (int32_t)schedule->settle_ms,
                                       .time_ms = (int32_t)schedule->block_ms,
                                       .is_over = p->stop};
    (void)snprintf(text, sizeof text, "cpubind: measuring: block %d of %d", (int)++p->block,
                   (int)schedule->n_block);
    cli_progress(p->options, text);
    p->fault = cpubind_probe_run(&cpubind_sys_real, &block, out);
    return !p->fault.error;
}

static json_t *row_json(const cli_probe *p, const cpubind_probe_cell *cell, int is_copy)
{
    json_t *row = json_array();
    for (int32_t k = 0; k < p->n_node; k++)
        row = cli_json_append(
            row, cell[k].not_measured
                     ? json_null()
                     : json_real(is_copy ? cell[k].copy_mb_s : cell[k].latency_ns));
    return row;
}

json_t *cli_probe_matrix(cli_probe *p)
{
    json_t *nodes = json_array(), *copy = json_array(), *latency = json_array();
    cpubind_probe_cell *cell = calloc((size_t)p->n_node * (size_t)p->n_node, sizeof *cell);
    const cpubind_probe_matrix matrix = {
        .node = p->node, .n = p->n_node, .time_ms = CELL_MS, .is_over = p->stop, .cell = cell};
    json_t *all = NULL;
    if (cell && !cpubind_probe_nodes(&cpubind_sys_real, &matrix).error) {
        for (int32_t i = 0; i < p->n_node; i++) {
            const cpubind_probe_cell *row = cell + (size_t)i * (size_t)p->n_node;
            nodes = cli_json_append(nodes, json_integer(p->node[i].node));
            copy = cli_json_append(copy, row_json(p, row, 1));
            latency = cli_json_append(latency, row_json(p, row, 0));
        }
        all = json_pack("{s:O, s:O, s:O}", "nodes", nodes, "copy_mb_s", copy, "latency_ns",
                        latency);
    }
    json_decref(nodes);
    json_decref(copy);
    json_decref(latency);
    free(cell);
    return all ? all : json_null();
}

void cli_probe_close(cli_probe *p)
{
    free(p->cpu);
    p->cpu = NULL;
}
