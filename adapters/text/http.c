/* http.c - an address of a page, and the head of the answer of its server
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc, no errno, no locale. The grammar is in http.h.
 */
#include "http.h"

#include "scan.h"

static int is_visible(char c)
{
    return c > ' ' && c < 0x7f;
}

/* == An address ============================================================= */

static cpubind_text_status read_host(const scan_text *in, int32_t *at, scan_run *host)
{
    int32_t i = *at;
    const int is_bracketed = i < in->len && in->text[i] == '[';
    i += is_bracketed;
    host->at = i;
    while (i < in->len &&
           (scan_is_letter(in->text[i]) || scan_is_digit(in->text[i]) || in->text[i] == '.' ||
            in->text[i] == '-' || (is_bracketed && in->text[i] == ':')))
        i++;
    host->end = i;
    if (scan_is_empty(*host))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, i, "the host is missing");
    if (is_bracketed && (i == in->len || in->text[i] != ']'))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, i, "the ] of the host is missing");
    *at = i + is_bracketed;
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_http_url_parse(const char *text, int32_t len, cpubind_http_url *out,
                                           cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    int32_t at = (int32_t)strlen("http://"), port = 80;
    scan_run host = {0, 0}, path;
    cpubind_text_status status;
    if (!scan_is_text(text, len) || !out)
        return scan_fail_arg(fault);
    if (!SCAN_STARTS(&in, ((scan_run){0, len}), "http://"))
        return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, 0, "it does not start with http://");
    status = read_host(&in, &at, &host);
    if (status == CPUBIND_TEXT_OK && at < len && text[at] == ':') {
        at++;
        status = scan_number(&in, &at, len, 65535, &port);
        if (status == CPUBIND_TEXT_OK && port == 0)
            return scan_fail(&in, CPUBIND_TEXT_ERR_RANGE, at - 1, "the port is 0");
    }
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (at < len && text[at] != '/')
        return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, at, "a byte does not belong here");
    for (path = (scan_run){at, at}; path.end < len; path.end++)
        if (!is_visible(text[path.end]))
            return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, path.end,
                             "a byte does not belong here");
    *out = (cpubind_http_url){scan_slice(host), port, scan_slice(path)};
    return CPUBIND_TEXT_OK;
}

/* == An answer ============================================================== */

static cpubind_text_status read_status(const scan_text *in, scan_run line, int32_t *out)
{
    static const char start[] = "HTTP/1.x ";
    const int32_t at = line.at + (int32_t)sizeof start - 1;
    int32_t end = at, number = 0;
    cpubind_text_status status;
    if (line.at != 0 || !SCAN_STARTS(in, line, "HTTP/1.") || line.end < at ||
        !scan_is_digit(in->text[at - 2]) || in->text[at - 1] != ' ')
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, 0, "the answer is not HTTP/1");
    status = scan_number(in, &end, line.end, 599, &number);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (number < 100 || (end < line.end && in->text[end] != ' '))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at, "the status has not three digits");
    *out = number;
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status take_length(const scan_text *in, scan_run value,
                                       cpubind_http_head *out)
{
    int32_t number = 0;
    const cpubind_text_status status = scan_whole_number(in, value, INT32_MAX, &number);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (out->page_len >= 0 && out->page_len != number)
        return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, value.at, "a second length differs");
    out->page_len = number;
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status take_coding(const scan_text *in, scan_run value,
                                       cpubind_http_head *out)
{
    if (!SCAN_IS(in, value, "identity"))
        out->is_coded = 1;
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status take_location(const scan_text *in, scan_run value,
                                         cpubind_http_head *out)
{
    scan_run shown = {value.at, value.at};
    while (shown.end < value.end && is_visible(in->text[shown.end]))
        shown.end++;
    out->location = scan_slice(shown);
    return CPUBIND_TEXT_OK;
}

static const struct {
    const char *name;
    cpubind_text_status (*take)(const scan_text *in, scan_run value, cpubind_http_head *out);
} fields[] = {{"content-length:", take_length},
              {"transfer-encoding:", take_coding},
              {"content-encoding:", take_coding},
              {"location:", take_location}};

static cpubind_text_status read_field(const scan_text *in, scan_run line,
                                      cpubind_http_head *out)
{
    int32_t colon = line.at;
    while (colon < line.end && is_visible(in->text[colon]) && in->text[colon] != ':')
        colon++;
    if (colon == line.at || colon == line.end || in->text[colon] != ':')
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, colon, "a line of the head has no name");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (scan_starts_with_letters(in->text + line.at, colon + 1 - line.at, fields[i].name))
            return fields[i].take(in, scan_trim(in, (scan_run){colon + 1, line.end}), out);
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_http_head_parse(const char *text, int32_t len,
                                            cpubind_http_head *out, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_http_head head = {.page_len = -1};
    scan_line line = {{0, 0}, 0, 0};
    if (!scan_is_text(text, len) || !out)
        return scan_fail_arg(fault);
    while (scan_next_line(&in, &line) && line.ended) {
        cpubind_text_status status;
        if (head.status == 0) {
            status = read_status(&in, line.run, &head.status);
        } else if (scan_is_empty(line.run)) {
            head.len = line.next;
            *out = head;
            return CPUBIND_TEXT_OK;
        } else {
            status = read_field(&in, line.run, &head);
        }
        if (status != CPUBIND_TEXT_OK)
            return status;
    }
    return scan_fail(&in, CPUBIND_TEXT_ERR_CUT, len, "the head of the answer is cut");
}
