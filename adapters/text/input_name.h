/* input_name.h - names of inputs, as the seam has them
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 *
 * GRAMMAR
 *   name = part *( "/" part )      1 .. CPUBIND_INPUT_NAME_MAX bytes
 *   part = 1*byte                  no "/", no byte below a blank; not ".."
 *   board = "cmd/npu-smi-info-t-board-i" number [ "-c" number ] ".txt"
 *   number = "0" / ( "1".."9" *DIGIT )      up to 2147483647
 */
#ifndef CPUBIND_TEXT_INPUT_NAME_H
#define CPUBIND_TEXT_INPUT_NAME_H

#include "../source.h"
#include "text.h"

/* Longest name of an input, in bytes: one less than a path of Linux with its NUL. */
#define CPUBIND_INPUT_NAME_MAX 4095

/* Whether `name`, ended by NUL, may be asked of a source. NULL may not.
 *   cost    O(length) */
int cpubind_input_is_name(const char *name);

/* Room for the name of a board's input with its NUL. */
#define CPUBIND_INPUT_BOARD_MAX 64

/* The name of `npu-smi info -t board -i CARD -c CHIP`, ended by NUL.
 *   in      card >= 0; chip >= 0, or -1 for the card as a whole
 *   out     out[0 .. CPUBIND_INPUT_BOARD_MAX - 1]; its length is returned */
int32_t cpubind_input_board_name(char *out, int32_t card, int32_t chip);

/* Whether `name`, ended by NUL, is the name of a board's input.
 *   out     *card, *chip: the digits of their numbers, as slices of `name`; chip->len 0: of the
 *           card as a whole. Untouched when it is not */
int cpubind_input_is_board(const char *name, cpubind_slice *card, cpubind_slice *chip);

#endif /* CPUBIND_TEXT_INPUT_NAME_H */
