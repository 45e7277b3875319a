/* cases.c - the cases of tests/cases/NAME.txt that have no driver of their own
 * SPDX-License-Identifier: MIT
 *
 *   read READER [ARGUMENTS]    the data, or what follows " = ", by a row of the table of
 *                              readers (tests/readers/readers.h): what it says, or "STATUS at
 *                              OFFSET: reason". The laws of readers are held at every length of
 *                              the data, and with single bytes of it changed
 */
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

static void read_text(step *now)
{
    static said got;
    words heard = {NULL, 0, 0};
    const char *args;
    char name[64];
    const reader *row;
    split_file(now);
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(now->rest, " "), now->rest);
    args = now->rest + strcspn(now->rest, " ");
    args += *args == ' ';
    row = find_reader(name);
    if (!row)
        fail_msg("%s:%d: there is no reader %s", now->script->path, now->line, name);
    readers_broken = fail_by_law;
    (void)read_by_laws(row, args, now->data ? now->data : "", now->data_len, &heard);
    read_damaged(row, args, now->data ? now->data : "", now->data_len);
    got.len = 0;
    got.text[0] = '\0';
    take_lines(&got, heard.text);
    free(heard.text);
    expect(now, &got);
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
    static const verb of_program[] = {{"read", read_text}, {NULL, NULL}};
    char path[512];
    (void)snprintf(path, sizeof path, "tests/%s.txt", group);
    return run_case_files(group, path, of_program, start);
}

TEST_SOURCE(list, run)
