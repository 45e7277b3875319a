/* proc_connector.c - reader of the messages in which the kernel reports threads and names
 * SPDX-License-Identifier: MIT
 *
 * Bytes to numbers. Pure: no I/O, no malloc, no errno, no locale. The grammar is in
 * proc_connector.h.
 */
#include "proc_connector.h"

#include "cursor.h"

/* The parts before a body, an event and its data. */
typedef struct message {
    uint32_t length;
    uint16_t type, flags;
    uint32_t seq, port;
} message;

typedef struct connector {
    uint32_t idx, val, seq;
    int32_t ack;
    uint16_t size, flags;
} connector;

typedef struct event {
    uint32_t what, cpu, time[2];
} event;

enum { TYPE_DONE = 3, TYPE_OVERRUN = 4 };

/* The events that are read: which 4-byte words of the data are tid and pid. */
static const struct event_rule {
    uint32_t what;
    cpubind_proc_event_kind kind;
    int32_t tid_word, pid_word;
} rules[] = {
    {0x00000000u, CPUBIND_PROC_EVENT_ANSWER, 0, 0},
    {0x00000001u, CPUBIND_PROC_EVENT_BIRTH, 2, 3},
    {0x00000002u, CPUBIND_PROC_EVENT_EXEC, 0, 1},
    {0x00000200u, CPUBIND_PROC_EVENT_NAME, 0, 1},
    {0x80000000u, CPUBIND_PROC_EVENT_END, 0, 1},
};

/* Copies the next bytes, and moves past them. */
static int take(cursor *c, void *out, size_t size, const char *what)
{
    if ((size_t)cursor_len(c) < size)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_CUT, c->at, what);
    if (!cursor_ok(c))
        return 0;
    memcpy(out, c->text + c->at, size);
    c->at += (int32_t)size;
    return 1;
}

/* Adds an event, where the list has room. */
static void add(cpubind_proc_event_list *list, int32_t *n, cpubind_proc_event one)
{
    if (*n < list->cap)
        list->out[*n] = one;
    ++*n;
}

/*   event = what cpu time data */
static void read_event(cursor c, int32_t ack, cpubind_proc_event_list *list, int32_t *n)
{
    event head;
    int32_t data[4];
    const size_t n_rule = sizeof rules / sizeof *rules;
    size_t i = 0;
    if (!take(&c, &head, sizeof head, "an event is too short"))
        return;
    while (i < n_rule && rules[i].what != head.what)
        i++;
    if (i == n_rule ||
        !take(&c, data, 4 * ((size_t)rules[i].pid_word + 1), "an event is too short"))
        return;
    cpubind_proc_event found = {.kind = rules[i].kind};
    if (found.kind == CPUBIND_PROC_EVENT_ANSWER) {
        found.ack = ack;
        found.error = data[0];
    } else {
        found.pid = data[rules[i].pid_word];
        found.tid = data[rules[i].tid_word];
        if (found.pid < 0 || found.tid < 0)
            (void)cursor_fail(&c, CPUBIND_TEXT_ERR_RANGE, c.at, "a number is negative");
        if (found.pid <= 0 || found.tid <= 0)
            return;
    }
    add(list, n, found);
}

/*   message = length type flags seq port body, body: idx val seq ack size flags event
 * Moves past it and its pad. */
static void read_message(cursor *c, cpubind_proc_event_list *list, int32_t *n)
{
    const int32_t start = c->at;
    message head;
    connector body;
    cursor rest = *c;
    if (!take(&rest, &head, sizeof head, "a message is too short"))
        return;
    if (head.length < sizeof head || head.length > (uint32_t)cursor_len(c)) {
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_CUT, start,
                          "the length of a message is not right");
        return;
    }
    rest.end = start + (int32_t)head.length;
    c->at = start + (int32_t)((head.length + 3) & ~3u);
    if (head.type == TYPE_OVERRUN)
        add(list, n, (cpubind_proc_event){.kind = CPUBIND_PROC_EVENT_LOST});
    if (head.type != TYPE_DONE || !take(&rest, &body, sizeof body, "a message is too short"))
        return;
    if (body.size > cursor_len(&rest))
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_CUT, rest.at,
                          "an event is longer than its message");
    rest.end = rest.at + body.size;
    if (cursor_ok(c) && body.idx == 1 && body.val == 1)
        read_event(rest, body.ack, list, n);
}

cpubind_text_status cpubind_proc_connector_parse(const char *text, int32_t len,
                                                 cpubind_proc_event_list *list,
                                                 cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c =
        cursor_open(&of, text, len, fault, list && cursor_is_array(list->out, list->cap));
    int32_t n = 0;
    do
        read_message(&c, list, &n);
    while (cursor_left(&c));
    if (!cursor_ok(&c))
        return of.status;
    list->n = n;
    return cursor_room(&c, n, list->cap);
}
