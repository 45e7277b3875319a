/* host_record.h - the journal of the host: what several users share, and how it was before
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux/bind. An interrupt, a polling thread, a kernel thread and a work
 * queue of the driver, a setting, a ban of irqbalance are of the host: several bound processes
 * and cpubind doctor --fix may use one. So each has one entry for all of them, with the value
 * that it had before any of them came, and its users, the last one last. In which order they
 * are restored makes no difference then: while another user lives, the entry gets what the last
 * of those gave it; after the last one it goes back to what it was at first.
 *
 * FILE   host.record in the folder of records, text (host_text.c has the grammar); the rules of
 *        record.h hold for it. Written before anything is changed. Gone without entries.
 * LOCK   host.record.lock, held by one call of apply, restore or a watch from reading the file
 *        to the last change of an entry; waited for. The lock of a process is taken first.
 * DEAD   A user whose process has ended stays on record as long as an entry may still be where
 *        it was moved for that user; it does not count as a user otherwise. Of one of another
 *        pid or time namespace nobody knows here whether it has ended: it counts as one that
 *        lives.
 */
#ifndef CPUBIND_LINUX_HOST_RECORD_H
#define CPUBIND_LINUX_HOST_RECORD_H

#include "../kernel/bytes.h"
#include "../kernel/cpu_sets.h"
#include "bind.h"
#include "record.h"

/* Who uses an entry. Two lines of one user: it was moved for the first before. */
typedef struct cpubind_shared_user {
    int32_t pid;
    uint64_t start;
    cpubind_namespaces space; /* where these two were taken */
    int32_t set;              /* what it gave */
} cpubind_shared_user;

/* In place of a pid: the user that cpubind doctor --fix is. It lives until it is restored. */
#define CPUBIND_DOCTOR (-1)

/* IRQ: number, id. THREAD, POLLING: number is the tid, pid, start. KERNEL: the same, and
 * id.name. WORKQUEUE: id.name. FILE: id.name is its setting, id.index its number. BAN: number
 * is the pid of irqbalance, start, id.index the interrupt; a set is NONE or the value "ban". */
typedef struct cpubind_shared_entry {
    cpubind_item_kind kind;
    int32_t number;
    cpubind_irq_id id;
    int32_t pid;
    uint64_t start;           /* of the thread or the daemon: field 22 of its stat */
    cpubind_namespaces space; /* where its numbers were taken */
    int32_t before;
    cpubind_shared_user *user;
    int32_t n_user, cap_user; /* at least one */
    int32_t is_back;          /* this call has put it back; not in the file */
} cpubind_shared_entry;

/* Its sets are numbers in the cpubind_cpu_sets that it was read with. */
typedef struct cpubind_shared_record {
    char boot[64];               /* as in cpubind_record */
    cpubind_shared_entry *entry; /* by cpubind_shared_compare */
    int32_t n_entry, cap_entry;
} cpubind_shared_record;

void cpubind_shared_free(cpubind_shared_record *host);

/* The order of entries: by kind; then what has a number of a process by that, its start and its
 * namespaces, the others by id. */
int cpubind_shared_compare(const cpubind_shared_entry *a, const cpubind_shared_entry *b);

/* The place of the entry that compares equal, or -1. */
int32_t cpubind_shared_find(const cpubind_shared_record *host,
                            const cpubind_shared_entry *like);

/* Adds an entry without users, unless there is one that compares equal.
 *   out     *place
 *   errors  ENOMEM, "memory" */
cpubind_linux_fault cpubind_shared_add(cpubind_shared_record *host, const cpubind_sys *sys,
                                       const cpubind_shared_entry *entry, int32_t *place);

/* Adds a user at the end.
 *   errors  ENOMEM, "memory" */
cpubind_linux_fault cpubind_shared_add_user(cpubind_shared_entry *entry, const cpubind_sys *sys,
                                            const cpubind_shared_user *user);

/* Drops a user, and the entry with its last one. Returns whether it is gone. */
int cpubind_shared_leave(cpubind_shared_record *host, int32_t place,
                         const cpubind_shared_user *user);

void cpubind_shared_drop_user(cpubind_shared_entry *entry, int32_t place);
void cpubind_shared_drop(cpubind_shared_record *host, int32_t place);

/* Whether a set is that of a user, so that the entry was moved there by cpubind. */
int cpubind_shared_is_given(const cpubind_shared_entry *entry, int32_t set);

/* == As text (host_text.c) ================================================== */

/* Writes the text. Reading it gives an equal record, and no other text does.
 *   out     `out`, empty before, holds it; undefined on failure, to be freed all the same
 *   errors  ENOMEM, "memory"; EINVAL, "argument"; EFBIG, "write" */
cpubind_linux_fault cpubind_shared_format(const cpubind_shared_record *host,
                                          const cpubind_cpu_sets *sets, const cpubind_sys *sys,
                                          cpubind_bytes *out);

/* Reads the record of a text.
 *   out     *out, all zero on failure; `sets` has the lists of the text besides its own
 *   errors  ENOMEM, "memory"; EILSEQ with the line that is wrong or missing, and `what` is its
 *           first word, "line" when it begins with no known word, "format" for another format,
 *           "end" for bytes after the sum */
cpubind_linux_fault cpubind_shared_parse(const char *text, int32_t len, const cpubind_sys *sys,
                                         cpubind_cpu_sets *sets, cpubind_shared_record *out);

#endif /* CPUBIND_LINUX_HOST_RECORD_H */
