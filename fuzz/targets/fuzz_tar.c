/* fuzz_tar.c - fuzz target: step through a tar archive
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in adapters/text/tar.h. The sum of each header is set right first, as far as
 * the sizes lead, since no random input has a right one; with an odd last byte it is left
 * alone.
 */
#include "../fuzz.h"

#include "../../adapters/text/tar.h"

enum { AT_SIZE = 124, SIZE_LEN = 12, AT_SUM = 148, SUM_LEN = 8 };

static int32_t size_of(const char *block)
{
    int32_t size = 0;
    for (int32_t i = 0; i < SIZE_LEN && size < FUZZ_MAX_TEXT; i++)
        if (block[AT_SIZE + i] >= '0' && block[AT_SIZE + i] <= '7')
            size = size * 8 + (block[AT_SIZE + i] - '0');
    return size;
}

/* Sets the sums of the headers. */
static void set_sums(char *text, int32_t len)
{
    for (int32_t at = 0; at <= len - CPUBIND_TAR_BLOCK;) {
        char *block = text + at;
        unsigned sum = 0;
        memset(block + AT_SUM, ' ', SUM_LEN);
        for (int32_t i = 0; i < CPUBIND_TAR_BLOCK; i++)
            sum += (unsigned char)block[i];
        if (sum > SUM_LEN * ' ')
            (void)snprintf(block + AT_SUM, SUM_LEN, "%06o", sum & 0777777u);
        else
            memset(block + AT_SUM, 0, SUM_LEN); /* a block of zeros stays one */
        at += CPUBIND_TAR_BLOCK +
              (size_of(block) + CPUBIND_TAR_BLOCK - 1) / CPUBIND_TAR_BLOCK * CPUBIND_TAR_BLOCK;
    }
}

/* Writes an entry, and reads it again. */
static void check_again(const char *text, const cpubind_tar_entry *entry)
{
    static char written[CPUBIND_TAR_HEADER_MAX];
    const int32_t n = cpubind_tar_header(entry->name, 0, 1, written);
    cpubind_tar_entry again;
    int32_t at = 0;
    (void)text;
    CHECK(n > 0 && n % CPUBIND_TAR_BLOCK == 0 && n <= CPUBIND_TAR_HEADER_MAX);
    CHECK(cpubind_tar_next(written, n, &at, &again, NULL) == CPUBIND_TEXT_OK);
    CHECK(at == n && strcmp(again.name, entry->name) == 0 && again.data.len == 0);
}

static void check_text(const char *text, int32_t len)
{
    cpubind_tar_entry entry;
    cpubind_text_fault fault = {-7, NULL};
    for (int32_t at = 0, before = 0;; before = at) {
        const cpubind_text_status status = cpubind_tar_next(text, len, &at, &entry, &fault);
        if (status != CPUBIND_TEXT_OK) {
            fuzz_check_fault(&fault, len);
            CHECK(at == before && fault.offset >= before);
            return;
        }
        CHECK(fault.offset == -7 && at <= len);
        if (entry.name[0] == '\0') {
            CHECK(at == len);
            return;
        }
        CHECK(at > before && cpubind_input_is_name(entry.name) && entry.name[0] != '/');
        CHECK(entry.data.at >= 0 && entry.data.len >= 0 &&
              entry.data.at <= len - entry.data.len);
        if (!entry.is_folder)
            check_again(text, &entry);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;
    if (size > FUZZ_MAX_TEXT)
        return 0;
    text = fuzz_text(data, size);
    if (size > 0 && data[size - 1] % 2 == 0)
        set_sums(text, (int32_t)size);
    check_text(text, (int32_t)size);
    free(text);
    return 0;
}
