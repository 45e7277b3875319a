/* live_host.c - the host that this process runs on
 * SPDX-License-Identifier: MIT
 *
 * Reads files below "/", and runs the commands of CPUBIND_COMMAND_LIST and `npu-smi info -t
 * board`, and no other.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../text/input_name.h"
#include "command.h"
#include "opened_host.h"

/* Longest value in `env`: far more than a list of all devices. */
#define VALUE_MAX 65536

/* One command of the list. */
typedef struct listed {
    const char *name;    /* of the input */
    const char *argv[8]; /* ended by NULL */
} listed;

#define CPUBIND_X(name, ...) {name, {__VA_ARGS__}},
static const listed commands[CPUBIND_N_COMMANDS] = {CPUBIND_COMMAND_LIST(CPUBIND_X)};
#undef CPUBIND_X

static const char *const variables[] = {
#define CPUBIND_X(name) name,
    CPUBIND_ENV_LIST(CPUBIND_X)
#undef CPUBIND_X
};

static int is_npusmi(const listed *l)
{
    return strcmp(l->argv[0], "npu-smi") == 0;
}

/* Whether `l` is to run now that `asked` was asked for: itself, and beside an npu-smi command
 * the other ones that have no answer yet. */
static int is_due(const cpubind_linux_host *host, const listed *l, const listed *asked)
{
    if (l == asked)
        return 1;
    return is_npusmi(asked) && is_npusmi(l) && !cpubind_input_cache_find(&host->files, l->name);
}

/* Runs the command and those that are due with it. Theirs are answered in host->files; its own
 * output is left in host->bytes, as every fetch leaves it. */
static cpubind_input run_due(cpubind_linux_host *host, const listed *asked)
{
    cpubind_command run[CPUBIND_N_COMMANDS];
    cpubind_answer *to[CPUBIND_N_COMMANDS];
    int index[CPUBIND_N_COMMANDS];
    int n = 0;
    cpubind_input input = cpubind_input_of(CPUBIND_INPUT_ABSENT);
    for (int i = 0; i < CPUBIND_N_COMMANDS; i++) {
        const listed *l = &commands[i];
        if (!is_due(host, l, asked))
            continue;
        to[n] = l == asked ? NULL : cpubind_input_cache_add(&host->files, host->sys, l->name);
        if (l != asked && !to[n])
            continue; /* no memory to remember it: it runs when it is asked for */
        run[n] = (cpubind_command){.argv = l->argv};
        index[n++] = i;
    }
    cpubind_commands_run(run, n, host->limit_ms, host->sys);
    for (int k = 0; k < n; k++) {
        host->unreaped[index[k]] = run[k].pid;
        if (to[k]) {
            cpubind_answer_set(to[k], host->sys, run[k].input, &run[k].bytes);
            cpubind_bytes_free(&run[k].bytes);
        } else {
            input = run[k].input;
            cpubind_bytes_free(&host->bytes);
            host->bytes = run[k].bytes;
        }
    }
    return input;
}

/* A number as a word of a command line: the digits of an int32_t and a NUL. */
typedef struct word {
    char text[11];
} word;

static word word_of(const char *name, cpubind_slice digits)
{
    word w = {{0}};
    memcpy(w.text, name + digits.at, (size_t)digits.len);
    return w;
}

/* npu-smi info -t board; an empty `chip` asks for the card. One that was killed and is still
 * there hangs on its card: another would hang beside it, and is not started. */
static cpubind_input run_board(cpubind_linux_host *host, const char *name, cpubind_slice card,
                               cpubind_slice chip)
{
    const word card_id = word_of(name, card), chip_id = word_of(name, chip);
    const char *const argv[] = {
        "npu-smi",    "info", "-t", "board", "-i", card_id.text, chip.len > 0 ? "-c" : NULL,
        chip_id.text, NULL};
    cpubind_command run = {.argv = argv};
    if (host->unreaped[CPUBIND_BOARD])
        return cpubind_input_of(CPUBIND_INPUT_TIMEOUT);
    cpubind_commands_run(&run, 1, host->limit_ms, host->sys);
    host->unreaped[CPUBIND_BOARD] = run.pid;
    cpubind_bytes_free(&host->bytes);
    host->bytes = run.bytes;
    return run.input;
}

static cpubind_input run_command(cpubind_linux_host *host, const char *name)
{
    cpubind_slice card, chip;
    if (cpubind_input_is_board(name, &card, &chip))
        return run_board(host, name, card, chip);
    for (int i = 0; i < CPUBIND_N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return run_due(host, &commands[i]);
    return cpubind_input_of(CPUBIND_INPUT_ABSENT);
}

/* Appends a text to the content. */
static cpubind_linux_fault append(cpubind_linux_host *host, const char *text, size_t len)
{
    cpubind_linux_fault fault = cpubind_bytes_reserve(&host->bytes, host->sys, (int32_t)len);
    if (fault.error)
        return fault;
    memcpy(host->bytes.data + host->bytes.len, text, len);
    host->bytes.len += (int32_t)len;
    return cpubind_no_fault;
}

/* "NAME=value" as a line of the input. */
static cpubind_input append_variable(cpubind_linux_host *host, const char *name,
                                     const char *value)
{
    size_t len = strlen(value);
    if (len > VALUE_MAX)
        return cpubind_input_of(CPUBIND_INPUT_TOO_LONG);
    if (memchr(value, '\n', len))
        return cpubind_input_failed(EILSEQ, "a value holds a line feed");
    if (append(host, name, strlen(name)).error || append(host, "=", 1).error ||
        append(host, value, len).error || append(host, "\n", 1).error)
        return cpubind_input_failed(ENOMEM, "memory");
    return cpubind_input_of(CPUBIND_INPUT_PRESENT);
}

/* The value of a variable in strings that each end with a NUL, the last one too; or NULL. */
static const char *find_variable(const cpubind_bytes *strings, const char *name)
{
    const size_t len = strlen(name);
    const char *at = strings->data;
    const char *end = at + strings->len;
    while (at < end) {
        if (strncmp(at, name, len) == 0 && at[len] == '=')
            return at + len + 1;
        at += strlen(at) + 1;
    }
    return NULL;
}

/* The variables of this process or, in `strings`, of another one. */
static cpubind_input append_variables(cpubind_linux_host *host, const cpubind_bytes *strings)
{
    cpubind_input input = cpubind_input_of(CPUBIND_INPUT_PRESENT);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value =
            strings ? find_variable(strings, variables[i]) : getenv(variables[i]);
        if (value)
            input = append_variable(host, variables[i], value);
        if (input.state != CPUBIND_INPUT_PRESENT)
            break;
    }
    return input;
}

/* The environment that the process was started with. A variable that it has set itself since
 * is not seen. */
static cpubind_input read_environ(cpubind_linux_host *host)
{
    char name[32];
    cpubind_bytes strings = {0};
    cpubind_input input;
    snprintf(name, sizeof name, "proc/%d/environ", (int)host->pid);
    input = cpubind_root_read(&host->tree, name, &strings);
    if (input.state == CPUBIND_INPUT_PRESENT &&
        cpubind_bytes_reserve(&strings, host->sys, 1).error)
        input = cpubind_input_failed(ENOMEM, "memory");
    if (input.state == CPUBIND_INPUT_PRESENT) {
        strings.data[strings.len++] = '\0';
        input = append_variables(host, &strings);
    }
    cpubind_bytes_free(&strings);
    return input;
}

static cpubind_input read_machine(cpubind_linux_host *host)
{
    struct utsname system;
    if (host->sys->uname(&system) < 0)
        return cpubind_input_failed(errno, "uname");
    if (append(host, system.machine, strlen(system.machine)).error ||
        append(host, "\n", 1).error)
        return cpubind_input_failed(ENOMEM, "memory");
    return cpubind_input_of(CPUBIND_INPUT_PRESENT);
}

static cpubind_input read_status(cpubind_linux_host *host)
{
    char name[32];
    snprintf(name, sizeof name, "proc/%d/status", (int)host->pid);
    return cpubind_root_read(&host->tree, name, &host->bytes);
}

static cpubind_input read_live(cpubind_linux_host *host, const char *name)
{
    if (strncmp(name, "cmd/", 4) == 0)
        return run_command(host, name);
    if (strcmp(name, "env") == 0)
        return host->pid ? read_environ(host) : append_variables(host, NULL);
    if (strcmp(name, "uname") == 0)
        return read_machine(host);
    if (host->pid && strcmp(name, "proc/self/status") == 0)
        return read_status(host);
    return cpubind_root_read(&host->tree, name, &host->bytes);
}

static cpubind_input list_live(cpubind_linux_host *host, const char *name)
{
    /* "cmd", "env" and "uname" are names of inputs; what "/" holds by these names is not. */
    if (strcmp(name, "cmd") == 0 || strncmp(name, "cmd/", 4) == 0 || strcmp(name, "env") == 0 ||
        strcmp(name, "uname") == 0)
        return cpubind_input_of(CPUBIND_INPUT_ABSENT);
    return cpubind_root_list(&host->tree, name, &host->bytes);
}

cpubind_linux_status cpubind_linux_open_live(int32_t pid, int32_t limit_ms,
                                             const cpubind_sys *sys, cpubind_linux_host **out,
                                             cpubind_linux_fault *fault)
{
    if (!out || pid < 0 || limit_ms < 1 || limit_ms > CPUBIND_LIVE_LIMIT_MAX_MS)
        return cpubind_linux_bad_argument(out, fault);
    cpubind_linux_status status =
        cpubind_linux_new("/", CPUBIND_REACH_ANYWHERE, sys, out, fault);
    if (status == CPUBIND_LINUX_OK) {
        (*out)->read = read_live;
        (*out)->list = list_live;
        (*out)->limit_ms = limit_ms;
        (*out)->pid = pid;
    }
    return status;
}
