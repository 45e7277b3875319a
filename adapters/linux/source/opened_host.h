/* opened_host.h - what the live host and a snapshot folder have in common inside
 * SPDX-License-Identifier: MIT
 *
 * Private to host_source.c, folder_host.c and live_host.c.
 */
#ifndef CPUBIND_LINUX_OPENED_HOST_H
#define CPUBIND_LINUX_OPENED_HOST_H

#include "../kernel/bytes.h"
#include "../kernel/files.h"
#include "../sys.h"
#include "host_source.h"
#include "input_cache.h"

/* Number of commands in CPUBIND_COMMAND_LIST. */
#define CPUBIND_X(...) +1
enum { CPUBIND_N_COMMANDS = 0 CPUBIND_COMMAND_LIST(CPUBIND_X) };
#undef CPUBIND_X

/* The place of `npu-smi info -t board` among the commands: behind them. */
enum { CPUBIND_BOARD = CPUBIND_N_COMMANDS };

/* Fetches an input for the first time: PRESENT with its content in host->bytes, which is empty
 * before, or another state. */
typedef cpubind_input cpubind_fetch(cpubind_linux_host *host, const char *name);

struct cpubind_linux_host {
    const cpubind_sys *sys;
    cpubind_root tree;
    cpubind_fetch *read, *list;
    cpubind_input_cache files, folders; /* what read and list have answered */
    cpubind_bytes bytes;                /* the content that is being fetched */
    /* The live host alone: */
    int32_t pid;      /* of the process whose status and environment are meant; 0: this one */
    int32_t limit_ms; /* for each command */
    /* Children that outlived SIGKILL, else 0: of each listed command, and of a board's. */
    pid_t unreaped[CPUBIND_N_COMMANDS + 1];
};

/* A host of folder `dir`, with its functions still to be set. As cpubind_linux_open_folder. */
cpubind_linux_status cpubind_linux_new(const char *dir, cpubind_reach reach,
                                       const cpubind_sys *sys, cpubind_linux_host **out,
                                       cpubind_linux_fault *fault);

/* ERR_ARG, with *fault filled and *out NULL; both may be NULL. */
cpubind_linux_status cpubind_linux_bad_argument(cpubind_linux_host **out,
                                                cpubind_linux_fault *fault);

#endif /* CPUBIND_LINUX_OPENED_HOST_H */
