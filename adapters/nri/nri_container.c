/* nri_container.c - what a container of a runtime is given: devices, CPUs, memory nodes
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "nri_container.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../model/vendor.h"
#include "../text/cgroup.h"

/* == Devices ================================================================ */

/* The text that is written. */
typedef struct writing {
    char *out;
    size_t n;
    const char *what; /* why it cannot be written; NULL: it can */
} writing;

static int is_of_name(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '-';
}

/* Adds "vendor=name" or "major:minor". */
static void add(writing *w, const char *left, char between, const char *right, size_t n_right)
{
    const size_t n = strlen(left) + 1 + n_right, comma = w->n > 0;
    for (size_t i = 0; i < n_right; i++)
        if (!is_of_name(right[i]))
            w->what = "the name of a device has a byte that none may have";
    if (w->n + comma + n >= CPUBIND_NRI_LIST_SIZE)
        w->what = "it has too many devices";
    if (!w->what)
        w->n += (size_t)snprintf(w->out + w->n, CPUBIND_NRI_LIST_SIZE - w->n, "%s%s%c%.*s",
                                 comma ? "," : "", left, between, (int)n_right, right);
}

static int is_word(const char *text, size_t n, const char *word)
{
    return n == strlen(word) && memcmp(text, word, n) == 0;
}

/* Adds the names of a variable's list; "all", "none" and "void" name none. */
static void add_names(writing *w, const char *vendor, const char *list)
{
    while (*list) {
        const size_t n = strcspn(list, ",");
        size_t from = 0, end = n;
        while (from < end && list[from] == ' ')
            from++;
        while (end > from && list[end - 1] == ' ')
            end--;
        if (end > from && !is_word(list + from, end - from, "all") &&
            !is_word(list + from, end - from, "none") &&
            !is_word(list + from, end - from, "void"))
            add(w, vendor, '=', list + from, end - from);
        list += n + (list[n] == ',');
    }
}

/* The value of a variable; the last one counts, as for getenv of a runtime's own list. */
static const char *value_of(const Nri__Container *c, const char *name)
{
    const size_t n = strlen(name);
    const char *value = NULL;
    for (size_t i = 0; i < c->n_env; i++)
        if (strncmp(c->env[i], name, n) == 0 && c->env[i][n] == '=')
            value = c->env[i] + n + 1;
    return value;
}

int cpubind_nri_has_variable(const Nri__Container *container, const char *name)
{
    return value_of(container, name) != NULL;
}

static int is_character(const Nri__Device *d)
{
    return strcmp(d->type, "c") == 0 && d->major >= 0 && d->minor >= 0;
}

/* /dev/mem, /dev/kmsg */
static int is_privileged(const Nri__LinuxContainer *linux)
{
    for (size_t i = 0; i < linux->n_devices; i++) {
        const Nri__Device *d = linux->devices[i];
        if (is_character(d) && d->major == 1 && (d->minor == 1 || d->minor == 11))
            return 1;
    }
    return 0;
}

int cpubind_nri_devices(const Nri__Container *container, char out[CPUBIND_NRI_LIST_SIZE],
                        const char **what)
{
    const Nri__LinuxContainer *linux = container->linux;
    writing w = {out, 0, NULL};
    *out = '\0';
    for (int k = 0; k < CPUBIND_VENDOR_COUNT; k++) {
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)k);
        const char *list = v->container ? value_of(container, v->container) : NULL;
        if (list)
            add_names(&w, v->word, list);
    }
    if (w.n == 0 && linux && !is_privileged(linux))
        for (size_t i = 0; i < linux->n_devices; i++) {
            char major[24], minor[24];
            if (!is_character(linux->devices[i]))
                continue;
            (void)snprintf(major, sizeof major, "%" PRId64, linux->devices[i]->major);
            (void)snprintf(minor, sizeof minor, "%" PRId64, linux->devices[i]->minor);
            add(&w, major, ':', minor, strlen(minor));
        }
    *what = w.what;
    return !w.what;
}

/* == Cgroups ================================================================ */

/* Adds the folders of a slice of systemd: "a-b.slice" is in "a.slice". */
static int add_slice(char *out, const char *slice, size_t n_slice)
{
    static const char end[] = ".slice";
    const size_t n_end = sizeof end - 1, n_name = n_slice - n_end;
    size_t n = 0;
    if (n_slice <= n_end || memcmp(slice + n_name, end, n_end) != 0)
        return 0;
    for (size_t i = 0; i <= n_name; i++) {
        if (i < n_name && slice[i] != '-')
            continue;
        if (n + i + n_end + 2 > CPUBIND_NRI_PATH_SIZE)
            return 0;
        n +=
            (size_t)snprintf(out + n, CPUBIND_NRI_PATH_SIZE - n, "/%.*s%s", (int)i, slice, end);
    }
    return 1;
}

/* Whether a part of a path is "..". */
static int leads_out(const char *path)
{
    for (const char *at = path; (at = strstr(at, "..")) != NULL; at += 2)
        if ((at == path || at[-1] == '/') && (at[2] == '/' || !at[2]))
            return 1;
    return 0;
}

int cpubind_nri_cgroup(const Nri__Pod *pod, const Nri__Container *container,
                       char out[CPUBIND_NRI_PATH_SIZE])
{
    const char *path = container->linux ? container->linux->cgroups_path : "";
    const char *prefix, *name;
    size_t n;
    if (!*path && pod && pod->linux)
        path = pod->linux->cgroup_parent;
    if (leads_out(path))
        return 0;
    prefix = strchr(path, ':');
    name = prefix ? strchr(prefix + 1, ':') : NULL;
    n = prefix ? (size_t)(prefix - path) : strlen(path);
    if (!strchr(path, '/') && add_slice(out, path, n)) {
        n = strlen(out);
        if (name && n < CPUBIND_NRI_PATH_SIZE)
            n += (size_t)snprintf(out + n, CPUBIND_NRI_PATH_SIZE - n, "/%.*s-%s.scope",
                                  (int)(name - prefix - 1), prefix + 1, name + 1);
        return n < CPUBIND_NRI_PATH_SIZE;
    }
    return snprintf(out, CPUBIND_NRI_PATH_SIZE, "%s%s", *path == '/' ? "" : "/", path) <
           CPUBIND_NRI_PATH_SIZE;
}

/* Reads a text without its line feed. Returns 0, or an errno. */
static int read_text(const char *path, char out[CPUBIND_NRI_LIST_SIZE])
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;
    int error;
    *out = '\0';
    if (fd < 0)
        return errno;
    do
        n = read(fd, out, CPUBIND_NRI_LIST_SIZE);
    while (n < 0 && errno == EINTR);
    error = n < 0 ? errno : n == CPUBIND_NRI_LIST_SIZE ? EFBIG : 0;
    (void)close(fd);
    out[error ? 0 : n] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return error;
}

int cpubind_nri_read_effective(const char *folder, const char *cgroup, const char *word,
                               char out[CPUBIND_NRI_LIST_SIZE])
{
    char path[CPUBIND_NRI_PATH_SIZE * 2 + 64], at[CPUBIND_NRI_PATH_SIZE];
    char *end;
    (void)snprintf(at, sizeof at, "%s", cgroup);
    do {
        for (int is_v1 = 0; is_v1 < 2; is_v1++) {
            int error;
            if (snprintf(path, sizeof path, "%s%s/cpuset.%s%s%s", folder, at,
                         is_v1 ? "effective_" : "", word,
                         is_v1 ? "" : ".effective") >= (int)sizeof path)
                return ENAMETOOLONG;
            error = read_text(path, out);
            if (!error && out[strspn(out, "0123456789,-")])
                error = EPROTO;
            if (error ? error != ENOENT && error != ENOTDIR : *out)
                return error;
        }
        end = strrchr(at, '/');
        if (end)
            *end = '\0';
    } while (end);
    *out = '\0';
    return 0;
}

/* The threads of n that a quota has time for. */
static int bound(int n, int64_t quota, int64_t period)
{
    if (quota <= 0 || period <= 0 || quota / period >= n)
        return n;
    return quota < period ? 1 : (int)(quota / period);
}

int cpubind_nri_threads(const char *folder, const char *cgroup, const Nri__Cpu *own, int n)
{
    char path[CPUBIND_NRI_PATH_SIZE * 2 + 64], at[CPUBIND_NRI_PATH_SIZE];
    char text[CPUBIND_NRI_LIST_SIZE], *end;
    if (own && own->quota)
        n = bound(n, own->quota->value, own->period ? own->period->value : 100000);
    (void)snprintf(at, sizeof at, "%s", cgroup);
    do {
        if (snprintf(path, sizeof path, "%s%s/cpu.max", folder, at) < (int)sizeof path &&
            read_text(path, text) == 0) {
            int32_t number[2] = {0, 0};
            (void)cpubind_cgroup_quota(text, (int32_t)strlen(text), number, 0);
            n = bound(n, number[0], number[1]);
        }
        end = strrchr(at, '/');
        if (end)
            *end = '\0';
    } while (end);
    return n;
}
