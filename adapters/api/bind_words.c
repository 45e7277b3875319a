/* reasons.c - explain what a binding did not do, and why a call failed
 * SPDX-License-Identifier: MIT
 *
 * A message says what, where, why, and what to do. Prints warnings only; changes nothing. The
 * statuses and items are those of adapters/linux/bind/bind.h. MESSAGES.md quotes the sentences:
 * tests/checks/readme.sh compares.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "api.h"

#define MIB (1 << 20)

const char *api_kind_word(cpubind_item_kind kind)
{
    static const char *const words[] = {
        [CPUBIND_ITEM_THREAD] = "thread",       [CPUBIND_ITEM_IRQ] = "irq",
        [CPUBIND_ITEM_POLLING] = "uvb",         [CPUBIND_ITEM_KERNEL] = "kernel",
        [CPUBIND_ITEM_WORKQUEUE] = "workqueue", [CPUBIND_ITEM_IRQBALANCE] = "irqbalance",
        [CPUBIND_ITEM_FILE] = "file",           [CPUBIND_ITEM_BAN] = "ban"};
    return words[kind];
}

/* == Items that were skipped or kept ======================================== */

static int is_right_missing(int error)
{
    return error == EACCES || error == EPERM || error == EROFS;
}

/* Whether the function of an interrupt has no such interrupt now. */
static int is_gone(const cpubind_item *item)
{
    return item->kind == CPUBIND_ITEM_IRQ && item->what && strcmp(item->what, "gone") == 0;
}

static void explain_irq(const cpubind_item *item, api_text *to)
{
    api_add(to, "interrupt %d (%s): ", (int)item->id, item->name);
    if (is_gone(item))
        api_add(to, "its PCI function has no such interrupt now; is its driver loaded?");
    else if (is_right_missing(item->error))
        api_add(to,
                "/proc/irq may not be written from here (%s): run it as root, on the host "
                "or in a privileged container",
                strerror(item->error));
    else if (item->error == ENOENT)
        api_add(to, "there is no /proc/irq/%d here", (int)item->id);
    else if (item->error == EIO)
        api_add(to, "the kernel manages this interrupt itself and refuses to move it");
    else if (item->error == ENOSPC)
        api_add(to, "CPU %s has no free interrupt vector", item->should);
    else
        api_add(to, "%s: %s", item->what, strerror(item->error));
}

static void explain_queue(const cpubind_item *item, api_text *to)
{
    api_add(to, "work queue %s: ", item->name);
    if (is_right_missing(item->error))
        api_add(to, "its CPUs may not be written from here (%s): run it as root, on the host",
                strerror(item->error));
    else
        api_add(to, "%s it: %s", item->what, strerror(item->error));
}

static void explain_irqbalance(const cpubind_item *item, api_text *to)
{
    api_add(to, "irqbalance (process %d) could not be changed: ", (int)item->id);
    if (is_right_missing(item->error))
        api_add(to, "%s; run it as root", strerror(item->error));
    else if (item->error == ENOENT || item->error == ECONNREFUSED)
        api_add(to,
                "its socket is not visible here; run it on the host, or stop irqbalance there");
    else
        api_add(to, "%s: %s", item->what, strerror(item->error));
}

/* A thread that has only some of its CPUs, or shares those of main. */
static void explain_part(const cpubind_item *item, api_text *to)
{
    api_add(to, "thread %d (%s) is not on all of its CPUs, %s: ", (int)item->id, item->name,
            item->should);
    if (strcmp(item->what, "offline") == 0)
        api_add(to, "some are offline");
    else
        api_add(to, "its cpuset allows some of them only, or none");
}

/* Who refuses to move a thread.
 *   returns 0 when the text names nobody */
static int explain_refuser(const char *what, api_text *to)
{
    if (strcmp(what, CPUBIND_REFUSED_BY_FILTER) == 0)
        api_add(to, "a filter of system calls (seccomp) forbids sched_setaffinity here");
    else if (strcmp(what, CPUBIND_REFUSED_BY_MODULE) == 0)
        api_add(to, "a security module (SELinux, AppArmor) forbids sched_setaffinity here");
    else if (strcmp(what, CPUBIND_REFUSED_BY_OWNER) != 0)
        return 0;
    else if (geteuid() == 0)
        api_add(to, "it belongs to another user, and the capability SYS_NICE is missing here");
    else
        api_add(to, "it belongs to another user: run it as root");
    return 1;
}

void api_explain_births(int32_t pid, api_text *to)
{
    api_add(to,
            "threads of process %d are born faster than they are looked at: those that were "
            "seen are where they belong, others may not be, and the record stays",
            (int)pid);
}

static void explain_thread(const cpubind_item *item, api_text *to)
{
    const int is_own = item->kind == CPUBIND_ITEM_THREAD;
    if (item->id == 0 && strcmp(item->what, CPUBIND_BIRTHS) == 0) {
        api_explain_births((int)item->pid, to);
        return;
    }
    if (item->id == 0) { /* a step of a watch */
        api_add(to, "cannot %s process %d: %s", item->what, (int)item->pid,
                strerror(item->error));
        return;
    }
    api_add(to, "thread %d (%s): ", (int)item->id, item->name);
    if (item->error == EAGAIN)
        api_add(to, "the thread itself or another program keeps moving it");
    else if (item->error == EINVAL && (!is_own || strcmp(item->what, "kernel thread") == 0))
        api_add(to, "the kernel allows nobody to move it");
    else if (item->error == EINVAL)
        api_add(to, "none of its CPUs, %s, is online and in its cpuset",
                item->should ? item->should : "?");
    else if (item->error == EBUSY)
        api_add(to, "a thread of SCHED_DEADLINE cannot be moved");
    else if (explain_refuser(item->what, to))
        return;
    else if (item->error == EPERM && item->kind == CPUBIND_ITEM_KERNEL)
        api_add(to, "it belongs to another user: run it as root");
    else
        api_add(to, "%s: %s", item->what, strerror(item->error));
}

/* Another cpubind keeps the record of what several processes share. */
static void explain_host_lock(const cpubind_outcomes *report, api_text *to)
{
    const int holder = (int)report->host_holder;
    char path[CPUBIND_PLACE_SIZE];
    cpubind_bind_usual_path(0, NULL, path);
    api_add(to, "the record of the interrupts of this host, %s, is in use by ", path);
    if (holder == 0)
        api_add(to, "another cpubind");
    else
        api_add(to, "cpubind %d", holder);
    if (report->host_holder_state == 'T')
        api_add(to, ", which is stopped: continue it (kill -CONT %d) or end it", holder);
    else if (holder != 0)
        api_add(to, ", which does not go on: ps -o stat,wchan,args -p %d says why", holder);
}

static int is_host_busy(const cpubind_item *item)
{
    return item->error == EWOULDBLOCK && item->what &&
           strcmp(item->what, CPUBIND_HOST_LOCK) == 0;
}

/* An item that waits for the record of the host. */
static void explain_busy(const cpubind_outcomes *report, const cpubind_item *item, api_text *to)
{
    int n = -1; /* the others of this kind */
    for (int32_t i = 0; i < report->n; i++)
        n += report->item[i].kind == item->kind && is_host_busy(&report->item[i]);
    api_add(to, "%s", api_kind_word(item->kind));
    if (item->id > 0)
        api_add(to, " %d", (int)item->id);
    api_add(to, " (%s)", item->name);
    if (n > 0)
        api_add(to, " and %d more stay where they are: ", n);
    else
        api_add(to, " stays where it is: ");
    explain_host_lock(report, to);
}

static void explain_item(const cpubind_outcomes *report, const cpubind_item *item, api_text *to)
{
    if (is_host_busy(item)) {
        explain_busy(report, item, to);
        return;
    }
    if (item->result == CPUBIND_ITEM_KEPT) {
        api_add(to, "%s %d (%s) was moved by somebody else since, to %s: it stays there",
                api_kind_word(item->kind), (int)item->id, item->name, item->was);
        return;
    }
    if (item->result == CPUBIND_ITEM_PART) {
        explain_part(item, to);
        return;
    }
    if (item->result == CPUBIND_ITEM_MOVED) {
        api_add(to,
                "thread %d (%s) of process %d moves itself, or another program moves it, again "
                "and again, now to %s: --thread %s=leave leaves it alone (thread = %s=leave in "
                "the settings of the service), or the engine's own switch",
                (int)item->id, item->name, (int)item->pid, item->was, item->name, item->name);
        return;
    }
    switch (item->kind) {
    case CPUBIND_ITEM_IRQ:
        explain_irq(item, to);
        return;
    case CPUBIND_ITEM_IRQBALANCE:
        explain_irqbalance(item, to);
        return;
    case CPUBIND_ITEM_WORKQUEUE:
        explain_queue(item, to);
        return;
    default:
        explain_thread(item, to);
    }
}

/* == Warnings =============================================================== */

/* Who hears the warnings. */
typedef struct listener {
    api_hear *hear;
    void *ctx;
    int is_reading; /* verify: nothing was changed */
    int is_watching;
} listener;

static void warn(const listener *to, const char *code, const api_text *text)
{
    to->hear(to->ctx, code, text->text);
}

/* The code of a warning about an item; NULL: there is nothing to warn of. */
static const char *code_of(const cpubind_item *item)
{
    if (is_gone(item))
        return "gone";
    switch (item->result) {
    case CPUBIND_ITEM_MOVED:
        return item->what && strcmp(item->what, CPUBIND_AGAIN) == 0 ? "moves_itself" : NULL;
    case CPUBIND_ITEM_SKIPPED:
        return "skipped";
    case CPUBIND_ITEM_PART:
        return "part";
    case CPUBIND_ITEM_KEPT:
        return "kept";
    default:
        return NULL;
    }
}

/* Warns about items; of several that are alike only about the first. */
static void warn_items(const listener *to, const cpubind_outcomes *report)
{
    for (int32_t i = 0; i < report->n; i++) {
        const cpubind_item *item = &report->item[i];
        api_text text = {"", 0};
        int32_t k = 0;
        if (!code_of(item))
            continue;
        while (k < i &&
               (report->item[k].kind != item->kind || report->item[k].result != item->result ||
                report->item[k].error != item->error || !code_of(&report->item[k])))
            k++;
        if (k < i)
            continue;
        explain_item(report, item, &text);
        if (is_host_busy(item))
            api_add(&text, "; %s",
                    to->is_watching ? "the watch binds it then"
                                    : "then apply again, or use apply --watch");
        else if (item->result == CPUBIND_ITEM_PART)
            api_add(&text, "; %s puts it there when they return",
                    to->is_watching ? "the watch" : "apply --watch");
        else if (item->error == EAGAIN && !to->is_watching)
            api_add(&text, "; use apply --watch");
        else if (to->is_watching && item->result != CPUBIND_ITEM_MOVED)
            api_add(&text, "; the watch %s", item->id == 0 ? "goes on" : "tries again");
        warn(to, code_of(item), &text);
    }
}

static void warn_irqs(const listener *to, const cpubind_outcomes *report)
{
    api_text text = {"", 0};
    if (report->no_irq != CPUBIND_IRQ_FOUND && report->no_irq != CPUBIND_IRQ_NO_ROLE) {
        api_add(&text, "no interrupt is %s: %s", to->is_reading ? "looked at" : "bound",
                cpubind_no_irq_text(report->no_irq));
        warn(to, cpubind_no_irq_word(report->no_irq), &text);
        return;
    }
    if (!report->irqbalance_runs)
        return;
    api_add(&text, "irqbalance runs and moves the interrupts away within seconds: use "
                   "--irqbalance ban");
    warn(to, "irqbalance", &text);
}

static void explain_no_room(const cpubind_memory_move *memory, api_text *to)
{
    if (memory->is_node_out)
        api_add(to, "the kernel finds no free page on node %d", (int)memory->node);
    else
        api_add(to, "node %d is full but for its reserve of %lld MiB", (int)memory->node,
                (long long)(memory->reserve / MIB));
    if (memory->room >= 0)
        api_add(to, " (%lld MiB are free there)", (long long)(memory->room / MIB));
}

void api_explain_stay(const cpubind_memory_move *memory, cpubind_memory_stay stay, api_text *to)
{
    static const char hidden[] = "the kernel does not find them: Linux 6.1 to 6.4 hide pages "
                                 "that NUMA balancing has marked, and pages without access";
    static const char *const why[CPUBIND_STAY_COUNT] = {
        [CPUBIND_STAY_SHARED] = "other processes map these pages too",
        [CPUBIND_STAY_LOCKED] = "the process has locked these mappings",
        [CPUBIND_STAY_HUGE] = "pages of hugetlbfs",
        [CPUBIND_STAY_BUSY] = "a driver has pinned them, or the kernel uses them",
        [CPUBIND_STAY_HIDDEN] = hidden,
        [CPUBIND_STAY_LIMIT] = "moving them would exceed --memory-limit",
        [CPUBIND_STAY_STOPPED] = "the move was interrupted"};
    if (stay == CPUBIND_STAY_NO_ROOM)
        explain_no_room(memory, to);
    else if (stay == CPUBIND_STAY_TIME)
        api_add(to, "moving them takes longer than --memory-time allows (%lld s)",
                (long long)((memory->time_ms + 999) / 1000));
    else
        api_add(to, "%s", why[stay]);
}

static long long mib_of(int64_t bytes)
{
    return (long long)((bytes + MIB - 1) / MIB);
}

/* Says why own memory stays on other nodes: of each part what was found out. */
static void explain_rest(const cpubind_memory_move *memory, api_text *to)
{
    int n = 0;
    if (memory->own_left == 0)
        return;
    for (int i = CPUBIND_STAY_BUSY; i < CPUBIND_STAY_COUNT; i++)
        n += memory->stay[i] > 0;
    api_add(to, "%lld MiB of memory stay on other nodes", mib_of(memory->own_left));
    for (int i = CPUBIND_STAY_BUSY, k = 0; i < CPUBIND_STAY_COUNT; i++) {
        if (memory->stay[i] == 0)
            continue;
        api_add(to, "%s", k++ ? "; " : ": ");
        if (n > 1)
            api_add(to, "%lld MiB: ", mib_of(memory->stay[i]));
        api_explain_stay(memory, (cpubind_memory_stay)i, to);
    }
    if (memory->stay[CPUBIND_STAY_HIDDEN] > 0)
        api_add(to, "; sysctl kernel.numa_balancing=0, and apply again when the process has "
                    "used them");
    if (memory->result == CPUBIND_MEMORY_STOPPED)
        api_add(to, "; process %d is bound", (int)memory->pid);
}

static void explain_memory(const cpubind_memory_move *memory, api_text *to)
{
    switch (memory->result) {
    case CPUBIND_MEMORY_MOVED:
        return;
    case CPUBIND_MEMORY_PART:
    case CPUBIND_MEMORY_LIMIT:
    case CPUBIND_MEMORY_TIME:
    case CPUBIND_MEMORY_NO_ROOM:
    case CPUBIND_MEMORY_STOPPED:
        explain_rest(memory, to);
        return;
    case CPUBIND_MEMORY_REFUSED:
        api_add(to, "memory is not moved: %s: %s", memory->what ? memory->what : "?",
                strerror(memory->error));
        if (!is_right_missing(memory->error))
            return;
        api_add(to, "; another user's process needs root");
        if (memory->what && strcmp(memory->what, "move_pages") == 0)
            api_add(to,
                    "; in a container the seccomp profile must allow it too: SYS_NICE is not "
                    "enough");
        return;
    case CPUBIND_MEMORY_NO_NODE:
        api_add(to, "memory is not moved: only one node has memory, or node %d has none",
                (int)memory->node);
        return;
    }
}

/* Says what verify does not count as drift. */
static void explain_left(const cpubind_outcomes *report, api_text *to)
{
    const cpubind_memory_move *memory = &report->memory;
    const int64_t left =
        report->memory_left < memory->own_left ? report->memory_left : memory->own_left;
    if (memory->error || memory->result == CPUBIND_MEMORY_NO_NODE || left == 0)
        return;
    api_add(to,
            "%lld MiB of memory are where apply has left them, on other nodes (%s): apply "
            "again",
            mib_of(left), cpubind_memory_stay_word(report->left_why));
}

static void explain_unread_memory(const cpubind_memory_move *memory, api_text *to)
{
    if (memory->result != CPUBIND_MEMORY_REFUSED)
        return;
    api_add(to, "the nodes of the memory cannot be read: %s: %s",
            memory->what ? memory->what : "?", strerror(memory->error));
    if (is_right_missing(memory->error))
        api_add(to, "; another user's process needs root; --memory none skips the memory");
}

/* Warns about what makes a report of memory less certain. */
static void warn_doubts(const listener *to, const cpubind_memory_move *memory)
{
    api_text pagemap = {"", 0}, balancing = {"", 0};
    if (memory->pagemap_error) {
        api_add(&pagemap,
                "own and shared pages cannot be told apart in advance: /proc/%d/pagemap: %s",
                (int)memory->pid, strerror(memory->pagemap_error));
        warn(to, "pagemap", &pagemap);
    }
    if (memory->is_balancing) {
        api_add(&balancing, "automatic NUMA balancing is on and may move pages of all "
                            "processes away again: sysctl kernel.numa_balancing=0 ends that");
        warn(to, "numa_balancing", &balancing);
    }
}

static void warn_memory(const listener *to, const cpubind_outcomes *report)
{
    api_text text = {"", 0};
    if (report->has_memory && to->is_reading) {
        explain_unread_memory(&report->memory, &text);
        explain_left(report, &text);
    } else if (report->has_memory)
        explain_memory(&report->memory, &text);
    if (report->prefer_error)
        api_add(&text,
                "new memory may come from any node: set_mempolicy: %s; a container needs the "
                "capability SYS_NICE",
                strerror(report->prefer_error));
    if (text.len > 0)
        warn(to, "memory", &text);
    if (report->has_memory)
        warn_doubts(to, &report->memory);
}

/* A watch that gets no events. */
static void warn_events(const listener *to, const cpubind_outcomes *report)
{
    const cpubind_linux_fault *why = &report->no_events;
    api_text text = {"", 0};
    if (!why->error)
        return;
    api_add(
        &text,
        "the watch sees new and renamed threads at the end of a period only: the kernel sends "
        "no events (%s: %s); ",
        why->what, strerror(why->error));
    if (is_right_missing(why->error))
        api_add(&text, "run it as root, or with the capability NET_ADMIN");
    else if (why->error == ECONNREFUSED)
        api_add(&text, "they need the network namespace of the host");
    else
        api_add(&text, "they need the pid and user namespaces of the host, and a kernel with "
                       "CONFIG_PROC_EVENTS");
    warn(to, "events", &text);
}

static void warn_all(const listener *to, const cpubind_outcomes *report)
{
    warn_events(to, report);
    warn_items(to, report);
    warn_irqs(to, report);
    warn_memory(to, report);
}

/* Whether a pattern may be for a kernel thread, a work queue or an interrupt of the driver: not
 * every host has them. */
static int may_be_of_driver(const char *pattern)
{
    const cpubind_thread_role *row;
    for (int32_t i = 0; (row = cpubind_thread_role_at(i)) != NULL; i++)
        if (row->named != CPUBIND_NAMED_THREAD &&
            strncmp(pattern, row->pattern, strcspn(row->pattern, "<*")) == 0)
            return 1;
    return 0;
}

/* Whether an item of a report has a name that a pattern fits. */
static int is_any_named(const cpubind_outcomes *report, const char *text)
{
    char pattern[CPUBIND_PATTERN_SIZE];
    if (!cpubind_pattern_make(text, pattern))
        return 1;
    for (int32_t i = 0; i < report->n; i++)
        if (cpubind_pattern_matches(pattern, report->item[i].name))
            return 1;
    return 0;
}

/* A name of --thread that no thread has: a mistake in writing, or the thread comes later. Those
 * of this process come when it runs its program. */
static void warn_wishes(const listener *to, const api_bound *bound,
                        const cpubind_outcomes *report)
{
    const int is_early = to->is_watching || bound->pid == (int32_t)getpid();
    for (int32_t i = 0; i < bound->n_wish && !is_early; i++) {
        const char *name = bound->wish[i].name;
        api_text text = {"", 0};
        if (is_any_named(report, name) || may_be_of_driver(name))
            continue;
        api_add(
            &text,
            "no thread of process %d has the name \"%s\" of --thread now: ps -L -o comm= -p "
            "%d prints the names",
            (int)bound->pid, name, (int)bound->pid);
        warn(to, "thread", &text);
    }
}

static int is_of_bound(const void *ctx, int32_t pid)
{
    return pid == ((const api_bound *)ctx)->pid;
}

void api_find_other_rules(api_bound *bound)
{
    bound->other_rules =
        cpubind_bind_find_other_rules(bound->goal.rules, is_of_bound, bound, NULL);
}

void api_warn_other_rules(const cpubind_other_rules *others, const char *rules, api_hear *hear,
                          void *ctx)
{
    api_text text = {"", 0};
    if (others->n == 0)
        return;
    api_add(&text, "the rules of this plan are %s, and ", rules);
    if (others->n == 1)
        api_add(&text, "process %d of this host is bound by the rules %s", (int)others->pid,
                others->rules);
    else
        api_add(&text, "%d processes of this host are bound by other ones (%d by %s)",
                (int)others->n, (int)others->pid, others->rules);
    api_add(
        &text,
        ": they may have the same CPUs; export CPUBIND_RULES=%s or CPUBIND_RULES=%s for all "
        "workers, or cpubind restore --all and bind anew",
        rules, others->rules);
    hear(ctx, "other_rules", text.text);
}

void api_explain_other_device(int32_t pid, const char *uses, const char *bound, api_text *to)
{
    api_add(
        to,
        "it uses %s, and is bound to the CPUs of %s: cpubind apply --pid %d finds the device "
        "that it uses",
        uses, bound, (int)pid);
}

void api_warn_outcome(const api_bound *bound, const cpubind_outcomes *report, api_hear *hear,
                      void *ctx)
{
    const listener to = {hear, ctx, bound->is_reading, bound->is_watching};
    api_text text = {"", 0};
    if (bound->service_said)
        hear(ctx, "service", bound->service_said);
    api_add(&text, "a measurement (process %d) that was killed has left process %d so",
            (int)report->measurer, (int)bound->pid);
    if (report->measurer)
        hear(ctx, "measured", text.text);
    text.len = 0;
    if (*bound->opened) {
        api_add(&text, "process %d: ", (int)bound->pid);
        api_explain_other_device(bound->pid, bound->opened, bound->device, &text);
        hear(ctx, "other_device", text.text);
    }
    warn_all(&to, report);
    warn_wishes(&to, bound, report);
}

void api_warn_news(const cpubind_outcomes *report, api_hear *hear, void *ctx)
{
    warn_items(&(listener){hear, ctx, 0, 1}, report);
}

void api_warn_rest(const cpubind_outcomes *report, api_hear *hear, void *ctx)
{
    api_text text = {"", 0};
    if (report->has_memory && report->memory.own_left > 0)
        explain_memory(&report->memory, &text);
    if (text.len > 0)
        hear(ctx, "memory", text.text);
}

void api_json_outcome_warnings(api_out *to, const char *key, const api_bound *bound,
                               const cpubind_outcomes *report)
{
    api_json_warnings(to, key, &bound->planned);
    if (bound->goal.rules)
        api_warn_other_rules(&bound->other_rules, bound->goal.rules, api_add_warning, to);
    api_warn_outcome(bound, report, api_add_warning, to);
    api_json_close(to, ']');
}

/* == Failures =============================================================== */

/* The report of a binding; an empty one where whoever had the binding says its fault alone. */
static const cpubind_outcomes *report_of(const api_bound *bound)
{
    static const cpubind_outcomes none;
    return bound->binding ? cpubind_bind_report(bound->binding) : &none;
}

static const cpubind_item *failed_item(const api_bound *bound)
{
    const cpubind_outcomes *report = report_of(bound);
    for (int32_t i = 0; i < report->n; i++)
        if (report->item[i].result == CPUBIND_ITEM_FAILED)
            return &report->item[i];
    return NULL;
}

static void explain_missing_process(int32_t pid, int error, api_text *why)
{
    if (error == EPERM)
        api_add(why,
                "process %d is hidden from this user (/proc is mounted with hidepid): run "
                "it as root",
                (int)pid);
    else if (error == ENOENT)
        api_add(why, "/proc is not mounted here, or is empty: no process can be read");
    else if (error == ESRCH)
        api_add(why,
                "there is no process %d here; a process of a container has another number "
                "outside of it",
                (int)pid);
    else if (error == EINVAL)
        api_add(why, "%d is the number of a thread: name its process (Tgid in /proc/%d/status)",
                (int)pid, (int)pid);
    else
        api_add(why, "process %d cannot be read below /proc: %s", (int)pid, strerror(error));
}

static void explain_thread_refused(const api_bound *bound, const cpubind_item *item,
                                   const cpubind_linux_fault *fault, api_text *why)
{
    api_add(why, "thread %d (%s) of process %d cannot be put on CPUs %s: ", (int)item->id,
            item->name, (int)bound->pid, item->should ? item->should : "?");
    if (strcmp(fault->what, "offline") == 0)
        api_add(why, "some of them are offline");
    else if (strcmp(fault->what, "kernel thread") == 0)
        api_add(why, "the kernel allows nobody to move it");
    else if (fault->error == EBUSY)
        api_add(why, "a thread of SCHED_DEADLINE cannot be moved");
    else if (strcmp(fault->what, "cpuset") == 0)
        api_add(why, "its cpuset allows some of them only; plan inside of it: --allowed LIST "
                     "(cpuset.cpus.effective of its cgroup)");
    else if (fault->error == EINVAL)
        api_add(why, "none of them is online and in its cpuset; plan inside of it: --allowed "
                     "LIST (cpuset.cpus.effective of its cgroup)");
    else if (!explain_refuser(fault->what, why))
        api_add(why, "%s: %s", fault->what, strerror(fault->error));
}

/* Says which cpubind wrote a record whose form this one does not know: "FORM VERSION". */
static void add_form(const char *form, api_text *to)
{
    const char *const version = strchr(form, ' ');
    api_add(to,
            "has form %.*s, which cpubind %s wrote; this one, cpubind " CPUBIND_VERSION
            ", does not know it and leaves it alone: ",
            (int)strcspn(form, " "), *form ? form : "?", version ? version + 1 : "?");
}

/* The record of what several processes share cannot be had. */
static void explain_host_record(const cpubind_outcomes *report,
                                const cpubind_linux_fault *fault, api_text *why)
{
    char path[CPUBIND_PLACE_SIZE];
    if (strcmp(fault->what, CPUBIND_HOST_LOCK) == 0) {
        explain_host_lock(report, why);
        return;
    }
    cpubind_bind_usual_path(0, NULL, path);
    api_add(why, "the record of the interrupts of this host, %s, ", path);
    if (*report->host_form) {
        add_form(report->host_form, why);
        api_add(why, "run the restore of that one or of a later one");
    } else if (fault->error == EILSEQ || fault->error == EFBIG)
        api_add(why, "is damaged; if no interrupt is to be put back, remove it");
    else
        api_add(why, "cannot be read or written: %s", strerror(fault->error));
}

static void explain_refused(const api_bound *bound, const cpubind_linux_fault *fault,
                            api_text *why)
{
    const cpubind_item *item = failed_item(bound);
    if (strcmp(fault->what, CPUBIND_BIRTHS) == 0)
        api_explain_births(bound->pid, why);
    else if (item && item->kind == CPUBIND_ITEM_THREAD)
        explain_thread_refused(bound, item, fault, why);
    else if (strncmp(fault->what, "host.record", 11) == 0)
        explain_host_record(report_of(bound), fault, why);
    else if (!item && strcmp(fault->what, "interrupts") == 0)
        api_add(why, "no interrupt can be bound: %s",
                cpubind_no_irq_text(report_of(bound)->no_irq));
    else if (item)
        api_add(why, "%s %d (%s) cannot be put on CPUs %s: %s: %s", api_kind_word(item->kind),
                (int)item->id, item->name, item->should ? item->should : "?", fault->what,
                strerror(fault->error));
    else
        api_add(why, "process %d: %s: %s", (int)bound->pid, fault->what,
                strerror(fault->error));
}

/* Appends the path of the record. */
static void add_record(const api_bound *bound, api_text *to)
{
    char path[CPUBIND_PLACE_SIZE];
    cpubind_bind_usual_path(bound->pid, NULL, path);
    api_add(to, "%s", path);
}

/* Appends which line of a damaged record is wrong, and what was expected there. */
static void add_line(const cpubind_linux_fault *fault, api_text *to)
{
    if (fault->line == 0)
        api_add(to, "it is too long");
    else if (strcmp(fault->what, "line") == 0)
        api_add(to, "line %d begins with no word of a record", (int)fault->line);
    else if (strcmp(fault->what, "end") == 0)
        api_add(to, "line %d follows the last line, \"sum\"", (int)fault->line);
    else if (strcmp(fault->what, "pid") == 0)
        api_add(to, "line %d names another process", (int)fault->line);
    else
        api_add(to, "line %d should be a valid line \"%s\"", (int)fault->line, fault->what);
}

/* Explains a record that this version cannot read. */
static void explain_damage(const api_bound *bound, const cpubind_linux_fault *fault,
                           api_text *why)
{
    if (strcmp(fault->what, "form") == 0) {
        api_add(why, "the record of process %d ", (int)bound->pid);
        add_form(bound->other_path, why);
        api_add(
            why,
            "run the restore of that one or of a later one, or remove the record if nothing "
            "is to be put back: ");
        add_record(bound, why);
        return;
    }
    api_add(why, "the record of process %d is damaged: ", (int)bound->pid);
    add_line(fault, why);
    api_add(why, "; if nothing is to be put back, remove it: ");
    add_record(bound, why);
}

/* Whether the record itself cannot be read, and not its folder. */
static int is_of_record(const cpubind_linux_fault *fault)
{
    return strcmp(fault->what, "open") == 0 || strcmp(fault->what, "file") == 0 ||
           strcmp(fault->what, "read") == 0;
}

/* Whether the file system takes no new file, whoever owns the folder. */
static int is_of_file_system(int32_t error)
{
    return error == ENOSPC || error == EDQUOT || error == EROFS;
}

/* Explains what is wrong with the record, its lock, or the folder of both. */
static int explain_state(const api_bound *bound, const cpubind_linux_fault *fault,
                         api_text *why)
{
    const int is_record = is_of_record(fault);
    const int is_read = is_record || bound->is_reading || bound->is_restoring;
    if (bound->pid == 0) {
        api_add(why,
                "the records cannot be read (%s: %s); their folder must be owned by you and "
                "writable by nobody else",
                fault->what, strerror(fault->error));
        return API_UNREADABLE;
    }
    if (bound->is_restoring && strcmp(fault->what, "remove") == 0) {
        api_add(why, "process %d is put back, but its record cannot be removed (%s): it is ",
                (int)bound->pid, strerror(fault->error));
        add_record(bound, why);
        return API_UNWRITTEN;
    }
    if (is_read)
        api_add(why, "the record of process %d cannot be read (%s: %s)%s; ", (int)bound->pid,
                fault->what, strerror(fault->error),
                bound->is_reading ? "" : ", so nothing was changed");
    else
        api_add(why, "the changes could not be recorded (%s: %s), so nothing was changed; ",
                fault->what, strerror(fault->error));
    if (is_of_file_system(fault->error))
        api_add(why, "its file system must be writable and have room: ");
    else if (is_record)
        api_add(why, "it must be a file, no link, owned by you and writable by nobody else: ");
    else if (strcmp(fault->what, "folder") == 0)
        api_add(why, "its folder must exist, be owned by you and writable by nobody else: ");
    else if (strcmp(fault->what, "lock") == 0)
        api_add(why,
                "its lock, beside it, must be a file owned by you, no link, with one name: ");
    else
        api_add(why, "it is ");
    add_record(bound, why);
    return is_read ? API_UNREADABLE : API_UNWRITTEN;
}

/* Explains which step was refused, and whether the steps before it were undone. */
static void explain_outcome(const api_options *options, const api_bound *bound,
                            cpubind_linux_status status, const cpubind_linux_fault *fault,
                            api_text *why)
{
    const cpubind_outcomes *report = report_of(bound);
    explain_refused(bound, fault, why);
    if (options->is_strict)
        api_add(why, "; --strict skips nothing");
    if (status == CPUBIND_LINUX_ERR_UNDONE && report->n_not_restored > 0)
        api_add(why, "; %d could not be put back: cpubind restore ",
                (int)report->n_not_restored);
    else if (status == CPUBIND_LINUX_ERR_UNDONE)
        api_add(why, "; not all could be put back: cpubind restore ");
    if (status == CPUBIND_LINUX_ERR_UNDONE && bound->pid == 0)
        api_add(why, "--ended");
    else if (status == CPUBIND_LINUX_ERR_UNDONE)
        api_add(why, "--pid %d", (int)bound->pid);
    else if (!bound->is_reading && !bound->is_watching)
        api_add(why, "; all is as before");
}

/* Explains a process that only --force binds. */
static void explain_not_forced(const api_bound *bound, const cpubind_linux_fault *fault,
                               api_text *why)
{
    if (strcmp(fault->what, "init") == 0)
        api_add(why, "process 1 is the init process, whose CPUs all later processes inherit");
    else if (strcmp(fault->what, "zombie") == 0)
        api_add(why, "process %d has ended and waits for its parent (a zombie)",
                (int)bound->pid);
    else
        api_add(why, "process %d is a thread of the kernel", (int)bound->pid);
    api_add(why, ": name another process with --pid N, or bind it with --force");
}

/* Explains that a file which says where this process runs cannot be read. */
static void explain_own_files(const api_bound *bound, const cpubind_linux_fault *fault,
                              api_text *why)
{
    const char *const name = strcmp(fault->what, "pid namespace") == 0 ? "/proc/self/ns/pid"
                             : strcmp(fault->what, "boot_id") == 0
                                 ? "/proc/sys/kernel/random/boot_id"
                                 : fault->what;
    api_add(why, "%s cannot be read (%s)%s", name, strerror(fault->error),
            bound->is_reading ? "" : ", so nothing was changed");
}

/* Explains a record that is not this caller's to change. */
static void explain_other_record(const api_bound *bound, const cpubind_linux_fault *fault,
                                 api_text *why)
{
    if (strcmp(fault->what, "another namespace") == 0)
        api_add(why,
                "the record of process %d is of another pid or time namespace, where the "
                "number is that of another process: it stays; restore it there",
                (int)bound->pid);
    else
        api_add(why,
                "process %d is bound already by another user, whose record is %s: that user "
                "has to restore it first: cpubind restore --pid %d",
                (int)bound->pid, bound->other_path, (int)bound->pid);
}

int api_explain_bind(const api_options *options, const api_bound *bound,
                     cpubind_linux_status status, const cpubind_linux_fault *fault,
                     api_text *why)
{
    if (api_is_out_of_files(fault->error) && status != CPUBIND_LINUX_ERR_REFUSED &&
        status != CPUBIND_LINUX_ERR_UNDONE) {
        api_add(why, "%s: %s, so nothing was changed; raise the limit: ulimit -n 1024",
                fault->what, strerror(fault->error));
        return API_UNREADABLE;
    }
    switch (status) {
    case CPUBIND_LINUX_ERR_GONE:
        explain_missing_process(bound->pid, fault->error, why);
        return fault->error == ESRCH || fault->error == EINVAL ? API_REFUSED : API_UNREADABLE;
    case CPUBIND_LINUX_ERR_BUSY:
        if (bound->is_service) {
            api_add(why,
                    "the service (process %d) keeps process %d bound and does not answer; all "
                    "is as before: restart it (systemctl restart cpubind), or end it with "
                    "cpubind restore --all --service",
                    (int)bound->holder, (int)bound->pid);
            return API_UNWRITTEN;
        }
        api_add(why, "another cpubind is at work on process %d, perhaps apply --watch: ",
                (int)bound->pid);
        if (bound->holder > 0)
            api_add(why, "it is process %d; ", (int)bound->holder);
        api_add(why, "wait until it has ended, or end it");
        return API_REFUSED;
    case CPUBIND_LINUX_ERR_EXISTS:
        explain_other_record(bound, fault, why);
        return API_REFUSED;
    case CPUBIND_LINUX_ERR_NOT_FORCED:
        explain_not_forced(bound, fault, why);
        return API_REFUSED;
    case CPUBIND_LINUX_ERR_STATE:
        return explain_state(bound, fault, why);
    case CPUBIND_LINUX_ERR_DAMAGED:
        explain_damage(bound, fault, why);
        return API_UNREADABLE;
    case CPUBIND_LINUX_ERR_BIRTHS:
        api_explain_births(bound->pid, why);
        api_add(why, "; try again when it is less busy: cpubind restore --pid %d",
                (int)bound->pid);
        return API_REFUSED;
    case CPUBIND_LINUX_ERR_REFUSED:
    case CPUBIND_LINUX_ERR_UNDONE:
        explain_outcome(options, bound, status, fault, why);
        return API_UNWRITTEN;
    case CPUBIND_LINUX_ERR_OPEN:
        explain_own_files(bound, fault, why);
        return API_UNREADABLE;
    case CPUBIND_LINUX_ERR_MEMORY:
        return api_no_room(why);
    default:
        api_add(why, "%s: %s: %s", cpubind_linux_status_text(status), fault->what,
                strerror(fault->error));
        return API_UNREADABLE;
    }
}
