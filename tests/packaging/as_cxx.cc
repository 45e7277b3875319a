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
    const cpubind_host host = {cpu.data(), node.data(), nullptr, nullptr,
                               nullptr,    nullptr,     8,       2};
    std::vector<cpubind_device> device(2);
    device[0].home = {cpu.data(), 4};
    device[1].home = {cpu.data() + 4, 4};
    cpubind_policy policy = cpubind_policy();
    policy.rule = CPUBIND_RULE_TURNS;
    std::vector<int32_t> owner(8), role(8), work(CPUBIND_WORK(8, 2, 2));
    cpubind_report report;
    if (cpubind_plan(&host, device.data(), 2, &policy, owner.data(), work.data(), &report) !=
        CPUBIND_OK)
        return 1;
    const cpubind_roles roles = {{1, 1, 1, 1}, 0, 0, 0};
    if (cpubind_place(&host, device.data(), 2, owner.data(), 1, &roles, role.data(),
                      work.data(), nullptr) != CPUBIND_OK)
        return 1;
    cpubind_quality quality;
    cpubind_measure(&host, device.data(), 2, owner.data(), role.data(), &quality, nullptr,
                    work.data());
    return owner[3] == 0 && owner[4] == 1 && role[7] == CPUBIND_ROLE_RELEASE &&
                   quality.near_cpus == 8
               ? 0
               : 1;
}
