/* as_cxx.cc - the header in a C++ program: declarations, then the implementation, then a plan
 * SPDX-License-Identifier: MIT
 */
#include "../../cpubind.h"

#define CPUBIND_IMPLEMENTATION
#include "../../cpubind.h"

#include <vector>

int main()
{
    const std::vector<int32_t> cpu = {0, 1, 2, 3, 4, 5, 6, 7};
    const std::vector<int32_t> node = {0, 0, 0, 0, 1, 1, 1, 1};
    const std::vector<int32_t> node_id = {0, 1};
    const std::vector<int32_t> near_both = {0, 1, 2, 3, 4, 5, 6, 7};
    const std::vector<int32_t> rows = {0, 4, 8};
    const cpubind_host host = {cpu.data(), node.data(), node_id.data(), 8, 2, NULL, NULL, NULL};
    const cpubind_devices devices = {
        {near_both.data(), rows.data(), 2}, NULL, 0, NULL, {NULL, NULL, 0}, NULL};
    const cpubind_policy policy = {
        CPUBIND_TOPO_AFFINITY, CPUBIND_OVERLAP_RESOLVE, {{0, 1, 1, 1}}, 1, 0, 0};
    std::vector<int32_t> pools(CPUBIND_PLAN_CPUS(8)), row(3);
    std::vector<int32_t> work(CPUBIND_PLAN_WORK(8, 2, 2, 8));
    cpubind_plan plan = cpubind_plan();
    cpubind_fault fault;
    plan.cpu = pools.data();
    plan.row = row.data();
    plan.work = work.data();
    plan.cap_cpu = static_cast<int32_t>(pools.size());
    plan.cap_work = static_cast<int32_t>(work.size());
    if (cpubind_make_plan(&host, &devices, &policy, &plan, &fault) != CPUBIND_OK)
        return 1;
    return row[1] == 4 && pools[4] == 4 && plan.overlap == CPUBIND_FOUND_NONE ? 0 : 1;
}
