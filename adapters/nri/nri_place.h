/* nri_place.h - where a container belongs: asks the service, and holds it to the grant
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_NRI_NRI_PLACE_H
#define CPUBIND_NRI_NRI_PLACE_H

#include "nri_container.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For the answer of the service: a container waits for half a second at most. */
#define CPUBIND_NRI_ASK_MS 450

/* How a container is placed. */
typedef struct cpubind_nri_options {
    const char *service; /* the socket of the service */
    const char *cgroups; /* the folder of all cgroups with cpusets */
    int keeps_mems;      /* 1: memory nodes are not chosen */
} cpubind_nri_options;

typedef enum cpubind_nri_state {
    CPUBIND_NRI_NO_DEVICE, /* it is given none: it is no concern of cpubind */
    CPUBIND_NRI_PLACED,
    CPUBIND_NRI_REFUSED, /* the service, or this, cannot say where it belongs: `why` */
    CPUBIND_NRI_SILENT   /* the service does not answer: `why` */
} cpubind_nri_state;

typedef struct cpubind_nri_place {
    cpubind_nri_state state;
    char granted_cpus[CPUBIND_NRI_LIST_SIZE]; /* that it may have; "": all */
    char granted_mems[CPUBIND_NRI_LIST_SIZE];
    char cpus[CPUBIND_NRI_LIST_SIZE]; /* a part of these; "": it stays on them */
    char mems[CPUBIND_NRI_LIST_SIZE];
    int omp;       /* threads of OpenMP of each of its workers */
    char why[512]; /* REFUSED, SILENT */
} cpubind_nri_place;

/* Finds the place of a container.
 *   in      cpus, mems: what its request has; "": what its cgroup has, or the nearest one above
 *           it that is there
 *   cost    CPUBIND_NRI_ASK_MS at most, and reading a few files */
void cpubind_nri_find_place(const cpubind_nri_options *options, const Nri__Pod *pod,
                            const Nri__Container *container, const char *cpus, const char *mems,
                            cpubind_nri_place *out);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_NRI_NRI_PLACE_H */
