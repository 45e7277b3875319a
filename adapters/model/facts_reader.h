/* facts_reader.h - the state of one reading of a host, and how it asks for inputs
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. An input that is absent is a case with
 * a rule; one that cannot be read is a problem. For this folder and those of the vendors; it is
 * not installed.
 */
#ifndef CPUBIND_MODEL_FACTS_READER_H
#define CPUBIND_MODEL_FACTS_READER_H

#include <string.h>

#include "../text/cpulist.h"
#include "../text/cpumask.h"
#include "../text/cursor.h"
#include "../text/lscpu.h"
#include "../text/procfs.h"
#include "../text/slurm_step.h"
#include "vendor.h"

/* vendor_NAME.c: the rows. */
#define CPUBIND_X(name, row) extern const cpubind_vendor cpubind_vendor_##row;
CPUBIND_VENDOR_LIST(CPUBIND_X)
#undef CPUBIND_X

#define INPUT_LSCPU_E    "cmd/lscpu-e.txt"
#define INPUT_LSCPU      "cmd/lscpu.txt"
#define INPUT_CPUS       "sys/devices/system/cpu"
#define INPUT_NODES      "sys/devices/system/node"
#define INPUT_PCI        "sys/bus/pci/devices"
#define INPUT_ENV        "env"
#define INPUT_INTERRUPTS "proc/interrupts"

/* How a step of Slurm shares its CPUs, where no scope was given. */
typedef enum facts_step {
    FACTS_NO_STEP = 0, /* the process is in none, or the scope was given */
    FACTS_STEP_OWN,    /* among its devices, which this process sees: scope own */
    FACTS_STEP_TASK,   /* this task sees its own devices alone: among all of the host, which
                          have to be those of the step */
    FACTS_STEP_JOB     /* among all of the host: the job has all of its CPUs */
} facts_step;

/* One reading. */
typedef struct facts_reader {
    const cpubind_source *source;
    cpubind_request *request; /* a copy, with the origin that counts */
    cpubind_arena *arena;
    cpubind_facts *facts;
    cpubind_problem *problem;
    uint8_t *online;   /* by CPU id, CPUBIND_MAX_CPUS long: 1 when online; NULL: not known */
    int32_t n_allowed; /* allowed CPUs that are online, with the excluded ones */
    int is_mask;       /* the allowed CPUs are the mask of the process */
    int is_in_slurm;   /* the process is in a step of Slurm, which ... */
    cpubind_slurm_step slurm; /* ... was given this */
    facts_step step;
    struct ascend_reading *ascend; /* of ../ascend/ascend_reader.h, or NULL */
    cpubind_problem unfit; /* why the bus does not tell which functions are NPUs; no code: it
                              does */
} facts_reader;

/* == The request ============================================================ */

/* request.c: what is wrong with a request, or NULL; the rules of the plan, and that they cut by
 * its strategy; the inputs that name the devices. */
const char *cpubind_priv_request_fault(const cpubind_request *request);
cpubind_problem_code cpubind_priv_read_rules(facts_reader *r);
cpubind_problem_code cpubind_priv_check_strategy(facts_reader *r);
cpubind_problem_code cpubind_priv_read_origin(facts_reader *r);

/* == The steps ============================================================== */

/* Each step reads inputs and adds what they say to the facts. A problem ends the reading. */

/* cpus.c: whose the allowed CPUs are; allowed CPUs and nodes; that an allowed CPU is left;
 * cores.c: threads a core. */
cpubind_problem_code cpubind_priv_read_scope(facts_reader *r);
cpubind_problem_code cpubind_priv_read_cpus(facts_reader *r);
cpubind_problem_code cpubind_priv_require_cpus(facts_reader *r);
cpubind_problem_code cpubind_priv_read_threads(facts_reader *r);

/* cpus.c: hides the visible devices that are not of the job of this process: those after the
 * first facts->n_job. */
void cpubind_priv_take_job(cpubind_facts *facts);

/* cpus.c: that the devices among which a step of Slurm shares its CPUs are those of the step:
 * those that this process sees, or all of the host. */
cpubind_problem_code cpubind_priv_judge_step(facts_reader *r, int32_t n_visible,
                                             int32_t n_host);

/* cpus.c: an answer of lscpu -e, with all columns, in the arena. */
cpubind_problem_code cpubind_priv_read_rows(facts_reader *r, cpubind_input answer,
                                            cpubind_lscpu_nodes *rows);

/* cores.c: all nodes; cores, their kinds, and sockets; all nodes, their distances, and which of
 * them have memory. A problem of cores, sockets and distances is in facts->topology, but for
 * NO_MEMORY. */
cpubind_problem_code cpubind_priv_list_nodes(facts_reader *r);
cpubind_problem_code cpubind_priv_read_cores(facts_reader *r);
cpubind_problem_code cpubind_priv_read_distances(facts_reader *r);

/* bus.c: the accelerators on the bus and the functions that are asked for, with their ids and
 * cards, by address, in facts->bus; network cards and disks in facts->cards. */
cpubind_problem_code cpubind_priv_read_bus(facts_reader *r);

/* bus.c: which kind of card a function is; CPUBIND_CARD_KINDS: none. */
cpubind_card_kind cpubind_priv_card_kind(const cpubind_host_device *function);

/* device_list.c: lets the devices of facts->bus that no row has listed take part, and adds to
 * facts->device those that this process may see in the order of their ranks, each with its
 * first rank, counted on from the NPUs, as its logic id; with is_for_others those that it does
 * not see, too. */
cpubind_problem_code cpubind_priv_join(facts_reader *r, int is_for_others);

/* device_list.c: the id of the first device that no row has listed: above those of NPUs, but
 * for ids of a damaged text, which no process sees. */
int32_t cpubind_priv_first_other(const cpubind_facts *facts);

/* ../ascend/facts_read.c: lists in facts->device the devices of the vendor that has inputs of
 * its own for that: their numbers, the CPUs near them, which run, and which of them this
 * process sees; and how many of them each function of the bus has. */
cpubind_problem_code cpubind_priv_find_listed(facts_reader *r);

/* ../pci/pci_sight.c: what this process sees of each device. */
cpubind_problem_code cpubind_priv_read_sight(facts_reader *r);

/* bus.c: whether the driver of a vendor lists a function. */
int cpubind_priv_is_driven(const facts_reader *r, const cpubind_vendor *vendor,
                           const cpubind_pci_address *pci);

/* bus.c: the bridges above a function; its node, and the CPUs near it. Both after the CPUs and
 * the distances of nodes. */
cpubind_problem_code cpubind_priv_climb(facts_reader *r, cpubind_host_device *function);
cpubind_problem_code cpubind_priv_read_near(facts_reader *r, cpubind_host_device *function);

/* irqs.c: the rows of /proc/interrupts, in the arena. The text is checked once.
 *   errors  NO_MEMORY; UNREADABLE with the place */
cpubind_problem_code cpubind_priv_read_interrupts(facts_reader *r, cpubind_input answer,
                                                  cpubind_interrupt_list *out);

/* The numbers among the names of the listing msi_irqs, ascending, in the arena. */
cpubind_problem_code cpubind_priv_read_msi(facts_reader *r, cpubind_input listing,
                                           int32_t **out, int32_t *out_n);

/* A device of which nothing is known. */
static inline cpubind_host_device facts_unknown_device(void)
{
    return (cpubind_host_device){.pci = {.domain = -1},
                                 .ids = {-1, -1, -1},
                                 .accelerator = {.n_tile = 1},
                                 .parent = -1,
                                 .part = -1,
                                 .is_driven = -1,
                                 .numa_node = -2,
                                 .node = -1,
                                 .memory_node = -1,
                                 .via = {.domain = -1},
                                 .root_bus = -1,
                                 .logic = -1,
                                 .card = -1,
                                 .chip = -1,
                                 .phy = -1,
                                 .bus = -1,
                                 .function = -1,
                                 .phys = {-1, -1}};
}

/* Devices of the host that take part, by its PCI bus; 0: not known. */
static inline int32_t facts_count_on_bus(const cpubind_facts *f)
{
    int32_t n = 0;
    for (int32_t i = 0; i < f->n_bus; i++)
        n += f->bus[i].n_device;
    return n;
}

/* Whether it is known which CPUs are near a function, if any: a host without nodes has all near
 * all, and its node may have none. */
static inline int facts_is_near_known(const cpubind_facts *f,
                                      const cpubind_host_device *function)
{
    return f->has_nodes
               ? function->origin != CPUBIND_NODE_ORIGIN_UNKNOWN || function->numa_node >= 0
               : function->origin == CPUBIND_NODE_ORIGIN_DEVICE ||
                     function->origin == CPUBIND_NODE_ORIGIN_LOCAL_CPUS;
}

static inline int facts_is_online(const cpubind_facts *f, int32_t cpu)
{
    return cpu < f->n_cpu_id && f->node_of[cpu] >= 0;
}

/* The index of a node in facts->all_node; -1: there is none. */
static inline int32_t facts_node_index(const cpubind_facts *f, int32_t node)
{
    for (int32_t i = 0; i < f->n_all_node; i++)
        if (f->all_node[i] == node)
            return i;
    return -1;
}

/* Steps to the next online CPU of a list: its index, or n. */
static inline int32_t facts_next_online(const cpubind_facts *f, const int32_t *cpu, int32_t n,
                                        int32_t i)
{
    while (i < n && f->node_of[cpu[i]] < 0)
        i++;
    return i;
}

/* The node of the first online CPU of a list; -1: none is. */
static inline int32_t facts_node_of_list(const cpubind_facts *f, const int32_t *cpu, int32_t n)
{
    const int32_t i = facts_next_online(f, cpu, n, 0);
    return i < n ? f->node_of[cpu[i]] : -1;
}

/* == Problems =============================================================== */

static inline cpubind_problem_code facts_fail(facts_reader *r, cpubind_problem_code code,
                                              const char *what)
{
    r->problem->code = code;
    r->problem->what = what;
    return code;
}

static inline cpubind_problem_code facts_fail_input(facts_reader *r, const char *name,
                                                    cpubind_input answer, int32_t offset,
                                                    const char *what)
{
    r->problem->input = name;
    r->problem->answer = answer;
    r->problem->offset = offset;
    return facts_fail(r, CPUBIND_PROBLEM_UNREADABLE, what);
}

static inline cpubind_problem_code facts_fail_memory(facts_reader *r)
{
    return facts_fail(r, CPUBIND_PROBLEM_NO_MEMORY, "the arena is too small");
}

/* What the reader of a text says of it, as a problem. */
static inline cpubind_problem_code facts_judge_text(facts_reader *r, const char *name,
                                                    cpubind_input answer,
                                                    cpubind_text_status status,
                                                    const cpubind_text_fault *fault)
{
    if (status == CPUBIND_TEXT_ERR_SPACE)
        return facts_fail_memory(r);
    return status == CPUBIND_TEXT_OK
               ? CPUBIND_PROBLEM_NONE
               : facts_fail_input(r, name, answer, fault->offset, fault->what);
}

/* Keeps the first problem of what a plan may do without, for the plans that need it. Only a
 * want of memory stays one. */
static inline cpubind_problem_code facts_put_off(facts_reader *r, cpubind_problem_code code,
                                                 cpubind_problem *kept)
{
    if (code == CPUBIND_PROBLEM_NONE || code == CPUBIND_PROBLEM_NO_MEMORY)
        return code;
    if (kept->code == CPUBIND_PROBLEM_NONE)
        *kept = *r->problem;
    cpubind_problem_clear(r->problem);
    return CPUBIND_PROBLEM_NONE;
}

/* Whether a plan of NPUs is asked for: then they must be found, and it may do without devices
 * of other vendors that cannot be read, unless it takes them in. */
static inline int facts_is_of_listed(const facts_reader *r)
{
    const cpubind_pci_request *q = r->request->bus;
    return !q || (q->is_host && !q->is_bus_alone);
}

/* Keeps the problem of what a plan of NPUs may do without. */
static inline cpubind_problem_code facts_judge_other(facts_reader *r, cpubind_problem_code code)
{
    return facts_is_of_listed(r) ? facts_put_off(r, code, &r->facts->unread_other) : code;
}

static inline void facts_warn(facts_reader *r, cpubind_warning warning)
{
    r->facts->warnings |= CPUBIND_WARNING_BIT(warning);
}

/* == Inputs ================================================================= */

/* An answer with bytes and an absent input are no problem; any other answer is one. */
static inline cpubind_problem_code facts_judge(facts_reader *r, const char *name,
                                               cpubind_input answer)
{
    switch (answer.state) {
    case CPUBIND_INPUT_PRESENT:
    case CPUBIND_INPUT_ABSENT:
        return CPUBIND_PROBLEM_NONE;
    case CPUBIND_INPUT_FAILED:
        return facts_fail_input(r, name, answer, -1, "it could not be read");
    case CPUBIND_INPUT_TIMEOUT:
        return facts_fail_input(r, name, answer, -1, "the command did not end in time");
    case CPUBIND_INPUT_TOO_LONG:
        return facts_fail_input(r, name, answer, -1, "it is too long");
    }
    return facts_fail_input(r, name, answer, -1, "the source gave no answer");
}

/* Asks for an input that may be absent. */
static inline cpubind_problem_code facts_ask(facts_reader *r, const char *name,
                                             cpubind_input *out)
{
    if (!name)
        return facts_fail_memory(r);
    *out = r->source->read(r->source->ctx, name);
    return facts_judge(r, name, *out);
}

/* A fault of a variable that is set, at its value. */
static inline cpubind_problem_code facts_fail_variable(facts_reader *r, const char *name,
                                                       const char *what)
{
    const cpubind_input env = r->source->read(r->source->ctx, INPUT_ENV);
    cpubind_piece value = {-1, 0};
    (void)cpubind_env_find(env.data, env.len, name, &value);
    return facts_fail_input(r, INPUT_ENV, env, value.at, what);
}

static inline int facts_is_present(cpubind_input answer)
{
    return answer.state == CPUBIND_INPUT_PRESENT;
}

/* Whether a command that is only a fallback has answered. lscpu without /sys prints nothing and
 * fails; that counts as absent. */
static inline int facts_has_answered(cpubind_input answer)
{
    return facts_is_present(answer) && (answer.len > 0 || answer.exit_code == 0);
}

/* Writes a text, and the digits of a number >= 0, without a NUL; both return the end. */
static inline char *facts_write_text(char *out, const char *text)
{
    const size_t n = strlen(text);
    memcpy(out, text, n);
    return out + n;
}

static inline char *facts_write_number(char *out, int32_t value)
{
    char digit[10];
    int n = 0;
    do
        digit[n++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    while (n > 0)
        *out++ = digit[--n];
    return out;
}

/* The name "folder/name/leaf", or with an empty leaf "folder/name", in the arena so that a
 * message can quote it; NULL when the arena is full. */
static inline const char *facts_path(facts_reader *r, const char *folder, const char *text,
                                     cpubind_piece name, const char *leaf)
{
    size_t before = strlen(folder);
    size_t middle = (size_t)name.len;
    size_t after = strlen(leaf);
    char *out = (char *)cpubind_arena_take(r->arena, (int32_t)(before + middle + after + 3), 1);
    if (!out)
        return NULL;
    memcpy(out, folder, before);
    out[before] = '/';
    memcpy(out + before + 1, text + name.at, middle);
    out[before + 1 + middle] = after > 0 ? '/' : '\0';
    memcpy(out + before + middle + 2, leaf, after + 1);
    return out;
}

/* The name "folder/middle/leaf", in the arena; NULL when the arena is full. */
static inline const char *facts_named_path(facts_reader *r, const char *folder,
                                           const char *middle, const char *leaf)
{
    const cpubind_piece name = {0, (int32_t)strlen(middle)};
    return facts_path(r, folder, middle, name, leaf);
}

/* The name "folder/prefix<number>/leaf", in the arena; NULL when the arena is full. */
static inline const char *facts_numbered_path(facts_reader *r, const char *folder,
                                              const char *prefix, int32_t number,
                                              const char *leaf)
{
    char text[16];
    char *end = facts_write_number(facts_write_text(text, prefix), number);
    const cpubind_piece name = {0, (int32_t)(end - text)};
    return facts_path(r, folder, text, name, leaf);
}

/* The name of the input `leaf` of a PCI function, in the arena; NULL when the arena is full. */
static inline const char *facts_function_path(facts_reader *r, const cpubind_pci_address *pci,
                                              const char *leaf)
{
    char text[CPUBIND_PCI_ADDRESS_MAX];
    const cpubind_piece address = {0, cpubind_pci_format(text, pci)};
    return facts_path(r, INPUT_PCI, text, address, leaf);
}

/* Fails when a file of the kernel is empty or does not end in a line feed, as all that tell a
 * number or CPUs do: the rest was lost. Linux 5.15 and its neighbours have a NUL after it. */
static inline cpubind_problem_code facts_check_end(facts_reader *r, const char *name,
                                                   cpubind_input answer)
{
    int32_t len = answer.len;
    while (len > 0 && answer.data[len - 1] == '\0')
        len--;
    if (strlen(name) < 4 || (memcmp(name, "sys/", 4) != 0 && memcmp(name, "dev/", 4) != 0) ||
        (len > 0 && answer.data[len - 1] == '\n'))
        return CPUBIND_PROBLEM_NONE;
    return facts_fail_input(r, name, answer, answer.len,
                            "the text does not end in a line feed: it is cut");
}

/* A parser of CPUs: of a list, "0-3", or of a mask, "0000000f". */
typedef cpubind_text_status facts_parse_cpus_fn(const char *text, int32_t len, int32_t limit,
                                                cpubind_int_list *list,
                                                cpubind_text_fault *fault);

/* Reads the CPUs of a part of an input, in the arena. */
static inline cpubind_problem_code facts_read_part(facts_reader *r, const char *name,
                                                   cpubind_input answer, cpubind_piece part,
                                                   facts_parse_cpus_fn *parse, int32_t **out,
                                                   int32_t *out_n)
{
    cpubind_text_fault fault;
    cpubind_int_list list = {NULL, 0, 0};
    cpubind_text_status status;
    list.out = cpubind_arena_open(r->arena, CPUBIND_MAX_CPUS, &list.cap);
    if (!list.out)
        return facts_fail_memory(r);
    status = parse(part.len > 0 ? answer.data + part.at : "", part.len, CPUBIND_MAX_CPUS, &list,
                   &fault);
    cpubind_arena_cut(r->arena, list.out + (status == CPUBIND_TEXT_OK ? list.n : 0));
    *out = list.out;
    *out_n = list.n;
    if (status == CPUBIND_TEXT_ERR_SPACE)
        return facts_fail_memory(r);
    return status == CPUBIND_TEXT_OK
               ? facts_check_end(r, name, answer)
               : facts_fail_input(r, name, answer, part.at + fault.offset, fault.what);
}

/* Reads the CPUs of a file that may be absent: *out_n is -1 then. */
static inline cpubind_problem_code facts_read_cpus(facts_reader *r, const char *name,
                                                   facts_parse_cpus_fn *parse, int32_t **out,
                                                   int32_t *out_n)
{
    cpubind_input answer;
    const cpubind_problem_code code = facts_ask(r, name, &answer);
    *out = NULL;
    *out_n = -1;
    return code == CPUBIND_PROBLEM_NONE && facts_is_present(answer)
               ? facts_read_part(r, name, answer, (cpubind_piece){0, answer.len}, parse, out,
                                 out_n)
               : code;
}

/* Whether a PCI function is a virtual one: the kernel links it to its physical function. The
 * link leads to a folder, which can be listed and not be read; in a snapshot it is a file. */
static inline cpubind_problem_code
facts_read_virtual(facts_reader *r, const cpubind_pci_address *pci, int32_t *out)
{
    const char *name = facts_function_path(r, pci, "physfn");
    if (!name)
        return facts_fail_memory(r);
    cpubind_input link = r->source->list(r->source->ctx, name);
    if (link.state != CPUBIND_INPUT_PRESENT)
        link = r->source->read(r->source->ctx, name);
    *out = link.state != CPUBIND_INPUT_ABSENT;
    return facts_judge(r, name, link);
}

/* Lists the online CPUs of a node, ascending, in the arena. */
static inline cpubind_problem_code facts_list_node(facts_reader *r, int32_t node,
                                                   const int32_t **out, int32_t *out_n)
{
    const cpubind_facts *f = r->facts;
    int32_t *cpu = cpubind_arena_ints(r->arena, f->n_cpu_id);
    if (!cpu)
        return facts_fail_memory(r);
    *out = cpu;
    *out_n = 0;
    for (int32_t i = 0; i < f->n_cpu_id; i++)
        if (f->node_of[i] == node)
            cpu[(*out_n)++] = i;
    return CPUBIND_PROBLEM_NONE;
}

/* Steps to the next name of a listing; returns 0 at its end. */
static inline int facts_next_name(cpubind_input listing, int32_t *at, cpubind_piece *out)
{
    cursor_text of;
    cursor c = cursor_open(&of, listing.data, listing.len, NULL, facts_is_present(listing)),
           line;
    c.at = *at;
    if (!cursor_line(&c, &line))
        return 0;
    *at = c.at;
    *out = cursor_piece(cursor_trim(line));
    return 1;
}

static inline int32_t facts_count_names(cpubind_input listing)
{
    cpubind_piece name;
    int32_t at = 0, n = 0;
    while (facts_next_name(listing, &at, &name))
        n++;
    return n;
}

/* The number in a name: 12 for "node12" and prefix "node"; -1 for another name or a number
 * above the limits. */
static inline int32_t facts_number_after(const char *prefix, const char *text,
                                         cpubind_piece name)
{
    int32_t n = (int32_t)strlen(prefix);
    int32_t number;
    if (name.len <= n || memcmp(text + name.at, prefix, (size_t)n) != 0 ||
        cpubind_number_parse(text + name.at + n, name.len - n, &number, NULL) !=
            CPUBIND_TEXT_OK)
        return -1;
    return number < CPUBIND_MAX_CPUS ? number : -1;
}

/* Reads the number in a small file; `without` when there is no such file. */
static inline cpubind_problem_code facts_read_number(facts_reader *r, const char *path,
                                                     int32_t without, int32_t *out)
{
    cpubind_input answer;
    cpubind_text_fault fault;
    cpubind_problem_code code = facts_ask(r, path, &answer);
    *out = without;
    if (code != CPUBIND_PROBLEM_NONE || !facts_is_present(answer))
        return code;
    code = facts_judge_text(r, path, answer,
                            cpubind_number_parse(answer.data, answer.len, out, &fault), &fault);
    return code == CPUBIND_PROBLEM_NONE ? facts_check_end(r, path, answer) : code;
}

#endif /* CPUBIND_MODEL_FACTS_READER_H */
