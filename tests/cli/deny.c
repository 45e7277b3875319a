/* deny.c - runs a command with system calls that a filter refuses, as a container's does
 * SPDX-License-Identifier: MIT
 *
 *   deny CALL[,CALL...] COMMAND [ARGUMENT...]
 *
 * EPERM is the answer to each of them. Exit status 77: no filter can be set here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned int number;
} calls[] = {{"sched_setaffinity", SYS_sched_setaffinity},
             {"sched_getaffinity", SYS_sched_getaffinity},
             {"move_pages", SYS_move_pages},
             {"set_mempolicy", SYS_set_mempolicy}};

#define N_CALL (sizeof calls / sizeof *calls)

/* Loads the number of the call; jumps to the last statement for each that is named. */
static int set_filter(const char *names)
{
    struct sock_filter code[N_CALL + 3];
    struct sock_fprog program = {0, code};
    unsigned short n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                             offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < N_CALL; i++)
        if (strstr(names, calls[i].name))
            code[n++] =
                (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 0);
    for (unsigned short i = 1; i < n; i++)
        code[i].jt = (unsigned char)(n - i);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    program.len = n;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    if (!set_filter(argv[1])) {
        perror("deny");
        return 77;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
