/* inputs.c - the inputs of fuzz, by the rows of the table of readers: groups inputs/NAME
 * SPDX-License-Identifier: MIT
 *
 * Each input of fuzz/inputs/NAME.txt is a test. Every row with these inputs reads it whole and
 * cut short, for at most a second of CPU time. What crashes is named before the program ends.
 */
#include <glob.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "../../fuzz/archive.h"
#include "../support/test.h"
#include "readers.h"

/* Of the sanitizers, where the program has them. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static char what[512]; /* that is read now */

static void name_it(void)
{
    (void)!write(STDOUT_FILENO, what, strlen(what));
}

static void on_signal(int number)
{
    (void)number;
    static const char why[] = "# it takes more than a second\n";
    name_it();
    (void)!write(STDOUT_FILENO, why, sizeof why - 1);
    _exit(1);
}

static void fail_by_law(const char *law, const char *file, int line)
{
    fail_msg("%s%s:%d: a law is broken: %s", what, file, line, law);
}

static void feed(const reader *row, const archive_entry *e, size_t len)
{
    const struct itimerval second = {{0, 0}, {1, 0}}, never = {{0, 0}, {0, 0}};
    (void)snprintf(what, sizeof what, "# %s reads %s, its first %zu bytes\n", row->name,
                   e->name, len);
    (void)setitimer(ITIMER_PROF, &second, NULL);
    read_input(row, e->data ? e->data : "", (int32_t)len);
    (void)setitimer(ITIMER_PROF, &never, NULL);
}

static const char *group_name; /* of the archive */

static void read_entry(void **state)
{
    const archive_entry *e = (const archive_entry *)*state;
    const reader *row;
    int n = 0;
    for (int32_t i = 0; (row = reader_at(i)) != NULL; i++) {
        if (strcmp(inputs_of(row), group_name) != 0)
            continue;
        for (size_t quarter = 1; quarter < 4; quarter++)
            feed(row, e, e->len * quarter / 4);
        feed(row, e, e->len ? e->len - 1 : 0);
        feed(row, e, e->len);
        n++;
    }
    assert_true(n > 0);
}

static void list(void (*found)(const char *group))
{
    const reader *row;
    for (int32_t i = 0; (row = reader_at(i)) != NULL; i++) {
        char name[128];
        (void)snprintf(name, sizeof name, "inputs/%s", inputs_of(row));
        if (has_own_inputs(i))
            found(name);
    }
}

static int run(const char *group)
{
    struct CMUnitTest *test;
    archive a;
    char path[512];
    int result;
    (void)snprintf(path, sizeof path, "fuzz/%s.txt", group);
    group_name = group + strlen("inputs/");
    a = read_archive(path);
    test = (struct CMUnitTest *)calloc(a.n + 1, sizeof *test);
    if (!test)
        return 1;
    for (size_t i = 0; i < a.n; i++)
        test[i] = (struct CMUnitTest){a.entry[i].name, read_entry, NULL, NULL, &a.entry[i]};
    readers_broken = fail_by_law;
    (void)signal(SIGPROF, on_signal);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(name_it);
    result = _cmocka_run_group_tests(group, test, a.n, NULL, NULL);
    free(test);
    free_archive(&a);
    return result;
}

TEST_SOURCE(list, run)
