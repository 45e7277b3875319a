/* fuzz_npusmi_refusal.c - fuzz target: find a refusal in the output of npu-smi
 * SPDX-License-Identifier: MIT
 *
 * A refusal is a message of npu-smi in place of the table; adapters/ascend/npusmi.h lists them.
 */
#include "../fuzz.h"

#include "../../adapters/ascend/npusmi.h"

/* A reader returns ERR_REFUSED only for a text with a refusal, with the offset of its line. */
static void check_reader(const char *text, int32_t len, cpubind_npusmi_refusal refusal,
                         cpubind_slice line)
{
    cpubind_text_fault fault = {-7, NULL};
    cpubind_npusmi_map map = {NULL, 0, 0, 0, 0, {0, 0}};
    const cpubind_text_status status = cpubind_npusmi_parse_map(text, len, &map, &fault);
    if (status == CPUBIND_TEXT_ERR_REFUSED)
        CHECK(refusal != CPUBIND_NPUSMI_NONE && fault.offset == line.at);
    if (status == CPUBIND_TEXT_ERR_SYNTAX || status == CPUBIND_TEXT_ERR_CUT ||
        status == CPUBIND_TEXT_ERR_MISSING)
        CHECK(refusal == CPUBIND_NPUSMI_NONE);
}

/* The lost cards in the first half of the lines and in the second half add up to the lost cards
 * in the whole text. */
static void check_lost(const char *text, int32_t len)
{
    const int32_t n = cpubind_npusmi_count_lost(text, len);
    int32_t half = len / 2;
    CHECK(n >= 0 && n <= len / 32);
    while (half > 0 && text[half - 1] != '\n')
        half--;
    CHECK(cpubind_npusmi_count_lost(text, half) +
              cpubind_npusmi_count_lost(text + half, len - half) ==
          n);
    CHECK(cpubind_npusmi_count_lost(text, -1) == 0);
}

static void check_text(const char *text, int32_t len)
{
    cpubind_slice line = {-7, -7}, none = {-7, -7};
    cpubind_npusmi_refusal refusal;
    refusal = cpubind_npusmi_find_refusal(text, len, &line);
    CHECK(refusal >= CPUBIND_NPUSMI_NONE && refusal <= CPUBIND_NPUSMI_NOT_RUN);
    CHECK(cpubind_npusmi_find_refusal(text, len, NULL) == refusal);
    if (refusal == CPUBIND_NPUSMI_NONE) {
        CHECK(line.at == -7 && line.len == -7);
    } else {
        fuzz_check_name(text, len, line);
        CHECK(line.len > 0);
        CHECK(cpubind_npusmi_find_refusal(text + line.at, line.len, &none) == refusal);
        CHECK(none.at == 0 && none.len == line.len);
        CHECK(cpubind_npusmi_find_refusal(text, line.at, NULL) == CPUBIND_NPUSMI_NONE);
    }
    check_reader(text, len, refusal, line);
    check_lost(text, len);
    CHECK(cpubind_npusmi_find_refusal(NULL, 1, NULL) == CPUBIND_NPUSMI_NONE);
    CHECK(cpubind_npusmi_find_refusal(text, -1, NULL) == CPUBIND_NPUSMI_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
