/* proc_connector.c - reader of the messages in which the kernel reports threads and names
 * SPDX-License-Identifier: MIT
 *
 * Bytes to numbers. Pure: no I/O, no malloc, no errno, no locale. The grammar is in
 * proc_connector.h.
 */
#include "proc_connector.h"

#include "scan.h"

/* Bytes of the parts before a body, an event and its data. */
enum { MESSAGE_HEAD = 16, CONNECTOR_HEAD = 20, EVENT_HEAD = 16 };

enum { TYPE_DONE = 3, TYPE_OVERRUN = 4 };

/* The events that are read: which 4-byte words of the data are tid and pid. */
static const struct event_rule {
    uint32_t what;
    cpubind_proc_event_kind kind;
    int32_t tid_word, pid_word;
} rules[] = {
    {0x00000001u, CPUBIND_PROC_EVENT_BIRTH, 2, 3},
    {0x00000002u, CPUBIND_PROC_EVENT_EXEC, 0, 1},
    {0x00000200u, CPUBIND_PROC_EVENT_NAME, 0, 1},
    {0x80000000u, CPUBIND_PROC_EVENT_END, 0, 1},
};

static uint32_t u32_at(const scan_text *in, int32_t at)
{
    uint32_t number;
    memcpy(&number, in->text + at, sizeof number);
    return number;
}

static uint16_t u16_at(const scan_text *in, int32_t at)
{
    uint16_t number;
    memcpy(&number, in->text + at, sizeof number);
    return number;
}

static int32_t i32_at(const scan_text *in, int32_t at)
{
    int32_t number;
    memcpy(&number, in->text + at, sizeof number);
    return number;
}

static cpubind_text_status fail_cut(const scan_text *in, int32_t at, const char *what)
{
    return scan_fail(in, CPUBIND_TEXT_ERR_CUT, at, what);
}

/* Adds an event; with `out` NULL it is only counted. */
static void add(cpubind_proc_event *out, int32_t *n, const cpubind_proc_event *event)
{
    if (out)
        out[*n] = *event;
    *n += 1;
}

/*   event = what cpu time data */
static cpubind_text_status read_event(const scan_text *in, scan_run event, int32_t connector,
                                      cpubind_proc_event *out, int32_t *n)
{
    const int32_t data = event.at + EVENT_HEAD;
    uint32_t what;
    if (event.end - event.at < EVENT_HEAD)
        return fail_cut(in, event.at, "an event is too short");
    what = u32_at(in, event.at);
    if (what == 0) {
        if (event.end - data < 4)
            return fail_cut(in, event.at, "an answer is too short");
        const cpubind_proc_event answer = {.kind = CPUBIND_PROC_EVENT_ANSWER,
                                           .ack = i32_at(in, connector + 12),
                                           .error = i32_at(in, data)};
        add(out, n, &answer);
        return CPUBIND_TEXT_OK;
    }
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].what != what)
            continue;
        if (event.end - data < 4 * (rules[i].pid_word + 1))
            return fail_cut(in, event.at, "an event is too short");
        const cpubind_proc_event found = {.kind = rules[i].kind,
                                          .pid = i32_at(in, data + 4 * rules[i].pid_word),
                                          .tid = i32_at(in, data + 4 * rules[i].tid_word)};
        if (found.pid < 0 || found.tid < 0)
            return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, data, "a number is negative");
        if (found.pid > 0 && found.tid > 0)
            add(out, n, &found);
    }
    return CPUBIND_TEXT_OK;
}

/*   connector = idx val seq ack size flags event */
static cpubind_text_status read_connector(const scan_text *in, scan_run body,
                                          cpubind_proc_event *out, int32_t *n)
{
    scan_run event = {body.at + CONNECTOR_HEAD, 0};
    if (body.end - body.at < CONNECTOR_HEAD)
        return fail_cut(in, body.at, "a message is too short");
    event.end = event.at + u16_at(in, body.at + 16);
    if (event.end > body.end)
        return fail_cut(in, body.at, "an event is longer than its message");
    if (u32_at(in, body.at) != 1 || u32_at(in, body.at + 4) != 1)
        return CPUBIND_TEXT_OK;
    return read_event(in, event, body.at, out, n);
}

/*   message = length type flags seq port body; *at moves past it and its pad. */
static cpubind_text_status read_message(const scan_text *in, int32_t *at,
                                        cpubind_proc_event *out, int32_t *n)
{
    static const cpubind_proc_event lost = {.kind = CPUBIND_PROC_EVENT_LOST};
    const int32_t begin = *at, left = in->len - begin;
    uint32_t length;
    uint16_t type;
    if (left < MESSAGE_HEAD)
        return fail_cut(in, begin, "a message is too short");
    length = u32_at(in, begin);
    if (length < MESSAGE_HEAD || length > (uint32_t)left)
        return fail_cut(in, begin, "the length of a message is not right");
    *at = begin + (int32_t)((length + 3) & ~3u);
    if (*at > in->len)
        *at = in->len;
    type = u16_at(in, begin + 4);
    if (type == TYPE_OVERRUN)
        add(out, n, &lost);
    if (type != TYPE_DONE)
        return CPUBIND_TEXT_OK;
    return read_connector(in, (scan_run){begin + MESSAGE_HEAD, begin + (int32_t)length}, out,
                          n);
}

/* Reads the messages. With `out` NULL the events are only counted. */
static cpubind_text_status read_all(const scan_text *in, cpubind_proc_event *out, int32_t *n)
{
    int32_t at = 0;
    cpubind_text_status status;
    do
        status = read_message(in, &at, out, n);
    while (status == CPUBIND_TEXT_OK && at < in->len);
    return status;
}

cpubind_text_status cpubind_proc_connector_parse(const char *text, int32_t len,
                                                 cpubind_proc_event_list *list,
                                                 cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    int32_t n = 0;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !list || !scan_is_array(list->out, list->cap))
        return scan_fail_arg(fault);
    status = read_all(&in, NULL, &n);
    if (status != CPUBIND_TEXT_OK)
        return status;
    list->n = n;
    if (n > list->cap)
        return scan_fail_space(&in);
    n = 0;
    return list->n > 0 ? read_all(&in, list->out, &n) : CPUBIND_TEXT_OK;
}
