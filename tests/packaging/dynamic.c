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
typedef struct span {
    int32_t first, count;
} span;

typedef struct fault {
    const char *argument;
    int32_t index, device, other, cpu, need, have;
} fault;

typedef int32_t (*share_function)(int32_t total, int32_t parts, int32_t index, int32_t rule,
                                  span *out_span, fault *out_fault);
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
    share_function share;
    version_function version;
    span s = {-1, -1};
    fault f;
    if (!library) {
        fprintf(stderr, "dynamic: %s\n", argc == 2 ? dlerror() : "usage: dynamic LIBRARY");
        return 2;
    }
    if (!find(library, "cpubind_share", &share) || !find(library, "cpubind_version", &version))
        return 2;
    if (share(640, 16, 15, 0, &s, NULL) != 0 || s.first != 600 || s.count != 40)
        return 1;
    if (share(640, 0, 0, 0, &s, &f) != -1 || s.first != 600 || strcmp(f.argument, "parts") != 0)
        return 1;
    printf("0x%06x\n", (unsigned)version());
    return dlclose(library) == 0 ? 0 : 1;
}
