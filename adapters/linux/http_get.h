/* http_get.h - one page of a server, over HTTP/1.0
 * SPDX-License-Identifier: MIT
 *
 * For pages of figures of programs of this host. No name but "localhost" is looked up, since a
 * static program cannot; there is no TLS, no proxy, and no redirect is followed.
 */
#ifndef CPUBIND_LINUX_HTTP_GET_H
#define CPUBIND_LINUX_HTTP_GET_H

#include "../text/http.h"
#include "kernel/bytes.h"

/* The path of an address without one. */
#define CPUBIND_HTTP_PATH "/metrics"

/* Longest head of an answer. */
#define CPUBIND_HTTP_HEAD_MAX 65536

/* Gets a page.
 *   in      text: an address that was read into `url`; 1 <= limit_ms for all of it; max: the
 *           longest page, at most CPUBIND_BYTES_MAX - CPUBIND_HTTP_HEAD_MAX; `answer` is empty
 *   out     *head and `answer`: the answer with its head, also where its status is not 200;
 *           the caller frees it, also on failure
 *   errors  EINVAL, "address": the host is neither an IP address nor localhost; "connect";
 *           ETIMEDOUT, "connect" or "answer"; EPROTO, "answer": not HTTP/1, or a coded page;
 *           ENOMSG, "answer": it ends too soon; EFBIG, "answer"; ENOMEM, "memory"; those of the
 *           calls */
cpubind_linux_fault cpubind_http_get(const cpubind_sys *sys, const char *text,
                                     const cpubind_http_url *url, int32_t limit_ms, int32_t max,
                                     cpubind_http_head *head, cpubind_bytes *answer);

#endif /* CPUBIND_LINUX_HTTP_GET_H */
