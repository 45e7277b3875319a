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
    static const int32_t cpu[4] = {0, 1, 2, 3};
    int32_t pool[4], row[3];
    struct {
        cpubind_plan plan;
        int32_t beside[32];
    } mine = {{NULL, pool, row, NULL, 0, 4, 0, 0, 0, CPUBIND_GLOBAL_SLICE, CPUBIND_FOUND_NONE},
              {0}};
    cpubind_host host = {cpu, NULL, NULL, 4, 0, NULL, NULL, NULL};
    cpubind_devices devices = {{NULL, NULL, 2}, NULL, 0, NULL, {NULL, NULL, 0}, NULL};
    cpubind_policy policy = {CPUBIND_GLOBAL_SLICE, CPUBIND_OVERLAP_RESOLVE, {{0}}, 0, 0, 0};
    if (cpubind_version() != CPUBIND_VERSION_HEX)
        return -1;
    if (cpubind_make_plan(&host, &devices, &policy, &mine.plan, NULL) != CPUBIND_OK)
        return -1;
    for (int32_t i = 0; i < 32; i++)
        if (mine.beside[i] != 0)
            return -1;
    return row[1] == 2 && pool[3] == 3 ? cpubind_version() : -1;
}
