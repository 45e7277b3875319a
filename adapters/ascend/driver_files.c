/* driver_files.c - readers of the files that the Ascend driver adds to /proc, /sys and /dev
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc, no errno, no locale. The formats are those of the driver's source:
 * trs_proc_fs.c, uda_proc_fs.c, devdrv_sysfs.c and trs_host_hard_mbox.c.
 *
 * GRAMMAR   (a line is taken without the blanks around it: space, TAB, CR)
 *   process    = number "-" [ "-" ] 1*DIGIT "-dev-" number        pid, task, udevid
 *   mailbox    = "trs-mbox-" number "-" *byte                     udevid, task scheduler
 *   dev        = number ":" number [ LF ] *NUL                    major, minor
 *
 *   namespaces = *( table / empty / unknown )           each line ends in LF, the last too
 *   table      = head *empty [ columns *( row / empty / unknown ) ]
 *                                                       as many rows as dev_num says
 *   head       = "ns_id" words LF      with the pairs "dev_num" number and "namespace" word;
 *                                      a word that ends in "(#)" marks the reader's table
 *   functions  = *( arrow / empty / unknown )           each line ends in LF, the last too
 *              / *empty columns *( row / empty / unknown )
 *   arrow      = pci blanks "--->" blanks number LF
 *   pci        = [ domain ":" ] bus ":" device "." function       hexadecimal, either case
 *   columns    = word *( blanks word ) LF    "logic_devid" and "udevid" in a table, "bdf" and
 *                                            "udevid" in functions, once each, any others
 *   row        = word *( blanks word ) LF    as many words as columns; an id is a number
 *   unknown    = a line that is_row does not take for a row; passed over
 *   number     = "0" / ( "1".."9" *DIGIT )
 */
#include "driver_files.h"

#include "../text/scan.h"

/* == Names ================================================================== */

static cpubind_text_status fail_name(const scan_text *in, int32_t at)
{
    return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, at, "the name is another one");
}

/* Steps over a literal, or fails as another name. */
static cpubind_text_status skip_literal(const scan_text *in, int32_t *at, const char *literal)
{
    const int32_t n = (int32_t)strlen(literal);

    if (!scan_starts(in, (scan_run){*at, in->len}, literal, n))
        return fail_name(in, *at);
    *at += n;
    return CPUBIND_TEXT_OK;
}

/* Reads a number of a name; a text that is no number makes it another name. */
static cpubind_text_status name_number(const scan_text *in, int32_t *at, int32_t *out)
{
    const int32_t start = *at;
    const cpubind_text_status status = scan_number(in, at, in->len, INT32_MAX, out);

    return status == CPUBIND_TEXT_ERR_SYNTAX ? fail_name(in, start) : status;
}

cpubind_text_status cpubind_driver_parse_process(const char *text, int32_t len,
                                                 cpubind_driver_process *out,
                                                 cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_driver_process found = {0, 0};
    cpubind_text_status status;
    int32_t at = 0, task;

    if (!scan_is_text(text, len) || !out)
        return scan_fail_arg(fault);
    status = name_number(&in, &at, &found.pid);
    if (status == CPUBIND_TEXT_OK)
        status = skip_literal(&in, &at, "-");
    if (status != CPUBIND_TEXT_OK)
        return status;
    at += at < len && text[at] == '-';
    for (task = at; at < len && cursor_is_digit(text[at]);)
        at++;
    status = at == task ? fail_name(&in, at) : skip_literal(&in, &at, "-dev-");
    if (status == CPUBIND_TEXT_OK)
        status = name_number(&in, &at, &found.udevid);
    if (status == CPUBIND_TEXT_OK && at < len)
        status = fail_name(&in, at);
    if (status == CPUBIND_TEXT_OK)
        *out = found;
    return status;
}

cpubind_text_status cpubind_driver_parse_mailbox(const char *text, int32_t len,
                                                 int32_t *out_udevid, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_text_status status;
    int32_t at = 0, udevid = 0;

    if (!scan_is_text(text, len) || !out_udevid)
        return scan_fail_arg(fault);
    status = skip_literal(&in, &at, "trs-mbox-");
    if (status == CPUBIND_TEXT_OK)
        status = name_number(&in, &at, &udevid);
    if (status == CPUBIND_TEXT_OK)
        status = skip_literal(&in, &at, "-");
    if (status == CPUBIND_TEXT_OK)
        *out_udevid = udevid;
    return status;
}

/* == Small files ============================================================ */

cpubind_text_status cpubind_driver_parse_number(const char *text, int32_t len,
                                                cpubind_driver_number *out,
                                                cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_driver_number found = {0, 0};
    cpubind_text_status status;
    int32_t at = 0;

    if (!scan_is_text(text, len) || !out)
        return scan_fail_arg(fault);
    status = scan_number(&in, &at, len, INT32_MAX, &found.major);
    if (status == CPUBIND_TEXT_OK && (at == len || text[at] != ':'))
        status = scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, at,
                           "a colon is missing after the major number");
    if (status != CPUBIND_TEXT_OK)
        return status;
    at++;
    status = scan_number(&in, &at, len, INT32_MAX, &found.minor);
    if (status == CPUBIND_TEXT_OK)
        status = scan_tail(&in, at);
    if (status == CPUBIND_TEXT_OK)
        *out = found;
    return status;
}

/* == Columns ================================================================ */

enum { N_WANTED = 2 };

/* Which columns of a table are wanted, and where its header has them. */
typedef struct columns {
    const char *name[N_WANTED];
    int32_t index[N_WANTED];
    int32_t n; /* of the table; 0: its header was not read yet */
} columns;

/* The ids that a table has named, one bit each. */
typedef struct id_set {
    uint64_t bits[CPUBIND_MAX_DEVICES / 64];
} id_set;

/* The state that both tables have in common. */
typedef struct table {
    columns columns;
    int32_t n;              /* rows that are wanted */
    id_set seen[N_WANTED];  /* the ids of each wanted column */
    cpubind_piece *unknown; /* the first line or column that was passed over */
} table;

static cpubind_text_status fail_at(const scan_text *in, int32_t at, const char *what)
{
    return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at, what);
}

static void pass_over(table *t, scan_run run)
{
    if (t->unknown->len == 0)
        *t->unknown = scan_slice(run);
}

/* The next word of a line; returns 0 at its end. */
static int next_word(const scan_text *in, scan_run *rest, scan_run *word)
{
    *word = scan_word(in, rest->at, rest->end);
    rest->at = word->end;
    return !scan_is_empty(*word);
}

static int is_name(const scan_text *in, scan_run word, const char *name)
{
    return scan_is(in, word, name, (int32_t)strlen(name));
}

/* Whether a line has the names of all wanted columns. */
static int is_columns(const scan_text *in, scan_run rest, const columns *c)
{
    uint32_t found = 0;
    scan_run word;

    while (next_word(in, &rest, &word))
        for (int32_t i = 0; i < N_WANTED; i++)
            if (is_name(in, word, c->name[i]))
                found |= 1u << i;
    return found == (1u << N_WANTED) - 1;
}

/*   columns    = word *( blanks word ) LF */
static cpubind_text_status read_columns(const scan_text *in, scan_run rest, table *t)
{
    columns *c = &t->columns;
    uint32_t found = 0;
    scan_run word;

    if (c->n > 0)
        return fail_at(in, rest.at, "a table has two headers");
    while (next_word(in, &rest, &word)) {
        int32_t i = 0;

        while (i < N_WANTED && !is_name(in, word, c->name[i]))
            i++;
        if (i == N_WANTED) {
            /* The number that the PCI layer of the driver gives a device is not needed. */
            if (!SCAN_IS(in, word, "add_id"))
                pass_over(t, word);
        } else if (found & 1u << i) {
            return fail_at(in, word.at, "a column occurs twice");
        } else {
            found |= 1u << i;
            c->index[i] = c->n;
        }
        c->n++;
    }
    return CPUBIND_TEXT_OK;
}

/* Finds the wanted cells of a row. */
static cpubind_text_status read_cells(const scan_text *in, scan_run rest, const columns *c,
                                      scan_run *cell)
{
    const int32_t start = rest.at;
    scan_run word;
    int32_t n = 0;

    for (; next_word(in, &rest, &word); n++)
        for (int32_t i = 0; i < N_WANTED; i++)
            if (c->index[i] == n)
                cell[i] = word;
    return n == c->n ? CPUBIND_TEXT_OK
                     : fail_at(in, start, "a row has not as many cells as there are columns");
}

/* Reads an id that is there once. */
static cpubind_text_status read_id(const scan_text *in, scan_run cell, id_set *seen,
                                   int32_t *out)
{
    const cpubind_text_status status =
        scan_whole_number(in, cell, CPUBIND_MAX_DEVICES - 1, out);
    uint64_t *bits, bit;

    if (status != CPUBIND_TEXT_OK)
        return status;
    bits = &seen->bits[*out / 64];
    bit = UINT64_C(1) << *out % 64;
    if (*bits & bit)
        return fail_at(in, cell.at, "an id occurs twice");
    *bits |= bit;
    return CPUBIND_TEXT_OK;
}

/* The next line that is not empty; returns 0 at the end of the text. A line without its line
 * feed is a fault. */
static int next_line(const scan_text *in, scan_line *line, cpubind_text_status *status)
{
    *status = CPUBIND_TEXT_OK;
    while (scan_next_line(in, line)) {
        if (!line->ended)
            *status = scan_fail_cut(in);
        if (!line->ended || !scan_is_empty(line->run))
            return line->ended;
    }
    return 0;
}

/* == /proc/uda/namespace_node =============================================== */

/* One reading. */
typedef struct namespaces {
    table t;
    cpubind_driver_logic *out; /* NULL: check and count */
    int32_t has_table, is_own; /* of the table that is being read */
    int32_t has_own;
    int32_t dev_num, n_row; /* of the table that is being read */
} namespaces;

/* Checks that a table is whole; `at` is where the next one starts. */
static cpubind_text_status end_table(const scan_text *in, const namespaces *ns, int32_t at)
{
    if (!ns->has_table || ns->n_row == ns->dev_num)
        return CPUBIND_TEXT_OK;
    return scan_fail(in, at == in->len ? CPUBIND_TEXT_ERR_CUT : CPUBIND_TEXT_ERR_SYNTAX, at,
                     "a table has fewer rows than its head says");
}

/* Whether the word that names a namespace marks it as the reader's; a comma may follow it. */
static int is_marked(const scan_text *in, scan_run word)
{
    if (word.at < word.end && in->text[word.end - 1] == ',')
        word.end--;
    return word.end - word.at >= 3 && memcmp(in->text + word.end - 3, "(#)", 3) == 0;
}

/*   head       = "ns_id" words LF */
static cpubind_text_status read_head(const scan_text *in, scan_run rest, namespaces *ns)
{
    const int32_t start = rest.at;
    int32_t n_number = 0, n_name = 0;
    scan_run word;

    ns->has_table = 1;
    ns->n_row = 0;
    ns->t.columns.n = 0;
    memset(ns->t.seen, 0, sizeof ns->t.seen);
    while (next_word(in, &rest, &word)) {
        if (SCAN_IS(in, word, "dev_num")) {
            cpubind_text_status status;

            n_number++;
            (void)next_word(in, &rest, &word);
            status = scan_whole_number(in, word, CPUBIND_MAX_DEVICES, &ns->dev_num);
            if (status != CPUBIND_TEXT_OK)
                return status;
        } else if (SCAN_IS(in, word, "namespace")) {
            n_name++;
            (void)next_word(in, &rest, &word);
            ns->is_own = is_marked(in, word);
        }
    }
    if (n_number != 1 || n_name != 1)
        return fail_at(in, start, "the head of a table needs one dev_num and one namespace");
    if (ns->is_own && ns->has_own)
        return fail_at(in, start, "two tables are marked as the reader's");
    ns->has_own |= ns->is_own;
    return CPUBIND_TEXT_OK;
}

/*   row        = word *( blanks word ) LF */
static cpubind_text_status read_logic(const scan_text *in, scan_run run, namespaces *ns)
{
    cpubind_driver_logic row = {0, 0};
    scan_run cell[N_WANTED] = {{0, 0}, {0, 0}};
    cpubind_text_status status;

    if (ns->t.columns.n == 0)
        return fail_at(in, run.at, "a row comes before the header of its table");
    if (ns->n_row == ns->dev_num)
        return fail_at(in, run.at, "a table has more rows than its head says");
    status = read_cells(in, run, &ns->t.columns, cell);
    if (status == CPUBIND_TEXT_OK)
        status = read_id(in, cell[0], &ns->t.seen[0], &row.logic);
    if (status == CPUBIND_TEXT_OK)
        status = read_id(in, cell[1], &ns->t.seen[1], &row.udevid);
    if (status != CPUBIND_TEXT_OK)
        return status;
    ns->n_row++;
    if (ns->is_own && ns->out)
        ns->out[ns->t.n] = row;
    ns->t.n += ns->is_own;
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status read_namespaces(const scan_text *in, namespaces *ns)
{
    scan_line line = {{0, 0}, 0, 0};
    cpubind_text_status status;

    while (next_line(in, &line, &status)) {
        if (SCAN_IS(in, scan_word(in, line.run.at, line.run.end), "ns_id")) {
            status = end_table(in, ns, line.run.at);
            if (status == CPUBIND_TEXT_OK)
                status = read_head(in, line.run, ns);
        } else if (ns->has_table && is_columns(in, line.run, &ns->t.columns)) {
            status = read_columns(in, line.run, &ns->t);
        } else if (scan_starts_with_digit(in, line.run)) {
            status = read_logic(in, line.run, ns);
        } else {
            pass_over(&ns->t, line.run);
        }
        if (status != CPUBIND_TEXT_OK)
            return status;
    }
    if (status == CPUBIND_TEXT_OK)
        status = end_table(in, ns, in->len);
    if (status == CPUBIND_TEXT_OK && !ns->has_own)
        status = scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len,
                           "no table is marked as the reader's");
    return status;
}

cpubind_text_status cpubind_driver_parse_namespaces(const char *text, int32_t len,
                                                    cpubind_driver_logics *list,
                                                    cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_piece unknown = {0, 0};
    namespaces ns;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !list || !cursor_is_array(list->row, list->cap))
        return scan_fail_arg(fault);
    memset(&ns, 0, sizeof ns);
    ns.t.columns.name[0] = "logic_devid";
    ns.t.columns.name[1] = "udevid";
    ns.t.unknown = &unknown;
    status = read_namespaces(&in, &ns);
    if (status != CPUBIND_TEXT_OK)
        return status;
    list->n = ns.t.n;
    if (list->n > list->cap)
        return scan_fail_space(&in);
    list->unknown = unknown;
    ns.out = list->row;
    ns.t.n = ns.has_table = ns.is_own = ns.has_own = 0;
    return read_namespaces(&in, &ns);
}

/* == devdrv_sysfs_bdf_to_devid ============================================== */

/*   pci        = [ domain ":" ] bus ":" device "." function
 * A cell with one colon has no domain. */
static cpubind_text_status read_address(const scan_text *in, scan_run cell,
                                        cpubind_pci_address *pci)
{
    static const struct {
        int32_t max;
        char after;
    } part[] = {{INT32_MAX, ':'}, {0xff, ':'}, {0x1f, '.'}, {7, 0}};
    int32_t value[4] = {-1, -1, -1, -1}, n_colon = 0;

    for (int32_t i = cell.at; i < cell.end; i++)
        n_colon += in->text[i] == ':';
    for (int32_t i = n_colon > 1 ? 0 : 1; i < 4; i++) {
        const cpubind_text_status status =
            scan_hex(in, &cell.at, cell.end, part[i].max, &value[i]);

        if (status != CPUBIND_TEXT_OK)
            return status;
        if (part[i].after && (cell.at == cell.end || in->text[cell.at] != part[i].after))
            return fail_at(in, cell.at, "a cell is no PCI address");
        cell.at += part[i].after != 0;
    }
    if (!scan_is_empty(cell))
        return fail_at(in, cell.at, "a byte does not belong to a PCI address");
    *pci = (cpubind_pci_address){value[0], value[1], value[2], value[3]};
    return CPUBIND_TEXT_OK;
}

/* Whether a line must be read as a row: it starts with a digit, or one of its words is like an
 * address. */
static int is_row(const scan_text *in, scan_run rest)
{
    scan_run word;

    if (scan_starts_with_digit(in, rest))
        return 1;
    while (next_word(in, &rest, &word))
        for (int32_t i = word.at; i + 1 < word.end && cursor_hex_value(in->text[word.at]) >= 0;
             i++)
            if (in->text[i] == ':')
                return 1;
    return 0;
}

/*   arrow      = pci blanks "--->" blanks number LF */
static cpubind_text_status read_arrow(const scan_text *in, scan_run rest, scan_run *cell)
{
    const int32_t start = rest.at;
    scan_run arrow;

    if (next_word(in, &rest, &cell[0]) && next_word(in, &rest, &arrow) &&
        SCAN_IS(in, arrow, "--->") && next_word(in, &rest, &cell[1]) &&
        scan_is_empty(scan_word(in, rest.at, rest.end)))
        return CPUBIND_TEXT_OK;
    return fail_at(in, start, "a row has no header, and is no address, arrow and number");
}

static cpubind_text_status read_function(const scan_text *in, scan_run run, table *t,
                                         cpubind_driver_function *out)
{
    cpubind_driver_function row = {{-1, 0, 0, 0}, 0};
    scan_run cell[N_WANTED] = {{0, 0}, {0, 0}};
    cpubind_text_status status =
        t->columns.n > 0 ? read_cells(in, run, &t->columns, cell) : read_arrow(in, run, cell);

    if (status == CPUBIND_TEXT_OK)
        status = read_address(in, cell[0], &row.pci);
    if (status == CPUBIND_TEXT_OK)
        status = read_id(in, cell[1], &t->seen[1], &row.udevid);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (out)
        out[t->n] = row;
    t->n++;
    return CPUBIND_TEXT_OK;
}

/* Reads the lines; `out` is NULL to check and count. */
static cpubind_text_status read_functions(const scan_text *in, cpubind_piece *unknown,
                                          cpubind_driver_function *out, int32_t *out_n)
{
    scan_line line = {{0, 0}, 0, 0};
    cpubind_text_status status;
    table t;

    memset(&t, 0, sizeof t);
    t.columns.name[0] = "bdf";
    t.columns.name[1] = "udevid";
    t.unknown = unknown;
    while (next_line(in, &line, &status)) {
        if (is_columns(in, line.run, &t.columns))
            status = t.n > 0 ? fail_at(in, line.run.at, "a header comes after a row")
                             : read_columns(in, line.run, &t);
        else if (is_row(in, line.run))
            status = read_function(in, line.run, &t, out);
        else
            pass_over(&t, line.run);
        if (status != CPUBIND_TEXT_OK)
            return status;
    }
    *out_n = t.n;
    return status;
}

cpubind_text_status cpubind_driver_parse_functions(const char *text, int32_t len,
                                                   cpubind_driver_functions *list,
                                                   cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_piece unknown = {0, 0};
    cpubind_text_status status;
    int32_t n = 0;

    if (!scan_is_text(text, len) || !list || !cursor_is_array(list->row, list->cap))
        return scan_fail_arg(fault);
    status = read_functions(&in, &unknown, NULL, &n);
    if (status != CPUBIND_TEXT_OK)
        return status;
    list->n = n;
    if (n > list->cap)
        return scan_fail_space(&in);
    list->unknown = unknown;
    return read_functions(&in, &unknown, list->row, &n);
}
