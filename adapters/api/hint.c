/* hint.c - the words that one who mistyped may have meant
 * SPDX-License-Identifier: MIT
 *
 * Pure: opens nothing and prints nothing.
 */
#include <string.h>
#include <strings.h>

#include "api.h"

enum { LONGEST = 64, MOST_CHANGES = 3, PREFIX_AT = 1 };

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* The letters to change, to add or to leave out, and the neighbours to exchange, that make one
 * word the other (optimal string alignment). */
static int32_t count_changes(const char *a, const char *b)
{
    int32_t row[3][LONGEST + 1]; /* before the last, last, this one */
    const size_t n_a = strlen(a), n_b = strlen(b);
    if (n_a > LONGEST || n_b > LONGEST)
        return LONGEST;
    for (size_t k = 0; k <= n_b; k++)
        row[1][k] = (int32_t)k;
    memcpy(row[0], row[1], sizeof row[0]);
    for (size_t i = 1; i <= n_a; i++) {
        row[2][0] = (int32_t)i;
        for (size_t k = 1; k <= n_b; k++) {
            const int is_other = lower(a[i - 1]) != lower(b[k - 1]);
            row[2][k] = least(least(row[1][k], row[2][k - 1]) + 1, row[1][k - 1] + is_other);
            if (i > 1 && k > 1 && lower(a[i - 1]) == lower(b[k - 2]) &&
                lower(a[i - 2]) == lower(b[k - 1]))
                row[2][k] = least(row[2][k], row[0][k - 2] + 1);
        }
        memmove(row, row + 1, 2 * sizeof row[0]);
    }
    return row[1][n_b];
}

/* How far a known word is from the given one, or -1: too far. */
static int32_t measure(const char *word, const char *known)
{
    const int32_t n = (int32_t)strlen(word);
    const int32_t most = least(n / 4 + 1, MOST_CHANGES);
    if (n >= 2 && strncasecmp(known, word, (size_t)n) == 0)
        return known[n] ? PREFIX_AT : 0;
    const int32_t n_change = count_changes(word, known);
    return n_change <= most && n_change < n ? n_change : -1;
}

void api_hint_try(api_hint *hint, const char *known)
{
    const int32_t far = measure(hint->word, known);
    int32_t at = hint->n < API_HINTS ? hint->n : API_HINTS;
    if (far < 0 || (at == API_HINTS && far >= hint->far[at - 1]))
        return;
    if (at == API_HINTS)
        at--;
    else
        hint->n++;
    for (; at > 0 && hint->far[at - 1] > far; at--) {
        hint->like[at] = hint->like[at - 1];
        hint->far[at] = hint->far[at - 1];
    }
    hint->like[at] = known;
    hint->far[at] = far;
}

void api_hint_add(const api_hint *hint, api_text *why)
{
    const int32_t n = hint->n > 0 && hint->far[0] == 0 ? 1 : hint->n;
    for (int32_t i = 0; i < n; i++)
        api_add(why, "%s\"%s\"",
                i == 0       ? "; did you mean "
                : i == n - 1 ? " or "
                             : ", ",
                hint->like[i]);
    if (n > 0)
        api_add(why, "?");
}
