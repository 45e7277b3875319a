/* fuzz_stat.c - fuzz target: parse /proc/<pid>/stat
 * SPDX-License-Identifier: MIT
 *
 * The format is in adapters/text/procfs.h and in proc_pid_stat(5).
 */
#include "../fuzz.h"

#include "../../adapters/text/procfs.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_stat stat;
    memset(&stat, FUZZ_FILL, sizeof stat);
    const cpubind_text_status status = cpubind_stat_parse(text, len, &stat, fault);
    (void)limit;
    if (status != CPUBIND_TEXT_OK) {
        CHECK(fuzz_holds_only(&stat, sizeof stat, FUZZ_FILL));
        return status;
    }
    r->extra[0] = stat.pid;
    r->extra[1] = (unsigned char)stat.state;
    r->extra[2] = stat.ppid;
    r->extra[3] = stat.n_threads;
    return status;
}

/* The n-th word at or after `at`, from 0, in an allocation and ended by NUL. */
static char *copy_word(const char *text, int32_t at, int32_t n)
{
    int32_t end;
    for (; n > 0; n--, at++)
        while (text[at] != ' ')
            at++;
    for (end = at; text[end] != ' ' && text[end] != '\n'; end++)
        ;
    char *word = (char *)fuzz_filled((size_t)(end - at) + 1, 0);
    memcpy(word, text + at, (size_t)(end - at));
    return word;
}

/* The C library reads the same numbers; the name is all between the first "(" and the last
 * ")". */
static void check_values(const char *text, int32_t len)
{
    cpubind_stat stat;
    int32_t first = 0, last = len - 1;
    CHECK(cpubind_stat_parse(text, len, &stat, NULL) == CPUBIND_TEXT_OK);
    fuzz_check_slice(stat.name, len);
    while (text[first] != '(')
        first++;
    while (text[last] != ')')
        last--;
    CHECK(stat.name.at == first + 1 && stat.name.at + stat.name.len == last);
    CHECK(text[len - 1] == '\n' && text[last + 2] == stat.state);
    CHECK(strtoll(text, NULL, 10) == stat.pid && stat.pid >= 0);
    const int32_t field[3] = {1, 17, 19};
    for (int i = 0; i < 3; i++) {
        char *word = copy_word(text, last + 2, field[i]);
        const unsigned long long value = strtoull(word, NULL, 10);
        CHECK(value == (i == 0   ? (unsigned long long)stat.ppid
                        : i == 1 ? (unsigned long long)stat.n_threads
                                 : stat.start));
        free(word);
    }
    CHECK(stat.ppid >= 0 && stat.n_threads >= 0);
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 0, {0, 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        check_values(text, len);
        fuzz_end(&r);
        CHECK(cpubind_stat_parse(text, len - 1, &(cpubind_stat){0}, NULL) ==
              CPUBIND_TEXT_ERR_CUT);
    }
    CHECK(cpubind_stat_parse(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
