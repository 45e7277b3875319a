/* host_view.h - what one process sees of a random host: a source in memory
 * SPDX-License-Identifier: MIT
 *
 * A view is a container or the bare host, a cpuset, a process table at some moment, the
 * variable of the visible devices, and one input that may fail. /sys is that of the host in
 * every view, and /proc/interrupts where it is not masked; npu-smi and /dev show the NPUs that
 * the process can open. The texts have the format that npu-smi 25 and the driver of 2026 print.
 * The source makes an input when it is asked for, and makes the same bytes each time.
 */
#ifndef CPUBIND_TESTS_LAWS_HOST_VIEW_H
#define CPUBIND_TESTS_LAWS_HOST_VIEW_H

#include "../../adapters/plan/plan.h"
#include "random_host.h"

/* The process table of npu-smi info. */
typedef enum view_table {
    TABLE_WHOLE = 0,
    TABLE_WIDE = 1, /* five columns, as npu-smi 26 prints it */
    TABLE_NONE = 2, /* npu-smi 21 prints none */
    TABLE_CUT = 3   /* the output ends somewhere */
} view_table;

/* How the failing input fails. */
typedef enum view_failure {
    FAILURE_NONE = 0,
    FAILURE_ERROR = 1,
    FAILURE_TIMEOUT = 2, /* of a command; another input fails with an error */
    FAILURE_TOO_LONG = 3,
    FAILURE_EMPTY = 4,
    FAILURE_CUT = 5,
    FAILURE_ABSENT = 6,
    FAILURE_ODD = 7 /* it contradicts itself, or another input of this view */
} view_failure;

enum { VIEW_NAME = 96, VIEW_VISIBLE = 64, VIEW_EXCLUDED = HOST_NODES };

typedef struct host_view {
    const random_host *host;
    int32_t is_container, is_root, has_npu_smi;
    int32_t
        masks_interrupts; /* the container's runtime hides /proc/interrupts, as moby has done
                                 since 2025: a source says that it is absent */
    uint32_t open;        /* a bit for each phy id that the process can open */
    int32_t phy[HOST_NPUS], n_npu; /* the phy id of each logic id */
    cpu_bits allowed;              /* online CPUs */
    cpu_bits cgroup;               /* the cpuset of the cgroup, which holds the allowed ones */
    int32_t lists_offline;         /* Cpus_allowed_list names offline CPUs too */
    uint32_t running;              /* a bit for each phy id, of the host */
    view_table table;
    int32_t cut; /* TABLE_CUT, FAILURE_CUT: in 256 parts of the text */
    char visible[VIEW_VISIBLE];
    int32_t has_visible;
    uint32_t gpu_files;   /* a bit for each GPU whose device file the process can open */
    int32_t hides_files;  /* no input tells of device files of GPUs */
    const char *gpu_kind; /* of the text of the variables of GPUs; NULL: they are not set */
    char gpu_visible[VIEW_VISIBLE];
    int32_t has_dra; /* DRA_CPUSET_0 is in the environment */
    view_failure failure;
    char failing[VIEW_NAME]; /* the input, or what its name starts with before a '*' */

    cpubind_request request;
    int32_t named[HOST_NPUS], allowed_list[HOST_CPUS], excluded[VIEW_EXCLUDED], kept[1];
    int32_t worker_node[2];
} host_view;

enum { VIEW_ROOM = 1 << 20 };

/* The inputs of one view, made in `room`. */
typedef struct view_source {
    const host_view *view;
    int32_t used;
    int32_t has_failed; /* the failing input was asked for */
    char room[VIEW_ROOM];
} view_source;

void view_source_start(view_source *s, const host_view *view);
cpubind_source view_source_of(view_source *s);

/* Whether an NPU works and the process can open it. */
int32_t view_has(const host_view *view, int32_t phy);

/* Whether npu-smi lists the CPUs near the NPUs. */
int32_t view_has_affinity(const host_view *view);

/* The number of visible NPUs. */
int32_t view_count_visible(const host_view *view);

/* Writes a list of CPUs, "0-3,7", and its NUL; returns its length. */
int32_t view_write_list(char *out, const cpu_bits *set);

#endif
