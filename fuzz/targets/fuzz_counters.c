/* fuzz_counters.c - fuzz target: what the kernel counts of a thread and of CPUs
 * SPDX-License-Identifier: MIT
 *
 * Each of the three readers of adapters/text/counters.h reads the whole input.
 */
#include "../fuzz.h"

#include "../../adapters/text/counters.h"

/* What was read is filled when all is well, and untouched when it is not. */
static void check(cpubind_text_status status, const void *out, size_t size,
                  cpubind_text_fault *fault, int32_t len)
{
    const unsigned char *byte = (const unsigned char *)out;
    CHECK(status != CPUBIND_TEXT_ERR_ARG && status != CPUBIND_TEXT_ERR_SPACE);
    if (status == CPUBIND_TEXT_OK) {
        CHECK(fault->offset == -7 && !fault->what);
        return;
    }
    for (size_t i = 0; i < size; i++)
        CHECK(byte[i] == FUZZ_FILL);
    fuzz_check_fault(fault, len);
}

static void check_schedstat(const char *text, int32_t len)
{
    cpubind_text_fault fault = {-7, NULL};
    cpubind_schedstat out;
    char again[80];
    cpubind_text_status status;
    memset(&out, FUZZ_FILL, sizeof out);
    status = cpubind_schedstat_parse(text, len, &out, &fault);
    check(status, &out, sizeof out, &fault, len);
    if (status != CPUBIND_TEXT_OK)
        return;
    CHECK(snprintf(again, sizeof again, "%llu %llu %llu\n", (unsigned long long)out.run_ns,
                   (unsigned long long)out.wait_ns, (unsigned long long)out.slices) == len);
    CHECK(memcmp(again, text, (size_t)len) == 0);
}

static void check_text(const char *text, int32_t len)
{
    static const int32_t cpu[] = {0, 1, 3};
    cpubind_text_fault fault = {-7, NULL};
    cpubind_cpu_times times, one;
    cpubind_cpu_events events, part;
    cpubind_text_status status;
    check_schedstat(text, len);
    memset(&times, FUZZ_FILL, sizeof times);
    status = cpubind_cpu_times_parse(text, len, cpu, 3, &times, &fault);
    check(status, &times, sizeof times, &fault, len);
    if (status == CPUBIND_TEXT_OK &&
        cpubind_cpu_times_parse(text, len, cpu, 1, &one, NULL) == CPUBIND_TEXT_OK)
        CHECK(one.irq + one.softirq + one.steal <= one.all);
    fault = (cpubind_text_fault){-7, NULL};
    memset(&events, FUZZ_FILL, sizeof events);
    status = cpubind_cpu_events_parse(text, len, cpu, 3, &events, &fault);
    check(status, &events, sizeof events, &fault, len);
    if (status == CPUBIND_TEXT_OK) {
        CHECK(cpubind_cpu_events_parse(text, len, cpu, 1, &part, NULL) == CPUBIND_TEXT_OK);
        CHECK(part.numbered <= events.numbered && part.named <= events.named);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
