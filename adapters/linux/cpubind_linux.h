/* cpubind_linux.h - bind from inside a runtime: read the host, make a plan, apply it
 * SPDX-License-Identifier: MIT
 *
 * The one header of libcpubind_linux (link it before libcpubind_ascend).
 * C11, and C++11. Linux only; everything else of this project is pure.
 *
 *   1  open this host                      cpubind_linux_open_live     source/host_source.h
 *   2  read it                             cpubind_facts_read          ../model/facts.h
 *      make a plan                         cpubind_plan_make    ../plan/plan.h
 *   3  derive the goal of one process      cpubind_goal_make           ../plan/process_goal.h
 *   4  apply, watch, verify, restore       cpubind_bind_*              bind/bind.h
 *
 * EXAMPLE  Binds the calling process to NPU 3, and restores it.
 *   cpubind_linux_host *host;
 *   cpubind_binding *b;
 *   cpubind_bind_options how = {.pid = (int32_t)getpid()};
 *   int32_t device = 3;
 *   cpubind_request ask = {.is_auto_strategy = 1, .device = &device, .n_device = 1,
 *                          .visible = "3", .visible_len = 1, .wants_pci = 1};
 *   cpubind_linux_open_live(NULL, &host, NULL);
 *   cpubind_source source = cpubind_linux_source(host);
 *   cpubind_arena arena = {malloc(4 << 20), 4 << 20, 0};
 *   cpubind_facts_read(&source, &ask, &arena, &facts, &problem);
 *   cpubind_plan_make(&facts, &ask, &arena, &plan, &problem);
 *   cpubind_goal_request want = {&facts, &plan, plan.rank_row, NULL, 0};
 *   cpubind_goal_make(&source, &want, &arena, &goal, &problem);
 *   cpubind_bind_open(&how, NULL, &b, &fault);
 *   cpubind_bind_apply(b, &goal, &fault);
 *   ...
 *   cpubind_bind_restore(b, &fault);
 *   cpubind_bind_close(b);
 *   cpubind_linux_close(host);
 * Each header says how its calls fail; tests/consumers/consumer_bind.c is the whole program.
 */
#ifndef CPUBIND_LINUX_ALL_H
#define CPUBIND_LINUX_ALL_H

#include "../plan/plan.h"
#include "../plan/process_goal.h"
#include "bind/bind.h"
#include "linux.h"
#include "source/host_source.h"

#endif /* CPUBIND_LINUX_ALL_H */
