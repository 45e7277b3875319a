/* run_command.h - run the cpubind command and keep what it says, for tests
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_CLI_RUN_COMMAND_H
#define CPUBIND_TESTS_CLI_RUN_COMMAND_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMAND_WORDS 64

typedef struct command_result {
    int status; /* exit status; 128 + n when signal n ended it; -1: it could not be run */
    char *out;  /* stdout, NUL-terminated */
    char *err;  /* stderr, NUL-terminated */
} command_result;

/* CPUBIND, or the command of the build that this program is of. */
static inline const char *command_path(void)
{
    static char beside[4096];
    const char *path = getenv("CPUBIND");
    ssize_t n = path ? 0 : readlink("/proc/self/exe", beside, sizeof beside - 1);
    if (path)
        return path;
    if (n < 0)
        abort();
    beside[n] = '\0';
    *strrchr(beside, '/') = '\0';
    strcat(beside, "/cpubind");
    return beside;
}

static inline char *command_slurp(FILE *file)
{
    size_t cap = 1 << 20;
    char *text = (char *)malloc(cap);
    size_t n;
    if (!text)
        abort();
    rewind(file);
    n = fread(text, 1, cap - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

/* Run `words`, ended by NULL, the first being the program. */
static inline command_result command_run(const char *const *words)
{
    command_result r = {-1, NULL, NULL};
    const char *program = words[0];
    FILE *out = tmpfile();
    FILE *err = tmpfile();
    pid_t pid;
    int status = 0;
    if (!out || !err)
        abort();
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDONLY);
        dup2(null, 0);
        dup2(fileno(out), 1);
        dup2(fileno(err), 2);
        execvp(program, (char *const *)words);
        _exit(127);
    }
    if (pid > 0 && waitpid(pid, &status, 0) == pid)
        r.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    r.out = command_slurp(out);
    r.err = command_slurp(err);
    return r;
}

/* Whether a terminal can be had: a root of its own may lack /dev/pts. */
static inline int command_has_terminals(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master >= 0)
        close(master);
    return master >= 0;
}

/* Run `words` with stdout on a terminal of `columns`; stderr goes there too. */
static inline command_result command_run_on_terminal(const char *const *words,
                                                     unsigned short columns)
{
    command_result r = {-1, NULL, NULL};
    const char *program = words[0];
    struct winsize size = {24, columns, 0, 0};
    size_t cap = 1 << 20;
    size_t n = 0;
    ssize_t got;
    int status = 0;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    pid_t pid;
    r.out = (char *)malloc(cap);
    r.err = (char *)calloc(1, 1);
    if (!r.out || !r.err || master < 0 || grantpt(master) || unlockpt(master) ||
        ioctl(master, TIOCSWINSZ, &size))
        abort();
    pid = fork();
    if (pid == 0) {
        int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
        dup2(slave, 0);
        dup2(slave, 1);
        dup2(slave, 2);
        execvp(program, (char *const *)words);
        _exit(127);
    }
    /* Read until the other end is closed (EIO) while the command runs. */
    while (n < cap - 1) {
        got = read(master, r.out + n, cap - 1 - n);
        if (got > 0)
            n += (size_t)got;
        else if (waitpid(pid, &status, WNOHANG) == pid)
            break;
        else
            usleep(1000);
    }
    r.out[n] = '\0';
    close(master);
    r.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return r;
}

static inline void command_free(command_result *r)
{
    free(r->out);
    free(r->err);
}

/* Writes a fixture host as a folder, which does not exist or is empty. */
static inline void command_unpack(const char *name, const char *folder)
{
    const char *words[] = {command_path(), "fixture", "export", name, folder, "--quiet", NULL};
    command_result r = command_run(words);
    if (r.status != 0) {
        fputs(r.err, stderr);
        abort();
    }
    command_free(&r);
}

#endif
