/* plugins.c - loads two libraries into one process and runs both, twice
 * SPDX-License-Identifier: MIT
 *
 * usage: plugins LIBRARY LIBRARY     each named .../plugin_NAME.so, with a function run_NAME
 *
 * All their exported names are visible to both: each must use its own copy of the core.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int32_t (*entry_function)(void);

static int find_entry(void *library, const char *path, entry_function *out)
{
    const char *name = strstr(path, "plugin_");
    char symbol[64];
    void *found;
    if (!name)
        return 0;
    snprintf(symbol, sizeof symbol, "run_%.*s", (int)strcspn(name + 7, "."), name + 7);
    found = dlsym(library, symbol);
    memcpy(out, &found, sizeof found);
    return found != NULL;
}

int main(int argc, char **argv)
{
    entry_function entry[2];
    int32_t version[2];
    for (int i = 0; i < 2; i++) {
        void *library = argc == 3 ? dlopen(argv[i + 1], RTLD_NOW | RTLD_GLOBAL) : NULL;
        if (!library || !find_entry(library, argv[i + 1], &entry[i])) {
            fprintf(stderr, "plugins: %s\n", argc == 3 ? dlerror() : "wants two libraries");
            return 2;
        }
    }
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < 2; i++)
            version[i] = entry[i]();
    printf("0x%06x 0x%06x\n", (unsigned)version[0], (unsigned)version[1]);
    return version[0] > 0 && version[1] > 0 && version[0] != version[1] ? 0 : 1;
}
