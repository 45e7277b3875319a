/* shape.h - the shape of a host: named properties
 * SPDX-License-Identifier: MIT
 *
 * Facts and plan are those of `cpubind plan` without options, findings those of doctor about
 * the host itself: what processes do at the moment of a capture is no property of a host.
 *
 * A property is a text. "": not known, or it does not apply. That of a list is
 *   list = item *( ";" item )       item = key [ " [" label "]" ] "=" value
 * and a label is another name of a key, such as the number of a device at an address.
 */
#ifndef CPUBIND_CLI_SHAPE_H
#define CPUBIND_CLI_SHAPE_H

#include "../words/value.h"

#include "cli.h"

/* (name, kind): the properties. The name is the key of JSON and of the table shapes. A new
 * property is a row here and one of the readers in shape.c. */
#define CLI_SHAPE_LIST(X)                                                                      \
    X(products, WORD)                                                                          \
    X(error, WORD)                                                                             \
    X(devices, LIST)                                                                           \
    X(machine, WORD)                                                                           \
    X(sockets, WORD)                                                                           \
    X(nps, WORD)                                                                               \
    X(smt, WORD)                                                                               \
    X(cpus, WORD)                                                                              \
    X(nodes, LIST)                                                                             \
    X(distances, LIST)                                                                         \
    X(siblings, WORD)                                                                          \
    X(allowed, WORD)                                                                           \
    X(scope, WORD)                                                                             \
    X(cgroup, WORD)                                                                            \
    X(kernel, WORD)                                                                            \
    X(driver, WORD)                                                                            \
    X(npu_smi, WORD)                                                                           \
    X(rules, WORD)                                                                             \
    X(strategy, WORD)                                                                          \
    X(plan, LIST)                                                                              \
    X(quality, LIST)

enum {
#define CPUBIND_X(name, kind) CLI_SHAPE_##name,
    CLI_SHAPE_LIST(CPUBIND_X)
#undef CPUBIND_X
        CLI_SHAPES
};

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
words_value *cli_read_shape(cli_shape_reader *reader, const cpubind_source *source);

void cli_free_shape_reader(cli_shape_reader *reader);

/* The properties of two shapes that differ, as bits.
 *   in      own, other: CLI_SHAPES texts each; equal texts are one pointer */
uint32_t cli_shape_differs(const char *const *own, const char *const *other);

/* A property as JSON: a string; of a list an object, where a number is a number, and one below
 * 0 is null. NULL without memory. */
words_value *cli_shape_json(int32_t property, const char *text);

#endif /* CPUBIND_CLI_SHAPE_H */
