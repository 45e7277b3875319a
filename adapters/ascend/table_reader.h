/* table_reader.h - the outputs of npu-smi, row by row, by the names of columns; private
 * SPDX-License-Identifier: MIT
 *
 * Pure. A line is a rule (+---+), a row of cells between bars or two blanks apart, or a key and
 * its value. A line whose cells are names is a header; a record has as many rows as its header
 * has lines. The names are one table in table.c. The reader must not give a value to a column
 * that may not be its own, and must not pass over a row of its table: what it does not know is
 * passed over where it cannot be one, and the first such piece is kept.
 */
#ifndef CPUBIND_ASCEND_TABLE_READER_H
#define CPUBIND_ASCEND_TABLE_READER_H

#include "../text/cursor.h"

/* The outputs, as bits. */
typedef enum table_kind {
    TABLE_MAP = 1,  /* info -m */
    TABLE_TOPO = 2, /* info -t topo */
    TABLE_INFO = 4, /* info */
    TABLE_BOARD = 8 /* info -t board, info -l */
} table_kind;

typedef enum table_column {
    TABLE_CARD,
    TABLE_CHIP,
    TABLE_LOGIC,
    TABLE_PHY,
    TABLE_SLOT,
    TABLE_CHIPS, /* how many a card has */
    TABLE_PID,
    TABLE_OWN_PID, /* in the container */
    TABLE_NAME,    /* of a chip */
    TABLE_HEALTH,
    TABLE_BUS,
    TABLE_PROCESS, /* the name of a process, which may hold bars */
    TABLE_MEMORY,
    TABLE_CPUS,
    TABLE_LABEL, /* of a row of the topology */
    TABLE_LINK,  /* to the device with this label */
    TABLE_VALUE, /* not used, and never empty */
    TABLE_HBM,   /* the same, of a product with processes in its tables */
    TABLE_KEY,   /* not used */
    TABLE_OTHER, /* not known */
    TABLE_COLUMNS
} table_column;

typedef enum table_section {
    TABLE_NONE,    /* before the first header */
    TABLE_ROWS,    /* of the map, of the topology; devices of npu-smi info */
    TABLE_USERS,   /* processes of npu-smi info */
    TABLE_ANOTHER, /* rows below a header of something else */
    TABLE_TITLES   /* the same, no column of which is known */
} table_section;

enum { TABLE_CELLS = 128, TABLE_LINES = 3 };

/* A line of a header. */
typedef struct table_head {
    int32_t n; /* names */
    int32_t n_cell;
    int32_t is_narrow; /* names are one blank apart */
    int32_t has_more;  /* the last name may be that of several columns */
    uint32_t has;      /* columns, as bits */
    uint32_t part;     /* columns with whose name another one starts */
    cursor twice;      /* a column that is there twice */
    cursor other;      /* the first that is not known */
    struct table_title {
        int32_t column, cell;
        cursor name;
    } title[TABLE_CELLS];
} table_head;

typedef enum table_event {
    TABLE_END, /* of the text, or see status */
    TABLE_HEADER,
    TABLE_RECORD,
    TABLE_RULE,
    TABLE_REMARK
} table_event;

typedef struct table {
    cursor_text of;
    cursor all; /* what follows the line */
    table_kind kind;
    cursor line;
    int32_t start, is_cut; /* of the line: no line feed ends it */
    table_section section;
    uint32_t has;                /* columns of the table */
    cursor value[TABLE_COLUMNS]; /* of the record */
    uint32_t seen;               /* keys of the record */
    cpubind_piece unknown;
    cursor near;              /* a header that lacks a column ... */
    const char *near_what;    /* ... or has it under another name */
    char rule;                /* "-" or "=": of the line before, where it is one; else 0 */
    int32_t is_full;          /* every label of the topology has its row: npusmi.c says it */
    int32_t n_head, at_head;  /* lines of the header; the next of a record */
    int32_t is_header_open;   /* the line before is one of the header */
    int32_t is_wide;          /* cells of a row were two blanks apart */
    int32_t is_placed;        /* cells of a row stood below their names */
    int32_t is_open;          /* a block of keys: 1 has begun, 2 has ended */
    int32_t n_more;           /* cells of a row of the topology beyond its header; -2: no row */
    int32_t head_start;       /* of the line of the header of the map */
    cursor first;             /* the name of its first chip: npusmi.c says it */
    int32_t suspect;          /* the row before, where it was passed over; or -1 */
    int32_t n_cell;           /* of the line */
    cursor cell[TABLE_CELLS]; /* not cleared, nor is what follows */
    table_head head[TABLE_LINES], next;
} table;

/* Begins at the start of a text; the table may not be moved. */
void cpubind_priv_table_open(table *t, const char *text, int32_t len, table_kind kind,
                             cpubind_text_fault *fault);

/* Steps to the next thing of the text. */
table_event cpubind_priv_table_next(table *t);

/* The index of the cell of a column in the first line of the header; -1: it is not there. */
int32_t cpubind_priv_table_place(const table *t, table_column column);

/* Fails the reading at a place. */
table_event cpubind_priv_table_fail(table *t, cpubind_text_status status, int32_t at,
                                    const char *what);

/* Keeps the first piece of text that is passed over. */
void cpubind_priv_table_note(table *t, cursor run);

static inline int table_has(const table *t, table_column column)
{
    return (int)(t->has >> column & 1u);
}

static inline int table_is_empty(cursor c)
{
    return c.at == c.end;
}

/* The same from a place on. */
static inline cursor table_from(cursor c, int32_t at)
{
    c.at = at;
    return c;
}

static inline int table_starts_with_digit(cursor c)
{
    return c.at < c.end && cursor_is_digit(c.text[c.at]);
}

static inline int table_is_digits(cursor c)
{
    const int32_t first = c.at;
    while (c.at < c.end && cursor_is_digit(c.text[c.at]))
        c.at++;
    return c.at == c.end && c.at > first;
}

/* Whether a cell says that there is no such id. */
static inline int table_is_none(cursor cell)
{
    static const char *const words[] = {"-", "--", "NA", "N/A", "MCU"};
    size_t i = 0;
    while (i < sizeof words / sizeof *words && !cursor_is(cell, words[i]))
        i++;
    return i < sizeof words / sizeof *words;
}

/* The part of a cell before a remark in parentheses: "0000:c1:00.0 (x16)". */
static inline cursor table_before_remark(cursor cell)
{
    cursor rest = cell;
    const cursor before = cursor_cut(&rest, '(');
    const int is_remark = rest.at < rest.end && cursor_is_letter(rest.text[rest.at]) &&
                          cell.text[cell.end - 1] == ')';
    return cursor_trim(is_remark && !table_is_empty(before) ? before : cell);
}

/* Reads a PCI address, whose domain is -1 for NA. */
cpubind_pci_address cpubind_priv_table_pci(cursor cell);

/*   label  = ( "NPU" / "Phy-ID" / "NIC" ) [ "-" / "_" ] number      letters of either case
 * The letters of a label, 0 when the word is none; *id is its number. */
char cpubind_priv_table_label(cursor word, int32_t *id);

#endif /* CPUBIND_ASCEND_TABLE_READER_H */
