/* irqs.c - the rows of /proc/interrupts, and the interrupts of a PCI function
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. It must not judge what an interrupt is
 * for: the row of the vendor does.
 */
#include "facts_reader.h"

/* A row has a line feed, so their number is enough room: the text needs no second reading to
 * count its rows. A host with a thousand CPUs has 13 MB of it. */
cpubind_problem_code cpubind_priv_read_interrupts(facts_reader *r, cpubind_input answer,
                                                  cpubind_interrupt_list *out)
{
    cpubind_text_fault fault;
    const char *feed;
    memset(out, 0, sizeof *out);
    for (int32_t at = 0; at < answer.len; at = (int32_t)(feed - answer.data) + 1, out->cap++) {
        feed = (const char *)memchr(answer.data + at, '\n', (size_t)(answer.len - at));
        if (!feed)
            break;
    }
    out->irq = (cpubind_interrupt *)cpubind_arena_take(r->arena, out->cap, sizeof *out->irq);
    if (!out->irq)
        return facts_fail_memory(r);
    return facts_judge_text(r, INPUT_INTERRUPTS, answer,
                            cpubind_interrupts_parse(answer.data, answer.len, out, &fault),
                            &fault);
}

/* The names ascend as text, so the numbers of each length are collected in turn. */
cpubind_problem_code cpubind_priv_read_msi(facts_reader *r, cpubind_input listing,
                                           int32_t **out, int32_t *out_n)
{
    enum { DIGITS_MAX = 10 }; /* of 2147483647 */
    cpubind_piece name;
    *out_n = 0;
    *out = cpubind_arena_ints(r->arena, facts_count_names(listing));
    if (!*out)
        return facts_fail_memory(r);
    for (int32_t digits = 1; digits <= DIGITS_MAX; digits++)
        for (int32_t at = 0; facts_next_name(listing, &at, &name);)
            if (name.len == digits && cursor_bytes_are_number(listing.data + name.at, name.len,
                                                              INT32_MAX, &(*out)[*out_n]))
                ++*out_n;
    return CPUBIND_PROBLEM_NONE;
}

/* == Words ================================================================== */

/* By code; FOUND first. */
static const struct {
    const char *word, *text;
} no_irqs[] = {{"found", "its interrupts were found"},
#define CPUBIND_X(name, word, text) {word, text},
               CPUBIND_NO_IRQ_LIST(CPUBIND_X)
#undef CPUBIND_X
};

/* A number that is no code counts as FOUND. */
static size_t index_of(cpubind_no_irq why)
{
    return (size_t)why < sizeof no_irqs / sizeof no_irqs[0] ? (size_t)why : 0;
}

const char *cpubind_no_irq_word(cpubind_no_irq why)
{
    return no_irqs[index_of(why)].word;
}

const char *cpubind_no_irq_text(cpubind_no_irq why)
{
    return no_irqs[index_of(why)].text;
}

static const struct {
    const char *word;
    int is_extra;
} irq_kinds[] = {
#define CPUBIND_X(name, word, is_extra) {word, is_extra},
    CPUBIND_IRQ_KIND_LIST(CPUBIND_X)
#undef CPUBIND_X
};

const char *cpubind_irq_kind_word(cpubind_irq_kind kind)
{
    return kind < CPUBIND_IRQ_KINDS ? irq_kinds[kind].word : "";
}

cpubind_irq_kind cpubind_irq_kind_of(const char *word, int32_t len)
{
    int kind = 0;
    while (kind < CPUBIND_IRQ_KINDS && (strlen(irq_kinds[kind].word) != (size_t)len ||
                                        memcmp(irq_kinds[kind].word, word, (size_t)len) != 0))
        kind++;
    return (cpubind_irq_kind)kind;
}

int cpubind_irq_goes(cpubind_irq_kind kind, cpubind_no_irq why)
{
    const int is_known =
        kind == CPUBIND_IRQ_NIC ? why != CPUBIND_IRQ_NIC_UNREAD : why == CPUBIND_IRQ_FOUND;
    return irq_kinds[kind].is_extra && is_known;
}
