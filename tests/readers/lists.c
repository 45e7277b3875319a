/* lists.c - the rows of the readers of lists: CPUs, masks, visible devices
 * SPDX-License-Identifier: MIT
 *
 * What each reader promises is in its header there.
 */
#include "../../adapters/text/cpulist.h"
#include "../../adapters/text/cpumask.h"
#include "readers.h"

/* == Lists and masks of CPUs ================================================ */

/* A second, obvious reader of the grammar in cpulist.h, written from that grammar alone; it
 * shares no code with cpulist.c. */
typedef struct naive {
    const char *next, *end;
    int32_t limit, n;
    int32_t *out; /* room for `limit` numbers */
} naive;

static int naive_take(naive *t, char c)
{
    if (t->next == t->end || *t->next != c)
        return 0;
    t->next++;
    return 1;
}

static int naive_number(naive *t, int32_t *out)
{
    double value = 0; /* counts up to infinity and never wraps */
    const char *start = t->next;
    while (t->next != t->end && *t->next >= '0' && *t->next <= '9')
        value = value * 10 + (*t->next++ - '0');
    if (t->next == start || value >= t->limit || (*start == '0' && t->next - start > 1))
        return 0;
    *out = (int32_t)value;
    return 1;
}

static int naive_range(naive *t)
{
    int32_t first, last;
    if (!naive_number(t, &first))
        return 0;
    last = first;
    if (naive_take(t, '-') && (!naive_number(t, &last) || last <= first))
        return 0;
    if (t->n > 0 && t->out[t->n - 1] >= first)
        return 0;
    while (first <= last)
        t->out[t->n++] = first++;
    return 1;
}

static int naive_list(naive *t)
{
    if (t->next != t->end && *t->next != '\n' && *t->next != '\0') {
        if (!naive_range(t))
            return 0;
        while (naive_take(t, ','))
            if (!naive_range(t))
                return 0;
    }
    (void)naive_take(t, '\n');
    while (naive_take(t, '\0'))
        continue;
    return t->next == t->end;
}

/* `list`: what was read; NULL: the text was refused. */
static void check_naive(const reading *r, int32_t limit, const cpubind_int_list *list)
{
    naive t = {r->text, r->text + r->len, limit, 0, NULL};
    t.out = (int32_t *)filled((size_t)limit * sizeof *t.out, 0);
    CHECK(naive_list(&t) == (list != NULL));
    CHECK(!list || (t.n == list->n && is_same(t.out, list->out, (size_t)t.n * sizeof *t.out)));
    free(t.out);
}

/* A formatter, whose text a reader reads back. */
typedef cpubind_text_status format(const int32_t *cpu, int32_t n, int32_t width, char *text,
                                   int32_t cap, int32_t *len);
typedef cpubind_text_status parse(const char *text, int32_t len, int32_t limit,
                                  cpubind_int_list *list, cpubind_text_fault *fault);

static cpubind_text_status format_list(const int32_t *cpu, int32_t n, int32_t width, char *text,
                                       int32_t cap, int32_t *len)
{
    (void)width;
    return cpubind_cpulist_format(cpu, n, text, cap, len);
}

/* Numbers that were written are read again, and fit a buffer of their exact length alone. */
static void tell_written(reading *r, format *write, parse *read, const int32_t *cpu, int32_t n,
                         int32_t width)
{
    int32_t need = -1, len = -1;
    const cpubind_text_status asked = write(cpu, n, width, NULL, 0, &need);
    cpubind_int_list back = {(int32_t *)filled((size_t)n * sizeof *cpu, r->fill), n, -1};
    char *text;
    if (asked != CPUBIND_TEXT_OK && asked != CPUBIND_TEXT_ERR_SPACE) {
        tell(r, "%s", cpubind_text_status_name(asked));
        free(back.out);
        return;
    }
    CHECK(need >= 0 && (need > 0) == (asked == CPUBIND_TEXT_ERR_SPACE));
    text = (char *)filled((size_t)need, r->fill);
    if (need > 0) {
        CHECK(write(cpu, n, width, text, need - 1, &len) == CPUBIND_TEXT_ERR_SPACE);
        CHECK(len == need && holds_only(text, (size_t)need, r->fill));
    }
    CHECK(write(cpu, n, width, text, need, &len) == CPUBIND_TEXT_OK && len == need);
    CHECK(read(text, need, CPUBIND_MAX_CPUS, &back, NULL) == CPUBIND_TEXT_OK);
    CHECK(back.n == n && is_same(cpu, back.out, (size_t)n * sizeof *cpu));
    tell(r, "%.*s", len, len ? text : "");
    if (len == 0)
        tell(r, "-");
    free(back.out);
    free(text);
}

/* `read cpulist LIMIT`: the list, as it is written again. */
static void read_cpulist(reading *r)
{
    const int32_t limit = number_arg(&r->args, CPUBIND_MAX_CPUS);
    cpubind_int_list *list = OUT(r, cpubind_int_list);
    cpubind_text_status status;
    ARRAY(r, list, out, cap, n);
    status = cpubind_cpulist_parse(r->text, r->len, limit, given(r, list), r->fault);
    if (is_refusal(status))
        check_naive(r, limit, NULL);
    if (!came(r, status))
        return;
    check_list(list->out, list->n, limit);
    check_naive(r, limit, list);
    tell_written(r, format_list, cpubind_cpulist_parse, list->out, list->n, limit);
    tell(r, "\n");
}

/* A second reader of the grammar in cpumask.h, group by group. Returns the number of bits, or
 * -1. */
static int32_t naive_mask(const char *text, int32_t len)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    int32_t at = 0, n = 0;
    for (int32_t group = 0;; group++) {
        const int32_t start = at;
        const char *digit;
        for (; at < len && text[at] && (digit = strchr(digits, text[at])) != NULL; at++) {
            const int32_t bits = (int32_t)(digit - digits) - (digit - digits > 15 ? 6 : 0);
            n += (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1) + (bits >> 3 & 1);
        }
        if (at == start || at - start > 8 || (group > 0 && at - start != 8))
            return -1;
        if (at == len || text[at] != ',')
            break;
        at++;
    }
    at += at < len && text[at] == '\n';
    while (at < len && text[at] == '\0')
        at++;
    return at == len ? n : -1;
}

/* `read cpumask LIMIT`: the CPUs. */
static void read_cpumask(reading *r)
{
    const int32_t limit = number_arg(&r->args, CPUBIND_MAX_CPUS);
    cpubind_int_list *list = OUT(r, cpubind_int_list);
    cpubind_text_status status;
    ARRAY(r, list, out, cap, n);
    status = cpubind_cpumask_parse(r->text, r->len, limit, given(r, list), r->fault);
    CHECK(status != CPUBIND_TEXT_ERR_SYNTAX || naive_mask(r->text, r->len) < 0);
    if (!came(r, status))
        return;
    CHECK(naive_mask(r->text, r->len) == list->n);
    tell_list(r, list->out, list->n, limit);
    tell(r, "\n");
}

/* `read cpulist_write`, `read cpumask_write WIDTH`: the text is numbers, with anything between
 * them; what they are written as, or the status. */
static void write_numbers(reading *r, format *write, parse *read)
{
    const int32_t width = number_arg(&r->args, CPUBIND_MAX_CPUS);
    int32_t cpu[64], n = 0;
    char *copy = (char *)filled((size_t)r->len + 1, 0), *end;
    memcpy(copy, r->text, (size_t)r->len);
    for (char *at = copy; at < copy + r->len && n < 64; at = end) {
        const long number = strtol(at, &end, 10);
        if (end == at)
            end++;
        else
            cpu[n++] = (int32_t)number;
    }
    tell_written(r, write, read, cpu, n, width);
    tell(r, "\n");
    free(copy);
}

static void write_cpulist(reading *r)
{
    int32_t len = -1, cpu = 0;
    write_numbers(r, format_list, cpubind_cpulist_parse);
    CHECK(cpubind_cpulist_format(&cpu, 1, NULL, 0, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpulist_format(&cpu, -1, NULL, 0, &len) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpulist_format(NULL, 1, NULL, 0, &len) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpulist_format(&cpu, 1, NULL, 1, &len) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpulist_format(&cpu, CPUBIND_MAX_CPUS + 1, NULL, 0, &len) ==
          CPUBIND_TEXT_ERR_ARG);
}

static void write_cpumask(reading *r)
{
    int32_t len = -1, cpu = 0;
    write_numbers(r, cpubind_cpumask_format, cpubind_cpumask_parse);
    CHECK(cpubind_cpumask_format(&cpu, 1, 8, NULL, 0, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpumask_format(&cpu, 1, 8, NULL, 1, &len) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpumask_format(NULL, 1, 8, NULL, 0, &len) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_cpumask_format(&cpu, -1, 8, NULL, 0, &len) == CPUBIND_TEXT_ERR_ARG);
}

const reader list_readers[] = {
    {"cpulist", read_cpulist, "65536|64|1", NULL, "list", 2600},
    {"cpulist_write", write_cpulist, "", "cpulist", "list", 2600},
    {"cpumask", read_cpumask, "65536|100", NULL, "mask", 2400},
    {"cpumask_write", write_cpumask, "65536|200|0", "cpumask", "mask", 2400},
    {NULL, NULL, NULL, NULL, NULL, 0},
};
