/* capture_names.c - other words for the names of containers, jobs and users in a capture
 * SPDX-License-Identifier: MIT
 *
 * Works on bytes that the caller owns; opens nothing. A name is a run of bytes that are neither
 * blank nor punctuation: "kubepods-pod12_ab.slice" has the names "kubepods", "pod12", "ab" and
 * "slice".
 */
#include "capture_names.h"

#include <stdlib.h>
#include <string.h>

#include "../source.h"

/* == What stays ============================================================= */

/* The words of paths of cgroups and of mounts. */
static const char *const path_words[] = {
    "app",        "autogroup", "background", "batch",    "besteffort", "bind",
    "burstable",  "bus",       "cgroup",     "cgroup2",  "conmon",     "container",
    "containerd", "cpu",       "cpuset",     "cri",      "crio",       "dev",
    "devtmpfs",   "docker",    "ext4",       "extern",   "fs",         "fuse",
    "garden",     "gid",       "guaranteed", "hidepid",  "init",       "interactive",
    "invisible",  "irq",       "job",        "kubelet",  "kubepods",   "libpod",
    "lxc",        "lxcfs",     "machine",    "monitor",  "mount",      "name",
    "none",       "overlay",   "payload",    "pid",      "pids",       "pod",
    "podman",     "proc",      "ptraceable", "relatime", "ro",         "rw",
    "scope",      "service",   "session",    "slice",    "slurm",      "slurmstepd",
    "socket",     "step",      "subset",     "sys",      "sysfs",      "system",
    "systemd",    "task",      "tmpfs",      "uid",      "unified",    "user",
    "xfs",
};

/* The words of messages on stderr. */
static const char *const message_words[] = {
    "a",           "access",    "acquire",     "all",       "already",    "an",
    "and",         "another",   "any",         "are",       "argument",   "as",
    "at",          "available", "bad",         "bash",      "be",         "because",
    "been",        "board",     "busy",        "by",        "call",       "can",
    "cannot",      "card",      "check",       "chip",      "code",       "command",
    "common",      "connect",   "connection",  "container", "core",       "could",
    "cpu",         "dcmi",      "denied",      "dev",       "device",     "devices",
    "did",         "directory", "does",        "driver",    "error",      "exec",
    "execute",     "executed",  "exist",       "exists",    "exit",       "fail",
    "failed",      "file",      "find",        "for",       "format",     "found",
    "from",        "function",  "get",         "has",       "have",       "id",
    "in",          "info",      "information", "init",      "initialize", "initialized",
    "input",       "installed", "interface",   "internal",  "into",       "invalid",
    "io",          "is",        "it",          "kernel",    "lib",        "libraries",
    "library",     "load",      "loading",     "lock",      "malloc",     "may",
    "memory",      "model",     "module",      "must",      "name",       "no",
    "node",        "not",       "npu",         "null",      "number",     "object",
    "of",          "old",       "on",          "only",      "open",       "operation",
    "option",      "or",        "out",         "parameter", "permission", "permitted",
    "phy",         "please",    "process",     "query",     "read",       "refused",
    "resource",    "ret",       "return",      "root",      "run",        "server",
    "set",         "sh",        "shared",      "smi",       "so",         "socket",
    "start",       "status",    "such",        "support",   "supported",  "system",
    "temporarily", "that",      "the",         "there",     "this",       "timeout",
    "timed",       "to",        "too",         "try",       "type",       "unable",
    "unavailable", "unknown",   "usage",       "use",       "used",       "user",
    "usr",         "version",   "warn",        "warning",   "was",        "while",
    "with",        "write",     "wrong",       "you",
};

#define N_WORDS(list) (int32_t)(sizeof(list) / sizeof *(list))

static int to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int is_one_of(const char *const *words, int32_t n, const char *text, int32_t len)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t k = 0;
        while (k < len && words[i][k] && words[i][k] == to_lower(text[k]))
            k++;
        if (k == len && !words[i][k])
            return 1;
    }
    return 0;
}

/* == Words for names ======================================================== */

enum { DIGITS, HEX, LETTERS };

static int kind_of(const char *text, int32_t len)
{
    int has_digit = 0, has_letter = 0;
    for (int32_t i = 0; i < len; i++) {
        const int is_digit = text[i] >= '0' && text[i] <= '9';
        if (!is_digit && (text[i] < 'a' || text[i] > 'f'))
            return LETTERS;
        has_digit |= is_digit;
        has_letter |= !is_digit;
    }
    return has_digit && has_letter ? HEX : has_digit ? DIGITS : LETTERS;
}

/* Whether a run was overwritten before. */
static int is_overwritten(const char *text, int32_t len)
{
    int32_t i = 0;
    while (i < len && text[i] == 'x')
        i++;
    return i == len;
}

/* The number of a name among those of its length and kind, from 1; 0: no memory. */
static int32_t number_of(cli_names *names, const char *text, int32_t len, int kind)
{
    struct cli_name *found;
    int32_t number = 1;
    for (int32_t i = 0; i < names->n; i++) {
        if (names->name[i].len != len || names->name[i].kind != kind)
            continue;
        if (memcmp(names->name[i].text, text, (size_t)len) == 0)
            return names->name[i].number;
        number++;
    }
    if (names->n == names->cap) {
        const int32_t cap = names->cap ? names->cap * 2 : 64;
        found = (struct cli_name *)realloc(names->name, (size_t)cap * sizeof *found);
        if (!found)
            return 0;
        names->name = found;
        names->cap = cap;
    }
    found = &names->name[names->n];
    *found = (struct cli_name){(char *)malloc((size_t)len), len, kind, number};
    if (!found->text)
        return 0;
    memcpy(found->text, text, (size_t)len);
    names->n++;
    return number;
}

static void replace_name(cli_names *names, char *text, int32_t len)
{
    static const char *const digits[] = {"0123456789", "0123456789abcdef",
                                         "xabcdefghijklmnopqrstuvwyz"};
    const int kind = kind_of(text, len);
    const int32_t base = (int32_t)strlen(digits[kind]);
    int32_t number = number_of(names, text, len, kind);
    names->is_short |= number == 0;
    for (int32_t i = len; i-- > 0; number /= base)
        text[i] = digits[kind][number % base];
    if (kind == DIGITS) { /* without a leading zero it is a number to every reader */
        number += text[0] == '9';
        text[0]++;
    }
    names->is_short |= number > 0;
    names->n_place++;
}

static int is_part_of_name(char c)
{
    return (c >= '0' && c <= '9') || (to_lower(c) >= 'a' && to_lower(c) <= 'z') ||
           (unsigned char)c >= 0x80;
}

/* Replaces each name of text[at .. end - 1] that is not one of these words. */
static void replace_names(cli_names *names, char *text, int32_t at, int32_t end,
                          const char *const *words, int32_t n_word)
{
    while (at < end) {
        int32_t next = at;
        while (next < end && is_part_of_name(text[next]))
            next++;
        if (words == path_words && next - at > 5 && memcmp(text + at, "pod", 3) == 0 &&
            !is_one_of(words, n_word, text + at, next - at))
            at += 3; /* the id of a pod stands after this word */
        if (next - at > (kind_of(text + at, next - at) == DIGITS ? 2 : 1) &&
            !is_one_of(words, n_word, text + at, next - at) &&
            !is_overwritten(text + at, next - at))
            replace_name(names, text + at, next - at);
        at = next > at ? next : at + 1;
    }
}

static void replace_in_path(cli_names *names, char *text, int32_t at, int32_t end)
{
    replace_names(names, text, at, end, path_words, N_WORDS(path_words));
}

/* == Inputs ================================================================= */

/* The end of the line at `at`: its line feed or NUL, or the end of the text. */
static int32_t line_end(const char *text, int32_t at, int32_t len)
{
    while (at < len && text[at] != '\n' && text[at] != '\0')
        at++;
    return at;
}

/* The place after the n-th `c` from `at` on, or the end. */
static int32_t after(const char *text, int32_t at, int32_t end, char c, int n)
{
    while (at < end && n > 0)
        n -= text[at++] == c;
    return at;
}

/*   line = number ":" controllers ":" path */
static void replace_in_cgroup(cli_names *names, char *text, int32_t at, int32_t end)
{
    replace_in_path(names, text, after(text, at, end, ':', 2), end);
}

/*   line = id " " id " " number " " root " " place " " options " " fields "- " type " " source
 *          " " options */
static void replace_in_mount(cli_names *names, char *text, int32_t at, int32_t end)
{
    const int32_t root = after(text, at, end, ' ', 3);
    int32_t type = after(text, root, end, ' ', 3);
    replace_in_path(names, text, root, after(text, root, end, ' ', 1));
    while (type < end && !(text[type - 1] == ' ' && text[type] == '-'))
        type++;
    replace_in_path(names, text, after(text, type, end, ' ', 2), end);
}

/*   line = key ":" *( TAB number ): "Uid:", "Gid:" and "Groups:" */
static void replace_in_status(cli_names *names, char *text, int32_t at, int32_t end)
{
    static const char *const keys[] = {"Uid:", "Gid:", "Groups:"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const int32_t n = (int32_t)strlen(keys[i]);
        if (end - at > n && memcmp(text + at, keys[i], (size_t)n) == 0)
            replace_in_path(names, text, at + n, end);
    }
}

static void overwrite_file(cli_names *names, char *text, int32_t at, int32_t end)
{
    static const char key[] = " file=";
    const int32_t n = (int32_t)sizeof key - 1;
    while (end - at >= n && memcmp(text + at, key, (size_t)n) != 0)
        at++;
    if (end - at < n)
        return;
    for (at += n; at < end && text[at] != ' '; at++)
        if (text[at] != '/')
            text[at] = 'x';
    names->n_place++;
}

/*   line = "DRA_CPUSET_" claim "=" list */
static void replace_in_variable(cli_names *names, char *text, int32_t at, int32_t end)
{
    const int32_t n = (int32_t)sizeof CPUBIND_ENV_PREFIX - 1;
    int32_t stop = at;
    if (end - at < n || memcmp(text + at, CPUBIND_ENV_PREFIX, (size_t)n) != 0)
        return;
    while (stop < end && text[stop] != '=')
        stop++;
    replace_in_path(names, text, at + n, stop);
}

static void replace_in_message(cli_names *names, char *text, int32_t at, int32_t end)
{
    replace_names(names, text, at, end, message_words, N_WORDS(message_words));
}

static int ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), n_end = strlen(end);
    return n >= n_end && strcmp(name + n - n_end, end) == 0;
}

void cli_names_replace(cli_names *names, const char *input, char *text, int32_t len)
{
    const int is_proc = strncmp(input, "proc/", 5) == 0;
    void (*replace)(cli_names *, char *, int32_t, int32_t) =
        is_proc && ends_with(input, "/cgroup")      ? replace_in_cgroup
        : is_proc && ends_with(input, "/mountinfo") ? replace_in_mount
        : is_proc && ends_with(input, "/numa_maps") ? overwrite_file
        : is_proc && ends_with(input, "/status")    ? replace_in_status
        : is_proc && ends_with(input, "/environ")   ? replace_in_variable
        : strcmp(input, "env") == 0                 ? replace_in_variable
        : ends_with(input, ".err")                  ? replace_in_message
                                                    : NULL;
    for (int32_t at = 0; replace && at < len; at = line_end(text, at, len) + 1)
        replace(names, text, at, line_end(text, at, len));
}

void cli_names_replace_path(cli_names *names, char *input)
{
    static const char start[] = "sys/fs/cgroup/";
    const char *const leaf = strrchr(input, '/');
    const int32_t n = (int32_t)sizeof start - 1;
    if (strncmp(input, start, (size_t)n) == 0 && leaf > input + n)
        replace_in_path(names, input, n, (int32_t)(leaf - input));
}

void cli_names_free(cli_names *names)
{
    for (int32_t i = 0; i < names->n; i++)
        free(names->name[i].text);
    free(names->name);
}
