/* test_cpumask.c - CPU masks, both ways, against tests/vectors/cpumask.txt
 * SPDX-License-Identifier: MIT
 */
#include "numbers.h"

#include "../../adapters/text/cpumask.h"

static cpubind_text_status parse(const char *text, int32_t len, int32_t limit,
                                 cpubind_int_list *list, cpubind_text_fault *fault)
{
    return parse_edge(cpubind_cpumask_parse, text, len, limit, list, fault);
}

static void check_written(const int32_t *number, int32_t n, int32_t width, const char *expected)
{
    const int32_t len = (int32_t)strlen(expected);
    int32_t written = -1;
    char *text = edge_text(expected, len);

    memset(text, EDGE_FILL, (size_t)len);
    assert_int_equal(cpubind_cpumask_format(number, n, width, text, len, &written),
                     CPUBIND_TEXT_OK);
    assert_int_equal(written, len);
    assert_memory_equal(text, expected, (size_t)len);
    memset(text, EDGE_FILL, (size_t)len);
    assert_int_equal(cpubind_cpumask_format(number, n, width, text, len - 1, &written),
                     CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(written, len);
    assert_untouched(text, (size_t)len);
    free(text);
}

static void check_read(char **field, int32_t len)
{
    int32_t expected[MAX_NUMBERS];
    const int32_t want = check_numbers(cpubind_cpumask_parse, field, len, expected);

    check_written(expected, want, (int32_t)strtol(field[4], NULL, 10), field[5]);
}

TEST(every_vector_holds)
{
    char *text = read_vectors("vectors/cpumask.txt"), *rest = text, *line;
    int32_t n_case = 0;

    while ((line = next_case(&rest))) {
        char *field[6];
        const int32_t n_field = split_tabs(line, field, 6);
        int32_t len;

        assert_true(n_field == 4 || n_field == 6);
        len = unescape(field[0]);
        if (strcmp(field[2], "OK") == 0) {
            assert_int_equal(n_field, 6);
            check_read(field, len);
        } else {
            check_refused(cpubind_cpumask_parse, field, len);
        }
        n_case++;
    }
    free(text);
    assert_true(n_case > 0);
}

TEST(bad_arguments_are_refused)
{
    int32_t cpu[2] = {0, 1}, n = 7;
    cpubind_int_list list = {cpu, 2, 7}, no_array = {NULL, 2, 7};
    char text[32];

    assert_int_equal(cpubind_cpumask_parse("0", -1, 64, &list, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpumask_parse(NULL, 1, 64, &list, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpumask_parse("0", 1, 0, &list, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpumask_parse("0", 1, 65537, &list, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpumask_parse("0", 1, 64, &no_array, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpumask_parse("0", 1, 64, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpumask_format(cpu, 2, 0, text, 32, &n), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpumask_format(cpu, 2, INT32_MAX, text, 32, &n),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpumask_format(NULL, 2, 64, text, 32, &n), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpumask_format(cpu, 2, 64, NULL, 32, &n), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpumask_format(cpu, 2, 64, text, 32, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(n, 7);
    assert_int_equal(list.n, 7);
    assert_int_equal(no_array.n, 7);
}

TEST(cpus_that_do_not_fit_are_not_written)
{
    const int32_t below[] = {-1, 0}, above[] = {3, 64}, twice[] = {3, 3}, down[] = {4, 2};
    char text[32];
    int32_t len = 7;

    memset(text, EDGE_FILL, sizeof text);
    assert_int_equal(cpubind_cpumask_format(below, 2, 64, text, 32, &len),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cpumask_format(above, 2, 64, text, 32, &len),
                     CPUBIND_TEXT_ERR_RANGE);
    assert_int_equal(cpubind_cpumask_format(twice, 2, 64, text, 32, &len),
                     CPUBIND_TEXT_ERR_ORDER);
    assert_int_equal(cpubind_cpumask_format(down, 2, 64, text, 32, &len),
                     CPUBIND_TEXT_ERR_ORDER);
    assert_int_equal(len, 7);
    assert_untouched(text, sizeof text);
}

TEST(a_written_text_reads_back_the_same)
{
    static const int32_t widths[] = {1, 31, 32, 33, 640, 1152, CPUBIND_MAX_CPUS};
    static int32_t set[CPUBIND_MAX_CPUS], back[CPUBIND_MAX_CPUS];
    static char text[CPUBIND_MAX_CPUS];
    uint32_t seed = 20240608;
    cpubind_text_fault fault;

    for (int32_t i = 0; i < LENGTH(widths); i++) {
        int32_t n = 0, len = 0;
        cpubind_int_list list = {back, 0, 0};

        for (int32_t cpu = 0; cpu < widths[i]; cpu++) {
            seed = seed * 1664525u + 1013904223u;
            if (seed >> 30 == 0)
                set[n++] = cpu;
        }
        assert_int_equal(
            cpubind_cpumask_format(set, n, widths[i], text, (int32_t)sizeof text, &len),
            CPUBIND_TEXT_OK);
        list.cap = n;
        assert_int_equal(parse(text, len, widths[i], &list, &fault), CPUBIND_TEXT_OK);
        assert_int_equal(list.n, n);
        assert_memory_equal(back, set, (size_t)n * sizeof *set);
    }
}

TEST(every_prefix_is_a_mask_or_a_fault)
{
    static const char text[] = "ff,00000000,12345678,9abcdef0\n";
    int32_t out[128];
    cpubind_int_list list = {out, 128, 0};
    cpubind_text_fault fault;

    for (int32_t len = 0; len <= (int32_t)strlen(text); len++) {
        const cpubind_text_status status = parse(text, len, 128, &list, &fault);
        const int32_t is_whole_group =
            len == 1 || len == 2 || len == 11 || len == 20 || len >= 29;

        assert_int_equal(status == CPUBIND_TEXT_OK, is_whole_group);
    }
}

TEST_FILE(NULL, NULL)
