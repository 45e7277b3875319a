/* archive.c - a host as one file: a tar archive, perhaps compressed by gzip
 * SPDX-License-Identifier: MIT
 *
 * zlib does the compression. An archive may come from a stranger: no more than
 * CPUBIND_ARCHIVE_MAX bytes are ever unpacked, whatever it says about itself.
 */
#include "archive.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "../text/tar.h"

enum { GZIP = 16, FIRST_ROOM = 1 << 20 };

/* == Making ================================================================= */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const cpubind_archive_file *)a)->name,
                  ((const cpubind_archive_file *)b)->name);
}

/* The bytes of data in whole blocks. */
static int64_t blocks_of(int32_t len)
{
    return ((int64_t)len + CPUBIND_TAR_BLOCK - 1) / CPUBIND_TAR_BLOCK * CPUBIND_TAR_BLOCK;
}

/* Compresses bytes; the header of gzip has no time and no name. Returns 0 without memory. */
static int pack(char **data, int32_t *len)
{
    z_stream stream = {0};
    char *packed;
    int good = deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP, 9,
                            Z_DEFAULT_STRATEGY) == Z_OK;
    if (!good)
        return 0;
    const uLong room = deflateBound(&stream, (uLong)*len);
    packed = (char *)malloc(room);
    stream.next_in = (Bytef *)*data;
    stream.avail_in = (uInt)*len;
    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)room;
    good = packed && deflate(&stream, Z_FINISH) == Z_STREAM_END;
    if (good) {
        free(*data);
        *data = packed;
        *len = (int32_t)stream.total_out;
    } else {
        free(packed);
    }
    (void)deflateEnd(&stream);
    return good;
}

/* Appends the header and the data of a file. Returns 0 when the name is too long. */
static int put_file(const cpubind_archive_file *file, const char *folder, int64_t seconds,
                    char *to, int32_t *at)
{
    char name[CPUBIND_INPUT_NAME_MAX + 1];
    const size_t n = strlen(folder), m = strlen(file->name);
    if (n + m >= sizeof name)
        return 0;
    memcpy(name, folder, n);
    memcpy(name + n, file->name, m + 1);
    *at += cpubind_tar_header(name, file->len, seconds, to + *at);
    if (file->len > 0)
        memcpy(to + *at, file->data, (size_t)file->len);
    *at += (int32_t)blocks_of(file->len);
    return 1;
}

int cpubind_archive_make(cpubind_archive_file *file, int32_t n, const char *folder,
                         int64_t seconds, int is_packed, char **out, int32_t *len)
{
    int64_t room = (int64_t)2 * CPUBIND_TAR_BLOCK;
    char *data;
    int good = 1;
    qsort(file, (size_t)n, sizeof *file, by_name);
    for (int32_t i = 0; i < n; i++)
        room += CPUBIND_TAR_HEADER_MAX + CPUBIND_TAR_BLOCK + blocks_of(file[i].len);
    if (room > CPUBIND_ARCHIVE_MAX)
        return 0;
    data = (char *)calloc(1, (size_t)room);
    *len = 0;
    for (int32_t i = 0; data && good && i < n; i++)
        good = put_file(&file[i], folder, seconds, data, len);
    *len += 2 * CPUBIND_TAR_BLOCK; /* of zeros */
    good = good && data && (!is_packed || pack(&data, len));
    if (good)
        *out = data;
    else
        free(data);
    return good;
}

/* == Unpacking ============================================================== */

int cpubind_archive_is_packed(const char *data, int32_t len)
{
    return len >= 2 && (unsigned char)data[0] == 0x1f && (unsigned char)data[1] == 0x8b;
}

/* Inflates into memory that grows up to CPUBIND_ARCHIVE_MAX. Returns why not, or NULL. */
static const char *inflate_all(z_stream *stream, char **out, int32_t *n)
{
    size_t room = 0;
    int result = Z_OK;
    while (result == Z_OK) {
        if (stream->avail_out == 0) {
            if (room >= CPUBIND_ARCHIVE_MAX)
                return "it unpacks to more than 128 MiB";
            const size_t more = room ? room * 2 : FIRST_ROOM;
            char *grown = (char *)realloc(*out, more);
            if (!grown)
                return "there is no memory left to unpack it";
            *out = grown;
            stream->next_out = (Bytef *)grown + room;
            stream->avail_out = (uInt)(more - room);
            room = more;
        }
        result = inflate(stream, Z_NO_FLUSH);
    }
    *n = (int32_t)(room - stream->avail_out);
    if (result == Z_STREAM_END && stream->avail_in > 0)
        return "bytes follow the end of the compressed archive";
    if (result == Z_STREAM_END)
        return NULL;
    return result == Z_BUF_ERROR ? "the compressed archive is cut off"
                                 : "the compressed archive is damaged";
}

const char *cpubind_archive_unpack(const char *data, int32_t len, char **out, int32_t *n)
{
    z_stream stream = {0};
    const char *why;
    *out = NULL;
    *n = 0;
    if (inflateInit2(&stream, MAX_WBITS + GZIP) != Z_OK)
        return "there is no memory left to unpack it";
    stream.next_in = (Bytef *)data;
    stream.avail_in = (uInt)len;
    why = inflate_all(&stream, out, n);
    (void)inflateEnd(&stream);
    if (why) {
        free(*out);
        *out = NULL;
    }
    return why;
}
