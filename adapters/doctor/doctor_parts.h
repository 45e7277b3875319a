/* doctor_parts.h - private to this folder: one examination, and what the checks have in common
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc.
 */
#ifndef CPUBIND_DOCTOR_DOCTOR_PARTS_H
#define CPUBIND_DOCTOR_DOCTOR_PARTS_H

#include <string.h>

#include "../plan/process_goal.h"
#include "../text/text.h"
#include "doctor.h"

#define INPUT_STATUS     "proc/self/status"
#define INPUT_ONLINE     "sys/devices/system/cpu/online"
#define INPUT_NPUSMI_MAP "cmd/npu-smi-info-m.txt"
#define INPUT_NPUSMI     "cmd/npu-smi-info.txt"

/* A process that uses a device. */
typedef struct doctor_worker {
    int32_t pid;
    int32_t npu; /* index into facts->device */
    int32_t row; /* of the plan, or -1 */
    const cpubind_facts *facts;
} doctor_worker;

/* One examination. A check that runs out of memory sets is_short and goes on. */
typedef struct doctor {
    const cpubind_doctor_request *request;
    const cpubind_source *source;
    const cpubind_facts *facts;
    const cpubind_device_plan *plan;
    cpubind_arena *arena;
    cpubind_doctor_report *report;
    const cpubind_doctor_check *check; /* that runs */
    int32_t n_found;                   /* its findings */
    int32_t is_unknown;                /* it has an unknown */
    int32_t is_short;
    int32_t *cpu;   /* CPUBIND_MAX_CPUS elements for the list that is being read */
    int32_t is_bus; /* the facts, the plan and the workers are those of devices of the bus */
    doctor_worker *worker;
    int32_t n_worker;
    int32_t is_workers_known;
    const char *workers_input; /* that does not tell the workers, and its answer */
    cpubind_input workers_answer;
    int32_t *pid; /* processes of the host, ascending */
    int32_t n_pid;
} doctor;

/* == Texts (doctor_text.c) ================================================== */

/* A text that is built in parts. One of an examination goes on in its arena when it is longer,
 * for sentences and commands with lists; another one, of names and paths, is cut. */
typedef struct doctor_text {
    char text[2048];
    int32_t len;
    doctor *of;
    char *whole; /* in the arena: all of it; or NULL */
    int32_t cap;
} doctor_text;

/* Appends to a text: the format knows %s and %d (of an int) alone. */
__attribute__((format(printf, 2, 3))) void doctor_add(doctor_text *to, const char *format, ...);

/* Appends bytes; CPUs as the kernel prints them, "none" when there are none; numbers as
 * words of a shell, with seq for four or more at one distance; a number of bytes as MiB. */
void doctor_add_bytes(doctor_text *to, const char *bytes, int32_t len);
void doctor_add_cpus(doctor_text *to, const int32_t *cpu, int32_t n);
void doctor_add_words(doctor_text *to, const int32_t *number, int32_t n);
void doctor_add_mib(doctor_text *to, int64_t bytes);

/* A copy in the arena, ended by NUL; "" and is_short when it is full. */
const char *doctor_keep(doctor *d, const char *text);
const char *doctor_keep_text(doctor *d, const doctor_text *text);

/* Room for n changes of a finding; NULL and is_short when the arena is full. */
cpubind_change *doctor_keep_changes(doctor *d, cpubind_doctor_finding *f, int32_t n);

/* A copy of numbers in the arena. */
const int32_t *doctor_keep_cpus(doctor *d, const int32_t *cpu, int32_t n);

/* == Findings (doctor_input.c) ============================================== */

/* A finding of the running check with no ids, without texts. A finding that is not kept is
 * counted, and is a place that is written in vain. */
cpubind_doctor_finding *doctor_find(doctor *d);

/* Notes that the running check lacks an input; only the first is kept. The absence of a file of
 * a live host is no such lack. */
void doctor_lack(doctor *d, const char *input, cpubind_input answer);

/* The same for an input whose absence is a lack on a live host too. */
void doctor_gap(doctor *d, const char *input, cpubind_input answer);

/* Notes that the running check needs a plan; returns whether there is one. */
int doctor_has_plan(doctor *d);

/* == Inputs (doctor_input.c) ================================================ */

/* Reads an input: 1 with its answer, or 0 after doctor_lack. */
int doctor_read(doctor *d, const char *input, cpubind_input *out);

/* Reads a list of CPUs into d->cpu: their number, or -1 after doctor_lack. */
int32_t doctor_read_cpus(doctor *d, const char *input);

/* The bytes of an answer without blanks and line feeds at its end, in the arena. */
const char *doctor_value(doctor *d, cpubind_input answer);

/* Lists a folder: 1 with its answer, or 0 after doctor_lack. */
int doctor_list(doctor *d, const char *folder, cpubind_input *out);

/* Steps to the next line of a listing, *at from 0; *line is a slice of its bytes. */
int doctor_next_line(cpubind_input listing, int32_t *at, cpubind_piece *line);

/* The number that a slice is, all digits; -1 when it is none. */
int32_t doctor_number(const char *text, cpubind_piece slice);

/* The value of "KEY:" in a status file, without blanks around it; len 0: there is none. */
cpubind_piece doctor_field(cpubind_input status, const char *key);

/* Whether bytes are a text; whether a list, ascending, has a number. */
int doctor_is(const char *bytes, int32_t len, const char *text);
int doctor_has(const int32_t *list, int32_t n, int32_t number);

/* The CPUs of a role of a row of the plan, ascending. */
cpubind_cpus doctor_role(const doctor *d, int32_t row, cpubind_role role);

/* Whether the cgroup of this process could be read; if not, doctor_lack. */
int doctor_has_cgroup(doctor *d);

/* Whether the cores are known; if not, doctor_lack. */
int doctor_has_cores(doctor *d);

/* == Processes (doctor_processes.c) ========================================= */

/* Read the workers, and the processes of the host, once for all checks. */
void doctor_read_workers(doctor *d);
void doctor_read_pids(doctor *d);

/* Whether the workers, the processes of the host are known; if not, doctor_gap. */
int doctor_has_workers(doctor *d);
int doctor_has_pids(doctor *d);

/* Whether /proc hides processes of other users from cpubind, or may hide them
 * (doctor_rights.c). */
int doctor_is_hiding(doctor *d);

/* The device of a worker: in a finding; as "npu3" or "0000:c1:00.0"; as "--device npu3"; and
 * "cpubind apply --device NAME --pid P". */
void doctor_set_device(doctor *d, const doctor_worker *w, cpubind_doctor_finding *f);
const char *doctor_name(doctor *d, const doctor_worker *w);
const char *doctor_option(doctor *d, const doctor_worker *w);
void doctor_add_apply(doctor *d, const doctor_worker *w, doctor_text *to);

/* A finding about a worker, with the evidence and the command as they are now. */
cpubind_doctor_finding *doctor_find_of(doctor *d, const doctor_worker *w,
                                       const doctor_text *evidence, const doctor_text *command);

/* == Checks: each finds its faults, or notes what it lacks ================== */

typedef void doctor_check_run(doctor *d);

/* doctor_kernel.c */
doctor_check_run doctor_check_autonuma, doctor_check_governor, doctor_check_deep_sleep,
    doctor_check_offline, doctor_check_isolated, doctor_check_nohz_full;
/* doctor_plan.c */
doctor_check_run doctor_check_locality, doctor_check_split, doctor_check_others,
    doctor_check_quota;
/* doctor_rules.c */
doctor_check_run doctor_check_rules, doctor_check_device;
/* doctor_processes.c */
doctor_check_run doctor_check_one_cpu, doctor_check_mask, doctor_check_cpuset_overlap,
    doctor_check_cpuset_far, doctor_check_cpuset_split, doctor_check_cpuset_mems;
/* doctor_engines.c */
doctor_check_run doctor_check_omp, doctor_check_engine, doctor_check_engine_cores;
/* doctor_host.c */
doctor_check_run doctor_check_irqbalance, doctor_check_nics, doctor_check_role_taken;
/* doctor_network.c */
doctor_check_run doctor_check_network;
/* doctor_memory.c */
doctor_check_run doctor_check_far_memory, doctor_check_shared_memory,
    doctor_check_pinned_memory, doctor_check_memory_policy;
/* doctor_rights.c */
doctor_check_run doctor_check_seccomp, doctor_check_sys_nice, doctor_check_proc_irq,
    doctor_check_hidepid;
/* doctor_npusmi.c */
doctor_check_run doctor_check_npusmi_slow, doctor_check_inputs_differ;

#endif /* CPUBIND_DOCTOR_DOCTOR_PARTS_H */
