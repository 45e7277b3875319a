/* bytes.h - a buffer that grows up to a cap
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. One buffer reads all files of a source, one after the other: 500
 * files of a few bytes must not cost 500 large allocations.
 */
#ifndef CPUBIND_LINUX_BYTES_H
#define CPUBIND_LINUX_BYTES_H

#include <stdint.h>

#include "../sys.h"

/* Longest content, so that doubling stays inside int32_t. */
#define CPUBIND_BYTES_MAX (1 << 27)

typedef struct cpubind_bytes {
    char *data;  /* NULL before the first byte; the owner's free(3) */
    int32_t len; /* bytes in use, 0 .. CPUBIND_BYTES_MAX */
    int32_t cap; /* bytes there */
} cpubind_bytes;

/* Makes room for `more` bytes behind the content.
 *   in      0 <= more, and len + more <= CPUBIND_BYTES_MAX
 *   errors  ENOMEM, and the buffer is as it was; else 0 */
int cpubind_bytes_reserve(cpubind_bytes *bytes, const cpubind_sys *sys, int32_t more);

/* The content as an allocation of its own of just its size; the buffer is empty afterwards and
 * may be used again. A large content is handed over, a small one copied.
 *   in      len > 0
 *   out     NULL when there is no memory, and the buffer is as it was */
char *cpubind_bytes_take(cpubind_bytes *bytes, const cpubind_sys *sys);

/* Frees what is held; the buffer is empty and may be used again. */
void cpubind_bytes_free(cpubind_bytes *bytes);

#endif /* CPUBIND_LINUX_BYTES_H */
