/* test_npusmi_next.c - outputs that a later npu-smi may print: the same values, or an error
 * SPDX-License-Identifier: MIT
 *
 * Each table of next_tables.txt is read. A reader must give the values of the table and the
 * first text that it does not know, or an error at the place that the table names.
 */
#define _POSIX_C_SOURCE 200809L

#include "next_tables.h"

static lines got;
static int32_t n_wrong;

static int is_unknown(const next_table *next)
{
    return got.unknown.len == (int32_t)strlen(next->unknown) &&
           memcmp(next->text + got.unknown.at, next->unknown, (size_t)got.unknown.len) == 0;
}

static int is_expected(const next_table *next)
{
    got.len = 0;
    got.text[0] = '\0';
    next->write(&got, next->text, (int32_t)strlen(next->text));
    if (strcmp(cpubind_text_status_name(got.status), next->status) != 0)
        return 0;
    if (got.status != CPUBIND_TEXT_OK)
        return got.fault.offset == next->offset;
    return strcmp(got.text, next->values) == 0 && is_unknown(next);
}

static void check_table(const next_table *next)
{
    if (is_expected(next))
        return;
    n_wrong++;
    print_error("%s:\n%s-- %s at %d: %s\n%s", next->name, next->text,
                cpubind_text_status_name(got.status),
                got.status == CPUBIND_TEXT_OK ? -1 : got.fault.offset,
                got.status == CPUBIND_TEXT_OK ? "" : got.fault.what, got.text);
    if (got.status == CPUBIND_TEXT_OK)
        print_error("-- unknown: \"%.*s\"\n", got.unknown.len, next->text + got.unknown.at);
    print_error("-- expected: %s at %ld, unknown \"%s\"\n%s\n", next->status, next->offset,
                next->unknown, next->values);
}

TEST(next_tables_give_their_values_or_an_error)
{
    assert_int_equal(each_next_table(check_table), 151);
    assert_int_equal(n_wrong, 0);
}

TEST_FILE(NULL, NULL)
