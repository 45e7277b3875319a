/* irq.c - which interrupt of the host is meant, and the CPUs that serve it
 * SPDX-License-Identifier: MIT
 *
 * Looks up names in /sys/bus/pci/devices/<function>/msi_irqs and /proc/irq; reads and writes
 * small files of /proc/irq, and no other.
 */
#define _GNU_SOURCE
#include "irq.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"

#define NAME_SIZE 96

static void name_of(int32_t irq, const char *file, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "proc/irq/%d/%s", (int)irq, file);
}

/* == Which interrupt ======================================================== */

int cpubind_irq_is_id(const cpubind_irq_id *id)
{
    return id->function[0] && id->function[0] != '.' && id->name[0] && id->name[0] != '.' &&
           memchr(id->function, '\0', sizeof id->function) &&
           memchr(id->name, '\0', sizeof id->name) && !strchr(id->function, '/') &&
           !strchr(id->name, '/') && id->index >= 0;
}

int cpubind_irq_compare(const cpubind_irq_id *a, const cpubind_irq_id *b)
{
    int order = strcmp(a->function, b->function);
    if (order == 0)
        order = strcmp(a->name, b->name);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* Whether there is a name below the root: ENOENT when not. */
static cpubind_linux_fault look_up(const cpubind_root *root, const char *name)
{
    if (root->sys->accessat(root->fd, name, F_OK) == 0)
        return cpubind_no_fault;
    return cpubind_fault_errno("look up the interrupt");
}

static cpubind_linux_fault look_up_action(const cpubind_root *root, const cpubind_irq_id *id,
                                          int32_t irq)
{
    char name[NAME_SIZE];
    name_of(irq, id->name, name);
    return look_up(root, name);
}

cpubind_linux_fault cpubind_irq_list(cpubind_root *root, const cpubind_irq_id *id,
                                     cpubind_ids *out)
{
    char name[NAME_SIZE];
    int32_t n = 0;
    int fd;
    out->n = 0;
    snprintf(name, sizeof name, "sys/bus/pci/devices/%s/msi_irqs", id->function);
    cpubind_linux_fault why = cpubind_root_open(root, name, O_DIRECTORY, &fd);
    if (why.error == ENOENT)
        return cpubind_no_fault;
    if (!why.error) {
        why = cpubind_tasks_list(root->sys, fd, out);
        root->sys->close(fd);
    }
    for (int32_t i = 0; !why.error && i < out->n; i++) {
        why = look_up_action(root, id, out->id[i]);
        if (!why.error)
            out->id[n++] = out->id[i];
        else if (why.error == ENOENT)
            why = cpubind_no_fault;
    }
    out->n = n;
    return cpubind_fault_of(why.error, why.error == ENOMEM ? "memory" : "list the interrupts");
}

cpubind_linux_fault cpubind_irq_check(cpubind_root *root, const cpubind_irq_id *id, int32_t irq)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "sys/bus/pci/devices/%s/msi_irqs/%d", id->function, (int)irq);
    cpubind_linux_fault why = look_up(root, name);
    if (!why.error)
        why = look_up_action(root, id, irq);
    if (why.error == ENOENT)
        why.what = "gone";
    return why;
}

/* == Its CPUs =============================================================== */

/* Reads the list in a file of the interrupt into *set, which a failure leaves as it was; NONE
 * when the list is empty. */
static cpubind_linux_fault read_list(cpubind_root *root, int32_t irq, const char *file,
                                     cpubind_cpu_sets *sets, int32_t *set)
{
    char name[NAME_SIZE];
    cpubind_bytes bytes = {NULL, 0, 0};
    int32_t found = CPUBIND_CPUSET_NONE;
    name_of(irq, file, name);
    cpubind_linux_fault fault = cpubind_input_fault(cpubind_root_read(root, name, &bytes));
    if (!fault.error && bytes.len > 0 && (bytes.len > 1 || bytes.data[0] != '\n'))
        fault = cpubind_cpu_sets_of_text(sets, root->sys, bytes.data, bytes.len, &found);
    cpubind_bytes_free(&bytes);
    if (!fault.error)
        *set = found;
    return fault;
}

cpubind_linux_fault cpubind_irq_read(cpubind_root *root, int32_t irq, cpubind_cpu_sets *sets,
                                     int32_t *set)
{
    int32_t found;
    cpubind_linux_fault fault = read_list(root, irq, "smp_affinity_list", sets, &found);
    if (!fault.error && found < 0)
        fault.error = EILSEQ; /* the kernel never writes an empty list */
    if (!fault.error)
        *set = found;
    return cpubind_fault_of(fault.error,
                            fault.error == ENOMEM ? "memory" : "read smp_affinity_list");
}

cpubind_linux_fault cpubind_irq_read_effective(cpubind_root *root, int32_t irq,
                                               cpubind_cpu_sets *sets, int32_t *set)
{
    cpubind_linux_fault fault = read_list(root, irq, "effective_affinity_list", sets, set);
    if (fault.error == ENOENT) {
        *set = CPUBIND_CPUSET_NONE;
        return cpubind_no_fault;
    }
    return cpubind_fault_of(fault.error,
                            fault.error == ENOMEM ? "memory" : "read effective_affinity_list");
}

cpubind_linux_fault cpubind_irq_write(cpubind_root *root, int32_t irq,
                                      const cpubind_cpu_set *set)
{
    char name[NAME_SIZE];
    name_of(irq, "smp_affinity_list", name);
    return cpubind_write_value(root->sys, root->fd, name, set->text, "write smp_affinity_list");
}
