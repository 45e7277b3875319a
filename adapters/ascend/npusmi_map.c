/* npusmi_map.c - `npu-smi info -m`: card, chip, logic id, phy id, chip name
 * SPDX-License-Identifier: MIT
 *
 * Pure. Columns are found by their names; other columns, rows and sections are passed over. The
 * reader must not guess an id that is not printed, nor the column of a cell. The grammar is
 * above the function that reads the lines.
 */
#include "npusmi_scan.h"

enum {
    COLUMN_CARD,
    COLUMN_SLOT,
    COLUMN_CHIP,
    COLUMN_LOGIC,
    COLUMN_PHY,
    COLUMN_NAME,
    N_COLUMN,
    COLUMN_OTHER = N_COLUMN, /* a name that is not known */
    MAX_CELLS = 32,          /* cells of a line that are held */
    HELD = 32                /* chips that are held: more are read a second time */
};

/* Letters of either case; a blank or a hyphen may be another one, or missing. */
static const struct column_name {
    const char *name;
    int32_t column;
} column_names[] = {
    {"NPU ID", COLUMN_CARD},
    {"Slot ID", COLUMN_SLOT},
    {"Chip ID", COLUMN_CHIP},
    {"Chip Logic ID", COLUMN_LOGIC},
    {"Chip Logical ID", COLUMN_LOGIC},
    {"Logic ID", COLUMN_LOGIC},
    {"Logical ID", COLUMN_LOGIC},
    {"Chip Phy ID", COLUMN_PHY},
    {"Phy ID", COLUMN_PHY},
    {"Chip Physical ID", COLUMN_PHY},
    {"Physical ID", COLUMN_PHY},
    {"Chip Name", COLUMN_NAME},
};

/* The cells of a line: two blanks or a TAB apart. */
typedef struct map_cells {
    int32_t n; /* there may be more than are held */
    scan_run cell[MAX_CELLS];
} map_cells;

typedef struct map_header {
    int32_t n; /* 0 until the header was read */
    int32_t column[MAX_CELLS];
    scan_run name[MAX_CELLS];
    int32_t place[MAX_CELLS]; /* of its name in the line, see place_of */
    uint32_t has;             /* known columns: 1 << COLUMN_... */
    scan_run other;           /* the first name that is not known; empty: there is none */
    int32_t is_narrow;        /* 1: two names are only one blank apart */
} map_header;

/* The lines since the last header. */
typedef enum map_section {
    MAP_TABLE,   /* rows of the table, or the lines before its header */
    MAP_TITLES,  /* another table, all of whose columns are unknown */
    MAP_ANOTHER, /* another table, with a known column */
} map_section;

/* The state of one reading. Two lists of keys take 64 KiB of stack. */
typedef struct map_reader {
    cpubind_npusmi_chip *out; /* array for the first chips */
    int32_t cap;              /* its length */
    int32_t n;
    int32_t start; /* of the line */
    map_header header;
    map_section section;
    int32_t has_another;  /* 1: there is another table */
    int32_t is_after_row; /* 1: the line before is a row or a header of the table */
    int32_t n_placed;     /* rows whose cells are below the names of their columns */
    int32_t n_wide;       /* rows with cells that are two blanks apart */
    scan_line nearest;    /* a header that lacks a column */
    scan_run name;        /* of the first chip that has one */
    cpubind_piece unknown;
    logic_ids logic;
    device_keys keys; /* the last one: see read_map */
} map_reader;

static void split_cells(const scan_text *in, scan_run run, map_cells *cells)
{
    scan_run cell = scan_cell(in, run.at, run.end);

    for (cells->n = 0; !scan_is_empty(cell); cell = scan_cell(in, cell.end, run.end)) {
        if (cells->n < MAX_CELLS)
            cells->cell[cells->n] = cell;
        cells->n++;
    }
}

/* The bytes before a cell in its line, without the TAB with which npu-smi starts a line and
 * which some captures lack. */
static int32_t place_of(const scan_text *in, const map_reader *map, scan_run cell)
{
    return cell.at - map->start - (in->text[map->start] == '\t');
}

/* == The header ============================================================= */

/* The column whose name starts at `at`, and where its name ends. */
static int32_t read_column(const scan_text *in, int32_t at, int32_t end, int32_t *stop)
{
    const scan_run rest = {at, end};

    for (size_t i = 0; i < sizeof column_names / sizeof column_names[0]; i++) {
        if (starts_with_name(in, rest, column_names[i].name, stop) &&
            (*stop == end || scan_is_blank(in->text[*stop])))
            return column_names[i].column;
    }
    return COLUMN_OTHER;
}

static void add_column(const scan_text *in, const map_reader *map, map_header *header,
                       int32_t column, scan_run name)
{
    if (header->n < MAX_CELLS) {
        header->column[header->n] = column;
        header->name[header->n] = name;
        header->place[header->n] = place_of(in, map, name);
    }
    header->n++;
}

/* A cell of a header is one name, known or not, or known names that are one blank apart. */
static void read_header_cell(const scan_text *in, const map_reader *map, scan_run cell,
                             map_header *header)
{
    const int32_t n = header->n;
    int32_t at = cell.at;
    int32_t stop = at;

    while (at < cell.end) {
        const int32_t column = read_column(in, at, cell.end, &stop);
        const scan_run name = {at, stop};

        if (column == COLUMN_OTHER) {
            header->n = n;
            add_column(in, map, header, COLUMN_OTHER, cell);
            return;
        }
        add_column(in, map, header, column, name);
        at = scan_skip_blanks(in, stop, cell.end);
    }
    header->is_narrow |= header->n > n + 1;
}

/* Whether a byte may start the name of a column: a letter, of any language. */
static int starts_name(char c)
{
    return scan_is_letter(c) || (unsigned char)c >= 0x80;
}

typedef enum header_kind {
    HEADER_NONE,
    HEADER_OF_TITLES,
    HEADER_OF_ANOTHER,
    HEADER_OF_MAP
} header_kind;

/* Tells a header from other lines: the header of the table of chips has all needed columns. */
static header_kind read_names(const scan_text *in, const map_reader *map, scan_run run,
                              map_header *header)
{
    const uint32_t ids = 1u << COLUMN_CARD | 1u << COLUMN_CHIP;
    map_cells cells;

    memset(header, 0, sizeof *header);
    if (!starts_name(in->text[run.at]))
        return HEADER_NONE;
    split_cells(in, run, &cells);
    for (int32_t i = 0; i < cells.n && i < MAX_CELLS; i++) {
        if (!starts_name(in->text[cells.cell[i].at]))
            return HEADER_NONE;
        read_header_cell(in, map, cells.cell[i], header);
    }
    if (header->n < 2 || header->n > MAX_CELLS || cells.n > MAX_CELLS)
        return HEADER_NONE;
    for (int32_t i = 0; i < header->n; i++) {
        if (header->column[i] != COLUMN_OTHER)
            header->has |= 1u << header->column[i];
        else if (scan_is_empty(header->other))
            header->other = header->name[i];
    }
    if (header->has == 0)
        return HEADER_OF_TITLES;
    if ((header->has & ids) == ids && (header->has & (1u << COLUMN_LOGIC | 1u << COLUMN_SLOT)))
        return HEADER_OF_MAP;
    return HEADER_OF_ANOTHER;
}

/* Fails a header that has a column twice, or that has a column under a name so near to the name
 * of an id that the table lacks that it may be this id. */
static cpubind_text_status check_columns(const scan_text *in, const map_header *header)
{
    uint32_t seen = 0;

    for (int32_t i = 0; i < header->n; i++) {
        const int32_t column = header->column[i];

        if (column == COLUMN_OTHER) {
            if ((!(header->has & 1u << COLUMN_LOGIC) &&
                 holds_letters(in, header->name[i], "logic")) ||
                (!(header->has & 1u << COLUMN_PHY) &&
                 holds_letters(in, header->name[i], "phy")))
                return fail_at(in, header->name[i],
                               "a column may be that of an id under another name");
            continue;
        }
        if (seen & 1u << column)
            return fail_at(in, header->name[i], "a column occurs twice");
        seen |= 1u << column;
    }
    return CPUBIND_TEXT_OK;
}

/* == Cells and columns ====================================================== */

static int has_blank(const scan_text *in, scan_run cell)
{
    return scan_word(in, cell.at, cell.end).end != cell.end;
}

static int is_id(int32_t column)
{
    return column < COLUMN_NAME;
}

/* Every cell starts where the name of a column starts; other columns are empty. With more cells
 * than columns those after the first one of the name are of the name: it has wide gaps. */
static int fit_by_place(const scan_text *in, const map_reader *map, const map_cells *cells,
                        scan_run *fit)
{
    const map_header *header = &map->header;
    const int is_gappy = cells->n > header->n;
    int32_t k = 0;

    if (header->is_narrow || cells->n < 2 || cells->n > MAX_CELLS)
        return 0;
    for (int32_t i = 0; i < header->n; i++) {
        const scan_run none = {0, 0};

        fit[i] = none;
        if (k == cells->n || place_of(in, map, cells->cell[k]) != header->place[i])
            continue;
        fit[i] = cells->cell[k++];
        while (is_gappy && header->column[i] == COLUMN_NAME && k < cells->n &&
               (i + 1 == header->n || place_of(in, map, cells->cell[k]) < header->place[i + 1]))
            fit[i].end = cells->cell[k++].end;
        if (is_id(header->column[i]) && has_blank(in, fit[i]))
            return 0;
    }
    return k == cells->n;
}

/* As many cells as columns. No cell starts below the name of another column than its own if the
 * cells of a row before start below their names. */
static int fit_by_count(const scan_text *in, const map_reader *map, const map_cells *cells,
                        scan_run *fit)
{
    const map_header *header = &map->header;

    if (cells->n != header->n)
        return 0;
    for (int32_t i = 0; i < header->n; i++) {
        fit[i] = cells->cell[i];
        for (int32_t k = 0; map->n_placed > 0 && k < header->n; k++)
            if (k != i && place_of(in, map, fit[i]) == header->place[k])
                return 0;
    }
    return 1;
}

/* One word for each column but the name, which may have several words or none. */
static int fit_by_words(const scan_text *in, const map_reader *map, scan_run run, scan_run *fit)
{
    const map_header *header = &map->header;
    int32_t name = header->n, after = 0;

    if (!scan_is_empty(header->other))
        return 0;
    for (int32_t i = 0; i < header->n; i++)
        if (header->column[i] == COLUMN_NAME)
            name = i;
    for (int32_t i = 0; i < name; i++) {
        fit[i] = scan_word(in, run.at, run.end);
        if (scan_is_empty(fit[i]))
            return 0;
        run.at = fit[i].end;
    }
    run = scan_trim(in, run);
    for (int32_t i = header->n - 1; i > name; i--, after++) {
        scan_run word = {run.end, run.end};

        while (word.at > run.at && !scan_is_blank(in->text[word.at - 1]))
            word.at--;
        if (scan_is_empty(word))
            return 0;
        fit[i] = word;
        run.end = word.at;
        run = scan_trim(in, run);
    }
    if (name == header->n)
        return scan_is_empty(run);
    fit[name] = run;
    return 1;
}

/* Matches the cells of a row to the columns; returns 0 when they do not fit. */
static int fit_row(const scan_text *in, const scan_line *line, map_reader *map, scan_run *fit)
{
    map_cells cells;

    split_cells(in, line->run, &cells);
    if (fit_by_place(in, map, &cells, fit)) {
        map->n_placed++;
        map->n_wide++;
        return 1;
    }
    if (fit_by_count(in, map, &cells, fit)) {
        map->n_wide += cells.n > 1;
        return 1;
    }
    return (cells.n > 1 || map->n_wide == 0) && fit_by_words(in, map, line->run, fit);
}

/* Whether a line that does not fit is a row all the same: it has two numbers, or starts with
 * one. Words that are one blank apart are no row of a table with wider gaps. */
static int is_like_row(const scan_text *in, const scan_line *line, const map_reader *map)
{
    const scan_run run = line->run;
    scan_run word = scan_word(in, run.at, run.end);
    map_cells cells;
    int32_t n_number = is_all_digits(in, word);

    split_cells(in, run, &cells);
    if (cells.n == 1 && map->n_wide > 0 && word.end != run.end)
        return 0;
    if (scan_starts_with_digit(in, word))
        return 1;
    word = scan_word(in, word.end, run.end);
    if (is_all_digits(in, word))
        return 1;
    for (; !scan_is_empty(word); word = scan_word(in, word.end, run.end))
        n_number += is_all_digits(in, word);
    return n_number > 1;
}

/* == Rows =================================================================== */

/* Reads an id of a row; -1 when the cell says "none" and may say so. npu-smi prints -1 for a
 * slot that it does not know. */
static cpubind_text_status read_map_id(const scan_text *in, int32_t column, scan_run word,
                                       int32_t *id)
{
    *id = -1;
    if (column != COLUMN_CARD && column != COLUMN_CHIP && is_no_id(in, word))
        return CPUBIND_TEXT_OK;
    if (column == COLUMN_SLOT && (scan_is_empty(word) || SCAN_IS(in, word, "-1")))
        return CPUBIND_TEXT_OK;
    return scan_whole_number(in, word, INT32_MAX, id);
}

/* Whether a word may be an id of a row. */
static int is_like_id(const scan_text *in, scan_run word)
{
    return is_all_digits(in, word) || is_no_id(in, word);
}

/* Whether a name is no two rows without the line feed between them. A row has three ids or
 * more, and pads its name: no two words of a name, one after the other, may be ids, and none
 * after a gap of three blanks. */
static int is_one_name(const scan_text *in, scan_run name)
{
    int32_t last = name.end;
    int was_id = 0;

    for (scan_run word = scan_word(in, name.at, name.end); !scan_is_empty(word);
         word = scan_word(in, word.end, name.end)) {
        const int is_now = is_like_id(in, word);

        if (is_now && (was_id || word.at > last + 2))
            return 0;
        was_id = is_now;
        last = word.end;
    }
    return 1;
}

/* The words with which npu-smi names a controller of the board; it may be a number, too. */
static const struct {
    const char *name;
    int32_t len;
} controllers[] = {{"Mcu", 3}, {"3559", 4}};

static int is_controller_name(const scan_text *in, scan_run name)
{
    for (size_t i = 0; i < sizeof controllers / sizeof controllers[0]; i++)
        if (starts_with_letters(in, name, controllers[i].name, controllers[i].len))
            return 1;
    return is_all_digits(in, name);
}

/* Whether a row is a board controller: npu-smi prints no logic id for it, or no phy id where
 * the product has no logic ids. In a table without names a column that is not known may tell;
 * when all are known, a controller is not told from a chip whose id npu-smi could not read. */
static int is_controller(const scan_text *in, const map_header *header, const scan_run *fit,
                         const scan_run *cell, const int32_t *id)
{
    const int32_t column = header->has & 1u << COLUMN_LOGIC ? COLUMN_LOGIC : COLUMN_PHY;

    if (!(header->has & 1u << column) || id[column] >= 0)
        return 0;
    if (SCAN_IS(in, cell[column], "MCU"))
        return 1;
    if (header->has & 1u << COLUMN_NAME)
        return is_controller_name(in, cell[COLUMN_NAME]);
    for (int32_t i = 0; i < header->n; i++)
        if (header->column[i] == COLUMN_OTHER && is_controller_name(in, fit[i]))
            return 1;
    return scan_is_empty(header->other);
}

/* Whether a name may be the start of the name of a controller. */
static int is_part_of_controller(const scan_text *in, scan_run name)
{
    const int32_t len = name.end - name.at;

    for (size_t i = 0; i < sizeof controllers / sizeof controllers[0]; i++)
        if (len < controllers[i].len && starts_with_letters(in, name, controllers[i].name, len))
            return 1;
    return 0;
}

/* Fails a row at the end of a text that may have been cut inside of it: its last cell is
 * missing or is an id, or its name is the start of the name of another chip or of a controller:
 * all chips of a host have the same name. */
static cpubind_text_status check_map_end(const scan_text *in, const scan_line *line,
                                         const map_reader *map, const scan_run *fit,
                                         const cpubind_npusmi_chip *chip)
{
    const int32_t last = map->header.n - 1;
    const scan_run name = fit[last];
    const int32_t len = name.end - name.at;

    if (line->ended)
        return CPUBIND_TEXT_OK;
    if (scan_is_empty(name))
        return fail_short(in, line, "the row ends before its last cell");
    if (is_id(map->header.column[last]) && line->run.end == in->len)
        return fail_short(in, line, "the text ends with an id that may go on");
    if (map->header.column[last] != COLUMN_NAME)
        return CPUBIND_TEXT_OK;
    if ((map->name.end - map->name.at > len &&
         scan_starts(in, map->name, in->text + name.at, len)) ||
        (chip->logic < 0 && is_part_of_controller(in, name)))
        return fail_short(in, line, "the row ends inside its chip name");
    return CPUBIND_TEXT_OK;
}

/* Without logic ids the NPU ID is the logic id: so it is on a 950. A column that is not known
 * may be the logic id of another product under another name. */
static cpubind_text_status check_product(const scan_text *in, const map_reader *map,
                                         scan_run name)
{
    if (map->header.has & 1u << COLUMN_LOGIC || scan_is_empty(map->header.other) ||
        holds_letters(in, name, "950"))
        return CPUBIND_TEXT_OK;
    return fail_at(in, map->header.other,
                   "the table has no logic ids, unless they are in a column of another name");
}

static cpubind_text_status note_chip(const scan_text *in, const scan_line *line,
                                     map_reader *map, const cpubind_npusmi_chip *chip)
{
    cpubind_text_status status =
        note_device(in, &map->keys, line->run.at, chip->card, chip->chip);

    if (status == CPUBIND_TEXT_OK &&
        (chip->name.len > 0 || !(map->header.has & 1u << COLUMN_NAME)))
        status = note_logic(in, &map->logic, line->run.at, chip->logic);
    if (map->n < map->cap)
        map->out[map->n] = *chip;
    map->n++;
    return status;
}

/* Reads the cells of a row that fit[] matches to the columns. */
static cpubind_text_status read_map_cells(const scan_text *in, const scan_line *line,
                                          map_reader *map, const scan_run *fit)
{
    int32_t id[N_COLUMN] = {-1, -1, -1, -1, -1, -1};
    scan_run cell[N_COLUMN] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}};
    scan_run name = {line->run.end, line->run.end};
    cpubind_npusmi_chip chip;
    cpubind_text_status status = CPUBIND_TEXT_OK;

    for (int32_t i = 0; i < map->header.n; i++) {
        const int32_t column = map->header.column[i];

        if (column == COLUMN_OTHER)
            continue;
        cell[column] = fit[i];
        if (column == COLUMN_NAME || status != CPUBIND_TEXT_OK)
            continue;
        if (scan_is_empty(fit[i]) && column != COLUMN_SLOT)
            return fail_short(in, line, "the row lacks an id");
        status = read_map_id(in, column, fit[i], &id[column]);
    }
    if (!scan_is_empty(cell[COLUMN_NAME]))
        name = cell[COLUMN_NAME];
    if (status == CPUBIND_TEXT_OK)
        status = check_name(in, name);
    if (status == CPUBIND_TEXT_OK && !is_one_name(in, name))
        status = fail_at(in, name, "a name is two rows in one");
    if (status != CPUBIND_TEXT_OK || is_controller(in, &map->header, fit, cell, id))
        return status;
    chip.card = id[COLUMN_CARD];
    chip.chip = id[COLUMN_CHIP];
    chip.logic = id[COLUMN_LOGIC];
    chip.phy = id[COLUMN_PHY];
    chip.name = scan_slice(name);
    if (scan_cell(in, name.at, name.end).end < name.end)
        note_unknown(&map->unknown, name);
    status = check_map_end(in, line, map, fit, &chip);
    if (status == CPUBIND_TEXT_OK)
        status = check_product(in, map, name);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (scan_is_empty(map->name))
        map->name = name;
    return note_chip(in, line, map, &chip);
}

/* Reads a line of the table: a row, or a line that is passed over. */
static cpubind_text_status read_map_row(const scan_text *in, const scan_line *line,
                                        map_reader *map)
{
    scan_run fit[MAX_CELLS];
    const int fits = fit_row(in, line, map, fit);

    if (!fits && is_like_row(in, line, map))
        return fail_short(in, line, "the cells of the row do not fit the columns");
    for (int32_t i = 0; fits && i < map->header.n; i++)
        if (map->header.column[i] == COLUMN_CARD && !is_other_kind(in, fit[i])) {
            map->is_after_row = 1;
            return read_map_cells(in, line, map, fit);
        }
    if (!is_known_message(in, line->run))
        note_unknown(&map->unknown, line->run);
    return CPUBIND_TEXT_OK;
}

/* Whether a line that is no row by its place fits the columns, and has its ids. A row of
 * another table that is known to be one may fit; it does not have the name of the chips. */
static int is_row_elsewhere(const scan_text *in, const scan_line *line, map_reader *map)
{
    const int32_t len = map->name.end - map->name.at;
    scan_run fit[MAX_CELLS];
    int32_t id = 0;
    const scan_text quiet = {in->text, in->len, NULL};

    if (map->header.n == 0 || !fit_row(in, line, map, fit))
        return 0;
    for (int32_t i = 0; i < map->header.n; i++)
        if (is_id(map->header.column[i]) &&
            read_map_id(&quiet, map->header.column[i], fit[i], &id) != CPUBIND_TEXT_OK)
            return 0;
    for (int32_t i = 0; map->section == MAP_ANOTHER && i < map->header.n; i++)
        if (map->header.column[i] == COLUMN_NAME)
            return len > 0 && scan_is(in, fit[i], in->text + map->name.at, len);
    return map->section != MAP_ANOTHER;
}

/* Fails when a row of the table comes before its header, where all lines are passed over. */
static cpubind_text_status check_lines_before(const scan_text *in, map_reader *map, int32_t end)
{
    scan_line line = {{0, 0}, 0, 0};

    for (map->start = 0; scan_next_line(in, &line) && line.next <= end; map->start = line.next)
        if (!scan_is_empty(line.run) && is_row_elsewhere(in, &line, map))
            return fail_at(in, line.run, "a row comes before the header");
    map->start = end;
    map->n_placed = map->n_wide = 0;
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status take_map_header(const scan_text *in, const scan_line *line,
                                           map_reader *map, const map_header *header)
{
    cpubind_text_status status;

    if (map->header.n > 0)
        return fail_at(in, line->run, "the header occurs twice");
    status = check_columns(in, header);
    if (status != CPUBIND_TEXT_OK)
        return status;
    map->header = *header;
    map->section = MAP_TABLE;
    map->is_after_row = 1;
    note_unknown(&map->unknown, header->other);
    return check_lines_before(in, map, map->start);
}

/* Whether a line is drawn: "------  -------". */
static int is_drawn(const scan_text *in, scan_run run)
{
    if (run.end - run.at < 4)
        return 0;
    for (; run.at < run.end; run.at++)
        if (!scan_is_blank(in->text[run.at]) && !memchr("-=+_", in->text[run.at], 4))
            return 0;
    return 1;
}

static cpubind_text_status read_map_line(const scan_text *in, const scan_line *line,
                                         map_reader *map)
{
    map_header header;
    const header_kind kind = read_names(in, map, line->run, &header);
    const int32_t is_after_row = map->is_after_row;
    const scan_run first = scan_word(in, line->run.at, line->run.end);

    if (is_drawn(in, line->run)) {
        note_unknown(&map->unknown, line->run);
        return CPUBIND_TEXT_OK;
    }
    if (kind == HEADER_OF_MAP)
        return take_map_header(in, line, map, &header);
    map->is_after_row = 0;
    if (kind == HEADER_OF_ANOTHER || (kind == HEADER_OF_TITLES && !is_after_row)) {
        if (kind == HEADER_OF_ANOTHER && map->nearest.next == 0)
            map->nearest = *line;
        map->section = kind == HEADER_OF_ANOTHER ? MAP_ANOTHER : MAP_TITLES;
        map->has_another = 1;
    } else if (map->section == MAP_TABLE && map->header.n > 0) {
        return read_map_row(in, line, map);
    } else if (map->section != MAP_TABLE && is_row_elsewhere(in, line, map)) {
        return fail_at(in, line->run, "a row comes after the end of its table");
    } else if (map->section == MAP_TABLE && is_all_digits(in, first) &&
               is_all_digits(in, scan_word(in, first.end, line->run.end))) {
        return fail_at(in, line->run, "a row comes before the header");
    }
    if (!is_known_message(in, line->run))
        note_unknown(&map->unknown, line->run);
    return CPUBIND_TEXT_OK;
}

/* Fails a text without chips. */
static cpubind_text_status check_map(const scan_text *in, const map_reader *map)
{
    map_header header;

    if (map->n > 0 && map->has_another && map->header.has & 1u << COLUMN_NAME &&
        scan_is_empty(map->name))
        return fail_at(in, map->nearest.run,
                       "no chip has a name: the rows may be those of another table");
    if (map->n > 0)
        return CPUBIND_TEXT_OK;
    if (map->header.n > 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len, "the table has no NPU");
    if (map->nearest.next == 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len, "there is no header");
    (void)read_names(in, map, map->nearest.run, &header);
    if (check_columns(in, &header) != CPUBIND_TEXT_OK)
        return CPUBIND_TEXT_ERR_SYNTAX;
    return fail_short(in, &map->nearest, "the header lacks NPU ID, Chip ID or Chip Logic ID");
}

/*   map     = *line
 *   header  = name 1*( gap name )          "NPU ID", "Chip ID", and "Chip Logic ID" or
 *                                          "Slot ID"; others known or not; a known name once
 *   row     = cell *( gap cell )           see CELLS AND COLUMNS
 *   drawn   = 4*( "-" / "=" / "+" / "_" / blank )        anywhere
 *   section = titles *line                 another table: up to the header or the end
 *   titles  = name 1*( gap name )          not the header; without a known name only after a
 *                                          line that is no row
 *   other   = a line that neither fits the columns nor is like a row, a row with a word in the
 *             place of its NPU ID ("NIC0"), a line before the header without two numbers
 *   name    = starts with a letter, of any language; a known one may have "-", "_" or nothing
 *             in the place of a blank
 *   gap     = 2*blank / TAB                one blank between known names
 * CELLS AND COLUMNS
 *   A cell belongs to the column
 *     - below whose name it starts, when every cell starts below a name, or is one more cell of
 *       the chip name in a row with more cells than columns; else
 *     - of its number, when there are as many cells as columns; else
 *     - of its number, each cell being a word and the name the words that are left, when all
 *       columns are known.
 *   A row that fits in none of these ways is an error if it has two numbers or starts with one.
 *   id      = number / "-" / "--" / "NA" / "N/A" / "MCU"
 *             NPU ID and Chip ID are numbers; Slot ID may be "-1" or empty
 *   name    = word *( blanks word )        up to 64 bytes; no id after an id or three
 *                                          blanks; empty: npu-smi could not query the chip
 * A row without a logic id whose name is Mcu or a number, or whose logic id is MCU, is a board
 * controller and no chip; on a card whose chips cannot be listed, several have chip id 0. */
static cpubind_text_status read_map(const scan_text *in, map_reader *map,
                                    cpubind_npusmi_chip *out, int32_t cap)
{
    scan_line line = {{0, 0}, 0, 0};

    memset(map, 0, offsetof(map_reader, keys));
    map->out = out;
    map->cap = cap;
    map->keys.n = 0;
    for (map->start = 0; scan_next_line(in, &line); map->start = line.next) {
        cpubind_text_status status;

        if (scan_is_empty(line.run)) {
            map->is_after_row = 0;
            continue;
        }
        status = read_map_line(in, &line, map);
        if (status != CPUBIND_TEXT_OK)
            return status;
    }
    map->start = 0;
    return check_map(in, map);
}

cpubind_text_status cpubind_npusmi_parse_map(const char *text, int32_t len,
                                             cpubind_npusmi_map *map, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_npusmi_chip held[HELD];
    map_reader reader;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !map || !scan_is_array(map->chip, map->cap_chip))
        return scan_fail_arg(fault);
    status = read_map(&in, &reader, held, HELD);
    if (status != CPUBIND_TEXT_OK)
        return cpubind_priv_npusmi_refused_or(&in, status);
    map->n_chip = reader.n;
    if (reader.n > map->cap_chip)
        return scan_fail_space(&in);
    map->has_logic = (reader.header.has & 1u << COLUMN_LOGIC) != 0;
    map->has_name = (reader.header.has & 1u << COLUMN_NAME) != 0;
    map->unknown = reader.unknown;
    if (map->n_chip > HELD)
        return read_map(&in, &reader, map->chip, map->n_chip);
    for (int32_t i = 0; i < map->n_chip; i++)
        map->chip[i] = held[i];
    return CPUBIND_TEXT_OK;
}
