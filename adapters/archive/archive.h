/* archive.h - a host as one file: a tar archive, perhaps compressed by gzip
 * SPDX-License-Identifier: MIT
 *
 * Bytes in, bytes out; opens no file. The only folder that includes <zlib.h>.
 */
#ifndef CPUBIND_ARCHIVE_H
#define CPUBIND_ARCHIVE_H

#include <stdint.h>

/* The largest archive that is unpacked: twice the longest input. */
#define CPUBIND_ARCHIVE_MAX (1 << 27)

/* A file of an archive. */
typedef struct cpubind_archive_file {
    char *name; /* an input's name */
    char *data; /* NULL when len is 0 */
    int32_t len;
} cpubind_archive_file;

/* Makes an archive of files: sorted by name, owner 0, mode 0644, all with one time; so equal
 * files give equal bytes. With is_packed it is compressed.
 *   in      file[0 .. n - 1], which are sorted here; folder: a name that precedes all names, as
 *           "a2/", so that an archive unpacks to one folder; seconds >= 0, since 1970
 *   out     *out, *len: the bytes, which the caller frees
 *   returns 0 without memory, or when the archive would be larger than CPUBIND_ARCHIVE_MAX */
int cpubind_archive_make(cpubind_archive_file *file, int32_t n, const char *folder,
                         int64_t seconds, int is_packed, char **out, int32_t *len);

/* Whether bytes begin as those of gzip. */
int cpubind_archive_is_packed(const char *data, int32_t len);

/* Unpacks the bytes of gzip.
 *   out     *out, *n: the bytes, which the caller frees; at most CPUBIND_ARCHIVE_MAX
 *   returns why they cannot be unpacked, a static clause; NULL: they are */
const char *cpubind_archive_unpack(const char *data, int32_t len, char **out, int32_t *n);

#endif /* CPUBIND_ARCHIVE_H */
