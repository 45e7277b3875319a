/* problem_words.c - explain why there is no plan: what, where, why, and what to do
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
#define ONLINE     "sys/devices/system/cpu/online"
#define MAX_STDERR 200 /* bytes of a line of stderr that is quoted: the loader names files */

void api_add_npus(api_text *to, const cpubind_facts *facts,
                  int (*is_in)(const void *ctx, const cpubind_host_device *npu),
                  const void *ctx)
{
    int32_t *ids = (int32_t *)malloc(((size_t)facts->n_device + 1) * sizeof *ids), n = 0;
    for (int32_t i = 0; ids && i < facts->n_device; i++)
        if (!is_in || is_in(ctx, facts->device[i]))
            ids[n++] = facts->device[i]->logic;
    if (ids)
        api_add_list(to, ids, n);
    else
        api_add(to, "(there is no memory for the list)");
    free(ids);
}

void api_add_allowed(api_text *to, const cpubind_facts *facts, const api_options *options)
{
    api_add_list(to, facts->cpu, facts->n_cpu);
    if (!options->request.exclude)
        return;
    api_add(to, ", excluded CPUs ");
    api_add_list(to, options->request.exclude, options->request.n_exclude);
}

int api_no_room(api_text *why)
{
    return words_fail(API_UNREADABLE, why, "there is no memory left");
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

void api_add_quote(api_text *to, const char *text, int32_t len)
{
    words_add_quote(to, text, len, API_MAX_QUOTE);
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
        words_add_quote(out, input->err + at, end - at, MAX_STDERR);
    }
}

static int is_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* == What helps ============================================================= */

/* A problem, and what was asked for. */
typedef struct refusal {
    const cpubind_problem *p;
    const cpubind_facts *facts;
    const api_options *options;
} refusal;

/* The option that names NPUs, so that they need not be found. */
static const char *name_npus(const refusal *r)
{
    return r->options->command & API_BINDING ? "name the NPU with --device npuN"
                                             : "name the NPUs with --devices npuLIST";
}

static int keeps_cpus(const refusal *r)
{
    return r->options->request.keep || r->options->request.keep_each > 0;
}

#define REFERENCE "-o rules=reference"
#define SLICES    "-o strategy=global_slice"

/* The options that cut slices, for all workers of the host; NULL: slices of the allowed CPUs
 * would be too small for the roles, as far as is known. */
static const char *slices(const cpubind_facts *facts)
{
    const cpubind_product *product = cpubind_product_of(facts->type);
    int32_t need = 0, on_bus = 0, n = facts->n_listed + facts->n_unknown;
    for (int32_t role = 0; role < CPUBIND_ALL_ROLES; role++)
        need += product->roles.count[role];
    for (int32_t i = 0; i < facts->n_counted && facts->scope != CPUBIND_SCOPE_OWN; i++)
        on_bus += facts->bus[facts->counted[i]].n_device;
    n = on_bus > n ? on_bus : n;
    if (facts->n_cpu > 0 && (!facts->has_listed || facts->n_cpu < need * n))
        return NULL;
    return facts->rules == CPUBIND_RULES_REFERENCE ? SLICES : REFERENCE " " SLICES;
}

static void add_slices(const refusal *r, api_text *out)
{
    if (slices(r->facts))
        api_add(out, ", or cut slices for all workers of the host: %s", slices(r->facts));
}

/* The options with which a plan goes on without an input; the first row that fits. */
static const struct {
    const char *start, *part; /* of its name */
    const char *near, *reference;
} ways[] = {{"proc/self/status", "", "--allowed LIST", "--allowed LIST"},
            {"proc/self/cgroup", "", "-o scope=cpuset", "-o scope=cpuset"},
            {"sys/fs/cgroup", "", "-o scope=cpuset", "-o scope=cpuset"},
            {"cmd/npu-smi-info-t-", "", REFERENCE " " SLICES, SLICES},
            {"cmd/npu-smi-info.txt", "", REFERENCE " " SLICES, SLICES},
            {"cmd/lscpu.txt", "", REFERENCE, SLICES},
            {"cmd/", "", NULL, NULL},
            {"sys/devices/system/cpu/cpu", "", REFERENCE, SLICES},
            {"sys/devices/system/cpu/smt/active", "", REFERENCE, NULL},
            {"sys/devices/system/node/online", "", REFERENCE, NULL},
            {"sys/devices/system/node/node", "/distance", REFERENCE, NULL},
            {"sys/devices/system/", "", NULL, NULL}};

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

static const char *way_without(const refusal *r, const char *input)
{
    const int is_near = r->facts->rules == CPUBIND_RULES_NEAR;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (is_prefix(input, ways[i].start) && strstr(input, ways[i].part))
            return is_near ? ways[i].near : ways[i].reference;
    if (is_about_other(input, r->facts) && is_near)
        return REFERENCE;
    return r->options->request.origin == CPUBIND_ORIGIN_NPU_SMI || r->facts->n_counted == 0
               ? NULL
               : "-o facts=npu-smi";
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

/* What to do about a variable. */
static const struct {
    const char *start, *way;
} variables[] = {
    {CPUBIND_ENV_PREFIX,
     "mend the variable, or say it with -o scope=cpuset, -o scope=host or --allowed LIST"},
    {"ASCEND_VISIBLE_DEVICES=",
     "mend the variable, or say it with --visible LIST, by logic ids"},
    {"SLURM_CPUS_ON_NODE=",
     "set ConstrainCores=yes in cgroup.conf, or name the CPUs of the step with --allowed LIST"},
    {"SLURM_GPUS_ON_NODE=",
     "let each task see all devices of the step (no --gpus-per-task, no --gpu-bind), use the "
     "plugin for Slurm, or name the NPUs of the step with --visible LIST"},
    {"SLURM_", "list all NPUs of the host in gres.conf, as cpubind topo --format slurm "
               "prints them, or name those of the step with --visible LIST"},
    {"CPUBIND_FACTS=", "mend the variable, or say it with -o facts=driver or -o facts=npu-smi"},
    {"", "mend the variable, or say what all workers of the host have, with "
         "-o rules=reference or -o rules=near"}};

static void add_way_of_variable(const refusal *r, api_text *out)
{
    size_t i = 0;
    while (*variables[i].start && !is_in_variable(r->p, variables[i].start))
        i++;
    api_add(out, "%s", variables[i].way);
    if (i == 0 && r->facts->n_cpu > 0) {
        api_add(out, "; the cpuset has CPUs ");
        api_add_list(out, r->facts->cpu, r->facts->n_cpu);
    }
}

/* Appends with which options a plan goes on without an input, if there are some. */
static void add_way_around(const refusal *r, const char *input, api_text *out)
{
    const cpubind_request *request = &r->options->request;
    const char *way = way_without(r, input);
    const int is_list = way && strcmp(way, "--allowed LIST") == 0;
    const int is_scope = way && strcmp(way, "-o scope=cpuset") == 0;
    if ((strcmp(input, "cmd/lscpu.txt") == 0 ||
         is_prefix(input, "sys/devices/system/cpu/cpu")) &&
        keeps_cpus(r)) {
        api_add(out, "; or leave out the setting keep");
    } else if (strcmp(input, "cmd/npu-smi-info.txt") == 0 && request->only_running) {
        api_add(out, "; or leave out --running");
    } else if (!way) {
        if (is_prefix(input, "cmd/npu-smi") &&
            (!request->device || request->type == CPUBIND_TYPE_AUTO))
            api_add(out, "; or %s and their type with -o device-type=TYPE", name_npus(r));
    } else if (!is_list || !request->allowed) { /* another rule is for all workers */
        api_add(out, "; or plan %swithout it: %s%s",
                is_list || is_prefix(way, "-o facts") ? "" : "all workers of the host ", way,
                is_scope && !request->allowed ? " or --allowed LIST" : "");
    }
}

/* Appends what to do about an input that cannot be read. */
static void add_way_out(const refusal *r, api_text *out)
{
    const char *input = r->p->input ? r->p->input : "";
    if (strcmp(input, "env") == 0) {
        add_way_of_variable(r, out);
        return;
    }
    if (!is_prefix(input, "cmd/"))
        api_add(out, "look at this file to see why");
    else
        api_add(out, "run the command by hand to see why%s",
                is_prefix(input, "cmd/npu-smi")
                    ? ": is the driver loaded, and may this user use it?"
                    : "");
    if (*input)
        add_way_around(r, input, out);
}

/* == An input =============================================================== */

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

/* Says of a command that it could not be started, why, and what helps. Returns whether that is
 * the problem. Another plan is no way out: workers that can start it have its answers. */
static int explain_start(const cpubind_problem *p, api_text *out)
{
    const cpubind_input *answer = &p->answer;
    if (answer->state != CPUBIND_INPUT_FAILED || !p->input || !is_prefix(p->input, "cmd/") ||
        !answer->why || (strcmp(answer->why, "exec") != 0 && strcmp(answer->why, "pipe") != 0))
        return 0;
    api_add_input(out, p->input);
    api_add(out, ": it could not be started: ");
    words_add_why(out, WORDS_COMMAND, NULL, answer->error);
    return 1;
}

static void explain_input(const refusal *r, api_text *out)
{
    const cpubind_problem *p = r->p;
    if (explain_start(p, out))
        return;
    add_fault(p, out);
    if (p->device >= 0)
        api_add(out, " (%d)", (int)p->device);
    if (api_place(p).line > 0)
        add_line_at_fault(p, out);
    if (p->answer.state == CPUBIND_INPUT_FAILED) {
        api_add(out, " (");
        words_add_why(out, WORDS_INPUT, p->answer.why ? p->answer.why : "read",
                      p->answer.error);
        api_add(out, ")");
        if (words_is_out_of_files(p->answer.error))
            return;
    }
    if (p->answer.state == CPUBIND_INPUT_PRESENT && p->answer.exit_code != 0)
        api_add(out, "; it exited with %d", (int)p->answer.exit_code);
    add_stderr(&p->answer, out);
    api_add(out, "; ");
    if (p->input && strcmp(p->input, ONLINE) == 0 && p->answer.state == CPUBIND_INPUT_ABSENT) {
        if (r->options->root)
            api_add(out, "is \"%s\" a host, with proc/ and sys/ in it? Else ",
                    r->options->root);
        api_add(out, "name the CPUs with --allowed LIST");
    } else {
        add_way_out(r, out);
    }
}

/* == Devices ================================================================ */

static const cpubind_host_device *npu_of(const cpubind_facts *facts, int32_t logic)
{
    for (int32_t i = 0; i < facts->n_device; i++)
        if (facts->device[i]->logic == logic)
            return facts->device[i];
    return NULL;
}

/* Appends "NPU 3: fewer CPUs than the roles need: it needs 5 CPUs and has 2": the device that a
 * problem is about, what it is, and how many CPUs are missing. */
static void add_problem(const refusal *r, api_text *out)
{
    if (r->p->device >= 0)
        api_add(out, "%s %d: ", r->facts->noun ? r->facts->noun : "NPU", (int)r->p->device);
    api_add(out, "%s", r->p->what);
    if (r->p->need > 0)
        api_add(out, ": it needs %d CPU%s and has %d", (int)r->p->need,
                r->p->need == 1 ? "" : "s", (int)r->p->have);
}

static void add_host_npus(const cpubind_facts *facts, api_text *out)
{
    api_add(out, "; this host has NPUs ");
    api_add_npus(out, facts, NULL, NULL);
}

/* Appends the numbers of a list that may have ranges, with commas between them: ": 0,1,2". With
 * facts all must be of NPUs. Returns 0, and appends nothing, where it is no such list. */
static int add_commas(const char *list, int32_t len, const cpubind_facts *facts, api_text *to)
{
    char text[MAX_LIST];
    api_numbers ids = {NULL, 0};
    int32_t at = 0;
    int is_list = len < MAX_LIST;
    (void)snprintf(text, sizeof text, "%.*s", (int)len, list);
    is_list = is_list && !api_read_numbers(text, CPUBIND_MAX_DEVICES, &ids, &at) && ids.n > 0;
    for (int32_t i = 0; facts && i < ids.n; i++)
        is_list = is_list && npu_of(facts, ids.item[i]);
    for (int32_t i = 0; is_list && i < ids.n; i++)
        api_add(to, "%s%d", i ? "," : ": ", (int)ids.item[i]);
    free(ids.item);
    return is_list;
}

void api_add_comma_form(api_text *to, const cpubind_facts *facts)
{
    api_text list = {"", 0};
    if (add_commas(facts->visible, facts->visible_len, facts, &list))
        api_add(to, "; the Ascend runtime reads ascending ids with commas between them%s",
                list.text);
    else
        add_host_npus(facts, to);
}

void api_add_commas(const api_options *options, api_text *to)
{
    const cpubind_request *q = &options->request;
    api_text list = {"", 0};
    if (q->visible && memchr(q->visible, '-', (size_t)q->visible_len) &&
        add_commas(q->visible, q->visible_len, NULL, &list))
        api_add(to, "; write it with commas%s", list.text);
}

static void add_visible(const cpubind_facts *facts, api_text *out)
{
    if (facts->visible)
        api_add(out, " (visible devices: \"%.*s\")",
                facts->visible_len < API_MAX_QUOTE ? (int)facts->visible_len : API_MAX_QUOTE,
                facts->visible);
}

static void explain_running(const refusal *r, api_text *out)
{
    const cpubind_facts *facts = r->facts;
    if (r->p->input) {
        api_add_input(out, r->p->input);
        api_add(out, ": ");
    }
    api_add(out, "%s", r->p->what);
    add_visible(facts, out);
    if (r->p->input)
        api_add(out, "; is the driver loaded, and is a card there (npu-smi info -l)?");
    else if (facts->visible && facts->n_visible == 0)
        api_add_comma_form(out, facts);
    else if (r->options->request.only_running)
        api_add(out, "; leave out --running to plan before the workers run");
    else if (r->options->request.device && facts->visible)
        api_add(out, "; name visible NPUs, or give --visible LIST with those that are named");
    else if (facts->visible)
        add_host_npus(facts, out);
}

static void explain_unknown(const refusal *r, api_text *out)
{
    const int32_t n = r->facts->visible ? r->facts->n_visible : r->facts->n_device;
    const int is_about_rank = r->p->device < 0 && r->options->request.rank >= n;
    if (r->p->device >= 0)
        api_add(out, "NPU %d: ", (int)r->p->device);
    if (is_about_rank)
        api_add(out, "rank %d: ", (int)r->options->request.rank);
    api_add(out, "%s", r->p->what);
    if (r->p->device < 0 && !is_about_rank)
        return;
    add_visible(r->facts, out);
    add_host_npus(r->facts, out);
}

/* == CPUs =================================================================== */

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
    if (facts->scope == CPUBIND_SCOPE_CPUSET && !facts->is_scope_given && facts->n_cpu > 0 &&
        facts->n_cpu != facts->n_online)
        api_add(out, "; or say whose the CPUs are: -o scope=own, they are for this process "
                     "alone; -o scope=host, all workers of the host plan so, from all online "
                     "CPUs");
}

void api_add_mask(const cpubind_facts *facts, api_text *out)
{
    api_add(out, "the mask of this process, CPUs ");
    api_add_list(out, facts->cpu, facts->n_cpu);
    api_add(out, ", is narrower than the cpuset of its cgroup, ");
    api_add_list(out, facts->cpuset, facts->n_cpuset);
    api_add(out, ": lift it where it was set (the launcher, taskset), or, if all of these are "
                 "for this process, plan with -o scope=own or --allowed ");
    api_add_list(out, facts->cpuset, facts->n_cpuset);
}

void api_add_reach(const cpubind_request *request, api_text *out)
{
    if (request->reach == CPUBIND_REACH_HOME || request->reach == CPUBIND_REACH_CACHE)
        api_add(out, ", or let pools reach further (-o reach=socket, alike for all workers)");
}

/* Appends what helps against too few CPUs, with the options that were given. */
static void add_more_cpus(const refusal *r, api_text *out)
{
    const cpubind_request *request = &r->options->request;
    if (r->facts->n_cpu == 0 && request->allowed && !request->exclude) {
        api_add(out, "; name CPUs that are online with --allowed LIST");
        return;
    }
    api_add(out, "; ");
    if (r->facts->n_cpuset > 0)
        api_add_mask(r->facts, out);
    else
        api_add(out, "give the process more CPUs (cpuset, taskset)");
    if (request->exclude)
        api_add(out, ", exclude fewer");
    if (keeps_cpus(r))
        api_add(out, ", keep fewer for the host (keep, alike for all workers)");
    if (request->transfer > 0)
        api_add(out, ", give fewer to transfer (transfer, alike for all workers)");
    api_add_reach(request, out);
    if (request->n_process > 1)
        api_add(out, ", let fewer processes drive an NPU (--processes)");
    if (r->options->has_no_record)
        api_add(out, ", or, if it is bound and its record is lost, name the CPUs that it had "
                     "with --allowed LIST");
    if (r->facts->scope == CPUBIND_SCOPE_OWN)
        api_add(out, ", or make fewer NPUs visible (--visible)");
    add_scopes(r->facts, out);
}

static void explain_too_few(const refusal *r, api_text *out)
{
    const cpubind_request *request = &r->options->request;
    const int has_none = r->facts->n_cpu == 0;
    add_problem(r, out);
    if (r->p->uncut > 0)
        api_add(out, " of the %d of its pool, since no others are allowed", (int)r->p->uncut);
    api_add(out, " (allowed ");
    if (has_none && request->allowed)
        api_add_list(out, request->allowed, request->n_allowed);
    else
        api_add_allowed(out, r->facts, r->options);
    if (has_none && !request->exclude) {
        api_add(out, ", online ");
        add_online(r->facts, out);
    }
    api_add(out, ")");
    add_more_cpus(r, out);
}

static void explain_no_local(const refusal *r, api_text *out)
{
    const cpubind_host_device *npu = npu_of(r->facts, r->p->device);
    add_problem(r, out);
    api_add(out, " (affinity ");
    if (npu && npu->n_cpu > 0)
        api_add_list(out, npu->cpu, npu->n_cpu);
    else
        api_add(out, "not known");
    api_add(out, ", allowed ");
    api_add_allowed(out, r->facts, r->options);
    api_add(out, "); allow some of them (cpuset, taskset)");
    add_slices(r, out);
    add_scopes(r->facts, out);
}

static void explain_skipped(const refusal *r, api_text *out)
{
    api_add(out, "binding is skipped: ");
    add_problem(r, out);
    api_add(out, "; %s",
            r->options->command & API_RUN
                ? "the command is not started: start it without cpubind"
                : "the workers run without being bound");
    add_slices(r, out);
}

static void explain_overlap(const refusal *r, api_text *out)
{
    api_add(out, "NPU %d and NPU %d: %s", (int)r->p->other, (int)r->p->device, r->p->what);
    if (r->p->cpu >= 0)
        api_add(out, " (CPU %d); use -o overlap=resolve, for all workers of the host",
                (int)r->p->cpu);
    else
        api_add(out, "; plan all workers of the host with -o strategy=topo_affinity, or one "
                     "of them alone with --devices npuN");
}

/* == Hosts that lack something ============================================== */

void api_add_no_device(int has_bus, const api_options *options, api_text *out)
{
    const int is_call = options->is_call;
    if (has_bus)
        api_add(out, CPUBIND_WHY_NO_DEVICE "; name one as lspci -D prints it, with --device "
                                           "ADDRESS");
    else
        api_add(out, CPUBIND_WHY_NO_BUS "; show the container the host's /sys%s",
                is_call ? "" : ", or give a snapshot that has it with --root DIR");
    if (!is_call)
        api_add(out, ", or plan CPU workers: cpubind plan --cpu-workers N; cpubind plan "
                     "--fixture NAME shows another host");
}

static void explain_no_npu_smi(const refusal *r, api_text *out)
{
    const api_options *options = r->options;
    const int is_of_workers =
        options->all || (options->command & (API_STATUS | API_SERVICE)) != 0;
    const cpubind_request *q = &options->request;
    if (!is_prefix(r->p->what, "npu-smi") && q->type == CPUBIND_TYPE_AUTO && !q->device &&
        q->origin == CPUBIND_ORIGIN_AUTO) { /* nothing speaks of NPUs */
        api_add_no_device(is_prefix(r->p->what, CPUBIND_WHY_NO_DEVICE), options, out);
        return;
    }
    if (is_of_workers && !options->root && !options->fixture)
        api_add(out, "npu-smi is not on PATH, and the files of the driver do not name the NPUs "
                     "of this machine; in a container, mount npu-smi from the host");
    else
        api_add(out, "npu-smi is not on this host; %s and their type with -o device-type=TYPE",
                name_npus(r));
}

static void explain_type(const refusal *r, api_text *out)
{
    const int first = CPUBIND_TYPE_AUTO + 1, last = CPUBIND_TYPE_COUNT - 1;
    api_add(out, "%s; give it with -o device-type=", r->p->what);
    for (int type = first; type <= last; type++)
        api_add(out, "%s%s",
                type == first  ? ""
                : type == last ? " or "
                               : ", ",
                cpubind_type_word((cpubind_device_type)type));
}

static void explain_request(const refusal *r, api_text *out)
{
    api_add(out, "%s", r->p->what);
    api_add_commas(r->options, out);
}

void api_explain(const api_planned *planned, const api_options *options, api_text *out)
{
    api_explain_problem(&planned->problem, &planned->facts, options, out);
}

void api_explain_problem(const cpubind_problem *p, const cpubind_facts *facts,
                         const api_options *options, api_text *out)
{
    static const char *const texts[] = {
        [CPUBIND_PROBLEM_NOT_ARM] =
            ("by the rules reference, those of vllm-ascend, only ARM machines are bound, and "
             "this is none; use -o rules=near, or bind it all the same with -o any-arch=yes"),
        [CPUBIND_PROBLEM_NO_MEMORY] = "there is no memory left to plan this host"};
    static void (*const by_code[])(const refusal *r, api_text *out) = {
        [CPUBIND_PROBLEM_NONE] = explain_input,
        [CPUBIND_PROBLEM_TOO_FEW_CPUS] = explain_too_few,
        [CPUBIND_PROBLEM_NO_LOCAL_CPUS] = explain_no_local,
        [CPUBIND_PROBLEM_NO_RUNNING_DEVICE] = explain_running,
        [CPUBIND_PROBLEM_UNKNOWN_DEVICE] = explain_unknown,
        [CPUBIND_PROBLEM_OVERLAP] = explain_overlap,
        [CPUBIND_PROBLEM_SKIPPED] = explain_skipped,
        [CPUBIND_PROBLEM_BAD_REQUEST] = explain_request,
        [CPUBIND_PROBLEM_UNREADABLE] = explain_input,
        [CPUBIND_PROBLEM_NO_NPU_SMI] = explain_no_npu_smi,
        [CPUBIND_PROBLEM_UNKNOWN_TYPE] = explain_type};
    if (texts[p->code])
        api_add(out, "%s", texts[p->code]);
    else
        by_code[p->code](&(refusal){p, facts, options}, out);
}
