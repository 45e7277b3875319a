/* keys.c - the keys of /etc/cpubind.conf: one table
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "settings.h"

/* That plan, for one process or for all of a host. */
#define WORKERS (API_PLAN | API_LIVE | API_BIND_CALL | API_STATUS | API_MEASURE)
#define PLANS   (WORKERS | API_CAPTURE | API_DOCTOR | API_CASE | API_PLAN_CALL)
#define BINDERS (API_APPLY | API_RUN | API_BIND_CALL)
/* That move or look at interrupts of network cards. */
#define NIC_READERS (BINDERS | API_VERIFY | API_STATUS | API_DOCTOR)
#define MOVERS      (API_APPLY | API_MEASURE | API_BIND_CALL)

const api_key api_keys[] = {
    {"rules", "near", 0, NULL, PLANS & ~API_MEASURE},
    {"keep", "", 0, NULL, PLANS},
    {"allowed", "", 0, NULL, PLANS},
    {"exclude", "", 0, NULL, PLANS},
    {"scope", "auto", 0, NULL, PLANS},
    {"roles", "", 0,
     "CPUs of a pool that are irq, main, acl, release, such as 2,8,1,1; without it those "
     "of an NPU's product, of others main alone",
     PLANS},
    {"transfer", "0", 0,
     "CPUs of each pool, of each process of it, for threads that move KV caches and data of "
     "networks",
     PLANS},
    {"total", "", 0, "the number of NPUs of the host, where no input tells", PLANS},
    {"reach", "socket", 0, NULL, PLANS},
    {"share", "no", 0,
     "yes: each device has what it would have if it were alone, and others have it too", PLANS},
    {"overlap", "resolve", 0,
     "resolve, keep or refuse CPUs that two NPUs would share by reference", PLANS},
    {"strategy", "auto", 0,
     "of NPUs: auto (by the product), global_slice, topo_affinity or cluster", PLANS},
    {"device-type", "auto", 0,
     "of NPUs: a2, a3, 300i, 950, 310b or a chip, such as 910B; auto: from the host", PLANS},
    {"facts", "auto", 0, "which inputs name the NPUs: auto, driver or npu-smi", PLANS},
    {"engine", "none", 0,
     "vllm, sglang, dynamo, auto (that of the workers): cores for its processes, near their "
     "devices",
     PLANS},
    {"tp", "", 0, "devices of an engine core: tensor x pipeline parallel size; else all",
     PLANS},
    {"dp", "1", 0, "engine cores of a server on this host: data parallel size", PLANS},
    {"api-servers", "", 0, "API servers of a server; else as the engine has them", PLANS},
    {"cpu-workers", "", 0,
     "N or node: so many workers without a device, or one a node, have the cores of cpu-nodes",
     PLANS},
    {"cpu-nodes", "", 0, "nodes whose cores CPU workers get, in place of what devices leave",
     PLANS},
    {"reserve", "0", 0,
     "the last N CPUs of each CPU worker are none of its own: devices may have them", PLANS},
    {"reserve-host", "0", 0, "N CPUs more that CPU workers do without, once", PLANS},
    {"memory", "migrate", 0, NULL, MOVERS | API_RUN | API_VERIFY | API_STATUS},
    {"memory-limit", "", 0, "bytes that are moved at most for a process, such as 200G", MOVERS},
    {"memory-time", "5", 0, "seconds that the move of the memory of a process may take",
     MOVERS},
    {"irqbalance", "leave", 0, "leave it alone, or ban these interrupts", BINDERS},
    {"nic-interrupts", "leave", 0,
     "pool: those of a device's network cards go to its CPUs for irq, or main", NIC_READERS},
    {"thread", "", 1, NULL, WORKERS},
    {"threads", "product", 0, "which threads are placed: product, reference", WORKERS},
    {"respect-masks", "no", 0, "yes: leave processes alone that have masks of their own",
     API_APPLY},
    {"others", "leave", 0, "keep: the engine's other processes go to the CPUs of keep",
     API_APPLY},
    {"strict", "no", 0, NULL, BINDERS},
    {"any-arch", "no", 0, "yes: bind by rules = reference on a machine that is not ARM",
     BINDERS | API_MEASURE},
    {"watch", "1", 0, "of the service: seconds between two looks without events", 0},
    {"only", "", 1, "of the service: names of processes that are bound, such as VLLM*", 0},
    {"except", "", 1, "of the service: names of processes that are left alone", 0},
    {"restore-at-end", "no", 0, "of the service: yes: undo all when it ends", 0},
    {"textfile", "", 0, "of the service: the file for the Prometheus node exporter", 0},
    {"socket", API_SOCKET_PATH, 0, "where other commands ask the service; none: nowhere", 0},
    {NULL, NULL, 0, NULL, 0},
};

int32_t api_find_key(const char *key, int32_t len)
{
    for (int32_t i = 0; api_keys[i].name; i++)
        if (strlen(api_keys[i].name) == (size_t)len &&
            !strncmp(api_keys[i].name, key, (size_t)len))
            return i;
    return -1;
}
