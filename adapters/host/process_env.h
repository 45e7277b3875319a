/* process_env.h - the variables of a process that say which rank it is
 * SPDX-License-Identifier: MIT
 *
 * Works on the content of /proc/PID/environ, and reads nothing.
 */
#ifndef CPUBIND_HOST_PROCESS_ENV_H
#define CPUBIND_HOST_PROCESS_ENV_H

#include "../linux/kernel/bytes.h"
#include "../text/text.h"

/* The variables of CPUBIND_RANK_LIST: those on this host; those in the job, with RANK_ID, which
 * Ascend's launchers set, and after them those on this host. Each ends with NULL. */
extern const char *const cpubind_local_ranks[], *const cpubind_job_ranks[];

/* The rank by the first of these variables that is a number.
 *   in      names: ended by NULL
 *   out     *variable: which one, of `names`; NULL with -1. It may be NULL
 *   returns the rank; -1: no variable has one */
int32_t cpubind_env_rank(const cpubind_bytes *environment, const char *const *names,
                         const char **variable);

#endif /* CPUBIND_HOST_PROCESS_ENV_H */
