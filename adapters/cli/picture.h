/* picture.h - what each CPU of a host is in a plan: for the map, the picture, the explanation
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing: reads the facts, the plan and the core's trace of the plan. A file that
 * draws or explains takes what a CPU is from here, so that all of them say the same.
 */
#ifndef CPUBIND_CLI_PICTURE_H
#define CPUBIND_CLI_PICTURE_H

#include "output.h"

/* (name, word of JSON and of SVG, letter on a map, text of a legend). A later kind of a CPU
 * replaces an earlier one. The letters of CPUs with a role are those of the role and the
 * NPU. */
#define CLI_CPU_KINDS(X)                                                                       \
    X(ABSENT, "offline", ' ', "not online, or on no node")                                     \
    X(BARRED, "not_allowed", '-', "not allowed")                                               \
    X(EXCLUDED, "excluded", '~', "excluded")                                                   \
    X(IDLE, "idle", '.', "idle")                                                               \
    X(HIDDEN, "hidden", 'h', "of a hidden NPU")                                                \
    X(OTHER, "other", 'o', "of an NPU that is not planned here")                               \
    X(KEPT, "kept", 'k', "kept for the host")                                                  \
    X(SPARE, "uvb", 'u', "for UVB polling threads")                                            \
    X(PROCESS, "process", 'p', "of another process of the NPU")                                \
    X(ROLE, "role", '?', "in a role")                                                          \
    X(TWICE, "twice", 'x', "in two pools")

typedef enum cli_cpu_kind {
#define CLI_X(name, word, letter, text) CLI_CPU_##name,
    CLI_CPU_KINDS(CLI_X)
#undef CLI_X
        CLI_CPU_KIND_COUNT
} cli_cpu_kind;

/* "kept", 'k', "kept for the host". Static storage. */
const char *cli_cpu_word(cli_cpu_kind kind);
char cli_cpu_letter(cli_cpu_kind kind);
const char *cli_cpu_text(cli_cpu_kind kind);

/* One CPU. */
typedef struct cli_cpu {
    cli_cpu_kind kind;
    cpubind_role role; /* of ROLE and TWICE */
    int32_t row;       /* of the plan: of PROCESS, ROLE, TWICE (the first one); else -1 */
    int32_t device;    /* the candidate that gets it, that of the row if there is one; or -1 */
    int32_t at;        /* its index in plan->host.cpu, or -1: pools are not cut from it */
} cli_cpu;

/* All CPUs of a planned host. */
typedef struct cli_view {
    const cpubind_facts *facts;
    const cpubind_ascend_plan *plan;
    cli_cpu *cpu;     /* by CPU id, facts->n_cpu_id elements */
    int32_t *by_core; /* the CPUs that are on a node, by core, then by id */
    int32_t n_by_core;
    int32_t threads;   /* CPUs of the largest core; 1 when no cores are known */
    int32_t *node_cpu; /* of the last cli_view_node: CPUs, core after core */
    int32_t *core_at;  /* of the same: core i is node_cpu[core_at[i]] up to, not with,
                              node_cpu[core_at[i + 1]] */
    int32_t n_core;
    uint8_t *place; /* of candidate i and node k: place[i * facts->n_node + k] */
} cli_view;

/* Makes the view of a plan, or of the facts when it is refused; options may be NULL: no CPU is
 * EXCLUDED. Returns 0 without memory; cli_free_view may be called in both cases. */
int cli_make_view(const cli_planned *planned, const cli_options *options, cli_view *out);
void cli_free_view(cli_view *view);

/* Lists the cores of a node: node_cpu, core_at and n_core of the view. */
void cli_view_node(cli_view *view, int32_t node);

/* The place of a candidate is the nodes with CPUs near it, or the node of its PCI function
 * where no near CPU is known. `node` is an index into facts->node_id.
 * cli_distance: from a node to the nearest node of the place; -1: not known */
int cli_has_place(const cli_view *view, int32_t candidate);
int cli_is_place(const cli_view *view, int32_t candidate, int32_t node);
int32_t cli_distance(const cli_view *view, int32_t candidate, int32_t node);

/* The candidate that an NPU of facts->npu is, or -1. */
int32_t cli_candidate_of(const cpubind_ascend_plan *plan, int32_t npu);

/* Whether sockets are known, and are more than one. */
int cli_has_sockets(const cpubind_facts *facts);

/* Prints a plan as an SVG document. Returns 0 without memory. */
int cli_draw_svg(FILE *out, const cli_planned *planned, const cli_options *options);

/* The same to the file of --svg, whole or not at all. Returns the exit status; errors are
 * printed. */
int cli_write_svg(const cli_planned *planned, const cli_options *options);

/* Why the text of --explain names nothing; NULL: it does. Static storage. */
const char *cli_check_explain(const char *text);

/* Prints the table of the names of threads, which --explain threads asks for (thread_table.c).
 * Returns the exit status. */
int cli_print_threads(const cli_options *options);

/* Prints the explanation that --explain asks for, as sentences or as JSON, also of a plan that
 * is refused, as far as its facts are known. Returns the exit status; errors are printed. */
int cli_print_why(const cli_planned *planned, const cli_options *options);

/* Prints a text from column `at` on and a line feed; goes to the next line, indented, after a
 * blank or a comma before the line would be longer than `columns`. */
void cli_print_wrapped(FILE *out, const char *text, int32_t at, int32_t indent,
                       int32_t columns);

#endif /* CPUBIND_CLI_PICTURE_H */
