/* doctor_input.c - how the checks ask for inputs, and say what they found or could not read
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source. An input that is not there is noted by doctor_lack, once a check.
 */
#include "../text/cpulist.h"
#include "../text/cursor.h"
#include "../text/procfs.h"
#include "doctor_parts.h"

/* == Findings =============================================================== */

cpubind_doctor_finding *doctor_find(doctor *d)
{
    cpubind_doctor_report *report = d->report;
    cpubind_doctor_finding *f = &report->finding[report->n_finding];
    memset(f, 0, sizeof *f);
    f->check = d->check;
    f->evidence = f->command = "";
    f->pid = f->tid = -1;
    if (d->n_found++ < CPUBIND_DOCTOR_MAX_FINDINGS)
        report->n_finding++;
    else
        report->n_more++;
    return f;
}

void doctor_lack(doctor *d, const char *input, cpubind_input answer)
{
    if (!d->request->is_live || answer.state != CPUBIND_INPUT_ABSENT)
        doctor_gap(d, input, answer);
}

void doctor_gap(doctor *d, const char *input, cpubind_input answer)
{
    cpubind_doctor_unknown *u = &d->report->unknown[d->report->n_unknown];
    if (d->is_unknown)
        return;
    d->is_unknown = 1;
    d->report->n_unknown++;
    u->check = d->check;
    u->input = input ? doctor_keep(d, input) : NULL;
    u->state = answer.state;
    u->error = answer.error;
}

int doctor_has_plan(doctor *d)
{
    if (!d->plan)
        doctor_lack(d, NULL, (cpubind_input){.state = CPUBIND_INPUT_FAILED});
    return d->plan != NULL;
}

int doctor_has_cores(doctor *d)
{
    if (!d->facts->core_of)
        doctor_lack(d, "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
                    (cpubind_input){.state = CPUBIND_INPUT_ABSENT});
    return d->facts->core_of != NULL;
}

int doctor_has_cgroup(doctor *d)
{
    const cpubind_problem *problem = d->facts ? &d->facts->unread_cgroup : NULL;
    if (problem && problem->code != CPUBIND_PROBLEM_NONE)
        doctor_lack(d, problem->input, problem->answer);
    return problem && problem->code == CPUBIND_PROBLEM_NONE;
}

/* == Inputs ================================================================= */

int doctor_read(doctor *d, const char *input, cpubind_input *out)
{
    *out = d->source->read(d->source->ctx, input);
    if (out->state == CPUBIND_INPUT_PRESENT)
        return 1;
    doctor_lack(d, input, *out);
    return 0;
}

int doctor_list(doctor *d, const char *folder, cpubind_input *out)
{
    *out = d->source->list(d->source->ctx, folder);
    if (out->state == CPUBIND_INPUT_PRESENT)
        return 1;
    doctor_lack(d, folder, *out);
    return 0;
}

int32_t doctor_read_cpus(doctor *d, const char *input)
{
    cpubind_int_list list = {d->cpu, CPUBIND_MAX_CPUS, 0};
    cpubind_input answer;
    if (!doctor_read(d, input, &answer))
        return -1;
    if (cpubind_cpulist_parse(answer.data, answer.len, CPUBIND_MAX_CPUS, &list, NULL) ==
        CPUBIND_TEXT_OK)
        return list.n;
    doctor_lack(d, input, answer);
    return -1;
}

const char *doctor_value(doctor *d, cpubind_input answer)
{
    doctor_text text = {.len = 0};
    int32_t n = answer.len;
    while (n > 0 && (answer.data[n - 1] == '\n' || answer.data[n - 1] == ' '))
        n--;
    doctor_add_bytes(&text, answer.data, n);
    return doctor_keep(d, text.text);
}

int doctor_next_line(cpubind_input listing, int32_t *at, cpubind_piece *line)
{
    cursor_text of;
    cursor c = cursor_open(&of, listing.data, listing.len, NULL, 1), next;
    c.at = *at;
    if (!cursor_line(&c, &next))
        return 0;
    *at = c.at;
    *line = cursor_piece(next);
    return 1;
}

int32_t doctor_number(const char *text, cpubind_piece slice)
{
    int32_t number;
    if (slice.len < 1 || text[slice.at] < '0' || text[slice.at] > '9' ||
        cpubind_number_parse(text + slice.at, slice.len, &number, NULL) != CPUBIND_TEXT_OK)
        return -1;
    return number;
}

cpubind_piece doctor_field(cpubind_input status, const char *key)
{
    cursor_text of;
    cursor c = cursor_open(&of, status.data, status.len, NULL, 1), line;
    while (cursor_line(&c, &line))
        if (cursor_takes(&line, key) && cursor_takes(&line, ":")) {
            cursor_skip_blanks(&line);
            return cursor_piece(line);
        }
    return (cpubind_piece){0, 0};
}

int doctor_is(const char *bytes, int32_t len, const char *text)
{
    return (size_t)len == strlen(text) && memcmp(bytes, text, (size_t)len) == 0;
}

int doctor_has(const int32_t *list, int32_t n, int32_t number)
{
    int32_t low = 0;
    while (n - low > 0) {
        const int32_t middle = low + (n - low) / 2;
        if (list[middle] == number)
            return 1;
        if (list[middle] < number)
            low = middle + 1;
        else
            n = middle;
    }
    return 0;
}

cpubind_cpus doctor_role(const doctor *d, int32_t row, cpubind_role role)
{
    const cpubind_span span = d->plan->role_span[row].span[role];
    return (cpubind_cpus){d->plan->role_cpu + d->plan->role_row[row] + span.first, span.count};
}
