/* plan.c - the row of the planner: cpubind.h on a host that the text describes
 * SPDX-License-Identifier: MIT
 *
 * The text is a sequence of numbers, a byte each: '0' is 0, '9' is 9, ':' is 10, 'o' is 63.
 * Blanks and line feeds are skipped; after the end every number is 0. In order:
 *   rule reach overlap  cluster spare  flags
 *   nodes               then runs of CPUs, and for each: gap, length, its node
 *   devices             then for each: minimum, most, weight, 1 if it is hidden, 1 if it has no
 *                       home, 1 if it has a list of its own, the first CPU of that; runs of its
 *                       home, and for each: gap, length
 * What the functions refuse, and their smaller promises, are in tests/core.
 */
#include "../../cpubind.h"
#include "../support/exact_buffer.h"
#include "readers.h"

enum { MAX_NODES = 8, MAX_CPUS = 16 * 63, MAX_DEVICES = 16, MAX_HOME = 4 * 63 };

enum { FLAG_THREADS = 1, FLAG_CACHES = 2, FLAG_SHUFFLED = 4 };

typedef struct plan_host {
    int32_t cpu[MAX_CPUS], node[MAX_CPUS], core[MAX_CPUS], cache[MAX_CPUS];
    int32_t home[MAX_DEVICES][MAX_HOME], flags, n_device;
    cpubind_host host;
    cpubind_device device[MAX_DEVICES];
    cpubind_policy policy;
} plan_host;

typedef struct numbers {
    const char *at, *end;
} numbers;

static int32_t take(numbers *in, int32_t below)
{
    while (in->at < in->end && (unsigned char)*in->at <= ' ')
        in->at++;
    return in->at < in->end ? (((unsigned char)*in->at++ - '0') & 63) % below : 0;
}

static void take_host(numbers *in, plan_host *h)
{
    int32_t runs, id = 0, n = 0;
    h->policy.rule = take(in, 5);
    h->policy.reach = take(in, 3);
    h->policy.overlap = take(in, 3);
    h->policy.cluster = take(in, 64);
    h->policy.n_spare = take(in, 4);
    h->flags = take(in, 64);
    h->host.n_node = take(in, MAX_NODES + 1);
    runs = take(in, 17);
    for (int32_t i = 0; i < runs; i++) {
        int32_t count, node;
        id += take(in, 64);
        count = take(in, 64);
        node = take(in, MAX_NODES);
        for (int32_t k = 0; k < count; k++, n++) {
            h->core[n] = n - k % 2;
            h->cache[n] = n - k % 8;
            h->cpu[n] = id++;
            h->node[n] = node;
        }
    }
    if (n > 1 && (h->flags & FLAG_SHUFFLED)) {
        const int32_t first = h->cpu[0];
        h->cpu[0] = h->cpu[n - 1];
        h->cpu[n - 1] = first;
    }
    h->host.cpu = h->cpu;
    h->host.node = h->node;
    h->host.core = h->flags & FLAG_THREADS ? h->core : NULL;
    h->host.cache = h->flags & FLAG_CACHES ? h->cache : NULL;
    h->host.n_cpu = n;
}

static void take_devices(numbers *in, plan_host *h)
{
    h->n_device = take(in, MAX_DEVICES + 1);
    for (int32_t d = 0; d < h->n_device; d++) {
        cpubind_device *one = &h->device[d];
        int32_t runs, first;
        one->minimum = take(in, 64);
        one->most = take(in, 64);
        one->weight = take(in, 64);
        one->is_hidden = take(in, 2);
        one->is_anywhere = take(in, 2);
        if (take(in, 2)) {
            first = h->host.n_cpu > 0 ? take(in, 64) % h->host.n_cpu : 0;
            one->allowed.cpu = h->cpu + first;
            one->allowed.n = h->host.n_cpu - first;
        }
        runs = take(in, 5);
        for (int32_t id = 0; runs > 0; runs--) {
            int32_t count;
            id += take(in, 64) * 4;
            count = take(in, 64);
            while (count-- > 0)
                h->home[d][one->home.n++] = id++;
        }
        one->home.cpu = h->home[d];
    }
}

/* == Laws =================================================================== */

/* No CPU is given to a device that may not have it, nor by home alone to one that is not at
 * home there; each role has as many CPUs as it must. */
static void check_pools(const plan_host *h, const int32_t *owner, int32_t *work)
{
    int32_t *role = edge_ints(h->host.n_cpu);
    const cpubind_roles roles = {.count = {1, 1, 1, 1}};
    for (int32_t i = 0; i < h->host.n_cpu; i++) {
        const int32_t d = owner[i];
        CHECK(d >= CPUBIND_NONE && d < h->n_device);
        CHECK(d < 0 || h->device[d].allowed.cpu == NULL ||
              h->host.cpu[i] >= h->device[d].allowed.cpu[0]);
    }
    for (int32_t d = 0; d < h->n_device; d++) {
        int32_t n[CPUBIND_ROLE_COUNT] = {0};
        if (cpubind_place(&h->host, h->device, h->n_device, owner, d, &roles, role, work,
                          NULL) != CPUBIND_OK)
            continue;
        for (int32_t i = 0; i < h->host.n_cpu; i++)
            if (owner[i] == d)
                n[role[i]]++;
        for (int32_t k = 0; k < CPUBIND_ROLE_COUNT; k++)
            CHECK(n[k] >= 1);
    }
    free(role);
}

static void tell_plan(reading *r, const plan_host *h, const int32_t *owner,
                      const cpubind_report *said)
{
    static int32_t list[MAX_CPUS];
    for (int32_t d = 0; d < h->n_device; d++) {
        int32_t n = 0;
        for (int32_t i = 0; i < h->host.n_cpu; i++)
            if (owner[i] == d)
                list[n++] = h->cpu[i];
        tell_list(r, list, n, CPUBIND_MAX_CPUS);
        tell(r, "\n");
    }
    tell(r, "taken %d disputed %d cpu %d\n", said->taken, said->disputed, said->cpu);
}

static void read_plan(reading *r)
{
    static plan_host h;
    numbers in = {r->text, r->text + r->len};
    cpubind_report said;
    cpubind_status status;
    int32_t *owner, *work;
    memset(&h, 0, sizeof h);
    take_host(&in, &h);
    take_devices(&in, &h);
    owner = edge_ints(h.host.n_cpu);
    work = edge_ints(CPUBIND_WORK(h.host.n_cpu, MAX_NODES, MAX_DEVICES));
    status = cpubind_plan(&h.host, h.device, h.n_device, &h.policy, owner, work, &said);
    tell(r, "%s %s %d %d\n", cpubind_status_text(status), said.argument ? said.argument : "-",
         said.index, said.device);
    if (status == CPUBIND_OK) {
        tell_plan(r, &h, owner, &said);
        check_pools(&h, owner, work);
    }
    free(owner);
    free(work);
}

static const reader rows[] = {
    {"plan", read_plan, "", NULL, "plan", 512},
};

READERS(rows)
