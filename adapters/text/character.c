/* character.c - characters of UTF-8
 * SPDX-License-Identifier: MIT
 *
 * The contract is in character.h. Must not read past the length.
 */
#include "character.h"

/* RFC 3629: no form longer than it must be, no surrogate, nothing above U+10FFFF. */
int32_t cpubind_character(const char *text, size_t len)
{
    const unsigned char *c = (const unsigned char *)text;
    uint32_t value;
    int32_t n;
    if (len == 0 || c[0] < ' ' || c[0] == 0x7f)
        return 0;
    if (c[0] < 0x80)
        return 1;
    n = c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;
    value = c[0] & (0x7fu >> n);
    if (c[0] < 0xc2 || c[0] > 0xf4 || (size_t)n > len)
        return 0;
    for (int32_t i = 1; i < n; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (c[i] & 0x3f);
    }
    if (value < 0xa0 || (n == 3 && value < 0x800) || (n == 4 && value < 0x10000) ||
        value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    return n;
}
