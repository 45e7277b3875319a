/* affinity_shim.c - make a command believe that the machine has 192 CPUs
 * SPDX-License-Identifier: MIT
 *
 *   LD_PRELOAD=affinity_shim CPUBIND_SHIM=DIR cpubind apply ...
 *
 * Replaces syscall(2) of the C library. The CPUs of thread N are a list in the file DIR/N; a
 * thread without a file has all CPUs, 0 to 191. Each call is made for real too, with the
 * present value, so that ended threads, missing rights and filters fail as they do without the
 * shim. Calls that place memory are written to DIR/calls.
 *
 *   CPUBIND_SHIM_CPUS=N        so many CPUs
 *   CPUBIND_SHIM_CPUSET=LIST   the CPUs that a cpuset leaves to every thread
 *   CPUBIND_SHIM_BIRTHS=PID    each thread but PID has ended before its CPUs are read
 *   CPUBIND_SHIM_MACHINE=NAME  what uname(2) says the machine is
 *   CPUBIND_SHIM_FIRST=yes     each process is in the first pid namespace, whose numbers a
 *                              driver lists
 *
 * Files of DIR change it while it runs, as kernel/sched/core.c and kernel/cgroup/cpuset.c do:
 *
 *   online, cpuset   the lists of the CPUs that are online, and that a cpuset leaves to threads
 *   old              a kernel before 6.2: what a thread asks for is cut to what it can have
 *   N.error          errno of a move of thread N
 *   ends             thread N (of worker.c) ends when it is looked at; "ends.after" says at
 *                    which look. With a file "stranger" another thread has its number then, and
 *                    the CPUs of that file
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../../support/lists.h"

#define MAX_CPUS  1024
#define WORD_BITS (8 * sizeof(unsigned long))
#define WORDS     (MAX_CPUS / WORD_BITS)

typedef long (*call_function)(long number, ...);

typedef struct mask {
    unsigned long word[WORDS];
} mask;

static call_function real(void)
{
    static call_function found;
    if (!found) {
        void *symbol = dlsym(RTLD_NEXT, "syscall");
        memcpy(&found, &symbol, sizeof found);
    }
    return found;
}

static unsigned long cpus(void)
{
    const char *text = getenv("CPUBIND_SHIM_CPUS");
    return text ? strtoul(text, NULL, 10) : 192;
}

static int has(const mask *m, unsigned long cpu)
{
    return (int)(m->word[cpu / WORD_BITS] >> cpu % WORD_BITS & 1);
}

/* == Lists ================================================================== */

/* CPUs from MAX_CPUS on are left out. */
static mask of_list(const char *text)
{
    mask m = {{0}};
    const char *at = text;
    const int32_t n = lists_read(&at, NULL);
    int32_t *list = (int32_t *)malloc((size_t)n * sizeof *list + 1);
    if (!list)
        abort();
    (void)lists_read(&text, list);
    for (int32_t i = 0; i < n; i++)
        if ((unsigned long)list[i] < MAX_CPUS)
            m.word[(size_t)list[i] / WORD_BITS] |= 1UL << (size_t)list[i] % WORD_BITS;
    free(list);
    return m;
}

static void print_list(FILE *out, const mask *m)
{
    const char *comma = "";
    for (unsigned long first = 0; first < MAX_CPUS; first++) {
        unsigned long last = first;
        if (!has(m, first))
            continue;
        while (last + 1 < MAX_CPUS && has(m, last + 1))
            last++;
        fprintf(out, first == last ? "%s%lu" : "%s%lu-%lu", comma, first, last);
        comma = ",";
        first = last;
    }
    fputc('\n', out);
}

/* == Threads ================================================================ */

static void path_of(const char *name, char path[4096])
{
    const char *folder = getenv("CPUBIND_SHIM");
    snprintf(path, 4096, "%s/%s", folder ? folder : "/nowhere", name);
}

static FILE *open_file(const char *name, const char *mode)
{
    char path[4096];
    path_of(name, path);
    return fopen(path, mode);
}

static long own(long tid)
{
    return tid ? tid : (long)gettid();
}

/* Replaces the file of a thread at once, so that a killed process leaves no half of it. */
static int keep(long tid, const mask *m)
{
    char temp[32], name[32], from[4096], to[4096];
    FILE *file;
    snprintf(name, sizeof name, "%ld", own(tid));
    snprintf(temp, sizeof temp, ".%ld", own(tid));
    file = open_file(temp, "we");
    if (!file)
        return -1;
    print_list(file, m);
    path_of(temp, from);
    path_of(name, to);
    return fclose(file) == 0 ? rename(from, to) : -1;
}

static FILE *open_thread(long tid)
{
    char name[32];
    snprintf(name, sizeof name, "%ld", own(tid));
    return open_file(name, "re");
}

/* The first line of a file, or no text. */
static const char *line_of(FILE *file)
{
    static char line[4096];
    line[0] = '\0';
    if (file && !fgets(line, sizeof line, file))
        line[0] = '\0';
    if (file)
        fclose(file);
    return line;
}

static long number_of(const char *name)
{
    return strtol(line_of(open_file(name, "re")), NULL, 10);
}

static mask both(mask a, const char *list)
{
    const mask b = of_list(list);
    for (size_t i = 0; *list && i < WORDS; i++)
        a.word[i] &= b.word[i];
    return a;
}

static mask allowed(void)
{
    const char *cpuset = getenv("CPUBIND_SHIM_CPUSET");
    char all[32];
    snprintf(all, sizeof all, "0-%lu", cpus() - 1);
    return of_list(cpuset ? cpuset : all);
}

static int is_empty(const mask *m)
{
    unsigned long any = 0;
    for (size_t i = 0; i < WORDS; i++)
        any |= m->word[i];
    return any == 0;
}

/* Without those that a file takes. */
static mask possible(mask m)
{
    m = both(m, line_of(open_file("cpuset", "re")));
    return both(m, line_of(open_file("online", "re")));
}

static long stranger;

/* Returns when the thread is gone, and a stranger has its number. */
static void end_thread(long tid)
{
    const long after = number_of("ends.after");
    mask m;
    FILE *file;
    if (tid == 0 || number_of("ends") != tid)
        return;
    file = open_file(after > 0 ? "ends.after" : "ends", "we");
    if (file) {
        fprintf(file, "%ld\n", after > 0 ? after - 1 : 0);
        fclose(file);
    }
    if (after > 0)
        return;
    while (real()(SYS_tkill, tid, (long)SIGRTMIN) == 0)
        usleep(1000);
    file = open_file("stranger", "re");
    if (!file)
        return;
    m = of_list(line_of(file));
    (void)keep(tid, &m);
    stranger = tid;
}

static long get(long tid, size_t size, unsigned long *out)
{
    const char *text;
    const size_t bytes = (cpus() + WORD_BITS - 1) / WORD_BITS * sizeof(unsigned long);
    mask m, in_cpuset;
    const char *births = getenv("CPUBIND_SHIM_BIRTHS");
    end_thread(tid);
    if (real()(SYS_sched_getaffinity, tid == stranger ? 0 : tid, size, out) < 0)
        return -1;
    if (births && tid != (pid_t)strtol(births, NULL, 10)) {
        errno = ESRCH;
        return -1;
    }
    if (size < bytes) {
        errno = EINVAL;
        return -1;
    }
    text = line_of(open_thread(tid));
    m = *text ? of_list(text) : allowed();
    in_cpuset = both(m, line_of(open_file("cpuset", "re")));
    m = possible(is_empty(&in_cpuset) ? allowed() : m); /* its cpuset has none of them */
    memcpy(out, &m, bytes);
    return (long)bytes;
}

static long set(long tid, size_t size, const unsigned long *in)
{
    unsigned long now[8192 / sizeof(unsigned long)];
    const mask may = allowed();
    const long thread = tid == stranger ? 0 : tid;
    mask m = {{0}}, has;
    char name[32];
    FILE *old;
    const long n = real()(SYS_sched_getaffinity, thread, sizeof now, now);
    if (n < 0 || real()(SYS_sched_setaffinity, thread, n, now) < 0)
        return -1;
    snprintf(name, sizeof name, "%ld.error", own(tid));
    errno = (int)number_of(name);
    if (errno)
        return -1;
    memcpy(&m, in, size < sizeof m ? size : sizeof m);
    for (size_t i = 0; i < WORDS; i++)
        m.word[i] &= may.word[i];
    has = possible(m);
    old = open_file("old", "re");
    if (old)
        fclose(old);
    if (!is_empty(&has) && keep(tid, old ? &has : &m) == 0)
        return 0;
    errno = EINVAL;
    return -1;
}

/* == Memory ================================================================= */

static void note(const char *format, long a, unsigned long b, unsigned long c)
{
    FILE *file = open_file("calls", "ae");
    if (!file)
        return;
    fprintf(file, format, a, b, c);
    fclose(file);
}

static unsigned long word(const unsigned long *nodes)
{
    return nodes ? nodes[0] : 0;
}

/* Asks where the pages are in place of moving them, which every kernel allows. With
 * CPUBIND_SHIM_SIGNAL a signal arrives meanwhile. */
static long move_pages(const long *a)
{
    static int n_signal;
    const int *nodes = (const int *)a[3];
    if (nodes)
        note("move_pages %ld to %lu flags %lu\n", a[0], (unsigned long)nodes[0],
             (unsigned long)a[5]);
    if (getenv("CPUBIND_SHIM_SIGNAL") && n_signal++ == 0)
        kill(getpid(), SIGTERM);
    return real()(SYS_move_pages, a[0], a[1], a[2], 0L, a[4], 0L);
}

static long prefer(long mode, const unsigned long *nodes)
{
    if (real()(SYS_set_mempolicy, 0L, NULL, 0L) < 0)
        return -1;
    note("set_mempolicy %ld nodes %lx %lu\n", mode, word(nodes), 0);
    return 0;
}

/* == Replaced functions ===================================================== */

long syscall(long number, ...)
{
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    switch (number) {
    case SYS_sched_getaffinity:
        return get((pid_t)a[0], (size_t)a[1], (unsigned long *)a[2]);
    case SYS_sched_setaffinity:
        return set((pid_t)a[0], (size_t)a[1], (const unsigned long *)a[2]);
    case SYS_move_pages:
        return move_pages(a);
    case SYS_set_mempolicy:
        return prefer((int)a[0], (const unsigned long *)a[1]);
    default:
        return real()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
}

ssize_t readlinkat(int dir, const char *path, char *out, size_t size)
{
    static const char first[] = "pid:[4026531836]", name[] = "ns/pid";
    const size_t len = strlen(path), n = sizeof first - 1;
    if (!getenv("CPUBIND_SHIM_FIRST") || size < n || len < sizeof name - 1 ||
        strcmp(path + len - (sizeof name - 1), name) != 0)
        return real()(SYS_readlinkat, dir, path, out, size);
    memcpy(out, first, n);
    return (ssize_t)n;
}

int uname(struct utsname *out)
{
    const char *machine = getenv("CPUBIND_SHIM_MACHINE");
    if (real()(SYS_uname, out) < 0)
        return -1;
    if (machine)
        snprintf(out->machine, sizeof out->machine, "%s", machine);
    return 0;
}
