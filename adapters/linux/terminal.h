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

/* The folder of fixture host `name`, for a program that runs from its build folder or is
 * installed: fixtures/hosts/ one or two folders above the program's, else
 * ../share/cpubind/hosts/ beside it, else fixtures/hosts/ in the current folder.
 *   in      name: letters, digits, ".", "_" and "-", no dot first
 *   out     out: the path, NUL-terminated
 *   returns 0; EINVAL for a name that is none; ENOENT when there is no such folder;
 *           ENAMETOOLONG; another errno when the program's own path is not known */
int cpubind_linux_find_fixture(const char *name, char *out, size_t size);

#endif /* CPUBIND_LINUX_TERMINAL_H */
