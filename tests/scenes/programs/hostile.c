/* hostile.c - a client of the service that connects as fast as it can
 * SPDX-License-Identifier: MIT
 *
 *   hostile SOCKET        asks for work every second time, says nothing else; reads no answer
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int last[64] = {0}, n = 0;
    strncpy(to.sun_path, argc > 1 ? argv[1] : "", sizeof to.sun_path - 1);
    for (;;) {
        const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
            close(fd);
            continue;
        }
        if (n % 2)
            (void)send(fd, "verify\n", 7, MSG_NOSIGNAL);
        if (last[n % 64])
            close(last[n % 64]);
        last[n++ % 64] = fd;
    }
}
