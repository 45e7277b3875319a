/* fuzz_kubelet.c - fuzz target: the answer of kubelet
 * SPDX-License-Identifier: MIT
 *
 * An answer that is read has CPUs and nodes in their ranges, CPUs ascending, and each container
 * is found by its names. One that is refused gives no list, and the place of the fault.
 */
#include "../fuzz.h"

#include "../../adapters/kubelet/kubelet_answer.h"

static void check_topology(const Kubelet__Topology *topology)
{
    for (size_t i = 0; topology && i < topology->n_nodes; i++)
        CHECK(topology->nodes[i]->id >= 0 && topology->nodes[i]->id < CPUBIND_MAX_NODES);
}

static void check_memory(const Kubelet__Memory *memory)
{
    CHECK(memory->bytes < CPUBIND_KUBELET_BYTES_END);
    check_topology(memory->topology);
}

static void check_container(const Kubelet__Container *c)
{
    for (size_t i = 0; i < c->n_cpus; i++) {
        CHECK(c->cpus[i] >= 0 && c->cpus[i] < CPUBIND_MAX_CPUS);
        CHECK(i == 0 || c->cpus[i] > c->cpus[i - 1]);
    }
    for (size_t i = 0; i < c->n_devices; i++)
        check_topology(c->devices[i]->topology);
    for (size_t i = 0; i < c->n_memory; i++)
        check_memory(c->memory[i]);
}

static void check(const char *text, int32_t len)
{
    Kubelet__Answer *answer = NULL;
    cpubind_text_fault fault = {-7, NULL};
    const cpubind_text_status status = cpubind_kubelet_answer_read(text, len, &answer, &fault);
    if (status != CPUBIND_TEXT_OK) {
        CHECK(!answer);
        fuzz_check_fault(&fault, len);
        CHECK(status != CPUBIND_TEXT_ERR_CUT || fault.offset == len);
        return;
    }
    CHECK(fault.offset == -7);
    for (size_t i = 0; i < answer->n_pods; i++) {
        const Kubelet__Pod *pod = answer->pods[i];
        for (size_t k = 0; k < pod->n_containers; k++) {
            check_container(pod->containers[k]);
            CHECK(
                cpubind_kubelet_find(answer, pod->space, pod->name, pod->containers[k]->name));
        }
    }
    (void)cpubind_kubelet_find(answer, "prod", "vllm-0", "");
    kubelet__answer__free_unpacked(answer, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check);
}
