/* archive.h - a host as one file: the text of NAME.host, perhaps compressed by gzip
 * SPDX-License-Identifier: MIT
 *
 * Bytes in, bytes out; opens no file. The only folder that includes <zlib.h>.
 */
#ifndef CPUBIND_ARCHIVE_H
#define CPUBIND_ARCHIVE_H

#include "../text/host_file.h"

/* The largest text that is made or unpacked: twice the longest input. */
#define CPUBIND_ARCHIVE_MAX (1 << 27)

/* Makes the text of a host of its files; with is_packed it is compressed. Equal files give
 * equal bytes.
 *   in      part[0 .. n - 1], which are sorted here, no two of one name
 *   out     *out, *len: the bytes, which the caller frees
 *   returns 0 without memory, or when the text would be larger than CPUBIND_ARCHIVE_MAX */
int cpubind_archive_make(cpubind_host_part *part, int32_t n, int is_packed, char **out,
                         int32_t *len);

/* Whether bytes begin as those of gzip. */
int cpubind_archive_is_packed(const char *data, int32_t len);

/* Unpacks the bytes of gzip.
 *   out     *out, *n: the bytes, which the caller frees; at most CPUBIND_ARCHIVE_MAX
 *   returns why they cannot be unpacked, a static clause; NULL: they are */
const char *cpubind_archive_unpack(const char *data, int32_t len, char **out, int32_t *n);

#endif /* CPUBIND_ARCHIVE_H */
