/* memory_move.c - moves the pages of a process to a node, within limits
 * SPDX-License-Identifier: MIT
 *
 * Finds pages through pagemap, asks move_pages(2) for their nodes, and moves them in batches;
 * limits and requests to stop are looked at between two batches. Changes nothing but the nodes
 * of pages. Must not move a page that another process maps unless it is told to move all.
 * Rules: move_pages(2), admin-guide/mm/pagemap.rst.
 */
#define _GNU_SOURCE
#include "memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../text/cpulist.h"
#include "../../text/maps.h"
#include "../../text/procfs.h"

/* Flags of move_pages(2), with the numbers of the kernel. */
enum { MOVE = 2, MOVE_ALL = 4 };

/* Pages of a batch: 32 MiB of small pages, or one huge page with 64 kB pages. */
enum { BATCH_PAGES = 8192 };

/* The status of a page that move_pages(2) has not come to: neither a node nor an errno. */
enum { UNSET = INT32_MIN };

/* Rounds over the memory. Between two rounds the mappings are read again. */
enum { MAX_ROUNDS = 3 };

/* The reserve of a node: what a process that is moved there leaves free for others. */
#define RESERVE_BYTES (INT64_C(1) << 30)
#define RESERVE_PART  4

/* Moves go on. */
enum { GOES_ON = -1 };

typedef struct walk {
    cpubind_root *root;
    cpubind_memory_move *move;
    cpubind_mappings maps;
    int is_looking;
    int flags; /* of move_pages(2) */
    int pagemap_fd;
    int can_skip; /* the kernel has PAGEMAP_SCAN */
    int64_t base; /* the page size of the kernel */
    int64_t began_ms;
    int end;                   /* why the walk has ended: of cpubind_memory_stay, or GOES_ON */
    cpubind_linux_fault fault; /* why it has ended, too */
    int64_t total;             /* of the first round: `todo` */
    /* of one round, in bytes */
    int64_t todo;    /* on other nodes, as the mappings say */
    int64_t met;     /* pages found on other nodes */
    int64_t moved;   /* of these, moved */
    int64_t refused; /* of these, refused because another process maps them */
    int64_t busy;    /* of these, not moved after all */
    int64_t hidden;  /* in memory by pagemap, and not found by move_pages(2) */
    int64_t n_there; /* pages that the last batch found in memory, on any node */
    /* the batch */
    int32_t n;
    int64_t page_bytes;
    void *page[BATCH_PAGES];
    char is_block[BATCH_PAGES]; /* it may be a part of a huge page */
    int target[BATCH_PAGES], status[BATCH_PAGES], now[BATCH_PAGES];
    char entry[BATCH_PAGES * CPUBIND_PAGEMAP_ENTRY];
} walk;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Ends the walk; the first reason stays. */
static void end_walk(walk *w, int reason, cpubind_linux_fault fault)
{
    if (w->end != GOES_ON || w->fault.error)
        return;
    w->end = reason;
    w->fault = fault;
}

static int is_ended(const walk *w)
{
    return w->end != GOES_ON || w->fault.error;
}

/* Looks at the clock and asks whether to stop. */
static int must_end(walk *w)
{
    const cpubind_memory_move *move = w->move;
    if (move->stop && move->stop(move->stop_ctx))
        end_walk(w, CPUBIND_STAY_STOPPED, cpubind_no_fault);
    else if (move->time_ms >= 0 && cpubind_now_ms() - w->began_ms >= move->time_ms)
        end_walk(w, CPUBIND_STAY_TIME, cpubind_no_fault);
    return is_ended(w);
}

/* == The room of a node ===================================================== */

/* Free bytes of the node that may be filled: without its reserve. Half of the pages of files
 * counts as free: the kernel drops them when it needs room. INT64_MAX: not known. What is free
 * with the reserve is noted. */
static int64_t read_room(walk *w)
{
    char name[64];
    cpubind_bytes bytes = {NULL, 0, 0};
    int64_t total = 0, free_kb = 0, active = 0, inactive = 0, room = INT64_MAX;
    snprintf(name, sizeof name, "sys/devices/system/node/node%d/meminfo", (int)w->move->node);
    if (cpubind_root_read(w->root, name, &bytes).state == CPUBIND_INPUT_PRESENT &&
        cpubind_kb_find(bytes.data, bytes.len, "MemTotal", &total, NULL) == CPUBIND_TEXT_OK &&
        cpubind_kb_find(bytes.data, bytes.len, "MemFree", &free_kb, NULL) == CPUBIND_TEXT_OK &&
        total <= INT64_MAX / 4096 && free_kb <= total) {
        (void)cpubind_kb_find(bytes.data, bytes.len, "Active(file)", &active, NULL);
        (void)cpubind_kb_find(bytes.data, bytes.len, "Inactive(file)", &inactive, NULL);
        w->move->reserve = least(RESERVE_BYTES, total * 1024 / RESERVE_PART);
        w->move->room =
            (free_kb + least(active, total) / 2 + least(inactive, total) / 2) * 1024;
        room = w->move->room - w->move->reserve;
    }
    cpubind_bytes_free(&bytes);
    return room < 0 ? 0 : room;
}

/* == Batches ================================================================ */

/* move_pages(2) of the batch. Returns its result, or minus an errno. */
static long call(walk *w, int32_t n, const int *nodes, int *status, int flags)
{
    long result;
    CPUBIND_RETRY(result, w->root->sys->move_pages((pid_t)w->move->pid, (unsigned long)n,
                                                   w->page, nodes, status, flags));
    return result < 0 ? -(long)cpubind_fault_errno("").error : result;
}

/* Asks for the nodes of the pages. */
static int ask(walk *w, int32_t n)
{
    const long result = call(w, n, NULL, w->now, 0);
    if (result < 0)
        end_walk(w, GOES_ON, cpubind_fault_of((int)-result, "move_pages"));
    return result >= 0;
}

/* How many of n pages fit into some bytes. A huge page is moved as a whole: one at the limit is
 * taken if it exceeds the limit by no more than `slack`, else left out. */
static int32_t fit(const walk *w, int32_t n, int64_t bytes, int64_t slack)
{
    const int64_t block = w->base * (w->base / 8);
    int32_t cut, begin, end;
    if (bytes / w->page_bytes >= n)
        return n;
    cut = begin = end = (int32_t)(bytes / w->page_bytes);
    if (!w->is_block[cut])
        return cut;
    const uint64_t place = (uint64_t)(uintptr_t)w->page[cut] / (uint64_t)block;
    while (begin > 0 && (uint64_t)(uintptr_t)w->page[begin - 1] / (uint64_t)block == place)
        begin--;
    while (end < n && (uint64_t)(uintptr_t)w->page[end] / (uint64_t)block == place)
        end++;
    return (end - cut) * w->page_bytes <= slack ? end : begin;
}

/* Ends the walk for want of room, and notes what is free now. */
static void end_without_room(walk *w, int is_node_out)
{
    (void)read_room(w);
    w->move->is_node_out = is_node_out;
    end_walk(w, CPUBIND_STAY_NO_ROOM, cpubind_no_fault);
}

/* Moves the first pages of the batch, which are all on other nodes. Where some cannot be moved,
 * move_pages(2) may end before it has come to all: pages before the last one with a status were
 * tried, and the rest is passed again. */
static void move_pages(walk *w, int32_t n)
{
    const int node = w->move->node;
    while (n > 0 && !is_ended(w)) {
        int32_t last = -1, n_good = 0, k = 0;
        for (int32_t i = 0; i < n; i++) {
            w->target[i] = node;
            w->status[i] = UNSET;
        }
        const long result = call(w, n, w->target, w->status, w->flags);
        if (result == -EPERM && w->flags == MOVE_ALL) {
            w->flags = MOVE;
            continue;
        }
        /* ENOENT: kernels before 4.17 say so when no page needs to be moved. */
        if (result < 0 && result != -ENOENT && result != -ENOMEM) {
            end_walk(w, GOES_ON, cpubind_fault_of((int)-result, "move_pages"));
            return;
        }
        for (int32_t i = 0; i < n; i++) {
            n_good += w->status[i] == node;
            if (w->status[i] != UNSET)
                last = i;
        }
        /* Where some were not moved, the kernel says only now where each page is. */
        if (n_good == n || !ask(w, n))
            memcpy(w->now, w->status, (size_t)n * sizeof *w->now);
        for (int32_t i = 0; i < n; i++) {
            if (w->now[i] == node)
                w->moved += w->page_bytes;
            else if (w->status[i] == -EACCES)
                w->refused += w->page_bytes;
            else if (last >= 0 && i > last)
                w->page[k++] = w->page[i];
            else if (w->now[i] >= 0 && result != -ENOMEM)
                w->busy += w->page_bytes;
        }
        n = k;
        if (result == -ENOMEM)
            end_without_room(w, 1);
    }
}

static void report(const walk *w)
{
    const cpubind_memory_move *move = w->move;
    if (move->progress && w->total > 0)
        move->progress(move->ctx, least(move->moved + w->moved, w->total), w->total);
}

/* Moves the pages of the batch as far as the limits go. */
static void move_within(walk *w, int32_t n)
{
    const cpubind_memory_move *move = w->move;
    const int64_t limit = move->limit < 0 ? INT64_MAX : move->limit;
    const int64_t rest = limit - least(move->moved + w->moved, limit);
    const int32_t n_room = fit(w, n, read_room(w), 0);
    const int32_t n_limit = rest == 0 ? 0 : fit(w, n, rest, limit / 10);
    move_pages(w, n_room < n_limit ? n_room : n_limit);
    if (n_limit < n && n_limit <= n_room)
        end_walk(w, CPUBIND_STAY_LIMIT, cpubind_no_fault);
    else if (n_room < n)
        end_without_room(w, 0);
    report(w);
}

/* Looks at the batch, moves those of its pages that are elsewhere, and empties it. */
static void finish_batch(walk *w)
{
    const int32_t n = w->n;
    int32_t k = 0;
    w->n = 0;
    w->n_there = 0;
    if (n == 0 || must_end(w) || !ask(w, n))
        return;
    for (int32_t i = 0; i < n; i++) {
        /* Kernels from 6.1 to 6.4 do not find pages that NUMA balancing has marked: ENOENT, and
         * EFAULT for a huge page that is marked as a whole. */
        if (w->now[i] < 0 && w->pagemap_fd >= 0)
            w->hidden += w->page_bytes;
        if (w->now[i] < 0)
            continue;
        w->n_there++;
        if (w->now[i] == w->move->node)
            continue;
        w->page[k] = w->page[i];
        w->is_block[k++] = w->is_block[i];
    }
    w->met += k * w->page_bytes;
    if (w->is_looking)
        w->move->own += w->n_there * w->page_bytes;
    else if (k > 0)
        move_within(w, k);
}

/* == Pages of a mapping ===================================================== */

/* Reads n entries of pagemap for the pages from `at` on; what cannot be read is not present.
 * Returns 0 when pagemap cannot be read at all: it is closed then. */
static int read_entries(walk *w, uint64_t at, int32_t n)
{
    const off_t from = (off_t)(at / (uint64_t)w->base * CPUBIND_PAGEMAP_ENTRY);
    const size_t size = (size_t)n * CPUBIND_PAGEMAP_ENTRY;
    size_t len = 0;
    while (w->pagemap_fd >= 0 && len < size) {
        ssize_t got;
        CPUBIND_RETRY(got, w->root->sys->pread(w->pagemap_fd, w->entry + len, size - len,
                                               from + (off_t)len));
        if (got == 0)
            break;
        if (got < 0) {
            w->move->pagemap_error = cpubind_fault_errno("").error;
            w->root->sys->close(w->pagemap_fd);
            w->pagemap_fd = -1;
        } else {
            len += (size_t)got;
        }
    }
    memset(w->entry + len, 0, size - len);
    return w->pagemap_fd >= 0;
}

/* The first address from `at` on that may have a page in memory; `end` without one. Kernels
 * before 6.7 cannot tell: `at`. */
static uint64_t skip_hole(walk *w, uint64_t at, uint64_t end)
{
    uint64_t found = at;
    int n;
    if (!w->can_skip || w->pagemap_fd < 0)
        return at;
    CPUBIND_RETRY(n, w->root->sys->pagemap_scan(w->pagemap_fd, at, end, &found));
    if (n < 0)
        w->can_skip = 0;
    return n < 0 ? at : n == 0 ? end : found < at || found >= end ? at : found;
}

static void add_page(walk *w, uint64_t address, int is_block)
{
    w->page[w->n] = (void *)(uintptr_t)address; /* NOLINT: an address of another process */
    w->is_block[w->n++] = (char)is_block;
}

/* Adds the pages among n entries that are present and, unless all are to be moved, own. Returns
 * how many are present. */
static int32_t add_present(walk *w, uint64_t at, int32_t n)
{
    const int32_t block = (int32_t)(w->base / 8);
    const int is_all = w->move->is_all && !w->is_looking;
    int32_t n_there = 0, n_add = 0;
    for (int32_t i = 0; i < n; i++) {
        const cpubind_page page = cpubind_pagemap_entry(w->entry, i);
        n_there += page.is_present;
        n_add += page.is_present && (page.is_own || is_all);
    }
    if (w->n + n_add > BATCH_PAGES)
        finish_batch(w);
    for (int32_t i = 0, is_block = 0; n_add > 0 && i < n; i++) {
        const uint64_t address = at + (uint64_t)i * (uint64_t)w->base;
        const cpubind_page page = cpubind_pagemap_entry(w->entry, i);
        if (address / (uint64_t)w->base % (uint64_t)block == 0)
            is_block = n - i >= block && cpubind_pagemap_may_be_huge(w->entry, i, block);
        if (page.is_present && (page.is_own || is_all))
            add_page(w, address, is_block);
    }
    return n_there;
}

/* Adds the pages of a mapping to batches, until all pages that numa_maps has counted there are
 * found. A hole of terabytes is skipped if the kernel can tell where it ends, else read: four
 * seconds a terabyte. Pieces end at multiples of a batch, so that no huge page is in two
 * batches. */
static void walk_mapping(walk *w, const cpubind_mapping *m)
{
    const int64_t step = m->is_huge ? m->page_bytes : w->base;
    int64_t n_rest = m->total / step;
    uint64_t at = m->start;
    if (w->page_bytes != step)
        finish_batch(w);
    w->page_bytes = step;
    while (at < m->end && n_rest > 0 && !must_end(w)) {
        if (!m->is_huge)
            at = skip_hole(w, at, m->end) / (uint64_t)step * (uint64_t)step;
        if (at >= m->end)
            break;
        const uint64_t most = BATCH_PAGES - at / (uint64_t)step % BATCH_PAGES;
        const uint64_t pages = (m->end - at - 1) / (uint64_t)step + 1;
        const int32_t n = (int32_t)(pages < most ? pages : most);
        if (!m->is_huge && read_entries(w, at, n)) {
            n_rest -= add_present(w, at, n);
        } else {
            finish_batch(w);
            for (int32_t i = 0; i < n; i++)
                add_page(w, at + (uint64_t)i * (uint64_t)step, 0);
            finish_batch(w);
            n_rest -= w->n_there;
        }
        at += (uint64_t)n * (uint64_t)step;
    }
}

/* == Rounds ================================================================= */

/* The mappings of one pass. */
typedef enum pass { PASS_OWN, PASS_SPARSE, PASS_SHARED, PASS_ALL, PASS_LEFT } pass;

/* A mapping with a page in memory for more than so many that are not is sparse: it comes after
 * the others, which a limit of time must not end for its holes. */
#define SPARSE 64

static pass pass_of(const walk *w, const cpubind_mapping *m)
{
    if (w->move->is_all)
        return PASS_ALL;
    if (m->is_huge || m->is_locked)
        return PASS_LEFT;
    if (m->is_shared)
        return PASS_SHARED;
    return (m->end - m->start) / SPARSE > (uint64_t)m->total ? PASS_SPARSE : PASS_OWN;
}

/* Walks the mappings of a pass. Returns the bytes of them that are on other nodes. */
static int64_t walk_pass(walk *w, pass which)
{
    int64_t away = 0;
    for (int32_t i = 0; i < w->maps.n; i++) {
        const cpubind_mapping *m = &w->maps.item[i];
        if (pass_of(w, m) != which)
            continue;
        away += m->away;
        if (m->end && (w->is_looking ? w->pagemap_fd >= 0 : m->away > 0) && !is_ended(w))
            walk_mapping(w, m);
    }
    finish_batch(w);
    return away;
}

/* Adds up what is on other nodes before a round: what is left there from the start, and what
 * there is to do. */
static void begin_round(walk *w)
{
    int64_t *stay = w->move->stay;
    memset(stay, 0, sizeof w->move->stay);
    w->todo = w->met = w->moved = w->refused = w->busy = w->hidden = 0;
    for (int32_t i = 0; i < w->maps.n; i++) {
        const cpubind_mapping *m = &w->maps.item[i];
        if (pass_of(w, m) != PASS_LEFT)
            w->todo += m->away;
        else
            stay[m->is_huge ? CPUBIND_STAY_HUGE : CPUBIND_STAY_LOCKED] += m->away;
    }
    if (w->total == 0 && !w->is_looking) {
        w->total = w->todo;
        report(w);
    }
}

/* Walks all mappings once: own pages first, then those of mappings that have shared pages
 * too. */
static void walk_round(walk *w)
{
    cpubind_memory_move *move = w->move;
    int64_t rest;
    begin_round(w);
    (void)walk_pass(w, PASS_ALL);
    (void)walk_pass(w, PASS_OWN);
    (void)walk_pass(w, PASS_SPARSE);
    const int64_t met_own = w->met;
    const int64_t away = walk_pass(w, PASS_SHARED);
    if (!is_ended(w) && away > w->met - met_own)
        move->stay[CPUBIND_STAY_SHARED] = away - (w->met - met_own);
    move->stay[CPUBIND_STAY_SHARED] += w->refused;
    rest = w->todo - w->moved - w->busy - move->stay[CPUBIND_STAY_SHARED];
    w->hidden = is_ended(w) || rest < 0 ? 0 : least(rest, w->hidden);
    move->stay[CPUBIND_STAY_BUSY] = w->busy;
    move->stay[CPUBIND_STAY_HIDDEN] = w->hidden;
    move->moved += w->moved;
    if (w->end != GOES_ON && rest > 0)
        move->stay[w->end] += rest;
    move->own_left = w->busy + w->hidden + (is_ended(w) && rest > 0 ? rest : 0);
}

/* == Reading ================================================================ */

/* Notes a refusal; the first one stays. */
static void refuse(cpubind_memory_move *move, cpubind_linux_fault fault)
{
    if (move->result == CPUBIND_MEMORY_REFUSED || !fault.error)
        return;
    move->result = CPUBIND_MEMORY_REFUSED;
    move->error = fault.error;
    move->what = fault.what;
}

/* Measures the memory again. A process that has ended may still be listed, without memory, and
 * moving its memory is EINVAL. */
static int measure(walk *w)
{
    cpubind_memory_move *move = w->move;
    cpubind_linux_fault fault =
        cpubind_memory_survey(w->root, move->pid, &move->after, &w->maps);
    if (fault.error == ENOENT)
        fault.error = ESRCH;
    refuse(move, fault);
    if (!fault.error && move->error == EINVAL && move->after.total == 0)
        move->error = ESRCH;
    return !fault.error;
}

/* Reads a list of nodes. */
static cpubind_linux_fault read_list(cpubind_root *root, const char *name,
                                     cpubind_int_list *out)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_linux_fault fault = cpubind_input_fault(cpubind_root_read(root, name, &bytes));
    if (!fault.error && cpubind_cpulist_parse(bytes.data, bytes.len, CPUBIND_MAX_NODES, out,
                                              NULL) != CPUBIND_TEXT_OK)
        fault.error = EILSEQ;
    cpubind_bytes_free(&bytes);
    return cpubind_fault_of(fault.error, "has_memory");
}

cpubind_linux_fault cpubind_memory_find_node(cpubind_root *root, int32_t node, int *is_there)
{
    int32_t nodes[CPUBIND_MAX_NODES];
    cpubind_int_list list = {nodes, CPUBIND_MAX_NODES, 0};
    cpubind_linux_fault fault = read_list(root, "sys/devices/system/node/has_memory", &list);
    /* Kernels before 4.14 have that file only when memory can be unplugged; the other file is
     * the same where no memory is reserved for that. */
    if (fault.error == ENOENT)
        fault = read_list(root, "sys/devices/system/node/has_normal_memory", &list);
    *is_there = 0;
    for (int32_t i = 0; !fault.error && list.n > 1 && i < list.n; i++)
        *is_there |= nodes[i] == node;
    return fault;
}

/* 1: the kernel moves pages to the CPUs that use them. */
static int is_balancing(cpubind_root *root)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    const int is_on = cpubind_root_read(root, "proc/sys/kernel/numa_balancing", &bytes).state ==
                          CPUBIND_INPUT_PRESENT &&
                      bytes.len > 0 && bytes.data[0] != '0';
    cpubind_bytes_free(&bytes);
    return is_on;
}

/* Reads where the memory is, and which nodes have any. Returns whether memory can be moved.
 * Without the wanted node among them the process is not measured: walking its page tables costs
 * too much. */
static int look(walk *w)
{
    cpubind_memory_move *move = w->move;
    int is_there;
    const cpubind_linux_fault nodes_fault =
        cpubind_memory_find_node(w->root, move->node, &is_there);
    move->result = CPUBIND_MEMORY_NO_NODE;
    if (!nodes_fault.error && !is_there)
        return 0;
    move->result = CPUBIND_MEMORY_MOVED;
    const cpubind_linux_fault fault =
        cpubind_memory_survey(w->root, move->pid, &move->before, &w->maps);
    if (fault.error == ENOENT) { /* no NUMA in this kernel, or no such process */
        int fd;
        const cpubind_linux_fault own =
            cpubind_root_open(w->root, "proc/self/numa_maps", 0, &fd);
        if (!own.error)
            w->root->sys->close(fd);
        if (own.error == ENOENT)
            move->result = CPUBIND_MEMORY_NO_NODE;
        else
            refuse(move, cpubind_fault_of(ESRCH, fault.what));
    }
    if (fault.error && fault.error != ENOENT)
        refuse(move, fault);
    if (fault.error)
        return 0;
    move->after = move->before;
    refuse(move, nodes_fault);
    move->is_balancing = is_balancing(w->root);
    return !nodes_fault.error;
}

/* == The calls ============================================================== */

/* Clears the fields under "out", opens pagemap, and looks. NULL without memory. */
static walk *begin(cpubind_root *root, cpubind_memory_move *move, int is_looking)
{
    const size_t in = offsetof(cpubind_memory_move, result);
    char name[64];
    walk *w = root->sys->malloc(sizeof *w);
    memset((char *)move + in, 0, sizeof *move - in);
    move->room = -1;
    if (!w) {
        refuse(move, cpubind_fault_of(ENOMEM, "memory"));
        return NULL;
    }
    memset(w, 0, offsetof(walk, page));
    w->root = root;
    w->move = move;
    w->maps.node = move->node;
    w->is_looking = is_looking;
    w->flags = move->is_all ? MOVE_ALL : MOVE;
    w->pagemap_fd = -1;
    w->base = cpubind_page_bytes();
    w->page_bytes = w->base;
    w->began_ms = cpubind_now_ms();
    w->end = GOES_ON;
    if (!look(w) || w->maps.n == 0)
        return w;
    snprintf(name, sizeof name, "proc/%d/pagemap", (int)move->pid);
    w->can_skip = 1;
    move->pagemap_error = cpubind_root_open(root, name, 0, &w->pagemap_fd).error;
    return w;
}

static void finish(walk *w)
{
    cpubind_memory_move *move = w->move;
    if (w->pagemap_fd >= 0)
        w->root->sys->close(w->pagemap_fd);
    move->left = move->after.total;
    if (move->node < CPUBIND_MAX_NODES)
        move->left -= move->after.bytes[move->node];
    move->elapsed_ms = cpubind_now_ms() - w->began_ms;
    free(w->maps.item);
    free(w);
}

void cpubind_memory_look(cpubind_root *root, cpubind_memory_move *move)
{
    walk *w = begin(root, move, 1);
    if (!w)
        return;
    if (move->result == CPUBIND_MEMORY_MOVED) {
        begin_round(w);
        move->own = w->maps.own_total;
        for (int32_t i = 0; i < w->maps.n; i++)
            if (pass_of(w, &w->maps.item[i]) < PASS_SHARED)
                move->own_left += w->maps.item[i].away;
        /* Without pagemap own and shared pages cannot be told apart. */
        const int64_t away = walk_pass(w, PASS_SHARED);
        move->own_left += w->met;
        move->stay[CPUBIND_STAY_SHARED] = away > w->met ? away - w->met : 0;
        if (move->is_all) {
            move->own = move->before.total;
            move->own_left = w->todo;
        }
    }
    finish(w);
}

void cpubind_memory_migrate(cpubind_root *root, cpubind_memory_move *move)
{
    static const cpubind_memory_result results[] = {
        [CPUBIND_STAY_LIMIT] = CPUBIND_MEMORY_LIMIT,
        [CPUBIND_STAY_TIME] = CPUBIND_MEMORY_TIME,
        [CPUBIND_STAY_NO_ROOM] = CPUBIND_MEMORY_NO_ROOM,
        [CPUBIND_STAY_STOPPED] = CPUBIND_MEMORY_STOPPED};
    walk *w = begin(root, move, 0);
    if (!w)
        return;
    move->own = w->maps.own_total;
    for (int i = 0; i < MAX_ROUNDS && move->result == CPUBIND_MEMORY_MOVED && w->maps.n; i++) {
        walk_round(w);
        refuse(move, w->fault);
        if (w->end != GOES_ON)
            move->result = results[w->end];
        if (!measure(w) || is_ended(w) || w->moved == 0 || w->busy + w->hidden == 0)
            break;
    }
    if (move->result == CPUBIND_MEMORY_MOVED &&
        move->stay[CPUBIND_STAY_BUSY] + move->stay[CPUBIND_STAY_HIDDEN])
        move->result = CPUBIND_MEMORY_PART;
    finish(w);
}
