/* npusmi.c - what the outputs of npu-smi say of NPUs, row by row
 * SPDX-License-Identifier: MIT
 *
 * Pure. table.c finds the columns; here is what their values must be, and what each output must
 * hold to be whole: a function for each output that takes a row, and one that judges the end.
 */
#include "npusmi.h"

#include <stddef.h>
#include <string.h>

#include "../text/cpulist.h"
#include "table_reader.h"

/* A reading of one output, which grows its arrays at the end of the arena. */
typedef struct reading {
    cpubind_arena *arena;
    size_t used; /* of the arena, before */
    cpubind_text_fault fault;
    cpubind_npusmi_info found;  /* of an output with one table all rows are devices */
    table_event last;           /* of npu-smi info, as what follows: the last event ... */
    char rule;                  /* ... "-" or "=" of the last line, if it is one; else 0 */
    int32_t n_users, has_rules; /* rows and messages, rules of processes */
    table t;
} reading;

/* What an output is made of. `take` returns 0 to end the reading. */
typedef struct output {
    table_kind kind;
    int (*take)(reading *r, table_event event);
    void (*end)(reading *r);
} output;

static const cpubind_npusmi_row no_row = {.card = -1,
                                          .chip = -1,
                                          .logic = -1,
                                          .phy = -1,
                                          .n_chip = -1,
                                          .pid = -1,
                                          .pci = {-1, -1, -1, -1}};

static int fail_at(reading *r, int32_t at, const char *what)
{
    return (int)cpubind_priv_table_fail(&r->t, CPUBIND_TEXT_ERR_SYNTAX, at, what);
}

static int is_right(const reading *r)
{
    return r->t.of.status == CPUBIND_TEXT_OK;
}

/* Reads a text; the reading fails where the other arguments are none. A text that is no table
 * and holds a refusal is one. */
static cpubind_text_status read_output(reading *r, const output *o, const char *text,
                                       int32_t len, cpubind_arena *arena, const void *out,
                                       cpubind_text_fault *fault)
{
    table_event event;
    cpubind_piece line = {0, 0};
    memset(r, 0, offsetof(reading, t));
    r->arena = arena;
    r->used = arena ? arena->used : 0;
    cpubind_priv_table_open(&r->t, text, arena && out ? len : -1, o->kind, &r->fault);
    while ((event = cpubind_priv_table_next(&r->t)) != TABLE_END && o->take(r, event))
        ;
    if (r->t.of.status == CPUBIND_TEXT_OK || o->kind == TABLE_INFO)
        o->end(r);
    r->found.device.has_logic = table_has(&r->t, TABLE_LOGIC);
    r->found.device.has_name = table_has(&r->t, TABLE_NAME);
    r->found.device.has_affinity = table_has(&r->t, TABLE_CPUS);
    r->found.device.unknown = r->t.unknown;
    if (r->t.of.status == CPUBIND_TEXT_OK)
        return r->t.of.status;
    if (arena)
        arena->used = r->used;
    if ((r->t.of.status == CPUBIND_TEXT_ERR_SYNTAX || r->t.of.status == CPUBIND_TEXT_ERR_CUT ||
         r->t.of.status == CPUBIND_TEXT_ERR_MISSING) &&
        cpubind_npusmi_find_refusal(text, len, &line) != CPUBIND_NPUSMI_NONE) {
        r->t.of.status = CPUBIND_TEXT_OK;
        (void)cursor_fail(&r->t.all, CPUBIND_TEXT_ERR_REFUSED, line.at,
                          "npu-smi refused to answer");
    }
    if (fault)
        *fault = r->fault;
    return r->t.of.status;
}

/* Reads an output with one table. */
static cpubind_text_status read_rows(const output *o, const char *text, int32_t len,
                                     cpubind_arena *arena, cpubind_npusmi_rows *out,
                                     cpubind_text_fault *fault)
{
    reading r;
    const cpubind_text_status status = read_output(&r, o, text, len, arena, out, fault);
    if (status == CPUBIND_TEXT_OK)
        *out = r.found.device;
    return status;
}

/* == Values ================================================================= */

static cursor value_of(const reading *r, table_column column)
{
    return r->t.value[column];
}

/* Reads the number of a column that the table may lack: -1 then. */
static int read_number(reading *r, table_column column, cursor run, int32_t *out)
{
    *out = -1;
    if (!table_has(&r->t, column) && r->t.kind != TABLE_BOARD)
        return 1;
    *out = (int32_t)cursor_whole(run, INT32_MAX);
    return is_right(r);
}

/* Reads a number behind which there may be a remark: "0 (card)". */
static int read_remarked(reading *r, table_column column, int32_t *out)
{
    const cursor run = value_of(r, column), number = table_before_remark(run);
    if (number.end < run.end)
        cpubind_priv_table_note(&r->t, run);
    return read_number(r, column, number, out);
}

static int read_bus(reading *r, cpubind_pci_address *pci)
{
    const cursor run = value_of(r, TABLE_BUS), address = table_before_remark(run);
    if (address.end < run.end)
        cpubind_priv_table_note(&r->t, cursor_trim(table_from(run, address.end)));
    *pci = cpubind_priv_table_pci(address);
    return is_right(r);
}

static int add_row(reading *r, cpubind_npusmi_rows *rows, const cpubind_npusmi_row *row)
{
    if (!CURSOR_MORE(&r->t.all, r->arena, rows->row, rows->n, 1))
        return 0;
    rows->row[rows->n++] = *row;
    return 1;
}

/* Adds a chip, or a card. What the runtime or the host gives once must not be there: a chip,
 * and the logic id of one that npu-smi could query, which its name tells in the map. */
static int add_chip(reading *r, const cpubind_npusmi_row *row)
{
    cpubind_npusmi_rows *rows = &r->found.device;
    const int is_told = r->t.kind == TABLE_MAP && table_has(&r->t, TABLE_NAME);
    int is_twice = 0, is_logic_twice = 0;
    for (int32_t i = 0; i < rows->n; i++) {
        const cpubind_npusmi_row *other = &rows->row[i];
        is_twice |= other->card == row->card && other->chip == row->chip;
        is_logic_twice |= row->logic >= 0 && other->logic == row->logic &&
                          (!is_told || (row->name.len && other->name.len));
    }
    if (is_twice || is_logic_twice)
        return fail_at(r, r->t.line.at,
                       is_twice ? "the same card or chip is there twice"
                                : "a logic id occurs twice");
    if (rows->n == CPUBIND_MAX_DEVICES)
        return (int)cpubind_priv_table_fail(&r->t, CPUBIND_TEXT_ERR_RANGE, r->t.line.at,
                                            "there are too many chips");
    return add_row(r, rows, row);
}

/* == info -m ================================================================ */

/* Reads an id of a row; -1 when the cell says "none" and may say so. npu-smi prints -1 for a
 * slot that it does not know. */
static int read_id(reading *r, table_column column, int32_t *id)
{
    const cursor run = value_of(r, column);
    *id = -1;
    if (column == TABLE_SLOT && (table_is_empty(run) || cursor_is(run, "-1")))
        return 1;
    if (column != TABLE_CARD && column != TABLE_CHIP && table_is_none(run))
        return 1;
    if (table_has(&r->t, column) && table_is_empty(run))
        return fail_at(r, run.at, "the row lacks an id");
    return read_number(r, column, run, id);
}

/* Whether a row is that of a controller of the board: Mcu, 3559, a number. It has no logic id;
 * without a column of names one that is not known may tell, and without that nothing else. */
static int is_controller(const reading *r, const cpubind_npusmi_row *chip)
{
    const int has_logic = table_has(&r->t, TABLE_LOGIC),
              has_name = table_has(&r->t, TABLE_NAME);
    const cursor id = value_of(r, has_logic ? TABLE_LOGIC : TABLE_PHY);
    const cursor name = value_of(r, has_name ? TABLE_NAME : TABLE_OTHER);
    if ((has_logic ? chip->logic : chip->phy) >= 0 || table_is_empty(id))
        return 0;
    return cursor_is(id, "MCU") || (!has_name && !table_has(&r->t, TABLE_OTHER)) ||
           table_is_digits(name) || cursor_starts_as(&name, "Mcu");
}

/* Fails a table without logic ids that may have them in a column of another name: only on a 950
 * the NPU ID is the logic id. */
static int check_product(reading *r, cursor name)
{
    if (table_has(&r->t, TABLE_LOGIC) || !table_has(&r->t, TABLE_OTHER))
        return 1;
    if (cursor_holds(name, "950"))
        return 1;
    return fail_at(r, r->t.head->other.at,
                   "the table has no logic ids, unless they are in a column of another name");
}

/* A row without a logic id whose name is Mcu or a number, or whose logic id is MCU, is a board
 * controller and no chip; on a card whose chips cannot be listed, several have chip id 0. */
static int take_chip(reading *r, table_event event)
{
    cpubind_npusmi_row chip = no_row;
    int32_t slot;
    if (event != TABLE_RECORD)
        return 1;
    chip.name = cursor_piece(value_of(r, TABLE_NAME));
    if (!read_id(r, TABLE_CARD, &chip.card) || !read_id(r, TABLE_CHIP, &chip.chip) ||
        !read_id(r, TABLE_LOGIC, &chip.logic) || !read_id(r, TABLE_PHY, &chip.phy) ||
        !read_id(r, TABLE_SLOT, &slot))
        return 0;
    if (is_controller(r, &chip))
        return 1;
    if (!check_product(r, value_of(r, TABLE_NAME)) || !add_chip(r, &chip))
        return 0;
    if (table_is_empty(r->t.first))
        r->t.first = value_of(r, TABLE_NAME);
    return 1;
}

static void end_map(reading *r)
{
    const table *t = &r->t;
    if (r->found.device.n > 0)
        return;
    if (t->n_head > 0 || table_is_empty(t->near))
        (void)cpubind_priv_table_fail(&r->t, CPUBIND_TEXT_ERR_MISSING, t->of.len,
                                      t->n_head > 0 ? "the table has no NPU"
                                                    : "there is no header");
    else
        (void)fail_at(r, t->near.at,
                      t->near_what ? t->near_what
                                   : "the header lacks NPU ID, Chip ID or Chip Logic ID");
}

cpubind_text_status cpubind_npusmi_parse_map(const char *text, int32_t len,
                                             cpubind_arena *arena, cpubind_npusmi_rows *out,
                                             cpubind_text_fault *fault)
{
    static const output map = {TABLE_MAP, take_chip, end_map};
    return read_rows(&map, text, len, arena, out, fault);
}

/* == info -t topo =========================================================== */

/* Whether the labels of the rows are Phy-ID<n>, not NPU<n>. */
static int is_by_phy(const cpubind_npusmi_rows *topo)
{
    return topo->row && topo->row->phy >= 0;
}

/* The row of an NPU; NULL: there is none. */
static cpubind_npusmi_row *find_row(const cpubind_npusmi_rows *topo, int32_t id)
{
    for (int32_t i = 0; i < topo->n; i++)
        if ((is_by_phy(topo) ? topo->row[i].phy : topo->row[i].card) == id)
            return &topo->row[i];
    return NULL;
}

/* Whether an NPU of the header has no row yet. A missing row of a NIC loses nothing. */
static int lacks_row(const cpubind_npusmi_rows *topo)
{
    for (int32_t i = 0; i < topo->n; i++)
        if (topo->row[i].n_cpu < 0)
            return 1;
    return 0;
}

/* Makes a row of each label of the header. A header after the whole matrix is that of another
 * table, unless it has affinities, too. */
static int read_labels(reading *r)
{
    cpubind_npusmi_rows *topo = &r->found.device;
    const table_head *h = r->t.head;
    if (topo->row) {
        if (lacks_row(topo) || r->t.next.has >> TABLE_CPUS & 1u)
            return fail_at(r, r->t.line.at, "the header occurs twice");
        r->t.section = TABLE_ANOTHER;
        cpubind_priv_table_note(&r->t, r->t.line);
        return 1;
    }
    for (int32_t i = 0; i < h->n; i++) {
        cpubind_npusmi_row row = no_row;
        const cursor name = h->title[i].name;
        int32_t id = -1;
        const char kind = cursor_lower(cpubind_priv_table_label(name, &id));
        if (h->title[i].column != TABLE_LINK || kind == 'i')
            continue;
        if (find_row(topo, id))
            return fail_at(r, name.at, "the header has a label twice");
        if (topo->n > 0 && is_by_phy(topo) != (kind == 'h'))
            return fail_at(r, name.at, "the header mixes NPU and Phy-ID labels");
        *(kind == 'h' ? &row.phy : &row.card) = id;
        row.n_cpu = -1;
        if (!add_row(r, topo, &row))
            return 0;
    }
    return 1;
}

static int read_affinity(reading *r)
{
    const cpubind_npusmi_rows *topo = &r->found.device;
    const cursor label = value_of(r, TABLE_LABEL), cpus = value_of(r, TABLE_CPUS);
    int32_t id = -1;
    const char kind = cursor_lower(cpubind_priv_table_label(label, &id));
    cpubind_npusmi_row *row = find_row(topo, id);
    cpubind_int_list list = {NULL, 0, 0};
    cpubind_text_fault fault = {0, "the arena is too small"};
    cpubind_text_status status = CPUBIND_TEXT_ERR_SPACE;
    if (kind == 'i')
        return 1;
    if (!row || (kind == 'h') != is_by_phy(topo))
        return fail_at(r, label.at, "the header does not have the label of this row");
    if (row->n_cpu >= 0)
        return fail_at(r, label.at, "a row occurs twice");
    list.out = cpubind_arena_open(r->arena, CPUBIND_MAX_CPUS, &list.cap);
    if (list.out)
        status = cpubind_cpulist_parse(r->t.all.text + cpus.at,
                                       table_is_none(cpus) ? 0 : cursor_len(&cpus),
                                       CPUBIND_MAX_CPUS, &list, &fault);
    if (status != CPUBIND_TEXT_OK)
        return (int)cpubind_priv_table_fail(&r->t, status, cpus.at + fault.offset, fault.what);
    cpubind_arena_cut(r->arena, list.out + list.n);
    row->cpu = list.out;
    row->n_cpu = list.n;
    r->t.is_full = !lacks_row(topo);
    return 1;
}

static int take_affinity(reading *r, table_event event)
{
    return event == TABLE_HEADER ? read_labels(r) : event != TABLE_RECORD || read_affinity(r);
}

/* Fails when an NPU of the header has no row. */
static void end_topo(reading *r)
{
    const table_head *h = r->t.head;
    const cpubind_npusmi_rows *topo = &r->found.device;
    int has_any = 0;
    for (int32_t i = 0; i < topo->n; i++)
        has_any |= topo->row[i].n_cpu >= 0;
    if (!has_any)
        (void)cpubind_priv_table_fail(&r->t, CPUBIND_TEXT_ERR_MISSING, r->t.of.len,
                                      r->t.n_head ? "the table has no row"
                                                  : "there is no header");
    for (int32_t i = 0; has_any && i < h->n && is_right(r); i++) {
        int32_t id = -1;
        const char kind = cursor_lower(cpubind_priv_table_label(h->title[i].name, &id));
        const cpubind_npusmi_row *row = kind && kind != 'i' ? find_row(topo, id) : NULL;
        if (row && row->n_cpu < 0)
            (void)fail_at(r, h->title[i].name.at, "a label of the header has no row");
    }
}

cpubind_text_status cpubind_npusmi_parse_topo(const char *text, int32_t len,
                                              cpubind_arena *arena, cpubind_npusmi_rows *out,
                                              cpubind_text_fault *fault)
{
    static const output topo = {TABLE_TOPO, take_affinity, end_topo};
    return read_rows(&topo, text, len, arena, out, fault);
}

/* == info =================================================================== */

/* Whether a cell is no health: a pid or a value, an address. "2-Warn" is one. */
static int is_no_health(cursor cell)
{
    int32_t n_letter = 0;
    if (!table_starts_with_digit(cell))
        return 0;
    for (; cell.at < cell.end && cell.text[cell.at] != ':'; cell.at++)
        n_letter += cursor_is_letter(cell.text[cell.at]);
    return n_letter < 2 || cell.at < cell.end;
}

static int read_device(reading *r)
{
    cpubind_npusmi_row device = no_row;
    const cursor health = value_of(r, TABLE_HEALTH);
    if (!read_number(r, TABLE_CARD, value_of(r, TABLE_CARD), &device.card))
        return 0;
    if (is_no_health(health))
        return fail_at(r, health.at, "a cell is no health of a device");
    if (table_starts_with_digit(health))
        cpubind_priv_table_note(&r->t, health);
    return read_number(r, TABLE_CHIP, value_of(r, TABLE_CHIP), &device.chip) &&
           read_number(r, TABLE_PHY, value_of(r, TABLE_PHY), &device.phy) &&
           read_number(r, TABLE_LOGIC, value_of(r, TABLE_LOGIC), &device.logic) &&
           (!table_has(&r->t, TABLE_BUS) || read_bus(r, &device.pci)) && add_chip(r, &device);
}

/* Whether a cell hides a number: "-", "NA", "N/A", "***". */
static int is_hidden(cursor cell)
{
    cursor rest = cell;
    while (cursor_takes(&rest, "*"))
        ;
    return (table_is_empty(rest) && !table_is_empty(cell)) || table_is_none(cell);
}

/* Reads a pid that may be hidden, in a column that may be missing: -1 then. */
static int read_pid(reading *r, table_column column, int32_t *pid)
{
    *pid = -1;
    return is_hidden(value_of(r, column)) || read_remarked(r, column, pid);
}

static int read_process(reading *r)
{
    cpubind_npusmi_row process = no_row;
    const cursor memory = value_of(r, TABLE_MEMORY);
    int32_t own;
    if (!read_number(r, TABLE_CARD, value_of(r, TABLE_CARD), &process.card) ||
        !read_number(r, TABLE_CHIP, value_of(r, TABLE_CHIP), &process.chip) ||
        !read_pid(r, TABLE_PID, &process.pid) || !read_pid(r, TABLE_OWN_PID, &own))
        return 0;
    if (table_has(&r->t, TABLE_MEMORY) && !is_hidden(memory) &&
        !table_starts_with_digit(memory))
        return fail_at(r, memory.at, "a memory size is no number");
    return add_row(r, &r->found.process, &process);
}

static int take_info(reading *r, table_event event)
{
    const int is_user = r->t.section == TABLE_USERS;
    if (event == TABLE_REMARK && r->t.all.text[r->t.line.at] != '|')
        return 1;
    r->last = event;
    r->rule = r->t.rule;
    r->has_rules |= is_user && event == TABLE_RULE;
    r->n_users += is_user && (event == TABLE_RECORD || event == TABLE_REMARK);
    r->found.has_process_table |= is_user;
    if (event != TABLE_RECORD)
        return 1;
    return is_user ? read_process(r) : read_device(r);
}

/* Fails an output that ends where no whole one does. Devices without a table of processes are
 * whole when a rule of "=" ends them and their product has none; else the map must tell. */
static void check_end(reading *r)
{
    cpubind_npusmi_info *info = &r->found;
    const char *what = NULL;
    if (!is_right(r))
        return;
    if (!info->has_process_table && info->device.n == 0)
        (void)cpubind_priv_table_fail(&r->t, CPUBIND_TEXT_ERR_MISSING, r->t.of.len,
                                      "there is no table of devices or processes");
    else if (r->t.section == TABLE_ANOTHER)
        return;
    else if (!info->has_process_table)
        info->is_open = r->rule == '-' ? 2 : r->rule != '=' || table_has(&r->t, TABLE_HBM);
    else if (r->n_users == 0 && !r->has_rules)
        what = "the text ends after the header of processes";
    else if (r->has_rules && r->last != TABLE_RULE)
        what = "the rule after the last process is missing";
    if (what)
        (void)cpubind_priv_table_fail(&r->t, CPUBIND_TEXT_ERR_CUT, r->t.of.len, what);
}

/* A fault behind the devices is one of the processes alone. */
static void end_info(reading *r)
{
    cpubind_npusmi_info *info = &r->found;
    check_end(r);
    info->process_status = r->t.of.status;
    if (!info->has_process_table || info->device.n == 0 || is_right(r) ||
        r->t.of.status == CPUBIND_TEXT_ERR_SPACE)
        return;
    info->process_fault = r->fault;
    info->process.n = 0;
    info->is_open = 1;
    r->t.of.status = CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_npusmi_parse_info(const char *text, int32_t len,
                                              cpubind_arena *arena, cpubind_npusmi_info *out,
                                              cpubind_text_fault *fault)
{
    static const output info = {TABLE_INFO, take_info, end_info};
    reading r;
    const cpubind_text_status status = read_output(&r, &info, text, len, arena, out, fault);
    if (status == CPUBIND_TEXT_OK)
        *out = r.found;
    return status;
}

cpubind_piece cpubind_npusmi_version(const char *text, int32_t len)
{
    const cpubind_piece none = {0, 0};
    cursor_text of;
    cursor c = cursor_open(&of, text, len, NULL, 1), line;
    while (cursor_line(&c, &line))
        if (cursor_is(cursor_word(&line), "|") && cursor_is(cursor_word(&line), "npu-smi"))
            return cursor_piece(cursor_word(&line));
    return none;
}

/* == info -t board ========================================================== */

/* npu-smi prints the zeros of its buffer when it could not ask for the address. No NPU is
 * function 0000:00:00.0, which is the bridge of the host. A block without an address, and that
 * of a card which does not count its chips, is none. */
static int take_board(reading *r, table_event event)
{
    const uint32_t seen = r->t.seen, chips = 1u << TABLE_CHIP | 1u << TABLE_CHIPS;
    cpubind_npusmi_row board = no_row;
    if (event != TABLE_RECORD)
        return 1;
    if (!read_remarked(r, TABLE_CARD, &board.card) ||
        (seen >> TABLE_CHIP & 1u && !read_remarked(r, TABLE_CHIP, &board.chip)) ||
        (seen >> TABLE_CHIPS & 1u && !cursor_is(value_of(r, TABLE_CHIPS), "NA") &&
         !read_remarked(r, TABLE_CHIPS, &board.n_chip)) ||
        (seen >> TABLE_BUS & 1u && !read_bus(r, &board.pci)))
        return 0;
    if (board.pci.domain == 0 && board.pci.bus == 0 && board.pci.device == 0 &&
        board.pci.function == 0)
        board.pci = no_row.pci;
    return !(seen >> TABLE_BUS & 1u) || !(seen & chips) || add_chip(r, &board);
}

static void end_board(reading *r)
{
    if (r->found.device.n == 0)
        (void)cpubind_priv_table_fail(&r->t, CPUBIND_TEXT_ERR_MISSING, r->t.of.len,
                                      "there is no NPU ID with an address");
}

cpubind_text_status cpubind_npusmi_parse_board(const char *text, int32_t len,
                                               cpubind_arena *arena, cpubind_npusmi_rows *out,
                                               cpubind_text_fault *fault)
{
    static const output board = {TABLE_BOARD, take_board, end_board};
    return read_rows(&board, text, len, arena, out, fault);
}
