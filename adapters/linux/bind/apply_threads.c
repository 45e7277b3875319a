/* apply_threads.c - moves the threads of the process to the CPUs of the goal
 * SPDX-License-Identifier: MIT
 *
 * Each thread is recorded, and the record written, before it is moved. Moves no thread of
 * another process.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "binding.h"

/* How often a thread is moved again that is somewhere else when its CPUs are read back: it, or
 * a tool of the runtime, moves it too. */
#define MAX_MOVES 3

/* == One thread ============================================================= */

static int is_known(const cpubind_binding *b, int32_t tid)
{
    return cpubind_record_find_thread(b->known, b->n_known, tid) != NULL;
}

/* Whether this call of apply has looked at a thread; with `set` notes that it has. */
static int is_seen(const cpubind_binding *b, int32_t tid, int set)
{
    const int32_t at = cpubind_record_thread_place(b->known, b->n_known, tid);
    if (at == b->n_known || b->known[at].tid != tid)
        return 0;
    b->known[at].is_saved |= set;
    return b->known[at].is_saved;
}

/* Records a thread that is not known yet, and makes it known. A thread that the goal leaves
 * where it is is made known alone. */
static cpubind_linux_fault add_known(cpubind_binding *b, int32_t tid, int32_t is, int is_left)
{
    const int32_t n_recorded = b->record.n_thread;
    const int is_recorded = cpubind_is_recorded(b);
    const int is_placed = cpubind_record_is_placed(&b->record, is);
    /* Once threads have been moved, one on a placed set was created by one of those: before,
     * it would have been where the process was. */
    const int is_empty = b->record.sets.set[is].n == 0; /* its CPUs are offline */
    const int32_t before = is_empty || (is_placed && (is_recorded || b->has_moved_threads))
                               ? b->record.before
                               : is;
    const int32_t at = cpubind_record_thread_place(b->known, b->n_known, tid);
    /* Undoing a second binding puts a thread where that one found it. */
    const cpubind_record_thread known = {.tid = tid, .before = is_recorded ? is : before};
    cpubind_linux_fault why = cpubind_no_fault;
    if (!is_left)
        why = cpubind_record_add_thread(&b->record, b->sys, tid, before);
    b->is_dirty |= b->record.n_thread != n_recorded;
    if (why.error || is_known(b, tid))
        return why;
    return CPUBIND_INSERT(b->sys, b->known, b->n_known, b->cap_known, at, &known);
}

cpubind_linux_fault cpubind_read_thread(cpubind_binding *b, int32_t tid,
                                        char name[CPUBIND_COMM_SIZE], int32_t *is)
{
    const cpubind_linux_fault why = cpubind_watched_name(b, tid, name);
    return why.error ? why : cpubind_task_cpus(b->sys, tid, &b->record.sets, is);
}

int32_t cpubind_best_set(cpubind_binding *b, int32_t is, int32_t should)
{
    cpubind_cpu_sets *sets = &b->record.sets;
    const int32_t choice[] = {should, b->record.main};
    if (b->online == CPUBIND_CPUSET_NONE)
        cpubind_read_online(b);
    if (b->online != CPUBIND_ONLINE_NOT_KNOWN && !cpubind_cpu_sets_is_part(sets, is, b->online))
        b->online = CPUBIND_ONLINE_NOT_KNOWN;
    if (b->online == CPUBIND_ONLINE_NOT_KNOWN ||
        cpubind_cpu_sets_is_part(sets, should, b->online))
        return should;
    for (int i = 0; i < 2; i++) {
        int32_t set;
        if (!cpubind_cpu_sets_common(sets, b->sys, choice[i], b->online, &set).error &&
            sets->set[set].n > 0)
            return set;
    }
    return should;
}

int cpubind_lacks_offline_alone(cpubind_binding *b, int32_t is, int32_t should)
{
    int32_t set;
    return is == cpubind_best_set(b, is, should) ||
           (b->online != CPUBIND_ONLINE_NOT_KNOWN &&
            !cpubind_cpu_sets_common(&b->record.sets, b->sys, should, b->online, &set).error &&
            set == is);
}

cpubind_linux_fault cpubind_read_before(cpubind_binding *b)
{
    cpubind_record *r = &b->record;
    const cpubind_linux_fault why =
        cpubind_task_cpus(b->sys, b->options.pid, &r->sets, &r->before);
    if (why.error)
        return why;
    cpubind_read_online(b);
    if (b->online >= 0 && r->sets.set[r->before].n == 0) /* its CPUs are offline */
        r->before = b->online;
    if (r->before == b->online)
        r->widest = r->before;
    b->online = CPUBIND_CPUSET_NONE; /* to be held against the CPUs of the goal */
    return cpubind_no_fault;
}

/* A process that has not all online CPUs has all of its cpuset, or a mask of its own: the first
 * thread is asked, which is on record, and gets its CPUs back at once. */
static cpubind_linux_fault find_widest(cpubind_binding *b)
{
    cpubind_record *r = &b->record;
    const int32_t pid = b->options.pid;
    int32_t all = CPUBIND_CPUSET_NONE;
    cpubind_linux_fault why;
    if (r->widest != CPUBIND_CPUSET_NONE || b->has_moved_threads || cpubind_is_recorded(b) ||
        r->sets.set[r->before].n == 0 ||
        !cpubind_record_find_thread(r->thread, r->n_thread, pid))
        return cpubind_no_fault;
    b->has_moved_threads = 1;
    if (cpubind_task_widen(b->sys, pid).error)
        return cpubind_no_fault;
    (void)cpubind_task_cpus(b->sys, pid, &r->sets, &all);
    why = cpubind_task_move(b->sys, pid, &r->sets.set[r->before]);
    if (!why.error && all == r->before) {
        r->widest = all;
        b->is_dirty = 1;
    }
    return why.error == ESRCH ? cpubind_no_fault : why;
}

/* == Reporting ============================================================== */

/* The move of a thread by a watch which says that it is moved again and again. */
#define MOVES_SAID 3

/* Reports the outcome for a thread; a watch reports what is news alone.
 *   errors  of apply: the fault of a thread that makes the call fail; ENOMEM */
static cpubind_linux_fault report(cpubind_binding *b, const cpubind_misplaced *t,
                                  cpubind_item_result result, cpubind_linux_fault why)
{
    cpubind_subject subject = {
        CPUBIND_ITEM_THREAD, b->options.pid, t->tid, t->name, t->is, t->should};
    const int is_strict = b->options.is_strict && why.error != EAGAIN;
    cpubind_linux_fault said = why, no_memory;
    if (b->is_watching) {
        const int is_news =
            cpubind_note_outcome(b, CPUBIND_ITEM_THREAD, b->options.pid, t->tid, why);
        result = result == CPUBIND_ITEM_FAILED ? CPUBIND_ITEM_SKIPPED : result;
        if (!is_news && result != CPUBIND_ITEM_MOVED)
            return cpubind_no_fault;
        if (result == CPUBIND_ITEM_MOVED && t->is != b->record.before &&
            cpubind_watched_count(b, t->tid) == MOVES_SAID)
            said.what = CPUBIND_AGAIN;
    } else if (is_strict && (result == CPUBIND_ITEM_PART || result == CPUBIND_ITEM_SKIPPED)) {
        result = CPUBIND_ITEM_FAILED;
    }
    if (result == CPUBIND_ITEM_PART)
        said.error = 0;
    no_memory = cpubind_report_why(b, &subject, result, said);
    if (b->is_watching)
        return cpubind_no_fault;
    if (no_memory.error)
        return no_memory;
    return result == CPUBIND_ITEM_FAILED ? why : cpubind_no_fault;
}

/* Looks at a thread. ESRCH, that it has ended, is for the caller to skip. */
static cpubind_linux_fault look_at(cpubind_binding *b, int32_t tid)
{
    cpubind_misplaced t = {.tid = tid};
    cpubind_linux_fault why = cpubind_read_thread(b, tid, t.name, &t.is);
    const int was_seen = !b->is_watching && is_seen(b, tid, 0);
    int is_left;
    if (why.error)
        return why;
    t.should = cpubind_set_of_name(&b->record, t.name);
    is_left = t.should == CPUBIND_CPUSET_NONE;
    if (!is_known(b, tid) ||
        (!is_left && !cpubind_record_find_thread(b->record.thread, b->record.n_thread, tid)))
        why = add_known(b, tid, t.is, is_left);
    if (why.error)
        return why;
    if (b->is_watching)
        cpubind_watched_add(b, tid, t.should);
    (void)is_seen(b, tid, 1);
    if (was_seen && (is_left || t.is == cpubind_best_set(b, t.is, t.should)))
        return cpubind_no_fault;
    if (is_left)
        return report(b, &t, CPUBIND_ITEM_LEFT, cpubind_no_fault);
    if (t.is == t.should)
        return report(b, &t, CPUBIND_ITEM_RIGHT, cpubind_no_fault);
    /* To move it now would drop the CPUs that are offline from its mask. */
    if (t.is == cpubind_best_set(b, t.is, t.should))
        return report(b, &t, CPUBIND_ITEM_PART, cpubind_fault_of(EINVAL, "offline"));
    if (b->is_watching && !cpubind_is_due(b, CPUBIND_ITEM_THREAD, b->options.pid, tid))
        return cpubind_no_fault;
    return CPUBIND_APPEND(b->sys, b->misplaced, b->n_misplaced, b->cap_misplaced, &t);
}

/* == Moving ================================================================= */

/* Why a thread cannot have all of its CPUs, or with `now` NONE any of them. A kernel thread,
 * which has no executable file, may be one that nobody can move. */
static cpubind_linux_fault fault_of_part(cpubind_binding *b, const cpubind_misplaced *t,
                                         int32_t now)
{
    const int32_t best = cpubind_best_set(b, t->is, t->should);
    char name[32], link[8];
    if (best != t->should && (now == best || now == CPUBIND_CPUSET_NONE))
        return cpubind_fault_of(EINVAL, "offline");
    snprintf(name, sizeof name, "%d/exe", (int)t->tid);
    if (now == CPUBIND_CPUSET_NONE &&
        b->sys->readlinkat(b->task_dir_fd, name, link, sizeof link) < 0 && errno == ENOENT)
        return cpubind_fault_of(EINVAL, "kernel thread");
    return cpubind_fault_of(EINVAL,
                            now == CPUBIND_CPUSET_NONE ? "sched_setaffinity" : "cpuset");
}

/* Moves a thread and reads its CPUs back.
 *   out     *result: MOVED; PART, with why; SKIPPED: the kernel refuses, or something else
 *           moves it too; FAILED
 *   errors  ESRCH: it has ended */
static cpubind_linux_fault move_thread(cpubind_binding *b, cpubind_misplaced *t,
                                       cpubind_item_result *result)
{
    cpubind_cpu_sets *sets = &b->record.sets;
    const int may_share_main = b->is_watching || !b->options.is_strict;
    /* Read once more, close to the call: see put_back_strangers. */
    cpubind_linux_fault why = cpubind_task_cpus(b->sys, t->tid, sets, &t->is);
    *result = CPUBIND_ITEM_FAILED;
    for (int i = 0; i < MAX_MOVES && !why.error; i++) {
        int32_t asked = t->should, now = CPUBIND_CPUSET_NONE;
        why = cpubind_task_move(b->sys, t->tid, &sets->set[asked]);
        if (why.error == EINVAL && asked != b->record.main && may_share_main) {
            asked = b->record.main;
            why = cpubind_task_move(b->sys, t->tid, &sets->set[asked]);
        }
        if (cpubind_is_refusal(why.error)) {
            *result = CPUBIND_ITEM_SKIPPED;
            return why.error == EINVAL ? fault_of_part(b, t, now)
                                       : cpubind_name_refuser(b, t->tid, why);
        }
        t->is_moved |= why.error == 0;
        if (!why.error)
            why = cpubind_task_cpus(b->sys, t->tid, sets, &now);
        if (why.error)
            break;
        if (now == t->should) {
            *result = CPUBIND_ITEM_MOVED;
            return cpubind_no_fault;
        }
        if (cpubind_cpu_sets_is_part(sets, now, asked)) {
            *result = CPUBIND_ITEM_PART;
            return fault_of_part(b, t, now);
        }
    }
    if (why.error)
        return why;
    *result = CPUBIND_ITEM_SKIPPED;
    return cpubind_fault_of(EAGAIN, "sched_setaffinity");
}

/* Whether restore could put the thread back if this process were killed now. */
static int is_on_file(const cpubind_binding *b, int32_t tid)
{
    const cpubind_record *r = &b->record;
    const cpubind_record_thread *t = cpubind_record_find_thread(r->thread, r->n_thread, tid);
    return !b->is_dirty || !t || t->is_saved || t->before == r->before;
}

/* Whether the record is to be written before the misplaced threads are moved. Births that
 * events report one by one need no write each: restore knows what to do with threads like
 * these. */
static int is_write_needed(const cpubind_binding *b)
{
    if (!b->is_early)
        return 1;
    for (int32_t i = 0; i < b->n_misplaced; i++)
        if (!is_on_file(b, b->misplaced[i].tid))
            return 1;
    return 0;
}

static cpubind_linux_fault move_misplaced(cpubind_binding *b)
{
    for (int32_t i = 0; i < b->n_misplaced; i++) {
        cpubind_misplaced *t = &b->misplaced[i];
        cpubind_item_result result;
        cpubind_linux_fault why;
        if (!is_on_file(b, t->tid))
            continue;
        b->has_moved_threads = 1;
        why = move_thread(b, t, &result);
        if (why.error == ESRCH)
            continue;
        why = report(b, t, result, why);
        if (why.error)
            return why;
    }
    return cpubind_no_fault;
}

static void drop_item(cpubind_outcomes *r, int32_t tid)
{
    int32_t n = 0;
    for (int32_t i = 0; i < r->n; i++)
        if (r->item[i].kind != CPUBIND_ITEM_THREAD || r->item[i].id != tid)
            r->item[n++] = r->item[i];
    r->n = n;
}

/* A thread may have ended between the listing and its move, and another process have got its
 * number: such a thread is on the CPUs that it was given, and gets its own back. */
static void put_back_strangers(cpubind_binding *b)
{
    cpubind_cpu_sets *sets = &b->record.sets;
    for (int32_t i = 0; i < b->n_misplaced; i++) {
        const cpubind_misplaced *t = &b->misplaced[i];
        int32_t now;
        if (!t->is_moved || cpubind_ids_has(&b->tids, t->tid) ||
            cpubind_is_task(b->sys, b->task_dir_fd, t->tid))
            continue;
        drop_item(&b->report, t->tid);
        if (!cpubind_task_cpus(b->sys, t->tid, sets, &now).error && now != t->is &&
            cpubind_cpu_sets_is_part(sets, now, t->should))
            (void)cpubind_task_move(b->sys, t->tid, &sets->set[t->is]);
    }
    b->n_misplaced = 0;
}

/* == All threads ============================================================ */

static int has_ended(const cpubind_binding *b, int32_t tid)
{
    char name[CPUBIND_COMM_SIZE];
    /* A listing may miss a thread next to one that ends. */
    return !cpubind_ids_has(&b->tids, tid) &&
           cpubind_task_name(b->sys, b->task_dir_fd, tid, name).error == ESRCH;
}

static void drop_ended(cpubind_binding *b)
{
    cpubind_record *r = &b->record;
    int32_t n = 0, n_known = 0;
    if (!cpubind_has_many_ended(r->n_thread, b->tids.n))
        return;
    for (int32_t i = 0; i < r->n_thread; i++)
        if (!has_ended(b, r->thread[i].tid))
            r->thread[n++] = r->thread[i];
    r->n_thread = n;
    for (int32_t i = 0; i < b->n_known; i++)
        if (cpubind_record_find_thread(r->thread, r->n_thread, b->known[i].tid))
            b->known[n_known++] = b->known[i];
    b->n_known = n_known;
    b->is_dirty = 1;
}

/* Looks at the threads of the last listing; records those that are misplaced, then moves
 * them. Apply skips those that the listing before it had: a number that was missing in one may
 * be that of another thread.
 *   out     *n_ended: threads that have ended before they were looked at */
static cpubind_linux_fault place_listed(cpubind_binding *b, int32_t *n_ended)
{
    cpubind_linux_fault why;
    b->n_misplaced = 0;
    *n_ended = 0;
    for (int32_t k = 0; k < b->tids.n; k++) {
        /* After the first listing the youngest comes first: it may not live long. */
        const int32_t tid = b->tids.id[b->tids_before.n > 0 ? b->tids.n - 1 - k : k];
        if (!b->is_watching && cpubind_ids_has(&b->tids_before, tid) && is_seen(b, tid, 0))
            continue;
        why = look_at(b, tid);
        *n_ended += why.error == ESRCH;
        if (why.error && why.error != ESRCH && b->is_watching) {
            const cpubind_misplaced t = {.tid = tid, .is = -1, .should = -1};
            why = report(b, &t, CPUBIND_ITEM_SKIPPED, why);
            cpubind_look_at_all(b);
        }
        if (why.error && why.error != ESRCH)
            return why;
    }
    why = is_write_needed(b) ? cpubind_write_record(b) : cpubind_no_fault;
    if (b->is_watching) {
        cpubind_note_step(b, CPUBIND_STEP_RECORD, why);
        why = cpubind_no_fault;
    } else if (!why.error)
        why = find_widest(b);
    return why.error ? why : move_misplaced(b);
}

/* Whether a process is not bound as long as this thread is not placed: its main thread, and
 * those that a rule names. A main thread that has ended does no work. */
static int is_needed(cpubind_binding *b, const cpubind_item *thread)
{
    const cpubind_record *r = &b->record;
    cpubind_proc_stat stat = {.state = '?'};
    for (int32_t i = 0; i < r->n_rule; i++)
        if (cpubind_pattern_matches(r->rule[i].name, thread->name))
            return 1; /* it is not left where it is: it has an item */
    if (thread->id != b->options.pid)
        return 0;
    (void)cpubind_proc_stat_read(&b->root, thread->id, 0, &stat);
    return stat.state != 'Z' && stat.state != 'X';
}

/* The fault of the first thread that is needed and could not be moved; of the first one, if
 * none could. One that another program moves back was moved. */
static cpubind_linux_fault check_are_placed(cpubind_binding *b)
{
    cpubind_outcomes *r = &b->report;
    cpubind_item *refused = NULL;
    int is_any = 0;
    for (int32_t i = 0; i < r->n; i++) {
        cpubind_item *item = &r->item[i];
        if (item->kind != CPUBIND_ITEM_THREAD)
            continue;
        if (item->result != CPUBIND_ITEM_SKIPPED || item->error == EAGAIN) {
            is_any = 1;
            continue;
        }
        if (!refused)
            refused = item;
        if (is_needed(b, item)) {
            refused = item;
            is_any = 0;
            break;
        }
    }
    if (!refused || is_any)
        return cpubind_no_fault;
    refused->result = CPUBIND_ITEM_FAILED;
    return cpubind_fault_of(refused->error, refused->what);
}

/* Whether the caller binds itself and has no other thread: none can be born meanwhile. */
static int is_only_thread(const cpubind_binding *b, int64_t n_counted)
{
    return b->options.pid == (int32_t)getpid() && n_counted == 1 && b->tids.n == 1;
}

/* Says that threads are born faster than they are looked at: those that were seen are where
 * they belong. */
static cpubind_linux_fault report_births(cpubind_binding *b)
{
    const cpubind_subject process = cpubind_own_subject(b, CPUBIND_ITEM_THREAD, 0, "");
    b->report.is_outrun = 1;
    return cpubind_report_why(b, &process, CPUBIND_ITEM_SKIPPED,
                              cpubind_fault_of(EAGAIN, CPUBIND_BIRTHS));
}

cpubind_linux_fault cpubind_place_threads(cpubind_binding *b)
{
    cpubind_births births = {.b = b};
    cpubind_linux_fault why;
    int32_t n_ended = 0;
    b->n_misplaced = 0;
    do {
        why = cpubind_births_list(&births);
        put_back_strangers(b);
        if (!why.error)
            why = place_listed(b, &n_ended);
        /* A thread of a chain lives no longer than a write of the record takes. */
        b->is_early = 1;
    } while (!why.error && !is_only_thread(b, births.n_counted) &&
             !cpubind_births_are_over(&births, b->n_misplaced + n_ended));
    b->is_early = 0;
    if (!why.error)
        why = check_are_placed(b);
    if (!why.error && b->is_dirty)
        why = cpubind_write_record(b);
    return !why.error && births.is_endless ? report_births(b) : why;
}

/* Lists the threads that a watch looks at into b->tids. After a failure the next call looks at
 * all of them. */
static cpubind_linux_fault list_watched(cpubind_binding *b, cpubind_look look)
{
    cpubind_linux_fault why = cpubind_no_fault;
    if (look == CPUBIND_LOOK_ALL) {
        why = cpubind_list_threads(b);
        if (why.error)
            return why;
        drop_ended(b);
        cpubind_watched_note_listing(b);
        return cpubind_no_fault;
    }
    b->tids.n = 0;
    if (look == CPUBIND_LOOK_KNOWN)
        return cpubind_watched_list(b, &b->tids);
    for (int32_t i = 0; i < b->news.tids.n && !why.error; i++)
        why = cpubind_ids_add(&b->tids, b->sys, b->news.tids.id[i]);
    if (look == CPUBIND_LOOK_MASKS && !why.error)
        why = cpubind_watched_find_moved(b, &b->tids);
    cpubind_ids_sort(&b->tids);
    return why;
}

cpubind_linux_fault cpubind_watch_threads(cpubind_binding *b, cpubind_look look)
{
    int32_t n_ended;
    cpubind_linux_fault why;
    if (look == CPUBIND_LOOK_ALL && cpubind_watched_are_all(b))
        look = CPUBIND_LOOK_KNOWN;
    why = list_watched(b, look);
    if (why.error == ESRCH)
        return why;
    cpubind_note_step(b, CPUBIND_STEP_LISTING, why);
    b->news.tids.n = 0;
    if (why.error) {
        cpubind_look_at_all(b);
        return cpubind_no_fault;
    }
    b->is_watching = 1;
    (void)place_listed(b, &n_ended);
    b->is_watching = 0;
    if (b->n_misplaced > 0) {
        (void)cpubind_list_threads(b);
        put_back_strangers(b);
    }
    /* One has ended: another one may have been born in its place. */
    return look == CPUBIND_LOOK_KNOWN && b->has_ended_name
               ? cpubind_watch_threads(b, CPUBIND_LOOK_ALL)
               : cpubind_no_fault;
}
