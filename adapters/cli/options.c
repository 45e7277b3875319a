/* options.c - the words of the command line
 * SPDX-License-Identifier: MIT
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "../text/procfs.h"
#include "options.h"

#define MAX_JOBS 1024

int cli_wrong(const cli_reading *r, const char *what, const char *value)
{
    cli_add(r->why, "%s: \"%s\"; try: cpubind %s --help", what, value, r->help->words);
    return 0;
}

int cli_choose(const cli_reading *r, const cli_choice *choices, int32_t n, const char *option,
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

static int choose_type(const cli_reading *r, const char *word)
{
    static const cli_choice types[] = {
#define CLI_X(name, word) {word, CPUBIND_TYPE_##name},
        CPUBIND_TYPE_LIST(CLI_X)
#undef CLI_X
    };
    int32_t value = 0;
    if (!cli_choose(r, types, COUNT(types), "device-type", word, &value))
        return 0;
    r->options->request.type = (cpubind_device_type)value;
    return 1;
}

static int choose_strategy(const cli_reading *r, const char *word)
{
    static const cli_choice strategies[] = {{"auto", -1},
#define CLI_X(name, word) {word, CPUBIND_##name},
                                            CLI_STRATEGY_LIST(CLI_X)
#undef CLI_X
    };
    int32_t value = -1;
    if (!cli_choose(r, strategies, COUNT(strategies), "strategy", word, &value))
        return 0;
    r->options->request.is_auto_strategy = value < 0;
    if (value >= 0)
        r->options->request.strategy = (cpubind_strategy)value;
    return 1;
}

static int choose_overlap(const cli_reading *r, const char *word)
{
    static const cli_choice policies[] = {{"resolve", CPUBIND_OVERLAP_RESOLVE},
                                          {"keep", CPUBIND_OVERLAP_KEEP},
                                          {"refuse", CPUBIND_OVERLAP_REFUSE}};
    int32_t value = 0;
    if (!cli_choose(r, policies, COUNT(policies), "overlap", word, &value))
        return 0;
    r->options->request.overlap = (cpubind_overlap)value;
    return 1;
}

static int choose_format(const cli_reading *r, const char *word)
{
    static const cli_choice formats[] = {
        {"text", CLI_FORMAT_TEXT}, {"tap", CLI_FORMAT_TAP}, {"junit", CLI_FORMAT_JUNIT}};
    int32_t value = 0;
    if (!cli_choose(r, formats, COUNT(formats), "format", word, &value))
        return 0;
    r->options->format = (cli_format)value;
    return 1;
}

/* Length of an argument; one past all limits counts as too long to be anything. */
int32_t cli_length(const char *text)
{
    size_t n = strlen(text);
    return n > CPUBIND_TEXT_MAX ? CPUBIND_TEXT_MAX : (int32_t)n;
}

cpubind_text_status cli_parse_list(const char *text, int32_t limit, cli_numbers *out,
                                   cpubind_text_fault *fault)
{
    const int32_t len = cli_length(text);
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

static int read_list(const cli_reading *r, const char *option, const char *text, int32_t limit,
                     cli_numbers *out)
{
    cpubind_text_fault fault = {0};
    switch (cli_parse_list(text, limit, out, &fault)) {
    case CPUBIND_TEXT_OK:
        return 1;
    case CPUBIND_TEXT_ERR_SPACE:
        return cli_wrong(r, "there is no memory left for this list", text);
    default:
        cli_add(r->why, "--%s \"%s\", character %d: %s; such as 0-3,6", option, text,
                (int)fault.offset + 1, fault.what);
        return 0;
    }
}

static int read_npus(const cli_reading *r, const char *text)
{
    cli_options *o = r->options;
    if (!read_list(r, "npus", text, CPUBIND_MAX_DEVICES, &o->npus))
        return 0;
    if (o->npus.n == 0)
        return cli_wrong(r, "--npus names no NPU", text);
    o->request.npu = o->npus.item;
    o->request.n_npu = o->npus.n;
    return 1;
}

static int read_allowed(const cli_reading *r, const char *text)
{
    cli_options *o = r->options;
    if (!read_list(r, "allowed", text, CPUBIND_MAX_CPUS, &o->allowed))
        return 0;
    if (o->allowed.n == 0)
        return cli_wrong(r, "--allowed names no CPU", text);
    o->request.allowed = o->allowed.item;
    o->request.n_allowed = o->allowed.n;
    return 1;
}

static int read_exclude(const cli_reading *r, const char *text)
{
    cli_options *o = r->options;
    if (!read_list(r, "exclude", text, CPUBIND_MAX_CPUS, &o->exclude))
        return 0;
    if (o->exclude.n == 0)
        return cli_wrong(r, "--exclude names no CPU", text);
    o->request.exclude = o->exclude.item;
    o->request.n_exclude = o->exclude.n;
    return 1;
}

/* A number without a sign or a blank. */
int cli_read_number(const char *text, int32_t *out)
{
    return text[strspn(text, "0123456789")] == '\0' &&
           cpubind_number_parse(text, cli_length(text), out, NULL) == CPUBIND_TEXT_OK;
}

static int read_rank(const cli_reading *r, const char *text)
{
    if (!cli_read_number(text, &r->options->request.rank))
        return cli_wrong(r, "--rank is not a number from 0", text);
    r->options->has_rank = 1;
    return 1;
}

static int read_jobs(const cli_reading *r, const char *text)
{
    int32_t *jobs = &r->options->jobs;
    if (!cli_read_number(text, jobs) || *jobs < 1 || *jobs > MAX_JOBS)
        return cli_wrong(r, "--jobs is not a number from 1 to 1024", text);
    return 1;
}

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

static int take_option(const cli_reading *r, int id)
{
    cli_options *o = r->options;
    switch (id) {
    case OPTION_TYPE:
        return choose_type(r, optarg);
    case OPTION_NPUS:
        return read_npus(r, optarg);
    case OPTION_VISIBLE:
        o->request.visible = optarg;
        o->request.visible_len = cli_length(optarg);
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
        return take_plain(id, o) || take_switch(id, o) || cli_take_binding(r, id);
    }
}

/* Keeps an option that says what is planned: "--npus", "0-3". Past the room, which each option
 * of every kind fits in, the arguments are too many to be meant. */
static int keep(const cli_reading *r, int id)
{
    cli_options *o = r->options;
    for (int32_t i = 0; i < COUNT(all_options); i++) {
        if (all_options[i].option.val != id || !(all_options[i].commands & CLI_CASE))
            continue;
        if (o->n_arg + 2 > CLI_MAX_ARGS)
            return cli_wrong(r, "there are too many options", optarg);
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
    const cli_reading r = {cli_help_of(command), out, why};
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
            return cli_wrong(&r, "this option requires an argument", argv[optind - 1]);
        if (id == '?')
            return cli_wrong(&r, "this command has no such option", argv[optind - 1]);
        id = id_of_letter(id);
        if (id == OPTION_WATCH)
            optind += cli_take_number_word(argc, argv);
        if (!take_option(&r, id) || !keep(&r, id))
            return 0;
        if (out->help || out->version)
            return 1;
    }
    out->word = argv + optind;
    out->n_word = argc - optind;
    return 1;
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
        return cli_binding_conflict(o, command);
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
        fputs(cli_help_of(command)->text, stdout);
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
