/* metric.h - the figures that a user cares about: of a page, of a command, of a log
 * SPDX-License-Identifier: MIT
 *
 * Each is read at the beginning and at the end of a block, and gives the figures of the block,
 * or says why it could not be counted. A figure is named after the metric: "tokens",
 * "time_to_first_token.p99".
 *
 *   page     URL or URL#NAME, a page of Prometheus (../text/prometheus.h); the URL is
 *            http://HOST:PORT/PATH or https://..., which curl(1) gets, or file:/PATH. Without
 *            a path it is /metrics. A histogram gives .mean, .p50 and .p99 of the block, a
 *            counter its growth a second, a gauge the mean of its two readings. Without NAME:
 *            what the page has of the names of vLLM and SGLang that metric.c knows
 *   command  command:CMD, run by sh at the end of the block, in the C locale; prints one number
 *   log      log:FILE#REGEX, a file and an extended regular expression of regex(7), whose first
 *            group is a number, in lines that are new in the block: .mean, .p50, .p99. A file
 *            that is renamed, and made anew, is read to its end first; one that is cut is read
 *            from its start
 *
 * "lower:" or "higher:" before the text says which is better; else that is known for the names
 * of vLLM and SGLang and for histograms of seconds, and other figures are never judged.
 */
#ifndef CPUBIND_MEASURE_METRIC_H
#define CPUBIND_MEASURE_METRIC_H

#include "../linux/linux.h"
#include "../linux/sys.h"
#include "figure.h"

/* How long a server is waited for, and a command; longest page, output, new part of a log. */
#define CPUBIND_METRIC_PAGE_SECONDS "2"
#define CPUBIND_METRIC_COMMAND_MS   60000
#define CPUBIND_METRIC_MAX          (16 << 20)

typedef struct cpubind_metric cpubind_metric;

/* Why something failed: one clause, NUL-terminated. */
typedef struct cpubind_metric_why {
    char text[128];
} cpubind_metric_why;

/* Opens the metric of a text, which is copied; reads nothing but a log's size.
 *   in      prefix: of the names of the figures, "" or "b."; tells two metrics apart
 *   out     *out, to be closed; NULL on failure
 *   errors  ERR_ARG: the text or the regex makes no sense; ERR_OPEN: the log cannot be opened;
 *           ERR_MEMORY; with *why */
cpubind_linux_status cpubind_metric_open(const cpubind_sys *sys, const char *text,
                                         const char *prefix, cpubind_metric **out,
                                         cpubind_metric_why *why);

/* Reads at the beginning of a block. Returns why that failed, or NULL; cpubind_metric_end says
 * it of each figure.
 *   cost    at most CPUBIND_METRIC_PAGE_SECONDS; the reading of a page */
const char *cpubind_metric_begin(cpubind_metric *metric);

/* Reads at the end of the block that was begun last, and adds its figures: those of every
 * block, once a page was read.
 *   cost    at most CPUBIND_METRIC_PAGE_SECONDS; of a command CPUBIND_METRIC_COMMAND_MS */
void cpubind_metric_end(cpubind_metric *metric, cpubind_figures *out);

/* NULL is allowed. */
void cpubind_metric_close(cpubind_metric *metric);

#endif /* CPUBIND_MEASURE_METRIC_H */
