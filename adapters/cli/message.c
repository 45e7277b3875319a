/* message.c - explain problems and warnings of a plan: what, where, why, and what to do
 * SPDX-License-Identifier: MIT
 *
 * Each problem and each warning is one case. The codes are those of adapters/ascend/facts.h;
 * this file only words them.
 */
#include <stdarg.h>
#include <string.h>

#include "../ascend/input_list.h"
#include "../text/cpulist.h"
#include "cli.h"

#define MAX_LIST   512 /* bytes of a list that is quoted in a message */
#define MAX_QUOTE  80  /* bytes of a line that is quoted, but for its last character */
#define MAX_STDERR 200 /* bytes of a line of stderr that is quoted: the loader names files */

/* RFC 3629: no form longer than it must be, no surrogate, nothing above U+10FFFF. */
int32_t cli_character(const char *text, size_t len)
{
    const unsigned char *c = (const unsigned char *)text;
    uint32_t value;
    int32_t n;
    if (len == 0 || c[0] < ' ' || c[0] == 0x7f)
        return 0;
    if (c[0] < 0x80)
        return 1;
    n = c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;
    value = c[0] & (0x7fu >> n);
    if (c[0] < 0xc2 || c[0] > 0xf4 || (size_t)n > len)
        return 0;
    for (int32_t i = 1; i < n; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (c[i] & 0x3f);
    }
    if (value < 0xa0 || (n == 3 && value < 0x800) || (n == 4 && value < 0x10000) ||
        value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    return n;
}

void cli_make_plain(char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        const int32_t n = *text == '\n' ? 1 : cli_character(text, left);
        if (n == 0)
            *text = '?';
        text += n ? n : 1;
        left -= (size_t)(n ? n : 1);
    }
}

void cli_add(cli_text *to, const char *format, ...)
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
    cli_make_plain(to->text + start);
}

void cli_add_list(cli_text *to, const int32_t *list, int32_t n)
{
    char text[MAX_LIST];
    int32_t len = 0;
    if (n <= 0)
        cli_add(to, "none");
    else if (cpubind_cpulist_format(list, n, text, MAX_LIST, &len) == CPUBIND_TEXT_OK)
        cli_add(to, "%.*s", (int)len, text);
    else
        cli_add(to, "%d CPUs from %d to %d", (int)n, (int)list[0], (int)list[n - 1]);
}

void cli_add_pci(cli_text *to, const cpubind_pci_address *pci)
{
    cli_add(to, "%04x:%02x:%02x.%x", (unsigned)pci->domain, (unsigned)pci->bus,
            (unsigned)pci->device, (unsigned)pci->function);
}

void cli_add_allowed(cli_text *to, const cpubind_facts *facts, const cli_options *options)
{
    cli_add_list(to, facts->cpu, facts->n_cpu);
    if (!options->request.exclude)
        return;
    cli_add(to, ", excluded CPUs ");
    cli_add_list(to, options->request.exclude, options->request.n_exclude);
}

void cli_add_types(cli_text *to)
{
    const int first = CPUBIND_TYPE_AUTO + 1, last = CPUBIND_TYPE_COUNT - 1;
    for (int type = first; type <= last; type++)
        cli_add(to, "%s%s",
                type == first  ? ""
                : type == last ? " or "
                               : ", ",
                cpubind_type_word((cpubind_device_type)type));
}

int cli_no_room(cli_text *why)
{
    cli_add(why, "there is no memory left");
    return CLI_UNREADABLE;
}

cpubind_place cli_place(const cpubind_problem *problem)
{
    static const cpubind_place none = {0, 0};
    if (problem->offset < 0 || problem->answer.state != CPUBIND_INPUT_PRESENT)
        return none;
    return cpubind_text_place(problem->answer.data, problem->answer.len, problem->offset);
}

/* Appends the name of an input; for the output of a command, the command line. */
static void add_input(cli_text *to, const char *name)
{
    static const struct {
        const char *name;
        const char *words[8];
    } commands[] = {
#define CPUBIND_X(name, ...) {name, {__VA_ARGS__}},
        CPUBIND_COMMAND_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    cpubind_slice card, chip;
    if (cpubind_input_is_board(name, &card, &chip)) {
        cli_add(to, "npu-smi info -t board -i %.*s", (int)card.len, name + card.at);
        if (chip.len > 0)
            cli_add(to, " -c %.*s", (int)chip.len, name + chip.at);
        return;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, name) != 0)
            continue;
        for (int k = 0; commands[i].words[k]; k++)
            cli_add(to, "%s%s", k ? " " : "", commands[i].words[k]);
        return;
    }
    cli_add(to, "%s", name);
}

/* Appends the start of text[at .. end - 1], up to `max` bytes, as a copy without NUL bytes. */
static void add_quote(const char *text, int32_t at, int32_t end, int32_t max, cli_text *out)
{
    char quote[MAX_STDERR + 4];
    int32_t n = 0;
    while (at < end && n < max) {
        const int32_t step = cli_character(text + at, (size_t)(end - at));
        for (int32_t i = 0; i < (step ? step : 1); i++)
            quote[n++] = step ? text[at + i] : '?';
        at += step ? step : 1;
    }
    quote[n] = '\0';
    if (n > 0)
        cli_add(out, ": \"%s%s\"", quote, at < end ? "..." : "");
}

/* Appends the line at fault without leading blanks. */
static void add_line(const cpubind_problem *p, cli_text *out)
{
    const char *text = p->answer.data;
    int32_t at = p->offset < p->answer.len ? p->offset : p->answer.len;
    int32_t end = at;
    while (at > 0 && text[at - 1] != '\n')
        at--;
    while (at < p->answer.len && (text[at] == ' ' || text[at] == '\t'))
        at++;
    while (end < p->answer.len && text[end] != '\n')
        end++;
    add_quote(text, at, end, MAX_QUOTE, out);
}

/* Appends the first line that the command printed on stderr. */
static void add_stderr(const cpubind_input *input, cli_text *out)
{
    int32_t at = 0, end;
    while (at < input->err_len && (unsigned char)input->err[at] <= ' ')
        at++;
    for (end = at; end < input->err_len && input->err[end] != '\n'; end++)
        ;
    if (end > at && input->err[end - 1] == '\r')
        end--;
    if (end > at) {
        cli_add(out, "; on stderr it said");
        add_quote(input->err, at, end, MAX_STDERR, out);
    }
}

/* Whether an input is read only for the CPUs near the NPUs. npu-smi info is such an input when
 * the NPUs are named. */
static int is_for_affinity(const char *input, const cli_options *options)
{
    cpubind_slice card, chip;
    if (strcmp(input, "cmd/npu-smi-info.txt") == 0)
        return options->request.npu != NULL;
    return strcmp(input, "cmd/npu-smi-info-t-topo.txt") == 0 ||
           cpubind_input_is_board(input, &card, &chip);
}

/* The option that names NPUs, so that they need not be found. */
static const char *name_npus(const cli_options *options)
{
    return options->command & CLI_BINDING ? "name the NPU with --npu N"
                                          : "name the NPUs with --npus LIST";
}

/* Appends what to do about an input that cannot be read. */
static void add_way_out(const char *input, const cli_options *options, cli_text *out)
{
    if (!input || strncmp(input, "cmd/", 4) != 0)
        cli_add(out, "look at this file to see why");
    else if (is_for_affinity(input, options))
        cli_add(out, "run the command by hand to see why, or plan without it: --strategy "
                     "global_slice");
    else if (strcmp(input, "cmd/npu-smi-info.txt") == 0)
        cli_add(out, "run the command by hand to see why, or %s", name_npus(options));
    else
        cli_add(out,
                "run the command by hand to see why: is the driver loaded, and may this user "
                "use it?");
}

static void explain_input(const cpubind_problem *p, const cli_options *options, cli_text *out)
{
    cpubind_place place = cli_place(p);
    if (p->input) {
        add_input(out, p->input);
        if (place.line > 0)
            cli_add(out, ", line %d, column %d", (int)place.line, (int)place.column);
        cli_add(out, ": ");
    }
    cli_add(out, "%s", p->what);
    if (p->npu >= 0)
        cli_add(out, " (%d)", (int)p->npu);
    if (place.line > 0)
        add_line(p, out);
    if (p->answer.state == CPUBIND_INPUT_FAILED)
        cli_add(out, " (%s: %s)", p->answer.why ? p->answer.why : "read",
                strerror(p->answer.error));
    if (p->answer.state == CPUBIND_INPUT_PRESENT && p->answer.exit_code != 0)
        cli_add(out, "; it exited with %d", (int)p->answer.exit_code);
    add_stderr(&p->answer, out);
    cli_add(out, "; ");
    add_way_out(p->input, options, out);
}

static const cpubind_npu *npu_of(const cpubind_facts *facts, int32_t logic)
{
    for (int32_t i = 0; i < facts->n_npu; i++)
        if (facts->npu[i].logic == logic)
            return &facts->npu[i];
    return NULL;
}

static void add_npus_with(const cpubind_facts *facts, cpubind_locality locality, cli_text *out)
{
    int32_t ids[CPUBIND_MAX_DEVICES], n = 0;
    for (int32_t i = 0; i < facts->n_npu; i++)
        if (facts->npu[i].locality == locality)
            ids[n++] = facts->npu[i].logic;
    cli_add_list(out, ids, n);
}

static void add_logic_ids(const cpubind_facts *facts, cli_text *out)
{
    int32_t ids[CPUBIND_MAX_DEVICES];
    for (int32_t i = 0; i < facts->n_npu; i++)
        ids[i] = facts->npu[i].logic;
    cli_add_list(out, ids, facts->n_npu);
}

static void add_affinity(const cpubind_facts *facts, const cli_options *options, int32_t logic,
                         cli_text *out)
{
    const cpubind_npu *npu = npu_of(facts, logic);
    cli_add(out, "affinity ");
    if (npu && npu->affinity_count > 0)
        cli_add_list(out, facts->affinity + npu->affinity_first, npu->affinity_count);
    else
        cli_add(out, "not known");
    cli_add(out, ", allowed ");
    cli_add_allowed(out, facts, options);
}

static void explain_running(const cpubind_problem *p, const cpubind_facts *facts,
                            const cli_options *options, cli_text *out)
{
    if (p->input) {
        add_input(out, p->input);
        cli_add(out, ": ");
    }
    cli_add(out, "%s", p->what);
    if (facts->visible)
        cli_add(out, " (visible devices: \"%.*s\")",
                facts->visible_len < MAX_QUOTE ? (int)facts->visible_len : MAX_QUOTE,
                facts->visible);
    if (p->input)
        cli_add(out, "; is the driver loaded, and is a card there (npu-smi info -l)?");
    else
        cli_add(out, "; start the workers first, so that npu-smi info lists them, or %s",
                name_npus(options));
}

static void explain_unknown(const cpubind_problem *p, const cpubind_facts *facts,
                            const cli_options *options, cli_text *out)
{
    if (p->npu >= 0)
        cli_add(out, "NPU %d: %s", (int)p->npu, p->what);
    else
        cli_add(out, "rank %d: %s", (int)options->request.rank, p->what);
    cli_add(out, "; this host has NPUs ");
    add_logic_ids(facts, out);
}

static void explain_too_few(const cpubind_problem *p, const cpubind_facts *facts,
                            const cli_options *options, cli_text *out)
{
    if (p->npu >= 0)
        cli_add(out, "NPU %d: ", (int)p->npu);
    cli_add(out, "%s", p->what);
    if (p->need > 0)
        cli_add(out, ": it needs %d CPUs and has %d", (int)p->need, (int)p->have);
    cli_add(out, " (allowed ");
    cli_add_allowed(out, facts, options);
    cli_add(out, "); give the process more CPUs (cpuset, taskset), %s",
            options->request.exclude ? "exclude fewer, or use fewer NPUs"
                                     : "or use fewer NPUs");
}

void cli_explain(const cli_planned *planned, const cli_options *options, cli_text *out)
{
    cli_explain_problem(&planned->problem, &planned->facts, options, out);
}

void cli_explain_problem(const cpubind_problem *p, const cpubind_facts *facts,
                         const cli_options *options, cli_text *out)
{
    switch (p->code) {
    case CPUBIND_PROBLEM_TOO_FEW_CPUS:
        explain_too_few(p, facts, options, out);
        break;
    case CPUBIND_PROBLEM_NO_LOCAL_CPUS:
        cli_add(out, "NPU %d: %s (", (int)p->npu, p->what);
        add_affinity(facts, options, p->npu, out);
        cli_add(out, "); allow some of them (cpuset, taskset), or use --strategy global_slice");
        break;
    case CPUBIND_PROBLEM_NO_RUNNING_NPU:
        explain_running(p, facts, options, out);
        break;
    case CPUBIND_PROBLEM_UNKNOWN_NPU:
        explain_unknown(p, facts, options, out);
        break;
    case CPUBIND_PROBLEM_OVERLAP:
        cli_add(out, "NPU %d and NPU %d: %s", (int)p->other, (int)p->npu, p->what);
        if (p->cpu >= 0)
            cli_add(out, " (CPU %d); use --overlap resolve", (int)p->cpu);
        else
            cli_add(out, "; plan with --strategy topo_affinity, or plan one of them alone with "
                         "--npus");
        break;
    case CPUBIND_PROBLEM_NOT_ARM:
        cli_add(out,
                "this machine is not an ARM machine, and only ARM hosts need binding; to bind "
                "all the same, use --any-arch");
        break;
    case CPUBIND_PROBLEM_SKIPPED:
        cli_add(out, "binding is skipped: ");
        if (p->npu >= 0)
            cli_add(out, "NPU %d: ", (int)p->npu);
        cli_add(out, "%s", p->what);
        if (p->need > 0)
            cli_add(out, ": it needs %d CPUs and has %d", (int)p->need, (int)p->have);
        cli_add(out, "; nothing needs to be done: the workers run without being bound");
        break;
    case CPUBIND_PROBLEM_NO_NPU_SMI:
        cli_add(out,
                "npu-smi is not on this %s; plan a captured host with --root DIR, a fixture "
                "host with --fixture NAME, or %s",
                options->root || options->fixture ? "host" : "machine", name_npus(options));
        break;
    case CPUBIND_PROBLEM_UNKNOWN_TYPE:
        cli_add(out, "%s; give it with --device-type ", p->what);
        cli_add_types(out);
        break;
    case CPUBIND_PROBLEM_BAD_REQUEST:
        cli_add(out, "%s", p->what);
        break;
    case CPUBIND_PROBLEM_NO_MEMORY:
        cli_add(out, "there is no memory left to plan this host");
        break;
    case CPUBIND_PROBLEM_UNREADABLE:
    case CPUBIND_PROBLEM_NONE:
        explain_input(p, options, out);
        break;
    }
}

static void explain_locality(cpubind_warning warning, const cpubind_facts *facts, cli_text *out)
{
    if (warning == CPUBIND_WARNING_PCI_AFFINITY) {
        cli_add(out, "npu-smi gives no CPU affinity for NPU ");
        add_npus_with(facts, CPUBIND_LOCALITY_TAKEN, out);
        cli_add(out, ": it is taken from the kernel (numa_node, local_cpulist)");
    } else if (warning == CPUBIND_WARNING_AFFINITY_DIFFERS) {
        cli_add(out,
                "npu-smi and the kernel (numa_node, local_cpulist) disagree about the CPUs "
                "near NPU ");
        add_npus_with(facts, CPUBIND_LOCALITY_DIFFERS, out);
        cli_add(out, ": the CPUs of npu-smi are used");
    } else {
        cli_add(out, "the kernel has no node for NPU ");
        add_npus_with(facts, CPUBIND_LOCALITY_NO_NODE, out);
        cli_add(out,
                " (numa_node -1): in that case npu-smi prints the CPUs of node 0, which may be "
                "far from the NPU");
    }
}

/* The warnings that are one sentence for every host. */
static const char *const sentences[CPUBIND_WARNING_COUNT] = {
    [CPUBIND_WARNING_NO_STATUS] =
        "proc/self/status is missing: all online CPUs count as allowed",
    [CPUBIND_WARNING_OFFLINE] = "some allowed CPUs are offline and are left out",
    [CPUBIND_WARNING_NODE_MAP] = "/sys has no NUMA nodes: they are read from lscpu -e=CPU,NODE",
    [CPUBIND_WARNING_NO_NODES] = "no NUMA nodes are known: all CPUs count as node 0",
    [CPUBIND_WARNING_NO_MAP] = "npu-smi info -m gave no output: all ids count as logic ids",
    [CPUBIND_WARNING_EXIT_CODE] = "npu-smi printed its output, but its exit status was not 0",
    [CPUBIND_WARNING_NO_AFFINITY] =
        ("the affinity of some NPU is not known (npu-smi info -t topo, numa_node of the PCI "
         "function): global_slice is used instead"),
    [CPUBIND_WARNING_ONLY_LOGIC_IDS] = ("slices are cut by logic ids, which start at 0 in "
                                        "every container: two containers with "
                                        "one cpuset would get the same CPUs"),
    [CPUBIND_WARNING_NO_SPARE] = "node 0 has no CPU left for the host's UVB polling threads",
    [CPUBIND_WARNING_NO_PROCESSES] =
        "which NPUs run is not known: the process table could not be read",
    [CPUBIND_WARNING_NO_ADDRESSES] =
        ("the PCI addresses of the NPUs are not known: NPUs that share CPUs are ordered by "
         "logic id, and a process that knows the addresses may order them differently"),
    [CPUBIND_WARNING_ORDER_DIFFERS] =
        ("NPUs that share CPUs are ordered by PCI address, which is not the order of their "
         "logic ids"),
};

void cli_explain_warning(cpubind_warning warning, const cpubind_facts *facts,
                         const cpubind_ascend_plan *plan, cli_text *out)
{
    const cpubind_fault *shared = &plan->core.shared;
    switch (warning) {
    case CPUBIND_WARNING_NO_STATUS:
    case CPUBIND_WARNING_OFFLINE:
    case CPUBIND_WARNING_NODE_MAP:
    case CPUBIND_WARNING_NO_NODES:
    case CPUBIND_WARNING_NO_MAP:
    case CPUBIND_WARNING_EXIT_CODE:
    case CPUBIND_WARNING_NO_AFFINITY:
    case CPUBIND_WARNING_ONLY_LOGIC_IDS:
    case CPUBIND_WARNING_NO_SPARE:
    case CPUBIND_WARNING_NO_PROCESSES:
    case CPUBIND_WARNING_NO_ADDRESSES:
    case CPUBIND_WARNING_ORDER_DIFFERS:
        cli_add(out, "%s", sentences[warning]);
        break;
    case CPUBIND_WARNING_UNKNOWN_TEXT:
        cli_add(out, "%s: text that cpubind does not know is passed over: \"%.*s\"",
                facts->unknown_input, (int)facts->unknown.len,
                facts->unknown_answer.data + facts->unknown.at);
        break;
    case CPUBIND_WARNING_INPUTS_DIFFER:
        cli_add(out, "%s names an NPU that %s lacks", facts->difference[0].has,
                facts->difference[0].lacks);
        break;
    case CPUBIND_WARNING_PARTIAL_CPUSET:
        cli_add(out,
                "%d of %d online CPUs are allowed and %d of them stay idle: say whose they are "
                "with --scope cpuset, host or own",
                (int)facts->n_cpu, (int)facts->n_online, (int)plan->n_idle);
        break;
    case CPUBIND_WARNING_UNKNOWN_CHIP:
        cli_add(out, "npu-smi info -m lists chips that it cannot query (%d): they are left out",
                (int)facts->n_unknown);
        break;
    case CPUBIND_WARNING_VISIBLE_TAIL:
        cli_add(out,
                "only the first entries of the visible devices \"%.*s\" are valid; the entries "
                "from the first bad one on are ignored, as the Ascend runtime does",
                (int)facts->visible_len, facts->visible);
        break;
    case CPUBIND_WARNING_PCI_AFFINITY:
    case CPUBIND_WARNING_AFFINITY_DIFFERS:
    case CPUBIND_WARNING_NO_NUMA_NODE:
        explain_locality(warning, facts, out);
        break;
    case CPUBIND_WARNING_RESOLVED:
    case CPUBIND_WARNING_OVERLAP:
        cli_add(out, "the rule gives CPU %d to NPU %d and NPU %d: %s", (int)shared->cpu,
                (int)facts->npu[shared->other].logic, (int)facts->npu[shared->device].logic,
                warning == CPUBIND_WARNING_RESOLVED
                    ? "resolved, each CPU has one NPU now"
                    : "kept, as --overlap keep says; --overlap resolve gives each CPU to one "
                      "NPU");
        break;
    case CPUBIND_WARNING_COUNT:
        break;
    }
}
