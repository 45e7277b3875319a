/* fuzz_irqbalance_reply.c - fuzz target: parse the list of interrupts that irqbalance ignores
 * SPDX-License-Identifier: MIT
 *
 * The format is in adapters/text/irqbalance_reply.h.
 */
#include "../fuzz.h"

#include "../../adapters/text/irqbalance_reply.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_int_list list = fuzz_list_of(r);
    const cpubind_text_status status = cpubind_irqbalance_parse(text, len, &list, fault);
    (void)limit;
    r->array[0].n = list.n;
    return status;
}

/* Each number follows a word IRQ, and each word IRQ has its number. */
static void check_numbers(const char *text, int32_t len, const int32_t *irq, int32_t n)
{
    char *copy = (char *)fuzz_filled((size_t)len + 1, 0);
    const char *at = copy;
    int32_t found = 0;
    memcpy(copy, text, (size_t)len);
    while ((at = strstr(at, " IRQ ")) != NULL) {
        at += 5;
        CHECK(found < n && strtoll(at, NULL, 10) == irq[found] && irq[found] >= 0);
        found++;
    }
    CHECK(found == n && strncmp(copy, "SLEEP ", 6) == 0 && strstr(copy, " BANNED "));
    free(copy);
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 1, {sizeof(int32_t), 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        check_numbers(text, len, (const int32_t *)r.array[0].at, r.array[0].n);
        fuzz_end(&r);
    }
    CHECK(cpubind_irqbalance_parse(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
