/* slurm_step.h - the environment of a step of Slurm: what it was given, and what a task has
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. The text is that of the input `env`: lines "NAME=value".
 *
 * GRAMMAR
 *   SLURM_CPUS_ON_NODE       number
 *   SLURM_JOB_CPUS_PER_NODE  nodes *( "," nodes )   in the order of the nodes of the job
 *   nodes                    number [ "(x" number ")" ]
 *   SLURM_NODEID             number: of this node among those of the step, which are those of
 *                            the job where SLURM_JOB_NUM_NODES is SLURM_STEP_NUM_NODES
 *   SLURM_GPUS_ON_NODE       number
 *   SLURM_STEP_GPUS          number *( "," number ), or "NoDevFiles"; of a batch script
 *                            SLURM_JOB_GPUS
 *   SLURMD_TRES_BIND         "gpu:" [ "verbose," ] bind
 *   bind                     "per_task:" number / "single:" number / "map_gpu:" number
 *                            *( "," number ) / "closest" / "none" / any other word
 *
 * A number of SLURM_STEP_GPUS is the place of a line in gres.conf, whatever its File= is called
 * (tried with Slurm 22.05). Each task has the list of its own devices there; where task/cgroup
 * constrains devices it has the first ones of the step, whichever it may open.
 */
#ifndef CPUBIND_TEXT_SLURM_STEP_H
#define CPUBIND_TEXT_SLURM_STEP_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What Slurm gave a step on this node. */
typedef struct cpubind_slurm_step {
    int32_t n_cpu;      /* CPUs of the step */
    int32_t n_job_cpu;  /* CPUs of its job here; -1: not known */
    int32_t n_device;   /* devices of the step; -1: Slurm manages none of them */
    int32_t n_listed;   /* numbers in the list: n_device for those of the step, fewer for those
                           of one task; -1: there is no list */
    cpubind_piece list; /* "0,1,2" */
} cpubind_slurm_step;

/* Reads what Slurm gave the step.
 *   out     *out
 *   errors  ERR_ARG; ERR_MISSING: there is no SLURM_CPUS_ON_NODE, the process is in no step;
 *           ERR_SYNTAX, ERR_RANGE: a value makes no sense
 *   cost    O(len) */
cpubind_text_status cpubind_slurm_parse_step(const char *text, int32_t len,
                                             cpubind_slurm_step *out,
                                             cpubind_text_fault *fault);

/* Which part of its step a task has. */
typedef struct cpubind_slurm_task {
    int32_t place;     /* of its device among those of the step, from 0 */
    int32_t n_process; /* tasks that share the device; 1: it is the task's alone */
    int32_t process;   /* which of them it is, from 0 */
} cpubind_slurm_task;

/* Finds the device of a task by SLURMD_TRES_BIND and the list of the step.
 *   in      text: the environment of the step, with the list of all its devices; local: the
 *           number of the task on this node; own: SLURM_STEP_GPUS of the task, ended by NUL, to
 *           be held against that; NULL: not known
 *   out     *out
 *   errors  ERR_ARG; ERR_MISSING: no step, or it has no list of its devices; ERR_SYNTAX,
 *           ERR_RANGE: it is not one device of the step, for the reason fault->what
 *   cost    O(len) */
cpubind_text_status cpubind_slurm_find_task(const char *text, int32_t len, int32_t local,
                                            const char *own, cpubind_slurm_task *out,
                                            cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_TEXT_SLURM_STEP_H */
