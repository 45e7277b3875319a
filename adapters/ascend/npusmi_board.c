/* npusmi_board.c - `npu-smi info -t board` and `npu-smi info -l`: keys and their values
 * SPDX-License-Identifier: MIT
 *
 * Pure. Both outputs are lines `key : value`. A key is found by its name, for products and
 * versions print different keys in different orders. It must not use a value whose key it does
 * not know. The grammars are above read_boards and read_cards; they come from npu-smi 23 to 26.
 */
#include "npusmi_scan.h"

enum {
    KEY_CARD,
    KEY_CHIP,
    KEY_N_CHIP,
    KEY_PCI,
    KEY_PCI_VENDOR,
    KEY_PCI_DEVICE,
    KEY_VENDOR,
    KEY_DEVICE,
    KEY_NPU_NAME,
    KEY_CHIP_TYPE,
    KEY_CHIP_NAME,
    KEY_PRODUCT,
    KEY_SERIAL,
    KEY_TOTAL,
    N_KEY,      /* a key whose value is not used */
    KEY_UNKNOWN /* a key that is not in the table */
};

/* Letters of either case; a blank may be a hyphen, or missing. */
static const struct key_name {
    const char *name;
    int32_t key;
} key_names[] = {
    {"NPU ID", KEY_CARD},
    {"Chip ID", KEY_CHIP},
    {"Chip Count", KEY_N_CHIP},
    {"PCIe Bus Info", KEY_PCI},
    {"PCI Vendor ID", KEY_PCI_VENDOR},
    {"PCI Device ID", KEY_PCI_DEVICE},
    {"Vendor ID", KEY_VENDOR},
    {"Device ID", KEY_DEVICE},
    {"NPU Name", KEY_NPU_NAME},
    {"Chip Type", KEY_CHIP_TYPE},
    {"Chip Name", KEY_CHIP_NAME},
    {"Product Name", KEY_PRODUCT},
    {"Serial Number", KEY_SERIAL},
    {"Total Count", KEY_TOTAL},
    {"Card Count", KEY_TOTAL},
    {"Board ID", N_KEY},
    {"PCB ID", N_KEY},
    {"BOM ID", N_KEY},
    {"VDie ID", N_KEY},
    {"NDie ID", N_KEY},
    {"DDie ID", N_KEY},
    {"Chip Position ID", N_KEY},
    {"Chip Version", N_KEY},
    {"Firmware Version", N_KEY},
    {"Software Version", N_KEY},
    {"Model", N_KEY},
    {"Manufacturer", N_KEY},
    {"Compatibility", N_KEY},
    {"Main Board ID", N_KEY},
    {"Slot ID", N_KEY},
    {"Class ID", N_KEY},
    {"Subsystem Vendor ID", N_KEY},
    {"Subsystem Device ID", N_KEY},
    {"Module Vendor ID", N_KEY},
    {"Module ID", N_KEY},
};

/* == Pairs ================================================================== */

typedef struct pair {
    scan_line line;
    scan_run name;
    scan_run value;
    int32_t key;
} pair;

static int32_t find_key(const scan_text *in, scan_run name)
{
    int32_t stop = name.at;

    for (size_t i = 0; i < sizeof key_names / sizeof key_names[0]; i++)
        if (starts_with_name(in, name, key_names[i].name, &stop) && stop == name.end)
            return key_names[i].key;
    return KEY_UNKNOWN;
}

/* A value with a control character is two lines without the line feed between them. */
static cpubind_text_status check_value(const scan_text *in, scan_run value)
{
    const int32_t control = scan_find_control(in, value);

    if (control < value.end)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, control,
                         "a value holds a control character");
    return CPUBIND_TEXT_OK;
}

/* Parts a number from the unit or the remark after it: "0xD802 (910B)". A remark with a colon
 * is none: it is the next line without the line feed between them. */
static void split_value(const scan_text *in, pair *p, cpubind_piece *unknown)
{
    int32_t at = p->value.at;
    scan_run suffix;

    if (p->key >= KEY_NPU_NAME && p->key <= KEY_SERIAL)
        return;
    while (at < p->value.end && !scan_is_blank(in->text[at]) && in->text[at] != '(')
        at++;
    suffix.at = at;
    suffix.end = p->value.end;
    suffix = scan_trim(in, suffix);
    if (at == p->value.at || scan_is_empty(suffix) || scan_starts_with_digit(in, suffix) ||
        memchr(in->text + suffix.at, ':', (size_t)(suffix.end - suffix.at)))
        return;
    p->value.end = at;
    note_unknown(unknown, suffix);
}

/*   line   = pair / more / noise
 *   pair   = name *blank ":" *blank [ value ]    the first ":" ends the name
 *   more   = ":" [ value ]                       continues the value of the line before
 *   value  = no control character
 *          / number *blank remark     of a key with a number; remark: no ":", no digit first
 *   noise  = a line without ":"
 *
 * A name that is not in the table is left out, whether it is a key of another version or the
 * start of a message. The last line was cut when it has no line feed, and no ":" or no value.
 *
 * Steps to the next pair; returns 0 when there is none, or when *status is not OK. */
static int next_pair(const scan_text *in, pair *p, cpubind_piece *unknown,
                     cpubind_text_status *status)
{
    while (scan_next_line(in, &p->line)) {
        const scan_run run = p->line.run;
        const char *colon =
            (const char *)memchr(in->text + run.at, ':', (size_t)(run.end - run.at));

        if (!colon && (p->line.ended || scan_is_empty(run))) {
            if (!is_known_message(in, run))
                note_unknown(unknown, run);
            continue;
        }
        if (colon) {
            const int32_t at = (int32_t)(colon - in->text);
            const scan_run before = {run.at, at}, after = {at + 1, run.end};

            p->name = scan_trim(in, before);
            p->value = scan_trim(in, after);
            p->key = find_key(in, p->name);
            *status = check_value(in, p->value);
            if (*status != CPUBIND_TEXT_OK)
                return 0;
            if (p->key == KEY_UNKNOWN && !scan_is_empty(p->name))
                note_unknown(unknown, p->name);
            if (p->key < N_KEY)
                split_value(in, p, unknown);
            if (p->line.ended || !scan_is_empty(p->value))
                return 1;
        }
        *status = scan_fail(in, CPUBIND_TEXT_ERR_CUT, run.end,
                            "the text ends in the middle of a line");
        return 0;
    }
    return 0;
}

static cpubind_text_status fail_pair(const scan_text *in, const pair *p, const char *what)
{
    return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, p->name.at, what);
}

/* Records that a block has this key; refuses a second one. */
static cpubind_text_status note_key(const scan_text *in, const pair *p, uint32_t *seen)
{
    if (*seen & 1u << p->key)
        return fail_pair(in, p, "a key occurs twice");
    *seen |= 1u << p->key;
    return CPUBIND_TEXT_OK;
}

/* == Values ================================================================= */

static cpubind_text_status read_count(const scan_text *in, scan_run value, int32_t *count)
{
    *count = -1;
    if (SCAN_IS(in, value, "NA"))
        return CPUBIND_TEXT_OK;
    return scan_whole_number(in, value, INT32_MAX, count);
}

/*   hex    = "0x" 1*4HEXDIG / "NA"       0x0000 counts as NA */
static cpubind_text_status read_pci_id(const scan_text *in, scan_run value, int32_t *id)
{
    int32_t at = value.at + 2, number = 0;
    cpubind_text_status status;

    *id = -1;
    if (SCAN_IS(in, value, "NA"))
        return CPUBIND_TEXT_OK;
    /* A lone "0" may be the start of "0x": the fault is at its end, where end_value takes it
     * for a cut. */
    if (!STARTS_WITH_LETTERS(in, value, "0x"))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, value.at + (SCAN_IS(in, value, "0") != 0),
                         "an id does not start with 0x");
    status = scan_hex(in, &at, value.end, 0xffff, &number);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (at != value.end || at - value.at > 6)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at,
                         "an id is not up to 4 hexadecimal digits");
    if (number > 0)
        *id = number;
    return CPUBIND_TEXT_OK;
}

/* npu-smi prints the zeros of its buffer when it could not ask for the address. No NPU is
 * function 0000:00:00.0, which is the bridge of the host. */
static cpubind_text_status read_bus(const scan_text *in, scan_run value,
                                    cpubind_pci_address *pci)
{
    const cpubind_text_status status = read_pci(in, value, pci);

    if (status == CPUBIND_TEXT_OK && pci->domain == 0 && pci->bus == 0 && pci->device == 0 &&
        pci->function == 0)
        *pci = no_pci;
    return status;
}

static cpubind_piece name_of(const scan_text *in, scan_run value)
{
    const cpubind_piece none = {value.at, 0};

    return SCAN_IS(in, value, "NA") ? none : scan_slice(value);
}

/* A value that is wrong at the end of the text was cut: its rest is not known. */
static cpubind_text_status end_value(const scan_text *in, const pair *p,
                                     cpubind_text_status status,
                                     const cpubind_text_fault *fault)
{
    if (status == CPUBIND_TEXT_OK)
        return status;
    if (status == CPUBIND_TEXT_ERR_SYNTAX && !p->line.ended &&
        (fault->offset == p->value.end || SCAN_IS(in, p->value, "N")))
        return scan_fail(in, CPUBIND_TEXT_ERR_CUT, p->value.end,
                         "the text ends in the middle of a value");
    return scan_fail(in, status, fault->offset, fault->what);
}

/* == info -t board ========================================================== */

typedef struct board_reader {
    cpubind_npusmi_board *out; /* NULL: check and count */
    int32_t n;                 /* blocks that ended */
    int32_t is_open;           /* 1: `board` is being read */
    uint32_t seen;             /* keys that it has */
    int32_t at;                /* where it starts */
    cpubind_piece unknown;
    cpubind_npusmi_board board;
    device_keys keys;
} board_reader;

static const cpubind_npusmi_board no_board = {
    .card = -1, .chip = -1, .n_chip = -1, .pci = {-1, -1, -1, -1}, .vendor = -1, .device = -1};

static cpubind_text_status close_board(const scan_text *in, board_reader *r)
{
    cpubind_text_status status = CPUBIND_TEXT_OK;

    if (!r->is_open)
        return status;
    if (r->out)
        r->out[r->n] = r->board;
    else
        status = note_device(in, &r->keys, r->at, r->board.card, r->board.chip);
    r->n++;
    r->is_open = 0;
    return status;
}

/* Starts a block of this card; the block before ends. */
static cpubind_text_status open_board(const scan_text *in, board_reader *r, const pair *p,
                                      int32_t card)
{
    const cpubind_text_status status = close_board(in, r);

    r->is_open = 1;
    r->seen = 1u << KEY_CARD;
    r->at = p->name.at;
    r->board = no_board;
    r->board.card = card;
    return status;
}

/* A 950 on UB prints ids without "PCI"; those with "PCI" count where a block has both. */
static cpubind_text_status read_ids(const scan_text *in, board_reader *r, const pair *p)
{
    int32_t id = -1;
    const cpubind_text_status status = read_pci_id(in, p->value, &id);

    if (status != CPUBIND_TEXT_OK)
        return status;
    if (p->key == KEY_PCI_VENDOR || (p->key == KEY_VENDOR && !(r->seen & 1u << KEY_PCI_VENDOR)))
        r->board.vendor = id;
    if (p->key == KEY_PCI_DEVICE || (p->key == KEY_DEVICE && !(r->seen & 1u << KEY_PCI_DEVICE)))
        r->board.device = id;
    return status;
}

static void take_name(const scan_text *in, cpubind_npusmi_board *board, const pair *p)
{
    const cpubind_piece name = name_of(in, p->value);

    if (p->key == KEY_NPU_NAME)
        board->npu_name = name;
    else if (p->key == KEY_CHIP_TYPE)
        board->chip_type = name;
    else if (p->key == KEY_CHIP_NAME)
        board->chip_name = name;
    else if (p->key == KEY_PRODUCT)
        board->product = name;
    else if (p->key == KEY_SERIAL)
        board->serial = name;
}

static cpubind_text_status read_board_value(const scan_text *in, board_reader *r, const pair *p)
{
    switch (p->key) {
    case KEY_CHIP:
        return scan_whole_number(in, p->value, INT32_MAX, &r->board.chip);
    case KEY_N_CHIP:
        return read_count(in, p->value, &r->board.n_chip);
    case KEY_PCI:
        r->board.has_pci = 1;
        return read_bus(in, p->value, &r->board.pci);
    case KEY_PCI_VENDOR:
    case KEY_PCI_DEVICE:
    case KEY_VENDOR:
    case KEY_DEVICE:
        return read_ids(in, r, p);
    default:
        take_name(in, &r->board, p);
        return CPUBIND_TEXT_OK;
    }
}

/* Whether a `Chip ID` starts a block, in an output that prints the card before its chips. */
static int is_next_chip(const board_reader *r, const pair *p)
{
    return r->is_open && p->key == KEY_CHIP && r->seen & (1u << KEY_CHIP | 1u << KEY_N_CHIP);
}

static cpubind_text_status read_board_pair(const scan_text *in, board_reader *r, const pair *p)
{
    cpubind_text_fault fault = {0, NULL};
    const scan_text quiet = {in->text, in->len, &fault};
    cpubind_text_status status = CPUBIND_TEXT_OK;
    int32_t card = r->board.card;

    if (p->key == KEY_CARD || is_next_chip(r, p)) {
        if (p->key == KEY_CARD)
            status = scan_whole_number(&quiet, p->value, INT32_MAX, &card);
        if (status != CPUBIND_TEXT_OK)
            return end_value(in, p, status, &fault);
        status = open_board(in, r, p, card);
        if (status != CPUBIND_TEXT_OK || p->key == KEY_CARD)
            return status;
    }
    if (!r->is_open)
        return fail_pair(in, p, "a key comes before the first NPU ID");
    status = note_key(in, p, &r->seen);
    if (status != CPUBIND_TEXT_OK)
        return status;
    return end_value(in, p, read_board_value(&quiet, r, p), &fault);
}

/*   boards = *line                       at least one block
 *   block  = "NPU ID" pair *pair         up to the next block; a block may hold one key once
 *          / "Chip ID" pair *pair        in a block that has a "Chip ID" or a "Chip Count":
 *                                        another block of the same card
 *   values   "NPU ID", "Chip ID"         number
 *            "Chip Count"                number / "NA"
 *            "PCIe Bus Info"             pci; 0000:00:00.0 as NA
 *            "PCI Vendor ID", "PCI Device ID", "Vendor ID", "Device ID"     hex
 *            "NPU Name", "Chip Type", "Chip Name", "Product Name", "Serial Number"
 *                                        anything; NA is an empty name
 *            any other key               anything */
static cpubind_text_status read_boards(const scan_text *in, board_reader *r)
{
    pair p = {{{0, 0}, 0, 0}, {0, 0}, {0, 0}, N_KEY};
    cpubind_text_status status = CPUBIND_TEXT_OK;

    r->n = 0;
    r->is_open = 0;
    r->seen = 0;
    r->at = 0;
    r->board = no_board;
    r->unknown.at = r->unknown.len = 0;
    r->keys.n = 0;
    while (next_pair(in, &p, &r->unknown, &status)) {
        if (p.key >= N_KEY || p.key == KEY_TOTAL)
            continue;
        status = read_board_pair(in, r, &p);
        if (status != CPUBIND_TEXT_OK)
            return status;
    }
    if (status == CPUBIND_TEXT_OK)
        status = close_board(in, r);
    if (status == CPUBIND_TEXT_OK && r->n == 0)
        status = scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len, "there is no NPU ID");
    return status;
}

cpubind_text_status cpubind_npusmi_parse_board(const char *text, int32_t len,
                                               cpubind_npusmi_boards *boards,
                                               cpubind_text_fault *fault)
{
    const scan_text in = {len > 0 ? text : "", len, fault};
    board_reader r;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !boards || !scan_is_array(boards->board, boards->cap_board))
        return scan_fail_arg(fault);
    r.out = NULL;
    status = read_boards(&in, &r);
    if (status != CPUBIND_TEXT_OK)
        return cpubind_priv_npusmi_refused_or(&in, status);
    boards->n_board = r.n;
    if (r.n > boards->cap_board)
        return scan_fail_space(&in);
    boards->unknown = r.unknown;
    r.out = boards->board;
    return read_boards(&in, &r);
}

/* == info -l ================================================================ */

typedef struct list_reader {
    cpubind_npusmi_card *out; /* NULL: check and count */
    int32_t n;                /* cards, with the card that is being read */
    int32_t total;            /* the number in the count line; -1 until it was read */
    uint32_t seen;            /* keys of the card that is being read */
    cpubind_piece unknown;
    cpubind_npusmi_card card;
    device_keys keys;
} list_reader;

static cpubind_text_status read_total(const scan_text *in, list_reader *r, const pair *p)
{
    if (r->total >= 0)
        return fail_pair(in, p, "the count occurs twice");
    if (r->n > 0)
        return fail_pair(in, p, "the count comes after a card");
    return scan_whole_number(in, p->value, CPUBIND_MAX_DEVICES, &r->total);
}

static const cpubind_npusmi_card no_card = {.card = -1, .n_chip = -1};

static cpubind_text_status open_card(const scan_text *in, list_reader *r, const pair *p)
{
    int32_t card = -1;
    cpubind_text_status status = scan_whole_number(in, p->value, INT32_MAX, &card);

    if (status != CPUBIND_TEXT_OK)
        return status;
    if (r->n == r->total)
        return fail_pair(in, p, "there are more cards than the count says");
    if (!r->out)
        status = note_device(in, &r->keys, p->name.at, card, -1);
    r->seen = 1u << KEY_CARD;
    r->card = no_card;
    r->card.card = card;
    r->n++;
    return status;
}

static cpubind_text_status read_card_pair(const scan_text *in, list_reader *r, const pair *p)
{
    cpubind_text_status status;

    if (p->key != KEY_N_CHIP && p->key != KEY_PRODUCT && p->key != KEY_SERIAL)
        return CPUBIND_TEXT_OK;
    if (r->n == 0)
        return fail_pair(in, p, "a key comes before the first NPU ID");
    status = note_key(in, p, &r->seen);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (p->key == KEY_N_CHIP)
        return read_count(in, p->value, &r->card.n_chip);
    if (p->key == KEY_PRODUCT)
        r->card.product = name_of(in, p->value);
    else
        r->card.serial = name_of(in, p->value);
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status read_list_pair(const scan_text *in, list_reader *r, const pair *p)
{
    cpubind_text_fault fault = {0, NULL};
    const scan_text quiet = {in->text, in->len, &fault};
    cpubind_text_status status;

    if (p->key == KEY_TOTAL)
        status = read_total(&quiet, r, p);
    else if (p->key == KEY_CARD)
        status = open_card(&quiet, r, p);
    else
        status = read_card_pair(&quiet, r, p);
    if (status == CPUBIND_TEXT_OK && r->out && r->n > 0)
        r->out[r->n - 1] = r->card;
    return end_value(in, p, status, &fault);
}

/*   cards  = *line                       one count, then as many blocks as it says
 *   count  = "Total Count" pair / "Card Count" pair      number, at least 1
 *   block  = "NPU ID" pair *pair         up to the next block; a block may hold one key once
 *   values   "NPU ID"                    number
 *            "Chip Count"                number / "NA"
 *            "Product Name", "Serial Number"      anything; NA is an empty name
 *            any other key               anything */
static cpubind_text_status read_cards(const scan_text *in, list_reader *r)
{
    pair p = {{{0, 0}, 0, 0}, {0, 0}, {0, 0}, N_KEY};
    cpubind_text_status status = CPUBIND_TEXT_OK;

    r->n = 0;
    r->total = -1;
    r->seen = 0;
    r->card = no_card;
    r->unknown.at = r->unknown.len = 0;
    r->keys.n = 0;
    while (next_pair(in, &p, &r->unknown, &status)) {
        if (p.key >= N_KEY)
            continue;
        status = read_list_pair(in, r, &p);
        if (status != CPUBIND_TEXT_OK)
            return status;
    }
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (r->total < 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len, "there is no Total Count");
    if (r->n < r->total)
        return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len,
                         "there are fewer cards than the count says");
    if (r->n == 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len, "the list has no NPU");
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_npusmi_parse_list(const char *text, int32_t len,
                                              cpubind_npusmi_cards *cards,
                                              cpubind_text_fault *fault)
{
    const scan_text in = {len > 0 ? text : "", len, fault};
    list_reader r;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !cards || !scan_is_array(cards->card, cards->cap_card))
        return scan_fail_arg(fault);
    r.out = NULL;
    status = read_cards(&in, &r);
    if (status != CPUBIND_TEXT_OK)
        return cpubind_priv_npusmi_refused_or(&in, status);
    cards->n_card = r.n;
    if (r.n > cards->cap_card)
        return scan_fail_space(&in);
    cards->unknown = r.unknown;
    r.out = cards->card;
    return read_cards(&in, &r);
}
