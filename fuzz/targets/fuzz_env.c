/* fuzz_env.c - fuzz target: find one variable of an environment
 * SPDX-License-Identifier: MIT
 *
 * The first line of the input is the name of the variable; the rest is the environment, with a
 * line NAME=value for each variable.
 */
#include "../fuzz.h"

#include "../../adapters/text/procfs.h"

static void check_find(const char *text, int32_t len, const char *name)
{
    cpubind_slice value = {-7, -7};
    const cpubind_text_status status = cpubind_env_find(text, len, name, &value);
    const int32_t line = fuzz_find_line(text, len, name, '=');
    CHECK(cpubind_env_find(text, len, name, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_env_find(text, len, NULL, &value) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_env_find(text, len, "", &value) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_env_find(text, -1, "A", &value) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_env_find(NULL, 1, "A", &value) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_env_find(text, len, "A\nB", &value) == CPUBIND_TEXT_ERR_ARG);
    if (name[0] == '\0' || strchr(name, '=')) {
        CHECK(status == CPUBIND_TEXT_ERR_ARG);
    } else if (line < 0) {
        CHECK(status == CPUBIND_TEXT_ERR_MISSING);
    } else {
        CHECK(status == CPUBIND_TEXT_OK && value.at == line + (int32_t)strlen(name) + 1);
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
