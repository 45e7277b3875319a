/* partition.c - gives a process a cpuset of its own, and takes it back
 * SPDX-License-Identifier: MIT
 *
 * The process, with all of its threads at once, moves from its cgroup to a threaded one below,
 * which is made for it: its memory and its CPU time are accounted where they were. What is born
 * in it stays in it. Rules: Documentation/admin-guide/cgroup-v2.rst, cpuset(7).
 *
 *   base   the cgroup that the new one is below: that of the process, outside of cgroups that
 *          cpubind has made
 *   own    base/cpubind-<pid>. It enables the controller for cgroups below it, too: so nobody,
 *          systemd included, can disable it for those below base while own is there
 *
 * Up to Linux 6.1 a move, and a change of the cpuset, gives each thread all CPUs of the cpuset,
 * whatever its mask was. So threads are recorded before, and placed after.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../text/cgroup.h"
#include "binding.h"

#define CONTROLLERS "cgroup.controllers"
#define CONTROL     "cgroup.subtree_control"
#define PROCS       "cgroup.procs"
#define THREADS     "cgroup.threads"
#define CPUS        "cpuset.cpus"
#define EFFECTIVE   "cpuset.cpus.effective"

/* How often a controller is enabled that another cpubind disables at the same time. */
#define ENABLE_TRIES 8

/* How long processes of a cgroup that is to go are moved while others are born. */
#define EMPTY_MS 3000

typedef enum cgroup_reason {
#define CPUBIND_X(name, word, sentence) REASON_##name,
    CPUBIND_CGROUP_LIST(CPUBIND_X)
#undef CPUBIND_X
} cgroup_reason;

static const struct {
    const char *word, *sentence;
} reasons[] = {
#define CPUBIND_X(name, word, sentence) {word, sentence},
    CPUBIND_CGROUP_LIST(CPUBIND_X)
#undef CPUBIND_X
};

const char *cpubind_cgroup_sentence(const char *word)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(reasons[i].word, word) == 0)
            return reasons[i].sentence;
    return NULL;
}

static cpubind_linux_fault because(int error, cgroup_reason reason)
{
    return cpubind_fault_of(error, reasons[reason].word);
}

/* == Files of a cgroup ====================================================== */

static void close_folder(const cpubind_sys *sys, int fd)
{
    if (fd >= 0)
        sys->close(fd);
}

/* Opens the folder of a cgroup, by the first bytes of its path. */
static cpubind_linux_fault open_folder(const cpubind_root *root, const char *path, int32_t len,
                                       int *fd)
{
    char name[CPUBIND_CGROUP_SIZE + 16];
    cpubind_linux_fault why;
    (void)snprintf(name, sizeof name, "sys/fs/cgroup/%.*s", (int)len, path);
    why = cpubind_open(root->sys, root->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, fd);
    return cpubind_fault_of(why.error, "cgroup");
}

static cpubind_linux_fault open_base(const cpubind_root *root, const cpubind_record *r, int *fd)
{
    return open_folder(root, r->cgroup,
                       cpubind_cgroup_outside(r->cgroup, (int32_t)strlen(r->cgroup)), fd);
}

static void name_own(int32_t pid, char name[CPUBIND_COMM_SIZE])
{
    (void)snprintf(name, CPUBIND_COMM_SIZE, CPUBIND_CGROUP_PREFIX "%d", (int)pid);
}

/* Opens the own cgroup of the process of a record. */
static cpubind_linux_fault open_own(const cpubind_root *root, const cpubind_record *r, int base,
                                    int *fd)
{
    char name[CPUBIND_COMM_SIZE];
    name_own(r->pid, name);
    return cpubind_fault_of(
        cpubind_open(root->sys, base, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, fd).error,
        "cgroup");
}

/* Writes a text to a file of a cgroup. `file` is static text. */
static cpubind_linux_fault write_file(const cpubind_sys *sys, int folder, const char *file,
                                      const char *text)
{
    return cpubind_write_value(sys, folder, file, text, strlen(text), file);
}

static cpubind_linux_fault write_pid(const cpubind_sys *sys, int folder, int32_t pid)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%d\n", (int)pid);
    return write_file(sys, folder, PROCS, text);
}

/* Whether a file of controllers names cpuset. */
static cpubind_linux_fault find_cpuset(const cpubind_sys *sys, int folder, const char *file,
                                       int *is_there)
{
    char text[512];
    int32_t len;
    cpubind_linux_fault why = cpubind_read_text(sys, folder, file, text, sizeof text, &len);
    *is_there = 0;
    for (char *at = text, *word; !why.error && (word = strtok_r(at, " \n", &at)) != NULL;)
        *is_there |= strcmp(word, "cpuset") == 0;
    return cpubind_fault_of(why.error, file);
}

/* Reads a file with a list of CPUs; *set is NONE for an empty one. */
static cpubind_linux_fault read_cpus(const cpubind_sys *sys, int folder, const char *file,
                                     cpubind_cpu_sets *sets, int32_t *set)
{
    cpubind_bytes text = {NULL, 0, 0};
    int fd;
    cpubind_linux_fault why = cpubind_open(sys, folder, file, O_RDONLY | O_CLOEXEC, &fd);
    *set = CPUBIND_CPUSET_NONE;
    if (why.error)
        return cpubind_fault_of(why.error, file);
    why = cpubind_read_all(sys, fd, CPUBIND_FILE_MAX, &text);
    sys->close(fd);
    if (!why.error && text.len > 1)
        why = cpubind_cpu_sets_of_text(sets, sys, text.data, text.len, set);
    cpubind_bytes_free(&text);
    return cpubind_fault_of(why.error, why.error == ENOMEM ? "memory" : file);
}

/* Whether there are cgroups below this one, which the links of its folder count. */
static cpubind_linux_fault find_below(const cpubind_sys *sys, int folder, int *is_any)
{
    struct stat st;
    *is_any = 0;
    if (sys->fstat(folder, &st) < 0)
        return cpubind_fault_errno("cgroup");
    *is_any = st.st_nlink != 2;
    return cpubind_no_fault;
}

/* == Where the process is =================================================== */

/* The path of its cgroup, "/" for the uppermost one. */
static cpubind_linux_fault read_path(cpubind_binding *b, char path[CPUBIND_CGROUP_SIZE])
{
    char name[32];
    cpubind_bytes text = {NULL, 0, 0};
    cpubind_cgroup found = {.path = {0, 0}};
    cpubind_linux_fault why;
    cpubind_text_status status;
    (void)snprintf(name, sizeof name, "proc/%d/cgroup", (int)b->options.pid);
    why = cpubind_input_fault(cpubind_root_read(&b->root, name, &text));
    status = cpubind_cgroup_find(text.data ? text.data : "", text.len, "cpuset", &found);
    if (why.error == ENOENT || (!why.error && status == CPUBIND_TEXT_ERR_MISSING))
        why = because(ENOENT, REASON_MISSING);
    else if (!why.error && status != CPUBIND_TEXT_OK)
        why = because(EXDEV, REASON_OUTSIDE);
    else if (!why.error && found.is_version_1)
        why = because(EOPNOTSUPP, REASON_VERSION_1);
    else if (!why.error && found.path.len >= CPUBIND_CGROUP_SIZE - CPUBIND_COMM_SIZE)
        why = cpubind_fault_of(ENAMETOOLONG, "cgroup");
    if (!why.error)
        (void)snprintf(path, CPUBIND_CGROUP_SIZE, "%.*s",
                       found.path.len ? (int)found.path.len : 1,
                       found.path.len ? text.data + found.path.at : "/");
    cpubind_bytes_free(&text);
    return why;
}

/* Whether the end of a path names the own cgroup of a process. */
static int is_own(int32_t pid, const char *end)
{
    char name[CPUBIND_COMM_SIZE];
    name_own(pid, name);
    return *end == '/' && strcmp(end + 1, name) == 0;
}

/* Whether a path is that of the own cgroup of the record. */
static int is_own_path(const cpubind_record *r, const char *path)
{
    const int32_t outside = cpubind_cgroup_outside(r->cgroup, (int32_t)strlen(r->cgroup));
    const size_t len = outside == 1 ? 0 : (size_t)outside; /* the uppermost cgroup is "/" */
    return strncmp(path, r->cgroup, len) == 0 && is_own(r->pid, path + len);
}

int cpubind_partition_has(cpubind_binding *b)
{
    char path[CPUBIND_CGROUP_SIZE];
    return *b->record.cgroup && !read_path(b, path).error && is_own_path(&b->record, path);
}

/* Opens the file of the effective CPUs of the own cgroup. */
static int open_effective(cpubind_binding *b)
{
    int base = -1, own = -1, fd = -1;
    if (!open_base(&b->root, &b->record, &base).error &&
        !open_own(&b->root, &b->record, base, &own).error)
        (void)cpubind_open(b->sys, own, EFFECTIVE, O_RDONLY | O_CLOEXEC, &fd);
    close_folder(b->sys, own);
    close_folder(b->sys, base);
    return fd;
}

int cpubind_partition_is_whole(cpubind_binding *b)
{
    const char *const cpus = cpubind_cpu_sets_text(&b->record.sets, b->record.cpuset);
    const size_t len = strlen(cpus);
    char text[4096];
    ssize_t n = -1;
    if (b->cpuset_fd < 0)
        b->cpuset_fd = open_effective(b);
    if (b->cpuset_fd >= 0)
        CPUBIND_RETRY(n, b->sys->pread(b->cpuset_fd, text, sizeof text, 0));
    if (n == (ssize_t)len + 1 && memcmp(text, cpus, len) == 0)
        return 1;
    cpubind_partition_close(b);
    return 0;
}

/* == Making one ============================================================= */

/* All CPUs of the goal. */
static cpubind_linux_fault find_cpus(cpubind_binding *b, int32_t *set)
{
    const cpubind_record *r = &b->record;
    unsigned long word[CPUBIND_MAX_CPUS / CPUBIND_WORD_BITS] = {0};
    int32_t n_word = 0;
    for (int32_t i = -1; i < r->n_rule; i++) {
        const int32_t part = i < 0 ? r->main : r->rule[i].set;
        const cpubind_cpu_set *s = part < 0 ? NULL : &r->sets.set[part];
        if (!s)
            return because(EINVAL, REASON_LEAVE);
        for (int32_t k = 0; k < s->n_word; k++)
            word[k] |= s->word[k];
        n_word = s->n_word > n_word ? s->n_word : n_word;
    }
    return cpubind_cpu_sets_of_words(&b->record.sets, b->sys, word, n_word, set);
}

/* Enables the controller below base, and below own: see the top of this file. */
static cpubind_linux_fault enable(const cpubind_sys *sys, int base, int own)
{
    cpubind_linux_fault why = {ENOENT, CONTROL, 0};
    for (int i = 0; i < ENABLE_TRIES && why.error == ENOENT; i++) {
        why = write_file(sys, base, CONTROL, "+cpuset\n");
        if (!why.error) /* ENOENT: another cpubind has disabled it meanwhile */
            why = write_file(sys, own, CONTROL, "+cpuset\n");
    }
    return why;
}

/* Sets the CPUs, and looks what the cgroups above leave of them. */
static cpubind_linux_fault set_cpus(cpubind_binding *b, int own)
{
    cpubind_cpu_sets *sets = &b->record.sets;
    const int32_t cpuset = b->record.cpuset;
    int32_t set = CPUBIND_CPUSET_NONE;
    cpubind_linux_fault why =
        write_file(b->sys, own, CPUS, cpubind_cpu_sets_text(sets, cpuset));
    if (!why.error)
        why = read_cpus(b->sys, own, EFFECTIVE, sets, &set);
    if (!why.error && (set < 0 || !cpubind_cpu_sets_is_part(sets, set, cpuset)))
        why = because(EINVAL, REASON_NO_CPUS);
    return why;
}

/* Makes the own cgroup, with the CPUs of the record. */
static cpubind_linux_fault make(cpubind_binding *b, int base, int *own)
{
    char name[CPUBIND_COMM_SIZE];
    cpubind_linux_fault why = cpubind_no_fault;
    name_own(b->options.pid, name);
    /* One that is there is left of a binding whose record is lost, or was not its own any more:
     * the process may be in it. */
    if (b->sys->mkdirat(base, name, 0755) < 0 && errno != EEXIST)
        return cpubind_fault_errno("mkdir");
    why = open_own(&b->root, &b->record, base, own);
    if (!why.error)
        why = write_file(b->sys, *own, "cgroup.type", "threaded\n");
    if (!why.error)
        why = enable(b->sys, base, *own);
    return why.error ? why : set_cpus(b, *own);
}

static cpubind_linux_fault move_in(cpubind_binding *b, int own)
{
    cpubind_linux_fault why;
    b->has_moved_threads = 1;
    b->is_entered = 1;
    why = write_pid(b->sys, own, b->options.pid);
    if (!why.error && !cpubind_partition_has(b))
        why = because(EXDEV, REASON_ELSEWHERE);
    return why;
}

/* Why the controller cannot be used below a cgroup.
 *   out     *is_kept: it is enabled there, and no cpubind has done it */
static cpubind_linux_fault check_base(const cpubind_sys *sys, int base, int *is_kept)
{
    int is_there, is_enabled = 0, is_any = 0;
    cpubind_linux_fault why = find_cpuset(sys, base, CONTROLLERS, &is_there);
    if (!why.error && !is_there)
        why = because(EOPNOTSUPP, REASON_CONTROLLER);
    if (!why.error)
        why = find_cpuset(sys, base, CONTROL, &is_enabled);
    if (!why.error)
        why = find_below(sys, base, &is_any);
    /* Up to Linux 6.1, enabling it would change the masks of all that is in those cgroups. */
    if (!why.error && !is_enabled && is_any)
        why = because(EBUSY, REASON_SHARED);
    *is_kept = is_enabled && !is_any;
    return why;
}

/* Records what is to be done, and all threads.
 *   out     *is_fatal: the fault is one of the call */
static cpubind_linux_fault record_plan(cpubind_binding *b, const char *from, int32_t cpuset,
                                       int *is_fatal)
{
    cpubind_record *r = &b->record;
    cpubind_linux_fault why = cpubind_no_fault;
    if (cpuset != r->before)
        why = cpubind_record_add_placed(r, b->sys, cpuset);
    if (from != r->cgroup)
        (void)snprintf(r->cgroup, sizeof r->cgroup, "%s", from);
    r->cpuset = cpuset;
    b->is_dirty = 1;
    if (!why.error)
        why = cpubind_note_threads(b);
    *is_fatal = why.error != 0;
    return why;
}

/* Gives the process a cgroup of its own; after a failure all is undone. */
static cpubind_linux_fault enter_new(cpubind_binding *b, const char *from, int32_t cpuset,
                                     int *is_fatal)
{
    int base = -1, own = -1;
    cpubind_linux_fault why =
        open_folder(&b->root, from, cpubind_cgroup_outside(from, (int32_t)strlen(from)), &base);
    if (!why.error)
        why = check_base(b->sys, base, &b->record.is_cpuset_kept);
    if (!why.error)
        why = record_plan(b, from, cpuset, is_fatal);
    if (!why.error)
        why = make(b, base, &own);
    if (!why.error)
        why = move_in(b, own);
    close_folder(b->sys, own);
    close_folder(b->sys, base);
    if (why.error && !*is_fatal && *b->record.cgroup) {
        const cpubind_linux_fault left = cpubind_partition_leave(b);
        *is_fatal = left.error != 0;
        if (!*is_fatal)
            *b->record.cgroup = '\0';
        b->is_dirty = 1;
    }
    return why;
}

/* Gives the own cgroup the CPUs of a new goal. */
static cpubind_linux_fault enter_again(cpubind_binding *b, int32_t cpuset, int *is_fatal)
{
    const int32_t was = b->record.cpuset;
    int base = -1, own = -1;
    cpubind_linux_fault why = cpubind_no_fault;
    cpubind_partition_close(b);
    if (!cpubind_partition_has(b))
        return because(ENOENT, REASON_LEFT);
    why = record_plan(b, b->record.cgroup, cpuset, is_fatal);
    if (!why.error)
        why = open_base(&b->root, &b->record, &base);
    if (!why.error)
        why = open_own(&b->root, &b->record, base, &own);
    b->has_moved_threads |= !why.error;
    b->is_entered = !why.error;
    if (!why.error)
        why = set_cpus(b, own);
    close_folder(b->sys, own);
    close_folder(b->sys, base);
    if (why.error && !*is_fatal)
        b->record.cpuset = was;
    return why;
}

cpubind_linux_fault cpubind_partition_enter(cpubind_binding *b)
{
    char from[CPUBIND_CGROUP_SIZE] = "", name[CPUBIND_COMM_SIZE];
    cpubind_subject subject = cpubind_own_subject(b, CPUBIND_ITEM_CGROUP, b->options.pid, name);
    const int is_again = *b->record.cgroup != '\0';
    int is_fatal = 0;
    cpubind_linux_fault why = is_again ? cpubind_no_fault : read_path(b, from);
    cpubind_linux_fault of_cpus, no_memory;
    const int32_t len = (int32_t)strlen(from);
    const int32_t outside = cpubind_cgroup_outside(from, len);
    if (!is_again && !b->options.wants_cpuset && outside == len)
        return cpubind_no_fault;
    if (outside < len && is_own(b->options.pid, from + outside))
        (void)snprintf(from + outside, sizeof from - (size_t)outside, "%s", outside ? "" : "/");
    name_own(b->options.pid, name);
    if (is_again)
        subject.was = b->record.cpuset;
    of_cpus = find_cpus(b, &subject.should);
    if (!why.error)
        why = of_cpus;
    if (!why.error)
        why = is_again ? enter_again(b, subject.should, &is_fatal)
                       : enter_new(b, from, subject.should, &is_fatal);
    is_fatal |= why.error == ESRCH || (why.error && strcmp(why.what, "memory") == 0);
    no_memory = cpubind_report_why(b, &subject,
                                   is_fatal                        ? CPUBIND_ITEM_FAILED
                                   : why.error                     ? CPUBIND_ITEM_SKIPPED
                                   : subject.was == subject.should ? CPUBIND_ITEM_RIGHT
                                                                   : CPUBIND_ITEM_MOVED,
                                   why);
    return is_fatal ? why : no_memory;
}

/* == Leaving it ============================================================= */

/* Whether somebody else has changed the own cgroup. */
static cpubind_linux_fault check_own(cpubind_binding *b, int own)
{
    int32_t set;
    int is_any = 0;
    cpubind_linux_fault why = read_cpus(b->sys, own, CPUS, &b->record.sets, &set);
    if (why.error == ENOENT) /* the controller was not enabled yet */
        why = cpubind_no_fault;
    if (!why.error)
        why = find_below(b->sys, own, &is_any);
    if (!why.error &&
        (is_any || (set >= 0 && set != b->record.cpuset && set != b->record.before &&
                    !cpubind_record_is_placed(&b->record, set))))
        why = because(EBUSY, REASON_CHANGED);
    return why;
}

/* Moves the process to the cgroup that it was in; to base, if that one is gone. Notes what the
 * kernel gives its threads then: nobody has moved those. */
static cpubind_linux_fault move_back(cpubind_binding *b, int base)
{
    const cpubind_record *r = &b->record;
    int32_t is, was;
    int from = -1;
    cpubind_linux_fault why = cpubind_task_cpus(b->sys, b->options.pid, &b->record.sets, &was);
    if (!why.error)
        (void)open_folder(&b->root, r->cgroup, (int32_t)strlen(r->cgroup), &from);
    if (!why.error)
        why = write_pid(b->sys, from < 0 ? base : from, b->options.pid);
    close_folder(b->sys, from);
    if (!why.error)
        why = cpubind_task_cpus(b->sys, b->options.pid, &b->record.sets, &is);
    if (!why.error && is != was)
        b->given = is;
    return why.error == ESRCH ? cpubind_no_fault : why;
}

/* Moves what else is in the own cgroup, children of the process, to base, until it is empty and
 * can be removed. */
static cpubind_linux_fault remove_own(const cpubind_sys *sys, int base, int own, int32_t pid)
{
    const int64_t end_ms = cpubind_now_ms() + EMPTY_MS;
    cpubind_linux_fault why = cpubind_no_fault;
    char name[CPUBIND_COMM_SIZE], text[64];
    name_own(pid, name);
    while (!why.error) {
        int32_t len;
        if (sys->unlinkat(base, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
            return cpubind_no_fault;
        why = errno == EBUSY && cpubind_now_ms() < end_ms ? cpubind_no_fault
                                                          : cpubind_fault_errno("rmdir");
        if (!why.error)
            why = cpubind_read_text(sys, own, THREADS, text, sizeof text, &len);
        if (!why.error && len > 0)
            why = write_pid(sys, base, (int32_t)strtol(text, NULL, 10));
        if (why.error == ESRCH) /* it has ended */
            why = cpubind_no_fault;
    }
    return why;
}

/* Disables the controller below base again, where nobody else needs it. */
static cpubind_linux_fault disable(const cpubind_sys *sys, const cpubind_record *r, int base)
{
    int is_any, is_enabled = 0;
    cpubind_linux_fault why = find_below(sys, base, &is_any);
    if (!why.error && !r->is_cpuset_kept && !is_any)
        why = find_cpuset(sys, base, CONTROL, &is_enabled);
    if (is_enabled)
        why = write_file(sys, base, CONTROL, "-cpuset\n");
    /* EBUSY: another cpubind has begun to need it */
    return why.error == EBUSY ? cpubind_no_fault : why;
}

cpubind_linux_fault cpubind_partition_leave(cpubind_binding *b)
{
    const cpubind_record *r = &b->record;
    char path[CPUBIND_CGROUP_SIZE] = "";
    int base = -1, own = -1, is_away = 0;
    cpubind_linux_fault why = open_base(&b->root, r, &base);
    cpubind_partition_close(b);
    b->is_entered = 0;
    if (why.error == ENOENT || !cpubind_is_same_boot(r->boot, b->boot))
        why = cpubind_no_fault; /* it is gone, with all below it */
    else if (!why.error) {
        why = open_own(&b->root, r, base, &own);
        if (!why.error)
            why = check_own(b, own);
        if (!why.error && cpubind_process_is_alive(b))
            why = read_path(b, path);
        if (!why.error && is_own_path(r, path))
            why = move_back(b, base);
        else if (!why.error)
            is_away = *path && strcmp(path, r->cgroup) != 0;
        if (!why.error)
            why = remove_own(b->sys, base, own, r->pid);
        if (why.error == ENOENT && own < 0)
            why = cpubind_no_fault;
        if (!why.error)
            why = disable(b->sys, r, base);
        if (!why.error && is_away)
            why = because(EBUSY, REASON_LEFT);
    }
    close_folder(b->sys, own);
    close_folder(b->sys, base);
    return why;
}

int cpubind_partition_sweep(const cpubind_root *root, const cpubind_record *record)
{
    char name[CPUBIND_COMM_SIZE];
    int base = -1, is_gone;
    const int error = *record->cgroup ? open_base(root, record, &base).error : ENOENT;
    if (error)
        return error == ENOENT;
    name_own(record->pid, name);
    is_gone = root->sys->unlinkat(base, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
    if (is_gone)
        is_gone = disable(root->sys, record, base).error == 0;
    root->sys->close(base);
    return is_gone;
}

cpubind_linux_fault cpubind_partition_undo(cpubind_binding *b, const cpubind_record *previous)
{
    int base = -1, own = -1;
    cpubind_linux_fault why;
    if (!*b->record.cgroup)
        return cpubind_no_fault;
    if (!*previous->cgroup)
        return cpubind_partition_leave(b);
    cpubind_partition_close(b);
    if (!b->is_entered)
        return cpubind_no_fault;
    why = open_base(&b->root, previous, &base);
    if (!why.error)
        why = open_own(&b->root, previous, base, &own);
    if (!why.error)
        why = write_file(b->sys, own, CPUS,
                         cpubind_cpu_sets_text(&previous->sets, previous->cpuset));
    close_folder(b->sys, own);
    close_folder(b->sys, base);
    return why;
}

/* == Verifying it =========================================================== */

cpubind_linux_fault cpubind_compare_partition(cpubind_binding *b)
{
    char name[CPUBIND_COMM_SIZE];
    cpubind_subject subject = cpubind_own_subject(b, CPUBIND_ITEM_CGROUP, b->options.pid, name);
    int base = -1, own = -1;
    cpubind_linux_fault why;
    if (!*b->record.cgroup)
        return cpubind_no_fault;
    name_own(b->options.pid, name);
    subject.should = b->record.cpuset;
    why = open_base(&b->root, &b->record, &base);
    if (!why.error)
        why = open_own(&b->root, &b->record, base, &own);
    if (!why.error)
        why = read_cpus(b->sys, own, EFFECTIVE, &b->record.sets, &subject.was);
    close_folder(b->sys, own);
    close_folder(b->sys, base);
    if (!why.error && !cpubind_partition_has(b))
        why = because(ENOENT, REASON_LEFT);
    if (why.error && strcmp(why.what, "memory") == 0)
        return why;
    return cpubind_report_why(
        b, &subject,
        !why.error && (subject.was == subject.should ||
                       cpubind_lacks_offline_alone(b, subject.was, subject.should))
            ? CPUBIND_ITEM_RIGHT
            : CPUBIND_ITEM_WRONG,
        why);
}
