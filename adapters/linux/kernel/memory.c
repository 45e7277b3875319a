/* memory.c - the memory of a process: on which NUMA nodes it is, and moving it
 * SPDX-License-Identifier: MIT
 *
 * One call of migrate_pages(2) for each source node: a node that the limit leaves out is not
 * touched, and the progress is known between two calls. Changes nothing but the nodes of pages
 * and, for the calling process, its policy. Rules: migrate_pages(2), set_mempolicy(2).
 */
#define _GNU_SOURCE
#include "memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../text/cpulist.h"
#include "../../text/numa_maps.h"
#include "../workers.h"

/* Modes of set_mempolicy(2), with the numbers of the kernel. */
enum { MODE_DEFAULT = 0, MODE_PREFERRED = 1 };

/* A mask of nodes. */
#define MASK_BITS  ((int32_t)(8 * sizeof(unsigned long)))
#define MASK_WORDS (CPUBIND_MAX_NODES / MASK_BITS)

/* Room for a read. The kernel gives a page or two of whole lines at a time. */
#define READ_BYTES 65536

/* Longest line: a path of 4,096 bytes, each of them as four, and 1,024 nodes are 40 KB. */
#define LINE_MAX_BYTES (1 << 20)

/* Rounds over the nodes that memory is moved from. */
#define MAX_ROUNDS 3

/* How often a long call reports its progress. */
#define PERIOD_MS 500

/* Nodes, ascending. */
typedef struct node_list {
    int32_t node[CPUBIND_MAX_NODES];
    int32_t n;
} node_list;

/* One migrate_pages(2), which may run in another thread. */
typedef struct migrate_call {
    const cpubind_sys *sys;
    int32_t pid;
    unsigned long n_bit;
    unsigned long from[MASK_WORDS], to[MASK_WORDS];
    long result;
    cpubind_linux_fault fault;
} migrate_call;

/* The progress of a move. */
typedef struct progress {
    cpubind_root *root;
    const cpubind_memory_move *move;
    int64_t total; /* bytes on all nodes that are to be moved */
    int64_t done;  /* bytes on nodes already moved */
    int64_t here;  /* bytes on the node being moved */
    int64_t begin; /* pages that the kernel had moved before it; -1: not known */
} progress;

/* Sums stop at the top, as those of numa_maps do. */
static int64_t add(int64_t a, int64_t b)
{
    return b > INT64_MAX - a ? INT64_MAX : a + b;
}

/* The page size of this kernel in kB. */
static int32_t page_kb(void)
{
    const long bytes = sysconf(_SC_PAGESIZE);
    return bytes >= 1024 && bytes / 1024 <= CPUBIND_NUMA_MAPS_MAX_BASE_KB
               ? (int32_t)(bytes / 1024)
               : 4;
}

/* == Where the memory is ==================================================== */

/* Adds up the whole lines in `bytes` and keeps the rest. */
static cpubind_linux_fault take_lines(cpubind_bytes *bytes, cpubind_memory *sum)
{
    const char *feed = memrchr(bytes->data, '\n', (size_t)bytes->len);
    const int32_t len = feed ? (int32_t)(feed - bytes->data) + 1 : 0;
    if (len == 0)
        return cpubind_fault_of(bytes->len >= LINE_MAX_BYTES ? EILSEQ : 0, "numa_maps");
    if (cpubind_numa_maps_add(bytes->data, len, page_kb(), sum->bytes, CPUBIND_MAX_NODES,
                              NULL) != CPUBIND_TEXT_OK)
        return cpubind_fault_of(EILSEQ, "numa_maps");
    bytes->len -= len;
    memmove(bytes->data, bytes->data + len, (size_t)bytes->len);
    return cpubind_no_fault;
}

/* Adds up all lines of an open file. */
static cpubind_linux_fault read_lines(const cpubind_sys *sys, int fd, cpubind_bytes *bytes,
                                      cpubind_memory *sum)
{
    cpubind_linux_fault fault = cpubind_no_fault;
    while (!fault.error) {
        ssize_t n;
        fault = cpubind_bytes_reserve(bytes, sys, READ_BYTES);
        if (fault.error)
            return fault;
        CPUBIND_RETRY(
            n, sys->read(fd, bytes->data + bytes->len, (size_t)(bytes->cap - bytes->len)));
        if (n < 0)
            return cpubind_fault_errno("numa_maps");
        if (n == 0)
            return cpubind_fault_of(bytes->len ? EILSEQ : 0, "numa_maps");
        bytes->len += (int32_t)n;
        fault = take_lines(bytes, sum);
    }
    return fault;
}

cpubind_linux_fault cpubind_memory_read(cpubind_root *root, int32_t pid, cpubind_memory *out)
{
    char name[64];
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_memory sum = {{0}, 0};
    int fd;
    snprintf(name, sizeof name, "proc/%d/numa_maps", (int)pid);
    cpubind_linux_fault fault = cpubind_root_open(root, name, 0, &fd);
    if (!fault.error) {
        fault = read_lines(root->sys, fd, &bytes, &sum);
        root->sys->close(fd);
        cpubind_bytes_free(&bytes);
    }
    if (fault.error)
        return cpubind_fault_of(fault.error, "numa_maps");
    for (int32_t n = 0; n < CPUBIND_MAX_NODES; n++)
        sum.total = add(sum.total, sum.bytes[n]);
    *out = sum;
    return cpubind_no_fault;
}

/* Reads a list of nodes. */
static cpubind_linux_fault read_list(cpubind_root *root, const char *name, node_list *out)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_int_list list = {out->node, CPUBIND_MAX_NODES, out->n};
    cpubind_linux_fault fault = cpubind_input_fault(cpubind_root_read(root, name, &bytes));
    if (!fault.error && cpubind_cpulist_parse(bytes.data, bytes.len, CPUBIND_MAX_NODES, &list,
                                              NULL) != CPUBIND_TEXT_OK)
        fault.error = EILSEQ;
    out->n = list.n;
    cpubind_bytes_free(&bytes);
    return cpubind_fault_of(fault.error, "has_memory");
}

static int has_node(const node_list *nodes, int32_t node)
{
    for (int32_t i = 0; i < nodes->n; i++)
        if (nodes->node[i] == node)
            return 1;
    return 0;
}

/* == Where new pages come from ============================================== */

/* Sets the bit of a node in a mask and returns the `maxnode` to pass when no higher bit is set.
 * set_mempolicy and migrate_pages ignore the last bit of `maxnode` (always have), so it is one
 * more than the highest node + 1. */
static unsigned long set_node(int32_t node, unsigned long *mask)
{
    mask[node / MASK_BITS] |= 1ul << node % MASK_BITS;
    return (unsigned long)node + 2;
}

static cpubind_linux_fault set_policy(const cpubind_sys *sys, int mode,
                                      const unsigned long *mask, unsigned long n_bit)
{
    int result;
    CPUBIND_RETRY(result, sys->set_mempolicy(mode, mask, n_bit));
    return result < 0 ? cpubind_fault_errno("set_mempolicy") : cpubind_no_fault;
}

cpubind_linux_fault cpubind_memory_prefer(cpubind_root *root, int32_t node)
{
    unsigned long mask[MASK_WORDS] = {0};
    if (node < 0 || node >= CPUBIND_MAX_NODES)
        return cpubind_fault_of(EINVAL, "set_mempolicy");
    const unsigned long n_bit = set_node(node, mask);
    return set_policy(root->sys, MODE_PREFERRED, mask, n_bit);
}

cpubind_linux_fault cpubind_memory_prefer_none(cpubind_root *root)
{
    return set_policy(root->sys, MODE_DEFAULT, NULL, 0);
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

/* Reports `here` bytes of the present node as moved. Without memory on other nodes there is
 * nothing to report. */
static void report(const progress *p, int64_t here)
{
    if (p->move->progress && p->total > 0)
        p->move->progress(p->move->ctx, add(p->done, here), p->total);
}

static void report_period(void *ctx)
{
    const progress *p = ctx;
    const int64_t now = p->begin < 0 ? -1 : pages_moved(p->root);
    const int64_t page = (int64_t)page_kb() * 1024;
    int64_t here = 0;
    if (now > p->begin)
        here = now - p->begin > p->here / page ? p->here : (now - p->begin) * page;
    report(p, here);
}

/* == Moving ================================================================= */

/* Notes a refusal; the first one stays. */
static void refuse(cpubind_memory_move *move, cpubind_linux_fault fault)
{
    if (move->result == CPUBIND_MEMORY_REFUSED)
        return;
    move->result = CPUBIND_MEMORY_REFUSED;
    move->error = fault.error;
    move->what = fault.what;
}

static void set_left(cpubind_memory_move *move)
{
    const int32_t node = move->node;
    move->left = move->after.total;
    if (node >= 0 && node < CPUBIND_MAX_NODES)
        move->left -= move->after.bytes[node];
}

static void migrate(void *ctx)
{
    migrate_call *c = ctx;
    CPUBIND_RETRY(c->result, c->sys->migrate_pages(c->pid, c->n_bit, c->from, c->to));
    c->fault = c->result < 0 ? cpubind_fault_errno("migrate_pages") : cpubind_no_fault;
}

/* Moves the memory of one node. */
static void move_from(progress *p, int32_t source, cpubind_memory_move *move)
{
    migrate_call c = {.sys = p->root->sys, .pid = move->pid};
    const unsigned long from_bit = set_node(source, c.from);
    const unsigned long to_bit = set_node(move->node, c.to);
    c.n_bit = from_bit > to_bit ? from_bit : to_bit;
    p->here = move->after.bytes[source];
    p->begin = move->progress ? pages_moved(p->root) : -1;
    cpubind_linux_run_beside(c.sys, migrate, &c, PERIOD_MS,
                             move->progress ? report_period : NULL, p);
    if (c.fault.error) {
        refuse(move, c.fault);
        return;
    }
    if (c.result > 0 && move->result == CPUBIND_MEMORY_MOVED)
        move->result = CPUBIND_MEMORY_PART;
    p->done = add(p->done, p->here);
    if (p->done > p->total) /* the process has allocated more meanwhile */
        p->done = p->total;
    report(p, 0);
}

/* Chooses the nodes to move from: all nodes but the wanted one. With a limit, those that
 * together hold no more than it; a node that holds nothing is left out then, since memory that
 * is allocated there later would not be counted. Returns the bytes on them. */
static int64_t choose_sources(cpubind_memory_move *move, const node_list *nodes,
                              node_list *source)
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

/* Measures the memory again. A process that has ended may still be listed, without memory, and
 * moving its memory is EINVAL. */
static void measure(cpubind_root *root, cpubind_memory_move *move)
{
    cpubind_linux_fault fault = cpubind_memory_read(root, move->pid, &move->after);
    if (fault.error == ENOENT)
        fault.error = ESRCH;
    if (fault.error)
        refuse(move, fault);
    else if (move->error == EINVAL && move->after.total == 0)
        move->error = ESRCH;
}

/* The bytes of these nodes together. */
static int64_t bytes_on(const node_list *nodes, const cpubind_memory *memory)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < nodes->n; i++)
        bytes = add(bytes, memory->bytes[nodes->node[i]]);
    return bytes;
}

/* migrate_pages(2) skips a page that the kernel is using itself, for example to merge it into a
 * huge page, without an error: repeat as long as that moves something. */
static void move_all(cpubind_root *root, const node_list *nodes, cpubind_memory_move *move)
{
    node_list source;
    progress p = {.root = root, .move = move};
    p.total = choose_sources(move, nodes, &source);
    if (source.n == 0)
        return;
    int64_t left = bytes_on(&source, &move->before), left_before;
    report(&p, 0);
    for (int i = 0; i < MAX_ROUNDS; i++) {
        if (move->result == CPUBIND_MEMORY_PART)
            move->result = CPUBIND_MEMORY_MOVED;
        for (int32_t k = 0; k < source.n && move->result != CPUBIND_MEMORY_REFUSED; k++)
            move_from(&p, source.node[k], move);
        measure(root, move);
        left_before = left;
        left = bytes_on(&source, &move->after);
        p.done = p.total > left ? p.total - left : 0;
        if (move->result == CPUBIND_MEMORY_REFUSED || left == 0 || left >= left_before)
            return;
    }
}

/* Reads where the memory is, and which nodes have any. Returns whether memory can be moved.
 * Without the wanted node among them the process is not measured: walking its page tables costs
 * too much. */
static int look(cpubind_root *root, node_list *nodes, cpubind_memory_move *move)
{
    cpubind_linux_fault nodes_fault =
        read_list(root, "sys/devices/system/node/has_memory", nodes);
    /* Kernels before 4.14 have that file only when memory can be unplugged; the other file is
     * the same where no memory is reserved for that. */
    if (nodes_fault.error == ENOENT)
        nodes_fault = read_list(root, "sys/devices/system/node/has_normal_memory", nodes);
    memset(&move->before, 0, sizeof move->before);
    memset(&move->after, 0, sizeof move->after);
    move->left = 0;
    move->error = 0;
    move->what = NULL;
    move->result = CPUBIND_MEMORY_NO_NODE;
    if (!nodes_fault.error && (nodes->n < 2 || !has_node(nodes, move->node)))
        return 0;
    move->result = CPUBIND_MEMORY_MOVED;
    const cpubind_linux_fault fault = cpubind_memory_read(root, move->pid, &move->before);
    if (fault.error == ENOENT) { /* no NUMA in this kernel, or no such process */
        int fd;
        const cpubind_linux_fault own = cpubind_root_open(root, "proc/self/numa_maps", 0, &fd);
        if (!own.error)
            root->sys->close(fd);
        if (own.error == ENOENT)
            move->result = CPUBIND_MEMORY_NO_NODE;
        else
            refuse(move, cpubind_fault_of(ESRCH, "numa_maps"));
    } else if (fault.error) {
        refuse(move, fault);
    }
    if (fault.error)
        return 0;
    move->after = move->before;
    set_left(move);
    if (nodes_fault.error)
        refuse(move, nodes_fault);
    return !nodes_fault.error;
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
        return; /* a kernel thread has no memory, and migrate_pages(2) rejects its pid */
    move_all(root, &nodes, move);
    set_left(move);
}
