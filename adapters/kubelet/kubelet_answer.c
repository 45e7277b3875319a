/* kubelet_answer.c - the answer of kubelet: which CPUs and devices it gave to each container
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in kubelet_answer.h.
 */
#include "kubelet_answer.h"

#include <stdlib.h>
#include <string.h>

#include "../text/scan.h"

/* == Memory ================================================================= */

/* A message of two bytes becomes a struct of a hundred: what is allocated has a limit. */
typedef struct budget {
    size_t left;
    int is_short; /* memory or the limit is at its end */
} budget;

static void *take(void *ctx, size_t size)
{
    budget *b = (budget *)ctx;
    void *memory = size <= b->left ? malloc(size) : NULL;
    if (memory)
        b->left -= size;
    b->is_short |= !memory;
    return memory;
}

static void give_back(void *ctx, void *memory)
{
    (void)ctx;
    free(memory);
}

/* == Numbers ================================================================ */

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts numbers and drops the second of two that are equal. Returns 0 if one is not below the
 * end, or negative. */
static int sort_numbers(int64_t *number, size_t *n, int64_t end)
{
    size_t n_kept = 0;
    if (*n > 0)
        qsort(number, *n, sizeof *number, compare);
    for (size_t i = 0; i < *n; i++) {
        if (number[i] < 0 || number[i] >= end)
            return 0;
        if (n_kept == 0 || number[n_kept - 1] != number[i])
            number[n_kept++] = number[i];
    }
    *n = n_kept;
    return 1;
}

static int are_nodes(const Kubelet__Topology *topology)
{
    for (size_t i = 0; topology && i < topology->n_nodes; i++)
        if (topology->nodes[i]->id < 0 || topology->nodes[i]->id >= CPUBIND_MAX_NODES)
            return 0;
    return 1;
}

/* What is wrong with the numbers of a container; NULL: nothing. */
static const char *check_container(Kubelet__Container *c)
{
    if (!sort_numbers(c->cpus, &c->n_cpus, CPUBIND_MAX_CPUS))
        return "the number of a CPU is out of range";
    for (size_t i = 0; i < c->n_devices; i++)
        if (!are_nodes(c->devices[i]->topology))
            return "the number of a node is out of range";
    for (size_t i = 0; i < c->n_memory; i++) {
        if (!are_nodes(c->memory[i]->topology))
            return "the number of a node is out of range";
        if (c->memory[i]->bytes >= CPUBIND_KUBELET_BYTES_END)
            return "a size of memory is out of range";
    }
    return NULL;
}

/* == The answer ============================================================= */

/* Finds the message in its frame. */
static cpubind_text_status find_message(const scan_text *in, int32_t *n)
{
    uint32_t length = 0;
    if (in->len > 0 && in->text[0] == 1)
        return scan_fail(in, CPUBIND_TEXT_ERR_REFUSED, 0, "the answer is compressed");
    if (in->len > 0 && in->text[0] != 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, 0, "the answer has an unknown flag");
    if (in->len < CPUBIND_KUBELET_HEAD)
        return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len, "the head is cut");
    for (int i = 1; i < CPUBIND_KUBELET_HEAD; i++)
        length = length << 8 | (uint8_t)in->text[i];
    if (length > CPUBIND_KUBELET_ANSWER_MAX)
        return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, 1, "the length is too large");
    *n = (int32_t)length;
    if (in->len - CPUBIND_KUBELET_HEAD < *n)
        return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len, "the message is cut");
    if (in->len - CPUBIND_KUBELET_HEAD > *n)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, CPUBIND_KUBELET_HEAD + *n,
                         "bytes follow the message");
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_kubelet_answer_read(const char *text, int32_t len,
                                                Kubelet__Answer **out,
                                                cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    budget memory = {CPUBIND_KUBELET_MEMORY_MAX, 0};
    ProtobufCAllocator allocator = {take, give_back, &memory};
    const char *what = NULL;
    cpubind_text_status status;
    Kubelet__Answer *answer;
    int32_t n;
    if (!scan_is_text(text, len) || !out)
        return scan_fail_arg(fault);
    status = find_message(&in, &n);
    if (status != CPUBIND_TEXT_OK)
        return status;
    answer = kubelet__answer__unpack(&allocator, (size_t)n,
                                     (const uint8_t *)text + CPUBIND_KUBELET_HEAD);
    if (!answer && memory.is_short)
        return scan_fail(&in, CPUBIND_TEXT_ERR_SPACE, CPUBIND_KUBELET_HEAD,
                         "the message needs too much memory");
    if (!answer)
        return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, CPUBIND_KUBELET_HEAD,
                         "the message is no list of pods");
    for (size_t i = 0; !what && i < answer->n_pods; i++)
        for (size_t k = 0; !what && k < answer->pods[i]->n_containers; k++)
            what = check_container(answer->pods[i]->containers[k]);
    if (what) {
        kubelet__answer__free_unpacked(answer, NULL);
        return scan_fail(&in, CPUBIND_TEXT_ERR_RANGE, CPUBIND_KUBELET_HEAD, what);
    }
    *out = answer;
    return CPUBIND_TEXT_OK;
}

const Kubelet__Container *cpubind_kubelet_find(const Kubelet__Answer *answer, const char *space,
                                               const char *pod, const char *container)
{
    for (size_t i = 0; i < answer->n_pods; i++) {
        const Kubelet__Pod *p = answer->pods[i];
        if (strcmp(p->space, space) != 0 || strcmp(p->name, pod) != 0)
            continue;
        for (size_t k = 0; k < p->n_containers; k++)
            if (strcmp(p->containers[k]->name, container) == 0)
                return p->containers[k];
    }
    return NULL;
}
