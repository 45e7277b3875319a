/* terminal.c - holds a new terminal open, so that its device file stays
 * SPDX-License-Identifier: MIT
 *
 *   terminal PTMX         prints "ready" once it is there; ends with its parent
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const int unlocked = 0;
    const int fd = open(argv[argc - 1], O_RDWR | O_NOCTTY);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (fd < 0 || ioctl(fd, TIOCSPTLCK, &unlocked) < 0 || write(1, "ready\n", 6) != 6)
        return 1;
    close(1);
    for (;;)
        pause();
}
