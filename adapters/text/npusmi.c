/* npusmi.c - what npu-smi prints: `info -m`, `info -t topo`, `info`
 * SPDX-License-Identifier: MIT
 *
 * Tables to arrays, for all product families and versions 21 to 26. Pure: no I/O, no malloc, no
 * errno, no locale. It must not rely on columns: widths differ between versions, and one long
 * word moves all that is behind it. It must not guess either: an id that is not printed is -1.
 *
 * WORDS OF THE GRAMMARS
 *   A line is taken without the blanks (space, TAB, CR) around it. The last line may lack its
 *   line feed. Every reader runs twice over the text: once to check and count (out is NULL),
 *   once to write.
 */
#include "npusmi.h"

#include "scan.h"

/* == refusals =============================================================== */

/*   refusal = one of these at the start of a line, then anything */
static const struct refusal_text {
    const char *start;
    int32_t len;
    cpubind_npusmi_refusal refusal;
} refusal_texts[] = {
#define REFUSAL(start, refusal)                                                                \
    {                                                                                          \
        (start), (int32_t)(sizeof(start) - 1), (refusal)                                       \
    }
    REFUSAL("There is no NPU card on this server", CPUBIND_NPUSMI_NO_NPU),
    REFUSAL("This device does not support", CPUBIND_NPUSMI_NOT_SUPPORTED),
    REFUSAL("This command cannot be executed on", CPUBIND_NPUSMI_VM),
    REFUSAL("dcmi module initialize failed", CPUBIND_NPUSMI_DRIVER),
    REFUSAL("dcmi model initialized failed", CPUBIND_NPUSMI_DRIVER),
    REFUSAL("npu get board type failed", CPUBIND_NPUSMI_DRIVER),
    REFUSAL("Failed to query ", CPUBIND_NPUSMI_QUERY),
    REFUSAL("Error parameter of", CPUBIND_NPUSMI_PARAMETER),
    REFUSAL("Invalid card id", CPUBIND_NPUSMI_PARAMETER),
#undef REFUSAL
};

cpubind_npusmi_refusal cpubind_npusmi_find_refusal(const char *text, int32_t len,
                                                   cpubind_slice *out_line)
{
    const scan_text in = {text, len, NULL};
    scan_line line = {{0, 0}, 0, 0};

    if (!scan_is_text(text, len))
        return CPUBIND_NPUSMI_NONE;
    while (scan_next_line(&in, &line)) {
        for (size_t i = 0; i < sizeof refusal_texts / sizeof refusal_texts[0]; i++) {
            const struct refusal_text *known = &refusal_texts[i];

            if (!scan_starts(&in, line.run, known->start, known->len))
                continue;
            if (out_line)
                *out_line = scan_slice(line.run);
            return known->refusal;
        }
    }
    return CPUBIND_NPUSMI_NONE;
}

/* A text that is no table may be a refusal: then that is what is wrong with it. */
static cpubind_text_status refused_or(const scan_text *in, cpubind_text_status status)
{
    cpubind_slice line = {0, 0};

    if (status != CPUBIND_TEXT_ERR_SYNTAX && status != CPUBIND_TEXT_ERR_CUT &&
        status != CPUBIND_TEXT_ERR_MISSING)
        return status;
    if (cpubind_npusmi_find_refusal(in->text, in->len, &line) == CPUBIND_NPUSMI_NONE)
        return status;
    return scan_fail(in, CPUBIND_TEXT_ERR_REFUSED, line.at, "npu-smi refused to answer");
}

/* == what the three readers share ========================================== */

/* A row that lacks something: at the end of the text it was cut, else it was never whole. */
static cpubind_text_status fail_short(const scan_text *in, const scan_line *line,
                                      const char *what)
{
    return scan_fail(in, line->ended ? CPUBIND_TEXT_ERR_SYNTAX : CPUBIND_TEXT_ERR_CUT,
                     line->run.end, what);
}

static int is_all_digits(const scan_text *in, scan_run run)
{
    for (int32_t i = run.at; i < run.end; i++)
        if (!scan_is_digit(in->text[i]))
            return 0;
    return run.at < run.end;
}

/* Whether the run starts with these ASCII letters, whatever their case ("Phy-ID", "Phy-Id"). */
static int starts_with_letters(const scan_text *in, scan_run run, const char *letters,
                               int32_t n)
{
    if (run.end - run.at < n)
        return 0;
    for (int32_t i = 0; i < n; i++) {
        const char a = in->text[run.at + i], b = letters[i];
        const int letter = (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z');

        if (a != b && !(letter && (a ^ b) == 'a' - 'A'))
            return 0;
    }
    return 1;
}

#define STARTS_WITH_LETTERS(in, run, literal)                                                  \
    starts_with_letters((in), (run), (literal), (int32_t)(sizeof(literal) - 1))

/* What stands where a chip has no such id. */
static int is_no_id(const scan_text *in, scan_run word)
{
    return SCAN_IS(in, word, "-") || SCAN_IS(in, word, "NA") || SCAN_IS(in, word, "MCU");
}

/* == info -m ================================================================ */

enum {
    COLUMN_CARD,
    COLUMN_SLOT,
    COLUMN_CHIP,
    COLUMN_LOGIC,
    COLUMN_PHY,
    COLUMN_NAME,
    N_COLUMN,
    COLUMN_NONE = -1
};

static const struct column_name {
    const char *name;
    int32_t len;
} column_names[N_COLUMN] = {
#define COLUMN(name)                                                                           \
    {                                                                                          \
        (name), (int32_t)(sizeof(name) - 1)                                                    \
    }
    [COLUMN_CARD] = COLUMN("NPU ID"),     [COLUMN_SLOT] = COLUMN("Slot ID"),
    [COLUMN_CHIP] = COLUMN("Chip ID"),    [COLUMN_LOGIC] = COLUMN("Chip Logic ID"),
    [COLUMN_PHY] = COLUMN("Chip Phy-ID"), [COLUMN_NAME] = COLUMN("Chip Name"),
#undef COLUMN
};

/* The table while it is read. A host has 16 to 64 chips; the keys take 32 KiB of stack. */
typedef struct map_reader {
    cpubind_npusmi_chip *out; /* NULL: check and count */
    int32_t n;
    int32_t n_column; /* 0 until the header was read */
    int32_t column[N_COLUMN];
    uint64_t key[CPUBIND_MAX_DEVICES]; /* card and chip of each row, to find a repeated one */
    uint64_t max_key;
} map_reader;

/* The column whose name starts at `at`, and where it ends. */
static int32_t read_column(const scan_text *in, int32_t at, int32_t end, int32_t *next)
{
    const scan_run rest = {at, end};

    for (int32_t i = 0; i < N_COLUMN; i++) {
        const int32_t stop = at + column_names[i].len;

        if (starts_with_letters(in, rest, column_names[i].name, column_names[i].len) &&
            (stop == end || scan_is_blank(in->text[stop]))) {
            *next = scan_word(in, stop, end).at;
            return i;
        }
    }
    return COLUMN_NONE;
}

/* A line that starts with the names of two columns. */
static int is_map_header(const scan_text *in, scan_run run)
{
    int32_t at = run.at;

    return read_column(in, at, run.end, &at) != COLUMN_NONE && at < run.end &&
           read_column(in, at, run.end, &at) != COLUMN_NONE;
}

static cpubind_text_status read_map_header(const scan_text *in, const scan_line *line,
                                           map_reader *map)
{
    int32_t at = line->run.at, n = 0;
    uint32_t seen = 0;
    const uint32_t needed = 1u << COLUMN_CARD | 1u << COLUMN_CHIP | 1u << COLUMN_NAME;

    if (map->n_column > 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at, "the header is there twice");
    while (at < line->run.end) {
        const int32_t start = at;
        const int32_t column = read_column(in, at, line->run.end, &at);

        if (column == COLUMN_NONE)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, start, "a column is not known");
        if (seen & 1u << column)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, start, "a column is there twice");
        seen |= 1u << column;
        map->column[n++] = column;
    }
    if ((seen & needed) != needed)
        return fail_short(in, line, "the header lacks NPU ID, Chip ID or Chip Name");
    if (map->column[n - 1] != COLUMN_NAME)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, line->run.at,
                         "Chip Name is not the last column");
    map->n_column = n;
    return CPUBIND_TEXT_OK;
}

/* Refuses a second row of the same card and chip. npu-smi prints them ascending, so that the
 * search is for texts that it did not write. */
static cpubind_text_status note_key(const scan_text *in, map_reader *map, int32_t offset,
                                    const cpubind_npusmi_chip *chip)
{
    const uint64_t key = (uint64_t)chip->card << 32 | (uint64_t)chip->chip;

    if (map->n == CPUBIND_MAX_DEVICES)
        return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, offset, "there are too many chips");
    if (map->n > 0 && key <= map->max_key)
        for (int32_t i = 0; i < map->n; i++)
            if (map->key[i] == key)
                return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, offset,
                                 "the same card and chip are there twice");
    if (map->n == 0 || key > map->max_key)
        map->max_key = key;
    map->key[map->n] = key;
    return CPUBIND_TEXT_OK;
}

/* One id cell of a row; -1 for a cell that says "none" where that may be. */
static cpubind_text_status read_map_id(const scan_text *in, int32_t column, scan_run word,
                                       int32_t *id)
{
    *id = -1;
    if (column != COLUMN_CARD && column != COLUMN_CHIP && is_no_id(in, word))
        return CPUBIND_TEXT_OK;
    return scan_whole_number(in, word, INT32_MAX, id);
}

/* Board controllers (Mcu, 3559) have no logic id; on a 950, which prints none, no phy id. */
static int is_controller(uint32_t has, const int32_t *id)
{
    if (has & 1u << COLUMN_LOGIC)
        return id[COLUMN_LOGIC] < 0;
    return (has & 1u << COLUMN_PHY) && id[COLUMN_PHY] < 0;
}

static cpubind_text_status read_map_row(const scan_text *in, const scan_line *line,
                                        map_reader *map)
{
    int32_t id[N_COLUMN] = {-1, -1, -1, -1, -1, -1};
    uint32_t has = 0;
    scan_run rest = line->run;
    cpubind_npusmi_chip chip;
    cpubind_text_status status = CPUBIND_TEXT_OK;

    for (int32_t i = 0; i < map->n_column - 1; i++) {
        const int32_t column = map->column[i];
        const scan_run word = scan_word(in, rest.at, rest.end);

        if (scan_is_empty(word))
            return fail_short(in, line, "the row ends before its last cell");
        status = read_map_id(in, column, word, &id[column]);
        if (status != CPUBIND_TEXT_OK)
            return status;
        has |= 1u << column;
        rest.at = word.end;
    }
    rest = scan_trim(in, rest);
    if (scan_is_empty(rest))
        return fail_short(in, line, "the row ends before its chip name");
    if (is_controller(has, id))
        return CPUBIND_TEXT_OK;
    chip.card = id[COLUMN_CARD];
    chip.chip = id[COLUMN_CHIP];
    chip.logic = id[COLUMN_LOGIC];
    chip.phy = id[COLUMN_PHY];
    chip.name = scan_slice(rest);
    if (map->out)
        map->out[map->n] = chip;
    else
        status = note_key(in, map, line->run.at, &chip);
    map->n++;
    return status;
}

/* Whether a line must be read as a row. Before the header only a line that starts with two
 * numbers is one; behind it one number in the first two words is enough, so that a row with one
 * broken cell is an error and not noise. */
static int is_map_row(const scan_text *in, scan_run run, int32_t has_header)
{
    const scan_run first = scan_word(in, run.at, run.end);
    const scan_run second = scan_word(in, first.end, run.end);

    if (has_header)
        return scan_starts_with_digit(in, first) || is_all_digits(in, second);
    return is_all_digits(in, first) && is_all_digits(in, second);
}

/*   map    = *noise header *( row / noise )
 *   header = column 1*( blanks column )    each at most once, "Chip Name" last; "NPU ID" and
 *                                          "Chip ID" must be there
 *   column = "NPU ID" / "Slot ID" / "Chip ID" / "Chip Logic ID" / "Chip Phy-ID" / "Chip Name"
 *   row    = 1*( id blanks ) name          as many ids as columns stand before "Chip Name"
 *   id     = number / "-" / "NA" / "MCU"   NPU ID and Chip ID are numbers
 *   name   = word *( blanks word )
 *   noise  = a line that is_map_row does not take for a row */
static cpubind_text_status read_map(const scan_text *in, map_reader *map)
{
    scan_line line = {{0, 0}, 0, 0};

    map->n = 0;
    map->n_column = 0;
    map->max_key = 0;
    while (scan_next_line(in, &line)) {
        cpubind_text_status status = CPUBIND_TEXT_OK;

        if (is_map_header(in, line.run))
            status = read_map_header(in, &line, map);
        else if (!is_map_row(in, line.run, map->n_column > 0))
            continue;
        else if (map->n_column > 0)
            status = read_map_row(in, &line, map);
        else
            status = scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, line.run.at,
                               "a row stands before the header");
        if (status != CPUBIND_TEXT_OK)
            return status;
    }
    if (map->n == 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len,
                         map->n_column > 0 ? "the table has no NPU" : "there is no header");
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_npusmi_parse_map(const char *text, int32_t len,
                                             cpubind_npusmi_chip *chip, int32_t cap,
                                             int32_t *out_n, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    map_reader map;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !scan_is_array(chip, cap) || !out_n)
        return scan_fail_arg(fault);
    map.out = NULL;
    status = read_map(&in, &map);
    if (status != CPUBIND_TEXT_OK)
        return refused_or(&in, status);
    *out_n = map.n;
    if (map.n > cap)
        return scan_fail_space(&in);
    map.out = chip;
    return read_map(&in, &map);
}

/* == info -t topo =========================================================== */

enum { LABEL_NIC = -1 }; /* beside CPUBIND_NPUSMI_LABEL_CARD and _PHY */

/* The table while it is read. The labels and marks take 20 KiB of stack. */
typedef struct topo_reader {
    cpubind_npusmi_affinity *row; /* NULL: check and count */
    int32_t *cpu;
    int32_t n_row;
    int32_t n_cpu;
    int32_t n_label; /* 0 until the header was read */
    int32_t n_npu;   /* labels that are not NIC */
    int32_t hint;    /* the label that the next row most likely has */
    int32_t has_affinity;
    int32_t kind; /* of the NPU labels */
    scan_run header;
    int32_t label[CPUBIND_MAX_DEVICES]; /* the id; ~id for a NIC */
    uint8_t seen[CPUBIND_MAX_DEVICES];  /* 1: its row was read */
} topo_reader;

/*   label  = ( "NPU" / "Phy-ID" / "NIC" ) number
 * 0 when the word is none. */
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

/* The header starts with a label as a row does; what follows it tells them apart. */
static int is_topo_header(const scan_text *in, scan_run run, scan_run first)
{
    const scan_run second = scan_word(in, first.end, run.end);
    int32_t kind = 0, id = 0;

    return scan_is_empty(second) || SCAN_IS(in, second, "CPU") ||
           read_label(in, second, &kind, &id);
}

/* Index of a label, looked for from the hint on; -1 when the header does not have it. */
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
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, line->run.at,
                         "the header is there twice");
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

/* The CPU Affinity cell, the last of its row; a node without a CPU leaves it empty. */
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
    if (out)
        cpubind_priv_write_list(in, &list, out);
    *out_n = list.n;
    return CPUBIND_TEXT_OK;
}

/* One link per label, then the affinity. Links are words that start with a letter; which words
 * depends on the product. */
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
                             "a number stands where a link should");
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
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, first.at, "a row is there twice");
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

/* A line that starts with a label: the header or a row. */
static cpubind_text_status read_topo_line(const scan_text *in, const scan_line *line,
                                          topo_reader *topo, scan_run first, int32_t kind,
                                          int32_t id)
{
    const int32_t is_cut_label = topo->n_label > 0 && first.end == line->run.end;

    if (is_topo_header(in, line->run, first) && !is_cut_label)
        return read_topo_header(in, line, topo);
    if (topo->n_label == 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, first.at,
                         "a row stands before the header");
    if (kind != LABEL_NIC && kind != topo->kind)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, first.at,
                         "the header does not have the label of this row");
    return read_topo_row(in, line, topo, first, id);
}

/* Every NPU of the header must have had its row. Rows of NICs carry nothing that is kept. */
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
 * Each label has one row, in any order. */
static cpubind_text_status read_topo(const scan_text *in, topo_reader *topo)
{
    scan_line line = {{0, 0}, 0, 0};

    topo->n_row = topo->n_cpu = topo->n_label = topo->n_npu = topo->hint = 0;
    topo->has_affinity = topo->kind = 0;
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
        return refused_or(&in, status);
    topo->n_row = reader.n_row;
    topo->n_cpu = reader.n_cpu;
    if (reader.n_row > topo->cap_row || reader.n_cpu > topo->cap_cpu)
        return scan_fail_space(&in);
    topo->label = (cpubind_npusmi_label)reader.kind;
    topo->has_affinity = reader.has_affinity;
    reader.row = topo->row;
    reader.cpu = topo->cpu;
    return read_topo(&in, &reader);
}

/* == info =================================================================== */

/* Which table the lines belong to: the one whose header was last. */
typedef enum section { SECTION_NONE, SECTION_DEVICE, SECTION_PROCESS } section;

/* What the second number of a device is: its header says so, or nobody does. */
typedef enum second_id { SECOND_UNKNOWN, SECOND_ABSENT, SECOND_LOGIC, SECOND_PHY } second_id;

enum {
    NARROW_CELLS = 3,    /* a device row: NPU Name | Health | values */
    WIDE_CELLS = 4,      /* of a 950: NPU ID | Name | Health | values */
    PROCESS_CELLS = 4,   /* ids | pid | name | memory */
    CONTAINER_CELLS = 5, /* 26.x: and the pid in the container */
    ROW_CELLS = 5        /* a name with bars makes more; they are found from the right */
};

/* A line between bars. */
typedef struct bar_row {
    const scan_line *line;
    int32_t n; /* cells, which may be more than are held */
    scan_run cell[ROW_CELLS];
    int32_t last_bar; /* its offset */
} bar_row;

/* The tables while they are read. */
typedef struct info_reader {
    cpubind_npusmi_device *device; /* NULL: do not write */
    cpubind_npusmi_process *process;
    int32_t n_device;
    int32_t n_process;
    section section;
    second_id second;
    int32_t header_lines;  /* of the device table: 0, 1 or 2 */
    int32_t device_cells;  /* 0 until a header or a row tells */
    int32_t process_cells; /* of the process table's header */
    int32_t n_id;          /* ids of a process row: 1, 2, or 0 when the header does not tell */
    int32_t is_half;       /* 1: `half` waits for its second line */
    cpubind_npusmi_device half;
    cpubind_slice version;
} info_reader;

static cpubind_text_status split_row(const scan_text *in, const scan_line *line, bar_row *row)
{
    int32_t at = line->run.at + 1, end = line->run.end;

    row->line = line;
    row->n = 0;
    while (at < end) {
        const char *bar = (const char *)memchr(in->text + at, '|', (size_t)(end - at));

        if (!bar)
            return fail_short(in, line, "the row ends before its last bar");
        if (row->n < ROW_CELLS) {
            row->cell[row->n].at = at;
            row->cell[row->n].end = (int32_t)(bar - in->text);
        }
        row->n++;
        row->last_bar = (int32_t)(bar - in->text);
        at = row->last_bar + 1;
    }
    if (row->n == 0)
        return fail_short(in, line, "the row ends before its last bar");
    for (int32_t i = 0; i < row->n && i < ROW_CELLS; i++)
        row->cell[i] = scan_trim(in, row->cell[i]);
    return CPUBIND_TEXT_OK;
}

/* The cell that ends at the bar `end`, not left of `from`. */
static scan_run cell_before(const scan_text *in, int32_t from, int32_t end)
{
    scan_run cell = {end, end};

    while (cell.at > from && in->text[cell.at - 1] != '|')
        cell.at--;
    return cell;
}

static cpubind_text_status fail_cell(const scan_text *in, scan_run cell, const char *what)
{
    return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, cell.at, what);
}

/*   pci    = domain ":" bus ":" device "." function / "NA"     hexadecimal, either case */
static cpubind_text_status read_pci(const scan_text *in, scan_run cell,
                                    cpubind_pci_address *pci)
{
    static const struct {
        int32_t max;
        char before;
    } part[] = {{INT32_MAX, 0}, {0xff, ':'}, {0x1f, ':'}, {7, '.'}};
    int32_t value[4] = {-1, -1, -1, -1};

    if (!SCAN_IS(in, cell, "NA")) {
        for (int32_t i = 0; i < 4; i++) {
            cpubind_text_status status;

            if (i > 0 && (cell.at == cell.end || in->text[cell.at++] != part[i].before))
                return fail_cell(in, cell, "a cell is no PCI address and not NA");
            status = scan_hex(in, &cell.at, cell.end, part[i].max, &value[i]);
            if (status != CPUBIND_TEXT_OK)
                return status;
        }
        if (!scan_is_empty(cell))
            return fail_cell(in, cell, "a byte does not belong to a PCI address");
    }
    pci->domain = value[0];
    pci->bus = value[1];
    pci->device = value[2];
    pci->function = value[3];
    return CPUBIND_TEXT_OK;
}

/* -- the device table -- */

/*   device1 = "|" card [ name ] "|" health "|" values "|"
 *   device1 = "|" card "|" [ name ] "|" health "|" values "|"      wide
 *   health  = a word that starts with no digit */
static cpubind_text_status read_device_start(const scan_text *in, const bar_row *row,
                                             info_reader *info)
{
    const int32_t wide = row->n == WIDE_CELLS;
    const scan_run health = row->cell[wide ? 2 : 1];
    scan_run card = row->cell[0], name = row->cell[1];
    cpubind_npusmi_device *half = &info->half;
    cpubind_text_status status;

    if (!wide) {
        card = scan_word(in, card.at, card.end);
        name = scan_word(in, card.end, row->cell[0].end);
        name.end = row->cell[0].end;
    } else if (is_all_digits(in, name)) {
        return fail_cell(in, card, "a row of a process stands before its header");
    }
    status = scan_whole_number(in, card, INT32_MAX, &half->card);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (scan_is_empty(health) || scan_starts_with_digit(in, health))
        return fail_cell(in, health, "a cell is no health of a device");
    if (scan_is_empty(row->cell[row->n - 1]))
        return fail_cell(in, row->cell[row->n - 1], "the values of a device are missing");
    half->name = scan_slice(name);
    half->health = scan_slice(health);
    info->is_half = 1;
    return CPUBIND_TEXT_OK;
}

/*   ids = chip [ blanks second ]       the second when the header has a word for it */
static cpubind_text_status read_device_ids(const scan_text *in, scan_run cell,
                                           info_reader *info)
{
    const scan_run chip = scan_word(in, cell.at, cell.end);
    scan_run second = scan_word(in, chip.end, cell.end);
    int32_t id = -1;
    cpubind_text_status status = scan_whole_number(in, chip, INT32_MAX, &info->half.chip);

    second.end = cell.end;
    if (status == CPUBIND_TEXT_OK && !scan_is_empty(second))
        status = scan_whole_number(in, second, INT32_MAX, &id);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (info->second != SECOND_UNKNOWN &&
        scan_is_empty(second) != (info->second == SECOND_ABSENT))
        return fail_cell(in, second, "a device has not the ids that the header names");
    info->half.phy = info->second == SECOND_PHY ? id : -1;
    info->half.logic = info->second == SECOND_LOGIC ? id : -1;
    return CPUBIND_TEXT_OK;
}

/*   device2 = "|" ids "|" pci "|" values "|"
 *   device2 = "|" "|" "|" pci "|" values "|"                       wide */
static cpubind_text_status read_device_end(const scan_text *in, const bar_row *row,
                                           info_reader *info)
{
    const int32_t wide = row->n == WIDE_CELLS;
    cpubind_text_status status = CPUBIND_TEXT_OK;

    if (!wide) {
        status = read_device_ids(in, row->cell[0], info);
    } else {
        if (!scan_is_empty(row->cell[0]) || !scan_is_empty(row->cell[1]))
            return fail_cell(in, row->cell[0], "a device ends before its second line");
        info->half.chip = 0;
        info->half.logic = info->half.phy = -1;
    }
    if (status == CPUBIND_TEXT_OK)
        status = read_pci(in, row->cell[wide ? 2 : 1], &info->half.pci);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (scan_is_empty(row->cell[row->n - 1]))
        return fail_cell(in, row->cell[row->n - 1], "the values of a device are missing");
    if (info->device)
        info->device[info->n_device] = info->half;
    info->n_device++;
    info->is_half = 0;
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status read_device(const scan_text *in, const bar_row *row,
                                       info_reader *info)
{
    if (info->device_cells == 0 && (row->n == NARROW_CELLS || row->n == WIDE_CELLS))
        info->device_cells = row->n;
    if (row->n < info->device_cells)
        return fail_short(in, row->line, "a device has fewer cells than its table");
    if (row->n != info->device_cells)
        return fail_cell(in, row->cell[0], "a device has not as many cells as its table");
    return info->is_half ? read_device_end(in, row, info) : read_device_start(in, row, info);
}

/* A line of the device table's header. Its words count only where they name the second id. */
static cpubind_text_status read_device_header(const scan_text *in, const bar_row *row,
                                              info_reader *info)
{
    const scan_run first = scan_word(in, row->cell[0].at, row->cell[0].end);
    const scan_run second = scan_word(in, first.end, row->cell[0].end);

    if (info->section == SECTION_PROCESS || info->n_device > 0 || info->header_lines == 2)
        return fail_cell(in, row->cell[0], "a header of devices stands behind a row");
    if (info->header_lines > 0 && row->n != info->device_cells)
        return fail_cell(in, row->cell[0], "the two lines of a header differ");
    info->section = SECTION_DEVICE;
    info->device_cells = row->n;
    info->header_lines++;
    if (SCAN_IS(in, first, "Chip")) {
        info->header_lines = 2;
        if (scan_is_empty(second))
            info->second = SECOND_ABSENT;
        else if (STARTS_WITH_LETTERS(in, second, "Phy-ID"))
            info->second = SECOND_PHY;
        else if (SCAN_IS(in, second, "Device"))
            info->second = SECOND_LOGIC;
    }
    return CPUBIND_TEXT_OK;
}

/* -- the process table -- */

/* Its header is known by the number of its cells, for its words may be translated. */
static cpubind_text_status read_process_header(const scan_text *in, const bar_row *row,
                                               info_reader *info)
{
    const scan_run first = scan_word(in, row->cell[0].at, row->cell[0].end);
    const scan_run second = scan_word(in, first.end, row->cell[0].end);

    if (info->section == SECTION_PROCESS)
        return fail_cell(in, row->cell[0], "the header of processes is there twice");
    info->section = SECTION_PROCESS;
    info->process_cells = row->n;
    if (SCAN_IS(in, first, "NPU") && SCAN_IS(in, second, "Chip"))
        info->n_id = 2;
    else if (SCAN_IS(in, first, "NPU") && SCAN_IS(in, second, "ID"))
        info->n_id = 1;
    return CPUBIND_TEXT_OK;
}

/*   ids = card blanks chip / card       a 950 prints the card alone */
static cpubind_text_status read_process_ids(const scan_text *in, scan_run cell,
                                            const info_reader *info,
                                            cpubind_npusmi_process *process)
{
    const scan_run card = scan_word(in, cell.at, cell.end);
    scan_run chip = scan_word(in, card.end, cell.end);
    cpubind_text_status status = scan_whole_number(in, card, INT32_MAX, &process->card);

    chip.end = cell.end;
    process->chip = -1;
    if (status == CPUBIND_TEXT_OK && !scan_is_empty(chip))
        status = scan_whole_number(in, chip, INT32_MAX, &process->chip);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (info->n_id > 0 && scan_is_empty(chip) != (info->n_id == 1))
        return fail_cell(in, chip, "a process has not the ids that the header names");
    return CPUBIND_TEXT_OK;
}

/*   process = "|" ids "|" pid "|" name "|" memory "|" [ pid-or-NA "|" ]
 *   name    = *byte                     may be empty and may hold bars: the cells behind it are
 *                                       found from the right */
static cpubind_text_status read_process(const scan_text *in, const bar_row *row,
                                        info_reader *info)
{
    cpubind_npusmi_process process;
    scan_run memory, name;
    int32_t bar = row->last_bar;
    cpubind_text_status status = read_process_ids(in, row->cell[0], info, &process);

    if (status != CPUBIND_TEXT_OK)
        return status;
    if (row->n < info->process_cells)
        return fail_short(in, row->line, "a process has fewer cells than its table");
    status = scan_whole_number(in, row->cell[1], INT32_MAX, &process.pid);
    process.container_pid = -1;
    if (status == CPUBIND_TEXT_OK && info->process_cells == CONTAINER_CELLS) {
        const scan_run cell = cell_before(in, row->cell[2].at, bar);
        const scan_run pid = scan_trim(in, cell);

        if (!is_no_id(in, pid))
            status = scan_whole_number(in, pid, INT32_MAX, &process.container_pid);
        bar = cell.at - 1;
    }
    if (status != CPUBIND_TEXT_OK)
        return status;
    memory = cell_before(in, row->cell[2].at, bar);
    name.at = row->cell[2].at;
    name.end = memory.at - 1;
    memory = scan_trim(in, memory);
    if (!is_all_digits(in, memory) && !is_no_id(in, memory))
        return fail_cell(in, memory, "a memory size is no number");
    process.name = scan_slice(scan_trim(in, name));
    if (info->process)
        info->process[info->n_process] = process;
    info->n_process++;
    return CPUBIND_TEXT_OK;
}

/* -- both -- */

/* A row of one cell: the title, or a message such as "No running processes found in NPU 0". */
static cpubind_text_status read_message(const scan_text *in, const bar_row *row,
                                        info_reader *info)
{
    const scan_run first = scan_word(in, row->cell[0].at, row->cell[0].end);

    if (scan_starts_with_digit(in, first))
        return fail_short(in, row->line, "the row ends before its last cell");
    if (info->version.len == 0 && SCAN_IS(in, first, "npu-smi"))
        info->version = scan_slice(scan_word(in, first.end, row->cell[0].end));
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status read_row(const scan_text *in, const bar_row *row, info_reader *info)
{
    const int32_t is_wide_end =
        row->n == WIDE_CELLS && scan_is_empty(row->cell[0]) && scan_is_empty(row->cell[1]);

    if (info->is_half)
        return read_device(in, row, info);
    if (row->n == 1)
        return read_message(in, row, info);
    if (scan_starts_with_digit(in, row->cell[0]))
        return info->section == SECTION_PROCESS ? read_process(in, row, info)
                                                : read_device(in, row, info);
    if (row->n == NARROW_CELLS || is_wide_end ||
        (row->n == WIDE_CELLS && SCAN_IS(in, row->cell[1], "Name")))
        return read_device_header(in, row, info);
    if (row->n == PROCESS_CELLS || row->n == CONTAINER_CELLS)
        return read_process_header(in, row, info);
    return fail_cell(in, row->cell[0], "a row is of no known kind");
}

/*   info    = *( row / noise )         devices first, then processes; each table may be missing
 *   row     = title / header / device1 / device2 / process / message
 *   title   = "|" "npu-smi" version anything "|"
 *   header  = a row of 3 to 5 cells that starts with no digit: one or two lines of devices, one
 *             of processes
 *   message = a row of one cell that starts with no digit
 *   noise   = a line without a bar at its start: rules, "...", warnings; none between the two
 *             lines of a device
 * Devices without any header are read as far as they go: what their second id means is unknown
 * then. A header of devices behind a row is refused. */
static cpubind_text_status read_info(const scan_text *in, info_reader *info)
{
    scan_line line = {{0, 0}, 0, 0};
    bar_row row;

    info->n_device = info->n_process = 0;
    info->section = SECTION_NONE;
    info->second = SECOND_UNKNOWN;
    info->header_lines = info->device_cells = info->process_cells = info->n_id = 0;
    info->is_half = 0;
    info->version.at = info->version.len = 0;
    while (scan_next_line(in, &line)) {
        cpubind_text_status status = CPUBIND_TEXT_OK;

        if (scan_is_empty(line.run))
            continue;
        if (in->text[line.run.at] != '|') {
            if (info->is_half)
                return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, line.run.at,
                                 "a device ends before its second line");
            continue;
        }
        status = split_row(in, &line, &row);
        if (status == CPUBIND_TEXT_OK)
            status = read_row(in, &row, info);
        if (status != CPUBIND_TEXT_OK)
            return status;
    }
    if (info->is_half)
        return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len,
                         "a device ends before its second line");
    if (info->n_device == 0 && info->section != SECTION_PROCESS)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len,
                         "there is no table of devices or processes");
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_npusmi_parse_info(const char *text, int32_t len,
                                              cpubind_npusmi_info *info,
                                              cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    info_reader reader;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !info || !scan_is_array(info->device, info->cap_device) ||
        !scan_is_array(info->process, info->cap_process))
        return scan_fail_arg(fault);
    reader.device = NULL;
    reader.process = NULL;
    status = read_info(&in, &reader);
    if (status != CPUBIND_TEXT_OK)
        return refused_or(&in, status);
    info->n_device = reader.n_device;
    info->n_process = reader.n_process;
    if (reader.n_device > info->cap_device || reader.n_process > info->cap_process)
        return scan_fail_space(&in);
    info->has_process_table = reader.section == SECTION_PROCESS;
    info->version = reader.version;
    reader.device = info->device;
    reader.process = info->process;
    return read_info(&in, &reader);
}
