/* groups_print.c - a fleet as text and as JSON
 * SPDX-License-Identifier: MIT
 *
 * CORPUS.md documents the keys of the JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "../doctor/doctor.h"
#include "groups.h"
#include "output.h"

enum { MAX_SHOWN = 40 };

/* == JSON =================================================================== */

/* The names of the hosts of a group on which a check was found, or with -1 all. */
static words_value *names_json(const cli_fleet_group *group, int32_t check)
{
    words_value *names = words_array();
    for (int32_t i = 0; i < group->n; i++)
        if (check < 0 || (group->host[i].found >> check & 1) != 0)
            words_add(names, words_text(group->host[i].name));
    return names;
}

/* {"autonuma": ["node3"]}: the checks that have found something. */
static words_value *found_json(const cli_fleet_group *group)
{
    words_value *checks = words_object();
    for (int32_t i = 0; i < cpubind_doctor_checks() && i < CLI_MAX_CHECKS; i++) {
        words_value *names = names_json(group, i);
        if (words_count(names) > 0)
            words_set(checks, cpubind_doctor_check_at(i)->word, names);
        else
            words_free(names);
    }
    return checks;
}

/* {"seccomp": 12}: the checks that could not be made, and on how many hosts. */
static words_value *unknown_json(const cli_fleet_group *group)
{
    words_value *checks = words_object();
    for (int32_t i = 0; i < cpubind_doctor_checks() && i < CLI_MAX_CHECKS; i++) {
        int n = 0;
        for (int32_t k = 0; k < group->n; k++)
            n += (group->host[k].unknown >> i & 1) != 0;
        if (n > 0)
            words_set(checks, cpubind_doctor_check_at(i)->word, words_number(n));
    }
    return checks;
}

static words_value *properties_json(const cli_fleet_group *group)
{
    words_value *object = words_object();
    for (int32_t i = 0; i < CLI_SHAPES; i++) {
        const char *text = group->host->property[i];
        words_set(object, cli_shape_name(i), words_read(text, strlen(text), NULL));
    }
    return object;
}

static words_value *differs_json(const cli_fleet_group *group)
{
    words_value *names = words_array();
    for (int32_t i = 0; group->base >= 0 && i < CLI_SHAPES; i++)
        if (group->differs >> i & 1)
            words_add(names, words_text(cli_shape_name(i)));
    return names;
}

static words_value *group_json(const cli_fleet *fleet, int32_t i)
{
    const cli_fleet_group *g = &fleet->group[i];
    return words_make(
        "group:i count:i of:i base:v differs:v properties:v why:w found:v unknown:v hosts:v",
        (int)i + 1, (int)g->n, (int)g->n_alike,
        g->base < 0 ? words_null() : words_number(g->base + 1), differs_json(g),
        properties_json(g), g->host->why, found_json(g), unknown_json(g), names_json(g, -1));
}

/* The first n groups. */
static words_value *fleet_json(const cli_fleet *fleet, int32_t n)
{
    words_value *groups = words_array(), *old = words_array();
    for (int32_t i = 0; i < n; i++)
        words_add(groups, group_json(fleet, i));
    for (int32_t i = 0; i < fleet->n_group; i++)
        for (int32_t k = 0; k < fleet->group[i].n; k++)
            if (fleet->group[i].host[k].is_old)
                words_add(old, words_text(fleet->group[i].host[k].name));
    return words_make("cpubind:s hosts:i groups:v old:v", CPUBIND_VERSION, (int)fleet->n_host,
                      groups, old);
}

int cli_print_fleet_json(const cli_fleet *fleet)
{
    return cli_print_json(stdout, fleet_json(fleet, fleet->n_group));
}

/* == Text =================================================================== */

static const words_view text_view[] = {
    {WORDS_NOTE, "summary", "{summary}"},
    {WORDS_TABLE, "groups",
     "group count=hosts devices properties.cpus=CPUs nodes properties.smt=SMT kernel "
     "properties.quality.near_percent=near_% properties.quality.far "
     "properties.quality.split_cores=split properties.quality.idle plan"},
    {WORDS_NOTE, "n_more", "and {n_more} more groups, which --json has"},
    {WORDS_TABLE, "groups", "group base=like differs=but_for names=hosts"},
    {WORDS_TABLE, "findings", "finding severity group hosts"},
    {0}};

/* Adds what the text says of a group in short, and some of its names. */
static void add_group_text(words_value *row, const cli_fleet_group *group)
{
    const words_value *properties = words_get(row, "properties");
    const char *error = words_string_of(properties, "error");
    const char *kernel = words_string_of(properties, "kernel");
    const int32_t n_device = words_count(words_get(properties, "devices"));
    api_text devices = {"", 0}, names = {"", 0};
    if (n_device > 0)
        api_add(&devices, "%d %s", (int)n_device, words_string_of(properties, "products"));
    (void)cli_fleet_names(group, -1, &names);
    words_set(row, "devices", words_text(devices.text));
    words_set(row, "nodes", words_number(words_count(words_get(properties, "nodes"))));
    words_set(row, "kernel", words_text_of(kernel, strcspn(kernel, " ")));
    words_set(row, "plan",
              *error ? words_text_of(error, strcspn(error, ":"))
                     : words_text(words_string_of(properties, "rules")));
    words_set(row, "names", words_text(names.text));
}

/* What doctor finds, by its checks and the first n groups. */
static words_value *findings_of(const cli_fleet *fleet, int32_t n)
{
    words_value *findings = words_array();
    for (int32_t i = 0; i < cpubind_doctor_checks() && i < CLI_MAX_CHECKS; i++)
        for (int32_t k = 0; k < n; k++) {
            const cpubind_doctor_check *row = cpubind_doctor_check_at(i);
            api_text names = {"", 0};
            if (cli_fleet_names(&fleet->group[k], i, &names) > 0)
                words_add(findings, words_make("finding:s severity:s group:i hosts:s",
                                               row->word, cpubind_severity_word(row->severity),
                                               (int)k + 1, names.text));
        }
    return findings;
}

int cli_print_fleet(const cli_fleet *fleet)
{
    const int32_t n = fleet->n_group < MAX_SHOWN ? fleet->n_group : MAX_SHOWN;
    words_value *report = fleet_json(fleet, n);
    api_text summary = {"", 0};
    api_add(&summary, "%d %s in %d %s", (int)fleet->n_host,
            fleet->n_host == 1 ? "host" : "hosts", (int)fleet->n_group,
            fleet->n_group == 1 ? "group" : "groups");
    for (int32_t i = 0; i < n; i++)
        add_group_text(words_at(words_get(report, "groups"), i), &fleet->group[i]);
    words_set(report, "summary", words_text(summary.text));
    words_set(report, "n_more", words_number(fleet->n_group - n));
    words_set(report, "findings", findings_of(fleet, n));
    return cli_print_text(text_view, report, NULL);
}
