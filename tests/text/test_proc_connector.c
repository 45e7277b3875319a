/* test_proc_connector.c - messages of the proc connector
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>

#include "text_test.h"

#include "../../adapters/text/proc_connector.h"
#include "../support/proc_message.h"

enum { MAX_EVENTS = 8 };

/* Reads into an array of the exact size. */
static cpubind_text_status parse(const char *text, int32_t len, cpubind_proc_event *out,
                                 int32_t cap, int32_t *out_n, cpubind_text_fault *fault)
{
    const size_t size = (size_t)cap * sizeof *out;
    char *edge = edge_text(text, len);
    cpubind_proc_event *array = malloc(size ? size : 1);
    cpubind_proc_event_list list = {array, cap, 0};
    cpubind_text_status status;

    assert_non_null(array);
    memset(array, EDGE_FILL, size);
    memset(&list.n, EDGE_FILL, sizeof list.n);
    *fault = no_fault;
    status = cpubind_proc_connector_parse(edge, len, &list, fault);
    memset(out, 0, size);
    *out_n = list.n;
    if (status != CPUBIND_TEXT_OK) {
        assert_untouched(array, size);
        assert_fault(fault, len);
        if (status != CPUBIND_TEXT_ERR_SPACE)
            assert_untouched(out_n, sizeof *out_n);
    } else {
        memcpy(out, array, (size_t)*out_n * sizeof *out);
    }
    free(array);
    free(edge);
    return status;
}

TEST(each_kind_of_event_is_read_and_others_are_skipped)
{
    static const struct {
        uint32_t what;
        int32_t pid, tid, n;
        cpubind_proc_event_kind kind;
    } cases[] = {
        {PROC_MESSAGE_FORK, 40, 41, 1, CPUBIND_PROC_EVENT_BIRTH},
        {PROC_MESSAGE_EXEC, 40, 40, 1, CPUBIND_PROC_EVENT_EXEC},
        {PROC_MESSAGE_COMM, INT32_MAX, 1, 1, CPUBIND_PROC_EVENT_NAME},
        {PROC_MESSAGE_EXIT, 40, 42, 1, CPUBIND_PROC_EVENT_END},
        {PROC_MESSAGE_UID, 40, 40, 0, CPUBIND_PROC_EVENT_END},
        {0x40000000u, 40, 40, 0, CPUBIND_PROC_EVENT_END},
        {PROC_MESSAGE_FORK, 0, 0, 0, CPUBIND_PROC_EVENT_BIRTH}, /* an idle thread */
        {PROC_MESSAGE_COMM, 0, 7, 0, CPUBIND_PROC_EVENT_NAME},
    };

    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const proc_message m = proc_message_of(cases[i].what, cases[i].pid, cases[i].tid);
        cpubind_proc_event out[MAX_EVENTS] = {{.pid = 0}};
        int32_t n = 0;
        cpubind_text_fault fault;

        assert_int_equal(parse(m.as.bytes, PROC_MESSAGE_SIZE, out, cases[i].n, &n, &fault),
                         CPUBIND_TEXT_OK);
        assert_int_equal(n, cases[i].n);
        if (n == 0)
            continue;
        assert_int_equal(out[0].kind, cases[i].kind);
        assert_int_equal(out[0].pid, cases[i].pid);
        assert_int_equal(out[0].tid, cases[i].tid);
        assert_int_equal(out[0].ack | out[0].error, 0);
        assert_int_equal(parse(m.as.bytes, PROC_MESSAGE_SIZE, out, 0, &n, &fault),
                         CPUBIND_TEXT_ERR_SPACE);
        assert_int_equal(n, 1);
    }
}

TEST(an_answer_has_the_numbers_of_its_request)
{
    proc_message m = proc_message_of(PROC_MESSAGE_ANSWER, 0, EPERM);
    cpubind_proc_event out[MAX_EVENTS] = {{.pid = 0}};
    int32_t n;
    cpubind_text_fault fault;

    m.as.word[6] = 9; /* the kernel counts its messages */
    m.as.word[7] = 0x80000001u;
    assert_int_equal(parse(m.as.bytes, PROC_MESSAGE_SIZE, out, 1, &n, &fault), CPUBIND_TEXT_OK);
    assert_int_equal(out[0].kind, CPUBIND_PROC_EVENT_ANSWER);
    assert_int_equal(out[0].ack, INT32_MIN + 1);
    assert_int_equal(out[0].error, EPERM);
    assert_int_equal(out[0].pid | out[0].tid, 0);
}

TEST(several_messages_and_other_messages_are_read)
{
    proc_message m[4] = {
        proc_message_of(PROC_MESSAGE_FORK, 5, 6), proc_message_of(PROC_MESSAGE_COMM, 5, 6),
        proc_message_of(PROC_MESSAGE_COMM, 5, 7), proc_message_of(PROC_MESSAGE_EXIT, 5, 6)};
    cpubind_proc_event out[MAX_EVENTS] = {{.pid = 0}};
    int32_t n;
    cpubind_text_fault fault;

    m[0].as.half[2] = 4; /* the kernel has lost messages */
    m[1].as.word[4] = 2; /* another connector */
    m[2].as.half[2] = 1; /* no operation */
    assert_int_equal(parse(m[0].as.bytes, 4 * PROC_MESSAGE_SIZE, out, 2, &n, &fault),
                     CPUBIND_TEXT_OK);
    assert_int_equal(n, 2);
    assert_int_equal(out[0].kind, CPUBIND_PROC_EVENT_LOST);
    assert_int_equal(out[1].kind, CPUBIND_PROC_EVENT_END);
    /* The pad after the last message may be cut; a message that begins may not. */
    m[1].as.word[0] = PROC_MESSAGE_SIZE - 2;
    m[1].as.half[16] = 38;
    assert_int_equal(parse(m[0].as.bytes, 2 * PROC_MESSAGE_SIZE - 1, out, 1, &n, &fault),
                     CPUBIND_TEXT_OK);
    assert_int_equal(parse(m[0].as.bytes, 2 * PROC_MESSAGE_SIZE + 1, out, 1, &n, &fault),
                     CPUBIND_TEXT_ERR_CUT);
    assert_int_equal(fault.offset, 2 * PROC_MESSAGE_SIZE);
}

TEST(a_length_that_is_not_right_is_refused)
{
    static const struct {
        int is_half, at;
        uint32_t value;
    } cases[] = {
        {0, 0, 77},  {0, 0, 15},  {0, 0, 0},  {0, 0, 0xffffffffu}, {0, 0, 35},
        {1, 16, 41}, {1, 16, 15}, {1, 16, 0}, {1, 16, 23},         {1, 16, 0xffff},
    };

    for (int32_t i = 0; i < LENGTH(cases); i++) {
        proc_message m = proc_message_of(PROC_MESSAGE_COMM, 40, 41);
        cpubind_proc_event out[MAX_EVENTS] = {{.pid = 0}};
        int32_t n;
        cpubind_text_fault fault;

        if (cases[i].is_half)
            m.as.half[cases[i].at] = (uint16_t)cases[i].value;
        else
            m.as.word[cases[i].at] = cases[i].value;
        assert_int_equal(parse(m.as.bytes, PROC_MESSAGE_SIZE, out, 1, &n, &fault),
                         CPUBIND_TEXT_ERR_CUT);
    }
}

TEST(a_cut_datagram_and_a_negative_number_are_refused)
{
    proc_message m = proc_message_of(PROC_MESSAGE_COMM, 40, 41);
    cpubind_proc_event out[MAX_EVENTS] = {{.pid = 0}};
    int32_t n;
    cpubind_text_fault fault;

    for (int32_t len = 0; len < PROC_MESSAGE_SIZE; len++)
        assert_int_equal(parse(m.as.bytes, len, out, 1, &n, &fault), CPUBIND_TEXT_ERR_CUT);
    m = proc_message_of(PROC_MESSAGE_COMM, 40, -41);
    assert_int_equal(parse(m.as.bytes, PROC_MESSAGE_SIZE, out, 1, &n, &fault),
                     CPUBIND_TEXT_ERR_RANGE);
    m = proc_message_of(PROC_MESSAGE_FORK, INT32_MIN, 41);
    assert_int_equal(parse(m.as.bytes, PROC_MESSAGE_SIZE, out, 1, &n, &fault),
                     CPUBIND_TEXT_ERR_RANGE);
}

TEST(arguments_outside_their_range_are_refused)
{
    cpubind_proc_event_list list = {NULL, 1, 0};
    assert_int_equal(cpubind_proc_connector_parse("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_proc_connector_parse("", 0, &list, NULL), CPUBIND_TEXT_ERR_ARG);
    list.cap = 0;
    assert_int_equal(cpubind_proc_connector_parse(NULL, 1, &list, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_proc_connector_parse("", -1, &list, NULL), CPUBIND_TEXT_ERR_ARG);
}

TEST_FILE(NULL, NULL)
