/* terminal.c - what the screen can do, and where the files of this program are
 * SPDX-License-Identifier: MIT
 *
 * Asks only; prints nothing.
 */
#define _GNU_SOURCE
#include "terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

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

int cpubind_linux_has_colour(int fd)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return isatty(fd) && !(no_colour && no_colour[0]) && term && strcmp(term, "dumb") != 0;
}

int cpubind_linux_is_file(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return 0;
    errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    return S_ISREG(info.st_mode);
}

/* The folder of this program, without a slash at its end ("" for "/"). 0 or an errno. */
static int find_program_folder(char out[MAX_PATH])
{
    ssize_t n = readlink("/proc/self/exe", out, MAX_PATH - 1);
    if (n < 0)
        return errno;
    out[n] = '\0';
    char *slash = strrchr(out, '/');
    if (!slash || n == MAX_PATH - 1) /* no path, or a part of one */
        return slash ? ENAMETOOLONG : ENOENT;
    *slash = '\0';
    return 0;
}

int cpubind_linux_find_corpus(char *out, size_t size)
{
    static const char *const places[] = {"fixtures.db", "../share/cpubind/fixtures.db"};
    char folder[MAX_PATH], path[MAX_PATH + 64];
    int error = find_program_folder(folder);
    if (error)
        return error;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int n = snprintf(path, sizeof path, "%s/%s", folder, places[i]);
        if (n < 0 || (size_t)n >= sizeof path)
            return ENAMETOOLONG;
        if (!cpubind_linux_is_file(path))
            continue;
        if ((size_t)n >= size)
            return ENAMETOOLONG;
        memcpy(out, path, (size_t)n + 1);
        return 0;
    }
    return ENOENT;
}

int cpubind_linux_host_name(char *out, size_t size)
{
    struct utsname system;
    if (uname(&system) < 0)
        return errno;
    size_t len = strlen(system.nodename);
    if (len >= size)
        return ENAMETOOLONG;
    memcpy(out, system.nodename, len + 1);
    return 0;
}
