/* input_cache.h - a cache of the answers that a source has given, by name
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. The seam promises that an input has the same answer each time; the
 * cache keeps the first one, failures too. Load: a few thousand names of some fifty bytes
 * (topology of 640 CPUs, hundreds of PCI devices), each asked for once or twice. So it is a
 * chained hash table.
 */
#ifndef CPUBIND_LINUX_INPUT_CACHE_H
#define CPUBIND_LINUX_INPUT_CACHE_H

#include <stdint.h>

#include "../../source.h"
#include "../kernel/bytes.h"
#include "../sys.h"

typedef struct cpubind_answer {
    struct cpubind_answer *next; /* in the same bucket */
    uint64_t hash;
    cpubind_input input; /* input.data and input.err belong to the cache; may be NULL */
    char name[];         /* NUL-terminated */
} cpubind_answer;

/* All zero is an empty table. */
typedef struct cpubind_input_cache {
    cpubind_answer **bucket; /* NULL before the first answer */
    uint32_t n_bucket;       /* a power of two, or 0 */
    uint32_t n_answer;
} cpubind_input_cache;

/* The answer of `name`, or NULL. */
cpubind_answer *cpubind_input_cache_find(const cpubind_input_cache *answers, const char *name);

/* Adds an answer, ABSENT at first.
 *   in      `name` has no answer yet; it is copied
 *   out     NULL when there is no memory. Answers never move.
 *   cost    O(length of the name), amortised */
cpubind_answer *cpubind_input_cache_add(cpubind_input_cache *answers, const cpubind_sys *sys,
                                        const char *name);

/* Sets the answer to `input`, with the content of `bytes` as its data when it is PRESENT, and
 * with a copy of its err. Without memory for the data the answer is FAILED; without memory for
 * the err there is none. */
void cpubind_answer_set(cpubind_answer *answer, const cpubind_sys *sys, cpubind_input input,
                        cpubind_bytes *bytes);

/* Frees all answers and their data. */
void cpubind_input_cache_free(cpubind_input_cache *answers);

#endif /* CPUBIND_LINUX_INPUT_CACHE_H */
