/* test_visible_devices.c - the visible devices of each runtime, by its variable
 * SPDX-License-Identifier: MIT
 */
#include "../text/text_test.h"

#include "../../adapters/pci/visible_devices.h"

enum { N = 4 };

#define UUID_A "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
#define UUID_B "GPU-8932aaaa-d72c-4106-c12f-20bd9faed9f6"
#define UUID_C "GPU-00000000-0000-0000-0000-000000000001"
#define UUID_X "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"

/* One text and what its rule must say: the devices in order, "0 2" or "0.1 1.0" with tiles; the
 * text of a status that is not OK. */
typedef struct visible_case {
    const char *text, *expected;
    int32_t used; /* bytes; -1: not checked */
} visible_case;

static void write_seen(const cpubind_seen *seen, char *out)
{
    *out = '\0';
    for (int32_t i = 0; i < seen->n; i++) {
        out += sprintf(out, "%s%d", i ? " " : "", (int)seen->item[i].device);
        if (seen->item[i].tile >= 0)
            out += sprintf(out, ".%d", (int)seen->item[i].tile);
    }
}

static void check_case(cpubind_visible_rule *rule, const cpubind_runtime_devices *runtime,
                       const visible_case *c)
{
    const int32_t len = (int32_t)strlen(c->text);
    char *text = edge_text(c->text, len);
    cpubind_seen_device item[2 * N];
    cpubind_seen seen = {item, 2 * N, -7, -7};
    cpubind_text_fault fault = no_fault;
    char got[64];
    const cpubind_text_status status = rule(text, len, runtime, &seen, &fault);
    if (status == CPUBIND_TEXT_OK) {
        write_seen(&seen, got);
        assert_true(seen.used >= 0 && seen.used <= len);
        if (c->used >= 0)
            assert_int_equal(seen.used, c->used);
    } else {
        strcpy(got, cpubind_text_status_name(status));
        assert_fault(&fault, len);
        assert_int_equal(seen.n, -7);
    }
    if (strcmp(got, c->expected) != 0)
        print_error("\"%s\": expected \"%s\", got \"%s\"\n", c->text, c->expected, got);
    assert_string_equal(got, c->expected);
    free(text);
}

#define CHECK_ALL(rule, runtime, cases)                                                        \
    for (int32_t i = 0; i < LENGTH(cases); i++)                                                \
    check_case((rule), (runtime), &(cases)[i])

static const char *const uuids[N] = {UUID_A, UUID_B, UUID_C, NULL};
static const int32_t uuid_lens[N] = {40, 40, 40, 0};

TEST(cuda_reads_numbers_up_to_the_first_that_no_device_has)
{
    static const cpubind_runtime_devices all = {.n = N, .has_order = 1};
    static const visible_case cases[] = {
        {"", "", 0},
        {"0", "0", 1},
        {"2,1", "2 1", 3},
        {"0,1,2,3", "0 1 2 3", 7},
        {"0,2,-1,1", "0 2", 4},
        {"4", "", 0},
        {"1,9,0", "1", 2},
        {"1,,0", "1", 2},
        {"-1", "", 0},
        {"NoDevFiles", "", 0},
        {"1gpu2,2ampere", "1 2", 13},
        {" 1 , 2 ", "1 2", 7},
        {"+3", "3", 2},
        {"0,0", "", 2},
        {"1,2,1", "", 4},
        {"1,GPU-8932f937", "1", 2},
        {"01", "1", 2},
        {"99999999999999999999", "", 0},
        {"0,", "0", 2},
    };
    CHECK_ALL(cpubind_cuda_parse, &all, cases);
}

TEST(cuda_reads_uuids_by_their_first_characters)
{
    static const cpubind_runtime_devices three = {
        .n = 3, .has_order = 0, .uuid = uuids, .uuid_len = uuid_lens};
    static const visible_case cases[] = {
        {UUID_A, "0", 40},
        {UUID_B "," UUID_A, "1 0", 81},
        {"GPU-8932f", "0", 9},
        {"GPU-8932", "", 0},
        {"GPU-00", "2", 6},
        {"GPU-00,GPU-8932a", "2 1", 16},
        {"GPU-00,1", "2", 7},
        {"GPU-00,MIG-1", "2", 7},
        {"GPU-00,GPU-0000", "", 7},
        {"GPU-ff", "", 0},
        {"MIG-GPU-8932f937/1/0", "ERR_MISSING", -1},
        {"MIG-8932f937", "ERR_MISSING", -1},
        {"1", "ERR_MISSING", -1},
        {"7", "", 0},
    };
    CHECK_ALL(cpubind_cuda_parse, &three, cases);
}

TEST(a_uuid_that_no_file_tells_leaves_the_answer_open)
{
    static const char *const redacted[2] = {UUID_X, UUID_X};
    static const int32_t lens[2] = {40, 40};
    static const cpubind_runtime_devices some = {
        .n = N, .has_order = 1, .uuid = uuids, .uuid_len = uuid_lens};
    static const cpubind_runtime_devices none = {
        .n = 2, .has_order = 1, .uuid = redacted, .uuid_len = lens};
    static const cpubind_runtime_devices no_list = {.n = 2, .has_order = 1};
    static const visible_case whole = {UUID_C, "2", 40};
    static const visible_case part = {"GPU-00", "ERR_MISSING", -1};
    static const visible_case hidden = {UUID_X, "ERR_MISSING", -1};
    check_case(cpubind_cuda_parse, &some, &whole);
    check_case(cpubind_cuda_parse, &some, &part);
    check_case(cpubind_cuda_parse, &none, &hidden);
    check_case(cpubind_cuda_parse, &no_list, &part);
    assert_true(cpubind_is_gpu_uuid(UUID_A, 40));
    assert_false(cpubind_is_gpu_uuid(UUID_A, 39));
    assert_false(cpubind_is_gpu_uuid(UUID_X, 40));
    assert_false(cpubind_is_gpu_uuid("GPU-8932f937 d72c-4106-c12f-20bd9faed9f6", 40));
    assert_false(cpubind_is_gpu_uuid(NULL, 40));
}

TEST(rocr_reads_as_many_entries_as_there_are_devices)
{
    static const cpubind_runtime_devices all = {.n = N, .has_order = 1};
    static const visible_case cases[] = {
        {"", "", 0},
        {"3,0", "3 0", 3},
        {" 1 ,2", "1 2", 5},
        {"0x2,03", "2 3", 6},
        {"08", "", 0},
        {"0,0,1", "0", 2},
        {"1,4,2", "1", 2},
        {"1,two", "1", 2},
        {"1,,2", "1", 2},
        {"-1", "", 0},
        {"+2", "2", 2},
        {"0,1,2,3,junk", "0 1 2 3", 8},
        {"GPU-1b2c", "ERR_MISSING", -1},
        {"0,gpu-1", "ERR_MISSING", -1},
        {"1a", "", 0},
    };
    CHECK_ALL(cpubind_rocr_parse, &all, cases);
}

TEST(hip_passes_over_a_repeat_and_takes_an_empty_text_for_all)
{
    static const cpubind_runtime_devices all = {.n = N, .has_order = 1};
    static const visible_case cases[] = {
        {"", "0 1 2 3", 0}, {"2,0", "2 0", 3}, {"1,1,3", "1 3", 5},
        {"1,4,2", "1", 2},  {" 1", "", 0},     {"01", "", 0},
        {"1, 2", "1", 2},   {"-1", "", 0},     {"0,GPU-1b2c", "ERR_MISSING", -1},
        {"1,", "1", 2},
    };
    CHECK_ALL(cpubind_hip_parse, &all, cases);
}

TEST(level_zero_numbers_tiles_or_devices_and_keeps_their_order)
{
    static const int32_t tiles[] = {2, 1, 2};
    static const cpubind_runtime_devices flat = {.n = 3, .is_flat = 1, .n_tile = tiles};
    static const cpubind_runtime_devices composite = {.n = 3, .n_tile = tiles};
    static const visible_case by_tile[] = {
        {"", "0.0 0.1 1.0 2.0 2.1", 0},
        {"0", "0.0", 1},
        {"3,1", "0.1 2.0", 3},
        {"2", "1.0", 1},
        {"9,0", "0.0", 3},
        {"0,0", "0.0", 3},
        {"0.1", "ERR_SYNTAX", -1},
        {"x", "ERR_SYNTAX", -1},
        {"0,", "ERR_SYNTAX", -1},
        {"99999999999", "ERR_RANGE", -1},
    };
    static const visible_case by_device[] = {
        {"", "0 1 2", 0},
        {"2,0", "0 2", 3},
        {"0.1,2.0", "0.1 2.0", 7},
        {"0.0,0.1", "0", 7},
        {"1.0", "1", 3},
        {"1.1", "", 3},
        {"7", "", 1},
        {"0,0.1", "0", 5},
        {"0.1.2", "ERR_SYNTAX", -1},
        {"0.", "ERR_SYNTAX", -1},
    };
    CHECK_ALL(cpubind_ze_parse, &flat, by_tile);
    CHECK_ALL(cpubind_ze_parse, &composite, by_device);
}

TEST(bad_arguments_and_small_arrays_are_refused)
{
    static cpubind_visible_rule *const rules[] = {cpubind_cuda_parse, cpubind_rocr_parse,
                                                  cpubind_hip_parse, cpubind_ze_parse};
    static const int32_t no_tile[] = {0};
    cpubind_seen_device item[N];
    cpubind_seen seen = {item, N - 1, 0, 0};
    const cpubind_runtime_devices all = {.n = N, .has_order = 1};
    const cpubind_runtime_devices too_many = {.n = CPUBIND_MAX_DEVICES + 1};
    const cpubind_runtime_devices empty = {.n = 1, .n_tile = no_tile};
    const cpubind_runtime_devices nothing = {.n = 0};
    for (int32_t i = 0; i < LENGTH(rules); i++) {
        cpubind_text_fault fault = no_fault;
        seen.cap = N - 1;
        assert_int_equal(rules[i]("0", 1, &all, &seen, &fault), CPUBIND_TEXT_ERR_SPACE);
        assert_int_equal(seen.n, N);
        seen.cap = N;
        assert_int_equal(rules[i]("0", -1, &all, &seen, &fault), CPUBIND_TEXT_ERR_ARG);
        assert_int_equal(rules[i](NULL, 1, &all, &seen, &fault), CPUBIND_TEXT_ERR_ARG);
        assert_int_equal(rules[i]("0", 1, NULL, &seen, &fault), CPUBIND_TEXT_ERR_ARG);
        assert_int_equal(rules[i]("0", 1, &all, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
        assert_int_equal(rules[i]("0", 1, &too_many, &seen, NULL), CPUBIND_TEXT_ERR_ARG);
        assert_int_equal(rules[i]("0", 1, &empty, &seen, NULL), CPUBIND_TEXT_ERR_ARG);
        assert_int_equal(rules[i](NULL, 0, &nothing, &seen, NULL), CPUBIND_TEXT_OK);
        assert_int_equal(seen.n, 0);
    }
}

TEST_FILE(NULL, NULL)
