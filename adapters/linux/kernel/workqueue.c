/* workqueue.c - the CPUs that the workers of a work queue of the kernel may use
 * SPDX-License-Identifier: MIT
 *
 * Reads and writes /sys/devices/virtual/workqueue/<name>/cpumask, and no other file.
 */
#define _GNU_SOURCE
#include "workqueue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../text/cpumask.h"

#define PATH_SIZE 96

static void path_of(const char *name, char path[PATH_SIZE])
{
    (void)snprintf(path, PATH_SIZE, "sys/devices/virtual/workqueue/%s/cpumask", name);
}

int cpubind_workqueue_is_name(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/') && strlen(name) < 32;
}

/* The set of a mask as text. */
static cpubind_linux_fault set_of_mask(const cpubind_sys *sys, const cpubind_bytes *mask,
                                       cpubind_cpu_sets *sets, int32_t *set)
{
    cpubind_int_list list = {NULL, 4 * mask->len, 0}; /* a digit has four CPUs */
    cpubind_linux_fault why = cpubind_fault_of(ENOMEM, "memory");
    list.out = (int32_t *)sys->malloc((size_t)(list.cap + 1) * sizeof *list.out);
    if (list.out) {
        const cpubind_text_status status =
            cpubind_cpumask_parse(mask->data, mask->len, CPUBIND_MAX_CPUS, &list, NULL);
        why = status == CPUBIND_TEXT_OK && list.n > 0
                  ? cpubind_cpu_sets_of_list(sets, sys, list.out, list.n, set)
                  : cpubind_fault_of(EILSEQ, "mask"); /* no CPU, or no mask */
    }
    free(list.out);
    return why;
}

cpubind_linux_fault cpubind_workqueue_read(cpubind_root *root, const char *name,
                                           cpubind_cpu_sets *sets, int32_t *set)
{
    char path[PATH_SIZE];
    cpubind_bytes bytes = {NULL, 0, 0};
    int32_t found;
    path_of(name, path);
    cpubind_linux_fault why = cpubind_input_fault(cpubind_root_read(root, path, &bytes));
    if (!why.error)
        why = set_of_mask(root->sys, &bytes, sets, &found);
    cpubind_bytes_free(&bytes);
    if (!why.error)
        *set = found;
    return cpubind_fault_of(why.error, why.error == ENOMEM ? "memory" : "read the cpumask of");
}

cpubind_linux_fault cpubind_workqueue_write(cpubind_root *root, const char *name,
                                            const cpubind_cpu_set *set)
{
    static const char what[] = "write the cpumask of";
    const cpubind_sys *sys = root->sys;
    char path[PATH_SIZE];
    cpubind_bytes bytes = {NULL, 0, 0};
    const int32_t width = set->n > 0 ? set->cpu[set->n - 1] + 1 : 1;
    int32_t len = 0;
    cpubind_linux_fault why = cpubind_bytes_reserve(&bytes, sys, width / 32 * 9 + 10);
    if (why.error)
        return why;
    if (cpubind_cpumask_format(set->cpu, set->n, width, bytes.data, width / 32 * 9 + 9, &len) !=
        CPUBIND_TEXT_OK)
        why = cpubind_fault_of(EINVAL, what);
    path_of(name, path);
    if (!why.error) {
        bytes.data[len] = '\0';
        why = cpubind_write_value(sys, root->fd, path, bytes.data, what);
    }
    cpubind_bytes_free(&bytes);
    return cpubind_fault_of(why.error, what);
}
