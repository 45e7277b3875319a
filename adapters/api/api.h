/* api.h - words, options, plans and reports, as the command and other languages have them
 * SPDX-License-Identifier: MIT
 *
 * Shared by the files of this folder and by adapters/cli. What other programs call is
 * cpubind_api.h alone. Nothing here prints: texts and JSON are made in memory. Nothing here
 * decides about CPUs: cpubind.h and adapters/ascend do.
 */
#ifndef CPUBIND_API_API_H
#define CPUBIND_API_API_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "../linux/bind/bind.h"
#include "../linux/kernel/bytes.h"
#include "../model/vendor.h"
#include "../pci/launch_text.h"
#include "../plan/network.h"
#include "../plan/plan.h"
#include "../text/character.h"
#include "../words/messages.h"
#include "../words/show.h"

/* How a call has ended: the exit status of the command. */
enum api_status {
    API_DONE = 0,
    API_REFUSED = 1,    /* no plan is possible, or an expectation does not hold */
    API_USAGE = 2,      /* an option is wrong */
    API_UNREADABLE = 3, /* the host or the corpus could not be read */
    API_UNWRITTEN = 4   /* the kernel refused, or a file could not be written */
};

/* == Words ================================================================== */

enum { API_MAX_KEYS = 40 }; /* of the settings */

/* Appends the logic ids of the NPUs in view that a test is true of; of all with NULL. The list
 * is in memory of its own: a thread may have 64 KiB of stack. */
void api_add_npus(api_text *to, const cpubind_facts *facts,
                  int (*is_in)(const void *ctx, const cpubind_host_device *npu),
                  const void *ctx);

/* Appends the name of an input; for the output of a command, the command line. */
void api_add_input(api_text *to, const char *name);

/* Appends " (INPUT, line N, column N: what)" for a problem; nothing for none. */
void api_add_fault(const cpubind_problem *problem, api_text *to);

/* Appends that the mask of the process is narrower than its cpuset, and what lifts it. */
void api_add_mask(const cpubind_facts *facts, api_text *to);

/* Appends that a request which keeps pools at home may let them reach further; else nothing. */
void api_add_reach(const cpubind_request *request, api_text *to);

/* How many of `n` threads the quota of the cgroup has CPU time for, at least one. */
int32_t api_most_threads(const cpubind_facts *facts, int32_t n);

/* Appends `: "text"`, at most API_MAX_QUOTE bytes of it; nothing when it is empty. */
void api_add_quote(api_text *to, const char *text, int32_t len);

/* (name, word): the words of strategy=. Plans have them too, and "near". */
#define API_STRATEGY_LIST(X)                                                                   \
    X(GLOBAL_SLICE, "global_slice")                                                            \
    X(TOPO_AFFINITY, "topo_affinity")                                                          \
    X(CLUSTER, "cluster")

/* "global_slice", "none": the words that are printed. */
const char *api_strategy_word(cpubind_strategy strategy);
const char *api_finding_word(cpubind_finding finding);

/* == Options ================================================================ */

/* The commands, as bits, since an option belongs to several. API_CASE is not a command: it
 * stands for the arguments that are stored with an expectation. */
enum api_command {
    API_PLAN = 1,
    API_CAPTURE = 2,
    API_LIST = 4,
    API_SHOW = 8,
    API_IMPORT = 16,
    API_EXPORT = 32,
    API_REPLAY = 64,
    API_ACCEPT = 128,
    API_CASE = 256,
    API_APPLY = 512,
    API_RUN = 1024,
    API_VERIFY = 2048,
    API_RESTORE = 4096,
    API_DOCTOR = 8192,
    API_REMOVE = 16384,
    API_RENAME = 32768,
    API_GROUPS = 65536,
    API_SERVICE = 1 << 20,
    API_STATUS = 1 << 21,
    API_TOPO = 1 << 22,
    API_MEASURE = 1 << 23,
    API_TOPO_CALL = 1 << 26, /* no command: the call of cpubind_api.h that lists devices */
    API_PLAN_CALL = 1 << 27, /* no command: a call of cpubind_api.h that plans */
    API_BIND_CALL = 1 << 28, /* no command: a call of cpubind_api.h that binds */
    API_LIVE = API_APPLY | API_RUN | API_VERIFY, /* those that plan for a process */
    API_BINDING = API_LIVE | API_RESTORE
};

struct api_format; /* below */

#define API_MAX_ARGS   64
#define API_MAX_WISHES 64
#define API_MAX_ENV    64
#define API_MAX_NAMES  32
#define API_MAX_PCI    64
#define API_MAX_NUMA   256

/* The sides of a measurement: (name, word). */
#define API_SIDE_LIST(X)                                                                       \
    X(NOW, "now")         /* as it was found */                                                \
    X(UNBOUND, "unbound") /* all CPUs of its cpuset */                                         \
    X(NEAR, "near")                                                                            \
    X(REFERENCE, "reference")

typedef enum api_side {
#define CPUBIND_X(name, word) API_SIDE_##name,
    API_SIDE_LIST(CPUBIND_X)
#undef CPUBIND_X
        API_SIDES
} api_side;

/* "unbound". Static storage. */
const char *api_side_word(api_side side);

#define API_USUAL_MEASURE_MS 60000

/* What a probe asks the service. */
enum { API_ASK_ALIVE = 1, API_ASK_READY };

/* Numbers in allocated memory. */
typedef struct api_numbers {
    int32_t *item;
    int32_t n;
} api_numbers;

/* A device as a user names it. */
typedef struct api_name {
    const char *noun;        /* "npu", "gpu", of the row of a vendor; NULL: of any */
    int32_t number;          /* -1: the name is its address */
    cpubind_pci_address pci; /* of an address */
} api_name;

typedef struct api_names {
    api_name *item; /* free(3) */
    int32_t n;
} api_names;

typedef struct api_options {
    enum api_command command; /* whose options these are */
    const char *root;         /* a snapshot folder, or NULL */
    const char *fixture;      /* the name of a fixture host, or NULL */
    const char *db;           /* the corpus; NULL: the one installed with cpubind */
    api_numbers npus, allowed, exclude, keep; /* request points to their items */
    cpubind_request request;
    int is_call; /* of the library, whose options are written key=value */
    int json, quiet;
    int has_index;            /* --index is given */
    const char *columns;      /* the titles of those that are shown; NULL: all */
    const char *explain;      /* plan: what is explained in place of it; or NULL */
    const char *what_if_word; /* plan: a setting of the firmware, or NULL ... */
    int32_t what_if;          /* ... as cpubind_what_if takes it; 0: none */
    const char *output;       /* -o of capture */
    const char *name;         /* of the captured host, or NULL */
    int redact, replace, is_dry;
    int shapes;                      /* import: keeps the shapes of hosts alone */
    int is_fix, is_restoring;        /* doctor */
    const char *format_word;         /* --format, or NULL */
    const struct api_format *format; /* of that word: of plan, topo and replay; else NULL */
    int32_t pid;                     /* the process; 0: the parent */
    api_names device; /* --device and --devices, until they are found: see api_find_devices */
    const struct api_option *npu_option; /* one that is given and is about NPUs alone */
    int32_t one_npu;                     /* the NPU that a process is bound to, or -1 */
    char npu_text[12];                   /* its number, as a list of visible devices */
    int has_memory, any_arch, all;
    int is_strict, is_forced, or_unbound, is_ended;
    int ends_service;  /* restore --all: ends the service, too */
    int has_no_record; /* the process that is planned for may be bound, its record lost */
    cpubind_thread_wish wish[API_MAX_WISHES];
    int32_t n_wish;
    cpubind_threads threads;
    cpubind_memory_action memory;
    int64_t memory_limit; /* bytes, or -1 */
    int32_t memory_time;  /* seconds; 0: the usual time */
    cpubind_irqbalance_action irqbalance;
    int moves_nics;           /* nic-interrupts = pool */
    int32_t watch_ms;         /* 0: do not watch */
    int respects_masks;       /* --all: leave processes alone that bind themselves */
    int keeps_others;         /* others = keep */
    int tree;                 /* --tree: a process and all below it */
    cpubind_pci_request topo; /* of topo, without its functions */
    int32_t n_choose;         /* how many devices a job is to ask for; 0: not asked for */
    cpubind_pci_address pci[API_MAX_PCI]; /* those named that are no NPUs; topo.n_named
                                             of them ... */
    int32_t tile[API_MAX_PCI];            /* ... and which tile is meant; -1: all of it */
    cpubind_role_spec roles;              /* of request.roles */
    /* plan: workers that drive no device, on these nodes; what is left free of each, and
     * once */
    int is_workers_alone; /* --cpu-workers: print the workers, and not the devices */
    api_numbers cpu_nodes;
    int is_slurm; /* topo: lines of gres.conf */
    /* run: bound to the node of its device, or to lists, one word for each rank */
    int numa_bind, is_auto;
    const char *numa_node[API_MAX_NUMA], *numa_cpus[API_MAX_NUMA];
    int32_t n_numa_node, n_numa_cpus;
    const char *env[API_MAX_ENV]; /* "NAME=VALUE" */
    int32_t n_env;
    int wants_network; /* 1: network cards are named, or their interrupts are moved */
    /* service: the files that it reads and writes, and which processes it binds */
    const char *config, *textfile, *socket; /* or NULL; a socket of "none" is NULL */
    const char *only[API_MAX_NAMES], *except[API_MAX_NAMES]; /* patterns of process names */
    int32_t n_only, n_except;
    int is_check, is_restored_at_end;
    int32_t ask; /* API_ASK_*; 0: nothing */
    /* measure */
    int has_between;
    api_side between[2];
    int64_t time_ms;
    const char *metric[API_MAX_NAMES];
    int32_t n_metric;
    char **word; /* the words after the options */
    int n_word;
    const char *arg[API_MAX_ARGS]; /* the options that an expectation may have, as its "args" */
    int n_arg;
    /* The settings of the host (settings.h), by the row of api_keys: as bits the keys that an
     * option has said, or -o, and those that counted; the last value of each, or NULL. */
    uint64_t given, said, counted;
    char *conf_text, *conf_value[API_MAX_KEYS];
    int settings_status; /* run: why there are none; else 0 */
    int help, version;   /* with one of them, no other option is checked; help 2: -h */
} api_options;

/* Sets every option to its usual value. */
void api_set_usual(api_options *out, enum api_command command);

/* Reads a list as taskset takes it (option_list.c): numbers below `limit` and ranges in any
 * order, repeats, blanks around commas, strides such as 0-30:2.
 *   out     *out, ascending, in memory that the caller frees; its former numbers are freed
 *   errors  why the text is no list, a static clause, and *at, the offset of the byte; *out is
 *           empty then. NULL: it is a list */
const char *api_read_numbers(const char *text, int32_t limit, api_numbers *out, int32_t *at);

/* Appends where a wish puts threads: "acl", "pool", "keep", "leave" or CPUs. */
void api_add_wish(const cpubind_thread_wish *wish, api_text *to);

/* == Names of devices (device_name.c) ======================================= */

/* Reads one name: "npu3", "gpu0", "3", "device3", "0000:c1:00.0", "c1:00.0". Returns 0 for any
 * other text. */
int api_read_name(const char *text, int32_t len, api_name *out);

/* Reads names with commas between them, where a number may be a range as api_read_numbers has
 * it: "npu0-3,gpu0".
 *   in      only: the noun that all have, written or not; NULL: any
 *   out     *out, which the caller frees in every case
 *   errors  as api_read_numbers */
const char *api_read_names(const char *text, const char *only, api_names *out, int32_t *at);

/* Whether a name, as a user writes it, is that of a device: its own, without a noun its id in
 * the plan, or its address. */
int api_is_called(const api_name *name, const api_name *its, int32_t id);

/* The name of one of facts->device. Its noun is static. */
api_name api_name_of(const cpubind_host_device *device);

/* The name of a device by the number that it, or a tile of it, has; -1: by its address. */
api_name api_name_with(const cpubind_host_device *device, int32_t number);

/* Appends names of devices: "npu0-3, gpu0"; those without a number by their addresses. */
void api_add_names(api_text *to, const api_name *name, int32_t n);

/* Takes the names of o->device where all are of NPUs, which needs no look at the host; else
 * leaves them. Returns 0 without memory. */
int api_take_npus(api_options *o);

/* Adds a function of the bus to those that are named. Returns 0 where there are too many. */
int api_name_function(api_options *o, const cpubind_pci_address *pci, int32_t tile);

/* Finds the devices that are named and not found yet: NPUs become those of the request, others
 * functions of the bus. A command that binds names them as this process sees them, others as
 * the host shows them.
 *   in       source: of the host; a command that binds may have NULL, for this one
 *   returns  the exit status, with the reason and what there is in *why */
int api_find_devices(const cpubind_source *source, api_options *o, api_text *why);

/* Appends the names of all devices that this process sees: "npu0-3, gpu0". */
void api_add_devices(const cpubind_source *source, const api_options *o, api_text *to);

/* Whether options name a device, found or not. */
int api_names_device(const api_options *options);

/* Frees the lists of CPUs, NPUs and devices, and the CPUs of --thread. */
void api_free_options(api_options *options);

/* The words of all roles, each with ", " after it. */
#define API_ROLE_WORD_(name, word) word ", "
#define API_ROLE_WORDS             CPUBIND_ROLE_LIST(API_ROLE_WORD_)

/* The words that are being read. */
typedef struct api_reading {
    const char *words; /* of the command, for "try: cpubind WORDS --help"; "": of settings */
    api_options *options;
    api_text *why;
    char **argv;
    int argc;
    int *next; /* index of the word after those that were read */
    /* Takes "key=value" of -o, as api_add_setting; NULL: the command reads no settings. */
    int (*set)(api_options *options, char *word, api_text *why);
} api_reading;

/* (name, title): the groups of options in the help, in its order. */
#define API_GROUP_LIST(X)                                                                      \
    X(COMMAND, "Options")                                                                      \
    X(DEVICES, "Which devices")                                                                \
    X(HOST, "Which host")                                                                      \
    X(PLAN, "The plan")                                                                        \
    X(BINDING, "Binding")                                                                      \
    X(NUMA, "By node as vLLM and SGLang do")                                                   \
    X(OUTPUT, "Output")

typedef enum api_group {
#define API_X(name, title) API_GROUP_##name,
    API_GROUP_LIST(API_X)
#undef API_X
        API_GROUP_COUNT
} api_group;

/* Their titles. */
extern const char *const api_group_titles[];

/* One option. Without a function that reads it, its value is stored at `member` of api_options:
 * the text, the number of a word, or 1 for an option without a value. */
typedef struct api_option {
    const char *dashed;
    const char *value; /* what the help calls it; in brackets: it may be left out; NULL: none */
    api_group group;
    int first;    /* the commands whose help shows it before all groups */
    int commands; /* that have it; with API_CASE an expectation may have it too */
    int (*read)(const api_reading *r, const char *text);
    const struct api_choice *words; /* one of them is stored as an int32_t; or NULL */
    size_t member;
    size_t given;        /* of the flag that it was given, or of the number of texts; 0: none */
    const char *list;    /* a list of numbers, api_numbers: what each is, "CPU"; or NULL */
    int32_t room;        /* for texts, as many as it is given; 0: for one */
    int letter;          /* of the short form, or 0 */
    int is_of_npus;      /* refused where other devices are asked for */
    const char *text;    /* of the help; NULL: another spelling, which the help does not have */
    int32_t least, most; /* of a number, which is stored as an int32_t; most 0: it is none */
    const char *what;    /* "the number of a process": what else is wrong; of a number */
} api_option;

/* All options, in the order of the help; a row without a name ends the list. */
extern const api_option api_option_rows[];

/* Whether an option needs a value. */
int api_takes_value(const api_option *row);

/* Appends the words that the value of an option can be: "near, reference"; nothing where it has
 * none. */
void api_add_option_words(const api_option *row, api_text *to);

/* Stores the value of an option. Returns 0, with the reason in *r->why, when it is wrong. */
int api_store(const api_reading *r, const api_option *row, const char *value);

/* Checks --index against --processes, for the command of these words, or (NULL) a call; as
 * api_store. */
int api_check_index(const api_options *options, const char *words, api_text *why);

/* Appends what became of an option that there was. Returns 0 for any other name. */
int api_add_retired(const char *name, api_text *why);

/* Stores the value of the option `key`; a switch takes yes or no. As api_store.
 *   in      commands: bits of those that may have it, 0 for any; `value` may be written, and
 *           lives as long as the options */
int api_read_setting(api_options *options, int commands, const char *key, char *value,
                     api_text *why);

/* == Words that are like another ============================================ */

#define API_HINTS 3

/* The words that are most like one, the best first. Begins as {.word = ...}. */
typedef struct api_hint {
    const char *word;            /* as it was given */
    const char *like[API_HINTS]; /* borrowed */
    int32_t far[API_HINTS];      /* how far each is from the word: 0 is equal but for case */
    int32_t n;
} api_hint;

/* Keeps a known word if it is like the given one: it begins with it, in either case, or a few
 * letters differ: one of four, at most three. O(length of the one x length of the other). */
void api_hint_try(api_hint *hint, const char *known);

/* Appends "; did you mean "a" or "b"?"; nothing where no word is like it. */
void api_hint_add(const api_hint *hint, api_text *why);

/* == A host and its plan ==================================================== */

/* An open host: this host or a folder in `host`, or another one in `other`. */
typedef struct api_host {
    struct cpubind_linux_host *host;
    void *other;
    void (*close_other)(void *other);
    cpubind_source source;
    struct api_outer *outer; /* of a live host: the process is inside of a binding; or NULL */
} api_host;

/* Opens this host as process `pid` sees it; 0 for this process. Its allowed CPUs are those
 * before the bindings that it is inside of. is_alone: npu-smi runs here, no output that another
 * process has read is taken, and the CPUs are those that it has. Returns the status, with the
 * reason in *why. */
int api_open_live(int32_t pid, int is_alone, api_host *out, api_text *why);

/* The files of a host, but the environment of a live process, and allowed CPUs that may be
 * others than those of the process. */
typedef struct api_process_view {
    const cpubind_source *host;
    const cpubind_source *process; /* NULL: an empty environment, and no device files */
    char *status;                  /* free(3)'s; NULL: the allowed CPUs of the process */
    int32_t status_len;
} api_process_view;

/* The view as a source, which borrows from it. */
cpubind_source api_process_source(api_process_view *view);

/* Nothing depends on an environment that may not be read when the options say what it would:
 * then there is no warning of it. */
void api_settle_environment(struct api_outer *outer, const api_options *options);
void api_close_host(api_host *host);

/* The network cards of a host (nics.h). */
typedef struct api_network {
    cpubind_network of;
    cpubind_problem problem; /* why they cannot be read */
    int is_unread;           /* 1: there are cards, and they cannot be read */
    cpubind_arena arena;
} api_network;

void api_free_network(api_network *network);

/* A plan, or the problem for which there is none. All zero before the first api_make. */
typedef struct api_planned {
    cpubind_problem_code code;
    cpubind_facts facts;
    cpubind_problem problem;
    cpubind_device_plan plan;      /* when there is no problem */
    int has_facts;                 /* all facts are known; the plan may be refused */
    cpubind_arena arena;           /* memory of facts and plan; reused by the next api_make */
    const struct api_outer *outer; /* of the host, whose it is: what it warns of; or NULL */
    api_network *network;          /* what is known of network cards; NULL: nobody has asked */
} api_planned;

/* Plans the NPUs of a host or, by a request for devices of the bus, those that there are. */
void api_make(const cpubind_source *source, const cpubind_request *request, api_planned *out);

/* Reads the facts for that alone. */
void api_read(const cpubind_source *source, const cpubind_request *request, api_planned *out);

/* The same plan with facts that are known already. The plan quotes what they quote. */
void api_make_from(const cpubind_facts *facts, const cpubind_request *request,
                   api_planned *out);
void api_free_planned(api_planned *planned);

/* == Messages =============================================================== */

/* Appends why there is no plan: what, where, why, and what to do; without a line feed. */
void api_explain(const api_planned *planned, const api_options *options, api_text *out);

/* Says that the bus has no device, or is not there. */
void api_add_no_device(int has_bus, const api_options *options, api_text *out);

/* Appends the same for one problem, such as that of an NPU without a pool. */
void api_explain_problem(const cpubind_problem *problem, const cpubind_facts *facts,
                         const api_options *options, api_text *out);

/* Appends the CPUs that are shared out, and those of --exclude: "0-22, excluded CPUs 23". */
void api_add_allowed(api_text *to, const cpubind_facts *facts, const api_options *options);

/* Appends the form of the visible devices that the Ascend runtime reads, if their text is a
 * list in another form: "0-3" is 0,1,2,3. */
void api_add_comma_form(api_text *to, const cpubind_facts *facts);

/* Appends the list of visible devices of a refused request with its ranges written out. */
void api_add_commas(const api_options *options, api_text *to);

/* Appends one warning as a sentence, without a line feed. */
void api_explain_warning(cpubind_warning warning, const cpubind_facts *facts,
                         const cpubind_device_plan *plan, api_text *out);

/* Line and column of the byte at fault; 0, 0 when the problem is not in a text. */
cpubind_position api_place(const cpubind_problem *problem);

/* Appends that memory ran out; returns the status. */
int api_no_room(api_text *why);

/* "refused", "usage", "unreadable" or "unwritten": the code of an error that is no problem of a
 * plan, by its status. */
const char *api_status_word(int status);

/* == Formats of a plan ====================================================== */

/* The figures of pools. Those of locality count only if is_placed: the place of one of the NPUs
 * is known. */
typedef struct api_figures {
    const cpubind_quality *quality; /* NULL: no pool, or no plan */
    int is_placed;
} api_figures;

/* Those of a whole plan, and of one of its rows. */
api_figures api_figures_of(const cpubind_device_plan *plan);
api_figures api_figures_of_row(const cpubind_device_plan *plan, int32_t row);

/* Appends those of a plan as one line: three, and what is not as it should be. */
void api_add_figures(api_text *to, const char *noun, const cpubind_device_plan *plan);

/* The figure of a key of JSON; -1: not known, or no such key. */
int32_t api_figure(api_figures figures, const char *key);

/* The figures as an object; null without a pool. */
words_value *api_quality_json(api_figures figures, int is_of_npu);

/* One row of a plan: a device, or a tile of one, its pool, and the CPUs of its roles. */
typedef struct api_row {
    const cpubind_host_device *device; /* the device */
    int32_t id;                        /* among all devices of the plan */
    int32_t rank;                      /* among those that the process sees */
    int32_t tile;                      /* -1: all of the device */
    int32_t number;                    /* by which its runtime names it; -1: not known */
    int32_t node;                      /* that it is near; -1: not known */
    const int32_t *cpu;                /* the pool, ascending */
    int32_t n;
    const int32_t *role_cpu;  /* the CPUs of the roles of this process ... */
    cpubind_role_spans roles; /* ... as spans of role_cpu */
    int32_t memory_node;      /* or -1 */
    api_figures figures;
    const cpubind_problem *problem; /* why it has no pool; NULL: it has one */
} api_row;

/* A whole row of the plan, without rank, tile, number and node. */
api_row api_row_of(const cpubind_facts *facts, const cpubind_device_plan *plan, int32_t row);

/* The role of a word, in letters of either case; -1: there is none. */
int32_t api_find_role(const char *word);

/* The CPUs of a role, ascending; *n is their number. */
const int32_t *api_role_of(const api_row *row, cpubind_role role, int32_t *n);

/* The rows that are shown, plan->n_unit of them: those of plan->unit. */
api_row api_shown(const cpubind_facts *facts, const cpubind_device_plan *plan, int32_t i);

/* The name of a row. */
api_name api_row_name(const api_row *row);

/* Appends a device that a plan knows: "npu3", "the hidden device 0000:c1:00.0". */
void api_add_candidate(api_text *to, const cpubind_facts *facts,
                       const cpubind_candidate *candidate);

/* Appends the name of a row: "npu3", "gpu0"; nothing where it has none. Returns whether it has
 * one. */
int api_add_name(api_text *to, const api_row *row);

/* Appends the row as sentences name it: "NPU 3", "device 0". */
void api_add_row(api_text *to, const cpubind_facts *facts, const api_row *row);

/* Appends why a row has no pool. */
void api_explain_row(const api_planned *planned, const api_options *options, const api_row *row,
                     api_text *to);

/* The row that is shown of the rank of the options; -1: without --rank, or it has none. */
int32_t api_rank_row(const api_planned *planned, const api_options *options);

/* Writes the nodes that have one of the CPUs, ascending; `out` has room for all nodes. Returns
 * their number. */
int32_t api_nodes_of(const cpubind_facts *facts, const int32_t *cpu, int32_t n, int32_t *out);

/* One format: its word, a clause for --help, and of a plan the function that appends it; what
 * it lacks memory for is in to->is_short. The first one of a list is the usual one; a row
 * without a word ends it. A new format is one more row. */
typedef struct api_format {
    const char *word;
    const char *what;
    int is_json; /* the same as --json: errors are JSON too */
    void (*put)(api_out *to, const api_planned *planned, const api_options *options);
    /* Whether the plan has this form; 0, with the reason in *why: it has not. Or NULL. */
    int (*check)(const api_planned *planned, const api_options *options, api_text *why);
} api_format;

/* All formats of a plan. */
extern const api_format api_formats[];

/* The plan as text: its rules, the map, the table, its figures. With --quiet the log lines
 * alone, with -o the table. */
extern const words_view api_plan_view[];
void api_put_plan(api_out *to, const api_planned *planned, const api_options *options);

/* The figures of two plans, that of now and one with another setting of the firmware. */
void api_put_what_if(api_out *to, const api_planned *now, const api_planned *then,
                     const api_options *options);

/* The lines that operators of NPUs search their logs for; else the table. */
void api_put_log(api_out *to, const api_planned *planned, const api_options *options);

/* One row for each node, with a column for each core; of distances also how far its CPUs
 * are from the homes of their NPUs. */
void api_put_map(api_out *to, const api_planned *planned, const api_options *options);
void api_put_distances(api_out *to, const api_planned *planned, const api_options *options);

/* The ranks of a plan in a format of launchers: with --rank that rank alone; else all, in the
 * order of the visible devices. api_has_launch says first whether the plan has ranks that a
 * launcher can start, with the reason in *why when it has none. */
int api_has_launch(const api_planned *planned, const api_options *options, api_text *why);

/* Whether a format can have so many ranks; else appends why not. */
int api_is_for_ranks(const char *format, int32_t n_rank, api_text *why);
void api_put_ranks(api_out *to, cpubind_launch_format format, const cpubind_launch *launch);
void api_put_launch(api_out *to, cpubind_launch_format format, const api_planned *planned,
                    const api_options *options);

/* An SVG document. */
void api_put_svg(api_out *to, const api_planned *planned, const api_options *options);

/* == JSON of a plan ========================================================= */

/* The key "format" of a plan, which grows if a key is ever removed or changes what it means. */
#define API_JSON_FORMAT 3

/* The numbers that only an NPU has. */
words_value *api_npu_json(const cpubind_host_device *npu);

/* The object that plan --json prints. */
words_value *api_plan_json(const api_planned *planned, const api_options *options);

/* The same with "what_if": the other of two plans. What is assumed of that: static storage. */
words_value *api_what_if_json(const api_planned *now, const api_planned *then,
                              const api_options *options);
const char *api_assumed(const api_options *options);

/* {"cpubind", "error": {"code", "text", and the numbers of the problem}} */
words_value *api_problem_json(const api_planned *planned, const char *text);

/* {"cpubind", "error": {"code", "text"}} */
words_value *api_error_json(const char *code, const char *text);

/* The warnings of a plan as an array of objects; empty when there is no plan. */
words_value *api_warnings_json(const api_planned *planned);

/* The address of a function of the bus; null where it is not known. */
words_value *api_pci_json(const cpubind_pci_address *pci);

/* == Why ==================================================================== */

/* Why the text of --explain names nothing; NULL: it does. Static storage. */
const char *api_check_explain(const char *text);

/* The explanation of options->explain, {"cpubind", "explain"}, also of a plan that is refused,
 * as far as its facts are known. Returns 0 when there is nothing to explain: *why says what is
 * wrong, or is empty where the plan itself is refused.
 *   out     *out: not whole without memory; NULL when there is nothing to explain */
int api_explain_json(const api_planned *planned, const api_options *options, words_value **out,
                     api_text *why);

/* Appends the sentences of an explanation; with options->json its JSON. Frees it. */
void api_put_explanation(api_out *to, const api_options *options, words_value *report);

/* == A process that is bound ================================================ */

/* A process, and where it belongs. All zero before it is opened. */
typedef struct api_bound {
    int32_t pid;
    char parent[CPUBIND_PROGRAM_SIZE]; /* its program, where it is the parent; else "" */
    int is_reading;                    /* verify: nothing is changed */
    int is_restoring;                  /* restore: ends a watch of the process */
    int32_t holder;                    /* the cpubind that works on the process; 0: not known */
    int32_t service;                   /* the process of the service; 0: not known */
    int32_t is_service;                /* the holder is the service, which no command ends */
    const char *service_said;          /* why it was not asked, for JSON; or NULL */
    int is_watching;                   /* apply --watch, after the first time */
    char other_path[CPUBIND_PLACE_SIZE]; /* the record that is in the way; or "" */
    cpubind_other_rules other_rules;     /* apply: before it binds */
    int is_stopped;                      /* apply: a signal has ended the move of memory */
    int has_used;                        /* it is known that it uses a device of the bus: ... */
    cpubind_pci_address used;            /* ... this one */
    int32_t unit;                        /* of the plan, which the goal was made of */
    char device[CPUBIND_DEVICE_NAME_SIZE]; /* its name, "npu3", else its address */
    const char *product;                   /* of a device of the bus, static; NULL: not known */
    /* The device that it uses, where it is bound to the CPUs of another one; else "". */
    char opened[CPUBIND_DEVICE_NAME_SIZE];
    cpubind_binding *binding;
    api_host live; /* this host, as the process sees it */
    api_host host; /* the host of --root or --fixture, which the facts quote */
    api_planned planned;
    cpubind_arena arena; /* of the goal */
    cpubind_goal goal;
    const cpubind_thread_wish *wish; /* of the goal; borrowed from the options */
    int32_t n_wish;
} api_bound;

/* How the options say that a process is bound. */
cpubind_bind_options api_bind_options(const api_options *options, int32_t pid, int is_reading);

/* Opens the process how->pid, and waits a short time for its lock. As cpubind_bind_open, with
 * the holder of a lock in out->holder. */
cpubind_linux_status api_open_bound(const cpubind_bind_options *how, api_bound *out,
                                    cpubind_linux_fault *fault);

/* Opens this host as the process sees it, and chooses the CPUs and the NPU that the plan is
 * for.
 *   in       is_other_host: the facts will be those of another host
 *   returns  the status, with the reason in *why */
int api_prepare_bound(api_options *options, api_bound *bound, int is_other_host, api_text *why);

/* Plans for the process, and finds which unit of the plan the rank of the options drives.
 *   in       source: the host as the process sees it
 *   returns  the status; the reason is in *why, or where that is empty in
 *            bound->planned.problem */
int api_plan_bound(const api_options *options, api_bound *bound, const cpubind_source *source,
                   api_text *why);

/* The unit of a plan that the process of the options drives; -1: they do not tell. */
int32_t api_unit_of(const api_planned *planned, const api_options *options);

/* Makes bound->goal of a unit of the plan. Refuses to bind to an NPU on a machine that is not
 * ARM where api_check_arch does. As api_plan_bound. */
int api_aim_bound(const api_options *options, api_bound *bound, int32_t unit, api_text *why);

/* Refuses a machine that is not ARM, unless any-arch is set. Returns the
 * status; the reason is bound->planned.problem.
 *   in       bound->live is open */
int api_check_arch(const api_options *options, api_bound *bound);

void api_close_bound(api_bound *bound);

/* "thread"; static storage. */
const char *api_kind_word(cpubind_item_kind kind);

/* Appends that threads are born faster than they are looked at. */
void api_explain_births(int32_t pid, api_text *to);

/* Appends why pages stay on other nodes: "the move was interrupted". */
void api_explain_stay(const cpubind_memory_move *memory, cpubind_memory_stay stay,
                      api_text *to);

/* Appends one line for an item that --watch has moved. */
void api_put_moved(api_out *to, const cpubind_item *item);

/* The whole report. */
words_value *api_report_json(const api_bound *bound, const cpubind_outcomes *report);

/* Hears each warning of a report: its code and its sentence. */
typedef void api_hear(void *ctx, const char *code, const char *text);

/* Hears a warning as an object of an array; `out` is a words_value. */
void api_add_warning(void *out, const char *code, const char *text);

/* Finds the processes of this host that plans of other rules have bound, before bound->goal is
 * put into effect; warns of them. */
void api_find_other_rules(api_bound *bound);
void api_warn_other_rules(const cpubind_other_rules *others, const char *rules, api_hear *hear,
                          void *ctx);

/* Appends that a process uses a device and is bound to the CPUs of another one. */
void api_explain_other_device(int32_t pid, const char *uses, const char *bound, api_text *to);

/* Those of an outcome, but for those of the plan: what was not done and why. */
void api_warn_outcome(const api_bound *bound, const cpubind_outcomes *report, api_hear *hear,
                      void *ctx);

/* The warning that own memory stays on other nodes, and no other one. */
void api_warn_rest(const cpubind_outcomes *report, api_hear *hear, void *ctx);

/* What a watch cannot do now, and why. */
void api_warn_news(const cpubind_outcomes *report, api_hear *hear, void *ctx);

/* Leaves a plan this one of its warnings, if it has it, and no other. */
void api_keep_warning(cpubind_warning warning, api_planned *planned);

/* All warnings of a plan. */
void api_warn_plan(const api_planned *planned, api_hear *hear, void *ctx);
void api_warn_outer(const struct api_outer *outer, api_hear *hear, void *ctx);

/* The warnings of the plan and of the outcome as an array of {"code", "text"}. */
words_value *api_outcome_warnings_json(const api_bound *bound, const cpubind_outcomes *report);

/* Appends why a call failed: what, where, and what to do. Returns the status. */
int api_explain_bind(const api_options *options, const api_bound *bound,
                     cpubind_linux_status status, const cpubind_linux_fault *fault,
                     api_text *why);

#endif /* CPUBIND_API_API_H */
