/* test_http.c - addresses of pages, and heads of answers
 * SPDX-License-Identifier: MIT
 */
#include "text_test.h"

#include "../../adapters/text/http.h"

static int is_slice(const char *text, cpubind_slice slice, const char *word)
{
    return slice.len == (int32_t)strlen(word) &&
           memcmp(text + slice.at, word, (size_t)slice.len) == 0;
}

TEST(addresses_are_read)
{
    static const struct {
        const char *text, *host, *path;
        int32_t port;
    } cases[] = {
        {"http://127.0.0.1:8000/metrics", "127.0.0.1", "/metrics", 8000},
        {"http://localhost", "localhost", "", 80},
        {"http://[::1]:65535/", "::1", "/", 65535},
        {"http://h/a?b=c&d", "h", "/a?b=c&d", 80},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const int32_t len = (int32_t)strlen(cases[i].text);
        char *edge = edge_text(cases[i].text, len);
        cpubind_http_url url;
        assert_int_equal(cpubind_http_url_parse(edge, len, &url, NULL), CPUBIND_TEXT_OK);
        assert_true(is_slice(edge, url.host, cases[i].host));
        assert_true(is_slice(edge, url.path, cases[i].path));
        assert_int_equal(url.port, cases[i].port);
        free(edge);
    }
}

static cpubind_text_status read_url(const char *text, int32_t len, cpubind_text_fault *fault)
{
    cpubind_http_url url;
    return cpubind_http_url_parse(text, len, &url, fault);
}

TEST(other_addresses_are_refused_where_they_go_wrong)
{
    static const verdict cases[] = {
        {"", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"https://h", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"http://", CPUBIND_TEXT_ERR_SYNTAX, 7},
        {"http://:80", CPUBIND_TEXT_ERR_SYNTAX, 7},
        {"http://[]", CPUBIND_TEXT_ERR_SYNTAX, 8},
        {"http://[::1", CPUBIND_TEXT_ERR_SYNTAX, 11},
        {"http://::1/", CPUBIND_TEXT_ERR_SYNTAX, 7},
        {"http://h:", CPUBIND_TEXT_ERR_SYNTAX, 9},
        {"http://h:0", CPUBIND_TEXT_ERR_RANGE, 9},
        {"http://h:08", CPUBIND_TEXT_ERR_SYNTAX, 9},
        {"http://h:65536", CPUBIND_TEXT_ERR_RANGE, 9},
        {"http://h:8000x", CPUBIND_TEXT_ERR_SYNTAX, 13},
        {"http://u@h/", CPUBIND_TEXT_ERR_SYNTAX, 8},
        {"http://h/a b", CPUBIND_TEXT_ERR_SYNTAX, 10},
        {"http://h/\r\nx", CPUBIND_TEXT_ERR_SYNTAX, 9},
    };
    expect_verdicts(read_url, cases, LENGTH(cases));
}

TEST(heads_are_read)
{
    static const char text[] = "HTTP/1.1 307 Temporary Redirect\r\n"
                               "date: Fri, 27 Nov 2026 15:00:00 GMT\r\n"
                               "LOCATION:  http://h/metrics/ x\r\n"
                               "Transfer-Encoding: identity\n"
                               "content-length: 12\r\n"
                               "Content-Length: 12\r\n"
                               "\r\n"
                               "Content-Length: 13\r\n\r\n";
    const int32_t whole = (int32_t)strlen(text);
    const int32_t head_len = (int32_t)(strstr(text, "\r\n\r\n") - text) + 4;
    for (int32_t len = 0; len <= whole; len++) {
        char *edge = edge_text(text, len);
        cpubind_text_fault fault = no_fault;
        cpubind_http_head head;
        memset(&head, EDGE_FILL, sizeof head);
        const cpubind_text_status status = cpubind_http_head_parse(edge, len, &head, &fault);
        if (len < head_len) {
            assert_int_equal(status, CPUBIND_TEXT_ERR_CUT);
            assert_untouched(&head, sizeof head);
            assert_fault(&fault, len);
        } else {
            assert_int_equal(status, CPUBIND_TEXT_OK);
            assert_int_equal(head.status, 307);
            assert_int_equal(head.len, head_len);
            assert_int_equal(head.page_len, 12);
            assert_false(head.is_coded);
            assert_true(is_slice(edge, head.location, "http://h/metrics/"));
        }
        free(edge);
    }
}

static cpubind_text_status read_head(const char *text, int32_t len, cpubind_text_fault *fault)
{
    cpubind_http_head head;
    return cpubind_http_head_parse(text, len, &head, fault);
}

TEST(other_heads_are_refused_where_they_go_wrong)
{
    static const verdict cases[] = {
        {"HTTP/1.0 200\n\n", CPUBIND_TEXT_OK, -1},
        {"\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {" HTTP/1.0 200\n\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"HTTP/2 200 OK\n\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"HTTP/1.\n\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"HTTP/1.x 200\n\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"HTTP/1.0 OK\n\n", CPUBIND_TEXT_ERR_SYNTAX, 9},
        {"HTTP/1.0 99\n\n", CPUBIND_TEXT_ERR_SYNTAX, 9},
        {"HTTP/1.0 600\n\n", CPUBIND_TEXT_ERR_RANGE, 9},
        {"HTTP/1.0 200x\n\n", CPUBIND_TEXT_ERR_SYNTAX, 9},
        {"HTTP/1.0 200\nno name\n\n", CPUBIND_TEXT_ERR_SYNTAX, 15},
        {"HTTP/1.0 200\n: x\n\n", CPUBIND_TEXT_ERR_SYNTAX, 13},
        {"HTTP/1.0 200\na\n\n", CPUBIND_TEXT_ERR_SYNTAX, 14},
        {"HTTP/1.0 200\nContent-Length: \n\n", CPUBIND_TEXT_ERR_SYNTAX, 28},
        {"HTTP/1.0 200\nContent-Length: -1\n\n", CPUBIND_TEXT_ERR_SYNTAX, 29},
        {"HTTP/1.0 200\nContent-Length: 2147483648\n\n", CPUBIND_TEXT_ERR_RANGE, 29},
        {"HTTP/1.0 200\nContent-Length: 1\nContent-Length: 2\n\n", CPUBIND_TEXT_ERR_RANGE, 47},
    };
    expect_verdicts(read_head, cases, LENGTH(cases));
}

TEST(a_coded_page_is_told)
{
    static const struct {
        const char *field;
        int32_t is_coded;
    } cases[] = {{"Transfer-Encoding: chunked", 1},
                 {"content-encoding: gzip", 1},
                 {"Content-Encoding: identity", 0},
                 {"X-Content-Encoding: gzip", 0},
                 {"Content-Encodings: gzip", 0}};
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        char text[96];
        cpubind_http_head head;
        const int n =
            snprintf(text, sizeof text, "HTTP/1.0 200 OK\r\n%s\r\n\r\n", cases[i].field);
        assert_int_equal(cpubind_http_head_parse(text, n, &head, NULL), CPUBIND_TEXT_OK);
        assert_int_equal(head.is_coded, cases[i].is_coded);
        assert_int_equal(head.page_len, -1);
    }
}

TEST(bad_arguments_are_refused)
{
    cpubind_http_head head = {.status = 7};
    cpubind_http_url url = {.port = 7};
    assert_int_equal(cpubind_http_head_parse(NULL, 1, &head, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_http_head_parse("", -1, &head, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_http_head_parse("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_http_url_parse(NULL, 1, &url, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_http_url_parse("http://h", 8, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_true(head.status == 7 && url.port == 7);
}

TEST_FILE(NULL, NULL)
