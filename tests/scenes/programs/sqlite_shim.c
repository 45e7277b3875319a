/* sqlite_shim.c - an allocation of SQLite fails: a library before the C library
 * SPDX-License-Identifier: MIT
 *
 * FAIL_AT=N: the N-th one. FAIL_ON=1: all after it fail too. At the end FAIL_SAID has the
 * number of those that failed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static int n_call, n_failed;
static sqlite3_mem_methods memory;

static __attribute__((destructor)) void at_end(void)
{
    const char *path = getenv("FAIL_SAID");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        (void)fprintf(file, "%d\n", n_failed);
        (void)fclose(file);
    }
}

static int is_due(void)
{
    const char *at = getenv("FAIL_AT");
    n_call++;
    if (!at || n_call < atoi(at) || (n_call > atoi(at) && !getenv("FAIL_ON")))
        return 0;
    n_failed++;
    return 1;
}

static void *some_malloc(int n)
{
    return is_due() ? NULL : memory.xMalloc(n);
}

static void *some_realloc(void *old, int n)
{
    return is_due() ? NULL : memory.xRealloc(old, n);
}

static __attribute__((constructor)) void at_start(void)
{
    int (*configure)(int, ...);
    sqlite3_mem_methods failing;
    *(void **)&configure = dlsym(RTLD_DEFAULT, "sqlite3_config");
    if (!configure)
        return;
    (void)configure(SQLITE_CONFIG_GETMALLOC, &memory);
    failing = memory;
    failing.xMalloc = some_malloc;
    failing.xRealloc = some_realloc;
    (void)configure(SQLITE_CONFIG_MALLOC, &failing);
}
