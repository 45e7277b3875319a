/* layouts.h - hosts with NPUs, one row of a table each, as input of the core
 * SPDX-License-Identifier: MIT
 *
 * A machine says how CPUs, cores, nodes and sockets are numbered; a layout puts NPUs at the
 * nodes of a machine, and may take CPUs away. Must not plan anything: rules.h does.
 */
#ifndef CPUBIND_TESTS_QUALITY_LAYOUTS_H
#define CPUBIND_TESTS_QUALITY_LAYOUTS_H

#include "../../cpubind.h"

enum { LAYOUT_CPUS = 640, LAYOUT_NODES = 16, LAYOUT_DEVICES = 16 };

typedef struct machine {
    const char *name;
    int32_t n_node, per_socket; /* nodes, and nodes of a socket */
    int32_t n_core, n_thread;   /* cores of a node, and CPUs of a core */
    char siblings;     /* CPUs of a core: 'a': adjacent ids; 'h': the second one has its
                                   id in the second half of all ids */
    int32_t near, far; /* distances: inside a socket, and to the next one; 4 more for each
                                   socket between. 0: neither distances nor sockets are known */
    int32_t step;      /* node ids are 0, step, 2 * step, ... */
} machine;

typedef struct layout {
    const char *name;
    const char *machine;
    char rule;         /* of the reference: 't': topo_affinity; 's': global_slice (A3) */
    const char *homes; /* of NPU 0, 1, ...: "2": the CPUs of node 2; "0+1": of two nodes; "n2":
                            the node alone is known; "-": nothing is. Nodes count from 0 */
    const char *allowed; /* CPUs, or NULL: all of the machine */
} layout;

/* A layout as input of the core. The pointers of `host` and `device` lead into the struct. */
typedef struct site {
    int32_t cpu[LAYOUT_CPUS], node[LAYOUT_CPUS], core[LAYOUT_CPUS], allowed[LAYOUT_CPUS];
    int32_t socket[LAYOUT_NODES], distance[LAYOUT_NODES * LAYOUT_NODES];
    int32_t home[LAYOUT_DEVICES][LAYOUT_CPUS];
    cpubind_host host;
    cpubind_device device[LAYOUT_DEVICES];
    int32_t n_device;
} site;

extern const layout layouts[];
extern const int32_t n_layouts;

/* The machine of a layout. A row that is wrong ends the program: it is a fault of the table. */
const machine *layout_machine(const layout *row);

void layout_build(const layout *row, site *out);

#endif
