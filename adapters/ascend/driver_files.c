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
 *   columns    = word *( blanks word ) LF    "logic_devid" and "udevid", once each, any others
 *   row        = word *( blanks word ) LF    as many words as columns; an id is a number
 *   unknown    = any other line that does not begin with a digit; passed over
 *   number     = "0" / ( "1".."9" *DIGIT )
 */
#include "driver_files.h"

#include "../text/cursor.h"

/* == Names ================================================================== */

static void fail_name(const cursor *c, int32_t at)
{
    (void)cursor_fail(c, CPUBIND_TEXT_ERR_MISSING, at, "the name is another one");
}

/* Moves past a word, or fails as another name. */
static void name_needs(cursor *c, const char *word)
{
    if (!cursor_takes(c, word))
        fail_name(c, c->at);
}

/* Reads a number of a name; a text that is no number makes it another name. */
static int32_t name_number(cursor *c)
{
    const int32_t start = c->at;
    const int32_t number = (int32_t)cursor_number(c, INT32_MAX);
    if (c->of->status == CPUBIND_TEXT_ERR_SYNTAX) {
        c->of->status = CPUBIND_TEXT_OK;
        fail_name(c, start);
    }
    return number;
}

cpubind_text_status cpubind_driver_parse_process(const char *text, int32_t len,
                                                 cpubind_driver_process *out,
                                                 cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, out != NULL), task;
    cpubind_driver_process found;
    found.pid = name_number(&c);
    name_needs(&c, "-");
    (void)cursor_takes(&c, "-");
    task = cursor_span(&c, cursor_is_digit);
    if (cursor_len(&task) == 0)
        fail_name(&c, c.at);
    name_needs(&c, "-dev-");
    found.udevid = name_number(&c);
    if (cursor_left(&c))
        fail_name(&c, c.at);
    if (cursor_ok(&c))
        *out = found;
    return of.status;
}

cpubind_text_status cpubind_driver_parse_mailbox(const char *text, int32_t len,
                                                 int32_t *out_udevid, cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, out_udevid != NULL);
    int32_t udevid;
    name_needs(&c, "trs-mbox-");
    udevid = name_number(&c);
    name_needs(&c, "-");
    if (cursor_ok(&c))
        *out_udevid = udevid;
    return of.status;
}

/* == Small files ============================================================ */

cpubind_text_status cpubind_driver_parse_number(const char *text, int32_t len,
                                                cpubind_driver_number *out,
                                                cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, out != NULL);
    cpubind_driver_number found;
    found.major = (int32_t)cursor_number(&c, INT32_MAX);
    cursor_need(&c, ":", "a colon is missing after the major number");
    found.minor = (int32_t)cursor_number(&c, INT32_MAX);
    cursor_tail(&c);
    if (cursor_ok(&c))
        *out = found;
    return of.status;
}

/* == /proc/uda/namespace_node =============================================== */

enum { N_WANTED = 2 };
static const char *const wanted[N_WANTED] = {"logic_devid", "udevid"};

/* The ids that a table has named, one bit each. */
typedef struct id_set {
    uint64_t bits[CPUBIND_MAX_DEVICES / 64];
} id_set;

/* One reading. */
typedef struct namespaces {
    cpubind_arena *arena;
    cpubind_driver_logics list;
    int32_t has_own;
    /* Of the table that is being read */
    int32_t has_table, is_own;
    int32_t dev_num, n_row;
    int32_t index[N_WANTED]; /* where the header has the columns that are wanted */
    int32_t n_column;        /* 0: the header was not read yet */
    id_set seen[N_WANTED];   /* the ids of each wanted column */
} namespaces;

static void pass_over(namespaces *ns, cursor piece)
{
    if (ns->list.unknown.len == 0)
        ns->list.unknown = cursor_piece(piece);
}

/* The next word of a line; returns 0 at its end. */
static int next_word(cursor *rest, cursor *word)
{
    *word = cursor_word(rest);
    return cursor_left(word);
}

/* The wanted column of this name, or N_WANTED. */
static int32_t find_wanted(cursor word)
{
    int32_t i = 0;
    while (i < N_WANTED && !cursor_is(word, wanted[i]))
        i++;
    return i;
}

/* Whether a line has the names of all wanted columns. */
static int is_columns(cursor line)
{
    uint32_t found = 0;
    cursor word;
    while (next_word(&line, &word))
        found |= 1u << find_wanted(word);
    return (found | 1u << N_WANTED) == (2u << N_WANTED) - 1;
}

/*   columns    = word *( blanks word ) LF
 * The number that the PCI layer of the driver gives a device is not needed. */
static void read_columns(namespaces *ns, cursor line)
{
    uint32_t found = 0;
    cursor word;
    if (ns->n_column > 0)
        (void)cursor_bad(&line, "a table has two headers");
    for (; next_word(&line, &word); ns->n_column++) {
        const int32_t i = find_wanted(word);
        if (i < N_WANTED && found & 1u << i)
            (void)cursor_bad(&word, "a column occurs twice");
        else if (i < N_WANTED)
            ns->index[i] = ns->n_column;
        else if (!cursor_is(word, "add_id"))
            pass_over(ns, word);
        found |= 1u << i;
    }
}

/* Finds the wanted cells of a row. */
static void read_cells(const namespaces *ns, cursor line, cursor *cell)
{
    const cursor row = line;
    cursor word;
    int32_t n = 0;
    for (; next_word(&line, &word); n++)
        for (int32_t i = 0; i < N_WANTED; i++)
            if (ns->index[i] == n)
                cell[i] = word;
    if (n != ns->n_column)
        (void)cursor_bad(&row, "a row has not as many cells as there are columns");
}

/* Reads an id that is there once. */
static int32_t read_id(cursor cell, id_set *seen)
{
    const int32_t id = (int32_t)cursor_whole(cell, CPUBIND_MAX_DEVICES - 1);
    const uint64_t bit = UINT64_C(1) << id % 64;
    if (cursor_ok(&cell) && seen->bits[id / 64] & bit)
        (void)cursor_bad(&cell, "an id occurs twice");
    seen->bits[id / 64] |= bit;
    return id;
}

/* The next line that is not empty. The last must end in a line feed, too. */
static int next_line(cursor *c, cursor *line)
{
    while (cursor_whole_line(c, line)) {
        *line = cursor_trim(*line);
        if (cursor_left(line))
            return 1;
    }
    return 0;
}

/* Fails where a table is not whole; the next one starts at `c`. */
static void end_table(const cursor *c, const namespaces *ns)
{
    if (ns->has_table && ns->n_row != ns->dev_num)
        (void)cursor_fail(c,
                          c->at == c->of->len ? CPUBIND_TEXT_ERR_CUT : CPUBIND_TEXT_ERR_SYNTAX,
                          c->at, "a table has fewer rows than its head says");
}

/* Whether the word that names a namespace marks it as the reader's; a comma may follow it. */
static int is_marked(cursor word)
{
    (void)cursor_drops(&word, ",");
    return cursor_drops(&word, "(#)");
}

/*   head       = "ns_id" words LF */
static void read_head(namespaces *ns, cursor line)
{
    const cursor head = line;
    int32_t n_number = 0, n_name = 0;
    cursor word;
    ns->has_table = 1;
    ns->n_row = 0;
    ns->n_column = 0;
    memset(ns->seen, 0, sizeof ns->seen);
    while (next_word(&line, &word)) {
        if (cursor_is(word, "dev_num")) {
            n_number++;
            ns->dev_num = (int32_t)cursor_whole(cursor_word(&line), CPUBIND_MAX_DEVICES);
        } else if (cursor_is(word, "namespace")) {
            n_name++;
            ns->is_own = is_marked(cursor_word(&line));
        }
    }
    if (n_number != 1 || n_name != 1)
        (void)cursor_bad(&head, "the head of a table needs one dev_num and one namespace");
    if (ns->is_own && ns->has_own)
        (void)cursor_bad(&head, "two tables are marked as the reader's");
    ns->has_own |= ns->is_own;
}

/*   row        = word *( blanks word ) LF */
static void read_logic(namespaces *ns, cursor line)
{
    cpubind_driver_logics *list = &ns->list;
    cpubind_driver_logic row;
    cursor cell[N_WANTED] = {line, line};
    if (ns->n_column == 0)
        (void)cursor_bad(&line, "a row comes before the header of its table");
    if (ns->n_row++ == ns->dev_num)
        (void)cursor_bad(&line, "a table has more rows than its head says");
    read_cells(ns, line, cell);
    row.logic = read_id(cell[0], &ns->seen[0]);
    row.udevid = read_id(cell[1], &ns->seen[1]);
    if (ns->is_own && CURSOR_MORE(&line, ns->arena, list->row, list->n, 1))
        list->row[list->n++] = row;
}

cpubind_text_status cpubind_driver_parse_namespaces(const char *text, int32_t len,
                                                    cpubind_arena *arena,
                                                    cpubind_driver_logics *out,
                                                    cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, arena && out), line;
    const size_t used = arena ? arena->used : 0;
    namespaces ns;
    memset(&ns, 0, sizeof ns);
    ns.arena = arena;
    while (next_line(&c, &line)) {
        cursor first = line;
        if (cursor_is(cursor_word(&first), "ns_id")) {
            end_table(&line, &ns);
            read_head(&ns, line);
        } else if (ns.has_table && is_columns(line)) {
            read_columns(&ns, line);
        } else if (cursor_is_digit(line.text[line.at])) {
            read_logic(&ns, line);
        } else {
            pass_over(&ns, line);
        }
    }
    end_table(&c, &ns);
    if (!ns.has_own)
        (void)cursor_fail(&c, CPUBIND_TEXT_ERR_MISSING, of.len,
                          "no table is marked as the reader's");
    if (cursor_ok(&c))
        *out = ns.list;
    else if (arena)
        arena->used = used;
    return of.status;
}
