/* layouts.c - the table of layouts, and how a row becomes input of the core
 * SPDX-License-Identifier: MIT
 *
 * Homes of published hosts are those of `npu-smi info -t topo` in bug reports and manuals of
 * vllm-ascend, ms-swift, openEuler and the Ascend driver; shapes of machines are those of lscpu
 * there.
 */
#include "layouts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/lists.h"

/* == The tables ============================================================= */

static const machine machines[] = {
    /* name, nodes, of a socket, cores of a node, CPUs of a core, siblings, distances, step */
    {"kunpeng 8x24", 8, 2, 24, 1, 'a', 12, 20, 1}, /* Kunpeng 920, 4 sockets */
    {"kunpeng 8x32", 8, 2, 32, 1, 'a', 12, 20, 1},
    {"kunpeng 4x48", 4, 2, 48, 1, 'a', 12, 20, 1}, /* 2 sockets */
    {"kunpeng 4x32", 4, 2, 32, 1, 'a', 12, 20, 1},
    {"kunpeng 4x24", 4, 2, 24, 1, 'a', 12, 20, 1},
    {"kunpeng 2x96", 2, 1, 96, 1, 'a', 0, 20, 1},
    {"kunpeng 2x48", 2, 1, 48, 1, 'a', 0, 20, 1},
    {"kunpeng 4x80", 4, 2, 80, 1, 'a', 12, 20, 1},
    {"kunpeng 8x40x2", 8, 2, 40, 2, 'a', 12, 20, 1},
    {"kunpeng 4x40x2", 4, 2, 40, 2, 'a', 12, 20, 1},
    {"unknown 8x24", 8, 2, 24, 1, 'a', 0, 0, 1},
    {"holes 4x24", 4, 2, 24, 1, 'a', 12, 20, 2},
    {"x86 2x48x2", 2, 1, 48, 2, 'h', 0, 21, 1},
    {"x86 2x32x2", 2, 1, 32, 2, 'h', 0, 21, 1},
    {"x86 2x64x2", 2, 1, 64, 2, 'h', 0, 21, 1},
    {"x86 2x32x2 adjacent", 2, 1, 32, 2, 'a', 0, 21, 1},
    {"x86 4x12x2", 4, 1, 12, 2, 'h', 0, 21, 1},
    {"x86 4x24x2", 4, 2, 24, 2, 'h', 12, 21, 1},
    {"snc2 4x16x2", 4, 2, 16, 2, 'h', 12, 21, 1}, /* sub-NUMA clusters: 2 or 4 a socket */
    {"snc4 8x14x2", 8, 4, 14, 2, 'h', 12, 21, 1},
    {"nps4 8x16x2", 8, 4, 16, 2, 'h', 12, 32, 1}, /* AMD, 4 nodes a socket */
    {"nps4 8x16x1", 8, 4, 16, 1, 'a', 12, 32, 1},
    {"small 2x5x2", 2, 1, 5, 2, 'a', 0, 21, 1},
    {"small 2x4x2", 2, 1, 4, 2, 'h', 0, 21, 1},
    {"small 4x6", 4, 2, 6, 1, 'a', 12, 20, 1},
    {"one 1x32", 1, 1, 32, 1, 'a', 0, 20, 1},
    {"one 1x16x2", 1, 1, 16, 2, 'a', 0, 20, 1},
};

#define A3_PAIRS "0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7"
#define A3_FOURS "0 0 0 0 1 1 1 1 2 2 2 2 3 3 3 3"
#define A3_EVEN  "0 0 0 0 2 2 2 2 4 4 4 4 6 6 6 6"
#define PAIRS    "6 6 4 4 0 0 2 2" /* A2, published: 910B3 */
#define TWICE_8  "0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1"

const layout layouts[] = {
    /* A2 on 8 nodes */
    {"published: 910B3", "kunpeng 8x24", 't', PAIRS, NULL},
    {"published: 910B, 910B1", "kunpeng 8x24", 't', "6 0 6 0 4 2 4 2", NULL},
    {"published: 910A, 4 NPUs", "kunpeng 8x24", 't', "6 4 2 0", NULL},
    {"published: container, 2 NPUs", "kunpeng 8x24", 't', "0 2", NULL},
    {"homes on odd nodes", "kunpeng 8x32", 't', "7 7 5 5 1 1 3 3", NULL},
    {"an NPU a node", "kunpeng 8x24", 't', "0 1 2 3 4 5 6 7", NULL},
    {"an NPU a node, downwards", "kunpeng 8x32", 't', "7 6 5 4 3 2 1 0", NULL},
    {"cards out of order", "kunpeng 8x24", 't', "4 6 0 2 6 4 2 0", NULL},
    {"two sockets have all NPUs", "kunpeng 8x24", 't', "0 0 0 0 4 4 4 4", NULL},
    {"one socket has all NPUs", "kunpeng 8x24", 't', "0 0 0 0 1 1 1 1", NULL},
    {"uneven homes", "kunpeng 8x24", 't', "0 0 0 0 2 2 4 6", NULL},
    {"uneven neighbours", "kunpeng 8x32", 't', "0 0 0 1 2 3 3 3", NULL},
    {"all homes on node 0", "kunpeng 8x24", 't', "0 0 0 0 0 0 0 0", NULL},
    {"all homes on the last node", "kunpeng 8x24", 't', "7 7 7 7 7 7 7 7", NULL},
    {"no distances, no sockets", "unknown 8x24", 't', PAIRS, NULL},
    {"affinity of some unknown", "kunpeng 8x24", 't', "6 6 4 4 - - 2 2", NULL},

    /* 1 to 7 of the NPUs of a published host */
    {"1 of 8", "kunpeng 8x24", 't', "6", NULL},
    {"1 of 8, on the last node", "kunpeng 8x24", 't', "7", NULL},
    {"2 of 8", "kunpeng 8x24", 't', "6 6", NULL},
    {"3 of 8", "kunpeng 8x24", 't', "6 6 4", NULL},
    {"4 of 8", "kunpeng 8x24", 't', "6 6 4 4", NULL},
    {"5 of 8", "kunpeng 8x24", 't', "6 6 4 4 0", NULL},
    {"6 of 8", "kunpeng 8x24", 't', "6 6 4 4 0 0", NULL},
    {"7 of 8", "kunpeng 8x24", 't', "6 6 4 4 0 0 2", NULL},

    /* A2 on 4 and 2 nodes */
    {"two NPUs a node", "kunpeng 4x48", 't', "0 0 1 1 2 2 3 3", NULL},
    {"two NPUs a node, downwards", "kunpeng 4x48", 't', "3 3 2 2 1 1 0 0", NULL},
    {"two NPUs a node, mixed", "kunpeng 4x48", 't', "2 0 2 0 3 1 3 1", NULL},
    {"a node of each socket", "kunpeng 4x48", 't', "0 0 0 0 2 2 2 2", NULL},
    {"homes on the last node", "kunpeng 4x32", 't', "3 3 3 3", NULL},
    {"two cards, around the end", "kunpeng 4x24", 't', "3 0", NULL},
    {"node ids with holes", "holes 4x24", 't', "0 0 1 3", NULL},
    {"four NPUs a node", "kunpeng 2x96", 't', "0 0 0 0 1 1 1 1", NULL},
    {"NPU 0-3 on node 1", "kunpeng 2x48", 't', "1 1 1 1 0 0 0 0", NULL},
    {"eight NPUs on node 1", "kunpeng 2x48", 't', "1 1 1 1 1 1 1 1", NULL},
    {"three and five NPUs", "kunpeng 2x96", 't', "0 1 1 0 1 0 1 1", NULL},

    /* A3 */
    {"A3, two NPUs a node", "kunpeng 8x40x2", 's', A3_PAIRS, NULL},
    {"A3, homes on even nodes", "kunpeng 8x40x2", 's', A3_EVEN, NULL},
    {"A3, downwards", "kunpeng 8x40x2", 's', "7 7 6 6 5 5 4 4 3 3 2 2 1 1 0 0", NULL},
    {"A3, nodes alone are known", "kunpeng 8x40x2", 's',
     "n0 n0 n1 n1 n2 n2 n3 n3 n4 n4 n5 n5 n6 n6 n7 n7", NULL},
    {"A3, half are known", "kunpeng 8x40x2", 's', "0 0 1 1 2 2 3 3 - - - - - - - -", NULL},
    {"A3, nothing is known", "kunpeng 8x40x2", 's', "- - - - - - - - - - - - - - - -", NULL},
    {"A3, one thread of a core", "kunpeng 4x40x2", 's', "0 0 1 1 2 2 3 3", "0-319:2"},
    {"A3, 4 nodes", "kunpeng 4x80", 's', A3_FOURS, NULL},
    {"A3, 4 nodes, mixed", "kunpeng 4x80", 's', "2 2 0 0 3 3 1 1 2 2 0 0 3 3 1 1", NULL},
    {"A3, 4 nodes, two threads", "kunpeng 4x40x2", 's', A3_FOURS, NULL},
    {"A3, 8 of 16", "kunpeng 4x40x2", 's', "0 0 0 0 2 2 2 2", NULL},
    {"published: A3 on x86", "x86 4x24x2", 't',
     "0+1 0+1 0+1 0+1 0+1 0+1 0+1 0+1 2+3 2+3 2+3 2+3 2+3 2+3 2+3 2+3", NULL},

    /* 300I */
    {"300I Duo, 4 cards", "kunpeng 8x24", 't', "2 2 0 0 6 6 4 4", NULL},
    {"300I Duo, cards on two nodes", "kunpeng 8x32", 't', "1 1 1 1 6 6 6 6", NULL},
    {"300I Duo in a VM", "one 1x32", 't', "- -", NULL},
    {"published: 310P, 4 cards", "kunpeng 4x32", 't', "0 0 2 2", NULL},
    {"300I Pro, 6 cards", "kunpeng 4x32", 't', "0 0 0 2 2 2", NULL},
    {"300I Pro on x86", "x86 4x12x2", 't', "0 1 2 3", NULL},

    /* x86 */
    {"published: Box16", "x86 2x48x2", 't', TWICE_8, NULL},
    {"published: 950 on x86", "x86 2x64x2", 't', "0 0 0 0 1 1 1 1", NULL},
    {"siblings in the second half", "x86 2x32x2", 't', "0 0 0 0 1 1 1 1", NULL},
    {"siblings adjacent", "x86 2x32x2 adjacent", 't', "0 0 0 0 1 1 1 1", NULL},
    {"siblings adjacent, mixed", "x86 2x32x2 adjacent", 't', "1 0 1 0 0 1 0 1", NULL},
    {"five NPUs of a socket", "x86 2x32x2", 't', "0 0 0 0 0", NULL},
    {"seven NPUs", "x86 2x48x2", 't', "0 0 0 1 1 1 1", NULL},
    {"one node, three NPUs", "one 1x16x2", 't', "0 0 0", NULL},
    {"SNC2, an NPU pair a node", "snc2 4x16x2", 't', "0 0 1 1 2 2 3 3", NULL},
    {"SNC2, homes are sockets", "snc2 4x16x2", 't', "0+1 0+1 0+1 0+1 2+3 2+3 2+3 2+3", NULL},
    {"SNC2, a node of each socket", "snc2 4x16x2", 't', "1 1 1 1 3 3 3 3", NULL},
    {"SNC4, an NPU a node", "snc4 8x14x2", 't', "0 1 2 3 4 5 6 7", NULL},
    {"SNC4, homes on even nodes", "snc4 8x14x2", 't', "0 0 2 2 4 4 6 6", NULL},
    {"SNC4, one node of a socket", "snc4 8x14x2", 't', "3 3 3 3 7 7 7 7", NULL},
    {"NPS4, homes on odd nodes", "nps4 8x16x2", 't', "1 1 3 3 5 5 7 7", NULL},
    {"NPS4, first and last node", "nps4 8x16x2", 't', "0 0 0 0 7 7 7 7", NULL},
    {"NPS4, one thread, mixed", "nps4 8x16x1", 't', "3 2 1 0 7 6 5 4", NULL},

    /* cpusets */
    {"half of each node", "kunpeng 8x24", 't', PAIRS,
     "0-11,24-35,48-59,72-83,96-107,120-131,144-155,168-179"},
    {"every second CPU", "kunpeng 8x24", 't', PAIRS, "0-191:2"},
    {"nodes 0 to 3 alone", "kunpeng 8x24", 't', PAIRS, "0-95"},
    {"one node of eight", "kunpeng 8x32", 't', "7 7 5 5 1 1 3 3", "224-255"},
    {"pieces of nodes", "kunpeng 8x24", 't', PAIRS, "0-6,20-50,70-75,100-118,140-150,160-180"},
    {"homes of a few CPUs", "kunpeng 8x24", 't', PAIRS, "0-2,24-47,48-90,96-99,144-191"},
    {"half of the cores", "x86 2x32x2", 't', "0 0 0 0 1 1 1 1", "0-15,32-47,64-79,96-111"},
    {"cut cores", "x86 2x32x2", 't', "0 0 0 0 1 1 1 1", "0-63,64-75,96-111"},
    {"one thread of each core", "x86 2x32x2", 't', "0 0 0 0 1 1 1 1", "0-63"},
    {"cut cores, adjacent", "x86 2x32x2 adjacent", 't', "0 0 0 1 1", "1-30,33-50,64-100:3"},

    /* as many CPUs as the NPUs need, one more, one fewer */
    {"tight: 40 CPUs, 8 NPUs", "kunpeng 8x24", 't', PAIRS,
     "0-4,24-28,48-52,72-76,96-100,120-"
     "124,144-148,168-172"},
    {"tight: 41 CPUs, 8 NPUs", "kunpeng 8x24", 't', PAIRS, "0-40"},
    {"tight: 39 CPUs, 8 NPUs", "kunpeng 8x24", 't', PAIRS, "140-178"},
    {"tight: 10 cores, 4 NPUs", "small 2x5x2", 't', "0 0 1 1", NULL},
    {"tight: 10 cores, 3 NPUs", "small 2x5x2", 't', "0 0 1", NULL},
    {"tight: 8 cores, 3 NPUs", "small 2x4x2", 't', "0 0 0", NULL},
    {"tight: 8 cores, 3 NPUs, mixed", "small 2x4x2", 't', "1 0 1", NULL},
    {"tight: 24 CPUs, 4 NPUs", "small 4x6", 't', "0 0 0 0", NULL},
    {"tight: 24 CPUs, 4 NPUs, last node", "small 4x6", 't', "3 3 3 2", NULL},
    {"tight: 24 CPUs, 5 NPUs", "small 4x6", 't', "0 1 2 3 3", NULL},
};
const int32_t n_layouts = (int32_t)(sizeof layouts / sizeof *layouts);

/* == Building =============================================================== */

static void wrong(const layout *row, const char *what)
{
    fprintf(stderr, "layouts.c: %s: %s\n", row->name, what);
    exit(2);
}

const machine *layout_machine(const layout *row)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (strcmp(machines[i].name, row->machine) == 0)
            return &machines[i];
    wrong(row, "no such machine");
    return NULL;
}

static int32_t cpu_id(const machine *m, int32_t node, int32_t core, int32_t thread)
{
    const int32_t number = node * m->n_core + core;
    return m->siblings == 'a' ? number * m->n_thread + thread
                              : thread * m->n_node * m->n_core + number;
}

/* list = range *( "," range )       range = number [ "-" number [ ":" stride ] ] */
static void read_allowed(const layout *row, int32_t n_cpu, char *allowed)
{
    const char *at = row->allowed;
    memset(allowed, at == NULL, LAYOUT_CPUS);
    while (at && *at) {
        char *end;
        long first = strtol(at, &end, 10);
        long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        long stride = *end == ':' ? strtol(end + 1, &end, 10) : 1;
        if (end == at || last >= n_cpu || stride < 1)
            wrong(row, "allowed");
        for (long i = first; i <= last; i += stride)
            allowed[i] = 1;
        at = *end == ',' ? end + 1 : end;
    }
}

static void add_cpus(const layout *row, const machine *m, site *out)
{
    const int32_t n_cpu = m->n_node * m->n_core * m->n_thread;
    int32_t core_of[LAYOUT_CPUS] = {0}, first[LAYOUT_CPUS], n_allowed = 0;
    char allowed[LAYOUT_CPUS];
    if (n_cpu > LAYOUT_CPUS || m->n_node > LAYOUT_NODES)
        wrong(row, "too large");
    for (int32_t core = 0; core < m->n_node * m->n_core; core++) {
        first[core] = -1;
        for (int32_t thread = 0; thread < m->n_thread; thread++)
            core_of[cpu_id(m, core / m->n_core, core % m->n_core, thread)] = core;
    }
    read_allowed(row, n_cpu, allowed);
    for (int32_t id = 0; id < n_cpu; id++) {
        int32_t *of_core = &first[core_of[id]];
        *of_core = *of_core < 0 ? id : *of_core;
        out->cpu[id] = id;
        out->core[id] = *of_core;
        out->node[id] = core_of[id] / m->n_core;
        if (allowed[id])
            out->allowed[n_allowed++] = id;
    }
    out->host.n_cpu = n_cpu;
    for (int32_t d = 0; d < LAYOUT_DEVICES; d++) {
        out->device[d].allowed.cpu = out->allowed;
        out->device[d].allowed.n = n_allowed;
        out->device[d].minimum = 5;
    }
}

static void add_nodes(const machine *m, site *out)
{
    const int32_t n_socket = m->n_node / m->per_socket;
    out->host.n_node = m->n_node;
    for (int32_t a = 0; a < m->n_node; a++) {
        out->socket[a] = a / m->per_socket;
        for (int32_t b = 0; b < m->n_node; b++) {
            int32_t hops = abs(a / m->per_socket - b / m->per_socket);
            hops = hops < n_socket - hops ? hops : n_socket - hops;
            out->distance[a * m->n_node + b] = a == b ? 10
                                               : hops ? m->far + 4 * (hops - 1)
                                                      : m->near;
        }
    }
}

static int by_number(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Adds the NPU of the word at `at`; its node alone is its home, too. Returns what is after that
 * word. */
static const char *add_device(const layout *row, const machine *m, const char *at, site *out)
{
    int32_t *home = out->home[out->n_device], n = 0;
    at += *at == '-' || *at == 'n';
    while (*at >= '0' && *at <= '9') {
        char *end;
        const int32_t node = (int32_t)strtol(at, &end, 10);
        if (node >= m->n_node)
            wrong(row, "homes");
        for (int32_t i = 0; i < m->n_core * m->n_thread; i++)
            home[n++] = cpu_id(m, node, i / m->n_thread, i % m->n_thread);
        at = *end == '+' ? end + 1 : end;
    }
    if (*at != ' ' && *at != '\0')
        wrong(row, "homes");
    qsort(home, (size_t)n, sizeof *home, by_number);
    out->device[out->n_device].home.cpu = home;
    out->device[out->n_device++].home.n = n;
    return at + (*at == ' ');
}

void layout_build(const layout *row, site *out)
{
    const machine *m = layout_machine(row);
    const char *at = row->homes;
    memset(out, 0, sizeof *out);
    add_cpus(row, m, out);
    add_nodes(m, out);
    while (*at && out->n_device < LAYOUT_DEVICES)
        at = add_device(row, m, at, out);
    if (*at)
        wrong(row, "too many NPUs");
    out->host.cpu = out->cpu;
    out->host.node = out->node;
    out->host.core = out->core;
    out->host.distance = m->far ? out->distance : NULL;
    out->host.socket = m->far ? out->socket : NULL;
}
