/* proc.c - the rows of the readers of what the kernel says: /proc, /sys, its sockets
 * SPDX-License-Identifier: MIT
 *
 * What each reader promises is in its header in adapters/text.
 */
#include <stdio.h>

#include "../../adapters/text/cgroup.h"
#include "../../adapters/text/counters.h"
#include "../../adapters/text/cpulist.h"
#include "../../adapters/text/interrupts.h"
#include "../../adapters/text/maps.h"
#include "../../adapters/text/numa_maps.h"
#include "../../adapters/text/proc_connector.h"
#include "../../adapters/text/procfs.h"
#include "readers.h"

/* == One process ============================================================ */

static void read_status(reading *r)
{
    static const char key[] = "Cpus_allowed_list:\t";
    cpubind_int_list *list = OUT(r, cpubind_int_list), again;
    int32_t start, n;
    ARRAY(r, list, out, cap, n);
    if (!came(r, cpubind_status_parse(r->text, r->len, given(r, list), r->fault)))
        return;
    tell_list(r, list->out, list->n, CPUBIND_MAX_CPUS);
    tell(r, "\n");
    /* The list reader reads the same from the rest of the line. */
    start = find_line(r, key, "") + (int32_t)sizeof key - 1;
    n = (int32_t)((const char *)memchr(r->text + start, '\n', (size_t)(r->len - start)) -
                  r->text) -
        start;
    again = (cpubind_int_list){(int32_t *)filled((size_t)list->n * sizeof(int32_t), 0), list->n,
                               -1};
    CHECK(cpubind_cpulist_parse(r->text + start, n, CPUBIND_MAX_CPUS, &again, NULL) ==
          CPUBIND_TEXT_OK);
    CHECK(again.n == list->n &&
          is_same(again.out, list->out, (size_t)again.n * sizeof *again.out));
    free(again.out);
}

/* The n-th word at or after `at`, from 0, by the C library. */
static unsigned long long word_at(const char *text, int32_t at, int32_t n)
{
    for (; n > 0; n--, at++)
        while (text[at] != ' ')
            at++;
    return strtoull(text + at, NULL, 10);
}

static void read_stat(reading *r)
{
    cpubind_stat *s = OUT(r, cpubind_stat);
    char *copy;
    int32_t last;
    if (!came(r, cpubind_stat_parse(r->text, r->len, given(r, s), r->fault)))
        return;
    tell(r, "%d", s->pid);
    tell_slice(r, "name", s->name);
    tell(r, " state %c parent %d group %d session %d flags %x threads %d start %llu\n",
         s->state, s->ppid, s->group, s->session, s->flags, s->n_threads,
         (unsigned long long)s->start);
    tell(r, "code %llx stack %llx faults %llu %llu cpu %d\n", (unsigned long long)s->code,
         (unsigned long long)s->stack, (unsigned long long)s->n_minor,
         (unsigned long long)s->n_major, s->cpu);
    CHECK(s->pid >= 0 && s->ppid >= 0 && s->n_threads >= 0 && s->cpu >= -1);
    /* The name is all between the first "(" and the last ")". */
    copy = text_copy(r, 0, r->len);
    last = s->name.at + s->name.len;
    CHECK(memchr(copy, '(', (size_t)r->len) == copy + s->name.at - 1);
    CHECK(copy[last] == ')' && !memchr(copy + last + 1, ')', (size_t)(r->len - last - 1)));
    CHECK(strtoll(copy, NULL, 10) == s->pid && copy[last + 2] == s->state);
    CHECK(word_at(copy, last + 2, 1) == (unsigned long long)s->ppid);
    CHECK(word_at(copy, last + 2, 17) == (unsigned long long)s->n_threads);
    CHECK(word_at(copy, last + 2, 19) == s->start);
    CHECK(cpubind_stat_parse(r->text, r->len - 1, &(cpubind_stat){0}, NULL) ==
          CPUBIND_TEXT_ERR_CUT);
    free(copy);
}

/* `read env NAME` */
static void read_env(reading *r)
{
    cpubind_slice *value = OUT(r, cpubind_slice);
    const cpubind_text_status status =
        cpubind_env_find(r->text, r->len, r->args, given(r, value));
    CHECK(status != CPUBIND_TEXT_ERR_MISSING || find_line(r, r->args, "=") < 0);
    if (!came_alone(r, status))
        return;
    CHECK(value->at == find_line(r, r->args, "=") + (int32_t)strlen(r->args) + 1);
    CHECK(value->at + value->len == r->len || r->text[value->at + value->len] == '\n');
    CHECK(!memchr(r->text + value->at, '\n', (size_t)value->len));
    tell_slice(r, "value", *value);
    tell(r, "\n");
}

/* `read comm NAME`. The first 15 bytes of a name have the name; one byte less, or another last
 * byte, has not. */
static void read_comm(reading *r)
{
    const char *name = r->args;
    const size_t whole = strlen(name);
    const int32_t kept = whole < 15 ? (int32_t)whole : 15;
    char *comm = exact_copy(name, (size_t)kept);
    tell(r, "%d\n", cpubind_comm_is(r->text, r->len, name));
    if (!memchr(name, '\n', whole) && kept > 0) {
        CHECK(cpubind_comm_is(comm, kept, name) == 1);
        CHECK(cpubind_comm_is(comm, kept - 1, name) == 0);
        comm[kept - 1] ^= 1;
        CHECK(cpubind_comm_is(comm, kept, name) == 0);
    }
    CHECK(cpubind_comm_is(r->text, r->len, NULL) == 0);
    CHECK(cpubind_comm_is(r->text, -1, name) == 0);
    CHECK(cpubind_comm_is(NULL, 1, name) == 0);
    free(comm);
}

/* The answer of a pattern from a table: whether the rest of it fits the rest of the name. */
static int fits(const char *pattern, const char *name)
{
    char rest[CPUBIND_PATTERN_SIZE + 1][17] = {{0}};
    const size_t n = strlen(name);
    size_t i = strlen(pattern);
    rest[i][n] = 1;
    while (i-- > 0)
        for (size_t k = n + 1; k-- > 0;)
            rest[i][k] = pattern[i] == '*'
                             ? (char)(rest[i + 1][k] || (k < n && rest[i][k + 1]))
                             : (char)(k < n && (pattern[i] == '?' || pattern[i] == name[k]) &&
                                      rest[i + 1][k + 1]);
    return rest[0][0];
}

/* `read pattern PATTERN`: the pattern as it is kept, and whether the name, the text, fits it. */
static void read_pattern(reading *r)
{
    char pattern[CPUBIND_PATTERN_SIZE], again[CPUBIND_PATTERN_SIZE], comm[16] = "";
    memcpy(comm, r->text, r->len < 15 ? (size_t)r->len : 15);
    if (!cpubind_pattern_make(r->args, pattern)) {
        CHECK(!*r->args || strchr(r->args, '*'));
        tell(r, "no pattern\n");
        return;
    }
    tell(r, "%s %d\n", pattern, cpubind_pattern_matches(pattern, comm));
    CHECK(strlen(pattern) < CPUBIND_PATTERN_SIZE);
    CHECK(strncmp(pattern, r->args, strlen(pattern)) == 0);
    CHECK(cpubind_pattern_make(pattern, again) && strcmp(pattern, again) == 0);
    CHECK(cpubind_pattern_matches(pattern, comm) == fits(pattern, comm));
    if (!strpbrk(r->args, "*?") && !strchr(comm, '\n'))
        CHECK(cpubind_pattern_matches(pattern, comm) ==
              cpubind_comm_is(comm, (int32_t)strlen(comm), r->args));
}

/* == Counters =============================================================== */

static void read_schedstat(reading *r)
{
    cpubind_schedstat *s = OUT(r, cpubind_schedstat);
    if (!came(r, cpubind_schedstat_parse(r->text, r->len, given(r, s), r->fault)))
        return;
    tell(r, "%llu %llu %llu\n", (unsigned long long)s->run_ns, (unsigned long long)s->wait_ns,
         (unsigned long long)s->slices);
    CHECK(r->said.len == r->len && is_same(r->said.text, r->text, (size_t)r->len));
}

/* The CPUs of the arguments, a list. */
static int32_t cpu_args(const reading *r, int32_t *cpu, int32_t cap)
{
    cpubind_int_list list = {cpu, cap, 0};
    CHECK(cpubind_cpulist_parse(r->args, (int32_t)strlen(r->args), CPUBIND_MAX_CPUS, &list,
                                NULL) == CPUBIND_TEXT_OK);
    return list.n;
}

/* `read cpu_times CPUS` */
static void read_cpu_times(reading *r)
{
    int32_t cpu[64];
    const int32_t n = cpu_args(r, cpu, 64);
    cpubind_cpu_times *t = OUT(r, cpubind_cpu_times);
    if (!came(r, cpubind_cpu_times_parse(r->text, r->len, cpu, n, given(r, t), r->fault)))
        return;
    tell(r, "all %llu irq %llu softirq %llu steal %llu\n", (unsigned long long)t->all,
         (unsigned long long)t->irq, (unsigned long long)t->softirq,
         (unsigned long long)t->steal);
    CHECK(n != 1 || t->irq + t->softirq + t->steal <= t->all);
}

/* `read cpu_events CPUS`. Fewer CPUs have no more events. */
static void read_cpu_events(reading *r)
{
    int32_t cpu[64];
    const int32_t n = cpu_args(r, cpu, 64);
    cpubind_cpu_events *e = OUT(r, cpubind_cpu_events), part;
    if (!came(r, cpubind_cpu_events_parse(r->text, r->len, cpu, n, given(r, e), r->fault)))
        return;
    tell(r, "numbered %llu named %llu\n", (unsigned long long)e->numbered,
         (unsigned long long)e->named);
    CHECK(cpubind_cpu_events_parse(r->text, r->len, cpu, n > 0, &part, NULL) ==
          CPUBIND_TEXT_OK);
    CHECK(part.numbered <= e->numbered && part.named <= e->named);
}

/* == Cgroups ================================================================ */

static void read_container(reading *r)
{
    cpubind_slice id = {-1, -1};
    if (!cpubind_cgroup_container(r->text, r->len, &id)) {
        CHECK(id.at == 0 && id.len == 0);
        tell(r, "none\n");
        return;
    }
    tell_slice(r, "", id);
    tell(r, "\n");
    CHECK(id.len == 64);
    for (int32_t i = id.at; i < id.at + id.len; i++)
        CHECK(r->text[i] && strchr("0123456789abcdef", r->text[i]));
}

static void read_cpuset(reading *r)
{
    cpubind_cgroup_cpuset *set = OUT(r, cpubind_cgroup_cpuset);
    cpubind_slice path;
    if (!came_alone(r, cpubind_cgroup_find_cpuset(r->text, r->len, given(r, set))))
        return;
    path = set->path;
    tell(r, "version %d", set->is_version_1 ? 1 : 2);
    tell_slice(r, "", path);
    tell(r, "\n");
    CHECK(path.at >= 2 && r->text[path.at - 1] == ':');
    CHECK(!memchr(r->text + path.at, '\n', (size_t)path.len));
    CHECK(path.len == 0 || r->text[path.at + path.len - 1] != '/');
}

static void read_pod(reading *r)
{
    cpubind_cgroup_pod pod;
    memset(&pod, r->fill, sizeof pod);
    if (!cpubind_cgroup_find_pod(r->text, r->len, &pod)) {
        CHECK(!*pod.uid && pod.container.len == 0 && !pod.runtime);
        tell(r, "none\n");
        return;
    }
    tell(r, "uid %s", pod.uid);
    tell_name(r, "container", pod.container);
    tell(r, " runtime %s qos %s\n", pod.runtime ? pod.runtime : "-", cpubind_qos_word(pod.qos));
    CHECK(strlen(pod.uid) == 32 || strlen(pod.uid) == CPUBIND_POD_UID_SIZE - 1);
    CHECK(!strpbrk(pod.uid, "_/:\n"));
    CHECK(pod.container.len == (pod.container.len ? 64 : 0));
    CHECK(!pod.runtime || pod.container.len > 0);
}

static void read_pod_log(reading *r)
{
    cpubind_pod_log *log = OUT(r, cpubind_pod_log);
    if (!came(r, cpubind_pod_log_parse(r->text, r->len, given(r, log), r->fault)))
        return;
    tell_slice(r, "pod", log->pod);
    tell_slice(r, "namespace", log->space);
    tell_slice(r, "container", log->container);
    tell_slice(r, "id", log->id);
    tell(r, "\n");
    CHECK(log->pod.at == 0 && log->pod.len > 0 && log->pod.len < CPUBIND_POD_NAME_SIZE);
    CHECK(log->space.at == log->pod.len + 1);
    CHECK(log->space.len > 0 && log->space.len < CPUBIND_POD_LABEL_SIZE);
    CHECK(log->container.at == log->space.at + log->space.len + 1);
    CHECK(log->container.len > 0 && log->container.len < CPUBIND_POD_LABEL_SIZE);
    CHECK(log->id.at == log->container.at + log->container.len + 1);
    CHECK(log->id.at + 68 == r->len);
}

/* A path without the cgroups of cpubind at its end. */
static void read_outside(reading *r)
{
    const int32_t n = cpubind_cgroup_outside(r->text, r->len);
    CHECK(n >= 0 && n <= r->len);
    tell_slice(r, "", (cpubind_slice){0, n});
    tell(r, "\n");
}

/* == Interrupts ============================================================= */

/* The names of a row, apart. Nothing but commas and blanks is between them. */
static void tell_names(reading *r, cpubind_slice names)
{
    cpubind_slice name = {0, 0};
    int32_t at = 0, next = names.at;
    while (cpubind_interrupts_next_name(r->text, names, &at, &name)) {
        CHECK(name.len > 0 && name.at >= next);
        CHECK(name.at + name.len <= names.at + names.len);
        for (; next < name.at; next++)
            CHECK(strchr(", \t\r", r->text[next]));
        tell_name(r, "", name);
        next = name.at + name.len;
    }
    for (; next < names.at + names.len; next++)
        CHECK(strchr(", \t\r", r->text[next]));
}

static void read_interrupts(reading *r)
{
    cpubind_interrupt_list *list = OUT(r, cpubind_interrupt_list);
    ARRAY(r, list, irq, cap, n);
    if (!came(r, cpubind_interrupts_parse(r->text, r->len, given(r, list), r->fault)))
        return;
    CHECK(list->n_cpu >= 1);
    tell(r, "%d CPUs\n", list->n_cpu);
    for (int32_t i = 0; i < list->n; i++) {
        const cpubind_interrupt *irq = &list->irq[i];
        CHECK(irq->irq > (i ? irq[-1].irq : -1));
        tell(r, "%d", irq->irq);
        tell_names(r, irq->names);
        tell(r, "\n");
    }
}

/* == The proc connector ===================================================== */

static void read_proc_events(reading *r)
{
    static const char *const kinds[] = {"answer", "lost", "birth", "exec", "name", "end"};
    cpubind_proc_event_list *list = OUT(r, cpubind_proc_event_list);
    ARRAY(r, list, out, cap, n);
    if (!came(r, cpubind_proc_connector_parse(r->text, r->len, given(r, list), r->fault)))
        return;
    CHECK(list->n <= r->len / 16);
    for (int32_t i = 0; i < list->n; i++) {
        const cpubind_proc_event *e = &list->out[i];
        const int is_thread =
            e->kind != CPUBIND_PROC_EVENT_ANSWER && e->kind != CPUBIND_PROC_EVENT_LOST;
        CHECK(e->kind <= CPUBIND_PROC_EVENT_END);
        CHECK(is_thread ? e->pid > 0 && e->tid > 0 : e->pid == 0 && e->tid == 0);
        CHECK(e->kind == CPUBIND_PROC_EVENT_ANSWER || (e->ack | e->error) == 0);
        tell(r, "%s pid %d tid %d ack %d error %d\n", kinds[e->kind], e->pid, e->tid, e->ack,
             e->error);
    }
}

/* == Memory ================================================================= */

enum { N_NODE = 9 };

/* The number in the word "KEYnumber" of a line, or -1 without such a word. The reader accepted
 * the line, so the rest of the word is digits. */
static int64_t value_of(const char *line, int32_t len, const char *key)
{
    const int32_t n = (int32_t)strlen(key);
    for (int32_t at = 1; at + n < len; at++) {
        int64_t value = 0;
        if (line[at - 1] != ' ' || memcmp(line + at, key, (size_t)n) != 0)
            continue;
        for (int32_t i = at + n; i < len && line[i] != ' '; i++)
            value = value * 10 + (line[i] - '0');
        return value;
    }
    return -1;
}

static int is_huge(const char *line, int32_t len)
{
    for (int32_t at = 1; at + 4 <= len; at++)
        if (memcmp(line + at - 1, " huge", 5) == 0 && (at + 4 == len || line[at + 4] == ' '))
            return 1;
    return 0;
}

/* The same sums, line by line and node by node, in double for its range. */
static void check_sums(const reading *r, int32_t page_kb, const int64_t *sums)
{
    double expected[N_NODE] = {0};
    for (int32_t at = 0, n; at < r->len; at += n + 1) {
        const char *line = r->text + at;
        n = (int32_t)((const char *)memchr(line, '\n', (size_t)(r->len - at)) - line);
        const int64_t told = value_of(line, n, "kernelpagesize_kB=");
        const double huge = (double)page_kb * page_kb * 128;
        const double kb = told >= 0 ? (double)told : is_huge(line, n) ? huge : page_kb;
        for (int node = 0; node < N_NODE; node++) {
            const char key[] = {'N', (char)('0' + node), '=', '\0'};
            const int64_t pages = value_of(line, n, key);
            expected[node] += pages < 0 ? 0 : (double)pages * kb * 1024;
        }
    }
    for (int node = 0; node < N_NODE; node++) {
        const double off = (double)sums[node] - expected[node];
        const double most = expected[node] > 9e15 ? expected[node] / 1e6 : 0;
        CHECK(expected[node] > 9e18 ? sums[node] > (int64_t)8e18 : off <= most && -off <= most);
    }
}

/* The lines, one by one, give the same sums; and in two blocks, split after each of the first. */
static void check_lines(const reading *r, int32_t page_kb, const int64_t *sums)
{
    double home = 0, total = 0, expected = 0;
    for (int32_t at = 0, n = 0; at < r->len; n++) {
        const char *text = r->text + at;
        int64_t again[N_NODE] = {0};
        cpubind_numa_line line;
        CHECK(cpubind_numa_maps_line_parse(text, r->len - at, page_kb, 1, &line, NULL) ==
              CPUBIND_TEXT_OK);
        CHECK(line.len > 0 && text[line.len - 1] == '\n' && line.mapmax >= 0);
        CHECK(line.home >= 0 && line.home <= line.total && line.page_bytes > 0);
        CHECK(line.is_huge == is_huge(text, line.len - 1));
        CHECK(line.start == strtoull(text, NULL, 16));
        home += (double)line.home;
        total += (double)line.total;
        at += line.len;
        if (n >= 8)
            continue;
        CHECK(cpubind_numa_maps_add(r->text, at, page_kb, again, N_NODE, NULL) ==
              CPUBIND_TEXT_OK);
        CHECK(cpubind_numa_maps_add(r->text + at, r->len - at, page_kb, again, N_NODE, NULL) ==
              CPUBIND_TEXT_OK);
        CHECK(is_same(sums, again, sizeof again));
    }
    for (int node = 0; node < N_NODE; node++)
        expected += (double)sums[node];
    CHECK(home >= 9e15 || (double)sums[1] == home);
    CHECK(total >= 9e15 || total == expected);
}

/* `read numa_maps PAGE_KB`: the bytes on nodes 0 to 8. */
static void read_numa_maps(reading *r)
{
    const int32_t page_kb = number_arg(&r->args, 4);
    int64_t *sums = (int64_t *)reading_out(r, N_NODE * sizeof *sums), full[N_NODE];
    cpubind_text_status status;
    for (int node = 0; node < N_NODE; node++) {
        sums[node] = 0;
        full[node] = INT64_MAX;
    }
    status = cpubind_numa_maps_add(r->text, r->len, page_kb, given(r, sums), N_NODE, r->fault);
    CHECK(status == CPUBIND_TEXT_ERR_ARG ||
          cpubind_numa_maps_add(r->text, r->len, page_kb, full, N_NODE, NULL) == status);
    if (!came(r, status))
        return;
    CHECK(r->len == 0 || r->text[r->len - 1] == '\n');
    for (int node = 0; node < N_NODE; node++) {
        CHECK(full[node] == INT64_MAX && sums[node] >= 0);
        tell_id(r, "", sums[node]);
    }
    tell(r, "\n");
    check_sums(r, page_kb, sums);
    check_lines(r, page_kb, sums);
}

/* `read numa_line PAGE_KB NODE`: the first line. */
static void read_numa_line(reading *r)
{
    const int32_t page_kb = number_arg(&r->args, 4), node = number_arg(&r->args, 1);
    cpubind_numa_line *line = OUT(r, cpubind_numa_line);
    if (!came(r, cpubind_numa_maps_line_parse(r->text, r->len, page_kb, node, given(r, line),
                                              r->fault)))
        return;
    tell(r, "start %llx total %lld home %lld page %lld mapmax %d%s, %d bytes\n",
         (unsigned long long)line->start, (long long)line->total, (long long)line->home,
         (long long)line->page_bytes, line->mapmax, tell_if(line->is_huge, " huge"), line->len);
}

/* What is behind the blanks at text[at]. */
static int32_t skip_blanks(const reading *r, int32_t at)
{
    while (at < r->len && strchr(" \t\r", r->text[at]) && r->text[at])
        at++;
    return at;
}

static int32_t skip_word(const reading *r, int32_t at)
{
    while (at < r->len && (!strchr(" \t\r\n", r->text[at]) || !r->text[at]))
        at++;
    return at;
}

/* Behind "NAME:" in the first line that has it, perhaps after "Node" and a word; or -1. */
static int32_t after_key(const reading *r, const char *name)
{
    const int32_t n = (int32_t)strlen(name);
    for (int32_t at = 0; at < r->len; at++) {
        int32_t key, stop;
        if (at > 0 && r->text[at - 1] != '\n')
            continue;
        key = skip_blanks(r, at);
        stop = skip_word(r, key);
        if (stop - key == 4 && memcmp(r->text + key, "Node", 4) == 0) {
            key = skip_blanks(r, skip_word(r, skip_blanks(r, stop)));
            stop = skip_word(r, key);
        }
        if (stop - key == n + 1 && r->text[stop - 1] == ':' &&
            is_same(r->text + key, name, (size_t)n))
            return stop;
    }
    return -1;
}

/* Says a value of a line; its digits are at text[at]. */
static void tell_value(reading *r, int32_t at, int64_t value)
{
    char digits[32];
    const int n = snprintf(digits, sizeof digits, "%lld", (long long)value);
    CHECK(value >= 0 && at >= 0 && at + n <= r->len &&
          is_same(r->text + at, digits, (size_t)n));
    tell(r, "%s\n", digits);
}

/* `read kb NAME`, `read vmstat NAME`, `read number`: a value. */
static void read_kb(reading *r)
{
    int64_t *kb = OUT(r, int64_t);
    const cpubind_text_status status =
        cpubind_kb_find(r->text, r->len, r->args, given(r, kb), r->fault);
    CHECK(status != CPUBIND_TEXT_ERR_MISSING || after_key(r, r->args) < 0);
    if (came(r, status))
        tell_value(r, skip_blanks(r, after_key(r, r->args)), *kb);
}

static void read_vmstat(reading *r)
{
    int64_t *value = OUT(r, int64_t);
    const cpubind_text_status status =
        cpubind_vmstat_find(r->text, r->len, r->args, given(r, value), r->fault);
    CHECK(status != CPUBIND_TEXT_ERR_MISSING || find_line(r, r->args, " ") < 0);
    if (came(r, status))
        tell_value(r, find_line(r, r->args, " ") + (int32_t)strlen(r->args) + 1, *value);
}

static void read_number(reading *r)
{
    int32_t *number = OUT(r, int32_t);
    char *copy;
    if (!came(r, cpubind_number_parse(r->text, r->len, given(r, number), r->fault)))
        return;
    tell(r, "%d\n", *number);
    CHECK(*number >= -1);
    copy = text_copy(r, 0, r->len);
    CHECK(strtoll(copy, NULL, *copy == '0' ? 16 : 10) == *number);
    free(copy);
}

/* Lines of maps and smaps, up to one that is refused. */
static void read_maps(reading *r)
{
    for (int32_t at = 0; at < r->len;) {
        cpubind_text_fault fault = {-7, NULL};
        cpubind_maps_line line;
        const char *text = r->text + at;
        cpubind_text_status status;
        char *end;
        memset(&line, r->fill, sizeof line);
        CHECK(cpubind_maps_line_parse(text, r->len - at, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
        status = cpubind_maps_line_parse(text, r->len - at, &line, &fault);
        if (status != CPUBIND_TEXT_OK) {
            CHECK(holds_only(&line, sizeof line, r->fill));
            tell_fault(r, status, &fault, at);
            return;
        }
        CHECK(line.len > 0 && line.len <= r->len - at);
        CHECK(memchr(text, '\n', (size_t)line.len) == text + line.len - 1);
        at += line.len;
        if (line.kind == CPUBIND_MAPS_RANGE) {
            tell(r, "%llx-%llx\n", (unsigned long long)line.start,
                 (unsigned long long)line.end);
            CHECK(line.start < line.end && strtoull(text, &end, 16) == line.start);
            CHECK(*end == '-' && strtoull(end + 1, &end, 16) == line.end && *end == ' ');
        } else if (line.kind == CPUBIND_MAPS_FLAGS) {
            int is_locked = 0;
            for (int32_t i = 8; i + 2 < line.len; i++)
                is_locked |= memcmp(text + i, " lo", 3) == 0;
            tell(r, "flags%s\n", tell_if(line.is_locked, ", locked"));
            CHECK(memcmp(text, "VmFlags:", 8) == 0 && line.is_locked == is_locked);
        } else {
            tell(r, "other\n");
        }
    }
}

/* Entries of 8 bytes. */
static void read_pagemap(reading *r)
{
    const int32_t n = r->len / CPUBIND_PAGEMAP_ENTRY;
    int32_t n_there = 0;
    uint64_t first = 0;
    for (int32_t i = 0; i < n; i++) {
        const cpubind_page page = cpubind_pagemap_entry(r->text, i);
        CHECK(page.is_present == 0 || page.is_present == 1);
        CHECK(page.is_present || (!page.is_own && !page.frame));
        first = i == 0 ? page.frame : first;
        n_there += page.is_present && page.frame == (first ? first + (uint64_t)i : 0);
        tell(r, "%s%s frame %llu\n", page.is_present ? "present" : "absent",
             tell_if(page.is_own, " own"), (unsigned long long)page.frame);
    }
    if (n > 0) {
        const int is_huge = cpubind_pagemap_may_be_huge(r->text, 0, n);
        CHECK(is_huge == (n_there == n && first % (uint64_t)n == 0));
        tell(r, "%s", tell_if(is_huge, "may be one huge page\n"));
    }
}

const reader proc_readers[] = {
    {"status", read_status, "", NULL, "proc", 1400},
    {"stat", read_stat, "", NULL, "proc", 512},
    {"number", read_number, "", NULL, "number", 32},
    {"env", read_env, NULL, NULL, "proc", 1400},
    {"comm", read_comm, NULL, NULL, "proc", 64},
    {"pattern", read_pattern, NULL, "comm", "proc", 64},
    {"schedstat", read_schedstat, "", "counters", "proc", 1024},
    {"cpu_times", read_cpu_times, "0-1,3|0", "counters", "proc", 1024},
    {"cpu_events", read_cpu_events, "0-1,3|0", "counters", "proc", 1024},
    {"cgroup", read_container, "", NULL, "cgroup", 512},
    {"cgroup_cpuset", read_cpuset, "", "cgroup", "cgroup", 512},
    {"cgroup_pod", read_pod, "", "cgroup", "cgroup", 512},
    {"cgroup_outside", read_outside, "", "cgroup", "cgroup", 512},
    {"pod_log", read_pod_log, "", "cgroup", "cgroup", 512},
    {"interrupts", read_interrupts, "", NULL, "proc", 4096},
    {"proc_connector", read_proc_events, "", NULL, "proc_connector", 512},
    {"numa_maps", read_numa_maps, "4|64|0", NULL, "numa_maps", 2048},
    {"numa_line", read_numa_line, "4 0|64 1", "numa_maps", "numa_maps", 2048},
    {"kb", read_kb, NULL, NULL, "maps", 256},
    {"vmstat", read_vmstat, NULL, NULL, "numa_maps", 256},
    {"maps", read_maps, "", NULL, "maps", 1024},
    {"pagemap", read_pagemap, "", "maps", "maps", 1024},
    {NULL, NULL, NULL, NULL, NULL, 0},
};
