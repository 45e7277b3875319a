/* host_pod.h - the pod of Kubernetes that a process is in
 * SPDX-License-Identifier: MIT
 *
 * By its cgroup: ../text/cgroup.h. The names are those of the log that kubelet has of its
 * container in /var/log/containers, which needs no server; nothing but what people read needs
 * them. The variable HOSTNAME is not read: in a pod with the network of the host it is the name
 * of the node.
 */
#ifndef CPUBIND_HOST_HOST_POD_H
#define CPUBIND_HOST_HOST_POD_H

#include "../linux/kernel/files.h"
#include "../text/cgroup.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero: a process that is in none. */
typedef struct cpubind_pod {
    char uid[CPUBIND_POD_UID_SIZE]; /* "": it is in none */
    cpubind_qos qos;
    const char *runtime;                    /* "containerd"; NULL: not known. Static text */
    char name[CPUBIND_POD_NAME_SIZE];       /* "": not known, nor are the two below */
    char space[CPUBIND_POD_LABEL_SIZE];     /* its namespace */
    char container[CPUBIND_POD_LABEL_SIZE]; /* the name of the container in the pod */
    int32_t names_error; /* errno: the folder of logs could not be read; else 0 */
} cpubind_pod;

/* Reads the pod of a process.
 *   in      root: "/"; cgroup: the content of its cgroup file; *out: all zero
 *   errors  "memory"
 *   cost    a listing of /var/log/containers for a process of a pod */
cpubind_linux_fault cpubind_pod_read(cpubind_root *root, const cpubind_bytes *cgroup,
                                     cpubind_pod *out);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_HOST_HOST_POD_H */
