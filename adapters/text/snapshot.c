/* snapshot.c - from the inputs of a host to its facts
 * SPDX-License-Identifier: MIT
 *
 * Asks the source for inputs, hands their bytes to the parsers, and joins what they say by id.
 * Pure but for the source: no I/O of its own, no malloc.
 */
#include "snapshot.h"

#include <string.h>

#include "cpulist.h"
#include "cpumask.h"
#include "lscpu.h"
#include "npusmi.h"
#include "procfs.h"
#include "scan.h"

#define INPUT_STATUS  "proc/self/status"
#define INPUT_ONLINE  "sys/devices/system/cpu/online"
#define INPUT_CPUS    "sys/devices/system/cpu"
#define INPUT_NODES   "sys/devices/system/node"
#define INPUT_LSCPU_E "cmd/lscpu-e.txt"
#define INPUT_LSCPU   "cmd/lscpu.txt"
#define INPUT_THREADS "sys/devices/system/cpu/cpu0/topology/thread_siblings_list"
#define INPUT_MAP     "cmd/npu-smi-info-m.txt"
#define INPUT_TOPO    "cmd/npu-smi-info-t-topo.txt"
#define INPUT_INFO    "cmd/npu-smi-info.txt"
#define INPUT_PCI     "sys/bus/pci/devices"
#define INPUT_ENV     "env"

/* One reading: what every step needs. */
typedef struct reader {
    const cpubind_source *source;
    const cpubind_request *request;
    cpubind_arena *arena;
    cpubind_facts *facts;
    cpubind_problem *problem;
    uint8_t *online; /* by CPU id, CPUBIND_MAX_CPUS long: 1 when it is; NULL: not known */
} reader;

/* == Problems =============================================================== */

const char *cpubind_problem_word(cpubind_problem_code code)
{
    switch (code) {
    case CPUBIND_PROBLEM_NONE:
        break;
#define CPUBIND_X(name, word, exit)                                                            \
    case CPUBIND_PROBLEM_##name:                                                               \
        return word;
        CPUBIND_PROBLEM_LIST(CPUBIND_X)
#undef CPUBIND_X
    }
    return "none";
}

int32_t cpubind_problem_exit(cpubind_problem_code code)
{
    switch (code) {
    case CPUBIND_PROBLEM_NONE:
        break;
#define CPUBIND_X(name, word, exit)                                                            \
    case CPUBIND_PROBLEM_##name:                                                               \
        return exit;
        CPUBIND_PROBLEM_LIST(CPUBIND_X)
#undef CPUBIND_X
    }
    return 0;
}

const char *cpubind_warning_word(cpubind_warning warning)
{
    switch (warning) {
#define CPUBIND_X(name, word)                                                                  \
    case CPUBIND_WARNING_##name:                                                               \
        return word;
        CPUBIND_WARNING_LIST(CPUBIND_X)
#undef CPUBIND_X
    case CPUBIND_WARNING_COUNT:
        break;
    }
    return "?";
}

const char *cpubind_type_word(cpubind_device_type type)
{
    switch (type) {
#define CPUBIND_X(name, word)                                                                  \
    case CPUBIND_TYPE_##name:                                                                  \
        return word;
        CPUBIND_TYPE_LIST(CPUBIND_X)
#undef CPUBIND_X
    }
    return "?";
}

void cpubind_problem_clear(cpubind_problem *problem)
{
    memset(problem, 0, sizeof *problem);
    problem->offset = -1;
    problem->npu = -1;
    problem->other = -1;
    problem->cpu = -1;
}

static cpubind_problem_code fail(reader *r, cpubind_problem_code code, const char *what)
{
    r->problem->code = code;
    r->problem->what = what;
    return code;
}

static cpubind_problem_code fail_input(reader *r, const char *name, cpubind_input answer,
                                       int32_t offset, const char *what)
{
    r->problem->input = name;
    r->problem->answer = answer;
    r->problem->offset = offset;
    return fail(r, CPUBIND_PROBLEM_UNREADABLE, what);
}

static cpubind_problem_code fail_text(reader *r, const char *name, cpubind_input answer,
                                      const cpubind_text_fault *fault)
{
    return fail_input(r, name, answer, fault->offset, fault->what);
}

static cpubind_problem_code fail_memory(reader *r)
{
    return fail(r, CPUBIND_PROBLEM_NO_MEMORY, "the arena is too small");
}

static void warn(reader *r, cpubind_warning warning)
{
    r->facts->warnings |= 1u << warning;
}

/* == Inputs ================================================================= */

/* An input that may be absent: *out says whether it is there. Anything but its bytes or its
 * absence is a problem. */
static cpubind_problem_code ask(reader *r, const char *name, cpubind_input *out)
{
    *out = r->source->read(r->source->ctx, name);
    switch (out->state) {
    case CPUBIND_INPUT_PRESENT:
    case CPUBIND_INPUT_ABSENT:
        return CPUBIND_PROBLEM_NONE;
    case CPUBIND_INPUT_FAILED:
        return fail_input(r, name, *out, -1, "it could not be read");
    case CPUBIND_INPUT_TIMEOUT:
        return fail_input(r, name, *out, -1, "the command did not end in time");
    case CPUBIND_INPUT_TOO_LONG:
        return fail_input(r, name, *out, -1, "it is too long");
    }
    return fail_input(r, name, *out, -1, "the source gave no answer");
}

static int is_there(cpubind_input answer)
{
    return answer.state == CPUBIND_INPUT_PRESENT;
}

/* Whether a command that is a fallback has answered: lscpu without /sys says nothing and fails,
 * which is no worse than not being there. */
static int has_answered(cpubind_input answer)
{
    return is_there(answer) && (answer.len > 0 || answer.exit_code == 0);
}

/* The input "folder/name/leaf", in the arena, so that a message can quote it; NULL when the
 * arena is full. */
static const char *name_in(reader *r, const char *folder, cpubind_input listing,
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
    memcpy(out + before + 1, listing.data + name.at, middle);
    out[before + 1 + middle] = '/';
    memcpy(out + before + middle + 2, leaf, after + 1);
    return out;
}

/* How CPUs are written: "0-3" or "0000000f". */
typedef cpubind_text_status read_cpus_fn(const char *text, int32_t len, int32_t limit,
                                         int32_t *out, int32_t cap, int32_t *out_n,
                                         cpubind_text_fault *fault);

/* The CPUs of an input, in the arena. */
static cpubind_problem_code read_list_as(reader *r, const char *name, cpubind_input answer,
                                         read_cpus_fn *parse, int32_t **out, int32_t *out_n)
{
    cpubind_text_fault fault;
    cpubind_text_status status =
        parse(answer.data, answer.len, CPUBIND_MAX_CPUS, NULL, 0, out_n, &fault);
    if (status != CPUBIND_TEXT_OK && status != CPUBIND_TEXT_ERR_SPACE)
        return fail_text(r, name, answer, &fault);
    *out = cpubind_arena_ints(r->arena, *out_n);
    if (!*out)
        return fail_memory(r);
    status = parse(answer.data, answer.len, CPUBIND_MAX_CPUS, *out, *out_n, out_n, &fault);
    return status == CPUBIND_TEXT_OK ? CPUBIND_PROBLEM_NONE
                                     : fail_text(r, name, answer, &fault);
}

static cpubind_problem_code read_list(reader *r, const char *name, cpubind_input answer,
                                      int32_t **out, int32_t *out_n)
{
    return read_list_as(r, name, answer, cpubind_cpulist_parse, out, out_n);
}

/* The next name of a listing; 0 at its end. */
static int next_name(cpubind_input listing, int32_t *at, cpubind_slice *out)
{
    const scan_text in = {listing.data, listing.len, NULL};
    scan_line line = {{0, 0}, *at, 0};
    if (!scan_next_line(&in, &line))
        return 0;
    *at = line.next;
    *out = scan_slice(line.run);
    return 1;
}

/* == Allowed CPUs and nodes ================================================= */

/* cpubind_status_parse, whose limit is always the largest. */
static cpubind_text_status parse_status(const char *text, int32_t len, int32_t limit,
                                        int32_t *out, int32_t cap, int32_t *out_n,
                                        cpubind_text_fault *fault)
{
    (void)limit;
    return cpubind_status_parse(text, len, out, cap, out_n, fault);
}

/* The allowed CPUs of the process; without a status all CPUs that there are, n_cpu being -1
 * until they are known. */
static cpubind_problem_code read_allowed(reader *r)
{
    cpubind_input status;
    cpubind_problem_code code = ask(r, INPUT_STATUS, &status);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (is_there(status))
        return read_list_as(r, INPUT_STATUS, status, parse_status, &r->facts->cpu,
                            &r->facts->n_cpu);
    warn(r, CPUBIND_WARNING_NO_STATUS);
    r->facts->n_cpu = -1;
    return CPUBIND_PROBLEM_NONE;
}

/* "node12" after "node": 12; -1 for another name, or a number past all limits. */
static int32_t number_after(const char *prefix, const char *text, cpubind_slice name)
{
    int32_t n = (int32_t)strlen(prefix);
    int32_t number;
    if (name.len <= n || memcmp(text + name.at, prefix, (size_t)n) != 0 ||
        cpubind_number_parse(text + name.at + n, name.len - n, &number, NULL) !=
            CPUBIND_TEXT_OK)
        return -1;
    return number < CPUBIND_MAX_CPUS ? number : -1;
}

/* The number in a file of one device, CPU or node; `without` when there is no such file. */
static cpubind_problem_code read_number(reader *r, const char *path, int32_t without,
                                        int32_t *out)
{
    cpubind_input answer;
    cpubind_text_fault fault;
    cpubind_problem_code code;
    *out = without;
    if (!path)
        return fail_memory(r);
    code = ask(r, path, &answer);
    if (code != CPUBIND_PROBLEM_NONE || !is_there(answer))
        return code;
    if (cpubind_number_parse(answer.data, answer.len, out, &fault) != CPUBIND_TEXT_OK)
        return fail_text(r, path, answer, &fault);
    return CPUBIND_PROBLEM_NONE;
}

/* Kernels without cpu/online say it CPU by CPU; a CPU that cannot go offline has no file. */
static cpubind_problem_code read_online_each(reader *r, cpubind_input listing)
{
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    cpubind_slice name;
    int32_t at = 0;
    while (code == CPUBIND_PROBLEM_NONE && next_name(listing, &at, &name)) {
        int32_t online;
        int32_t cpu = number_after("cpu", listing.data, name);
        if (cpu < 0)
            continue;
        code = read_number(r, name_in(r, INPUT_CPUS, listing, name, "online"), 1, &online);
        r->online[cpu] = online != 0;
    }
    return code;
}

static cpubind_problem_code read_online(reader *r)
{
    cpubind_input answer;
    cpubind_input listing = {CPUBIND_INPUT_ABSENT, NULL, 0, 0, 0, NULL};
    int32_t *cpu;
    int32_t n;
    cpubind_problem_code code = ask(r, INPUT_ONLINE, &answer);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (!is_there(answer)) {
        listing = r->source->list(r->source->ctx, INPUT_CPUS);
        if (!is_there(listing))
            return CPUBIND_PROBLEM_NONE;
    }
    r->online = (uint8_t *)cpubind_arena_take(r->arena, CPUBIND_MAX_CPUS, 1);
    if (!r->online)
        return fail_memory(r);
    memset(r->online, 0, CPUBIND_MAX_CPUS);
    if (!is_there(answer))
        return read_online_each(r, listing);
    code = read_list(r, INPUT_ONLINE, answer, &cpu, &n);
    for (int32_t i = 0; code == CPUBIND_PROBLEM_NONE && i < n; i++)
        r->online[cpu[i]] = 1;
    return code;
}

/* Note the node of an online CPU; one that is offline is on no node. Returns 1 or 0. */
static int32_t put_on_node(reader *r, int32_t cpu, int32_t node)
{
    cpubind_facts *f = r->facts;
    if (node < 0 || (r->online && !r->online[cpu]))
        return 0;
    f->node_of[cpu] = node;
    if (cpu >= f->n_cpu_id)
        f->n_cpu_id = cpu + 1;
    return 1;
}

/* Add a node, when it has CPUs at all, and note where they are. */
static void add_node(reader *r, int32_t node, const int32_t *cpu, int32_t n)
{
    int32_t there = 0;
    for (int32_t i = 0; i < n; i++)
        there += put_on_node(r, cpu[i], node);
    if (there > 0)
        r->facts->node_id[r->facts->n_node++] = node;
}

static int32_t count_names(cpubind_input listing)
{
    cpubind_slice name;
    int32_t at = 0;
    int32_t n = 0;
    while (next_name(listing, &at, &name))
        n++;
    return n;
}

/* The CPUs of node<node>, whose folder is `name`: its cpulist, on old kernels its cpumap. */
static cpubind_problem_code read_node(reader *r, cpubind_input listing, cpubind_slice name,
                                      int32_t node)
{
    static const struct {
        const char *leaf;
        read_cpus_fn *parse;
    } files[] = {{"cpulist", cpubind_cpulist_parse}, {"cpumap", cpubind_cpumask_parse}};
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    int32_t *cpu;
    int32_t n;
    for (int i = 0; i < 2; i++) {
        const char *path = name_in(r, INPUT_NODES, listing, name, files[i].leaf);
        cpubind_input answer;
        if (!path)
            return fail_memory(r);
        code = ask(r, path, &answer);
        if (code != CPUBIND_PROBLEM_NONE)
            return code;
        if (!is_there(answer))
            continue;
        code = read_list_as(r, path, answer, files[i].parse, &cpu, &n);
        if (code == CPUBIND_PROBLEM_NONE)
            add_node(r, node, cpu, n);
        return code;
    }
    return code;
}

static cpubind_problem_code read_node_folders(reader *r, cpubind_input listing)
{
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    cpubind_slice name;
    int32_t at = 0;
    while (code == CPUBIND_PROBLEM_NONE && next_name(listing, &at, &name)) {
        int32_t node = number_after("node", listing.data, name);
        if (node >= 0)
            code = read_node(r, listing, name, node);
    }
    return code;
}

/* The rows of `lscpu -e=CPU,NODE`. */
static cpubind_problem_code read_node_rows(reader *r, cpubind_input answer)
{
    cpubind_text_fault fault;
    int32_t *cpu, *node;
    int32_t n = 0;
    cpubind_text_status status =
        cpubind_lscpu_parse_nodes(answer.data, answer.len, NULL, NULL, 0, &n, &fault);
    if (status != CPUBIND_TEXT_ERR_SPACE)
        return fail_text(r, INPUT_LSCPU_E, answer, &fault);
    cpu = cpubind_arena_ints(r->arena, n);
    node = cpubind_arena_ints(r->arena, n);
    r->facts->node_id = cpubind_arena_ints(r->arena, n);
    if (!cpu || !node || !r->facts->node_id)
        return fail_memory(r);
    status = cpubind_lscpu_parse_nodes(answer.data, answer.len, cpu, node, n, &n, &fault);
    if (status != CPUBIND_TEXT_OK)
        return fail_text(r, INPUT_LSCPU_E, answer, &fault);
    for (int32_t i = 0; i < n; i++)
        if (put_on_node(r, cpu[i], node[i]))
            r->facts->node_id[r->facts->n_node++] = node[i];
    warn(r, CPUBIND_WARNING_NODE_MAP);
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code read_nodes(reader *r)
{
    cpubind_input listing = r->source->list(r->source->ctx, INPUT_NODES);
    cpubind_input answer;
    cpubind_problem_code code;
    if (is_there(listing)) {
        r->facts->node_id = cpubind_arena_ints(r->arena, count_names(listing));
        if (!r->facts->node_id)
            return fail_memory(r);
        code = read_node_folders(r, listing);
        if (code != CPUBIND_PROBLEM_NONE || r->facts->n_node > 0)
            return code;
    }
    code = ask(r, INPUT_LSCPU_E, &answer);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    return has_answered(answer) ? read_node_rows(r, answer) : CPUBIND_PROBLEM_NONE;
}

/* No nodes are known: every CPU counts as one of node 0. */
static cpubind_problem_code assume_one_node(reader *r)
{
    r->facts->node_id = cpubind_arena_ints(r->arena, 1);
    if (!r->facts->node_id)
        return fail_memory(r);
    r->facts->node_id[0] = 0;
    r->facts->n_node = 1;
    for (int32_t i = 0; i < r->facts->n_cpu; i++)
        (void)put_on_node(r, r->facts->cpu[i], 0);
    for (int32_t cpu = 0; r->facts->n_cpu < 0 && r->online && cpu < CPUBIND_MAX_CPUS; cpu++)
        (void)put_on_node(r, cpu, 0);
    warn(r, CPUBIND_WARNING_NO_NODES);
    return CPUBIND_PROBLEM_NONE;
}

/* Without a list of allowed CPUs: all that are on a node. */
static cpubind_problem_code allow_all(reader *r)
{
    cpubind_facts *f = r->facts;
    f->n_cpu = 0;
    for (int32_t cpu = 0; cpu < f->n_cpu_id; cpu++)
        f->n_cpu += f->node_of[cpu] >= 0;
    f->cpu = cpubind_arena_ints(r->arena, f->n_cpu);
    if (!f->cpu)
        return fail_memory(r);
    f->n_cpu = 0;
    for (int32_t cpu = 0; cpu < f->n_cpu_id; cpu++)
        if (f->node_of[cpu] >= 0)
            f->cpu[f->n_cpu++] = cpu;
    return CPUBIND_PROBLEM_NONE;
}

/* The node of each allowed CPU; a CPU that is on none is offline and goes. */
static cpubind_problem_code place_cpus(reader *r)
{
    cpubind_facts *f = r->facts;
    int32_t n = 0;
    f->node = cpubind_arena_ints(r->arena, f->n_cpu);
    if (!f->node)
        return fail_memory(r);
    for (int32_t i = 0; i < f->n_cpu; i++) {
        int32_t node = f->node_of[f->cpu[i]];
        if (node < 0) {
            warn(r, CPUBIND_WARNING_OFFLINE);
            continue;
        }
        f->cpu[n] = f->cpu[i];
        f->node[n++] = node;
    }
    f->n_cpu = n;
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code read_cpus(reader *r)
{
    cpubind_problem_code code;
    r->facts->node_of = cpubind_arena_ints(r->arena, CPUBIND_MAX_CPUS);
    if (!r->facts->node_of)
        return fail_memory(r);
    memset(r->facts->node_of, -1, CPUBIND_MAX_CPUS * sizeof(int32_t));
    code = read_allowed(r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = read_online(r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = read_nodes(r);
    if (code == CPUBIND_PROBLEM_NONE && r->facts->n_node == 0)
        code = assume_one_node(r);
    if (code == CPUBIND_PROBLEM_NONE && r->facts->n_cpu < 0)
        code = allow_all(r);
    if (code == CPUBIND_PROBLEM_NONE &&
        cpubind_sort_unique(r->facts->node_id, &r->facts->n_node) != CPUBIND_OK)
        code = fail(r, CPUBIND_PROBLEM_UNREADABLE, "a node number is out of range");
    if (code == CPUBIND_PROBLEM_NONE)
        code = place_cpus(r);
    if (code == CPUBIND_PROBLEM_NONE && r->facts->n_cpu == 0) {
        r->problem->input = INPUT_STATUS;
        code = fail(r, CPUBIND_PROBLEM_TOO_FEW_CPUS, "no allowed CPU is online");
    }
    return code;
}

/* == NPUs =================================================================== */

/* Whether `word` is in the text, letters compared without regard to case; its end in *out. */
static int holds(const char *text, int32_t len, const char *word, int32_t *out)
{
    int32_t n = (int32_t)strlen(word);
    for (int32_t at = 0; at + n <= len; at++) {
        int32_t i = 0;
        while (i < n && ((unsigned char)text[at + i] | 0x20) == ((unsigned char)word[i] | 0x20))
            i++;
        if (i == n) {
            *out = at + n;
            return 1;
        }
    }
    return 0;
}

/* Device type of a chip name: "Ascend 910B3", "Ascend910", "310P3", "Ascend950PR", "a2g3".
 * "910" alone or followed by "_93" is an A3, whose maps have phy ids. */
static cpubind_device_type type_of_name(const char *text, cpubind_slice name, int32_t has_phy)
{
    const char *at = text + name.at;
    int32_t end;
    if (holds(at, name.len, "950", &end))
        return CPUBIND_TYPE_950;
    if (holds(at, name.len, "310", &end) || holds(at, name.len, "MiniD", &end))
        return CPUBIND_TYPE_300I;
    if (holds(at, name.len, "a2g", &end))
        return CPUBIND_TYPE_A2;
    if (!holds(at, name.len, "910", &end))
        return CPUBIND_TYPE_AUTO;
    if (end < name.len && at[end] != '_')
        return CPUBIND_TYPE_A2;
    return end < name.len || has_phy ? CPUBIND_TYPE_A3 : CPUBIND_TYPE_A2;
}

static cpubind_device_type type_of_pci(int32_t device)
{
    switch (device) {
    case 0xd100:
    case 0xd105:
    case 0xd500:
    case 0xd501:
        return CPUBIND_TYPE_300I;
    case 0xd801:
    case 0xd802:
    case 0xd804:
    case 0xd805:
        return CPUBIND_TYPE_A2;
    case 0xd803:
        return CPUBIND_TYPE_A3;
    case 0xd806:
        return CPUBIND_TYPE_950;
    default:
        return CPUBIND_TYPE_AUTO;
    }
}

/* Huawei, and the vendors that sell the same devices under their own numbers. */
static int is_vendor(int32_t vendor)
{
    return vendor == 0x19e5 || vendor == 0x2092 || vendor == 0x20c6 || vendor == 0x203f ||
           vendor == 0x20e9;
}

/* The NPUs of the host, counted on its PCI bus: a container sees all of them there. */
static cpubind_problem_code read_census(reader *r)
{
    cpubind_input listing = r->source->list(r->source->ctx, INPUT_PCI);
    cpubind_slice name;
    int32_t at = 0;
    while (is_there(listing) && next_name(listing, &at, &name)) {
        int32_t vendor, device;
        cpubind_device_type type;
        cpubind_problem_code code =
            read_number(r, name_in(r, INPUT_PCI, listing, name, "vendor"), -1, &vendor);
        if (code != CPUBIND_PROBLEM_NONE)
            return code;
        if (!is_vendor(vendor))
            continue;
        code = read_number(r, name_in(r, INPUT_PCI, listing, name, "device"), -1, &device);
        if (code != CPUBIND_PROBLEM_NONE)
            return code;
        type = type_of_pci(device);
        r->facts->n_census += type != CPUBIND_TYPE_AUTO;
        if (r->facts->type == CPUBIND_TYPE_AUTO)
            r->facts->type = type;
    }
    return CPUBIND_PROBLEM_NONE;
}

/* A refusal of npu-smi where an answer was expected. */
static cpubind_problem_code fail_refusal(reader *r, const char *name, cpubind_input answer,
                                         const cpubind_text_fault *fault)
{
    cpubind_npusmi_refusal refusal = cpubind_npusmi_find_refusal(answer.data, answer.len, NULL);
    cpubind_problem_code code = fail_text(r, name, answer, fault);
    if (refusal != CPUBIND_NPUSMI_NO_NPU)
        return code;
    return fail(r, CPUBIND_PROBLEM_NO_RUNNING_NPU, "npu-smi finds no NPU on this host");
}

static void check_exit(reader *r, cpubind_input answer)
{
    if (answer.exit_code != 0)
        warn(r, CPUBIND_WARNING_EXIT_CODE);
}

/* Insert by logic id; 0 when that id is there already. */
static int insert_npu(cpubind_facts *f, const cpubind_npu *npu)
{
    int32_t at = f->n_npu;
    while (at > 0 && f->npu[at - 1].logic >= npu->logic)
        at--;
    if (at < f->n_npu && f->npu[at].logic == npu->logic)
        return 0;
    for (int32_t i = f->n_npu; i > at; i--)
        f->npu[i] = f->npu[i - 1];
    f->npu[at] = *npu;
    f->n_npu++;
    return 1;
}

/* Take over the chips of info -m. Where it has no logic id (950), the NPU ID is that. */
static cpubind_problem_code take_chips(reader *r, cpubind_input answer,
                                       const cpubind_npusmi_chip *chip, int32_t n)
{
    cpubind_facts *f = r->facts;
    f->npu = (cpubind_npu *)cpubind_arena_take(r->arena, n, sizeof *f->npu);
    if (!f->npu)
        return fail_memory(r);
    f->has_phy = 1;
    for (int32_t i = 0; i < n; i++) {
        const cpubind_npu npu = {chip[i].logic < 0 ? chip[i].card : chip[i].logic,
                                 chip[i].card,
                                 chip[i].chip,
                                 chip[i].phy,
                                 0,
                                 0,
                                 0};
        f->has_phy &= npu.phy >= 0;
        if (!insert_npu(f, &npu)) {
            r->problem->npu = npu.logic;
            return fail_input(r, INPUT_MAP, answer, chip[i].name.at, "a logic id stands twice");
        }
        if (f->type == CPUBIND_TYPE_AUTO)
            f->type = type_of_name(answer.data, chip[i].name, chip[i].phy >= 0);
    }
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code read_map(reader *r, cpubind_input answer)
{
    cpubind_text_fault fault;
    cpubind_npusmi_chip *chip;
    int32_t n = 0;
    cpubind_text_status status =
        cpubind_npusmi_parse_map(answer.data, answer.len, NULL, 0, &n, &fault);
    if (status == CPUBIND_TEXT_ERR_REFUSED)
        return fail_refusal(r, INPUT_MAP, answer, &fault);
    if (status != CPUBIND_TEXT_ERR_SPACE)
        return fail_text(r, INPUT_MAP, answer, &fault);
    if (n > CPUBIND_MAX_DEVICES)
        return fail_input(r, INPUT_MAP, answer, 0, "it lists too many NPUs");
    chip = (cpubind_npusmi_chip *)cpubind_arena_take(r->arena, n, sizeof *chip);
    if (!chip)
        return fail_memory(r);
    status = cpubind_npusmi_parse_map(answer.data, answer.len, chip, n, &n, &fault);
    if (status != CPUBIND_TEXT_OK)
        return fail_text(r, INPUT_MAP, answer, &fault);
    check_exit(r, answer);
    return take_chips(r, answer, chip, n);
}

/* == Affinity =============================================================== */

/* Whether a row of the topology speaks of this NPU. */
static int is_row_of(const cpubind_npusmi_topo *topo, const cpubind_npusmi_affinity *row,
                     const cpubind_npu *npu)
{
    return row->id == (topo->label == CPUBIND_NPUSMI_LABEL_PHY ? npu->phy : npu->card);
}

/* Without info -m, every row is an NPU, and its number all that is known of it. */
static cpubind_problem_code npus_from_rows(reader *r, const cpubind_npusmi_topo *topo)
{
    cpubind_facts *f = r->facts;
    f->npu = (cpubind_npu *)cpubind_arena_take(r->arena, topo->n_row, sizeof *f->npu);
    if (!f->npu)
        return fail_memory(r);
    for (int32_t i = 0; i < topo->n_row; i++) {
        cpubind_npu npu = {topo->row[i].id, topo->row[i].id, 0, -1, 0, 0, 0};
        if (topo->label == CPUBIND_NPUSMI_LABEL_PHY)
            npu.phy = npu.logic;
        f->has_phy = topo->label == CPUBIND_NPUSMI_LABEL_PHY;
        (void)insert_npu(f, &npu);
    }
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code take_rows(reader *r, const cpubind_npusmi_topo *topo)
{
    cpubind_facts *f = r->facts;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    if (f->n_npu == 0)
        code = npus_from_rows(r, topo);
    f->affinity = topo->cpu;
    for (int32_t d = 0; code == CPUBIND_PROBLEM_NONE && d < f->n_npu; d++) {
        for (int32_t i = 0; i < topo->n_row; i++) {
            if (!is_row_of(topo, &topo->row[i], &f->npu[d]))
                continue;
            f->npu[d].affinity_first = topo->row[i].first;
            f->npu[d].affinity_count = topo->row[i].count;
            f->has_affinity |= topo->row[i].count > 0;
        }
    }
    return code;
}

/* A device that does not support the query has no known affinity; that is no fault. */
static int is_unsupported(cpubind_input answer)
{
    switch (cpubind_npusmi_find_refusal(answer.data, answer.len, NULL)) {
    case CPUBIND_NPUSMI_NOT_SUPPORTED:
    case CPUBIND_NPUSMI_VM:
    case CPUBIND_NPUSMI_QUERY:
    case CPUBIND_NPUSMI_PARAMETER:
        return 1;
    default:
        return 0;
    }
}

static cpubind_problem_code read_topo(reader *r)
{
    cpubind_npusmi_topo topo = {NULL, 0, NULL, 0, 0, 0, CPUBIND_NPUSMI_LABEL_CARD, 0};
    cpubind_text_fault fault;
    cpubind_text_status status;
    cpubind_input answer;
    cpubind_problem_code code = ask(r, INPUT_TOPO, &answer);
    if (code != CPUBIND_PROBLEM_NONE || !is_there(answer))
        return code;
    status = cpubind_npusmi_parse_topo(answer.data, answer.len, &topo, &fault);
    if (status == CPUBIND_TEXT_ERR_REFUSED)
        return is_unsupported(answer) ? CPUBIND_PROBLEM_NONE
                                      : fail_refusal(r, INPUT_TOPO, answer, &fault);
    if (status != CPUBIND_TEXT_ERR_SPACE)
        return fail_text(r, INPUT_TOPO, answer, &fault);
    topo.row =
        (cpubind_npusmi_affinity *)cpubind_arena_take(r->arena, topo.n_row, sizeof *topo.row);
    topo.cpu = cpubind_arena_ints(r->arena, topo.n_cpu);
    if (!topo.row || !topo.cpu)
        return fail_memory(r);
    topo.cap_row = topo.n_row;
    topo.cap_cpu = topo.n_cpu;
    status = cpubind_npusmi_parse_topo(answer.data, answer.len, &topo, &fault);
    if (status != CPUBIND_TEXT_OK)
        return fail_text(r, INPUT_TOPO, answer, &fault);
    check_exit(r, answer);
    return take_rows(r, &topo);
}

/* == Who runs =============================================================== */

static cpubind_npu *find_npu(cpubind_facts *f, int32_t logic)
{
    for (int32_t i = 0; i < f->n_npu; i++)
        if (f->npu[i].logic == logic)
            return &f->npu[i];
    return NULL;
}

/* The NPUs that the caller named. Without info -m they are all that is known. */
static cpubind_problem_code name_npus(reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_request *q = r->request;
    if (f->n_npu == 0) {
        f->npu = (cpubind_npu *)cpubind_arena_take(r->arena, q->n_npu, sizeof *f->npu);
        if (!f->npu)
            return fail_memory(r);
        for (int32_t i = 0; i < q->n_npu; i++) {
            const cpubind_npu npu = {q->npu[i], -1, -1, -1, 0, 0, 0};
            f->npu[f->n_npu++] = npu;
        }
    }
    for (int32_t i = 0; i < q->n_npu; i++) {
        cpubind_npu *npu = find_npu(f, q->npu[i]);
        if (!npu) {
            r->problem->npu = q->npu[i];
            return fail(r, CPUBIND_PROBLEM_UNKNOWN_NPU, "there is no NPU with this logic id");
        }
        npu->is_running = 1;
    }
    return CPUBIND_PROBLEM_NONE;
}

/* A row of the process table names card and chip, on a 950 the card alone. */
static int runs_on(const cpubind_npusmi_process *process, const cpubind_npu *npu)
{
    return process->card == npu->card && (process->chip < 0 || process->chip == npu->chip);
}

static cpubind_problem_code take_processes(reader *r, cpubind_input answer,
                                           const cpubind_npusmi_info *info)
{
    cpubind_facts *f = r->facts;
    for (int32_t p = 0; p < info->n_process; p++) {
        int32_t found = 0;
        for (int32_t i = 0; i < f->n_npu; i++) {
            if (!runs_on(&info->process[p], &f->npu[i]))
                continue;
            f->npu[i].is_running = 1;
            found = 1;
        }
        if (!found)
            return fail_input(r, INPUT_INFO, answer, info->process[p].name.at,
                              "a process is on a chip that npu-smi info -m does not list");
    }
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code read_processes(reader *r)
{
    cpubind_npusmi_info info;
    cpubind_text_fault fault;
    cpubind_text_status status;
    cpubind_input answer;
    cpubind_problem_code code = ask(r, INPUT_INFO, &answer);
    memset(&info, 0, sizeof info);
    if (code != CPUBIND_PROBLEM_NONE || !is_there(answer))
        return code;
    status = cpubind_npusmi_parse_info(answer.data, answer.len, &info, &fault);
    if (status == CPUBIND_TEXT_ERR_REFUSED)
        return fail_refusal(r, INPUT_INFO, answer, &fault);
    if (status != CPUBIND_TEXT_OK && status != CPUBIND_TEXT_ERR_SPACE)
        return fail_text(r, INPUT_INFO, answer, &fault);
    info.cap_device = info.n_device;
    info.cap_process = info.n_process;
    info.device = (cpubind_npusmi_device *)cpubind_arena_take(r->arena, info.n_device,
                                                              sizeof *info.device);
    info.process = (cpubind_npusmi_process *)cpubind_arena_take(r->arena, info.n_process,
                                                                sizeof *info.process);
    if (!info.device || !info.process)
        return fail_memory(r);
    status = cpubind_npusmi_parse_info(answer.data, answer.len, &info, &fault);
    if (status != CPUBIND_TEXT_OK)
        return fail_text(r, INPUT_INFO, answer, &fault);
    check_exit(r, answer);
    r->facts->has_processes = info.has_process_table;
    return take_processes(r, answer, &info);
}

/* == Visible devices ======================================================== */

static cpubind_problem_code find_visible(reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_input answer;
    cpubind_slice value;
    cpubind_problem_code code;
    if (r->request->visible) {
        f->visible = r->request->visible;
        f->visible_len = r->request->visible_len;
        return CPUBIND_PROBLEM_NONE;
    }
    code = ask(r, INPUT_ENV, &answer);
    if (code == CPUBIND_PROBLEM_NONE && is_there(answer) &&
        cpubind_env_find(answer.data, answer.len, "ASCEND_RT_VISIBLE_DEVICES", &value) ==
            CPUBIND_TEXT_OK) {
        f->visible = answer.data + value.at;
        f->visible_len = value.len;
    }
    return code;
}

static cpubind_problem_code read_visible(reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_text_fault fault = {0, "no NPU is visible"};
    cpubind_text_status status;
    int32_t used = 0;
    int32_t limit = f->n_npu > 0 ? f->npu[f->n_npu - 1].logic + 1 : 0;
    cpubind_problem_code code = find_visible(r);
    if (code != CPUBIND_PROBLEM_NONE || !f->visible)
        return code;
    f->visible_id = cpubind_arena_ints(r->arena, limit);
    if (!f->visible_id)
        return fail_memory(r);
    status = cpubind_visible_parse(f->visible, f->visible_len, limit, f->visible_id, limit,
                                   &f->n_visible, &used, &fault);
    if (status != CPUBIND_TEXT_OK)
        return fail(r, CPUBIND_PROBLEM_NO_RUNNING_NPU, fault.what);
    if (used < f->visible_len)
        warn(r, CPUBIND_WARNING_VISIBLE_TAIL);
    return CPUBIND_PROBLEM_NONE;
}

/* == The whole ============================================================== */

/* Threads a core: siblings of CPU 0, else what lscpu says. */
static cpubind_problem_code read_threads(reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_text_fault fault;
    cpubind_input answer;
    int32_t *cpu;
    cpubind_problem_code code = ask(r, INPUT_THREADS, &answer);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (is_there(answer))
        return read_list(r, INPUT_THREADS, answer, &cpu, &f->threads);
    code = ask(r, INPUT_LSCPU, &answer);
    if (code != CPUBIND_PROBLEM_NONE || !has_answered(answer))
        return code;
    if (cpubind_lscpu_parse_threads(answer.data, answer.len, &f->threads, &fault) !=
        CPUBIND_TEXT_OK)
        return fail_text(r, INPUT_LSCPU, answer, &fault);
    return CPUBIND_PROBLEM_NONE;
}

static void choose_strategy(reader *r)
{
    cpubind_facts *f = r->facts;
    f->strategy = r->request->strategy;
    if (!r->request->is_auto_strategy)
        return;
    f->strategy = f->type == CPUBIND_TYPE_A3    ? CPUBIND_GLOBAL_SLICE
                  : f->type == CPUBIND_TYPE_950 ? CPUBIND_CLUSTER
                                                : CPUBIND_TOPO_AFFINITY;
}

/* What the strategy asks for beyond CPUs and ids. A slice needs the census, a cluster the
 * threads, all but a slice the affinity; so does a host of which nothing else is known. */
static cpubind_problem_code read_for_strategy(reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    if (f->strategy != CPUBIND_GLOBAL_SLICE || f->n_npu == 0)
        code = read_topo(r);
    if (code == CPUBIND_PROBLEM_NONE && f->strategy == CPUBIND_CLUSTER)
        code = read_threads(r);
    if (code == CPUBIND_PROBLEM_NONE && f->n_census == 0 && f->strategy != CPUBIND_CLUSTER &&
        (f->strategy == CPUBIND_GLOBAL_SLICE || !f->has_affinity))
        code = read_census(r);
    return code;
}

static cpubind_problem_code read_npus(reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_input answer;
    cpubind_problem_code code = ask(r, INPUT_MAP, &answer);
    f->type = r->request->type;
    if (code == CPUBIND_PROBLEM_NONE && is_there(answer))
        code = read_map(r, answer);
    else
        warn(r, CPUBIND_WARNING_NO_MAP);
    if (code == CPUBIND_PROBLEM_NONE && !is_there(answer) && !r->request->npu)
        return fail(r, CPUBIND_PROBLEM_NO_NPU_SMI, "npu-smi is not on this host");
    if (code == CPUBIND_PROBLEM_NONE && f->type == CPUBIND_TYPE_AUTO)
        code = read_census(r);
    if (code == CPUBIND_PROBLEM_NONE && f->type == CPUBIND_TYPE_AUTO)
        return fail(r, CPUBIND_PROBLEM_UNKNOWN_TYPE,
                    "neither a chip name nor a PCI id tells the device type");
    return code;
}

cpubind_problem_code cpubind_snapshot_read(const cpubind_source *source,
                                           const cpubind_request *request, cpubind_arena *arena,
                                           cpubind_facts *out, cpubind_problem *problem)
{
    reader r = {source, request, arena, out, problem, NULL};
    cpubind_problem_code code;
    memset(out, 0, sizeof *out);
    cpubind_problem_clear(problem);
    code = read_npus(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = read_cpus(&r);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    choose_strategy(&r);
    code = read_for_strategy(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = request->npu ? name_npus(&r) : read_processes(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = read_visible(&r);
    return code;
}
