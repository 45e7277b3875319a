/* short_enums.c - compiled with -fshort-enums, linked with a core that was compiled without
 * SPDX-License-Identifier: MIT
 *
 * What has names of an enumeration is in arguments, in return values and between other fields
 * of structs: each must be where the core expects it.
 */
#include "../../cpubind.h"

int main(void)
{
    static const int32_t cpu[4] = {0, 1, 2, 3}, node[4] = {0, 0, 1, 1};
    const cpubind_host host = {cpu, node, NULL, NULL, NULL, NULL, 4, 2};
    const cpubind_device device[2] = {{{cpu, 2}, {NULL, 0}, 0, 0, 0, 0, 0},
                                      {{cpu, 1}, {NULL, 0}, 0, 0, 0, 0, 0}};
    cpubind_policy policy = {CPUBIND_RULE_AFFINITY, CPUBIND_REACH_HOST, CPUBIND_OVERLAP_KEEP, 1,
                             2};
    int32_t owner[4], work[CPUBIND_WORK(4, 2, 2)];
    cpubind_report report;
    if (cpubind_plan(&host, device, 2, &policy, owner, work, &report) != CPUBIND_OK)
        return 1;
    policy.rule = 7;
    if (cpubind_plan(&host, device, 2, &policy, owner, work, &report) != CPUBIND_ERR_ARG ||
        report.index != CPUBIND_NONE)
        return 2;
    return cpubind_status_text(CPUBIND_ERR_TOO_FEW)[0] == 'a' &&
                   cpubind_role_word(CPUBIND_ROLE_MAIN)[0] == 'm'
               ? 0
               : 3;
}
