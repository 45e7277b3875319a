/* fuzz_cgroup.c - fuzz target: /proc/<pid>/cgroup, and the names of logs of containers
 * SPDX-License-Identifier: MIT
 */
#include "../fuzz.h"

#include "../../adapters/text/cgroup.h"

static void check_pod(const char *text, int32_t len)
{
    cpubind_cgroup_pod pod;
    if (!cpubind_cgroup_find_pod(text, len, &pod)) {
        CHECK(!*pod.uid && pod.container.len == 0 && !pod.runtime);
        return;
    }
    CHECK(strlen(pod.uid) == 32 || strlen(pod.uid) == CPUBIND_POD_UID_SIZE - 1);
    CHECK(!strpbrk(pod.uid, "_/:\n"));
    CHECK(pod.container.len == 0 || pod.container.len == 64);
    CHECK(pod.container.at >= 0 && pod.container.at + pod.container.len <= len);
    CHECK(!pod.runtime || pod.container.len > 0);
}

static void check_log(const char *text, int32_t len)
{
    cpubind_text_fault fault = {-1, NULL};
    cpubind_pod_log log;
    if (cpubind_pod_log_parse(text, len, &log, &fault) != CPUBIND_TEXT_OK) {
        fuzz_check_fault(&fault, len);
        return;
    }
    CHECK(log.pod.at == 0 && log.pod.len > 0 && log.pod.len < CPUBIND_POD_NAME_SIZE);
    CHECK(log.space.at == log.pod.len + 1 &&
          log.container.at == log.space.at + log.space.len + 1);
    CHECK(log.space.len > 0 && log.space.len < CPUBIND_POD_LABEL_SIZE);
    CHECK(log.container.len > 0 && log.container.len < CPUBIND_POD_LABEL_SIZE);
    CHECK(log.id.at == log.container.at + log.container.len + 1 && log.id.at + 68 == len);
}

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
    check_pod(text, len);
    check_log(text, len);
    free(text);
    return 0;
}
