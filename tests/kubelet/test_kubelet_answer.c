/* test_kubelet_answer.c - the answer of kubelet, whole, cut and damaged
 * SPDX-License-Identifier: MIT
 */
#include "../support/exact_buffer.h"
#include "../support/test.h"
#include "kubelet_message.h"

static const int64_t some[] = {9, 4, 5, 4, 8};

/* Reads a copy of the exact size. */
static cpubind_text_status read_copy(const char *text, int32_t len, Kubelet__Answer **out,
                                     cpubind_text_fault *fault)
{
    char *edge = edge_text(text, len);
    const cpubind_text_status status = cpubind_kubelet_answer_read(edge, len, out, fault);
    free(edge);
    return status;
}

static void expect(const char *text, int32_t len, cpubind_text_status want, int32_t offset,
                   const char *what)
{
    Kubelet__Answer *answer = NULL;
    cpubind_text_fault fault = {-7, ""};
    assert_int_equal(read_copy(text, len, &answer, &fault), want);
    assert_null(answer);
    assert_int_equal(fault.offset, offset);
    assert_string_equal(fault.what, what);
}

TEST(all_that_has_a_name_is_read)
{
    int32_t len;
    char *text = make_answer(some, 5, 1, 1 << 30, &len);
    const Kubelet__Container *c;
    Kubelet__Answer *answer = NULL;
    assert_int_equal(read_copy(text, len, &answer, NULL), CPUBIND_TEXT_OK);
    assert_int_equal(answer->n_pods, 2);
    c = cpubind_kubelet_find(answer, "prod", "vllm-0", "worker");
    assert_non_null(c);
    assert_int_equal(c->n_cpus, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(c->cpus[i], ((const int64_t[]){4, 5, 8, 9})[i]);
    assert_int_equal(c->n_devices, 1);
    assert_string_equal(c->devices[0]->resource, "vendor.com/npu");
    assert_string_equal(c->devices[0]->ids[0], "npu3");
    assert_int_equal(c->devices[0]->topology->nodes[0]->id, 1);
    assert_string_equal(c->memory[0]->type, "memory");
    assert_int_equal(c->memory[0]->bytes, 1 << 30);
    assert_string_equal(c->claims[0]->name, "npus");
    assert_string_equal(c->claims[0]->claimed[0]->cdi[0]->name, "vendor.com/npu=npu3");
    assert_string_equal(c->claims[0]->claimed[0]->device, "npu3");
    kubelet__answer__free_unpacked(answer, NULL);
    free(text);
}

TEST(a_container_is_found_by_all_its_names)
{
    int32_t len;
    char *text = make_answer(some, 5, 1, 1 << 30, &len);
    Kubelet__Answer *answer = NULL;
    assert_int_equal(read_copy(text, len, &answer, NULL), CPUBIND_TEXT_OK);
    assert_int_equal(cpubind_kubelet_find(answer, "test", "vllm-0", "worker")->n_cpus, 0);
    assert_null(cpubind_kubelet_find(answer, "prod", "vllm-0", "init"));
    assert_null(cpubind_kubelet_find(answer, "prod", "vllm-1", "worker"));
    assert_null(cpubind_kubelet_find(answer, "", "vllm-0", "worker"));
    kubelet__answer__free_unpacked(answer, NULL);
    free(text);
}

TEST(an_empty_list_is_an_answer)
{
    Kubelet__Answer *answer = NULL;
    assert_int_equal(read_copy("\0\0\0\0\0", 5, &answer, NULL), CPUBIND_TEXT_OK);
    assert_int_equal(answer->n_pods, 0);
    kubelet__answer__free_unpacked(answer, NULL);
}

TEST(an_answer_that_is_cut_is_refused_at_every_length)
{
    int32_t len;
    char *text = make_answer(some, 5, 1, 1 << 30, &len);
    for (int32_t n = 0; n < len; n++)
        expect(text, n, CPUBIND_TEXT_ERR_CUT, n,
               n < CPUBIND_KUBELET_HEAD ? "the head is cut" : "the message is cut");
    /* The same, with a head that says so. */
    for (int32_t n = 0; n < len - CPUBIND_KUBELET_HEAD; n++) {
        Kubelet__Answer *answer = NULL;
        cpubind_text_fault fault = {-7, ""};
        text[3] = (char)(uint8_t)(n >> 8);
        text[4] = (char)(uint8_t)n;
        if (read_copy(text, n + CPUBIND_KUBELET_HEAD, &answer, &fault) == CPUBIND_TEXT_OK)
            kubelet__answer__free_unpacked(answer, NULL);
        else
            assert_int_equal(fault.offset, CPUBIND_KUBELET_HEAD);
    }
    free(text);
}

TEST(a_wrong_head_is_refused_at_its_byte)
{
    expect("\1\0\0\0\0", 5, CPUBIND_TEXT_ERR_REFUSED, 0, "the answer is compressed");
    expect("\2\0\0\0\0", 5, CPUBIND_TEXT_ERR_SYNTAX, 0, "the answer has an unknown flag");
    expect("\0\0\x40\0\1", 5, CPUBIND_TEXT_ERR_RANGE, 1, "the length is too large");
    expect("\0\xff\xff\xff\xff", 5, CPUBIND_TEXT_ERR_RANGE, 1, "the length is too large");
    expect("\0\0\0\0\0\0", 6, CPUBIND_TEXT_ERR_SYNTAX, 5, "bytes follow the message");
    expect("\0\0\0\0\0\0\0\0\0\0", 10, CPUBIND_TEXT_ERR_SYNTAX, 5, "bytes follow the message");
    expect("\0\0\0\0\2\x0a\x09", 7, CPUBIND_TEXT_ERR_SYNTAX, 5,
           "the message is no list of pods");
}

TEST(numbers_out_of_range_are_refused)
{
    static const int64_t bad[] = {-1, CPUBIND_MAX_CPUS, INT64_MAX, INT64_MIN, (int64_t)1 << 32};
    int32_t len;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *text = make_answer(&bad[i], 1, 0, 1, &len);
        expect(text, len, CPUBIND_TEXT_ERR_RANGE, CPUBIND_KUBELET_HEAD,
               "the number of a CPU is out of range");
        free(text);
        text = make_answer(some, 5, bad[i], 1, &len);
        expect(text, len, CPUBIND_TEXT_ERR_RANGE, CPUBIND_KUBELET_HEAD,
               "the number of a node is out of range");
        free(text);
    }
    for (int shift = 59; shift < 64; shift++) {
        char *text = make_answer(some, 5, 0, (uint64_t)1 << shift, &len);
        expect(text, len, CPUBIND_TEXT_ERR_RANGE, CPUBIND_KUBELET_HEAD,
               "a size of memory is out of range");
        free(text);
    }
}

/* Two bytes for each pod. */
TEST(an_answer_that_grows_in_memory_is_refused)
{
    const int32_t n = CPUBIND_KUBELET_ANSWER_MAX;
    char *text = (char *)malloc(CPUBIND_KUBELET_HEAD + (size_t)n);
    assert_non_null(text);
    memcpy(text, "\0\0\x40\0\0", CPUBIND_KUBELET_HEAD);
    for (int32_t i = 0; i < n; i += 2)
        memcpy(text + CPUBIND_KUBELET_HEAD + i, "\x0a", 2);
    expect(text, CPUBIND_KUBELET_HEAD + n, CPUBIND_TEXT_ERR_SPACE, CPUBIND_KUBELET_HEAD,
           "the message needs too much memory");
    free(text);
}

TEST(wrong_arguments_are_refused)
{
    Kubelet__Answer *answer = NULL;
    assert_int_equal(cpubind_kubelet_answer_read(NULL, 1, &answer, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_kubelet_answer_read("", -1, &answer, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_kubelet_answer_read("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
}

TEST_FILE(NULL, NULL)
