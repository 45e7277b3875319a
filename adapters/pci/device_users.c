/* device_users.c - the device files of accelerators, by name and by number
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc.
 */
#include "device_users.h"

#include "../model/facts_reader.h"
#include "../text/cursor.h"

#define INPUT_DRIVERS "proc/devices"

/* Keeps the name of the first input that is there and could not be read: failed is not
 * absent. */
static cpubind_input judge(cpubind_device_nodes *nodes, const char *name, cpubind_input answer)
{
    if (!facts_is_present(answer) && answer.state != CPUBIND_INPUT_ABSENT && !*nodes->failed)
        nodes->failed = name;
    return answer;
}

/* == Names ================================================================== */

/* The state of one reading. */
typedef struct node_list {
    facts_reader r;
    const cpubind_host_device *function;
    cpubind_device_nodes *out;
    int32_t device;
} node_list;

/* Adds the file of a kind with this number, unless the function has many. `files`: how the bus
 * tells it; NULL: the driver does. Returns 0 without memory. */
static int add(node_list *l, int32_t number, const cpubind_vendor_nodes *nodes,
               const cpubind_vendor_files *files)
{
    cpubind_device_nodes *out = l->out;
    cpubind_device_node *row = &out->row[out->n];
    char leaf[CPUBIND_DEVICE_PATH_SIZE], *end;
    if (out->n >= CPUBIND_DEVICE_FILES_MAX &&
        out->row[out->n - CPUBIND_DEVICE_FILES_MAX].device == l->device)
        return 1;
    *row = (cpubind_device_node){
        .device = l->device, .number = number, .nodes = nodes, .major = -1, .minor = -1};
    end = facts_write_text(facts_write_text(row->path, "/"), nodes->folder);
    end = facts_write_text(facts_write_text(end, "/"), nodes->start);
    *facts_write_number(end, number) = '\0';
    if (files) {
        end = facts_write_text(facts_write_text(leaf, files->folder), "/");
        end = facts_write_number(facts_write_text(end, files->start), number);
        *facts_write_text(end, "/dev") = '\0';
        row->is_display = files->is_display;
        row->input = facts_function_path(&l->r, &l->function->pci, leaf);
    }
    out->n++;
    return !files || row->input;
}

/* Adds the file that a driver tells. */
static int add_driven(node_list *l, const cpubind_vendor_driver *driver)
{
    char address[CPUBIND_PCI_ADDRESS_MAX];
    const char *input;
    cpubind_input answer;
    cursor_text of;
    cursor all, value;
    int32_t number;
    (void)cpubind_pci_format(address, &l->function->pci);
    input = facts_named_path(&l->r, driver->folder, address, driver->leaf);
    if (!input)
        return 0;
    answer = judge(l->out, input, l->r.source->read(l->r.source->ctx, input));
    all = cursor_open(&of, answer.data, answer.len, NULL, facts_is_present(answer));
    if (!cursor_ok(&all) || !cursor_find(&all, driver->key, &value))
        return 1;
    value = cursor_trim(value);
    return cpubind_number_parse(value.text + value.at, cursor_len(&value), &number, NULL) !=
               CPUBIND_TEXT_OK ||
           number < 0 || add(l, number, &driver->nodes, NULL);
}

/* Adds the files that a folder of the function tells. */
static int add_listed(node_list *l, const cpubind_vendor_files *files)
{
    const char *input = facts_function_path(&l->r, &l->function->pci, files->folder);
    cpubind_input listing;
    cpubind_piece name;
    int32_t at = 0;
    if (!input)
        return 0;
    listing = judge(l->out, input, l->r.source->list(l->r.source->ctx, input));
    while (facts_next_name(listing, &at, &name)) {
        const int32_t number = facts_number_after(files->start, listing.data, name);
        if (number >= 0 && !add(l, number, &files->nodes, files))
            return 0;
    }
    return 1;
}

int cpubind_device_nodes_read(const cpubind_source *source, const cpubind_facts *facts,
                              cpubind_arena *arena, cpubind_device_nodes *out)
{
    node_list l = {.r = {.source = source, .arena = arena}, .out = out};
    int good = facts->n_bus <= INT32_MAX / CPUBIND_DEVICE_FILES_MAX;
    *out = (cpubind_device_nodes){.failed = ""};
    if (good)
        out->row = (cpubind_device_node *)cpubind_arena_take(
            arena, facts->n_bus * CPUBIND_DEVICE_FILES_MAX, sizeof *out->row);
    good = good && out->row;
    for (; l.device < facts->n_bus && good; l.device++) {
        const cpubind_vendor *v = cpubind_vendor_of(facts->bus[l.device].accelerator.vendor);
        l.function = &facts->bus[l.device];
        if (v->driver.folder)
            good = add_driven(&l, &v->driver);
        for (int k = 0; k < CPUBIND_VENDOR_FILES && v->file[k].folder && good; k++)
            good = add_listed(&l, &v->file[k]);
    }
    return good;
}

const char *cpubind_device_file(const cpubind_facts *facts, const cpubind_device_nodes *nodes,
                                int32_t device)
{
    const cpubind_vendor *v = cpubind_vendor_of(facts->bus[device].accelerator.vendor);
    for (int32_t i = 0; i < nodes->n; i++) {
        const cpubind_device_node *row = &nodes->row[i];
        if (row->device == device &&
            (v->driver.folder ? !row->input : row->input && !row->is_display))
            return row->path;
    }
    return NULL;
}

/* == Numbers ================================================================ */

/* Reads "226:128\n". */
static void read_pair(cpubind_device_nodes *nodes, const cpubind_source *source,
                      const char *name, int32_t *major, int32_t *minor)
{
    const cpubind_input answer = judge(nodes, name, source->read(source->ctx, name));
    cursor_text of;
    cursor c = cursor_open(&of, answer.data, answer.len, NULL, facts_is_present(answer));
    const int32_t left = (int32_t)cursor_number(&c, INT32_MAX);
    cursor_need(&c, ":", "a colon is missing");
    const int32_t right = (int32_t)cursor_number(&c, INT32_MAX);
    cursor_tail(&c);
    if (cursor_ok(&c)) {
        *major = left;
        *minor = right;
    }
}

/* The number of a driver of character devices, or -1. The list of block devices comes after a
 * line without text.
 *   drivers = header LF *( blanks number " " name LF ) LF ... */
static int32_t driver_number(cpubind_input drivers, const char *name)
{
    cursor_text of;
    cursor all = cursor_open(&of, drivers.data, drivers.len, NULL, 1), line;
    while (cursor_line(&all, &line) && cursor_left(&line)) {
        const cursor word = cursor_word(&line);
        int32_t number;
        if (cursor_takes(&line, " ") && cursor_is(line, name) &&
            cursor_is_number(word, INT32_MAX, &number))
            return number;
    }
    return -1;
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
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)k);
        nodes->numbered_major[k] = v->numbered ? driver_number(drivers, v->numbered) : -1;
        nodes->compute_major[k] = nodes->compute_minor[k] = -1;
        if (!is_there[k] || !v->compute_file)
            continue;
        if (memchr(v->compute_file, '/', strlen(v->compute_file))) {
            read_pair(nodes, source, v->compute_file, &nodes->compute_major[k],
                      &nodes->compute_minor[k]);
        } else {
            nodes->compute_major[k] = driver_number(drivers, v->compute_file);
            nodes->compute_minor[k] = 0;
        }
    }
    for (int32_t i = 0; i < nodes->n; i++) {
        cpubind_device_node *row = &nodes->row[i];
        const cpubind_vendor_driver *driver =
            &cpubind_vendor_of(facts->bus[row->device].accelerator.vendor)->driver;
        if (row->input) {
            read_pair(nodes, source, row->input, &row->major, &row->minor);
            continue;
        }
        for (int k = 0; k < 2 && row->major < 0 && driver->name[k]; k++)
            row->major = driver_number(drivers, driver->name[k]);
        if (row->major < 0)
            row->major = driver->major;
        row->minor = row->number;
    }
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
