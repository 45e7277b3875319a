/* random_view.c - random views of a random host, for the law over pairs of views
 * SPDX-License-Identifier: MIT
 *
 * It must not draw more or fewer bytes for one part because of another: see random_host.c. What
 * all views of a case share is what an operator sets for all workers of a host; a pair of
 * processes that contradict each other there is no case.
 */
#include "random_view.h"

#include <stdio.h>
#include <string.h>

/* What the processes of a host have in common: options that an operator sets for all, and how
 * their cpusets relate. */
typedef enum cpuset_kind {
    CPUSET_ALL = 0,      /* every online CPU */
    CPUSET_SAME = 1,     /* one part of them for all */
    CPUSET_DISJOINT = 2, /* a part for each */
    CPUSET_CROSSING = 3, /* parts that may share CPUs, never all CPUs */
    CPUSET_KINDS
} cpuset_kind;

typedef struct shared_options {
    cpuset_kind cpuset;
    cpubind_scope scope;
    cpubind_overlap overlap;
    int32_t is_auto_strategy;
    cpubind_strategy strategy;
    int32_t is_mixed; /* facts differ between the views */
    cpubind_origin origin;
    int32_t excludes; /* the first CPU of each node is excluded */
    int32_t has_type; /* device-type */
    int32_t total;    /* total */
    cpubind_rules rules;
    int32_t keep_each, keep; /* --keep N; --keep CPU, or -1 */
    int32_t transfer;        /* CPUs of each process for that role */
    int32_t n_process;       /* processes of each NPU */
    cpubind_engine_request engine;
    cpubind_reach reach;
    int32_t share;
    int32_t n_worker_node, n_worker, reserve; /* cpu-workers of the first nodes; 0: none */
    uint8_t parts[HOST_NODES];                /* of the nodes, which CPUs a view gets */
} shared_options;

static shared_options draw_shared(draws *d, const random_host *h)
{
    static const uint8_t scopes[] = {CPUBIND_SCOPE_AUTO, CPUBIND_SCOPE_CPUSET,
                                     CPUBIND_SCOPE_HOST, CPUBIND_SCOPE_AUTO};
    static const uint8_t overlaps[] = {CPUBIND_OVERLAP_RESOLVE, CPUBIND_OVERLAP_RESOLVE,
                                       CPUBIND_OVERLAP_RESOLVE, CPUBIND_OVERLAP_RESOLVE,
                                       CPUBIND_OVERLAP_RESOLVE, CPUBIND_OVERLAP_KEEP,
                                       CPUBIND_OVERLAP_KEEP,    CPUBIND_OVERLAP_REFUSE};
    shared_options o;
    int32_t strategy, kept, processes, engine, workers, reach;
    memset(&o, 0, sizeof o);
    o.cpuset = (cpuset_kind)draw(d, CPUSET_KINDS);
    o.scope = (cpubind_scope)scopes[draw(d, 4)];
    if (draw_chance(d, 2) && o.cpuset == CPUSET_DISJOINT)
        o.scope = CPUBIND_SCOPE_OWN;
    /* Who says --scope cpuset says that no two cpusets cross. */
    if (o.cpuset == CPUSET_CROSSING && o.scope == CPUBIND_SCOPE_CPUSET)
        o.scope = CPUBIND_SCOPE_AUTO;
    o.overlap = (cpubind_overlap)overlaps[draw(d, 8)];
    strategy = draw(d, 6);
    o.is_auto_strategy = strategy < 3 || h->type == CPUBIND_TYPE_950;
    o.strategy = strategy == 3 ? CPUBIND_TOPO_AFFINITY : CPUBIND_GLOBAL_SLICE;
    o.is_mixed = draw_chance(d, 3);
    o.origin = (cpubind_origin)(draw_chance(d, 4) * CPUBIND_ORIGIN_DRIVER);
    o.excludes = draw_chance(d, 12);
    o.has_type = draw_chance(d, 4);
    for (int32_t i = 0; i < HOST_NODES; i++)
        o.parts[i] = (uint8_t)draw(d, 256);
    o.total = draw_chance(d, 12) ? h->n_npu : 0;
    o.rules = draw(d, CPUBIND_RULES_COUNT) ? CPUBIND_RULES_NEAR : CPUBIND_RULES_REFERENCE;
    o.is_auto_strategy |= o.rules == CPUBIND_RULES_NEAR && o.strategy != CPUBIND_TOPO_AFFINITY;
    kept = draw(d, 256);
    o.keep_each = kept % 8 == 7 ? 1 + kept / 8 % 4 : 0;
    o.keep = kept % 8 == 6 ? bits_next(&h->online, kept) : -1;
    o.transfer = kept % 8 == 5 ? 1 + kept / 8 % 4 : 0;
    processes = draw(d, 6);
    o.n_process = processes < 3 ? 0 : processes - 2;
    engine = draw(d, 256);
    if (o.rules == CPUBIND_RULES_NEAR && h->type != CPUBIND_TYPE_950 && engine % 4 == 3)
        o.engine = (cpubind_engine_request){
            .engine = 1 + engine / 4 % 3, .tp = engine / 16 % 4, .dp = engine / 64};
    workers = draw(d, 256);
    if (workers % 8 == 7) {
        o.n_worker_node = 1 + workers / 8 % 2;
        o.n_worker = workers / 16 % 4;
        o.reserve = workers / 64 % 2;
    }
    reach = draw(d, 256);
    if (o.rules == CPUBIND_RULES_NEAR && h->type != CPUBIND_TYPE_950) {
        o.share = reach % 16 == 15;
        if (reach / 16 % 4 == 1)
            o.reach = (cpubind_reach)(1 + reach / 64 % 3); /* home, host, cache */
    }
    return o;
}

enum { PART_NONE = 5, PART_FOURTHS = 6 }; /* and the parts after it */

/* Adds the CPUs of a node that a part of the host has: all, a half, every second one, none, one
 * of four. */
static void add_part(cpu_bits *set, const cpu_bits *node, int32_t part)
{
    const int32_t n = bits_count(node);
    for (int32_t cpu = bits_next(node, 0), i = 0; cpu >= 0; cpu = bits_next(node, cpu + 1), i++)
        if (part == 0 || (part == 1 && i < n / 2) || (part == 2 && i >= n / 2) ||
            (part == 3 && i % 2 == 0) || (part == 4 && i % 2 == 1) ||
            (part >= PART_FOURTHS && i % 4 == part - PART_FOURTHS))
            bits_add(set, cpu);
}

/* The CPUs of view `index`. No view is left without CPUs. */
static cpu_bits draw_allowed(draws *d, const random_host *h, const shared_options *o,
                             int32_t index)
{
    cpu_bits set;
    memset(&set, 0, sizeof set);
    for (int32_t i = 0; i < HOST_NODES; i++) {
        const int32_t byte = draw(d, 256), shared = o->parts[i];
        int32_t part = 0;
        if (i >= h->n_node)
            continue;
        if (o->cpuset == CPUSET_SAME)
            part = shared % 8 < 5 ? shared % 8 : 0;
        else if (o->cpuset == CPUSET_CROSSING)
            part = 1 + byte % 5;
        else if (o->cpuset == CPUSET_DISJOINT && i == 0) /* each view has some CPU */
            part = PART_FOURTHS + index;
        else if (o->cpuset == CPUSET_DISJOINT && shared % 2)
            part = i % LAW_VIEWS == index ? 0 : PART_NONE;
        else if (o->cpuset == CPUSET_DISJOINT)
            part = index < 2 ? 3 + index : PART_NONE;
        add_part(&set, &h->node[i].online, part);
    }
    if (bits_next(&set, 0) < 0)
        bits_add(&set, bits_next(&h->online, 0));
    return set;
}

/* The inputs that may fail. A number stands for a node, a function or an NPU. */
static const char *const inputs[] = {
    "cmd/npu-smi-info-m.txt",
    "cmd/npu-smi-info.txt",
    "cmd/npu-smi-info-t-topo.txt",
    "cmd/npu-smi*",
    "proc/self/status",
    "sys/devices/system/cpu/online",
    "sys/devices/system/node",
    "sys/devices/system/node/node%n/cpulist",
    "sys/bus/pci/devices",
    "sys/bus/pci/devices/%f/vendor",
    "sys/bus/pci/devices/%f/device",
    "sys/bus/pci/devices/%f/numa_node",
    "sys/bus/pci/devices/%f/local_cpulist",
    "sys/bus/pci/devices/%f/msi_irqs",
    "proc/interrupts",
    "proc/trs_core/proc",
    "proc/uda/namespace_node",
    "sys/class/devdrv-class",
    "sys/class/devdrv-class/davinci%d/dev",
    "dev",
    "dev/davinci%d",
    "env",
    "proc/self/cgroup",
    "sys/fs/cgroup*",
    "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
    "sys/devices/system/cpu/smt/active",
    "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
    "sys/devices/system/cpu/cpu%d/topology/physical_package_id",
    "sys/devices/system/node/node%n/distance",
    "sys/devices/system/node/node*/distance",
    "sys/devices/system/cpu/cpu*/topology/thread_siblings_list",
    "sys/devices/system/cpu/cpu*/topology/physical_package_id",
    "sys/devices/system/cpu/cpu*",
    "sys/devices/system/node/online",
    "sys/bus/pci/devices/%f/class",
    "sys/bus/pci/devices/%f/drm",
    "sys/bus/pci/devices/%f/accel",
    "dev/dri",
    "dev/accel",
    "dev/nvidia",
    "proc/driver/nvidia/gpus",
    "proc/driver/nvidia/gpus/%f/information",
};

enum { N_INPUT = sizeof inputs / sizeof inputs[0] };

/* Writes the name of the failing input, with the number that stands in it. */
static void name_input(host_view *v, const char *pattern, int32_t byte)
{
    const random_host *h = v->host;
    const char *mark = strchr(pattern, '%');
    char number[32] = "";
    if (mark && mark[1] == 'n')
        (void)snprintf(number, sizeof number, "%d", h->node[byte % h->n_node].id);
    else if (mark && mark[1] == 'f')
        (void)snprintf(number, sizeof number, "%s", h->function[byte % h->n_function].name);
    else if (mark)
        (void)snprintf(number, sizeof number, "%d", byte % (h->n_npu > 0 ? h->n_npu : 1));
    (void)snprintf(v->failing, sizeof v->failing, "%.*s%s%s",
                   mark ? (int)(mark - pattern) : (int)strlen(pattern), pattern, number,
                   mark ? mark + 2 : "");
}

/* Which NPUs a container has: whole cards, for npu-smi does not say how it shows a part of
 * one. The driver's files alone serve parts too. */
static void draw_container(draws *d, host_view *v)
{
    const random_host *h = v->host;
    uint32_t chosen = (uint32_t)draw(d, 256) | (uint32_t)draw(d, 256) << 8;
    v->is_container = draw(d, 2);
    if (v->is_container) {
        v->open = 0;
        for (int32_t phy = 0; phy < h->n_npu; phy++) {
            const int32_t key = v->has_npu_smi ? phy / h->npus_per_card : phy;
            if (chosen >> key & 1u)
                v->open |= 1u << phy;
        }
    }
    v->n_npu = 0;
    for (int32_t round = 0; round < 2 && v->n_npu == 0; round++) {
        for (int32_t phy = 0; phy < h->n_npu; phy++)
            if (view_has(v, phy))
                v->phy[v->n_npu++] = phy;
        if (v->n_npu == 0)
            v->open = ~0u; /* a container of none is no case */
    }
}

/* The visible devices: a part of the logic ids, in two of four cases. */
static void draw_visible(draws *d, host_view *v)
{
    const int32_t has = draw(d, 4) == 1, tail = draw_chance(d, 8);
    const uint32_t chosen = (uint32_t)draw(d, 256) | (uint32_t)draw(d, 256) << 8;
    int32_t len = 0;
    for (int32_t i = 0; i < v->n_npu; i++)
        if (chosen >> i & 1u)
            len += snprintf(v->visible + len, sizeof v->visible - (size_t)len, "%s%d",
                            len ? "," : "", i);
    if (len == 0)
        len = snprintf(v->visible, sizeof v->visible, "%d", v->n_npu - 1);
    if (tail)
        (void)snprintf(v->visible + len, sizeof v->visible - (size_t)len, ",x");
    v->has_visible = has;
}

static void draw_request(draws *d, const shared_options *o, host_view *v)
{
    const int32_t named = draw_chance(d, 10), rank = draw(d, 256), has_rank = draw_chance(d, 3);
    const int32_t lists_allowed = draw_chance(d, 10), origin = draw(d, 12);
    cpubind_request *q = &v->request;
    q->is_auto_strategy = o->is_auto_strategy;
    q->strategy = o->strategy;
    q->overlap = o->overlap;
    q->total = o->total;
    q->scope = o->scope;
    q->origin = o->is_mixed ? (cpubind_origin)(origin % 3) : o->origin;
    if (q->origin == CPUBIND_ORIGIN_DRIVER && origin < 11 &&
        (!random_host_has_driver(v->host) || v->masks_interrupts))
        q->origin = CPUBIND_ORIGIN_AUTO;
    q->type = o->has_type || named ? v->host->type : CPUBIND_TYPE_AUTO;
    q->only_running = draw_chance(d, 16);
    q->wants_pci = draw_chance(d, 4);
    q->has_rank = has_rank;
    q->rank = has_rank && v->n_npu > 0 ? rank % view_count_visible(v) : 0;
    if (named) {
        for (int32_t i = 0; i < v->n_npu; i++)
            if (rank >> (i % 8) & 1)
                v->named[q->n_device++] = i;
        if (q->n_device == 0)
            v->named[q->n_device++] = 0;
        q->device = v->named;
        q->has_rank = 0;
    }
    if (lists_allowed) {
        for (int32_t cpu = bits_next(&v->allowed, 0); cpu >= 0;
             cpu = bits_next(&v->allowed, cpu + 1))
            v->allowed_list[q->n_allowed++] = cpu;
        q->allowed = v->allowed_list;
    }
    if (o->excludes) {
        for (int32_t i = 0; i < v->host->n_node; i++) {
            const int32_t cpu = bits_next(&v->host->node[i].online, 0);
            if (cpu >= 0 && (q->n_exclude == 0 || v->excluded[q->n_exclude - 1] < cpu))
                v->excluded[q->n_exclude++] = cpu;
        }
        q->exclude = v->excluded;
    }
    q->rules = o->rules;
    q->has_rules = v->cut % 4 < 3; /* else in the environment */
    q->keep_each = o->keep_each;
    q->transfer = o->transfer;
    v->kept[0] = o->keep;
    q->n_keep = o->keep >= 0;
    q->keep = o->keep >= 0 ? v->kept : NULL;
    q->n_process = o->n_process;
    q->engine = o->engine;
    q->reach = o->reach;
    q->share = o->share;
    if (o->n_worker_node > 0) {
        for (int32_t i = 0; i < o->n_worker_node && i < v->host->n_node; i++)
            v->worker_node[q->workers.n_node++] = v->host->node[i].id;
        q->workers.is_asked = 1;
        q->workers.node = v->worker_node;
        q->workers.n_worker = o->n_worker;
        q->workers.reserve = o->reserve;
    }
    q->process = draw(d, 256) % (o->n_process > 1 ? o->n_process : 1);
}

/* Makes a view without an NPU: a container of GPUs, or a host that has these alone. npu-smi is
 * not there, and the options are those of any device. */
static void leave_npus(host_view *v)
{
    cpubind_request *q = &v->request;
    v->open = v->running = 0;
    v->n_npu = v->has_npu_smi = v->has_visible = 0;
    v->table = TABLE_NONE;
    q->device = NULL;
    q->n_device = q->has_rank = q->rank = q->total = q->only_running = 0;
    q->type = CPUBIND_TYPE_AUTO;
    q->origin = CPUBIND_ORIGIN_AUTO;
    q->is_auto_strategy = 1;
}

/* Which GPUs a container has, and the variables of their runtimes: numbers in some order, or a
 * text that is none. */
static void draw_gpus(draws *d, host_view *v)
{
    static const char *const kinds[] = {NULL, NULL, NULL, NULL, "list", "reversed", "odd"};
    const random_host *h = v->host;
    const int32_t files = draw(d, 4), open = draw(d, 256), lacks_npus = draw_chance(d, 3);
    const int32_t kind = draw(d, 7), chosen = draw(d, 256), cut = draw(d, 4);
    int32_t len = 0, n = 0;
    for (int32_t i = 0; i < h->n_function; i++)
        n += h->function[i].gpu >= 0;
    v->hides_files = files == 1;
    v->gpu_files = v->is_container && files > 1 ? (uint32_t)open : ~0u;
    if (n == 0)
        return;
    v->gpu_kind = kinds[kind];
    for (int32_t i = 0; i < n && v->gpu_kind; i++) {
        const int32_t gpu = kind == 5 ? n - 1 - i : i;
        if (chosen >> gpu & 1)
            len += snprintf(v->gpu_visible + len, sizeof v->gpu_visible - (size_t)len, "%s%d",
                            len ? "," : "", gpu);
    }
    if (kind == 6)
        (void)snprintf(v->gpu_visible + len, sizeof v->gpu_visible - (size_t)len, "%s",
                       cut == 0   ? ",x"
                       : cut == 1 ? "GPU-1"
                       : cut == 2 ? "0.0"
                                  : ",,");
    if (h->n_npu == 0 || (v->is_container && lacks_npus))
        leave_npus(v);
}

/* A view, from LAW_VIEW_BYTES bytes. */
static void draw_view(draws *d, const random_host *h, const shared_options *o, int32_t index,
                      host_view *v)
{
    static const uint8_t failures[] = {FAILURE_ERROR,  FAILURE_TIMEOUT, FAILURE_TOO_LONG,
                                       FAILURE_CUT,    FAILURE_CUT,     FAILURE_EMPTY,
                                       FAILURE_ABSENT, FAILURE_ODD,     FAILURE_ABSENT};
    int32_t has_failure, kind, input, number;
    memset(v, 0, sizeof *v);
    v->host = h;
    v->open = ~0u;
    v->has_npu_smi = !draw_chance(d, random_host_has_driver(h) ? 5 : 20);
    draw_container(d, v);
    v->is_root = draw(d, 2);
    v->masks_interrupts = draw_chance(d, 3) && v->is_container;
    v->allowed = draw_allowed(d, h, o, index);
    v->cgroup = v->allowed;
    v->lists_offline = draw_chance(d, 6);
    v->running = (uint32_t)draw(d, 256) | (uint32_t)draw(d, 256) << 8;
    v->table = (view_table)(draw(d, 6) % 4); /* cut: one in six */
    v->cut = draw(d, 256);
    draw_visible(d, v);
    has_failure = draw(d, 4) == 1;
    kind = draw(d, sizeof failures);
    input = draw(d, N_INPUT);
    number = draw(d, 256);
    draw_request(d, o, v);
    if (has_failure) {
        v->failure = (view_failure)failures[kind];
        name_input(v, inputs[input], number);
        /* An operator sets a variable for all workers of the host. */
        v->request.has_rules |= strcmp(v->failing, "env") == 0;
    }
    draw_gpus(d, v);
    if (o->scope == CPUBIND_SCOPE_OWN && v->cut % 2) {
        v->has_dra = 1;
        v->request.scope = CPUBIND_SCOPE_AUTO;
    }
}

void random_views_make(const uint8_t *bytes, size_t len, random_host *host, host_view *view)
{
    uint8_t all[LAW_BYTES] = {0};
    draws d = {all, all + HOST_BYTES};
    shared_options shared;
    if (len > 0)
        memcpy(all, bytes, len < LAW_BYTES ? len : LAW_BYTES);
    random_host_make(&d, host);
    d.at = all + HOST_BYTES;
    d.end = d.at + LAW_SHARED;
    shared = draw_shared(&d, host);
    for (int32_t i = 0; i < LAW_VIEWS; i++) {
        d.at = all + HOST_BYTES + LAW_SHARED + i * LAW_VIEW_BYTES;
        d.end = d.at + LAW_VIEW_BYTES;
        draw_view(&d, host, &shared, i, &view[i]);
    }
}
