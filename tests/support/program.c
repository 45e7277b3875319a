/* program.c - the one program with all tests in C
 * SPDX-License-Identifier: MIT
 *
 *   test --list [WORD]      the groups; those with WORD in their names, else in that of a test
 *   test GROUP [WORD]       runs a group, or its tests with WORD in their names; prints TAP
 *   test --here GROUP ...   the same in this process, for a debugger
 *
 * A group runs in a child, which prints what cmocka prints. This process makes of it what every
 * reader of TAP understands: a test that is skipped is "ok ... # SKIP why", and not the "not
 * ok" of cmocka; a child that crashes or ends early is a test that has failed.
 */
#include "test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static test_group *first_group;
static test_source *first_source;

void test_add_group(test_group *group)
{
    test_group **at = &first_group;
    while (*at)
        at = &(*at)->next;
    *at = group;
}

void test_add_source(test_source *source)
{
    source->next = first_source;
    first_source = source;
}

/* tests/core/test_near.c: core/near */
static const char *name_of(const test_group *group)
{
    static char name[256];
    const char *from = strstr(group->path, "tests/"), *file;
    from = from ? from + strlen("tests/") : group->path;
    file = strrchr(from, '/');
    file = file ? file + 1 : from;
    (void)snprintf(name, sizeof name, "%.*s%s", (int)(file - from), from,
                   strncmp(file, "test_", 5) == 0 ? file + 5 : file);
    name[strcspn(name, ".")] = '\0';
    return name;
}

/* == The list ============================================================== */

static const char *listed; /* a word */
static int n_listed;

static void list_name(const char *group)
{
    if (!strstr(group, listed))
        return;
    (void)printf("%s\n", group);
    n_listed++;
}

static int has_test(const test_group *group)
{
    for (size_t i = 0; i < group->n; i++)
        if (strstr(group->test[i].name, listed))
            return 1;
    return 0;
}

/* Where no group has the word in its name, those with a test that has it. */
static void list_groups(void)
{
    for (const test_group *g = first_group; g; g = g->next)
        list_name(name_of(g));
    for (const test_source *s = first_source; s; s = s->next)
        s->list(list_name);
    for (const test_group *g = first_group; g && n_listed == 0; g = g->next)
        if (has_test(g))
            (void)printf("%s\n", name_of(g));
}

/* == A group =============================================================== */

/* The name that is looked for, and whether a source has it. */
static const char *looked_for;
static int is_found;

static void look_at(const char *group)
{
    is_found |= strcmp(group, looked_for) == 0;
}

static int run_group(const char *name, const char *word)
{
    looked_for = name;
    if (word)
        cmocka_set_test_filter(word);
    cmocka_set_message_output(CM_OUTPUT_TAP);
    for (test_group *g = first_group; g; g = g->next)
        if (strcmp(name_of(g), name) == 0)
            return g->program ? g->program() != 0
                              : _cmocka_run_group_tests(name, g->test, g->n, NULL, NULL) != 0;
    for (const test_source *s = first_source; s; s = s->next) {
        s->list(look_at);
        if (is_found)
            return s->run(name) != 0;
    }
    (void)fprintf(stderr, "there is no group %s: test --list\n", name);
    return 2;
}

/* == What a child has printed ============================================== */

static int n_test;    /* lines of tests so far */
static char why[512]; /* of the test that is skipped next */

static void take_line(const char *line)
{
    int number, at = 0;
    n_test += strncmp(line, "ok ", 3) == 0 || strncmp(line, "not ok ", 7) == 0;
    if (strncmp(line, "# because: ", 11) == 0)
        (void)snprintf(why, sizeof why, "%.*s", (int)strcspn(line + 11, "\n"), line + 11);
    else if (sscanf(line, "not ok %d # SKIP %n", &number, &at) == 1 && at > 0)
        (void)printf("ok %d - %.*s # SKIP %s\n", number, (int)strcspn(line + at, "\n"),
                     line + at, why);
    else
        (void)fputs(line, stdout);
}

static int run_child(const char *name, const char *word)
{
    int ends[2], status = 0;
    char *line = NULL;
    size_t size = 0;
    FILE *printed;
    pid_t child;
    if (pipe(ends) != 0 || (child = fork()) < 0) {
        perror("test");
        return 2;
    }
    if (child == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        status = run_group(name, word);
        (void)fflush(stdout);
        if (status != 0)
            _exit(status); /* a test that fails leaves memory: its words are enough */
        exit(status);
    }
    (void)close(ends[1]);
    printed = fdopen(ends[0], "r");
    while (printed && getline(&line, &size, printed) > 0) {
        take_line(line);
        (void)fflush(stdout);
    }
    free(line);
    if (printed)
        (void)fclose(printed);
    while (waitpid(child, &status, 0) != child)
        ;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    (void)printf("not ok %d - %s was ended by signal %d\n", n_test + 1, name, WTERMSIG(status));
    return 1;
}

/* For the commands that tests start. A leak is looked for in this program alone: a command
 * ends. It starts in less time if no caller of malloc is kept, and no redzone of a global is
 * made: this program has those. */
static void set_sanitizer(void)
{
    const char *own = getenv("ASAN_OPTIONS");
    char options[1024];
    (void)snprintf(options, sizeof options,
                   "%s:detect_leaks=0:malloc_context_size=1:report_globals=0",
                   own ? own : "handle_sigill=1");
    (void)setenv("ASAN_OPTIONS", options, 1);
}

int main(int argc, char **argv)
{
    const char *option = argc > 1 ? argv[1] : "";
    set_sanitizer();
    if (strcmp(option, "--list") == 0) {
        listed = argc > 2 ? argv[2] : "";
        list_groups();
        return 0;
    }
    if (strcmp(option, "--here") == 0 && argc > 2)
        return run_group(argv[2], argc > 3 ? argv[3] : NULL);
    if (*option && *option != '-')
        return run_child(option, argc > 2 ? argv[2] : NULL);
    (void)fputs("usage: test --list [WORD] | [--here] GROUP [WORD]\n", stderr);
    return 2;
}
