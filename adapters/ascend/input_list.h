/* input_list.h - the list of known inputs, and a visit of those that a host has
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h; bytes come through the seam (source.h).
 */
#ifndef CPUBIND_ASCEND_INPUT_LIST_H
#define CPUBIND_ASCEND_INPUT_LIST_H

#include "../source.h"
#include "../text/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether `name`, ended by NUL, is a known input: a file of the list in input_list.c, the
 * output of a command of CPUBIND_COMMAND_LIST or of npu-smi info -t board, "env", "uname",
 * "date". A file cmd/NAME.exit is no input but a part of cmd/NAME.txt. NULL is no input.
 *   cost    O(length) */
int cpubind_input_list_has(const char *name);

/* Whether it is one that cpubind doctor alone reads, and that is not visited: a file of a
 * process, of an interrupt or of a network card. A capture has those of the processes that use
 * a device, of those above them, and of processes in a finding. */
int cpubind_doctor_input_has(const char *name);

/* What of an input is not for others: its grammar, by which redact.h overwrites it and
 * doctor_inputs.h leaves it out. */
typedef enum cpubind_input_secret {
    CPUBIND_SECRET_NONE,    /* but for the name of the host, which may be in any input */
    CPUBIND_SECRET_TABLES,  /* names of processes in npu-smi info */
    CPUBIND_SECRET_SERIALS, /* serial numbers in lines "key : value" */
    CPUBIND_SECRET_SUMMARY, /* the name of a process in a summary of the driver ... */
    CPUBIND_SECRET_STATUS,  /* ... in /proc/PID/status ... */
    CPUBIND_SECRET_STAT,    /* ... in /proc/PID/stat ... */
    CPUBIND_SECRET_COMM,    /* ... and alone */
    CPUBIND_SECRET_ENV,     /* UUIDs in lists of visible devices */
    CPUBIND_SECRET_ENVIRON, /* the same in /proc/PID/environ, and variables of others */
    CPUBIND_SECRET_CMDLINE, /* words of a command line */
    CPUBIND_SECRET_MOUNTS,  /* mounts, but those of /proc */
    CPUBIND_SECRET_RECORD,  /* what a record has besides whose it is */
    CPUBIND_SECRET_ALL      /* all of it */
} cpubind_input_secret;

/* That of a known input; of any other name NONE. */
cpubind_input_secret cpubind_input_secret_of(const char *name);

/* Called with each input and its answer, which is never ABSENT. A result other than 0 ends the
 * visits. The name is valid during the call only. */
typedef int cpubind_input_visit(void *ctx, const char *name, cpubind_input answer);

/* Visits every input that a host has, in a fixed order.
 *   files     all files of the list in input_list.c; a fallback file only if its primary file
 *             is absent; PCI functions only of vendors of NPUs, or with a vendor that cannot be
 *             read, and those whose class is that of a network card, a disk, a GPU, an
 *             accelerator or a bridge to another bus. A file that only root may read is not
 *             visited where this user may not read it: no plan of this user depends on it.
 *             The files with the CPUs of the process's cgroup, and of those above it. A folder
 *             proc/trs_core/proc without entries is visited itself, as an empty file
 *   commands  of a source that can list "cmd" (a snapshot, a row of the corpus) all known ones;
 *             of another (the live host) npu-smi info -m, info and info -t topo
 *   failures  an input that could not be read is visited with that answer; so is a folder that
 *             could not be listed, by its own name. A name that no input can have is skipped
 *   returns   0, or what a visit returned
 *   cost    O(bytes read and listed) */
int cpubind_input_list_each(const cpubind_source *source, cpubind_input_visit *visit,
                            void *ctx);

/* Visits the files that bound the CPUs of the cgroup of a process, and of those above it.
 *   in      cgroup: the input that names it, "proc/4711/cgroup" */
int cpubind_input_list_cgroups(const cpubind_source *source, const char *cgroup,
                               cpubind_input_visit *visit, void *ctx);

/* Room for the name of a board's input with its NUL. */
#define CPUBIND_INPUT_BOARD_MAX 64

/* Writes the name of the input of `npu-smi info -t board -i CARD -c CHIP`, ended by NUL.
 *   in      card >= 0; chip >= 0, or -1 for the card as a whole
 *   out     out[0 .. CPUBIND_INPUT_BOARD_MAX - 1]; its length is returned */
int32_t cpubind_input_board_name(char *out, int32_t card, int32_t chip);

/* The words of that command before the number of the card, and before that of the chip. */
#define CPUBIND_BOARD_WORDS "npu-smi", "info", "-t", "board", "-i"
#define CPUBIND_BOARD_CHIP  "-c"

/* Whether `name`, ended by NUL, is the name of a board's input:
 *   board  = "cmd/npu-smi-info-t-board-i" number [ "-c" number ] ".txt"
 *   number = "0" / ( "1".."9" *DIGIT )      up to 2147483647
 *   out     *card, *chip: the digits of their numbers, as slices of `name`; chip->len 0: of the
 *           card as a whole. Untouched when it is not */
int cpubind_input_is_board(const char *name, cpubind_piece *card, cpubind_piece *chip);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_INPUT_LIST_H */
