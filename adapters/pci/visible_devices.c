/* visible_devices.c - which devices a runtime shows to a process, by its environment
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The rules are in visible_devices.h.
 */
#include "visible_devices.h"

#include "../text/scan.h"

/* Tiles of a device. */
static int32_t tiles_of(const cpubind_runtime_devices *runtime, int32_t device)
{
    return runtime->n_tile ? runtime->n_tile[device] : 1;
}

/* The length that the caller's array needs: one element for each tile. */
static int32_t room_for(const cpubind_runtime_devices *runtime)
{
    int32_t n = 0;
    for (int32_t i = 0; i < runtime->n; i++)
        n += tiles_of(runtime, i);
    return n;
}

static int is_runtime(const cpubind_runtime_devices *runtime)
{
    if (!runtime || runtime->n < 0 || runtime->n > CPUBIND_MAX_DEVICES)
        return 0;
    for (int32_t i = 0; i < runtime->n; i++)
        if (tiles_of(runtime, i) < 1 || tiles_of(runtime, i) > CPUBIND_MAX_DEVICES)
            return 0;
    return 1;
}

/* The checks that all rules begin with. */
static cpubind_text_status begin(const scan_text *in, const cpubind_runtime_devices *runtime,
                                 cpubind_seen *out)
{
    if (!scan_is_text(in->text, in->len) || !is_runtime(runtime) || !out ||
        !scan_is_array(out->item, out->cap))
        return scan_fail_arg(in->fault);
    if (out->cap < room_for(runtime)) {
        out->n = room_for(runtime);
        return scan_fail_space(in);
    }
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status end(cpubind_seen *out, int32_t n, int32_t used)
{
    out->n = n;
    out->used = used;
    return CPUBIND_TEXT_OK;
}

/* Steps to the next entry, without its comma; returns 0 after the last one. *at starts at 0. An
 * empty text has one entry, which is empty. */
static int next_entry(const scan_text *in, int32_t *at, scan_run *entry)
{
    const char *comma;
    if (*at > in->len)
        return 0;
    comma = *at < in->len ? (const char *)memchr(in->text + *at, ',', (size_t)(in->len - *at))
                          : NULL;
    entry->at = *at;
    entry->end = comma ? (int32_t)(comma - in->text) : in->len;
    *at = entry->end + 1;
    return 1;
}

static int has_seen(const cpubind_seen *out, int32_t n, int32_t device)
{
    for (int32_t i = 0; i < n; i++)
        if (out->item[i].device == device)
            return 1;
    return 0;
}

static void add(cpubind_seen *out, int32_t *n, int32_t device, int32_t tile)
{
    out->item[*n].device = device;
    out->item[*n].tile = tile;
    ++*n;
}

/* == UUIDs ================================================================== */

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

enum { NO_DEVICE = -1, NOT_KNOWN = -2 };

/* The device whose UUID starts with the entry, and no other one: its index, NO_DEVICE, or
 * NOT_KNOWN where the UUID of another device may start so too. */
static int32_t find_uuid(const scan_text *in, scan_run entry,
                         const cpubind_runtime_devices *runtime)
{
    int32_t found = NO_DEVICE, n_unknown = 0, n = 0;
    const int32_t len = entry.end - entry.at;
    for (int32_t i = 0; i < runtime->n; i++) {
        const char *uuid = runtime->uuid ? runtime->uuid[i] : NULL;
        const int32_t uuid_len = uuid ? runtime->uuid_len[i] : 0;
        if (!cpubind_is_gpu_uuid(uuid, uuid_len)) {
            n_unknown++;
        } else if (len <= uuid_len && memcmp(in->text + entry.at, uuid, (size_t)len) == 0) {
            found = i;
            n++;
        }
    }
    if (n == 1 && len == runtime->uuid_len[found])
        return found;
    if (n_unknown > 0)
        return NOT_KNOWN;
    return n == 1 ? found : NO_DEVICE;
}

/* == CUDA =================================================================== */

/* The number at the start of an entry, as strtoul reads it; -1: there is none, or it is below 0
 * or larger than any device has. */
static int32_t read_loose_number(const scan_text *in, scan_run entry)
{
    int32_t value = -1;
    entry = scan_trim(in, entry);
    if (entry.at < entry.end && (in->text[entry.at] == '+'))
        entry.at++;
    for (; scan_starts_with_digit(in, entry); entry.at++) {
        value = (value < 0 ? 0 : value) * 10 + (in->text[entry.at] - '0');
        if (value > CPUBIND_MAX_DEVICES)
            return -1;
    }
    return value;
}

cpubind_text_status cpubind_cuda_parse(const char *text, int32_t len,
                                       const cpubind_runtime_devices *runtime,
                                       cpubind_seen *out, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    const scan_run all = {0, len};
    scan_run entry;
    int32_t at = 0, n = 0, is_by_uuid;
    cpubind_text_status status = begin(&in, runtime, out);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (SCAN_STARTS(&in, all, "MIG-"))
        return scan_fail(&in, CPUBIND_TEXT_ERR_MISSING, 0,
                         "a MIG instance is named, and no file tells on which GPU it is");
    is_by_uuid = SCAN_STARTS(&in, all, "GPU-");
    while (next_entry(&in, &at, &entry)) {
        int32_t device = NO_DEVICE;
        if (!is_by_uuid)
            device = read_loose_number(&in, entry);
        else if (SCAN_STARTS(&in, entry, "GPU-"))
            device = find_uuid(&in, entry, runtime);
        if (device == NOT_KNOWN)
            return scan_fail(&in, CPUBIND_TEXT_ERR_MISSING, entry.at,
                             "the UUID of a GPU is not known");
        if (device < 0 || device >= runtime->n)
            return end(out, n, entry.at);
        if (!is_by_uuid && !runtime->has_order)
            return scan_fail(
                &in, CPUBIND_TEXT_ERR_MISSING, entry.at,
                "GPUs that differ have CUDA's own order; set CUDA_DEVICE_ORDER=PCI_BUS_ID");
        if (has_seen(out, n, device))
            return end(out, 0, entry.at);
        add(out, &n, device, -1);
    }
    return end(out, n, len);
}

/* == ROCm =================================================================== */

/* The number that an entry is, as strtol with base 0 reads it; -1: it is none. */
static int32_t read_based_number(const scan_text *in, scan_run entry)
{
    int32_t base = 10, value = 0;
    entry = scan_trim(in, entry);
    if (entry.at < entry.end && in->text[entry.at] == '+')
        entry.at++;
    if (entry.end - entry.at > 1 && in->text[entry.at] == '0') {
        const int is_hex = scan_to_lower(in->text[entry.at + 1]) == 'x';
        base = is_hex ? 16 : 8;
        entry.at += is_hex ? 2 : 1;
    }
    if (scan_is_empty(entry))
        return -1;
    for (; entry.at < entry.end; entry.at++) {
        const int32_t digit = scan_hex_value(in->text[entry.at]);
        if (digit < 0 || digit >= base)
            return -1;
        value = value * base + digit;
        if (value > CPUBIND_MAX_DEVICES)
            return -1;
    }
    return value;
}

static cpubind_text_status fail_uuid(const scan_text *in, int32_t at)
{
    return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, at,
                     "a GPU is named by its unique id, which no input has");
}

cpubind_text_status cpubind_rocr_parse(const char *text, int32_t len,
                                       const cpubind_runtime_devices *runtime,
                                       cpubind_seen *out, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    scan_run entry;
    int32_t at = 0, n = 0;
    cpubind_text_status status = begin(&in, runtime, out);
    if (status != CPUBIND_TEXT_OK)
        return status;
    while (n < runtime->n && next_entry(&in, &at, &entry)) {
        const scan_run word = scan_trim(&in, entry);
        const int32_t device = read_based_number(&in, entry);
        if (!scan_is_empty(word) && scan_to_lower(text[word.at]) == 'g')
            return fail_uuid(&in, word.at);
        if (device < 0 || device >= runtime->n || has_seen(out, n, device))
            return end(out, n, entry.at);
        add(out, &n, device, -1);
    }
    return end(out, n, at > len ? len : at);
}

cpubind_text_status cpubind_hip_parse(const char *text, int32_t len,
                                      const cpubind_runtime_devices *runtime, cpubind_seen *out,
                                      cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    const scan_text quiet = {text, len, NULL};
    scan_run entry;
    int32_t at = 0, n = 0;
    cpubind_text_status status = begin(&in, runtime, out);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (len == 0)
        return cpubind_seen_all(runtime, out);
    while (next_entry(&in, &at, &entry)) {
        int32_t device;
        if (SCAN_STARTS(&in, entry, "GPU-"))
            return fail_uuid(&in, entry.at);
        if (scan_whole_number(&quiet, entry, CPUBIND_MAX_DEVICES, &device) != CPUBIND_TEXT_OK ||
            device >= runtime->n)
            return end(out, n, entry.at);
        if (!has_seen(out, n, device))
            add(out, &n, device, -1);
    }
    return end(out, n, len);
}

/* == Level Zero ============================================================= */

/* Takes the device or the tile of an entry: the device -1 when it is not there. */
static cpubind_text_status read_mask_entry(const scan_text *in, scan_run entry,
                                           const cpubind_runtime_devices *runtime,
                                           cpubind_seen_device *out)
{
    int32_t at = entry.at, number, tile = -1, device = 0;
    cpubind_text_status status = scan_number(in, &at, entry.end, INT32_MAX, &number);
    if (status == CPUBIND_TEXT_OK && at < entry.end && !runtime->is_flat &&
        in->text[at] == '.') {
        at++;
        status = scan_number(in, &at, entry.end, INT32_MAX, &tile);
    }
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (at < entry.end)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at, "a byte does not belong to a mask");
    if (runtime->is_flat) {
        for (tile = number; device < runtime->n && tile >= tiles_of(runtime, device); device++)
            tile -= tiles_of(runtime, device);
    } else {
        device = number;
    }
    out->device = device < runtime->n && tile < tiles_of(runtime, device) ? device : -1;
    out->tile = tile;
    return CPUBIND_TEXT_OK;
}

/* Whether a mask names a tile, or the whole device that has it. */
static cpubind_text_status is_masked(const scan_text *in,
                                     const cpubind_runtime_devices *runtime,
                                     cpubind_seen_device wanted, int *is_in)
{
    scan_run entry;
    int32_t at = 0;
    *is_in = 0;
    while (next_entry(in, &at, &entry)) {
        cpubind_seen_device named;
        const cpubind_text_status status = read_mask_entry(in, entry, runtime, &named);
        if (status != CPUBIND_TEXT_OK)
            return status;
        *is_in |=
            named.device == wanted.device && (named.tile < 0 || named.tile == wanted.tile);
    }
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_ze_parse(const char *text, int32_t len,
                                     const cpubind_runtime_devices *runtime, cpubind_seen *out,
                                     cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    int32_t n = 0;
    cpubind_text_status status = begin(&in, runtime, out);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (len == 0)
        return cpubind_seen_all(runtime, out);
    for (int32_t device = 0; device < runtime->n; device++) {
        const int32_t first = n;
        for (int32_t tile = 0; tile < tiles_of(runtime, device); tile++) {
            int is_in;
            status = is_masked(&in, runtime, (cpubind_seen_device){device, tile}, &is_in);
            if (status != CPUBIND_TEXT_OK)
                return status;
            if (is_in)
                add(out, &n, device, tile);
        }
        if (!runtime->is_flat && n - first == tiles_of(runtime, device)) {
            n = first;
            add(out, &n, device, -1);
        }
    }
    return end(out, n, len);
}

cpubind_text_status cpubind_seen_all(const cpubind_runtime_devices *runtime, cpubind_seen *out)
{
    const scan_text none = {NULL, 0, NULL};
    int32_t n = 0;
    const cpubind_text_status status = begin(&none, runtime, out);
    if (status != CPUBIND_TEXT_OK)
        return status;
    for (int32_t device = 0; device < runtime->n; device++) {
        if (!runtime->is_flat)
            add(out, &n, device, -1);
        for (int32_t tile = 0; runtime->is_flat && tile < tiles_of(runtime, device); tile++)
            add(out, &n, device, tile);
    }
    return end(out, n, 0);
}
