/* fuzz_npusmi_list.c - fuzz target: parse the output of `npu-smi info -l`
 * SPDX-License-Identifier: MIT
 *
 * The promises of the reader are in adapters/ascend/npusmi.h.
 */
#include "../fuzz.h"

#include "../../adapters/ascend/npusmi.h"

/* extra: offset and length of unknown. */
static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_npusmi_cards cards = {(cpubind_npusmi_card *)r->array[0].at,
                                  r->array[0].cap,
                                  r->array[0].n,
                                  {r->extra[0], r->extra[1]}};
    const cpubind_text_status status = cpubind_npusmi_parse_list(text, len, &cards, fault);
    (void)limit;
    r->array[0].n = cards.n_card;
    r->extra[0] = cards.unknown.at;
    r->extra[1] = cards.unknown.len;
    return status;
}

static void check_cards(const char *text, int32_t len, const cpubind_npusmi_card *card,
                        int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        CHECK(card[i].card >= 0 && card[i].n_chip >= -1);
        fuzz_check_name(text, len, card[i].product);
        fuzz_check_name(text, len, card[i].serial);
        for (int32_t k = 0; k < i && k < 64; k++)
            CHECK(card[i].card != card[k].card);
    }
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 1, {sizeof(cpubind_npusmi_card), 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        const cpubind_slice unknown = {r.extra[0], r.extra[1]};
        check_cards(text, len, (const cpubind_npusmi_card *)r.array[0].at, r.array[0].n);
        fuzz_check_name(text, len, unknown);
        fuzz_end(&r);
    }
    CHECK(cpubind_npusmi_parse_list(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
