/* npu_processes.c - which processes use which NPU
 * SPDX-License-Identifier: MIT
 *
 * Reads two inputs of the host; decides nothing about a process. Rules: driver_files.h,
 * npusmi.h.
 */
#include "npu_processes.h"

#include "ascend_reader.h"
#include "driver_files.h"

#define INPUT_TRS "proc/trs_core/proc"

/* One reading. */
typedef struct reading {
    facts_reader r; /* of source, arena and problem */
    const cpubind_facts *facts;
    cpubind_users *out;
} reading;

/* Fails because an input does not tell who uses the NPUs. */
static cpubind_problem_code fail_without(reading *r, const char *input, cpubind_input answer)
{
    const cpubind_problem_code code = facts_judge(&r->r, input, answer);
    return code == CPUBIND_PROBLEM_NONE
               ? facts_fail_input(&r->r, input, answer, -1, "it is not there")
               : code;
}

static int32_t find_phy(const cpubind_facts *f, int32_t phy)
{
    for (int32_t i = 0; i < f->n_listed; i++)
        if (f->device[i]->phy == phy)
            return i;
    return -1;
}

/* A part of an NPU has the number phy * 16 + part + CPUBIND_DRIVER_VIRTUAL. */
static int32_t find_udevid(const cpubind_facts *f, int32_t udevid)
{
    const int32_t i = find_phy(f, udevid);
    return i >= 0 || udevid < CPUBIND_DRIVER_VIRTUAL
               ? i
               : find_phy(f, (udevid - CPUBIND_DRIVER_VIRTUAL) / 16);
}

static int32_t find_chip(const cpubind_facts *f, const cpubind_npusmi_row *process)
{
    for (int32_t i = 0; i < f->n_listed; i++)
        if (facts_is_row_of(process, f->device[i]))
            return i;
    return -1;
}

/* Adds a pair at its place, unless the list has it. */
static void add(reading *r, int32_t pid, int32_t npu)
{
    cpubind_users *out = r->out;
    int32_t at = out->n;
    if (npu < 0) {
        out->n_elsewhere++;
        return;
    }
    if (pid <= 0) {
        out->n_hidden++;
        return;
    }
    while (at > 0 && (out->row[at - 1].device > npu ||
                      (out->row[at - 1].device == npu && out->row[at - 1].pid > pid)))
        at--;
    if (at > 0 && out->row[at - 1].device == npu && out->row[at - 1].pid == pid)
        return;
    memmove(out->row + at + 1, out->row + at, (size_t)(out->n - at) * sizeof *out->row);
    out->row[at] = (cpubind_user){pid, npu};
    out->n++;
}

static int has_room(reading *r, int32_t n)
{
    r->out->row = (cpubind_user *)cpubind_arena_take(r->r.arena, n, sizeof *r->out->row);
    return r->out->row != NULL;
}

static cpubind_problem_code read_listing(reading *r, cpubind_input listing)
{
    cursor_text of;
    cursor c = cursor_open(&of, listing.data, listing.len, NULL, 1);
    if (!has_room(r, facts_count_names(listing) + 1))
        return facts_fail_memory(&r->r);
    while (cursor_left(&c)) {
        const cursor line = cursor_cut(&c, '\n');
        cpubind_driver_process p;
        cpubind_text_fault fault;
        const cpubind_text_status status =
            cpubind_driver_parse_process(line.text + line.at, cursor_len(&line), &p, &fault);
        if (status == CPUBIND_TEXT_OK)
            add(r, p.pid, find_udevid(r->facts, p.udevid));
        else if (status == CPUBIND_TEXT_ERR_RANGE)
            return facts_fail_input(&r->r, INPUT_TRS, listing, line.at + fault.offset,
                                    fault.what);
    }
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code read_table(reading *r)
{
    const cpubind_input answer = r->r.source->read(r->r.source->ctx, INPUT_INFO);
    cpubind_npusmi_info info;
    cpubind_text_fault fault = {-1, NULL};
    cpubind_problem_code code;
    if (answer.state != CPUBIND_INPUT_PRESENT)
        return fail_without(r, INPUT_INFO, answer);
    code = facts_judge_text(
        &r->r, INPUT_INFO, answer,
        cpubind_npusmi_parse_info(answer.data, answer.len, r->r.arena, &info, &fault), &fault);
    if (code == CPUBIND_PROBLEM_NONE)
        code = facts_judge_text(&r->r, INPUT_INFO, answer, info.process_status,
                                &info.process_fault);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (!info.has_process_table)
        return facts_fail_input(&r->r, INPUT_INFO, answer, -1,
                                "the process table is not there");
    if (!has_room(r, info.process.n + 1))
        return facts_fail_memory(&r->r);
    for (int32_t i = 0; i < info.process.n; i++)
        add(r, info.process.row[i].pid, find_chip(r->facts, &info.process.row[i]));
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_npu_processes_read(const cpubind_source *source,
                                                const cpubind_facts *facts,
                                                cpubind_arena *arena, cpubind_users *out,
                                                cpubind_problem *problem)
{
    const cpubind_input listing = source->list(source->ctx, INPUT_TRS);
    cpubind_users result = {.n = 0};
    cpubind_problem own = {.code = CPUBIND_PROBLEM_NONE};
    reading r = {.r = {.source = source, .arena = arena, .problem = problem ? problem : &own},
                 .facts = facts,
                 .out = &result};
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    cpubind_problem_clear(r.r.problem);
    result.input = INPUT_TRS;
    if (listing.state == CPUBIND_INPUT_ABSENT && facts->has_listed && facts->n_listed == 0) {
        *out = result; /* this process sees no NPU: none that it sees has a user */
    } else if (listing.state == CPUBIND_INPUT_PRESENT && facts->has_phy) {
        code = read_listing(&r, listing);
    } else if (facts->origin == CPUBIND_ORIGIN_DRIVER) {
        code = listing.state == CPUBIND_INPUT_PRESENT
                   ? facts_fail_input(&r.r, INPUT_TRS, listing, -1,
                                      "the physical ids of the NPUs are not known")
                   : fail_without(&r, INPUT_TRS, listing);
    } else {
        result.input = INPUT_INFO;
        code = read_table(&r);
    }
    if (code == CPUBIND_PROBLEM_NONE)
        *out = result;
    return code;
}
