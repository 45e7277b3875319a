/* dynamic.c - the shared library as a foreign runtime uses it: by name, without the header's
 * declarations of functions
 * SPDX-License-Identifier: MIT
 *
 * usage: dynamic LIBRARY
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* As a foreign runtime declares them. */
typedef void (*slice_function)(int32_t n, int32_t total, int32_t slot, int32_t *first,
                               int32_t *count);
typedef const char *(*text_function)(int32_t status);
typedef int32_t (*version_function)(void);

/* The symbol into a function pointer at `out`, by way of its bytes: ISO C has no cast. */
static int find(void *library, const char *name, void *out)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        fprintf(stderr, "dynamic: %s\n", dlerror());
        return 0;
    }
    memcpy(out, &symbol, sizeof symbol);
    return 1;
}

int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    slice_function slice;
    text_function text;
    version_function version;
    int32_t first, count;
    if (!library) {
        fprintf(stderr, "dynamic: %s\n", argc == 2 ? dlerror() : "usage: dynamic LIBRARY");
        return 2;
    }
    if (!find(library, "cpubind_slice", &slice) ||
        !find(library, "cpubind_status_text", &text) ||
        !find(library, "cpubind_version", &version))
        return 2;
    slice(640, 16, 15, &first, &count);
    if (first != 600 || count != 40 || strcmp(text(0), "success") != 0)
        return 1;
    printf("0x%06x\n", (unsigned)version());
    return dlclose(library) == 0 ? 0 : 1;
}
