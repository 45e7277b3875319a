/* http.h - an address of a page, and the head of the answer of its server
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 *
 * GRAMMAR
 *   url    = "http://" ( host / "[" host "]" ) [ ":" port ] [ "/" *VISIBLE ]
 *   host   = 1*( LETTER / DIGIT / "." / "-" / ":" )      ":" between brackets alone
 *   port   = 1 .. 65535, without leading zeros
 *   head   = "HTTP/1." DIGIT " " 3DIGIT [ " " *BYTE ] LF *( name ":" *BYTE LF ) LF
 *   name   = 1*( VISIBLE but ":" )                       VISIBLE: 0x21 .. 0x7e; a CR before LF
 *                                                        does not count   (RFC 9112)
 */
#ifndef CPUBIND_TEXT_HTTP_H
#define CPUBIND_TEXT_HTTP_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cpubind_http_url {
    cpubind_piece host; /* without brackets */
    int32_t port;       /* 80 where the address has none */
    cpubind_piece path; /* empty where the address has none */
} cpubind_http_url;

/* Reads an address, all of it.
 *   errors  ERR_ARG, ERR_SYNTAX, ERR_RANGE (the port) */
cpubind_text_status cpubind_http_url_parse(const char *text, int32_t len, cpubind_http_url *out,
                                           cpubind_text_fault *fault);

typedef struct cpubind_http_head {
    int32_t status;         /* 100 .. 599 */
    int32_t len;            /* bytes of the head: the page starts there */
    int32_t page_len;       /* Content-Length; -1: the page goes to the end of the connection */
    int32_t is_coded;       /* the page is in pieces (chunked) or compressed */
    cpubind_piece location; /* where a redirect leads, VISIBLE bytes; empty: nowhere */
} cpubind_http_head;

/* Reads the head of an answer.
 *   errors  ERR_ARG; ERR_SYNTAX; ERR_RANGE: its length is no int32_t, or two of them differ;
 *           ERR_CUT: the text is the beginning of a head, or may be
 *   cost    O(length of the head) */
cpubind_text_status cpubind_http_head_parse(const char *text, int32_t len,
                                            cpubind_http_head *out, cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_TEXT_HTTP_H */
