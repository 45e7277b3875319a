/* input.h - names of inputs, as the seam has them
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 *
 * GRAMMAR
 *   name = part *( "/" part )      1 .. CPUBIND_INPUT_NAME_MAX bytes
 *   part = 1*byte                  no "/", no byte below a blank; not ".."
 */
#ifndef CPUBIND_INPUT_H
#define CPUBIND_INPUT_H

#include "../source.h"

/* Longest name of an input, in bytes: one less than a path of Linux with its NUL. */
#define CPUBIND_INPUT_NAME_MAX 4095

/* Whether `name`, ended by NUL, may be asked of a source. NULL may not.
 *   cost    O(length) */
int cpubind_input_is_name(const char *name);

#endif /* CPUBIND_INPUT_H */
