/* arena.h - memory of the caller, from which readers of a host allocate
 * SPDX-License-Identifier: MIT
 *
 * No malloc: the caller gives one block and frees it.
 */
#ifndef CPUBIND_TEXT_ARENA_H
#define CPUBIND_TEXT_ARENA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define CPUBIND_ARENA_HAS_GAPS
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define CPUBIND_ARENA_HAS_GAPS
#endif
#ifdef CPUBIND_ARENA_HAS_GAPS
#include <sanitizer/asan_interface.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A block of memory of the caller from which the facts and the plan are allocated. Single
 * allocations are not freed; the caller frees the whole block. */
typedef struct cpubind_arena {
    char *base;  /* the caller's block, aligned as malloc aligns */
    size_t size; /* bytes */
    size_t used; /* bytes */
} cpubind_arena;

/* Bytes between two allocations that AddressSanitizer lets nobody touch: else it would not see
 * that one is left for the next. */
#ifdef CPUBIND_ARENA_HAS_GAPS
enum { CPUBIND_ARENA_GAP = 16 };
#else
enum { CPUBIND_ARENA_GAP = 0 };
#endif

/* `n` elements of `size` bytes each from byte `start` on, which is no less than `used`. */
static inline void *cpubind_arena_take_at(cpubind_arena *arena, size_t start, int32_t n,
                                          size_t size)
{
    if (n < 0 || start > arena->size || (size_t)n > (arena->size - start) / size)
        return NULL;
#ifdef CPUBIND_ARENA_HAS_GAPS
    ASAN_POISON_MEMORY_REGION(arena->base + arena->used, start - arena->used);
    ASAN_UNPOISON_MEMORY_REGION(arena->base + start, (size_t)n * size);
#endif
    arena->used = start + (size_t)n * size;
    return arena->base + start;
}

/* `n` elements of `size` bytes each, or NULL when the block is full. Never NULL for n == 0. */
static inline void *cpubind_arena_take(cpubind_arena *arena, int32_t n, size_t size)
{
    return cpubind_arena_take_at(arena, (arena->used + CPUBIND_ARENA_GAP + 15u) & ~(size_t)15u,
                                 n, size);
}

/* `more` elements behind the n of an array that the arena ends with: the array, which does not
 * move, or NULL when the block is full. */
static inline void *cpubind_arena_more(cpubind_arena *arena, void *array, int32_t n,
                                       int32_t more, size_t size)
{
    if (n == 0)
        return cpubind_arena_take(arena, more, size);
    return cpubind_arena_take_at(arena, arena->used, more, size) ? array : NULL;
}

static inline int32_t *cpubind_arena_ints(cpubind_arena *arena, int32_t n)
{
    return (int32_t *)cpubind_arena_take(arena, n, sizeof(int32_t));
}

/* Room for as many numbers as the block has, `most` at the most: *cap of them. A reader fills
 * it in one call, and cpubind_arena_cut gives back what it did not need. */
static inline int32_t *cpubind_arena_open(cpubind_arena *arena, int32_t most, int32_t *cap)
{
    const size_t start = (arena->used + CPUBIND_ARENA_GAP + 15u) & ~(size_t)15u;
    const size_t n = start < arena->size ? (arena->size - start) / sizeof(int32_t) : 0;
    *cap = n < (size_t)most ? (int32_t)n : most;
    return cpubind_arena_ints(arena, *cap);
}

/* The last allocation ends here. */
static inline void cpubind_arena_cut(cpubind_arena *arena, const int32_t *end)
{
    arena->used = (size_t)((const char *)end - arena->base);
}

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_TEXT_ARENA_H */
