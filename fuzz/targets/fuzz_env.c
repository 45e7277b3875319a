/* fuzz_env.c - one variable of an environment
 * SPDX-License-Identifier: MIT
 *
 * The first line of the input is the name that is looked for, the rest the environment.
 */
#include "../fuzz.h"

#include "../../adapters/text/procfs.h"

/* The first line that starts with NAME=, found byte by byte; -1 when there is none. */
static int32_t find_slowly(const char *text, int32_t len, const char *name)
{
    const int32_t n = (int32_t)strlen(name);
    for (int32_t at = 0; at + n < len; at++)
        if ((at == 0 || text[at - 1] == '\n') && memcmp(text + at, name, (size_t)n) == 0 &&
            text[at + n] == '=')
            return at + n + 1;
    return -1;
}

static void check_find(const char *text, int32_t len, const char *name)
{
    cpubind_slice value = {-7, -7};
    const cpubind_text_status status = cpubind_env_find(text, len, name, &value);
    CHECK(cpubind_env_find(text, len, name, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_env_find(text, len, NULL, &value) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_env_find(text, len, "", &value) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_env_find(text, -1, "A", &value) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_env_find(NULL, 1, "A", &value) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_env_find(text, len, "A\nB", &value) == CPUBIND_TEXT_ERR_ARG);
    if (name[0] == '\0' || strchr(name, '=')) {
        CHECK(status == CPUBIND_TEXT_ERR_ARG);
    } else if (find_slowly(text, len, name) < 0) {
        CHECK(status == CPUBIND_TEXT_ERR_MISSING);
    } else {
        CHECK(status == CPUBIND_TEXT_OK && value.at == find_slowly(text, len, name));
        fuzz_check_slice(value, len);
        CHECK(value.len == 0 || !memchr(text + value.at, '\n', (size_t)value.len));
        CHECK(value.at + value.len == len || text[value.at + value.len] == '\n');
        return;
    }
    CHECK(value.at == -7 && value.len == -7);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_named_input(data, size, check_find);
}
