/* lscpu.c - readers of the output of `lscpu -e=CPU,NODE` and of `lscpu` (util-linux)
 * SPDX-License-Identifier: MIT
 *
 * Bytes to arrays. Pure: no I/O, no malloc, no errno, no locale. It must not run lscpu, and
 * must not guess a node that the table does not have: "-" is -1. The grammar is in lscpu.h.
 */
#include "lscpu.h"

#include "scan.h"

/*   row     = number blanks ( number / "-" ) LF */
static cpubind_text_status read_row(const scan_text *in, const scan_line *line, int32_t *cpu,
                                    int32_t *node)
{
    const scan_run first = scan_word(in, line->run.at, line->run.end);
    const scan_run second = scan_word(in, first.end, line->run.end);
    cpubind_text_status status = scan_whole_number(in, first, CPUBIND_MAX_CPUS - 1, cpu);

    if (status != CPUBIND_TEXT_OK)
        return status;
    if (scan_is_empty(second))
        return scan_fail(in, line->ended ? CPUBIND_TEXT_ERR_SYNTAX : CPUBIND_TEXT_ERR_CUT,
                         line->run.end, "the row ends before its node");
    if (second.end != line->run.end)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX,
                         scan_word(in, second.end, line->run.end).at,
                         "a row has more than two cells");
    *node = -1;
    if (SCAN_IS(in, second, "-"))
        return CPUBIND_TEXT_OK;
    return scan_whole_number(in, second, CPUBIND_MAX_CPUS - 1, node);
}

/* Reads a line "CPU NODE". */
static int is_header(const scan_text *in, const scan_line *line)
{
    const scan_run first = scan_word(in, line->run.at, line->run.end);
    const scan_run second = scan_word(in, first.end, line->run.end);

    return SCAN_IS(in, first, "CPU") && SCAN_IS(in, second, "NODE") &&
           second.end == line->run.end;
}

/*   table   = "CPU" blanks "NODE" LF *row     blanks around cells, the last LF may be missing
 * With both arrays NULL the rows are only counted. */
static cpubind_text_status read_table(const scan_text *in, int32_t *out_cpu, int32_t *out_node,
                                      int32_t *out_n)
{
    scan_line line = {{0, 0}, 0, 0};
    int32_t n = 0, last = -1, cpu = 0, node = 0;

    if (!scan_next_line(in, &line) || !is_header(in, &line))
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, 0, "there is no header \"CPU NODE\"");
    while (scan_next_line(in, &line)) {
        const cpubind_text_status status = read_row(in, &line, &cpu, &node);

        if (status != CPUBIND_TEXT_OK)
            return status;
        if (cpu <= last)
            return scan_fail(in, CPUBIND_TEXT_ERR_ORDER, line.run.at, "the CPUs do not ascend");
        if (out_cpu && out_node) {
            out_cpu[n] = cpu;
            out_node[n] = node;
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
    status = read_table(&in, NULL, NULL, &n);
    if (status != CPUBIND_TEXT_OK)
        return status;
    out->n = n;
    if (n > out->cap)
        return scan_fail_space(&in);
    return read_table(&in, out->cpu, out->node, &n);
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
