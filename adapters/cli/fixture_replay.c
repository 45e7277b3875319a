/* fixture_replay.c - cpubind fixture replay: every expectation of a corpus, held again
 * SPDX-License-Identifier: MIT
 *
 * Hosts are shared out among threads; what they came to is printed in their order.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../linux/workers.h"
#include "report.h"

/* What all threads share. */
typedef struct replay {
    const cli_options *options;
    cli_corpus corpus; /* that of the calling thread, which looked up the names */
    cli_replayed *host;
    int32_t n_host;
    atomic_int next, n_done, n_entered;
} replay;

static double seconds_now(void)
{
    struct timespec now;
    (void)timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void replay_cases(const cpubind_corpus_host *host, const cpubind_source *source,
                         cli_planned *planned, cli_replayed *out)
{
    int32_t n = cpubind_corpus_n_expectation(host);
    out->trial = (cli_replayed_case *)calloc((size_t)n + 1, sizeof *out->trial);
    if (!out->trial)
        out->status = CLI_UNREADABLE;
    for (; out->trial && out->n_trial < n; out->n_trial++) {
        cpubind_corpus_expectation e = cpubind_corpus_expectation_at(host, out->n_trial);
        cli_replayed_case *to = &out->trial[out->n_trial];
        cli_trial trial;
        cli_try(source, e.body, (size_t)e.len, planned, &trial);
        to->name = strdup(e.name);
        to->n_difference = trial.n_difference;
        to->text = trial.text;
        trial.text = NULL;
        cli_free_trial(&trial);
    }
}

static void replay_host(const cli_corpus *corpus, cli_planned *planned, cli_replayed *out)
{
    cli_text why = {"", 0};
    double start = seconds_now();
    cpubind_corpus_host *host = NULL;
    out->status = cli_open_fixture(corpus, out->name, &host, &why);
    if (out->status == CLI_DONE) {
        cpubind_source source = cpubind_corpus_source(host);
        replay_cases(host, &source, planned, out);
    } else {
        out->why = strdup(why.text);
    }
    cpubind_corpus_close_host(host);
    out->seconds = seconds_now() - start;
}

/* One thread: its own connection, its own arena. */
static void work(void *ctx)
{
    replay *r = (replay *)ctx;
    const int is_first = atomic_fetch_add(&r->n_entered, 1) == 0;
    cli_text why = {"", 0};
    cli_planned planned = {0};
    cli_corpus own;
    int status = cli_open_corpus(r->options, &own, &why);
    for (int i = atomic_fetch_add(&r->next, 1); i < r->n_host;
         i = atomic_fetch_add(&r->next, 1)) {
        cli_replayed *host = &r->host[i];
        if (status == CLI_DONE) {
            replay_host(&own, &planned, host);
        } else {
            host->status = status;
            host->why = strdup(why.text);
        }
        cli_text progress = {"", 0};
        cli_add(&progress, "cpubind: %d of %d hosts ...", atomic_fetch_add(&r->n_done, 1) + 1,
                (int)r->n_host);
        if (is_first)
            cli_progress(r->options, progress.text);
    }
    cpubind_corpus_close(own.corpus);
    cli_free_planned(&planned);
}

/* The hosts that were named, else all. */
static int find_hosts(replay *r, cli_text *why)
{
    cpubind_corpus_fault fault = {0, 0, "", ""};
    cpubind_corpus_about *list = NULL;
    int32_t n = r->options->n_word;
    cpubind_corpus_status result = CPUBIND_CORPUS_OK;
    if (n == 0)
        result = cpubind_corpus_list(r->corpus.corpus, &list, &n, &fault);
    if (result != CPUBIND_CORPUS_OK)
        return cli_corpus_failed(result, &fault, r->corpus.path, NULL, why);
    r->host = (cli_replayed *)calloc((size_t)n + 1, sizeof *r->host);
    for (int32_t i = 0; r->host && i < n; i++) {
        r->host[i].name = strdup(list ? list[i].name : r->options->word[i]);
        if (!r->host[i].name)
            break;
        r->n_host++;
    }
    cpubind_corpus_free_list(list);
    return r->n_host == n ? CLI_DONE : cli_no_room(why);
}

static void free_hosts(replay *r)
{
    for (int32_t i = 0; i < r->n_host; i++) {
        cli_replayed *host = &r->host[i];
        for (int32_t k = 0; k < host->n_trial; k++) {
            free(host->trial[k].name);
            free(host->trial[k].text);
        }
        free(host->trial);
        free(host->name);
        free(host->why);
    }
    free(r->host);
}

static int run(replay *r)
{
    double start = seconds_now();
    int32_t jobs = r->options->jobs ? r->options->jobs : cpubind_linux_processors();
    cpubind_linux_run(jobs < r->n_host ? jobs : r->n_host > 0 ? r->n_host : 1, work, r);
    cli_progress(r->options, NULL);
    return cli_print_replayed(r->options, r->host, r->n_host, seconds_now() - start);
}

int cli_replay(int argc, char **argv)
{
    static cli_options options;
    static replay r;
    cli_text why = {"", 0};
    int status = cli_start(argc, argv, CLI_REPLAY, &options);
    if (status >= 0)
        return status;
    r.options = &options;
    status = cli_open_corpus(&options, &r.corpus, &why);
    if (status == CLI_DONE)
        status = find_hosts(&r, &why);
    cpubind_corpus_close(r.corpus.corpus);
    status = status == CLI_DONE ? run(&r) : cli_fail(&options, status, why.text);
    free_hosts(&r);
    return status;
}
