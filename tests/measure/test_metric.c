/* test_metric.c - the figures of a page, of a command and of a log, over a block
 * SPDX-License-Identifier: MIT
 *
 * A thread of the test serves the answers that the test has written, one for each connection.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>

#include "../linux/fault_table.h"
#include "../linux/temp_dir.h"
#include "../support/test.h"

#include "../../adapters/measure/metric.h"

/* == A server =============================================================== */

#define MAX_ANSWERS 8

static struct {
    scratch s;
    int descriptors;
    int listener;
    int port;
    char url[64];
    pthread_t thread;
    int n_answer;                    /* that are left to serve */
    const char *answer[MAX_ANSWERS]; /* NULL: the connection stays open without an answer */
    size_t piece;                    /* bytes of one send; 0: all at once */
    char request[1024];              /* the last one */
} f;

/* Serves the answers, and waits after each one until the client closes. */
static void *serve(void *ctx)
{
    (void)ctx;
    for (int i = 0; i < f.n_answer; i++) {
        char byte;
        size_t n = 0;
        const int fd = accept(f.listener, NULL, NULL);
        scratch_need(fd >= 0, "accept");
        while (n + 1 < sizeof f.request && recv(fd, f.request + n, 1, 0) > 0) {
            n++;
            if (n >= 4 && memcmp(f.request + n - 4, "\r\n\r\n", 4) == 0)
                break;
        }
        f.request[n] = '\0';
        const size_t len = f.answer[i] ? strlen(f.answer[i]) : 0;
        for (size_t at = 0; at < len;) {
            const size_t part = f.piece && f.piece < len - at ? f.piece : len - at;
            if (send(fd, f.answer[i] + at, part, MSG_NOSIGNAL) < 0)
                break;
            at += part;
        }
        if (f.answer[i])
            shutdown(fd, SHUT_WR);
        while (recv(fd, &byte, 1, 0) > 0)
            ;
        close(fd);
    }
    return NULL;
}

static void start_server(int n)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof any;
    f.n_answer = n;
    f.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    scratch_need(f.listener >= 0 && bind(f.listener, (struct sockaddr *)&any, len) == 0 &&
                     listen(f.listener, 8) == 0 &&
                     getsockname(f.listener, (struct sockaddr *)&any, &len) == 0,
                 "listen");
    f.port = ntohs(any.sin_port);
    snprintf(f.url, sizeof f.url, "http://127.0.0.1:%d/metrics", f.port);
    scratch_need(pthread_create(&f.thread, NULL, serve, NULL) == 0, "thread");
}

/* All answers were served. */
static void end_server(void)
{
    pthread_join(f.thread, NULL);
    close(f.listener);
}

SETUP(set_up)
{
    memset(&f, 0, sizeof f);
    fault_clear();
    scratch_make(&f.s);
    f.descriptors = open_descriptors();
    return 0;
}

SETUP(tear_down)
{
    scratch_remove(&f.s);
    return open_descriptors() == f.descriptors && !has_child() ? 0 : -1;
}

/* == Helpers ================================================================ */

static cpubind_figures figures;

static cpubind_metric *open_metric(cpubind_metric_kind kind, const char *text,
                                   const char *regex)
{
    const cpubind_metric_spec spec = {kind, text, regex, ""};
    cpubind_metric *m = NULL;
    cpubind_metric_why why;
    figures.n = 0;
    if (cpubind_metric_open(&cpubind_sys_real, &spec, &m, &why) != CPUBIND_LINUX_OK)
        fail_msg("%s: %s", text, why.text);
    return m;
}

/* The value of a figure that was counted. */
static double value_of(const char *name)
{
    const cpubind_figure *figure = cpubind_figure_of(&figures, name);
    if (!figure || figure->not_counted[0])
        fail_msg("%s: %s", name, figure ? figure->not_counted : "is not there");
    return figure->value;
}

static void expect_not_counted(const char *name, const char *why)
{
    const cpubind_figure *figure = cpubind_figure_of(&figures, name);
    assert_non_null(figure);
    if (!strstr(figure->not_counted, why))
        fail_msg("%s: \"%s\", not \"%s\"", name, figure->not_counted, why);
}

/* Serves two answers as the readings of a block, and takes the figures. */
static void block_of_pages(const char *suffix, const char *first, const char *second)
{
    char url[256];
    f.answer[0] = first;
    f.answer[1] = second;
    start_server(2);
    snprintf(url, sizeof url, "%s%s", f.url, suffix);
    cpubind_metric *m = open_metric(CPUBIND_METRIC_PAGE, url, NULL);
    cpubind_metric_begin(m);
    cpubind_metric_end(m, &figures);
    cpubind_metric_close(m);
    end_server();
}

#define OK "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n\r\n"

/* == Pages ================================================================== */

/* vLLM: tokens, running requests and the histogram of the time between tokens. */
static void vllm_page(char out[4096], int start, int tokens, int fast, int slow, int running)
{
    snprintf(out, 4096,
             OK "# TYPE process_start_time_seconds gauge\n"
                "process_start_time_seconds %d.25\n"
                "# TYPE vllm:num_requests_running gauge\n"
                "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} %d.0\n"
                "# TYPE vllm:generation_tokens_total counter\n"
                "vllm:generation_tokens_total{engine=\"0\",model_name=\"m\"} %d.0\n"
                "# TYPE vllm:time_per_output_token_seconds histogram\n"
                "vllm:time_per_output_token_seconds_bucket{engine=\"0\",le=\"+Inf\"} 1\n"
                "vllm:time_per_output_token_seconds_sum{engine=\"0\"} 1\n"
                "# TYPE vllm:inter_token_latency_seconds histogram\n"
                "vllm:inter_token_latency_seconds_bucket{engine=\"0\",le=\"0.01\"} %d.0\n"
                "vllm:inter_token_latency_seconds_bucket{engine=\"0\",le=\"0.03\"} %d.0\n"
                "vllm:inter_token_latency_seconds_bucket{engine=\"0\",le=\"+Inf\"} %d.0\n"
                "vllm:inter_token_latency_seconds_sum{engine=\"0\"} %g\n",
             start, running, tokens, fast, fast + slow, fast + slow,
             fast * 0.005 + slow * 0.02);
}

TEST(the_names_of_vllm_are_known)
{
    char first[4096], second[4096];
    vllm_page(first, 1764, 1000, 500, 500, 2);
    vllm_page(second, 1764, 1300, 550, 550, 4);
    block_of_pages("", first, second);
    assert_int_equal(figures.n, 5);
    assert_true(value_of("tokens") > 0 && isfinite(value_of("tokens")));
    assert_true(value_of("requests_running") == 3);
    assert_true(fabs(value_of("time_per_output_token.mean") - 12.5) < 1e-6);
    assert_true(fabs(value_of("time_per_output_token.p50") - 10) < 1e-6);
    assert_true(fabs(value_of("time_per_output_token.p99") - 29.6) < 1e-6);
    assert_string_equal(cpubind_figure_of(&figures, "time_per_output_token.p50")->unit, "ms");
    assert_int_equal(cpubind_figure_of(&figures, "tokens")->better, CPUBIND_BETTER_HIGHER);
    assert_int_equal(cpubind_figure_of(&figures, "requests_running")->better,
                     CPUBIND_BETTER_NEITHER);
    assert_non_null(strstr(f.request, "GET /metrics HTTP/1.0\r\nHost: 127.0.0.1:"));
}

TEST(the_names_of_sglang_are_known)
{
    static const char first[] = OK
        "# TYPE sglang:num_running_reqs gauge\n"
        "sglang:num_running_reqs{engine_type=\"unified\",model_name=\"m\",tp_rank=\"0\"} 8.0\n"
        "# TYPE sglang:gen_throughput gauge\n"
        "sglang:gen_throughput{engine_type=\"unified\",model_name=\"m\",tp_rank=\"0\"} 90.5\n"
        "# TYPE sglang:time_to_first_token_seconds histogram\n"
        "sglang:time_to_first_token_seconds_sum{model_name=\"m\"} 1.0\n"
        "sglang:time_to_first_token_seconds_bucket{le=\"0.1\",model_name=\"m\"} 5.0\n"
        "sglang:time_to_first_token_seconds_bucket{le=\"+Inf\",model_name=\"m\"} 5.0\n";
    static const char second[] = OK
        "sglang:num_running_reqs{engine_type=\"unified\",model_name=\"m\",tp_rank=\"0\"} 8.0\n"
        "sglang:gen_throughput{engine_type=\"unified\",model_name=\"m\",tp_rank=\"0\"} 99.5\n"
        "sglang:time_to_first_token_seconds_sum{model_name=\"m\"} 1.5\n"
        "sglang:time_to_first_token_seconds_bucket{le=\"0.1\",model_name=\"m\"} 15.0\n"
        "sglang:time_to_first_token_seconds_bucket{le=\"+Inf\",model_name=\"m\"} 25.0\n";
    block_of_pages("", first, second);
    assert_true(value_of("tokens") == 95);
    assert_string_equal(cpubind_figure_of(&figures, "tokens")->unit, "/s");
    assert_true(fabs(value_of("time_to_first_token.mean") - 25) < 1e-6);
    assert_true(fabs(value_of("time_to_first_token.p50") - 100) < 1e-6);
    expect_not_counted("time_to_first_token.p99", "above the highest bound");
    assert_true(value_of("requests_running") == 8);
}

TEST(one_name_is_taken_as_the_user_says)
{
    static const char page[] = OK "# TYPE my:Load gauge\nmy:Load{a=\"1\"} 3\nmy:Load 9\n";
    block_of_pages("#my:Load{a=\"1\"}", page, page);
    assert_int_equal(figures.n, 1);
    assert_true(value_of("my_load_a_1") == 3);
    assert_int_equal(figures.at[0].better, CPUBIND_BETTER_NEITHER);
    block_of_pages("#none", page, page);
    expect_not_counted("none", "the page does not have it");
    block_of_pages("", page, page);
    expect_not_counted("page", "no name of vLLM or SGLang");
}

TEST(a_program_that_started_anew_is_said)
{
    char first[4096], second[4096];
    vllm_page(first, 1764, 1000, 500, 500, 2);
    vllm_page(second, 1764, 10, 5, 5, 2);
    block_of_pages("", first, second);
    expect_not_counted("tokens", "fell");
    expect_not_counted("time_per_output_token.p99", "fell");
    assert_true(value_of("requests_running") == 2);
    vllm_page(second, 1765, 9000, 5000, 5000, 2); /* and has done more since */
    block_of_pages("", first, second);
    expect_not_counted("tokens", "anew");
    expect_not_counted("time_per_output_token.mean", "anew");
}

/* The figures of a metric are those of every block, also where the page could not be read. */
TEST(a_page_that_fails_in_a_later_block_leaves_the_names)
{
    char page[4096];
    vllm_page(page, 1764, 1000, 500, 500, 2);
    f.answer[0] = f.answer[1] = page;
    f.answer[2] = f.answer[3] = "HTTP/1.0 503 Service Unavailable\r\n\r\n";
    start_server(4);
    cpubind_metric *m = open_metric(CPUBIND_METRIC_PAGE, f.url, NULL);
    assert_null(cpubind_metric_begin(m));
    cpubind_metric_end(m, &figures);
    const int n = figures.n;
    assert_string_equal(cpubind_metric_begin(m), "HTTP 503");
    figures.n = 0;
    cpubind_metric_end(m, &figures);
    cpubind_metric_close(m);
    end_server();
    assert_int_equal(figures.n, n);
    expect_not_counted("time_per_output_token.p99", "HTTP 503");
    expect_not_counted("requests_running", "HTTP 503");
}

TEST(answers_that_are_no_page_are_said)
{
    static const struct {
        const char *answer, *why;
    } cases[] = {
        {"HTTP/1.1 307 Temporary Redirect\r\nlocation: http://h:1/metrics/\r\n\r\n",
         "HTTP 307, a redirect to \"http://h:1/metrics/\": give the address it leads to"},
        {"HTTP/1.1 302 Found\r\nLocation: /\x1b[31mred\r\n\r\n", "a redirect to \"/\""},
        {"HTTP/1.0 404 Not Found\r\n\r\nnothing", "HTTP 404"},
        {"SSH-2.0-OpenSSH_9.2\r\n", "not HTTP/1"},
        {"HTTP/2 200\r\n\r\n", "not HTTP/1"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "in pieces"},
        {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", "compressed"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na 1\n", "ends too soon"},
        {"HTTP/1.1 200 OK\r\nContent-Le", "ends too soon"},
        {"", "ends too soon"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "not HTTP/1"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n", "longer than 16 MB"},
        {OK "a 1\nb", "line 2, column 2 of the page: the last line has no end"},
        {OK "<html>\n", "line 1, column 1 of the page: a name is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        block_of_pages("#a", cases[i].answer, OK "a 1\n");
        expect_not_counted("a", cases[i].why);
        block_of_pages("#a", OK "a 1\n", cases[i].answer);
        expect_not_counted("a", cases[i].why);
    }
}

TEST(a_page_comes_in_pieces_and_with_a_length)
{
    f.piece = 1;
    block_of_pages("#a", "HTTP/1.0 200 OK\nContent-Length: 4\n\na 1\nb", OK "a 3\n");
    assert_true(value_of("a") == 2);
}

TEST(a_server_that_says_nothing_is_waited_for_so_long)
{
    const int64_t start = clock_ms();
    f.answer[0] = NULL;
    start_server(1);
    cpubind_metric *m = open_metric(CPUBIND_METRIC_PAGE, f.url, NULL);
    assert_string_equal(cpubind_metric_begin(m), "the server does not answer within 2 s");
    assert_true(clock_ms() - start >= CPUBIND_METRIC_PAGE_MS);
    cpubind_metric_close(m);
    end_server();
}

/* A head without an end, and a page without one. */
TEST(an_answer_without_an_end_is_given_up)
{
    const size_t n = CPUBIND_METRIC_MAX + (1 << 20);
    char *endless = malloc(n + 1);
    assert_non_null(endless);
    memset(endless, 'x', n);
    endless[n] = '\0';
    memcpy(endless, "HTTP/1.0 200 OK\r\nx: ", 20);
    block_of_pages("#a", endless, OK "a 1\n");
    expect_not_counted("a", "longer than 16 MB");
    memcpy(endless, "HTTP/1.0 200 OK\r\n\r\n# ", 21);
    block_of_pages("#a", endless, OK "a 1\n");
    expect_not_counted("a", "longer than 16 MB");
    free(endless);
}

TEST(nobody_listens)
{
    start_server(0);
    end_server();
    cpubind_metric *m = open_metric(CPUBIND_METRIC_PAGE, f.url, NULL);
    assert_string_equal(cpubind_metric_begin(m), "connect: Connection refused");
    cpubind_metric_close(m);
    m = open_metric(CPUBIND_METRIC_PAGE, "http://engine-7.example:8000/metrics", NULL);
    assert_string_equal(cpubind_metric_begin(m),
                        "its host is neither an IP address nor localhost");
    cpubind_metric_close(m);
}

TEST(localhost_and_a_file_are_pages_too)
{
    char url[SCRATCH_PATH * 2 + 16], port[64];
    f.answer[0] = f.answer[1] = OK "a 5\n";
    start_server(2);
    snprintf(port, sizeof port, "http://localhost:%d#a", f.port);
    cpubind_metric *m = open_metric(CPUBIND_METRIC_PAGE, port, NULL);
    assert_null(cpubind_metric_begin(m));
    cpubind_metric_end(m, &figures);
    cpubind_metric_close(m);
    end_server();
    assert_true(value_of("a") == 5);
    assert_non_null(strstr(f.request, "GET /metrics HTTP/1.0\r\nHost: localhost:"));
    scratch_file(&f.s, "page.prom", "a 7\n");
    snprintf(url, sizeof url, "file:%s/page.prom#a", f.s.dir);
    m = open_metric(CPUBIND_METRIC_PAGE, url, NULL);
    assert_null(cpubind_metric_begin(m));
    scratch_file(&f.s, "page.prom", "a 9\n");
    cpubind_metric_end(m, &figures);
    assert_true(value_of("a") == 8);
    cpubind_metric_close(m);
    snprintf(url, sizeof url, "file:%s#a", f.s.dir);
    m = open_metric(CPUBIND_METRIC_PAGE, url, NULL);
    assert_string_equal(cpubind_metric_begin(m), "open: Is a directory");
    cpubind_metric_close(m);
}

TEST(texts_that_make_no_sense_are_refused)
{
    static const struct {
        cpubind_metric_kind kind;
        const char *text, *regex, *why;
        cpubind_linux_status status;
    } cases[] = {
        {CPUBIND_METRIC_PAGE, "https://h/metrics", NULL, "curl", CPUBIND_LINUX_ERR_ARG},
        {CPUBIND_METRIC_PAGE, "127.0.0.1:8000", NULL, "byte 1", CPUBIND_LINUX_ERR_ARG},
        {CPUBIND_METRIC_PAGE, "http://", NULL, "host is missing", CPUBIND_LINUX_ERR_ARG},
        {CPUBIND_METRIC_PAGE, "http://h:0/", NULL, "port is 0", CPUBIND_LINUX_ERR_ARG},
        {CPUBIND_METRIC_PAGE, "http://h:65536/", NULL, "too large", CPUBIND_LINUX_ERR_ARG},
        {CPUBIND_METRIC_PAGE, "http://u@h/", NULL, "does not belong", CPUBIND_LINUX_ERR_ARG},
        {CPUBIND_METRIC_PAGE, "http://[::1/", NULL, "]", CPUBIND_LINUX_ERR_ARG},
        {CPUBIND_METRIC_PAGE, "http://h/ x", NULL, "does not belong", CPUBIND_LINUX_ERR_ARG},
        {CPUBIND_METRIC_PAGE, "http://h/#", NULL, "behind the #", CPUBIND_LINUX_ERR_ARG},
        {CPUBIND_METRIC_PAGE, "http://h/#a{", NULL, "behind the #", CPUBIND_LINUX_ERR_ARG},
        {CPUBIND_METRIC_PAGE, "file:page", NULL, "start with /", CPUBIND_LINUX_ERR_ARG},
        {CPUBIND_METRIC_LOG, "/dev/null", "(", "", CPUBIND_LINUX_ERR_ARG},
        {CPUBIND_METRIC_LOG, "/dev/null", "x", "no group", CPUBIND_LINUX_ERR_ARG},
        {CPUBIND_METRIC_LOG, "/dev/null", "(x)", "open: Invalid", CPUBIND_LINUX_ERR_OPEN},
        {CPUBIND_METRIC_LOG, "/none", "(x)", "open: No such file", CPUBIND_LINUX_ERR_OPEN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cpubind_metric_spec spec = {cases[i].kind, cases[i].text, cases[i].regex, ""};
        cpubind_metric *m = (cpubind_metric *)&f;
        cpubind_metric_why why = {""};
        assert_int_equal(cpubind_metric_open(&cpubind_sys_real, &spec, &m, &why),
                         cases[i].status);
        assert_null(m);
        if (!why.text[0] || !strstr(why.text, cases[i].why))
            fail_msg("%s: \"%s\"", cases[i].text, why.text);
    }
}

/* == Commands =============================================================== */

TEST(a_command_prints_one_number)
{
    static const struct {
        const char *command, *why;
        double value;
    } cases[] = {
        {"echo ' 12.5 '", NULL, 12.5},
        {"higher:echo 1e3", NULL, 1000},
        {"echo 12,5", "it printed no number: \"12,5\"", 0},
        {"echo 5 ms", "it printed no number: \"5 ms\"", 0},
        {"printf '\\033[31m'", "it printed no number: \"?[31m\"", 0},
        {"true", "it printed no number: \"\"", 0},
        {"echo nan", "it printed no number", 0},
        {"echo 5; echo no server >&2; exit 3", "it ended with 3: no server", 0},
        {"kill -9 $$", "it ended with 137", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cpubind_metric *m = open_metric(CPUBIND_METRIC_COMMAND, cases[i].command, NULL);
        assert_null(cpubind_metric_begin(m));
        cpubind_metric_end(m, &figures);
        cpubind_metric_close(m);
        if (cases[i].why)
            expect_not_counted("command", cases[i].why);
        else
            assert_true(value_of("command") == cases[i].value);
        assert_int_equal(figures.at[0].better, cases[i].command[0] == 'h'
                                                   ? CPUBIND_BETTER_HIGHER
                                                   : CPUBIND_BETTER_NEITHER);
    }
}

/* == Logs =================================================================== */

static char log_path[SCRATCH_PATH * 2];

static void append(const char *text)
{
    FILE *file = fopen(log_path, "ae");
    scratch_need(file && fputs(text, file) >= 0 && fclose(file) == 0, "append");
}

static cpubind_metric *open_log(void)
{
    snprintf(log_path, sizeof log_path, "%s/engine.log", f.s.dir);
    append("step 1000 ms\n");
    return open_metric(CPUBIND_METRIC_LOG, log_path, "step ([^ ]*) ms");
}

static void end_block(cpubind_metric *m)
{
    figures.n = 0;
    cpubind_metric_end(m, &figures);
}

TEST(new_lines_of_a_log_count)
{
    cpubind_metric *m = open_log();
    append("step 999 ms, begun be");
    cpubind_metric_begin(m);
    append("fore step 998 ms\nstep 10 ms\nnothing\nstep x ms\nstep 20 ms\nstep 40 ms\nstep 9");
    end_block(m);
    assert_true(fabs(value_of("log.mean") - 70 / 3.0) < 1e-9);
    assert_true(value_of("log.p50") == 20);
    expect_not_counted("log.p99", "fewer than 100");
    cpubind_metric_begin(m);
    end_block(m);
    expect_not_counted("log.mean", "no new line of it matches");
    cpubind_metric_begin(m);
    append("7 ms\n"); /* the end of a line of an earlier block */
    for (int i = 1; i <= 100; i++) {
        char line[32];
        snprintf(line, sizeof line, "step %d ms\n", i);
        append(line);
    }
    end_block(m);
    assert_true(value_of("log.p99") == 99 && value_of("log.p50") == 50);
    cpubind_metric_close(m);
}

TEST(a_log_is_renamed_and_cut)
{
    char old[SCRATCH_PATH * 2 + 8];
    cpubind_metric *m = open_log();
    snprintf(old, sizeof old, "%s.1", log_path);
    cpubind_metric_begin(m);
    append("step 10 ms\n");
    scratch_need(rename(log_path, old) == 0, "rename");
    append("step 20 ms\n");
    end_block(m);
    assert_true(value_of("log.mean") == 15);
    cpubind_metric_begin(m);
    append("step 30 ms\n");
    scratch_need(rename(log_path, old) == 0, "rename");
    end_block(m);
    assert_true(value_of("log.mean") == 30);
    append("step 40 ms\n"); /* before the block */
    cpubind_metric_begin(m);
    append("step 50 ms\n");
    end_block(m);
    assert_true(value_of("log.mean") == 50);
    cpubind_metric_begin(m);
    scratch_need(truncate(log_path, 0) == 0, "truncate");
    append("step 60 ms\n");
    end_block(m);
    assert_true(value_of("log.mean") == 60);
    cpubind_metric_begin(m);
    scratch_need(unlink(log_path) == 0 && mkdir(log_path, 0755) == 0, "mkdir");
    end_block(m);
    expect_not_counted("log.mean", "open: Is a directory");
    cpubind_metric_close(m);
}

/* == Failing calls ========================================================== */

/* One block of each kind with a table in which a call fails. Returns whether the call was met:
 * then a figure is not counted, or counts what it should. */
static int run_with_fault(call which, int nth)
{
    static const char page[] = OK "a 5\n";
    const cpubind_metric_spec specs[] = {{CPUBIND_METRIC_PAGE, f.url, NULL, ""},
                                         {CPUBIND_METRIC_COMMAND, "echo 5", NULL, ""},
                                         {CPUBIND_METRIC_LOG, log_path, "([0-9]+)", ""}};
    int is_met = 0;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        cpubind_metric_spec spec = specs[i];
        char url[80];
        cpubind_metric *m = NULL;
        cpubind_metric_why why = {""};
        if (i == 0) {
            f.answer[0] = f.answer[1] = page;
            start_server(2);
            snprintf(url, sizeof url, "%s#a", f.url);
            spec.text = url;
        }
        scratch_file(&f.s, "engine.log", "1\n");
        fault_set(which, nth, EIO);
        const cpubind_linux_status status = cpubind_metric_open(&fault_table, &spec, &m, &why);
        figures.n = 0;
        if (status == CPUBIND_LINUX_OK) {
            (void)cpubind_metric_begin(m);
            append("5\n");
            cpubind_metric_end(m, &figures);
            cpubind_metric_close(m);
        } else {
            assert_true(why.text[0] != '\0' && fault.n_met > 0);
        }
        const int is_failed = fault.n_met > 0;
        is_met |= is_failed;
        fault_clear();
        if (i == 0) { /* the answers that were not fetched */
            for (int k = 0; k < 2; k++) {
                struct sockaddr_in to;
                socklen_t len = sizeof to;
                const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
                getsockname(f.listener, (struct sockaddr *)&to, &len);
                if (connect(fd, (struct sockaddr *)&to, len) == 0)
                    (void)!write(fd, "\r\n\r\n", 4);
                shutdown(fd, SHUT_WR);
                close(fd);
            }
            end_server();
        }
        for (int32_t k = 0; k < figures.n; k++)
            assert_true(figures.at[k].not_counted[0] || figures.at[k].value == 5);
        if (status == CPUBIND_LINUX_OK)
            assert_true(figures.n > 0);
        for (int32_t k = 0; k < figures.n; k++)
            if (!is_failed && strcmp(figures.at[k].name, "log.p99") != 0)
                assert_string_equal(figures.at[k].not_counted, "");
    }
    return is_met;
}

TEST(every_call_fails_at_each_of_its_uses)
{
    int n_met = 0;
    snprintf(log_path, sizeof log_path, "%s/engine.log", f.s.dir);
    for (int which = CALL_NONE + 1; which < N_CALLS; which++)
        for (int nth = 1; run_with_fault((call)which, nth) && nth < 100; nth++)
            n_met++;
    assert_true(n_met > 20);
}

TEST_FILE(set_up, tear_down)
