/* thread_roles.c - the rows of all vendors for names of threads and interrupts
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc.
 */
#include "../model/vendor.h"
#include "../text/cpulist.h"

const cpubind_thread_role *cpubind_thread_role_at(int32_t place)
{
    for (int i = 0; i < CPUBIND_VENDOR_COUNT && place >= 0; i++) {
        const cpubind_vendor *row = cpubind_vendor_of((cpubind_vendor_id)i);
        if (place < row->n_thread)
            return &row->thread[place];
        place -= row->n_thread;
    }
    return NULL;
}

const cpubind_thread_role *cpubind_thread_role_of(const char *name, cpubind_threads threads)
{
    const cpubind_thread_role *row;
    for (int32_t i = 0; (row = cpubind_thread_role_at(i)) != NULL; i++)
        if (row->named == CPUBIND_NAMED_THREAD &&
            (row->is_reference || threads == CPUBIND_THREADS_PRODUCT) &&
            cpubind_pattern_matches(row->pattern, name))
            return row;
    return NULL;
}

void cpubind_thread_role_name(const cpubind_thread_role *role, int32_t device, char *out,
                              int32_t size)
{
    char digits[12] = "";
    int32_t n = 0, n_digit = 0;
    (void)cpubind_cpulist_format(&device, 1, digits, sizeof digits, &n_digit);
    for (const char *c = role->pattern; *c && n < size - 1; c++) {
        if (*c != *CPUBIND_DEVICE_MARK) {
            out[n++] = *c;
            continue;
        }
        for (int32_t i = 0; i < n_digit && n < size - 1; i++)
            out[n++] = digits[i];
        c += sizeof CPUBIND_DEVICE_MARK - 2;
    }
    out[n] = '\0';
}

const char *cpubind_threads_word(cpubind_threads threads)
{
    static const char *const words[] = {
#define CPUBIND_X(name, word) word,
        CPUBIND_THREADS_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    return words[threads == CPUBIND_THREADS_PRODUCT];
}

const char *cpubind_named_word(cpubind_named named)
{
    static const char *const words[] = {
#define CPUBIND_X(name, word) word,
        CPUBIND_NAMED_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    return words[(size_t)named < sizeof words / sizeof words[0] ? named : 0];
}
