/* service_engine.h - what cpubind service does for the workers of a host
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_SERVICE_ENGINE_H
#define CPUBIND_CLI_SERVICE_ENGINE_H

#include "settings.h"

/* Reads a file of settings.
 *   in      asked: its path; NULL: the usual one, which may be missing
 *   out     *out, to be freed also on failure; *path: the file that was read, NULL: none
 *   returns the exit status: USAGE when the text has faults, which `say` was called for; else
 *           the reason is in *why */
int cli_settings_load(const char *asked, cli_settings *out, const char **path,
                      cli_settings_say *say, void *ctx, api_text *why);

/* Runs the service. Returns the exit status. */
int cli_run_service(const api_options *options);

#endif /* CPUBIND_CLI_SERVICE_ENGINE_H */
