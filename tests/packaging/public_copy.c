/* public_copy.c - the public cpubind_version, for static_beside_extern.c
 * SPDX-License-Identifier: MIT
 */
#include "public_copy.h"

#include "../../cpubind.h"

version_function public_version(void)
{
    return cpubind_version;
}
