/* npusmi.h - readers of npu-smi: `info -m`, `-t topo`, `info`, `-t board`, `-l`, refusals
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. Rows are split at their bars and words, never at columns. The rules are
 * those of the outputs in fixtures/hosts. The ids of npu-smi are kept apart by name throughout:
 *   card    `NPU ID`, the first cell of a row
 *   chip    `Chip ID`, counts inside a card
 *   logic   `Chip Logic ID`, what a runtime inside this container uses
 *   phy     `Chip Phy-ID`, the host's number, the same in every container
 * An id that the output does not print is -1. A name is a slice of the caller's text.
 *
 * UNKNOWN TEXT
 *   npu-smi gains columns, sections and lines with every release. A reader finds what it needs
 *   by its name and passes over the rest. `unknown` is the first piece that the reader passed
 *   over and does not know from npu-smi 21 to 26; len 0: there is none. A value that is needed
 *   and missing, ambiguous or contradictory is an error.
 *
 * The grammars are above each reader in npusmi_*.c.
 */
#ifndef CPUBIND_ASCEND_NPUSMI_H
#define CPUBIND_ASCEND_NPUSMI_H

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

/* The first known refusal of the text, and its line. The parsers below search for a refusal
 * themselves when the text is no whole table (ERR_SYNTAX, ERR_CUT, ERR_MISSING), and then
 * return ERR_REFUSED. A message about one card of many, which npu-smi prints before a table, is
 * no refusal.
 *   in      out_line may be NULL
 *   cost    O(len) */
cpubind_npusmi_refusal cpubind_npusmi_find_refusal(const char *text, int32_t len,
                                                   cpubind_piece *out_line);

/* How many cards `npu-smi info -m` could not list: lines "Failed to get chip number of card".
 * The table lacks the chips of these cards alone.
 *   cost    O(len) */
int32_t cpubind_npusmi_count_lost(const char *text, int32_t len);

/* == info -m ================================================================ */

typedef struct cpubind_npusmi_chip {
    int32_t card;       /* NPU ID, >= 0 */
    int32_t chip;       /* Chip ID, >= 0 */
    int32_t logic;      /* Chip Logic ID; -1: not printed, see has_logic */
    int32_t phy;        /* Chip Phy-ID; -1: not printed */
    cpubind_piece name; /* Chip Name, without blanks around it; may hold blanks; see below */
} cpubind_npusmi_chip;

typedef struct cpubind_npusmi_map {
    cpubind_npusmi_chip *chip; /* the caller's array */
    int32_t cap_chip;          /* its length */
    int32_t n_chip;            /* out; at least one */
    int32_t has_logic;         /* out: 1 when the table has a column Chip Logic ID: a chip with
                                  logic -1 has no logic id then. 0: no chip has one, and the NPU
                                  ID is the logic id, as on a 950 */
    int32_t has_name;          /* out: 1 when the table has a column Chip Name; 0: all names are
                                  empty, and chips are not told from board controllers but by
                                  their logic ids */
    cpubind_piece unknown;     /* out: see UNKNOWN TEXT */
} cpubind_npusmi_map;

/* The NPU chips of `npu-smi info -m`. Needed columns: NPU ID, Chip ID, and Chip Logic ID, or
 * Slot ID where the NPU ID is the logic id. Rows of board controllers (Mcu, 3559: no logic id)
 * are checked and left out; a chip with another name and no logic id is a chip, with logic -1.
 * A chip that npu-smi could not query has an empty name, and its logic and phy ids may be 0
 * instead of what they are.
 *   in/out  map, as above; the chips are in the order of the text
 *   errors  ERR_ARG; ERR_REFUSED (fault->offset: the line); ERR_MISSING (no header, no chip);
 *           ERR_SYNTAX (also: a needed column is missing; a column twice, or one that may be
 *           that of a missing id under another name; a row before the header, or whose cells
 *           do not fit the columns; the same card and chip twice; a logic id twice); ERR_CUT;
 *           ERR_RANGE; ERR_SPACE with n_chip
 *   cuts    not detected after a row, and inside the name of the first chip. Only the census of
 *           the host tells of a lost row, and of a changed digit that makes another free id.
 *   cost    O(len + chips^2) */
cpubind_text_status cpubind_npusmi_parse_map(const char *text, int32_t len,
                                             cpubind_npusmi_map *map,
                                             cpubind_text_fault *fault);

/* == info -t topo =========================================================== */

/* The kind of number in the label of a row. */
typedef enum cpubind_npusmi_label {
    CPUBIND_NPUSMI_LABEL_CARD = 0, /* NPU<n>: a card; the row holds for all of its chips */
    CPUBIND_NPUSMI_LABEL_PHY = 1   /* Phy-ID<n>: a phy id */
} cpubind_npusmi_label;

typedef struct cpubind_npusmi_affinity {
    int32_t id;    /* the number in the label */
    int32_t first; /* its CPUs: cpu[first] .. cpu[first + count - 1], strictly ascending */
    int32_t count; /* 0 without a CPU Affinity column, or when its cell is empty or NA */
} cpubind_npusmi_affinity;

typedef struct cpubind_npusmi_topo {
    cpubind_npusmi_affinity *row; /* the caller's array */
    int32_t cap_row;              /* its length */
    int32_t *cpu;                 /* the caller's array: CPU ids of all rows */
    int32_t cap_cpu;              /* its length */
    int32_t n_row;                /* out: rows of NPUs; rows of NICs are checked, not kept */
    int32_t n_cpu;                /* out */
    cpubind_npusmi_label label;   /* out: the same for all rows */
    int32_t has_affinity;         /* out: 1 when the table has a CPU Affinity column, else 0 */
    cpubind_piece unknown;        /* out: see UNKNOWN TEXT */
} cpubind_npusmi_topo;

/* The matrix of `npu-smi info -t topo`. Columns and rows of other kinds (NIC, UB, RNIC), more
 * columns and other tables after the matrix are passed over.
 *   in/out  topo, as above
 *   errors  ERR_ARG; ERR_REFUSED; ERR_MISSING (no header, no row); ERR_SYNTAX (also: a label
 *           that the header does not have, a row twice, a missing row, a row whose cells do not
 *           fit the columns, a column that may be that of the affinity under another name);
 *           ERR_CUT (also: the text ends with a list of CPUs that no other row has: it may go
 *           on); ERR_RANGE; ERR_ORDER; ERR_SPACE with n_row and n_cpu
 *   cuts    detected when a row or a CPU of an NPU is lost. Only the lists of the kernel tell
 *           of a changed digit inside a list.
 *   cost    O(len + rows^2) */
cpubind_text_status cpubind_npusmi_parse_topo(const char *text, int32_t len,
                                              cpubind_npusmi_topo *topo,
                                              cpubind_text_fault *fault);

/* == info =================================================================== */

typedef struct cpubind_npusmi_device {
    int32_t card;            /* NPU, >= 0 */
    int32_t chip;            /* Chip; -1 on products whose table has no Chip column (950) */
    int32_t logic;           /* `Device` column of 310 products, or -1 */
    int32_t phy;             /* `Phy-ID` column, or -1 */
    cpubind_piece name;      /* may be empty */
    cpubind_piece health;    /* "OK", "Warning", "UNKNOWN", ...; may be empty */
    cpubind_pci_address pci; /* Bus-Id; domain -1: NA */
} cpubind_npusmi_device;

typedef struct cpubind_npusmi_process {
    int32_t card;          /* >= 0 */
    int32_t chip;          /* -1 on products whose table has no Chip column (950) */
    int32_t pid;           /* as the host numbers it; -1: hidden, but the chip runs a process */
    int32_t container_pid; /* 26.x: as the container numbers it, or -1 */
    cpubind_piece name;    /* may be empty, may hold blanks and bars */
} cpubind_npusmi_process;

typedef struct cpubind_npusmi_info {
    cpubind_npusmi_device *device;   /* the caller's array */
    int32_t cap_device;              /* its length */
    cpubind_npusmi_process *process; /* the caller's array */
    int32_t cap_process;             /* its length */
    int32_t n_device;                /* out; may be 0 when only the process table is there */
    int32_t n_process;               /* out */
    int32_t has_process_table;       /* out: 1 when its header was there, else 0 */
    cpubind_piece version;           /* out: of npu-smi; empty when it is not printed */
    cpubind_piece unknown;           /* out: see UNKNOWN TEXT */
} cpubind_npusmi_info;

/* The device table and the process table of `npu-smi info`, of all product families. A device
 * is known by card and chip: in a container several may have one phy id and one Bus-Id. A chip
 * that npu-smi could not query, with one line instead of two, is left out. Further columns,
 * lines of a device, tables and rows of other kinds are passed over.
 *   in/out  info, as above
 *   errors  ERR_ARG; ERR_REFUSED; ERR_MISSING (neither table); ERR_SYNTAX (also: the same card
 *           and chip twice, a logic id twice, a row with another number of cells than its
 *           header); ERR_CUT; ERR_RANGE; ERR_SPACE with n_device and n_process
 *   cuts    detected inside a row, a rule or a device, after a rule that announces a table,
 *           after the header of processes, and between the last process and its rule; not
 *           detected after a whole device or the processes of a card, where samples may end.
 *           Only the map tells of a lost device, and only the driver of a lost process or of a
 *           changed digit.
 *   cost    O(len + devices^2) */
cpubind_text_status cpubind_npusmi_parse_info(const char *text, int32_t len,
                                              cpubind_npusmi_info *info,
                                              cpubind_text_fault *fault);

/* The device table of `npu-smi info` alone, for a caller that can do without the processes: a
 * fault in the process table, behind the devices, is none.
 *   in/out  info, as above but for its processes: n_process and has_process_table become 0
 *   errors  as above
 *   cost    as above */
cpubind_text_status cpubind_npusmi_parse_devices(const char *text, int32_t len,
                                                 cpubind_npusmi_info *info,
                                                 cpubind_text_fault *fault);

/* == info -t board ========================================================== */

/* A block of `npu-smi info -t board`: one chip, or a whole card. A name is empty when it is not
 * printed or is NA. An address of zeros, which npu-smi prints when it could not ask for the
 * address, counts as NA. */
typedef struct cpubind_npusmi_board {
    int32_t card;            /* NPU ID, >= 0 */
    int32_t chip;            /* Chip ID, or -1: the block is of the whole card */
    int32_t n_chip;          /* Chip Count, or -1: not printed (of one chip it is not) */
    int32_t has_pci;         /* 1: the line `PCIe Bus Info` is there; else 0 */
    cpubind_pci_address pci; /* PCIe Bus Info */
    int32_t vendor;          /* PCI Vendor ID (Vendor ID without PCI), or -1: none, NA */
    int32_t device;          /* PCI Device ID (Device ID without PCI), or -1: none, NA */
    cpubind_piece npu_name;  /* NPU Name */
    cpubind_piece chip_type; /* Chip Type */
    cpubind_piece chip_name; /* Chip Name */
    cpubind_piece product;   /* Product Name */
    cpubind_piece serial;    /* Serial Number */
} cpubind_npusmi_board;

typedef struct cpubind_npusmi_boards {
    cpubind_npusmi_board *board; /* the caller's array */
    int32_t cap_board;           /* its length */
    int32_t n_board;             /* out; at least one */
    cpubind_piece unknown;       /* out: see UNKNOWN TEXT */
} cpubind_npusmi_boards;

/* The blocks of `npu-smi info -t board -i CARD [-c CHIP]`. A block starts at `NPU ID`, and at
 * the next `Chip ID` of an output that prints the card first and then its chips. Other keys,
 * lines without a colon, and a unit or a remark after a number are passed over.
 *   in/out  boards, as above; the blocks are in the order of the text
 *   errors  ERR_ARG; ERR_REFUSED (fault->offset: the line); ERR_MISSING (no NPU ID);
 *           ERR_SYNTAX (also: one of these keys before the first NPU ID or twice in a block,
 *           the same card and chip twice); ERR_CUT; ERR_RANGE; ERR_SPACE with n_board
 *   cuts    detected inside a line, not after one: the chip may be missing then, which makes
 *           the block one of the whole card, or the address
 *   cost    O(len + blocks^2) */
cpubind_text_status cpubind_npusmi_parse_board(const char *text, int32_t len,
                                               cpubind_npusmi_boards *boards,
                                               cpubind_text_fault *fault);

/* == info -l ================================================================ */

typedef struct cpubind_npusmi_card {
    int32_t card;          /* NPU ID, >= 0 */
    int32_t n_chip;        /* Chip Count, or -1: not printed */
    cpubind_piece product; /* Product Name; empty: not printed, NA */
    cpubind_piece serial;  /* Serial Number; empty: not printed, NA */
} cpubind_npusmi_card;

typedef struct cpubind_npusmi_cards {
    cpubind_npusmi_card *card; /* the caller's array */
    int32_t cap_card;          /* its length */
    int32_t n_card;            /* out; at least one */
    cpubind_piece unknown;     /* out: see UNKNOWN TEXT */
} cpubind_npusmi_cards;

/* The cards of `npu-smi info -l`.
 *   in/out  cards, as above; in the order of the text, and as many as `Total Count` (or
 *           `Card Count`) says
 *   errors  ERR_ARG; ERR_REFUSED (fault->offset: the line); ERR_MISSING (no count, no card);
 *           ERR_SYNTAX (also: a key twice, a card twice, more cards than the count);
 *           ERR_CUT (also: fewer cards than the count); ERR_RANGE; ERR_SPACE with n_card
 *   cuts    detected, except in the lines of the last card after its NPU ID
 *   cost    O(len + cards^2) */
cpubind_text_status cpubind_npusmi_parse_list(const char *text, int32_t len,
                                              cpubind_npusmi_cards *cards,
                                              cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_NPUSMI_H */
