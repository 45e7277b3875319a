/* host_cases.h - cases about hosts: the verbs that make one
 * SPDX-License-Identifier: MIT
 *
 *   host NAME [= OTHER]   in a file of cases, outside of them: a host, with the files of OTHER
 *                         and those that follow
 *   on NAME               the host is NAME as its file of cases has it
 *   file NAME             the data are those of an input; a NAME that ends in "/" is the list
 *                         of a folder
 *   file NAME = LINE      an input of one line
 *   pci ADDRESS LEAF=TEXT ...   files of a function of the PCI bus, of one line each
 *   gone NAME             the host has no such input
 *   fails NAME STATE [N]  reading it fails: failed (with errno N), timeout, too_long, absent
 *   exits NAME            the command ends with status 1
 *   well                  nothing fails any more
 *   seen TEXT             the last verb has asked for an input with TEXT in its name
 *   unseen TEXT           it has not
 */
#ifndef CPUBIND_TESTS_SUPPORT_HOST_CASES_H
#define CPUBIND_TESTS_SUPPORT_HOST_CASES_H

#include "cases.h"
#include "memory_host.h"

static const char *const input_states[] = {"absent", "present", "failed", "timeout",
                                           "too_long"};

static memory_host host; /* that of the case */

/* == The verbs ============================================================== */

static inline void put_file(step *now)
{
    split_file(now);
    set(&host, now->rest, now->data ? now->data : "");
}

static char composed[1 << 17]; /* names and texts of `pci` */
static size_t n_composed;

static inline const char *compose(const char *format, const char *a, const char *b)
{
    char *text = composed + n_composed;
    const int n = snprintf(text, sizeof composed - n_composed, format, a, b);
    assert_true(n > 0 && n_composed + (size_t)n < sizeof composed);
    n_composed += (size_t)n + 1;
    return text;
}

static inline void put_function(step *now)
{
    char words[1024], *rest = words;
    (void)snprintf(words, sizeof words, "%s", now->rest);
    const char *address = strtok_r(rest, " ", &rest);
    for (char *leaf; (leaf = strtok_r(rest, " ", &rest)) != NULL;) {
        char *text = leaf + strcspn(leaf, "=");
        assert_int_equal(*text, '=');
        *text++ = '\0';
        set(&host, compose("sys/bus/pci/devices/%s/%s", address, leaf),
            compose("%s\n%s", text, ""));
    }
}

static inline void take_file(step *now)
{
    take_away(&host, now->rest);
}

static inline void fail_file(step *now)
{
    static char name[256];
    char state[16] = "";
    host.error = 0;
    assert_in_range(sscanf(now->rest, "%255s %15s %d", name, state, &host.error), 2, 3);
    host.failing = name;
    for (int i = 0; i <= CPUBIND_INPUT_TOO_LONG; i++)
        if (strcmp(input_states[i], state) == 0)
            host.state = (cpubind_input_state)i;
}

static inline void end_command(step *now)
{
    host.exits_1 = now->rest;
}

static inline void make_well(step *now)
{
    (void)now;
    host.failing = host.exits_1 = NULL;
}

static inline void stand_on(step *now);
static inline void look_for(step *now);

#define HOST_VERBS                                                                             \
    {"on", stand_on}, {"file", put_file}, {"pci", put_function}, {"gone", take_file},          \
        {"fails", fail_file}, {"exits", end_command}, {"well", make_well}, {"seen", look_for}, \
    {                                                                                          \
        "unseen", look_for                                                                     \
    }

/* == Hosts ================================================================== */

static inline void forget_host(void)
{
    memset(&host, 0, sizeof host);
    n_composed = 0;
}

/* Makes the host that a line "host NAME [= OTHER]" starts. */
static inline void make_host(const script *s, const char *name)
{
    const size_t n = strlen(name);
    int32_t i = 0;
    while (i < s->n &&
           (strcmp(s->step[i].verb, "host") != 0 || strncmp(s->step[i].rest, name, n) != 0 ||
            (s->step[i].rest[n] != '\0' && s->step[i].rest[n] != ' ')))
        i++;
    if (i == s->n)
        fail_msg("%s: there is no host %s", s->path, name);
    if (strncmp(s->step[i].rest + n, " = ", 3) == 0)
        make_host(s, s->step[i].rest + n + 3);
    else
        forget_host();
    while (++i < s->n && !is_head(&s->step[i]))
        verb_of(&s->step[i])->carry_out(&s->step[i]);
}

static inline void stand_on(step *now)
{
    make_host(now->script, now->rest);
}

static inline void look_for(step *now)
{
    if ((strstr(host.seen, now->rest) != NULL) != (*now->verb == 's'))
        fail_msg("%s:%d: asked for: %s", now->script->path, now->line, host.seen);
}

#endif
