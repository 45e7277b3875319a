/* corpus_option.c - open the corpus that the options name, and explain its errors
 * SPDX-License-Identifier: MIT
 *
 * The file is checked first: opening a FIFO would wait for ever.
 */
#include "fixture.h"

#include <errno.h>
#include <string.h>

#include "../linux/terminal.h"

#define MADE_BY "a corpus is made by cpubind fixture import DIR... --db FILE"

/* The advice to the user; NULL where the status text says it. */
static const char *way_out(cpubind_corpus_status status)
{
    switch (status) {
    case CPUBIND_CORPUS_ERR_OPEN:
        return "name another with --db FILE";
    case CPUBIND_CORPUS_ERR_NO_DATABASE:
    case CPUBIND_CORPUS_ERR_NO_CORPUS:
        return MADE_BY;
    case CPUBIND_CORPUS_ERR_NEWER:
        return "use the cpubind that made it, or a newer one";
    case CPUBIND_CORPUS_ERR_DAMAGED:
        return "make it again from the folders of its hosts, or take a copy";
    case CPUBIND_CORPUS_ERR_BUSY:
        return "nothing has changed; try again";
    case CPUBIND_CORPUS_ERR_UNKNOWN_HOST:
        return "cpubind fixture list shows the hosts";
    case CPUBIND_CORPUS_ERR_UNKNOWN_CASE:
        return "cpubind fixture show shows those of a host";
    case CPUBIND_CORPUS_ERR_EXISTS:
        return "--replace puts the new one in its place";
    case CPUBIND_CORPUS_ERR_FULL:
        return "nothing has changed; make room and try again";
    case CPUBIND_CORPUS_ERR_WRITE:
        return "nothing has changed; name a corpus that you may write with --db FILE";
    case CPUBIND_CORPUS_ERR_READ:
        return "if a write was interrupted, the next cpubind fixture import or accept on this "
               "file rolls it back; where that may not write, copy the file and its -journal "
               "to a folder of your own first";
    case CPUBIND_CORPUS_ERR_JOURNAL:
        return "if you trust the file, copy it without its -journal, and use the copy";
    default:
        return NULL;
    }
}

static int exit_of(cpubind_corpus_status status)
{
    switch (status) {
    case CPUBIND_CORPUS_ERR_EXISTS:
    case CPUBIND_CORPUS_ERR_RULE:
        return API_REFUSED;
    case CPUBIND_CORPUS_ERR_FULL:
    case CPUBIND_CORPUS_ERR_WRITE:
    case CPUBIND_CORPUS_ERR_UNSYNCED:
        return API_UNWRITTEN;
    default:
        return API_UNREADABLE;
    }
}

/* Appends the names of hosts that are like one that the corpus does not have. */
static void add_like(const char *path, const char *host, api_text *why)
{
    cpubind_corpus *corpus = NULL;
    cpubind_corpus_about *list = NULL;
    const char *slash = strrchr(host, '/'); /* perhaps the path of a host folder */
    api_hint hint = {.word = slash ? slash + 1 : host};
    int32_t n = 0;
    if (slash)
        api_add(why, "; a folder is given with --root DIR");
    if (cpubind_corpus_open(path, &corpus, NULL) == CPUBIND_CORPUS_OK)
        (void)cpubind_corpus_list(corpus, &list, &n, NULL);
    for (int32_t i = 0; i < n; i++)
        api_hint_try(&hint, list[i].name);
    api_hint_add(&hint, why);
    cpubind_corpus_free_list(list);
    cpubind_corpus_close(corpus);
}

int cli_corpus_failed(cpubind_corpus_status status, const cpubind_corpus_fault *fault,
                      const char *path, const char *host, api_text *why)
{
    const char *way = way_out(status);
    const int is_unknown =
        status == CPUBIND_CORPUS_ERR_UNKNOWN_HOST || status == CPUBIND_CORPUS_ERR_UNKNOWN_CASE;
    if (host)
        api_add(why, "the fixture \"%s\" in ", host);
    api_add(why, "\"%s\": %s", path, cpubind_corpus_status_text(status));
    if (!is_unknown)
        api_add(why, ": %s", fault->what);
    if (fault->message[0])
        api_add(why, " (%s)", fault->message);
    if (fault->error)
        api_add(why, ": %s", strerror(fault->error));
    if (way)
        api_add(why, "; %s", way);
    if (host && status == CPUBIND_CORPUS_ERR_UNKNOWN_HOST)
        add_like(path, host, why);
    return exit_of(status);
}

/* Finds the path of the corpus: --db, else the corpus that was installed with cpubind. */
static int find_corpus(const api_options *options, char path[CLI_PATH_MAX], api_text *why)
{
    int error;
    if (options->db) {
        size_t size = strlen(options->db) + 1;
        if (size <= CLI_PATH_MAX) {
            memcpy(path, options->db, size);
            return API_DONE;
        }
        error = ENAMETOOLONG;
    } else {
        error = cpubind_linux_find_corpus(path, CLI_PATH_MAX).error;
    }
    if (error == 0)
        return API_DONE;
    if (error == ENOENT)
        api_add(
            why,
            "no corpus (fixtures.db) is installed with this program; name one with --db FILE");
    else
        api_add(why, "the corpus cannot be found: %s; name one with --db FILE",
                strerror(error));
    return API_UNREADABLE;
}

/* Refuses anything but a regular file. With is_made the file may be missing. */
static int check_file(const char *path, int is_made, api_text *why)
{
    const int error = cpubind_linux_check_file(path).error;
    if (error == 0 || (error == ENOENT && is_made))
        return API_DONE;
    api_add(why, "the corpus \"%s\" cannot be opened: %s%s", path,
            error == EINVAL ? "it is no regular file" : strerror(error),
            error == ENOENT ? "; " MADE_BY : "");
    return API_UNREADABLE;
}

int cli_open_corpus(const api_options *options, cli_corpus *out, api_text *why)
{
    cpubind_corpus_fault fault = {0, 0, "", ""};
    cpubind_corpus_status result;
    int status;
    memset(out, 0, sizeof *out);
    status = find_corpus(options, out->path, why);
    if (status == API_DONE)
        status = check_file(out->path, 0, why);
    if (status != API_DONE)
        return status;
    result = cpubind_corpus_open(out->path, &out->corpus, &fault);
    if (result != CPUBIND_CORPUS_OK)
        return cli_corpus_failed(result, &fault, out->path, NULL, why);
    return API_DONE;
}

int cli_open_fixture(const cli_corpus *corpus, const char *name, cpubind_corpus_host **out,
                     api_text *why)
{
    cpubind_corpus_fault fault = {0, 0, "", ""};
    cpubind_corpus_status result = cpubind_corpus_open_host(corpus->corpus, name, out, &fault);
    if (result != CPUBIND_CORPUS_OK)
        return cli_corpus_failed(result, &fault, corpus->path, name, why);
    return API_DONE;
}

/* The search for the shape of one host. */
typedef struct search {
    const char *name;
    int is_found;
} search;

/* A cpubind_corpus_shape_visit. */
static int find_shape(void *ctx, const cpubind_corpus_shape *shape)
{
    search *s = (search *)ctx;
    s->is_found |= shape->program && strcmp(shape->about.name, s->name) == 0;
    return s->is_found;
}

/* Refuses a host without inputs of which the corpus has the shape alone. */
static int check_inputs(const cli_corpus *corpus, const char *name,
                        const cpubind_corpus_host *host, api_text *why)
{
    search s = {name, 0};
    if (cpubind_corpus_n_input(host) > 0)
        return API_DONE;
    (void)cpubind_corpus_each_shape(corpus->corpus, find_shape, &s, NULL);
    if (!s.is_found)
        return API_DONE;
    api_add(why,
            "\"%s\" has the shape of this host alone, for cpubind fixture groups: \"%s\"; name "
            "its capture with --root FILE",
            corpus->path, name);
    return API_UNREADABLE;
}

int cli_take_fixture(const api_options *options, const char *name, cli_corpus *corpus,
                     cpubind_corpus_host **out, api_text *why)
{
    int status = cli_open_corpus(options, corpus, why);
    if (status == API_DONE)
        status = cli_open_fixture(corpus, name, out, why);
    if (status == API_DONE && (status = check_inputs(corpus, name, *out, why)) != API_DONE) {
        cpubind_corpus_close_host(*out);
        *out = NULL;
    }
    cpubind_corpus_close(corpus->corpus);
    corpus->corpus = NULL;
    return status;
}

int cli_open_store(const api_options *options, int may_make, char path[CLI_PATH_MAX],
                   cpubind_store **out, api_text *why)
{
    cpubind_corpus_fault fault = {0, 0, "", ""};
    cpubind_corpus_status result;
    int status = find_corpus(options, path, why);
    if (status == API_DONE)
        status = check_file(path, may_make, why);
    if (status != API_DONE)
        return status;
    result = cpubind_store_open(path, out, &fault);
    if (result != CPUBIND_CORPUS_OK)
        return cli_corpus_failed(result, &fault, path, NULL, why);
    return API_DONE;
}
