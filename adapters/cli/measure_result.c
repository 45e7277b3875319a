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

static words_value *number(int is_known, double value)
{
    return is_known ? words_real(value) : words_null();
}

static words_value *values_json(const cpubind_judgement *f, int32_t n_block)
{
    words_value *values = words_array();
    for (int32_t i = 0; i < n_block; i++)
        words_add(values, number(f->is_counted[i], f->value[i]));
    return values;
}

static words_value *figure_json(const cpubind_judgement *f, int32_t n_block)
{
    static const char *const better[] = {"lower", "higher", "neither"};
    return words_make(
        "name:s unit:s better:s asked:b verdict:s why:w groups:i first:v second:v difference:v "
        "low:v high:v p:v p_corrected:v smallest:v blocks:v",
        f->name, f->unit, better[f->better], (int)f->is_asked, cpubind_verdict_word(f->verdict),
        f->why, (int)f->n, number(f->has_sides, f->median[0]),
        number(f->has_sides, f->median[1]), number(f->has_interval, f->difference),
        number(f->has_interval, f->low), number(f->has_interval, f->high),
        number(f->has_interval, f->p), number(f->has_interval, f->p_holm),
        number(f->smallest > 0, f->smallest), values_json(f, n_block));
}

static words_value *order_json(const cpubind_schedule *s)
{
    char order[CPUBIND_BLOCKS_MAX + 1] = "";
    for (int32_t i = 0; i < s->n_block; i++)
        order[i] = s->side[i] ? 'B' : 'A';
    return words_text(order);
}

words_value *cli_measure_json(const cli_measured *m)
{
    const cpubind_schedule *s = m->schedule;
    const cpubind_verdict verdict = cpubind_judge_all(m->figure, m->n_figure);
    const cpubind_judgement *main = cpubind_judge_main(m->figure, m->n_figure, verdict);
    words_value *figures = words_array(), *sides = words_array();
    char host[256] = "";
    (void)cpubind_linux_host_name(host, sizeof host);
    for (int32_t i = 0; i < m->n_figure; i++)
        words_add(figures, figure_json(&m->figure[i], m->n_block));
    for (int i = 0; i < 2; i++)
        words_add(sides, words_text(m->side[i]));
    return words_make(
        "cpubind:s format:i host:s at:I sides:v block_ms:I "
        "settle_ms:I order:v blocks:i cost_percent:f moving_percent:f verdict:s main:v "
        "workers:v warnings:v figures:v",
        CPUBIND_VERSION, FORM, host, (int64_t)time(NULL), sides, (int64_t)s->block_ms,
        (int64_t)s->settle_ms, order_json(s), (int)m->n_block, m->cost_percent,
        m->moving_percent, cpubind_verdict_word(verdict), words_text(main ? main->name : NULL),
        m->workers, m->warnings, figures);
}

/* == What a result says ===================================================== */

static double number_of(const words_value *object, const char *key)
{
    return words_decimal(words_get(object, key));
}

static const char *side_of(const words_value *result, int32_t side)
{
    const char *text = words_string(words_at(words_get(result, "sides"), side));
    return text ? text : "";
}

static int is_number(const words_value *value)
{
    return words_is(value, WORDS_NUMBER) || words_is(value, WORDS_REAL);
}

static int has(const words_value *object, const char *key)
{
    return is_number(words_get(object, key));
}

static int is_verdict(const words_value *object, cpubind_verdict verdict)
{
    return strcmp(words_string_of(object, "verdict"), cpubind_verdict_word(verdict)) == 0;
}

static int is_judged(const words_value *figure)
{
    return !is_verdict(figure, CPUBIND_VERDICT_SHOWN) &&
           !is_verdict(figure, CPUBIND_VERDICT_NOT_JUDGED);
}

/* "-42.9 to -40.1", with a sign in front of what is above 0 where is_signed. */
static void add_range(api_text *to, const words_value *figure, const char *low,
                      const char *high)
{
    words_add_real(to, number_of(figure, low));
    api_add(to, " to ");
    words_add_real(to, number_of(figure, high));
}

static const words_value *main_of(const words_value *result)
{
    const words_value *figures = words_get(result, "figures");
    for (int32_t i = 0; i < words_count(figures); i++) {
        words_value *figure = words_at(figures, i);
        if (words_is(words_get(result, "main"), WORDS_TEXT) &&
            strcmp(words_string_of(figure, "name"), words_string_of(result, "main")) == 0)
            return figure;
    }
    return NULL;
}

static int32_t count_judged(const words_value *result)
{
    const words_value *figures = words_get(result, "figures");
    int32_t n = 0;
    for (int32_t i = 0; i < words_count(figures); i++)
        n += is_judged(words_at(figures, i));
    return n;
}

static void add_unit(api_text *to, const words_value *figure)
{
    if (*words_string_of(figure, "unit"))
        api_add(to, " %s", words_string_of(figure, "unit"));
}

void cli_add_measure(const words_value *result, api_text *to)
{
    const words_value *main = main_of(result);
    const int32_t n = count_judged(result);
    api_add(to, "%s against %s: %s", side_of(result, 1), side_of(result, 0),
            words_string_of(result, "verdict"));
    if (!main) {
        const words_value *first = words_at(words_get(result, "figures"), 0);
        if (is_verdict(result, CPUBIND_VERDICT_NOT_JUDGED) && *words_string_of(first, "why"))
            api_add(to, ": %s", words_string_of(first, "why"));
    } else if (is_verdict(result, CPUBIND_VERDICT_SAME)) {
        api_add(to, " in %d figure%s", (int)n, n == 1 ? "" : "s");
        if (has(main, "smallest")) {
            api_add(to, "; of %s, ", words_string_of(main, "name"));
            words_add_real(to, number_of(main, "smallest"));
            add_unit(to, main);
            api_add(to, " would have been seen");
        }
    } else {
        api_add(to, ": %s ", words_string_of(main, "name"));
        words_add_real(to, number_of(main, "first"));
        api_add(to, " -> ");
        words_add_real(to, number_of(main, "second"));
        add_unit(to, main);
        api_add(to, " (95 %% interval of the difference: ");
        add_range(to, main, "low", "high");
        api_add(to, ")");
    }
}

/* == As text ================================================================ */

/* "better"; of a figure that is shown alone nothing. */
static const char *verdict_of(const words_value *figure)
{
    return is_verdict(figure, CPUBIND_VERDICT_SAME)    ? "no difference"
           : is_verdict(figure, CPUBIND_VERDICT_SHOWN) ? NULL
                                                       : words_string_of(figure, "verdict");
}

/* The figures that were counted on both sides, as rows of a table. */
static words_value *rows_of(const words_value *result)
{
    const words_value *figures = words_get(result, "figures");
    words_value *rows = words_array();
    for (int32_t i = 0; i < words_count(figures); i++) {
        words_value *figure = words_at(figures, i), *row;
        api_text interval = {"", 0};
        if (!has(figure, "first") || !has(figure, "second"))
            continue;
        if (has(figure, "low"))
            add_range(&interval, figure, "low", "high");
        row = words_make("figure:s unit:s first:V second:V difference:V interval:w verdict:s",
                         words_string_of(figure, "name"), words_string_of(figure, "unit"),
                         words_get(figure, "first"), words_get(figure, "second"),
                         words_get(figure, "difference"), interval.text, verdict_of(figure));
        words_add(rows, row);
    }
    return rows;
}

/* Whether two figures are not judged for the same reason. */
static int is_like(const words_value *a, const words_value *b)
{
    return has(a, "first") == has(b, "first") &&
           strcmp(words_string_of(a, "why"), words_string_of(b, "why")) == 0;
}

/* Notes which figures are not judged, one line for each reason. */
static void note_unjudged(words_value *notes, const words_value *result)
{
    const words_value *figures = words_get(result, "figures");
    for (int32_t i = 0; i < words_count(figures); i++) {
        const words_value *figure = words_at(figures, i);
        api_text line = {"", 0};
        int32_t first = 0;
        while (!is_like(words_at(figures, first), figure))
            first++;
        if (!*words_string_of(figure, "why") || first < i)
            continue;
        for (int32_t k = i; k < words_count(figures); k++) {
            const words_value *other = words_at(figures, k);
            if (is_like(other, figure))
                api_add(&line, "%s%s", k > i ? ", " : "", words_string_of(other, "name"));
        }
        api_add(&line, ": %s: %s", has(figure, "first") ? "not judged" : "not counted",
                words_string_of(figure, "why"));
        words_add(notes, words_text(line.text));
    }
}

/* Finds the least and the largest value of the blocks of a figure. Returns 0 without any. */
static int range_of(const words_value *figure, double *least, double *most)
{
    int has_one = 0;
    for (int32_t i = 0; i < words_count(words_get(figure, "blocks")); i++) {
        words_value *value = words_at(words_get(figure, "blocks"), i);
        const double x = words_decimal(value);
        if (!is_number(value))
            continue;
        *least = has_one && *least < x ? *least : x;
        *most = has_one && *most > x ? *most : x;
        has_one = 1;
    }
    return has_one;
}

/* The side of a block; -1: not known. */
static int side_at(const words_value *result, int32_t block)
{
    const char *order = words_string_of(result, "order");
    return block < (int32_t)strlen(order) ? order[block] == 'B' : -1;
}

/* A digit for each block of a side, in the order of time: 0 the least value, 9 the largest. */
static words_value *digits_of(const words_value *result, const words_value *figure, int side)
{
    const words_value *blocks = words_get(figure, "blocks");
    char digit[CPUBIND_BLOCKS_MAX + 1];
    double least = 0, most = 0;
    int32_t n = 0;
    (void)range_of(figure, &least, &most);
    for (; n < words_count(blocks) && n < CPUBIND_BLOCKS_MAX; n++) {
        words_value *value = words_at(blocks, n);
        const double x = words_decimal(value);
        const int height = most > least ? (int)(9.5 * (x - least) / (most - least)) : 0;
        digit[n] = ' ';
        if (side_at(result, n) == side)
            digit[n] = (char)(is_number(value) ? '0' + height : '-');
    }
    return words_text_of(digit, (size_t)n);
}

/* The blocks of the figure that says most; null without any. */
static words_value *blocks_of(const words_value *result)
{
    const words_value *main = main_of(result);
    double least, most;
    api_text line = {"", 0};
    if (!main || !range_of(main, &least, &most))
        return words_null();
    api_add(&line, "%s in each block, from 0 (", words_string_of(main, "name"));
    words_add_real(&line, least);
    api_add(&line, ") to 9 (");
    words_add_real(&line, most);
    api_add(&line, ")");
    return words_make("blocks:s first:v second:v", line.text, digits_of(result, main, 0),
                      digits_of(result, main, 1));
}

static words_value *made_of(const words_value *result)
{
    const int32_t n_worker = words_count(words_get(result, "workers"));
    words_value *notes = words_array();
    api_text made = {"", 0}, cost = {"", 0};
    api_add(&made,
            "%d blocks of %d ms, each after %d ms to settle, in an order that was drawn; "
            "%d worker%s",
            (int)number_of(result, "blocks"), (int)number_of(result, "block_ms"),
            (int)number_of(result, "settle_ms"), (int)n_worker, n_worker == 1 ? "" : "s");
    api_add(&cost,
            "measuring took %.2g %% of one CPU, and moving the workers between the blocks "
            "%.2g %%",
            number_of(result, "cost_percent"), number_of(result, "moving_percent"));
    words_add(notes, words_text(made.text));
    words_add(notes, words_text(cost.text));
    return notes;
}

int cli_print_measure(const words_value *result)
{
    api_text line = {"", 0}, columns = {"", 0}, sides = {"", 0};
    const words_view view[] = {
        {WORDS_BLOCK, "verdict", ""},  {WORDS_TABLE, "figures", columns.text},
        {WORDS_BLOCK, "unjudged", ""}, {WORDS_BLOCK, "blocks", sides.text},
        {WORDS_BLOCK, "made", ""},     {0}};
    words_value *verdict = words_array(), *unjudged = words_array();
    cli_add_measure(result, &line);
    words_add(verdict, words_text(line.text));
    note_unjudged(unjudged, result);
    api_add(&columns,
            "figure unit first=%s second=%s difference interval=95_%%_interval verdict",
            side_of(result, 0), side_of(result, 1));
    api_add(&sides, "blocks first!=%s second!=%s", side_of(result, 0), side_of(result, 1));
    return cli_print_text(view,
                          words_make("verdict:v figures:v unjudged:v blocks:v made:v", verdict,
                                     rows_of(result), unjudged, blocks_of(result),
                                     made_of(result)),
                          NULL);
}

/* == The last one ============================================================ */

words_value *cli_last_measure_json(const api_options *options)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    words_value *result = NULL, *in_short = words_null();
    api_text text = {"", 0};
    if (options->root || options->fixture)
        return in_short;
    if (!cpubind_last_read(&cpubind_sys_real, &bytes).error && bytes.len > 0)
        result = words_read(bytes.data, (size_t)bytes.len, NULL);
    cpubind_bytes_free(&bytes);
    if (words_integer_of(result, "format") == FORM) {
        cli_add_measure(result, &text);
        in_short = words_make("at:I verdict:s text:s", words_integer_of(result, "at"),
                              words_string_of(result, "verdict"), text.text);
    }
    words_free(result);
    return in_short;
}

void cli_note_last_measure(words_value *notes, const api_options *options)
{
    words_value *last = cli_last_measure_json(options);
    api_text text = {"", 0};
    char day[32] = "";
    struct tm parts;
    const time_t at = (time_t)words_integer_of(last, "at");
    if (words_is(last, WORDS_OBJECT) && localtime_r(&at, &parts) &&
        strftime(day, sizeof day, "%Y-%m-%d %H:%M", &parts) > 0) {
        api_add(&text, "measured on %s: %s", day, words_string_of(last, "text"));
        words_add(notes, words_text(text.text));
    }
    words_free(last);
}
