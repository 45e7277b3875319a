/* record_text.c - a record as the text of its file: writing it, reading it
 * SPDX-License-Identifier: MIT
 *
 * Pure: works on (pointer, length), opens no file. One line holds one fact; words are parted by
 * one blank; each line, the last one too, ends with a line feed. The lines come in this order:
 *
 *     cpubind-record 3 VERSION               the format's number; the cpubind that wrote it
 *     process PID START                      START: field 22 of /proc/PID/stat
 *     boot NAME                              /proc/sys/kernel/random/boot_id
 *     before LIST                            CPUs of the process before it was bound first
 *     widest LIST                            all that its cpuset gave then: a thread that had
 *                                            them gets the widest mask back
 *     main LIST                              the goal: threads that no rule names
 *     npu N                                  its device
 *     memory N                               its memory node
 *     uvb LIST                               its CPUs for UVB polling threads
 *     rule LIST NAME                         its threads of one name; the first rule counts
 *     placed LIST                            CPUs that only a binding gives
 *     thread TID LIST                        CPUs before; by ascending TID
 *     uvb-thread PID TID START LIST LIST     CPUs before, CPUs given; by TID, then START
 *     irq N sq|cq CPU FUNCTION NAME INDEX LIST|- ban|-   CPU given, which interrupt, CPUs
 *                                            before, asked of irqbalance; N is its last number;
 *                                            by FUNCTION, NAME, INDEX
 *     irqbalance PID START ban|stop          the daemon, and what was asked of it
 *     sum HEX                                CRC-32 (IEEE 802.3) of all lines above
 *
 * process, before, main and sum are there once; boot, widest, npu, memory, uvb and irqbalance
 * at most once; the others any number of times. Numbers are decimal without leading zeros, a LIST is as
 * the kernel writes one ("0-3,8"), HEX is 8 lower-case digits. In a NAME each byte that is not
 * '!' to '~', and each '%', is %xx with two lower-case digits. So there is one text for a
 * record, and each other text is refused: cut, reordered, doubled or edited ones too. A "{"
 * begins the records of cpubind 0.1, which were JSON; they are refused as "older".
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../cpubind.h"
#include "../kernel/irq.h"
#include "record.h"

#define HEAD   "cpubind-record "
#define FORMAT "3"

/* CRC-32 with the reflected polynomial 0xedb88320, four bits a step. */
static uint32_t crc32_of(const char *text, int32_t len)
{
    uint32_t crc = 0xffffffffu;
    uint32_t table[16];
    for (uint32_t i = 0; i < 16; i++) {
        table[i] = i;
        for (int bit = 0; bit < 4; bit++)
            table[i] = table[i] & 1 ? table[i] >> 1 ^ 0xedb88320u : table[i] >> 1;
    }
    for (int32_t i = 0; i < len; i++) {
        crc ^= (unsigned char)text[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

/* Whether the bytes of a word, which NUL does not end, are those of a text. */
static int is_word(const char *text, const char *word, int32_t len)
{
    return strlen(text) == (size_t)len && memcmp(text, word, (size_t)len) == 0;
}

static int is_plain(unsigned char c)
{
    return c >= '!' && c <= '~' && c != '%';
}

/* == Writing ================================================================ */

/* The text so far. The first error stays. */
typedef struct writer {
    const cpubind_record *record;
    const cpubind_sys *sys;
    cpubind_bytes *bytes;
    cpubind_linux_fault why;
} writer;

/* What is not so could not be read back. */
static void require(writer *w, int is_good)
{
    if (!is_good && !w->why.error)
        w->why = cpubind_fault_of(EINVAL, "argument");
}

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...)
{
    int32_t need = 80; /* most lines fit at the first try */
    while (!w->why.error) {
        va_list arguments;
        int len;
        w->why = need > CPUBIND_FILE_MAX - w->bytes->len
                     ? cpubind_fault_of(EFBIG, "write")
                     : cpubind_bytes_reserve(w->bytes, w->sys, need);
        if (w->why.error)
            return;
        va_start(arguments, format);
        len = vsnprintf(w->bytes->data + w->bytes->len, (size_t)need, format, arguments);
        va_end(arguments);
        if (len < need) {
            w->bytes->len += len;
            return;
        }
        need = len + 1;
    }
}

static const char *list_of(writer *w, int32_t set)
{
    require(w, set >= 0 && set < w->record->sets.n && w->record->sets.set[set].n > 0);
    return w->why.error ? "" : w->record->sets.set[set].text;
}

static const char *list_or_none(writer *w, int32_t set)
{
    return set == CPUBIND_CPUSET_NONE ? "-" : list_of(w, set);
}

static void put_word(writer *w, const char *name)
{
    require(w, *name != '\0');
    for (; *name; name++)
        put(w, is_plain((unsigned char)*name) ? "%c" : "%%%02x", (unsigned char)*name);
}

static void put_name(writer *w, const char *word, const char *name)
{
    put(w, "%s ", word);
    put_word(w, name);
    put(w, "\n");
}

static void put_goal(writer *w)
{
    const cpubind_record *s = w->record;
    put(w, "main %s\n", list_of(w, s->main));
    if (s->npu >= 0)
        put(w, "npu %d\n", (int)s->npu);
    if (s->memory_node >= 0)
        put(w, "memory %d\n", (int)s->memory_node);
    if (s->uvb != CPUBIND_CPUSET_NONE)
        put(w, "uvb %s\n", list_of(w, s->uvb));
    for (int32_t i = 0; i < s->n_rule; i++) {
        put(w, "rule %s", list_of(w, s->rule[i].set));
        put_name(w, "", s->rule[i].name);
    }
    for (int32_t i = 0; i < s->n_placed; i++)
        put(w, "placed %s\n", list_of(w, s->placed[i]));
}

static void put_changes(writer *w)
{
    const cpubind_record *s = w->record;
    for (int32_t i = 0; i < s->n_thread; i++) {
        const cpubind_record_thread *t = &s->thread[i];
        require(w, t->tid > (i ? t[-1].tid : 0));
        put(w, "thread %d %s\n", (int)t->tid, list_of(w, t->before));
    }
    for (int32_t i = 0; i < s->n_uvb_thread; i++) {
        const cpubind_record_uvb_thread *t = &s->uvb_thread[i];
        require(w, t->pid > 0 && t->tid > 0);
        require(w, i == 0 || cpubind_record_compare_uvb_threads(t - 1, t) < 0);
        put(w, "uvb-thread %d %d %llu %s %s\n", (int)t->pid, (int)t->tid,
            (unsigned long long)t->start, list_of(w, t->before), list_of(w, t->set));
    }
    for (int32_t i = 0; i < s->n_irq; i++) {
        const cpubind_record_irq *irq = &s->irq[i];
        require(w, irq->irq >= 0 && cpubind_irq_is_id(&irq->id));
        require(w, i == 0 || cpubind_irq_compare(&irq[-1].id, &irq->id) < 0);
        require(w, irq->cpu >= 0 && irq->cpu < CPUBIND_MAX_CPUS);
        if (w->why.error)
            return;
        put(w, "irq %d %s %d ", (int)irq->irq, cpubind_irq_kind_word(irq->kind), (int)irq->cpu);
        put_word(w, irq->id.function);
        put(w, " ");
        put_word(w, irq->id.name);
        put(w, " %d %s %s\n", (int)irq->id.index, list_or_none(w, irq->before),
            irq->is_banned ? "ban" : "-");
    }
    if (s->irqbalance == CPUBIND_IRQBALANCE_LEAVE)
        return;
    require(w, s->irqbalance_pid > 0);
    put(w, "irqbalance %d %llu %s\n", (int)s->irqbalance_pid,
        (unsigned long long)s->irqbalance_start,
        s->irqbalance == CPUBIND_IRQBALANCE_BAN ? "ban" : "stop");
}

cpubind_linux_fault cpubind_record_format(const cpubind_record *record, const cpubind_sys *sys,
                                          cpubind_bytes *out)
{
    writer w = {record, sys, out, cpubind_no_fault};
    put(&w, HEAD FORMAT " " CPUBIND_VERSION "\n");
    require(&w, record->pid > 0);
    put(&w, "process %d %llu\n", (int)record->pid, (unsigned long long)record->start);
    if (*record->boot)
        put_name(&w, "boot", record->boot);
    put(&w, "before %s\n", list_of(&w, record->before));
    if (record->widest != CPUBIND_CPUSET_NONE)
        put(&w, "widest %s\n", list_of(&w, record->widest));
    put_goal(&w);
    put_changes(&w);
    if (!w.why.error)
        put(&w, "sum %08lx\n", (unsigned long)crc32_of(out->data, out->len));
    return w.why;
}

/* == Reading: words ========================================================= */

typedef struct reader {
    const char *text;     /* of the whole record */
    const char *at, *end; /* what is left of the line */
    const char *next;     /* the line after it */
    const cpubind_sys *sys;
    cpubind_record *record;
    int32_t line; /* its number, from 1 */
    cpubind_linux_fault
        why; /* without memory; else a failed read means that the text is wrong */
} reader;

/* Each of these reads one word and, but at the end of the line, the blank after it.
 * 1, or 0 when the text is wrong or there is no memory. */

static int read_word(reader *r, const char **word, int32_t *len)
{
    const char *blank = (const char *)memchr(r->at, ' ', (size_t)(r->end - r->at));
    const char *end = blank ? blank : r->end;
    *word = r->at;
    *len = (int32_t)(end - r->at);
    r->at = blank && blank + 1 < r->end ? blank + 1 : end;
    return *len > 0;
}

/* The place of the next word in a list that NULL ends, or -1. */
static int read_one_of(reader *r, const char *const *words)
{
    const char *word;
    int32_t len;
    if (!read_word(r, &word, &len))
        return -1;
    for (int i = 0; words[i]; i++)
        if (is_word(words[i], word, len))
            return i;
    return -1;
}

static int read_number(reader *r, uint64_t most, uint64_t *out)
{
    const char *word;
    int32_t len;
    *out = 0;
    if (!read_word(r, &word, &len) || (word[0] == '0' && len > 1))
        return 0;
    for (int32_t i = 0; i < len; i++) {
        const uint64_t digit = (uint64_t)(unsigned char)word[i] - '0';
        if (digit > 9 || digit > most || *out > (most - digit) / 10)
            return 0;
        *out = *out * 10 + digit;
    }
    return 1;
}

static int read_id(reader *r, int32_t least, int32_t most, int32_t *out)
{
    uint64_t value;
    const int is_good = read_number(r, (uint64_t)most, &value);
    *out = (int32_t)value;
    return is_good && *out >= least;
}

/* A list as the kernel writes it: 0,1 for 0-1 is refused. Most lists were there before. */
static int read_list(reader *r, int32_t *set)
{
    cpubind_cpu_sets *sets = &r->record->sets;
    cpubind_linux_fault why;
    const char *word;
    int32_t len;
    if (!read_word(r, &word, &len))
        return 0;
    for (*set = 0; *set < sets->n; ++*set)
        if (is_word(sets->set[*set].text, word, len))
            return 1;
    why = cpubind_cpu_sets_of_text(sets, r->sys, word, len, set);
    if (why.error == ENOMEM)
        r->why = why;
    return !why.error && is_word(sets->set[*set].text, word, len);
}

static int read_list_or_none(reader *r, int32_t *set)
{
    *set = CPUBIND_CPUSET_NONE;
    if (r->end - r->at < 2 || r->at[0] != '-' || r->at[1] != ' ')
        return read_list(r, set);
    r->at += 2;
    return 1;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* A name of 1 to size - 1 bytes. */
static int read_name(reader *r, char *out, int32_t size)
{
    const char *word;
    int32_t len, n = 0;
    if (!read_word(r, &word, &len))
        return 0;
    for (int32_t i = 0; i < len; i++) {
        int byte = (unsigned char)word[i];
        if (byte == '%') {
            const int high = i + 2 < len ? hex_digit(word[i + 1]) : -1;
            const int low = i + 2 < len ? hex_digit(word[i + 2]) : -1;
            byte = high < 0 || low < 0 ? 0 : high * 16 + low;
            if (byte == 0 || is_plain((unsigned char)byte))
                return 0;
            i += 2;
        } else if (!is_plain((unsigned char)byte)) {
            return 0;
        }
        if (n == size - 1)
            return 0;
        out[n++] = (char)byte;
    }
    out[n] = '\0';
    return 1;
}

/* Whether adding worked, which fails for want of memory alone. */
static int is_added(reader *r, cpubind_linux_fault why)
{
    r->why = why;
    return !why.error;
}

/* == Reading: lines ========================================================= */

static int read_process(reader *r)
{
    return read_id(r, 1, INT32_MAX, &r->record->pid) &&
           read_number(r, UINT64_MAX, &r->record->start);
}

static int read_boot(reader *r)
{
    return read_name(r, r->record->boot, (int32_t)sizeof r->record->boot);
}

static int read_before(reader *r)
{
    return read_list(r, &r->record->before);
}

static int read_widest(reader *r)
{
    return read_list(r, &r->record->widest);
}

static int read_main(reader *r)
{
    return read_list(r, &r->record->main);
}

static int read_npu(reader *r)
{
    return read_id(r, 0, INT32_MAX, &r->record->npu);
}

static int read_memory(reader *r)
{
    return read_id(r, 0, INT32_MAX, &r->record->memory_node);
}

static int read_uvb(reader *r)
{
    return read_list(r, &r->record->uvb);
}

static int read_rule(reader *r)
{
    cpubind_record_rule rule = {0};
    return read_list(r, &rule.set) && read_name(r, rule.name, (int32_t)sizeof rule.name) &&
           is_added(r, cpubind_record_add_rule(r->record, r->sys, rule.name, rule.set));
}

static int read_placed(reader *r)
{
    int32_t set;
    return read_list(r, &set) && !cpubind_record_is_placed(r->record, set) &&
           is_added(r, cpubind_record_add_placed(r->record, r->sys, set));
}

static int read_thread(reader *r)
{
    const cpubind_record *s = r->record;
    int32_t tid, before;
    return read_id(r, 1, INT32_MAX, &tid) &&
           (s->n_thread == 0 || tid > s->thread[s->n_thread - 1].tid) &&
           read_list(r, &before) &&
           is_added(r, cpubind_record_add_thread(r->record, r->sys, tid, before));
}

static int read_uvb_thread(reader *r)
{
    const cpubind_record *s = r->record;
    cpubind_record_uvb_thread t = {0};
    return read_id(r, 1, INT32_MAX, &t.pid) && read_id(r, 1, INT32_MAX, &t.tid) &&
           read_number(r, UINT64_MAX, &t.start) && read_list(r, &t.before) &&
           read_list(r, &t.set) &&
           (s->n_uvb_thread == 0 ||
            cpubind_record_compare_uvb_threads(&s->uvb_thread[s->n_uvb_thread - 1], &t) < 0) &&
           is_added(r, cpubind_record_add_uvb_thread(r->record, r->sys, &t));
}

static int read_irq(reader *r)
{
    static const char *const kinds[] = {"sq", "cq", NULL}, *const bans[] = {"-", "ban", NULL};
    const cpubind_record *s = r->record;
    cpubind_record_irq irq = {0};
    int kind;
    if (!read_id(r, 0, INT32_MAX, &irq.irq))
        return 0;
    kind = read_one_of(r, kinds);
    irq.kind = kind == 0 ? CPUBIND_IRQ_SQ : CPUBIND_IRQ_CQ;
    if (kind < 0 || !read_id(r, 0, CPUBIND_MAX_CPUS - 1, &irq.cpu) ||
        !read_name(r, irq.id.function, (int32_t)sizeof irq.id.function) ||
        !read_name(r, irq.id.name, (int32_t)sizeof irq.id.name) ||
        !read_id(r, 0, INT32_MAX, &irq.id.index) || !cpubind_irq_is_id(&irq.id) ||
        (s->n_irq > 0 && cpubind_irq_compare(&s->irq[s->n_irq - 1].id, &irq.id) >= 0) ||
        !read_list_or_none(r, &irq.before))
        return 0;
    irq.is_banned = read_one_of(r, bans);
    return irq.is_banned >= 0 && is_added(r, cpubind_record_add_irq(r->record, r->sys, &irq));
}

static int read_irqbalance(reader *r)
{
    static const char *const words[] = {"ban", "stop", NULL};
    int word;
    if (!read_id(r, 1, INT32_MAX, &r->record->irqbalance_pid) ||
        !read_number(r, UINT64_MAX, &r->record->irqbalance_start))
        return 0;
    word = read_one_of(r, words);
    r->record->irqbalance = word == 0 ? CPUBIND_IRQBALANCE_BAN : CPUBIND_IRQBALANCE_STOP;
    return word >= 0;
}

static int read_sum(reader *r)
{
    const char *const line = r->at - strlen("sum ");
    char expected[16];
    const char *word;
    int32_t len;
    (void)snprintf(expected, sizeof expected, "%08lx",
                   (unsigned long)crc32_of(r->text, (int32_t)(line - r->text)));
    return read_word(r, &word, &len) && len == 8 && memcmp(word, expected, 8) == 0;
}

/* The lines after the first, in order. */
enum { NEEDED = 1, REPEATED = 2 };

static const struct line_kind {
    const char *word;
    int flags;
    int (*read)(reader *r);
} kinds[] = {
    {"process", NEEDED, read_process}, {"boot", 0, read_boot},
    {"before", NEEDED, read_before},   {"widest", 0, read_widest},
    {"main", NEEDED, read_main},       {"npu", 0, read_npu},
    {"memory", 0, read_memory},        {"uvb", 0, read_uvb},
    {"rule", REPEATED, read_rule},     {"placed", REPEATED, read_placed},
    {"thread", REPEATED, read_thread}, {"uvb-thread", REPEATED, read_uvb_thread},
    {"irq", REPEATED, read_irq},       {"irqbalance", 0, read_irqbalance},
    {"sum", NEEDED, read_sum},
};

enum { N_KINDS = (int)(sizeof kinds / sizeof *kinds) };

/* Puts the next line into at .. end. 0 when no line feed ends it. */
static int next_line(reader *r, const char *text_end)
{
    r->at = r->next;
    r->end = r->at == text_end ? NULL
                               : (const char *)memchr(r->at, '\n', (size_t)(text_end - r->at));
    if (!r->end)
        return 0;
    r->next = r->end + 1;
    return 1;
}

/* The kind of the line: one of `from` or after it, with none that is needed in between. N_KINDS
 * when it is none; *what says why. */
static int find_kind(reader *r, int from, const char **what)
{
    const char *word;
    int32_t len;
    *what = "line";
    if (!read_word(r, &word, &len) || r->at == r->end)
        return N_KINDS;
    for (int i = 0; i < N_KINDS; i++) {
        if (!is_word(kinds[i].word, word, len))
            continue;
        *what = kinds[i].word;
        for (int k = from; k < i; k++) {
            if (!(kinds[k].flags & NEEDED))
                continue;
            *what = kinds[k].word;
            return N_KINDS;
        }
        return i < from ? N_KINDS : i;
    }
    return N_KINDS;
}

/* NULL, or the kind of the line that is wrong. */
static const char *read_head(reader *r, const char *text_end)
{
    static const char *const formats[] = {FORMAT, NULL};
    const char *word;
    int32_t len;
    if (r->next < text_end && *r->next == '{')
        return "older";
    if (!next_line(r, text_end) || r->end - r->at < (ptrdiff_t)strlen(HEAD) ||
        memcmp(r->at, HEAD, strlen(HEAD)) != 0)
        return "cpubind-record";
    r->at += strlen(HEAD);
    if (read_one_of(r, formats) < 0)
        return "format";
    return read_word(r, &word, &len) && r->at == r->end ? NULL : "cpubind-record";
}

/* NULL, or the kind of the line that is wrong or missing: the line r->line. */
static const char *read_lines(reader *r, const char *text_end)
{
    const char *what = read_head(r, text_end);
    int from = 0;
    while (!what && from < N_KINDS) {
        int kind = N_KINDS;
        r->line++;
        if (next_line(r, text_end))
            kind = find_kind(r, from, &what);
        else
            what = "sum";
        if (kind < N_KINDS && kinds[kind].read(r) && r->at == r->end)
            what = NULL;
        from = kind < N_KINDS && kinds[kind].flags & REPEATED ? kind : kind + 1;
    }
    if (what || r->next == text_end)
        return what;
    r->line++;
    return "end";
}

cpubind_linux_fault cpubind_record_parse(const char *text, int32_t len, const cpubind_sys *sys,
                                         cpubind_record *out)
{
    const char *const start = len > 0 ? text : "";
    reader r = {.text = start, .next = start, .sys = sys, .record = out, .line = 1};
    const char *what;
    *out = (cpubind_record){.npu = -1,
                            .memory_node = -1,
                            .uvb = CPUBIND_CPUSET_NONE,
                            .widest = CPUBIND_CPUSET_NONE};
    what = read_lines(&r, start + len);
    if (!what)
        return cpubind_no_fault;
    cpubind_record_free(out);
    return r.why.error ? r.why : (cpubind_linux_fault){EILSEQ, what, r.line};
}
