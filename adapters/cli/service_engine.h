/* service_engine.h - what cpubind service does for the workers of a host
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_SERVICE_ENGINE_H
#define CPUBIND_CLI_SERVICE_ENGINE_H

#include "../api/settings.h"
#include "cli.h"

/* Runs the service. Returns the exit status. */
int cli_run_service(const api_options *options);

#endif /* CPUBIND_CLI_SERVICE_ENGINE_H */
