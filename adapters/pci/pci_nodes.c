/* pci_nodes.c - the nodes of a host and their CPUs; which of them this process may use
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. It must not know of devices. The files
 * are those of the kernel's sysfs documentation and of proc(5).
 */
#include "pci_reader.h"

#define INPUT_CPU_ONLINE "sys/devices/system/cpu/online"
#define INPUT_OWN_STATUS "proc/self/status"
#define INPUT_CPU_FOLDER "sys/devices/system/cpu"
#define INPUT_SMT        INPUT_CPU_FOLDER "/smt/active"

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

/* The name "folder/prefix<number>/leaf"; NULL when the arena is full. */
static const char *numbered_path(pci_reader *r, const char *folder, const char *prefix,
                                 int32_t number, const char *leaf)
{
    char name[24], *end = name + strlen(prefix);
    int32_t scale = 1;
    memcpy(name, prefix, strlen(prefix));
    while (number / scale >= 10)
        scale *= 10;
    for (; scale > 0; scale /= 10)
        *end++ = (char)('0' + number / scale % 10);
    *end = '\0';
    return pci_path(r, folder, name, leaf);
}

static const char *node_path(pci_reader *r, int32_t node, const char *leaf)
{
    return numbered_path(r, INPUT_NODE_FOLDER, "node", node, leaf);
}

static const char *cpu_path(pci_reader *r, int32_t cpu, const char *leaf)
{
    return numbered_path(r, INPUT_CPU_FOLDER, "cpu", cpu, leaf);
}

static void put_on_node(cpubind_pci_facts *f, int32_t cpu, int32_t node)
{
    f->node_of[cpu] = node;
    if (cpu >= f->n_cpu_id)
        f->n_cpu_id = cpu + 1;
}

/* Fails because of an input whose text can be read, and cannot be true. */
static cpubind_pci_status fail_again(pci_reader *r, const char *name, const char *what)
{
    return name ? pci_fail(r, name, r->source->read(r->source->ctx, name), -1, what)
                : CPUBIND_PCI_NO_MEMORY;
}

/* Reads the CPUs of a node: from cpulist, on old kernels from cpumap. Each node has one of
 * them, one without CPUs too. */
static cpubind_pci_status read_node_cpus(pci_reader *r, int32_t node)
{
    cpubind_pci_facts *f = r->facts;
    const char *leaf = "cpulist";
    int32_t *cpu, n;
    cpubind_pci_status status =
        pci_read_cpus(r, node_path(r, node, leaf), cpubind_cpulist_parse, &cpu, &n);
    if (status == CPUBIND_PCI_OK && n < 0) {
        leaf = "cpumap";
        status = pci_read_cpus(r, node_path(r, node, leaf), cpubind_cpumask_parse, &cpu, &n);
    }
    if (status == CPUBIND_PCI_OK && n < 0)
        return fail_again(r, node_path(r, node, "cpulist"),
                          "the node is there, and the list of its CPUs is not");
    for (int32_t i = 0; status == CPUBIND_PCI_OK && i < n; i++) {
        if (f->node_of[cpu[i]] >= 0)
            return fail_again(r, node_path(r, node, leaf),
                              "a CPU of it is on another node, too");
        put_on_node(f, cpu[i], node);
    }
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
    for (int32_t i = 0; i < n; i++)
        if (f->all_distance[row * n + i] < f->all_distance[row * n + row])
            return pci_fail(r, name, answer, 0, "another node is nearer than itself");
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
        if (is_there && f->all_distance[i * f->n_all_node + i] != f->all_distance[0])
            return fail_again(r, node_path(r, f->all_node[i], "distance"),
                              "its distance to itself is not that of other nodes");
        if (n_there != (is_there ? i + 1 : 0))
            return fail_again(r, node_path(r, f->all_node[is_there ? 0 : i], "distance"),
                              "it is not there, and other nodes have their distances");
    }
    if (n_there == 0)
        f->all_distance = NULL;
    return CPUBIND_PCI_OK;
}

/* == What is online ========================================================= */

/* cpubind_status_parse as a pci_parse_cpus: its limit is always CPUBIND_MAX_CPUS. */
static cpubind_text_status parse_status(const char *text, int32_t len, int32_t limit,
                                        cpubind_int_list *list, cpubind_text_fault *fault)
{
    (void)limit;
    return cpubind_status_parse(text, len, list, fault);
}

/* How the CPUs of the nodes are held against cpu/online. */
enum { IS_LISTED = 1, IS_ALLOWED = 2, IS_OFF = 4, IS_DOUBTFUL = 8 };

static void mark(uint8_t *is, const int32_t *cpu, int32_t n, uint8_t what)
{
    for (int32_t i = 0; i < n; i++)
        is[cpu[i]] |= what;
}

/* Holds the nodes, which list online CPUs (before Linux 4.15 offline ones, too), against
 * cpu/online, which a container may have of lxcfs: numbers from 0 on, as many as it has CPUs.
 * Where a CPU that it lacks is online by a second word of the kernel, it is passed over. */
static cpubind_pci_status judge_online(pci_reader *r, uint8_t *is)
{
    cpubind_pci_facts *f = r->facts;
    const int32_t n_id = f->n_cpu_id;
    for (int32_t cpu = 0; cpu < n_id; cpu++) {
        int32_t word;
        cpubind_pci_status status;
        if (f->node_of[cpu] < 0 || is[cpu] & IS_LISTED)
            continue;
        status = pci_read_number(r, cpu_path(r, cpu, "online"), is[cpu] & IS_ALLOWED ? 1 : -1,
                                 &word);
        if (status != CPUBIND_PCI_OK)
            return status;
        if (word > 1)
            return fail_again(r, cpu_path(r, cpu, "online"), "it is neither 0 nor 1");
        is[cpu] |= word == 0 ? IS_OFF : word < 0 ? IS_DOUBTFUL : 0;
        f->online_differs |= word == 1;
    }
    f->n_cpu_id = 0;
    for (int32_t cpu = 0; cpu < n_id; cpu++)
        if (is[cpu] & IS_OFF || (is[cpu] & IS_DOUBTFUL && !f->online_differs))
            f->node_of[cpu] = -1;
        else if (f->node_of[cpu] >= 0)
            f->n_cpu_id = cpu + 1;
    return CPUBIND_PCI_OK;
}

/* Puts the online CPUs of a host without nodes on node 0: those of cpu/online, and allowed ones
 * whose own file says that they are online. */
static cpubind_pci_status put_online(pci_reader *r, const uint8_t *is)
{
    cpubind_pci_facts *f = r->facts;
    for (int32_t cpu = 0; cpu < CPUBIND_MAX_CPUS; cpu++) {
        int32_t word = 0;
        cpubind_pci_status status = CPUBIND_PCI_OK;
        if (is[cpu] == IS_ALLOWED)
            status = pci_read_number(r, cpu_path(r, cpu, "online"), 0, &word);
        if (status != CPUBIND_PCI_OK)
            return status;
        f->online_differs |= word == 1;
        if (is[cpu] & IS_LISTED || word == 1)
            put_on_node(f, cpu, 0);
    }
    return CPUBIND_PCI_OK;
}

cpubind_pci_status cpubind_priv_pci_read_nodes(pci_reader *r)
{
    cpubind_pci_facts *f = r->facts;
    uint8_t *is = (uint8_t *)cpubind_arena_take(r->arena, CPUBIND_MAX_CPUS, 1);
    int32_t *cpu, n, n_online;
    cpubind_pci_status status;
    f->node_of = cpubind_arena_ints(r->arena, CPUBIND_MAX_CPUS);
    if (!f->node_of || !is)
        return CPUBIND_PCI_NO_MEMORY;
    memset(is, 0, CPUBIND_MAX_CPUS);
    for (int32_t i = 0; i < CPUBIND_MAX_CPUS; i++)
        f->node_of[i] = -1;
    status = pci_read_cpus(r, INPUT_CPU_ONLINE, cpubind_cpulist_parse, &cpu, &n_online);
    if (status != CPUBIND_PCI_OK)
        return status;
    mark(is, cpu, n_online, IS_LISTED);
    status = pci_read_cpus(r, INPUT_OWN_STATUS, parse_status, &cpu, &n);
    if (status == CPUBIND_PCI_OK) {
        mark(is, cpu, n, IS_ALLOWED);
        status = list_nodes(r);
    }
    if (status != CPUBIND_PCI_OK)
        return status;
    f->has_nodes = f->n_all_node > 0;
    if (!f->has_nodes) {
        f->all_node[f->n_all_node++] = 0;
        return n_online >= 0 ? put_online(r, is) : CPUBIND_PCI_OK;
    }
    for (int32_t i = 0; status == CPUBIND_PCI_OK && i < f->n_all_node; i++)
        status = read_node_cpus(r, f->all_node[i]);
    if (status == CPUBIND_PCI_OK && n_online >= 0)
        status = judge_online(r, is);
    return status == CPUBIND_PCI_OK ? read_all_distances(r) : status;
}

/* == Allowed CPUs and cores ================================================= */

/* Takes one list of siblings: the cores of its allowed CPUs, the number of each being the first
 * CPU of the list. */
static cpubind_pci_status take_siblings(pci_reader *r, int32_t cpu, const int32_t *sibling,
                                        int32_t n, int32_t *core_of)
{
    const cpubind_pci_facts *f = r->facts;
    const char *what = "the list lacks the CPU whose list it is";
    for (int32_t i = 0; i < n; i++) {
        if (!pci_is_online(f, sibling[i]))
            continue;
        if (sibling[i] == cpu)
            what = NULL;
        if (f->node_of[sibling[i]] != f->node_of[cpu])
            what = "the CPUs of a core are on two nodes";
        else if (core_of[sibling[i]] >= 0 && core_of[sibling[i]] != sibling[0])
            what = "a CPU of the list is in the list of another core";
        if (what && sibling[i] >= cpu)
            break;
        core_of[sibling[i]] = sibling[0];
    }
    return what ? fail_again(r, cpu_path(r, cpu, "topology/thread_siblings_list"), what)
                : CPUBIND_PCI_OK;
}

/* Numbers the core of each allowed CPU by the first CPU of the core. Where one CPU has no such
 * file, every CPU is a core of its own. */
static cpubind_pci_status read_cores(pci_reader *r, const int32_t *cpu, int32_t n)
{
    cpubind_pci_facts *f = r->facts;
    int32_t *core = cpubind_arena_ints(r->arena, n);
    int32_t *core_of = cpubind_arena_ints(r->arena, f->n_cpu_id);
    int32_t active;
    cpubind_pci_status status = pci_read_number(r, INPUT_SMT, 1, &active);
    if (!core || !core_of)
        return CPUBIND_PCI_NO_MEMORY;
    for (int32_t i = 0; i < f->n_cpu_id; i++)
        core_of[i] = -1;
    for (int32_t i = 0; status == CPUBIND_PCI_OK && i < n; i++) {
        int32_t *sibling, n_sibling;
        status = pci_read_cpus(r, cpu_path(r, cpu[i], "topology/thread_siblings_list"),
                               cpubind_cpulist_parse, &sibling, &n_sibling);
        if (status == CPUBIND_PCI_OK && n_sibling < 0) {
            f->lacks_cores = active != 0;
            return status;
        }
        if (status == CPUBIND_PCI_OK)
            status = take_siblings(r, cpu[i], sibling, n_sibling, core_of);
        core[i] = core_of[cpu[i]];
    }
    if (status == CPUBIND_PCI_OK)
        f->host.core = core;
    return status;
}

/* Finds the sockets of the nodes with CPUs, each by the first online CPU of the node. Where
 * that of one node is not known, or the kernel has -1 for it, none is. */
static cpubind_pci_status read_sockets(pci_reader *r)
{
    cpubind_pci_facts *f = r->facts;
    int32_t *socket = cpubind_arena_ints(r->arena, f->host.n_node);
    if (!socket)
        return CPUBIND_PCI_NO_MEMORY;
    for (int32_t i = 0; i < f->host.n_node; i++) {
        int32_t cpu = 0;
        cpubind_pci_status status;
        while (f->node_of[cpu] != f->host.node_id[i])
            cpu++;
        status = pci_read_number(r, cpu_path(r, cpu, "topology/physical_package_id"), -1,
                                 &socket[i]);
        if (status != CPUBIND_PCI_OK || socket[i] < 0)
            return status;
    }
    f->host.socket = socket;
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
    f->lacks_distances = !distance && n_node > 1;
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
        f->lacks_status = 1;
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
    if (status == CPUBIND_PCI_OK && r->request->wants_cores && f->has_nodes)
        status = read_sockets(r);
    return status;
}
