/* expectations.h - the expectations in fixtures/hosts/NAME.host, for tests
 * SPDX-License-Identifier: MIT
 *
 * Finds them as text, without the reader of the command: JSON allows the blank before a line.
 */
#ifndef CPUBIND_TESTS_CLI_EXPECTATIONS_H
#define CPUBIND_TESTS_CLI_EXPECTATIONS_H

#include <glob.h>
#include <jansson.h>
#include <stdio.h>

#include "../support/test.h"
#include "run_command.h"

typedef struct expectation {
    char root[256];  /* fixtures/hosts/NAME.host */
    char name[128];  /* CASE */
    char label[256]; /* "NAME, CASE" */
    json_t *body;
} expectation;

typedef struct expectations {
    expectation *row; /* by host, then by name */
    size_t n;
} expectations;

/* Adds those of one host. */
static inline void add_expectations(expectations *all, const char *root)
{
    static const char mark[] = "\nfile expect/";
    FILE *file = fopen(root, "r");
    assert_non_null(file);
    char *const text = command_slurp(file);
    for (char *at = strstr(text, mark); at; at = strstr(at, mark)) {
        char *const name = at + sizeof mark - 1, *const end = strchr(name, '\n');
        const char *const host = strrchr(root, '/') + 1;
        expectation e = {.body = NULL};
        assert_non_null(end);
        at = strstr(end, "\nfile ");
        assert_non_null(at);
        assert_null(memchr(end, '\\', (size_t)(at - end))); /* no byte is written otherwise */
        e.body = json_loadb(end, (size_t)(at - end), 0, NULL);
        (void)snprintf(e.root, sizeof e.root, "%s", root);
        (void)snprintf(e.name, sizeof e.name, "%.*s", (int)(strstr(name, ".json") - name),
                       name);
        (void)snprintf(e.label, sizeof e.label, "%.*s, %s",
                       (int)(strlen(host) - strlen(".host")), host, e.name);
        if (!e.body)
            fail_msg("%s is no JSON", e.label);
        all->row = (expectation *)realloc(all->row, (all->n + 1) * sizeof e);
        assert_non_null(all->row);
        all->row[all->n++] = e;
    }
    free(text);
}

/* Reads those of all hosts. */
static inline expectations read_expectations(void)
{
    expectations all = {NULL, 0};
    glob_t found;
    assert_int_equal(glob("fixtures/hosts/*.host", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        add_expectations(&all, found.gl_pathv[i]);
    globfree(&found);
    return all;
}

static inline void free_expectations(expectations *all)
{
    for (size_t i = 0; i < all->n; i++)
        json_decref(all->row[i].body);
    free(all->row);
}

#endif /* CPUBIND_TESTS_CLI_EXPECTATIONS_H */
