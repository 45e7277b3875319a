/* view_texts.h - the texts that a view shows: npu-smi's tables, /proc, the driver's files
 * SPDX-License-Identifier: MIT
 *
 * Private to host_view.c. Each function adds a text to the room of a source. The formats are
 * those of npu-smi 25 and of the driver of 2026.
 */
#ifndef CPUBIND_TESTS_LAWS_VIEW_TEXTS_H
#define CPUBIND_TESTS_LAWS_VIEW_TEXTS_H

#include "host_view.h"

void view_put(view_source *s, const char *text);
void view_put_number(view_source *s, int32_t value);
void view_put_line(view_source *s, const cpu_bits *set); /* a list of CPUs and a line feed */

/* npu-smi info -m, info, info -t topo. */
void view_make_map(view_source *s);
void view_make_info(view_source *s);
void view_make_topo(view_source *s);

/* npu-smi info -t board of a chip; 0: there is no such chip. */
int32_t view_make_board(view_source *s, int32_t card, int32_t chip);

/* /proc/self/status, the environment, /proc/interrupts, /proc/trs_core/proc,
 * /proc/uda/namespace_node. */
void view_make_status(view_source *s);
void view_make_env(view_source *s);
void view_make_interrupts(view_source *s);
void view_list_processes(view_source *s);
void view_make_namespaces(view_source *s);

/* Folders of /sys, and the device nodes: of the host, or of those that the process can open. */
void view_list_nodes(view_source *s);
void view_list_functions(view_source *s);
void view_list_vectors(view_source *s, const host_function *function);
void view_list_device_nodes(view_source *s, int32_t is_all);

/* The number of a device node, "236:0"; 0: there is no node with this name. */
int32_t view_make_device_node(view_source *s, const char *name, int32_t is_all);

#endif
