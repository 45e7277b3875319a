/* topo.h - the accelerators of a host as JSON, for topo and for expectations of a corpus
 * SPDX-License-Identifier: MIT
 *
 * README.md documents the keys of the JSON and what each column says.
 */
#ifndef CPUBIND_CLI_TOPO_H
#define CPUBIND_CLI_TOPO_H

#include <jansson.h>

#include "../api/device_plan.h"
#include "cli.h"

/* The object that topo --json prints; NULL without memory. */
json_t *cli_topo_json(const api_topo *topo, const api_options *options);

#endif /* CPUBIND_CLI_TOPO_H */
