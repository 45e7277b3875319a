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

/* Whether the core of allowed CPU a comes before that of b; each is the lowest of its core. */
static int is_before(const cpubind_topology *host, int32_t a, int32_t b)
{
    const int32_t node_a = lowest(host, a, 1), node_b = lowest(host, b, 1);
    return node_a != node_b ? node_a < node_b : host->cpu[a] < host->cpu[b];
}

static int32_t number_of_core(const cpubind_topology *host, int32_t i)
{
    int32_t n = 0;
    for (int32_t k = 0; k < host->n_cpu; k++)
        n += lowest(host, k, 0) == host->cpu[k] && is_before(host, k, i);
    return n;
}

static int is_near(const cpubind_pci_function *device, int32_t cpu)
{
    for (int32_t k = 0; k < device->n_cpu; k++)
        if (device->cpu[k] == cpu)
            return 1;
    return 0;
}

int32_t cpubind_gres_cores(const cpubind_facts *facts, int32_t device, int32_t *out)
{
    const cpubind_topology *host = &facts->host;
    int32_t n = 0, n_online = 0;
    for (int32_t cpu = 0; cpu < facts->n_cpu_id; cpu++)
        n_online += facts->node_of[cpu] >= 0;
    for (int32_t i = 0; n_online == host->n_cpu && i < host->n_cpu; i++) {
        int32_t number, at = n;
        if (!is_near(&facts->bus[device], host->cpu[i]) || lowest(host, i, 0) != host->cpu[i])
            continue;
        number = number_of_core(host, i);
        for (; at > 0 && out[at - 1] > number; at--)
            out[at] = out[at - 1];
        out[at] = number;
        n++;
    }
    return n;
}
