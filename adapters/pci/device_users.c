/* device_users.c - the device files of accelerators, by name and by number
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc.
 */
#include "device_users.h"

#include "nvidia_files.h"
#include "pci_reader.h"

/* The state of one reading. */
typedef struct node_list {
    const cpubind_source *source;
    const cpubind_pci_function *function;
    int32_t device;
    int32_t n_before; /* rows of the functions before this one */
    cpubind_device_nodes *out;
} node_list;

/* Adds the file `folder` + `name`, unless it is too long or the function has many. */
static void add(node_list *l, const char *folder, const char *name, int32_t len)
{
    const size_t n = strlen(folder);
    cpubind_device_node *row = &l->out->row[l->out->n];
    if (len <= 0 || (size_t)len >= sizeof row->path - n ||
        l->out->n - l->n_before >= CPUBIND_DEVICE_FILES_MAX)
        return;
    memcpy(row->path, folder, n);
    memcpy(row->path + n, name, (size_t)len);
    row->path[n + (size_t)len] = '\0';
    row->device = l->device;
    row->major = row->minor = -1;
    l->out->n++;
}

/* The name `folder`/ADDRESS/`leaf`, in room for the longest of them. */
static const char *input_name(char out[CPUBIND_DEVICE_INPUT_SIZE], const char *folder,
                              const cpubind_pci_function *function, const char *leaf)
{
    size_t n = strlen(folder);
    memcpy(out, folder, n);
    out[n++] = '/';
    n += (size_t)cpubind_pci_format(out + n, &function->pci);
    out[n++] = '/';
    memcpy(out + n, leaf, strlen(leaf) + 1);
    return out;
}

/* Keeps the name of the first input that is there and could not be read: failed is not
 * absent. */
static cpubind_input judge(cpubind_device_nodes *nodes, const char *name, cpubind_input answer)
{
    if (!facts_is_present(answer) && answer.state != CPUBIND_INPUT_ABSENT && !*nodes->failed)
        memcpy(nodes->failed, name, strlen(name) + 1);
    return answer;
}

static void add_minor(node_list *l)
{
    char name[CPUBIND_DEVICE_INPUT_SIZE];
    const char *input = input_name(name, INPUT_NVIDIA, l->function, "information");
    const cpubind_input answer = judge(l->out, input, l->source->read(l->source->ctx, input));
    cpubind_slice minor;
    if (facts_is_present(answer) && cpubind_nvidia_find(answer.data, answer.len, "Device Minor",
                                                        &minor, NULL) == CPUBIND_TEXT_OK)
        add(l, "/dev/nvidia", answer.data + minor.at, minor.len);
}

/* Adds the names of a folder of the function that begin with a prefix and end in digits. */
static void add_names(node_list *l, const char *leaf, const char *prefix, const char *folder)
{
    const int32_t n = (int32_t)strlen(prefix);
    char path[CPUBIND_DEVICE_INPUT_SIZE];
    const char *input = input_name(path, INPUT_PCI, l->function, leaf);
    const cpubind_input listing = judge(l->out, input, l->source->list(l->source->ctx, input));
    cpubind_slice name;
    int32_t at = 0;
    while (facts_next_name(listing, &at, &name)) {
        const char *text = listing.data + name.at;
        int32_t i = n;
        if (name.len <= n || memcmp(text, prefix, (size_t)n) != 0)
            continue;
        while (i < name.len && text[i] >= '0' && text[i] <= '9')
            i++;
        if (i == name.len)
            add(l, folder, text, name.len);
    }
}

int cpubind_device_nodes_read(const cpubind_source *source, const cpubind_facts *facts,
                              cpubind_arena *arena, cpubind_device_nodes *out)
{
    node_list l = {.source = source, .out = out};
    memset(out, 0, sizeof *out);
    if (facts->n_device > INT32_MAX / CPUBIND_DEVICE_FILES_MAX)
        return 0;
    out->row = (cpubind_device_node *)cpubind_arena_take(
        arena, facts->n_device * CPUBIND_DEVICE_FILES_MAX, sizeof *out->row);
    out->failed = (char *)cpubind_arena_take(arena, CPUBIND_DEVICE_INPUT_SIZE, 1);
    if (!out->row || !out->failed)
        return 0;
    *out->failed = '\0';
    for (l.device = 0; l.device < facts->n_device; l.device++) {
        l.function = &facts->device[l.device];
        l.n_before = out->n;
        if (l.function->accelerator.family == CPUBIND_FAMILY_NVIDIA)
            add_minor(&l);
        add_names(&l, "accel", "accel", "/dev/accel/");
        add_names(&l, "drm", "renderD", "/dev/dri/");
        add_names(&l, "drm", "card", "/dev/dri/");
    }
    return 1;
}

/* == Numbers ================================================================ */

#define INPUT_DRIVERS "proc/devices"
#define NVIDIA_MAJOR  195

/* Reads "226:128\n". */
static void read_pair(cpubind_device_nodes *nodes, const cpubind_source *source,
                      const char *name, int32_t *major, int32_t *minor)
{
    const cpubind_input answer = judge(nodes, name, source->read(source->ctx, name));
    const char *colon = facts_is_present(answer)
                            ? (const char *)memchr(answer.data, ':', (size_t)answer.len)
                            : NULL;
    int32_t left, right, n;
    if (!colon)
        return;
    n = (int32_t)(colon - answer.data);
    if (cpubind_number_parse(answer.data, n, &left, NULL) != CPUBIND_TEXT_OK ||
        cpubind_number_parse(colon + 1, answer.len - n - 1, &right, NULL) != CPUBIND_TEXT_OK)
        return;
    *major = left;
    *minor = right;
}

/* The number of a driver of character devices, or -1. The list of block devices comes after a
 * line without text.
 *   drivers = header LF *( blanks number " " name LF ) LF ... */
static int32_t driver_number(cpubind_input drivers, const char *name)
{
    const int32_t n = (int32_t)strlen(name);
    for (int32_t at = 0, end; at < drivers.len && drivers.data[at] != '\n'; at = end + 1) {
        int32_t from = at, blank, number;
        for (end = at; end < drivers.len && drivers.data[end] != '\n';)
            end++;
        while (from < end && drivers.data[from] == ' ')
            from++;
        for (blank = from; blank < end && drivers.data[blank] != ' ';)
            blank++;
        if (end - blank - 1 == n && memcmp(drivers.data + blank + 1, name, (size_t)n) == 0 &&
            cpubind_number_parse(drivers.data + from, blank - from, &number, NULL) ==
                CPUBIND_TEXT_OK)
            return number;
    }
    return -1;
}

static int32_t nvidia_number(cpubind_input drivers)
{
    int32_t major = driver_number(drivers, "nvidia");
    if (major < 0)
        major = driver_number(drivers, "nvidia-frontend");
    return major < 0 ? NVIDIA_MAJOR : major;
}

/* The number of a file of a device. */
static void read_number(cpubind_device_nodes *nodes, const cpubind_source *source,
                        const cpubind_facts *facts, cpubind_input drivers,
                        cpubind_device_node *row)
{
    static const struct {
        const char *folder, *leaf;
    } folders[] = {{"/dev/dri/", "drm/"}, {"/dev/accel/", "accel/"}};
    static const char nvidia[] = "/dev/nvidia";
    char name[CPUBIND_DEVICE_INPUT_SIZE], leaf[CPUBIND_DEVICE_PATH_SIZE + 8];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t n = strlen(folders[i].folder), n_leaf = strlen(folders[i].leaf);
        const size_t len = strlen(row->path);
        if (len <= n || memcmp(row->path, folders[i].folder, n) != 0)
            continue;
        memcpy(leaf, folders[i].leaf, n_leaf);
        memcpy(leaf + n_leaf, row->path + n, len - n);
        memcpy(leaf + n_leaf + len - n, "/dev", sizeof "/dev");
        read_pair(nodes, source, input_name(name, INPUT_PCI, &facts->device[row->device], leaf),
                  &row->major, &row->minor);
        return;
    }
    row->major = nvidia_number(drivers);
    if (cpubind_number_parse(row->path + sizeof nvidia - 1,
                             (int32_t)(strlen(row->path) - sizeof nvidia + 1), &row->minor,
                             NULL) != CPUBIND_TEXT_OK)
        row->major = row->minor = -1;
}

int cpubind_device_numbers_read(const cpubind_source *source, const cpubind_facts *facts,
                                cpubind_device_nodes *nodes)
{
    const cpubind_input drivers =
        judge(nodes, INPUT_DRIVERS, source->read(source->ctx, INPUT_DRIVERS));
    int is_there[CPUBIND_FAMILY_COUNT] = {0};
    for (int32_t i = 0; i < facts->n_device; i++)
        is_there[facts->device[i].accelerator.family] = 1;
    for (int k = 0; k < CPUBIND_FAMILY_COUNT; k++) {
        const char *file = cpubind_family_file((cpubind_family)k);
        nodes->compute_major[k] = nodes->compute_minor[k] = -1;
        if (!is_there[k] || !file)
            continue;
        if (memchr(file, '/', strlen(file))) {
            read_pair(nodes, source, file, &nodes->compute_major[k], &nodes->compute_minor[k]);
        } else {
            nodes->compute_major[k] = driver_number(drivers, file);
            nodes->compute_minor[k] = 0;
        }
    }
    for (int32_t i = 0; i < nodes->n; i++)
        read_number(nodes, source, facts, drivers, &nodes->row[i]);
    return !*nodes->failed;
}

int32_t cpubind_device_of_number(const cpubind_device_nodes *nodes, int32_t major,
                                 int32_t minor)
{
    for (int32_t i = 0; i < nodes->n; i++)
        if (nodes->row[i].major == major && nodes->row[i].minor == minor)
            return nodes->row[i].device;
    return -1;
}
