/* terminal.c - the terminal, limits, the host's name, files installed with this program
 * SPDX-License-Identifier: MIT
 *
 * Asks the system; prints nothing but the words that a signal ends this process with.
 */
#define _GNU_SOURCE
#include "terminal.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "kernel/files.h"

#define DEFAULT_COLUMNS 80
#define MAX_COLUMNS     4096
#define MAX_PATH        4096

int cpubind_linux_is_terminal(int fd)
{
    return isatty(fd);
}

static int32_t clamp_columns(long columns)
{
    if (columns < 1)
        return DEFAULT_COLUMNS;
    return columns > MAX_COLUMNS ? MAX_COLUMNS : (int32_t)columns;
}

int32_t cpubind_linux_columns(int fd)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return clamp_columns(size.ws_col);
    return clamp_columns(columns ? strtol(columns, NULL, 10) : 0);
}

void cpubind_linux_raise_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int cpubind_linux_has_colour(int fd)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return isatty(fd) && !(no_colour && no_colour[0]) && term && strcmp(term, "dumb") != 0;
}

/* Read by the handler alone, after it was installed. */
static struct {
    int fd;
    size_t len;
    char text[128];
} last_words;

static void say_and_end(int number)
{
    const ssize_t n = write(last_words.fd, last_words.text, last_words.len);
    (void)n;
    (void)raise(number); /* SA_RESETHAND: the default action is in force again */
}

void cpubind_linux_say_at_signal(int fd, const char *text)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = say_and_end,
                               .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    last_words.fd = fd;
    snprintf(last_words.text, sizeof last_words.text, "%s", text);
    last_words.len = strlen(last_words.text);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction now;
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], &action, NULL);
    }
}

void cpubind_linux_wait(int32_t milliseconds)
{
    const struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    (void)nanosleep(&time, NULL);
}

/* == Files of this program ================================================== */

cpubind_linux_fault cpubind_linux_check_file(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return cpubind_fault_errno("stat");
    if (S_ISREG(info.st_mode))
        return cpubind_no_fault;
    return cpubind_fault_of(S_ISDIR(info.st_mode) ? EISDIR : EINVAL, "stat");
}

cpubind_linux_fault cpubind_linux_find_corpus(char *out, size_t size)
{
    static const char *const places[] = {"fixtures.db", "../share/cpubind/fixtures.db"};
    static const char what[] = "corpus";
    char folder[MAX_PATH], path[MAX_PATH + 64];
    ssize_t len = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (len < 0) { /* without /proc: the path with which the kernel started this program */
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives a pointer as a number */
        const char *started = (const char *)(uintptr_t)getauxval(AT_EXECFN);
        if (!started || strlen(started) >= sizeof folder)
            return cpubind_fault_errno(what);
        len = (ssize_t)strlen(started);
        memcpy(folder, started, (size_t)len);
    }
    folder[len] = '\0';
    char *slash = strrchr(folder, '/');
    if (!slash || len == (ssize_t)sizeof folder - 1) /* no path, or a part of one */
        return cpubind_fault_of(slash ? ENAMETOOLONG : ENOENT, what);
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int n = snprintf(path, sizeof path, "%s/%s", folder, places[i]);
        if (n < 0 || (size_t)n >= sizeof path)
            return cpubind_fault_of(ENAMETOOLONG, what);
        if (cpubind_linux_check_file(path).error)
            continue;
        if ((size_t)n >= size)
            return cpubind_fault_of(ENAMETOOLONG, what);
        memcpy(out, path, (size_t)n + 1);
        return cpubind_no_fault;
    }
    return cpubind_fault_of(ENOENT, what);
}

cpubind_linux_fault cpubind_linux_host_name(char *out, size_t size)
{
    struct utsname system;
    if (uname(&system) < 0)
        return cpubind_fault_errno("uname");
    size_t len = strlen(system.nodename);
    if (len >= size)
        return cpubind_fault_of(ENAMETOOLONG, "uname");
    memcpy(out, system.nodename, len + 1);
    return cpubind_no_fault;
}
