/* device_list.c - the devices of the bus that no row has listed as those of a plan, by rank
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc.
 */
#include "facts_reader.h"

/* Whether inputs of its vendor have named this device: it is one of facts->device. */
static int is_found(const cpubind_facts *f, int32_t device)
{
    return f->has_listed && cpubind_vendor_of(f->bus[device].accelerator.vendor)->users;
}

int32_t cpubind_facts_device(const cpubind_facts *facts, int32_t row)
{
    for (int32_t i = 0; i < facts->n_device && row >= 0; i++)
        if (facts->device[i]->bus == row)
            return i;
    return -1;
}

int cpubind_facts_takes_others(const cpubind_facts *facts)
{
    return facts->rules == CPUBIND_RULES_NEAR && facts->strategy == CPUBIND_NEAR;
}

int cpubind_facts_is_blind(const cpubind_facts *facts)
{
    int is_blind = !facts->has_listed;
    for (int32_t i = 0; i < facts->n_bus; i++)
        is_blind &= facts->bus[i].sight == CPUBIND_SIGHT_HIDDEN;
    return is_blind;
}

int32_t cpubind_priv_first_other(const cpubind_facts *f)
{
    int32_t first = 0;
    for (int32_t i = 0; i < f->n_listed; i++)
        if (f->device[i]->logic < CPUBIND_MAX_DEVICES && f->device[i]->logic >= first)
            first = f->device[i]->logic + 1;
    return first;
}

/* == Ranks ================================================================== */

/* Whether this process may drive a device as one of those that are no found NPUs. */
static int is_ranked(const cpubind_facts *f, int32_t device)
{
    const cpubind_host_device *d = &f->bus[device];
    return d->sight != CPUBIND_SIGHT_HIDDEN && !is_found(f, device) &&
           (cpubind_facts_has_share(f, device) ||
            (d->parent >= 0 && d->sight == CPUBIND_SIGHT_VISIBLE));
}

/* Whether one runtime numbers all devices that are ranked. */
static int has_numbers(const cpubind_facts *f)
{
    cpubind_vendor_id vendor = CPUBIND_VENDOR_OTHER;
    for (int32_t i = 0; i < f->n_bus; i++) {
        const cpubind_host_device *device = &f->bus[i];
        if (!is_ranked(f, i))
            continue;
        if (device->n_number == 0 ||
            (vendor != CPUBIND_VENDOR_OTHER && vendor != device->accelerator.vendor))
            return 0;
        vendor = device->accelerator.vendor;
    }
    return vendor != CPUBIND_VENDOR_OTHER;
}

/* The device with the smallest number from `least` on, which becomes *number, and its tile; the
 * device -1: none. */
static cpubind_pci_rank next_by_number(const cpubind_facts *f, int32_t least, int32_t *number)
{
    cpubind_pci_rank best = {-1, -1};
    for (int32_t i = 0; i < f->n_bus; i++)
        for (int32_t k = 0; is_ranked(f, i) && k < f->bus[i].n_number; k++)
            if (f->bus[i].number[k] >= least &&
                (best.device < 0 || f->bus[i].number[k] < *number)) {
                best.device = i;
                best.tile = f->bus[i].accelerator.n_tile > 1 ? f->bus[i].tile[k] : -1;
                *number = f->bus[i].number[k];
            }
    return best;
}

int32_t cpubind_pci_ranks(const cpubind_facts *f, cpubind_pci_rank *out)
{
    int32_t n = 0, number = -1;
    if (!has_numbers(f)) {
        for (int32_t i = 0; i < f->n_bus; i++)
            if (is_ranked(f, i))
                out[n++] = (cpubind_pci_rank){i, -1};
        return n;
    }
    for (;;) {
        const int32_t least = number + 1;
        const cpubind_pci_rank next = next_by_number(f, least, &number);
        if (next.device < 0 || (number > least && !f->is_part))
            return n;
        out[n++] = next;
    }
}

int32_t cpubind_pci_number(const cpubind_host_device *device, int32_t tile)
{
    for (int32_t k = 0; k < device->n_number; k++)
        if (tile < 0 || device->tile[k] == tile)
            return device->number[k];
    return -1;
}

/* == Devices as those of a plan ============================================= */

/* Lets the rows of the bus that are no found NPUs take part. */
static void claim_others(cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_bus; i++) {
        if (is_found(f, i))
            continue;
        f->bus[i].n_device = cpubind_facts_has_share(f, i);
        f->bus[i].n_in_view = 0;
        f->bus[i].is_other = 1;
    }
    f->is_joined = 1;
}

/* Whether a plan is for a device that this process may see. Beside NPUs whose CPUs are this
 * process's own, one without files that it may open is of others. */
static int32_t is_visible(const cpubind_facts *f, int32_t device)
{
    return !f->has_listed || f->scope != CPUBIND_SCOPE_OWN ||
           f->runtime[f->bus[device].accelerator.vendor].n_file > 0;
}

/* Adds a device that this process may see, unless it is there or has no share. A part has the
 * CPUs of its card. */
static void add_seen(cpubind_facts *f, int32_t device, int32_t logic)
{
    cpubind_host_device *d = &f->bus[device];
    cpubind_host_device *card = d->parent < 0 ? d : &f->bus[d->parent];
    if (d->bus >= 0 || card->n_device == 0)
        return;
    card->n_in_view = 1;
    d->logic = logic;
    d->bus = device;
    d->function = d->parent < 0 ? device : d->parent;
    d->cpu = card->cpu;
    d->n_cpu = card->n_cpu;
    d->is_visible = is_visible(f, device);
    f->device[f->n_device++] = d;
}

cpubind_problem_code cpubind_priv_join(facts_reader *r, int is_for_others)
{
    cpubind_facts *f = r->facts;
    cpubind_host_device **const old = f->device;
    const int32_t base = cpubind_priv_first_other(f);
    f->rank = (cpubind_pci_rank *)cpubind_arena_take(r->arena, f->n_bus * CPUBIND_PCI_NUMBERS,
                                                     sizeof *f->rank);
    f->device = (cpubind_host_device **)cpubind_arena_take(r->arena, f->n_device + f->n_bus,
                                                           sizeof *f->device);
    if (!f->rank || !f->device)
        return facts_fail_memory(r);
    if (f->n_device > 0)
        memcpy(f->device, old, (size_t)f->n_device * sizeof *old);
    for (int32_t i = 0; i < f->n_device; i++) {
        const int32_t device = cpubind_facts_on_bus(f, &f->device[i]->pci);
        f->device[i]->is_asked = device < 0 ? !f->is_part : f->bus[device].is_asked;
        f->device[i]->is_visible &= f->device[i]->is_asked;
    }
    claim_others(f);
    f->n_rank = cpubind_pci_ranks(f, f->rank);
    for (int32_t k = 0; k < f->n_rank; k++)
        add_seen(f, f->rank[k].device, base + k);
    for (int32_t i = 0; i < f->n_bus; i++)
        if (is_ranked(f, i) || (is_for_others && !is_found(f, i)))
            add_seen(f, i, base + f->n_rank + i);
    return CPUBIND_PROBLEM_NONE;
}
