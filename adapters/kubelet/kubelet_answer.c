/* kubelet_answer.c - the answer of kubelet: which CPUs and devices it gave to each container
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in kubelet_answer.h.
 */
#include "kubelet_answer.h"

#include <stdlib.h>
#include <string.h>

#include "../text/cursor.h"

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

/* Finds the message in its frame: its length. */
static int32_t find_message(const cursor *c)
{
    const int32_t len = cursor_len(c);
    uint32_t length = 0;
    if (cursor_next(c) == 1)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_REFUSED, 0, "the answer is compressed");
    else if (cursor_next(c) > 0)
        (void)cursor_bad(c, "the answer has an unknown flag");
    else if (len < CPUBIND_KUBELET_HEAD)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_CUT, len, "the head is cut");
    for (int i = 1; i < CPUBIND_KUBELET_HEAD && cursor_ok(c); i++)
        length = length << 8 | (uint8_t)c->text[i];
    if (length > CPUBIND_KUBELET_ANSWER_MAX)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_RANGE, 1, "the length is too large");
    else if (len - CPUBIND_KUBELET_HEAD < (int32_t)length)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_CUT, len, "the message is cut");
    else if (len - CPUBIND_KUBELET_HEAD > (int32_t)length)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_SYNTAX, CPUBIND_KUBELET_HEAD + (int32_t)length,
                          "bytes follow the message");
    return (int32_t)length;
}

cpubind_text_status cpubind_kubelet_answer_read(const char *text, int32_t len,
                                                Kubelet__Answer **out,
                                                cpubind_text_fault *fault)
{
    cursor_text of;
    const cursor c = cursor_open(&of, text, len, fault, out != NULL);
    budget memory = {CPUBIND_KUBELET_MEMORY_MAX, 0};
    ProtobufCAllocator allocator = {take, give_back, &memory};
    const char *what = NULL;
    Kubelet__Answer *answer;
    const int32_t n = find_message(&c);
    if (!cursor_ok(&c))
        return of.status;
    answer = kubelet__answer__unpack(&allocator, (size_t)n,
                                     (const uint8_t *)text + CPUBIND_KUBELET_HEAD);
    if (!answer && memory.is_short)
        return cursor_fail(&c, CPUBIND_TEXT_ERR_SPACE, CPUBIND_KUBELET_HEAD,
                           "the message needs too much memory");
    if (!answer)
        return cursor_fail(&c, CPUBIND_TEXT_ERR_SYNTAX, CPUBIND_KUBELET_HEAD,
                           "the message is no list of pods");
    for (size_t i = 0; !what && i < answer->n_pods; i++)
        for (size_t k = 0; !what && k < answer->pods[i]->n_containers; k++)
            what = check_container(answer->pods[i]->containers[k]);
    if (what) {
        kubelet__answer__free_unpacked(answer, NULL);
        return cursor_fail(&c, CPUBIND_TEXT_ERR_RANGE, CPUBIND_KUBELET_HEAD, what);
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
