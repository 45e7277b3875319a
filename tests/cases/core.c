/* core.c - hosts and their plans by the core
 * SPDX-License-Identifier: MIT
 *
 * The cases are tests/cases/core_*.txt. Lists are separated by blanks; "-" is an empty one.
 *   cpus LIST             the CPUs of the host; all that the other verbs say is forgotten
 *   nodes ID:LIST ...     the CPUs of each node, by ascending id
 *   cores N,..., caches N,...   of each CPU, numbers of any kind: "0,0,1,1"
 *   sockets N,..., distances N,...   by node of the list, and row by row
 *   near LIST ...         a device each, and the CPUs near it; "?": a worker without a home
 *   allowed LIST ...      of each device; one alone: of all
 *   minimum N,..., most N,..., weight N,...   of each device; one alone: of all
 *   hidden LIST           devices
 *   by RULE WORD          turns home, turns socket, affinity keep, slice, cluster ...
 *   cluster N, spare N    of clusters
 *   plan                  plans; figures: says how good the last plan is
 *   place DEVICE POOL IRQ,MAIN,ACL,RELEASE ID|NEAR PROCESSES PROCESS   roles in a pool
 */

#include "../../cpubind.h"

#include "../support/cases.h"
#include "../support/exact_buffer.h"
#include "../support/lists.h"

enum { CPUS = 65536, NODES = 64, DEVICES = 64 };

static int32_t cpu[CPUS], node[CPUS], core[CPUS], cache[CPUS], owner[CPUS];
static int32_t node_id[NODES], n_listed, socket_of[NODES], distance[NODES * NODES];
static int32_t *kept[2 * DEVICES], n_kept; /* lists of devices */
static cpubind_host host;
static cpubind_device device[DEVICES];
static int32_t n_device;
static cpubind_policy policy;
static said got;

/* == What is given ========================================================== */

static void start(void)
{
    memset(&host, 0, sizeof host);
    memset(&policy, 0, sizeof policy);
    memset(device, 0, sizeof device);
    policy.cluster = 8;
    n_device = n_listed = 0;
    while (n_kept > 0)
        free(kept[--n_kept]);
}

/* Reads the list at *at, and moves *at past it: nothing is behind the last one. */
static int32_t *read_list(const char **at, int32_t *n)
{
    const char *from = *at;
    *n = lists_read(&from, NULL);
    assert_in_range(n_kept, 0, 2 * DEVICES - 1);
    kept[n_kept] = edge_ints(*n);
    (void)lists_read(at, kept[n_kept]);
    return kept[n_kept++];
}

static void set_cpus(step *now)
{
    static int32_t *exact; /* nothing is behind the last one */
    const char *at = now->rest;
    start();
    host.n_cpu = lists_read(&at, cpu);
    host.n_node = 1;
    free(exact);
    host.cpu = exact = edge_ints(host.n_cpu);
    memcpy(exact, cpu, (size_t)host.n_cpu * sizeof *cpu);
    host.node = node;
    memset(node, 0, sizeof node);
}

static void set_nodes(step *now)
{
    static int32_t list[CPUS];
    for (const char *at = now->rest; *at; at += *at == ' ') {
        char *end;
        const int32_t id = (int32_t)strtol(at, &end, 10);
        at = end + 1;
        const int32_t n = lists_read(&at, list);
        for (int32_t i = 0; i < host.n_cpu; i++)
            for (int32_t k = 0; k < n; k++)
                if (cpu[i] == list[k])
                    node[i] = id;
        node_id[n_listed++] = id;
        host.n_node = id + 1;
    }
}

/* The numbers of a list in the order in which they stand, "0,0,1,1". */
static int32_t read_numbers(const char *at, int32_t *out)
{
    int32_t n = 0;
    for (; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
        out[n++] = (int32_t)strtol(at, NULL, 10);
    return n;
}

/* Numbers become the index of the first CPU that has the same one. */
static const int32_t *set_groups(const char *at, int32_t *out)
{
    static int32_t number[CPUS];
    assert_int_equal(read_numbers(at, number), host.n_cpu);
    for (int32_t i = 0; i < host.n_cpu; i++)
        for (out[i] = 0; number[out[i]] != number[i];)
            out[i]++;
    return out;
}

static void set_host(step *now)
{
    int32_t number[NODES * NODES];
    if (strcmp(now->verb, "cores") == 0) {
        host.core = set_groups(now->rest, core);
    } else if (strcmp(now->verb, "caches") == 0) {
        host.cache = set_groups(now->rest, cache);
    } else if (strcmp(now->verb, "sockets") == 0) {
        (void)read_numbers(now->rest, number);
        for (int32_t a = 0; a < n_listed; a++)
            socket_of[node_id[a]] = number[a];
        host.socket = socket_of;
    } else {
        assert_int_equal(read_numbers(now->rest, number), n_listed * n_listed);
        for (int32_t i = 0; i < host.n_node * host.n_node; i++)
            distance[i] = 1;
        for (int32_t a = 0; a < n_listed; a++)
            for (int32_t b = 0; b < n_listed; b++)
                distance[node_id[a] * host.n_node + node_id[b]] = number[a * n_listed + b];
        host.distance = distance;
    }
}

static void set_near(step *now)
{
    n_device = 0;
    for (const char *at = now->rest; *at; at += *at == ' ') {
        cpubind_device *one = &device[n_device];
        one->is_anywhere = *at == '?';
        at += *at == '?';
        one->home.cpu = read_list(&at, &one->home.n);
        n_device++;
    }
}

static void set_allowed(step *now)
{
    int32_t n = 0;
    for (const char *at = now->rest; *at; at += *at == ' ', n++)
        device[n].allowed.cpu = read_list(&at, &device[n].allowed.n);
    for (int32_t d = 1; d < n_device && n == 1; d++)
        device[d].allowed = device[0].allowed;
}

static void set_wants(step *now)
{
    int32_t number[DEVICES];
    const int32_t n = read_numbers(now->rest, number);
    for (int32_t d = 0; d < n_device; d++) {
        const int32_t one = number[n == 1 ? 0 : d];
        if (strcmp(now->verb, "minimum") == 0)
            device[d].minimum = one;
        else if (strcmp(now->verb, "most") == 0)
            device[d].most = one;
        else
            device[d].weight = one;
    }
}

static void set_hidden(step *now)
{
    const char *at = now->rest;
    int32_t number[DEVICES];
    const int32_t n = lists_read(&at, number);
    for (int32_t d = 0; d < n_device; d++)
        device[d].is_hidden = 0;
    for (int32_t i = 0; i < n; i++)
        device[number[i]].is_hidden = 1;
}

static int32_t place_of(const char *const *words, int32_t n, const char *word)
{
    for (int32_t i = 0; i < n; i++)
        if (strncmp(words[i], word, strcspn(word, " ")) == 0)
            return i;
    fail_msg("%s?", word);
    return 0;
}

static void set_policy(step *now)
{
    static const char *const rules[] = {"turns", "slice", "affinity", "cluster"};
    static const char *const reaches[] = {"socket", "home", "host"};
    static const char *const overlaps[] = {"resolve", "keep", "refuse"};
    const char *second = strchr(now->rest, ' ');
    policy.rule = place_of(rules, 4, now->rest);
    policy.reach = policy.overlap = 0;
    if (second && policy.rule == CPUBIND_RULE_TURNS)
        policy.reach = place_of(reaches, 3, second + 1);
    else if (second)
        policy.overlap = place_of(overlaps, 3, second + 1);
}

static void set_cluster(step *now)
{
    *(*now->verb == 'c' ? &policy.cluster : &policy.n_spare) =
        (int32_t)strtol(now->rest, NULL, 10);
}

/* == What comes of it ======================================================= */

static void say_pool(int32_t d)
{
    static int32_t list[CPUS];
    int32_t n = 0;
    for (int32_t i = 0; i < host.n_cpu; i++)
        if (owner[i] == d)
            list[n++] = cpu[i];
    say_list(&got, list, n);
}

static void say_report(cpubind_status status, const cpubind_report *r)
{
    if (status != CPUBIND_OK)
        say(&got, "> %s", cpubind_status_text(status));
    if (r->argument)
        say(&got, "; %s", r->argument);
    if (r->index >= 0)
        say(&got, " at %d", (int)r->index);
    if (r->cpu >= 0)
        say(&got, "; cpu %d", (int)r->cpu);
    if (r->device >= 0)
        say(&got, " of %d", (int)r->device);
    if (r->other >= 0)
        say(&got, " and %d", (int)r->other);
    if (r->need || r->have)
        say(&got, "; %d of %d", (int)r->have, (int)r->need);
    if (r->taken || r->disputed)
        say(&got, "; %d taken, %d disputed", (int)r->taken, (int)r->disputed);
    say(&got, "\n");
}

static void make_plan(step *now)
{
    int32_t *out = edge_ints(host.n_cpu);
    int32_t *work = edge_ints(CPUBIND_WORK(host.n_cpu, host.n_node, n_device));
    cpubind_device *exact =
        (cpubind_device *)edge_text((const char *)device, n_device * (int32_t)sizeof *device);
    cpubind_report r;
    const cpubind_status status = cpubind_plan(&host, exact, n_device, &policy, out, work, &r);
    free(exact);
    got.len = 0;
    for (int32_t i = 0; i < host.n_cpu; i++) {
        assert_int_equal(edge_untouched(out, i), status != CPUBIND_OK);
        owner[i] = out[i];
    }
    for (int32_t d = 0; d < n_device && status == CPUBIND_OK; d++) {
        say(&got, d ? " " : "> ");
        say_pool(d);
    }
    say_report(status, &r);
    free(out);
    free(work);
    expect(now, &got);
}

static void say_figures(step *now)
{
    int32_t *work = edge_ints(CPUBIND_WORK(host.n_cpu, host.n_node, n_device));
    cpubind_quality q, each[DEVICES];
    cpubind_measure(&host, device, n_device, owner, NULL, &q, each, work);
    free(work);
    got.len = 0;
    say(&got,
        "> %d pools of %d CPUs, %d near, %d far; cores cut %d, caches cut %d; nodes %d, idle "
        "%d, %d to %d; near",
        (int)q.pools, (int)q.cpus, (int)q.near_cpus, (int)q.far_cpus, (int)q.split_cores,
        (int)q.split_caches, (int)q.nodes, (int)q.idle, (int)q.smallest, (int)q.largest);
    for (int32_t d = 0; d < n_device; d++)
        say(&got, " %d/%d", (int)each[d].near_cpus, (int)each[d].cpus);
    say(&got, "\n");
    expect(now, &got);
}

static void place(step *now)
{
    static int32_t pool[CPUS];
    char list[1024], counts[64], how[8];
    const char *at = list;
    cpubind_roles roles = {.n_process = 0};
    cpubind_report r;
    int d, processes, process;
    int32_t *role = edge_ints(host.n_cpu);
    int32_t *work = edge_ints(CPUBIND_WORK(host.n_cpu, host.n_node, n_device));
    assert_int_equal(sscanf(now->rest, "%d %1023s %63s %7s %d %d", &d, list, counts, how,
                            &processes, &process),
                     6);
    const int32_t n = lists_read(&at, pool);
    (void)read_numbers(counts, roles.count);
    roles.by_id = strcmp(how, "id") == 0;
    roles.n_process = processes;
    roles.process = process;
    for (int32_t i = 0; i < host.n_cpu; i++) {
        owner[i] = CPUBIND_NONE;
        for (int32_t k = 0; k < n; k++)
            owner[i] = cpu[i] == pool[k] ? d : owner[i];
    }
    const cpubind_status status =
        cpubind_place(&host, device, n_device, owner, d, &roles, role, work, &r);
    got.len = 0;
    for (int32_t i = 0; i < host.n_cpu; i++)
        assert_int_equal(edge_untouched(role, i), status != CPUBIND_OK || owner[i] != d);
    for (int32_t k = 0; k < CPUBIND_ROLE_COUNT && status == CPUBIND_OK; k++) {
        for (int32_t i = 0; i < host.n_cpu; i++)
            owner[i] = role[i] == k ? d : CPUBIND_NONE;
        say(&got, k ? " " : "> ");
        say_pool(d);
    }
    say_report(status, &r);
    free(role);
    free(work);
    expect(now, &got);
}

static const verb of_driver[] = {
    {"cpus", set_cpus},   {"nodes", set_nodes},     {"cores", set_host},
    {"caches", set_host}, {"sockets", set_host},    {"distances", set_host},
    {"near", set_near},   {"allowed", set_allowed}, {"minimum", set_wants},
    {"most", set_wants},  {"weight", set_wants},    {"hidden", set_hidden},
    {"by", set_policy},   {"cluster", set_cluster}, {"spare", set_cluster},
    {"plan", make_plan},  {"figures", say_figures}, {"place", place},
    {NULL, NULL},
};

TEST_CASES("core_*", of_driver, start)
