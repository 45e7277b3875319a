/* host_pod.c - the pod of Kubernetes that a process is in
 * SPDX-License-Identifier: MIT
 */
#include "host_pod.h"

#include <string.h>

/* Copies a slice of a name, with a NUL. */
static void copy_slice(char *out, const char *name, cpubind_piece slice)
{
    memcpy(out, name + slice.at, (size_t)slice.len);
    out[slice.len] = '\0';
}

/* Looks for the log of a container, and takes the names of its name. */
static cpubind_linux_fault read_names(cpubind_root *root, const char *id, cpubind_pod *out)
{
    cpubind_bytes names = {NULL, 0, 0};
    const cpubind_linux_fault fault =
        cpubind_input_fault(cpubind_root_list(root, "var/log/containers", &names));
    out->names_error = fault.error == ENOENT ? 0 : fault.error;
    for (int32_t at = 0, n; !fault.error && at < names.len && !*out->name; at += n + 1) {
        const char *name = names.data + at;
        const char *end = (const char *)memchr(name, '\n', (size_t)(names.len - at));
        cpubind_pod_log log;
        n = end ? (int32_t)(end - name) : names.len - at;
        if (cpubind_pod_log_parse(name, n, &log, NULL) != CPUBIND_TEXT_OK ||
            memcmp(name + log.id.at, id, (size_t)log.id.len) != 0)
            continue;
        copy_slice(out->name, name, log.pod);
        copy_slice(out->space, name, log.space);
        copy_slice(out->container, name, log.container);
    }
    cpubind_bytes_free(&names);
    return fault.error == ENOMEM ? fault : cpubind_no_fault;
}

cpubind_linux_fault cpubind_pod_read(cpubind_root *root, const cpubind_bytes *cgroup,
                                     cpubind_pod *out)
{
    cpubind_cgroup_pod found;
    if (!cpubind_cgroup_find_pod(cgroup->data, cgroup->len, &found))
        return cpubind_no_fault;
    memcpy(out->uid, found.uid, sizeof out->uid);
    out->qos = found.qos;
    out->runtime = found.runtime;
    return found.container.len == 0 ? cpubind_no_fault
                                    : read_names(root, cgroup->data + found.container.at, out);
}
