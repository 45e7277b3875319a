/* static_beside_extern.c - a private copy in a program that also has the public one
 * SPDX-License-Identifier: MIT
 */
#define CPUBIND_STATIC
#include "../../cpubind.h"
#include "public_copy.h"

int main(void)
{
    cpubind_span span;
    if (public_version() == cpubind_version || public_version()() != cpubind_version())
        return 1;
    if (cpubind_share(10, 4, 3, CPUBIND_REMAINDER_LAST, &span, NULL) != CPUBIND_OK)
        return 1;
    return span.first == 6 && span.count == 4 ? 0 : 1;
}
