/* npusmi_topo.c - `npu-smi info -t topo`: the CPUs near each NPU
 * SPDX-License-Identifier: MIT
 *
 * Pure. Links between devices are checked and not kept; columns and rows of other kinds are
 * passed over. The reader must not take a list that was cut for a whole one, nor another column
 * for CPU Affinity. The grammar is above the function that reads the lines.
 */
#include "npusmi_scan.h"

enum { LABEL_NIC = -1 }; /* a third label, after CPUBIND_NPUSMI_LABEL_CARD and _PHY */

enum {
    LINKS,    /* a column of links, with a label for its name */
    AFFINITY, /* CPU Affinity */
    OTHER,    /* a column that is not known */
    SEEN      /* LINKS, and the row of its label was read */
};

/* A row of an NPU. */
typedef struct topo_row {
    int32_t id;
    int32_t list;  /* where its list of CPUs starts */
    int32_t count; /* numbers of the list; 0: there is none */
} topo_row;

enum {
    HELD = 64,  /* rows that one reading holds: more are read again */
    RANGES = 16 /* of a list of CPUs */
};

/* The state of one reading. The columns take 20 KiB of stack, of which a thread may have 64. */
typedef struct topo_reader {
    int32_t start; /* of the line */
    int32_t n_row;
    int32_t n_cpu;
    int32_t n_column; /* 0 until the header was read */
    int32_t n_npu;    /* labels that are not NIC */
    int32_t n_other;
    int32_t hint;     /* index of the label that the next row is expected to have */
    int32_t affinity; /* index of the column CPU Affinity, or -1 */
    int32_t has_more; /* 1: CPU Affinity is followed by words that may be further columns */
    int32_t n_more;   /* cells of a row in these columns; -1 until the first row tells */
    int32_t is_past;  /* 1: every label has its row, and something else follows */
    int32_t kind;     /* of the NPU labels */
    scan_run header;
    scan_run near; /* a name that may be another one of CPU Affinity; empty: there is none */
    cpubind_piece unknown;
    int32_t label[CPUBIND_MAX_DEVICES];       /* the id; ~id for a NIC */
    uint8_t column_kind[CPUBIND_MAX_DEVICES]; /* LINKS, AFFINITY, OTHER, SEEN */
    int32_t first;                            /* of the rows that are held */
    topo_row row[HELD];
} topo_reader;

/* Whether a column has a label for its name. */
static int has_label(const topo_reader *topo, int32_t column)
{
    return topo->column_kind[column] == LINKS || topo->column_kind[column] == SEEN;
}

/*   label  = ( "NPU" / "Phy-ID" / "NIC" ) [ "-" / "_" ] number      letters of either case
 * Returns 0 when the word is no label. */
static int read_label(const scan_text *in, scan_run word, int32_t *kind, int32_t *id)
{
    const scan_text quiet = {in->text, in->len, NULL};
    int32_t value = 0;

    if (scan_is_empty(word) || !scan_is_digit(in->text[word.end - 1]))
        return 0;
    if (starts_with_name(in, word, "NPU-", &word.at))
        *kind = CPUBIND_NPUSMI_LABEL_CARD;
    else if (starts_with_name(in, word, "Phy-ID-", &word.at))
        *kind = CPUBIND_NPUSMI_LABEL_PHY;
    else if (starts_with_name(in, word, "NIC-", &word.at))
        *kind = LABEL_NIC;
    else
        return 0;
    if (scan_whole_number(&quiet, word, INT32_MAX, &value) != CPUBIND_TEXT_OK)
        return 0;
    *id = *kind == LABEL_NIC ? ~value : value;
    return 1;
}

/* Whether a word is built as a label: "UB0", "RNIC3". */
static int is_like_label(const scan_text *in, scan_run word)
{
    return word.end - word.at > 2 && scan_is_letter(in->text[word.at]) &&
           scan_is_letter(in->text[word.at + 1]) && scan_is_digit(in->text[word.end - 1]);
}

/* Whether the words at `at` are "CPU Affinity"; *stop is where they end. */
static int is_affinity(const scan_text *in, int32_t at, int32_t end, int32_t *stop)
{
    const scan_run run = {scan_skip_blanks(in, at, end), end};

    return starts_with_name(in, run, "CPU Affinity", stop) &&
           (*stop == end || scan_is_blank(in->text[*stop]));
}

/* Every label has a digit; most lines of a legend have none. */
static int holds_digit(const scan_text *in, int32_t at, int32_t end)
{
    while (at < end && !scan_is_digit(in->text[at]))
        at++;
    return at < end;
}

/* Whether a line is a header. A row starts with a label, too: then the second word tells. */
static int is_topo_header(const scan_text *in, scan_run run, scan_run first, scan_run second,
                          int is_label, const topo_reader *topo)
{
    int32_t kind = 0, id = 0;

    if (is_label) {
        if (topo->n_column > 0)
            return read_label(in, second, &kind, &id) ||
                   is_affinity(in, second.at, run.end, &id);
        return scan_is_empty(second) || is_like_label(in, second) ||
               read_label(in, second, &kind, &id) || is_affinity(in, second.at, run.end, &id) ||
               SCAN_IS(in, second, "NUMA");
    }
    if (!holds_digit(in, second.at, run.end) ||
        (!is_like_label(in, first) && !is_affinity(in, run.at, run.end, &id) &&
         scan_cell(in, run.at, run.end).end == run.end))
        return 0;
    for (scan_run word = second; !scan_is_empty(word); word = scan_word(in, word.end, run.end))
        if (read_label(in, word, &kind, &id) && kind != LABEL_NIC)
            return 1;
    return 0;
}

/* The index of a label in the header, searched from the hint on; -1 when it is not there. */
static int32_t find_label(const topo_reader *topo, int32_t id)
{
    for (int32_t i = topo->hint; i < topo->n_column; i++)
        if (topo->label[i] == id && has_label(topo, i))
            return i;
    for (int32_t i = 0; i < topo->hint; i++)
        if (topo->label[i] == id && has_label(topo, i))
            return i;
    return -1;
}

static cpubind_text_status add_column(const scan_text *in, topo_reader *topo, scan_run name,
                                      int32_t column_kind, int32_t id)
{
    if (topo->n_column == CPUBIND_MAX_DEVICES)
        return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, name.at, "there are too many labels");
    if (column_kind == OTHER) {
        topo->n_other++;
        note_unknown(&topo->unknown, name);
    }
    if (column_kind == AFFINITY) {
        if (topo->affinity >= 0)
            return fail_at(in, name, "the header has CPU Affinity twice");
        topo->affinity = topo->n_column;
    }
    topo->column_kind[topo->n_column] = (uint8_t)column_kind;
    topo->label[topo->n_column++] = id;
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status add_label(const scan_text *in, topo_reader *topo, scan_run word,
                                     int32_t kind, int32_t id)
{
    if (find_label(topo, id) >= 0)
        return fail_at(in, word, "the header has a label twice");
    if (kind != LABEL_NIC) {
        if (topo->n_npu > 0 && kind != topo->kind)
            return fail_at(in, word, "the header mixes NPU and Phy-ID labels");
        topo->kind = kind;
        topo->n_npu++;
    }
    return add_column(in, topo, word, LINKS, id);
}

/* Whether a name or a line tells of affinities. */
static int holds_affinity(const scan_text *in, scan_run run)
{
    return holds_letters(in, run, "Affin") || holds_letters(in, run, "ffinity");
}

/* Fails a name that is not known and holds a label: its column may be that of the label. */
static cpubind_text_status check_name_of_column(const scan_text *in, scan_run name)
{
    int32_t kind = 0, id = 0;

    for (scan_run word = scan_word(in, name.at, name.end); !scan_is_empty(word);
         word = scan_word(in, word.end, name.end))
        if (read_label(in, word, &kind, &id))
            return fail_at(in, word, "a label is in the name of another column");
    return CPUBIND_TEXT_OK;
}

/* Reads a cell of the header: labels and "CPU Affinity", one blank apart; or the name of a
 * column that is not known. Words after "CPU Affinity" in the same cell may be more columns. */
static cpubind_text_status read_header_cell(const scan_text *in, topo_reader *topo,
                                            scan_run cell)
{
    cpubind_text_status status = CPUBIND_TEXT_OK;

    while (status == CPUBIND_TEXT_OK && cell.at < cell.end) {
        const scan_run word = scan_word(in, cell.at, cell.end);
        int32_t kind = 0, id = 0, stop = word.end;

        if (read_label(in, word, &kind, &id)) {
            status = add_label(in, topo, word, kind, id);
        } else if (is_affinity(in, cell.at, cell.end, &stop)) {
            status = add_column(in, topo, word, AFFINITY, 0);
            cell.at = scan_skip_blanks(in, stop, cell.end);
            if (cell.at == cell.end ||
                read_label(in, scan_word(in, cell.at, cell.end), &kind, &id))
                continue;
            topo->has_more = 1;
            note_unknown(&topo->unknown, cell);
            if (status == CPUBIND_TEXT_OK)
                status = check_name_of_column(in, cell);
            stop = cell.end;
        } else {
            const scan_run name = {word.at, is_like_label(in, word) ? word.end : cell.end};

            stop = name.end;
            status = check_name_of_column(in, name);
            if (status == CPUBIND_TEXT_OK)
                status = add_column(in, topo, name, OTHER, 0);
            if (!is_like_label(in, word) &&
                (holds_affinity(in, name) || holds_letters(in, name, "CPU")))
                topo->near = name;
        }
        cell.at = scan_skip_blanks(in, stop, cell.end);
    }
    return status;
}

static int has_all_rows(const topo_reader *topo)
{
    return topo->n_npu > 0 && topo->n_row == topo->n_npu;
}

/* A header after the whole matrix is that of another table, unless it says "Affinity", too. */
static cpubind_text_status read_topo_header(const scan_text *in, const scan_line *line,
                                            topo_reader *topo)
{
    scan_run cell = scan_cell(in, line->run.at, line->run.end);
    cpubind_text_status status = CPUBIND_TEXT_OK;
    int32_t kind = 0, id = 0;

    if (topo->n_column > 0) {
        if (!has_all_rows(topo) || holds_affinity(in, line->run))
            return fail_at(in, line->run, "the header occurs twice");
        topo->is_past = 1;
        note_unknown(&topo->unknown, line->run);
        return CPUBIND_TEXT_OK;
    }
    topo->header = line->run;
    /* A title above the labels of the rows is no column. */
    if (line->run.at == topo->start && !is_like_label(in, scan_word(in, cell.at, cell.end)) &&
        !is_affinity(in, cell.at, cell.end, &id) &&
        !read_label(in, scan_word(in, cell.at, cell.end), &kind, &id)) {
        note_unknown(&topo->unknown, cell);
        cell = scan_cell(in, cell.end, line->run.end);
    }
    for (; status == CPUBIND_TEXT_OK && !scan_is_empty(cell);
         cell = scan_cell(in, cell.end, line->run.end))
        status = read_header_cell(in, topo, cell);
    if (status == CPUBIND_TEXT_OK && topo->affinity < 0 && !scan_is_empty(topo->near))
        status = fail_at(in, topo->near,
                         "a column may be that of the CPU affinity under another name");
    return status;
}

/* Whether an earlier line ends in the same list. */
static int is_list_above(const scan_text *in, const scan_line *line, scan_run list)
{
    const int32_t len = list.end - list.at;
    scan_line above = {{0, 0}, 0, 0};

    while (scan_next_line(in, &above) && above.run.at < line->run.at) {
        const scan_run tail = {above.run.end - len, above.run.end};

        if (tail.at > above.run.at && scan_is_blank(in->text[tail.at - 1]) &&
            scan_starts(in, tail, in->text + list.at, len))
            return 1;
    }
    return 0;
}

/* Reads the CPU Affinity cell; it is empty for a node without CPUs. A list at the end of the
 * text may be cut: "0-2" of "0-23". It is whole when another NPU has the same list, since lists
 * of two nodes share no CPU. */
static cpubind_text_status read_affinity(const scan_text *in, const scan_line *line,
                                         scan_run word, topo_row *row)
{
    scan_run held[RANGES];
    scan_list list = {.range = held, .cap = RANGES};
    cpubind_text_status status;

    if (scan_is_empty(word))
        return line->ended ? CPUBIND_TEXT_OK
                           : fail_short(in, line, "the row ends before its CPU affinity");
    if (is_no_id(in, word))
        return CPUBIND_TEXT_OK;
    status = cpubind_priv_read_list(in, word, CPUBIND_MAX_CPUS, &list);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (list.stop != word.end)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, list.stop,
                         "a byte does not belong to a list of CPUs");
    if (word.end == in->len && !is_list_above(in, line, word))
        return fail_short(in, line, "the text ends with a list that may go on");
    row->list = word.at;
    row->count = list.n;
    return CPUBIND_TEXT_OK;
}

/* How the cells of a row are parted, so that there are as many as columns: as words; else, with
 * a column that is not known, by two blanks. The last column may be empty when it is that of
 * the affinity and all columns are known. NULL: in no way. */
static next_fn *find_split(const scan_text *in, const scan_line *line, topo_reader *topo,
                           int32_t at)
{
    const int32_t n_word = count_runs(in, at, line->run.end, scan_word);
    const int32_t more = n_word - topo->n_column;

    if (topo->has_more) {
        if (more < 0 || (topo->n_more >= 0 && more != topo->n_more))
            return NULL;
        topo->n_more = more;
        return scan_word;
    }
    if (more == 0)
        return scan_word;
    if (topo->n_other > 0)
        return count_runs(in, at, line->run.end, scan_cell) == topo->n_column ? scan_cell
                                                                              : NULL;
    return more == -1 && topo->affinity == topo->n_column - 1 ? scan_word : NULL;
}

/* Whether a cell is no link: a number or a list. The words of links differ between products. */
static int is_no_link(const scan_text *in, scan_run cell)
{
    if (!scan_starts_with_digit(in, cell))
        return 0;
    for (; cell.at < cell.end; cell.at++)
        if (scan_is_letter(in->text[cell.at]))
            return 0;
    return 1;
}

/* Fails a row whose cells are not as many as the columns. */
static cpubind_text_status fail_cells(const scan_text *in, const scan_line *line,
                                      const topo_reader *topo, int32_t at)
{
    const int32_t n_word = count_runs(in, at, line->run.end, scan_word);
    scan_run word = {at, at};

    if (n_word < topo->n_column)
        return fail_short(in, line, "the row has fewer cells than the header");
    for (int32_t i = 0; i < topo->n_column; i++) {
        word = scan_word(in, word.end, line->run.end);
        if (has_label(topo, i) && is_no_link(in, word))
            return fail_at(in, word, "there is a number in the place of a link");
    }
    if (n_word > topo->n_column)
        word = scan_word(in, word.end, line->run.end);
    return fail_at(in, word, "the row has more cells than the header");
}

/* Whether a cell may be a list of CPUs: "0-23", "0,4". */
static int is_like_list(const scan_text *in, scan_run cell)
{
    int32_t at = cell.at;

    while (at < cell.end && scan_is_digit(in->text[at]))
        at++;
    return at > cell.at && at < cell.end && (in->text[at] == '-' || in->text[at] == ',');
}

/* Reads the cells of a row, which `next` parts, in the order of the columns. The first cell
 * comes after *last, which becomes the last one. */
static cpubind_text_status read_columns(const scan_text *in, const scan_line *line,
                                        const topo_reader *topo, next_fn *next, scan_run *last,
                                        topo_row *row)
{
    cpubind_text_status status = CPUBIND_TEXT_OK;

    row->list = row->count = 0;
    for (int32_t i = 0; status == CPUBIND_TEXT_OK && i < topo->n_column; i++) {
        const scan_run cell = next == scan_word ? scan_word(in, last->end, line->run.end)
                                                : next(in, last->end, line->run.end);

        *last = cell;
        if (topo->column_kind[i] == AFFINITY)
            status = read_affinity(in, line, cell, row);
        else if (has_label(topo, i) && is_no_link(in, cell))
            status = fail_at(in, cell, "there is a number in the place of a link");
        else if (topo->column_kind[i] == OTHER && topo->affinity < 0 && is_like_list(in, cell))
            status = fail_at(in, cell, "there is a list in a column that is not CPU Affinity");
    }
    return status;
}

/* Reads the cells of a row. Where all columns are known, a row with one word for each of them
 * needs no count of its cells before. */
static cpubind_text_status read_topo_cells(const scan_text *in, const scan_line *line,
                                           topo_reader *topo, int32_t at, topo_row *row)
{
    const scan_text quiet = {in->text, in->len, NULL};
    scan_run last = {at, at};
    next_fn *next;

    if (topo->n_other == 0 && !topo->has_more &&
        read_columns(&quiet, line, topo, scan_word, &last, row) == CPUBIND_TEXT_OK &&
        last.end == line->run.end && !scan_is_empty(last))
        return CPUBIND_TEXT_OK;
    next = find_split(in, line, topo, at);
    last.at = last.end = at;
    if (!next)
        return fail_cells(in, line, topo, at);
    return read_columns(in, line, topo, next, &last, row);
}

static cpubind_text_status read_topo_row(const scan_text *in, const scan_line *line,
                                         topo_reader *topo, scan_run first, int32_t id)
{
    const int32_t index = find_label(topo, id);
    topo_row row;
    cpubind_text_status status;

    if (index < 0)
        return fail_at(in, first, "the header does not have the label of this row");
    if (topo->column_kind[index] == SEEN)
        return fail_at(in, first, "a row occurs twice");
    status = read_topo_cells(in, line, topo, first.end, &row);
    if (status != CPUBIND_TEXT_OK)
        return status;
    topo->column_kind[index] = SEEN;
    topo->hint = index + 1 < topo->n_column ? index + 1 : 0;
    if (id < 0)
        return CPUBIND_TEXT_OK; /* a NIC */
    row.id = id;
    if (topo->n_row >= topo->first && topo->n_row < topo->first + HELD)
        topo->row[topo->n_row - topo->first] = row;
    topo->n_row++;
    topo->n_cpu += row.count;
    return CPUBIND_TEXT_OK;
}

/* Whether a line is of the legend, or names a NIC: "NIC0: ens0". */
static int is_legend(const scan_text *in, scan_run run, scan_run second)
{
    return SCAN_IS(in, second, "=") || STARTS_WITH_LETTERS(in, run, "Legend") ||
           SCAN_STARTS(in, run, "NIC") || is_known_message(in, run);
}

/* Takes the remark off the end of a line: "(24 CPUs)", "# shared". */
static void take_remark(const scan_text *in, scan_line *line, topo_reader *topo)
{
    const char *start = in->text + line->run.at;
    const size_t len = (size_t)(line->run.end - line->run.at);
    const char *mark = (const char *)memchr(start, '#', len);
    scan_run remark = {0, line->run.end};

    if (!mark && in->text[line->run.end - 1] == ')')
        mark = (const char *)memchr(start, '(', len);
    if (!mark || mark == start || !scan_is_blank(mark[-1]))
        return;
    remark.at = line->run.end = (int32_t)(mark - in->text);
    line->run = scan_trim(in, line->run);
    note_unknown(&topo->unknown, remark);
}

/* Whether a line that starts with a label is no row: all rows were there, and it says something
 * about a device. */
static int is_note(const scan_text *in, const scan_line *line, const topo_reader *topo)
{
    const scan_run first = scan_word(in, line->run.at, line->run.end);
    const char last = in->text[line->run.end - 1];

    return has_all_rows(topo) && (scan_is_letter(last) || last == '.') &&
           count_runs(in, first.end, line->run.end, scan_word) < topo->n_column;
}

static cpubind_text_status read_topo_line(const scan_text *in, const scan_line *line,
                                          topo_reader *topo)
{
    const scan_run first = scan_word(in, line->run.at, line->run.end);
    const scan_run second = scan_word(in, first.end, line->run.end);
    int32_t kind = 0, id = 0;
    const int is_label = read_label(in, first, &kind, &id);
    scan_line row;

    if (is_topo_header(in, line->run, first, second, is_label, topo))
        return read_topo_header(in, line, topo);
    if (!is_label || topo->is_past || is_note(in, line, topo)) {
        if (is_legend(in, line->run, second))
            return CPUBIND_TEXT_OK;
        topo->is_past |= has_all_rows(topo);
        note_unknown(&topo->unknown, line->run);
        return CPUBIND_TEXT_OK;
    }
    if (topo->n_column == 0)
        return fail_at(in, first, "a row comes before the header");
    if (kind != LABEL_NIC && kind != topo->kind)
        return fail_at(in, first, "the header does not have the label of this row");
    row = *line;
    take_remark(in, &row, topo);
    return read_topo_row(in, &row, topo, first, id);
}

/* Fails when an NPU of the header has no row. A missing row of a NIC loses nothing. */
static cpubind_text_status check_topo_end(const scan_text *in, const topo_reader *topo)
{
    scan_run word = {topo->header.at, topo->header.at};

    if (topo->n_npu == 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len, "there is no header");
    if (topo->n_row == 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len, "the table has no row");
    /* Every label is a word of the header. */
    while (!has_all_rows(topo)) {
        int32_t kind = 0, id = 0;

        word = scan_word(in, word.end, topo->header.end);
        if (read_label(in, word, &kind, &id) && id >= 0 && find_label(topo, id) >= 0 &&
            topo->column_kind[find_label(topo, id)] == LINKS)
            return fail_at(in, word, "a label of the header has no row");
    }
    return CPUBIND_TEXT_OK;
}

/*   topo   = *( header / row / section / other )
 *   header = [ title ] cell *( gap cell )
 *   cell   = 1*( label / "CPU Affinity" )              one blank apart
 *          / "CPU Affinity" more                       more: may be further columns
 *          / name                                      a column that is not known
 *   label  = ( "NPU" / "Phy-ID" / "NIC" ) number       see read_label; each once; NPU and
 *                                     Phy-ID do not mix. "CPU Affinity" may have a hyphen
 *   title  = a name at the start of the line, which is indented otherwise
 *   row    = label cells [ remark ]   a cell per column, in their order: a word; or, in a table
 *                                     with a name, words that are one blank apart
 *            link = no number and no list            in the column of a label
 *            list / "NA" / "N/A" / "-" / nothing     in the column CPU Affinity; nothing if it
 *                                                    is the last column, and all are known
 *   section = after all rows: a header without the word "Affinity" or an unknown line, and all
 *             lines after it
 *   other  = a line that does not start with a label: the legend, "NIC0: name", "UB0 X NA"; a
 *            line with a label after all rows that has fewer words than a row and ends in a
 *            letter or a full stop
 *   remark = blank "#" anything / blank "(" anything ")"        at the end of a row
 *   gap    = 2*blank / TAB
 * Each label has one row, in any order. NIC rows may be missing: a cut there loses nothing.
 * With `more` all rows have as many cells as the first. Without CPU Affinity a name that holds
 * "Affin" or "CPU" and a cell that is a list are refused: the column may have another name. */
static cpubind_text_status read_topo(const scan_text *in, topo_reader *topo)
{
    scan_line line = {{0, 0}, 0, 0};

    topo->n_row = topo->n_cpu = topo->n_column = topo->n_npu = topo->n_other = topo->hint = 0;
    topo->has_more = topo->is_past = topo->kind = 0;
    topo->affinity = topo->n_more = -1;
    topo->unknown.at = topo->unknown.len = 0;
    topo->header.at = topo->header.end = topo->near.at = topo->near.end = 0;
    for (topo->start = 0; scan_next_line(in, &line); topo->start = line.next) {
        cpubind_text_status status;

        if (scan_is_empty(line.run))
            continue;
        status = read_topo_line(in, &line, topo);
        if (status != CPUBIND_TEXT_OK)
            return status;
    }
    return check_topo_end(in, topo);
}

/* Writes the rows that are held, after *n_cpu CPUs of those before. */
static void write_rows(const scan_text *in, const topo_reader *topo, cpubind_npusmi_topo *out,
                       int32_t *n_cpu)
{
    for (int32_t i = topo->first; i < topo->n_row && i < topo->first + HELD; i++) {
        const topo_row *row = &topo->row[i - topo->first];
        const cpubind_npusmi_affinity affinity = {row->id, *n_cpu, row->count};
        const scan_run rest = {row->list, in->len};
        scan_run held[RANGES];
        scan_list list = {.range = held, .cap = RANGES};

        out->row[i] = affinity;
        if (row->count == 0)
            continue;
        (void)cpubind_priv_read_list(in, rest, CPUBIND_MAX_CPUS, &list);
        cpubind_priv_write_list(in, &list, out->cpu + *n_cpu);
        *n_cpu += row->count;
    }
}

cpubind_text_status cpubind_npusmi_parse_topo(const char *text, int32_t len,
                                              cpubind_npusmi_topo *topo,
                                              cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    topo_reader reader;
    cpubind_text_status status;
    int32_t n_cpu = 0;

    if (!scan_is_text(text, len) || !topo || !scan_is_array(topo->row, topo->cap_row) ||
        !scan_is_array(topo->cpu, topo->cap_cpu))
        return scan_fail_arg(fault);
    reader.first = 0;
    status = read_topo(&in, &reader);
    if (status != CPUBIND_TEXT_OK)
        return cpubind_priv_npusmi_refused_or(&in, status);
    topo->n_row = reader.n_row;
    topo->n_cpu = reader.n_cpu;
    if (reader.n_row > topo->cap_row || reader.n_cpu > topo->cap_cpu)
        return scan_fail_space(&in);
    topo->label = (cpubind_npusmi_label)reader.kind;
    topo->has_affinity = reader.affinity >= 0;
    topo->unknown = reader.unknown;
    for (;;) {
        write_rows(&in, &reader, topo, &n_cpu);
        reader.first += HELD;
        if (reader.first >= topo->n_row)
            return CPUBIND_TEXT_OK;
        (void)read_topo(&in, &reader); /* it was read to its end before */
    }
}
