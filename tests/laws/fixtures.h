/* fixtures.h - the fixture hosts, for laws that hold on each of them by the C ABI
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_LAWS_FIXTURES_H
#define CPUBIND_TESTS_LAWS_FIXTURES_H

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/api/cpubind_api.h"
#include "../support/test.h"

static inline cpb_host *open_fixture(const char *name)
{
    char path[512];
    cpb_error *error = NULL;
    (void)snprintf(path, sizeof path, "fixtures/hosts/%s.host", name);
    cpb_host *host = cpb_host_folder(path, &error);
    if (!host)
        fail_msg("%s: %s", path, cpb_error_text(error));
    return host;
}

/* Calls `work` for each fixture host, or one in four. Returns how many hosts there are. */
static inline int each_fixture(void (*work)(cpb_host *host, const char *name))
{
    glob_t found;
    int n;
    assert_int_equal(glob("fixtures/hosts/*.host", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i += (size_t)one_in(4)) {
        const char *file = strrchr(found.gl_pathv[i], '/') + 1;
        char name[256];
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(file, "."), file);
        cpb_host *host = open_fixture(name);
        work(host, name);
        cpb_host_close(host);
    }
    n = (int)found.gl_pathc;
    globfree(&found);
    return n;
}

#endif
