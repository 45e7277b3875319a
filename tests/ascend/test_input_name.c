/* test_input_name.c - names of inputs, and those of boards
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "../../adapters/ascend/input_list.h"
#include "../../adapters/text/input_name.h"
#include "../support/test.h"
#include "../support/exact_buffer.h"

/* The answer for a copy in a buffer of the exact size. The slices must not be written when it
 * is no. */
static int is_board(const char *name, cpubind_slice *card, cpubind_slice *chip)
{
    char *copy = edge_text(name, (int32_t)strlen(name) + 1);
    int found;
    memset(card, EDGE_FILL, sizeof *card);
    memset(chip, EDGE_FILL, sizeof *chip);
    found = cpubind_input_is_board(copy, card, chip);
    if (!found) {
        assert_true(edge_untouched(&card->at, 0) && edge_untouched(&card->len, 0));
        assert_true(edge_untouched(&chip->at, 0) && edge_untouched(&chip->len, 0));
    }
    free(copy);
    return found;
}

static void expect_slice(const char *name, cpubind_slice slice, const char *digits)
{
    assert_int_equal(slice.len, strlen(digits));
    assert_memory_equal(name + slice.at, digits, strlen(digits));
}

TEST(the_name_of_a_board_holds_its_card_and_its_chip)
{
    static const struct {
        const char *name, *card, *chip;
    } cases[] = {
        {"cmd/npu-smi-info-t-board-i0-c1.txt", "0", "1"},
        {"cmd/npu-smi-info-t-board-i0.txt", "0", ""},
        {"cmd/npu-smi-info-t-board-i1536-c0.txt", "1536", "0"},
        {"cmd/npu-smi-info-t-board-i2147483647.txt", "2147483647", ""},
        {"cmd/npu-smi-info-t-board-i10-c2147483647.txt", "10", "2147483647"},
        {"cmd/npu-smi-info-t-board-i2147483647-c2147483647.txt", "2147483647", "2147483647"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cpubind_slice card, chip;
        assert_true(is_board(cases[i].name, &card, &chip));
        expect_slice(cases[i].name, card, cases[i].card);
        expect_slice(cases[i].name, chip, cases[i].chip);
    }
}

TEST(a_written_name_reads_back_the_same)
{
    static const struct {
        int32_t card, chip;
        const char *name;
    } cases[] = {
        {0, -1, "cmd/npu-smi-info-t-board-i0.txt"},
        {0, 0, "cmd/npu-smi-info-t-board-i0-c0.txt"},
        {9, 10, "cmd/npu-smi-info-t-board-i9-c10.txt"},
        {33792, 1, "cmd/npu-smi-info-t-board-i33792-c1.txt"},
        {INT32_MAX, -1, "cmd/npu-smi-info-t-board-i2147483647.txt"},
        {INT32_MAX, INT32_MAX, "cmd/npu-smi-info-t-board-i2147483647-c2147483647.txt"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *name = (char *)malloc(CPUBIND_INPUT_BOARD_MAX);
        cpubind_slice card, chip;
        int32_t len;
        assert_non_null(name);
        memset(name, EDGE_FILL, CPUBIND_INPUT_BOARD_MAX);
        len = cpubind_input_board_name(name, cases[i].card, cases[i].chip);
        assert_int_equal(name[CPUBIND_INPUT_BOARD_MAX - 1], EDGE_FILL); /* room is left */
        assert_string_equal(name, cases[i].name);
        assert_int_equal(len, strlen(cases[i].name));
        assert_true(is_board(name, &card, &chip));
        free(name);
    }
}

TEST(a_near_miss_is_no_board)
{
    static const char *const names[] = {
        "",
        "cmd",
        "cmd/",
        "cmd/npu-smi-info-t-topo.txt",
        "cmd/npu-smi-info-t-board.txt",
        "cmd/npu-smi-info-t-board-i",
        "cmd/npu-smi-info-t-board-i.txt",
        "cmd/npu-smi-info-t-board-i0",
        "cmd/npu-smi-info-t-board-i0.tx",
        "cmd/npu-smi-info-t-board-i0.txt2",
        "cmd/npu-smi-info-t-board-i0.txt ",
        "cmd/npu-smi-info-t-board-i0.txt/x",
        "cmd/npu-smi-info-t-board-i0.TXT",
        "cmd/npu-smi-info-t-board-i0 .txt",
        "cmd/npu-smi-info-t-board-i 0.txt",
        "cmd/npu-smi-info-t-board-i+1.txt",
        "cmd/npu-smi-info-t-board-i-1.txt",
        "cmd/npu-smi-info-t-board-i00.txt",
        "cmd/npu-smi-info-t-board-i01.txt",
        "cmd/npu-smi-info-t-board-i0x1.txt",
        "cmd/npu-smi-info-t-board-i2147483648.txt",
        "cmd/npu-smi-info-t-board-i4294967296.txt",
        "cmd/npu-smi-info-t-board-i18446744073709551616.txt",
        "cmd/npu-smi-info-t-board-i0-c.txt",
        "cmd/npu-smi-info-t-board-i0-c",
        "cmd/npu-smi-info-t-board-i0-.txt",
        "cmd/npu-smi-info-t-board-i0c1.txt",
        "cmd/npu-smi-info-t-board-i0-c-1.txt",
        "cmd/npu-smi-info-t-board-i0-c01.txt",
        "cmd/npu-smi-info-t-board-i0-c2147483648.txt",
        "cmd/npu-smi-info-t-board-i0-c1",
        "cmd/npu-smi-info-t-board-i0-c1.txt.exit",
        "cmd/npu-smi-info-t-board-i0-c1-c1.txt",
        "cmd/npu-smi-info-t-board-i0-i0.txt",
        "cmd/npu-smi-info-t-board-c0.txt",
        "/cmd/npu-smi-info-t-board-i0.txt",
        "./cmd/npu-smi-info-t-board-i0.txt",
        "cmd//npu-smi-info-t-board-i0.txt",
        "CMD/npu-smi-info-t-board-i0.txt",
        "cmd/npu-smi-info-t-board-i0.txt\n",
        "cmd/npu-smi-info-t-board-i0\n.txt",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cpubind_slice card, chip;
        if (is_board(names[i], &card, &chip))
            fail_msg("\"%s\" is taken for a board", names[i]);
    }
}

TEST(null_is_no_board)
{
    cpubind_slice card = {7, 7}, chip = {7, 7};
    assert_false(cpubind_input_is_board(NULL, &card, &chip));
    assert_int_equal(card.len, 7);
    assert_int_equal(chip.len, 7);
}

/* No start of a name of a board is such a name. */
TEST(a_cut_name_is_no_board)
{
    static const char whole[] = "cmd/npu-smi-info-t-board-i12-c34.txt";
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        char name[sizeof whole];
        cpubind_slice card, chip;
        memcpy(name, whole, n);
        name[n] = '\0';
        assert_false(is_board(name, &card, &chip));
    }
}

TEST(a_name_has_parts_and_none_of_them_leads_up)
{
    static const char *const good[] = {"env", "a/b", "a/.hidden", "a/...", "..a/b", "a b"};
    static const char *const bad[] = {"",     "/",      "/a",   "a/",   "a//b", "..",
                                      "../a", "a/../b", "a/..", "a\nb", "\t",   "a/\x1f"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(cpubind_input_is_name(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(cpubind_input_is_name(bad[i]));
    assert_false(cpubind_input_is_name(NULL));
}

TEST(a_name_is_no_longer_than_a_path)
{
    char *name = (char *)malloc(CPUBIND_INPUT_NAME_MAX + 2);
    assert_non_null(name);
    memset(name, 'a', CPUBIND_INPUT_NAME_MAX + 1);
    name[CPUBIND_INPUT_NAME_MAX + 1] = '\0';
    assert_false(cpubind_input_is_name(name));
    name[CPUBIND_INPUT_NAME_MAX] = '\0';
    assert_true(cpubind_input_is_name(name));
    free(name);
}

TEST_FILE(NULL, NULL)
