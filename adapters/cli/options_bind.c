/* options_bind.c - the options of the commands that change a host
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "options.h"

#define MAX_WATCH_SECONDS 3600

static int read_pid(const cli_reading *r, const char *text)
{
    if (!cli_read_number(text, &r->options->pid) || r->options->pid < 1)
        return cli_wrong(r, "--pid is not the number of a process", text);
    return 1;
}

static int read_npu(const cli_reading *r, const char *text)
{
    if (!cli_read_number(text, &r->options->one_npu) ||
        r->options->one_npu >= CPUBIND_MAX_DEVICES)
        return cli_wrong(r, "--npu is not the logic id of an NPU", text);
    r->options->npu_text = text;
    return 1;
}

static int choose_memory(const cli_reading *r, const char *word)
{
    static const cli_choice ways[] = {{"migrate", CPUBIND_MEMORY_MIGRATE},
                                      {"prefer", CPUBIND_MEMORY_PREFER},
                                      {"none", CPUBIND_MEMORY_NONE}};
    int32_t value = 0;
    if (!cli_choose(r, ways, COUNT(ways), "memory", word, &value))
        return 0;
    r->options->memory = (cpubind_memory_how)value;
    r->options->has_memory = 1;
    return 1;
}

static int choose_irqbalance(const cli_reading *r, const char *word)
{
    static const cli_choice ways[] = {{"leave", CPUBIND_IRQBALANCE_LEAVE},
                                      {"ban", CPUBIND_IRQBALANCE_BAN},
                                      {"stop", CPUBIND_IRQBALANCE_STOP}};
    int32_t value = 0;
    if (!cli_choose(r, ways, COUNT(ways), "irqbalance", word, &value))
        return 0;
    r->options->irqbalance = (cpubind_irqbalance_how)value;
    return 1;
}

/* "4096", "512M", "200G": bytes. Returns 0 when it is none, or does not fit. */
static int read_bytes(const char *text, int64_t *out)
{
    static const char units[] = "KMGT";
    const size_t digits = strspn(text, "0123456789");
    const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
    int64_t value = 0;
    if (digits == 0 || (text[digits] && (!unit || text[digits + 1])))
        return 0;
    for (size_t i = 0; i < digits; i++) {
        if (value > (INT64_MAX - 9) / 10)
            return 0;
        value = value * 10 + (text[i] - '0');
    }
    for (int64_t i = unit ? unit - units + 1 : 0; i > 0; i--) {
        if (value > INT64_MAX / 1024)
            return 0;
        value *= 1024;
    }
    *out = value;
    return 1;
}

static int read_limit(const cli_reading *r, const char *text)
{
    if (!read_bytes(text, &r->options->memory_limit))
        return cli_wrong(r, "--memory-limit is not a number of bytes, such as 200G", text);
    return 1;
}

/* Whether the word is a role or "pool". */
static int read_wish_role(const char *word, cpubind_thread_wish *wish)
{
    if (strcmp(word, "pool") == 0) {
        wish->kind = CPUBIND_WISH_POOL;
        return 1;
    }
    for (int32_t i = 0; i < CPUBIND_ROLE_COUNT; i++) {
        if (strcmp(cpubind_role_word((cpubind_role)i), word) != 0)
            continue;
        wish->kind = CPUBIND_WISH_ROLE;
        wish->role = (cpubind_role)i;
        return 1;
    }
    return 0;
}

/* The CPUs of a wish; they live as long as the process. */
static int read_wish_list(const cli_reading *r, const char *text, cpubind_thread_wish *wish)
{
    cli_numbers list = {NULL, 0};
    cpubind_text_fault fault = {0};
    cpubind_text_status status = cli_parse_list(text, CPUBIND_MAX_CPUS, &list, &fault);
    if (status == CPUBIND_TEXT_ERR_SPACE)
        return cli_wrong(r, "there is no memory left for this list", text);
    if (status != CPUBIND_TEXT_OK || list.n == 0)
        return cli_wrong(r, "--thread wants NAME=main, acl, release, irq, pool, or CPUs", text);
    wish->kind = CPUBIND_WISH_LIST;
    wish->cpus.cpu = list.item;
    wish->cpus.n = list.n;
    return 1;
}

/* "NAME=ROLE" or "NAME=LIST". A name may hold "=" itself: the last one counts. */
static int read_wish(const cli_reading *r, char *text)
{
    cli_options *o = r->options;
    char *equals = strrchr(text, '=');
    cpubind_thread_wish *wish = &o->wish[o->n_wish];
    if (o->n_wish == CLI_MAX_WISHES)
        return cli_wrong(r, "there are too many --thread", text);
    if (!equals || equals == text)
        return cli_wrong(r, "--thread wants NAME=ROLE or NAME=CPUS", text);
    memset(wish, 0, sizeof *wish);
    if (!read_wish_role(equals + 1, wish) && !read_wish_list(r, equals + 1, wish))
        return 0;
    *equals = '\0'; /* the name ends here; argv is ours to write */
    wish->name = text;
    o->n_wish++;
    return 1;
}

static int read_env(const cli_reading *r, const char *text)
{
    cli_options *o = r->options;
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return cli_wrong(r, "--env wants NAME=VALUE", text);
    if (o->n_env == CLI_MAX_ENV)
        return cli_wrong(r, "there are too many --env", text);
    o->env[o->n_env++] = text;
    return 1;
}

int cli_take_number_word(int argc, char **argv)
{
    optarg = NULL;
    if (optind >= argc || argv[optind][0] == '\0' ||
        argv[optind][strspn(argv[optind], "0123456789")] != '\0')
        return 0;
    optarg = argv[optind];
    return 1;
}

static int read_watch(const cli_reading *r, const char *text)
{
    int32_t seconds = 1;
    if (text &&
        (!cli_read_number(text, &seconds) || seconds < 1 || seconds > MAX_WATCH_SECONDS))
        return cli_wrong(r, "--watch takes seconds from 1 to 3600", text);
    r->options->watch_ms = seconds * 1000;
    return 1;
}

int cli_take_binding(const cli_reading *r, int id)
{
    switch (id) {
    case OPTION_PID:
        return read_pid(r, optarg);
    case OPTION_NPU:
        return read_npu(r, optarg);
    case OPTION_MEMORY:
        return choose_memory(r, optarg);
    case OPTION_MEMORY_LIMIT:
        return read_limit(r, optarg);
    case OPTION_IRQBALANCE:
        return choose_irqbalance(r, optarg);
    case OPTION_THREAD:
        return read_wish(r, optarg);
    case OPTION_ENV:
        return read_env(r, optarg);
    case OPTION_WATCH:
        return read_watch(r, optarg);
    default:
        return 1;
    }
}

const char *cli_binding_conflict(const cli_options *o, enum cli_command command)
{
    if (o->one_npu >= 0 && (o->has_rank || o->request.visible))
        return "--npu names the NPU; --rank and --visible find it: give one";
    if (o->one_npu < 0 && !o->has_rank && command != CLI_VERIFY)
        return "say which NPU: --npu N, or --rank N among those that run and are visible";
    if (command == CLI_APPLY && o->memory == CPUBIND_MEMORY_PREFER)
        return "--memory prefer is for run: a process sets its own memory policy only";
    if (command == CLI_RUN && o->has_memory && o->memory == CPUBIND_MEMORY_MIGRATE)
        return "--memory migrate is for apply: a command that starts has no memory yet";
    if (o->memory_limit >= 0 && o->memory == CPUBIND_MEMORY_NONE)
        return "--memory-limit is a limit of --memory migrate";
    return NULL;
}
