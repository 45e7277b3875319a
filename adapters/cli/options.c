/* options.c - read the command line: one table of all options, and what each one does
 * SPDX-License-Identifier: MIT
 *
 * Opens nothing and asks nothing of the host. An option is written in full: an abbreviation
 * would become another option with the next version.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../text/procfs.h"
#include "device_plan.h"
#include "hint.h"
#include "picture.h"
#include "settings.h"

#define MAX_JOBS          1024
#define MAX_WATCH_SECONDS 3600
#define MAX_PROCESSES     1024 /* that drive one NPU */

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof *(array)))

#define LIVE     (CLI_APPLY | CLI_RUN | CLI_VERIFY)
#define PLANNING (CLI_PLAN | CLI_CAPTURE | CLI_DOCTOR | LIVE)
#define CASE     (PLANNING | CLI_CASE)
#define CHANGING (CLI_IMPORT | CLI_ACCEPT | CLI_REMOVE | CLI_RENAME)
#define STORE    (CLI_LIST | CLI_SHOW | CLI_EXPORT | CLI_REPLAY | CHANGING)
#define EVERY    (PLANNING | STORE | CLI_RESTORE | CLI_SERVICE | CLI_TOPO | CLI_STATUS)

/* One word of a closed set. */
typedef struct choice {
    const char *word;
    int32_t value;
} choice;

/* The command line that is being read. Functions that take it return 0, with the reason in
 * *why, when a word is wrong. */
typedef struct reading {
    const cli_help *help;
    cli_options *options;
    cli_text *why;
    const cli_format *formats; /* of --format, or NULL */
    char **argv;
    int argc;
    int *next; /* index of the word after those that were read */
} reading;

static int wrong(const reading *r, const char *what, const char *value)
{
    cli_add(r->why, "%s: \"%s\"; try: cpubind %s --help", what, value, r->help->words);
    return 0;
}

/* Whether a word is the known one, in letters of either case and with "-" for "_". */
static int is_word(const char *word, const char *known)
{
    while (*known &&
           (tolower((unsigned char)*word) == *known || (*word == '-' && *known == '_')))
        word++, known++;
    return *word == '\0' && *known == '\0';
}

static int choose(const reading *r, const choice *choices, int32_t n, const char *option,
                  const char *word, int32_t *out)
{
    cli_hint hint = {.word = word};
    for (int32_t i = 0; i < n; i++) {
        cli_hint_try(&hint, choices[i].word);
        if (!is_word(word, choices[i].word))
            continue;
        *out = choices[i].value;
        return 1;
    }
    cli_add(r->why, "--%s does not know \"%s\"; it knows", option, word);
    for (int32_t i = 0; i < n; i++)
        cli_add(r->why, "%s %s", i ? "," : "", choices[i].word);
    cli_hint_add(&hint, r->why);
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
static int choose_type(const reading *r, const char *word)
{
    cpubind_device_type *type = &r->options->request.type, second = CPUBIND_TYPE_AUTO;
    choice types[CPUBIND_TYPE_COUNT];
    int32_t value = 0;
    for (int32_t i = 0; i < COUNT(types); i++) {
        types[i] = (choice){cpubind_type_word((cpubind_device_type)i), i};
        if (is_word(word, types[i].word)) {
            *type = (cpubind_device_type)i;
            return 1;
        }
    }
    *type = type_of_chip(word, &second);
    if (*type == CPUBIND_TYPE_AUTO)
        return choose(r, types, COUNT(types), "device-type", word, &value);
    if (*type == second)
        return 1;
    cli_add(r->why, "--device-type \"%s\" is a chip of %s and of %s; name one of them", word,
            cpubind_type_word(*type), cpubind_type_word(second));
    return 0;
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

static int choose_scope(const reading *r, const char *word)
{
    static const choice scopes[] = {
#define CPUBIND_X(name, word) {word, CPUBIND_SCOPE_##name},
        CPUBIND_SCOPE_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    int32_t value = 0;
    if (!choose(r, scopes, COUNT(scopes), "scope", word, &value))
        return 0;
    r->options->request.scope = (cpubind_scope)value;
    return 1;
}

static int choose_origin(const reading *r, const char *word)
{
    static const choice origins[] = {
#define CPUBIND_X(name, word) {word, CPUBIND_ORIGIN_##name},
        CPUBIND_ORIGIN_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    int32_t value = 0;
    if (!choose(r, origins, COUNT(origins), "facts", word, &value))
        return 0;
    r->options->request.origin = (cpubind_origin)value;
    return 1;
}

static int choose_rules(const reading *r, const char *word)
{
    static const choice rules[] = {
#define CPUBIND_X(name, word) {word, CPUBIND_RULES_##name},
        CPUBIND_RULES_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    int32_t value = 0;
    if (!choose(r, rules, COUNT(rules), "rules", word, &value))
        return 0;
    r->options->request.rules = (cpubind_rules)value;
    r->options->request.has_rules = 1;
    return 1;
}

static int choose_format(const reading *r, const char *word)
{
    const cli_format *formats = r->formats;
    int32_t n = 0;
    while (formats[n].word)
        if (strcmp(formats[n++].word, word) == 0) {
            r->options->format = &formats[n - 1];
            return 1;
        }
    cli_add(r->why, "--format does not know \"%s\"; it knows", word);
    for (int32_t i = 0; i < n; i++)
        cli_add(r->why, "%s %s", i ? "," : "", formats[i].word);
    return 0;
}

/* Reads a list that must not be empty; `what` is "CPU" or "NPU". */
static int read_list(const reading *r, const char *option, const char *what, const char *text,
                     cli_numbers *out)
{
    const int32_t limit = strcmp(what, "NPU") == 0 ? CPUBIND_MAX_DEVICES : CPUBIND_MAX_CPUS;
    int32_t at = 0;
    const char *fault = cli_read_numbers(text, limit, out, &at);
    if (!fault && out->n > 0)
        return 1;
    if (fault)
        cli_add(r->why, "--%s \"%s\", character %d: %s; such as 0-3,6 or 0-30:2", option, text,
                (int)at + 1, fault);
    else
        cli_add(r->why, "--%s names no %s: \"%s\"; try: cpubind %s --help", option, what, text,
                r->help->words);
    return 0;
}

/* "all" are the visible ones, as without the option. */
static int read_npus(const reading *r, const char *text)
{
    cli_options *o = r->options;
    const int is_all = strcasecmp(text, "all") == 0;
    const int good = is_all || read_list(r, "npus", "NPU", text, &o->npus);
    if (is_all)
        o->npus = (cli_numbers){NULL, 0};
    o->request.npu = o->npus.item;
    o->request.n_npu = o->npus.n;
    return good;
}

static int read_allowed(const reading *r, const char *text)
{
    cli_options *o = r->options;
    const int good = read_list(r, "allowed", "CPU", text, &o->allowed);
    o->request.allowed = o->allowed.item;
    o->request.n_allowed = o->allowed.n;
    return good;
}

static int read_exclude(const reading *r, const char *text)
{
    cli_options *o = r->options;
    const int good = read_list(r, "exclude", "CPU", text, &o->exclude);
    o->request.exclude = o->exclude.item;
    o->request.n_exclude = o->exclude.n;
    return good;
}

static int read_visible(const reading *r, const char *text)
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

static int read_rank(const reading *r, const char *text)
{
    if (!read_number(text, &r->options->request.rank)) {
        cli_add(r->why,
                "--rank \"%s\" is not a number from 0 on: the launcher has not set the rank of "
                "this worker; or name the NPU with --%s N",
                text, r->options->command & LIVE ? "npu" : "npus");
        return 0;
    }
    r->options->request.has_rank = 1;
    return 1;
}

static int read_total(const reading *r, const char *text)
{
    int32_t *total = &r->options->request.total;
    if (!read_number(text, total) || *total < 1 || *total > CPUBIND_MAX_DEVICES)
        return wrong(r, "--total is not the number of NPUs of the host", text);
    return 1;
}

/* Reads "4", a number of CPUs of each node, or a list, which has a comma or a dash: "4,". */
static int read_keep(const reading *r, const char *text)
{
    cli_options *o = r->options;
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
        good = read_number(text, &each) && each >= 1 && each <= CPUBIND_MAX_CPUS;
        if (!good)
            cli_add(r->why,
                    "--keep \"%s\" is neither a number of CPUs of each node, from 1 to %d, nor "
                    "a list of CPUs, such as 0-3 or, of CPU 0 alone, 0,",
                    text, CPUBIND_MAX_CPUS);
    }
    o->request.keep_each = each;
    o->request.keep = is_list ? o->keep.item : NULL;
    o->request.n_keep = is_list ? o->keep.n : 0;
    return good;
}

static int read_processes(const reading *r, const char *text)
{
    int32_t *n = &r->options->request.n_process;
    if (!read_number(text, n) || *n < 1 || *n > MAX_PROCESSES)
        return wrong(r, "--processes is not a number of processes from 1 to 1024", text);
    return 1;
}

static int read_index(const reading *r, const char *text)
{
    if (!read_number(text, &r->options->request.process))
        return wrong(r, "--index is not the number of a process, from 0 on", text);
    r->options->has_index = 1;
    return 1;
}

static int read_jobs(const reading *r, const char *text)
{
    int32_t *jobs = &r->options->jobs;
    if (!read_number(text, jobs) || *jobs < 1 || *jobs > MAX_JOBS)
        return wrong(r, "--jobs is not a number from 1 to 1024", text);
    return 1;
}

/* == Options of the commands that bind ====================================== */

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

/* Reads the address of a PCI function, which may be given several times. */
static int read_pci(const reading *r, const char *text)
{
    cpubind_pci_request *q = &r->options->topo;
    if (q->n_named == CLI_MAX_PCI)
        return wrong(r, "there are too many addresses", text);
    if (cpubind_pci_parse(text, length(text), &r->options->pci[q->n_named], NULL) !=
        CPUBIND_TEXT_OK)
        return wrong(r, "--pci is not an address such as 0000:17:00.0", text);
    q->n_named++;
    return 1;
}

/* Reads a PCI class: 0x and two, four or six hexadecimal digits, or the digits alone. */
static int read_class(const reading *r, const char *text)
{
    const char *digits = text + (strncasecmp(text, "0x", 2) == 0 ? 2 : 0);
    const size_t n = strlen(digits);
    int32_t value = 0;
    for (size_t i = 0; i < n && i < 7; i++) {
        const char *at = strchr("0123456789abcdef", tolower((unsigned char)digits[i]));
        if (!at)
            return wrong(r, "--class is not a class such as 0x0302", text);
        value = value * 16 + (int32_t)(at - "0123456789abcdef");
    }
    if (n != 2 && n != 4 && n != 6)
        return wrong(r, "--class has two, four or six hexadecimal digits", text);
    r->options->topo.class_code = value;
    r->options->topo.class_digits = (int32_t)n;
    return 1;
}

/* Reads the CPUs of each role, irq, main, acl and release: "0,1,0,0". */
static int read_roles(const reading *r, const char *text)
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
        return wrong(r, "--roles wants the CPUs of " CLI_ROLE_WORDS "such as 2,1,1,1", text);
    r->options->has_roles = 1;
    return 1;
}

static int choose_memory(const reading *r, const char *word)
{
    static const choice ways[] = {{"migrate", CPUBIND_MEMORY_MIGRATE},
                                  {"all", CPUBIND_MEMORY_ALL},
                                  {"prefer", CPUBIND_MEMORY_PREFER},
                                  {"none", CPUBIND_MEMORY_NONE}};
    int32_t value = 0;
    if (!choose(r, ways, COUNT(ways), "memory", word, &value))
        return 0;
    r->options->memory = (cpubind_memory_action)value;
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
    r->options->irqbalance = (cpubind_irqbalance_action)value;
    return 1;
}

static int choose_others(const reading *r, const char *word)
{
    static const choice ways[] = {{"leave", 0}, {"keep", 1}};
    int32_t value = 0;
    if (!choose(r, ways, COUNT(ways), "others", word, &value))
        return 0;
    r->options->keeps_others = value;
    return 1;
}

/* Reads a number of bytes: "4096", "512M", "200G". Returns 0 when it is none or too large. */
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

static int read_memory_time(const reading *r, const char *text)
{
    if (!read_number(text, &r->options->memory_time) || r->options->memory_time < 1 ||
        r->options->memory_time > 86400)
        return wrong(r, "--memory-time is not a number of seconds from 1 to 86400", text);
    return 1;
}

static int choose_threads(const reading *r, const char *word)
{
    static const choice sets[] = {
#define CPUBIND_X(name, word) {word, CPUBIND_THREADS_##name},
        CPUBIND_THREADS_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    int32_t value = 0;
    if (!choose(r, sets, COUNT(sets), "threads", word, &value))
        return 0;
    r->options->threads = (cpubind_threads)value;
    return 1;
}

/* Reads a role, "pool", "keep" or "leave". Returns 0 for any other word. */
static int read_wish_role(const char *word, cpubind_thread_wish *wish)
{
    static const choice words[] = {{"pool", CPUBIND_WISH_POOL},
                                   {"keep", CPUBIND_WISH_KEEP},
                                   {"leave", CPUBIND_WISH_LEAVE}};
    for (int32_t i = 0; i < COUNT(words); i++)
        if (strcmp(words[i].word, word) == 0) {
            wish->kind = (cpubind_wish_kind)words[i].value;
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

/* Reads the CPUs of --thread, which are never freed. */
static int read_wish_list(const reading *r, const char *text, cpubind_thread_wish *wish)
{
    cli_numbers list = {NULL, 0};
    int32_t at = 0;
    if (cli_read_numbers(text, CPUBIND_MAX_CPUS, &list, &at) || list.n == 0)
        return wrong(r, "--thread wants NAME=" CLI_ROLE_WORDS "pool, keep, leave, or CPUs",
                     text);
    wish->kind = CPUBIND_WISH_LIST;
    wish->cpus.cpu = list.item;
    wish->cpus.n = list.n;
    return 1;
}

/* Reads "NAME=ROLE" or "NAME=LIST", where NAME may be a pattern. The name ends at the last "=",
 * since it may hold others. */
static int read_wish(const reading *r, const char *text)
{
    cli_options *o = r->options;
    char *equals = strrchr(text, '=');
    cpubind_thread_wish *wish = &o->wish[o->n_wish];
    char pattern[CPUBIND_PATTERN_SIZE];
    if (o->n_wish == CLI_MAX_WISHES)
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

/* Reads the number of seconds after --watch, which may be missing. */
static int read_watch(const reading *r, const char *text)
{
    const char *next = *r->next < r->argc ? r->argv[*r->next] : "";
    int32_t seconds = 1;
    (void)text;
    if (next[0] && next[strspn(next, "0123456789")] == '\0') {
        ++*r->next;
        if (!read_number(next, &seconds) || seconds < 1 || seconds > MAX_WATCH_SECONDS)
            return wrong(r, "--watch takes seconds from 1 to 3600", next);
    }
    r->options->watch_ms = seconds * 1000;
    return 1;
}

/* == Options of the service ================================================== */

static int read_only(const reading *r, const char *text)
{
    cli_options *o = r->options;
    if (o->n_only == CLI_MAX_NAMES)
        return wrong(r, "there are too many --only", text);
    o->only[o->n_only++] = text;
    return 1;
}

static int read_except(const reading *r, const char *text)
{
    cli_options *o = r->options;
    if (o->n_except == CLI_MAX_NAMES)
        return wrong(r, "there are too many --except", text);
    o->except[o->n_except++] = text;
    return 1;
}

/* The longest path of a socket: sun_path of unix(7), without the NUL. */
#define MAX_SOCKET_PATH 107

static int read_socket(const reading *r, const char *text)
{
    const int is_none = strcmp(text, "none") == 0;
    if (!is_none && (text[0] != '/' || strlen(text) > MAX_SOCKET_PATH))
        return wrong(r, "--socket is neither none nor an absolute path of 107 bytes at most",
                     text);
    r->options->socket = is_none ? NULL : text;
    return 1;
}

static int read_textfile(const reading *r, const char *text)
{
    const size_t n = strlen(text);
    if (text[0] != '/' || n < sizeof "/.prom" || strcmp(text + n - 5, ".prom") != 0)
        return wrong(r, "--textfile is not an absolute path that ends in .prom", text);
    r->options->textfile = text;
    return 1;
}

/* == All options ============================================================ */

/* One option. Without a function that reads it, its value is stored at `member` of
 * cli_options: the text, or 1 for an option without a value. */
typedef struct option_row {
    const char *dashed;
    int has_value;
    int commands; /* that have it; with CLI_CASE an expectation may have it too */
    int (*read)(const reading *r, const char *text);
    size_t member;
    int letter; /* of the short form, or 0 */
} option_row;

#define READ(name, commands, read)                                                             \
    {                                                                                          \
        "--" name, 1, commands, read, 0, 0                                                     \
    }
#define TEXT(name, commands, member)                                                           \
    {                                                                                          \
        "--" name, 1, commands, NULL, offsetof(cli_options, member), 0                         \
    }
#define FLAG(name, commands, member)                                                           \
    {                                                                                          \
        "--" name, 0, commands, NULL, offsetof(cli_options, member), 0                         \
    }

static const option_row rows[] = {
    TEXT("root", CLI_SERVICE | PLANNING | CLI_TOPO | CLI_STATUS, root),
    TEXT("fixture", CLI_SERVICE | CLI_PLAN | CLI_DOCTOR | CLI_TOPO | LIVE, fixture),
    TEXT("db", CLI_SERVICE | PLANNING | STORE | CLI_TOPO, db),
    READ("device-type", CASE | CLI_STATUS, choose_type),
    READ("npus", CLI_PLAN | CLI_CAPTURE | CLI_DOCTOR | CLI_STATUS | CLI_CASE, read_npus),
    READ("visible", CASE, read_visible),
    READ("rank", CASE, read_rank),
    FLAG("running", CASE, request.only_running),
    READ("total", CASE | CLI_STATUS, read_total),
    READ("facts", CASE | CLI_STATUS, choose_origin),
    READ("scope", CASE, choose_scope),
    READ("allowed", CASE | CLI_STATUS, read_allowed),
    READ("exclude", CASE | CLI_STATUS, read_exclude),
    READ("strategy", CASE | CLI_STATUS, choose_strategy),
    READ("overlap", CASE | CLI_STATUS, choose_overlap),
    READ("rules", CASE | CLI_STATUS, choose_rules),
    READ("keep", CASE | CLI_STATUS, read_keep),
    READ("processes", CASE, read_processes),
    READ("index", CASE, read_index),
    FLAG("distances", CLI_PLAN, distances),
    TEXT("svg", CLI_PLAN, svg),
    FLAG("compare", CLI_PLAN, compare),
    FLAG("no-lists", CLI_PLAN, no_lists),
    TEXT("explain", CLI_PLAN, explain),
    {"--output", 1, CLI_CAPTURE, NULL, offsetof(cli_options, output), 'o'},
    TEXT("name", CLI_CAPTURE, name),
    TEXT("product", CLI_CAPTURE, product),
    TEXT("notes", CLI_CAPTURE, notes),
    FLAG("redact", CLI_CAPTURE, redact),
    FLAG("replace", CLI_CAPTURE | CLI_IMPORT | CLI_EXPORT, replace),
    FLAG("dry-run", CLI_ACCEPT | CLI_REMOVE, is_dry),
    READ("jobs", CLI_REPLAY, read_jobs),
    READ("format", CLI_PLAN | CLI_REPLAY, choose_format),
    READ("pid", CLI_APPLY | CLI_VERIFY | CLI_RESTORE, read_pid),
    READ("npu", LIVE, read_npu),
    READ("thread", CLI_PLAN | LIVE | CLI_STATUS, read_wish),
    READ("threads", CLI_PLAN | LIVE | CLI_STATUS, choose_threads),
    READ("memory", LIVE | CLI_STATUS, choose_memory),
    READ("memory-limit", CLI_APPLY, read_limit),
    READ("memory-time", CLI_APPLY, read_memory_time),
    READ("irqbalance", CLI_APPLY | CLI_RUN, choose_irqbalance),
    FLAG("any-arch", CLI_APPLY | CLI_RUN, any_arch),
    FLAG("strict", CLI_APPLY | CLI_RUN, is_strict),
    FLAG("force", CLI_APPLY, is_forced),
    FLAG("or-unbound", CLI_RUN, or_unbound),
    {"--watch", 0, CLI_APPLY | CLI_STATUS, read_watch, 0, 0},
    READ("env", CLI_RUN, read_env),
    TEXT("state", LIVE | CLI_RESTORE, state),
    FLAG("nics", CLI_TOPO, topo.wants_nics),
    READ("pci", CLI_TOPO | CLI_PLAN | CLI_RUN, read_pci),
    READ("class", CLI_TOPO | CLI_PLAN | CLI_RUN, read_class),
    READ("roles", CLI_PLAN | CLI_RUN, read_roles),
    FLAG("all", CLI_APPLY | CLI_VERIFY | CLI_RESTORE, all),
    FLAG("respect-masks", CLI_APPLY, respects_masks),
    READ("others", CLI_APPLY, choose_others),
    FLAG("ended", CLI_RESTORE, is_ended),
    TEXT("config", CLI_SERVICE, config),
    FLAG("check", CLI_SERVICE, is_check),
    FLAG("restore-at-end", CLI_SERVICE, is_restored_at_end),
    READ("only", 0, read_only),
    READ("except", 0, read_except),
    READ("textfile", 0, read_textfile),
    READ("socket", 0, read_socket),
    FLAG("json",
         CLI_SERVICE | CLI_TOPO | CLI_STATUS | PLANNING | CLI_RESTORE | CLI_LIST | CLI_SHOW |
             CLI_REPLAY,
         json),
    FLAG("quiet",
         CLI_SERVICE | CLI_TOPO | CLI_STATUS | PLANNING | CLI_RESTORE | CLI_EXPORT |
             CLI_REPLAY | CHANGING,
         quiet),
    {"--help", 0, EVERY, NULL, offsetof(cli_options, help), 'h'},
    FLAG("help-all", EVERY, help_all),
    {"--version", 0, EVERY, NULL, offsetof(cli_options, version), 'V'},
};

/* A part of a command line. */
typedef enum part_kind { PART_END, PART_WORD, PART_OPTION, PART_FAULT } part_kind;

typedef struct part {
    part_kind kind;
    char *text;            /* the word as it was written */
    const char *value;     /* of an option; NULL: it has none */
    const option_row *row; /* of an option that the command has */
    const char *fault;     /* of an option */
} part;

/* A walk over a command line. */
typedef struct walk {
    enum cli_command command;
    char **argv;
    int argc;
    int next;
    int is_over; /* the words that follow are no options */
} walk;

/* The row of an option as it was written, with its value where that is in the same word. */
static const option_row *row_of(enum cli_command command, const char *text, const char **value)
{
    const size_t n = strcspn(text, "=");
    const int is_long = text[1] == '-';
    *value = NULL;
    for (int32_t i = 0; i < COUNT(rows); i++) {
        if (!(rows[i].commands & (int)command))
            continue;
        if (is_long && strlen(rows[i].dashed) == n && strncmp(rows[i].dashed, text, n) == 0) {
            *value = text[n] ? text + n + 1 : NULL;
            return &rows[i];
        }
        if (!is_long && command != CLI_CASE && rows[i].letter == text[1]) {
            *value = text[2] ? text + 2 : NULL;
            return &rows[i];
        }
    }
    return NULL;
}

/* Adds what other programs call an option of this command. Returns 0 when none does. */
static int add_foreign_name(enum cli_command command, const char *word, cli_text *why)
{
    static const struct {
        const char *theirs, *ours;
    } names[] = {
        {"-p", "--pid"},                   /* taskset */
        {"-c", "--allowed"},               /* taskset */
        {"-C", "--allowed"},               /* numactl */
        {"--cpu-list", "--allowed"},       /* taskset */
        {"--physcpubind", "--allowed"},    /* numactl */
        {"--cpus", "--allowed"},           /* docker */
        {"--cpuset-cpus", "--allowed"},    /* docker */
        {"--numa-bind-cpus", "--allowed"}, /* vLLM */
        {"--cpunodebind", "--npu"},        /* numactl: the node is that of the NPU */
        {"-N", "--npu"},
        {"--numa-node", "--npu"},       /* SGLang */
        {"--numa-bind-nodes", "--npu"}, /* vLLM */
        {"--membind", "--memory"},      /* numactl */
        {"-m", "--memory"},
        {"--preferred", "--memory"},
        {"--local-rank", "--rank"}, /* torchrun */
        {"--local_rank", "--rank"},
        {"--device", "--npu"},
        {"--device-id", "--npu"},
        {"--device_id", "--npu"},
        {"--devices", "--npus"},
        {"--device-ids", "--npus"}, /* vllm-ascend */
        {"-n", "--npu"},
        {"-q", "--quiet"},
        {"-j", "--json"},
    };
    for (int32_t i = 0; i < COUNT(names); i++) {
        const char *value;
        if (strcmp(names[i].theirs, word) != 0 || !row_of(command, names[i].ours, &value))
            continue;
        cli_add(why, "; cpubind calls it %s", names[i].ours);
        return 1;
    }
    return 0;
}

/* Adds the commands that have the option, where they are few. Returns 0 when none has. */
static int add_owners(const char *word, cli_text *why)
{
    enum { FEW = 4 };
    const char *owner[FEW];
    int n = 0;
    for (int32_t i = 0; i < COUNT(rows); i++)
        for (uint32_t bit = 1; strcmp(rows[i].dashed, word) == 0 && bit < 1u << 30; bit <<= 1) {
            const cli_help *help = cli_help_of((enum cli_command)bit);
            if (!((uint32_t)rows[i].commands & bit) || (uint32_t)help->command != bit)
                continue;
            if (n < FEW)
                owner[n] = help->words;
            n++;
        }
    for (int i = 0; n <= FEW && i < n; i++)
        cli_add(why, "%s cpubind %s", i ? "," : "; it is an option of", owner[i]);
    return n > 0;
}

/* Adds the options that start with a word that is none, else those that are like it. */
static void add_full_names(enum cli_command command, const char *text, cli_text *why)
{
    char word[64] = "";
    cli_hint hint = {.word = word};
    int n = 0;
    (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(text, "="), text);
    for (int32_t i = 0; i < COUNT(rows); i++) {
        if (!(rows[i].commands & (int)command) || strlen(text) <= 2)
            continue;
        cli_hint_try(&hint, rows[i].dashed);
        if (strncmp(rows[i].dashed, word, strlen(word)) == 0)
            cli_add(why, "%s %s",
                    n++ ? "," : "; an option is written in full:", rows[i].dashed);
    }
    if (n == 0 && !add_foreign_name(command, word, why) && !add_owners(word, why))
        cli_hint_add(&hint, why);
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
    w->is_over |= w->command == CLI_RUN && p.text[0] != '-';
    if (w->is_over || p.text[0] != '-' || p.text[1] == '\0')
        return p;
    p.kind = PART_OPTION;
    p.row = row_of(w->command, p.text, &p.value);
    if (!p.row)
        p.fault = "this command has no such option";
    else if (!p.row->has_value && p.value)
        p.fault = "this option takes no value";
    else if (p.row->has_value && !p.value && w->next >= w->argc)
        p.fault = "this option requires an argument";
    else if (p.row->has_value && !p.value)
        p.value = w->argv[w->next++];
    if (p.fault)
        p.kind = PART_FAULT;
    return p;
}

static int take_option(const reading *r, const part *p)
{
    const option_row *row = p->row;
    cli_options *o = r->options;
    char *member = (char *)o + row->member;
    const int is_given = 1;
    if (row->read && !row->read(r, p->value))
        return 0;
    if (!row->read && row->has_value)
        memcpy(member, &p->value, sizeof p->value);
    else if (!row->read)
        memcpy(member, &is_given, sizeof is_given);
    if (!(row->commands & CLI_CASE))
        return 1;
    /* An option that says what is planned is kept as arguments of an expectation. */
    if (o->n_arg + 2 > CLI_MAX_ARGS)
        return wrong(r, "there are too many options", p->text);
    o->arg[o->n_arg++] = row->dashed;
    if (row->has_value)
        o->arg[o->n_arg++] = p->value;
    return 1;
}

/* Whether errors are to be JSON too: --json or such a --format is given, perhaps after the
 * error. */
static int wants_json(int argc, char **argv, enum cli_command command,
                      const cli_format *formats)
{
    walk w = {command, argv, argc, 1, 0};
    for (part p = next_part(&w); p.kind != PART_END; p = next_part(&w)) {
        if (p.kind != PART_OPTION)
            continue;
        if (!p.row->read && p.row->member == offsetof(cli_options, json))
            return 1;
        for (const cli_format *f = formats; p.row->read == choose_format && f->word; f++)
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

/* Without --format it is the first one, with --json the one that is JSON. */
static void choose_default_format(const cli_format *formats, cli_options *o)
{
    if (!formats)
        return;
    if (!o->format)
        o->format = formats;
    o->json |= o->format->is_json;
    while (o->json && o->format == formats && !formats->is_json)
        o->format = ++formats;
}

void cli_free_options(cli_options *options)
{
    free(options->npus.item);
    free(options->allowed.item);
    free(options->exclude.item);
    free(options->keep.item);
    memset(options, 0, sizeof *options);
}

int cli_read_setting(cli_options *options, const char *key, char *value, cli_text *why)
{
    char *words[] = {value, NULL};
    int next = 0;
    const reading r = {cli_help_of(CLI_APPLY), options, why, NULL, words, 1, &next};
    const int is_yes = strcmp(value, "yes") == 0;
    for (int32_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].dashed + 2, key) != 0)
            continue;
        if (rows[i].has_value)
            return rows[i].read(&r, value);
        if (rows[i].read) /* its value is the next word, and may be missing */
            return rows[i].read(&r, NULL) &&
                   (next == 1 || wrong(&r, "not a number of seconds", value));
        if (!is_yes && strcmp(value, "no") != 0)
            return wrong(&r, "it takes yes or no", value);
        memcpy((char *)options + rows[i].member, &is_yes, sizeof is_yes);
        return 1;
    }
    return wrong(&r, "there is no such option", key);
}

/* Checks --index against --processes. */
static int check_index(const reading *r)
{
    const cpubind_request *q = &r->options->request;
    if (!r->options->has_index || q->process < q->n_process)
        return 1;
    if (q->n_process == 0)
        cli_add(r->why,
                "--index %d says which of the processes of an NPU this one is; say how many "
                "there are, with --processes N",
                (int)q->process);
    else
        cli_add(r->why, "--index %d is none of --processes %d, which are 0 to %d",
                (int)q->process, (int)q->n_process, (int)q->n_process - 1);
    cli_add(r->why, "; try: cpubind %s --help", r->help->words);
    return 0;
}

void cli_set_usual(cli_options *out, enum cli_command command)
{
    memset(out, 0, sizeof *out);
    out->command = command;
    out->request.is_auto_strategy = 1;
    out->one_npu = -1;
    out->memory_limit = -1;
    out->threads = CPUBIND_THREADS_PRODUCT;
}

int cli_parse(int argc, char **argv, enum cli_command command, const cli_format *formats,
              cli_options *out, cli_text *why)
{
    walk w = {command, argv, argc, 1, 0};
    const reading r = {cli_help_of(command), out, why, formats, argv, argc, &w.next};
    cli_set_usual(out, command);
    out->word = argv + 1;
    for (part p = next_part(&w); p.kind != PART_END; p = next_part(&w)) {
        if (p.kind == PART_FAULT) {
            (void)wrong(&r, p.fault, p.text);
            if (!p.row)
                add_full_names(command, p.text, why);
            return 0;
        }
        if (p.kind == PART_WORD)
            out->word[out->n_word++] = p.text; /* of argv, from its start */
        else if (!take_option(&r, &p))
            return 0;
        if (out->help || out->help_all || out->version)
            return 1;
    }
    out->word[out->n_word] = NULL;
    choose_default_format(formats, out);
    return check_index(&r);
}

/* Says why options of a command that binds exclude each other; NULL when they do not. */
static const char *binding_conflict(const cli_options *o, enum cli_command command)
{
    if (o->one_npu >= 0 && (o->request.has_rank || o->request.visible))
        return "--npu names the NPU; --rank and --visible find it: give one";
    if (o->one_npu < 0 && !o->request.has_rank && command == CLI_APPLY && !o->pid)
        return "say which NPU: --npu N, or --rank N among the visible ones; or with --pid N "
               "which process, and the NPU that it uses is found";
    if (o->one_npu < 0 && !o->request.has_rank && command == CLI_RUN)
        return "say which NPU: --npu N, or --rank N among the visible ones";
    if (o->request.n_process > 1 && !o->has_index)
        return "say which of the --processes this one is: --index I, from 0 on";
    if (command == CLI_APPLY && o->memory == CPUBIND_MEMORY_PREFER)
        return "--memory prefer is for run: a process sets its own memory policy only";
    if (command == CLI_RUN && o->has_memory &&
        (o->memory == CPUBIND_MEMORY_MIGRATE || o->memory == CPUBIND_MEMORY_ALL))
        return "--memory migrate is for apply: a command that starts has no memory yet";
    if ((o->memory_limit >= 0 || o->memory_time > 0) && o->memory == CPUBIND_MEMORY_NONE)
        return o->memory_time > 0 ? "--memory-time is a limit of --memory migrate"
                                  : "--memory-limit is a limit of --memory migrate";
    return NULL;
}

/* The same for apply --all and verify --all. */
static const char *all_conflict(const cli_options *o, enum cli_command command)
{
    const cpubind_request *q = &o->request;
    if (o->pid || o->state || o->one_npu >= 0 || q->has_rank || q->visible)
        return "--all is every process that drives an NPU: leave out --pid, --npu, --rank, "
               "--visible and --state";
    if (q->n_process > 0 || o->has_index)
        return "--all counts the processes of each NPU itself: leave out --processes and "
               "--index";
    if (o->keeps_others && q->keep_each == 0 && !q->keep)
        return "--others keep puts the other processes on the CPUs of --keep: give it, too, "
               "such as --keep 2";
    return command == CLI_APPLY && o->memory == CPUBIND_MEMORY_PREFER
               ? "--memory prefer is for run: a process sets its own memory policy only"
               : NULL;
}

/* The options of plan that say what is printed. */
static const char *printing_conflict(const cli_options *o)
{
    if (o->svg && strcmp(o->svg, "-") == 0 && strcmp(o->format->word, "text") != 0)
        return "--svg - prints the picture alone; leave out --format and --json";
    if (o->compare && o->request.has_rules)
        return "--compare plans by both rules; leave out --rules";
    if (o->compare && (o->distances || o->svg || o->explain))
        return "--compare prints no map, picture or reasons; leave out --distances, --svg and "
               "--explain";
    if (o->compare && o->format && !o->format->compare)
        return "--compare prints text or JSON; leave out --format";
    if (o->explain && cli_check_explain(o->explain))
        return cli_check_explain(o->explain);
    if (o->explain && !o->json && strcmp(o->format->word, "text") != 0)
        return "--explain prints sentences, or JSON; leave out --format";
    return NULL;
}

/* Says why options exclude each other; NULL when they do not. */
static const char *conflict(const cli_options *o, enum cli_command command)
{
    const char *text;
    if (o->is_check && o->config && o->n_word > 0)
        return "--config and --check each name a file; give one";
    if (command == CLI_PLAN && cli_asks_for_devices(o) && cli_npu_option(o))
        return "--pci and --class are about devices of any vendor: leave out the options that "
               "are about NPUs";
    if (o->root && o->fixture)
        return "--root and --fixture each name a host; give one";
    if ((command & (CLI_PLAN | CLI_DOCTOR | CLI_TOPO | LIVE)) && o->db && !o->fixture)
        return "--db needs the name of a host, --fixture NAME";
    if ((command & CHANGING) && !o->db && !(command == CLI_ACCEPT && o->is_dry))
        return "it writes to a corpus of yours, --db FILE; the one installed with cpubind "
               "stays as it is";
    if (command == CLI_CAPTURE && !o->output == !o->db)
        return "name the target: either -o DIR, or --db FILE --name NAME";
    if (command == CLI_CAPTURE && o->db && !o->name)
        return "--db needs a name for the host, --name NAME";
    if (o->all && (command & (CLI_APPLY | CLI_VERIFY)))
        return all_conflict(o, command);
    if (o->respects_masks || o->keeps_others)
        return "--respect-masks and --others are about all workers: give --all, too";
    if ((command & CLI_BINDING) && !(command & CLI_RESTORE))
        return binding_conflict(o, command);
    if (o->all && (o->pid || o->state))
        return "--all is every process on record; give it alone";
    if (o->is_ended && (o->pid || o->state || o->all))
        return "--ended is every process on record that has ended; give it alone";
    if ((text = printing_conflict(o)) != NULL)
        return text;
    if (o->json && o->format && !o->format->is_json)
        return "--json and --format each say how to print; give one";
    return NULL;
}

/* Says how many words the command takes, when there are not so many; else NULL. */
static const char *count_fault(int n, enum cli_command command)
{
    switch (command) {
    case CLI_SHOW:
        return n < 1 || n > 2 ? "name a host, and perhaps one of its inputs: NAME [INPUT]"
                              : NULL;
    case CLI_IMPORT:
        return n < 1 ? "name the folders of hosts: DIR..." : NULL;
    case CLI_EXPORT:
        return n != 2 ? "name a host and a folder: NAME DIR" : NULL;
    case CLI_RENAME:
        return n != 2 ? "name a host and its new name: NAME NEW" : NULL;
    case CLI_RUN:
        return n < 1 ? "name the command that is to run: -- COMMAND" : NULL;
    case CLI_SERVICE:
        return n > 1 ? "name one file: --check FILE" : NULL;
    case CLI_ACCEPT:
    case CLI_REMOVE:
        return n < 1 ? "name a host: NAME" : NULL;
    default:
        return NULL;
    }
}

static int check(const cli_options *o, enum cli_command command, cli_text *why)
{
    const cli_help *help = cli_help_of(command);
    const char *what = command & CLI_RUN ? NULL : count_fault(o->n_word, command);
    const int takes_words = (command == CLI_SERVICE && o->is_check) ||
                            command & (CLI_SHOW | CLI_EXPORT | CLI_REPLAY | CHANGING | CLI_RUN);
    if (!takes_words && o->n_word > 0) {
        cli_add(why,
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
        cli_add(why, "%s; try: cpubind %s --help", what, help->words);
    return !what;
}

int cli_start(int argc, char **argv, enum cli_command command, const cli_format *formats,
              cli_options *out)
{
    cli_text why = {"", 0};
    const int is_json = wants_json(argc, argv, command, formats);
    int good = cli_parse(argc, argv, command, formats, out, &why);
    if (good && (out->help || out->help_all)) {
        cli_print_help_of(stdout, command, formats, out->help_all);
        return CLI_DONE;
    }
    if (good && out->version) {
        puts("cpubind " CPUBIND_VERSION);
        return CLI_DONE;
    }
    if (good && check(out, command, &why))
        return -1;
    out->json = is_json;
    return cli_fail(out, CLI_USAGE, why.text);
}
