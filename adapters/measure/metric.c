/* metric.c - the figures that a user cares about: of a page, of a command, of a log
 * SPDX-License-Identifier: MIT
 *
 * Makes every system call through the table of its caller.
 */
#define _GNU_SOURCE
#include "metric.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../linux/kernel/files.h"
#include "../linux/source/command.h"
#include "../text/prometheus.h"

/* == Names that are known =================================================== */

typedef struct known {
    const char *figure; /* of two that are on a page, the first one counts */
    const char *name;
    cpubind_prometheus_kind
        kind; /* as what it counts: older SGLang calls its counter a gauge */
    cpubind_better better;
    const char *unit; /* of a gauge that has one */
} known;

#define HISTOGRAM CPUBIND_PROMETHEUS_HISTOGRAM
#define COUNTER   CPUBIND_PROMETHEUS_COUNTER
#define GAUGE     CPUBIND_PROMETHEUS_GAUGE
#define LOWER     CPUBIND_BETTER_LOWER
#define HIGHER    CPUBIND_BETTER_HIGHER
#define NEITHER   CPUBIND_BETTER_NEITHER

/* vllm/v1/metrics/loggers.py: 0.11 renamed time_per_output_token and shows both for a while.
 * sglang/srt/observability/metrics_collector.py: earlier versions had the time per output token
 * of a request instead. */
static const known names[] = {
    {"time_per_output_token", "vllm:inter_token_latency_seconds", HISTOGRAM, LOWER, NULL},
    {"time_per_output_token", "vllm:time_per_output_token_seconds", HISTOGRAM, LOWER, NULL},
    {"time_to_first_token", "vllm:time_to_first_token_seconds", HISTOGRAM, LOWER, NULL},
    {"tokens", "vllm:generation_tokens_total", COUNTER, HIGHER, NULL},
    {"requests_running", "vllm:num_requests_running", GAUGE, NEITHER, NULL},
    {"time_per_output_token", "sglang:inter_token_latency_seconds", HISTOGRAM, LOWER, NULL},
    {"time_per_output_token", "sglang:time_per_output_token_seconds", HISTOGRAM, LOWER, NULL},
    {"time_to_first_token", "sglang:time_to_first_token_seconds", HISTOGRAM, LOWER, NULL},
    {"tokens", "sglang:generation_tokens_total", COUNTER, HIGHER, NULL},
    {"tokens", "sglang:gen_throughput", GAUGE, HIGHER, "/s"},
    {"requests_running", "sglang:num_running_reqs", GAUGE, NEITHER, NULL},
};
enum { N_KNOWN = sizeof names / sizeof *names };

/* What every program of prometheus_client says; another value: it was started anew. */
static const char start_name[] = "process_start_time_seconds";

/* == A metric =============================================================== */

/* A name of a page. */
typedef struct page_name {
    known of;      /* kind ABSENT: not seen yet */
    int is_chosen; /* gives figures */
} page_name;

typedef struct page {
    int is_file;
    char figure[64]; /* of a name that is not known */
    int32_t n_name;  /* the last one is start_name */
    page_name name[N_KNOWN + 1];
    cpubind_prometheus_reading *reading[2]; /* of each name, at the beginning and the end */
} page;

typedef struct log_file {
    regex_t regex;
    int is_compiled;
    int fd;      /* -1: not open */
    off_t place; /* up to which it was read */
    double *value;
    int32_t n, cap;
} log_file;

struct cpubind_metric {
    const cpubind_sys *sys;
    const struct kind *kind;
    char prefix[16];
    char *text;       /* without "lower:" and "#NAME" */
    const char *name; /* in `text`, behind its NUL; NULL: none */
    cpubind_better better;
    int is_better_given;
    int64_t begin_ms;
    cpubind_metric_why why; /* of the beginning; empty: it was read */
    page page;
    log_file log;
};

static void say(cpubind_metric_why *why, const char *text)
{
    (void)snprintf(why->text, sizeof why->text, "%s", text);
}

static void say_fault(cpubind_metric_why *why, cpubind_linux_fault fault)
{
    (void)snprintf(why->text, sizeof why->text, "%s: %s", fault.what, strerror(fault.error));
}

/* Foreign bytes as one visible line. */
static void show(char *out, size_t size, const char *text, int32_t len)
{
    size_t n = 0;
    for (int32_t i = 0; i < len && text[i] != '\n' && n + 1 < size; i++)
        out[n++] = (char)(text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?');
    out[n] = '\0';
}

typedef struct part {
    const char *ending, *unit;
    double scale;
} part;

/* Adds a figure; not counted where `why` says so, or the value is no finite number. */
static void add(const cpubind_metric *m, cpubind_figures *out, const char *figure, part of,
                cpubind_better better, double value, const char *why)
{
    char name[sizeof out->at->name];
    (void)snprintf(name, sizeof name, "%s%.40s%s", m->prefix, figure, of.ending);
    if (m->is_better_given)
        better = m->better;
    if (!why && !isfinite(value * of.scale))
        why = "it is not a finite number";
    if (why)
        (void)cpubind_figure_missing(out, name, of.unit, better, why);
    else
        (void)cpubind_figure_add(out, name, of.unit, better, value * of.scale);
}

/* == A command ============================================================== */

/* Says why a command has printed nothing that can be used. */
static void say_command(cpubind_metric_why *why, const cpubind_command *c)
{
    char absent[64], shown[100];
    const char *states[] = {
        [CPUBIND_INPUT_ABSENT] = absent,
        [CPUBIND_INPUT_TIMEOUT] = "it was ended after 60 s",
        [CPUBIND_INPUT_TOO_LONG] = "it printed more than 16 MB",
    };
    (void)snprintf(absent, sizeof absent, "there is no command \"%.40s\"", c->argv[0]);
    if (c->input.state == CPUBIND_INPUT_PRESENT && c->input.exit_code == 0) {
        show(shown, sizeof shown, c->bytes.data, c->bytes.len);
        (void)snprintf(why->text, sizeof why->text, "it printed no number: \"%s\"", shown);
    } else if (c->input.state == CPUBIND_INPUT_PRESENT) {
        show(shown, sizeof shown, c->input.err, c->input.err_len);
        (void)snprintf(why->text, sizeof why->text, "it ended with %d: %s",
                       (int)c->input.exit_code, shown);
    } else if (c->input.state == CPUBIND_INPUT_FAILED) {
        say_fault(why, cpubind_input_fault(c->input));
    } else {
        say(why, states[c->input.state]);
    }
}

/* Runs a command, whose output is in c->bytes. Returns whether it ended well. */
static int run(const cpubind_metric *m, const char *const *argv, cpubind_command *c)
{
    *c = (cpubind_command){.argv = argv};
    cpubind_commands_run(c, 1, CPUBIND_METRIC_COMMAND_MS, m->sys);
    return c->input.state == CPUBIND_INPUT_PRESENT && c->input.exit_code == 0;
}

/* == A page ================================================================= */

/* Opens a regular file; anything else could keep a reader waiting. */
static cpubind_linux_fault open_regular(const cpubind_sys *sys, const char *path, int *fd,
                                        struct stat *st)
{
    cpubind_linux_fault fault =
        cpubind_open(sys, AT_FDCWD, path, O_NONBLOCK | O_NOCTTY | O_CLOEXEC, fd);
    if (fault.error)
        return fault;
    if (sys->fstat(*fd, st) < 0)
        fault = cpubind_fault_errno("fstat");
    else if (!S_ISREG(st->st_mode))
        fault = cpubind_fault_of(S_ISDIR(st->st_mode) ? EISDIR : EINVAL, "open");
    if (!fault.error)
        return fault;
    (void)sys->close(*fd);
    *fd = -1;
    return fault;
}

/* The names that give figures: the first one of each figure that the page has. Chosen once. */
static void choose(page *p, const cpubind_prometheus_reading *reading)
{
    for (int32_t i = 0; i < p->n_name - 1; i++) {
        page_name *name = &p->name[i];
        int is_taken = reading[i].kind == CPUBIND_PROMETHEUS_ABSENT;
        for (int32_t k = 0; k < p->n_name - 1; k++)
            is_taken |= p->name[k].is_chosen &&
                        (k == i || strcmp(p->name[k].of.figure, name->of.figure) == 0);
        if (is_taken)
            continue;
        name->is_chosen = 1;
        if (name->of.kind == CPUBIND_PROMETHEUS_ABSENT)
            name->of.kind = reading[i].kind;
    }
}

/* Gets the page of a server, by curl(1): of its own settings and proxies none count. */
static void ask_server(const cpubind_metric *m, cpubind_bytes *bytes, cpubind_metric_why *why)
{
    const char *const argv[] = {"curl",
                                "-q",
                                "-sS",
                                "--fail",
                                "-gL",
                                "--max-redirs",
                                "5",
                                "--proto",
                                "=http,https",
                                "--noproxy",
                                "*",
                                "--max-time",
                                CPUBIND_METRIC_PAGE_SECONDS,
                                m->text,
                                NULL};
    cpubind_command c;
    if (!run(m, argv, &c))
        say_command(why, &c);
    *bytes = c.bytes;
}

static void read_file(const cpubind_metric *m, cpubind_bytes *bytes, cpubind_metric_why *why)
{
    struct stat st;
    int fd;
    cpubind_linux_fault fault = open_regular(m->sys, m->text, &fd, &st);
    if (!fault.error) {
        fault = cpubind_read_all(m->sys, fd, CPUBIND_METRIC_MAX, bytes);
        (void)m->sys->close(fd);
    }
    if (fault.error)
        say_fault(why, fault);
}

/* Reads the page. */
static void read_page(cpubind_metric *m, int is_end, cpubind_metric_why *why)
{
    page *p = &m->page;
    cpubind_prometheus_reading *reading = p->reading[is_end];
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_text_fault fault;
    why->text[0] = '\0';
    if (p->is_file)
        read_file(m, &bytes, why);
    else
        ask_server(m, &bytes, why);
    if (!why->text[0] && cpubind_prometheus_read(bytes.data, bytes.len, reading, p->n_name,
                                                 &fault) != CPUBIND_TEXT_OK) {
        const cpubind_position place = cpubind_text_place(bytes.data, bytes.len, fault.offset);
        (void)snprintf(why->text, sizeof why->text, "line %d, column %d of the page: %s",
                       (int)place.line, (int)place.column, fault.what);
    }
    if (!why->text[0])
        choose(p, reading);
    cpubind_bytes_free(&bytes);
}

static int is_seconds(const char *name)
{
    static const char ending[] = "_seconds";
    const size_t n = strcspn(name, "{"), k = sizeof ending - 1;
    return n > k && memcmp(name + n - k, ending, k) == 0;
}

/* The figures of one name. */
static void add_name(const cpubind_metric *m, const page_name *name, int32_t i, double seconds,
                     const char *why, cpubind_figures *out)
{
    static const part rate = {"", "/s", 1};
    const cpubind_prometheus_reading *before = &m->page.reading[0][i];
    const cpubind_prometheus_reading *after = &m->page.reading[1][i];
    const known *of = &name->of;
    cpubind_prometheus_block block = {.problem = why};
    if (of->kind == GAUGE || of->kind == CPUBIND_PROMETHEUS_ABSENT) {
        if (!why && (!before->kind || !after->kind))
            why = "the page does not have it";
        add(m, out, of->figure, (part){"", of->unit ? of->unit : "", 1}, of->better,
            why ? 0 : (before->value + after->value) / 2, why);
        return;
    }
    if (!why)
        block = cpubind_prometheus_between(before, after);
    if (of->kind != HISTOGRAM) {
        add(m, out, of->figure, rate, of->better, block.count / seconds, block.problem);
        return;
    }
    static const char above[] = "it is above the highest bound of the histogram";
    const int in_ms = is_seconds(of->name);
    const struct {
        const char *ending;
        double value;
        int32_t is_least;
    } rows[] = {{".mean", block.mean, 0},
                {".p50", block.p50, block.p50_is_least},
                {".p99", block.p99, block.p99_is_least}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        add(m, out, of->figure, (part){rows[k].ending, in_ms ? "ms" : "", in_ms ? 1e3 : 1},
            of->better, rows[k].value,
            block.problem      ? block.problem
            : rows[k].is_least ? above
                               : NULL);
}

static void begin_page(cpubind_metric *m)
{
    read_page(m, 0, &m->why);
}

static void end_page(cpubind_metric *m, cpubind_figures *out)
{
    page *p = &m->page;
    cpubind_metric_why end;
    const char *why = NULL;
    int n = 0;
    read_page(m, 1, &end);
    const int64_t ms = cpubind_now_ms() - m->begin_ms;
    const double seconds = (double)(ms > 0 ? ms : 1) / 1e3;
    const cpubind_prometheus_reading *start = p->reading[0] + p->n_name - 1;
    const cpubind_prometheus_reading *now = p->reading[1] + p->n_name - 1;
    if (m->why.text[0])
        why = m->why.text;
    else if (end.text[0])
        why = end.text;
    else if (start->kind && now->kind && start->value != now->value)
        why = "its program started anew";
    for (int32_t i = 0; i < p->n_name - 1; i++)
        if (p->name[i].is_chosen || m->name) {
            add_name(m, &p->name[i], i, seconds, why, out);
            n++;
        }
    if (n == 0)
        add(m, out, "page", (part){"", "", 1}, NEITHER, 0,
            why ? why : "it has no name of vLLM or SGLang that is known: put NAME behind a #");
}

/* "vllm:x{engine="0"}" is "vllm_x_engine_0". */
static void make_figure(const char *name, char out[64])
{
    size_t n = 0;
    for (; *name && n + 1 < 64; name++) {
        const char c = (char)(*name >= 'A' && *name <= 'Z' ? *name - 'A' + 'a' : *name);
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            out[n++] = c;
        else if (n > 0 && out[n - 1] != '_')
            out[n++] = '_';
    }
    n -= n > 0 && out[n - 1] == '_';
    out[n] = '\0';
}

/* The one name of the user. */
static void set_name(cpubind_metric *m)
{
    page *p = &m->page;
    make_figure(m->name, p->figure);
    p->name[0].of = (known){p->figure, m->name, CPUBIND_PROMETHEUS_ABSENT,
                            is_seconds(m->name) ? LOWER : NEITHER, NULL};
    for (int i = 0; i < N_KNOWN; i++)
        if (strcmp(names[i].name, m->name) == 0)
            p->name[0].of = names[i];
    p->n_name = 1;
}

/* What an address without a path has behind it. */
#define PATH "/metrics"

/* Reads the address of a page. Returns 0, with why, where it is none. */
static int read_address(cpubind_metric *m, cpubind_metric_why *why)
{
    static const char *const schemes[] = {"file:", "http://", "https://"};
    size_t n = 0, i = 0;
    while (i < sizeof schemes / sizeof *schemes && n == 0) {
        n = strncmp(m->text, schemes[i], strlen(schemes[i])) == 0 ? strlen(schemes[i]) : 0;
        i++;
    }
    m->page.is_file = n > 0 && i == 1;
    if (n == 0)
        say(why, "an address begins with http://, https:// or file:/");
    else if (m->page.is_file && m->text[n] != '/')
        say(why, "the path behind file: does not start with /");
    else if (m->page.is_file)
        memmove(m->text, m->text + n, strlen(m->text + n) + 1);
    else if (!strchr(m->text + n, '/'))
        memcpy(m->text + strlen(m->text), PATH, sizeof PATH);
    return n > 0 && (!m->page.is_file || m->text[0] == '/');
}

static cpubind_linux_status open_page(cpubind_metric *m, cpubind_metric_why *why)
{
    page *p = &m->page;
    cpubind_text_fault fault = {0, NULL};
    char *hash = strchr(m->text, '#');
    if (hash) {
        *hash = '\0'; /* room for a path is between */
        m->name = (const char *)memmove(hash + sizeof PATH, hash + 1, strlen(hash + 1) + 1);
        if (cpubind_prometheus_name_check(m->name, &fault) != CPUBIND_TEXT_OK) {
            (void)snprintf(why->text, sizeof why->text, "byte %d behind the #: %s",
                           (int)fault.offset + 1, fault.what);
            return CPUBIND_LINUX_ERR_ARG;
        }
    }
    if (!read_address(m, why))
        return CPUBIND_LINUX_ERR_ARG;
    if (m->name) {
        set_name(m);
    } else {
        for (; p->n_name < N_KNOWN; p->n_name++)
            p->name[p->n_name].of = names[p->n_name];
    }
    p->name[p->n_name++].of.name = start_name;
    for (int k = 0; k < 2; k++) {
        p->reading[k] = m->sys->malloc((size_t)p->n_name * sizeof *p->reading[k]);
        if (!p->reading[k])
            return CPUBIND_LINUX_ERR_MEMORY;
        for (int32_t i = 0; i < p->n_name; i++)
            p->reading[k][i] = (cpubind_prometheus_reading){.name = p->name[i].of.name};
    }
    return CPUBIND_LINUX_OK;
}

static void close_page(cpubind_metric *m)
{
    free(m->page.reading[0]);
    free(m->page.reading[1]);
}

/* == A number of a command ================================================== */

/* Reads a number with nothing but white space around it. Returns whether it is one. */
static int read_number(const char *text, int32_t len, double *out)
{
    int32_t n = 0;
    while (len > 0 && strchr(" \t\r\n", text[len - 1]))
        len--;
    while (len > 0 && strchr(" \t\r\n", *text))
        text++, len--;
    return cpubind_decimal_parse(text, len, out, &n, NULL) == CPUBIND_TEXT_OK && n == len &&
           isfinite(*out);
}

static void end_command(cpubind_metric *m, cpubind_figures *out)
{
    const char *const argv[] = {"sh", "-c", m->text, NULL};
    cpubind_command c;
    cpubind_metric_why why;
    double value = 0;
    const int is_read = run(m, argv, &c) && read_number(c.bytes.data, c.bytes.len, &value);
    if (!is_read)
        say_command(&why, &c);
    add(m, out, "command", (part){"", "", 1}, NEITHER, value, is_read ? NULL : why.text);
    cpubind_bytes_free(&c.bytes);
}

/* == A log ================================================================== */

/* Looks at the file that has the name now. */
static void begin_log(cpubind_metric *m)
{
    struct stat st = {.st_size = 0};
    log_file *log = &m->log;
    if (log->fd >= 0)
        (void)m->sys->close(log->fd);
    const cpubind_linux_fault fault = open_regular(m->sys, m->text, &log->fd, &st);
    if (fault.error)
        say_fault(&m->why, fault);
    log->place = st.st_size;
}

/* Reads from the place of the log to its end. In the middle of a file the byte before the place
 * is read as well: what follows it up to a line feed is the rest of a line that was there. */
static cpubind_linux_fault read_new(const cpubind_sys *sys, log_file *log, cpubind_bytes *bytes)
{
    off_t at = log->place > 0 ? log->place - 1 : 0;
    for (;;) {
        ssize_t got;
        cpubind_linux_fault fault = cpubind_bytes_reserve(bytes, sys, 65536);
        if (fault.error)
            return fault;
        CPUBIND_RETRY(got, sys->pread(log->fd, bytes->data + bytes->len, 65536, at));
        if (got < 0)
            return cpubind_fault_errno("read");
        if (got == 0)
            return cpubind_no_fault;
        bytes->len += (int32_t)got;
        at += got;
        if (bytes->len > CPUBIND_METRIC_MAX)
            return cpubind_fault_of(EFBIG, "read");
    }
}

/* Takes the number of a line that matches. */
static cpubind_linux_fault take_line(cpubind_metric *m, const char *line)
{
    log_file *log = &m->log;
    regmatch_t match[2];
    double value;
    if (regexec(&log->regex, line, 2, match, 0) != 0 || match[1].rm_so < 0 ||
        !read_number(line + match[1].rm_so, (int32_t)(match[1].rm_eo - match[1].rm_so), &value))
        return cpubind_no_fault;
    return CPUBIND_APPEND(m->sys, log->value, log->n, log->cap, &value);
}

/* Takes the new lines of the open file that are whole. */
static cpubind_linux_fault take_lines(cpubind_metric *m)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_linux_fault fault = read_new(m->sys, &m->log, &bytes);
    int is_rest = m->log.place > 0;
    int32_t at = 0;
    while (!fault.error && at < bytes.len) {
        char *feed = memchr(bytes.data + at, '\n', (size_t)(bytes.len - at));
        if (!feed)
            break;
        *feed = '\0';
        if (!is_rest)
            fault = take_line(m, bytes.data + at);
        is_rest = 0;
        at = (int32_t)(feed - bytes.data) + 1;
    }
    cpubind_bytes_free(&bytes);
    return fault;
}

/* Takes the new lines of the log; of the file that has its name now, too. */
static cpubind_linux_fault read_log(cpubind_metric *m)
{
    log_file *log = &m->log;
    struct stat was, now;
    cpubind_linux_fault fault;
    int fd;
    log->n = 0;
    if (m->sys->fstat(log->fd, &was) < 0)
        return cpubind_fault_errno("fstat");
    if (was.st_size < log->place)
        log->place = 0;
    fault = take_lines(m);
    if (!fault.error)
        fault = open_regular(m->sys, m->text, &fd, &now);
    if (fault.error == ENOENT && strcmp(fault.what, "open") == 0)
        return cpubind_no_fault; /* renamed, and not made anew yet */
    if (fault.error)
        return fault;
    if (now.st_ino == was.st_ino && now.st_dev == was.st_dev) {
        (void)m->sys->close(fd);
        return fault;
    }
    (void)m->sys->close(log->fd);
    log->fd = fd;
    log->place = 0;
    return take_lines(m);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void end_log(cpubind_metric *m, cpubind_figures *out)
{
    static const int32_t n_p99 = 100;
    log_file *log = &m->log;
    cpubind_metric_why why = m->why;
    double sum = 0;
    if (!why.text[0]) {
        const cpubind_linux_fault fault = read_log(m);
        if (fault.error)
            say_fault(&why, fault);
        else if (log->n == 0)
            say(&why, "no new line of it matches");
    }
    const int32_t n = why.text[0] ? 0 : log->n;
    if (n > 0)
        qsort(log->value, (size_t)n, sizeof *log->value, compare);
    for (int32_t i = 0; i < n; i++)
        sum += log->value[i];
    const struct {
        const char *ending;
        double value;
        int is_enough;
    } rows[] = {{".mean", n ? sum / n : 0, 1},
                {".p50", n ? log->value[(n - 1) / 2] : 0, 1},
                {".p99", n ? log->value[n - 1 - n / 100] : 0, n >= n_p99}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        add(m, out, "log", (part){rows[k].ending, "", 1}, NEITHER, rows[k].value,
            n == 0              ? why.text
            : rows[k].is_enough ? NULL
                                : "fewer than 100 lines match");
}

static cpubind_linux_status open_log(cpubind_metric *m, cpubind_metric_why *why)
{
    log_file *log = &m->log;
    char *hash = strchr(m->text, '#');
    int error;
    if (!hash) {
        say(why, "a log is log:FILE#REGEX");
        return CPUBIND_LINUX_ERR_ARG;
    }
    *hash = '\0';
    error = regcomp(&log->regex, hash + 1, REG_EXTENDED);
    if (error) {
        (void)regerror(error, &log->regex, why->text, sizeof why->text);
        return error == REG_ESPACE ? CPUBIND_LINUX_ERR_MEMORY : CPUBIND_LINUX_ERR_ARG;
    }
    log->is_compiled = 1;
    if (log->regex.re_nsub == 0) {
        say(why, "the regular expression has no group, as in ([0-9.]+)");
        return CPUBIND_LINUX_ERR_ARG;
    }
    begin_log(m);
    *why = m->why;
    return why->text[0] ? CPUBIND_LINUX_ERR_OPEN : CPUBIND_LINUX_OK;
}

static void close_log(cpubind_metric *m)
{
    if (m->log.fd >= 0)
        (void)m->sys->close(m->log.fd);
    if (m->log.is_compiled)
        regfree(&m->log.regex);
    free(m->log.value);
}

/* == Any metric ============================================================= */

static cpubind_linux_status open_nothing(cpubind_metric *m, cpubind_metric_why *why)
{
    (void)m, (void)why;
    return CPUBIND_LINUX_OK;
}

static void do_nothing(cpubind_metric *m)
{
    (void)m;
}

/* What the text begins with, and what it is then; the last row is of any other text. */
static const struct kind {
    const char *word;
    cpubind_linux_status (*open)(cpubind_metric *m, cpubind_metric_why *why);
    void (*begin)(cpubind_metric *m);
    void (*end)(cpubind_metric *m, cpubind_figures *out);
    void (*close)(cpubind_metric *m);
} kinds[] = {
    {"command:", open_nothing, do_nothing, end_command, do_nothing},
    {"log:", open_log, begin_log, end_log, close_log},
    {"", open_page, begin_page, end_page, close_page},
};

/* The text behind "lower:" or "higher:". */
static const char *take_better(cpubind_metric *m, const char *text)
{
    static const struct {
        const char *word;
        cpubind_better better;
    } words[] = {{"lower:", LOWER}, {"higher:", HIGHER}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t n = strlen(words[i].word);
        if (strncmp(text, words[i].word, n) != 0)
            continue;
        m->better = words[i].better;
        m->is_better_given = 1;
        return text + n;
    }
    return text;
}

cpubind_linux_status cpubind_metric_open(const cpubind_sys *sys, const char *asked,
                                         const char *prefix, cpubind_metric **out,
                                         cpubind_metric_why *why)
{
    cpubind_metric *m = sys->malloc(sizeof *m);
    cpubind_linux_status status = CPUBIND_LINUX_ERR_MEMORY;
    *out = NULL;
    say(why, "there is no memory left");
    if (!m)
        return status;
    memset(m, 0, sizeof *m);
    m->sys = sys;
    m->kind = kinds;
    m->log.fd = -1;
    (void)snprintf(m->prefix, sizeof m->prefix, "%s", prefix);
    const char *text = take_better(m, asked);
    while (strncmp(text, m->kind->word, strlen(m->kind->word)) != 0)
        m->kind++;
    text += strlen(m->kind->word);
    const size_t size = strlen(text) + 1;
    m->text = sys->malloc(size + sizeof PATH);
    if (m->text) {
        memcpy(m->text, text, size);
        status = m->kind->open(m, why);
    }
    if (status == CPUBIND_LINUX_OK)
        *out = m;
    else
        cpubind_metric_close(m);
    return status;
}

const char *cpubind_metric_begin(cpubind_metric *metric)
{
    metric->why.text[0] = '\0';
    metric->kind->begin(metric);
    metric->begin_ms = cpubind_now_ms();
    return metric->why.text[0] ? metric->why.text : NULL;
}

void cpubind_metric_end(cpubind_metric *metric, cpubind_figures *out)
{
    metric->kind->end(metric, out);
}

void cpubind_metric_close(cpubind_metric *metric)
{
    if (!metric)
        return;
    metric->kind->close(metric);
    free(metric->text);
    free(metric);
}
