/* jsonread.h - JSON, read one value after the other
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. Pure: no memory, no errno, no locale. A general reader hands out a
 * tree of allocations; the one that cpubind prints with loses bytes of a string or a number,
 * and says nothing, when one of them fails. What is read here becomes masks of running
 * processes, so it is read in place.
 *
 * GRAMMAR
 *   value  = object / array / string / number / "true" / "false" / "null"
 *   object = "{" [ string ":" value *( "," string ":" value ) ] "}"
 *   array  = "[" [ value *( "," value ) ] "]"
 *   string = DQUOTE *( byte / escape ) DQUOTE     byte: from " " on, no DQUOTE, no backslash
 *   escape = "\" ( DQUOTE / "\" / "/" / "b" / "f" / "n" / "r" / "t" / "u" 4HEXDIG )
 *   number = [ "-" ] ( "0" / "1".."9" *DIGIT ) [ "." 1*DIGIT ]
 *            [ ( "e" / "E" ) [ "+" / "-" ] 1*DIGIT ]
 *   Blanks (space, TAB, LF, CR) may stand before any of these words.
 */
#ifndef CPUBIND_LINUX_JSONREAD_H
#define CPUBIND_LINUX_JSONREAD_H

#include <stdint.h>

/* Objects and arrays that stand in one another in a value that is skipped. */
#define CPUBIND_JSON_DEPTH_MAX 64

/* What is read, and how far. Every function moves `at` behind what it has read; after a failure
 * it stands somewhere inside the text. */
typedef struct cpubind_json {
    const char *text;
    int32_t len, at;
} cpubind_json;

/* Bytes [at, at + len) of the text: what stands between the quotes of a string, as it is. */
typedef struct cpubind_json_string {
    const char *at;
    int32_t len;
} cpubind_json_string;

/* Whether the next byte that is no blank is this one, which is taken then. */
int cpubind_json_take(cpubind_json *json, char byte);

/* Whether nothing but blanks is left. */
int cpubind_json_is_end(cpubind_json *json);

/* Whether null stands here, which is taken then. */
int cpubind_json_take_null(cpubind_json *json);

/* Each returns 1, or 0 when there is no such thing: */
int cpubind_json_string_next(cpubind_json *json, cpubind_json_string *out);
int cpubind_json_skip(cpubind_json *json); /* any value */

/* A number without a sign, a point or an exponent, not above `max`. */
int cpubind_json_number(cpubind_json *json, uint64_t max, uint64_t *out);

/* The text of a string whose characters are U+0001 .. U+00FF, a byte each, ended by NUL.
 *   returns 1, or 0 when it has others or does not fit into out[0 .. size - 1] */
int cpubind_json_decode(cpubind_json_string string, char *out, int32_t size);

#endif /* CPUBIND_LINUX_JSONREAD_H */
