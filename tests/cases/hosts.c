/* hosts.c - hosts in memory, and what is read and planned of them
 * SPDX-License-Identifier: MIT
 *
 * The cases are tests/cases/hosts_*.txt. Besides the verbs of host.h:
 *   on NAME               the host is NAME as its file of cases has it, and nothing is asked
 *   ask WORD=VALUE ...    this is asked, and nothing else: `questions` below
 *   plan                  plans; plan_text.h
 *   differs WORD=VALUE .. asks this, plans by the rules near and reference, and says in which
 *                         lines the plan is another one than that of the host as `on` made it
 *   goal WORD=VALUE ...   plans, and says the goal of the process of a row: row=N, processes=N,
 *                         process=I, threads=product, NAME:WHERE a wish for threads
 *   users                 who uses which NPU
 *   cores                 reads the facts alone, and says which cores they tell
 *   counts                counts the host
 *   visits                the inputs that a capture visits, those that `on` has told left out
 *   walk                  a visit can end the walk, and an input that fails is visited
 *   known NAME            an input is known, unknown: it is not; no_start: it is, and no start
 *                         of its name is
 *   arena                 plans in arenas of every size: those that are too small are told
 *   excluding             excludes any CPUs: the plan is that of a process that may not have
 *                         them
 */
#include "../../adapters/ascend/input_list.h"
#include "../../adapters/ascend/npu_processes.h"
#include "../../adapters/plan/process_goal.h"
#include "../../adapters/text/input_name.h"
#include "../support/exact_buffer.h"
#include "../support/lists.h"
#include "plan_text.h"

/* == What is asked ====================================================== */

#define WORDS_X(name, word) word,
static const char *const scopes[] = {CPUBIND_SCOPE_LIST(WORDS_X) NULL};
static const char *const origins[] = {CPUBIND_ORIGIN_LIST(WORDS_X) NULL};
static const char *const rules[] = {CPUBIND_RULES_LIST(WORDS_X) NULL};
#undef WORDS_X
static const char *const types[] = {"auto", "a2", "a3", "300i", "950", "310b", NULL};

static cpubind_request ask;
static int32_t numbers[1 << 17], n_number; /* those of the lists that are asked */

#define AT(field) offsetof(cpubind_request, field)
#define NO_PLACE  ((size_t)-1)

/* What the word of a question sets: a number; the place of one of `words`; a list or a text,
 * with its length at `second`. Else `second` is a flag, which becomes `flag`. */
static const struct question {
    const char *word;
    enum { NUMBER, WORD, LIST, TEXT } kind;
    size_t first, second;
    int32_t flag;
    const char *const *words;
} questions[] = {
    {"type", WORD, AT(type), NO_PLACE, 0, types},
    {"strategy", WORD, AT(strategy), AT(is_auto_strategy), 0, strategies},
    {"overlap", WORD, AT(overlap), NO_PLACE, 0, overlaps},
    {"scope", WORD, AT(scope), NO_PLACE, 0, scopes},
    {"origin", WORD, AT(origin), NO_PLACE, 0, origins},
    {"rules", WORD, AT(rules), AT(has_rules), 1, rules},
    {"npus", LIST, AT(device), AT(n_device), 0, NULL},
    {"n_npus", NUMBER, AT(n_device), NO_PLACE, 0, NULL},
    {"visible", TEXT, AT(visible), AT(visible_len), 0, NULL},
    {"visible_len", NUMBER, AT(visible_len), NO_PLACE, 0, NULL},
    {"running", NUMBER, AT(only_running), NO_PLACE, 0, NULL},
    {"total", NUMBER, AT(total), NO_PLACE, 0, NULL},
    {"rank", NUMBER, AT(rank), AT(has_rank), 1, NULL},
    {"job", NUMBER, AT(n_job), NO_PLACE, 0, NULL},
    {"allowed", LIST, AT(allowed), AT(n_allowed), 0, NULL},
    {"exclude", LIST, AT(exclude), AT(n_exclude), 0, NULL},
    {"keep", LIST, AT(keep), AT(n_keep), 0, NULL},
    {"n_keep", NUMBER, AT(n_keep), NO_PLACE, 0, NULL},
    {"keep_each", NUMBER, AT(keep_each), NO_PLACE, 0, NULL},
    {"processes", NUMBER, AT(n_process), NO_PLACE, 0, NULL},
    {"process", NUMBER, AT(process), NO_PLACE, 0, NULL},
    {"pci", NUMBER, AT(wants_pci), NO_PLACE, 0, NULL},
};

static int32_t word_place(const char *const *words, const char *word)
{
    int32_t i = 0;
    if (*word == '#')
        return (int32_t)strtol(word + 1, NULL, 10);
    while (words[i] && strcmp(words[i], word) != 0)
        i++;
    assert_non_null(words[i]);
    return i;
}

static void ask_one(const struct question *q, char *value)
{
    char *const to = (char *)&ask;
    int32_t number = q->flag;
    const void *pointer = value;
    if (q->kind == LIST) {
        const char *at = value;
        pointer = numbers + n_number;
        number = lists_read(&at, numbers + n_number);
        if (*value == '#')
            numbers[n_number + number++] = (int32_t)strtol(value + 1, NULL, 10);
        n_number += number;
        assert_in_range(n_number, 0,
                        (int32_t)(sizeof numbers / sizeof *numbers) - CPUBIND_MAX_CPUS);
    } else if (q->kind == TEXT) {
        number = (int32_t)strlen(value);
    }
    if (q->second != NO_PLACE)
        memcpy(to + q->second, &number, sizeof number);
    if (q->kind == LIST || q->kind == TEXT) {
        memcpy(to + q->first, &pointer, sizeof pointer);
        return;
    }
    number = q->kind == WORD ? word_place(q->words, value) : (int32_t)strtol(value, NULL, 10);
    memcpy(to + q->first, &number, sizeof number);
}

static void ask_nothing(void)
{
    ask = (cpubind_request){.is_auto_strategy = 1};
}

/* The text of a step is cut for good: a case runs once. */
static void ask_all(step *now)
{
    ask_nothing();
    for (char *word = strtok(now->rest, " "); word; word = strtok(NULL, " ")) {
        char *value = word + strcspn(word, "=");
        size_t i = 0;
        if (strcmp(word, "others") == 0) {
            ask.wants_others = 1;
            continue;
        }
        assert_int_equal(*value, '=');
        *value++ = '\0';
        while (i < sizeof questions / sizeof *questions && strcmp(questions[i].word, word) != 0)
            i++;
        if (i == sizeof questions / sizeof *questions)
            fail_msg("%s: nothing is called so that can be asked", word);
        ask_one(&questions[i], value);
    }
}

/* == What comes of it ======================================================= */

static attempt read_in(const cpubind_request *request, size_t size)
{
    const cpubind_source source = source_of_host();
    attempt a;
    memset(&a, 0, sizeof a);
    a.arena = (cpubind_arena){(char *)malloc(size ? size : 1), size, 0};
    assert_non_null(a.arena.base);
    a.code = cpubind_facts_read(&source, request, &a.arena, &a.facts, &a.problem);
    return a;
}

static attempt try_in(const cpubind_request *request, size_t size)
{
    attempt a = read_in(request, size);
    if (a.code == CPUBIND_PROBLEM_NONE)
        a.code = cpubind_plan_make(&a.facts, request, &a.arena, &a.plan, &a.problem);
    assert_true(a.arena.used <= a.arena.size);
    return a;
}

static attempt try(const cpubind_request *request)
{
    return try_in(request, (size_t)4 << 20);
}

static void drop(attempt *a)
{
    free(a->arena.base);
}

static void plan_to(said *s)
{
    attempt a = try(&ask);
    s->len = 0;
    say_plan(s, &a);
    drop(&a);
}

static void make_plan(step *now)
{
    static said s;
    plan_to(&s);
    expect(now, &s);
}

static void tell_cores(step *now)
{
    static said s;
    attempt a = read_in(&ask, (size_t)4 << 20);
    s.len = 0;
    s.text[0] = '\0';
    say_topology(&s, &a);
    drop(&a);
    expect(now, &s);
}

/* == What a change makes of a plan ========================================== */

/* The lines of a text that another one lacks, each behind `sign`. */
static void say_lines(said *s, const char *sign, const said *of, const said *other)
{
    for (const char *line = of->text, *end; *line; line = end + 1) {
        const char *at = other->text;
        size_t n;
        end = strchr(line, '\n');
        n = (size_t)(end - line) + 1;
        while (at && strncmp(at, line, n) != 0)
            at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
        if (!at)
            say(s, "> %s%.*s", sign, (int)n - 2, line + 2);
    }
}

static void tell_difference(step *now)
{
    static memory_host changed;
    static said s, whole, is;
    const size_t n_made = n_composed;
    ask_all(now);
    ask.has_rules = 1;
    changed = host;
    s.len = 0;
    for (int i = 0; i < CPUBIND_RULES_COUNT; i++) {
        ask.rules = (cpubind_rules)i;
        host = changed;
        plan_to(&is);
        make_host(now->script, changed.name);
        plan_to(&whole);
        if (strcmp(is.text, whole.text) == 0)
            say(&s, "> %s: the same\n", cpubind_rules_word(ask.rules));
        else
            say(&s, "> %s:\n", cpubind_rules_word(ask.rules));
        if (strncmp(is.text, "> refused", 9) != 0)
            say_lines(&s, "- ", &whole, &is);
        say_lines(&s, "+ ", &is, &whole);
    }
    host = changed;
    n_composed = n_made;
    expect(now, &s);
}

static cpubind_problem_code code_in(size_t size)
{
    attempt a = try_in(&ask, size);
    drop(&a);
    return a.code;
}

/* Every arena that is too small gives NO_MEMORY; the first that is large enough, the plan. More
 * may be needed than is used in the end: what only a comparison needs is given back. */
static void try_arenas(step *now)
{
    (void)now;
    attempt whole = try(&ask);
    size_t needed = whole.arena.used, enough = whole.arena.size;
    assert_int_equal(whole.code, CPUBIND_PROBLEM_NONE);
    drop(&whole);
    while (needed < enough) {
        const size_t middle = needed + (enough - needed) / 2;
        if (code_in(middle) == CPUBIND_PROBLEM_NONE)
            enough = middle;
        else
            needed = middle + 1;
    }
    const size_t fine = 7 * (size_t)one_in(10);
    for (size_t size = 0; size < needed;
         size += size < 4096 || size + 8192 >= needed ? fine : 4093)
        assert_int_equal(code_in(size), CPUBIND_PROBLEM_NO_MEMORY);
    assert_int_equal(code_in(needed), CPUBIND_PROBLEM_NONE);
}

/* A plan, whatever it says of the cpuset: one that lacks the excluded CPUs is a part. */
static void say_without(said *s, const cpubind_request *request)
{
    attempt a = try(request);
    a.plan.warnings &= ~(CPUBIND_WARNS(PARTIAL_CPUSET));
    s->len = 0;
    if (a.code == CPUBIND_PROBLEM_NONE)
        say_plan(s, &a);
    else
        say(s, "%s", cpubind_problem_word(a.code));
    drop(&a);
}

static void exclude_any(step *now)
{
    enum { N_CPU = 30, N_SET = 200 };
    static said excluding, not_allowing;
    uint32_t seed = 20;
    int32_t n_planned = 0;
    for (uint32_t i = 0; i < N_SET; i++) {
        int32_t cpus[2][N_CPU], n[2] = {0, 0}; /* those that are left, and the excluded ones */
        cpubind_request wide = ask, narrow = ask;
        for (int32_t cpu = 0; cpu < N_CPU; cpu++) {
            seed = seed * 1664525u + 1013904223u;
            const int is_excluded = (seed >> 16) % 10 < 1 + i % 9;
            cpus[is_excluded][n[is_excluded]++] = cpu;
        }
        narrow.allowed = cpus[0];
        narrow.n_allowed = n[0];
        wide.exclude = cpus[1];
        wide.n_exclude = n[1];
        say_without(&excluding, &wide);
        say_without(&not_allowing, &narrow);
        if (strcmp(excluding.text, not_allowing.text) != 0)
            fail_msg("%s:%d: excluding:\n%snot allowing:\n%s", now->script->path, now->line,
                     excluding.text, not_allowing.text);
        n_planned += *excluding.text == '>';
    }

    assert_in_range(n_planned, N_SET / 8, N_SET - 20);
}

/* == The inputs of a capture ================================================ */

/* The visited names, each followed by a blank; and the visit that ends the walk with 7. */
typedef struct visited {
    said names;
    int32_t n, stop_at;
    cpubind_input last;
} visited;

static int visit(void *ctx, const char *name, cpubind_input answer)
{
    visited *v = (visited *)ctx;
    assert_true(answer.state != CPUBIND_INPUT_ABSENT);
    assert_true(cpubind_input_is_name(name));
    say(&v->names, "%s ", name);
    v->last = answer;
    return ++v->n == v->stop_at ? 7 : 0;
}

static void walk(visited *v, int32_t stop_at)
{
    const cpubind_source source = source_of_host();
    memset(v, 0, sizeof *v);
    v->stop_at = stop_at;
    assert_int_equal(cpubind_input_list_each(&source, visit, v), stop_at ? 7 : 0);
}

/* The names that the host has beyond those that it had when the case began, and those that it
 * lacks, which start with "-". */
static visited at_first;

static void say_names(said *s, const char *sign, const char *names, const char *but)
{
    static char text[SAID_SIZE];
    strcpy(text, names);
    for (char *name = strtok(text, " "); name; name = strtok(NULL, " ")) {
        const size_t n = strlen(name);
        const char *at = but;
        while ((at = strstr(at, name)) != NULL && (at[n] != ' ' || (at > but && at[-1] != ' ')))
            at += n;
        if (!at)
            say(s, "> %s%s\n", sign, name);
    }
}

static void tell_visits(step *now)
{
    static visited v;
    static said s;
    s.len = 0;
    walk(&v, 0);
    say_names(&s, "-", at_first.names.text, v.names.text);
    say_names(&s, "", v.names.text, at_first.names.text);
    if (s.len == 0)
        say(&s, "> no other\n");
    expect(now, &s);
}

/* Each visit can end the walk; each input that fails is visited, with that answer. */
static void end_walks(step *now)
{
    static visited all, v;
    int32_t at = 0;
    (void)now;
    walk(&all, 0);
    for (int32_t stop = 1; stop <= all.n; stop++) {
        walk(&v, stop);
        assert_int_equal(v.n, stop);
        assert_memory_equal(v.names.text, all.names.text, (size_t)v.names.len);
    }
    if (host.failing)
        return;
    for (char *rest = all.names.text; *rest; rest += strlen(rest) + 1) {
        rest[strcspn(rest, " ")] = '\0';
        at++;
        for (int state = CPUBIND_INPUT_FAILED; state <= CPUBIND_INPUT_TOO_LONG; state++) {
            host.failing = rest;
            host.state = (cpubind_input_state)state;
            walk(&v, at);
            assert_int_equal(v.last.state, state);
            walk(&v, 0);
            assert_int_equal(v.n, all.n);
        }
    }
    host.failing = NULL;
}

/* The answer for a copy in a buffer of the exact size. */
static int is_known(const char *name)
{
    char *copy = edge_text(name, (int32_t)strlen(name) + 1);
    const int known = cpubind_input_list_has(copy);
    free(copy);
    return known;
}

static void know(step *now)
{
    if (is_known(now->rest) == (*now->verb == 'u'))
        fail_msg("%s:%d: \"%s\"", now->script->path, now->line, now->rest);
    for (size_t n = strlen(now->rest); *now->verb == 'n' && n-- > 0;) {
        now->rest[n] = '\0';
        assert_false(is_known(now->rest));
    }
}

/* == Who uses the NPUs, and the goal of a process =========================== */

static void tell_users(step *now)
{
    static said s;
    attempt a = read_in(&ask, (size_t)4 << 20);
    const cpubind_source source = source_of_host();
    cpubind_users users;
    s.len = 0;
    if (a.code != CPUBIND_PROBLEM_NONE ||
        cpubind_npu_processes_read(&source, &a.facts, &a.arena, &users, &a.problem) !=
            CPUBIND_PROBLEM_NONE) {
        say_problem_line(&s, "refused", &a.problem);
    } else {
        say(&s, "> by %s", users.input);
        say_count(&s, "elsewhere", users.n_elsewhere);
        say_count(&s, "hidden", users.n_hidden);
        say(&s, "\n");
        for (int32_t i = 0; i < users.n; i++)
            say(&s, "> process %d uses npu %d\n", users.row[i].pid,
                a.facts.device[users.row[i].device]->logic);
    }
    drop(&a);
    expect(now, &s);
}

enum { MAX_WISHES = 8 };

static const char *const roles[] = {"irq", "main", "acl", "release", NULL};
static const char *const wish_kinds[] = {NULL, "pool", NULL, "keep", "leave"};
static const char *const irq_kinds[] = {"sq", "cq", "mailbox"};

/* NAME:pool, NAME:acl, NAME:3,9 ... */
static cpubind_thread_wish wish_of(char *name, char *where)
{
    cpubind_thread_wish wish = {.name = name, .kind = CPUBIND_WISH_LIST};
    const char *at = where;
    for (int i = 0; i <= CPUBIND_WISH_LEAVE; i++)
        if (wish_kinds[i] && strcmp(wish_kinds[i], where) == 0)
            wish.kind = (cpubind_wish_kind)i;
    for (int i = 0; i < CPUBIND_ROLE_COUNT; i++)
        if (strcmp(roles[i], where) == 0)
            wish = (cpubind_thread_wish){.name = name, .role = (cpubind_role)i};
    if (wish.kind == CPUBIND_WISH_LIST) {
        wish.cpus.cpu = numbers + n_number;
        n_number += wish.cpus.n = lists_read(&at, numbers + n_number);
    }
    return wish;
}

static void say_goal(said *s, const cpubind_goal *g)
{
    say(s, "> npu %d: main ", g->device);
    say_list(s, g->main.cpu, g->main.n);
    say(s, "; memory %d%s\n", g->memory_node, g->is_shared ? "; shared" : "");
    for (int32_t i = 0; i < g->n_rule; i++) {
        say(s, "> %s ", g->rule[i].name);
        if (g->rule[i].is_left)
            say(s, "left");
        else
            say_list(s, g->rule[i].cpus.cpu, g->rule[i].cpus.n);
        say(s, "\n");
    }
    for (int32_t i = 0; i < g->n_irq; i++)
        say(s, "> irq %d %s, %s %d of %s: cpu %d\n", g->irq[i].irq, irq_kinds[g->irq[i].kind],
            g->irq[i].id.name, g->irq[i].id.index, g->irq[i].id.function, g->irq[i].cpu);
    if (g->n_irq == 0 || g->no_irq != CPUBIND_IRQ_FOUND)
        say(s, "> irqs: %s\n", cpubind_no_irq_word(g->no_irq));
    for (int32_t i = 0; i < g->n_driver; i++) {
        say(s, "> %s %s ", cpubind_named_word(g->driver[i].named), g->driver[i].name);
        say_list(s, g->driver[i].cpus.cpu, g->driver[i].cpus.n);
        say(s, "\n");
    }
    if (g->polling.n > 0) {
        say(s, "> %s ", g->polling_name);
        say_list(s, g->polling.cpu, g->polling.n);
        say(s, "\n");
    }
}

/* An arena that is too small is NO_MEMORY at every size. */
static void try_goal(const cpubind_source *source, const cpubind_goal_request *asked)
{
    cpubind_arena arena = {NULL, 0, 0};
    cpubind_goal goal;
    cpubind_problem problem;
    do {
        grow(&arena, 61);
        const cpubind_problem_code code =
            cpubind_goal_make(source, asked, &arena, &goal, &problem);
        assert_int_equal(problem.code, code);
    } while (problem.code == CPUBIND_PROBLEM_NO_MEMORY);
    free(arena.base);
}

static void make_goal(step *now)
{
    static said s;
    cpubind_thread_wish wish[MAX_WISHES];
    attempt a = try(&ask);
    const cpubind_source source = source_of_host();
    cpubind_goal_request asked = {.facts = &a.facts, .plan = &a.plan, .wish = wish};
    cpubind_goal goal;
    for (char *word = strtok(now->rest, " "); word; word = strtok(NULL, " ")) {
        char *value = word + strcspn(word, ":=");
        const int is_wish = *value == ':';
        *value++ = '\0';
        if (is_wish)
            wish[asked.n_wish++] = wish_of(word, value);
        else if (strcmp(word, "threads") == 0)
            asked.threads = CPUBIND_THREADS_PRODUCT;
        else
            *(strcmp(word, "row") == 0         ? &asked.row
              : strcmp(word, "processes") == 0 ? &asked.n_process
                                               : &asked.process) = (int32_t)atoi(value);
    }
    s.len = 0;
    if (a.code == CPUBIND_PROBLEM_NONE)
        try_goal(&source, &asked);
    if (a.code == CPUBIND_PROBLEM_NONE)
        a.code = cpubind_goal_make(&source, &asked, &a.arena, &goal, &a.problem);
    if (a.code == CPUBIND_PROBLEM_NONE)
        say_goal(&s, &goal);
    else
        say_problem_line(&s, "refused", &a.problem);
    drop(&a);
    expect(now, &s);
}

static void start(void)
{
    ask_nothing();
    n_number = 0;
}

static void stand_and_ask_nothing(step *now)
{
    stand_on(now);
    walk(&at_first, 0);
    ask_nothing();
}

static const verb of_driver[] = {
    {"on", stand_and_ask_nothing},
    HOST_VERBS,
    {"ask", ask_all},
    {"plan", make_plan},
    {"differs", tell_difference},
    {"goal", make_goal},
    {"users", tell_users},
    {"cores", tell_cores},
    {"visits", tell_visits},
    {"walk", end_walks},
    {"known", know},
    {"unknown", know},
    {"no_start", know},
    {"arena", try_arenas},
    {"excluding", exclude_any},
    {NULL, NULL},
};

TEST_CASES("hosts_*", of_driver, start)
