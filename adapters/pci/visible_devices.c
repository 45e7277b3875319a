/* visible_devices.c - which devices a runtime shows to a process, by its environment
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The rules are in visible_devices.h.
 */
#include "visible_devices.h"

#include "../text/scan.h"

/* Steps to the next entry, without its comma; returns 0 after the last one. *at starts at 0. An
 * empty text has one entry, which is empty. */
static int next_entry(const scan_text *in, int32_t *at, scan_run *entry)
{
    *entry = (scan_run){*at, *at};
    if (*at > in->len)
        return 0;
    while (entry->end < in->len && in->text[entry->end] != ',')
        entry->end++;
    *at = entry->end + 1;
    return 1;
}

static void add(cpubind_seen *out, int32_t device, int32_t tile)
{
    out->item[out->n++] = (cpubind_seen_device){device, tile};
}

static int has_seen(const cpubind_seen *out, int32_t device)
{
    for (int32_t i = 0; i < out->n; i++)
        if (out->item[i].device == device)
            return 1;
    return 0;
}

/* == What an entry names ==================================================== */

enum { NO_DEVICE = -1, NOT_KNOWN = -2 };

int cpubind_is_gpu_uuid(const char *text, int32_t len)
{
    static const char form[] = "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    if (!text || len != (int32_t)sizeof form - 1)
        return 0;
    for (int32_t i = 0; i < len; i++)
        if (form[i] == 'x' ? scan_hex_value(text[i]) < 0 : text[i] != form[i])
            return 0;
    return 1;
}

/* The item whose UUID starts with the entry, and no other one; NOT_KNOWN where the UUID of
 * another device may start so too. */
static int32_t find_uuid(const scan_text *in, scan_run entry, const cpubind_seen *all)
{
    int32_t found = NO_DEVICE, n_unknown = 0, n = 0;
    const int32_t len = entry.end - entry.at;
    for (int32_t i = 0; i < all->n; i++) {
        const cpubind_pci_function *device = &all->bus[all->item[i].device];
        if (!cpubind_is_gpu_uuid(device->uuid, device->uuid_len)) {
            n_unknown++;
        } else if (len <= device->uuid_len && scan_starts(in, entry, device->uuid, len)) {
            found = i;
            n++;
        }
    }
    if (n == 1 && len == all->bus[all->item[found].device].uuid_len)
        return found;
    if (n_unknown > 0)
        return NOT_KNOWN;
    return n == 1 ? found : NO_DEVICE;
}

/* The number that an entry is; NO_DEVICE: it is none, or larger than any device has. */
static int32_t read_number(int32_t grammar, const scan_text *in, scan_run entry)
{
    int32_t base = 10, value = NO_DEVICE;
    if ((grammar & CPUBIND_LIST_BLANKS) && SCAN_STARTS(in, entry, "+"))
        entry.at++;
    if (entry.end - entry.at > 1 && in->text[entry.at] == '0') {
        const int is_hex = scan_to_lower(in->text[entry.at + 1]) == 'x';
        if (!(grammar & CPUBIND_LIST_ZEROS))
            return NO_DEVICE;
        if (grammar & CPUBIND_LIST_BASES) {
            base = is_hex ? 16 : 8;
            entry.at += is_hex ? 2 : 1;
        }
    }
    for (; entry.at < entry.end; entry.at++) {
        const int32_t digit = scan_hex_value(in->text[entry.at]);
        if (digit < 0 || digit >= base)
            break;
        value = (value < 0 ? 0 : value) * base + digit;
        if (value > CPUBIND_MAX_DEVICES)
            return NO_DEVICE;
    }
    return entry.at == entry.end || (grammar & CPUBIND_LIST_TAIL) ? value : NO_DEVICE;
}

/* Whether a word is a unique id, in a list whose rule knows numbers alone. */
static int is_unique_id(int32_t grammar, const scan_text *in, scan_run word)
{
    if (grammar & CPUBIND_LIST_BLANKS)
        return !scan_is_empty(word) && scan_to_lower(in->text[word.at]) == 'g';
    return SCAN_STARTS(in, word, "GPU-");
}

/* Finds the item that an entry names. */
static cpubind_text_status find_entry(int32_t grammar, const scan_text *in, scan_run entry,
                                      const cpubind_seen *all, int is_by_uuid, int32_t *out)
{
    const scan_run word = grammar & CPUBIND_LIST_BLANKS ? scan_trim(in, entry) : entry;
    *out = NO_DEVICE;
    if (is_by_uuid) {
        *out = SCAN_STARTS(in, entry, "GPU-") ? find_uuid(in, entry, all) : NO_DEVICE;
        return *out == NOT_KNOWN ? scan_fail(in, CPUBIND_TEXT_ERR_MISSING, entry.at,
                                             "the UUID of a GPU is not known")
                                 : CPUBIND_TEXT_OK;
    }
    if (!(grammar & CPUBIND_LIST_UUIDS) && is_unique_id(grammar, in, word))
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, word.at,
                         "a GPU is named by its unique id, which no input has");
    *out = read_number(grammar, in, word);
    if (*out >= all->n)
        *out = NO_DEVICE;
    if (*out < 0 || all->has_order || !(grammar & CPUBIND_LIST_OWN_ORDER))
        return CPUBIND_TEXT_OK;
    return scan_fail(
        in, CPUBIND_TEXT_ERR_MISSING, entry.at,
        "GPUs that differ have CUDA's own order; set CUDA_DEVICE_ORDER=PCI_BUS_ID");
}

/* == Lists ================================================================== */

static cpubind_text_status read_list(int32_t grammar, const scan_text *in,
                                     const cpubind_seen *all, cpubind_seen *out)
{
    const scan_run whole = {0, in->len};
    const int has_uuids = (grammar & CPUBIND_LIST_UUIDS) != 0;
    const int32_t most = grammar & CPUBIND_LIST_ALL_END ? all->n : INT32_MAX;
    scan_run entry;
    int32_t at = 0, i;
    if (has_uuids && SCAN_STARTS(in, whole, "MIG-"))
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, 0,
                         "a MIG instance is named, and no file tells on which GPU it is");
    while (out->n < most && next_entry(in, &at, &entry)) {
        const cpubind_text_status status = find_entry(
            grammar, in, entry, all, has_uuids && SCAN_STARTS(in, whole, "GPU-"), &i);
        if (status != CPUBIND_TEXT_OK)
            return status;
        if (i >= 0 && !has_seen(out, all->item[i].device)) {
            add(out, all->item[i].device, all->item[i].tile);
        } else if (i < 0 || !(grammar & CPUBIND_LIST_REPEAT_PASSES)) {
            if (i >= 0 && (grammar & CPUBIND_LIST_REPEAT_HIDES))
                out->n = 0;
            return CPUBIND_TEXT_OK;
        }
    }
    return CPUBIND_TEXT_OK;
}

/* Whether a mask names an item, or this tile of it. */
static cpubind_text_status is_masked(const scan_text *in, cpubind_seen_device item, int32_t i,
                                     int32_t tile, int *is_in)
{
    scan_run entry;
    int32_t at = 0;
    *is_in = 0;
    while (next_entry(in, &at, &entry)) {
        int32_t named, named_tile = -1;
        cpubind_text_status status = scan_number(in, &entry.at, entry.end, INT32_MAX, &named);
        if (status == CPUBIND_TEXT_OK && item.tile < 0 && SCAN_STARTS(in, entry, ".")) {
            entry.at++;
            status = scan_number(in, &entry.at, entry.end, INT32_MAX, &named_tile);
        }
        if (status != CPUBIND_TEXT_OK)
            return status;
        if (!scan_is_empty(entry))
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, entry.at,
                             "a byte does not belong to a mask");
        *is_in |= named == i && (named_tile < 0 || named_tile == tile);
    }
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status read_mask(const scan_text *in, const cpubind_seen *all,
                                     cpubind_seen *out)
{
    for (int32_t i = 0; i < all->n; i++) {
        const cpubind_seen_device item = all->item[i];
        const int32_t first = out->n;
        const int32_t n_tile = item.tile < 0 ? all->bus[item.device].accelerator.n_tile : 1;
        for (int32_t tile = 0; tile < n_tile; tile++) {
            int is_in;
            const cpubind_text_status status = is_masked(in, item, i, tile, &is_in);
            if (status != CPUBIND_TEXT_OK)
                return status;
            if (is_in)
                add(out, item.device, item.tile < 0 ? tile : item.tile);
        }
        if (item.tile < 0 && out->n - first == n_tile) {
            out->n = first;
            add(out, item.device, -1);
        }
    }
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_visible_devices(int32_t grammar, const char *text, int32_t len,
                                            const cpubind_seen *all, cpubind_seen *out,
                                            cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    out->n = 0;
    for (int32_t i = 0; len == 0 && (grammar & CPUBIND_LIST_EMPTY_IS_ALL) && i < all->n; i++)
        add(out, all->item[i].device, all->item[i].tile);
    if (len == 0)
        return CPUBIND_TEXT_OK;
    return grammar & CPUBIND_LIST_MASK ? read_mask(&in, all, out)
                                       : read_list(grammar, &in, all, out);
}
