/* prometheus.h - pages of figures in the text format of Prometheus and of OpenMetrics
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. The format is that of Prometheus ("Exposition formats", version 0.0.4) and
 * what OpenMetrics 1.0 adds to it; the grammar is in prometheus.c. What a page says that nobody
 * asked for is read over: exemplars, times, comments, names in quotes.
 *
 * A counter only grows, until its program starts anew. So what happened in a block of time is
 * the difference of two readings of one page: cpubind_prometheus_between.
 */
#ifndef CPUBIND_TEXT_PROMETHEUS_H
#define CPUBIND_TEXT_PROMETHEUS_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds of one histogram; those of vLLM and SGLang have at most 32. */
#define CPUBIND_PROMETHEUS_BUCKETS 128

typedef enum cpubind_prometheus_kind {
    CPUBIND_PROMETHEUS_ABSENT = 0, /* the page does not have the name */
    CPUBIND_PROMETHEUS_GAUGE = 1,
    CPUBIND_PROMETHEUS_COUNTER = 2,
    CPUBIND_PROMETHEUS_HISTOGRAM = 3,
    CPUBIND_PROMETHEUS_SUMMARY = 4 /* its quantiles are of times that the program chose: they
                                      cannot be told for a block */
} cpubind_prometheus_kind;

typedef struct cpubind_prometheus_bucket {
    double bound;   /* its observations are at most this; +Inf in the last one */
    double count;   /* observations up to the bound, those of lower buckets included */
    int32_t series; /* how many series have the bound */
} cpubind_prometheus_bucket;

/* What a page says of one name, as the sum of all series that have it: of all engines and
 * models, unless labels choose. */
typedef struct cpubind_prometheus_reading {
    const char *name; /* in: NAME, or NAME{LABEL="VALUE",...} for the series with these labels;
                         NUL-terminated. A counter is found without its "_total", too */
    cpubind_prometheus_kind kind; /* by the line TYPE of the page, else by the name's ending */
    int32_t n_series;             /* series of a gauge or counter */
    double value; /* the gauge (may be NaN or infinite) or the counter; a histogram: how many
                     observations */
    double sum;   /* a histogram: the sum of the observations */
    int32_t n_bucket; /* of a histogram: 1 or more, bounds and counts ascending, the last bound
                         +Inf, its count `value` */
    cpubind_prometheus_bucket bucket[CPUBIND_PROMETHEUS_BUCKETS];
    const char *problem; /* why the numbers make no sense, static text: "its buckets do not
                            ascend"; NULL: all is well */
} cpubind_prometheus_reading;

/* Whether a text is a name as `name` above.
 *   errors  ERR_ARG, ERR_SYNTAX, with the byte in the name */
cpubind_text_status cpubind_prometheus_name_check(const char *name, cpubind_text_fault *fault);

/* Reads what a page says of n names.
 *   in      out[0 .. n - 1] with valid names; 0 <= n
 *   out     the other fields of out[i]; on failure, those of a part of the page
 *   errors  ERR_ARG; ERR_SYNTAX; ERR_CUT when the last line has no line feed
 *   cost    O(len * n) */
cpubind_text_status cpubind_prometheus_read(const char *text, int32_t len,
                                            cpubind_prometheus_reading *out, int32_t n,
                                            cpubind_text_fault *fault);

/* What happened between two readings of one name. */
typedef struct cpubind_prometheus_block {
    const char *problem; /* why nothing can be said, static text; NULL: the rest is there */
    double count; /* by how much the counter grew; a histogram: observations, 1 or more */
    double mean, p50, p99; /* of a histogram's observations. Inside a bucket they count as
                              spread evenly, the lowest bucket from 0 on, as by
                              histogram_quantile() of Prometheus */
    int32_t p50_is_least, p99_is_least; /* the quantile is above the highest finite bound,
                                           which is given */
} cpubind_prometheus_block;

/* Compares two readings of one name.
 *   out     a gauge counts as a counter; a summary is a problem, as are a counter that fell
 *           (its program has started anew), other series or bounds than before, and a histogram
 *           without a new observation */
cpubind_prometheus_block cpubind_prometheus_between(const cpubind_prometheus_reading *before,
                                                    const cpubind_prometheus_reading *after);

/* Reads one number of the format at the start of a text: "0.25", "1e-3", "+Inf", "NaN".
 *   out     *out, exact up to 15 digits and powers of ten up to 22, else to some units of the
 *           last place; *len its bytes
 *   errors  ERR_ARG, ERR_SYNTAX */
cpubind_text_status cpubind_decimal_parse(const char *text, int32_t len, double *out,
                                          int32_t *out_len, cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_TEXT_PROMETHEUS_H */
