/* record_folder.c - the names and the list of record files
 * SPDX-License-Identifier: MIT
 *
 * Reads no record and makes nothing. The rules are in record.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kernel/run_folder.h"
#include "record.h"

void cpubind_record_name(int32_t pid, char out[CPUBIND_RECORD_NAME_SIZE])
{
    if (pid == CPUBIND_RECORD_HOST)
        (void)snprintf(out, CPUBIND_RECORD_NAME_SIZE, "host" CPUBIND_RECORD_SUFFIX);
    else
        (void)snprintf(out, CPUBIND_RECORD_NAME_SIZE, "%ld" CPUBIND_RECORD_SUFFIX, (long)pid);
}

void cpubind_bind_usual_path(int32_t pid, const cpubind_sys *sys, char out[CPUBIND_PLACE_SIZE])
{
    char name[CPUBIND_RECORD_NAME_SIZE];
    cpubind_record_name(pid, name);
    cpubind_run_file_path(sys, name, out);
}

/* The pid of "4711.record", or 0. */
static int32_t pid_of_name(const char *name)
{
    const size_t n = strspn(name, "0123456789");
    int64_t pid = 0;
    if (n == 0 || n > 10 || name[0] == '0' || strcmp(name + n, CPUBIND_RECORD_SUFFIX) != 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        pid = pid * 10 + (name[i] - '0');
    return pid <= INT32_MAX ? (int32_t)pid : 0;
}

typedef struct listing {
    const cpubind_sys *sys;
    cpubind_ids *pids;
} listing;

static cpubind_linux_fault add_pid(void *ctx, const char *name)
{
    listing *l = (listing *)ctx;
    const int32_t pid = pid_of_name(name);
    return pid == 0 ? cpubind_no_fault : cpubind_ids_add(l->pids, l->sys, pid);
}

cpubind_linux_fault cpubind_record_list(cpubind_root *root, cpubind_ids *out)
{
    listing l = {root->sys, out};
    int dir;
    cpubind_linux_fault why = cpubind_run_folder_open(root, 0, &dir);
    *out = (cpubind_ids){0};
    if (why.error)
        return why.error == ENOENT ? cpubind_no_fault : why;
    why = cpubind_each_name(root->sys, dir, add_pid, &l);
    if (why.error) {
        free(out->id);
        *out = (cpubind_ids){0};
        return cpubind_fault_of(why.error, why.error == ENOMEM ? "memory" : "folder");
    }
    cpubind_ids_sort(out);
    return cpubind_no_fault;
}
