/* options.c - all options and what each one does: one table
 * SPDX-License-Identifier: MIT
 *
 * Opens nothing and asks nothing of the host. The words of the command line, and which options
 * exclude each other there, are in adapters/cli/command_line.c.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../plan/what_if.h"
#include "../text/procfs.h"
#include "device_plan.h"
#include "settings.h"

#define MAX_WATCH_SECONDS 3600
#define MAX_PROCESSES     1024 /* that drive one NPU */

#define MAX_MEASURE_SECONDS 86400
#define MAX_BYTES           (INT64_MAX / 16) /* one digit more is none too many */

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof *(array)))

#define PLANNING (API_PLAN | API_CAPTURE | API_DOCTOR | API_LIVE)
#define CASE     (PLANNING | API_CASE | API_BIND_CALL)
#define CHANGING (API_IMPORT | API_ACCEPT | API_REMOVE | API_RENAME)
#define STORE    (API_LIST | API_SHOW | API_EXPORT | API_REPLAY | API_GROUPS | CHANGING)
#define EVERY                                                                                  \
    (PLANNING | STORE | API_RESTORE | API_SERVICE | API_TOPO | API_STATUS | API_MEASURE)

/* That look at all workers of the host. */
#define WORKERS (API_STATUS | API_MEASURE)

/* That plan one device or several; those that bind take one. */
#define SEVERAL (API_PLAN | API_CAPTURE | API_DOCTOR | API_STATUS | API_CASE)

/* Options of a plan that people give to a worker; others read them from the settings. */
#define TYPED (API_PLAN | API_CAPTURE | API_CASE | API_BIND_CALL | API_APPLY | API_RUN)

/* Calls that take functions of the bus by address and by class, too. */
#define FUNCTION_CALLS (API_TOPO_CALL | API_PLAN_CALL | API_BIND_CALL)

/* That take devices by name. */
#define NAMING (FUNCTION_CALLS | SEVERAL | API_TOPO | API_MEASURE | API_LIVE)

#define BRACED(name, word) "{" word "}, "

/* One word of a closed set; one without a word ends the set. */
typedef struct api_choice {
    const char *word;
    int32_t value;
} choice;

#define CPUBIND_X(name, word) {word, CPUBIND_SCOPE_##name},
static const choice scopes[] = {CPUBIND_SCOPE_LIST(CPUBIND_X){NULL, 0}};
#undef CPUBIND_X
#define CPUBIND_X(name, word) {word, CPUBIND_ORIGIN_##name},
static const choice origins[] = {CPUBIND_ORIGIN_LIST(CPUBIND_X){NULL, 0}};
#undef CPUBIND_X
#define CPUBIND_X(name, word) {word, CPUBIND_THREADS_##name},
static const choice thread_sets[] = {CPUBIND_THREADS_LIST(CPUBIND_X){NULL, 0}};
#undef CPUBIND_X
static const choice overlaps[] = {{"resolve", CPUBIND_OVERLAP_RESOLVE},
                                  {"keep", CPUBIND_OVERLAP_KEEP},
                                  {"refuse", CPUBIND_OVERLAP_REFUSE},
                                  {NULL, 0}};
static const choice reaches[] = {{"socket", CPUBIND_REACH_SOCKET},
                                 {"home", CPUBIND_REACH_HOME},
                                 {"host", CPUBIND_REACH_HOST},
                                 {"cache", CPUBIND_REACH_CACHE},
                                 {NULL, 0}};
static const choice irqbalance_ways[] = {
    {"leave", CPUBIND_IRQBALANCE_LEAVE}, {"ban", CPUBIND_IRQBALANCE_BAN}, {NULL, 0}};
static const choice nic_ways[] = {{"leave", 0}, {"pool", 1}, {NULL, 0}};
static const choice questions[] = {
    {"alive", API_ASK_ALIVE}, {"ready", API_ASK_READY}, {NULL, 0}};
#define CPUBIND_X(name, word, core, core_name, base, each, coordinator, api, names)            \
    {word, CPUBIND_ENGINE_##name},
static const choice engines[] = {CPUBIND_ENGINE_LIST(CPUBIND_X){NULL, 0}};
#undef CPUBIND_X
#define CPUBIND_X(name, word) {word, CPUBIND_RULES_##name},
static const choice rules[] = {CPUBIND_RULES_LIST(CPUBIND_X){NULL, 0}};
#undef CPUBIND_X
static const choice memory_ways[] = {{"migrate", CPUBIND_MEMORY_MIGRATE},
                                     {"all", CPUBIND_MEMORY_ALL},
                                     {"prefer", CPUBIND_MEMORY_PREFER},
                                     {"none", CPUBIND_MEMORY_NONE},
                                     {NULL, 0}};
static const choice other_ways[] = {{"leave", 0}, {"keep", 1}, {NULL, 0}};

/* Functions that take a reading return 0, with the reason in *why, when a word is wrong. */
typedef api_reading reading;

/* Appends where the values of an option, or of a key of the settings, are listed. */
static int add_try(const api_reading *r)
{
    if (r->words && *r->words)
        api_add(r->why, "; try: cpubind %s --help", r->words);
    else if (r->words)
        api_add(r->why, "; the man page cpubind.conf(5) has the values of each key");
    return 0;
}

static int wrong(const api_reading *r, const char *what, const char *value)
{
    api_add(r->why, "%s: \"%s\"", what, value);
    return add_try(r);
}

/* Adds a word to a list that has room for `most`. */
static int add_word(const api_reading *r, const char *text, const char **words, int32_t *n,
                    int32_t most, const char *too_many)
{
    if (*n == most)
        return wrong(r, too_many, text);
    words[(*n)++] = text;
    return 1;
}

/* Whether a word is the known one, in letters of either case and with "-" for "_". */
static int is_word(const char *word, const char *known)
{
    while (*known &&
           (tolower((unsigned char)*word) == *known || (*word == '-' && *known == '_')))
        word++, known++;
    return *word == '\0' && *known == '\0';
}

static void add_words(const choice *choices, api_text *to)
{
    for (int32_t i = 0; choices[i].word; i++)
        api_add(to, "%s%s", i ? ", " : "", choices[i].word);
}

static int choose(const api_reading *r, const choice *choices, const char *option,
                  const char *word, int32_t *out)
{
    api_hint hint = {.word = word};
    for (int32_t i = 0; choices[i].word; i++) {
        api_hint_try(&hint, choices[i].word);
        if (!is_word(word, choices[i].word))
            continue;
        *out = choices[i].value;
        return 1;
    }
    api_add(r->why, "--%s does not know \"%s\"; it knows ", option, word);
    add_words(choices, r->why);
    api_hint_add(&hint, r->why);
    return 0;
}

/* Length of an argument, at most CPUBIND_TEXT_MAX, which no reader accepts. */
static int32_t length(const char *text)
{
    size_t n = strlen(text);
    return n > CPUBIND_TEXT_MAX ? CPUBIND_TEXT_MAX : (int32_t)n;
}

/* The type that the name of a chip tells, such as "910B" or "Ascend910B3"; AUTO when it is no
 * chip name. Some names belong to a second type when the chip has a phy id. */
static cpubind_device_type type_of_chip(const char *word, cpubind_device_type *second)
{
    static const char maker[] = "Ascend";
    const size_t n = sizeof maker - 1;
    const char *chip = word + (strncasecmp(word, maker, n) == 0 ? n : 0);
    const int32_t len = length(chip + strspn(chip, " "));
    chip += strspn(chip, " ");
    if (!cpubind_is_chip_word(chip, len))
        return CPUBIND_TYPE_AUTO;
    *second = cpubind_type_of_chip(chip, len, 1);
    return cpubind_type_of_chip(chip, len, 0);
}

/* Reads a device type or the name of a chip, in letters of either case. */
static int choose_type(const api_reading *r, const char *word)
{
    cpubind_device_type *type = &r->options->request.type, second = CPUBIND_TYPE_AUTO;
    choice types[CPUBIND_TYPE_COUNT + 1];
    int32_t value = 0;
    types[CPUBIND_TYPE_COUNT].word = NULL;
    for (int32_t i = 0; i < CPUBIND_TYPE_COUNT; i++) {
        types[i] = (choice){cpubind_type_word((cpubind_device_type)i), i};
        if (is_word(word, types[i].word)) {
            *type = (cpubind_device_type)i;
            return 1;
        }
    }
    *type = type_of_chip(word, &second);
    if (*type == CPUBIND_TYPE_AUTO)
        return choose(r, types, "device-type", word, &value);
    if (*type == second)
        return 1;
    api_add(r->why, "device-type \"%s\" is a chip of %s and of %s; name one of them", word,
            cpubind_type_word(*type), cpubind_type_word(second));
    return 0;
}

static int choose_strategy(const api_reading *r, const char *word)
{
    static const choice strategies[] = {{"auto", -1},
#define API_X(name, word) {word, CPUBIND_##name},
                                        API_STRATEGY_LIST(API_X)
#undef API_X
                                            {NULL, 0}};
    int32_t value = -1;
    if (!choose(r, strategies, "strategy", word, &value))
        return 0;
    r->options->request.is_auto_strategy = value < 0;
    if (value >= 0)
        r->options->request.strategy = (cpubind_strategy)value;
    return 1;
}

/* Reads a list of CPUs or nodes that must not be empty; `what` is one of them. */
static int read_list(const api_reading *r, const char *option, const char *what,
                     const char *text, api_numbers *out)
{
    int32_t at = 0;
    const char *fault = api_read_numbers(text, CPUBIND_MAX_CPUS, out, &at);
    if (!fault && out->n > 0)
        return 1;
    if (fault)
        api_add(r->why, "--%s \"%s\", character %d: %s; such as 0-3,6 or 0-30:2", option, text,
                (int)at + 1, fault);
    else
        api_add(r->why, "--%s names no %s: \"%s\"", option, what, text);
    return fault ? 0 : add_try(r);
}

/* Reads the names of devices, of NPUs alone with the noun of these; of a command that binds,
 * one. "all" are the visible ones, as without the option. */
static int read_names(const api_reading *r, const char *noun, const char *text)
{
    api_options *o = r->options;
    const int takes_one = (o->command & API_LIVE) != 0;
    const char *option = noun ? takes_one ? "npu" : "npus" : takes_one ? "device" : "devices";
    const char *fault = NULL;
    int32_t at = 0;
    free(o->device.item);
    o->device = (api_names){NULL, 0};
    o->request.device = NULL;
    o->request.n_device = 0;
    o->one_npu = -1;
    if (!takes_one && strcasecmp(text, "all") == 0)
        return 1;
    fault = api_read_names(text, noun, &o->device, &at);
    if (fault) {
        api_add(r->why, "--%s \"%s\", character %d: %s; such as %s", option, text, (int)at + 1,
                fault,
                noun        ? "3 or npu3"
                : takes_one ? "npu3, gpu0 or 0000:c1:00.0"
                            : "npu0-3,gpu0 or 0000:c1:00.0");
        return 0;
    }
    if (o->device.n == 0 || (takes_one && o->device.n > 1)) {
        api_add(r->why, "--%s names %s: \"%s\"", option,
                o->device.n == 0 ? "no device"
                                 : "several devices, and a process is bound to one",
                text);
        return add_try(r);
    }
    if (api_take_npus(o))
        return 1;
    (void)api_no_room(r->why);
    return 0;
}

static int read_device(const api_reading *r, const char *text)
{
    return read_names(r, NULL, text);
}

static int read_npu(const api_reading *r, const char *text)
{
    return read_names(r, "npu", text);
}

static int read_visible(const api_reading *r, const char *text)
{
    r->options->request.visible = text;
    r->options->request.visible_len = length(text);
    return 1;
}

/* Reads a number without a sign or a blank. */
static int read_number(const char *text, int32_t *out)
{
    return text[strspn(text, "0123456789")] == '\0' &&
           cpubind_number_parse(text, length(text), out, NULL) == CPUBIND_TEXT_OK;
}

static int read_rank(const api_reading *r, const char *text)
{
    if (!read_number(text, &r->options->request.rank)) {
        api_add(r->why,
                "--rank \"%s\" is not a number from 0 on: the launcher has not set the rank of "
                "this worker; or name the device with --%s NAME",
                text, r->options->command & API_LIVE ? "device" : "devices");
        return 0;
    }
    r->options->request.has_rank = 1;
    return 1;
}

/* Reads "4", a number of CPUs of each node, or a list, which has a comma or a dash: "4,". */
static int read_keep(const api_reading *r, const char *text)
{
    api_options *o = r->options;
    const size_t len = strlen(text);
    const int is_list = text[strcspn(text, ",-")] != '\0';
    int32_t each = 0;
    int good;
    if (is_list) {
        char *list = strdup(text);
        if (list && len > 1 && text[len - 1] == ',')
            list[len - 1] = '\0';
        good = list && read_list(r, "keep", "CPU", list, &o->keep);
        free(list);
        each = 0;
    } else {
        good = read_number(text, &each) && each <= CPUBIND_MAX_CPUS;
        if (!good)
            api_add(r->why,
                    "--keep \"%s\" is neither a number of CPUs of each node, from 0 to %d, nor "
                    "a list of CPUs, such as 0-3 or, of CPU 0 alone, 0,",
                    text, CPUBIND_MAX_CPUS);
    }
    o->request.keep_each = each;
    o->request.keep = is_list ? o->keep.item : NULL;
    o->request.n_keep = is_list ? o->keep.n : 0;
    return good;
}

/* Whether a word is written "key=value". */
static int is_setting(const char *word)
{
    const size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz-");
    return n > 0 && word[n] == '=';
}

/* A setting, or else the columns of a table, or the folder of a captured host. */
static int read_output(const api_reading *r, const char *text)
{
    api_options *o = r->options;
    char *word = r->argv[*r->next - 1];
    if (r->set && is_setting(text))
        return r->set(o, word + (text - word), r->why);
    if (o->command == API_CAPTURE)
        o->output = text;
    else if (o->command & (API_PLAN | API_TOPO | API_STATUS | API_LIST))
        o->columns = text;
    else
        return wrong(r, "-o takes a setting, such as -o keep=4", text);
    return 1;
}

/* == Options of the commands that bind ====================================== */

/* Reads the address of a PCI function, which may be given several times. */
static int read_pci(const api_reading *r, const char *text)
{
    cpubind_pci_address pci;
    if (cpubind_pci_parse(text, length(text), &pci, NULL) != CPUBIND_TEXT_OK)
        return wrong(r, "pci is not an address such as 0000:17:00.0", text);
    return api_name_function(r->options, &pci, -1) ||
           wrong(r, "there are too many addresses", text);
}

/* Reads a PCI class: 0x and two, four or six hexadecimal digits, or the digits alone. */
static int read_class(const api_reading *r, const char *text)
{
    const char *digits = text + (strncasecmp(text, "0x", 2) == 0 ? 2 : 0);
    const size_t n = strlen(digits);
    int32_t value = 0;
    for (size_t i = 0; i < n && i < 7; i++) {
        const char *at = strchr("0123456789abcdef", tolower((unsigned char)digits[i]));
        if (!at)
            return wrong(r, "class is not a class such as 0x0302", text);
        value = value * 16 + (int32_t)(at - "0123456789abcdef");
    }
    if (n != 2 && n != 4 && n != 6)
        return wrong(r, "class has two, four or six hexadecimal digits", text);
    r->options->topo.class_code = value;
    r->options->topo.class_digits = (int32_t)n;
    return 1;
}

/* Reads the CPUs of each role, irq, main, acl and release: "0,1,0,0". */
static int read_roles(const api_reading *r, const char *text)
{
    int32_t *count = r->options->roles.count;
    const char *at = text;
    int32_t n = 0;
    for (; n < CPUBIND_ROLE_COUNT; n++) {
        const size_t digits = strspn(at, "0123456789");
        char number[8] = "";
        if (digits == 0 || digits >= sizeof number)
            break;
        memcpy(number, at, digits);
        if (!read_number(number, &count[n]) || count[n] > CPUBIND_MAX_CPUS)
            break;
        at += digits;
        if (*at == ',' && n + 1 < CPUBIND_ROLE_COUNT)
            at++;
    }
    if (n < CPUBIND_ROLE_COUNT || *at || count[CPUBIND_ROLE_MAIN] < 1)
        return wrong(r, "roles wants the CPUs of " API_ROLE_WORDS "such as 2,1,1,1", text);
    r->options->request.roles = &r->options->roles;
    return 1;
}

/* What a number may be followed by, and how much that is. */
typedef struct unit {
    const char *word;
    int64_t factor;
} unit;

/* Reads a number with a unit. Returns 0 for any other text, and for more than `most`. */
static int read_amount(const char *text, const unit *units, int64_t most, int64_t *out)
{
    const size_t digits = strspn(text, "0123456789");
    int64_t value = 0;
    while (units->word && strcmp(units->word, text + digits) != 0)
        units++;
    if (digits == 0 || !units->word)
        return 0;
    for (size_t i = 0; i < digits && value <= most; i++)
        value = value * 10 + (text[i] - '0');
    if (value > most / units->factor)
        return 0;
    *out = value * units->factor;
    return 1;
}

static int read_limit(const api_reading *r, const char *text)
{
    static const unit bytes[] = {{"", 1},        {"K", 1 << 10},          {"M", 1 << 20},
                                 {"G", 1 << 30}, {"T", (int64_t)1 << 40}, {NULL, 0}};
    if (!read_amount(text, bytes, MAX_BYTES, &r->options->memory_limit))
        return wrong(r, "memory-limit is not a number of bytes, such as 200G", text);
    return 1;
}

static const char *const wish_words[] = {
    [CPUBIND_WISH_POOL] = "pool", [CPUBIND_WISH_KEEP] = "keep", [CPUBIND_WISH_LEAVE] = "leave"};

void api_add_wish(const cpubind_thread_wish *wish, api_text *to)
{
    if (wish->kind == CPUBIND_WISH_LIST)
        api_add_list(to, wish->cpus.cpu, wish->cpus.n);
    else
        api_add(to, "%s",
                wish->kind == CPUBIND_WISH_ROLE ? cpubind_role_name(wish->role)
                                                : wish_words[wish->kind]);
}

/* Reads a role, "pool", "keep" or "leave". Returns 0 for any other word. */
static int read_wish_role(const char *word, cpubind_thread_wish *wish)
{
    const int32_t role = api_find_role(word);
    const int is_role = role >= 0 && strcmp(cpubind_role_name((cpubind_role)role), word) == 0;
    for (int32_t i = 0; i < COUNT(wish_words); i++)
        if (wish_words[i] && strcmp(wish_words[i], word) == 0)
            wish->kind = (cpubind_wish_kind)i;
    wish->role = is_role ? (cpubind_role)role : CPUBIND_ROLE_IRQ;
    return is_role || wish->kind != CPUBIND_WISH_ROLE;
}

/* Reads the CPUs of --thread, which are never freed. */
static int read_wish_list(const api_reading *r, const char *text, cpubind_thread_wish *wish)
{
    api_numbers list = {NULL, 0};
    int32_t at = 0;
    if (api_read_numbers(text, CPUBIND_MAX_CPUS, &list, &at) || list.n == 0)
        return wrong(
            r, "--thread wants NAME=" API_ROLE_WORDS "transfer, pool, keep, leave, or CPUs",
            text);
    wish->kind = CPUBIND_WISH_LIST;
    wish->cpus.cpu = list.item;
    wish->cpus.n = list.n;
    return 1;
}

/* Reads "NAME=ROLE" or "NAME=LIST", where NAME may be a pattern. The name ends at the last "=",
 * since it may hold others. */
static int read_wish(const api_reading *r, const char *text)
{
    api_options *o = r->options;
    char *equals = strrchr(text, '=');
    cpubind_thread_wish *wish = &o->wish[o->n_wish];
    char pattern[CPUBIND_PATTERN_SIZE];
    if (o->n_wish == API_MAX_WISHES)
        return wrong(r, "there are too many --thread", text);
    if (!equals || equals == text)
        return wrong(r, "--thread wants NAME=ROLE or NAME=CPUS", text);
    memset(wish, 0, sizeof *wish);
    if (!read_wish_role(equals + 1, wish) && !read_wish_list(r, equals + 1, wish))
        return 0;
    *equals = '\0'; /* ends the name in argv, which a program may write to */
    wish->name = text;
    if (!cpubind_pattern_make(text, pattern)) {
        free((void *)wish->cpus.cpu);
        return wrong(r,
                     "--thread names a pattern that no thread can have: the kernel keeps 15 "
                     "bytes of a name",
                     text);
    }
    o->n_wish++;
    return 1;
}

static int read_env(const api_reading *r, const char *text)
{
    api_options *o = r->options;
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return wrong(r, "--env wants NAME=VALUE", text);
    return add_word(r, text, o->env, &o->n_env, API_MAX_ENV, "there are too many --env");
}

static int read_what_if(const api_reading *r, const char *text)
{
    static const choice settings[] = {{"nps=1", 1},
                                      {"nps=2", 2},
                                      {"nps=4", 4},
                                      {"snc=2", 2},
                                      {"smt=off", CPUBIND_WHAT_IF_SMT_OFF},
                                      {NULL, 0}};
    r->options->what_if_word = text;
    return choose(r, settings, "what-if", text, &r->options->what_if);
}

/* The option prints the workers alone, the key of the settings takes them into the plan. */
static int read_workers(const api_reading *r, const char *text)
{
    cpubind_workers_asked *asked = &r->options->request.workers;
    r->options->is_workers_alone |= r->words && *r->words;
    asked->is_asked = 1;
    asked->n_worker = 0;
    if (strcmp(text, "node") != 0 &&
        (!read_number(text, &asked->n_worker) || asked->n_worker < 1 ||
         asked->n_worker > CPUBIND_MAX_CPUS))
        return wrong(r, "cpu-workers is neither a number of workers nor the word node", text);
    return 1;
}

/* Whether a word after a list belongs to the list: before "--" every word that is no option,
 * else what starts with a digit. */
static int is_more(const api_reading *r)
{
    const char *word = *r->next < r->argc ? r->argv[*r->next] : "-";
    if (word[0] == '-' || (word[0] >= '0' && word[0] <= '9'))
        return word[0] != '-';
    for (int i = *r->next; i < r->argc; i++)
        if (r->argv[i][0] == '-')
            return strcmp(r->argv[i], "--") == 0;
    return 0;
}

#define TOO_MANY_RANKS "there are too many ranks"

/* Reads the words of a list, one for each rank. */
static int read_words(const api_reading *r, const char *text, const char **words, int32_t *n)
{
    while (add_word(r, text, words, n, API_MAX_NUMA, TOO_MANY_RANKS)) {
        if (!is_more(r))
            return 1;
        text = r->argv[(*r->next)++];
    }
    return 0;
}

/* The nodes may have commas between them, too. */
static int read_numa_nodes(const api_reading *r, const char *text)
{
    api_options *o = r->options;
    static char copy[4096];
    const int32_t first = o->n_numa_node;
    if (!read_words(r, text, o->numa_node, &o->n_numa_node))
        return 0;
    if (o->n_numa_node - first > 1 || !strchr(text, ','))
        return 1;
    o->n_numa_node = first;
    if (strlen(text) >= sizeof copy)
        return wrong(r, "there are too many ranks", "--numa-bind-nodes");
    memcpy(copy, text, strlen(text) + 1);
    for (char *word = copy, *comma; word; word = comma ? comma + 1 : NULL) {
        comma = strchr(word, ',');
        if (comma)
            *comma = '\0';
        if (!add_word(r, word, o->numa_node, &o->n_numa_node, API_MAX_NUMA, TOO_MANY_RANKS))
            return 0;
    }
    return 1;
}

static int read_numa_cpus(const api_reading *r, const char *text)
{
    return read_words(r, text, r->options->numa_cpus, &r->options->n_numa_cpus);
}

/* Reads the number of seconds of --watch=5, or of the word after --watch, which may be
 * missing. */
static int read_watch(const api_reading *r, const char *text)
{
    const char *next = *r->next < r->argc ? r->argv[*r->next] : "";
    int32_t seconds = 1;
    if (!text && next[0] && next[strspn(next, "0123456789")] == '\0') {
        ++*r->next;
        text = next;
    }
    if (text && (!read_number(text, &seconds) || seconds < 1 || seconds > MAX_WATCH_SECONDS))
        return wrong(r, "--watch takes seconds from 1 to 3600", text);
    r->options->watch_ms = seconds * 1000;
    return 1;
}

/* == Options of the service ================================================== */

/* The longest path of a socket: sun_path of unix(7), without the NUL. */
#define MAX_SOCKET_PATH 107

static int read_socket(const api_reading *r, const char *text)
{
    const int is_none = strcmp(text, "none") == 0;
    if (!is_none && (text[0] != '/' || strlen(text) > MAX_SOCKET_PATH))
        return wrong(r, "socket is neither none nor an absolute path of 107 bytes at most",
                     text);
    r->options->socket = is_none ? NULL : text;
    return 1;
}

static int read_textfile(const api_reading *r, const char *text)
{
    const size_t n = strlen(text);
    if (text[0] != '/' || n < sizeof "/.prom" || strcmp(text + n - 5, ".prom") != 0)
        return wrong(r, "textfile is not an absolute path that ends in .prom", text);
    r->options->textfile = text;
    return 1;
}

/* == Options of measure ====================================================== */

static const choice sides[] = {
#define CPUBIND_X(name, word) {word, API_SIDE_##name},
    API_SIDE_LIST(CPUBIND_X)
#undef CPUBIND_X
        {NULL, 0}};

const char *api_side_word(api_side side)
{
    return sides[side].word;
}

/* Reads two sides with a comma between them: "now,near". */
static int read_between(const api_reading *r, const char *text)
{
    api_options *o = r->options;
    const char *comma = strchr(text, ',');
    char first[16] = "";
    int32_t value[2] = {0, 0};
    if (!comma)
        return wrong(r, "--between is not two sides, such as now,near", text);
    (void)snprintf(first, sizeof first, "%.*s", (int)(comma - text), text);
    if (!choose(r, sides, "between", first, &value[0]) ||
        !choose(r, sides, "between", comma + 1, &value[1]))
        return 0;
    for (int i = 0; i < 2; i++)
        o->between[i] = (api_side)value[i];
    o->has_between = 1;
    return 1;
}

static int read_time(const api_reading *r, const char *text)
{
    static const unit seconds[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {NULL, 0}};
    int64_t value = 0;
    if (!read_amount(text, seconds, MAX_MEASURE_SECONDS, &value) || value < 1)
        return wrong(r, "--time is not a time from 1s to 24h", text);
    r->options->time_ms = value * 1000;
    return 1;
}

/* == All options ============================================================ */

/* The calls that plan. */
#define CALLS (API_PLAN_CALL | API_BIND_CALL)

/* The commands and calls that plan for a process. */
#define LIVE_CALLS (API_LIVE | API_BIND_CALL)
#define BINDERS    (API_APPLY | API_RUN | API_BIND_CALL)
#define QUIETLY                                                                                \
    (API_SERVICE | API_TOPO | WORKERS | PLANNING | API_RESTORE | API_EXPORT | API_REPLAY |     \
     API_GROUPS | CHANGING)

#define ROW(name, its_value, its_group, its_first, its_commands, its_text, ...)                \
    {                                                                                          \
        .dashed = "--" name, .value = its_value, .group = API_GROUP_##its_group,               \
        .first = its_first, .commands = its_commands, .text = its_text, __VA_ARGS__            \
    }
#define PID             "the number of a process"
#define AT(its_member)  .member = offsetof(api_options, its_member)
#define GIVEN(its_flag) .given = offsetof(api_options, its_flag)
#define READ(name, value, group, first, commands, reader, text)                                \
    ROW(name, value, group, first, commands, text, .read = reader)
#define WORD(name, value, group, first, commands, choices, member, text)                       \
    ROW(name, value, group, first, commands, text, .words = choices, AT(member))
#define LIST(name, its_group, its_commands, its_list, member, its_text)                        \
    ROW(name, "LIST", its_group, 0, its_commands, its_text, .list = its_list, AT(member))
#define EACH(name, value, group, first, commands, member, count, text)                         \
    ROW(name, value, group, first, commands, text, .room = API_MAX_NAMES, AT(member),          \
        GIVEN(count))
#define NUMBER(name, value, group, first, commands, member, from, to, its_what, text)          \
    ROW(name, value, group, first, commands, text, .least = from, .most = to,                  \
        .what = its_what, AT(member))
#define STORE_AT(name, value, group, first, commands, member, its_letter, text)                \
    ROW(name, value, group, first, commands, text, .letter = its_letter, AT(member))
#define READ_AT(name, value, group, first, commands, reader, its_letter, text)                 \
    ROW(name, value, group, first, commands, text, .letter = its_letter, .read = reader)
#define TEXT(name, value, group, first, commands, member, text)                                \
    ROW(name, value, group, first, commands, text, AT(member))
#define OF_NPUS(name, ...)                                                                     \
    ROW(name, "VALUE", PLAN, 0, CALLS, NULL, .is_of_npus = 1, __VA_ARGS__)
#define FLAG(name, group, first, commands, member, text)                                       \
    ROW(name, NULL, group, first, commands, text, AT(member))

#define MEMORY(value, first, commands, text)                                                   \
    ROW("memory", value, BINDING, first, commands, text, .words = memory_ways, AT(memory),     \
        GIVEN(has_memory))

const char *const api_group_titles[] = {
#define API_X(name, title) title,
    API_GROUP_LIST(API_X)
#undef API_X
};

/* In the order of the help. Rows of one name are of different commands. */
const api_option api_option_rows[] = {
    /* What one command alone has */
    READ_AT("output", "DIR", COMMAND, API_CAPTURE, API_CAPTURE, read_output, 'o',
            "a new folder; or a file, NAME.host or NAME.host.gz"),
    TEXT("name", "NAME", COMMAND, API_CAPTURE, API_CAPTURE, name,
         "the name of the host (default: that of DIR)"),
    FLAG("redact", COMMAND, API_CAPTURE, API_CAPTURE, redact,
         "remove names (host, processes, jobs, users) and serial numbers"),
    FLAG("replace", COMMAND, API_CAPTURE | API_IMPORT | API_EXPORT,
         API_CAPTURE | API_IMPORT | API_EXPORT, replace,
         "replace hosts of the same name, and a file"),
    FLAG("shapes", COMMAND, API_IMPORT, API_IMPORT, shapes,
         "keep what groups needs of each host, in place of its inputs"),
    FLAG("fix", COMMAND, API_DOCTOR, API_DOCTOR, is_fix,
         "make the changes that are safe, on record"),
    FLAG("dry-run", COMMAND, API_DOCTOR, API_DOCTOR, is_dry,
         "with --fix: say which these are, and change nothing"),
    FLAG("dry-run", COMMAND, API_ACCEPT | API_REMOVE, API_ACCEPT | API_REMOVE, is_dry,
         "say what would be changed, and change nothing"),
    FLAG("restore", COMMAND, API_DOCTOR, API_DOCTOR, is_restoring,
         "put back what --fix has changed, after a crash too"),
    FLAG("check", COMMAND, API_SERVICE, API_SERVICE, is_check,
         "say what is wrong in the settings, or print them"),
    WORD("ask", "alive|ready", COMMAND, API_SERVICE, API_SERVICE, questions, ask,
         "ask a service that runs whether it goes on: exit 0 or 1 within a second; ready: and "
         "whether it has looked at the workers of the host"),
    FLAG("nics", COMMAND, API_TOPO, API_TOPO | API_TOPO_CALL, topo.wants_nics,
         "network cards and NVMe disks, too, and how near each is to each device"),
    NUMBER("choose", "N", COMMAND, API_TOPO, API_TOPO | API_TOPO_CALL, n_choose, 1,
           CPUBIND_MAX_DEVICES, "a number of devices",
           "the N devices that a job should ask for: nearest to each other, then to network "
           "cards; beside them the N lowest"),
    READ("between", "A,B", COMMAND, API_MEASURE, API_MEASURE, read_between,
         "two of now, unbound (all CPUs of its cpuset), near and reference (default: now,near; "
         "unbound,near if bound)"),
    READ("time", "TIME", COMMAND, API_MEASURE, API_MEASURE, read_time,
         "in all, such as 90, 60s (default) or 5m"),
    EACH("metric", "WHERE", COMMAND, API_MEASURE, API_MEASURE, metric, n_metric,
         "figures that decide, before counters of the kernel. URL or URL#NAME: of a page of "
         "Prometheus, such as that of vLLM or SGLang. command:CMD: the number that a command "
         "prints at the end of a block. log:FILE#REGEX: the first group, in new lines"),
    /* Which process */
    NUMBER("pid", "N", DEVICES, API_APPLY, API_APPLY, pid, 1, INT32_MAX, PID,
           "the process, whose device is found (default: the parent)"),
    NUMBER("pid", "N", DEVICES, API_MEASURE, API_MEASURE, pid, 1, INT32_MAX, PID, "one worker"),
    NUMBER("pid", "N", DEVICES, API_VERIFY | API_RESTORE, API_VERIFY | API_RESTORE, pid, 1,
           INT32_MAX, PID, "the process (default: the parent)"),
    FLAG("all", DEVICES, API_APPLY | API_MEASURE, API_APPLY | API_MEASURE, all,
         "every process that drives a device"),
    FLAG("all", DEVICES, API_VERIFY, API_VERIFY, all,
         "every process that drives a device, and every one on record"),
    FLAG("all", DEVICES, API_RESTORE, API_RESTORE, all,
         "every process on record, also those that have ended"),
    FLAG("ended", DEVICES, API_RESTORE, API_RESTORE, is_ended,
         "those that have ended; what others use stays"),
    FLAG("tree", DEVICES, API_APPLY | API_MEASURE, API_APPLY | API_MEASURE, tree,
         "--pid N and every process below it"),
    FLAG("tree", DEVICES, API_RUN, API_RUN, tree,
         "every process below the command, each to its own device"),
    FLAG("auto", DEVICES, API_RUN, API_RUN, is_auto,
         "the rank by the variable of the launcher: LOCAL_RANK, or that of Open MPI, MVAPICH, "
         "MPICH, PALS, Cray, Flux or Slurm"),
    /* Which devices */
    READ("device", "NAME", DEVICES, API_LIVE, LIVE_CALLS, read_device,
         "one device: npu3, gpu0, 3 or a PCI address"),
    READ("devices", "LIST", DEVICES, API_PLAN | API_STATUS | API_TOPO, NAMING & ~LIVE_CALLS,
         read_device, "these devices alone: npu0-3,gpu0 or 0-3, or PCI addresses"),
    READ("devices", "LIST", DEVICES, 0, LIVE_CALLS, read_device, NULL),
    READ("device", "NAME", DEVICES, 0, NAMING & ~LIVE_CALLS, read_device, NULL),
    READ("rank", "N", DEVICES, API_LIVE, API_LIVE, read_rank,
         "the N-th of the devices that the process sees, from 0 on"),
    READ("rank", "N", DEVICES, API_PLAN, CASE & ~API_LIVE, read_rank,
         "say which device the worker of rank N drives"),
    READ("visible", "LIST", DEVICES, 0, CASE, read_visible,
         "in place of ASCEND_RT_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES and the like: 0,1"),
    NUMBER("job", "N", DEVICES, 0, CASE, request.n_job, 1, CPUBIND_MAX_DEVICES,
           "the number of devices of a job",
           "the first N of these devices are of the worker's job, the rest of others"),
    FLAG("running", DEVICES, 0, CASE, request.only_running,
         "the NPUs in the process table; plan: the devices in use"),
    READ("pci", "ADDRESS", DEVICES, 0, FUNCTION_CALLS, read_pci, NULL),
    READ("class", "CLASS", DEVICES, 0, FUNCTION_CALLS, read_class, NULL),
    /* Which host */
    TEXT("root", "DIR", HOST, API_PLAN | API_DOCTOR | API_TOPO,
         API_SERVICE | (PLANNING & ~API_CAPTURE) | API_TOPO, root,
         "a snapshot in place of this host: a folder or NAME.host"),
    TEXT("root", "DIR", HOST, API_CAPTURE, API_CAPTURE, root,
         "a snapshot folder, or a whole copy of /proc and /sys"),
    TEXT("root", "DIR", HOST, API_MEASURE, API_MEASURE, root,
         "the devices and who uses them, in place of those of this host; the processes are "
         "those of this host"),
    TEXT("root", "DIR", HOST, API_STATUS, API_STATUS, root,
         "a host in place of this one: a folder or NAME.host; where that has no processes, "
         "they are those of this host"),
    TEXT("fixture", "NAME", HOST, API_PLAN | API_DOCTOR | API_TOPO | API_STATUS,
         API_SERVICE | API_PLAN | API_DOCTOR | API_TOPO | API_STATUS | API_LIVE, fixture,
         "a host of a corpus, such as gpu-smt-apart-2a30 or a2-192cpu-8npu"),
    TEXT("db", "FILE", HOST, API_LIST | API_SHOW | API_EXPORT | API_REPLAY | API_GROUPS,
         (API_SERVICE | PLANNING | STORE | API_TOPO | API_STATUS) & ~(API_CAPTURE | CHANGING),
         db, "the corpus (default: the one installed with cpubind)"),
    TEXT("db", "FILE", HOST, API_CAPTURE | API_IMPORT, API_CAPTURE | API_IMPORT, db,
         "the corpus, which is created if it is missing"),
    TEXT("db", "FILE", HOST, CHANGING, API_ACCEPT | API_REMOVE | API_RENAME, db,
         "the corpus that is changed"),
    /* The plan */
    ROW("rules", "RULES", PLAN, API_PLAN, TYPED,
        "near (default): devices take whole cores in turns; or reference: as vllm-ascend. All "
        "workers of a host need the same",
        .words = rules, AT(request.rules), GIVEN(request.has_rules)),
    READ("keep", "N|LIST", PLAN, API_PLAN, TYPED, read_keep,
         "CPUs for the host: N of each node, or a list such as 0-3 (of CPU 4 alone: 4,)"),
    LIST("exclude", PLAN, TYPED, "CPU", exclude, "CPUs that are left out of every pool"),
    LIST("allowed", PLAN, CASE | WORKERS, "CPU", allowed,
         "CPUs, such as 0-95, in place of those of this process"),
    WORD("scope", "SCOPE", PLAN, 0, TYPED, scopes, request.scope,
         "whose the allowed CPUs are. cpuset: all devices of the host share them. host: pools "
         "are cut from all online CPUs, then each to the allowed ones. own: they are those of "
         "this container alone. auto (default): own with DRA_CPUSET_* or a quota of exactly so "
         "many CPUs, else cpuset"),
    NUMBER("processes", "N", PLAN, 0, CASE, request.n_process, 1, MAX_PROCESSES,
           "a number of processes from 1 to 1024",
           "N processes drive each device and share its pool"),
    ROW("index", "I", PLAN, 0, CASE,
        "which of --processes this one is, from 0 on; with --numa-bind its rank",
        .most = INT32_MAX, .what = "the number of a process, from 0 on", AT(request.process),
        GIVEN(has_index)),
    WORD("reach", "WHERE", PLAN, 0, API_PLAN | API_CASE | CALLS, reaches, request.reach,
         "near: how far a pool may be from its device. socket: on the nearest nodes of its "
         "socket (default). home: near it alone; the others stay idle. cache: one last cache "
         "near it. host: none stays idle"),
    READ("what-if", "SETTING", PLAN, 0, API_PLAN, read_what_if,
         "figures of the plan beside those with another setting of the firmware: nps=1, nps=2 "
         "or nps=4 nodes a socket, snc=2, smt=off"),
    READ("cpu-workers", "N|node", PLAN, 0, API_PLAN, read_workers,
         "CPUs of N workers that drive no device, or of one a node, in place of those of "
         "devices: whole cores that these leave; as a setting all whole cores of cpu-nodes"),
    /* What is bound, and how */
    READ(
        "thread", "NAME=WHERE", BINDING, 0, API_PLAN | API_APPLY | API_RUN | API_BIND_CALL,
        read_wish,
        "the threads of a name go to " API_ROLE_WORDS
        "transfer, pool, keep (the CPUs of --keep), leave (not moved) or CPUs. In NAME, of "
        "which the kernel keeps 15 bytes, * is any bytes and ? one. May be repeated; the first "
        "that fits counts, before the names that cpubind knows"),
    MEMORY("WAY", API_APPLY, API_APPLY | API_BIND_CALL,
           "migrate (default): move the pages that the process alone maps. all: shared and "
           "locked ones, too. none"),
    MEMORY("WAY", API_RUN, API_RUN,
           "prefer (default): new memory comes from the node of the device. none. With --tree "
           "those of apply"),
    MEMORY("WAY", 0, API_MEASURE,
           "move memory once, at the start, as apply does: it stays there (default: none)"),
    MEMORY("none", API_VERIFY | API_STATUS, API_VERIFY | API_STATUS,
           "do not look at the memory, which takes long if it is much"),
    READ("watch", "[SECONDS]", BINDING, API_APPLY, API_APPLY, read_watch,
         "bind again every SECONDS (default: 1) what is new or has moved, to the end of the "
         "process; with --all new processes, too"),
    READ("watch", "[SECONDS]", BINDING, API_STATUS, API_STATUS, read_watch,
         "look again every SECONDS (default: 1): a line for each change"),
    READ("env", "NAME=VALUE", BINDING, API_RUN, API_RUN, read_env,
         "set a variable: OMP_NUM_THREADS={threads}. " CPUBIND_ROLE_LIST(
             BRACED) "{transfer}, {pool} are CPUs, {threads} is the number of main "
                     "CPUs that a quota has time for; {npu}, {node}, {nic}, {port}, {nics}, "
                     "{netdev}"),
    FLAG("or-unbound", BINDING, API_RUN, API_RUN, or_unbound,
         "start the command after any refusal, too; --auto, --numa-bind and --tree do so where "
         "something is missing, unless --strict"),
    FLAG("strict", BINDING, 0, BINDERS, is_strict, "undo all if a part cannot be done"),
    FLAG("force", BINDING, 0, API_APPLY | API_BIND_CALL, is_forced,
         "bind PID 1, a kernel thread or a zombie, too"),
    FLAG("service", BINDING, API_RESTORE, API_RESTORE, ends_service,
         "with --all: end the service of this host first; without it the service runs on, and "
         "leaves them alone"),
    /* Nodes, as vLLM and SGLang bind GPUs */
    FLAG("numa-bind", NUMA, 0, API_RUN, numa_bind,
         "the node of the device, shared with its other ranks"),
    READ("numa-bind-nodes", "N...", NUMA, 0, API_RUN, read_numa_nodes,
         "nodes in place of those of the devices, by rank: 0 0 1 1"),
    READ("numa-bind-cpus", "LIST...", NUMA, 0, API_RUN, read_numa_cpus,
         "CPUs in place of those of the node, by rank: 0-3 4-7"),
    /* Keys of the settings that no command has an option for; those of calls first */
    READ("roles", "LIST", PLAN, 0, CALLS, read_roles, NULL),
    NUMBER("transfer", "N", PLAN, 0, CALLS, request.transfer, 0, CPUBIND_MAX_CPUS,
           "a number of CPUs", NULL),
    WORD("overlap", "POLICY", PLAN, 0, CALLS, overlaps, request.overlap, NULL),
    FLAG("share", PLAN, 0, CALLS, request.share, NULL),
    OF_NPUS("npu", .read = read_npu),
    OF_NPUS("npus", .read = read_npu),
    OF_NPUS("total", .least = 1, .most = CPUBIND_MAX_DEVICES,
            .what = "the number of NPUs of the host", AT(request.total)),
    OF_NPUS("device-type", .read = choose_type),
    OF_NPUS("facts", .words = origins, AT(request.origin)),
    OF_NPUS("strategy", .read = choose_strategy),
    READ("memory-limit", "BYTES", BINDING, 0, API_BIND_CALL, read_limit, NULL),
    NUMBER("memory-time", "SECONDS", BINDING, 0, API_BIND_CALL, memory_time, 1, 86400,
           "a number of seconds from 1 to 86400", NULL),
    WORD("irqbalance", "WAY", BINDING, 0, API_BIND_CALL, irqbalance_ways, irqbalance, NULL),
    WORD("nic-interrupts", "WAY", BINDING, 0, API_BIND_CALL, nic_ways, moves_nics, NULL),
    WORD("threads", "SET", BINDING, 0, API_BIND_CALL, thread_sets, threads, NULL),
    FLAG("any-arch", BINDING, 0, API_BIND_CALL, any_arch, NULL),
    FLAG("respect-masks", BINDING, 0, 0, respects_masks, NULL),
    WORD("others", "WAY", BINDING, 0, 0, other_ways, keeps_others, NULL),
    WORD("engine", "NAME", PLAN, 0, CALLS, engines, request.engine.engine, NULL),
    NUMBER("tp", "N", PLAN, 0, CALLS, request.engine.tp, 1, CPUBIND_MAX_DEVICES,
           "a number of devices", NULL),
    NUMBER("dp", "N", PLAN, 0, CALLS, request.engine.dp, 1, CPUBIND_MAX_DEVICES,
           "a number of engine cores", NULL),
    NUMBER("api-servers", "N", PLAN, 0, CALLS, request.engine.n_api, 1, CPUBIND_MAX_DEVICES,
           "a number of API servers", NULL),
    LIST("cpu-nodes", PLAN, CALLS, "node", cpu_nodes, NULL),
    NUMBER("reserve", "N", PLAN, 0, CALLS, request.workers.reserve, 0, CPUBIND_MAX_CPUS,
           "a number of CPUs", NULL),
    NUMBER("reserve-host", "N", PLAN, 0, CALLS, request.workers.reserve_host, 0,
           CPUBIND_MAX_CPUS, "a number of CPUs", NULL),
    READ("cpu-workers", "N|node", PLAN, 0, CALLS, read_workers, NULL),
    EACH("only", "NAME", COMMAND, 0, 0, only, n_only, NULL),
    EACH("except", "NAME", COMMAND, 0, 0, except, n_except, NULL),
    READ("textfile", "FILE", COMMAND, 0, 0, read_textfile, NULL),
    READ("socket", "FILE", COMMAND, 0, 0, read_socket, NULL),
    FLAG("restore-at-end", COMMAND, 0, 0, is_restored_at_end, NULL),
    /* What is printed */
    TEXT("explain", "WHAT", OUTPUT, API_PLAN, API_PLAN, explain,
         "why: npu3, gpu0, device3, cpu17, acl, npu3.acl, threads or all"),
    TEXT("explain", "POD", OUTPUT, API_STATUS, API_STATUS, explain,
         "why a pod has its CPUs, and whose are beside them: its uid, name, or namespace/name"),
    TEXT("format", "FORMAT", OUTPUT, API_PLAN | API_REPLAY | API_TOPO,
         API_PLAN | API_REPLAY | API_TOPO, format_word,
         "how to print it; the formats are below"),
    READ_AT("output", "COLUMN,...", OUTPUT, 0, API_TOPO | API_LIST, read_output, 'o',
            "these columns of the table alone, in this order"),
    READ_AT("output", "COLUMN,...", OUTPUT, 0, API_PLAN | API_STATUS, read_output, 'o',
            "these columns of the table alone, in this order. KEY=VALUE: a setting of "
            "cpubind.conf(5) for this run"),
    READ_AT("output", "KEY=VALUE", OUTPUT, 0, API_LIVE | API_DOCTOR | API_MEASURE | API_CASE,
            read_output, 'o', "a setting of cpubind.conf(5) for this run"),
    FLAG("json", OUTPUT, 0, API_SERVICE | API_TOPO | WORKERS | PLANNING | API_RESTORE | STORE,
         json, "one JSON object, errors too; with --watch one a change"),
    FLAG("quiet", OUTPUT, 0, QUIETLY, quiet, "no more than the result"),
    STORE_AT("help", NULL, OUTPUT, 0, EVERY, help, 'h', "print this; -h: the first of it"),
    STORE_AT("version", NULL, OUTPUT, 0, EVERY, version, 'V', "print the version"),
    {.dashed = NULL},
};

int api_takes_value(const api_option *row)
{
    return row->value && row->value[0] != '[';
}

void api_add_option_words(const api_option *row, api_text *to)
{
    if (row->words)
        add_words(row->words, to);
}

/* == Options by name ======================================================== */

/* Notes that an option has said what a key of the settings says. */
static void note_given(api_options *o, const api_option *row)
{
    const int32_t key = api_find_key(row->dashed + 2, length(row->dashed + 2));
    if (key >= 0)
        o->given |= (uint64_t)1 << key;
}

/* Whether an option of this value says no more than that it is not given, of any device. */
static int is_usual(const char *value)
{
    return strcasecmp(value, "auto") == 0 || strcasecmp(value, "all") == 0 ||
           is_word(value, "topo_affinity");
}

/* Reads one of a list of texts, whose number is at row->given. */
static int read_one_more(const api_reading *r, const api_option *row, const char *value)
{
    char *options = (char *)r->options;
    int32_t *n = (int32_t *)(void *)(options + row->given);
    if (*n == row->room)
        return words_fail(0, r->why, "%s is there more than %d times", row->dashed,
                          (int)row->room);
    ((const char **)(void *)(options + row->member))[(*n)++] = value;
    return 1;
}

/* Reads a list of CPUs or nodes, and lets the request see it. */
static int read_numbers(const api_reading *r, const api_option *row, const char *value)
{
    api_options *o = r->options;
    api_numbers *list = (api_numbers *)(void *)((char *)o + row->member);
    const int good = read_list(r, row->dashed + 2, row->list, value, list);
    if (list == &o->allowed) {
        o->request.allowed = list->item;
        o->request.n_allowed = list->n;
    } else if (list == &o->exclude) {
        o->request.exclude = list->item;
        o->request.n_exclude = list->n;
    } else if (list == &o->cpu_nodes) {
        o->request.workers.node = list->n > 0 ? list->item : NULL;
        o->request.workers.n_node = list->n;
    }
    return good;
}

/* Reads the number of an option, or one of its words. */
static int read_value(const api_reading *r, const api_option *row, const char *value,
                      int32_t *out)
{
    if (row->words)
        return choose(r, row->words, row->dashed + 2, value, out);
    if (read_number(value, out) && *out >= row->least && *out <= row->most)
        return 1;
    api_add(r->why, "%s is not %s: \"%s\"", row->dashed, row->what, value);
    return add_try(r);
}

int api_store(const api_reading *r, const api_option *row, const char *value)
{
    char *options = (char *)r->options;
    const int is_given = 1;
    int32_t n = 0;
    note_given(r->options, row);
    if (row->is_of_npus && !is_usual(value))
        r->options->npu_option = row;
    if (row->read)
        return row->read(r, value);
    if (row->list)
        return read_numbers(r, row, value);
    if (row->room > 0)
        return read_one_more(r, row, value);
    if (row->most > 0 || row->words) {
        if (!read_value(r, row, value, &n))
            return 0;
        memcpy(options + row->member, &n, sizeof n);
    } else if (api_takes_value(row)) {
        memcpy(options + row->member, &value, sizeof value);
    } else {
        memcpy(options + row->member, &is_given, sizeof is_given);
    }
    if (row->given > 0)
        memcpy(options + row->given, &is_given, sizeof is_given);
    return 1;
}

int api_add_retired(const char *name, api_text *why)
{
    static const struct {
        const char *name, *now;
    } rows[] = {
        {"state", "it named the file of the record, which is found without it now: in "
                  "$XDG_RUNTIME_DIR/cpubind, else in cpubind-UID below $TMPDIR; root's is in "
                  "/run/cpubind"},
        {"config", "name the file alone: cpubind service FILE"},
        {"metric-command", "that is: --metric command:CMD"},
        {"metric-log", "that is: --metric log:FILE#REGEX"},
        {"seed", "the order is drawn anew each time; give more --time for a surer answer"},
        {"slurm", "that is: cpubind topo --format slurm"},
        {"alive", "that is: --ask alive"},
        {"ready", "that is: --ask ready"},
        {"distances", "that is: --format distances"},
        {"svg", "that is: --format svg >FILE"},
        {"product", "it is a line of host.txt, in what capture has written"},
        {"notes", "it is a line of host.txt, in what capture has written"},
    };
    for (int32_t i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].name, name) == 0) {
            api_add(why, "; %s", rows[i].now);
            return 1;
        }
    return 0;
}

/* Reads the value of an option as that of a key. Its reasons begin with the dashed name. */
static int read_key(const reading *r, const api_option *row, char *value)
{
    const int is_yes = strcmp(value, "yes") == 0;
    if (api_takes_value(row))
        return api_store(r, row, value);
    if (row->read) /* its value is the next word, and may be missing */
        return row->read(r, NULL) &&
               (*r->next == 1 || wrong(r, "not a number of seconds", value));
    if (!is_yes && strcmp(value, "no") != 0)
        return wrong(r, "it takes yes or no", value);
    note_given(r->options, row);
    memcpy((char *)r->options + row->member, &is_yes, sizeof is_yes);
    return 1;
}

int api_read_setting(api_options *options, int commands, const char *key, char *value,
                     api_text *why)
{
    char *words[] = {value, NULL};
    int next = 0;
    api_text text = {"", 0};
    const reading r = {commands ? NULL : "", options, &text, words, 1, &next, NULL};
    api_hint hint = {.word = key};
    for (const api_option *row = api_option_rows; row->dashed; row++) {
        const char *name = row->dashed + 2;
        if (commands && !(row->commands & commands))
            continue;
        api_hint_try(&hint, name);
        if (strcmp(name, key) != 0)
            continue;
        if (read_key(&r, row, value))
            return 1;
        api_add(why, "%s", text.text + (strncmp(text.text, "--", 2) == 0 ? 2 : 0));
        return 0;
    }
    api_add(why, "there is no option \"%s\"", key);
    if (!api_add_retired(key, why))
        api_hint_add(&hint, why);
    return 0;
}

int api_check_index(const api_options *options, const char *words, api_text *why)
{
    const cpubind_request *q = &options->request;
    if (!options->has_index || q->process < q->n_process)
        return 1;
    if (q->n_process == 0 &&
        (options->numa_bind || options->is_auto || api_asks_for_devices(options)))
        return 1; /* it is the rank */
    if (q->n_process == 0)
        api_add(why,
                "--index %d says which of the processes of an NPU this one is; say how many "
                "there are, with --processes N",
                (int)q->process);
    else
        api_add(why, "--index %d is none of --processes %d, which are 0 to %d", (int)q->process,
                (int)q->n_process, (int)q->n_process - 1);
    if (words)
        api_add(why, "; try: cpubind %s --help", words);
    return 0;
}

void api_set_usual(api_options *out, enum api_command command)
{
    memset(out, 0, sizeof *out);
    out->command = command;
    out->request.is_auto_strategy = 1;
    out->request.wants_others = 1;
    out->one_npu = -1;
    out->memory_limit = -1;
    out->threads = CPUBIND_THREADS_PRODUCT;
}

void api_free_options(api_options *options)
{
    free(options->npus.item);
    free(options->device.item);
    free(options->allowed.item);
    free(options->exclude.item);
    free(options->keep.item);
    free(options->cpu_nodes.item);
    for (int32_t i = 0; i < options->n_wish; i++)
        if (options->wish[i].kind == CPUBIND_WISH_LIST)
            free((void *)options->wish[i].cpus.cpu);
    free(options->conf_text);
    memset(options, 0, sizeof *options);
}
