/* command_line.c - read a command line, and check its options against each other
 * SPDX-License-Identifier: MIT
 *
 * Opens nothing and asks nothing of the host. What each option does is in the table of
 * adapters/api/options.c. An option is written in full: an abbreviation would become another
 * option with the next version.
 */
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "../api/picture.h"
#include "../api/settings.h"
#include "cli.h"
#include "run_numa.h"

#define CHANGING     (API_IMPORT | API_ACCEPT | API_REMOVE | API_RENAME)
#define COUNT(array) ((int32_t)(sizeof(array) / sizeof *(array)))

static int refuse(const api_reading *r, const char *what, const char *value)
{
    api_add(r->why, "%s: \"%s\"; try: cpubind %s --help", what, value, r->words);
    return 0;
}

/* A part of a command line. */
typedef enum part_kind { PART_END, PART_WORD, PART_OPTION, PART_FAULT } part_kind;

typedef struct part {
    part_kind kind;
    char *text;            /* the word as it was written */
    const char *value;     /* of an option; NULL: it has none */
    const api_option *row; /* of an option that the command has */
    const char *fault;     /* of an option */
} part;

/* A walk over a command line. */
typedef struct walk {
    enum api_command command;
    char **argv;
    int argc;
    int next;
    int is_over; /* the words that follow are no options */
} walk;

/* The row of an option as it was written, with its value where that is in the same word. */
static const api_option *row_of(enum api_command command, const char *text, const char **value)
{
    const size_t n = strcspn(text, "=");
    const int is_long = text[1] == '-';
    *value = NULL;
    for (const api_option *row = api_option_rows; row->dashed; row++) {
        if (!(row->commands & (int)command))
            continue;
        if (is_long && strlen(row->dashed) == n && strncmp(row->dashed, text, n) == 0) {
            *value = text[n] ? text + n + 1 : NULL;
            return row;
        }
        if (!is_long && row->letter == text[1]) {
            *value = text[2] ? text + 2 : NULL;
            return row;
        }
    }
    return NULL;
}

/* What options are called elsewhere. value: an example; NULL: that of the help will do. */
static const struct {
    const char *theirs, *ours, *value;
} foreign_names[] = {
    {"-p", "--pid", NULL}, /* taskset */
    {"--process", "--pid", NULL},
    {"-c", "--allowed", NULL},                    /* taskset */
    {"-C", "--allowed", NULL},                    /* numactl */
    {"--cpu-list", "--allowed", "0-95"},          /* taskset */
    {"--physcpubind", "--allowed", "0-95"},       /* numactl */
    {"--cpus", "--allowed", "0-95"},              /* docker, which counts them, too */
    {"--cpuset-cpus", "--allowed", "0-95"},       /* docker */
    {"--numa-bind-cpus", "--allowed", "0-95"},    /* vLLM */
    {"--isolated", "--exclude", "0-3"},           /* isolcpus= of the kernel */
    {"--reserved-cpus", "--keep", "0-3"},         /* kubelet */
    {"--cpunodebind", "--device", "gpu0"},        /* numactl: the node is the device's */
    {"--cpunodebind", "--numa-bind-nodes", NULL}, /* and, of a rank, without NPUs */
    {"-N", "--device", "gpu0"},
    {"-N", "--numa-bind-nodes", NULL},
    {"--numa-node", "--device", "gpu0"}, /* SGLang */
    {"--numa-node", "--numa-bind-nodes", NULL},
    {"--numa-bind-nodes", "--device", "gpu0"}, /* vLLM */
    {"--membind", "--memory", NULL},           /* numactl */
    {"-m", "--memory", NULL},
    {"--preferred", "--memory", NULL},
    {"--local-rank", "--rank", NULL}, /* torchrun */
    {"--local_rank", "--rank", NULL},
    {"--device-id", "--device", "npu0"},
    {"--device_id", "--device", "npu0"},
    {"--device-ids", "--devices", "npu0-3"}, /* vllm-ascend */
    {"--gpu", "--device", "gpu0"},
    {"--gpu", "--devices", "gpu0"},
    {"--gpus", "--devices", "gpu0-1"}, /* docker */
    {"--gpus", "--device", "gpu0"},
    {"-n", "--device", "npu0"},
    {"--npu", "--device", "npu3"}, /* of an earlier cpubind */
    {"--npu", "--devices", "npu3"},
    {"--npus", "--device", "npu3"},
    {"--npus", "--devices", "npu0-3"},
    {"--pci", "--device", "0000:c1:00.0"},
    {"--pci", "--devices", "0000:c1:00.0"},
    {"--class", "--devices", "gpu0-7"},
    {"-i", "--device", "gpu0"}, /* nvidia-smi, npu-smi */
    {"-i", "--devices", "gpu0"},
    {"--host", "--root", "NAME.host"},
    {"--snapshot", "--root", "NAME.host"},
    {"--file", "--root", "NAME.host"},
    {"--sysroot", "--root", "DIR"}, /* lscpu */
    {"--why", "--explain", "npu0"},
    {"--reason", "--explain", "npu0"},
    {"--policy", "--rules", "near"},
    {"--mode", "--rules", "near"},
    {"--interval", "--watch", "5"},
    {"--follow", "--watch", NULL},
    {"-f", "--watch", NULL},
    {"-q", "--quiet", NULL},
    {"-j", "--json", NULL},
    {"-v", "--version", NULL},
};

/* Adds what an option of this command is called that people look for by another name. Returns 0
 * when there is none. */
static int add_foreign_name(enum api_command command, const char *word, api_text *why)
{
    int n = 0;
    for (int32_t i = 0; i < COUNT(foreign_names); i++) {
        const char *value;
        const api_option *row = row_of(command, foreign_names[i].ours, &value);
        if (strcmp(foreign_names[i].theirs, word) != 0 || !row || !row->text)
            continue;
        api_add(why, "%s %s", n++ ? ", or" : "; cpubind calls it", foreign_names[i].ours);
        if (foreign_names[i].value)
            api_add(why, ", such as %s %s", foreign_names[i].ours, foreign_names[i].value);
    }
    return n > 0;
}

/* Adds the command line that does what an option of no command of this kind would do. Returns 0
 * when none does. */
static int add_other_command(enum api_command command, const char *word, api_text *why)
{
    static const struct {
        const char *theirs;
        int commands; /* that are asked for it */
        const char *line;
    } rows[] = {
        {"--dry-run", API_BINDING | API_SERVICE, "plan"},
        {"--simulate", API_BINDING | API_SERVICE, "plan"},
        {"--explain", API_BINDING | API_TOPO, "plan --explain all"},
        {"--undo", ~0, "restore --all"},
        {"--fix", ~API_DOCTOR, "doctor --fix --dry-run"},
        {"--list", API_PLAN | API_LIVE | API_STATUS, "topo"},
        {"--pid", API_PLAN | API_STATUS, "verify --all"},
        {"--compare", API_PLAN, "plan --rules reference"},
        {"--force-lists", API_RUN, "run --numa-bind --device ADDRESS, which takes lists"},
    };
    for (int32_t i = 0; i < COUNT(rows); i++)
        if (rows[i].commands & (int)command && strcmp(rows[i].theirs, word) == 0) {
            api_add(why, "; that is: cpubind %s", rows[i].line);
            return 1;
        }
    return 0;
}

/* Adds how the device is named that an option is the name of: --npu0. Returns 0 for any other
 * option. */
static int add_device(enum api_command command, const char *word, api_text *why)
{
    const char *name = word + 2, *value;
    api_name device;
    if (strncmp(word, "--", 2) != 0 || !row_of(command, "--device", &value) ||
        !api_read_name(name, (int32_t)strlen(name), &device))
        return 0;
    api_add(why, "; a device is named with --device %s", name);
    return 1;
}

/* Adds the commands that have the option, where they are few. Returns 0 when none has. */
static int add_owners(const char *word, api_text *why)
{
    enum { FEW = 4 };
    const char *owner[FEW];
    int n = 0;
    for (const api_option *row = api_option_rows; row->dashed; row++)
        for (uint32_t bit = 1; strcmp(row->dashed, word) == 0 && bit < 1u << 30; bit <<= 1) {
            const cli_help *help = cli_help_of((enum api_command)bit);
            if (!((uint32_t)row->commands & bit) || (uint32_t)help->command != bit)
                continue;
            if (n < FEW)
                owner[n] = help->words;
            n++;
        }
    for (int i = 0; n <= FEW && i < n; i++)
        api_add(why, "%s cpubind %s", i ? "," : "; it is an option of", owner[i]);
    return n > 0;
}

/* Adds what other programs or commands mean by a word that is none, else the options that start
 * with it, else those that are like it. */
static void add_full_names(enum api_command command, const char *text, api_text *why)
{
    char word[64] = "";
    api_hint hint = {.word = word};
    int n = 0;
    (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(text, "="), text);
    if (add_foreign_name(command, word, why) || add_other_command(command, word, why) ||
        api_add_key((int)command, word + (word[1] == '-' ? 2 : 1), 1, why) ||
        (strncmp(word, "--", 2) == 0 && api_add_retired(word + 2, why)))
        return;
    for (const api_option *row = api_option_rows; row->dashed; row++) {
        if (!(row->commands & (int)command) || !row->text || strlen(text) <= 2)
            continue;
        api_hint_try(&hint, row->dashed);
        if (strncmp(row->dashed, word, strlen(word)) == 0)
            api_add(why, "%s %s", n++ ? "," : "; an option is written in full:", row->dashed);
    }
    if (n == 0 && !add_device(command, word, why) && !add_owners(word, why) &&
        !(strlen(word) > 3 && api_add_key((int)command, word + 2, 0, why)))
        api_hint_add(&hint, why);
}

/* The words after those of run are the command that it becomes. */
static part next_part(walk *w)
{
    part p = {PART_END, NULL, NULL, NULL, NULL};
    if (w->next < w->argc && !w->is_over && strcmp(w->argv[w->next], "--") == 0) {
        w->is_over = 1;
        w->next++;
    }
    if (w->next >= w->argc)
        return p;
    p.text = w->argv[w->next++];
    p.kind = PART_WORD;
    w->is_over |= w->command == API_RUN && p.text[0] != '-';
    if (w->is_over || p.text[0] != '-' || p.text[1] == '\0')
        return p;
    p.kind = PART_OPTION;
    p.row = row_of(w->command, p.text, &p.value);
    if (!p.row)
        p.fault = "this command has no such option";
    else if (!p.row->value && p.value)
        p.fault = "this option takes no value";
    else if (api_takes_value(p.row) && !p.value && w->next >= w->argc)
        p.fault = "this option requires an argument";
    else if (api_takes_value(p.row) && !p.value)
        p.value = w->argv[w->next++];
    if (p.fault)
        p.kind = PART_FAULT;
    return p;
}

static int take_option(const api_reading *r, const part *p)
{
    const api_option *row = p->row;
    api_options *o = r->options;
    if (!api_store(r, row, p->value))
        return 0;
    if (!api_is_planned(row, p->value))
        return 1;
    if (o->n_arg + 2 > API_MAX_ARGS)
        return refuse(r, "there are too many options", p->text);
    o->arg[o->n_arg++] = row->letter ? "-o" : row->dashed;
    if (api_takes_value(row))
        o->arg[o->n_arg++] = p->value;
    return 1;
}

/* Whether errors are to be JSON too: --json or such a --format is given, perhaps after the
 * error. */
static int wants_json(int argc, char **argv, enum api_command command)
{
    walk w = {command, argv, argc, 1, 0};
    for (part p = next_part(&w); p.kind != PART_END; p = next_part(&w)) {
        if (p.kind != PART_OPTION)
            continue;
        if (p.row->member == offsetof(api_options, json))
            return 1;
        for (const api_format *f = cli_formats_of(command);
             p.row->member == offsetof(api_options, format_word) && f->word; f++)
            if (f->is_json && p.value && strcmp(f->word, p.value) == 0)
                return 1;
    }
    return 0;
}

int cli_has_json(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0 || strcmp(argv[i], "--format=json") == 0 ||
            (i > 1 && strcmp(argv[i - 1], "--format") == 0 && strcmp(argv[i], "json") == 0))
            return 1;
    return 0;
}

/* Finds the format of --format; without it the first one, with --json the one that is JSON. */
static int choose_format(const api_format *formats, api_options *o, api_text *why)
{
    const api_format *first = formats;
    int is_first;
    if (!formats)
        return 1;
    while (o->format_word && formats->word && strcmp(formats->word, o->format_word) != 0)
        formats++;
    if (o->format_word && !formats->word) {
        api_add(why, "--format does not know \"%s\"; it knows", o->format_word);
        for (formats = first; formats->word; formats++)
            api_add(why, "%s %s", formats > first ? "," : "", formats->word);
        return 0;
    }
    is_first = formats == first;
    o->format = formats;
    o->json |= formats->is_json;
    while (is_first && o->json && !o->format->is_json)
        o->format++;
    return 1;
}

int cli_parse(int argc, char **argv, enum api_command command, api_options *out, api_text *why)
{
    walk w = {command, argv, argc, 1, 0};
    const api_reading r = {cli_help_of(command)->words,
                           out,
                           why,
                           argv,
                           argc,
                           &w.next,
                           api_takes_settings((int)command) ? api_add_setting : NULL};
    api_set_usual(out, command);
    out->word = argv + 1;
    for (part p = next_part(&w); p.kind != PART_END; p = next_part(&w)) {
        if (p.kind == PART_FAULT) {
            (void)refuse(&r, p.fault, p.text);
            if (!p.row)
                add_full_names(command, p.text, why);
            return 0;
        }
        if (p.kind == PART_WORD)
            out->word[out->n_word++] = p.text; /* of argv, from its start */
        else if (!take_option(&r, &p))
            return 0;
        out->help += strcmp(p.text, "-h") == 0;
        if (out->help || out->version)
            return 1;
    }
    out->word[out->n_word] = NULL;
    return choose_format(cli_formats_of(command), out, why) &&
           api_check_index(out, r.words, why);
}

/* Says why options of a command that binds exclude each other; NULL when they do not. */
static const char *binding_conflict(const api_options *o, enum api_command command)
{
    if (api_names_device(o) && (o->request.has_rank || o->request.visible))
        return "--device names the device; --rank and --visible find it: give one";
    if (!api_names_device(o) && !o->request.has_rank && command == API_APPLY && !o->pid)
        return "say which workers: --all, those of the host; --pid N, one; --pid N --tree, "
               "those below it; or --device NAME or --rank N for this shell, as in: "
               "cpubind apply --all";
    if (cli_numa_conflict(o))
        return cli_numa_conflict(o);
    if (!api_names_device(o) && !o->request.has_rank && command == API_RUN && !o->numa_bind &&
        !o->is_auto)
        return "say which device: --tree, all that it starts, each on its own; --auto, by the "
               "rank of its launcher; --device NAME or --rank N, as in: cpubind run --tree -- "
               "vllm serve MODEL";
    if (o->request.n_process > 1 && !o->has_index)
        return "say which of the --processes this one is: --index I, from 0 on";
    if (command == API_APPLY && o->memory == CPUBIND_MEMORY_PREFER)
        return "--memory prefer is for run: a process sets its own memory policy only";
    if (command == API_RUN && o->has_memory &&
        (o->memory == CPUBIND_MEMORY_MIGRATE || o->memory == CPUBIND_MEMORY_ALL))
        return "--memory migrate is for apply: a command that starts has no memory yet";
    return NULL;
}

/* The same for apply --tree and run --tree. */
static const char *tree_conflict(const api_options *o, enum api_command command)
{
    const cpubind_request *q = &o->request;
    if (command == API_APPLY && !o->pid)
        return "--tree is a process and all below it: name it with --pid N";
    if (o->all || api_names_device(o) || q->has_rank || q->visible || o->is_auto)
        return "--tree finds the device of each process: leave out --all, --device, --rank, "
               "--auto and --visible";
    if (o->numa_bind || o->n_numa_node > 0 || o->n_numa_cpus > 0)
        return "--tree binds by the plan: leave out --numa-bind and its lists";
    if (q->n_process > 0 || o->has_index)
        return "--tree counts the processes of each device itself: leave out --processes and "
               "--index";
    return o->memory == CPUBIND_MEMORY_PREFER && (o->has_memory || command == API_APPLY)
               ? "--memory prefer is for a command that runs in place of cpubind: --tree moves "
                 "memory, with --memory migrate or all"
               : NULL;
}

/* The same for apply --all and verify --all. */
static const char *all_conflict(const api_options *o, enum api_command command)
{
    const cpubind_request *q = &o->request;
    if (o->pid || api_names_device(o) || q->has_rank || q->visible)
        return "--all is every process that uses a device: leave out --pid, --device, --rank "
               "and --visible";
    if (q->n_process > 0 || o->has_index)
        return "--all counts the processes of each device itself: leave out --processes and "
               "--index";
    return command == API_APPLY && o->memory == CPUBIND_MEMORY_PREFER
               ? "--memory prefer is for run: a process sets its own memory policy only"
               : NULL;
}

/* The options that say what is printed. */
static const char *printing_conflict(const api_options *o)
{
    const int is_table = !o->format || strcmp(o->format->word, "text") == 0;
    if (o->columns && (o->json || !is_table || o->explain || o->watch_ms > 0))
        return "-o chooses the columns of a table: leave out --json, --format, --explain "
               "and --watch";
    if (o->what_if && (o->columns || o->explain || o->is_workers_alone ||
                       (!is_table && strcmp(o->format->word, "json") != 0)))
        return "--what-if prints a table of figures, or JSON: leave out -o COLUMN, --explain, "
               "--format and --cpu-workers";
    if (o->explain && !o->format) /* status */
        return o->watch_ms > 0 ? "--explain prints once: leave out --watch" : NULL;
    if (o->explain && api_check_explain(o->explain))
        return api_check_explain(o->explain);
    if (o->explain && !o->json && strcmp(o->format->word, "text") != 0)
        return "--explain prints sentences, or JSON; leave out --format";
    return NULL;
}

/* Those that say what is put back. */
static const char *restore_conflict(const api_options *o)
{
    if (o->all && o->pid)
        return "--all is every process on record; give it alone";
    if (o->ends_service && !o->all)
        return "--service ends the service of the host, too: give --all with it";
    if (o->is_ended && (o->pid || o->all))
        return "--ended is every process on record that has ended; give it alone";
    return NULL;
}

/* Those of measure. */
static const char *measure_conflict(const api_options *o)
{
    if (!o->all == !o->pid)
        return "say which workers: --all, those of the host; --pid N, one; --pid N --tree, "
               "those below it, as in: cpubind measure --all";
    if (o->tree && o->all)
        return "--tree is a process and all below it: name it with --pid N";
    if (o->has_memory && o->memory == CPUBIND_MEMORY_PREFER)
        return "--memory prefer is for run: a process sets its own memory policy only";
    return NULL;
}

static const char *service_conflict(const api_options *o)
{
    if (o->ask && (o->is_check || o->root || o->fixture || o->json))
        return "--ask asks a service that runs, and prints a line: leave out "
               "--check, --json, --root and --fixture";
    return NULL;
}

/* Says why options exclude each other; NULL when they do not. */
static const char *conflict(const api_options *o, enum api_command command)
{
    const char *text;
    if ((text = service_conflict(o)) != NULL)
        return text;
    if (!o->request.workers.is_asked && !api_says(o, "cpu-workers") &&
        (api_says(o, "cpu-nodes") || api_says(o, "reserve") || api_says(o, "reserve-host")))
        return "cpu-nodes, reserve and reserve-host are about CPU workers: give --cpu-workers "
               "N, too";
    if (o->is_workers_alone && o->explain)
        return "--cpu-workers prints the workers alone: leave out --explain";
    if (o->root && o->fixture)
        return "--root and --fixture each name a host; give one";
    if ((command & (API_PLAN | API_DOCTOR | API_TOPO | API_LIVE)) && o->db && !o->fixture)
        return "--db needs the name of a host, --fixture NAME";
    if ((command & CHANGING) && !o->db && !(command == API_ACCEPT && o->is_dry))
        return "it writes to a corpus of yours, --db FILE; the one installed with cpubind "
               "stays as it is";
    if (command == API_CAPTURE && !o->output == !o->db)
        return "name the target: either -o DIR, or --db FILE --name NAME";
    if (command == API_CAPTURE && o->db && !o->name)
        return "--db needs a name for the host, --name NAME";
    if (command == API_MEASURE)
        return measure_conflict(o);
    if (o->tree || (o->all && (command & (API_APPLY | API_VERIFY))))
        return o->tree ? tree_conflict(o, command) : all_conflict(o, command);
    if ((command & API_BINDING) && !(command & API_RESTORE))
        return binding_conflict(o, command);
    if ((text = restore_conflict(o)) != NULL)
        return text;
    if ((text = printing_conflict(o)) != NULL)
        return text;
    if (o->json && o->format && !o->format->is_json)
        return "--json and --format each say how to print; give one";
    return NULL;
}

/* Says how many words the command takes, when there are not so many; else NULL. */
static const char *count_fault(int n, enum api_command command)
{
    switch (command) {
    case API_SHOW:
        return n < 1 || n > 2 ? "name a host, and perhaps one of its inputs: NAME [INPUT]"
                              : NULL;
    case API_IMPORT:
        return n < 1 ? "name the folders of hosts: DIR..." : NULL;
    case API_EXPORT:
        return n != 2 ? "name a host and a folder: NAME DIR" : NULL;
    case API_RENAME:
        return n != 2 ? "name a host and its new name: NAME NEW" : NULL;
    case API_RUN:
        return n < 1 ? "name the command that is to run: -- COMMAND" : NULL;
    case API_SERVICE:
        return n > 1 ? "name one file of settings" : NULL;
    case API_ACCEPT:
    case API_REMOVE:
        return n < 1 ? "name a host: NAME" : NULL;
    default:
        return NULL;
    }
}

static int check(const api_options *o, enum api_command command, api_text *why)
{
    const cli_help *help = cli_help_of(command);
    const char *what = command & API_RUN ? NULL : count_fault(o->n_word, command);
    const int is_path = o->n_word > 0 && strchr(o->word[0], '/'); /* no "service start" */
    const int takes_words = (command == API_SERVICE && (o->is_check || is_path)) ||
                            command & (API_SHOW | API_EXPORT | API_REPLAY | CHANGING | API_RUN);
    if (!takes_words && o->n_word > 0) {
        api_add(why,
                "\"%s\" is no option, and this command takes no other words; try: cpubind %s "
                "--help",
                o->word[0], help->words);
        return 0;
    }
    if (!what)
        what = conflict(o, command);
    if (!what)
        what = count_fault(o->n_word, command);
    if (what)
        api_add(why, "%s; try: cpubind %s --help", what, help->words);
    return !what;
}

/* Takes the settings of the host that is asked about. Returns the exit status. */
static int take_settings(enum api_command command, api_options *o, api_text *why)
{
    api_host host = {0};
    int status;
    if (!api_takes_settings((int)command)) /* the service reads its file itself */
        return API_DONE;
    if (!o->root && !o->fixture)
        return api_take_settings(NULL, (int)command, o, why);
    status = cli_open_host(o, &host, why);
    if (status == API_DONE)
        status = api_take_settings(&host.source, (int)command, o, why);
    cli_keep_host(&host);
    return status;
}

/* Checks options, with the settings in them. Returns -1 to go on, else the exit status. */
static int check_with_settings(enum api_command command, api_options *o, api_text *why)
{
    int status;
    if (!check(o, command, why))
        return API_USAGE;
    status = take_settings(command, o, why);
    if (status != API_DONE && command == API_RUN) { /* it may start its command unbound */
        o->settings_status = cli_fail(o, API_UNREADABLE, why->text);
        return -1;
    }
    if (status == API_DONE && o->keeps_others && o->request.keep_each == 0 &&
        !o->request.keep) {
        api_add(why, "others = keep puts the other processes on the CPUs of --keep: give it, "
                     "too, such as --keep 2; try: cpubind apply --help");
        return API_USAGE;
    }
    return status == API_DONE ? -1 : status;
}

int cli_start(int argc, char **argv, enum api_command command, api_options *out)
{
    api_text why = {"", 0};
    const int is_json = wants_json(argc, argv, command);
    int status = API_USAGE;
    int good = cli_parse(argc, argv, command, out, &why);
    if (good && out->help > 1) {
        cli_print_screen_of(stdout, command);
        return API_DONE;
    }
    if (good && out->help) {
        cli_print_help_of(stdout, command);
        return API_DONE;
    }
    if (good && out->version) {
        cli_print_version();
        return API_DONE;
    }
    if (good)
        status = check_with_settings(command, out, &why);
    if (status < 0)
        return status;
    out->json = is_json;
    return cli_fail(out, status, why.text);
}

/* What commands are called elsewhere, behind the words before them. */
static const struct {
    const char *before, *word, *line;
} foreign_commands[] = {
    {"", "explain", "plan --explain all"},
    {"", "why", "plan --explain all"},
    {"", "map", "plan --format map"},
    {"", "compare", "plan --rules reference"},
    {"", "diff", "plan --rules reference"},
    {"", "simulate", "plan"},
    {"", "dry-run", "plan"},
    {"", "top", "status --watch"},
    {"", "watch", "status --watch"},
    {"", "monitor", "status --watch"},
    {"", "ps", "status"},
    {"", "info", "status"},
    {"", "who", "status"},
    {"", "show", "topo"},
    {"", "list", "topo"},
    {"", "ls", "topo"},
    {"", "devices", "topo"},
    {"", "gpus", "topo"},
    {"", "npus", "topo"},
    {"", "lstopo", "topo"},
    {"", "check", "doctor"},
    {"", "diagnose", "doctor"},
    {"", "fix", "doctor --fix --dry-run"},
    {"", "bind", "apply --all"},
    {"", "pin", "apply --all"},
    {"", "set", "apply --all"},
    {"", "unbind", "restore --all"},
    {"", "unpin", "restore --all"},
    {"", "undo", "restore --all"},
    {"", "reset", "restore --all"},
    {"", "exec", "run --tree -- COMMAND"},
    {"", "launch", "run --tree -- COMMAND"},
    {"", "daemon", "service"},
    {"", "start", "service"},
    {"", "config", "service --check"},
    {"", "dump", "capture -o NAME.host"},
    {"", "snapshot", "capture -o NAME.host"},
    {"", "save", "capture -o NAME.host"},
    {"", "replay", "fixture replay"},
    {"", "test", "fixture replay"},
    {"", "fixtures", "fixture list"},
    {"", "hosts", "fixture list"},
    {"fixture ", "ls", "fixture list"},
    {"fixture ", "run", "fixture replay"},
    {"fixture ", "test", "fixture replay"},
    {"fixture ", "check", "fixture replay"},
    {"fixture ", "add", "fixture import --help"},
    {"fixture ", "delete", "fixture remove --help"},
    {"fixture ", "rm", "fixture remove --help"},
};

int cli_refuse_command(int argc, char **argv, const char *before, api_hint *hint)
{
    static api_options options;
    api_text why = {"", 0};
    int is_known = 0;
    options.json = cli_has_json(argc, argv);
    api_add(&why, "there is no command \"%s%s\"", before, argv[1]);
    for (int32_t i = 0; i < COUNT(foreign_commands); i++)
        if (strcmp(foreign_commands[i].before, before) == 0 &&
            strcasecmp(foreign_commands[i].word, argv[1]) == 0) {
            api_add(&why, "; that is: cpubind %s", foreign_commands[i].line);
            is_known = 1;
        }
    api_add(&why, "; try: cpubind %s--help", before);
    if (argv[1][0] == '-')
        api_add(&why, "; the command is the first word, its options follow");
    if (!is_known)
        api_hint_add(hint, &why);
    return cli_fail(&options, API_USAGE, why.text);
}
