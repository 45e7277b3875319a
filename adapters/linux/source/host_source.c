/* host_source.c - the two sources that Linux has: this host, and a snapshot folder
 * SPDX-License-Identifier: MIT
 *
 * The live host reads files below "/", and runs the commands of CPUBIND_COMMAND_LIST and
 * CPUBIND_BOARD_WORDS, and no other. It must not open anything below /dev: to open a device
 * node may claim the device for this container. A snapshot reads below its folder alone and
 * runs nothing. Every answer is kept until the host is closed. Files below /run are those of
 * shared_run.c alone.
 */
#define _GNU_SOURCE
#include "host_source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "../../ascend/input_list.h"
#include "../../model/vendor.h"
#include "../../text/input_name.h"
#include "../kernel/files.h"
#include "../kernel/process.h"
#include "command.h"
#include "host_files.h"
#include "input_cache.h"
#include "shared_run.h"

/* Longest value in `env`: far more than a list of all devices. */
#define VALUE_MAX 65536

/* The input that lists device nodes. */
#define DEV_FOLDER "dev"

/* One command of the list. */
typedef struct listed_command {
    const char *name;    /* of the input */
    const char *argv[8]; /* ended by NULL */
} listed_command;

#define CPUBIND_X(...) +1
enum { N_COMMANDS = 0 CPUBIND_COMMAND_LIST(CPUBIND_X) };
#undef CPUBIND_X

#define CPUBIND_X(name, ...) {name, {__VA_ARGS__}},
static const listed_command commands[N_COMMANDS] = {CPUBIND_COMMAND_LIST(CPUBIND_X)};
#undef CPUBIND_X

/* Fetches an input for the first time: PRESENT with its content in host->bytes, which is empty
 * before, or another state. */
typedef cpubind_input fetch(cpubind_linux_host *host, const char *name);

struct cpubind_linux_host {
    const cpubind_sys *sys;
    cpubind_root root;        /* fd -1: the files are those in memory */
    cpubind_host_files *held; /* or NULL */
    fetch *read, *list;
    cpubind_input_cache files, folders; /* the answers of read and of list */
    cpubind_bytes bytes;                /* the content that is being fetched */
    char err[CPUBIND_INPUT_ERR_MAX];    /* the stderr that is being fetched */
    /* The live host alone: */
    int32_t pid;      /* the process whose status and environment are read; 0: this one */
    char process[40]; /* its folder, or that of a thread of it that lives */
    int32_t limit_ms; /* for each command */
    int is_alone;     /* tools run in this process, whatever others have read */
    /* Children that outlived SIGKILL, else 0: of each listed command, and of a board's. */
    pid_t unreaped[N_COMMANDS], unreaped_board;
};

/* == A snapshot folder ====================================================== */

/* GRAMMAR of cmd/NAME.exit
 *   exit   = ( number / "timeout" ) [ LF ]
 *   number = 1*3DIGIT      0 .. 255; leading zeros are allowed
 * The word "timeout" is TIMEOUT: the command did not end in time. */
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

/* The content of a file of the snapshot. */
static cpubind_input read_file(cpubind_linux_host *host, const char *name, cpubind_bytes *bytes)
{
    return host->held ? cpubind_host_files_read(host->held, name, host->sys, bytes)
                      : cpubind_root_read(&host->root, name, bytes);
}

/* Sets the stderr of an answer to a copy, which the host keeps until the next fetch. */
static void keep_err(cpubind_linux_host *host, const char *text, int32_t len,
                     cpubind_input *input)
{
    input->err_len = len < CPUBIND_INPUT_ERR_MAX ? len : CPUBIND_INPUT_ERR_MAX;
    input->err = len > 0 ? host->err : NULL;
    if (len > 0)
        memcpy(host->err, text, (size_t)input->err_len);
}

/* Reads cmd/NAME.txt.err; one that is missing or cannot be read is no stderr. */
static void read_err(cpubind_linux_host *host, const char *name, cpubind_input *input)
{
    char path[PATH_MAX];
    cpubind_bytes text = {NULL, 0, 0};
    const int n = snprintf(path, sizeof path, "%s.err", name);
    if (n > 8 && n < (int)sizeof path && strcmp(path + n - 8, ".txt.err") == 0 &&
        read_file(host, path, &text).state == CPUBIND_INPUT_PRESENT)
        keep_err(host, text.data, text.len, input);
    cpubind_bytes_free(&text);
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
    cpubind_input input = read_file(host, path, &text);
    if (input.state == CPUBIND_INPUT_PRESENT)
        input = parse_exit_code(text.data, text.len);
    else if (input.state == CPUBIND_INPUT_ABSENT)
        input = cpubind_input_of(CPUBIND_INPUT_PRESENT);
    else if (input.state == CPUBIND_INPUT_TOO_LONG)
        input = cpubind_input_failed(EINVAL, "exit code");
    cpubind_bytes_free(&text);
    return input;
}

/* The link of a virtual PCI function to its physical one leads to a folder: it is there. */
static cpubind_input judge_link(const char *name, cpubind_input input)
{
    static const char end[] = "/physfn";
    const size_t n = strlen(name);
    if (input.state == CPUBIND_INPUT_FAILED && input.error == EISDIR && n > sizeof end - 1 &&
        strcmp(name + n - (sizeof end - 1), end) == 0)
        return cpubind_input_of(CPUBIND_INPUT_PRESENT);
    return input;
}

/* Whether an error says that a node is not there or not for this process. */
static int is_out_of_view(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES || error == EPERM;
}

/* Whether the file of a node is there, in a folder. A real node is not: the folder is the root
 * of a live host, and its nodes must not be opened. */
static cpubind_input look_for_node(const cpubind_linux_host *host, const char *name)
{
    struct stat st;
    int result;
    CPUBIND_RETRY(result, host->sys->statat(host->root.fd, name, &st));
    if (result < 0)
        return is_out_of_view(errno) ? cpubind_input_of(CPUBIND_INPUT_ABSENT)
                                     : cpubind_input_failed(errno, "stat");
    return cpubind_input_of(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ? CPUBIND_INPUT_PRESENT
                                                                       : CPUBIND_INPUT_ABSENT);
}

static cpubind_input read_folder(cpubind_linux_host *host, const char *name)
{
    cpubind_input input = cpubind_input_of(CPUBIND_INPUT_PRESENT);
    if (!host->held && strncmp(name, DEV_FOLDER "/", sizeof DEV_FOLDER) == 0)
        input = look_for_node(host, name);
    if (input.state != CPUBIND_INPUT_PRESENT)
        return input;
    input = read_file(host, name, &host->bytes);
    if (input.state == CPUBIND_INPUT_PRESENT && strncmp(name, "cmd/", 4) == 0) {
        input = read_exit_code(host, name);
        read_err(host, name, &input);
    }
    return judge_link(name, input);
}

/* An empty file below proc/ stands for an empty folder, which no corpus and no git can hold. */
static cpubind_input list_folder(cpubind_linux_host *host, const char *name)
{
    cpubind_input input =
        host->held ? cpubind_host_files_list(host->held, name, host->sys, &host->bytes)
                   : cpubind_root_list(&host->root, name, &host->bytes);
    if (input.state == CPUBIND_INPUT_FAILED && input.error == ENOTDIR &&
        strncmp(name, "proc/", 5) == 0) {
        host->bytes.len = 0;
        const cpubind_input file = read_file(host, name, &host->bytes);
        if (file.state == CPUBIND_INPUT_PRESENT && host->bytes.len == 0)
            return file;
    }
    return input;
}

/* == Commands of the live host ============================================== */

/* Whether a command is the tool of a vendor. */
static int is_tool(const char *command)
{
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++) {
        const char *tool = cpubind_vendor_of((cpubind_vendor_id)i)->tool;
        if (tool && strcmp(tool, command) == 0)
            return 1;
    }
    return 0;
}

static cpubind_input list_input(void *ctx, const char *name);

/* Runs commands of one tool, or takes the outputs that another process of this host has
 * read. */
static void run_tool(cpubind_linux_host *host, const char *tag, cpubind_command *run,
                     const char *const *name, int32_t n)
{
    /* Fetching the list empties host->bytes, which is empty here. */
    const cpubind_shared shared = {&host->root, run->argv[0], tag,
                                   host->is_alone ? cpubind_input_of(CPUBIND_INPUT_ABSENT)
                                                  : list_input(host, DEV_FOLDER),
                                   host->limit_ms};
    if (host->is_alone || shared.nodes.state == CPUBIND_INPUT_FAILED)
        cpubind_commands_run(run, n, host->limit_ms, host->sys);
    else
        cpubind_shared_run(&shared, run, name, n);
}

/* Whether command `l` runs when `asked` is asked for: `asked` itself, and with any command of a
 * tool all others of it that have no answer yet. */
static int is_due(const cpubind_linux_host *host, const listed_command *l,
                  const listed_command *asked)
{
    if (l == asked)
        return 1;
    return strcmp(l->argv[0], asked->argv[0]) == 0 && is_tool(l->argv[0]) &&
           !cpubind_input_cache_find(&host->files, l->name);
}

/* Runs the command and those that are due with it. The output of `asked` goes to host->bytes,
 * as with every fetch; the outputs of the others go to the cache. */
static cpubind_input run_due(cpubind_linux_host *host, const listed_command *asked)
{
    cpubind_command run[N_COMMANDS];
    cpubind_answer *to[N_COMMANDS];
    const char *name[N_COMMANDS];
    int index[N_COMMANDS];
    int n = 0;
    cpubind_input input = cpubind_input_of(CPUBIND_INPUT_ABSENT);
    for (int i = 0; i < N_COMMANDS; i++) {
        const listed_command *l = &commands[i];
        if (!is_due(host, l, asked))
            continue;
        to[n] = l == asked ? NULL : cpubind_input_cache_add(&host->files, host->sys, l->name);
        if (l != asked && !to[n])
            continue; /* no memory to keep its answer: it runs when it is asked for */
        run[n] = (cpubind_command){.argv = l->argv};
        name[n] = l->name;
        index[n++] = i;
    }
    if (is_tool(asked->argv[0]))
        run_tool(host, "", run, name, n);
    else
        cpubind_commands_run(run, n, host->limit_ms, host->sys);
    for (int k = 0; k < n; k++) {
        host->unreaped[index[k]] = run[k].pid;
        if (to[k]) {
            cpubind_answer_set(to[k], host->sys, run[k].input, &run[k].bytes);
            cpubind_bytes_free(&run[k].bytes);
        } else {
            input = run[k].input;
            keep_err(host, run[k].err, run[k].err_len, &input);
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

static word word_of(const char *name, cpubind_piece digits)
{
    word w = {{0}};
    memcpy(w.text, name + digits.at, (size_t)digits.len);
    return w;
}

/* Runs the command for a board; an empty `chip` asks for the card. While a killed one still
 * hangs in the driver no other is started: it would hang too. */
static cpubind_input run_board(cpubind_linux_host *host, const char *name, cpubind_piece card,
                               cpubind_piece chip)
{
    const word card_id = word_of(name, card), chip_id = word_of(name, chip);
    const char *const argv[] = {CPUBIND_BOARD_WORDS, card_id.text,
                                chip.len > 0 ? CPUBIND_BOARD_CHIP : NULL, chip_id.text, NULL};
    cpubind_command run = {.argv = argv};
    char tag[32];
    if (host->unreaped_board)
        return cpubind_input_of(CPUBIND_INPUT_TIMEOUT);
    snprintf(tag, sizeof tag, ".i%s%s%s", card_id.text, chip.len > 0 ? CPUBIND_BOARD_CHIP : "",
             chip_id.text);
    run_tool(host, tag, &run, &name, 1);
    host->unreaped_board = run.pid;
    cpubind_bytes_free(&host->bytes);
    host->bytes = run.bytes;
    keep_err(host, run.err, run.err_len, &run.input);
    return run.input;
}

static cpubind_input run_command(cpubind_linux_host *host, const char *name)
{
    cpubind_piece card, chip;
    if (cpubind_input_is_board(name, &card, &chip))
        return run_board(host, name, card, chip);
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return run_due(host, &commands[i]);
    return cpubind_input_of(CPUBIND_INPUT_ABSENT);
}

/* == Files of the live host ================================================= */

/* Appends a text to the content. */
static cpubind_linux_fault append(cpubind_linux_host *host, const char *text, size_t len)
{
    return cpubind_bytes_add(&host->bytes, host->sys, text, (int32_t)len);
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

/* The first string, in the order of bytes, that starts with CPUBIND_ENV_PREFIX and comes after
 * `last`; NULL when there is none. `last` NULL: of all. */
static const char *next_prefixed(const cpubind_bytes *strings, const char *last)
{
    const char *found = NULL;
    const char *at = strings ? strings->data : NULL;
    for (size_t i = 0; strings ? at < strings->data + strings->len : environ && environ[i];
         i++) {
        const char *text = strings ? at : environ[i];
        if (strings)
            at += strlen(at) + 1;
        if (strncmp(text, CPUBIND_ENV_PREFIX, sizeof CPUBIND_ENV_PREFIX - 1) == 0 &&
            strchr(text, '=') && (!last || strcmp(text, last) > 0) &&
            (!found || strcmp(text, found) < 0))
            found = text;
    }
    return found;
}

/* The variables whose names start with CPUBIND_ENV_PREFIX, sorted: the order of an environment
 * says nothing, and a snapshot must not depend on it. */
static cpubind_input append_prefixed(cpubind_linux_host *host, const cpubind_bytes *strings)
{
    cpubind_input input = cpubind_input_of(CPUBIND_INPUT_PRESENT);
    const char *text = NULL;
    while (input.state == CPUBIND_INPUT_PRESENT &&
           (text = next_prefixed(strings, text)) != NULL) {
        const size_t n = strcspn(text, "=");
        if (memchr(text, '\n', n))
            return cpubind_input_failed(EILSEQ, "a name holds a line feed");
        if (append(host, text, n).error)
            return cpubind_input_failed(ENOMEM, "memory");
        input = append_variable(host, "", text + n + 1);
    }
    return input;
}

/* Those of a list, up to NULL, that are set. */
static cpubind_input append_named(cpubind_linux_host *host, const cpubind_bytes *strings,
                                  const char *const *names)
{
    cpubind_input input = cpubind_input_of(CPUBIND_INPUT_PRESENT);
    for (; *names && input.state == CPUBIND_INPUT_PRESENT; names++) {
        const char *value = getenv(*names);
        if (strings) {
            const cpubind_piece found =
                cpubind_environ_find(strings->data, strings->len, *names);
            value = found.len < 0 ? NULL : strings->data + found.at;
        }
        if (value)
            input = append_variable(host, *names, value);
    }
    return input;
}

/* The variables of this process or, in `strings`, of another one. */
static cpubind_input append_variables(cpubind_linux_host *host, const cpubind_bytes *strings)
{
    static const char *const general[] = {
#define CPUBIND_X(name) name,
        CPUBIND_ENV_LIST(CPUBIND_X)
#undef CPUBIND_X
            NULL};
    cpubind_input input = append_named(host, strings, general);
    for (int i = 0; i < CPUBIND_VENDOR_COUNT && input.state == CPUBIND_INPUT_PRESENT; i++) {
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)i);
        input = append_named(host, strings, v->variable);
        if (input.state == CPUBIND_INPUT_PRESENT)
            input = append_named(host, strings, v->setting);
    }
    return input.state == CPUBIND_INPUT_PRESENT ? append_prefixed(host, strings) : input;
}

/* Reads the environment that the process was started with; its own changes since then are not
 * visible. Each string ends with a NUL. */
static cpubind_input read_strings(cpubind_linux_host *host, cpubind_bytes *strings)
{
    char name[64];
    cpubind_input input;
    snprintf(name, sizeof name, "%s/environ", host->process);
    input = cpubind_root_read(&host->root, name, strings);
    if (input.state == CPUBIND_INPUT_PRESENT &&
        cpubind_bytes_reserve(strings, host->sys, 1).error)
        input = cpubind_input_failed(ENOMEM, "memory");
    if (input.state == CPUBIND_INPUT_PRESENT)
        strings->data[strings->len++] = '\0';
    return input;
}

static cpubind_input read_environ(cpubind_linux_host *host)
{
    cpubind_bytes strings = {0};
    cpubind_input input = read_strings(host, &strings);
    if (input.state == CPUBIND_INPUT_PRESENT)
        input = append_variables(host, &strings);
    cpubind_bytes_free(&strings);
    return input;
}

/* The date of this moment, in UTC. */
static cpubind_input read_date(cpubind_linux_host *host)
{
    const time_t now = time(NULL);
    struct tm parts;
    char text[32];
    size_t n;
    if (!gmtime_r(&now, &parts))
        return cpubind_input_failed(errno, "time");
    n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ\n", &parts);
    return append(host, text, n).error ? cpubind_input_failed(ENOMEM, "memory")
                                       : cpubind_input_of(CPUBIND_INPUT_PRESENT);
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

/* == Device nodes of the live host ========================================== */

/* The nodes of an input, in a folder. */
typedef struct node_folder {
    cpubind_vendor_nodes nodes;
    int is_of_process; /* they are those of the process of the host */
} node_folder;

/* An input's name that is looked for. */
typedef struct wanted_nodes {
    const char *name;
    size_t len;
    const cpubind_vendor_nodes *found;
} wanted_nodes;

static int is_wanted(void *ctx, const cpubind_vendor_nodes *nodes,
                     const cpubind_vendor_files *bus)
{
    wanted_nodes *w = (wanted_nodes *)ctx;
    (void)bus;
    if (strlen(nodes->input) != w->len || memcmp(nodes->input, w->name, w->len) != 0)
        return 0;
    w->found = nodes;
    return 1;
}

/* Finds the folder of the input name[0 .. len - 1]. Returns whether it is one. */
static int find_nodes(const char *name, size_t len, node_folder *out)
{
    wanted_nodes w = {name, len, NULL};
    if (cpubind_vendor_each_nodes(is_wanted, &w)) {
        *out = (node_folder){*w.found, 1};
        return 1;
    }
    for (int i = 0; i < CPUBIND_VENDOR_COUNT && !w.found; i++) {
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)i);
        if (v->own.input && is_wanted(&w, &v->own, NULL))
            *out = (node_folder){v->own, 0};
    }
    return w.found != NULL;
}

static int is_node_name(const node_folder *f, const char *name)
{
    const size_t n = strlen(f->nodes.start), len = strlen(name);
    return strncmp(name, f->nodes.start, n) == 0 && len > n && len <= n + 9 &&
           strspn(name + n, "0123456789") == len - n && (name[n] != '0' || len == n + 1);
}

/* Whether the process of the host is in the cgroups of this one. */
static int is_in_own_cgroups(cpubind_linux_host *host)
{
    char name[64];
    cpubind_bytes own = {0}, other = {0};
    int is_same;
    snprintf(name, sizeof name, "%s/cgroup", host->process);
    is_same = cpubind_root_read(&host->root, "proc/self/cgroup", &own).state ==
                  CPUBIND_INPUT_PRESENT &&
              cpubind_root_read(&host->root, name, &other).state == CPUBIND_INPUT_PRESENT &&
              own.len == other.len && memcmp(own.data, other.data, (size_t)own.len) == 0;
    cpubind_bytes_free(&own);
    cpubind_bytes_free(&other);
    return is_same;
}

/* Whether the process of the host is in a job of Slurm that has GPUs, or may be in one. */
static int is_of_slurm(cpubind_linux_host *host)
{
    static const char *const names[] = {"SLURM_GPUS_ON_NODE", "SLURM_JOB_GPUS",
                                        "SLURM_STEP_GPUS"};
    cpubind_bytes strings = {0};
    const int is_read = read_strings(host, &strings).state == CPUBIND_INPUT_PRESENT;
    int is_found = !is_read;
    for (size_t i = 0; is_read && i < sizeof names / sizeof names[0]; i++)
        is_found |= cpubind_environ_find(strings.data, strings.len, names[i]).len >= 0;
    cpubind_bytes_free(&strings);
    return is_found;
}

/* Whether it is not known which nodes the process of the host may open: access(2) asks the
 * device cgroup of this process, and Slurm gives each step and task one. */
static int are_hidden_by_slurm(cpubind_linux_host *host, const node_folder *f)
{
    return host->pid && f->is_of_process && !is_in_own_cgroups(host) && is_of_slurm(host);
}

/* The path of a folder of nodes, below "/". */
static const char *node_path(const cpubind_linux_host *host, const node_folder *f, char out[64])
{
    if (host->pid && f->is_of_process)
        snprintf(out, 64, "%s/root/%.16s", host->process, f->nodes.folder);
    else
        snprintf(out, 64, "%s", f->nodes.folder);
    return out;
}

/* Looks at a node without opening it: PRESENT with its number, ABSENT when it is not there, is
 * no character device, or may not be opened by this process; else FAILED. */
static cpubind_input look_at_node(const cpubind_linux_host *host, const node_folder *f,
                                  const char *name, struct stat *st)
{
    char path[128], folder[64];
    int result;
    snprintf(path, sizeof path, "%s/%.32s", node_path(host, f, folder), name);
    CPUBIND_RETRY(result, host->sys->statat(host->root.fd, path, st));
    if (result < 0)
        return is_out_of_view(errno) ? cpubind_input_of(CPUBIND_INPUT_ABSENT)
                                     : cpubind_input_failed(errno, "stat");
    if (!S_ISCHR(st->st_mode))
        return cpubind_input_of(CPUBIND_INPUT_ABSENT);
    CPUBIND_RETRY(result, host->sys->accessat(host->root.fd, path,
                                              f->nodes.is_read ? R_OK : R_OK | W_OK));
    if (result < 0)
        return is_out_of_view(errno) ? cpubind_input_of(CPUBIND_INPUT_ABSENT)
                                     : cpubind_input_failed(errno, "access");
    return cpubind_input_of(CPUBIND_INPUT_PRESENT);
}

/* Reads an input below "dev". */
static cpubind_input read_node(cpubind_linux_host *host, const char *name)
{
    const char *slash = strrchr(name, '/');
    node_folder f;
    char text[64];
    struct stat st;
    if (!find_nodes(name, (size_t)(slash - name), &f) || !is_node_name(&f, slash + 1))
        return cpubind_input_failed(EINVAL, "not a regular file");
    if (are_hidden_by_slurm(host, &f))
        return cpubind_input_of(CPUBIND_INPUT_ABSENT);
    cpubind_input input = look_at_node(host, &f, slash + 1, &st);
    if (input.state != CPUBIND_INPUT_PRESENT)
        return input;
    const int n = snprintf(text, sizeof text, "%u:%u\n", major(st.st_rdev), minor(st.st_rdev));
    return append(host, text, (size_t)n).error ? cpubind_input_failed(ENOMEM, "memory") : input;
}

/* Lists the nodes of a folder that this process may open; ABSENT when there are none. */
static cpubind_input list_nodes(cpubind_linux_host *host, const node_folder *f)
{
    cpubind_bytes *bytes = &host->bytes;
    char folder[64];
    int32_t kept = 0;
    if (are_hidden_by_slurm(host, f))
        return cpubind_input_of(CPUBIND_INPUT_ABSENT);
    cpubind_input input = cpubind_root_list(&host->root, node_path(host, f, folder), bytes);
    if (input.state != CPUBIND_INPUT_PRESENT)
        return input;
    for (int32_t at = 0, n; at < bytes->len; at += n) {
        char *line = bytes->data + at;
        struct stat st;
        n = (int32_t)((char *)memchr(line, '\n', (size_t)(bytes->len - at)) - line) + 1;
        line[n - 1] = '\0';
        if (!is_node_name(f, line))
            continue;
        input = look_at_node(host, f, line, &st);
        if (input.state == CPUBIND_INPUT_ABSENT)
            continue;
        if (input.state != CPUBIND_INPUT_PRESENT)
            return input;
        line[n - 1] = '\n';
        memmove(bytes->data + kept, line, (size_t)n);
        kept += n;
    }
    bytes->len = kept;
    return cpubind_input_of(kept > 0 ? CPUBIND_INPUT_PRESENT : CPUBIND_INPUT_ABSENT);
}

/* == Reading and listing ==================================================== */

/* Reads a file of proc/self as the process of the host has it. */
static cpubind_input read_of_process(cpubind_linux_host *host, const char *leaf)
{
    char name[80];
    snprintf(name, sizeof name, "%s/%.32s", host->process, leaf);
    return cpubind_root_read(&host->root, name, &host->bytes);
}

/* Whether a name is that of the devices that a process has open: proc/PID/fd. */
static int is_open_devices(const char *name)
{
    const char *leaf = strrchr(name, '/');
    return strncmp(name, "proc/", 5) == 0 && strcmp(leaf, "/fd") == 0;
}

static cpubind_input read_open_devices(cpubind_linux_host *host, const char *name)
{
    const cpubind_linux_fault why =
        cpubind_open_devices(&host->root, name, NULL, NULL, &host->bytes);
    return why.error ? cpubind_input_missing(why.error, why.what)
                     : cpubind_input_of(CPUBIND_INPUT_PRESENT);
}

static cpubind_input read_live(cpubind_linux_host *host, const char *name)
{
    if (strncmp(name, "cmd/", 4) == 0)
        return run_command(host, name);
    if (strcmp(name, "env") == 0)
        return host->pid ? read_environ(host) : append_variables(host, NULL);
    if (strcmp(name, "uname") == 0)
        return read_machine(host);
    if (strcmp(name, "date") == 0)
        return read_date(host);
    if (host->pid &&
        (strcmp(name, "proc/self/status") == 0 || strcmp(name, "proc/self/cgroup") == 0))
        return read_of_process(host, name + strlen("proc/self/"));
    if (strncmp(name, DEV_FOLDER "/", sizeof DEV_FOLDER) == 0)
        return read_node(host, name);
    if (is_open_devices(name))
        return read_open_devices(host, name);
    return judge_link(name, cpubind_root_read(&host->root, name, &host->bytes));
}

static cpubind_input list_live(cpubind_linux_host *host, const char *name)
{
    /* "cmd", "env", "uname" and "date" are names of inputs, never of folders below "/". */
    if (strcmp(name, "cmd") == 0 || strncmp(name, "cmd/", 4) == 0 || strcmp(name, "env") == 0 ||
        strcmp(name, "uname") == 0 || strcmp(name, "date") == 0)
        return cpubind_input_of(CPUBIND_INPUT_ABSENT);
    node_folder f;
    if (find_nodes(name, strlen(name), &f))
        return list_nodes(host, &f);
    return cpubind_root_list(&host->root, name, &host->bytes);
}

/* == Opening ================================================================ */

static cpubind_linux_status bad_argument(cpubind_linux_host **out, cpubind_linux_fault *fault)
{
    if (out)
        *out = NULL;
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "argument", fault);
}

/* Opens a host on folder `dir`; its functions are still to be set. */
static cpubind_linux_status open_host(const char *dir, cpubind_path_reach reach,
                                      const cpubind_sys *sys, cpubind_linux_host **out,
                                      cpubind_linux_fault *fault)
{
    int fd;
    *out = NULL;
    if (!sys)
        sys = &cpubind_sys_real;
    const cpubind_linux_fault why =
        cpubind_open(sys, AT_FDCWD, dir, O_PATH | O_DIRECTORY | O_CLOEXEC, &fd);
    if (why.error)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_OPEN, why.error, why.what, fault);
    cpubind_linux_host *host = sys->malloc(sizeof *host);
    if (!host) {
        sys->close(fd);
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
    }
    *host = (cpubind_linux_host){.sys = sys, .root = {sys, fd, reach}};
    *out = host;
    return CPUBIND_LINUX_OK;
}

cpubind_linux_status cpubind_linux_open_folder(const char *dir, const cpubind_sys *sys,
                                               cpubind_linux_host **out,
                                               cpubind_linux_fault *fault)
{
    if (!dir || !out)
        return bad_argument(out, fault);
    cpubind_linux_status status = open_host(dir, CPUBIND_REACH_BENEATH, sys, out, fault);
    if (status == CPUBIND_LINUX_OK) {
        (*out)->read = read_folder;
        (*out)->list = list_folder;
    }
    return status;
}

cpubind_linux_status cpubind_linux_open_text(char *text, int32_t len, const cpubind_sys *sys,
                                             cpubind_linux_host **out, cpubind_text_fault *why)
{
    cpubind_host_files *held;
    cpubind_linux_host *host;
    *out = NULL;
    if (!sys)
        sys = &cpubind_sys_real;
    held = cpubind_host_files_make(text, len, sys, why);
    if (!held)
        return strcmp(why->what, "memory") == 0 ? CPUBIND_LINUX_ERR_MEMORY
                                                : CPUBIND_LINUX_ERR_OPEN;
    host = sys->malloc(sizeof *host);
    if (!host) {
        cpubind_host_files_free(held);
        return CPUBIND_LINUX_ERR_MEMORY;
    }
    *host = (cpubind_linux_host){.sys = sys,
                                 .root = {.sys = sys, .fd = -1},
                                 .held = held,
                                 .read = read_folder,
                                 .list = list_folder};
    *out = host;
    return CPUBIND_LINUX_OK;
}

/* Names the folder that the process is read by: its own, unless its main thread has ended,
 * which has neither an environment nor a root then. */
static void find_process(cpubind_linux_host *host)
{
    cpubind_proc_stat stat = {.state = '?'};
    cpubind_ids tids = {0};
    int folder;
    (void)snprintf(host->process, sizeof host->process, "proc/%d", (int)host->pid);
    if (cpubind_proc_stat_read(&host->root, host->pid, 0, &stat).error || stat.state != 'Z' ||
        stat.n_threads < 2)
        return;
    if (cpubind_tasks_open(&host->root, host->pid, &folder).error)
        return;
    (void)cpubind_tasks_list(host->sys, folder, &tids);
    host->sys->close(folder);
    for (int32_t i = 0; i < tids.n; i++) {
        if (cpubind_proc_stat_read(&host->root, host->pid, tids.id[i], &stat).error ||
            stat.state == 'Z' || stat.state == 'X')
            continue;
        (void)snprintf(host->process, sizeof host->process, "proc/%d/task/%d", (int)host->pid,
                       (int)tids.id[i]);
        break;
    }
    free(tids.id);
}

cpubind_linux_status cpubind_linux_open_live(const cpubind_linux_live *live,
                                             cpubind_linux_host **out,
                                             cpubind_linux_fault *fault)
{
    const cpubind_linux_live usual = {.limit_ms = CPUBIND_LIVE_LIMIT_MS};
    if (!live)
        live = &usual;
    if (!out || live->pid < 0 || live->limit_ms < 1 ||
        live->limit_ms > CPUBIND_LIVE_LIMIT_MAX_MS)
        return bad_argument(out, fault);
    cpubind_linux_status status = open_host("/", CPUBIND_REACH_ANYWHERE, live->sys, out, fault);
    if (status == CPUBIND_LINUX_OK) {
        (*out)->read = read_live;
        (*out)->list = list_live;
        (*out)->limit_ms = live->limit_ms;
        (*out)->pid = live->pid;
        (*out)->is_alone = live->is_alone;
        if (live->pid > 0)
            find_process(*out);
    }
    return status;
}

/* == Answers, and closing =================================================== */

/* The answer of `name` in one of the host's two caches; fetches it when it is the first. */
static cpubind_input answer(cpubind_linux_host *host, cpubind_input_cache *answers,
                            fetch *fetch_input, const char *name)
{
    if (!cpubind_input_is_name(name))
        return cpubind_input_failed(EINVAL, "name");
    cpubind_answer *a = cpubind_input_cache_find(answers, name);
    if (a)
        return a->input;
    /* Add before the fetch: an answer that cannot be kept would not be repeated. */
    a = cpubind_input_cache_add(answers, host->sys, name);
    if (!a)
        return cpubind_input_failed(ENOMEM, "memory");
    host->bytes.len = 0;
    cpubind_input input = fetch_input(host, name);
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
    for (int i = 0; i < N_COMMANDS; i++)
        if (host->unreaped[i])
            cpubind_command_reap(host->unreaped[i], host->sys);
    if (host->unreaped_board)
        cpubind_command_reap(host->unreaped_board, host->sys);
    if (host->root.fd >= 0)
        host->sys->close(host->root.fd);
    cpubind_host_files_free(host->held);
    cpubind_input_cache_free(&host->files);
    cpubind_input_cache_free(&host->folders);
    cpubind_bytes_free(&host->bytes);
    free(host);
}
