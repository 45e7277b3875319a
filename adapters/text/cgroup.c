/* cgroup.c - /proc/<pid>/cgroup: the container of a process, and the path of its cpuset
 * SPDX-License-Identifier: MIT
 *
 * Reads text alone: no cgroup is looked up. Rules: cgroups(7), and the names that the runtimes
 * give.
 */
#include "cgroup.h"

#include <string.h>

enum { ID_DIGITS = 64 };

/* A line: controllers and path are [first + 1, second) and [second + 1, end). */
typedef struct line {
    const char *first, *second, *end;
} line;

/* Steps to the next line with two colons, *at from 0. */
static int next_line(const char *text, int32_t len, int32_t *at, line *out)
{
    while (*at < len) {
        const char *start = text + *at;
        const char *end = (const char *)memchr(start, '\n', (size_t)(len - *at));
        end = end ? end : text + len;
        *at = (int32_t)(end - text) + 1;
        out->end = end;
        out->first = (const char *)memchr(start, ':', (size_t)(end - start));
        if (!out->first)
            continue;
        out->second = (const char *)memchr(out->first + 1, ':', (size_t)(end - out->first - 1));
        if (out->second)
            return 1;
    }
    return 0;
}

static int is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static int has(const char *from, const char *end, const char *word)
{
    const int64_t n = (int64_t)strlen(word);
    for (; end - from >= n; from++)
        if (memcmp(from, word, (size_t)n) == 0)
            return 1;
    return 0;
}

/* The id in the part [from, end) of a path, or NULL. */
static const char *find_id(const char *from, const char *end)
{
    const char *stop = end;
    const char *start;
    if (end - from > 6 && memcmp(end - 6, ".scope", 6) == 0)
        stop -= 6;
    start = stop;
    while (start > from && is_hex(start[-1]))
        start--;
    if (stop - start != ID_DIGITS || has(from, start, "-conmon-"))
        return NULL;
    return start == from || start[-1] == '-' || start[-1] == ':' ? start : NULL;
}

int cpubind_cgroup_container(const char *text, int32_t len, cpubind_slice *out_id)
{
    line l;
    *out_id = (cpubind_slice){0, 0};
    for (int32_t at = 0; text && next_line(text, len, &at, &l);) {
        const char *end = l.end;
        while (end > l.second + 1) {
            const char *from = end;
            const char *id;
            while (from > l.second + 1 && from[-1] != '/')
                from--;
            id = find_id(from, end);
            if (id) {
                *out_id = (cpubind_slice){(int32_t)(id - text), ID_DIGITS};
                return 1;
            }
            end = from > l.second + 1 ? from - 1 : from;
        }
    }
    return 0;
}

/* Whether a list with commas has the word "cpuset". */
static int is_cpuset(const char *from, const char *end)
{
    while (from < end) {
        const char *stop = (const char *)memchr(from, ',', (size_t)(end - from));
        stop = stop ? stop : end;
        if (stop - from == 6 && memcmp(from, "cpuset", 6) == 0)
            return 1;
        from = stop + 1;
    }
    return 0;
}

static int leaves_namespace(const char *from, const char *end)
{
    while (from < end) {
        const char *stop = (const char *)memchr(from, '/', (size_t)(end - from));
        stop = stop ? stop : end;
        if (stop - from == 2 && from[0] == '.' && from[1] == '.')
            return 1;
        from = stop + 1;
    }
    return 0;
}

cpubind_text_status cpubind_cgroup_find_cpuset(const char *text, int32_t len,
                                               cpubind_cgroup_cpuset *out)
{
    cpubind_text_status status = CPUBIND_TEXT_ERR_MISSING;
    line l;
    if (!text || len < 0 || !out)
        return CPUBIND_TEXT_ERR_ARG;
    for (int32_t at = 0; next_line(text, len, &at, &l);) {
        const int is_version_1 = is_cpuset(l.first + 1, l.second);
        const char *end = l.end;
        if (!is_version_1 && (l.second > l.first + 1 || status != CPUBIND_TEXT_ERR_MISSING))
            continue;
        if (leaves_namespace(l.second + 1, end)) {
            status = CPUBIND_TEXT_ERR_SYNTAX;
        } else {
            while (end > l.second + 1 && end[-1] == '/')
                end--;
            out->is_version_1 = is_version_1;
            out->path =
                (cpubind_slice){(int32_t)(l.second + 1 - text), (int32_t)(end - l.second - 1)};
            status = CPUBIND_TEXT_OK;
        }
        if (is_version_1)
            break;
    }
    return status;
}

int32_t cpubind_cgroup_outside(const char *path, int32_t len)
{
    static const char prefix[] = "/" CPUBIND_CGROUP_PREFIX;
    const int32_t n = (int32_t)sizeof prefix - 1;
    for (;;) {
        int32_t at = len;
        while (at > 0 && path[at - 1] >= '0' && path[at - 1] <= '9')
            at--;
        if (at == len || at < n || memcmp(path + at - n, prefix, (size_t)n) != 0)
            return len;
        len = at - n;
    }
}
