/* keys.c - the keys of /etc/cpubind.conf: one table
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "settings.h"

const api_key api_keys[] = {
    {"rules", "near", 0, "near: devices take whole cores in turns; reference: as vllm-ascend"},
    {"keep", "", 0, "CPUs for the host: N of each node, or a list such as 0-3"},
    {"allowed", "", 0, "CPUs for all workers, in place of those that each one may have"},
    {"exclude", "", 0, "CPUs that are left out of every pool"},
    {"scope", "auto", 0, "whose the allowed CPUs are: cpuset, host, own or auto"},
    {"roles", "", 0, "CPUs of a pool that are irq, main, acl, release; of NPUs the product's"},
    {"total", "", 0, "the number of NPUs of the host, where no input tells"},
    {"reach", "socket", 0, "how far from its device a pool may be: socket, home or host"},
    {"overlap", "resolve", 0, "resolve, keep or refuse CPUs that two NPUs would share"},
    {"strategy", "auto", 0, "auto, global_slice, topo_affinity or cluster"},
    {"device-type", "auto", 0, "a type, or a chip, such as 910B; auto: from the host"},
    {"facts", "auto", 0, "which inputs name the NPUs"},
    {"memory", "migrate", 0, "migrate (own pages), all, or none"},
    {"memory-limit", "", 0, "bytes that are moved at most for a process, such as 200G"},
    {"memory-time", "5", 0, "seconds that the move of the memory of a process may take"},
    {"irqbalance", "leave", 0, "leave it alone, or ban these interrupts"},
    {"thread", "", 1, "NAME=WHERE: where threads of this name are bound"},
    {"threads", "product", 0, "which threads are placed: product, reference"},
    {"respect-masks", "no", 0, "yes: leave processes alone that have masks of their own"},
    {"others", "leave", 0, "keep: the engine's other processes go to the CPUs of keep"},
    {"strict", "no", 0, "yes: undo a binding if any part of it cannot be bound"},
    {"any-arch", "no", 0, "yes: bind by rules = reference on a machine that is not ARM"},
    {"watch", "1", 0, "seconds between two looks where the kernel sends no events"},
    {"only", "", 1, "the names of the processes that are bound, such as VLLM*"},
    {"except", "", 1, "the names of processes that are left alone"},
    {"restore-at-end", "no", 0, "yes: undo all bindings when the service ends"},
    {"textfile", "", 0, "the file for the Prometheus node exporter, ending in .prom"},
    {"socket", API_SOCKET_PATH, 0, "where other commands ask the service; none: nowhere"},
    {NULL, NULL, 0, NULL},
};

int32_t api_find_key(const char *key, int32_t len)
{
    for (int32_t i = 0; api_keys[i].name; i++)
        if (strlen(api_keys[i].name) == (size_t)len &&
            !strncmp(api_keys[i].name, key, (size_t)len))
            return i;
    return -1;
}
