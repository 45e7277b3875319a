/* fixture_host.h - open a file NAME.host, for tests and benchmarks
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_FIXTURE_HOST_H
#define CPUBIND_TESTS_FIXTURE_HOST_H

#include <stdio.h>
#include <stdlib.h>

#include "../../adapters/linux/source/host_files.h"

/* The host, to be closed with cpubind_linux_close. */
static inline cpubind_linux_host *fixture_host(const char *path)
{
    cpubind_bytes bytes = {0};
    cpubind_text_fault why = {0, "it cannot be read"};
    cpubind_linux_host *host = NULL;
    if (cpubind_linux_read_file(path, NULL, &bytes).error ||
        cpubind_linux_open_text(bytes.data, bytes.len, NULL, &host, &why) != CPUBIND_LINUX_OK) {
        fprintf(stderr, "%s: %s\n", path, why.what);
        abort();
    }
    return host;
}

#endif
