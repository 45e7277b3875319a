/* cores.c - which CPUs share a core, how far nodes are apart, and their sockets
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. It must not know of devices, and must
 * not guess: what no input tells stays NULL. The files are those of the kernel's documentation
 * of sysfs (ABI/stable/sysfs-devices-system-cpu, sysfs-devices-node).
 *
 * Every process of a host reads the same here: the files have no namespace, a container sees
 * /sys of the host, and they name online CPUs and nodes whatever the cpuset is.
 *
 *   input                 absent             of some      failed, empty, cut  contradictory
 *   smt/active            lists              -            refused             lists
 *   shared_cpu_list       no word            its own      refused             refused
 *   cpu_core/cpus         cpu_capacity       -            refused             -
 *   cpu_capacity          base_frequency     as absent    refused             -
 *   base_frequency        no word            no word      refused             -
 *   node/has_memory       all have some      -            refused             -
 *   thread_siblings_list  lscpu -e, lscpu    as absent 1  refused             refused 2
 *   physical_package_id   lscpu -e, no word  as absent    refused             of the first CPU
 *   lscpu -e              lscpu, no word     -            refused             refused
 *   lscpu                 no word            -            refused             refused
 *   node/online           node folders       -            refused             refused
 *   node<N>/distance      no word            refused      refused             refused 3
 *
 *   refused  facts->topology holds the problem, and a plan that needs what the input tells
 *            fails with it. The rule of the reference needs none of it.
 *   lscpu    in a snapshot alone: a live host without the files has none for lscpu to read
 *   no word  of caches: a node is one. Of kinds: all cores are of one. Of cores: each CPU is
 *            one, and a plan that needs cores has the warning no_cores.
 *            Of distances: nodes of one socket are near, others far, and a plan by near has the
 *            warning no_distances. Of sockets: the distances tell. Of both: all other nodes are
 *            equally near, and the same warning
 *   1  of a CPU that is not allowed, and whose folder a container may hide (lxcfs): it is a
 *      core by itself, and a plan that needs its core (--keep) has the warning no_cores
 *   2  of a core, the list of the first CPU counts; the others are not read, for the kernel
 *      makes all of them of one set, and they are as many as the host has CPUs
 *   3  a distance of 0, a node that is nearer to another node than to itself, and nodes whose
 *      distances to themselves differ: the kernel has 10 for all. Of two nodes each may be at
 *      another distance from the other: firmware does that, and every process of the host reads
 *      the same
 */
#include "facts_reader.h"

#define INPUT_SMT          INPUT_CPUS "/smt/active"
#define INPUT_NODES_ONLINE INPUT_NODES "/online"
#define INPUT_FAST_CPUS    "sys/devices/cpu_core/cpus"
#define INPUT_CMD          "cmd"

/* A new array of the arena, filled with -1; NULL when the arena is full. */
static int32_t *new_ints(facts_reader *r, int32_t n)
{
    int32_t *out = cpubind_arena_ints(r->arena, n);
    for (int32_t i = 0; out && i < n; i++)
        out[i] = -1;
    return out;
}

int32_t cpubind_facts_node(const cpubind_facts *facts, int32_t node)
{
    int32_t from = 0, to = facts->n_node;
    while (from < to) {
        const int32_t middle = from + (to - from) / 2;
        if (facts->node_id[middle] < node)
            from = middle + 1;
        else
            to = middle;
    }
    return from < facts->n_node && facts->node_id[from] == node ? from : -1;
}

/* The nearest of n nodes: the node itself where it is one of them; -1: not known. */
static int32_t find_nearest(const cpubind_facts *facts, int32_t node, const int32_t *id,
                            int32_t n)
{
    const int32_t row = facts_node_index(facts, node);
    int32_t best = -1, best_distance = INT32_MAX;
    for (int32_t i = 0; i < n; i++)
        if (id[i] == node)
            return node;
    if (n == 1) /* the nearest one, also where no distance is known */
        return id[0];
    for (int32_t i = 0; i < n && row >= 0 && facts->all_distance; i++) {
        /* from there: a node without CPUs may have no row of its own */
        const int32_t column = facts_node_index(facts, id[i]);
        const int32_t distance =
            column < 0 ? -1 : facts->all_distance[column * facts->n_all_node + row];
        if (distance >= 0 && distance < best_distance) {
            best_distance = distance;
            best = id[i];
        }
    }
    return best;
}

int32_t cpubind_facts_nearest_node(const cpubind_facts *facts, int32_t node)
{
    return find_nearest(facts, node, facts->host.node_id, facts->host.n_node);
}

int32_t cpubind_facts_memory_node(const cpubind_facts *facts, int32_t node)
{
    return node < 0 || facts->n_memory <= 0
               ? node
               : find_nearest(facts, node, facts->memory, facts->n_memory);
}

int32_t cpubind_facts_core(const cpubind_facts *facts, int32_t cpu)
{
    const int is_known = facts->core_of && cpu < facts->n_cpu_id && facts->core_of[cpu] >= 0;
    return is_known ? facts->core_of[cpu] : cpu;
}

int cpubind_facts_topology(const cpubind_facts *f, const int32_t *cpu, int32_t n,
                           cpubind_arena *arena, cpubind_topology *out)
{
    int32_t *id = cpubind_arena_ints(arena, n);
    int32_t *node = cpubind_arena_ints(arena, n);
    int32_t *core = cpubind_arena_ints(arena, n);
    if (!id || !node || !core)
        return 0;
    *out = (cpubind_topology){.cpu = id,
                              .node = node,
                              .core = f->core_of ? core : NULL,
                              .node_id = f->node_id,
                              .n_node = f->n_node,
                              .distance = f->distance,
                              .socket = f->socket};
    for (int32_t i = 0; i < n; i++) {
        const int32_t one = cpu ? cpu[i] : i;
        if (!facts_is_online(f, one))
            continue;
        id[out->n_cpu] = one;
        node[out->n_cpu] = f->node_of[one];
        core[out->n_cpu++] = cpubind_facts_core(f, one);
    }
    return 1;
}

/* == The fallback: lscpu ==================================================== */

/* Asks a snapshot or a row of the corpus for a command. A live host lists no commands. */
static cpubind_problem_code ask_snapshot(facts_reader *r, const char *name, cpubind_input *out)
{
    *out = (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
    return facts_is_present(r->source->list(r->source->ctx, INPUT_CMD))
               ? facts_ask(r, name, out)
               : CPUBIND_PROBLEM_NONE;
}

/* Reads the rows of `lscpu -e` of a snapshot; out->n is 0 when it has none. */
static cpubind_problem_code read_rows(facts_reader *r, cpubind_lscpu_nodes *out,
                                      cpubind_input *answer)
{
    const cpubind_problem_code code = ask_snapshot(r, INPUT_LSCPU_E, answer);
    memset(out, 0, sizeof *out);
    return code == CPUBIND_PROBLEM_NONE && facts_has_answered(*answer)
               ? cpubind_priv_read_rows(r, *answer, out)
               : code;
}

/* Reads the threads a core of `lscpu` of a snapshot; 0: it has none. */
static cpubind_problem_code read_summary(facts_reader *r, int32_t *threads)
{
    cpubind_text_fault fault;
    cpubind_input answer;
    const cpubind_problem_code code = ask_snapshot(r, INPUT_LSCPU, &answer);
    *threads = 0;
    if (code != CPUBIND_PROBLEM_NONE || !facts_has_answered(answer))
        return code;
    return facts_judge_text(
        r, INPUT_LSCPU, answer,
        cpubind_lscpu_parse_threads(answer.data, answer.len, threads, &fault), &fault);
}

/* == Cores ================================================================== */

/* Reads the threads a core: the siblings of the first online CPU, since the kernel has no files
 * about the cores of an offline one; else the answer of lscpu. */
cpubind_problem_code cpubind_priv_read_threads(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_problem_code code;
    int32_t *list, cpu = 0;
    while (cpu < f->n_cpu_id - 1 && f->node_of[cpu] < 0)
        cpu++;
    code = facts_read_cpus(
        r, facts_numbered_path(r, INPUT_CPUS, "cpu", cpu, "topology/thread_siblings_list"),
        cpubind_cpulist_parse, &list, &f->threads);
    return code == CPUBIND_PROBLEM_NONE && f->threads < 0 ? read_summary(r, &f->threads) : code;
}

/* Warns of a core whose CPUs are on two nodes: the nodes count, and what of it lies on one of
 * them is a core. */
static void note_split(facts_reader *r, const char *name, int32_t cpu, int32_t other)
{
    if (!r->facts->split_input) {
        r->facts->split_input = name;
        r->facts->split_cpu[0] = cpu;
        r->facts->split_cpu[1] = other;
    }
    facts_warn(r, CPUBIND_WARNING_CORE_NODES);
}

/* Makes each online CPU a core. */
static void part_cores(const cpubind_facts *f, int32_t *core_of)
{
    for (int32_t cpu = 0; cpu < f->n_cpu_id; cpu++)
        core_of[cpu] = facts_is_online(f, cpu) ? cpu : -1;
}

/* Reads a list of CPUs that share something with a CPU, and gives all online CPUs of the list
 * the number of the lowest. Those of a core have no other core; CPUs on another node are passed
 * over.
 *   out     *n: CPUs in the list; 0: there is no list */
static cpubind_problem_code read_group(facts_reader *r, int32_t cpu, const char *leaf,
                                       int is_core, int32_t *group_of, int32_t *n)
{
    const cpubind_facts *f = r->facts;
    const char *name = facts_numbered_path(r, INPUT_CPUS, "cpu", cpu, leaf);
    cpubind_input answer;
    int32_t *list = NULL, first = -1;
    cpubind_problem_code code = facts_ask(r, name, &answer);
    *n = 0;
    if (code == CPUBIND_PROBLEM_NONE && facts_is_present(answer))
        code = facts_read_part(r, name, answer, (cpubind_piece){0, answer.len},
                               cpubind_cpulist_parse, &list, n);
    if (code != CPUBIND_PROBLEM_NONE || !list)
        return code;
    for (int32_t i = 0; i < *n; i++) {
        if (!facts_is_online(f, list[i]) || (!is_core && group_of[list[i]] >= 0))
            continue;
        if (is_core && f->node_of[list[i]] != f->node_of[cpu]) {
            note_split(r, name, cpu, list[i]);
            continue;
        }
        if (group_of[list[i]] >= 0) {
            r->problem->cpu = list[i];
            return facts_fail_input(r, name, answer, 0,
                                    "a CPU of the list is in the list of another core");
        }
        first = first < 0 ? list[i] : first;
        group_of[list[i]] = first;
    }
    if (group_of[cpu] >= 0)
        return code;
    r->problem->cpu = cpu;
    return facts_fail_input(r, name, answer, 0, "the list lacks the CPU whose list it is");
}

/* Reads the lists of all online CPUs; of a CPU that an earlier list names, the list is not
 * read. Where smt/active is 0, each CPU is a core, and the first list is read to confirm it:
 * kernels without CONFIG_SCHED_SMT have 0 there whatever the cores are. A CPU that is not
 * allowed and that no list names is a core by itself.
 *   out     *is_known: 0 when a CPU that a plan may give away has no list */
static cpubind_problem_code read_lists(facts_reader *r, int32_t *core_of, int *is_known)
{
    cpubind_facts *f = r->facts;
    int32_t active = 1, n = 0, at = 0;
    cpubind_problem_code code = facts_read_number(r, INPUT_SMT, 1, &active);
    if (code == CPUBIND_PROBLEM_NONE && active != 0 && active != 1)
        return facts_fail_input(r, INPUT_SMT, r->source->read(r->source->ctx, INPUT_SMT), 0,
                                "it is neither 0 nor 1");
    for (int32_t cpu = 0; code == CPUBIND_PROBLEM_NONE && cpu < f->n_cpu_id; cpu++) {
        const int is_needed =
            f->scope == CPUBIND_SCOPE_HOST || cpubind_list_has(f->cpu, f->n_cpu, cpu, &at);
        if (!facts_is_online(f, cpu) || core_of[cpu] >= 0)
            continue;
        code = read_group(r, cpu, "topology/thread_siblings_list", 1, core_of, &n);
        if (n == 0 && !is_needed)
            continue;
        if (code == CPUBIND_PROBLEM_NONE && active == 0 && n <= 1) {
            part_cores(f, core_of);
            break;
        }
        if (n == 0)
            return code;
        active = 1;
    }
    for (int32_t cpu = 0; cpu < f->n_cpu_id; cpu++)
        if (facts_is_online(f, cpu) && core_of[cpu] < 0) {
            core_of[cpu] = cpu;
            f->has_lone_cores = 1;
        }
    *is_known = 1;
    return code;
}

/* Takes the cores from the rows of `lscpu -e`, where each online CPU has one there. */
static cpubind_problem_code take_cores(facts_reader *r, int32_t *core_of, int *is_known)
{
    const cpubind_facts *f = r->facts;
    cpubind_lscpu_nodes rows;
    cpubind_input answer;
    int32_t n = 0;
    cpubind_problem_code code = read_rows(r, &rows, &answer);
    for (int32_t i = 0; code == CPUBIND_PROBLEM_NONE && i < rows.n; i++) {
        const int32_t cpu = rows.cpu[i], core = rows.core[i];
        int32_t first = 0;
        if (!facts_is_online(f, cpu) || core < 0)
            continue;
        while (rows.core[first] != core || !facts_is_online(f, rows.cpu[first]) ||
               f->node_of[rows.cpu[first]] != f->node_of[cpu]) {
            if (rows.core[first] == core && facts_is_online(f, rows.cpu[first]))
                note_split(r, INPUT_LSCPU_E, rows.cpu[first], cpu);
            first++;
        }
        core_of[cpu] = rows.cpu[first];
        n++;
    }
    *is_known = n == f->n_online;
    return code;
}

static cpubind_problem_code read_core_of(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    int32_t *core_of = new_ints(r, f->n_cpu_id), threads = 0;
    int is_known = 0;
    cpubind_problem_code code;
    if (!core_of)
        return facts_fail_memory(r);
    code = read_lists(r, core_of, &is_known);
    if (code == CPUBIND_PROBLEM_NONE && !is_known)
        code = take_cores(r, core_of, &is_known);
    if (code == CPUBIND_PROBLEM_NONE && !is_known)
        code = read_summary(r, &threads);
    if (threads == 1)
        part_cores(f, core_of);
    is_known |= threads == 1;
    f->core_of = code == CPUBIND_PROBLEM_NONE && is_known ? core_of : NULL;
    return code;
}

/* == Caches ================================================================= */

/* Reads the last caches: of index3, or of index2 where the first CPU has no other. A host of
 * which no CPU has either has none that are known; a CPU without has one of its own. */
static cpubind_problem_code read_caches(facts_reader *r)
{
    static const char *const files[] = {"cache/index3/shared_cpu_list",
                                        "cache/index2/shared_cpu_list"};
    cpubind_facts *f = r->facts;
    int32_t *cache_of = new_ints(r, f->n_cpu_id), n = 0;
    int is_known = 0;
    cpubind_problem_code code = cache_of ? CPUBIND_PROBLEM_NONE : facts_fail_memory(r);
    for (int file = 0; code == CPUBIND_PROBLEM_NONE && !is_known && file < 2; file++)
        for (int32_t cpu = 0; code == CPUBIND_PROBLEM_NONE && cpu < f->n_cpu_id; cpu++) {
            if (!facts_is_online(f, cpu) || cache_of[cpu] >= 0)
                continue;
            code = read_group(r, cpu, files[file], 0, cache_of, &n);
            is_known |= n > 0;
            if (!is_known)
                break;
        }
    f->cache_of = code == CPUBIND_PROBLEM_NONE && is_known ? cache_of : NULL;
    return code;
}

/* == Kinds ================================================================== */

/* Reads a number of each core from its first CPU. A CPU without one ends it, so that most hosts
 * are asked for one file: *is_known is 0 then. */
static cpubind_problem_code read_speeds(facts_reader *r, const char *file, int32_t *kind_of,
                                        int *is_known)
{
    const cpubind_facts *f = r->facts;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    *is_known = 0;
    for (int32_t cpu = 0; code == CPUBIND_PROBLEM_NONE && cpu < f->n_cpu_id; cpu++) {
        const int32_t core = cpubind_facts_core(f, cpu);
        if (!facts_is_online(f, cpu))
            continue;
        if (core != cpu)
            kind_of[cpu] = kind_of[core];
        else
            code = facts_read_number(r, facts_numbered_path(r, INPUT_CPUS, "cpu", cpu, file),
                                     -1, &kind_of[cpu]);
        *is_known = kind_of[cpu] >= 0;
        if (!*is_known)
            break;
    }
    return code;
}

/* Reads how fast the cores are: Intel lists the fast ones of two kinds, others have a capacity
 * of each CPU; and cores of one kind may have different base frequencies, as those of priority
 * have with Speed Select. */
static cpubind_problem_code read_kinds(facts_reader *r)
{
    static const char *const files[] = {"cpu_capacity", "cpufreq/base_frequency"};
    cpubind_facts *f = r->facts;
    int32_t *kind_of = new_ints(r, f->n_cpu_id), *list, n, at = 0, first = -1;
    cpubind_problem_code code =
        facts_read_cpus(r, INPUT_FAST_CPUS, cpubind_cpulist_parse, &list, &n);
    int is_known = n >= 0;
    if (!kind_of)
        return facts_fail_memory(r);
    for (int32_t cpu = 0; is_known && cpu < f->n_cpu_id; cpu++)
        if (facts_is_online(f, cpu))
            kind_of[cpu] = cpubind_list_has(list, n, cpu, &at);
    for (int i = 0; code == CPUBIND_PROBLEM_NONE && !is_known && i < 2; i++)
        code = read_speeds(r, files[i], kind_of, &is_known);
    for (int32_t cpu = 0; code == CPUBIND_PROBLEM_NONE && is_known && cpu < f->n_cpu_id;
         cpu++) {
        if (!facts_is_online(f, cpu))
            continue;
        first = first < 0 ? kind_of[cpu] : first;
        if (kind_of[cpu] != first)
            f->kind_of = kind_of;
    }
    return code;
}

/* == Sockets ================================================================ */

/* Reads the socket of each node by its first online CPU, else all of them from `lscpu -e`. The
 * kernel has -1 for a socket that it does not know. */
static cpubind_problem_code read_sockets(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    int32_t *socket = new_ints(r, f->n_node);
    int is_known = 1;
    cpubind_lscpu_nodes rows = {.n = 0};
    cpubind_input answer;
    cpubind_problem_code code = socket ? CPUBIND_PROBLEM_NONE : facts_fail_memory(r);
    for (int32_t cpu = 0; code == CPUBIND_PROBLEM_NONE && is_known && cpu < f->n_cpu_id;
         cpu++) {
        const int32_t i = cpubind_facts_node(f, f->node_of[cpu]);
        if (i < 0 || socket[i] >= 0)
            continue;
        code = facts_read_number(
            r, facts_numbered_path(r, INPUT_CPUS, "cpu", cpu, "topology/physical_package_id"),
            -1, &socket[i]);
        is_known = socket[i] >= 0;
    }
    if (code == CPUBIND_PROBLEM_NONE && !is_known)
        code = read_rows(r, &rows, &answer);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    for (int32_t i = 0; !is_known && i < f->n_node; i++)
        socket[i] = -1;
    for (int32_t i = rows.n - 1; i >= 0; i--)
        if (facts_is_online(f, rows.cpu[i]))
            socket[cpubind_facts_node(f, f->node_of[rows.cpu[i]])] = rows.socket[i];
    for (int32_t i = 0; i < f->n_node; i++)
        if (socket[i] < 0)
            return code;
    f->socket = socket;
    return code;
}

/* == Distances ============================================================== */

/* Lists the online nodes, of which each has a column in the rows of distances: node/online,
 * else the folders of nodes, else those with CPUs. */
cpubind_problem_code cpubind_priv_list_nodes(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_input listing;
    cpubind_piece name;
    int32_t at = 0;
    cpubind_problem_code code = facts_read_cpus(r, INPUT_NODES_ONLINE, cpubind_cpulist_parse,
                                                &f->all_node, &f->n_all_node);
    if (code != CPUBIND_PROBLEM_NONE || f->n_all_node > 0) {
        f->has_nodes = f->n_all_node > 0;
        return code;
    }
    listing = r->source->list(r->source->ctx, INPUT_NODES);
    code = facts_judge(r, INPUT_NODES, listing);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    f->all_node = cpubind_arena_ints(r->arena, facts_count_names(listing) + f->n_node + 1);
    if (!f->all_node)
        return facts_fail_memory(r);
    f->n_all_node = 0;
    while (facts_next_name(listing, &at, &name)) {
        const int32_t node = facts_number_after("node", listing.data, name);
        if (node >= 0)
            f->all_node[f->n_all_node++] = node;
    }
    f->has_nodes = f->n_all_node > 0;
    for (int32_t i = 0; !f->has_nodes && i < f->n_node; i++)
        f->all_node[f->n_all_node++] = f->node_id[i];
    if (f->n_all_node == 0)
        f->all_node[f->n_all_node++] = 0;
    return cpubind_list_sort(f->all_node, &f->n_all_node)
               ? CPUBIND_PROBLEM_NONE
               : facts_fail(r, CPUBIND_PROBLEM_UNREADABLE, "a node number is out of range");
}

/* Reads the distances from one node to all others.
 *   row     = *blank number *( blanks number ) LF      to each online node, ascending; > 0
 *   out     *is_there: 0 when there is no such file */
static cpubind_problem_code read_row(facts_reader *r, int32_t at, int32_t *out, int *is_there)
{
    const cpubind_facts *f = r->facts;
    const char *name = facts_numbered_path(r, INPUT_NODES, "node", f->all_node[at], "distance");
    cpubind_text_fault fault;
    cpubind_input answer;
    cpubind_problem_code code = facts_ask(r, name, &answer);
    *is_there = code == CPUBIND_PROBLEM_NONE && facts_is_present(answer);
    if (!*is_there)
        return code;
    cursor_text of;
    cursor c = cursor_open(&of, answer.data, answer.len, &fault, 1);
    cursor line = cursor_cut(&c, '\n');
    for (int32_t k = 0; k < f->n_all_node; k++) {
        const cursor word = cursor_word(&line);
        if (word.at == word.end)
            (void)cursor_bad(&word, "it has fewer distances than there are online nodes");
        out[k] = (int32_t)cursor_whole(word, CPUBIND_MAX_CPUS - 1);
        if (out[k] == 0)
            (void)cursor_bad(&word, "a distance is 0");
        out[k] = out[k] < CPUBIND_MAX_DISTANCE ? out[k] : CPUBIND_MAX_DISTANCE;
    }
    cursor_skip_blanks(&line);
    cursor_end(&line, "it has more distances than there are online nodes");
    cursor_tail(&c);
    code = facts_judge_text(r, name, answer, of.status, &fault);
    if (code == CPUBIND_PROBLEM_NONE)
        code = facts_check_end(r, name, answer);
    for (int32_t k = 0; code == CPUBIND_PROBLEM_NONE && k < f->n_all_node; k++)
        if (out[k] < out[at])
            code = facts_fail_input(r, name, answer, 0, "another node is nearer than itself");
    return code;
}

/* Fails because the distances of a node do not fit those of the other nodes. */
static cpubind_problem_code fail_row(facts_reader *r, int32_t node, const char *what)
{
    const char *name = facts_numbered_path(r, INPUT_NODES, "node", node, "distance");
    return name ? facts_fail_input(r, name, r->source->read(r->source->ctx, name), -1, what)
                : facts_fail_memory(r);
}

/* Reads the distances from all nodes. Those from a node without CPUs may be absent. A host with
 * more nodes than NEAR can plan has none. */
static cpubind_problem_code read_rows_of_nodes(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    int32_t *all, n_there = 0, n_asked = 0, first = -1;
    cpubind_problem_code code = cpubind_priv_list_nodes(r);
    const int32_t n = f->n_all_node;
    if (code != CPUBIND_PROBLEM_NONE || !f->has_nodes || n > CPUBIND_MAX_NODES)
        return code;
    all = new_ints(r, n * n);
    if (!all)
        return facts_fail_memory(r);
    for (int32_t i = 0; code == CPUBIND_PROBLEM_NONE && i < n; i++) {
        int is_there = 0;
        code = read_row(r, i, all + i * n, &is_there);
        if (code != CPUBIND_PROBLEM_NONE || cpubind_facts_node(f, f->all_node[i]) < 0)
            continue;
        first = first < 0 ? i : first;
        n_asked++;
        n_there += is_there;
        if (n_there != (is_there ? n_asked : 0))
            return fail_row(r, f->all_node[is_there ? first : i],
                            "it is not there, and other nodes have their distances");
        if (is_there && all[i * n + i] != all[first * n + first])
            return fail_row(r, f->all_node[i],
                            "its distance to itself is not that of other nodes");
    }
    if (code == CPUBIND_PROBLEM_NONE && n_there > 0)
        f->all_distance = all;
    return code;
}

/* Picks the distances between the nodes that have CPUs. */
static cpubind_problem_code pick_distances(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const int32_t n = f->n_node;
    int32_t *distance = f->all_distance ? cpubind_arena_ints(r->arena, n * n) : NULL;
    int32_t *at = f->all_distance ? cpubind_arena_ints(r->arena, n) : NULL;
    if (!f->all_distance)
        return CPUBIND_PROBLEM_NONE;
    if (!distance || !at)
        return facts_fail_memory(r);
    for (int32_t i = 0; i < n; i++) {
        at[i] = facts_node_index(f, f->node_id[i]);
        if (at[i] < 0)
            return facts_fail_input(r, INPUT_NODES_ONLINE,
                                    r->source->read(r->source->ctx, INPUT_NODES_ONLINE), 0,
                                    "it lacks a node that has CPUs");
    }
    for (int32_t i = 0; i < n * n; i++)
        distance[i] = f->all_distance[at[i / n] * f->n_all_node + at[i % n]];
    f->distance = distance;
    return CPUBIND_PROBLEM_NONE;
}

/* == All of it ============================================================== */

cpubind_problem_code cpubind_priv_read_cores(facts_reader *r)
{
    static cpubind_problem_code (*const steps[])(facts_reader *) = {read_core_of, read_caches,
                                                                    read_kinds, read_sockets};
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && code == CPUBIND_PROBLEM_NONE; i++)
        code = facts_put_off(r, steps[i](r), &r->facts->topology);
    return code;
}

cpubind_problem_code cpubind_priv_read_distances(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_problem_code code = facts_put_off(r, read_rows_of_nodes(r), &f->topology);
    if (code == CPUBIND_PROBLEM_NONE)
        code = facts_put_off(r, pick_distances(r), &f->topology);
    return code == CPUBIND_PROBLEM_NONE
               ? facts_read_cpus(r, INPUT_NODES "/has_memory", cpubind_cpulist_parse,
                                 &f->memory, &f->n_memory)
               : code;
}
