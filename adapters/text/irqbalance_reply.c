/* irqbalance_reply.c - reader of the reply to "setup" on the socket of irqbalance
 * SPDX-License-Identifier: MIT
 *
 * Bytes to numbers. Pure: no I/O, no malloc, no errno, no locale. The grammar is in
 * irqbalance_reply.h.
 */
#include "irqbalance_reply.h"

#include "cursor.h"

/* The bytes up to a blank, which must follow; moves past it. */
static cursor next_word(cursor *c)
{
    const cursor word = cursor_cut(c, ' ');
    if (cursor_is_cut(c, &word))
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_CUT, c->end, "the answer ends before BANNED");
    return word;
}

static int is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static int is_mask(char c)
{
    return c == ',' || cursor_is_hex(c);
}

/* Reads KEY " " integer, an integer of any size; its value is not used. */
static void skip_pair(cursor *c, cursor key)
{
    const int32_t start = key.at;
    cursor value;
    (void)cursor_span(&key, is_capital);
    if (key.at == start || key.at < key.end)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_SYNTAX, start, "IRQ or BANNED is missing");
    value = next_word(c);
    (void)cursor_takes(&value, "-");
    if (value.at == value.end)
        (void)cursor_bad(&value, "a number is missing");
    (void)cursor_span(&value, cursor_is_digit);
    cursor_end(&value, "a byte does not belong to a number");
}

cpubind_text_status cpubind_irqbalance_parse(const char *text, int32_t len,
                                             cpubind_int_list *list, cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c =
        cursor_open(&of, text, len, fault, list && cursor_is_array(list->out, list->cap));
    cursor word = next_word(&c);
    int32_t n = 0;
    if (!cursor_is(word, "SLEEP"))
        (void)cursor_fail(&c, CPUBIND_TEXT_ERR_SYNTAX, 0,
                          "the answer does not start with SLEEP");
    (void)cursor_whole(next_word(&c), INT32_MAX);
    while (word = next_word(&c), cursor_ok(&c) && !cursor_is(word, "BANNED")) {
        if (cursor_is(word, "IRQ")) {
            const int32_t number = (int32_t)cursor_whole(next_word(&c), INT32_MAX);
            if (n < list->cap)
                list->out[n] = number;
            n++;
        } else if (n > 0) {
            skip_pair(&c, word);
        } else {
            (void)cursor_bad(&word, "IRQ or BANNED is missing");
        }
    }
    (void)cursor_span(&c, is_mask);
    cursor_tail(&c);
    if (!cursor_ok(&c))
        return of.status;
    list->n = n;
    return cursor_room(&c, n, list->cap);
}
