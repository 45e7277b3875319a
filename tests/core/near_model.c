/* near_model.c - random hosts for NEAR, and the steps N1 .. N4 of its rule a second time
 * SPDX-License-Identifier: MIT
 */
#include "near_model.h"

#include <string.h>

#include "model.h"

/* == Random hosts =========================================================== */

/* A machine: each CPU has a core and each core a node. */
typedef struct machine {
    int32_t n_cpu, n_core, n_node;
    int32_t core[NEAR_CPUS], node[NEAR_CPUS]; /* of a CPU */
} machine;

static int32_t below(uint64_t *state, int32_t n)
{
    return (int32_t)model_random(state, (uint32_t)n);
}

static int32_t once_in(uint64_t *state, int32_t n)
{
    return below(state, n) == 0;
}

/* Threads of a core have adjacent ids, or ids that are as far apart as there are cores. Cores
 * go to nodes in blocks, or one by one. */
static void make_machine(uint64_t *state, near_limits limits, machine *m)
{
    static const int32_t threads[] = {1, 1, 2, 2, 4};
    int32_t n_thread = threads[below(state, 5)];
    int32_t per_node = 1 + below(state, limits.cores);
    int32_t apart = once_in(state, 2);
    int32_t in_turn = once_in(state, 5);
    m->n_node = 1 + below(state, limits.nodes);
    m->n_core = m->n_node * per_node;
    m->n_cpu = m->n_core * n_thread;
    for (int32_t cpu = 0; cpu < m->n_cpu; cpu++) {
        int32_t core = apart ? cpu % m->n_core : cpu / n_thread;
        m->core[cpu] = core;
        m->node[cpu] = in_turn ? core % m->n_node : core / per_node;
    }
}

/* Which CPUs are allowed: all; a run; most; half; not one whole node; one thread of each
 * core. */
static int32_t is_allowed(uint64_t *state, int32_t kind, int32_t pick, const machine *m,
                          int32_t cpu)
{
    switch (kind) {
    case 1:
        return cpu >= pick % m->n_cpu;
    case 2:
        return !once_in(state, 6);
    case 3:
        return once_in(state, 2);
    case 4:
        return m->node[cpu] != pick % m->n_node || pick % 5 == 0;
    case 5:
        return cpu < m->n_cpu / 2 || pick % 2;
    default:
        return 1;
    }
}

static void make_allowed(uint64_t *state, const machine *m, near_host *h)
{
    int32_t kind = below(state, 9);
    int32_t pick = below(state, 1000);
    int32_t numbers = below(state, 4); /* of cores: 0 .. n - 1, backwards, mixed, with holes */
    h->host.n_cpu = 0;
    for (int32_t cpu = 0; cpu < m->n_cpu; cpu++) {
        int32_t core = m->core[cpu];
        if (!is_allowed(state, kind, pick, m, cpu))
            continue;
        if (numbers == 1)
            core = m->n_core - 1 - core;
        if (numbers == 2)
            core = core * 7919 % 65521;
        if (numbers == 3)
            core = core * 3 + 5;
        h->core[h->host.n_cpu] = core;
        h->node[h->host.n_cpu] = h->node_id[m->node[cpu]];
        h->cpu[h->host.n_cpu++] = cpu;
    }
    h->host.cpu = h->cpu;
    h->host.node = h->node;
    h->host.core = once_in(state, 4) ? NULL : h->core;
}

/* Sockets of 1, 2 or 4 neighbours, or at random; distances that fit them, or at random. */
static void make_nodes(uint64_t *state, const machine *m, near_host *h)
{
    int32_t per_socket = 1 << below(state, 3);
    int32_t kind = below(state, 6);
    int32_t id = below(state, 3);
    for (int32_t a = 0; a < m->n_node; a++) {
        h->node_id[a] = id;
        id += 1 + (once_in(state, 4) ? below(state, 250) : 0);
        h->socket[a] = kind == 5 ? below(state, 3) : a / per_socket;
    }
    for (int32_t a = 0; a < m->n_node; a++)
        for (int32_t b = 0; b < m->n_node; b++) {
            int32_t apart = a / per_socket - b / per_socket;
            int32_t d = a == b ? 10 : apart == 0 ? 12 : 20 + 4 * (apart < 0 ? -apart : apart);
            if (kind >= 4 && a != b)
                d = 10 + below(state, 15);
            h->distance[a * m->n_node + b] = d;
            if (a > b && kind >= 4)
                h->distance[a * m->n_node + b] = h->distance[b * m->n_node + a];
        }
    h->host.node_id = h->node_id;
    h->host.n_node = m->n_node;
    h->host.distance = once_in(state, 3) ? NULL : h->distance;
    h->host.socket = once_in(state, 2) ? NULL : h->socket;
}

/* An affinity: a node (three times), two nodes, a part or half of a node, CPUs anywhere, one
 * CPU, all CPUs, none. */
static int32_t is_affine(uint64_t *state, int32_t kind, int32_t pick, const machine *m,
                         int32_t node, int32_t cpu)
{
    switch (kind) {
    case 3:
        return m->node[cpu] == node || m->node[cpu] == (node + pick) % m->n_node;
    case 4:
        return m->node[cpu] == node && cpu % 3 != pick % 3;
    case 5:
        return m->node[cpu] == node && m->core[cpu] % 2 == pick % 2;
    case 6:
        return once_in(state, 6);
    case 7:
        return cpu == pick % m->n_cpu;
    case 8:
        return pick % 4 == 0;
    case 9:
    case 10:
        return 0;
    default:
        return m->node[cpu] == node;
    }
}

static void make_devices(uint64_t *state, near_limits limits, const machine *m, near_host *h)
{
    int32_t shape = below(state, 4); /* one node each, two devices a node, mixed twice */
    int32_t nodes_known = below(state, 3);
    int32_t n_device = 1 + below(state, limits.devices);
    int32_t n = 0;
    h->row[0] = 0;
    for (int32_t d = 0; d < n_device; d++) {
        int32_t node = shape == 0   ? d % m->n_node
                       : shape == 1 ? d / 2 % m->n_node
                                    : below(state, m->n_node);
        int32_t kind = shape < 2 ? 0 : below(state, 11);
        int32_t pick = below(state, 1000);
        for (int32_t cpu = 0; cpu < m->n_cpu; cpu++)
            if (is_affine(state, kind, pick, m, node, cpu))
                h->affinity[n++] = cpu;
        h->row[d + 1] = n;
        h->device_node[d] = once_in(state, 4) ? -1 : h->node_id[node] + (pick == 0 ? 1000 : 0);
        h->slot[d] = n_device - 1 - d;
    }
    if (once_in(state, 12)) { /* nothing is known */
        memset(h->row, 0, sizeof h->row);
        nodes_known = 0;
    }
    h->devices.affinity = (cpubind_lists){h->affinity, h->row, n_device};
    h->devices.slot = once_in(state, 2) ? NULL : h->slot;
    h->devices.total = once_in(state, 2) ? 0 : n_device + below(state, 3);
    h->devices.node = nodes_known ? h->device_node : NULL;
}

int32_t near_may_have(uint64_t *state, const near_host *h, int32_t kind, int32_t parts,
                      int32_t device, int32_t at)
{
    switch (kind) {
    case 0: /* all have all */
        return 1;
    case 1: /* disjoint runs, several devices to a run */
        return at * parts / h->host.n_cpu == device % parts;
    case 2: /* by node */
        return h->node[at] % parts == device % parts;
    case 3: /* runs that overlap */
        return at >= device * 2 && at < device * 2 + h->host.n_cpu / 2;
    case 4: /* one device is narrower than the others */
        return device > 0 || at * 3 / h->host.n_cpu == 1;
    case 5: /* by thread: cores are cut */
        return device % 2 == 0 || at % 2 == 0;
    case 6: /* a part of the CPUs, the same for all */
        return at % 3 != 0;
    case 7: /* one device alone, the others together */
        return (device == 0) == (at < h->host.n_cpu / 4);
    default:
        return below(state, parts + 1) > 0;
    }
}

void near_random(uint64_t *state, near_limits limits, near_host *h)
{
    static const cpubind_role_spec usual[] = {
        {{2, 1, 1, 1}}, {{0, 1, 1, 1}}, {{0, 1, 0, 0}}, {{0, 0, 0, 0}}};
    static machine m;
    int32_t kind = below(state, 6);
    make_machine(state, limits, &m);
    make_nodes(state, &m, h);
    make_allowed(state, &m, h);
    make_devices(state, limits, &m, h);
    memset(&h->policy, 0, sizeof h->policy);
    h->policy.strategy = CPUBIND_NEAR;
    h->need = 0;
    for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        int32_t most = role == CPUBIND_ROLE_IRQ ? 4 : role == CPUBIND_ROLE_MAIN ? 5 : 2;
        h->policy.roles.count[role] = kind < 4 ? usual[kind].count[role] : below(state, most);
        h->need += h->policy.roles.count[role];
    }
}

/* == N1 .. N3 =============================================================== */

static int32_t index_of(const int32_t *list, int32_t n, int32_t what)
{
    for (int32_t i = 0; i < n; i++)
        if (list[i] == what)
            return i;
    return -1;
}

static void find_cores(const near_host *h, near_model *m)
{
    for (int32_t i = 0; i < h->host.n_cpu; i++) {
        int32_t first = h->host.core ? index_of(h->host.core, i, h->host.core[i]) : -1;
        int32_t c = first >= 0 ? m->core_of[first] : m->n_core++;
        m->core_of[i] = c;
        m->size[c]++;
        m->node[c] = index_of(h->node_id, h->host.n_node, h->node[i]);
    }
}

static void find_homes(const near_host *h, near_model *m)
{
    for (int32_t d = 0; d < h->devices.affinity.n; d++) {
        int32_t known = -1;
        for (int32_t a = h->row[d]; a < h->row[d + 1]; a++) {
            int32_t i = index_of(h->cpu, h->host.n_cpu, h->affinity[a]);
            if (i < 0)
                continue;
            m->home[d][m->core_of[i]] = 1;
            m->homed[m->core_of[i]] = 1;
            m->place[d][m->node[m->core_of[i]]] = 1;
            m->has_home[d] = m->has_place[d] = 1;
        }
        if (h->devices.node && !m->has_home[d])
            known = index_of(h->node_id, h->host.n_node, h->devices.node[d]);
        if (known >= 0)
            m->has_place[d] = m->place[d][known] = 1;
        m->any_place |= m->has_place[d];
    }
}

/* A node is nearest to itself, whatever the distances are. */
static int32_t apart(const near_host *h, int32_t a, int32_t b)
{
    if (a == b)
        return 0;
    return h->host.distance ? h->host.distance[a * h->host.n_node + b] : 1;
}

static int32_t is_one_socket(const near_host *h, int32_t a, int32_t b)
{
    if (a == b)
        return 1;
    if (h->host.socket)
        return h->host.socket[a] == h->host.socket[b];
    return !h->host.distance || apart(h, a, b) < CPUBIND_FAR_DISTANCE;
}

int32_t near_distance(const near_host *h, const near_model *m, int32_t device, int32_t node,
                      int32_t is_bound)
{
    int32_t least = INT32_MAX;
    for (int32_t a = 0; a < h->host.n_node; a++)
        if (m->place[device][a] && (!is_bound || is_one_socket(h, a, node)) &&
            apart(h, a, node) < least)
            least = apart(h, a, node);
    return least;
}

/* N3 of one core. */
static void claim_nearest(const near_host *h, near_model *m, int32_t c)
{
    int32_t n_device = h->devices.affinity.n;
    int32_t least = INT32_MAX;
    for (int32_t d = 0; d < n_device; d++)
        if (near_distance(h, m, d, m->node[c], 1) < least)
            least = near_distance(h, m, d, m->node[c], 1);
    for (int32_t d = 0; d < n_device; d++)
        m->claim[d][c] = least != INT32_MAX && near_distance(h, m, d, m->node[c], 1) == least;
}

/* N6 */
static void find_displaced(const near_host *h, near_model *m)
{
    int32_t half = h->host.n_cpu / h->devices.affinity.n / 2;
    for (int32_t d = 0; d < h->devices.affinity.n; d++) {
        m->displaced[d] = 1;
        for (int32_t c = 0; c < m->n_core; c++)
            m->displaced[d] &= near_distance(h, m, d, m->node[c], 1) == INT32_MAX;
    }
    m->floor = half < h->need + 7 ? half : h->need + 7;
    m->floor = m->floor < h->need ? h->need : m->floor;
}

void near_solve(const near_host *h, near_model *m)
{
    memset(m, 0, sizeof *m);
    find_cores(h, m);
    find_homes(h, m);
    for (int32_t c = 0; c < m->n_core; c++)
        if (m->homed[c])
            for (int32_t d = 0; d < h->devices.affinity.n; d++)
                m->claim[d][c] = m->home[d][c];
        else
            claim_nearest(h, m, c);
    find_displaced(h, m);
}

/* == N4 ===================================================================== */

/* Finds a core for `device`, moving the cores of others where that helps (Kuhn). */
static int32_t find_core(const near_model *m, int32_t device, int32_t *owner, uint8_t *tried)
{
    for (int32_t c = 0; c < m->n_core; c++) {
        if (!m->claim[device][c] || tried[c])
            continue;
        tried[c] = 1;
        if (owner[c] < 0 || find_core(m, owner[c], owner, tried)) {
            owner[c] = device;
            return 1;
        }
    }
    return 0;
}

void near_best_sizes(const near_host *h, const near_model *m, int32_t *size)
{
    int32_t owner[NEAR_CPUS];
    int32_t full[NEAR_DEVICES] = {0};
    int32_t n_full = 0;
    int32_t n = 0;
    memset(owner, -1, sizeof owner);
    for (int32_t round = 0; n_full < h->devices.affinity.n; round++)
        for (int32_t d = 0; d < h->devices.affinity.n; d++) {
            uint8_t tried[NEAR_CPUS] = {0};
            if (full[d] || find_core(m, d, owner, tried))
                continue;
            full[d] = 1;
            n_full++;
            size[n++] = round;
        }
}

/* == Figures ================================================================ */

static void count_cpu(const near_host *h, const near_model *m, int32_t d, int32_t i,
                      int32_t is_irq, cpubind_quality *q)
{
    int32_t node = m->node[m->core_of[i]];
    int32_t is_near = m->place[d][node];
    q->n_cpu++;
    q->near_cpu += is_near;
    q->far_cpu += m->has_place[d] && near_distance(h, m, d, node, 1) == INT32_MAX;
    q->far_displaced +=
        m->displaced[d] && m->has_place[d] && near_distance(h, m, d, node, 1) == INT32_MAX;
    q->irq_off_node += is_irq && !is_near;
}

static void add_pool(cpubind_quality *total, const cpubind_quality *q)
{
    if (q->n_cpu == 0)
        return;
    total->smallest =
        total->n_pool == 0 || q->n_cpu < total->smallest ? q->n_cpu : total->smallest;
    total->largest = q->n_cpu > total->largest ? q->n_cpu : total->largest;
    total->n_pool++;
    total->n_cpu += q->n_cpu;
    total->near_cpu += q->near_cpu;
    total->far_cpu += q->far_cpu;
    total->far_displaced += q->far_displaced;
    total->irq_off_node += q->irq_off_node;
    total->n_pool_off_node += q->irq_off_node > 0;
}

void near_measure(const near_host *h, const near_model *m, const cpubind_lists *pools,
                  int32_t n_irq, cpubind_quality *total, cpubind_quality *each)
{
    static uint8_t in[NEAR_DEVICES][NEAR_CPUS]; /* a core is in a pool */
    static uint8_t taken[NEAR_CPUS];
    memset(in, 0, sizeof in);
    memset(taken, 0, sizeof taken);
    memset(total, 0, sizeof *total);
    for (int32_t d = 0; d < pools->n; d++) {
        memset(&each[d], 0, sizeof each[d]);
        for (int32_t k = pools->row[d]; k < pools->row[d + 1]; k++) {
            int32_t i = index_of(h->cpu, h->host.n_cpu, pools->cpu[k]);
            count_cpu(h, m, d, i, k - pools->row[d] < n_irq, &each[d]);
            in[d][m->core_of[i]] = taken[i] = 1;
        }
        each[d].n_pool = each[d].n_cpu > 0;
        each[d].smallest = each[d].largest = each[d].n_cpu;
        each[d].n_pool_off_node = each[d].irq_off_node > 0;
        add_pool(total, &each[d]);
    }
    for (int32_t i = 0; i < h->host.n_cpu; i++)
        total->idle += !taken[i];
    for (int32_t c = 0; c < m->n_core; c++) {
        int32_t n = 0;
        for (int32_t d = 0; d < pools->n; d++)
            n += in[d][c];
        total->split_cores += n > 1;
        for (int32_t d = 0; d < pools->n; d++)
            each[d].split_cores += n > 1 && in[d][c];
    }
}
