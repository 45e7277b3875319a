/* static_beside_extern.c - a private copy in a program that also has the public one
 * SPDX-License-Identifier: MIT
 */
#define CPUBIND_STATIC
#include "../../cpubind.h"
#include "public_copy.h"

int main(void)
{
    const cpubind_role_spec spec = {{2, 1, 1, 1}};
    cpubind_roles roles;
    if (public_version() == cpubind_version || public_version()() != cpubind_version())
        return 1;
    if (cpubind_split_roles(10, &spec, &roles, NULL) != CPUBIND_OK)
        return 1;
    return roles.span[CPUBIND_ROLE_MAIN].first == 2 && roles.span[CPUBIND_ROLE_MAIN].count == 6
               ? 0
               : 1;
}
