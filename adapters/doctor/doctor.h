/* doctor.h - what on a host is against a good placement: evidence, cost, and a command for each
 * SPDX-License-Identifier: MIT
 *
 * Pure: bytes come from a source (source.h), memory from the caller's arena. Nothing is changed
 * and nothing is printed. One row of a table in doctor.c is one check; the checks follow the
 * faults that users of Ascend hosts report most.
 *
 * An input that is not there or cannot be read makes its check unknown, never right. Only on a
 * live host the absence of a file has a meaning: the kernel has no such feature.
 */
#ifndef CPUBIND_DOCTOR_DOCTOR_H
#define CPUBIND_DOCTOR_DOCTOR_H

#include "../model/host_change.h"
#include "../model/vendor.h"
#include "../plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* (name, word): how much a fault costs. */
#define CPUBIND_SEVERITY_LIST(X)                                                               \
    X(SEVERE, "severe")     /* workers run on one CPU, or on CPUs of each other */             \
    X(MODERATE, "moderate") /* latency or bandwidth is lost all the time */                    \
    X(MINOR, "minor")       /* it costs something at times, or hides a fault */

typedef enum cpubind_severity {
#define CPUBIND_X(name, word) CPUBIND_SEVERITY_##name,
    CPUBIND_SEVERITY_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_SEVERITY_COUNT
} cpubind_severity;

/* "severe". Static storage. */
const char *cpubind_severity_word(cpubind_severity severity);

/* A check. Static texts. */
typedef struct cpubind_doctor_check {
    const char *word; /* "autonuma" */
    cpubind_severity severity;
    const char *cost; /* a sentence without a full stop */
    const char *then; /* what is needed after the command, or NULL */
} cpubind_doctor_check;

enum { CPUBIND_DOCTOR_NUMBERS = 4 };

/* A figure of the evidence. */
typedef struct cpubind_doctor_number {
    const char *key; /* static; NULL: no more */
    int64_t value;
} cpubind_doctor_number;

/* A fault that was found. Texts end in NUL and are in the arena. An id that does not apply
 * is -1. */
typedef struct cpubind_doctor_finding {
    const cpubind_doctor_check *check;
    const char *evidence; /* a sentence without a full stop */
    const char *input;    /* the file or the output that says so; or NULL: the plan does */
    const char *value;    /* what it holds; or NULL */
    const char *command;  /* what mends it, for a POSIX shell */
    int32_t is_look;      /* the command only shows more: nothing that is known mends it */
    const cpubind_change *change; /* what may be done at once, safely; groups are 0 */
    int32_t n_change;             /* 0: nothing of it is safe, or nothing is known */
    const char *device;           /* its name, or NULL */
    const char *pci;              /* its address, of one that is no NPU; else NULL or "" */
    int32_t pid, tid;             /* the process and the thread at fault */
    const int32_t *cpu;           /* the CPUs at fault, ascending */
    int32_t n_cpu;
    cpubind_doctor_number number[CPUBIND_DOCTOR_NUMBERS];
} cpubind_doctor_finding;

/* A check that could not be made, and the first input that it lacks. */
typedef struct cpubind_doctor_unknown {
    const cpubind_doctor_check *check;
    const char *input;         /* or NULL: it needs a plan, and there is none */
    cpubind_input_state state; /* PRESENT: its text is damaged */
    int32_t error;             /* errno when FAILED */
} cpubind_doctor_unknown;

/* Findings of one check that are kept; the others are counted. */
enum { CPUBIND_DOCTOR_MAX_FINDINGS = 16 };

typedef struct cpubind_doctor_report {
    cpubind_doctor_finding *finding; /* in the order of the table */
    int32_t n_finding;
    int32_t n_more; /* findings that were not kept */
    cpubind_doctor_unknown *unknown;
    int32_t n_unknown;
    int32_t n_check;  /* checks of the table; those without a finding that are not unknown are
                        right */
    int32_t n_worker; /* processes that use a device; -1: not known */
} cpubind_doctor_report;

/* Devices whose drivers do not list their users. */
typedef struct cpubind_doctor_bus {
    const cpubind_facts *facts; /* of the plan: each is one of `npu`, whose function is ... */
    const cpubind_device_plan *plan;
    const cpubind_users *users; /* ... the device of these; NULL: they are not known */
} cpubind_doctor_bus;

/* What is examined. Borrowed. */
typedef struct cpubind_doctor_request {
    const cpubind_source *source;
    const cpubind_request *request;  /* of the plan, with wants_pci */
    const cpubind_facts *facts;      /* NULL: they could not be read */
    const cpubind_device_plan *plan; /* made of these facts; NULL: there is none */
    const cpubind_doctor_bus *bus;   /* NULL: the host has none */
    int32_t is_live;                 /* 1: the source is the live host */
    int32_t moves_nics;              /* 1: interrupts of network cards belong into pools */
    int32_t npu_smi_ms;              /* how long npu-smi took to answer; -1: not known */
} cpubind_doctor_request;

/* Examines a host.
 *   in      request, an arena of 4 MiB for most hosts
 *   out     *out, in the arena
 *   errors  NO_MEMORY: try a larger arena
 *   cost    O(bytes read): the files of each process that uses a device, and one line of each
 *           thread of the host */
cpubind_problem_code cpubind_doctor_examine(const cpubind_doctor_request *request,
                                            cpubind_arena *arena, cpubind_doctor_report *out);

/* The number of checks, also report->n_check; row i of their table. Static storage. */
int32_t cpubind_doctor_checks(void);
const cpubind_doctor_check *cpubind_doctor_check_at(int32_t i);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_DOCTOR_DOCTOR_H */
