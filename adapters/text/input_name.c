/* input_name.c - names of inputs
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc.
 */
#include "input_name.h"

#include <stddef.h>
#include <string.h>

#include "scan.h"

int cpubind_input_is_name(const char *name)
{
    ptrdiff_t part = 0; /* bytes of this part so far */
    if (!name)
        return 0;
    for (const char *c = name;; c++) {
        if (*c == '/' || !*c) {
            if (part == 0 || c - name > CPUBIND_INPUT_NAME_MAX)
                return 0;
            if (part == 2 && c[-1] == '.' && c[-2] == '.')
                return 0;
            if (!*c)
                return 1;
            part = 0;
        } else if ((unsigned char)*c < ' ') {
            return 0;
        } else {
            part++;
        }
    }
}

static const char board_start[] = "cmd/npu-smi-info-t-board-i";
static const char board_chip[] = "-c";
static const char board_end[] = ".txt";

static char *write_text(char *out, const char *text)
{
    const size_t n = strlen(text);
    memcpy(out, text, n);
    return out + n;
}

static char *write_number(char *out, int32_t value)
{
    char digit[10];
    int n = 0;
    do
        digit[n++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    while (n > 0)
        *out++ = digit[--n];
    return out;
}

int32_t cpubind_input_board_name(char *out, int32_t card, int32_t chip)
{
    char *end = write_number(write_text(out, board_start), card);
    if (chip >= 0)
        end = write_number(write_text(end, board_chip), chip);
    end = write_text(end, board_end);
    *end = '\0';
    return (int32_t)(end - out);
}

/* A number at *at; its digits in *out. */
static int read_digits(const scan_text *in, int32_t *at, cpubind_slice *out)
{
    int32_t value;
    out->at = *at;
    if (scan_number(in, at, in->len, INT32_MAX, &value) != CPUBIND_TEXT_OK)
        return 0;
    out->len = *at - out->at;
    return 1;
}

/* These bytes at *at. */
static int read_bytes(const scan_text *in, int32_t *at, const char *bytes)
{
    const int32_t n = (int32_t)strlen(bytes);
    const scan_run rest = {*at, in->len};
    if (!scan_starts(in, rest, bytes, n))
        return 0;
    *at += n;
    return 1;
}

int cpubind_input_is_board(const char *name, cpubind_slice *card, cpubind_slice *chip)
{
    cpubind_slice read_card = {0, 0}, read_chip = {0, 0};
    const scan_text in = {name, cpubind_input_is_name(name) ? (int32_t)strlen(name) : 0, NULL};
    int32_t at = 0;
    if (!read_bytes(&in, &at, board_start) || !read_digits(&in, &at, &read_card))
        return 0;
    if (read_bytes(&in, &at, board_chip) && !read_digits(&in, &at, &read_chip))
        return 0;
    if (!read_bytes(&in, &at, board_end) || at != in.len)
        return 0;
    *card = read_card;
    *chip = read_chip;
    return 1;
}
