/* memory.c - the memory of a process: on which nodes it is, and where new pages come from
 * SPDX-License-Identifier: MIT
 *
 * Moving it is in memory_move.c.
 */
#define _GNU_SOURCE
#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../text/numa_maps.h"
#include "../common.h"
#include "memory_nodes.h"

/* Modes of set_mempolicy(2), with the numbers of the kernel. */
enum { MODE_DEFAULT = 0, MODE_PREFERRED = 1 };

/* Room for a read. The kernel gives a page or two of whole lines at a time. */
#define READ_BYTES 65536

/* Longest line: a path of 4,096 bytes, each of them as four, and 1,024 nodes are 40 KB. */
#define LINE_MAX_BYTES (1 << 20)

int32_t cpubind_priv_page_kb(void)
{
    const long bytes = sysconf(_SC_PAGESIZE);
    return bytes >= 1024 && bytes / 1024 <= CPUBIND_NUMA_MAPS_MAX_BASE_KB
               ? (int32_t)(bytes / 1024)
               : 4;
}

/* Adds up the lines that are whole, and leaves the rest. 0 or an errno. */
static int take_lines(cpubind_bytes *bytes, cpubind_memory *sum)
{
    const char *feed = memrchr(bytes->data, '\n', (size_t)bytes->len);
    const int32_t len = feed ? (int32_t)(feed - bytes->data) + 1 : 0;
    if (len == 0)
        return bytes->len >= LINE_MAX_BYTES ? EILSEQ : 0;
    if (cpubind_numa_maps_add(bytes->data, len, cpubind_priv_page_kb(), sum->bytes,
                              CPUBIND_MAX_NODES, NULL) != CPUBIND_TEXT_OK)
        return EILSEQ;
    bytes->len -= len;
    memmove(bytes->data, bytes->data + len, (size_t)bytes->len);
    return 0;
}

static int read_lines(const cpubind_sys *sys, int fd, cpubind_bytes *bytes, cpubind_memory *sum)
{
    int error = 0;
    while (!error) {
        if (cpubind_bytes_reserve(bytes, sys, READ_BYTES))
            return ENOMEM;
        ssize_t n = sys->read(fd, bytes->data + bytes->len, (size_t)(bytes->cap - bytes->len));
        if (n == 0)
            return bytes->len ? EILSEQ : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno ? errno : EIO;
        bytes->len += (int32_t)n;
        error = take_lines(bytes, sum);
    }
    return error;
}

static int64_t total_of(const cpubind_memory *memory)
{
    int64_t total = 0;
    for (int32_t n = 0; n < CPUBIND_MAX_NODES; n++)
        total = memory->bytes[n] > INT64_MAX - total ? INT64_MAX : total + memory->bytes[n];
    return total;
}

int cpubind_memory_read(cpubind_root *root, int32_t pid, cpubind_memory *out)
{
    char name[64];
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_memory sum = {{0}, 0};
    snprintf(name, sizeof name, "proc/%d/numa_maps", (int)pid);
    int fd = cpubind_root_open(root, name, 0);
    if (fd < 0)
        return errno ? errno : EIO;
    int error = read_lines(root->sys, fd, &bytes, &sum);
    root->sys->close(fd); /* nothing was written: no result to lose */
    cpubind_bytes_free(&bytes);
    if (error)
        return error;
    sum.total = total_of(&sum);
    *out = sum;
    return 0;
}

/* The kernel takes one bit less than it is told of, in set_mempolicy and in migrate_pages, and
 * has since it has them: a mask up to the node's own bit is one bit wider. */
unsigned long cpubind_priv_node_bit(int32_t node, unsigned long *mask)
{
    mask[node / CPUBIND_MASK_BITS] |= 1ul << node % CPUBIND_MASK_BITS;
    return (unsigned long)node + 2;
}

static int set_policy(const cpubind_sys *sys, int mode, const unsigned long *mask,
                      unsigned long n_bit)
{
    int result;
    do
        result = sys->set_mempolicy(mode, mask, n_bit);
    while (result < 0 && errno == EINTR);
    if (result < 0)
        return errno ? errno : EIO;
    return 0;
}

int cpubind_memory_prefer(cpubind_root *root, int32_t node)
{
    unsigned long mask[CPUBIND_MASK_WORDS] = {0};
    if (node < 0 || node >= CPUBIND_MAX_NODES)
        return EINVAL;
    const unsigned long n_bit = cpubind_priv_node_bit(node, mask);
    return set_policy(root->sys, MODE_PREFERRED, mask, n_bit);
}

int cpubind_memory_prefer_none(cpubind_root *root)
{
    return set_policy(root->sys, MODE_DEFAULT, NULL, 0);
}
