/* npusmi_info.c - `npu-smi info`: the device table and the process table
 * SPDX-License-Identifier: MIT
 *
 * Pure. Rows are split at their bars, cells at their words, never at a column of the text. It
 * must not give a row to a table before the header of the table. The grammar is above the
 * function that reads a line; it comes from the outputs of npu-smi 21 to 26.
 */
#include "npusmi_scan.h"

/* The table of the last header. */
typedef enum section { SECTION_NONE, SECTION_DEVICE, SECTION_PROCESS } section;

/* The kind of the last line read: it tells a whole output from one that was cut. */
typedef enum last_line { LAST_OTHER, LAST_ROW, LAST_DASHES } last_line;

/* The meaning of the second number of a device, if a header names it. */
typedef enum second_id { SECOND_UNKNOWN, SECOND_ABSENT, SECOND_LOGIC, SECOND_PHY } second_id;

enum {
    NARROW_CELLS = 3,    /* a device row: NPU Name | Health | values */
    WIDE_CELLS = 4,      /* of a 950: NPU ID | Name | Health | values */
    PROCESS_CELLS = 4,   /* ids | pid | name | memory */
    CONTAINER_CELLS = 5, /* 26.x has one more: the pid in the container */
    ROW_CELLS = 5        /* bars that are held; a name with bars makes more */
};

/* A line between bars. */
typedef struct bar_row {
    const scan_line *line;
    int32_t n; /* cells; there may be more than are held */
    scan_run cell[ROW_CELLS];
    int32_t last_bar; /* its offset */
} bar_row;

/* The state of one reading. */
typedef struct info_reader {
    cpubind_npusmi_device *device; /* NULL: check and count */
    cpubind_npusmi_process *process;
    int32_t n_device;
    int32_t n_process;
    section section;
    second_id second;
    int32_t header_lines;  /* of the device table: 0, 1 or 2 */
    int32_t device_cells;  /* 0 until a header or a row tells */
    int32_t process_cells; /* of the process table's header */
    int32_t n_id;          /* ids of a process row: 1 or 2; 0 when the header does not tell */
    int32_t n_process_row; /* rows and messages after the process table's header */
    int32_t has_rules;     /* 1: the process table has rules */
    last_line last;
    int32_t is_half; /* 1: `half` has its first line and not its second */
    cpubind_npusmi_device half;
    cpubind_slice version;
    cpubind_slice unknown;
    device_keys keys;
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
            row->cell[row->n].at = at;
            row->cell[row->n].end = (int32_t)(bar - in->text);
        }
        row->n++;
        row->last_bar = (int32_t)(bar - in->text);
        at = row->last_bar + 1;
    }
    if (row->n == 0)
        return fail_short(in, line, "the row ends before its last bar");
    for (int32_t i = 0; i < row->n && i < ROW_CELLS; i++)
        row->cell[i] = scan_trim(in, row->cell[i]);
    return CPUBIND_TEXT_OK;
}

/* The cell that ends at the bar `end`, and does not start before `from`. */
static scan_run cell_before(const scan_text *in, int32_t from, int32_t end)
{
    scan_run cell = {end, end};

    while (cell.at > from && in->text[cell.at - 1] != '|')
        cell.at--;
    return cell;
}

/* -- the device table -- */

/*   device1 = "|" card [ name ] "|" [ health ] "|" values "|"
 *   device1 = "|" card "|" [ name ] "|" [ health ] "|" values "|"  wide
 *   health  = a word that starts with no digit */
static cpubind_text_status read_device_start(const scan_text *in, const bar_row *row,
                                             info_reader *info)
{
    const int32_t wide = row->n == WIDE_CELLS;
    const scan_run health = row->cell[wide ? 2 : 1];
    scan_run card = row->cell[0], name = row->cell[1];
    cpubind_npusmi_device *half = &info->half;
    cpubind_text_status status;

    if (!wide) {
        card = scan_word(in, card.at, card.end);
        name = scan_word(in, card.end, row->cell[0].end);
        name.end = row->cell[0].end;
    } else if (is_all_digits(in, name)) {
        return fail_cell(in, card, "a row of a process comes before its header");
    }
    status = scan_whole_number(in, card, INT32_MAX, &half->card);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (scan_starts_with_digit(in, health))
        return fail_cell(in, health, "a cell is no health of a device");
    if (scan_is_empty(row->cell[row->n - 1]))
        return fail_cell(in, row->cell[row->n - 1], "the values of a device are missing");
    half->name = scan_slice(name);
    half->health = scan_slice(health);
    info->is_half = 1;
    return CPUBIND_TEXT_OK;
}

/*   ids = chip [ blanks second ]       the second when the header has a word for it */
static cpubind_text_status read_device_ids(const scan_text *in, scan_run cell,
                                           info_reader *info)
{
    const scan_run chip = scan_word(in, cell.at, cell.end);
    scan_run second = scan_word(in, chip.end, cell.end);
    int32_t id = -1;
    cpubind_text_status status = scan_whole_number(in, chip, INT32_MAX, &info->half.chip);

    second.end = cell.end;
    if (status == CPUBIND_TEXT_OK && !scan_is_empty(second))
        status = scan_whole_number(in, second, INT32_MAX, &id);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (info->second != SECOND_UNKNOWN &&
        scan_is_empty(second) != (info->second == SECOND_ABSENT))
        return fail_cell(in, second, "a device has not the ids that the header names");
    info->half.phy = info->second == SECOND_PHY ? id : -1;
    info->half.logic = info->second == SECOND_LOGIC ? id : -1;
    return CPUBIND_TEXT_OK;
}

/*   device2 = "|" ids "|" pci "|" values "|"
 *   device2 = "|" "|" "|" pci "|" values "|"                       wide
 * A second line without a first one is checked and left out: its card is not printed. */
static cpubind_text_status read_device_end(const scan_text *in, const bar_row *row,
                                           info_reader *info)
{
    const int32_t wide = row->n == WIDE_CELLS;
    cpubind_text_status status = CPUBIND_TEXT_OK;

    if (!wide) {
        status = read_device_ids(in, row->cell[0], info);
    } else {
        if (!scan_is_empty(row->cell[0]) || !scan_is_empty(row->cell[1]))
            return fail_cell(in, row->cell[0], "a device ends before its second line");
        info->half.chip = info->half.logic = info->half.phy = -1;
    }
    if (status == CPUBIND_TEXT_OK)
        status = read_pci(in, row->cell[wide ? 2 : 1], &info->half.pci);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (scan_is_empty(row->cell[row->n - 1]))
        return fail_cell(in, row->cell[row->n - 1], "the values of a device are missing");
    if (!info->is_half)
        return CPUBIND_TEXT_OK;
    if (info->device)
        info->device[info->n_device] = info->half;
    else
        status =
            note_device(in, &info->keys, row->cell[0].at, info->half.card, info->half.chip);
    info->n_device++;
    info->is_half = 0;
    return status;
}

/* Handles the second line of a device where a first one was expected. npu-smi prints no first
 * line of a chip whose health it does not know. After half a header the line is an error: the
 * presumed header may be a first line whose card is no number. */
static int is_lone_end(const scan_text *in, const bar_row *row, const info_reader *info)
{
    const scan_text quiet = {in->text, in->len, NULL};
    const int32_t wide = row->n == WIDE_CELLS;
    cpubind_pci_address pci;

    if (info->section == SECTION_PROCESS || row->n != info->device_cells || info->is_half ||
        info->header_lines == 1 ||
        read_pci(&quiet, row->cell[wide ? 2 : 1], &pci) != CPUBIND_TEXT_OK)
        return 0;
    return wide ? scan_is_empty(row->cell[0]) && scan_is_empty(row->cell[1]) : pci.domain >= 0;
}

static cpubind_text_status read_device(const scan_text *in, const bar_row *row,
                                       info_reader *info)
{
    if (info->device_cells == 0 && (row->n == NARROW_CELLS || row->n == WIDE_CELLS))
        info->device_cells = row->n;
    if (row->n < info->device_cells)
        return fail_short(in, row->line, "a device has fewer cells than its table");
    if (row->n != info->device_cells)
        return fail_cell(in, row->cell[0], "a device has not as many cells as its table");
    if (info->is_half || is_lone_end(in, row, info))
        return read_device_end(in, row, info);
    return read_device_start(in, row, info);
}

/* Reads a line of the device table's header, for the words that name the second id. */
static cpubind_text_status read_device_header(const scan_text *in, const bar_row *row,
                                              info_reader *info)
{
    const scan_run first = scan_word(in, row->cell[0].at, row->cell[0].end);
    const scan_run second = scan_word(in, first.end, row->cell[0].end);

    if (info->section == SECTION_PROCESS || info->n_device > 0 || info->header_lines == 2)
        return fail_cell(in, row->cell[0], "a header of devices comes after a row");
    if (info->header_lines > 0 && row->n != info->device_cells)
        return fail_cell(in, row->cell[0], "the two lines of a header differ");
    info->section = SECTION_DEVICE;
    info->device_cells = row->n;
    info->header_lines++;
    if (SCAN_IS(in, first, "Chip")) {
        info->header_lines = 2;
        if (scan_is_empty(second))
            info->second = SECOND_ABSENT;
        else if (STARTS_WITH_LETTERS(in, second, "Phy-ID"))
            info->second = SECOND_PHY;
        else if (SCAN_IS(in, second, "Device"))
            info->second = SECOND_LOGIC;
    }
    return CPUBIND_TEXT_OK;
}

/* -- the process table -- */

/* A header of processes is known by its number of cells, for its words may be translated. */
static cpubind_text_status read_process_header(const scan_text *in, const bar_row *row,
                                               info_reader *info)
{
    const scan_run first = scan_word(in, row->cell[0].at, row->cell[0].end);
    const scan_run second = scan_word(in, first.end, row->cell[0].end);

    if (info->section == SECTION_PROCESS)
        return fail_cell(in, row->cell[0], "the header of processes occurs twice");
    info->section = SECTION_PROCESS;
    info->process_cells = row->n;
    if (SCAN_IS(in, first, "NPU") && SCAN_IS(in, second, "Chip"))
        info->n_id = 2;
    else if (SCAN_IS(in, first, "NPU") && SCAN_IS(in, second, "ID"))
        info->n_id = 1;
    return CPUBIND_TEXT_OK;
}

/*   ids = card blanks chip / card       the card alone on a product without chip ids */
static cpubind_text_status read_process_ids(const scan_text *in, scan_run cell,
                                            const info_reader *info,
                                            cpubind_npusmi_process *process)
{
    const scan_run card = scan_word(in, cell.at, cell.end);
    scan_run chip = scan_word(in, card.end, cell.end);
    cpubind_text_status status = scan_whole_number(in, card, INT32_MAX, &process->card);

    chip.end = cell.end;
    process->chip = -1;
    if (status == CPUBIND_TEXT_OK && !scan_is_empty(chip))
        status = scan_whole_number(in, chip, INT32_MAX, &process->chip);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (info->n_id > 0 && scan_is_empty(chip) != (info->n_id == 1))
        return fail_cell(in, chip, "a process has not the ids that the header names");
    return CPUBIND_TEXT_OK;
}

/*   process = "|" ids "|" pid "|" name "|" memory "|" [ pid-or-NA "|" ]
 *   name    = *64byte                   may be empty and may hold bars: the cells after it are
 *                                       found from the right; no control character */
static cpubind_text_status read_process(const scan_text *in, const bar_row *row,
                                        info_reader *info)
{
    cpubind_npusmi_process process;
    scan_run memory, name;
    int32_t bar = row->last_bar;
    cpubind_text_status status = read_process_ids(in, row->cell[0], info, &process);

    if (status != CPUBIND_TEXT_OK)
        return status;
    if (row->n < info->process_cells)
        return fail_short(in, row->line, "a process has fewer cells than its table");
    status = scan_whole_number(in, row->cell[1], INT32_MAX, &process.pid);
    process.container_pid = -1;
    if (status == CPUBIND_TEXT_OK && info->process_cells == CONTAINER_CELLS) {
        const scan_run cell = cell_before(in, row->cell[2].at, bar);
        const scan_run pid = scan_trim(in, cell);

        if (!is_no_id(in, pid))
            status = scan_whole_number(in, pid, INT32_MAX, &process.container_pid);
        bar = cell.at - 1;
    }
    if (status != CPUBIND_TEXT_OK)
        return status;
    memory = cell_before(in, row->cell[2].at, bar);
    name.at = row->cell[2].at;
    name.end = memory.at - 1;
    memory = scan_trim(in, memory);
    if (!is_all_digits(in, memory) && !is_no_id(in, memory))
        return fail_cell(in, memory, "a memory size is no number");
    name = scan_trim(in, name);
    status = check_name(in, name);
    if (status != CPUBIND_TEXT_OK)
        return status;
    process.name = scan_slice(name);
    info->n_process_row++;
    if (info->process)
        info->process[info->n_process] = process;
    info->n_process++;
    return CPUBIND_TEXT_OK;
}

/* -- both -- */

/* Reads a row of one cell: the title, or a message such as "No running processes found in NPU
 * 0". Only in the process table can such a row end an output; elsewhere it is the cut start of
 * a row. */
static cpubind_text_status read_message(const scan_text *in, const bar_row *row,
                                        info_reader *info)
{
    const scan_run first = scan_word(in, row->cell[0].at, row->cell[0].end);

    if (scan_starts_with_digit(in, first) ||
        (info->section != SECTION_PROCESS && !row->line->ended))
        return fail_short(in, row->line, "the row ends before its last cell");
    info->n_process_row += info->section == SECTION_PROCESS;
    if (info->version.len == 0 && SCAN_IS(in, first, "npu-smi"))
        info->version = scan_slice(scan_word(in, first.end, row->cell[0].end));
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status read_row(const scan_text *in, const bar_row *row, info_reader *info)
{
    const int32_t is_wide_end =
        row->n == WIDE_CELLS && scan_is_empty(row->cell[0]) && scan_is_empty(row->cell[1]);

    if (info->is_half || (is_wide_end && is_lone_end(in, row, info)))
        return read_device(in, row, info);
    if (row->n == 1)
        return read_message(in, row, info);
    if (scan_starts_with_digit(in, row->cell[0]))
        return info->section == SECTION_PROCESS ? read_process(in, row, info)
                                                : read_device(in, row, info);
    if (row->n == NARROW_CELLS || is_wide_end ||
        (row->n == WIDE_CELLS && SCAN_IS(in, row->cell[1], "Name")))
        return read_device_header(in, row, info);
    if (row->n == PROCESS_CELLS || row->n == CONTAINER_CELLS)
        return read_process_header(in, row, info);
    return fail_cell(in, row->cell[0], "a row is of no known kind");
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

    if (info->is_half && !(rule && info->second == SECOND_LOGIC))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, line->run.at,
                         "a device ends before its second line");
    if (in->text[line->run.end - 1] == '|')
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, line->run.at,
                         "a row does not start with a bar");
    if (!rule && text[0] == '+' && !line->ended)
        return fail_short(in, line, "the text ends inside a rule");
    info->is_half = 0;
    info->has_rules |= rule && info->section == SECTION_PROCESS;
    info->last = rule && text[1] == '-' ? LAST_DASHES : LAST_OTHER;
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status read_line(const scan_text *in, const scan_line *line,
                                     info_reader *info)
{
    bar_row row = {line, 0, {{0, 0}}, 0};
    cpubind_text_status status;

    if (scan_is_empty(line->run))
        return CPUBIND_TEXT_OK;
    if (in->text[line->run.at] != '|')
        return read_other(in, line, info);
    status = split_row(in, line, &row);
    if (status == CPUBIND_TEXT_OK)
        status = read_row(in, &row, info);
    info->last = LAST_ROW;
    return status;
}

/* Fails an output that ends where no whole output does. */
static cpubind_text_status check_info_end(const scan_text *in, const info_reader *info)
{
    const int32_t has_processes = info->section == SECTION_PROCESS;

    if (info->is_half)
        return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len,
                         "a device ends before its second line");
    if (info->n_device == 0 && !has_processes)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len,
                         "there is no table of devices or processes");
    if (!has_processes && info->last == LAST_DASHES)
        return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len,
                         "nothing follows the rule between two parts");
    if (has_processes && info->n_process_row == 0 && !info->has_rules)
        return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len,
                         "the text ends after the header of processes");
    if (info->has_rules && info->last == LAST_ROW)
        return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len,
                         "the rule after the last process is missing");
    return CPUBIND_TEXT_OK;
}

/*   info    = *( row / rule / noise )  devices first, then processes; each table may be missing
 *   row     = title / header / device1 / device2 / process / message
 *   title   = "|" "npu-smi" version anything "|"
 *   header  = a row of 3 to 5 cells that starts with no digit: one or two lines of devices, one
 *             of processes
 *   message = a row of one cell that starts with no digit
 *   rule    = "+" ( "-" / "=" ) anything "+"
 *   noise   = another line without a bar at its start: "...", warnings; none between the two
 *             lines of a device
 * Devices without a header are read without their second id, whose meaning is not known. A
 * header of devices after a row is refused. A chip that npu-smi could not query has one of its
 * two lines only: it is left out.
 *
 * WHERE A TEXT WAS CUT
 * Samples may lack rules, and may begin and end at any row. A text was cut when it ends
 *   - inside a row or a rule, or between the two lines of a device;
 *   - after a rule of dashes that no table follows;
 *   - after the header of processes without a rule (with a rule the table is empty);
 *   - after a row of a process table that has rules.
 * A cut cannot be told from a whole text after the last line of a device or the rule below it,
 * after the rule below the processes of a card, and, without rules, after a process. */
static cpubind_text_status read_info(const scan_text *in, info_reader *info)
{
    scan_line line = {{0, 0}, 0, 0};

    info->n_device = info->n_process = 0;
    info->section = SECTION_NONE;
    info->second = SECOND_UNKNOWN;
    info->header_lines = info->device_cells = info->process_cells = info->n_id = 0;
    info->n_process_row = info->has_rules = info->is_half = 0;
    info->last = LAST_OTHER;
    info->version.at = info->version.len = 0;
    info->unknown.at = info->unknown.len = 0;
    info->keys.n = 0;
    while (scan_next_line(in, &line)) {
        const cpubind_text_status status = read_line(in, &line, info);

        if (status != CPUBIND_TEXT_OK)
            return status;
    }
    return check_info_end(in, info);
}

cpubind_text_status cpubind_npusmi_parse_info(const char *text, int32_t len,
                                              cpubind_npusmi_info *info,
                                              cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    info_reader reader;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !info || !scan_is_array(info->device, info->cap_device) ||
        !scan_is_array(info->process, info->cap_process))
        return scan_fail_arg(fault);
    reader.device = NULL;
    reader.process = NULL;
    status = read_info(&in, &reader);
    if (status != CPUBIND_TEXT_OK)
        return cpubind_priv_npusmi_refused_or(&in, status);
    info->n_device = reader.n_device;
    info->n_process = reader.n_process;
    if (reader.n_device > info->cap_device || reader.n_process > info->cap_process)
        return scan_fail_space(&in);
    info->has_process_table = reader.section == SECTION_PROCESS;
    info->version = reader.version;
    info->unknown = reader.unknown;
    reader.device = info->device;
    reader.process = info->process;
    return read_info(&in, &reader);
}
