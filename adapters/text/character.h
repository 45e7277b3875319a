/* character.h - characters of UTF-8
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 */
#ifndef CPUBIND_TEXT_CHARACTER_H
#define CPUBIND_TEXT_CHARACTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes of the character of UTF-8 at text[0 .. len - 1], 1 to 4; 0 where there is none, or
 * a control character (U+0080 to U+009F too), which a terminal would obey. */
int32_t cpubind_character(const char *text, size_t len);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_TEXT_CHARACTER_H */
