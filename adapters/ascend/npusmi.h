/* npusmi.h - readers of npu-smi: `info -m`, `-t topo`, `info`, `-t board`, refusals
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h; but arrays are taken from an arena, of which nothing is used when a reader
 * fails. The ids of npu-smi are kept apart by name throughout:
 *   card    `NPU ID`, the first cell of a row
 *   chip    `Chip ID`, counts inside a card
 *   logic   `Chip Logic ID`, what a runtime inside this container uses
 *   phy     `Chip Phy-ID`, the host's number, the same in every container
 * An id that the output does not print is -1. A name is a slice of the caller's text.
 *
 * WHAT EVERY READER KEEPS
 *   npu-smi gains columns, sections and lines with every release. A reader finds what it needs
 *   by its name (table.c) and passes over the rest. `unknown` is the first piece that it passed
 *   over and does not know from npu-smi 21 to 26; len 0: there is none. A value that is needed
 *   and missing, ambiguous, there twice or contradicted is ERR_SYNTAX or ERR_RANGE at its
 *   place; a text that does not end in a line feed, or where no whole output ends, ERR_CUT. A
 *   text that is no table and holds a refusal is ERR_REFUSED at its line, one without what it
 *   must hold ERR_MISSING; an arena that is too small is ERR_SPACE.
 */
#ifndef CPUBIND_ASCEND_NPUSMI_H
#define CPUBIND_ASCEND_NPUSMI_H

#include "../text/arena.h"
#include "../text/pci_address.h"
#include "../text/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Refusals of npu-smi. It exits with 0 after some of them: only the text counts. */
typedef enum cpubind_npusmi_refusal {
    CPUBIND_NPUSMI_NONE = 0,          /* no known refusal in the text */
    CPUBIND_NPUSMI_NO_NPU = 1,        /* There is no NPU card on this server. */
    CPUBIND_NPUSMI_NOT_SUPPORTED = 2, /* This device does not support querying ... */
    CPUBIND_NPUSMI_VM = 3,            /* This command cannot be executed on a VM... */
    CPUBIND_NPUSMI_DRIVER = 4,        /* dcmi module initialize failed, model initialized ... */
    CPUBIND_NPUSMI_QUERY = 5,         /* Failed to query "topo" info. Failed to get ... */
    CPUBIND_NPUSMI_PARAMETER = 6,     /* Error parameter of ..., Invalid card id. */
    CPUBIND_NPUSMI_NOT_PERMITTED = 7, /* ... can be executed only by the root user. */
    CPUBIND_NPUSMI_BUSY = 8,          /* ... because the device is used: by another container */
    CPUBIND_NPUSMI_USAGE = 9,         /* Usage: npu-smi ..., with none of the above before it */
    CPUBIND_NPUSMI_NOT_RUN = 10       /* npu-smi: command not found, shared libraries, ... */
} cpubind_npusmi_refusal;

/* The first known refusal of the text, and its line. A message about one card of many, which
 * npu-smi prints before a table, is no refusal.
 *   in      out_line may be NULL
 *   cost    O(len) */
cpubind_npusmi_refusal cpubind_npusmi_find_refusal(const char *text, int32_t len,
                                                   cpubind_piece *out_line);

/* How many cards `npu-smi info -m` could not list: lines "Failed to get chip number of card".
 * The table lacks the chips of these cards alone.
 *   cost    O(len) */
int32_t cpubind_npusmi_count_lost(const char *text, int32_t len);

/* == Rows =================================================================== */

/* A row of a table: what it says of an NPU. An id that it does not print is -1. */
typedef struct cpubind_npusmi_row {
    int32_t card, chip, logic, phy;
    int32_t n_chip;          /* of a card; -1: not printed, or NA */
    int32_t pid;             /* of a process, as the host numbers it; -1: hidden */
    cpubind_pci_address pci; /* domain -1: not printed, or NA */
    cpubind_piece name;      /* without blanks around it; may hold blanks */
    const int32_t *cpu;      /* near it, strictly ascending */
    int32_t n_cpu;           /* 0: none is printed */
} cpubind_npusmi_row;

typedef struct cpubind_npusmi_rows {
    cpubind_npusmi_row *row; /* in the order of the text */
    int32_t n;
    /* Whether the table has a column of logic ids, of names, of the CPU affinity: 1, else 0. */
    int32_t has_logic, has_name, has_affinity;
    cpubind_piece unknown;
} cpubind_npusmi_rows;

/* The NPU chips of `npu-smi info -m`. Needed columns: NPU ID, Chip ID, and Chip Logic ID, or
 * Slot ID where the NPU ID is the logic id. Rows of board controllers (Mcu, 3559: no logic id)
 * are checked and left out; a chip with another name and no logic id is a chip, with logic -1.
 * A chip that npu-smi could not query has an empty name, and its logic and phy ids may be 0
 * instead of what they are.
 *   out     at least one row: card, chip >= 0; logic; phy; name. Without a column of logic ids
 *           the NPU ID is the logic id, as on a 950; without one of names chips are not told
 *           from board controllers but by their logic ids
 *   cuts    not detected behind a row: only the census of the host tells of a lost one
 *   cost    O(len + chips^2) */
cpubind_text_status cpubind_npusmi_parse_map(const char *text, int32_t len,
                                             cpubind_arena *arena, cpubind_npusmi_rows *out,
                                             cpubind_text_fault *fault);

/* The matrix of `npu-smi info -t topo`. Columns and rows of other kinds (NIC, UB, RNIC), more
 * columns and other tables after the matrix are passed over. Each label of an NPU has a row.
 *   out     at least one row, in the order of the header: card, of all its chips, where labels
 *           are NPU<n>, or in all rows phy, where they are Phy-ID<n>; cpu
 *   cuts    detected when a row or a CPU of an NPU is lost
 *   cost    O(len + rows^2) */
cpubind_text_status cpubind_npusmi_parse_topo(const char *text, int32_t len,
                                              cpubind_arena *arena, cpubind_npusmi_rows *out,
                                              cpubind_text_fault *fault);

/* The blocks of `npu-smi info -t board -i CARD [-c CHIP]` that have an address: of a chip, or
 * of a card that counts its chips. A block starts at `NPU ID`, and at the next `Chip ID` of an
 * output that prints the card first and then its chips. Other keys, lines without a colon, and
 * a remark in parentheses are passed over. An address of zeros, which npu-smi prints when it
 * could not ask for the address, counts as NA.
 *   out     at least one row: card >= 0; chip, -1: the block is of the whole card; n_chip, of
 *           one chip it is not printed; pci
 *   cuts    detected but for whole blocks that are lost
 *   cost    O(len + blocks^2) */
cpubind_text_status cpubind_npusmi_parse_board(const char *text, int32_t len,
                                               cpubind_arena *arena, cpubind_npusmi_rows *out,
                                               cpubind_text_fault *fault);

/* == info =================================================================== */

/* Chips have no number, -1, on products whose tables have no Chip column (950). */
typedef struct cpubind_npusmi_info {
    cpubind_npusmi_rows device;  /* card >= 0, chip, logic, phy, pci; none: only the process
                                    table is there */
    cpubind_npusmi_rows process; /* card >= 0, chip, pid: a row without one runs, too */
    int32_t has_process_table;   /* 1 when its header was there, else 0 */
    int32_t is_open; /* 1: devices may be lost, only the map tells: no process table ends them,
                        or it has a fault; of a product that has none, no rule of "=". 2: a
                        rule announces more */
    cpubind_text_status process_status; /* of the process table behind the devices; ... */
    cpubind_text_fault process_fault;   /* ... not OK: its fault, and no process was read */
} cpubind_npusmi_info;

/* The device table and the process table of `npu-smi info`, of all product families. A device
 * is known by card and chip: in a container several may have one phy id and one Bus-Id. A chip
 * that npu-smi could not query, with one line instead of two, is left out. Further columns,
 * tables and rows of other kinds are passed over.
 *   cuts    detected inside a row, a rule or a device; of devices see is_open; not detected
 *           behind the rule below the processes of a card
 *   cost    O(len + devices^2) */
cpubind_text_status cpubind_npusmi_parse_info(const char *text, int32_t len,
                                              cpubind_arena *arena, cpubind_npusmi_info *out,
                                              cpubind_text_fault *fault);

/* The version that `npu-smi info` prints; len 0: none. */
cpubind_piece cpubind_npusmi_version(const char *text, int32_t len);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_NPUSMI_H */
