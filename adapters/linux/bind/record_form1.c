/* record_form1.c - reads the record of a process in its first form, JSON
 * SPDX-License-Identifier: MIT
 *
 * Pure: works on (pointer, length), opens no file. The first version wrote one object, its
 * members always in this order; nothing else is read. A list of CPUs is as the kernel writes
 * one; null is "not known" or "none"; in a name \u00xx is the byte xx:
 *
 *     {"cpubind": VERSION, "format": 1, "boot": NAME, "pid": N, "start": N, "npu": N|null,
 *      "before": LIST,
 *      "goal": {"main": LIST, "memory_node": N|null, "uvb": LIST|null,
 *               "rules": [{"name": NAME, "cpus": LIST}, ...]},
 *      "ours": [LIST, ...],
 *      "threads": [{"before": LIST, "tids": [N, ...]}, ...],
 *      "others": [{"pid": N, "tid": N, "start": N, "before": LIST, "set": LIST}, ...],
 *      "irqs": [{"irq": N, "kind": "sq"|"cq", "cpu": N, "before": LIST|null, "banned": 0|1},
 *               ...],
 *      "irqbalance": {"pid": N, "start": N, "how": "ban"|"stop"} | null}
 *
 * What it says of the host is in record->host: "others" are threads of other processes; an
 * interrupt has a number alone, no id yet (record_adopt.c).
 */
#include "record_words.h"

/* What is left of the text, and what is being read. The first member that is wrong stays. */
typedef struct form1 {
    const char *text, *at, *end;
    const cpubind_sys *sys;
    cpubind_record *record;
    const char *what; /* the member */
    int is_memory_gone;
} form1;

/* == Tokens: 1, or 0 when something else is there =========================== */

static void skip_blanks(form1 *f)
{
    while (f->at < f->end && (*f->at == ' ' || *f->at == '\n'))
        f->at++;
}

static int take(form1 *f, const char *token)
{
    const size_t n = strlen(token);
    skip_blanks(f);
    if ((size_t)(f->end - f->at) < n || memcmp(f->at, token, n) != 0)
        return 0;
    f->at += n;
    return 1;
}

/* A member: its name, and what stands before it, "{" or ",". */
static int member(form1 *f, const char *before, const char *name)
{
    f->what = name;
    return take(f, before) && take(f, "\"") && take(f, name) && take(f, "\"") && take(f, ":");
}

static int number(form1 *f, uint64_t most, uint64_t *out)
{
    const char *start;
    skip_blanks(f);
    start = f->at;
    *out = 0;
    for (; f->at < f->end && *f->at >= '0' && *f->at <= '9'; f->at++) {
        const uint64_t digit = (uint64_t)(*f->at - '0');
        if (digit > most || *out > (most - digit) / 10)
            return 0;
        *out = *out * 10 + digit;
    }
    return f->at > start;
}

static int id(form1 *f, int32_t least, int32_t most, int32_t *out)
{
    uint64_t value;
    const int is_good = number(f, (uint64_t)most, &value);
    *out = (int32_t)value;
    return is_good && *out >= least;
}

static int id_or_null(form1 *f, int32_t *out)
{
    *out = -1;
    return take(f, "null") || id(f, 0, INT32_MAX, out);
}

/* A string of 0 to size - 1 bytes. */
static int string(form1 *f, char *out, size_t size)
{
    size_t n = 0;
    if (!take(f, "\""))
        return 0;
    while (f->at < f->end && *f->at != '"' && n < size - 1) {
        int byte = (unsigned char)*f->at++;
        if (byte == '\\') {
            const int is_there = f->end - f->at > 5 && memcmp(f->at, "u00", 3) == 0;
            const int high = is_there ? hex_digit(f->at[3]) : -1;
            const int low = is_there ? hex_digit(f->at[4]) : -1;
            if (high < 0 || low < 0)
                return 0;
            byte = high * 16 + low;
            f->at += 5;
        }
        if (byte == 0)
            return 0;
        out[n++] = (char)byte;
    }
    out[n] = '\0';
    return f->at < f->end && *f->at++ == '"';
}

static int is_in_memory(form1 *f, cpubind_linux_fault why)
{
    f->is_memory_gone |= why.error == ENOMEM;
    return !why.error;
}

static int list(form1 *f, int32_t *set)
{
    const char *end;
    int32_t len;
    if (!take(f, "\""))
        return 0;
    end = (const char *)memchr(f->at, '"', (size_t)(f->end - f->at));
    if (!end)
        return 0;
    len = (int32_t)(end - f->at);
    if (!is_in_memory(f, cpubind_cpu_sets_of_text(&f->record->sets, f->sys, f->at, len, set)))
        return 0;
    f->at = end + 1;
    return 1;
}

static int list_or_null(form1 *f, int32_t *set)
{
    *set = CPUBIND_CPUSET_NONE;
    return take(f, "null") || list(f, set);
}

/* Elements of an array. Each is read by `read`. */
static int array(form1 *f, int (*read)(form1 *f))
{
    if (!take(f, "["))
        return 0;
    if (take(f, "]"))
        return 1;
    do
        if (!read(f))
            return 0;
    while (take(f, ","));
    return take(f, "]");
}

/* == Elements =============================================================== */

static int read_rule(form1 *f)
{
    char name[16];
    int32_t set;
    return member(f, "{", "name") && string(f, name, sizeof name) && *name &&
           member(f, ",", "cpus") && list(f, &set) && take(f, "}") &&
           is_in_memory(f, cpubind_record_add_rule(f->record, f->sys, name, set));
}

static int read_our_set(form1 *f)
{
    int32_t set;
    return list(f, &set) && is_in_memory(f, cpubind_record_add_placed(f->record, f->sys, set));
}

static int read_group(form1 *f)
{
    int32_t before;
    if (!member(f, "{", "before") || !list(f, &before) || !member(f, ",", "tids") ||
        !take(f, "["))
        return 0;
    do {
        int32_t tid;
        if (!id(f, 1, INT32_MAX, &tid) ||
            !is_in_memory(f, cpubind_record_add_thread(f->record, f->sys, tid, before)))
            return 0;
    } while (take(f, ","));
    return take(f, "]") && take(f, "}");
}

/* Adds what the process uses of the host. */
static int add_host(form1 *f, const cpubind_shared_entry *entry, int32_t set,
                    cpubind_irqbalance_action action)
{
    const cpubind_shared_user user = {f->record->pid, f->record->start, set, action};
    cpubind_shared_record *host = f->record->host;
    return is_in_memory(
               f, CPUBIND_APPEND(f->sys, host->entry, host->n_entry, host->cap_entry, entry)) &&
           is_in_memory(
               f, cpubind_shared_add_user(&host->entry[host->n_entry - 1], f->sys, &user));
}

static int read_other(form1 *f)
{
    cpubind_shared_entry e = {.kind = CPUBIND_ITEM_POLLING};
    int32_t set;
    return member(f, "{", "pid") && id(f, 1, INT32_MAX, &e.pid) && member(f, ",", "tid") &&
           id(f, 1, INT32_MAX, &e.number) && member(f, ",", "start") &&
           number(f, UINT64_MAX, &e.start) && member(f, ",", "before") && list(f, &e.before) &&
           member(f, ",", "set") && list(f, &set) && take(f, "}") &&
           add_host(f, &e, set, CPUBIND_IRQBALANCE_LEAVE);
}

static int read_irq(form1 *f)
{
    cpubind_record_irq irq = {0};
    cpubind_shared_entry e = {.kind = CPUBIND_ITEM_IRQ};
    char kind[4];
    int32_t is_banned, set;
    if (!member(f, "{", "irq") || !id(f, 0, INT32_MAX, &irq.irq) || !member(f, ",", "kind") ||
        !string(f, kind, sizeof kind) || !member(f, ",", "cpu") ||
        !id(f, 0, CPUBIND_MAX_CPUS - 1, &irq.cpu) || !member(f, ",", "before") ||
        !list_or_null(f, &e.before) || !member(f, ",", "banned") || !id(f, 0, 1, &is_banned) ||
        !take(f, "}"))
        return 0;
    irq.kind = cpubind_irq_kind_of(kind, (int32_t)strlen(kind));
    if (irq.kind == CPUBIND_IRQ_KINDS)
        return 0;
    e.number = irq.irq;
    if (!is_in_memory(f, CPUBIND_APPEND(f->sys, f->record->irq, f->record->n_irq,
                                        f->record->cap_irq, &irq)))
        return 0;                        /* the id comes later */
    if (e.before == CPUBIND_CPUSET_NONE) /* it was never moved */
        return 1;
    return is_in_memory(
               f, cpubind_cpu_sets_of_list(&f->record->sets, f->sys, &irq.cpu, 1, &set)) &&
           add_host(f, &e, set, is_banned ? CPUBIND_IRQBALANCE_BAN : CPUBIND_IRQBALANCE_LEAVE);
}

static int read_irqbalance(form1 *f)
{
    cpubind_shared_entry e = {.kind = CPUBIND_ITEM_IRQBALANCE, .before = CPUBIND_CPUSET_NONE};
    char how[8];
    if (take(f, "null"))
        return 1;
    return member(f, "{", "pid") && id(f, 1, INT32_MAX, &e.number) && member(f, ",", "start") &&
           number(f, UINT64_MAX, &e.start) && member(f, ",", "how") &&
           string(f, how, sizeof how) && take(f, "}") &&
           (strcmp(how, "ban") == 0 || strcmp(how, "stop") == 0) &&
           add_host(f, &e, CPUBIND_CPUSET_NONE,
                    strcmp(how, "ban") == 0 ? CPUBIND_IRQBALANCE_BAN : CPUBIND_IRQBALANCE_STOP);
}

/* == The record ============================================================= */

static int read_process(form1 *f)
{
    cpubind_record *r = f->record;
    char version[32];
    int32_t form;
    return member(f, "{", "cpubind") && string(f, version, sizeof version) &&
           member(f, ",", "format") && id(f, 1, 1, &form) && member(f, ",", "boot") &&
           string(f, r->boot, sizeof r->boot) && member(f, ",", "pid") &&
           id(f, 1, INT32_MAX, &r->pid) && member(f, ",", "start") &&
           number(f, UINT64_MAX, &r->start) && member(f, ",", "npu") &&
           id_or_null(f, &r->device) && member(f, ",", "before") && list(f, &r->before);
}

static int read_goal(form1 *f)
{
    cpubind_record *r = f->record;
    return member(f, ",", "goal") && member(f, "{", "main") && list(f, &r->main) &&
           member(f, ",", "memory_node") && id_or_null(f, &r->memory_node) &&
           member(f, ",", "uvb") && list_or_null(f, &r->polling) && member(f, ",", "rules") &&
           array(f, read_rule) && take(f, "}") && member(f, ",", "ours") &&
           array(f, read_our_set);
}

static int read_changes(form1 *f)
{
    return member(f, ",", "threads") && array(f, read_group) && member(f, ",", "others") &&
           array(f, read_other) && member(f, ",", "irqs") && array(f, read_irq) &&
           member(f, ",", "irqbalance") && read_irqbalance(f);
}

/* The line that the reader is in, from 1. */
static int32_t line_of(const form1 *f)
{
    int32_t line = 1;
    for (const char *at = f->text; at < f->at; at++)
        line += *at == '\n';
    return line;
}

cpubind_linux_fault cpubind_record_parse_form1(const char *text, int32_t len,
                                               const cpubind_sys *sys, cpubind_record *out)
{
    form1 f = {text, text, text + len, sys, out, "cpubind", 0};
    cpubind_linux_fault why;
    out->host = (cpubind_shared_record *)sys->malloc(sizeof *out->host);
    f.is_memory_gone = !out->host;
    if (out->host)
        memset(out->host, 0, sizeof *out->host);
    if (out->host && read_process(&f) && read_goal(&f) && read_changes(&f) && take(&f, "}")) {
        f.what = "end";
        skip_blanks(&f);
        if (f.at == f.end)
            return cpubind_no_fault;
    }
    why = f.is_memory_gone ? cpubind_fault_of(ENOMEM, "memory")
                           : (cpubind_linux_fault){EILSEQ, f.what, line_of(&f)};
    cpubind_record_free(out);
    return why;
}
