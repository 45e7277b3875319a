/* nri_frames.c - the frames between a container runtime and an NRI plugin
 * SPDX-License-Identifier: MIT
 *
 * Pure. The grammar is in nri_frames.h.
 */
#include "nri_frames.h"

#include <string.h>

#include "../text/cursor.h"

static uint32_t read_u32(const char *text)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value = value << 8 | (uint8_t)text[i];
    return value;
}

static void write_u32(char *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (char)(uint8_t)(value >> (24 - 8 * i));
}

/* The number at `at` of a head, which says how many bytes follow it. */
static int32_t read_length(const cursor *c, int32_t head, int32_t at, uint32_t max)
{
    uint32_t length = 0;
    if (cursor_len(c) < head)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_CUT, c->end, "the head is cut");
    else
        length = read_u32(c->text + at);
    if (length > max)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_RANGE, at, "the length is too large");
    else if (cursor_len(c) - head < (int32_t)length)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_CUT, c->end, "the bytes are cut");
    return (int32_t)length;
}

cpubind_text_status cpubind_nri_frame_parse(const char *text, int32_t len,
                                            cpubind_nri_frame *out, cpubind_text_fault *fault)
{
    cursor_text of;
    const cursor c = cursor_open(&of, text, len, fault, out != NULL);
    const int32_t n = read_length(&c, CPUBIND_NRI_FRAME_HEAD, 4, CPUBIND_NRI_FRAME_MAX);
    if (cursor_ok(&c))
        *out = (cpubind_nri_frame){read_u32(text), CPUBIND_NRI_FRAME_HEAD, n};
    return of.status;
}

cpubind_text_status cpubind_nri_message_parse(const char *text, int32_t len,
                                              cpubind_nri_message *out,
                                              cpubind_text_fault *fault)
{
    cursor_text of;
    const cursor c = cursor_open(&of, text, len, fault, out != NULL);
    const char type = cursor_len(&c) > 8 ? c.text[8] : CPUBIND_NRI_REQUEST;
    if (type != CPUBIND_NRI_REQUEST && type != CPUBIND_NRI_RESPONSE)
        (void)cursor_fail(&c, CPUBIND_TEXT_ERR_SYNTAX, 8,
                          "the message is neither a request nor a response");
    const int32_t n = read_length(&c, CPUBIND_NRI_MESSAGE_HEAD, 0, CPUBIND_NRI_DATA_MAX);
    if (cursor_ok(&c))
        *out = (cpubind_nri_message){read_u32(text + 4), type, CPUBIND_NRI_MESSAGE_HEAD, n};
    return of.status;
}

size_t cpubind_nri_framed_size(int32_t len)
{
    const size_t whole = (size_t)len + CPUBIND_NRI_MESSAGE_HEAD;
    const size_t n_frame = (whole + CPUBIND_NRI_SENT_MAX - 1) / CPUBIND_NRI_SENT_MAX;
    return whole + n_frame * CPUBIND_NRI_FRAME_HEAD;
}

void cpubind_nri_write(uint32_t connection, uint32_t stream, int32_t type, const char *data,
                       int32_t len, char *out)
{
    char head[CPUBIND_NRI_MESSAGE_HEAD] = {0};
    int32_t left = len + CPUBIND_NRI_MESSAGE_HEAD, n_head = CPUBIND_NRI_MESSAGE_HEAD;
    write_u32(head, (uint32_t)len);
    write_u32(head + 4, stream);
    head[8] = (char)type;
    while (left > 0) {
        const int32_t n = left < CPUBIND_NRI_SENT_MAX ? left : CPUBIND_NRI_SENT_MAX;
        write_u32(out, connection);
        write_u32(out + 4, (uint32_t)n);
        out += CPUBIND_NRI_FRAME_HEAD;
        memcpy(out, head, (size_t)n_head);
        if (n > n_head)
            memcpy(out + n_head, data, (size_t)(n - n_head));
        data += n - n_head;
        out += n;
        left -= n;
        n_head = 0;
    }
}
