/* fuzz_visible_rules.c - fuzz target: the visible devices of each runtime, by its variable
 * SPDX-License-Identifier: MIT
 *
 * The first line of the input is a word of options: a digit for the number of devices, "o" for
 * a known order, "f" for tiles as devices, "t" for two tiles a device, "u" for known UUIDs. The
 * rest is the value of the variable, which each rule reads.
 */
#include "../fuzz.h"

#include "../../adapters/pci/visible_devices.h"

enum { MAX = 9 };

static const char *const uuids[MAX] = {"GPU-8932f937-d72c-4106-c12f-20bd9faed9f6",
                                       "GPU-8932aaaa-d72c-4106-c12f-20bd9faed9f6",
                                       "GPU-00000000-0000-0000-0000-000000000001",
                                       "GPU-00000000-0000-0000-0000-000000000002",
                                       "GPU-ffffffff-0000-0000-0000-000000000003",
                                       "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
                                       NULL};
static const int32_t uuid_lens[MAX] = {40, 40, 40, 40, 40, 40, 0, 0, 0};

/* Every device or tile is there, and none is there twice. */
static void check_items(const cpubind_seen *seen, const cpubind_runtime_devices *runtime)
{
    for (int32_t i = 0; i < seen->n; i++) {
        const cpubind_seen_device a = seen->item[i];
        CHECK(a.device >= 0 && a.device < runtime->n);
        CHECK(a.tile >= -1 && a.tile < (runtime->n_tile ? runtime->n_tile[a.device] : 1));
        for (int32_t k = 0; k < i; k++)
            CHECK(seen->item[k].device != a.device ||
                  (a.tile >= 0 && seen->item[k].tile >= 0 && seen->item[k].tile != a.tile));
    }
}

/* The entry that ends a list, and all after it, make no difference. */
static void check_rest(cpubind_visible_rule *rule, const char *text, const cpubind_seen *seen,
                       const cpubind_runtime_devices *runtime)
{
    cpubind_seen_device item[2 * MAX];
    cpubind_seen again = {item, 2 * MAX, 0, 0};
    const int32_t len =
        seen->used > 0 && text[seen->used - 1] == ',' ? seen->used - 1 : seen->used;
    if (len == 0 || seen->n == 0)
        return;
    CHECK(rule(text, len, runtime, &again, NULL) == CPUBIND_TEXT_OK);
    CHECK(again.n == seen->n);
    CHECK(memcmp(item, seen->item, (size_t)seen->n * sizeof *item) == 0);
}

static void check_rule(cpubind_visible_rule *rule, const char *text, int32_t len,
                       const cpubind_runtime_devices *runtime)
{
    cpubind_seen_device item[2 * MAX];
    cpubind_seen seen = {item, 2 * MAX, -7, -7};
    cpubind_text_fault fault = {-7, NULL};
    const cpubind_text_status status = rule(text, len, runtime, &seen, &fault);
    if (status == CPUBIND_TEXT_OK) {
        CHECK(seen.n >= 0 && seen.n <= seen.cap && seen.used >= 0 && seen.used <= len);
        CHECK(fault.what == NULL);
        check_items(&seen, runtime);
        check_rest(rule, text, &seen, runtime);
        return;
    }
    CHECK(status == CPUBIND_TEXT_ERR_MISSING || status == CPUBIND_TEXT_ERR_SYNTAX ||
          status == CPUBIND_TEXT_ERR_RANGE);
    CHECK(seen.n == -7 && seen.used == -7);
    fuzz_check_fault(&fault, len);
}

static void check_text(const char *text, int32_t len, const char *word)
{
    static const int32_t tiles[MAX] = {2, 2, 2, 2, 2, 2, 2, 2, 2};
    cpubind_runtime_devices runtime;
    memset(&runtime, 0, sizeof runtime);
    runtime.n = *word >= '0' && *word <= '8' ? *word - '0' : 4;
    runtime.has_order = strchr(word, 'o') != NULL;
    runtime.is_flat = strchr(word, 'f') != NULL;
    runtime.n_tile = strchr(word, 't') ? tiles : NULL;
    runtime.uuid = strchr(word, 'u') ? uuids : NULL;
    runtime.uuid_len = uuid_lens;
    check_rule(cpubind_cuda_parse, text, len, &runtime);
    check_rule(cpubind_rocr_parse, text, len, &runtime);
    check_rule(cpubind_hip_parse, text, len, &runtime);
    check_rule(cpubind_ze_parse, text, len, &runtime);
    CHECK(cpubind_cuda_parse(NULL, 1, &runtime, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_rocr_parse(NULL, 1, &runtime, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_hip_parse(NULL, 1, &runtime, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_ze_parse(NULL, 1, &runtime, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(!cpubind_is_gpu_uuid(text, len) || len == 40);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_named_input(data, size, check_text);
}
