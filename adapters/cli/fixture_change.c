/* fixture_change.c - cpubind fixture remove and rename: change which hosts a corpus has
 * SPDX-License-Identifier: MIT
 *
 * Each command is one change of the corpus: all of it, or nothing. Plans nothing.
 */
#include <stdarg.h>

#include "../text/host_txt.h"
#include "fixture.h"
#include "output.h"

int cli_say_change(const api_options *options, const char *path, words_value *more,
                   const char *format, ...)
{
    char text[1024];
    words_value *said;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args); /* NOLINT: va_start is above */
    va_end(args);
    if (!options->json) {
        words_free(more);
        if (!options->quiet)
            printf("%s: %s\n", path, text);
        return API_DONE;
    }
    said = words_make("cpubind:s path:s text:s is_dry:b", CPUBIND_VERSION, path, text,
                      options->is_dry);
    if (more)
        words_move(said, more);
    return cli_print_json(stdout, said) ? API_DONE : cli_no_memory();
}

typedef struct change {
    const api_options *options;
    cli_corpus corpus;
} change;

static int ended(const change *c, cpubind_corpus_fault fault, api_text *why)
{
    return fault.status ? cli_corpus_failed(&fault, &c->corpus, c->options->word[0], why)
                        : API_DONE;
}

/* Removes the host, or the cases of it that are named. */
static int remove_named(const change *c, api_text *why)
{
    const api_options *o = c->options;
    int status = API_DONE;
    if (o->n_word == 1)
        return ended(c, cpubind_corpus_remove_host(c->corpus.corpus, o->word[0]), why);
    for (int i = 1; status == API_DONE && i < o->n_word; i++) {
        const cpubind_corpus_fault fault =
            cpubind_corpus_remove_expectation(c->corpus.corpus, o->word[0], o->word[i]);
        if (fault.status == CPUBIND_CORPUS_ERR_UNKNOWN_CASE)
            api_add(why, "\"%s\": ", o->word[i]);
        status = ended(c, fault, why);
    }
    return status;
}

static int rename_host(const change *c, api_text *why)
{
    char **const word = c->options->word;
    if (!cpubind_host_txt_is_name(word[1]))
        return words_fail(
            API_USAGE, why,
            "the name of a host consists of letters, digits, \".\", \"_\" and \"-\", and "
            "begins with a letter or a digit: \"%s\"",
            word[1]);
    const cpubind_corpus_fault fault =
        cpubind_corpus_rename_host(c->corpus.corpus, word[0], word[1]);
    if (fault.status != CPUBIND_CORPUS_ERR_EXISTS)
        return ended(c, fault, why);
    return words_fail(API_REFUSED, why, "\"%s\" has a host \"%s\" already; nothing has changed",
                      c->corpus.path, word[1]);
}

/* Makes the change, and writes it unless it is only tried. */
static int make_change(const api_options *options, int (*make)(const change *c, api_text *why))
{
    static change c;
    api_text why = {"", 0};
    int status;
    c = (change){.options = options};
    status = cli_open_corpus(options, CLI_CORPUS_CHANGE, &c.corpus, &why);
    if (status == API_DONE)
        status = make(&c, &why);
    if (status == API_DONE && !options->is_dry)
        status = cli_write_corpus(&c.corpus, &why);
    cli_close_corpus(&c.corpus);
    return status == API_DONE ? API_DONE : cli_fail(options, status, why.text);
}

int cli_remove(int argc, char **argv)
{
    static api_options options;
    const char *const done = "removed", *const tried = "would be removed";
    int status = cli_start(argc, argv, API_REMOVE, &options);
    if (status >= 0)
        return status;
    status = make_change(&options, remove_named);
    if (status != API_DONE)
        return status;
    if (options.n_word == 1)
        return cli_say_change(&options, options.db, NULL, "the host %s %s", options.word[0],
                              options.is_dry ? tried : done);
    return cli_say_change(&options, options.db, NULL, "%d %s of %s %s", options.n_word - 1,
                          options.n_word == 2 ? "expectation" : "expectations", options.word[0],
                          options.is_dry ? tried : done);
}

int cli_rename(int argc, char **argv)
{
    static api_options options;
    int status = cli_start(argc, argv, API_RENAME, &options);
    if (status >= 0)
        return status;
    status = make_change(&options, rename_host);
    return status == API_DONE
               ? cli_say_change(&options, options.db, NULL, "the host %s is %s now",
                                options.word[0], options.word[1])
               : status;
}
