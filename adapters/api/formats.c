/* formats.c - the formats of a plan: one table
 * SPDX-License-Identifier: MIT
 *
 * A new format is one more row, and is then an option value, a line of --help and a format of
 * the shared library.
 */
#include "api.h"

static void put_json(api_out *to, const api_planned *planned, const api_options *options)
{
    words_value *plan = api_plan_json(planned, options);
    words_put(to, plan, WORDS_LINE);
    words_free(plan);
    api_put_text(to, "\n");
}

#define CPUBIND_X(name, word, what)                                                            \
    static void put_##name(api_out *to, const api_planned *planned,                            \
                           const api_options *options)                                         \
    {                                                                                          \
        api_put_launch(to, CPUBIND_LAUNCH_##name, planned, options);                           \
    }
CPUBIND_LAUNCH_LIST(CPUBIND_X)
#undef CPUBIND_X

const api_format api_formats[] = {
    {"text", "a map, a table and figures (default)", 0, api_put_plan, NULL},
    {"json", "one JSON object, the same as --json", 1, put_json, NULL},
    {"map", "the map of nodes and CPUs alone", 0, api_put_map, NULL},
    {"distances", "the map with the distances of nodes", 0, api_put_distances, NULL},
    {"log", "the lines for logs alone", 0, api_put_log, NULL},
    {"svg", "a picture of nodes, CPUs and devices", 0, api_put_svg, NULL},
#define CPUBIND_X(name, word, what) {word, what, 0, put_##name, api_has_launch},
    CPUBIND_LAUNCH_LIST(CPUBIND_X)
#undef CPUBIND_X
        {0},
};
