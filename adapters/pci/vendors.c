/* vendors.c - the table of vendors, and which PCI functions are accelerators
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc.
 */
#include "../model/facts_reader.h"

const cpubind_vendor *cpubind_vendor_of(cpubind_vendor_id id)
{
#define CPUBIND_X(name, row) &cpubind_vendor_##row,
    static const cpubind_vendor *const rows[] = {CPUBIND_VENDOR_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return rows[(uint32_t)id < CPUBIND_VENDOR_COUNT ? id : CPUBIND_VENDOR_OTHER];
}

const char *cpubind_vendor_word(cpubind_vendor_id id)
{
    return cpubind_vendor_of(id)->word;
}

/* Devices that no row knows, which are named by address or class: their files are those of most
 * drivers. */
const cpubind_vendor cpubind_vendor_other = {
    .word = "other",
    .file = {CPUBIND_FILES_DRM, CPUBIND_FILES_ACCEL},
};

enum { KINDS = CPUBIND_VENDOR_FILES + 2 };

/* Kind k of all vendors, of each those of its driver, then those of the bus; NULL: there is
 * none. */
static const cpubind_vendor_nodes *kind_of(int k, const cpubind_vendor_files **bus)
{
    const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)(k / KINDS));
    const int own = k % KINDS;
    *bus = own > 1 ? &v->file[own - 2] : NULL;
    if (own == 0)
        return v->driver.folder ? &v->driver.nodes : NULL;
    if (own == 1)
        return v->driver.parts.input ? &v->driver.parts : NULL;
    return (*bus)->folder && !(*bus)->is_display ? &(*bus)->nodes : NULL;
}

int cpubind_vendor_each_nodes(cpubind_vendor_visit *visit, void *ctx)
{
    int result = 0;
    for (int i = 0; i < CPUBIND_VENDOR_COUNT * KINDS && !result; i++) {
        const cpubind_vendor_files *bus, *before;
        const cpubind_vendor_nodes *nodes = kind_of(i, &bus), *other;
        int is_new = nodes != NULL;
        for (int k = 0; k < i && is_new; k++)
            is_new = !(other = kind_of(k, &before)) ||
                     strlen(other->input) != strlen(nodes->input) ||
                     memcmp(other->input, nodes->input, strlen(nodes->input)) != 0;
        if (is_new)
            result = visit(ctx, nodes, bus);
    }
    return result;
}

cpubind_vendor_id cpubind_vendor_listed(void)
{
    int i = 0;
    while (!cpubind_vendor_of((cpubind_vendor_id)i)->users)
        i++;
    return (cpubind_vendor_id)i;
}

void cpubind_device_name(cpubind_vendor_id vendor, int32_t number,
                         const cpubind_pci_address *pci, char out[CPUBIND_DEVICE_NAME_SIZE])
{
    const char *noun = cpubind_vendor_of(vendor)->noun;
    int32_t n = 0, len;
    out[0] = '\0';
    if (noun && number >= 0) {
        n = (int32_t)strlen(noun);
        memcpy(out, noun, (size_t)n);
        (void)cpubind_cpulist_format(&number, 1, out + n, CPUBIND_DEVICE_NAME_SIZE - n - 1,
                                     &len);
        out[n + len] = '\0';
    } else if (pci && pci->domain >= 0) {
        (void)cpubind_pci_format(out, pci);
    }
}

void cpubind_function_name(const cpubind_host_device *function,
                           char out[CPUBIND_DEVICE_NAME_SIZE])
{
    cpubind_device_name(function->accelerator.vendor,
                        function->n_number == 1 ? function->number[0] : -1, &function->pci,
                        out);
}

int32_t cpubind_facts_on_bus(const cpubind_facts *f, const cpubind_pci_address *pci)
{
    for (int32_t i = 0; i < f->n_bus; i++)
        if (cpubind_pci_compare(&f->bus[i].pci, pci) == 0)
            return i;
    return -1;
}

int32_t cpubind_recorded_name(const cpubind_facts *f, int32_t number, const char *address,
                              char out[CPUBIND_DEVICE_NAME_SIZE])
{
    cpubind_pci_address pci = {.domain = -1};
    int32_t on_bus;
    (void)cpubind_pci_parse(address, (int32_t)strlen(address), &pci, NULL);
    on_bus = pci.domain < 0 ? -1 : cpubind_facts_on_bus(f, &pci);
    if (on_bus < 0)
        cpubind_device_name(cpubind_vendor_listed(), number, &pci, out);
    else
        cpubind_function_name(&f->bus[on_bus], out);
    return on_bus;
}

cpubind_problem_code cpubind_listed_users_read(const cpubind_source *source,
                                               const cpubind_facts *facts, cpubind_arena *arena,
                                               cpubind_users *out, cpubind_problem *problem)
{
    const cpubind_vendor *vendor = cpubind_vendor_of(cpubind_vendor_listed());
    const cpubind_problem_code code = vendor->users(source, facts, arena, out, problem);
    if (code == CPUBIND_PROBLEM_NONE)
        out->driver = vendor;
    return code;
}

static int is_product(const cpubind_vendor_product *row, const cpubind_pci_ids *ids)
{
    int is_there = row->device[0] == 0 && row->class_code == ids->class_code;
    for (int i = 0; i < CPUBIND_VENDOR_IDS && row->device[i]; i++)
        is_there |= row->device[i] == ids->device;
    return is_there;
}

/* The row of a function among the products of a vendor; NULL: it is none of them. */
static const cpubind_vendor_product *find_product(const cpubind_vendor *v,
                                                  const cpubind_pci_ids *ids)
{
    for (int32_t i = 0; v->id == ids->vendor && i < v->n_product; i++)
        if (is_product(&v->product[i], ids))
            return &v->product[i];
    return NULL;
}

cpubind_accelerator cpubind_accelerator_of(const cpubind_pci_ids *ids)
{
    cpubind_accelerator found = {CPUBIND_VENDOR_OTHER, NULL, 1};
    for (int i = 0; i < CPUBIND_VENDOR_COUNT && ids->vendor >= 0; i++) {
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)i);
        const cpubind_vendor_product *product = find_product(v, ids);
        found.product = product                       ? product->name
                        : v->name && ids->device >= 0 ? v->name(ids->vendor, ids->device)
                                                      : NULL;
        if (!product && !found.product)
            continue;
        found.vendor = (cpubind_vendor_id)i;
        found.n_tile = product ? product->n_tile : 1;
        break;
    }
    return found;
}

cpubind_telling_ids cpubind_vendor_ids(int32_t vendor)
{
    for (int i = 0; i < CPUBIND_VENDOR_COUNT && vendor >= 0; i++) {
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)i);
        if (v->name && v->name(vendor, -1))
            return CPUBIND_IDS_DEVICE;
        if (v->id > 0 && v->id == vendor)
            return CPUBIND_IDS_CLASS;
    }
    return CPUBIND_IDS_NONE;
}
