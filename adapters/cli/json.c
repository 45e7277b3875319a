/* json.c - what the command prints: texts, JSON, and errors in either form
 * SPDX-License-Identifier: MIT
 *
 * Words nothing of a plan: adapters/api does.
 */
#include <stdlib.h>
#include <string.h>

#include "../linux/terminal.h"
#include "output.h"

/* == Texts of adapters/api ================================================== */

api_out cli_out_for(FILE *out)
{
    const int fd = fileno(out);
    const api_out to = {.columns = cpubind_linux_columns(fd),
                        .is_file = !cpubind_linux_is_terminal(fd),
                        .has_colour = cpubind_linux_has_colour(fd)};
    return to;
}

int cli_print_out(FILE *out, api_out *text)
{
    const int is_whole = !text->is_short;
    if (is_whole && text->len > 0)
        (void)fwrite(text->text, 1, text->len, out);
    free(text->text);
    memset(text, 0, sizeof *text);
    return is_whole;
}

void cli_hear_warning(void *ctx, const char *code, const char *text)
{
    (void)ctx;
    (void)code;
    fprintf(stderr, "cpubind: warning: %s\n", text);
}

void cli_print_warnings(const api_planned *planned)
{
    api_warn_plan(planned, cli_hear_warning, NULL);
}

/* == Trees ================================================================== */

int cli_print_json(FILE *out, words_value *value)
{
    api_out text = {0};
    words_put(&text, value, WORDS_LINE);
    words_free(value);
    api_put_text(&text, "\n");
    return cli_print_out(out, &text);
}

int cli_check_columns(const api_options *options, const words_view *view)
{
    api_text why = {"", 0};
    if (!options->columns || words_has_columns(view, options->columns, &why))
        return API_DONE;
    return cli_fail(options, API_USAGE, why.text);
}

int cli_print_report(const api_options *options, const words_view *view, words_value *report)
{
    const int status = cli_check_columns(options, view);
    if (status != API_DONE)
        words_free(report);
    else if (!(options->json ? cli_print_json(stdout, report)
                             : cli_print_text(view, report, options->columns)))
        return cli_no_memory();
    return status;
}

int cli_print_text(const words_view *view, words_value *report, const char *columns)
{
    api_out text = cli_out_for(stdout);
    words_show(&text, view, report, columns);
    words_free(report);
    return cli_print_out(stdout, &text);
}

/* What has been done when an output cannot be written. */
static api_text done;

void cli_note_done(const api_text *text)
{
    done = *text;
}

int cli_finish(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "cpubind: the output could not be written%s%s\n", *done.text ? "; " : "",
            done.text);
    return status < API_UNWRITTEN ? API_UNWRITTEN : status;
}

int cli_no_memory(void)
{
    if (ferror(stdout)) /* cli_finish says so */
        return API_DONE;
    fputs("cpubind: there is no memory left", stderr);
    fprintf(stderr, "%s%s\n", *done.text ? "; " : "", done.text);
    return API_UNREADABLE;
}

/* Appends the exit status that another command would have: that of run is 125. */
static void add_own_status(const api_options *options, int status, api_text *to)
{
    if (options->command == API_RUN && status < CLI_RUN_FAILED)
        api_add(to, " (exit status %d of cpubind)", status);
}

/* Prints a failure, of a plan where `planned` is one. */
static int print_failure(const api_options *options, const api_planned *planned, int status,
                         api_text *text)
{
    add_own_status(options, status, text);
    if (options->json &&
        !cli_print_json(stdout, planned ? api_problem_json(planned, text->text)
                                        : api_error_json(api_status_word(status), text->text)))
        return cli_no_memory();
    if (!options->json)
        fprintf(stderr, "cpubind: %s\n", text->text);
    return status;
}

int cli_refuse(const api_options *options, const api_planned *planned)
{
    api_text text = {"", 0};
    api_explain(planned, options, &text);
    return print_failure(options, planned, (int)cpubind_problem_exit(planned->code), &text);
}

int cli_fail(const api_options *options, int status, const char *text)
{
    api_text said = {"", 0};
    api_add(&said, "%s", text);
    return print_failure(options, NULL, status, &said);
}
