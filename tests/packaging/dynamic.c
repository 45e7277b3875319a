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
typedef struct roles {
    int32_t first_and_count[4][2];
} roles;

typedef struct fault {
    const char *argument;
    int32_t index, device, other, cpu, need, have;
} fault;

typedef int32_t (*split_function)(int32_t count, const int32_t *spec, roles *out_roles,
                                  fault *out_fault);
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
    static const int32_t spec[4] = {2, 1, 1, 1};
    split_function split;
    version_function version;
    roles r = {{{0}}};
    fault f;
    if (!library) {
        fprintf(stderr, "dynamic: %s\n", argc == 2 ? dlerror() : "usage: dynamic LIBRARY");
        return 2;
    }
    if (!find(library, "cpubind_split_roles", &split) ||
        !find(library, "cpubind_version", &version))
        return 2;
    if (split(40, spec, &r, NULL) != 0 || r.first_and_count[1][0] != 2 ||
        r.first_and_count[1][1] != 36)
        return 1;
    if (split(-1, spec, &r, &f) != -1 || r.first_and_count[1][1] != 36 ||
        strcmp(f.argument, "count") != 0)
        return 1;
    printf("0x%06x\n", (unsigned)version());
    return dlclose(library) == 0 ? 0 : 1;
}
