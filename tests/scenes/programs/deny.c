/* deny.c - runs a command with system calls that a filter refuses, as a container's does
 * SPDX-License-Identifier: MIT
 *
 *   deny CALL[,CALL...] COMMAND [ARGUMENT...]
 *
 * EPERM is the answer to each of them. The words bind_policy and preferred_policy stand for
 * set_mempolicy with that mode alone. Exit status 77: no filter can be set here.
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
    int mode; /* the first argument of the calls that are refused; -1: all calls are */
} calls[] = {{"sched_setaffinity", SYS_sched_setaffinity, -1},
             {"sched_getaffinity", SYS_sched_getaffinity, -1},
             {"move_pages", SYS_move_pages, -1},
             {"perf_event_open", SYS_perf_event_open, -1},
             {"readlinkat", SYS_readlinkat, -1},
             {"set_mempolicy", SYS_set_mempolicy, -1},
             {"preferred_policy", SYS_set_mempolicy, 1}, /* of one node */
             {"bind_policy", SYS_set_mempolicy, 2}};

#define N_CALL (sizeof calls / sizeof *calls)

/* The low half of the first argument, where a mode is. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FIRST_ARGUMENT offsetof(struct seccomp_data, args)
#else
#define FIRST_ARGUMENT (offsetof(struct seccomp_data, args) + 4)
#endif

static const struct sock_filter load_number =
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
static const struct sock_filter load_mode = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIRST_ARGUMENT);
static const struct sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);

/* Passes over the next statements unless the loaded value is this one. */
static struct sock_filter unless(unsigned int value, unsigned char skipped)
{
    return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped);
}

/* Loads the number of the call; refuses each that is named. */
static int set_filter(const char *names)
{
    struct sock_filter code[N_CALL * 5 + 2];
    struct sock_fprog program = {0, code};
    unsigned short n = 0;
    code[n++] = load_number;
    for (size_t i = 0; i < N_CALL; i++) {
        if (!strstr(names, calls[i].name))
            continue;
        code[n++] = unless(calls[i].number, calls[i].mode < 0 ? 1 : 4);
        if (calls[i].mode >= 0) {
            code[n++] = load_mode;
            code[n++] = unless((unsigned int)calls[i].mode, 1);
        }
        code[n++] = refuse;
        if (calls[i].mode >= 0)
            code[n++] = load_number;
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
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
