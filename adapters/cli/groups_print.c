/* groups_print.c - a fleet as text, as JSON and as a picture
 * SPDX-License-Identifier: MIT
 *
 * FLEET.md documents the keys of the JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "../doctor/doctor.h"
#include "groups.h"
#include "output.h"

enum { MAX_SHOWN = 40, MAX_GROUPS_OF_CHECK = 4, COLUMNS = 80, INDENT = 2 };

static const char *property(const cli_fleet_group *group, int32_t which)
{
    return group->host->property[which];
}

/* Appends the devices of a group: "8 a2"; "-" where none is known. */
static void add_devices(const cli_fleet_group *group, api_text *to)
{
    const int32_t n = cli_shape_items(property(group, CLI_SHAPE_devices));
    if (n == 0)
        api_add(to, "-");
    else
        api_add(to, "%d %s", (int)n, property(group, CLI_SHAPE_products));
}

/* Appends a figure of the plan; "-" where it is not known. */
static void add_figure(const cli_fleet_group *group, const char *key, const char *unit,
                       api_text *to)
{
    int32_t len = 0;
    const char *value = cli_shape_item(property(group, CLI_SHAPE_quality), key, &len);
    if (!value || *value == '-')
        api_add(to, "-");
    else
        api_add(to, "%.*s%s", (int)len, value, unit);
}

static const char *or_dash(const char *text)
{
    return *text ? text : "-";
}

static int32_t shown(const cli_fleet *fleet)
{
    return fleet->n_group < MAX_SHOWN ? fleet->n_group : MAX_SHOWN;
}

/* == Text =================================================================== */

static void put_groups(api_out *out, const cli_fleet *fleet)
{
    static const char *const heads[] = {"group",  "hosts", "devices", "CPUs",  "nodes", "SMT",
                                        "kernel", "near",  "far",     "split", "idle",  "plan"};
    static const struct {
        const char *key, *unit;
    } figures[] = {{"near_percent", " %"}, {"far", ""}, {"split_cores", ""}, {"idle", ""}};
    api_table table = {.n_column = sizeof heads / sizeof *heads};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        api_cell(&table, "%s", heads[i]);
    for (int32_t i = 0; i < shown(fleet); i++) {
        const cli_fleet_group *g = &fleet->group[i];
        const char *kernel = property(g, CLI_SHAPE_kernel);
        api_text devices = {"", 0};
        add_devices(g, &devices);
        api_cell_number(&table, i + 1);
        api_cell_number(&table, g->n);
        api_cell(&table, "%.24s", devices.text);
        api_cell(&table, "%s", or_dash(property(g, CLI_SHAPE_cpus)));
        api_cell_number(&table, cli_shape_items(property(g, CLI_SHAPE_nodes)));
        api_cell(&table, "%s", or_dash(property(g, CLI_SHAPE_smt)));
        api_cell(&table, "%.*s", *kernel ? (int)strcspn(kernel, " ") : 1, or_dash(kernel));
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
            api_text figure = {"", 0};
            add_figure(g, figures[k].key, figures[k].unit, &figure);
            api_cell(&table, "%s", figure.text);
        }
        const char *error = property(g, CLI_SHAPE_error);
        api_cell(&table, "%.*s", *error ? (int)strcspn(error, ":") : (int)strlen("reference"),
                 *error ? error : or_dash(property(g, CLI_SHAPE_rules)));
    }
    api_put_table(out, &table);
    if (shown(fleet) < fleet->n_group)
        api_put(out, "and %d more groups, which --json has\n",
                (int)(fleet->n_group - shown(fleet)));
}

/* Appends a line of a list below its head, wrapped; the first one after the head. */
static void put_item(api_out *out, const char *head, int *n, const api_text *text)
{
    if ((*n)++ == 0)
        api_put(out, "\n%s\n", head);
    api_put(out, "%*s", INDENT, "");
    api_put_wrapped(out, text->text, INDENT, 2 * INDENT, COLUMNS);
}

static void put_differences(api_out *out, const cli_fleet *fleet)
{
    int n = 0;
    for (int32_t i = 0; i < shown(fleet); i++) {
        api_text text = {"", 0};
        if (fleet->group[i].base < 0)
            continue;
        api_add(&text, "group %d: ", (int)i + 1);
        cli_fleet_say(fleet, i, &text);
        put_item(out, "what differs", &n, &text);
    }
}

static void put_errors(api_out *out, const cli_fleet *fleet)
{
    int n = 0;
    for (int32_t i = 0; i < shown(fleet); i++) {
        const cli_fleet_group *g = &fleet->group[i];
        api_text text = {"", 0};
        if (*property(g, CLI_SHAPE_error) == '\0')
            continue;
        api_add(&text, "group %d: %s: %s", (int)i + 1, g->host->name, g->host->why);
        put_item(out, "no plan", &n, &text);
    }
}

/* Appends what doctor finds of one check: "autonuma (moderate): 12 of group 1 (a, b and c)". */
static void add_found(const cli_fleet *fleet, int32_t check, api_text *to)
{
    const cpubind_doctor_check *row = cpubind_doctor_check_at(check);
    int32_t n = 0, n_rest = 0;
    for (int32_t i = 0; i < fleet->n_group; i++) {
        api_text names = {"", 0};
        const int32_t n_host = cli_fleet_names(&fleet->group[i], check, &names);
        if (n_host == 0)
            continue;
        if (n >= MAX_GROUPS_OF_CHECK) {
            n_rest += n_host;
            continue;
        }
        if (n++ == 0)
            api_add(to, "%s (%s):", row->word, cpubind_severity_word(row->severity));
        api_add(to, "%s %d of group %d (%s)", n > 1 ? "," : "", (int)n_host, (int)i + 1,
                names.text);
    }
    if (n_rest > 0)
        api_add(to, ", %d of other groups", (int)n_rest);
}

static void put_findings(api_out *out, const cli_fleet *fleet)
{
    int n = 0;
    for (int32_t i = 0; i < cpubind_doctor_checks() && i < CLI_MAX_CHECKS; i++) {
        api_text text = {"", 0};
        add_found(fleet, i, &text);
        if (text.len > 0)
            put_item(out, "what doctor finds", &n, &text);
    }
}

int cli_print_fleet(const cli_fleet *fleet)
{
    api_out out = {0};
    api_put(&out, "%d %s in %d %s\n", (int)fleet->n_host, fleet->n_host == 1 ? "host" : "hosts",
            (int)fleet->n_group, fleet->n_group == 1 ? "group" : "groups");
    if (fleet->n_group > 0)
        put_groups(&out, fleet);
    put_differences(&out, fleet);
    put_errors(&out, fleet);
    put_findings(&out, fleet);
    return cli_print_out(stdout, &out);
}

/* == JSON =================================================================== */

/* The names of the hosts of a group on which a check was found, or with -1 all. */
static json_t *names_json(const cli_fleet_group *group, int32_t check)
{
    json_t *names = json_array();
    for (int32_t i = 0; names && i < group->n; i++)
        if (check < 0 || (group->host[i].found >> check & 1) != 0)
            names = cli_json_append(names, cli_json_text(group->host[i].name));
    return names;
}

/* {"autonuma": ["node3"]}: the checks that have found something. */
static json_t *found_json(const cli_fleet_group *group)
{
    json_t *checks = json_object();
    for (int32_t i = 0; checks && i < cpubind_doctor_checks() && i < CLI_MAX_CHECKS; i++) {
        json_t *names = names_json(group, i);
        if (json_array_size(names) > 0)
            (void)json_object_set(checks, cpubind_doctor_check_at(i)->word, names);
        json_decref(names);
    }
    return checks;
}

/* {"seccomp": 12}: the checks that could not be made, and on how many hosts. */
static json_t *unknown_json(const cli_fleet_group *group)
{
    json_t *checks = json_object();
    for (int32_t i = 0; checks && i < cpubind_doctor_checks() && i < CLI_MAX_CHECKS; i++) {
        int n = 0;
        for (int32_t k = 0; k < group->n; k++)
            n += (group->host[k].unknown >> i & 1) != 0;
        if (n > 0)
            (void)json_object_set_new(checks, cpubind_doctor_check_at(i)->word,
                                      json_integer(n));
    }
    return checks;
}

static json_t *properties_json(const cli_fleet_group *group)
{
    json_t *object = json_object();
    for (int32_t i = 0; object && i < CLI_SHAPES; i++)
        (void)json_object_set_new(object, cli_shape_name(i),
                                  cli_shape_json(i, property(group, i)));
    return object;
}

static json_t *differs_json(const cli_fleet_group *group)
{
    json_t *names = json_array();
    for (int32_t i = 0; names && group->base >= 0 && i < CLI_SHAPES; i++)
        if (group->differs >> i & 1)
            names = cli_json_append(names, json_string(cli_shape_name(i)));
    return names;
}

static json_t *group_json(const cli_fleet *fleet, int32_t i)
{
    const cli_fleet_group *g = &fleet->group[i];
    api_text text = {"", 0};
    if (g->base >= 0)
        cli_fleet_say(fleet, i, &text);
    return json_pack("{s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "group",
                     (int)i + 1, "count", (int)g->n, "of", (int)g->n_alike, "base",
                     g->base < 0 ? json_null() : json_integer(g->base + 1), "text",
                     text.len ? cli_json_text(text.text) : json_null(), "differs",
                     differs_json(g), "properties", properties_json(g), "why",
                     *g->host->why ? cli_json_text(g->host->why) : json_null(), "found",
                     found_json(g), "unknown", unknown_json(g), "hosts", names_json(g, -1));
}

int cli_print_fleet_json(const cli_fleet *fleet)
{
    json_t *groups = json_array(), *old = json_array();
    for (int32_t i = 0; groups && i < fleet->n_group; i++)
        groups = cli_json_append(groups, group_json(fleet, i));
    for (int32_t i = 0; old && i < fleet->n_group; i++)
        for (int32_t k = 0; old && k < fleet->group[i].n; k++)
            if (fleet->group[i].host[k].is_old)
                old = cli_json_append(old, cli_json_text(fleet->group[i].host[k].name));
    return cli_print_json(stdout,
                          json_pack("{s:s, s:i, s:o, s:o}", "cpubind", CPUBIND_VERSION, "hosts",
                                    (int)fleet->n_host, "groups", groups, "old", old));
}

/* == Picture ================================================================ */

enum { WIDTH = 900, PAD = 20, TOP = 56, ROW = 46, BAR = 260, CHARACTERS = 140 };

/* Appends a text at (x, y), cut to the width of the picture. */
static void put_label(api_out *to, int x, int y, const char *text, int room)
{
    api_text cut = {"", 0};
    if ((int)strlen(text) > room)
        api_add(&cut, "%.*s...", room - 3, text);
    else
        api_add(&cut, "%s", text);
    api_put(to, "<text x=\"%d\" y=\"%d\">", x, y);
    api_put_xml(to, cut.text);
    api_put_text(to, "</text>\n");
}

static void put_row(api_out *to, const cli_fleet *fleet, int32_t i, int32_t most)
{
    const cli_fleet_group *g = &fleet->group[i];
    const int y = TOP + (int)i * ROW;
    const int has_error = *property(g, CLI_SHAPE_error) != '\0';
    const double width = (double)BAR * g->n / most;
    api_text head = {"", 0}, line = {"", 0};
    add_devices(g, &head);
    api_add(&head, ", %s CPUs", or_dash(property(g, CLI_SHAPE_cpus)));
    if (has_error) {
        api_add(&head, ", no plan: %s", property(g, CLI_SHAPE_error));
    } else {
        api_add(&head, ", near ");
        add_figure(g, "near_percent", " %", &head);
        api_add(&head, ", far ");
        add_figure(g, "far", "", &head);
        api_add(&head, ", split ");
        add_figure(g, "split_cores", "", &head);
        api_add(&head, ", idle ");
        add_figure(g, "idle", "", &head);
    }
    if (g->base >= 0)
        cli_fleet_say(fleet, i, &line);
    else
        (void)cli_fleet_names(g, -1, &line);
    api_put(to, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"14\" class=\"%s\"/>\n",
            PAD + 90, y, width < 1 ? 1.0 : width,
            has_error      ? "error"
            : g->base >= 0 ? "other"
                           : "norm");
    api_put(to, "<text x=\"%d\" y=\"%d\">%d: %d</text>\n", PAD, y + 12, (int)i + 1, (int)g->n);
    put_label(to, PAD + 100 + BAR, y + 12, head.text, CHARACTERS * 5 / 9);
    put_label(to, PAD + 90, y + 30, line.text, CHARACTERS * 8 / 9);
}

void cli_put_fleet_svg(api_out *to, const cli_fleet *fleet)
{
    const int n = (int)shown(fleet);
    const int height = TOP + n * ROW + PAD;
    api_put(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title\" "
            "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
            "<title id=\"title\">%d hosts in %d groups</title>\n"
            "<style>text{font:11px \"DejaVu Sans\",Verdana,Helvetica,Arial,sans-serif;"
            "fill:#111}.h{font-size:16px;font-weight:bold}.norm{fill:#1664b0}"
            ".other{fill:#e0a030}.error{fill:#c00000}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text class=\"h\" x=\"%d\" y=\"24\">%d hosts in %d groups</text>\n"
            "<text x=\"%d\" y=\"42\">group: hosts; blue: the biggest group of its devices, "
            "yellow: what differs from it, red: no plan</text>\n",
            WIDTH, height, WIDTH, height, (int)fleet->n_host, (int)fleet->n_group, PAD,
            (int)fleet->n_host, (int)fleet->n_group, PAD);
    for (int32_t i = 0; i < n; i++)
        put_row(to, fleet, i, fleet->group[0].n);
    if (n < fleet->n_group) {
        api_text more = {"", 0};
        api_add(&more, "and %d more groups", (int)fleet->n_group - n);
        put_label(to, PAD, height - 6, more.text, CHARACTERS);
    }
    api_put_text(to, "</svg>\n");
}
