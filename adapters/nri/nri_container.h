/* nri_container.h - what a container of a runtime is given: devices, CPUs, memory nodes
 * SPDX-License-Identifier: MIT
 *
 * Which vendors there are, and the variables by which their containers are given devices, is in
 * the rows of ../model/vendor.h.
 *
 * THE DEVICES OF A CONTAINER are those that such a variable names, else those of its device
 * files. "all" names none: images have it, also where the container gets no device. A container
 * with the file of the kernel's log or of its memory is privileged: it has the files of all
 * devices, and they do not count.
 */
#ifndef CPUBIND_NRI_NRI_CONTAINER_H
#define CPUBIND_NRI_NRI_CONTAINER_H

#include <nri.pb-c.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CPUBIND_NRI_LIST_SIZE = 2048, /* of a list of devices, CPUs or nodes, with its NUL */
    CPUBIND_NRI_PATH_SIZE = 1024
};

/* Writes the devices that a container is given, as a request to the service has them
 * (../service/ask.h): "236:3", "nvidia=GPU-...". Pure.
 *   out     out: ended by NUL; "": none
 *   returns 1; 0: they are too many, or a name has a byte that no request may have; *what says
 *           so, in static words */
int cpubind_nri_devices(const Nri__Container *container, char out[CPUBIND_NRI_LIST_SIZE],
                        const char **what);

/* Writes the path of the cgroup of a container, below the folder of all cgroups: the path that
 * the runtime gives, or of systemd's SLICE:PREFIX:NAME the folders of the slice and the scope.
 * Pure.
 *   out     out: begins with "/", ended by NUL
 *   returns 0 where the path is too long, or leads out of the folder */
int cpubind_nri_cgroup(const Nri__Pod *pod, const Nri__Container *container,
                       char out[CPUBIND_NRI_PATH_SIZE]);

/* Reads a list of the cgroup of a container, or where that is not there or says none, of the
 * nearest one above it: the CPUs ("cpus") or memory nodes ("mems") that it may have.
 *   in      folder: of the cgroups, of version 2, or of the controller cpuset of version 1
 *   out     out: ended by NUL; "": no cgroup says any
 *   returns 0; an errno: a file is there and could not be read, or has no such list */
int cpubind_nri_read_effective(const char *folder, const char *cgroup, const char *word,
                               char out[CPUBIND_NRI_LIST_SIZE]);

/* How many threads of n a container has CPU time for, at least 1: by the quota that its request
 * has, and by those of the cgroups above it, of version 2. One that cannot be read bounds
 * nothing. */
int cpubind_nri_threads(const char *folder, const char *cgroup, const Nri__Cpu *own, int n);

/* Whether a container has a variable in its environment. */
int cpubind_nri_has_variable(const Nri__Container *container, const char *name);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_NRI_NRI_CONTAINER_H */
