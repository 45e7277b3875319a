/* run.h - a plan with its trace, in buffers of exactly the stated sizes
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_RUN_H
#define CPUBIND_TESTS_RUN_H

#include "../../adapters/cpubind_old.h"
#include "../support/exact_buffer.h"

typedef struct run {
    cpubind_plan plan; /* without want and trace: a run may be copied */
    cpubind_trace trace;
    cpubind_fault fault;
    cpubind_status status;
} run;

static inline int32_t run_length(const cpubind_lists *lists)
{
    return lists->row && lists->n > 0 ? lists->row[lists->n] : 0;
}

/* Plans for the n_want devices of `want`; NULL: for all. cap_cpu: elements of plan.cpu; -1: as
 * many as the header says. */
static inline run run_make_into(const cpubind_host *host, const cpubind_devices *devices,
                                const cpubind_policy *policy, const int32_t *want,
                                int32_t n_want, int32_t cap_cpu)
{
    const int32_t n_cpu = host->n_cpu, n_node = host->n_node, n = devices->affinity.n;
    const int32_t n_row = want ? n_want : n;
    const int32_t n_near = run_length(&devices->affinity);
    const int32_t n_list = run_length(&devices->allowed);
    run r;
    memset(&r, EDGE_FILL, sizeof r);
    r.plan.want = want;
    r.plan.n_want = want ? n_want : 0;
    r.plan.cap_work = policy->strategy == CPUBIND_NEAR
                          ? CPUBIND_PLAN_WORK_NEAR(n_cpu, n_node, n, n_near + n_list)
                          : CPUBIND_PLAN_WORK(n_cpu, n_node, n, n_near + n_list);
    if (devices->allowed.n > 0)
        r.plan.cap_work = CPUBIND_PLAN_WORK_ALLOWED(r.plan.cap_work, n_cpu, n, n_list);
    r.plan.cap_cpu = cap_cpu >= 0 ? cap_cpu
                     : policy->overlap == CPUBIND_OVERLAP_KEEP
                         ? CPUBIND_PLAN_CPUS_KEEP(n_cpu, n_row)
                         : CPUBIND_PLAN_CPUS(n_cpu);
    r.plan.cpu = edge_ints(r.plan.cap_cpu);
    r.plan.row = edge_ints(n_row + 1);
    r.plan.work = edge_ints(r.plan.cap_work);
    r.trace.owner = edge_ints(n_cpu);
    r.trace.step = edge_ints(n_cpu);
    r.trace.group = edge_ints(n_cpu);
    r.trace.cap_row = CPUBIND_TRACE_ROWS(n_cpu, n_node, n);
    r.trace.cap_device = CPUBIND_TRACE_DEVICES(n_node, n, n_near + n_list);
    r.trace.row = edge_ints(r.trace.cap_row);
    r.trace.device = edge_ints(r.trace.cap_device);
    r.plan.trace = &r.trace;
    r.status = cpubind_make_plan(host, devices, policy, &r.plan, &r.fault);
    r.plan.trace = NULL;
    r.plan.want = NULL;
    return r;
}

static inline run run_make(const cpubind_host *host, const cpubind_devices *devices,
                           const cpubind_policy *policy, const int32_t *want, int32_t n_want)
{
    return run_make_into(host, devices, policy, want, n_want, -1);
}

static inline void run_end(run *r)
{
    free(r->plan.cpu);
    free(r->plan.row);
    free(r->plan.work);
    free(r->trace.owner);
    free(r->trace.step);
    free(r->trace.group);
    free(r->trace.row);
    free(r->trace.device);
}

#endif
