/* thread_table.c - the table of the names of threads that is in effect, as text and as JSON
 * SPDX-License-Identifier: MIT
 *
 * plan --explain threads prints it. Opens nothing and asks nothing of the host.
 */
#include <stdio.h>

#include "../api/picture.h"
#include "../linux/terminal.h"
#include "output.h"

/* One row: of --thread, or of the table. */
typedef struct row {
    char name[64];
    const char *what, *from, *why; /* why: NULL for a row of --thread */
    api_text place;
    int32_t cpu; /* which CPU of the role; -1: all of them */
} row;

/* The i-th row that counts with these options. Returns 0 when there are no more. */
static int row_at(const api_options *options, int32_t i, row *out)
{
    const cpubind_thread_role *role = NULL;
    int32_t place = -1;
    *out = (row){.what = "thread", .from = "--thread", .cpu = -1};
    if (i < options->n_wish) {
        (void)snprintf(out->name, sizeof out->name, "%s", options->wish[i].name);
        api_add_wish(&options->wish[i], &out->place);
        return 1;
    }
    for (i -= options->n_wish; i >= 0; i--)
        do
            role = cpubind_thread_role_at(++place);
        while (role && !role->is_reference && options->threads == CPUBIND_THREADS_REFERENCE);
    if (!role)
        return 0;
    (void)snprintf(out->name, sizeof out->name, "%s", role->pattern);
    api_add(&out->place, "%s", cpubind_role_name(role->role));
    out->what = cpubind_named_word(role->named);
    out->from = role->giver;
    out->why = role->why;
    out->cpu = role->named == CPUBIND_NAMED_INTERRUPT ? role->cpu : -1;
    return 1;
}

static const words_view text_view[] = {
    {WORDS_TABLE, "explain.rows", "name what=of belongs_on from"},
    {WORDS_BLOCK, "notes", ""},
    {0}};

/* What the text says of a row, in place of numbers. */
static void add_text(words_value *json, words_value *notes, const row *r)
{
    static const char *const nth[] = {", its first CPU", ", its second CPU"};
    api_text place = {"", 0}, why = {"", 0};
    api_add(&place, "%s%s", r->place.text, r->cpu < 0 ? "" : nth[r->cpu > 0]);
    words_set(json, "belongs_on", words_text(place.text));
    api_add(&why, "%s %s.", r->name, r->why ? r->why : "");
    if (r->why)
        words_add(notes, words_text(why.text));
}

int cli_print_threads(const api_options *options)
{
    words_value *rows = words_array(), *notes = words_array(), *report;
    row r;
    for (int32_t i = 0; row_at(options, i, &r); i++) {
        words_value *json = words_make("name:s what:s place:s cpu:v from:s why:s", r.name,
                                       r.what, r.place.text, words_id(r.cpu), r.from, r.why);
        if (!options->json)
            add_text(json, notes, &r);
        words_add(rows, json);
    }
    if (!options->json)
        words_add(rows, words_make("name:s what:s belongs_on:s", "*", "thread",
                                   cpubind_role_name(CPUBIND_ROLE_MAIN)));
    if (options->request.transfer == 0)
        words_add(notes, words_text("Threads of transfer are main threads here: the setting "
                                    "transfer gives them CPUs."));
    report = words_make("cpubind:s explain:{threads:s rows:v}", CPUBIND_VERSION,
                        cpubind_threads_word(options->threads), rows);
    if (!options->json && !options->quiet)
        words_set(report, "notes", words_share(notes));
    words_free(notes);
    return cli_print_report(options, text_view, report);
}
