/* read.c - texts, and what the readers read of them
 * SPDX-License-Identifier: MIT
 *
 * The cases are tests/cases/read_*.txt.
 *   read READER [ARGUMENTS]    the data, or what follows " = ", by a row of the table of
 *                              readers (tests/readers/readers.h): what it says, or "STATUS at
 *                              OFFSET: reason". The laws of readers are held at every length
 *                              of the data, and with single bytes of it changed
 *   again READER [ARGUMENTS]   the data of the last verb
 *   but TEXT => OTHER          the same of the last read, with OTHER where it has TEXT first;
 *                              bytes are escaped as in data
 *   capture FILE               for `again`: an output of npu-smi of a real host. These are no
 *                              part of the project: npu-smi/captures of the folder
 *                              CPUBIND_SHARED; without it the case is skipped
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "../readers/readers.h"
#include "../support/cases.h"

static const step *reading_now; /* its text is as it is, cut, or changed at a byte */
static const char *damage;
static int32_t damaged_at;

static void fail_by_law(const char *law, const char *file, int line)
{
    fail_msg("%s:%d: %s %s\n%.*s\n%s at byte %d, a law of %s:%d is broken: %s",
             reading_now->script->path, reading_now->line, reading_now->verb, reading_now->rest,
             reading_now->data_len, reading_now->data ? reading_now->data : "", damage,
             damaged_at, file, line, law);
}

enum { MOST_CUTS = 256 };

/* Damaged texts: whatever is said of them, by the laws. */
static void read_damaged(const reader *row, const char *args, const char *text, int32_t len)
{
    const int32_t stride = 1 + len * one_in(4) / MOST_CUTS;
    words heard = {NULL, 0, 0};
    char *damaged = exact_copy(text, (size_t)len);
    for (int32_t at = 0; at < len; at += stride) {
        damaged_at = at;
        damage = "cut";
        (void)read_by_laws(row, args, text, at, &heard);
        damage = "changed";
        damaged[at] ^= (char)(1 << at % 8);
        (void)read_by_laws(row, args, damaged, len, &heard);
        damaged[at] = text[at];
        heard.len = 0;
    }
    free(damaged);
    free(heard.text);
}

/* The lines of what was said, each behind "> ". */
static void take_lines(said *got, char *text)
{
    for (char *line = text, *end; line && *line; line = end + 1) {
        end = line + strcspn(line, "\n");
        say(got, "> %.*s\n", (int)(end - line), line);
        if (!*end)
            break;
    }
}

static const step *last; /* for `again` */

static void take_capture(step *now)
{
    static char *text;
    const char *shared = getenv("CPUBIND_SHARED");
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/npu-smi/captures/%s", shared ? shared : "../shared",
                   now->rest);
    if (access(path, R_OK) != 0)
        SKIP("there are no captures of real hosts: ../shared/npu-smi");
    free(text);
    now->data = text = read_whole(path, &now->data_len);
    last = now;
}

/* The row of a read, and what it is told. */
static const reader *row_of(const step *now, const char **args)
{
    char name[64];
    const reader *row;
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(now->rest, " "), now->rest);
    *args = now->rest + strcspn(now->rest, " ");
    *args += **args == ' ';
    row = find_reader(name);
    if (!row)
        fail_msg("%s:%d: there is no reader %s", now->script->path, now->line, name);
    readers_broken = fail_by_law;
    reading_now = now;
    damage = "read";
    damaged_at = now->data_len;
    return row;
}

static void expect_lines(step *now, words *heard)
{
    static said got;
    got.len = 0;
    got.text[0] = '\0';
    take_lines(&got, heard->text);
    free(heard->text);
    expect(now, &got);
}

static void read_text(step *now)
{
    words heard = {NULL, 0, 0};
    const char *args;
    const reader *row;
    split_file(now);
    if (*now->verb == 'a') {
        now->data = last->data;
        now->data_len = last->data_len;
    }
    last = now;
    row = row_of(now, &args);
    (void)read_by_laws(row, args, now->data ? now->data : "", now->data_len, &heard);
    read_damaged(row, args, now->data ? now->data : "", now->data_len);
    expect_lines(now, &heard);
}

static void read_changed(step *now)
{
    const char *args, *sign = strstr(now->rest, " => "), *at;
    const reader *row;
    char from[512], to[512], *text;
    words heard = {NULL, 0, 0};
    size_t n_from, n_to, n_before;
    if (!sign || !last || last->script != now->script || strlen(now->rest) > sizeof from)
        fail_msg("%s:%d: there is no text, or no =>", now->script->path, now->line);
    n_from = (size_t)(decode(now->rest, sign, from) - from) - 1;
    n_to = (size_t)(decode(sign + 4, now->rest + strlen(now->rest), to) - to) - 1;
    at = memmem(last->data, (size_t)last->data_len, from, n_from);
    if (!at)
        fail_msg("%s:%d: the text is not there", now->script->path, now->line);
    n_before = (size_t)(at - last->data);
    text = (char *)malloc((size_t)last->data_len + n_to);
    assert_non_null(text);
    memcpy(text, last->data, n_before);
    memcpy(text + n_before, to, n_to);
    memcpy(text + n_before + n_to, at + n_from, (size_t)last->data_len - n_before - n_from);
    row = row_of(last, &args); /* which sets args */
    (void)read_by_laws(row, args, text, (int32_t)((size_t)last->data_len - n_from + n_to),
                       &heard);
    free(text);
    expect_lines(now, &heard);
}

static void start(void)
{
}

static const verb of_driver[] = {
    {"read", read_text},       {"again", read_text}, {"but", read_changed},
    {"capture", take_capture}, {NULL, NULL},
};

TEST_CASES("read_*", of_driver, start)
