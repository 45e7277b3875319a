/* irqbalance_double.h - a process that answers as irqbalance does, for tests
 * SPDX-License-Identifier: MIT
 *
 * A child with the name of the daemon, a socket in <dir>/run/irqbalance or an abstract one, and
 * a list of bans in memory that it shares with the test. It must not move interrupts. It serves
 * the user of the test; the daemon serves only root. As the daemon, it reads a command once and
 * at most 500 bytes of it, serves one connection after the other, and dies of SIGPIPE if the
 * client is gone before the answer. Rules: irqbalance(1), "API", and irqbalance_reply.h.
 */
#ifndef CPUBIND_TESTS_LINUX_IRQBALANCE_DOUBLE_H
#define CPUBIND_TESTS_LINUX_IRQBALANCE_DOUBLE_H

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "temp_dir.h"

#define DOUBLE_MAX 400

typedef enum double_way {
    DOUBLE_AS_IT_IS,
    DOUBLE_SERVES_NOBODY,    /* closes every connection */
    DOUBLE_SAYS_NOTHING,     /* accepts the connection and does nothing */
    DOUBLE_SAYS_NONSENSE,    /* as the answer to "setup" */
    DOUBLE_ANSWERS_ALL,      /* also commands that have no answer */
    DOUBLE_CUTS_LISTS,       /* keeps only 30 bytes of a list */
    DOUBLE_HAS_RIVAL,        /* another program bans 77 once, after a list and before "setup" */
    DOUBLE_HAS_ETERNAL_RIVAL /* the same each time, with another interrupt */
} double_way;

typedef enum double_socket {
    DOUBLE_IN_RUN,   /* <dir>/run/irqbalance/irqbalance<pid>.sock */
    DOUBLE_NAMED,    /* abstract, irqbalance<pid>.sock and NULs up to the end */
    DOUBLE_NAMELESS, /* abstract, all NUL */
    DOUBLE_WITHOUT_SOCKET
} double_socket;

/* The memory that test and child share. */
typedef struct double_shared {
    volatile int way, delay_ms, setup_delay_ms, is_ready;
    volatile int n, irq[DOUBLE_MAX]; /* the bans */
    volatile int n_setup, n_settings, n_rival;
    volatile char last[600]; /* the last command but "setup" */
} double_shared;

typedef struct irqbalance_double {
    pid_t pid;
    double_shared *shared;
} irqbalance_double;

static inline void double_ban(double_shared *shared, int irq)
{
    for (int i = 0; i < shared->n; i++)
        if (shared->irq[i] == irq)
            return;
    scratch_need(shared->n < DOUBLE_MAX, "bans");
    shared->irq[shared->n] = irq;
    shared->n = shared->n + 1;
}

static inline void double_settings(double_shared *shared, char *text)
{
    char *end = NULL;
    shared->n_settings = shared->n_settings + 1;
    for (size_t i = 0; i == 0 || text[i - 1]; i++)
        shared->last[i] = text[i];
    text += strlen("settings ban irqs ");
    if (shared->way == DOUBLE_CUTS_LISTS && strlen(text) > 30)
        text[30] = '\0';
    shared->n = 0;
    if (strncmp(text, "NONE", 4) == 0)
        return;
    int irq = (int)strtol(text, &end, 10);
    do
        double_ban(shared, irq);
    while ((irq = (int)strtol(end, &end, 10)) != 0);
}

static inline void double_setup(double_shared *shared, int fd)
{
    static char answer[65536];
    size_t len = (size_t)snprintf(answer, sizeof answer, "SLEEP 10 ");
    shared->n_setup = shared->n_setup + 1;
    if (shared->way == DOUBLE_HAS_ETERNAL_RIVAL ||
        (shared->way == DOUBLE_HAS_RIVAL && shared->n_settings == 1)) {
        shared->n_rival = shared->n_rival + 1;
        if (shared->n_settings > 0)
            double_ban(shared, 76 + shared->n_rival);
    }
    for (int i = 0; i < shared->n; i++)
        len += (size_t)snprintf(answer + len, sizeof answer - len,
                                "IRQ %d LOAD 7 DIFF 0 CLASS 0 ", shared->irq[i]);
    len += (size_t)snprintf(answer + len, sizeof answer - len, "BANNED 00000000");
    if (shared->way == DOUBLE_SAYS_NONSENSE)
        len = (size_t)snprintf(answer, sizeof answer, "SLEEP soundly");
    usleep((useconds_t)shared->setup_delay_ms * 1000);
    scratch_need(send(fd, answer, len, 0) == (ssize_t)len, "send"); /* or SIGPIPE */
}

/* Serves one connection. */
static inline void double_serve(double_shared *shared, int fd)
{
    char text[501] = "";
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec data = {text, 500};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct ucred who = {0, 1, 1};
    ssize_t n = recvmsg(fd, &message, 0);
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (n <= 0 || !head || head->cmsg_type != SCM_CREDENTIALS)
        return;
    memcpy(&who, CMSG_DATA(head), sizeof who);
    if (who.uid != geteuid() || shared->way == DOUBLE_SERVES_NOBODY)
        return;
    while (shared->way == DOUBLE_SAYS_NOTHING)
        usleep(1000);
    usleep((useconds_t)shared->delay_ms * 1000);
    if (strncmp(text, "settings ban irqs ", 18) == 0)
        double_settings(shared, text);
    if (strncmp(text, "setup", 5) == 0)
        double_setup(shared, fd);
    else if (shared->way == DOUBLE_ANSWERS_ALL && text[0] == 's')
        scratch_need(send(fd, "OK", 2, MSG_NOSIGNAL) == 2, "send");
}

static inline int double_listen(const char *dir, double_socket where)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int on = 1, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    scratch_need(fd >= 0, "socket");
    if (where == DOUBLE_IN_RUN) {
        scratch_need(chdir(dir) == 0 && chdir("run/irqbalance") == 0, dir);
        snprintf(address.sun_path, sizeof address.sun_path, "irqbalance%ld.sock",
                 (long)getpid());
    }
    if (where == DOUBLE_NAMED)
        snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "irqbalance%ld.sock",
                 (long)getpid());
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0)
        return -1;
    scratch_need(setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0, "SO_PASSCRED");
    scratch_need(listen(fd, 1) == 0, "listen");
    return fd;
}

static inline void double_run(double_shared *shared, const char *dir, double_socket where)
{
    int fd = where == DOUBLE_WITHOUT_SOCKET ? -2 : double_listen(dir, where);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "irqbalance");
    shared->is_ready = fd == -1 ? -1 : 1;
    while (fd == -2)
        pause();
    for (;;) {
        int one = accept(fd, NULL, NULL);
        if (one < 0)
            _exit(1);
        double_serve(shared, one);
        close(one);
    }
}

/* Starts the child. Returns 0 if another socket of this machine has its address. */
static inline int double_start(irqbalance_double *d, const char *dir, double_socket where)
{
    void *memory = mmap(NULL, sizeof *d->shared, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    scratch_need(memory != MAP_FAILED, "mmap");
    d->shared = memory;
    d->pid = fork();
    scratch_need(d->pid >= 0, "fork");
    if (d->pid == 0)
        double_run(d->shared, dir, where);
    while (!d->shared->is_ready)
        usleep(500);
    return d->shared->is_ready > 0;
}

static inline void double_end(const irqbalance_double *d)
{
    kill(d->pid, SIGKILL);
    scratch_need(waitpid(d->pid, NULL, 0) == d->pid, "waitpid");
    munmap(d->shared, sizeof *d->shared);
}

#endif /* CPUBIND_TESTS_LINUX_IRQBALANCE_DOUBLE_H */
