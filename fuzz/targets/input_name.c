/* input_name.c - names of inputs
 * SPDX-License-Identifier: MIT
 */
#include "../fuzz.h"

#include "../../adapters/text/input.h"

/* The grammar of input.h, part by part. */
static int is_part(const char *part, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)part[i] < 0x20)
            return 0;
    return n > 0 && !(n == 2 && part[0] == '.' && part[1] == '.');
}

static int is_name_slowly(const char *name)
{
    const char *part = name;
    for (;; part++) {
        const size_t n = strcspn(part, "/");
        if (!is_part(part, n))
            return 0;
        part += n;
        if (*part == '\0')
            return strlen(name) <= CPUBIND_INPUT_NAME_MAX;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name;
    if (size > FUZZ_MAX_TEXT)
        return 0;
    name = (char *)fuzz_filled(size + 1, 0);
    if (size)
        memcpy(name, data, size);
    CHECK(cpubind_input_is_name(name) == is_name_slowly(name));
    CHECK(cpubind_input_is_name(NULL) == 0);
    free(name);
    return 0;
}
