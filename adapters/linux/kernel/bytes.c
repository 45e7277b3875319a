/* bytes.c - memory that grows: a buffer of bytes, an array, a list of numbers
 * SPDX-License-Identifier: MIT
 *
 * Memory alone, through the table of sys.h.
 */
#include "bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first allocation: most files of /sys and /proc in one read, /proc/interrupts of a host
 * with 1,152 CPUs (13 MB) in eleven doublings. */
#define FIRST_CAP 8192

/* A plan of 640 CPUs takes 0.7 MB. */
#define FIRST_ARENA ((size_t)3 << 19)
#define LAST_ARENA  ((size_t)1 << 30)

/* Contents up to this are copied: cheaper than a new buffer for the next file. */
#define COPY_MAX 16384

cpubind_linux_fault cpubind_bytes_reserve(cpubind_bytes *bytes, const cpubind_sys *sys,
                                          int32_t more)
{
    if (bytes->cap - bytes->len >= more)
        return (cpubind_linux_fault){0};
    int32_t cap = bytes->cap ? bytes->cap : FIRST_CAP;
    while (cap - bytes->len < more)
        cap *= 2;
    char *data = sys->realloc(bytes->data, (size_t)cap);
    if (!data)
        return (cpubind_linux_fault){ENOMEM, "memory", 0};
    bytes->data = data;
    bytes->cap = cap;
    return (cpubind_linux_fault){0};
}

cpubind_linux_fault cpubind_bytes_add(cpubind_bytes *bytes, const cpubind_sys *sys,
                                      const void *data, int32_t len)
{
    const cpubind_linux_fault why = cpubind_bytes_reserve(bytes, sys, len);
    if (!why.error && len > 0) {
        memcpy(bytes->data + bytes->len, data, (size_t)len);
        bytes->len += len;
    }
    return why;
}

char *cpubind_bytes_take(cpubind_bytes *bytes, const cpubind_sys *sys)
{
    char *own;
    if (bytes->len <= COPY_MAX) {
        own = sys->malloc((size_t)bytes->len);
        if (!own)
            return NULL;
        memcpy(own, bytes->data, (size_t)bytes->len);
        bytes->len = 0;
        return own;
    }
    own = sys->realloc(bytes->data, (size_t)bytes->len);
    if (!own)
        return NULL;
    *bytes = (cpubind_bytes){NULL, 0, 0};
    return own;
}

void cpubind_bytes_free(cpubind_bytes *bytes)
{
    free(bytes->data);
    *bytes = (cpubind_bytes){NULL, 0, 0};
}

void *cpubind_grow(const cpubind_sys *sys, void *array, int32_t n, int32_t *cap,
                   size_t size_bytes)
{
    const int32_t more = *cap ? *cap : 64;
    void *grown;
    if (n < *cap)
        return array;
    if (*cap > INT32_MAX / 2)
        return NULL;
    grown = sys->realloc(array, (size_t)(*cap + more) * size_bytes);
    if (grown)
        *cap += more;
    return grown;
}

cpubind_linux_fault cpubind_insert(const cpubind_sys *sys, void *array, int32_t *n,
                                   int32_t *cap, int32_t at, const void *element,
                                   size_t size_bytes)
{
    const size_t from = (size_t)at * size_bytes;
    char *all;
    memcpy(&all, array, sizeof all);
    all = (char *)cpubind_grow(sys, all, *n, cap, size_bytes);
    if (!all)
        return (cpubind_linux_fault){ENOMEM, "memory", 0};
    memcpy(array, &all, sizeof all);
    memmove(all + from + size_bytes, all + from, (size_t)(*n - at) * size_bytes);
    memcpy(all + from, element, size_bytes);
    ++*n;
    return (cpubind_linux_fault){0};
}

int32_t cpubind_place_in(const void *array, int32_t n, size_t size_bytes, const void *like,
                         cpubind_order *order)
{
    const char *all = (const char *)array;
    int32_t low = 0, high = n;
    /* Most elements come in order: the end is tried first. */
    if (n > 0 && order(all + (size_t)(n - 1) * size_bytes, like) < 0)
        return n;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (order(all + (size_t)middle * size_bytes, like) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

cpubind_problem_code
cpubind_with_arena(const cpubind_sys *sys, cpubind_arena *arena,
                   cpubind_problem_code (*make)(void *ctx, cpubind_arena *arena), void *ctx)
{
    size_t size = arena->size ? arena->size : FIRST_ARENA;
    for (;; size *= 4) {
        cpubind_problem_code code;
        if (!arena->base)
            arena->base = (char *)(sys ? sys : &cpubind_sys_real)->malloc(size);
        arena->size = arena->base ? size : 0;
        arena->used = 0;
        code = make(ctx, arena);
        if (code != CPUBIND_PROBLEM_NO_MEMORY || !arena->base || size >= LAST_ARENA)
            return code;
        free(arena->base);
        arena->base = NULL;
    }
}

uint64_t cpubind_sum(uint64_t sum, const void *data, size_t len)
{
    const unsigned char *byte = (const unsigned char *)data;
    for (size_t i = 0; i < len; i++)
        sum = (sum ^ byte[i]) * 0x100000001b3u;
    return sum;
}

cpubind_linux_fault cpubind_ids_add(cpubind_ids *ids, const cpubind_sys *sys, int32_t id)
{
    return CPUBIND_APPEND(sys, ids->id, ids->n, ids->cap, &id);
}

int cpubind_order_of_ids(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

void cpubind_ids_sort(cpubind_ids *ids)
{
    int32_t n = 0;
    if (ids->n > 0)
        qsort(ids->id, (size_t)ids->n, sizeof *ids->id, cpubind_order_of_ids);
    for (int32_t i = 0; i < ids->n; i++)
        if (n == 0 || ids->id[i] != ids->id[n - 1])
            ids->id[n++] = ids->id[i];
    ids->n = n;
}

int cpubind_ids_has(const cpubind_ids *ids, int32_t id)
{
    return ids->n > 0 &&
           bsearch(&id, ids->id, (size_t)ids->n, sizeof id, cpubind_order_of_ids) != NULL;
}
