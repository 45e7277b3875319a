/* model.c - the rules of a plan a second time, written to be obvious
 * SPDX-License-Identifier: MIT
 */
#include "model.h"

#include <string.h>

uint32_t model_random(uint64_t *state, uint32_t below)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return (uint32_t)((x >> 32) % below);
}

/* How the CPUs are numbered over the nodes: in blocks, in two blocks each (threads), one by
 * one, or at random. */
static int32_t node_of(uint64_t *state, uint32_t kind, int32_t cpu, int32_t n_cpu,
                       int32_t n_node)
{
    int32_t block = (n_cpu + n_node - 1) / n_node;
    int32_t half = (n_cpu / 2 + n_node - 1) / n_node;
    if (kind == 0)
        return cpu / block;
    if (kind == 1 && half > 0)
        return (cpu % (half * n_node)) / half;
    if (kind == 2)
        return cpu % n_node;
    return (int32_t)model_random(state, (uint32_t)n_node);
}

static void make_nodes(uint64_t *state, int32_t n_cpu, model_host *h)
{
    uint32_t kind = model_random(state, 4);
    int32_t id = (int32_t)model_random(state, 3);
    h->n_node = 1 + (int32_t)model_random(state, 8);
    memset(h->node_cpu, 0, sizeof h->node_cpu);
    for (int32_t i = 0; i < h->n_node; i++) {
        h->node_id[i] = id;
        id += 1 + (model_random(state, 4) == 0 ? (int32_t)model_random(state, 250) : 0);
    }
    for (int32_t cpu = 0; cpu < n_cpu; cpu++)
        h->node_cpu[node_of(state, kind, cpu, n_cpu, h->n_node)].has[cpu] = 1;
}

static void make_allowed(uint64_t *state, int32_t n_cpu, model_host *h)
{
    uint32_t kind = model_random(state, 4);
    int32_t from = kind == 1 ? (int32_t)model_random(state, (uint32_t)n_cpu) : 0;
    h->n_cpu = 0;
    for (int32_t cpu = from; cpu < n_cpu; cpu++) {
        if (kind == 2 && model_random(state, 4) == 0)
            continue;
        if (kind == 3 && model_random(state, 2) == 0)
            continue;
        for (int32_t node = 0; node < h->n_node; node++)
            if (h->node_cpu[node].has[cpu])
                h->node[h->n_cpu] = h->node_id[node];
        h->cpu[h->n_cpu++] = cpu;
    }
}

/* Kinds of affinity that hosts report: a node, a node for two devices, two nodes, part of a
 * node, a few CPUs anywhere, everything, nothing. */
static int32_t is_near(uint64_t *state, uint32_t kind, const model_host *h, int32_t node,
                       int32_t cpu, uint32_t salt)
{
    int32_t other = (node + (int32_t)salt % h->n_node) % h->n_node;
    switch (kind) {
    case 0:
    case 1:
    case 2:
        return h->node_cpu[node].has[cpu];
    case 3:
        return h->node_cpu[node].has[cpu] || h->node_cpu[other].has[cpu];
    case 4:
        return h->node_cpu[node].has[cpu] && (uint32_t)cpu % 3 != salt % 3;
    case 5:
        return model_random(state, 6) == 0;
    case 6:
        return salt % 8 == 0;
    default:
        return 0;
    }
}

static void make_devices(uint64_t *state, int32_t n_cpu, int32_t max_device, model_host *h)
{
    int32_t n = 0;
    int32_t shape = (int32_t)model_random(state, 3); /* all alike, paired, mixed */
    uint32_t kind = 0;
    h->n_device = 1 + (int32_t)model_random(state, (uint32_t)max_device);
    h->n_want = 0;
    h->row[0] = 0;
    for (int32_t d = 0; d < h->n_device; d++) {
        int32_t node = (int32_t)model_random(state, (uint32_t)h->n_node);
        uint32_t salt = model_random(state, 1000);
        if (shape == 0)
            node = d % h->n_node;
        if (shape == 1)
            node = d / 2 % h->n_node;
        if (shape == 2)
            kind = model_random(state, 8);
        for (int32_t cpu = 0; cpu < n_cpu; cpu++)
            if (is_near(state, kind, h, node, cpu, salt))
                h->affinity[n++] = cpu;
        h->row[d + 1] = n;
    }
}

void model_make_host(uint64_t *state, int32_t max_cpu, int32_t max_device, model_host *h)
{
    static const cpubind_role_spec roles = {{0, 0, 0, 0}};
    int32_t n_cpu = 1 + (int32_t)model_random(state, (uint32_t)max_cpu);
    make_nodes(state, n_cpu, h);
    make_allowed(state, n_cpu, h);
    make_devices(state, n_cpu, max_device, h);
    h->policy.strategy = CPUBIND_TOPO_AFFINITY;
    h->policy.overlap = CPUBIND_OVERLAP_RESOLVE;
    h->policy.roles = roles;
    h->policy.cluster = 1;
    h->policy.has_spare_node = 0;
    h->policy.spare_node = 0;
}

cpubind_host model_core_host(const model_host *h)
{
    cpubind_host host;
    host.cpu = h->cpu;
    host.node = h->node;
    host.node_id = h->node_id;
    host.n_cpu = h->n_cpu;
    host.n_node = h->n_node;
    return host;
}

cpubind_devices model_core_devices(const model_host *h)
{
    cpubind_devices devices;
    memset(&devices, 0, sizeof devices);
    devices.affinity.cpu = h->affinity;
    devices.affinity.row = h->row;
    devices.affinity.n = h->n_device;
    return devices;
}

int32_t model_count(const model_set *set)
{
    int32_t n = 0;
    for (int32_t cpu = 0; cpu < MODEL_CPUS; cpu++)
        n += set->has[cpu];
    return n;
}

static model_set allowed_set(const model_host *h)
{
    model_set set;
    memset(&set, 0, sizeof set);
    for (int32_t i = 0; i < h->n_cpu; i++)
        set.has[h->cpu[i]] = 1;
    return set;
}

/* The node after the only one of a home, or -1 for a home on several or none. */
static int32_t next_node(const model_host *h, const model_set *home)
{
    int32_t found = -1;
    for (int32_t node = 0; node < h->n_node; node++) {
        int32_t meets = 0;
        for (int32_t cpu = 0; cpu < MODEL_CPUS; cpu++)
            meets |= home->has[cpu] && h->node_cpu[node].has[cpu];
        if (meets && found >= 0)
            return -1;
        if (meets)
            found = node;
    }
    return found < 0 ? -1 : (found + 1) % h->n_node;
}

static int32_t same(const model_set *a, const model_set *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Part `index` of `parts` of a set; the last part has the rest. */
static model_set part_of(const model_set *set, int32_t parts, int32_t index)
{
    model_set out;
    int32_t each = model_count(set) / parts;
    int32_t seen = 0;
    memset(&out, 0, sizeof out);
    for (int32_t cpu = 0; cpu < MODEL_CPUS; cpu++) {
        if (!set->has[cpu])
            continue;
        out.has[cpu] =
            seen >= index * each && (seen < (index + 1) * each || index == parts - 1);
        seen++;
    }
    return out;
}

static void extend(const model_host *h, const model_set *allowed, const model_set *home,
                   model_set *pool)
{
    int32_t next = next_node(h, home);
    *pool = *home;
    for (int32_t cpu = 0; next >= 0 && cpu < MODEL_CPUS; cpu++)
        pool->has[cpu] |= h->node_cpu[next].has[cpu] && allowed->has[cpu];
}

void model_topo_affinity(const model_host *h, model_plan *out)
{
    model_set allowed = allowed_set(h);
    model_set *wide = out->wide;
    memset(out, 0, sizeof *out);
    for (int32_t d = 0; d < h->n_device; d++) {
        for (int32_t i = h->row[d]; i < h->row[d + 1]; i++)
            out->home[d].has[h->affinity[i]] = allowed.has[h->affinity[i]];
        extend(h, &allowed, &out->home[d], &wide[d]);
    }
    for (int32_t d = 0; d < h->n_device; d++) {
        int32_t parts = 0;
        int32_t index = 0;
        if (model_count(&out->home[d]) == 0)
            continue;
        for (int32_t e = 0; e < h->n_device; e++) {
            if (e == d)
                index = parts;
            parts += model_count(&out->home[e]) > 0 && same(&wide[d], &wide[e]);
        }
        out->pool[d] = part_of(&wide[d], parts, index);
    }
    for (int32_t cpu = 0; cpu < MODEL_CPUS; cpu++)
        for (int32_t a = 0; a < h->n_device; a++)
            for (int32_t b = a + 1; b < h->n_device; b++)
                if (out->pool[a].has[cpu] && out->pool[b].has[cpu]) {
                    out->overlap = 1;
                    out->a = a;
                    out->b = b;
                    out->cpu = cpu;
                }
}

void model_claims(const model_host *h, const model_plan *plan, model_set *claim)
{
    model_set allowed = allowed_set(h);
    for (int32_t d = 0; d < h->n_device; d++) {
        int32_t next = next_node(h, &plan->home[d]);
        claim[d] = plan->home[d];
        for (int32_t cpu = 0; next >= 0 && cpu < MODEL_CPUS; cpu++) {
            int32_t homed = 0;
            for (int32_t e = 0; e < h->n_device; e++)
                homed |= plan->home[e].has[cpu];
            if (!homed && allowed.has[cpu] && h->node_cpu[next].has[cpu])
                claim[d].has[cpu] = 1;
        }
    }
}

/* Find a CPU for `device`, moving others on where that helps (Kuhn). */
static int32_t place(const model_host *h, const model_set *claim, int32_t device,
                     int32_t *owner, uint8_t *tried)
{
    for (int32_t i = 0; i < h->n_cpu; i++) {
        int32_t cpu = h->cpu[i];
        if (!claim[device].has[cpu] || tried[cpu])
            continue;
        tried[cpu] = 1;
        if (owner[cpu] < 0 || place(h, claim, owner[cpu], owner, tried)) {
            owner[cpu] = device;
            return 1;
        }
    }
    return 0;
}

int32_t model_best_smallest(const model_host *h, const model_plan *plan, const model_set *claim)
{
    int32_t owner[MODEL_CPUS];
    memset(owner, -1, sizeof owner);
    for (int32_t size = 0; size < h->n_cpu; size++) {
        for (int32_t d = 0; d < h->n_device; d++) {
            uint8_t tried[MODEL_CPUS] = {0};
            if (model_count(&plan->home[d]) > 0 && !place(h, claim, d, owner, tried))
                return size;
        }
    }
    return h->n_cpu;
}
