/* record_sweep.c - removes what killed and ended processes have left in the folder of records
 * SPDX-License-Identifier: MIT
 *
 * Only in the usual folder of this user, and each under the lock of its record: a file that
 * another cpubind works with stays, and so does a record of another pid namespace, which may
 * share the folder: its process is not visible here. What an ended process has changed on the
 * host is in the record of the host (host_record.h), which stays. A temporary file that no lock
 * is for goes when its writer has ended, and a minute after it was written: the writer may live
 * in another pid namespace. Whatever fails is left for the next time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../kernel/process.h"
#include "../kernel/run_folder.h"
#include "binding.h"

typedef struct sweeping {
    cpubind_root *root;
    cpubind_ids pids;
    int dir;
} sweeping;

/* Removes ".<base>.<pid>.<n>.tmp" if its writer was killed. */
static void remove_left(const sweeping *s, const char *name)
{
    const char *at = name + strlen(name);
    struct stat st;
    for (int n = 0; at > name && n < 3;)
        n += *--at == '.';
    const long pid = strtol(at + 1, NULL, 10);
    if (pid > 0 && pid <= INT32_MAX && cpubind_has_ended(s->root, (int32_t)pid, 0) &&
        s->root->sys->statat(s->dir, name, &st) == 0 && st.st_mtime + 60 < time(NULL))
        (void)s->root->sys->unlinkat(s->dir, name, 0);
}

/* Adds the pid of "4711.record" if the process has ended, and of what is there only while
 * cpubind works: "4711.record.lock", ".4711.record.77.0.tmp". */
static cpubind_linux_fault add_pid(void *ctx, const char *name)
{
    sweeping *s = (sweeping *)ctx;
    const int is_temp = name[0] == '.';
    const char *at = name + is_temp, *end = at + strspn(at, "0123456789");
    const long pid = strtol(at, NULL, 10);
    const int is_of_record = is_temp && strncmp(end, CPUBIND_RECORD_SUFFIX ".", 8) == 0;
    if (is_temp && !is_of_record && strstr(end, ".tmp"))
        remove_left(s, name);
    if (end == at || pid < 1 || pid > INT32_MAX || pid == (int64_t)getpid())
        return cpubind_no_fault; /* this process works with its own files */
    if (is_of_record || strcmp(end, CPUBIND_RECORD_SUFFIX ".lock") == 0 ||
        (strcmp(end, CPUBIND_RECORD_SUFFIX) == 0 &&
         cpubind_has_ended(s->root, (int32_t)pid, 0)))
        return cpubind_ids_add(&s->pids, s->root->sys, (int32_t)pid);
    return cpubind_no_fault;
}

static void sweep_pid(cpubind_root *root, int32_t pid)
{
    cpubind_record_file *file;
    cpubind_record record;
    cpubind_namespaces own;
    if (cpubind_record_open(root, pid, CPUBIND_RECORD_WRITE, NULL, &file).error)
        return; /* another cpubind works with it */
    if (!cpubind_record_load(file, &record).error &&
        !cpubind_namespaces_read(root, &own).error &&
        cpubind_is_same_space(record.space, own) && cpubind_has_ended(root, pid, record.start))
        (void)cpubind_record_remove(file);
    else
        cpubind_record_remove_temps(file);
    cpubind_record_free(&record);
    cpubind_record_close(file); /* removes the lock file */
}

void cpubind_bind_sweep(const cpubind_sys *sys)
{
    cpubind_root root;
    sweeping s = {.root = &root};
    if (cpubind_root_live(&root, sys).error)
        return;
    if (!cpubind_run_folder_open(&root, 0, &s.dir).error &&
        !cpubind_each_name(root.sys, s.dir, add_pid, &s).error) {
        cpubind_ids_sort(&s.pids);
        for (int32_t i = 0; i < s.pids.n; i++)
            sweep_pid(&root, s.pids.id[i]);
    }
    free(s.pids.id);
    root.sys->close(root.fd);
}
