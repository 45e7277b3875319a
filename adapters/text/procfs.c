/* procfs.c - small files of /proc and /sys, and the environment of a snapshot
 * SPDX-License-Identifier: MIT
 *
 * Bytes to numbers. Pure: no I/O, no malloc, no errno, no locale. It must not open a file nor
 * ask the process that it runs in, for the bytes may be those of another host. The formats are
 * those of proc(5); they are in procfs.h.
 */
#include "procfs.h"

#include "scan.h"

/* Finds the list after "Cpus_allowed_list:", up to the line feed.
 *   status = *( line LF )            a line "Cpus_allowed_list:" TAB list; exactly one */
static cpubind_text_status find_allowed(const scan_text *in, scan_run *list)
{
    static const char key[] = "Cpus_allowed_list:";
    const int32_t key_len = (int32_t)(sizeof key - 1);
    int32_t at = 0, found = 0;

    while (at < in->len) {
        const char *feed = (const char *)memchr(in->text + at, '\n', (size_t)(in->len - at));
        const scan_run line = {at, feed ? (int32_t)(feed - in->text) : in->len};

        at = line.end + 1;
        if (!scan_starts(in, line, key, key_len))
            continue;
        if (found++)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, line.at,
                             "Cpus_allowed_list occurs twice");
        if (!feed)
            return scan_fail(in, CPUBIND_TEXT_ERR_CUT, line.end,
                             "the text ends in the middle of Cpus_allowed_list");
        list->at = line.at + key_len;
        list->end = line.end;
        if (scan_is_empty(*list) || in->text[list->at] != '\t')
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, list->at,
                             "a tab is missing before the list");
        list->at++;
    }
    if (!found)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, in->len,
                         "there is no line Cpus_allowed_list");
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_status_parse(const char *text, int32_t len, cpubind_int_list *list,
                                         cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    scan_run run = {0, 0};
    scan_run held[64];
    scan_list found = {.range = held, .cap = (int32_t)(sizeof held / sizeof *held)};
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !list || !scan_is_array(list->out, list->cap))
        return scan_fail_arg(fault);
    status = find_allowed(&in, &run);
    if (status == CPUBIND_TEXT_OK)
        status = cpubind_priv_read_list(&in, run, CPUBIND_MAX_CPUS, &found);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (found.stop != run.end)
        return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, found.stop,
                         "a byte does not belong to a list of CPUs");
    list->n = found.n;
    if (found.n > list->cap)
        return scan_fail_space(&in);
    cpubind_priv_write_list(&in, &found, list->out);
    return CPUBIND_TEXT_OK;
}

/*   number = [ "-" ] ( "0" / "1".."9" *DIGIT ) / "0x" 1*8HEXDIG   [ LF ] *NUL */
cpubind_text_status cpubind_number_parse(const char *text, int32_t len, int32_t *out,
                                         cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    const scan_run whole = {0, len};
    int32_t at = 0, value = 0;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !out)
        return scan_fail_arg(fault);
    if (SCAN_STARTS(&in, whole, "0x")) {
        at = 2;
        status = scan_hex(&in, &at, len, INT32_MAX, &value);
        if (status == CPUBIND_TEXT_OK && at > 2 + 8)
            status = scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, 2 + 8,
                               "a hexadecimal number has more than 8 digits");
    } else if (SCAN_STARTS(&in, whole, "-")) {
        at = 1;
        status = scan_number(&in, &at, len, INT32_MAX, &value);
        if (status == CPUBIND_TEXT_OK && value != 1)
            status =
                scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, 0, "a number below zero is not -1");
        value = -value;
    } else {
        status = scan_number(&in, &at, len, INT32_MAX, &value);
    }
    if (status == CPUBIND_TEXT_OK)
        status = scan_tail(&in, at);
    if (status == CPUBIND_TEXT_OK)
        *out = value;
    return status;
}

/* The length of the name of a variable; 0 when no variable can have that name. */
static int32_t name_len(const char *name)
{
    int32_t n = 0;

    while (name && name[n] != '\0') {
        if (name[n] == '=' || name[n] == '\n' || n == CPUBIND_TEXT_MAX)
            return 0;
        n++;
    }
    return n;
}

/*   env    = *( NAME "=" value LF )  the last line may lack its LF; the first NAME counts */
cpubind_text_status cpubind_env_find(const char *text, int32_t len, const char *name,
                                     cpubind_piece *out_value)
{
    const scan_text in = {text, len, NULL};
    const int32_t n = name_len(name);
    int32_t at = 0;

    if (!scan_is_text(text, len) || n == 0 || !out_value)
        return CPUBIND_TEXT_ERR_ARG;
    while (at < len) {
        const char *feed = (const char *)memchr(text + at, '\n', (size_t)(len - at));
        const scan_run line = {at, feed ? (int32_t)(feed - text) : len};

        if (scan_starts(&in, line, name, n) && at + n < line.end && text[at + n] == '=') {
            out_value->at = at + n + 1;
            out_value->len = line.end - out_value->at;
            return CPUBIND_TEXT_OK;
        }
        at = line.end + 1;
    }
    return CPUBIND_TEXT_ERR_MISSING;
}

/* Reads an id, 1*DIGIT below `limit` with leading zeros allowed, up to a comma or the end.
 * Returns -1 for any other token. */
static int32_t read_id(const scan_text *in, int32_t *at, int32_t limit)
{
    const int32_t start = *at;
    int64_t value = 0;
    int32_t i = start;

    for (; i < in->len && scan_is_digit(in->text[i]) && value < limit; i++)
        value = value * 10 + (in->text[i] - '0');
    if (i == start || value >= limit || (i < in->len && in->text[i] != ','))
        return -1;
    *at = i < in->len ? i + 1 : i;
    return (int32_t)value;
}

/*   ids    = id *( "," id )          reading stops at the first token that is no id
 * With `out` NULL the ids are only counted. */
static cpubind_text_status read_ids(const scan_text *in, int32_t limit, int32_t *out,
                                    int32_t *out_n, int32_t *out_used)
{
    int32_t at = 0, n = 0, last = -1;

    while (at < in->len) {
        const int32_t start = at;
        const int32_t id = read_id(in, &at, limit);

        if (id < 0)
            break;
        if (id <= last)
            return scan_fail(in, CPUBIND_TEXT_ERR_ORDER, start,
                             id == last ? "an id occurs twice" : "the ids do not ascend");
        if (out)
            out[n] = id;
        n++;
        last = id;
    }
    if (n == 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_MISSING, 0, "the list leaves no device");
    *out_n = n;
    *out_used = at;
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_visible_parse(const char *text, int32_t len, int32_t n_device,
                                          cpubind_visible *out, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    int32_t n = 0, used = 0;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !out || !scan_is_array(out->id, out->cap) || n_device < 0 ||
        n_device > CPUBIND_MAX_DEVICES)
        return scan_fail_arg(fault);
    status = read_ids(&in, n_device, NULL, &n, &used);
    if (status != CPUBIND_TEXT_OK)
        return status;
    out->n = n;
    if (n > out->cap)
        return scan_fail_space(&in);
    out->used = used;
    return read_ids(&in, n_device, out->id, &n, &used);
}

/* Reads one byte, which must be this one. */
static cpubind_text_status read_byte(const scan_text *in, int32_t *at, char byte,
                                     const char *what)
{
    if (*at == in->len)
        return scan_fail_cut(in);
    if (in->text[*at] != byte)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, *at, what);
    ++*at;
    return CPUBIND_TEXT_OK;
}

/* Reads " " integer. With `out` NULL the integer is not kept and may be negative. */
static cpubind_text_status read_field(const scan_text *in, int32_t *at, uint64_t max,
                                      uint64_t *out)
{
    uint64_t ignored;
    cpubind_text_status status = read_byte(in, at, ' ', "a blank is missing before a number");

    if (status != CPUBIND_TEXT_OK)
        return status;
    if (!out && *at < in->len && in->text[*at] == '-')
        ++*at;
    return scan_wide(in, at, max, out ? out : &ignored);
}

/* Reads " " integer; one that is no number of a process is 0. */
static cpubind_text_status read_process(const scan_text *in, int32_t *at, uint64_t *out)
{
    const int is_negative = in->len - *at > 1 && in->text[*at + 1] == '-';
    const cpubind_text_status status = read_field(in, at, UINT64_MAX, is_negative ? NULL : out);
    if (*out > INT32_MAX)
        *out = 0;
    return status;
}

/* Reads number " (" name ") " letter; *at moves past it. */
static cpubind_text_status read_stat_head(const scan_text *in, int32_t *at, cpubind_stat *out)
{
    uint64_t pid = 0;
    int32_t end = in->len;
    cpubind_text_status status = scan_wide(in, at, INT32_MAX, &pid);

    if (status == CPUBIND_TEXT_OK)
        status = read_byte(in, at, ' ', "a blank is missing before the name");
    if (status == CPUBIND_TEXT_OK)
        status = read_byte(in, at, '(', "the name does not start with a parenthesis");
    if (status != CPUBIND_TEXT_OK)
        return status;
    while (end > *at && in->text[end - 1] != ')')
        end--;
    if (end == *at)
        return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len, "the name does not end");
    out->pid = (int32_t)pid;
    out->name.at = *at;
    out->name.len = end - 1 - *at;
    *at = end;
    status = read_byte(in, at, ' ', "a blank is missing before the state");
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (*at == in->len)
        return scan_fail_cut(in);
    out->state = in->text[*at];
    if ((out->state | 0x20) < 'a' || (out->state | 0x20) > 'z')
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, *at, "the state is no letter");
    ++*at;
    return CPUBIND_TEXT_OK;
}

/*   stat   = number " (" name ") " letter 1*( " " integer ) LF */
cpubind_text_status cpubind_stat_parse(const char *text, int32_t len, cpubind_stat *out,
                                       cpubind_text_fault *fault)
{
    enum {
        PPID = 4,
        GROUP = 5,
        SESSION = 6,
        FLAGS = 9,
        N_MINOR = 10,
        N_MAJOR = 12,
        N_THREADS = 20,
        START = 22,
        CODE = 26,
        STACK = 28,
        CPU = 39
    };
    const scan_text in = {text, len, fault};
    cpubind_stat stat = {0, {0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1};
    uint64_t ppid = 0, group = 0, session = 0, flags = 0, n_threads = 0, cpu = 0;
    int32_t at = 0, field = PPID;
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !out)
        return scan_fail_arg(fault);
    status = read_stat_head(&in, &at, &stat);
    for (; status == CPUBIND_TEXT_OK && (field <= START || at == len || text[at] != '\n');
         field++) {
        if (field == PPID)
            status = read_field(&in, &at, INT32_MAX, &ppid);
        else if (field == GROUP || field == SESSION) /* -1 of a process that ends */
            status = read_process(&in, &at, field == GROUP ? &group : &session);
        else if (field == FLAGS)
            status = read_field(&in, &at, UINT64_MAX, &flags);
        else if (field == N_THREADS)
            status = read_field(&in, &at, INT32_MAX, &n_threads);
        else if (field == CPU)
            status = read_field(&in, &at, INT32_MAX, &cpu);
        else
            status = read_field(&in, &at, UINT64_MAX,
                                field == N_MINOR   ? &stat.n_minor
                                : field == N_MAJOR ? &stat.n_major
                                : field == START   ? &stat.start
                                : field == CODE    ? &stat.code
                                : field == STACK   ? &stat.stack
                                                   : NULL);
    }
    if (status == CPUBIND_TEXT_OK && at + 1 < len)
        status = scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, at + 1, "a second line follows");
    if (status != CPUBIND_TEXT_OK)
        return status;
    stat.ppid = (int32_t)ppid;
    stat.group = (int32_t)group;
    stat.session = (int32_t)session;
    stat.flags = (uint32_t)flags;
    stat.n_threads = (int32_t)n_threads;
    if (field > CPU)
        stat.cpu = (int32_t)cpu;
    *out = stat;
    return CPUBIND_TEXT_OK;
}

enum { COMM_KEPT = 15 }; /* TASK_COMM_LEN of Linux, without its NUL */

/* The name may hold line feeds; one at the end belongs to the file. */
int cpubind_comm_is(const char *comm, int32_t len, const char *name)
{
    const size_t kept = COMM_KEPT;
    size_t n, n_name;

    if (!comm || !name || len < 0)
        return 0;
    n = (size_t)len;
    if (n > 0 && comm[n - 1] == '\n')
        n--;
    n_name = strlen(name);
    return (n == n_name || (n == kept && n_name > kept)) && memcmp(comm, name, n) == 0;
}

int cpubind_pattern_make(const char *text, char out[CPUBIND_PATTERN_SIZE])
{
    size_t n = strlen(text), n_star = 0;
    if (n > COMM_KEPT && !memchr(text, '*', COMM_KEPT))
        n = COMM_KEPT;
    if (n == 0 || n >= CPUBIND_PATTERN_SIZE)
        return 0;
    for (size_t i = 0; i < n; i++)
        n_star += text[i] == '*';
    if (n - n_star > COMM_KEPT)
        return 0;
    memcpy(out, text, n);
    out[n] = '\0';
    return 1;
}

int cpubind_pattern_matches(const char *pattern, const char *name)
{
    const char *after_star = NULL, *tried = NULL; /* where the last `*` ends, in both */
    while (*name) {
        if (*pattern == '*') {
            after_star = ++pattern;
            tried = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (after_star) {
            pattern = after_star;
            name = ++tried;
        } else {
            return 0;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
