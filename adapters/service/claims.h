/* claims.h - what the service was told about processes, kept over a restart
 * SPDX-License-Identifier: MIT
 *
 * The file service.claims in the folder of the records: lines as ask_text.c has them, "leave",
 * "adopt" and "take", each about one process, and first "leave all" where all others are left
 * alone; "lend" about a process or all, as long as its owner lives. Only the service writes it,
 * whole or not at all, and reads it once it is the only one.
 * A line about a process that has ended does no harm: its start time is in it.
 */
#ifndef CPUBIND_SERVICE_CLAIMS_H
#define CPUBIND_SERVICE_CLAIMS_H

#include "ask.h"

typedef struct cpubind_claims {
    const cpubind_sys *sys;
    cpubind_asked *row; /* each about one process, or with an owner; free(3) */
    int32_t n, cap;
    int is_all_left; /* processes without a row are left alone */
    int is_changed;  /* since it was saved */
} cpubind_claims;

/* What was said about a process: LEAVE, ADOPT or TAKE; COUNT: nothing. */
cpubind_ask cpubind_claims_find(const cpubind_claims *claims, int32_t pid, uint64_t start);

/* Notes what is said about a process, in place of what was said before; with pid 0 about all,
 * in place of everything. What is lent counts first, and takes the place of nothing.
 *   errors  ENOMEM, "memory": all is as before */
cpubind_linux_fault cpubind_claims_note(cpubind_claims *claims, const cpubind_asked *asked);

/* Drops what was lent to a process, and to those that have ended. Returns whether there was
 * such a claim: what was said before counts again. */
int cpubind_claims_take_back(cpubind_claims *claims, int32_t owner);

/* Reads the file; without one nothing was said.
 *   in      claims: sys, all else zero
 *   errors  EILSEQ, "claims": a line makes no sense, or the last one is cut: the others are
 *           kept; EPERM, "claims": the file is not this user's own; "folder"; those of reading
 *           and of memory */
cpubind_linux_fault cpubind_claims_read(cpubind_claims *claims);

/* Replaces the file, if something has changed. Drops the rows of processes that have ended.
 *   errors  "folder"; those of writing: the file is as before, and the next call tries again */
cpubind_linux_fault cpubind_claims_save(cpubind_claims *claims);

/* Removes the file: a service that starts later binds all workers.
 *   errors  "folder"; "claims" */
cpubind_linux_fault cpubind_claims_forget(const cpubind_sys *sys);

void cpubind_claims_free(cpubind_claims *claims);

#endif /* CPUBIND_SERVICE_CLAIMS_H */
