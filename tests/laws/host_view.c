/* host_view.c - what one process sees of a random host: a source in memory
 * SPDX-License-Identifier: MIT
 *
 * Answers for each name that a reader of an Ascend host may ask for, and lets one input fail.
 * It must answer ABSENT for any other name. The texts are those of view_texts.c.
 */
#include "host_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view_texts.h"

/* == Answers ================================================================ */

static cpubind_input no_answer(cpubind_input_state state, int32_t error)
{
    cpubind_input input;
    memset(&input, 0, sizeof input);
    input.state = state;
    input.error = state == CPUBIND_INPUT_FAILED ? error : 0;
    input.why = state == CPUBIND_INPUT_FAILED ? "read" : NULL;
    return input;
}

static cpubind_input answer_from(const view_source *s, int32_t start)
{
    cpubind_input input = no_answer(CPUBIND_INPUT_PRESENT, 0);
    input.len = s->used - start;
    input.data = input.len > 0 ? s->room + start : NULL;
    return input;
}

/* The rest of a name after its start, or NULL. */
static const char *after(const char *name, const char *start)
{
    const size_t n = strlen(start);
    return strncmp(name, start, n) == 0 ? name + n : NULL;
}

static const host_function *find_function(const random_host *h, const char *name,
                                          const char **leaf)
{
    for (int32_t i = 0; i < h->n_function; i++) {
        *leaf = after(name, h->function[i].name);
        if (*leaf && **leaf == '/') {
            ++*leaf;
            return &h->function[i];
        }
    }
    return NULL;
}

static void put_hex(view_source *s, int32_t value)
{
    char text[16];
    (void)snprintf(text, sizeof text, "0x%04x\n", (unsigned)value);
    view_put(s, text);
}

static cpubind_input read_function(view_source *s, const char *rest)
{
    const random_host *h = s->view->host;
    const int32_t start = s->used;
    const char *leaf = "";
    const host_function *function = find_function(h, rest, &leaf);
    if (!function)
        return no_answer(CPUBIND_INPUT_ABSENT, 0);
    if (strcmp(leaf, "vendor") == 0)
        put_hex(s, function->vendor);
    else if (strcmp(leaf, "device") == 0)
        put_hex(s, function->device);
    else if (strcmp(leaf, "class") == 0)
        put_hex(s, function->class_code);
    else if (strcmp(leaf, "numa_node") == 0)
        view_put_number(s, function->node < 0 ? -1 : h->node[function->node].id);
    else if (strcmp(leaf, "local_cpulist") == 0)
        view_put_line(s, function->node < 0 ? &h->online : &h->node[function->node].online);
    else if (strcmp(leaf, "physfn") == 0)
        return no_answer(function->is_virtual ? CPUBIND_INPUT_FAILED : CPUBIND_INPUT_ABSENT,
                         21);
    else
        return no_answer(CPUBIND_INPUT_ABSENT, 0);
    if (strcmp(leaf, "numa_node") == 0)
        view_put(s, "\n");
    return answer_from(s, start);
}

/* The files of a node; `rest` is "3/cpulist". */
static cpubind_input read_node(view_source *s, const char *rest)
{
    const random_host *h = s->view->host;
    const int32_t start = s->used, id = (int32_t)strtol(rest, NULL, 10);
    const char *leaf = strchr(rest, '/');
    int32_t i = 0;
    while (i < h->n_node && h->node[i].id != id)
        i++;
    if (i == h->n_node || !leaf)
        return no_answer(CPUBIND_INPUT_ABSENT, 0);
    if (strcmp(leaf, "/cpulist") == 0) {
        view_put_line(s, &h->node[i].online);
    } else if (strcmp(leaf, "/distance") == 0 && h->socket_nodes > 0 &&
               h->lacks != LACKS_DISTANCES) {
        for (int32_t k = 0; k < h->n_node; k++) {
            const int32_t is_same = i / h->socket_nodes == k / h->socket_nodes;
            const int32_t more = h->lacks == ODD_DISTANCES && i > k ? 1 + 3 * i % 7 : 0;
            view_put(s, k > 0 ? " " : "");
            view_put_number(s, i == k ? 10 : (is_same ? 12 : 32) + more);
        }
        view_put(s, "\n");
    } else {
        return no_answer(CPUBIND_INPUT_ABSENT, 0);
    }
    return answer_from(s, start);
}

/* The files of a CPU; `rest` is "3/topology/physical_package_id". The kernel lists the siblings
 * that are online. */
static cpubind_input read_cpu(view_source *s, const char *rest)
{
    const random_host *h = s->view->host;
    const int32_t start = s->used, cpu = (int32_t)strtol(rest, NULL, 10);
    if (cpu < 0 || cpu >= HOST_CPUS ||
        (!bits_has(&h->online, cpu) && !bits_has(&h->offline, cpu)))
        return no_answer(CPUBIND_INPUT_ABSENT, 0);
    if (strstr(rest, "/online") && cpu > 0) {
        view_put(s, bits_has(&h->online, cpu) ? "1\n" : "0\n");
        return answer_from(s, start);
    }
    if (!bits_has(&h->online, cpu))
        return no_answer(CPUBIND_INPUT_ABSENT, 0);
    if (strstr(rest, "/topology/thread_siblings_list") && h->lacks != LACKS_SIBLINGS) {
        const int32_t first =
            h->siblings == 1 ? cpu / h->threads * h->threads : cpu % h->siblings;
        cpu_bits set;
        memset(&set, 0, sizeof set);
        for (int32_t thread = 0; thread < h->threads; thread++) {
            const int32_t sibling = first + thread * h->siblings;
            if (bits_has(&h->online, sibling))
                bits_add(&set, sibling);
        }
        view_put_line(s, &set);
        return answer_from(s, start);
    }
    for (int32_t i = 0; strstr(rest, "/topology/physical_package_id") && i < h->n_node; i++)
        if (h->socket_nodes > 0 && bits_has(&h->node[i].online, cpu)) {
            view_put_number(s, i / h->socket_nodes);
            view_put(s, "\n");
            return answer_from(s, start);
        }
    return no_answer(CPUBIND_INPUT_ABSENT, 0);
}

static cpubind_input read_system(view_source *s, const char *rest)
{
    const random_host *h = s->view->host;
    const int32_t start = s->used;
    if (after(rest, "node/node"))
        return read_node(s, after(rest, "node/node"));
    if (strcmp(rest, "cpu/online") == 0)
        view_put_line(s, &h->online);
    else if (strcmp(rest, "cpu/smt/active") == 0 && h->has_smt_file)
        view_put(s, h->threads > 1 ? "1\n" : "0\n");
    else if (after(rest, "cpu/cpu"))
        return read_cpu(s, after(rest, "cpu/cpu"));
    else
        return no_answer(CPUBIND_INPUT_ABSENT, 0);
    return answer_from(s, start);
}

/* The answer of a command that is there. */
static cpubind_input read_command(view_source *s, const char *rest)
{
    const int32_t start = s->used;
    int card = 0, chip = -1;
    if (!s->view->has_npu_smi)
        return no_answer(CPUBIND_INPUT_ABSENT, 0);
    if (strcmp(rest, "-m.txt") == 0)
        view_make_map(s);
    else if (strcmp(rest, ".txt") == 0)
        view_make_info(s);
    else if (strcmp(rest, "-t-topo.txt") == 0)
        view_make_topo(s);
    else if (sscanf(rest, "-t-board-i%d-c%d.txt", &card, &chip) < 1 ||
             !view_make_board(s, card, chip))
        view_put(s, "This device does not support querying board.\n");
    return answer_from(s, start);
}

static cpubind_input read_driver_file(view_source *s, const char *name)
{
    const int32_t start = s->used;
    const char *rest;
    if (strcmp(name, "proc/uda/namespace_node") == 0) {
        if (!s->view->host->has_driver)
            return no_answer(CPUBIND_INPUT_ABSENT, 0);
        if (!s->view->is_root)
            return no_answer(CPUBIND_INPUT_FAILED, 13);
        view_make_namespaces(s);
        return answer_from(s, start);
    }
    rest = after(name, "sys/class/devdrv-class/");
    if (rest) {
        char node[VIEW_NAME] = "";
        (void)snprintf(node, sizeof node, "%.*s", (int)strcspn(rest, "/"), rest);
        return view_make_device_node(s, node, 1) ? answer_from(s, start)
                                                 : no_answer(CPUBIND_INPUT_ABSENT, 0);
    }
    rest = after(name, "dev/");
    return rest && view_make_device_node(s, rest, 0) ? answer_from(s, start)
                                                     : no_answer(CPUBIND_INPUT_ABSENT, 0);
}

/* The folders of the device files of GPUs, and their names below the PCI function. */
static const struct {
    const char *nodes, *folder, *start;
    int32_t vendor; /* 0: of all but the one that is named */
    int32_t first;
} gpu_files[] = {{"dev/dri", "drm", "renderD", 0, 128},
                 {"dev/accel", "accel", "accel", 0x1da3, 0},
                 {"dev/nvidia", NULL, "nvidia", 0x10de, 0}};

enum { N_GPU_FILES = sizeof gpu_files / sizeof gpu_files[0] };

#define GPU_DRIVER "proc/driver/nvidia/gpus"

static int32_t has_gpu_file(const host_function *f, int32_t kind)
{
    return f->gpu >= 0 && (gpu_files[kind].vendor ? f->vendor == gpu_files[kind].vendor
                                                  : f->vendor != gpu_files[1].vendor);
}

static int32_t can_open(const host_view *v, const host_function *f)
{
    return f->gpu >= 0 && !v->hides_files && (v->gpu_files >> f->gpu & 1u);
}

static void put_gpu_file(view_source *s, const host_function *f, int32_t kind)
{
    view_put(s, gpu_files[kind].start);
    view_put_number(s, gpu_files[kind].first + f->gpu);
    view_put(s, "\n");
}

/* The file that the driver of NVIDIA has for a GPU. */
static cpubind_input read_gpu_driver(view_source *s, const char *rest)
{
    const int32_t start = s->used;
    const char *leaf = "";
    const host_function *f = find_function(s->view->host, rest, &leaf);
    if (!f || !has_gpu_file(f, 2) || !can_open(s->view, f) || strcmp(leaf, "information") != 0)
        return no_answer(CPUBIND_INPUT_ABSENT, 0);
    view_put(s, "Model: \t NVIDIA H100\nDevice Minor: \t ");
    view_put_number(s, f->gpu);
    view_put(s, "\n");
    return answer_from(s, start);
}

/* Lists the device files of GPUs, of a function or of this process, and what the driver of
 * NVIDIA lists. Returns 0 where the name is of none of them. */
static int32_t list_gpus(view_source *s, const char *name, const host_function *function,
                         const char *leaf)
{
    const random_host *h = s->view->host;
    const int32_t start = s->used;
    for (int32_t kind = 0; kind < N_GPU_FILES; kind++) {
        if (function && gpu_files[kind].folder && strcmp(leaf, gpu_files[kind].folder) == 0 &&
            has_gpu_file(function, kind))
            put_gpu_file(s, function, kind);
        for (int32_t i = 0; i < h->n_function && strcmp(name, gpu_files[kind].nodes) == 0; i++)
            if (has_gpu_file(&h->function[i], kind) && can_open(s->view, &h->function[i]))
                put_gpu_file(s, &h->function[i], kind);
    }
    for (int32_t i = 0; i < h->n_function && strcmp(name, GPU_DRIVER) == 0; i++)
        if (has_gpu_file(&h->function[i], 2) && can_open(s->view, &h->function[i])) {
            view_put(s, h->function[i].name);
            view_put(s, "\n");
        }
    return s->used > start;
}

static cpubind_input read_well(view_source *s, const char *name)
{
    const int32_t start = s->used;
    const char *rest = after(name, "sys/bus/pci/devices/");
    if (rest)
        return read_function(s, rest);
    rest = after(name, "sys/devices/system/");
    if (rest)
        return read_system(s, rest);
    rest = after(name, "cmd/npu-smi-info");
    if (rest)
        return read_command(s, rest);
    rest = after(name, GPU_DRIVER "/");
    if (rest)
        return read_gpu_driver(s, rest);
    if (strcmp(name, "proc/self/status") == 0)
        view_make_status(s);
    else if (strcmp(name, "env") == 0)
        view_make_env(s);
    else if (strcmp(name, "uname") == 0)
        view_put(s, "aarch64\n");
    else if (strcmp(name, "proc/interrupts") == 0 && s->view->masks_interrupts)
        return no_answer(CPUBIND_INPUT_ABSENT, 0);
    else if (strcmp(name, "proc/interrupts") == 0)
        view_make_interrupts(s);
    else if (strcmp(name, "proc/self/cgroup") == 0)
        view_put(s, "0::/kubepods/pod1\n");
    else if (strcmp(name, "sys/fs/cgroup/kubepods/pod1/cpuset.cpus.effective") == 0)
        view_put_line(s, &s->view->cgroup);
    else
        return read_driver_file(s, name);
    return answer_from(s, start);
}

static cpubind_input list_well(view_source *s, const char *name)
{
    const random_host *h = s->view->host;
    const int32_t start = s->used;
    const char *rest = after(name, "sys/bus/pci/devices/"), *leaf = "";
    const host_function *function = rest ? find_function(h, rest, &leaf) : NULL;
    if (function && strcmp(leaf, "msi_irqs") == 0)
        view_list_vectors(s, function);
    else if (function && strcmp(leaf, "physfn") == 0 && function->is_virtual)
        view_put(s, "device\nvendor\n");
    else if (strcmp(name, "sys/bus/pci/devices") == 0)
        view_list_functions(s);
    else if (strcmp(name, "sys/devices/system/node") == 0)
        view_list_nodes(s);
    else if (strcmp(name, "proc/trs_core/proc") == 0 && h->has_driver)
        view_list_processes(s);
    else if (strcmp(name, "sys/class/devdrv-class") == 0)
        view_list_device_nodes(s, 1);
    else if (strcmp(name, "dev") == 0)
        view_list_device_nodes(s, 0);
    else if (!list_gpus(s, name, function, leaf))
        return no_answer(CPUBIND_INPUT_ABSENT, 0);
    return answer_from(s, start);
}

/* == The source ============================================================= */

/* A "*" in the failing name stands for any bytes. */
static int32_t is_failing(const host_view *v, const char *name)
{
    const char *star = strchr(v->failing, '*');
    const size_t n = strlen(name), rest = star ? strlen(star + 1) : 0;
    if (v->failure == FAILURE_NONE)
        return 0;
    if (!star)
        return strcmp(name, v->failing) == 0;
    return strncmp(name, v->failing, (size_t)(star - v->failing)) == 0 && n >= rest &&
           strcmp(name + n - rest, star + 1) == 0;
}

/* Whether an input may be absent in one view alone: a folder or a file that a container may not
 * have. Each PCI function has its attributes, the driver its class, each process /dev, and
 * npu-smi is there with all of its commands or not at all. */
static int32_t can_be_absent(const char *name)
{
    const char *rest = after(name, "sys/bus/pci/devices/");
    if (rest)
        return strstr(rest, "/d") && !strstr(rest, "/device");
    return !after(name, "cmd/") && !after(name, "sys/class/devdrv-class") &&
           strcmp(name, "dev") != 0;
}

/* Whether an input may be empty: not the folder of the device nodes, without which npu-smi does
 * not run. */
static int32_t can_be_empty(const char *name)
{
    return strcmp(name, "dev") != 0;
}

/* Writes another text for an answer: a cpu/online as lxcfs makes it, a node that is far from
 * itself, a node with the first CPU of another one, a core without the CPU whose it is. */
static cpubind_input make_odd(view_source *s, const char *name, cpubind_input input)
{
    const host_view *v = s->view;
    const int32_t start = s->used;
    const char *rest = after(name, "sys/devices/system/");
    cpu_bits set;
    memset(&set, 0, sizeof set);
    if (rest && strcmp(rest, "cpu/online") == 0) {
        for (int32_t i = bits_count(&v->allowed); i > 0; i--)
            bits_add(&set, i - 1);
        view_put_line(s, &set);
    } else if (rest && strstr(rest, "/distance")) {
        for (int32_t i = 0; i < v->host->n_node; i++)
            view_put(s, after(rest, "node/node0/") && i == 0 ? "90 " : "60 ");
        view_put(s, "\n");
    } else if (rest && strstr(rest, "/cpulist")) {
        set = v->host->online;
        view_put_line(s, &set);
    } else if (rest && strstr(rest, "/thread_siblings_list")) {
        set = v->host->online;
        for (int32_t cpu = 0; cpu < HOST_CPUS; cpu++)
            if (cpu == (int32_t)strtol(rest + strlen("cpu/cpu"), NULL, 10))
                set.word[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
        view_put_line(s, &set);
    } else {
        return no_answer(CPUBIND_INPUT_FAILED, 5);
    }
    input = answer_from(s, start);
    return input;
}

/* Makes an answer fail. An input that is absent in this view stays so. */
static cpubind_input fail_answer(view_source *s, const char *name, cpubind_input input,
                                 int32_t is_list)
{
    const host_view *v = s->view;
    if (!is_failing(v, name) || input.state != CPUBIND_INPUT_PRESENT)
        return input;
    s->has_failed = 1;
    switch (v->failure) {
    case FAILURE_ABSENT:
        if (!can_be_absent(name))
            return no_answer(CPUBIND_INPUT_FAILED, 5);
        return no_answer(CPUBIND_INPUT_ABSENT, 0);
    case FAILURE_TIMEOUT:
        return after(name, "cmd/") ? no_answer(CPUBIND_INPUT_TIMEOUT, 0)
                                   : no_answer(CPUBIND_INPUT_FAILED, 5);
    case FAILURE_TOO_LONG:
        return no_answer(CPUBIND_INPUT_TOO_LONG, 0);
    case FAILURE_EMPTY:
        if (!can_be_empty(name))
            return no_answer(CPUBIND_INPUT_FAILED, 5);
        input.len = 0;
        break;
    case FAILURE_CUT:
        /* The kernel gives a listing as a whole or not at all; one output is cut, not all. */
        if (is_list || strchr(v->failing, '*'))
            return no_answer(CPUBIND_INPUT_FAILED, 5);
        input.len = input.len * v->cut / 256;
        break;
    case FAILURE_ODD:
        return make_odd(s, name, input);
    default:
        return no_answer(CPUBIND_INPUT_FAILED, 5);
    }
    input.data = input.len > 0 ? input.data : NULL;
    return input;
}

static cpubind_input read_view(void *ctx, const char *name)
{
    view_source *s = (view_source *)ctx;
    return fail_answer(s, name, read_well(s, name), 0);
}

static cpubind_input list_view(void *ctx, const char *name)
{
    view_source *s = (view_source *)ctx;
    return fail_answer(s, name, list_well(s, name), 1);
}

void view_source_start(view_source *s, const host_view *view)
{
    s->view = view;
    s->used = 0;
    s->has_failed = 0;
}

cpubind_source view_source_of(view_source *s)
{
    const cpubind_source source = {s, read_view, list_view};
    return source;
}
