/* fuzz_cgroup.c - fuzz target: /proc/<pid>/cgroup
 * SPDX-License-Identifier: MIT
 */
#include "../fuzz.h"

#include "../../adapters/text/cgroup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int32_t len = (int32_t)size;
    char *text = fuzz_text((const char *)data, size);
    cpubind_slice id;
    cpubind_cgroup_cpuset set;
    if (cpubind_cgroup_container(text, len, &id)) {
        CHECK(id.len == 64 && id.at >= 2 && id.at + id.len <= len);
        for (int32_t i = 0; i < id.len; i++)
            CHECK(strchr("0123456789abcdef", text[id.at + i]) && text[id.at + i]);
    } else {
        CHECK(id.at == 0 && id.len == 0);
    }
    if (cpubind_cgroup_find_cpuset(text, len, &set) == CPUBIND_TEXT_OK) {
        CHECK(set.path.at >= 2 && set.path.len >= 0 && set.path.at + set.path.len <= len);
        CHECK(text[set.path.at - 1] == ':');
        CHECK(!memchr(text + set.path.at, '\n', (size_t)set.path.len));
        CHECK(set.path.len == 0 || text[set.path.at + set.path.len - 1] != '/');
    }
    free(text);
    return 0;
}
