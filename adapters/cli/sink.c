/* sink.c - write a host to a new folder or to a corpus
 * SPDX-License-Identifier: MIT
 *
 * Nothing is visible to others before cli_commit_sink.
 */
#include "fixture.h"

#include <string.h>

#include "../linux/source/folder_writer.h"
#include "../text/host_txt.h"

/* == Errors ================================================================= */

static int stored(const cli_sink *sink, cpubind_corpus_status status,
                  const cpubind_corpus_fault *fault, cli_text *why)
{
    if (status == CPUBIND_CORPUS_OK)
        return CLI_DONE;
    return cli_corpus_failed(status, fault, sink->path, sink->host, why);
}

static int written(const cli_sink *sink, const char *name, cpubind_linux_status status,
                   const cpubind_linux_fault *fault, cli_text *why)
{
    switch (status) {
    case CPUBIND_LINUX_OK:
        return CLI_DONE;
    case CPUBIND_LINUX_ERR_EXISTS:
        cli_add(why,
                "\"%s\" is there already; name another folder, or replace a host folder with "
                "--replace",
                sink->path);
        return CLI_REFUSED;
    case CPUBIND_LINUX_ERR_ARG:
        cli_add(why, "\"%s\" cannot be the name of a file below \"%s\"", name, sink->path);
        return CLI_UNREADABLE;
    default:
        cli_add(why, "\"%s\"%s%s could not be written: %s: %s; %s", sink->path,
                *name ? ", " : "", name, fault->what, strerror(fault->error),
                strcmp(fault->what, "put back") == 0
                    ? "the old folder is whole, beside it, under a name that ends in .tmp"
                    : "nothing has changed");
        return CLI_UNWRITTEN;
    }
}

/* == Opening and closing ==================================================== */

int cli_open_folder_sink(const cli_options *options, const char *dir, cli_sink *out,
                         cli_text *why)
{
    cpubind_linux_fault fault = {.what = ""};
    size_t size = strlen(dir) + 1;
    memset(out, 0, sizeof *out);
    if (size > sizeof out->path) {
        cli_add(why, "the name of the folder is too long");
        return CLI_USAGE;
    }
    memcpy(out->path, dir, size);
    return written(out, "",
                   cpubind_linux_writer_open(dir, options->replace, NULL, &out->writer, &fault),
                   &fault, why);
}

int cli_open_corpus_sink(const cli_options *options, cli_sink *out, cli_text *why)
{
    memset(out, 0, sizeof *out);
    out->is_replacing = options->replace;
    return cli_open_store(options, 1, out->path, &out->store, why);
}

int cli_commit_sink(cli_sink *sink, cli_text *why)
{
    cpubind_corpus_fault fault = {0, 0, "", ""};
    cpubind_linux_fault said = {.what = ""};
    sink->host = NULL; /* the error is about all hosts */
    if (sink->store)
        return stored(sink, cpubind_store_commit(sink->store, &fault), &fault, why);
    return written(sink, "", cpubind_linux_writer_commit(sink->writer, &said), &said, why);
}

void cli_close_sink(cli_sink *sink)
{
    cpubind_store_close(sink->store);
    cpubind_linux_writer_close(sink->writer);
    sink->store = NULL;
    sink->writer = NULL;
}

/* == A host ================================================================= */

static int put_file(const cli_sink *sink, const char *name, const char *data, size_t len,
                    cli_text *why)
{
    cpubind_linux_fault fault = {.what = ""};
    return written(sink, name,
                   cpubind_linux_writer_put(sink->writer, name, data, (int32_t)len, &fault),
                   &fault, why);
}

/* Writes host.txt. Values that could not be read back, such as notes with a line feed, are
 * refused. */
static int put_host_file(const cli_sink *sink, const cpubind_corpus_about *about, cli_text *why)
{
    char text[16384];
    cpubind_host_txt read;
    cpubind_text_fault fault = {0, "it is too long"};
    int len = 0;
    len = snprintf(text, sizeof text,
                   "name: %s\nproduct: %s\norigin: %s\nnpu-smi: %s\nnotes: %s\n", about->name,
                   about->product, about->origin, about->npu_smi, about->notes);
    if (len < 0 || (size_t)len >= sizeof text ||
        cpubind_host_txt_parse(text, len, &read, &fault) != CPUBIND_TEXT_OK) {
        cli_add(why, "the fixture \"%s\" cannot have a host.txt: %s", about->name, fault.what);
        return CLI_UNREADABLE;
    }
    return put_file(sink, "host.txt", text, (size_t)len, why);
}

int cli_put_host(cli_sink *sink, const cpubind_corpus_about *about, cli_text *why)
{
    cpubind_corpus_fault fault = {0, 0, "", ""};
    sink->host = about->name;
    if (sink->writer)
        return put_host_file(sink, about, why);
    return stored(sink, cpubind_store_put_host(sink->store, about, sink->is_replacing, &fault),
                  &fault, why);
}

/* Writes cmd/NAME.exit beside cmd/NAME.txt, unless the command exited with 0. */
static int put_exit_file(const cli_sink *sink, const char *name, const cpubind_input *input,
                         cli_text *why)
{
    cli_text path = {"", 0}, text = {"", 0};
    size_t n = strlen(name);
    if (input->state == CPUBIND_INPUT_TIMEOUT)
        cli_add(&text, "timeout\n");
    else if (input->exit_code != 0)
        cli_add(&text, "%d\n", (int)input->exit_code);
    else
        return CLI_DONE;
    if (n > 4 && strcmp(name + n - 4, ".txt") == 0)
        n -= 4;
    cli_add(&path, "%.*s.exit", (int)n, name);
    return put_file(sink, path.text, text.text, text.len, why);
}

/* Writes cmd/NAME.txt.err beside cmd/NAME.txt, unless the command printed nothing on stderr. */
static int put_err_file(const cli_sink *sink, const char *name, const cpubind_input *input,
                        cli_text *why)
{
    cli_text path = {"", 0};
    if (input->err_len == 0)
        return CLI_DONE;
    cli_add(&path, "%s.err", name);
    return put_file(sink, path.text, input->err, (size_t)input->err_len, why);
}

int cli_put_input(cli_sink *sink, const char *name, const cpubind_input *input, cli_text *why)
{
    cpubind_corpus_fault fault = {0, 0, "", ""};
    int status = CLI_DONE;
    if (sink->store)
        return stored(sink,
                      cpubind_store_put_input(sink->store, sink->host, name, input, &fault),
                      &fault, why);
    status = put_file(sink, name, input->data, (size_t)input->len, why);
    if (status == CLI_DONE)
        status = put_exit_file(sink, name, input, why);
    return status == CLI_DONE ? put_err_file(sink, name, input, why) : status;
}

int cli_put_expectation(cli_sink *sink, const char *name, const char *body, size_t len,
                        cli_text *why)
{
    cpubind_corpus_fault fault = {0, 0, "", ""};
    cli_text path = {"", 0};
    if (sink->store)
        return stored(sink,
                      cpubind_store_put_expectation(sink->store, sink->host, name, body,
                                                    (int32_t)len, &fault),
                      &fault, why);
    if (!cpubind_host_txt_is_name(name)) {
        cli_add(
            why,
            "the fixture \"%s\" has an expectation whose name cannot be that of a file: \"%s\"",
            sink->host, name);
        return CLI_UNREADABLE;
    }
    cli_add(&path, "expect/%s.json", name);
    return put_file(sink, path.text, body, len, why);
}
