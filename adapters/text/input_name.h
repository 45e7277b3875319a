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

#endif /* CPUBIND_TEXT_INPUT_NAME_H */
