/* cli.h - exit statuses, options, plans and messages, shared by all files of the command
 * SPDX-License-Identifier: MIT
 *
 * adapters/cli is the only folder that prints and exits. It decides nothing about CPUs: that
 * is done in cpubind.h and adapters/ascend. README.md documents options, output and statuses.
 */
#ifndef CPUBIND_CLI_H
#define CPUBIND_CLI_H

#include <stdio.h>

#include "../ascend/ascend_plan.h"
#include "../ascend/thread_roles.h"
#include "../linux/bind/bind.h"
#include "../pci/pci_facts.h"
#include "../sqlite/corpus.h"

/* Exit status of the command. */
enum cli_exit {
    CLI_DONE = 0,
    CLI_REFUSED = 1,          /* no plan is possible, or an expectation does not hold */
    CLI_USAGE = 2,            /* the command line is wrong */
    CLI_UNREADABLE = 3,       /* the host or the corpus could not be read */
    CLI_UNWRITTEN = 4,        /* the kernel refused, or a file could not be written */
    CLI_RUN_FAILED = 125,     /* run: cpubind failed with one of the above */
    CLI_NOT_EXECUTABLE = 126, /* run: as a shell and env(1) exit */
    CLI_NOT_FOUND = 127
};

/* == Words ================================================================== */

enum { CLI_MAX_QUOTE = 80 }; /* bytes of a text that is quoted in a message */

/* A message that is built in parts. A longer one is cut. */
typedef struct cli_text {
    char text[4096];
    size_t len;
} cli_text;

/* The bytes of the character of UTF-8 at text[0 .. len - 1], 1 to 4; 0 where there is none, or
 * a control character (U+0080 to U+009F too), which a terminal would obey. */
int32_t cli_character(const char *text, size_t len);

/* Appends to a message. Messages quote files and threads of other users, and are printed to
 * terminals and as JSON: "?" replaces every control character (line feeds only if the format
 * has none) and every byte that belongs to no character of UTF-8. */
__attribute__((format(printf, 2, 3))) void cli_add(cli_text *to, const char *format, ...);

/* Appends a list as the kernel prints it; "none" when it is empty. */
void cli_add_list(cli_text *to, const int32_t *list, int32_t n);

/* Appends the name of an input; for the output of a command, the command line. */
void cli_add_input(cli_text *to, const char *name);

/* Appends `: "text"`, at most CLI_MAX_QUOTE bytes of it; nothing when it is empty. */
void cli_add_quote(cli_text *to, const char *text, int32_t len);

/* Appends a PCI address: "0000:c1:00.0". */
void cli_add_pci(cli_text *to, const cpubind_pci_address *pci);

/* Appends the words of --device-type but "auto": "a2, a3 or 950". */
void cli_add_types(cli_text *to);

/* (name, word): the words of --strategy. Plans have them too, and "near". */
#define CLI_STRATEGY_LIST(X)                                                                   \
    X(GLOBAL_SLICE, "global_slice")                                                            \
    X(TOPO_AFFINITY, "topo_affinity")                                                          \
    X(CLUSTER, "cluster")

/* "global_slice", "none": the words that are printed. */
const char *cli_strategy_word(cpubind_strategy strategy);
const char *cli_finding_word(cpubind_finding finding);

/* == The command line ======================================================= */

/* The commands, as bits, since an option belongs to several. CLI_CASE is not a command: it
 * stands for the arguments that are stored with an expectation. */
enum cli_command {
    CLI_PLAN = 1,
    CLI_CAPTURE = 2,
    CLI_LIST = 4,
    CLI_SHOW = 8,
    CLI_IMPORT = 16,
    CLI_EXPORT = 32,
    CLI_REPLAY = 64,
    CLI_ACCEPT = 128,
    CLI_CASE = 256,
    CLI_APPLY = 512,
    CLI_RUN = 1024,
    CLI_VERIFY = 2048,
    CLI_RESTORE = 4096,
    CLI_DOCTOR = 8192,
    CLI_REMOVE = 16384,
    CLI_RENAME = 32768,
    CLI_SERVICE = 1 << 20,
    CLI_STATUS = 1 << 21,
    CLI_TOPO = 1 << 22,
    CLI_BINDING = CLI_APPLY | CLI_RUN | CLI_VERIFY | CLI_RESTORE
};

struct cli_format; /* below */

#define CLI_MAX_ARGS   64
#define CLI_MAX_WISHES 64
#define CLI_MAX_ENV    64
#define CLI_MAX_NAMES  32
#define CLI_MAX_PCI    64

/* Numbers in allocated memory. */
typedef struct cli_numbers {
    int32_t *item;
    int32_t n;
} cli_numbers;

typedef struct cli_options {
    enum cli_command command; /* whose options these are */
    const char *root;         /* a snapshot folder, or NULL */
    const char *fixture;      /* the name of a fixture host, or NULL */
    const char *db;           /* the corpus; NULL: the one installed with cpubind */
    cli_numbers npus, allowed, exclude, keep; /* request points to their items */
    cpubind_request request;
    int json, quiet;
    int has_index;                      /* --index is given */
    int distances;                      /* plan: the map has distances */
    int compare;                        /* plan: by both rules, side by side */
    int no_lists;                       /* plan: without the long lists of the text */
    const char *svg;                    /* plan: the file of a picture; "-": stdout; or NULL */
    const char *explain;                /* plan: what is explained in place of it; or NULL */
    const char *output;                 /* -o of capture */
    const char *name, *product, *notes; /* of the captured host, or NULL */
    int redact, replace, is_dry;
    int32_t jobs;                    /* threads of replay; 0: one a CPU */
    const struct cli_format *format; /* of plan and replay; else NULL */
    int32_t pid;                     /* the process; 0: the parent */
    int32_t one_npu;                 /* --npu, or -1 */
    const char *npu_text;            /* --npu as it was written */
    int has_memory, any_arch, all;
    int is_strict, is_forced, or_unbound, is_ended;
    int has_no_record; /* the process that is planned for may be bound, its record lost */
    cpubind_thread_wish wish[CLI_MAX_WISHES];
    int32_t n_wish;
    cpubind_threads threads;
    cpubind_memory_action memory;
    int64_t memory_limit; /* bytes, or -1 */
    int32_t memory_time;  /* seconds; 0: the usual time */
    cpubind_irqbalance_action irqbalance;
    int32_t watch_ms; /* 0: do not watch */
    const char *state;
    int respects_masks;       /* --all: leave processes alone that bind themselves */
    int keeps_others;         /* --others keep */
    cpubind_pci_request topo; /* of topo, without its functions */
    cpubind_pci_address pci[CLI_MAX_PCI]; /* --pci; topo.n_named of them */
    cpubind_role_spec roles;              /* --roles */
    int has_roles;
    const char *env[CLI_MAX_ENV]; /* "NAME=VALUE" */
    int32_t n_env;
    /* service: the files that it reads and writes, and which processes it binds */
    const char *config, *textfile, *socket; /* or NULL; a socket of "none" is NULL */
    const char *only[CLI_MAX_NAMES], *except[CLI_MAX_NAMES]; /* patterns of process names */
    int32_t n_only, n_except;
    int is_check, is_restored_at_end;
    char **word; /* the words after the options */
    int n_word;
    const char *arg[CLI_MAX_ARGS]; /* the options that an expectation may have, as its "args" */
    int n_arg;
    int help, help_all, version; /* with one of them, no other option is checked */
} cli_options;

/* Reads the options of one command; `formats` are those of --format, or NULL. Returns 0, with
 * the reason in *why, when one is wrong. cli_free_options may be called in both cases.
 *   in      argv[argc] may be written; words that are no options move to argv[1] and on */
int cli_parse(int argc, char **argv, enum cli_command command, const struct cli_format *formats,
              cli_options *out, cli_text *why);

/* Sets every option to its usual value. */
void cli_set_usual(cli_options *out, enum cli_command command);

/* Reads a list as taskset takes it (option_list.c): numbers below `limit` and ranges in any
 * order, repeats, blanks around commas, strides such as 0-30:2.
 *   out     *out, ascending, in memory that the caller frees; its former numbers are freed
 *   errors  why the text is no list, a static clause, and *at, the offset of the byte; *out is
 *           empty then. NULL: it is a list */
const char *cli_read_numbers(const char *text, int32_t limit, cli_numbers *out, int32_t *at);

/* Frees the lists of CPUs and NPUs. The CPUs of --thread are never freed: only a command has
 * them, and it ends with the process. */
void cli_free_options(cli_options *options);

/* Reads and checks the options of a command, and prints help, the version or an error. Returns
 * -1 to go on, else the exit status. */
int cli_start(int argc, char **argv, enum cli_command command, const struct cli_format *formats,
              cli_options *out);

/* Whether the words of a command that does not exist have --json or --format json. */
int cli_has_json(int argc, char **argv);

/* Called once before anything else: an ignored SIGCHLD is inherited, and the exit codes of
 * npu-smi would be lost. run restores the handler before exec. */
void cli_reset_signals(void);

/* The words of a command, such as "fixture replay", and its help. */
typedef struct cli_help {
    enum cli_command command;
    const char *words;
    const char *text;
} cli_help;

/* The words of all roles, each with ", " after it. */
#define CLI_ROLE_WORD_(name, word, letter) word ", "
#define CLI_ROLE_WORDS                     CPUBIND_ROLE_LIST(CLI_ROLE_WORD_)

/* The help of a command; for CLI_CASE the help of plan. */
const cli_help *cli_help_of(enum cli_command command);

/* Prints the help of a command, with the words of its tables in place of their marks; with
 * is_all also what does not fit one screen. */
void cli_print_help_of(FILE *out, enum cli_command command, const struct cli_format *formats,
                       int is_all);

/* Prints the list of commands; with is_all also the exit statuses and the environment. */
void cli_print_help(FILE *out, int is_all);
void cli_print_fixture_help(FILE *out);

/* The commands; argv[0] is the word of the command. Each returns the exit status. */
int cli_plan(int argc, char **argv);
int cli_apply(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_verify(int argc, char **argv);
int cli_restore(int argc, char **argv);
int cli_show_status(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_service(int argc, char **argv);
int cli_topology(int argc, char **argv);
int cli_capture(int argc, char **argv);
int cli_fixture(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_show(int argc, char **argv);
int cli_import(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_replay(int argc, char **argv);
int cli_accept(int argc, char **argv);
int cli_remove(int argc, char **argv);
int cli_rename(int argc, char **argv);

/* == A host and its plan ==================================================== */

/* An open host: this host or a folder in `host`, or a host of a corpus in `fixture`. */
typedef struct cli_host {
    struct cpubind_linux_host *host;
    cpubind_corpus_host *fixture;
    cpubind_source source;
} cli_host;

/* Opens the host that the options name. Returns the exit status, with the reason in *why. */
int cli_open_host(const cli_options *options, cli_host *out, cli_text *why);
void cli_close_host(cli_host *host);

/* Opens a snapshot: a folder, or a .tar or .tar.gz file of one. The caller closes *out. */
int cli_open_snapshot(const char *path, struct cpubind_linux_host **out, cli_text *why);

/* Opens this host as process `pid` sees it; 0 for this process. is_alone: npu-smi runs here,
 * and no output that another process has read is taken. */
int cli_open_live(int32_t pid, int is_alone, cli_host *out, cli_text *why);

/* A plan, or the problem for which there is none. All zero before the first cli_make. */
typedef struct cli_planned {
    cpubind_problem_code code;
    cpubind_facts facts;
    cpubind_problem problem;
    cpubind_ascend_plan plan; /* when there is no problem */
    int has_facts;            /* all facts are known; the plan may be refused */
    cpubind_arena arena;      /* memory of facts and plan; reused by the next cli_make */
} cli_planned;

void cli_make(const cpubind_source *source, const cpubind_request *request, cli_planned *out);
void cli_free_planned(cli_planned *planned);

/* Calls `make` with an arena that is four times as large each time, until it returns anything
 * but NO_MEMORY. The arena is all zero before the first call; the caller frees its base. */
typedef cpubind_problem_code cli_maker(void *ctx, cpubind_arena *arena);
cpubind_problem_code cli_with_arena(cpubind_arena *arena, cli_maker *make, void *ctx);

/* Shows on a terminal what the command is waiting for; NULL erases that line. */
void cli_progress(const cli_options *options, const char *text);

/* == Output formats ========================================================= */

struct cli_replay_result;

/* One format of plan or of replay: its word, what it prints, and the function that prints it
 * to stdout and returns 0 without memory. Options, help and errors come from the rows; a new
 * format is one more row. The first row of a list is the default; a row without a word ends
 * it. */
typedef struct cli_format {
    const char *word;
    const char *what; /* for --help */
    int is_json;      /* the same as --json: errors are JSON too */
    int (*plan)(const cli_planned *planned, const cli_options *options);
    int (*replay)(const struct cli_replay_result *result, const cli_options *options);
    /* plan --compare: plans by the reference and by near; one may be a refusal */
    int (*compare)(const cli_planned *reference, const cli_planned *near_plan,
                   const cli_options *options);
    /* plan: whether the plan has this form; 0, with the reason in *why: it has not. Or NULL. */
    int (*check)(const cli_planned *planned, const cli_options *options, cli_text *why);
} cli_format;

/* == Messages =============================================================== */

/* Appends why there is no plan: what, where, why, and what to do; without a line feed. */
void cli_explain(const cli_planned *planned, const cli_options *options, cli_text *out);

/* Appends the same for one problem, such as that of an NPU without a pool. */
void cli_explain_problem(const cpubind_problem *problem, const cpubind_facts *facts,
                         const cli_options *options, cli_text *out);

/* Appends the CPUs that are shared out, and those of --exclude: "0-22, excluded CPUs 23". */
void cli_add_allowed(cli_text *to, const cpubind_facts *facts, const cli_options *options);

/* Appends the form of the visible devices that the Ascend runtime reads, if their text is a
 * list in another form: "0-3" is 0,1,2,3. */
void cli_add_comma_form(cli_text *to, const cpubind_facts *facts);

/* Prints the warnings of a plan on stderr; nothing when there is no plan. */
void cli_print_warnings(const cli_planned *planned);

/* Appends one warning as a sentence, without a line feed. */
void cli_explain_warning(cpubind_warning warning, const cpubind_facts *facts,
                         const cpubind_ascend_plan *plan, cli_text *out);

/* Line and column of the byte at fault; 0, 0 when the problem is not in a text. */
cpubind_place cli_place(const cpubind_problem *problem);

/* Prints why there is no plan, as JSON on stdout or as a line on stderr. Returns the exit
 * status. */
int cli_refuse(const cli_options *options, const cli_planned *planned);

/* Prints any other error in the same way. Its code is "refused", "usage", "unreadable" or
 * "unwritten", by the status, which is returned. */
int cli_fail(const cli_options *options, int status, const char *text);

/* Keeps the sentence that says what has been done, for an output that cannot be written. */
void cli_note_done(const cli_text *text);

/* Flushes stdout, and says so if the output could not be written: a full disk or a closed pipe
 * is an error only then. Returns the exit status. */
int cli_finish(int status);

/* Appends that memory ran out; returns the exit status. */
int cli_no_room(cli_text *why);

/* Prints the plan as text: the log lines, a table, what was found, the map. With --quiet only
 * the log lines. */
void cli_print_text(FILE *out, const cli_planned *planned, const cli_options *options);

/* The formats of plan --compare; they return 0 without memory. One plan may be a refusal. */
int cli_compare_text(const cli_planned *reference, const cli_planned *near_plan,
                     const cli_options *options);
int cli_compare_json(const cli_planned *reference, const cli_planned *near_plan,
                     const cli_options *options);

/* Prints one row for each node, with a column for each core; with --distances also how far its
 * CPUs are from the homes of their NPUs. Returns 0 without memory. */
int cli_print_map(FILE *out, const cli_planned *planned, const cli_options *options);

/* The figures of pools. Those of locality count only if is_placed: the place of one of the NPUs
 * is known. */
typedef struct cli_figures {
    const cpubind_quality *quality; /* NULL: no pool, or no plan */
    int is_placed;
} cli_figures;

/* Those of a whole plan, and of one of its rows. */
cli_figures cli_figures_of(const cpubind_ascend_plan *plan);
cli_figures cli_figures_of_row(const cpubind_ascend_plan *plan, int32_t row);

/* Prints figures as `n` columns, each below its head. */
void cli_print_quality(FILE *out, const char *const *head, const cli_figures *figures,
                       int32_t n);

/* Near CPUs of 100 CPUs in pools, rounded down; -1: not known, or there are no pools. */
int32_t cli_near_percent(cli_figures figures);

/* One row of a plan: an NPU, its pool, and the CPUs of its roles. */
typedef struct cli_row {
    const cpubind_npu *npu;
    const int32_t *cpu; /* the pool, ascending */
    int32_t n;
    const int32_t *role_cpu; /* the CPUs of the roles of this process ... */
    cpubind_roles roles;     /* ... as spans of role_cpu */
    int32_t memory_node;     /* or -1 */
    cli_figures figures;
    const cpubind_problem *problem; /* why it has no pool; NULL: it has one */
} cli_row;

cli_row cli_row_of(const cpubind_facts *facts, const cpubind_ascend_plan *plan, int32_t row);

/* The CPUs of a role, ascending; *n is their number. */
const int32_t *cli_role_of(const cli_row *row, cpubind_role role, int32_t *n);

/* The rows that are shown: those of the plan and, between them, the NPUs without a pool, by
 * ascending logic id. */
int32_t cli_n_shown(const cpubind_ascend_plan *plan);
cli_row cli_shown(const cpubind_facts *facts, const cpubind_ascend_plan *plan, int32_t i);

/* The logic id of the NPU that the rank drives; -1 without --rank. */
int32_t cli_rank_npu(const cli_planned *planned, const cli_options *options);

/* Writes the nodes that have one of the CPUs, ascending; `out` has room for all nodes. Returns
 * their number. */
int32_t cli_nodes_of(const cpubind_facts *facts, const int32_t *cpu, int32_t n, int32_t *out);

#endif /* CPUBIND_CLI_H */
