/* linux.c - texts of the status codes of adapters/linux
 * SPDX-License-Identifier: MIT
 *
 * One static table: no system call, no state.
 */
#include "linux.h"

#include <stddef.h>

static const struct {
    cpubind_linux_status status;
    const char *text;
} statuses[] = {
#define CPUBIND_X(name, value, text) {CPUBIND_LINUX_##name, text},
    CPUBIND_LINUX_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
};

const char *cpubind_linux_status_text(cpubind_linux_status status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status)
            return statuses[i].text;
    return "?";
}
