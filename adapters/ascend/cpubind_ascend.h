/* cpubind_ascend.h - the readers of adapters/text, all in one
 * SPDX-License-Identifier: MIT
 *
 * What npu-smi, /proc, /sys and lscpu print, as numbers in the caller's arrays. For a runtime
 * or a tool that has the text already and wants no command, no process and no library beside
 * this one.
 *
 * USE
 *   #include "adapters/ascend/cpubind_ascend.h"      compile with it, from adapters/,
 *     text/{cpulist,cpumask,interrupts,lscpu,numa_maps,procfs,text}.c ascend/npusmi_*.c    or
 *   #include <cpubind/ascend/cpubind_ascend.h>   link -lcpubind_ascend (make install)
 *   C11 or later, C++11 or later. Nothing else is needed but memchr, memcmp, memcpy, memset,
 *   strlen.
 *
 * EVERY READER
 *   takes    (pointer, length); the text needs no NUL at its end and is not changed
 *   gives    numbers, and slices (offset, length) of the text, into arrays of the caller
 *   counts   when an array is too small: ERR_SPACE and the lengths that would do, so that a
 *            first call with length 0 asks and a second one reads
 *   fails    as a whole: no element is written, and the fault holds the byte and the reason;
 *            cpubind_text_place makes line and column of it
 *   keeps    nothing: no state, no malloc, no locale, no errno; any number of threads
 *   costs    what is said at it: time linear in the text, whatever the text is, but for ids
 *            that do not ascend, of which there are 4,096 at most
 *
 * NOT HERE
 *   facts.h and ascend_plan.h, which make a plan of what was read, and process_goal.h, which
 *   says what a
 *   plan means for one process: its threads, memory and interrupts. Include those that are
 *   used; they are in libcpubind_ascend as well, and read through a source (../source.h).
 *
 * THE READERS                                                          grammar
 *   cpulist.h      "0-3,8"                             parse, format   cpulist.h
 *   cpumask.h      "0000000f,ffffffff"                 parse, format   cpumask.h
 *   procfs.h       /proc/<pid>/status and stat, numbers of /sys, environment,
 *                  ASCEND_RT_VISIBLE_DEVICES, names of threads         procfs.h
 *   interrupts.h   /proc/interrupts                                    interrupts.c
 *   lscpu.h        lscpu, lscpu -e=CPU,NODE                            lscpu.h
 *   numa_maps.h    /proc/<pid>/numa_maps, counters of /proc/vmstat     numa_maps.c
 *   npusmi.h       npu-smi info, -m, -l, -t topo, -t board, refusals   npusmi_*.c
 *
 * EXAMPLE
 *   cpubind_npusmi_chip chip[64];
 *   cpubind_text_fault fault;
 *   int32_t n;
 *   if (cpubind_npusmi_parse_map(text, len, chip, 64, &n, &fault) != CPUBIND_TEXT_OK) {
 *       cpubind_place at = cpubind_text_place(text, len, fault.offset);
 *       fprintf(stderr, "npu-smi info -m:%d:%d: %s\n", at.line, at.column, fault.what);
 *   }
 */
#ifndef CPUBIND_ASCEND_ALL_H
#define CPUBIND_ASCEND_ALL_H

#include "../text/cpulist.h"
#include "../text/cpumask.h"
#include "../text/interrupts.h"
#include "../text/lscpu.h"
#include "../text/numa_maps.h"
#include "../text/procfs.h"
#include "../text/text.h"
#include "npusmi.h"

#endif /* CPUBIND_ASCEND_ALL_H */
