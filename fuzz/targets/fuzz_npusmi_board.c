/* fuzz_npusmi_board.c - fuzz target: parse the output of `npu-smi info -t board`
 * SPDX-License-Identifier: MIT
 *
 * The promises of the reader are in adapters/ascend/npusmi.h.
 */
#include "../fuzz_npusmi.h"

/* extra: offset and length of unknown. */
static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_npusmi_boards boards = {(cpubind_npusmi_board *)r->array[0].at,
                                    r->array[0].cap,
                                    r->array[0].n,
                                    {r->extra[0], r->extra[1]}};
    const cpubind_text_status status = cpubind_npusmi_parse_board(text, len, &boards, fault);
    (void)limit;
    r->array[0].n = boards.n_board;
    r->extra[0] = boards.unknown.at;
    r->extra[1] = boards.unknown.len;
    return status;
}

static void check_boards(const char *text, int32_t len, const cpubind_npusmi_board *board,
                         int32_t n)
{
    CHECK(n >= 1);
    for (int32_t i = 0; i < n; i++) {
        CHECK(board[i].card >= 0 && board[i].chip >= -1 && board[i].n_chip >= -1);
        CHECK(board[i].vendor >= -1 && board[i].device >= -1);
        CHECK(board[i].has_pci == 0 || board[i].has_pci == 1);
        CHECK(board[i].has_pci || board[i].pci.domain < 0);
        fuzz_check_pci(&board[i].pci);
        fuzz_check_name(text, len, board[i].npu_name);
        fuzz_check_name(text, len, board[i].chip_type);
        fuzz_check_name(text, len, board[i].chip_name);
        fuzz_check_name(text, len, board[i].product);
        fuzz_check_name(text, len, board[i].serial);
        for (int32_t k = 0; k < i && k < 64; k++)
            CHECK(board[i].card != board[k].card || board[i].chip != board[k].chip);
    }
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 1, {sizeof(cpubind_npusmi_board), 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        const cpubind_slice unknown = {r.extra[0], r.extra[1]};
        check_boards(text, len, (const cpubind_npusmi_board *)r.array[0].at, r.array[0].n);
        fuzz_check_name(text, len, unknown);
        fuzz_end(&r);
    }
    CHECK(cpubind_npusmi_parse_board(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
