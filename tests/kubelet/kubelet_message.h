/* kubelet_message.h - an answer of kubelet, for tests
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_KUBELET_KUBELET_MESSAGE_H
#define CPUBIND_TESTS_KUBELET_KUBELET_MESSAGE_H

#include <stdlib.h>
#include <string.h>

#include "../../adapters/kubelet/kubelet_answer.h"

/* Makes an answer with two pods of one name. The container of one has these CPUs, the device
 * npu3 on a node, so much memory there and a claim; that of the other one has nothing. A field
 * without a name follows. The caller frees the answer. */
static inline char *make_answer(const int64_t *cpus, size_t n_cpu, int64_t on_node,
                                uint64_t bytes, int32_t *len)
{
    static const char unknown[] = "\x7a\x04new!";
    char *ids[] = {"npu3"};
    Kubelet__Node node = KUBELET__NODE__INIT, *nodes[] = {&node};
    Kubelet__Topology topology = KUBELET__TOPOLOGY__INIT;
    Kubelet__Devices devices = KUBELET__DEVICES__INIT, *all_devices[] = {&devices};
    Kubelet__Memory memory = KUBELET__MEMORY__INIT, *all_memory[] = {&memory};
    Kubelet__Cdi cdi = KUBELET__CDI__INIT, *all_cdi[] = {&cdi};
    Kubelet__Claimed claimed = KUBELET__CLAIMED__INIT, *all_claimed[] = {&claimed};
    Kubelet__Claim claim = KUBELET__CLAIM__INIT, *claims[] = {&claim};
    Kubelet__Container worker = KUBELET__CONTAINER__INIT, *workers[] = {&worker};
    Kubelet__Container shared = KUBELET__CONTAINER__INIT, *shares[] = {&shared};
    Kubelet__Pod pod = KUBELET__POD__INIT, other = KUBELET__POD__INIT, *pods[] = {&other, &pod};
    Kubelet__Answer answer = KUBELET__ANSWER__INIT;
    const size_t n_unknown = sizeof unknown - 1;
    char *text;
    size_t n;
    node.id = on_node;
    topology.n_nodes = 1, topology.nodes = nodes;
    devices.resource = "vendor.com/npu", devices.topology = &topology;
    devices.n_ids = 1, devices.ids = ids;
    memory.type = "memory", memory.bytes = bytes, memory.topology = &topology;
    cdi.name = "vendor.com/npu=npu3";
    claimed.driver = "npu.vendor.com", claimed.device = "npu3";
    claimed.n_cdi = 1, claimed.cdi = all_cdi;
    claim.name = "npus", claim.space = "prod", claim.n_claimed = 1, claim.claimed = all_claimed;
    worker.name = shared.name = "worker";
    worker.n_cpus = n_cpu, worker.cpus = (int64_t *)(uintptr_t)cpus;
    worker.n_devices = 1, worker.devices = all_devices;
    worker.n_memory = 1, worker.memory = all_memory;
    worker.n_claims = 1, worker.claims = claims;
    pod.name = other.name = "vllm-0", pod.space = "prod", other.space = "test";
    pod.n_containers = 1, pod.containers = workers;
    other.n_containers = 1, other.containers = shares;
    answer.n_pods = 2, answer.pods = pods;
    n = kubelet__answer__get_packed_size(&answer) + n_unknown;
    text = (char *)malloc(CPUBIND_KUBELET_HEAD + n);
    if (!text)
        abort();
    kubelet__answer__pack(&answer, (uint8_t *)text + CPUBIND_KUBELET_HEAD);
    memcpy(text + CPUBIND_KUBELET_HEAD + n - n_unknown, unknown, n_unknown);
    for (int i = 0; i < CPUBIND_KUBELET_HEAD; i++)
        text[i] = (char)(uint8_t)(n >> 8 * (CPUBIND_KUBELET_HEAD - 1 - i));
    *len = (int32_t)n + CPUBIND_KUBELET_HEAD;
    return text;
}

#endif /* CPUBIND_TESTS_KUBELET_KUBELET_MESSAGE_H */
