/* kubelet_state.h - what kubelet gave to each container, by the files that it keeps
 * SPDX-License-Identifier: MIT
 *
 * Pure but for memory: works on (pointer, length). Kubelet writes each file anew and renames it
 * into its place, so that it is whole; a file that was mounted alone stays an old one.
 *
 * FORMS  JSON; other keys are passed over. UID is of a pod. "checksum" is over the structs of
 * Go as its printer has them, which differs between versions: it must be there, and is not
 * checked.
 *   cpu_manager_state     "entries": {UID: {CONTAINER: "0-3,8"}}: CPUs that it has alone, or
 *                         by pod level resources with others of its pod
 *   memory_manager_state  "entries": {UID: {CONTAINER: [{"type": "memory", "size": 1024,
 *                         "numaAffinity": [0]}]}}
 *   kubelet_internal_checkpoint, of device plugins
 *                         "Data": {"PodDeviceEntries": [{"PodUID", "ContainerName",
 *                         "ResourceName", "DeviceIDs": {"0": ["id"]}}]}: by nodes, "-1" for
 *                         none that is known; up to Kubernetes 1.19 the list of ids
 *   dra_manager_state     "Entries", or of 1.32 "ClaimInfoStateList": [{"ClaimName",
 *                         "Namespace", "PodUIDs": {UID: {}}, "DriverState": {DRIVER:
 *                         {"Devices": [{"DeviceName", "CDIDeviceIDs": []}]}}}]
 * Newer versions have all of it as a text in "data" or "Data", which counts then.
 * SOURCES: kubernetes/kubernetes, pkg/kubelet/cm: cpumanager/state/checkpoint.go,
 * memorymanager/state/state.go, devicemanager/checkpoint/, dra/state/; and of how they are
 * written pkg/kubelet/util/store/filestore.go.
 */
#ifndef CPUBIND_CLI_KUBELET_STATE_H
#define CPUBIND_CLI_KUBELET_STATE_H

#include "output.h"

enum { CLI_KUBELET_STATE_MAX = 16 << 20 }; /* bytes: the ids of memory that is shared by GiB */

/* A file. */
typedef enum cli_kubelet_file {
    CLI_KUBELET_CPUS,
    CLI_KUBELET_MEMORY,
    CLI_KUBELET_DEVICES,
    CLI_KUBELET_CLAIMS,
    CLI_KUBELET_FILES
} cli_kubelet_file;

/* Its path without the first "/". */
extern const char *const cli_kubelet_path[CLI_KUBELET_FILES];

/* The end of sizes of memory: text and JSON of sizes below stay inside int64_t. */
#define CLI_KUBELET_BYTES_END ((int64_t)1 << 59)

/* Reads a file, in the form that JSON-BINDING.md documents. CPUs are below CPUBIND_MAX_CPUS,
 * nodes below CPUBIND_MAX_NODES, sizes below CLI_KUBELET_BYTES_END.
 *   returns {UID: {CONTAINER: what}}, to be freed, with a text of CPUs, or an array of memory
 *           or devices; of claims {UID: [claim]}, for they are of the whole pod. NULL, with the
 *           place and the reason in *why: it is none of these */
words_value *cli_kubelet_read(cli_kubelet_file file, const char *text, int32_t len,
                              api_text *why);

#endif /* CPUBIND_CLI_KUBELET_STATE_H */
