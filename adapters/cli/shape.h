/* shape.h - the shape of a host: named properties, and how a difference of one is said
 * SPDX-License-Identifier: MIT
 *
 * Facts and plan are those of `cpubind plan` without options, findings those of doctor about
 * the host itself: what processes do at the moment of a capture is no property of a host.
 *
 * A property is a text. "": not known, or it does not apply. That of a list is
 *   list = item *( ";" item )       item = key [ " [" label "]" ] "=" value
 * and a label, such as the number of a device that its address names, is how a key is said.
 */
#ifndef CPUBIND_CLI_SHAPE_H
#define CPUBIND_CLI_SHAPE_H

#include <jansson.h>

#include "cli.h"

/* (name, kind, follows, form, otherwise): the properties, in the order in which differences are
 * said. The name is the key of JSON and of the table shapes. `form` says a text of kind WORD,
 * where "%" is the text, and "+" an "s" unless the text is 1; of a LIST the words between the
 * key and its value. `otherwise` says a WORD that is not known. `follows` are the properties
 * whose difference explains one of this, which is not said then. A new property is a row here
 * and one of the readers in shape.c. */
#define CLI_SHAPE_LIST(X)                                                                      \
    X(products, WORD, 0, "devices %", "no known device")                                       \
    X(error, WORD, 0, "no plan (%)", "a plan")                                                 \
    X(devices, LIST, CLI_AFTER(nps) | CLI_AFTER(sockets), " as ", "")                          \
    X(machine, WORD, 0, "machine %", "an unknown machine")                                     \
    X(sockets, WORD, 0, "% socket+", "an unknown number of sockets")                           \
    X(nps, WORD, 0, "NPS% (% node+ a socket)", "an unknown number of nodes a socket")          \
    X(smt, WORD, 0, "SMT% (% thread+ a core)", "unknown cores")                                \
    X(cpus, WORD, CLI_AFTER(smt), "% CPU+", "an unknown number of CPUs")                       \
    X(nodes, LIST, CLI_AFTER(nps) | CLI_AFTER(smt) | CLI_AFTER(cpus) | CLI_AFTER(sockets),     \
      " with CPUs ", "")                                                                       \
    X(distances, LIST, CLI_AFTER(nps) | CLI_AFTER(sockets) | CLI_AFTER(nodes),                 \
      " at the distances ", "")                                                                \
    X(siblings, WORD, CLI_AFTER(smt) | CLI_AFTER(cpus), "% as the first core",                 \
      "an unknown first core")                                                                 \
    X(allowed, WORD, CLI_AFTER(smt), "allowed CPUs %", "unknown allowed CPUs")                 \
    X(scope, WORD, 0, "scope %", "no scope")                                                   \
    X(cgroup, WORD, 0, "cgroup %", "an unknown cgroup version")                                \
    X(kernel, WORD, 0, "kernel %", "an unknown kernel")                                        \
    X(driver, WORD, 0, "driver %", "an unknown driver")                                        \
    X(npu_smi, WORD, 0, "npu-smi %", "no known npu-smi")                                       \
    X(rules, WORD, 0, "rules %", "no rules")                                                   \
    X(strategy, WORD, CLI_AFTER(rules) | CLI_AFTER(products), "strategy %", "no strategy")     \
    X(plan, LIST, ~0u, " in ", "")                                                             \
    X(quality, LIST, ~0u, " of ", "")

enum {
#define CPUBIND_X(name, kind, follows, form, otherwise) CLI_SHAPE_##name,
    CLI_SHAPE_LIST(CPUBIND_X)
#undef CPUBIND_X
        CLI_SHAPES
};

#define CLI_AFTER(name) (1u << CLI_SHAPE_##name)

/* The program that has read a shape: the number grows when properties are read in another way
 * within one version. */
#define CLI_SHAPE_PROGRAM CPUBIND_VERSION "+1"

/* The name of a property. Static storage. */
const char *cli_shape_name(int32_t property);

/* Memory for reading many hosts, and the options of their plans. All zero is new. */
typedef struct cli_shape_reader {
    api_options options;
    api_planned planned;
    cpubind_arena arena; /* of the examination */
    int is_ready;
} cli_shape_reader;

/* Reads the shape of a host, as the table shapes has it; NULL without memory. */
json_t *cli_read_shape(cli_shape_reader *reader, const cpubind_source *source);

void cli_free_shape_reader(cli_shape_reader *reader);

/* The properties of two shapes that differ, as bits, and of these the ones that are said: that
 * no other difference explains.
 *   in      own, other: CLI_SHAPES texts each; equal texts are one pointer */
uint32_t cli_shape_differs(const char *const *own, const char *const *other);
uint32_t cli_shape_said(const char *const *own, uint32_t differs);

/* Appends how a property differs: "has kernel 5.10 where group 1 has kernel 6.6"; "lacks NPU 5
 * (0000:c1:00.0)".
 *   in      than: "group 1"; is_several: the subject is more than one host; differs: all
 *           properties that differ; *to is empty, and stays so where they explain this one */
void cli_shape_say(int32_t property, const char *own, const char *other, const char *than,
                   int is_several, uint32_t differs, api_text *to);

/* A property as JSON: a string; of a list an object, where a number is a number, and one below
 * 0 is null. NULL without memory. */
json_t *cli_shape_json(int32_t property, const char *text);

/* Items of a list, and the value of one; *len is that of the value. NULL: there is none. */
int32_t cli_shape_items(const char *list);
const char *cli_shape_item(const char *list, const char *key, int32_t *len);

#endif /* CPUBIND_CLI_SHAPE_H */
