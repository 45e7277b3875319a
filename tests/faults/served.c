/* served.c - the sanitized command makes copies of itself for the tests
 * SPDX-License-Identifier: MIT
 *
 * Linked with -Wl,--wrap=main. With CPUBIND_SERVED=FD in its environment the command waits
 * at that socket for calls, each in a message: the number of words, the words and the
 * variables of the environment, each ended by a NUL; with it come stdin, stdout, stderr and
 * the folder, as descriptors. A copy of the command, which has not run yet, then does what
 * is asked. The answer is two messages, its pid and its wait status. A copy takes a tenth of
 * the time of a start under the sanitizers. The other side is tests/support/run_command.c.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_FILES = 4, MOST_TEXTS = 1024, MOST_BYTES = 1 << 17 };

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

static char bytes[MOST_BYTES];

/* Receives a call, with its files; 0 when the test has ended. */
static size_t receive(int fd, int files[N_FILES])
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(N_FILES * sizeof(int))];
    } control;
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    const ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (n <= 0)
        return 0;
    if (!head || head->cmsg_len != CMSG_LEN(N_FILES * sizeof(int)) ||
        (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        _exit(99);
    memcpy(files, CMSG_DATA(head), N_FILES * sizeof(int));
    return (size_t)n;
}

/* In a copy: does what the call of n bytes asks for. */
static int answer(size_t n, const int files[N_FILES])
{
    static char *texts[MOST_TEXTS + 2];
    int n_words, n_texts = 0;
    char *at = bytes + sizeof n_words;
    memcpy(&n_words, bytes, sizeof n_words);
    for (char **text = texts; at < bytes + n; at += strlen(at) + 1) {
        if (n_texts == n_words) /* NULL is behind the words */
            text++;
        if (n_texts++ == MOST_TEXTS)
            _exit(99);
        *text++ = at;
    }
    for (int i = 0; i < N_FILES - 1; i++)
        if (dup2(files[i], i) < 0)
            _exit(99);
    if (fchdir(files[N_FILES - 1]) != 0)
        _exit(99);
    environ = texts + n_words + 1;
    return __real_main(n_words, texts);
}

int __wrap_main(int argc, char **argv)
{
    const char *served = getenv("CPUBIND_SERVED");
    int files[N_FILES], status;
    size_t n;
    if (!served)
        return __real_main(argc, argv);
    const int fd = atoi(served);
    while ((n = receive(fd, files)) > 0) {
        const pid_t copy = fork();
        if (copy == 0) {
            (void)close(fd);
            return answer(n, files);
        }
        for (int i = 0; i < N_FILES; i++)
            (void)close(files[i]);
        if (copy < 0 || send(fd, &copy, sizeof copy, 0) < 0 ||
            waitpid(copy, &status, 0) != copy || send(fd, &status, sizeof status, 0) < 0)
            return 99;
    }
    return 0;
}
