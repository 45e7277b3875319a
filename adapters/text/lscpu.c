/* lscpu.c - readers of the output of `lscpu -e` and of `lscpu` (util-linux)
 * SPDX-License-Identifier: MIT
 *
 * Bytes to arrays. Pure: no I/O, no malloc, no errno, no locale. It must not run lscpu, and
 * must not guess a node that the table does not have: "-" is -1. The grammar is in lscpu.h.
 */
#include "lscpu.h"

#include "cursor.h"

/* The columns that are read; CPU is the first one of a table. */
enum { CPU, NODE, CORE, SOCKET, N_COLUMN };
static const char *const columns[N_COLUMN] = {"CPU", "NODE", "CORE", "SOCKET"};

/* Finds the columns by the words of the header, its first line; returns their number. */
static int32_t read_header(cursor *c, int32_t place[N_COLUMN])
{
    cursor header, word;
    int32_t n = 0;
    place[CPU] = place[NODE] = place[CORE] = place[SOCKET] = -1;
    if (cursor_line(c, &header))
        for (header = cursor_trim(header); cursor_left(&header); n++) {
            word = cursor_word(&header);
            for (int i = 0; i < N_COLUMN; i++)
                if (cursor_is(word, columns[i]))
                    place[i] = n;
        }
    if (place[CPU] != 0)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_MISSING, 0,
                          "there is no header that begins with CPU");
    return n;
}

/*   row    = number *( blanks cell ) LF      a cell for each word of the header
 *   cell   = number / "-" */
static void read_row(cursor line, int is_cut, const int32_t place[N_COLUMN], int32_t n_column,
                     int32_t cells[N_COLUMN])
{
    for (int i = 0; i < N_COLUMN; i++)
        cells[i] = -1;
    for (int32_t k = 0; k < n_column; k++) {
        const cursor cell = cursor_word(&line);
        if (k > 0 && cell.at == cell.end)
            (void)cursor_fail(&line, is_cut ? CPUBIND_TEXT_ERR_CUT : CPUBIND_TEXT_ERR_SYNTAX,
                              line.end, "the row has fewer cells than the header");
        for (int i = 0; i < N_COLUMN; i++)
            if (k == place[i] && (i == CPU || !cursor_is(cell, "-")))
                cells[i] = (int32_t)cursor_whole(cell, CPUBIND_MAX_CPUS - 1);
    }
    cursor_skip_blanks(&line);
    cursor_end(&line, "the row has more cells than the header");
}

cpubind_text_status cpubind_lscpu_parse_nodes(const char *text, int32_t len,
                                              cpubind_lscpu_nodes *out,
                                              cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault,
                           out && cursor_is_array(out->cpu, out->cap) &&
                               cursor_is_array(out->node, out->cap));
    cursor line;
    int32_t place[N_COLUMN], cells[N_COLUMN], n = 0, last = -1;
    const int32_t n_column = read_header(&c, place);
    for (; cursor_line(&c, &line); n++, last = cells[CPU]) {
        const int is_cut = cursor_is_cut(&c, &line);
        line = cursor_trim(line);
        read_row(line, is_cut, place, n_column, cells);
        if (cells[CPU] <= last)
            (void)cursor_fail(&c, CPUBIND_TEXT_ERR_ORDER, line.at, "the CPUs do not ascend");
        if (n >= out->cap)
            continue;
        out->cpu[n] = cells[CPU];
        out->node[n] = cells[NODE];
        if (out->core)
            out->core[n] = cells[CORE];
        if (out->socket)
            out->socket[n] = cells[SOCKET];
    }
    if (n == 0)
        (void)cursor_fail(&c, CPUBIND_TEXT_ERR_MISSING, of.len, "the table has no row");
    if (!cursor_ok(&c))
        return of.status;
    out->n = n;
    return cursor_room(&c, n, out->cap);
}

/*   summary = *( key ":" blanks value LF )    the key read is "Thread(s) per core"
 * A host with several kinds of cores has one such line for each kind. */
cpubind_text_status cpubind_lscpu_parse_threads(const char *text, int32_t len,
                                                int32_t *out_threads, cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, out_threads != NULL), line;
    int32_t threads = 0;
    while (cursor_bare_line(&c, &line)) {
        if (!cursor_takes(&line, "Thread(s) per core"))
            continue;
        cursor_skip_blanks(&line);
        if (!cursor_takes(&line, ":"))
            continue;
        line = cursor_trim(line);
        const int32_t n = (int32_t)cursor_whole(line, CPUBIND_MAX_CPUS);
        if (n == 0)
            (void)cursor_bad(&line, "a core has no thread");
        if (threads != 0 && n != threads)
            (void)cursor_bad(&line, "the cores differ in their number of threads");
        threads = n;
    }
    if (threads == 0)
        (void)cursor_fail(&c, CPUBIND_TEXT_ERR_MISSING, of.len,
                          "there is no line \"Thread(s) per core\"");
    if (cursor_ok(&c))
        *out_threads = threads;
    return of.status;
}
