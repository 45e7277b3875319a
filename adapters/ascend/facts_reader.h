/* facts_reader.h - private to this folder: the state of one reading, and how it asks for inputs
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. Included by facts*.c, host_counts.c,
 * plan_parts.h and process_goal.c alone.
 */
#ifndef CPUBIND_ASCEND_FACTS_READER_H
#define CPUBIND_ASCEND_FACTS_READER_H

#include <string.h>

#include "../text/cpulist.h"
#include "../text/lscpu.h"
#include "../text/procfs.h"
#include "../text/scan.h"
#include "facts.h"
#include "npusmi.h"

#define INPUT_MAP     "cmd/npu-smi-info-m.txt"
#define INPUT_INFO    "cmd/npu-smi-info.txt"
#define INPUT_TOPO    "cmd/npu-smi-info-t-topo.txt"
#define INPUT_LSCPU_E "cmd/lscpu-e.txt"
#define INPUT_LSCPU   "cmd/lscpu.txt"
#define INPUT_CPUS    "sys/devices/system/cpu"
#define INPUT_NODES   "sys/devices/system/node"
#define INPUT_PCI     "sys/bus/pci/devices"
#define INPUT_ENV     "env"

/* A function of the PCI bus with an NPU of some product. */
typedef struct facts_found {
    cpubind_function function;
    cpubind_device_type type;
    int32_t is_virtual;
} facts_found;

enum { FACTS_NODE_NONE = -1, FACTS_NODE_UNKNOWN = -2 };

/* One reading. */
typedef struct facts_reader {
    const cpubind_source *source;
    const cpubind_request *request;
    cpubind_arena *arena;
    cpubind_facts *facts;
    cpubind_problem *problem;
    uint8_t *online; /* by CPU id, CPUBIND_MAX_CPUS long: 1 when online; NULL: not known */
    cpubind_input info_answer;          /* npu-smi info; ABSENT when it was not asked for */
    cpubind_text_status info_status;    /* of its devices; ERR_MISSING without an answer */
    cpubind_text_status process_status; /* of its processes; ERR_MISSING without an answer */
    cpubind_text_fault info_fault;
    cpubind_npusmi_info info;
    facts_found *found; /* all NPUs of the PCI bus, by address */
    int32_t n_found;
    int32_t n_allowed;          /* allowed CPUs that are online, with the excluded ones */
    int32_t has_read_processes; /* the process table was asked for */
} facts_reader;

/* == The steps ============================================================== */

/* Each step reads inputs and adds what they say to the facts. Only facts_read.c calls them: it
 * decides which are needed, and in which order. A problem ends the reading. */

/* facts_cpus.c: whose the allowed CPUs are; allowed CPUs and nodes; threads a core. */
cpubind_problem_code cpubind_priv_read_scope(facts_reader *r);
cpubind_problem_code cpubind_priv_read_cpus(facts_reader *r);
cpubind_problem_code cpubind_priv_read_threads(facts_reader *r);

/* facts_cpus.c: an answer of lscpu -e, with all columns, in the arena; one of lscpu. */
cpubind_problem_code cpubind_priv_read_rows(facts_reader *r, cpubind_input answer,
                                            cpubind_lscpu_nodes *rows);
cpubind_problem_code cpubind_priv_read_lscpu(facts_reader *r, cpubind_input answer,
                                             int32_t *threads);

/* facts_cores.c: cores, distances and sockets; only NO_MEMORY is a problem of the step. Another
 * one is in facts->topology. */
cpubind_problem_code cpubind_priv_read_cores(facts_reader *r);

/* facts_census.c: the NPUs on the PCI bus; the product when the bus has only one, else AUTO;
 * those of facts->type; which of them the NPUs in view are; the CPUs near each; node 0 for the
 * hidden ones that are on no node; for slices, what is known of all that. */
cpubind_problem_code cpubind_priv_read_census(facts_reader *r);
cpubind_device_type cpubind_priv_type_on_bus(const facts_reader *r);
cpubind_problem_code cpubind_priv_choose_functions(facts_reader *r);
void cpubind_priv_attach_functions(facts_reader *r);
cpubind_problem_code cpubind_priv_read_near(facts_reader *r);
cpubind_problem_code cpubind_priv_take_node_0(facts_reader *r);
cpubind_problem_code cpubind_priv_read_locality(facts_reader *r);

/* facts_npus.c: npu-smi info -m; -t topo; info; the NPUs that the request names; who runs; the
 * visible devices. When npu-smi info -t topo cannot be read, that is no problem of the step: it
 * is handed out in *unanswered, for the kernel may know the same. npu-smi info is read into
 * r->info alone, and no fault of it is a problem yet. */
cpubind_problem_code cpubind_priv_read_npus(facts_reader *r);
cpubind_problem_code cpubind_priv_read_topo(facts_reader *r, cpubind_problem *unanswered);
cpubind_problem_code cpubind_priv_read_info(facts_reader *r);
cpubind_problem_code cpubind_priv_name_npus(facts_reader *r);
cpubind_problem_code cpubind_priv_read_running(facts_reader *r);
cpubind_problem_code cpubind_priv_read_visible(facts_reader *r);

/* facts_pci.c: the addresses of the NPUs in view, by npu-smi; the lists of CPUs near them,
 * chosen between the kernel and npu-smi; the addresses that a caller wants for interrupts. */
cpubind_problem_code cpubind_priv_read_addresses(facts_reader *r);
cpubind_problem_code cpubind_priv_take_near(facts_reader *r);
cpubind_problem_code cpubind_priv_read_wanted(facts_reader *r);

/* Whether the kernel names the CPUs near every NPU of the host, some on a node without CPUs.
 * Every process of the host reads the same there. */
static inline int facts_is_kernel_complete(const cpubind_facts *f)
{
    int32_t n_cpu = 0;
    for (int32_t i = 0; i < f->n_function; i++) {
        if (!f->function[i].is_near_known)
            return 0;
        n_cpu += f->function[i].n_cpu;
    }
    for (int32_t i = 0; i < f->n_npu; i++)
        if (f->npu[i].function < 0)
            return 0;
    return n_cpu > 0;
}

/* NPUs of the host by its PCI bus; 0: not known. */
static inline int32_t facts_count_on_bus(const cpubind_facts *f)
{
    int32_t n = 0;
    for (int32_t i = 0; i < f->n_census; i++)
        n += f->function[i].n_npu;
    return n;
}

/* Whether npu-smi lists the CPUs near the NPUs in view of a function. */
static inline int facts_has_lists(const facts_reader *r, int32_t function)
{
    const cpubind_facts *f = r->facts;
    for (int32_t i = 0; i < f->n_npu; i++)
        if (f->npu[i].function == function && f->npu[i].affinity_count == 0)
            return 0;
    return 1;
}

/* Whether an ascending list holds a CPU. *at moves up to it: the next call must not ask for a
 * smaller CPU. */
static inline int facts_is_in_list(const int32_t *list, int32_t n, int32_t cpu, int32_t *at)
{
    while (*at < n && list[*at] < cpu)
        ++*at;
    return *at < n && list[*at] == cpu;
}

/* Steps to the next online CPU of a list: its index, or n. */
static inline int32_t facts_next_online(const cpubind_facts *f, const int32_t *cpu, int32_t n,
                                        int32_t i)
{
    while (i < n && f->node_of[cpu[i]] < 0)
        i++;
    return i;
}

/* Whether a row of the device table belongs to an NPU. Without npu-smi info -m only its phy id
 * may be known. */
static inline int facts_is_device_of(const cpubind_npusmi_device *device,
                                     const cpubind_npu *npu)
{
    if (npu->card < 0)
        return device->phy >= 0 && device->phy == npu->phy;
    return device->card == npu->card && (device->chip < 0 || device->chip == npu->chip);
}

/* Whether an NPU in view is this device of npu-smi info. */
static inline int facts_has_npu_of(const cpubind_facts *f, const cpubind_npusmi_device *device)
{
    for (int32_t i = 0; i < f->n_npu; i++)
        if (facts_is_device_of(device, &f->npu[i]))
            return 1;
    return 0;
}

/* Whether the CPUs near every NPU are known. */
static inline int facts_all_have_affinity(const cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_npu; i++)
        if (f->npu[i].affinity_count == 0)
            return 0;
    return 1;
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

static inline cpubind_problem_code facts_fail_text(facts_reader *r, const char *name,
                                                   cpubind_input answer,
                                                   const cpubind_text_fault *fault)
{
    return facts_fail_input(r, name, answer, fault->offset, fault->what);
}

static inline cpubind_problem_code facts_fail_memory(facts_reader *r)
{
    return facts_fail(r, CPUBIND_PROBLEM_NO_MEMORY, "the arena is too small");
}

static inline void facts_warn(facts_reader *r, cpubind_warning warning)
{
    r->facts->warnings |= 1u << warning;
}

/* Notes that input `has` names an NPU that input `lacks` does not. */
static inline void facts_note_difference(facts_reader *r, const char *has, const char *lacks,
                                         const cpubind_npu *npu)
{
    cpubind_facts *f = r->facts;
    facts_warn(r, CPUBIND_WARNING_INPUTS_DIFFER);
    if (f->n_difference < CPUBIND_MAX_DIFFERENCES) {
        cpubind_difference *difference = &f->difference[f->n_difference];
        difference->has = has;
        difference->lacks = lacks;
        difference->card = npu->card;
        difference->chip = npu->chip;
        difference->phy = npu->phy;
        difference->pci = npu->pci;
    }
    f->n_difference++;
}

/* Notes the text that a reader has passed over; the first one is kept. */
static inline void facts_note_unknown(facts_reader *r, const char *name, cpubind_input answer,
                                      cpubind_slice unknown)
{
    cpubind_facts *f = r->facts;
    if (unknown.len == 0)
        return;
    facts_warn(r, CPUBIND_WARNING_UNKNOWN_TEXT);
    if (f->unknown_input)
        return;
    f->unknown_input = name;
    f->unknown_answer = answer;
    f->unknown = unknown;
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
    *out = r->source->read(r->source->ctx, name);
    return facts_judge(r, name, *out);
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

/* Warns when npu-smi answered with an exit status other than 0; the answer is used. */
static inline void facts_check_exit(facts_reader *r, cpubind_input answer)
{
    if (answer.exit_code != 0)
        facts_warn(r, CPUBIND_WARNING_EXIT_CODE);
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

/* The name "folder/name/leaf", in the arena so that a message can quote it; NULL when the arena
 * is full. */
static inline const char *facts_path(facts_reader *r, const char *folder, const char *text,
                                     cpubind_slice name, const char *leaf)
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
    out[before + 1 + middle] = '/';
    memcpy(out + before + middle + 2, leaf, after + 1);
    return out;
}

/* The name "folder/prefix<number>/leaf", in the arena; NULL when the arena is full. */
static inline const char *facts_numbered_path(facts_reader *r, const char *folder,
                                              const char *prefix, int32_t number,
                                              const char *leaf)
{
    char text[16];
    char *end = facts_write_number(facts_write_text(text, prefix), number);
    const cpubind_slice name = {0, (int32_t)(end - text)};
    return facts_path(r, folder, text, name, leaf);
}

/* The name of the input `leaf` of a PCI function, in the arena; NULL when the arena is full. */
static inline const char *facts_function_path(facts_reader *r, const cpubind_pci_address *pci,
                                              const char *leaf)
{
    char text[CPUBIND_PCI_ADDRESS_MAX];
    const cpubind_slice address = {0, cpubind_pci_format(text, pci)};
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

/* Reads the CPUs of an input, in the arena. */
static inline cpubind_problem_code facts_read_list_as(facts_reader *r, const char *name,
                                                      cpubind_input answer,
                                                      facts_parse_cpus_fn *parse, int32_t **out,
                                                      int32_t *out_n)
{
    cpubind_text_fault fault;
    cpubind_int_list list = {NULL, 0, 0};
    cpubind_text_status status =
        parse(answer.data, answer.len, CPUBIND_MAX_CPUS, &list, &fault);
    if (status == CPUBIND_TEXT_OK || status == CPUBIND_TEXT_ERR_SPACE) {
        const cpubind_problem_code code = facts_check_end(r, name, answer);
        if (code != CPUBIND_PROBLEM_NONE)
            return code;
    }
    if (status != CPUBIND_TEXT_OK && status != CPUBIND_TEXT_ERR_SPACE)
        return facts_fail_text(r, name, answer, &fault);
    list.cap = list.n;
    list.out = cpubind_arena_ints(r->arena, list.cap);
    if (!list.out)
        return facts_fail_memory(r);
    status = parse(answer.data, answer.len, CPUBIND_MAX_CPUS, &list, &fault);
    if (status != CPUBIND_TEXT_OK)
        return facts_fail_text(r, name, answer, &fault);
    *out = list.out;
    *out_n = list.n;
    return CPUBIND_PROBLEM_NONE;
}

static inline cpubind_problem_code facts_read_list(facts_reader *r, const char *name,
                                                   cpubind_input answer, int32_t **out,
                                                   int32_t *out_n)
{
    return facts_read_list_as(r, name, answer, cpubind_cpulist_parse, out, out_n);
}

/* Steps to the next name of a listing; returns 0 at its end. */
static inline int facts_next_name(cpubind_input listing, int32_t *at, cpubind_slice *out)
{
    const scan_text in = {listing.data, listing.len, NULL};
    scan_line line = {{0, 0}, *at, 0};
    if (!scan_next_line(&in, &line))
        return 0;
    *at = line.next;
    *out = scan_slice(line.run);
    return 1;
}

/* The number in a name: 12 for "node12" and prefix "node"; -1 for another name or a number
 * above the limits. */
static inline int32_t facts_number_after(const char *prefix, const char *text,
                                         cpubind_slice name)
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
    cpubind_problem_code code;
    *out = without;
    if (!path)
        return facts_fail_memory(r);
    code = facts_ask(r, path, &answer);
    if (code != CPUBIND_PROBLEM_NONE || !facts_is_present(answer))
        return code;
    if (cpubind_number_parse(answer.data, answer.len, out, &fault) != CPUBIND_TEXT_OK)
        return facts_fail_text(r, path, answer, &fault);
    return facts_check_end(r, path, answer);
}

#endif /* CPUBIND_ASCEND_FACTS_READER_H */
