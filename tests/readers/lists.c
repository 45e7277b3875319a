/* lists.c - the rows of the readers of lists: CPUs, masks, visible devices
 * SPDX-License-Identifier: MIT
 *
 * What each reader promises is in its header in adapters/text.
 */
#include "../../adapters/text/cpulist.h"
#include "../../adapters/text/cpumask.h"
#include "../../adapters/text/procfs.h"
#include "readers.h"

/* == A second reader of lists =============================================== */

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

/* == Lists and masks ======================================================== */

/* Both ways of a format. */
typedef struct format {
    cpubind_text_status (*write)(const int32_t *cpu, int32_t n, int32_t width, char *text,
                                 int32_t cap, int32_t *len);
    cpubind_text_status (*read)(const char *text, int32_t len, int32_t limit,
                                cpubind_int_list *list, cpubind_text_fault *fault);
} format;

static cpubind_text_status write_list(const int32_t *cpu, int32_t n, int32_t width, char *text,
                                      int32_t cap, int32_t *len)
{
    (void)width;
    return cpubind_cpulist_format(cpu, n, text, cap, len);
}

static const format list_format = {write_list, cpubind_cpulist_parse};
static const format mask_format = {cpubind_cpumask_format, cpubind_cpumask_parse};

/* Numbers that were written are read again, and fit a buffer of their exact length alone. Says
 * what was written, or the status. */
static void tell_written(reading *r, const format *f, const int32_t *cpu, int32_t n,
                         int32_t width)
{
    int32_t need = 0, len = -1;
    const cpubind_text_status asked = f->write(cpu, n, width, NULL, 0, &need);
    cpubind_int_list back = {(int32_t *)filled((size_t)n * sizeof *cpu, r->fill), n, -1};
    char *text = (char *)filled((size_t)need, r->fill);
    if (is_refusal(asked) || asked == CPUBIND_TEXT_ERR_ARG) {
        tell(r, "%s", cpubind_text_status_name(asked));
    } else {
        CHECK((need > 0) == (asked == CPUBIND_TEXT_ERR_SPACE));
        CHECK(need == 0 ||
              f->write(cpu, n, width, text, need - 1, &len) == CPUBIND_TEXT_ERR_SPACE);
        CHECK(holds_only(text, (size_t)need, r->fill));
        CHECK(f->write(cpu, n, width, text, need, &len) == CPUBIND_TEXT_OK && len == need);
        CHECK(f->read(text, need, CPUBIND_MAX_CPUS, &back, NULL) == CPUBIND_TEXT_OK);
        CHECK(back.n == n && is_same(cpu, back.out, (size_t)n * sizeof *cpu));
        tell(r, "%.*s", len ? len : 1, len ? text : "-");
    }
    tell(r, "\n");
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
    tell_written(r, &list_format, list->out, list->n, limit);
}

/* `read cpumask LIMIT`: the CPUs. */
static void read_cpumask(reading *r)
{
    const int32_t limit = number_arg(&r->args, CPUBIND_MAX_CPUS);
    cpubind_int_list *list = OUT(r, cpubind_int_list);
    ARRAY(r, list, out, cap, n);
    if (!came(r, cpubind_cpumask_parse(r->text, r->len, limit, given(r, list), r->fault)))
        return;
    tell_list(r, list->out, list->n, limit);
}

/* The text is numbers, with anything between them. */
static void write_numbers(reading *r, const format *f)
{
    const int32_t width = number_arg(&r->args, CPUBIND_MAX_CPUS);
    int32_t cpu[64], n = 0, len;
    char *copy = string_copy(r->text, r->len), *end;
    for (char *at = copy; at < copy + r->len && n < 64; at = end) {
        const long number = strtol(at, &end, 10);
        if (end == at)
            end++;
        else
            cpu[n++] = (int32_t)number;
    }
    tell_written(r, f, cpu, n, width);
    CHECK(f->write(cpu, n, width, NULL, 0, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(f->write(cpu, n, width, NULL, 1, &len) == CPUBIND_TEXT_ERR_ARG);
    CHECK(f->write(NULL, 1, width, NULL, 0, &len) == CPUBIND_TEXT_ERR_ARG);
    CHECK(f->write(cpu, -1, width, NULL, 0, &len) == CPUBIND_TEXT_ERR_ARG);
    free(copy);
}

/* `read cpulist_write`, `read cpumask_write WIDTH` */
static void write_cpulist(reading *r)
{
    write_numbers(r, &list_format);
}

static void write_cpumask(reading *r)
{
    write_numbers(r, &mask_format);
}

/* `read visible N`: the ids below N, and how many bytes were used. */
static void read_visible(reading *r)
{
    const int32_t limit = number_arg(&r->args, CPUBIND_MAX_DEVICES);
    cpubind_visible *visible = OUT(r, cpubind_visible);
    ARRAY(r, visible, id, cap, n);
    if (!came(r, cpubind_visible_parse(r->text, r->len, limit, given(r, visible), r->fault)))
        return;
    tell_list(r, visible->id, visible->n, limit);
    tell(r, " of %d bytes\n", visible->used);
    CHECK(visible->n > 0 && visible->used > 0 && visible->used <= r->len);
    CHECK(visible->used == r->len || r->text[visible->used - 1] == ',');
}

static const reader rows[] = {
    {"cpulist", read_cpulist, "65536|64|1", NULL, "list", 2600},
    {"cpulist_write", write_cpulist, "", "cpulist", "list", 2600},
    {"cpumask", read_cpumask, "65536|100", NULL, "mask", 2400},
    {"cpumask_write", write_cpumask, "65536|200|0", "cpumask", "mask", 2400},
    {"visible", read_visible, "0|8|4096", NULL, "list", 64},
};

READERS(rows)
