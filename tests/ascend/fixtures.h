/* fixtures.h - the hosts of fixtures/ as sources, for the tests of adapters/ascend
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_ASCEND_FIXTURES_H
#define CPUBIND_TESTS_ASCEND_FIXTURES_H

#include "../text/text_test.h"

#include <glob.h>

#include "../../adapters/source.h"
#include "../../adapters/text/host_file.h"

enum { MAX_FILES = 4096, MAX_LISTS = 1024 };

/* A host. Its answers are valid until the next one is read. */
typedef struct fixture_host {
    char *text;
    cpubind_host_entry file[MAX_FILES];
    int32_t n;
    char *list[MAX_LISTS];
    int32_t n_list;
} fixture_host;

static inline const char *fixture_name(const fixture_host *h, int32_t i)
{
    return h->text + h->file[i].name.at;
}

/* Exit codes are always 0: no test with this source needs them. */
static inline cpubind_input read_fixture(void *ctx, const char *name)
{
    const fixture_host *h = (const fixture_host *)ctx;
    cpubind_input input = {.state = CPUBIND_INPUT_ABSENT};
    for (int32_t i = 0; i < h->n; i++)
        if (strcmp(fixture_name(h, i), name) == 0) {
            input.state = CPUBIND_INPUT_PRESENT;
            input.data = h->text + h->file[i].data.at;
            input.len = h->file[i].data.len;
        }
    return input;
}

/* The names in a folder, each once: those of files in order are. */
static inline cpubind_input list_fixture(void *ctx, const char *folder)
{
    fixture_host *h = (fixture_host *)ctx;
    cpubind_input input = {.state = CPUBIND_INPUT_ABSENT};
    const size_t n = strlen(folder);
    char *lines = NULL, *last = NULL;
    size_t len = 0;
    for (int32_t i = 0; i < h->n; i++) {
        const char *name = fixture_name(h, i);
        if (strncmp(name, folder, n) != 0 || name[n] != '/')
            continue;
        const size_t part = strcspn(name + n + 1, "/");
        if (last && strncmp(last, name + n + 1, part) == 0 && last[part] == '\n')
            continue;
        lines = (char *)realloc(lines, len + part + 1);
        assert_non_null(lines);
        last = lines + len;
        memcpy(last, name + n + 1, part);
        last[part] = '\n';
        len += part + 1;
    }
    if (!lines)
        return input;
    assert_true(h->n_list < MAX_LISTS);
    h->list[h->n_list++] = lines;
    input.state = CPUBIND_INPUT_PRESENT;
    input.data = lines;
    input.len = (int32_t)len;
    return input;
}

static inline cpubind_source source_of_fixture(fixture_host *h)
{
    return (cpubind_source){h, read_fixture, list_fixture};
}

static inline void open_fixture(fixture_host *h, const char *path)
{
    cpubind_host_entry entry = {{0, 0}, {0, 0}};
    int32_t len = 0, at = 0;
    h->n = h->n_list = 0;
    h->text = read_file(path, &len);
    assert_non_null(h->text);
    for (;;) {
        assert_int_equal(cpubind_host_file_next(h->text, len, &at, &entry, NULL),
                         CPUBIND_TEXT_OK);
        if (entry.name.len == 0)
            return;
        assert_true(h->n < MAX_FILES);
        h->file[h->n++] = entry;
    }
}

static inline void close_fixture(fixture_host *h)
{
    for (int32_t i = 0; i < h->n_list; i++)
        free(h->list[i]);
    free(h->text);
}

/* Calls `check` with each host of fixtures/; returns how many there are. */
static inline int32_t each_fixture(void (*check)(fixture_host *h, const char *name))
{
    static fixture_host h;
    char path[1024];
    glob_t found;
    path_below(path, sizeof path, "CPUBIND_TESTS", "tests", "../fixtures/hosts/*.host");
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *base = strrchr(found.gl_pathv[i], '/') + 1;
        char name[256];
        (void)snprintf(name, sizeof name, "%.*s", (int)(strlen(base) - strlen(".host")), base);
        open_fixture(&h, found.gl_pathv[i]);
        check(&h, name);
        close_fixture(&h);
    }
    const int32_t n = (int32_t)found.gl_pathc;
    globfree(&found);
    return n;
}

#endif
