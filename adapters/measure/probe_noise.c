/* probe_noise.c - what runs beside made workers: computing, copying, packets
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "probe_parts.h"

/* Packets between two sleeps of a millisecond: each is a softirq on its CPU. */
enum { PACKETS = 32 };

static void compute(void *ctx, cpubind_crew *crew)
{
    cpubind_noise_thread *t = ctx;
    while (!cpubind_crew_is_over(crew))
        t->sum = cpubind_probe_compute(t->sum, 10000);
}

static cpubind_linux_fault prepare_copy(void *ctx, const cpubind_sys *sys)
{
    cpubind_noise_thread *t = ctx;
    return cpubind_probe_memory(sys, &t->memory);
}

static void copy(void *ctx, cpubind_crew *crew)
{
    cpubind_noise_thread *t = ctx;
    const size_t piece = 1 << 20, half = CPUBIND_PROBE_BYTES / 2;
    for (size_t at = 0; !cpubind_crew_is_over(crew); at = (at + piece) % half)
        memcpy(t->memory + half + at, t->memory + at, piece);
}

/* A socket that is connected with itself. */
static cpubind_linux_fault prepare_packets(void *ctx, const cpubind_sys *sys)
{
    cpubind_noise_thread *t = ctx;
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int fd = sys->socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t len = sizeof own;
    if (fd < 0)
        return cpubind_fault_errno("socket");
    t->fd = fd;
    if (sys->bind(fd, (struct sockaddr *)&own, len) < 0)
        return cpubind_fault_errno("socket");
    if (getsockname(fd, (struct sockaddr *)&own, &len) < 0)
        return cpubind_fault_errno("socket");
    if (sys->connect(fd, (struct sockaddr *)&own, len) < 0)
        return cpubind_fault_errno("socket");
    return cpubind_no_fault;
}

static void send_packets(void *ctx, cpubind_crew *crew)
{
    cpubind_noise_thread *t = ctx;
    char packet[1024] = "";
    while (!cpubind_crew_is_over(crew)) {
        for (int i = 0; i < PACKETS; i++) {
            (void)send(t->fd, packet, sizeof packet, MSG_NOSIGNAL);
            (void)recv(t->fd, packet, sizeof packet, 0);
        }
        (void)poll(NULL, 0, 1);
    }
}

cpubind_linux_fault cpubind_noise_add(const cpubind_sys *sys, const cpubind_probe_noise *noise,
                                      cpubind_crew *crew, cpubind_noise_thread *thread)
{
    const struct {
        int32_t n;
        cpubind_linux_fault (*prepare)(void *ctx, const cpubind_sys *sys);
        void (*work)(void *ctx, cpubind_crew *crew);
    } kinds[] = {{noise->n_cpu, NULL, compute},
                 {noise->n_memory, prepare_copy, copy},
                 {noise->n_irq, prepare_packets, send_packets}};
    cpubind_linux_fault fault = cpubind_no_fault;
    (void)sys;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int32_t i = 0; i < kinds[k].n && !fault.error; i++) {
            thread->fd = -1;
            fault = cpubind_crew_add(crew, &(cpubind_crew_job){noise->cpus, kinds[k].prepare,
                                                               kinds[k].work, thread});
            thread++;
        }
    return fault;
}

void cpubind_noise_free(const cpubind_sys *sys, cpubind_noise_thread *thread, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        free(thread[i].memory);
        if (thread[i].fd > 0)
            (void)sys->close(thread[i].fd);
    }
}
