/* wanted.h - which processes and devices the settings of the service are about
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_WANTED_H
#define CPUBIND_CLI_WANTED_H

#include "../api/api.h"

/* The options without the keys that are for NPUs alone: such a key does not make NPUs of other
 * accelerators. Borrows from `options`. */
api_options cli_of_any_device(const api_options *options);

/* Whether a process is wanted: its program or the name of its main thread is one of `only`
 * (none: every name), and neither is one of `except`. In a pattern * is any number of
 * characters and ? is one. */
int cli_wants(const api_options *options, const char *program, const char *name);

#endif /* CPUBIND_CLI_WANTED_H */
