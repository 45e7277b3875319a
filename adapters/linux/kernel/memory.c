/* memory.c - the memory of a process: on which NUMA nodes it is
 * SPDX-License-Identifier: MIT
 *
 * Reads files of /proc in blocks; changes nothing (memory_move.c moves pages). Rules: proc(5).
 */
#define _GNU_SOURCE
#include "memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../text/maps.h"
#include "../../text/numa_maps.h"
#include "../../text/procfs.h"

/* Room for a read. The kernel gives a page or two of whole lines at a time. */
#define READ_BYTES 65536

/* Longest line: a path of 4,096 bytes, each of them as four, and 1,024 nodes are 40 KB. */
#define LINE_MAX_BYTES (1 << 20)

int64_t cpubind_page_bytes(void)
{
    const long bytes = sysconf(_SC_PAGESIZE);
    return bytes >= 1024 && bytes / 1024 <= CPUBIND_NUMA_MAPS_MAX_BASE_KB ? bytes : 4096;
}

/* == Files of lines, in blocks ============================================== */

/* Takes whole lines. Returns EILSEQ when one of them makes no sense, ENOMEM, or 0. */
typedef int take_lines(void *ctx, const cpubind_sys *sys, const char *text, int32_t len);

/* The file that is read, and who takes its lines. */
typedef struct line_reader {
    const char *what; /* "numa_maps" */
    take_lines *take;
    void *ctx;
} line_reader;

/* Hands on the whole lines in `bytes` and keeps the rest. */
static int pass_on(const line_reader *reader, const cpubind_sys *sys, cpubind_bytes *bytes)
{
    const char *feed = memrchr(bytes->data, '\n', (size_t)bytes->len);
    const int32_t len = feed ? (int32_t)(feed - bytes->data) + 1 : 0;
    if (len == 0)
        return bytes->len >= LINE_MAX_BYTES ? EILSEQ : 0;
    const int error = reader->take(reader->ctx, sys, bytes->data, len);
    bytes->len -= len;
    memmove(bytes->data, bytes->data + len, (size_t)bytes->len);
    return error;
}

static int read_blocks(const line_reader *reader, const cpubind_sys *sys, int fd,
                       cpubind_bytes *bytes)
{
    int error = 0;
    while (!error) {
        ssize_t n;
        if (cpubind_bytes_reserve(bytes, sys, READ_BYTES).error)
            return ENOMEM;
        CPUBIND_RETRY(
            n, sys->read(fd, bytes->data + bytes->len, (size_t)(bytes->cap - bytes->len)));
        if (n < 0)
            return cpubind_fault_errno(reader->what).error;
        if (n == 0)
            return bytes->len ? EILSEQ : 0;
        bytes->len += (int32_t)n;
        error = pass_on(reader, sys, bytes);
    }
    return error;
}

/* Reads /proc/<pid>/<what>. */
static cpubind_linux_fault read_lines(const line_reader *reader, cpubind_root *root,
                                      int32_t pid)
{
    char name[64];
    cpubind_bytes bytes = {NULL, 0, 0};
    int fd;
    snprintf(name, sizeof name, "proc/%d/%s", (int)pid, reader->what);
    cpubind_linux_fault fault = cpubind_root_open(root, name, 0, &fd);
    if (!fault.error) {
        fault.error = read_blocks(reader, root->sys, fd, &bytes);
        root->sys->close(fd);
        cpubind_bytes_free(&bytes);
    }
    return cpubind_fault_of(fault.error, reader->what);
}

/* == numa_maps ============================================================== */

typedef struct survey {
    cpubind_memory sum;
    cpubind_mappings *maps;
} survey;

static int keep_mapping(cpubind_mappings *maps, const cpubind_sys *sys,
                        const cpubind_numa_line *line)
{
    const int64_t away = line->total - line->home;
    const int is_shared = line->mapmax > 1;
    if (!is_shared && !line->is_huge)
        maps->own_total = line->total > INT64_MAX - maps->own_total
                              ? INT64_MAX
                              : maps->own_total + line->total;
    if (line->total == 0 || (away == 0 && !is_shared))
        return 0;
    const cpubind_mapping item = {.start = line->start,
                                  .total = line->total,
                                  .away = away,
                                  .page_bytes = line->page_bytes,
                                  .is_shared = is_shared,
                                  .is_huge = line->is_huge};
    return CPUBIND_APPEND(sys, maps->item, maps->n, maps->cap, &item).error;
}

static int take_numa_lines(void *ctx, const cpubind_sys *sys, const char *text, int32_t len)
{
    survey *s = ctx;
    const int32_t page_kb = (int32_t)(cpubind_page_bytes() / 1024);
    const cpubind_numa_nodes to = {s->sum.bytes, CPUBIND_MAX_NODES, s->maps->node};
    cpubind_numa_line line;
    for (int32_t at = 0; at < len; at += line.len) {
        if (cpubind_numa_maps_line_parse(text + at, len - at, page_kb, &to, &line, NULL) !=
            CPUBIND_TEXT_OK)
            return EILSEQ;
        const int error = keep_mapping(s->maps, sys, &line);
        if (error)
            return error;
    }
    return 0;
}

cpubind_linux_fault cpubind_memory_read(cpubind_root *root, int32_t pid, cpubind_memory *out,
                                        cpubind_mappings *maps)
{
    survey s = {.maps = maps};
    const line_reader reader = {"numa_maps", take_numa_lines, &s};
    maps->n = 0;
    maps->own_total = 0;
    const cpubind_linux_fault fault = read_lines(&reader, root, pid);
    if (fault.error)
        return fault;
    for (int32_t n = 0; n < CPUBIND_MAX_NODES; n++)
        s.sum.total =
            s.sum.bytes[n] > INT64_MAX - s.sum.total ? INT64_MAX : s.sum.total + s.sum.bytes[n];
    *out = s.sum;
    return fault;
}

/* == maps and smaps ========================================================= */

typedef struct lookup {
    cpubind_mappings *maps;
    int32_t next;         /* the first mapping that may still come */
    cpubind_mapping *now; /* the mapping that the lines are of; NULL: one of no interest */
} lookup;

static int take_map_lines(void *ctx, const cpubind_sys *sys, const char *text, int32_t len)
{
    lookup *l = ctx;
    cpubind_maps_line line;
    (void)sys;
    for (int32_t at = 0; at < len; at += line.len) {
        if (cpubind_maps_line_parse(text + at, len - at, &line, NULL) != CPUBIND_TEXT_OK)
            return EILSEQ;
        if (line.kind == CPUBIND_MAPS_FLAGS && l->now)
            l->now->is_locked = line.is_locked;
        if (line.kind != CPUBIND_MAPS_RANGE)
            continue;
        while (l->next < l->maps->n && l->maps->item[l->next].start < line.start)
            l->next++;
        l->now = NULL;
        if (l->next < l->maps->n && l->maps->item[l->next].start == line.start) {
            l->now = &l->maps->item[l->next++];
            l->now->end = line.end;
        }
    }
    return 0;
}

static cpubind_linux_fault read_maps(cpubind_root *root, int32_t pid, const char *what,
                                     cpubind_mappings *maps)
{
    lookup l = {.maps = maps};
    const line_reader reader = {what, take_map_lines, &l};
    for (int32_t i = 0; i < maps->n; i++)
        maps->item[i].end = 0;
    return read_lines(&reader, root, pid);
}

/* Whether the process has locked memory, as far as its status says. */
static int has_locked(cpubind_root *root, int32_t pid)
{
    char name[64];
    cpubind_bytes bytes = {NULL, 0, 0};
    int64_t kb = 0;
    snprintf(name, sizeof name, "proc/%d/status", (int)pid);
    if (cpubind_root_read(root, name, &bytes).state == CPUBIND_INPUT_PRESENT)
        (void)cpubind_kb_find(bytes.data, bytes.len, "VmLck", &kb, NULL);
    cpubind_bytes_free(&bytes);
    return kb > 0;
}

cpubind_linux_fault cpubind_memory_survey(cpubind_root *root, int32_t pid, cpubind_memory *out,
                                          cpubind_mappings *maps)
{
    const cpubind_linux_fault fault = cpubind_memory_read(root, pid, out, maps);
    if (fault.error || maps->n == 0)
        return fault;
    if (has_locked(root, pid) && !read_maps(root, pid, "smaps", maps).error)
        return cpubind_no_fault;
    return read_maps(root, pid, "maps", maps);
}
