/* help.c - the help of each command, for a terminal of 80 columns
 * SPDX-License-Identifier: MIT
 *
 * Opens nothing and reads no option. What a command is for is written here, what each option
 * does in the table of adapters/api/options.c. COMMANDS.md and the manual pages are made from
 * the help.
 */
#include "../api/settings.h"
#include "cli.h"

#include <string.h>

enum { WIDTH = 80, TEXT_AT = 24 }; /* columns */

static const char main_help[] =
    "Usage: cpubind COMMAND [OPTION...]\n"
    "\n"
    "Gives each NPU, GPU or other accelerator of a host CPUs of its own, the nearest\n"
    "ones, and keeps the threads, interrupts and memory of its worker there.\n"
    "\n"
    "Commands:\n"
    "  plan         print which CPUs each device would get; changes nothing\n"
    "  status       print every device: who runs on it, and whether all is right\n"
    "  doctor       find what is against a good placement, and what mends it\n"
    "  topo         print the devices, the CPUs near each, and which are seen here\n"
    "  run          bind, then become a command: cpubind run --device npu3 -- ...\n"
    "  apply        bind a process that runs, or with --all all that drive a device\n"
    "  verify       compare where a process is with where it belongs\n"
    "  restore      undo what apply, run and service have changed\n"
    "  service      keep all workers of the host bound, by /etc/cpubind.conf\n"
    "  measure      find out whether a binding helps the workers of this host\n"
    "  capture      write all inputs of a plan of this host to a file or a corpus\n"
    "  fixture      the hosts of a corpus: list, show, import, replay, accept ...\n"
    "\n"
    "Try: cpubind plan --fixture gpu-smt-apart-2a30     a captured host with two GPUs\n"
    "     cpubind doctor --fixture gpu-workers-4l40s    another one, with five faults\n"
    "     cpubind COMMAND -h, or --help                 a screen, or all options\n"
    "     cpubind help environment                      exit statuses and variables\n";

static const char environment_help[] =
    "Exit status:\n"
    "  0    done\n"
    "  1    no plan is possible, an expectation does not hold, a process is not where\n"
    "       it belongs or has ended, or another cpubind works on it\n"
    "  2    the arguments are wrong\n"
    "  3    the host, the corpus or a record cannot be read\n"
    "  4    the kernel refused, or the output or a file could not be written\n"
    "  125  run: cpubind failed with one of 1 to 4, which the message has\n"
    "  126  run: the command cannot be executed; 127: there is no such command\n"
    "\n"
    "Environment:\n"
    "  ASCEND_RT_VISIBLE_DEVICES  the visible NPUs, such as 0,1,2 (else --visible)\n"
    "  ASCEND_VISIBLE_DEVICES     the same by physical ids, such as 4-5\n"
    "  CUDA_VISIBLE_DEVICES       the visible GPUs, as each vendor's variable does\n"
    "  CPUBIND_RULES              near or reference (else --rules)\n"
    "  DRA_CPUSET_*               the CPUs of this container alone: --scope own\n"
    "  XDG_RUNTIME_DIR, TMPDIR    where records of an ordinary user are: cpubind in\n"
    "                             the first, else cpubind-UID in the other\n"
    "  COLUMNS, NO_COLOR          the width of the map; no colours\n"
    "\n"
    "A list is written as taskset takes it: 0-3,6 or 0-30:2, in any order. An option\n"
    "is written in full. With --json, errors are JSON, those of a command line too.\n";

void cli_print_help(FILE *out)
{
    fputs(main_help, out);
}

void cli_print_environment_help(FILE *out)
{
    fputs(environment_help, out);
}

void cli_print_fixture_help(FILE *out)
{
    fputs("Usage: cpubind fixture COMMAND [OPTION...]\n"
          "\n"
          "A corpus is one file that holds hosts and the plans that are expected of them.\n"
          "\n"
          "Commands:\n"
          "  list                  print the hosts: CPUs, nodes, NPUs, origin\n"
          "  show NAME [INPUT]     print one host, or the bytes of one of its inputs\n"
          "  import DIR...         add the hosts of these folders, all or none\n"
          "  export NAME DIR       write a host as a folder\n"
          "  replay [NAME...]      plan every host again; exit 1 if a plan differs\n"
          "  accept NAME [CASE...] show what differs, and store the plans of today\n"
          "  remove NAME [CASE...] remove a host, or expectations of it\n"
          "  rename NAME NEW       give a host another name\n"
          "  groups                the hosts by shape, and what differs in the others\n"
          "\n"
          "  --db FILE             the corpus; to read, the default is the one installed\n"
          "                        with cpubind, which no command writes to unasked\n"
          "  --help                this text; cpubind fixture replay --help for the options\n",
          out);
}

static const cli_help helps[] = {
    {API_PLAN, "plan",
     "Usage: cpubind plan [OPTION...]\n"
     "Prints which CPUs each device would get. Changes nothing.\n",
     "Formats for launchers have all ranks, in the order of the visible devices, or\n"
     "with --rank that one: taskset $(cpubind plan --rank 0 --format taskset) COMMAND.\n"
     "Those of OpenMP have the main CPUs, the others the whole pool. All formats:\n",
     "  cpubind plan --explain gpu0                why it gets these CPUs\n"
     "  cpubind plan --fixture gpu-smt-apart-2a30  another host\n"},
    {API_APPLY, "apply",
     "Usage: cpubind apply --pid N | --device NAME | --rank N | --all [OPTION...]\n"
     "Moves the threads of a process, the interrupts of its device and its memory to\n"
     "where the plan puts them, or undoes all. restore undoes all but memory.\n",
     NULL,
     "  cpubind apply --all              all workers of the host\n"
     "  cpubind apply --pid 4711 --tree  a server and the workers below it\n"},
    {API_RUN, "run",
     "Usage: cpubind run --device NAME|--rank N|--auto|--numa-bind [...] -- COMMAND...\n"
     "Binds itself, then executes the command in its place: signals and exit status\n"
     "are those of the command, or 125 to 127: cpubind help environment.\n",
     "Children of the command inherit its CPUs: start one process for each device,\n"
     "each with a run of its own, or all below one with --tree. Threads get names\n"
     "later: use apply --watch for --thread. restore undoes it. By --numa-bind memory\n"
     "is bound to the node, else prefers it, else comes from any node; each fallback\n"
     "is a warning, with --strict a failure.\n",
     "  cpubind run --tree -- vllm serve MODEL  each worker to its device\n"
     "  cpubind run --device gpu0 -- ./train    one process\n"},
    {API_VERIFY, "verify",
     "Usage: cpubind verify [--pid N | --all] [--device NAME | --rank N] [OPTION...]\n"
     "Prints where each thread, each interrupt and the memory of a process are, and\n"
     "where they belong; exits with 1 if one is elsewhere. Without a device it\n"
     "compares with the record of apply or run. Changes nothing.\n",
     NULL,
     "  cpubind verify --all       all workers of the host\n"
     "  cpubind verify --pid 4711  one process\n"},
    {API_RESTORE, "restore",
     "Usage: cpubind restore [--pid N | --all [--service] | --ended]\n"
     "Restores threads, interrupts and irqbalance as they were before apply or run.\n"
     "Whatever somebody else has moved since stays; memory stays where it is.\n",
     NULL,
     "  cpubind restore --all       all, those that have ended too\n"
     "  cpubind restore --pid 4711  one process\n"},
    {API_STATUS, "status",
     "Usage: cpubind status [--watch [SECONDS]] [OPTION...]\n"
     "Prints every device of this host: its pool, its interrupts, the processes that\n"
     "use it, and where their threads and memory are: right, elsewhere, or unbound (on\n"
     "all CPUs). A process that is bound is compared with its record, another one with\n"
     "the plan. Changes nothing; as root it sees all processes.\n",
     "Exit status: 0 all is right, 1 something is elsewhere or unbound, 3 unreadable.\n",
     "  cpubind status --watch 5                    a line for each change\n"
     "  cpubind status --fixture gpu-workers-4l40s  another host\n"},
    {API_MEASURE, "measure",
     "Usage: cpubind measure --all | --pid N [--tree] [OPTION...]\n"
     "Says whether a binding helps: moves running workers to and fro between two\n"
     "sides, in blocks whose order is drawn, counts in each block, and says of each\n"
     "figure which side is better, with its doubt. At the end, and after a signal, all\n"
     "is as it was; after kill -9 cpubind restore --all puts it back.\n",
     "Exit status: 0 better, or no difference that one can see; 1 worse, or refused;\n"
     "3 not judged. --quiet prints one line.\n",
     "  cpubind measure --all              all workers of the host\n"
     "  cpubind measure --pid 4711 --tree  a server and the workers below it\n"},
    {API_DOCTOR, "doctor",
     "Usage: cpubind doctor [OPTION...]\n"
     "Finds what on this host is against a good placement. Prints of each fault the\n"
     "evidence, what it costs, and the command that mends it.\n",
     "Exit status: 0 nothing to mend, 1 something to mend, 3 the host is unreadable,\n"
     "4 a change was refused.\n",
     "  cpubind doctor --fix --dry-run              what it would change at once\n"
     "  cpubind doctor --fixture gpu-workers-4l40s  a host with five faults\n"},
    {API_SERVICE, "service",
     "Usage: cpubind service [FILE] [--check] [OPTION...]\n"
     "       cpubind service --ask alive | ready\n"
     "Keeps every worker of the host bound to the CPUs of its device, as apply --all\n"
     "--watch does, in the foreground, with the settings of FILE, a path\n"
     "with a /, or of /etc/cpubind.conf if it is there. systemd starts it:\n"
     "systemctl start cpubind. SIGHUP reads the file again; if the file is wrong, the\n"
     "old settings stay. SIGTERM ends the service, and all processes stay bound,\n"
     "unless the settings have restore-at-end = yes.\n",
     NULL,
     "  cpubind service --check  whether /etc/cpubind.conf is right\n"
     "  cpubind service FILE     by other settings, on a terminal\n"},
    {API_TOPO, "topo",
     "Usage: cpubind topo [OPTION...]\n"
     "Prints the accelerators of a host, of any vendor: the node and the CPUs near\n"
     "each, and which of them this process sees. Changes nothing.\n",
     "All formats:\n",
     "  cpubind topo --nics                        network cards, too\n"
     "  cpubind topo --fixture gpu-smt-apart-2a30  another host\n"},
    {API_CAPTURE, "capture",
     "Usage: cpubind capture -o DIR | --db FILE --name NAME [OPTION...]\n"
     "Writes the files and the outputs of npu-smi that a plan is made from, and the\n"
     "plan itself as an expectation; then plans from the files that were written, and\n"
     "exits with 1 if the two plans differ.\n",
     NULL,
     "  cpubind capture -o ticket.host --redact  this host, in one file\n"
     "  cpubind capture --root COPY -o DIR       of a copy of /proc and /sys\n"},
    {API_LIST, "fixture list",
     "Usage: cpubind fixture list [--db FILE] [--json]\n"
     "Prints a table: name, product, online CPUs, nodes with CPUs, NPUs,\n"
     "origin (captured, documented, synthetic), and how many plans and refusals are\n"
     "expected.\n",
     NULL,
     "  cpubind fixture list            the hosts that come with cpubind\n"
     "  cpubind fixture list --db FILE  those of a corpus of yours\n"},
    {API_SHOW, "fixture show",
     "Usage: cpubind fixture show NAME [INPUT] [--db FILE] [--json]\n"
     "Prints a host, its inputs and its expectations; or the bytes of one input, such\n"
     "as cmd/npu-smi-info-m.txt, unchanged.\n",
     NULL,
     "  cpubind fixture show gpu-none                   what it is, and its inputs\n"
     "  cpubind fixture show gpu-none proc/self/status  the bytes of one input\n"},
    {API_IMPORT, "fixture import",
     "Usage: cpubind fixture import DIR... --db FILE [--replace] [--shapes]\n"
     "Adds hosts to a corpus: host.txt, expect/CASE.json, and the inputs. DIR is a\n"
     "folder, or a file NAME.host or NAME.host.gz, as cpubind capture -o writes them;\n"
     "or a folder of these. Either all of them are added, or the corpus is unchanged.\n"
     "With --shapes a host that cannot be read is left out, and said; one whose\n"
     "capture is the same as before is not read again. A copy of /proc and /sys\n"
     "becomes a host folder with: cpubind capture --root COPY -o DIR\n",
     NULL,
     "  cpubind fixture import ticket.host --db FILE   one host\n"
     "  cpubind fixture import DIR --db FILE --shapes  a fleet, for fixture groups\n"},
    {API_EXPORT, "fixture export",
     "Usage: cpubind fixture export NAME DIR [--db FILE] [--replace]\n"
     "Writes a host as a folder, or as a file when DIR ends in .host or .host.gz,\n"
     "whole or not at all.\n",
     NULL,
     "  cpubind fixture export gpu-none DIR                as a folder\n"
     "  cpubind fixture export NAME ticket.host --db FILE  as one file\n"},
    {API_REPLAY, "fixture replay",
     "Usage: cpubind fixture replay [NAME...] [--db FILE] [--format FORMAT]\n"
     "Plans every host again, with the arguments of each of its expectations, and says\n"
     "what differs. Exits with 0 if nothing does, and with 1 if something does.\n",
     "All formats:\n",
     "  cpubind fixture replay                           the hosts of cpubind\n"
     "  cpubind fixture replay --db FILE --format junit  for a CI\n"},
    {API_ACCEPT, "fixture accept",
     "Usage: cpubind fixture accept NAME [CASE...] --db FILE | --dry-run\n"
     "       cpubind fixture accept NAME CASE --db FILE -- ARGUMENT...\n"
     "Shows how the plans of a host differ from its expectations, and stores the\n"
     "plans as expectations, with the keys that these name, and the quality. With\n"
     "arguments of plan after --, such as --rank 1, it stores a new case or replaces\n"
     "the old one, with all keys. Read the differences first: --dry-run.\n",
     NULL,
     "  cpubind fixture accept NAME --db FILE --dry-run  what differs\n"
     "  cpubind fixture accept NAME --db FILE            and stores it\n"},
    {API_REMOVE, "fixture remove",
     "Usage: cpubind fixture remove NAME [CASE...] --db FILE [--dry-run]\n"
     "Removes a host with its inputs and expectations; with CASE these expectations\n"
     "alone. Either all of it is removed, or the corpus is unchanged. It cannot be\n"
     "undone: cpubind fixture export NAME DIR keeps a host as a folder.\n",
     NULL,
     "  cpubind fixture remove NAME --db FILE       a host\n"
     "  cpubind fixture remove NAME CASE --db FILE  one expectation of it\n"},
    {API_RENAME, "fixture rename",
     "Usage: cpubind fixture rename NAME NEW --db FILE\n"
     "Gives a host another name; its inputs and expectations stay.\n",
     NULL,
     "  cpubind fixture list --db FILE             the names that there are\n"
     "  cpubind fixture rename NAME NEW --db FILE  another one for a host\n"},
    {API_GROUPS, "fixture groups",
     "Usage: cpubind fixture groups [--db FILE] [--json]\n"
     "Prints the hosts of one shape together (devices, nodes, cores, allowed CPUs,\n"
     "versions, plan), which of these differ in the other groups, the figures of their\n"
     "plans, and what doctor finds from their captures.\n",
     NULL,
     "  cpubind fixture groups --db FILE         the hosts of a fleet\n"
     "  cpubind fixture groups --db FILE --json  for a program\n"},
};

const cli_help *cli_help_of(enum api_command command)
{
    for (size_t i = 0; i < sizeof helps / sizeof *helps; i++)
        if (helps[i].command == command)
            return &helps[i];
    return &helps[0];
}

const api_format *cli_formats_of(enum api_command command)
{
    static const api_format topo[] = {
        {"text", "the devices, and what is near each (default)", 0, NULL, NULL},
        {"json", "one JSON object, the same as --json", 1, NULL, NULL},
        {"slurm", "lines of gres.conf, with File= and Cores=", 0, NULL, NULL},
        {0},
    };
    static const api_format replay[] = {
        {"text", "what differs, and a line that counts (default)", 0, NULL, NULL},
        {"tap", "the Test Anything Protocol, version 13", 0, NULL, NULL},
        {"junit", "XML for the reports of CI servers", 0, NULL, NULL},
        {"json", "one JSON object, the same as --json", 1, NULL, NULL},
        {0},
    };
    return command == API_PLAN     ? api_formats
           : command == API_TOPO   ? topo
           : command == API_REPLAY ? replay
                                   : NULL;
}

/* Prints words from a column on, in lines of the width; `at` is the column of the cursor. */
static void print_words(FILE *out, int at, const char *text)
{
    int is_first = 1;
    while (*text) {
        const int n = (int)strcspn(text, " ");
        if (!is_first && at + 1 + n > WIDTH) {
            fprintf(out, "\n%*s", TEXT_AT, "");
            at = TEXT_AT;
        } else if (!is_first) {
            putc(' ', out);
            at++;
        }
        fprintf(out, "%.*s", n, text);
        at += n;
        is_first = 0;
        text += n;
        text += *text == ' ';
    }
    putc('\n', out);
}

static void print_option(FILE *out, const api_option *row)
{
    api_text name = {"", 0};
    if (row->letter)
        api_add(&name, "-%c, ", row->letter);
    api_add(&name, "%s%s%s", row->dashed, row->value ? " " : "", row->value ? row->value : "");
    fprintf(out, "  %-*s  ", TEXT_AT - 4, name.text);
    print_words(out, (int)name.len + 4 > TEXT_AT ? (int)name.len + 4 : TEXT_AT, row->text);
}

/* The command whose help describes what others have, too: plan, or apply what is no plan. */
static int is_teller(int commands, enum api_command command)
{
    return command == (commands & API_PLAN ? API_PLAN : API_APPLY);
}

/* Whether an option takes the place of a key of the settings, and is described elsewhere. */
static int is_setting(const api_option *row, enum api_command command)
{
    const char *name = row->dashed + 2;
    return !is_teller(row->commands, command) && !(row->first & (int)command) &&
           api_find_key(name, (int32_t)strlen(name)) >= 0;
}

/* Whether the help of a command leaves an option to that of plan. */
static int is_of_plan(const api_option *row, enum api_command command)
{
    return command != API_PLAN && row->commands & API_PLAN && row->group != API_GROUP_BINDING &&
           !(row->first & (int)command) && !is_setting(row, command);
}

/* The options of a command that are in a group (not first, not described elsewhere), or are
 * first. */
static void print_group(FILE *out, enum api_command command, api_group group, int is_first)
{
    int n = 0;
    for (const api_option *row = api_option_rows; row->dashed; row++) {
        if (!row->text || !(row->commands & (int)command) || is_of_plan(row, command) ||
            is_setting(row, command) ||
            (row->first & (int)command ? !is_first : is_first || row->group != group))
            continue;
        if (n++ == 0)
            fprintf(out, is_first ? "\n" : "\n%s:\n", api_group_titles[group]);
        print_option(out, row);
    }
}

int cli_has_option(enum api_command command, const char *name)
{
    for (const api_option *row = api_option_rows; row->dashed; row++)
        if (row->text && row->commands & (int)command && strcmp(row->dashed + 2, name) == 0)
            return 1;
    return 0;
}

/* Prints the keys of the settings that the help of a command is to describe. */
static void print_keys(FILE *out, enum api_command command)
{
    int n = 0;
    for (const api_key *key = api_keys; key->name; key++) {
        if (!(key->commands & (int)command) || !is_teller(key->commands, command) || !key->what)
            continue;
        if (n++ == 0)
            fputs("\nSettings of " API_CONF_PATH ", or -o KEY=VALUE:\n", out);
        fprintf(out, "  %-*s  ", TEXT_AT - 4, key->name);
        print_words(out, TEXT_AT, key->what);
    }
}

/* Prints the names of options that are described elsewhere, behind a title. */
static void print_names(FILE *out, enum api_command command, const char *title,
                        int (*is_one)(const api_option *row, enum api_command command))
{
    int at = 0;
    for (const api_option *row = api_option_rows; row->dashed; row++) {
        const int n = (int)strlen(row->dashed);
        if (!row->text || !(row->commands & (int)command) || !is_one(row, command))
            continue;
        if (at == 0)
            at = fprintf(out, "\n%s:", title) - 1;
        else
            at += fprintf(out, ",");
        if (at + n + 2 > WIDTH)
            at = fprintf(out, "\n%s", row->dashed) - 1;
        else
            at += fprintf(out, " %s", row->dashed);
    }
    if (at > 0)
        putc('\n', out);
}

void cli_print_screen_of(FILE *out, enum api_command command)
{
    const cli_help *help = cli_help_of(command);
    fprintf(out, "%s\n%s", help->text, help->examples);
    print_group(out, command, API_GROUP_COMMAND, 1);
    fprintf(out, "\nAll options: cpubind %s --help\n", help->words);
}

void cli_print_help_of(FILE *out, enum api_command command)
{
    const cli_help *help = cli_help_of(command);
    const api_format *formats = cli_formats_of(command);
    size_t width = 0; /* of the words of formats */
    fputs(help->text, out);
    print_group(out, command, API_GROUP_COMMAND, 1);
    for (int group = 0; group < API_GROUP_COUNT; group++) {
        if (group == API_GROUP_PLAN)
            print_names(out, command, "As for cpubind plan", is_of_plan);
        print_group(out, command, (api_group)group, 0);
    }
    print_names(out, command, "In place of settings of " API_CONF_PATH ", as for cpubind plan",
                is_setting);
    print_keys(out, command);
    if (help->more)
        fprintf(out, "\n%s", help->more);
    for (const api_format *f = formats; f && f->word; f++)
        width = strlen(f->word) > width ? strlen(f->word) : width;
    for (const api_format *f = formats; f && f->word; f++)
        fprintf(out, "%*s%-*s  %s\n", TEXT_AT, "", (int)width, f->word, f->what);
    fprintf(out, "\nExamples:\n%s", help->examples);
}

void cli_print_version(void)
{
    puts("cpubind " CPUBIND_VERSION ", records of form " CPUBIND_RECORD_FORM);
}
