/* threads.c - listing the threads of a process, and those that a watch has looked at
 * SPDX-License-Identifier: MIT
 *
 * Of the threads of a watch there is a row for each thread: where it belongs, and a descriptor
 * of its name. Reading a name through a descriptor that stays open takes half the time of
 * opening its file again; reading the mask alone a tenth. Moves nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "binding.h"

/* == Listing ================================================================ */

int64_t cpubind_count_threads(const cpubind_binding *b)
{
    struct stat st;
    return b->sys->fstat(b->task_dir_fd, &st) == 0 ? (int64_t)st.st_nlink - 2 : -1;
}

cpubind_linux_fault cpubind_list_threads(cpubind_binding *b)
{
    const cpubind_linux_fault why = cpubind_tasks_list(b->sys, b->task_dir_fd, &b->tids);
    cpubind_proc_stat stat = {.start = 0};
    int is_over = b->tids.n == 0;
    /* Until its parent has waited for it, the kernel lists what has ended, and has its mask. */
    if (b->tids.n == 1 && !b->options.is_forced) {
        const int error = cpubind_proc_stat_read(&b->root, b->options.pid, 0, &stat).error;
        is_over = error ? error == ESRCH : stat.state == 'Z';
    }
    return !why.error && is_over ? cpubind_fault_of(ESRCH, "list the threads of") : why;
}

cpubind_linux_fault cpubind_births_list(cpubind_births *births)
{
    cpubind_binding *b = births->b;
    const cpubind_ids last = b->tids_before;
    if (births->n_look++ == 0) {
        births->end_ms = cpubind_now_ms() + CPUBIND_BIRTHS_MS;
        b->tids.n = 0;
    }
    b->tids_before = b->tids;
    b->tids = last;
    births->n_counted = cpubind_count_threads(b);
    return cpubind_list_threads(b);
}

int cpubind_births_are_over(cpubind_births *births, int32_t n_news)
{
    const cpubind_binding *b = births->b;
    const int n_wanted = births->n_counted < 0 ? 3 : births->has_births ? 2 : 1;
    int is_quiet = n_news == 0 && births->n_counted <= b->tids.n;
    for (int32_t i = 0; i < b->tids.n && is_quiet; i++)
        is_quiet = cpubind_ids_has(&b->tids_before, b->tids.id[i]);
    births->n_quiet = is_quiet ? births->n_quiet + 1 : 0;
    births->has_births |= !is_quiet && births->n_look > 1;
    births->is_endless = births->n_quiet < n_wanted && cpubind_now_ms() >= births->end_ms;
    return births->is_endless || births->n_quiet >= n_wanted;
}

/* == The table of a watch =================================================== */

/* Descriptors that a watch keeps at most: also at most half of those that the process may
 * have. */
#define MAX_NAMES 8192

static int32_t place_of(const cpubind_binding *b, int32_t tid)
{
    return cpubind_place_in(b->watched, b->n_watched, sizeof *b->watched, &tid,
                            cpubind_order_of_ids);
}

static cpubind_watched *find(const cpubind_binding *b, int32_t tid)
{
    const int32_t at = place_of(b, tid);
    return at < b->n_watched && b->watched[at].tid == tid ? &b->watched[at] : NULL;
}

static void close_name(cpubind_binding *b, cpubind_watched *row)
{
    if (row->name_fd >= 0) {
        b->sys->close(row->name_fd);
        b->n_name_fd--;
    }
    row->name_fd = -1;
}

static int has_room_for_name(cpubind_binding *b)
{
    if (b->max_name_fd < 0) {
        const int max_files = b->sys->max_files();
        b->max_name_fd = max_files < 0               ? 0
                         : max_files / 2 > MAX_NAMES ? MAX_NAMES
                                                     : max_files / 2;
    }
    return b->n_name_fd < b->max_name_fd;
}

cpubind_linux_fault cpubind_watched_name(cpubind_binding *b, int32_t tid,
                                         char name[CPUBIND_COMM_SIZE])
{
    cpubind_watched *row = b->is_watching ? find(b, tid) : NULL;
    cpubind_linux_fault why;
    /* With events names are read too seldom for an open file each. */
    if (row && row->name_fd < 0 && !cpubind_has_events(b) && has_room_for_name(b) &&
        !cpubind_task_name_open(b->sys, b->task_dir_fd, tid, &row->name_fd).error)
        b->n_name_fd++;
    if (!row || row->name_fd < 0)
        return cpubind_task_name(b->sys, b->task_dir_fd, tid, name);
    why = cpubind_task_name_at(b->sys, row->name_fd, name);
    if (why.error) { /* the thread has ended, and another one may have its number */
        close_name(b, row);
        b->has_ended_name = 1;
    }
    return why.error == ESRCH ? cpubind_task_name(b->sys, b->task_dir_fd, tid, name) : why;
}

void cpubind_watched_add(cpubind_binding *b, int32_t tid, int32_t should)
{
    const cpubind_watched row = {.tid = tid, .name_fd = -1};
    const int32_t at = place_of(b, tid);
    if ((at == b->n_watched || b->watched[at].tid != tid) &&
        CPUBIND_INSERT(b->sys, b->watched, b->n_watched, b->cap_watched, at, &row).error)
        cpubind_look_at_all(b);
    else
        b->watched[at].should = should;
}

int32_t cpubind_watched_count(cpubind_binding *b, int32_t tid)
{
    cpubind_watched *row = find(b, tid);
    return row ? ++row->n_moved : 0;
}

void cpubind_watched_note_listing(cpubind_binding *b)
{
    int32_t n = 0;
    for (int32_t i = 0; i < b->n_watched; i++) {
        if (cpubind_ids_has(&b->tids, b->watched[i].tid))
            b->watched[n++] = b->watched[i];
        else
            close_name(b, &b->watched[i]);
    }
    b->n_watched = n;
    b->n_listed = b->tids.n;
    b->has_ended_name = 0;
    b->can_count = cpubind_count_threads(b) == b->tids.n;
}

int cpubind_watched_are_all(cpubind_binding *b)
{
    b->has_ended_name = 0;
    return b->can_count && b->n_watched > 0 && b->n_name_fd == b->n_watched &&
           cpubind_count_threads(b) == b->n_watched;
}

cpubind_linux_fault cpubind_watched_list(const cpubind_binding *b, cpubind_ids *tids)
{
    cpubind_linux_fault why = cpubind_no_fault;
    for (int32_t i = 0; i < b->n_watched && !why.error; i++)
        why = cpubind_ids_add(tids, b->sys, b->watched[i].tid);
    return why;
}

cpubind_linux_fault cpubind_watched_find_moved(cpubind_binding *b, cpubind_ids *tids)
{
    for (int32_t i = 0; i < b->n_watched; i++) {
        const cpubind_watched *row = &b->watched[i];
        int32_t is;
        if (row->should == CPUBIND_CPUSET_NONE)
            continue;
        cpubind_linux_fault why = cpubind_task_cpus(b->sys, row->tid, &b->record.sets, &is);
        if (why.error == ESRCH || (!why.error && is == row->should))
            continue;
        why = cpubind_ids_add(tids, b->sys, row->tid);
        if (why.error)
            return why;
    }
    return cpubind_no_fault;
}

void cpubind_watched_free(cpubind_binding *b)
{
    for (int32_t i = 0; i < b->n_watched; i++)
        close_name(b, &b->watched[i]);
    free(b->watched);
    b->watched = NULL;
    b->n_watched = 0;
}
