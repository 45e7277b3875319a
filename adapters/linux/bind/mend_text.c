/* mend_text.c - the record of changes of cpubind doctor --fix as text: writing it, reading it
 * SPDX-License-Identifier: MIT
 *
 * Pure: works on (pointer, length), opens no file. Words and lines are those of record_words.h.
 * The lines come in this order:
 *
 *     cpubind-doctor 1 VERSION                  the form's number; the cpubind that wrote it
 *     boot NAME                                 /proc/sys/kernel/random/boot_id
 *     file NAME BEFORE AFTER                    a file and its values
 *     thread PID TID START BEFORE AFTER         a thread and its CPUs
 *     ban PID START IRQ                         irqbalance leaves this interrupt alone
 *     sum HEX                                   CRC-32 (IEEE 802.3) of all lines above
 *
 * boot is there at most once; file, thread and ban come in the order of the changes. A file
 * that no change may name is refused.
 */
#include "mend_record.h"
#include "record_words.h"

#define HEAD "cpubind-doctor "
#define FORM "1"

void cpubind_mend_record_free(cpubind_mend_record *record)
{
    for (int32_t i = 0; i < record->n; i++) {
        free(record->entry[i].file);
        free(record->entry[i].before);
        free(record->entry[i].after);
        free(record->entry[i].old_after);
    }
    free(record->entry);
    memset(record, 0, sizeof *record);
}

/* Whether a name is `start`, digits without a leading zero, and `end`. */
static int is_numbered(const char *name, const char *start, const char *end)
{
    const size_t n = strlen(start);
    size_t digits;
    if (strncmp(name, start, n) != 0)
        return 0;
    digits = strspn(name + n, "0123456789");
    return digits > 0 && digits < 10 && (name[n] != '0' || digits == 1) &&
           strcmp(name + n + digits, end) == 0;
}

int cpubind_mend_is_file(const char *name)
{
    return strcmp(name, "proc/sys/kernel/numa_balancing") == 0 ||
           is_numbered(name, "sys/devices/system/cpu/cpu", "/cpufreq/scaling_governor") ||
           is_numbered(name, "proc/irq/", "/smp_affinity_list");
}

int cpubind_mend_is_value(const char *value)
{
    size_t n = 0;
    while (value[n] >= '!' && value[n] <= '~')
        n++;
    return !value[n] && n > 0 && n < 65536;
}

/* == Writing ================================================================ */

static void put_values(writer *w, const cpubind_mend_entry *entry)
{
    require(w, cpubind_mend_is_value(entry->before) && cpubind_mend_is_value(entry->after));
    put(w, " ");
    put_word(w, entry->before);
    put(w, " ");
    put_word(w, entry->after);
    put(w, "\n");
}

static void put_entry(writer *w, const cpubind_mend_entry *entry)
{
    const unsigned long long start = (unsigned long long)entry->start;
    switch (entry->kind) {
    case CPUBIND_CHANGE_FILE:
        require(w, cpubind_mend_is_file(entry->file));
        put(w, "file ");
        put_word(w, entry->file);
        put_values(w, entry);
        break;
    case CPUBIND_CHANGE_THREAD:
        require(w, entry->pid > 0 && entry->tid > 0);
        put(w, "thread %d %d %llu", (int)entry->pid, (int)entry->tid, start);
        put_values(w, entry);
        break;
    case CPUBIND_CHANGE_BAN:
        require(w, entry->pid > 0 && entry->irq >= 0);
        put(w, "ban %d %llu %d\n", (int)entry->pid, start, (int)entry->irq);
        break;
    }
}

cpubind_linux_fault cpubind_mend_format(const cpubind_mend_record *record,
                                        const cpubind_sys *sys, cpubind_bytes *out)
{
    writer w = {NULL, sys, out, cpubind_no_fault};
    put(&w, HEAD FORM " " CPUBIND_VERSION "\n");
    if (*record->boot)
        put_name(&w, "boot", record->boot);
    for (int32_t i = 0; i < record->n; i++)
        if (record->entry[i].is_kept)
            put_entry(&w, &record->entry[i]);
    put_sum(&w);
    return w.why;
}

/* == Reading ================================================================ */

/* Reads a word into memory of its own. */
static int read_text(reader *r, char **out)
{
    const size_t size = (size_t)(r->end - r->at) + 1;
    *out = (char *)r->sys->malloc(size);
    if (!*out) {
        r->why = cpubind_fault_of(ENOMEM, "memory");
        return 0;
    }
    return read_name(r, *out, (int32_t)size);
}

static int read_values(reader *r, cpubind_mend_entry *entry)
{
    return read_text(r, &entry->before) && cpubind_mend_is_value(entry->before) &&
           read_text(r, &entry->after) && cpubind_mend_is_value(entry->after);
}

/* Reads the rest of a line of this word into an entry; 0: the text is wrong, or no memory. */
static int read_entry(reader *r, int kind, cpubind_mend_entry *entry)
{
    entry->kind = (cpubind_change_kind)kind;
    switch (entry->kind) {
    case CPUBIND_CHANGE_FILE:
        return read_text(r, &entry->file) && cpubind_mend_is_file(entry->file) &&
               read_values(r, entry);
    case CPUBIND_CHANGE_THREAD:
        return read_id(r, 1, INT32_MAX, &entry->pid) && read_id(r, 1, INT32_MAX, &entry->tid) &&
               read_number(r, UINT64_MAX, &entry->start) && read_values(r, entry);
    case CPUBIND_CHANGE_BAN:
        return read_id(r, 1, INT32_MAX, &entry->pid) &&
               read_number(r, UINT64_MAX, &entry->start) &&
               read_id(r, 0, INT32_MAX, &entry->irq);
    }
    return 0;
}

/* Reads a line after its first word; NULL, or that word when the line is wrong. */
static const char *read_line(reader *r, int kind, cpubind_mend_record *out)
{
    static const char *const words[] = {"file", "thread", "ban", "boot"};
    const cpubind_mend_entry entry = {.is_kept = 1};
    if (kind == 3)
        return r->line == 2 && read_name(r, out->boot, (int32_t)sizeof out->boot) &&
                       r->at == r->end
                   ? NULL
                   : words[kind];
    if (!is_added(r, CPUBIND_APPEND(r->sys, out->entry, out->n, out->cap, &entry)))
        return words[kind]; /* its texts are freed with the record, however far it was read */
    return read_entry(r, kind, &out->entry[out->n - 1]) && r->at == r->end ? NULL : words[kind];
}

static const char *read_lines(reader *r, const char *text_end, cpubind_mend_record *out)
{
    static const char *const words[] = {"file", "thread", "ban", "boot", "sum", NULL};
    const char *what = read_head(r, text_end, HEAD, FORM, "cpubind-doctor");
    while (!what) {
        int kind;
        r->line++;
        if (!next_line(r, text_end))
            return "sum";
        kind = read_one_of(r, words);
        if (kind < 0 || r->at == r->end)
            return "line";
        if (kind < 4)
            what = read_line(r, kind, out);
        else if (!read_sum(r) || r->at != r->end)
            what = "sum";
        else
            break;
    }
    if (what || r->next == text_end)
        return what;
    r->line++;
    return "end";
}

cpubind_linux_fault cpubind_mend_parse(const char *text, int32_t len, const cpubind_sys *sys,
                                       cpubind_mend_record *out)
{
    const char *const start = len > 0 ? text : "";
    reader r = {.text = start, .next = start, .sys = sys, .line = 1};
    const char *what;
    memset(out, 0, sizeof *out);
    what = read_lines(&r, start + len, out);
    if (!what)
        return cpubind_no_fault;
    cpubind_mend_record_free(out);
    return r.why.error ? r.why : (cpubind_linux_fault){EILSEQ, what, r.line};
}
