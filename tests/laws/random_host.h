/* random_host.h - random Ascend hosts, for the law over pairs of views
 * SPDX-License-Identifier: MIT
 *
 * A host is what the kernel, the driver and npu-smi know of it: CPUs and nodes, functions of
 * the PCI bus, NPUs with their ids. host_view.h makes the inputs that a process reads of it.
 * The rules of the ids come from the driver's source: a logic id is the rank of the phy id
 * among the NPUs that a process can open; the phy id of a server is the slot of the card, and
 * that of an A3 is card * 2 + chip. It must not depend on the code under test.
 *
 * A host is made from bytes, so that a test, a fuzzer and a search for a smaller case share it:
 * a zero byte chooses the simplest alternative, and so does a byte that is not there.
 */
#ifndef CPUBIND_TESTS_LAWS_RANDOM_HOST_H
#define CPUBIND_TESTS_LAWS_RANDOM_HOST_H

#include <stdint.h>

#include "../../adapters/model/products.h"

enum {
    HOST_CPUS = 512,
    HOST_NODES = 8,
    HOST_CARDS = 8,
    HOST_NPUS = 16,
    HOST_GPUS = 5,
    HOST_DEVICES = HOST_NPUS + HOST_GPUS, /* the NPUs by phy id, then the GPUs by address */
    HOST_FUNCTIONS = 32,
    HOST_BYTES = 72 /* that a host is made from */
};

/* == Draws ================================================================== */

typedef struct draws {
    const uint8_t *at, *end;
} draws;

/* A number below `below`, at most 256; 0 after the last byte. */
int32_t draw(draws *d, int32_t below);

/* 1 in one case of `cases`, else 0. */
int32_t draw_chance(draws *d, int32_t cases);

/* == Sets of CPUs =========================================================== */

typedef struct cpu_bits {
    uint64_t word[HOST_CPUS / 64];
} cpu_bits;

static inline void bits_add(cpu_bits *set, int32_t cpu)
{
    set->word[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

static inline int32_t bits_has(const cpu_bits *set, int32_t cpu)
{
    return (int32_t)(set->word[cpu / 64] >> (cpu % 64) & 1u);
}

int32_t bits_count(const cpu_bits *set);
int32_t bits_count_both(const cpu_bits *a, const cpu_bits *b);
int32_t bits_are_same(const cpu_bits *a, const cpu_bits *b);
int32_t bits_next(const cpu_bits *set, int32_t from); /* the first CPU from there on, or -1 */

/* == Hosts ================================================================== */

typedef struct host_node {
    int32_t id;
    cpu_bits online;
} host_node;

/* How the driver and npu-smi show an NPU. */
typedef enum npu_state {
    NPU_ALIVE = 0,
    NPU_SILENT = 1, /* on the bus; the driver and npu-smi do not show it */
    NPU_LOST = 2,   /* on the bus; npu-smi on the host says that it cannot list the card */
    NPU_OFF_BUS = 3 /* no input but the gap in the phy ids tells of it */
} npu_state;

/* An NPU; the index of an NPU of a host is its phy id. */
typedef struct host_npu {
    int32_t card, chip; /* of npu-smi on the host */
    int32_t function;   /* index of its PCI function, or -1 */
    npu_state state;
} host_npu;

/* A function of the PCI bus. Those of a host ascend by address. */
typedef struct host_function {
    char name[16]; /* "0000:c1:00.0" */
    int32_t domain, bus, function;
    int32_t vendor, device, class_code; /* PCI ids */
    int32_t node;                       /* index, or -1: on no node */
    int32_t is_virtual;                 /* the kernel links it to a physical function */
    int32_t gpu;          /* of a GPU: its number by address, also that of its device
                               file; else -1 */
    int32_t first, n_npu; /* NPUs on it, phy ids in a row; 0: another device */
    int32_t irq;          /* number of its first interrupt */
} host_function;

typedef enum host_lack {
    LACKS_NOTHING = 0,
    LACKS_DISTANCES = 1,
    LACKS_SIBLINGS = 2,
    ODD_DISTANCES = 3 /* farther in one direction */
} host_lack;

typedef struct random_host {
    cpubind_device_type type;
    int32_t npus_per_card;
    int32_t is_duo;         /* the two NPUs of a card share one function */
    int32_t has_column;     /* npu-smi info -t topo has CPU Affinity */
    int32_t is_vm;          /* npu-smi refuses the topology; no mailbox names */
    int32_t has_mailbox;    /* names of mailboxes in /proc/interrupts */
    int32_t has_driver;     /* what the driver adds to /proc and to PCI functions;
                               device nodes are always there */
    int32_t has_buses;      /* npu-smi info prints addresses */
    int32_t threads;        /* of a core */
    int32_t siblings;       /* distance between the two threads of a core */
    int32_t socket_nodes;   /* nodes of a socket; 0: no input tells distances and sockets */
    int32_t has_smt_file;   /* smt/active of the kernel */
    host_lack lacks;        /* what its kernel does not show any process, or shows oddly */
    int32_t has_other_type; /* another product is on the bus */

    host_node node[HOST_NODES]; /* by ascending id; the first is node 0 */
    int32_t n_node;
    cpu_bits online, offline;
    host_npu npu[HOST_NPUS]; /* by phy id */
    int32_t n_npu;
    host_function function[HOST_FUNCTIONS];
    int32_t n_function;
} random_host;

/* Makes a host from at most HOST_BYTES bytes. */
void random_host_make(draws *d, random_host *out);

/* NPUs on the bus. */
int32_t random_host_census(const random_host *h);

/* Whether the driver's files name every NPU of the host. */
int32_t random_host_has_driver(const random_host *h);

/* The node whose CPUs are near an NPU by npu-smi: node 0 for a function on no node. */
int32_t random_host_home(const random_host *h, int32_t phy);

#endif
