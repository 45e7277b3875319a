/* irq.c - which CPUs serve an interrupt
 * SPDX-License-Identifier: MIT
 *
 * Reads and writes small files of /proc/irq.
 */
#define _GNU_SOURCE
#include "irq.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "../common.h"

#define NAME_SIZE 64

static void name_of(int32_t irq, const char *file, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "proc/irq/%d/%s", (int)irq, file);
}

/* The list in a file of the interrupt; NONE when it is empty. 0 or an errno. */
static int read_list(cpubind_root *root, int32_t irq, const char *file, cpubind_cpu_sets *sets,
                     int32_t *set)
{
    char name[NAME_SIZE];
    cpubind_bytes bytes = {NULL, 0, 0};
    name_of(irq, file, name);
    int error = cpubind_input_error(cpubind_root_read(root, name, &bytes));
    if (!error && (bytes.len == 0 || (bytes.len == 1 && bytes.data[0] == '\n'))) {
        *set = CPUBIND_CPUSET_NONE;
    } else if (!error) {
        int32_t found = cpubind_cpu_sets_of_text(sets, root->sys, bytes.data, bytes.len);
        if (found >= 0)
            *set = found;
        else
            error = found == CPUBIND_CPUSET_NO_MEMORY ? ENOMEM : EILSEQ;
    }
    cpubind_bytes_free(&bytes);
    return error;
}

int cpubind_irq_read(cpubind_root *root, int32_t irq, cpubind_cpu_sets *sets, int32_t *set)
{
    int32_t found = CPUBIND_CPUSET_NONE;
    int error = read_list(root, irq, "smp_affinity_list", sets, &found);
    if (!error && found < 0)
        error = EILSEQ; /* it is never empty */
    if (!error)
        *set = found;
    return error;
}

int cpubind_irq_read_effective(cpubind_root *root, int32_t irq, cpubind_cpu_sets *sets,
                               int32_t *set)
{
    int error = read_list(root, irq, "effective_affinity_list", sets, set);
    if (error == ENOENT) {
        *set = CPUBIND_CPUSET_NONE;
        error = 0;
    }
    return error;
}

/* In one call: each write to the file is a list of its own. 0 or an errno. */
static int write_once(const cpubind_sys *sys, int fd, const char *text, size_t len)
{
    ssize_t n;
    do
        n = sys->write(fd, text, len);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno;
    return (size_t)n == len ? 0 : EIO;
}

int cpubind_irq_write(cpubind_root *root, int32_t irq, const cpubind_cpu_set *set)
{
    char name[NAME_SIZE];
    cpubind_bytes bytes = {NULL, 0, 0};
    size_t len = strlen(set->text);
    if (cpubind_bytes_reserve(&bytes, root->sys, (int32_t)len + 1))
        return ENOMEM;
    memcpy(bytes.data, set->text, len);
    bytes.data[len] = '\n';
    name_of(irq, "smp_affinity_list", name);
    int fd = cpubind_openat_retry(root->sys, root->fd, name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    int error = fd < 0 ? errno : write_once(root->sys, fd, bytes.data, len + 1);
    if (fd >= 0)
        root->sys->close(fd); /* the write said it all */
    cpubind_bytes_free(&bytes);
    return error;
}
