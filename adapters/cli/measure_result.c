/* measure_result.c - the result of a measurement: as JSON, and as text
 * SPDX-License-Identifier: MIT
 *
 * Reads the last one, which another version may have written: a key that is missing or of
 * another kind is an empty text or 0.
 */
#include "measure_result.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../linux/source/host_files.h"
#include "../linux/terminal.h"
#include "../measure/last.h"
#include "output.h"

/* The form of the result; a reader refuses another one. */
#define FORM 1

/* == As JSON ================================================================ */

static json_t *number(int is_known, double value)
{
    return is_known ? json_real(value) : json_null();
}

static json_t *values_json(const cpubind_judgement *f, int32_t n_block)
{
    json_t *values = json_array();
    for (int32_t i = 0; i < n_block; i++)
        values = cli_json_append(values, number(f->is_counted[i], f->value[i]));
    return values;
}

static json_t *figure_json(const cpubind_judgement *f, int32_t n_block)
{
    static const char *const better[] = {"lower", "higher", "neither"};
    return json_pack(
        "{s:o, s:o, s:s, s:b, s:s, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "name", cli_json_text(f->name), "unit", cli_json_text(f->unit), "better",
        better[f->better], "asked", (int)f->is_asked, "verdict",
        cpubind_verdict_word(f->verdict), "why", *f->why ? cli_json_text(f->why) : json_null(),
        "groups", (int)f->n, "first", number(f->has_sides, f->median[0]), "second",
        number(f->has_sides, f->median[1]), "difference",
        number(f->has_interval, f->difference), "low", number(f->has_interval, f->low), "high",
        number(f->has_interval, f->high), "p", number(f->has_interval, f->p), "p_corrected",
        number(f->has_interval, f->p_holm), "smallest", number(f->smallest > 0, f->smallest),
        "blocks", values_json(f, n_block));
}

static json_t *order_json(const cpubind_schedule *s)
{
    char order[CPUBIND_BLOCKS_MAX + 1] = "";
    for (int32_t i = 0; i < s->n_block; i++)
        order[i] = s->side[i] ? 'B' : 'A';
    return json_string(order);
}

json_t *cli_measure_json(const cli_measured *m)
{
    const cpubind_schedule *s = m->schedule;
    const cpubind_verdict verdict = cpubind_judge_all(m->figure, m->n_figure);
    const cpubind_judgement *main = cpubind_judge_main(m->figure, m->n_figure, verdict);
    json_t *figures = json_array();
    char host[256] = "";
    (void)cpubind_linux_host_name(host, sizeof host);
    for (int32_t i = 0; i < m->n_figure; i++)
        figures = cli_json_append(figures, figure_json(&m->figure[i], m->n_block));
    return json_pack(
        "{s:s, s:i, s:o, s:I, s:[s,s], s:i, s:I, s:I, s:o, s:i, s:f, s:f, s:s, s:o, s:o, s:o, "
        "s:o}",
        "cpubind", CPUBIND_VERSION, "format", FORM, "host", cli_json_text(host), "at",
        (json_int_t)time(NULL), "sides", m->side[0], m->side[1], "seed", (int)s->seed,
        "block_ms", (json_int_t)s->block_ms, "settle_ms", (json_int_t)s->settle_ms, "order",
        order_json(s), "blocks", (int)m->n_block, "cost_percent", m->cost_percent,
        "moving_percent", m->moving_percent, "verdict", cpubind_verdict_word(verdict), "main",
        main ? cli_json_text(main->name) : json_null(), "workers", m->workers, "warnings",
        m->warnings, "figures", figures);
}

/* == What a result says ===================================================== */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *side_of(const json_t *result, size_t side)
{
    const char *text =
        json_string_value(json_array_get(json_object_get(result, "sides"), side));
    return text ? text : "";
}

static int has(const json_t *object, const char *key)
{
    return json_is_number(json_object_get(object, key));
}

static int is_verdict(const json_t *object, cpubind_verdict verdict)
{
    return strcmp(text_of(object, "verdict"), cpubind_verdict_word(verdict)) == 0;
}

static int is_judged(const json_t *figure)
{
    return !is_verdict(figure, CPUBIND_VERDICT_SHOWN) &&
           !is_verdict(figure, CPUBIND_VERDICT_NOT_JUDGED);
}

static void add_number(api_text *to, double value)
{
    const double size = value < 0 ? -value : value;
    api_add(to, size >= 10000 ? "%.0f" : "%.4g", value);
}

/* "-42.9 to -40.1", with a sign in front of what is above 0 where is_signed. */
static void add_range(api_text *to, const json_t *figure, const char *low, const char *high)
{
    add_number(to, number_of(figure, low));
    api_add(to, " to ");
    add_number(to, number_of(figure, high));
}

static const json_t *main_of(const json_t *result)
{
    const json_t *figures = json_object_get(result, "figures");
    json_t *figure;
    size_t i;
    json_array_foreach(figures, i, figure)
    {
        if (json_is_string(json_object_get(result, "main")) &&
            strcmp(text_of(figure, "name"), text_of(result, "main")) == 0)
            return figure;
    }
    return NULL;
}

static int32_t count_judged(const json_t *result)
{
    json_t *figure;
    size_t i;
    int32_t n = 0;
    json_array_foreach(json_object_get(result, "figures"), i, figure) n += is_judged(figure);
    return n;
}

static void add_unit(api_text *to, const json_t *figure)
{
    if (*text_of(figure, "unit"))
        api_add(to, " %s", text_of(figure, "unit"));
}

void cli_add_measure(const json_t *result, api_text *to)
{
    const json_t *main = main_of(result);
    const int32_t n = count_judged(result);
    api_add(to, "%s against %s: %s", side_of(result, 1), side_of(result, 0),
            text_of(result, "verdict"));
    if (!main) {
        const json_t *first = json_array_get(json_object_get(result, "figures"), 0);
        if (is_verdict(result, CPUBIND_VERDICT_NOT_JUDGED) && *text_of(first, "why"))
            api_add(to, ": %s", text_of(first, "why"));
    } else if (is_verdict(result, CPUBIND_VERDICT_SAME)) {
        api_add(to, " in %d figure%s", (int)n, n == 1 ? "" : "s");
        if (has(main, "smallest")) {
            api_add(to, "; of %s, ", text_of(main, "name"));
            add_number(to, number_of(main, "smallest"));
            add_unit(to, main);
            api_add(to, " would have been seen");
        }
    } else {
        api_add(to, ": %s ", text_of(main, "name"));
        add_number(to, number_of(main, "first"));
        api_add(to, " -> ");
        add_number(to, number_of(main, "second"));
        add_unit(to, main);
        api_add(to, " (95 %% interval of the difference: ");
        add_range(to, main, "low", "high");
        api_add(to, ")");
    }
}

/* == As text ================================================================ */

static void add_row(api_table *table, const json_t *figure)
{
    api_text first = {"", 0}, second = {"", 0}, difference = {"", 0}, interval = {"", 0};
    add_number(&first, number_of(figure, "first"));
    add_number(&second, number_of(figure, "second"));
    add_number(&difference, number_of(figure, "difference"));
    add_range(&interval, figure, "low", "high");
    api_cell(table, "%s", text_of(figure, "name"));
    api_cell(table, "%s", text_of(figure, "unit"));
    api_cell(table, "%s", first.text);
    api_cell(table, "%s", second.text);
    api_cell(table, "%s", has(figure, "difference") ? difference.text : "-");
    api_cell(table, "%s", has(figure, "low") ? interval.text : "-");
    api_cell(table, "%s",
             is_verdict(figure, CPUBIND_VERDICT_SAME)    ? "no difference"
             : is_verdict(figure, CPUBIND_VERDICT_SHOWN) ? "-"
                                                         : text_of(figure, "verdict"));
}

static int print_table(FILE *out, const json_t *result)
{
    const char *const heads[] = {"figure",           "unit",       side_of(result, 0),
                                 side_of(result, 1), "difference", "95 % interval",
                                 "verdict"};
    api_table table = {.n_column = (int32_t)(sizeof heads / sizeof *heads)};
    json_t *figure;
    size_t i;
    for (int32_t k = 0; k < table.n_column; k++)
        api_cell(&table, "%s", heads[k]);
    json_array_foreach(json_object_get(result, "figures"), i, figure)
    {
        if (has(figure, "first") && has(figure, "second"))
            add_row(&table, figure);
    }
    return cli_print_table(out, &table);
}

/* Whether two figures are not judged for the same reason. */
static int is_like(const json_t *a, const json_t *b)
{
    return has(a, "first") == has(b, "first") &&
           strcmp(text_of(a, "why"), text_of(b, "why")) == 0;
}

/* Prints which figures are not judged, one line for each reason. */
static void print_unjudged(FILE *out, const json_t *result)
{
    const json_t *figures = json_object_get(result, "figures");
    for (size_t i = 0; i < json_array_size(figures); i++) {
        const json_t *figure = json_array_get(figures, i);
        api_text line = {"", 0};
        size_t first = 0;
        while (!is_like(json_array_get(figures, first), figure))
            first++;
        if (!*text_of(figure, "why") || first < i)
            continue;
        for (size_t k = i; k < json_array_size(figures); k++) {
            const json_t *other = json_array_get(figures, k);
            if (is_like(other, figure))
                api_add(&line, "%s%s", k > i ? ", " : "", text_of(other, "name"));
        }
        api_add(&line, ": %s: %s", has(figure, "first") ? "not judged" : "not counted",
                text_of(figure, "why"));
        fprintf(out, "%s\n", line.text);
    }
}

/* Finds the least and the largest value of the blocks of a figure. Returns 0 without any. */
static int range_of(const json_t *figure, double *least, double *most)
{
    json_t *value;
    size_t i;
    int has_one = 0;
    json_array_foreach(json_object_get(figure, "blocks"), i, value)
    {
        const double x = json_number_value(value);
        if (!json_is_number(value))
            continue;
        *least = has_one && *least < x ? *least : x;
        *most = has_one && *most > x ? *most : x;
        has_one = 1;
    }
    return has_one;
}

/* The side of a block; -1: not known. */
static int side_at(const json_t *result, size_t block)
{
    const char *order = text_of(result, "order");
    return block < strlen(order) ? order[block] == 'B' : -1;
}

/* Prints a digit for each block of a side, in the order of time: 0 the least value, 9 the
 * largest. */
static void print_side(FILE *out, const json_t *result, const json_t *figure, int side)
{
    const json_t *blocks = json_object_get(figure, "blocks");
    double least = 0, most = 0;
    json_t *value;
    size_t i;
    (void)range_of(figure, &least, &most);
    fprintf(out, "  %-10s", side_of(result, (size_t)side));
    json_array_foreach(blocks, i, value)
    {
        const double x = json_number_value(value);
        const int height = most > least ? (int)(9.5 * (x - least) / (most - least)) : 0;
        putc(side_at(result, i) == side ? json_is_number(value) ? '0' + height : '-' : ' ',
             out);
    }
    putc('\n', out);
}

static void print_blocks(FILE *out, const json_t *result)
{
    const json_t *main = main_of(result);
    double least, most;
    api_text line = {"", 0};
    if (!main || !range_of(main, &least, &most))
        return;
    api_add(&line, "%s in each block, from 0 (", text_of(main, "name"));
    add_number(&line, least);
    api_add(&line, ") to 9 (");
    add_number(&line, most);
    api_add(&line, ")");
    fprintf(out, "\n%s:\n", line.text);
    print_side(out, result, main, 0);
    print_side(out, result, main, 1);
}

int cli_print_measure(FILE *out, const json_t *result)
{
    const size_t n_worker = json_array_size(json_object_get(result, "workers"));
    api_text line = {"", 0};
    cli_add_measure(result, &line);
    fprintf(out, "%s\n\n", line.text);
    if (!print_table(out, result))
        return 0;
    print_unjudged(out, result);
    print_blocks(out, result);
    fprintf(
        out,
        "\n%d blocks of %d ms, each after %d ms to settle, in an order drawn from seed %d; ",
        (int)number_of(result, "blocks"), (int)number_of(result, "block_ms"),
        (int)number_of(result, "settle_ms"), (int)number_of(result, "seed"));
    fprintf(out,
            "%d worker%s\nmeasuring took %.2g %% of one CPU, and moving the workers "
            "between the blocks %.2g %%\n",
            (int)n_worker, n_worker == 1 ? "" : "s", number_of(result, "cost_percent"),
            number_of(result, "moving_percent"));
    return 1;
}

/* == The last one ============================================================ */

json_t *cli_last_measure_json(const api_options *options)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    json_t *result = NULL, *in_short = json_null();
    api_text text = {"", 0};
    if (options->root || options->fixture)
        return in_short;
    if (!cpubind_last_read(&cpubind_sys_real, &bytes).error && bytes.len > 0)
        result = json_loadb(bytes.data, (size_t)bytes.len, 0, NULL);
    cpubind_bytes_free(&bytes);
    if (json_integer_value(json_object_get(result, "format")) == FORM) {
        cli_add_measure(result, &text);
        in_short = json_pack("{s:I, s:o, s:o}", "at",
                             json_integer_value(json_object_get(result, "at")), "verdict",
                             cli_json_text(text_of(result, "verdict")), "text",
                             cli_json_text(text.text));
    }
    json_decref(result);
    return in_short;
}

void cli_print_last_measure(FILE *out, const api_options *options)
{
    json_t *last = cli_last_measure_json(options);
    char day[32] = "";
    struct tm parts;
    const time_t at = (time_t)json_integer_value(json_object_get(last, "at"));
    if (json_is_object(last) && localtime_r(&at, &parts) &&
        strftime(day, sizeof day, "%Y-%m-%d %H:%M", &parts) > 0)
        fprintf(out, "measured on %s: %s\n", day, text_of(last, "text"));
    json_decref(last);
}
