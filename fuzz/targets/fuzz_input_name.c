/* fuzz_input_name.c - fuzz target: names of inputs
 * SPDX-License-Identifier: MIT
 *
 * Compares adapters/text/input_name.c with the grammar of input_name.h, written a second time.
 */
#include "../fuzz.h"

#include "../../adapters/ascend/input_list.h"
#include "../../adapters/text/input_name.h"

/* The grammar of input_name.h, part by part. */
static int is_part(const char *part, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)part[i] < 0x20)
            return 0;
    return n > 0 && !(n == 2 && part[0] == '.' && part[1] == '.');
}

static int is_name_slowly(const char *name)
{
    const char *part = name;
    for (;; part++) {
        const size_t n = strcspn(part, "/");
        if (!is_part(part, n))
            return 0;
        part += n;
        if (*part == '\0')
            return strlen(name) <= CPUBIND_INPUT_NAME_MAX;
    }
}

/* A number without a leading zero, up to the largest int32_t; -1 without one. */
static int64_t number_slowly(const char **at)
{
    const char *start = *at;
    int64_t value = 0;
    for (; **at >= '0' && **at <= '9' && value <= INT32_MAX; ++*at)
        value = value * 10 + (**at - '0');
    return *at == start || value > INT32_MAX || (*start == '0' && *at > start + 1) ? -1 : value;
}

/* The grammar of a board's name, word by word. */
static int is_board_slowly(const char *name, int64_t *card, int64_t *chip)
{
    static const char start[] = "cmd/npu-smi-info-t-board-i";
    *chip = -1;
    if (strncmp(name, start, sizeof start - 1) != 0)
        return 0;
    name += sizeof start - 1;
    *card = number_slowly(&name);
    if (strncmp(name, "-c", 2) == 0) {
        name += 2;
        *chip = number_slowly(&name);
        if (*chip < 0)
            return 0;
    }
    return *card >= 0 && strcmp(name, ".txt") == 0;
}

/* The name made from the numbers of a board's name is the same name. */
static void check_board(const char *name)
{
    char again[CPUBIND_INPUT_BOARD_MAX];
    cpubind_slice card = {-7, -7}, chip = {-7, -7};
    int64_t card_number, chip_number;
    const int is_board = is_board_slowly(name, &card_number, &chip_number);
    CHECK(cpubind_input_is_board(name, &card, &chip) == is_board);
    if (!is_board) {
        CHECK(card.at == -7 && chip.at == -7);
        return;
    }
    fuzz_check_slice(card, (int32_t)strlen(name));
    fuzz_check_slice(chip, (int32_t)strlen(name));
    CHECK((chip.len > 0) == (chip_number >= 0));
    CHECK(cpubind_input_board_name(again, (int32_t)card_number, (int32_t)chip_number) ==
          (int32_t)strlen(name));
    CHECK(strcmp(again, name) == 0);
}

static void check_text(const char *text, int32_t len)
{
    char *name = (char *)fuzz_filled((size_t)len + 1, 0);
    if (len > 0)
        memcpy(name, text, (size_t)len);
    CHECK(cpubind_input_is_name(name) == is_name_slowly(name));
    CHECK(cpubind_input_is_name(NULL) == 0);
    check_board(name);
    free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
