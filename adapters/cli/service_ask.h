/* service_ask.h - ask the service of this host, for commands that show what it knows
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_SERVICE_ASK_H
#define CPUBIND_CLI_SERVICE_ASK_H

#include <jansson.h>

#include "../service/ask.h"
#include "cli.h"

/* The answer of the service, to be freed; NULL: none runs here, or it cannot be asked (the host
 * is another one, its socket is not root's, it does not answer in time): the command works by
 * itself. */
json_t *cli_ask_service(const api_options *options, cpubind_ask ask);

/* The state of the service, the object "service" of each answer; null: none can be asked. */
json_t *cli_service_json(const api_options *options);

/* Prints one line about the service, if it can be asked. */
void cli_print_service(FILE *out, const api_options *options);

#endif /* CPUBIND_CLI_SERVICE_ASK_H */
