/* nri_frames.h - the frames between a container runtime and an NRI plugin
 * SPDX-License-Identifier: MIT
 *
 * Pure: works on (pointer, length). One socket carries several connections, and each of these
 * the messages of ttrpc. All numbers are big endian.
 *
 * GRAMMAR
 *   trunk   = *frame
 *   frame   = connection:u32 length:u32 payload      length <= CPUBIND_NRI_FRAME_MAX
 *   stream  = *message                               the payloads of one connection, joined
 *   message = length:u32 stream:u32 type:u8 flags:u8 data     length <= CPUBIND_NRI_DATA_MAX
 *   type    = 1 (request) / 2 (response)
 * SOURCES: containerd/nri, pkg/net/multiplex; containerd/ttrpc, PROTOCOL.md.
 */
#ifndef CPUBIND_NRI_NRI_FRAMES_H
#define CPUBIND_NRI_NRI_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "../text/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The connections: over the first the runtime calls the plugin, over the other one the plugin
 * calls the runtime. */
enum { CPUBIND_NRI_PLUGIN = 1, CPUBIND_NRI_RUNTIME = 2 };

enum { CPUBIND_NRI_REQUEST = 1, CPUBIND_NRI_RESPONSE = 2 };

enum {
    CPUBIND_NRI_FRAME_HEAD = 8,
    CPUBIND_NRI_MESSAGE_HEAD = 10,
    CPUBIND_NRI_DATA_MAX = 4 << 20,
    CPUBIND_NRI_FRAME_MAX = CPUBIND_NRI_MESSAGE_HEAD + CPUBIND_NRI_DATA_MAX,
    /* The runtime reads a frame into the 4,096 bytes of a Go bufio.Reader, and ends the
     * connection where the frame is longer than what it asks for. */
    CPUBIND_NRI_SENT_MAX = 4096
};

typedef struct cpubind_nri_frame {
    uint32_t connection;
    int32_t at, len; /* its payload in the text */
} cpubind_nri_frame;

typedef struct cpubind_nri_message {
    uint32_t stream;
    int32_t type;    /* REQUEST, RESPONSE */
    int32_t at, len; /* its data in the text */
} cpubind_nri_message;

/* Reads the frame that a trunk begins with. The next one begins at at + len.
 *   out     *out; unchanged on failure
 *   errors  ERR_CUT: it is not whole; ERR_RANGE: its length; ERR_ARG */
cpubind_text_status cpubind_nri_frame_parse(const char *text, int32_t len,
                                            cpubind_nri_frame *out, cpubind_text_fault *fault);

/* Reads the message that a stream begins with, as above.
 *   errors  as above; ERR_SYNTAX: it is neither a request nor a response */
cpubind_text_status cpubind_nri_message_parse(const char *text, int32_t len,
                                              cpubind_nri_message *out,
                                              cpubind_text_fault *fault);

/* The bytes that a message of this length has as frames. */
size_t cpubind_nri_framed_size(int32_t len);

/* Writes a message as frames.
 *   in      0 <= len <= CPUBIND_NRI_DATA_MAX
 *   out     out: cpubind_nri_framed_size(len) bytes */
void cpubind_nri_write(uint32_t connection, uint32_t stream, int32_t type, const char *data,
                       int32_t len, char *out);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_NRI_NRI_FRAMES_H */
