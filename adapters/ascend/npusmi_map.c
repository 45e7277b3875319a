/* npusmi_map.c - `npu-smi info -m`: card, chip, logic id, phy id, chip name
 * SPDX-License-Identifier: MIT
 *
 * Pure. Columns are found by their names, cells by their order. It must not guess an id that is
 * not printed: that id is -1. The grammar is above the function that reads the lines.
 */
#include "npusmi_scan.h"

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

/* The state of one reading. */
typedef struct map_reader {
    cpubind_npusmi_chip *out; /* NULL: check and count */
    int32_t n;
    int32_t n_column; /* 0 until the header was read */
    int32_t column[N_COLUMN];
    scan_run name; /* of the first chip that has one */
    int32_t has_logic;
    cpubind_slice unknown;
    device_keys keys;
} map_reader;

/* The column whose name starts at `at`, and where its name ends. */
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

/* Whether a line starts with the names of two columns. */
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
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at, "the header occurs twice");
    while (at < line->run.end) {
        const int32_t start = at;
        const int32_t column = read_column(in, at, line->run.end, &at);

        if (column == COLUMN_NONE)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, start, "a column is not known");
        if (seen & 1u << column)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, start, "a column occurs twice");
        seen |= 1u << column;
        map->column[n++] = column;
    }
    if ((seen & needed) != needed)
        return fail_short(in, line, "the header lacks NPU ID, Chip ID or Chip Name");
    if (map->column[n - 1] != COLUMN_NAME)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, line->run.at,
                         "Chip Name is not the last column");
    map->n_column = n;
    map->has_logic = (seen & 1u << COLUMN_LOGIC) != 0;
    return CPUBIND_TEXT_OK;
}

/* Reads an id of a row; -1 when the cell says "none" and may say so. npu-smi prints -1 for a
 * slot that it does not know. */
static cpubind_text_status read_map_id(const scan_text *in, int32_t column, scan_run word,
                                       int32_t *id)
{
    *id = -1;
    if (column != COLUMN_CARD && column != COLUMN_CHIP && is_no_id(in, word))
        return CPUBIND_TEXT_OK;
    if (column == COLUMN_SLOT && SCAN_IS(in, word, "-1"))
        return CPUBIND_TEXT_OK;
    return scan_whole_number(in, word, INT32_MAX, id);
}

/* Whether a row is a board controller (Mcu, 3559): it has no logic id, or no phy id where the
 * product prints no logic ids. */
static int is_controller(uint32_t has, const int32_t *id)
{
    if (has & 1u << COLUMN_LOGIC)
        return id[COLUMN_LOGIC] < 0;
    return (has & 1u << COLUMN_PHY) && id[COLUMN_PHY] < 0;
}

/* Whether a name has at most four words with one blank between them. A longer name is two rows
 * without the line feed between them. */
static int is_one_name(const scan_text *in, scan_run name)
{
    int32_t n_blank = 0;

    for (int32_t i = name.at; i < name.end; i++) {
        if (!scan_is_blank(in->text[i]))
            continue;
        if (++n_blank > 3 || scan_is_blank(in->text[i + 1]))
            return 0;
    }
    return 1;
}

/* Reads the name, the last cell. It is empty when npu-smi could not query the chip. At the end
 * of the text it was cut when the name of another chip is longer and starts with it: all chips
 * of a host have the same name. */
static cpubind_text_status check_map_name(const scan_text *in, const scan_line *line,
                                          const map_reader *map, scan_run name)
{
    const int32_t len = name.end - name.at;

    if (line->ended)
        return CPUBIND_TEXT_OK;
    if (scan_is_empty(name))
        return fail_short(in, line, "the row ends before its chip name");
    if (map->name.end - map->name.at > len &&
        scan_starts(in, map->name, in->text + name.at, len))
        return fail_short(in, line, "the row ends inside its chip name");
    return CPUBIND_TEXT_OK;
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
    status = check_name(in, rest);
    if (status == CPUBIND_TEXT_OK && !is_one_name(in, rest))
        status = scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, rest.at, "a name is two rows in one");
    if (status != CPUBIND_TEXT_OK || is_controller(has, id))
        return status;
    status = check_map_name(in, line, map, rest);
    if (status != CPUBIND_TEXT_OK)
        return status;
    chip.card = id[COLUMN_CARD];
    chip.chip = id[COLUMN_CHIP];
    chip.logic = id[COLUMN_LOGIC];
    chip.phy = id[COLUMN_PHY];
    chip.name = scan_slice(rest);
    if (scan_is_empty(map->name))
        map->name = rest;
    if (map->out)
        map->out[map->n] = chip;
    else
        status = note_device(in, &map->keys, line->run.at, chip.card, chip.chip);
    map->n++;
    return status;
}

/* Whether a line must be read as a row. Before the header it must start with two numbers. After
 * it, one number in the first two words is enough: a row with one broken cell is an error, not
 * noise. */
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
 *   row    = 1*( id blanks ) [ name ]      as many ids as there are columns before "Chip Name"
 *   id     = number / "-" / "NA" / "MCU"   NPU ID and Chip ID are numbers; Slot ID may be "-1"
 *   name   = word *( blanks word )         up to 4 words, one blank apart, and 64 bytes; empty:
 *                                          npu-smi could not query the chip
 *   noise  = a line that is_map_row does not take for a row
 * Rows of a board controller (Mcu, 3559) are no chips; on a card whose chips cannot be listed,
 * several have chip id 0. A cut after a row, or inside the name of the first chip, cannot be
 * detected. */
static cpubind_text_status read_map(const scan_text *in, map_reader *map)
{
    scan_line line = {{0, 0}, 0, 0};

    map->n = 0;
    map->n_column = map->has_logic = 0;
    map->unknown.at = map->unknown.len = 0;
    map->keys.n = 0;
    map->name.at = map->name.end = 0;
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
                               "a row comes before the header");
        if (status != CPUBIND_TEXT_OK)
            return status;
    }
    if (map->n == 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len,
                         map->n_column > 0 ? "the table has no NPU" : "there is no header");
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_npusmi_parse_map(const char *text, int32_t len,
                                             cpubind_npusmi_map *map, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    map_reader reader;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !map || !scan_is_array(map->chip, map->cap_chip))
        return scan_fail_arg(fault);
    reader.out = NULL;
    status = read_map(&in, &reader);
    if (status != CPUBIND_TEXT_OK)
        return cpubind_priv_npusmi_refused_or(&in, status);
    map->n_chip = reader.n;
    if (reader.n > map->cap_chip)
        return scan_fail_space(&in);
    map->has_logic = reader.has_logic;
    map->unknown = reader.unknown;
    reader.out = map->chip;
    return read_map(&in, &reader);
}
