/* help.c - what each command is for, on one screen
 * SPDX-License-Identifier: MIT
 */
#include "cli.h"

#include <string.h>

void cli_print_help(FILE *out)
{
    fputs("Usage: cpubind COMMAND [OPTION...]\n"
          "\n"
          "Decides which CPUs belong to which NPU of an Ascend host, and inside that to its\n"
          "interrupts, main threads, ACL thread and release thread.\n"
          "\n"
          "Commands:\n"
          "  plan         what would be done, on this host, a captured one or a fixture\n"
          "  apply        bind a process to one NPU's CPUs: threads, interrupts, memory\n"
          "  run          bind, then become a command: cpubind run --npu 3 -- python ...\n"
          "  verify       hold what a process has against what it should have\n"
          "  restore      put back what apply and run have changed\n"
          "  capture      write all that a plan needs of this host to a folder or a corpus\n"
          "  fixture      the hosts of a corpus: list, show, import, export, replay, accept\n"
          "\n"
          "  --help       this text; cpubind plan --help for the options\n"
          "  --version    the version\n"
          "\n"
          "Exit status: 0 done, 1 no plan is possible or something is not as it should be,\n"
          "2 usage, 3 the host or the corpus is unreadable, 4 the kernel refused, or it\n"
          "could not be written.\n",
          out);
}

void cli_print_fixture_help(FILE *out)
{
    fputs("Usage: cpubind fixture COMMAND [OPTION...]\n"
          "\n"
          "A corpus is one file: hosts, with the plans that they must get.\n"
          "\n"
          "Commands:\n"
          "  list                  the hosts: CPUs, nodes, NPUs, where they come from\n"
          "  show NAME [INPUT]     one host, or the bytes of one of its inputs\n"
          "  import DIR...         add the hosts of these folders, all or none\n"
          "  export NAME DIR       write a host as a folder\n"
          "  replay [NAME...]      plan every host again; exit 1 if a plan differs\n"
          "  accept NAME [CASE...] show what differs, and make it what is expected\n"
          "\n"
          "  --db FILE             the corpus; default: the one that came with cpubind\n"
          "  --help                this text; cpubind fixture replay --help for the options\n",
          out);
}

#define HOST_OPTIONS                                                                           \
    "Which host (default: this one):\n"                                                        \
    "  --root DIR            a snapshot folder: proc/, sys/ and cmd/ of a host\n"              \
    "  --fixture NAME        a host of a corpus, such as a2-192cpu-8npu\n"

#define TYPES "@types@" /* the mark of the words of --device-type */

#define PLAN_OPTIONS                                                                           \
    "Which NPUs:\n"                                                                            \
    "  --npus LIST           logic ids, such as 0-3,6, instead of the process table\n"         \
    "  --visible LIST        instead of ASCEND_RT_VISIBLE_DEVICES\n"                           \
    "  --rank N              the worker that asks (default 0)\n"                               \
    "  --device-type TYPE    " TYPES " (default: from npu-smi or PCI ids)\n"                   \
    "\n"                                                                                       \
    "Which CPUs:\n"                                                                            \
    "  --allowed LIST        such as 0-95, instead of those that this process may use\n"       \
    "  --exclude LIST        of those, CPUs that no pool gets\n"                               \
    "\n"                                                                                       \
    "How:\n"                                                                                   \
    "  --strategy NAME       auto, global_slice, topo_affinity or cluster\n"                   \
    "  --overlap POLICY      resolve, keep or refuse CPUs that two NPUs would share\n"         \
    "\n"

/* A form feed is replaced by the formats of the command. */
#define FORMATS "  --format FORMAT       how to print:\n\f"

#define DB "  --db FILE             the corpus; default: the one that came with cpubind\n"

#define WHICH_NPU                                                                              \
    "  --npu N               its NPU, a logic id; or\n"                                        \
    "  --rank N              among the NPUs that run and are visible\n"

#define THREADS                                                                                \
    "  --thread NAME=WHERE   threads of a name, as acl_thread and release_thread are:\n"       \
    "                        " CLI_ROLE_WORDS "pool, or CPUs; may be repeated\n"

#define IRQBALANCE "  --irqbalance WAY      leave (default), ban these interrupts, or stop it\n"

#define STATE                                                                                  \
    "  --state FILE          the record (default: /run/cpubind/PID.record, without\n"          \
    "                        root /run/user/UID/cpubind/PID.record)\n"

#define LIVE_PLAN                                                                              \
    "The plan: --device-type, --visible, --strategy, --overlap, --allowed, --exclude,\n"       \
    "--root, --fixture, --db: as for plan\n"                                                   \
    "\n"

static const cli_help helps[] = {
    {CLI_PLAN, "plan",
     "Usage: cpubind plan [OPTION...]\n"
     "\n"
     "Prints which CPUs each NPU would get. Changes nothing.\n"
     "\n" HOST_OPTIONS DB "\n" PLAN_OPTIONS "Output:\n" FORMATS
     "  --json                the same as --format json\n"
     "  --quiet               the plan alone: no table, map or warnings\n"
     "  --help, --version\n"},
    {CLI_APPLY, "apply",
     "Usage: cpubind apply --npu N | --rank N [--pid N] [OPTION...]\n"
     "\n"
     "Puts the threads of a process, the interrupts of its NPU and its memory where\n"
     "the plan says. All is on record first: cpubind restore takes it back, but for\n"
     "the memory. If something fails, all is as before.\n"
     "\n"
     "  --pid N               the process (default: the one that calls)\n" WHICH_NPU "\n"
     "What is bound:\n" THREADS "  --memory WAY          migrate (default) or none\n"
     "  --memory-limit BYTES  move at most so much, such as 200G\n" IRQBALANCE
     "  --watch [SECONDS]     look again so often (default 1): threads that are born\n"
     "                        later, masks that drift; ends with the process\n"
     "\n" LIVE_PLAN STATE "  --any-arch            also on a machine that is no ARM machine\n"
     "  --json, --quiet, --help, --version\n"},
    {CLI_RUN, "run",
     "Usage: cpubind run --npu N | --rank N [OPTION...] -- COMMAND [ARGUMENT...]\n"
     "\n"
     "Binds itself, then becomes the command: no process is left in between, signals\n"
     "and exit status are the command's. 127: there is no such command, 126: it cannot\n"
     "be run; all is as before then. Threads get their names later: apply --watch.\n"
     "What is on record stays when the command has ended: restore.\n"
     "\n" WHICH_NPU "\n"
     "What is bound:\n" THREADS "  --memory WAY          prefer (default: new memory is the "
     "NPU's node's) or none\n" IRQBALANCE
     "  --env NAME=VALUE      set a variable; {main}, {acl}, {release}, {irq}, {pool}\n"
     "                        stand for lists, {threads} for the number of main CPUs,\n"
     "                        {npu}, {node}; such as OMP_NUM_THREADS={threads}\n"
     "\n" LIVE_PLAN STATE "  --any-arch            also on a machine that is no ARM machine\n"
     "  --json                what is wrong as one JSON object\n"
     "  --quiet, --help, --version\n"},
    {CLI_VERIFY, "verify",
     "Usage: cpubind verify [--pid N] [--npu N | --rank N] [OPTION...]\n"
     "\n"
     "Prints where each thread, each interrupt and the memory of a process are, and\n"
     "where they belong; exits with 1 if one is elsewhere. Without an NPU: against\n"
     "what apply or run have on record. Changes nothing.\n"
     "\n"
     "  --pid N               the process (default: the one that calls)\n" WHICH_NPU
     "\n" THREADS "  --memory none         do not look at the memory\n"
     "\n" LIVE_PLAN STATE "  --json, --quiet, --help, --version\n"},
    {CLI_RESTORE, "restore",
     "Usage: cpubind restore [--pid N | --all] [--state FILE]\n"
     "\n"
     "Puts threads, interrupts and irqbalance back as they were before apply or run.\n"
     "What somebody else has changed since stays as it is; memory stays where it is.\n"
     "\n"
     "  --pid N               the process (default: the one that calls)\n"
     "  --all                 every process on record, also those that have ended\n" STATE
     "  --json, --quiet, --help, --version\n"},
    {CLI_CAPTURE, "capture",
     "Usage: cpubind capture -o DIR | --db FILE --name NAME [OPTION...]\n"
     "\n"
     "Writes the files and the outputs of npu-smi that a plan is made of, and the\n"
     "plan itself as what is expected of them; then plans from what was written, and\n"
     "exits with 1 if the two differ.\n"
     "\n"
     "Where to:\n"
     "  -o, --output DIR      a new folder\n"
     "  --db FILE             a corpus, which is made if there is none\n"
     "  --replace             put it in the place of a host that is there\n"
     "\n"
     "What about it:\n"
     "  --redact              take out the host's name, serial numbers, process names\n"
     "  --name NAME           of the host (default: that of DIR)\n"
     "  --product TEXT        what the machine is\n"
     "  --notes TEXT          why it is worth keeping\n"
     "\n"
     "What is planned, and of what host:\n"
     "  --npus, --visible, --rank, --allowed, --exclude, --device-type, --strategy,\n"
     "  --overlap: as for plan\n"
     "  --root DIR            a snapshot folder, or a whole copy of /proc and /sys\n"
     "\n"
     "  --json, --quiet, --help, --version\n"},
    {CLI_LIST, "fixture list",
     "Usage: cpubind fixture list [--db FILE] [--json]\n"
     "\n"
     "Prints a table: name, product, online CPUs, nodes with CPUs, NPUs of npu-smi,\n"
     "origin (captured, documented, synthetic), and how many plans and refusals are\n"
     "expected.\n"
     "\n" DB "  --json                one JSON object\n"},
    {CLI_SHOW, "fixture show",
     "Usage: cpubind fixture show NAME [INPUT] [--db FILE] [--json]\n"
     "\n"
     "Prints what a host is, its inputs and what is expected of it; or the bytes of\n"
     "one input, such as cmd/npu-smi-info-m.txt, as they are.\n"
     "\n" DB "  --json                one JSON object\n"},
    {CLI_IMPORT, "fixture import",
     "Usage: cpubind fixture import DIR... [--db FILE] [--replace]\n"
     "\n"
     "Adds host folders to a corpus: host.txt, expect/CASE.json, and the inputs.\n"
     "Either all of them are in the corpus afterwards, or it is as it was. A copy of\n"
     "/proc and /sys becomes a host folder with: cpubind capture --root COPY -o DIR\n"
     "\n" DB "                        (one that is not there is made)\n"
     "  --replace             in the place of hosts of the same names\n"
     "  --quiet               nothing but errors\n"},
    {CLI_EXPORT, "fixture export",
     "Usage: cpubind fixture export NAME DIR [--db FILE] [--replace]\n"
     "\n"
     "Writes a host as a folder, whole or not at all.\n"
     "\n" DB "  --replace             in the place of a host folder that is there\n"
     "  --quiet               nothing but errors\n"},
    {CLI_REPLAY, "fixture replay",
     "Usage: cpubind fixture replay [NAME...] [--db FILE] [--jobs N] [--format FORMAT]\n"
     "\n"
     "Plans every host again, with the arguments of each of its expectations, and says\n"
     "what differs. Exits with 0 if nothing does, and with 1 if something does.\n"
     "\n" DB "  --jobs N              threads (default: one a CPU)\n" FORMATS
     "  --json                the same as --format json\n"
     "  --quiet               only what differs\n"},
    {CLI_ACCEPT, "fixture accept",
     "Usage: cpubind fixture accept NAME [CASE...] [--db FILE]\n"
     "       cpubind fixture accept NAME CASE [--db FILE] -- ARGUMENT...\n"
     "\n"
     "Shows how the plans of a host differ from what is expected, and makes them\n"
     "what is expected; with arguments of plan behind --, such as --rank 1, as a new\n"
     "case or in the place of the old one. Read the difference first: fixture replay.\n"
     "\n" DB "  --quiet               nothing but errors\n"},
};

const cli_help *cli_help_of(enum cli_command command)
{
    for (size_t i = 0; i < sizeof helps / sizeof *helps; i++)
        if (helps[i].command == command)
            return &helps[i];
    return &helps[0];
}

void cli_print_help_of(FILE *out, enum cli_command command)
{
    const char *text = cli_help_of(command)->text;
    const cli_format *format = cli_formats_of(command);
    for (; *text; text++) {
        if (strncmp(text, TYPES, strlen(TYPES)) == 0) {
            cli_text types = {"", 0};
            cli_add_types(&types);
            fputs(types.text, out);
            text += strlen(TYPES) - 1;
        } else if (*text == '\f') {
            for (; format->word; format++)
                fprintf(out, "                          %-7s %s\n", format->word, format->what);
        } else {
            putc(*text, out);
        }
    }
}
