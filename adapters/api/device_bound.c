/* device_bound.c - where a live process belongs on an accelerator of any vendor
 * SPDX-License-Identifier: MIT
 *
 * Reads the host and the environment of the process; changes nothing.
 */
#include "device_bound.h"

#include <stdlib.h>
#include <string.h>

#include "../text/cpulist.h"

/* == The host as the process sees it ======================================== */

#define INPUT_STATUS "proc/self/status"

static cpubind_input read_view(void *ctx, const char *name)
{
    const api_process_view *m = (const api_process_view *)ctx;
    const int is_status = strcmp(name, INPUT_STATUS) == 0;
    const int is_env = strcmp(name, "env") == 0;
    const cpubind_source *source = (is_status || is_env) && m->process ? m->process : m->host;
    if (is_env && !m->process)
        return (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
    if (is_status && m->status)
        return (cpubind_input){
            .state = CPUBIND_INPUT_PRESENT, .data = m->status, .len = m->status_len};
    return source->read(source->ctx, name);
}

static cpubind_input list_view(void *ctx, const char *name)
{
    const api_process_view *m = (const api_process_view *)ctx;
    if (strncmp(name, "dev/", 4) == 0 && !m->process)
        return (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
    return m->host->list(m->host->ctx, name);
}

cpubind_source api_process_source(api_process_view *view)
{
    return (cpubind_source){view, read_view, list_view};
}

int api_process_allow(api_process_view *m, const int32_t *cpu, int32_t n)
{
    static const char key[] = "Cpus_allowed_list:\t";
    const int32_t room = n * 6 + 1; /* "65535," at most */
    int32_t len = 0;
    free(m->status);
    m->status = (char *)malloc(sizeof key + (size_t)room);
    if (!m->status)
        return 0;
    memcpy(m->status, key, sizeof key - 1);
    (void)cpubind_cpulist_format(cpu, n, m->status + sizeof key - 1, room, &len);
    m->status_len = (int32_t)sizeof key - 1 + len;
    m->status[m->status_len++] = '\n';
    return 1;
}

/* == The goal =============================================================== */

void api_device_goal(const api_options *o, const cpubind_unit *pool, const char *rules,
                     const cpubind_pci_function *device, cpubind_thread_rule *rule,
                     api_bound *bound)
{
    const cpubind_goal_pool its = {.cpu = pool->role_cpu, .roles = pool->roles};
    const cpubind_cpus ascending = {pool->cpu, pool->n_cpu}, none = {NULL, 0};
    cpubind_goal *goal = &bound->goal;
    *goal = (cpubind_goal){.device = -1, .memory_node = -1, .no_irq = CPUBIND_IRQ_NO_ROLE};
    goal->rules = rules;
    goal->main = cpubind_goal_cpus_of_role(&its, CPUBIND_ROLE_MAIN);
    goal->rule = rule;
    goal->n_rule = o->n_wish;
    for (int32_t i = 0; i < o->n_wish; i++)
        rule[i] = (cpubind_thread_rule){
            o->wish[i].name, cpubind_goal_cpus_of_wish(&its, ascending, none, &o->wish[i]),
            o->wish[i].kind == CPUBIND_WISH_LEAVE};
    if (!device)
        return;
    (void)cpubind_pci_format(goal->pci, &device->pci);
    bound->product = device->accelerator.product;
}
