/* shape.h - the shape of a host: named properties
 * SPDX-License-Identifier: MIT
 *
 * Facts and plan are those of `cpubind plan` without options, findings those of doctor about
 * the host itself: what processes do at the moment of a capture is no property of a host.
 *
 * A property is a text, "" where it is not known or does not apply, or an object: of devices by
 * their addresses, "0000:c1:00.0 [NPU 0]", or by "node 0".
 */
#ifndef CPUBIND_CLI_SHAPE_H
#define CPUBIND_CLI_SHAPE_H

#include "../words/value.h"

#include "cli.h"

/* The properties. The name is the key of JSON and of the table shapes. A new
 * property is a row here and one of the readers in shape.c. */
#define CLI_SHAPE_LIST(X)                                                                      \
    X(products)                                                                                \
    X(error)                                                                                   \
    X(devices)                                                                                 \
    X(machine)                                                                                 \
    X(sockets)                                                                                 \
    X(nps)                                                                                     \
    X(smt)                                                                                     \
    X(cpus)                                                                                    \
    X(nodes)                                                                                   \
    X(distances)                                                                               \
    X(siblings)                                                                                \
    X(allowed)                                                                                 \
    X(scope)                                                                                   \
    X(cgroup)                                                                                  \
    X(kernel)                                                                                  \
    X(driver)                                                                                  \
    X(npu_smi)                                                                                 \
    X(rules)                                                                                   \
    X(strategy)                                                                                \
    X(plan)                                                                                    \
    X(quality)

enum {
#define CPUBIND_X(name) CLI_SHAPE_##name,
    CLI_SHAPE_LIST(CPUBIND_X)
#undef CPUBIND_X
        CLI_SHAPES
};

/* The program that has read a shape: the number grows when properties are read in another way
 * within one version. */
#define CLI_SHAPE_PROGRAM CPUBIND_VERSION "+2"

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

#endif /* CPUBIND_CLI_SHAPE_H */
