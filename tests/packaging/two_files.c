/* two_files.c - a file without the implementation calls the copy of implementation.c
 * SPDX-License-Identifier: MIT
 */
#include "../../cpubind.h"

int main(void)
{
    cpubind_span span;
    if (cpubind_share(640, 16, 3, CPUBIND_REMAINDER_SPREAD, &span, NULL) != CPUBIND_OK)
        return 1;
    return span.first == 120 && span.count == 40 ? 0 : 1;
}
