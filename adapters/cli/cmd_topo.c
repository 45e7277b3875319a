/* cmd_topo.c - cpubind topo: the accelerators of a host, the CPUs and network cards near each
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing and needs no privilege.
 */
#include <stdlib.h>
#include <string.h>

#include "../api/device_plan.h"
#include "../pci/device_users.h"
#include "../pci/gres.h"
#include "../text/cpulist.h"
#include "output.h"

enum { MAX_LINE = 65536 }; /* of gres.conf */
enum { FILE_SIZE = 64 };   /* of the name of a device file, of those that the kernel gives */

/* == Text =================================================================== */

static const words_view text_view[] = {
    {WORDS_TABLE, "devices",
     "name pci device node cpus%=near_CPUs visible node_by via "
     "memory_node=own_memory virtual virtual_functions=has_virtual"},
    {WORDS_TABLE, "nics",
     "pci device=network_card node cpus%=near_CPUs node_by via bond virtual "
     "virtual_functions=has_virtual"},
    {WORDS_TABLE, "disks",
     "pci device=disk node cpus%=near_CPUs node_by via virtual virtual_functions=has_virtual"},
    {WORDS_TABLE, "devices", "nearest.name nearest.near nearest.cards=nearest_network_cards"},
    {WORDS_TABLE, "devices", "disk.name disk.near disk.cards=nearest_disks"},
    {WORDS_TABLE, "choices", "by devices together nodes nics=network_cards set"},
    {WORDS_BLOCK, "notes", ""},
    {0}};

/* "gpu0"; of a device in parts the name of each. */
static words_value *names_of(const cpubind_host_device *device)
{
    words_value *names = words_array();
    for (int32_t k = 0; k < device->n_number; k++) {
        char name[CPUBIND_DEVICE_NAME_SIZE];
        cpubind_device_name(device->accelerator.vendor, device->number[k], NULL, name);
        words_add(names, words_text(name));
    }
    return names;
}

/* "H100 SXM5"; else the model by the driver, the name of a card, the ids. */
static words_value *kind_of(const cpubind_host_device *device)
{
    const cpubind_accelerator *row = &device->accelerator;
    const cpubind_source_name name = cpubind_card_name(device);
    api_text text = {"", 0};
    if (row->vendor == CPUBIND_VENDOR_ASCEND)
        api_add(&text, "Ascend %s", row->product);
    else if (row->product)
        api_add(&text, "%s", row->product);
    else if (device->model)
        api_add(&text, "%.*s", (int)device->model_len, device->model);
    else if (name.at)
        api_add(&text, "%.*s", (int)name.len, name.at);
    else if (device->ids.vendor >= 0 && device->ids.device >= 0)
        api_add(&text, "%04x:%04x", (unsigned)device->ids.vendor, (unsigned)device->ids.device);
    else
        api_add(&text, "%s", cpubind_vendor_word(row->vendor));
    return words_text(text.text);
}

/* The nearest cards of a kind of the i-th device. */
static words_value *nearest_of(const cpubind_facts *f, int32_t i, const char *name, int kind)
{
    const cpubind_cards *all = &f->cards[kind];
    words_value *cards = words_array();
    const cpubind_nearness best =
        cpubind_nearness_of(&f->bus[i], cpubind_facts_nearest(f, i, (cpubind_card_kind)kind));
    for (int32_t k = 0; k < all->n; k++) {
        api_text card = {"", 0};
        api_add_nic(&card, &all->at[k]);
        if (cpubind_nearness_of(&f->bus[i], &all->at[k]) == best)
            words_add(cards, words_text(card.text));
    }
    return words_make("name:s near:s cards:v", name, cpubind_nearness_word(best), cards);
}

/* What is to be said of the node of a device. */
static void note_node(words_value *notes, const cpubind_host_device *device)
{
    api_text text = {"", 0};
    api_add_pci(&text, &device->pci);
    if (device->origin == CPUBIND_NODE_ORIGIN_BRIDGE || device->numa_node < 0 ||
        device->numa_node == device->node)
        return;
    if (device->node < 0)
        api_add(&text, ": its node %d has no CPUs; which node is nearest is not known",
                (int)device->numa_node);
    else
        api_add(&text, ": its node %d has no CPUs; node %d is the nearest that has",
                (int)device->numa_node, (int)device->node);
    words_add(notes, words_text(text.text));
}

static void note_runtime(words_value *notes, const cpubind_runtime_view *view)
{
    api_text text = {"", 0};
    for (int i = 0; i < 2; i++) {
        api_text set = {"", 0};
        if (!view->variable[i])
            continue;
        api_add(&set, "%s=%.*s", view->variable[i], (int)view->value_len[i], view->value[i]);
        words_add(notes, words_text(set.text));
    }
    if (view->why)
        api_add(&text, "%s: what this process sees is not known: %s", view->word, view->why);
    else if (!view->has_order)
        api_add(&text,
                "%s: the GPUs differ, and CUDA sorts them by speed: which number each has is "
                "not known; set CUDA_DEVICE_ORDER=PCI_BUS_ID",
                view->word);
    if (text.len > 0)
        words_add(notes, words_text(text.text));
}

static words_value *notes_of(const cpubind_facts *f)
{
    words_value *notes = words_array();
    api_text text = {"", 0};
    int32_t n_placeless = 0;
    for (int32_t i = 0; i < f->n_bus; i++) {
        n_placeless += f->bus[i].origin == CPUBIND_NODE_ORIGIN_UNKNOWN;
        note_node(notes, &f->bus[i]);
    }
    if (n_placeless > 0) {
        api_add(&text, "no file of the kernel tells the node of %d of %d devices",
                (int)n_placeless, (int)f->n_bus);
        words_add(notes, words_text(text.text));
    }
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++)
        if (f->runtime[i].word)
            note_runtime(notes, &f->runtime[i]);
    return notes;
}

/* Adds what the text has beside the keys of the JSON: names, and what they mean together. */
static void add_text(words_value *report, const cpubind_facts *f, const api_options *options)
{
    static const char *const nearest[] = {[CPUBIND_NIC] = "nearest", [CPUBIND_DISK] = "disk"};
    for (int32_t i = 0; i < f->n_bus; i++) {
        words_value *row = words_at(words_get(report, "devices"), i);
        const cpubind_host_device *device = &f->bus[i];
        words_value *names = names_of(device);
        const char *name = words_string(words_at(names, 0));
        words_set(row, "name", names);
        words_set(row, "device", kind_of(device));
        if (device->n_virtual == 0)
            words_remove(row, "virtual_functions");
        if (device->sight == CPUBIND_SIGHT_HIDDEN)
            words_set(row, "visible", words_text("hidden"));
        for (int kind = 0; options->topo.wants_nics && kind < CPUBIND_CARD_KINDS; kind++)
            if (f->cards[kind].n > 0)
                words_set(row, nearest[kind],
                          nearest_of(f, i, name ? name : words_string_of(row, "pci"), kind));
    }
    for (int kind = 0; options->topo.wants_nics && kind < CPUBIND_CARD_KINDS; kind++)
        for (int32_t i = 0; i < f->cards[kind].n; i++) {
            words_value *rows = words_get(report, api_cards_key(kind));
            words_value *row = words_at(rows, i);
            words_set(row, "device", kind_of(&f->cards[kind].at[i]));
            if (f->cards[kind].at[i].n_virtual == 0)
                words_remove(row, "virtual_functions");
        }
    if (!options->quiet)
        words_set(report, "notes", notes_of(f));
    if (options->topo.wants_nics && f->cards[CPUBIND_NIC].n == 0 && !options->quiet)
        words_add(words_get(report, "notes"), words_text("no network card is on the PCI bus"));
}

static int print(const cpubind_facts *f, const api_options *options)
{
    words_value *report = api_topo(f, options);
    api_text why = {"", 0};
    const int status =
        options->n_choose > 0 ? api_add_choices(report, f, options->n_choose, &why) : API_DONE;
    if (status != API_DONE) {
        words_free(report);
        return cli_fail(options, status, why.text);
    }
    if (!options->json)
        add_text(report, f, options);
    return cli_print_report(options, text_view, report);
}

/* == Slurm ================================================================== */

/* "H100 SXM5" as a type of Slurm: "h100_sxm5". */
static int32_t make_type(const cpubind_host_device *device, char *out, int32_t size)
{
    const char *from = device->accelerator.product;
    int32_t n = 0;
    if (!from)
        from = cpubind_vendor_word(device->accelerator.vendor);
    for (; *from && n < size; from++) {
        const char c = *from >= 'A' && *from <= 'Z' ? (char)(*from - 'A' + 'a') : *from;
        const int is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (is_plain || (n > 0 && out[n - 1] != '_'))
            out[n++] = is_plain ? c : '_';
    }
    return n;
}

/* The arguments of read_nodes. */
typedef struct file_list {
    const cpubind_source *source;
    const cpubind_facts *facts;
    cpubind_device_nodes nodes;
} file_list;

static cpubind_problem_code read_nodes(void *ctx, cpubind_arena *arena)
{
    file_list *l = (file_list *)ctx;
    return cpubind_device_nodes_read(l->source, l->facts, arena, &l->nodes)
               ? CPUBIND_PROBLEM_NONE
               : CPUBIND_PROBLEM_NO_MEMORY;
}

/* Writes the name of a device's file: of an NPU it has the number that the host uses. Returns 0
 * where no file of the kernel tells it. */
static int find_file(const file_list *l, int32_t device, char out[FILE_SIZE])
{
    const cpubind_facts *f = l->facts;
    const char *file;
    if (f->bus[device].accelerator.vendor != CPUBIND_VENDOR_ASCEND) {
        file = cpubind_device_file(f, &l->nodes, device);
        (void)snprintf(out, FILE_SIZE, "%s", file ? file : "");
        return file != NULL;
    }
    for (int32_t k = 0; k < f->n_listed; k++) {
        const cpubind_host_device *npu = f->device[k];
        if (cpubind_pci_compare(&npu->pci, &f->bus[device].pci) != 0)
            continue;
        (void)snprintf(out, FILE_SIZE, "/dev/davinci%d",
                       (int)(npu->phy >= 0 ? npu->phy : npu->logic));
        return 1;
    }
    return 0;
}

/* A line of gres.conf. */
typedef struct slurm_line {
    char file[FILE_SIZE];
    int32_t device;
} slurm_line;

/* By the number at the end: of two names with one beginning the shorter has the smaller one. */
static int compare_lines(const void *left, const void *right)
{
    const char *a = ((const slurm_line *)left)->file, *b = ((const slurm_line *)right)->file;
    const size_t n_a = strlen(a), n_b = strlen(b);
    return n_a != n_b ? (n_a < n_b ? -1 : 1) : strcmp(a, b);
}

/* Lists the devices that have a file; says which have none. Returns their number. */
static int32_t list_lines(const file_list *files, slurm_line *line)
{
    const cpubind_facts *f = files->facts;
    int32_t n = 0;
    for (int32_t i = 0; i < f->n_bus; i++) {
        api_text pci = {"", 0};
        line[n].device = i;
        if (find_file(files, i, line[n].file)) {
            n++;
            continue;
        }
        api_add_pci(&pci, &f->bus[i].pci);
        fprintf(stderr, "cpubind: warning: %s: no file of the kernel tells its device file\n",
                pci.text);
    }
    qsort(line, (size_t)n, sizeof *line, compare_lines);
    return n;
}

/* Prints one line. The name is gpu for all: --gpu-bind=closest knows no other. `text` has
 * MAX_LINE bytes, `core` one for each CPU. Returns 0 without memory. */
static int print_slurm_line(const cpubind_facts *f, const slurm_line *line, int32_t *core,
                            char *text)
{
    const cpubind_host_device *device = &f->bus[line->device];
    char type[32];
    const int32_t n_core = cpubind_gres_cores(f, line->device, core);
    const int n_type = make_type(device, type, (int32_t)sizeof type);
    api_text pci = {"", 0};
    int32_t len = 0;
    api_add_pci(&pci, &device->pci);
    if (n_core == 0)
        fprintf(stderr, "cpubind: warning: %s: no Cores=: its node is not known\n", pci.text);
    if (cpubind_cpulist_format(core, n_core, text, MAX_LINE, &len) != CPUBIND_TEXT_OK)
        return 0;
    printf("Name=gpu Type=%.*s File=%s%s%.*s\n", n_type, type, line->file,
           len > 0 ? " Cores=" : "", (int)len, text);
    return 1;
}

/* Prints a line of gres.conf for each device, by the numbers of their files: Slurm counts the
 * lines, so that device i of SLURM_STEP_GPUS is device i of the host. Returns the exit
 * status. */
static int print_slurm(const cpubind_source *source, const cpubind_facts *f,
                       const api_options *options)
{
    int32_t *core = (int32_t *)malloc(((size_t)f->host.n_cpu + 1) * sizeof *core);
    slurm_line *line = (slurm_line *)malloc(((size_t)f->n_bus + 1) * sizeof *line);
    char *text = (char *)malloc(MAX_LINE);
    file_list files = {.source = source, .facts = f};
    cpubind_arena arena = {NULL, 0, 0};
    int good = core && line && text &&
               cpubind_with_arena(NULL, &arena, read_nodes, &files) == CPUBIND_PROBLEM_NONE;
    const int32_t n = good ? list_lines(&files, line) : 0;
    for (int32_t i = 0; good && i < n; i++)
        good = print_slurm_line(f, &line[i], core, text);
    free(arena.base);
    free(core);
    free(line);
    free(text);
    if (!good)
        return cli_no_memory();
    if (n > 0)
        return API_DONE;
    return cli_fail(
        options, API_REFUSED,
        "there is no line for gres.conf: no device has a file below /dev that the "
        "kernel's files name; run topo --format slurm on the host itself, with the driver "
        "of the devices loaded (lspci -k shows it)");
}

/* Slurm counts all cores of the host, whichever this process may use. NULL without memory. */
static int32_t *allow_all(cpubind_request *request)
{
    int32_t *cpu = (int32_t *)malloc(CPUBIND_MAX_CPUS * sizeof *cpu);
    for (int32_t i = 0; cpu && i < CPUBIND_MAX_CPUS; i++)
        cpu[i] = i;
    request->allowed = cpu;
    request->n_allowed = CPUBIND_MAX_CPUS;
    return cpu;
}

int cli_topology(int argc, char **argv)
{
    static api_options options;
    static api_planned read;
    static api_text why;
    static api_host host;
    int32_t *cpu = NULL;
    int status = cli_start(argc, argv, API_TOPO, &options);
    if (status >= 0)
        return status;
    options.is_slurm = strcmp(options.format->word, "slurm") == 0;
    if (options.is_slurm && !(cpu = allow_all(&options.request)))
        return cli_no_memory();
    status = cli_open_host(&options, &host, &why);
    if (status == API_DONE)
        status = api_find_devices(&host.source, &options, &why);
    options.topo.wants_cores = options.is_slurm;
    if (status == API_DONE) {
        api_read_devices(&host.source, &options, &read);
        status = api_judge_devices(&read, &options, &why);
    }
    if (status != API_DONE)
        status = cli_fail(&options, status, why.text);
    else if (options.is_slurm)
        status = print_slurm(&host.source, &read.facts, &options);
    else
        status = print(&read.facts, &options);
    api_free_planned(&read);
    api_close_host(&host);
    free(cpu);
    return status;
}
