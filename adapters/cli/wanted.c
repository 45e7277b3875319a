/* wanted.c - which processes and devices the settings of the service are about
 * SPDX-License-Identifier: MIT
 */
#include "wanted.h"

#include "../text/procfs.h"

api_options cli_of_any_device(const api_options *options)
{
    api_options any = *options;
    any.request.type = CPUBIND_TYPE_AUTO;
    any.request.origin = CPUBIND_ORIGIN_AUTO;
    any.request.is_auto_strategy = 1;
    any.npu_option = NULL;
    return any;
}

int cli_wants(const api_options *options, const char *program, const char *name)
{
    int is_wanted = options->n_only == 0;
    for (int32_t i = 0; i < options->n_only; i++)
        is_wanted |= cpubind_pattern_matches(options->only[i], program) ||
                     cpubind_pattern_matches(options->only[i], name);
    for (int32_t i = 0; i < options->n_except; i++)
        is_wanted &= !cpubind_pattern_matches(options->except[i], program) &&
                     !cpubind_pattern_matches(options->except[i], name);
    return is_wanted;
}
