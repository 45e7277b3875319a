/* fuzz_npusmi_map.c - fuzz target: parse the output of `npu-smi info -m`
 * SPDX-License-Identifier: MIT
 *
 * The promises of the reader are in adapters/ascend/npusmi.h.
 */
#include "../fuzz.h"

#include "../../adapters/ascend/npusmi.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    (void)limit;
    return cpubind_npusmi_parse_map(text, len, (cpubind_npusmi_chip *)r->array[0].at,
                                    r->array[0].cap, &r->array[0].n, fault);
}

static void check_chips(const char *text, int32_t len, const cpubind_npusmi_chip *chip,
                        int32_t n)
{
    CHECK(n >= 1 && n <= CPUBIND_MAX_DEVICES);
    for (int32_t i = 0; i < n; i++) {
        CHECK(chip[i].card >= 0 && chip[i].chip >= 0);
        CHECK(chip[i].logic >= -1 && chip[i].phy >= -1);
        CHECK((chip[i].logic < 0) == (chip[0].logic < 0));
        fuzz_check_name(text, len, chip[i].name);
        CHECK(i == 0 || chip[i].name.at > chip[i - 1].name.at);
        for (int32_t k = 0; k < i && k < 64; k++)
            CHECK(chip[i].card != chip[k].card || chip[i].chip != chip[k].chip);
    }
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 1, {sizeof(cpubind_npusmi_chip), 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        check_chips(text, len, (const cpubind_npusmi_chip *)r.array[0].at, r.array[0].n);
        fuzz_end(&r);
    }
    CHECK(cpubind_npusmi_parse_map(text, len, NULL, 0, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
