/* npusmi_scan.h - private to npusmi_*.c: rows, ids and names as npu-smi prints them
 * SPDX-License-Identifier: MIT
 *
 * The readers of npu-smi must not rely on columns of the text: widths differ between versions,
 * and a long word moves the rest of its line. They must not guess: an id that is not printed
 * is -1.
 *
 * WORDS OF THE GRAMMARS
 *   A line is taken without the blanks (space, TAB, CR) around it. The last line may lack its
 *   line feed. A reader checks and counts everything before it writes: it holds what it read,
 *   or reads the text a second time.
 */
#ifndef CPUBIND_ASCEND_NPUSMI_SCAN_H
#define CPUBIND_ASCEND_NPUSMI_SCAN_H

#include <stddef.h>

#include "../text/scan.h"
#include "npusmi.h"

/* The status of a text that is no table: ERR_REFUSED when it holds a refusal, else `status` and
 * the fault as they are. */
cpubind_text_status cpubind_priv_npusmi_refused_or(const scan_text *in,
                                                   cpubind_text_status status);

/* Keeps the first piece of text that is passed over. */
static inline void note_unknown(cpubind_piece *unknown, scan_run run)
{
    if (unknown->len == 0)
        *unknown = scan_slice(run);
}

/* Fails what is wrong at the start of this run. */
static inline cpubind_text_status fail_at(const scan_text *in, scan_run run, const char *what)
{
    return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, run.at, what);
}

/* Fails a row that lacks something: as cut at the end of the text, else as wrong. */
static inline cpubind_text_status fail_short(const scan_text *in, const scan_line *line,
                                             const char *what)
{
    return scan_fail(in, line->ended ? CPUBIND_TEXT_ERR_SYNTAX : CPUBIND_TEXT_ERR_CUT,
                     line->run.end, what);
}

static inline int is_all_digits(const scan_text *in, scan_run run)
{
    for (int32_t i = run.at; i < run.end; i++)
        if (!scan_is_digit(in->text[i]))
            return 0;
    return run.at < run.end;
}

/* Whether the run starts with these bytes, ASCII letters compared without case. */
static inline int starts_with_letters(const scan_text *in, scan_run run, const char *letters,
                                      int32_t n)
{
    return run.end - run.at >= n && scan_same_letters(in->text + run.at, letters, n);
}

#define STARTS_WITH_LETTERS(in, run, literal)                                                  \
    starts_with_letters((in), (run), (literal), (int32_t)(sizeof(literal) - 1))

/* Whether the run holds these letters, of either case. */
static inline int holds_letters(const scan_text *in, scan_run run, const char *letters)
{
    for (; run.at < run.end; run.at++)
        if (scan_starts_with_letters(in->text + run.at, run.end - run.at, letters))
            return 1;
    return 0;
}

/* Whether the run starts with a name, letters of either case. Where the name has a blank or a
 * hyphen the run may have one of " -_", or nothing: "Chip Logic ID", "Chip Logic-ID". *stop is
 * where the name ends. */
static inline int starts_with_name(const scan_text *in, scan_run run, const char *name,
                                   int32_t *stop)
{
    int32_t at = run.at;

    for (; *name; name++) {
        const char c = at < run.end ? in->text[at] : '\n';

        if (*name == ' ' || *name == '-')
            at += c == ' ' || c == '-' || c == '_';
        else if (scan_to_lower(c) == scan_to_lower(*name))
            at++;
        else
            return 0;
    }
    *stop = at;
    return 1;
}

/* The cell at or after `at`: words that are one blank apart; empty when there is none. */
static inline scan_run scan_cell(const scan_text *in, int32_t at, int32_t end)
{
    scan_run cell;

    at = scan_skip_blanks(in, at, end);
    cell.at = at;
    while (at < end && in->text[at] != '\t' &&
           !(in->text[at] == ' ' && at + 1 < end && scan_is_blank(in->text[at + 1])))
        at++;
    cell.end = at;
    return scan_trim(in, cell);
}

typedef scan_run next_fn(const scan_text *in, int32_t at, int32_t end);

/* How many words (scan_word) or cells (scan_cell) there are. */
static inline int32_t count_runs(const scan_text *in, int32_t at, int32_t end, next_fn *next)
{
    int32_t n = 0;

    for (scan_run run = next(in, at, end); !scan_is_empty(run); run = next(in, run.end, end))
        n++;
    return n;
}

/* Card and chip of each row or block so far, to find a repeated one. A host has 16 to 64 chips;
 * the keys take 16 KiB of stack, of which a thread may have 64. */
typedef struct device_keys {
    int32_t n;
    uint32_t max;
    uint32_t key[CPUBIND_MAX_DEVICES];
} device_keys;

/* Refuses the same card and chip a second time; chip -1 is the whole card. npu-smi prints them
 * ascending: the search is only for damaged text. */
static inline cpubind_text_status note_device(const scan_text *in, device_keys *keys,
                                              int32_t offset, int32_t card, int32_t chip)
{
    enum { CHIP_BITS = 12, CARD_BITS = 20 };
    const uint32_t key = (uint32_t)card << CHIP_BITS | ((uint32_t)chip + 1);

    if (card >> CARD_BITS || chip >= (1 << CHIP_BITS) - 1)
        return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, offset,
                         "the number of a card or a chip is too large");
    if (keys->n == CPUBIND_MAX_DEVICES)
        return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, offset, "there are too many chips");
    if (keys->n > 0 && key <= keys->max)
        for (int32_t i = 0; i < keys->n; i++)
            if (keys->key[i] == key)
                return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, offset,
                                 "the same card or chip is there twice");
    if (keys->n == 0 || key > keys->max)
        keys->max = key;
    keys->key[keys->n++] = key;
    return CPUBIND_TEXT_OK;
}

/* The logic ids so far, one bit each: those that a device may have. */
typedef struct logic_ids {
    uint64_t bits[CPUBIND_MAX_DEVICES / 64];
} logic_ids;

/* Refuses the same logic id a second time. */
static inline cpubind_text_status note_logic(const scan_text *in, logic_ids *ids,
                                             int32_t offset, int32_t logic)
{
    uint64_t bit;

    if (logic < 0 || logic >= CPUBIND_MAX_DEVICES)
        return CPUBIND_TEXT_OK;
    bit = UINT64_C(1) << (logic % 64);
    if (ids->bits[logic / 64] & bit)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, offset, "a logic id occurs twice");
    ids->bits[logic / 64] |= bit;
    return CPUBIND_TEXT_OK;
}

/* Longest name of a chip or a process. The driver keeps 32 bytes for a chip, the kernel 16
 * for a process: a longer name is two rows without the line feed between them. */
enum { NAME_LEN_MAX = 64 };

static inline cpubind_text_status check_name(const scan_text *in, scan_run name)
{
    const int32_t control = scan_find_control(in, name);

    if (name.end - name.at > NAME_LEN_MAX)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, name.at, "a name is too long");
    if (control < name.end)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, control,
                         "a name holds a control character");
    return CPUBIND_TEXT_OK;
}

/* Whether a cell where the number of a card is expected names something else: "NIC0", "Total".
 * A damaged number has no two letters at its start. */
static inline int is_other_kind(const scan_text *in, scan_run cell)
{
    return cell.end - cell.at > 2 && scan_is_letter(in->text[cell.at]) &&
           scan_is_letter(in->text[cell.at + 1]);
}

/* Whether a cell says that the chip has no such id. */
static inline int is_no_id(const scan_text *in, scan_run word)
{
    return SCAN_IS(in, word, "-") || SCAN_IS(in, word, "--") || SCAN_IS(in, word, "NA") ||
           SCAN_IS(in, word, "N/A") || SCAN_IS(in, word, "MCU");
}

/* Whether a line is a message that npu-smi is known to print beside a table, or the mark of a
 * sample that was shortened. */
static inline int is_known_message(const scan_text *in, scan_run run)
{
    return STARTS_WITH_LETTERS(in, run, "Failed to get ") || SCAN_STARTS(in, run, "...") ||
           STARTS_WITH_LETTERS(in, run, "[WARNING]The driver package ");
}

/* The part of a cell before a remark in parentheses, which starts with a letter: "(x16)". */
static inline scan_run before_remark(const scan_text *in, scan_run cell)
{
    int32_t at = cell.at;

    while (at < cell.end && in->text[at] != '(')
        at++;
    if (at > cell.at && at < cell.end && scan_is_letter(in->text[at + 1]) &&
        in->text[cell.end - 1] == ')')
        cell.end = at;
    return scan_trim(in, cell);
}

/* That of a chip without one. */
static const cpubind_pci_address no_pci = {-1, -1, -1, -1};

/*   pci    = domain ":" bus ":" device "." function / "NA"     hexadecimal, either case */
static inline cpubind_text_status read_pci(const scan_text *in, scan_run cell,
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

            if (i > 0 && (cell.at == cell.end || in->text[cell.at] != part[i].before))
                return fail_at(in, cell, "a cell is no PCI address and not NA");
            cell.at += i > 0;
            status = scan_hex(in, &cell.at, cell.end, part[i].max, &value[i]);
            if (status != CPUBIND_TEXT_OK)
                return status;
        }
        if (!scan_is_empty(cell))
            return fail_at(in, cell, "a byte does not belong to a PCI address");
    }
    pci->domain = value[0];
    pci->bus = value[1];
    pci->device = value[2];
    pci->function = value[3];
    return CPUBIND_TEXT_OK;
}

#endif /* CPUBIND_ASCEND_NPUSMI_SCAN_H */
