/* folder_host.c - a snapshot folder as a host
 * SPDX-License-Identifier: MIT
 *
 * Reads below the folder alone; runs nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "opened_host.h"

/* GRAMMAR of cmd/NAME.exit
 *   exit   = ( number / "timeout" ) [ LF ]
 *   number = 1*3DIGIT      0 .. 255; leading zeros are allowed
 * TIMEOUT for the word: the command did not end in time. */
static cpubind_input parse_exit_code(const char *text, int32_t len)
{
    static const char word[] = "timeout";
    cpubind_input input = cpubind_input_of(CPUBIND_INPUT_PRESENT);
    if (len > 1 && text[len - 1] == '\n')
        len--;
    if (len == (int32_t)sizeof word - 1 && memcmp(text, word, sizeof word - 1) == 0)
        return cpubind_input_of(CPUBIND_INPUT_TIMEOUT);
    if (len < 1 || len > 3)
        return cpubind_input_failed(EINVAL, "exit code");
    for (int32_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return cpubind_input_failed(EINVAL, "exit code");
        input.exit_code = input.exit_code * 10 + (text[i] - '0');
    }
    return input.exit_code > 255 ? cpubind_input_failed(EINVAL, "exit code") : input;
}

/* The exit code beside cmd/NAME.txt: PRESENT with it, TIMEOUT, or FAILED. */
static cpubind_input read_exit_code(cpubind_linux_host *host, const char *name)
{
    static const char old_end[] = ".txt", new_end[] = ".exit";
    char path[PATH_MAX];
    size_t stem = strlen(name);
    if (stem > 4 && strcmp(name + stem - 4, old_end) == 0)
        stem -= 4;
    if (stem + sizeof new_end > sizeof path)
        return cpubind_input_failed(ENAMETOOLONG, "exit code");
    memcpy(path, name, stem);
    memcpy(path + stem, new_end, sizeof new_end);

    cpubind_bytes text = {NULL, 0, 0};
    cpubind_input input = cpubind_root_read(&host->tree, path, &text);
    if (input.state == CPUBIND_INPUT_PRESENT)
        input = parse_exit_code(text.data, text.len);
    else if (input.state == CPUBIND_INPUT_ABSENT)
        input = cpubind_input_of(CPUBIND_INPUT_PRESENT);
    else if (input.state == CPUBIND_INPUT_TOO_LONG)
        input = cpubind_input_failed(EINVAL, "exit code");
    cpubind_bytes_free(&text);
    return input;
}

static cpubind_input read_folder(cpubind_linux_host *host, const char *name)
{
    cpubind_input input = cpubind_root_read(&host->tree, name, &host->bytes);
    if (input.state == CPUBIND_INPUT_PRESENT && strncmp(name, "cmd/", 4) == 0)
        return read_exit_code(host, name);
    return input;
}

static cpubind_input list_folder(cpubind_linux_host *host, const char *name)
{
    return cpubind_root_list(&host->tree, name, &host->bytes);
}

cpubind_linux_status cpubind_linux_open_folder(const char *dir, const cpubind_sys *sys,
                                               cpubind_linux_host **out,
                                               cpubind_linux_fault *fault)
{
    if (!dir || !out)
        return cpubind_linux_bad_argument(out, fault);
    cpubind_linux_status status =
        cpubind_linux_new(dir, CPUBIND_REACH_BENEATH, sys, out, fault);
    if (status == CPUBIND_LINUX_OK) {
        (*out)->read = read_folder;
        (*out)->list = list_folder;
    }
    return status;
}
