/* test_cpulist.c - lists of CPUs, both ways, against tests/vectors/cpulist.txt
 * SPDX-License-Identifier: MIT
 */
#include "numbers.h"

#include "../../adapters/text/cpulist.h"

static cpubind_text_status parse(const char *text, int32_t len, int32_t limit,
                                 cpubind_int_list *list, cpubind_text_fault *fault)
{
    return parse_edge(cpubind_cpulist_parse, text, len, limit, list, fault);
}

static void check_written(const int32_t *number, int32_t n, const char *expected, int32_t len)
{
    int32_t written = -1;
    char *text = edge_text(expected, len);

    memset(text, EDGE_FILL, (size_t)len);
    assert_int_equal(cpubind_cpulist_format(number, n, text, len, &written), CPUBIND_TEXT_OK);
    assert_int_equal(written, len);
    assert_memory_equal(text, expected, (size_t)len);
    if (len > 0) {
        memset(text, EDGE_FILL, (size_t)len);
        assert_int_equal(cpubind_cpulist_format(number, n, text, len - 1, &written),
                         CPUBIND_TEXT_ERR_SPACE);
        assert_int_equal(written, len);
        assert_untouched(text, (size_t)len);
    }
    free(text);
}

static void check_read(char **field, int32_t len)
{
    int32_t expected[MAX_NUMBERS];
    const int32_t want = check_numbers(cpubind_cpulist_parse, field, len, expected);

    check_written(expected, want, field[4], unescape(field[4]));
}

TEST(every_vector_holds)
{
    char *text = read_vectors("vectors/cpulist.txt"), *rest = text, *line;
    int32_t n_case = 0;

    while ((line = next_case(&rest))) {
        char *field[5];
        const int32_t n_field = split_tabs(line, field, 5);
        int32_t len;

        assert_in_range(n_field, 4, 5);
        len = unescape(field[0]);
        if (strcmp(field[2], "OK") == 0) {
            assert_int_equal(n_field, 5);
            check_read(field, len);
        } else {
            check_refused(cpubind_cpulist_parse, field, len);
        }
        n_case++;
    }
    free(text);
    assert_true(n_case > 0);
}

TEST(a_reversed_range_is_refused_at_its_end)
{
    int32_t out[4];
    cpubind_int_list list = {out, 4, 0};
    cpubind_text_fault fault;

    assert_int_equal(parse("5-2", 3, 64, &list, &fault), CPUBIND_TEXT_ERR_ORDER);
    assert_int_equal(fault.offset, 2);
    assert_string_equal(fault.what, "a range runs backwards");
}

TEST(capacity_zero_asks_for_the_length)
{
    cpubind_int_list list = {NULL, 0, -1};

    assert_int_equal(cpubind_cpulist_parse("0-639", 5, 65536, &list, NULL),
                     CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(list.n, 640);
    assert_int_equal(cpubind_cpulist_parse(NULL, 0, 65536, &list, NULL), CPUBIND_TEXT_OK);
    assert_int_equal(list.n, 0);
}

TEST(bad_arguments_are_refused)
{
    int32_t out[4], n = 7;
    cpubind_int_list list = {out, 4, 7}, no_array = {NULL, 4, 7}, below = {out, -1, 7};
    char text[8];
    cpubind_text_fault fault = no_fault;

    assert_int_equal(cpubind_cpulist_parse("0", -1, 64, &list, &fault), CPUBIND_TEXT_ERR_ARG);
    assert_fault(&fault, 0);
    assert_int_equal(cpubind_cpulist_parse(NULL, 1, 64, &list, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpulist_parse("0", CPUBIND_TEXT_MAX + 1, 64, &list, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpulist_parse("0", 1, 0, &list, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpulist_parse("0", 1, 65537, &list, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpulist_parse("0", 1, 64, &no_array, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpulist_parse("0", 1, 64, &below, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpulist_parse("0", 1, 64, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpulist_format(NULL, 1, text, 8, &n), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpulist_format(out, -1, text, 8, &n), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpulist_format(out, 0, NULL, 8, &n), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpulist_format(out, 0, text, 8, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(n, 7);
    assert_int_equal(list.n, 7);
    assert_int_equal(no_array.n, 7);
    assert_int_equal(below.n, 7);
}

TEST(numbers_that_are_no_list_are_not_written)
{
    const int32_t below[] = {-1, 0}, above[] = {65535, 65536}, twice[] = {3, 3},
                  down[] = {4, 2};
    char text[16];
    int32_t len = 7;

    memset(text, EDGE_FILL, sizeof text);
    assert_int_equal(cpubind_cpulist_format(below, 2, text, 16, &len), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpulist_format(above, 2, text, 16, &len), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpulist_format(twice, 2, text, 16, &len), CPUBIND_TEXT_ERR_ORDER);
    assert_int_equal(cpubind_cpulist_format(down, 2, text, 16, &len), CPUBIND_TEXT_ERR_ORDER);
    assert_int_equal(len, 7);
    assert_untouched(text, sizeof text);
}

/* A pseudo-random subset of 0 .. limit - 1 that takes each number with chance 1 / sparse. */
static int32_t random_set(uint32_t *seed, int32_t limit, uint32_t sparse, int32_t *out)
{
    int32_t n = 0;

    for (int32_t i = 0; i < limit; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        if ((*seed >> 16) % sparse == 0)
            out[n++] = i;
    }
    return n;
}

TEST(a_written_text_reads_back_the_same)
{
    static int32_t set[CPUBIND_MAX_CPUS], back[CPUBIND_MAX_CPUS];
    static char text[6 * CPUBIND_MAX_CPUS];
    static const int32_t limits[] = {1, 17, 640, 1024, 1025, 5000, CPUBIND_MAX_CPUS};
    uint32_t seed = 20240607;
    cpubind_text_fault fault;

    for (int32_t i = 0; i < LENGTH(limits); i++) {
        for (uint32_t sparse = 1; sparse <= 4; sparse++) {
            const int32_t n = random_set(&seed, limits[i], sparse, set);
            cpubind_int_list list = {back, n, 0};
            int32_t len = 0;

            assert_int_equal(cpubind_cpulist_format(set, n, text, (int32_t)sizeof text, &len),
                             CPUBIND_TEXT_OK);
            assert_int_equal(parse(text, len, limits[i], &list, &fault), CPUBIND_TEXT_OK);
            assert_int_equal(list.n, n);
            assert_memory_equal(back, set, (size_t)n * sizeof *set);
        }
    }
}

/* Lists with more ranges than are held while reading: no range is lost at that limit. */
TEST(long_lists_of_singles_are_whole)
{
    static int32_t back[2000];
    static char text[16000];
    cpubind_text_fault fault;

    for (int32_t n = 510; n <= 515; n++) {
        cpubind_int_list list = {back, n, 0};
        int32_t len = 0;

        for (int32_t i = 0; i < n; i++)
            len += snprintf(text + len, sizeof text - (size_t)len, "%s%d", i ? "," : "", 3 * i);
        assert_int_equal(parse(text, len, CPUBIND_MAX_CPUS, &list, &fault), CPUBIND_TEXT_OK);
        assert_int_equal(list.n, n);
        for (int32_t i = 0; i < n; i++)
            assert_int_equal(back[i], 3 * i);
    }
}

/* A cut list is a list of the CPUs before the cut, but for its last number, or a fault. */
TEST(every_prefix_is_a_shorter_list_or_a_fault)
{
    static const char text[] = "0-23,48,50,64-127,192-255,1000,65535\n";
    int32_t whole_cpu[1024], out[1024];
    cpubind_int_list whole = {whole_cpu, 1024, 0}, list = {out, 1024, 0};
    cpubind_text_fault fault;

    assert_int_equal(parse(text, (int32_t)strlen(text), CPUBIND_MAX_CPUS, &whole, &fault),
                     CPUBIND_TEXT_OK);
    for (int32_t len = 0; len < (int32_t)strlen(text); len++) {
        if (parse(text, len, CPUBIND_MAX_CPUS, &list, &fault) != CPUBIND_TEXT_OK)
            continue;
        assert_in_range(list.n, 0, whole.n);
        if (list.n > 1)
            assert_memory_equal(out, whole_cpu, (size_t)(list.n - 1) * sizeof *out);
    }
}

/* Of all pairs of sets of eight numbers, by their bits. */
TEST(common_numbers_are_those_in_both)
{
    for (int32_t pair = 0; pair < 0x10000; pair++) {
        const int32_t bits[] = {pair >> 8, pair & 0xff};
        int32_t list[2][8], n[2] = {0, 0}, common = 0, at = 0;
        for (int32_t i = 0; i < 8; i++) {
            for (int k = 0; k < 2; k++)
                if (bits[k] >> i & 1)
                    list[k][n[k]++] = 10 * i;
            common += (bits[0] & bits[1]) >> i & 1;
        }
        assert_int_equal(cpubind_list_common(list[0], n[0], list[1], n[1]), common);
        for (int32_t i = 0; i < 8; i++)
            assert_int_equal(cpubind_list_has(list[0], n[0], 10 * i, &at), bits[0] >> i & 1);
    }
}

TEST_FILE(NULL, NULL)
