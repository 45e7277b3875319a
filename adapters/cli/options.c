/* options.c - the words of the command line
 * SPDX-License-Identifier: MIT
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "../text/cpulist.h"
#include "../text/procfs.h"
#include "cli.h"

void cli_print_help(FILE *out)
{
    fputs("Usage: cpubind COMMAND [OPTION...]\n"
          "\n"
          "Decides which CPUs belong to which NPU of an Ascend host, and inside that to its\n"
          "interrupts, main threads, ACL thread and release thread.\n"
          "\n"
          "Commands:\n"
          "  plan         what would be done, on this host, a captured one or a fixture\n"
          "\n"
          "  --help       this text; cpubind plan --help for the options\n"
          "  --version    the version\n"
          "\n"
          "Exit status: 0 done, 1 no plan is possible, 2 usage, 3 the host is unreadable.\n",
          out);
}

void cli_print_plan_help(FILE *out)
{
    fputs("Usage: cpubind plan [OPTION...]\n"
          "\n"
          "Prints which CPUs each NPU would get. Changes nothing.\n"
          "\n"
          "Which host (default: this one):\n"
          "  --root DIR            a snapshot folder: proc/, sys/ and cmd/ of a host\n"
          "  --fixture NAME        a host that came with cpubind, such as a2-192cpu-8npu\n"
          "  --db FILE             the corpus that has the fixture\n"
          "\n"
          "Which NPUs:\n"
          "  --npus LIST           logic ids, such as 0-3,6, instead of the process table\n"
          "  --visible LIST        instead of ASCEND_RT_VISIBLE_DEVICES\n"
          "  --rank N              the worker that asks (default 0)\n"
          "  --device-type TYPE    a2, a3, 300i or 950 (default: from npu-smi or PCI ids)\n"
          "\n"
          "How:\n"
          "  --strategy NAME       auto, global_slice, topo_affinity or cluster\n"
          "  --overlap POLICY      resolve, keep or refuse CPUs that two NPUs would share\n"
          "\n"
          "Output:\n"
          "  --json                one JSON object\n"
          "  --quiet               the plan alone: no table, map or warnings\n"
          "  --help, --version\n",
          out);
}

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof *(array)))

/* A word of a closed set. */
typedef struct choice {
    const char *word;
    int32_t value;
} choice;

static int complain(const cli_text *text)
{
    fprintf(stderr, "cpubind: %s\n", text->text);
    return CLI_USAGE;
}

static int usage(const char *what, const char *value)
{
    cli_text text = {"", 0};
    cli_add(&text, "%s: \"%s\"; try: cpubind plan --help", what, value);
    return complain(&text);
}

static int choose(const choice *choices, int32_t n, const char *option, const char *word,
                  int32_t *out)
{
    cli_text text = {"", 0};
    for (int32_t i = 0; i < n; i++) {
        if (strcmp(choices[i].word, word) != 0)
            continue;
        *out = choices[i].value;
        return -1;
    }
    cli_add(&text, "--%s does not know \"%s\"; it knows", option, word);
    for (int32_t i = 0; i < n; i++)
        cli_add(&text, "%s %s", i ? "," : "", choices[i].word);
    return complain(&text);
}

static int choose_type(const char *word, cli_options *o)
{
    static const choice types[] = {
#define CLI_X(name, word) {word, CPUBIND_TYPE_##name},
        CPUBIND_TYPE_LIST(CLI_X)
#undef CLI_X
    };
    int32_t value = 0;
    int status = choose(types, COUNT(types), "device-type", word, &value);
    o->request.type = (cpubind_device_type)value;
    return status;
}

static int choose_strategy(const char *word, cli_options *o)
{
    static const choice strategies[] = {{"auto", -1},
#define CLI_X(name, word) {word, CPUBIND_##name},
                                        CLI_STRATEGY_LIST(CLI_X)
#undef CLI_X
    };
    int32_t value = -1;
    int status = choose(strategies, COUNT(strategies), "strategy", word, &value);
    o->request.is_auto_strategy = value < 0;
    if (value >= 0)
        o->request.strategy = (cpubind_strategy)value;
    return status;
}

static int choose_overlap(const char *word, cli_options *o)
{
    static const choice policies[] = {{"resolve", CPUBIND_OVERLAP_RESOLVE},
                                      {"keep", CPUBIND_OVERLAP_KEEP},
                                      {"refuse", CPUBIND_OVERLAP_REFUSE}};
    int32_t value = 0;
    int status = choose(policies, COUNT(policies), "overlap", word, &value);
    o->request.overlap = (cpubind_overlap)value;
    return status;
}

/* Length of an argument; one past all limits counts as too long to be anything. */
static int32_t length(const char *text)
{
    size_t n = strlen(text);
    return n > CPUBIND_TEXT_MAX ? CPUBIND_TEXT_MAX : (int32_t)n;
}

static int read_npus(const char *text, cli_options *o)
{
    cpubind_text_fault fault;
    cli_text message = {"", 0};
    if (cpubind_cpulist_parse(text, length(text), CPUBIND_MAX_DEVICES, o->npu,
                              CPUBIND_MAX_DEVICES, &o->request.n_npu,
                              &fault) != CPUBIND_TEXT_OK) {
        cli_add(&message, "--npus \"%s\", character %d: %s; such as 0-3,6", text,
                (int)fault.offset + 1, fault.what);
        return complain(&message);
    }
    if (o->request.n_npu == 0)
        return usage("--npus names no NPU", text);
    o->request.npu = o->npu;
    return -1;
}

static int read_rank(const char *text, cli_options *o)
{
    if (cpubind_number_parse(text, length(text), &o->request.rank, NULL) != CPUBIND_TEXT_OK ||
        o->request.rank < 0 || text[strspn(text, "0123456789")] != '\0')
        return usage("--rank is not a number from 0", text);
    return -1;
}

enum option_id { ROOT = 256, FIXTURE, DB, TYPE, NPUS, VISIBLE, RANK, STRATEGY, OVERLAP };

static const struct option long_options[] = {{"root", required_argument, NULL, ROOT},
                                             {"fixture", required_argument, NULL, FIXTURE},
                                             {"db", required_argument, NULL, DB},
                                             {"device-type", required_argument, NULL, TYPE},
                                             {"npus", required_argument, NULL, NPUS},
                                             {"visible", required_argument, NULL, VISIBLE},
                                             {"rank", required_argument, NULL, RANK},
                                             {"strategy", required_argument, NULL, STRATEGY},
                                             {"overlap", required_argument, NULL, OVERLAP},
                                             {"json", no_argument, NULL, 'j'},
                                             {"quiet", no_argument, NULL, 'q'},
                                             {"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, 'V'},
                                             {NULL, 0, NULL, 0}};

static int take_option(int id, cli_options *o)
{
    switch (id) {
    case ROOT:
        o->root = optarg;
        return -1;
    case FIXTURE:
        o->fixture = optarg;
        return -1;
    case DB:
        o->db = optarg;
        return -1;
    case TYPE:
        return choose_type(optarg, o);
    case NPUS:
        return read_npus(optarg, o);
    case VISIBLE:
        o->request.visible = optarg;
        o->request.visible_len = length(optarg);
        return -1;
    case RANK:
        return read_rank(optarg, o);
    case STRATEGY:
        return choose_strategy(optarg, o);
    case OVERLAP:
        return choose_overlap(optarg, o);
    case 'j':
        o->json = 1;
        return -1;
    case 'q':
        o->quiet = 1;
        return -1;
    case 'h':
        cli_print_plan_help(stdout);
        return CLI_DONE;
    case 'V':
        puts("cpubind " CPUBIND_VERSION);
        return CLI_DONE;
    default:
        fputs("try: cpubind plan --help\n", stderr);
        return CLI_USAGE;
    }
}

int cli_read_options(int argc, char **argv, cli_options *out)
{
    int id;
    memset(out, 0, sizeof *out);
    out->request.is_auto_strategy = 1;
    while ((id = getopt_long(argc, argv, "hV", long_options, NULL)) != -1) {
        int status = take_option(id, out);
        if (status >= 0)
            return status;
    }
    if (optind < argc)
        return usage("this word is no option", argv[optind]);
    if (out->root && out->fixture)
        return usage("--root and --fixture each name a host; give one", out->fixture);
    if (out->db && !out->fixture)
        return usage("--db needs the name of a host, --fixture NAME", out->db);
    return -1;
}
