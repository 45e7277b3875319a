/* procfs.c - small files of /proc and /sys, and the environment of a snapshot
 * SPDX-License-Identifier: MIT
 *
 * Bytes to numbers. Pure: no I/O, no malloc, no errno, no locale. It must not open a file nor
 * ask the process that it runs in, for the bytes may be those of another host. The formats are
 * those of proc(5); they are in procfs.h.
 */
#include "procfs.h"

#include "cpulist.h"
#include "cursor.h"

/*   status = *( line LF )            a line "Cpus_allowed_list:" TAB list; exactly one */
cpubind_text_status cpubind_status_parse(const char *text, int32_t len, int32_t limit,
                                         cpubind_int_list *list, cpubind_text_fault *fault)
{
    static const char key[] = "Cpus_allowed_list:";
    cursor_text of;
    cursor c =
        cursor_open(&of, text, len, fault, list && cursor_is_array(list->out, list->cap));
    cursor line, more;
    if (!cursor_find(&c, key, &line))
        return cursor_fail(&c, CPUBIND_TEXT_ERR_MISSING, of.len,
                           "there is no line Cpus_allowed_list");
    if (cursor_is_cut(&c, &line))
        (void)cursor_fail_cut(&c);
    cursor_need(&line, "\t", "a tab is missing before the list");
    if (cursor_find(&c, key, &more))
        (void)cursor_fail(&c, CPUBIND_TEXT_ERR_SYNTAX, more.at - (int32_t)strlen(key),
                          "Cpus_allowed_list occurs twice");
    if (!cursor_ok(&c))
        return of.status;
    of.status = cpubind_cpulist_parse(text + line.at, cursor_len(&line), limit, list, fault);
    if (fault)
        fault->offset += of.status == CPUBIND_TEXT_OK ? 0 : line.at;
    return of.status;
}

/*   lines  = *( [ "Node" number ] name ":" number [ "kB" ] LF ) */
cpubind_text_status cpubind_kb_find(const char *text, int32_t len, const char *name,
                                    int64_t *out_kb, cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, name && *name && out_kb), line;
    while (cursor_line(&c, &line)) {
        const int is_cut = cursor_is_cut(&c, &line);
        cursor word = cursor_word(&line);
        if (cursor_is(word, "Node")) {
            (void)cursor_word(&line);
            word = cursor_word(&line);
        }
        if (!cursor_takes(&word, name) || !cursor_is(word, ":"))
            continue;
        if (is_cut)
            (void)cursor_fail_cut(&c);
        const int64_t kb = (int64_t)cursor_whole(cursor_word(&line), INT64_MAX);
        if (cursor_ok(&c))
            *out_kb = kb;
        return of.status;
    }
    return cursor_fail(&c, CPUBIND_TEXT_ERR_MISSING, of.len, "no line has this name");
}

/*   number = "-1" / "0" / "1".."9" *DIGIT / "0x" 1*HEXDIG   [ LF ] *NUL */
cpubind_text_status cpubind_number_parse(const char *text, int32_t len, int32_t *out,
                                         cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, out != NULL);
    int32_t value = -1;
    if (cursor_takes(&c, "0x"))
        value = (int32_t)cursor_hex(&c, INT32_MAX);
    else if (!cursor_takes(&c, "-1"))
        value = (int32_t)cursor_number(&c, INT32_MAX);
    cursor_tail(&c);
    if (cursor_ok(&c))
        *out = value;
    return of.status;
}

/*   env    = *( NAME "=" value LF )  the last line may lack its LF; the first NAME counts */
cpubind_text_status cpubind_env_find(const char *text, int32_t len, const char *name,
                                     cpubind_piece *out_value)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, NULL,
                           name && *name && !memchr(name, '=', strlen(name)) &&
                               !memchr(name, '\n', strlen(name)) && out_value);
    cursor value;
    if (!cursor_variable(c, name, &value))
        return cursor_fail(&c, CPUBIND_TEXT_ERR_MISSING, 0, "it is not set");
    *out_value = cursor_piece(value);
    return of.status;
}

cpubind_piece cpubind_environ_find(const char *text, int32_t len, const char *name)
{
    const int32_t n = (int32_t)strlen(name);
    for (int32_t at = 0, n_one; at < len; at += n_one + 1) {
        const char *end = (const char *)memchr(text + at, '\0', (size_t)(len - at));
        n_one = end ? (int32_t)(end - text) - at : len - at;
        if (n_one > n && memcmp(text + at, name, (size_t)n) == 0 && text[at + n] == '=')
            return (cpubind_piece){at + n + 1, n_one - n - 1};
    }
    return (cpubind_piece){0, -1};
}

/*   ids    = id *( "," id )          reading stops at the first token that is no id */
cpubind_text_status cpubind_visible_parse(const char *text, int32_t len, int32_t n_device,
                                          cpubind_visible *out, cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault,
                           out && cursor_is_array(out->id, out->cap) && n_device >= 0 &&
                               n_device <= CPUBIND_MAX_DEVICES);
    int32_t n = 0, used = 0, last = -1, id;
    for (; cursor_left(&c) && n_device > 0; n++, used = c.at, last = id) {
        cursor token = cursor_cut(&c, ',');
        const int32_t start = token.at;
        while (cursor_len(&token) > 1 && cursor_takes(&token, "0"))
            continue;
        if (!cursor_is_number(token, (uint64_t)n_device - 1, &id))
            break;
        if (id <= last)
            (void)cursor_fail(&c, CPUBIND_TEXT_ERR_ORDER, start,
                              id == last ? "an id occurs twice" : "the ids do not ascend");
        if (n < out->cap)
            out->id[n] = id;
    }
    if (n == 0)
        (void)cursor_fail(&c, CPUBIND_TEXT_ERR_MISSING, 0, "the list leaves no device");
    if (!cursor_ok(&c))
        return of.status;
    out->n = n;
    if (n <= out->cap)
        out->used = used;
    return cursor_room(&c, n, out->cap);
}

/* The name of a thread may hold any byte: it ends before the last parenthesis. */
static cursor read_name(cursor *c)
{
    cursor name;
    cursor_need(c, " (", "the name does not start after a blank and a parenthesis");
    name = *c;
    while (name.end > name.at && name.text[name.end - 1] != ')')
        name.end--;
    if (name.end == name.at)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_CUT, c->of->len, "the name does not end");
    else
        c->at = name.end--;
    return name;
}

/*   stat   = number " (" name ") " letter 1*( " " integer ) LF */
cpubind_text_status cpubind_stat_parse(const char *text, int32_t len, cpubind_stat *out,
                                       cpubind_text_fault *fault)
{
    enum {
        PPID = 4,
        GROUP = 5, /* and SESSION: -1 of a process that ends */
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
#define BIT(field) (UINT64_C(1) << (field))
    const uint64_t small = BIT(PPID) | BIT(N_THREADS) | BIT(CPU);
    const uint64_t kept =
        small | BIT(FLAGS) | BIT(N_MINOR) | BIT(N_MAJOR) | BIT(START) | BIT(CODE) | BIT(STACK);
#undef BIT
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, out != NULL), line;
    const int32_t pid = (int32_t)cursor_number(&c, INT32_MAX);
    const cursor name = read_name(&c);
    uint64_t field[64] = {0};
    int32_t n = PPID;
    line = cursor_only_line(&c);
    cursor_need(&line, " ", "a blank is missing before the state");
    const char state = (char)cursor_next(&line);
    if (!cursor_is_letter(state))
        (void)cursor_bad(&line, "the state is no letter");
    for (line.at++; n <= START || (cursor_left(&line) && n < 64); n++) {
        cursor_need(&line, " ", "a blank is missing before a number");
        const int is_negative = !(kept >> n & 1) && cursor_takes(&line, "-");
        field[n] = cursor_number(&line, small >> n & 1 ? INT32_MAX : UINT64_MAX);
        if ((n == GROUP || n == SESSION) && (is_negative || field[n] > INT32_MAX))
            field[n] = 0;
    }
    if (cursor_ok(&c))
        *out = (cpubind_stat){.pid = pid,
                              .name = cursor_piece(name),
                              .state = state,
                              .ppid = (int32_t)field[PPID],
                              .group = (int32_t)field[GROUP],
                              .session = (int32_t)field[SESSION],
                              .flags = (uint32_t)field[FLAGS],
                              .n_threads = (int32_t)field[N_THREADS],
                              .start = field[START],
                              .code = field[CODE],
                              .stack = field[STACK],
                              .n_minor = field[N_MINOR],
                              .n_major = field[N_MAJOR],
                              .cpu = n > CPU ? (int32_t)field[CPU] : -1};
    return of.status;
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
