/* npusmi_info.c - `npu-smi info`: the device table and the process table
 * SPDX-License-Identifier: MIT
 *
 * Pure. Rows are split at their bars, cells are found by the words of the header, never by a
 * column of the text. Other columns, rows, sections and lines are passed over. The reader must
 * not give a row to a table before the header of the table. The grammar is above the function
 * that reads the text; it comes from the outputs of npu-smi 21 to 26.
 */
#include "npusmi_scan.h"

/* The table of the last header. */
typedef enum section { SECTION_NONE, SECTION_DEVICE, SECTION_PROCESS, SECTION_OTHER } section;

/* The kind of the last line read: it tells a whole output from one that was cut. */
typedef enum last_line { LAST_OTHER, LAST_ROW, LAST_DASHES, LAST_EQUALS } last_line;

enum {
    NARROW_CELLS = 3,    /* a device row: NPU Name | Health | values */
    WIDE_CELLS = 4,      /* of a 950: NPU ID | Name | Health | values */
    PROCESS_CELLS = 4,   /* ids | pid | name | memory */
    CONTAINER_CELLS = 5, /* 26.x has one more: the pid in the container */
    ROW_CELLS = 32,      /* cells that are held; a name with bars makes more */
    HELD = 32,           /* devices, processes that are held: more are read a second time */
    NO_CELL = -1
};

/* The columns of the process table. */
enum {
    PROCESS_IDS,
    PROCESS_CHIP,
    PROCESS_PID,
    PROCESS_IN_CONTAINER,
    PROCESS_NAME,
    PROCESS_MEMORY,
    N_PROCESS
};

/* A line between bars. */
typedef struct bar_row {
    const scan_line *line;
    int32_t n;                /* cells; there may be more than are held */
    scan_run cell[ROW_CELLS]; /* the cells that are held, without the blanks around them */
} bar_row;

/* The names in a cell of a header with several numbers: "Chip  Phy-ID". */
typedef struct id_names {
    int32_t n; /* 0: no header tells */
    int32_t chip;
    int32_t logic;
    int32_t phy; /* index of the name, or -1 */
} id_names;

static const id_names no_names = {0, -1, -1, -1};

/* Where a device has its values: indexes of cells, or NO_CELL. */
typedef struct device_layout {
    int32_t n;    /* cells; 0 until a header or a row tells */
    int32_t card; /* first line */
    int32_t name; /* NO_CELL: in the cell of the card */
    int32_t health;
    int32_t chip; /* second line; NO_CELL on a product without chips */
    int32_t pci;  /* NO_CELL: the cell that holds an address */
    id_names ids; /* in the cell of the chip */
} device_layout;

typedef struct process_layout {
    int32_t n; /* cells of the header */
    int32_t cell[N_PROCESS];
    id_names ids;
} process_layout;

/* The state of one reading. */
typedef struct info_reader {
    cpubind_npusmi_info out; /* arrays for the first devices and processes */
    int32_t n_device;
    int32_t n_process;
    section section;
    device_layout at;
    process_layout columns;
    int32_t header_lines;   /* of the device table */
    int32_t is_header_open; /* 1: the line before is a line of that header */
    int32_t lines_left;     /* lines of the device that follow its second */
    int32_t has_processes;  /* 1: the header of processes was there */
    int32_t n_process_row;  /* rows and messages after the process table's header */
    int32_t has_rules;      /* 1: the process table has rules */
    int32_t is_titles;      /* the line before may be: 1 the header, 2 the title of a table */
    int32_t devices_only;   /* 1: the caller can do without the process table */
    int32_t is_past;        /* 1: the process table could not be read; only devices count */
    int32_t suspect;        /* where the row before starts, if it was passed over; else -1 */
    last_line last;
    int32_t is_half; /* 1: `half` has its first line and not its second */
    cpubind_npusmi_device half;
    cpubind_piece version;
    cpubind_piece unknown;
    logic_ids logic;
    device_keys keys; /* the last one: see read_info */
} info_reader;

static cpubind_text_status split_row(const scan_text *in, const scan_line *line, bar_row *row)
{
    int32_t at = line->run.at + 1, end = line->run.end;

    row->line = line;
    row->n = 0;
    while (at < end) {
        const char *bar = (const char *)memchr(in->text + at, '|', (size_t)(end - at));

        if (!bar)
            return fail_short(in, line, "the row ends before its last bar");
        if (row->n < ROW_CELLS) {
            const scan_run cell = {at, (int32_t)(bar - in->text)};

            row->cell[row->n] = scan_trim(in, cell);
        }
        row->n++;
        at = (int32_t)(bar - in->text) + 1;
    }
    if (row->n == 0)
        return fail_short(in, line, "the row ends before its last bar");
    if (row->n > ROW_CELLS)
        return fail_at(in, row->cell[0], "a row has too many cells");
    return CPUBIND_TEXT_OK;
}

static scan_run first_word(const scan_text *in, scan_run cell)
{
    return scan_word(in, cell.at, cell.end);
}

/* Whether the first word of a cell is this name, letters of either case. */
static int is_named(const scan_text *in, scan_run cell, const char *name)
{
    const scan_run word = first_word(in, cell);

    return word.end - word.at == (int32_t)strlen(name) &&
           scan_starts_with_letters(in->text + word.at, word.end - word.at, name);
}

/* The first cell of a row with this name, or NO_CELL. */
static int32_t find_cell(const scan_text *in, const bar_row *row, const char *name)
{
    for (int32_t i = 0; i < row->n; i++)
        if (is_named(in, row->cell[i], name))
            return i;
    return NO_CELL;
}

/* Whether a cell counts something: "8 processes". */
static int is_count(const scan_text *in, scan_run cell)
{
    const scan_run first = first_word(in, cell);

    return is_all_digits(in, first) && is_other_kind(in, scan_word(in, first.end, cell.end));
}

/* Whether a run has bytes of another language than English. */
static int is_translated(const scan_text *in, scan_run run)
{
    for (; run.at < run.end; run.at++)
        if ((unsigned char)in->text[run.at] >= 0x80)
            return 1;
    return 0;
}

/* == Several ids in one cell ================================================ */

/* Reads the names in a cell of a header: two blanks apart, or each a word. The first is that of
 * the first id, whatever it says. */
static void read_id_names(const scan_text *in, scan_run cell, info_reader *info, id_names *ids)
{
    next_fn *next = count_runs(in, cell.at, cell.end, scan_cell) > 1 ? scan_cell : scan_word;
    scan_run name = next(in, cell.at, cell.end);

    *ids = no_names;
    for (; !scan_is_empty(name); name = next(in, name.end, cell.end), ids->n++) {
        if (ids->n == 0)
            continue;
        if (is_named(in, name, "Chip"))
            ids->chip = ids->n;
        else if (STARTS_WITH_LETTERS(in, name, "Phy"))
            ids->phy = ids->n;
        else if (SCAN_IS(in, name, "Device") || STARTS_WITH_LETTERS(in, name, "Logic"))
            ids->logic = ids->n;
        else
            note_unknown(&info->unknown, name);
    }
}

/* The n-th word of a cell. */
static scan_run nth_word(const scan_text *in, scan_run cell, int32_t n)
{
    scan_run word = first_word(in, cell);

    for (; n > 0; n--)
        word = scan_word(in, word.end, cell.end);
    return word;
}

/* Reads the id with this index, -1 when there is none. */
static cpubind_text_status read_nth_id(const scan_text *in, scan_run cell, int32_t index,
                                       int32_t *id)
{
    *id = -1;
    return index < 0 ? CPUBIND_TEXT_OK
                     : scan_whole_number(in, nth_word(in, cell, index), INT32_MAX, id);
}

/* == The device table ======================================================= */

/* Whether a cell is a PCI address or NA; *pci is what it is. */
static int is_pci(const scan_text *in, scan_run cell, cpubind_pci_address *pci)
{
    const scan_text quiet = {in->text, in->len, NULL};

    return read_pci(&quiet, before_remark(in, cell), pci) == CPUBIND_TEXT_OK;
}

/* The cell of a row that is a PCI address, or NO_CELL. */
static int32_t find_pci(const scan_text *in, const bar_row *row)
{
    cpubind_pci_address pci;

    for (int32_t i = 0; i < row->n; i++)
        if (is_pci(in, row->cell[i], &pci) && pci.domain >= 0)
            return i;
    return NO_CELL;
}

/* Fails a line of a device whose first cell of values is empty. */
static cpubind_text_status check_values(const scan_text *in, const bar_row *row, int32_t before)
{
    if (before >= 0 && before + 1 < row->n && scan_is_empty(row->cell[before + 1]))
        return fail_at(in, row->cell[before + 1], "the values of a device are missing");
    return CPUBIND_TEXT_OK;
}

/* The words of npu-smi 21 to 26. */
static int is_known_health(const scan_text *in, scan_run cell)
{
    return is_named(in, cell, "OK") || is_named(in, cell, "Warning") ||
           is_named(in, cell, "Alarm") || is_named(in, cell, "Critical") ||
           is_named(in, cell, "UNKNOWN");
}

/* Whether a cell is no health: a pid or a value, an address. "2-Warn" is one. */
static int is_no_health(const scan_text *in, scan_run cell)
{
    int32_t n_letter = 0;

    if (!scan_starts_with_digit(in, cell))
        return 0;
    for (; cell.at < cell.end; cell.at++) {
        if (in->text[cell.at] == ':')
            return 1;
        n_letter += scan_is_letter(in->text[cell.at]);
    }
    return n_letter < 2;
}

/*   device1 = the cells of the first line of the header
 *   health  = a text with no digit first, or with two letters and no ":" */
static cpubind_text_status read_device_start(const scan_text *in, const bar_row *row,
                                             info_reader *info)
{
    const device_layout *at = &info->at;
    const scan_run cell = row->cell[at->card];
    scan_run card = cell, name, health = {cell.end, cell.end};
    cpubind_npusmi_device *half = &info->half;
    cpubind_text_status status;

    if (at->name == NO_CELL) {
        card = first_word(in, cell);
        name = scan_word(in, card.end, cell.end);
        name.end = cell.end;
    } else {
        name = row->cell[at->name];
        if (is_all_digits(in, name) &&
            (at->health < 0 || !is_known_health(in, row->cell[at->health])))
            return fail_at(in, card, "a row of a process comes before its header");
    }
    status = scan_whole_number(in, card, INT32_MAX, &half->card);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (at->health >= 0)
        health = row->cell[at->health];
    if (is_no_health(in, health) || (at->health < 0 && find_pci(in, row) >= 0))
        return fail_at(in, at->health < 0 ? cell : health, "a cell is no health of a device");
    half->name = scan_slice(name);
    half->health = scan_slice(health);
    if (scan_starts_with_digit(in, health))
        note_unknown(&info->unknown, health);
    info->is_half = 1;
    return check_values(in, row, at->health);
}

/*   ids = chip [ blanks second ]       as many as the header names */
static cpubind_text_status read_device_ids(const scan_text *in, scan_run cell,
                                           info_reader *info)
{
    const id_names *ids = &info->at.ids;
    const int32_t n = count_runs(in, cell.at, cell.end, scan_word);
    int32_t second = -1;
    cpubind_text_status status = read_nth_id(in, cell, 0, &info->half.chip);

    if (status == CPUBIND_TEXT_OK && ids->n == 0 && n > 1) {
        scan_run rest = nth_word(in, cell, 1);

        rest.end = cell.end;
        status = scan_whole_number(in, rest, INT32_MAX, &second);
    }
    if (status == CPUBIND_TEXT_OK && ids->n > 0 && n != ids->n &&
        (ids->n < 3 || count_runs(in, cell.at, cell.end, scan_cell) != ids->n))
        return fail_at(in, nth_word(in, cell, 1),
                       "a device has not the ids that the header names");
    if (status == CPUBIND_TEXT_OK)
        status = read_nth_id(in, cell, ids->phy, &info->half.phy);
    if (status == CPUBIND_TEXT_OK)
        status = read_nth_id(in, cell, ids->logic, &info->half.logic);
    return status;
}

static cpubind_text_status note_half(const scan_text *in, const bar_row *row, info_reader *info)
{
    const int32_t offset = row->cell[0].at;
    cpubind_text_status status =
        note_device(in, &info->keys, offset, info->half.card, info->half.chip);

    if (status == CPUBIND_TEXT_OK)
        status = note_logic(in, &info->logic, offset, info->half.logic);
    if (info->n_device < info->out.cap_device)
        info->out.device[info->n_device] = info->half;
    info->n_device++;
    info->is_half = 0;
    info->lines_left = info->header_lines > 2 ? info->header_lines - 2 : 0;
    return status;
}

/*   device2 = the cells of the second line of the header
 * A second line without a first one is checked and left out: its card is not printed. */
static cpubind_text_status read_device_end(const scan_text *in, const bar_row *row,
                                           info_reader *info)
{
    const device_layout *at = &info->at;
    const int32_t pci = at->pci == NO_CELL ? find_pci(in, row) : at->pci;
    cpubind_text_status status = CPUBIND_TEXT_OK;

    if (at->chip != NO_CELL) {
        status = read_device_ids(in, row->cell[at->chip], info);
    } else {
        if (!scan_is_empty(row->cell[at->card]) ||
            (at->name != NO_CELL && !scan_is_empty(row->cell[at->name])))
            return fail_at(in, row->cell[at->card], "a device ends before its second line");
        info->half.chip = info->half.logic = info->half.phy = -1;
    }
    info->half.pci = no_pci;
    if (status == CPUBIND_TEXT_OK && pci >= 0) {
        const scan_run address = before_remark(in, row->cell[pci]);
        const scan_run remark = {address.end, row->cell[pci].end};

        status = read_pci(in, address, &info->half.pci);
        if (!scan_is_empty(remark))
            note_unknown(&info->unknown, scan_trim(in, remark));
    }
    if (status == CPUBIND_TEXT_OK)
        status = check_values(in, row, pci);
    if (status != CPUBIND_TEXT_OK || !info->is_half)
        return status;
    return note_half(in, row, info);
}

/* Whether a row is the second line of a device where a first one was expected. npu-smi prints
 * no first line of a chip whose health it does not know. After half a header the line is an
 * error: the presumed header may be a first line whose card is no number. */
static int is_lone_end(const scan_text *in, const bar_row *row, const info_reader *info)
{
    const device_layout *at = &info->at;
    const int32_t cell = at->pci == NO_CELL ? find_pci(in, row) : at->pci;
    cpubind_pci_address pci;

    if (row->n != at->n || info->header_lines == 1 || cell < 0 ||
        !is_pci(in, row->cell[cell], &pci))
        return 0;
    if (at->chip != NO_CELL)
        return pci.domain >= 0;
    return scan_is_empty(row->cell[at->card]) &&
           (at->name == NO_CELL || scan_is_empty(row->cell[at->name]));
}

/* Takes the cells of a table without a header, or with one in another language. */
static void guess_layout(device_layout *at, int32_t n)
{
    const int32_t wide = n == WIDE_CELLS;

    at->n = n;
    at->card = 0;
    at->name = wide ? 1 : NO_CELL;
    at->health = at->pci = wide ? 2 : 1;
    at->chip = wide ? NO_CELL : 0;
    at->ids = no_names;
}

/* Whether a row between the two lines of a device goes on with its name: a single cell with
 * words. */
static int is_rest_of_name(const scan_text *in, const bar_row *row, const info_reader *info)
{
    const int32_t name = info->at.name == NO_CELL ? info->at.card : info->at.name;

    for (int32_t i = 0; i < row->n; i++)
        if (i != name && !scan_is_empty(row->cell[i]))
            return 0;
    return row->n == info->at.n && is_other_kind(in, row->cell[name]);
}

static cpubind_text_status read_device(const scan_text *in, const bar_row *row,
                                       info_reader *info)
{
    if (info->at.n == 0 && (row->n == NARROW_CELLS || row->n == WIDE_CELLS))
        guess_layout(&info->at, row->n);
    if (row->n < info->at.n)
        return fail_short(in, row->line, "a device has fewer cells than its table");
    if (row->n != info->at.n)
        return fail_at(in, row->cell[0], "a device has not as many cells as its table");
    info->is_header_open = 0;
    if (info->is_half && is_rest_of_name(in, row, info)) {
        note_unknown(&info->unknown, row->line->run);
        return CPUBIND_TEXT_OK;
    }
    if (info->is_half)
        return read_device_end(in, row, info);
    if (is_lone_end(in, row, info)) {
        if (info->suspect >= 0)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, info->suspect,
                             "a device starts with a row of no known kind");
        return read_device_end(in, row, info);
    }
    return read_device_start(in, row, info);
}

/* Notes a cell of a header that is not known. A number is none: it is of a row that was joined
 * to the header. */
static cpubind_text_status note_column(const scan_text *in, scan_run cell, info_reader *info)
{
    if (scan_starts_with_digit(in, cell))
        return fail_at(in, cell, "a header holds a number");
    if (!scan_is_empty(cell))
        note_unknown(&info->unknown, cell);
    return CPUBIND_TEXT_OK;
}

/* Whether a cell of a header is one of the values that all versions print. */
static int is_values(const scan_text *in, scan_run cell)
{
    return STARTS_WITH_LETTERS(in, cell, "Power") || STARTS_WITH_LETTERS(in, cell, "AICore") ||
           STARTS_WITH_LETTERS(in, cell, "NPU Util");
}

/* Notes the columns of a header of devices that are not known. The last one is that of the
 * values when it comes after the health or the address. */
static cpubind_text_status note_device_columns(const scan_text *in, const bar_row *row,
                                               info_reader *info, int32_t values)
{
    const device_layout *at = &info->at;
    cpubind_text_status status = CPUBIND_TEXT_OK;

    for (int32_t i = 0; status == CPUBIND_TEXT_OK && i < row->n; i++)
        if (i != at->card && i != at->name && i != at->health && i != at->chip &&
            i != at->pci && (i != values || row->n != values + 1) &&
            !is_values(in, row->cell[i]))
            status = note_column(in, row->cell[i], info);
    return status;
}

static cpubind_text_status read_device_names(const scan_text *in, const bar_row *row,
                                             info_reader *info)
{
    device_layout *at = &info->at;
    const int32_t card = find_cell(in, row, "NPU"), name = find_cell(in, row, "Name");
    const int32_t health = find_cell(in, row, "Health");

    guess_layout(at, row->n);
    if (is_translated(in, row->line->run))
        return CPUBIND_TEXT_OK;
    if (card == NO_CELL)
        return fail_at(in, row->cell[0], "the header of devices lacks NPU");
    at->card = card;
    at->name = name;
    if (name == NO_CELL && row->n == WIDE_CELLS && SCAN_IS(in, row->cell[at->card], "NPU ID"))
        at->name = at->card + 1 < row->n ? at->card + 1 : NO_CELL;
    if (health >= 0 || row->n > WIDE_CELLS || (row->n == WIDE_CELLS && at->name == NO_CELL))
        at->health = health;
    at->chip = at->name == NO_CELL ? at->card : NO_CELL;
    at->pci = at->health;
    return note_device_columns(in, row, info, at->health + 1);
}

/* The second line of a header of devices: where the chip, its other ids and the address are. */
static cpubind_text_status read_chip_names(const scan_text *in, const bar_row *row,
                                           info_reader *info)
{
    device_layout *at = &info->at;
    const int32_t chip = find_cell(in, row, "Chip"), pci = find_cell(in, row, "Bus-Id");

    if (is_translated(in, row->line->run))
        return CPUBIND_TEXT_OK;
    if (chip >= 0) {
        at->chip = chip;
        read_id_names(in, row->cell[chip], info, &at->ids);
    } else if (scan_is_empty(row->cell[at->card])) {
        at->chip = NO_CELL;
    }
    at->pci = pci;
    if (pci == NO_CELL)
        note_unknown(&info->unknown, row->line->run);
    return note_device_columns(in, row, info, pci == NO_CELL ? row->n - 1 : pci + 1);
}

static cpubind_text_status read_device_header(const scan_text *in, const bar_row *row,
                                              info_reader *info)
{
    const int is_second = is_named(in, row->cell[0], "Chip") && info->header_lines == 0;

    if (info->has_processes || info->n_device > 0 ||
        (info->header_lines > 0 && !info->is_header_open))
        return fail_at(in, row->cell[0], "a header of devices comes after a row");
    if (info->header_lines > 0 && find_cell(in, row, "Health") >= 0)
        return fail_at(in, row->cell[0], "the header of devices occurs twice");
    if (info->header_lines > 0 && row->n != info->at.n)
        return fail_at(in, row->cell[0], "the two lines of a header differ");
    info->section = SECTION_DEVICE;
    info->is_header_open = 1;
    if (is_second)
        guess_layout(&info->at, row->n);
    info->header_lines += 1 + is_second;
    if (info->header_lines == 1)
        return read_device_names(in, row, info);
    if (info->header_lines == 2)
        return read_chip_names(in, row, info);
    note_unknown(&info->unknown, row->line->run);
    info->suspect = row->line->run.at;
    return CPUBIND_TEXT_OK;
}

/* == The process table ====================================================== */

/* The column of a cell in the header of processes; N_PROCESS: it is not known. */
static int32_t process_column(const scan_text *in, scan_run cell)
{
    if (is_named(in, cell, "NPU"))
        return PROCESS_IDS;
    if (is_named(in, cell, "Chip"))
        return PROCESS_CHIP;
    if (STARTS_WITH_LETTERS(in, cell, "Process id in ") || holds_letters(in, cell, "container"))
        return PROCESS_IN_CONTAINER;
    if (STARTS_WITH_LETTERS(in, cell, "Process id") || SCAN_IS(in, cell, "PID"))
        return PROCESS_PID;
    if (STARTS_WITH_LETTERS(in, cell, "Process name") || SCAN_IS(in, cell, "Name"))
        return PROCESS_NAME;
    if (holds_letters(in, cell, "memory"))
        return PROCESS_MEMORY;
    return N_PROCESS;
}

static cpubind_text_status read_process_names(const scan_text *in, const bar_row *row,
                                              info_reader *info)
{
    process_layout *columns = &info->columns;
    const scan_run *ids;

    for (int32_t i = 0; i < row->n; i++) {
        const int32_t column = process_column(in, row->cell[i]);

        if (column == N_PROCESS) {
            const cpubind_text_status status = note_column(in, row->cell[i], info);

            if (status != CPUBIND_TEXT_OK)
                return status;
            continue;
        }
        if (columns->cell[column] != NO_CELL)
            return fail_at(in, row->cell[i], "a column of processes occurs twice");
        columns->cell[column] = i;
    }
    if (columns->cell[PROCESS_IDS] == NO_CELL)
        return fail_at(in, row->cell[0], "the header of processes lacks NPU");
    ids = &row->cell[columns->cell[PROCESS_IDS]];
    if (SCAN_IS(in, *ids, "NPU ID"))
        columns->ids.n = 1;
    else
        read_id_names(in, *ids, info, &columns->ids);
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status read_process_header(const scan_text *in, const bar_row *row,
                                               info_reader *info)
{
    process_layout *columns = &info->columns;

    if (info->has_processes)
        return fail_at(in, row->cell[0], "the header of processes occurs twice");
    info->section = SECTION_PROCESS;
    info->has_processes = 1;
    columns->n = row->n;
    columns->ids = no_names;
    for (int32_t i = 0; i < N_PROCESS; i++)
        columns->cell[i] = NO_CELL;
    if (!is_translated(in, row->line->run))
        return read_process_names(in, row, info);
    columns->cell[PROCESS_IDS] = 0;
    columns->cell[PROCESS_PID] = 1;
    columns->cell[PROCESS_NAME] = 2;
    columns->cell[PROCESS_MEMORY] = 3;
    if (row->n == CONTAINER_CELLS)
        columns->cell[PROCESS_IN_CONTAINER] = 4;
    return CPUBIND_TEXT_OK;
}

/* Whether a cell hides a number: "-", "NA", "N/A", "***". */
static int is_hidden(const scan_text *in, scan_run cell)
{
    int32_t at = cell.at;

    while (at < cell.end && in->text[at] == '*')
        at++;
    return (at == cell.end && at > cell.at) || is_no_id(in, cell);
}

/*   memory = digit anything / "-" / "NA"      not used: "41,217", "40.2 GiB", "1 (64%)" */
static int is_memory(const scan_text *in, scan_run cell)
{
    return is_hidden(in, cell) || scan_starts_with_digit(in, cell);
}

/*   ids = card blanks chip / card       the card alone on a product without chip ids */
static cpubind_text_status read_process_ids(const scan_text *in, scan_run cell,
                                            const info_reader *info,
                                            cpubind_npusmi_process *process)
{
    const id_names *ids = &info->columns.ids;
    const int32_t n = count_runs(in, cell.at, cell.end, scan_word);
    scan_run chip = nth_word(in, cell, 1);
    cpubind_text_status status = read_nth_id(in, cell, 0, &process->card);

    process->chip = -1;
    if (status == CPUBIND_TEXT_OK && ids->n == 0 && n > 1) {
        chip.end = cell.end;
        return scan_whole_number(in, chip, INT32_MAX, &process->chip);
    }
    if (status == CPUBIND_TEXT_OK && ids->chip >= 0 && n > ids->chip)
        status = read_nth_id(in, cell, ids->chip, &process->chip);
    if (status == CPUBIND_TEXT_OK && ids->n > 0 && n != ids->n)
        return fail_at(in, nth_word(in, cell, n > ids->n ? ids->n : n),
                       "a process has not the ids that the header names");
    return status;
}

/* The cell of a row in a column of the header: the cells of a name with bars are one. */
static scan_run process_cell(const scan_text *in, const bar_row *row, const info_reader *info,
                             int32_t column)
{
    const int32_t i = info->columns.cell[column], name = info->columns.cell[PROCESS_NAME];
    const int32_t more = row->n - info->columns.n;
    scan_run cell = row->cell[name >= 0 && i > name ? i + more : i];

    if (i != name || more == 0)
        return cell;
    cell.end = row->cell[i + more].end;
    for (cell.at = row->cell[i].at; cell.at > 0 && in->text[cell.at - 1] != '|'; cell.at--)
        continue;
    return scan_trim(in, cell);
}

/* Reads a number that may be hidden, in a column that may be missing: -1 then. */
static cpubind_text_status read_hidden_number(const scan_text *in, const bar_row *row,
                                              const info_reader *info, int32_t column,
                                              int32_t *out)
{
    *out = -1;
    if (info->columns.cell[column] == NO_CELL)
        return CPUBIND_TEXT_OK;
    const scan_run cell = before_remark(in, process_cell(in, row, info, column));
    return is_hidden(in, cell) ? CPUBIND_TEXT_OK : scan_whole_number(in, cell, INT32_MAX, out);
}

/* Notes the remark behind a number: "4712 (host)". */
static void note_remark(const scan_text *in, const bar_row *row, info_reader *info,
                        int32_t column)
{
    if (info->columns.cell[column] == NO_CELL)
        return;
    const scan_run cell = process_cell(in, row, info, column);
    if (before_remark(in, cell).end < cell.end)
        note_unknown(&info->unknown, cell);
}

/*   process = a cell for each column of the header
 *   name    = *64byte          may be empty and may hold bars: the cells after it are found
 *                              from the right; no control character */
static cpubind_text_status read_process(const scan_text *in, const bar_row *row,
                                        info_reader *info)
{
    const process_layout *columns = &info->columns;
    cpubind_npusmi_process process;
    scan_run name = {row->line->run.end, row->line->run.end};
    cpubind_text_status status;

    if (row->n < columns->n)
        return fail_short(in, row->line, "a process has fewer cells than its table");
    status = read_process_ids(in, row->cell[columns->cell[PROCESS_IDS]], info, &process);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (row->n > columns->n && columns->cell[PROCESS_NAME] == NO_CELL)
        return fail_at(in, row->cell[columns->n], "a process has more cells than its table");
    if (columns->cell[PROCESS_CHIP] != NO_CELL)
        status = scan_whole_number(in, process_cell(in, row, info, PROCESS_CHIP), INT32_MAX,
                                   &process.chip);
    if (status == CPUBIND_TEXT_OK)
        status = read_hidden_number(in, row, info, PROCESS_PID, &process.pid);
    if (status == CPUBIND_TEXT_OK)
        status =
            read_hidden_number(in, row, info, PROCESS_IN_CONTAINER, &process.container_pid);
    if (status == CPUBIND_TEXT_OK && columns->cell[PROCESS_MEMORY] != NO_CELL) {
        const scan_run memory = process_cell(in, row, info, PROCESS_MEMORY);

        if (!is_memory(in, memory))
            return fail_at(in, memory, "a memory size is no number");
    }
    if (columns->cell[PROCESS_NAME] != NO_CELL)
        name = process_cell(in, row, info, PROCESS_NAME);
    if (status == CPUBIND_TEXT_OK)
        status = check_name(in, name);
    if (status != CPUBIND_TEXT_OK)
        return status;
    process.name = scan_slice(name);
    note_remark(in, row, info, PROCESS_PID);
    note_remark(in, row, info, PROCESS_IN_CONTAINER);
    info->n_process_row++;
    if (info->n_process < info->out.cap_process)
        info->out.process[info->n_process] = process;
    info->n_process++;
    return CPUBIND_TEXT_OK;
}

/* == Rows =================================================================== */

/* Reads a row of one cell: the title, or a message such as "No running processes found in NPU
 * 0". Only in the process table can such a row end an output; elsewhere it is the cut start of
 * a row. A message between rules, of which the first is of dashes, may be the title of another
 * table. After a count in the table of devices none may lack its first line. */
static cpubind_text_status read_message(const scan_text *in, const bar_row *row,
                                        info_reader *info)
{
    const scan_run cell = row->cell[0], first = first_word(in, cell);

    if ((scan_starts_with_digit(in, first) && !is_count(in, cell)) ||
        (info->section != SECTION_PROCESS && !row->line->ended))
        return fail_short(in, row->line, "the row ends before its last cell");
    info->n_process_row += info->section == SECTION_PROCESS;
    if (SCAN_IS(in, first, "npu-smi")) {
        if (info->version.len == 0)
            info->version = scan_slice(scan_word(in, first.end, cell.end));
    } else if (!STARTS_WITH_LETTERS(in, cell, "No running process") &&
               !is_translated(in, cell) && !scan_is_empty(cell)) {
        if (info->last == LAST_DASHES && scan_is_letter(in->text[cell.at]) &&
            (info->n_device > 0 || info->has_processes))
            info->is_titles = 2;
        if (scan_starts_with_digit(in, first))
            info->suspect = row->line->run.at;
        note_unknown(&info->unknown, cell);
    }
    return CPUBIND_TEXT_OK;
}

/* Whether a row may be the header of another table: two cells or more, and each starts with a
 * letter or is empty. */
static int is_titles(const scan_text *in, const bar_row *row)
{
    int32_t n = 0;

    for (int32_t i = 0; i < row->n; i++) {
        if (scan_is_empty(row->cell[i]))
            continue;
        if (!scan_is_letter(in->text[row->cell[i].at]))
            return 0;
        n++;
    }
    return n > 1;
}

/* Whether a row is a line of the header of devices. Its words may be translated: then the
 * number of cells tells. After the devices, titles without NPU are those of another table. */
static int is_device_header(const scan_text *in, const bar_row *row, const info_reader *info)
{
    const int32_t npu = find_cell(in, row, "NPU");

    if (info->is_header_open && info->header_lines < 2)
        return 1;
    if (info->is_header_open && is_titles(in, row) && find_cell(in, row, "OK") < 0 &&
        (scan_is_empty(row->cell[0]) || is_other_kind(in, row->cell[0])))
        return 1;
    if (is_translated(in, row->line->run))
        return row->n == NARROW_CELLS ||
               (row->n == WIDE_CELLS && SCAN_IS(in, row->cell[1], "Name"));
    if (npu == NO_CELL && (info->n_device > 0 || info->has_processes) && is_titles(in, row) &&
        !is_named(in, row->cell[0], "Chip"))
        return 0;
    return find_cell(in, row, "Health") >= 0 || find_cell(in, row, "Bus-Id") >= 0 ||
           (npu >= 0 && (SCAN_IS(in, nth_word(in, row->cell[npu], 1), "Name") ||
                         find_cell(in, row, "Name") == npu + 1)) ||
           (info->section == SECTION_NONE && row->n == NARROW_CELLS &&
            is_named(in, row->cell[0], "Chip"));
}

/* Whether a row is the header of processes: a cell says so, or it has three of its columns. */
static int is_process_header(const scan_text *in, const bar_row *row)
{
    int32_t n = 0;

    if (is_translated(in, row->line->run))
        return row->n == PROCESS_CELLS || row->n == CONTAINER_CELLS;
    for (int32_t i = 0; i < row->n; i++)
        n += process_column(in, row->cell[i]) != N_PROCESS;
    return n > 2 || find_cell(in, row, "Process") >= 0 || find_cell(in, row, "PID") >= 0;
}

/* Passes over a row: of another kind than devices and processes, or a further line of a device.
 * A row with a damaged number at its start is none. */
static cpubind_text_status pass_row(const scan_text *in, const bar_row *row, scan_run key,
                                    info_reader *info)
{
    if ((!scan_is_empty(key) && !is_other_kind(in, key) && !is_count(in, key)) ||
        is_translated(in, row->line->run))
        return fail_at(in, key, "a row is of no known kind");
    for (int32_t i = 0; info->section == SECTION_PROCESS && scan_is_empty(key) && i < row->n;
         i++)
        if (i != info->columns.cell[PROCESS_NAME] && !scan_is_empty(row->cell[i]))
            return fail_at(in, key, "a process has no NPU");
    info->is_titles = (info->is_titles || info->last == LAST_DASHES ||
                       (info->last == LAST_EQUALS && info->section == SECTION_PROCESS)) &&
                      is_titles(in, row);
    info->suspect = row->line->run.at;
    info->n_process_row += info->section == SECTION_PROCESS;
    if (is_named(in, row->cell[0], "npu-smi") && info->version.len == 0)
        info->version = scan_slice(nth_word(in, row->cell[0], 1));
    note_unknown(&info->unknown, row->line->run);
    return CPUBIND_TEXT_OK;
}

/* Passes over a row of another table. It must be neither a device nor a process: the titles of
 * the table may be text that came between their rows. */
static cpubind_text_status pass_other(const scan_text *in, const bar_row *row,
                                      const info_reader *info)
{
    const scan_text quiet = {in->text, in->len, NULL};
    const device_layout *at = &info->at;
    const process_layout *columns = &info->columns;
    cpubind_npusmi_process process;
    int32_t pid = 0;

    if (!info->has_processes && at->n > 0 && row->n == at->n &&
        (is_lone_end(in, row, info) ||
         (at->health >= 0 && SCAN_IS(in, row->cell[at->health], "OK"))))
        return fail_at(in, row->cell[0], "a device comes after the end of its table");
    if (info->has_processes && row->n >= columns->n &&
        read_process_ids(&quiet, row->cell[columns->cell[PROCESS_IDS]], info, &process) ==
            CPUBIND_TEXT_OK &&
        read_hidden_number(&quiet, row, info, PROCESS_PID, &pid) == CPUBIND_TEXT_OK)
        return fail_at(in, row->cell[0], "a process comes after the end of its table");
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status read_row(const scan_text *in, const bar_row *row, info_reader *info)
{
    const int32_t column = info->section == SECTION_PROCESS  ? info->columns.cell[PROCESS_IDS]
                           : info->section == SECTION_DEVICE ? info->at.card
                                                             : 0;
    const scan_run key = row->cell[column < row->n ? column : 0];

    if (info->is_half)
        return read_device(in, row, info);
    if (row->n == 1)
        return read_message(in, row, info);
    if (info->lines_left > 0 && info->section == SECTION_DEVICE) {
        info->lines_left--;
        info->suspect = row->line->run.at;
        return CPUBIND_TEXT_OK;
    }
    if (info->section == SECTION_PROCESS && is_count(in, key))
        return pass_row(in, row, key, info);
    if (scan_starts_with_digit(in, key) && info->section != SECTION_OTHER)
        return info->section == SECTION_PROCESS ? read_process(in, row, info)
                                                : read_device(in, row, info);
    if (is_process_header(in, row))
        return read_process_header(in, row, info);
    if (is_device_header(in, row, info))
        return read_device_header(in, row, info);
    if (info->section == SECTION_OTHER)
        return pass_other(in, row, info);
    if (info->section == SECTION_DEVICE && is_lone_end(in, row, info))
        return read_device(in, row, info);
    return pass_row(in, row, key, info);
}

/*   rule   = "+" ( "-" / "=" ) anything "+" */
static int is_rule(const scan_text *in, scan_run run)
{
    const char *text = in->text + run.at;
    const int32_t len = run.end - run.at;

    return len > 2 && text[0] == '+' && (text[1] == '-' || text[1] == '=') &&
           text[len - 1] == '+';
}

/* Reads a line that does not start with a bar. On products with the logic id in the second line
 * (310), a rule may follow the first line: npu-smi prints no second line of a chip whose logic
 * id it cannot read, and the chip is not known then. */
static cpubind_text_status read_other(const scan_text *in, const scan_line *line,
                                      info_reader *info)
{
    const char *text = in->text + line->run.at;
    const int rule = is_rule(in, line->run);

    if (info->is_half && !(rule && info->at.ids.logic >= 0))
        return fail_at(in, line->run, "a device ends before its second line");
    if (in->text[line->run.end - 1] == '|')
        return fail_at(in, line->run, "a row does not start with a bar");
    if (!rule && text[0] == '+' && !line->ended)
        return fail_short(in, line, "the text ends inside a rule");
    if (!rule && text[0] != '+' && !is_known_message(in, line->run))
        note_unknown(&info->unknown, line->run);
    if (rule && info->is_titles && (text[1] == '=' || info->is_titles == 2))
        info->section = SECTION_OTHER;
    info->is_half = info->is_titles = info->lines_left = info->is_header_open = 0;
    info->suspect = -1;
    info->has_rules |= rule && info->section == SECTION_PROCESS;
    info->last = !rule ? LAST_OTHER : text[1] == '-' ? LAST_DASHES : LAST_EQUALS;
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status read_line(const scan_text *in, const scan_line *line,
                                     info_reader *info)
{
    bar_row row = {NULL, 0, {{0, 0}}};
    cpubind_text_status status;
    int32_t suspect = info->suspect;

    if (scan_is_empty(line->run))
        return CPUBIND_TEXT_OK;
    if (in->text[line->run.at] != '|')
        return read_other(in, line, info);
    status = split_row(in, line, &row);
    if (status == CPUBIND_TEXT_OK)
        status = read_row(in, &row, info);
    if (info->suspect == suspect)
        info->suspect = -1;
    info->last = LAST_ROW;
    return status;
}

/* Whether the reading may go on after a fault: in the process table, behind the devices. */
static int can_end(const info_reader *info)
{
    return info->devices_only && info->has_processes && info->n_device > 0 && !info->is_half;
}

/* Passes over a line of a process table that could not be read. It must be no device: then the
 * header of processes came between devices. */
static cpubind_text_status read_past(const scan_text *in, const scan_line *line,
                                     const info_reader *info)
{
    const scan_text quiet = {in->text, in->len, NULL};
    const device_layout *at = &info->at;
    bar_row row = {NULL, 0, {{0, 0}}};

    if (scan_is_empty(line->run) || in->text[line->run.at] != '|' ||
        split_row(&quiet, line, &row) != CPUBIND_TEXT_OK || row.n != at->n)
        return CPUBIND_TEXT_OK;
    if (is_lone_end(in, &row, info) ||
        (at->health >= 0 && is_known_health(in, row.cell[at->health])))
        return fail_at(in, row.cell[0], "a device comes after the end of its table");
    return CPUBIND_TEXT_OK;
}

/* Fails an output that ends where no whole output does. */
static cpubind_text_status check_info_end(const scan_text *in, const info_reader *info)
{
    if (info->is_half)
        return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len,
                         "a device ends before its second line");
    if (info->n_device == 0 && !info->has_processes)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len,
                         "there is no table of devices or processes");
    if (info->section == SECTION_OTHER)
        return CPUBIND_TEXT_OK;
    if (!info->has_processes && info->last == LAST_DASHES)
        return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len,
                         "nothing follows the rule between two parts");
    if (info->devices_only && info->has_processes && info->n_device > 0)
        return CPUBIND_TEXT_OK;
    if (info->has_processes && info->n_process_row == 0 && !info->has_rules)
        return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len,
                         "the text ends after the header of processes");
    if (info->has_rules && info->last == LAST_ROW)
        return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len,
                         "the rule after the last process is missing");
    return CPUBIND_TEXT_OK;
}

/*   info    = *( row / rule / line )  devices first, then processes; each table may be missing
 *   row     = "|" 1*( cell "|" )
 *             title / message / header / device1 / device2 / process / other
 *   title   = "npu-smi" version anything               one cell
 *   message = starts with no digit, or counts something: "8 processes"       one cell
 *   header  = of devices: a row with "Health", "NPU Name", or "NPU" and "Name"; and the rows up
 *             to a rule or a device: "Chip", "Bus-Id"
 *           / of processes: a row with a cell "Process ..." or "PID"
 *           / of another table: a row of 2 cells or more that start with a letter or are empty,
 *             between a rule of "-" (in the process table "=", too) and one of "="; behind a
 *             device also a message between a rule of "-" and another. Rows up to the next
 *             header are passed over
 *   rest    = a row with words in the cell of the name alone, between the lines of a device
 *   device1, device2  the cells below the first and the second line of the header; as many
 *             lines more as the header has are passed over
 *   process = the cells below the header of processes
 *   other   = a row that starts with a word of two letters or more, or with an empty cell; none
 *             before the second line of a device that lacks its first; in the process table
 *             also one that starts with a count: "8 processes"
 *   rule    = "+" ( "-" / "=" ) anything "+"
 *   line    = another line without a bar at its start: "...", warnings; none between the two
 *             lines of a device
 * Devices without a header are read without their second id, whose meaning is not known. In a
 * header in another language the number and the order of cells tell: those of npu-smi 21 to 26.
 * A header of devices that names NPU is refused after a row. A remark in parentheses behind an
 * address or a pid is passed over. A chip that npu-smi could not query has one of its two lines
 * only: it is left out.
 *
 * WHERE A TEXT WAS CUT
 * Samples may lack rules, and may begin and end at any row. A text was cut when it ends
 *   - inside a row or a rule, or between the two lines of a device;
 *   - after a rule of dashes that no table follows;
 *   - after the header of processes without a rule (with a rule the table is empty);
 *   - after a row of a process table that has rules.
 * A cut cannot be told from a whole text after the last line of a device or the rule below it,
 * after the rule below the processes of a card, and, without rules, after a process. */
static cpubind_text_status read_info(const scan_text *in, info_reader *info,
                                     const cpubind_npusmi_info *out, int32_t devices_only)
{
    scan_line line = {{0, 0}, 0, 0};

    memset(info, 0, offsetof(info_reader, keys));
    info->out = *out;
    if (devices_only)
        info->out.cap_process = 0;
    info->devices_only = devices_only;
    info->suspect = -1;
    info->at.ids = no_names;
    info->keys.n = 0;
    while (scan_next_line(in, &line)) {
        const cpubind_text_status status =
            info->is_past ? read_past(in, &line, info) : read_line(in, &line, info);

        if (status == CPUBIND_TEXT_OK)
            continue;
        if (!can_end(info) || read_past(in, &line, info) != CPUBIND_TEXT_OK)
            return status;
        info->is_past = 1;
    }
    return info->is_past ? CPUBIND_TEXT_OK : check_info_end(in, info);
}

static cpubind_text_status parse_tables(const scan_text *in, cpubind_npusmi_info *info,
                                        int32_t devices_only)
{
    cpubind_npusmi_device device[HELD];
    cpubind_npusmi_process process[HELD];
    const cpubind_npusmi_info held = {
        .device = device, .cap_device = HELD, .process = process, .cap_process = HELD};
    info_reader reader;
    cpubind_text_status status;

    if (!scan_is_text(in->text, in->len) || !info ||
        !scan_is_array(info->device, info->cap_device) ||
        (!devices_only && !scan_is_array(info->process, info->cap_process)))
        return scan_fail_arg(in->fault);
    status = read_info(in, &reader, &held, devices_only);
    if (status != CPUBIND_TEXT_OK)
        return cpubind_priv_npusmi_refused_or(in, status);
    info->n_device = reader.n_device;
    info->n_process = devices_only ? 0 : reader.n_process;
    if (reader.n_device > info->cap_device || info->n_process > info->cap_process)
        return scan_fail_space(in);
    info->has_process_table = devices_only ? 0 : reader.has_processes;
    info->version = reader.version;
    info->unknown = reader.unknown;
    if (info->n_device > HELD || info->n_process > HELD)
        return read_info(in, &reader, info, devices_only);
    for (int32_t i = 0; i < info->n_device; i++)
        info->device[i] = device[i];
    for (int32_t i = 0; i < info->n_process; i++)
        info->process[i] = process[i];
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_npusmi_parse_info(const char *text, int32_t len,
                                              cpubind_npusmi_info *info,
                                              cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};

    return parse_tables(&in, info, 0);
}

cpubind_text_status cpubind_npusmi_parse_devices(const char *text, int32_t len,
                                                 cpubind_npusmi_info *info,
                                                 cpubind_text_fault *fault)
{
    cpubind_text_fault own; /* that of the process table is none */
    const scan_text in = {text, len, &own};
    const cpubind_text_status status = parse_tables(&in, info, 1);

    if (status != CPUBIND_TEXT_OK && fault)
        *fault = own;
    return status;
}
