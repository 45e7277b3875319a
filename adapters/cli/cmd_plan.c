/* cmd_plan.c - cpubind plan: open a host, read it, plan, print; and the formats of a plan
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "picture.h"

static int print_text(const cli_planned *p, const cli_options *options)
{
    cli_print_text(stdout, p, options);
    return 1;
}

static int print_json(const cli_planned *p, const cli_options *options)
{
    return cli_print_json(stdout, cli_plan_json(p, options));
}

static int print_map(const cli_planned *p, const cli_options *options)
{
    return cli_print_map(stdout, p, options);
}

static const cli_format plan_formats[] = {
    {"text", "lines for logs, a table and a map (default)", 0, print_text, NULL},
    {"json", "one JSON object, the same as --json", 1, print_json, NULL},
    {"map", "the map of nodes and CPUs alone", 0, print_map, NULL},
    {0},
};

static int print_plan(const cli_planned *p, const cli_options *options)
{
    const int status = options->svg ? cli_write_svg(p, options) : CLI_DONE;
    const int is_printed = options->svg && strcmp(options->svg, "-") == 0;
    if (status != CLI_DONE)
        return status;
    if (!is_printed && !options->format->plan(p, options))
        return cli_no_memory();
    if (!options->json && !options->quiet)
        cli_print_warnings(p);
    return CLI_DONE;
}

int cli_plan(int argc, char **argv)
{
    static cli_options options;
    cli_planned planned = {0};
    cli_text why = {"", 0};
    cli_host host;
    int status = cli_start(argc, argv, CLI_PLAN, plan_formats, &options);
    int is_live;
    if (status >= 0)
        return status;
    status = cli_open_host(&options, &host, &why);
    if (status != CLI_DONE)
        return cli_fail(&options, status, why.text);
    is_live = !options.root && !options.fixture;
    if (is_live)
        cli_progress(&options, "cpubind: asking npu-smi ...");
    cli_make(&host.source, &options.request, &planned);
    if (is_live)
        cli_progress(&options, NULL);
    status = planned.code == CPUBIND_PROBLEM_NONE ? print_plan(&planned, &options)
                                                  : cli_refuse(&options, &planned);
    cli_close_host(&host);
    cli_free_planned(&planned);
    return status;
}
