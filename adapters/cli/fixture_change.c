/* fixture_change.c - cpubind fixture remove and rename: change which hosts a corpus has
 * SPDX-License-Identifier: MIT
 *
 * Each command is one change of the corpus: all of it, or nothing. Plans nothing.
 */
#include "../text/host_txt.h"
#include "fixture.h"

typedef struct change {
    const api_options *options;
    cpubind_store *store;
    char path[CLI_PATH_MAX];
} change;

static int ended(const change *c, cpubind_corpus_status result,
                 const cpubind_corpus_fault *fault, api_text *why)
{
    if (result == CPUBIND_CORPUS_OK)
        return API_DONE;
    return cli_corpus_failed(result, fault, c->path, c->options->word[0], why);
}

/* Removes the host, or the cases of it that are named. */
static int remove_named(const change *c, api_text *why)
{
    const api_options *o = c->options;
    cpubind_corpus_fault fault = {0, 0, "", ""};
    int status = API_DONE;
    if (o->n_word == 1)
        return ended(c, cpubind_store_remove_host(c->store, o->word[0], &fault), &fault, why);
    for (int i = 1; status == API_DONE && i < o->n_word; i++) {
        const cpubind_corpus_status result =
            cpubind_store_remove_expectation(c->store, o->word[0], o->word[i], &fault);
        if (result == CPUBIND_CORPUS_ERR_UNKNOWN_CASE)
            api_add(why, "\"%s\": ", o->word[i]);
        status = ended(c, result, &fault, why);
    }
    return status;
}

static int rename_host(const change *c, api_text *why)
{
    char **const word = c->options->word;
    cpubind_corpus_fault fault = {0, 0, "", ""};
    if (!cpubind_host_txt_is_name(word[1])) {
        api_add(why,
                "the name of a host consists of letters, digits, \".\", \"_\" and \"-\", and "
                "begins with a letter or a digit: \"%s\"",
                word[1]);
        return API_USAGE;
    }
    const cpubind_corpus_status result =
        cpubind_store_rename_host(c->store, word[0], word[1], &fault);
    if (result != CPUBIND_CORPUS_ERR_EXISTS)
        return ended(c, result, &fault, why);
    api_add(why, "\"%s\" has a host \"%s\" already; nothing has changed", c->path, word[1]);
    return API_REFUSED;
}

/* Makes the change, and commits it unless it is only tried. */
static int make_change(const api_options *options, int (*make)(const change *c, api_text *why))
{
    static change c;
    cpubind_corpus_fault fault = {0, 0, "", ""};
    api_text why = {"", 0};
    int status;
    c = (change){.options = options};
    status = cli_open_store(options, 0, c.path, &c.store, &why);
    if (status == API_DONE)
        status = make(&c, &why);
    if (status == API_DONE && !options->is_dry)
        status = ended(&c, cpubind_store_commit(c.store, &fault), &fault, &why);
    cpubind_store_close(c.store);
    return status == API_DONE ? API_DONE : cli_fail(options, status, why.text);
}

int cli_remove(int argc, char **argv)
{
    static api_options options;
    int status = cli_start(argc, argv, API_REMOVE, NULL, &options);
    if (status >= 0)
        return status;
    status = make_change(&options, remove_named);
    if (status != API_DONE || options.quiet)
        return status;
    printf("%s: ", options.db);
    if (options.n_word == 1)
        printf("the host %s", options.word[0]);
    else
        printf("%d %s of %s", options.n_word - 1,
               options.n_word == 2 ? "expectation" : "expectations", options.word[0]);
    puts(options.is_dry ? " would be removed" : " removed");
    return API_DONE;
}

int cli_rename(int argc, char **argv)
{
    static api_options options;
    int status = cli_start(argc, argv, API_RENAME, NULL, &options);
    if (status >= 0)
        return status;
    status = make_change(&options, rename_host);
    if (status == API_DONE && !options.quiet)
        printf("%s: the host %s is %s now\n", options.db, options.word[0], options.word[1]);
    return status;
}
