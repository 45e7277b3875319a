/* pci_nodes.c - the nodes of a host and their CPUs; which of them this process may use
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. It must not know of devices. The files
 * are those of the kernel's sysfs documentation and of proc(5).
 */
#include "pci_reader.h"

#define INPUT_CPU_ONLINE "sys/devices/system/cpu/online"
#define INPUT_OWN_STATUS "proc/self/status"

/* == Nodes ================================================================== */

/* The number in a name: 12 for "node12"; -1 for another name. */
static int32_t number_of_node(cpubind_input listing, cpubind_slice name)
{
    static const char prefix[] = "node";
    const int32_t n = (int32_t)sizeof prefix - 1;
    const scan_text in = {listing.data, listing.len, NULL};
    const scan_run whole = {name.at, name.at + name.len}, digits = {name.at + n, whole.end};
    int32_t number;
    if (!scan_starts(&in, whole, prefix, n) ||
        scan_whole_number(&in, digits, CPUBIND_MAX_CPUS - 1, &number) != CPUBIND_TEXT_OK)
        return -1;
    return number;
}

/* Lists the nodes, ascending: a listing has node10 before node2. */
static cpubind_pci_status list_nodes(pci_reader *r)
{
    cpubind_pci_facts *f = r->facts;
    const cpubind_input listing = r->source->list(r->source->ctx, INPUT_NODE_FOLDER);
    const cpubind_pci_status status = pci_judge(r, INPUT_NODE_FOLDER, listing);
    cpubind_slice name;
    int32_t at = 0;
    if (status != CPUBIND_PCI_OK)
        return status;
    f->all_node = cpubind_arena_ints(r->arena, pci_count_names(listing) + 1);
    if (!f->all_node)
        return CPUBIND_PCI_NO_MEMORY;
    while (pci_next_name(listing, &at, &name)) {
        const int32_t node = number_of_node(listing, name);
        int32_t i = f->n_all_node;
        if (node < 0)
            continue;
        for (; i > 0 && f->all_node[i - 1] > node; i--)
            f->all_node[i] = f->all_node[i - 1];
        f->all_node[i] = node;
        f->n_all_node++;
    }
    return CPUBIND_PCI_OK;
}

/* The name "sys/devices/system/node/node<N>/leaf"; NULL when the arena is full. */
static const char *node_path(pci_reader *r, int32_t node, const char *leaf)
{
    char name[16] = "node", *end = name + 4;
    int32_t scale = 1;
    while (node / scale >= 10)
        scale *= 10;
    for (; scale > 0; scale /= 10)
        *end++ = (char)('0' + node / scale % 10);
    *end = '\0';
    return pci_path(r, INPUT_NODE_FOLDER, name, leaf);
}

/* The CPUs that are online, by CPU id. */
typedef struct online_cpus {
    uint8_t *is_online; /* n_id of them; NULL: the kernel does not say, and all ids count */
    int32_t n_id;
} online_cpus;

/* Puts the CPUs of a list on a node, those that are online. */
static void put_on_node(pci_reader *r, const int32_t *cpu, int32_t n, int32_t node,
                        const online_cpus *online)
{
    cpubind_pci_facts *f = r->facts;
    for (int32_t i = 0; i < n; i++) {
        if (cpu[i] >= online->n_id || (online->is_online && !online->is_online[cpu[i]]))
            continue;
        f->node_of[cpu[i]] = node;
        if (cpu[i] >= f->n_cpu_id)
            f->n_cpu_id = cpu[i] + 1;
    }
}

static cpubind_pci_status read_node_cpus(pci_reader *r, int32_t node, const online_cpus *online)
{
    int32_t *cpu, n;
    cpubind_pci_status status =
        pci_read_cpus(r, node_path(r, node, "cpulist"), cpubind_cpulist_parse, &cpu, &n);
    if (status == CPUBIND_PCI_OK && n < 0)
        status =
            pci_read_cpus(r, node_path(r, node, "cpumap"), cpubind_cpumask_parse, &cpu, &n);
    if (status == CPUBIND_PCI_OK)
        put_on_node(r, cpu, n, node, online);
    return status;
}

/* Reads the distances from one node: as many numbers as there are nodes. *is_there stays 0
 * without the file. */
static cpubind_pci_status read_distances(pci_reader *r, int32_t row, int *is_there)
{
    cpubind_pci_facts *f = r->facts;
    const char *name = node_path(r, f->all_node[row], "distance");
    cpubind_input answer;
    const cpubind_pci_status status = pci_ask(r, name, &answer);
    scan_text in;
    scan_run word = {0, 0};
    int32_t n = 0;
    *is_there = 0;
    if (status != CPUBIND_PCI_OK || !pci_is_present(answer))
        return status;
    in = (scan_text){answer.data, answer.len, NULL};
    while (in.len > 0 && (answer.data[in.len - 1] == '\0' || answer.data[in.len - 1] == '\n'))
        in.len--;
    for (word = scan_word(&in, 0, in.len); !scan_is_empty(word);
         word = scan_word(&in, word.end, in.len)) {
        int32_t distance;
        if (n == f->n_all_node ||
            scan_whole_number(&in, word, 1 << 20, &distance) != CPUBIND_TEXT_OK ||
            distance == 0)
            return pci_fail(r, name, answer, word.at, "this is no distance of a node");
        f->all_distance[row * f->n_all_node + n++] = distance;
    }
    if (n != f->n_all_node)
        return pci_fail(r, name, answer, in.len, "the distance of a node is missing");
    *is_there = 1;
    return CPUBIND_PCI_OK;
}

static cpubind_pci_status read_all_distances(pci_reader *r)
{
    cpubind_pci_facts *f = r->facts;
    int32_t n_there = 0;
    if (f->n_all_node > CPUBIND_MAX_NODES)
        return CPUBIND_PCI_OK;
    f->all_distance = cpubind_arena_ints(r->arena, f->n_all_node * f->n_all_node);
    if (!f->all_distance)
        return CPUBIND_PCI_NO_MEMORY;
    for (int32_t i = 0; i < f->n_all_node; i++) {
        int is_there;
        const cpubind_pci_status status = read_distances(r, i, &is_there);
        if (status != CPUBIND_PCI_OK)
            return status;
        n_there += is_there;
    }
    if (n_there < f->n_all_node)
        f->all_distance = NULL;
    return CPUBIND_PCI_OK;
}

/* Reads which CPUs are online; *n is -1 when the kernel does not say. */
static cpubind_pci_status read_online(pci_reader *r, online_cpus *out, int32_t **cpu,
                                      int32_t *n)
{
    const cpubind_pci_status status =
        pci_read_cpus(r, INPUT_CPU_ONLINE, cpubind_cpulist_parse, cpu, n);
    *out = (online_cpus){NULL, CPUBIND_MAX_CPUS};
    if (status != CPUBIND_PCI_OK || *n < 0)
        return status;
    out->n_id = *n > 0 ? (*cpu)[*n - 1] + 1 : 0;
    out->is_online = (uint8_t *)cpubind_arena_take(r->arena, out->n_id, 1);
    if (!out->is_online)
        return CPUBIND_PCI_NO_MEMORY;
    memset(out->is_online, 0, (size_t)out->n_id);
    for (int32_t i = 0; i < *n; i++)
        out->is_online[(*cpu)[i]] = 1;
    return CPUBIND_PCI_OK;
}

cpubind_pci_status cpubind_priv_pci_read_nodes(pci_reader *r)
{
    cpubind_pci_facts *f = r->facts;
    online_cpus online;
    int32_t *cpu, n;
    cpubind_pci_status status = read_online(r, &online, &cpu, &n);
    f->node_of = cpubind_arena_ints(r->arena, online.n_id);
    if (!f->node_of)
        return CPUBIND_PCI_NO_MEMORY;
    for (int32_t i = 0; i < online.n_id; i++)
        f->node_of[i] = -1;
    if (status == CPUBIND_PCI_OK)
        status = list_nodes(r);
    if (status != CPUBIND_PCI_OK)
        return status;
    f->has_nodes = f->n_all_node > 0;
    if (!f->has_nodes) {
        f->all_node[f->n_all_node++] = 0;
        put_on_node(r, cpu, n, 0, &online);
        return CPUBIND_PCI_OK;
    }
    for (int32_t i = 0; status == CPUBIND_PCI_OK && i < f->n_all_node; i++)
        status = read_node_cpus(r, f->all_node[i], &online);
    return status == CPUBIND_PCI_OK ? read_all_distances(r) : status;
}

/* == Allowed CPUs and cores ================================================= */

/* cpubind_status_parse as a pci_parse_cpus: its limit is always CPUBIND_MAX_CPUS. */
static cpubind_text_status parse_status(const char *text, int32_t len, int32_t limit,
                                        cpubind_int_list *list, cpubind_text_fault *fault)
{
    (void)limit;
    return cpubind_status_parse(text, len, list, fault);
}

/* The name of the file with the CPUs of a CPU's core. */
static const char *siblings_path(pci_reader *r, int32_t cpu)
{
    char name[16] = "cpu", *end = name + 3;
    int32_t scale = 1;
    while (cpu / scale >= 10)
        scale *= 10;
    for (; scale > 0; scale /= 10)
        *end++ = (char)('0' + cpu / scale % 10);
    *end = '\0';
    return pci_path(r, "sys/devices/system/cpu", name, "topology/thread_siblings_list");
}

/* Numbers the core of each allowed CPU by the first CPU of the core. Where one CPU has no such
 * file, every CPU is a core of its own. */
static cpubind_pci_status read_cores(pci_reader *r, const int32_t *cpu, int32_t n)
{
    int32_t *core = cpubind_arena_ints(r->arena, n);
    if (!core)
        return CPUBIND_PCI_NO_MEMORY;
    for (int32_t i = 0; i < n; i++) {
        int32_t *sibling, n_sibling;
        const cpubind_pci_status status = pci_read_cpus(
            r, siblings_path(r, cpu[i]), cpubind_cpulist_parse, &sibling, &n_sibling);
        if (status != CPUBIND_PCI_OK || n_sibling <= 0)
            return status;
        core[i] = sibling[0];
    }
    r->facts->host.core = core;
    return CPUBIND_PCI_OK;
}

/* The nodes with CPUs and their distances, for the core. */
static cpubind_pci_status make_host(pci_reader *r, const int32_t *cpu, int32_t n)
{
    cpubind_pci_facts *f = r->facts;
    int32_t *node = cpubind_arena_ints(r->arena, n);
    int32_t *node_id = cpubind_arena_ints(r->arena, f->n_all_node);
    int32_t n_node = 0, *distance = NULL;
    if (!node || !node_id)
        return CPUBIND_PCI_NO_MEMORY;
    for (int32_t i = 0; i < n; i++)
        node[i] = f->node_of[cpu[i]];
    for (int32_t i = 0; i < f->n_all_node; i++) {
        int has_cpu = 0;
        for (int32_t k = 0; k < f->n_cpu_id && !has_cpu; k++)
            has_cpu = f->node_of[k] == f->all_node[i];
        if (has_cpu)
            node_id[n_node++] = f->all_node[i];
    }
    if (f->all_distance) {
        distance = cpubind_arena_ints(r->arena, n_node * n_node);
        if (!distance)
            return CPUBIND_PCI_NO_MEMORY;
        for (int32_t i = 0; i < n_node * n_node; i++)
            distance[i] =
                f->all_distance[pci_node_index(f, node_id[i / n_node]) * f->n_all_node +
                                pci_node_index(f, node_id[i % n_node])];
    }
    f->host.cpu = cpu;
    f->host.node = node;
    f->host.n_cpu = n;
    f->host.node_id = node_id;
    f->host.n_node = n_node;
    f->host.distance = distance;
    return CPUBIND_PCI_OK;
}

/* Lists the nodes, and takes the CPUs of the request. */
cpubind_pci_status cpubind_priv_pci_read_ids(pci_reader *r)
{
    cpubind_pci_facts *f = r->facts;
    const int32_t n = r->request->n_own_cpu;
    int32_t *cpu = cpubind_arena_ints(r->arena, n);
    int32_t *node = cpubind_arena_ints(r->arena, n);
    cpubind_pci_status status = list_nodes(r);
    if (status != CPUBIND_PCI_OK)
        return status;
    if (!cpu || !node)
        return CPUBIND_PCI_NO_MEMORY;
    f->has_nodes = f->n_all_node > 0;
    if (!f->has_nodes)
        f->all_node[f->n_all_node++] = 0;
    for (int32_t i = 0; i < n; i++) {
        cpu[i] = r->request->own_cpu[i];
        node[i] = f->all_node[0];
    }
    f->host = (cpubind_host){
        .cpu = cpu, .node = node, .n_cpu = n, .node_id = f->all_node, .n_node = 1};
    return CPUBIND_PCI_OK;
}

/* Reads the CPUs that this process may use; without proc/self/status all online ones. */
cpubind_pci_status cpubind_priv_pci_read_allowed(pci_reader *r)
{
    cpubind_pci_facts *f = r->facts;
    int32_t *cpu, n, n_kept = 0;
    cpubind_pci_status status = pci_read_cpus(r, INPUT_OWN_STATUS, parse_status, &cpu, &n);
    if (status != CPUBIND_PCI_OK)
        return status;
    if (n < 0) {
        cpu = cpubind_arena_ints(r->arena, f->n_cpu_id);
        if (!cpu)
            return CPUBIND_PCI_NO_MEMORY;
        for (n = 0; n < f->n_cpu_id; n++)
            cpu[n] = n;
    }
    for (int32_t i = 0; i < n; i++)
        if (pci_is_online(f, cpu[i]))
            cpu[n_kept++] = cpu[i];
    status = make_host(r, cpu, n_kept);
    if (status == CPUBIND_PCI_OK && r->request->wants_cores)
        status = read_cores(r, cpu, n_kept);
    return status;
}
