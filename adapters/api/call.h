/* call.h - the objects of cpubind_api.h, shared by the files that implement it
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_API_CALL_H
#define CPUBIND_API_CALL_H

#include "../linux/mutex.h"
#include "api.h"
#include "cpubind_api.h"

/* == Errors ================================================================= */

struct cpb_error {
    char *text, *json;
    const char *code; /* static storage */
    cpubind_problem problem;
    cpubind_position place;
    int32_t number, status; /* errno, or 0; the exit status */
};

/* Appends a sentence of the command with its options as a call writes them: "-o scope=own" is
 * "scope=own", "--allowed LIST" is "allowed=LIST". */
void call_tell(const char *text, api_text *to);

/* The same of the warnings of a report, and of devices without a pool. */
void call_tell_report(words_value *report);

/* Sets *error, if it may be set, to an error with these words; without memory to the static
 * error "no_memory". Returns NULL. */
void *call_fail(cpb_error **error, const char *code, int status, int32_t number,
                const char *text);

/* The same for a problem of a plan. */
void *call_refuse(cpb_error **error, const api_planned *planned, const api_options *options);

/* The same for want of memory; and the JSON of that error. */
void *call_no_memory(cpb_error **error);
extern char call_no_memory_json[];

/* == Options ================================================================ */

/* Options, and the texts that they point into. */
typedef struct call_options {
    api_options options;
    char *text;
} call_options;

/* Reads "key=value" texts; `commands` as api_read_setting has it. Returns 0, with *error, when
 * one is wrong; call_free_options may be called in both cases. */
int call_read_options(const char *const *texts, enum api_command command, int commands,
                      call_options *out, cpb_error **error);
void call_free_options(call_options *options);

/* == Hosts ================================================================== */

/* The facts of a host for a request. They do not change once they are read, so that threads
 * plan from them at the same time. */
typedef struct call_facts {
    call_options options; /* whose request they were read for, and which they quote */
    cpubind_arena arena;
    cpubind_facts facts;
    int32_t n_user; /* plans, and the source while it keeps them */
} call_facts;

enum { CALL_N_FACTS = 16 }; /* facts that a source keeps: for so many different requests */

/* An environment that was put in place of that of the host, as long as plans may quote it. */
typedef struct call_env {
    struct call_env *next; /* that before it */
    int32_t len;
    char text[];
} call_env;

/* A host that is open. A plan quotes its inputs, and keeps it open. */
typedef struct call_source {
    cpubind_mutex *mutex; /* of all below, and of all reading */
    api_host host;
    call_env *env;        /* the last one that was put; or NULL: host.source has its own */
    cpubind_source below; /* of the host, where an environment was put */
    int32_t n_user;
    call_facts *facts[CALL_N_FACTS]; /* NULL: none yet */
    int32_t next;                    /* the place of the facts that are read next */
    char *name;                      /* the folder, for messages; NULL: a live host */
} call_source;

/* Takes the settings of a host, as api_take_settings does.
 *   in      source: NULL: this host; its mutex is held */
int call_take_settings(const call_source *source, int commands, call_options *options,
                       api_text *why);

/* A file of a host of cpb_host_empty. */
typedef struct call_file {
    struct call_file *next;
    int32_t len;
    int is_made; /* cmd/NAME.exit, made from an exit code */
    char name[]; /* ended by NUL; then its bytes */
} call_file;

struct cpb_host {
    cpubind_mutex *mutex; /* of all below */
    call_source *source;  /* NULL: made of `file` at the next plan */
    call_file *file;      /* of cpb_host_empty: in order of their names, each once */
    int is_of_bytes;
};

/* Takes and gives back the source of a host. */
call_source *call_take_source(cpb_host *host, cpb_error **error);
void call_drop_source(call_source *source);

#endif /* CPUBIND_API_CALL_H */
