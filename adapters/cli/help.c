/* help.c - the help of each command, on one screen of 80 columns
 * SPDX-License-Identifier: MIT
 *
 * Texts only: opens nothing and reads no option. The options are those of options.c;
 * COMMANDS.md and the manual pages are made from the help.
 */
#include "cli.h"

#include <string.h>

static const char main_help[] =
    "Usage: cpubind COMMAND [OPTION...]\n"
    "\n"
    "Decides which CPUs belong to which NPU of an Ascend host, and inside that to its\n"
    "interrupts, main threads, ACL thread and release thread.\n"
    "\n"
    "Commands:\n"
    "  plan         print which CPUs each NPU would get; changes nothing\n"
    "  apply        bind a process to one NPU's CPUs: threads, interrupts, memory\n"
    "  run          bind, then execute a command: cpubind run --device npu3 -- ...\n"
    "  verify       compare where a process is with where it belongs\n"
    "  restore      undo what apply and run have changed\n"
    "  status       print every NPU: who runs on it, and whether all is right\n"
    "  doctor       find what is against a good placement, and what mends it\n"
    "  service      keep all workers of the host bound, by /etc/cpubind.conf\n"
    "  topo         print the accelerators of any vendor, and the CPUs near each\n"
    "  capture      write all inputs of a plan of this host to a folder or a corpus\n"
    "  fixture      the hosts of a corpus: list, show, import, replay, accept ...\n"
    "\n"
    "cpubind help COMMAND prints the options of a command, cpubind COMMAND --help-all\n"
    "a longer text, cpubind --help-all the exit statuses and the environment.\n"
    "Exit status: 0 done, 1 refused or elsewhere, 2 usage, 3 unreadable, 4 the kernel\n"
    "refused or a file could not be written; run: 125 for 1 to 4.\n";

static const char main_more[] =
    "\n"
    "Exit status:\n"
    "  0    done\n"
    "  1    no plan is possible, an expectation does not hold, a process is not where it\n"
    "       belongs or has ended, or another cpubind works on it\n"
    "  2    the arguments are wrong\n"
    "  3    the host, the corpus or a record cannot be read\n"
    "  4    the kernel refused, or the output or a file could not be written\n"
    "  125  run: cpubind failed with one of 1 to 4, which the message has\n"
    "  126  run: the command cannot be executed; 127: there is no such command\n"
    "\n"
    "Environment:\n"
    "  ASCEND_RT_VISIBLE_DEVICES  the visible NPUs, such as 0,1,2 (else --visible)\n"
    "  ASCEND_VISIBLE_DEVICES     the same by physical ids, such as 4-5\n"
    "  CPUBIND_RULES              near or reference (else --rules)\n"
    "  DRA_CPUSET_*               the CPUs of this container alone: --scope own\n"
    "  COLUMNS, NO_COLOR          the width of the map; no colours\n"
    "\n"
    "A list is written as taskset takes it: 0-3,6 or 0-30:2, in any order. An option is\n"
    "written in full. With --json, errors are JSON too, also those of a command line.\n";

void cli_print_help(FILE *out, int is_all)
{
    fputs(main_help, out);
    if (is_all)
        fputs(main_more, out);
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
          "\n"
          "  --db FILE             the corpus; to read, the default is the one installed\n"
          "                        with cpubind, which no command writes to unasked\n"
          "  --help                this text; cpubind fixture replay --help for the options\n",
          out);
}

#define TYPES   "@types@"   /* the mark of the words of --device-type */
#define SCOPES  "@scopes@"  /* of --scope */
#define ORIGINS "@origins@" /* of --facts */

/* cli_print_help_of prints the formats of the command in place of the form feed. */
#define FORMATS "  --format FORMAT       how to print:\n\f"

#define DB "  --db FILE             the corpus (default: the one installed with cpubind)\n"

#define WHICH_DEVICE                                                                           \
    "  --device NAME         npu3 (or --npu 3), gpu0, 3, a PCI address; or --rank N\n"

#define THREADS                                                                                \
    "  --thread NAME=WHERE   " API_ROLE_WORDS "pool, keep, leave or\n"                         \
    "                        CPUs for threads of a name, or a*; --threads reference\n"

#define BRACED(name, word, letter) "{" word "}, "

#define IRQBALANCE "  --irqbalance WAY      leave (default), ban these interrupts, or stop it\n"

#define STATE                                                                                  \
    "  --state FILE          the record (default: /run[/user/UID]/cpubind/PID.record)\n"

#define LIVE_PLAN                                                                              \
    "  --rules, --keep, --processes, --index, --device-type, --visible, --running,\n"          \
    "  --total, --facts, --allowed, --exclude, --scope, --strategy, --overlap,\n"              \
    "  --pci, --class, --roles, --root, --fixture, --db: as for plan\n"

#define ANY_ARCH "  --any-arch            with --rules reference: not on ARM, too\n"

#define STRICT "  --with cpuset, --strict   births stay on its CPUs; undo all if a part fails\n"

/* The options of plan that other commands have too, but for those that name the NPUs. */
#define HOST_OPTIONS                                                                           \
    "  --root DIR            a snapshot in place of this host: a folder or NAME.host\n"        \
    "  --fixture NAME        a host of a corpus (--db FILE), such as a2-192cpu-8npu\n"

#define PLAN_OPTIONS                                                                           \
    "  --visible LIST        in place of ASCEND_RT_VISIBLE_DEVICES, CUDA_... : 0,1\n"          \
    "  --rank N              the number of the worker: say which device it drives\n"           \
    "  --total N             the number of NPUs of the host, where no input tells\n"           \
    "  --device-type TYPE    " TYPES ", or a chip, such as 910B\n"                             \
    "  --facts FROM          which inputs name the NPUs: " ORIGINS "\n"                        \
    "  --allowed LIST        CPUs, such as 0-95, in place of those of this process\n"          \
    "  --exclude LIST        CPUs that are left out of every pool\n"                           \
    "  --scope SCOPE         whose the allowed CPUs are: " SCOPES "\n"                         \
    "  --strategy NAME       auto, global_slice, topo_affinity or cluster\n"                   \
    "  --overlap POLICY      resolve, keep or refuse CPUs that two NPUs would share\n"         \
    "  --rules RULES         near (default: whole cores, homes first), or reference\n"         \
    "  --keep N|LIST         CPUs for the host: N of each node, or a list such as 0-3\n"       \
    "  --processes N --index I   N processes drive each device, this is the I-th\n"

static const char host_options[] = HOST_OPTIONS, plan_options[] = PLAN_OPTIONS;

static const cli_help helps[] = {
    {API_PLAN, "plan",
     "Usage: cpubind plan [OPTION...]\n"
     "Prints which CPUs each NPU would get. Changes nothing.\n"
     "\n" HOST_OPTIONS "  --devices LIST        these: npu0-3,gpu0 or 0-3; --running: those "
     "that run\n" PLAN_OPTIONS
     "  --compare, --distances   both rules side by side; the map with distances\n"
     "  --format FORMAT       text, json (--json), map or a launcher's: --help-all\n"
     "  --svg FILE            draw the plan as a picture, too; -: print it alone\n"
     "  --explain WHAT        why: npu3, device3, cpu17, acl, npu3.acl, threads or all\n"
     "  --no-lists, --quiet   without the lists of CPUs; the plan alone\n"},
    {API_APPLY, "apply",
     "Usage: cpubind apply --pid N | --device NAME | --rank N | --all ...\n"
     "Moves the threads of a process, the interrupts of its NPU and its memory to\n"
     "where the plan puts them, or undoes all. restore undoes all but memory.\n"
     "\n"
     "  --pid N               the process, whose device is found (default: the "
     "parent)\n" WHICH_DEVICE THREADS
     "  --memory WAY          migrate (default: own pages), all (lone worker), none\n"
     "  --memory-limit BYTES, --memory-time SECONDS   such as 200G; 5 by default\n" IRQBALANCE
     "  --watch [SECONDS]     bind again every SECONDS (default 1), to its end\n"
     "  --all, --tree         all that drive an NPU, or any GPU; those below --pid N\n"
     "  --respect-masks       --all: leave processes that bind themselves alone\n"
     "  --others WAY          --all: the engine's other processes: leave, or keep\n"
     "\n"
     "The plan:\n" LIVE_PLAN STATE STRICT
     "  --force, --any-arch   bind PID 1, a kernel thread or a zombie; as for run\n"
     "  --json, --quiet, --help, --version\n"},
    {API_RUN, "run",
     "Usage: cpubind run --device NAME|--rank N|--auto|--numa-bind [...] -- COMMAND...\n"
     "Binds itself, then executes the command in its place: signals and exit status\n"
     "are those of the command. Exits with 127 if there is no such command, with 126\n"
     "if it cannot be executed (the binding is undone), with 125 if cpubind fails.\n"
     "Threads get names later: use apply --watch for --thread. restore undoes it.\n"
     "\n" WHICH_DEVICE THREADS "  --memory WAY          prefer (default: new memory comes from "
     "its node) or none\n" IRQBALANCE
     "  --env NAME=VALUE      set a variable; " CPUBIND_ROLE_LIST(
         BRACED) "{pool}\n"
                 "                        stand for lists, {threads} for the number of main "
                 "CPUs,\n"
                 "                        {npu}, {node}; such as OMP_NUM_THREADS={threads}\n"
                 "\n"
                 "The plan:\n" LIVE_PLAN STATE ANY_ARCH STRICT
                 "  --or-unbound, --tree  start it after any refusal; bind all below it\n"
                 "  --json (errors alone), --quiet, --help, --version\n"},
    {API_VERIFY, "verify",
     "Usage: cpubind verify [--pid N | --all] [--device NAME | --rank N] [OPTION...]\n"
     "\n"
     "Prints where each thread, each interrupt and the memory of a process are, and\n"
     "where they belong; exits with 1 if one is elsewhere. Without a device it\n"
     "compares with the record of apply or run. Changes nothing.\n"
     "\n"
     "  --pid N               the process (default: the parent)\n"
     "  --all                 all that drive an NPU, or any GPU, and all on "
     "record\n" WHICH_DEVICE THREADS "  --memory none         do not check the memory\n"
     "\n"
     "The plan:\n" LIVE_PLAN "\n" STATE "  --json, --quiet, --help, --version\n"},
    {API_RESTORE, "restore",
     "Usage: cpubind restore [--pid N | --all [--service] | --ended] [--state FILE]\n"
     "\n"
     "Restores threads, interrupts and irqbalance as they were before apply or run.\n"
     "Whatever somebody else has moved since stays; memory stays where it is.\n"
     "\n"
     "  --pid N               the process (default: the parent)\n"
     "  --all                 every process on record, also those that have ended\n"
     "  --service             with --all: end the service of this host first; without\n"
     "                        it the service runs on, and leaves them alone\n"
     "  --ended               those that have ended; what others use stays\n" STATE
     "  --json, --quiet, --help, --version\n"},
    {API_STATUS, "status",
     "Usage: cpubind status [--watch [SECONDS]] [OPTION...]\n"
     "Prints every NPU of this host: its pool, its interrupts, the processes that use\n"
     "it, and where their threads and memory are: right, elsewhere, or unbound (on all\n"
     "CPUs). A process that is bound is compared with its record, another one with the\n"
     "plan. Other accelerators come after the NPUs, each with the processes that use\n"
     "it. Changes nothing; as root it sees all processes.\n"
     "\n"
     "  --watch [SECONDS]     look again each time this many seconds pass (default 1):\n"
     "                        draws a terminal again; into a pipe, a line a change\n"
     "  --memory none         do not measure memory, which takes long if it is much\n"
     "  --root DIR            the NPUs and who uses them, in place of those of this\n"
     "                        host; the processes are those of this host\n"
     "  --pci ADDRESS, --class CLASS   these accelerators alone, as for topo\n"
     "  --devices NAMES       these devices of one kind, as for plan\n"
     "  --total, --facts, --device-type, --allowed, --exclude, --strategy, --overlap,\n"
     "  --rules, --keep, --thread, --threads: give those of the workers\n"
     "\n"
     "  --json                one JSON object; with --watch one for each change\n"
     "  --quiet, --help, --version\n"
     "\n"
     "Exit status: 0 all is right, 1 something is elsewhere or unbound, 3 unreadable.\n"},
    {API_DOCTOR, "doctor",
     "Usage: cpubind doctor [OPTION...]\n"
     "Finds what on this host is against a good placement. Prints of each fault the\n"
     "evidence, what it costs, and the command that mends it.\n"
     "\n"
     "  --fix                 make the changes that are safe, on record\n"
     "  --fix --dry-run       say which these are; without --fix nothing is changed\n"
     "  --restore             put back what --fix has changed, after a crash too\n"
     "  --root DIR            a snapshot in place of this host: a folder or NAME.host\n"
     "  --fixture NAME        a host of a corpus (--db FILE)\n"
     "  --devices, --visible, --rank, --running, --total, --facts, --allowed,\n"
     "  --exclude, --scope, --device-type, --strategy, --overlap, --rules, --keep,\n"
     "  --processes, --index: as for plan; give those that the workers are bound with\n"
     "\n"
     "  --json                one JSON object\n"
     "  --quiet               the faults alone, without what is not known\n"
     "  --help, --version\n"
     "\n"
     "Exit status: 0 nothing to mend, 1 something to mend, 3 the host is unreadable,\n"
     "4 a change was refused.\n"},
    {API_SERVICE, "service",
     "Usage: cpubind service [--config FILE] [OPTION...]\n"
     "       cpubind service --check [FILE]\n"
     "Keeps every worker of the host bound to the CPUs of its NPU, on a host without\n"
     "NPUs of its other accelerator, as apply --all --watch does, in the foreground,\n"
     "with the settings of a file. systemd starts it: systemctl start cpubind. SIGHUP\n"
     "reads the file again; if the file is wrong, the old settings stay. SIGTERM ends\n"
     "the service, and all processes stay bound.\n"
     "\n"
     "  --config FILE         the settings (default: /etc/cpubind.conf, if it is there)\n"
     "  --check [FILE]        say what is wrong in the file, or print the settings\n"
     "  --restore-at-end      undo all bindings when the service ends\n"
     "  --json                --check: one JSON object\n"
     "  --quiet, --help, --version\n"},
    {API_TOPO, "topo",
     "Usage: cpubind topo [OPTION...]\n"
     "Prints the accelerators of a host (Ascend, NVIDIA, AMD, Intel, Gaudi): the node\n"
     "and the CPUs near each, and which of them this process sees. Changes nothing.\n"
     "\n"
     "  --nics                network cards, too, and how near each is to each device\n"
     "  --devices NAMES       these alone: npu0-3,gpu0 or 0-3, or PCI addresses\n"
     "  --pci ADDRESS         this PCI function, whatever it is; may be repeated\n"
     "  --class CLASS         functions of this PCI class, such as 0x0302 or 12\n"
     "  --slurm               lines of gres.conf, with File= and Cores=\n"
     "  --root DIR            a snapshot in place of this host: a folder or NAME.host\n"
     "  --fixture NAME        a host of a corpus (--db FILE)\n"
     "  --json, --quiet       one JSON object; the tables alone\n"
     "  --help, --version\n"},
    {API_CAPTURE, "capture",
     "Usage: cpubind capture -o DIR | --db FILE --name NAME [OPTION...]\n"
     "\n"
     "Writes the files and the outputs of npu-smi that a plan is made from, and the\n"
     "plan itself as an expectation; then plans from the files that were written, and\n"
     "exits with 1 if the two plans differ.\n"
     "\n"
     "Target:\n"
     "  -o, --output DIR      a new folder; or a file, NAME.host or NAME.host.gz\n"
     "  --db FILE             a corpus, which is created if it is missing\n"
     "  --replace             replace a host of this name\n"
     "\n"
     "Contents:\n"
     "  --redact              remove names (host, processes, jobs, users), serials\n"
     "  --name NAME           the name of the host (default: that of DIR)\n"
     "  --product TEXT        what the machine is\n"
     "  --notes TEXT          why it is worth keeping\n"
     "\n"
     "The plan and the host:\n"
     "  --devices, --visible, --rank, --running, --total, --facts, --allowed,\n"
     "  --exclude, --scope, --device-type, --strategy, --overlap, --rules, --keep,\n"
     "  --processes, --index: as for plan\n"
     "  --root DIR            a snapshot folder, or a whole copy of /proc and /sys\n"
     "\n"
     "  --json, --quiet, --help, --version\n"},
    {API_LIST, "fixture list",
     "Usage: cpubind fixture list [--db FILE] [--json]\n"
     "\n"
     "Prints a table: name, product, online CPUs, nodes with CPUs, NPUs of npu-smi,\n"
     "origin (captured, documented, synthetic), and how many plans and refusals are\n"
     "expected.\n"
     "\n" DB "  --json                one JSON object\n"},
    {API_SHOW, "fixture show",
     "Usage: cpubind fixture show NAME [INPUT] [--db FILE] [--json]\n"
     "\n"
     "Prints a host, its inputs and its expectations; or the bytes of one input, such\n"
     "as cmd/npu-smi-info-m.txt, unchanged.\n"
     "\n" DB "  --json                one JSON object\n"},
    {API_IMPORT, "fixture import",
     "Usage: cpubind fixture import DIR... --db FILE [--replace]\n"
     "\n"
     "Adds hosts to a corpus: host.txt, expect/CASE.json, and the inputs. DIR is a\n"
     "folder, or a file NAME.host or NAME.host.gz, as cpubind capture -o writes them.\n"
     "Either all of them are added, or the corpus is unchanged. A copy of\n"
     "/proc and /sys becomes a host folder with: cpubind capture --root COPY -o DIR\n"
     "\n"
     "  --db FILE             the corpus, which is created if it is missing\n"
     "  --replace             replace hosts of the same names\n"
     "  --json, --quiet       one JSON object; nothing but errors\n"},
    {API_EXPORT, "fixture export",
     "Usage: cpubind fixture export NAME DIR [--db FILE] [--replace]\n"
     "\n"
     "Writes a host as a folder, or as a file when DIR ends in .host or .host.gz,\n"
     "whole or not at all.\n"
     "\n" DB "  --replace             replace a host that exists\n"
     "  --json, --quiet       one JSON object; nothing but errors\n"},
    {API_REPLAY, "fixture replay",
     "Usage: cpubind fixture replay [NAME...] [--db FILE] [--jobs N] [--format FORMAT]\n"
     "\n"
     "Plans every host again, with the arguments of each of its expectations, and says\n"
     "what differs. Exits with 0 if nothing does, and with 1 if something does.\n"
     "\n" DB "  --jobs N              threads (default: one for each CPU)\n" FORMATS
     "  --json                the same as --format json\n"
     "  --quiet               only what differs\n"},
    {API_ACCEPT, "fixture accept",
     "Usage: cpubind fixture accept NAME [CASE...] --db FILE | --dry-run\n"
     "       cpubind fixture accept NAME CASE --db FILE -- ARGUMENT...\n"
     "\n"
     "Shows how the plans of a host differ from its expectations, and stores the\n"
     "plans as expectations, with the keys that these name, and the quality. With\n"
     "arguments of plan after --, such as --rank 1, it stores a new case or replaces\n"
     "the old one, with all keys. Read the differences first: --dry-run.\n"
     "\n" DB "  --dry-run             show the differences, and store nothing\n"
     "  --json, --quiet       one JSON object; nothing but errors\n"},
    {API_REMOVE, "fixture remove",
     "Usage: cpubind fixture remove NAME [CASE...] --db FILE [--dry-run]\n"
     "\n"
     "Removes a host with its inputs and expectations; with CASE these expectations\n"
     "alone. Either all of it is removed, or the corpus is unchanged. It cannot be\n"
     "undone: cpubind fixture export NAME DIR keeps a host as a folder.\n"
     "\n"
     "  --db FILE             the corpus\n"
     "  --dry-run             check that it is there, and remove nothing\n"
     "  --json, --quiet       one JSON object; nothing but errors\n"},
    {API_RENAME, "fixture rename",
     "Usage: cpubind fixture rename NAME NEW --db FILE\n"
     "\n"
     "Gives a host another name; its inputs and expectations stay.\n"
     "\n"
     "  --db FILE             the corpus\n"
     "  --json, --quiet       one JSON object; nothing but errors\n"},
};

/* What --help-all adds to the help of a command. */
static const struct {
    enum api_command command;
    const char *text;
} more_helps[] = {
    {API_PLAN,
     "\n"
     "Strategies: global_slice cuts the allowed CPUs into equal slices, one for each\n"
     "NPU of the host; topo_affinity gives an NPU the CPUs near it and those of the\n"
     "next node; cluster gives it one cluster of 8 cores. auto takes that of the\n"
     "product.\n"
     "\n"
     "Scopes: cpuset, all NPUs of the host share the allowed CPUs; host, pools are\n"
     "cut from all online CPUs, then each to the allowed ones; own, the allowed CPUs\n"
     "are those of this container alone. All workers of a host need the same --rules,\n"
     "--exclude, --keep and --processes.\n"
     "\n"
     "--rank N drives the N-th visible NPU, from 0 on, whichever run. --visible is\n"
     "read as the Ascend runtime reads it: ascending ids, commas and no ranges.\n"
     "--keep 4 keeps 4 CPUs of each node; --keep 4, is CPU 4 alone.\n"
     "\n"
     "On a host without NPUs the accelerators of other vendors are planned, as topo\n"
     "prints them; --pci ADDRESS (several) or --class CLASS plans these functions on\n"
     "any host, --roles IRQ,MAIN,ACL,RELEASE with other roles than 0,1,0,0.\n"
     "\n"
     "--cpu-workers N, or node: CPUs for N workers that drive no device, or one for\n"
     "each node, by whole cores: what the plan of the accelerators leaves, or those of\n"
     "--cpu-nodes LIST. --reserve N leaves the last N CPUs of each worker free,\n"
     "--reserve host:N those of the host.\n"
     "\n"
     "Formats for launchers have all ranks, in the order of the visible devices, or\n"
     "with --rank that one: taskset $(cpubind plan --rank 0 --format taskset) COMMAND.\n"
     "Those of OpenMP have the main CPUs, the others the whole pool. All formats:\n\f"},
    {API_APPLY,
     "\n"
     "--memory migrate moves the pages that the process alone maps, for at most\n"
     "--memory-time seconds and --memory-limit bytes (K, M, G or T may follow). all\n"
     "moves shared and locked pages too. --watch ends with the process; a fault is a\n"
     "warning, and tried again.\n"
     "\n"
     "--watch finds new threads and changed masks, with --all new processes. --others\n"
     "keep moves them to the CPUs of --keep. Everything but memory is on record.\n"
     "--with cpuset moves the process to a cgroup of its own, whose cpuset keeps all\n"
     "that is born on the CPUs of its device (masks, the default: threads are found).\n"
     "\n"
     "--thread may be repeated; the first that fits counts, before the table of names.\n"
     "In NAME, * stands for any bytes and ? for one; the kernel keeps 15 bytes of a\n"
     "name. keep: the CPUs of --keep; leave: not moved. --threads reference places\n"
     "what vllm-ascend places, product (default) all that the table has; cpubind plan\n"
     "--explain threads prints it.\n"},
    {API_RUN,
     "\n"
     "Children of the command inherit its CPUs: start one process for each NPU, each\n"
     "with a run of its own. A server that starts its own workers is bound with\n"
     "apply. In a systemd unit or a script, --rank \"$LOCAL_RANK\" names the NPU of\n"
     "each worker; --auto takes LOCAL_RANK and what Open MPI, MVAPICH, MPICH, PALS,\n"
     "Cray, Flux and Slurm set, in this order.\n"
     "\n"
     "On a host without NPUs it binds to an accelerator of any vendor (--pci, --class\n"
     "and --roles as for plan), or to the node of a device:\n"
     "  --numa-bind           the node of the device, shared with its other ranks\n"
     "  --index I             which rank this is (else --rank, else as --auto)\n"
     "  --numa-bind-nodes 0 0 1 1   nodes in place of those of the devices, by rank\n"
     "  --numa-bind-cpus 0-3 4-7    CPUs in place of those of the node, by rank\n"
     "  --force-lists         take the lists on a host with NPUs, too\n"
     "Memory is bound to the node, else prefers it, else comes from any node; each\n"
     "fallback is a warning, with --strict a failure.\n"},
};

static const char *more_help_of(enum api_command command)
{
    for (size_t i = 0; i < sizeof more_helps / sizeof *more_helps; i++)
        if (more_helps[i].command == command)
            return more_helps[i].text;
    return "";
}

const cli_help *cli_help_of(enum api_command command)
{
    for (size_t i = 0; i < sizeof helps / sizeof *helps; i++)
        if (helps[i].command == command)
            return &helps[i];
    return &helps[0];
}

/* Appends the words of a mark: "auto, driver or npu-smi". */
static void add_words(int32_t n, const char *(*word)(int32_t), api_text *to)
{
    for (int32_t i = 0; i < n; i++)
        api_add(to, "%s%s", i == 0 ? "" : i == n - 1 ? " or " : ", ", word(i));
}

static const char *scope_word(int32_t i)
{
    return cpubind_scope_word((cpubind_scope)i);
}

static const char *origin_word(int32_t i)
{
    return cpubind_origin_word((cpubind_origin)i);
}

/* Appends the words that stand for the mark at `text`; returns its length, 0: no mark. */
static size_t expand_mark(const char *text, api_text *to)
{
    if (strncmp(text, TYPES, strlen(TYPES)) == 0) {
        api_add_types(to);
        return strlen(TYPES);
    }
    if (strncmp(text, SCOPES, strlen(SCOPES)) == 0) {
        add_words(CPUBIND_SCOPE_COUNT, scope_word, to);
        return strlen(SCOPES);
    }
    if (strncmp(text, ORIGINS, strlen(ORIGINS)) == 0) {
        add_words(CPUBIND_ORIGIN_COUNT, origin_word, to);
        return strlen(ORIGINS);
    }
    return 0;
}

/* Prints a text of help, with the words of its marks. */
static void print_text(FILE *out, const char *text, const cli_format *formats)
{
    size_t width = 0; /* of the words of formats */
    for (const cli_format *format = formats; format && format->word; format++)
        width = strlen(format->word) > width ? strlen(format->word) : width;
    while (*text) {
        api_text words = {"", 0};
        const size_t n = expand_mark(text, &words);
        if (n > 0) {
            fputs(words.text, out);
        } else if (*text == '\f') {
            for (const cli_format *format = formats; format && format->word; format++)
                fprintf(out, "%24s%-*s  %s\n", "", (int)width, format->word, format->what);
        } else {
            putc(*text, out);
        }
        text += n > 0 ? n : 1;
    }
}

/* The help of a command that plans has the names of the options of plan alone. */
static void print_plan_options(FILE *out, enum api_command command)
{
    const int is_binding = (command & (API_APPLY | API_RUN | API_VERIFY)) != 0;
    if (!is_binding && !(command & (API_CAPTURE | API_DOCTOR)))
        return;
    fputs("\nThe plan:\n", out);
    if (command != API_CAPTURE)
        fputs(host_options, out);
    if (!is_binding)
        fputs("  --devices LIST        these devices: npu0-3,gpu0 or 0-3, or PCI addresses\n",
              out);
    fputs("  --running             the NPUs in the process table; plan: devices in use\n", out);
    print_text(out, plan_options, NULL);
}

void cli_print_help_of(FILE *out, enum api_command command, const cli_format *formats,
                       int is_all)
{
    print_text(out, cli_help_of(command)->text, formats);
    if (!is_all)
        return;
    print_text(out, more_help_of(command), formats);
    print_plan_options(out, command);
}

void cli_print_version(void)
{
    puts("cpubind " CPUBIND_VERSION ", records of form " CPUBIND_RECORD_FORM
         " (reads " CPUBIND_RECORD_FORMS_READ ")");
}
