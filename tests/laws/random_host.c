/* random_host.c - random Ascend hosts, for the law over pairs of views
 * SPDX-License-Identifier: MIT
 *
 * It must not draw more or fewer bytes for one part because of another: a search for a smaller
 * case sets one byte to zero and keeps the meaning of the others. So every part draws all of
 * its bytes, and leaves out those that do not count.
 */
#include "random_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* == Draws ================================================================== */

int32_t draw(draws *d, int32_t below)
{
    return d->at < d->end ? *d->at++ % below : 0;
}

int32_t draw_chance(draws *d, int32_t cases)
{
    return draw(d, cases) == cases - 1;
}

/* == Sets of CPUs =========================================================== */

int32_t bits_count(const cpu_bits *set)
{
    return bits_count_both(set, set);
}

int32_t bits_count_both(const cpu_bits *a, const cpu_bits *b)
{
    int32_t n = 0;
    for (int32_t i = 0; i < HOST_CPUS / 64; i++)
        n += (int32_t)__builtin_popcountll(a->word[i] & b->word[i]);
    return n;
}

int32_t bits_are_same(const cpu_bits *a, const cpu_bits *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

int32_t bits_next(const cpu_bits *set, int32_t from)
{
    for (int32_t i = from / 64; from < HOST_CPUS && i < HOST_CPUS / 64; i++) {
        uint64_t word = set->word[i];
        if (i == from / 64)
            word &= ~UINT64_C(0) << (from % 64);
        if (word != 0)
            return i * 64 + (int32_t)__builtin_ctzll(word);
    }
    return -1;
}

/* == CPUs and nodes ========================================================= */

/* Gives a node its cores, from core `first` of `all` on. The second thread of a core has the
 * next number, or that of the core after all first threads. */
static void add_cores(random_host *h, host_node *node, int32_t first, int32_t n)
{
    for (int32_t core = first; core < first + n; core++)
        for (int32_t thread = 0; thread < h->threads; thread++)
            bits_add(&node->online, h->siblings == 1 ? core * h->threads + thread
                                                     : core + thread * h->siblings);
}

/* Takes one CPU of a node in eight offline. */
static void take_offline(random_host *h, host_node *node, int32_t first)
{
    for (int32_t cpu = bits_next(&node->online, 0), i = 0; cpu >= 0;
         cpu = bits_next(&node->online, cpu + 1), i++)
        if (i % 8 == first) {
            bits_add(&h->offline, cpu);
            node->online.word[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
        }
}

/* Nodes with CPUs for the NPUs of n_card cards, in most hosts. 19 bytes. */
static void make_nodes(draws *d, random_host *h, int32_t n_card)
{
    static const int32_t sizes[] = {8, 24, 32, 16, 24, 48, 20, 40};
    int32_t cores = sizes[draw(d, 8)];
    const int32_t is_narrow = draw_chance(d, 6), step = 1 + draw_chance(d, 6);
    const int32_t has_offline = draw_chance(d, 6), is_split = draw(d, 2);
    const int32_t empty = draw_chance(d, 16);
    int32_t extra[HOST_NODES], off[HOST_NODES], n = 0;

    h->n_node = 1 + draw(d, HOST_NODES);
    while (!is_narrow && cores * h->n_node < 12 * n_card * h->npus_per_card)
        cores += 8;
    h->threads = 1 + draw_chance(d, 4);
    for (int32_t i = 0; i < HOST_NODES; i++) {
        const int32_t byte = draw(d, 256);
        extra[i] = byte % 16 == 15 ? 2 : 0;
        off[i] = byte / 16 % 8;
        n += i < h->n_node ? cores + extra[i] : 0;
    }
    if (n * h->threads > HOST_CPUS)
        h->threads = 1;
    h->siblings = is_split ? n : 1;
    n = 0;
    for (int32_t i = 0; i < h->n_node; i++) {
        host_node *node = &h->node[i];
        node->id = i * step;
        if (empty && i == h->n_node - 1 && i > 0)
            continue;
        add_cores(h, node, n, cores + extra[i]);
        n += cores + extra[i];
        if (has_offline)
            take_offline(h, node, off[i]);
        for (int32_t w = 0; w < HOST_CPUS / 64; w++)
            h->online.word[w] |= node->online.word[w];
    }
}

/* == NPUs and the PCI bus =================================================== */

enum { NETWORK_DEVICE = 0x1572 };

static host_function *add_function(random_host *h, int32_t vendor, int32_t device)
{
    host_function *function = &h->function[h->n_function++];
    memset(function, 0, sizeof *function);
    function->vendor = vendor;
    function->device = device;
    function->class_code = device == NETWORK_DEVICE ? 0x020000 : 0x120000;
    function->node = function->gpu = -1;
    return function;
}

/* The node of a card: spread, crossed, as drawn, or all on the first. */
static int32_t node_of_card(const random_host *h, int32_t pattern, int32_t card, int32_t n_card,
                            int32_t byte)
{
    switch (pattern) {
    case 0:
        return card * h->n_node / n_card;
    case 1:
        return (n_card - 1 - card) * h->n_node / n_card;
    case 2:
        return byte % h->n_node;
    default:
        return card % 2 * (h->n_node - 1);
    }
}

/* The bus number of a chip: its card's ascend, descend or have the order of drawn bytes. No two
 * chips have one, and all are below 200. */
static int32_t bus_of_chip(int32_t order, int32_t card, int32_t chip, int32_t byte)
{
    switch (order) {
    case 0:
        return 1 + card * 4 + chip * 2;
    case 1:
        return 1 + (HOST_CARDS - card) * 4 + chip * 2;
    default:
        return 1 + byte % 9 * 20 + card + chip * 10;
    }
}

static int32_t device_id(const random_host *h)
{
    static const int32_t ids[CPUBIND_TYPE_COUNT] = {[CPUBIND_TYPE_A2] = 0xd802,
                                                    [CPUBIND_TYPE_A3] = 0xd803,
                                                    [CPUBIND_TYPE_300I] = 0xd500,
                                                    [CPUBIND_TYPE_950] = 0xd806};
    return h->is_duo ? 0xd501 : ids[h->type];
}

typedef struct card_plan {
    int32_t pattern, order, domains; /* nodes, buses */
    int32_t n_card, card_step;
    int32_t is_reversed; /* numbers of cards descend while phy ids ascend */
    int32_t is_one_off;  /* one function is on no node */
    int32_t is_all_off;
    int32_t dead;  /* index of a card that does not work, or -1 */
    npu_state how; /* its state */
} card_plan;

/* A card with its NPUs and functions. */
static void add_card(random_host *h, const card_plan *plan, int32_t i, int32_t byte,
                     int32_t key)
{
    const int32_t server = h->type != CPUBIND_TYPE_300I;
    const int32_t slot = plan->is_reversed ? plan->n_card - 1 - i : i;
    host_function *function = NULL;
    for (int32_t chip = 0; chip < h->npus_per_card; chip++) {
        host_npu *npu = &h->npu[h->n_npu];
        npu->card = server ? i : 1 + slot * plan->card_step;
        npu->chip = chip;
        npu->state = i == plan->dead ? plan->how : NPU_ALIVE;
        if (npu->state != NPU_OFF_BUS && (!function || !h->is_duo)) {
            function = add_function(h, 0x19e5, device_id(h));
            function->domain = plan->domains && i % 2;
            function->bus = bus_of_chip(plan->order, i, chip, key);
            function->first = h->n_npu;
            function->node = node_of_card(h, plan->pattern, i, plan->n_card, byte);
            if (plan->is_all_off || (plan->is_one_off && i == plan->n_card - 1))
                function->node = -1;
        }
        npu->function = function ? 0 : -1; /* set when the functions are in order */
        if (function)
            function->n_npu++;
        h->n_npu++;
    }
}

/* Network cards, another product, virtual functions. 4 bytes. */
static void add_others(draws *d, random_host *h)
{
    const int32_t n_nic = draw(d, 3), has_other = draw_chance(d, 8);
    const int32_t has_virtual = draw_chance(d, 6), byte = draw(d, 256);
    for (int32_t i = 0; i < n_nic; i++)
        add_function(h, i == 0 ? 0x8086 : 0x19e5, NETWORK_DEVICE)->bus = 200 + i;
    if (has_other) {
        host_function *other =
            add_function(h, 0x19e5, h->type == CPUBIND_TYPE_300I ? 0xd802 : 0xd500);
        other->bus = byte % 2 ? 0 : 210;
        other->node = byte % h->n_node;
        h->has_other_type = 1;
    }
    for (int32_t i = 0; has_virtual && i < 2; i++) {
        host_function *function =
            add_function(h, 0x19e5, h->type == CPUBIND_TYPE_A2 ? 0xd805 : device_id(h));
        function->bus = byte % 4 < 2 ? 220 + i : 250 + i;
        function->node = byte % h->n_node;
        function->is_virtual = 1;
    }
}

/* Leaves the network cards alone. */
static void remove_npus(random_host *h)
{
    int32_t n = 0;
    for (int32_t i = 0; i < h->n_function; i++)
        if (h->function[i].device == NETWORK_DEVICE)
            h->function[n++] = h->function[i];
    h->n_function = n;
    h->n_npu = h->has_other_type = h->has_mailbox = h->has_driver = 0;
}

/* GPUs in a host of four, of one vendor or of several, on any node, and below or above the
 * buses of the NPUs; in one of 16 without NPUs. The last of a vendor may be a virtual function.
 * 9 bytes. */
static void add_gpus(draws *d, random_host *h)
{
    static const struct {
        int32_t vendor, device, class_code;
    } kinds[] = {{0x1002, 0x74a1, 0x120000},
                 {0x10de, 0x2330, 0x030200},
                 {0x8086, 0x0bd6, 0x038000},
                 {0x1da3, 0x1020, 0x120000}};
    const int32_t how = draw(d, 16), has_gpus = how % 4 == 3, n = 1 + draw(d, HOST_GPUS);
    const int32_t vendor = draw(d, 8), has_virtual = draw_chance(d, 8);
    host_function card = {.bus = 0};
    if (how == 15)
        remove_npus(h);
    for (int32_t i = 0; i < HOST_GPUS; i++) {
        const int32_t byte = draw(d, 256);
        const int32_t kind = vendor < 4 ? vendor : byte / 16 % 4;
        host_function *function;
        if (!has_gpus || i >= n)
            continue;
        function = add_function(h, kinds[kind].vendor, kinds[kind].device);
        if (has_virtual && i > 0 && i >= n - 2) { /* the last two are of the card before */
            card.function++;
            card.is_virtual = 1;
            *function = card;
            continue;
        }
        function->class_code = kinds[kind].class_code;
        function->bus = byte % 2 ? 240 + i : 190 + i;
        function->node = byte / 2 % h->n_node;
        function->gpu = 0;
        card = *function;
    }
}

static int compare_functions(const void *a, const void *b)
{
    return strcmp(((const host_function *)a)->name, ((const host_function *)b)->name);
}

/* Names the functions, brings them in the order of their addresses, and says of each NPU which
 * one it is on. */
static void order_functions(random_host *h)
{
    for (int32_t i = 0; i < h->n_function; i++)
        (void)snprintf(h->function[i].name, sizeof h->function[i].name, "%04x:%02x:00.%x",
                       (unsigned)h->function[i].domain, (unsigned)h->function[i].bus,
                       (unsigned)h->function[i].function);
    qsort(h->function, (size_t)h->n_function, sizeof h->function[0], compare_functions);
    for (int32_t i = 0; i < h->n_npu; i++)
        h->npu[i].function = -1;
    for (int32_t i = 0, gpu = 0; i < h->n_function; i++) {
        host_function *function = &h->function[i];
        if (function->gpu >= 0)
            function->gpu = gpu++;
        function->irq = 1000 + 20 * i;
        for (int32_t k = 0; k < function->n_npu; k++)
            h->npu[function->first + k].function = i;
    }
}

/* 10 bytes, and 2 for each card. */
static void make_cards(draws *d, random_host *h, int32_t n_card)
{
    card_plan plan = {.n_card = n_card};
    const int32_t dead = draw_chance(d, 6), which = draw(d, 256), how = draw(d, 3);
    plan.pattern = draw(d, 4);
    plan.order = draw(d, 3);
    plan.domains = draw_chance(d, 8);
    plan.card_step = 1 + draw(d, 2);
    plan.is_reversed = draw_chance(d, 6);
    plan.is_one_off = draw_chance(d, 12);
    plan.is_all_off = draw_chance(d, 24);
    /* A process whose NPU is on a node without CPUs cannot know that npu-smi lists node 0 for
     * an NPU of another process that is on no node. */
    for (int32_t i = 0; i < h->n_node; i++)
        if (bits_next(&h->node[i].online, 0) < 0)
            plan.is_one_off = plan.is_all_off = 0;
    plan.dead = dead && plan.n_card > 1 ? which % plan.n_card : -1;
    plan.how = (npu_state)(NPU_SILENT + how);
    for (int32_t i = 0; i < HOST_CARDS; i++) {
        const int32_t byte = draw(d, 256), key = draw(d, 256);
        if (i < plan.n_card)
            add_card(h, &plan, i, byte, key);
    }
}

void random_host_make(draws *d, random_host *out)
{
    static const cpubind_device_type types[] = {
        CPUBIND_TYPE_A2, CPUBIND_TYPE_A3, CPUBIND_TYPE_300I, CPUBIND_TYPE_950, CPUBIND_TYPE_A2};
    random_host *h = out;
    int32_t n_card;
    memset(h, 0, sizeof *h);
    h->type = types[draw(d, 5)];
    h->is_duo = draw(d, 2) && h->type == CPUBIND_TYPE_300I;
    h->npus_per_card = h->is_duo || h->type == CPUBIND_TYPE_A3 ? 2 : 1;
    h->has_column = draw(d, 2) || h->type != CPUBIND_TYPE_A3;
    h->is_vm = draw_chance(d, 16);
    h->has_mailbox = !draw_chance(d, 5) && !h->is_vm && h->type != CPUBIND_TYPE_950;
    h->has_driver = !draw_chance(d, 5);
    h->has_buses = !draw_chance(d, 12);
    (void)draw(d, 2); /* cases count on the places of the bytes that follow */
    n_card = 1 + draw(d, HOST_CARDS);
    make_nodes(d, h, n_card);
    make_cards(d, h, n_card);
    add_others(d, h);
    h->socket_nodes = draw(d, 5);
    h->has_smt_file = draw(d, 2);
    h->lacks = (host_lack)(draw(d, 12) % 9 % 4);
    add_gpus(d, h);
    order_functions(h);
}

/* == Questions ============================================================== */

int32_t random_host_census(const random_host *h)
{
    int32_t n = 0;
    for (int32_t i = 0; i < h->n_npu; i++)
        n += h->npu[i].state != NPU_OFF_BUS;
    return n;
}

int32_t random_host_has_driver(const random_host *h)
{
    if (!h->has_mailbox || h->has_other_type)
        return 0;
    for (int32_t phy = 0; phy < h->n_npu; phy++)
        if (h->npu[phy].state != NPU_ALIVE || h->function[h->npu[phy].function].node < 0)
            return 0;
    return 1;
}

int32_t random_host_home(const random_host *h, int32_t phy)
{
    const int32_t node = h->npu[phy].function < 0 ? -1 : h->function[h->npu[phy].function].node;
    return node < 0 ? 0 : node;
}
