/* show.h - the text of a report: its values, set as tables and blocks
 * SPDX-License-Identifier: MIT
 *
 * The printer of commands: rows name the keys of a report. Null is "-", true "yes", an array
 * "a,b", an object "key=value". A column that no row of the report has is left out. Nothing is
 * cut: for a terminal, which has columns, lists go on below; elsewhere lines are whole.
 */
#ifndef CPUBIND_WORDS_SHOW_H
#define CPUBIND_WORDS_SHOW_H

#include "messages.h"
#include "value.h"

typedef enum words_shown {
    WORDS_TABLE,   /* of an array: a row for each object; "a.b": of the arrays b of all of a */
    WORDS_COUNTED, /* a table in which rows that are alike are one, with their number */
    WORDS_BLOCK,   /* of an array or an object: a line for each key; for each text */
    WORDS_NOTE     /* a line, where the value is there and neither 0, false nor empty */
} words_shown;

/* One part of a text. `keys` are blank-separated: "key", "a.b", "key=head" with "_" for blanks;
 * "^key" of the object around the array, "key~" a number of bytes, "key%" a list with strides
 * as taskset takes it, "key?" may differ in rows that are counted as one, "key!" of a block
 * stays in one line, as a command that is copied must; "+key" is there for who asks for its
 * column. Of a WORDS_NOTE it is a text, in which "{key}" and "{key~}" stand for values. The
 * last row of a view has no keys.
 */
typedef struct words_view {
    words_shown shown;
    const char *path, *keys;
} words_view;

/* Appends a report, with an empty line between its parts.
 *   in      columns: titles with commas between them: the first table that has all of them is
 *           shown alone, with these columns in this order; NULL: all is shown */
void words_show(api_out *to, const words_view *view, const words_value *report,
                const char *columns);

/* Whether a table of a view has columns of all these titles; 0, with those that there are in
 * *why: none has. */
int words_has_columns(const words_view *view, const char *columns, api_text *why);

#endif /* CPUBIND_WORDS_SHOW_H */
