/* vm_worker.c - a process with the threads and the memory of a process that drives an NPU
 * SPDX-License-Identifier: MIT
 *
 *   worker NODES MIB DEVICE [FILE]
 *                         threads of a runtime, MIB of memory on each of the first NODES nodes;
 *                         drives the NPU of this logic id, as npu.c says, or the GPU of this
 *                         device file; maps the file, which it shares with other workers
 *   worker --walk NODE MIB DEVICE
 *                         two threads read MIB of memory on this node, again and again, and
 *                         sleep most of the time
 *   worker --uvb THREADS  threads that poll for a 950 host
 *   worker --chain FIRST LAST
 *                         each thread starts the next one and ends; SIGUSR1 prints "chain", how
 *                         many were born since the last SIGUSR1, and how many of them with a
 *                         CPU that is not from FIRST to LAST
 *
 * Prints "ready" when all threads run. SIGUSR1: starts two more threads, one of them named
 * acl_thread. SIGUSR2: one thread allows itself all CPUs. SIGHUP: executes itself again, with
 * the same pid. SIGQUIT: starts 1,000 threads, one each millisecond, which end at once, and
 * prints "storm" and the milliseconds that it took. SIGTERM, or six hours: exits. Must not
 * change a mask otherwise.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_SECONDS 21600
#define MOST_NPUS    16
#define MPOL_DEFAULT 0
#define MPOL_BIND    2

static pthread_barrier_t all_named;
static int drift[2];

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void drift_on_command(void)
{
    cpu_set_t all;
    char byte;
    memset(&all, 0xff, sizeof all);
    while (read(drift[0], &byte, 1) == 1)
        if (sched_setaffinity(0, sizeof all, &all) != 0)
            fail("sched_setaffinity");
}

static char *walked;
static size_t n_walked;

/* Reads a page of each 64 KiB, and sleeps 5 ms; never ends. */
static void walk(void)
{
    const struct timespec pause = {0, 5000000};
    for (;;) {
        for (size_t at = 0; at < n_walked; at += 64 << 10)
            (void)*(volatile char *)&walked[at];
        nanosleep(&pause, NULL);
    }
}

/* A thread without a name keeps the name of the process. */
static void *run(void *name)
{
    if (name)
        prctl(PR_SET_NAME, name);
    pthread_barrier_wait(&all_named);
    if (name && strcmp(name, "drifter") == 0)
        drift_on_command();
    if (name && strncmp(name, "walker", 6) == 0)
        walk();
    while (pause() != 0)
        continue;
    return NULL;
}

static void start(const char *name)
{
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    union {
        const char *in;
        void *out;
    } argument = {name};
    if (pthread_create(&thread, &small, run, argument.out) != 0)
        fail("pthread_create");
}

static void start_all(const char *const *name, unsigned n)
{
    pthread_barrier_init(&all_named, NULL, n + 1);
    for (unsigned i = 0; i < n; i++)
        start(name[i]);
    pthread_barrier_wait(&all_named);
    pthread_barrier_destroy(&all_named);
}

/* Memory with pages on each node, and then with the default policy, so that it can move. */
static void fill_nodes(int first, int n_node, size_t size)
{
    for (int node = first; node < first + n_node; node++) {
        unsigned long mask = 1UL << node;
        char *bytes =
            mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (bytes == MAP_FAILED)
            fail("mmap");
        if (syscall(SYS_mbind, bytes, size, MPOL_BIND, &mask, 8 * sizeof mask, 0) != 0)
            fail("mbind");
        memset(bytes, node + 1, size);
        walked = bytes;
        n_walked = size;
        if (syscall(SYS_mbind, bytes, size, MPOL_DEFAULT, NULL, 0, 0) != 0)
            fail("mbind");
    }
}

/* Opens each davinci device once, which gives the devices of a container their logic ids, and
 * keeps davinci_manager open, as the library of the driver does. */
static void drive(unsigned long logic_id)
{
    int manager = open("/dev/davinci_manager", O_RDWR | O_CLOEXEC);
    if (manager < 0)
        fail("davinci_manager");
    for (int i = 0; i < MOST_NPUS; i++) {
        char path[32];
        snprintf(path, sizeof path, "/dev/davinci%d", i);
        int npu = open(path, O_RDWR | O_CLOEXEC);
        if (npu >= 0)
            close(npu);
    }
    if (ioctl(manager, _IO('Z', 0), logic_id) != 0)
        fail("ioctl");
}

/* Keeps the files of a GPU open, as the library of ROCm does. */
static void drive_gpu(const char *path)
{
    if (open("/dev/kfd", O_RDWR | O_CLOEXEC) < 0 || open(path, O_RDWR | O_CLOEXEC) < 0)
        fail(path);
}

/* Weights that all workers of a host share: maps all pages of a file. */
static void share(const char *path)
{
    int file = open(path, O_RDWR | O_CLOEXEC);
    off_t size = file < 0 ? 0 : lseek(file, 0, SEEK_END);
    volatile char *bytes = size <= 0 ? NULL
                                     : mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_POPULATE, file, 0);
    if (!bytes || bytes == MAP_FAILED)
        fail(path);
    for (off_t i = 0; i < size; i += 4096)
        bytes[i] = 1;
    close(file);
}

static void *end_at_once(void *unused)
{
    return unused;
}

static long long milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void storm(void)
{
    long long start_ms = milliseconds();
    for (int i = 0; i < 1000; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, end_at_once, NULL) != 0)
            fail("pthread_create");
        pthread_detach(thread);
        while (milliseconds() < start_ms + i)
            usleep(200);
    }
    printf("storm %lld\n", milliseconds() - start_ms);
    fflush(stdout);
}

static int first_cpu, last_cpu;
static _Atomic long n_born, n_outside;

/* A link of the chain: looks at its mask, and starts the next one. */
static void *link_of_chain(void *unused)
{
    pthread_t next;
    pthread_attr_t small;
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) != 0)
        fail("sched_getaffinity");
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, &mask) && (cpu < first_cpu || cpu > last_cpu)) {
            n_outside++;
            break;
        }
    n_born++;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&next, &small, link_of_chain, NULL) != 0)
        fail("pthread_create");
    return unused;
}

static void say_chain(void)
{
    const long born = n_born, outside = n_outside;
    n_born -= born;
    n_outside -= outside;
    printf("chain %ld %ld\n", born, outside);
    fflush(stdout);
}

static void execute_again(char **argv)
{
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    execv("/proc/self/exe", argv);
    fail("execv");
}

static void serve(const sigset_t *signals, char **argv)
{
    static const char *const later[] = {"born_later", "acl_thread"};
    int signal;
    while (sigwait(signals, &signal) == 0) {
        if (signal == SIGUSR1 && last_cpu > 0)
            say_chain();
        else if (signal == SIGUSR1)
            start_all(later, 2);
        else if (signal == SIGUSR2 && write(drift[1], "", 1) != 1)
            fail("write");
        else if (signal == SIGQUIT)
            storm();
        else if (signal == SIGHUP)
            execute_again(argv);
        else if (signal == SIGTERM || signal == SIGALRM)
            exit(0);
    }
}

int main(int argc, char **argv)
{
    static const char *const named[] = {
        "main_thread", "acl_thread",   "release_thread",
        "RT_RECYCLE",  "RT_SEND",      "hccl_watchdog_t",
        "drifter",     "acl_thread_2", "other_thread",
        "acl_threa",   NULL,           NULL,
        NULL,          NULL,           NULL,
        NULL,          NULL,           NULL,
        NULL,
    };
    sigset_t signals;
    const int is_chain = argc > 1 && strcmp(argv[1], "--chain") == 0;
    const int is_walk = argc > 1 && strcmp(argv[1], "--walk") == 0;
    if (argc < 3 || (is_chain && argc != 4) || (is_walk && argc != 5))
        return 2;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGUSR2);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGQUIT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    alarm(MOST_SECONDS);
    if (pipe(drift) != 0)
        fail("pipe");
    if (is_walk)
        drive(strtoul(argv[4], NULL, 10));
    else if (argc >= 4 && argv[3][0] == '/')
        drive_gpu(argv[3]);
    else if (argc >= 4 && !is_chain)
        drive(strtoul(argv[3], NULL, 10));
    if (is_chain) {
        first_cpu = atoi(argv[2]);
        last_cpu = atoi(argv[3]);
        (void)link_of_chain(NULL);
    } else if (is_walk) {
        static const char *const walkers[] = {"walker", "walker_2"};
        fill_nodes(atoi(argv[2]), 1, (size_t)atoi(argv[3]) << 20);
        start_all(walkers, 2);
    } else if (strcmp(argv[1], "--uvb") == 0) {
        int n = atoi(argv[2]);
        static const char *uvb[16];
        for (int i = 0; i < n && i < 16; i++)
            uvb[i] = "uvb_poll_window_thread";
        start_all(uvb, n < 16 ? (unsigned)n : 16);
    } else {
        if (argc == 5)
            share(argv[4]);
        fill_nodes(0, atoi(argv[1]), (size_t)atoi(argv[2]) << 20);
        start_all(named, sizeof named / sizeof *named);
    }
    puts("ready");
    fflush(stdout);
    serve(&signals, argv);
    return 0;
}
