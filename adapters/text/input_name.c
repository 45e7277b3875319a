/* input_name.c - names of the inputs of source.h
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The grammar is in input_name.h.
 */
#include "input_name.h"

#include <stddef.h>
#include <string.h>

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
