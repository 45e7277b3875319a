/* message.c - explain why there is no plan: what, where, why, and what to do
 * SPDX-License-Identifier: MIT
 *
 * Each problem is one case. The codes are those of adapters/model/facts.h; this file only
 * words them. An advice is given only where it helps with the options that were given. One that
 * cuts pools by another rule says that all workers of the host need it: a single worker that
 * follows it would get CPUs of others.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ascend/input_list.h"
#include "../text/cpulist.h"
#include "api.h"

#define MAX_LIST   512 /* bytes of a list that is quoted in a message */
#define MAX_QUOTE  API_MAX_QUOTE
#define ONLINE     "sys/devices/system/cpu/online"
#define MAX_STDERR 200 /* bytes of a line of stderr that is quoted: the loader names files */

/* Replaces what a terminal would obey, and bytes that belong to no character. */
static void make_plain(char *text, int keeps_lines)
{
    for (size_t left = strlen(text); left > 0;) {
        const int32_t n = *text == '\n' && keeps_lines ? 1 : cpubind_character(text, left);
        if (n == 0)
            *text = '?';
        text += n ? n : 1;
        left -= (size_t)(n ? n : 1);
    }
}

void api_add(api_text *to, const char *format, ...)
{
    size_t start = to->len;
    size_t room = sizeof to->text - to->len;
    va_list arguments;
    int n;
    va_start(arguments, format);
    n = vsnprintf(to->text + to->len, room, format, arguments);
    va_end(arguments);
    if (n > 0)
        to->len += (size_t)n < room ? (size_t)n : room - 1;
    make_plain(to->text + start, strchr(format, '\n') != NULL);
}

int api_has_others(const cpubind_facts *facts)
{
    for (int32_t i = 0; i < facts->n_device; i++)
        if (facts->device[i].bus >= 0)
            return 1;
    return !facts->has_listed && facts->is_joined && facts->n_bus > 0;
}

void api_add_in_words(const cpubind_facts *facts, const char *text, api_text *to)
{
    const int has_others = api_has_others(facts);
    for (const char *npu; has_others && (npu = strstr(text, "NPU")) != NULL; text = npu + 3) {
        const int n = (int)(npu - text);
        const int has_article = n >= 3 && memcmp(npu - 3, "an ", 3) == 0;
        const char *after = npu + 4 + (npu[3] == ' ' ? strspn(npu + 4, "0123456789") : 0);
        api_add(to, "%.*s%s", has_article ? n - 2 : n, text, has_article ? " " : "");
        api_add(to, to->len == 0 ? "Device" : "device");
        if (npu[3] == ' ' && after > npu + 4 && (*after == '-' || *after == ','))
            api_add(to, after[1] >= '0' && after[1] <= '9' ? "s" : "");
    }
    api_add(to, "%s", text);
}

void api_add_list(api_text *to, const int32_t *list, int32_t n)
{
    char text[MAX_LIST];
    int32_t len = 0;
    if (n <= 0)
        api_add(to, "none");
    else if (cpubind_cpulist_format(list, n, text, MAX_LIST, &len) == CPUBIND_TEXT_OK)
        api_add(to, "%.*s", (int)len, text);
    else
        api_add(to, "%d CPUs from %d to %d", (int)n, (int)list[0], (int)list[n - 1]);
}

void api_add_npus(api_text *to, const cpubind_facts *facts,
                  int (*is_in)(const void *ctx, const cpubind_viewed *npu), const void *ctx)
{
    int32_t *ids = (int32_t *)malloc(((size_t)facts->n_device + 1) * sizeof *ids), n = 0;
    for (int32_t i = 0; ids && i < facts->n_device; i++)
        if (!is_in || is_in(ctx, &facts->device[i]))
            ids[n++] = facts->device[i].logic;
    if (ids)
        api_add_list(to, ids, n);
    else
        api_add(to, "(there is no memory for the list)");
    free(ids);
}

void api_add_pci(api_text *to, const cpubind_pci_address *pci)
{
    api_add(to, "%04x:%02x:%02x.%x", (unsigned)pci->domain, (unsigned)pci->bus,
            (unsigned)pci->device, (unsigned)pci->function);
}

void api_add_allowed(api_text *to, const cpubind_facts *facts, const api_options *options)
{
    api_add_list(to, facts->cpu, facts->n_cpu);
    if (!options->request.exclude)
        return;
    api_add(to, ", excluded CPUs ");
    api_add_list(to, options->request.exclude, options->request.n_exclude);
}

void api_add_types(api_text *to)
{
    const int first = CPUBIND_TYPE_AUTO + 1, last = CPUBIND_TYPE_COUNT - 1;
    for (int type = first; type <= last; type++)
        api_add(to, "%s%s",
                type == first  ? ""
                : type == last ? " or "
                               : ", ",
                cpubind_type_word((cpubind_device_type)type));
}

int api_no_room(api_text *why)
{
    api_add(why, "there is no memory left");
    return API_UNREADABLE;
}

cpubind_position api_place(const cpubind_problem *problem)
{
    static const cpubind_position none = {0, 0};
    if (problem->offset < 0 || problem->answer.state != CPUBIND_INPUT_PRESENT)
        return none;
    return cpubind_text_place(problem->answer.data, problem->answer.len, problem->offset);
}

void api_add_input(api_text *to, const char *name)
{
    static const struct {
        const char *name;
        const char *words[8];
    } commands[] = {
#define CPUBIND_X(name, ...) {name, {__VA_ARGS__}},
        CPUBIND_COMMAND_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    cpubind_piece card, chip;
    if (cpubind_input_is_board(name, &card, &chip)) {
        api_add(to, "npu-smi info -t board -i %.*s", (int)card.len, name + card.at);
        if (chip.len > 0)
            api_add(to, " -c %.*s", (int)chip.len, name + chip.at);
        return;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, name) != 0)
            continue;
        for (int k = 0; commands[i].words[k]; k++)
            api_add(to, "%s%s", k ? " " : "", commands[i].words[k]);
        return;
    }
    api_add(to, "%s", name);
}

/* Appends the start of a text, up to `max` bytes, as a copy without NUL bytes. */
static void add_quote(const char *text, int32_t len, int32_t max, api_text *out)
{
    char quote[MAX_STDERR + 4];
    int32_t at = 0, n = 0;
    while (at < len && n < max) {
        const int32_t step = cpubind_character(text + at, (size_t)(len - at));
        for (int32_t i = 0; i < (step ? step : 1); i++)
            quote[n++] = step ? text[at + i] : '?';
        at += step ? step : 1;
    }
    quote[n] = '\0';
    if (n > 0)
        api_add(out, ": \"%s%s\"", quote, at < len ? "..." : "");
}

void api_add_quote(api_text *to, const char *text, int32_t len)
{
    add_quote(text, len, MAX_QUOTE, to);
}

/* Appends the line at fault without leading blanks. */
static void add_line_at_fault(const cpubind_problem *p, api_text *out)
{
    const char *text = p->answer.data;
    int32_t at = p->offset < p->answer.len ? p->offset : p->answer.len;
    int32_t end = at;
    if (p->answer.len == 0)
        return;
    while (at > 0 && text[at - 1] != '\n')
        at--;
    while (at < end && (text[at] == ' ' || text[at] == '\t'))
        at++;
    while (end < p->answer.len && text[end] != '\n')
        end++;
    api_add_quote(out, text + at, end - at);
}

/* Appends the first line that the command printed on stderr. */
static void add_stderr(const cpubind_input *input, api_text *out)
{
    int32_t at = 0, end;
    while (at < input->err_len && (unsigned char)input->err[at] <= ' ')
        at++;
    for (end = at; end < input->err_len && input->err[end] != '\n'; end++)
        ;
    if (end > at && input->err[end - 1] == '\r')
        end--;
    if (end > at) {
        api_add(out, "; on stderr it said");
        add_quote(input->err + at, end - at, MAX_STDERR, out);
    }
}

/* The option that names NPUs, so that they need not be found. */
static const char *name_npus(const api_options *options)
{
    return options->command & API_BINDING ? "name the NPU with --npu N"
                                          : "name the NPUs with --npus LIST";
}

static int is_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Whether slices of the allowed CPUs may be large enough for the roles, as far as is known. */
static int slices_may_do(const cpubind_facts *facts)
{
    const cpubind_product *product = cpubind_product_of(facts->type);
    int32_t need = 0, on_bus = 0, in_view = facts->n_listed + facts->n_unknown;
    for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++)
        need += product->roles.count[role];
    for (int32_t i = 0; i < facts->n_counted; i++)
        on_bus += facts->bus[facts->counted[i]].n_device;
    if (facts->scope == CPUBIND_SCOPE_OWN)
        on_bus = 0;
    return facts->n_cpu == 0 ||
           (facts->has_listed && facts->n_cpu >= need * (on_bus > in_view ? on_bus : in_view));
}

static int keeps_cpus(const cpubind_request *request)
{
    return request->keep || request->keep_each > 0;
}

/* Whether an input tells which CPUs share a core. */
static int is_about_cores(const char *input)
{
    return strcmp(input, "cmd/lscpu.txt") == 0 ||
           is_prefix(input, "sys/devices/system/cpu/cpu");
}

/* Whether an input tells only how far nodes are apart, or whether cores have two threads. */
static int is_about_distances(const char *input)
{
    return strcmp(input, "sys/devices/system/cpu/smt/active") == 0 ||
           strcmp(input, "sys/devices/system/node/online") == 0 ||
           (is_prefix(input, "sys/devices/system/node/node") && strstr(input, "/distance"));
}

/* The options that cut slices: the rules near cut none. */
static const char *slices(const cpubind_facts *facts)
{
    return facts->rules == CPUBIND_RULES_REFERENCE
               ? "--strategy global_slice"
               : "--rules reference --strategy global_slice";
}

/* Whether an option changes the rule by which pools are cut. */
static int is_for_all(const char *option)
{
    return !is_prefix(option, "--allowed LIST") && !is_prefix(option, "--facts npu-smi");
}

/* Whether an input is about a function of the bus that is no NPU. */
static int is_about_other(const char *input, const cpubind_facts *facts)
{
    static const char folder[] = "sys/bus/pci/devices/";
    const char *name = input + sizeof folder - 1;
    cpubind_pci_address pci;
    if (!is_prefix(input, folder) ||
        cpubind_pci_parse(name, (int32_t)strcspn(name, "/"), &pci, NULL) != CPUBIND_TEXT_OK)
        return 0;
    for (int32_t i = 0; i < facts->n_counted; i++)
        if (cpubind_pci_compare(&facts->bus[facts->counted[i]].pci, &pci) == 0)
            return 0;
    return facts->n_counted > 0;
}

/* The options with which a plan goes on without an input, or NULL. */
static const char *way_without(const char *input, const cpubind_facts *facts,
                               const api_options *options, int *names_npus)
{
    const cpubind_request *request = &options->request;
    cpubind_piece card, chip;
    *names_npus = 0;
    if (strcmp(input, "proc/self/status") == 0)
        return request->allowed ? NULL : "--allowed LIST";
    if (is_prefix(input, "sys/fs/cgroup") || strcmp(input, "proc/self/cgroup") == 0)
        return request->allowed ? "--scope cpuset" : "--scope cpuset or --allowed LIST";
    if (strcmp(input, "cmd/npu-smi-info-t-topo.txt") == 0 ||
        cpubind_input_is_board(input, &card, &chip))
        return slices(facts);
    if (strcmp(input, "cmd/npu-smi-info.txt") == 0)
        return request->only_running ? NULL : slices(facts);
    if (is_prefix(input, "cmd/npu-smi")) {
        *names_npus = !request->device || request->type == CPUBIND_TYPE_AUTO;
        return NULL;
    }
    if (is_about_cores(input))
        return facts->rules == CPUBIND_RULES_NEAR ? "--rules reference" : slices(facts);
    if (is_about_distances(input) && facts->rules == CPUBIND_RULES_NEAR)
        return "--rules reference";
    if (is_prefix(input, "cmd/"))
        return NULL;
    if (is_about_other(input, facts) && facts->rules == CPUBIND_RULES_NEAR)
        return "--rules reference";
    return is_prefix(input, "sys/devices/system/") ||
                   request->origin == CPUBIND_ORIGIN_NPU_SMI || facts->n_counted == 0
               ? NULL
               : "--facts npu-smi";
}

/* Whether the text at fault is in a line of the environment that starts so. */
static int is_in_variable(const cpubind_problem *p, const char *start)
{
    int32_t at = p->offset;
    if (p->answer.state != CPUBIND_INPUT_PRESENT || at < 0 || at > p->answer.len)
        return 0;
    while (at > 0 && p->answer.data[at - 1] != '\n')
        at--;
    return p->answer.len - at >= (int32_t)strlen(start) &&
           memcmp(p->answer.data + at, start, strlen(start)) == 0;
}

/* Appends what to do about a variable. */
static void add_way_of_variable(const cpubind_problem *p, api_text *out)
{
    static const struct {
        const char *start, *way;
    } ways[] = {
        {CPUBIND_ENV_PREFIX,
         "mend the variable, or say it with --scope cpuset, --scope host or --allowed LIST"},
        {"ASCEND_VISIBLE_DEVICES=",
         "mend the variable, or say it with --visible LIST, by logic ids"},
        {"SLURM_CPUS_ON_NODE=",
         "set ConstrainCores=yes in cgroup.conf, or name the CPUs of the "
         "step with --allowed LIST"},
        {"SLURM_GPUS_ON_NODE=",
         "let each task see all devices of the step (no --gpus-per-task, no --gpu-bind), use "
         "the plugin for Slurm, or name the NPUs of the step with --visible LIST"},
        {"SLURM_", "list all NPUs of the host in gres.conf, as cpubind topo --slurm prints "
                   "them, or name those of the step with --visible LIST"},
        {"", "mend the variable, or say what all workers of the host have, with --rules "
             "reference or --rules near"}};
    size_t i = 0;
    while (*ways[i].start && !is_in_variable(p, ways[i].start))
        i++;
    api_add(out, "%s", ways[i].way);
}

/* Appends what to do about an input that cannot be read. */
static void add_way_out(const cpubind_problem *p, const cpubind_facts *facts,
                        const api_options *options, api_text *out)
{
    const char *input = p->input;
    int names_npus;
    const char *way = input ? way_without(input, facts, options, &names_npus) : NULL;
    if (input && strcmp(input, "env") == 0) {
        add_way_of_variable(p, out);
        return;
    }
    if (!input || !is_prefix(input, "cmd/"))
        api_add(out, "look at this file to see why");
    else if (is_prefix(input, "cmd/npu-smi"))
        api_add(out, "run the command by hand to see why: is the driver loaded, and may this "
                     "user use it?");
    else
        api_add(out, "run the command by hand to see why");
    if (input && is_about_cores(input) && keeps_cpus(&options->request))
        api_add(out, "; or leave out --keep");
    else if (way)
        api_add(out, "; or plan %swithout it: %s",
                is_for_all(way) ? "all workers of the host " : "", way);
    else if (input && strcmp(input, "cmd/npu-smi-info.txt") == 0 &&
             options->request.only_running)
        api_add(out, "; or leave out --running");
    else if (input && names_npus)
        api_add(out, "; or %s and their type with --device-type TYPE", name_npus(options));
}

/* Appends the input and the place of a problem, and what is wrong there. */
static void add_fault(const cpubind_problem *p, api_text *out)
{
    const cpubind_position place = api_place(p);
    if (p->input) {
        api_add_input(out, p->input);
        if (place.line > 0)
            api_add(out, ", line %d, column %d", (int)place.line, (int)place.column);
        api_add(out, ": ");
    }
    api_add(out, "%s", p->what);
}

void api_add_fault(const cpubind_problem *problem, api_text *to)
{
    if (problem->code == CPUBIND_PROBLEM_NONE)
        return;
    api_add(to, " (");
    add_fault(problem, to);
    api_add(to, ")");
}

/* What helps where a command cannot be started. */
static const struct {
    int error;
    const char *name, *help;
} start_faults[] = {
    {EAGAIN, "EAGAIN",
     "this user or this cgroup may have no more processes: raise ulimit -u, or pids.max of the "
     "cgroup (TasksMax of the unit)"},
    {ENOMEM, "ENOMEM",
     "there is too little memory: free some, or raise memory.max of the cgroup"},
    {EMFILE, "EMFILE", "raise the limit of open files: ulimit -n 1024"},
    {ENFILE, "ENFILE",
     "the host may have no more open files: raise it with sysctl fs.file-max"},
    {EACCES, "EACCES",
     "this user may not execute it: set the mode of the file and of its folders, or mount it "
     "without noexec"},
    {EPERM, "EPERM", "a security policy forbids it: see the log of the kernel (dmesg)"},
    {ENOEXEC, "ENOEXEC",
     "it is no program of this machine: install the one of this architecture"},
    {ETXTBSY, "ETXTBSY", "it is being written: try again"},
    {E2BIG, "E2BIG", "the environment is too large: unset the longest variables"},
};

/* Says of a command that it could not be started, why, and what helps. Returns whether that is
 * the problem. Another plan is no way out: workers that can start it have its answers. */
static int explain_start(const cpubind_problem *p, api_text *out)
{
    const size_t n = sizeof start_faults / sizeof *start_faults;
    const cpubind_input *answer = &p->answer;
    size_t i = 0;
    if (answer->state != CPUBIND_INPUT_FAILED || !p->input || !is_prefix(p->input, "cmd/") ||
        !answer->why || (strcmp(answer->why, "exec") != 0 && strcmp(answer->why, "pipe") != 0))
        return 0;
    while (i < n && start_faults[i].error != answer->error)
        i++;
    api_add_input(out, p->input);
    api_add(out, ": it could not be started (%s%s%s); %s", i < n ? start_faults[i].name : "",
            i < n ? ", " : "", strerror(answer->error),
            i < n ? start_faults[i].help : "run the command by hand to see why");
    return 1;
}

int api_is_out_of_files(int32_t error)
{
    return error == EMFILE || error == ENFILE;
}

static void explain_input(const cpubind_problem *p, const cpubind_facts *facts,
                          const api_options *options, api_text *out)
{
    const cpubind_position place = api_place(p);
    if (explain_start(p, out))
        return;
    add_fault(p, out);
    if (p->device >= 0)
        api_add(out, " (%d)", (int)p->device);
    if (place.line > 0)
        add_line_at_fault(p, out);
    if (p->answer.state == CPUBIND_INPUT_FAILED)
        api_add(out, " (%s: %s)", p->answer.why ? p->answer.why : "read",
                strerror(p->answer.error));
    if (p->answer.state == CPUBIND_INPUT_PRESENT && p->answer.exit_code != 0)
        api_add(out, "; it exited with %d", (int)p->answer.exit_code);
    add_stderr(&p->answer, out);
    api_add(out, "; ");
    if (p->answer.state == CPUBIND_INPUT_FAILED && api_is_out_of_files(p->answer.error)) {
        api_add(out, "raise the limit of open files: ulimit -n 1024");
        return;
    }
    if (p->input && strcmp(p->input, ONLINE) == 0 && p->answer.state == CPUBIND_INPUT_ABSENT) {
        if (options->root)
            api_add(out, "is \"%s\" a host, with proc/ and sys/ in it? Else ", options->root);
        api_add(out, "name the CPUs with --allowed LIST");
        return;
    }
    add_way_out(p, facts, options, out);
}

static const cpubind_viewed *npu_of(const cpubind_facts *facts, int32_t logic)
{
    for (int32_t i = 0; i < facts->n_device; i++)
        if (facts->device[i].logic == logic)
            return &facts->device[i];
    return NULL;
}

/* "NPU 3: ", the device that a problem is about; nothing where it is about none. */
static void add_device(const cpubind_problem *p, const cpubind_facts *facts, api_text *out)
{
    if (p->device >= 0)
        api_add(out, "%s %d: ", facts->noun ? facts->noun : "NPU", (int)p->device);
}

static void add_affinity(const cpubind_facts *facts, const api_options *options, int32_t logic,
                         api_text *out)
{
    const cpubind_viewed *npu = npu_of(facts, logic);
    api_add(out, "affinity ");
    if (npu && npu->near_cpus.n > 0)
        api_add_list(out, npu->near_cpus.cpu, npu->near_cpus.n);
    else
        api_add(out, "not known");
    api_add(out, ", allowed ");
    api_add_allowed(out, facts, options);
}

static void add_host_npus(const cpubind_facts *facts, api_text *out)
{
    api_add(out, "; this host has NPUs ");
    api_add_npus(out, facts, NULL, NULL);
}

/* Whether all of these ids, at least one, are NPUs in view. */
static int are_npus(const cpubind_facts *facts, const api_numbers *ids)
{
    for (int32_t i = 0; i < ids->n; i++)
        if (!npu_of(facts, ids->item[i]))
            return 0;
    return ids->n > 0;
}

/* The numbers of a list with ranges; the caller frees them. Returns 0 where it is none. */
static int read_list(const char *list, int32_t len, api_numbers *ids)
{
    char text[MAX_LIST];
    int32_t at = 0;
    *ids = (api_numbers){NULL, 0};
    if (!list || len >= MAX_LIST)
        return 0;
    memcpy(text, list, (size_t)len);
    text[len] = '\0';
    return api_read_numbers(text, CPUBIND_MAX_DEVICES, ids, &at) == 0;
}

static void add_numbers(const api_numbers *ids, api_text *to)
{
    for (int32_t i = 0; i < ids->n; i++)
        api_add(to, "%s%d", i ? "," : "", (int)ids->item[i]);
}

void api_add_comma_form(api_text *to, const cpubind_facts *facts)
{
    api_numbers ids;
    const int is_list = read_list(facts->visible, facts->visible_len, &ids);
    if (!facts->visible || facts->visible_len >= MAX_LIST)
        return;
    if (!is_list || !are_npus(facts, &ids)) {
        add_host_npus(facts, to);
    } else {
        api_add(to, "; the Ascend runtime reads ascending ids with commas between them: ");
        add_numbers(&ids, to);
    }
    free(ids.item);
}

void api_add_commas(const api_options *options, api_text *to)
{
    const cpubind_request *q = &options->request;
    api_numbers ids;
    if (!q->visible || !memchr(q->visible, '-', (size_t)q->visible_len) ||
        !read_list(q->visible, q->visible_len, &ids))
        return;
    api_add(to, "; write it with commas: ");
    add_numbers(&ids, to);
    free(ids.item);
}

static void add_visible(const cpubind_facts *facts, api_text *out)
{
    if (facts->visible)
        api_add(out, " (visible devices: \"%.*s\")",
                facts->visible_len < MAX_QUOTE ? (int)facts->visible_len : MAX_QUOTE,
                facts->visible);
}

static void explain_running(const cpubind_problem *p, const cpubind_facts *facts,
                            const api_options *options, api_text *out)
{
    if (p->input) {
        api_add_input(out, p->input);
        api_add(out, ": ");
    }
    api_add(out, "%s", p->what);
    add_visible(facts, out);
    if (p->input)
        api_add(out, "; is the driver loaded, and is a card there (npu-smi info -l)?");
    else if (facts->visible && facts->n_visible == 0)
        api_add_comma_form(out, facts);
    else if (options->request.only_running)
        api_add(out, "; leave out --running to plan before the workers run");
    else if (options->request.device && facts->visible)
        api_add(out, "; name visible NPUs, or give --visible LIST with those that are named");
    else if (facts->visible)
        add_host_npus(facts, out);
}

static void explain_unknown(const cpubind_problem *p, const cpubind_facts *facts,
                            const api_options *options, api_text *out)
{
    const int32_t n = facts->visible ? facts->n_visible : facts->n_device;
    const int is_about_rank = p->device < 0 && options->request.rank >= n;
    if (p->device >= 0)
        api_add(out, "NPU %d: ", (int)p->device);
    if (is_about_rank)
        api_add(out, "rank %d: ", (int)options->request.rank);
    api_add(out, "%s", p->what);
    if (p->device < 0 && !is_about_rank)
        return;
    add_visible(facts, out);
    add_host_npus(facts, out);
}

/* What another scope means, after "--scope NAME would do: ". */
static const char *const scope_sentences[CPUBIND_SCOPE_COUNT] = {
    [CPUBIND_SCOPE_AUTO] = "",
    [CPUBIND_SCOPE_CPUSET] = "all NPUs of the host share the allowed CPUs then; right if the "
                             "workers of the host have one cpuset",
    [CPUBIND_SCOPE_HOST] = "pools are cut from all online CPUs of the host then; right if all "
                           "workers of the host use it",
    [CPUBIND_SCOPE_OWN] = "only the NPUs of this process share the allowed CPUs then; right if "
                          "these CPUs are its own",
};

/* Appends the CPUs that are online. */
static void add_online(const cpubind_facts *facts, api_text *out)
{
    int32_t *cpu = (int32_t *)malloc((size_t)facts->n_cpu_id * sizeof *cpu + 1), n = 0;
    for (int32_t i = 0; cpu && i < facts->n_cpu_id; i++)
        if (facts->node_of[i] >= 0)
            cpu[n++] = i;
    if (cpu)
        api_add_list(out, cpu, n);
    free(cpu);
}

/* Appends which scopes there are, where nobody has said whose the CPUs are. */
static void add_scopes(const cpubind_facts *facts, api_text *out)
{
    if (facts->scope != CPUBIND_SCOPE_CPUSET || facts->is_scope_given || facts->n_cpu == 0 ||
        facts->n_cpu == facts->n_online)
        return;
    api_add(out, "; or say whose the CPUs are: --scope own, %s; --scope host, %s",
            scope_sentences[CPUBIND_SCOPE_OWN], scope_sentences[CPUBIND_SCOPE_HOST]);
}

void api_add_mask(const cpubind_facts *facts, api_text *out)
{
    api_add(out, "the mask of this process, CPUs ");
    api_add_list(out, facts->cpu, facts->n_cpu);
    api_add(out, ", is narrower than the cpuset of its cgroup, ");
    api_add_list(out, facts->cpuset, facts->n_cpuset);
    api_add(out, ": lift it where it was set (the launcher, taskset), or, if all of these are "
                 "for this process, plan with --scope own or --allowed ");
    api_add_list(out, facts->cpuset, facts->n_cpuset);
}

/* Appends what helps against too few CPUs, with the options that were given. */
static void add_more_cpus(const cpubind_facts *facts, const api_options *options, api_text *out)
{
    if (facts->n_cpu == 0 && options->request.allowed && !options->request.exclude) {
        api_add(out, "; name CPUs that are online with --allowed LIST");
        return;
    }
    api_add(out, "; ");
    if (facts->n_cpuset > 0)
        api_add_mask(facts, out);
    else
        api_add(out, "give the process more CPUs (cpuset, taskset)");
    if (options->request.exclude)
        api_add(out, ", exclude fewer");
    if (keeps_cpus(&options->request))
        api_add(out, ", keep fewer for the host (--keep, alike for all workers)");
    if (options->request.n_process > 1)
        api_add(out, ", let fewer processes drive an NPU (--processes)");
    if (options->has_no_record)
        api_add(out, ", or, if it is bound and its record is lost, name the CPUs that it had "
                     "with --allowed LIST");
    if (facts->scope == CPUBIND_SCOPE_OWN)
        api_add(out, ", or make fewer NPUs visible (--visible)");
    add_scopes(facts, out);
}

static void explain_too_few(const cpubind_problem *p, const cpubind_facts *facts,
                            const api_options *options, api_text *out)
{
    add_device(p, facts, out);
    api_add(out, "%s", p->what);
    if (p->need > 0)
        api_add(out, ": it needs %d CPUs and has %d", (int)p->need, (int)p->have);
    if (p->uncut > 0)
        api_add(out, " of the %d of its pool, since no others are allowed", (int)p->uncut);
    api_add(out, " (allowed ");
    if (facts->n_cpu == 0 && options->request.allowed)
        api_add_list(out, options->request.allowed, options->request.n_allowed);
    else
        api_add_allowed(out, facts, options);
    if (facts->n_cpu == 0 && !options->request.exclude) {
        api_add(out, ", online ");
        add_online(facts, out);
    }
    api_add(out, ")");
    add_more_cpus(facts, options, out);
}

static void explain_no_local(const cpubind_problem *p, const cpubind_facts *facts,
                             const api_options *options, api_text *out)
{
    add_device(p, facts, out);
    api_add(out, "%s (", p->what);
    add_affinity(facts, options, p->device, out);
    api_add(out, ")");
    api_add(out, "; allow some of them (cpuset, taskset)%s%s",
            slices_may_do(facts) ? ", or cut slices for all workers of the host: " : "",
            slices_may_do(facts) ? slices(facts) : "");
    add_scopes(facts, out);
}

static void explain_skipped(const cpubind_problem *p, const cpubind_facts *facts,
                            const api_options *options, api_text *out)
{
    api_add(out, "binding is skipped: ");
    add_device(p, facts, out);
    api_add(out, "%s", p->what);
    if (p->need > 0)
        api_add(out, ": it needs %d CPUs and has %d", (int)p->need, (int)p->have);
    api_add(out, "; %s",
            options->command & API_RUN ? "the command is not started: start it without cpubind"
                                       : "the workers run without being bound");
    if (slices_may_do(facts))
        api_add(out, ", or cut slices for all workers of the host: %s", slices(facts));
}

void api_add_no_device(int has_bus, api_text *out)
{
    api_add(out, "%s",
            has_bus ? CPUBIND_WHY_NO_DEVICE
                "; name one with --pci ADDRESS or --class CLASS, as "
                "lspci -Dnn prints them"
                    : CPUBIND_WHY_NO_BUS "; show the container the host's /sys, or give a "
                                         "snapshot that has it with --root DIR");
}

static void explain_no_npu_smi(const cpubind_problem *p, const api_options *options,
                               api_text *out)
{
    const int is_of_workers =
        options->all || (options->command & (API_STATUS | API_SERVICE)) != 0;
    const int is_live = !options->root && !options->fixture;
    const cpubind_request *q = &options->request;
    if (!is_prefix(p->what, "npu-smi") && q->type == CPUBIND_TYPE_AUTO && !q->device &&
        q->origin == CPUBIND_ORIGIN_AUTO) { /* nothing speaks of NPUs */
        api_add_no_device(is_prefix(p->what, CPUBIND_WHY_NO_DEVICE), out);
        if (options->command == API_PLAN)
            api_add(out, "; a host without accelerators has CPU workers: --cpu-workers N");
        if (options->command == API_PLAN && is_live)
            api_add(out, "; of another host, --fixture NAME or --root DIR shows the plan");
        return;
    }
    if (is_live && is_of_workers)
        api_add(out, "npu-smi is not on PATH, and the files of the driver do not name the NPUs "
                     "of this machine; in a container, mount npu-smi from the host");
    else
        api_add(out, "npu-smi is not on this host; %s and their type with --device-type TYPE",
                name_npus(options));
}

void api_explain(const api_planned *planned, const api_options *options, api_text *out)
{
    api_explain_problem(&planned->problem, &planned->facts, options, out);
}

void api_explain_problem(const cpubind_problem *p, const cpubind_facts *facts,
                         const api_options *options, api_text *out)
{
    switch (p->code) {
    case CPUBIND_PROBLEM_TOO_FEW_CPUS:
        explain_too_few(p, facts, options, out);
        break;
    case CPUBIND_PROBLEM_NO_LOCAL_CPUS:
        explain_no_local(p, facts, options, out);
        break;
    case CPUBIND_PROBLEM_NO_RUNNING_DEVICE:
        explain_running(p, facts, options, out);
        break;
    case CPUBIND_PROBLEM_UNKNOWN_DEVICE:
        explain_unknown(p, facts, options, out);
        break;
    case CPUBIND_PROBLEM_OVERLAP:
        api_add(out, "NPU %d and NPU %d: %s", (int)p->other, (int)p->device, p->what);
        if (p->cpu >= 0)
            api_add(out, " (CPU %d); use --overlap resolve, for all workers of the host",
                    (int)p->cpu);
        else
            api_add(out,
                    "; plan all workers of the host with --strategy topo_affinity, or one of "
                    "them alone with --npus");
        break;
    case CPUBIND_PROBLEM_NOT_ARM:
        api_add(
            out,
            "by the rules reference, those of vllm-ascend, only ARM machines are bound, and "
            "this is none; use --rules near, or bind it all the same with --any-arch");
        break;
    case CPUBIND_PROBLEM_SKIPPED:
        explain_skipped(p, facts, options, out);
        break;
    case CPUBIND_PROBLEM_NO_NPU_SMI:
        explain_no_npu_smi(p, options, out);
        break;
    case CPUBIND_PROBLEM_UNKNOWN_TYPE:
        api_add(out, "%s; give it with --device-type ", p->what);
        api_add_types(out);
        break;
    case CPUBIND_PROBLEM_BAD_REQUEST:
        api_add(out, "%s", p->what);
        api_add_commas(options, out);
        break;
    case CPUBIND_PROBLEM_NO_MEMORY:
        api_add(out, "there is no memory left to plan this host");
        break;
    case CPUBIND_PROBLEM_UNREADABLE:
    case CPUBIND_PROBLEM_NONE:
        explain_input(p, facts, options, out);
        if (p->input && strcmp(p->input, "env") == 0 && is_in_variable(p, CPUBIND_ENV_PREFIX) &&
            facts->n_cpu > 0) {
            api_add(out, "; the cpuset has CPUs ");
            api_add_list(out, facts->cpu, facts->n_cpu);
        }
        break;
    }
}
