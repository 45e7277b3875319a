/* cgroup.c - /proc/<pid>/cgroup: container and pod of a process, and the path of its cpuset
 * SPDX-License-Identifier: MIT
 *
 * Reads text alone: no cgroup is looked up. Rules: cgroups(7), and the names that the runtimes
 * give.
 */
#include "cgroup.h"

#include <string.h>

#include "scan.h"

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

int cpubind_cgroup_container(const char *text, int32_t len, cpubind_piece *out_id)
{
    line l;
    *out_id = (cpubind_piece){0, 0};
    for (int32_t at = 0; text && next_line(text, len, &at, &l);) {
        const char *end = l.end;
        while (end > l.second + 1) {
            const char *from = end;
            const char *id;
            while (from > l.second + 1 && from[-1] != '/')
                from--;
            id = find_id(from, end);
            if (id) {
                *out_id = (cpubind_piece){(int32_t)(id - text), ID_DIGITS};
                return 1;
            }
            end = from > l.second + 1 ? from - 1 : from;
        }
    }
    return 0;
}

/* Whether one of the parts between marks is a word. */
static int has_part(const char *from, const char *end, char mark, const char *word)
{
    const int64_t n = (int64_t)strlen(word);
    while (from < end) {
        const char *stop = (const char *)memchr(from, mark, (size_t)(end - from));
        stop = stop ? stop : end;
        if (stop - from == n && memcmp(from, word, (size_t)n) == 0)
            return 1;
        from = stop + 1;
    }
    return 0;
}

cpubind_text_status cpubind_cgroup_find(const char *text, int32_t len, const char *controller,
                                        cpubind_cgroup *out)
{
    cpubind_text_status status = CPUBIND_TEXT_ERR_MISSING;
    line l;
    if (!text || len < 0 || !out)
        return CPUBIND_TEXT_ERR_ARG;
    for (int32_t at = 0; next_line(text, len, &at, &l);) {
        const int is_version_1 = has_part(l.first + 1, l.second, ',', controller);
        const char *end = l.end;
        if (!is_version_1 && (l.second > l.first + 1 || status != CPUBIND_TEXT_ERR_MISSING))
            continue;
        if (has_part(l.second + 1, end, '/', "..")) {
            status = CPUBIND_TEXT_ERR_SYNTAX;
        } else {
            while (end > l.second + 1 && end[-1] == '/')
                end--;
            out->is_version_1 = is_version_1;
            out->path =
                (cpubind_piece){(int32_t)(l.second + 1 - text), (int32_t)(end - l.second - 1)};
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

int32_t cpubind_cgroup_above(const char *path, int32_t len)
{
    while (len > 0 && path[len - 1] != '/')
        len--;
    while (len > 0 && path[len - 1] == '/')
        len--;
    return len;
}

/* == Pods =================================================================== */

const char *cpubind_qos_word(cpubind_qos qos)
{
#define CPUBIND_X(name, word) word,
    static const char *const words[] = {CPUBIND_QOS_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return (size_t)qos < sizeof words / sizeof *words ? words[qos] : "?";
}

/* Whether [from, end) is a word, or begins with it. */
static int is_word(const char *from, const char *end, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(end - from) == n && memcmp(from, word, n) == 0;
}

static int begins(const char *from, const char *end, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(end - from) >= n && memcmp(from, word, n) == 0;
}

/* Copies a uid with "-" between its groups. Returns 0 where [from, end) is none. */
static int take_uid(const char *from, const char *end, char out[CPUBIND_POD_UID_SIZE])
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    const int32_t n = (int32_t)(end - from);
    if (n != 32 && n != (int32_t)sizeof form - 1)
        return 0;
    for (int32_t i = 0; i < n; i++) {
        const int is_mark = n != 32 && form[i] == '-';
        if (is_mark ? from[i] != '-' && from[i] != '_' : !is_hex(from[i]))
            return 0;
        out[i] = is_mark ? '-' : from[i];
    }
    out[n] = '\0';
    return 1;
}

/* The class that stands in [from, end), alone or before "-"; UNKNOWN: none does. */
static cpubind_qos find_qos(const char *from, const char *end)
{
    for (int qos = CPUBIND_QOS_BURSTABLE; qos <= CPUBIND_QOS_BEST_EFFORT; qos++) {
        const char *word = cpubind_qos_word((cpubind_qos)qos);
        const char *after = from + strlen(word);
        if (begins(from, end, word) && (after == end || *after == '-'))
            return (cpubind_qos)qos;
    }
    return CPUBIND_QOS_UNKNOWN;
}

/* Takes a pod from the part [from, end) of a path by the driver cgroupfs; `above` is the part
 * before it. */
static int take_plain(const char *above, const char *from, const char *end,
                      cpubind_cgroup_pod *out)
{
    const char *above_end = from > above ? from - 1 : above;
    out->qos = find_qos(above, above_end);
    if (is_word(above, above_end, "kubepods"))
        out->qos = CPUBIND_QOS_GUARANTEED;
    else if (out->qos == CPUBIND_QOS_UNKNOWN && !is_word(above, above_end, ".."))
        return 0;
    return begins(from, end, "pod") && take_uid(from + 3, end, out->uid);
}

/* The same by the driver systemd, without ".slice" at its end. */
static int take_slice(const char *from, const char *end, cpubind_cgroup_pod *out)
{
    static const char word[] = "kubepods-";
    const char *at = end;
    while (at > from && !(begins(at, end, word) && (at == from || at[-1] == '-')))
        at--;
    if (!begins(at, end, word))
        return 0;
    at += sizeof word - 1;
    out->qos = find_qos(at, end);
    if (out->qos == CPUBIND_QOS_UNKNOWN)
        out->qos = CPUBIND_QOS_GUARANTEED;
    else
        at += strlen(cpubind_qos_word(out->qos)) + 1;
    return at < end && begins(at, end, "pod") && take_uid(at + 3, end, out->uid);
}

/* Takes a container from the part [from, end). */
static void take_container(const char *text, const char *from, const char *end,
                           cpubind_cgroup_pod *out)
{
    static const char *const runtimes[][2] = {{"cri-containerd", "containerd"},
                                              {"crio", "cri-o"},
                                              {"docker", "docker"},
                                              {"libpod", "podman"}};
    const char *id = find_id(from, end);
    out->container = (cpubind_piece){0, 0};
    out->runtime = NULL;
    if (!id)
        return;
    out->container = (cpubind_piece){(int32_t)(id - text), ID_DIGITS};
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes && id > from; i++)
        if (is_word(from, id - 1, runtimes[i][0]))
            out->runtime = runtimes[i][1];
}

/* Takes a pod from the part [from, end), and its container from this part or the next one. */
static int take_pod(const char *text, const char *above, const char *from, const char *end,
                    const char *path_end, cpubind_cgroup_pod *out)
{
    const char *colon = (const char *)memchr(from, ':', (size_t)(end - from));
    const char *stop = colon ? colon : end;
    const char *next = colon ? colon + 1 : end < path_end ? end + 1 : end;
    const char *next_end = (const char *)memchr(next, '/', (size_t)(path_end - next));
    const int is_slice = stop - from > 6 && memcmp(stop - 6, ".slice", 6) == 0;
    cpubind_cgroup_pod pod = {.uid = ""};
    if (is_slice ? !take_slice(from, stop - 6, &pod) : !take_plain(above, from, end, &pod))
        return 0;
    take_container(text, next, next_end ? next_end : path_end, &pod);
    *out = pod;
    return 1;
}

int cpubind_cgroup_find_pod(const char *text, int32_t len, cpubind_cgroup_pod *out)
{
    line l;
    int found = 0;
    *out = (cpubind_cgroup_pod){.uid = ""};
    for (int32_t at = 0; text && !found && next_line(text, len, &at, &l);) {
        const char *above = l.second + 1, *from = l.second + 1;
        while (from < l.end) {
            const char *end = (const char *)memchr(from, '/', (size_t)(l.end - from));
            end = end ? end : l.end;
            found |= take_pod(text, above, from, end, l.end, out);
            above = from;
            from = end + 1;
        }
    }
    return found;
}

/* == Names of logs ========================================================== */

/* Whether [from, end) is a name of Kubernetes. *at is the first byte that is none of it. */
static int is_name(const char *name, int32_t from, int32_t end, int32_t max, int32_t *at)
{
    for (*at = from; *at < end && *at - from < max; ++*at) {
        const char c = name[*at];
        if (c != '-' && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
            (c != '.' || max < CPUBIND_POD_NAME_SIZE - 1))
            return 0;
    }
    return *at == end && end > from;
}

cpubind_text_status cpubind_pod_log_parse(const char *name, int32_t len, cpubind_pod_log *out,
                                          cpubind_text_fault *fault)
{
    static const char suffix[] = ".log";
    const scan_text in = {name, len, fault};
    const int32_t dot = len - (int32_t)sizeof suffix + 1, id = dot - ID_DIGITS;
    int32_t mark[2] = {0, 0}, n_mark = 0, at = 0;
    if (!scan_is_text(name, len) || !out)
        return scan_fail_arg(fault);
    if (id < 1 || memcmp(name + dot, suffix, sizeof suffix - 1) != 0 || name[id - 1] != '-' ||
        !find_id(name + id, name + dot))
        return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, id < 1 ? len : id - 1,
                         "the log of a container ends in \"-\", its id and \".log\"");
    at = id - 1;
    for (int32_t i = 0; i < at && n_mark < 2; i++)
        if (name[i] == '_')
            mark[n_mark++] = i;
    if (n_mark < 2 || !is_name(name, 0, mark[0], CPUBIND_POD_NAME_SIZE - 1, &at) ||
        !is_name(name, mark[0] + 1, mark[1], CPUBIND_POD_LABEL_SIZE - 1, &at) ||
        !is_name(name, mark[1] + 1, id - 1, CPUBIND_POD_LABEL_SIZE - 1, &at))
        return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, at,
                         "a byte does not belong to POD_NAMESPACE_CONTAINER");
    *out = (cpubind_pod_log){{0, mark[0]},
                             {mark[0] + 1, mark[1] - mark[0] - 1},
                             {mark[1] + 1, id - 2 - mark[1]},
                             {id, ID_DIGITS}};
    return CPUBIND_TEXT_OK;
}
