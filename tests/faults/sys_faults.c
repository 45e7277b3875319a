/* sys_faults.c - the table of system calls of the sanitized command, in which one use fails
 * SPDX-License-Identifier: MIT
 *
 * Linked with -Wl,--wrap=cpubind_sys_real, it stands between the command and the table of
 * sys.c; without these variables it counts, and that is all:
 *
 *   CPUBIND_FAULT=CALL:NTH:WHAT[:forever|:leaks]   the NTH use of a call of the table fails,
 *       and with "forever" each one after it; with "leaks" the sanitizer looks for memory that
 *       is left at the end. WHAT is the name of an errno, or
 *         less    the call reads or writes half of what it is asked for
 *         kill    the command is killed before the call, as by SIGKILL
 *   CPUBIND_CALLS=FILE   each use is a line of the file: CALL NTH STACK. Uses with the same
 *       stack are of one line of the sources, called by the same lines
 *   CPUBIND_FORKS=IN,OUT,SEEN   before main(), the command waits for lines at the descriptor
 *       IN: a CPUBIND_FAULT, "@" and a CPUBIND_CALLS, or "-". Each line starts a copy of the
 *       command; OUT gets a line with its pid, and one with its wait status. SEEN is a file in
 *       memory, with two numbers: how often the fault has come, and how many periods the copy
 *       has begun to wait for. A copy costs a tenth of a start under the sanitizers
 *   CPUBIND_PACE=N   in a copy, time passes N times as fast: a period is not waited for in full
 */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../adapters/linux/sys.h"

#define REAL __real_cpubind_sys_real
extern const cpubind_sys REAL;

#define CPUBIND_X(result, name, parameters, arguments, failure, real) CALL_##name,
enum { CALL_NONE, CPUBIND_SYS_LIST(CPUBIND_X) N_CALLS };
#undef CPUBIND_X
#define CPUBIND_X(result, name, parameters, arguments, failure, real) #name,
static const char *const names[N_CALLS] = {"", CPUBIND_SYS_LIST(CPUBIND_X)};
#undef CPUBIND_X

enum { WHAT_LESS = -1, WHAT_KILL = -2 };

static struct {
    int call, nth, what, forever, leaks;
} fault;

static _Atomic int used[N_CALLS];
static int calls = -1; /* where uses are written */

/* What the runner sees of a copy. */
static struct seen {
    _Atomic int came, waits;
} own_seen, *seen = &own_seen;

/* The real table, but for calls that do less than they are asked for; and the one that is used,
 * where those that wait do so for a part of the time. */
static cpubind_sys less, used_table;

static int64_t pace = 1, begin_ns; /* of the monotonic clock */

#define PERIOD_MS 1000 /* of a watch in a scene */

/* == The fault ============================================================== */

static int what_of(const char *name)
{
    for (int number = 1; number < 134; number++)
        if (strerrorname_np(number) && strcmp(strerrorname_np(number), name) == 0)
            return number;
    return strcmp(name, "less") == 0 ? WHAT_LESS : strcmp(name, "kill") == 0 ? WHAT_KILL : 0;
}

/* A fault that makes no sense ends the command: a test would wait for it in vain. */
static void take_fault(const char *text)
{
    char name[32], what[32], word[16] = "";
    if (sscanf(text, "%31[^:]:%d:%31[^:\n]:%15s", name, &fault.nth, what, word) >= 3)
        for (int i = 1; i < N_CALLS; i++)
            if (strcmp(names[i], name) == 0)
                fault.call = i;
    fault.what = fault.call ? what_of(what) : 0;
    fault.forever = strcmp(word, "forever") == 0;
    fault.leaks = strcmp(word, "leaks") == 0;
    if (!fault.what) {
        fprintf(stderr, "CPUBIND_FAULT: what is \"%s\"?\n", text);
        _exit(99);
    }
}

/* Libraries are passed over: their addresses change from run to run. */
extern const char __executable_start[], etext[];

#define CALLERS 10

static void write_use(int call, int nth)
{
    void *at[64];
    char line[256];
    const int n = backtrace(at, 64);
    int n_caller = 0;
    int len = snprintf(line, sizeof line, "%s %d", names[call], nth);
    for (int i = 3; i < n && n_caller < CALLERS; i++) {
        const uintptr_t address = (uintptr_t)at[i];
        if (address < (uintptr_t)__executable_start || address >= (uintptr_t)etext)
            continue;
        len += sprintf(line + len, " %" PRIxPTR, address - (uintptr_t)__executable_start);
        n_caller++;
    }
    line[len++] = '\n';
    if (write(calls, line, (size_t)len) != len) /* at once: threads have uses side by side */
        _exit(99);
}

/* Memory that is left is looked for at the end where the fault says so: that takes as long as
 * all the rest. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return !fault.leaks;
}

/* Counts a use. Returns what is wrong with it, or 0. */
static int use(int call)
{
    const int nth = ++used[call];
    if (calls >= 0)
        write_use(call, nth);
    if (fault.call != call || nth < fault.nth || (nth > fault.nth && !fault.forever))
        return 0;
    seen->came++;
    if (fault.what == WHAT_KILL)
        (void)kill(getpid(), SIGKILL);
    return fault.what;
}

/* == The table ============================================================== */

/* Half of a length that is more than one. */
static size_t half(size_t len)
{
    return len > 1 ? len / 2 : len;
}

static ssize_t less_read(int fd, void *data, size_t cap)
{
    const ssize_t n = REAL.read(fd, data, half(cap));
    return n < 0 && errno == EINVAL ? REAL.read(fd, data, cap) : n; /* a signal is read whole */
}

static ssize_t less_pread(int fd, void *data, size_t cap, off_t at)
{
    return REAL.pread(fd, data, half(cap), at);
}

static ssize_t less_write(int fd, const void *data, size_t len)
{
    return REAL.write(fd, data, half(len));
}

/* In place of that of the C library. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    const long result = syscall(SYS_clock_gettime, clock, t);
    if (pace > 1 && clock == CLOCK_MONOTONIC) {
        const int64_t ns = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
        const int64_t paced = begin_ns + (ns - begin_ns) * pace;
        *t = (struct timespec){(time_t)(paced / 1000000000), (long)(paced % 1000000000)};
    }
    return (int)result;
}

static int part_of(int ms)
{
    seen->waits += ms > PERIOD_MS / 2;
    return ms > 0 ? (int)((ms + pace - 1) / pace) : ms;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    const int64_t ns = ((int64_t)time->tv_sec * 1000000000 + time->tv_nsec) / pace;
    const struct timespec part = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    seen->waits++;
    return (int)syscall(SYS_nanosleep, &part, left);
}

static int paced_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    return REAL.poll(fds, n, part_of(timeout_ms));
}

static int paced_epoll_wait(int epoll, int *fds, int n, int timeout_ms)
{
    return REAL.epoll_wait(epoll, fds, n, part_of(timeout_ms));
}

static int paced_timer_set(int fd, int64_t at_ms)
{
    const int64_t begin_ms = begin_ns / 1000000;
    return REAL.timer_set(fd, at_ms ? begin_ms + (at_ms - begin_ms) / pace + 1 : 0);
}

static void take_pace(const char *text)
{
    struct timespec t;
    if (!text)
        return;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    begin_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    pace = atoi(text);
    used_table.poll = paced_poll;
    used_table.epoll_wait = paced_epoll_wait;
    used_table.timer_set = paced_timer_set;
}

/* Where close(2) fails, the descriptor is closed all the same. */
#define CPUBIND_X(result, name, parameters, arguments, failure, real)                          \
    static result fault_##name parameters                                                      \
    {                                                                                          \
        const int what = use(CALL_##name);                                                     \
        if (what == 0)                                                                         \
            return used_table.name arguments;                                                  \
        if (what == WHAT_LESS)                                                                 \
            return less.name arguments;                                                        \
        if (CALL_##name == CALL_close || CALL_##name == CALL_closedir)                         \
            (void)REAL.name arguments;                                                         \
        errno = what;                                                                          \
        return failure;                                                                        \
    }
CPUBIND_SYS_LIST(CPUBIND_X)
#undef CPUBIND_X

#define CPUBIND_X(result, name, parameters, arguments, failure, real) .name = fault_##name,
const cpubind_sys __wrap_cpubind_sys_real = {CPUBIND_SYS_LIST(CPUBIND_X)};

/* == Copies of the command ================================================== */

/* What a copy is to do: "-" nothing more, "@FILE" write its uses, else fail. */
static void take_line(const char *line)
{
    if (*line == '@')
        calls = open(line + 1, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    else if (*line != '-')
        take_fault(line);
}

static int read_line(int fd, char *line, int size)
{
    int n = 0;
    while (n < size - 1 && read(fd, line + n, 1) == 1 && line[n] != '\n')
        n++;
    line[n] = '\0';
    return n;
}

/* Comes back in each copy. */
static void serve(const char *descriptors)
{
    char line[128];
    int in = -1, out = -1, file = -1, status = 0;
    if (sscanf(descriptors, "%d,%d,%d", &in, &out, &file) != 3)
        _exit(99);
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (seen == MAP_FAILED)
        _exit(99);
    close(file);
    while (read_line(in, line, sizeof line) > 0) {
        *seen = (struct seen){0, 0};
        const pid_t pid = fork();
        if (pid == 0) {
            close(in);
            close(out);
            take_line(line);
            take_pace(getenv("CPUBIND_PACE"));
            return;
        }
        dprintf(out, "%d\n", (int)pid);
        if (pid < 0 || waitpid(pid, &status, 0) < 0)
            break;
        dprintf(out, "%d\n", status);
    }
    _exit(0);
}

/* The variables are not for what the command starts. */
__attribute__((constructor)) static void begin(void)
{
    const char *forks = getenv("CPUBIND_FORKS"), *file = getenv("CPUBIND_CALLS");
    const char *text = getenv("CPUBIND_FAULT");
    used_table = less = REAL;
    less.read = less_read;
    less.pread = less_pread;
    less.write = less_write;
    if (file)
        calls = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (text)
        take_fault(text);
    if (forks)
        serve(forks);
    unsetenv("CPUBIND_FORKS");
    unsetenv("CPUBIND_CALLS");
    unsetenv("CPUBIND_FAULT");
    unsetenv("CPUBIND_PACE");
}
