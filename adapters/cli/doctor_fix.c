/* doctor_fix.c - cpubind doctor --fix and --restore: make the safe changes, put them back
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing: adapters/doctor says which changes are safe, adapters/linux/bind/mend.h
 * makes them on record. Prints what became of each.
 */
#include "doctor_fix.h"

#include <stdlib.h>
#include <string.h>

#include "output.h"

/* == Words ================================================================== */

static const char *const results[] = {
    [CPUBIND_MEND_MADE] = "made",
    [CPUBIND_MEND_RIGHT] = "it was so already",
    [CPUBIND_MEND_REFUSED] = "refused",
    [CPUBIND_MEND_UNDONE] = "undone",
    [CPUBIND_MEND_STUCK] = "on record, could not be put back",
    [CPUBIND_MEND_LEFT] = "not tried",
    [CPUBIND_MEND_BACK] = "put back",
    [CPUBIND_MEND_OTHER] = "left: it has changed since",
    [CPUBIND_MEND_BOUND] = "left: the restore of a process that is bound puts it back",
    [CPUBIND_MEND_GONE] = "gone",
};

/* "refused: write: Permission denied" */
static words_value *result_text(const cpubind_mend_item *item)
{
    api_text text = {"", 0};
    api_add(&text, "%s", results[item->result]);
    if (item->fault.error) {
        api_add(&text, ": ");
        words_add_why(&text, WORDS_OTHER, item->fault.what, item->fault.error);
    }
    return words_text(text.text);
}

/* Appends why the record kept all changes from being made. */
static void add_why(api_text *to, cpubind_linux_status status, const cpubind_linux_fault *fault)
{
    if (status == CPUBIND_LINUX_ERR_BUSY) {
        api_add(to, "another cpubind is changing this host");
    } else if (fault->line > 0) {
        api_add(to, "%s in the folder of records is damaged in line %d", fault->what,
                (int)fault->line);
    } else {
        api_add(to, "the record of this host: ");
        words_add_why(to, WORDS_RECORD, fault->what, fault->error);
    }
}

/* == --fix ================================================================== */

static int32_t count_changes(const cpubind_doctor_report *report)
{
    int32_t n = 0;
    for (int32_t i = 0; i < report->n_finding; i++)
        n += report->finding[i].n_change;
    return n;
}

int cli_fix(const cpubind_doctor_report *report, int is_dry, cli_fixed *out)
{
    const int32_t n = count_changes(report);
    const size_t room = n > 0 ? (size_t)n : 1;
    int32_t unused;
    *out = (cli_fixed){.is_asked = 1, .is_dry = is_dry};
    out->change = (cpubind_change *)malloc(room * sizeof *out->change);
    out->finding = (int32_t *)malloc(room * sizeof *out->finding);
    if (!out->change || !out->finding)
        return cli_no_memory();
    for (int32_t i = 0; i < report->n_finding; i++)
        for (int32_t k = 0; k < report->finding[i].n_change; k++) {
            out->change[out->n] = report->finding[i].change[k];
            out->change[out->n].group = i;
            out->finding[out->n++] = i;
        }
    if (is_dry || n == 0)
        return API_DONE;
    out->status = cpubind_mend_open(NULL, &out->mend, &out->fault);
    if (out->status == CPUBIND_LINUX_OK)
        out->status = cpubind_mend_apply(out->mend, out->change, n, &out->fault);
    if (out->status == CPUBIND_LINUX_OK || out->status == CPUBIND_LINUX_ERR_REFUSED)
        out->item = cpubind_mend_items(out->mend, &unused);
    return out->status == CPUBIND_LINUX_OK ? API_DONE : API_UNWRITTEN;
}

void cli_free_fixed(cli_fixed *fixed)
{
    cpubind_mend_close(fixed->mend);
    free(fixed->change);
    free(fixed->finding);
    memset(fixed, 0, sizeof *fixed);
}

int cli_is_fixed(const cli_fixed *fixed, int32_t finding)
{
    int n = 0;
    for (int32_t i = 0; fixed->item && i < fixed->n; i++) {
        const cpubind_mend_result result = fixed->item[i].result;
        if (fixed->finding[i] != finding)
            continue;
        if (result != CPUBIND_MEND_MADE && result != CPUBIND_MEND_RIGHT &&
            result != CPUBIND_MEND_GONE)
            return 0;
        n++;
    }
    return n > 0;
}

int32_t cli_count_fixed(const cli_fixed *fixed, int32_t n_finding)
{
    int32_t n = 0;
    for (int32_t i = 0; i < n_finding; i++)
        n += cli_is_fixed(fixed, i);
    return n;
}

void cli_warn_fixed(const cli_fixed *fixed)
{
    api_text why = {"", 0};
    if (fixed->item || fixed->status == CPUBIND_LINUX_OK)
        return;
    add_why(&why, fixed->status, &fixed->fault);
    fprintf(stderr, "cpubind: nothing was changed: %s\n", why.text);
}

/* == JSON =================================================================== */

static words_value *item_json(const cpubind_change *c, const cpubind_mend_item *item)
{
    static const char *const kinds[] = {"file", "thread", "ban"};
    const int is_thread = c->kind == CPUBIND_CHANGE_THREAD;
    const int is_file = c->kind == CPUBIND_CHANGE_FILE;
    api_text path = {"", 0};
    if (is_file)
        api_add(&path, "/%s", c->file);
    return words_make("kind:s file:s pid:v tid:v irq:v before:s after:s result:s now:s error:s",
                      kinds[c->kind], is_file ? path.text : NULL,
                      is_file ? words_null() : words_number(c->pid),
                      is_thread ? words_number(c->tid) : words_null(),
                      c->kind == CPUBIND_CHANGE_BAN ? words_number(c->irq) : words_null(),
                      item && c->kind != CPUBIND_CHANGE_BAN ? item->before : NULL, c->value,
                      item ? cpubind_mend_word(item->result) : NULL, item ? item->now : NULL,
                      item && item->fault.error ? strerror(item->fault.error) : NULL);
}

words_value *cli_fixed_json(const cli_fixed *fixed, const cpubind_doctor_report *report)
{
    words_value *changes = words_array(), *error = words_null();
    for (int32_t i = 0; i < fixed->n; i++) {
        words_value *item = item_json(&fixed->change[i], fixed->item ? &fixed->item[i] : NULL);
        words_set(item, "check", words_text(report->finding[fixed->finding[i]].check->word));
        words_add(changes, item);
    }
    if (!fixed->item && fixed->status != CPUBIND_LINUX_OK) {
        api_text why = {"", 0};
        add_why(&why, fixed->status, &fixed->fault);
        error = words_text(why.text);
    }
    return words_make("record:s is_dry:b error:v changes:v",
                      fixed->mend ? cpubind_mend_path(fixed->mend) : NULL, fixed->is_dry, error,
                      changes);
}

void cli_add_fixed_text(const cli_fixed *fixed, words_value *changes)
{
    for (int32_t i = 0; fixed->item && i < words_count(changes); i++)
        words_set(words_at(changes, i), "result", result_text(&fixed->item[i]));
}

/* == --restore ============================================================== */

static const words_view restored_view[] = {{WORDS_COUNTED, "restored", CLI_CHANGE_KEYS},
                                           {WORDS_NOTE, "is_empty", "nothing is on record"},
                                           {0}};

/* What was put back; of the text with --quiet, what was not. */
static words_value *restored_json(const cpubind_mend *mend, const api_options *options)
{
    int32_t n;
    const cpubind_mend_item *item = cpubind_mend_items(mend, &n);
    words_value *all = words_array();
    for (int32_t i = n - 1; i >= 0; i--) {
        words_value *row = item_json(&item[i].change, &item[i]);
        if (!options->json)
            words_set(row, "result", result_text(&item[i]));
        if (!options->json && options->quiet && item[i].result != CPUBIND_MEND_STUCK &&
            item[i].result != CPUBIND_MEND_OTHER && item[i].result != CPUBIND_MEND_BOUND)
            words_free(row);
        else
            words_add(all, row);
    }
    all = words_make("cpubind:s record:s restored:v", CPUBIND_VERSION, cpubind_mend_path(mend),
                     all);
    if (!options->json)
        words_set(all, "is_empty", words_bool(n == 0 && !options->quiet));
    return all;
}

int cli_doctor_restore(const api_options *options)
{
    cpubind_linux_fault fault = {.what = ""};
    cpubind_mend *mend;
    int status = API_DONE, printed = API_DONE;
    cpubind_linux_status result = cpubind_mend_open(NULL, &mend, &fault);
    if (result == CPUBIND_LINUX_OK) {
        result = cpubind_mend_restore(mend, &fault);
        printed = cli_print_report(options, restored_view, restored_json(mend, options));
    }
    if (result != CPUBIND_LINUX_OK && result != CPUBIND_LINUX_ERR_REFUSED) {
        api_text why = {"", 0};
        add_why(&why, result, &fault);
        status = cli_fail(options,
                          result == CPUBIND_LINUX_ERR_DAMAGED ? API_UNREADABLE : API_UNWRITTEN,
                          why.text);
    } else if (result == CPUBIND_LINUX_ERR_REFUSED) {
        status = API_UNWRITTEN;
    }
    cpubind_mend_close(mend);
    return status ? status : printed;
}
