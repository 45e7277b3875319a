/* corpus_option.c - open the corpus that the options name, write it, and explain its errors
 * SPDX-License-Identifier: MIT
 *
 * A corpus is read as a whole, and replaced as a whole: adapters/sqlite opens no file.
 */
#include "fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../linux/terminal.h"

#define MADE_BY "a corpus is made by cpubind fixture import DIR... --db FILE"

/* The advice to the user; NULL where the status text says it. */
static const char *way_out(cpubind_corpus_status status)
{
    switch (status) {
    case CPUBIND_CORPUS_ERR_NO_DATABASE:
    case CPUBIND_CORPUS_ERR_NO_CORPUS:
        return MADE_BY;
    case CPUBIND_CORPUS_ERR_NEWER:
        return "use the cpubind that made it, or a newer one";
    case CPUBIND_CORPUS_ERR_DAMAGED:
        return "make it again from the folders of its hosts, or take a copy";
    case CPUBIND_CORPUS_ERR_UNKNOWN_HOST:
        return "cpubind fixture list shows the hosts";
    case CPUBIND_CORPUS_ERR_UNKNOWN_CASE:
        return "cpubind fixture show shows those of a host";
    case CPUBIND_CORPUS_ERR_EXISTS:
        return "--replace puts the new one in its place";
    default:
        return NULL;
    }
}

/* Tries the name of a host for a hint, which then has a copy; a cpubind_corpus_visit. */
static int try_name(void *ctx, const cpubind_corpus_about *about)
{
    api_hint *hint = (api_hint *)ctx;
    const char *last = hint->n == API_HINTS ? hint->like[API_HINTS - 1] : NULL;
    api_hint_try(hint, about->name);
    for (int32_t i = 0; i < hint->n; i++) {
        if (hint->like[i] != about->name)
            continue;
        free((char *)last);
        hint->like[i] = strdup(about->name);
        hint->n = hint->like[i] ? hint->n : i;
    }
    return 0;
}

/* Appends the names of hosts that are like one that the corpus does not have. */
static void add_like(const cli_corpus *corpus, const char *host, api_text *why)
{
    const char *slash = strrchr(host, '/'); /* perhaps the path of a host folder */
    api_hint hint = {.word = slash ? slash + 1 : host};
    if (slash)
        api_add(why, "; a folder is given with --root DIR");
    (void)cpubind_corpus_each(corpus->corpus, try_name, &hint);
    api_hint_add(&hint, why);
    for (int32_t i = 0; i < hint.n; i++)
        free((char *)hint.like[i]);
}

int cli_corpus_failed(const cpubind_corpus_fault *fault, const cli_corpus *corpus,
                      const char *host, api_text *why)
{
    const cpubind_corpus_status status = fault->status;
    const char *way = way_out(status);
    if (host)
        api_add(why, "the fixture \"%s\" in ", host);
    api_add(why, "\"%s\": %s", corpus->path, cpubind_corpus_status_text(status));
    if (status != CPUBIND_CORPUS_ERR_UNKNOWN_HOST && status != CPUBIND_CORPUS_ERR_UNKNOWN_CASE)
        api_add(why, ": %s", fault->what);
    if (fault->message[0])
        api_add(why, " (%s)", fault->message);
    if (way)
        api_add(why, "; %s", way);
    if (host && status == CPUBIND_CORPUS_ERR_UNKNOWN_HOST)
        add_like(corpus, host, why);
    return status == CPUBIND_CORPUS_ERR_EXISTS || status == CPUBIND_CORPUS_ERR_RULE
               ? API_REFUSED
               : API_UNREADABLE;
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

/* Explains why the file cannot be read, or, with is_written, be replaced. */
static int file_failed(const char *path, int is_written, cpubind_linux_fault fault,
                       api_text *why)
{
    if (is_written)
        api_add(why, "\"%s\" could not be written: ", path);
    else
        api_add(why, "the corpus \"%s\" cannot be opened: ", path);
    words_add_why(why, is_written ? WORDS_CORPUS : WORDS_FILE, fault.what, fault.error);
    if (is_written)
        api_add(why, "; nothing has changed");
    return is_written && fault.error != EBUSY ? API_UNWRITTEN : API_UNREADABLE;
}

int cli_open_corpus(const api_options *options, cli_corpus_use use, cli_corpus *out,
                    api_text *why)
{
    cpubind_corpus_fault fault;
    cpubind_linux_fault read;
    int status;
    memset(out, 0, sizeof *out);
    status = find_corpus(options, out->path, why);
    if (status != API_DONE)
        return status;
    read = cpubind_linux_read_whole(out->path, use != CLI_CORPUS_READ, NULL, &out->file);
    if (use == CLI_CORPUS_CHANGE && !read.error && out->file.st.st_ino == 0)
        read = (cpubind_linux_fault){.error = ENOENT, .what = "open"};
    if (read.error)
        return file_failed(
            out->path, use != CLI_CORPUS_READ && (read.error == EACCES || read.error == EROFS),
            read, why);
    fault = cpubind_corpus_open(out->file.bytes.data, out->file.bytes.len,
                                use != CLI_CORPUS_READ, &out->corpus);
    return fault.status ? cli_corpus_failed(&fault, out, NULL, why) : API_DONE;
}

int cli_write_corpus(cli_corpus *corpus, api_text *why)
{
    const char *bytes;
    int32_t len;
    cpubind_corpus_fault fault = cpubind_corpus_finish(corpus->corpus, &bytes, &len);
    cpubind_linux_fault wrote;
    if (fault.status)
        return cli_corpus_failed(&fault, corpus, NULL, why);
    if (len == corpus->file.bytes.len &&
        memcmp(bytes, corpus->file.bytes.data, (size_t)len) == 0)
        return API_DONE; /* such as the import of captures that are known */
    wrote = cpubind_linux_write_whole(corpus->path, &corpus->file, bytes, len, NULL);
    return wrote.error ? file_failed(corpus->path, 1, wrote, why) : API_DONE;
}

void cli_close_corpus(cli_corpus *corpus)
{
    cpubind_corpus_close(corpus->corpus);
    corpus->corpus = NULL;
    cpubind_bytes_free(&corpus->file.bytes);
}

int cli_open_fixture(const cli_corpus *corpus, const char *name, cpubind_corpus_host **out,
                     api_text *why)
{
    cpubind_corpus_fault fault = cpubind_corpus_open_host(corpus->corpus, name, out);
    return fault.status ? cli_corpus_failed(&fault, corpus, name, why) : API_DONE;
}

int cli_take_fixture(const api_options *options, const char *name, cli_corpus *corpus,
                     cpubind_corpus_host **out, api_text *why)
{
    int status = cli_open_corpus(options, CLI_CORPUS_READ, corpus, why);
    if (status == API_DONE)
        status = cli_open_fixture(corpus, name, out, why);
    if (status == API_DONE && (*out)->n_input == 0 && (*out)->about.program) {
        api_add(why,
                "\"%s\" has the shape of this host alone, for cpubind fixture groups: "
                "\"%s\"; name its capture with --root FILE",
                corpus->path, name);
        status = API_UNREADABLE;
        cpubind_corpus_close_host(*out);
        *out = NULL;
    }
    cli_close_corpus(corpus);
    return status;
}
