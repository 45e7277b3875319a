/* picture.h - what each CPU of a host is in a plan: for the map, the picture, the explanation
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing: reads the facts, the plan and the core's trace of the plan. A file that
 * draws or explains takes what a CPU is from here, so that all of them say the same.
 */
#ifndef CPUBIND_API_PICTURE_H
#define CPUBIND_API_PICTURE_H

#include "api.h"

/* (name, word of JSON and of SVG, letter on a map, text of a legend). A later kind of a CPU
 * replaces an earlier one. The letters of CPUs with a role are those of the role and the
 * NPU. */
#define API_CPU_KINDS(X)                                                                       \
    X(ABSENT, "offline", ' ', "not online, or on no node")                                     \
    X(BARRED, "not_allowed", '-', "not allowed")                                               \
    X(EXCLUDED, "excluded", '~', "excluded")                                                   \
    X(IDLE, "idle", '.', "idle")                                                               \
    X(HIDDEN, "hidden", 'h', "of a hidden device")                                             \
    X(OTHER, "other", 'o', "of a device that is not planned here")                             \
    X(KEPT, "kept", 'k', "kept for the host")                                                  \
    X(SPARE, "uvb", 'u', "for UVB polling threads")                                            \
    X(BESIDE, "beside", 'e', "beside the devices")                                             \
    X(PROCESS, "process", 'p', "of another process of the device")                             \
    X(ROLE, "role", '?', "in a role")                                                          \
    X(TWICE, "twice", 'x', "in two pools")

typedef enum api_cpu_kind {
#define API_X(name, word, letter, text) API_CPU_##name,
    API_CPU_KINDS(API_X)
#undef API_X
        API_CPU_KIND_COUNT
} api_cpu_kind;

/* "kept", 'k', "kept for the host". Static storage. */
const char *api_cpu_word(api_cpu_kind kind);
char api_cpu_letter(api_cpu_kind kind);
const char *api_cpu_text(api_cpu_kind kind);

/* One CPU. */
typedef struct api_cpu {
    api_cpu_kind kind;
    cpubind_role role; /* of ROLE and TWICE */
    int32_t row;       /* of the plan: of PROCESS, ROLE, TWICE (the first one); else -1 */
    int32_t device;    /* the candidate that gets it, that of the row if there is one; or -1 */
    int32_t at;        /* its index in plan->host.cpu, or -1: pools are not cut from it */
} api_cpu;

/* All CPUs of a planned host. */
typedef struct api_view {
    const cpubind_facts *facts;
    const cpubind_device_plan *plan;
    api_cpu *cpu;     /* by CPU id, facts->n_cpu_id elements */
    int32_t *by_core; /* the CPUs that are on a node, by core, then by id */
    int32_t n_by_core;
    int32_t threads;   /* CPUs of the largest core; 1 when no cores are known */
    int32_t *node_cpu; /* of the last api_view_node: CPUs, core after core */
    int32_t *core_at;  /* of the same: core i is node_cpu[core_at[i]] up to, not with,
                              node_cpu[core_at[i + 1]] */
    int32_t n_core;
    uint8_t *place; /* of candidate i and node k: place[i * facts->n_node + k] */
} api_view;

/* Makes the view of a plan, or of the facts when it is refused; options may be NULL: no CPU is
 * EXCLUDED. Returns 0 without memory; api_free_view may be called in both cases. */
int api_make_view(const api_planned *planned, const api_options *options, api_view *out);
void api_free_view(api_view *view);

/* Lists the cores of a node: node_cpu, core_at and n_core of the view. */
void api_view_node(api_view *view, int32_t node);

/* The place of a candidate is the nodes with CPUs near it, or the node of its PCI function
 * where no near CPU is known. `node` is an index into facts->node_id.
 * api_distance: from a node to the nearest node of the place; -1: not known */
int api_has_place(const api_view *view, int32_t candidate);
int api_is_place(const api_view *view, int32_t candidate, int32_t node);
int32_t api_distance(const api_view *view, int32_t candidate, int32_t node);

/* The row of the plan that an NPU of facts->device has, or -1. */
int32_t api_row_index(const cpubind_device_plan *plan, int32_t npu);

/* Whether sockets are known, and are more than one. */
int api_has_sockets(const cpubind_facts *facts);

#endif /* CPUBIND_API_PICTURE_H */
