/* thread_roles.c - where the threads and interrupts of the whole product belong, by their names
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The rows are in thread_roles.h.
 */
#include "thread_roles.h"

#include <string.h>

static const cpubind_thread_role roles[] = {
#define CPUBIND_X(pattern, named, role, cpu, is_reference, giver, why)                         \
    {pattern, CPUBIND_NAMED_##named, CPUBIND_ROLE_##role, cpu, is_reference, giver, why},
    CPUBIND_THREAD_ROLE_LIST(CPUBIND_X)
#undef CPUBIND_X
};

enum { N_ROLES = (int)(sizeof roles / sizeof roles[0]) };

const cpubind_thread_role *cpubind_thread_role_at(int32_t place)
{
    return place >= 0 && place < N_ROLES ? &roles[place] : NULL;
}

const cpubind_thread_role *cpubind_thread_role_of(const char *name, cpubind_threads threads)
{
    for (int i = 0; i < N_ROLES; i++)
        if (roles[i].named == CPUBIND_NAMED_THREAD &&
            (roles[i].is_reference || threads == CPUBIND_THREADS_PRODUCT) &&
            cpubind_pattern_matches(roles[i].pattern, name))
            return &roles[i];
    return NULL;
}

static void append(char *out, int32_t size, int32_t *n, const char *bytes, int32_t len)
{
    for (int32_t i = 0; i < len && *n < size - 1; i++)
        out[(*n)++] = bytes[i];
    out[*n] = '\0';
}

void cpubind_thread_role_name(const cpubind_thread_role *role, int32_t device, char *out,
                              int32_t size)
{
    const char *mark =
        (const char *)memchr(role->pattern, *CPUBIND_DEVICE_MARK, strlen(role->pattern));
    const char *rest = mark ? mark + strlen(CPUBIND_DEVICE_MARK) : role->pattern;
    char digits[12];
    int32_t n = 0, n_digit = 0;
    if (mark) {
        append(out, size, &n, role->pattern, (int32_t)(mark - role->pattern));
        do
            digits[n_digit++] = (char)('0' + device % 10);
        while ((device /= 10) > 0);
        while (n_digit > 0)
            append(out, size, &n, &digits[--n_digit], 1);
    }
    append(out, size, &n, rest, (int32_t)strlen(rest));
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
