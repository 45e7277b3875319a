/* service_measure.h - the service measures new settings against those before, by a child
 * SPDX-License-Identifier: MIT
 *
 * The child is `cpubind measure` of this program, so that the service goes on meanwhile. It
 * holds the locks of the workers that it measures: the service has let go of them before, and
 * takes them up again when the child has ended.
 */
#ifndef CPUBIND_CLI_SERVICE_MEASURE_H
#define CPUBIND_CLI_SERVICE_MEASURE_H

#include "../host/host_bind.h"
#include "../measure/last.h"
#include "settings.h"

typedef enum cli_measure_end {
    CLI_MEASURE_NOT, /* it has not ended, or there is none */
    CLI_MEASURE_DONE,
    CLI_MEASURE_WORSE, /* the new settings are worse */
    CLI_MEASURE_ALIKE, /* both settings place all workers alike: nothing was measured */
    CLI_MEASURE_FAILED
} cli_measure_end;

/* All zero: there is none. */
typedef struct cli_service_measure {
    int32_t pid;     /* of the child; 0: none */
    int out, err;    /* what it prints */
    int32_t *worker; /* that it measures */
    int32_t n;
    char former[CPUBIND_LAST_PATH_SIZE]; /* the file of the settings before */
} cli_service_measure;

/* Chooses the workers: all that are bound. To be called before the service lets go of them.
 *   returns 0 when there are none, or no memory */
int cli_measure_choose(cli_service_measure *m, cpubind_host_bind *host);

/* Starts the child. On failure no worker is chosen any more.
 *   in      root: in place of this host, or NULL
 *   errors  of writing the settings; "pipe"; "exec" */
cpubind_linux_fault cli_measure_start(cli_service_measure *m, const cpubind_bytes *before,
                                      const cpubind_bytes *after, const char *root);

/* Whether a process is left to the measurement. */
int cli_measure_has(const cli_service_measure *m, int32_t pid);

/* Looks whether the child has ended, and waits for nothing.
 *   out     *said, after DONE, WORSE and FAILED: the result in a line, or why there is none */
cli_measure_end cli_measure_look(cli_service_measure *m, api_text *said);

/* Ends the child, which puts all back, and waits for that: 10 s at most, then it is killed. */
void cli_measure_stop(cli_service_measure *m);

#endif /* CPUBIND_CLI_SERVICE_MEASURE_H */
