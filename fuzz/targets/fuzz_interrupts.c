/* fuzz_interrupts.c - fuzz target: parse /proc/interrupts, and the names in a row
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in adapters/text/interrupts.h.
 */
#include "../fuzz.h"

#include "../../adapters/text/interrupts.h"

/* extra[0] is the number of CPU columns. ERR_SPACE may write this number, as it is a count. */
static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_interrupt_list list = {(cpubind_interrupt *)r->array[0].at, r->array[0].cap,
                                   r->array[0].n, r->extra[0]};
    const cpubind_text_status status = cpubind_interrupts_parse(text, len, &list, fault);
    (void)limit;
    r->array[0].n = list.n;
    if (status != CPUBIND_TEXT_ERR_SPACE)
        r->extra[0] = list.n_cpu;
    return status;
}

/* The slice holds names, separated by ", ", and nothing else. */
static void check_names(const char *text, int32_t len, cpubind_slice names)
{
    cpubind_slice name = {0, 0};
    int32_t at = 0, next = names.at;
    fuzz_check_name(text, len, names);
    while (cpubind_interrupts_next_name(text, names, &at, &name)) {
        CHECK(name.len > 0 && name.at >= next);
        CHECK(name.at + name.len <= names.at + names.len);
        for (; next < name.at; next++)
            CHECK(text[next] == ',' || fuzz_is_blank(text[next]));
        for (int32_t i = name.at; i + 1 < name.at + name.len; i++)
            CHECK(text[i] != ',' || text[i + 1] != ' ');
        next = name.at + name.len;
    }
    for (; next < names.at + names.len; next++)
        CHECK(text[next] == ',' || fuzz_is_blank(text[next]));
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 1, {sizeof(cpubind_interrupt), 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        cpubind_interrupt *irq = (cpubind_interrupt *)r.array[0].at;
        cpubind_interrupt_list again = {irq, r.array[0].n, -1, -1};
        CHECK(r.extra[0] >= 1);
        for (int32_t i = 0; i < r.array[0].n; i++) {
            CHECK(irq[i].irq >= 0 && (i == 0 || irq[i - 1].irq < irq[i].irq));
            check_names(text, len, irq[i].names);
        }
        CHECK(cpubind_interrupts_parse(text, len, &again, NULL) == CPUBIND_TEXT_OK);
        CHECK(again.n == r.array[0].n);
        fuzz_end(&r);
    }
    CHECK(cpubind_interrupts_parse(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
