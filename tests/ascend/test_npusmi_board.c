/* test_npusmi_board.c - `npu-smi info -t board` and `npu-smi info -l`
 * SPDX-License-Identifier: MIT
 */
#include "../text/readers.h"
#include "samples.h"

static reading got; /* what a test has read last */

SETUP(forget)
{
    end_reading(&got);
    return 0;
}

static cpubind_text_status take_some(reader_fn *read, const char *text, int32_t len)
{
    end_reading(&got);
    return read(&got, text, len);
}

static cpubind_text_status take(reader_fn *read, const char *text)
{
    return take_some(read, text, (int32_t)strlen(text));
}

/* == info -t board ========================================================== */

static void check_place(const cpubind_npusmi_board *board, int32_t card, int32_t chip,
                        int32_t n_chip)
{
    assert_int_equal(board->card, card);
    assert_int_equal(board->chip, chip);
    assert_int_equal(board->n_chip, n_chip);
}

static void check_pci(const cpubind_npusmi_board *board, int32_t domain, int32_t bus,
                      int32_t device, int32_t function)
{
    assert_int_equal(board->has_pci, 1);
    assert_int_equal(board->pci.domain, domain);
    assert_int_equal(board->pci.bus, bus);
    assert_int_equal(board->pci.device, device);
    assert_int_equal(board->pci.function, function);
}

static void check_no_pci(const cpubind_npusmi_board *board, int32_t has_pci)
{
    assert_int_equal(board->has_pci, has_pci);
    assert_int_equal(board->pci.domain, -1);
    assert_int_equal(board->pci.bus, -1);
    assert_int_equal(board->pci.device, -1);
    assert_int_equal(board->pci.function, -1);
}

static void check_ids(const cpubind_npusmi_board *board, int32_t vendor, int32_t device)
{
    assert_int_equal(board->vendor, vendor);
    assert_int_equal(board->device, device);
}

static void check_names(const reading *r, const cpubind_npusmi_board *board, const char *npu,
                        const char *type, const char *chip)
{
    assert_true(slice_is(r, board->npu_name, npu));
    assert_true(slice_is(r, board->chip_type, type));
    assert_true(slice_is(r, board->chip_name, chip));
}

TEST(a_chip_has_its_address_and_names)
{
    assert_int_equal(take(read_board, board_a2_chip), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_board, 1);
    check_place(&got.board[0], 6, 0, -1);
    check_pci(&got.board[0], 0, 0x5d, 0, 0);
    check_ids(&got.board[0], -1, -1);
    check_names(&got, &got.board[0], "", "Ascend", "910B2");

    assert_int_equal(take(read_board, board_a3_chip), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_board, 1);
    check_place(&got.board[0], 3, 1, -1);
    check_pci(&got.board[0], 1, 0x8e, 0x1f, 7);
    check_names(&got, &got.board[0], "9382", "", "Ascend910");
}

TEST(a_controller_has_no_address)
{
    assert_int_equal(take(read_board, board_a2_mcu), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_board, 1);
    check_place(&got.board[0], 6, 1, -1);
    check_no_pci(&got.board[0], 0);
    check_names(&got, &got.board[0], "", "", "MCU");

    assert_int_equal(take(read_board, "NPU ID:1\nChip ID:4\nPCIe Bus Info:NA\n"),
                     CPUBIND_TEXT_OK);
    check_place(&got.board[0], 1, 4, -1);
    check_no_pci(&got.board[0], 1);
}

TEST(chips_after_their_card_belong_to_it)
{
    assert_int_equal(take(read_board, board_card_chips), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_board, 3);
    check_place(&got.board[0], 2, -1, 2);
    check_pci(&got.board[0], 0, 0x1a, 0, 0);
    check_ids(&got.board[0], 0x19e5, 0xd803);
    check_names(&got, &got.board[0], "", "", "");
    assert_true(slice_is(&got, got.board[0].product, "Box of two: A"));
    assert_true(slice_is(&got, got.board[0].serial, "0123SN"));
    for (int32_t i = 0; i < 2; i++) {
        check_place(&got.board[1 + i], 2, i, -1);
        check_pci(&got.board[1 + i], 0, 0x1a + i, 0, 0);
        check_ids(&got.board[1 + i], -1, -1);
        check_names(&got, &got.board[1 + i], "", "", "Ascend910");
        assert_int_equal(got.board[1 + i].product.len, 0);
    }
}

TEST(several_cards_are_several_blocks)
{
    static const char text[] = "NPU ID:3\nChip ID:1\nChip ID:0\nNPU ID:1\nChip ID:0\nNPU ID:9";
    static const int32_t wanted[][2] = {{3, 1}, {3, 0}, {1, 0}, {9, -1}};
    assert_int_equal(take(read_board, text), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_board, LENGTH(wanted));
    for (int32_t i = 0; i < LENGTH(wanted); i++)
        check_place(&got.board[i], wanted[i][0], wanted[i][1], -1);
}

TEST(a_950_has_card_and_chip_in_one_block)
{
    assert_int_equal(take(read_board, board_950), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_board, 1);
    check_place(&got.board[0], 1, -1, 1);
    check_pci(&got.board[0], 0, 0x71, 0, 0);
    check_ids(&got.board[0], 0x19e5, 0xd806);
    check_names(&got, &got.board[0], "950PR", "", "Ascend950PR");
    assert_int_equal(got.board[0].serial.len, 0);
}

/* Module and Subsystem ids are not read. */
TEST(ids_of_ub_replace_missing_ids_of_pci)
{
    static const char *const both[] = {
        "NPU ID:0\nVendor ID:0x1\nPCI Vendor ID:0x19e5\nDevice ID:0x2\nPCI Device ID:0XD802\n",
        "NPU ID:0\nPCI Vendor ID:0x19e5\nVendor ID:0x1\nPCI Device ID:0xd802\nDevice ID:NA\n"};
    assert_int_equal(take(read_board, board_950_ub), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_board, 1);
    check_place(&got.board[0], 7, -1, -1);
    check_no_pci(&got.board[0], 1);
    check_ids(&got.board[0], 0xcc08, 0xd806);
    for (int32_t i = 0; i < LENGTH(both); i++) {
        assert_int_equal(take(read_board, both[i]), CPUBIND_TEXT_OK);
        check_ids(&got.board[0], 0x19e5, 0xd802);
    }
}

TEST(zeros_of_a_failed_query_are_no_address)
{
    assert_int_equal(take(read_board, board_no_pci), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_board, 1);
    check_place(&got.board[0], 4, -1, 1);
    check_no_pci(&got.board[0], 1);
    check_ids(&got.board[0], -1, -1);
    assert_int_equal(got.board[0].product.len, 0);

    assert_int_equal(take(read_board, "NPU ID:0\nPCIe Bus Info:0000:00:00.1\n"),
                     CPUBIND_TEXT_OK);
    check_pci(&got.board[0], 0, 0, 0, 1);
    assert_int_equal(take(read_board, "NPU ID:0\nPCIe Bus Info:0000:00:1f.0\n"),
                     CPUBIND_TEXT_OK);
    check_pci(&got.board[0], 0, 0, 0x1f, 0);
    assert_int_equal(take(read_board, "NPU ID:0\nPCIe Bus Info:0001:00:00.0\n"),
                     CPUBIND_TEXT_OK);
    check_pci(&got.board[0], 1, 0, 0, 0);
}

/* Other keys, messages and further lines of a value are not read. */
TEST(other_lines_of_a_board_are_left_out)
{
    static const char text[] = "2026-01-01 10:00:00 [WARNING] low: power\n"
                               "\n"
                               "\tnpu id :8\n"
                               "[WARNING]The package may be broken: reinstall it.\n"
                               "\tChip Phy-ID :0\n"
                               "\tError Information              : first\n"
                               "\n"
                               "\t                               : PCIe Bus Info : second\n"
                               "\tUsage(%) :\n"
                               "\tUsage(%) :\n"
                               "\tChip  Name : two blanks are another key\n"
                               "Failed to get something at all.\n"
                               "\tCHIP NAME : x:y z \n"
                               " \t ";
    assert_int_equal(take(read_board, text), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_board, 1);
    check_place(&got.board[0], 8, -1, -1);
    check_no_pci(&got.board[0], 0);
    check_names(&got, &got.board[0], "", "", "x:y z");
}

#define NPU "NPU ID:0\n" /* 9 bytes */

TEST(other_boards_are_refused_where_they_go_wrong)
{
    static const verdict cases[] = {
        {"", CPUBIND_TEXT_ERR_MISSING, 0},
        {"hello\n", CPUBIND_TEXT_ERR_MISSING, 6},
        {"hello: x\n", CPUBIND_TEXT_ERR_MISSING, 9},
        {"NPU ID: \n", CPUBIND_TEXT_ERR_SYNTAX, 7},
        {"NPU ID:x\n", CPUBIND_TEXT_ERR_SYNTAX, 7},
        {"NPU ID:NA\n", CPUBIND_TEXT_ERR_SYNTAX, 7},
        {"NPU ID:0x\n", CPUBIND_TEXT_ERR_SYNTAX, 8},
        {"NPU ID:-1\n", CPUBIND_TEXT_ERR_SYNTAX, 7},
        {"NPU ID:00\n", CPUBIND_TEXT_ERR_SYNTAX, 7},
        {"NPU ID:2147483648\n", CPUBIND_TEXT_ERR_RANGE, 7},
        {"Chip ID:0\n" NPU, CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"a\n PCIe Bus Info:NA\n" NPU, CPUBIND_TEXT_ERR_SYNTAX, 3},
        {NPU "Chip ID:\n", CPUBIND_TEXT_ERR_SYNTAX, 17},
        {NPU "Chip ID:-\n", CPUBIND_TEXT_ERR_SYNTAX, 17},
        {"Chip Name:x\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {NPU "Chip ID:0\nChip ID:0\n", CPUBIND_TEXT_ERR_SYNTAX, 19},
        {NPU NPU, CPUBIND_TEXT_ERR_SYNTAX, 9},
        {NPU "Chip ID:0\nNPU ID:1\n" NPU "Chip ID:0\n", CPUBIND_TEXT_ERR_SYNTAX, 28},
        {NPU "Chip Name:a\nChip Name:b\n", CPUBIND_TEXT_ERR_SYNTAX, 21},
        {NPU "Chip Count:NA\nChip Count:1\n", CPUBIND_TEXT_ERR_SYNTAX, 23},
        {NPU "Chip Count:many\n", CPUBIND_TEXT_ERR_SYNTAX, 20},
        {NPU "PCIe Bus Info:\n", CPUBIND_TEXT_ERR_SYNTAX, 23},
        {NPU "PCIe Bus Info:0000:c1:00\n", CPUBIND_TEXT_ERR_SYNTAX, 33},
        {NPU "PCIe Bus Info:0000:c1:00.8\n", CPUBIND_TEXT_ERR_RANGE, 34},
        {NPU "PCIe Bus Info:0000:c1:20.0\n", CPUBIND_TEXT_ERR_RANGE, 31},
        {NPU "PCIe Bus Info:N\n", CPUBIND_TEXT_ERR_SYNTAX, 23},
        {NPU "PCI Vendor ID:19e5\n", CPUBIND_TEXT_ERR_SYNTAX, 23},
        {NPU "PCI Vendor ID:0x19e5f\n", CPUBIND_TEXT_ERR_RANGE, 25},
        {NPU "PCI Vendor ID:0x019e5\n", CPUBIND_TEXT_ERR_SYNTAX, 30},
        {NPU "PCI Vendor ID:0x19eg\n", CPUBIND_TEXT_ERR_SYNTAX, 28},
        {NPU "Device ID:0x\n", CPUBIND_TEXT_ERR_SYNTAX, 21},
        {NPU "Chip Name:910B3 \tPCIe Bus Info:0000:c1:00.0\n", CPUBIND_TEXT_ERR_SYNTAX, 25},
        {NPU "Chip Version:V1\x01\n", CPUBIND_TEXT_ERR_SYNTAX, 24},
        {"There is no NPU card on this server.\n", CPUBIND_TEXT_ERR_REFUSED, 0},
        {NPU "Failed to query \"board\" info.\n" NPU, CPUBIND_TEXT_ERR_REFUSED, 9},
    };

    check_verdicts(read_board, cases, LENGTH(cases));
}

TEST(a_cut_board_is_an_error)
{
    static const verdict cases[] = {
        {"hello", CPUBIND_TEXT_ERR_CUT, 5},
        {"NPU ID:", CPUBIND_TEXT_ERR_CUT, 7},
        {NPU "Chip ID", CPUBIND_TEXT_ERR_CUT, 16},
        {NPU "Chip ID:", CPUBIND_TEXT_ERR_CUT, 17},
        {NPU "DDie ID : ", CPUBIND_TEXT_ERR_CUT, 18},
        {NPU "\t :", CPUBIND_TEXT_ERR_CUT, 12},
        {NPU "PCIe Bus Info:0000:c1:", CPUBIND_TEXT_ERR_CUT, 31},
        {NPU "PCIe Bus Info:N", CPUBIND_TEXT_ERR_CUT, 24},
        {NPU "PCI Device ID:0", CPUBIND_TEXT_ERR_CUT, 24},
        {NPU "PCI Device ID:0x", CPUBIND_TEXT_ERR_CUT, 25},
        {NPU "PCI Device ID:0xg", CPUBIND_TEXT_ERR_SYNTAX, 25},
        {NPU "Failed to query \"board\" info.", CPUBIND_TEXT_ERR_REFUSED, 9},
    };

    check_verdicts(read_board, cases, LENGTH(cases));
}

/* A cut text has the address of the chip or none. */
TEST(a_board_that_was_cut_has_no_other_address)
{
    int32_t n_ok = 0, n_pci = 0;

    for (int32_t len = 0; len <= (int32_t)sizeof board_a2_chip - 1; len++) {
        if (take_some(read_board, board_a2_chip, len) == CPUBIND_TEXT_OK) {
            n_ok++;
            assert_int_equal(got.n_board, 1);
            if (got.board[0].has_pci) {
                check_pci(&got.board[0], 0, 0x5d, 0, 0);
                n_pci++;
            }
        }
    }
    assert_true(n_pci > 0 && n_ok > n_pci);
}

TEST(a_board_without_room_gives_the_room_that_it_needs)
{
    end_reading(&got);
    assert_int_equal(
        read_board_cap(&got, board_card_chips, (int32_t)strlen(board_card_chips), 2),
        CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(got.n_board, 3);
}

/* == info -l ================================================================ */

static void check_card(const reading *r, int32_t i, int32_t card, int32_t n_chip,
                       const char *product, const char *serial)
{
    assert_int_equal(r->card[i].card, card);
    assert_int_equal(r->card[i].n_chip, n_chip);
    assert_true(slice_is(r, r->card[i].product, product));
    assert_true(slice_is(r, r->card[i].serial, serial));
}

TEST(a_list_holds_as_many_cards_as_its_count)
{
    assert_int_equal(take(read_list, list_a2), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_card, 2);
    check_card(&got, 0, 3, 1, "", "");
    check_card(&got, 1, 5, 1, "", "");

    assert_int_equal(take(read_list, list_310), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_card, 2);
    check_card(&got, 0, 1, 4, "Card: four chips", "");
    check_card(&got, 1, 9, 0, "", "SN 17");

    assert_int_equal(take(read_list, list_950), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_card, 1);
    check_card(&got, 0, 12, -1, "PCIe card", "0123");

    assert_int_equal(take(read_list, "total count:2\nNPU ID:4\nNPU ID:3\nChip Count:NA\n"),
                     CPUBIND_TEXT_OK);
    check_card(&got, 0, 4, -1, "", "");
    check_card(&got, 1, 3, -1, "", "");
}

#define TOTAL "Total Count:1\n" /* 14 bytes */

TEST(other_lists_are_refused_where_they_go_wrong)
{
    static const verdict cases[] = {
        {"", CPUBIND_TEXT_ERR_MISSING, 0},
        {"hello\n", CPUBIND_TEXT_ERR_MISSING, 6},
        {"hello", CPUBIND_TEXT_ERR_CUT, 5},
        {NPU, CPUBIND_TEXT_ERR_MISSING, 9},
        {NPU TOTAL, CPUBIND_TEXT_ERR_SYNTAX, 9},
        {TOTAL, CPUBIND_TEXT_ERR_CUT, 14},
        {TOTAL TOTAL NPU, CPUBIND_TEXT_ERR_SYNTAX, 14},
        {TOTAL "Card Count:1\n" NPU, CPUBIND_TEXT_ERR_SYNTAX, 14},
        {TOTAL NPU "NPU ID:1\n", CPUBIND_TEXT_ERR_SYNTAX, 23},
        {"Total Count:2\n" NPU, CPUBIND_TEXT_ERR_CUT, 23},
        {"Total Count:2\n" NPU NPU, CPUBIND_TEXT_ERR_SYNTAX, 23},
        {"Total Count:3\nNPU ID:1\n" NPU NPU, CPUBIND_TEXT_ERR_SYNTAX, 32},
        {"Total Count:0\n", CPUBIND_TEXT_ERR_MISSING, 14},
        {"Total Count:0\n" NPU, CPUBIND_TEXT_ERR_SYNTAX, 14},
        {"Total Count:x\n", CPUBIND_TEXT_ERR_SYNTAX, 12},
        {"Total Count:4097\n", CPUBIND_TEXT_ERR_RANGE, 12},
        {TOTAL "Chip Count:1\n" NPU, CPUBIND_TEXT_ERR_SYNTAX, 14},
        {TOTAL NPU "Chip Count:1\nChip Count:1\n", CPUBIND_TEXT_ERR_SYNTAX, 36},
        {TOTAL NPU "Product Name:a\nProduct Name:a\n", CPUBIND_TEXT_ERR_SYNTAX, 38},
        {TOTAL NPU "Chip Count:x\n", CPUBIND_TEXT_ERR_SYNTAX, 34},
        {TOTAL "NPU ID:x\n", CPUBIND_TEXT_ERR_SYNTAX, 21},
        {TOTAL "NPU ID:4294967296\n", CPUBIND_TEXT_ERR_RANGE, 21},
        {TOTAL "NPU ID", CPUBIND_TEXT_ERR_CUT, 20},
        {TOTAL "NPU ID:", CPUBIND_TEXT_ERR_CUT, 21},
        {TOTAL NPU "Chip Count:N", CPUBIND_TEXT_ERR_CUT, 35},
        {"There is no NPU card on this server.\n", CPUBIND_TEXT_ERR_REFUSED, 0},
    };

    check_verdicts(read_list, cases, LENGTH(cases));
}

/* Before the end of its last NPU ID a list is never whole. */
TEST(a_cut_list_is_an_error)
{
    const char *last = strstr(list_a2, ": 5");

    assert_non_null(last);
    for (int32_t len = 0; len <= (int32_t)(last - list_a2) + 1; len++) {
        assert_int_not_equal(take_some(read_list, list_a2, len), CPUBIND_TEXT_OK);
    }
}

TEST(a_list_without_room_gives_the_room_that_it_needs)
{
    end_reading(&got);
    assert_int_equal(read_list_cap(&got, list_310, (int32_t)strlen(list_310), 1),
                     CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(got.n_card, 2);
}

/* == both =================================================================== */

static int is_sample(const sample *s, const char *const *texts, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (s->text == texts[i])
            return 1;
    return 0;
}

/* A list has the form of boards without addresses; nothing else has either form. */
TEST(no_other_output_is_a_board_or_a_list)
{
    static const char *const lists[] = {list_a2, list_310, list_950};
    static const char *const boards[] = {
        board_a2_chip, board_a2_mcu, board_a3_chip, board_card_chips, board_no_pci,
        board_950,     board_950_ub, list_a2,       list_310,         list_950};

    for (int32_t i = 0; i < LENGTH(samples); i++) {
        assert_int_equal(take_some(read_list, samples[i].text, samples[i].len) ==
                             CPUBIND_TEXT_OK,
                         is_sample(&samples[i], lists, LENGTH(lists)));
        assert_int_equal(take_some(read_board, samples[i].text, samples[i].len) ==
                             CPUBIND_TEXT_OK,
                         is_sample(&samples[i], boards, LENGTH(boards)));
    }
}

TEST(wrong_arguments_are_refused)
{
    cpubind_npusmi_board board;
    cpubind_npusmi_card card;
    cpubind_text_fault fault = no_fault;
    cpubind_npusmi_boards boards = {&board, 1, 7, {7, 7}}, no_board = {NULL, 1, 7, {7, 7}};
    cpubind_npusmi_cards cards = {&card, 1, 7, {7, 7}}, no_card = {NULL, 1, 7, {7, 7}};

    assert_int_equal(cpubind_npusmi_parse_board(NULL, 1, &boards, &fault),
                     CPUBIND_TEXT_ERR_ARG);
    assert_non_null(fault.what);
    assert_int_equal(cpubind_npusmi_parse_board("", -1, &boards, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_board("", 0, &no_board, NULL), CPUBIND_TEXT_ERR_ARG);
    boards.cap_board = -1;
    assert_int_equal(cpubind_npusmi_parse_board("", 0, &boards, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_board("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_list(NULL, 1, &cards, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_list("", 0, &no_card, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_list("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(boards.n_board + no_board.n_board + cards.n_card + no_card.n_card, 28);
    assert_int_equal(boards.unknown.at + cards.unknown.len, 14);
    no_card.cap_card = 0;
    assert_int_equal(cpubind_npusmi_parse_list(NULL, 0, &no_card, NULL),
                     CPUBIND_TEXT_ERR_MISSING);
}

/* The most chips that are read, and one more. */
TEST(blocks_are_limited)
{
    static char text[(CPUBIND_MAX_DEVICES + 1) * 16];
    int32_t len = 0, n;
    for (n = 0; n <= CPUBIND_MAX_DEVICES; n++) {
        if (n == CPUBIND_MAX_DEVICES) {
            assert_int_equal(take_some(read_board, text, len), CPUBIND_TEXT_OK);
            assert_int_equal(got.n_board, CPUBIND_MAX_DEVICES);
        }
        len += snprintf(text + len, sizeof text - (size_t)len, "NPU ID:%d\n", (int)n);
    }
    assert_int_equal(take_some(read_board, text, len), CPUBIND_TEXT_ERR_RANGE);
}

int main(void)
{
    return run_registered("npusmi_board", NULL, forget);
}
