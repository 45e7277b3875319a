/* input_list.h - which inputs there are, and all that a host has of them
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h; bytes come through the seam (source.h).
 *
 * A "*" in a pattern stands for one part of a name: "node*" for node and a number, "cpu*" for
 * cpu and a number, "*" alone for any part.
 */
#ifndef CPUBIND_ASCEND_INPUT_LIST_H
#define CPUBIND_ASCEND_INPUT_LIST_H

#include "../source.h"
#include "../text/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether `name`, ended by NUL, is an input that something here reads: a file of the list in
 * input_list.c, the output of a command of CPUBIND_COMMAND_LIST, a board's, "env", "uname". A
 * file cmd/NAME.exit is none: it is part of cmd/NAME.txt. NULL is none.
 *   cost    O(length) */
int cpubind_input_list_has(const char *name);

/* Called with each input and its answer, which is never ABSENT. Another result than 0 ends the
 * walk. The name lives during the call alone. */
typedef int cpubind_input_visit(void *ctx, const char *name, cpubind_input answer);

/* Visits every input that a host has, in a fixed order.
 *   files     those of the list in input_list.c, what the list calls a stand-in only where that
 *             for which it stands is absent. Of the PCI functions those whose vendor sells
 *             NPUs (0x19e5 and four others), or cannot be read; of the CPUs' topology the first
 *             CPU's, which stands for all
 *   commands  where the source can list "cmd" (a snapshot, a row): what is there and known;
 *             where it cannot (the live host): npu-smi info -m, info and info -t topo
 *   failures  an input that could not be read is visited with that answer. So is a folder that
 *             could not be listed, under its own name: what it holds is not known. A name that
 *             no input can have is passed over
 *   returns   0, or what a visit returned
 *   cost    O(bytes read and listed) */
int cpubind_input_list_each(const cpubind_source *source, cpubind_input_visit *visit,
                            void *ctx);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_INPUT_LIST_H */
