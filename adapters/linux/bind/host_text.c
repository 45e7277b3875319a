/* host_text.c - the record of the host as the text of its file: writing it, reading it
 * SPDX-License-Identifier: MIT
 *
 * Pure: works on (pointer, length), opens no file. Words and lines are those of record_words.h.
 * The lines come in this order:
 *
 *     cpubind-host 2 VERSION                 the form's number; the cpubind that wrote it
 *     boot NAME                              /proc/sys/kernel/random/boot_id
 *     irq N FUNCTION NAME INDEX LIST         an interrupt, its last number, its CPUs before
 *     uvb-thread PID TID START LIST          a thread of another process, its CPUs before
 *     kernel-thread PID START NAME LIST      a kernel thread of the driver, its CPUs before
 *     workqueue NAME LIST                    a work queue of the driver, its CPUs before
 *     irqbalance PID START                   the daemon
 *     user PID START LIST|- ban|stop|-       of the line before: a process, the CPUs that it
 *                                            gave, what it asked of irqbalance
 *     sum HEX                                CRC-32 (IEEE 802.3) of all lines above
 *
 * boot is there at most once; irq by FUNCTION, NAME, INDEX, then uvb-thread by TID, START,
 * kernel-thread by PID, START, workqueue by NAME and irqbalance by PID, START, any number of
 * times; at least one user follows each of these, the last one last. The user of an interrupt
 * has a LIST, and ban or -; that of a thread or a work queue has a LIST and -; that of
 * irqbalance has -, and ban. There is one text for a record, and each other text is
 * refused.
 */
#include "../kernel/workqueue.h"
#include "record_words.h"

#define HEAD "cpubind-host "

static const char *const actions[] = {
    [CPUBIND_IRQBALANCE_LEAVE] = "-",
    [CPUBIND_IRQBALANCE_BAN] = "ban",
    NULL,
};

/* Whether a user may have this set and this action, by the kind of its entry. */
static int is_user_of(cpubind_item_kind kind, const cpubind_shared_user *user)
{
    const int has_set = user->set != CPUBIND_CPUSET_NONE;
    if (kind == CPUBIND_ITEM_IRQBALANCE)
        return !has_set && user->action != CPUBIND_IRQBALANCE_LEAVE;
    return has_set && (user->action == CPUBIND_IRQBALANCE_LEAVE ||
                       (kind == CPUBIND_ITEM_IRQ && user->action == CPUBIND_IRQBALANCE_BAN));
}

/* == Writing ================================================================ */

static void put_user(writer *w, cpubind_item_kind kind, const cpubind_shared_user *user)
{
    require(w, user->pid > 0 && is_user_of(kind, user));
    put(w, "user %d %llu %s %s\n", (int)user->pid, (unsigned long long)user->start,
        list_or_none(w, user->set), actions[user->action]);
}

static void put_entry(writer *w, const cpubind_shared_entry *entry)
{
    const int number = (int)entry->number;
    const unsigned long long start = (unsigned long long)entry->start;
    switch (entry->kind) {
    case CPUBIND_ITEM_IRQ:
        require(w, number >= 0);
        put(w, "irq %d ", number);
        put_irq_id(w, &entry->id);
        put(w, " %s\n", list_of(w, entry->before));
        break;
    case CPUBIND_ITEM_POLLING:
        require(w, number > 0 && entry->pid > 0);
        put(w, "uvb-thread %d %d %llu %s\n", (int)entry->pid, number, start,
            list_of(w, entry->before));
        break;
    case CPUBIND_ITEM_KERNEL:
        require(w, number > 0 && entry->pid == entry->number &&
                       cpubind_workqueue_is_name(entry->id.name));
        put(w, "kernel-thread %d %llu ", number, start);
        put_word(w, entry->id.name);
        put(w, " %s\n", list_of(w, entry->before));
        break;
    case CPUBIND_ITEM_WORKQUEUE:
        require(w, cpubind_workqueue_is_name(entry->id.name));
        put(w, "workqueue ");
        put_word(w, entry->id.name);
        put(w, " %s\n", list_of(w, entry->before));
        break;
    case CPUBIND_ITEM_IRQBALANCE:
        require(w, number > 0);
        put(w, "irqbalance %d %llu\n", number, start);
        break;
    case CPUBIND_ITEM_THREAD:
        require(w, 0);
        break;
    }
    require(w, entry->n_user > 0);
    for (int32_t i = 0; i < entry->n_user; i++)
        put_user(w, entry->kind, &entry->user[i]);
}

cpubind_linux_fault cpubind_shared_format(const cpubind_shared_record *host,
                                          const cpubind_cpu_sets *sets, const cpubind_sys *sys,
                                          cpubind_bytes *out)
{
    writer w = {sets, sys, out, cpubind_no_fault};
    put(&w, HEAD CPUBIND_HOST_FORM " " CPUBIND_VERSION "\n");
    if (*host->boot)
        put_name(&w, "boot", host->boot);
    for (int32_t i = 0; i < host->n_entry; i++) {
        require(&w, i == 0 || cpubind_shared_compare(&host->entry[i - 1], &host->entry[i]) < 0);
        put_entry(&w, &host->entry[i]);
    }
    put_sum(&w);
    return w.why;
}

/* == Reading ================================================================ */

/* Adds an entry, which must come after those before. */
static int add_entry(reader *r, const cpubind_shared_entry *entry)
{
    cpubind_shared_record *host = r->host;
    int32_t place;
    if (host->n_entry > 0 &&
        (host->entry[host->n_entry - 1].n_user == 0 ||
         cpubind_shared_compare(&host->entry[host->n_entry - 1], entry) >= 0))
        return 0;
    return is_added(r, cpubind_shared_add(host, r->sys, entry, &place));
}

static int read_boot(reader *r)
{
    return r->line == 2 && read_name(r, r->host->boot, (int32_t)sizeof r->host->boot);
}

static int read_irq(reader *r)
{
    cpubind_shared_entry entry = {.kind = CPUBIND_ITEM_IRQ};
    return read_id(r, 0, INT32_MAX, &entry.number) && read_irq_id(r, &entry.id) &&
           read_list(r, &entry.before) && add_entry(r, &entry);
}

static int read_polling(reader *r)
{
    cpubind_shared_entry entry = {.kind = CPUBIND_ITEM_POLLING};
    return read_id(r, 1, INT32_MAX, &entry.pid) && read_id(r, 1, INT32_MAX, &entry.number) &&
           read_number(r, UINT64_MAX, &entry.start) && read_list(r, &entry.before) &&
           add_entry(r, &entry);
}

static int read_driver_name(reader *r, cpubind_shared_entry *entry)
{
    return read_name(r, entry->id.name, (int32_t)sizeof entry->id.name) &&
           cpubind_workqueue_is_name(entry->id.name) && read_list(r, &entry->before) &&
           add_entry(r, entry);
}

static int read_kernel_thread(reader *r)
{
    cpubind_shared_entry entry = {.kind = CPUBIND_ITEM_KERNEL};
    const int is_good =
        read_id(r, 1, INT32_MAX, &entry.number) && read_number(r, UINT64_MAX, &entry.start);
    entry.pid = entry.number;
    return is_good && read_driver_name(r, &entry);
}

static int read_workqueue(reader *r)
{
    cpubind_shared_entry entry = {.kind = CPUBIND_ITEM_WORKQUEUE};
    return read_driver_name(r, &entry);
}

static int read_irqbalance(reader *r)
{
    cpubind_shared_entry entry = {.kind = CPUBIND_ITEM_IRQBALANCE,
                                  .before = CPUBIND_CPUSET_NONE};
    return read_id(r, 1, INT32_MAX, &entry.number) &&
           read_number(r, UINT64_MAX, &entry.start) && add_entry(r, &entry);
}

static int read_user(reader *r)
{
    cpubind_shared_user user = {0};
    cpubind_shared_entry *entry =
        r->host->n_entry > 0 ? &r->host->entry[r->host->n_entry - 1] : NULL;
    int action;
    if (!entry || !read_id(r, 1, INT32_MAX, &user.pid) ||
        !read_number(r, UINT64_MAX, &user.start) || !read_list_or_none(r, &user.set))
        return 0;
    action = read_one_of(r, actions);
    user.action = (cpubind_irqbalance_action)action;
    return action >= 0 && is_user_of(entry->kind, &user) &&
           is_added(r, cpubind_shared_add_user(entry, r->sys, &user));
}

static int read_end(reader *r)
{
    const cpubind_shared_record *host = r->host;
    return (host->n_entry == 0 || host->entry[host->n_entry - 1].n_user > 0) && read_sum(r);
}

static const struct line_kind {
    const char *word;
    int (*read)(reader *r);
} kinds[] = {
    {"boot", read_boot},           {"irq", read_irq},
    {"uvb-thread", read_polling},  {"kernel-thread", read_kernel_thread},
    {"workqueue", read_workqueue}, {"irqbalance", read_irqbalance},
    {"user", read_user},           {"sum", read_end},
};

enum { N_KINDS = (int)(sizeof kinds / sizeof *kinds) };

/* The kind of a line by its first word; NULL: there is none. */
static const struct line_kind *find_kind(const char *word, int32_t len)
{
    for (int i = 0; i < N_KINDS; i++)
        if (is_word(kinds[i].word, word, len))
            return &kinds[i];
    return NULL;
}

/* NULL, or the kind of the line r->line, which is wrong or missing. */
static const char *read_lines(reader *r, const char *text_end)
{
    const char *what = read_head(r, text_end, HEAD, CPUBIND_HOST_FORM, "cpubind-host");
    while (!what) {
        const struct line_kind *kind;
        const char *word;
        int32_t len;
        r->line++;
        if (!next_line(r, text_end))
            return "sum";
        if (!read_word(r, &word, &len) || r->at == r->end)
            return "line";
        kind = find_kind(word, len);
        if (!kind)
            return "line";
        if (!kind->read(r) || r->at != r->end)
            what = kind->word;
        else if (kind == &kinds[N_KINDS - 1])
            break;
    }
    if (what || r->next == text_end)
        return what;
    r->line++;
    return "end";
}

cpubind_linux_fault cpubind_shared_parse(const char *text, int32_t len, const cpubind_sys *sys,
                                         cpubind_cpu_sets *sets, cpubind_shared_record *out)
{
    const char *const start = len > 0 ? text : "";
    reader r = {.text = start, .next = start, .sys = sys, .sets = sets, .host = out, .line = 1};
    const char *what;
    memset(out, 0, sizeof *out);
    what = read_lines(&r, start + len);
    if (!what)
        return cpubind_no_fault;
    cpubind_shared_free(out);
    return r.why.error ? r.why : (cpubind_linux_fault){EILSEQ, what, r.line};
}
