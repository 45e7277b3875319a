/* cmd_run.c - cpubind run: bind this process, then execute the command in its place
 * SPDX-License-Identifier: MIT
 *
 * No process stays between the parent and the command. If the command cannot be executed, the
 * binding is undone.
 */
#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../api/nics.h"
#include "../host/process_env.h"
#include "find_device.h"
#include "run_numa.h"
#include "run_tree.h"
#include "service_ask.h"

#define MAX_VALUE 8192

static void (*child_signal)(int) = SIG_DFL;

void cli_reset_signals(void)
{
    child_signal = signal(SIGCHLD, SIG_DFL);
}

/* The words that --env replaces: a role; what is about its pool; network cards. */
enum {
    WORD_POOL = CPUBIND_ALL_ROLES,
    WORD_NPU,
    WORD_NODE,
    WORD_THREADS,
    WORD_NETWORK,
    N_WORD = WORD_NETWORK + API_NETWORK_COUNT
};

static const char *word_name(int word)
{
#define API_X(name, word) word,
    static const char *const others[] = {"pool", "npu", "node", "threads",
                                         API_NETWORK_LIST(API_X)};
#undef API_X
    return word < WORD_POOL ? cpubind_role_name((cpubind_role)word) : others[word - WORD_POOL];
}

/* Which word in braces a text starts with; -1: none. */
static int word_at(const char *text)
{
    for (int i = 0; *text == '{' && i < N_WORD; i++) {
        const size_t len = strlen(word_name(i));
        if (strncmp(text + 1, word_name(i), len) == 0 && text[1 + len] == '}')
            return i;
    }
    return -1;
}

/* The next word in braces, and moves past its first byte; -1: there is none. */
static int next_word(const char **text)
{
    while (**text) {
        const int word = word_at((*text)++);
        if (word >= 0)
            return word;
    }
    return -1;
}

/* The values of the words in braces. Role CPUBIND_ALL_ROLES is the pool. */
typedef struct run_words {
    const int32_t *cpu[CPUBIND_ALL_ROLES + 1];
    int32_t n[CPUBIND_ALL_ROLES + 1];
    int32_t npu, node, threads;
    const api_planned *planned; /* of network cards; NULL: none is known */
    const cpubind_host_device *device;
} run_words;

static run_words words_of_plan(const api_bound *bound)
{
    const api_row row = api_shown(&bound->planned.facts, &bound->planned.plan, bound->unit);
    run_words words = {.npu = cpubind_is_listed(row.device) ? row.id : bound->unit,
                       .node = row.memory_node,
                       .planned = &bound->planned,
                       .device = row.device};
    for (int32_t i = 0; i < CPUBIND_ALL_ROLES; i++)
        words.cpu[i] = api_role_of(&row, (cpubind_role)i, &words.n[i]);
    words.cpu[CPUBIND_ALL_ROLES] = row.cpu;
    words.n[CPUBIND_ALL_ROLES] = row.n;
    words.threads = api_most_threads(&bound->planned.facts, words.n[CPUBIND_ROLE_MAIN]);
    return words;
}

/* All CPUs of a place are of main. */
static run_words words_of_place(const cli_numa_place *place)
{
    run_words words = {.npu = place->options->request.rank,
                       .node = place->n_node > 0 ? place->node[0] : -1};
    words.cpu[CPUBIND_ROLE_MAIN] = words.cpu[CPUBIND_ALL_ROLES] = place->cpu;
    words.n[CPUBIND_ROLE_MAIN] = words.n[CPUBIND_ALL_ROLES] = place->n_cpu;
    words.threads = api_most_threads(&place->bound->planned.facts, place->n_cpu);
    return words;
}

/* Appends what a word of network cards stands for. Returns 0 where nothing is known. */
static int add_network(const run_words *words, int word, api_text *to)
{
    const api_network_word what = (api_network_word)(word - WORD_NETWORK);
    return words && words->planned &&
           api_add_network(to, words->planned, words->device, what) > 0;
}

/* The first word of network cards in a text that nothing is known for, as without `words`;
 * NULL: there is none. */
static const char *lacking_word(const run_words *words, const char *text)
{
    for (int word; (word = next_word(&text)) >= 0;) {
        api_text names = {"", 0};
        if (word >= WORD_NETWORK && !add_network(words, word, &names))
            return word_name(word);
    }
    return NULL;
}

/* Replaces one word in braces. Adds its value to `to` and returns the length of the word with
 * its braces; 0 for any other text. */
static size_t expand(const run_words *words, const char *text, api_text *to)
{
    const int32_t number[] = {words->npu, words->node, words->threads};
    const int word = word_at(text);
    if (word < 0)
        return 0;
    if (word >= WORD_NETWORK)
        (void)add_network(words, word, to);
    else if (word > WORD_POOL)
        api_add(to, "%d", (int)number[word - WORD_NPU]);
    else if (words->n[word] > 0)
        api_add_list(to, words->cpu[word], words->n[word]);
    return strlen(word_name(word)) + 2;
}

/* Sets one variable: NAME=VALUE, with the words in braces replaced if there is a plan. */
static int set_variable(const run_words *words, const char *text)
{
    const char *equals = strchr(text, '=');
    char name[256], value[MAX_VALUE];
    size_t n = 0;
    if ((size_t)(equals - text) >= sizeof name)
        return 0;
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    for (const char *at = equals + 1; *at;) {
        api_text word = {"", 0};
        const size_t used = words && *at == '{' ? expand(words, at, &word) : 0;
        const char *from = used ? word.text : at;
        const size_t len = used ? word.len : 1;
        if (n + len >= sizeof value)
            return 0;
        memcpy(value + n, from, len);
        n += len;
        at += used ? used : 1;
    }
    value[n] = '\0';
    return setenv(name, value, 1) == 0;
}

/* Refuses a word in braces that is none, but is like one: "{thread}". */
static int check_words(const api_options *options, const char *text)
{
    for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{')) {
        const size_t n = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz");
        char word[32] = "";
        api_hint hint = {.word = word};
        api_text why = {"", 0};
        if (at[1 + n] != '}' || n < 3 || n >= sizeof word)
            continue;
        memcpy(word, at + 1, n);
        for (int i = 0; i < N_WORD; i++)
            api_hint_try(&hint, word_name(i));
        if (hint.n == 0 || strcmp(hint.like[0], word) == 0)
            continue;
        api_add(&why, "--env %.80s: cpubind has no value for {%s}", text, word);
        api_hint_add(&hint, &why);
        return cli_fail(options, API_USAGE, why.text);
    }
    return API_DONE;
}

/* Sets the variables of --env; without words those that need none. */
static int set_environment(const api_options *options, const run_words *words)
{
    for (int32_t i = 0; i < options->n_env; i++) {
        const char *text = options->env[i];
        if (!words && next_word(&text) >= 0)
            fprintf(stderr, "cpubind: warning: --env %.80s: not set, it needs a plan\n",
                    options->env[i]);
        else if (words && lacking_word(words, options->env[i]))
            fprintf(
                stderr,
                "cpubind: warning: --env %.80s: not set, no name is known for {%s}; cpubind "
                "topo --nics shows the network cards\n",
                options->env[i], lacking_word(words, options->env[i]));
        else if (!set_variable(words, options->env[i])) {
            api_text why = {"", 0};
            api_add(&why, "--env: the variable is too long: \"%.80s\"", options->env[i]);
            return cli_fail(options, API_USAGE, why.text);
        }
    }
    return API_DONE;
}

/* Opens this process again and restores it, because the command could not be run. */
static void put_back(const api_options *options, int32_t pid)
{
    api_bound bound = {.pid = pid};
    int is_put_back = 0;
    if (cli_let_service_go(options, CPUBIND_ASK_LEAVE, &bound, &is_put_back) == API_DONE &&
        cli_open_bound(options, 0, &bound) == API_DONE)
        (void)cpubind_bind_restore(bound.binding, NULL);
    api_close_bound(&bound);
}

/* Closes everything, the lock above all, before exec: the command inherits nothing. */
static int become(const api_options *options, api_bound *bound, int is_bound)
{
    const int32_t pid = bound->pid;
    api_text why = {"", 0};
    cpubind_linux_fault fault = {0};
    api_close_bound(bound);
    if (is_bound) { /* the service watches the process from now on */
        cli_service_reply service;
        cli_tell_service(options, CPUBIND_ASK_ADOPT, pid, &service);
        cli_free_service(&service);
    }
    fflush(NULL);
    (void)signal(SIGCHLD, child_signal);
    (void)cpubind_bind_exec(options->word, NULL, &fault);
    if (is_bound)
        put_back(options, pid);
    api_add(&why, "\"%s\" cannot be run: ", options->word[0]);
    words_add_why(&why, WORDS_COMMAND, NULL, fault.error);
    return cli_fail(options, fault.error == ENOENT ? CLI_NOT_FOUND : CLI_NOT_EXECUTABLE,
                    why.text);
}

/* The refusal is printed already. */
static int start_unbound(const api_options *options, api_bound *bound)
{
    fputs("cpubind: warning: the command is started without being bound\n", stderr);
    if (set_environment(options, NULL) != API_DONE)
        return CLI_RUN_FAILED;
    return become(options, bound, 0);
}

/* Binds to a device by its plan. */
static int bind_by_plan(api_options *options, api_bound *bound)
{
    int status = cli_plan_bound(options, bound);
    if (status == API_DONE) {
        const run_words words = words_of_plan(bound);
        status = set_environment(options, &words);
    }
    return status == API_DONE ? cli_apply_bound(options, bound) : status;
}

/* Binds to the place of --numa-bind. Sets *is_placeless where the rank has none. */
static int bind_by_numa(api_options *options, api_bound *bound, int *is_placeless)
{
    cli_numa_place place = {.n_cpu = 0};
    int status = cli_place_numa(options, bound, &place);
    *is_placeless = status == API_DONE && place.n_cpu == 0;
    if (status == API_DONE && !*is_placeless) {
        const run_words words = words_of_place(&place);
        status = set_environment(options, &words);
        if (status == API_DONE)
            status = cli_apply_bound(options, bound);
        if (status == API_DONE)
            status = cli_set_numa_policy(options, &place);
        if (status != API_DONE && cpubind_bind_report(bound->binding)->n > 0)
            (void)cpubind_bind_restore(bound->binding, NULL);
    }
    free(place.arena.base);
    return status;
}

/* Finds the rank for --auto and --numa-bind: --index, else the first variable of a launcher
 * that is set. Returns the exit status; errors are printed. */
static int choose_rank(api_options *o, int32_t pid)
{
    api_text why = {"", 0};
    int32_t error = 0;
    int status = API_DONE;
    if ((!o->numa_bind && !o->is_auto) || o->request.has_rank || api_names_device(o))
        return API_DONE;
    if (o->has_index && o->request.n_process == 0) {
        o->request.rank = o->request.process;
        o->request.has_rank = 1;
        o->request.process = 0;
        o->has_index = 0;
        return API_DONE;
    }
    status = cli_take_launcher(o, pid, &error);
    if (status != API_DONE || o->request.has_rank)
        return status;
    api_add(&why, "which rank this is is not known: give --index I, or one of");
    for (int i = 0; cpubind_local_ranks[i]; i++)
        api_add(&why, "%s %s", i ? "," : "", cpubind_local_ranks[i]);
    return cli_fail(o, API_USAGE, why.text);
}

/* Run in a process that is bound already, as by another run: the service keeps it. */
static int leave_service(const api_options *options, api_bound *bound)
{
    char path[CPUBIND_PLACE_SIZE];
    int is_put_back = 0;
    cpubind_bind_usual_path(bound->pid, NULL, path);
    return access(path, F_OK) == 0
               ? cli_let_service_go(options, CPUBIND_ASK_LEAVE, bound, &is_put_back)
               : API_DONE;
}

/* Whether the command starts after a refusal. What this host or container lacks is no reason
 * against it where cpubind finds the device itself; what was asked wrongly is. */
static int starts_unbound(const api_options *o, int status)
{
    const int is_lacking = status == API_UNREADABLE || status == API_UNWRITTEN;
    return o->or_unbound ||
           ((o->is_auto || o->numa_bind || o->tree) && is_lacking && !o->is_strict);
}

static int run(api_options *options, api_bound *bound)
{
    int is_placeless = 0, is_by_numa = 0;
    int status = options->settings_status;
    cli_take_numa_address(options);
    if (status == API_DONE)
        status = choose_rank(options, bound->pid);
    if (status == API_DONE)
        status = leave_service(options, bound);
    if (status == API_DONE)
        status = cli_open_bound(options, 0, bound);
    if (status == API_DONE)
        status = cli_wants_numa(options, &is_by_numa);
    if (status == API_DONE)
        status = is_by_numa ? bind_by_numa(options, bound, &is_placeless)
                            : bind_by_plan(options, bound);
    if (status == API_DONE && is_placeless)
        return start_unbound(options, bound);
    if (status != API_DONE)
        return starts_unbound(options, status) ? start_unbound(options, bound) : CLI_RUN_FAILED;
    if (!options->quiet)
        cli_warn_outcome(bound, cpubind_bind_report(bound->binding));
    return become(options, bound, 1);
}

/* Takes memory from the kernel at once and keeps it: the command that is executed soon gives
 * all of it back. */
static void take_memory(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_TOP_PAD, 4 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
    (void)mallopt(M_MMAP_THRESHOLD, 8 << 20);
#endif
}

static int run_tree(api_options *options, api_bound *bound)
{
    int has_started = 0;
    int status = options->settings_status;
    if (status == API_DONE)
        status = set_environment(options, NULL);
    if (status == API_DONE)
        status = cli_run_tree(options, child_signal, &has_started);
    if (has_started)
        return status;
    return starts_unbound(options, status) ? start_unbound(options, bound) : CLI_RUN_FAILED;
}

int cli_run(int argc, char **argv)
{
    static api_options options;
    static api_bound bound;
    int status;
    bound.pid = (int32_t)getpid();
    take_memory();
    status = cli_start(argc, argv, API_RUN, &options);
    if (status >= 0)
        return status == API_DONE ? API_DONE : CLI_RUN_FAILED;
    for (int32_t i = 0; i < options.n_env; i++)
        if (check_words(&options, options.env[i]) != API_DONE)
            return CLI_RUN_FAILED;
    for (int32_t i = 0; i < options.n_env; i++)
        options.wants_network |= lacking_word(NULL, options.env[i]) != NULL;
    if (!options.has_memory)
        options.memory = options.tree ? CPUBIND_MEMORY_MIGRATE : CPUBIND_MEMORY_PREFER;
    status = options.tree ? run_tree(&options, &bound) : run(&options, &bound);
    api_close_bound(&bound);
    return status;
}
