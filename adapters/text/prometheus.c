/* prometheus.c - pages of figures in the text format of Prometheus and of OpenMetrics
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc, no errno, no locale.
 *
 * GRAMMAR
 *   page    = *( line LF )
 *   line    = [ comment | sample ]                      blanks before and after it
 *   comment = "#" *BYTE                                 "# TYPE" name kind: the kind of a name
 *   sample  = ( name blanks / [ name ] labels ) number [ blanks number ] [ blanks "#" *BYTE ]
 *                       the value, a time, an exemplar; labels alone have the name in quotes
 *   labels  = "{" [ label *( "," label ) [ "," ] ] "}"  blanks around each word
 *   label   = ( name / quoted ) "=" quoted / quoted     the second one is the series' name
 *   name    = ( LETTER / "_" / ":" ) *( LETTER / DIGIT / "_" / ":" )
 *   quoted  = '"' *( any BYTE but '"', "\" and LF / "\\" / '\"' / "\n" ) '"'
 *   number  = [ "+" / "-" ] ( "NaN" / "Inf" / "Infinity" / decimal )     letters of any case
 *   decimal = ( 1*DIGIT [ "." *DIGIT ] / "." 1*DIGIT ) [ "e" [ "+" / "-" ] 1*DIGIT ]
 */
#include "prometheus.h"

#include "scan.h"

/* == Numbers ================================================================ */

#define INFINITE __builtin_inf()

/* m * 10^e. Each step rounds once; up to 10^22 a power of ten is exact. */
static double scale(uint64_t m, int32_t e)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double value = (double)m;
    if (m == 0)
        return 0;
    for (; e > 22 && value < INFINITE; e -= 22)
        value *= 1e22;
    for (; e < -22 && value > 0; e += 22)
        value /= 1e22;
    if (e > 22 || e < -22)
        return value;
    return e >= 0 ? value * power[e] : value / power[-e];
}

/* Digits at *at: adds them to the mantissa while it holds them exactly. Returns how many were
 * added; the others count in *n_dropped. */
static int32_t take_digits(const scan_text *in, int32_t *at, int32_t end, uint64_t *mantissa,
                           int32_t *n_dropped)
{
    int32_t n = 0;
    for (; *at < end && scan_is_digit(in->text[*at]); (*at)++) {
        if (*mantissa < UINT64_C(1000000000000000000)) {
            *mantissa = *mantissa * 10 + (uint64_t)(in->text[*at] - '0');
            n++;
        } else {
            (*n_dropped)++;
        }
    }
    return n;
}

/* [ "e" [ "+" / "-" ] 1*DIGIT ]. An exponent beyond any double stays beyond. */
static cpubind_text_status read_exponent(const scan_text *in, int32_t *at, int32_t end,
                                         int32_t *out)
{
    int32_t i = *at, value = 0, first;
    int is_negative;
    if (i == end || scan_to_lower(in->text[i]) != 'e')
        return CPUBIND_TEXT_OK;
    i++;
    is_negative = i < end && in->text[i] == '-';
    i += i < end && (in->text[i] == '-' || in->text[i] == '+');
    for (first = i; i < end && scan_is_digit(in->text[i]); i++)
        if (value < 1 << 24)
            value = value * 10 + (in->text[i] - '0');
    if (i == first)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, i, "an exponent has no digits");
    *out += is_negative ? -value : value;
    *at = i;
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status read_decimal(const scan_text *in, int32_t *at, int32_t end,
                                        double *out)
{
    const int32_t start = *at;
    uint64_t mantissa = 0;
    int32_t i = start, exponent = 0, dropped = 0, n_digit;
    cpubind_text_status status;
    (void)take_digits(in, &i, end, &mantissa, &exponent);
    n_digit = i - start;
    if (i < end && in->text[i] == '.') {
        const int32_t point = i++;
        exponent -= take_digits(in, &i, end, &mantissa, &dropped);
        n_digit += i - point - 1;
    }
    if (n_digit == 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, start, "a number is missing");
    status = read_exponent(in, &i, end, &exponent);
    if (status != CPUBIND_TEXT_OK)
        return status;
    *out = scale(mantissa, exponent);
    if (*out >= INFINITE)
        return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, start, "a number is too large");
    *at = i;
    return CPUBIND_TEXT_OK;
}

/* A number at *at; *at moves past it. */
static cpubind_text_status read_number(const scan_text *in, int32_t *at, int32_t end,
                                       double *out)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"nan", __builtin_nan("")}, {"infinity", INFINITE}, {"inf", INFINITE}};
    int32_t i = *at;
    double value = 0;
    const int is_negative = i < end && in->text[i] == '-';
    cpubind_text_status status;
    i += i < end && (in->text[i] == '-' || in->text[i] == '+');
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (i < end && scan_starts_with_letters(in->text + i, end - i, words[k].word)) {
            *out = is_negative ? -words[k].value : words[k].value;
            *at = i + (int32_t)strlen(words[k].word);
            return CPUBIND_TEXT_OK;
        }
    status = read_decimal(in, &i, end, &value);
    if (status != CPUBIND_TEXT_OK)
        return status;
    *out = is_negative ? -value : value;
    *at = i;
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_decimal_parse(const char *text, int32_t len, double *out,
                                          int32_t *out_len, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    if (!scan_is_text(text, len) || !out || !out_len)
        return scan_fail_arg(fault);
    int32_t at = 0;
    const cpubind_text_status status = read_number(&in, &at, len, out);
    if (status == CPUBIND_TEXT_OK)
        *out_len = at;
    return status;
}

/* == Series ================================================================= */

static int is_name_byte(char c)
{
    return scan_is_letter(c) || c == '_' || c == ':';
}

static cpubind_text_status read_name(const scan_text *in, int32_t *at, int32_t end,
                                     scan_run *name)
{
    int32_t i = *at;
    if (i == end || !is_name_byte(in->text[i]))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, i, "a name is missing");
    while (i < end && (is_name_byte(in->text[i]) || scan_is_digit(in->text[i])))
        i++;
    *name = (scan_run){*at, i};
    *at = i;
    return CPUBIND_TEXT_OK;
}

/* The bytes between the quotes, as they are. */
static cpubind_text_status read_quoted(const scan_text *in, int32_t *at, int32_t end,
                                       scan_run *inside)
{
    int32_t i = *at + 1;
    if (*at == end || in->text[*at] != '"')
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, *at, "a quote is missing");
    for (; i < end && in->text[i] != '"'; i++) {
        if (in->text[i] != '\\')
            continue;
        i++;
        if (i == end || (in->text[i] != '\\' && in->text[i] != '"' && in->text[i] != 'n'))
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, i,
                             "only \\, \" and n may follow a \\");
    }
    if (i == end)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, end, "a quote is missing");
    *inside = (scan_run){*at + 1, i};
    *at = i + 1;
    return CPUBIND_TEXT_OK;
}

typedef struct label {
    scan_run key, value;
    int is_name; /* the key is the name of the series, and there is no value */
    int is_last; /* there was no label, but the "}" */
} label;

/* Reads the label at *at, after the "{" or an earlier label; *at moves past its comma. */
static cpubind_text_status next_label(const scan_text *in, int32_t *at, int32_t end, label *out)
{
    int32_t i = scan_skip_blanks(in, *at, end);
    cpubind_text_status status;
    *out = (label){.is_last = i < end && in->text[i] == '}'};
    if (out->is_last) {
        *at = i + 1;
        return CPUBIND_TEXT_OK;
    }
    const int is_quoted = i < end && in->text[i] == '"';
    status = (is_quoted ? read_quoted : read_name)(in, &i, end, &out->key);
    if (status != CPUBIND_TEXT_OK)
        return status;
    i = scan_skip_blanks(in, i, end);
    out->is_name = is_quoted && (i == end || in->text[i] != '=');
    if (!out->is_name) {
        if (i == end || in->text[i] != '=')
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, i, "a label has no =");
        i = scan_skip_blanks(in, i + 1, end);
        status = read_quoted(in, &i, end, &out->value);
        if (status != CPUBIND_TEXT_OK)
            return status;
        i = scan_skip_blanks(in, i, end);
    }
    if (i == end || (in->text[i] != ',' && in->text[i] != '}'))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, i, "the } of the labels is missing");
    *at = i + (in->text[i] == ',');
    return CPUBIND_TEXT_OK;
}

typedef struct series {
    scan_run name;
    scan_run labels; /* with their braces; empty: none */
} series;

static cpubind_text_status read_series(const scan_text *in, int32_t *at, int32_t end,
                                       series *out)
{
    const int32_t start = *at;
    cpubind_text_status status = CPUBIND_TEXT_OK;
    label one = {.is_last = 0};
    *out = (series){{start, start}, {start, start}};
    if (start == end || in->text[start] != '{')
        status = read_name(in, at, end, &out->name);
    const int32_t brace = scan_skip_blanks(in, *at, end);
    if (status != CPUBIND_TEXT_OK || brace == end || in->text[brace] != '{')
        return status;
    *at = brace + 1;
    while (status == CPUBIND_TEXT_OK && !one.is_last) {
        status = next_label(in, at, end, &one);
        if (status == CPUBIND_TEXT_OK && one.is_name) {
            if (!scan_is_empty(out->name))
                return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, one.key.at, "a label has no =");
            out->name = one.key;
        }
    }
    if (status == CPUBIND_TEXT_OK && scan_is_empty(out->name))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, start, "a name is missing");
    out->labels = (scan_run){brace, *at};
    return status;
}

typedef struct sample {
    series of;
    double value;
} sample;

/* A line that is neither empty nor a comment. */
static cpubind_text_status read_sample(const scan_text *in, scan_run line, sample *out)
{
    int32_t at = line.at;
    double time;
    cpubind_text_status status = read_series(in, &at, line.end, &out->of);
    if (status == CPUBIND_TEXT_OK) {
        const int32_t word = scan_skip_blanks(in, at, line.end);
        if (word == at && scan_is_empty(out->of.labels))
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at, "a byte does not belong here");
        at = word;
        status = read_number(in, &at, line.end, &out->value);
    }
    for (int is_timed = 0; status == CPUBIND_TEXT_OK && at < line.end; is_timed = 1) {
        const int32_t word = scan_skip_blanks(in, at, line.end);
        if (word > at && in->text[word] == '#')
            return CPUBIND_TEXT_OK;
        if (word == at || is_timed)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at, "a byte does not belong here");
        at = word;
        status = read_number(in, &at, line.end, &time);
    }
    return status;
}

/* == What is asked ========================================================== */

static int is_same(const scan_text *a, scan_run x, const scan_text *b, scan_run y)
{
    return scan_is(a, x, b->text + y.at, y.end - y.at);
}

/* The value of a label; an empty run at 0 where the series has no such label. */
static scan_run find_label(const scan_text *in, scan_run labels, const scan_text *from,
                           scan_run key)
{
    label one = {.is_last = labels.at == labels.end};
    for (int32_t at = labels.at + 1; !one.is_last;) {
        (void)next_label(in, &at, labels.end, &one); /* it was read before */
        if (!one.is_last && !one.is_name && is_same(in, one.key, from, key))
            return one.value;
    }
    return (scan_run){0, 0};
}

static scan_run find_word(const scan_text *in, scan_run labels, const char *word)
{
    const scan_text key = {word, (int32_t)strlen(word), NULL};
    return find_label(in, labels, &key, (scan_run){0, key.len});
}

/* Whether a series has the labels of a name. */
static int has_labels(const scan_text *in, const series *of, const scan_text *asked,
                      int32_t brace)
{
    label one = {.is_last = brace == asked->len};
    for (int32_t at = brace + 1; !one.is_last;) {
        (void)next_label(asked, &at, asked->len, &one);
        if (!one.is_last) {
            const scan_run value = find_label(in, of->labels, asked, one.key);
            if (value.at == 0 || !is_same(in, value, asked, one.value))
                return 0;
        }
    }
    return 1;
}

/* The bytes of a name without labels. */
static int32_t base_length(const char *name)
{
    int32_t n = 0;
    while (name[n] && name[n] != '{')
        n++;
    return n;
}

static int ends_with(const char *name, int32_t len, const char *ending)
{
    const int32_t n = (int32_t)strlen(ending);
    return len > n && memcmp(name + len - n, ending, (size_t)n) == 0;
}

cpubind_text_status cpubind_prometheus_name_check(const char *name, cpubind_text_fault *fault)
{
    if (!name || strlen(name) > CPUBIND_TEXT_MAX)
        return scan_fail_arg(fault);
    const scan_text in = {name, (int32_t)strlen(name), fault};
    series of;
    int32_t at = 0;
    scan_run base;
    cpubind_text_status status = read_name(&in, &at, in.len, &base);
    if (status != CPUBIND_TEXT_OK || at == in.len)
        return status;
    if (name[at] == '{') {
        at = 0;
        status = read_series(&in, &at, in.len, &of);
    }
    if (status == CPUBIND_TEXT_OK && at < in.len)
        status = scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, at, "a byte does not belong here");
    return status;
}

/* == One reading ============================================================ */

static void set_problem(cpubind_prometheus_reading *r, const char *problem)
{
    if (!r->problem)
        r->problem = problem;
}

/* Whether it is a number of 0 or more, and neither NaN nor infinite. */
static int is_count(double value)
{
    return value >= 0 && value < INFINITE;
}

/* NAME, of which the page has said the kind, or has not. */
static void add_plain(cpubind_prometheus_reading *r, const scan_text *in, const sample *s)
{
    if (r->kind == CPUBIND_PROMETHEUS_HISTOGRAM)
        return;
    if (find_word(in, s->of.labels, "quantile").at != 0)
        r->kind = CPUBIND_PROMETHEUS_SUMMARY;
    if (r->kind == CPUBIND_PROMETHEUS_ABSENT)
        r->kind = ends_with(r->name, base_length(r->name), "_total")
                      ? CPUBIND_PROMETHEUS_COUNTER
                      : CPUBIND_PROMETHEUS_GAUGE;
    if (r->kind == CPUBIND_PROMETHEUS_COUNTER && !is_count(s->value))
        set_problem(r, "its counter is not a number of 0 or more");
    r->value += s->value;
    r->n_series++;
}

/* NAME_total: the counter NAME. */
static void add_total(cpubind_prometheus_reading *r, const scan_text *in, const sample *s)
{
    if (r->kind == CPUBIND_PROMETHEUS_ABSENT)
        r->kind = CPUBIND_PROMETHEUS_COUNTER;
    if (r->kind == CPUBIND_PROMETHEUS_COUNTER)
        add_plain(r, in, s);
}

static void add_sum(cpubind_prometheus_reading *r, const scan_text *in, const sample *s)
{
    (void)in;
    r->sum += s->value;
    r->n_series += r->kind == CPUBIND_PROMETHEUS_SUMMARY;
}

static void add_bucket(cpubind_prometheus_reading *r, const scan_text *in, const sample *s)
{
    const scan_run text = find_word(in, s->of.labels, "le");
    const scan_text quiet = {in->text, in->len, NULL};
    int32_t at = text.at, i = r->n_bucket;
    double bound = 0;
    if (r->kind == CPUBIND_PROMETHEUS_ABSENT)
        r->kind = CPUBIND_PROMETHEUS_HISTOGRAM;
    if (r->kind != CPUBIND_PROMETHEUS_HISTOGRAM)
        return;
    if (text.at == 0 || read_number(&quiet, &at, text.end, &bound) != CPUBIND_TEXT_OK ||
        at != text.end || bound != bound) {
        set_problem(r, "a bucket has no bound");
        return;
    }
    if (!is_count(s->value))
        set_problem(r, "a bucket is not a number of 0 or more");
    while (i > 0 && r->bucket[i - 1].bound > bound)
        i--;
    if (i == 0 || r->bucket[i - 1].bound < bound) {
        if (r->n_bucket == CPUBIND_PROMETHEUS_BUCKETS) {
            set_problem(r, "it has more than 128 bounds");
            return;
        }
        memmove(r->bucket + i + 1, r->bucket + i,
                (size_t)(r->n_bucket - i) * sizeof *r->bucket);
        r->bucket[i++] = (cpubind_prometheus_bucket){bound, 0, 0};
        r->n_bucket++;
    }
    r->bucket[i - 1].count += s->value;
    r->bucket[i - 1].series++;
}

static const struct {
    const char *ending;
    void (*add)(cpubind_prometheus_reading *r, const scan_text *in, const sample *s);
} endings[] = {
    {"", add_plain}, {"_total", add_total}, {"_bucket", add_bucket}, {"_sum", add_sum}};

static void add_sample(cpubind_prometheus_reading *r, const scan_text *in, const sample *s)
{
    const int32_t base = base_length(r->name);
    const scan_text asked = {r->name, (int32_t)strlen(r->name), NULL};
    scan_run rest = s->of.name;
    if (!scan_starts(in, rest, r->name, base))
        return;
    rest.at += base;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (scan_is(in, rest, endings[i].ending, (int32_t)strlen(endings[i].ending)) &&
            has_labels(in, &s->of, &asked, base))
            endings[i].add(r, in, s);
}

/* "# TYPE" name kind, which stands before the samples. A part of a counter, a histogram or a
 * summary is a counter. */
static void take_kind(cpubind_prometheus_reading *r, const scan_text *in, scan_run name,
                      scan_run kind)
{
    static const struct {
        const char *word;
        cpubind_prometheus_kind kind;
    } kinds[] = {{"gauge", CPUBIND_PROMETHEUS_GAUGE},
                 {"counter", CPUBIND_PROMETHEUS_COUNTER},
                 {"histogram", CPUBIND_PROMETHEUS_HISTOGRAM},
                 {"summary", CPUBIND_PROMETHEUS_SUMMARY}};
    static const char *const parts[] = {"_total", "_bucket", "_sum", "_count"};
    const int32_t len = name.end - name.at, base = base_length(r->name);
    if (r->n_series > 0 || r->n_bucket > 0 || len > base ||
        memcmp(r->name, in->text + name.at, (size_t)len) != 0)
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!scan_is(in, kind, kinds[i].word, (int32_t)strlen(kinds[i].word)))
            continue;
        if (len == base)
            r->kind = kinds[i].kind;
        for (size_t k = 0; i > 0 && k < sizeof parts / sizeof *parts; k++)
            if (len + (int32_t)strlen(parts[k]) == base && ends_with(r->name, base, parts[k]))
                r->kind = CPUBIND_PROMETHEUS_COUNTER;
    }
}

static void end_reading(cpubind_prometheus_reading *r)
{
    const cpubind_prometheus_bucket *b = r->bucket;
    const int32_t n = r->n_bucket;
    if (r->n_series == 0 && n == 0 && !r->problem)
        r->kind = CPUBIND_PROMETHEUS_ABSENT;
    if (n == 0)
        return;
    r->value = b[n - 1].count;
    if (b[n - 1].bound < INFINITE)
        set_problem(r, "its last bucket is missing");
    for (int32_t i = 1; i < n; i++) {
        if (b[i].series != b[0].series)
            set_problem(r, "its series have different bounds");
        if (b[i].count < b[i - 1].count)
            set_problem(r, "its buckets do not ascend");
    }
}

/* Reads all lines; with n 0 they are only checked. */
static cpubind_text_status read_page(const scan_text *in, cpubind_prometheus_reading *out,
                                     int32_t n)
{
    scan_line line = {{0, 0}, 0, 0};
    while (scan_next_line(in, &line)) {
        sample s;
        if (!line.ended)
            return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len, "the last line has no end");
        if (scan_is_empty(line.run))
            continue;
        if (in->text[line.run.at] == '#') {
            const scan_run type = scan_word(in, line.run.at + 1, line.run.end);
            const scan_run name = scan_word(in, type.end, line.run.end);
            const scan_run kind = scan_word(in, name.end, line.run.end);
            for (int32_t i = 0; i < n && SCAN_IS(in, type, "TYPE"); i++)
                take_kind(&out[i], in, name, kind);
            continue;
        }
        const cpubind_text_status status = read_sample(in, line.run, &s);
        if (status != CPUBIND_TEXT_OK)
            return status;
        for (int32_t i = 0; i < n; i++)
            add_sample(&out[i], in, &s);
    }
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_prometheus_read(const char *text, int32_t len,
                                            cpubind_prometheus_reading *out, int32_t n,
                                            cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_text_status status;
    if (!scan_is_text(text, len) || !scan_is_array(out, n))
        return scan_fail_arg(fault);
    for (int32_t i = 0; i < n; i++)
        if (cpubind_prometheus_name_check(out[i].name, NULL) != CPUBIND_TEXT_OK)
            return scan_fail_arg(fault);
    status = read_page(&in, NULL, 0);
    if (status != CPUBIND_TEXT_OK)
        return status;
    for (int32_t i = 0; i < n; i++)
        out[i] = (cpubind_prometheus_reading){.name = out[i].name};
    (void)read_page(&in, out, n);
    for (int32_t i = 0; i < n; i++)
        end_reading(&out[i]);
    return CPUBIND_TEXT_OK;
}

/* == Two readings =========================================================== */

/* The quantile q of the observations between two readings. */
static double find_quantile(const cpubind_prometheus_reading *before,
                            const cpubind_prometheus_reading *after, double q,
                            int32_t *is_least)
{
    const cpubind_prometheus_bucket *a = before->bucket, *b = after->bucket;
    const int32_t last = after->n_bucket - 1;
    const double rank = q * (b[last].count - a[last].count);
    int32_t i = 0;
    double below = 0, from = 0;
    while (i < last && b[i].count - a[i].count < rank)
        i++;
    *is_least = i == last;
    if (i == last)
        return b[last - 1].bound;
    if (i == 0 && b[0].bound <= 0)
        return b[0].bound;
    if (i > 0) {
        below = b[i - 1].count - a[i - 1].count;
        from = b[i - 1].bound;
    }
    return from + (b[i].bound - from) * (rank - below) / (b[i].count - a[i].count - below);
}

/* Why two readings cannot be compared; NULL: they can. */
static const char *find_problem(const cpubind_prometheus_reading *before,
                                const cpubind_prometheus_reading *after)
{
    if (before->problem || after->problem)
        return before->problem ? before->problem : after->problem;
    if (!before->kind || !after->kind)
        return "the page does not have it";
    if (before->kind == CPUBIND_PROMETHEUS_SUMMARY)
        return "it is a summary, which cannot be told for a block";
    if (before->kind != after->kind || before->n_bucket != after->n_bucket ||
        before->n_series != after->n_series)
        return "its series changed";
    if (!is_count(before->value) || !is_count(after->value))
        return "it is not a number of 0 or more";
    if (after->value < before->value)
        return "the counter fell: its program started anew";
    for (int32_t i = 0; i < after->n_bucket; i++) {
        if (before->bucket[i].bound != after->bucket[i].bound ||
            before->bucket[i].series != after->bucket[i].series)
            return "its series changed";
        if (after->bucket[i].count < before->bucket[i].count)
            return "the counter fell: its program started anew";
    }
    if (after->n_bucket == 1)
        return "its buckets have no bounds";
    if (after->n_bucket > 0 && after->value == before->value)
        return "nothing was observed";
    return NULL;
}

cpubind_prometheus_block cpubind_prometheus_between(const cpubind_prometheus_reading *before,
                                                    const cpubind_prometheus_reading *after)
{
    cpubind_prometheus_block out = {.problem = find_problem(before, after)};
    if (out.problem)
        return out;
    out.count = after->value - before->value;
    if (after->n_bucket == 0)
        return out;
    out.mean = (after->sum - before->sum) / out.count;
    out.p50 = find_quantile(before, after, 0.5, &out.p50_is_least);
    out.p99 = find_quantile(before, after, 0.99, &out.p99_is_least);
    return out;
}
