/* irqbalance_reply.c - reader of the reply to "setup" on the socket of irqbalance
 * SPDX-License-Identifier: MIT
 *
 * Bytes to numbers. Pure: no I/O, no malloc, no errno, no locale. The grammar is in
 * irqbalance_reply.h.
 */
#include "irqbalance_reply.h"

#include "scan.h"

/* Reads the bytes up to a blank, which must follow; *at moves past it. */
static cpubind_text_status read_word(const scan_text *in, int32_t *at, scan_run *word)
{
    word->at = *at;
    word->end = *at;
    while (word->end < in->len && in->text[word->end] != ' ')
        word->end++;
    if (word->end == in->len)
        return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len, "the answer ends before BANNED");
    *at = word->end + 1;
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status read_number(const scan_text *in, int32_t *at, int32_t *out)
{
    scan_run word;
    cpubind_text_status status = read_word(in, at, &word);

    if (status == CPUBIND_TEXT_OK)
        status = scan_whole_number(in, word, INT32_MAX, out);
    return status;
}

static int is_key(const scan_text *in, scan_run word)
{
    if (scan_is_empty(word))
        return 0;
    for (; word.at < word.end; word.at++)
        if (in->text[word.at] < 'A' || in->text[word.at] > 'Z')
            return 0;
    return 1;
}

/* integer = [ "-" ] 1*DIGIT, of any size; its value is not used. */
static cpubind_text_status skip_integer(const scan_text *in, int32_t *at)
{
    scan_run word;
    cpubind_text_status status = read_word(in, at, &word);

    if (status != CPUBIND_TEXT_OK)
        return status;
    if (SCAN_STARTS(in, word, "-"))
        word.at++;
    if (scan_is_empty(word))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, word.at, "a number is missing");
    for (; word.at < word.end; word.at++)
        if (!scan_is_digit(in->text[word.at]))
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, word.at,
                             "a byte does not belong to a number");
    return CPUBIND_TEXT_OK;
}

/*   mask   = *( HEXDIG / "," )   [ LF ] *NUL */
static cpubind_text_status read_mask(const scan_text *in, int32_t at)
{
    while (at < in->len && (in->text[at] == ',' || scan_hex_value(in->text[at]) >= 0))
        at++;
    return scan_tail(in, at);
}

/* Reads the reply. With `out` NULL the interrupts are only counted. */
static cpubind_text_status read_setup(const scan_text *in, int32_t *out, int32_t *out_n)
{
    int32_t at = 0, n = 0, number = 0;
    scan_run word;
    cpubind_text_status status = read_word(in, &at, &word);

    if (status == CPUBIND_TEXT_OK && !SCAN_IS(in, word, "SLEEP"))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, 0,
                         "the answer does not start with SLEEP");
    if (status == CPUBIND_TEXT_OK)
        status = read_number(in, &at, &number);
    while (status == CPUBIND_TEXT_OK) {
        status = read_word(in, &at, &word);
        if (status != CPUBIND_TEXT_OK)
            break;
        if (SCAN_IS(in, word, "BANNED")) {
            *out_n = n;
            return read_mask(in, at);
        }
        if (SCAN_IS(in, word, "IRQ")) {
            status = read_number(in, &at, &number);
            if (status == CPUBIND_TEXT_OK && out)
                out[n] = number;
            n++;
        } else if (n > 0 && is_key(in, word)) {
            status = skip_integer(in, &at);
        } else {
            status =
                scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, word.at, "IRQ or BANNED is missing");
        }
    }
    return status;
}

cpubind_text_status cpubind_irqbalance_parse(const char *text, int32_t len,
                                             cpubind_int_list *list, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    int32_t n = 0;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !list || !scan_is_array(list->out, list->cap))
        return scan_fail_arg(fault);
    status = read_setup(&in, NULL, &n);
    if (status != CPUBIND_TEXT_OK)
        return status;
    list->n = n;
    if (n > list->cap)
        return scan_fail_space(&in);
    return n > 0 ? read_setup(&in, list->out, &n) : CPUBIND_TEXT_OK;
}
