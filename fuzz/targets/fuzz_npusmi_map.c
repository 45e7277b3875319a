/* fuzz_npusmi_map.c - fuzz target: parse the output of `npu-smi info -m`
 * SPDX-License-Identifier: MIT
 *
 * The promises of the reader are in adapters/ascend/npusmi.h.
 */
#include "../fuzz.h"

#include "../../adapters/ascend/npusmi.h"

/* extra: has_logic, has_name, offset and length of unknown. */
static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_npusmi_map map = {(cpubind_npusmi_chip *)r->array[0].at,
                              r->array[0].cap,
                              r->array[0].n,
                              r->extra[0],
                              r->extra[1],
                              {r->extra[2], r->extra[3]}};
    const cpubind_text_status status = cpubind_npusmi_parse_map(text, len, &map, fault);
    (void)limit;
    r->array[0].n = map.n_chip;
    r->extra[0] = map.has_logic;
    r->extra[1] = map.has_name;
    r->extra[2] = map.unknown.at;
    r->extra[3] = map.unknown.len;
    return status;
}

static void check_chips(const char *text, int32_t len, const fuzz_reading *r)
{
    const cpubind_npusmi_chip *chip = (const cpubind_npusmi_chip *)r->array[0].at;
    const cpubind_slice unknown = {r->extra[2], r->extra[3]};
    const int32_t n = r->array[0].n;
    CHECK(n >= 1 && n <= CPUBIND_MAX_DEVICES);
    CHECK(r->extra[0] == 0 || r->extra[0] == 1);
    CHECK(r->extra[1] == 0 || r->extra[1] == 1);
    fuzz_check_name(text, len, unknown);
    for (int32_t i = 0; i < n; i++) {
        CHECK(chip[i].card >= 0 && chip[i].chip >= 0);
        CHECK(chip[i].logic >= -1 && chip[i].phy >= -1);
        CHECK(r->extra[0] || chip[i].logic < 0);
        fuzz_check_name(text, len, chip[i].name);
        CHECK(r->extra[1] || chip[i].name.len == 0);
        CHECK(i == 0 || chip[i].name.at > chip[i - 1].name.at);
        for (int32_t k = 0; k < i && k < 64; k++) {
            CHECK(chip[i].logic < 0 || chip[i].logic != chip[k].logic ||
                  (r->extra[1] && (chip[i].name.len == 0 || chip[k].name.len == 0)));
            CHECK(chip[i].card != chip[k].card || chip[i].chip != chip[k].chip);
        }
    }
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 1, {sizeof(cpubind_npusmi_chip), 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        check_chips(text, len, &r);
        fuzz_end(&r);
    }
    CHECK(cpubind_npusmi_parse_map(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
