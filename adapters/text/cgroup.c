/* cgroup.c - /proc/<pid>/cgroup: container and pod of a process, and the path of its cpuset
 * SPDX-License-Identifier: MIT
 *
 * Reads text alone: no cgroup is looked up. Rules: cgroups(7), and the names that the runtimes
 * give.
 */
#include "cgroup.h"

#include "cursor.h"

enum { ID_DIGITS = 64 };

/* Steps to the next line with two colons. */
static int next_cgroup(cursor *c, cursor *controllers, cursor *path)
{
    while (cursor_line(c, path)) {
        (void)cursor_cut(path, ':');
        *controllers = cursor_cut(path, ':');
        if (path->at > controllers->end)
            return 1;
    }
    return 0;
}

static int is_hex(char c)
{
    return cursor_is_digit(c) || (c >= 'a' && c <= 'f');
}

/* Whether it has a word, after which it goes on. */
static int seeks(cursor *c, const char *word)
{
    while (cursor_left(c) && !cursor_takes(c, word))
        c->at++;
    return c->at < c->end;
}

/* The id in a part of a path, and what is before it; 0: there is none. */
static int find_id(cursor part, cursor *id, cursor *before)
{
    (void)cursor_drops(&part, ".scope");
    *id = *before = part;
    id->at = part.end;
    while (id->at > part.at && is_hex(part.text[id->at - 1]))
        id->at--;
    before->end = id->at;
    part.end = id->at;
    return cursor_len(id) == ID_DIGITS && !seeks(&part, "-conmon") &&
           (cursor_len(before) == 0 || cursor_drops(before, "-") || cursor_drops(before, ":"));
}

int cpubind_cgroup_container(const char *text, int32_t len, cpubind_piece *out_id)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, NULL, 1), controllers, path, id, before;
    *out_id = (cpubind_piece){0, 0};
    while (out_id->len == 0 && next_cgroup(&c, &controllers, &path))
        while (cursor_left(&path))
            if (find_id(cursor_cut(&path, '/'), &id, &before))
                *out_id = cursor_piece(id);
    return out_id->len > 0;
}

/* Whether one of the parts between marks is a word. */
static int has_part(cursor c, char mark, const char *word)
{
    while (cursor_left(&c))
        if (cursor_is(cursor_cut(&c, mark), word))
            return 1;
    return 0;
}

cpubind_text_status cpubind_cgroup_find(const char *text, int32_t len, const char *controller,
                                        cpubind_cgroup *out)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, NULL, text && out), controllers, path, found;
    int is_version_1 = 0, is_found = 0;
    while (!is_version_1 && next_cgroup(&c, &controllers, &path)) {
        is_version_1 = has_part(controllers, ',', controller);
        if (!is_version_1 && (cursor_len(&controllers) > 0 || is_found))
            continue;
        is_found = 1;
        found = path;
    }
    if (!is_found)
        return cursor_fail(&c, CPUBIND_TEXT_ERR_MISSING, 0, "no line has one");
    if (has_part(found, '/', ".."))
        return CPUBIND_TEXT_ERR_SYNTAX;
    while (cursor_drops(&found, "/"))
        continue;
    *out = (cpubind_cgroup){is_version_1, cursor_piece(found)};
    return of.status;
}

int32_t cpubind_cgroup_quota(const char *text, int32_t len, int32_t number[2], int32_t n)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, NULL, text != NULL), line;
    if (cursor_line(&c, &line))
        while (n < 2 && cursor_left(&line))
            (void)cursor_is_number(cursor_word(&line), INT32_MAX, &number[n++]);
    return n;
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

/* Copies a uid with "-" between its groups. Returns 0 where there is none. */
static int take_uid(cursor c, char out[CPUBIND_POD_UID_SIZE])
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    const int32_t n = cursor_len(&c);
    if (n != 32 && n != (int32_t)sizeof form - 1)
        return 0;
    for (int32_t i = 0; i < n; i++) {
        const char byte = c.text[c.at + i];
        const int is_mark = n != 32 && form[i] == '-';
        if (is_mark ? byte != '-' && byte != '_' : !is_hex(byte))
            return 0;
        out[i] = is_mark ? '-' : byte;
    }
    out[n] = '\0';
    return 1;
}

/* Moves past the class that it starts with, alone or before "-"; UNKNOWN: with none. */
static cpubind_qos take_qos(cursor *c)
{
    for (int qos = CPUBIND_QOS_BURSTABLE; qos <= CPUBIND_QOS_BEST_EFFORT; qos++) {
        cursor rest = *c;
        if (cursor_takes(&rest, cpubind_qos_word((cpubind_qos)qos)) &&
            (rest.at == rest.end || cursor_takes(&rest, "-"))) {
            *c = rest;
            return (cpubind_qos)qos;
        }
    }
    return CPUBIND_QOS_UNKNOWN;
}

/* Takes a pod from a part of a path by the driver cgroupfs; `above` is the part before it. */
static int take_plain(cursor above, cursor part, cpubind_cgroup_pod *out)
{
    out->qos = cursor_is(above, "kubepods") ? CPUBIND_QOS_GUARANTEED : take_qos(&above);
    return (out->qos != CPUBIND_QOS_UNKNOWN || cursor_is(above, "..")) &&
           cursor_takes(&part, "pod") && take_uid(part, out->uid);
}

/* The same by the driver systemd, without ".slice" at its end. */
static int take_slice(cursor part, cpubind_cgroup_pod *out)
{
    static const char word[] = "kubepods-";
    cursor at = part;
    for (at.at = part.end; at.at > part.at; at.at--)
        if (cursor_starts(&at, word) && at.text[at.at - 1] == '-')
            break;
    if (!cursor_takes(&at, word))
        return 0;
    out->qos = take_qos(&at);
    if (out->qos == CPUBIND_QOS_UNKNOWN)
        out->qos = CPUBIND_QOS_GUARANTEED;
    return cursor_takes(&at, "pod") && take_uid(at, out->uid);
}

/* Takes a container from a part. */
static void take_container(cursor part, cpubind_cgroup_pod *out)
{
    static const char *const runtimes[][2] = {{"cri-containerd", "containerd"},
                                              {"crio", "cri-o"},
                                              {"docker", "docker"},
                                              {"libpod", "podman"}};
    cursor id, before;
    if (!find_id(part, &id, &before))
        return;
    out->container = cursor_piece(id);
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        if (cursor_is(before, runtimes[i][0]))
            out->runtime = runtimes[i][1];
}

/* Takes a pod from a part, and its container from this part or the next one, of the rest. */
static int take_pod(cursor above, cursor part, cursor rest, cpubind_cgroup_pod *out)
{
    cpubind_cgroup_pod pod = {.uid = ""};
    cursor after = part, slice = cursor_cut(&after, ':');
    const int has_colon = after.at > slice.end;
    if (cursor_drops(&slice, ".slice") ? !take_slice(slice, &pod)
                                       : !take_plain(above, part, &pod))
        return 0;
    take_container(has_colon ? after : cursor_cut(&rest, '/'), &pod);
    *out = pod;
    return 1;
}

int cpubind_cgroup_find_pod(const char *text, int32_t len, cpubind_cgroup_pod *out)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, NULL, 1), controllers, path, above, part;
    int found = 0;
    *out = (cpubind_cgroup_pod){.uid = ""};
    while (!found && next_cgroup(&c, &controllers, &path)) {
        part = path;
        for (part.end = part.at; cursor_left(&path);) {
            above = part;
            part = cursor_cut(&path, '/');
            found |= take_pod(above, part, path, out);
        }
    }
    return found;
}

/* == Names of logs ========================================================== */

static int is_label(char c)
{
    return c == '-' || cursor_is_digit(c) || (c >= 'a' && c <= 'z');
}

static int is_pod_name(char c)
{
    return c == '.' || is_label(c);
}

/* A name of Kubernetes, up to a mark or the end; moves past both. */
static cpubind_piece take_name(cursor *c, int (*belongs)(char), int32_t size, const char *mark)
{
    const cursor name = cursor_span(c, belongs);
    if (name.at == name.end || cursor_len(&name) >= size ||
        (*mark ? !cursor_takes(c, mark) : cursor_left(c)))
        (void)cursor_bad(c, "a byte does not belong to POD_NAMESPACE_CONTAINER");
    return cursor_piece(name);
}

cpubind_text_status cpubind_pod_log_parse(const char *name, int32_t len, cpubind_pod_log *out,
                                          cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, name, len, fault, out != NULL), id = c, before;
    cpubind_pod_log log;
    if (!cursor_drops(&c, ".log") || !find_id(c, &id, &before) || before.end == id.at ||
        c.text[before.end] != '-')
        (void)cursor_fail(&c, CPUBIND_TEXT_ERR_SYNTAX, id.at,
                          "the log of a container ends in \"-\", its id and \".log\"");
    c.end = before.end;
    log.pod = take_name(&c, is_pod_name, CPUBIND_POD_NAME_SIZE, "_");
    log.space = take_name(&c, is_label, CPUBIND_POD_LABEL_SIZE, "_");
    log.container = take_name(&c, is_label, CPUBIND_POD_LABEL_SIZE, "");
    log.id = cursor_piece(id);
    if (cursor_ok(&c))
        *out = log;
    return of.status;
}
