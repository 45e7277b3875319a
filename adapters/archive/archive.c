/* archive.c - a host as one file: the text of NAME.host, perhaps compressed by gzip
 * SPDX-License-Identifier: MIT
 *
 * zlib does the compression. A file may come from a stranger: no more than
 * CPUBIND_ARCHIVE_MAX bytes are ever unpacked, whatever it says about itself.
 */
#include "archive.h"

#include <stdlib.h>
#include <zlib.h>

enum { GZIP = 16, FIRST_ROOM = 1 << 20 };

/* == Making ================================================================= */

static int by_name(const void *a, const void *b)
{
    return cpubind_host_file_order(((const cpubind_host_part *)a)->name,
                                   ((const cpubind_host_part *)b)->name);
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

int cpubind_archive_make(cpubind_host_part *part, int32_t n, int is_packed, char **out,
                         int32_t *len)
{
    qsort(part, (size_t)n, sizeof *part, by_name);
    const int64_t size = cpubind_host_file_write(part, n, NULL);
    char *data = size <= CPUBIND_ARCHIVE_MAX ? (char *)malloc((size_t)size) : NULL;
    if (!data)
        return 0;
    (void)cpubind_host_file_write(part, n, data);
    *len = (int32_t)size;
    if (is_packed && !pack(&data, len)) {
        free(data);
        return 0;
    }
    *out = data;
    return 1;
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
        return "bytes follow the end of the compressed file";
    if (result == Z_STREAM_END)
        return NULL;
    return result == Z_BUF_ERROR ? "the compressed file is cut off"
                                 : "the compressed file is damaged";
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
