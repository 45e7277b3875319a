/* conf.c - read the rows of a configuration file
 * SPDX-License-Identifier: MIT
 *
 * Pure: works on (pointer, length), opens no file, allocates nothing.
 *
 *     file    = *( line LF ) [ line ]
 *     line    = *BLANK [ row *BLANK ] [ comment ]
 *     row     = key *BLANK "=" *BLANK value
 *     key     = word *( "-" word )
 *     word    = 1*( "a".."z" / "0".."9" )
 *     value   = <"> *QUOTED <"> / PLAIN *( *BLANK PLAIN )
 *     comment = "#" *( BLANK / BYTE )
 *     BLANK   = blank / TAB / CR
 *     BYTE    = any byte from "!" on but DEL
 *     QUOTED  = BLANK / BYTE but <">
 *     PLAIN   = BYTE; not <"> as the first one, not "#" as the first one or after a BLANK
 *
 * A "#" in the middle of a value, as in a name of threads, is a part of it; a value with a "#"
 * after a blank is written in quotes. After a value in quotes come blanks or a comment alone.
 */
#include "conf.h"

#include "../text/scan.h"

static int is_key_byte(char c)
{
    return (c >= 'a' && c <= 'z') || scan_is_digit(c);
}

static cpubind_conf_step fail_at(const scan_text *in, int32_t offset, const char *what)
{
    (void)scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, offset, what);
    return CPUBIND_CONF_FAULT;
}

/* The first byte of the run that no line may hold; the end of the run without one. */
static int32_t find_strange(const scan_text *in, scan_run run)
{
    for (; run.at < run.end; run.at++) {
        const char c = in->text[run.at];
        if (((unsigned char)c < ' ' && !scan_is_blank(c)) || c == 0x7f)
            break;
    }
    return run.at;
}

/* The end of the key at `at`: after the last word that belongs to it. */
static int32_t end_of_key(const scan_text *in, int32_t at, int32_t end)
{
    while (at < end && (is_key_byte(in->text[at]) ||
                        (in->text[at] == '-' && at + 1 < end && is_key_byte(in->text[at + 1]))))
        at++;
    return at;
}

/* The end of a value without quotes: a "#" after a blank begins a comment. */
static int32_t end_of_plain(const scan_text *in, scan_run run)
{
    for (int32_t i = run.at; i < run.end; i++)
        if (in->text[i] == '#' && (i == run.at || scan_is_blank(in->text[i - 1])))
            run.end = i;
    return scan_trim(in, run).end;
}

static cpubind_conf_step read_quoted(const scan_text *in, scan_run run, cpubind_piece *value)
{
    scan_run inside = {run.at + 1, run.at + 1};
    scan_run rest;
    while (inside.end < run.end && in->text[inside.end] != '"')
        inside.end++;
    if (inside.end == run.end)
        return fail_at(in, run.at, "the closing quote of this value is missing");
    rest = (scan_run){inside.end + 1, run.end};
    rest = scan_trim(in, rest);
    if (!scan_is_empty(rest) && in->text[rest.at] != '#')
        return fail_at(in, rest.at, "nothing but a comment may follow a value in quotes");
    if (scan_is_empty(inside))
        return fail_at(in, run.at, "the value is empty");
    *value = scan_slice(inside);
    return CPUBIND_CONF_ROW;
}

/* Reads a line that is neither empty nor a comment alone. */
static cpubind_conf_step read_row(const scan_text *in, scan_run line, cpubind_conf_row *row)
{
    const scan_run key = {line.at, end_of_key(in, line.at, line.end)};
    scan_run rest = {scan_skip_blanks(in, key.end, line.end), line.end};
    if (scan_is_empty(key) || in->text[key.at] == '-')
        return fail_at(in, line.at, "a line begins with a key, in small letters, or with #");
    if (scan_is_empty(rest) || in->text[rest.at] != '=')
        return fail_at(in, rest.at, "\"=\" is expected after the key");
    rest.at = scan_skip_blanks(in, rest.at + 1, rest.end);
    row->key = scan_slice(key);
    if (!scan_is_empty(rest) && in->text[rest.at] == '"')
        return read_quoted(in, rest, &row->value);
    rest.end = end_of_plain(in, rest);
    if (scan_is_empty(rest))
        return fail_at(in, rest.at, "the value is missing");
    row->value = scan_slice(rest);
    return CPUBIND_CONF_ROW;
}

cpubind_conf_step cpubind_conf_next(const char *text, int32_t len, int32_t *at,
                                    cpubind_conf_row *row, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    scan_line line = {.next = *at};
    cpubind_conf_row found = {{0, 0}, {0, 0}};
    while (scan_next_line(&in, &line)) {
        const int32_t strange = find_strange(&in, line.run);
        cpubind_conf_step step;
        *at = line.next;
        if (strange < line.run.end)
            return fail_at(&in, strange, "a line holds a control character");
        if (scan_is_empty(line.run) || text[line.run.at] == '#')
            continue;
        step = read_row(&in, line.run, &found);
        if (step == CPUBIND_CONF_ROW)
            *row = found;
        return step;
    }
    *at = len;
    return CPUBIND_CONF_END;
}
