/* record_text.c - a record as the text of its file: writing it, reading it
 * SPDX-License-Identifier: MIT
 *
 * Pure: works on (pointer, length), opens no file. One line holds one fact; words are parted by
 * one blank; each line, the last one too, ends with a line feed. The lines come in this order:
 *
 *     cpubind-record 6 VERSION               the form's number; the cpubind that wrote it
 *     process PID START                      START: field 22 of /proc/PID/stat
 *     boot NAME                              /proc/sys/kernel/random/boot_id
 *     namespace N                            inode of its pid namespace; absent: the first of
 *                                            the host, or not known
 *     before LIST                            CPUs of the process before it was bound first
 *     widest LIST                            all that its cpuset gave then: a thread that had
 *                                            them gets the widest mask back
 *     main LIST                              the goal: threads that no rule names
 *     npu N                                  the number of its device for the runtime
 *     pci ADDRESS                            its device without a number, as /sys names it
 *     rules NAME                             by which its plan was cut; absent: not known
 *     memory N                               its memory node
 *     left BYTES WORD                        own memory that apply has left on other nodes, and
 *                                            why: a word of CPUBIND_MEMORY_STAY_LIST
 *     uvb LIST                               its CPUs for threads of other processes
 *     rule LIST|- PATTERN                    its threads of some names; the first rule that
 *                                            fits counts; -: they are left where they are
 *     placed LIST                            CPUs that only a binding gives
 *     thread TID LIST                        CPUs before; by ascending TID
 *     irq N sq|cq|mailbox CPU FUNCTION NAME INDEX
 *                                            its interrupts: the CPU of each, and its last
 *                                            number N; by FUNCTION, NAME, INDEX
 *     sum HEX                                CRC-32 (IEEE 802.3) of all lines above
 *
 * process, before, main and sum are there once; boot, namespace, widest, npu, pci, rules,
 * memory, left and uvb at most once; the others any number of times. Numbers are decimal
 * without leading zeros, a LIST is as the kernel writes one ("0-3,8"), HEX is 8 lower-case
 * digits. In a NAME or PATTERN each byte that is not '!' to '~', and each '%', is %xx with two
 * lower-case digits. So there is one text for a record, and each other text is refused: cut,
 * reordered, doubled or edited ones too.
 *
 * A change that an older program could not read takes the next number, CPUBIND_RECORD_FORM in
 * bind.h. Forms 1 to 5 were of programs before the first release.
 */
#include "../../text/pci_address.h"
#include "../kernel/irq.h"
#include "record_words.h"

#define HEAD "cpubind-record "

/* == Writing ================================================================ */

/* Whether a text is an address as cpubind_pci_format writes it. */
static int is_address(const char *text)
{
    char plain[CPUBIND_PCI_ADDRESS_MAX];
    cpubind_pci_address pci;
    if (cpubind_pci_parse(text, (int32_t)strlen(text), &pci, NULL) != CPUBIND_TEXT_OK)
        return 0;
    (void)cpubind_pci_format(plain, &pci);
    return strcmp(plain, text) == 0;
}

static void put_goal(writer *w, const cpubind_record *s)
{
    put(w, "main %s\n", list_of(w, s->main));
    if (s->device >= 0)
        put(w, "npu %d\n", (int)s->device);
    if (*s->pci) {
        require(w, is_address(s->pci));
        put_name(w, "pci", s->pci);
    }
    if (*s->rules)
        put_name(w, "rules", s->rules);
    if (s->memory_node >= 0)
        put(w, "memory %d\n", (int)s->memory_node);
    if (s->memory_left > 0)
        put(w, "left %lld %s\n", (long long)s->memory_left,
            cpubind_memory_stay_word(s->left_why));
    if (s->polling != CPUBIND_CPUSET_NONE)
        put(w, "uvb %s\n", list_of(w, s->polling));
    for (int32_t i = 0; i < s->n_rule; i++) {
        put(w, "rule %s", list_or_none(w, s->rule[i].set));
        put_name(w, "", s->rule[i].name);
    }
    for (int32_t i = 0; i < s->n_placed; i++)
        put(w, "placed %s\n", list_of(w, s->placed[i]));
}

static void put_changes(writer *w, const cpubind_record *s)
{
    for (int32_t i = 0; i < s->n_thread; i++) {
        const cpubind_record_thread *t = &s->thread[i];
        require(w, t->tid > (i ? t[-1].tid : 0));
        put(w, "thread %d %s\n", (int)t->tid, list_of(w, t->before));
    }
    for (int32_t i = 0; i < s->n_irq; i++) {
        const cpubind_record_irq *irq = &s->irq[i];
        require(w, irq->irq >= 0);
        require(w, i == 0 || cpubind_irq_compare(&irq[-1].id, &irq->id) < 0);
        require(w, irq->cpu >= 0 && irq->cpu < CPUBIND_MAX_CPUS);
        put(w, "irq %d %s %d ", (int)irq->irq, cpubind_irq_kind_word(irq->kind), (int)irq->cpu);
        put_irq_id(w, &irq->id);
        put(w, "\n");
    }
}

cpubind_linux_fault cpubind_record_format(const cpubind_record *record, const cpubind_sys *sys,
                                          cpubind_bytes *out)
{
    writer w = {&record->sets, sys, out, cpubind_no_fault};
    put(&w, HEAD CPUBIND_RECORD_FORM " " CPUBIND_VERSION "\n");
    require(&w, record->pid > 0);
    put(&w, "process %d %llu\n", (int)record->pid, (unsigned long long)record->start);
    if (*record->boot)
        put_name(&w, "boot", record->boot);
    if (record->pid_namespace)
        put(&w, "namespace %llu\n", (unsigned long long)record->pid_namespace);
    put(&w, "before %s\n", list_of(&w, record->before));
    if (record->widest != CPUBIND_CPUSET_NONE)
        put(&w, "widest %s\n", list_of(&w, record->widest));
    put_goal(&w, record);
    put_changes(&w, record);
    put_sum(&w);
    return w.why;
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

static int read_namespace(reader *r)
{
    return read_number(r, UINT64_MAX, &r->record->pid_namespace) &&
           r->record->pid_namespace != 0;
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

static int read_device(reader *r)
{
    return read_id(r, 0, INT32_MAX, &r->record->device);
}

static int read_pci(reader *r)
{
    return read_name(r, r->record->pci, (int32_t)sizeof r->record->pci) &&
           is_address(r->record->pci);
}

static int read_rules(reader *r)
{
    return read_name(r, r->record->rules, (int32_t)sizeof r->record->rules);
}

static int read_memory(reader *r)
{
    return read_id(r, 0, INT32_MAX, &r->record->memory_node);
}

static int read_left(reader *r)
{
    static const char *const words[] = {
#define CPUBIND_X(name, word) word,
        CPUBIND_MEMORY_STAY_LIST(CPUBIND_X)
#undef CPUBIND_X
            NULL};
    uint64_t bytes;
    int stay;
    if (!read_number(r, INT64_MAX, &bytes) || bytes == 0)
        return 0;
    stay = read_one_of(r, words);
    r->record->memory_left = (int64_t)bytes;
    r->record->left_why = (cpubind_memory_stay)stay;
    return stay >= 0;
}

static int read_polling(reader *r)
{
    return read_list(r, &r->record->polling);
}

static int read_rule(reader *r)
{
    cpubind_record_rule rule = {0};
    char pattern[CPUBIND_PATTERN_SIZE];
    return read_list_or_none(r, &rule.set) &&
           read_name(r, rule.name, (int32_t)sizeof rule.name) &&
           cpubind_pattern_make(rule.name, pattern) && strcmp(pattern, rule.name) == 0 &&
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

static int read_irq(reader *r)
{
    const cpubind_record *s = r->record;
    cpubind_record_irq irq = {0};
    const char *word;
    int32_t len;
    if (!read_id(r, 0, INT32_MAX, &irq.irq) || !read_word(r, &word, &len))
        return 0;
    irq.kind = cpubind_irq_kind_of(word, len);
    return irq.kind < CPUBIND_IRQ_KINDS && read_id(r, 0, CPUBIND_MAX_CPUS - 1, &irq.cpu) &&
           read_irq_id(r, &irq.id) &&
           (s->n_irq == 0 || cpubind_irq_compare(&s->irq[s->n_irq - 1].id, &irq.id) < 0) &&
           is_added(r, cpubind_record_add_irq(r->record, r->sys, &irq));
}

/* The lines after the first, in order. */
enum { NEEDED = 1, REPEATED = 2 };

static const struct line_kind {
    const char *word;
    int flags;
    int (*read)(reader *r);
} kinds[] = {
    {"process", NEEDED, read_process},
    {"boot", 0, read_boot},
    {"namespace", 0, read_namespace},
    {"before", NEEDED, read_before},
    {"widest", 0, read_widest},
    {"main", NEEDED, read_main},
    {"npu", 0, read_device},
    {"pci", 0, read_pci},
    {"rules", 0, read_rules},
    {"memory", 0, read_memory},
    {"left", 0, read_left},
    {"uvb", 0, read_polling},
    {"rule", REPEATED, read_rule},
    {"placed", REPEATED, read_placed},
    {"thread", REPEATED, read_thread},
    {"irq", REPEATED, read_irq},
    {"sum", NEEDED, read_sum},
};

enum { N_KINDS = (int)(sizeof kinds / sizeof *kinds) };

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

/* NULL, or the kind of the line that is wrong or missing: the line r->line. */
static const char *read_lines(reader *r, const char *text_end)
{
    const char *what = read_head(r, text_end, HEAD, CPUBIND_RECORD_FORM, "cpubind-record");
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
    reader r = {
        .text = start, .next = start, .sys = sys, .sets = &out->sets, .record = out, .line = 1};
    const char *what;
    *out = (cpubind_record){.device = -1,
                            .memory_node = -1,
                            .polling = CPUBIND_CPUSET_NONE,
                            .widest = CPUBIND_CPUSET_NONE};
    what = read_lines(&r, start + len);
    if (!what)
        return cpubind_no_fault;
    cpubind_record_free(out);
    return r.why.error ? r.why : (cpubind_linux_fault){EILSEQ, what, r.line};
}

void cpubind_record_form_of(const char *text, int32_t len, char out[CPUBIND_RECORD_FORM_SIZE])
{
    const char *const blank = len > 0 ? (const char *)memchr(text, ' ', (size_t)len) : NULL;
    size_t n = 0;
    for (const char *at = blank ? blank + 1 : NULL; at && at < text + len && *at != '\n';
         at++) {
        if (*at < ' ' || *at > '~' || n == CPUBIND_RECORD_FORM_SIZE - 1) {
            n = 0;
            break;
        }
        out[n++] = *at;
    }
    out[n] = '\0';
}
