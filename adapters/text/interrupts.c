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
 */
#include "interrupts.h"

#include "cursor.h"

enum {
    COLUMN = 11,         /* bytes of a counter and the blank before it */
    COUNTER_DIGITS = 10, /* of 4294967295 */
    LEVEL_WIDTH = 8,     /* bytes that a level is padded to */
    TAIL_MAX = 4096      /* longest part of a row after its counters */
};

/* == After the counters ===================================================== */

static int is_level(cursor word)
{
    return cursor_is(word, "Edge") || cursor_is(word, "Level");
}

static int is_flow(cursor word)
{
    return cursor_takes(&word, "-") && word.at < word.end &&
           cursor_is_letter(word.text[word.at]);
}

/* The end of a level and of the flow that may follow it; names start two bytes later. */
static int32_t level_end(cursor level, cursor rest)
{
    const cursor flow = cursor_word(&rest);
    return flow.at == level.at + LEVEL_WIDTH && is_flow(flow) ? flow.end : level.end;
}

/*   hwirq    = [ blanks 1*DIGIT ] [ blanks level ] [ flow ]
 * The end of the hwirq when `word`, with the rest of its row, starts one, else 0. */
static int32_t hwirq_end(cursor word, cursor rest)
{
    cursor flow = word, after = rest;
    const cursor digits = cursor_span(&flow, cursor_is_digit), next = cursor_word(&after);
    if (is_level(word))
        return level_end(word, rest);
    if (is_flow(flow))
        return flow.end;
    if (digits.at == digits.end || flow.at < flow.end)
        return 0;
    if (is_level(next) && next.at == word.end + 1)
        return level_end(next, after);
    return next.at == next.end || next.at > word.end + 1 ? word.end : 0;
}

/* The names after a chip: a word is one when it starts no hwirq and there is more than one
 * blank before it. */
static cursor find_names(cursor rest)
{
    for (int32_t end = rest.at; cursor_left(&rest); end = rest.at) {
        const cursor word = cursor_word(&rest);
        const int32_t stop = hwirq_end(word, rest);
        if (stop || word.at > end + 1) {
            rest.at = stop ? stop : word.at;
            break;
        }
    }
    return cursor_trim(rest);
}

static int is_printed(char c)
{
    return (unsigned char)c >= ' ' && c != 0x7f;
}

/*              chip [ hwirq ] [ names ] */
static cursor read_tail(cursor tail)
{
    cursor bytes, word;
    if (cursor_len(&tail) > TAIL_MAX)
        (void)cursor_bad(&tail, "what follows the counters is too long");
    bytes = tail = cursor_trim(tail);
    (void)cursor_span(&bytes, is_printed);
    cursor_end(&bytes, "a row holds a control character");
    word = cursor_word(&tail);
    if (word.at == word.end)
        (void)cursor_bad(&word, "a row names no chip");
    bytes = word;
    (void)cursor_span(&bytes, cursor_is_digit);
    if (bytes.at == bytes.end)
        (void)cursor_bad(&word, "a row has more counters than there are CPUs");
    return find_names(tail);
}

/* == Lines ================================================================== */

/*   header   = 1*( blanks "CPU" number ) LF */
static int32_t read_header(cursor *c)
{
    cursor line = *c;
    int32_t n = 0, last = -1;
    do
        line = cursor_trim(cursor_cut(c, '\n'));
    while (cursor_left(c) && line.at == line.end);
    if (!cursor_starts(&line, "CPU"))
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_MISSING,
                          line.at == line.end ? c->of->len : line.at,
                          "there is no header of CPUs");
    for (; cursor_left(&line); n++) {
        cursor word = cursor_word(&line);
        cursor_need(&word, "CPU", "a word of the header is no CPU");
        const int32_t cpu = (int32_t)cursor_whole(word, CPUBIND_MAX_CPUS - 1);
        if (cpu <= last)
            (void)cursor_fail(c, CPUBIND_TEXT_ERR_ORDER, word.at, "the CPUs do not ascend");
        last = cpu;
    }
    return n;
}

/* The kernel prints a counter in 11 bytes, aligned to the right, and a blank is before each. A
 * host with a thousand CPUs has a million: where every one ends in such a column, and no byte
 * was lost between them, their digits are not looked at. */
static int skip_columns(cursor *c, int32_t n)
{
    const char *at = c->text + c->at;
    if (cursor_len(c) <= COLUMN * n || !cursor_is_blank(at[COLUMN * n]))
        return 0;
    for (int32_t k = 0; k < n; k++, at += COLUMN)
        if (at[0] != ' ' || !cursor_is_digit(at[COLUMN - 1]))
            return 0;
    c->at += COLUMN * n;
    return 1;
}

/*   counters = n*n( blanks 1*10DIGIT )     and a blank after them */
static void skip_counters(cursor *c, int32_t n)
{
    if (skip_columns(c, n))
        return;
    for (int32_t k = 0; k < n && cursor_ok(c); k++) {
        const int32_t gap = c->at;
        cursor_skip_blanks(c);
        const cursor digits = cursor_span(c, cursor_is_digit);
        if (cursor_len(&digits) > COUNTER_DIGITS)
            (void)cursor_bad(&digits, "a counter has more than 10 digits");
        if (digits.at == digits.end || digits.at == gap)
            (void)cursor_bad(c, "a row has fewer counters than there are CPUs");
    }
    if (!cursor_left(c) || !cursor_is_blank(c->text[c->at]))
        (void)cursor_bad(c, "a blank is missing after a counter");
}

/*   row      = number ":" counters blank chip [ hwirq ] [ names ] LF */
static cpubind_interrupt read_row(cursor line, int32_t n_cpu, int32_t last)
{
    const int32_t start = line.at, irq = (int32_t)cursor_number(&line, INT32_MAX);
    cursor_need(&line, ":", "a colon is missing after the number");
    if (irq <= last)
        (void)cursor_fail(&line, CPUBIND_TEXT_ERR_ORDER, start, "the numbers do not ascend");
    skip_counters(&line, n_cpu);
    return (cpubind_interrupt){irq, cursor_piece(read_tail(line))};
}

static int is_label(char c)
{
    return cursor_is_letter(c) || cursor_is_digit(c);
}

/*   other    = label ":" *byte LF     without a NUL */
static void read_other(cursor line)
{
    const cursor label = cursor_span(&line, is_label);
    if (label.at == label.end || cursor_next(&line) != ':')
        (void)cursor_bad(&line, "a line starts with no number and no label");
    cursor_no_nul(line);
}

cpubind_text_status cpubind_interrupts_parse(const char *text, int32_t len,
                                             cpubind_interrupt_list *list,
                                             cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c =
        cursor_open(&of, text, len, fault, list && cursor_is_array(list->irq, list->cap));
    cursor line;
    int32_t n = 0, last = -1;
    if (of.len > 0 && text[len - 1] != '\n')
        (void)cursor_fail_cut(&c);
    const int32_t n_cpu = read_header(&c);
    while (cursor_line(&c, &line)) {
        cursor_skip_blanks(&line);
        if (!cursor_left(&line))
            continue;
        if (!cursor_is_digit(line.text[line.at])) {
            read_other(line);
            continue;
        }
        const cpubind_interrupt row = read_row(line, n_cpu, last);
        last = row.irq;
        if (n < list->cap)
            list->irq[n] = row;
        n++;
    }
    if (!cursor_ok(&c))
        return of.status;
    list->n = n;
    if (n <= list->cap)
        list->n_cpu = n_cpu;
    return cursor_room(&c, n, list->cap);
}

/* == Names ================================================================== */

int cpubind_interrupts_next_name(const char *text, cpubind_piece names, int32_t *at,
                                 cpubind_piece *name)
{
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
