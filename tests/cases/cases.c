/* cases.c - the cases of tests/cases/NAME.txt that have no driver of their own
 * SPDX-License-Identifier: MIT
 *
 *   read READER [ARGUMENTS]    the data, or what follows " = ", by a row of the table of readers
 *                              (tests/readers/readers.h): what it says, or "STATUS at OFFSET:
 *                              reason". The laws of readers are held at every length of the
 *                              data, and with single bytes of it changed
 *   but TEXT => OTHER          the same of the last read, with OTHER where it has TEXT first;
 *                              bytes are escaped as in data
 */
#define _GNU_SOURCE
#include "../support/cases.h"
#include "../readers/readers.h"

static void fail_by_law(const char *law, const char *file, int line)
{
    fail_msg("%s:%d: a law is broken: %s", file, line, law);
}

enum { MOST_CUTS = 256 };

/* Damaged texts: whatever is said of them, by the laws. */
static void read_damaged(const reader *row, const char *args, const char *text, int32_t len)
{
    const int32_t stride = 1 + len / MOST_CUTS;
    words heard = {NULL, 0, 0};
    char *damaged = exact_copy(text, (size_t)len);
    for (int32_t at = 0; at < len; at += stride) {
        (void)read_by_laws(row, args, text, at, &heard);
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
    row = row_of(now, &args);
    (void)read_by_laws(row, args, now->data ? now->data : "", now->data_len, &heard);
    read_damaged(row, args, now->data ? now->data : "", now->data_len);
    expect_lines(now, &heard);
}

static void read_changed(step *now)
{
    const step *last = now - 1;
    const char *args, *sign = strstr(now->rest, " => "), *at = NULL;
    char from[512], to[512], *text;
    words heard = {NULL, 0, 0};
    size_t n_from, n_to, n_before;
    while (last >= now->script->step && strcmp(last->verb, "read") != 0)
        last--;
    if (!sign || last < now->script->step || strlen(now->rest) > sizeof from)
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
    (void)read_by_laws(row_of(last, &args), args, text,
                       (int32_t)((size_t)last->data_len - n_from + n_to), &heard);
    free(text);
    expect_lines(now, &heard);
}

static void start(void)
{
}

/* Each file is a group: cases/NAME. */
static void list(void (*found)(const char *group))
{
    glob_t files;
    if (glob("tests/cases/*.txt", 0, NULL, &files) != 0)
        return;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char name[256];
        const char *file = files.gl_pathv[i] + strlen("tests/");
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(file, "."), file);
        if (strncmp(name, "cases/command_", strlen("cases/command_")) != 0) /* command.c */
            found(name);
    }
    globfree(&files);
}

static int run(const char *group)
{
    static const verb of_program[] = {{"read", read_text}, {"but", read_changed}, {NULL, NULL}};
    char path[512];
    (void)snprintf(path, sizeof path, "tests/%s.txt", group);
    return run_case_files(group, path, of_program, start);
}

TEST_SOURCE(list, run)
