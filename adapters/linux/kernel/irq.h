/* irq.h - which CPUs serve an interrupt, and the daemon that moves them
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. All paths lie below `root`, a tree of reach ANYWHERE on "/".
 *
 * irqbalance overrides a binding at its next pass, every ten seconds. It can be left alone,
 * told to leave some interrupts alone (its socket, "settings ban irqs"), or stopped: SIGSTOP,
 * which SIGCONT takes back without a service manager.
 */
#ifndef CPUBIND_LINUX_IRQ_H
#define CPUBIND_LINUX_IRQ_H

#include "../linux.h"
#include "cpu_sets.h"
#include "files.h"

/* The CPUs that may serve an interrupt, /proc/irq/<irq>/smp_affinity_list.
 *   out     *set, a number in `sets`
 *   returns 0 or an errno; ENOENT: no such interrupt, or no /proc/irq; EILSEQ: no list */
int cpubind_irq_read(cpubind_root *root, int32_t irq, cpubind_cpu_sets *sets, int32_t *set);

/* The CPUs that do serve it, effective_affinity_list. *set NONE when the kernel has none yet
 * (an empty list) or has no such file. On x86 it follows with the next interrupt only.
 *   returns 0 or an errno */
int cpubind_irq_read_effective(cpubind_root *root, int32_t irq, cpubind_cpu_sets *sets,
                               int32_t *set);

/* Moves an interrupt.
 *   returns 0 or an errno of open(2) or write(2): EACCES, EPERM, EROFS (no right to), ENOENT,
 *           EIO (the kernel manages it), EINVAL, EOVERFLOW (no online CPU among them), ENOSPC;
 *           ENOMEM */
int cpubind_irq_write(cpubind_root *root, int32_t irq, const cpubind_cpu_set *set);

/* The daemon. */
typedef struct cpubind_irqbalance {
    int32_t pid;        /* 0: none is seen to run */
    uint64_t start;     /* field 22 of /proc/<pid>/stat */
    int32_t is_stopped; /* it has been sent SIGSTOP: state T */
} cpubind_irqbalance;

/* Looks for it among the processes that are seen from here: by the name of its socket in
 * /run/irqbalance, else by name among all of /proc. One that root owns comes before others.
 *   returns 0 or an errno
 *   cost    with a socket a listing and one small file, else a read for each process */
int cpubind_irqbalance_find(cpubind_root *root, cpubind_irqbalance *out);

/* 0 when it is still the process that was found, ESRCH when it has ended, or another errno. */
int cpubind_irqbalance_check(cpubind_root *root, const cpubind_irqbalance *daemon);

/* The turn of those that talk to it or stop it: an exclusive flock(2) on the file
 * /proc/<pid>/personality of the daemon, which only root can open. Given back by closing *fd.
 *   returns 0 or an errno; ESRCH when it has ended, EACCES, ETIMEDOUT */
int cpubind_irqbalance_lock(cpubind_root *root, int32_t pid, int *fd);

/* SIGSTOP, SIGCONT to it if it is still the same process (without pidfd_open(2) a process that
 * ends and another that takes its number in between are mistaken).
 *   returns 0 or an errno; ESRCH when it has ended */
int cpubind_irqbalance_stop(cpubind_root *root, const cpubind_irqbalance *daemon);
int cpubind_irqbalance_continue(cpubind_root *root, const cpubind_irqbalance *daemon);

/* Which of these interrupts it was told to leave alone already, by whomever: is_banned[i].
 * Those are not ours to unban later.
 *   returns 0 or an errno, as below */
int cpubind_irqbalance_banned(cpubind_root *root, const cpubind_irqbalance *daemon,
                              const int32_t *irq, int32_t n, int32_t *is_banned);

/* Tells it to leave these interrupts alone, besides those that it was told to before, by us, by
 * another process or on its command line. It keeps one list and a new one replaces it: the list
 * is asked for ("setup"), sent with ours added, and asked for again; what another program
 * changed in between is tried again. All cpubinds take turns by cpubind_irqbalance_lock.
 * Its socket is /run/irqbalance/irqbalance<pid>.sock, else the abstract one; what listens there
 * must be the daemon itself.
 *   in      irq[0 .. n - 1] in any order; n 0: nothing to do
 *   returns 0 or an errno; on an error the list is as before, as far as it still listens
 *           ESRCH: it has ended; ECONNREFUSED: it has no socket; EACCES: not root; EMSGSIZE:
 *           more interrupts than it reads (500 bytes with the command: some hundred);
 *           ETIMEDOUT: no answer, it is stopped perhaps; EPROTO: it answered something else,
 *           or does not keep the list
 *   cost    well under a millisecond; bounded: a second until it shows to be there, ten for
 *           each answer then, three for the turn */
int cpubind_irqbalance_ban(cpubind_root *root, const cpubind_irqbalance *daemon,
                           const int32_t *irq, int32_t n);

/* Takes such a ban back, for these interrupts; other bans stay. */
int cpubind_irqbalance_unban(cpubind_root *root, const cpubind_irqbalance *daemon,
                             const int32_t *irq, int32_t n);

#endif /* CPUBIND_LINUX_IRQ_H */
