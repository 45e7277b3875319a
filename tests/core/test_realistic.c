/* test_realistic.c - NEAR on hosts as they are built and rented
 * SPDX-License-Identifier: MIT
 *
 * One to four sockets of one, two or four nodes, up to 640 CPUs, with and without siblings;
 * devices at nodes or sockets; cpusets as container managers cut them, with gaps too. On all of
 * them: no core is split, the interrupts of a device are on its home, and the smallest pool is
 * at most two cores below the best that its rule allows.
 *
 * CPUBIND_TEST_HOSTS sets the number of hosts (default 4,000), CPUBIND_SEED the first. A
 * failure prints the seed of its host.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/test.h"
#include "model.h"
#include "near_model.h"

enum { GROUPS = NEAR_CPUS, BEST_LOSS = 2 };

/* Sums over all hosts, so that a kind of host that never came is seen. */
static struct tally {
    int32_t hosts, devices, cores, split, at_home, off_home, displaced, gaps, floor;
    int32_t loss[BEST_LOSS + 1]; /* hosts whose smallest pool is so many cores below the best */
} tally;

static uint64_t host_seed; /* of the host in work */

static int32_t below(uint64_t *state, int32_t n)
{
    return (int32_t)model_random(state, (uint32_t)n);
}

/* == Hosts ================================================================== */

typedef struct shape {
    int32_t n_socket, per_socket, n_node, n_core, n_thread; /* n_core: of a node */
    int32_t is_halves; /* siblings have their ids in the second half */
} shape;

static shape draw_shape(uint64_t *state)
{
    static const int32_t cores[] = {8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96};
    shape s;
    do {
        s.n_socket = 1 << below(state, 3);
        s.per_socket = 1 << below(state, 3);
        s.n_node = s.n_socket * s.per_socket;
        s.n_core = cores[below(state, (int32_t)(sizeof cores / sizeof *cores))];
        s.n_thread = 1 + below(state, 2);
        s.is_halves = below(state, 2);
    } while (s.n_node * s.n_core * s.n_thread > NEAR_CPUS);
    return s;
}

static int32_t core_of_cpu(const shape *s, int32_t cpu)
{
    return s->is_halves ? cpu % (s->n_node * s->n_core) : cpu / s->n_thread;
}

/* Whether a cpuset has a CPU: all; without some nodes; a run of cores; cores with gaps; CPUs
 * with gaps; one thread of each core. `pick` is drawn once. */
static int32_t is_allowed(uint64_t *state, const shape *s, int32_t kind, int32_t pick,
                          int32_t cpu)
{
    const int32_t core = core_of_cpu(s, cpu);
    const int32_t n_core = s->n_node * s->n_core;
    switch (kind) {
    case 1:
        return s->n_node == 1 || !((pick >> core / s->n_core) & 1);
    case 2:
        return core >= pick % (n_core / 2) && core < pick % (n_core / 2) + n_core / 2;
    case 3:
        return (core * 7919 + pick) % 11 > pick % 4;
    case 4:
        return below(state, 6) > 0;
    case 5:
        return s->is_halves ? cpu < n_core : cpu % s->n_thread == 0;
    default:
        return 1;
    }
}

static void add_cpus(uint64_t *state, const shape *s, near_host *h)
{
    const int32_t kind = below(state, 9);
    const int32_t pick = below(state, 0xffff);
    for (int32_t cpu = 0; cpu < s->n_node * s->n_core * s->n_thread; cpu++) {
        if (!is_allowed(state, s, kind, pick, cpu))
            continue;
        h->core[h->host.n_cpu] = core_of_cpu(s, cpu);
        h->node[h->host.n_cpu] = core_of_cpu(s, cpu) / s->n_core;
        h->cpu[h->host.n_cpu++] = cpu;
    }
    tally.gaps += kind == 3 || kind == 4;
    h->host.cpu = h->cpu;
    h->host.node = h->node;
    h->host.core = h->core;
}

static void add_nodes(const shape *s, near_host *h)
{
    for (int32_t a = 0; a < s->n_node; a++) {
        h->node_id[a] = a;
        h->socket[a] = a / s->per_socket;
        for (int32_t b = 0; b < s->n_node; b++) {
            const int32_t hops = abs(a / s->per_socket - b / s->per_socket);
            h->distance[a * s->n_node + b] = a == b ? 10 : hops ? 20 + hops : 12;
        }
    }
    h->host.node_id = h->node_id;
    h->host.n_node = s->n_node;
    h->host.distance = h->distance;
    h->host.socket = h->socket;
}

/* Devices evenly over the nodes, over every second one, or over sockets; on one node; or at
 * random. A home is a node, or a socket. */
static void add_devices(uint64_t *state, const shape *s, near_host *h)
{
    static const int32_t counts[] = {1, 2, 2, 4, 4, 8, 8, 8, 16};
    const int32_t kind = below(state, 6);
    const int32_t one = below(state, s->n_node);
    const int32_t by_socket = below(state, 4) == 0;
    const int32_t n = counts[below(state, (int32_t)(sizeof counts / sizeof *counts))];
    int32_t n_affinity = 0;
    for (int32_t d = 0; d < n; d++) {
        const int32_t node = kind == 0   ? d * s->n_node / n
                             : kind == 1 ? d * s->n_node / n / 2 * 2
                             : kind == 2 ? d % s->n_socket * s->per_socket
                             : kind == 3 ? one
                                         : below(state, s->n_node);
        for (int32_t cpu = 0; cpu < s->n_node * s->n_core * s->n_thread; cpu++) {
            const int32_t other = core_of_cpu(s, cpu) / s->n_core;
            if (other == node || (by_socket && other / s->per_socket == node / s->per_socket))
                h->affinity[n_affinity++] = cpu;
        }
        h->device_node[d] = node;
        h->row[d + 1] = n_affinity;
    }
    h->devices.affinity = (cpubind_lists){h->affinity, h->row, n};
    h->devices.node = h->device_node;
}

/* A host that has CPUs for all of its devices. */
static void draw_host(uint64_t *state, near_host *h)
{
    static const cpubind_role_spec roles[] = {{{2, 1, 1, 1}}, {{0, 1, 0, 0}}};
    do {
        const shape s = draw_shape(state);
        memset(h, 0, sizeof *h);
        add_cpus(state, &s, h);
        add_nodes(&s, h);
        add_devices(state, &s, h);
        h->policy.strategy = CPUBIND_NEAR;
        h->policy.roles = roles[below(state, 2)];
        h->need = 0;
        for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++)
            h->need += h->policy.roles.count[role];
    } while (h->host.n_cpu < 2 * h->need * h->devices.affinity.n);
}

/* == The best smallest pool ================================================= */

/* CPUs that the same devices may be given: a flow from devices to groups. */
typedef struct network {
    int32_t n_device, n_group;
    int32_t may[NEAR_DEVICES][GROUPS], flow[NEAR_DEVICES][GROUPS], left[GROUPS];
    uint8_t seen_device[NEAR_DEVICES], seen_group[GROUPS];
} network;

/* Whether a device of the group of these claims may be given a core, all of N2, N3 and N6. */
static int32_t may_have(const near_model *m, int32_t d, int32_t c, int32_t is_below_floor)
{
    int32_t any = 0;
    for (int32_t other = 0; other < NEAR_DEVICES; other++)
        any |= m->claim[other][c];
    return m->claim[d][c] || (!any && (m->displaced[d] || is_below_floor));
}

static void open_network(const near_host *h, const near_model *m, int32_t is_below_floor,
                         network *f)
{
    memset(f, 0, sizeof *f);
    f->n_device = h->devices.affinity.n;
    for (int32_t c = 0; c < m->n_core; c++) {
        int32_t g = 0;
        int32_t is_same = 0;
        for (; g < f->n_group && !is_same; g += !is_same) {
            is_same = 1;
            for (int32_t d = 0; d < f->n_device; d++)
                is_same &= f->may[d][g] == may_have(m, d, c, is_below_floor);
        }
        for (int32_t d = 0; d < f->n_device; d++)
            f->may[d][g] = may_have(m, d, c, is_below_floor);
        f->n_group += g == f->n_group;
        f->left[g] += m->size[c];
    }
}

/* Finds up to `want` more CPUs for a device, which may take them from others that find more. */
static int32_t find_more(network *f, int32_t d, int32_t want)
{
    f->seen_device[d] = 1;
    for (int32_t g = 0; g < f->n_group; g++) {
        const int32_t n = f->left[g] < want ? f->left[g] : want;
        if (!f->may[d][g] || n == 0)
            continue;
        f->left[g] -= n;
        f->flow[d][g] += n;
        return n;
    }
    for (int32_t g = 0; g < f->n_group; g++) {
        if (!f->may[d][g] || f->seen_group[g])
            continue;
        f->seen_group[g] = 1;
        for (int32_t other = 0; other < f->n_device; other++) {
            const int32_t most = f->flow[other][g] < want ? f->flow[other][g] : want;
            const int32_t n =
                f->seen_device[other] || most == 0 ? 0 : find_more(f, other, most);
            f->flow[other][g] -= n;
            f->flow[d][g] += n;
            if (n > 0)
                return n;
        }
    }
    return 0;
}

/* Whether every device can have `size` CPUs. */
static int32_t can_all_have(const near_host *h, const near_model *m, int32_t size)
{
    static network f;
    open_network(h, m, size <= m->floor, &f);
    for (int32_t d = 0; d < f.n_device; d++)
        for (int32_t have = 0; have < size;) {
            int32_t n;
            memset(f.seen_device, 0, sizeof f.seen_device);
            memset(f.seen_group, 0, sizeof f.seen_group);
            n = find_more(&f, d, size - have);
            if (n == 0)
                return 0;
            have += n;
        }
    return 1;
}

/* == The laws =============================================================== */

/* Whether whole cores of its home are enough for the interrupts of all devices that share
 * it. */
static int32_t is_home_enough(const near_host *h, const near_model *m, int32_t d)
{
    int32_t n_device = 0;
    int32_t n_core = 0;
    int32_t narrowest = INT32_MAX;
    for (int32_t c = 0; c < m->n_core; c++)
        if (m->home[d][c]) {
            n_core++;
            narrowest = m->size[c] < narrowest ? m->size[c] : narrowest;
        }
    for (int32_t other = 0; other < h->devices.affinity.n; other++) {
        int32_t is_shared = 0;
        for (int32_t c = 0; c < m->n_core; c++)
            is_shared |= m->home[d][c] && m->home[other][c];
        n_device += is_shared;
    }
    return n_core > 0 &&
           n_core / n_device * narrowest >= h->policy.roles.count[CPUBIND_ROLE_IRQ];
}

static void check_irq(const near_host *h, const near_model *m, const cpubind_plan *plan,
                      int32_t d)
{
    static int32_t work[CPUBIND_PLACE_WORK(NEAR_CPUS, NEAR_NODES)], out[NEAR_CPUS];
    cpubind_placing p = {.cpu = plan->cpu + plan->row[d],
                         .n_cpu = plan->row[d + 1] - plan->row[d],
                         .device = d,
                         .is_near = 1,
                         .roles = h->policy.roles,
                         .out_cpu = out,
                         .work = work,
                         .cap_work = CPUBIND_PLACE_WORK(NEAR_CPUS, NEAR_NODES)};
    assert_int_equal(cpubind_place_roles(&h->host, &h->devices, &p, NULL), CPUBIND_OK);
    if (!is_home_enough(h, m, d))
        return;
    tally.at_home++;
    for (int32_t k = 0; k < p.out_roles.span[CPUBIND_ROLE_IRQ].count; k++)
        for (int32_t i = 0; i < h->host.n_cpu; i++)
            tally.off_home += h->cpu[i] == out[k] && !m->home[d][m->core_of[i]];
}

static void check_plan(const near_host *h, const near_model *m, const cpubind_plan *plan)
{
    const int32_t n_device = h->devices.affinity.n;
    int32_t owner[NEAR_CPUS];
    int32_t smallest = INT32_MAX;
    int32_t widest = 0;
    int32_t loss = 0; /* cores that the smallest pool is below the best, rounded up */
    int32_t n_idle = h->host.n_cpu - plan->n_cpu;
    memset(owner, -1, sizeof owner);
    for (int32_t c = 0; c < m->n_core; c++)
        widest = m->size[c] > widest ? m->size[c] : widest;
    for (int32_t d = 0; d < n_device; d++) {
        const int32_t size = plan->row[d + 1] - plan->row[d];
        smallest = size < smallest ? size : smallest;
        tally.displaced += m->displaced[d];
        tally.floor += size == m->floor;
        assert_true(n_idle == 0 || (size >= m->floor && !m->displaced[d]));
        check_irq(h, m, plan, d);
        for (int32_t k = plan->row[d], i = 0; k < plan->row[d + 1]; k++) {
            while (h->cpu[i] != plan->cpu[k])
                i++;
            tally.split += owner[m->core_of[i]] != -1 && owner[m->core_of[i]] != d;
            owner[m->core_of[i]] = d;
        }
    }
    while (loss <= BEST_LOSS && can_all_have(h, m, smallest + loss * widest + 1))
        loss++;
    assert_in_range(loss, 0, BEST_LOSS);
    tally.loss[loss]++;
    tally.devices += n_device;
    tally.cores += m->n_core;
}

static int print_seed(void **state)
{
    (void)state;
    if (host_seed)
        print_error("the host of CPUBIND_SEED=%" PRIu64 "\n", host_seed);
    return 0;
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

TEST(interrupts_are_at_home_cores_whole_and_pools_even)
{
    static near_host h;
    static near_model m;
    static int32_t work[CPUBIND_PLAN_WORK_NEAR(NEAR_CPUS, NEAR_NODES, NEAR_DEVICES,
                                               NEAR_CPUS * NEAR_DEVICES)];
    static int32_t cpu[NEAR_CPUS], row[NEAR_DEVICES + 1];
    const uint64_t first = number_of("CPUBIND_SEED", 1);
    const uint64_t n = number_of("CPUBIND_TEST_HOSTS", rounds(4000));
    for (uint64_t i = 0; i < n; i++) {
        uint64_t state = (first + i) * 0x9e3779b97f4a7c15u;
        cpubind_plan plan = {.cpu = cpu,
                             .row = row,
                             .work = work,
                             .cap_cpu = NEAR_CPUS,
                             .cap_work = (int32_t)(sizeof work / sizeof *work)};
        host_seed = first + i;
        draw_host(&state, &h);
        near_solve(&h, &m);
        assert_int_equal(cpubind_make_plan(&h.host, &h.devices, &h.policy, &plan, NULL),
                         CPUBIND_OK);
        check_plan(&h, &m, &plan);
        tally.hosts++;
    }
    host_seed = 0;
    print_message(
        "%d hosts (%d with gaps), %d devices (%d displaced, %d at the floor, %d with "
        "a home for their interrupts), %d cores: %d interrupt CPUs off their home, %d "
        "cores split\n",
        tally.hosts, tally.gaps, tally.devices, tally.displaced, tally.floor, tally.at_home,
        tally.cores, tally.off_home, tally.split);
    for (int32_t k = 0; k <= BEST_LOSS; k++)
        print_message("smallest pool %d cores below the best: %d hosts\n", k, tally.loss[k]);
    assert_int_equal(tally.off_home, 0);
    assert_int_equal(tally.split, 0);
}

TEST_FILE(NULL, print_seed)
