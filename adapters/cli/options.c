/* options.c - the words of the command line
 * SPDX-License-Identifier: MIT
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "../text/cpulist.h"
#include "../text/procfs.h"
#include "cli.h"

#define MAX_JOBS          1024
#define MAX_WATCH_SECONDS 3600

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof *(array)))

#define LIVE  (CLI_APPLY | CLI_RUN | CLI_VERIFY)
#define HOST  (CLI_PLAN | CLI_CAPTURE | LIVE)
#define CASE  (HOST | CLI_CASE)
#define STORE (CLI_LIST | CLI_SHOW | CLI_IMPORT | CLI_EXPORT | CLI_REPLAY | CLI_ACCEPT)
#define EVERY (HOST | STORE | CLI_RESTORE)

/* Every option: (id, word, whether it has a value, the commands that have it). */
#define OPTION_LIST(X)                                                                         \
    X(ROOT, "root", required_argument, HOST)                                                   \
    X(FIXTURE, "fixture", required_argument, CLI_PLAN | LIVE)                                  \
    X(DB, "db", required_argument, HOST | STORE)                                               \
    X(TYPE, "device-type", required_argument, CASE)                                            \
    X(NPUS, "npus", required_argument, CLI_PLAN | CLI_CAPTURE | CLI_CASE)                      \
    X(VISIBLE, "visible", required_argument, CASE)                                             \
    X(RANK, "rank", required_argument, CASE)                                                   \
    X(ALLOWED, "allowed", required_argument, CASE)                                             \
    X(EXCLUDE, "exclude", required_argument, CASE)                                             \
    X(STRATEGY, "strategy", required_argument, CASE)                                           \
    X(OVERLAP, "overlap", required_argument, CASE)                                             \
    X(OUTPUT, "output", required_argument, CLI_CAPTURE)                                        \
    X(NAME, "name", required_argument, CLI_CAPTURE)                                            \
    X(PRODUCT, "product", required_argument, CLI_CAPTURE)                                      \
    X(NOTES, "notes", required_argument, CLI_CAPTURE)                                          \
    X(REDACT, "redact", no_argument, CLI_CAPTURE)                                              \
    X(REPLACE, "replace", no_argument, CLI_CAPTURE | CLI_IMPORT | CLI_EXPORT)                  \
    X(JOBS, "jobs", required_argument, CLI_REPLAY)                                             \
    X(FORMAT, "format", required_argument, CLI_REPLAY)                                         \
    X(PID, "pid", required_argument, CLI_APPLY | CLI_VERIFY | CLI_RESTORE)                     \
    X(NPU, "npu", required_argument, LIVE)                                                     \
    X(THREAD, "thread", required_argument, LIVE)                                               \
    X(MEMORY, "memory", required_argument, LIVE)                                               \
    X(MEMORY_LIMIT, "memory-limit", required_argument, CLI_APPLY)                              \
    X(IRQBALANCE, "irqbalance", required_argument, CLI_APPLY | CLI_RUN)                        \
    X(ANY_ARCH, "any-arch", no_argument, CLI_APPLY | CLI_RUN)                                  \
    X(WATCH, "watch", no_argument, CLI_APPLY)                                                  \
    X(ENV, "env", required_argument, CLI_RUN)                                                  \
    X(STATE, "state", required_argument, LIVE | CLI_RESTORE)                                   \
    X(ALL, "all", no_argument, CLI_RESTORE)                                                    \
    X(JSON, "json", no_argument, HOST | CLI_RESTORE | CLI_LIST | CLI_SHOW | CLI_REPLAY)        \
    X(QUIET, "quiet", no_argument,                                                             \
      HOST | CLI_RESTORE | CLI_IMPORT | CLI_EXPORT | CLI_REPLAY | CLI_ACCEPT)                  \
    X(HELP, "help", no_argument, EVERY)                                                        \
    X(VERSION, "version", no_argument, EVERY)

enum option_id {
    OPTION_NONE = 255,
#define CLI_X(id, word, has_value, commands) OPTION_##id,
    OPTION_LIST(CLI_X)
#undef CLI_X
};

/* A word of a closed set. */
typedef struct choice {
    const char *word;
    int32_t value;
} choice;

/* What is being read. The functions below return 0, and why in *why, when it is wrong. */
typedef struct reading {
    const cli_help *help;
    cli_options *options;
    cli_text *why;
} reading;

static int wrong(const reading *r, const char *what, const char *value)
{
    cli_add(r->why, "%s: \"%s\"; try: cpubind %s --help", what, value, r->help->words);
    return 0;
}

static int choose(const reading *r, const choice *choices, int32_t n, const char *option,
                  const char *word, int32_t *out)
{
    for (int32_t i = 0; i < n; i++) {
        if (strcmp(choices[i].word, word) != 0)
            continue;
        *out = choices[i].value;
        return 1;
    }
    cli_add(r->why, "--%s does not know \"%s\"; it knows", option, word);
    for (int32_t i = 0; i < n; i++)
        cli_add(r->why, "%s %s", i ? "," : "", choices[i].word);
    return 0;
}

static int choose_type(const reading *r, const char *word)
{
    choice types[CPUBIND_TYPE_COUNT];
    int32_t value = 0;
    for (int32_t i = 0; i < COUNT(types); i++)
        types[i] = (choice){cpubind_type_word((cpubind_device_type)i), i};
    if (!choose(r, types, COUNT(types), "device-type", word, &value))
        return 0;
    r->options->request.type = (cpubind_device_type)value;
    return 1;
}

static int choose_strategy(const reading *r, const char *word)
{
    static const choice strategies[] = {{"auto", -1},
#define CLI_X(name, word) {word, CPUBIND_##name},
                                        CLI_STRATEGY_LIST(CLI_X)
#undef CLI_X
    };
    int32_t value = -1;
    if (!choose(r, strategies, COUNT(strategies), "strategy", word, &value))
        return 0;
    r->options->request.is_auto_strategy = value < 0;
    if (value >= 0)
        r->options->request.strategy = (cpubind_strategy)value;
    return 1;
}

static int choose_overlap(const reading *r, const char *word)
{
    static const choice policies[] = {{"resolve", CPUBIND_OVERLAP_RESOLVE},
                                      {"keep", CPUBIND_OVERLAP_KEEP},
                                      {"refuse", CPUBIND_OVERLAP_REFUSE}};
    int32_t value = 0;
    if (!choose(r, policies, COUNT(policies), "overlap", word, &value))
        return 0;
    r->options->request.overlap = (cpubind_overlap)value;
    return 1;
}

static int choose_format(const reading *r, const char *word)
{
    static const choice formats[] = {
        {"text", CLI_FORMAT_TEXT}, {"tap", CLI_FORMAT_TAP}, {"junit", CLI_FORMAT_JUNIT}};
    int32_t value = 0;
    if (!choose(r, formats, COUNT(formats), "format", word, &value))
        return 0;
    r->options->format = (cli_format)value;
    return 1;
}

/* Length of an argument; one past all limits counts as too long to be anything. */
static int32_t length(const char *text)
{
    size_t n = strlen(text);
    return n > CPUBIND_TEXT_MAX ? CPUBIND_TEXT_MAX : (int32_t)n;
}

static cpubind_text_status parse_list(const char *text, int32_t limit, cli_numbers *out,
                                      cpubind_text_fault *fault)
{
    const int32_t len = length(text);
    int32_t n = 0;
    cpubind_text_status status = cpubind_cpulist_parse(text, len, limit, NULL, 0, &n, fault);
    free(out->item);
    *out = (cli_numbers){NULL, 0};
    if (status != CPUBIND_TEXT_ERR_SPACE)
        return status;
    out->item = (int32_t *)malloc((size_t)n * sizeof *out->item);
    if (!out->item)
        return status;
    out->n = n;
    return cpubind_cpulist_parse(text, len, limit, out->item, n, &n, fault);
}

static int read_list(const reading *r, const char *option, const char *text, int32_t limit,
                     cli_numbers *out)
{
    cpubind_text_fault fault = {0};
    switch (parse_list(text, limit, out, &fault)) {
    case CPUBIND_TEXT_OK:
        return 1;
    case CPUBIND_TEXT_ERR_SPACE:
        return wrong(r, "there is no memory left for this list", text);
    default:
        cli_add(r->why, "--%s \"%s\", character %d: %s; such as 0-3,6", option, text,
                (int)fault.offset + 1, fault.what);
        return 0;
    }
}

static int read_npus(const reading *r, const char *text)
{
    cli_options *o = r->options;
    if (!read_list(r, "npus", text, CPUBIND_MAX_DEVICES, &o->npus))
        return 0;
    if (o->npus.n == 0)
        return wrong(r, "--npus names no NPU", text);
    o->request.npu = o->npus.item;
    o->request.n_npu = o->npus.n;
    return 1;
}

static int read_allowed(const reading *r, const char *text)
{
    cli_options *o = r->options;
    if (!read_list(r, "allowed", text, CPUBIND_MAX_CPUS, &o->allowed))
        return 0;
    if (o->allowed.n == 0)
        return wrong(r, "--allowed names no CPU", text);
    o->request.allowed = o->allowed.item;
    o->request.n_allowed = o->allowed.n;
    return 1;
}

static int read_exclude(const reading *r, const char *text)
{
    cli_options *o = r->options;
    if (!read_list(r, "exclude", text, CPUBIND_MAX_CPUS, &o->exclude))
        return 0;
    if (o->exclude.n == 0)
        return wrong(r, "--exclude names no CPU", text);
    o->request.exclude = o->exclude.item;
    o->request.n_exclude = o->exclude.n;
    return 1;
}

/* A number without a sign or a blank. */
static int read_number(const char *text, int32_t *out)
{
    return text[strspn(text, "0123456789")] == '\0' &&
           cpubind_number_parse(text, length(text), out, NULL) == CPUBIND_TEXT_OK;
}

static int read_rank(const reading *r, const char *text)
{
    if (!read_number(text, &r->options->request.rank))
        return wrong(r, "--rank is not a number from 0", text);
    r->options->has_rank = 1;
    return 1;
}

static int read_jobs(const reading *r, const char *text)
{
    int32_t *jobs = &r->options->jobs;
    if (!read_number(text, jobs) || *jobs < 1 || *jobs > MAX_JOBS)
        return wrong(r, "--jobs is not a number from 1 to 1024", text);
    return 1;
}

/* == Of the commands that bind =============================================== */

static int read_pid(const reading *r, const char *text)
{
    if (!read_number(text, &r->options->pid) || r->options->pid < 1)
        return wrong(r, "--pid is not the number of a process", text);
    return 1;
}

static int read_npu(const reading *r, const char *text)
{
    if (!read_number(text, &r->options->one_npu) || r->options->one_npu >= CPUBIND_MAX_DEVICES)
        return wrong(r, "--npu is not the logic id of an NPU", text);
    r->options->npu_text = text;
    return 1;
}

static int choose_memory(const reading *r, const char *word)
{
    static const choice ways[] = {{"migrate", CPUBIND_MEMORY_MIGRATE},
                                  {"prefer", CPUBIND_MEMORY_PREFER},
                                  {"none", CPUBIND_MEMORY_NONE}};
    int32_t value = 0;
    if (!choose(r, ways, COUNT(ways), "memory", word, &value))
        return 0;
    r->options->memory = (cpubind_memory_how)value;
    r->options->has_memory = 1;
    return 1;
}

static int choose_irqbalance(const reading *r, const char *word)
{
    static const choice ways[] = {{"leave", CPUBIND_IRQBALANCE_LEAVE},
                                  {"ban", CPUBIND_IRQBALANCE_BAN},
                                  {"stop", CPUBIND_IRQBALANCE_STOP}};
    int32_t value = 0;
    if (!choose(r, ways, COUNT(ways), "irqbalance", word, &value))
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

static int read_limit(const reading *r, const char *text)
{
    if (!read_bytes(text, &r->options->memory_limit))
        return wrong(r, "--memory-limit is not a number of bytes, such as 200G", text);
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
static int read_wish_list(const reading *r, const char *text, cpubind_thread_wish *wish)
{
    cli_numbers list = {NULL, 0};
    cpubind_text_fault fault = {0};
    cpubind_text_status status = parse_list(text, CPUBIND_MAX_CPUS, &list, &fault);
    if (status == CPUBIND_TEXT_ERR_SPACE)
        return wrong(r, "there is no memory left for this list", text);
    if (status != CPUBIND_TEXT_OK || list.n == 0)
        return wrong(r, "--thread wants NAME=main, acl, release, irq, pool, or CPUs", text);
    wish->kind = CPUBIND_WISH_LIST;
    wish->cpus.cpu = list.item;
    wish->cpus.n = list.n;
    return 1;
}

/* "NAME=ROLE" or "NAME=LIST". A name may hold "=" itself: the last one counts. */
static int read_wish(const reading *r, char *text)
{
    cli_options *o = r->options;
    char *equals = strrchr(text, '=');
    cpubind_thread_wish *wish = &o->wish[o->n_wish];
    if (o->n_wish == CLI_MAX_WISHES)
        return wrong(r, "there are too many --thread", text);
    if (!equals || equals == text)
        return wrong(r, "--thread wants NAME=ROLE or NAME=CPUS", text);
    memset(wish, 0, sizeof *wish);
    if (!read_wish_role(equals + 1, wish) && !read_wish_list(r, equals + 1, wish))
        return 0;
    *equals = '\0'; /* the name ends here; argv is ours to write */
    wish->name = text;
    o->n_wish++;
    return 1;
}

static int read_env(const reading *r, const char *text)
{
    cli_options *o = r->options;
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return wrong(r, "--env wants NAME=VALUE", text);
    if (o->n_env == CLI_MAX_ENV)
        return wrong(r, "there are too many --env", text);
    o->env[o->n_env++] = text;
    return 1;
}

static int take_number_word(int argc, char **argv)
{
    optarg = NULL;
    if (optind >= argc || argv[optind][0] == '\0' ||
        argv[optind][strspn(argv[optind], "0123456789")] != '\0')
        return 0;
    optarg = argv[optind];
    return 1;
}

static int read_watch(const reading *r, const char *text)
{
    int32_t seconds = 1;
    if (text && (!read_number(text, &seconds) || seconds < 1 || seconds > MAX_WATCH_SECONDS))
        return wrong(r, "--watch takes seconds from 1 to 3600", text);
    r->options->watch_ms = seconds * 1000;
    return 1;
}

static int take_binding(const reading *r, int id)
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

/* == All options ============================================================ */

static const struct {
    struct option option;
    const char *dashed;
    int commands;
} all_options[] = {
#define CLI_X(id, word, has_value, commands)                                                   \
    {{word, has_value, NULL, OPTION_##id}, "--" word, commands},
    OPTION_LIST(CLI_X)
#undef CLI_X
};

/* The options that are texts or switches; 0 when `id` is none of them. */
static int take_plain(int id, cli_options *o)
{
    switch (id) {
    case OPTION_ROOT:
        o->root = optarg;
        return 1;
    case OPTION_FIXTURE:
        o->fixture = optarg;
        return 1;
    case OPTION_DB:
        o->db = optarg;
        return 1;
    case OPTION_OUTPUT:
        o->output = optarg;
        return 1;
    case OPTION_NAME:
        o->name = optarg;
        return 1;
    case OPTION_PRODUCT:
        o->product = optarg;
        return 1;
    case OPTION_NOTES:
        o->notes = optarg;
        return 1;
    case OPTION_STATE:
        o->state = optarg;
        return 1;
    default:
        return 0;
    }
}

static int take_switch(int id, cli_options *o)
{
    int *const switches[] = {&o->redact, &o->replace, &o->json,     &o->quiet,
                             &o->help,   &o->version, &o->any_arch, &o->all};
    static const int ids[] = {OPTION_REDACT, OPTION_REPLACE, OPTION_JSON,     OPTION_QUIET,
                              OPTION_HELP,   OPTION_VERSION, OPTION_ANY_ARCH, OPTION_ALL};
    for (int32_t i = 0; i < COUNT(ids); i++) {
        if (ids[i] != id)
            continue;
        *switches[i] = 1;
        return 1;
    }
    return 0;
}

static int take_option(const reading *r, int id)
{
    cli_options *o = r->options;
    switch (id) {
    case OPTION_TYPE:
        return choose_type(r, optarg);
    case OPTION_NPUS:
        return read_npus(r, optarg);
    case OPTION_VISIBLE:
        o->request.visible = optarg;
        o->request.visible_len = length(optarg);
        return 1;
    case OPTION_RANK:
        return read_rank(r, optarg);
    case OPTION_ALLOWED:
        return read_allowed(r, optarg);
    case OPTION_EXCLUDE:
        return read_exclude(r, optarg);
    case OPTION_STRATEGY:
        return choose_strategy(r, optarg);
    case OPTION_OVERLAP:
        return choose_overlap(r, optarg);
    case OPTION_JOBS:
        return read_jobs(r, optarg);
    case OPTION_FORMAT:
        return choose_format(r, optarg);
    default:
        return take_plain(id, o) || take_switch(id, o) || take_binding(r, id);
    }
}

/* Keeps an option that says what is planned: "--npus", "0-3". Past the room, which each option
 * of every kind fits in, the arguments are too many to be meant. */
static int keep(const reading *r, int id)
{
    cli_options *o = r->options;
    for (int32_t i = 0; i < COUNT(all_options); i++) {
        if (all_options[i].option.val != id || !(all_options[i].commands & CLI_CASE))
            continue;
        if (o->n_arg + 2 > CLI_MAX_ARGS)
            return wrong(r, "there are too many options", optarg);
        o->arg[o->n_arg++] = all_options[i].dashed;
        o->arg[o->n_arg++] = optarg;
    }
    return 1;
}

/* The options of one command, ended by zeros. */
static void select_options(enum cli_command command, struct option *out)
{
    for (int32_t i = 0; i < COUNT(all_options); i++)
        if (all_options[i].commands & (int)command)
            *out++ = all_options[i].option;
    *out = (struct option){NULL, 0, NULL, 0};
}

static const char *short_options(enum cli_command command)
{
    if (command == CLI_CASE)
        return ":";
    /* "+": what stands behind the command's own words is the command that is run. */
    return command == CLI_CAPTURE ? ":hVo:" : command == CLI_RUN ? "+:hV" : ":hV";
}

static int id_of_letter(int id)
{
    return id == 'h'   ? OPTION_HELP
           : id == 'V' ? OPTION_VERSION
           : id == 'o' ? OPTION_OUTPUT
                       : id;
}

void cli_free_options(cli_options *options)
{
    free(options->npus.item);
    free(options->allowed.item);
    free(options->exclude.item);
    memset(options, 0, sizeof *options);
}

int cli_parse(int argc, char **argv, enum cli_command command, cli_options *out, cli_text *why)
{
    struct option known[COUNT(all_options) + 1];
    const reading r = {cli_help_of(command), out, why};
    int id;
    memset(out, 0, sizeof *out);
    out->command = command;
    out->request.is_auto_strategy = 1;
    out->one_npu = -1;
    out->memory_limit = -1;
    select_options(command, known);
    optind = 0; /* start anew, also in the middle of an earlier reading */
    opterr = 0;
    while ((id = getopt_long(argc, argv, short_options(command), known, NULL)) != -1) {
        if (id == ':')
            return wrong(&r, "this option requires an argument", argv[optind - 1]);
        if (id == '?')
            return wrong(&r, "this command has no such option", argv[optind - 1]);
        id = id_of_letter(id);
        if (id == OPTION_WATCH)
            optind += take_number_word(argc, argv);
        if (!take_option(&r, id) || !keep(&r, id))
            return 0;
        if (out->help || out->version)
            return 1;
    }
    out->word = argv + optind;
    out->n_word = argc - optind;
    return 1;
}

/* What is wrong with the options of a command that binds, or NULL. */
static const char *binding_conflict(const cli_options *o, enum cli_command command)
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

/* What is wrong with options that are good each for itself, or NULL. */
static const char *conflict(const cli_options *o, enum cli_command command)
{
    if (o->root && o->fixture)
        return "--root and --fixture each name a host; give one";
    if ((command & (CLI_PLAN | LIVE)) && o->db && !o->fixture)
        return "--db needs the name of a host, --fixture NAME";
    if (command == CLI_CAPTURE && !o->output == !o->db)
        return "say where to: either -o DIR, or --db FILE --name NAME";
    if (command == CLI_CAPTURE && o->db && !o->name)
        return "--db needs the name that the host gets, --name NAME";
    if ((command & CLI_BINDING) && !(command & CLI_RESTORE))
        return binding_conflict(o, command);
    if (o->all && (o->pid || o->state))
        return "--all is every process on record; give it alone";
    if (o->json && o->format != CLI_FORMAT_TEXT)
        return "--json and --format each say how to print; give one";
    return NULL;
}

/* How many words each command takes. */
static const char *count_fault(int n, enum cli_command command)
{
    switch (command) {
    case CLI_SHOW:
        return n < 1 || n > 2 ? "it takes the NAME of a host, and perhaps of an INPUT" : NULL;
    case CLI_IMPORT:
        return n < 1 ? "it takes the folders of hosts" : NULL;
    case CLI_EXPORT:
        return n != 2 ? "it takes the NAME of a host and a DIR" : NULL;
    case CLI_RUN:
        return n < 1 ? "it takes a COMMAND" : NULL;
    case CLI_ACCEPT:
        return n < 1 ? "it takes the NAME of a host" : NULL;
    default:
        return NULL;
    }
}

static int check(const cli_options *o, enum cli_command command, cli_text *why)
{
    const cli_help *help = cli_help_of(command);
    const char *what = conflict(o, command);
    const int takes_words =
        command & (CLI_SHOW | CLI_IMPORT | CLI_EXPORT | CLI_REPLAY | CLI_ACCEPT | CLI_RUN);
    if (!takes_words && o->n_word > 0) {
        cli_add(why, "this word is no option: \"%s\"; try: cpubind %s --help", o->word[0],
                help->words);
        return 0;
    }
    if (!what)
        what = count_fault(o->n_word, command);
    if (what)
        cli_add(why, "%s; try: cpubind %s --help", what, help->words);
    return !what;
}

int cli_start(int argc, char **argv, enum cli_command command, cli_options *out)
{
    cli_text why = {"", 0};
    int good = cli_parse(argc, argv, command, out, &why);
    if (good && out->help) {
        cli_print_help_of(stdout, command);
        return CLI_DONE;
    }
    if (good && out->version) {
        puts("cpubind " CPUBIND_VERSION);
        return CLI_DONE;
    }
    if (good && check(out, command, &why))
        return -1;
    fprintf(stderr, "cpubind: %s\n", why.text);
    return CLI_USAGE;
}
