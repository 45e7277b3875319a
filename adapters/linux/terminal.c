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

static int is_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789._-";
    return name[0] && name[0] != '.' && name[strspn(name, allowed)] == '\0';
}

/* 0 when `folder`/`place`/`name`, put into `out`, is a folder. */
static int try_place(const char *folder, const char *place, const char *name, char *out,
                     size_t size)
{
    struct stat info;
    int length = snprintf(out, size, "%s/%s/%s", folder, place, name);
    if (length < 0 || (size_t)length >= size)
        return ENAMETOOLONG;
    return stat(out, &info) == 0 && S_ISDIR(info.st_mode) ? 0 : ENOENT;
}

int cpubind_linux_find_fixture(const char *name, char *out, size_t size)
{
    static const char *const places[] = {"../fixtures/hosts", "../../fixtures/hosts",
                                         "../share/cpubind/hosts"};
    char program[MAX_PATH];
    ssize_t n;
    char *slash;
    if (!is_name(name))
        return EINVAL;
    n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n < 0)
        return errno;
    program[n] = '\0';
    slash = strrchr(program, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
        int error = try_place(program, places[i], name, out, size);
        if (error != ENOENT)
            return error;
    }
    return try_place(".", "fixtures/hosts", name, out, size);
}
