/* bind_words.c - what a binding did not do, and why a call failed
 * SPDX-License-Identifier: MIT
 *
 * A sentence is what it is about, and the reason and the hint of ../words/messages.h. Prints
 * nothing, changes nothing. The statuses and items are those of adapters/linux/bind/bind.h.
 * MESSAGES.md quotes the sentences: tests/checks/readme.sh compares.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "api.h"

#define MIB (1 << 20)

/* == Items that were skipped or kept ======================================== */

/* The word of JSON, the noun of sentences, and what errors are about. */
static const struct {
    const char *word, *noun;
    unsigned about;
} kinds[] = {[CPUBIND_ITEM_THREAD] = {"thread", "thread", WORDS_THREAD},
             [CPUBIND_ITEM_IRQ] = {"irq", "interrupt", WORDS_IRQ},
             [CPUBIND_ITEM_POLLING] = {"uvb", "thread", WORDS_SHARED},
             [CPUBIND_ITEM_KERNEL] = {"kernel", "thread", WORDS_SHARED},
             [CPUBIND_ITEM_WORKQUEUE] = {"workqueue", "work queue", WORDS_OTHER},
             [CPUBIND_ITEM_IRQBALANCE] = {"irqbalance", "process", WORDS_IRQBALANCE},
             [CPUBIND_ITEM_FILE] = {"file", "file", WORDS_OTHER},
             [CPUBIND_ITEM_BAN] = {"ban", "ban", WORDS_OTHER}};

const char *api_kind_word(cpubind_item_kind kind)
{
    return kinds[kind].word;
}

static int is_step(const cpubind_item *item, const char *step)
{
    return item->what && strcmp(item->what, step) == 0;
}

/* Whether an item waits for the record of the host. */
static int is_host_busy(const cpubind_item *item)
{
    return item->error == EWOULDBLOCK && is_step(item, CPUBIND_HOST_LOCK);
}

void api_explain_births(int32_t pid, api_text *to)
{
    api_add(to,
            "threads of process %d are born faster than they are looked at: those that were "
            "seen are where they belong, others may not be, and the record stays",
            (int)pid);
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
    else if (report->host_holder_state == 'T')
        api_add(to, "cpubind %d, which is stopped: continue it (kill -CONT %d) or end it",
                holder, holder);
    else
        api_add(to, "cpubind %d: ps -o stat,wchan,args -p %d says why it does not go on",
                holder, holder);
}

/* Appends "thread 12 (name)". */
static void add_item(const cpubind_item *item, api_text *to)
{
    api_add(to, "%s", kinds[item->kind].noun);
    if (item->id > 0)
        api_add(to, " %d", (int)item->id);
    if (*item->name)
        api_add(to, item->id > 0 ? " (%s)" : " %s", item->name);
}

/* Appends why an item is not where it belongs, with the name of what it is about. */
static void explain_item(const cpubind_outcomes *report, const cpubind_item *item, api_text *to)
{
    const char *should = item->should ? item->should : "?";
    if (is_step(item, CPUBIND_BIRTHS)) {
        api_explain_births(item->pid, to);
        return;
    }
    if (item->id == 0 && item->kind == CPUBIND_ITEM_THREAD) { /* a step of a watch */
        api_add(to, "cannot %s process %d: %s", item->what, (int)item->pid,
                strerror(item->error));
        return;
    }
    add_item(item, to);
    if (item->result == CPUBIND_ITEM_KEPT) {
        api_add(to, " was moved by somebody else since, to %s: it stays there", item->was);
        return;
    }
    if (item->result == CPUBIND_ITEM_MOVED) {
        api_add(to,
                " of process %d moves itself, or another program moves it, again and again, "
                "now to %s: -o thread=%s=leave leaves it alone, or the engine's own switch",
                (int)item->pid, item->was, item->name);
        return;
    }
    if (item->result == CPUBIND_ITEM_PART)
        api_add(to, " is not on all of its CPUs, %s: ", should);
    else if (item->result == CPUBIND_ITEM_FAILED)
        api_add(to, " cannot be put on CPUs %s: ", should);
    else if (item->error == ENOSPC || item->error == EINVAL) /* these CPUs are at fault */
        api_add(to, ", CPUs %s: ", should);
    else
        api_add(to, ": ");
    if (is_host_busy(item))
        explain_host_lock(report, to);
    else
        words_add_why(to, kinds[item->kind].about, item->what, item->error);
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
    if (item->kind == CPUBIND_ITEM_IRQ && is_step(item, "gone"))
        return "gone";
    if (item->result == CPUBIND_ITEM_MOVED)
        return is_step(item, CPUBIND_AGAIN) ? "moves_itself" : NULL;
    return item->result == CPUBIND_ITEM_SKIPPED || item->result == CPUBIND_ITEM_PART ||
                   item->result == CPUBIND_ITEM_KEPT
               ? cpubind_item_result_word(item->result)
               : NULL;
}

static int is_alike(const cpubind_item *a, const cpubind_item *b)
{
    return a->kind == b->kind && a->result == b->result && a->error == b->error && code_of(b);
}

/* When what was not done will be; NULL: it will not. */
static const char *later(const cpubind_item *item, int is_watching)
{
    if (item->result == CPUBIND_ITEM_MOVED)
        return NULL;
    if (is_watching)
        return "the watch tries again";
    if (item->result == CPUBIND_ITEM_PART)
        return "apply --watch puts it there when they return";
    if (is_host_busy(item))
        return "apply again later, or use apply --watch";
    return item->error == EAGAIN ? "use apply --watch" : NULL;
}

/* Warns about items; of several that are alike about the first, with the number of others. */
static void warn_items(const listener *to, const cpubind_outcomes *report)
{
    for (int32_t i = 0; i < report->n; i++) {
        const cpubind_item *item = &report->item[i];
        const char *when = later(item, to->is_watching);
        api_text text = {"", 0};
        int32_t first = 0;
        int n_more = -1;
        if (!code_of(item))
            continue;
        while (!is_alike(item, &report->item[first]))
            first++;
        if (first < i)
            continue;
        for (int32_t k = i; k < report->n; k++)
            n_more += is_alike(item, &report->item[k]);
        explain_item(report, item, &text);
        if (n_more > 0)
            api_add(&text, "; %d more like it", n_more);
        if (when)
            api_add(&text, "; %s", when);
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
    } else if (report->irqbalance_runs) {
        api_add(&text, "irqbalance runs and moves the interrupts away within seconds: use "
                       "-o irqbalance=ban");
        warn(to, "irqbalance", &text);
    }
}

static long long mib_of(int64_t bytes)
{
    return (long long)((bytes + MIB - 1) / MIB);
}

void api_explain_stay(const cpubind_memory_move *memory, cpubind_memory_stay stay, api_text *to)
{
    static const char *const why[CPUBIND_STAY_COUNT] = {
        [CPUBIND_STAY_SHARED] = "other processes map these pages too",
        [CPUBIND_STAY_LOCKED] = "the process has locked these mappings",
        [CPUBIND_STAY_HUGE] = "pages of hugetlbfs",
        [CPUBIND_STAY_BUSY] = "a driver has pinned them, or the kernel uses them",
        [CPUBIND_STAY_HIDDEN] =
            ("the kernel does not find them: Linux 6.1 to 6.4 hide pages that NUMA balancing "
             "has marked, and pages without access"),
        [CPUBIND_STAY_LIMIT] = "moving them would exceed memory-limit",
        [CPUBIND_STAY_TIME] = "moving them takes longer than memory-time allows",
        [CPUBIND_STAY_STOPPED] = "the move was interrupted"};
    if (why[stay])
        api_add(to, "%s", why[stay]);
    else if (memory->is_node_out)
        api_add(to, "the kernel finds no free page on node %d", (int)memory->node);
    else
        api_add(to, "node %d is full but for its reserve of %lld MiB", (int)memory->node,
                (long long)(memory->reserve / MIB));
    if (stay == CPUBIND_STAY_TIME)
        api_add(to, " (%lld s)", (long long)((memory->time_ms + 999) / 1000));
    if (stay == CPUBIND_STAY_NO_ROOM && memory->room >= 0)
        api_add(to, " (%lld MiB are free there)", (long long)(memory->room / MIB));
}

/* Says why own memory stays on other nodes: of each part what was found out. */
static void explain_rest(const cpubind_memory_move *memory, api_text *to)
{
    const char *between = ": ";
    api_add(to, "%lld MiB of memory stay on other nodes", mib_of(memory->own_left));
    for (int i = CPUBIND_STAY_BUSY; i < CPUBIND_STAY_COUNT; i++) {
        if (memory->stay[i] == 0)
            continue;
        api_add(to, "%s", between);
        if (memory->stay[i] < memory->own_left)
            api_add(to, "%lld MiB: ", mib_of(memory->stay[i]));
        api_explain_stay(memory, (cpubind_memory_stay)i, to);
        between = "; ";
    }
    if (memory->stay[CPUBIND_STAY_HIDDEN] > 0)
        api_add(to, "; sysctl kernel.numa_balancing=0, and apply again when the process has "
                    "used them");
    if (memory->result == CPUBIND_MEMORY_STOPPED)
        api_add(to, "; process %d is bound", (int)memory->pid);
}

/* Says where memory is that does not belong there; to verify, what does not count as drift. */
static void explain_memory(const cpubind_outcomes *report, int is_reading, api_text *to)
{
    const cpubind_memory_move *memory = &report->memory;
    const int64_t left =
        report->memory_left < memory->own_left ? report->memory_left : memory->own_left;
    if (memory->result == CPUBIND_MEMORY_REFUSED) {
        api_add(to, is_reading ? "the nodes of the memory cannot be read: "
                               : "memory is not moved: ");
        words_add_why(to, WORDS_MEMORY, memory->what, memory->error);
    } else if (memory->result == CPUBIND_MEMORY_NO_NODE) {
        if (!is_reading)
            api_add(to, "memory is not moved: only one node has memory, or node %d has none",
                    (int)memory->node);
    } else if (is_reading) {
        if (left > 0)
            api_add(to,
                    "%lld MiB of memory are where apply has left them, on other nodes (%s): "
                    "apply again",
                    mib_of(left), cpubind_memory_stay_word(report->left_why));
    } else if (memory->result != CPUBIND_MEMORY_MOVED && memory->own_left > 0) {
        explain_rest(memory, to);
    }
}

/* Warns of an error of a step that lessens what is done or known. */
static void warn_step(const listener *to, const char *code, unsigned about, const char *what,
                      const char *step, int error)
{
    api_text text = {"", 0};
    if (!error)
        return;
    api_add(&text, "%s: ", what);
    words_add_why(&text, about, step, error);
    warn(to, code, &text);
}

static void warn_memory(const listener *to, const cpubind_outcomes *report)
{
    const cpubind_memory_move *memory = &report->memory;
    api_text text = {"", 0};
    warn_step(to, "memory", WORDS_MEMORY, "new memory may come from any node", "set_mempolicy",
              report->prefer_error);
    if (!report->has_memory)
        return;
    explain_memory(report, to->is_reading, &text);
    if (text.len > 0)
        warn(to, "memory", &text);
    warn_step(to, "pagemap", WORDS_OTHER,
              "own and shared pages cannot be told apart in advance", "pagemap",
              memory->pagemap_error);
    if (memory->is_balancing)
        to->hear(to->ctx, "numa_balancing",
                 "automatic NUMA balancing is on and may move pages of all processes away "
                 "again: sysctl kernel.numa_balancing=0 ends that");
}

static void warn_all(const listener *to, const cpubind_outcomes *report)
{
    warn_step(to, "events", WORDS_EVENTS,
              "the watch sees new and renamed threads at the end of a period only: the kernel "
              "sends no events",
              report->no_events.what, report->no_events.error);
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
        api_add(&text,
                "no thread of process %d has the name \"%s\" of the setting thread now: ps -L "
                "-o comm= -p %d prints the names",
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
    api_add(&text,
            "the rules of this plan are %s, and those of process %d, one of %d with other "
            "rules on this host, are %s: they may have the same CPUs; export CPUBIND_RULES=%s "
            "or CPUBIND_RULES=%s for all workers, or cpubind restore --all and bind anew",
            rules, (int)others->pid, (int)others->n, others->rules, rules, others->rules);
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
        explain_memory(report, 0, &text);
    if (text.len > 0)
        hear(ctx, "memory", text.text);
}

words_value *api_outcome_warnings_json(const api_bound *bound, const cpubind_outcomes *report)
{
    words_value *warnings = api_warnings_json(&bound->planned);
    if (bound->goal.rules)
        api_warn_other_rules(&bound->other_rules, bound->goal.rules, api_add_warning, warnings);
    api_warn_outcome(bound, report, api_add_warning, warnings);
    return warnings;
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

/* Appends the path of the record of the process, or of the host. */
static void add_record(const api_bound *bound, api_text *to)
{
    char path[CPUBIND_PLACE_SIZE];
    cpubind_bind_usual_path(bound->pid, NULL, path);
    api_add(to, "%s", path);
}

/* Says which cpubind wrote a record whose form this one does not know: "FORM VERSION". */
static void add_form(const char *form, api_text *to)
{
    const char *const version = strchr(form, ' ');
    api_add(to,
            "has form %.*s, which cpubind %s wrote; this one, cpubind " CPUBIND_VERSION
            ", does not know it and leaves it alone: run the restore of that one or of a later "
            "one",
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
    if (*report->host_form)
        add_form(report->host_form, why);
    else if (fault->error == EILSEQ || fault->error == EFBIG)
        api_add(why, "is damaged; if no interrupt is to be put back, remove it");
    else
        api_add(why, "cannot be read or written: %s", strerror(fault->error));
}

/* Says which step was refused, and whether the steps before it were undone. */
static void explain_refused(const api_options *options, const api_bound *bound,
                            cpubind_linux_status status, const cpubind_linux_fault *fault,
                            api_text *why)
{
    const cpubind_outcomes *report = report_of(bound);
    const cpubind_item *item = failed_item(bound);
    if (strcmp(fault->what, CPUBIND_BIRTHS) == 0) {
        api_explain_births(bound->pid, why);
    } else if (strncmp(fault->what, "host.record", 11) == 0) {
        explain_host_record(report, fault, why);
    } else if (item) {
        cpubind_item failed = *item;
        failed.what = fault->what;
        failed.error = fault->error;
        explain_item(report, &failed, why);
    } else if (strcmp(fault->what, "interrupts") == 0) {
        api_add(why, "no interrupt can be bound: %s", cpubind_no_irq_text(report->no_irq));
    } else {
        api_add(why, "process %d: ", (int)bound->pid);
        words_add_why(why, WORDS_OTHER, fault->what, fault->error);
    }
    if (options->is_strict)
        api_add(why, "; strict skips nothing");
    if (status != CPUBIND_LINUX_ERR_UNDONE) {
        if (!bound->is_reading && !bound->is_watching)
            api_add(why, "; all is as before");
        return;
    }
    if (report->n_not_restored > 0)
        api_add(why, "; %d could not be put back: ", (int)report->n_not_restored);
    else
        api_add(why, "; not all could be put back: ");
    if (bound->pid == 0)
        api_add(why, "cpubind restore --ended");
    else
        api_add(why, "cpubind restore --pid %d", (int)bound->pid);
}

/* Says what is wrong in a record that this version cannot read. */
static void explain_damage(const api_bound *bound, const cpubind_linux_fault *fault,
                           api_text *why)
{
    const int is_known = fault->line == 0 || strcmp(fault->what, "line") == 0 ||
                         strcmp(fault->what, "end") == 0 || strcmp(fault->what, "pid") == 0;
    api_add(why, "the record of process %d ", (int)bound->pid);
    if (strcmp(fault->what, "form") == 0) {
        add_form(bound->other_path, why);
        api_add(why, "; if nothing is to be put back, remove it: ");
        add_record(bound, why);
        return;
    }
    api_add(why, "is damaged: ");
    if (fault->line > 0)
        api_add(why, "line %d: ", (int)fault->line);
    if (is_known)
        words_add_why(why, WORDS_DAMAGE, fault->line > 0 ? fault->what : "length", 0);
    else
        api_add(why, "a valid line \"%s\" belongs there", fault->what);
    api_add(why, "; if nothing is to be put back, remove it: ");
    add_record(bound, why);
}

/* Whether the record was to be read, not written. */
static int is_to_read(const api_bound *bound, const cpubind_linux_fault *fault)
{
    return bound->pid == 0 || bound->is_reading || bound->is_restoring ||
           strcmp(fault->what, "open") == 0 || strcmp(fault->what, "file") == 0 ||
           strcmp(fault->what, "read") == 0;
}

/* Says what is wrong with the record, its lock, or the folder of both. */
static int explain_state(const api_bound *bound, const cpubind_linux_fault *fault,
                         api_text *why)
{
    const int is_read = is_to_read(bound, fault);
    const int is_kept = bound->is_restoring && strcmp(fault->what, "remove") == 0;
    if (is_kept)
        api_add(why,
                "process %d is put back, but its record cannot be removed: ", (int)bound->pid);
    else if (bound->pid == 0)
        api_add(why, "the records cannot be read: ");
    else if (is_read)
        api_add(why, "the record of process %d cannot be read: ", (int)bound->pid);
    else
        api_add(why, "the changes could not be recorded: ");
    words_add_why(why, WORDS_RECORD, fault->what, fault->error);
    if (bound->pid > 0) {
        api_add(why, ": ");
        add_record(bound, why);
    }
    if (!is_kept && !bound->is_reading)
        api_add(why, "; nothing was changed");
    return is_read && !is_kept ? API_UNREADABLE : API_UNWRITTEN;
}

/* Another cpubind, or the service, has the lock of the process. */
static int explain_lock(const api_bound *bound, api_text *why)
{
    if (bound->is_service)
        return words_fail(
            API_UNWRITTEN, why,
            "the service (process %d) keeps process %d bound and does not answer; all "
            "is as before: restart it (systemctl restart cpubind), or end it with "
            "cpubind restore --all --service",
            (int)bound->holder, (int)bound->pid);
    api_add(why, "another cpubind is at work on process %d, perhaps apply --watch",
            (int)bound->pid);
    if (bound->holder > 0)
        api_add(why, ": it is process %d", (int)bound->holder);
    return words_fail(API_REFUSED, why, "; wait until it has ended, or end it");
}

/* A record that is not this caller's to change. */
static void explain_other_record(const api_bound *bound, const cpubind_linux_fault *fault,
                                 api_text *why)
{
    if (strcmp(fault->what, "another namespace") == 0)
        api_add(why, "its record is of another pid or time namespace, where the number is that "
                     "of another process: it stays; restore it there");
    else
        api_add(why,
                "it is bound already by another user, whose record is %s: that user has to "
                "restore it first: cpubind restore --pid %d",
                bound->other_path, (int)bound->pid);
}

/* How a call has ended otherwise: what its fault is about, and the exit status. */
static const struct ending {
    cpubind_linux_status status;
    unsigned about;
    int exit;
    const char *then;
} endings[] = {{CPUBIND_LINUX_ERR_GONE, WORDS_PROCESS, API_UNREADABLE, ""},
               {CPUBIND_LINUX_ERR_NOT_FORCED, WORDS_FORCE, API_REFUSED,
                "; name another process with --pid N, or bind it with --force"},
               {CPUBIND_LINUX_ERR_OPEN, WORDS_OTHER, API_UNREADABLE, "; nothing was changed"},
               {CPUBIND_LINUX_OK, WORDS_OTHER, API_UNREADABLE, ""}};

int api_explain_bind(const api_options *options, const api_bound *bound,
                     cpubind_linux_status status, const cpubind_linux_fault *fault,
                     api_text *why)
{
    const struct ending *end = endings;
    if (status == CPUBIND_LINUX_ERR_REFUSED || status == CPUBIND_LINUX_ERR_UNDONE) {
        explain_refused(options, bound, status, fault, why);
        return API_UNWRITTEN;
    }
    if (words_is_out_of_files(fault->error)) { /* no file is at fault then */
        words_add_why(why, WORDS_OTHER, fault->what, fault->error);
        return words_fail(API_UNREADABLE, why, "; nothing was changed");
    }
    switch (status) {
    case CPUBIND_LINUX_ERR_MEMORY:
        return api_no_room(why);
    case CPUBIND_LINUX_ERR_STATE:
        return explain_state(bound, fault, why);
    case CPUBIND_LINUX_ERR_BUSY:
        return explain_lock(bound, why);
    case CPUBIND_LINUX_ERR_DAMAGED:
        explain_damage(bound, fault, why);
        return API_UNREADABLE;
    case CPUBIND_LINUX_ERR_BIRTHS:
        api_explain_births(bound->pid, why);
        return words_fail(API_REFUSED, why,
                          "; try again when it is less busy: cpubind restore --pid %d",
                          (int)bound->pid);
    default:
        break;
    }
    if (bound->pid > 0)
        api_add(why, "process %d: ", (int)bound->pid);
    if (status == CPUBIND_LINUX_ERR_EXISTS) {
        explain_other_record(bound, fault, why);
        return API_REFUSED;
    }
    while (end->status != status && end->status != CPUBIND_LINUX_OK)
        end++;
    words_add_why(why, end->about, fault->what, fault->error);
    api_add(why, "%s", end->then);
    return status == CPUBIND_LINUX_ERR_GONE && (fault->error == ESRCH || fault->error == EINVAL)
               ? API_REFUSED
               : end->exit;
}
