/* fuzz_http.c - fuzz target: read the address of a page, and the head of an answer
 * SPDX-License-Identifier: MIT
 *
 * The first line of the input is the address; the rest is the answer. The grammar is in
 * adapters/text/http.h.
 */
#include "../fuzz.h"

#include "../../adapters/text/http.h"

static void check_url(const char *text)
{
    const int32_t len = (int32_t)strlen(text);
    cpubind_text_fault fault = {-7, NULL};
    cpubind_http_url url = {.port = -7};
    char *exact = fuzz_text(text, (size_t)len);
    if (cpubind_http_url_parse(exact, len, &url, &fault) != CPUBIND_TEXT_OK) {
        CHECK(url.port == -7);
        fuzz_check_fault(&fault, len);
    } else {
        fuzz_check_slice(url.host, len);
        fuzz_check_slice(url.path, len);
        CHECK(fault.offset == -7 && url.port > 0 && url.port < 65536 && url.host.len > 0);
        CHECK(url.host.at >= 7 && url.path.at >= url.host.at + url.host.len);
        CHECK(url.path.at + url.path.len == len && memcmp(text, "http://", 7) == 0);
        CHECK(url.path.len == 0 || text[url.path.at] == '/');
        for (int32_t i = 0; i < len; i++)
            CHECK(text[i] > ' ' && text[i] < 0x7f);
    }
    free(exact);
}

/* A head is read from no fewer bytes than it has, and reads the same with any after it. */
static void check_answer(const char *text, int32_t len, const char *name)
{
    cpubind_text_fault fault = {-7, NULL};
    cpubind_http_head head = {.status = -7}, again = {.status = -7};
    const cpubind_text_status status = cpubind_http_head_parse(text, len, &head, &fault);
    check_url(name);
    CHECK(cpubind_http_head_parse(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
    if (status != CPUBIND_TEXT_OK) {
        CHECK(head.status == -7);
        CHECK(status != CPUBIND_TEXT_ERR_CUT || fault.offset == len);
        fuzz_check_fault(&fault, len);
        return;
    }
    CHECK(head.status >= 100 && head.status <= 599 && head.page_len >= -1);
    CHECK(head.len > 0 && head.len <= len && text[head.len - 1] == '\n');
    fuzz_check_slice(head.location, head.len);
    char *exact = fuzz_text(text, (size_t)head.len);
    CHECK(cpubind_http_head_parse(exact, head.len, &again, NULL) == CPUBIND_TEXT_OK);
    CHECK(memcmp(&head, &again, sizeof head) == 0);
    CHECK(cpubind_http_head_parse(exact, head.len - 1, &again, NULL) == CPUBIND_TEXT_ERR_CUT);
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_named_input(data, size, check_answer);
}
