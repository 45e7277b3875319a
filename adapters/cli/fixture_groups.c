/* fixture_groups.c - cpubind fixture groups: a fleet by the shapes of its hosts
 * SPDX-License-Identifier: MIT
 *
 * Reads a corpus and changes nothing. A host without a shape is read from its inputs.
 */
#include <stdlib.h>
#include <string.h>

#include "../api/api.h"
#include "fixture.h"
#include "groups.h"

/* The reading of a corpus. */
typedef struct reading {
    const api_options *options;
    cli_corpus corpus;
    cli_fleet fleet;
    cli_shape_reader reader;
    char **unread; /* hosts whose inputs are to be read */
    int32_t n_unread, cap_unread;
    int status;
    api_text why;
} reading;

static int fail_memory(reading *r)
{
    r->status = api_no_room(&r->why);
    return 1;
}

static int keep_unread(reading *r, const char *name)
{
    if (r->n_unread == r->cap_unread) {
        const int32_t cap = r->cap_unread ? r->cap_unread * 2 : 64;
        char **grown = (char **)realloc(r->unread, (size_t)cap * sizeof *grown);
        if (!grown)
            return fail_memory(r);
        r->unread = grown;
        r->cap_unread = cap;
    }
    r->unread[r->n_unread] = strdup(name);
    return r->unread[r->n_unread] ? r->n_unread++, 0 : fail_memory(r);
}

/* Takes a shape of the corpus; a cpubind_corpus_visit. */
static int take_shape(void *ctx, const cpubind_corpus_about *host)
{
    reading *r = (reading *)ctx;
    words_fault fault = {0, NULL};
    words_value *body;
    int good;
    if (!host->program)
        return keep_unread(r, host->name);
    body = words_read(host->shape, strlen(host->shape), &fault);
    if (!words_is(words_get(body, "properties"), WORDS_OBJECT)) {
        words_free(body);
        api_add(&r->why,
                "\"%s\": the shape of the host \"%s\" is damaged, at byte %zu; import "
                "its capture again, with --replace",
                r->corpus.path, host->name, fault.at);
        r->status = API_UNREADABLE;
        return 1;
    }
    good = cli_fleet_add(&r->fleet, host->name, body,
                         strcmp(host->program, CLI_SHAPE_PROGRAM) != 0);
    words_free(body);
    return good ? 0 : fail_memory(r);
}

/* Reads the shape of a host from its inputs. */
static void read_host(reading *r, const char *name)
{
    cpubind_corpus_host *host = NULL;
    cpubind_source source;
    words_value *shape;
    r->status = cli_open_fixture(&r->corpus, name, &host, &r->why);
    if (r->status != API_DONE)
        return;
    source = cpubind_corpus_source(host);
    shape = cli_read_shape(&r->reader, &source);
    if (!shape || !cli_fleet_add(&r->fleet, name, shape, 0))
        (void)fail_memory(r);
    words_free(shape);
    cpubind_corpus_close_host(host);
}

static int read_fleet(reading *r)
{
    cpubind_corpus_fault fault;
    char progress[64];
    r->status = cli_open_corpus(r->options, CLI_CORPUS_READ, &r->corpus, &r->why);
    if (r->status != API_DONE)
        return r->status;
    fault = cpubind_corpus_each(r->corpus.corpus, take_shape, r);
    if (r->status == API_DONE && fault.status)
        r->status = cli_corpus_failed(&fault, &r->corpus, NULL, &r->why);
    for (int32_t i = 0; r->status == API_DONE && i < r->n_unread; i++) {
        (void)snprintf(progress, sizeof progress, "cpubind: %d of %d hosts ...", (int)i + 1,
                       (int)r->n_unread);
        cli_progress(r->options, progress);
        read_host(r, r->unread[i]);
    }
    cli_progress(r->options, NULL);
    if (r->status == API_DONE && !cli_fleet_group_all(&r->fleet))
        (void)fail_memory(r);
    return r->status;
}

/* Says on stderr how many shapes are of another version. */
static void warn_old(const cli_fleet *fleet)
{
    api_text text = {"", 0};
    int32_t n = 0;
    for (int32_t i = 0; i < fleet->n_host; i++)
        n += fleet->host[i].is_old;
    if (n == 0)
        return;
    api_add(&text,
            "the shapes of %d of %d hosts were read by another version of cpubind; import "
            "their captures again, with --replace",
            (int)n, (int)fleet->n_host);
    cli_hear_warning(NULL, "old_shapes", text.text);
}

static int print_groups(const cli_fleet *fleet, const api_options *options)
{
    if (!(options->json ? cli_print_fleet_json(fleet) : cli_print_fleet(fleet)))
        return cli_no_memory();
    if (!options->json && !options->quiet)
        warn_old(fleet);
    return API_DONE;
}

int cli_groups(int argc, char **argv)
{
    static api_options options;
    static reading r;
    int status = cli_start(argc, argv, API_GROUPS, &options);
    if (status >= 0)
        return status;
    r = (reading){.options = &options};
    status = read_fleet(&r);
    /* The corpus is in memory as a whole: the value of the groups comes after it. */
    cli_close_corpus(&r.corpus);
    status = status == API_DONE ? print_groups(&r.fleet, &options)
                                : cli_fail(&options, status, r.why.text);
    for (int32_t i = 0; i < r.n_unread; i++)
        free(r.unread[i]);
    free(r.unread);
    cli_free_fleet(&r.fleet);
    cli_free_shape_reader(&r.reader);
    return status;
}
