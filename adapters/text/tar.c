/* tar.c - entries of a tar archive, and the header of an entry
 * SPDX-License-Identifier: MIT
 *
 * The format is that of POSIX.1-2008, pax: "ustar Interchange Format" and "pax Header Block".
 * Pure; must not trust a number of the archive before it is compared with the bytes that are
 * left.
 */
#include "tar.h"

#include <string.h>

/* The fields of a header: offset and bytes. */
enum {
    AT_NAME = 0,
    NAME_LEN = 100,
    AT_MODE = 100,
    AT_UID = 108,
    AT_GID = 116,
    AT_SIZE = 124,
    SIZE_LEN = 12,
    AT_TIME = 136,
    AT_SUM = 148,
    SUM_LEN = 8,
    AT_KIND = 156,
    AT_MAGIC = 257,
    AT_PREFIX = 345,
    PREFIX_LEN = 155
};

typedef struct reading {
    const char *text;
    int32_t len;
    int32_t header; /* of the entry that is read */
    cpubind_text_fault *fault;
} reading;

static cpubind_text_status fail(const reading *r, cpubind_text_status status, const char *what)
{
    if (r->fault) {
        r->fault->offset = r->header;
        r->fault->what = what;
    }
    return status;
}

static cpubind_text_status bad(const reading *r, const char *what)
{
    return fail(r, CPUBIND_TEXT_ERR_SYNTAX, what);
}

static int is_zero(const char *text, int32_t from, int32_t to)
{
    while (from < to && text[from] == '\0')
        from++;
    return from == to;
}

/* Reads octal digits that a blank or a NUL ends; -1: they are none. */
static int64_t read_octal(const char *field, int32_t len)
{
    int64_t value = 0;
    int32_t at = 0, digits = 0;
    while (at < len && field[at] == ' ')
        at++;
    for (; at < len && field[at] >= '0' && field[at] <= '7'; at++, digits++)
        value = value * 8 + (field[at] - '0');
    if (digits == 0 || (at < len && field[at] != ' ' && field[at] != '\0'))
        return -1;
    return value;
}

/* The sum of the bytes of a header, with blanks in place of the sum. */
static int64_t sum_of(const char *block)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < CPUBIND_TAR_BLOCK; i++)
        sum += i >= AT_SUM && i < AT_SUM + SUM_LEN ? ' ' : (unsigned char)block[i];
    return sum;
}

static int32_t length_of(const char *field, int32_t max)
{
    const char *end = (const char *)memchr(field, '\0', (size_t)max);
    return end ? (int32_t)(end - field) : max;
}

/* Copies a name; returns 0 when it is too long. */
static int put_name(cpubind_tar_entry *out, int32_t at, const char *text, int32_t len)
{
    if (len > CPUBIND_INPUT_NAME_MAX - at)
        return 0;
    memcpy(out->name + at, text, (size_t)len);
    out->name[at + len] = '\0';
    return 1;
}

/* Reads the name of a ustar header: its prefix, a slash, its name. */
static void read_name(const char *block, cpubind_tar_entry *out)
{
    const int32_t n = length_of(block + AT_PREFIX, PREFIX_LEN);
    const int is_ustar = memcmp(block + AT_MAGIC, "ustar\0", 6) == 0;
    int32_t at = 0;
    if (is_ustar && n > 0) {
        (void)put_name(out, 0, block + AT_PREFIX, n);
        (void)put_name(out, n, "/", 1);
        at = n + 1;
    }
    (void)put_name(out, at, block + AT_NAME, length_of(block + AT_NAME, NAME_LEN));
}

/* Reads pax records, "LENGTH KEY=VALUE\n", of which "path" names the next entry. */
static cpubind_text_status read_pax(const reading *r, const char *text, int32_t len,
                                    cpubind_tar_entry *out)
{
    static const char path[] = "path=", size[] = "size=";
    for (int32_t at = 0; at < len;) {
        int32_t n = 0, start = at;
        while (at < len && text[at] >= '0' && text[at] <= '9' && n <= len)
            n = n * 10 + (text[at++] - '0');
        if (at == start || n > len - start || n < at - start + 3 || text[at] != ' ' ||
            text[start + n - 1] != '\n')
            return bad(r, "a pax record is damaged");
        at++;
        const int32_t left = start + n - 1 - at;
        if (left >= 5 && memcmp(text + at, size, 5) == 0)
            return bad(r, "the size is in a pax record: no input is so large");
        if (left >= 5 && memcmp(text + at, path, 5) == 0 &&
            (memchr(text + at, '\0', (size_t)left) ||
             !put_name(out, 0, text + at + 5, left - 5)))
            return bad(r, "a name is too long, or has a NUL");
        at = start + n;
    }
    return CPUBIND_TEXT_OK;
}

/* Whether a name has a part "..". */
static int has_dots(const char *name)
{
    for (const char *at = name; *at;) {
        const char *end = at;
        while (*end && *end != '/')
            end++;
        if (end - at == 2 && at[0] == '.' && at[1] == '.')
            return 1;
        at = *end ? end + 1 : end;
    }
    return 0;
}

/* Takes "./" from the start of a name and "/" from the end of a folder's, and checks it. The
 * folder "." has the name "." then. */
static cpubind_text_status check_name(const reading *r, cpubind_tar_entry *out)
{
    int32_t n = (int32_t)strlen(out->name);
    while (out->name[0] == '.' && out->name[1] == '/' && out->name[2]) {
        memmove(out->name, out->name + 2, (size_t)n - 1);
        n -= 2;
    }
    while (out->is_folder && n > 1 && out->name[n - 1] == '/')
        out->name[--n] = '\0';
    if (out->name[0] == '/')
        return bad(r, "its path is absolute");
    if (has_dots(out->name))
        return bad(r, "its path has a part \"..\"");
    if (!cpubind_input_is_name(out->name))
        return bad(r, "its path is empty, or has an empty part or a control character");
    return CPUBIND_TEXT_OK;
}

/* Reads the header at r->header, whose size is *size. */
static cpubind_text_status read_header(const reading *r, int32_t *size)
{
    const char *block = r->text + r->header;
    const int64_t n = read_octal(block + AT_SIZE, SIZE_LEN);
    if (memcmp(block + AT_MAGIC, "ustar", 5) != 0)
        return bad(r, "there is no header of a tar archive");
    if (read_octal(block + AT_SUM, SUM_LEN) != sum_of(block))
        return bad(r, "the sum of the header is wrong: the archive is damaged");
    if (n < 0)
        return bad(r, "the size is no octal number");
    if (n > r->len - r->header - CPUBIND_TAR_BLOCK)
        return fail(r, CPUBIND_TEXT_ERR_CUT, "the archive is cut off");
    *size = (int32_t)n;
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status read_kind(const reading *r, char kind, cpubind_tar_entry *out)
{
    out->is_folder = kind == '5';
    if (kind == '0' || kind == '\0' || kind == '7' || out->is_folder)
        return check_name(r, out);
    if (kind == '1' || kind == '2')
        return bad(r, "it is a link: a host has files and folders alone");
    return bad(r, "it is no file and no folder");
}

/* The end: nothing but zeros, of which one block at least is there. */
static cpubind_text_status end_archive(const reading *r, int32_t *at, cpubind_tar_entry *out)
{
    if (!is_zero(r->text, r->header, r->len))
        return bad(r, "bytes follow the end of the archive");
    out->name[0] = '\0';
    *at = r->len;
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_tar_next(const char *text, int32_t len, int32_t *at,
                                     cpubind_tar_entry *out, cpubind_text_fault *fault)
{
    reading r = {text, len, at ? *at : 0, fault};
    int has_name = 0;
    if (!at || !out || len < 0 || len > CPUBIND_TEXT_MAX || (!text && len > 0) || *at < 0 ||
        *at > len)
        return CPUBIND_TEXT_ERR_ARG;
    for (;;) {
        int32_t size = 0;
        if (len - r.header < CPUBIND_TAR_BLOCK)
            return r.header == 0 && len > 0
                       ? bad(&r, "there is no header of a tar archive")
                       : fail(&r, CPUBIND_TEXT_ERR_CUT, "the archive is cut off");
        const char *block = text + r.header;
        if (is_zero(block, 0, CPUBIND_TAR_BLOCK))
            return has_name ? bad(&r, "a long name has no entry") : end_archive(&r, at, out);
        cpubind_text_status status = read_header(&r, &size);
        if (status != CPUBIND_TEXT_OK)
            return status;
        const char kind = block[AT_KIND];
        const int32_t data = r.header + CPUBIND_TAR_BLOCK, left = len - data - size;
        const int32_t pad = (CPUBIND_TAR_BLOCK - size % CPUBIND_TAR_BLOCK) % CPUBIND_TAR_BLOCK;
        if (pad > left)
            return fail(&r, CPUBIND_TEXT_ERR_CUT, "the archive is cut off");
        if (kind == 'x') {
            out->name[0] = has_name ? out->name[0] : '\0';
            status = read_pax(&r, text + data, size, out);
            has_name |= out->name[0] != '\0';
        } else if (kind == 'L') {
            const int32_t n = length_of(text + data, size);
            if (!put_name(out, 0, text + data, n))
                status = bad(&r, "a name is too long");
            has_name = 1;
        } else if (kind != 'g') {
            if (!has_name)
                read_name(block, out);
            status = read_kind(&r, kind, out);
            out->data = (cpubind_slice){data, out->is_folder ? 0 : size};
            if (status == CPUBIND_TEXT_OK)
                *at = data + size + pad;
            return status;
        }
        if (status != CPUBIND_TEXT_OK)
            return status;
        r.header = data + size + pad;
    }
}

/* == Writing ================================================================ */

/* Writes octal digits and a NUL. */
static void put_octal(char *field, int32_t len, int64_t value)
{
    field[len - 1] = '\0';
    for (int32_t i = len - 2; i >= 0; i--, value /= 8)
        field[i] = (char)('0' + value % 8);
}

static void put_block(char *block, const char *name, int32_t n, int32_t size, int64_t seconds,
                      char kind)
{
    memset(block, 0, CPUBIND_TAR_BLOCK);
    memcpy(block + AT_NAME, name, (size_t)(n < NAME_LEN ? n : NAME_LEN));
    put_octal(block + AT_MODE, 8, 0644);
    put_octal(block + AT_UID, 8, 0);
    put_octal(block + AT_GID, 8, 0);
    put_octal(block + AT_SIZE, SIZE_LEN, size);
    put_octal(block + AT_TIME, 12, seconds);
    block[AT_KIND] = kind;
    memcpy(block + AT_MAGIC, "ustar\00000", 8);
    put_octal(block + AT_SUM, 7, sum_of(block));
    block[AT_SUM + 7] = ' ';
}

/* Writes "LENGTH path=NAME\n"; returns its bytes. The length counts its own digits. */
static int32_t put_record(char *out, const char *name, int32_t n)
{
    int32_t digits = 1, total = 0, at;
    for (;; digits++) {
        int32_t limit = 10;
        total = digits + 7 + n;
        for (int32_t i = 1; i < digits; i++)
            limit *= 10;
        if (total < limit)
            break;
    }
    at = digits;
    for (int32_t value = total; at > 0; value /= 10)
        out[--at] = (char)('0' + value % 10);
    memcpy(out + digits, " path=", 6);
    memcpy(out + digits + 6, name, (size_t)n);
    out[total - 1] = '\n';
    return total;
}

int32_t cpubind_tar_header(const char *name, int32_t size, int64_t seconds, char *out)
{
    const int32_t n = (int32_t)strlen(name);
    int32_t at = 0;
    if (n > NAME_LEN) {
        const int32_t record = put_record(out + CPUBIND_TAR_BLOCK, name, n);
        const int32_t whole =
            (record + CPUBIND_TAR_BLOCK - 1) / CPUBIND_TAR_BLOCK * CPUBIND_TAR_BLOCK;
        put_block(out, "pax", 3, record, seconds, 'x');
        memset(out + CPUBIND_TAR_BLOCK + record, 0, (size_t)(whole - record));
        at = CPUBIND_TAR_BLOCK + whole;
    }
    put_block(out + at, name, n, size, seconds, '0');
    return at + CPUBIND_TAR_BLOCK;
}
