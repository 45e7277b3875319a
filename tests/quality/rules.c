/* rules.c - the pools of a host by a rule of the core, and how good any pools are
 * SPDX-License-Identifier: MIT
 *
 * Must not be clever: every device is planned by a call of its own, in buffers of exactly the
 * size that cpubind.h names.
 */
#include "rules.h"

#include <stdio.h>

#include "../support/exact_buffer.h"

static void must(cpubind_status status, const char *what)
{
    if (status == CPUBIND_OK)
        return;
    fprintf(stderr, "rules.c: %s: %s\n", what, cpubind_status_name(status));
    exit(2);
}

static int32_t n_affinity(const cpubind_devices *devices)
{
    return devices->affinity.row ? devices->affinity.row[devices->affinity.n] : 0;
}

/* == Pools ================================================================== */

rules_pools rules_start(const cpubind_host *host, const cpubind_devices *devices)
{
    rules_pools p = {.cpu = edge_ints(devices->affinity.n * host->n_cpu),
                     .row = edge_ints(devices->affinity.n + 1)};
    p.row[0] = 0;
    return p;
}

void rules_add(rules_pools *pools, const int32_t *cpu, int32_t n)
{
    const int32_t first = pools->row[pools->n];
    if (n > 0)
        memcpy(pools->cpu + first, cpu, (size_t)n * sizeof *cpu);
    pools->row[++pools->n] = first + n;
}

void rules_free(rules_pools *pools)
{
    free(pools->cpu);
    free(pools->row);
}

/* == A rule of the core ===================================================== */

static cpubind_trace start_trace(const cpubind_host *host, const cpubind_devices *devices)
{
    const int32_t n = devices->affinity.n;
    cpubind_trace r = {.owner = edge_ints(host->n_cpu),
                       .step = edge_ints(host->n_cpu),
                       .group = edge_ints(host->n_cpu),
                       .cap_row = CPUBIND_TRACE_ROWS(host->n_cpu, host->n_node, n),
                       .cap_device =
                           CPUBIND_TRACE_DEVICES(host->n_node, n, n_affinity(devices))};
    r.row = edge_ints(r.cap_row);
    r.device = edge_ints(r.cap_device);
    return r;
}

static void free_trace(cpubind_trace *r)
{
    free(r->owner);
    free(r->step);
    free(r->group);
    free(r->row);
    free(r->device);
}

static void add_placed(const cpubind_host *host, const cpubind_devices *devices,
                       const cpubind_policy *policy, int32_t device, const cpubind_plan *plan,
                       rules_pools *out)
{
    cpubind_placing p = {.cpu = plan->cpu,
                         .n_cpu = plan->row[1],
                         .device = device,
                         .is_near = policy->strategy == CPUBIND_NEAR,
                         .roles = policy->roles,
                         .out_cpu = edge_ints(plan->row[1]),
                         .cap_work = CPUBIND_PLACE_WORK(plan->row[1], host->n_node)};
    p.work = edge_ints(p.cap_work);
    must(cpubind_place_roles(host, devices, &p, NULL), "cpubind_place_roles");
    rules_add(out, p.out_cpu, p.n_out);
    free(p.out_cpu);
    free(p.work);
}

static int32_t is_refusal(cpubind_status status)
{
    return status == CPUBIND_ERR_EMPTY || status == CPUBIND_ERR_TOO_FEW ||
           status == CPUBIND_ERR_SPREAD || status == CPUBIND_ERR_CLUSTERS;
}

rules_pools rules_make(const cpubind_host *host, const cpubind_devices *devices,
                       const cpubind_policy *policy)
{
    const int32_t n = devices->affinity.n;
    rules_pools out = rules_start(host, devices);
    cpubind_trace trace = start_trace(host, devices);
    cpubind_plan plan = {
        .n_want = 1,
        .cap_cpu = CPUBIND_PLAN_CPUS(host->n_cpu),
        .cap_work = CPUBIND_PLAN_WORK_NEAR(host->n_cpu, host->n_node, n, n_affinity(devices)),
        .trace = &trace};
    plan.cpu = edge_ints(plan.cap_cpu);
    plan.row = edge_ints(2);
    plan.work = edge_ints(plan.cap_work);
    for (int32_t d = 0; d < n; d++) {
        cpubind_status status;
        plan.want = &d;
        status = cpubind_make_plan(host, devices, policy, &plan, NULL);
        if (is_refusal(status)) {
            rules_add(&out, NULL, 0);
            continue;
        }
        must(status, "cpubind_make_plan");
        add_placed(host, devices, policy, d, &plan, &out);
        memset(out.by_step, 0, sizeof out.by_step);
        out.n_hidden = 0;
        for (int32_t i = 0; i < host->n_cpu; i++) {
            out.by_step[trace.step[i]] += trace.owner[i] >= 0;
            out.n_hidden += trace.owner[i] < 0 && trace.step[i] == CPUBIND_STEP_SLICE;
        }
    }
    free(plan.cpu);
    free(plan.row);
    free(plan.work);
    free_trace(&trace);
    return out;
}

/* == Figures ================================================================ */

rules_figures rules_measure(const cpubind_host *host, const cpubind_devices *devices,
                            const cpubind_role_spec *roles, const rules_pools *pools)
{
    const int32_t n_irq = roles->count[CPUBIND_ROLE_IRQ];
    const cpubind_lists lists = {pools->cpu, pools->row, pools->n};
    int32_t *work = edge_ints(CPUBIND_MEASURE_WORK(host->n_cpu, host->n_node));
    rules_figures f;
    cpubind_quality q;
    must(cpubind_measure(host, devices, lists, n_irq, work, &q, NULL, NULL), "cpubind_measure");
    free(work);
    memset(&f, 0, sizeof f);
    f.n_cpu = q.n_cpu;
    f.near_cpu = q.near_cpu;
    f.far = q.far_cpu;
    f.split = q.split_cores;
    f.idle = q.idle - pools->n_hidden;
    f.smallest = q.smallest;
    f.largest = q.largest;
    f.refused = pools->n - q.n_pool;
    f.irq_off = q.irq_off_node + n_irq * f.refused;
    f.npus_off = q.n_pool_off_node + f.refused;
    return f;
}

const char *rules_worse(const rules_figures *near, const rules_figures *other)
{
    if (near->refused != other->refused)
        return near->refused > other->refused ? "refused" : NULL;
    if (near->split > other->split)
        return "cores split";
    return near->irq_off > other->irq_off ? "IRQ CPUs off their node" : NULL;
}
