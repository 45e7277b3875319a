/* capture_doctor.h - an examination of a host, and the inputs that it reads, for a capture
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_CAPTURE_DOCTOR_H
#define CPUBIND_CLI_CAPTURE_DOCTOR_H

#include "../ascend/input_list.h"
#include "../doctor/doctor.h"
#include "cli.h"

/* What is examined, and what was found. */
typedef struct cli_examination {
    cpubind_doctor_request request;
    cpubind_doctor_report report; /* in the arena */
} cli_examination;

/* Examines a host in an arena that grows as it must. Returns 0 without memory. */
int cli_examine(cli_examination *examination, cpubind_arena *arena);

/* The plans of a host that is examined: of the devices whose drivers list their users, and of
 * the others of the bus. */
typedef struct cli_examined {
    api_planned planned, bus;
    cpubind_users users;
    cpubind_doctor_bus part;
    int32_t is_there, is_alone; /* there are such others; and no NPU */
    int32_t n_poolless;         /* others that no allowed CPU is near */
} cli_examined;

/* Plans a host, and reads who uses its devices, where it says so: a snapshot may not. A failure
 * to read the users is printed. Returns the exit status of the plan, with the reason in *why or
 * in the problem of the plan.
 *   out     *out, all zero before, to be freed; request: what is to be examined of it */
int cli_plan_examined(const cpubind_source *source, const api_options *options,
                      cli_examined *out, cpubind_doctor_request *request, api_text *why);
void cli_free_examined(cli_examined *examined);

/* One input of a capture. One that exists but could not be read is left out of it. */
typedef struct cli_captured {
    char *name;
    char *copy, *err; /* the distilled or redacted bytes; NULL: input points to the source's */
    cpubind_input input;
} cli_captured;

typedef struct cli_captures {
    cli_captured *row; /* by name, each once */
    int32_t n, cap;
    int is_short; /* memory ran out for some input */
} cli_captures;

/* Plans a host, and finds what a capture has of it: the inputs of the list, the commands that
 * planning asks for, what an examination of the host reads, and of the processes that use
 * devices who they are and where they run; without what nobody asks for.
 *   out     *planned; *out, all zero before, to be freed */
void cli_capture_inputs(const cpubind_source *source, const api_options *options,
                        api_planned *planned, cli_captures *out);
void cli_free_captures(cli_captures *captures);

#endif /* CPUBIND_CLI_CAPTURE_DOCTOR_H */
