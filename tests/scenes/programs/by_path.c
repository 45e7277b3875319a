/* by_path.c - holds a file with a descriptor that takes no right on it, and executes a command
 * SPDX-License-Identifier: MIT
 *
 *   by_path FILE COMMAND [ARGUMENT...]       the descriptor is 3
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const int fd = argc > 2 ? open(argv[1], O_PATH) : -1;
    if (fd < 0 || dup2(fd, 3) != 3 || (fd != 3 && close(fd) != 0))
        return 1;
    execv(argv[2], argv + 2);
    return 1;
}
