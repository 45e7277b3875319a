/* pci_facts.h - the accelerators and network cards of a host, and the CPUs near each
 * SPDX-License-Identifier: MIT
 *
 * Pure: bytes come from a source (../source.h), memory from the caller's arena. Every file is
 * one that each user may read; no command runs and no driver is asked. The files are those of
 * the kernel's sysfs-bus-pci and sysfs-devices-node documentation, and of the NVIDIA driver
 * (nvidia_files.h).
 *
 * THE BRIDGES ABOVE A FUNCTION  A source has no links, so the way up is found by numbers: the
 * bridge above a function is that bridge of its domain whose secondary bus is the function's
 * bus (secondary_bus_number; on kernels before 4.13 the bus of a function that the folder of
 * the bridge lists). The bus on which the last bridge is, is the bus of the root complex.
 *
 * THE NODE OF A FUNCTION, by the first of these that tells it
 *   device       its numa_node
 *   local_cpus   its local_cpulist (or local_cpus), if that is not every online CPU
 *   bridge       numa_node or local_cpulist of the nearest bridge above it
 *   only_node    the host has one node with CPUs, or no nodes at all
 *   unknown      none of them: every CPU is as near as any other
 * A node without CPUs (the memory of Grace) stands for the node with CPUs at the smallest
 * distance, the first of several.
 *
 * WHAT IS ABSENT OR DAMAGED  Each input of CPUs has the rule that ../ascend/facts_read.c and
 * facts_cores.c have for NPUs: a file that cannot be read, is cut, makes no sense or
 * contradicts another is UNREADABLE.
 *
 *   input                 absent               of some     contradictory
 *   proc/self/status      lacks_status         -           too few CPUs
 *   cpu/online            of the nodes         -           online_differs where it lacks a CPU
 *                                                          that a node lists, and that is
 *                                                          allowed or whose own file says 1
 *   node<N>/cpulist       cpumap, UNREADABLE   UNREADABLE  a CPU on two nodes: UNREADABLE
 *   node<N>/distance      lacks_distances      UNREADABLE  0, or nearer to another: UNREADABLE
 *   physical_package_id   the distances tell   as absent   of the first CPU of the node
 *   thread_siblings_list  lacks_cores          as absent   without the CPU whose it is, across
 *                                                          nodes, unlike a sibling's:
 *                                                          UNREADABLE
 */
#ifndef CPUBIND_PCI_FACTS_H
#define CPUBIND_PCI_FACTS_H

#include "../source.h"
#include "../text/arena.h"
#include "../text/pci_address.h"
#include "accelerators.h"

#ifdef __cplusplus
extern "C" {
#endif

/* == What is asked ========================================================== */

typedef struct cpubind_pci_request {
    cpubind_product_name *ascend; /* names NPUs of Ascend, or NULL */
    /* Which functions count. Neither: those that accelerators.h knows. */
    const cpubind_pci_address *named; /* these, or NULL */
    int32_t n_named;
    int32_t class_code;   /* those of a class: the first `class_digits` of its six hexadecimal
                           digits */
    int32_t class_digits; /* 2, 4 or 6; 0: not asked for */
    int32_t wants_nics;   /* 1: network cards, too */
    int32_t wants_cores;  /* 1: which CPUs share a core, for a plan */
    int32_t no_bus;       /* 1: nodes and CPUs alone, and no device */
    /* With no_bus: the CPUs that this process may use, ascending, where the caller knows them
     * and needs the ids of the nodes alone: each CPU counts as of the first node. Or NULL */
    const int32_t *own_cpu;
    int32_t n_own_cpu;
} cpubind_pci_request;

/* == What is known ========================================================== */

/* (name, word): what told the node of a function. */
#define CPUBIND_NODE_ORIGIN_LIST(X)                                                            \
    X(UNKNOWN, "unknown")                                                                      \
    X(DEVICE, "device")                                                                        \
    X(LOCAL_CPUS, "local_cpus")                                                                \
    X(BRIDGE, "bridge")                                                                        \
    X(ONLY_NODE, "only_node")

typedef enum cpubind_node_origin {
#define CPUBIND_X(name, word) CPUBIND_NODE_ORIGIN_##name,
    CPUBIND_NODE_ORIGIN_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_NODE_ORIGIN_COUNT
} cpubind_node_origin;

/* (name, word): how near two functions are, in the words of nvidia-smi topo -m. A smaller one
 * is nearer. */
#define CPUBIND_NEARNESS_LIST(X)                                                               \
    X(PIX, "pix")   /* below one bridge, or one switch */                                      \
    X(PXB, "pxb")   /* across several switches, not across the root complex */                 \
    X(PHB, "phb")   /* across the root complex that both are on */                             \
    X(NODE, "node") /* on two root complexes of one node */                                    \
    X(SYS, "sys")   /* on two nodes */                                                         \
    X(UNKNOWN, "unknown")

typedef enum cpubind_nearness {
#define CPUBIND_X(name, word) CPUBIND_NEARNESS_##name,
    CPUBIND_NEARNESS_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_NEARNESS_COUNT
} cpubind_nearness;

/* Whether this process sees a device, by the variables of its runtime. */
typedef enum cpubind_sight {
    CPUBIND_SIGHT_UNKNOWN = 0,
    CPUBIND_SIGHT_VISIBLE = 1,
    CPUBIND_SIGHT_HIDDEN = 2
} cpubind_sight;

enum { CPUBIND_PCI_NUMBERS = 8 }; /* numbers of a runtime that are kept of one function */

/* A function of the bus. A number that is not known is -1. Texts belong to the source. */
typedef struct cpubind_pci_function {
    cpubind_pci_address pci;
    cpubind_pci_ids ids;
    cpubind_accelerator accelerator;
    const char *model; /* by the driver, "NVIDIA H100 80GB HBM3"; NULL: not known */
    int32_t model_len;
    const char *uuid; /* by the driver, "GPU-..."; NULL: not known */
    int32_t uuid_len;
    const char
        *interface; /* of a network card: "mlx5_0", else "eth0"; NULL: not known. A capture
                              does not keep it */
    int32_t interface_len;
    int32_t is_virtual;  /* 1: a virtual function (SR-IOV) */
    int32_t n_virtual;   /* virtual functions that it has now */
    int32_t is_driven;   /* 1: the driver of its vendor lists it; 0: it lists others alone, or
                            this process has files of others alone; -1: not known */
    int32_t numa_node;   /* as the kernel prints it; -1 where there is no such file, too */
    int32_t node;        /* the node with CPUs that it is near */
    int32_t memory_node; /* the node that its own memory is (NVIDIA on Grace and POWER) */
    cpubind_node_origin origin; /* what told `node` */
    cpubind_pci_address via;    /* the bridge that told it; domain -1: no bridge did */
    const int32_t *cpu;         /* online CPUs near it, ascending */
    int32_t n_cpu;              /* 0: not known */
    const int32_t *bridge;      /* above it, the nearest first: indices in facts->bridge */
    int32_t n_bridge;
    int32_t root_bus; /* of its domain */
    cpubind_sight sight;
    int32_t number[CPUBIND_PCI_NUMBERS]; /* those that its runtime has for it in this process,
                                            ascending */
    int32_t tile[CPUBIND_PCI_NUMBERS];   /* of a device with several: that the number is of; -1:
                                            all of them */
    int32_t n_number;                    /* 0: not known, or hidden */
} cpubind_pci_function;

typedef struct cpubind_pci_bridge {
    cpubind_pci_address pci;
    int32_t secondary; /* the bus below it */
} cpubind_pci_bridge;

/* One runtime and the variables that say what a process sees of it. */
typedef struct cpubind_runtime_view {
    const char *word;        /* "cuda", static; NULL: the host has no device of it */
    const char *variable[2]; /* those that count here, the outer one first; NULL: not set */
    const char *value[2];    /* their values, which belong to the source */
    int32_t value_len[2];
    int32_t has_order; /* 0: which number a device has is not known */
    const char *why;   /* static clause: why it is not known what the process sees; or NULL */
} cpubind_runtime_view;

typedef struct cpubind_pci_facts {
    cpubind_pci_function *device; /* that were asked for, by address */
    int32_t n_device;
    cpubind_pci_function *nic; /* by address */
    int32_t n_nic;
    int32_t *nearness; /* cpubind_nearness of device i and card k: [i * n_nic + k] */
    cpubind_pci_bridge *bridge;
    int32_t n_bridge;
    cpubind_runtime_view runtime[CPUBIND_FAMILY_COUNT]; /* by family */
    int32_t has_bus;                                    /* 0: there is no sys/bus/pci/devices */

    /* All nodes, those without CPUs too, ascending. Without nodes: node 0, with all CPUs. */
    int32_t *all_node;
    int32_t n_all_node;
    int32_t *all_distance; /* n_all_node rows of n_all_node; NULL: not known */
    int32_t *node_of;      /* by CPU id, n_cpu_id long; -1: offline or not there */
    int32_t n_cpu_id;      /* one past the highest online CPU */
    int32_t has_nodes;     /* 0: the kernel shows no nodes */
    /* What no input told, or told wrongly: a plan that needs it says so. */
    int32_t lacks_status;    /* proc/self/status: all online CPUs count as allowed */
    int32_t lacks_distances; /* of several nodes with CPUs: their sockets count, if known */
    int32_t lacks_cores;     /* with wants_cores: each CPU counts as a core */
    int32_t online_differs;  /* cpu/online lacks CPUs that are online: it was passed over */
    int32_t is_part;         /* 1: the devices that the request names, or those of its class */

    /* The same for cpubind_make_plan: the allowed online CPUs and the nodes with CPUs; list i
     * and node i are those of device i. */
    cpubind_host host;
    cpubind_devices devices;
} cpubind_pci_facts;

/* == Reading ================================================================ */

typedef enum cpubind_pci_status {
    CPUBIND_PCI_OK = 0,
    CPUBIND_PCI_NO_MEMORY = 1,  /* try a larger arena */
    CPUBIND_PCI_UNREADABLE = 2, /* an input is there and cannot be read, or makes no sense */
    CPUBIND_PCI_NO_FUNCTION = 3 /* the bus has not the function that was named */
} cpubind_pci_status;

/* Why facts could not be read; written on failure only. */
typedef struct cpubind_pci_fault {
    const char *input;       /* the input at fault, in the arena or static; or NULL */
    cpubind_input answer;    /* how the source answered for it */
    int32_t offset;          /* byte of answer.data, or -1: no place */
    const char *what;        /* static English clause */
    cpubind_pci_address pci; /* NO_FUNCTION: which one; else domain -1 */
} cpubind_pci_fault;

/* Reads the accelerators of a host. A host without accelerators, and one without a PCI bus, has
 * facts: n_device is 0.
 *   in      source, request; an arena of 1 MiB is enough for most hosts
 *   out     *out; what the process sees of Ascend is not known here (sight UNKNOWN)
 *   errors  NO_MEMORY; UNREADABLE and NO_FUNCTION with *fault
 *   cost    O(bytes read), and functions x bridges */
cpubind_pci_status cpubind_pci_read(const cpubind_source *source,
                                    const cpubind_pci_request *request, cpubind_arena *arena,
                                    cpubind_pci_facts *out, cpubind_pci_fault *fault);

/* "device"; "pix". Static storage. */
const char *cpubind_node_origin_word(cpubind_node_origin origin);
const char *cpubind_nearness_word(cpubind_nearness nearness);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PCI_FACTS_H */
