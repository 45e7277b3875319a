/* service_ask.h - ask the service of this host, for commands that change or show what it keeps
 * SPDX-License-Identifier: MIT
 *
 * A service that does not answer is found out within a second, and said on stderr. The command
 * then works by itself: what the service holds is locked, and stays as it is.
 */
#ifndef CPUBIND_CLI_SERVICE_ASK_H
#define CPUBIND_CLI_SERVICE_ASK_H

#include "../words/value.h"

#include "../service/ask.h"
#include "cli.h"

/* What restore --all beside a service means, in the words of each command. */
#define CLI_ALL_LEFT "it leaves all workers alone, those to come too, until cpubind apply --all"

typedef enum cli_service_state {
    CLI_SERVICE_NONE,    /* none runs here, or the command is about another host */
    CLI_SERVICE_SILENT,  /* one that cannot be asked, or does not answer: *why says what */
    CLI_SERVICE_REFUSED, /* it says that it cannot: *why, and `status` */
    CLI_SERVICE_DONE
} cli_service_state;

typedef struct cli_service_reply {
    cli_service_state state;
    int32_t pid;         /* of the service; 0: not known */
    int status;          /* REFUSED: the exit status */
    words_value *answer; /* DONE; else NULL */
    char why[256];       /* SILENT, REFUSED */
} cli_service_reply;

/* Asks about a process, or with pid 0 about the host. For --root and --fixture nothing about
 * the host is asked. SILENT is said on stderr.
 *   out     *out, to be freed by cli_free_service */
void cli_ask_service(const api_options *options, cpubind_ask ask, int32_t pid,
                     cli_service_reply *out);

/* The same where it is enough that the service will do it. */
void cli_tell_service(const api_options *options, cpubind_ask ask, int32_t pid,
                      cli_service_reply *out);

void cli_free_service(cli_service_reply *service);

/* Why the service was not heard: a sentence, valid until the next call. */
const char *cli_explain_silence(cpubind_linux_fault why, const cpubind_asking *asking);

/* Makes the service let go of a process, so that this command may work on it: the service of
 * another user, which alone can restore what it has bound, does that, too.
 *   in      ask: LEAVE or LEND; bound->pid: 0 for all
 *   out     *bound: the process of the service, and why it was not asked
 *   returns the exit status of a refusal, which is printed, else API_DONE */
int cli_let_service_go(const api_options *options, cpubind_ask ask, api_bound *bound,
                       int *is_put_back);

/* The state of the service, the object "service" of each answer; null: none can be asked, and
 * `warnings`, unless NULL, says why where one should be there. */
words_value *cli_service_json(const api_options *options, words_value *warnings);

/* Adds one line about the service, if it can be asked. */
void cli_note_service(words_value *notes, const api_options *options);

#endif /* CPUBIND_CLI_SERVICE_ASK_H */
