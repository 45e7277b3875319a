/* doctor_rules.c - the checks of records: by plans of which rules, and of which devices
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source. Of a record it reads the lines "process PID START", "rules WORD",
 * "npu N" and "pci ADDRESS" alone, as adapters/linux/bind writes them; one without a line says
 * nothing of it. No folder is no record. A record of a process that has ended does not count.
 */
#include "../text/procfs.h"
#include "doctor_parts.h"

#define RECORDS "run/cpubind"
#define USERS   "run/user"

/* Processes that are bound by the rules of the first record, and by others. */
typedef struct counting {
    doctor *d;
    const char *rules[2]; /* of the first record, and the first others; NULL: none */
    int32_t n[2], pid[2];
} counting;

/* The rest of the line that begins with a word; len 0: there is none. */
static cpubind_piece rest_of_line(cpubind_input record, const char *word)
{
    const int32_t n = (int32_t)strlen(word);
    cpubind_piece line;
    for (int32_t at = 0; doctor_next_line(record, &at, &line);)
        if (line.len > n && memcmp(record.data + line.at, word, (size_t)n) == 0)
            return (cpubind_piece){line.at + n, line.len - n};
    return (cpubind_piece){0, 0};
}

/* Whether the process of a record lives: its start is that of the record, "PID START". */
static int is_alive(doctor *d, int32_t pid, cpubind_input record)
{
    const cpubind_piece process = rest_of_line(record, "process ");
    const char *at = record.data + process.at, *const end = at + process.len;
    doctor_text name = {.len = 0};
    cpubind_input answer;
    cpubind_stat stat;
    uint64_t start = 0;
    doctor_add(&name, "proc/%d/stat", (int)pid);
    answer = d->source->read(d->source->ctx, name.text);
    if (answer.state != CPUBIND_INPUT_PRESENT ||
        cpubind_stat_parse(answer.data, answer.len, &stat, NULL) != CPUBIND_TEXT_OK)
        return 0;
    while (at < end && *at != ' ')
        at++;
    for (at++; at < end && *at >= '0' && *at <= '9'; at++)
        start = start * 10 + (uint64_t)(*at - '0');
    return process.len > 0 && start == stat.start;
}

/* Reads the record of a process. Returns whether there is one, and its process lives. */
static int read_record(doctor *d, const char *path, int32_t pid, cpubind_input *out)
{
    *out = d->source->read(d->source->ctx, path);
    if (out->state != CPUBIND_INPUT_PRESENT && out->state != CPUBIND_INPUT_ABSENT)
        doctor_gap(d, path, *out);
    return out->state == CPUBIND_INPUT_PRESENT && is_alive(d, pid, *out);
}

static void count_record(counting *c, const char *path, int32_t pid)
{
    doctor *d = c->d;
    doctor_text word = {.len = 0};
    cpubind_input record;
    cpubind_piece rules;
    int is_other;
    if (!read_record(d, path, pid, &record))
        return;
    rules = rest_of_line(record, "rules ");
    if (rules.len == 0)
        return;
    doctor_add_bytes(&word, record.data + rules.at, rules.len);
    is_other = c->rules[0] && !doctor_is(word.text, word.len, c->rules[0]);
    if (c->n[is_other]++ == 0) {
        c->rules[is_other] = doctor_keep(d, word.text);
        c->pid[is_other] = pid;
    }
}

/* Lists a folder. The absence of one is no lack: then nothing is bound. */
static int list(counting *c, const char *folder, cpubind_input *out)
{
    *out = c->d->source->list(c->d->source->ctx, folder);
    if (out->state != CPUBIND_INPUT_PRESENT && out->state != CPUBIND_INPUT_ABSENT)
        doctor_gap(c->d, folder, *out);
    return out->state == CPUBIND_INPUT_PRESENT;
}

static void count_folder(counting *c, const char *folder)
{
    static const char suffix[] = ".record";
    const int32_t n = (int32_t)sizeof suffix - 1;
    cpubind_input names;
    cpubind_piece line;
    if (!list(c, folder, &names))
        return;
    for (int32_t at = 0; doctor_next_line(names, &at, &line);) {
        const cpubind_piece number = {line.at, line.len - n};
        const int32_t pid =
            line.len > n && doctor_is(names.data + line.at + number.len, n, suffix)
                ? doctor_number(names.data, number)
                : -1;
        doctor_text path = {.len = 0};
        doctor_add(&path, "%s/%d.record", folder, (int)pid);
        if (pid > 0)
            count_record(c, path.text, pid);
    }
}

void doctor_check_rules(doctor *d)
{
    counting c = {.d = d};
    doctor_text evidence = {.of = d}, command = {.of = d};
    cpubind_doctor_finding *f;
    cpubind_input users;
    cpubind_piece line;
    count_folder(&c, RECORDS);
    if (list(&c, USERS, &users))
        for (int32_t at = 0; doctor_next_line(users, &at, &line);) {
            doctor_text folder = {.len = 0};
            doctor_add(&folder, "%s/%d/cpubind", USERS, (int)doctor_number(users.data, line));
            if (doctor_number(users.data, line) >= 0)
                count_folder(&c, folder.text);
        }
    if (c.n[1] == 0)
        return;
    doctor_add(&evidence, "bound by the rules %s: %d, process %d is the first; ", c.rules[0],
               (int)c.n[0], (int)c.pid[0]);
    doctor_add(&evidence, "by %s: %d, process %d is the first", c.rules[1], (int)c.n[1],
               (int)c.pid[1]);
    doctor_add(&command, "cpubind restore --all; export CPUBIND_RULES=%s; cpubind apply --all",
               d->plan ? cpubind_rules_word(d->plan->rules) : c.rules[0]);
    f = doctor_find(d);
    f->pid = c.pid[1];
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = doctor_keep_text(d, &command);
    f->number[0] = (cpubind_doctor_number){"processes", c.n[0]};
    f->number[1] = (cpubind_doctor_number){"others", c.n[1]};
}

/* == Devices ================================================================ */

/* Whether a record is of a binding to one of the devices that its process uses, those of worker
 * i and of the workers after it; also one that names no device. */
static int is_of_its_device(const doctor *d, int32_t i, cpubind_input record)
{
    const cpubind_piece npu = rest_of_line(record, "npu "), pci = rest_of_line(record, "pci ");
    for (int32_t k = i; k < d->n_worker; k++) {
        const doctor_worker *w = &d->worker[k];
        char address[CPUBIND_PCI_ADDRESS_MAX];
        if (w->pid != d->worker[i].pid)
            continue;
        (void)cpubind_pci_format(address, &w->facts->device[w->npu]->pci);
        if (npu.len > 0 ? doctor_number(record.data, npu) == w->facts->device[w->npu]->logic
                        : pci.len == 0 || doctor_is(record.data + pci.at, pci.len, address))
            return 1;
    }
    return 0;
}

static void check_device(doctor *d, int32_t i)
{
    const doctor_worker *w = &d->worker[i];
    doctor_text path = {.len = 0}, evidence = {.of = d}, command = {.of = d};
    cpubind_input record;
    cpubind_piece of;
    doctor_add(&path, "%s/%d.record", RECORDS, (int)w->pid);
    if (!read_record(d, path.text, w->pid, &record) || is_of_its_device(d, i, record))
        return;
    of = rest_of_line(record, "npu ");
    doctor_add(&evidence, "process %d uses %s, and is bound to the CPUs of %s", (int)w->pid,
               doctor_name(d, w), of.len > 0 ? "npu" : "");
    if (of.len == 0)
        of = rest_of_line(record, "pci ");
    doctor_add_bytes(&evidence, record.data + of.at, of.len);
    doctor_add_apply(d, w, &command);
    doctor_find_of(d, w, &evidence, &command)->input = doctor_keep(d, path.text);
}

void doctor_check_device(doctor *d)
{
    for (int32_t i = 0; doctor_has_workers(d) && i < d->n_worker; i++) {
        int is_done = 0;
        for (int32_t k = 0; k < i; k++)
            is_done |= d->worker[k].pid == d->worker[i].pid;
        if (!is_done)
            check_device(d, i);
    }
}
