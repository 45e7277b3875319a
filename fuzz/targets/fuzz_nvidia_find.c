/* fuzz_nvidia_find.c - fuzz target: find a key in a file of the NVIDIA driver
 * SPDX-License-Identifier: MIT
 *
 * The first line of the input is the key, the rest is the file.
 */
#include "../fuzz.h"

#include "../../adapters/pci/nvidia_files.h"

static void check_find(const char *text, int32_t len, const char *key)
{
    cpubind_slice value = {-7, -7};
    cpubind_text_fault fault = {-7, NULL};
    const cpubind_text_status status = cpubind_nvidia_find(text, len, key, &value, &fault);
    CHECK(cpubind_nvidia_find(text, len, key, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_nvidia_find(text, len, NULL, &value, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_nvidia_find(text, -1, "A", &value, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_nvidia_find(NULL, 1, "A", &value, NULL) == CPUBIND_TEXT_ERR_ARG);
    if (key[0] == '\0' || strchr(key, ':'))
        CHECK(status == CPUBIND_TEXT_ERR_ARG);
    if (status != CPUBIND_TEXT_OK) {
        CHECK(value.at == -7 && value.len == -7);
        fuzz_check_fault(&fault, len);
        return;
    }
    fuzz_check_slice(value, len);
    CHECK(value.at >= (int32_t)strlen(key) + 1);
    for (int32_t i = 0; i < value.len; i++)
        CHECK((unsigned char)text[value.at + i] >= ' ');
    CHECK(value.len == 0 || (text[value.at] != ' ' && text[value.at + value.len - 1] != ' '));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_named_input(data, size, check_find);
}
