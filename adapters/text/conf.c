/* conf.c - read the rows of a configuration file
 * SPDX-License-Identifier: MIT
 *
 * Pure: works on (pointer, length), opens no file, allocates nothing.
 *
 *     file    = *( line LF ) [ line ]
 *     line    = *BLANK [ row *BLANK ] [ comment ]
 *     row     = key *BLANK "=" *BLANK value
 *     key     = 1*( "a".."z" / "0".."9" / "-" )          not "-" as the first one
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
#include "conf_reader.h"

#include "cursor.h"

static int is_key_byte(char c)
{
    return (c >= 'a' && c <= 'z') || c == '-' || cursor_is_digit(c);
}

static int is_plain_byte(char c)
{
    return (cursor_is_plain(c) || cursor_is_blank(c)) && c != 0x7f;
}

/* A value without quotes: a "#" at its start or after a blank begins a comment. */
static cursor read_plain(cursor value)
{
    for (int32_t i = value.at; i < value.end; i++)
        if (value.text[i] == '#' && (i == value.at || cursor_is_blank(value.text[i - 1])))
            value.end = i;
    value = cursor_trim(value);
    if (value.at == value.end)
        (void)cursor_bad(&value, "the value is missing");
    return value;
}

static cursor read_quoted(cursor value)
{
    const cursor start = value;
    (void)cursor_takes(&value, "\"");
    const cursor inside = cursor_cut(&value, '"');
    if (cursor_is_cut(&value, &inside))
        (void)cursor_bad(&start, "the closing quote of this value is missing");
    value = cursor_trim(value);
    if (cursor_next(&value) != '#')
        cursor_end(&value, "nothing but a comment may follow a value in quotes");
    if (inside.at == inside.end)
        (void)cursor_bad(&start, "the value is empty");
    return inside;
}

/* Reads a line that is neither empty nor a comment alone. */
static cpubind_conf_row read_row(cursor line)
{
    const cursor key = cursor_span(&line, is_key_byte);
    if (key.at == key.end || key.text[key.at] == '-')
        (void)cursor_bad(&key, "a line begins with a key, in small letters, or with #");
    cursor_skip_blanks(&line);
    cursor_need(&line, "=", "\"=\" is expected after the key");
    cursor_skip_blanks(&line);
    const int is_quoted = cursor_starts(&line, "\"");
    return (cpubind_conf_row){cursor_piece(key),
                              cursor_piece(is_quoted ? read_quoted(line) : read_plain(line))};
}

cpubind_conf_step cpubind_conf_next(const char *text, int32_t len, int32_t *at,
                                    cpubind_conf_row *row, cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, 1), line;
    cpubind_conf_row found;
    c.at = *at;
    while (cursor_line(&c, &line)) {
        cursor strange = line = cursor_trim(line);
        *at = c.at;
        (void)cursor_span(&strange, is_plain_byte);
        cursor_end(&strange, "a line holds a control character");
        if (line.at == line.end || cursor_next(&line) == '#')
            continue;
        found = read_row(line);
        if (!cursor_ok(&c))
            return CPUBIND_CONF_FAULT;
        *row = found;
        return CPUBIND_CONF_ROW;
    }
    *at = of.status == CPUBIND_TEXT_OK ? len : *at;
    return of.status == CPUBIND_TEXT_OK ? CPUBIND_CONF_END : CPUBIND_CONF_FAULT;
}
