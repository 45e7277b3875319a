/* doctor_memory.c - checks of the memory of workers: far, shared, pinned pages; policies
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source. /proc/<pid>/numa_maps tells the pages by node; a mapping whose pages
 * other processes map too has mapmax=. /proc/<pid>/status tells how much is locked or pinned,
 * which the kernel does not move. The policy of a mapping is the second word of its line, as
 * mpol_to_str() of the kernel prints it.
 */
#include "../text/cpulist.h"
#include "../text/numa_maps.h"
#include "doctor_parts.h"

enum {
    MAX_NODES = 1024, /* of a kernel */
    PAGE_KB = 4,      /* of lines without a page size, of kernels before 4.0 */
    LEAST_MIB = 64    /* less is not worth a finding */
};

#define LEAST ((int64_t)LEAST_MIB << 20)

/* The memory of a worker, in bytes. */
typedef struct memory {
    int64_t *own, *shared; /* by node */
    int64_t own_all, own_far, shared_all, shared_far, pinned;
    int64_t by_policy;   /* of its own, in mappings whose policy asks for other nodes */
    doctor_text policy;  /* the first of these policies: "interleave:0-3" */
    int32_t node;        /* that the plan has for it */
    int32_t shared_node; /* that has most of the shared pages */
    const char *input;
} memory;

static int is_shared(const char *line, int32_t len)
{
    static const char word[] = " mapmax=";
    const int32_t n = (int32_t)sizeof word - 1;
    for (int32_t i = 0; i + n <= len; i++)
        if (memcmp(line + i, word, (size_t)n) == 0)
            return 1;
    return 0;
}

/* The policy of a mapping: its text, and the list of nodes in it; len 0: there is no policy or
 * the policy names no nodes. */
static cpubind_piece find_policy(const char *line, int32_t len, cpubind_piece *nodes)
{
    static const char *const words[] = {"bind", "interleave", "weighted interleave",
                                        "prefer (many)", "prefer"};
    const char *blank = (const char *)memchr(line, ' ', (size_t)len);
    const int32_t start = blank ? (int32_t)(blank - line) + 1 : len;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const int32_t n = (int32_t)strlen(words[i]);
        int32_t at = start + n, end;
        if (at >= len || memcmp(line + start, words[i], (size_t)n) != 0)
            continue;
        /* "=static", "=relative", "=balancing" */
        while (at < len &&
               (line[at] == '=' || line[at] == '|' || (line[at] >= 'a' && line[at] <= 'z')))
            at++;
        if (at >= len || line[at] != ':')
            continue;
        for (end = ++at; end < len && line[end] != ' ';)
            end++;
        *nodes = (cpubind_piece){at, end - at};
        return (cpubind_piece){start, end - start};
    }
    return (cpubind_piece){start, 0};
}

/* Adds a line of a worker's own memory whose policy asks for nodes apart from the planned one.
 * A policy that spreads pages over nodes asks for others, even if the planned one is among
 * them. */
static void add_policy(doctor *d, const char *line, int32_t len, int64_t bytes, memory *m)
{
    cpubind_int_list list = {d->cpu, CPUBIND_MAX_CPUS, 0};
    cpubind_piece nodes;
    const cpubind_piece policy = find_policy(line, len, &nodes);
    if (policy.len == 0 ||
        cpubind_cpulist_parse(line + nodes.at, nodes.len, CPUBIND_MAX_CPUS, &list, NULL) !=
            CPUBIND_TEXT_OK ||
        (doctor_has(d->cpu, list.n, m->node) &&
         (list.n == 1 || line[policy.at] == 'b' || line[policy.at] == 'p')))
        return;
    m->by_policy += bytes;
    if (m->policy.len == 0)
        doctor_add_bytes(&m->policy, line + policy.at, policy.len);
}

/* Adds up the lines of numa_maps; 0 after doctor_lack. */
static int add_lines(doctor *d, cpubind_input answer, memory *m)
{
    cpubind_piece line;
    for (int32_t at = 0; doctor_next_line(answer, &at, &line);) {
        const char *bytes = answer.data + line.at;
        const cpubind_numa_nodes to = {is_shared(bytes, line.len) ? m->shared : m->own,
                                       MAX_NODES, m->node};
        cpubind_numa_line read;
        if (cpubind_numa_maps_line_parse(bytes, answer.len - line.at, PAGE_KB, &to, &read,
                                         NULL) != CPUBIND_TEXT_OK) {
            doctor_lack(d, m->input, answer);
            return 0;
        }
        if (to.bytes == m->own)
            add_policy(d, bytes, line.len, read.total, m);
    }
    return 1;
}

/* "VmPin:     123 kB" in bytes. */
static int64_t read_kb(cpubind_input status, const char *key)
{
    int64_t kb = 0;
    if (status.state == CPUBIND_INPUT_PRESENT)
        (void)cpubind_kb_find(status.data, status.len, key, &kb, NULL);
    return kb < INT64_MAX >> 10 ? kb << 10 : INT64_MAX;
}

/* Reads the memory of a worker; 0 when it is not known or the plan has no node for it. */
static int read_memory(doctor *d, const doctor_worker *w, memory *m)
{
    doctor_text maps = {.len = 0}, status_name = {.len = 0};
    cpubind_input answer, status;
    memset(m->own, 0, MAX_NODES * sizeof *m->own);
    memset(m->shared, 0, MAX_NODES * sizeof *m->shared);
    m->own_all = m->own_far = m->shared_all = m->shared_far = m->by_policy = 0;
    m->policy = (doctor_text){.len = 0};
    m->node = w->row >= 0 ? d->plan->memory_node[w->row] : -1;
    m->shared_node = 0;
    doctor_add(&maps, "proc/%d/numa_maps", (int)w->pid);
    doctor_add(&status_name, "proc/%d/status", (int)w->pid);
    if (m->node < 0 || !doctor_read(d, maps.text, &answer) ||
        !doctor_read(d, status_name.text, &status))
        return 0;
    m->input = doctor_keep(d, maps.text);
    if (!add_lines(d, answer, m))
        return 0;
    for (int32_t node = 0; node < MAX_NODES; node++) {
        m->own_all += m->own[node];
        m->own_far += node == m->node ? 0 : m->own[node];
        m->shared_all += m->shared[node];
        m->shared_far += node == m->node ? 0 : m->shared[node];
        if (m->shared[node] > m->shared[m->shared_node])
            m->shared_node = node;
    }
    m->pinned = read_kb(status, "VmPin") + read_kb(status, "VmLck");
    return 1;
}

/* Whether so much is far that it is worth a finding: a tenth, as for cpubind verify. */
static int is_much(int64_t far, int64_t all)
{
    return far >= LEAST && far > all / 10;
}

static void find(doctor *d, const doctor_worker *w, const memory *m, const char *what,
                 int64_t far, const doctor_text *command)
{
    doctor_text evidence = {.of = d}, value = {.len = 0};
    cpubind_doctor_finding *f;
    doctor_add_mib(&evidence, far);
    doctor_add(&evidence, " of the %s of process %d, which drives %s, are not on node %d", what,
               (int)w->pid, doctor_name(d, w), (int)m->node);
    for (int32_t node = 0; node < MAX_NODES; node++) {
        const int64_t bytes = m->own[node] + m->shared[node];
        if (bytes == 0)
            continue;
        doctor_add(&value, "%snode %d: ", value.len ? ", " : "", (int)node);
        doctor_add_mib(&value, bytes);
    }
    f = doctor_find_of(d, w, &evidence, command);
    f->input = m->input;
    f->value = doctor_keep(d, value.text);
    f->number[0] = (cpubind_doctor_number){"far_bytes", far};
    f->number[1] = (cpubind_doctor_number){"node", m->node};
    f->number[2] = (cpubind_doctor_number){"pinned_bytes", m->pinned};
}

static void find_policy_of(doctor *d, const doctor_worker *w, const memory *m,
                           const doctor_text *command)
{
    doctor_text evidence = {.of = d};
    cpubind_doctor_finding *f;
    doctor_add_mib(&evidence, m->by_policy);
    doctor_add(&evidence,
               " of the memory of process %d, which drives %s, have a policy that asks for "
               "other nodes than %d",
               (int)w->pid, doctor_name(d, w), (int)m->node);
    f = doctor_find_of(d, w, &evidence, command);
    f->input = m->input;
    f->value = doctor_keep(d, m->policy.text);
    f->number[0] = (cpubind_doctor_number){"policy_bytes", m->by_policy};
    f->number[1] = (cpubind_doctor_number){"node", m->node};
}

/* The four checks of memory; which of them runs decides what is found. */
typedef enum memory_kind { KIND_FAR, KIND_SHARED, KIND_PINNED, KIND_POLICY } memory_kind;

static void check_worker(doctor *d, const doctor_worker *w, const memory *m, memory_kind kind)
{
    const int64_t movable = m->own_far - (m->pinned < m->own_far ? m->pinned : m->own_far);
    const int64_t far = m->own_far + m->shared_far, all = m->own_all + m->shared_all;
    doctor_text command = {.of = d};
    switch (kind) {
    case KIND_FAR:
        doctor_add_apply(d, w, &command);
        if (is_much(movable, m->own_all))
            find(d, w, m, "memory", m->own_far, &command);
        break;
    case KIND_SHARED:
        doctor_add(&command, "numactl --interleave=all COMMAND");
        if (is_much(m->shared_far, m->shared_all) && m->shared_node != m->node &&
            m->shared[m->shared_node] > m->shared_all / 2)
            find(d, w, m, "pages that other processes share", m->shared_far, &command);
        break;
    case KIND_PINNED:
        doctor_add(&command, "cpubind run %s -- COMMAND", doctor_option(d, w));
        if (is_much(m->pinned < far ? m->pinned : far, all))
            find(d, w, m, "pinned or locked memory", m->pinned < far ? m->pinned : far,
                 &command);
        break;
    case KIND_POLICY:
        doctor_add(&command, "cpubind run %s -- COMMAND", doctor_option(d, w));
        if (is_much(m->by_policy, m->own_all))
            find_policy_of(d, w, m, &command);
        break;
    }
}

static void check_memory(doctor *d, memory_kind kind)
{
    memory m = {.own = NULL};
    if (!doctor_has_workers(d) || !doctor_has_plan(d))
        return;
    m.own = (int64_t *)cpubind_arena_take(d->arena, MAX_NODES, sizeof *m.own);
    m.shared = (int64_t *)cpubind_arena_take(d->arena, MAX_NODES, sizeof *m.shared);
    d->is_short |= !m.own || !m.shared;
    for (int32_t i = 0; !d->is_short && i < d->n_worker; i++)
        if (read_memory(d, &d->worker[i], &m))
            check_worker(d, &d->worker[i], &m, kind);
}

void doctor_check_far_memory(doctor *d)
{
    check_memory(d, KIND_FAR);
}

void doctor_check_shared_memory(doctor *d)
{
    check_memory(d, KIND_SHARED);
}

void doctor_check_pinned_memory(doctor *d)
{
    check_memory(d, KIND_PINNED);
}

void doctor_check_memory_policy(doctor *d)
{
    check_memory(d, KIND_POLICY);
}
