/* driver_files.h - readers of the files that the Ascend driver adds to /proc, /sys and /dev
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. The formats are those of the driver's source, 2019 to 2026; the grammars
 * are in driver_files.c. The driver numbers its devices by udevid:
 *   udevid  the physical id for a number below CPUBIND_DRIVER_VIRTUAL, the same in every
 *           container; from that number on a virtual NPU
 *   logic   the number that a runtime in the reader's mount namespace uses
 * Table readers find columns and values by their names. A column or line that they do not know
 * is passed over, and the first one is named.
 */
#ifndef CPUBIND_ASCEND_DRIVER_FILES_H
#define CPUBIND_ASCEND_DRIVER_FILES_H

#include "../text/text.h"
#include "npusmi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first udevid of a virtual NPU: physical id * 16 + part + 100. */
#define CPUBIND_DRIVER_VIRTUAL 100

/* == Names ================================================================== */

/* A process that uses a device. */
typedef struct cpubind_driver_process {
    int32_t pid; /* as the host numbers it, in a container too */
    int32_t udevid;
} cpubind_driver_process;

/* Reads the name of a folder of /proc/trs_core/proc, "4242-7-dev-3".
 *   out     *out
 *   errors  ERR_ARG; ERR_MISSING: another name; ERR_RANGE: a number of the name is too large */
cpubind_text_status cpubind_driver_parse_process(const char *text, int32_t len,
                                                 cpubind_driver_process *out,
                                                 cpubind_text_fault *fault);

/* Reads the name of the handler of a mailbox interrupt, "trs-mbox-3-0", as
 * cpubind_interrupts_next_name finds it in a row of /proc/interrupts.
 *   out     *out_udevid
 *   errors  ERR_ARG; ERR_MISSING: another name; ERR_RANGE: its number is too large */
cpubind_text_status cpubind_driver_parse_mailbox(const char *text, int32_t len,
                                                 int32_t *out_udevid,
                                                 cpubind_text_fault *fault);

/* == Small files ============================================================ */

/* The number of a device node. */
typedef struct cpubind_driver_number {
    int32_t major;
    int32_t minor; /* of /dev/davinciN: its udevid, whatever N is */
} cpubind_driver_number;

/* Reads /sys/class/devdrv-class/davinciN/dev, "236:3".
 *   out     *out
 *   errors  ERR_ARG, ERR_SYNTAX, ERR_RANGE */
cpubind_text_status cpubind_driver_parse_number(const char *text, int32_t len,
                                                cpubind_driver_number *out,
                                                cpubind_text_fault *fault);

/* == Tables ================================================================= */

/* A row of the reader's table in /proc/uda/namespace_node. */
typedef struct cpubind_driver_logic {
    int32_t logic;  /* 0 .. CPUBIND_MAX_DEVICES - 1 */
    int32_t udevid; /* 0 .. CPUBIND_MAX_DEVICES - 1 */
} cpubind_driver_logic;

typedef struct cpubind_driver_logics {
    cpubind_driver_logic *row;
    int32_t n;
    cpubind_piece unknown; /* the first line or column that was passed over; len 0: none */
} cpubind_driver_logics;

/* Reads /proc/uda/namespace_node: the table that is marked as the one of the reader's mount
 * namespace, "(#)". The tables of other namespaces are checked and left out.
 *   in      arena, of which the rows are taken
 *   out     *out, rows in the order of the text; no logic id and no udevid twice; n may be 0
 *   errors  ERR_ARG; ERR_MISSING: no table is marked; ERR_CUT: the last line lacks its line
 *           feed, or the last table a row; ERR_SYNTAX: a bad row or head, an id twice in a
 *           table, two tables are marked; ERR_RANGE; ERR_SPACE: the arena is too small
 *   cost    O(len) */
cpubind_text_status cpubind_driver_parse_namespaces(const char *text, int32_t len,
                                                    cpubind_arena *arena,
                                                    cpubind_driver_logics *out,
                                                    cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_DRIVER_FILES_H */
