/* npusmi.c - from the rows of the outputs of npu-smi to chips, affinities, devices and boards
 * SPDX-License-Identifier: MIT
 *
 * Pure. table.c finds the columns; here is what their values must be, and what each output must
 * hold to be whole.
 */
#include "npusmi.h"

#include "../text/cpulist.h"
#include "table_reader.h"

/* A reading of one output, which grows its arrays at the end of the arena. */
typedef struct reading {
    cpubind_arena *arena;
    size_t used; /* of the arena, before */
    cpubind_text_fault fault;
    table t;
} reading;

static int fail_at(reading *r, int32_t at, const char *what)
{
    return (int)cpubind_priv_table_fail(&r->t, CPUBIND_TEXT_ERR_SYNTAX, at, what);
}

static int is_right(const reading *r)
{
    return r->t.of.status == CPUBIND_TEXT_OK;
}

/* Opens the text; the reading fails where the other arguments are none. */
static void open_text(reading *r, const char *text, int32_t len, cpubind_arena *arena,
                      const void *out, table_kind kind)
{
    const int is_text = arena && out;
    r->arena = arena;
    r->used = arena ? arena->used : 0;
    cpubind_priv_table_open(&r->t, text, is_text ? len : -1, kind, &r->fault);
}

/* Ends the reading. A text that is no table and holds a refusal is one. */
static cpubind_text_status close_text(reading *r, cpubind_text_fault *fault)
{
    const cpubind_text_status status = r->t.of.status;
    cpubind_piece line = {0, 0};
    if (status == CPUBIND_TEXT_OK)
        return status;
    if (r->arena)
        r->arena->used = r->used;
    if ((status == CPUBIND_TEXT_ERR_SYNTAX || status == CPUBIND_TEXT_ERR_CUT ||
         status == CPUBIND_TEXT_ERR_MISSING) &&
        cpubind_npusmi_find_refusal(r->t.all.text, r->t.of.len, &line) != CPUBIND_NPUSMI_NONE) {
        r->t.of.status = CPUBIND_TEXT_OK;
        (void)cursor_fail(&r->t.all, CPUBIND_TEXT_ERR_REFUSED, line.at,
                          "npu-smi refused to answer");
    }
    if (fault)
        *fault = r->fault;
    return r->t.of.status;
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

/* Refuses a number that the runtime or the host gives once, and too many rows. */
static int check_row(reading *r, int32_t n, int is_twice, const char *what)
{
    if (is_twice)
        return fail_at(r, r->t.line.at, what);
    if (n < CPUBIND_MAX_DEVICES)
        return 1;
    return (int)cpubind_priv_table_fail(&r->t, CPUBIND_TEXT_ERR_RANGE, r->t.line.at,
                                        "there are too many chips");
}

#define SAME_CHIP "the same card or chip is there twice"

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
static int is_controller(const reading *r, const cpubind_npusmi_chip *chip)
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

static int read_chip(reading *r, cpubind_npusmi_map *map)
{
    cpubind_npusmi_chip chip = {.name = cursor_piece(value_of(r, TABLE_NAME))};
    int32_t slot;
    int is_twice = 0, is_logic_twice = 0;
    if (!read_id(r, TABLE_CARD, &chip.card) || !read_id(r, TABLE_CHIP, &chip.chip) ||
        !read_id(r, TABLE_LOGIC, &chip.logic) || !read_id(r, TABLE_PHY, &chip.phy) ||
        !read_id(r, TABLE_SLOT, &slot))
        return 0;
    if (is_controller(r, &chip))
        return 1;
    for (int32_t i = 0; i < map->n_chip; i++) {
        const cpubind_npusmi_chip *other = &map->chip[i];
        is_twice |= other->card == chip.card && other->chip == chip.chip;
        is_logic_twice |= chip.logic >= 0 && other->logic == chip.logic &&
                          (!table_has(&r->t, TABLE_NAME) || (chip.name.len && other->name.len));
    }
    if (!check_product(r, value_of(r, TABLE_NAME)) ||
        !check_row(r, map->n_chip, is_twice, SAME_CHIP) ||
        !check_row(r, 0, is_logic_twice, "a logic id occurs twice") ||
        !CURSOR_MORE(&r->t.all, r->arena, map->chip, map->n_chip, 1))
        return 0;
    map->chip[map->n_chip++] = chip;
    if (table_is_empty(r->t.first))
        r->t.first = value_of(r, TABLE_NAME);
    return 1;
}

/* A row without a logic id whose name is Mcu or a number, or whose logic id is MCU, is a board
 * controller and no chip; on a card whose chips cannot be listed, several have chip id 0. */
cpubind_text_status cpubind_npusmi_parse_map(const char *text, int32_t len,
                                             cpubind_arena *arena, cpubind_npusmi_map *out,
                                             cpubind_text_fault *fault)
{
    reading r;
    cpubind_npusmi_map map = {.n_chip = 0};
    table_event event;
    open_text(&r, text, len, arena, out, TABLE_MAP);
    while ((event = cpubind_priv_table_next(&r.t)) != TABLE_END)
        if (event == TABLE_RECORD && !read_chip(&r, &map))
            break;
    if (is_right(&r) && map.n_chip == 0) {
        if (r.t.n_head > 0 || table_is_empty(r.t.near))
            (void)cpubind_priv_table_fail(&r.t, CPUBIND_TEXT_ERR_MISSING, len,
                                          r.t.n_head > 0 ? "the table has no NPU"
                                                         : "there is no header");
        else
            (void)fail_at(&r, r.t.near.at,
                          r.t.near_what ? r.t.near_what
                                        : "the header lacks NPU ID, Chip ID or Chip Logic ID");
    }
    map.has_logic = table_has(&r.t, TABLE_LOGIC);
    map.has_name = table_has(&r.t, TABLE_NAME);
    map.unknown = r.t.unknown;
    if (is_right(&r))
        *out = map;
    return close_text(&r, fault);
}

/* == info -t topo =========================================================== */

static cpubind_npusmi_affinity *find_row(cpubind_npusmi_topo *topo, int32_t id)
{
    for (int32_t i = 0; i < topo->n_row; i++)
        if (topo->row[i].id == id)
            return &topo->row[i];
    return NULL;
}

/* Whether an NPU of the header has no row yet. A missing row of a NIC loses nothing. */
static int lacks_row(const cpubind_npusmi_topo *topo)
{
    for (int32_t i = 0; i < topo->n_row; i++)
        if (topo->row[i].n_cpu < 0)
            return 1;
    return 0;
}

/* Makes a row of each label of the header. A header after the whole matrix is that of another
 * table, unless it has affinities, too. */
static int read_labels(reading *r, cpubind_npusmi_topo *topo)
{
    const table_head *h = r->t.head;
    if (topo->row) {
        if (lacks_row(topo) || r->t.next.has >> TABLE_CPUS & 1u)
            return fail_at(r, r->t.line.at, "the header occurs twice");
        r->t.section = TABLE_ANOTHER;
        cpubind_priv_table_note(&r->t, r->t.line);
        return 1;
    }
    for (int32_t i = 0; i < h->n; i++) {
        cpubind_npusmi_affinity row = {-1, NULL, -1};
        const cursor name = h->title[i].name;
        const char kind = cursor_lower(cpubind_priv_table_label(name, &row.id));
        const cpubind_npusmi_label label =
            kind == 'h' ? CPUBIND_NPUSMI_LABEL_PHY : CPUBIND_NPUSMI_LABEL_CARD;
        if (h->title[i].column != TABLE_LINK || kind == 'i')
            continue;
        if (find_row(topo, row.id))
            return fail_at(r, name.at, "the header has a label twice");
        if (topo->n_row > 0 && topo->label != label)
            return fail_at(r, name.at, "the header mixes NPU and Phy-ID labels");
        topo->label = label;
        if (!CURSOR_MORE(&r->t.all, r->arena, topo->row, topo->n_row, 1))
            return 0;
        topo->row[topo->n_row++] = row;
    }
    return 1;
}

static int read_affinity(reading *r, cpubind_npusmi_topo *topo)
{
    const cursor label = value_of(r, TABLE_LABEL), cpus = value_of(r, TABLE_CPUS);
    int32_t id = -1;
    const char kind = cursor_lower(cpubind_priv_table_label(label, &id));
    cpubind_npusmi_affinity *row = find_row(topo, id);
    cpubind_int_list list = {NULL, 0, 0};
    cpubind_text_fault fault = {0, "the arena is too small"};
    cpubind_text_status status = CPUBIND_TEXT_ERR_SPACE;
    if (kind == 'i')
        return 1;
    if (!row || (kind == 'h') != (topo->label == CPUBIND_NPUSMI_LABEL_PHY))
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

/* Fails when an NPU of the header has no row. */
static int check_topo(reading *r, const cpubind_npusmi_topo *topo)
{
    const table_head *h = r->t.head;
    int has_any = 0;
    if (!is_right(r))
        return 0;
    for (int32_t i = 0; i < topo->n_row; i++)
        has_any |= topo->row[i].n_cpu >= 0;
    if (!has_any)
        return (int)cpubind_priv_table_fail(&r->t, CPUBIND_TEXT_ERR_MISSING, r->t.of.len,
                                            r->t.n_head ? "the table has no row"
                                                        : "there is no header");
    for (int32_t i = 0, k = 0; i < h->n && k < topo->n_row; i++) {
        int32_t id = -1;
        if (!cpubind_priv_table_label(h->title[i].name, &id) || topo->row[k].id != id)
            continue;
        if (topo->row[k++].n_cpu < 0)
            return fail_at(r, h->title[i].name.at, "a label of the header has no row");
    }
    return 1;
}

cpubind_text_status cpubind_npusmi_parse_topo(const char *text, int32_t len,
                                              cpubind_arena *arena, cpubind_npusmi_topo *out,
                                              cpubind_text_fault *fault)
{
    reading r;
    cpubind_npusmi_topo topo = {.n_row = 0};
    table_event event;
    open_text(&r, text, len, arena, out, TABLE_TOPO);
    while ((event = cpubind_priv_table_next(&r.t)) != TABLE_END)
        if ((event == TABLE_HEADER && !read_labels(&r, &topo)) ||
            (event == TABLE_RECORD && !read_affinity(&r, &topo)))
            break;
    topo.has_affinity = table_has(&r.t, TABLE_CPUS);
    topo.unknown = r.t.unknown;
    if (check_topo(&r, &topo))
        *out = topo;
    return close_text(&r, fault);
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

static int read_device(reading *r, cpubind_npusmi_info *info)
{
    cpubind_npusmi_device device = {.pci = {-1, -1, -1, -1}};
    const cursor health = value_of(r, TABLE_HEALTH);
    int is_twice = 0;
    if (!read_number(r, TABLE_CARD, value_of(r, TABLE_CARD), &device.card))
        return 0;
    if (is_no_health(health))
        return fail_at(r, health.at, "a cell is no health of a device");
    if (table_starts_with_digit(health))
        cpubind_priv_table_note(&r->t, health);
    if (!read_number(r, TABLE_CHIP, value_of(r, TABLE_CHIP), &device.chip) ||
        !read_number(r, TABLE_PHY, value_of(r, TABLE_PHY), &device.phy) ||
        !read_number(r, TABLE_LOGIC, value_of(r, TABLE_LOGIC), &device.logic) ||
        (table_has(&r->t, TABLE_BUS) && !read_bus(r, &device.pci)))
        return 0;
    for (int32_t i = 0; i < info->n_device; i++) {
        const cpubind_npusmi_device *other = &info->device[i];
        is_twice |= other->card == device.card && other->chip == device.chip;
        is_twice |= device.logic >= 0 && other->logic == device.logic ? 2 : 0;
    }
    if (!check_row(r, info->n_device, is_twice,
                   is_twice & 1 ? SAME_CHIP : "a logic id occurs twice") ||
        !CURSOR_MORE(&r->t.all, r->arena, info->device, info->n_device, 1))
        return 0;
    info->device[info->n_device++] = device;
    return 1;
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

static int read_process(reading *r, cpubind_npusmi_info *info)
{
    cpubind_npusmi_process process;
    const cursor memory = value_of(r, TABLE_MEMORY);
    int32_t own;
    if (!read_number(r, TABLE_CARD, value_of(r, TABLE_CARD), &process.card) ||
        !read_number(r, TABLE_CHIP, value_of(r, TABLE_CHIP), &process.chip) ||
        !read_pid(r, TABLE_PID, &process.pid) || !read_pid(r, TABLE_OWN_PID, &own))
        return 0;
    if (table_has(&r->t, TABLE_MEMORY) && !is_hidden(memory) &&
        !table_starts_with_digit(memory))
        return fail_at(r, memory.at, "a memory size is no number");
    if (!CURSOR_MORE(&r->t.all, r->arena, info->process, info->n_process, 1))
        return 0;
    info->process[info->n_process++] = process;
    return 1;
}

/* What the end of the output may say of its whole. */
typedef struct info_end {
    table_event event; /* the last */
    char rule;         /* "-" or "=": of the last line, if it is one; else 0 */
    int32_t n_row;     /* rows and messages of processes */
    int32_t has_rules; /* of the table of processes */
} info_end;

static int take_event(reading *r, cpubind_npusmi_info *info, info_end *end, table_event event)
{
    const int is_user = r->t.section == TABLE_USERS;
    if (event == TABLE_REMARK && r->t.all.text[r->t.line.at] != '|')
        return 1;
    end->event = event;
    end->rule = r->t.rule;
    end->has_rules |= is_user && event == TABLE_RULE;
    end->n_row += is_user && (event == TABLE_RECORD || event == TABLE_REMARK);
    info->has_process_table |= is_user;
    if (event != TABLE_RECORD)
        return 1;
    return is_user ? read_process(r, info) : read_device(r, info);
}

/* Fails an output that ends where no whole one does. Devices without a table of processes are
 * whole when a rule of "=" ends them and their product has none; else the map must tell. */
static void check_end(reading *r, cpubind_npusmi_info *info, const info_end *end)
{
    const char *what = NULL;
    if (!is_right(r))
        return;
    if (!info->has_process_table && info->n_device == 0)
        (void)cpubind_priv_table_fail(&r->t, CPUBIND_TEXT_ERR_MISSING, r->t.of.len,
                                      "there is no table of devices or processes");
    else if (r->t.section == TABLE_ANOTHER)
        return;
    else if (!info->has_process_table)
        info->is_open = end->rule == '-' ? 2 : end->rule != '=' || table_has(&r->t, TABLE_HBM);
    else if (end->n_row == 0 && !end->has_rules)
        what = "the text ends after the header of processes";
    else if (end->has_rules && end->event != TABLE_RULE)
        what = "the rule after the last process is missing";
    if (what)
        (void)cpubind_priv_table_fail(&r->t, CPUBIND_TEXT_ERR_CUT, r->t.of.len, what);
}

cpubind_text_status cpubind_npusmi_parse_info(const char *text, int32_t len,
                                              cpubind_arena *arena, cpubind_npusmi_info *out,
                                              cpubind_text_fault *fault)
{
    reading r;
    cpubind_npusmi_info info = {.n_device = 0};
    info_end end = {.n_row = 0};
    table_event event;
    open_text(&r, text, len, arena, out, TABLE_INFO);
    while ((event = cpubind_priv_table_next(&r.t)) != TABLE_END)
        if (!take_event(&r, &info, &end, event))
            break;
    check_end(&r, &info, &end);
    info.process_status = r.t.of.status;
    if (info.has_process_table && info.n_device > 0 && !is_right(&r) &&
        r.t.of.status != CPUBIND_TEXT_ERR_SPACE) {
        info.process_fault = r.fault;
        info.n_process = 0;
        info.is_open = 1;
        r.t.of.status = CPUBIND_TEXT_OK;
    }
    info.unknown = r.t.unknown;
    if (is_right(&r))
        *out = info;
    return close_text(&r, fault);
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
static int read_board(reading *r, cpubind_npusmi_boards *boards)
{
    const uint32_t seen = r->t.seen, chips = 1u << TABLE_CHIP | 1u << TABLE_CHIPS;
    cpubind_npusmi_board board = {.chip = -1, .n_chip = -1, .pci = {-1, -1, -1, -1}};
    int is_twice = 0;
    if (!read_remarked(r, TABLE_CARD, &board.card) ||
        (seen >> TABLE_CHIP & 1u && !read_remarked(r, TABLE_CHIP, &board.chip)) ||
        (seen >> TABLE_CHIPS & 1u && !cursor_is(value_of(r, TABLE_CHIPS), "NA") &&
         !read_remarked(r, TABLE_CHIPS, &board.n_chip)) ||
        (seen >> TABLE_BUS & 1u && !read_bus(r, &board.pci)))
        return 0;
    if (board.pci.domain == 0 && board.pci.bus == 0 && board.pci.device == 0 &&
        board.pci.function == 0)
        board.pci = (cpubind_pci_address){-1, -1, -1, -1};
    if (!(seen >> TABLE_BUS & 1u) || !(seen & chips))
        return 1;
    for (int32_t i = 0; i < boards->n_board; i++)
        is_twice |= boards->board[i].card == board.card && boards->board[i].chip == board.chip;
    if (!check_row(r, boards->n_board, is_twice, SAME_CHIP) ||
        !CURSOR_MORE(&r->t.all, r->arena, boards->board, boards->n_board, 1))
        return 0;
    boards->board[boards->n_board++] = board;
    return 1;
}

cpubind_text_status cpubind_npusmi_parse_board(const char *text, int32_t len,
                                               cpubind_arena *arena, cpubind_npusmi_boards *out,
                                               cpubind_text_fault *fault)
{
    reading r;
    cpubind_npusmi_boards boards = {.n_board = 0};
    table_event event;
    open_text(&r, text, len, arena, out, TABLE_BOARD);
    while ((event = cpubind_priv_table_next(&r.t)) != TABLE_END)
        if (event == TABLE_RECORD && !read_board(&r, &boards))
            break;
    if (is_right(&r) && boards.n_board == 0)
        (void)cpubind_priv_table_fail(&r.t, CPUBIND_TEXT_ERR_MISSING, len,
                                      "there is no NPU ID with an address");
    boards.unknown = r.t.unknown;
    if (is_right(&r))
        *out = boards;
    return close_text(&r, fault);
}
