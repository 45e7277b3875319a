/* beside_library.c - two libraries with cores of their own beside libcpubind.so.1, in a process
 * SPDX-License-Identifier: MIT
 *
 *   beside_library FOLDER LIBRARY LIBRARY     libraries as plugins.c has them
 *
 * Plans the host through the C ABI before and after each of the two has planned with its own
 * version of the header, and has a core of its own as well. Exit 1 when one changed another.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define CPUBIND_IMPLEMENTATION
#include "../../cpubind.h"
#include "cpubind_api.h"

typedef int32_t (*entry_function)(void);

static int find_entry(const char *path, entry_function *out)
{
    const char *name = strstr(path, "plugin_");
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    char symbol[64];
    void *found;
    if (!library || !name)
        return 0;
    snprintf(symbol, sizeof symbol, "run_%.*s", (int)strcspn(name + 7, "."), name + 7);
    found = dlsym(library, symbol);
    memcpy(out, &found, sizeof found);
    return found != NULL;
}

int main(int argc, char **argv)
{
    const char *const options[] = {"rules=near", NULL};
    cpb_host *host = argc == 4 ? cpb_host_folder(argv[1], NULL) : NULL;
    cpb_plan *first = cpb_plan_make(host, options, NULL);
    int is_good = 1;
    if (!first)
        return 2;
    for (int i = 0; i < 4; i++) {
        entry_function entry;
        cpb_plan *again;
        if (!find_entry(argv[2 + i % 2], &entry)) {
            fprintf(stderr, "%s: %s\n", argv[2 + i % 2], dlerror());
            return 2;
        }
        printf("0x%06x\n", (unsigned)entry());
        is_good = is_good && entry() > 0 && cpubind_version() == CPUBIND_VERSION_HEX;
        again = cpb_plan_make(host, options, NULL);
        is_good = is_good && again && strcmp(cpb_plan_json(again), cpb_plan_json(first)) == 0;
        cpb_plan_free(again);
    }
    cpb_plan_free(first);
    cpb_host_close(host);
    return is_good ? 0 : 1;
}
