/* readers.c - how each reader is called, and the laws that hold of all of them
 * SPDX-License-Identifier: MIT
 */
#include "readers.h"

#include <stdarg.h>
#include <stdio.h>

enum { ARRAYS = 5, COUNTS = 6, FILL = 0x5a, OTHER = 0xa5, UNTOUCHED = -7, MAX_INPUT = 1 << 20 };
enum { SMALL_ARENA = 1 << 14, LARGEST_ARENA = 1 << 26 };

/* What is wrong on purpose with a call. */
typedef enum mistake { NONE, NO_FAULT, NO_OUT, NO_ARRAY, LESS_THAN_NONE, NO_ARENA } mistake;

typedef struct reading_call {
    mistake mistake;
    int32_t cap[ARRAYS]; /* of the arrays, in the order in which the row has them */
    int32_t bad;         /* the array with the mistake */
    size_t room;         /* of the arena */
    /* What the row has said of its reader, and its memory. */
    void *out, *before; /* `before`: a copy from before the call */
    size_t size;
    void *memory[ARRAYS];
    size_t bytes[ARRAYS];
    int32_t n_memory;
    int32_t *count[COUNTS]; /* members of `out`; those of the arrays first */
    int32_t n_array, n_count;
    int32_t n[ARRAYS];   /* of the arrays, after the call */
    cpubind_arena arena; /* base NULL: the reader takes none */
    int has_status;
    int is_alone; /* without a fault */
    cpubind_text_status status;
    cpubind_text_fault fault;
} reading_call;

static void say_and_abort(const char *law, const char *file, int line)
{
    (void)fprintf(stderr, "%s:%d: a law is broken: %s\n", file, line, law);
    abort();
}

void (*readers_broken)(const char *law, const char *file, int line) = say_and_abort;

/* == Memory ================================================================= */

void *filled(size_t size, int fill)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        abort();
    memset(p, fill, size);
    return p;
}

char *exact_copy(const void *bytes, size_t size)
{
    char *p = (char *)filled(size, 0);
    if (size)
        memcpy(p, bytes, size);
    return p;
}

int holds_only(const void *bytes, size_t size, int fill)
{
    const unsigned char *byte = (const unsigned char *)bytes;
    for (size_t i = 0; i < size; i++)
        if (byte[i] != fill)
            return 0;
    return 1;
}

int is_same(const void *a, const void *b, size_t size)
{
    return size == 0 || memcmp(a, b, size) == 0;
}

/* == Words ================================================================== */

static char *more_room(words *w, int32_t n)
{
    if (w->cap - w->len <= n) {
        w->cap = 2 * (w->len + n) + 256;
        w->text = (char *)realloc(w->text, (size_t)w->cap);
        if (!w->text)
            abort();
    }
    return w->text + w->len;
}

void add_words(words *w, const char *format, ...)
{
    va_list arguments, again;
    int32_t n;
    va_start(arguments, format);
    va_copy(again, arguments);
    n = (int32_t)vsnprintf(more_room(w, 64), 64, format, arguments);
    if (n >= 64)
        (void)vsnprintf(more_room(w, n), (size_t)n + 1, format, again);
    va_end(again);
    va_end(arguments);
    w->len += n;
}

void tell_bytes(reading *r, const char *bytes, int32_t len)
{
    for (int32_t i = 0; i < len; i++) {
        const unsigned char byte = (unsigned char)bytes[i];
        if (byte == '\\')
            tell(r, "\\\\");
        else if ((byte < ' ' && byte != '\t') || byte >= 0x7f)
            tell(r, "\\x%02x", byte);
        else
            tell(r, "%c", byte);
    }
}

void check_list(const int32_t *number, int32_t n, int32_t limit)
{
    for (int32_t i = 0; i < n; i++) {
        CHECK(number[i] >= 0 && number[i] < limit);
        CHECK(i == 0 || number[i - 1] < number[i]);
    }
}

void tell_list(reading *r, const int32_t *number, int32_t n, int32_t limit)
{
    check_list(number, n, limit);
    if (n == 0)
        tell(r, "-");
    for (int32_t i = 0; i < n; i++) {
        const int32_t first = number[i];
        tell(r, "%s%d", i ? "," : "", first);
        while (i + 1 < n && number[i + 1] == number[i] + 1)
            i++;
        if (number[i] != first)
            tell(r, "-%d", number[i]);
    }
}

/* The word, with its blanks. */
static void tell_word(reading *r, const char *word)
{
    if (r->said.len > 0 && r->said.text[r->said.len - 1] != '\n')
        tell(r, " ");
    tell(r, *word ? "%s " : "%s", word);
}

int32_t count_common(const int32_t *a, int32_t n_a, const int32_t *b, int32_t n_b)
{
    int32_t n = 0;
    for (int32_t i = 0, k = 0; i < n_a && k < n_b;) {
        const int32_t first = a[i], second = b[k];
        n += first == second;
        i += first <= second;
        k += second <= first;
    }
    return n;
}

int are_disjoint(const int32_t *cpu, const int32_t *row, int32_t n)
{
    static uint8_t given[CPUBIND_MAX_CPUS];
    int is_twice = 0;
    for (int32_t i = 0; i < row[n]; i++) {
        is_twice |= given[cpu[i]];
        given[cpu[i]] = 1;
    }
    for (int32_t i = 0; i < row[n]; i++)
        given[cpu[i]] = 0;
    return !is_twice;
}

void tell_slice(reading *r, const char *word, cpubind_piece slice)
{
    CHECK(slice.len >= 0 && slice.at >= 0);
    CHECK(slice.at <= r->len && slice.len <= r->len - slice.at);
    tell_word(r, word);
    if (r->wants_places) {
        tell(r, "%d+%d", slice.at, slice.len);
        return;
    }
    tell(r, "\"");
    tell_bytes(r, r->text + slice.at, slice.len);
    tell(r, "\"");
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

void tell_name(reading *r, const char *word, cpubind_piece name)
{
    if (name.len == 0)
        return;
    tell_slice(r, word, name);
    CHECK(!memchr(r->text + name.at, '\n', (size_t)name.len));
    CHECK(!is_blank(r->text[name.at]) && !is_blank(r->text[name.at + name.len - 1]));
}

void tell_id(reading *r, const char *word, int64_t id)
{
    CHECK(id >= -1);
    if (id < 0)
        return;
    tell_word(r, word);
    tell(r, "%lld", (long long)id);
}

void tell_fault(reading *r, cpubind_text_status status, const cpubind_text_fault *fault,
                int32_t from)
{
    CHECK(fault->what && fault->what[0]);
    CHECK(fault->offset >= 0 && fault->offset <= r->len - from);
    tell(r, "%s at %d: %s\n", cpubind_text_status_name(status), from + fault->offset,
         fault->what);
}

char *string_copy(const char *bytes, int32_t len)
{
    char *copy = (char *)filled((size_t)len + 1, 0);
    if (len > 0)
        memcpy(copy, bytes, (size_t)len);
    return copy;
}

void tell_ids(reading *r, const char *word, ...)
{
    va_list arguments;
    va_start(arguments, word);
    for (; word; word = va_arg(arguments, const char *))
        tell_id(r, word, va_arg(arguments, int));
    va_end(arguments);
}

int32_t number_arg(const char **at, int32_t fallback)
{
    char *end;
    const long number = strtol(*at, &end, 10);
    if (end == *at)
        return fallback;
    *at = *end == ' ' ? end + 1 : end;
    return (int32_t)number;
}

/* == What a row says of its reader ========================================== */

void *reading_out(reading *r, size_t size)
{
    reading_call *c = r->call;
    CHECK(!c->out);
    c->out = filled(size, r->fill);
    c->size = size;
    return c->out;
}

/* An array of no element is NULL with one fill, and an allocation with the other. */
static void *reading_memory(reading *r, int32_t n, size_t size)
{
    reading_call *c = r->call;
    const size_t bytes = n > 0 ? (size_t)n * size : 0;
    void *p = bytes > 0 || r->fill == OTHER ? filled(bytes, r->fill) : NULL;
    CHECK(c->n_memory < ARRAYS);
    c->bytes[c->n_memory] = bytes;
    c->memory[c->n_memory++] = p;
    return p;
}

void reading_array(reading *r, void *array, int32_t *cap, int32_t *n, size_t size)
{
    reading_call *c = r->call;
    const int32_t i = c->n_array++;
    const int is_bad = c->bad == i && (c->mistake == NO_ARRAY || c->mistake == LESS_THAN_NONE);
    void *p = is_bad ? NULL : reading_memory(r, c->cap[i], size);
    CHECK(c->n_count == i); /* arrays come before other counts */
    memcpy(array, &p, sizeof p);
    *cap = !is_bad ? c->cap[i] : c->mistake == NO_ARRAY ? 1 : -1;
    c->count[c->n_count++] = n;
}

void reading_beside(reading *r, void *array, size_t size)
{
    void *p = reading_memory(r, r->call->cap[r->call->n_array - 1], size);
    memcpy(array, &p, sizeof p);
}

void reading_count(reading *r, int32_t *n)
{
    CHECK(r->call->n_count < COUNTS);
    r->call->count[r->call->n_count++] = n;
}

cpubind_arena *reading_arena(reading *r)
{
    reading_call *c = r->call;
    c->arena = (cpubind_arena){(char *)filled(c->room, r->fill), c->room, 0};
    return c->mistake == NO_ARENA ? NULL : &c->arena;
}

void *reading_given(reading *r, void *out)
{
    r->call->before = exact_copy(r->call->out, r->call->size);
    return r->call->mistake == NO_OUT ? NULL : out;
}

/* A reader that fails has written the fault, for ERR_SPACE the counts, and else to arrays. */
static void check_failure(const reading *r, const reading_call *c)
{
    for (int32_t i = 0; c->status == CPUBIND_TEXT_ERR_SPACE && i < c->n_count; i++) {
        const ptrdiff_t at = (char *)c->count[i] - (char *)c->out;
        CHECK(*c->count[i] >= 0 || i >= c->n_array);
        memcpy((char *)c->before + at, c->count[i], sizeof *c->count[i]);
    }
    CHECK(is_same(c->before, c->out, c->size));
    CHECK(strcmp(cpubind_text_status_name(c->status), "?") != 0);
    CHECK(c->arena.used == 0);
    if (r->fault && r->text && r->len >= 0 && r->len <= CPUBIND_TEXT_MAX)
        CHECK(c->fault.offset >= 0 && c->fault.offset <= r->len);
    CHECK(!r->fault || (c->fault.what && c->fault.what[0]));
}

int came(reading *r, cpubind_text_status status)
{
    reading_call *c = r->call;
    c->has_status = 1;
    c->status = status;
    for (int32_t i = 0; i < c->n_array; i++)
        c->n[i] = *c->count[i];
    if (status != CPUBIND_TEXT_OK)
        check_failure(r, c);
    else
        CHECK(c->fault.offset == UNTOUCHED && !c->fault.what);
    return status == CPUBIND_TEXT_OK;
}

int came_alone(reading *r, cpubind_text_status status)
{
    r->call->is_alone = 1;
    if (status != CPUBIND_TEXT_OK && r->fault)
        *r->fault = (cpubind_text_fault){0, cpubind_text_status_text(status)};
    return came(r, status);
}

/* == Calls ================================================================== */

static const reading_call well; /* a call without a mistake */
static const int32_t none[ARRAYS], some[ARRAYS] = {3, 3, 3, 3, 3};

/* Calls the row with a mistake, or with none, and arrays of these lengths. */
static reading_call call_row(const reader *row, reading *r, reading_call c, const int32_t *cap,
                             int fill)
{
    const char *args = r->args; /* the row may go through them */
    memcpy(c.cap, cap, sizeof c.cap);
    c.room = c.room ? c.room : SMALL_ARENA;
    c.fault = (cpubind_text_fault){UNTOUCHED, NULL};
    r->call = &c;
    r->fault = c.mistake == NO_FAULT ? NULL : &c.fault;
    r->fill = (unsigned char)fill;
    r->said.len = 0;
    row->read(r);
    if (r->said.len > 0 && r->said.text[r->said.len - 1] != '\n')
        tell(r, "\n");
    r->call = NULL;
    r->args = args;
    free(c.out);
    free(c.before);
    free(c.arena.base);
    for (int32_t i = 0; i < c.n_memory; i++)
        free(c.memory[i]);
    return c;
}

/* Calls a row for the first time: with as large an arena as it needs. */
static reading_call call_first(const reader *row, reading *r)
{
    reading_call c = call_row(row, r, well, none, FILL);
    while (c.arena.base && c.status == CPUBIND_TEXT_ERR_SPACE && c.room < LARGEST_ARENA)
        c = call_row(row, r, (reading_call){.room = 4 * c.room}, none, FILL);
    return c;
}

/* What a reader used of its arena is enough, and a byte less is not. */
static void check_arena(const reader *row, reading *r, const reading_call *first)
{
    const size_t used = first->arena.used;
    words said = r->said;
    reading_call c;
    if (used == 0)
        return;
    r->said = (words){NULL, 0, 0};
    CHECK(call_row(row, r, (reading_call){.room = used}, none, OTHER).status ==
          CPUBIND_TEXT_OK);
    c = call_row(row, r, (reading_call){.room = used - 1}, none, FILL);
    CHECK(c.status == CPUBIND_TEXT_ERR_SPACE);
    free(r->said.text);
    r->said = said;
}

/* A reader refuses arguments outside of their range. */
static void check_refused(const reader *row, reading *r, mistake what, int32_t bad)
{
    const reading_call asked = {.mistake = what, .bad = bad};
    CHECK(call_row(row, r, asked, none, FILL).status == CPUBIND_TEXT_ERR_ARG);
}

static void check_mistakes(const reader *row, const reading *whole, const reading_call *first)
{
    reading r = *whole;
    check_refused(row, &r, NO_OUT, -1);
    r.text = "";
    r.len = -1;
    check_refused(row, &r, NONE, -1);
    r.len = CPUBIND_TEXT_MAX + 1;
    if (!first->is_alone)
        check_refused(row, &r, NO_FAULT, -1);
    r.len = 0;
    if (first->arena.base)
        check_refused(row, &r, NO_ARENA, -1);
    for (int32_t i = 0; i < first->n_array; i++) {
        check_refused(row, &r, NO_ARRAY, i);
        check_refused(row, &r, LESS_THAN_NONE, i);
    }
    r.text = NULL;
    r.len = 1;
    check_refused(row, &r, NONE, -1);
}

/* A text that cannot be read fails in the same way with room in the arrays. */
static void check_fails_again(const reader *row, reading *r, const reading_call *first)
{
    const reading_call again = call_row(row, r, well, some, OTHER);
    CHECK(again.status == first->status && again.fault.offset == first->fault.offset);
    CHECK(again.fault.what == first->fault.what);
    CHECK(call_row(row, r, (reading_call){.mistake = NO_FAULT}, none, FILL).status ==
          first->status);
}

/* An array that is one element too short is refused, with the counts. */
static void check_space(const reader *row, reading *r, const int32_t *n, int32_t n_array)
{
    for (int32_t i = 0; i < n_array; i++) {
        int32_t cap[ARRAYS];
        reading_call c;
        if (n[i] == 0)
            continue;
        memcpy(cap, n, sizeof cap);
        cap[i]--;
        c = call_row(row, r, well, cap, FILL);
        CHECK(c.status == CPUBIND_TEXT_ERR_SPACE);
        CHECK(memcmp(c.n, n, (size_t)n_array * sizeof *n) == 0);
    }
}

/* Reads the elements: with both fills the same is said. A row whose reader has no status has
 * said all in the first call. */
static void read_twice(const reader *row, reading *r, const reading_call *first)
{
    reading again = *r;
    again.said = (words){NULL, 0, 0};
    again.is_again = 1;
    const reading_call asked = {.room = first->room};
    if (first->has_status)
        CHECK(call_row(row, r, asked, first->n, FILL).status == CPUBIND_TEXT_OK);
    CHECK(call_row(row, &again, asked, first->n, OTHER).status == CPUBIND_TEXT_OK);
    CHECK(r->said.len == again.said.len);
    CHECK(is_same(r->said.text, again.said.text, (size_t)r->said.len));
    free(again.said.text);
}

cpubind_text_status read_by_laws(const reader *row, const char *args, const char *text,
                                 int32_t len, words *said)
{
    char *copy = exact_copy(text, (size_t)len);
    reading r = {.text = copy, .len = len, .args = args};
    reading_call first = call_first(row, &r);
    int32_t all = 0;
    for (int32_t i = 0; i < first.n_array; i++)
        all += first.n[i] > 0;
    if (first.status == CPUBIND_TEXT_OK || first.status == CPUBIND_TEXT_ERR_SPACE) {
        CHECK((first.status == CPUBIND_TEXT_ERR_SPACE) == (all > 0));
        check_space(row, &r, first.n, first.n_array);
        check_arena(row, &r, &first);
        read_twice(row, &r, &first);
        if (r.said.len > 0)
            add_words(said, "%s", r.said.text);
    } else {
        check_fails_again(row, &r, &first);
        add_words(said, "%s at %d: %s\n", cpubind_text_status_name(first.status),
                  first.fault.offset, first.fault.what);
    }
    if (first.has_status)
        check_mistakes(row, &r, &first);
    free(copy);
    free(r.said.text);
    return first.status == CPUBIND_TEXT_ERR_SPACE ? CPUBIND_TEXT_OK : first.status;
}

cpubind_text_status read_once(const reader *row, const char *args, const char *text,
                              int32_t len, int wants_places, words *said)
{
    reading r = {.text = text, .len = len, .args = args, .wants_places = wants_places};
    reading_call c = call_first(row, &r);
    if (c.status == CPUBIND_TEXT_ERR_SPACE)
        c = call_row(row, &r, well, c.n, FILL);
    if (r.said.len > 0)
        add_words(said, "%s", r.said.text);
    free(r.said.text);
    return c.status;
}

/* == Inputs ================================================================= */

static void read_with(const reader *row, const char *args, const char *text, int32_t len)
{
    words said = {NULL, 0, 0};
    (void)read_by_laws(row, args, text, len, &said);
    free(said.text);
}

void read_input(const reader *row, const char *bytes, int32_t len)
{
    const char *feed = len > 0 ? (const char *)memchr(bytes, '\n', (size_t)len) : NULL;
    const int32_t n = feed ? (int32_t)(feed - bytes) : len;
    char *args, *one, *rest;
    if (len > MAX_INPUT)
        return;
    if (!row->args) {
        args = string_copy(bytes, n);
        read_with(row, args, feed ? feed + 1 : bytes + n, feed ? len - n - 1 : 0);
    } else {
        args = rest = exact_copy(row->args, strlen(row->args) + 1);
        while ((one = strsep(&rest, "|")) != NULL)
            read_with(row, one, bytes, len);
    }
    free(args);
}

/* == The table ============================================================== */

static reader_file *first_file;

void add_readers(reader_file *file)
{
    reader_file **at = &first_file;
    while (*at && strcmp((*at)->row->name, file->row->name) < 0)
        at = &(*at)->next;
    file->next = *at;
    *at = file;
}

const reader *reader_at(int32_t i)
{
    for (const reader_file *file = first_file; file; i -= file->n, file = file->next)
        if (i < file->n)
            return &file->row[i];
    return NULL;
}

const char *inputs_of(const reader *row)
{
    return row->inputs ? row->inputs : row->name;
}

int has_own_inputs(int32_t i)
{
    for (int32_t k = 0; k < i; k++)
        if (strcmp(inputs_of(reader_at(k)), inputs_of(reader_at(i))) == 0)
            return 0;
    return 1;
}

const reader *find_reader(const char *name)
{
    const reader *row;
    for (int32_t i = 0; (row = reader_at(i)) != NULL; i++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}
