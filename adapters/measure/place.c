/* place.c - workers on one side of a measurement or the other, and back as they were found
 * SPDX-License-Identifier: MIT
 */
#include "place.h"

#include <errno.h>

#include "../linux/kernel/bytes.h"

/* The CPUs of the first thread, as one number. */
static uint64_t look(cpubind_placed *w)
{
    const cpubind_cpus now = cpubind_bind_now(w->binding);
    return cpubind_sum(CPUBIND_SUM, now.cpu, (size_t)now.n * sizeof *now.cpu);
}

cpubind_linux_status cpubind_place_open(cpubind_placed *worker, int32_t n,
                                        const cpubind_bind_options *how, const cpubind_sys *sys,
                                        cpubind_place_fault *why)
{
    for (int32_t i = 0; i < n; i++) {
        cpubind_bind_options one = *how;
        cpubind_linux_status status;
        one.pid = worker[i].pid;
        why->at = i;
        status = cpubind_bind_open(&one, sys, &worker[i].binding, &why->fault);
        worker[i].is_gone =
            (status == CPUBIND_LINUX_ERR_GONE && why->fault.error == ESRCH) ||
            (status == CPUBIND_LINUX_OK && !cpubind_bind_is_alive(worker[i].binding));
        if (status == CPUBIND_LINUX_OK || worker[i].is_gone)
            continue;
        cpubind_place_close(worker, i);
        return status;
    }
    return CPUBIND_LINUX_OK;
}

static cpubind_linux_status place(cpubind_placed *w, const cpubind_goal *goal,
                                  cpubind_linux_fault *fault)
{
    cpubind_linux_status status;
    if (w->is_gone)
        return CPUBIND_LINUX_OK;
    cpubind_bind_measure(w->binding, goal != w->found);
    status = goal ? cpubind_bind_apply(w->binding, goal, fault)
                  : cpubind_bind_restore(w->binding, fault);
    w->is_gone = status == CPUBIND_LINUX_ERR_GONE || !cpubind_bind_is_alive(w->binding);
    return w->is_gone ? CPUBIND_LINUX_OK : status;
}

cpubind_linux_status cpubind_place_all(cpubind_placed *worker, int32_t n, int32_t side,
                                       cpubind_place_fault *why)
{
    for (int32_t i = 0; i < n; i++) {
        const cpubind_linux_status status =
            place(&worker[i], worker[i].goal[side], &why->fault);
        why->at = i;
        if (status != CPUBIND_LINUX_OK)
            return status;
        if (!worker[i].is_gone)
            worker[i].seen = look(&worker[i]);
    }
    return CPUBIND_LINUX_OK;
}

int cpubind_place_is_disturbed(cpubind_placed *worker, int32_t n)
{
    int is_disturbed = 0;
    for (int32_t i = 0; i < n; i++) {
        if (worker[i].is_gone || worker[i].seen == look(&worker[i]))
            continue;
        worker[i].is_gone = !cpubind_bind_is_alive(worker[i].binding);
        is_disturbed |= !worker[i].is_gone;
    }
    return is_disturbed;
}

cpubind_linux_status cpubind_place_back(cpubind_placed *worker, int32_t n,
                                        cpubind_place_fault *why)
{
    cpubind_linux_status first = CPUBIND_LINUX_OK;
    for (int32_t i = 0; i < n; i++) {
        cpubind_placed *w = &worker[i];
        cpubind_linux_fault fault = {.what = ""};
        cpubind_linux_status status = place(w, w->found, &fault);
        if (w->is_gone && w->binding)
            status = cpubind_bind_restore(w->binding, &fault);
        if (status == CPUBIND_LINUX_OK || first != CPUBIND_LINUX_OK)
            continue;
        first = status;
        *why = (cpubind_place_fault){fault, i};
    }
    return first;
}

void cpubind_place_close(cpubind_placed *worker, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        cpubind_bind_close(worker[i].binding);
        worker[i].binding = NULL;
    }
}
