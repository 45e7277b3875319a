/* kernel_shim.c - lets files of a made host be written as those of the kernel are
 * SPDX-License-Identifier: MIT
 *
 *   LD_PRELOAD=kernel_shim cpubind ...
 *
 * The files are below /proc and /sys, in mounts of a scene's own; the command is the real one.
 *   - A write replaces what was in a file.
 *   - Below /sys/fs/cgroup it has the meaning that cgroups of version 2 give it, and a folder
 *     that is made there has the files of a cgroup, as far as cpusets need them. The cgroup of
 *     a process is the file over /proc/PID/cgroup; `leaves` of a cgroup is what it leaves of
 *     the CPUs of any below it.
 *   - move_pages(2) goes by the file over /proc/PID/numa_maps: of each mapping, the first pages
 *     are on the node with the highest number; a move takes of the MemFree of its node. The
 *     words of a mapping say what becomes of a move: mapmax=N (others have its pages, too),
 *     pinned, hidden (it is not found), full (its node has no page left); busy=N pages are
 *     moved the second time alone.
 *
 * Lines of the file CPUBIND_REFUSED:
 *     END ERRNO COMMAND     a file whose path ends so cannot be written, `mkdir`: no cgroup can
 *                           be made, `move_pages`, `move_all`: no page can be moved; 0: it can.
 *                           The command, if any, is run before that, once
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROOM (PATH_MAX + 300)
#define TREE "/sys/fs/cgroup"
#define REAL(name)                                                                             \
    ((union {                                                                                  \
         void *found;                                                                          \
         __typeof__(&(name)) call;                                                             \
     }){dlsym(RTLD_NEXT, #name)}                                                               \
         .call)

/* == Files ================================================================== */

static int ends_in(const char *path, const char *end)
{
    const size_t n = strlen(path), k = strlen(end);
    return n >= k && strcmp(path + n - k, end) == 0;
}

/* The errno with which a path is refused, or 0. */
static int refusal(const char *path)
{
    static int n_run;
    const char *name = getenv("CPUBIND_REFUSED");
    FILE *file = name ? fopen(name, "re") : NULL;
    char line[1024], end[256], shell[1100];
    int error = 0, n = 0, found = 0;
    while (file && !found && fgets(line, sizeof line, file))
        found = sscanf(line, "%255s %d%n", end, &error, &n) == 2 && ends_in(path, end);
    if (file)
        fclose(file);
    if (found && line[n] == ' ' && n_run++ == 0) {
        snprintf(shell, sizeof shell, "unset LD_PRELOAD; %s", line + n);
        if (system(shell) != 0)
            abort();
    }
    return found ? error : 0;
}

/* The path of a descriptor; NULL: it is none of the kernel's here. */
static const char *path_of(int fd, char path[ROOM])
{
    char link[64];
    struct stat st;
    ssize_t n;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, PATH_MAX);
    if (n < 0 || fstat(fd, &st) < 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
        return NULL;
    path[n] = '\0';
    return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0 ? path : NULL;
}

static void put(const char *folder, const char *file, const char *text)
{
    char path[ROOM];
    FILE *out;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    out = fopen(path, "we");
    if (!out || fputs(text, out) < 0 || fclose(out) != 0)
        abort();
}

/* The content of a file, "" without one. */
static const char *get(const char *folder, const char *file, char text[512])
{
    char path[ROOM];
    FILE *in;
    size_t n = 0;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    in = fopen(path, "re");
    if (in) {
        n = fread(text, 1, 511, in);
        fclose(in);
    }
    text[n] = '\0';
    return text;
}

/* == Cgroups ================================================================ */

/* The controller appears in a cgroup, or goes. */
static void set_controller(const char *group, int is_there)
{
    char above[512];
    put(group, "cgroup.controllers", is_there ? "cpuset pids\n" : "pids\n");
    if (is_there && !*get(group, "cpuset.cpus", above)) {
        char parent[ROOM];
        snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(group, '/') - group), group);
        put(group, "cpuset.cpus", "\n");
        put(group, "cpuset.cpus.effective", get(parent, "cpuset.cpus.effective", above));
    }
}

/* Calls with each cgroup below one, until a call returns 1. */
static int each_below(const char *group, int (*visit)(const char *below, int value), int value)
{
    char command[ROOM], path[ROOM];
    FILE *list;
    int found = 0;
    snprintf(command, sizeof command,
             "unset LD_PRELOAD; find '%s' -mindepth 1 -maxdepth 1 -type d", group);
    list = popen(command, "re");
    while (list && !found && fgets(path, sizeof path, list)) {
        path[strcspn(path, "\n")] = '\0';
        found = visit(path, value);
    }
    if (list)
        pclose(list);
    return found;
}

static int enable(const char *below, int is_on)
{
    set_controller(below, is_on);
    return 0;
}

static int has_enabled(const char *below, int unused)
{
    char text[512];
    (void)unused;
    return strstr(get(below, "cgroup.subtree_control", text), "cpuset") != NULL;
}

/* "+cpuset" or "-cpuset" for the cgroups below one. */
static int control(const char *group, const char *text)
{
    char is[512];
    if (!strstr(get(group, "cgroup.controllers", is), "cpuset"))
        return ENOENT;
    if (*text == '-' && each_below(group, has_enabled, 0))
        return EBUSY;
    put(group, "cgroup.subtree_control", *text == '+' ? "cpuset\n" : "\n");
    (void)each_below(group, enable, *text == '+');
    return 0;
}

/* Moves a process to a cgroup. */
static int migrate(const char *group, const char *pid)
{
    char folder[64], text[512], old[ROOM], line[ROOM];
    snprintf(folder, sizeof folder, "/proc/%d", atoi(pid));
    get(folder, "cgroup", text);
    text[strcspn(text, "\n")] = '\0';
    if (strncmp(text, "0::", 3) != 0)
        return ESRCH;
    snprintf(old, sizeof old, TREE "%s", strcmp(text, "0::/") == 0 ? "" : text + 3);
    put(old, "cgroup.threads", "");
    put(group, "cgroup.threads", pid);
    snprintf(line, sizeof line, "0::%s\n",
             group[sizeof TREE - 1] ? group + sizeof TREE - 1 : "/");
    put(folder, "cgroup", line);
    return 0;
}

/* Returns 0 or an errno. */
static int write_group(const char *path, const char *text)
{
    const char *name = strrchr(path, '/') + 1;
    char group[ROOM], above[ROOM], line[512], leaves[512];
    snprintf(group, sizeof group, "%.*s", (int)(name - 1 - path), path);
    if (strcmp(name, "cgroup.subtree_control") == 0)
        return control(group, text);
    if (strcmp(name, "cgroup.procs") == 0)
        return migrate(group, text);
    snprintf(line, sizeof line, "%.*s\n", (int)strcspn(text, "\n"), text);
    put(group, name, line);
    snprintf(above, sizeof above, "%.*s", (int)(strrchr(group, '/') - group), group);
    if (strcmp(name, "cpuset.cpus") == 0)
        put(group, "cpuset.cpus.effective", *get(above, "leaves", leaves) ? leaves : line);
    return 0;
}

int mkdirat(int dir, const char *name, mode_t mode)
{
    static const char *const files[] = {"cgroup.subtree_control", "cgroup.type", "cgroup.procs",
                                        "cgroup.threads"};
    char path[ROOM], group[2 * ROOM], text[512];
    const int is_group = path_of(dir, path) && strncmp(path, TREE, sizeof TREE - 1) == 0;
    const int error = is_group ? refusal("mkdir") : 0;
    if (error) {
        errno = error;
        return -1;
    }
    if (REAL(mkdirat)(dir, name, mode) < 0)
        return -1;
    snprintf(group, sizeof group, "%s/%s", path, name);
    for (size_t i = 0; is_group && i < sizeof files / sizeof *files; i++)
        put(group, files[i], "");
    if (is_group)
        set_controller(group,
                       strstr(get(path, "cgroup.subtree_control", text), "cpuset") != NULL);
    return 0;
}

int unlinkat(int dir, const char *name, int flags)
{
    char path[ROOM], group[2 * ROOM], command[3 * ROOM], text[512];
    if (!(flags & AT_REMOVEDIR) || !path_of(dir, path) ||
        strncmp(path, TREE, sizeof TREE - 1) != 0)
        return REAL(unlinkat)(dir, name, flags);
    snprintf(group, sizeof group, "%s/%s", path, name);
    if (*get(group, "cgroup.threads", text)) {
        errno = EBUSY;
        return -1;
    }
    snprintf(command, sizeof command, "unset LD_PRELOAD; rm -f '%s'/c*.*", group);
    return system(command) < 0 ? -1 : REAL(unlinkat)(dir, name, flags);
}

ssize_t write(int fd, const void *data, size_t len)
{
    char path[ROOM], text[4096];
    int error;
    if (!path_of(fd, path))
        return REAL(write)(fd, data, len);
    error = refusal(path);
    snprintf(text, sizeof text, "%.*s", (int)len, (const char *)data);
    if (!error && strncmp(path, TREE, sizeof TREE - 1) == 0)
        error = write_group(path, text);
    else if (!error && (pwrite(fd, data, len, 0) < 0 || ftruncate(fd, (off_t)len) < 0))
        return -1;
    errno = error;
    return error ? -1 : (ssize_t)len;
}

/* == Memory ================================================================= */

#define NODES 16

/* A mapping of a process: its line of numa_maps, and how many pages are on each node. */
typedef struct mapping {
    uintptr_t start;
    long pages[NODES], n, busy;
    char words[200];
} mapping;

typedef struct memory {
    mapping map[64];
    int n;
} memory;

static void read_memory(pid_t pid, memory *m)
{
    char folder[64], path[ROOM], line[512], *word, *rest;
    FILE *file;
    snprintf(folder, sizeof folder, "/proc/%d", (int)pid);
    snprintf(path, sizeof path, "%s/numa_maps", folder);
    file = fopen(path, "re");
    for (m->n = 0; file && m->n < 64 && fgets(line, sizeof line, file); m->n++) {
        mapping *map = &m->map[m->n];
        memset(map, 0, sizeof *map);
        map->start = strtoul(strtok_r(line, " \n", &rest), NULL, 16);
        while ((word = strtok_r(NULL, " \n", &rest)) != NULL) {
            int node;
            long pages;
            if (sscanf(word, "N%d=%ld", &node, &pages) == 2)
                map->n += map->pages[node % NODES] = pages;
            else if (sscanf(word, "busy=%ld", &map->busy) != 1)
                strcat(strcat(map->words, " "), word);
        }
    }
    if (file)
        fclose(file);
}

static void write_memory(pid_t pid, const memory *m)
{
    char folder[64], text[16384] = "";
    size_t at = 0;
    snprintf(folder, sizeof folder, "/proc/%d", (int)pid);
    for (int i = 0; i < m->n; i++) {
        const mapping *map = &m->map[i];
        at += (size_t)snprintf(text + at, sizeof text - at, "%lx%s", (unsigned long)map->start,
                               map->words);
        for (int node = 0; node < NODES; node++)
            if (map->pages[node])
                at += (size_t)snprintf(text + at, sizeof text - at, " N%d=%ld", node,
                                       map->pages[node]);
        if (map->busy)
            at += (size_t)snprintf(text + at, sizeof text - at, " busy=%ld", map->busy);
        text[at++] = '\n';
    }
    put(folder, "numa_maps", text);
}

static int node_of(const mapping *map, uintptr_t page)
{
    long place = (long)((page - map->start) / (strstr(map->words, "kB=2048") ? 1 << 21 : 4096));
    for (int node = NODES - 1; node >= 0; place -= map->pages[node--])
        if (place < map->pages[node])
            return node;
    return -ENOENT;
}

/* Moves a page; its status. */
static int move_page(mapping *map, uintptr_t page, int to, int flags)
{
    const int from = node_of(map, page);
    if (from < 0 || from == to)
        return from;
    if (strstr(map->words, "mapmax") && flags == 2)
        return -EACCES;
    if (strstr(map->words, "pinned"))
        return -EBUSY;
    if (strstr(map->words, "full"))
        return -ENOMEM;
    if (map->busy > 0) {
        map->busy--;
        return -EBUSY;
    }
    map->pages[from]--;
    map->pages[to]++;
    return to;
}

/* A page that has come takes room of its node. */
static void take_room(int node, long pages)
{
    char folder[64], text[512], rest[512], *free_kb;
    long kb;
    int n;
    snprintf(folder, sizeof folder, "/sys/devices/system/node/node%d", node);
    free_kb = strstr(get(folder, "meminfo", text), "MemFree:");
    if (pages == 0 || !free_kb || sscanf(free_kb, "MemFree: %ld%n", &kb, &n) != 1)
        return;
    snprintf(rest, sizeof rest, "%s", free_kb + n);
    snprintf(free_kb, sizeof text - (size_t)(free_kb - text), "MemFree: %ld%s", kb - 4 * pages,
             rest);
    put(folder, "meminfo", text);
}

static long move_pages(pid_t pid, unsigned long n, void **page, const int *node, int *status,
                       int flags)
{
    static memory m;
    const int error = !node ? 0 : refusal(flags == 4 ? "move_all" : "move_pages");
    long n_come = 0;
    if (error) {
        errno = error;
        return -1;
    }
    read_memory(pid, &m);
    for (unsigned long i = 0; i < n; i++) {
        mapping *map = NULL;
        for (int k = 0; k < m.n; k++)
            if (m.map[k].start <= (uintptr_t)page[i])
                map = &m.map[k];
        const int was = node && map ? node_of(map, (uintptr_t)page[i]) : -1;
        status[i] = !map || strstr(map->words, "hidden") ? -ENOENT
                    : node ? move_page(map, (uintptr_t)page[i], node[i], flags)
                           : node_of(map, (uintptr_t)page[i]);
        n_come += node && status[i] == node[i] && was != node[i];
    }
    if (node) {
        write_memory(pid, &m);
        take_room(node[0], n_come);
    }
    return 0;
}

long syscall(long number, ...)
{
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_move_pages)
        return move_pages((pid_t)a[0], (unsigned long)a[1], (void **)a[2], (const int *)a[3],
                          (int *)a[4], (int)a[5]);
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
