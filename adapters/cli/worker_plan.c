/* worker_plan.c - plan --cpu-workers: CPUs for workers that drive no device
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing. Decides nothing about CPUs: ../plan/cpu_workers.h shares them.
 */
#include "worker_plan.h"

#include <stdlib.h>
#include <string.h>

#include "../plan/cpu_workers.h"
#include "../text/cpulist.h"
#include "output.h"

typedef struct worker_plan {
    api_planned read; /* the facts of the host */
    uint8_t *is_free; /* by the CPUs of the facts */
    cpubind_arena arena;
    cpubind_workers workers;
} worker_plan;

/* == Which CPUs are free ==================================================== */

/* Takes CPUs, which ascend. */
static void take(worker_plan *w, const int32_t *cpu, int32_t n)
{
    const cpubind_topology *host = &w->read.facts.host;
    for (int32_t i = 0, at = 0; i < host->n_cpu; i++)
        if (cpubind_list_has(cpu, n, host->cpu[i], &at))
            w->is_free[i] = 0;
}

/* Takes the CPUs of the pools of all devices, those of an engine beside them, those that are
 * kept and those for UVB threads. */
static void take_plan(worker_plan *w, const cpubind_device_plan *plan)
{
    for (int32_t i = 0; plan->owner && i < plan->host.n_cpu; i++)
        if (plan->owner[i] >= 0)
            take(w, &plan->host.cpu[i], 1);
    for (int32_t i = 0; i < plan->n_beside; i++)
        take(w, plan->beside[i].cpu, plan->beside[i].n_cpu);
    take(w, plan->kept, plan->n_kept);
    take(w, plan->spare, plan->n_spare);
}

/* Takes what devices have. A host without any has no plan of them. */
static int take_devices(const cpubind_source *source, const api_options *options,
                        worker_plan *w)
{
    api_options of_devices = *options;
    api_planned planned = {0};
    api_text why = {"", 0};
    int status;
    of_devices.request.workers.is_asked = 0;
    status = api_plan(source, &of_devices, &planned, &why);
    if (status == API_DONE)
        take_plan(w, &planned.plan);
    else if (why.len > 0)
        status = cli_fail(options, status, why.text);
    else
        status = planned.code == CPUBIND_PROBLEM_NO_NPU_SMI && w->read.facts.n_bus == 0
                     ? API_DONE
                     : cli_refuse(options, &planned);
    api_free_planned(&planned);
    return status;
}

static int find_free(const cpubind_source *source, api_options *options, worker_plan *w)
{
    const cpubind_request *q = &options->request;
    const cpubind_facts *f = &w->read.facts;
    api_text why = {"", 0};
    options->topo.wants_cores = 1;
    api_read_devices(source, options, &w->read);
    if (w->read.code != CPUBIND_PROBLEM_NONE) {
        const int status = api_judge_devices(&w->read, options, &why);
        return cli_fail(options, status, why.text);
    }
    w->is_free = (uint8_t *)malloc((size_t)f->host.n_cpu + 1);
    if (!w->is_free)
        return cli_no_memory();
    memset(w->is_free, 1, (size_t)f->host.n_cpu + 1);
    if (options->cpu_nodes.n == 0) {
        const int status = take_devices(source, options, w);
        if (status != API_DONE)
            return status;
    }
    take(w, q->exclude, q->n_exclude);
    for (int32_t i = 0, at = 0; q->allowed && i < f->host.n_cpu; i++)
        w->is_free[i] = (uint8_t)(w->is_free[i] && cpubind_list_has(q->allowed, q->n_allowed,
                                                                    f->host.cpu[i], &at));
    return API_DONE;
}

/* == Sharing ================================================================ */

static int refuse(const api_options *o, const worker_plan *w, cpubind_workers_status status)
{
    api_text why = {"", 0};
    switch (status) {
    case CPUBIND_WORKERS_NO_NODE:
        api_add(&why, "cpu-nodes names node %d, which has no CPU that is free and allowed",
                (int)w->workers.n_worker);
        break;
    case CPUBIND_WORKERS_NO_CPUS:
        api_add(&why,
                "the plan of the accelerators leaves no whole core: name the nodes of the "
                "CPU workers with -o cpu-nodes=LIST, and give the accelerators' workers "
                "-o exclude=LIST with their CPUs");
        break;
    case CPUBIND_WORKERS_TOO_MANY:
        api_add(&why, "--cpu-workers %d: only %d cores are free, and no core has two workers",
                (int)o->request.workers.n_worker, (int)w->workers.n_core);
        break;
    case CPUBIND_WORKERS_RESERVED:
        api_add(&why, "reserve leaves a worker no CPU: reserve fewer, or have fewer workers");
        break;
    default:
        return cli_no_memory();
    }
    return cli_fail(o, API_REFUSED, why.text);
}

static int share(const api_options *o, worker_plan *w)
{
    cpubind_workers_status status = CPUBIND_WORKERS_NO_MEMORY;
    for (size_t size = (size_t)1 << 20;
         status == CPUBIND_WORKERS_NO_MEMORY && size <= (size_t)1 << 28; size *= 4) {
        free(w->arena.base);
        w->arena = (cpubind_arena){(char *)malloc(size), size, 0};
        if (!w->arena.base)
            break;
        status = cpubind_cpu_workers(&w->read.facts.host, w->is_free, &o->request.workers,
                                     &w->arena, &w->workers);
    }
    return status == CPUBIND_WORKERS_OK ? API_DONE : refuse(o, w, status);
}

/* == Printing =============================================================== */

static const words_view text_view[] = {
    {WORDS_TABLE, "workers", "worker size=CPUs cpus=list nodes"}, {0}};

static words_value *make_report(const api_options *o, const worker_plan *w)
{
    words_value *array = words_array();
    for (int32_t i = 0; i < w->workers.n_worker; i++) {
        const cpubind_cpu_worker *worker = &w->workers.worker[i];
        words_value *row = words_make("worker:i cpus:v nodes:v", (int)i,
                                      words_list(worker->cpu, worker->n_cpu),
                                      words_list(worker->node, worker->n_node));
        if (!o->json)
            words_set(row, "size", words_number(worker->n_cpu));
        words_add(array, row);
    }
    return words_make("cpubind:s workers:v", CPUBIND_VERSION, array);
}

/* A worker of several nodes takes memory from any: a launcher has one node for each rank. */
static int print_launch(const api_options *o, cpubind_launch_format format,
                        const worker_plan *w)
{
    const int32_t n = w->workers.n_worker;
    cpubind_launch_rank *rank = (cpubind_launch_rank *)calloc((size_t)n + 1, sizeof *rank);
    cpubind_launch launch = {rank, n};
    api_out text = {0};
    api_text why = {"", 0};
    int is_placed = 1;
    if (!rank)
        return cli_no_memory();
    for (int32_t i = 0; i < n; i++) {
        const cpubind_cpu_worker *worker = &w->workers.worker[i];
        rank[i] = (cpubind_launch_rank){
            worker->cpu,
            worker->n_cpu,
            worker->cpu,
            worker->n_cpu,
            api_most_threads(&w->read.facts, worker->n_cpu),
            worker->n_node == 1 && w->read.facts.has_nodes ? worker->node[0] : -1};
        is_placed &= rank[i].node >= 0;
    }
    if (format == CPUBIND_LAUNCH_SLURM_LDOM && !is_placed) {
        free(rank);
        return cli_fail(o, API_REFUSED,
                        "--format slurm-ldom names one node for each worker, and one has "
                        "several or none; use --format slurm");
    }
    if (!o->request.has_rank && !api_is_for_ranks(cpubind_launch_word(format), n, &why)) {
        free(rank);
        return cli_fail(o, API_REFUSED, why.text);
    }
    if (o->request.has_rank) {
        launch.rank = &rank[o->request.rank < n ? o->request.rank : 0];
        launch.n_rank = 1;
    }
    api_put_ranks(&text, format, &launch);
    free(rank);
    return cli_print_out(stdout, &text) ? API_DONE : cli_no_memory();
}

static int print(const api_options *o, const worker_plan *w)
{
    if (o->request.has_rank && o->request.rank >= w->workers.n_worker) {
        api_text why = {"", 0};
        api_add(&why, "--rank %d is none of the %d workers", (int)o->request.rank,
                (int)w->workers.n_worker);
        return cli_fail(o, API_REFUSED, why.text);
    }
    for (int i = 0; i < CPUBIND_LAUNCH_COUNT; i++)
        if (strcmp(o->format->word, cpubind_launch_word((cpubind_launch_format)i)) == 0)
            return print_launch(o, (cpubind_launch_format)i, w);
    if (!o->json && strcmp(o->format->word, "text") != 0)
        return cli_fail(o, API_USAGE, "--format map is about devices; leave it out");
    return cli_print_report(o, text_view, make_report(o, w));
}

int cli_plan_workers(const cpubind_source *source, api_options *options)
{
    static worker_plan w;
    int status = find_free(source, options, &w);
    if (status == API_DONE)
        status = share(options, &w);
    if (status == API_DONE)
        status = print(options, &w);
    api_free_planned(&w.read);
    free(w.is_free);
    free(w.arena.base);
    return status;
}
