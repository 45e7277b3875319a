/* irqbalance.h - irqbalance, the daemon that moves interrupts: find, ban interrupts
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. All paths are below `root`, which is "/".
 *
 * irqbalance overrides a binding at its next pass, every ten seconds. cpubind can leave it
 * alone, or make it leave some interrupts alone (its socket, "settings ban irqs").
 */
#ifndef CPUBIND_LINUX_IRQBALANCE_H
#define CPUBIND_LINUX_IRQBALANCE_H

#include "files.h"

typedef struct cpubind_irqbalance {
    int32_t pid;        /* 0: none was found */
    uint64_t start;     /* field 22 of /proc/<pid>/stat */
    int32_t is_stopped; /* it has been sent SIGSTOP: state T */
} cpubind_irqbalance;

/* Looks for the daemon among the processes that are visible here: by the name of its socket in
 * /run/irqbalance, else by its name in all of /proc, where a process of root comes first.
 *   out     *out; pid 0 when none was found; unchanged on failure
 *   errors  "find"
 *   cost    with a socket a listing and one small file, else a read for each process */
cpubind_linux_fault cpubind_irqbalance_find(cpubind_root *root, cpubind_irqbalance *out);

/* Whether the daemon is still the process that was found.
 *   errors  ESRCH: that process has ended; others: not known */
cpubind_linux_fault cpubind_irqbalance_check(cpubind_root *root,
                                             const cpubind_irqbalance *daemon);

/* Takes the lock that every cpubind holds while it talks to the daemon: an
 * exclusive flock(2) on the file /proc/<pid>/personality, which only root can open. Waits up to
 * three seconds. Closing *fd releases it.
 *   out     *fd; unchanged on failure
 *   errors  "lock": ESRCH: the daemon has ended; EACCES; ETIMEDOUT */
cpubind_linux_fault cpubind_irqbalance_lock(cpubind_root *root, int32_t pid, int *fd);

/* Which of these interrupts the daemon has banned already, by anybody's wish: is_banned[i]. A
 * binding must not unban those later.
 *   errors  "ban", as below */
cpubind_linux_fault cpubind_irqbalance_banned(cpubind_root *root,
                                              const cpubind_irqbalance *daemon,
                                              const int32_t *irq, int32_t n,
                                              int32_t *is_banned);

/* Bans these interrupts: the daemon leaves them alone from then on, besides those that were
 * banned before. It keeps one list, and a new list replaces it: cpubind reads the list
 * ("setup"), writes it with these interrupts added, and reads it again; when another program
 * has changed it in between, cpubind tries again. The lock keeps other cpubinds away.
 * Its socket is /run/irqbalance/irqbalance<pid>.sock, else the abstract one; the process that
 * listens there must be the daemon.
 *   in      irq[0 .. n - 1] in any order; n 0: nothing to do
 *   errors  "ban"; the list is as before then, as far as the daemon still answers
 *           ESRCH: it has ended; ECONNREFUSED: it has no socket; EACCES: not root; EMSGSIZE:
 *           more interrupts than it reads (500 bytes with the command: some hundred);
 *           ETIMEDOUT: no answer, it may be stopped; EPROTO: an answer that makes no sense, or
 *           it does not keep the list
 *   cost    well under a millisecond; at most a second for its first answer, ten for each
 *           later one, three for the lock */
cpubind_linux_fault cpubind_irqbalance_ban(cpubind_root *root, const cpubind_irqbalance *daemon,
                                           const int32_t *irq, int32_t n);

/* Undoes such a ban of these interrupts; other bans stay.
 *   errors  "unban", as above */
cpubind_linux_fault cpubind_irqbalance_unban(cpubind_root *root,
                                             const cpubind_irqbalance *daemon,
                                             const int32_t *irq, int32_t n);

#endif /* CPUBIND_LINUX_IRQBALANCE_H */
