/* device_users.c - which accelerator a device file belongs to
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
    l->out->n++;
}

/* The name `folder`/ADDRESS/`leaf`, in room for the longest of them. */
static const char *input_name(char out[128], const char *folder,
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

static void add_minor(node_list *l)
{
    char name[128];
    const cpubind_input answer = l->source->read(
        l->source->ctx, input_name(name, INPUT_NVIDIA, l->function, "information"));
    cpubind_slice minor;
    if (pci_is_present(answer) && cpubind_nvidia_find(answer.data, answer.len, "Device Minor",
                                                      &minor, NULL) == CPUBIND_TEXT_OK)
        add(l, "/dev/nvidia", answer.data + minor.at, minor.len);
}

/* Adds the names of a folder of the function that begin with a prefix and end in digits. */
static void add_names(node_list *l, const char *leaf, const char *prefix, const char *folder)
{
    const int32_t n = (int32_t)strlen(prefix);
    char path[128];
    const cpubind_input listing =
        l->source->list(l->source->ctx, input_name(path, INPUT_BUS, l->function, leaf));
    cpubind_slice name;
    int32_t at = 0;
    while (pci_next_name(listing, &at, &name)) {
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

int cpubind_device_nodes_read(const cpubind_source *source, const cpubind_pci_facts *facts,
                              cpubind_arena *arena, cpubind_device_nodes *out)
{
    node_list l = {.source = source, .out = out};
    memset(out, 0, sizeof *out);
    if (facts->n_device > INT32_MAX / CPUBIND_DEVICE_FILES_MAX)
        return 0;
    out->row = (cpubind_device_node *)cpubind_arena_take(
        arena, facts->n_device * CPUBIND_DEVICE_FILES_MAX, sizeof *out->row);
    if (!out->row)
        return 0;
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

int32_t cpubind_device_of_path(const cpubind_device_nodes *nodes, const char *path, int32_t len)
{
    for (int32_t i = 0; i < nodes->n; i++)
        if ((size_t)len == strlen(nodes->row[i].path) &&
            memcmp(nodes->row[i].path, path, (size_t)len) == 0)
            return nodes->row[i].device;
    return -1;
}
