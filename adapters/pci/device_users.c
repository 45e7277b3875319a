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

/* Adds the file of a kind with this number, unless it is too long or the function has many. */
static void add(node_list *l, const cpubind_vendor_nodes *nodes,
                const cpubind_vendor_files *bus, const char *number, int32_t len)
{
    const char *const part[] = {"/", nodes->folder, "/", nodes->start};
    cpubind_device_node *row = &l->out->row[l->out->n];
    size_t n = 0;
    if (len <= 0 || l->out->n - l->n_before >= CPUBIND_DEVICE_FILES_MAX)
        return;
    for (int i = 0; i < 4; i++) {
        memcpy(row->path + n, part[i], strlen(part[i]));
        n += strlen(part[i]);
    }
    if ((size_t)len >= sizeof row->path - n)
        return;
    memcpy(row->path + n, number, (size_t)len);
    row->path[n + (size_t)len] = '\0';
    row->device = l->device;
    row->nodes = nodes;
    row->bus = bus;
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

/* Adds the file that a driver tells. */
static void add_driven(node_list *l, const cpubind_vendor_driver *driver)
{
    char name[CPUBIND_DEVICE_INPUT_SIZE];
    const char *input = input_name(name, driver->folder, l->function, driver->leaf);
    const cpubind_input answer = judge(l->out, input, l->source->read(l->source->ctx, input));
    cpubind_piece number;
    if (facts_is_present(answer) && cpubind_nvidia_find(answer.data, answer.len, driver->key,
                                                        &number, NULL) == CPUBIND_TEXT_OK)
        add(l, &driver->nodes, NULL, answer.data + number.at, number.len);
}

/* Adds the files that a folder of the function tells. */
static void add_listed(node_list *l, const cpubind_vendor_files *files)
{
    const int32_t n = (int32_t)strlen(files->start);
    char path[CPUBIND_DEVICE_INPUT_SIZE];
    const char *input = input_name(path, INPUT_PCI, l->function, files->folder);
    const cpubind_input listing = judge(l->out, input, l->source->list(l->source->ctx, input));
    cpubind_piece name;
    int32_t at = 0;
    while (facts_next_name(listing, &at, &name)) {
        const char *text = listing.data + name.at;
        int32_t i = n;
        if (name.len <= n || memcmp(text, files->start, (size_t)n) != 0)
            continue;
        while (i < name.len && text[i] >= '0' && text[i] <= '9')
            i++;
        if (i == name.len)
            add(l, &files->nodes, files, text + n, name.len - n);
    }
}

int cpubind_device_nodes_read(const cpubind_source *source, const cpubind_facts *facts,
                              cpubind_arena *arena, cpubind_device_nodes *out)
{
    node_list l = {.source = source, .out = out};
    memset(out, 0, sizeof *out);
    if (facts->n_bus > INT32_MAX / CPUBIND_DEVICE_FILES_MAX)
        return 0;
    out->row = (cpubind_device_node *)cpubind_arena_take(
        arena, facts->n_bus * CPUBIND_DEVICE_FILES_MAX, sizeof *out->row);
    out->failed = (char *)cpubind_arena_take(arena, CPUBIND_DEVICE_INPUT_SIZE, 1);
    if (!out->row || !out->failed)
        return 0;
    *out->failed = '\0';
    for (l.device = 0; l.device < facts->n_bus; l.device++) {
        const cpubind_vendor *v = cpubind_vendor_of(facts->bus[l.device].accelerator.vendor);
        l.function = &facts->bus[l.device];
        l.n_before = out->n;
        if (v->driver.folder)
            add_driven(&l, &v->driver);
        for (const cpubind_vendor_files *files = v->file; files->folder; files++)
            add_listed(&l, files);
    }
    return 1;
}

const char *cpubind_device_file(const cpubind_facts *facts, const cpubind_device_nodes *nodes,
                                int32_t device)
{
    const cpubind_vendor *v = cpubind_vendor_of(facts->bus[device].accelerator.vendor);
    for (int32_t i = 0; i < nodes->n; i++) {
        const cpubind_device_node *row = &nodes->row[i];
        if (row->device == device &&
            (v->driver.folder ? !row->bus : row->bus && !row->bus->is_display))
            return row->path;
    }
    return NULL;
}

/* == Numbers ================================================================ */

#define INPUT_DRIVERS "proc/devices"

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

/* The number of a file of a device. */
static void read_number(cpubind_device_nodes *nodes, const cpubind_source *source,
                        const cpubind_facts *facts, cpubind_input drivers,
                        cpubind_device_node *row)
{
    const cpubind_pci_function *function = &facts->bus[row->device];
    const cpubind_vendor_driver *driver =
        &cpubind_vendor_of(function->accelerator.vendor)->driver;
    const char *number = row->path + 2 + strlen(row->nodes->folder) + strlen(row->nodes->start);
    const size_t n = strlen(number);
    if (row->bus) {
        const char *const part[] = {row->bus->folder, "/", row->bus->start, number, "/dev"};
        char name[CPUBIND_DEVICE_INPUT_SIZE], leaf[CPUBIND_DEVICE_PATH_SIZE * 2];
        size_t at = 0;
        for (int i = 0; i < 5; i++) {
            memcpy(leaf + at, part[i], strlen(part[i]) + 1);
            at += strlen(part[i]);
        }
        read_pair(nodes, source, input_name(name, INPUT_PCI, function, leaf), &row->major,
                  &row->minor);
        return;
    }
    for (int i = 0; i < 2 && row->major < 0 && driver->name[i]; i++)
        row->major = driver_number(drivers, driver->name[i]);
    if (row->major < 0)
        row->major = driver->major;
    if (cpubind_number_parse(number, (int32_t)n, &row->minor, NULL) != CPUBIND_TEXT_OK)
        row->major = row->minor = -1;
}

int cpubind_device_numbers_read(const cpubind_source *source, const cpubind_facts *facts,
                                cpubind_device_nodes *nodes)
{
    const cpubind_input drivers =
        judge(nodes, INPUT_DRIVERS, source->read(source->ctx, INPUT_DRIVERS));
    int is_there[CPUBIND_VENDOR_COUNT] = {0};
    for (int32_t i = 0; i < facts->n_bus; i++)
        is_there[facts->bus[i].accelerator.vendor] = 1;
    for (int k = 0; k < CPUBIND_VENDOR_COUNT; k++) {
        const char *file = cpubind_vendor_of((cpubind_vendor_id)k)->compute_file;
        const char *numbered = cpubind_vendor_of((cpubind_vendor_id)k)->numbered;
        nodes->numbered_major[k] = numbered ? driver_number(drivers, numbered) : -1;
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
