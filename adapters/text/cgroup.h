/* cgroup.h - /proc/<pid>/cgroup: container and pod of a process, and the path of its cpuset
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 *
 * GRAMMAR
 *   cgroup = *( number ":" controllers ":" path LF )
 *            version 2 has the number 0 and no controllers; version 1 has "cpuset", or "cpu",
 *            alone or among others with commas between them. Other lines are passed over
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
int cpubind_cgroup_container(const char *text, int32_t len, cpubind_piece *out_id);

/* The cgroup of a process that has a controller. */
typedef struct cpubind_cgroup {
    int32_t is_version_1; /* below the hierarchy of that controller */
    cpubind_piece path;   /* of the text: "/kubepods/pod1", without "/" at its end */
} cpubind_cgroup;

/* Finds that cgroup: of the controller, "cpuset" or "cpu", of version 1, else of version 2.
 *   out     *out
 *   errors  ERR_ARG; ERR_MISSING: no line has one; ERR_SYNTAX: the path has a part "..", for it
 *           is outside of the cgroup namespace of the reader */
cpubind_text_status cpubind_cgroup_find(const char *text, int32_t len, const char *controller,
                                        cpubind_cgroup *out);

/* == Pods of Kubernetes =====================================================
 *
 * GRAMMAR, of the parts of a path; kubelet makes the cgroup of a pod, its runtime those below
 *   pod       = cgroupfs / systemd
 *   cgroupfs  = ( "kubepods" / qos / ".." ) "/" "pod" uid [ "/" container ]
 *   systemd   = *prefix "kubepods-" [ qos "-" ] "pod" uid ".slice" [ ( "/" / ":" ) container ]
 *               a prefix is the folder in which kubelet has its cgroups, as in "kubelet-"
 *   qos       = "burstable" / "besteffort"      the class Guaranteed has no word
 *   uid       = 32hexdig / 8hexdig 3( d 4hexdig ) d 12hexdig, d = "-" / "_"
 *               the first form is that of a pod by a file of the node
 *   container = [ runtime ( "-" / ":" ) ] 64hexdig [ ".scope" ]
 * Parts before and after these are passed over: those of a node that is a container itself
 * (kind), and of a container in a container. ".." stands for what a cgroup namespace hides. */

/* The classes of quality of service: (name, word). */
#define CPUBIND_QOS_LIST(X)                                                                    \
    X(UNKNOWN, "unknown") /* the path does not show it */                                      \
    X(GUARANTEED, "guaranteed")                                                                \
    X(BURSTABLE, "burstable")                                                                  \
    X(BEST_EFFORT, "besteffort")

typedef enum cpubind_qos {
#define CPUBIND_X(name, word) CPUBIND_QOS_##name,
    CPUBIND_QOS_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_qos;

/* "guaranteed". Static storage. */
const char *cpubind_qos_word(cpubind_qos qos);

#define CPUBIND_POD_UID_SIZE 37

typedef struct cpubind_cgroup_pod {
    char uid[CPUBIND_POD_UID_SIZE]; /* as the API has it, with "-" */
    cpubind_piece container;        /* its id in the text; len 0: the path shows none */
    const char *runtime; /* "containerd", "cri-o", "docker" or "podman", static text; NULL: the
                            path does not name it */
    cpubind_qos qos;
} cpubind_cgroup_pod;

/* Finds the pod of a process: the innermost one of the first path that has one.
 *   out     *out; all zero without one
 *   returns 1 if there is one, else 0
 *   cost    O(len) */
int cpubind_cgroup_find_pod(const char *text, int32_t len, cpubind_cgroup_pod *out);

/* The parts of the name that kubelet gives to the log of a container, in /var/log/containers:
 *   log       = pod "_" namespace "_" container "-" 64hexdig ".log"
 *   pod       = 1*253( a-z / 0-9 / "-" / "." )
 *   namespace = 1*63( a-z / 0-9 / "-" )             a container as well
 */
typedef struct cpubind_pod_log {
    cpubind_piece pod, space, container;
    cpubind_piece id; /* of the container */
} cpubind_pod_log;

#define CPUBIND_POD_NAME_SIZE  254 /* of a pod, with a NUL */
#define CPUBIND_POD_LABEL_SIZE 64  /* of a namespace, a container */

/* Reads such a name.
 *   out     *out; unchanged on failure
 *   errors  ERR_ARG; ERR_SYNTAX */
cpubind_text_status cpubind_pod_log_parse(const char *name, int32_t len, cpubind_pod_log *out,
                                          cpubind_text_fault *fault);

/* Takes the numbers of a file of a quota behind the n that are known: of cpu.max the quota and
 * its period, of version 1 one of each file. "max" and "-1", which bound nothing, are 0.
 *   in      number: zeros from n on
 *   returns how many are known now */
int32_t cpubind_cgroup_quota(const char *text, int32_t len, int32_t number[2], int32_t n);

/* The length of the path of the next cgroup above: 2 for "/a/b", 0 for "/a". */
int32_t cpubind_cgroup_above(const char *path, int32_t len);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_TEXT_CGROUP_H */
