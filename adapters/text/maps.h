/* maps.h - /proc/<pid>/maps, smaps, pagemap: the mappings of a process, and its pages
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 */
#ifndef CPUBIND_MAPS_H
#define CPUBIND_MAPS_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cpubind_maps_kind {
    CPUBIND_MAPS_RANGE, /* the first line of a mapping */
    CPUBIND_MAPS_FLAGS, /* smaps: the flags of the mapping above */
    CPUBIND_MAPS_OTHER  /* smaps: another fact of the mapping above */
} cpubind_maps_kind;

/* One line of maps or smaps. */
typedef struct cpubind_maps_line {
    cpubind_maps_kind kind;
    uint64_t start, end; /* RANGE: the addresses, start < end */
    int32_t is_locked;   /* FLAGS: mlock(2) locks its pages */
    int32_t len;         /* bytes of the line, its line feed included */
} cpubind_maps_line;

/* Reads the first line of a text: the files are read in blocks, line by line.
 *   in      at least one byte
 *   out     *out
 *   errors  ERR_ARG, ERR_SYNTAX; ERR_ORDER: a mapping ends before it starts; ERR_CUT without a
 *           line feed. *out is untouched then.
 *   cost    O(length of the line) */
cpubind_text_status cpubind_maps_line_parse(const char *text, int32_t len,
                                            cpubind_maps_line *out, cpubind_text_fault *fault);

/* One page of a mapping, by its entry in pagemap. */
typedef struct cpubind_page {
    int32_t is_present; /* it is in memory */
    int32_t is_own;     /* no other process maps it */
    uint64_t frame;     /* its place in memory; 0: hidden from this user */
} cpubind_page;

/* Reads entry `index` of some bytes of pagemap. An entry is a 64-bit number in the byte order
 * of the machine; bits that the kernel may give a meaning later are not looked at.
 *   in      data of at least (index + 1) * CPUBIND_PAGEMAP_ENTRY bytes */
#define CPUBIND_PAGEMAP_ENTRY 8
cpubind_page cpubind_pagemap_entry(const char *data, int32_t index);

/* Whether n entries of pagemap may be those of one huge page: all are present, and their
 * frames are one run that starts at a multiple of n, or are hidden.
 *   in      as above; n >= 1 */
int cpubind_pagemap_may_be_huge(const char *data, int32_t index, int32_t n);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_MAPS_H */
