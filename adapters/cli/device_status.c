/* device_status.c - status of a host of accelerators of any vendor
 * SPDX-License-Identifier: MIT
 *
 * Reads the host and its processes; changes and prints nothing but errors. Who uses a device is
 * found by ../host/host_users.h.
 */
#include "device_status.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../text/cpulist.h"

#define INPUT_ONLINE "sys/devices/system/cpu/online"

int32_t cli_list_online(const cpubind_source *source, int32_t *cpu)
{
    const cpubind_input online = source->read(source->ctx, INPUT_ONLINE);
    cpubind_int_list list = {cpu, CPUBIND_MAX_CPUS, 0};
    return online.state == CPUBIND_INPUT_PRESENT &&
                   cpubind_cpulist_parse(online.data, online.len, CPUBIND_MAX_CPUS, &list,
                                         NULL) == CPUBIND_TEXT_OK
               ? list.n
               : 0;
}

/* == The plan =============================================================== */

/* Writes the CPUs that the plan is cut from. Returns their number; 0: not known. */
static int32_t choose_cpus(const api_options *options, const cpubind_source *source,
                           const cpubind_workers *workers, int32_t *cpu)
{
    char *is_allowed = (char *)calloc(CPUBIND_MAX_CPUS, 1);
    int32_t n = 0;
    for (int32_t i = 0; is_allowed && i < workers->n; i++)
        for (int32_t k = 0; k < workers->row[i].allowed.n; k++)
            is_allowed[workers->row[i].allowed.cpu[k]] = 1;
    for (int32_t i = 0; options->request.allowed && i < options->request.n_allowed; i++)
        cpu[n++] = options->request.allowed[i];
    for (int32_t i = 0; is_allowed && !options->request.allowed && i < CPUBIND_MAX_CPUS; i++)
        if (is_allowed[i])
            cpu[n++] = i;
    free(is_allowed);
    return n > 0 ? n : cli_list_online(source, cpu);
}

/* Makes the goal of each device from its pool. */
static int make_goals(cli_status *s)
{
    const cpubind_pci_plan *plan = &s->devices.plan;
    const int32_t n = s->devices.topo.facts.n_device;
    s->goal = (cpubind_goal *)calloc((size_t)n + 1, sizeof *s->goal);
    if (!s->goal)
        return cli_no_memory();
    for (int32_t i = 0; i < n; i++) {
        s->goal[i] = (cpubind_goal){.npu = -1, .memory_node = -1};
        s->goal[i].no_irq = CPUBIND_IRQ_NO_ROLE;
        (void)cpubind_pci_format(s->goal[i].pci, &s->devices.topo.facts.device[i].pci);
    }
    for (int32_t i = 0; i < n; i++) {
        const cpubind_pci_pool *pool = &plan->of_device[i];
        const cpubind_span main = pool->roles.span[CPUBIND_ROLE_MAIN];
        if (pool->device < 0 || pool->n_cpu == 0)
            continue;
        s->goal[i].main = (cpubind_cpus){pool->role_cpu + main.first, main.count};
        s->goal[i].memory_node = pool->memory_node;
    }
    return API_DONE;
}

int cli_look_at_devices(const api_options *options, const cpubind_source *source, cli_status *s)
{
    api_process_view view = {.host = source};
    const cpubind_source seen = api_process_source(&view);
    int32_t *cpu = (int32_t *)malloc(CPUBIND_MAX_CPUS * sizeof *cpu);
    api_text why = {"", 0};
    int32_t n;
    int status = API_DONE;
    if (!cpu)
        return cli_no_memory();
    api_topo_read(&seen, options, &s->devices.topo);
    status = api_topo_judge(&s->devices.topo, options, &why);
    if (status != API_DONE)
        status = cli_fail(options, status, why.text);
    else
        status = cli_read_device_workers(options, source, &s->devices.topo, 0, &s->workers);
    n = status == API_DONE ? choose_cpus(options, source, &s->workers, cpu) : 0;
    if (n > 0 && !api_process_allow(&view, cpu, n))
        status = cli_no_memory();
    api_free_devices(&s->devices);
    if (status == API_DONE) {
        status = api_make_devices(&seen, options, NULL, &s->devices, &why);
        status = status == API_DONE ? make_goals(s) : cli_fail(options, status, why.text);
    }
    s->status.is_hidden_from_user = geteuid() != 0;
    free(view.status);
    free(cpu);
    return status;
}
