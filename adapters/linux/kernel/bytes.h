/* bytes.h - memory that grows: a buffer of bytes, an array, a list of numbers
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. One buffer reads all files of a source, one after the other: 500
 * files of a few bytes must not cost 500 large allocations.
 */
#ifndef CPUBIND_LINUX_BYTES_H
#define CPUBIND_LINUX_BYTES_H

#include <stdint.h>

#include "../../model/facts.h"
#include "../../text/arena.h"
#include "../linux.h"
#include "../sys.h"

/* Longest content, so that doubling stays inside int32_t. */
#define CPUBIND_BYTES_MAX (1 << 29)

typedef struct cpubind_bytes {
    char *data;  /* NULL before the first byte; the owner's free(3) */
    int32_t len; /* bytes in use, 0 .. CPUBIND_BYTES_MAX */
    int32_t cap; /* bytes allocated */
} cpubind_bytes;

/* Makes room for `more` bytes after the content.
 *   in      0 <= more, and len + more <= CPUBIND_BYTES_MAX
 *   errors  ENOMEM, "memory", and the buffer is as it was */
cpubind_linux_fault cpubind_bytes_reserve(cpubind_bytes *bytes, const cpubind_sys *sys,
                                          int32_t more);

/* Adds bytes at the end.
 *   errors  ENOMEM, "memory", and the buffer is as it was */
cpubind_linux_fault cpubind_bytes_add(cpubind_bytes *bytes, const cpubind_sys *sys,
                                      const void *data, int32_t len);

/* Moves the content to an allocation of exactly its size, for the caller to free(3); the buffer
 * is empty afterwards and may be used again.
 *   in      len > 0
 *   out     NULL without memory: the buffer is as it was */
char *cpubind_bytes_take(cpubind_bytes *bytes, const cpubind_sys *sys);

/* Frees the content; the buffer is empty and may be used again. */
void cpubind_bytes_free(cpubind_bytes *bytes);

/* Makes room for one more element in an array of n elements.
 *   returns the array, which may have moved; NULL without memory: the array is as it was */
void *cpubind_grow(const cpubind_sys *sys, void *array, int32_t n, int32_t *cap,
                   size_t size_bytes);

/* Puts an element into an array of n elements at the place `at`, before those from there on.
 *   in      array: where the pointer to the array is
 *   errors  ENOMEM, "memory", and the array is as it was */
cpubind_linux_fault cpubind_insert(const cpubind_sys *sys, void *array, int32_t *n,
                                   int32_t *cap, int32_t at, const void *element,
                                   size_t size_bytes);

#define CPUBIND_INSERT(sys, array, n, cap, at, element)                                        \
    cpubind_insert((sys), &(array), &(n), &(cap), (at), (element), sizeof *(array))
#define CPUBIND_APPEND(sys, array, n, cap, element)                                            \
    CPUBIND_INSERT(sys, array, n, cap, n, element)

/* The order of two elements: below, at or above 0. */
typedef int cpubind_order(const void *a, const void *b);

/* The place of an element in a sorted array, or where it would be. O(log n). */
int32_t cpubind_place_in(const void *array, int32_t n, size_t size_bytes, const void *like,
                         cpubind_order *order);

/* The order of two elements that are, or begin with, an int32_t. */
int cpubind_order_of_ids(const void *a, const void *b);

/* Calls `make` with an arena that is four times as large each time, until it returns anything
 * but NO_MEMORY.
 *   in      sys: NULL for the real calls; the arena is all zero before the first call, but for
 *   its
 *           first size, if that matters
 *   out     the caller frees its base */
cpubind_problem_code
cpubind_with_arena(const cpubind_sys *sys, cpubind_arena *arena,
                   cpubind_problem_code (*make)(void *ctx, cpubind_arena *arena), void *ctx);

/* FNV-1a, 64 bits, of bytes after those that gave `sum`; CPUBIND_SUM at first. */
#define CPUBIND_SUM 0xcbf29ce484222325u
uint64_t cpubind_sum(uint64_t sum, const void *data, size_t len);

/* A list of numbers: ids of threads, processes or interrupts. All zero is an empty list. */
typedef struct cpubind_ids {
    int32_t *id; /* the owner's free(3) */
    int32_t n, cap;
} cpubind_ids;

/* Adds a number at the end.
 *   errors  ENOMEM, "memory", and the list is as it was */
cpubind_linux_fault cpubind_ids_add(cpubind_ids *ids, const cpubind_sys *sys, int32_t id);

/* Sorts a list, ascending, and drops repeats. */
void cpubind_ids_sort(cpubind_ids *ids);

/* Whether a number is in a sorted list. O(log n). */
int cpubind_ids_has(const cpubind_ids *ids, int32_t id);

#endif /* CPUBIND_LINUX_BYTES_H */
