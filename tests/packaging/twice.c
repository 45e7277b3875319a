/* twice.c - the header included before, for and after the implementation, in one file
 * SPDX-License-Identifier: MIT
 */
#include "../../cpubind.h"

#define CPUBIND_IMPLEMENTATION
#include "../../cpubind.h"

int main(void)
{
    return cpubind_version() == CPUBIND_VERSION_HEX ? 0 : 1;
}
