/* measure.c - the rows of what measurements are judged by: figures of blocks
 * SPDX-License-Identifier: MIT
 *
 * No command has a door to this: a measurement takes half a minute, and says something else
 * each time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../adapters/measure/judge.h"
#include "readers.h"

enum { MOST_FIGURES = 8 };

/* == Figures ================================================================ */

/* Numbers up to "/" or the end of the line; "-" is a block that was not counted. */
typedef struct levels {
    double at[CPUBIND_BLOCKS_MAX];
    uint8_t is_counted[CPUBIND_BLOCKS_MAX];
    int32_t n;
} levels;

static levels take_levels(char **line)
{
    levels l = {.n = 0};
    const char *word;
    while ((word = strsep(line, " ")) != NULL && strcmp(word, "/") != 0) {
        const double value = strtod(word, NULL);
        if (l.n == CPUBIND_BLOCKS_MAX || *word == '\0')
            continue;
        l.at[l.n] = value > -1e12 && value < 1e12 ? value : 0;
        l.is_counted[l.n++] = strcmp(word, "-") != 0;
    }
    if (l.n == 0)
        l.is_counted[l.n++] = 1;
    return l;
}

/* lower|higher|neither[!] FIRST ... / SECOND ... / EITHER ...: the values of the groups on each
 * side, in turn, and what is added to each block, in turn; "!": the user has named it. */
static void take_figure(char *line, const cpubind_schedule *s, cpubind_judgement *f)
{
    static const char *const sides[] = {"lower", "higher", "neither"};
    const char *word = strsep(&line, " ");
    for (int k = 0; k < 3; k++)
        if (strncmp(word, sides[k], strlen(sides[k])) == 0)
            f->better = (cpubind_better)k;
    f->is_asked = strchr(word, '!') != NULL;
    const levels first = take_levels(&line), second = take_levels(&line),
                 either = take_levels(&line);
    for (int32_t i = 0; i < s->n_block; i++) {
        const levels *side = s->side[i] ? &second : &first;
        const int32_t at = i / CPUBIND_GROUP_BLOCKS % side->n, k = i % either.n;
        f->value[i] = side->at[at] + either.at[k];
        f->is_counted[i] = side->is_counted[at] && either.is_counted[k];
    }
}

static void tell_figure(reading *r, const cpubind_judgement *f)
{
    CHECK(f->p >= 0 && f->p <= 1 && f->p_holm >= f->p && f->p_holm <= 1);
    CHECK((f->verdict == CPUBIND_VERDICT_NOT_JUDGED) == (f->why[0] != '\0'));
    CHECK(!f->has_interval || (f->low <= f->difference && f->difference <= f->high));
    tell(r, "%s %s of %d groups", f->name, cpubind_verdict_word(f->verdict), f->n);
    if (f->has_sides)
        tell(r, ", %.6g and %.6g", f->median[0], f->median[1]);
    if (f->has_interval)
        tell(r, ", %.6g (%.6g to %.6g), p %.6g, %.6g, smallest %.6g", f->difference, f->low,
             f->high, f->p, f->p_holm, f->smallest);
    tell(r, "%s%s\n", f->why[0] ? ": " : "", f->why);
}

/* The first line: SEED SECONDS [WHY THE WORKERS WERE DISTURBED]. Each other one is a figure. */
static void read_judge(reading *r)
{
    static cpubind_judgement figure[MOST_FIGURES];
    static cpubind_schedule schedule;
    char *text = string_copy(r->text, r->len), *rest = text, *line = strsep(&rest, "\n"), *why;
    const uint64_t seed = strtoull(line, &why, 10);
    const int64_t seconds = strtol(why, &why, 10) & 0x1ffff;
    const cpubind_judgement *most;
    int32_t n = 0;
    memset(&schedule, r->fill, sizeof schedule);
    cpubind_schedule_draw(seed, seconds * 1000, &schedule);
    memset(figure, 0, sizeof figure);
    for (; n < MOST_FIGURES && (line = strsep(&rest, "\n")) != NULL && *line; n++) {
        (void)snprintf(figure[n].name, sizeof figure[n].name, "%c", 'a' + n);
        take_figure(line, &schedule, &figure[n]);
    }
    cpubind_judge(&schedule, *why ? why + 1 : NULL, figure, n);
    tell(r, "%d groups of %d ms and %d ms, the first %d%d%d%d\n", schedule.n_group,
         (int)schedule.settle_ms, (int)schedule.block_ms, schedule.side[0], schedule.side[1],
         schedule.side[2], schedule.side[3]);
    for (int32_t i = 0; i < n; i++)
        tell_figure(r, &figure[i]);
    most = cpubind_judge_main(figure, n, cpubind_judge_all(figure, n));
    tell(r, "all: %s", cpubind_verdict_word(cpubind_judge_all(figure, n)));
    tell(r, "%s%s\n", most ? ", by " : "", most ? most->name : "");
    free(text);
}

static const reader rows[] = {
    {"judge", read_judge, "", NULL, "judge", 2048},
};

READERS(rows)
