/* table.c - the outputs of npu-smi, row by row, by the names of columns
 * SPDX-License-Identifier: MIT
 *
 * Pure. Widths differ between versions, and a long word moves the rest of its line: no place in
 * a line counts but where a cell stands below a name. The names are those of npu-smi 21 to 26.
 *
 *   rule   = "+" ( "-" / "=" ) anything "+"
 *   bars   = "|" 1*( cell "|" )
 *   cells  = cell *( gap cell )               gap: two blanks or a TAB
 *   pair   = name *blank ":" *blank value
 *   header = names; in one cell several, a gap or a blank apart. Between bars the rows below it
 *            up to a rule are lines of it; other titles above a rule of "=" are those of
 *            another table
 *   remark = anything else
 * The last line has a line feed: else the text was cut.
 */
#include "table_reader.h"

#include <string.h>

enum { TABLE_PASS = -1, NAME_LEN_MAX = 64 };

enum { MAP = TABLE_MAP, TOPO = TABLE_TOPO, INFO = TABLE_INFO, BOARD = TABLE_BOARD };

/* The names of columns and keys, and the outputs that have them; a longer one before one with
 * which it starts. Letters of either case; where a name has a blank or a hyphen the text may
 * have one of " -_", or nothing; a unit in parentheses may follow: "Power(W)". */
static const struct table_name {
    const char *name;
    int32_t column, kinds;
} names[] = {
    {"NPU ID", TABLE_CARD, MAP | INFO | BOARD},
    {"NPU Util", TABLE_VALUE, INFO},
    {"NPU", TABLE_CARD, INFO},
    {"Chip ID", TABLE_CHIP, MAP | BOARD},
    {"Chip Logic ID", TABLE_LOGIC, MAP},
    {"Chip Logical ID", TABLE_LOGIC, MAP},
    {"Chip Phy ID", TABLE_PHY, MAP},
    {"Chip Physical ID", TABLE_PHY, MAP},
    {"Chip Name", TABLE_NAME, MAP},
    {"Chip Count", TABLE_CHIPS, BOARD},
    {"Chip", TABLE_CHIP, INFO},
    {"Logic ID", TABLE_LOGIC, MAP | INFO},
    {"Logical ID", TABLE_LOGIC, MAP | INFO},
    {"Phy ID", TABLE_PHY, MAP | INFO},
    {"Physical ID", TABLE_PHY, MAP},
    {"Slot ID", TABLE_SLOT, MAP},
    {"Device", TABLE_LOGIC, INFO},
    {"Name", TABLE_NAME, INFO},
    {"Health", TABLE_HEALTH, INFO},
    {"Bus-Id", TABLE_BUS, INFO},
    {"Process id in container", TABLE_OWN_PID, INFO},
    {"In container", TABLE_OWN_PID, INFO},
    {"Process id", TABLE_PID, INFO},
    {"PID", TABLE_PID, INFO},
    {"Process name", TABLE_PROCESS, INFO},
    {"Process memory", TABLE_MEMORY, INFO},
    {"Memory-Usage", TABLE_VALUE, INFO},
    {"Memory", TABLE_MEMORY, INFO},
    {"Power", TABLE_VALUE, INFO},
    {"Temp", TABLE_VALUE, INFO},
    {"Hugepages-Usage", TABLE_VALUE, INFO},
    {"AICore", TABLE_VALUE, INFO},
    {"HBM-Usage", TABLE_HBM, INFO},
    {"HBM", TABLE_HBM, INFO},
    {"CPU Affinity", TABLE_CPUS, TOPO},
    {"PCIe Bus Info", TABLE_BUS, BOARD},
};

/* Keys of a board whose values are not used. */
static const char *const other_keys[] = {"NPU Name",
                                         "Chip Name",
                                         "Chip Type",
                                         "Chip Version",
                                         "Chip Position ID",
                                         "PCI Vendor ID",
                                         "PCI Device ID",
                                         "Vendor ID",
                                         "Device ID",
                                         "Product Name",
                                         "Serial Number",
                                         "Total Count",
                                         "Card Count",
                                         "Board ID",
                                         "PCB ID",
                                         "BOM ID",
                                         "VDie ID",
                                         "NDie ID",
                                         "DDie ID",
                                         "Firmware Version",
                                         "Software Version",
                                         "Model",
                                         "Manufacturer",
                                         "Compatibility",
                                         "Main Board ID",
                                         "Slot ID",
                                         "Class ID",
                                         "Subsystem Vendor ID",
                                         "Subsystem Device ID",
                                         "Module Vendor ID",
                                         "Module ID"};

table_event cpubind_priv_table_fail(table *t, cpubind_text_status status, int32_t at,
                                    const char *what)
{
    (void)cursor_fail(&t->all, status, at, what);
    return TABLE_END;
}

static table_event fail(table *t, cursor run, const char *what)
{
    return cpubind_priv_table_fail(t, CPUBIND_TEXT_ERR_SYNTAX, run.at, what);
}

void cpubind_priv_table_note(table *t, cursor run)
{
    if (t->unknown.len == 0)
        t->unknown = cursor_piece(run);
}

/* Columns, as bits. */
enum {
    IS_CARD = 1 << TABLE_CARD,
    IS_CHIP = 1 << TABLE_CHIP,
    IS_IDS = IS_CARD | IS_CHIP,
    IS_LOGIC = 1 << TABLE_LOGIC | 1 << TABLE_SLOT,
    IS_CHIPS = IS_CHIP | 1 << TABLE_CHIPS,
    IS_USER = 1 << TABLE_PID | 1 << TABLE_PROCESS,
    IS_DEVICE = 1 << TABLE_HEALTH | 1 << TABLE_BUS,
    IS_NAMED = IS_CARD | 1 << TABLE_NAME
};

/* Steps to the next line; returns 0 at the end. */
static int next_line(table *t)
{
    t->start = t->all.at;
    if (!cursor_line(&t->all, &t->line))
        return 0;
    t->is_cut = cursor_is_cut(&t->all, &t->line);
    t->line = cursor_trim(t->line);
    return 1;
}

/* == Words and cells ======================================================== */

static int is_id(cursor run)
{
    return table_is_digits(run) || table_is_none(run);
}

/* Whether a cell where the number of a card is expected names something else: "NIC0", "Total".
 * A damaged number has no two letters at its start. */
static int is_other_kind(cursor cell)
{
    return cell.end - cell.at > 2 && cursor_is_letter(cell.text[cell.at]) &&
           cursor_is_letter(cell.text[cell.at + 1]);
}

/* Whether a cell counts something: "8 processes". */
static int is_count(cursor cell)
{
    const cursor first = cursor_word(&cell);
    return table_is_digits(first) && is_other_kind(cursor_word(&cell));
}

/* Whether a run starts as the name of a column does: with a letter, of any language. */
static int starts_name(cursor run)
{
    return run.at < run.end &&
           (cursor_is_letter(run.text[run.at]) || (unsigned char)run.text[run.at] >= 0x80);
}

/* The next cell of a line, words that are one blank apart; empty at the end. */
static cursor next_cell(cursor *rest)
{
    cursor cell;
    cursor_skip_blanks(rest);
    cell = *rest;
    while (rest->at < rest->end && rest->text[rest->at] != '\t' &&
           !(rest->text[rest->at] == ' ' && rest->at + 1 < rest->end &&
             cursor_is_blank(rest->text[rest->at + 1])))
        rest->at++;
    cell.end = rest->at;
    return cursor_trim(cell);
}

/* Parts a run; returns how many parts there are, of which the first are in `out`. */
static int32_t part(cursor run, cursor next(cursor *rest), cursor *out)
{
    int32_t n = 0;
    for (cursor r = next(&run); !table_is_empty(r); r = next(&run), n++)
        if (n < TABLE_CELLS)
            out[n] = r;
    return n;
}

/* The cells of a line between bars, with the blanks around them. */
static int part_at_bars(table *t)
{
    cursor rest = t->line;
    for (rest.at++; cursor_left(&rest) && t->n_cell < TABLE_CELLS; t->n_cell++) {
        t->cell[t->n_cell] = cursor_cut(&rest, '|');
        if (rest.at == t->cell[t->n_cell].end) /* no bar is left */
            break;
    }
    return t->n_cell > 0 && t->cell[t->n_cell - 1].end + 1 == t->line.end;
}

static cursor cell_of(const table *t, int32_t i)
{
    return cursor_trim(t->cell[i]);
}

/* == Names ================================================================== */

/* Whether the run starts with a name; *stop is where the name ends. */
static int starts_with(cursor run, const char *name, int32_t *stop)
{
    for (; *name; name++) {
        const char c = run.at < run.end ? run.text[run.at] : '\n';
        if (*name == ' ' || *name == '-')
            run.at += c == ' ' || c == '-' || c == '_';
        else if (cursor_lower(c) == cursor_lower(*name))
            run.at++;
        else
            return 0;
    }
    if (run.at < run.end && run.text[run.at] == '(')
        while (run.at < run.end && run.text[run.at - 1] != ')')
            run.at++;
    *stop = run.at;
    return run.at == run.end || cursor_is_blank(run.text[run.at]);
}

char cpubind_priv_table_label(cursor word, int32_t *id)
{
    static const char *const kinds[] = {"NPU-", "Phy-ID-", "NIC-"};
    cursor letters = word;
    while (letters.end > word.at && cursor_is_digit(word.text[letters.end - 1]))
        letters.end--;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && letters.end < word.end; i++) {
        int32_t stop;
        if (starts_with(letters, kinds[i], &stop) && stop == letters.end &&
            cursor_is_number(table_from(word, letters.end), INT32_MAX, id))
            return kinds[i][1]; /* "P", "h", "I" */
    }
    return 0;
}

static int is_label(cursor word)
{
    int32_t id;
    return cpubind_priv_table_label(word, &id) != 0;
}

/* Whether a word is built as a label: "UB0", "RNIC3". */
static int is_like_label(cursor word)
{
    return is_other_kind(word) && cursor_is_digit(word.text[word.end - 1]);
}

/* The column whose name the run starts with, and where the name ends. */
static int32_t find_column(const table *t, cursor run, int32_t *stop)
{
    cursor rest = run;
    const cursor word = cursor_word(&rest);
    *stop = word.end;
    if (t->kind == TABLE_TOPO && is_label(word))
        return TABLE_LINK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((int32_t)t->kind & names[i].kinds && starts_with(run, names[i].name, stop))
            return names[i].column;
    for (size_t i = 0; i < sizeof other_keys / sizeof *other_keys; i++)
        if (t->kind == TABLE_BOARD && starts_with(run, other_keys[i], stop))
            return TABLE_KEY;
    *stop = word.end;
    return TABLE_OTHER;
}

static int is_used(int32_t column)
{
    return column < TABLE_LINK;
}

static void add_title(table_head *h, int32_t column, int32_t cell, cursor name)
{
    const struct table_title title = {column, cell, name};
    if (is_used(column) && h->has >> column & 1u && table_is_empty(h->twice))
        h->twice = name;
    if (column == TABLE_OTHER && table_is_empty(h->other))
        h->other = name;
    h->has |= 1u << column;
    if (h->n < TABLE_CELLS)
        h->title[h->n++] = title;
}

/* Reads the names in a cell of a header: a gap apart, or known ones a blank apart. */
static void read_titles(table *t, cursor cell, int32_t index)
{
    table_head *h = &t->next;
    for (cursor name = next_cell(&cell); !table_is_empty(name); name = next_cell(&cell)) {
        const int32_t first = h->n;
        const uint32_t has = h->has;
        int32_t stop = name.at;
        for (cursor rest = name; cursor_skip_blanks(&rest), rest.at < rest.end;
             rest.at = stop) {
            int32_t column = find_column(t, rest, &stop);
            cursor title = rest;
            title.end = stop;
            if (column == TABLE_OTHER && t->kind == TABLE_TOPO && is_like_label(title)) {
                column = TABLE_KEY; /* of links to devices that are not known */
                cpubind_priv_table_note(t, title);
            } else if (column == TABLE_OTHER) {
                h->has_more = h->n > first && h->title[h->n - 1].column == TABLE_CPUS;
                if (!h->has_more) {
                    h->n = first;
                    h->part |= h->has & ~has;
                    h->has = has;
                    title.at = name.at;
                }
                title.end = stop = rest.end;
            }
            add_title(h, column, index < 0 ? h->n : index, title);
        }
        h->is_narrow |= h->n > first + 1;
    }
}

static void read_header(table *t, int is_bars)
{
    memset(&t->next, 0, offsetof(table_head, title));
    for (int32_t i = 0; i < t->n_cell; i++)
        read_titles(t, is_bars ? cell_of(t, i) : t->cell[i], is_bars ? i : -1);
    t->next.n_cell = is_bars ? t->n_cell : t->next.n;
}

/* Takes the line as the next line of the header of a table. */
static table_event take_header(table *t, table_section section)
{
    if (!table_is_empty(t->next.twice))
        return fail(t, t->next.twice, "a column occurs twice");
    if (section != t->section || !t->is_header_open)
        t->n_head = (int32_t)(t->has = 0);
    t->section = section;
    memcpy(&t->head[t->n_head++], &t->next,
           offsetof(table_head, title) + (size_t)t->next.n * sizeof *t->next.title);
    t->has |= t->next.has;
    t->is_header_open = 1;
    t->at_head = 0;
    if (!table_is_empty(t->next.other))
        cpubind_priv_table_note(t, t->next.other);
    return TABLE_HEADER;
}

/* == Values ================================================================= */

/* Gives a value to its column. A control character, or too long a name, tells of two lines
 * without the line feed between them. */
static int put(table *t, int32_t column, cursor run)
{
    cursor rest = run;
    (void)cursor_span(&rest, cursor_is_plain);
    if (rest.at < rest.end)
        return (int)fail(t, rest, "a value holds a control character");
    if ((column == TABLE_NAME || column == TABLE_PROCESS) && run.end - run.at > NAME_LEN_MAX)
        return (int)fail(t, run, "a name is too long");
    if ((column == TABLE_VALUE || column == TABLE_HBM) && table_is_empty(run))
        return (int)fail(t, run, "the values of a row are missing");
    t->value[column] = run;
    return 1;
}

static void clear_values(table *t)
{
    for (int32_t i = 0; i < TABLE_COLUMNS; i++)
        t->value[i] = table_from(t->line, t->line.end);
}

static table_event pass(table *t)
{
    if (!cursor_starts_as(&t->line, "Failed to get ") &&
        !cursor_starts_as(&t->line, "[WARNING]The driver package ") &&
        !cursor_starts(&t->line, "..."))
        cpubind_priv_table_note(t, t->line);
    return TABLE_REMARK;
}

/* == Bars =================================================================== */

/* The index of the cell of a column in a line of the header; -1: it is not there. */
static int32_t place_of(const table_head *h, table_column column)
{
    for (int32_t i = 0; i < h->n; i++)
        if (h->title[i].column == (int32_t)column)
            return h->title[i].cell;
    return -1;
}

/* Gives a cell to the columns whose names stand above it, n from the k-th on: a word to each,
 * and the rest to the name of a chip, if that is the last. */
static int put_words(table *t, const table_head *h, int32_t k, int32_t n, cursor cell)
{
    cursor word[TABLE_CELLS];
    const int has_name = n > 0 && h->title[k + n - 1].column == TABLE_NAME;
    int32_t n_word = n > 1 ? part(cell, cursor_word, word) : 1;
    if (n == 0)
        return table_is_empty(cell) ||
               fail(t, cell, "a value stands below an empty cell of the header");
    if (n == 1 || !is_used(h->title[k].column))
        return put(t, h->title[k].column, cell);
    if (n_word != n && (!has_name || n_word + 1 < n)) {
        n_word = part(cell, next_cell, word);
        if (n_word != n)
            return (int)fail(t, cell, "a row has not the ids that its header names");
    }
    for (int32_t i = 0; i < n; i++) {
        cursor value = i < n_word ? word[i] : table_from(cell, cell.end);
        if (has_name && i == n - 1)
            value.end = cell.end;
        if (!put(t, h->title[k + i].column, value))
            return 0;
    }
    return 1;
}

/* Gives the cells of a row to the columns of a line of the header. The cells of a process whose
 * name has bars are one. */
static int put_bars(table *t, const table_head *h)
{
    const int32_t named = place_of(h, TABLE_PROCESS), more = t->n_cell - h->n_cell;
    if (more < 0)
        return (int)fail(t, t->line, "a row has fewer cells than its header");
    if (more > 0 && named < 0)
        return (int)fail(t, t->line, "a row has more cells than its header");
    for (int32_t i = 0, k = 0, n; i < h->n_cell; i++, k += n) {
        cursor cell = t->cell[i > named ? i + more : i];
        for (n = 0; k + n < h->n && h->title[k + n].cell == i; n++)
            ;
        if (i == named)
            cell.end = t->cell[i + more].end;
        if (!put_words(t, h, k, n, cursor_trim(cell)))
            return 0;
    }
    return 1;
}

static table_event take_bars(table *t)
{
    if (t->at_head == 0)
        clear_values(t);
    if (!put_bars(t, &t->head[t->at_head]))
        return TABLE_END;
    if (++t->at_head < t->n_head)
        return (table_event)TABLE_PASS;
    t->at_head = 0;
    return TABLE_RECORD;
}

/* Whether a row is the last line of a device without its first, which npu-smi does not print of
 * a chip whose health it does not know: it has an address, and where chips have no number, none
 * of a card. */
static int is_lone_end(const table *t)
{
    const table_head *h = &t->head[t->n_head > 1];
    const int32_t at = place_of(h, TABLE_BUS), key = place_of(t->head, TABLE_CARD);
    cursor_text quiet = {t->of.len, CPUBIND_TEXT_OK, NULL};
    cpubind_pci_address pci;
    cursor address;
    if (t->n_head < 2 || at < 0 || t->n_cell != h->n_cell)
        return 0;
    address = table_before_remark(cell_of(t, at));
    address.of = &quiet;
    pci = cpubind_priv_table_pci(address);
    if (quiet.status != CPUBIND_TEXT_OK)
        return 0;
    return table_has(t, TABLE_CHIP) ? pci.domain >= 0 : table_is_empty(cell_of(t, key));
}

/* Leaves out such a row. It must be whole, and no row before it may be its first line. */
static table_event drop_end(table *t)
{
    if (t->suspect >= 0)
        return cpubind_priv_table_fail(t, CPUBIND_TEXT_ERR_SYNTAX, t->suspect,
                                       "a device starts with a row of no known kind");
    clear_values(t);
    if (!put_bars(t, &t->head[1]))
        return TABLE_END;
    for (int32_t c = TABLE_CHIP; c <= TABLE_PHY; c++)
        if (t->head[1].has >> c & 1u && !table_is_digits(t->value[c]))
            return fail(t, t->value[c], "a number is missing");
    return TABLE_REMARK;
}

/* Whether a row between the lines of a device goes on with its name: a cell with words. */
static int is_rest_of_name(const table *t)
{
    const int32_t name = place_of(t->head, TABLE_NAME);
    for (int32_t i = 0; i < t->n_cell; i++)
        if (i != name && !table_is_empty(cell_of(t, i)))
            return 0;
    return name >= 0 && t->n_cell == t->head->n_cell && is_other_kind(cell_of(t, name));
}

/* Whether a row is a line of titles. */
static int is_titles(const table *t)
{
    int32_t n = 0;
    for (int32_t i = 0; i < t->n_cell; i++) {
        const cursor cell = cell_of(t, i);
        if (!table_is_empty(cell) && !starts_name(cell))
            return 0;
        n += !table_is_empty(cell);
    }
    return n > 1;
}

/* Whether the next line is a rule of "=", which stands below a header. */
static int is_above_rule(const table *t)
{
    cursor all = t->all, next;
    if (!cursor_line(&all, &next))
        return 0;
    cursor_skip_blanks(&next);
    return cursor_starts(&next, "+=");
}

/* Whether a header has one of these columns, or a name that starts with theirs. */
static int has_any(const table_head *h, uint32_t columns)
{
    return ((h->has | h->part) & columns) != 0;
}

/* Takes the header of processes, whose names may stand below "Name". */
static table_event take_users(table *t)
{
    table_head *h = &t->next;
    for (int32_t i = 0; i < h->n && place_of(h, TABLE_PROCESS) < 0; i++)
        if (h->title[i].column == TABLE_NAME)
            h->title[i].column = TABLE_PROCESS;
    if (t->section == TABLE_USERS || t->has & IS_USER)
        return fail(t, t->line, "the header of processes occurs twice");
    return h->has & IS_CARD ? take_header(t, TABLE_USERS)
                            : fail(t, t->line, "the header of processes lacks NPU");
}

/* Takes a line of the header of devices. */
static table_event take_devices(table *t)
{
    const char *what = NULL;
    if (!t->is_header_open && t->n_head > 0)
        what = "a header of devices comes after a row";
    else if (!t->is_header_open && !(t->next.has & IS_CARD))
        what = "the header of devices lacks NPU";
    else if (t->is_header_open && t->has & t->next.has & (IS_DEVICE | IS_NAMED))
        what = "the header of devices occurs twice";
    else if (t->is_header_open && t->next.n_cell != t->head->n_cell)
        what = "the lines of a header differ";
    if (!what)
        return take_header(t, TABLE_ROWS);
    t->section = TABLE_ANOTHER; /* for who reads on */
    return fail(t, t->line, what);
}

/* Reads a row of titles, if it is the header of a table. After the devices, titles without NPU
 * and Chip are those of another table. */
static table_event read_bar_header(table *t)
{
    table_head *h = &t->next;
    if (!is_titles(t))
        return (table_event)TABLE_PASS;
    read_header(t, 1);
    if (has_any(h, IS_USER) ||
        (has_any(h, 1 << TABLE_MEMORY) && !has_any(h, IS_DEVICE | 1 << TABLE_NAME)))
        return take_users(t);
    if (t->is_header_open && t->section == TABLE_ROWS && t->n_head < TABLE_LINES)
        return take_devices(t);
    if ((has_any(h, IS_DEVICE) || ((h->has | h->part) & IS_NAMED) == IS_NAMED) &&
        (has_any(h, IS_IDS) || t->n_head == 0)) {
        t->is_header_open = 0;
        return take_devices(t);
    }
    if (table_is_empty(cell_of(t, 0)) || !is_above_rule(t))
        return (table_event)TABLE_PASS;
    t->section = TABLE_ANOTHER;
    return pass(t);
}

/* Fails a row below the titles of another table that is a device, a process or their header:
 * the titles may be text that came between rows. */
static table_event check_stray(table *t)
{
    cpubind_text_fault *fault = t->of.fault;
    int is_row = 0;
    read_header(t, 1);
    if (has_any(&t->next, IS_USER | IS_DEVICE))
        return fail(t, t->line, "a header does not start with a name");
    if (t->n_head == 0)
        return TABLE_REMARK;
    t->of.fault = NULL;
    clear_values(t);
    if (is_lone_end(t))
        is_row = 1;
    else if (put_bars(t, t->head))
        is_row = table_is_digits(t->value[TABLE_CARD]) &&
                 (table_has(t, TABLE_HEALTH) ? cursor_is(t->value[TABLE_HEALTH], "OK")
                                             : is_id(t->value[TABLE_PID]));
    t->of = (cursor_text){t->of.len, CPUBIND_TEXT_OK, fault};
    return is_row ? fail(t, t->line, "a row comes after the end of its table") : TABLE_REMARK;
}

/* Passes over a row of another kind than those of its table. */
static table_event pass_row(table *t, cursor key)
{
    const int32_t name = place_of(t->head, TABLE_PROCESS);
    if (!table_is_empty(key) && !is_other_kind(key) && !is_count(key))
        return fail(t, key, "a row is of no known kind");
    for (int32_t i = 0; t->section == TABLE_USERS && table_is_empty(key) && i < t->n_cell; i++)
        if (i != name && !table_is_empty(cell_of(t, i)))
            return fail(t, key, "a process has no NPU");
    t->suspect = t->line.at;
    return pass(t);
}

/* Reads a row of one cell: a title or a message. Below a rule of dashes it may be the title of
 * another table. */
static table_event read_message(table *t)
{
    const cursor cell = cell_of(t, 0);
    cursor rest = cell;
    if (table_starts_with_digit(cell) && !is_count(cell))
        return fail(t, cell, "the row ends before its last cell");
    if (table_starts_with_digit(cell))
        t->suspect = t->line.at;
    if (table_is_empty(cell) || cursor_is(cursor_word(&rest), "npu-smi") ||
        cursor_starts_as(&cell, "No running process"))
        return TABLE_REMARK;
    cpubind_priv_table_note(t, cell);
    if (t->rule == '-' && t->n_head > 0 && starts_name(cell))
        t->section = TABLE_ANOTHER;
    return TABLE_REMARK;
}

static table_event read_row(table *t)
{
    const int is_known = t->section == TABLE_ROWS || t->section == TABLE_USERS;
    const int32_t place = is_known ? place_of(t->head, TABLE_CARD) : 0;
    const cursor key = cell_of(t, place < t->n_cell ? place : 0);
    table_event event = (table_event)TABLE_PASS;
    if (t->at_head == 1 && is_rest_of_name(t))
        return pass(t);
    if (t->at_head > 0)
        return take_bars(t);
    if (t->n_cell == 1)
        return read_message(t);
    if (t->section == TABLE_ROWS && is_lone_end(t))
        return drop_end(t);
    if (table_starts_with_digit(key) && is_known &&
        (t->section == TABLE_ROWS || !is_count(key)))
        return take_bars(t);
    event = read_bar_header(t);
    if (event != (table_event)TABLE_PASS)
        return event;
    if (t->section == TABLE_ANOTHER)
        return check_stray(t);
    return table_starts_with_digit(key) && !is_known
               ? fail(t, key, "a row comes before its header")
               : pass_row(t, key);
}

static table_event read_bars(table *t)
{
    const cursor run = t->line;
    const char *text = t->all.text + run.at;
    const int is_row = *text == '|', is_rule = run.end - run.at > 2 && *text == '+' &&
                                               (text[1] == '-' || text[1] == '=') &&
                                               t->all.text[run.end - 1] == '+';
    const int32_t suspect = t->suspect;
    table_event event;
    t->n_cell = 0;
    if (is_row) {
        event = part_at_bars(t) ? read_row(t)
                                : cpubind_priv_table_fail(t, CPUBIND_TEXT_ERR_SYNTAX, run.end,
                                                          "the row ends before its last bar");
        t->suspect = t->suspect == suspect ? -1 : t->suspect;
        t->rule = 0;
        t->is_header_open = event == TABLE_HEADER;
        return event;
    }
    /* npu-smi prints no second line of a chip whose logic id it cannot read. */
    if (t->at_head > 0 && !(is_rule && table_has(t, TABLE_LOGIC)))
        return fail(t, run, "a device ends before its second line");
    if (t->all.text[run.end - 1] == '|')
        return fail(t, run, "a row does not start with a bar");
    t->at_head = t->is_header_open = 0;
    t->suspect = -1;
    t->rule = (char)(is_rule ? text[1] : 0);
    return is_rule || *text == '+' ? TABLE_RULE : pass(t);
}

/* == Cells ================================================================== */

/* The bytes before a cell in its line, without the TAB with which npu-smi starts a line and
 * which some captures lack. */
static int32_t column_at(const table *t, cursor cell, int32_t start)
{
    return cell.at - start - (t->all.text[start] == '\t');
}

/* Every cell starts where the name of a column starts; other columns are empty. */
static int fit_places(table *t, const table_head *h, cursor *fit)
{
    int32_t k = 0;
    for (int32_t i = 0; i < h->n; i++) {
        const int is_here = k < t->n_cell && column_at(t, t->cell[k], t->start) ==
                                                 column_at(t, h->title[i].name, t->head_start);
        fit[i] = is_here ? t->cell[k++] : table_from(t->line, t->line.end);
    }
    return k == t->n_cell && k > 1 && !h->is_narrow;
}

/* There are as many cells as columns; none stands below the name of another column, where those
 * of a row before stood below their names. */
static int fit_count(const table *t, const table_head *h, cursor *fit)
{
    for (int32_t i = 0; i < h->n && t->n_cell == h->n; i++) {
        fit[i] = t->cell[i];
        for (int32_t k = 0; k < h->n && t->is_placed; k++)
            if (k != i &&
                column_at(t, fit[i], t->start) == column_at(t, h->title[k].name, t->head_start))
                return 0;
    }
    return t->n_cell == h->n;
}

/* One word for each column but the name, which may have several words or none. */
static int fit_words(const table *t, const table_head *h, cursor *fit)
{
    const int32_t name = place_of(h, TABLE_NAME);
    const cursor none = table_from(t->line, t->line.end);
    cursor word[TABLE_CELLS];
    const int32_t n = part(t->line, cursor_word, word), more = n - h->n;
    if (!table_is_empty(h->other) || n > TABLE_CELLS || more < -1 || (more != 0 && name < 0) ||
        (t->n_cell == 1 && t->is_wide))
        return 0;
    for (int32_t i = 0; i < h->n; i++)
        fit[i] = name >= 0 && i > name ? word[i + more] : i < n ? word[i] : none;
    if (name >= 0 && more == -1)
        fit[name] = none;
    else if (name >= 0)
        fit[name].end = word[name + more].end;
    return 1;
}

/* Whether no word of a name may be an id after another, or after a gap of three blanks: then it
 * is two rows without the line feed between them. */
static int is_one_name(cursor name)
{
    int32_t last = name.end;
    int was_id = 0;
    for (cursor word = cursor_word(&name); !table_is_empty(word); word = cursor_word(&name)) {
        const int is_now = is_id(word);
        if (is_now && (was_id || word.at > last + 2))
            return 0;
        was_id = is_now;
        last = word.end;
    }
    return 1;
}

/* Gives the cells of a row to the columns; returns 0 when they do not fit. */
static int fit_row(table *t)
{
    const table_head *h = t->head;
    cursor fit[TABLE_CELLS], name;
    const int is_placed = fit_places(t, h, fit);
    if (t->n_cell > TABLE_CELLS ||
        (!is_placed && !fit_count(t, h, fit) && !fit_words(t, h, fit)))
        return 0;
    t->is_placed |= is_placed;
    t->is_wide |= t->n_cell > 1;
    clear_values(t);
    for (int32_t i = 0; i < h->n; i++)
        if (!put(t, h->title[i].column, fit[i]))
            return 1;
    if (!is_one_name(t->value[TABLE_NAME]))
        (void)fail(t, t->value[TABLE_NAME], "a name is two rows in one");
    name = t->value[TABLE_NAME];
    if (next_cell(&name).end < name.end)
        cpubind_priv_table_note(t, t->value[TABLE_NAME]);
    return 1;
}

/* Whether a line outside of the table fits its columns, with its ids. Below the titles of
 * another table with a known column a row of it may do so. */
static int is_stray(table *t)
{
    cpubind_text_fault *fault = t->of.fault;
    const int32_t is_placed = t->is_placed, is_wide = t->is_wide;
    const cpubind_piece unknown = t->unknown;
    const cursor *v = t->value;
    int is_row;
    t->of.fault = NULL;
    is_row = t->n_head > 0 && fit_row(t) && t->of.status == CPUBIND_TEXT_OK;
    for (int32_t c = TABLE_CARD; is_row && c <= TABLE_PHY; c++)
        is_row = !table_has(t, (table_column)c) ||
                 (c <= TABLE_CHIP ? table_is_digits(v[c]) : is_id(v[c]));
    if (is_row && t->section == TABLE_ANOTHER && table_has(t, TABLE_NAME))
        is_row = !table_is_empty(t->first) &&
                 cursor_len(&t->first) == cursor_len(&v[TABLE_NAME]) &&
                 memcmp(t->first.text + t->first.at, t->first.text + v[TABLE_NAME].at,
                        (size_t)cursor_len(&t->first)) == 0;
    t->of = (cursor_text){t->of.len, CPUBIND_TEXT_OK, fault};
    t->is_placed = is_placed;
    t->is_wide = is_wide;
    t->unknown = unknown;
    return is_row;
}

/* Whether a name or a line holds these letters, of either case. */
static int holds(cursor run, const char *letters)
{
    while (run.at < run.end && !cursor_starts_as(&run, letters))
        run.at++;
    return run.at < run.end;
}

/* Why a column that is not known may be one that the table lacks, under another name. */
static const char *why_alike(const table *t, cursor name)
{
    const uint32_t has = t->next.has;
    if (t->kind == TABLE_MAP && ((!(has >> TABLE_LOGIC & 1u) && holds(name, "logic")) ||
                                 (!(has >> TABLE_PHY & 1u) && holds(name, "phy"))))
        return "a column may be that of an id under another name";
    if (t->kind == TABLE_TOPO && !(has >> TABLE_CPUS & 1u) &&
        (holds(name, "Affin") || holds(name, "CPU")))
        return "a column may be that of the CPU affinity under another name";
    for (cursor word = cursor_word(&name); t->kind == TABLE_TOPO && !table_is_empty(word);
         word = cursor_word(&name))
        if (is_label(word))
            return "a label is in the name of another column";
    return NULL;
}

/* Fails when there is such a column. */
static int check_others(table *t)
{
    for (int32_t i = 0; i < t->next.n; i++) {
        const cursor name = t->next.title[i].name;
        const char *why = t->next.title[i].column == TABLE_OTHER ? why_alike(t, name) : NULL;
        if (why)
            return (int)fail(t, name, why);
    }
    return 1;
}

/* == The map ================================================================ */

/* Whether a line is drawn: "------  -------". */
static int is_drawn(cursor run)
{
    const int32_t first = run.at;
    while (run.at < run.end &&
           (cursor_is_blank(run.text[run.at]) || memchr("-=+_", run.text[run.at], 4)))
        run.at++;
    return run.at == run.end && run.end - first > 3;
}

/* Takes the header of the map. No line before it may be a row. */
static table_event take_map_header(table *t)
{
    const cursor line = t->line, rest = t->all;
    if (t->n_head > 0)
        return fail(t, line, "the header occurs twice");
    if (!check_others(t) || take_header(t, TABLE_ROWS) == TABLE_END)
        return TABLE_END;
    t->head_start = t->start;
    for (t->all.at = 0; t->all.at < t->head_start;) {
        (void)next_line(t);
        t->n_cell = part(t->line, next_cell, t->cell);
        if (is_stray(t))
            return fail(t, t->line, "a row comes before the header");
    }
    t->line = line;
    t->all = rest;
    return TABLE_HEADER;
}

/* Reads a line of titles: of the map, or of another table. */
static table_event read_map_titles(table *t, int is_after_row)
{
    uint32_t has;
    for (int32_t i = 0; i < t->n_cell; i++)
        if (i == TABLE_CELLS || !starts_name(t->cell[i]))
            return (table_event)TABLE_PASS;
    read_header(t, 0);
    has = t->next.has & ~(1u << TABLE_OTHER);
    if (t->next.n < 2)
        return (table_event)TABLE_PASS;
    if ((has & IS_IDS) == IS_IDS && has & IS_LOGIC)
        return take_map_header(t);
    if (has == 0 && is_after_row)
        return (table_event)TABLE_PASS;
    if (has && table_is_empty(t->near)) {
        const int is_twice = !table_is_empty(t->next.twice);
        const cursor at = is_twice ? t->next.twice : t->next.other;
        t->near = table_is_empty(at) ? t->line : at;
        t->near_what = is_twice             ? "a column occurs twice"
                       : table_is_empty(at) ? NULL
                                            : why_alike(t, at);
    }
    t->section = has ? TABLE_ANOTHER : TABLE_TITLES;
    return pass(t);
}

/* Whether a line that does not fit is a row all the same: it has two numbers, or starts with
 * one. Words that are one blank apart are no row of a table with wider gaps. */
static int is_like_row(const table *t)
{
    cursor word[TABLE_CELLS];
    const int32_t n = part(t->line, cursor_word, word);
    int32_t n_number = 0;
    if (t->n_cell == 1 && t->is_wide && n > 1)
        return 0;
    for (int32_t i = 0; i < n && i < TABLE_CELLS; i++)
        n_number += table_is_digits(word[i]) ? 1 + (i < 2) : 0;
    return n_number > 1 || table_starts_with_digit(t->line);
}

static table_event read_map_line(table *t)
{
    const int is_after_row = t->is_header_open;
    cursor rest = t->line;
    const cursor first = cursor_word(&rest), second = cursor_word(&rest);
    table_event event;
    t->is_header_open = 0;
    if (is_drawn(t->line))
        return pass(t);
    t->n_cell = part(t->line, next_cell, t->cell);
    event = read_map_titles(t, is_after_row);
    if (event != (table_event)TABLE_PASS)
        return event;
    if (t->section == TABLE_ROWS) {
        if (!fit_row(t))
            return is_like_row(t)
                       ? fail(t, t->line, "the cells of the row do not fit the columns")
                       : pass(t);
        if (t->of.status != CPUBIND_TEXT_OK)
            return TABLE_END;
        if (is_other_kind(t->value[TABLE_CARD]))
            return pass(t);
        t->is_header_open = 1;
        return TABLE_RECORD;
    }
    if (t->section == TABLE_NONE ? table_is_digits(first) && table_is_digits(second)
                                 : is_stray(t))
        return fail(t, t->line,
                    t->n_head > 0 ? "a row comes after the end of its table"
                                  : "a row comes before the header");
    return pass(t);
}

/* == The topology =========================================================== */

/* Whether a line is a header. A row starts with a label, too: then the second word tells. */
static int is_topo_header(const table *t, const cursor *word, int32_t n)
{
    const cursor behind = table_from(t->line, n > 1 ? word[1].at : t->line.end);
    cursor rest = t->line;
    int32_t stop;
    if (n > 0 && is_label(word[0]))
        return (n > 1 && is_label(word[1])) || starts_with(behind, "CPU Affinity", &stop) ||
               (t->n_head == 0 &&
                (n == 1 || is_like_label(word[1]) || cursor_is(word[1], "NUMA")));
    if (n < 2 || (!is_like_label(word[0]) && !starts_with(rest, "CPU Affinity", &stop) &&
                  next_cell(&rest).end == t->line.end))
        return 0;
    for (int32_t i = 1; i < n && i < TABLE_CELLS; i++)
        if (is_label(word[i]) && cursor_lower(word[i].text[word[i].at + 1]) != 'i')
            return 1;
    return 0;
}

/* Reads the header. A title above the labels of the rows is no column. */
static table_event read_topo_header(table *t)
{
    cursor first;
    int32_t stop;
    t->n_cell = part(t->line, next_cell, t->cell);
    if (t->n_cell > TABLE_CELLS)
        return cpubind_priv_table_fail(t, CPUBIND_TEXT_ERR_RANGE, t->line.at,
                                       "there are too many labels");
    first = t->cell[0];
    if (t->line.at == t->start && !starts_with(first, "CPU Affinity", &stop) &&
        !is_like_label(cursor_word(&first))) {
        cpubind_priv_table_note(t, t->cell[0]);
        memmove(t->cell, t->cell + 1, (size_t)--t->n_cell * sizeof *t->cell);
    }
    read_header(t, 0);
    if (t->next.n == TABLE_CELLS)
        return cpubind_priv_table_fail(t, CPUBIND_TEXT_ERR_RANGE, t->line.at,
                                       "there are too many labels");
    return t->n_head > 0     ? TABLE_HEADER
           : check_others(t) ? take_header(t, TABLE_ROWS)
                             : TABLE_END;
}

/* Gives the n words of a row behind its label to the columns, or its cells that are two blanks
 * apart. The affinity may be empty when it is last and all columns are known. Columns behind it
 * may be more than their names, but as many in each row. */
static int fit_topo(table *t, cursor rest, cursor *fit, int32_t n)
{
    const table_head *h = t->head;
    const int32_t more = n - h->n;
    if (h->has_more) {
        const int fits = more >= -1 && (t->n_more < -1 || more == t->n_more);
        t->n_more = more;
        return fits;
    }
    if (more == -1 && h->title[h->n - 1].column == TABLE_CPUS && table_is_empty(h->other))
        fit[h->n - 1] = table_from(rest, rest.end);
    else if (more != 0 && part(rest, next_cell, fit) != h->n)
        return 0;
    return 1;
}

/* Whether a cell begins as a number, and has no letter: no link, of which the words differ
 * between products. */
static int is_no_link(cursor cell)
{
    const int is_number = table_starts_with_digit(cell);
    while (cell.at < cell.end && !cursor_is_letter(cell.text[cell.at]))
        cell.at++;
    return is_number && cell.at == cell.end;
}

/* The row without the remark at its end: "(24 CPUs)", "# shared". */
static cursor before_mark(table *t, cursor row)
{
    const char *text = row.text + row.at;
    const size_t len = (size_t)cursor_len(&row);
    const char *mark = (const char *)memchr(text, '#', len);
    if (!mark && text[len - 1] == ')')
        mark = (const char *)memchr(text, '(', len);
    if (!mark || mark == text || !cursor_is_blank(mark[-1]))
        return row;
    cpubind_priv_table_note(t, table_from(row, (int32_t)(mark - row.text)));
    row.end = (int32_t)(mark - row.text);
    return cursor_trim(row);
}

/* Reads a row of a label and n words behind it. After all rows a line that starts with a label
 * may say something of it. */
static table_event read_topo_row(table *t, cursor row, cursor *fit, int32_t n)
{
    const cursor label = fit[-1], rest = table_from(row, label.end);
    if (!fit_topo(t, rest, fit, n))
        return t->is_full ? pass(t)
                          : fail(t, t->line, "the cells of the row do not fit the columns");
    clear_values(t);
    t->value[TABLE_LABEL] = label;
    for (int32_t i = 0; i < t->head->n - t->head->has_more; i++) {
        const int32_t column = t->head->title[i].column;
        if (column == TABLE_LINK && is_no_link(fit[i]))
            return fail(t, fit[i], "there is a number in the place of a link");
        if (column == TABLE_LINK)
            continue;
        if (column == TABLE_OTHER && !table_has(t, TABLE_CPUS) && is_no_link(fit[i]) &&
            !table_is_digits(fit[i]))
            return fail(t, fit[i], "there is a list in a column that is not CPU Affinity");
        if (!put(t, column, fit[i]))
            return TABLE_END;
    }
    return TABLE_RECORD;
}

/* Every label has a digit; most lines of a legend have none. */
static int holds_digit(cursor run)
{
    while (run.at < run.end && !cursor_is_digit(run.text[run.at]))
        run.at++;
    return run.at < run.end;
}

static table_event read_topo_line(table *t)
{
    cursor word[TABLE_CELLS + 1], row = t->line, rest = row;
    const cursor first = cursor_word(&rest), second = cursor_word(&rest);
    const int starts = is_label(first);
    int32_t n = 0;
    if (starts && t->n_head > 0)
        row = before_mark(t, row);
    if (holds_digit(row))
        n = part(row, cursor_word, word);
    if (is_topo_header(t, word, n))
        return read_topo_header(t);
    if (starts && n <= TABLE_CELLS && t->section != TABLE_ANOTHER)
        return t->n_head > 0 ? read_topo_row(t, row, word + 1, n - 1)
                             : fail(t, first, "a row comes before the header");
    if (cursor_is(second, "=") || cursor_starts(&row, "Legend") || cursor_starts(&row, "NIC"))
        return TABLE_REMARK;
    return pass(t);
}

/* == Keys =================================================================== */

/* A block starts at the key of a card, and at that of a chip in a block that has one or counts
 * them: npu-smi prints a card before its chips. A line ":" value goes on with the last one. */
static table_event read_pair(table *t)
{
    cursor after = t->line;
    const cursor key = cursor_trim(cursor_cut(&after, ':'));
    int32_t stop = key.at, column = find_column(t, key, &stop);
    if (after.at == t->line.end && t->line.text[after.at - 1] != ':')
        return pass(t);
    if (stop != key.end)
        column = TABLE_OTHER;
    if (column == TABLE_OTHER && !table_is_empty(key))
        cpubind_priv_table_note(t, key);
    if (column == TABLE_CARD || (column == TABLE_CHIP && t->is_open && t->seen & IS_CHIPS)) {
        const cursor card = t->value[TABLE_CARD];
        if (t->is_open == 1) { /* the block before is whole; this line is read again */
            t->is_open = 2;
            t->all.at = t->start;
            return TABLE_RECORD;
        }
        clear_values(t);
        t->value[TABLE_CARD] = card;
        t->seen = column == TABLE_CARD ? 0 : 1u << TABLE_CARD;
        t->is_open = 1;
    }
    if (is_used(column) && !t->is_open)
        return fail(t, key, "a key comes before the first NPU ID");
    if (is_used(column) && t->seen >> column & 1u)
        return fail(t, key, "a key occurs twice");
    t->seen |= 1u << column;
    return put(t, column, cursor_trim(after)) ? (table_event)TABLE_PASS : TABLE_END;
}

/* == All ==================================================================== */

void cpubind_priv_table_open(table *t, const char *text, int32_t len, table_kind kind,
                             cpubind_text_fault *fault)
{
    memset(t, 0, offsetof(table, cell));
    t->all = cursor_open(&t->of, text, len, fault, 1);
    t->kind = kind;
    t->suspect = -1;
    t->n_more = -2;
    t->head->n = t->head->n_cell = 0;
}

int32_t cpubind_priv_table_place(const table *t, table_column column)
{
    return t->n_head > 0 ? place_of(t->head, column) : -1;
}

table_event cpubind_priv_table_next(table *t)
{
    table_event event = (table_event)TABLE_PASS;
    while (event == (table_event)TABLE_PASS && t->of.status == CPUBIND_TEXT_OK) {
        if (!next_line(t)) {
            if (t->at_head > 0)
                return cpubind_priv_table_fail(t, CPUBIND_TEXT_ERR_CUT, t->of.len,
                                               "a device ends before its second line");
            event = t->is_open ? TABLE_RECORD : TABLE_END;
            t->is_open = 0;
            return event;
        }
        if (t->is_cut)
            return cpubind_priv_table_fail(t, CPUBIND_TEXT_ERR_CUT, t->of.len,
                                           "the text does not end in a line feed: it was cut");
        if (table_is_empty(t->line))
            t->is_header_open &= t->kind == TABLE_INFO;
        else
            event = t->kind == TABLE_INFO   ? read_bars(t)
                    : t->kind == TABLE_MAP  ? read_map_line(t)
                    : t->kind == TABLE_TOPO ? read_topo_line(t)
                                            : read_pair(t);
    }
    return t->of.status == CPUBIND_TEXT_OK ? event : TABLE_END;
}

/*   pci    = domain ":" bus ":" device "." function / "NA"     hexadecimal, either case */
cpubind_pci_address cpubind_priv_table_pci(cursor cell)
{
    cursor bus = cell;
    if (cursor_is(cell, "NA"))
        return (cpubind_pci_address){-1, -1, -1, -1};
    (void)cursor_cut(&bus, ':');
    if (cursor_cut(&bus, ':').end == cell.end)
        (void)cursor_bad(&cell, "a cell is no PCI address and not NA");
    return cpubind_priv_cursor_pci(cell);
}
