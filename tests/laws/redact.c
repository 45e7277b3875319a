/* redact.c - an input of a fixture reads the same whatever its host is called
 * SPDX-License-Identifier: MIT
 *
 * The row `redact` of the table of readers holds that what is redacted reads the same. Here the
 * host has the name of a word of the input itself, which a plan must not lose.
 */
#include <ctype.h>

#include "../readers/readers.h"
#include "../support/cases.h"

enum { EACH = 23 }; /* of the words one in so many is tried */

static const char *const inputs[] = {
    "cmd/npu-smi-info.txt", "cmd/npu-smi-info-m.txt",
    "proc/interrupts",      "cmd/npu-smi-info-t-topo.txt",
    "proc/self/status",     "cmd/lscpu.txt",
    "cmd/lscpu-e.txt",      "cmd/npu-smi-info-t-board-i0-c0.txt"};

static int32_t n_word;
static const char *file_now, *args_now;

static void fail_by_law(const char *law, const char *file, int line)
{
    fail_msg("%s as \"redact %s\": a law of %s:%d is broken: %s", file_now, args_now, file,
             line, law);
}

/* Redacts an input of a host of this name. */
static void redact(const char *input, const char *host, const step *of)
{
    char args[256];
    words heard = {NULL, 0, 0};
    args_now = args;
    (void)snprintf(args, sizeof args, "%s%s%s", input, host ? " " : "", host ? host : "");
    (void)read_by_laws(find_reader("redact"), args, of->data, of->data_len, &heard);
    free(heard.text);
}

static void redact_words(const char *input, const step *of)
{
    const char *at = of->data, *end = of->data + of->data_len;
    redact(input, NULL, of);
    while (at < end) {
        char word[64];
        int32_t n = 0;
        while (at + n < end && (isalnum((unsigned char)at[n]) || at[n] == '-' || at[n] == '_'))
            n++;
        if (n >= 2 && n < 64 && n_word++ % (EACH * one_in(10)) == 0) {
            (void)snprintf(word, sizeof word, "%.*s", n, at);
            redact(input, word, of);
        }
        at += n > 0 ? n : 1;
    }
}

/* A host is written as data of cases are. */
TEST(a_fixture_reads_the_same_whatever_its_host_is_called)
{
    glob_t found;
    readers_broken = fail_by_law;
    assert_int_equal(glob("fixtures/hosts/*.host", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        script s;
        file_now = found.gl_pathv[i];
        read_script(&s, file_now);
        for (int32_t k = 0; k < s.n; k++)
            for (size_t j = 0; j < sizeof inputs / sizeof *inputs; j++)
                if (s.step[k].data && strcmp(s.step[k].rest, inputs[j]) == 0)
                    redact_words(inputs[j], &s.step[k]);
        drop_script(&s);
    }
    globfree(&found);
    assert_in_range(n_word, 10000, INT32_MAX);
}

TEST_FILE(NULL, NULL)
