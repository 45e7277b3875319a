/* input_name.h - names of the inputs of source.h
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 *
 * GRAMMAR
 *   name = part *( "/" part )      1 .. CPUBIND_INPUT_NAME_MAX bytes
 *   part = 1*byte                  no "/", no byte below a blank; not ".."
 */
#ifndef CPUBIND_TEXT_INPUT_NAME_H
#define CPUBIND_TEXT_INPUT_NAME_H

#include "../source.h"
#include "text.h"

/* Longest name of an input, in bytes: one less than a path of Linux with its NUL. */
#define CPUBIND_INPUT_NAME_MAX 4095

/* Whether `name`, ended by NUL, may be asked of a source. NULL may not.
 *   cost    O(length) */
int cpubind_input_is_name(const char *name);

/* Whether `name`, ended by NUL, fits the first n bytes of a pattern: of its bytes "#" stands
 * for a number up to 2147483647, "%" for that of a CPU or a node, and "*" for one part of a
 * name. A number has no leading zero. */
int cpubind_input_fits(const char *name, const char *pattern, int32_t n);

#endif /* CPUBIND_TEXT_INPUT_NAME_H */
