/* wanted.c - which processes and devices the settings of the service are about
 * SPDX-License-Identifier: MIT
 */
#include "wanted.h"

#include <string.h>

api_options cli_of_any_device(const api_options *options)
{
    api_options any = *options;
    any.request.type = CPUBIND_TYPE_AUTO;
    any.request.origin = CPUBIND_ORIGIN_AUTO;
    any.request.is_auto_strategy = 1;
    any.npu_option = NULL;
    return any;
}

/* Whether a name is of a pattern; * and ? stand for characters. */
static int is_like(const char *pattern, const char *name)
{
    const char *star = NULL, *again = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            again = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++again;
        } else {
            return 0;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

int cli_wants(const api_options *options, const char *program, const char *name)
{
    int is_wanted = options->n_only == 0;
    for (int32_t i = 0; i < options->n_only; i++)
        is_wanted |= is_like(options->only[i], program) || is_like(options->only[i], name);
    for (int32_t i = 0; i < options->n_except; i++)
        is_wanted &=
            !is_like(options->except[i], program) && !is_like(options->except[i], name);
    return is_wanted;
}
