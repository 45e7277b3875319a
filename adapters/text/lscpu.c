/* lscpu.c - readers of the output of `lscpu -e` and of `lscpu` (util-linux)
 * SPDX-License-Identifier: MIT
 *
 * Bytes to arrays. Pure: no I/O, no malloc, no errno, no locale. It must not run lscpu, and
 * must not guess a node that the table does not have: "-" is -1. The grammar is in lscpu.h.
 */
#include "lscpu.h"

#include "scan.h"

/* The columns that are read; CPU is the first one of a table. */
typedef enum column { NODE, CORE, SOCKET, N_COLUMN } column;

/* Where the cells of a row are: 0 is that of CPU. */
typedef struct table_header {
    int32_t n_cell;
    int32_t cell[N_COLUMN]; /* the number of the cell of a column; -1: no such column */
} table_header;

/* The column of a word of the header; N_COLUMN for a column that is passed over. */
static column column_of(const scan_text *in, scan_run word)
{
    if (SCAN_IS(in, word, "NODE"))
        return NODE;
    if (SCAN_IS(in, word, "CORE"))
        return CORE;
    return SCAN_IS(in, word, "SOCKET") ? SOCKET : N_COLUMN;
}

/*   header = "CPU" *( blanks name ) LF */
static int read_header(const scan_text *in, scan_run line, table_header *out)
{
    scan_run word = scan_word(in, line.at, line.end);

    *out = (table_header){1, {-1, -1, -1}};
    if (!SCAN_IS(in, word, "CPU"))
        return 0;
    for (; word.end != line.end; out->n_cell++) {
        column c;
        word = scan_word(in, word.end, line.end);
        c = column_of(in, word);
        if (c != N_COLUMN)
            out->cell[c] = out->n_cell;
    }
    return 1;
}

/*   row    = number *( blanks cell ) LF      a cell for each word of the header
 *   cell   = number / "-" */
static cpubind_text_status read_row(const scan_text *in, const table_header *header,
                                    const scan_line *line, int32_t *cpu,
                                    int32_t cells[N_COLUMN])
{
    scan_run cell = scan_word(in, line->run.at, line->run.end);
    cpubind_text_status status = scan_whole_number(in, cell, CPUBIND_MAX_CPUS - 1, cpu);

    for (int i = 0; i < N_COLUMN; i++)
        cells[i] = -1;
    for (int32_t k = 1; status == CPUBIND_TEXT_OK && k < header->n_cell; k++) {
        cell = scan_word(in, cell.end, line->run.end);
        if (scan_is_empty(cell))
            return scan_fail(in, line->ended ? CPUBIND_TEXT_ERR_SYNTAX : CPUBIND_TEXT_ERR_CUT,
                             line->run.end, "the row has fewer cells than the header");
        for (int c = 0; c < N_COLUMN && status == CPUBIND_TEXT_OK; c++)
            if (k == header->cell[c] && !SCAN_IS(in, cell, "-"))
                status = scan_whole_number(in, cell, CPUBIND_MAX_CPUS - 1, &cells[c]);
    }
    if (status == CPUBIND_TEXT_OK && cell.end != line->run.end)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, scan_word(in, cell.end, line->run.end).at,
                         "the row has more cells than the header");
    return status;
}

/* Reads the table into the arrays of *out, or only counts its rows when `out` is NULL. */
static cpubind_text_status read_table(const scan_text *in, const cpubind_lscpu_nodes *out,
                                      int32_t *out_n)
{
    scan_line line = {{0, 0}, 0, 0};
    table_header header;
    int32_t n = 0, last = -1, cpu = 0, cells[N_COLUMN];

    if (!scan_next_line(in, &line) || !read_header(in, line.run, &header))
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, 0,
                         "there is no header that begins with CPU");
    while (scan_next_line(in, &line)) {
        const cpubind_text_status status = read_row(in, &header, &line, &cpu, cells);

        if (status != CPUBIND_TEXT_OK)
            return status;
        if (cpu <= last)
            return scan_fail(in, CPUBIND_TEXT_ERR_ORDER, line.run.at, "the CPUs do not ascend");
        if (out) {
            out->cpu[n] = cpu;
            out->node[n] = cells[NODE];
            if (out->core)
                out->core[n] = cells[CORE];
            if (out->socket)
                out->socket[n] = cells[SOCKET];
        }
        last = cpu;
        n++;
    }
    if (n == 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len, "the table has no row");
    *out_n = n;
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_lscpu_parse_nodes(const char *text, int32_t len,
                                              cpubind_lscpu_nodes *out,
                                              cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_text_status status;
    int32_t n = 0;

    if (!scan_is_text(text, len) || !out || !scan_is_array(out->cpu, out->cap) ||
        !scan_is_array(out->node, out->cap))
        return scan_fail_arg(fault);
    status = read_table(&in, NULL, &n);
    if (status != CPUBIND_TEXT_OK)
        return status;
    out->n = n;
    if (n > out->cap)
        return scan_fail_space(&in);
    return read_table(&in, out, &n);
}

/* Finds the value of a line "Thread(s) per core: value"; returns 0 for another line. */
static int is_threads(const scan_text *in, const scan_line *line, scan_run *value)
{
    static const char key[] = "Thread(s) per core";
    const int32_t key_len = (int32_t)(sizeof key - 1);
    scan_run rest = line->run;

    if (!scan_starts(in, rest, key, key_len))
        return 0;
    rest.at += key_len;
    rest = scan_trim(in, rest);
    if (!SCAN_STARTS(in, rest, ":"))
        return 0;
    rest.at++;
    *value = scan_trim(in, rest);
    return 1;
}

/*   summary = *( key ":" blanks value LF )    the key read is "Thread(s) per core"
 * A host with several kinds of cores has one such line for each kind. */
cpubind_text_status cpubind_lscpu_parse_threads(const char *text, int32_t len,
                                                int32_t *out_threads, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    scan_line line = {{0, 0}, 0, 0};
    scan_run value = {0, 0};
    int32_t threads = 0, other = 0;

    if (!scan_is_text(text, len) || !out_threads)
        return scan_fail_arg(fault);
    while (scan_next_line(&in, &line)) {
        cpubind_text_status status;

        if (!is_threads(&in, &line, &value))
            continue;
        status = scan_whole_number(&in, value, CPUBIND_MAX_CPUS, &other);
        if (status != CPUBIND_TEXT_OK)
            return status;
        if (other == 0)
            return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, value.at, "a core has no thread");
        if (threads != 0 && other != threads)
            return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, value.at,
                             "the cores differ in their number of threads");
        threads = other;
    }
    if (threads == 0)
        return scan_fail(&in, CPUBIND_TEXT_ERR_MISSING, len,
                         "there is no line \"Thread(s) per core\"");
    *out_threads = threads;
    return CPUBIND_TEXT_OK;
}
