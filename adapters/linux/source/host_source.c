/* host_source.c - a host behind the seam: open, answer, close
 * SPDX-License-Identifier: MIT
 *
 * What the live host and a snapshot folder share. How an input is fetched is theirs.
 */
#define _GNU_SOURCE
#include "host_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "../../text/input_name.h"
#include "../common.h"
#include "command.h"
#include "opened_host.h"

cpubind_linux_status cpubind_linux_new(const char *dir, cpubind_reach reach,
                                       const cpubind_sys *sys, cpubind_linux_host **out,
                                       cpubind_linux_fault *fault)
{
    if (!sys)
        sys = &cpubind_sys_real;
    *out = NULL;
    int fd = cpubind_open_retry(sys, dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_OPEN, errno, "open", fault);
    cpubind_linux_host *host = sys->malloc(sizeof *host);
    if (!host) {
        sys->close(fd);
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
    }
    *host = (cpubind_linux_host){.sys = sys, .tree = {sys, fd, reach}};
    *out = host;
    return CPUBIND_LINUX_OK;
}

cpubind_linux_status cpubind_linux_bad_argument(cpubind_linux_host **out,
                                                cpubind_linux_fault *fault)
{
    if (out)
        *out = NULL;
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "argument", fault);
}

/* The first answer of `name` in one of the host's two tables. */
static cpubind_input answer(cpubind_linux_host *host, cpubind_input_cache *answers,
                            cpubind_fetch *fetch, const char *name)
{
    if (!cpubind_input_is_name(name))
        return cpubind_input_failed(EINVAL, "name");
    cpubind_answer *a = cpubind_input_cache_find(answers, name);
    if (a)
        return a->input;
    /* Before the fetch: an answer that could not be remembered is better not found out. */
    a = cpubind_input_cache_add(answers, host->sys, name);
    if (!a)
        return cpubind_input_failed(ENOMEM, "memory");
    host->bytes.len = 0;
    cpubind_input input = fetch(host, name);
    cpubind_answer_set(a, host->sys, input, &host->bytes);
    return a->input;
}

static cpubind_input read_input(void *ctx, const char *name)
{
    cpubind_linux_host *host = ctx;
    return answer(host, &host->files, host->read, name);
}

static cpubind_input list_input(void *ctx, const char *name)
{
    cpubind_linux_host *host = ctx;
    return answer(host, &host->folders, host->list, name);
}

cpubind_source cpubind_linux_source(cpubind_linux_host *host)
{
    return (cpubind_source){host, read_input, list_input};
}

void cpubind_linux_close(cpubind_linux_host *host)
{
    if (!host)
        return;
    for (int i = 0; i <= CPUBIND_BOARD; i++)
        if (host->unreaped[i])
            cpubind_command_reap(host->unreaped[i], host->sys);
    host->sys->close(host->tree.fd);
    cpubind_input_cache_free(&host->files);
    cpubind_input_cache_free(&host->folders);
    cpubind_bytes_free(&host->bytes);
    free(host);
}
