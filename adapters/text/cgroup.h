/* cgroup.h - /proc/<pid>/cgroup: the container of a process, and the path of its cpuset
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 *
 * GRAMMAR
 *   cgroup = *( number ":" controllers ":" path LF )
 *            version 2 has the number 0 and no controllers; version 1 has "cpuset", alone or
 *            among others with commas between them. Other lines are passed over
 */
#ifndef CPUBIND_TEXT_CGROUP_H
#define CPUBIND_TEXT_CGROUP_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Finds the id of the container in the paths: 64 hexadecimal digits that are a whole part of a
 * path, or that stand after "-" or ":" and before ".scope" or the end of a part. Docker,
 * containerd, CRI-O, Podman and Kubernetes name their cgroups so. The innermost one counts; the
 * monitor of a container ("-conmon-") is outside.
 *   out     *out_id, a slice of the text; len 0: none
 *   returns 1 if there is one, else 0
 *   cost    O(len) */
int cpubind_cgroup_container(const char *text, int32_t len, cpubind_slice *out_id);

/* The cgroup whose cpuset holds a process. */
typedef struct cpubind_cgroup_cpuset {
    int32_t is_version_1; /* below the hierarchy of the controller cpuset */
    cpubind_slice path;   /* of the text: "/kubepods/pod1", without "/" at its end */
} cpubind_cgroup_cpuset;

/* Finds that cgroup: of the controller cpuset of version 1, else of version 2.
 *   out     *out
 *   errors  ERR_ARG; ERR_MISSING: no line has one; ERR_SYNTAX: the path has a part "..", for it
 *           is outside of the cgroup namespace of the reader */
cpubind_text_status cpubind_cgroup_find_cpuset(const char *text, int32_t len,
                                               cpubind_cgroup_cpuset *out);

/* The names of the cgroups that cpubind makes: "cpubind-4711". */
#define CPUBIND_CGROUP_PREFIX "cpubind-"

/* The length of a path without those at its end: 2 for "/a/cpubind-7/cpubind-8", 0 for
 * "/cpubind-7". The cgroup there has the CPUs that a process had before. */
int32_t cpubind_cgroup_outside(const char *path, int32_t len);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_TEXT_CGROUP_H */
