/* bytes.c - a buffer that grows up to a cap
 * SPDX-License-Identifier: MIT
 *
 * Memory alone, through the table of sys.h.
 */
#include "bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first allocation: most files of /sys and /proc in one read, /proc/interrupts of a host
 * with 1,152 CPUs (13 MB) in eight doublings. */
#define FIRST_CAP 65536

/* Contents up to this are copied: cheaper than a new buffer for the next file. */
#define COPY_MAX 16384

int cpubind_bytes_reserve(cpubind_bytes *bytes, const cpubind_sys *sys, int32_t more)
{
    if (bytes->cap - bytes->len >= more)
        return 0;
    int32_t cap = bytes->cap ? bytes->cap : FIRST_CAP;
    while (cap - bytes->len < more)
        cap *= 2;
    char *data = sys->realloc(bytes->data, (size_t)cap);
    if (!data)
        return ENOMEM;
    bytes->data = data;
    bytes->cap = cap;
    return 0;
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
