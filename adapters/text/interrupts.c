/* interrupts.c - /proc/interrupts: the number of each interrupt and the names of its handlers
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc, no errno, no locale. It must not keep counters, and must not take
 * words of the interrupt chip for the name of a handler. The format is that of the kernel's
 * show_interrupts, Linux 4.0 to 6.x.
 *
 * GRAMMAR
 *   file     = *empty header *( row / other / empty )      every line ends in LF, the last too
 *   header   = 1*( blanks "CPU" number ) LF         online CPUs, strictly ascending, with holes
 *   row      = number ":" counters blank chip [ hwirq ] [ names ] LF       strictly ascending
 *   counters = n*n( blanks 1*10DIGIT )              n: the CPUs of the header
 *   chip     = word *( blank word )                 "GICv3", "ITS-PCI-MSI-0000:c1:00.0", "-";
 *                                                   its first word is no number
 *   hwirq    = [ blanks 1*DIGIT ] [ blanks level ] [ flow ]
 *   level    = ( "Edge" / "Level" )                 padded to 8 bytes before a flow
 *   flow     = [ blanks ] "-" letter *byte          "-edge", "-fasteoi"
 *   names    = 2*blank name *( ", " name )          a name may hold blanks
 *   other    = label ":" *byte LF                   "NMI:", "IPI0:"; label: a letter, then
 *                                                   letters and digits; left out
 *   blank    = space / TAB / CR, blanks = 1*blank; lines may start and end with them
 *
 * The part of a row after the counters has at most TAIL_MAX bytes and no control character. The
 * part of an other line after its colon is only checked for NUL. A number is no hwirq when one
 * blank and a word other than a level follow it: "2 of 3" is a name.
 *
 * COUNTERS are checked in full. The kernel prints each in 11 bytes, aligned to the right: such
 * cells are checked 16 at once, eight bytes at a time. Any other row is read word by word, with
 * the same result. When all rows consist of cells, the second pass skips the counters, which
 * the first pass has checked. Skipping them in both passes would take a seventh of the time and
 * not detect a byte that was lost among the counters.
 */
#include "interrupts.h"

#include "scan.h"

enum {
    CELL = 11,                  /* bytes of a cell: a blank, and 10 aligned to the right */
    BLOCK_CELLS = 16,           /* counters that are checked at once */
    BLOCK = CELL * BLOCK_CELLS, /* their bytes, a multiple of 8 */
    COUNTER_DIGITS = 10,        /* of 4294967295 */
    LEVEL_WIDTH = 8,            /* bytes that a level is padded to */
    TAIL_MAX = 4096             /* longest part of a row after its counters */
};

typedef struct table {
    cpubind_interrupt *out; /* NULL: check and count */
    int32_t n;
    int32_t n_cpu;
    int32_t last;    /* the number of the row before, or -1 */
    int32_t regular; /* 1: every row so far consists of cells */
    int32_t jump;    /* 1: the counters are known to be cells */
} table;

/* == Counters =============================================================== */

#define EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (value))

static uint64_t load(const char *at)
{
    uint64_t bytes;

    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/* Whether the 176 bytes after the first blank of a cell are the rest of 16 cells and a blank:
 * digits and blanks only, and a blank follows a digit at the end of each cell and nowhere else.
 * A blank becomes 0x00 and a digit 0x10..0x19, so that the bit 0x10 distinguishes them. No sum
 * carries out of its byte unless that byte is bad already. */
static int is_block(const char *cell)
{
#define END "\0\0\0\0\0\0\0\0\0\0\x10"
    static const char ends[] = END END END END END END END END END END END END END END END END;
#undef END
    uint64_t bad = 0;

    for (int32_t i = 0; i < BLOCK; i += 8) {
        const uint64_t before = load(cell + i) & EACH_BYTE(0x10);
        const uint64_t bytes = load(cell + i + 1) ^ EACH_BYTE(0x20);
        const uint64_t digit = bytes & EACH_BYTE(0x10);

        bad |= bytes & ~((digit << 1) - (digit >> 4));      /* not 0x00, 0x10..0x1f */
        bad |= (bytes + EACH_BYTE(0x06)) & EACH_BYTE(0x20); /* 0x1a..0x1f */
        bad |= (before & ~digit) ^ load(ends + i);
    }
    return bad == 0;
}

/* Whether there are n cells at `at` and a blank after them. The last block overlaps the block
 * before it; fewer cells than a block are read word by word. */
static int is_cells(const scan_text *in, int32_t at, int32_t n)
{
    const char *cell = in->text + at;

    if (n < BLOCK_CELLS || in->len - at <= CELL * n || *cell != ' ')
        return 0;
    for (int32_t i = 0; i + BLOCK_CELLS <= n; i += BLOCK_CELLS)
        if (!is_block(cell + CELL * i))
            return 0;
    return n % BLOCK_CELLS == 0 || is_block(cell + CELL * (n - BLOCK_CELLS));
}

/*   counters = n*n( blanks 1*10DIGIT )     and a blank after them */
static cpubind_text_status walk_counters(const scan_text *in, int32_t n, int32_t *at)
{
    int32_t i = *at;

    for (int32_t k = 0; k < n; k++) {
        const int32_t gap = i;
        const int32_t first = scan_skip_blanks(in, i, in->len);

        i = first;
        while (i < in->len && scan_is_digit(in->text[i]) && i - first <= COUNTER_DIGITS)
            i++;
        if (i - first > COUNTER_DIGITS)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, first,
                             "a counter has more than 10 digits");
        if (i == first || first == gap)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, i,
                             "a row has fewer counters than there are CPUs");
    }
    if (i >= in->len || !scan_is_blank(in->text[i]))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, i, "a blank is missing after a counter");
    *at = i;
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status skip_counters(const scan_text *in, table *t, int32_t *at)
{
    if (t->jump || is_cells(in, *at, t->n_cpu)) {
        *at += CELL * t->n_cpu;
        return CPUBIND_TEXT_OK;
    }
    t->regular = 0;
    return walk_counters(in, t->n_cpu, at);
}

/* == After the counters ===================================================== */

static int is_level(const scan_text *in, scan_run word)
{
    return SCAN_IS(in, word, "Edge") || SCAN_IS(in, word, "Level");
}

static int is_flow(const scan_text *in, scan_run word)
{
    return word.end - word.at >= 2 && in->text[word.at] == '-' &&
           scan_is_letter(in->text[word.at + 1]);
}

/* The end of the digits of a word. */
static int32_t digits_end(const scan_text *in, scan_run word)
{
    while (word.at < word.end && scan_is_digit(in->text[word.at]))
        word.at++;
    return word.at;
}

/* The end of a level and of the flow that may follow it; names start two bytes later. */
static int32_t level_end(const scan_text *in, scan_run level, int32_t end)
{
    const scan_run flow = scan_word(in, level.end, end);

    return flow.at == level.at + LEVEL_WIDTH && is_flow(in, flow) ? flow.end : level.end;
}

/*   hwirq    = [ blanks 1*DIGIT ] [ blanks level ] [ flow ]
 * The end of the hwirq when `word` starts one, else 0. */
static int32_t hwirq_end(const scan_text *in, scan_run word, int32_t end)
{
    const scan_run flow = {digits_end(in, word), word.end};
    const scan_run next = scan_word(in, word.end, end);

    if (is_level(in, word))
        return level_end(in, word, end);
    if (is_flow(in, flow))
        return flow.end;
    if (flow.at == word.at || !scan_is_empty(flow))
        return 0;
    if (is_level(in, next) && next.at == word.end + 1)
        return level_end(in, next, end);
    return scan_is_empty(next) || next.at > word.end + 1 ? word.end : 0;
}

/* A word is a name when it starts no hwirq and there is more than one blank before it. */
static scan_run find_names(const scan_text *in, scan_run tail)
{
    scan_run word = scan_word(in, tail.at, tail.end), names = {tail.end, tail.end};

    while (word.end < tail.end) {
        const scan_run next = scan_word(in, word.end, tail.end);
        const int32_t stop = hwirq_end(in, next, tail.end);

        if (stop || next.at > word.end + 1) {
            names.at = stop ? stop : next.at;
            break;
        }
        word = next;
    }
    return scan_trim(in, names);
}

/*              chip [ hwirq ] [ names ] */
static cpubind_text_status read_tail(const scan_text *in, scan_run tail, scan_run *names)
{
    scan_run chip;

    if (tail.end - tail.at > TAIL_MAX)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, tail.at,
                         "what follows the counters is too long");
    tail = scan_trim(in, tail);
    for (int32_t i = tail.at; i < tail.end; i++)
        if ((unsigned char)in->text[i] < ' ' || in->text[i] == 0x7f)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, i, "a row holds a control character");
    chip = scan_word(in, tail.at, tail.end);
    if (scan_is_empty(chip))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, chip.at, "a row names no chip");
    if (digits_end(in, chip) == chip.end)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, chip.at,
                         "a row has more counters than there are CPUs");
    *names = find_names(in, tail);
    return CPUBIND_TEXT_OK;
}

/* == Lines ================================================================== */

static cpubind_text_status fail_cut(const scan_text *in)
{
    return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len, "the text ends in the middle of a row");
}

/* The next line feed at `at` or later, or -1. */
static int32_t find_feed(const scan_text *in, int32_t at)
{
    const char *feed = (const char *)memchr(in->text + at, '\n', (size_t)(in->len - at));

    return feed ? (int32_t)(feed - in->text) : -1;
}

/*   header   = 1*( blanks "CPU" number ) LF */
static cpubind_text_status read_header(const scan_text *in, scan_line *line, int32_t *n_cpu)
{
    int32_t n = 0, last = -1, cpu = 0;
    scan_run word = {0, 0};

    while (scan_next_line(in, line) && scan_is_empty(line->run))
        continue;
    if (!SCAN_STARTS(in, line->run, "CPU"))
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING,
                         scan_is_empty(line->run) ? in->len : line->run.at,
                         "there is no header of CPUs");
    if (!line->ended)
        return fail_cut(in);
    for (word.end = line->run.at; word.end < line->run.end; n++, last = cpu) {
        cpubind_text_status status;

        word = scan_word(in, word.end, line->run.end);
        if (!SCAN_STARTS(in, word, "CPU"))
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, word.at,
                             "a word of the header is no CPU");
        word.at += 3;
        status = scan_whole_number(in, word, CPUBIND_MAX_CPUS - 1, &cpu);
        if (status != CPUBIND_TEXT_OK)
            return status;
        if (cpu <= last)
            return scan_fail(in, CPUBIND_TEXT_ERR_ORDER, word.at, "the CPUs do not ascend");
    }
    *n_cpu = n;
    return CPUBIND_TEXT_OK;
}

/*   row      = number ":" counters blank chip [ hwirq ] [ names ] LF */
static cpubind_text_status read_row(const scan_text *in, table *t, int32_t *at)
{
    const int32_t start = *at;
    int32_t irq = 0, feed;
    scan_run names = {0, 0};
    cpubind_text_status status = scan_number(in, at, in->len, INT32_MAX, &irq);

    if (status != CPUBIND_TEXT_OK)
        return status;
    if (*at == in->len || in->text[*at] != ':')
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, *at,
                         "a colon is missing after the number");
    if (irq <= t->last)
        return scan_fail(in, CPUBIND_TEXT_ERR_ORDER, start, "the numbers do not ascend");
    ++*at;
    status = skip_counters(in, t, at);
    if (status != CPUBIND_TEXT_OK)
        return status;
    feed = find_feed(in, *at);
    if (feed < 0)
        return fail_cut(in);
    status = read_tail(in, (scan_run){*at, feed}, &names);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (t->out) {
        t->out[t->n].irq = irq;
        t->out[t->n].names = scan_slice(names);
    }
    t->n++;
    t->last = irq;
    *at = feed + 1;
    return CPUBIND_TEXT_OK;
}

/*   other    = label ":" *byte LF     without a NUL */
static cpubind_text_status read_other(const scan_text *in, int32_t *at)
{
    const int32_t start = *at, feed = find_feed(in, start);
    const char *nul;
    int32_t i = start;

    if (feed < 0)
        return fail_cut(in);
    while (scan_is_letter(in->text[i]) || (i > start && scan_is_digit(in->text[i])))
        i++;
    if (i == start || in->text[i] != ':')
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, i,
                         "a line starts with no number and no label");
    nul = (const char *)memchr(in->text + i, '\0', (size_t)(feed - i));
    if (nul)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, (int32_t)(nul - in->text),
                         "a line holds a NUL");
    *at = feed + 1;
    return CPUBIND_TEXT_OK;
}

/* Reads the lines from `at` on. A last line without its line feed counts as cut, whatever else
 * is wrong with it. */
static cpubind_text_status read_lines(const scan_text *in, table *t, int32_t at)
{
    while (at < in->len) {
        const int32_t start = at;
        cpubind_text_status status = CPUBIND_TEXT_OK;

        at = scan_skip_blanks(in, at, in->len);
        if (at == in->len)
            return fail_cut(in);
        if (in->text[at] == '\n')
            at++;
        else if (scan_is_digit(in->text[at]))
            status = read_row(in, t, &at);
        else
            status = read_other(in, &at);
        if (status != CPUBIND_TEXT_OK)
            return find_feed(in, start) < 0 ? fail_cut(in) : status;
    }
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_interrupts_parse(const char *text, int32_t len,
                                             cpubind_interrupt_list *list,
                                             cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    scan_line header = {{0, 0}, 0, 0};
    table check = {NULL, 0, 0, -1, 1, 0}, write;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !list || !scan_is_array(list->irq, list->cap))
        return scan_fail_arg(fault);
    status = read_header(&in, &header, &check.n_cpu);
    if (status == CPUBIND_TEXT_OK)
        status = read_lines(&in, &check, header.next);
    if (status != CPUBIND_TEXT_OK)
        return status;
    list->n = check.n;
    if (check.n > list->cap)
        return scan_fail_space(&in);
    list->n_cpu = check.n_cpu;
    write = (table){list->irq, 0, check.n_cpu, -1, 1, check.regular};
    return check.n > 0 ? read_lines(&in, &write, header.next) : CPUBIND_TEXT_OK;
}

/* == Names ================================================================== */

int cpubind_interrupts_next_name(const char *text, cpubind_piece names, int32_t *at,
                                 cpubind_piece *name)
{
    if (!text || !at || !name)
        return 0;
    while (*at >= 0 && *at < names.len) {
        const int32_t start = *at;
        int32_t end = start;

        while (end < names.len && !(text[names.at + end] == ',' && end + 1 < names.len &&
                                    text[names.at + end + 1] == ' '))
            end++;
        *at = end < names.len ? end + 2 : end;
        if (end > start) {
            name->at = names.at + start;
            name->len = end - start;
            return 1;
        }
    }
    return 0;
}
