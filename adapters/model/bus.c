/* bus.c - the functions on the PCI bus, and the CPUs that the kernel lists near each
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. It must not know of devices: which
 * functions count, the readers of the vendors' devices say. The files are those of the kernel's
 * documentation of sysfs-bus-pci.
 */
#include "facts_reader.h"

int cpubind_priv_next_function(cpubind_input listing, int32_t *at, cpubind_pci_address *out)
{
    cpubind_piece name;
    while (facts_next_name(listing, at, &name))
        if (cpubind_pci_parse(listing.data + name.at, name.len, out, NULL) == CPUBIND_TEXT_OK)
            return 1;
    return 0;
}

void cpubind_priv_insert_function(void *array, int32_t *n, size_t size, const void *item)
{
    unsigned char *end = (unsigned char *)array + (size_t)*n * size, *to = end;
    int order = 1;
    while (to > (unsigned char *)array &&
           (order = cpubind_pci_compare(
                (const cpubind_pci_address *)item,
                (const cpubind_pci_address *)(const void *)(to - size))) < 0)
        to -= size;
    if (to > (unsigned char *)array && order == 0)
        return;
    memmove(to + size, to, (size_t)(end - to));
    memcpy(to, item, size);
    ++*n;
}

cpubind_problem_code cpubind_priv_read_local_cpus(facts_reader *r,
                                                  const cpubind_pci_address *pci,
                                                  facts_local_cpus *out)
{
    const cpubind_facts *f = r->facts;
    int32_t *cpu, n, n_online = 0;
    cpubind_problem_code code = facts_read_cpus(r, facts_function_path(r, pci, "local_cpulist"),
                                                cpubind_cpulist_parse, &cpu, &n);
    /* A copy of /sys may have the mask alone: hwloc-gather-topology keeps no list. */
    if (code == CPUBIND_PROBLEM_NONE && n < 0)
        code = facts_read_cpus(r, facts_function_path(r, pci, "local_cpus"),
                               cpubind_cpumask_parse, &cpu, &n);
    *out = (facts_local_cpus){.n = -1};
    if (code != CPUBIND_PROBLEM_NONE || n < 0)
        return code;
    out->cpu = cpu;
    out->n = 0;
    for (int32_t i = 0; i < n; i++)
        if (facts_is_online(f, cpu[i]))
            cpu[out->n++] = cpu[i];
    for (int32_t i = 0; i < f->n_cpu_id; i++)
        n_online += f->node_of[i] >= 0;
    out->is_everywhere = out->n == n_online && f->n_node > 1;
    return code;
}
