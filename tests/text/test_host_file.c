/* test_host_file.c - a host as one text: written, read again, damaged, cut off
 * SPDX-License-Identifier: MIT
 */
#include "text_test.h"

#include "../../adapters/text/host_file.h"

#define HEAD "cpubind host 1\n"

/* Writes parts; the caller frees the text. */
static char *write_parts(const cpubind_host_part *part, int32_t n, int32_t *len)
{
    const int64_t size = cpubind_host_file_write(part, n, NULL);
    char *text = (char *)malloc((size_t)size);
    assert_non_null(text);
    assert_int_equal(cpubind_host_file_write(part, n, text), size);
    *len = (int32_t)size;
    return text;
}

static void expect_text(const char *name, const char *data, int32_t len, const char *text)
{
    const cpubind_host_part part = {name, data, len};
    int32_t size, at = 0;
    char *written = write_parts(&part, 1, &size);
    cpubind_host_entry entry = {{0, 0}, {0, 0}};
    assert_int_equal(size, strlen(text));
    assert_memory_equal(written, text, (size_t)size);
    assert_int_equal(cpubind_host_file_next(written, size, &at, &entry, NULL), CPUBIND_TEXT_OK);
    assert_string_equal(written + entry.name.at, name);
    assert_int_equal(entry.name.len, strlen(name));
    assert_int_equal(entry.data.len, len);
    if (len > 0)
        assert_memory_equal(written + entry.data.at, data, (size_t)len);
    assert_int_equal(cpubind_host_file_next(written, size, &at, &entry, NULL), CPUBIND_TEXT_OK);
    assert_int_equal(entry.name.len, 0);
    assert_int_equal(at, size);
    free(written);
}

TEST(any_bytes_are_text_and_are_read_again)
{
#define EXPECT(data, lines)                                                                    \
    expect_text("env", data, (int32_t)sizeof(data) - 1, HEAD "file env\n" lines "end\n")
    EXPECT("", "");
    EXPECT("a\n", " a\n");
    EXPECT("a", " a\\\n");
    EXPECT("\n", " \n");
    EXPECT("\n\n b \t\n", " \n \n  b \t\n");
    EXPECT("a\\", " a\\\\\\\n");
    EXPECT("\\x41\n", " \\\\x41\n");
    EXPECT("a\r\n\0\x7f\n", " a\\x0d\n \\x00\\x7f\n");
    EXPECT("\xe5\x8d\x8e\n", " \xe5\x8d\x8e\n");
    EXPECT("\xe5\x8d\n", " \\xe5\\x8d\n");
    EXPECT("end\nfile x\n", " end\n file x\n");
#undef EXPECT
    expect_text("a b\\\xff", "1\n", 2, HEAD "file a b\\\\\\xff\n 1\nend\n");
}

TEST(every_byte_is_read_as_it_was_written)
{
    char data[512];
    for (int i = 0; i < 256; i++) {
        data[2 * i] = (char)i;
        data[2 * i + 1] = (char)(i * 7);
    }
    const cpubind_host_part part[] = {{"dev", data, 512}, {"dev-x", data + 1, 300}};
    int32_t len, at = 0;
    char *text = write_parts(part, 2, &len);
    cpubind_host_entry entry = {{0, 0}, {0, 0}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cpubind_host_file_next(text, len, &at, &entry, NULL), CPUBIND_TEXT_OK);
        assert_string_equal(text + entry.name.at, part[i].name);
        assert_int_equal(entry.data.len, part[i].len);
        assert_memory_equal(text + entry.data.at, part[i].data, (size_t)part[i].len);
    }
    free(text);
}

TEST(what_is_below_a_folder_is_together)
{
    static const char *const ascending[] = {"a", "a/b", "a/b/c", "a/b-c", "a-b", "a.b", "b"};
    enum { N = sizeof ascending / sizeof *ascending };
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            const int order = cpubind_host_file_order(ascending[i], ascending[k]);
            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
}

/* Reads to the end or to a failure, in a buffer of the exact size. */
static cpubind_text_status read_all(const char *text, int32_t len, cpubind_text_fault *fault)
{
    char *exact = (char *)malloc(len > 0 ? (size_t)len : 1);
    cpubind_host_entry entry = {{0, 0}, {0, 0}};
    cpubind_text_status status;
    int32_t at = 0;
    assert_non_null(exact);
    memcpy(exact, text, (size_t)len);
    do {
        status = cpubind_host_file_next(exact, len, &at, &entry, fault);
    } while (status == CPUBIND_TEXT_OK && entry.name.len > 0);
    free(exact);
    return status;
}

TEST(a_text_that_is_cut_off_is_refused)
{
    static const char text[] = HEAD "file a\n 1\\\nfile b\n \\x00\n 2\nend\n";
    const int32_t len = (int32_t)sizeof text - 1;
    cpubind_text_fault fault = {-1, NULL};
    assert_int_equal(read_all(text, len, &fault), CPUBIND_TEXT_OK);
    for (int32_t n = 0; n < len; n++) {
        const cpubind_text_status status = read_all(text, n, &fault);
        assert_int_equal(status, n < (int32_t)strlen(HEAD) ? CPUBIND_TEXT_ERR_SYNTAX
                                                           : CPUBIND_TEXT_ERR_CUT);
        assert_int_equal(fault.offset, n < (int32_t)strlen(HEAD) ? 0 : n);
    }
}

TEST(what_no_host_has_is_refused_with_the_place)
{
    static const struct {
        const char *text; /* after the first line */
        int32_t offset;   /* in it */
        const char *what;
    } faults[] = {
        {"file /etc/passwd\n x\nend\n", 0, "relative"},
        {"file ../a\nend\n", 0, "\"..\""},
        {"file a/../../b\nend\n", 0, "\"..\""},
        {"file \\x2e./b\nend\n", 0, "\"..\""},
        {"file a//b\nend\n", 0, "empty part"},
        {"file \nend\n", 0, "empty part"},
        {"file a\\x00b\nend\n", 0, "control character"},
        {"file a\\x0ab\nend\n", 0, "control character"},
        {"file a\\\nend\n", 6, "a path does not end"},
        {"file a\nfile a\nend\n", 7, "twice"},
        {"file a\nfile a/b\nend\n", 7, "a folder too"},
        {"file b\n 1\nfile a\nend\n", 10, "not in order"},
        {"file a-b\nfile a/b\nend\n", 9, "not in order"},
        {"link a b\nend\n", 0, "neither"},
        {"\nend\n", 0, "neither"},
        {"file a\n 1\n\nend\n", 10, "neither"},
        {" a\nend\n", 0, "neither"},
        {"end \n", 0, "neither"},
        {"file a\n 1\\\n 2\nend\n", 11, "follows one that has no line feed"},
        {"file a\n 1\\q\nend\n", 9, "followed by neither"},
        {"file a\n 1\\x0\nend\n", 9, "followed by neither"},
        {"file a\n 1\\x0D\nend\n", 9, "followed by neither"},
        {"file a\n 1\r\nend\n", 9, "control character"},
        {"end\nend\n", 4, "follow"},
        {"end\n ", 4, "follow"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char text[128];
        cpubind_text_fault fault = {-1, ""};
        const int n = snprintf(text, sizeof text, HEAD "%s", faults[i].text);
        assert_int_not_equal(read_all(text, n, &fault), CPUBIND_TEXT_OK);
        if (!strstr(fault.what, faults[i].what))
            fail_msg("%s: %s, not %s", faults[i].text, fault.what, faults[i].what);
        assert_int_equal(fault.offset, (int32_t)strlen(HEAD) + faults[i].offset);
    }
}

TEST(another_form_is_refused)
{
    static const char *const heads[] = {"",   "cpubind host 2\nend\n",     "cpubind host 1",
                                        "\n", "cpubind host 1\r\nend\r\n", "ustar"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        cpubind_text_fault fault = {-1, ""};
        assert_int_equal(read_all(heads[i], (int32_t)strlen(heads[i]), &fault),
                         CPUBIND_TEXT_ERR_SYNTAX);
        assert_int_equal(fault.offset, 0);
    }
}

TEST_FILE(NULL, NULL)
