/* cmd_plan.c - cpubind plan: open a host, read it, plan, print; and the formats of a plan
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "device_plan.h"
#include "launch.h"
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

#define CPUBIND_X(name, word, what)                                                            \
    static int print_##name(const cli_planned *p, const cli_options *options)                  \
    {                                                                                          \
        return cli_print_launch(stdout, CPUBIND_LAUNCH_##name, p, options);                    \
    }
CPUBIND_LAUNCH_LIST(CPUBIND_X)
#undef CPUBIND_X

static const cli_format plan_formats[] = {
    {"text", "lines for logs, a table and a map (default)", 0, print_text, NULL,
     cli_compare_text, NULL},
    {"json", "one JSON object, the same as --json", 1, print_json, NULL, cli_compare_json,
     NULL},
    {"map", "the map of nodes and CPUs alone", 0, print_map, NULL, NULL, NULL},
#define CPUBIND_X(name, word, what) {word, what, 0, print_##name, NULL, NULL, cli_has_launch},
    CPUBIND_LAUNCH_LIST(CPUBIND_X)
#undef CPUBIND_X
        {0},
};

static int print_plan(const cli_planned *p, const cli_options *options)
{
    const int has_plan = p->code == CPUBIND_PROBLEM_NONE;
    const int status = has_plan && options->svg ? cli_write_svg(p, options) : CLI_DONE;
    const int is_printed = options->svg && strcmp(options->svg, "-") == 0;
    cli_text why = {"", 0};
    if (status != CLI_DONE)
        return status;
    if (options->explain)
        return cli_print_why(p, options);
    if (!has_plan)
        return cli_refuse(options, p);
    if (options->format->check && !options->format->check(p, options, &why))
        return cli_fail(options, CLI_REFUSED, why.text);
    if (!is_printed && !options->format->plan(p, options))
        return cli_no_memory();
    if (!options->json && !options->quiet)
        cli_print_warnings(p);
    return CLI_DONE;
}

/* Prints the plans of both rules, of which one may be a refusal. A warning of both plans is
 * printed once. */
static int print_both(const cli_planned *reference, cli_planned *by_near,
                      const cli_options *options)
{
    const int has_reference = reference->code == CPUBIND_PROBLEM_NONE;
    const int has_near = by_near->code == CPUBIND_PROBLEM_NONE;
    if (!has_reference && !has_near)
        return cli_refuse(options, reference);
    if (!options->format->compare(reference, by_near, options))
        return cli_no_memory();
    if (options->json || options->quiet)
        return CLI_DONE;
    if (has_reference)
        cli_print_warnings(reference);
    if (has_reference && has_near)
        by_near->plan.warnings &= ~reference->plan.warnings;
    if (has_near)
        cli_print_warnings(by_near);
    return CLI_DONE;
}

/* Plans by the rules of the options; with --compare by the reference, then by near. */
static void make(const cpubind_source *source, cli_options *options, cli_planned out[2])
{
    options->request.has_rules |= options->compare;
    cli_make(source, &options->request, &out[0]);
    if (!options->compare)
        return;
    options->request.rules = CPUBIND_RULES_NEAR;
    cli_make(source, &options->request, &out[1]);
}

/* Whether this is a host of other accelerators than NPUs: it has no npu-smi, no option is about
 * NPUs, and the PCI bus has devices that cpubind knows. */
static int has_other_devices(const cpubind_source *source, cli_options *options,
                             const cli_planned *planned)
{
    cli_topo topo = {0};
    int is_other;
    if (planned->code != CPUBIND_PROBLEM_NO_NPU_SMI || cli_npu_option(options))
        return 0;
    cli_topo_read(source, options, &topo);
    is_other = topo.status == CPUBIND_PCI_OK && topo.facts.n_device > 0;
    for (int32_t i = 0; is_other && i < topo.facts.n_device; i++)
        is_other = topo.facts.device[i].accelerator.family != CPUBIND_FAMILY_ASCEND;
    cli_topo_free(&topo);
    return is_other;
}

int cli_plan(int argc, char **argv)
{
    static cli_options options;
    cli_planned planned[2] = {{0}, {0}};
    cli_text why = {"", 0};
    cli_host host;
    int status = cli_start(argc, argv, CLI_PLAN, plan_formats, &options);
    int is_live;
    if (status >= 0)
        return status;
    if (options.explain && strcmp(options.explain, "threads") == 0)
        return cli_print_threads(&options);
    status = cli_open_host(&options, &host, &why);
    if (status != CLI_DONE)
        return cli_fail(&options, status, why.text);
    is_live = !options.root && !options.fixture;
    if (cli_asks_for_devices(&options)) {
        status = cli_plan_devices(&host.source, &options);
        cli_close_host(&host);
        return status;
    }
    if (is_live)
        cli_progress(&options, "cpubind: asking npu-smi ...");
    make(&host.source, &options, planned);
    if (is_live)
        cli_progress(&options, NULL);
    if (has_other_devices(&host.source, &options, &planned[0]))
        status = cli_plan_devices(&host.source, &options);
    else
        status = options.compare ? print_both(&planned[0], &planned[1], &options)
                                 : print_plan(&planned[0], &options);
    cli_close_host(&host);
    cli_free_planned(&planned[0]);
    cli_free_planned(&planned[1]);
    return status;
}
