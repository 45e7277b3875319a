/* process_env.h - the variables of a process that say which rank it is
 * SPDX-License-Identifier: MIT
 *
 * Works on the content of /proc/PID/environ, and reads nothing.
 */
#ifndef CPUBIND_HOST_PROCESS_ENV_H
#define CPUBIND_HOST_PROCESS_ENV_H

#include "../linux/kernel/bytes.h"
#include "../text/text.h"

/* (launcher, rank on this host, rank in the job): what each sets. The first of them that is
 * set counts: a launcher that is started by another one comes before that (mpirun in a job of
 * Slurm, whose tasks all have SLURM_LOCALID=0). */
#define CPUBIND_RANK_LIST(X)                                                                   \
    X("torchrun", "LOCAL_RANK", "RANK")                                                        \
    X("Open MPI", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_RANK")                        \
    X("MVAPICH", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_RANK")                           \
    X("MPICH, Intel MPI", "MPI_LOCALRANKID", "PMI_RANK")                                       \
    X("PALS", "PALS_LOCAL_RANKID", "PALS_RANKID")                                              \
    X("Cray PMI", "PMI_LOCAL_RANK", "PMI_RANK")                                                \
    X("Flux", "FLUX_TASK_LOCAL_ID", "FLUX_TASK_RANK")                                          \
    X("srun", "SLURM_LOCALID", "SLURM_PROCID")

/* Those on this host; those in the job, with RANK_ID, which Ascend's launchers set, and after
 * them those on this host. Each ends with NULL. */
extern const char *const cpubind_local_ranks[], *const cpubind_job_ranks[];

/* The value of a variable of an environment whose strings end in NUL; len -1: not set. */
cpubind_piece cpubind_env_value(const cpubind_bytes *environment, const char *name);

/* The rank by the first of these variables that is a number.
 *   in      names: ended by NULL
 *   out     *variable: which one, of `names`; NULL with -1. It may be NULL
 *   returns the rank; -1: no variable has one */
int32_t cpubind_env_rank(const cpubind_bytes *environment, const char *const *names,
                         const char **variable);

#endif /* CPUBIND_HOST_PROCESS_ENV_H */
