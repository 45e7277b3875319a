/* run_command.h - run the cpubind command and keep what it says, for tests
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_CLI_RUN_COMMAND_H
#define CPUBIND_TESTS_CLI_RUN_COMMAND_H

#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMAND_WORDS 64

extern char **environ;

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
    const off_t size = lseek(fileno(file), 0, SEEK_END);
    char *text = (char *)malloc((size_t)size + 1);
    size_t n;
    if (size < 0 || !text)
        abort();
    rewind(file);
    n = fread(text, 1, (size_t)size, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

/* Run `words`, ended by NULL, the first being the program. A fork would copy the tables of all
 * pages of this program, which with sanitizers are many. */
static inline command_result command_run(const char *const *words)
{
    command_result r = {-1, NULL, NULL};
    FILE *out = tmpfile();
    FILE *err = tmpfile();
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 0;
    if (!out || !err)
        abort();
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(out), 1);
    posix_spawn_file_actions_adddup2(&actions, fileno(err), 2);
    if (posix_spawnp(&pid, words[0], &actions, NULL, (char *const *)words, environ) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    if (pid > 0 && waitpid(pid, &status, 0) == pid)
        r.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    r.out = command_slurp(out);
    r.err = command_slurp(err);
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
