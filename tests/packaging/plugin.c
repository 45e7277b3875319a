/* plugin.c - a library that embeds the header HEADER, in another file: plugin_core.c
 * SPDX-License-Identifier: MIT
 *
 * ENTRY is what the library exports. It returns the version that its calls reached, or -1 when
 * the plan is wrong or something beside it was written.
 */
#include HEADER

int32_t ENTRY(void);

int32_t ENTRY(void)
{
    static const int32_t cpu[4] = {0, 1, 2, 3}, node[4] = {0, 0, 0, 0};
    static const cpubind_device device[2] = {{{NULL, 0}, {NULL, 0}, 0, 0, 0, 0, 0},
                                             {{NULL, 0}, {NULL, 0}, 0, 0, 0, 0, 0}};
    const cpubind_host host = {cpu, node, NULL, NULL, NULL, NULL, 4, 1};
    const cpubind_policy policy = {CPUBIND_RULE_SLICE, 0, 0, 0, 0};
    int32_t owner[4], work[CPUBIND_WORK(4, 1, 2)];
    struct {
        cpubind_report report;
        int32_t beside[32];
    } mine = {{NULL, 0, 0, 0, 0, 0, 0, 0, 0}, {0}};
    if (cpubind_version() != CPUBIND_VERSION_HEX)
        return -1;
    if (cpubind_plan(&host, device, 2, &policy, owner, work, &mine.report) != CPUBIND_OK)
        return -1;
    for (int32_t i = 0; i < 32; i++)
        if (mine.beside[i] != 0)
            return -1;
    return owner[1] == 0 && owner[2] == 1 ? cpubind_version() : -1;
}
