/* two_files.c - a file without the implementation calls the copy of implementation.c
 * SPDX-License-Identifier: MIT
 */
#include "../../cpubind.h"

int main(void)
{
    int32_t first, count;
    cpubind_slice(40, 16, 15, &first, &count);
    return first == 38 && count == 2 ? 0 : 1;
}
