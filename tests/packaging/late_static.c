/* late_static.c - must not compile: the private copy is asked for after a first include
 * SPDX-License-Identifier: MIT
 */
#include "../../cpubind.h"

#define CPUBIND_STATIC
#include "../../cpubind.h"

int main(void)
{
    return 0;
}
