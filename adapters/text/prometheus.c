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

#include "cursor.h"

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

/* 1*DIGIT [ "." *DIGIT ] / "." 1*DIGIT; returns the mantissa, as long as it holds the digits
 * exactly, and adds the power of ten of its last digit. */
static uint64_t read_mantissa(cursor *c, int32_t *exponent)
{
    const int32_t start = c->at;
    uint64_t mantissa = 0;
    int32_t n_digit = 0, is_fraction = 0;
    for (; cursor_left(c); c->at++) {
        const char byte = c->text[c->at];
        if (byte == '.' && !is_fraction) {
            is_fraction = 1;
            continue;
        }
        if (!cursor_is_digit(byte))
            break;
        n_digit++;
        if (mantissa < UINT64_C(1000000000000000000)) {
            mantissa = mantissa * 10 + (uint64_t)(byte - '0');
            *exponent -= is_fraction;
        } else {
            *exponent += !is_fraction;
        }
    }
    if (n_digit == 0)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_SYNTAX, start, "a number is missing");
    return mantissa;
}

static int takes_minus(cursor *c)
{
    const int is_minus = cursor_takes(c, "-");
    if (!is_minus)
        (void)cursor_takes(c, "+");
    return is_minus;
}

/* [ "e" [ "+" / "-" ] 1*DIGIT ]. An exponent beyond any double stays beyond. */
static int32_t read_exponent(cursor *c)
{
    int32_t value = 0;
    if (!cursor_starts_as(c, "e"))
        return 0;
    c->at++;
    const int is_negative = takes_minus(c);
    const cursor digits = cursor_span(c, cursor_is_digit);
    if (digits.at == digits.end)
        (void)cursor_bad(c, "an exponent has no digits");
    for (int32_t i = digits.at; i < digits.end && value < 1 << 24; i++)
        value = value * 10 + (c->text[i] - '0');
    return is_negative ? -value : value;
}

/* Moves past a number. */
static double read_number(cursor *c)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"nan", __builtin_nan("")}, {"infinity", INFINITE}, {"inf", INFINITE}};
    const int is_negative = takes_minus(c);
    const int32_t start = c->at;
    int32_t exponent = 0;
    double value;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (cursor_starts_as(c, words[i].word)) {
            c->at += (int32_t)strlen(words[i].word);
            return is_negative ? -words[i].value : words[i].value;
        }
    const uint64_t mantissa = read_mantissa(c, &exponent);
    exponent += read_exponent(c);
    value = scale(mantissa, exponent);
    if (value >= INFINITE)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_RANGE, start, "a number is too large");
    return is_negative ? -value : value;
}

cpubind_text_status cpubind_decimal_parse(const char *text, int32_t len, double *out,
                                          int32_t *out_len, cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, out && out_len);
    const double value = read_number(&c);
    if (cursor_ok(&c)) {
        *out = value;
        *out_len = c.at;
    }
    return of.status;
}

/* == Series ================================================================= */

static int is_name_byte(char c)
{
    return cursor_is_letter(c) || cursor_is_digit(c) || c == '_' || c == ':';
}

static cursor read_name(cursor *c)
{
    const cursor name = cursor_span(c, is_name_byte);
    if (name.at == name.end || cursor_is_digit(name.text[name.at]))
        (void)cursor_bad(&name, "a name is missing");
    return name;
}

/* The bytes between quotes, as they are. */
static cursor read_quoted(cursor *c)
{
    cursor inside;
    cursor_need(c, "\"", "a quote is missing");
    for (inside = *c; cursor_left(c) && cursor_next(c) != '"'; c->at++) {
        if (!cursor_takes(c, "\\"))
            continue;
        if (!cursor_starts(c, "\\") && !cursor_starts(c, "\"") && !cursor_starts(c, "n"))
            (void)cursor_bad(c, "only \\, \" and n may follow a \\");
    }
    inside.end = c->at;
    cursor_need(c, "\"", "a quote is missing");
    return inside;
}

typedef struct label {
    cursor key, value;
    int is_name; /* the key is the name of the series, and there is no value */
} label;

/* Reads a label, after the "{" or an earlier label, and moves past its comma; 0: there is none,
 * but the "}". */
static int next_label(cursor *c, label *out)
{
    cursor_skip_blanks(c);
    if (!cursor_ok(c) || cursor_takes(c, "}"))
        return 0;
    const int is_quoted = cursor_next(c) == '"';
    out->key = is_quoted ? read_quoted(c) : read_name(c);
    cursor_skip_blanks(c);
    out->is_name = is_quoted && cursor_next(c) != '=';
    if (!out->is_name) {
        cursor_need(c, "=", "a label has no =");
        cursor_skip_blanks(c);
        out->value = read_quoted(c);
        cursor_skip_blanks(c);
    }
    if (!cursor_takes(c, ",") && cursor_next(c) != '}')
        (void)cursor_bad(c, "the } of the labels is missing");
    return cursor_ok(c);
}

typedef struct series {
    cursor name;
    cursor labels; /* after the "{", with the "}"; empty: none */
} series;

static series read_series(cursor *c)
{
    const cursor start = *c;
    series out = {*c, *c};
    label one;
    out.name.end = out.labels.end = c->at;
    if (cursor_next(c) != '{')
        out.name = read_name(c);
    out.labels = *c;
    cursor_skip_blanks(&out.labels);
    if (!cursor_takes(&out.labels, "{")) {
        out.labels.end = out.labels.at;
        return out;
    }
    *c = out.labels;
    while (next_label(c, &one)) {
        if (!one.is_name)
            continue;
        if (cursor_len(&out.name) > 0)
            (void)cursor_bad(&one.key, "a label has no =");
        out.name = one.key;
    }
    if (cursor_len(&out.name) == 0)
        (void)cursor_bad(&start, "a name is missing");
    out.labels.end = c->at;
    return out;
}

typedef struct sample {
    series of;
    double value;
} sample;

/* Whether a word follows, before which a blank must be; neither the end nor an exemplar. */
static int goes_on(cursor *c)
{
    const cursor start = *c;
    cursor_skip_blanks(c);
    if (c->at == start.at)
        cursor_end(c, "a byte does not belong here");
    return cursor_left(c) && cursor_next(c) != '#';
}

/* A line that is neither empty nor a comment. */
static sample read_sample(cursor line)
{
    sample out = {.of = read_series(&line)};
    cursor end = line;
    cursor_skip_blanks(&line);
    if (line.at == end.at && cursor_len(&out.of.labels) == 0)
        (void)cursor_bad(&end, "a byte does not belong here");
    out.value = read_number(&line);
    if (!goes_on(&line))
        return out;
    (void)read_number(&line); /* the time */
    end = line;
    if (goes_on(&line))
        (void)cursor_bad(&end, "a byte does not belong here");
    return out;
}

/* == What is asked ========================================================== */

static int is_same(cursor a, cursor b)
{
    return cursor_len(&a) == cursor_len(&b) &&
           memcmp(a.text + a.at, b.text + b.at, (size_t)cursor_len(&a)) == 0;
}

static cursor word_of(cursor_text *of, const char *word)
{
    return cursor_open(of, word, (int32_t)strlen(word), NULL, 1);
}

/* Finds the value of a label. */
static int find_label(cursor labels, cursor key, cursor *value)
{
    label one;
    while (cursor_left(&labels) && next_label(&labels, &one))
        if (!one.is_name && is_same(one.key, key)) {
            *value = one.value;
            return 1;
        }
    return 0;
}

static int find_word(cursor labels, const char *word, cursor *value)
{
    cursor_text of;
    return find_label(labels, word_of(&of, word), value);
}

/* Whether a series has the labels of a name. */
static int has_labels(cursor labels, cursor asked)
{
    label one;
    cursor value;
    while (cursor_left(&asked) && next_label(&asked, &one))
        if (!find_label(labels, one.key, &value) || !is_same(value, one.value))
            return 0;
    return 1;
}

cpubind_text_status cpubind_prometheus_name_check(const char *name, cpubind_text_fault *fault)
{
    cursor_text of;
    const size_t len = name ? strlen(name) : 0;
    cursor c =
        cursor_open(&of, name, len > CPUBIND_TEXT_MAX ? -1 : (int32_t)len, fault, name != NULL);
    (void)read_name(&c);
    if (cursor_next(&c) == '{') {
        c.at = 0;
        (void)read_series(&c);
    }
    cursor_end(&c, "a byte does not belong here");
    return of.status;
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
static void add_plain(cpubind_prometheus_reading *r, const sample *s, cursor name)
{
    cursor value;
    if (r->kind == CPUBIND_PROMETHEUS_HISTOGRAM)
        return;
    if (find_word(s->of.labels, "quantile", &value))
        r->kind = CPUBIND_PROMETHEUS_SUMMARY;
    if (r->kind == CPUBIND_PROMETHEUS_ABSENT)
        r->kind = cursor_drops(&name, "_total") ? CPUBIND_PROMETHEUS_COUNTER
                                                : CPUBIND_PROMETHEUS_GAUGE;
    if (r->kind == CPUBIND_PROMETHEUS_COUNTER && !is_count(s->value))
        set_problem(r, "its counter is not a number of 0 or more");
    r->value += s->value;
    r->n_series++;
}

/* The bucket of a bound, which is added where it is new; NULL: there are too many. */
static cpubind_prometheus_bucket *find_bucket(cpubind_prometheus_reading *r, double bound)
{
    int32_t i = r->n_bucket;
    while (i > 0 && r->bucket[i - 1].bound > bound)
        i--;
    if (i > 0 && r->bucket[i - 1].bound == bound)
        return &r->bucket[i - 1];
    if (r->n_bucket == CPUBIND_PROMETHEUS_BUCKETS)
        return NULL;
    memmove(r->bucket + i + 1, r->bucket + i, (size_t)(r->n_bucket - i) * sizeof *r->bucket);
    r->bucket[i] = (cpubind_prometheus_bucket){bound, 0, 0};
    r->n_bucket++;
    return &r->bucket[i];
}

static void add_bucket(cpubind_prometheus_reading *r, const sample *s)
{
    cursor_text quiet = {0, CPUBIND_TEXT_OK, NULL};
    cursor text = {.of = &quiet};
    cpubind_prometheus_bucket *bucket = NULL;
    double bound = 0;
    int is_bound = find_word(s->of.labels, "le", &text);
    if (is_bound) {
        text.of = &quiet;
        bound = read_number(&text);
        is_bound = cursor_ok(&text) && text.at == text.end && bound == bound;
    }
    if (r->kind == CPUBIND_PROMETHEUS_ABSENT)
        r->kind = CPUBIND_PROMETHEUS_HISTOGRAM;
    if (r->kind != CPUBIND_PROMETHEUS_HISTOGRAM)
        return;
    if (!is_bound) {
        set_problem(r, "a bucket has no bound");
        return;
    }
    if (!is_count(s->value))
        set_problem(r, "a bucket is not a number of 0 or more");
    bucket = find_bucket(r, bound);
    if (!bucket) {
        set_problem(r, "it has more than 128 bounds");
        return;
    }
    bucket->count += s->value;
    bucket->series++;
}

/* Takes a sample of NAME, or of a part of it. */
static void add_sample(cpubind_prometheus_reading *r, const sample *s)
{
    cursor_text of;
    cursor asked = word_of(&of, r->name), rest = s->of.name;
    const cursor name = cursor_span(&asked, is_name_byte);
    if (cursor_len(&rest) < cursor_len(&name) ||
        memcmp(r->name, rest.text + rest.at, (size_t)cursor_len(&name)) != 0)
        return;
    (void)cursor_takes(&asked, "{");
    if (!has_labels(s->of.labels, asked))
        return;
    rest.at += cursor_len(&name);
    if (rest.at == rest.end) {
        add_plain(r, s, name);
    } else if (cursor_is(rest, "_total") && r->kind != CPUBIND_PROMETHEUS_GAUGE &&
               r->kind != CPUBIND_PROMETHEUS_SUMMARY) { /* the counter NAME */
        r->kind = r->kind ? r->kind : CPUBIND_PROMETHEUS_COUNTER;
        add_plain(r, s, name);
    } else if (cursor_is(rest, "_sum")) {
        r->sum += s->value;
        r->n_series += r->kind == CPUBIND_PROMETHEUS_SUMMARY;
    } else if (cursor_is(rest, "_bucket")) {
        add_bucket(r, s);
    }
}

/* "# TYPE" name kind, which stands before the samples. A part of a counter, a histogram or a
 * summary is a counter. */
static void take_kind(cpubind_prometheus_reading *r, cursor name, cursor kind)
{
    static const struct {
        const char *word;
        cpubind_prometheus_kind kind;
    } kinds[] = {{"gauge", CPUBIND_PROMETHEUS_GAUGE},
                 {"counter", CPUBIND_PROMETHEUS_COUNTER},
                 {"histogram", CPUBIND_PROMETHEUS_HISTOGRAM},
                 {"summary", CPUBIND_PROMETHEUS_SUMMARY}};
    static const char *const parts[] = {"_total", "_bucket", "_sum", "_count"};
    cursor_text of;
    cursor asked = word_of(&of, r->name);
    asked = cursor_span(&asked, is_name_byte);
    if (r->n_series > 0 || r->n_bucket > 0)
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!cursor_is(kind, kinds[i].word))
            continue;
        if (is_same(name, asked))
            r->kind = kinds[i].kind;
        for (size_t k = 0; i > 0 && k < sizeof parts / sizeof *parts; k++) {
            cursor whole = asked;
            if (cursor_drops(&whole, parts[k]) && is_same(name, whole))
                r->kind = CPUBIND_PROMETHEUS_COUNTER;
        }
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

cpubind_text_status cpubind_prometheus_read(const char *text, int32_t len,
                                            cpubind_prometheus_reading *out, int32_t n,
                                            cpubind_text_fault *fault)
{
    cursor_text of;
    int is_right = cursor_is_array(out, n);
    for (int32_t i = 0; is_right && i < n; i++)
        is_right = cpubind_prometheus_name_check(out[i].name, NULL) == CPUBIND_TEXT_OK;
    cursor c = cursor_open(&of, text, len, fault, is_right), line;
    for (int32_t i = 0; is_right && i < n; i++)
        out[i] = (cpubind_prometheus_reading){.name = out[i].name};
    while (cursor_whole_line(&c, &line)) {
        line = cursor_trim(line);
        if (cursor_takes(&line, "#")) {
            const int is_type = cursor_is(cursor_word(&line), "TYPE");
            const cursor name = cursor_word(&line), kind = cursor_word(&line);
            for (int32_t i = 0; is_type && i < n; i++)
                take_kind(&out[i], name, kind);
        } else if (cursor_left(&line)) {
            const sample s = read_sample(line);
            for (int32_t i = 0; cursor_ok(&c) && i < n; i++)
                add_sample(&out[i], &s);
        }
    }
    for (int32_t i = 0; is_right && i < n; i++)
        end_reading(&out[i]);
    return of.status;
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
