/* doctor_rights.c - checks of rights: seccomp, SYS_NICE, /proc/irq, processes that are hidden
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source. Nothing is tried: the capabilities that the container can have are
 * CapBnd of /proc/self/status, and how /proc/irq is mounted is in /proc/self/mountinfo. On a
 * host all capabilities are in CapBnd, of an ordinary user too. The mount option hidepid is
 * that of filesystems/proc.rst: it hides nothing from a process with the capability SYS_PTRACE.
 */
#include "doctor_parts.h"

enum { CAP_SYS_PTRACE = 19, CAP_SYS_NICE = 23, SECCOMP_FILTER = 2 };

static const char input_mounts[] = "proc/self/mountinfo";

/* Whether the bounding set lacks a capability; -1: not known. */
static int lacks(cpubind_piece set, const char *text, int bit)
{
    const int32_t at = set.at + set.len - 1 - bit / 4;
    int digit;
    if (set.len != 16)
        return -1;
    digit = text[at] <= '9' ? text[at] - '0' : text[at] - 'a' + 10;
    return !(digit >> bit % 4 & 1);
}

/* Finds a missing SYS_NICE in a process with a filter of system calls, or without one. */
static void check_nice(doctor *d, int has_filter, const char *evidence, const char *command)
{
    cpubind_doctor_finding *f;
    cpubind_piece bound, seccomp;
    cpubind_input status;
    doctor_text value = {.len = 0};
    int lack;
    if (!doctor_read(d, INPUT_STATUS, &status))
        return;
    bound = doctor_field(status, "CapBnd");
    seccomp = doctor_field(status, "Seccomp");
    lack = lacks(bound, status.data, CAP_SYS_NICE);
    if (lack < 0) {
        doctor_gap(d, INPUT_STATUS, status);
        return;
    }
    if (!lack || has_filter != (doctor_number(status.data, seccomp) == SECCOMP_FILTER))
        return;
    doctor_add(&value, "CapBnd: ");
    doctor_add_bytes(&value, status.data + bound.at, bound.len);
    f = doctor_find(d);
    f->input = INPUT_STATUS;
    f->value = doctor_keep(d, value.text);
    f->evidence = evidence;
    f->command = command;
}

void doctor_check_seccomp(doctor *d)
{
    check_nice(d, 1,
               "a filter of system calls (seccomp) is in effect, and this container has no "
               "capability SYS_NICE: the filters of Docker and containerd then refuse "
               "set_mempolicy and move_pages",
               "docker run --cap-add SYS_NICE --security-opt seccomp=unconfined IMAGE");
}

void doctor_check_sys_nice(doctor *d)
{
    check_nice(
        d, 0,
        "this container has no capability SYS_NICE: threads and memory of another user's "
        "process cannot be moved",
        "docker run --cap-add SYS_NICE IMAGE");
}

/* Field `n` of a line of mountinfo, from 1 on. */
static cpubind_piece mount_field(const char *text, cpubind_piece line, int32_t n)
{
    const int32_t end = line.at + line.len;
    int32_t at = line.at, stop;
    for (int32_t field = 1; field < n && at < end; at++)
        field += text[at] == ' ';
    for (stop = at; stop < end && text[stop] != ' ';)
        stop++;
    return (cpubind_piece){at, stop - at};
}

enum { FIELD_POINT = 5, FIELD_OPTIONS = 6 };

void doctor_check_proc_irq(doctor *d)
{
    cpubind_piece line, found = {0, 0};
    cpubind_doctor_finding *f;
    doctor_text value = {.len = 0};
    cpubind_input answer;
    int is_read_only = 0;
    if (!doctor_read(d, input_mounts, &answer))
        return;
    /* A later mount on /proc hides what was mounted below it before. */
    for (int32_t at = 0; doctor_next_line(answer, &at, &line);) {
        const cpubind_piece point = mount_field(answer.data, line, FIELD_POINT);
        const cpubind_piece options = mount_field(answer.data, line, FIELD_OPTIONS);
        const char *bytes = answer.data + point.at;
        if (!doctor_is(bytes, point.len, "/proc") && !doctor_is(bytes, point.len, "/proc/irq"))
            continue;
        found = line;
        is_read_only = options.len >= 2 && memcmp(answer.data + options.at, "ro", 2) == 0 &&
                       (options.len == 2 || answer.data[options.at + 2] == ',');
    }
    if (found.len == 0)
        doctor_gap(d, input_mounts, answer);
    if (!is_read_only)
        return;
    doctor_add_bytes(&value, answer.data + found.at, found.len);
    f = doctor_find(d);
    f->input = input_mounts;
    f->value = doctor_keep(d, value.text);
    f->evidence = "/proc/irq is mounted read-only: interrupts cannot be moved from here";
    f->command = "docker run --security-opt systempaths=unconfined IMAGE";
}

/* == Hidden processes ======================================================= */

/* The value of an option ("gid=") of a line of mountinfo; len 0: there is none. */
static cpubind_piece find_option(const char *text, cpubind_piece line, const char *word)
{
    const int32_t n = (int32_t)strlen(word), end = line.at + line.len;
    for (int32_t at = line.at + 1, stop; at + n < end; at++) {
        if ((text[at - 1] != ',' && text[at - 1] != ' ') ||
            memcmp(text + at, word, (size_t)n) != 0)
            continue;
        at += n;
        for (stop = at; stop < end && text[stop] != ',' && text[stop] != ' ';)
            stop++;
        return (cpubind_piece){at, stop - at};
    }
    return (cpubind_piece){0, 0};
}

/* Whether a number is among those of a field of a status file: "4 24 27". */
static int has_group(cpubind_input status, const char *key, int32_t group)
{
    const cpubind_piece field = doctor_field(status, key);
    const int32_t end = field.at + field.len;
    for (int32_t at = field.at, stop; at < end; at = stop + 1) {
        for (stop = at; stop < end && status.data[stop] != ' ' && status.data[stop] != '\t';)
            stop++;
        if (doctor_number(status.data, (cpubind_piece){at, stop - at}) == group)
            return 1;
    }
    return 0;
}

/* Whether the mount that is visible as /proc hides processes of other users from cpubind; -1:
 * not known, for `status` does not say. *option is the value of hidepid. */
static int is_hidden(cpubind_input mounts, cpubind_input status, cpubind_piece *option)
{
    const char *bytes = mounts.data;
    cpubind_piece line, mount = {0, 0};
    int32_t group;
    for (int32_t at = 0; doctor_next_line(mounts, &at, &line);) {
        const cpubind_piece point = mount_field(bytes, line, FIELD_POINT);
        if (doctor_is(bytes + point.at, point.len, "/proc"))
            mount = line;
    }
    *option = find_option(bytes, mount, "hidepid=");
    if (option->len == 0 || doctor_is(bytes + option->at, option->len, "0") ||
        doctor_is(bytes + option->at, option->len, "off"))
        return 0;
    if (status.state != CPUBIND_INPUT_PRESENT)
        return -1;
    group = doctor_number(bytes, find_option(bytes, mount, "gid="));
    if (group >= 0 && !doctor_is(bytes + option->at, option->len, "4") &&
        !doctor_is(bytes + option->at, option->len, "ptraceable") &&
        (has_group(status, "Gid", group) || has_group(status, "Groups", group)))
        return 0;
    return lacks(doctor_field(status, "CapEff"), status.data, CAP_SYS_PTRACE);
}

int doctor_is_hiding(doctor *d)
{
    const cpubind_input mounts = d->source->read(d->source->ctx, input_mounts);
    cpubind_piece option;
    return mounts.state == CPUBIND_INPUT_PRESENT &&
           is_hidden(mounts, d->source->read(d->source->ctx, INPUT_STATUS), &option) != 0;
}

void doctor_check_hidepid(doctor *d)
{
    doctor_text value = {.len = 0};
    cpubind_doctor_finding *f;
    cpubind_input mounts, status;
    cpubind_piece option;
    int hidden;
    if (!doctor_read(d, input_mounts, &mounts))
        return;
    status = d->source->read(d->source->ctx, INPUT_STATUS);
    hidden = is_hidden(mounts, status, &option);
    if (hidden < 0)
        doctor_gap(d, INPUT_STATUS, status);
    if (hidden <= 0)
        return;
    doctor_add(&value, "hidepid=");
    doctor_add_bytes(&value, mounts.data + option.at, option.len);
    f = doctor_find(d);
    f->input = input_mounts;
    f->value = doctor_keep(d, value.text);
    f->evidence = "/proc is mounted with hidepid, and cpubind has no capability SYS_PTRACE: "
                  "processes of other users are hidden";
    f->command = lacks(doctor_field(status, "CapBnd"), status.data, CAP_SYS_PTRACE) == 1
                     ? "docker run --cap-add SYS_PTRACE IMAGE"
                     : "sudo cpubind doctor";
}
