/* fixture_export.c - cpubind fixture export: write a host of a corpus as a folder or a file
 * SPDX-License-Identifier: MIT
 *
 * Either all of it is written, or nothing.
 */
#include <string.h>

#include "fixture.h"

static int put_inputs(cli_sink *sink, const cpubind_corpus_host *host, api_text *why)
{
    int status = API_DONE;
    for (int32_t i = 0; status == API_DONE && i < host->n_input; i++)
        status = cli_put_input(sink, host->input[i].name, &host->input[i].input, why);
    return status;
}

static int put_expectations(cli_sink *sink, const cpubind_corpus_host *host, api_text *why)
{
    int status = API_DONE;
    for (int32_t i = 0; status == API_DONE && i < host->n_expectation; i++) {
        cpubind_corpus_expectation e = host->expectation[i];
        status = cli_put_expectation(sink, e.name, e.body, (size_t)e.len, why);
    }
    return status;
}

static int export_host(const api_options *options, const cpubind_corpus_host *host,
                       api_text *why)
{
    cli_sink sink;
    int status = cli_open_path_sink(options, options->word[1], &sink, why);
    if (status == API_DONE)
        status = cli_put_host(&sink, &host->about, why);
    if (status == API_DONE)
        status = put_inputs(&sink, host, why);
    if (status == API_DONE)
        status = put_expectations(&sink, host, why);
    if (status == API_DONE)
        status = cli_commit_sink(&sink, why);
    cli_close_sink(&sink);
    return status;
}

int cli_export(int argc, char **argv)
{
    static api_options options;
    api_text why = {"", 0};
    cli_corpus corpus;
    cpubind_corpus_host *host = NULL;
    int status = cli_start(argc, argv, API_EXPORT, &options);
    if (status >= 0)
        return status;
    status = cli_take_fixture(&options, options.word[0], &corpus, &host, &why);
    if (status == API_DONE)
        status = export_host(&options, host, &why);
    if (status != API_DONE)
        status = cli_fail(&options, status, why.text);
    else
        status = cli_say_change(&options, options.word[1], NULL, "%d inputs, %d expectations",
                                (int)host->n_input, (int)host->n_expectation);
    cpubind_corpus_close_host(host);
    return status;
}
