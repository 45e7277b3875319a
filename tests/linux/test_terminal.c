/* test_terminal.c - the corpus of a program and the name of the host are found
 * SPDX-License-Identifier: MIT
 *
 * This program copies itself to where a command would be and runs the copy: with "find SIZE" it
 * prints the result of cpubind_linux_find_corpus as "ERROR PATH".
 */
#define _GNU_SOURCE
#include <sys/utsname.h>

#include "../../adapters/linux/terminal.h"
#include "../support/test.h"
#include "temp_dir.h"

static scratch s;

SETUP(set_up)
{
    scratch_make(&s);
    return 0;
}

SETUP(tear_down)
{
    scratch_remove(&s);
    return 0;
}

/* A copy of this program as `name`. */
static void copy_program(const char *name)
{
    char path[SCRATCH_PATH * 2], block[65536];
    scratch_path(&s, name, path);
    FILE *in = fopen("/proc/self/exe", "re"), *out = fopen(path, "we");
    scratch_need(in && out, path);
    for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;)
        scratch_need(fwrite(block, 1, n, out) == n, path);
    fclose(in);
    scratch_need(fclose(out) == 0 && chmod(path, 0755) == 0, path);
}

/* The output of the copy `name`, started in the scratch folder; freed by the next call. */
static const char *ask(const char *name, const char *size)
{
    static char answer[SCRATCH_PATH * 3];
    char command[SCRATCH_PATH * 3];
    snprintf(command, sizeof command, "cd '%s' && exec './%s' find %s", s.dir, name, size);
    FILE *pipe = popen(command, "re");
    scratch_need(pipe != NULL, command);
    size_t n = fread(answer, 1, sizeof answer - 1, pipe);
    answer[n] = '\0';
    scratch_need(pclose(pipe) == 0, command);
    return answer;
}

/* "0 PATH" of a file of the scratch folder; freed by the next call. */
static const char *found(const char *place)
{
    static char text[SCRATCH_PATH * 3];
    snprintf(text, sizeof text, "0 %s/%s\n", s.dir, place);
    return text;
}

static const char *not_found(int error)
{
    static char text[32];
    snprintf(text, sizeof text, "%d #\n", error);
    return text;
}

TEST(the_corpus_is_beside_the_program_or_in_its_share)
{
    copy_program("prefix/bin/cpubind");
    assert_string_equal(ask("prefix/bin/cpubind", "4096"), not_found(ENOENT));
    scratch_file(&s, "prefix/share/cpubind/fixtures.db", "x");
    assert_string_equal(ask("prefix/bin/cpubind", "4096"),
                        found("prefix/bin/../share/cpubind/fixtures.db"));
    scratch_file(&s, "prefix/bin/fixtures.db", "x");
    assert_string_equal(ask("prefix/bin/cpubind", "4096"), found("prefix/bin/fixtures.db"));
}

TEST(the_current_folder_is_not_searched)
{
    copy_program("prefix/bin/cpubind");
    scratch_file(&s, "fixtures.db", "x");
    scratch_file(&s, "build/fixtures.db", "x");
    scratch_file(&s, "share/cpubind/fixtures.db", "x");
    assert_string_equal(ask("prefix/bin/cpubind", "4096"), not_found(ENOENT));
}

TEST(the_folder_of_a_link_to_the_program_is_not_searched)
{
    copy_program("prefix/bin/cpubind");
    scratch_link(&s, "elsewhere/cpubind", "../prefix/bin/cpubind");
    scratch_file(&s, "elsewhere/fixtures.db", "x");
    assert_string_equal(ask("elsewhere/cpubind", "4096"), not_found(ENOENT));
    scratch_file(&s, "prefix/bin/fixtures.db", "x");
    assert_string_equal(ask("elsewhere/cpubind", "4096"), found("prefix/bin/fixtures.db"));
}

TEST(anything_but_a_regular_file_is_skipped)
{
    char path[SCRATCH_PATH * 2];
    copy_program("prefix/bin/cpubind");
    scratch_folder(&s, "prefix/bin/fixtures.db");
    assert_string_equal(ask("prefix/bin/cpubind", "4096"), not_found(ENOENT));
    scratch_path(&s, "prefix/share/cpubind/fixtures.db", path);
    scratch_need(mkfifo(path, 0600) == 0, path);
    assert_string_equal(ask("prefix/bin/cpubind", "4096"), not_found(ENOENT));
}

TEST(a_path_is_too_long_exactly_when_it_does_not_fit)
{
    char size[24];
    copy_program("cpubind");
    scratch_file(&s, "fixtures.db", "x");
    size_t len = strlen(s.dir) + strlen("/fixtures.db");
    snprintf(size, sizeof size, "%zu", len + 1);
    assert_string_equal(ask("cpubind", size), found("fixtures.db"));
    snprintf(size, sizeof size, "%zu", len);
    assert_string_equal(ask("cpubind", size), not_found(ENAMETOOLONG));
    assert_string_equal(ask("cpubind", "0"), not_found(ENAMETOOLONG));
}

TEST(the_name_of_the_host_is_that_of_uname)
{
    struct utsname system;
    scratch_need(uname(&system) == 0, "uname");
    size_t size = strlen(system.nodename) + 1;
    char *name = malloc(size); /* of exactly the size: the sanitizer reports a byte too many */
    scratch_need(name != NULL, "malloc");
    memset(name, '#', size);
    assert_int_equal(cpubind_linux_host_name(name, size - 1).error, ENAMETOOLONG);
    assert_int_equal(cpubind_linux_host_name(NULL, 0).error, ENAMETOOLONG);
    assert_int_equal(name[0], '#');
    assert_int_equal(cpubind_linux_host_name(name, size).error, 0);
    assert_string_equal(name, system.nodename);
    free(name);
}

/* The part of a copy. */
static int answer(const char *text)
{
    size_t size = strtoul(text, NULL, 10);
    char *path = malloc(size ? size : 1); /* of exactly the size */
    scratch_need(path != NULL, "malloc");
    memset(path, '#', size ? size : 1);
    int error = cpubind_linux_find_corpus(path, size).error;
    if (error)
        printf("%d %c\n", error, path[0]); /* unchanged */
    else
        printf("0 %s\n", path);
    free(path);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "find") == 0)
        return answer(argv[2]);
    return run_registered("terminal", set_up, tear_down);
}
