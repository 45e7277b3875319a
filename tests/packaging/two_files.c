/* two_files.c - a file without the implementation calls the copy of implementation.c
 * SPDX-License-Identifier: MIT
 */
#include "../../cpubind.h"

int main(void)
{
    const cpubind_role_spec spec = {{2, 1, 1, 1}};
    cpubind_roles roles;
    if (cpubind_split_roles(40, &spec, &roles, NULL) != CPUBIND_OK)
        return 1;
    return roles.span[CPUBIND_ROLE_ACL].first == 38 ? 0 : 1;
}
