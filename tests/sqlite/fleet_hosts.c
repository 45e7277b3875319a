/* fleet_hosts.c - makes the captures of a fleet: hosts of known shapes, with known differences
 * SPDX-License-Identifier: MIT
 *
 *   fleet_hosts FOLDER N [DAY]    writes FOLDER/nodeNNNNN.host, N of them, and prints a line
 *                                 "name kind" for each
 *
 * Run from the top folder. Hosts of equal kind have one shape, but for "autonuma", whose shape
 * is that of "npu". DAY is that of the captures: with another one each capture differs.
 * A host has as many files as a real capture: three for each CPU, four for each PCI function.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 4096, POOL = 1 << 20 };

static const char template_path[] = "fixtures/hosts/a2-192cpu-8npu.host";

/* One host that is made. */
static struct {
    struct {
        const char *name, *text;
    } part[MAX_PARTS];
    int n;
    char pool[POOL];
    size_t used;
} h;

static void need(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "fleet_hosts: %s\n", what);
    exit(1);
}

/* Keeps a text, and returns its copy. */
static const char *keep(const char *text)
{
    const size_t size = strlen(text) + 1;
    need(h.used + size <= POOL, "the pool is full");
    memcpy(h.pool + h.used, text, size);
    h.used += size;
    return h.pool + h.used - size;
}

/* Adds a file, or replaces the one of this name. */
static void put(const char *name, const char *text)
{
    int i = 0;
    while (i < h.n && strcmp(h.part[i].name, name) != 0)
        i++;
    need(i < MAX_PARTS, "too many files");
    h.part[i].name = i < h.n ? h.part[i].name : keep(name);
    h.part[i].text = keep(text);
    h.n += i == h.n;
}

#define PUT(value, ...)                                                                        \
    do {                                                                                       \
        char name_[256];                                                                       \
        (void)snprintf(name_, sizeof name_, __VA_ARGS__);                                      \
        put(name_, value);                                                                     \
    } while (0)

static const char *number(int n)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%d\n", n);
    return keep(text);
}

/* == CPUs =================================================================== */

/* Files of each CPU; the second CPU of a core is n / 2 above the first. */
static void put_cpus(int n, int smt, int n_socket)
{
    const int n_core = n / smt;
    for (int cpu = 0; cpu < n; cpu++) {
        char list[32];
        const int core = cpu % n_core;
        if (smt == 2)
            (void)snprintf(list, sizeof list, "%d,%d\n", core, core + n_core);
        else
            (void)snprintf(list, sizeof list, "%d\n", core);
        PUT(list, "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        PUT(number(core / (n_core / n_socket)),
            "sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
        PUT("performance\n", "sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
    }
    put("sys/devices/system/cpu/smt/active", smt == 2 ? "1\n" : "0\n");
    put("sys/devices/system/cpu/smt/control", smt == 2 ? "on\n" : "off\n");
}

/* Bridges, which a capture has for the way to each device. */
static void put_bridges(int n)
{
    for (int i = 0; i < n; i++) {
        PUT("0x060400\n", "sys/bus/pci/devices/0000:%02x:1e.0/class", i + 1);
        PUT("0x8086\n", "sys/bus/pci/devices/0000:%02x:1e.0/vendor", i + 1);
        PUT(number(i + 1), "sys/bus/pci/devices/0000:%02x:1e.0/secondary_bus_number", i + 1);
    }
}

/* == Kinds ================================================================== */

/* The files of the template, in which no byte is written otherwise (host_file.h). */
static void make_npu_host(void)
{
    FILE *file = fopen(template_path, "re");
    char line[65536], name[256] = "", text[65536] = "";
    size_t used = 0;
    need(file != NULL, template_path);
    while (fgets(line, sizeof line, file)) {
        if (*line == ' ') {
            need(used + strlen(line) < sizeof text, "a file of the template is too long");
            used += (size_t)snprintf(text + used, sizeof text - used, "%s", line + 1);
            continue;
        }
        if (*name && strncmp(name, "expect/", 7) != 0)
            put(name, text);
        name[0] = text[0] = '\0';
        used = 0;
        (void)sscanf(line, "file %255s", name);
    }
    need(fclose(file) == 0, template_path);
    put("proc/sys/kernel/osrelease", "6.6.0-72.0.0.oe2403.aarch64\n");
    put("usr/local/Ascend/driver/version.info", "Version=25.2.0\npackage_version=25.2.0\n");
    put("proc/self/cgroup", "0::/\n");
    put("proc/sys/kernel/numa_balancing", "0\n");
    put_cpus(192, 1, 4);
    put_bridges(40);
}

/* A host of two sockets, 128 CPUs and eight GPUs. */
static void make_gpu_host(int nps, int smt, int lost)
{
    const int n_node = 2 * nps, n_cpu = 64 * smt;
    char list[64];
    put("uname", "x86_64\n");
    (void)snprintf(list, sizeof list, "Cpus_allowed_list:\t0-%d\n", n_cpu - 1);
    put("proc/self/status", list);
    (void)snprintf(list, sizeof list, "0-%d\n", n_cpu - 1);
    put("sys/devices/system/cpu/online", list);
    put("proc/sys/kernel/osrelease", "6.8.0-60-generic\n");
    put("proc/sys/kernel/numa_balancing", "0\n");
    put("proc/self/cgroup", "0::/\n");
    put_cpus(n_cpu, smt, 2);
    (void)snprintf(list, sizeof list, "0-%d\n", n_node - 1);
    put("sys/devices/system/node/online", list);
    put("sys/devices/system/node/has_cpu", list);
    for (int i = 0; i < n_node; i++) {
        const int n_core = 64 / n_node;
        char distances[64] = "";
        size_t used = 0;
        for (int k = 0; k < n_node; k++)
            used += (size_t)snprintf(distances + used, sizeof distances - used, "%d%s",
                                     i == k               ? 10
                                     : i / nps == k / nps ? 12
                                                          : 32,
                                     k + 1 == n_node ? "\n" : " ");
        PUT(distances, "sys/devices/system/node/node%d/distance", i);
        if (smt == 2)
            (void)snprintf(list, sizeof list, "%d-%d,%d-%d\n", i * n_core,
                           i * n_core + n_core - 1, 64 + i * n_core,
                           64 + i * n_core + n_core - 1);
        else
            (void)snprintf(list, sizeof list, "%d-%d\n", i * n_core, i * n_core + n_core - 1);
        PUT(list, "sys/devices/system/node/node%d/cpulist", i);
        for (int gpu = i * 8 / n_node; gpu < (i + 1) * 8 / n_node; gpu++) {
            const char *const folder = "sys/bus/pci/devices/0000";
            if (gpu == lost)
                continue;
            PUT("0x030200\n", "%s:%02x:00.0/class", folder, 0x10 * (gpu + 1));
            PUT("0x10de\n", "%s:%02x:00.0/vendor", folder, 0x10 * (gpu + 1));
            PUT("0x2330\n", "%s:%02x:00.0/device", folder, 0x10 * (gpu + 1));
            PUT(number(i), "%s:%02x:00.0/numa_node", folder, 0x10 * (gpu + 1));
            PUT(list, "%s:%02x:00.0/local_cpulist", folder, 0x10 * (gpu + 1));
        }
    }
    put_bridges(40);
}

static void make_npu(void)
{
}

static void make_autonuma(void)
{
    put("proc/sys/kernel/numa_balancing", "1\n");
}

static void make_kernel(void)
{
    put("proc/sys/kernel/osrelease", "5.10.0-136.12.0.86.oe2203.aarch64\n");
}

static void make_driver(void)
{
    put("usr/local/Ascend/driver/version.info", "Version=24.1.rc2\n");
}

static void make_half(void)
{
    put("proc/self/status", "Name:\tcpubind\nCpus_allowed_list:\t0-95\n");
}

static void make_cgroup(void)
{
    put("proc/self/cgroup", "4:cpuset:/\n0::/\n");
}

static void make_broken(void)
{
    put("cmd/npu-smi-info-m.txt", "dcmi module initialize failed. ret is -8005\n");
    put("cmd/npu-smi-info.txt", "dcmi module initialize failed. ret is -8005\n");
    put("cmd/npu-smi-info-t-topo.txt", "dcmi module initialize failed. ret is -8005\n");
    put("cmd/npu-smi-info-m.exit", "1\n");
    put("cmd/npu-smi-info.exit", "1\n");
    put("cmd/npu-smi-info-t-topo.exit", "1\n");
}

static const struct {
    const char *name;
    int n;              /* hosts of a fleet; 0: all others, by turns */
    int nps, smt, lost; /* of a host with GPUs; nps 0: it has NPUs */
    void (*make)(void); /* changes the host with NPUs */
} kinds[] = {
    {"npu", 0, 0, 0, 0, make_npu},
    {"gpu", 0, 4, 2, -1, NULL},
    {"autonuma", 12, 0, 0, 0, make_autonuma},
    {"kernel", 2, 0, 0, 0, make_kernel},
    {"driver", 4, 0, 0, 0, make_driver},
    {"half", 5, 0, 0, 0, make_half},
    {"cgroup", 6, 0, 0, 0, make_cgroup},
    {"broken", 3, 0, 0, 0, make_broken},
    {"nps1", 3, 1, 2, -1, NULL},
    {"lost", 1, 4, 2, 5, NULL},
    {"smt1", 2, 4, 1, -1, NULL},
};

enum { N_KIND = sizeof kinds / sizeof *kinds };

/* The kind of host i of n: the few are spread over all. */
static int kind_of(int i, int n)
{
    int first = 0;
    const int at = (int)((long long)i * 7919 % n);
    for (int k = 0; k < N_KIND; first += kinds[k].n, k++)
        if (kinds[k].n > 0 && at >= first && at < first + kinds[k].n)
            return k;
    return i % 10 < 6 ? 0 : 1;
}

/* "/" is below every other byte. */
static int is_above(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (*a == '/' ? 1 : (unsigned char)*a * 2) > (*b == '/' ? 1 : (unsigned char)*b * 2);
}

static void write_host(const char *folder, const char *name)
{
    char path[4096];
    FILE *file;
    for (int i = 1; i < h.n; i++) /* by insertion: most are in order */
        for (int k = i; k > 0 && is_above(h.part[k - 1].name, h.part[k].name); k--) {
            const char *const its_name = h.part[k].name, *const its_text = h.part[k].text;
            h.part[k] = h.part[k - 1];
            h.part[k - 1].name = its_name;
            h.part[k - 1].text = its_text;
        }
    (void)snprintf(path, sizeof path, "%s/%s.host", folder, name);
    file = fopen(path, "we");
    need(file && fputs("cpubind host 1\n", file) >= 0, path);
    for (int i = 0; i < h.n; i++) {
        (void)fprintf(file, "file %s\n", h.part[i].name);
        for (const char *at = h.part[i].text; *at; at += strcspn(at, "\n") + 1)
            (void)fprintf(file, " %.*s\n", (int)strcspn(at, "\n"), at);
    }
    need(fputs("end\n", file) >= 0 && fclose(file) == 0, path);
}

/* What each host has for itself. */
static void put_own(const char *name, int i, const char *day)
{
    char text[512];
    (void)snprintf(text, sizeof text,
                   "name: %s\nproduct: a made host\norigin: synthetic\nnpu-smi: unknown\n"
                   "notes: one of a made fleet\n",
                   name);
    put("host.txt", text);
    (void)snprintf(text, sizeof text, "2026-11-%sT%02d:%02d:%02dZ\n", day, i / 3600 % 24,
                   i / 60 % 60, i % 60);
    put("date", text);
}

/* The files of each kind are made once; only those of a host are made for it. */
int main(int argc, char **argv)
{
    const int n = argc > 2 ? atoi(argv[2]) : 0;
    const char *const day = argc > 3 ? argv[3] : "01";
    need(n >= 100 && n <= 99999, "usage: fleet_hosts FOLDER N [DAY], N from 100 to 99999");
    for (int kind = 0; kind < N_KIND; kind++) {
        memset(&h, 0, sizeof h);
        if (kinds[kind].nps > 0) {
            make_gpu_host(kinds[kind].nps, kinds[kind].smt, kinds[kind].lost);
        } else {
            make_npu_host();
            kinds[kind].make();
        }
        put_own("", 0, day); /* keeps their names; each host replaces their texts */
        const size_t used = h.used;
        for (int i = 0; i < n; i++) {
            char name[32];
            if (kind_of(i, n) != kind)
                continue;
            (void)snprintf(name, sizeof name, "node%05d", i);
            put_own(name, i, day);
            write_host(argv[1], name);
            printf("%s %s\n", name, kinds[kind].name);
            h.used = used;
        }
    }
    return 0;
}
