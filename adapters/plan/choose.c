/* choose.c - which devices a job should ask for: see choose.h
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc.
 */
#include "choose.h"

#include <string.h>

/* What a set is judged by, in the order in which it counts; smaller is better. */
typedef struct worth {
    int32_t farthest, sum, cards, parted;
} worth;

/* A set that is grown. */
typedef struct growing {
    worth is;
    int32_t n;
    uint8_t *is_in;             /* by device */
    int32_t *to_set, *farthest; /* by device: the sum to those of the set, and the most */
} growing;

/* What is chosen from. */
typedef struct chooser {
    const cpubind_facts *facts;
    cpubind_chosen *device;
    int32_t n_device;
    int32_t *card; /* by device: how near its nearest network card is ... */
    int32_t *near; /* ... and how near all the others are, nearer ones for more */
} chooser;

const char *cpubind_together_word(cpubind_together together)
{
#define CPUBIND_X(name, word) word,
    static const char *const words[] = {CPUBIND_TOGETHER_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return words[(uint32_t)together < CPUBIND_TOGETHER_COUNT ? together
                                                             : CPUBIND_TOGETHER_UNKNOWN];
}

/* Whether two nodes are on one socket, as cpubind.h has it: by the sockets, else by how far
 * they are apart. */
static int is_one_socket(const cpubind_facts *f, int32_t a, int32_t b)
{
    const int32_t i = cpubind_facts_node(f, a), k = cpubind_facts_node(f, b);
    const cpubind_topology *host = &f->host;
    if (i < 0 || k < 0)
        return 0;
    return host->socket
               ? host->socket[i] == host->socket[k]
               : host->distance && host->distance[i * f->n_node + k] < CPUBIND_FAR_DISTANCE;
}

cpubind_together cpubind_together_of(const cpubind_facts *facts, const cpubind_host_device *one,
                                     const cpubind_host_device *other)
{
    if (one == other)
        return CPUBIND_TOGETHER_SWITCH;
    switch (cpubind_nearness_of(one, other)) {
    case CPUBIND_NEARNESS_PIX:
        return CPUBIND_TOGETHER_SWITCH;
    case CPUBIND_NEARNESS_PXB:
        return CPUBIND_TOGETHER_ROOT_PORT;
    case CPUBIND_NEARNESS_PHB:
        return CPUBIND_TOGETHER_ROOT_COMPLEX;
    case CPUBIND_NEARNESS_NODE:
        return CPUBIND_TOGETHER_NODE;
    case CPUBIND_NEARNESS_SYS:
        return is_one_socket(facts, one->node, other->node) ? CPUBIND_TOGETHER_SOCKET
                                                            : CPUBIND_TOGETHER_HOST;
    default:
        return CPUBIND_TOGETHER_UNKNOWN;
    }
}

static cpubind_together apart(const chooser *c, int32_t a, int32_t b)
{
    const cpubind_host_device *bus = c->facts->bus;
    return cpubind_together_of(c->facts, &bus[c->device[a].row], &bus[c->device[b].row]);
}

/* How near the nearest network card of a device is. */
static int32_t card_of(const chooser *c, int32_t device)
{
    const cpubind_facts *f = c->facts;
    const int32_t row = c->device[device].row;
    const cpubind_host_device *nic = cpubind_facts_nearest(f, row, CPUBIND_NIC);
    return nic ? (int32_t)cpubind_nearness_of(&f->bus[row], nic) : CPUBIND_NEARNESS_UNKNOWN;
}

static int is_better(const worth *a, const worth *b)
{
    const int32_t of_a[] = {a->farthest, a->sum, a->cards, a->parted};
    const int32_t of_b[] = {b->farthest, b->sum, b->cards, b->parted};
    for (size_t i = 0; i < sizeof of_a / sizeof *of_a; i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i];
    return 0;
}

/* What a set would be worth with one device more: pairs of the set and of what is left are
 * parted. */
static worth with(const chooser *c, const growing *set, int32_t device)
{
    const int32_t near_set = set->n * CPUBIND_TOGETHER_UNKNOWN - set->to_set[device];
    worth w = set->is;
    w.sum += set->to_set[device];
    w.cards += c->card[device];
    w.parted += c->near[device] - 2 * near_set;
    if (set->farthest[device] > w.farthest)
        w.farthest = set->farthest[device];
    return w;
}

static void start_set(const chooser *c, growing *set)
{
    const size_t size = (size_t)c->n_device * sizeof *set->to_set;
    set->is = (worth){0, 0, 0, 0};
    set->n = 0;
    memset(set->is_in, 0, (size_t)c->n_device);
    memset(set->to_set, 0, size);
    memset(set->farthest, 0, size);
}

static void add(const chooser *c, growing *set, int32_t device)
{
    set->is = with(c, set, device);
    set->is_in[device] = 1;
    set->n++;
    for (int32_t k = 0; k < c->n_device; k++) {
        const int32_t between = k == device ? 0 : (int32_t)apart(c, device, k);
        set->to_set[k] += between;
        if (between > set->farthest[k])
            set->farthest[k] = between;
    }
}

/* Grows a set from one device. */
static void grow(const chooser *c, int32_t start, int32_t n, growing *set)
{
    start_set(c, set);
    for (int32_t next = start; next >= 0;) {
        worth best = {0, 0, 0, 0};
        add(c, set, next);
        next = -1;
        for (int32_t k = 0; k < c->n_device && set->n < n; k++) {
            const worth more = with(c, set, k);
            if (set->is_in[k] || (next >= 0 && !is_better(&more, &best)))
                continue;
            best = more;
            next = k;
        }
    }
}

/* Lists the devices of the process by their numbers, those without one last. */
static void list_devices(chooser *c)
{
    const cpubind_facts *f = c->facts;
    for (int32_t i = 0; i < f->n_bus; i++) {
        const cpubind_host_device *d = &f->bus[i];
        if (d->sight == CPUBIND_SIGHT_HIDDEN || !d->is_asked)
            continue;
        for (int32_t k = 0; k < (d->n_number > 0 ? d->n_number : 1); k++) {
            const cpubind_chosen one = {i, d->n_number > 0 ? d->number[k] : -1};
            int32_t at = c->n_device++;
            while (at > 0 && (uint32_t)c->device[at - 1].number > (uint32_t)one.number) {
                c->device[at] = c->device[at - 1];
                at--;
            }
            c->device[at] = one;
        }
    }
}

/* Sees how near each device is to all others, and to network cards. Returns 0 when the arena is
 * full. */
static int compare_all(chooser *c, cpubind_arena *arena)
{
    c->card = cpubind_arena_ints(arena, c->n_device);
    c->near = cpubind_arena_ints(arena, c->n_device);
    for (int32_t i = 0; c->card && c->near && i < c->n_device; i++) {
        c->card[i] = card_of(c, i);
        c->near[i] = 0;
        for (int32_t k = 0; k < c->n_device; k++)
            c->near[i] += k == i ? 0 : CPUBIND_TOGETHER_UNKNOWN - (int32_t)apart(c, i, k);
    }
    return c->card && c->near;
}

/* Returns 0 when the arena is full. */
static int new_set(const chooser *c, cpubind_arena *arena, growing *out)
{
    out->is_in = (uint8_t *)cpubind_arena_take(arena, c->n_device, 1);
    out->to_set = cpubind_arena_ints(arena, c->n_device);
    out->farthest = cpubind_arena_ints(arena, c->n_device);
    return out->is_in && out->to_set && out->farthest;
}

/* Writes a set by the order of the devices. Returns 0 when the arena is full. */
static int write_choice(const chooser *c, const growing *set, cpubind_arena *arena,
                        cpubind_choice *out)
{
    out->device = (cpubind_chosen *)cpubind_arena_take(arena, set->n, sizeof *out->device);
    out->together = (cpubind_together)set->is.farthest;
    out->n = 0;
    for (int32_t k = 0; out->device && k < c->n_device; k++)
        if (set->is_in[k])
            out->device[out->n++] = c->device[k];
    return out->device != NULL;
}

int32_t cpubind_choose(const cpubind_facts *facts, int32_t n, cpubind_arena *arena,
                       cpubind_choice *near, cpubind_choice *lowest)
{
    chooser c = {.facts = facts};
    growing best, other;
    c.device = (cpubind_chosen *)cpubind_arena_take(arena, facts->n_bus * CPUBIND_PCI_NUMBERS,
                                                    sizeof *c.device);
    if (!c.device)
        return -1;
    list_devices(&c);
    if (c.n_device < n)
        return c.n_device;
    if (!compare_all(&c, arena) || !new_set(&c, arena, &best) || !new_set(&c, arena, &other))
        return -1;
    start_set(&c, &other);
    for (int32_t k = 0; k < n; k++)
        add(&c, &other, k);
    if (!write_choice(&c, &other, arena, lowest))
        return -1;
    grow(&c, 0, n, &best);
    for (int32_t start = 1; start < c.n_device; start++) {
        grow(&c, start, n, &other);
        if (is_better(&other.is, &best.is)) {
            const growing swap = best;
            best = other;
            other = swap;
        }
    }
    return write_choice(&c, &best, arena, near) ? c.n_device : -1;
}
