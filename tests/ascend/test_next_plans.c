/* test_next_plans.c - plans of hosts whose npu-smi is the next one, or whose text is damaged
 * SPDX-License-Identifier: MIT
 *
 * A host with three NPUs is planned by the outputs of npu-smi alone. Each row of the table
 * edits one of them. The plan must stay the same, and say what was passed over, unless a value
 * that it needs is lost or ambiguous: then it is refused, or another input tells, with a
 * warning. No NPU may have other CPUs than it has without the edit.
 */
#include "memory_source.h"

#define INFO "cmd/npu-smi-info.txt"
#define MAP  "cmd/npu-smi-info-m.txt"
#define TOPO "cmd/npu-smi-info-t-topo.txt"
#define PCI  "sys/bus/pci/devices/"

#define MAP_TEXT                                                                               \
    "\tNPU ID         Chip ID        Chip Logic ID  Chip Name      \n"                         \
    "\t1              0              0              Ascend 910B4   \n"                         \
    "\t1              1              -              Mcu            \n"                         \
    "\t4              0              1              Ascend 910B4   \n"                         \
    "\t4              1              -              Mcu            \n"                         \
    "\t6              0              2              Ascend 910B4   \n"                         \
    "\t6              1              -              Mcu            \n"

#define DASHES "+---------------------------+---------------+----------------------+\n"
#define EQUALS "+===========================+===============+======================+\n"
#define DEVICE(card, bus)                                                                      \
    "| " card "     910B4               | OK            | 90.5        44       |\n"            \
    "| 0                         | 0000:" bus "  | 0           0    / 0 |\n" EQUALS
#define PROCESS(card, pid)                                                                     \
    "| " card "       0                 | " pid "          | python         | 150   "          \
    "|\n" EQUALS
#define INFO_TEXT                                                                              \
    DASHES "| npu-smi 25.2.0                   Version: 25.2.0                   |\n" DASHES   \
           "| NPU   Name                | Health        | Power(W)    Temp(C)  |\n"            \
           "| Chip                      | Bus-Id        | AICore(%)   Memory   |\n" EQUALS     \
               DEVICE("1", "C1:00.0") DEVICE("4", "81:00.0") DEVICE("6", "01:00.0") DASHES     \
        "| NPU     Chip              | Process id    | Process name   | Process memory(MB) "   \
        "|\n" EQUALS PROCESS("1", "4711") PROCESS("4", "4712") PROCESS("6", "4713")

#define TOPO_TEXT                                                                              \
    "\t   NPU1       NPU4       NPU6       CPU Affinity\n"                                     \
    "NPU1       X          HCCS       HCCS       16-23\n"                                      \
    "NPU4       HCCS       X          HCCS       8-15\n"                                       \
    "NPU6       HCCS       HCCS       X          0-7\n"                                        \
    "\nLegend:\n\n  X    = Self\n  HCCS = Connection traversing HCCS.\n"

/* What comes of an edit. */
typedef enum outcome {
    SAME,    /* the same plan: the text says the same in other words */
    SAID,    /* the same plan, and what was passed over is said */
    OTHER,   /* a warning that another input told, or that two differ */
    TABLE,   /* the same; but a plan of running NPUs is refused */
    REFUSED, /* no plan */
} outcome;

/* Text is replaced where it is found first; everywhere when the name starts with "all: "; text
 * without `from` comes behind the output. */
typedef struct edit {
    const char *name;
    const char *input;
    const char *from;
    const char *to;
    outcome outcome;
} edit;

#define VNPU                                                                                   \
    "| vNPU                      | Template      | AICore               |\n" EQUALS            \
    "| 100                       | vir02         | 2                    |\n" EQUALS

static const edit edits[] = {
    /* names of columns */
    {"Chip Logic-ID", MAP, "Chip Logic ID", "Chip Logic-ID", SAME},
    {"ChipLogicID", MAP, "Chip Logic ID", "ChipLogicID  ", SAME},
    {"Chip_Logic_ID", MAP, "Chip Logic ID", "Chip_Logic_ID", SAME},
    {"NPU-ID", MAP, "NPU ID", "NPU-ID", SAME},
    {"chip-id", MAP, "Chip ID", "chip-id", SAME},
    {"the name of chips under another name", MAP, "Chip Name ", "Model Name", SAID},
    {"the name of chips in Chinese", MAP, "Chip Name", "\xe8\x8a\xaf\xe7\x89\x87", SAID},
    {"the logic id under another name", MAP, "Chip Logic ID", "Chip Number  ", REFUSED},
    {"the logic id under a name like it", MAP, "Chip Logic ID", "Logic Number ", REFUSED},
    {"CPU-Affinity", TOPO, "CPU Affinity", "CPU-Affinity", SAME},
    {"CPUAffinity", TOPO, "CPU Affinity", "CPUAffinity", SAME},
    {"all: NPU-1", TOPO, "NPU", "NPU-", SAME},
    {"all: npu1", TOPO, "NPU", "npu", SAME},
    {"the affinity under another name", TOPO, "CPU Affinity", "Affinity CPUs", REFUSED},
    {"Bus-ID", INFO, "Bus-Id", "Bus-ID", SAME},
    {"BusId", INFO, "Bus-Id", "BusId ", SAID},
    {"Process ID", INFO, "Process id", "Process ID", SAME},
    /* names of products */
    {"all: a name of six words", MAP, "910B4   ", "910B4 PCIe 64G air cooled", SAME},
    {"all: a name of eight words with a number", MAP, "Ascend 910B4   ",
     "Huawei Atlas 800T A2 Ascend 910B4 64 GB", SAME},
    {"all: a name with two blanks", MAP, "Ascend 910B4  ", "Ascend  910B4 ", SAID},
    {"all: a name with three", MAP, "Ascend 910B4   ", "Ascend   910B4 ", SAID},
    {"two rows in one", MAP, "Ascend 910B4   \n", "Ascend 910B4   ", REFUSED},
    {"all: a device of six words", INFO, "910B4               |",
     "Ascend 910B4 64G air cooled |", SAME},
    {"a wrapped name of a device", INFO, "44       |\n",
     "44       |\n|       continues here      |               |                      |\n",
     SAID},
    {"a wrapped name of a process", INFO, "150   |\n",
     "150   |\n|                           |               | worker         |       |\n", SAID},
    /* health */
    {"2-Warn", INFO, "| OK            |", "| 2-Warn        |", SAID},
    {"Warning (2)", INFO, "| OK            |", "| Warning (2)   |", SAME},
    {"in Chinese", INFO, "| OK            |", "| \xe6\xad\xa3\xe5\xb8\xb8          |", SAME},
    {"no health", INFO, "| OK            |", "|               |", SAME},
    {"a health like a pid", INFO, "| OK            |", "| 2             |", TABLE},
    /* rows */
    {"8 processes behind", INFO, NULL,
     "| 8 processes                                 |\n" DASHES, SAID},
    {"1 processes of an NPU", INFO, "150   |\n", "150   |\n| 1 process               |\n",
     SAID},
    {"8 processes with its memory", INFO, NULL,
     "| 8 processes               | 1200 MB       |                |       |\n" DASHES, SAID},
    {"a total", INFO, NULL,
     "| Total                     | 3             |                | 450   |\n" DASHES, SAID},
    {"a device of another kind", INFO, "| 6     910B4",
     "| NIC0  mlx5                | up            | 100                  |\n" EQUALS
     "| 6     910B4",
     SAID},
    {"a NIC in the map", MAP, "\t6 ",
     "\tNIC0           0              -              mlx5\n\t6 ", SAID},
    {"a note", MAP, NULL, "8 chips were found.\n", SAID},
    {"a line that is drawn below the names", MAP, "\t1 ",
     "\t------         -------        -------------  ---------\n\t1 ", SAID},
    {"a drawn line in the topology", TOPO, "NPU1       X", "-----------------\nNPU1       X",
     SAID},
    {"a note about an NPU", TOPO, "\nLegend", "NPU4 is shared.\n\nLegend", SAID},
    {"a remark behind a list", TOPO, "8-15\n", "8-15 # shared\n", SAID},
    {"a count behind a list", TOPO, "8-15\n", "8-15 (8 CPUs)\n", SAID},
    {"a lost row of the topology", TOPO, "NPU4       HCCS       X          HCCS       8-15\n",
     "", REFUSED},
    {"a row of the topology twice", TOPO, "NPU4       HCCS       X          HCCS       8-15\n",
     "NPU4       HCCS       X          HCCS       8-15\n"
     "NPU4       HCCS       X          HCCS       8-16\n",
     REFUSED},
    {"a lost row of the map", MAP,
     "\t4              0              1              Ascend 910B4   \n", "", OTHER},
    {"a logic id that is another's", MAP, "\t4              0              1 ",
     "\t4              0              2 ", REFUSED},
    {"a lost device", INFO, DEVICE("4", "81:00.0"), "", OTHER},
    {"a lost first line", INFO,
     "| 4     910B4               | OK            | 90.5        44       |\n", "", OTHER},
    {"a process of a card that is not there", INFO, "| 4       0 ", "| 5       0 ", OTHER},
    /* sections */
    {"vNPU behind", INFO, NULL, VNPU, SAID},
    {"vNPU behind a rule", INFO, NULL, DASHES VNPU, SAID},
    {"vNPU between rules", INFO, NULL,
     DASHES "| vNPU                                             |\n" DASHES VNPU, SAID},
    {"vNPU as a title", INFO, NULL,
     DASHES "| vNPU                                             |\n" EQUALS
            "| 100                       | vir02         | 2                    |\n" EQUALS,
     SAID},
    {"vNPU with a health", INFO, NULL,
     DASHES "| vNPU  Name                | Health        | AICore               |\n" EQUALS
            "| 100   vir02               | OK            | 2                    |\n" EQUALS,
     SAID},
    {"vNPU with processes", INFO, NULL,
     DASHES "| vNPU                      | Process id    | Name           | Memory |\n" EQUALS
            "| 100                       | 4714          | python         | 1     |\n" EQUALS,
     TABLE},
    {"versions before the processes", INFO, DASHES "| NPU     Chip ",
     DASHES "| Driver                    | 27.0          | OK                   |\n" DASHES
            "| NPU     Chip ",
     SAID},
    {"vNPU in the map", MAP, NULL,
     "\n\tNPU ID         Chip ID        vNPU ID        vNPU Name\n"
     "\t1              0              100            vir02\n",
     SAID},
    {"links with numbers", TOPO, "\nLegend", "\nBandwidth\n   NPU1  NPU4  NPU6\nNPU1 X 56 56\n",
     SAID},
    {"another matrix of affinities", TOPO, "\nLegend",
     "\n\t   NPU1       NPU4       NPU6       CPU Affinity\n", REFUSED},
    /* units */
    {"GiB", INFO, "| 150   |", "| 1.5 GiB |", SAME},
    {"thousands", INFO, "| 150   |", "| 1,150 |", SAME},
    {"per cent", INFO, "| 150   |", "| 150 (1%) |", SAME},
    {"a remark behind an address", INFO, "81:00.0  |", "81:00.0 (x16) |", SAID},
    {"a remark behind a pid", INFO, "| 4712 ", "| 4712 (host) ", SAID},
    {"an address without its domain", INFO, "0000:81:00.0", "81:00.0     ", TABLE},
    {"all: lanes of links", TOPO, "HCCS ", "4xUB ", SAME},
    {"numbers for links", TOPO, "HCCS       X ", "4          X ", REFUSED},
    {"a list with a stride", TOPO, "8-15", "8-15:1", REFUSED},
    {"a mask", TOPO, "8-15", "ff00", REFUSED},
    /* processes, which a plan of all NPUs does not need */
    {"a pid that is none", INFO, "| 4712 ", "| 47x2 ", TABLE},
    {"a process without its chip", INFO, "| 4       0 ", "| 4         ", TABLE},
    {"a process without its NPU", INFO, "| 4       0 ", "| -       - ", TABLE},
    {"a row that ends early", INFO, "| 4712          | python         | 150   |", "| 4712",
     TABLE},
    {"the header twice", INFO, "| 4       0 ",
     "| NPU     Chip              | Process id    | Process name   | Process memory(MB) |\n"
     "| 4       0 ",
     TABLE},
    {"devices behind processes", INFO, NULL, DEVICE("7", "41:00.0"), TABLE},
};

static memory_host host_of(int has_locality)
{
    static const char *const files[][3] = {
        {"0000:c1:00.0", "2\n", "16-23\n"},
        {"0000:81:00.0", "1\n", "8-15\n"},
        {"0000:01:00.0", "0\n", "0-7\n"},
    };
    static char names[3][4][64];
    memory_host h;
    memset(&h, 0, sizeof h);
    set(&h, "proc/self/status", "Cpus_allowed_list:\t0-23\n");
    set(&h, "sys/devices/system/cpu/online", "0-23\n");
    set(&h, "sys/devices/system/node/", "node0\nnode1\nnode2\n");
    set(&h, "sys/devices/system/node/node0/cpulist", "0-7\n");
    set(&h, "sys/devices/system/node/node1/cpulist", "8-15\n");
    set(&h, "sys/devices/system/node/node2/cpulist", "16-23\n");
    set(&h, "uname", "aarch64\n");
    set(&h, MAP, MAP_TEXT);
    set(&h, INFO, INFO_TEXT);
    set(&h, TOPO, TOPO_TEXT);
    if (!has_locality)
        return h;
    set(&h, PCI, "0000:01:00.0\n0000:81:00.0\n0000:c1:00.0\n");
    for (int i = 0; i < 3; i++) {
        static const char *const file[4] = {"vendor", "device", "numa_node", "local_cpulist"};
        for (int k = 0; k < 4; k++) {
            snprintf(names[i][k], sizeof names[i][k], PCI "%s/%s", files[i][0], file[k]);
            set(&h, names[i][k], k == 0 ? "0x19e5\n" : k == 1 ? "0xd802\n" : files[i][k - 1]);
        }
    }
    return h;
}

/* Writes an output with its edit. The result is the caller's to free. */
static char *apply(const edit *e)
{
    const char *text = strcmp(e->input, MAP) == 0    ? MAP_TEXT
                       : strcmp(e->input, INFO) == 0 ? INFO_TEXT
                                                     : TOPO_TEXT;
    const int is_all = strncmp(e->name, "all: ", 5) == 0;
    const size_t from = e->from ? strlen(e->from) : 0, room = 16 * strlen(text);
    char *out = (char *)calloc(room, 1);
    size_t n = 0;
    int n_found = 0;
    assert_non_null(out);
    while (*text) {
        if (from && (is_all || !n_found) && strncmp(text, e->from, from) == 0) {
            n += (size_t)snprintf(out + n, room - n, "%s", e->to);
            text += from;
            n_found++;
        } else {
            out[n++] = *text++;
        }
    }
    if (!e->from)
        snprintf(out + n, room - n, "%s", e->to);
    else if (n_found == 0)
        fail_msg("%s: its text is not in the output", e->name);
    return out;
}

/* Whether row i of a plan and row k of another are of one NPU, with the same CPUs in the same
 * roles. */
static int is_same_row(const attempt *a, int32_t i, const attempt *b, int32_t k)
{
    const int32_t n = a->plan.role_row[i + 1] - a->plan.role_row[i];
    return a->facts.device[a->plan.want[i]].logic == b->facts.device[b->plan.want[k]].logic &&
           memcmp(&a->plan.role_span[i], &b->plan.role_span[k], sizeof(cpubind_roles)) == 0 &&
           b->plan.role_row[k + 1] - b->plan.role_row[k] == n &&
           memcmp(a->plan.role_cpu + a->plan.role_row[i],
                  b->plan.role_cpu + b->plan.role_row[k], (size_t)n * 4) == 0;
}

/* Whether each NPU of a plan has what it has in another. */
static int is_part_of(const attempt *a, const attempt *whole)
{
    for (int32_t i = 0; i < a->plan.n_want; i++) {
        int32_t k = 0;
        while (k < whole->plan.n_want && !is_same_row(a, i, whole, k))
            k++;
        if (k == whole->plan.n_want)
            return 0;
    }
    return 1;
}

/* What came of a plan, beside that of the host without an edit. */
static outcome judge(const attempt *a, const attempt *whole)
{
    const uint32_t others = 1u << CPUBIND_WARNING_INPUTS_DIFFER |
                            1u << CPUBIND_WARNING_NO_PROCESSES |
                            1u << CPUBIND_WARNING_PCI_AFFINITY;
    if (a->code != CPUBIND_PROBLEM_NONE)
        return REFUSED;
    if (!is_part_of(a, whole))
        fail_msg("an NPU has other CPUs than it has in the undamaged plan");
    if (a->plan.warnings & ~whole->plan.warnings & others)
        return OTHER;
    if (a->plan.n_want != whole->plan.n_want)
        fail_msg("an NPU is lost without a word");
    return has_warning(a, CPUBIND_WARNING_UNKNOWN_TEXT) ? SAID : SAME;
}

/* The outcome that a plan must have: without a process table a plan of all NPUs is made, with a
 * warning. */
static outcome expected(const edit *e, int only_running)
{
    if (e->outcome == TABLE)
        return only_running ? REFUSED : OTHER;
    return e->outcome;
}

/* The topology is all that tells the CPUs near an NPU, and npu-smi info the addresses. */
static int try_edit(const edit *e, cpubind_rules rules, int only_running)
{
    static const char *const words[] = {"same", "same, said", "other input", "table",
                                        "refused"};
    memory_host h = host_of(strcmp(e->input, TOPO) != 0);
    cpubind_request request = ask_nothing();
    attempt whole, a;
    char *text = apply(e);
    outcome got;
    request.only_running = only_running;
    request.has_rules = 1;
    request.rules = rules;
    whole = try(&h, &request);
    assert_int_equal(whole.code, CPUBIND_PROBLEM_NONE);
    assert_false(has_warning(&whole, CPUBIND_WARNING_UNKNOWN_TEXT));
    assert_int_equal(whole.plan.n_want, 3);
    expect_run(&whole, 0, 16, 23);
    set(&h, e->input, text);
    a = try(&h, &request);
    got = judge(&a, &whole);
    if (got != expected(e, only_running))
        print_error("%s%s: %s, not %s%s%s\n", e->name, only_running ? " (running)" : "",
                    words[got], words[expected(e, only_running)], a.problem.what ? ": " : "",
                    a.problem.what ? a.problem.what : "");
    drop(&a);
    drop(&whole);
    free(text);
    return got == expected(e, only_running);
}

TEST(an_edit_keeps_the_plan_or_is_refused_and_never_gives_another)
{
    int32_t n_wrong = 0;
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        for (int rules = 0; rules < CPUBIND_RULES_COUNT; rules++)
            for (int only_running = 0; only_running < 2; only_running++)
                n_wrong += !try_edit(&edits[i], (cpubind_rules)rules, only_running);
    assert_int_equal(n_wrong, 0);
}

TEST_FILE(NULL, NULL)
