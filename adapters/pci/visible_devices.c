/* visible_devices.c - which devices a runtime shows to a process, by its environment
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The rules are in visible_devices.h.
 */
#include "visible_devices.h"

#include "../text/cursor.h"

/* Steps to the next entry, without its comma; returns 0 after the last one. *entry is {0}
 * before the first one. An empty text has one entry, which is empty. */
static int next_entry(cursor *all, cursor *entry)
{
    if (entry->of && (entry->end == all->end || !cursor_ok(all)))
        return 0;
    *entry = cursor_cut(all, ',');
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

enum { NO_DEVICE = -1 };

int cpubind_is_gpu_uuid(const char *text, int32_t len)
{
    static const char form[] = "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    if (!text || len != (int32_t)sizeof form - 1)
        return 0;
    for (int32_t i = 0; i < len; i++)
        if (form[i] == 'x' ? !cursor_is_hex(text[i]) : text[i] != form[i])
            return 0;
    return 1;
}

/* The item whose UUID starts with the entry, and no other one. Fails where the UUID of another
 * device may start so too. */
static int32_t find_uuid(cursor entry, const cpubind_seen *all)
{
    int32_t found = NO_DEVICE, n_unknown = 0, n = 0;
    const int32_t len = cursor_len(&entry);
    for (int32_t i = 0; i < all->n; i++) {
        const cpubind_host_device *device = &all->bus[all->item[i].device];
        if (!cpubind_is_gpu_uuid(device->uuid, device->uuid_len)) {
            n_unknown++;
        } else if (len <= device->uuid_len &&
                   memcmp(entry.text + entry.at, device->uuid, (size_t)len) == 0) {
            found = i;
            n++;
        }
    }
    if (n_unknown > 0 && (n != 1 || len < all->bus[all->item[found].device].uuid_len))
        (void)cursor_fail(&entry, CPUBIND_TEXT_ERR_MISSING, entry.at,
                          "the UUID of a GPU is not known");
    return n == 1 ? found : NO_DEVICE;
}

/* The number that an entry is; NO_DEVICE: it is none, or larger than any device has. */
static int32_t read_number(int32_t grammar, cursor entry)
{
    int32_t base = 10, value = NO_DEVICE;
    if (grammar & CPUBIND_LIST_BLANKS)
        (void)cursor_takes(&entry, "+");
    if (cursor_starts(&entry, "0") && cursor_len(&entry) > 1) {
        if (!(grammar & CPUBIND_LIST_ZEROS))
            return NO_DEVICE;
        if (grammar & CPUBIND_LIST_BASES) {
            base = cursor_starts_as(&entry, "0x") ? 16 : 8;
            entry.at += base / 8;
        }
    }
    for (; cursor_left(&entry); entry.at++) {
        const int32_t digit = cursor_hex_value(entry.text[entry.at]);
        if (digit < 0 || digit >= base)
            break;
        value = (value < 0 ? 0 : value) * base + digit;
        if (value > CPUBIND_MAX_DEVICES)
            return NO_DEVICE;
    }
    return !cursor_left(&entry) || (grammar & CPUBIND_LIST_TAIL) ? value : NO_DEVICE;
}

/* The item that an entry names. */
static int32_t find_entry(int32_t grammar, cursor entry, const cpubind_seen *all,
                          int is_by_uuid)
{
    const cursor word = grammar & CPUBIND_LIST_BLANKS ? cursor_trim(entry) : entry;
    int32_t i;
    if (is_by_uuid)
        return cursor_starts(&entry, "GPU-") ? find_uuid(entry, all) : NO_DEVICE;
    if (!(grammar & CPUBIND_LIST_UUIDS) &&
        (grammar & CPUBIND_LIST_BLANKS ? cursor_starts_as(&word, "g")
                                       : cursor_starts(&word, "GPU-")))
        (void)cursor_fail(&word, CPUBIND_TEXT_ERR_MISSING, word.at,
                          "a GPU is named by its unique id, which no input has");
    i = read_number(grammar, word);
    if (i < 0 || i >= all->n)
        return NO_DEVICE;
    if (!all->has_order && (grammar & CPUBIND_LIST_OWN_ORDER))
        (void)cursor_fail(
            &entry, CPUBIND_TEXT_ERR_MISSING, entry.at,
            "GPUs that differ have CUDA's own order; set CUDA_DEVICE_ORDER=PCI_BUS_ID");
    return i;
}

/* == Lists ================================================================== */

static void read_list(int32_t grammar, cursor all_of, const cpubind_seen *all,
                      cpubind_seen *out)
{
    const int has_uuids = (grammar & CPUBIND_LIST_UUIDS) != 0;
    const int is_by_uuid = has_uuids && cursor_starts(&all_of, "GPU-");
    const int32_t most = grammar & CPUBIND_LIST_ALL_END ? all->n : INT32_MAX;
    cursor entry = {0};
    if (has_uuids && cursor_starts(&all_of, "MIG-"))
        (void)cursor_fail(&all_of, CPUBIND_TEXT_ERR_MISSING, 0,
                          "a MIG instance is named, and no file tells on which GPU it is");
    while (out->n < most && next_entry(&all_of, &entry)) {
        const int32_t i = find_entry(grammar, entry, all, is_by_uuid);
        const int is_new = i >= 0 && !has_seen(out, all->item[i].device);
        if (is_new)
            add(out, all->item[i].device, all->item[i].tile);
        else if (i >= 0 && (grammar & CPUBIND_LIST_REPEAT_HIDES))
            out->n = 0;
        if (!is_new && (i < 0 || !(grammar & CPUBIND_LIST_REPEAT_PASSES)))
            return;
    }
}

/* Whether a mask names an item, or this tile of it. */
static int is_masked(cursor mask, cpubind_seen_device item, int32_t i, int32_t tile)
{
    cursor entry = {0};
    int is_in = 0;
    while (next_entry(&mask, &entry)) {
        const int32_t named = (int32_t)cursor_number(&entry, INT32_MAX);
        const int32_t named_tile = item.tile < 0 && cursor_takes(&entry, ".")
                                       ? (int32_t)cursor_number(&entry, INT32_MAX)
                                       : -1;
        cursor_end(&entry, "a byte does not belong to a mask");
        is_in |= named == i && (named_tile < 0 || named_tile == tile);
    }
    return is_in;
}

static void read_mask(cursor mask, const cpubind_seen *all, cpubind_seen *out)
{
    for (int32_t i = 0; i < all->n; i++) {
        const cpubind_seen_device item = all->item[i];
        const int32_t first = out->n;
        const int32_t n_tile = item.tile < 0 ? all->bus[item.device].accelerator.n_tile : 1;
        for (int32_t tile = 0; tile < n_tile; tile++)
            if (is_masked(mask, item, i, tile))
                add(out, item.device, item.tile < 0 ? tile : item.tile);
        if (item.tile < 0 && out->n - first == n_tile) {
            out->n = first;
            add(out, item.device, -1);
        }
    }
}

cpubind_text_status cpubind_visible_devices(int32_t grammar, const char *text, int32_t len,
                                            const cpubind_seen *all, cpubind_seen *out,
                                            cpubind_text_fault *fault)
{
    cursor_text of;
    const cursor all_of = cursor_open(&of, text, len, fault, 1);
    out->n = 0;
    for (int32_t i = 0; len == 0 && (grammar & CPUBIND_LIST_EMPTY_IS_ALL) && i < all->n; i++)
        add(out, all->item[i].device, all->item[i].tile);
    if (len > 0 && (grammar & CPUBIND_LIST_MASK))
        read_mask(all_of, all, out);
    else if (len > 0)
        read_list(grammar, all_of, all, out);
    return of.status;
}
