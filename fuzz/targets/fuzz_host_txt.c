/* fuzz_host_txt.c - fuzz target: parse host.txt
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in adapters/text/host_txt.h.
 */
#include "../fuzz.h"

#include "../../adapters/text/host_txt.h"

/* Appends a line "key: value" and a NUL; returns the address of the NUL. */
static char *append(char *to, const char *key, const char *text, cpubind_slice value)
{
    const size_t n = strlen(key);
    memcpy(to, key, n);
    memcpy(to + n, ": ", 2);
    to += n + 2;
    memcpy(to, text + value.at, (size_t)value.len);
    to += value.len;
    *to++ = '\n';
    *to = '\0';
    return to;
}

static void check_value(const char *text, int32_t len, cpubind_slice value)
{
    CHECK(value.at >= 0 && value.len > 0 && value.at <= len - value.len);
    for (int32_t i = 0; i < value.len; i++)
        CHECK((unsigned char)text[value.at + i] >= 0x20);
}

/* The values, written in the usual order, are parsed to the same values. */
static void check_again(const char *text, int32_t len, const cpubind_host_txt *about)
{
    char *written = (char *)fuzz_filled((size_t)len + 64, 0);
    char *end = written;
    cpubind_host_txt again;
#define CPUBIND_X(member, key)                                                                 \
    check_value(text, len, about->member);                                                     \
    end = append(end, key, text, about->member);
    CPUBIND_HOST_TXT_LIST(CPUBIND_X)
#undef CPUBIND_X
    CHECK(cpubind_host_txt_parse(written, (int32_t)(end - written), &again, NULL) ==
          CPUBIND_TEXT_OK);
#define CPUBIND_X(member, key)                                                                 \
    CHECK(again.member.len == about->member.len);                                              \
    CHECK(fuzz_same(written + again.member.at, text + about->member.at,                        \
                    (size_t)again.member.len));
    CPUBIND_HOST_TXT_LIST(CPUBIND_X)
#undef CPUBIND_X
    free(written);
}

/* The name of the host passes the check of names. */
static void check_name(const char *text, cpubind_slice name)
{
    char *copy = (char *)fuzz_filled((size_t)name.len + 1, 0);
    memcpy(copy, text + name.at, (size_t)name.len);
    CHECK(cpubind_host_txt_is_name(copy));
    CHECK(strspn(copy, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._") ==
          (size_t)name.len);
    free(copy);
}

static void check_text(const char *text, int32_t len)
{
    cpubind_host_txt about;
    cpubind_text_fault fault = {-7, NULL};
    memset(&about, FUZZ_FILL, sizeof about);
    if (cpubind_host_txt_parse(text, len, &about, &fault) == CPUBIND_TEXT_OK) {
        CHECK(fault.offset == -7 && fault.what == NULL);
        check_again(text, len, &about);
        check_name(text, about.name);
    } else {
        fuzz_check_fault(&fault, len);
        CHECK(fuzz_holds_only(&about, sizeof about, FUZZ_FILL));
    }
    CHECK(cpubind_host_txt_parse(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
