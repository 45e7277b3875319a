/* memory_move.c - moving the memory of a process to a node
 * SPDX-License-Identifier: MIT
 *
 * One migrate_pages(2) for each source node: what a limit leaves out stays whole, and a call
 * that comes back early tells how far it is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "../../text/cpulist.h"
#include "../../text/numa_maps.h"
#include "../common.h"
#include "background.h"
#include "memory_nodes.h"

/* Rounds over the nodes that memory is moved from. */
#define MAX_ROUNDS 3

/* How often a long call is told of. */
#define PERIOD_MS 500

/* Nodes, ascending. */
typedef struct node_list {
    int32_t node[CPUBIND_MAX_NODES];
    int32_t n;
} node_list;

/* One call. */
typedef struct one_call {
    const cpubind_sys *sys;
    int32_t pid;
    unsigned long n_bit;
    unsigned long from[CPUBIND_MASK_WORDS], to[CPUBIND_MASK_WORDS];
    long result; /* of the call */
    int error;   /* errno when it is below 0 */
} one_call;

/* How far all calls are, for the progress. */
typedef struct way {
    cpubind_root *root;
    const cpubind_memory_move *move;
    int64_t total;      /* bytes on all nodes that are moved */
    int64_t done, here; /* bytes on those that were, on the one that is */
    int64_t begin;      /* pages that the kernel had moved before it; -1: not known */
} way;

/* == Refusals =============================================================== */

/* Never changes a refusal that was noted first. */
static void refuse(cpubind_memory_move *move, int error, const char *what)
{
    if (move->result == CPUBIND_MEMORY_REFUSED)
        return;
    move->result = CPUBIND_MEMORY_REFUSED;
    move->error = error ? error : EIO;
    move->what = what;
}

/* Sums stop at the top, as those of numa_maps do. */
static int64_t add(int64_t a, int64_t b)
{
    return b > INT64_MAX - a ? INT64_MAX : a + b;
}

static void set_left(cpubind_memory_move *move)
{
    const int32_t node = move->node;
    move->left = move->after.total;
    if (node >= 0 && node < CPUBIND_MAX_NODES)
        move->left -= move->after.bytes[node];
}

/* == Nodes ================================================================== */

static int read_list(cpubind_root *root, const char *name, node_list *out)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    int error = cpubind_input_error(cpubind_root_read(root, name, &bytes));
    if (!error && cpubind_cpulist_parse(bytes.data, bytes.len, CPUBIND_MAX_NODES, out->node,
                                        CPUBIND_MAX_NODES, &out->n, NULL) != CPUBIND_TEXT_OK)
        error = EILSEQ;
    cpubind_bytes_free(&bytes);
    return error;
}

/* Kernels before 4.14 have the first file only when memory can be unplugged, and the second
 * says the same where there is no memory that must be able to. 0 or an errno. */
static int read_nodes(cpubind_root *root, node_list *out)
{
    int error = read_list(root, "sys/devices/system/node/has_memory", out);
    if (error == ENOENT)
        error = read_list(root, "sys/devices/system/node/has_normal_memory", out);
    return error;
}

static int has_node(const node_list *nodes, int32_t node)
{
    for (int32_t i = 0; i < nodes->n; i++)
        if (nodes->node[i] == node)
            return 1;
    return 0;
}

/* == Progress =============================================================== */

/* Pages that the kernel has moved since it started, of all processes; -1: not known. */
static int64_t pages_moved(cpubind_root *root)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    int64_t pages = -1;
    if (cpubind_root_read(root, "proc/vmstat", &bytes).state != CPUBIND_INPUT_PRESENT ||
        cpubind_vmstat_find(bytes.data, bytes.len, "pgmigrate_success", &pages, NULL) !=
            CPUBIND_TEXT_OK)
        pages = -1;
    cpubind_bytes_free(&bytes);
    return pages;
}

/* Of a process without memory on other nodes there is nothing to tell. */
static void tell(const way *w, int64_t here)
{
    if (w->move->progress && w->total > 0)
        w->move->progress(w->move->ctx, add(w->done, here), w->total);
}

static void tick(void *ctx)
{
    const way *w = ctx;
    const int64_t now = w->begin < 0 ? -1 : pages_moved(w->root);
    const int64_t page = (int64_t)cpubind_priv_page_kb() * 1024;
    int64_t here = 0;
    if (now > w->begin)
        here = now - w->begin > w->here / page ? w->here : (now - w->begin) * page;
    tell(w, here);
}

/* == The calls ============================================================== */

static void call(void *ctx)
{
    one_call *c = ctx;
    do {
        c->result = c->sys->migrate_pages(c->pid, c->n_bit, c->from, c->to);
        c->error = c->result < 0 ? errno : 0;
    } while (c->result < 0 && c->error == EINTR);
}

/* Moves what is on one node. */
static void move_from(way *w, int32_t source, cpubind_memory_move *move)
{
    one_call c = {.sys = w->root->sys, .pid = move->pid};
    const unsigned long from_bit = cpubind_priv_node_bit(source, c.from);
    const unsigned long to_bit = cpubind_priv_node_bit(move->node, c.to);
    c.n_bit = from_bit > to_bit ? from_bit : to_bit;
    w->here = move->after.bytes[source];
    w->begin = move->progress ? pages_moved(w->root) : -1;
    cpubind_linux_run_beside(c.sys, call, &c, PERIOD_MS, move->progress ? tick : NULL, w);
    if (c.result < 0) {
        refuse(move, c.error, "migrate_pages");
        return;
    }
    if (c.result > 0 && move->result == CPUBIND_MEMORY_MOVED)
        move->result = CPUBIND_MEMORY_PART;
    w->done = add(w->done, w->here);
    if (w->done > w->total) /* it has grown meanwhile */
        w->done = w->total;
    tell(w, 0);
}

/* The nodes to move from: those with memory but the wished one. With a limit, as many of them
 * as hold no more than it in all; one that holds nothing is not looked at again then, for what
 * has come there meanwhile would not be counted. */
static int64_t choose(cpubind_memory_move *move, const node_list *nodes, node_list *source)
{
    int64_t total = 0;
    source->n = 0;
    for (int32_t i = 0; i < nodes->n; i++) {
        const int64_t bytes = move->before.bytes[nodes->node[i]];
        if (nodes->node[i] == move->node || (move->limit >= 0 && bytes == 0))
            continue;
        if (move->limit >= 0 && bytes > move->limit - total) {
            move->result = CPUBIND_MEMORY_LIMIT;
            continue;
        }
        source->node[source->n++] = nodes->node[i];
        total = add(total, bytes);
    }
    return total;
}

/* What is where now. A process that has ended may still be seen, without memory, and moving
 * that is EINVAL. */
static void measure(cpubind_root *root, cpubind_memory_move *move)
{
    const int error = cpubind_memory_read(root, move->pid, &move->after);
    if (error)
        refuse(move, error == ENOENT ? ESRCH : error, "numa_maps");
    else if (move->error == EINVAL && move->after.total == 0)
        move->error = ESRCH;
}

/* What is still on these nodes. */
static int64_t left_on(const node_list *source, const cpubind_memory *memory)
{
    int64_t left = 0;
    for (int32_t i = 0; i < source->n; i++)
        left = add(left, memory->bytes[source->node[i]]);
    return left;
}

static void move_round(way *w, const node_list *source, cpubind_memory_move *move)
{
    if (move->result == CPUBIND_MEMORY_PART)
        move->result = CPUBIND_MEMORY_MOVED;
    for (int32_t i = 0; i < source->n && move->result != CPUBIND_MEMORY_REFUSED; i++)
        move_from(w, source->node[i], move);
    measure(w->root, move);
}

/* A page that the kernel has in its hands, to make a huge one of it perhaps, is passed over
 * without a word: it looks again as long as that moves something. */
static void move_all(cpubind_root *root, const node_list *nodes, cpubind_memory_move *move)
{
    node_list source;
    way w = {.root = root, .move = move};
    int64_t left, was_left;
    w.total = choose(move, nodes, &source);
    if (source.n == 0)
        return;
    left = left_on(&source, &move->before);
    tell(&w, 0);
    for (int i = 0; i < MAX_ROUNDS; i++) {
        was_left = left;
        move_round(&w, &source, move);
        left = left_on(&source, &move->after);
        w.done = w.total > left ? w.total - left : 0;
        if (move->result == CPUBIND_MEMORY_REFUSED || left == 0 || left >= was_left)
            return;
    }
}

/* Why a process has no numa_maps: the kernel has no nodes, or it is the process that is not
 * there. */
static void no_maps(cpubind_root *root, cpubind_memory_move *move)
{
    const int fd = cpubind_root_open(root, "proc/self/numa_maps", 0);
    if (fd >= 0)
        root->sys->close(fd); /* nothing was written: no result to lose */
    if (fd < 0 && errno == ENOENT)
        move->result = CPUBIND_MEMORY_NO_NODE;
    else
        refuse(move, ESRCH, "numa_maps");
}

/* Where the memory is, and which nodes have any; whether it can be moved at all. Without a node
 * to move it to, the walk through the page tables of the process is not worth it. */
static int look(cpubind_root *root, node_list *nodes, cpubind_memory_move *move)
{
    const int nodes_error = read_nodes(root, nodes);
    int error;
    memset(&move->before, 0, sizeof move->before);
    memset(&move->after, 0, sizeof move->after);
    move->left = 0;
    move->error = 0;
    move->what = NULL;
    move->result = CPUBIND_MEMORY_NO_NODE;
    if (!nodes_error && (nodes->n < 2 || !has_node(nodes, move->node)))
        return 0;
    move->result = CPUBIND_MEMORY_MOVED;
    error = cpubind_memory_read(root, move->pid, &move->before);
    if (error == ENOENT)
        no_maps(root, move);
    else if (error)
        refuse(move, error, "numa_maps");
    if (error)
        return 0;
    move->after = move->before;
    set_left(move);
    if (nodes_error)
        refuse(move, nodes_error, "has_memory");
    return !nodes_error;
}

void cpubind_memory_look(cpubind_root *root, cpubind_memory_move *move)
{
    node_list nodes = {{0}, 0};
    (void)look(root, &nodes, move);
}

void cpubind_memory_migrate(cpubind_root *root, cpubind_memory_move *move)
{
    node_list nodes = {{0}, 0};
    if (!look(root, &nodes, move) || move->before.total == 0)
        return; /* a kernel thread has none, and may not be asked */
    move_all(root, &nodes, move);
    set_left(move);
}
