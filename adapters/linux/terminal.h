/* terminal.h - what the screen can do, and where the files of this program are
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_LINUX_TERMINAL_H
#define CPUBIND_LINUX_TERMINAL_H

#include <stddef.h>
#include <stdint.h>

/* Whether a descriptor is a terminal. */
int cpubind_linux_is_terminal(int fd);

/* Columns of the terminal behind a descriptor: what the kernel says, else COLUMNS, else 80. */
int32_t cpubind_linux_columns(int fd);

/* Whether colour is wanted on a descriptor: a terminal, NO_COLOR unset or empty, and TERM set
 * to anything but "dumb". */
int cpubind_linux_has_colour(int fd);

/* Whether a path leads to a regular file; errno says why not (EINVAL: something else, such
 * as a FIFO, which would be waited for). */
int cpubind_linux_is_file(const char *path);

/* The corpus of a program that runs from its build folder or is installed: fixtures.db beside
 * the program, else in ../share/cpubind/ from there. Never from the current folder: that may be
 * a stranger's.
 *   out     out[0 .. size - 1]: the path, NUL-terminated; untouched on failure
 *   returns 0; ENOENT when there is no such file; ENAMETOOLONG; another errno when the
 *           program's own path is not known */
int cpubind_linux_find_corpus(char *out, size_t size);

/* The name of this host, as `uname -n` prints it.
 *   out     out[0 .. size - 1]: the name, NUL-terminated; untouched on failure
 *   returns 0; ENAMETOOLONG; another errno of uname(2) */
int cpubind_linux_host_name(char *out, size_t size);

#endif /* CPUBIND_LINUX_TERMINAL_H */
