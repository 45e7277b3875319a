/* fuzz_doctor.c - fuzz target: the checks of cpubind doctor on a host in memory
 * SPDX-License-Identifier: MIT
 *
 * Checks the promises of doctor.h; touches no real host. The input is a text of entries, as
 * fuzz_host.h explains it. The lines before the first entry are not read, but for their number:
 * an odd one is a live host.
 */
#include "../fuzz_host.h"

#include "../../adapters/doctor/doctor.h"

enum { ARENA_KIB = 2048, SMALL_KIB = 300 };

/* A text ends in NUL and has no more bytes than one that doctor makes. */
static void check_text(const char *text)
{
    CHECK(text && strlen(text) < 4096);
}

static void check_report(const cpubind_doctor_report *report)
{
    for (int32_t i = 0; i < report->n_finding; i++) {
        const cpubind_doctor_finding *f = &report->finding[i];
        check_text(f->evidence);
        check_text(f->command);
        CHECK(f->evidence[0] && f->command[0] && f->check->word[0] && f->check->cost[0]);
        CHECK(strcmp(cpubind_severity_word(f->check->severity), "?") != 0);
        if (f->input)
            CHECK(cpubind_input_is_name(f->input));
        for (int32_t k = 1; k < f->n_cpu; k++)
            CHECK(f->cpu[k - 1] < f->cpu[k]);
        CHECK(f->npu >= -1 && f->pid >= -1 && f->tid >= -1);
        CHECK(i == 0 || report->finding[i - 1].check <= f->check);
    }
    CHECK(report->n_unknown <= report->n_check && report->n_more >= 0);
    for (int32_t i = 0; i < report->n_unknown; i++)
        CHECK(!report->unknown[i].input || report->unknown[i].input[0]);
}

/* Examines the host in an arena of `size` bytes. */
static void examine(memory_host *h, int is_live, size_t size)
{
    const cpubind_source source = {h, read_entry, list_entries};
    const cpubind_request request = {.is_auto_strategy = 1, .wants_pci = 1};
    cpubind_arena arena = {(char *)fuzz_filled((size_t)ARENA_KIB * 1024, FUZZ_FILL),
                           (size_t)ARENA_KIB * 1024, 0};
    cpubind_arena own = {(char *)fuzz_filled(size, FUZZ_OTHER), size, 0};
    cpubind_facts facts;
    cpubind_device_plan plan;
    cpubind_problem problem;
    cpubind_doctor_report report;
    const int has_facts =
        cpubind_facts_read(&source, &request, &arena, &facts, &problem) == CPUBIND_PROBLEM_NONE;
    const int has_plan = has_facts && cpubind_plan_make(&facts, &request, &arena, &plan,
                                                        &problem) == CPUBIND_PROBLEM_NONE;
    const cpubind_doctor_request asked = {.source = &source,
                                          .request = &request,
                                          .facts = has_facts ? &facts : NULL,
                                          .plan = has_plan ? &plan : NULL,
                                          .is_live = is_live,
                                          .npu_smi_ms = is_live ? 6000 : -1};
    const cpubind_problem_code code = cpubind_doctor_examine(&asked, &own, &report);
    CHECK(code == CPUBIND_PROBLEM_NONE || code == CPUBIND_PROBLEM_NO_MEMORY);
    CHECK(own.used <= own.size);
    if (code == CPUBIND_PROBLEM_NONE)
        check_report(&report);
    free(arena.base);
    free(own.base);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static memory_host host;
    const char *at = (const char *)data, *end = at + size;
    const char *first = size > 0 ? next_entry(at, end) : end;
    int is_live = 0;
    if (size == 0 || size > FUZZ_MAX_TEXT)
        return 0;
    for (; at < first; at++)
        is_live ^= *at == '\n';
    memset(&host, 0, sizeof host);
    take_entries(&host, first, end);
    examine(&host, is_live, (size_t)ARENA_KIB * 1024);
    examine(&host, is_live, (size_t)SMALL_KIB * 1024 + size % 1024 * 1024);
    free_host(&host);
    return 0;
}
