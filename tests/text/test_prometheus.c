/* test_prometheus.c - pages of figures of Prometheus and OpenMetrics, and two readings of one
 * SPDX-License-Identifier: MIT
 *
 * The pages have the names, labels and bounds of vLLM (vllm/v1/metrics/loggers.py) and SGLang
 * (srt/observability/metrics_collector.py), as prometheus_client writes them.
 */
#include <math.h>

#include "text_test.h"

#include "../../adapters/text/prometheus.h"

/* Reads one name of a page of exact size into memory that was filled before. */
static cpubind_text_status read_one(const char *text, int32_t len, const char *name,
                                    cpubind_prometheus_reading *out, cpubind_text_fault *fault)
{
    char *edge = edge_text(text, len);
    cpubind_text_status status;
    memset(out, EDGE_FILL, sizeof *out);
    out->name = name;
    *fault = no_fault;
    status = cpubind_prometheus_read(edge, len, out, 1, fault);
    if (status != CPUBIND_TEXT_OK) {
        assert_fault(fault, len);
        assert_untouched(&out->kind, sizeof *out - offsetof(cpubind_prometheus_reading, kind));
    }
    free(edge);
    return status;
}

static cpubind_prometheus_reading reading(const char *text, const char *name)
{
    cpubind_prometheus_reading out;
    cpubind_text_fault fault;
    if (read_one(text, (int32_t)strlen(text), name, &out, &fault) != CPUBIND_TEXT_OK)
        fail_msg("%s at %d in \"%s\"", fault.what, fault.offset, text);
    return out;
}

static const char vllm_page[] =
    "# HELP python_gc_objects_collected_total Objects collected during gc\n"
    "# TYPE python_gc_objects_collected_total counter\n"
    "python_gc_objects_collected_total{generation=\"0\"} 11318.0\n"
    "# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.\n"
    "# TYPE process_start_time_seconds gauge\n"
    "process_start_time_seconds 1.76425841283e+09\n"
    "# HELP vllm:num_requests_running Number of requests in model execution batches.\n"
    "# TYPE vllm:num_requests_running gauge\n"
    "vllm:num_requests_running{engine=\"0\",model_name=\"Qwen/Qwen3-32B\"} 3.0\n"
    "vllm:num_requests_running{engine=\"1\",model_name=\"Qwen/Qwen3-32B\"} 5.0\n"
    "# HELP vllm:generation_tokens_total Number of generation tokens processed.\n"
    "# TYPE vllm:generation_tokens_total counter\n"
    "vllm:generation_tokens_total{engine=\"0\",model_name=\"Qwen/Qwen3-32B\"} 1.6453e+04\n"
    "vllm:generation_tokens_total{engine=\"1\",model_name=\"Qwen/Qwen3-32B\"} 547.0\n"
    "# HELP vllm:generation_tokens_created Number of generation tokens processed.\n"
    "# TYPE vllm:generation_tokens_created gauge\n"
    "vllm:generation_tokens_created{engine=\"0\",model_name=\"Qwen/Qwen3-32B\"} 1.764e+09\n"
    "# HELP vllm:inter_token_latency_seconds Histogram of inter-token latency in seconds.\n"
    "# TYPE vllm:inter_token_latency_seconds histogram\n"
    "vllm:inter_token_latency_seconds_bucket{engine=\"0\",le=\"0.01\",model_name=\"m\"} 10.0\n"
    "vllm:inter_token_latency_seconds_bucket{engine=\"0\",le=\"0.025\",model_name=\"m\"} 90.0\n"
    "vllm:inter_token_latency_seconds_bucket{engine=\"0\",le=\"+Inf\",model_name=\"m\"} 100.0\n"
    "vllm:inter_token_latency_seconds_count{engine=\"0\",model_name=\"m\"} 100.0\n"
    "vllm:inter_token_latency_seconds_sum{engine=\"0\",model_name=\"m\"} 1.75\n"
    "vllm:inter_token_latency_seconds_bucket{engine=\"1\",le=\"0.01\",model_name=\"m\"} 1.0\n"
    "vllm:inter_token_latency_seconds_bucket{engine=\"1\",le=\"0.025\",model_name=\"m\"} 2.0\n"
    "vllm:inter_token_latency_seconds_bucket{engine=\"1\",le=\"+Inf\",model_name=\"m\"} 4.0\n"
    "vllm:inter_token_latency_seconds_count{engine=\"1\",model_name=\"m\"} 4.0\n"
    "vllm:inter_token_latency_seconds_sum{engine=\"1\",model_name=\"m\"} 0.25\n";

TEST(gauges_counters_and_histograms_are_sums_of_their_series)
{
    static const struct {
        const char *name;
        cpubind_prometheus_kind kind;
        double value, sum;
        int32_t n_series, n_bucket;
    } cases[] = {
        {"vllm:num_requests_running", CPUBIND_PROMETHEUS_GAUGE, 8, 0, 2, 0},
        {"vllm:num_requests_running{engine=\"1\"}", CPUBIND_PROMETHEUS_GAUGE, 5, 0, 1, 0},
        {"vllm:num_requests_running{engine=\"1\",}", CPUBIND_PROMETHEUS_GAUGE, 5, 0, 1, 0},
        {"vllm:num_requests_running{engine=\"2\"}", CPUBIND_PROMETHEUS_ABSENT, 0, 0, 0, 0},
        {"vllm:num_requests_running{host=\"1\"}", CPUBIND_PROMETHEUS_ABSENT, 0, 0, 0, 0},
        {"vllm:num_requests", CPUBIND_PROMETHEUS_ABSENT, 0, 0, 0, 0},
        {"vllm:generation_tokens_total", CPUBIND_PROMETHEUS_COUNTER, 17000, 0, 2, 0},
        {"vllm:generation_tokens", CPUBIND_PROMETHEUS_COUNTER, 17000, 0, 2, 0},
        {"vllm:inter_token_latency_seconds", CPUBIND_PROMETHEUS_HISTOGRAM, 104, 2, 0, 3},
        {"vllm:inter_token_latency_seconds{ model_name = \"m\" , engine=\"0\" }",
         CPUBIND_PROMETHEUS_HISTOGRAM, 100, 1.75, 0, 3},
        {"vllm:inter_token_latency_seconds_sum", CPUBIND_PROMETHEUS_COUNTER, 2, 0, 2, 0},
        {"vllm:inter_token_latency_seconds_bucket{le=\"0.025\"}", CPUBIND_PROMETHEUS_COUNTER,
         92, 0, 2, 0},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const cpubind_prometheus_reading r = reading(vllm_page, cases[i].name);
        if (r.kind != cases[i].kind || r.value != cases[i].value || r.sum != cases[i].sum ||
            r.n_series != cases[i].n_series || r.n_bucket != cases[i].n_bucket || r.problem)
            fail_msg("%s: kind %d, value %g, sum %g, %d series, %d buckets, %s", cases[i].name,
                     (int)r.kind, r.value, r.sum, r.n_series, r.n_bucket,
                     r.problem ? r.problem : "no problem");
    }
}

TEST(a_page_without_kinds_is_read_by_the_endings_of_names)
{
    static const char page[] = "a_total 5\na 7\nb 8\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\n";
    assert_int_equal(reading(page, "a_total").kind, CPUBIND_PROMETHEUS_COUNTER);
    assert_int_equal(reading(page, "b").kind, CPUBIND_PROMETHEUS_GAUGE);
    assert_int_equal(reading(page, "h").kind, CPUBIND_PROMETHEUS_HISTOGRAM);
    assert_int_equal(reading(page, "none").kind, CPUBIND_PROMETHEUS_ABSENT);
    assert_int_equal(reading("", "none").kind, CPUBIND_PROMETHEUS_ABSENT);
    assert_int_equal(reading("# TYPE a gauge\n", "a").kind, CPUBIND_PROMETHEUS_ABSENT);
}

TEST(what_nobody_asked_for_is_read_over)
{
    static const char page[] =
        "\n"
        " \t\n"
        "# HELP a \\\\ \"{ \n"
        "#\n"
        "#TYPE x y z\n"
        "# TYPE a histogram\n"
        "  a_bucket { le = \"1\" , t = \"a\\\\b\\\"c\\nd,}\" , } 4 1710000000123 \r\n"
        "a_bucket{le=\"+Inf\",t=\"\"} 6 # {trace_id=\"KOO5\"} 0.67 1520879607.789\n"
        "{\"quoted name\",le=\"x\"} NaN\n"
        "{le=\"x\",\"quoted name\"} -inf 1520879607.789\n"
        "b 1 # {} 2\n"
        "# EOF\n";
    const cpubind_prometheus_reading r = reading(page, "a");
    assert_int_equal(r.n_bucket, 2);
    assert_true(r.bucket[0].count == 4 && r.value == 6 && !r.problem);
    assert_true(reading(page, "b").value == 1);
    assert_true(reading(page, "a_bucket{t=\"a\\\\b\\\"c\\nd,}\"}").value == 4);
}

TEST(a_summary_is_told_from_a_gauge)
{
    const cpubind_prometheus_reading typed =
        reading("# TYPE s summary\ns_sum 4\ns_count 2\n", "s");
    const cpubind_prometheus_reading untyped = reading("s{quantile=\"0.5\"} NaN\n", "s");
    assert_int_equal(typed.kind, CPUBIND_PROMETHEUS_SUMMARY);
    assert_int_equal(untyped.kind, CPUBIND_PROMETHEUS_SUMMARY);
    assert_non_null(cpubind_prometheus_between(&typed, &typed).problem);
}

static cpubind_text_status read_page(const char *text, int32_t len, cpubind_text_fault *fault)
{
    cpubind_prometheus_reading r;
    return read_one(text, len, "a", &r, fault);
}

TEST(other_pages_are_refused_where_they_go_wrong)
{
    static const verdict cases[] = {
        {"a", CPUBIND_TEXT_ERR_CUT, 1},
        {"a 1", CPUBIND_TEXT_ERR_CUT, 3},
        {"a 1\n#", CPUBIND_TEXT_ERR_CUT, 5},
        {"a\n", CPUBIND_TEXT_ERR_SYNTAX, 1},
        {"a-1\n", CPUBIND_TEXT_ERR_SYNTAX, 1},
        {"<html>\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"0a 1\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"a 1x\n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"a 1 2 3\n", CPUBIND_TEXT_ERR_SYNTAX, 5},
        {"a 1 x\n", CPUBIND_TEXT_ERR_SYNTAX, 4},
        {"a 1e\n", CPUBIND_TEXT_ERR_SYNTAX, 4},
        {"a 1e+\n", CPUBIND_TEXT_ERR_SYNTAX, 5},
        {"a .\n", CPUBIND_TEXT_ERR_SYNTAX, 2},
        {"a -\n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"a 0x10\n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"a 1e999\n", CPUBIND_TEXT_ERR_RANGE, 2},
        {"a 1#\n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"a{ 1\n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"a{b 1\n", CPUBIND_TEXT_ERR_SYNTAX, 4},
        {"a{b=1} 1\n", CPUBIND_TEXT_ERR_SYNTAX, 4},
        {"a{b=\"1} 1\n", CPUBIND_TEXT_ERR_SYNTAX, 9},
        {"a{b=\"\\t\"} 1\n", CPUBIND_TEXT_ERR_SYNTAX, 6},
        {"a{b=\"\\\n\"} 1\n", CPUBIND_TEXT_ERR_SYNTAX, 6},
        {"a{b=\"1\" c=\"2\"} 1\n", CPUBIND_TEXT_ERR_SYNTAX, 8},
        {"a{,} 1\n", CPUBIND_TEXT_ERR_SYNTAX, 2},
        {"a{\"b\"} 1\n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"{b=\"1\"} 1\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"{} 1\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
    };
    expect_verdicts(read_page, cases, LENGTH(cases));
}

TEST(a_page_that_is_cut_is_never_read_as_less)
{
    const int32_t whole = (int32_t)strlen(vllm_page);
    for (int32_t len = 0; len <= whole; len++) {
        cpubind_prometheus_reading r;
        cpubind_text_fault fault;
        const cpubind_text_status status =
            read_one(vllm_page, len, "vllm:inter_token_latency_seconds", &r, &fault);
        if (len > 0 && vllm_page[len - 1] != '\n') {
            assert_int_equal(status, CPUBIND_TEXT_ERR_CUT);
            continue;
        }
        assert_int_equal(status, CPUBIND_TEXT_OK);
        assert_true(r.kind == CPUBIND_PROMETHEUS_ABSENT || r.problem || r.value == 100 ||
                    r.value == 104);
    }
}

/* Bytes that break any line, at each place of a page. */
TEST(a_broken_byte_is_found_at_its_place_or_after_it)
{
    const int32_t len = (int32_t)strlen(vllm_page);
    char *copy = edge_text(vllm_page, len);
    for (int32_t i = 0; i < len; i++) {
        static const char other[] = {'"', '\\', '{', '\0', '\n', (char)0xff};
        for (size_t k = 0; k < sizeof other; k++) {
            cpubind_prometheus_reading r;
            cpubind_text_fault fault;
            copy[i] = other[k];
            (void)read_one(copy, len, "vllm:inter_token_latency_seconds", &r, &fault);
        }
        copy[i] = vllm_page[i];
    }
    free(copy);
}

TEST(histograms_that_make_no_sense_have_a_problem)
{
    static const struct {
        const char *page, *problem;
    } cases[] = {
        {"a_bucket{le=\"1\"} 4\n", "its last bucket is missing"},
        {"a_bucket{le=\"1\"} 4\na_bucket{le=\"+Inf\"} 3\n", "its buckets do not ascend"},
        {"a_bucket{le=\"+Inf\"} 4\na_bucket{le=\"1\",b=\"\"} 3\na_bucket{le=\"+Inf\",b=\"\"} "
         "3\n",
         "its series have different bounds"},
        {"a_bucket 4\n", "a bucket has no bound"},
        {"a_bucket{le=\"NaN\"} 4\n", "a bucket has no bound"},
        {"a_bucket{le=\"1 \"} 4\n", "a bucket has no bound"},
        {"a_bucket{le=\"\"} 4\n", "a bucket has no bound"},
        {"a_bucket{le=\"+Inf\"} NaN\n", "a bucket is not a number of 0 or more"},
        {"a_bucket{le=\"+Inf\"} -1\n", "a bucket is not a number of 0 or more"},
        {"# TYPE a counter\na NaN\n", "its counter is not a number of 0 or more"},
        {"# TYPE a counter\na_total +Inf\n", "its counter is not a number of 0 or more"},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const cpubind_prometheus_reading r = reading(cases[i].page, "a");
        assert_non_null(r.problem);
        assert_string_equal(r.problem, cases[i].problem);
        assert_non_null(cpubind_prometheus_between(&r, &r).problem);
    }
}

TEST(as_many_bounds_as_fit_and_one_more)
{
    for (int n = CPUBIND_PROMETHEUS_BUCKETS - 1; n <= CPUBIND_PROMETHEUS_BUCKETS; n++) {
        char page[8192] = "a_bucket{le=\"+Inf\"} 200\n";
        for (int i = n; i > 0; i--) /* in any order */
            snprintf(page + strlen(page), sizeof page - strlen(page),
                     "a_bucket{le=\"%d\"} %d\n", i, i);
        const cpubind_prometheus_reading r = reading(page, "a");
        assert_true(n < CPUBIND_PROMETHEUS_BUCKETS ? !r.problem : r.problem != NULL);
        assert_int_equal(r.n_bucket, CPUBIND_PROMETHEUS_BUCKETS);
    }
}

/* The page of a histogram with the bounds 0.01, 0.02 and 0.04. */
static cpubind_prometheus_reading histogram(int a, int b, int c, int all, double sum)
{
    char page[512];
    snprintf(page, sizeof page,
             "a_bucket{le=\"0.01\"} %d\na_bucket{le=\"0.02\"} %d\na_bucket{le=\"0.04\"} %d\n"
             "a_bucket{le=\"+Inf\"} %d\na_sum %.17g\n",
             a, b, c, all, sum);
    return reading(page, "a");
}

TEST(quantiles_of_a_block_are_those_of_the_difference)
{
    const cpubind_prometheus_reading before = histogram(1000, 1000, 1000, 1000, 5);
    const cpubind_prometheus_reading even = histogram(1000, 1050, 1100, 1100, 7.5);
    const cpubind_prometheus_reading low = histogram(1100, 1100, 1100, 1100, 5.5);
    const cpubind_prometheus_reading high = histogram(1000, 1000, 1090, 1100, 9);
    cpubind_prometheus_block block = cpubind_prometheus_between(&before, &even);
    assert_null(block.problem);
    assert_true(block.count == 100 && fabs(block.mean - 0.025) < 1e-12);
    assert_true(fabs(block.p50 - 0.02) < 1e-12 && fabs(block.p99 - 0.0396) < 1e-12);
    assert_false(block.p50_is_least || block.p99_is_least);
    block = cpubind_prometheus_between(&before, &low);
    assert_true(fabs(block.p50 - 0.005) < 1e-12 && fabs(block.p99 - 0.0099) < 1e-12);
    block = cpubind_prometheus_between(&before, &high);
    assert_false(block.p50_is_least);
    assert_true(block.p99_is_least && block.p99 == 0.04);
}

TEST(what_cannot_be_compared_is_said)
{
    const cpubind_prometheus_reading some = histogram(1, 2, 3, 4, 1);
    const cpubind_prometheus_reading fewer = histogram(1, 1, 3, 4, 1);
    const cpubind_prometheus_reading zero = histogram(0, 0, 0, 0, 0);
    const cpubind_prometheus_reading other =
        reading("a_bucket{le=\"1\"} 5\na_bucket{le=\"+Inf\"} 5\n", "a");
    const cpubind_prometheus_reading bare = reading("a_bucket{le=\"+Inf\"} 5\n", "a");
    const cpubind_prometheus_reading more = reading("a_bucket{le=\"+Inf\"} 6\n", "a");
    const cpubind_prometheus_reading none = reading("", "a");
    const cpubind_prometheus_reading five = reading("a_total 5\n", "a");
    const cpubind_prometheus_reading four = reading("a_total 4\n", "a");
    const cpubind_prometheus_reading nan = reading("# TYPE a gauge\na NaN\n", "a");
    const cpubind_prometheus_reading two = reading("a_total{b=\"1\"} 4\na_total 9\n", "a");
    static const char fell[] = "the counter fell: its program started anew";
    const struct {
        const cpubind_prometheus_reading *before, *after;
        const char *problem;
    } cases[] = {
        {&some, &some, "nothing was observed"},
        {&zero, &zero, "nothing was observed"},
        {&some, &zero, fell},
        {&some, &fewer, fell},
        {&five, &four, fell},
        {&some, &other, "its series changed"},
        {&some, &five, "its series changed"},
        {&five, &two, "its series changed"},
        {&nan, &nan, "it is not a number of 0 or more"},
        {&bare, &more, "its buckets have no bounds"},
        {&none, &some, "the page does not have it"},
        {&some, &none, "the page does not have it"},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const cpubind_prometheus_block block =
            cpubind_prometheus_between(cases[i].before, cases[i].after);
        assert_non_null(block.problem);
        assert_string_equal(block.problem, cases[i].problem);
    }
    assert_true(cpubind_prometheus_between(&four, &five).count == 1);
    assert_true(cpubind_prometheus_between(&five, &five).count == 0);
}

/* Against strtod(3), which reads the same numbers. */
TEST(numbers_are_those_of_the_c_library)
{
    static const char *const numbers[] = {
        "0",
        "-0",
        "1",
        "0.5",
        ".5",
        "5.",
        "1e3",
        "1E-3",
        "+12.5",
        "-12.5e1",
        "0.005",
        "1.76425841283e+09",
        "1e22",
        "1e-22",
        "1e23",
        "1e308",
        "1e-308",
        "5e-324",
        "1e-9999",
        "123456789012345678",
        "0.1234567890123456789012345",
        "9007199254740993",
        "100000000000000000000000000000000000000000000000000.5",
        "0.000000000000000000000000000000000000000000000000001"};
    for (int32_t i = 0; i < LENGTH(numbers); i++) {
        const double right = strtod(numbers[i], NULL);
        const int32_t n = (int32_t)strlen(numbers[i]);
        char *edge = edge_text(numbers[i], n);
        double value = 7;
        int32_t len = 0;
        assert_int_equal(cpubind_decimal_parse(edge, n, &value, &len, NULL), CPUBIND_TEXT_OK);
        assert_int_equal(len, n);
        if (fabs(value - right) > fabs(right) * 1e-14 + 5e-324)
            fail_msg("%s is %.17g", numbers[i], value);
        free(edge);
    }
    static const char *const words[] = {"NaN", "nan", "+Inf", "-inf", "Infinity", "-INFINITY"};
    for (int32_t i = 0; i < LENGTH(words); i++) {
        const double right = strtod(words[i], NULL);
        double value = 7;
        int32_t len = 0;
        assert_int_equal(
            cpubind_decimal_parse(words[i], (int32_t)strlen(words[i]), &value, &len, NULL),
            CPUBIND_TEXT_OK);
        assert_int_equal(len, (int32_t)strlen(words[i]));
        assert_true(isnan(right) ? isnan(value) : value == right);
    }
}

TEST(names_are_checked)
{
    static const verdict cases[] = {
        {"a", CPUBIND_TEXT_OK, -1},
        {"a{}", CPUBIND_TEXT_OK, -1},
        {"a{b=\"c\"}", CPUBIND_TEXT_OK, -1},
        {"", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"1a", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"a b", CPUBIND_TEXT_ERR_SYNTAX, 1},
        {"a {}", CPUBIND_TEXT_ERR_SYNTAX, 1},
        {"a{} ", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"a{b}", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"{\"a\"}", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"a{b=\"c\"", CPUBIND_TEXT_ERR_SYNTAX, 7},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        cpubind_text_fault fault = no_fault;
        assert_int_equal(cpubind_prometheus_name_check(cases[i].text, &fault), cases[i].status);
        assert_int_equal(fault.offset, cases[i].offset);
    }
}

TEST(bad_arguments_are_refused)
{
    cpubind_prometheus_reading r = {.name = "a", .n_series = 7};
    cpubind_prometheus_reading bad = {.name = "{", .n_series = 7};
    cpubind_prometheus_reading nameless = {.n_series = 7};
    double value = 7;
    int32_t len = 7;
    assert_int_equal(cpubind_prometheus_read(NULL, 1, &r, 1, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_prometheus_read("", -1, &r, 1, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_prometheus_read("", 0, NULL, 1, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_prometheus_read("", 0, &r, -1, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_prometheus_read("", 0, &bad, 1, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_prometheus_read("", 0, &nameless, 1, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_prometheus_name_check(NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_decimal_parse("1", 1, NULL, &len, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_decimal_parse("1", 1, &value, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_decimal_parse("", 0, &value, &len, NULL), CPUBIND_TEXT_ERR_SYNTAX);
    assert_true(r.n_series == 7 && bad.n_series == 7 && value == 7 && len == 7);
}

TEST_FILE(NULL, NULL)
