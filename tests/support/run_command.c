/* run_command.c - run the cpubind command, or another, and keep what it says, for tests
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "run_command.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* stdin, stdout, stderr and the folder of a command. */
enum { N_FILES = 4, MOST_BYTES = 1 << 17, SERVED_AT = 3 };

const char *command_path(void)
{
    static char path[PATH_MAX];
    const char *given = getenv("CPUBIND");
    char text[PATH_MAX];
    ssize_t n;
    if (*path)
        return path;
    n = readlink("/proc/self/exe", text, sizeof text - sizeof "cpubind");
    if (n < 0)
        abort();
    text[n] = '\0';
    memcpy(strrchr(text, '/') + 1, "cpubind", sizeof "cpubind");
    if (!realpath(given ? given : text, path)) {
        perror(given ? given : text);
        abort();
    }
    return path;
}

/* == The command that waits ================================================= */

static int server = -1;

/* Starts a command with further variables of the environment than this program has, at most
 * one. */
static pid_t spawn(const char *const *words, char *const *env, const int files[N_FILES],
                   const char *folder, int served)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    posix_spawn_file_actions_init(&actions);
    if (folder)
        posix_spawn_file_actions_addchdir_np(&actions, folder);
    for (int i = 0; files && i < N_FILES - 1; i++)
        posix_spawn_file_actions_adddup2(&actions, files[i], i);
    if (served >= 0)
        posix_spawn_file_actions_adddup2(&actions, served, SERVED_AT);
    if (posix_spawnp(&pid, words[0], &actions, NULL, (char *const *)words, env) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

/* Whether a command waits for calls: the one that has been asked for first. */
static int has_server(void)
{
    const char *const words[] = {command_path(), NULL};
    char number[8];
    int ends[2];
    if (server >= 0)
        return 1;
    (void)snprintf(number, sizeof number, "%d", SERVED_AT);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
        setenv("CPUBIND_SERVED", number, 1) != 0)
        abort();
    if (spawn(words, environ, NULL, NULL, ends[1]) > 0)
        server = ends[0];
    (void)unsetenv("CPUBIND_SERVED");
    (void)close(ends[1]);
    return server >= 0;
}

/* Appends texts, each with its NUL. */
static size_t add_texts(char *bytes, size_t n, char *const *text)
{
    for (; *text; text++) {
        const size_t size = strlen(*text) + 1;
        if (n + size > MOST_BYTES)
            abort();
        memcpy(bytes + n, *text, size);
        n += size;
    }
    return n;
}

static void send_call(const command_call *call, const int files[N_FILES])
{
    static char bytes[MOST_BYTES];
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(N_FILES * sizeof(int))];
    } control = {.head = {.cmsg_len = CMSG_LEN(N_FILES * sizeof(int)),
                          .cmsg_level = SOL_SOCKET,
                          .cmsg_type = SCM_RIGHTS}};
    struct iovec part = {bytes, 0};
    const struct msghdr message = {.msg_iov = &part,
                                   .msg_iovlen = 1,
                                   .msg_control = &control,
                                   .msg_controllen = sizeof control};
    int n_words = 0;
    size_t n;
    while (call->words[n_words])
        n_words++;
    memcpy(bytes, &n_words, sizeof n_words);
    n = add_texts(bytes, sizeof n_words, (char *const *)call->words);
    part.iov_len = add_texts(bytes, n, call->env ? call->env : environ);
    memcpy(CMSG_DATA(&control.head), files, N_FILES * sizeof(int));
    if (sendmsg(server, &message, MSG_NOSIGNAL) < 0) {
        perror("the command that waits for calls");
        abort();
    }
}

/* == A run ================================================================== */

static pid_t child;

/* A command that hangs is a failure that says so. */
static void end_child(int signal)
{
    (void)signal;
    (void)kill(child, SIGKILL);
}

/* Receives a number of the server; a signal interrupts nothing. */
static int receive(void)
{
    int number = -1;
    if (recv(server, &number, sizeof number, 0) != (ssize_t)sizeof number) {
        (void)fputs("the command that waits for calls has ended\n", stderr);
        abort();
    }
    return number;
}

static int run(const command_call *call, const int files[N_FILES])
{
    const int is_served = strcmp(call->words[0], command_path()) == 0 && has_server();
    int status;
    if (is_served) {
        send_call(call, files);
        child = receive();
    } else {
        child = spawn(call->words, call->env ? call->env : environ, files, call->folder, -1);
    }
    if (child <= 0)
        return -1;
    (void)signal(SIGALRM, end_child);
    (void)alarm(COMMAND_SECONDS);
    if (is_served)
        status = receive();
    else if (waitpid(child, &status, 0) != child)
        abort();
    (void)alarm(0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static char *slurp(int fd)
{
    const off_t size = lseek(fd, 0, SEEK_END);
    char *text = size < 0 ? NULL : (char *)calloc((size_t)size + 1, 1);
    if (!text || pread(fd, text, (size_t)size, 0) != size)
        abort();
    return text;
}

command_result command_call_run(const command_call *call)
{
    const int files[N_FILES] = {
        memfd_create("in", MFD_CLOEXEC), memfd_create("out", MFD_CLOEXEC),
        memfd_create("err", MFD_CLOEXEC),
        open(call->folder ? call->folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
    const size_t n = call->data ? strlen(call->data) : 0;
    command_result r;
    if (files[0] < 0 || files[1] < 0 || files[2] < 0 || files[3] < 0 ||
        (n > 0 && pwrite(files[0], call->data, n, 0) != (ssize_t)n))
        abort();
    r.status = run(call, files);
    r.out = slurp(files[1]);
    r.err = slurp(files[2]);
    for (int i = 0; i < N_FILES; i++)
        (void)close(files[i]);
    return r;
}

command_result command_run(const char *const *words)
{
    const command_call call = {words, NULL, NULL, NULL};
    return command_call_run(&call);
}

void command_free(command_result *r)
{
    free(r->out);
    free(r->err);
}

void command_unpack(const char *name, const char *folder)
{
    const char *words[] = {command_path(), "fixture", "export", name, folder, "--quiet", NULL};
    command_result r = command_run(words);
    if (r.status != 0) {
        (void)fputs(r.err, stderr);
        abort();
    }
    command_free(&r);
}
