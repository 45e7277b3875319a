/* static_beside_extern.c - a private copy in a program that also has the public one
 * SPDX-License-Identifier: MIT
 */
#define CPUBIND_STATIC
#include "../../cpubind.h"
#include "public_copy.h"

int main(void)
{
    int32_t first, count;
    if (public_version() == cpubind_version || public_version()() != cpubind_version())
        return 1;
    cpubind_slice(10, 4, 1, &first, &count);
    return first == 3 && count == 3 ? 0 : 1;
}
