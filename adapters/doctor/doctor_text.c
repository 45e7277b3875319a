/* doctor_text.c - the sentences and commands of findings
 * SPDX-License-Identifier: MIT
 *
 * Pure: bytes into the caller's buffers, copies in the arena. It must not print.
 */
#include <stdarg.h>

#include "../text/cpulist.h"
#include "doctor_parts.h"

static char *bytes_of(doctor_text *text)
{
    return text->whole ? text->whole : text->text;
}

/* Bytes that can be added before it has to grow. */
static int32_t room_of(const doctor_text *text)
{
    return (text->whole ? text->cap : (int32_t)sizeof text->text) - 1 - text->len;
}

/* The text with room for n more bytes and a NUL; NULL: it stays as it is. */
static char *make_room(doctor_text *to, int32_t n)
{
    char *grown;
    if (n <= room_of(to))
        return bytes_of(to);
    grown = to->of ? (char *)cpubind_arena_take(to->of->arena, 2 * (to->len + n), 1) : NULL;
    if (to->of)
        to->of->is_short |= !grown;
    if (!grown)
        return NULL;
    memcpy(grown, bytes_of(to), (size_t)to->len);
    to->whole = grown;
    to->cap = 2 * (to->len + n);
    return grown;
}

void doctor_add_bytes(doctor_text *to, const char *bytes, int32_t len)
{
    char *text = make_room(to, len);
    if (!text) { /* what fits */
        text = bytes_of(to);
        len = room_of(to);
    }
    memcpy(text + to->len, bytes, (size_t)len);
    to->len += len;
    text[to->len] = '\0';
}

static void add_number(doctor_text *to, int64_t number)
{
    char digits[24];
    int32_t at = (int32_t)sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do
        digits[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (number < 0)
        digits[--at] = '-';
    doctor_add_bytes(to, digits + at, (int32_t)sizeof digits - at);
}

void doctor_add(doctor_text *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    for (const char *at = format; *at; at++) {
        if (*at != '%') {
            doctor_add_bytes(to, at, 1);
        } else if (*++at == 'd') {
            add_number(to, va_arg(arguments, int));
        } else {
            const char *text = va_arg(arguments, const char *);
            doctor_add_bytes(to, text, (int32_t)strlen(text));
        }
    }
    va_end(arguments);
}

void doctor_add_cpus(doctor_text *to, const int32_t *cpu, int32_t n)
{
    enum { MOST = 12 }; /* bytes of a number, and of what is before it */
    char *text = make_room(to, 0);
    int32_t len = 0;
    cpubind_text_status status = CPUBIND_TEXT_OK;
    if (n == 0) {
        doctor_add(to, "none");
        return;
    }
    if (text)
        status = cpubind_cpulist_format(cpu, n, text + to->len, room_of(to), &len);
    if (text && status != CPUBIND_TEXT_OK && (text = make_room(to, n * MOST)))
        status = cpubind_cpulist_format(cpu, n, text + to->len, n * MOST, &len);
    if (!text || status != CPUBIND_TEXT_OK) {
        doctor_add(to, "...");
        return;
    }
    to->len += len;
    text[to->len] = '\0';
}

void doctor_add_words(doctor_text *to, const int32_t *number, int32_t n)
{
    enum { LEAST = 4 }; /* numbers that are worth a call of seq */
    for (int32_t i = 0, run; i < n; i += run) {
        const int32_t step = i + 1 < n ? number[i + 1] - number[i] : 0;
        for (run = 1; i + run < n && number[i + run] - number[i + run - 1] == step;)
            run++;
        doctor_add(to, i ? " " : "");
        if (run >= LEAST && step > 0) {
            doctor_add(to, "$(seq %d %d %d)", (int)number[i], (int)step,
                       (int)number[i + run - 1]);
        } else {
            run = 1;
            doctor_add(to, "%d", (int)number[i]);
        }
    }
}

void doctor_add_mib(doctor_text *to, int64_t bytes)
{
    add_number(to, bytes >> 20);
    doctor_add(to, " MiB");
}

const char *doctor_keep(doctor *d, const char *text)
{
    const int32_t n = (int32_t)strlen(text) + 1;
    char *copy = (char *)cpubind_arena_take(d->arena, n, 1);
    if (!copy) {
        d->is_short = 1;
        return "";
    }
    memcpy(copy, text, (size_t)n);
    return copy;
}

const char *doctor_keep_text(doctor *d, const doctor_text *text)
{
    return text->whole ? text->whole : doctor_keep(d, text->text);
}

cpubind_change *doctor_keep_changes(doctor *d, cpubind_doctor_finding *f, int32_t n)
{
    cpubind_change *change = (cpubind_change *)cpubind_arena_take(d->arena, n, sizeof *change);
    if (!change) {
        d->is_short = 1;
        return NULL;
    }
    memset(change, 0, (size_t)n * sizeof *change);
    f->change = change;
    f->n_change = n;
    return change;
}

const int32_t *doctor_keep_cpus(doctor *d, const int32_t *cpu, int32_t n)
{
    int32_t *copy = cpubind_arena_ints(d->arena, n);
    if (!copy)
        d->is_short = 1;
    else if (n > 0)
        memcpy(copy, cpu, (size_t)n * sizeof *copy);
    return copy;
}
