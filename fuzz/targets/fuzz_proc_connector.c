/* fuzz_proc_connector.c - fuzz target: parse a datagram of the proc connector
 * SPDX-License-Identifier: MIT
 *
 * The format is in adapters/text/proc_connector.h.
 */
#include "../fuzz.h"

#include "../../adapters/text/proc_connector.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_proc_event_list list = {(cpubind_proc_event *)r->array[0].at, r->array[0].cap,
                                    r->array[0].n};
    const cpubind_text_status status = cpubind_proc_connector_parse(text, len, &list, fault);
    (void)limit;
    r->array[0].n = list.n;
    return status;
}

/* Numbers are in their ranges, and no datagram has more events than headers fit in it. */
static void check_events(int32_t len, const cpubind_proc_event *event, int32_t n)
{
    CHECK(n <= len / 16);
    for (int32_t i = 0; i < n; i++) {
        const cpubind_proc_event *e = &event[i];
        const int is_thread =
            e->kind != CPUBIND_PROC_EVENT_ANSWER && e->kind != CPUBIND_PROC_EVENT_LOST;
        CHECK(e->kind <= CPUBIND_PROC_EVENT_END);
        CHECK(is_thread ? e->pid > 0 && e->tid > 0 : e->pid == 0 && e->tid == 0);
        CHECK(e->kind == CPUBIND_PROC_EVENT_ANSWER || (e->ack | e->error) == 0);
    }
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 1, {sizeof(cpubind_proc_event), 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        check_events(len, (const cpubind_proc_event *)r.array[0].at, r.array[0].n);
        fuzz_end(&r);
    }
    CHECK(cpubind_proc_connector_parse(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
