/* pci.c - the rows of the readers of adapters/pci
 * SPDX-License-Identifier: MIT
 *
 * What each reader promises is in its header there.
 */
#include "../../adapters/pci/nvidia_files.h"
#include "../../adapters/pci/visible_devices.h"
#include "readers.h"

/* `read nvidia_find KEY` */
static void read_key(reading *r)
{
    cpubind_piece *value = OUT(r, cpubind_piece);
    const cpubind_text_status status =
        cpubind_nvidia_find(r->text, r->len, r->args, given(r, value), r->fault);
    CHECK(status == CPUBIND_TEXT_ERR_ARG || (*r->args && !strchr(r->args, ':')));
    if (!came(r, status))
        return;
    tell_slice(r, "value", *value);
    tell(r, "\n");
    CHECK(value->at >= (int32_t)strlen(r->args) + 1);
    for (int32_t i = 0; i < value->len; i++)
        CHECK((unsigned char)r->text[value->at + i] >= ' ');
    CHECK(value->len == 0 ||
          (r->text[value->at] != ' ' && r->text[value->at + value->len - 1] != ' '));
}

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
 * devices, "t" for two tiles a device, "u" for known UUIDs. */
static cpubind_runtime_devices runtime_of(const char *word)
{
    static const int32_t tiles[MAX] = {2, 2, 2, 2, 2, 2, 2, 2, 2};
    static const int32_t uuid_lens[MAX] = {40, 40, 40, 40, 40, 40, 0, 0, 0};
    const cpubind_runtime_devices runtime = {.n =
                                                 *word >= '0' && *word <= '8' ? *word - '0' : 4,
                                             .has_order = strchr(word, 'o') != NULL,
                                             .is_flat = strchr(word, 'f') != NULL,
                                             .n_tile = strchr(word, 't') ? tiles : NULL,
                                             .uuid = strchr(word, 'u') ? uuids : NULL,
                                             .uuid_len = uuid_lens};
    return runtime;
}

/* Every device or tile is there, and none is there twice. */
static void check_items(const cpubind_seen *seen, const cpubind_runtime_devices *runtime)
{
    CHECK(seen->n >= 0 && seen->n <= seen->cap);
    for (int32_t i = 0; i < seen->n; i++) {
        const cpubind_seen_device a = seen->item[i];
        CHECK(a.device >= 0 && a.device < runtime->n);
        CHECK(a.tile >= -1 && a.tile < (runtime->n_tile ? runtime->n_tile[a.device] : 1));
        for (int32_t k = 0; k < i; k++)
            CHECK(seen->item[k].device != a.device ||
                  (a.tile >= 0 && seen->item[k].tile >= 0 && seen->item[k].tile != a.tile));
    }
}

/* Says what a rule makes visible: the devices, with their tiles, and how many bytes were used.
 * The entry that ends a list, and all after it, make no difference. */
static void tell_seen(reading *r, const char *name, cpubind_visible_rule *rule)
{
    const cpubind_runtime_devices runtime = runtime_of(r->args);
    cpubind_seen_device item[2 * MAX], before[2 * MAX];
    cpubind_seen seen = {item, 2 * MAX, -7, -7}, again = {before, 2 * MAX, 0, 0};
    cpubind_text_fault fault = {-7, NULL};
    const cpubind_text_status status = rule(r->text, r->len, &runtime, &seen, &fault);
    int32_t len;
    tell(r, "%s: ", name);
    CHECK(rule(NULL, 1, &runtime, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
    if (status != CPUBIND_TEXT_OK) {
        CHECK(is_refusal(status) && seen.n == -7 && seen.used == -7);
        tell_fault(r, status, &fault, 0);
        return;
    }
    CHECK(seen.used >= 0 && seen.used <= r->len && !fault.what);
    check_items(&seen, &runtime);
    for (int32_t i = 0; i < seen.n; i++)
        tell(r, item[i].tile < 0 ? "%d " : "%d.%d ", item[i].device, item[i].tile);
    tell(r, "of %d bytes\n", seen.used);
    len = seen.used > 0 && r->text[seen.used - 1] == ',' ? seen.used - 1 : seen.used;
    if (len == 0 || seen.n == 0)
        return;
    CHECK(rule(r->text, len, &runtime, &again, NULL) == CPUBIND_TEXT_OK && again.n == seen.n);
    CHECK(is_same(before, item, (size_t)seen.n * sizeof *item));
}

static void read_rules(reading *r)
{
    tell_seen(r, "cuda", cpubind_cuda_parse);
    tell_seen(r, "rocr", cpubind_rocr_parse);
    tell_seen(r, "hip", cpubind_hip_parse);
    tell_seen(r, "ze", cpubind_ze_parse);
    CHECK(!cpubind_is_gpu_uuid(r->text, r->len) || r->len == 40);
}

static const reader rows[] = {
    {"nvidia_find", read_key, NULL, NULL, "proc", 512},
    {"visible_rules", read_rules, NULL, NULL, "visible_rules", 128},
};

READERS(rows)
