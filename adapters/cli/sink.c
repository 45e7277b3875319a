/* sink.c - write a host to a new folder, to a file or to a corpus
 * SPDX-License-Identifier: MIT
 *
 * Nothing is visible to others before cli_commit_sink.
 */
#include "fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../linux/source/file_writer.h"
#include "../linux/source/folder_writer.h"
#include "../linux/terminal.h"
#include "../text/host_txt.h"

/* == Errors ================================================================= */

static int stored(const cli_sink *sink, cpubind_corpus_fault fault, api_text *why)
{
    return fault.status ? cli_corpus_failed(&fault, &sink->corpus, sink->host, why) : API_DONE;
}

/* What became of a folder or a file. */
static int written(const cli_sink *sink, cpubind_linux_fault fault, api_text *why)
{
    if (!fault.error)
        return API_DONE;
    if (fault.error == EEXIST)
        return words_fail(API_REFUSED, why, "\"%s\" is there already; %s", sink->path,
                          sink->is_file ? "name another file, or replace it with --replace"
                                        : "name another folder, or a file: NAME.host");
    if (fault.error == EINVAL && strcmp(fault.what, "name") == 0)
        return words_fail(API_UNREADABLE, why, "\"%s\" cannot be the name of a folder",
                          sink->path);
    return words_fail(API_UNWRITTEN, why,
                      "\"%s\" could not be written: %s: %s; nothing has changed", sink->path,
                      fault.what, strerror(fault.error));
}

/* == Opening and closing ==================================================== */

int cli_open_corpus_sink(const api_options *options, cli_sink *out, api_text *why)
{
    memset(out, 0, sizeof *out);
    out->is_replacing = options->replace;
    return cli_open_corpus(options, CLI_CORPUS_MAKE, &out->corpus, why);
}

size_t cli_host_ending(const char *path)
{
    static const char *const endings[] = {".host", ".host.gz"};
    const size_t n = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t m = strlen(endings[i]);
        if (n > m && path[n - m - 1] != '/' && strcmp(path + n - m, endings[i]) == 0)
            return m;
    }
    return 0;
}

int cli_open_path_sink(const api_options *options, const char *path, cli_sink *out,
                       api_text *why)
{
    const size_t size = strlen(path) + 1;
    cpubind_linux_fault fault;
    memset(out, 0, sizeof *out);
    if (size > sizeof out->path)
        return words_fail(API_USAGE, why, "the name of the target is too long");
    memcpy(out->path, path, size);
    out->is_file = cli_host_ending(path) != 0;
    out->is_packed = out->is_file && path[size - 2] == 'z';
    if (!out->is_file)
        return written(out, cpubind_linux_check_folder(path, NULL), why);
    fault = cpubind_linux_check_file(path);
    if (fault.error == ENOENT || (!fault.error && options->replace))
        return API_DONE;
    return written(out, fault.error ? fault : (cpubind_linux_fault){.error = EEXIST}, why);
}

/* Keeps a copy of a file until the host is written. */
static int put_file(cli_sink *sink, const char *name, const char *data, size_t len,
                    api_text *why)
{
    const size_t name_size = strlen(name) + 1;
    cpubind_host_part *grown =
        (cpubind_host_part *)realloc(sink->part, ((size_t)sink->n_part + 1) * sizeof *grown);
    char *copy = (char *)malloc(name_size + len);
    if (grown)
        sink->part = grown;
    if (!grown || !copy) {
        free(copy);
        return api_no_room(why);
    }
    memcpy(copy, name, name_size);
    if (len > 0)
        memcpy(copy + name_size, data, len);
    grown += sink->n_part++;
    grown->name = copy;
    grown->data = copy + name_size;
    grown->len = (int32_t)len;
    return API_DONE;
}

static int write_file(cli_sink *sink, api_text *why)
{
    char *data = NULL;
    int32_t len = 0;
    cpubind_linux_fault fault;
    if (!cpubind_archive_make(sink->part, sink->n_part, sink->is_packed, &data, &len))
        return words_fail(API_UNREADABLE, why,
                          "\"%s\": the host is larger than 128 MiB, or there is no memory left",
                          sink->path);
    fault = cpubind_linux_write_file(sink->path, data, len, NULL);
    free(data);
    return written(sink, fault, why);
}

int cli_commit_sink(cli_sink *sink, api_text *why)
{
    if (sink->corpus.corpus)
        return cli_write_corpus(&sink->corpus, why);
    if (sink->is_file)
        return write_file(sink, why);
    return written(sink, cpubind_linux_write_folder(sink->path, sink->part, sink->n_part, NULL),
                   why);
}

void cli_close_sink(cli_sink *sink)
{
    cli_close_corpus(&sink->corpus);
    for (int32_t i = 0; i < sink->n_part; i++)
        free((char *)sink->part[i].name);
    free(sink->part);
    sink->part = NULL;
    sink->n_part = 0;
}

/* == A host ================================================================= */

/* Writes host.txt. Values that could not be read back, such as notes with a line feed, are
 * refused. */
static int put_host_file(cli_sink *sink, const cpubind_corpus_about *about, api_text *why)
{
    char text[16384];
    cpubind_host_txt read;
    cpubind_text_fault fault = {0, "it is too long"};
    int len = 0;
    len = snprintf(text, sizeof text,
                   "name: %s\nproduct: %s\norigin: %s\nnpu-smi: %s\nnotes: %s\n", about->name,
                   about->product, about->origin, about->npu_smi, about->notes);
    if (len < 0 || (size_t)len >= sizeof text ||
        cpubind_host_txt_parse(text, len, &read, &fault) != CPUBIND_TEXT_OK)
        return words_fail(API_UNREADABLE, why, "the fixture \"%s\" cannot have a host.txt: %s",
                          about->name, fault.what);
    return put_file(sink, "host.txt", text, (size_t)len, why);
}

int cli_put_host(cli_sink *sink, const cpubind_corpus_about *about, api_text *why)
{
    sink->host = about->name;
    if (!sink->corpus.corpus)
        return put_host_file(sink, about, why);
    return stored(sink, cpubind_corpus_put_host(sink->corpus.corpus, about, sink->is_replacing),
                  why);
}

/* Writes cmd/NAME.exit beside cmd/NAME.txt, unless the command exited with 0. */
static int put_exit_file(cli_sink *sink, const char *name, const cpubind_input *input,
                         api_text *why)
{
    api_text path = {"", 0}, text = {"", 0};
    size_t n = strlen(name);
    if (input->state == CPUBIND_INPUT_TIMEOUT)
        api_add(&text, "timeout\n");
    else if (input->exit_code != 0)
        api_add(&text, "%d\n", (int)input->exit_code);
    else
        return API_DONE;
    if (n > 4 && strcmp(name + n - 4, ".txt") == 0)
        n -= 4;
    api_add(&path, "%.*s.exit", (int)n, name);
    return put_file(sink, path.text, text.text, text.len, why);
}

/* Writes cmd/NAME.txt.err beside cmd/NAME.txt, unless the command printed nothing on stderr. */
static int put_err_file(cli_sink *sink, const char *name, const cpubind_input *input,
                        api_text *why)
{
    api_text path = {"", 0};
    if (input->err_len == 0)
        return API_DONE;
    api_add(&path, "%s.err", name);
    return put_file(sink, path.text, input->err, (size_t)input->err_len, why);
}

int cli_put_input(cli_sink *sink, const char *name, const cpubind_input *input, api_text *why)
{
    int status = API_DONE;
    if (sink->corpus.corpus)
        return stored(
            sink, cpubind_corpus_put_input(sink->corpus.corpus, sink->host, name, input), why);
    status = put_file(sink, name, input->data, (size_t)input->len, why);
    if (status == API_DONE)
        status = put_exit_file(sink, name, input, why);
    return status == API_DONE ? put_err_file(sink, name, input, why) : status;
}

int cli_put_expectation(cli_sink *sink, const char *name, const char *body, size_t len,
                        api_text *why)
{
    api_text path = {"", 0};
    if (sink->corpus.corpus)
        return stored(sink,
                      cpubind_corpus_put_expectation(sink->corpus.corpus, sink->host, name,
                                                     body, (int32_t)len),
                      why);
    if (!cpubind_host_txt_is_name(name)) {
        api_add(
            why,
            "the fixture \"%s\" has an expectation whose name cannot be that of a file: \"%s\"",
            sink->host, name);
        return API_UNREADABLE;
    }
    api_add(&path, "expect/%s.json", name);
    return put_file(sink, path.text, body, len, why);
}
