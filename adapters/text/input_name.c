/* input_name.c - names of the inputs of source.h
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The grammar is in input_name.h.
 */
#include "input_name.h"

#include <stddef.h>
#include <string.h>

#include "cursor.h"

int cpubind_input_is_name(const char *name)
{
    ptrdiff_t part = 0; /* bytes of this part so far */
    if (!name)
        return 0;
    for (const char *c = name;; c++) {
        if (*c == '/' || !*c) {
            if (part == 0 || c - name > CPUBIND_INPUT_NAME_MAX)
                return 0;
            if (part == 2 && c[-1] == '.' && c[-2] == '.')
                return 0;
            if (!*c)
                return 1;
            part = 0;
        } else if ((unsigned char)*c < ' ') {
            return 0;
        } else {
            part++;
        }
    }
}

/* The end of a number; NULL: there is none. */
static const char *skip_number(const char *at, int32_t most)
{
    const char *start = at;
    int32_t value;
    while (cursor_is_digit(*at))
        at++;
    return cursor_bytes_are_number(start, (int32_t)(at - start), (uint64_t)most, &value) ? at
                                                                                         : NULL;
}

/* The end of a part of a name; NULL: there is none. */
static const char *skip_part(const char *at)
{
    const char *start = at;
    while (*at && *at != '/' && cursor_is_plain(*at))
        at++;
    return at == start ||
                   (*start == '.' && (at - start == 1 || (start[1] == '.' && at - start == 2)))
               ? NULL
               : at;
}

int cpubind_input_fits(const char *name, const char *pattern, int32_t n)
{
    for (int32_t i = 0; name && i < n; i++)
        name = pattern[i] == '#'     ? skip_number(name, INT32_MAX)
               : pattern[i] == '%'   ? skip_number(name, CPUBIND_MAX_CPUS - 1)
               : pattern[i] == '*'   ? skip_part(name)
               : *name == pattern[i] ? name + 1
                                     : NULL;
    return name && !*name;
}
