/* npusmi_topo.c - `npu-smi info -t topo`: the CPUs near each NPU
 * SPDX-License-Identifier: MIT
 *
 * Pure. Links between devices are checked and not kept. It must not take a list that was cut
 * for a whole one. The grammar is above the function that reads the lines.
 */
#include "npusmi_scan.h"

enum { LABEL_NIC = -1 }; /* a third label, after CPUBIND_NPUSMI_LABEL_CARD and _PHY */

/* The state of one reading. Labels and marks take 20 KiB of stack. */
typedef struct topo_reader {
    cpubind_npusmi_affinity *row; /* NULL: check and count */
    int32_t *cpu;
    int32_t n_row;
    int32_t n_cpu;
    int32_t n_label; /* 0 until the header was read */
    int32_t n_npu;   /* labels that are not NIC */
    int32_t hint;    /* index of the label that the next row is expected to have */
    int32_t has_affinity;
    int32_t kind; /* of the NPU labels */
    cpubind_slice unknown;
    scan_run header;
    int32_t label[CPUBIND_MAX_DEVICES]; /* the id; ~id for a NIC */
    uint8_t seen[CPUBIND_MAX_DEVICES];  /* 1: its row was read */
} topo_reader;

/*   label  = ( "NPU" / "Phy-ID" / "NIC" ) number
 * Returns 0 when the word is no label. */
static int read_label(const scan_text *in, scan_run word, int32_t *kind, int32_t *id)
{
    const scan_text quiet = {in->text, in->len, NULL};
    int32_t value = 0;

    if (SCAN_STARTS(in, word, "NPU")) {
        *kind = CPUBIND_NPUSMI_LABEL_CARD;
        word.at += 3;
    } else if (STARTS_WITH_LETTERS(in, word, "Phy-ID")) {
        *kind = CPUBIND_NPUSMI_LABEL_PHY;
        word.at += 6;
    } else if (SCAN_STARTS(in, word, "NIC")) {
        *kind = LABEL_NIC;
        word.at += 3;
    } else {
        return 0;
    }
    if (scan_whole_number(&quiet, word, INT32_MAX, &value) != CPUBIND_TEXT_OK)
        return 0;
    *id = *kind == LABEL_NIC ? ~value : value;
    return 1;
}

/* Whether a line is the header. Its first word is a label, as that of a row; the second
 * tells. */
static int is_topo_header(const scan_text *in, scan_run run, scan_run first)
{
    const scan_run second = scan_word(in, first.end, run.end);
    int32_t kind = 0, id = 0;

    return scan_is_empty(second) || SCAN_IS(in, second, "CPU") ||
           read_label(in, second, &kind, &id);
}

/* The index of a label in the header, searched from the hint on; -1 when it is not there. */
static int32_t find_label(const topo_reader *topo, int32_t id)
{
    for (int32_t i = topo->hint; i < topo->n_label; i++)
        if (topo->label[i] == id)
            return i;
    for (int32_t i = 0; i < topo->hint; i++)
        if (topo->label[i] == id)
            return i;
    return -1;
}

static cpubind_text_status add_label(const scan_text *in, topo_reader *topo, scan_run word)
{
    int32_t kind = 0, id = 0;

    if (!read_label(in, word, &kind, &id))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, word.at,
                         "a cell of the header is no label");
    if (topo->n_label == CPUBIND_MAX_DEVICES)
        return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, word.at, "there are too many labels");
    if (find_label(topo, id) >= 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, word.at, "the header has a label twice");
    if (kind != LABEL_NIC) {
        if (topo->n_npu > 0 && kind != topo->kind)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, word.at,
                             "the header mixes NPU and Phy-ID labels");
        topo->kind = kind;
        topo->n_npu++;
    }
    topo->seen[topo->n_label] = 0;
    topo->label[topo->n_label++] = id;
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status read_topo_header(const scan_text *in, const scan_line *line,
                                            topo_reader *topo)
{
    scan_run word = scan_word(in, line->run.at, line->run.end);

    if (topo->n_label > 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, line->run.at, "the header occurs twice");
    topo->header = line->run;
    for (; !scan_is_empty(word); word = scan_word(in, word.end, line->run.end)) {
        cpubind_text_status status;

        if (SCAN_IS(in, word, "CPU")) {
            const scan_run next = scan_word(in, word.end, line->run.end);

            if (!SCAN_IS(in, next, "Affinity") || next.end != line->run.end)
                return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, word.at,
                                 "the header does not end in \"CPU Affinity\"");
            topo->has_affinity = 1;
            break;
        }
        status = add_label(in, topo, word);
        if (status != CPUBIND_TEXT_OK)
            return status;
    }
    return CPUBIND_TEXT_OK;
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

/* Reads the CPU Affinity cell, the last of its row; it is empty for a node without CPUs. A list
 * at the end of the text may be cut: "0-2" of "0-23". It is whole when another NPU has the same
 * list, since lists of two nodes share no CPU. */
static cpubind_text_status read_affinity(const scan_text *in, const scan_line *line,
                                         scan_run word, int32_t *out, int32_t *out_n)
{
    scan_list list;
    cpubind_text_status status;

    *out_n = 0;
    if (scan_is_empty(word))
        return line->ended ? CPUBIND_TEXT_OK
                           : fail_short(in, line, "the row ends before its CPU affinity");
    status = cpubind_priv_read_list(in, word, CPUBIND_MAX_CPUS, &list);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (list.stop != word.end)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, list.stop,
                         "a byte does not belong to a list of CPUs");
    if (word.end == in->len && !is_list_above(in, line, word))
        return fail_short(in, line, "the text ends with a list that may go on");
    if (out)
        cpubind_priv_write_list(in, &list, out);
    *out_n = list.n;
    return CPUBIND_TEXT_OK;
}

/* Reads one link for each label, then the affinity. A link is a word that starts with a letter;
 * its words differ between products. */
static cpubind_text_status read_topo_cells(const scan_text *in, const scan_line *line,
                                           const topo_reader *topo, int32_t at, int32_t *out,
                                           int32_t *out_n)
{
    scan_run word;
    cpubind_text_status status = CPUBIND_TEXT_OK;

    for (int32_t i = 0; i < topo->n_label; i++) {
        word = scan_word(in, at, line->run.end);
        if (scan_is_empty(word))
            return fail_short(in, line, "the row has fewer cells than the header");
        if (scan_starts_with_digit(in, word))
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, word.at,
                             "there is a number in the place of a link");
        at = word.end;
    }
    *out_n = 0;
    word = scan_word(in, at, line->run.end);
    if (topo->has_affinity) {
        status = read_affinity(in, line, word, out, out_n);
        word = scan_word(in, word.end, line->run.end);
    }
    if (status == CPUBIND_TEXT_OK && !scan_is_empty(word))
        status = scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, word.at,
                           "the row has more cells than the header");
    return status;
}

/*   row    = label 1*( blanks link ) [ blanks list ] */
static cpubind_text_status read_topo_row(const scan_text *in, const scan_line *line,
                                         topo_reader *topo, scan_run first, int32_t id)
{
    const int32_t index = find_label(topo, id);
    cpubind_npusmi_affinity row;
    cpubind_text_status status;

    if (index < 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, first.at,
                         "the header does not have the label of this row");
    if (topo->seen[index])
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, first.at, "a row occurs twice");
    row.id = id;
    row.first = topo->n_cpu;
    row.count = 0;
    status = read_topo_cells(in, line, topo, first.end,
                             topo->cpu && id >= 0 ? topo->cpu + topo->n_cpu : NULL, &row.count);
    if (status != CPUBIND_TEXT_OK)
        return status;
    topo->seen[index] = 1;
    topo->hint = index + 1 < topo->n_label ? index + 1 : 0;
    if (id < 0)
        return CPUBIND_TEXT_OK; /* a NIC */
    if (topo->row)
        topo->row[topo->n_row] = row;
    topo->n_row++;
    topo->n_cpu += row.count;
    return CPUBIND_TEXT_OK;
}

/* Reads a line that starts with a label: the header or a row. */
static cpubind_text_status read_topo_line(const scan_text *in, const scan_line *line,
                                          topo_reader *topo, scan_run first, int32_t kind,
                                          int32_t id)
{
    const int32_t is_cut_label = topo->n_label > 0 && first.end == line->run.end;

    if (is_topo_header(in, line->run, first) && !is_cut_label)
        return read_topo_header(in, line, topo);
    if (topo->n_label == 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, first.at,
                         "a row comes before the header");
    if (kind != LABEL_NIC && kind != topo->kind)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, first.at,
                         "the header does not have the label of this row");
    return read_topo_row(in, line, topo, first, id);
}

/* Fails when an NPU of the header has no row. A missing row of a NIC loses nothing. */
static cpubind_text_status check_topo_end(const scan_text *in, const topo_reader *topo)
{
    scan_run word = {topo->header.at, topo->header.at};

    if (topo->n_npu == 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len, "there is no header");
    if (topo->n_row == 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len, "the table has no row");
    for (int32_t i = 0; i < topo->n_label; i++) {
        word = scan_word(in, word.end, topo->header.end);
        if (!topo->seen[i] && topo->label[i] >= 0)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, word.at,
                             "a label of the header has no row");
    }
    return CPUBIND_TEXT_OK;
}

/*   topo   = *noise header *( row / noise )
 *   header = label *( blanks label ) [ blanks "CPU" blanks "Affinity" ]
 *   label  = ( "NPU" / "Phy-ID" / "NIC" ) number
 *   row    = label *( blanks link ) [ blanks list ]    a link per label of the header; the list
 *                                                      if the header says "CPU Affinity"
 *   link   = a word that starts with no digit
 *   noise  = a line that does not start with a label: the legend, "NIC0: name"
 * Each label has one row, in any order. NIC rows may be missing: a cut there loses nothing. */
static cpubind_text_status read_topo(const scan_text *in, topo_reader *topo)
{
    scan_line line = {{0, 0}, 0, 0};

    topo->n_row = topo->n_cpu = topo->n_label = topo->n_npu = topo->hint = 0;
    topo->has_affinity = topo->kind = 0;
    topo->unknown.at = topo->unknown.len = 0;
    topo->header.at = topo->header.end = 0;
    while (scan_next_line(in, &line)) {
        const scan_run first = scan_word(in, line.run.at, line.run.end);
        int32_t kind = 0, id = 0;
        cpubind_text_status status;

        if (!read_label(in, first, &kind, &id))
            continue;
        status = read_topo_line(in, &line, topo, first, kind, id);
        if (status != CPUBIND_TEXT_OK)
            return status;
    }
    return check_topo_end(in, topo);
}

cpubind_text_status cpubind_npusmi_parse_topo(const char *text, int32_t len,
                                              cpubind_npusmi_topo *topo,
                                              cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    topo_reader reader;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !topo || !scan_is_array(topo->row, topo->cap_row) ||
        !scan_is_array(topo->cpu, topo->cap_cpu))
        return scan_fail_arg(fault);
    reader.row = NULL;
    reader.cpu = NULL;
    status = read_topo(&in, &reader);
    if (status != CPUBIND_TEXT_OK)
        return cpubind_priv_npusmi_refused_or(&in, status);
    topo->n_row = reader.n_row;
    topo->n_cpu = reader.n_cpu;
    if (reader.n_row > topo->cap_row || reader.n_cpu > topo->cap_cpu)
        return scan_fail_space(&in);
    topo->label = (cpubind_npusmi_label)reader.kind;
    topo->has_affinity = reader.has_affinity;
    topo->unknown = reader.unknown;
    reader.row = topo->row;
    reader.cpu = topo->cpu;
    return read_topo(&in, &reader);
}
