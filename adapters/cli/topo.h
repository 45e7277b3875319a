/* topo.h - the accelerators of a host, for cpubind topo and for expectations of a corpus
 * SPDX-License-Identifier: MIT
 *
 * README.md documents the keys of the JSON and what each column says.
 */
#ifndef CPUBIND_CLI_TOPO_H
#define CPUBIND_CLI_TOPO_H

#include <jansson.h>

#include "../pci/pci_facts.h"
#include "cli.h"

/* The accelerators of a host, or why they are not known. All zero before the first
 * cli_topo_read. */
typedef struct cli_topo {
    cpubind_pci_status status;
    cpubind_pci_facts facts;
    cpubind_pci_fault fault;
    cpubind_arena arena;
    api_planned npus; /* the facts of the Ascend NPUs, where the host has some */
} cli_topo;

/* Reads the devices that the options ask for. npu-smi runs only on a host with an Ascend NPU
 * that the driver's files do not describe. */
void cli_topo_read(const cpubind_source *source, const api_options *options, cli_topo *out);

/* The same for a request; the names of Ascend's products are added to it. */
void cli_topo_ask(const cpubind_source *source, const cpubind_pci_request *asked,
                  cli_topo *out);
void cli_topo_free(cli_topo *topo);

/* The exit status: of a host with a device API_DONE; else the reason is appended to *why. */
int cli_topo_judge(const cli_topo *topo, const api_options *options, api_text *why);

/* The object that topo --json prints; NULL without memory. */
json_t *cli_topo_json(const cli_topo *topo, const api_options *options);

#endif /* CPUBIND_CLI_TOPO_H */
