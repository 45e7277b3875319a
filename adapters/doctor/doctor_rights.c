/* doctor_rights.c - checks of the rights of a container: seccomp, SYS_NICE, /proc/irq
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source. Nothing is tried: the capabilities that the container can have are
 * CapBnd of /proc/self/status, and how /proc/irq is mounted is in /proc/self/mountinfo. On a
 * host all capabilities are in CapBnd, of an ordinary user too.
 */
#include "doctor_parts.h"

enum { CAP_SYS_NICE = 23, SECCOMP_FILTER = 2 };

/* Whether the bounding set lacks a capability; -1: not known. */
static int lacks(cpubind_slice set, const char *text, int bit)
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
    cpubind_slice bound, seccomp;
    cpubind_input status;
    doctor_text value = {"", 0};
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
static cpubind_slice mount_field(const char *text, cpubind_slice line, int32_t n)
{
    const int32_t end = line.at + line.len;
    int32_t at = line.at, stop;
    for (int32_t field = 1; field < n && at < end; at++)
        field += text[at] == ' ';
    for (stop = at; stop < end && text[stop] != ' ';)
        stop++;
    return (cpubind_slice){at, stop - at};
}

enum { FIELD_POINT = 5, FIELD_OPTIONS = 6 };

void doctor_check_proc_irq(doctor *d)
{
    static const char input[] = "proc/self/mountinfo";
    cpubind_slice line, found = {0, 0};
    cpubind_doctor_finding *f;
    doctor_text value = {"", 0};
    cpubind_input answer;
    int is_read_only = 0;
    if (!doctor_read(d, input, &answer))
        return;
    /* A later mount on /proc hides what was mounted below it before. */
    for (int32_t at = 0; doctor_next_line(answer, &at, &line);) {
        const cpubind_slice point = mount_field(answer.data, line, FIELD_POINT);
        const cpubind_slice options = mount_field(answer.data, line, FIELD_OPTIONS);
        const char *bytes = answer.data + point.at;
        if (!doctor_is(bytes, point.len, "/proc") && !doctor_is(bytes, point.len, "/proc/irq"))
            continue;
        found = line;
        is_read_only = options.len >= 2 && memcmp(answer.data + options.at, "ro", 2) == 0 &&
                       (options.len == 2 || answer.data[options.at + 2] == ',');
    }
    if (found.len == 0)
        doctor_gap(d, input, answer);
    if (!is_read_only)
        return;
    doctor_add_bytes(&value, answer.data + found.at, found.len);
    f = doctor_find(d);
    f->input = input;
    f->value = doctor_keep(d, value.text);
    f->evidence = "/proc/irq is mounted read-only: interrupts cannot be moved from here";
    f->command = "docker run --security-opt systempaths=unconfined IMAGE";
}
