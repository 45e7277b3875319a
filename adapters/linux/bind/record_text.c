/* record_text.c - a record as the text of its file: writing it, reading it
 * SPDX-License-Identifier: MIT
 *
 * Pure: works on (pointer, length), opens no file. What a line is: lines.h. The lines come in
 * this order:
 *
 *     cpubind-record 7 VERSION               the form's number; the cpubind that wrote it
 *     process PID START                      START: field 22 of /proc/PID/stat
 *     boot NAME                              /proc/sys/kernel/random/boot_id
 *     namespace N                            inode of its pid namespace; absent: the first of
 *                                            the host, or not known
 *     time-namespace N                       the same of its time namespace
 *     before LIST                            CPUs of the process before it was bound first
 *     widest LIST                            all that its cpuset gave then: a thread that had
 *                                            them gets the widest mask back
 *     main LIST                              the goal: threads that no rule names
 *     npu N                                  the number of its device for the runtime
 *     pci ADDRESS                            its device without a number, as /sys names it
 *     rules NAME                             by which its plan was cut; absent: not known
 *     measured PID START                     by a measurement, not to outlive that
 *     memory N                               its memory node
 *     left BYTES WORD                        own memory that apply has left on other nodes, and
 *                                            why: a word of CPUBIND_MEMORY_STAY_LIST
 *     uvb LIST                               its CPUs for threads of other processes
 *     rule LIST|- PATTERN                    its threads of some names; the first rule that
 *                                            fits counts; -: they are left where they are
 *     placed LIST                            CPUs that only a binding gives
 *     thread TID LIST                        CPUs before; by ascending TID
 *     irq N sq|cq|mailbox|nic CPU FUNCTION NAME INDEX
 *                                            its interrupts: the CPU of each, and its last
 *                                            number N; by FUNCTION, NAME, INDEX
 *     sum HEX                                CRC-32 (IEEE 802.3) of all lines above
 *
 * process, before, main and sum are there once; boot, both namespaces, widest, npu, pci, rules,
 * measured, memory, left and uvb at most once; the others any number of times.
 *
 * A change that an older program could not read takes the next number, CPUBIND_RECORD_FORM in
 * bind.h. Forms 1 to 6 were of programs before the first release.
 */
#include "../../text/pci_address.h"
#include "lines.h"
#include "record.h"

#include <stddef.h>
#include <string.h>

#define HEAD "cpubind-record"

/* == Fields of each line ==================================================== */

/* A field that is a number or a list alone. */
static int number(cpubind_lines *l, void *of)
{
    return cpubind_line_id(l, (int32_t *)of, 0);
}

static int inode(cpubind_lines *l, void *of)
{
    return cpubind_line_big(l, (uint64_t *)of, 1);
}

static int list(cpubind_lines *l, void *of)
{
    return cpubind_line_set(l, (int32_t *)of, 0);
}

static int process(cpubind_lines *l, void *of)
{
    cpubind_record *r = (cpubind_record *)of;
    return cpubind_line_id(l, &r->pid, 1) && cpubind_line_big(l, &r->start, 0);
}

static int boot(cpubind_lines *l, void *of)
{
    cpubind_record *r = (cpubind_record *)of;
    return cpubind_line_name(l, r->boot, sizeof r->boot);
}

/* An address as cpubind_pci_format writes it. */
static int pci(cpubind_lines *l, void *of)
{
    cpubind_record *r = (cpubind_record *)of;
    char plain[CPUBIND_PCI_ADDRESS_MAX];
    cpubind_pci_address address;
    if (!cpubind_line_name(l, r->pci, sizeof r->pci) ||
        cpubind_pci_parse(r->pci, (int32_t)strlen(r->pci), &address, NULL) != CPUBIND_TEXT_OK)
        return 0;
    (void)cpubind_pci_format(plain, &address);
    return strcmp(plain, r->pci) == 0;
}

static int rules(cpubind_lines *l, void *of)
{
    cpubind_record *r = (cpubind_record *)of;
    return cpubind_line_name(l, r->rules, sizeof r->rules);
}

static int measured(cpubind_lines *l, void *of)
{
    cpubind_record *r = (cpubind_record *)of;
    return cpubind_line_id(l, &r->measurer, 1) && cpubind_line_big(l, &r->measurer_start, 0);
}

static int left(cpubind_lines *l, void *of)
{
    static const char *const words[] = {
#define CPUBIND_X(name, word) word,
        CPUBIND_MEMORY_STAY_LIST(CPUBIND_X)
#undef CPUBIND_X
            NULL};
    cpubind_record *r = (cpubind_record *)of;
    uint64_t bytes = (uint64_t)r->memory_left;
    int why = (int)r->left_why;
    const int is_good = cpubind_line_big(l, &bytes, 1) && bytes <= INT64_MAX &&
                        cpubind_line_word(l, &why, words);
    r->memory_left = (int64_t)bytes;
    r->left_why = (cpubind_memory_stay)why;
    return is_good;
}

static int rule(cpubind_lines *l, void *of)
{
    cpubind_record_rule *r = (cpubind_record_rule *)of;
    char pattern[CPUBIND_PATTERN_SIZE];
    return cpubind_line_set(l, &r->set, 1) && cpubind_line_name(l, r->name, sizeof r->name) &&
           cpubind_pattern_make(r->name, pattern) && strcmp(pattern, r->name) == 0;
}

static int placed(cpubind_lines *l, void *of)
{
    const cpubind_record *r = (const cpubind_record *)l->of;
    int32_t *set = (int32_t *)of, *first = r->placed;
    if (!cpubind_line_set(l, set, 0))
        return 0;
    while (*first != *set)
        first++;
    return first == set; /* each one once */
}

static int thread(cpubind_lines *l, void *of)
{
    const cpubind_record *r = (const cpubind_record *)l->of;
    cpubind_record_thread *t = (cpubind_record_thread *)of;
    return cpubind_line_id(l, &t->tid, 1) && cpubind_line_set(l, &t->before, 0) &&
           (t == r->thread || t[-1].tid < t->tid);
}

static int irq(cpubind_lines *l, void *of)
{
    static const char *const words[] = {
#define CPUBIND_X(name, word, is_extra) word,
        CPUBIND_IRQ_KIND_LIST(CPUBIND_X)
#undef CPUBIND_X
            NULL};
    const cpubind_record *r = (const cpubind_record *)l->of;
    cpubind_record_irq *i = (cpubind_record_irq *)of;
    int kind = (int)i->kind, is_good;
    is_good = cpubind_line_id(l, &i->irq, 0) && cpubind_line_word(l, &kind, words);
    i->kind = (cpubind_irq_kind)kind;
    return is_good && cpubind_line_id(l, &i->cpu, 0) && i->cpu < CPUBIND_MAX_CPUS &&
           cpubind_line_irq(l, &i->id) &&
           (i == r->irq || cpubind_irq_compare(&i[-1].id, &i->id) < 0);
}

/* == Which lines there are ================================================== */

enum { NEEDED = 1, REPEATED = 2 };

#define ONE(member) offsetof(cpubind_record, member), 0, 0, 0
#define EACH(array, n, cap)                                                                    \
    REPEATED, offsetof(cpubind_record, array), offsetof(cpubind_record, n),                    \
        offsetof(cpubind_record, cap), sizeof *((cpubind_record *)0)->array

/* In their order. */
static const cpubind_line rows[] = {
    {"process", process, NEEDED, 0, 0, 0, 0},
    {"boot", boot, 0, 0, 0, 0, 0},
    {"namespace", inode, 0, ONE(space.pid)},
    {"time-namespace", inode, 0, ONE(space.time)},
    {"before", list, NEEDED, ONE(before)},
    {"widest", list, 0, ONE(widest)},
    {"main", list, NEEDED, ONE(main)},
    {"npu", number, 0, ONE(device)},
    {"pci", pci, 0, 0, 0, 0, 0},
    {"rules", rules, 0, 0, 0, 0, 0},
    {"measured", measured, 0, 0, 0, 0, 0},
    {"memory", number, 0, ONE(memory_node)},
    {"left", left, 0, 0, 0, 0, 0},
    {"uvb", list, 0, ONE(polling)},
    {"rule", rule, EACH(rule, n_rule, cap_rule)},
    {"placed", placed, EACH(placed, n_placed, cap_placed)},
    {"thread", thread, EACH(thread, n_thread, cap_thread)},
    {"irq", irq, EACH(irq, n_irq, cap_irq)},
    {NULL, NULL, 0, 0, 0, 0, 0},
};

/* == Writing and reading ==================================================== */

cpubind_linux_fault cpubind_record_format(const cpubind_record *record, const cpubind_sys *sys,
                                          cpubind_bytes *out)
{
    cpubind_record r = *record; /* lines are written from what they are read into */
    cpubind_lines l = {.sys = sys, .sets = &r.sets, .of = &r, .out = out};
    cpubind_lines_begin(&l, HEAD, CPUBIND_RECORD_FORM);
    for (const cpubind_line *row = rows; row->word && !l.why.error; row++) {
        int32_t n = 1;
        char *element = (char *)&r + row->array;
        if (row->flags & REPEATED) {
            memcpy(&n, (char *)&r + row->n, sizeof n);
            memcpy(&element, (char *)&r + row->array, sizeof element);
        }
        for (int32_t i = 0; i < n && !l.why.error; i++)
            cpubind_lines_put(&l, row, element + (size_t)i * row->size, !row->flags);
    }
    cpubind_lines_end(&l);
    return l.why;
}

/* The text that is read, and the row of the line before. */
typedef struct reading {
    cpubind_lines l;
    int last;
} reading;

static int take_line(cpubind_lines *l, const cpubind_line *row, const char **what)
{
    reading *r = (reading *)l;
    char *const record = (char *)l->of;
    void *element = record + row->array;
    *what = row->word ? row->word : "sum";
    for (const cpubind_line *between = rows + (r->last + 1); between < row; between++) {
        if (!(between->flags & NEEDED))
            continue;
        *what = between->word;
        return 0;
    }
    if (row - rows < r->last + !(row->flags & REPEATED))
        return 0;
    r->last = (int)(row - rows);
    if (row->flags & REPEATED)
        element = cpubind_line_add(l, record + row->array, (int32_t *)(void *)(record + row->n),
                                   (int32_t *)(void *)(record + row->cap), row->size);
    return !row->word || cpubind_lines_fill(l, row, element);
}

cpubind_linux_fault cpubind_record_parse(const char *text, int32_t len, const cpubind_sys *sys,
                                         cpubind_record *out)
{
    reading r = {.l = {.sys = sys, .sets = &out->sets, .of = out}, .last = -1};
    cpubind_linux_fault why;
    *out = (cpubind_record){.device = -1,
                            .memory_node = -1,
                            .polling = CPUBIND_CPUSET_NONE,
                            .widest = CPUBIND_CPUSET_NONE};
    why = cpubind_lines_read(&r.l, len > 0 ? text : "", len, HEAD, CPUBIND_RECORD_FORM, rows,
                             take_line);
    if (why.error)
        cpubind_record_free(out);
    return why;
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
