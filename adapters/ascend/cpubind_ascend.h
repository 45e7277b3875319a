/* cpubind_ascend.h - all readers of npu-smi, /proc, /sys and lscpu in one header
 * SPDX-License-Identifier: MIT
 *
 * A reader turns text into numbers in the caller's arrays. It is for a runtime or a tool that
 * has the text already. It must not run a command, open a file or need another library. The
 * grammar of each text is where the last column of the table below says.
 *
 * USE
 *   #include "adapters/ascend/cpubind_ascend.h"      compile with it, from adapters/,
 *     text/{cgroup,cpulist,cpumask,interrupts,lscpu,numa_maps,procfs,slurm_step}.c
 *     text/{pci_address,text}.c
 *     ascend/{driver_files,npusmi,npusmi_refusal,table}.c   or
 *   #include <cpubind/ascend/cpubind_ascend.h>   link -lcpubind_ascend (make install)
 *   C11 or later, C++11 or later. Nothing else is needed but memchr, memcmp, memcpy, memset,
 *   strlen.
 *
 * EVERY READER
 *   takes    (pointer, length); the text needs no NUL at its end and is not changed
 *   writes   numbers, and slices (offset, length) of the text, into arrays of the caller
 *   counts   when an array is too small: ERR_SPACE and the lengths that are enough, so that a
 *            first call with length 0 counts and a second one reads; those of npu-smi take
 *            their arrays from an arena
 *   fails    as a whole: no element is written, and the fault holds the byte and the reason;
 *            cpubind_text_place turns the byte into line and column
 *   keeps    nothing: no state, no malloc, no locale, no errno; any number of threads
 *   costs    time linear in any text, except for ids that do not ascend, of which there are
 *            4,096 at most
 *
 * NOT HERE, but in libcpubind_ascend too; they read through a source (../source.h)
 *   ../model/facts.h        the facts of a host       ../plan/plan.h  its plan
 *   ../plan/process_goal.h  threads, memory and interrupts of one process by that plan
 *   ../model/products.h     the products              input_list.h    the inputs of a host
 *   redact.h        an input without names
 *
 * THE READERS                                                          grammar
 *   cpulist.h      "0-3,8"                             parse, format   cpulist.h
 *   cpumask.h      "0000000f,ffffffff"                 parse, format   cpumask.h
 *   procfs.h       /proc/<pid>/status and stat, numbers of /sys, environment,
 *                  ASCEND_RT_VISIBLE_DEVICES, names of threads         procfs.h
 *   interrupts.h   /proc/interrupts                                    interrupts.c
 *   lscpu.h        lscpu, lscpu -e=CPU,NODE                            lscpu.h
 *   numa_maps.h    /proc/<pid>/numa_maps                               numa_maps.c
 *   maps.h         /proc/<pid>/maps, smaps and pagemap                 maps.c
 *   cgroup.h       /proc/<pid>/cgroup: container, cpuset               cgroup.h
 *   slurm_step.h   the environment of a step of Slurm                  slurm_step.h
 *   pci_address.h  0000:c1:00.0                                       pci_address.h
 *   npusmi.h       npu-smi info, -m, -t topo, -t board, refusals       table.c
 *   driver_files.h files that the Ascend driver adds to /proc and /sys driver_files.c
 *
 * EXAMPLE
 *   static char block[1 << 16];
 *   cpubind_arena arena = {block, sizeof block, 0};
 *   cpubind_npusmi_rows map;
 *   cpubind_text_fault fault;
 *   if (cpubind_npusmi_parse_map(text, len, &arena, &map, &fault) != CPUBIND_TEXT_OK) {
 *       cpubind_position at = cpubind_text_place(text, len, fault.offset);
 *       fprintf(stderr, "npu-smi info -m:%d:%d: %s\n", at.line, at.column, fault.what);
 *   }
 */
#ifndef CPUBIND_ASCEND_ALL_H
#define CPUBIND_ASCEND_ALL_H

#include "../text/cgroup.h"
#include "../text/cpulist.h"
#include "../text/cpumask.h"
#include "../text/interrupts.h"
#include "../text/lscpu.h"
#include "../text/maps.h"
#include "../text/numa_maps.h"
#include "../text/pci_address.h"
#include "../text/procfs.h"
#include "../text/slurm_step.h"
#include "../text/text.h"
#include "driver_files.h"
#include "npusmi.h"

#endif /* CPUBIND_ASCEND_ALL_H */
