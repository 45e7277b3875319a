/* linux.c - names and texts of the status codes of adapters/linux
 * SPDX-License-Identifier: MIT
 *
 * Static tables alone: no system call, no state.
 */
#include "linux.h"

const char *cpubind_linux_status_name(cpubind_linux_status status)
{
    switch (status) {
#define CPUBIND_X(name, value, text)                                                           \
    case CPUBIND_LINUX_##name:                                                                 \
        return #name;
        CPUBIND_LINUX_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
    }
    return "?";
}

const char *cpubind_linux_status_text(cpubind_linux_status status)
{
    switch (status) {
#define CPUBIND_X(name, value, text)                                                           \
    case CPUBIND_LINUX_##name:                                                                 \
        return text;
        CPUBIND_LINUX_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
    }
    return "?";
}
