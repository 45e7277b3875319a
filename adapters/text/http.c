/* http.c - an address of a page, and the head of the answer of its server
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc, no errno, no locale. The grammar is in http.h.
 */
#include "http.h"

#include "cursor.h"

/* == An address ============================================================= */

static int is_host(char c)
{
    return cursor_is_letter(c) || cursor_is_digit(c) || c == '.' || c == '-';
}

static int is_host_or_colon(char c)
{
    return c == ':' || is_host(c);
}

cpubind_text_status cpubind_http_url_parse(const char *text, int32_t len, cpubind_http_url *out,
                                           cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, out != NULL), host, path;
    int32_t port = 80;
    cursor_need(&c, "http://", "it does not start with http://");
    const int is_bracketed = cursor_takes(&c, "[");
    host = cursor_span(&c, is_bracketed ? is_host_or_colon : is_host);
    if (host.at == host.end)
        (void)cursor_bad(&c, "the host is missing");
    if (is_bracketed)
        cursor_need(&c, "]", "the ] of the host is missing");
    if (cursor_takes(&c, ":")) {
        port = (int32_t)cursor_number(&c, 65535);
        if (port == 0)
            (void)cursor_fail(&c, CPUBIND_TEXT_ERR_RANGE, c.at - 1, "the port is 0");
    }
    path = cursor_next(&c) == '/' ? cursor_span(&c, cursor_is_visible) : c;
    cursor_end(&c, "a byte does not belong here");
    if (cursor_ok(&c))
        *out = (cpubind_http_url){cursor_piece(host), port, cursor_piece(path)};
    return of.status;
}

/* == An answer ============================================================== */

static int32_t read_status(cursor line)
{
    const int32_t at = line.at + (int32_t)sizeof "HTTP/1.x";
    int32_t status;
    if (line.at != 0 || !cursor_takes(&line, "HTTP/1.") ||
        !cursor_is_digit((char)cursor_next(&line)) || (line.at++, !cursor_takes(&line, " ")))
        (void)cursor_fail(&line, CPUBIND_TEXT_ERR_SYNTAX, 0, "the answer is not HTTP/1");
    status = (int32_t)cursor_number(&line, 599);
    if (status < 100 || (cursor_left(&line) && cursor_next(&line) != ' '))
        (void)cursor_fail(&line, CPUBIND_TEXT_ERR_SYNTAX, at,
                          "the status has not three digits");
    return status;
}

static int is_name(char c)
{
    return c != ':' && cursor_is_visible(c);
}

static void take_length(cursor value, cpubind_http_head *out)
{
    const int32_t number = (int32_t)cursor_whole(value, INT32_MAX);
    if (out->page_len >= 0 && out->page_len != number)
        (void)cursor_fail(&value, CPUBIND_TEXT_ERR_RANGE, value.at, "a second length differs");
    out->page_len = number;
}

/* Takes what is used of the fields of a head. */
static void read_field(cursor line, cpubind_http_head *out)
{
    const cursor field = line, name = cursor_span(&line, is_name);
    cursor value;
    if (name.at == name.end || !cursor_takes(&line, ":"))
        (void)cursor_bad(&line, "a line of the head has no name");
    value = cursor_trim(line);
    if (cursor_starts_as(&field, "content-length:"))
        take_length(value, out);
    else if (cursor_starts_as(&field, "location:"))
        out->location = cursor_piece(cursor_span(&value, cursor_is_visible));
    else if ((cursor_starts_as(&field, "transfer-encoding:") ||
              cursor_starts_as(&field, "content-encoding:")) &&
             !cursor_is(value, "identity"))
        out->is_coded = 1;
}

cpubind_text_status cpubind_http_head_parse(const char *text, int32_t len,
                                            cpubind_http_head *out, cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, out != NULL), line;
    cpubind_http_head head = {.page_len = -1};
    while (head.len == 0 && cursor_line(&c, &line) && !cursor_is_cut(&c, &line)) {
        line = cursor_trim(line);
        if (head.status == 0)
            head.status = read_status(line);
        else if (line.at == line.end)
            head.len = c.at;
        else
            read_field(line, &head);
    }
    if (head.len == 0)
        (void)cursor_fail(&c, CPUBIND_TEXT_ERR_CUT, of.len, "the head of the answer is cut");
    if (cursor_ok(&c))
        *out = head;
    return of.status;
}
