/* vm_memory.c - a process with private, shared, locked and huge memory on node 0
 * SPDX-License-Identifier: MIT
 *
 *   memory PRIVATE SHARED LOCKED HUGE [NONE]
 *                                       so many MiB of each; a child maps the shared ones, too;
 *                                       the last ones have no access (PROT_NONE), which to the
 *                                       kernel look as if NUMA balancing had marked them.
 *                                       Prints "ready"; SIGTERM or six hours: ends
 *   memory --fill NODE LEAVE            takes memory of a node until LEAVE MiB are free there,
 *                                       prints "ready" and keeps it
 *
 * Must not change another process.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_SECONDS 21600
#define MPOL_DEFAULT 0
#define MPOL_BIND    2
#define MIB          ((size_t)1 << 20)

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void wait_for_end(void)
{
    puts("ready");
    fflush(stdout);
    while (pause() != 0)
        continue;
}

/* Memory on a node, and then with the default policy, so that it can move. */
static char *take(int node, size_t size, int flags)
{
    unsigned long mask = 1UL << node;
    char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
    if (bytes == MAP_FAILED)
        fail("mmap");
    if (syscall(SYS_mbind, bytes, size, MPOL_BIND, &mask, 8 * sizeof mask, 0) != 0)
        fail("mbind");
    memset(bytes, 1, size);
    if (syscall(SYS_mbind, bytes, size, MPOL_DEFAULT, NULL, 0, 0) != 0)
        fail("mbind");
    return bytes;
}

static size_t mib_of(const char *text)
{
    return (size_t)atol(text) * MIB;
}

static void hold(char **size)
{
    const size_t shared = mib_of(size[1]), locked = mib_of(size[2]), huge = mib_of(size[3]);
    const size_t none = size[4] ? mib_of(size[4]) : 0;
    if (shared) {
        const volatile char *bytes = take(0, shared, MAP_SHARED);
        const pid_t child = fork();
        if (child < 0)
            fail("fork");
        if (child == 0) {
            unsigned sum = 0;
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (size_t at = 0; at < shared; at += 4096)
                sum += (unsigned char)bytes[at];
            if (sum != shared / 4096)
                exit(1);
            while (pause() != 0)
                continue;
        }
        sleep(1); /* until the child has mapped all pages */
    }
    if (mib_of(size[0]))
        take(0, mib_of(size[0]), MAP_PRIVATE);
    if (locked && mlock(take(0, locked, MAP_PRIVATE), locked) != 0)
        fail("mlock");
    if (huge)
        take(0, huge, MAP_PRIVATE | MAP_HUGETLB);
    if (none && mprotect(take(0, none, MAP_PRIVATE), none, PROT_NONE) != 0)
        fail("mprotect");
    wait_for_end();
}

static long free_mib(int node)
{
    char name[64], line[128];
    long kb = -1;
    snprintf(name, sizeof name, "/sys/devices/system/node/node%d/meminfo", node);
    FILE *file = fopen(name, "re");
    if (!file)
        fail(name);
    while (kb < 0 && fgets(line, sizeof line, file))
        if (strstr(line, "MemFree:"))
            kb = atol(strchr(line, ':') + 1);
    fclose(file);
    return kb / 1024;
}

static void fill(int node, long leave)
{
    while (free_mib(node) > leave)
        take(node, MIB, MAP_PRIVATE);
    wait_for_end();
}

int main(int argc, char **argv)
{
    alarm(MOST_SECONDS);
    if (argc == 4 && strcmp(argv[1], "--fill") == 0)
        fill(atoi(argv[2]), atol(argv[3]));
    else if (argc == 5 || argc == 6)
        hold(argv + 1);
    else
        return 2;
    return 0;
}
