/* short_enums.c - compiled with -fshort-enums, linked with a core that was compiled without
 * SPDX-License-Identifier: MIT
 *
 * Enums are in arguments, in return values and between other fields of structs: each must be
 * where the core expects it.
 */
#include "../../cpubind.h"

int main(void)
{
    const int32_t cpu[4] = {0, 1, 2, 3}, node[4] = {0, 0, 1, 1}, node_id[2] = {0, 1};
    const int32_t near_cpu[2] = {0, 2}, near_row[3] = {0, 1, 2};
    int32_t pool[8], row[3], work[CPUBIND_PLAN_WORK(4, 2, 2, 2)];
    cpubind_host host = {cpu, node, node_id, 4, 2, NULL, NULL, NULL};
    cpubind_devices devices = {{near_cpu, near_row, 2}, NULL, 0, NULL, {NULL, NULL, 0}, NULL};
    cpubind_policy policy = {
        CPUBIND_TOPO_AFFINITY, CPUBIND_OVERLAP_KEEP, {{0, 1, 0, 0}}, 0, 0, 0};
    cpubind_plan plan = {
        NULL, pool, row, work, 0, 8, 0, 0, 0, CPUBIND_CLUSTER, CPUBIND_FOUND_NONE,
        0,    {0},  0,   NULL};
    cpubind_roles roles;
    if (cpubind_make_plan(&host, &devices, &policy, &plan, NULL) != CPUBIND_ERR_SPACE)
        return 1;
    plan.cap_work = plan.n_work;
    if (cpubind_make_plan(&host, &devices, &policy, &plan, NULL) != CPUBIND_OK)
        return 2;
    if (plan.strategy != CPUBIND_TOPO_AFFINITY || plan.overlap != CPUBIND_FOUND_PRESENT ||
        plan.n_checked != 2 || plan.shared.device != 1 || plan.shared.cpu != 0)
        return 3;
    if (cpubind_split_roles(5, &policy.roles, &roles, NULL) != CPUBIND_OK)
        return 4;
    return roles.span[CPUBIND_ROLE_MAIN].count == 5 &&
                   cpubind_role_letter(CPUBIND_ROLE_MAIN) == 'm'
               ? 0
               : 5;
}
