/* pci.c - the rows of the readers of adapters/pci
 * SPDX-License-Identifier: MIT
 *
 * What each reader promises is in its header there.
 */
#include "../../adapters/pci/visible_devices.h"
#include "readers.h"

/* == Visible devices ======================================================== */

enum { MAX = 9 };

static const char *const uuids[MAX] = {"GPU-8932f937-d72c-4106-c12f-20bd9faed9f6",
                                       "GPU-8932aaaa-d72c-4106-c12f-20bd9faed9f6",
                                       "GPU-00000000-0000-0000-0000-000000000001",
                                       "GPU-00000000-0000-0000-0000-000000000002",
                                       "GPU-ffffffff-0000-0000-0000-000000000003",
                                       "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
                                       NULL};

/* The arguments: a digit for the number of devices, "o" for a known order, "f" for tiles as
 * devices where the rule may have these, "t" for two tiles a device, "u" for known UUIDs. */
static cpubind_seen devices_of(const char *word, int32_t grammar, cpubind_host_device *bus,
                               cpubind_seen_device *item)
{
    const int is_flat = (grammar & CPUBIND_LIST_OF_TILES) && strchr(word, 'f');
    cpubind_seen all = {.bus = bus, .item = item, .has_order = strchr(word, 'o') != NULL};
    const int32_t n = *word >= '0' && *word <= '8' ? *word - '0' : 4;
    for (int32_t i = 0; i < n; i++) {
        bus[i] = (cpubind_host_device){.accelerator.n_tile = strchr(word, 't') ? 2 : 1};
        bus[i].uuid = strchr(word, 'u') ? uuids[i] : NULL;
        bus[i].uuid_len = bus[i].uuid ? 40 : 0;
        for (int32_t k = 0; is_flat && k < bus[i].accelerator.n_tile; k++)
            item[all.n++] = (cpubind_seen_device){i, k};
        if (!is_flat)
            item[all.n++] = (cpubind_seen_device){i, -1};
    }
    return all;
}

/* Every device or tile is there, and none is there twice. */
static void check_items(const cpubind_seen *seen, const cpubind_seen *all)
{
    CHECK(seen->n >= 0 && seen->n <= 2 * MAX);
    for (int32_t i = 0; i < seen->n; i++) {
        const cpubind_seen_device a = seen->item[i];
        CHECK(a.device >= 0 && a.device <= (all->n ? all->item[all->n - 1].device : -1));
        CHECK(a.tile >= -1 && a.tile < all->bus[a.device].accelerator.n_tile);
        for (int32_t k = 0; k < i; k++)
            CHECK(seen->item[k].device != a.device ||
                  (a.tile >= 0 && seen->item[k].tile >= 0 && seen->item[k].tile != a.tile));
    }
}

/* Says what a rule makes visible: the devices, with their tiles. */
static void tell_seen(reading *r, const char *name, int32_t grammar)
{
    cpubind_host_device bus[MAX];
    cpubind_seen_device whole[2 * MAX], item[2 * MAX];
    const cpubind_seen all = devices_of(r->args, grammar, bus, whole);
    cpubind_seen seen = {.item = item};
    cpubind_text_fault fault = {-7, NULL};
    const cpubind_text_status status =
        cpubind_visible_devices(grammar, r->text, r->len, &all, &seen, &fault);
    tell(r, status == CPUBIND_TEXT_OK ? "%s:" : "%s: ", name);
    if (status != CPUBIND_TEXT_OK) {
        CHECK(is_refusal(status));
        tell_fault(r, status, &fault, 0);
        return;
    }
    CHECK(!fault.what);
    check_items(&seen, &all);
    for (int32_t i = 0; i < seen.n; i++)
        tell(r, item[i].tile < 0 ? " %d" : " %d.%d", item[i].device, item[i].tile);
    tell(r, "\n");
}

static void read_rules(reading *r)
{
    tell_seen(r, "cuda", CPUBIND_LIST_CUDA);
    tell_seen(r, "rocr", CPUBIND_LIST_ROCR);
    tell_seen(r, "hip", CPUBIND_LIST_HIP);
    tell_seen(r, "ze", CPUBIND_LIST_ZE);
    CHECK(!cpubind_is_gpu_uuid(r->text, r->len) || r->len == 40);
}

static const reader rows[] = {
    {"visible_rules", read_rules, NULL, NULL, "visible_rules", 128},
};

READERS(rows)
