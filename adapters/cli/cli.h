/* cli.h - what the files of the command share
 * SPDX-License-Identifier: MIT
 *
 * adapters/cli is the only folder that prints and exits.
 */
#ifndef CPUBIND_CLI_H
#define CPUBIND_CLI_H

#include <stdio.h>

#include "../text/ascend.h"

/* Exit status of the command. */
enum cli_exit {
    CLI_DONE = 0,
    CLI_REFUSED = 1,   /* no plan is possible */
    CLI_USAGE = 2,     /* the words of the command are wrong */
    CLI_UNREADABLE = 3 /* the host could not be read */
};

/* What stands on the command line of `cpubind plan`. */
typedef struct cli_options {
    const char *root;    /* a snapshot folder, or NULL */
    const char *fixture; /* the name of a fixture host, or NULL */
    const char *db;      /* the corpus that has it, or NULL: the host folders */
    cpubind_request request;
    int32_t npu[CPUBIND_MAX_DEVICES]; /* --npus; request.npu points here */
    int json, quiet;
} cli_options;

/* Read the options of `cpubind plan`. Returns -1 to go on, else the status to exit with. */
int cli_read_options(int argc, char **argv, cli_options *out);

/* `cpubind plan`: plans and prints; returns the exit status. */
int cli_plan(int argc, char **argv);

void cli_print_help(FILE *out);
void cli_print_plan_help(FILE *out);

/* A message that grows; cut at its end, which no message of ours reaches. */
typedef struct cli_text {
    char text[4096];
    size_t len;
} cli_text;

__attribute__((format(printf, 2, 3))) void cli_add(cli_text *to, const char *format, ...);

/* A list of numbers as the kernel prints it; "none" when it is empty. */
void cli_add_list(cli_text *to, const int32_t *list, int32_t n);

/* What, where, why, and what to do; without a line feed. */
void cli_explain(const cpubind_problem *problem, const cpubind_facts *facts,
                 const cli_options *options, cli_text *out);

/* One warning as a sentence, without a line feed. */
void cli_explain_warning(cpubind_warning warning, const cpubind_facts *facts,
                         const cpubind_ascend_plan *plan, cli_text *out);

/* The plan or the problem as one JSON object and a line feed. Returns 0 when there was no
 * memory for it or it could not be written. */
int cli_print_json(FILE *out, const cpubind_facts *facts, const cli_options *options,
                   const cpubind_ascend_plan *plan);
int cli_print_json_error(FILE *out, const cpubind_problem *problem, const char *text);

/* Line and column of the byte that a problem is about; 0, 0 when it is about none. */
cpubind_place cli_place(const cpubind_problem *problem);

/* The plan as text: the lines of the logs, a table, what was found, the map. */
void cli_print_text(FILE *out, const cpubind_facts *facts, const cli_options *options,
                    const cpubind_ascend_plan *plan);

/* One row a node, a cell a CPU or a run of CPUs; `columns` wide at most. */
void cli_print_map(FILE *out, const cpubind_facts *facts, const cpubind_ascend_plan *plan,
                   int32_t columns, int colour);

/* The pool of a row, and its roles, as lists inside it. */
typedef struct cli_row {
    const cpubind_npu *npu;
    const int32_t *cpu;
    int32_t n;
    cpubind_roles roles;
} cli_row;

cli_row cli_row_of(const cpubind_facts *facts, const cpubind_ascend_plan *plan, int32_t row);

/* The nodes that a pool touches, ascending; `out` has room for all nodes. Returns how many. */
int32_t cli_nodes_of(const cpubind_facts *facts, const cli_row *row, int32_t *out);

/* (name, word): words of --strategy and of the plan. */
#define CLI_STRATEGY_LIST(X)                                                                   \
    X(GLOBAL_SLICE, "global_slice")                                                            \
    X(TOPO_AFFINITY, "topo_affinity")                                                          \
    X(CLUSTER, "cluster")

/* "global_slice", "none": the words of the contract. */
const char *cli_strategy_word(cpubind_strategy strategy);
const char *cli_finding_word(cpubind_finding finding);

#endif /* CPUBIND_CLI_H */
