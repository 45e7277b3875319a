/* open_host.c - open the host that the options name
 * SPDX-License-Identifier: MIT
 *
 * Prints nothing but progress on a terminal; errors are returned. The help of plan says which
 * option names which host.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../archive/archive.h"
#include "../linux/source/host_files.h"
#include "../linux/source/host_source.h"
#include "../linux/terminal.h"
#include "fixture.h"

/* == Opening ================================================================ */

static void close_fixture(void *fixture)
{
    cpubind_corpus_close_host((cpubind_corpus_host *)fixture);
}

static int open_in_corpus(const api_options *options, api_host *out, api_text *why)
{
    cli_corpus c;
    cpubind_corpus_host *fixture = NULL;
    int status = cli_take_fixture(options, options->fixture, &c, &fixture, why);
    if (status != API_DONE)
        return status;
    out->source = cpubind_corpus_source(fixture);
    out->other = fixture;
    out->close_other = close_fixture;
    return API_DONE;
}

/* Reads a file of a host as text. Returns why it cannot be read, or is no text, in *why. */
static int read_text(const char *path, cpubind_bytes *out, const char **why)
{
    cpubind_bytes packed = {0};
    const cpubind_linux_fault read = cpubind_linux_read_file(path, NULL, out);
    *why = !read.error            ? NULL
           : read.error == EINVAL ? "it is no regular file"
                                  : strerror(read.error);
    if (*why || !cpubind_archive_is_packed(out->data, out->len))
        return !*why;
    packed = *out;
    *out = (cpubind_bytes){0};
    *why = cpubind_archive_unpack(packed.data, packed.len, &out->data, &out->len);
    free(packed.data);
    return !*why;
}

/* Appends the line and the column of a fault: decoding has overwritten the text. */
static void add_place(const char *path, int32_t offset, api_text *why)
{
    cpubind_bytes text = {0};
    const char *fault;
    if (read_text(path, &text, &fault)) {
        const cpubind_position place = cpubind_text_place(text.data, text.len, offset);
        api_add(why, ", line %d, column %d", (int)place.line, (int)place.column);
    }
    free(text.data);
}

/* Appends why a file holds no host. */
static int refuse_file(const char *path, const cpubind_text_fault *fault, api_text *why)
{
    api_add(why, "\"%s\"", path);
    if (fault->offset >= 0)
        add_place(path, fault->offset, why);
    return words_fail(
        API_UNREADABLE, why,
        ": %s; a host is a folder, which this is not (%s), or a .host or .host.gz file",
        fault->what, strerror(ENOTDIR));
}

int cli_read_host_text(const char *path, cpubind_bytes *out, api_text *why)
{
    cpubind_text_fault fault = {-1, NULL};
    *out = (cpubind_bytes){0};
    if (read_text(path, out, &fault.what))
        return API_DONE;
    free(out->data);
    *out = (cpubind_bytes){0};
    return refuse_file(path, &fault, why);
}

int cli_open_host_text(const char *path, cpubind_bytes *text, struct cpubind_linux_host **out,
                       api_text *why)
{
    cpubind_text_fault fault = {-1, NULL};
    const cpubind_linux_status status =
        cpubind_linux_open_text(text->data, text->len, NULL, out, &fault);
    *text = (cpubind_bytes){0};
    if (status == CPUBIND_LINUX_OK)
        return API_DONE;
    if (status == CPUBIND_LINUX_ERR_MEMORY)
        return api_no_room(why);
    return refuse_file(path, &fault, why);
}

/* Opens a file that holds the files of a host, as capture -o NAME.host writes it. */
static int open_file(const char *path, struct cpubind_linux_host **out, api_text *why)
{
    cpubind_bytes text;
    const int status = cli_read_host_text(path, &text, why);
    return status == API_DONE ? cli_open_host_text(path, &text, out, why) : status;
}

int cli_open_snapshot(const char *path, struct cpubind_linux_host **out, api_text *why)
{
    cpubind_linux_fault fault = {.what = ""};
    if (cpubind_linux_open_folder(path, NULL, out, &fault) == CPUBIND_LINUX_OK)
        return API_DONE;
    if (fault.error == ENOTDIR)
        return open_file(path, out, why);
    return words_fail(API_UNREADABLE, why, "the folder \"%s\" cannot be opened: %s", path,
                      strerror(fault.error));
}

static int open_folder(const char *path, api_host *out, api_text *why)
{
    const int status = cli_open_snapshot(path, &out->host, why);
    if (status == API_DONE)
        out->source = cpubind_linux_source(out->host);
    return status;
}

/* The host that the settings of a command came from, until it opens it. */
static api_host kept;

void cli_keep_host(const api_host *host)
{
    kept = *host;
}

int cli_open_host(const api_options *options, api_host *out, api_text *why)
{
    *out = kept;
    memset(&kept, 0, sizeof kept);
    if (out->source.read)
        return API_DONE;
    if (options->fixture)
        return open_in_corpus(options, out, why);
    if (options->root)
        return open_folder(options->root, out, why);
    /* A capture holds what npu-smi says at this moment, and doctor times it. */
    return api_open_live(0, (options->command & (API_CAPTURE | API_DOCTOR)) != 0, out, why);
}

void cli_progress(const api_options *options, const char *text)
{
    if (options->quiet || !cpubind_linux_is_terminal(fileno(stderr)))
        return;
    fprintf(stderr, "\r\033[K%s", text ? text : "");
    fflush(stderr);
}
