/* open_host.c - open the host that the options name, and plan it
 * SPDX-License-Identifier: MIT
 *
 * Prints nothing but progress on a terminal; errors are returned. README.md documents which
 * option names which host.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../archive/archive.h"
#include "../linux/source/host_source.h"
#include "../linux/source/tar_folder.h"
#include "../linux/terminal.h"
#include "fixture.h"

#define FIRST_ARENA ((size_t)4 << 20)
#define LAST_ARENA  ((size_t)1 << 30)

/* == Opening ================================================================ */

static int open_in_corpus(const cli_options *options, cli_host *out, cli_text *why)
{
    cli_corpus c;
    int status = cli_take_fixture(options, options->fixture, &c, &out->fixture, why);
    if (status == CLI_DONE)
        out->source = cpubind_corpus_source(out->fixture);
    return status;
}

/* Opens a file that holds the files of a host, as capture -o FILE.tar.gz writes it. */
static int open_archive(const char *path, struct cpubind_linux_host **out, cli_text *why)
{
    cpubind_bytes bytes = {0}, tar = {0};
    cpubind_tar_fault fault = {NULL, -1, ""};
    const cpubind_linux_fault read = cpubind_linux_read_file(path, NULL, &bytes);
    cpubind_linux_status status = CPUBIND_LINUX_ERR_OPEN;
    if (read.error) {
        cli_add(why, "the archive \"%s\" cannot be read: %s", path,
                read.error == EINVAL ? "it is no regular file" : strerror(read.error));
        free(bytes.data);
        return CLI_UNREADABLE;
    }
    if (cpubind_archive_is_packed(bytes.data, bytes.len)) {
        fault.what = cpubind_archive_unpack(bytes.data, bytes.len, &tar.data, &tar.len);
        free(bytes.data);
        bytes = tar;
    }
    if (!fault.what)
        status = cpubind_linux_open_archive(bytes.data, bytes.len, NULL, out, &fault);
    if (status == CPUBIND_LINUX_OK)
        return CLI_DONE;
    if (status == CPUBIND_LINUX_ERR_MEMORY)
        return cli_no_room(why);
    cli_add(why, "\"%s\"", path);
    if (fault.offset >= 0)
        cli_add(why, ", byte %d", (int)fault.offset);
    if (fault.name[0])
        cli_add(why, ", \"%s\"", fault.name);
    cli_add(why, ": %s; a host is a folder, which this is not (%s), or a .tar or .tar.gz file",
            fault.what, strerror(ENOTDIR));
    return CLI_UNREADABLE;
}

int cli_open_snapshot(const char *path, struct cpubind_linux_host **out, cli_text *why)
{
    cpubind_linux_fault fault = {.what = ""};
    if (cpubind_linux_open_folder(path, NULL, out, &fault) == CPUBIND_LINUX_OK)
        return CLI_DONE;
    if (fault.error == ENOTDIR)
        return open_archive(path, out, why);
    cli_add(why, "the folder \"%s\" cannot be opened: %s", path, strerror(fault.error));
    return CLI_UNREADABLE;
}

static int open_folder(const char *path, cli_host *out, cli_text *why)
{
    const int status = cli_open_snapshot(path, &out->host, why);
    if (status == CLI_DONE)
        out->source = cpubind_linux_source(out->host);
    return status;
}

int cli_open_live(int32_t pid, int is_alone, cli_host *out, cli_text *why)
{
    const cpubind_linux_live live = {
        .pid = pid, .limit_ms = CPUBIND_LIVE_LIMIT_MS, .is_alone = is_alone};
    cpubind_linux_fault fault = {.what = ""};
    if (cpubind_linux_open_live(&live, &out->host, &fault) != CPUBIND_LINUX_OK) {
        cli_add(why, "the folder \"/\" cannot be opened: %s", strerror(fault.error));
        return CLI_UNREADABLE;
    }
    out->source = cpubind_linux_source(out->host);
    return CLI_DONE;
}

int cli_open_host(const cli_options *options, cli_host *out, cli_text *why)
{
    memset(out, 0, sizeof *out);
    if (options->fixture)
        return open_in_corpus(options, out, why);
    if (options->root)
        return open_folder(options->root, out, why);
    /* A capture holds what npu-smi says at this moment, and doctor times it. */
    return cli_open_live(0, (options->command & (CLI_CAPTURE | CLI_DOCTOR)) != 0, out, why);
}

void cli_close_host(cli_host *host)
{
    cpubind_linux_close(host->host);
    cpubind_corpus_close_host(host->fixture);
    memset(host, 0, sizeof *host);
}

/* == Planning =============================================================== */

cpubind_problem_code cli_with_arena(cpubind_arena *arena, cli_maker *make, void *ctx)
{
    size_t size = arena->size ? arena->size : FIRST_ARENA;
    for (;; size *= 4) {
        cpubind_problem_code code;
        if (!arena->base)
            arena->base = (char *)malloc(size);
        arena->size = arena->base ? size : 0;
        arena->used = 0;
        code = make(ctx, arena);
        if (code != CPUBIND_PROBLEM_NO_MEMORY || !arena->base || size >= LAST_ARENA)
            return code;
        free(arena->base);
        arena->base = NULL;
    }
}

/* The arguments of make_plan. */
typedef struct making {
    const cpubind_source *source;
    const cpubind_request *request;
    cli_planned *planned;
} making;

static cpubind_problem_code make_plan(void *ctx, cpubind_arena *arena)
{
    const making *m = (const making *)ctx;
    cli_planned *p = m->planned;
    cpubind_problem_code code =
        cpubind_facts_read(m->source, m->request, arena, &p->facts, &p->problem);
    p->has_facts = code == CPUBIND_PROBLEM_NONE;
    if (p->has_facts)
        code = cpubind_ascend_make_plan(&p->facts, m->request, arena, &p->plan, &p->problem);
    return code;
}

void cli_make(const cpubind_source *source, const cpubind_request *request, cli_planned *out)
{
    making m = {source, request, out};
    out->code = cli_with_arena(&out->arena, make_plan, &m);
}

void cli_free_planned(cli_planned *planned)
{
    free(planned->arena.base);
    memset(planned, 0, sizeof *planned);
}

void cli_progress(const cli_options *options, const char *text)
{
    if (options->quiet || !cpubind_linux_is_terminal(fileno(stderr)))
        return;
    fprintf(stderr, "\r\033[K%s", text ? text : "");
    fflush(stderr);
}
