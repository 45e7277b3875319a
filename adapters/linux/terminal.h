/* terminal.h - the terminal, limits, the host's name, files installed with this program
 * SPDX-License-Identifier: MIT
 *
 * Private to the programs of this project. Asks the system; prints nothing but the words of
 * cpubind_linux_say_at_signal.
 */
#ifndef CPUBIND_LINUX_TERMINAL_H
#define CPUBIND_LINUX_TERMINAL_H

#include <stddef.h>
#include <stdint.h>

#include "linux.h"

/* Whether a descriptor is a terminal. */
int cpubind_linux_is_terminal(int fd);

/* Columns of the terminal of a descriptor: from the kernel, else from COLUMNS, else 80. */
int32_t cpubind_linux_columns(int fd);

/* Whether colour is wanted on a descriptor: a terminal, NO_COLOR unset or empty, and TERM set
 * to anything but "dumb". */
int cpubind_linux_has_colour(int fd);

/* Lets this process open as many files as it may raise its limit to (getrlimit(2)). */
void cpubind_linux_raise_files(void);

/* From now on SIGINT, SIGTERM and SIGHUP end this process as before, and write a text first. A
 * signal that is ignored stays ignored. The text is cut to 127 bytes. */
void cpubind_linux_say_at_signal(int fd, const char *text);

/* Waits. A signal ends the wait early. */
void cpubind_linux_wait(int32_t milliseconds);

/* Checks that a path leads to a regular file.
 *   errors  "stat"; EISDIR; EINVAL: something else, such as a FIFO, which a reader would wait
 *           for */
cpubind_linux_fault cpubind_linux_check_file(const char *path);

/* Finds the corpus of a program that runs from its build folder or is installed: fixtures.db
 * beside the program, else in ../share/cpubind/ from there. Never in the current folder, which
 * may be a stranger's.
 *   out     out[0 .. size - 1]: the path, NUL-terminated; unchanged on failure
 *   errors  "corpus"; ENOENT: there is no such file; ENAMETOOLONG; another errno when the
 *           program's own path is not known */
cpubind_linux_fault cpubind_linux_find_corpus(char *out, size_t size);

/* The name of this host, as `uname -n` prints it.
 *   out     out[0 .. size - 1]: the name, NUL-terminated; unchanged on failure
 *   errors  "uname"; ENAMETOOLONG */
cpubind_linux_fault cpubind_linux_host_name(char *out, size_t size);

#endif /* CPUBIND_LINUX_TERMINAL_H */
