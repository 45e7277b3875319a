/* vm_disturb.c - disturbs bound workers at random moments, and measures what is on wrong CPUs
 * SPDX-License-Identifier: MIT
 *
 *   disturb MOMENTS PERIOD SEED <WORKERS   PERIOD of the watches in milliseconds
 *
 * Each line of WORKERS is "pid group address main acl release sq cq": a process, its cgroup,
 * the PCI address of its NPU, CPUs of its threads, and CPUs of its interrupts. Each moment
 * takes a CPU offline or back, writes a cpuset, lets a thread change its own mask, or binds the
 * drivers of all NPUs in another order. In between it looks at every thread and interrupt, from
 * the kernel alone. A thread belongs to those of its CPUs that are online and in its cpuset;
 * one without any, to those of main. Half of the moments come after a random part of two
 * periods, whatever is elsewhere then; the others as soon as all is where it belongs. Exits
 * with 1 if anything stays elsewhere, at the end too, when all is as at the beginning: for a
 * minute, since the machine may be slow. The clock stands while it does not run. Prints how
 * long something was elsewhere at most. Must not write a mask.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LATE         60000 /* milliseconds */
#define MAX_WORKER   8
#define MAX_ROW      1024
#define MAX_IRQ      64
#define FIRST_CQ     2
#define END_CQ       18
#define MOST_STEP    100 /* milliseconds that the clock advances between two looks */
#define MOST_OFFLINE 4
#define PRINTED      20

typedef struct {
    int pid;
    char group[64];
    char address[32];
    uint64_t main, acl, release, sq, cq;
} worker;

/* A thread or an interrupt, and how long it has been elsewhere. */
typedef struct {
    int id;
    char kind;
    uint64_t want;
    long wrong;
    int is_printed;
} row;

static worker workers[MAX_WORKER];
static int n_worker;
static row rows[MAX_ROW];
static int n_row;
static uint64_t online, everywhere, offline;
static long longest, step, n_look;
static int n_late, n_wrong;
static unsigned random_state, period;

static unsigned below(unsigned n)
{
    random_state = random_state * 1103515245 + 12345;
    return (random_state >> 16) % n;
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0)
        perror(path);
    if (f && fclose(f) != 0)
        printf("# \"%s\" cannot be written to %s\n", text, path);
}

static int read_text(const char *path, char *text, int size)
{
    FILE *f = fopen(path, "r");
    int is_read = f && fgets(text, size, f);
    if (f)
        fclose(f);
    if (is_read)
        text[strcspn(text, "\n")] = '\0';
    return is_read;
}

static uint64_t parse_list(const char *text)
{
    uint64_t set = 0;
    while (*text >= '0' && *text <= '9') {
        char *end;
        unsigned long first = strtoul(text, &end, 10);
        unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        for (; first <= last && first < 64; first++)
            set |= UINT64_C(1) << first;
        text = *end == ',' ? end + 1 : end;
    }
    return set;
}

static void print_list(char *text, uint64_t set)
{
    char *at = text;
    *at = '\0';
    for (int i = 0; i < 64; i++)
        if (set >> i & 1)
            at += sprintf(at, "%s%d", at > text ? "," : "", i);
}

static uint64_t read_list(const char *path)
{
    char text[256];
    return read_text(path, text, sizeof text) ? parse_list(text) : 0;
}

/* -- What is elsewhere -------------------------------------------------------------------- */

static row *find_row(char kind, int id, uint64_t want)
{
    int i = 0;
    while (i < n_row && (rows[i].id != id || rows[i].kind != kind))
        i++;
    if (i == MAX_ROW) {
        fputs("too many threads\n", stderr);
        exit(2);
    }
    if (i == n_row)
        rows[n_row++] = (row){.id = id, .kind = kind, .want = want};
    if (rows[i].want != want)
        rows[i] = (row){.id = id, .kind = kind, .want = want};
    return &rows[i];
}

static void judge(char kind, int id, const char *name, uint64_t want, uint64_t has)
{
    row *r = find_row(kind, id, want);
    char is[256], should[256];
    if (has == want) {
        r->wrong = 0;
        r->is_printed = 0;
        return;
    }
    n_wrong++;
    r->wrong += step;
    longest = r->wrong > longest ? r->wrong : longest;
    if (r->wrong <= LATE || r->is_printed)
        return;
    r->is_printed = 1;
    print_list(is, has);
    print_list(should, want);
    if (n_late++ < PRINTED)
        printf("# %s %d (%s) is on %s, should be on %s\n", kind == 't' ? "thread" : "interrupt",
               id, name, is, should);
}

static int is_on_release(const char *name)
{
    return !strcmp(name, "release_thread") || !strncmp(name, "RT_RECYCLE", 10) ||
           !strncmp(name, "hccl_watchdog", 13);
}

static void look_at_thread(const worker *w, uint64_t allowed, int thread)
{
    char path[96], name[32];
    cpu_set_t mask;
    uint64_t has = 0, want;
    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", w->pid, thread);
    CPU_ZERO(&mask);
    if (!read_text(path, name, sizeof name) ||
        sched_getaffinity(thread, sizeof mask, &mask) != 0)
        return;
    for (int i = 0; i < 64; i++)
        has |= (uint64_t)(CPU_ISSET((size_t)i, &mask) != 0) << i;
    want = !strcmp(name, "acl_thread") ? w->acl : is_on_release(name) ? w->release : w->main;
    want &= allowed;
    if (!want)
        want = w->main & allowed;
    if (want)
        judge('t', thread, name, want, has);
}

static void look_at_threads(const worker *w)
{
    char path[96];
    uint64_t allowed;
    struct dirent *entry;
    snprintf(path, sizeof path, "%s/cpuset.cpus.effective", w->group);
    allowed = online & read_list(path);
    snprintf(path, sizeof path, "/proc/%d/task", w->pid);
    DIR *tasks = opendir(path);
    while (tasks && (entry = readdir(tasks)))
        if (atoi(entry->d_name) > 0)
            look_at_thread(w, allowed, atoi(entry->d_name));
    if (tasks)
        closedir(tasks);
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* The interrupts of an NPU in their order: mailbox, SQ, CQs, two others. */
static void look_at_irqs(const worker *w)
{
    char path[96];
    int irqs[MAX_IRQ], n = 0;
    struct dirent *entry;
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/msi_irqs", w->address);
    DIR *all = opendir(path);
    while (all && n < MAX_IRQ && (entry = readdir(all)))
        if (atoi(entry->d_name) > 0)
            irqs[n++] = atoi(entry->d_name);
    if (all)
        closedir(all);
    qsort(irqs, (size_t)n, sizeof *irqs, by_number);
    for (int i = 1; i < END_CQ && i < n; i++) {
        uint64_t want = (i < FIRST_CQ ? w->sq : w->cq) & online;
        snprintf(path, sizeof path, "/proc/irq/%d/smp_affinity_list", irqs[i]);
        if (want)
            judge('i', irqs[i], w->address, want, read_list(path));
    }
}

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Interrupts are looked at in each fourth round, since they cost more, or in each `whole`
 * one. */
static void look(int whole)
{
    static long last;
    long time = now();
    step = time - last < MOST_STEP ? time - last : MOST_STEP;
    last = time;
    n_wrong = 0;
    online = read_list("/sys/devices/system/cpu/online");
    for (int i = 0; i < n_worker; i++)
        look_at_threads(&workers[i]);
    step *= whole ? 1 : 4;
    for (int i = 0; (whole || n_look % 4 == 0) && i < n_worker; i++)
        look_at_irqs(&workers[i]);
    n_look++;
}

static void look_for(long milliseconds)
{
    for (long end = now() + milliseconds; now() < end; usleep(20000))
        look(0);
}

/* Looks until all is where it belongs, or something is late. */
static void look_until_right(void)
{
    for (look(1); n_wrong > 0 && n_late == 0; look(1))
        usleep(20000);
}

/* -- Disturbances ------------------------------------------------------------------------- */

static void set_online(unsigned cpu, int is_online)
{
    char path[64];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/online", cpu);
    write_text(path, is_online ? "1" : "0");
    if (is_online)
        offline &= ~(UINT64_C(1) << cpu);
    else
        offline |= UINT64_C(1) << cpu;
}

static void change_cpu(void)
{
    unsigned cpu = 1 + below((unsigned)__builtin_popcountll(everywhere) - 1);
    if (offline >> cpu & 1)
        set_online(cpu, 1);
    else if (__builtin_popcountll(offline) < MOST_OFFLINE)
        set_online(cpu, 0);
    else
        set_online((unsigned)__builtin_ctzll(offline), 1);
}

static void write_cpuset(const worker *w, uint64_t cpus)
{
    char path[96], list[256];
    snprintf(path, sizeof path, "%s/cpuset.cpus", w->group);
    print_list(list, cpus);
    write_text(path, list);
}

static void change_cpuset(void)
{
    const worker *w = &workers[below((unsigned)n_worker)];
    uint64_t half = w->main & (w->main - 1);
    uint64_t narrower[] = {
        everywhere,         everywhere,          everywhere & ~w->acl, w->main | w->acl,
        everywhere & ~half, everywhere & ~w->cq, w->main | w->release, everywhere & ~w->release,
    };
    write_cpuset(w, narrower[below(sizeof narrower / sizeof *narrower)]);
}

static void drift(void)
{
    kill(workers[below((unsigned)n_worker)].pid, SIGUSR2);
}

static void bind_driver(const char *file, int which)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/bus/pci/drivers/devdrv_device_driver/%s", file);
    write_text(path, workers[which].address);
}

/* Unbinds the drivers of all workers, and binds them from another one on. */
static void change_drivers(void)
{
    int first = (int)below((unsigned)n_worker);
    int by = below(2) ? 1 : n_worker - 1;
    for (int i = 0; i < n_worker; i++)
        bind_driver("unbind", i);
    look_for((long)below(2 * period));
    for (int i = 0; i < n_worker; i++)
        bind_driver("bind", (first + by * i) % n_worker);
}

static void (*const disturbances[])(void) = {
    change_cpu, change_cpu, change_cpuset, change_cpuset, change_cpuset, drift, change_drivers,
};

static void disturb(void)
{
    disturbances[below(sizeof disturbances / sizeof *disturbances)]();
    for (int i = 0; i < n_row; i++)
        rows[i].wrong = 0;
}

static void end_disturbances(void)
{
    for (unsigned cpu = 1; cpu < 64; cpu++)
        if (offline >> cpu & 1)
            set_online(cpu, 1);
    for (int i = 0; i < n_worker; i++)
        write_cpuset(&workers[i], everywhere);
    change_drivers(); /* bound with CPUs offline, they would have others at first */
    for (int i = 0; i < n_row; i++)
        rows[i].wrong = 0;
}

static void read_workers(void)
{
    char main[64], acl[64], release[64], sq[64], cq[64];
    for (; n_worker < MAX_WORKER; n_worker++) {
        worker *w = &workers[n_worker];
        if (scanf("%d %63s %31s %63s %63s %63s %63s %63s", &w->pid, w->group, w->address, main,
                  acl, release, sq, cq) != 8)
            return;
        w->main = parse_list(main);
        w->acl = parse_list(acl);
        w->release = parse_list(release);
        w->sq = parse_list(sq);
        w->cq = parse_list(cq);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int n = atoi(argv[1]);
    period = (unsigned)atoi(argv[2]);
    random_state = (unsigned)atol(argv[3]);
    read_workers();
    everywhere = read_list("/sys/devices/system/cpu/online");
    setvbuf(stdout, NULL, _IOLBF, 0);
    look_until_right();
    for (int i = 0; i < n && n_late == 0; i++) {
        if (below(2))
            look_for((long)below(2 * period));
        else
            look_until_right();
        disturb();
    }
    end_disturbances();
    look_until_right();
    printf("# %d moments, at most %ld ms elsewhere, %d late, %d elsewhere at the end\n", n,
           longest, n_late, n_wrong);
    return n_late > 0 || n_wrong > 0 || n_worker == 0;
}
