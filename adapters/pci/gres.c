/* gres.c - gres.conf of Slurm: the cores near an accelerator
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc.
 */
#include "gres.h"

/* The lowest CPU of the core of allowed CPU i, or of its node. */
static int32_t lowest(const cpubind_topology *host, int32_t i, int of_node)
{
    for (int32_t k = 0; k < host->n_cpu; k++)
        if (of_node      ? host->node[k] == host->node[i]
            : host->core ? host->core[k] == host->core[i]
                         : k == i)
            return host->cpu[k];
    return host->cpu[i];
}

static int is_near(const cpubind_host_device *device, int32_t cpu)
{
    for (int32_t k = 0; k < device->n_cpu; k++)
        if (device->cpu[k] == cpu)
            return 1;
    return 0;
}

int32_t cpubind_gres_cores(const cpubind_facts *facts, int32_t device, int32_t *out)
{
    const cpubind_topology *host = &facts->host;
    int32_t n = 0, n_online = 0, number = 0;
    for (int32_t cpu = 0; cpu < facts->n_cpu_id; cpu++)
        n_online += facts->node_of[cpu] >= 0;
    for (int32_t i = 0; n_online == host->n_cpu && i < host->n_cpu; i++) {
        if (lowest(host, i, 1) != host->cpu[i])
            continue; /* another CPU has been the first of this node */
        for (int32_t k = i; k < host->n_cpu; k++) {
            if (host->node[k] != host->node[i] || lowest(host, k, 0) != host->cpu[k])
                continue;
            if (is_near(&facts->bus[device], host->cpu[k]))
                out[n++] = number;
            number++;
        }
    }
    return n;
}
